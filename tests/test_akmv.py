"""AKMV and its private quantile: densities by definition, errors by quadrature and simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats
from strategies import budgets, collections

import userdp as ud
from userdp import audit
from userdp.akmv import _scaled_e3

BUDGETS = (0.1, 0.5, 1, 2, 5)
GEOMETRIC = ud.geometric_collection(6, 65)
EXTREME = ud.extreme_collection(101, 10, 65)

# The private quantile.


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(1, 8), st.sampled_from(BUDGETS)
)
def test_density_by_definition(quarters, rank, eps):
    users = ud.Contributions([3] * len(quarters), 1)
    sums = np.array(quarters) * 0.75
    t = np.linspace(0.01, 2.99, 53)
    weight = [math.exp(-eps / 2 * abs(sum(s >= x for s in sums) - min(rank, len(sums)))) for x in t]
    log_density = ud.quantile_log_density(t, sums, users, rank, eps)
    np.testing.assert_allclose(np.diff(log_density), np.diff(np.log(weight)), atol=1e-12)
    cells = ud.quantile_cells(sums, users, rank, eps)
    assert cells.probability.sum() == pytest.approx(1, rel=1e-12)
    width = cells.upper - cells.lower
    np.testing.assert_allclose(cells.probability, width * np.exp(cells.log_density), rtol=1e-12)
    np.testing.assert_array_equal(cells.probability[width == 0], 0)
    wide = np.flatnonzero(width)
    at_tops = ud.quantile_log_density(cells.upper[wide], sums, users, rank, eps)
    np.testing.assert_array_equal(cells.log_density[wide], at_tops)


def test_density_outside_and_at_the_ends_of_the_range():
    users = ud.Contributions([2, 1], 1)
    log_density = ud.quantile_log_density([-1, -1e-9, 0, 2, 2.0001], [1.5, 0.5], users, 1, 1)
    np.testing.assert_array_equal(np.isfinite(log_density), [False, False, True, True, False])
    just_above = ud.quantile_log_density(2 * (1 + 1e-12), [1.5, 0.5], users, 1, 1)
    assert just_above == -np.inf


def test_a_sum_reaches_itself():
    """c(t) counts sums of at least t: at t equal to a sum the density is that just below it."""
    users = ud.Contributions([2, 1], 1)
    at, below, above = ud.quantile_log_density(
        [1.5, 1.5 - 1e-9, 1.5 + 1e-9], [1.5, 0.5], users, 2, 1
    )
    assert at == below != above


def test_rank_counts_from_the_largest_and_stops_at_the_number_of_users():
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


@pytest.mark.parametrize(
    ("level", "place", "expected"), [(0, 0, 0), (0, 0.5, 2), (1 - 2**-53, 1, 4)]
)
def test_uniforms_at_their_ends_never_choose_an_empty_cell(level, place, expected):
    users = ud.Contributions([4, 4], 1)
    draws = [
        ud.private_quantile(sums, users, 1, 1, rng=audit.Recorder(random=[level, place]))
        for sums in ([4, 4], [[4, 4]], [0, 0])
    ]
    assert draws[0] == draws[1] == expected
    assert 0 <= draws[2] <= 4


# The paper's error, bias plus mean size of the noise.


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


# The mean absolute error.


def akmv_mean_error_by_quadrature(sums, users, eps):
    """Both integrals from the definitions: the density of T, and |d + Z| given T."""
    k, total = min(math.ceil(2 / eps), users.n_users), users.total

    def weight(t):
        return math.exp(-eps / 4 * abs(sum(s >= t for s in sums) - k))

    def error(t):
        bias = sum(max(s - t, 0) for s in sums) / total
        scale = 2 * t / eps / total
        return bias + scale * math.exp(-bias / scale)

    edges = sorted({0.0, *map(float, sums), float(users.upper * users.max_count)})
    pieces = list(itertools.pairwise(edges))
    normaliser = sum((b - a) * weight((a + b) / 2) for a, b in pieces)
    tolerance = {"epsabs": 1e-14, "epsrel": 1e-12, "limit": 200}
    return (
        sum(weight((a + b) / 2) * integrate.quad(error, a, b, **tolerance)[0] for a, b in pieces)
        / normaliser
    )


@pytest.mark.parametrize("seed", range(40))
def test_akmv_mean_error_is_the_double_integral(seed):
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 9, size=rng.integers(1, 9)), 3)
    sums = rng.choice([0, 0.5, 1, rng.random()], users.n_users) * users.largest_sums
    eps = float(rng.choice([0.05, 0.1, 0.3, 2 / 3, 1, 2, 4, 20]))
    assert ud.akmv_mean_error(sums, users, eps) == pytest.approx(
        akmv_mean_error_by_quadrature(sums, users, eps), rel=1e-10
    )


@pytest.mark.parametrize("users", [GEOMETRIC, EXTREME], ids=["geometric", "extreme"])
@pytest.mark.parametrize("eps", [0.1, 0.7, 2])
def test_akmv_mean_error_on_the_collections_of_the_paper(users, eps):
    sums = ud.uniform_sums(users, 1, rng=5)[0]
    assert ud.akmv_mean_error(sums, users, eps) == pytest.approx(
        akmv_mean_error_by_quadrature(sums, users, eps), rel=1e-10
    )


@pytest.mark.parametrize("gap", [1e-12, 1e-9, 1e-6, 1e-3, 0.1])
def test_akmv_mean_error_keeps_its_digits_in_narrow_cells(gap):
    """Sums a hair apart and near V: the law of T lives on cells where a difference would cancel."""
    users = ud.Contributions([1] * 60, 1)
    sums = 1 - gap * np.arange(1, 61) / 60
    # All thresholds that matter lie within `gap` of 1, where T = 1 up to that.
    limit = ud.noisy_error(0, 2 / (4 * 60))
    exact = ud.akmv_mean_error(sums, users, 4)
    if gap <= 1e-6:
        assert exact == pytest.approx(limit, rel=40 * gap + 1e-12)
    assert exact == pytest.approx(akmv_mean_error_by_quadrature(sums, users, 4), rel=1e-9)


@pytest.mark.parametrize("x", [0, 1e-8, 0.3, 1, 2.5, 30, 99.9, 100.1, 400, 699])
def test_scaled_exponential_integral(x):
    value = _scaled_e3(np.array([float(x)]))[0]
    assert value == pytest.approx(special.expn(3, x) * math.exp(x), rel=1e-13)


def test_scaled_exponential_integral_where_the_plain_one_underflows():
    x = np.array([800.0, 1e4, 1e8])
    np.testing.assert_allclose(_scaled_e3(x), 1 / (x + 3 - 3 / (x + 5 - 8 / (x + 7))), rtol=1e-12)


@given(users=collections(), data=st.data())
def test_bounds_on_any_dataset(users, data):
    """|d| and s are each at most the error, which is at most their sum: E_AKMV of the paper."""
    eps = data.draw(budgets(users.n_users))
    shares = data.draw(st.lists(st.floats(0, 1), min_size=users.n_users, max_size=users.n_users))
    sums = np.array(shares) * users.largest_sums.astype(float)
    error, upper = ud.akmv_mean_error(sums, users, eps), ud.akmv_error(sums, users, eps)
    cells = ud.quantile_cells(sums, users, ud.rank(eps), eps / 2)
    mean_scale = (
        2 * np.sum(cells.probability * (cells.lower + cells.upper) / 2) / float(eps) / users.total
    )
    assert mean_scale * (1 - 1e-9) <= error <= upper * (1 + 1e-9)
    opt = ud.opt_worst_case_mean_error(sums, users, eps)
    assert opt <= float(ud.optimal_error(users, eps)) * (1 + 1e-9)


def test_smallest_dataset_on_which_akmv_wins():
    """One user, one sample at a tenth of the bound, eps = 10: the abstract's `uniformly` fails."""
    users = ud.Contributions([1], 1)
    akmv = ud.akmv_mean_error([0.1], users, 10)
    assert akmv == pytest.approx(akmv_mean_error_by_quadrature([0.1], users, 10), rel=1e-10)
    assert akmv < 0.9 * ud.opt_worst_case_mean_error([0.1], users, 10)
    release = ud.akmv(np.full((50_000, 1), 0.1), users, 10, rng=1)
    assert stats.ttest_1samp(np.abs(release - 0.1), akmv).pvalue > 1e-6


