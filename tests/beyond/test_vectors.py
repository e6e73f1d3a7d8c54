"""Means of vectors in a ball of radius R: a scalar problem with U = 2R (thm-ball).

- A user's sum is shortened to half of a threshold T, in its direction (`clip_to_ball`).
- Noise is isotropic. For a budget its length is Gamma(d, T/eps), with density proportional to
  exp(-eps |z|/T); for a Gaussian law each coordinate is normal with standard deviation sigma T.
- T is the ceil(2w)-th largest U m_l, where w is the mean length of noise for sensitivity 1, and the
  worst-case error is U/(2N) H(2w). For a budget, w = d/eps: this is the scalar problem at
  eps/d (cor-ball-error). For a Gaussian law, w = sigma E chi_d (cor-gaussian-ball).
- The mean error on a dataset is the mean length of bias plus noise (lem-mean-length), at most the
  worst-case error; in one dimension it is `clipped_mean_error`.
- Very short and very long vectors are handled, and results do not depend on the unit.

test_privacy.py tests that a release spends exactly its budget.
"""

from math import ceil, exp, lgamma, log, sqrt

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from strategies import USERS, budgets, collections

import userdp as ud
from userdp import beyond
from userdp.beyond.vectors import _gamma_distance, _gaussian_distance

every_dimension = pytest.mark.parametrize("d", [1, 2, 3, 6])


@every_dimension
def test_clipping_limits_lengths_and_keeps_directions(d):
    rng = np.random.default_rng(d)
    vectors = rng.normal(size=(500, d)) * rng.exponential(size=(500, 1))
    clipped = beyond.clip_to_ball(vectors, 0.8)
    length = np.linalg.norm(vectors, axis=-1)
    np.testing.assert_allclose(np.linalg.norm(clipped, axis=-1), np.minimum(length, 0.8))
    np.testing.assert_allclose((clipped * vectors).sum(-1), np.minimum(length, 0.8) * length)
    np.testing.assert_array_equal(clipped[length < 0.8], vectors[length < 0.8])
    for radius in (0, 1e300):
        np.testing.assert_array_equal(beyond.clip_to_ball(np.zeros((2, d)), radius), 0)


@given(users=collections(), eps=budgets(), d=st.integers(1, 5))
def test_threshold_and_guarantee_of_a_budget_are_the_scalar_ones_at_eps_over_d(users, eps, d):
    assert beyond.ball_threshold(users, eps, d) == ud.threshold(users, eps / d)
    assert beyond.ball_error(users, eps, d) == ud.optimal_error(users, eps / d)
    assert type(beyond.ball_error(USERS, 1, d)) is float
    alike, eps = ud.Contributions(np.ones(49, int), 2), 2 / 49 * d  # rank 49, up to rounding
    assert (
        beyond.ball_threshold(alike, eps, d)
        == 2
        > beyond.ball_threshold(alike, eps * (1 - 1e-6), d)
    )


@given(users=collections(), sigma=st.floats(0.02, 3), d=st.integers(1, 30))
def test_threshold_and_guarantee_with_gaussian_noise(users, sigma, d):
    """The threshold is the best breakpoint for noise of this mean length."""
    law, w = beyond.GaussianNoise(sigma), sigma * stats.chi(d).mean()
    widths = [*sorted(users.largest_sums, reverse=True), *[0] * 200]
    errors = [float(sum(users.surplus(T)) / 2 + w * float(T)) / users.total for T in widths]
    assert beyond.ball_error(users, law, d) == pytest.approx(min(errors))
    T = beyond.ball_threshold(users, law, d)
    assert widths[ceil(2 * w) - 1] == T
    assert errors[widths.index(T)] == pytest.approx(min(errors))
    if d == 1:
        assert beyond.threshold(users, law) == T
        assert beyond.ball_error(users, law, 1) == pytest.approx(beyond.optimal_error(users, law))


