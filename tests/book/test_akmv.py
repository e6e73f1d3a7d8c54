"""The page's joint density of AKMV's threshold and output, against the audit of the mechanism."""

import numpy as np
import pytest
from page_functions import functions_of

import userdp as ud
from userdp import audit

PAGE = functions_of("akmv")


@pytest.mark.parametrize("eps", [0.3, 1, 3])
def test_the_pages_joint_log_ratio_is_that_of_the_mechanism(eps):
    users, rng = ud.Contributions([3, 2, 2], 1), np.random.default_rng(1)
    first = rng.choice([0, 0.3, 0.5, 1], (60, 3)) * users.largest_sums
    second = first.copy()
    second[:, 0] = 3 * rng.random(60)
    found = [PAGE.joint_log_ratio(*pair, users, eps) for pair in zip(first, second, strict=True)]
    np.testing.assert_allclose(
        found, audit.akmv_log_ratio(audit.Pairs(users, first, second), eps), rtol=1e-9
    )
