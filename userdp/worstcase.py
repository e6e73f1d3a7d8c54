"""Worst-case error of clipped means, and the clipping that makes it smallest (Section III).

Throughout, neighbouring datasets differ in all samples of one user, and counts are public. Results
are floats, or exact Fractions where the bound U (and the intervals) are Fractions.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import floor
from numbers import Rational
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Exact
from userdp.model import Clipping, Contributions, Number, _as_bound, _read_centre, _scalar
from userdp.noise import Budget, Noise, NoiseName, Objective, _read_noise, _read_objective


@overload
def sensitivity(users: Contributions[Number], clipping: None = None) -> Number: ...
@overload
def sensitivity(users: Contributions[Number], clipping: Clipping) -> Number | float: ...
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
    if clipping is None:
        check.instance("users", users, Contributions)
        return users.upper * users.max_count / users.total
    _check_fit(users, clipping)
    widths = _sum_per_user(users, clipping.upper - clipping.lower)
    return _scalar(users, np.max(widths)) / users.total


def worst_case_bias(users: Contributions[Number], clipping: Clipping) -> Number | float:
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
    _check_fit(users, clipping)
    raised = np.sum(_sum_per_user(users, clipping.lower))
    lowered = np.sum(_sum_per_user(users, users.upper - clipping.upper))
    return _scalar(users, max(raised, lowered)) / users.total


def _centred_bias(
    users: Contributions[Number], total_width: Exact, centre: Exact
) -> Number | float:
    """Return `worst_case_bias` of `centred_clipping`, looking at each different count once."""
    sizes, n_users = users.histogram
    upper: Any = users.upper  # of either kind, as the new users' bound is
    one_of_each = Contributions(sizes, upper)
    clipping = centred_clipping(one_of_each, total_width, centre)
    raised = np.sum(n_users * _sum_per_user(one_of_each, clipping.lower))
    lowered = np.sum(n_users * _sum_per_user(one_of_each, users.upper - clipping.upper))
    return _scalar(users, max(raised, lowered)) / users.total


def printed_bias(users: Contributions[Number], clipping: Clipping) -> Number | float:
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
    _check_fit(users, clipping)
    larger = np.maximum(clipping.lower, users.upper - clipping.upper)
    return _scalar(users, np.sum(_sum_per_user(users, larger))) / users.total


def worst_case_error(
    users: Contributions[Number],
    clipping: Clipping,
    eps: Budget,
    objective: Objective = "bound",
    noise: NoiseName = "laplace",
) -> Number | float:
    """Return the worst-case error of a clipped mean with noise that makes it user-level eps-DP.

    With the worst-case bias of Lemma III.1 (repaired) and noise Z scaled to the sensitivity:

    - "bound": bias + E|Z|, the measure of the paper, equation (3);
    - "l1": the largest mean absolute error over all datasets, E|bias + Z|;
    - "mse": the largest mean square error over all datasets, bias^2 + E Z^2.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    clipping : Clipping
        The intervals, one a user or one a sample.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of Z itself, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    objective : {"bound", "l1", "mse"}, optional
        Which of these errors.
    noise : {"laplace", "staircase"}, optional
        The law of Z at this budget, `LaplaceNoise` (Theorem II.1) or `StaircaseNoise`; left out
        where `eps` is a law itself.

    Returns
    -------
    float or Fraction
        In the unit of the samples, or its square for "mse". Exact where the bound U is a Fraction
        and the noise Laplace, but for "l1".

    Raises
    ------
    TypeError, ValueError
        As `sensitivity`, and as `read_eps`; if `objective` or `noise` is no such name.

    Examples
    --------
    >>> users = Contributions([2, 1], upper=1)
    >>> worst_case_error(users, optimal_clipping(users, 1), eps=1)
    0.5
    """
    objective = _read_objective(objective)
    law = _read_noise(noise, eps)
    bias = worst_case_bias(users, clipping)
    change = sensitivity(users, clipping)
    return _scalar(users, law.worst_case(bias, change, objective))


def threshold(
    users: Contributions[Number],
    eps: Budget,
    objective: Objective = "bound",
    noise: NoiseName = "laplace",
) -> Number:
    """Return the total width S of a user's intervals at which `symmetric_error` is smallest.

    For the defaults that is T_eps of Theorem III.1: the k-th largest U m_l, with k = ceil(2/eps),
    or 0 if k > L. For other noise k = ceil(2 E|Z|), with E|Z| at sensitivity 1. For the other
    objectives it is the best of the stationary points S_n = n U M / (n + 2 x_n), clamped, where n
    users are clipped, M is the mean of their counts and x_n the best ratio of bias to sensitivity.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of its noise, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    objective : {"bound", "l1", "mse"}, optional
        Which worst-case error is to be small: bias + E|noise|, the mean absolute error, or the
        mean square error.
    noise : {"laplace", "staircase"}, optional
        The law of the noise at this budget; left out where `eps` is a law itself.

    Returns
    -------
    float or Fraction
        In the unit of the samples; the largest one, where several are best. Exact for "bound"; for
        the others a Fraction, where the bound is one, stands for a rounded number.

    Raises
    ------
    TypeError, ValueError
        If `users` is no Contributions; as `read_eps`; if `objective` or `noise` is no such name.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=65)
    >>> threshold(users, eps=1), round(threshold(users, eps=1, objective="l1"), 3)
    (130.0, 90.859)
    """
    check.instance("users", users, Contributions)
    objective = _read_objective(objective)
    law = _read_noise(noise, eps)
    if objective != "bound":
        return _as_bound(users, _stationary_width(users, law, objective))
    if law.rank > users.n_users:
        return _as_bound(users, 0)
    return _as_bound(users, users.upper * _nth_largest_count(users, law.rank))


def _stationary_width(users: Contributions, law: Noise, objective: Objective) -> float:
    """Find the width at which a strictly convex objective is smallest, over all its pieces.

    There is a piece for each distinct count. The stationary point of a piece that ends below the
    minimum lies above the piece; that of a later one does not. So the piece is found by halving.
    """
    sizes, n_users = users.histogram
    # How many users lie above the lower end of each piece, and what they contribute.
    above = np.cumsum(n_users[::-1])[::-1].astype(np.float64)
    largest = float(users.upper) * np.append(0.0, sizes)
    total = np.cumsum((largest[1:] * n_users)[::-1])[::-1]

    def stationary(piece: int) -> float:
        n = above[piece]
        ratio = float(law.best_ratio(np.array([n]), objective)[0])
        return float(total[piece] / (n + 2 * ratio))

    def is_reached(piece: int) -> bool:
        return stationary(piece) <= float(largest[piece + 1])

    piece = bisect_left(range(sizes.size - 1), True, key=is_reached)
    return float(np.clip(stationary(piece), largest[piece], largest[piece + 1]))


def optimal_clipping(
    users: Contributions, eps: Budget, objective: Objective = "bound", noise: NoiseName = "laplace"
) -> Clipping:
    """Return the intervals that minimise `worst_case_error` over the class B: Theorem III.1.

    All samples of user l are projected to the interval centred at U/2 of width min(U, S/m_l), with
    S = `threshold`. For each objective and noise no estimator at all has a smaller worst-case
    error, if its noise is of this law, scaled to its sensitivity, and its release not projected.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of its noise, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    objective : {"bound", "l1", "mse"}, optional
        Which worst-case error is to be small: bias + E|noise|, the mean absolute error, or the
        mean square error.
    noise : {"laplace", "staircase"}, optional
        The law of the noise at this budget; left out where `eps` is a law itself.

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
    >>> clipping = optimal_clipping(Contributions([4, 2, 1], upper=64), eps=1)
    >>> clipping.lower, clipping.upper
    (array([16.,  0.,  0.]), array([48., 64., 64.]))
    """
    return centred_clipping(users, threshold(users, eps, objective, noise))


def centred_clipping(
    users: Contributions, total_width: Exact, centre: Exact | None = None
) -> Clipping:
    """Return intervals of one total width S around one centre: [c - S/2m, c + S/2m] within [0, U].

    Clipping the average of user l to its interval is the same as centring the user's samples at c
    and clipping their sum to [-S/2, S/2], one interval for all users.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    total_width : float or Fraction
        S, finite and at least 0, in the unit of the samples.
    centre : float or Fraction, optional
        c, a public guess of the mean in [0, U]; U/2 without it, the best in the worst case.

    Returns
    -------
    Clipping
        One interval a user, shape (L,).

    Raises
    ------
    TypeError, ValueError
        If `users` is no Contributions, `total_width` not a finite number of at least 0, or
        `centre` not one from 0 to U.

    Examples
    --------
    >>> clipping = centred_clipping(Contributions([4, 1], upper=10), total_width=8, centre=7)
    >>> clipping.lower, clipping.upper
    (array([6., 3.]), array([ 8., 10.]))
    """
    check.instance("users", users, Contributions)
    number = Fraction if users.is_exact else float
    width = number(check.size("total_width", total_width, users.is_exact))
    middle = np.asarray(number(_read_centre(users, centre)))
    # As arrays, Fractions and floats divide and subtract alike.
    reach = np.asarray(width) / (2 * users.counts)
    upper = np.asarray(users.upper)
    return Clipping(np.maximum(middle - reach, 0 * upper), np.minimum(middle + reach, upper))


@overload
def optimal_error(
    users: Contributions[Number],
    eps: Budget,
    objective: Literal["bound"] = "bound",
    noise: NoiseName = "laplace",
) -> Number: ...
@overload
def optimal_error(
    users: Contributions[Number], eps: Budget, objective: Objective, noise: NoiseName = "laplace"
) -> Number | float: ...
def optimal_error(
    users: Contributions, eps: Budget, objective: Objective = "bound", noise: NoiseName = "laplace"
) -> Exact:
    """Return the smallest worst-case error of any estimator with noise of the given law.

    For the defaults this is E_OPT(eps) = (U / 2N) H(2/eps), with H(x) the fractional sum of the x
    largest counts: equation (12) of the paper, repaired. For other noise H(2 E|Z|). Computed in
    exact arithmetic, and rounded once where U is a float. For the other objectives it is
    `symmetric_error` at `threshold`, the smallest of releases that are not projected.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of its noise, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    objective : {"bound", "l1", "mse"}, optional
        Which worst-case error is to be small: bias + E|noise|, the mean absolute error, or the
        mean square error.
    noise : {"laplace", "staircase"}, optional
        The law of the noise at this budget; left out where `eps` is a law itself.

    Returns
    -------
    float or Fraction
        In the unit of the samples, or its square for "mse".

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
    if _read_objective(objective) != "bound":
        width = threshold(users, eps, objective, noise)
        return symmetric_error(users, width, eps, objective, noise)
    return _as_bound(users, _least_error(users, _read_noise(noise, eps).mean_size))


