"""The page on less noise: laws of noise against definitions, quadrature, programs and draws."""

from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.integrate import quad
from scipy.optimize import brentq, linprog
from scipy.stats import norm
from strategies import collections, fractions

import userdp as ud
from userdp._checks import LARGEST
from userdp.noise import _noise_scale as noise_scale

LAWS = [ud.LaplaceNoise, ud.StaircaseNoise]
BUDGETS = [0.05, 0.4, 1, 2.3, 6]

every_law = pytest.mark.parametrize("law", LAWS, ids=["laplace", "staircase"])


def mean_size(eps):
    return 0.5 / np.sinh(eps / 2)


# Any noise


@given(collections(), st.one_of(fractions, st.integers(1, 14).map(lambda n: Fraction(n, 2))))
def test_value_and_minimisers_under_any_noise(users, w):
    v = [*sorted(users.largest_sums, reverse=True), *[Fraction(0)] * 20]
    phi = {S: sum(max(x - S, 0) for x in v) / 2 + w * S for S in v}
    minimisers = {S for S, value in phi.items() if value == min(phi.values())}
    k = ceil(2 * w)
    assert minimisers == ({v[k - 1], v[k]} if 2 * w == k else {v[k - 1]})
    assert min(phi.values()) == users.upper * ud.sum_of_largest(users, 2 * w) / 2


@given(collections(), fractions)
def test_threshold_and_value_with_staircase_noise(users, eps):
    w, v = mean_size(float(eps)), [*users.largest_sums, Fraction(0)]
    phi = {S: sum(max(x - S, 0) for x in v) / 2 + w * S for S in v}
    T = ud.threshold(users, eps, noise="staircase")
    assert phi[T] == min(phi.values())
    assert ud.StaircaseNoise(eps).rank == ceil(2 * w)
    for error in (
        ud.optimal_error(users, eps, noise="staircase"),
        ud.symmetric_error(users, T, eps, noise="staircase"),
        ud.worst_case_error(
            users, ud.optimal_clipping(users, eps, noise="staircase"), eps, noise="staircase"
        ),
    ):
        assert float(error) * users.total == pytest.approx(min(phi.values()), rel=1e-12)


def test_rank_of_the_staircase_at_a_whole_number():
    """Where 2 E|Z| is k, so is the rank: of all best thresholds the largest one."""
    whole = 0
    for k in range(1, 9):
        eps = 2 * np.arcsinh(1 / k)
        for near in eps + np.spacing(eps) * np.arange(-8, 9):
            law = ud.StaircaseNoise(float(near))
            if 2 * law.mean_size == k:
                assert law.rank == k
                whole += 1
    assert whole > 0


@given(collections(), fractions)
def test_gain_of_the_staircase(users, eps):
    best = [float(ud.optimal_error(users, eps, noise=law)) for law in ("laplace", "staircase")]
    bound = float(1 / eps) / mean_size(float(eps))
    gain = best[0] / best[1]
    assert 1 - 1e-12 <= gain <= bound * (1 + 1e-12)
    assert eps < 2 or gain == pytest.approx(bound, rel=1e-12)


# The staircase law


def edges(law, n=4):
    return np.array([sign * (i + law.gamma) for i in range(n) for sign in (-1, 1)])


def integrate(function, law, reach=None):
    """Integral over the line of a function times the density, exact edges given to the solver."""
    eps = float(law.eps)
    gamma = getattr(law, "gamma", 0.0)
    reach = reach or int(45 / eps) + 2
    ends = np.unique(np.r_[np.arange(reach + 1.0), np.arange(reach) + gamma])
    ends = np.r_[-ends[:0:-1], ends]
    nodes, weights = np.polynomial.legendre.leggauss(12)
    low, high = ends[:-1, None], ends[1:, None]
    x = (low + high) / 2 + (high - low) / 2 * nodes
    density = np.exp(law.log_density(x))
    return float(np.sum(function(x) * density * weights * (high - low) / 2))


