"""Several means of the same users: the mechanism, its guarantees, and its refusals."""

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil, exp

import duckdb
import ibis
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds import TABLES

import userdp as ud
from userdp import beyond, release
from userdp.beyond.split import _whole
from userdp.release import _noise as noise
from userdp.release import plan_means, private_means
from userdp.release._columns import Ids, Pairs
from userdp.release._grouped import components
from userdp.release._joint import RANK_FACTORS
from userdp.release._tally import distinct

BOUNDS = {"speed": (0.0, 65.0), "gain": (-1.0, 1.0)}
DAYS = ["Mo", "Tu", "We", "Th"]
N_STEPS = 2**40


def trips(n=400, seed=0, n_users=30):
    """Users with many and few records, each mostly on one day; there are no records on We."""
    rng = np.random.default_rng(seed)
    users = rng.zipf(1.6, n) % n_users
    days = np.array(["Mo", "Tu", "Th"])[(users + (rng.random(n) < 0.3)) % 3]
    values = {name: rng.uniform(*bounds, n) for name, bounds in BOUNDS.items()}
    return pd.DataFrame({"user": users, "day": days} | values)


def release_of(data, eps=2, values=BOUNDS, **options):
    by_day = {"group": "day", "groups": DAYS} | options
    return private_means("user", values, data=data, budget=eps, **by_day)


def influences(table, days, n_columns):
    """Return every user's influence on all means together, relative to their ranges."""
    rows = table[table.day.isin(days)]
    shares = 1 / rows.groupby("day").day.transform("size")
    return n_columns * shares.groupby(rows.user).sum()


def clipped_means(table, threshold, days, centre=None):
    """Return the means of clipped contributions, by definition, in the order columns, days."""
    influence = influences(table, days, len(BOUNDS))
    kept = threshold / influence
    if centre is None:
        kept = np.minimum(kept, 1.0)  # farther than any value
    means = []
    for (name, (low, high)), day in product(BOUNDS.items(), days):
        some = table[table.day == day]
        middle = (low + high) / 2 if centre is None else centre[name]
        rows = (some[name] - middle) / (high - low) / len(some)
        sums, sizes = rows.groupby(some.user).sum(), some.groupby("user").size()
        half = kept[sizes.index] * sizes / len(some) / 2
        means.append(sums.clip(-half, half).sum())
    return np.array(means)


@pytest.mark.parametrize("centre", [None, {"speed": 52.0, "gain": -1.0}], ids=["middle", "centre"])
def test_means_are_clipped_at_the_threshold_of_the_theorem_or_a_smaller_one(centre, opendp):
    table, days = trips(), ["Mo", "Tu", "Th"]
    result = release_of(table, strategy="joint", centre=centre)
    (request,) = opendp.requests
    assert request.budget == 2
    influence = np.sort(influences(table, days, 2))[::-1]
    ranks = [ceil(ceil(2 * 6 / 2) * factor) for factor in RANK_FACTORS]
    total = np.array(request.total) / N_STEPS
    if centre is None:
        threshold = request.moved / N_STEPS
        assert any(threshold == pytest.approx(influence[rank - 1], rel=1e-9) for rank in ranks)
    candidates = [clipped_means(table, influence[rank - 1], days, centre) for rank in ranks]
    (expected,) = [each for each in candidates if total == pytest.approx(each, abs=1e-9)]
    assert len({*map(tuple, candidates)}) == len(ranks)
    middles = centre or {name: sum(bounds) / 2 for name, bounds in BOUNDS.items()}
    widths = {name: high - low for name, (low, high) in BOUNDS.items()}
    means = [
        middles[name] + widths[name] * mean
        for name, mean in zip(np.repeat([*BOUNDS], 3), expected, strict=True)
    ]
    assert [one.mean for one in result.means if one.n_records] == pytest.approx(means, abs=1e-6)


