"""AKMV (Section IV-A): the law of its threshold, and its errors by quadrature and simulation.

- The threshold is drawn with density proportional to exp(-eps/2 |c(t) - r|) on [0, U m*], where
  c(t) is the number of sums of at least t. Densities and cells are compared with this definition.
- The rank counts from the largest sum, and is capped at the number of users.
- Given T, bias and noise add up to (sum of (s_l - T)^+ + 2T/eps)/N. `akmv_error` is its mean over T
  (the curve of Figure 1); `akmv_mean_error` is E|error|, with the noise integrated out as well.
- On the dataset of Figure 1, all samples at U, `akmv_error` is at least twice the optimum of
  Theorem III.1.
- Yet AKMV wins on a dataset of one sample: the abstract's "uniformly" does not hold.
"""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from strategies import BUDGETS, EXTREME, GEOMETRIC, budgets, collections, shares

import userdp as ud
from userdp.akmv import _scaled_e3


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(1, 8), st.sampled_from(BUDGETS)
)
def test_density_and_cells_agree_with_the_definition(quarters, rank, eps):
    """A sum equal to the threshold counts as reaching it; outside the bounds the density is 0."""
    users = ud.Contributions([3] * len(quarters), 1)
    sums = np.array(quarters) * 0.75
    t = np.r_[np.linspace(0.01, 2.99, 53), sums]
    weight = [math.exp(-eps / 2 * abs(sum(s >= x for s in sums) - min(rank, len(sums)))) for x in t]
    log_density = ud.quantile_log_density(t, sums, users, rank, eps)
    differences, steps = np.diff(log_density), np.diff(np.log(weight))
    message = f"the log density should change by eps/2 = {eps / 2} per rank"
    np.testing.assert_allclose(differences, steps, atol=1e-12, err_msg=message)
    cells = ud.quantile_cells(sums, users, rank, eps)
    assert cells.probability.sum() == pytest.approx(1, rel=1e-12)
    width = cells.upper - cells.lower
    np.testing.assert_allclose(cells.probability, width * np.exp(cells.log_density), rtol=1e-12)
    np.testing.assert_array_equal(cells.probability[width == 0], 0)
    wide = np.flatnonzero(width)
    at_upper_ends = ud.quantile_log_density(cells.upper[wide], sums, users, rank, eps)
    np.testing.assert_array_equal(cells.log_density[wide], at_upper_ends)
    ends = ud.quantile_log_density([-1, -1e-9, 3 * (1 + 1e-12), 0, 3], sums, users, rank, eps)
    np.testing.assert_array_equal(np.isfinite(ends), [False, False, False, True, True])


def by_quadrature(error, sums, users, eps):
    def error_at(t):
        return error(sum(max(s - t, 0) for s in sums), 2 * t / eps) / users.total

    return oracle.akmv_by_quadrature(error_at, sums, users.counts, users.upper, eps)


def mean_error(*problem):
    """The noise integrated out for each threshold: E|d + Lap(s)| is |d| + s exp(-|d|/s)."""
    return by_quadrature(lambda d, s: d + s * math.exp(-d / s), *problem)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 9, size=rng.integers(1, 9)), 3)
    sums = rng.choice([0, 0.5, 1, rng.random()], users.n_users) * users.largest_sums
    return sums, users, float(rng.choice([0.05, 0.1, 0.3, 2 / 3, 1, 2, 4, 20]))


def test_rank_counts_from_the_largest_and_is_capped_at_the_number_of_users():
    users = ud.Contributions([10] * 5, 1)
    sums = np.array([9.0, 7.0, 5.0, 3.0, 1.0])
    for rank, (low, high) in enumerate([(7, 9), (5, 7), (3, 5), (1, 3), (0, 1)], start=1):
        assert low <= ud.private_quantile(sums, users, rank, eps=1000, rng=rank) <= high
    cells = [ud.quantile_cells(sums, users, rank, 1) for rank in (5, 6, 10**400)]
    for other in cells[1:]:
        np.testing.assert_array_equal(cells[0].probability, other.probability)


