"""The page on staircase noise: its laws compared with definitions and quadrature."""

from fractions import Fraction
from itertools import product
from math import ceil, cosh, exp, sinh

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of, glued
from scipy import optimize, sparse
from scipy.integrate import quad
from scipy.optimize import brentq
from strategies import LAWS, collections, fractions

import userdp as ud
from userdp import beyond

PAGE = functions_of("less-noise", Fraction=Fraction, product=product, quad=quad, brentq=brentq)
BUDGETS = [0.05, 0.4, 1, 2.3, 6]


def mean_abs(eps):
    return 0.5 / np.sinh(eps / 2)


@pytest.mark.parametrize("eps", BUDGETS)
def test_mean_absolute_value_and_steps_of_the_staircase_agree_with_their_formulas(eps):
    """An edge belongs to the lower step."""
    law, top = beyond.StaircaseNoise(eps), np.log(np.sinh(eps / 2))
    assert law.mean_abs == pytest.approx(mean_abs(eps), rel=1e-13)
    assert law.mean_abs < 1 / eps
    edge = np.array([-law.gamma, law.gamma])
    for points, height in ((np.nextafter(edge, 0), top), (edge, top - eps), ([-1, 1], top - eps)):
        np.testing.assert_allclose(law.log_density(points), height, rtol=1e-12, atol=1e-12)


def steps(z, gamma):
    floor = abs(z) // 1
    return int(floor) + (abs(z) - floor >= gamma)


@given(fractions, st.lists(st.fractions(-1, 1, max_denominator=48), min_size=1, max_size=8))
def test_no_shift_by_at_most_one_crosses_more_than_one_edge_of_the_staircase(eps, shifts):
    """In exact arithmetic; some shifts start at an edge, and some are by exactly one."""
    gamma = Fraction(beyond.StaircaseNoise(eps).gamma)
    edges = [sign * (i + gamma) for i in range(4) for sign in (-1, 1)]
    points = [Fraction(0), *edges, *(x + d for x in edges for d in shifts)]
    crossed = {
        abs(steps(x, gamma) - steps(x + d, gamma)) for x in points for d in [*shifts, -1, 1, gamma]
    }
    assert crossed <= {0, 1}
    assert 1 in crossed


@given(collections(), st.integers(1, 16), st.sampled_from([2, 7]))
def test_the_theorem_for_any_noise_gives_all_minimisers_and_the_smallest_error(
    users, numerator, denominator
):
    """Theorem thm-any-noise, checked at all kinks of the error; some 2w are whole numbers."""
    w, U = Fraction(numerator, denominator), users.upper
    v = [*sorted(users.largest_sums, reverse=True), *[0 * U] * 17]
    phi = {S: sum(max(x - S, 0) for x in v) / 2 + w * S for S in {*v}}
    minimisers = {S for S, value in phi.items() if value == min(phi.values())}
    k = ceil(2 * w)
    assert minimisers == ({v[k - 1], v[k]} if 2 * w == k else {v[k - 1]})
    assert min(phi.values()) == U * ud.sum_of_largest(users, 2 * w) / 2


@given(collections(), fractions)
def test_threshold_and_smallest_error_with_staircase_noise_agree_with_their_definitions(users, eps):
    """The objective is evaluated at all its kinks."""
    w, law = mean_abs(float(eps)), beyond.StaircaseNoise(eps)
    v = [0, *users.largest_sums]
    phi = {S: sum(max(x - S, 0) for x in v) / 2 + w * S for S in v}
    T, clipping = beyond.threshold(users, law), beyond.optimal_clipping(users, law)
    assert phi[T] == min(phi.values())
    assert law.rank == ceil(2 * w)
    for error in (
        beyond.optimal_error(users, law),
        beyond.symmetric_error(users, T, law),
        beyond.worst_case_error(users, clipping, law),
    ):
        assert float(error) * users.total == pytest.approx(min(phi.values()), rel=1e-12)


@given(collections(), fractions)
def test_the_gain_of_the_staircase_is_at_most_the_ratio_of_the_mean_absolute_values(users, eps):
    """From eps = 2 on, it equals this ratio."""
    errors = [
        float(beyond.optimal_error(users, LAWS[law](eps))) for law in ("laplace", "staircase")
    ]
    bound = float(1 / eps) / mean_abs(float(eps))
    gain = errors[0] / errors[1]
    assert 1 - 1e-12 <= gain <= bound * (1 + 1e-12)
    assert eps < 2 or gain == pytest.approx(bound, rel=1e-12)


def test_staircase_noise_lowers_the_error_by_at_most_the_stated_share():
    """At eps = 1, two equal users attain the largest share; the page rounds it up."""
    attained = [
        1 - beyond.optimal_error(users, beyond.StaircaseNoise(1)) / ud.optimal_error(users, 1)
        for users in (ud.Contributions([3, 3], 1.0), ud.Contributions([2, 1, 1], 1.0))
    ]
    limit = 1 - 0.5 / np.sinh(0.5)
    assert attained[0] == pytest.approx(limit, rel=1e-12)
    assert attained[1] < limit
    stated = float(glued("less-noise")["noise-gain-1"].removesuffix(" %")) / 100
    assert limit <= stated < limit + 0.001 < 2 * np.sinh(0.5) - 1


