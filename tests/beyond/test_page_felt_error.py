"""Mean absolute and mean square error, and by how much (3) overstates them, by definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of
from scipy.optimize import brentq
from scipy.special import lambertw
from strategies import LAWS, budgets, collections

import userdp as ud
from userdp import beyond

R_L1 = brentq(lambda r: np.exp(r) - r - 2, 0.5, 2)
LARGEST_RATIO = np.array([(R_L1 + 2) / (R_L1 + 1), 3.0])
LARGEST_SHARE = np.array([1 / (1 + R_L1), 1 / 3])
PAGE = functions_of("felt-error")

each_error = pytest.mark.parametrize("objective", ["l1", "mse"])


def error_of_bias(bias, scale, objective):
    """Mean absolute value, or mean square, of bias plus Laplace noise."""
    bias = abs(bias)
    if objective == "mse":
        return bias**2 + 2 * scale**2
    return bias + (scale * np.exp(-bias / scale) if scale > 0 else 0)


def by_definition(width, v, eps, objective):
    """N times the worst-case error of intervals with this total width; for "mse", its root."""
    error = error_of_bias(sum(max(x - width, 0) for x in v) / 2, width / eps, objective)
    return error if objective == "l1" else error**0.5


def random_instances(n, seed, largest=20):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        counts = rng.integers(1, largest, size=rng.integers(1, 15))
        yield ud.Contributions(counts, upper=1), 10 ** rng.uniform(-1.7, 1.3)


@each_error
def test_stated_errors_are_the_largest_over_corner_datasets(objective):
    for users, eps in random_instances(20, seed=2, largest=6):
        five_users = ud.Contributions(users.counts[:5], upper=1)
        width = beyond.threshold(five_users, eps, objective)
        corners = (
            np.array(list(product((-0.5, 0.5), repeat=five_users.n_users))) * five_users.counts
        )
        bias = (corners - np.clip(corners, -width / 2, width / 2)).sum(axis=1) / five_users.total
        largest = error_of_bias(bias, width / eps / five_users.total, objective).max()
        assert largest == pytest.approx(beyond.optimal_error(five_users, eps, objective), rel=1e-9)


@pytest.mark.parametrize("noise", ["laplace", "staircase"])
@each_error
def test_slope_changes_its_sign_only_at_the_threshold(objective, noise):
    """Uniqueness: the error falls to the left of the threshold and rises to its right."""
    for users, eps in random_instances(60, seed=4):
        width = beyond.threshold(users, LAWS[noise](eps), objective)
        left, right = np.linspace(width / 4, width, 15), np.linspace(width, users.max_count, 15)
        fall = [beyond.symmetric_error(users, S, LAWS[noise](eps), objective) for S in left]
        rise = [beyond.symmetric_error(users, S, LAWS[noise](eps), objective) for S in right]
        assert np.all(np.diff(fall) <= 1e-15)
        assert np.all(np.diff(rise) > 0)
        assert fall[0] > fall[-1]


def by_lambert(n, eps):
    omega = n * eps / 2
    return -1 - omega - lambertw(-omega * np.exp(-1 - omega), -1).real


@each_error
def test_threshold_is_the_best_stationary_point(objective):
    """Compare with the best of the points S_n of the theorems, computed by their closed forms."""
    for users, eps in random_instances(200, seed=5):
        v = np.append(np.sort(users.largest_sums)[::-1], 0)
        n = np.arange(1, v.size)
        x = {"l1": by_lambert(n, eps) / eps, "mse": 4 / (n * eps**2)}[objective]
        points = np.clip(np.cumsum(v[:-1]) / (n + 2 * x), v[1:], v[:-1])
        best = min(points, key=lambda S: by_definition(S, v, eps, objective))
        assert beyond.threshold(users, eps, objective) == pytest.approx(best, rel=1e-7)


@each_error
@given(users=collections(), eps=budgets())
def test_the_optimum_is_never_constant_and_always_clips(objective, users, eps):
    assert 0 < beyond.threshold(users, eps, objective) < users.upper * users.max_count


@given(collections(max_samples=40), budgets())
def test_the_papers_threshold_costs_at_most_rho_and_three(users, eps):
    """The ratios of mean absolute and of mean square errors, and when they are attained."""
    k, ordered = ud.rank(eps), sorted(users.counts, reverse=True)
    tie = 2 / eps == k <= users.n_users and ordered[k - 1] == ordered[0]
    next_share = ordered[k] / ordered[0] if k < users.n_users else 0
    cost = PAGE.cost(users, eps)
    assert np.all(cost <= LARGEST_RATIO * (1 + 1e-12))
    assert np.array_equal(cost > LARGEST_RATIO * (1 - 1e-10), tie & (next_share <= LARGEST_SHARE))
    guarantee = ud.symmetric_error(users, float(beyond.threshold(users, eps, "l1")), eps)
    assert guarantee <= LARGEST_RATIO[0] * float(ud.optimal_error(users, eps)) * (1 + 1e-12)


@given(st.floats(0, 100), st.floats(0.01, 100))
def test_bias_plus_noise_overstates_the_mean_absolute_error_by_at_most_rho(bias, scale):
    error = ud.noisy_error(bias, scale)
    assert error <= (bias + scale) * (1 + 1e-12) <= LARGEST_RATIO[0] * error * (1 + 1e-11)


@pytest.mark.parametrize("eps", [0.1, 1, 7])
def test_one_clipping_is_overstated_by_rho_and_the_unclipped_mean_not_at_all(eps):
    user, width = ud.Contributions([1], 65), 65 * eps / (eps + 2 * R_L1)
    for S, factor in ((width, LARGEST_RATIO[0]), (65, 1)):
        error, actual = (beyond.symmetric_error(user, S, eps, goal) for goal in ("bound", "l1"))
        assert error == pytest.approx(factor * actual)
