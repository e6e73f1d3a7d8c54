"""What a result says of itself, in closed form; and the release as a measurement of OpenDP."""

import dataclasses
import itertools
from math import inf, log, ulp

import ibis
import numpy as np
import opendp.prelude as dp
import pyarrow as pa
import pytest

import userdp as ud
from userdp.practice import ProtectedCountsMean, as_measurement, protected_tally
from userdp.practice._arrays import ROWS_AT_A_TIME
from userdp.practice._ingest import read_records
from userdp.practice._records import Rules

MADE = ProtectedCountsMean(
    mean=5.0,
    eps=1.0,
    promise="",
    lower=1.0,
    upper=10.0,
    centre=4.0,
    reach=3.0,
    cap=2,
    noisy_sum=12.0,
    noisy_weight=20,
    sum_scale=6.0,
    weight_scale=2.0,
    step=0.5,
    rounding=0.25,
)


@pytest.mark.parametrize("level", [0.3, 0.8, 0.99])
@pytest.mark.parametrize("weight", [-30, -2, 3, 8, 20, 400])
def test_interval_of_the_weight(weight, level):
    """Of whole Laplace noise, |Z| exceeds scale * log(1/q) + 1 with a chance of less than q."""
    reach = 2 * log(1 / (1 - level)) + 1
    ends = dataclasses.replace(MADE, noisy_weight=weight).weight_interval(level)
    assert ends == pytest.approx([max(weight - reach, 0), max(weight + reach, 0)])


@pytest.mark.parametrize("level", [0.3, 0.8, 0.99])
@pytest.mark.parametrize("weight", [-30, 3, 20, 400])
@pytest.mark.parametrize("total", [-900, -25, -7.3, 0, 3.5, 7.3, 15.5, 31, 50, 900])
def test_interval_of_a_quotient_is_over_all_corners(total, weight, level):
    made = dataclasses.replace(MADE, noisy_sum=total, noisy_weight=weight)
    chance = (1 + level) / 2
    reach = 6 * log(1 / (1 - chance)) + 0.5
    sums, weights = (total - reach, total + reach), made.weight_interval(chance)
    corners = [s / max(n, 1) for s, n in itertools.product(sums, weights)]
    low, high = (4 + max(-3, min(end, 3)) for end in (min(corners), max(corners)))
    expected = max(low - 0.25, 1), min(high + 0.25, 10)
    assert made.noise_interval(level) == pytest.approx(expected)
    bias = 6 - 3  # the upper bound is 6 from the centre
    wide = max(expected[0] - bias, 1), min(expected[1] + bias, 10)
    assert made.interval(level) == pytest.approx(wide)


def test_the_table_of_a_protected_mean_says_the_worst_case_at_the_smallest_weight():
    rare = dataclasses.replace(MADE, noisy_weight=2, sum_scale=0.1, weight_scale=0.1)
    assert f"at most {rare.worst_case_l1(1.0):.4g} on average" in repr(rare)
    assert MADE.worst_case_l1(1.0) == 9  # the distance of the bounds
    assert "1 to 7\n" in repr(rare)


def test_grid_of_protected_counts(opendp):
    def made(eps, cap, **options):
        users, values = ["a", "b"], [1e6, 1e6 + 20]
        bounds = {"lower": 1e6, "upper": 1e6 + 24}
        return ud.private_mean_protected_counts(
            users, values, eps=eps, cap=cap, **bounds, **options
        )

    for eps, cap, bits in ((1, 2, 24), (1, 2**30, 23), (1, 2**31, 22), (0.25, 2**31, 20)):
        assert made(eps, cap).step == 24 / 2**bits
    fine = made(1, 2)
    level, average = 0.5 + 2**-10, 0.5 + 2**-10  # each is rounded, and computed in 53 bits
    assert fine.rounding == (level + average) * fine.step + 2 * ulp(1e6 + 24)
    assert made(1, 2, reach=1e-12).reach == fine.step


# The mean with public counts.


def test_an_objective_is_one_of_three_also_where_it_chooses_nothing():
    with pytest.raises(ValueError, match="`objective` must be one of"):
        ud.release_mean([1.0], ud.Contributions([1], 2), 1, total_width=1, objective="l7")


def test_a_result_is_published_in_numbers_that_json_knows():
    made = ud.private_mean(["a"], [1.0], lower=0, upper=10, eps=1)
    with pytest.raises(ValueError, match="JSON"):
        dataclasses.replace(made, mean=inf).public_json()


def test_centre_stands_in_the_unit_of_the_values(opendp):
    made = ud.private_mean(["a", "b"], [3.0, 3.5], lower=2, upper=6, eps=1)
    assert made.centre == 4
    assert all((clip.lower + clip.upper) / 2 == 4 for clip in made.clips)