@pytest.mark.parametrize("strategy", ["joint", "divided"])
@pytest.mark.parametrize("centre", [None, {"speed": 50.0}], ids=["middle", "centre"])
def test_all_kinds_of_tables_give_the_same_release(strategy, centre, opendp, tmp_path):
    table = trips()
    arrow = TABLES["Arrow"](pl.from_pandas(table).to_arrow(), tmp_path)
    results = {}
    for kind, hold in TABLES.items():
        if kind in ("CSV", "CSV, packed"):
            (tmp_path / kind).mkdir()
        n_before = len(opendp.requests)
        result = release_of(hold(arrow, tmp_path), strategy=strategy, centre=centre)
        results[kind] = result.public(), opendp.requests[n_before:]
    first = results["pandas"]
    assert [kind for kind, result in results.items() if result != first] == []


@pytest.mark.parametrize("eps", [0.01, 3])
@pytest.mark.parametrize(
    "centre", [None, {"gain": 0.7}, {"speed": 65, "gain": 0.1}], ids=["middle", "one", "both"]
)
def test_one_user_moves_all_totals_together_by_at_most_what_the_noise_covers(eps, centre, opendp):
    table = trips(n=120, n_users=12)
    largest = 0
    for user in table.user.unique():
        opendp.requests.clear()
        for low_or_high in (0, 1):
            data = table.copy()
            for name, bounds in BOUNDS.items():
                data.loc[data.user == user, name] = bounds[low_or_high]
            release_of(data, eps=eps, strategy="joint", centre=centre)
        one, other = opendp.requests
        apart = np.abs(np.subtract(one.total, other.total)).sum()
        assert one.moved == other.moved  # it depends on counts alone
        assert apart <= one.moved
        largest = max(largest, apart)
    assert largest == one.moved  # and it is attained


@pytest.mark.parametrize("strategy", ["joint", "divided"])
def test_published_results_depend_on_values_only_through_the_noisy_totals(strategy, monkeypatch):
    def fixed(moved, budget, *, vector=False):
        real = real_noise(moved, budget, vector=vector)
        measurement = lambda total: [7] * len(total) if vector else 7  # noqa: E731
        measurement.map = real.map
        return measurement

    real_noise = noise.discrete_laplace
    monkeypatch.setattr(noise, "discrete_laplace", fixed)
    table = trips()
    other = table.assign(speed=65.0 - table.speed, gain=-0.5 * table.gain)
    assert release_of(table, strategy=strategy).public() == (
        release_of(other, strategy=strategy).public()
    )


@pytest.mark.parametrize("strategy", ["joint", "divided"])
def test_a_release_spends_at_most_its_budget_and_states_it(strategy):
    for eps in (0.9, 1, Fraction(7, 3), "1e1"):
        result = release_of(trips(), eps=eps, strategy=strategy)
        assert (1 - 1e-12) * Fraction(eps) <= Fraction(result.eps) <= Fraction(eps)
    nothing = release_of(trips(), eps="1e-6", strategy=strategy)
    if strategy == "joint":  # a budget so small that constants are published
        assert (nothing.eps, nothing.means[0].mean) == (0, 32.5)


def test_a_line_about_one_record_is_in_the_singular(opendp):
    table = {"user": ["a"], "speed": [32.5]}
    result = release.private_means("user", {"speed": (0, 65)}, data=table, budget=1)
    assert " (1 record of 1 user; mean error at most " in result.public_sentence()
    text = result.public_sentence(users="buses", records="trips")
    assert " (1 trips of 1 buses; mean error at most " in text


def test_groups_without_common_users_each_have_the_whole_budget(opendp):
    table = trips()
    table["user"] = table.user.astype(str) + table.day  # no user has records on two days
    result = release_of(table, eps=1, values={"speed": (0, 65)})
    assert [one.strategy for one in result.means] == ["disjoint", "disjoint", "empty", "disjoint"]
    assert [request.budget for request in opendp.requests] == [1, 1, 1]
    assert result.eps == 1
    assert "Each of the users contributes to one mean only." in result.public_sentence()
    two = release_of(table, eps=1)  # with two columns, every user takes part twice
    assert {one.strategy for one in two.means} <= {"joint", "divided", "empty"}
    monday = table[table.day == "Mo"]
    people = ud.Contributions(monday.groupby("user").size(), 65.0)
    width = _whole(people, beyond.LaplaceNoise(1)).parts[0].total_width
    alone = release.private_mean(
        "user", "speed", data=monday, lower=0, upper=65, budget=1, total_width=width
    )
    assert result.means[0].mean == alone.mean
    assert result.means[0].worst_case_error == alone.worst_case_error


