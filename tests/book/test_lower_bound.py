"""What no mechanism can beat: the bound, its factor, the bracket and the certificates."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_functions import BOOK, functions_of
from scipy import optimize, sparse
from strategies import budgets, collections

import userdp as ud

CERTIFICATES = pd.read_csv(BOOK / "data" / "lower-bound-certificates.csv")
PAGE = functions_of("lower-bound", math=math, Fraction=Fraction, ends=20, certificates=CERTIFICATES)
A = 2 * math.log(1 + math.sqrt(2))
KAPPA = (2 + math.sqrt(2)) / math.log(1 + math.sqrt(2))
ROUNDING = 1 + 1e-12
SOLVER = 1e-6

wide_budgets = st.floats(-4, 2.5).map(lambda power: 10**power)
proof_budgets = st.sampled_from([c / n for c in (A, 2.0, 7 / 3) for n in range(1, 9)])
all_budgets = st.one_of(wide_budgets, proof_budgets, st.sampled_from([2 * A, 3.5]))


def slow_bound(counts, upper, eps):
    """Equation (eq-minimax) for every group of users, not only the largest of each size."""
    best = 0.0
    for size in range(1, len(counts) + 1):
        x = float(eps) * size
        unlike = max(1 / (1 + math.exp(x)), 1 / (2 * (1 + math.exp(x / 2))))
        groups = itertools.combinations(counts, size)
        best = max(best, *(float(upper) * sum(g) / sum(counts) * unlike for g in groups))
    return best


def smallest_risk(inputs, outputs, truths, eps, neighbours):
    """The least risk of a finite mechanism, with one privacy constraint a pair and output.

    truths[x] holds the means that belong to the input x.
    """
    X, Y = len(inputs), len(outputs)
    entries, n_rows = [], 0  # row, column, value
    for x, other in itertools.permutations(range(X), 2):
        if neighbours(inputs[x], inputs[other]):
            for y in range(Y):
                entries.append((n_rows, x * Y + y, 1.0))
                entries.append((n_rows, other * Y + y, -math.exp(eps)))
                n_rows += 1
    for x in range(X):
        for truth in truths[x]:
            entries += [(n_rows, x * Y + i, abs(y - truth)) for i, y in enumerate(outputs)]
            entries.append((n_rows, X * Y, -1.0))
            n_rows += 1
    row, column, value = zip(*entries, strict=True)
    A = sparse.csr_matrix((value, (row, column)), shape=(n_rows, X * Y + 1))
    total = sparse.csr_matrix(np.hstack([np.kron(np.eye(X), np.ones(Y)), np.zeros((X, 1))]))
    goal = np.append(np.zeros(X * Y), 1)
    options = {"method": "highs-ipm"}
    return optimize.linprog(goal, A, np.zeros(n_rows), total, np.ones(X), **options).fun


def bracket(counts, eps, g):
    """Both ends of prp-bracket for U = 1, in fractions of the range."""
    N, L = sum(counts), len(counts)
    outputs = [k / (N * g) for k in range(N * g + 1)]

    def mean(x):
        return sum(m * i for m, i in zip(counts, x, strict=True)) / (N * g)

    def neighbours(x, z):
        return sum(a != b for a, b in zip(x, z, strict=True)) == 1

    points = list(itertools.product(range(g + 1), repeat=L))
    cells = list(itertools.product(range(g), repeat=L))
    low = smallest_risk(points, outputs, [[mean(x)] for x in points], eps, neighbours)
    ends = [[mean(x), mean(x) + 1 / g] for x in cells]
    return low, smallest_risk(cells, outputs, ends, eps, neighbours)


@given(collections(), st.one_of(budgets(), all_budgets))
def test_bound_is_the_formula_over_all_groups_and_no_mechanism_of_the_book_beats_it(users, eps):
    bound = ud.minimax_lower_bound(users, eps)
    expected = slow_bound(users.counts.tolist(), users.upper, eps)
    assert bound == pytest.approx(expected, rel=1e-12)
    for noise in ("laplace", "staircase"):
        assert bound <= ud.optimal_error(users, eps, "l1", noise) * ROUNDING


@given(st.floats(0.01, 6), st.floats(-0.5, 1.5))
def test_flat_density(eps, y):
    """The mean distance from y, were the density as concentrated around y as it may be."""
    q = math.exp(eps)

    def spread(y, reach):
        ends = (0.0, y - reach, y, y + reach, 1.0)
        pieces = itertools.pairwise(sorted(min(max(p, 0.0), 1.0) for p in ends))
        mass = moment = 0.0
        for low, high in pieces:  # on each the density is constant and the distance linear
            middle = (low + high) / 2
            weight = (q if abs(middle - y) < reach else 1.0) * (high - low)
            mass, moment = mass + weight, moment + weight * abs(middle - y)
        return moment / mass

    bound = 1 / (2 * (1 + math.sqrt(q)))
    assert min(spread(y, reach) for reach in [*np.linspace(0, 1.5, 61), bound]) >= bound - 1e-12
    assert spread(0.5, bound) == pytest.approx(bound, rel=1e-12)


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 5), min_size=5, max_size=5).filter(any),
    st.floats(0.1, 4),
)
def test_a_certificate_bounds_every_finite_mechanism(weights, eps):
    """lem-prior against the linear program: random priors, nu = r pi with the largest r."""
    pi, places = np.array(weights) / sum(weights), np.linspace(0, 1, 5)
    q = math.exp(eps)
    gaps = np.abs(places[:, None] - places)

    def smallest_sum(r, gaps=gaps):
        u = pi[:, None] * (gaps - r)
        return np.minimum(u, q * u).sum(axis=0).min()

    r = optimize.brentq(smallest_sum, 0, 1, xtol=1e-13) if smallest_sum(0) > 0 else 0.0
    everywhere = np.abs(places[:, None] - np.linspace(-0.3, 1.3, 321))
    assert smallest_sum(r, everywhere) >= -1e-9
    outputs = np.linspace(0, 1, 9)
    truths = [[place] for place in places]
    risk = smallest_risk(places, outputs, truths, eps, lambda x, z: True)
    assert r <= risk + SOLVER


@pytest.mark.parametrize("counts", [(1, 1), (2, 1), (3, 1)])
@pytest.mark.parametrize("eps", [0.4, 1.1, 2.5])
def test_one_user_with_the_budget_of_a_group(counts, eps):
    """lem-one-user, where samples are on a grid on both sides."""
    low, _ = bracket(counts, eps, 2)
    for n in (1, 2):
        one, _ = bracket((1,), n * eps, 2)
        assert low >= sum(sorted(counts)[-n:]) / sum(counts) * one - SOLVER


@given(collections(), all_budgets)
def test_factor_of_laplace_and_staircase_noise(users, eps):
    bound = ud.minimax_lower_bound(users, eps) * ROUNDING
    laplace = float(ud.optimal_error(users, eps))
    staircase = float(ud.optimal_error(users, eps, noise="staircase"))
    assert staircase <= KAPPA * bound
    if eps <= 2 * A:
        assert laplace <= KAPPA * bound
    else:
        assert staircase <= (1 + math.sqrt(2)) * bound
    if eps >= 2:
        waste = 2 * math.sinh(eps / 2) / eps
        assert laplace == pytest.approx(waste * staircase, rel=1e-9)


@settings(max_examples=50)
@given(collections())
def test_factor_is_met_at_its_end(users):
    bound = ud.minimax_lower_bound(users, 2 * A)
    assert float(ud.optimal_error(users, 2 * A)) == pytest.approx(KAPPA * bound, rel=1e-12)
    further = ud.optimal_error(users, 2 * A * 1.001) / ud.minimax_lower_bound(users, 2 * A * 1.001)
    assert further > KAPPA


@pytest.mark.parametrize(("counts", "eps"), [((1,), 0.5), ((1,), 2.0), ((1, 1), 1.0)])
def test_bracket_closes(counts, eps):
    coarse, fine = bracket(counts, eps, 2), bracket(counts, eps, 4)
    users = ud.Contributions(counts, 1.0)
    assert max(coarse[0], ud.minimax_lower_bound(users, eps)) <= fine[1] + SOLVER
    assert coarse[0] <= fine[0] + SOLVER  # the grid of 4 contains that of 2
    assert fine[1] <= coarse[1] + SOLVER
    for (low, high), g in ((coarse, 2), (fine, 4)):
        assert low - SOLVER <= high <= low + 1 / g + SOLVER
        assert low <= ud.optimal_error(users, eps, "l1", "staircase") + SOLVER


def exponential_from_above(x, n=40):
    """A fraction above e^x, 0 <= x < n: the series, its rest by a geometric one."""
    terms = [Fraction(1)]
    for i in range(1, n):
        terms.append(terms[-1] * x / i)
    return sum(terms) + terms[-1] * x / (n - x)


@cache
def certificates():
    """The page's proved lower bound of R_1 for each budget, where its q is above e^eps indeed."""
    proved = {Fraction(name): PAGE.certified(Fraction(name)) for name in {*CERTIFICATES.budget}}
    for eps in proved:
        assert Fraction(math.exp(eps)) * (1 + Fraction(1, 2**40)) >= exponential_from_above(eps)
    return proved


