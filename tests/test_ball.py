"""Radial clipping, and a noise with a density of length alone."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from strategies import budgets, collections

import userdp as ud


def test_budgets_of_any_kind_are_read_as_the_rank_reads_them():
    """2d/eps is 49 up to rounding, and so is the number of users."""
    users = ud.Contributions(np.ones(49, int), upper=2)
    for eps in (2 / 49, "0.5", Fraction(1, 2)):
        release = ud.mean_in_ball(np.zeros((49, 1)), users, eps, rng=0)
        assert np.any(release)
        np.testing.assert_array_equal(
            release, ud.mean_in_ball(np.zeros((49, 1)), users, float(Fraction(eps)), rng=0)
        )
    assert not np.any(ud.mean_in_ball(np.zeros((49, 1)), users, 2 / 49 * (1 - 1e-6), rng=0))


ALONE = ud.Contributions([1], upper=6)  # of a single user all is noise
EVERY_LENGTH = pytest.mark.parametrize("d", [1, 2, 3, 6])


def noise(d, seed, shape=(40, 5000)):
    """Noise of scale 3: of one user, whose threshold is the diameter 6 at eps = 2d."""
    return ud.mean_in_ball(np.zeros((*shape, 1, d)), ALONE, 2 * d, rng=seed) * d


def rejected(rows, law):
    return sum(stats.kstest(row, law).pvalue < 0.05 for row in rows)


@EVERY_LENGTH
def test_lengths_are_those_asked_for_and_directions_stay(d):
    rng = np.random.default_rng(d)
    vectors = rng.normal(size=(500, d)) * rng.exponential(size=(500, 1))
    kept = ud.clip_to_ball(vectors, 0.8)
    length = np.linalg.norm(vectors, axis=-1)
    np.testing.assert_allclose(np.linalg.norm(kept, axis=-1), np.minimum(length, 0.8))
    np.testing.assert_allclose((kept * vectors).sum(-1), np.minimum(length, 0.8) * length)
    np.testing.assert_array_equal(kept[length < 0.8], vectors[length < 0.8])
    np.testing.assert_array_equal(ud.clip_to_ball(np.zeros((2, d)), 0), np.zeros((2, d)))


@EVERY_LENGTH
def test_noise_in_a_ball_has_its_length_and_no_direction(d):
    z = noise(d, d)
    assert z.shape == (40, 5000, d)
    length, law = np.linalg.norm(z, axis=-1), stats.gamma(d, scale=3).cdf
    assert abs(length.mean() - 3 * d) < 5 * length.std() / length.size**0.5
    assert rejected(length, law) < 9
    assert rejected(1.1 * length, law) > 30
    direction = z / length[..., None]
    assert np.abs(direction.mean(axis=(0, 1))).max() < 5 / z[..., 0].size ** 0.5
    np.testing.assert_allclose((direction**2).mean(axis=(0, 1)), 1 / d, atol=0.01)


@given(users=collections(), eps=budgets(), d=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_mean_is_clipped_at_half_of_the_threshold_and_its_noise_scaled_to_it(
    users, eps, d, seed
):
    T, rng = float(ud.threshold(users, eps / d)), np.random.default_rng(seed)
    sums = rng.uniform(-1, 1, (3, users.n_users, d)) / d**0.5
    sums *= float(users.upper) / 2 * users.counts[:, None]
    kept = [[s * min(1, T / 2 / np.linalg.norm(s)) for s in rows] for rows in sums]
    release = ud.mean_in_ball(sums, users, eps, rng=seed)
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(3, d))
    z *= (rng.gamma(d, T / float(eps), 3) / np.linalg.norm(z, axis=-1))[:, None]
    expected = (np.sum(kept, axis=1) + z) / users.total
    np.testing.assert_allclose(release, expected, rtol=1e-9, atol=1e-9)