def test_a_budget_is_divided_by_the_number_of_means_in_which_a_user_takes_part(opendp):
    rows = [("a", "Mo"), ("a", "Tu"), ("b", "Tu"), ("b", "We"), ("c", "Th")]
    table = pd.DataFrame(rows, columns=["user", "day"]).assign(speed=10.0, gain=0.5)
    table = pd.concat([table] * 3)
    result = release_of(table, eps=1, strategy="divided")
    # Mo, Tu and We are connected, but no user has records on all three days.
    assert [float(request.budget) for request in opendp.requests] == pytest.approx(
        [0.25] * 6 + [0.5] * 2
    )
    assert result.eps <= 1
    assert components(4, {(0, 0): 2, (0, 1): 2, (1, 1): 2, (1, 2): 2, (3, 3): 1}) == [
        ((0, 1, 2), 2),
        ((3,), 1),
    ]


def exact_error(total, truth, scale, step):
    """Return E|P(t + Z) - f| on [0, 1] for discrete Laplace noise, from its probabilities."""
    reach = int(40 * scale) + 1
    noise = np.arange(-reach, reach + 1)
    q = exp(-1 / scale)
    probability = (1 - q) / (1 + q) * q ** np.abs(noise)
    released = np.clip(total + noise * step, 0, 1)
    return float(probability @ np.abs(released - truth))


@pytest.mark.parametrize("eps", [0.3, 4])
@pytest.mark.parametrize("strategy", ["joint", "divided"])
@pytest.mark.parametrize("centre", [None, {"speed": 0.8}], ids=["middle", "centre"])
def test_no_dataset_at_the_bounds_has_an_error_above_the_guarantee(eps, strategy, centre, opendp):
    """All datasets with values at the bounds; the steps of noise are coarse to keep sums short."""
    rows = [("a", "Mo")] * 4 + [("a", "Tu"), ("b", "Mo"), ("b", "Tu"), ("b", "Tu"), ("c", "Th")]
    users, days = zip(*rows, strict=True)
    cells = [*dict.fromkeys(rows)]
    worst = np.zeros(4)
    firsts = (1.0,) if centre is None else (0.0, 1.0)  # mirrored data have the same error
    for values in product(firsts, *[(0.0, 1.0)] * (len(cells) - 1)):
        at = dict(zip(cells, values, strict=True))
        data = {"user": users, "day": days, "speed": [at[row] for row in rows]}
        opendp.requests.clear()
        options = {"strategy": strategy, "centre": centre}
        result = release_of(data, eps=eps, values={"speed": (0, 1)}, **options)
        for index, one in enumerate(result.means):
            if one.n_records:
                truth = np.mean([at[row] for row in rows if row[1] == one.group])
                coarse = max(one.noise_scale / 200, 1e-9)
                error = abs(one.mean - truth)
                if one.noise_scale:  # without noise, the release is the clipped mean
                    error = exact_error(one.mean, truth, one.noise_scale / coarse, coarse)
                worst[index] = max(worst[index], error)
    guarantee = np.nan_to_num(result.worst_case_error)
    assert (worst <= guarantee * (1 + 1e-3) + 1e-9).all()
    assert worst[0] >= 0.5 * guarantee[0]  # the guarantee is not far above