def _least_error(users: Contributions, mean_size: Exact) -> Fraction:
    """Return (U / 2N) H(2w), the smallest worst-case error with noise of mean size w."""
    largest = sum_of_largest(users, 2 * Fraction(mean_size))
    return Fraction(users.upper) / (2 * users.total) * largest


def symmetric_error(
    users: Contributions[Number],
    total_width: Exact,
    eps: Budget,
    objective: Objective = "bound",
    noise: NoiseName = "laplace",
) -> Number | float:
    """Return phi(S), the worst-case error of symmetric intervals of total width S.

    For the defaults phi(S) = (1/N) [ sum_l (U m_l - S)^+ / 2 + S / eps ]: the objective of the
    linear program (8) once the alpha_l are chosen best. Convex in S, for every objective and noise.
    Noise is scaled to S, also beyond U m*, where the intervals do not grow any more.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    total_width : float or Fraction
        S, the total width of the intervals of a user's samples (all of U m_l where that is less),
        at least 0, in the unit of the samples.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of its noise, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    objective : {"bound", "l1", "mse"}, optional
        Which worst-case error is to be small: bias + E|noise|, the mean absolute error, or the
        mean square error.
    noise : {"laplace", "staircase"}, optional
        The law of the noise at this budget; left out where `eps` is a law itself.

    Returns
    -------
    float or Fraction
        In the unit of the samples, or its square for "mse".

    Raises
    ------
    TypeError, ValueError
        If `users` is no Contributions, or `total_width` not a finite number of at least 0; as
        `read_eps`; if `objective` or `noise` is no such name.

    Examples
    --------
    >>> symmetric_error(Contributions([2, 1], upper=1), total_width=1, eps=1)
    0.5
    """
    check.instance("users", users, Contributions)
    objective = _read_objective(objective)
    law = _read_noise(noise, eps)
    width = check.size("total_width", total_width, users.is_exact)
    sizes, n_users = users.histogram  # each different count is looked at once
    upper: Exact = users.upper
    surplus = Contributions(sizes, upper).surplus(width)
    bias = _scalar(users, np.sum(n_users * surplus)) / 2
    return _scalar(users, law.worst_case(bias / users.total, width / users.total, objective))


