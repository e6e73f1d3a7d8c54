"""Errors with the noise integrated out: against quadrature, and special cases."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats
from strategies import budgets, collections

import userdp as ud
from userdp.akmv import _scaled_e3

GEOMETRIC = ud.geometric_collection(6, 65)
EXTREME = ud.extreme_collection(101, 10, 65)


def noisy_error_by_quadrature(bias, scale):
    """E|bias + Z| from the density of Lap(scale)."""

    def integrand(z):
        return abs(bias + z) * math.exp(-abs(z) / scale) / (2 * scale)

    points = sorted([-40 * scale, 0, -bias, 40 * scale])
    return sum(
        integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-12, limit=200)[0]
        for a, b in itertools.pairwise(points)
        if b > a
    )


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


@pytest.mark.parametrize(("bias", "scale"), [(0, 1), (1, 1), (-3, 0.5), (0.01, 20), (5, 0.2)])
def test_noisy_error_is_the_integral_over_the_density(bias, scale):
    assert ud.noisy_error(bias, scale) == pytest.approx(
        noisy_error_by_quadrature(bias, scale), rel=1e-10
    )


def test_noisy_error_at_the_ends_of_its_range():
    np.testing.assert_array_equal(ud.noisy_error([-2.0, 0.0], 0.0), [2.0, 0.0])
    assert ud.noisy_error(1.0, 5e-324) == 1.0
    assert ud.noisy_error(0.0, 3.0) == 3.0


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


@given(users=collections(), data=st.data())
def test_opt_worst_case_is_biased_by_what_its_intervals_cut_off(users, data):
    eps = data.draw(budgets(users.n_users))
    shares = data.draw(st.lists(st.floats(0, 1), min_size=users.n_users, max_size=users.n_users))
    clipping, counts = ud.optimal_clipping(users, eps), users.counts
    averages = np.array(shares) * float(users.upper)
    ends = (end.astype(float) for end in (clipping.lower, clipping.upper))
    bias = np.sum(counts * (averages - averages.clip(*ends))) / users.total
    scale = float(ud.sensitivity(users, clipping) / eps)
    expected = ud.noisy_error(bias, scale)
    assert ud.opt_worst_case_mean_error(counts * averages, users, eps) == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


def test_leading_axes_are_datasets():
    batch = np.array([[[4.0, 1.0], [4.0, 0.0]], [[0.0, 0.0], [1.5, 0.3]]])
    users = ud.Contributions([4, 1], 1)
    for mean_error in (ud.laplace_mean_error, ud.opt_worst_case_mean_error, ud.akmv_mean_error):
        errors = mean_error(batch, users, 1)
        assert errors.shape == (2, 2)
        assert errors[1, 1] == pytest.approx(mean_error(batch[1, 1], users, 1), rel=1e-14)
        assert np.shape(mean_error(batch[0, 0], users, 1)) == ()


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


@pytest.mark.parametrize("upper", [1, 0.01, 100])
@pytest.mark.parametrize(("share", "eps"), [(0.8, 10), (0.8, 1), (0.999, 1), (0.5, 0.1)])
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


@pytest.mark.parametrize("objective", ["bound", "l1", "mse"])
@pytest.mark.parametrize("noise", ["laplace", "staircase"])
def test_opt_worst_case_mean_error_is_that_of_its_width_and_its_noise(objective, noise):
    users, sums, eps = ud.Contributions([4, 2, 1], 65), [200.0, 100.0, 3.0], 1.9
    widths = {law: ud.threshold(users, eps, objective, law) for law in ("laplace", "staircase")}
    assert len(set(widths.values())) == 2
    width = widths[noise]
    expected = ud.clipped_mean_error(sums, users, width, eps, noise=noise)
    error = ud.opt_worst_case_mean_error(sums, users, eps, objective=objective, noise=noise)
    assert error == expected
