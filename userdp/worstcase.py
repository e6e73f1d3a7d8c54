"""Worst-case error of clipped means, and the clipping that minimises it (Section III).

Neighbouring datasets may differ in all samples of one user. All functions take `users`, the public
counts and bound U; `clipping` holds the public intervals. `eps` is the privacy budget, read by
`read_eps`; `threshold` and `optimal_clipping` also round 2/eps as `rank` does. Errors are in the
unit of the samples. Results are Fractions if the bound and the intervals are Fractions, otherwise
floats (`sum_of_largest` is always a Fraction).
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from numbers import Rational
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Real
from userdp.model import (
    Clipping,
    Contributions,
    Epsilon,
    Number,
    _as_bound,
    _number_or_float,
    rank,
    read_eps,
)


@overload
def sensitivity(users: Contributions[Number], clipping: None = None) -> Number: ...
@overload
def sensitivity(users: Contributions[Number], clipping: Clipping) -> Number | float: ...
def sensitivity(users: Contributions, clipping: Clipping | None = None) -> Real:
    """Return the user-level sensitivity of the (clipped) sample mean: equations (6) and (14).

    It is max_l W_l / N, where W_l is the total width of the intervals of user l's samples: how far
    the mean can move if all samples of one user are replaced.

    Parameters
    ----------
    users : Contributions
    clipping : Clipping, optional
        If omitted, nothing is clipped, and the sensitivity is U m* / N.

    Returns
    -------
    float or Fraction

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the number of intervals is neither L nor N, or an interval exceeds U.

    Examples
    --------
    >>> sensitivity(Contributions([4, 1], upper=65))
    52.0
    """
    if clipping is None:
        check.instance("users", users, Contributions)
        return users.upper * users.max_count / users.total
    _check_fit(users, clipping)
    widths = _sum_per_user(users, clipping.upper - clipping.lower)
    return _number_or_float(users, np.max(widths)) / users.total


def worst_case_bias(users: Contributions[Number], clipping: Clipping) -> Number | float:
    """Return the largest bias of a clipped mean over all datasets: Lemma III.1, repaired.

    It is max(A, B) / N, where A is the sum over all samples of the lower ends a of their intervals,
    and B that of U - b, for the upper ends b: the bias has a sign, so samples that are raised to
    their intervals offset those that are lowered.

    Parameters
    ----------
    users : Contributions
    clipping : Clipping

    Returns
    -------
    float or Fraction

    Raises
    ------
    TypeError, ValueError
        See `sensitivity`.

    See Also
    --------
    printed_bias : the value that the paper prints, an upper bound.

    Examples
    --------
    >>> worst_case_bias(Contributions([2], upper=1), Clipping([0, 1], [0, 1]))
    0.5
    """
    _check_fit(users, clipping)
    raised = np.sum(_sum_per_user(users, clipping.lower))
    lowered = np.sum(_sum_per_user(users, users.upper - clipping.upper))
    return _number_or_float(users, max(raised, lowered)) / users.total


def printed_bias(users: Contributions[Number], clipping: Clipping) -> Number | float:
    """Return equation (5) as the paper prints it: (1/N) sum max(a, U - b) over all samples.

    It is an upper bound on `worst_case_bias`. The two are equal if and only if a - (U - b) is not
    positive for one sample and negative for another; for the symmetric intervals of Theorem III.1
    it is 0 for all samples.

    Parameters
    ----------
    users : Contributions
    clipping : Clipping

    Returns
    -------
    float or Fraction

    Raises
    ------
    TypeError, ValueError
        See `sensitivity`.

    Examples
    --------
    >>> printed_bias(Contributions([2], upper=1), Clipping([0, 1], [0, 1]))
    1.0
    """
    _check_fit(users, clipping)
    larger = np.maximum(clipping.lower, users.upper - clipping.upper)
    return _number_or_float(users, np.sum(_sum_per_user(users, larger))) / users.total


def worst_case_error(
    users: Contributions[Number], clipping: Clipping, eps: Epsilon
) -> Number | float:
    """Return the worst-case error of a clipped mean with Laplace noise: equation (3).

    It is the worst-case bias plus sensitivity / eps, the mean absolute value of the noise of
    Theorem II.1.

    Parameters
    ----------
    users : Contributions
    clipping : Clipping
    eps : Epsilon

    Returns
    -------
    float or Fraction

    Raises
    ------
    TypeError, ValueError
        See `sensitivity` and `read_eps`.

    Examples
    --------
    >>> users = Contributions([2, 1], upper=1)
    >>> worst_case_error(users, optimal_clipping(users, 1), eps=1)
    0.5
    """
    bias: Any = worst_case_bias(users, clipping)
    mean_sensitivity: Any = sensitivity(users, clipping)
    return _number_or_float(users, bias + mean_sensitivity / read_eps(eps))


def threshold(users: Contributions[Number], eps: Epsilon) -> Number:
    """Return T_eps of Theorem III.1: the ceil(2/eps)-th largest sum U m_l, or 0 if eps < 2/L.

    It is the total width of a user's intervals at which `symmetric_error` is smallest. If 2/eps is
    a whole number k < L, all widths from the (k+1)-th to the k-th largest sum are optimal; this is
    the largest of them.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon

    Returns
    -------
    float or Fraction
        In the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, or `eps` is not a privacy budget.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=65)
    >>> threshold(users, eps=1), threshold(users, eps=0.5)
    (130.0, 0.0)
    """
    check.instance("users", users, Contributions)
    return _nth_largest_sum(users, rank(eps))


def optimal_clipping(users: Contributions, eps: Epsilon) -> Clipping:
    """Return the intervals that minimise `worst_case_error`: Theorem III.1.

    The interval of user l is centred at U/2 and has the width min(U, T_eps / m_l).

    Parameters
    ----------
    users : Contributions
    eps : Epsilon

    Returns
    -------
    Clipping
        One interval per user, shape (L,).

    Raises
    ------
    TypeError, ValueError
        See `threshold`.

    Examples
    --------
    >>> clipping = optimal_clipping(Contributions([4, 2, 1], upper=64), eps=1)
    >>> clipping.lower, clipping.upper
    (array([16.,  0.,  0.]), array([48., 64., 64.]))
    """
    T = np.asarray(threshold(users, eps))  # noqa: N806 (the paper's letter)
    upper = np.asarray(users.upper)
    # These operations work on arrays of Fractions and of floats.
    half_widths = np.minimum(T / (2 * users.counts), upper / 2)
    return Clipping(upper / 2 - half_widths, upper / 2 + half_widths)


def optimal_error(users: Contributions[Number], eps: Epsilon) -> Number:
    """Return the smallest worst-case error, E_OPT = U H(2/eps) / (2N): equation (12), repaired.

    H is `sum_of_largest`. No estimator with Laplace noise scaled to its sensitivity, clipped or
    not, has a smaller worst-case error. The value is computed exactly, and rounded once if U is a
    float.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon

    Returns
    -------
    float or Fraction

    Raises
    ------
    TypeError, ValueError
        See `threshold`.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=Fraction(65))
    >>> optimal_error(users, Fraction(1, 2)), optimal_error(users, 2)
    (Fraction(65, 2), Fraction(130, 7))
    """
    sum_of_counts = sum_of_largest(users, 2 / read_eps(eps))
    upper: Real = users.upper
    return _as_bound(users, Fraction(upper) / (2 * users.total) * sum_of_counts)


def symmetric_error(
    users: Contributions[Number], total_width: Real, eps: Epsilon
) -> Number | float:
    """Return phi(S) = (1/N) [sum_l (U m_l - S)^+ / 2 + S / eps], a convex function of S.

    It is the worst-case error of symmetric intervals of total width S: the objective of the linear
    program (8) for optimal alpha_l. The noise is scaled to S even above U m*, where the intervals
    no longer grow.

    Parameters
    ----------
    users : Contributions
    total_width : float or Fraction
        S, finite and at least 0, in the unit of the samples.
    eps : Epsilon

    Returns
    -------
    float or Fraction

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, `total_width` is not a finite number of at least
        0, or `eps` is not a privacy budget.

    Examples
    --------
    >>> symmetric_error(Contributions([2, 1], upper=1), total_width=1, eps=1)
    0.5
    """
    check.instance("users", users, Contributions)
    width = check.nonnegative("total_width", total_width, users.is_exact)
    bias: Any = _symmetric_bias(users, width)
    mean_sensitivity: Any = width / users.total
    return _number_or_float(users, bias + mean_sensitivity / read_eps(eps))


def sum_of_largest(users: Contributions, x: Fraction | int) -> Fraction:
    """Return H(x), the number of samples of the x largest contributors.

    It is the sum of the floor(x) largest counts plus the fraction x - floor(x) of the next one; if
    x is at least the number of users, it is the sum of all counts. H is concave and piecewise
    linear.

    Parameters
    ----------
    users : Contributions
    x : Fraction or int
        At least 0.

    Returns
    -------
    Fraction

    Raises
    ------
    TypeError
        If `users` is not a Contributions instance, or `x` is not a Fraction or an integer.
    ValueError
        If `x` is negative.

    Examples
    --------
    >>> sum_of_largest(Contributions([1, 4, 2], upper=65), Fraction(3, 2))
    Fraction(5, 1)
    """
    check.instance("users", users, Contributions)
    if check.number("x", x, Rational, "a Fraction or an integer") < 0:
        check.refuse_value("x", "at least 0", x)
    if x >= users.n_users:
        return Fraction(users.total)
    n_whole = floor(x)
    # `largest` holds n_whole + 1 counts; the smallest is the one of which a fraction is added.
    largest = np.partition(users.counts, users.n_users - n_whole - 1)[users.n_users - n_whole - 1 :]
    next_count = int(largest.min())
    sum_of_whole = int(largest.sum()) - next_count
    return sum_of_whole + (Fraction(x) - n_whole) * next_count


def _nth_largest_sum(users: Contributions[Number], n: int) -> Number:
    """Return the n-th largest sum U m_l, or 0 if there are fewer users."""
    if n > users.n_users:
        return _as_bound(users, 0)
    counts, multiplicities = users.histogram
    cumulative = np.cumsum(multiplicities[::-1])
    count = int(counts[::-1][np.searchsorted(cumulative, n)])
    return _as_bound(users, users.upper * count)


def _symmetric_bias(users: Contributions[Number], width: Real) -> Number | float:
    """Return the worst-case bias of symmetric intervals, computed from the distinct counts."""
    counts, multiplicities = users.histogram
    upper: Any = users.upper
    surplus = Contributions(counts, upper).surplus(width)
    return _number_or_float(users, np.sum(multiplicities * surplus)) / 2 / users.total


def _check_fit(users: Contributions, clipping: Clipping) -> None:
    check.instance("users", users, Contributions)
    check.instance("clipping", clipping, Clipping)
    if clipping.lower.size not in (users.n_users, users.total):
        rule = f"hold one interval per user ({users.n_users}) or per sample ({users.total})"
        check.refuse("clipping", rule, f"{clipping.lower.size} intervals")
    ends = clipping.upper
    too_high = ends > np.asarray(users.upper)
    check.refuse_entries("clipping.upper", f"at most U = {users.upper}", ends, too_high)


def _sum_per_user(users: Contributions, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return each user's sum over its samples; `values` has one entry per user or per sample."""
    if values.size != users.n_users:
        return np.add.reduceat(values, np.cumsum(users.counts) - users.counts)
    return values * users.counts
