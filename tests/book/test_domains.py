"""Other ranges and vectors in a ball: the page's theorems."""

from fractions import Fraction
from itertools import product
from math import ceil, sqrt

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of
from scipy import stats
from strategies import budgets, collections, fractions

import userdp as ud

PAGE = functions_of("domains", rng=np.random.default_rng(1))

dimensions = st.integers(1, 5)
shares = st.fractions(min_value=0, max_value=1, max_denominator=12)


def unit_vector(rng, d):
    z = rng.normal(size=d)
    return z / np.linalg.norm(z)


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


def test_the_release_of_the_page_for_a_range():
    lo, hi, eps, counts = -20, 45, 1, np.array([6, 4, 2, 1, 1])
    sums = np.array([200.0, -70, 10, 44, -20])
    users = ud.Contributions(counts, upper=hi - lo)
    release = lo + ud.opt_worst_case(sums - lo * counts, users, eps, rng=2)
    kept = 12.5 * counts + np.clip(sums - 12.5 * counts, -130, 130)  # T = 4 * 65 = 260
    noise = np.random.default_rng(2).laplace(scale=260 / eps)
    assert release == pytest.approx((kept.sum() + noise) / 14)


@pytest.mark.parametrize("seed", range(60))
def test_no_estimator_is_below_the_frontier(seed):
    """Any values at all on the datasets of one line: their own sensitivity, their own bias."""
    rng = np.random.default_rng(seed)
    d, R, n = int(rng.integers(1, 4)), 5.0, int(rng.integers(1, 5))
    users = ud.Contributions(rng.integers(1, 7, size=n), upper=2 * R)
    u, T = unit_vector(rng, d), rng.uniform(0, 2 * R * users.max_count)
    where = {x: i for i, x in enumerate(product((-1, 0, 1), repeat=n))}
    sums = np.array([[s * R * m * u for s, m in zip(x, users.counts, strict=True)] for x in where])
    mean = sums.sum(axis=1) / users.total
    size = rng.choice([0, 1e-3, 0.1, 1])
    g = PAGE.radial_clip(sums, T / 2).sum(axis=1) / users.total + size * rng.normal(size=mean.shape)
    pairs = [
        (where[x], where[(*x[:i], other, *x[i + 1 :])])
        for x in where
        for i in range(n)
        for other in (-1, 0, 1)
    ]
    change = max(np.linalg.norm(g[a] - g[b]) for a, b in pairs)
    bias = np.linalg.norm(mean - g, axis=1).max()
    bound = ud.smallest_bias(users, change)
    assert bias >= bound - 1e-9
    if size == 0:
        assert bias == pytest.approx(bound)
        assert change == pytest.approx(T / users.total)


@pytest.mark.parametrize("seed", range(40))
def test_radial_clipping_attains_the_frontier_and_no_dataset_exceeds_it(seed):
    rng = np.random.default_rng(seed)
    d, R = int(rng.integers(1, 6)), 5.0
    users = ud.Contributions(rng.integers(1, 9, size=6), upper=2 * R)
    T = rng.uniform(0, 2.4 * R * users.max_count)
    reach = R * users.counts
    beta = np.maximum(reach - T / 2, 0).sum() / users.total
    delta = min(T, 2 * R * users.max_count) / users.total
    assert ud.smallest_bias(users, delta) == pytest.approx(beta, abs=1e-9)
    corner = reach[:, None] * unit_vector(rng, d)
    removed = corner - PAGE.radial_clip(corner, T / 2)
    assert np.linalg.norm(removed.sum(axis=0)) / users.total == pytest.approx(beta, abs=1e-9)
    heavy = corner[np.argmax(users.counts)]
    ends = [PAGE.radial_clip(x, T / 2) for x in (heavy, -heavy)]
    assert np.linalg.norm(ends[0] - ends[1]) / users.total == pytest.approx(delta)
    z = rng.normal(size=(500, 6, d))
    length = np.minimum(1, rng.uniform(0, 1.5, (500, 6, 1))) * reach[:, None]
    inside = length * z / np.linalg.norm(z, axis=-1, keepdims=True)
    kept = PAGE.radial_clip(inside, T / 2)
    bias = np.linalg.norm((inside - kept).sum(axis=1), axis=-1) / users.total
    assert bias.max() <= beta + 1e-9
    change = np.linalg.norm(kept[1:] - kept[:-1], axis=-1) / users.total
    assert change.max() <= delta + 1e-9
    # Lengths are those asked for, and directions stay.
    lengths = np.minimum(np.linalg.norm(inside, axis=-1), T / 2)
    np.testing.assert_allclose(np.linalg.norm(kept, axis=-1), lengths)
    np.testing.assert_allclose((kept * inside).sum(-1), lengths * np.linalg.norm(inside, axis=-1))


