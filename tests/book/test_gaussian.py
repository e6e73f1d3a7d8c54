"""The page on Gaussian noise: promises on exact densities, mean lengths, where it takes over."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfcx, gammaln

import userdp as ud

PAGE = functions_of("gaussian", gammaln=gammaln, erfcx=erfcx, quad=quad, brentq=brentq)
STEP = 0.02
PLANE = np.stack(np.meshgrid(*[np.arange(-12, 12, STEP)] * 2))


def log_density(centre):
    return -((PLANE - np.reshape(centre, (2, 1, 1))) ** 2).sum(axis=0) / 2 - np.log(2 * np.pi)


@pytest.mark.parametrize(("eps", "delta"), [(0.5, 1e-4), (2, 1e-2), (6, 1e-6)])
def test_promises_by_the_exact_densities_in_the_plane(eps, delta):
    """Sums over a grid, of p - e^eps q where positive and of p^a q^(1-a); closer is safer."""
    law = ud.GaussianNoise.approximate(eps, delta)
    spent, divergence = [], []
    for c in np.array([0.4, 0.9, 1]) / law.sigma:
        p, q = log_density([0, 0]), log_density([-0.28 * c, 0.96 * c])
        spent.append(np.maximum(np.exp(p) - np.exp(eps + q), 0).sum() * STEP**2)
        orders = np.array([1.1, 2, 3.5])
        moments = [np.exp(a * p + (1 - a) * q).sum() * STEP**2 for a in orders]
        divergence.append(np.log(moments) / (orders - 1) / orders)
        np.testing.assert_allclose(divergence[-1], c**2 / 2, rtol=1e-6)
    assert spent[-1] == pytest.approx(delta, rel=1e-3)
    assert np.all(np.diff(spent) > 0)
    again = ud.GaussianNoise.zcdp(divergence[-1][0])  # its own divergence as the budget
    assert again.sigma == pytest.approx(law.sigma, rel=1e-6)


@pytest.mark.parametrize("d", [1, 2, 3, 8, 50])
def test_mean_lengths(d):
    assert PAGE.chi(d) == pytest.approx(stats.chi(d).mean(), rel=1e-9)
    assert PAGE.chi(d) * PAGE.chi(d + 1) == pytest.approx(d)
    assert (d - 1) ** 0.5 < PAGE.chi(d) < d**0.5
    draws = np.linalg.norm(np.random.default_rng(d).laplace(size=(40_000, d)), axis=1)
    spread = draws.std() / len(draws) ** 0.5
    assert PAGE.laplace_length(d) == pytest.approx(draws.mean(), abs=5 * spread)
    assert d**0.5 * PAGE.laplace_length(d) >= d * (1 - 1e-9)  # never shorter than pure noise


@given(st.floats(-2, 1.3), st.floats(-12, -0.4))
def test_gaussian_noise_takes_over_at_the_square(log_eps, log_delta):
    """By the guarantees, for so many users that none is a constant's."""
    eps, delta = 10.0**log_eps, 10.0**log_delta
    law = ud.GaussianNoise.approximate(eps, delta)
    A = (eps * law.sigma) ** 2
    assert 2 * np.log(1 / (2 * delta)) + eps >= A
    users = ud.Contributions(np.ones(100_000, dtype=int), upper=2)
    for d in range(max(1, int(A) - 2), int(A) + 4):
        gaussian, pure = ud.vectors.ball_error(users, law, d), ud.vectors.ball_error(users, eps, d)
        assert gaussian < pure or d < A
        assert gaussian > pure or d > A - 1
        assert (gaussian < pure) == (d >= PAGE.takes_over(eps, delta))
        concentrated = ud.GaussianNoise.zcdp(eps**2 / 2)
        assert ud.vectors.ball_error(users, concentrated, d) < pure


def laplace_divergence(order, c):
    """Rényi divergence of two Laplace densities of scale 1, c apart, by eq-laplace-moment."""
    terms = np.log(order) + (order - 1) * c, np.log(order - 1) - order * c
    return (np.logaddexp(*terms) - np.log(2 * order - 1)) / (order - 1)


@given(st.floats(-2, 1.5), st.floats(-3, 3))
def test_laplace_noise_keeps_more_zcdp_than_any_noise_of_its_eps_has_to(log_eps, log_order):
    eps, order = 10.0**log_eps, 1 + 10.0**log_order
    rho = PAGE.laplace_zcdp(eps)
    assert rho < eps**2 / 2
    for c in (eps, 0.7 * eps):
        assert laplace_divergence(order, c) <= order * rho * (1 + 1e-9)
    assert laplace_divergence(1 + 1e-4, eps) == pytest.approx(rho, rel=0.01)  # no smaller rho
    assert PAGE.laplace_for_zcdp(rho) == pytest.approx(eps, rel=1e-6)


@pytest.mark.parametrize("order", [1.3, 2, 7])
def test_divergence_of_laplace_noise_by_integration(order):
    assert PAGE.divergence(order, 1.7) == pytest.approx(laplace_divergence(order, 1.7), rel=1e-8)


def test_gaussian_noise_is_shorter_for_small_rho_only():
    """For a single number: by the mean sizes of both laws, and they cross once."""
    sizes = []
    for rho in np.geomspace(0.01, 100, 400):
        laplace = ud.LaplaceNoise(PAGE.laplace_for_zcdp(rho)).mean_size
        sizes.append((rho, ud.GaussianNoise.zcdp(rho).mean_size < laplace))
    rhos, gaussian = np.transpose(sizes)
    last = np.flatnonzero(gaussian)[-1]
    assert np.all(gaussian[: last + 1])
    assert rhos[last] < 0.7523 < rhos[last + 1]
