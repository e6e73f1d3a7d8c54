"""The laws of noise against their densities: moments, tails, errors, draws, and how far they go.

- Laplace noise of scale 1/eps is eps-DP for sensitivity 1 (Theorem II.1); so is the staircase law;
  Gaussian noise promises (eps, delta), or rho of zCDP.
- Of each law E|Z|, E Z^2, the tail, the excess and E|d + Delta Z| are integrals over its density;
  of Laplace noise the last is |d| + s exp(-|d|/s), `noisy_error`.
- `delta` is what the density exceeds e^eps times its neighbour by; Gaussian noise is calibrated to
  it from above, within a relative 1e-10, and for zCDP to the next float.
- A law may stand wherever its budget does, and gives the same; no width beats its threshold.
"""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import budgets, collections

import userdp as ud
from userdp import noise


def gaussian_noise(eps):
    return ud.GaussianNoise(1 / eps)


LAWS = [ud.LaplaceNoise, ud.StaircaseNoise, gaussian_noise]
THIRDS = [Fraction(1, k) for k in range(3, 60)]


def beyond(law, x):
    """Points and their masses, from x to infinity, exact for polynomials between the edges."""
    reach = np.arange(int(45 * law.mean_size) + 12)
    ends = np.unique(np.r_[x, reach, reach + getattr(law, "gamma", 0)])
    ends = np.union1d(ends, np.linspace(0, reach[-1], 400))
    low, high = ends[ends >= x][:-1, None], ends[ends >= x][1:, None]
    nodes, weights = np.polynomial.legendre.leggauss(12)
    z = (low + high) / 2 + (high - low) / 2 * nodes
    return z, np.exp(law.log_density(z)) * weights * (high - low) / 2


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("eps", [0.05, 0.4, 1, 2.3, 6])
def test_moments_tail_and_mean_error_by_quadrature(law, eps):
    law, rng = law(eps), np.random.default_rng(2)
    z, mass = beyond(law, 0.0)
    assert 2 * mass.sum() == pytest.approx(1, rel=1e-10)
    assert 2 * (z * mass).sum() == pytest.approx(float(law.mean_size), rel=1e-10)
    assert 2 * (z**2 * mass).sum() == pytest.approx(float(law.mean_square), rel=1e-10)
    np.testing.assert_array_equal(law.log_density(-z), law.log_density(z))
    gamma = getattr(law, "gamma", 0.3)
    for x in [0.0, gamma, 1.0, 1 + gamma, *rng.uniform(0, 3, 6)]:
        z, mass = beyond(law, x)
        assert law.tail(np.array(x)) == pytest.approx(mass.sum(), rel=1e-9, abs=1e-13)
        excess = float(((z - x) * mass).sum())
        assert law.excess(np.array(x)) == pytest.approx(excess, rel=1e-8, abs=1e-13)
        for moved in (0.5, 3.0):
            error = float(law.mean_error(-x * moved, moved))
            assert error == pytest.approx(moved * (x + 2 * excess), rel=1e-9)
    assert law.mean_error(0.0) == pytest.approx(float(law.mean_size), rel=1e-12)
    assert law.mean_error(-1.5, 0.0) == 1.5
    assert law.mean_error(1e308, 1e-10) == 1e308


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("budget", [0.1, 0.8, 3])
def test_delta_is_kept_by_the_density(law, budget):
    """Where one user moves the statistic by 1, f exceeds e^eps times the other by delta at most."""
    law = law(budget)
    reach = 60 * float(law.mean_size) + 20
    z = np.linspace(-reach, reach, 400_001)
    step = z[1] - z[0]
    here = np.exp(law.log_density(z))
    moved = np.exp(law.log_density(z - 1))
    for eps in (budget / 3, budget * 0.99, budget, 2 * budget):
        exceeded_by = np.maximum(here - np.exp(eps) * moved, 0).sum() * step
        assert exceeded_by <= law.delta(eps) + 1e-4
        if law.currency == "eps":
            assert law.delta(eps) == pytest.approx(max(0, 1 - math.exp(eps - budget)), abs=1e-15)
        else:
            assert law.delta(eps) == pytest.approx(exceeded_by, abs=1e-4)


def test_a_law_says_what_it_spends():
    pure = ud.LaplaceNoise("0.1")
    assert (pure.currency, pure.spends, pure.scale) == ("eps", Fraction(1, 10), 10)
    assert (pure.integer_law, pure.rounding) == ("laplace", 0)
    assert ud.StaircaseNoise(2).spends == 2
    gaussian = ud.GaussianNoise(0.1)
    assert (gaussian.currency, gaussian.scale) == ("rho", 0.1)
    assert 2 * gaussian.spends * Fraction(0.1) ** 2 == 1
    assert (gaussian.integer_law, gaussian.rounding) == ("gaussian", 4)
    assert ud.GaussianNoise.zcdp(Fraction(1, 3)).spends <= Fraction(1, 3)


