"""The laws of noise compared with their densities: moments, tails, errors and draws.

- Laplace noise of scale 1/eps is eps-DP for sensitivity 1 (Theorem II.1), and so is the staircase
  law; Gaussian noise is (eps, delta)-DP, or rho-zCDP.
- For each law, E|Z|, E Z^2, the tail, the excess and E|d + Delta Z| are integrals of its density.
- `delta` is the integral of the density's excess over e^eps times the shifted density. Gaussian
  noise for a given delta has a delta just below it, by a relative 1e-10; for zCDP, its standard
  deviation is rounded upwards to the next float.
- Laplace noise can replace its budget, with the same results. No width is better than the threshold
  for Gaussian noise.
"""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import budgets, collections

from userdp import beyond
from userdp.release._noise import read_law


def gaussian_noise(eps):
    return beyond.GaussianNoise(1 / eps)


LAWS = [beyond.LaplaceNoise, beyond.StaircaseNoise, gaussian_noise]
RECIPROCALS = [Fraction(1, k) for k in range(3, 60)]


def quadrature_above(law, x):
    """Quadrature points above x and their masses, exact for polynomials between the edges."""
    steps = np.arange(int(45 * law.mean_abs) + 12)
    ends = np.unique(np.r_[x, steps, steps + getattr(law, "gamma", 0)])
    ends = np.union1d(ends, np.linspace(0, steps[-1], 400))
    low, high = ends[ends >= x][:-1, None], ends[ends >= x][1:, None]
    nodes, weights = np.polynomial.legendre.leggauss(12)
    z = (low + high) / 2 + (high - low) / 2 * nodes
    return z, np.exp(law.log_density(z)) * weights * (high - low) / 2


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("eps", [0.05, 0.4, 1, 2.3, 6])
def test_moments_tail_and_mean_error_agree_with_quadrature(law, eps):
    law, rng = law(eps), np.random.default_rng(2)
    z, mass = quadrature_above(law, 0.0)
    assert 2 * mass.sum() == pytest.approx(1, rel=1e-10)
    assert 2 * (z * mass).sum() == pytest.approx(float(law.mean_abs), rel=1e-10)
    assert 2 * (z**2 * mass).sum() == pytest.approx(float(law.mean_square), rel=1e-10)
    np.testing.assert_array_equal(law.log_density(-z), law.log_density(z))
    gamma = getattr(law, "gamma", 0.3)
    for x in [0.0, gamma, 1.0, 1 + gamma, *rng.uniform(0, 3, 6)]:
        z, mass = quadrature_above(law, x)
        assert law.tail(np.array(x)) == pytest.approx(mass.sum(), rel=1e-9, abs=1e-13)
        excess = float(((z - x) * mass).sum())
        assert law.excess(np.array(x)) == pytest.approx(excess, rel=1e-8, abs=1e-13)
        for sensitivity in (0.5, 3.0):
            error = float(law.mean_error(-x * sensitivity, sensitivity))
            assert error == pytest.approx(sensitivity * (x + 2 * excess), rel=1e-9)
    assert law.mean_error(0.0) == pytest.approx(float(law.mean_abs), rel=1e-12)
    assert law.mean_error(-1.5, 0.0) == 1.5
    assert law.mean_error(1e308, 1e-10) == 1e308


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("budget", [0.1, 0.8, 3])
def test_the_excess_of_the_density_integrates_to_at_most_delta(law, budget):
    """The excess is over e^eps times the density shifted by 1."""
    law = law(budget)
    end = 60 * float(law.mean_abs) + 20
    z = np.linspace(-end, end, 400_001)
    step = z[1] - z[0]
    density = np.exp(law.log_density(z))
    shifted = np.exp(law.log_density(z - 1))
    for eps in (budget / 3, budget * 0.99, budget, 2 * budget):
        excess = np.maximum(density - np.exp(eps) * shifted, 0).sum() * step
        assert excess <= law.delta(eps) + 1e-4
        if law.currency == "eps":
            assert law.delta(eps) == pytest.approx(max(0, 1 - math.exp(eps - budget)), abs=1e-15)
        else:
            assert law.delta(eps) == pytest.approx(excess, abs=1e-4)


def test_a_law_states_its_privacy_cost_its_scale_and_its_integer_law():
    pure = beyond.LaplaceNoise("0.1")
    assert (pure.currency, pure.privacy_cost, pure.scale) == ("eps", Fraction(1, 10), 10)
    assert (pure.integer_law, pure.rounding) == ("laplace", 0)
    assert beyond.StaircaseNoise(2).privacy_cost == 2
    gaussian = beyond.GaussianNoise(0.1)
    assert (gaussian.currency, gaussian.scale) == ("rho", 0.1)
    assert 2 * gaussian.privacy_cost * Fraction(0.1) ** 2 == 1
    assert (gaussian.integer_law, gaussian.rounding) == ("gaussian", 4)
    assert beyond.GaussianNoise.zcdp(Fraction(1, 3)).privacy_cost <= Fraction(1, 3)


