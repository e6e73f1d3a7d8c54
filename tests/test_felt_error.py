"""The page on the felt error: theorems against definitions, solvers, the Lambert function."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar
from scipy.special import lambertw
from strategies import budgets, clippings, collections

import userdp as ud

FELT = ("l1", "mse")
R_L1 = brentq(lambda r: np.exp(r) - r - 2, 0.5, 2)
MOST = {"l1": (R_L1 + 2) / (R_L1 + 1), "mse": 3.0}
SMALLEST_SHARE = {"l1": 1 / (1 + R_L1), "mse": 1 / 3}


def objective_by_definition(width, v, eps, objective):
    """N times the worst-case error (for squares its root) of intervals of one total width."""
    bias = sum(max(x - width, 0) for x in v) / 2
    scale = width / eps
    if objective == "mse":
        return (bias**2 + 2 * scale**2) ** 0.5
    return bias + (scale * np.exp(-bias / scale) if scale > 0 else 0)


def random_instances(n, seed, largest=20):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        counts = rng.integers(1, largest, size=rng.integers(1, 15))
        yield ud.Contributions(counts, upper=1), 10 ** rng.uniform(-1.7, 1.3), rng


@given(st.data(), collections(), budgets())
def test_no_clipping_errs_less(data, users, eps):
    clipping = data.draw(clippings(users, per_sample=data.draw(st.booleans())))
    for objective in FELT:
        best = float(ud.optimal_error(users, eps, objective))
        error = float(ud.worst_case_error(users, clipping, eps, objective))
        assert best <= error * (1 + 1e-12) + 1e-15
        attained = ud.worst_case_error(
            users, ud.optimal_clipping(users, eps, objective), eps, objective
        )
        assert float(attained) == pytest.approx(best, rel=1e-12)


def test_no_weighted_sum_errs_less():
    """Estimators outside the class: bias and sensitivity follow from the weights."""
    closest = np.inf
    for users, eps, rng in random_instances(150, seed=1):
        v, N = users.largest_sums, users.total
        weights = np.minimum(1, rng.uniform(0.05, 1) * v.max() / v) / N
        weights = weights * rng.uniform(0.5, 1.2, v.size) ** rng.integers(0, 2)
        bias, scale = np.abs(1 / N - weights) @ v / 2, max(weights * v) / eps
        errors = {"l1": bias + scale * np.exp(-bias / scale), "mse": bias**2 + 2 * scale**2}
        for objective, error in errors.items():
            ratio = error / ud.optimal_error(users, eps, objective)
            assert ratio >= 1 - 1e-12
            closest = min(closest, ratio)
    assert closest < 1.01


def test_stated_errors_are_the_largest_over_corner_datasets():
    """Clip each corner dataset, integrate the error over the density of the noise."""
    for users, eps, _ in list(random_instances(400, seed=2, largest=6))[::20]:
        counts = users.counts[:5]
        few = ud.Contributions(counts, upper=1)
        for objective in FELT:
            width = ud.threshold(few, eps, objective)
            half = np.minimum(counts, width) / 2
            corners = np.array(list(product((-0.5, 0.5), repeat=counts.size))) * counts
            bias = (corners - np.clip(corners, -half, half)).sum(axis=1) / few.total
            scale, power = width / eps / few.total, {"l1": 1, "mse": 2}[objective]

            def integrand(z, d, scale=scale, power=power):
                return abs(d + z) ** power * np.exp(-abs(z) / scale) / (2 * scale)

            errors = []
            for d in np.unique(bias.round(12)):
                kink = float(np.clip(-d, -40 * scale, 40 * scale))
                ends = sorted({kink, *(scale * np.array([-40, -12, -4, 0, 4, 12, 40]))})
                pieces = pairwise(ends)
                errors.append(sum(quad(integrand, a, b, args=(d,))[0] for a, b in pieces))
            assert max(errors) == pytest.approx(ud.optimal_error(few, eps, objective), rel=1e-7)


@pytest.mark.parametrize("objective", FELT)
def test_threshold_by_brute_force(objective):
    for users, eps, _ in random_instances(120, seed=3):
        v = users.largest_sums

        def error(width, v=v, eps=eps):
            return objective_by_definition(width, v, eps, objective)

        grid = np.linspace(0, v.max(), 151)
        errors = [error(width) for width in grid]
        near = grid[np.argmin(errors)] + np.array([-1, 1]) * grid[1]
        found = minimize_scalar(error, bounds=near.clip(0, v.max()), method="bounded")
        width = ud.threshold(users, eps, objective)
        assert error(width) <= min(*errors, found.fun) * (1 + 1e-12)
        assert width == pytest.approx(found.x, abs=2e-4 * v.max())
        stated = ud.symmetric_error(users, width, eps, objective) * users.total
        assert error(width) == pytest.approx(
            stated if objective == "l1" else (stated * users.total) ** 0.5
        )


@given(collections(), budgets(), st.data())
def test_objectives_are_convex(users, eps, data):
    share = st.integers(0, 24)
    a, b = sorted(data.draw(st.tuples(share, share).filter(lambda pair: pair[0] != pair[1])))
    top = users.upper * users.max_count / 24
    v, eps = [float(x) for x in users.largest_sums], float(eps)
    for objective in FELT:
        left, middle, right = (
            objective_by_definition(float(top * x), v, eps, objective) for x in (a, (a + b) / 2, b)
        )
        assert middle <= (left + right) / 2 * (1 + 1e-14)


@pytest.mark.parametrize("noise", ["laplace", "staircase"])
def test_slope_changes_its_sign_at_the_threshold_alone(noise):
    """Uniqueness: errors fall strictly on the left of the threshold and rise on its right."""
    for users, eps, _ in random_instances(60, seed=4):
        for objective in FELT:
            width = ud.threshold(users, eps, objective, noise)
            top = users.largest_sums.max()
            left, right = np.linspace(width / 4, width, 15), np.linspace(width, top, 15)
            fall = [ud.symmetric_error(users, S, eps, objective, noise) for S in left]
            rise = [ud.symmetric_error(users, S, eps, objective, noise) for S in right]
            assert np.all(np.diff(fall) <= 1e-15)
            assert np.all(np.diff(rise) > 0)
            assert fall[0] > fall[-1]


def stationary(users, eps, objective):
    """The best of the points S_n of the theorems, each from its closed form."""
    v = np.append(np.sort(users.largest_sums)[::-1], 0)
    n = np.arange(1, v.size)
    omega = n * eps / 2
    r = -1 - omega - lambertw(-omega * np.exp(-1 - omega), -1).real
    x = {"l1": r / eps, "mse": 4 / (n * eps**2)}[objective]
    points = np.clip(np.cumsum(v[:-1]) / (n + 2 * x), v[1:], v[:-1])
    errors = [objective_by_definition(S, v, eps, objective) for S in points]
    return points[np.argmin(errors)]


@pytest.mark.parametrize("objective", FELT)
def test_threshold_is_a_fraction_where_the_bound_is_one(objective):
    counts = [4, 2, 1]
    exact = ud.threshold(ud.Contributions(counts, Fraction(65)), 1, objective)
    rounded = ud.threshold(ud.Contributions(counts, 65.0), 1, objective)
    assert isinstance(exact, Fraction)
    assert isinstance(rounded, float)
    assert float(exact) == rounded


@pytest.mark.parametrize("objective", FELT)
def test_threshold_is_the_best_stationary_point(objective):
    for users, eps, _ in random_instances(200, seed=5):
        expected = stationary(users, eps, objective)
        assert ud.threshold(users, eps, objective) == pytest.approx(expected, rel=1e-7)


def test_ratios_are_those_of_the_lambert_function():
    n = np.arange(1.0, 120)
    for eps in np.geomspace(0.005, 5, 40):
        law, omega = ud.LaplaceNoise(eps), n * eps / 2
        r = eps * law.best_ratio(n, "l1")
        by_lambert = -1 - omega - lambertw(-omega * np.exp(-1 - omega), -1).real
        np.testing.assert_allclose(omega * np.expm1(r), 1 + r, rtol=1e-9)
        np.testing.assert_allclose(r, by_lambert, rtol=1e-8)
        np.testing.assert_allclose(law.best_ratio(n, "mse"), 4 / (n * eps**2), rtol=1e-12)


def test_a_known_ratio():
    """At n eps = 2 the equation is e^r = r + 2, that of the first chapter."""
    assert 2 * ud.LaplaceNoise(2).best_ratio(np.array([1.0]), "l1")[0] == pytest.approx(R_L1)


def gain(users, eps, objective):
    at_T = ud.symmetric_error(users, ud.threshold(users, eps), eps, objective)
    return float(at_T) / float(ud.optimal_error(users, eps, objective))


@given(collections(), budgets())
def test_never_a_constant_and_always_clips(users, eps):
    for objective in FELT:
        width = ud.threshold(users, eps, objective)
        assert 0 < width < users.upper * users.max_count


@given(collections(max_samples=40), budgets())
def test_the_papers_threshold_costs_at_most_rho_and_three(users, eps):
    k, ordered = ud.rank(eps), sorted(users.counts, reverse=True)
    tie = 2 / eps == k <= users.n_users and ordered[k - 1] == ordered[0]
    for objective in FELT:
        cost = gain(users, eps, objective)
        rest = ordered[k] / ordered[0] if k < users.n_users else 0
        attained = tie and rest <= SMALLEST_SHARE[objective]
        assert cost <= MOST[objective] * (1 + 1e-12)
        assert (cost > MOST[objective] * (1 - 1e-10)) == attained


@pytest.mark.parametrize(
    ("counts", "eps"),
    [([7], 2), ([6, 2, 1], 2), ([5, 5, 1], 1), ([4] * 8, Fraction(1, 4)), ([9, 9, 9], "2/3")],
)
def test_the_largest_costs_are_attained(counts, eps):
    eps = Fraction(eps)
    for objective in FELT:
        cost = gain(ud.Contributions(counts, 65), eps, objective)
        assert cost == pytest.approx(MOST[objective], rel=1e-12)


def test_certificate_at_the_l1_threshold_is_at_most_rho_times_the_optimum():
    for users, eps, _ in random_instances(200, seed=6):
        bound = ud.symmetric_error(users, ud.threshold(users, eps, "l1"), eps)
        assert bound <= MOST["l1"] * ud.optimal_error(users, eps) * (1 + 1e-12)


def test_released_errors_are_those_that_are_stated():
    """`opt_worst_case` with another objective: mean distance and square on the worst dataset."""
    users, n = ud.Contributions([4, 2, 1], upper=65), 200_000
    sums = np.broadcast_to(users.largest_sums, (n, 3))
    for objective, power in (("l1", 1), ("mse", 2)):
        misses = ud.opt_worst_case(sums, users, 1, objective=objective, rng=7) - 65
        stated = ud.optimal_error(users, 1, objective)
        powers = np.abs(misses) ** power
        assert abs(powers.mean() - stated) < 5 * powers.std() / n**0.5