def projected_error(
    users: Contributions, total_width: Exact, eps: Budget, noise: NoiseName = "laplace"
) -> float:
    """Return the largest mean absolute error of symmetric intervals, the release projected.

    Projected to [0, U], which costs no privacy and adds to the error on no dataset: at most
    `symmetric_error` for "l1". By the theorem on the worst case after projection some dataset with
    the j heaviest users at U is worst, in which all others bring the clipped mean as close to U/2
    as they can. Noise is scaled to S, or to U m* where that is less.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    total_width : float or Fraction
        S, the total width of the intervals of a user's samples (all of U m_l where that is less),
        at least 0, in the unit of the samples.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of its noise, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    noise : {"laplace", "staircase"}, optional
        The law of the noise at this budget; left out where `eps` is a law itself.

    Returns
    -------
    float
        In the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        As `symmetric_error`.

    Examples
    --------
    >>> users = Contributions([1], upper=1)
    >>> round(projected_error(users, 1, eps=1), 4), symmetric_error(users, 1, 1, "l1")
    (0.3935, 1.0)
    """
    check.instance("users", users, Contributions)
    law = _read_noise(noise, eps)
    sizes, n_users = users.histogram
    largest = float(users.upper) * sizes
    width = min(float(check.size("total_width", total_width)), float(largest[-1]))
    upper = float(users.upper)
    change = width / users.total
    # Of users who are not clipped only the sum matters, and of the others each, the heaviest first.
    is_clipped = largest > width
    clipped = np.repeat(largest[is_clipped], n_users[is_clipped])[::-1]
    free = float(np.sum((largest * n_users)[~is_clipped])) / users.total
    # How far all other users can pull the clipped mean back, with 0, 1, ... of the heaviest at U.
    at_top = np.arange(clipped.size + 1)
    others = (clipped.size - at_top) * change + free
    off_middle = np.maximum(at_top * change - others, 0.0) / 2
    bias = np.append(0.0, np.cumsum(clipped - width)) / (2 * users.total)
    near = np.maximum(upper / 2 - off_middle, 0.0)
    far = upper / 2 + off_middle
    kept_out = law.mean_excess(near, change) + law.mean_excess(far, change)
    return float(np.max(law.mean_error(bias, change) - kept_out))


