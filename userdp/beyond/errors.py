"""Worst-case errors of clipped means for any law of noise and three objectives.

These functions share the names of the paper's functions in `userdp`, and have the same values for
the objective "bound" and a privacy budget. Their shared parameters are

- `users`, the public counts and bound U, and `clipping`, public intervals;
- `total_width`, the width S of a user's intervals, finite and at least 0;
- `budget`, a privacy budget (for Laplace noise) or a law of noise such as a `GaussianNoise`, whose
  privacy guarantee then takes the place of eps-DP;
- `objective`, one of three worst-case errors of an estimator with bias b and noise Z, each the
  largest over all datasets: "bound" for |b| + E|Z| (the paper's measure), "l1" for the mean
  absolute error E|b + Z|, and "mse" for the mean square error b^2 + E Z^2.

Neighbouring datasets may differ in all samples of one user. Errors are in the unit of the samples,
or in its square for "mse". They are Fractions for "bound" and "mse" if the bound is a Fraction and
the noise is Laplace, otherwise floats.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from typing import Any, Literal, overload

import numpy as np

from userdp import _checks as check
from userdp import worstcase
from userdp._checks import Floats, Real
from userdp.beyond.noise import Budget, Noise, Objective, read_budget, read_objective
from userdp.model import Clipping, Contributions, Number, _as_bound, _number_or_float, _read_centre

# Number of datasets tried at once, so that memory does not grow with the number of users.
_BATCH = 2**13


def worst_case_error(
    users: Contributions[Number],
    clipping: Clipping,
    budget: Budget,
    objective: Objective = "bound",
) -> Number | float:
    """Return the worst-case error of a clipped mean with noise scaled to its sensitivity.

    Parameters
    ----------
    users : Contributions
    clipping : Clipping
    budget : Budget
    objective : {"bound", "l1", "mse"}, optional

    Returns
    -------
    float or Fraction

    Raises
    ------
    TypeError, ValueError
        See `sensitivity` and `read_eps`; also if `objective` is not one of these names.

    Examples
    --------
    >>> from userdp import optimal_clipping
    >>> users = Contributions([2, 1], upper=1)
    >>> round(worst_case_error(users, optimal_clipping(users, 1), budget=1, objective="l1"), 6)
    0.368844
    """
    objective = read_objective(objective)
    law = read_budget(budget)
    bias = worstcase.worst_case_bias(users, clipping)
    sensitivity = worstcase.sensitivity(users, clipping)
    return _number_or_float(users, law.worst_case(bias, sensitivity, objective))


def threshold(
    users: Contributions[Number], budget: Budget, objective: Objective = "bound"
) -> Number:
    """Return the total width S of a user's intervals at which `symmetric_error` is smallest.

    For "bound" it is the k-th largest U m_l with k = ceil(2 E|Z|), or 0 if k > L, where E|Z| is the
    mean absolute value of the noise at sensitivity 1. For the other objectives it is the best of
    the stationary points S_n = U H(n) / (n + 2 x_n), each projected onto the widths at which n
    users are clipped; H(n) is the sum of their counts, and x_n is the best ratio of bias to
    sensitivity (thm-stationary).

    Parameters
    ----------
    users : Contributions
    budget : Budget
    objective : {"bound", "l1", "mse"}, optional

    Returns
    -------
    float or Fraction
        In the unit of the samples; the largest one if several are optimal. Exact for "bound"; for
        the others it is a rounded number, held as a Fraction if the bound is one.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, `budget` is not a budget, or `objective` is not
        one of these names.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=65)
    >>> threshold(users, 1), round(threshold(users, 1, "l1"), 3)
    (130.0, 90.859)
    """
    check.instance("users", users, Contributions)
    objective = read_objective(objective)
    law = read_budget(budget)
    if objective != "bound":
        return _as_bound(users, _stationary_width(users, law, objective))
    return worstcase._nth_largest_sum(users, law.rank)


def _stationary_width(users: Contributions, law: Noise, objective: Objective) -> float:
    """Find the width at which a strictly convex objective is smallest, over all its pieces.

    There is one piece per distinct count. The stationary point of a piece that ends below the
    minimum lies above the piece; that of a later piece does not. So bisection finds the piece.
    """
    counts, multiplicities = users.histogram
    # Number of users above the lower end of each piece, and the sum of their largest sums.
    n_above = np.cumsum(multiplicities[::-1])[::-1].astype(np.float64)
    largest = float(users.upper) * np.append(0.0, counts)
    sum_above = np.cumsum((largest[1:] * multiplicities)[::-1])[::-1]

    def stationary(piece: int) -> float:
        n = n_above[piece]
        ratio = float(law.best_ratio(np.array([n]), objective)[0])
        return float(sum_above[piece] / (n + 2 * ratio))

    def is_reached(piece: int) -> bool:
        return stationary(piece) <= float(largest[piece + 1])

    piece = bisect_left(range(counts.size - 1), True, key=is_reached)
    return float(np.clip(stationary(piece), largest[piece], largest[piece + 1]))


def optimal_clipping(
    users: Contributions, budget: Budget, objective: Objective = "bound"
) -> Clipping:
    """Return the intervals that minimise `worst_case_error`: `centred_clipping` at `threshold`.

    For each objective and law, no estimator with noise of this law, scaled to its sensitivity, has
    a smaller worst-case error, unless its release is projected.

    Parameters
    ----------
    users : Contributions
    budget : Budget
    objective : {"bound", "l1", "mse"}, optional

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
    >>> clipping = optimal_clipping(Contributions([4, 2, 1], upper=64), 1, "l1")
    >>> clipping.lower.round(1), clipping.upper.round(1)
    (array([20.8,  9.6,  0. ]), array([43.2, 54.4, 64. ]))
    """
    return centred_clipping(users, threshold(users, budget, objective))


def centred_clipping(
    users: Contributions, total_width: Real, centre: Real | None = None
) -> Clipping:
    """Return intervals of one total width S around one centre: [c - S/2m, c + S/2m] within [0, U].

    Clipping the average of user l to its interval is the same as centring the user's samples at c
    and clipping their sum to [-S/2, S/2], one interval for all users.

    Parameters
    ----------
    users : Contributions
    total_width : float or Fraction
        S, finite and at least 0, in the unit of the samples.
    centre : float or Fraction, optional
        c, a public guess of the mean in [0, U]; by default U/2, the best in the worst case.

    Returns
    -------
    Clipping
        One interval per user, shape (L,).

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, `total_width` is not a finite number of at
        least 0, or `centre` is not a number from 0 to U.

    Examples
    --------
    >>> clipping = centred_clipping(Contributions([4, 1], upper=10), total_width=8, centre=7)
    >>> clipping.lower, clipping.upper
    (array([6., 3.]), array([ 8., 10.]))
    """
    check.instance("users", users, Contributions)
    kind = Fraction if users.is_exact else float
    width = kind(check.nonnegative("total_width", total_width, users.is_exact))
    middle = np.asarray(kind(_read_centre(users, centre)))
    # These operations work on arrays of Fractions and of floats.
    half_widths = np.asarray(width) / (2 * users.counts)
    upper = np.asarray(users.upper)
    return Clipping(
        np.maximum(middle - half_widths, 0 * upper), np.minimum(middle + half_widths, upper)
    )


def centred_bias(users: Contributions[Number], total_width: Real, centre: Real) -> Number | float:
    """Return the worst-case bias of `centred_clipping`, without an array over all users.

    Parameters
    ----------
    users : Contributions
    total_width, centre : float or Fraction

    Returns
    -------
    float or Fraction
        In the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        See `centred_clipping`.

    Examples
    --------
    >>> centred_bias(Contributions([4, 1], upper=10), total_width=8, centre=7)
    5.4
    """
    counts, multiplicities = users.histogram
    upper: Any = users.upper  # a float or a Fraction, as for the new users
    one_of_each = Contributions(counts, upper)
    clipping = centred_clipping(one_of_each, total_width, centre)
    raised = np.sum(multiplicities * counts * clipping.lower)
    lowered = np.sum(multiplicities * counts * (users.upper - clipping.upper))
    return _number_or_float(users, max(raised, lowered)) / users.total


@overload
def optimal_error(
    users: Contributions[Number], budget: Budget, objective: Literal["bound"] = "bound"
) -> Number: ...
@overload
def optimal_error(
    users: Contributions[Number], budget: Budget, objective: Objective
) -> Number | float: ...
def optimal_error(users: Contributions, budget: Budget, objective: Objective = "bound") -> Real:
    """Return the smallest worst-case error of any estimator with noise of the given law.

    For "bound" it is (U / 2N) H(2 E|Z|), with H the `sum_of_largest`; for the other objectives it
    is `symmetric_error` at `threshold`, the smallest for releases that are not projected.

    Parameters
    ----------
    users : Contributions
    budget : Budget
    objective : {"bound", "l1", "mse"}, optional

    Returns
    -------
    float or Fraction

    Raises
    ------
    TypeError, ValueError
        See `threshold`.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=65)
    >>> round(optimal_error(users, 1), 3), round(optimal_error(users, 1, "l1"), 3)
    (27.857, 19.003)
    """
    if read_objective(objective) != "bound":
        return symmetric_error(users, threshold(users, budget, objective), budget, objective)
    return _as_bound(users, optimal_error_for_noise(users, read_budget(budget).mean_abs))


def optimal_error_for_noise(users: Contributions, mean_abs: Real) -> Fraction:
    """Return (U / 2N) H(2w), the smallest worst-case error if E|Z| = w.

    Parameters
    ----------
    users : Contributions
    mean_abs : float or Fraction
        w, the mean absolute value of the noise for sensitivity 1.

    Returns
    -------
    Fraction
        In the unit of the samples.

    Examples
    --------
    >>> optimal_error_for_noise(Contributions([4, 2, 1], upper=7), mean_abs=1)
    Fraction(3, 1)
    """
    sum_of_counts = worstcase.sum_of_largest(users, 2 * Fraction(mean_abs))
    return Fraction(users.upper) / (2 * users.total) * sum_of_counts


def symmetric_error(
    users: Contributions[Number],
    total_width: Real,
    budget: Budget,
    objective: Objective = "bound",
) -> Number | float:
    """Return the worst-case error of symmetric intervals of total width S, a convex function of S.

    The noise is scaled to S even above U m*, where the intervals no longer grow.

    Parameters
    ----------
    users : Contributions
    total_width : float or Fraction
    budget : Budget
    objective : {"bound", "l1", "mse"}, optional

    Returns
    -------
    float or Fraction

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, `total_width` is not a finite number of at least
        0, `budget` is not a budget, or `objective` is not one of these names.

    Examples
    --------
    >>> round(symmetric_error(Contributions([2, 1], upper=1), 1, 1, "l1"), 6)
    0.368844
    """
    check.instance("users", users, Contributions)
    objective = read_objective(objective)
    law = read_budget(budget)
    width = check.nonnegative("total_width", total_width, users.is_exact)
    bias = worstcase._symmetric_bias(users, width)
    return _number_or_float(users, law.worst_case(bias, width / users.total, objective))


def projected_error(users: Contributions, total_width: Real, budget: Budget) -> float:
    """Return the largest mean absolute error of symmetric intervals if the release is projected.

    Projection onto [0, U] costs no privacy and does not increase the error on any dataset, so this
    is at most `symmetric_error` for "l1". Each user's sum (or average) is clipped, as in releases:
    if samples are clipped one by one, some datasets have a larger error. In a worst dataset the j
    heaviest users are at U, and the others bring the clipped mean as close to U/2 as possible
    (thm-projected). The noise is scaled to S, or to U m* if that is smaller.

    Parameters
    ----------
    users : Contributions
    total_width : float or Fraction
    budget : Budget

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        See `symmetric_error`.

    Examples
    --------
    >>> users = Contributions([1], upper=1)
    >>> round(projected_error(users, 1, 1), 4), symmetric_error(users, 1, 1, "l1")
    (0.3935, 1.0)
    """
    check.instance("users", users, Contributions)
    law = read_budget(budget)
    counts, multiplicities = users.histogram
    largest = float(users.upper) * counts
    width = min(float(check.nonnegative("total_width", total_width)), float(largest[-1]))
    upper = float(users.upper)
    sensitivity = width / users.total
    # Of the users who are not clipped, only the sum matters; the others are taken heaviest first.
    is_clipped = largest > width
    unclipped_mean = float(np.sum((largest * multiplicities)[~is_clipped])) / users.total
    heaviest_first = multiplicities[is_clipped][::-1]
    n_above = np.append(0, np.cumsum(heaviest_first)).astype(np.float64)
    removed = np.append(0.0, np.cumsum((largest[is_clipped][::-1] - width) * heaviest_first))
    n_clipped = int(n_above[-1])
    # With up to `first` users at U, the others can bring the clipped mean to U/2; the error then
    # grows with this number, as the bias does.
    first = n_clipped
    if sensitivity:
        first = int(min((n_clipped + unclipped_mean / sensitivity) / 2, n_clipped))
    largest_error = 0.0
    for start in range(max(first - 1, 0), n_clipped + 1, _BATCH):
        n_at_top = np.arange(start, min(start + _BATCH, n_clipped + 1))
        bias = np.interp(n_at_top, n_above, removed) / (2 * users.total)
        others = (n_clipped - n_at_top) * sensitivity + unclipped_mean
        distance = np.maximum(n_at_top * sensitivity - others, 0.0) / 2
        removed_noise = _removed_noise(law, distance, upper, sensitivity)
        errors = law.mean_error(bias, sensitivity) - removed_noise
        largest_error = max(largest_error, float(np.max(errors)))
    return largest_error


def _removed_noise(
    law: Noise, distance: Floats, upper: float, sensitivity: float | Floats
) -> Floats:
    """Return by how much projection lowers the mean error, for clipped means this far from U/2."""
    to_near_end = np.maximum(upper / 2 - distance, 0.0)
    to_far_end = upper / 2 + distance
    return law.mean_excess(to_near_end, sensitivity) + law.mean_excess(to_far_end, sensitivity)