def test_a_release_reads_a_budget_exactly_or_accepts_a_law_that_opendp_can_draw():
    law = read_law(2 / 49)
    # The rank is read as `ud.rank` reads a float.
    assert (law.privacy_cost, law.rank) == (Fraction(2 / 49), 49)
    gaussian = beyond.GaussianNoise(3)
    assert read_law(gaussian) is gaussian
    pure = beyond.LaplaceNoise(2)
    assert read_law(pure) is pure
    rule = "a privacy budget, or a law that OpenDP can draw (userdp.beyond.GaussianNoise)"
    with pytest.raises(TypeError) as refused:
        read_law(beyond.StaircaseNoise(1))
    assert str(refused.value) == f"`budget` must be {rule}, got budget of type StaircaseNoise."
    with pytest.raises(ValueError, match="`budget` must be positive"):
        read_law(-1)


def delta_of(sigma, eps):
    """The delta of Gaussian noise, as an integral over the distance between neighbours.

    Unlike the difference of two tails, the integral has no cancellation.
    """
    a = 1 / sigma
    u = a / 2 - eps / a

    def growth(s):  # c phi(v) / phi(u) at the distance c = a e^-s, where v = c/2 - eps/c
        c = a * math.exp(-s)
        return c * math.exp((u - c / 2 + eps / c) * (u + c / 2 - eps / c) / 2)

    ends = [0, *np.geomspace(1e-12, 1, 13), 3, 10, 20, 40, 80]
    return oracle.integral(growth, ends) * math.exp(-u * u / 2) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("eps", [1e-100, 1e-7, 0.03, 1, 5, 40, 1e4])
@pytest.mark.parametrize("delta", [1e-100, 1e-12, 1e-6, 0.05, 0.6, 1 - 1e-9])
def test_gaussian_noise_satisfies_delta_and_is_hardly_larger_than_needed(eps, delta):
    law = beyond.GaussianNoise.approximate(eps, delta)
    assert delta_of(law.sigma, eps) / delta == pytest.approx(1 - 1e-10, abs=4e-11)
    assert delta_of(law.sigma, eps) <= law.delta(eps) <= delta
    assert law.delta(eps) / delta == pytest.approx(1 - 5e-11, abs=2e-11)


@pytest.mark.parametrize("rho", [1e-100, 1e-3, 0.1, *RECIPROCALS, 0.5, 7, np.float32(0.3), 1e100])
def test_gaussian_noise_for_zcdp_is_rounded_upwards_to_the_next_float(rho):
    sigma = beyond.GaussianNoise.zcdp(rho).sigma
    exact = rho if isinstance(rho, Fraction) else Fraction(float(rho))
    assert 2 * exact * Fraction(sigma) ** 2 >= 1
    assert 2 * exact * Fraction(math.nextafter(sigma, 0)) ** 2 < 1


@given(collections(), budgets(), st.sampled_from(["bound", "l1", "mse"]))
def test_laplace_noise_gives_the_same_results_as_its_budget(users, eps, objective):
    def results(budget):
        T = beyond.threshold(users, budget, objective)
        clipping = beyond.optimal_clipping(users, budget, objective)
        yield from (T, beyond.optimal_error(users, budget, objective))
        yield from (beyond.symmetric_error(users, T, budget, o) for o in ("bound", objective))
        yield beyond.worst_case_error(users, clipping, budget, objective)
        sums = users.largest_sums.astype(float)
        yield beyond.opt_worst_case(sums, users, budget, objective=objective, rng=0)
        yield beyond.opt_worst_case_mean_error(sums, users, budget, objective=objective)

    assert [*results(eps)] == [*results(beyond.LaplaceNoise(eps))]


@given(collections(), st.floats(0.05, 9), st.sampled_from(["bound", "l1", "mse"]))
def test_no_width_is_better_than_the_threshold_for_gaussian_noise(users, sigma, objective):
    law = beyond.GaussianNoise(sigma)
    widths = [*users.largest_sums, *np.linspace(0, float(max(users.largest_sums)), 60)]
    errors = [float(beyond.symmetric_error(users, S, law, objective)) for S in widths]
    best = float(beyond.optimal_error(users, law, objective))
    assert best <= min(errors) * (1 + 1e-12)
    T = beyond.threshold(users, law, objective)
    assert float(beyond.symmetric_error(users, T, law, objective)) == pytest.approx(best)
    if objective == "bound":
        k = math.ceil(2 * sigma * math.sqrt(2 / math.pi))
        assert [*sorted(users.largest_sums, reverse=True), *[0] * 20][k - 1] == T


def test_density_delta_and_tail_of_gaussian_noise_do_not_overflow():
    assert beyond.GaussianNoise(1e-100).log_density(1e300) == -np.inf
    assert beyond.GaussianNoise(100).delta(1) == 0.0
    assert beyond.GaussianNoise(1e3).tail(5e3) == pytest.approx(beyond.GaussianNoise(1).tail(5.0))