@given(users=collections(), eps=budgets(), d=dimensions)
def test_best_threshold_in_a_ball(users, eps, d):
    """Bias plus d Delta / eps over all breakpoints, exactly; the bound U is 2R."""
    counts, R = users.counts.tolist(), users.upper / 2
    widths = [Fraction(0), *(2 * R * m for m in counts)]
    errors = [
        (sum(max(R * m - T / 2, 0) for m in counts) + d * T / eps) / users.total for T in widths
    ]
    assert min(errors) == ud.optimal_error(users, eps / d)
    k = ceil(2 * d / eps)
    T = sorted(widths, reverse=True)[k - 1] if k <= len(counts) else 0
    assert ud.threshold(users, eps / d) == T
    assert errors[widths.index(T)] == min(errors)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_noise_in_a_ball_has_its_length_and_no_direction(d):
    rng = np.random.default_rng(d)
    z = PAGE.ball_noise((40, 5000), d, 3.0, rng)
    assert z.shape == (40, 5000, d)
    length = np.linalg.norm(z, axis=-1)
    assert abs(length.mean() - 3 * d) < 5 * length.std() / length.size**0.5
    law = stats.gamma(d, scale=3).cdf
    assert sum(stats.kstest(row, law).pvalue < 0.05 for row in length) < 9
    assert sum(stats.kstest(1.1 * row, law).pvalue < 0.05 for row in length) > 30
    direction = z / length[..., None]
    assert np.abs(direction.mean(axis=(0, 1))).max() < 5 / sqrt(z[..., 0].size)
    squares = (direction**2).mean(axis=(0, 1))
    np.testing.assert_allclose(squares, 1 / d, atol=0.01)


def test_noise_in_three_dimensions_has_the_marginal_of_its_density():
    """Integrating exp(-|z|) over two coordinates leaves 2 pi (1 + |x|) exp(-|x|)."""

    def law(x):
        half = 0.5 * (2 + np.abs(x)) * np.exp(-np.abs(x)) / 2
        return np.where(x < 0, half, 1 - half)

    z = PAGE.ball_noise((40, 5000), 3, 1.0, np.random.default_rng(7))
    for axis in range(3):
        rejected = sum(stats.kstest(row, law).pvalue < 0.05 for row in z[..., axis])
        assert rejected < 9
    assert sum(stats.kstest(1.1 * row, law).pvalue < 0.05 for row in z[..., 0]) > 20


class Recorder:
    """Takes the place of a generator: no noise, but its law is written down."""

    def normal(self, size):
        return np.ones(size)

    def gamma(self, shape, scale, size):
        self.law = shape, scale
        return np.zeros(size)


@given(users=collections(), eps=budgets(), d=dimensions, place=shares)
def test_the_mechanism_of_the_page(users, eps, d, place):
    """Clipped to T/2, noise of scale at least N Delta / eps, the certificate of the corollary."""
    R, recorder = float(users.upper / 2), Recorder()
    sums = R * users.counts[:, None] * unit_vector(np.random.default_rng(d), d) * float(place)
    release, certificate = PAGE.mean_in_ball(sums, users.counts, R, eps, recorder)
    T = float(ud.threshold(users, eps / d))
    kept = PAGE.radial_clip(sums, T / 2)
    np.testing.assert_allclose(release, kept.sum(axis=0) / users.total, atol=1e-12)
    assert recorder.law == (d, pytest.approx(T / float(eps)))
    assert certificate == pytest.approx(float(ud.optimal_error(users, eps / d)))
    bias = np.linalg.norm(release - sums.sum(axis=0) / users.total)
    assert bias + d * recorder.law[1] / users.total <= certificate + 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_the_density_of_a_release_changes_by_at_most_eps(seed):
    rng = np.random.default_rng(seed)
    d, R, eps = int(rng.integers(1, 5)), 3.0, rng.uniform(0.1, 4)
    counts = rng.integers(1, 8, size=5)
    T = rng.uniform(0.1, 1) * 2 * R * counts.max()
    first = R * counts[:, None] * rng.uniform(0, 1, (5, 1)) * unit_vector(rng, d)
    second, who = first.copy(), int(np.argmax(counts)) if seed % 2 else int(rng.integers(5))
    if seed % 2:
        first[who] = R * counts[who] * unit_vector(rng, d)
    second[who] = -first[who] if seed % 2 else R * counts[who] * unit_vector(rng, d)
    totals = [PAGE.radial_clip(s, T / 2).sum(axis=0) for s in (first, second)]
    y = totals[0] + PAGE.ball_noise((300,), d, T / eps, rng)
    y = np.vstack([y, 2 * totals[0] - totals[1]])
    log_density = [-eps / T * np.linalg.norm(y - total, axis=-1) for total in totals]
    ratio = np.abs(log_density[0] - log_density[1]).max()
    assert ratio <= eps * (1 + 1e-9)
    assert seed % 2 == 0 or ratio == pytest.approx(eps)


@pytest.mark.parametrize("seed", range(30))
def test_bias_and_sensitivities_of_clipping_coordinates(seed):
    """Random sums never exceed the proposition; those of its proof attain it."""
    rng = np.random.default_rng(seed)
    d, reach = int(rng.integers(1, 5)), 7.0  # R m of one user
    half = rng.uniform(0.05, 1.2) * reach
    bias = max(reach - half, 0)
    euclidean = min(sqrt(d) * 2 * half, 2 * reach)
    absolute = min(d * 2 * half, sqrt(d) * 2 * reach)
    z = rng.normal(size=(4000, d)) * rng.exponential(size=(4000, d))
    s = reach * z / np.linalg.norm(z, axis=-1, keepdims=True)
    kept = np.clip(s, -half, half)
    assert np.linalg.norm(s - kept, axis=-1).max() <= bias + 1e-9
    assert 2 * np.linalg.norm(kept, axis=-1).max() <= euclidean + 1e-9
    assert 2 * np.abs(kept).sum(axis=-1).max() <= absolute + 1e-9
    axis, diagonal = reach * np.eye(d)[0], np.full(d, reach / sqrt(d))
    assert np.linalg.norm(axis - np.clip(axis, -half, half)) == pytest.approx(bias)
    ends = np.clip(diagonal, -half, half) - np.clip(-diagonal, -half, half)
    assert np.linalg.norm(ends) == pytest.approx(euclidean)
    assert np.abs(ends).sum() == pytest.approx(absolute)
