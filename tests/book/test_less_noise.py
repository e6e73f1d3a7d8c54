"""The page on less noise: laws of noise against definitions, quadrature, programs and draws."""

from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.integrate import quad
from scipy.optimize import linprog
from strategies import collections, fractions

import userdp as ud

LAWS = [ud.LaplaceNoise, ud.StaircaseNoise]
BUDGETS = [0.05, 0.4, 1, 2.3, 6]

every_law = pytest.mark.parametrize("law", LAWS, ids=["laplace", "staircase"])
every_budget = pytest.mark.parametrize("eps", BUDGETS)


def mean_size(eps):
    return 0.5 / np.sinh(eps / 2)


# Any noise


def kinks(users, w):
    """The objective at all its kinks, with enough users without samples."""
    v = [*sorted(users.largest_sums, reverse=True), *[Fraction(0)] * 20]
    return v, {S: sum(max(x - S, 0) for x in v) / 2 + w * S for S in v}


@given(collections(), st.one_of(fractions, st.integers(1, 14).map(lambda n: Fraction(n, 2))))
def test_value_and_minimisers_under_any_noise(users, w):
    v, phi = kinks(users, w)
    minimisers = {S for S, value in phi.items() if value == min(phi.values())}
    k = ceil(2 * w)
    assert minimisers == ({v[k - 1], v[k]} if 2 * w == k else {v[k - 1]})
    assert min(phi.values()) == users.upper * ud.sum_of_largest(users, 2 * w) / 2


@given(collections(), fractions)
def test_threshold_and_value_with_staircase_noise(users, eps):
    w, noise = mean_size(float(eps)), {"noise": "staircase"}
    _, phi = kinks(users, w)
    T = ud.threshold(users, eps, **noise)
    assert phi[T] == min(phi.values())
    assert ud.StaircaseNoise(eps).rank == ceil(2 * w)
    for error in (
        ud.optimal_error(users, eps, **noise),
        ud.symmetric_error(users, T, eps, **noise),
        ud.worst_case_error(users, ud.optimal_clipping(users, eps, **noise), eps, **noise),
    ):
        assert float(error) * users.total == pytest.approx(min(phi.values()), rel=1e-12)


@given(collections(), fractions)
def test_gain_of_the_staircase(users, eps):
    best = [float(ud.optimal_error(users, eps, noise=law)) for law in ("laplace", "staircase")]
    bound = float(1 / eps) / mean_size(float(eps))
    gain = best[0] / best[1]
    assert 1 - 1e-12 <= gain <= bound * (1 + 1e-12)
    assert eps < 2 or gain == pytest.approx(bound, rel=1e-12)


# The staircase


@every_budget
def test_size_and_edges_of_the_staircase(eps):
    """An edge belongs to the lower step."""
    law, top = ud.StaircaseNoise(eps), np.log(np.sinh(eps / 2))
    assert law.mean_size == pytest.approx(mean_size(eps), rel=1e-13)
    assert law.mean_size < 1 / eps
    edge = np.array([-law.gamma, law.gamma])
    for points, height in ((np.nextafter(edge, 0), top), (edge, top - eps), ([-1, 1], top - eps)):
        np.testing.assert_allclose(law.log_density(points), height, rtol=1e-12, atol=1e-12)


def steps(z, gamma):
    whole = abs(z) // 1
    return int(whole) + (abs(z) - whole >= gamma)


@given(fractions, st.lists(st.fractions(-1, 1, max_denominator=48), min_size=1, max_size=8))
def test_privacy_in_exact_arithmetic(eps, shifts):
    """On the edges, and at shifts of exactly one: no shift crosses more than one edge."""
    gamma = Fraction(ud.StaircaseNoise(eps).gamma)
    corners = [sign * (i + gamma) for i in range(4) for sign in (-1, 1)]
    points = [Fraction(0), *corners, *(x + d for x in corners for d in shifts)]
    crossed = {
        abs(steps(x, gamma) - steps(x + d, gamma)) for x in points for d in [*shifts, -1, 1, gamma]
    }
    assert crossed <= {0, 1}
    assert 1 in crossed