@given(users=collections(), eps=budgets(), d=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_mean_is_clipped_at_half_of_the_threshold_and_its_noise_scaled_to_it(
    users, eps, d, seed
):
    T, rng = float(ud.threshold(users, eps / d)), np.random.default_rng(seed)
    sums = rng.uniform(-1, 1, (3, users.n_users, d)) / d**0.5
    sums *= float(users.upper) / 2 * users.counts[:, None]
    clipped = [[s * min(1, T / 2 / np.linalg.norm(s)) for s in rows] for rows in sums]
    release = beyond.mean_in_ball(sums, users, eps, rng=seed)
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(3, d))
    z *= (rng.gamma(d, T / float(eps), 3) / np.linalg.norm(z, axis=-1))[:, None]
    expected = (np.sum(clipped, axis=1) + z) / users.total
    message = f"sums should be clipped to T/2 = {T / 2}, with noise for T = {T}"
    np.testing.assert_allclose(release, expected, rtol=1e-9, atol=1e-9, err_msg=message)


def n_rejected(rows, law):
    return sum(stats.kstest(row, law).pvalue < 0.05 for row in rows)


@every_dimension
def test_noise_in_a_ball_has_gamma_length_and_uniform_direction(d):
    """With sums of 0 the release is pure noise: of scale 3, at the threshold 6 and eps = 2d."""
    user, zeros = ud.Contributions([1], upper=6), np.zeros((40, 5000, 1, d))
    z = beyond.mean_in_ball(zeros, user, 2 * d, rng=d) * d
    assert z.shape == (40, 5000, d)
    length, law = np.linalg.norm(z, axis=-1), stats.gamma(d, scale=3).cdf
    assert abs(length.mean() - 3 * d) < 5 * length.std() / length.size**0.5
    assert n_rejected(length, law) < 9
    assert n_rejected(1.1 * length, law) > 30
    direction = z / length[..., None]
    assert np.abs(direction.mean(axis=(0, 1))).max() < 5 / z[..., 0].size ** 0.5
    np.testing.assert_allclose((direction**2).mean(axis=(0, 1)), 1 / d, atol=0.01)


# The mean error on a dataset.
def test_mean_error_in_one_dimension_is_that_of_clipped_mean():
    users, sums = ud.Contributions([4, 2, 1], upper=2), np.array([[3.0], [-2.0], [0.5]])
    for eps in (1.0, beyond.GaussianNoise(1.1)):
        T = beyond.threshold(users, eps)
        scalar = beyond.clipped_mean_error(sums[:, 0] + users.counts, users, T, eps)
        assert beyond.ball_mean_error(sums, users, eps) == pytest.approx(scalar, rel=1e-12)
    assert beyond.ball_mean_error(sums, users, 0.1) == pytest.approx(1.5 / 7)


@pytest.mark.parametrize("eps", [2, beyond.GaussianNoise(0.7)])
def test_computed_mean_error_agrees_with_simulation_and_is_at_most_the_guarantee(eps):
    users, rng = ud.Contributions([5, 3, 1, 1], upper=2), np.random.default_rng(3)
    vectors = users.counts[:, None] * np.array([0.6, 0.0, 0.8])
    sums = np.array([vectors, vectors * rng.uniform(-1, 1, (4, 1)), np.zeros((4, 3))])
    errors = beyond.ball_mean_error(sums, users, eps)
    released = beyond.mean_in_ball(np.broadcast_to(sums, (50_000, 3, 4, 3)), users, eps, rng=rng)
    distances = np.linalg.norm(released - sums.sum(axis=1) / 10, axis=-1)
    np.testing.assert_array_less(
        abs(distances.mean(axis=0) - errors), 5 * distances.std(axis=0) / 50_000**0.5
    )
    assert errors[0] == errors.max() < beyond.ball_error(users, eps, 3)
    single_error = beyond.ball_mean_error(sums[0], users, eps)
    assert single_error.shape == ()
    assert single_error == pytest.approx(errors[0])


@pytest.mark.parametrize("d", [1, 2, 3, 20, 150, 1000])
@pytest.mark.parametrize("bias", [1e-3, 0.4, 1, 6, 10, 30])
def test_mean_length_of_bias_plus_gaussian_noise_is_that_of_a_mixture_of_chi_laws(d, bias):
    """The squared length is chi^2 with d + 2J degrees of freedom, J Poisson. (At d=150, bias=10,
    scipy's confluent hypergeometric function overflows.)"""
    x = bias**2 / 2
    j = np.arange(int(x + 40 * sqrt(x + 4)) + 40)
    expected = stats.poisson(x).pmf(j) @ stats.chi(d + 2 * j).mean()
    mean_length = _gaussian_distance(np.array(2 * bias), 2.0, d)
    assert mean_length == pytest.approx(2 * expected, rel=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 20, 150])
