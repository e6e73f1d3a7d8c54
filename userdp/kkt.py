"""Proof that a clipping is optimal: the linear program (8) and its KKT conditions (9)-(11).

The program minimises sum_l alpha_l + S / eps over alpha_l >= 0 and S >= 0 with
U m_l - 2 alpha_l <= S. Its multipliers are lambda_l for that constraint, mu_l for alpha_l >= 0 and
lambda_S for S >= 0. For a linear program the conditions are sufficient: a point that satisfies them
is a minimiser, however it was found.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Generic, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Real
from userdp.model import Contributions, Epsilon, Number, _as_bound, read_eps
from userdp.worstcase import threshold


class Solution(NamedTuple, Generic[Number]):
    """A point of the linear program (8) with multipliers, in the unit of the samples.

    The numbers are floats, or Fractions if the bound U is one.

    Attributes
    ----------
    alpha : ndarray, shape (L,)
        The sum of a over each user's samples.
    total_width : float or Fraction
        S, the largest total width of a user's intervals.
    lambda_users, mu_users : ndarray, shape (L,)
        Multipliers of U m_l - 2 alpha_l <= S, and of alpha_l >= 0.
    lambda_width : float or Fraction
        Multiplier of S >= 0.
    """

    alpha: npt.NDArray[Any]
    total_width: Number
    lambda_users: npt.NDArray[Any]
    mu_users: npt.NDArray[Any]
    lambda_width: Number


class KKTResiduals(NamedTuple):
    """Violation of each KKT condition by a `Solution`, and its duality gap; zeros prove optimality.

    Each entry is the largest violation of its kind, so a failure shows its cause.
    """

    primal_feasibility: Real
    dual_feasibility: Real
    stationarity: Real
    complementary_slackness: Real
    duality_gap: Real


def optimal_solution(users: Contributions[Number], eps: Epsilon) -> Solution[Number]:
    """Return the minimiser of Theorem III.1 with the repaired multipliers, which prove it.

    With T = T_eps > 0: lambda_l = 1/2 above T, (1/eps - n_above / 2) / n_ties for the users tied at
    T, and 0 below; lambda_S = 0. With T = 0: lambda_l = 1/2, lambda_S = 1/eps - L/2. In both cases,
    mu_l = 1 - 2 lambda_l.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon

    Returns
    -------
    Solution
        Exact if the bound is a Fraction.

    Raises
    ------
    TypeError, ValueError
        See `threshold`.

    Examples
    --------
    >>> optimal_solution(Contributions([4, 2, 2, 1], upper=1), eps=1).lambda_users
    array([0.5 , 0.25, 0.25, 0.  ])
    """
    printed = printed_solution(users, eps)
    ties = users.largest_sums == np.asarray(printed.total_width)
    if not ties.any():  # T_eps = 0
        return printed
    # The paper's lambda_S is divided equally among the users tied at T.
    lambda_of_ties = np.asarray(printed.lambda_width / int(ties.sum()))
    lambda_users = np.where(ties, lambda_of_ties, printed.lambda_users)
    return printed._replace(
        lambda_users=lambda_users,
        mu_users=1 - 2 * lambda_users,
        lambda_width=_as_bound(users, 0),
    )


def printed_solution(users: Contributions[Number], eps: Epsilon) -> Solution[Number]:
    """Return the same minimiser with the multipliers that the paper prints below (11).

    lambda_l = 1/2 and mu_l = 0 where alpha_l > 0, else lambda_l = 0 and mu_l = 1; condition (9)
    then determines lambda_S. If T_eps > 0, this lambda_S is positive, which violates complementary
    slackness.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon

    Returns
    -------
    Solution
        Exact if the bound is a Fraction.

    Raises
    ------
    TypeError, ValueError
        See `threshold`.

    Examples
    --------
    >>> printed_solution(Contributions([4, 2, 2, 1], upper=1), eps=1).lambda_width
    0.5
    """
    width = threshold(users, eps)
    alpha = users.surplus(width) / 2
    half = Fraction(1, 2) if users.is_exact else 0.5
    lambda_users = (alpha > 0) * np.asarray(half)
    lambda_width = 1 / read_eps(eps) - int(np.sum(alpha > 0)) * half
    multiplier = _as_bound(users, lambda_width)
    return Solution(alpha, width, lambda_users, 1 - 2 * lambda_users, multiplier)


def solve_lp(users: Contributions, eps: Epsilon) -> Solution[float]:
    """Solve the linear program (8) with HiGHS, independently of the theorem.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon

    Returns
    -------
    Solution
        The solver's minimiser and its multipliers, in floats. If the minimiser is not unique, it
        may differ from that of the theorem.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, or `eps` is not a privacy budget.
    ImportError
        If SciPy is missing.
    RuntimeError
        If the solver fails.

    Examples
    --------
    >>> solution = solve_lp(Contributions([4, 2, 1], upper=65), eps=1.5)
    >>> float(solution.total_width), solution.alpha.tolist()
    (130.0, [65.0, 0.0, 0.0])
    """
    check.instance("users", users, Contributions)
    need = "Solving the linear program needs scipy"
    optimize = check.load("scipy.optimize", need, "beyond")
    sparse = check.load("scipy.sparse", need, "beyond")
    n = users.n_users
    costs = np.append(np.ones(n), float(1 / read_eps(eps)))
    constraints = sparse.hstack([-2 * sparse.eye_array(n), np.full((n, 1), -1.0)])
    bounds = -users.largest_sums.astype(np.float64)
    result = optimize.linprog(costs, constraints, bounds, options={"maxiter": 1000 + 100 * n})
    if not result.success:
        raise RuntimeError(f"The linear program was not solved: {result.message}")
    x = result.x
    at_zero = result.lower.marginals  # multipliers of x >= 0
    return Solution(
        alpha=x[:n],
        total_width=float(x[n]),
        lambda_users=-result.ineqlin.marginals,
        mu_users=at_zero[:n],
        lambda_width=float(at_zero[n]),
    )


def kkt_certificate(
    users: Contributions, eps: Epsilon, solution: Solution | None = None
) -> KKTResiduals:
    """Check each KKT condition of the linear program (8), and the duality gap.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon
    solution : Solution, optional
        The point to check; by default `optimal_solution`.

    Returns
    -------
    KKTResiduals
        Largest violations: of the constraints of (8) and of the signs of the multipliers
        (feasibility), of (9) and (10) (stationarity), of (11) (complementary slackness); and the
        difference between the objective and the dual objective sum_l lambda_l U m_l. Exact if all
        numbers given are Fractions.

    Raises
    ------
    TypeError, ValueError
        If `users` or `solution` has another type, or `eps` is not a privacy budget.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=Fraction(65))
    >>> max(kkt_certificate(users, 1))
    Fraction(0, 1)
    >>> kkt_certificate(users, 1, printed_solution(users, 1)).complementary_slackness
    Fraction(65, 1)
    """
    check.instance("users", users, Contributions)
    inverse = 1 / read_eps(eps)
    if solution is None:
        solution = optimal_solution(users, eps)
    check.instance("solution", solution, Solution)
    alpha, width, lambda_users, mu_users, lambda_width = solution
    excess = users.largest_sums - 2 * alpha - np.asarray(width)
    dual = np.sum(lambda_users * users.largest_sums)
    return KKTResiduals(
        primal_feasibility=_largest(excess, -alpha, -width),
        dual_feasibility=_largest(-lambda_users, -mu_users, -lambda_width),
        stationarity=_largest(
            abs(lambda_width + np.sum(lambda_users) - inverse),
            abs(2 * lambda_users - (1 - mu_users)) / 2,
        ),
        complementary_slackness=_largest(
            abs(lambda_width * width), abs(lambda_users * excess), abs(mu_users * alpha)
        ),
        duality_gap=_largest(abs(np.sum(alpha) + width * inverse - dual)),
    )


def _largest(*violations: Any) -> Real:
    """Return the largest of 0, numbers and arrays; a Fraction if all of them are."""
    largest = max(np.max(np.asarray(violation)) for violation in violations)
    if isinstance(largest, Fraction):
        return max(largest, Fraction(0))
    return float(max(largest, 0.0))
