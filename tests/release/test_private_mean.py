"""`private_mean`: the release, its noise, guarantee and intervals, compared with definitions."""

import dataclasses
import re
from decimal import Decimal
from fractions import Fraction
from html import escape

import ibis
import numpy as np
import opendp.prelude as dp
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

import userdp as ud
from userdp import beyond, release
from userdp.beyond._rounding import downwards, upwards
from userdp.release import as_measurement, protected_tally
from userdp.release._grid import Grid, read_grid
from userdp.release._intervals import noise_reach
from userdp.release._mean import Choices, decide

GRIDS = ((20, 33), (40, 13), (45, 8))
USERS, VALUES = [1, 1, 1, 1, 2, 3], [3.0, 4.0, 5.0, 4.0, 1.0, 6.0]


def test_the_mean_is_released_with_noise_for_the_heaviest_user(opendp):
    """At this budget no user is clipped, and `opendp` adds no noise."""
    result = release.private_mean(USERS, VALUES, lower=1, upper=7, budget=4, objective="bound")
    assert result.mean == pytest.approx(np.mean(VALUES), abs=result.rounding)
    assert result.worst_case_bias == pytest.approx(0, abs=result.rounding)
    (request,) = opendp.requests
    levels, message = (
        4 * read_grid(1, 7).top,
        f"four values from end to end; it is for {request.moved}",
    )
    assert request.moved == levels, f"noise for {levels} levels: {message}"
    assert request.budget == 4


ODD_ROWS = {
    "without a user": ((None, 2.0), "`user` must not be missing"),
    "without a value": (("a", None), "`value` must not be missing"),
    "beyond the bounds": (("a", 7.1), "`value` must lie between the bounds"),
}


@pytest.mark.parametrize(("row", "words"), ODD_ROWS.values(), ids=ODD_ROWS)
def test_invalid_rows_are_refused(opendp, row, words):
    users, values = zip(("a", 3.0), row, strict=True)
    with pytest.raises(ValueError, match=words):
        release.private_mean(users, values, lower=1, upper=7, budget=4)
    assert opendp.requests == [], "noise was drawn although a row should be refused"


def test_levels_depend_only_on_the_bounds():
    for lower, upper, bits in ((0, 1, 40), *((2.0**k, 2.0**k + 2, b) for k, b in GRIDS)):
        assert read_grid(lower, upper).bits == bits
    with pytest.raises(ValueError, match=r"farther from lower.* got upper=\d"):
        read_grid(2.0**46, 2.0**46 + 2)