@pytest.mark.parametrize("eps", [1e-300, 1e-12, 1e12, 1.7e308])
def test_extreme_budgets_and_empty_cells_give_a_finite_law(eps):
    users = ud.Contributions([4, 4, 4], 1)
    for sums in ([0, 0, 0], [4, 4, 4], [4, 0, 0], [2, 2, 2]):
        for rank in (1, 2, 3):
            cells = ud.quantile_cells(sums, users, rank, eps)
            assert cells.probability.sum() == pytest.approx(1)
            assert 0 <= ud.private_quantile(sums, users, rank, eps, rng=1) <= 4


@pytest.mark.parametrize("seed", range(25))
def test_akmv_error_agrees_with_quadrature_of_its_definition(seed):
    problem = random_problem(seed)
    expected = by_quadrature(lambda d, s: d + s, *problem)
    assert ud.akmv_error(*problem) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("users", [GEOMETRIC, EXTREME])
@pytest.mark.parametrize("eps", [0.1, 0.5, 1, 2])
def test_simulation_agrees_within_six_standard_errors(users, eps):
    exact = ud.akmv_error(users.largest_sums, users, eps)
    estimate = ud.simulate_akmv_error(users.largest_sums, users, eps, 10_000, rng=1)
    # At eps = 2 on the extreme collection, the error hardly depends on T: only rounding remains.
    assert abs(estimate.mean - exact) <= 6 * estimate.standard_error + 1e-12 * exact
    assert estimate.standard_error <= 0.05 * exact


def test_the_standard_error_is_the_standard_deviation_of_simulated_means():
    users = ud.Contributions([4, 1], 1)
    runs = [ud.simulate_akmv_error([4.0, 1.0], users, 1, 400, rng=seed) for seed in range(400)]
    means, claimed = zip(*runs, strict=True)
    # The standard deviation of 400 means has a relative standard error of about 3.5 %.
    assert np.std(means, ddof=1) == pytest.approx(np.mean(claimed), rel=0.2)


def test_akmv_error_has_the_values_stated_in_five_small_examples():
    for counts, sums, eps, expected in [
        ([4, 1], [4, 1], "0.1", 8.38962),
        ([4, 1], [4, 0], "0.1", 8.40000),  # all samples at U is not the worst dataset
        ([2, 1], [2, 1], 8, 0.34133),
        ([2, 1], [2, 0], 8, 0.41667),
        ([1], [0.1], 10, 0.08124),  # less than the 0.1 of the optimal clipping
    ]:
        error = ud.akmv_error(sums, ud.Contributions(counts, 1), eps)
        assert error == pytest.approx(expected, abs=5e-6)


@given(users=collections(), data=st.data())
def test_akmv_has_at_least_twice_the_optimal_error_on_the_dataset_of_figure_1(users, data):
    eps = data.draw(budgets(users.n_users))
    error = ud.akmv_error(users.largest_sums, users, eps)
    assert error >= 2 * float(ud.optimal_error(users, eps)) * (1 - 1e-12)


@given(users=collections(), share=shares, data=st.data())
def test_any_threshold_costs_twice_phi_on_the_dataset_of_figure_1(users, share, data):
    eps, T = data.draw(budgets(users.n_users)), share * users.upper * users.max_count
    error = (users.surplus(T).sum() + 2 * T / eps) / users.total
    assert error == 2 * ud.symmetric_error(users, T, eps) >= 2 * ud.optimal_error(users, eps)


@pytest.mark.parametrize("x", [0, 1e-8, 0.3, 1, 1.999, 2, 2.5, 30, 100, 400, 699, 800, 1e4, 1e8])
def test_the_scaled_exponential_integral_agrees_with_scipy_and_a_continued_fraction(x):
    """For large x the unscaled integral underflows, so compare with a continued fraction."""
    asymptotic = 1 / (x + 3 - 3 / (x + 5 - 8 / (x + 7)))
    expected, rel = (special.expn(3, x) * math.exp(x), 1e-13) if x < 700 else (asymptotic, 1e-12)
    assert _scaled_e3(np.array([float(x)]))[0] == pytest.approx(expected, rel=rel)