def test_a_release_takes_a_budget_exactly_or_a_law_that_can_be_drawn():
    law = noise._read_law(2 / 49)
    assert (law.spends, law.rank) == (Fraction(2 / 49), 49)  # the rank as `ud.rank` reads a float
    given = ud.GaussianNoise(3)
    assert noise._read_law(given) is given
    pure = ud.LaplaceNoise(2)
    assert noise._read_law(pure) is pure
    words = "`eps` must be a privacy budget, or a law that OpenDP can draw (userdp.GaussianNoise), "
    with pytest.raises(TypeError) as refused:
        noise._read_law(ud.StaircaseNoise(1))
    assert str(refused.value) == words + "got eps of type StaircaseNoise."
    with pytest.raises(ValueError, match="`eps` must be positive"):
        noise._read_law(-1)


def exceeded(sigma, eps):
    """Delta of Gaussian noise, as the integral over closer and closer neighbours: no cancelling."""
    a = 1 / sigma
    u = a / 2 - eps / a

    def growth(s):  # at the distance c = a e^-s, relative to that at a
        c = a * math.exp(-s)
        return c * math.exp((u - c / 2 + eps / c) * (u + c / 2 - eps / c) / 2)

    ends = [0, *np.geomspace(1e-12, 1, 13), 3, 10, 20, 40, 80]
    return oracle.integral(growth, ends) * math.exp(-u * u / 2) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("eps", [1e-100, 1e-7, 0.03, 1, 5, 40, 1e4])
@pytest.mark.parametrize("delta", [1e-100, 1e-12, 1e-6, 0.05, 0.6, 1 - 1e-9])
def test_gaussian_noise_is_calibrated_from_above_and_hardly_more(eps, delta):
    law = ud.GaussianNoise.approximate(eps, delta)
    assert exceeded(law.sigma, eps) / delta == pytest.approx(1 - 1e-10, abs=4e-11)
    assert exceeded(law.sigma, eps) <= law.delta(eps) <= delta
    assert law.delta(eps) / delta == pytest.approx(1 - 5e-11, abs=2e-11)


@pytest.mark.parametrize("rho", [1e-100, 1e-3, 0.1, *THIRDS, 0.5, 7, np.float32(0.3), 1e100])
def test_gaussian_noise_for_zcdp_is_rounded_upwards_to_the_next_float(rho):
    sigma = ud.GaussianNoise.zcdp(rho).sigma
    exact = rho if isinstance(rho, Fraction) else Fraction(float(rho))
    assert 2 * exact * Fraction(sigma) ** 2 >= 1
    assert 2 * exact * Fraction(math.nextafter(sigma, 0)) ** 2 < 1


@given(collections(), budgets(), st.sampled_from(["bound", "l1", "mse"]))
def test_a_law_may_stand_in_place_of_its_budget(users, eps, objective):
    def everything(eps):
        T, clipping = (f(users, eps, objective) for f in (ud.threshold, ud.optimal_clipping))
        yield from (T, ud.optimal_error(users, eps, objective), ud.symmetric_error(users, T, eps))
        yield ud.worst_case_error(users, clipping, eps, objective)
        sums = users.largest_sums.astype(float)
        yield ud.opt_worst_case(sums, users, eps, objective=objective, rng=0)
        yield ud.opt_worst_case_mean_error(sums, users, eps, objective=objective)

    assert [*everything(eps)] == [*everything(ud.LaplaceNoise(eps))]


@given(collections(), st.floats(0.05, 9), st.sampled_from(["bound", "l1", "mse"]))
def test_no_width_is_better_than_the_threshold_for_gaussian_noise(users, sigma, objective):
    law = ud.GaussianNoise(sigma)
    widths = [*users.largest_sums, *np.linspace(0, float(max(users.largest_sums)), 60)]
    errors = [float(ud.symmetric_error(users, S, law, objective)) for S in widths]
    best = float(ud.optimal_error(users, law, objective))
    assert best <= min(errors) * (1 + 1e-12)
    T = ud.threshold(users, law, objective)
    assert float(ud.symmetric_error(users, T, law, objective)) == pytest.approx(best)
    if objective == "bound":
        k = math.ceil(2 * sigma * math.sqrt(2 / math.pi))
        assert [*sorted(users.largest_sums, reverse=True), *[0] * 20][k - 1] == T


@pytest.mark.parametrize(("bias", "scale"), [(0, 1), (1, 1), (-3, 0.5), (0.01, 20), (5, 0.2)])
def test_noisy_error_is_the_integral_over_the_density(bias, scale):
    """E|bias + Z| from the density of Lap(scale); and at the ends of the range."""

    def integrand(z):
        return abs(bias + z) * math.exp(-abs(z) / scale) / (2 * scale)

    expected = oracle.integral(integrand, sorted({-40 * scale, 0, -bias, 40 * scale}))
    assert ud.noisy_error(bias, scale) == pytest.approx(expected, rel=1e-10)
    np.testing.assert_array_equal(ud.noisy_error([-2.0, 0.0], 0.0), [2.0, 0.0])
    assert ud.noisy_error(1.0, 5e-324) == 1.0
    assert ud.noisy_error(0.0, 3.0) == 3.0


def test_gaussian_noise_at_the_ends_of_floats():
    assert ud.GaussianNoise(1e-100).log_density(1e300) == -np.inf
    assert ud.GaussianNoise(100).delta(1) == 0.0
    assert ud.GaussianNoise(1e3).tail(5e3) == pytest.approx(ud.GaussianNoise(1).tail(5.0))