def test_the_stated_errors_add_up_to_at_least_the_optimum_and_at_most_twice_it():
    table = trips()
    counts = table.groupby(["user", "day"]).size().unstack(fill_value=0).to_numpy()
    for eps in (0.2, 1, 5):
        smallest = beyond.error_of_several_means(counts, 1.0, eps)
        result = release_of(table, eps=eps, values={"speed": (0, 65)}, strategy="joint")
        stated = sum(one.worst_case_bias + one.noise_scale for one in result.means if one.n_records)
        assert smallest * 65 * (1 - 1e-9) <= stated <= 2 * smallest * 65
        divided = beyond.error_of_divided_budget(counts, 1.0, eps)
        assert smallest <= divided * (1 + 1e-12)


@pytest.mark.parametrize("centre", [None, {"speed": 20}], ids=["middle", "centre"])
def test_a_plan_states_the_guarantees_of_a_release_and_reads_no_value(centre):
    table = trips()
    secret = table.assign(speed=["?"] * len(table), gain=None)
    options = {"group": "day", "groups": DAYS, "centre": centre}
    rows = plan_means("user", BOUNDS, data=secret, eps=[0.1, 2], **options).rows
    assert len(rows) == 2 * 2 * 4
    for eps, strategy in product((0.1, 2), ("joint", "divided")):
        result = release_of(table, eps=eps, strategy=strategy, centre=centre)
        of_eps = [row for row in rows if row.eps == eps]
        for one, row in zip(result.means, of_eps, strict=True):
            assert (one.column, one.group) == (row.column, row.group)
            assert one.worst_case_error == getattr(row, strategy)
            other = {"joint": "divided", "divided": "joint"}[strategy]
            assert one.other_error in (None, getattr(row, other))
    best = {row.best for row in rows if row.eps == 2}
    result = release_of(table, eps=2, centre=centre)
    assert {one.strategy for one in result.means} == best
    assert all(row.constant == (BOUNDS[row.column][1] - BOUNDS[row.column][0]) / 2 for row in rows)


def test_a_plan_says_if_no_user_takes_part_in_two_means():
    table = {"user": [*"aabbc"], "group": [*"XXXXY"]}
    options = {"data": table, "group": "group", "groups": ["X", "Y", "Z"]}
    plan = plan_means("user", {"value": (0, 10)}, **options, eps=1)
    assert [row.best for row in plan.rows] == ["disjoint", "disjoint", "empty"]
    assert [row.constant for row in plan.rows] == [5, 5, 5]
    assert repr(plan).splitlines()[0].split()[-2:] == ["constant", "best"]


def test_intervals_cover_individually_or_simultaneously(opendp):
    result = release_of(trips(n=4000, n_users=400), eps=10)
    alone, together = result.interval(0.9), result.interval(0.9, simultaneous=True)
    assert np.array(together) == pytest.approx(np.array(result.interval(1 - 0.1 / 6)), rel=1e-9)
    checked = 0
    for one, other, mean in zip(alone, together, result.means, strict=True):
        if mean.mean is None:
            assert one == other == (mean.lower, mean.upper)
            continue
        assert mean.lower <= other[0] <= one[0] <= mean.mean <= one[1] <= other[1] <= mean.upper
        if mean.lower < one[0] and one[1] < mean.upper:
            reach, bias, scale = one[1] - mean.mean, mean.worst_case_bias, mean.noise_scale
            beyond_it = [exp(-(reach + end) / scale) / 2 for end in (-bias, bias)]
            assert sum(beyond_it) == pytest.approx(0.1, rel=1e-6)
            checked += 1
    assert checked >= 2


def test_an_empty_group_is_published_without_a_mean(opendp):
    result = release_of(trips(), eps=1)
    (empty,) = (one for one in result.means if one.group == "We" and one.column == "speed")
    assert (empty.mean, empty.n_records, empty.worst_case_error) == (None, 0, None)
    assert np.isnan(result.mean[2])
    assert "- speed, day We: no records" in result.public_sentence()


