"""The page on Gaussian noise: promises on exact densities, mean lengths, where it takes over."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of
from scipy import stats
from scipy.integrate import quad
from scipy.special import erfcx, gammaln

import userdp as ud

PAGE = functions_of("gaussian", gammaln=gammaln, erfcx=erfcx, quad=quad)
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
