"""Laplace noise (Theorem II.1): its scale, and the mean error of a bias plus noise.

- A statistic of sensitivity Delta gets noise of scale Delta/eps.
- E|d + Z| = |d| + s exp(-|d|/s) for noise Z of scale s, `noisy_error`.
"""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest

import userdp as ud


def test_the_scale_is_the_sensitivity_over_the_budget():
    assert ud.noise_scale(3.0, 0.5) == 6.0
    assert ud.noise_scale(Fraction(260, 7), "0.8") == pytest.approx(260 / 7 / 0.8, rel=1e-15)
    assert ud.noise_scale(0.0, 2) == 0.0


@pytest.mark.parametrize(("bias", "scale"), [(0, 1), (1, 1), (-3, 0.5), (0.01, 20), (5, 0.2)])
def test_noisy_error_is_the_integral_over_the_density(bias, scale):
    """E|bias + Z| from the density of Lap(scale), and special cases at the ends of the range."""

    def integrand(z):
        return abs(bias + z) * math.exp(-abs(z) / scale) / (2 * scale)

    expected = oracle.integral(integrand, sorted({-40 * scale, 0, -bias, 40 * scale}))
    assert ud.noisy_error(bias, scale) == pytest.approx(expected, rel=1e-10)
    np.testing.assert_array_equal(ud.noisy_error([-2.0, 0.0], 0.0), [2.0, 0.0])
    assert ud.noisy_error(1.0, 5e-324) == 1.0
    assert ud.noisy_error(0.0, 3.0) == 3.0
