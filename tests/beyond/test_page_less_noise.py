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


def mean_size(eps):
    return 0.5 / np.sinh(eps / 2)


@pytest.mark.parametrize("eps", BUDGETS)
def test_size_and_edges_of_the_staircase(eps):
    """An edge belongs to the lower step."""
    law, top = beyond.StaircaseNoise(eps), np.log(np.sinh(eps / 2))
    assert law.mean_size == pytest.approx(mean_size(eps), rel=1e-13)
    assert law.mean_size < 1 / eps
    edge = np.array([-law.gamma, law.gamma])
    for points, height in ((np.nextafter(edge, 0), top), (edge, top - eps), ([-1, 1], top - eps)):
        np.testing.assert_allclose(law.log_density(points), height, rtol=1e-12, atol=1e-12)


def steps(z, gamma):
    floor = abs(z) // 1
    return int(floor) + (abs(z) - floor >= gamma)


@given(fractions, st.lists(st.fractions(-1, 1, max_denominator=48), min_size=1, max_size=8))
def test_privacy_in_exact_arithmetic(eps, shifts):
    """No shift by at most one crosses more than one edge, also from an edge and by exactly one."""
    gamma = Fraction(beyond.StaircaseNoise(eps).gamma)
    corners = [sign * (i + gamma) for i in range(4) for sign in (-1, 1)]
    points = [Fraction(0), *corners, *(x + d for x in corners for d in shifts)]
    crossed = {
        abs(steps(x, gamma) - steps(x + d, gamma)) for x in points for d in [*shifts, -1, 1, gamma]
    }
    assert crossed <= {0, 1}
    assert 1 in crossed


@given(collections(), st.integers(1, 16), st.sampled_from([2, 7]))
def test_noise_of_any_mean_size(users, size, of):
    """Theorem thm-any-noise, checked at all kinks of the error; some 2w are whole numbers."""
    w, U = Fraction(size, of), users.upper
    v = [*sorted(users.largest_sums, reverse=True), *[0 * U] * 17]
    phi = {S: sum(max(x - S, 0) for x in v) / 2 + w * S for S in {*v}}
    minimisers = {S for S, value in phi.items() if value == min(phi.values())}
    k = ceil(2 * w)
    assert minimisers == ({v[k - 1], v[k]} if 2 * w == k else {v[k - 1]})
    assert min(phi.values()) == U * ud.sum_of_largest(users, 2 * w) / 2


@given(collections(), fractions)
def test_threshold_and_value_with_staircase_noise(users, eps):
    """The objective at all its kinks; the threshold is the largest minimiser."""
    w, law = mean_size(float(eps)), beyond.StaircaseNoise(eps)
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
def test_gain_of_the_staircase(users, eps):
    best = [float(beyond.optimal_error(users, LAWS[law](eps))) for law in ("laplace", "staircase")]
    bound = float(1 / eps) / mean_size(float(eps))
    gain = best[0] / best[1]
    assert 1 - 1e-12 <= gain <= bound * (1 + 1e-12)
    assert eps < 2 or gain == pytest.approx(bound, rel=1e-12)


def test_staircase_noise_lowers_the_error_by_at_most_the_stated_share():
    """For eps up to 1, rounded up. Two equal users attain it; the ratio of the errors is larger."""
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
def test_identity_of_the_lower_bound(law):
    """(1 - b) (E|Z| - w) / 2 is the integral of (y - gamma) delta(y), for any symmetric law."""
    for eps in BUDGETS[1:]:
        b, gamma = np.exp(-eps), beyond.StaircaseNoise(eps).gamma

        def integrand(y, b=b, gamma=gamma):
            before = np.where(y >= 1, np.exp(law.log_density(y - 1)), 0)
            return (y - gamma) * (np.exp(law.log_density(y)) - b * before)

        ends = np.unique(np.r_[np.arange(45), np.arange(45) + getattr(law, "gamma", 0)])
        left = oracle.integral(integrand, ends)
        right = (1 - b) * (float(law.mean_size) - mean_size(eps)) / 2
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
def test_divergence_of_laplace_noise_by_integration(order):
    assert PAGE.divergence(order, 1.7) == pytest.approx(laplace_divergence(order, 1.7), rel=1e-8)


def test_gaussian_noise_is_smaller_only_for_small_rho():
    """For a single number; the mean sizes of the two laws cross once."""
    sizes = []
    for rho in np.geomspace(0.01, 100, 400):
        laplace = beyond.LaplaceNoise(PAGE.laplace_for_zcdp(rho)).mean_size
        sizes.append((rho, beyond.GaussianNoise.zcdp(rho).mean_size < laplace))
    rhos, gaussian = np.transpose(sizes)
    last = np.flatnonzero(gaussian)[-1]
    assert np.all(gaussian[: last + 1])
    assert rhos[last] < 0.7523 < rhos[last + 1]


# Many equal users
@pytest.mark.parametrize(("K", "B"), [(2, 8), (3, 9), (4, 8), (5, 5)])
def test_one_user_leads_from_one_mean_to_the_next_except_in_a_small_share_of_cases(K, B):
    """Count the coupling of thm-many: the share that it leaves out is 1/B, or K/B for j = 1."""
    for k in range(K):
        for j in range(1, K):
            first, second = (PAGE.tuples(Fraction(i, K), K, B) for i in (k, k + j))
            arrive = {PAGE.moved(c, j) for c in first} & second
            assert arrive == {c for c in second if c[j - 1] > 1}
            assert len(first) - len(arrive) == sum(c[j - 1] == B for c in first)
            left_out = 1 - Fraction(len(arrive), len(second))
            assert left_out <= (Fraction(1, B) if j > 1 else Fraction(K, B))


def least_noise(K, eps, n_steps=12):
    """The smallest mean size of a law on multiples of 1/K that is private for shifts up to 1."""
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
def test_chain_and_limit_of_many_users_differ_by_cosh(eps):
    n = 10**9
    chain = n / (1 + cosh(eps) + n * sinh(eps))
    assert 1 / (2 * sinh(eps / 2)) / chain == pytest.approx(cosh(eps / 2), rel=1e-6)


def test_equal_users_inside_a_dataset_are_exact():
    """The dataset of cor-many: the heaviest have equal sums, all others 0."""
    x = [Fraction(1, 3), Fraction(1), Fraction(0)]
    assert PAGE.inside(x, [1, 7, 2, 3]) == [2 * x[0], 2 * x[1], 0, 0]
