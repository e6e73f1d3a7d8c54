"""Worst-case error of clipped means, and the clipping that makes it smallest (Section III).

Throughout, neighbouring datasets differ in all samples of one user, and counts are public. Results
are floats, or exact Fractions where the bound U (and the intervals) are Fractions.
"""

from fractions import Fraction
from math import floor
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from userdp._checks import (
    Exact,
    check_instance,
    is_boolean,
    read_size,
    refuse_entries,
    refuse_type,
    refuse_value,
)
from userdp.budget import Epsilon, rank, read_eps
from userdp.model import Clipping, Contributions


def sensitivity(users: Contributions, clipping: Clipping | None = None) -> Exact:
    """Return the user-level sensitivity of the (clipped) sample mean: equations (6) and (14).

    It is max_l W_l / N, where W_l is the total width of the intervals of user l's samples: how far
    the mean can move when all samples of one user are replaced.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    clipping : Clipping, optional
        The intervals; without them nothing is clipped, and the sensitivity is U m* / N.

    Returns
    -------
    float or Fraction
        In the unit of the samples.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If the number of intervals is neither L nor N, or one exceeds U.

    Examples
    --------
    >>> sensitivity(Contributions([4, 1], upper=65))
    52.0
    """
    check_instance("users", users, Contributions)
    if clipping is None:
        return users.upper * users.max_count / users.total
    _check_fit(users, clipping)
    widths = _sum_per_user(users, clipping.upper - clipping.lower)
    return _scalar(users, np.max(widths)) / users.total


def worst_case_bias(users: Contributions, clipping: Clipping) -> Exact:
    """Return the largest bias of a clipped mean over all datasets: Lemma III.1, repaired.

    It is max(A, B) / N, with A the sum of a and B the sum of U - b over all samples: the bias is
    signed, so samples raised to their intervals offset those lowered to them. The supremum, over
    datasets in [0, U]^N, of the distance between the mean and the clipped mean.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    clipping : Clipping
        The intervals, one a user or one a sample.

    Returns
    -------
    float or Fraction
        In the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        As `sensitivity`.

    See Also
    --------
    printed_bias : the value that the paper prints, an upper bound.

    Examples
    --------
    >>> worst_case_bias(Contributions([2], upper=1), Clipping([0, 1], [0, 1]))
    0.5
    """
    below, above = _largest_residuals(users, clipping)
    return _scalar(users, max(np.sum(below), np.sum(above))) / users.total


def printed_bias(users: Contributions, clipping: Clipping) -> Exact:
    """Return equation (5) as the paper prints it: sum of max(a, U - b) over all samples, over N.

    An upper bound on `worst_case_bias`, equal to it exactly if a - (U - b) has one sign over all
    samples; the symmetric intervals of Theorem III.1 are such a case.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    clipping : Clipping
        The intervals, one a user or one a sample.

    Returns
    -------
    float or Fraction
        In the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        As `sensitivity`.

    Examples
    --------
    >>> printed_bias(Contributions([2], upper=1), Clipping([0, 1], [0, 1]))
    1.0
    """
    check_instance("users", users, Contributions)
    _check_fit(users, clipping)
    larger = np.maximum(clipping.lower, users.upper - clipping.upper)
    return _scalar(users, np.sum(_sum_per_user(users, larger))) / users.total


def worst_case_error(users: Contributions, clipping: Clipping, eps: Epsilon) -> Exact:
    """Return E = worst-case bias + sensitivity / eps: equation (3), with Lemma III.1 repaired.

    The second term is E|Z| of the Laplace noise Z that makes the release of the clipped mean
    user-level eps-DP (Theorem II.1).

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    clipping : Clipping
        The intervals, one a user or one a sample.
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Returns
    -------
    float or Fraction
        In the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        As `sensitivity`, and as `read_eps`.

    Examples
    --------
    >>> users = Contributions([2, 1], upper=1)
    >>> worst_case_error(users, optimal_clipping(users, 1), eps=1)
    0.5
    """
    budget = read_eps(eps)
    return worst_case_bias(users, clipping) + _divide(sensitivity(users, clipping), budget)


def threshold(users: Contributions, eps: Epsilon) -> Exact:
    """Return T_eps of Theorem III.1: the k-th largest U m_l, with k = ceil(2/eps); 0 if k > L.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Returns
    -------
    float or Fraction
        The largest total interval width of one user, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `users` is no Contributions; as `read_eps`.

    Examples
    --------
    >>> threshold(Contributions([4, 2, 1], upper=65), eps=1)
    130.0
    """
    check_instance("users", users, Contributions)
    k = rank(eps)
    return users.upper * (int(_largest_counts(users, k).min()) if k <= users.n_users else 0)


def optimal_clipping(users: Contributions, eps: Epsilon) -> Clipping:
    """Return the intervals of Theorem III.1, which minimise `worst_case_error` over the class B.

    All samples of user l are projected to the interval centred at U/2 of width min(U, T_eps/m_l).

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Returns
    -------
    Clipping
        One interval a user, shape (L,).

    Raises
    ------
    TypeError, ValueError
        As `threshold`.

    Examples
    --------
    >>> optimal_clipping(Contributions([4, 2, 1], upper=64), eps=1)
    Clipping(lower=array([16.,  0.,  0.]), upper=array([48., 64., 64.]))
    """
    total_width = threshold(users, eps)
    # As arrays, Fractions and floats divide and subtract alike.
    upper = np.asarray(users.upper)
    lower = (upper - np.minimum(upper, np.asarray(total_width) / users.counts)) / 2
    return Clipping(lower, upper - lower)


