"""Samplers: they draw the users' sums of the random datasets of Section IV-B, and of others.

- `uniform_sums` (law 1): each sample is uniform on [0, U].
- `gaussian_sums` (law 2): normal around U/2 with variance U/4, as N(U/2, U/4) says, and drawn again
  until it lies in [0, U]: a truncated law, not a projected one (err-gaussian).
- `beta_sums`: U times a Beta variable. `correlated_sums`: uniform samples, where any two samples of
  a user have the given correlation.
- A sum of m samples has the mean m E[X] and the variance m Var[X] (1 + (m - 1) correlation); users
  are independent, and so are datasets. A seed fixes all draws.
- The memory does not grow with the counts: samples are drawn and added up in blocks.
"""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from scipy import stats

import userdp as ud
from userdp import samplers

U = 65
USERS = ud.Contributions([40, 3, 3, 1], U)
FALSE_ALARM_RATE = 1e-9


def truncated(variance=U / 4):
    sd = variance**0.5
    return stats.truncnorm(-U / 2 / sd, U / 2 / sd, loc=U / 2, scale=sd)


def correlated(correlation):
    sampler = partial(ud.correlated_sums, correlation=correlation)
    return sampler, stats.uniform(0, U), correlation


# sampler, law of a single sample, correlation of two samples of a user
LAWS = {
    "uniform": (ud.uniform_sums, stats.uniform(0, U), 0),
    "Gaussian, variance U/4": (ud.gaussian_sums, truncated(), 0),
    **{
        f"Gaussian, {v}": (partial(ud.gaussian_sums, variance=v), truncated(v), 0)
        for v in ((U / 4) ** 2, U**2)
    },
    "Beta": (partial(ud.beta_sums, a=8, b=2), stats.beta(8, 2, scale=U), 0),
    **{f"correlation {c}": correlated(c) for c in (0, 0.25, 1)},
}
every_law = pytest.mark.parametrize(("sampler", "law", "correlation"), LAWS.values(), ids=LAWS)


@every_law
def test_single_samples_follow_their_law_and_seeds_fix_them(sampler, law, correlation):
    user = ud.Contributions([1], U)
    samples = sampler(user, 20_000, rng=2)[:, 0]
    assert stats.kstest(samples, law.cdf).pvalue > FALSE_ALARM_RATE
    assert stats.kstest(0.93 * samples, law.cdf).pvalue < FALSE_ALARM_RATE
    again, other = (sampler(user, 20_000, rng=np.random.default_rng(seed))[:, 0] for seed in (2, 3))
    assert (samples == again).all(), "two draws from one seed differ"
    assert (samples != other).any(), "draws from two seeds do not differ"


@every_law
def test_sums_have_the_mean_and_the_variance_of_their_law_and_are_independent(
    sampler, law, correlation
):
    n, m = 40_000, USERS.counts
    sums = sampler(USERS, n, rng=1)
    assert (sums.shape, sums.dtype) == ((n, 4), np.float64)
    assert ((sums >= 0) & (sums <= U * m * (1 + 1e-12))).all()
    variance = m * law.var() * (1 + (m - 1) * correlation)
    assert (np.abs(sums.mean(axis=0) - m * law.mean()) <= 6 * np.sqrt(variance / n)).all()
    # No law here has a kurtosis much above a Gaussian's, so 2.5/n bounds this ratio's variance.
    assert (np.abs(sums.var(axis=0) / variance - 1) <= 6 * np.sqrt(2.5 / n)).all()
    between_users = np.corrcoef(sums.T) - np.eye(4)
    between_datasets = [np.corrcoef(column[:-1], column[1:])[0, 1] for column in sums.T]
    for correlations in (between_users, between_datasets):
        assert np.abs(correlations).max() < 6 / np.sqrt(n)


@pytest.mark.parametrize("name", ["uniform", "correlation 0.25"])
def test_memory_does_not_grow_with_the_counts(name):
    users = ud.Contributions([10_000_000, 1], U)
    tracemalloc.start()
    sums = LAWS[name][0](users, 2, rng=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6  # all samples at once would take 160 MB
    if name == "uniform":
        slack = 6 * U * np.sqrt(users.counts / 12)
        assert (np.abs(sums - U / 2 * users.counts) <= slack).all()


def test_samples_are_drawn_one_by_one_if_a_block_holds_no_more(monkeypatch):
    monkeypatch.setattr(samplers, "_BLOCK", 5)
    shapes, users = [], ud.Contributions([3, 3, 1], U)
    sums = samplers._add_up(users, 4, lambda shape: shapes.append(shape) or np.ones(shape))
    np.testing.assert_array_equal(sums, [[3, 3, 1]] * 4)
    assert shapes == [(4, 1, 1)] + 3 * [(4, 2, 1)]
