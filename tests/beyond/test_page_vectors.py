"""Vectors in a ball: the page's theorems, and Gaussian noise by its exact density."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of
from scipy import integrate, stats
from scipy.special import erfcx, gammaln

import userdp as ud
from userdp import beyond

PAGE = functions_of("vectors", gammaln=gammaln, erfcx=erfcx, integrate=integrate)
STEP = 0.02
PLANE = np.stack(np.meshgrid(*[np.arange(-12, 12, STEP)] * 2))


def page(seed):
    """The functions of the page, with a random generator of this seed."""
    return functions_of("vectors", rng=np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(60))
def test_no_estimator_is_below_the_frontier(seed):
    """Bias and sensitivity of arbitrary functions on the datasets of one line."""
    rng = np.random.default_rng(seed)
    d, R, n = int(rng.integers(1, 4)), 5.0, int(rng.integers(1, 5))
    users = ud.Contributions(rng.integers(1, 7, size=n), upper=2 * R)
    u, T = page(seed).directions((), d), rng.uniform(0, 2 * R * users.max_count)
    sums = R * users.counts[:, None] * np.array([*product((-1, 0, 1), repeat=n)])[..., None] * u
    mean = sums.sum(axis=1) / users.total
    size = rng.choice([0, 1e-3, 0.1, 1])
    g = beyond.clip_to_ball(sums, T / 2).sum(axis=1) / users.total
    g += size * rng.normal(size=mean.shape)
    grid = g.reshape(*[3] * n, d)  # one axis per user; shifts compare each value with the others
    change = max(np.linalg.norm(grid - np.roll(grid, 1, i), axis=-1).max() for i in range(n))
    bias, bound = (
        np.linalg.norm(mean - g, axis=1).max(),
        beyond.modulus_of_mean(users).smallest_bias(change),
    )
    assert bias >= bound - 1e-9
    if size == 0:
        assert bias == pytest.approx(bound)
        assert change == pytest.approx(T / users.total)


@pytest.mark.parametrize("seed", range(30))
def test_bias_and_sensitivities_of_clipping_coordinates_are_those_of_the_proposition(seed):
    """Random sums never exceed the bounds of the proposition; the sums in its proof attain them."""
    rng = np.random.default_rng(seed)
    d, longest = int(rng.integers(1, 5)), 7.0  # R m of one user
    half_width = rng.uniform(0.05, 1.2) * longest
    z = rng.normal(size=(4000, d)) * rng.exponential(size=(4000, d))
    z[:2] = np.eye(d)[0], np.ones(d)
    s = longest * z / np.linalg.norm(z, axis=-1, keepdims=True)
    clipped = np.clip(s, -half_width, half_width)
    assert np.linalg.norm(s - clipped, axis=-1).max() == pytest.approx(max(longest - half_width, 0))
    euclidean, absolute = (2 * np.linalg.norm(clipped, order, axis=-1).max() for order in (2, 1))
    assert euclidean == pytest.approx(min(sqrt(d) * 2 * half_width, 2 * longest))
    assert absolute == pytest.approx(min(d * 2 * half_width, sqrt(d) * 2 * longest))


def log_density(centre):
    return -((PLANE - np.reshape(centre, (2, 1, 1))) ** 2).sum(axis=0) / 2 - np.log(2 * np.pi)


@pytest.mark.parametrize(("eps", "delta"), [(0.5, 1e-4), (2, 1e-2), (6, 1e-6)])
def test_privacy_of_gaussian_noise_agrees_with_exact_densities_in_the_plane(eps, delta):
    """Sums over a grid: the positive part of p - e^eps q, and p^a q^(1-a), at several distances."""
    law = beyond.GaussianNoise.approximate(eps, delta)
    deltas, divergences = [], []
    for c in np.array([0.4, 0.9, 1]) / law.sigma:
        p, q = log_density([0, 0]), log_density([-0.28 * c, 0.96 * c])
        deltas.append(np.maximum(np.exp(p) - np.exp(eps + q), 0).sum() * STEP**2)
        orders = np.array([1.1, 2, 3.5])
        moments = [np.exp(a * p + (1 - a) * q).sum() * STEP**2 for a in orders]
        divergences.append(np.log(moments) / (orders - 1) / orders)
        np.testing.assert_allclose(divergences[-1], c**2 / 2, rtol=1e-6)
    assert deltas[-1] == pytest.approx(delta, rel=1e-3)
    assert np.all(np.diff(deltas) > 0)
    # With its own divergence as the budget, the law is the same.
    law_of_divergence = beyond.GaussianNoise.zcdp(divergences[-1][0])
    assert law_of_divergence.sigma == pytest.approx(law.sigma, rel=1e-6)


@pytest.mark.parametrize("d", [1, 2, 3, 8, 50])
def test_mean_lengths_of_noise_agree_with_formulas_and_draws(d):
    assert PAGE.chi(d) == pytest.approx(stats.chi(d).mean(), rel=1e-9)
    assert PAGE.chi(d) * PAGE.chi(d + 1) == pytest.approx(d)
    assert (d - 1) ** 0.5 < PAGE.chi(d) < d**0.5
    draws = np.linalg.norm(np.random.default_rng(d).laplace(size=(40_000, d)), axis=1)
    standard_error = draws.std() / len(draws) ** 0.5
    assert PAGE.laplace_length(d) == pytest.approx(draws.mean(), abs=5 * standard_error)
    assert d**0.5 * PAGE.laplace_length(d) >= d * (1 - 1e-9)  # never shorter than isotropic noise


@given(st.floats(-2, 1.3), st.floats(-12, -0.4))
def test_gaussian_noise_is_better_from_dimension_eps_sigma_squared(log_eps, log_delta):
    """Compare the guarantees, with so many users that no guarantee is that of a constant."""
    eps, delta = 10.0**log_eps, 10.0**log_delta
    law = beyond.GaussianNoise.approximate(eps, delta)
    A = (eps * law.sigma) ** 2
    assert 2 * np.log(1 / (2 * delta)) + eps >= A
    users = ud.Contributions(np.ones(100_000, dtype=int), upper=2)
    for d in range(max(1, int(A) - 2), int(A) + 4):
        gaussian, pure = beyond.ball_error(users, law, d), beyond.ball_error(users, eps, d)
        assert gaussian < pure or d < A
        assert gaussian > pure or d > A - 1
        assert (gaussian < pure) == (d >= PAGE.takes_over(eps, delta))
        concentrated = beyond.GaussianNoise.zcdp(eps**2 / 2)
        assert beyond.ball_error(users, concentrated, d) < pure