def test_published_results_name_column_group_table_and_budget(opendp):
    result = release_of(trips(), eps=2, of="trips in week 12", missing="centre")
    published = json.loads(result.public_json())
    jsonschema.validate(published, release.json_schema())
    assert published == result.public()
    assert (published["of"], published["group"], published["eps"]) == ("trips in week 12", "day", 2)
    assert {(one["column"], one["group"]) for one in published["means"]} == {*product(BOUNDS, DAYS)}
    words = result.public_sentence({"speed": "km/h"}, users="buses", records="trips")
    lines = words.split("\n")
    assert lines[0] == (
        "Means of speed and gain by day (trips in week 12) "
        "(missing values are replaced by the middle of the bounds):"
    )
    assert len(lines) == 1 + 8 + 3
    assert "km/h (" in lines[1]
    assert "km/h" not in lines[5]
    assert lines[-1] == "The number of trips of each of the buses by day is not protected."
    assert lines[-2].startswith("All means share one budget. Noise protects each of the buses: ")
    assert "eps = 2" in lines[-2]
    spent = release.account([result.public_json(), *[published | {"of": "week 13"}]])
    assert spent.eps == 4
    assert "trips in week 12" in repr(result)
    assert "<table" in result._repr_html_()


GOOD = {
    "user": ["a", "a", "b"],
    "day": ["Mo", "Tu", "Mo"],
    "speed": [1.0, 2.0, 3.0],
    "gain": [0, 0, 0],
}
REFUSED = [
    ({"groups": ["Mo"]}, {}, "`groups` must list the group of each row"),
    ({}, {"day": ["Mo", None, "Mo"]}, "`groups` must list the group of each row"),
    (
        {"groups": ["Mo", "Tu", "Mo"]},
        {},
        "`groups` must name each group once, got groups[2], which is",
    ),
    ({"groups": []}, {}, "`groups` must name at least one group"),
    ({"groups": "Mo"}, {}, "`groups` must be a list of text or whole numbers"),
    ({"groups": ["Mo", 1.5]}, {}, "`groups` must be text or whole numbers"),
    ({"groups": None}, {}, "`group` and `groups` must be given together or not"),
    ({"group": "speed"}, {}, "`group` must be named once"),
    ({"group": "user"}, {}, "`group` must be a different column from `user`"),
    ({"group": "hour"}, {}, "`group` must be the name of a column"),
    ({}, {"day": [1.0, 2.0, 1.0]}, "`group` must hold text or whole numbers"),
    ({}, {"day": pd.to_datetime(["2013-01-01"] * 3)}, "Write days and other names as text"),
    ({"values": {}}, {}, "`values` must be a mapping of columns to their bounds"),
    ({"values": {"speed": 65}}, {}, "`values` must map each column to two bounds"),
    ({"values": {"speed": (65, 0)}}, {}, "`upper` must be above lower=65"),
    ({}, {"user": ["a", None, "b"]}, "`user` must not be missing"),
    ({}, {"speed": [1.0, None, 3.0]}, "`value` must not be missing"),
    ({}, {"speed": [1.0, 2.0, 66.0]}, "`value` must lie between the bounds"),
    ({}, {"speed": [1.0, 2.0]}, "`data` must have columns of equal lengths"),
    ({}, {"speed": ["1", "2", "3"]}, "`value` must hold real numbers"),
    ({"strategy": "all"}, {}, "`strategy` must be one of 'best', 'joint', 'divided'"),
    ({"outside": "drop"}, {}, "`outside` must be one of 'refuse', 'clamp'"),
    ({"missing": "drop"}, {}, "`missing` must be one of 'refuse', 'centre'"),
    ({"eps": 2.0**-41}, {}, "`budget` must be at least 2^-40"),
    ({"of": 3}, {}, "`of` must be"),
    ({"centre": 30}, {}, "`centre` must be a mapping of columns to public guesses"),
    ({"centre": {"hour": 1}}, {}, "`centre` must name only columns of `values`"),
    ({"centre": {"speed": 66}}, {}, "`centre` must be from 0 to 65"),
    ({"centre": {"gain": "x"}}, {}, "`centre` must be"),
    (
        {"eps": beyond.GaussianNoise(2)},
        {},
        "`budget` must be an eps, because several means",
    ),
]


