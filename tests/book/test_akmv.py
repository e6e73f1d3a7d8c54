"""The audit of AKMV against the joint density of threshold and output, written a second time."""

import numpy as np
import pytest

import userdp as ud
from userdp import audit


def joint_log_ratio(first, second, users, eps):
    """Largest |log ratio| of the density of (T, Y), with y beyond both its means."""
    ends = np.unique(np.r_[users.largest_sums.max(), first, second])
    ends = ends[ends > 0]
    t = np.r_[ends, ends[:-1] * (1 + 1e-12)]  # and the limits from above
    both = first, second
    log_q = [ud.quantile_log_density(t, s, users, ud.rank(eps), eps / 2) for s in both]
    capped = [np.minimum(s, t[:, None]).sum(axis=1) for s in both]
    return np.max(np.abs(log_q[0] - log_q[1]) + np.abs(capped[0] - capped[1]) / (2 * t / eps))


@pytest.mark.parametrize("eps", [0.3, 1, 3])
def test_the_joint_log_ratio_is_that_of_the_mechanism(eps):
    users, rng = ud.Contributions([3, 2, 2], 1), np.random.default_rng(1)
    first = rng.choice([0, 0.3, 0.5, 1], (60, 3)) * users.largest_sums
    second = first.copy()
    second[:, 0] = 3 * rng.random(60)
    found = [joint_log_ratio(*pair, users, eps) for pair in zip(first, second, strict=True)]
    np.testing.assert_allclose(
        found, audit.akmv_log_ratio(audit.Pairs(users, first, second), eps), rtol=1e-9
    )


def test_no_pair_spends_more_than_three_quarters_where_the_rank_is_that_of_all_users():
    spent = audit.largest_log_ratio(lambda pairs: audit.akmv_log_ratio(pairs, 0.08), 400, rng=2)
    assert spent == pytest.approx(0.75 * 0.08, rel=1e-6)