@pytest.mark.parametrize("law", [beyond.LaplaceNoise(0.8), beyond.StaircaseNoise(1.3)])
def test_the_identity_behind_the_lower_bound_holds(law):
    """(1 - b) (E|Z| - w) / 2 is the integral of (y - gamma) delta(y), for any symmetric law."""
    for eps in BUDGETS[1:]:
        b, gamma = np.exp(-eps), beyond.StaircaseNoise(eps).gamma

        def integrand(y, b=b, gamma=gamma):
            before = np.where(y >= 1, np.exp(law.log_density(y - 1)), 0)
            return (y - gamma) * (np.exp(law.log_density(y)) - b * before)

        ends = np.unique(np.r_[np.arange(45), np.arange(45) + getattr(law, "gamma", 0)])
        left = oracle.integral(integrand, ends)
        right = (1 - b) * (float(law.mean_abs) - mean_abs(eps)) / 2
        assert left == pytest.approx(right, abs=1e-8)


def laplace_divergence(order, c):
    """Rényi divergence of two Laplace densities of scale 1, c apart, by eq-laplace-moment."""
    terms = np.log(order) + (order - 1) * c, np.log(order - 1) - order * c
    return (np.logaddexp(*terms) - np.log(2 * order - 1)) / (order - 1)


@given(st.floats(-2, 1.5), st.floats(-3, 3))
def test_laplace_noise_satisfies_zcdp_below_the_general_bound(log_eps, log_order):
    eps, order = 10.0**log_eps, 1 + 10.0**log_order
    rho = PAGE.laplace_zcdp(eps)
    assert rho < eps**2 / 2
    for c in (eps, 0.7 * eps):
        assert laplace_divergence(order, c) <= order * rho * (1 + 1e-9)
    assert laplace_divergence(1 + 1e-4, eps) == pytest.approx(rho, rel=0.01)  # no smaller rho
    assert PAGE.laplace_for_zcdp(rho) == pytest.approx(eps, rel=1e-6)


@pytest.mark.parametrize("order", [1.3, 2, 7])
def test_the_divergence_of_laplace_noise_agrees_with_integration(order):
    assert PAGE.divergence(order, 1.7) == pytest.approx(laplace_divergence(order, 1.7), rel=1e-8)


def test_gaussian_noise_is_smaller_only_for_small_rho():
    """For a single number; the mean absolute values of the two laws cross once."""
    comparisons = []
    for rho in np.geomspace(0.01, 100, 400):
        laplace = beyond.LaplaceNoise(PAGE.laplace_for_zcdp(rho)).mean_abs
        comparisons.append((rho, beyond.GaussianNoise.zcdp(rho).mean_abs < laplace))
    rhos, gaussian = np.transpose(comparisons)
    last = np.flatnonzero(gaussian)[-1]
    assert np.all(gaussian[: last + 1])
    assert rhos[last] < 0.7523 < rhos[last + 1]


# Many equal users
@pytest.mark.parametrize(("K", "B"), [(2, 8), (3, 9), (4, 8), (5, 5)])
def test_the_coupling_of_thm_many_leaves_out_only_a_small_share_of_cases(K, B):
    """Count the cases: the share left out is at most 1/B, or K/B for j = 1."""
    for k in range(K):
        for j in range(1, K):
            first, second = (PAGE.tuples(Fraction(i, K), K, B) for i in (k, k + j))
            reached = {PAGE.moved(c, j) for c in first} & second
            assert reached == {c for c in second if c[j - 1] > 1}
            assert len(first) - len(reached) == sum(c[j - 1] == B for c in first)
            left_out = 1 - Fraction(len(reached), len(second))
            assert left_out <= (Fraction(1, B) if j > 1 else Fraction(K, B))


def least_noise(K, eps, n_steps=12):
    """The smallest mean absolute value of noise on multiples of 1/K, eps-DP for shifts up to 1."""
    z = np.arange(-n_steps * K, n_steps * K + 1) / K
    pairs = [(i, i + s) for s in range(1, K + 1) for i in range(z.size - s)]
    pairs = np.array([*pairs, *((b, a) for a, b in pairs)])
    rows = np.arange(len(pairs))
    limits = sparse.csr_array(
        (
            np.r_[np.ones(rows.size), np.full(rows.size, -exp(eps))],
            (np.r_[rows, rows], pairs.T.ravel()),
        )
    )
    return optimize.linprog(
        abs(z), limits, np.zeros(rows.size), np.ones((1, z.size)), [1.0], method="highs"
    ).fun


@pytest.mark.parametrize("eps", [0.5, 1, 2])
def test_noise_on_finer_lattices_approaches_the_limit_for_many_equal_users(eps):
    """The last step of thm-many, by linear programs that do not assume the staircase."""
    limit = 1 / (2 * sinh(eps / 2))
    ratios = [least_noise(K, eps) / limit for K in (1, 2, 4, 8)]
    assert ratios == sorted(ratios)
    assert 0.97 < ratios[-1] <= 1 + 1e-6


@pytest.mark.parametrize("eps", [0.5, 1, 2])
def test_chain_and_limit_of_many_users_differ_by_the_factor_cosh_of_half_eps(eps):
    n = 10**9
    chain = n / (1 + cosh(eps) + n * sinh(eps))
    assert 1 / (2 * sinh(eps / 2)) / chain == pytest.approx(cosh(eps / 2), rel=1e-6)


def test_the_dataset_of_cor_many_has_the_sums_of_equal_users():
    """The n heaviest users have the sums of n users with m_(n) samples each, all others 0."""
    x = [Fraction(1, 3), Fraction(1), Fraction(0)]
    assert PAGE.inside(x, [1, 7, 2, 3]) == [2 * x[0], 2 * x[1], 0, 0]