@pytest.mark.parametrize(("options", "columns", "message"), REFUSED, ids=[r[2] for r in REFUSED])
def test_bad_input_is_refused_before_a_draw(options, columns, message, opendp):
    settings = {"values": BOUNDS, "eps": 1} | options
    with pytest.raises((TypeError, ValueError)) as refusal:
        release_of(GOOD | columns, **settings)
    assert message in str(refusal.value)
    assert not opendp.requests


ROWS = [row for row in REFUSED if row[1] and all(len(column) == 3 for column in row[1].values())]


@pytest.mark.parametrize(("_", "columns", "message"), ROWS, ids=[row[2] for row in ROWS])
def test_engines_refuse_the_same_rows(_, columns, message, opendp):
    table = ibis.memtable(pa.table(GOOD | columns))
    with pytest.raises((TypeError, ValueError)) as refusal:
        release_of(table, eps=1)
    assert message in str(refusal.value)
    assert not opendp.requests


def test_whole_numbers_and_equal_text_are_one_group(opendp):
    for days in ([1, 2, 1], ["1", "2", "1"], pd.array([1, 2, 1], "Int64"), np.array([1, 2, 1])):
        result = release_of(GOOD | {"day": days}, groups=[1, "2"])
        assert [one.n_records for one in result.means] == [2, 1, 2, 1]
    relation = duckdb.sql("SELECT 'a' AS user, 1 AS day, 1.0 AS speed, 0.0 AS gain")
    assert release_of(relation, groups=[1]).means[0].n_records == 1


NAMES = ["7", "-1", "0", "07", "-0", "+7", "7.0", "\u0667", "300", str(2**70)]


@pytest.mark.parametrize("kind", ["i1", "u1", "i8", "u8"])
@pytest.mark.parametrize("sign", [1, -1], ids=["from zero", "negative"])
def test_whole_numbers_are_in_the_group_with_their_spelling(kind, sign, opendp):
    """In arrays of small and of other numbers, and in an engine, whose types limit the numbers."""
    days = [7, 0, 7, max(sign, -1 if kind[0] == "i" else 0)]
    table = {"user": [1, 2, 3, 4], "day": np.array(days, kind), "speed": [1.0, 2.0, 3.0, 4.0]}
    names = [*NAMES, "1"]
    expected = [sum(str(day) == name for day in days) for name in names]
    for data in (table, ibis.memtable(pa.table(table))):
        result = private_means(
            "user", {"speed": (0, 65)}, data=data, budget=1, group="day", groups=names
        )
        assert [one.n_records for one in result.means] == expected


def test_few_rows_in_many_groups_give_the_same_result_as_in_an_engine(opendp):
    """With so many groups, an entry per user and group would need more memory than the rows."""
    rows = {"user": ["b", "a", "b", "c"], "day": ["d7", "d7", "d190", "d33"]}
    rows |= {"speed": [1.0, 2.0, 65.0, 4.0], "gain": [0.5, -1.0, 1.0, 0.0]}
    days = [f"d{i}" for i in range(200)]
    for data in (rows, ibis.memtable(pa.table(rows))):
        release_of(data, eps=10, groups=days, strategy="joint")
        release_of(data, eps=10, groups=days, strategy="divided")
    half = len(opendp.requests) // 2
    assert half > 2
    assert opendp.requests[:half] == opendp.requests[half:]
    for wrong in ({"user": ["b", None, "b", "c"]}, {"day": ["d7", "d7", None, "d33"]}):
        with pytest.raises(ValueError, match=r"must not be missing|must list"):
            release_of(rows | wrong, groups=days)


def test_rows_without_a_user_or_a_group_are_in_no_pair():
    pairs = Pairs(Ids(np.array([0, 1, -1, 1], np.int8), 2, True), np.int16([2, -1, 1, 0]), 6, True)
    assert pairs.of_rows(slice(0, 4)).tolist() == [4, -1, -1, 1]
    assert pairs.of_rows(slice(3, 9)).tolist() == [1]


