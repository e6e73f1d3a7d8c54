"""The page's propositions on any range, and on clipping around any centre.

The centre is public, or estimated with part of the budget.
"""

from itertools import product

import numpy as np
import oracle
import pytest
from hypothesis import given
from page_functions import functions_of
from scipy import stats
from strategies import budgets, collections, fractions

import userdp as ud
from userdp import audit, beyond

PAGE = functions_of("centre")


@given(users=collections(max_samples=6), lo=fractions.map(lambda x: 3 - x), eps=budgets())
def test_the_optimal_error_depends_only_on_the_length_of_the_range(users, lo, eps):
    """The largest bias over datasets in [lo, hi] plus the mean size of the noise.

    For intervals centred at (lo + hi)/2, the sum is `optimal_error` with U = hi - lo.
    """
    hi, counts = lo + users.upper, users.counts.tolist()
    half_widths = [ud.threshold(users, eps) / (2 * m) for m in counts]
    middle = (lo + hi) / 2
    ends = [(max(lo, middle - w), min(hi, middle + w)) for w in half_widths]
    residuals = [
        [m * (x - oracle.project(x, a, b)) for x in (lo, a, b, hi)]
        for m, (a, b) in zip(counts, ends, strict=True)
    ]
    bias = max(abs(sum(row)) for row in product(*residuals))
    noise = max(m * (b - a) for m, (a, b) in zip(counts, ends, strict=True)) / eps
    assert (bias + noise) / users.total == ud.optimal_error(users, eps)


@pytest.mark.parametrize("seed", range(20))
def test_the_bias_is_at_most_the_excess_and_zero_if_averages_are_near_the_centre(seed):
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 9, size=6), 10)
    c, S = rng.uniform(0, 10), rng.uniform(0, 10 * users.max_count)
    sums = rng.uniform(0, 1, 6) * users.largest_sums
    excess = np.maximum(np.abs(sums - c * users.counts) - S / 2, 0).sum() / users.total
    # The noise is negligible at this eps.
    assert beyond.clipped_mean_error(sums, users, S, 1e12, centre=c) <= excess + 1e-9
    averages = np.clip(c + rng.uniform(-1, 1, 6) * S / 2 / users.counts, 0, 10)
    scale = ud.sensitivity(users, beyond.centred_clipping(users, S, c)) / 0.7
    error = beyond.clipped_mean_error(averages * users.counts, users, S, 0.7, centre=c)
    assert error == pytest.approx(scale)


@pytest.mark.parametrize("seed", range(30))
def test_the_pair_of_centre_and_release_spends_at_most_eps(seed):
    """The joint law of the noisy mean of averages, the centre, and of the release.

    Both are drawn by the page's code.
    """
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 6, size=4), 8)
    eps, share, tight = rng.uniform(2.5, 5), rng.uniform(0.1, 0.8), seed % 2
    pair = np.tile(rng.uniform(0, 1, 4) * users.largest_sums, (2, 1))
    user = np.argmax(users.counts) if tight else rng.integers(4)
    pair[:, user] = np.array([0, 1] if tight else rng.random(2)) * users.largest_sums[user]
    S, largest_log_ratio = ud.threshold(users, (1 - share) * eps), 0.0
    for g in np.linspace(-4, 12, 97):
        sensitivity = ud.sensitivity(
            users, beyond.centred_clipping(users, S, float(np.clip(g, 0, 8)))
        )
        exponents = []  # minus the log densities of centre and release, for each dataset
        for sums in pair:
            distance = g - np.mean(sums / users.counts)
            noise = audit.Recorder(laplace=[distance, 0])
            c, release = PAGE.two_stage(sums, users, eps, share, noise)
            centre_scale, release_scale = (call.numbers[1] for call in noise.calls)
            assert c == pytest.approx(np.clip(g, 0, 8))
            assert centre_scale == pytest.approx(8 / 4 / (share * eps))
            assert release_scale == pytest.approx(users.total * sensitivity / ((1 - share) * eps))
            exponents.append((abs(distance) / centre_scale, release * users.total / release_scale))
        largest_log_ratio = max(largest_log_ratio, np.abs(np.subtract(*exponents)).sum())
    assert largest_log_ratio <= eps * (1 + 1e-9)
    assert not tight or largest_log_ratio >= eps * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_the_error_of_the_two_stages_is_within_the_guarantee(seed):
    """On random datasets with samples at 0 and U, for 400 quantiles of the noise of the centre.

    Each error is compared with its guarantee, and the mean guarantee with the bound of the page.
    """
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 9, size=7), 10)
    eps, share = rng.uniform(0.1, 3), rng.uniform(0.1, 0.9)
    rest, S = (1 - share) * eps, ud.threshold(users, (1 - share) * eps)
    sums = rng.integers(0, 2, 7) * users.largest_sums
    noise = stats.laplace.ppf((np.arange(400) + 0.5) / 400, scale=10 / 7 / (share * eps))
    c = np.clip(np.mean(sums / users.counts) + noise, 0, 10)
    errors = PAGE.error_around(np.tile(sums, (400, 1)), users, S, c, rest)
    around_first = beyond.clipped_mean_error(sums, users, S, rest, centre=float(c[0]))
    assert errors[0] == pytest.approx(around_first)
    guarantees = [
        ud.worst_case_error(users, beyond.centred_clipping(users, S, float(x)), rest) for x in c
    ]
    assert (errors <= np.array(guarantees) + 1e-9).all()
    kappa = users.counts[users.largest_sums > S / 2].sum() / users.total
    bound = ud.optimal_error(users, rest) + kappa * np.mean(np.abs(c - 5))
    assert np.mean(guarantees) <= bound + 1e-9