@every_law
@pytest.mark.parametrize("eps", BUDGETS)
def test_mass_and_moments_by_quadrature(law, eps):
    law = law(eps)
    assert integrate(np.ones_like, law) == pytest.approx(1, rel=1e-10)
    assert integrate(np.abs, law) == pytest.approx(float(law.mean_size), rel=1e-10)
    assert integrate(np.square, law) == pytest.approx(float(law.mean_square), rel=1e-10)


@pytest.mark.parametrize("eps", BUDGETS)
def test_mean_size_of_the_staircase(eps):
    law = ud.StaircaseNoise(eps)
    assert law.mean_size == pytest.approx(mean_size(eps), rel=1e-13)
    assert law.mean_size < 1 / eps
    assert np.exp(law.log_density(0.0)) == pytest.approx(np.sinh(eps / 2), rel=1e-13)


@pytest.mark.parametrize("eps", BUDGETS)
def test_an_edge_belongs_to_the_lower_step(eps):
    law = ud.StaircaseNoise(eps)
    edge = np.array([-law.gamma, law.gamma])
    top = float(law.log_density(0.0))
    np.testing.assert_allclose(law.log_density(edge), top - eps, rtol=1e-12)
    np.testing.assert_allclose(law.log_density(np.nextafter(edge, 0)), top, rtol=1e-12)
    np.testing.assert_allclose(law.log_density([-1.0, 1.0]), top - eps, rtol=1e-12)


def steps(z, gamma):
    whole = abs(z) // 1
    return int(whole) + (abs(z) - whole >= gamma)


@given(fractions, st.lists(st.fractions(-1, 1, max_denominator=48), min_size=1, max_size=8))
def test_privacy_in_exact_arithmetic(eps, shifts):
    """On the edges, and at shifts of exactly one: no shift crosses more than one edge."""
    gamma = Fraction(ud.StaircaseNoise(eps).gamma)
    corners = [sign * (i + gamma) for i in range(4) for sign in (-1, 1)]
    points = [Fraction(0), *corners, *(x + d for x in corners for d in shifts)]
    crossed = {
        abs(steps(x, gamma) - steps(x + d, gamma)) for x in points for d in [*shifts, -1, 1, gamma]
    }
    assert crossed <= {0, 1}
    assert 1 in crossed


@every_law
def test_log_densities_change_by_at_most_eps(law):
    rng = np.random.default_rng(1)
    shifts = np.r_[rng.uniform(-1, 1, 300), -1, 1, 0]
    for eps in 10 ** rng.uniform(-1.3, 1, size=100):
        noise = law(eps)
        near = edges(ud.StaircaseNoise(eps))
        points = np.r_[near - 1e-9, near + 1e-9, rng.uniform(-5, 5, 30)][:, None]
        change = np.abs(noise.log_density(points + shifts) - noise.log_density(points))
        assert change.max() <= eps * (1 + 1e-12)
        assert change.max() >= eps * (1 - 1e-6)


@pytest.mark.parametrize("eps", BUDGETS)
def test_no_other_edge_is_better(eps):
    q2 = np.exp(-eps)

    def size(edge):
        inner = edge**2 / 2 + q2 * (1 - edge**2) / 2
        return q2 / (1 - q2) + inner / (edge + q2 * (1 - edge))

    law = ud.StaircaseNoise(eps)
    assert size(law.gamma) == pytest.approx(law.mean_size, rel=1e-12)
    others = np.linspace(0, 1, 1001)
    assert np.all(size(others) >= law.mean_size * (1 - 1e-13))
    assert abs(others[size(others).argmin()] - law.gamma) <= 1e-3


def private_densities(eps, cells):
    """Cell sizes, and the constraints on densities that are constant on cells of a line."""
    end = int(np.ceil(20 / eps)) * cells
    size = np.abs(np.arange(-end, end) + 0.5) / cells
    blocks = []
    for d in range(1, cells + 1):
        a, b = sparse.eye(size.size - d, size.size), sparse.eye(size.size - d, size.size, d)
        blocks += [a - np.exp(eps) * b, b - np.exp(eps) * a]
    return size, sparse.vstack(blocks)


