"""Other ranges and vectors in a ball: the page's theorems."""

from itertools import product
from math import sqrt

import numpy as np
import oracle
import pytest
from hypothesis import given
from page_functions import functions_of
from strategies import budgets, collections, fractions

import userdp as ud


def page(seed):
    """The functions of the page, with random numbers of their own."""
    return functions_of("domains", rng=np.random.default_rng(seed))


@given(users=collections(max_samples=6), lo=fractions.map(lambda x: 3 - x), eps=budgets())
def test_any_range_has_the_error_of_its_length(users, lo, eps):
    """Sup of the bias over datasets in [lo, hi], for the intervals centred at (lo + hi)/2."""
    hi, counts = lo + users.upper, users.counts.tolist()
    reach = [ud.threshold(users, eps) / (2 * m) for m in counts]
    middle = (lo + hi) / 2
    ends = [(max(lo, middle - w), min(hi, middle + w)) for w in reach]
    residuals = [
        [m * (x - oracle.project(x, a, b)) for x in (lo, a, b, hi)]
        for m, (a, b) in zip(counts, ends, strict=True)
    ]
    bias = max(abs(sum(row)) for row in product(*residuals))
    noise = max(m * (b - a) for m, (a, b) in zip(counts, ends, strict=True)) / eps
    assert (bias + noise) / users.total == ud.optimal_error(users, eps)


@pytest.mark.parametrize("seed", range(60))
def test_no_estimator_is_below_the_frontier(seed):
    """Any values at all on the datasets of one line: their own sensitivity, their own bias."""
    rng = np.random.default_rng(seed)
    d, R, n = int(rng.integers(1, 4)), 5.0, int(rng.integers(1, 5))
    users = ud.Contributions(rng.integers(1, 7, size=n), upper=2 * R)
    u, T = page(seed).directions((), d), rng.uniform(0, 2 * R * users.max_count)
    sums = R * users.counts[:, None] * np.array([*product((-1, 0, 1), repeat=n)])[..., None] * u
    mean = sums.sum(axis=1) / users.total
    size = rng.choice([0, 1e-3, 0.1, 1])
    g = ud.vectors.clip_to_ball(sums, T / 2).sum(axis=1) / users.total
    g += size * rng.normal(size=mean.shape)
    grid = g.reshape(*[3] * n, d)  # an axis a user: shifted along it, each value meets the others
    change = max(np.linalg.norm(grid - np.roll(grid, 1, i), axis=-1).max() for i in range(n))
    bias, bound = np.linalg.norm(mean - g, axis=1).max(), ud.smallest_bias(users, change)
    assert bias >= bound - 1e-9
    if size == 0:
        assert bias == pytest.approx(bound)
        assert change == pytest.approx(T / users.total)


@pytest.mark.parametrize("seed", range(30))
def test_bias_and_sensitivities_of_clipping_coordinates(seed):
    """Random sums never exceed the proposition; those of its proof attain it."""
    rng = np.random.default_rng(seed)
    d, reach = int(rng.integers(1, 5)), 7.0  # R m of one user
    half = rng.uniform(0.05, 1.2) * reach
    z = rng.normal(size=(4000, d)) * rng.exponential(size=(4000, d))
    z[:2] = np.eye(d)[0], np.ones(d)
    s = reach * z / np.linalg.norm(z, axis=-1, keepdims=True)
    kept = np.clip(s, -half, half)
    assert np.linalg.norm(s - kept, axis=-1).max() == pytest.approx(max(reach - half, 0))
    euclidean, absolute = (2 * np.linalg.norm(kept, order, axis=-1).max() for order in (2, 1))
    assert euclidean == pytest.approx(min(sqrt(d) * 2 * half, 2 * reach))
    assert absolute == pytest.approx(min(d * 2 * half, sqrt(d) * 2 * reach))