def test_certificates_prove_three():
    """Equation (eq-three): together the steps cover both intervals."""
    proved, step = certificates(), Fraction(1, 24)
    for start, end in ((Fraction(7, 6), Fraction(2)), (Fraction(7, 3), Fraction(7, 2))):
        y = start
        while y < end:
            assert 3 * y * proved[y + step] >= 1
            y += step
        assert y == end
    assert 6 * proved[Fraction(7, 3)] >= 1


def test_certificates_are_below_the_upper_end_of_the_bracket():
    for budget in (Fraction(5, 4), Fraction(7, 3), Fraction(7, 2)):
        low, high = bracket((1,), float(budget), 8)
        assert low - 0.02 <= certificates()[budget] <= high + SOLVER


@settings(max_examples=50)
@given(collections(), all_budgets)
def test_three_is_enough(users, eps):
    """The certified bound of all group sizes together, against the optimum."""
    bound = 0.0
    largest = sorted(users.counts.tolist(), reverse=True)
    for n in range(1, users.n_users + 1):
        usable = [r for budget, r in certificates().items() if budget >= n * eps]
        share = float(users.upper) * sum(largest[:n]) / users.total
        bound = max(bound, share * float(max(usable, default=0)))
    bound = max(bound, ud.minimax_lower_bound(users, eps))
    assert float(ud.optimal_error(users, eps, noise="staircase")) <= 3 * bound * ROUNDING
    if eps <= 3.5:
        assert float(ud.optimal_error(users, eps)) <= 3 * bound * ROUNDING


@pytest.mark.parametrize(("counts", "g"), [((1,), 24), ((2, 1), 6)])
def test_table_by_all_pairs(counts, g):
    data = pd.read_csv(BOOK / "data" / "lower-bound-tight.csv")
    row = data[(data.counts == "+".join(map(str, counts))) & (data.eps == 0.5)]
    expected = bracket(counts, 0.5, g)
    assert (row.low.item(), row.high.item()) == pytest.approx(expected, abs=SOLVER)