def test_capped_mean_error_takes_any_law():
    """A law of T concentrated on one cell gives the mean over that cell."""
    users, sums = ud.Contributions([4, 1], 1), [3.0, 1.0]
    cells = ud.quantile_cells(sums, users, 1, 1)
    law = cells._replace(probability=np.array([0.0, 1.0, 0.0]))

    def error(t):
        return ud.noisy_error((3 - t) / 5, t / 0.7 / 5)

    expected = integrate.quad(error, 1, 3, epsrel=1e-12)[0] / 2
    assert ud.capped_mean_error(law, users, 0.7) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("upper", [1, 1e-6, 100])
@pytest.mark.parametrize(
    ("share", "eps"), [(0.8, 10), (0.8, 1), (0.8, 0.4), (0.55, 0.15), (0.999, 1), (0.5, 0.1)]
)
def test_cells_across_which_the_noise_fades(upper, share, eps):
    """All of T lies below 40 equal sums: from there down the bias soon outgrows the noise."""
    users = ud.Contributions([1] * 50, upper)
    high, low = 1.0 * upper, share * upper
    sums = np.repeat([high, low], [40, 10])
    cells = ud.quantile_cells(sums, users, 1, 1)
    law = cells._replace(probability=np.eye(51)[40])

    def error(t):
        return ud.noisy_error(40 * (high - t) / 50, t / eps / 50)

    places = low + (high - low) * np.array([0, 0.5, 0.9, 0.97, 0.99, 0.997, 1])
    expected = sum(
        integrate.quad(error, a, b, epsrel=1e-13)[0] for a, b in itertools.pairwise(places)
    ) / (high - low)
    assert ud.capped_mean_error(law, users, eps) == pytest.approx(expected, rel=1e-10)


def test_sums_next_to_zero_are_as_good_as_zero():
    users = ud.Contributions([4, 1], 1)
    expected = ud.akmv_mean_error([3.0, 0.0], users, 1)
    assert ud.akmv_mean_error([3.0, 1e-320], users, 1) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("eps", "share", "rank"),
    [(1, 0.25, 4), (2, 0.25, 2), (1, 1, 1), (Fraction(2, 7) - Fraction(1, 10**13), 0.5, 8)],
)
def test_rank_of_the_threshold_is_the_best_for_its_noise(eps, share, rank):
    """ceil(1 / (share eps)), of an exact budget exactly."""
    users = ud.Contributions([4, 3, 3, 2, 2, 2, 1, 1, 1], 1)
    sums = np.linspace(1, 0.1, 9) * users.counts
    law = ud.quantile_cells(sums, users, rank, eps * Fraction(3, 4))
    error = ud.akmv_mean_error(sums, users, eps, threshold_share=0.75, noise_share=share)
    expected = ud.capped_mean_error(law, users, eps * Fraction(share))
    assert error == pytest.approx(float(expected), rel=1e-12)
