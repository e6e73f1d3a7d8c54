"""What carries over to other collections, laws and ways to clip, on other draws than the page's."""

from functools import partial

import numpy as np
import pytest

import userdp as ud

U = 65
MEAN_ERRORS = {
    "Laplace": ud.laplace_mean_error,
    "AKMV": ud.akmv_mean_error,
    "OPT": ud.opt_worst_case_mean_error,
}
EQUAL = ud.Contributions(np.full(127, 4), U)
EXTREME = ud.extreme_collection(101, 10, U)


@pytest.mark.parametrize(
    "users",
    [
        EQUAL,
        ud.Contributions(np.maximum(1, 64 // np.arange(1, 128)), U),
        ud.Contributions([1, 1, 2, 9, 40], U),
        EXTREME,
    ],
    ids=["equal", "Zipf", "five users", "extreme"],
)
@pytest.mark.parametrize(
    "sampler",
    [
        ud.uniform_sums,
        ud.gaussian_sums,
        partial(ud.beta_sums, a=8, b=2),
        partial(ud.beta_sums, a=2, b=8),
        partial(ud.correlated_sums, correlation=0.5),
        partial(ud.correlated_sums, correlation=1),
    ],
    ids=["uniform", "Gaussian", "Beta", "mirrored", "half correlated", "correlated"],
)
def test_below_two_the_optimum_beats_akmv_on_other_distributions(users, sampler):
    sweep = ud.mean_error_sweep(MEAN_ERRORS, users, [0.1, 0.5, 1.9], sampler, 200, rng=1)
    mean, standard_error = sweep["AKMV"]
    worst = np.array([ud.optimal_error(users, eps) for eps in (0.1, 0.5)])
    assert ((mean[:2] - worst) / standard_error[:2] > 6).all()
    spread = np.hypot(standard_error, sweep["OPT"].standard_error)
    assert ((mean - sweep["OPT"].mean) / spread > 6).all()


def test_at_two_akmv_wins_on_small_samples():
    law = partial(ud.beta_sums, a=2, b=8)
    (mean,), (standard_error,) = ud.mean_error_sweep(MEAN_ERRORS, EXTREME, [2], law, 200, rng=1)[
        "AKMV"
    ]
    assert mean + 6 * standard_error < ud.optimal_error(EXTREME, 2)


@pytest.mark.parametrize(
    ("users", "sampler"),
    [(ud.geometric_collection(6, U), ud.uniform_sums), (EXTREME, ud.gaussian_sums)],
    ids=["geometric", "extreme"],
)
@pytest.mark.parametrize("share", [0.05, 0.1])
def test_from_two_on_akmv_wins_with_a_small_share_for_its_threshold(users, sampler, share):
    split = partial(ud.akmv_mean_error, threshold_share=share, noise_share=1 - share)
    ways = {"AKMV": split, "OPT": ud.opt_worst_case_mean_error}
    sweep = ud.mean_error_sweep(ways, users, [1.9, 2, 3, 3.5, 6], sampler, 200, rng=1)
    (akmv, akmv_se), (opt, opt_se) = sweep["AKMV"], sweep["OPT"]
    lead = (akmv - opt) / np.hypot(akmv_se, opt_se)
    assert (lead[1:4] < -6).all()
    assert min(lead[0], lead[4]) > 6


def test_without_heavy_users_akmv_is_not_close_to_laplace():
    sweep = ud.mean_error_sweep(MEAN_ERRORS, EQUAL, [0.1, 0.5, 2], ud.uniform_sums, 200, rng=1)
    assert (sweep["AKMV"].mean > 1.5 * sweep["Laplace"].mean).all()
    np.testing.assert_allclose(sweep["OPT"].mean, sweep["Laplace"].mean)


def test_details_of_akmv_are_those_of_its_law():
    """Rank, exponent and split against the law of T, a cell at a time."""
    users, eps = ud.Contributions([5, 3, 3, 1], U), 0.7
    sums = ud.uniform_sums(users, 20, rng=4)

    def expected(for_T, for_noise, rank):
        law = ud.quantile_cells(sums, users, 1, 1)
        mass = (law.upper - law.lower) * np.exp(-for_T / 2 * abs(np.arange(5) - rank))
        law = law._replace(probability=mass / mass.sum(axis=-1, keepdims=True))
        return ud.capped_mean_error(law, users, for_noise)

    for details, parts in {
        (): (eps / 2, eps / 2, 3),
        (("below", 0.5),): (eps / 2, eps / 2, 2.5),
        (("threshold_share", 1),): (eps, eps / 2, 3),
        (("threshold_share", 0.1),): (eps / 10, eps / 2, 3),
        (("threshold_share", 0.25), ("noise_share", 0.75)): (eps / 4, 3 * eps / 4, 2),
        (("threshold_share", 0.9), ("noise_share", 0.1)): (0.9 * eps, eps / 10, 4),
    }.items():
        error = ud.akmv_mean_error(sums, users, eps, **dict(details))
        np.testing.assert_allclose(error, expected(*parts), rtol=1e-12)


@pytest.mark.parametrize(
    "users",
    [ud.geometric_collection(6, U), EXTREME],
    ids=["geometric", "extreme"],
)
def test_averaging_first_keeps_the_worst_case_and_lowers_the_average(users):
    """Clip each sample, or each user's average, on common uniform samples."""
    rng, eps, counts = np.random.default_rng(1), 1.0, users.counts
    samples = rng.uniform(0, U, (1000, users.total))
    clipping = ud.optimal_clipping(users, eps)
    ends = (np.repeat(end, counts) for end in (clipping.lower, clipping.upper))
    bias = (samples - samples.clip(*ends)).sum(axis=-1) / users.total
    each = ud.noisy_error(bias, ud.sensitivity(users, clipping) / eps)
    sums = np.add.reduceat(samples, np.cumsum(counts) - counts, axis=1)
    gain = each - ud.opt_worst_case_mean_error(sums, users, eps)
    assert gain.mean() / (gain.std() / np.sqrt(gain.size)) > 6
    worst = ud.opt_worst_case(users.largest_sums, users, eps, rng=np.random.default_rng(0))
    noise = np.random.default_rng(0).laplace(scale=ud.threshold(users, eps) / eps) / users.total
    assert U - (worst - noise) == pytest.approx(ud.worst_case_bias(users, clipping), rel=1e-12)