def optimal_error(users: Contributions, eps: Epsilon) -> Exact:
    """Return E_OPT(eps), the smallest worst-case error of a clipped mean, in closed form.

    E_OPT = (U / 2N) M(2/eps), with M(x) the fractional sum of the x largest counts; equation (12)
    of the paper, repaired. Computed in exact arithmetic, and rounded once where U is a float.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Returns
    -------
    float or Fraction
        In the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        As `threshold`.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=Fraction(65))
    >>> optimal_error(users, Fraction(1, 2)), optimal_error(users, 2)
    (Fraction(65, 2), Fraction(130, 7))
    """
    check_instance("users", users, Contributions)
    error = Fraction(users.upper) / (2 * users.total) * sum_of_largest(users, 2 / read_eps(eps))
    return error if users.is_exact else float(error)


def symmetric_error(users: Contributions, total_width: Exact, eps: Epsilon) -> Exact:
    """Return phi(S), the worst-case error of symmetric intervals of total width S.

    phi(S) = (1/N) [ sum_l (U m_l - S)^+ / 2 + S / eps ]: the objective of the linear program (8)
    once the alpha_l are chosen best. Convex and piecewise linear in S, smallest at `threshold`.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    total_width : float or Fraction
        S, the total width of the intervals of a user's samples (all of U m_l where that is less),
        at least 0, in the unit of the samples.
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Returns
    -------
    float or Fraction
        In the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `users` is no Contributions, or `total_width` not a finite number of at least 0; as
        `read_eps`.

    Examples
    --------
    >>> symmetric_error(Contributions([2, 1], upper=1), total_width=1, eps=1)
    0.5
    """
    check_instance("users", users, Contributions)
    budget = read_eps(eps)
    width = read_size("total_width", total_width, users.is_exact)
    bias = _scalar(users, np.sum(users.surplus(width))) / 2
    return (bias + _divide(width, budget)) / users.total


def sum_of_largest(users: Contributions, x: Fraction | int) -> Fraction:
    """Return M(x), the fractional sum of the x largest counts.

    The floor(x) largest counts, plus the fraction x - floor(x) of the next one; all of them if x
    exceeds the number of users. A concave, piecewise linear function of x.

    Parameters
    ----------
    users : Contributions
        The public counts.
    x : Fraction or int
        How many counts to add up, at least 0.

    Returns
    -------
    Fraction
        A number of samples.

    Raises
    ------
    TypeError
        If `users` is no Contributions, or `x` no Fraction or integer.
    ValueError
        If `x` is negative.

    Examples
    --------
    >>> sum_of_largest(Contributions([1, 4, 2], upper=65), Fraction(3, 2))
    Fraction(5, 1)
    """
    check_instance("users", users, Contributions)
    if is_boolean(x) or not isinstance(x, Rational):
        refuse_type("x", "a Fraction or an integer", x)
    if x < 0:
        refuse_value("x", "at least 0", x)
    if x >= users.n_users:
        return Fraction(users.total)
    whole = floor(x)
    largest = _largest_counts(users, whole + 1)
    last = int(largest.min())
    return int(largest.sum()) - last + last * Fraction(x - whole)


def _largest_counts(users: Contributions, n: int) -> NDArray[np.int64]:
    """Find the n largest counts, in no particular order, without sorting all of them."""
    return np.partition(users.counts, users.n_users - n)[users.n_users - n :]


def _largest_residuals(
    users: Contributions, clipping: Clipping
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return, for each user, the most that clipping can add to the sum of samples, and take off."""
    check_instance("users", users, Contributions)
    _check_fit(users, clipping)
    return (
        _sum_per_user(users, clipping.lower),
        _sum_per_user(users, users.upper - clipping.upper),
    )


def _check_fit(users: Contributions, clipping: Clipping) -> None:
    check_instance("clipping", clipping, Clipping)
    if clipping.lower.size not in (users.n_users, users.total):
        raise ValueError(
            f"`clipping` must hold one interval a user ({users.n_users}) or one a sample "
            f"({users.total}), got {clipping.lower.size} intervals."
        )
    refuse_entries(
        "clipping.upper",
        f"at most U = {users.upper}",
        clipping.upper,
        np.asarray(clipping.upper > np.asarray(users.upper), dtype=np.bool_),
    )


def _sum_per_user(users: Contributions, values: NDArray[Any]) -> NDArray[Any]:
    """Add up over each user's samples a quantity that is given once a user or once a sample."""
    sums: NDArray[Any]
    if values.size == users.n_users:
        sums = users.counts * values
    else:
        first_samples = np.concatenate(([0], np.cumsum(users.counts[:-1])))
        sums = np.add.reduceat(values, first_samples)
    return sums


def _scalar(users: Contributions, value: Any) -> Exact:
    return value if users.is_exact and isinstance(value, Fraction) else float(value)


def _divide(value: Exact, budget: Fraction) -> Exact:
    return value / budget if isinstance(value, Fraction) else value / float(budget)