def test_sizes_are_counted_by_an_array_or_by_sorting():
    for numbers in ([3, 1, 3, 0], [3, 1, 3, 2**40], []):
        values, counts = distinct(np.array(numbers, np.int64))
        assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == Counter(numbers)
        assert values.tolist() == sorted(values.tolist())


def test_columns_without_groups_give_the_same_release_in_an_engine(opendp):
    table = trips()
    for data in (table, ibis.memtable(pa.Table.from_pandas(table))):
        private_means("user", BOUNDS, data=data, budget=1)
    one, other = np.array_split(np.array(opendp.requests, object), 2)
    assert one.tolist() == other.tolist()
    assert len(one)


def test_means_around_a_centre_equal_those_of_private_mean(opendp):
    table = trips()
    table["user"] = table.user.astype(str) + table.day  # no user has records on two days
    result = release_of(table, eps=1, values={"speed": (0, 65)}, centre={"speed": 50})
    monday = {"data": table[table.day == "Mo"], "lower": 0, "upper": 65}
    alone = release.private_mean("user", "speed", **monday, budget=1, centre=50)
    first = result.means[0]
    for name in ("mean", "worst_case_error", "worst_case_bias", "noise_scale", "rounding"):
        assert getattr(first, name) == getattr(alone, name)
    assert result.centre == {"speed": alone.centre}
    assert first.worst_case_error > release_of(table, eps=1).means[0].worst_case_error


def test_off_the_middle_no_guarantee_counts_on_the_projection(opendp):
    law, checked = beyond.LaplaceNoise(1), 0
    result = release_of(trips(), eps=2, strategy="joint", centre={"speed": 50})
    for one in result.means:
        if one.mean is not None:
            error = float(law.mean_error(one.worst_case_bias, one.noise_scale)) + one.rounding
            expected = pytest.approx(min(error, one.upper - one.lower), rel=1e-9)
            assert (one.worst_case_error == expected) == (one.column == "speed")
            checked += error < one.upper - one.lower
    assert checked >= 2


def test_given_centres_are_published(opendp):
    result = release_of(trips(), centre={"gain": 0.25, "speed": None}, missing="centre")
    published = json.loads(result.public_json())
    jsonschema.validate(published, release.json_schema())
    assert published["centre"] == {"gain": 0.25}
    assert "clipped around" in repr(result)
    assert "gain 0.25" in repr(result)
    assert "are replaced by a number fixed in advance" in result.public_sentence()
    plain = release_of(trips(), missing="centre")
    assert "centre" not in plain.public()
    assert "clipped around" not in repr(plain)


def test_a_missing_value_counts_as_the_centre_of_its_column(opendp):
    table = trips()
    missing = table.assign(speed=table.speed.where(table.user != 3))
    for strategy in ("joint", "divided"):
        options = {"strategy": strategy, "centre": {"speed": 52.0}, "missing": "centre"}
        one, other = (
            release_of(data, **options)
            for data in (missing, table.assign(speed=missing.speed.fillna(52.0)))
        )
        assert one.mean == pytest.approx(other.mean, abs=1e-6, nan_ok=True)


def test_the_table_marks_means_for_which_the_other_strategy_is_better(opendp):
    table = trips()
    for strategy, other in (("joint", "divided"), ("divided", "joint")):
        result = release_of(table, eps=2, strategy=strategy)
        held = [one for one in result.means if one.other_error is not None]
        is_better = any(one.other_error < one.worst_case_error for one in held)
        assert (f'smaller error if "{other}"' in repr(result)) == is_better
        assert f'smaller error if "{strategy}"' not in repr(result)


def test_one_column_without_groups_is_one_mean(opendp):
    result = private_means("user", {"speed": (0, 65)}, data=GOOD, budget=1)
    assert [(one.group, one.strategy) for one in result.means] == [("", "disjoint")]
    assert result.public_sentence().startswith("Means of speed:\n- speed: ")