def sum_of_largest(users: Contributions, x: Fraction | int) -> Fraction:
    """Return H(x), the fractional sum of the x largest counts.

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
    check.instance("users", users, Contributions)
    if check.number("x", x, Rational, "a Fraction or an integer") < 0:
        check.refuse_value("x", "at least 0", x)
    if x >= users.n_users:
        return Fraction(users.total)
    whole = floor(x)
    # The next count after the `whole` largest is the smallest of one more.
    largest = _largest_counts(users, whole + 1)
    following = int(largest.min())
    sum_of_whole = int(largest.sum()) - following
    return sum_of_whole + (Fraction(x) - whole) * following


def _nth_largest_count(users: Contributions, n: int) -> int:
    """Find the n-th largest count, looking at each different count once."""
    sizes, n_users = users.histogram
    users_from_the_top = np.cumsum(n_users[::-1])
    return int(sizes[::-1][np.searchsorted(users_from_the_top, n)])


def _largest_counts(users: Contributions, n: int) -> npt.NDArray[np.int64]:
    """Find the n largest counts, in no particular order, without sorting all of them."""
    return np.partition(users.counts, users.n_users - n)[users.n_users - n :]


def _check_fit(users: Contributions, clipping: Clipping) -> None:
    check.instance("users", users, Contributions)
    check.instance("clipping", clipping, Clipping)
    if clipping.lower.size not in (users.n_users, users.total):
        rule = f"hold one interval a user ({users.n_users}) or one a sample ({users.total})"
        check.refuse("clipping", rule, f"{clipping.lower.size} intervals")
    ends = clipping.upper
    too_high = ends > np.asarray(users.upper)
    check.refuse_entries("clipping.upper", f"at most U = {users.upper}", ends, too_high)


def _sum_per_user(users: Contributions, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Add up over each user's samples a quantity that is given once a user or once a sample."""
    if values.size != users.n_users:
        return np.add.reduceat(values, np.cumsum(users.counts) - users.counts)
    return values * users.counts
