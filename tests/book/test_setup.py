"""What the chapter on the problem states beyond the paper, checked on its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import userdp as ud


@given(st.floats(0, 100), st.floats(0.01, 100))
def test_error_measure_overstates_by_at_most_rho(bias, scale):
    r = optimize.brentq(lambda x: np.exp(x) - x - 2, 0.5, 2)
    rho, error = (r + 2) / (r + 1), ud.noisy_error(bias, scale)
    assert error <= (bias + scale) * (1 + 1e-12) <= rho * error * (1 + 1e-11)
    assert r * scale + scale == pytest.approx(rho * ud.noisy_error(r * scale, scale))


@pytest.mark.parametrize("eps", [0.1, 1, 7])
def test_some_clipping_is_overstated_by_rho_and_the_mean_not_at_all(eps):
    r, one = optimize.brentq(lambda x: np.exp(x) - x - 2, 0.5, 2), ud.Contributions([1], 65)
    width = 65 * eps / (eps + 2 * r)
    clipping = ud.centred_clipping(one, width)
    scale, bias = ud.sensitivity(one, clipping) / eps, ud.worst_case_bias(one, clipping)
    felt = ud.noisy_error(bias, scale)
    assert ud.worst_case_error(one, clipping, eps) == pytest.approx((r + 2) / (r + 1) * felt)
    assert ud.noisy_error(0, 65 / eps) == 65 / eps
