"""What the chapter on the problem states beyond the paper, checked on its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import userdp as ud

R = optimize.brentq(lambda r: np.exp(r) - r - 2, 0.5, 2)
RHO = (R + 2) / (R + 1)


@given(st.floats(0, 100), st.floats(0.01, 100))
def test_error_measure_overstates_by_at_most_rho(bias, scale):
    error = ud.noisy_error(bias, scale)
    assert error <= (bias + scale) * (1 + 1e-12) <= RHO * error * (1 + 1e-11)
    assert R * scale + scale == pytest.approx(RHO * ud.noisy_error(R * scale, scale))


@pytest.mark.parametrize("eps", [0.1, 1, 7])
def test_some_clipping_is_overstated_by_rho_and_the_mean_not_at_all(eps):
    one = ud.Contributions([1], 65)
    clipping = ud.centred_clipping(one, 65 * eps / (eps + 2 * R))
    scale, bias = ud.sensitivity(one, clipping) / eps, ud.worst_case_bias(one, clipping)
    error = ud.worst_case_error(one, clipping, eps)
    assert error == pytest.approx(RHO * ud.noisy_error(bias, scale))
    assert ud.noisy_error(0, 65 / eps) == 65 / eps
