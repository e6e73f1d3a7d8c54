"""The laws of noise against their densities: moments, tails, errors, draws, and how far they go."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

import userdp as ud
from userdp._checks import LARGEST
from userdp.noise import _noise_scale

LAWS = [ud.LaplaceNoise, ud.StaircaseNoise]

every_law = pytest.mark.parametrize("law", LAWS, ids=["laplace", "staircase"])


def beyond(law, x):
    """Points and their masses, from x to infinity, exact for polynomials between the edges."""
    reach = np.arange(int(45 / law.eps) + 3)
    ends = np.unique(np.r_[x, reach, reach + getattr(law, "gamma", 0)])
    low, high = ends[ends >= x][:-1, None], ends[ends >= x][1:, None]
    nodes, weights = np.polynomial.legendre.leggauss(12)
    z = (low + high) / 2 + (high - low) / 2 * nodes
    return z, np.exp(law.log_density(z)) * weights * (high - low) / 2


@every_law
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


def test_noise_and_its_squares_are_finite_up_to_the_stated_ends():
    assert ud.LaplaceNoise(1e-150).worst_case(0.0, 1.0, "mse") == pytest.approx(2e300)
    with pytest.raises(ValueError, match=r"`eps` must be .* got eps=1e-151"):
        ud.LaplaceNoise(1e-151).worst_case(0.0, 1.0, "mse")
    assert _noise_scale(LARGEST / 64, 1) == LARGEST / 64
    with pytest.raises(ValueError, match="`eps` must be large enough"):
        _noise_scale(np.nextafter(LARGEST / 64, np.inf), 1)


@pytest.mark.parametrize(("bias", "scale"), [(0, 1), (1, 1), (-3, 0.5), (0.01, 20), (5, 0.2)])
def test_noisy_error_is_the_integral_over_the_density(bias, scale):
    """E|bias + Z| from the density of Lap(scale); and at the ends of the range."""

    def integrand(z):
        return abs(bias + z) * math.exp(-abs(z) / scale) / (2 * scale)

    edges = itertools.pairwise(sorted({-40 * scale, 0, -bias, 40 * scale}))
    parts = [integrate.quad(integrand, *ends, epsabs=0, epsrel=1e-12)[0] for ends in edges]
    assert ud.noisy_error(bias, scale) == pytest.approx(sum(parts), rel=1e-10)
    np.testing.assert_array_equal(ud.noisy_error([-2.0, 0.0], 0.0), [2.0, 0.0])
    assert ud.noisy_error(1.0, 5e-324) == 1.0
    assert ud.noisy_error(0.0, 3.0) == 3.0