@pytest.mark.parametrize("seed", range(40))
def test_akmv_mean_error_is_the_double_integral(seed):
    problem = random_problem(seed)
    if seed < 6:  # the collections of the paper
        users = (GEOMETRIC, EXTREME)[seed % 2]
        problem = ud.uniform_sums(users, 1, rng=5)[0], users, (0.1, 0.7, 2)[seed // 2]
    assert ud.akmv_mean_error(*problem) == pytest.approx(mean_error(*problem), rel=1e-10)


@pytest.mark.parametrize("gap", [1e-12, 1e-9, 1e-6, 1e-3, 0.1])
def test_akmv_mean_error_keeps_its_digits_in_narrow_cells(gap):
    """Sums very close to each other and to U m*: T falls into cells where differences cancel."""
    users = ud.Contributions([1] * 60, 1)
    sums = 1 - gap * np.arange(1, 61) / 60
    computed = ud.akmv_mean_error(sums, users, 4)
    assert computed == pytest.approx(mean_error(sums, users, 4), rel=1e-9)


def test_akmv_wins_on_a_dataset_of_one_sample():
    """One user, one sample at a tenth of the bound, eps = 10: the abstract's `uniformly` fails."""
    problem = [0.1], ud.Contributions([1], 1), 10
    akmv = ud.akmv_mean_error(*problem)
    assert akmv == pytest.approx(mean_error(*problem), rel=1e-10)
    assert akmv < 0.9 * ud.opt_worst_case_mean_error(*problem)
    release = ud.akmv(np.full((50_000, 1), 0.1), *problem[1:], rng=1)
    assert stats.ttest_1samp(np.abs(release - 0.1), akmv).pvalue > 1e-6


@pytest.mark.parametrize("upper", [1, 1e-6, 100])
@pytest.mark.parametrize(
    ("share", "eps"), [(0.8, 10), (0.8, 1), (0.8, 0.4), (0.55, 0.15), (0.999, 1), (0.5, 0.1)]
)
def test_mean_error_agrees_with_quadrature_in_cells_where_the_bias_outgrows_the_noise(
    upper, share, eps
):
    """T lies below 40 equal sums; as T decreases, the bias soon outgrows the noise."""
    users = ud.Contributions([1] * 50, upper)
    high, low = 1.0 * upper, share * upper
    cells = ud.quantile_cells(np.repeat([high, low], [40, 10]), users, 1, 1)
    law = cells._replace(probability=np.eye(51)[40])

    def error(t):
        return ud.noisy_error(40 * (high - t) / 50, t / eps / 50)

    breakpoints = low + (high - low) * np.array([0, 0.5, 0.9, 0.97, 0.99, 0.997, 1])
    expected = oracle.integral(error, breakpoints) / (high - low)
    assert ud.capped_mean_error(law, users, eps) == pytest.approx(expected, rel=1e-10)


def test_sums_next_to_zero_have_the_error_of_zero_sums():
    users = ud.Contributions([4, 1], 1)
    expected = ud.akmv_mean_error([3.0, 0.0], users, 1)
    assert ud.akmv_mean_error([3.0, 1e-320], users, 1) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("eps", "shares", "below", "rank"),
    [
        *[(0.7, *case) for case in (((1 / 2, 1 / 2), 0, 3), ((1 / 2, 1 / 2), 0.5, 2.5))],
        *[(0.7, *case) for case in (((1, 1 / 2), 0, 3), ((1 / 4, 3 / 4), 0, 2))],
        *[(1, *case) for case in (((9 / 10, 1 / 10), 0, 10), ((3 / 4, 1), 0, 1))],
        (Fraction(2, 7) - Fraction(1, 10**13), (3 / 4, 1 / 2), 0, 8),
    ],
)
def test_akmv_with_other_ranks_and_shares_has_the_mean_error_of_its_law(eps, shares, below, rank):
    """Rank (exact for an exact budget), exponent and shares, against the law of T by cells."""
    users = ud.Contributions([5, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1], 65)
    sums, (threshold_share, noise_share) = ud.uniform_sums(users, 20, rng=4), shares
    law = ud.quantile_cells(sums, users, 1, 1)
    mass = (law.upper - law.lower) * np.exp(-threshold_share * eps / 2 * abs(np.arange(12) - rank))
    law = law._replace(probability=mass / mass.sum(axis=-1, keepdims=True))
    details = {"threshold_share": threshold_share, "noise_share": noise_share, "below": below}
    error = ud.akmv_mean_error(sums, users, eps, **details)
    expected = ud.capped_mean_error(law, users, noise_share * eps)
    np.testing.assert_allclose(error, expected, rtol=1e-12)