@pytest.mark.parametrize("bias", [0, 1e-3, 0.4, 1, 6, 150])
def test_mean_length_of_bias_plus_pure_noise_is_that_of_a_mixture_of_gaussian_laws(d, bias):
    """The noise is Gaussian with a random variance: twice a Gamma variable of shape (d+1)/2."""
    shape = (d + 1) / 2

    def weighted(w):
        density = exp((shape - 1) * log(w) - w - lgamma(shape))
        return density * _gaussian_distance(np.array(float(bias)), sqrt(2 * w), d)

    ends = [1e-300, 1e-6, 0.01, shape / 4, shape, 3 * shape + 40, 3 * shape + 400]
    mean_length = _gamma_distance(np.array(3.0 * bias), 3.0, d)
    assert mean_length == pytest.approx(3 * oracle.integral(weighted, ends), rel=3e-9)


def test_if_the_noise_is_negligible_the_mean_error_is_the_bias():
    for distance in (_gaussian_distance, _gamma_distance):
        errors = distance(np.array([1e300, 1e-300, 0.0]), 1e-300, 5)
        np.testing.assert_array_equal(errors[0], 1e300)
        assert errors[1] > errors[2] > 0
        np.testing.assert_array_equal(distance(np.array(1e300), 1e-30, 2), 1e300)


def test_in_many_dimensions_noise_adds_to_a_large_bias():
    for distance, noise in ((_gaussian_distance, 1e2), (_gamma_distance, 1e4)):
        mean_length = distance(np.array(1e5), 1.0, 10_000)
        assert mean_length == pytest.approx(np.hypot(1e5, noise), rel=1e-4)
        assert mean_length > 1e5 + 0.3 * noise**2 / 1e5


# Lengths near the ends of the range of floats.
@pytest.mark.parametrize(
    ("vector", "radius", "expected"),
    [
        ([1e-170, 0.0], 1e-200, [1e-200, 0.0]),
        ([3e-170, 4e-170], 5e-170, [3e-170, 4e-170]),
        ([3e200, 4e200], 5e150, [3e150, 4e150]),
        ([1.5e308, 1.5e308], 2**0.5, [1.0, 1.0]),
        ([5e-324, 0.0], 1e300, [5e-324, 0.0]),
        ([1e308, 0.0], 0, [0.0, 0.0]),
    ],
    ids=["tiny", "tiny and short", "huge", "longer than floats", "subnormal", "to nothing"],
)
def test_clipping_works_for_lengths_whose_squares_overflow_or_underflow(vector, radius, expected):
    clipped = beyond.clip_to_ball([vector, vector], radius)
    np.testing.assert_allclose(clipped, [expected] * 2, rtol=1e-15)


@pytest.mark.parametrize("unit", [1e-200, 1e160, 1e300], ids=["tiny", "large", "huge"])
def test_results_do_not_depend_on_the_unit_of_vectors(unit):
    """Releases, mean errors and refusals are the same in another unit."""
    sums = np.array([[3.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
    results = []
    for scale in (1.0, unit):
        users = ud.Contributions([4, 2, 1], upper=2 * scale)
        release = beyond.mean_in_ball(sums * scale, users, 2, rng=1)
        results.append([*release / scale, beyond.ball_mean_error(sums * scale, users, 2) / scale])
        with pytest.raises(ValueError, match="of length at most R m_l"):
            beyond.mean_in_ball(2 * sums * scale, users, 2)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


def test_each_vector_is_scaled_separately():
    """Very short and very long vectors in one table; and vectors without coordinates."""
    clipped = beyond.clip_to_ball([[3e-200, 4e-200], [3e200, 4e200], [0.0, 0.0]], 2.5e-200)
    shortened = [1.5e-200, 2e-200]
    np.testing.assert_allclose(clipped, [shortened, shortened, [0.0, 0.0]], rtol=1e-15)
    assert beyond.clip_to_ball(np.ones((2, 0)), 1).shape == (2, 0)


def test_vectors_longer_than_all_floats_are_refused():
    users = ud.Contributions([1], upper=1)
    with pytest.raises(ValueError, match="of length at most R m_l"):
        beyond.mean_in_ball([[1.5e308, 1.5e308]], users, 2)
