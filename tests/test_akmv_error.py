"""The exact error of AKMV on a fixed dataset: quadrature, simulation, the values worth quoting."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import budgets, collections

import userdp as ud

GEOMETRIC = ud.geometric_collection(6, 65)
EXTREME = ud.extreme_collection(101, 10, 65)


@pytest.mark.parametrize("seed", range(25))
def test_quadrature_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 8, size=rng.integers(1, 8)), 3)
    sums = rng.choice([0, 0.5, 1, rng.random()], users.n_users) * users.largest_sums
    eps = rng.choice([0.1, 0.3, 2 / 3, 1, 2, 4])
    assert ud.akmv_error(sums, users, eps) == pytest.approx(
        oracle.akmv_error_by_quadrature(sums, users.counts.tolist(), 3, eps), rel=1e-9
    )


@pytest.mark.parametrize("users", [GEOMETRIC, EXTREME], ids=["geometric", "extreme"])
@pytest.mark.parametrize("eps", [0.1, 0.5, 1, 2])
def test_simulation_agrees_within_six_standard_errors(users, eps):
    exact = ud.akmv_error(users.largest_sums, users, eps)
    estimate = ud.simulate_akmv_error(users.largest_sums, users, eps, 10_000, rng=1)
    # At eps = 2 the error hardly depends on T on the extreme collection: rounding is what is left.
    assert abs(estimate.mean - exact) <= 6 * estimate.standard_error + 1e-12 * exact
    assert estimate.standard_error <= 0.05 * exact


def test_standard_error_is_that_of_the_mean():
    means = [
        ud.simulate_akmv_error([4.0, 1.0], ud.Contributions([4, 1], 1), 1, 400, rng=seed)
        for seed in range(400)
    ]
    spread = np.std([estimate.mean for estimate in means], ddof=1)
    claimed = np.mean([estimate.standard_error for estimate in means])
    assert spread == pytest.approx(claimed, rel=0.2)  # 400 means know their spread to 3.5 %


@pytest.mark.parametrize(
    ("counts", "upper", "sums", "eps", "expected"),
    [
        ([4, 1], 1, [4, 1], "0.1", 8.38962),
        ([4, 1], 1, [4, 0], "0.1", 8.40000),  # all samples at U is not the worst dataset
        ([1], 1, [0.1], 10, 0.08124),  # less than the 0.1 of the optimal clipping
    ],
)
def test_values_worth_quoting(counts, upper, sums, eps, expected):
    users = ud.Contributions(counts, upper)
    assert ud.akmv_error(sums, users, eps) == pytest.approx(expected, abs=5e-6)


def test_error_jumps_up_where_the_rank_falls():
    at = Fraction(2, 59)
    before, after = (
        ud.akmv_error(GEOMETRIC.largest_sums, GEOMETRIC, eps) / 65
        for eps in (at - Fraction(1, 10**12), at)
    )
    assert (round(float(before), 5), round(float(after), 5)) == (4.25245, 4.25463)


@given(users=collections(), data=st.data())
def test_at_least_twice_the_optimum_on_the_dataset_of_figure_1(users, data):
    eps = data.draw(budgets(users.n_users))
    error = ud.akmv_error(users.largest_sums, users, eps)
    assert error >= 2 * float(ud.optimal_error(users, eps)) * (1 - 1e-12)


def test_leading_axes_are_datasets():
    batch = np.array([[4.0, 1.0], [4.0, 0.0], [0.0, 0.0]])
    users = ud.Contributions([4, 1], 1)
    np.testing.assert_array_equal(
        ud.akmv_error(batch, users, 1), [ud.akmv_error(sums, users, 1) for sums in batch]
    )
