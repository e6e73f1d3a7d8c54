"""What holds for other collections, laws and ways to clip, on other draws than the page's."""

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of
from strategies import EXTREME, GEOMETRIC, MEAN_ERRORS, clippings, collections

import userdp as ud
from userdp import beyond

U = 65
EQUAL = ud.Contributions(np.full(127, 4), U)


@given(users=collections().filter(lambda users: users.n_users <= 4), data=st.data())
def test_averaging_keeps_worst_case_bias_and_sensitivity(users, data):
    """Enumerate all datasets with averages at three levels; the array has one axis per user."""
    clipping, n = data.draw(clippings(users, per_sample=False)), users.n_users
    averages = users.upper * np.array([*product((Fraction(0), Fraction(1, 3), 1), repeat=n)])
    sums = averages.clip(clipping.lower, clipping.upper) @ users.counts
    bias = max(abs(averages @ users.counts - sums))
    change = max(np.max(np.ptp(sums.reshape([3] * n), axis=user)) for user in range(n))
    assert bias == users.total * ud.worst_case_bias(users, clipping)
    assert change == users.total * ud.sensitivity(users, clipping)


def test_without_heavy_users_akmv_is_not_close_to_laplace():
    sweep = ud.mean_error_sweep(MEAN_ERRORS, EQUAL, [0.1, 0.5, 2], ud.uniform_sums, 200, rng=1)
    assert (sweep["AKMV"].mean > 1.5 * sweep["Laplace"].mean).all()
    np.testing.assert_allclose(sweep["OPT"].mean, sweep["Laplace"].mean)


def test_at_two_the_winner_depends_on_the_width():
    """For slow buses, as on the page, with the largest and the smallest optimal width."""
    page = functions_of("robustness", n_trials=400, seed=3)
    slow = partial(ud.beta_sums, a=2, b=8)
    sweep = ud.mean_error_sweep(MEAN_ERRORS, EXTREME, [2], slow, 400, rng=3)
    assert sweep["AKMV"].mean < sweep["OPT"].mean
    assert page.ratio_at_two(EXTREME, slow) > 1.9
    assert page.ratio_at_two(EQUAL, slow) == pytest.approx(
        ud.mean_error_sweep(MEAN_ERRORS, EQUAL, [2], slow, 400, rng=3)["AKMV"].mean[0]
        / ud.optimal_error(EQUAL, 2)
    )


RIVAL = beyond.PrivateThreshold(0.1, centred=True, measure="logarithmic")
LAWS = [
    ud.uniform_sums,
    ud.gaussian_sums,
    partial(ud.beta_sums, a=8, b=2),
    partial(ud.beta_sums, a=2, b=8),
    partial(ud.correlated_sums, correlation=0.5),
    partial(ud.correlated_sums, correlation=1),
]


@pytest.mark.parametrize(
    ("users", "sampler", "loses", "wins"),
    [
        (GEOMETRIC, ud.uniform_sums, [0.1, 0.25], [1, 1.9, 2.5, 5]),
        (EXTREME, ud.gaussian_sums, [0.1, 0.5, 1, 1.9], [2.01, 3, 5]),
    ],
    ids=["geometric", "extreme"],
)
def test_the_best_rival_wins_on_average_at_large_budgets_and_loses_in_the_worst_case(
    users, sampler, loses, wins
):
    """In the paper's settings, by six standard errors; a search finds bad datasets."""
    sums = sampler(users, 60, rng=11)
    for eps in [*loses, *wins]:
        gap = RIVAL.mean_error(sums, users, eps) - ud.opt_worst_case_mean_error(sums, users, eps)
        z = gap.mean() / (gap.std(ddof=1) / np.sqrt(60))
        assert z > 6 if eps in loses else z < -6, eps
        assert RIVAL.largest_error_found(users, eps) > 1.1 * ud.optimal_error(users, eps)


@pytest.mark.parametrize("users", [GEOMETRIC, EXTREME], ids=["geometric", "extreme"])
@pytest.mark.parametrize("eps", [0.1, 1, 3])
def test_a_public_width_has_a_smaller_average_error_than_eight_private_thresholds(users, eps):
    """Median over six laws. The guarantee of this width is 3/2 of the optimum."""
    page, data = functions_of("robustness"), [law(users, 40, rng=12) for law in LAWS]
    S, best = page.public_width(users, eps), ud.optimal_error(users, eps)
    assert ud.symmetric_error(users, S, eps) == pytest.approx(1.5 * best)
    assert ud.symmetric_error(users, 0.99 * S, eps) > 1.5 * best
    public = np.median([beyond.clipped_mean_error(x, users, S, eps).mean() for x in data])
    for centred, measure, share in product((0, 1), ("uniform", "logarithmic"), (0.5, 0.1)):
        rule = beyond.PrivateThreshold(share, bool(centred), measure)
        private = np.median([rule.mean_error(x, users, eps).mean() for x in data])
        assert private > public, rule


def test_if_samples_are_far_below_the_bound_a_private_threshold_beats_every_centred_width():
    """Samples with a mean of U/100, as on the page."""
    sums = ud.beta_sums(GEOMETRIC, 60, a=1, b=99, rng=13)
    rule = beyond.PrivateThreshold(0.1, measure="logarithmic")
    widths = np.geomspace(U / 32, U * GEOMETRIC.max_count, 30)
    centred = [beyond.clipped_mean_error(sums, GEOMETRIC, S, 1).mean() for S in widths]
    assert rule.mean_error(sums, GEOMETRIC, 1).mean() < 0.5 * min(centred)


@pytest.mark.parametrize("users", [GEOMETRIC, EXTREME], ids=["geometric", "extreme"])
def test_averaging_first_keeps_the_worst_case_error_and_lowers_the_average_error(users):
    """Clip each sample, or each user's average, of the same uniform samples."""
    rng, eps, counts = np.random.default_rng(1), 1.0, users.counts
    samples = rng.uniform(0, U, (1000, users.total))
    clipping = ud.optimal_clipping(users, eps)
    ends = (np.repeat(end, counts) for end in (clipping.lower, clipping.upper))
    bias = (samples - samples.clip(*ends)).sum(axis=-1) / users.total
    per_sample_errors = ud.noisy_error(bias, ud.sensitivity(users, clipping) / eps)
    sums = np.add.reduceat(samples, np.cumsum(counts) - counts, axis=1)
    gain = per_sample_errors - ud.opt_worst_case_mean_error(sums, users, eps)
    assert gain.mean() / (gain.std() / np.sqrt(gain.size)) > 6
    worst = ud.opt_worst_case_mean_error(users.largest_sums, users, eps)
    stated = beyond.worst_case_error(users, clipping, eps, "l1")
    assert worst == pytest.approx(stated, rel=1e-12)