@pytest.mark.parametrize("eps", [0.7, 1.5, 3, 5])
def test_no_noise_is_smaller_by_a_linear_program(eps):
    cells = 12
    size, promise = private_densities(eps, cells)
    solution = linprog(
        size, promise, np.zeros(promise.shape[0]), np.ones((1, size.size)), [1], method="highs-ipm"
    )
    assert solution.success
    assert mean_size(eps) - 1e-6 <= solution.fun <= mean_size(eps) + 1 / cells
    # With the first edge at one of the cells the program's law is the staircase itself.
    law = 2 * np.log(3)  # gamma = 1/4
    size, promise = private_densities(law, 4)
    exact = linprog(
        size, promise, np.zeros(promise.shape[0]), np.ones((1, size.size)), [1], method="highs-ipm"
    )
    assert exact.fun == pytest.approx(mean_size(law), abs=1e-7)
    # No other law is as small: the solver has found the staircase.
    found, near = exact.x * 4, size < 4
    stairs = np.exp(ud.StaircaseNoise(law).log_density(size[near]))
    np.testing.assert_allclose(found[near], stairs, atol=1e-5)


def test_identity_of_the_lower_bound():
    """(1 - b) (E|Z| - w) / 2 is the integral of (y - gamma) delta(y), for any symmetric law."""
    for eps in BUDGETS[1:]:
        b, gamma, w = np.exp(-eps), ud.StaircaseNoise(eps).gamma, mean_size(eps)
        for law in (ud.LaplaceNoise(0.8), ud.StaircaseNoise(1.3)):

            def delta(y, law=law, b=b):
                before = np.where(y >= 1, np.exp(law.log_density(y - 1)), 0)
                return np.exp(law.log_density(y)) - b * before

            kinks = np.arange(45)
            ends = np.unique(np.r_[kinks, kinks + getattr(law, "gamma", 0)])
            left = sum(
                quad(lambda y: (y - gamma) * delta(y), *pair)[0]  # noqa: B023
                for pair in pairwise(ends)
            )
            assert left == pytest.approx((1 - b) * (float(law.mean_size) - w) / 2, abs=1e-8)


# What the code does with a law


@every_law
@pytest.mark.parametrize("eps", BUDGETS)
def test_tail_excess_and_mean_error_by_quadrature(law, eps):
    law, rng = law(eps), np.random.default_rng(2)
    gamma = getattr(law, "gamma", 0.3)
    reach = int(45 / eps) + 2
    for x in [0.0, gamma, 1.0, 1 + gamma, *rng.uniform(0, 3, 6)]:
        parts = np.unique(np.r_[x, np.arange(reach), np.arange(reach) + gamma])
        parts = parts[parts >= x]
        nodes, weights = np.polynomial.legendre.leggauss(12)
        low, high = parts[:-1, None], parts[1:, None]
        z = (low + high) / 2 + (high - low) / 2 * nodes
        mass = np.exp(law.log_density(z)) * weights * (high - low) / 2
        assert law.tail(np.array(x)) == pytest.approx(mass.sum(), rel=1e-9, abs=1e-13)
        excess = float(((z - x) * mass).sum())
        assert law.excess(np.array(x)) == pytest.approx(excess, rel=1e-8, abs=1e-13)
        for Delta in (0.5, 3.0):
            error = float(law.mean_error(-x * Delta, Delta))
            assert error == pytest.approx(Delta * (x + 2 * excess), rel=1e-9)
    assert law.mean_error(0.0) == pytest.approx(float(law.mean_size), rel=1e-12)
    assert law.mean_error(-1.5, 0.0) == 1.5
    assert law.mean_error(1e308, 1e-10) == 1e308