def window_of(counts, eps, bits=40):
    grid = Grid(0.0, 1.0, bits)
    law = beyond.LaplaceNoise(eps)
    users = ud.Contributions(counts, 1.0)
    width = 2.0 * users.max_count  # no user is clipped
    (how,) = decide(users, Choices(grid, law, grid.top // 2, "bound", width, True))
    return how.window


@pytest.mark.parametrize(
    ("counts", "eps", "shift"),
    [
        ([1], 1, 0),
        ([2**16 - 1], 1, 0),  # the scale of the noise, in steps, is at most 2^56
        ([2**16], 1, 1),
        ([1], 2.0**-16, 1),
        ([1], 2.0**-40, 25),
        ([2**20 - 1], 2**10, 0),
        ([2**20, 2**20 - 1], 2**10, 0),  # the sum of all sums is below 2^61
        ([2**20, 2**20], 2**10, 1),
        ([2**42], 2.0**-40, 67),
    ],
)
def test_steps_are_as_coarse_as_sums_and_noise_in_64_bits_require(counts, eps, shift):
    window = window_of(counts, eps)
    assert window.shift == shift
    largest = sum(max(-window.lowest, window.highest) * m / max(counts) for m in counts)
    assert largest < 2**62
    assert window.sensitivity / eps <= 2**56


def test_rounding_includes_coarse_steps():
    users, values, eps = np.zeros(4000), np.ones(4000), 2.0**-34
    result = release.private_mean(users, values, lower=0, upper=1, budget=eps, total_width=2000.0)
    coarse = 2.0 ** (window_of([4000], eps).shift - 40)
    fine = (0.5 + 2**-10) * 2.0**-40
    assert result.rounding == pytest.approx(fine + 1.5 * coarse / 4000)


@pytest.mark.slow
def test_projection_increases_no_error(opendp):
    """Neither does averaging beyond the range; and intervals still cover the mean."""
    rng, n_projected, n_averaged = np.random.default_rng(84), 0, 0
    for _ in range(200):
        lower, n = float(rng.choice([0, -8, 3])), int(rng.integers(1, 80))
        upper = lower + float(rng.choice([1, 16, 65]))
        users = rng.integers(0, rng.integers(1, 12), n)
        values = lower + (upper - lower) * rng.integers(0, 257, n) / 256  # exact in floats
        opendp.added = int(rng.integers(-(2**44), 2**44))
        bounds = {"lower": lower, "upper": upper, "budget": 0.7, "objective": "bound"}
        kept = release.private_mean(users, values, **bounds)
        plain = release.private_mean(users, values, **bounds, project=False)
        truth, middle = values.mean(), (lower + upper) / 2
        noisy = middle + (opendp.requests[-1].total + opendp.added) * (upper - lower) / 2**40 / n
        assert kept.mean == pytest.approx(min(max(noisy, lower), upper), rel=1e-14)
        assert abs(kept.mean - truth) <= abs(noisy - truth) + 1e-12
        n_projected += not lower <= noisy <= upper
        if plain.noise_scale == 0:  # then only one number can be released
            continue
        low, high = plain.clipped_range
        outside = plain.noise_scale * (noisy > high) - plain.noise_scale * (noisy < low)
        near = min(max(noisy, low), high) if outside else noisy
        assert plain.mean == pytest.approx(near + outside, abs=1e-9)
        n_averaged += outside != 0
        assert kept.worst_case_bound == min(plain.worst_case_bound, upper - lower)
        people = ud.Contributions(np.bincount(users)[np.unique(users)], upper - lower)
        theory = beyond.projected_error(people, kept.total_width, 0.7) + kept.rounding
        assert kept.worst_case_error == pytest.approx(theory, rel=1e-12)
        assert theory < plain.worst_case_error
        for level in (0.1, 0.5, 0.99):
            reach = noise_reach(
                beyond.LaplaceNoise(1), plain.noise_scale, plain.worst_case_bias, level
            )
            projected, unprojected = kept.interval(level), plain.interval(level)
            assert lower <= projected[0] <= kept.mean <= projected[1] <= upper
            if abs(noisy - truth) <= reach:
                assert projected[0] <= truth <= projected[1]
                assert unprojected[0] <= truth <= unprojected[1]
            wide = max(reach, plain.worst_case_bias) if outside else reach
            assert unprojected == pytest.approx((near - wide, near + wide), abs=1e-9)
    assert min(n_projected, n_averaged) > 20


@pytest.mark.parametrize("level", [0, 1])
def test_the_levels_0_and_1_are_refused(opendp, level):
    result = release.private_mean([1], [0.5], lower=0, upper=1, budget=1)
    with pytest.raises(ValueError, match=f"^`level` must be between 0 and 1, got level={level}"):
        result.interval(level)


@pytest.mark.parametrize("level", [0.3, 0.95, 0.999])
@pytest.mark.parametrize("eps", [0.3, 2.5, beyond.GaussianNoise(0.8)])
@pytest.mark.parametrize("unit", [1, 2.0**-60])
def test_intervals_cover_the_mean_at_their_level(opendp, level, eps, unit):
    values, options = np.array(VALUES) * unit, {"objective": "l1", "project": False}
    result = release.private_mean(USERS, values, lower=0, upper=6 * unit, budget=eps, **options)
    assert result.worst_case_bias > 0.01 * unit
    for (low, high), bias in (
        (result.interval(level), result.worst_case_bias),
        (result.noise_interval(level), 0.0),
    ):
        assert (low + high) / 2 == pytest.approx(result.mean)
        reach = (high - low) / 2 - result.rounding
        law = (stats.norm if result.eps is None else stats.laplace)(bias, result.noise_scale)
        assert law.cdf(reach) - law.cdf(-reach) == pytest.approx(level, abs=1e-9)


def test_with_a_very_small_budget_the_middle_is_released_without_noise():
    how = {"lower": 0, "upper": 1, "objective": "bound"}
    result = release.private_mean([1, 2], [0.0, 1.0], budget=0.5, **how)
    assert (result.mean, result.noise_scale, result.total_width, result.eps) == (0.5, 0, 0, 0)
    assert "nothing is learnt" in result.public()["privacy_unit"]
    assert (result.interval(), result.noise_interval()) == ((0, 1), pytest.approx((0.5, 0.5)))


def test_a_result_is_read_only_and_not_published_with_an_invalid_json_number():
    result = release.private_mean(USERS, VALUES, lower=0, upper=6, budget=1)
    with pytest.raises(ValueError, match="JSON"):
        dataclasses.replace(result, mean=np.inf).public_json()
    with pytest.raises(AttributeError):
        result.mean = 3.0


def test_the_warning_about_dropped_rows_points_at_the_caller():
    with pytest.warns(UserWarning, match="not stated") as caught:
        release.private_mean(["a"], [1.0], lower=0, upper=10, budget=1, missing="drop")
    assert caught[0].filename == __file__


def test_a_measurement_composes_in_opendp_and_is_projected_by_default(opendp):
    dp.enable_features("contrib", "honest-but-curious")
    table = {"user": list("aaabbc"), "value": [5.0] * 6, "other": [1.0] * 6}
    options = {"user": "user", "value": "value", "data": table, "lower": 0, "upper": 10}
    options |= {"objective": "bound"}
    one, other = (as_measurement(budget=eps, **options) for eps in (1, 2))
    assert (one.input_metric, one.output_measure) == (dp.change_one_distance(), dp.max_divergence())
    both = dp.c.make_composition([one, other])
    assert [both.map(d) for d in (0, 1, 2)] == [0, 3, 6]
    law = as_measurement(budget=beyond.GaussianNoise.zcdp(0.3), total_width=6, **options)
    assert law.output_measure == dp.zero_concentrated_divergence()
    assert dp.c.make_composition([law, law]).map(1) == pytest.approx(0.6)
    assert [result.eps for result in both(table)] == [1, 2] == [one.map(1), other.map(1)]
    opendp.added = 2**60
    assert one(table).mean == 10
    law = beyond.GaussianNoise(1)
    assert as_measurement(budget=law, project=False, **options)(table).mean > 1000
    assert as_measurement(budget=1, project=False, **options)(table).mean == pytest.approx(
        55 / 6 + 10 / 3
    )


OF_TRIPS = {"lower": 0, "upper": 65}


def trips(order=None):
    """Return records of users with different counts and speeds."""
    rng = np.random.default_rng(25)
    users = np.repeat(np.arange(60), rng.zipf(1.6, 60).clip(max=40))
    rows = pd.DataFrame({"bus": users, "speed": (users + rng.random(users.size)).clip(0, 65)})
    return rows if order is None else rows.sample(frac=1, random_state=order)


HOLDERS_OF_TRIPS = {
    "as they are": lambda rows, _: rows,
    "shuffled": lambda rows, _: rows.sample(frac=1, random_state=1),
    "users renamed": lambda rows, _: rows.assign(bus=-rows.bus),
    "Arrow": lambda rows, _: pa.Table.from_pandas(rows, preserve_index=False),
    "Ibis": lambda rows, _: ibis.memtable(pa.Table.from_pandas(rows, preserve_index=False)),
    "a file": lambda rows, folder: rows.to_parquet(folder / "t.parquet") or folder / "t.parquet",
}


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["bound", "l1"])
@pytest.mark.parametrize("hold", HOLDERS_OF_TRIPS.values(), ids=HOLDERS_OF_TRIPS)
def test_a_measurement_of_a_table_in_any_order_equals_its_release(
    hold, objective, tmp_path, opendp
):
    how = OF_TRIPS | {"budget": 3, "objective": objective}
    rows = trips()
    measurement = as_measurement("bus", "speed", data=rows, **how)
    expected = release.private_mean("bus", "speed", data=rows, **how).mean
    table = hold(rows, tmp_path)
    assert measurement(table).mean == expected
    assert measurement.input_domain.member(table)
    assert as_measurement("bus", "speed", data=table, **how)(rows).mean == expected
    assert abs(expected - rows.speed.mean()) < 5


def test_counts_and_sums_of_one_groupby_give_the_release_of_the_table(opendp):
    """As on the pages and in the README: two columns of one object, so their order agrees."""
    for order in (None, 1, 2):
        rows = trips(order)
        by_bus = rows.groupby("bus", sort=order != 2).speed.agg(["size", "sum"])
        users = ud.Contributions(by_bus["size"], upper=65)
        assert users.counts.tolist() == by_bus["size"].tolist()
        result = release.release_mean(by_bus["sum"], users, budget=3)
        table = release.private_mean("bus", "speed", data=rows, **OF_TRIPS, budget=3)
        assert result.mean == pytest.approx(table.mean, abs=2 * table.rounding)


def test_measurements_of_several_columns_compose_even_adaptively():
    dp.enable_features("contrib", "honest-but-curious")
    rows = trips().assign(fuel=lambda rows: rows.speed / 10)
    speed = as_measurement("bus", "speed", data=rows, **OF_TRIPS, budget=1)
    fuel = as_measurement("bus", "fuel", data=rows, lower=0, upper=7, budget=0.5)
    assert dp.c.make_composition([speed, fuel]).map(1) == 1.5
    space = speed.input_domain, speed.input_metric, speed.output_measure
    adaptive = dp.c.make_fully_adaptive_composition(*space)(rows)
    assert adaptive(speed).eps + adaptive(fuel).eps == adaptive.privacy_loss(1) == 1.5
    fewer = as_measurement("bus", "speed", data=rows[1:], **OF_TRIPS, budget=1)
    assert fewer.input_domain != speed.input_domain
    with pytest.raises(dp.OpenDPException, match="domains must be the same"):
        dp.c.make_composition([speed, fewer])


def test_a_table_of_other_users_is_not_in_the_domain(opendp):
    rows = trips()
    measurement = as_measurement("bus", "speed", data=rows, **OF_TRIPS, budget=1)
    added = pd.DataFrame({"bus": [None], "speed": [3.0]})
    for other in (rows[1:], pd.concat([rows, rows[:1]]), pd.concat([rows, added])):
        assert not measurement.input_domain.member(other)
        with pytest.raises(dp.OpenDPException, match="`data` must have, for each number of"):
            measurement(other)
    assert opendp.requests == []


BAD = [np.nan, None, np.inf, -np.inf, 1e300, -1e300, -1.0, 65.0001]


@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize(
    "hold",
    [dict, pd.DataFrame, lambda rows: ibis.memtable(pa.table(rows))],
    ids=["mapping", "pandas", "Ibis"],
)
def test_a_measurement_never_warns_or_fails_because_of_a_value(bad, hold, opendp):
    """A refusal or a warning would reveal something about values; here warnings are errors."""
    good = {"bus": list("aaabb"), "speed": [30.0, 31.0, 32.0, 5.0, 6.0]}
    measurement = as_measurement("bus", "speed", data=good, **OF_TRIPS, budget=4)
    table = good | {"speed": [bad, *good["speed"][1:]]}
    result = measurement(hold(table))
    replaced_by = 32.5 if bad is None or bad != bad else min(max(bad, 0), 65)
    same = measurement(good | {"speed": [replaced_by, *good["speed"][1:]]})
    assert result.mean == pytest.approx(same.mean, abs=result.rounding)
    assert (result.outside, result.missing) == ("clamp", "centre")
    assert measurement.input_domain.member(hold(table))


def test_totals_of_sums_are_whole_numbers_beyond_2_to_the_53(opendp):
    users = ud.Contributions(np.full(4097, 2**20), 1)
    release.release_mean(users.counts * 1.0, users, budget=1, total_width=777_777.7)
    ((moved, _, total),) = opendp.requests
    assert total == 4097 * (moved // 2) != float(total)


@pytest.mark.parametrize(
    "kind", [dict, lambda rows: ibis.memtable(pa.table(rows))], ids=["mapping", "Ibis"]
)
def test_users_whose_rows_are_all_dropped_add_nothing(kind, opendp):
    data = kind({"user": list("aabcc"), "value": [1.0, 2.0, 99.0, -5.0, 99.0]})
    options = {"lower": 0, "upper": 10, "outside": "drop", "data": data}
    with pytest.warns(UserWarning, match="not stated"):
        result = release.private_mean("user", "value", budget=1, total_width=100, **options)
    assert (result.n_users, result.n_records) == (1, 2)
    ((moved, _, total),) = opendp.requests
    assert total == round(-7 * moved / 20)  # only of a: two values, seven below the centre
    protected = release.private_mean_protected_counts("user", "value", eps=1, cap=3, **options)
    assert protected.noisy_weight == 2
    assert protected.noisy_sum == pytest.approx(2 * (1.5 - 5))
    options["data"] = kind({"user": ["a", "b"], "value": [99.0, -1.0]})
    with pytest.raises(ValueError, match="`user` must have at least one valid row: there is none"):
        release.private_mean("user", "value", budget=1, **options)


def test_rows_of_a_table_are_tallied():
    data = {"user": ["a", None, "b", "b"], "value": [1.0, 9.0, 20.0, None]}
    assert protected_tally("user", "value", lower=0, upper=10, data=data) == (4, 2, 1, 1, 1)
    rows = pa.table({"user": [1.0, 2.0**53 - 1, np.nan, None], "value": [1.0] * 4})
    tally = protected_tally("user", "value", lower=0, upper=10, data=ibis.memtable(rows))
    assert tally == (4, 2, 2, 0, 0)


def test_result_is_shown_as_a_table(opendp):
    rules = {"lower": 0, "upper": 6, "outside": "clamp", "missing": "centre"}
    rules |= {"objective": "bound"}
    result = release.private_mean(list("aabb"), [1.0, 7, 3, 4], budget=3, **rules)
    low, high = result.interval()
    assert repr(result).splitlines() == [
        f"private mean                {result.mean:.6g}",
        f"95 % interval               {downwards(low)} to {upwards(high)} "
        "(on every dataset with these counts)",
        f"budget                      eps = 3, {result.privacy_unit}",
        "error on the worst dataset  0.9503 on average over the noise (bias plus mean absolute "
        "noise 1.001, bias 0), with values clamped to the bounds and missing values set to the "
        "centre",
        "noise                       integers drawn by OpenDP, scale 1",
        "averages clipped to         [0, 6] (2 records per user)",
        "records                     4 from 2 users, values in [0, 6]",
    ]
    lines = [re.split("  +", escape(line), maxsplit=1) for line in repr(result).splitlines()]
    rows = [f"<tr><th scope='row'>{name}</th><td>{text}</td></tr>" for name, text in lines]
    assert (
        result._repr_html_() == f"<table class='dataframe'><tbody>{''.join(rows)}</tbody></table>"
    )


def test_the_table_of_counts_uses_the_singular_for_one(opendp):
    def lines_of(users):
        result = release.private_mean(
            users, np.ones(len(users)), lower=0, upper=6, budget=1, total_width=6
        )
        return dict(line.split("  ", maxsplit=1) for line in repr(result).splitlines()[-2:])

    assert lines_of(["a", "b"])["averages clipped to"].strip() == "[0, 6] (1 record per user)"
    uneven = lines_of(["a", "a", "b"])["averages clipped to"].strip()
    assert uneven == "[1.5, 4.5] (2 records) ... [0, 6] (1 record)"
    assert lines_of(["a", "a"])["records"].strip() == "2 from 1 user, values in [0, 6]"


def call_with_budget(name):
    """Return a call that takes the budget; budgets above 10 protect little."""
    sums, users = [4.0, 3.0], ud.Contributions([2, 1], 6)
    records = {"user": list("aab"), "value": [1.0, 3.0, 3.0]}
    bounds = {"lower": 0, "upper": 6}
    return {
        "private_mean": lambda eps: release.private_mean(**records, **bounds, budget=eps),
        "release_mean": lambda eps: release.release_mean(sums, users, eps),
        "as_measurement": lambda eps: as_measurement(
            "user", "value", data=records, **bounds, budget=eps
        ),
        "protected": lambda eps: release.private_mean_protected_counts(
            **records, **bounds, cap=2, eps=eps
        ),
        "private_means": lambda eps: release.private_means(
            "user", {"value": (0, 6)}, data=records, budget=eps
        ),
    }[name]


ENTRY_POINTS = ["private_mean", "private_means", "release_mean", "as_measurement", "protected"]


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_a_budget_that_protects_little_gives_one_warning_at_the_call(name, opendp):
    call = call_with_budget(name)
    call(10)
    words = r"^`(budget|eps)` of eps = 10\.5 protects little: .* e\^10\.5 times as likely"
    with pytest.warns(UserWarning, match=words) as caught:
        call("10.5")
    assert [warning.filename for warning in caught] == [__file__]
    if name not in ("protected", "private_means"):
        call(beyond.GaussianNoise.zcdp(60))


def test_with_gaussian_noise_rho_is_not_stated_if_rows_may_be_dropped(opendp):
    law = beyond.GaussianNoise(1)
    with pytest.warns(UserWarning, match="`rho` is not stated"):
        release.private_mean(["a"], [1], lower=0, upper=6, budget=law, missing="drop")


@pytest.mark.parametrize("name", ["rng", "seed", "random_state"])
def test_a_seed_is_refused_with_the_reason(name):
    for call in (release.private_mean, release.release_mean, release.plan):
        with pytest.raises(TypeError, match=f"^`{name}` must not be given: a release has no seed"):
            call([1], [2.0], **{name: 1})


def test_bounds_that_are_decimals_are_the_nearest_floats(opendp):
    table = ["a", "b"], [0.1, Decimal("0.3")]
    exact = {"lower": Decimal("0.1"), "upper": Fraction(3, 10), "centre": Decimal("0.2")}
    floats = {name: float(bound) for name, bound in exact.items()}
    results = [release.private_mean(*table, budget=1, **bounds) for bounds in (exact, floats)]
    assert results[0] == results[1]
    assert (results[0].lower, results[0].upper) == (0.1, 0.3)


ROUNDED = [
    ({"budget": 3}, 1),
    ({"budget": beyond.GaussianNoise.zcdp(3), "project": False}, 1),
    ({"budget": 3, "project": False}, 2),
]


@pytest.mark.parametrize(("options", "times"), ROUNDED, ids=["projected", "Gaussian", "Laplace"])
def test_rounding_widens_intervals_on_both_sides(options, times, opendp):
    """Twice if the release may be at an end of the clipped range, which is rounded as well."""
    result = release.private_mean(np.arange(90), np.full(90, 0.5), lower=0, upper=1, **options)
    rounded = dataclasses.replace(result, rounding=result.rounding + 0.125)
    low, high = result.interval()
    expected = low - 0.125 * times, high + 0.125 * times
    assert rounded.interval() == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:`eps` is not stated")
@pytest.mark.parametrize("rule", ["refuse", "drop"])
def test_the_error_mentions_no_rule_if_rows_are_refused_or_dropped(rule, opendp):
    rules = {"lower": 0, "upper": 6, "outside": rule, "missing": rule, "objective": "bound"}
    result = release.private_mean(list("aabb"), [1.0, 6, 3, 4], budget=3, **rules)
    (error,) = (line for line in repr(result).splitlines() if line.startswith("error"))
    assert error.endswith("bias 0)")


def test_measurement_moves_by_what_its_noise_covers(opendp):
    def table(end):
        return {"user": list("aaaabc"), "value": [end] * 4 + [1.0, 6.0]}

    options = {"lower": 0, "upper": 6, "budget": 1, "centre": 2, "total_width": 9}
    measurement = as_measurement("user", "value", data=table(1.0), **options)
    for end in [-1e300, -5.0, 0.0, 0.75, 6.0, 1e300, np.inf, np.nan]:
        measurement(table(end))
    moved, _, totals = zip(*opendp.requests, strict=True)
    assert {*moved} == {max(totals) - min(totals)}