def test_the_warning_points_at_the_caller():
    with pytest.warns(UserWarning, match="not stated") as caught:
        ud.private_mean(["a"], [1.0], lower=0, upper=10, eps=1, missing="drop")
    assert caught[0].filename == __file__


def test_bounds_have_room_for_eight_bits():
    wide = {"lower": 2.0**52, "eps": 1}  # where floats are whole numbers
    assert ud.plan([1], upper=2.0**52 + 256, **wide).rows
    with pytest.raises(ValueError, match=r"farther from .*, got upper=450359962737\d+"):
        ud.plan([1], upper=2.0**52 + 255, **wide)


def test_a_bad_budget_is_shown():
    with pytest.raises(TypeError, match=r"a budget, or a list of budgets, got eps=b'ab'"):
        ud.plan([1], lower=0, upper=1, eps=b"ab")


def test_rows_of_a_table_are_tallied():
    data = {"who": ["a", None, "b", "b"], "what": [1.0, 9.0, 20.0, None]}
    found = protected_tally("who", "what", lower=0, upper=10, data=data)
    assert found == (4, 1, 1, 1)


def test_what_is_wrong_is_counted_in_all_parts_of_a_long_column():
    n = ROWS_AT_A_TIME + 10
    users = np.ones(n)
    users[[0, -1]] = np.nan
    found = read_records(users, np.ones(n)).survey(Rules(0.0, 2.0))
    assert (found.without_user, found.sizes) == (2, (n - 2,))
    assert type(found.sizes[0]) is int  # as those of queries


# As a measurement.


def test_domain_of_the_measurement_is_one_finite_sum_a_user():
    dp.enable_features("contrib", "honest-but-curious")
    made = as_measurement([3, 2, 1], lower=0, upper=10, eps=1)
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=3)
    assert str(made.input_domain) == str(domain)
    assert made.input_domain != dp.vector_domain(dp.atom_domain(T=float, nan=False), size=2)


def test_measurement_is_projected_unless_told(opendp):
    opendp.added = 2**60
    options = {"lower": 0, "upper": 10, "eps": 1}
    sums = [15.0, 10.0, 5.0]
    assert as_measurement([3, 2, 1], **options)(sums).mean == 10
    assert as_measurement([3, 2, 1], project=False, **options)(sums).mean > 1000


def test_totals_of_a_measurement_are_whole_numbers_beyond_those_of_floats(opendp):
    counts = np.full(4097, 2**20)
    made = as_measurement(counts, lower=0, upper=1, eps=1, total_width=777_777.7)
    made((counts * 1.0).tolist())
    ((moved, _, total),) = opendp.asked
    assert total == 4097 * (moved // 2)
    assert float(total) != total


# Of engines.


def test_users_that_are_no_number_are_nobody_in_a_database():
    table = ibis.memtable(pa.table({"user": [1.0, 2.0**53, np.nan, None], "value": [1.0] * 4}))
    assert protected_tally("user", "value", lower=0, upper=10, data=table) == (4, 2, 0, 0)


@pytest.mark.parametrize("kind", ["arrays", "DuckDB"])
def test_users_whose_rows_are_all_dropped_add_nothing(kind, opendp):
    rows = {"user": list("aabcc"), "value": [1.0, 2.0, 99.0, -5.0, 99.0]}
    data = rows if kind == "arrays" else ibis.memtable(pa.table(rows))
    bounds = {"lower": 0, "upper": 10, "outside": "drop", "data": data}
    with pytest.warns(UserWarning, match="not stated"):
        made = ud.private_mean("user", "value", eps=1, total_width=100, **bounds)
    assert (made.n_users, made.n_records) == (1, 2)
    ((moved, _, total),) = opendp.asked
    assert total == round(-7 * moved / 20)  # of a alone: two values, seven below the centre
    few = ud.private_mean_protected_counts("user", "value", eps=1, cap=3, **bounds)
    assert few.noisy_weight == 2
    assert few.noisy_sum == pytest.approx(2 * (1.5 - 5))


@pytest.mark.parametrize("kind", ["arrays", "DuckDB"])
def test_a_table_in_which_no_row_counts_is_refused(kind):
    rows = {"user": ["a", "b"], "value": [99.0, -1.0]}
    data = rows if kind == "arrays" else ibis.memtable(pa.table(rows))
    with pytest.raises(ValueError, match="`user` must have rows that count: there are none"):
        ud.private_mean("user", "value", lower=0, upper=10, eps=1, outside="drop", data=data)
