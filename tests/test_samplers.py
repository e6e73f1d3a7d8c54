"""Samplers: the moments and the laws they promise, and the memory they do not take."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from scipy import stats

import userdp as ud
from userdp import samplers

U = 65
USERS = ud.Contributions([40, 3, 3, 1], U)
FALSE_ALARM = 1e-9


def truncated(variance):
    sd = variance**0.5
    return stats.truncnorm(-U / 2 / sd, U / 2 / sd, loc=U / 2, scale=sd)


# sampler, law of a single sample, correlation of two samples of a user
LAWS = {
    "uniform": (ud.uniform_sums, stats.uniform(0, U), 0),
    "Gaussian, variance U/4": (ud.gaussian_sums, truncated(U / 4), 0),
    "Gaussian, deviation U/4": (
        partial(ud.gaussian_sums, variance=(U / 4) ** 2),
        truncated((U / 4) ** 2),
        0,
    ),
    "Gaussian, widest": (partial(ud.gaussian_sums, variance=U**2), truncated(U**2), 0),
    "Beta": (partial(ud.beta_sums, a=8, b=2), stats.beta(8, 2, scale=U), 0),
    "correlation 0": (partial(ud.correlated_sums, correlation=0), stats.uniform(0, U), 0),
    "correlation 1/4": (partial(ud.correlated_sums, correlation=0.25), stats.uniform(0, U), 0.25),
    "correlation 1": (partial(ud.correlated_sums, correlation=1), stats.uniform(0, U), 1),
}
every_law = pytest.mark.parametrize(
    ("sampler", "law", "correlation"), LAWS.values(), ids=LAWS.keys()
)


@every_law
def test_sums_have_the_mean_and_the_variance_of_their_law(sampler, law, correlation):
    n = 40_000
    sums = sampler(USERS, n, rng=1)
    assert sums.shape == (n, 4)
    assert sums.dtype == np.float64
    assert (sums >= 0).all()
    assert (sums <= U * USERS.counts * (1 + 1e-12)).all()
    m = USERS.counts
    variance = m * law.var() * (1 + (m - 1) * correlation)
    assert (np.abs(sums.mean(axis=0) - m * law.mean()) <= 6 * np.sqrt(variance / n)).all()
    # No law here has a kurtosis above that of a Gaussian by much: a tenth more would be noticed.
    assert (np.abs(sums.var(axis=0) / variance - 1) <= 6 * np.sqrt(2.5 / n)).all()


@every_law
def test_single_samples_follow_their_law_and_no_other(sampler, law, correlation):
    samples = sampler(ud.Contributions([1], U), 20_000, rng=2)[:, 0]
    assert stats.kstest(samples, law.cdf).pvalue > FALSE_ALARM
    assert stats.kstest(0.93 * samples, law.cdf).pvalue < FALSE_ALARM


@every_law
def test_users_and_datasets_are_independent(sampler, law, correlation):
    n = 40_000
    sums = sampler(USERS, n, rng=3)
    between_users = np.corrcoef(sums.T) - np.eye(4)
    assert np.abs(between_users).max() < 6 / np.sqrt(n)
    between_datasets = [np.corrcoef(column[:-1], column[1:])[0, 1] for column in sums.T]
    assert np.abs(between_datasets).max() < 6 / np.sqrt(n)


@every_law
def test_seeds_decide(sampler, law, correlation):
    first = sampler(USERS, 3, rng=5)
    np.testing.assert_array_equal(first, sampler(USERS, 3, rng=np.random.default_rng(5)))
    assert not np.array_equal(first, sampler(USERS, 3, rng=6))


@pytest.mark.parametrize("sampler", [ud.uniform_sums, LAWS["correlation 1/4"][0]])
def test_memory_does_not_grow_with_the_counts(sampler):
    users = ud.Contributions([10_000_000, 1], U)
    tracemalloc.start()
    sums = sampler(users, 2, rng=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6  # all samples at once would take 160 MB
    slack = 6 * U * np.sqrt(users.counts / 12)
    if sampler is ud.uniform_sums:
        assert (np.abs(sums - U / 2 * users.counts) <= slack).all()


def test_memory_holds_one_sample_at_a_time_where_it_must(monkeypatch):
    monkeypatch.setattr(samplers, "_BLOCK", 5)
    shapes = []

    def draw(shape):
        shapes.append(shape)
        return np.ones(shape)

    users = ud.Contributions([3, 3, 1], U)
    np.testing.assert_array_equal(samplers._add_up(users, 4, draw), [[3, 3, 1]] * 4)
    assert shapes == [(4, 1, 1)] + 3 * [(4, 2, 1)]