@every_law
def test_mean_error_is_the_mean_over_draws(law):
    law, n = law(1.2), 400_000
    draws = law.draw(2.5, (n,), np.random.default_rng(3))
    for bias in (0.0, 0.8, -4.0):
        misses = np.abs(bias + draws)
        error = float(law.mean_error(bias, 2.5))
        assert abs(misses.mean() - error) < 5.5 * misses.std() / n**0.5
    square = 2.5**2 * float(law.mean_square)
    assert abs(np.mean(draws**2) - square) < 5.5 * np.std(draws**2) / n**0.5


def distance(draws, law):
    """Kolmogorov and Smirnov's, from the law's own tail."""
    x, n = np.sort(draws), draws.size
    tail = law.tail(np.abs(x))
    below = np.where(x < 0, tail, 1 - tail)
    steps_ = np.arange(n + 1) / n
    return max(np.max(steps_[1:] - below), np.max(below - steps_[:-1]))


@every_law
@pytest.mark.parametrize("eps", [0.3, 1, 2, 5])
def test_draws_follow_the_law(law, eps):
    """False alarm below 1e-6 (Dvoretzky, Kiefer, Wolfowitz, Massart); a tenth off is seen."""
    law, n = law(eps), 200_000
    limit = np.sqrt(np.log(2e6) / (2 * n))
    draws = law.draw(1.0, (n,), np.random.default_rng(4))
    assert distance(draws, law) < limit
    assert distance(1.1 * draws, law) > limit
    assert distance(draws / 1.1, law) > limit
    other = LAWS[law.__class__ is ud.LaplaceNoise](eps)
    assert eps < 1 or distance(draws, other) > limit


# Gaussian noise


def gaussian_gap(a, eps):
    return norm.cdf(a / 2 - eps / a) - np.exp(eps) * norm.cdf(-a / 2 - eps / a)


def gaussian_mean_size(eps, delta=1e-6):
    a = brentq(lambda x: gaussian_gap(x, eps) / delta - 1, 1e-3, 50)
    return np.sqrt(2 / np.pi) / a


@pytest.mark.parametrize("eps", [0.1, 0.5, 1, 3, 8])
def test_analytic_calibration(eps):
    """The gap at the calibrated scale is delta, by quadrature, and smaller for closer values."""
    sigma = gaussian_mean_size(eps) * np.sqrt(np.pi / 2)
    y = np.linspace(0.5 - eps * sigma**2 - 12 * sigma, 0.5 + 12 * sigma, 400_001)
    gaps = []
    for d in (0.25, 0.5, 0.9, 1.0):
        gap = norm.pdf(y, 0, sigma) - np.exp(eps) * norm.pdf(y, d, sigma)
        gaps.append(np.trapezoid(np.maximum(gap, 0), y))
    assert np.all(np.diff(gaps) > 0)
    assert gaps[-1] == pytest.approx(1e-6, rel=1e-3)
    a, step = 1 / sigma, 1e-5
    slope = (gaussian_gap(a + step, eps) - gaussian_gap(a - step, eps)) / (2 * step)
    assert slope == pytest.approx(norm.pdf(a / 2 - eps / a), rel=1e-4)


# The numbers for download


def test_noise_and_its_squares_are_finite_up_to_the_stated_ends():
    assert ud.LaplaceNoise(1e-150).worst_case(0.0, 1.0, "mse") == pytest.approx(2e300)
    with pytest.raises(ValueError, match=r"`eps` must be .* got eps=1e-151"):
        ud.LaplaceNoise(1e-151).worst_case(0.0, 1.0, "mse")
    assert noise_scale(LARGEST / 64, 1) == LARGEST / 64
    with pytest.raises(ValueError, match="`eps` must be large enough"):
        noise_scale(np.nextafter(LARGEST / 64, np.inf), 1)


def test_worst_case_of_arrays_of_floats_is_an_array_of_floats():
    errors = ud.LaplaceNoise(Fraction(1, 2)).worst_case(np.ones(2), np.ones(2), "bound")
    assert errors.dtype == np.float64
    np.testing.assert_array_equal(errors, [3.0, 3.0])