@every_law
def test_log_densities_change_by_at_most_eps(law):
    rng = np.random.default_rng(1)
    shifts = np.r_[rng.uniform(-1, 1, 300), -1, 1, 0]
    for eps in 10 ** rng.uniform(-1.3, 1, size=100):
        near = np.outer([-1, 1], np.arange(4) + ud.StaircaseNoise(eps).gamma).ravel()
        points = np.r_[near - 1e-9, near + 1e-9, rng.uniform(-5, 5, 30)][:, None]
        log_density = law(eps).log_density
        change = np.abs(log_density(points + shifts) - log_density(points))
        assert eps * (1 - 1e-6) <= change.max() <= eps * (1 + 1e-12)


@every_budget
def test_no_other_edge_is_better(eps):
    q2 = np.exp(-eps)

    def size(edge):
        inner = edge**2 / 2 + q2 * (1 - edge**2) / 2
        return q2 / (1 - q2) + inner / (edge + q2 * (1 - edge))

    law = ud.StaircaseNoise(eps)
    assert size(law.gamma) == pytest.approx(law.mean_size, rel=1e-12)
    others = np.linspace(0, 1, 1001)
    assert np.all(size(others) >= law.mean_size * (1 - 1e-13))
    assert abs(others[size(others).argmin()] - law.gamma) <= 1e-3


def smallest(eps, cells):
    """The densities that are constant on cells of a line and keep the promise: the best of them."""
    end = int(np.ceil(20 / eps)) * cells
    size = np.abs(np.arange(-end, end) + 0.5) / cells
    blocks = []
    for d in range(1, cells + 1):
        a, b = sparse.eye(size.size - d, size.size), sparse.eye(size.size - d, size.size, d)
        blocks += [a - np.exp(eps) * b, b - np.exp(eps) * a]
    promise, mass = sparse.vstack(blocks), np.ones((1, size.size))
    found = linprog(size, promise, np.zeros(promise.shape[0]), mass, [1], method="highs-ipm")
    assert found.success
    return found.fun, size, found.x * cells


@pytest.mark.parametrize("eps", [0.7, 1.5, 3, 5])
def test_no_noise_is_smaller_by_a_linear_program(eps):
    assert mean_size(eps) - 1e-6 <= smallest(eps, 12)[0] <= mean_size(eps) + 1 / 12


def test_the_best_noise_of_a_linear_program_is_the_staircase():
    """With the first edge at one of the cells, gamma = 1/4: the solver finds the law itself."""
    eps = 2 * np.log(3)
    best, size, density = smallest(eps, 4)
    assert best == pytest.approx(mean_size(eps), abs=1e-7)
    stairs = np.exp(ud.StaircaseNoise(eps).log_density(size[size < 4]))
    np.testing.assert_allclose(density[size < 4], stairs, atol=1e-5)


@pytest.mark.parametrize("law", [ud.LaplaceNoise(0.8), ud.StaircaseNoise(1.3)])
def test_identity_of_the_lower_bound(law):
    """(1 - b) (E|Z| - w) / 2 is the integral of (y - gamma) delta(y), for any symmetric law."""
    for eps in BUDGETS[1:]:
        b, gamma = np.exp(-eps), ud.StaircaseNoise(eps).gamma

        def integrand(y, b=b, gamma=gamma):
            before = np.where(y >= 1, np.exp(law.log_density(y - 1)), 0)
            return (y - gamma) * (np.exp(law.log_density(y)) - b * before)

        ends = np.unique(np.r_[np.arange(45), np.arange(45) + getattr(law, "gamma", 0)])
        left = sum(quad(integrand, *pair)[0] for pair in pairwise(ends))
        right = (1 - b) * (float(law.mean_size) - mean_size(eps)) / 2
        assert left == pytest.approx(right, abs=1e-8)
