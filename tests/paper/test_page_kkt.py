"""Exercise 2 of the KKT page: when the multipliers are unique, in exact arithmetic."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from page_functions import functions_of, glued
from strategies import budgets, collections

import userdp as ud

PAGE = functions_of("kkt", Fraction=Fraction, combinations=combinations)
EXERCISE = ud.Contributions([4, 2, 2], Fraction(65))
TINY = Fraction(1, 10**9)


@given(collections().filter(lambda users: users.n_users <= 5), budgets(5))
@example(EXERCISE, Fraction(2, 3))
@example(EXERCISE, Fraction(1))
@example(ud.Contributions([1, 1], Fraction(1)), Fraction(2))
def test_multipliers_are_unique_iff_the_dual_has_one_optimal_corner(users, eps):
    """Compare the condition of thm-multipliers with all corners of the dual problem."""
    T, v = ud.threshold(users, eps), list(users.largest_sums)
    n_above, n_ties = sum(x > T for x in v), v.count(T)
    not_unique = T > 0 and n_ties >= 2 and 2 / eps < n_above + n_ties
    best = PAGE.best_corners(users, eps)
    assert (len(best) > 1) == not_unique
    solution = ud.optimal_solution(users, eps)
    if not not_unique:
        assert best == [tuple(solution.lambda_users)]
    for corner in best:  # each is a certificate of the same point
        duals = np.array(corner)
        slack = 1 / eps - sum(corner)
        other = solution._replace(lambda_users=duals, mu_users=1 - 2 * duals, lambda_width=slack)
        assert set(ud.kkt_certificate(users, eps, other)) == {0}


@pytest.mark.parametrize(
    ("eps", "not_unique"),
    [
        (Fraction(1, 100), False),
        (Fraction(1, 2), False),
        (Fraction(2, 3) - TINY, False),
        (Fraction(2, 3), False),
        (Fraction(2, 3) + TINY, True),
        (Fraction(4, 5), True),
        (Fraction(1), True),
        (Fraction(3, 2), True),
        (Fraction(2) - TINY, True),
        (Fraction(2), False),
        (Fraction(5), False),
    ],
)
def test_multipliers_of_the_exercise_are_unique_up_to_two_thirds_and_from_two_on(eps, not_unique):
    assert (len(PAGE.best_corners(EXERCISE, eps)) > 1) == not_unique
    assert glued("kkt")["kkt-unique"] == "ε ≤ 2/3 and for ε ≥ 2"
