"""Clipped and weighted means for any law of noise, on arrays of user sums.

They generalise `userdp.laplace` and `userdp.opt_worst_case`: `budget` is a privacy budget (for
Laplace noise) or a law of noise, whose privacy guarantee then takes the place of eps-DP. Everything
else is as in `userdp.mechanisms`: neighbouring datasets may differ in all samples of one user;
counts, bound, widths, centre and weights are public; the sums, shape (..., L), are protected;
results have the shape (...) and the unit of the samples; floating-point noise is for demonstrations
only.
`total_width` and `centre` are described in `clipped_mean`, `weights` in `weighted_mean`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, Real, RNGLike
from userdp.beyond.errors import threshold
from userdp.beyond.noise import Budget, Objective, read_budget, read_objective
from userdp.mechanisms import grid_sum
from userdp.model import Contributions, Number, _number_or_float, _read_centre, _read_sums


def clipped_mean(
    sums: npt.ArrayLike,
    users: Contributions,
    total_width: Real,
    budget: Budget,
    *,
    centre: Real | None = None,
    rng: RNGLike = None,
) -> Floats:
    """Release the mean, with every user's centred sum clipped to the same interval [-S/2, S/2].

    With the centre c, user l contributes c m_l + clip(sigma_l - c m_l, -S/2, S/2). Projecting the
    user's average to `centred_clipping` is equivalent, but centred sums bound each user's influence
    by S even if U m_l is many orders of magnitude larger. The noise is scaled to the sensitivity of
    these intervals, which is S/N unless [0, U] cuts them off. User-level eps-DP under replacement
    of all samples of one user, with public counts, S and c; not safe for production (see the
    module's note on floating point, and `userdp.release.release_mean`).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    total_width : float or Fraction
        S, the total width of the intervals of a user's samples, at least 0, in the unit of the
        samples; public, and not computed from the samples.
    budget : Budget
    centre : float or Fraction, optional
        c, a public guess of the mean in [0, U]; by default U/2.
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace` and `centred_clipping`.

    See Also
    --------
    centred_clipping : the intervals; `worst_case_error` of these is the guarantee of this release.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(clipped_mean([3.0, 1.0], users, 0.5, 1, centre=0.7, rng=0).round(4))
    0.822
    """
    values = _read_sums(sums, users)
    generator = check.rng(rng)
    law = read_budget(budget)
    middle = float(_read_centre(users, centre))
    ends = _centred_ends(users, total_width, middle)
    total, change = grid_sum(values - users.counts * middle, *ends)
    noisy = total + law.draw(float(change), total.shape, generator)
    return middle + noisy / users.total


def clipped_mean_error(
    sums: npt.ArrayLike,
    users: Contributions,
    total_width: Real,
    budget: Budget,
    *,
    centre: Real | None = None,
    project: bool = False,
) -> Floats:
    """Return the mean absolute error of `clipped_mean` on given datasets, noise integrated out.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    total_width : float or Fraction
    budget : Budget
    centre : float or Fraction, optional
    project : bool, optional
        Whether the release is projected onto [0, U], which never increases the error.

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace` and `centred_clipping`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(clipped_mean_error([3.0, 1.0], users, 0.5, 1, centre=0.7).round(6))
    0.100484
    """
    values = _read_sums(sums, users)
    law = read_budget(budget)
    middle = float(_read_centre(users, centre))
    low, high = _centred_ends(users, total_width, middle)
    centred = values - users.counts * middle
    bias = (centred - np.clip(centred, low, high)).sum(axis=-1) / users.total
    change = (high - low) / users.total
    error = law.mean_error(bias, change)
    if check.boolean("project", project):
        clipped_means = values.sum(axis=-1) / users.total - bias
        error -= law.mean_excess(np.maximum(clipped_means, 0), change)
        error -= law.mean_excess(np.maximum(float(users.upper) - clipped_means, 0), change)
    return error


def opt_worst_case(
    sums: npt.ArrayLike,
    users: Contributions,
    budget: Budget,
    *,
    objective: Objective = "bound",
    rng: RNGLike = None,
) -> Floats:
    """Release the mean clipped as in Theorem III.1, with noise scaled to T_eps / N.

    That is `clipped_mean` at the centre U/2 and the total width `threshold`. User-level eps-DP
    under replacement of all samples of one user, with public counts; not safe for production (see
    the module's note on floating point).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    budget : Budget
    objective : {"bound", "l1", "mse"}, optional
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace`; also if `objective` is not one of these names.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(opt_worst_case([3.0, 1.0], users, 1, rng=0).round(4))
    0.764
    """
    total_width = threshold(users, budget, objective)
    return clipped_mean(sums, users, total_width, budget, rng=rng)


def opt_worst_case_mean_error(
    sums: npt.ArrayLike,
    users: Contributions,
    budget: Budget,
    *,
    objective: Objective = "bound",
) -> Floats:
    """Return the mean absolute error of `opt_worst_case` on given datasets, noise integrated out.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    budget : Budget
    objective : {"bound", "l1", "mse"}, optional

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace`; also if `objective` is not one of these names.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(opt_worst_case_mean_error([4.0, 1.0], users, 1).round(6))
    0.344626
    """
    total_width = threshold(users, budget, objective)
    return clipped_mean_error(sums, users, total_width, budget)


def weighted_mean(
    sums: npt.ArrayLike,
    users: Contributions,
    weights: npt.ArrayLike,
    budget: Budget,
    *,
    rng: RNGLike = None,
) -> Floats:
    """Release the weighted mean of the users' averages, with public weights and no clipping.

    That is sum_l w_l xbar_l / W plus noise scaled to U max(w) / W, with W = sum_l w_l.
    Weights min(m_l, k) give the conditional mean of the release that keeps k random samples per
    user, with no more error on any dataset; weights m_l give the Laplace mechanism. User-level
    eps-DP under replacement of all samples of one user, with public counts and weights; not safe
    for production (see the module's note on floating point).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    weights : array_like of float, shape (L,)
        Public and not computed from the samples, at least 0 and not all 0; only their ratios
        matter.
    budget : Budget
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace`; also if `weights` are not L such numbers.

    Examples
    --------
    >>> users = Contributions([4, 1, 1], upper=1)
    >>> float(weighted_mean([3.0, 1.0, 0.0], users, [2, 1, 1], 4, rng=0).round(4))
    0.665
    """
    values = _read_sums(sums, users)
    generator = check.rng(rng)
    law = read_budget(budget)
    w = _read_weights(users, weights).astype(np.float64)
    total, change = grid_sum(values / users.counts * w, 0.0, float(users.upper))
    noisy = total + law.draw(float(change), total.shape, generator)
    return noisy / float(w.sum())


def weighted_mean_error(
    sums: npt.ArrayLike,
    users: Contributions,
    weights: npt.ArrayLike,
    budget: Budget,
) -> Floats:
    """Return the mean absolute error of `weighted_mean` on given datasets, noise integrated out.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    weights : array_like of float, shape (L,)
    budget : Budget

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace`; also if `weights` are not L such numbers.

    Examples
    --------
    >>> users = Contributions([4, 1, 1], upper=1)
    >>> float(weighted_mean_error([3.0, 1.0, 0.0], users, [2, 1, 1], 4).round(6))
    0.131233
    """
    values = _read_sums(sums, users)
    law = read_budget(budget)
    w = _read_weights(users, weights).astype(np.float64)
    weighted_means = (values / users.counts * w).sum(axis=-1) / w.sum()
    bias = values.sum(axis=-1) / users.total - weighted_means
    return law.mean_error(bias, float(users.upper) / w.sum())


def weighted_worst_case_error(
    users: Contributions[Number],
    weights: npt.ArrayLike,
    budget: Budget,
    objective: Objective = "bound",
) -> Number | float:
    """Return the worst-case error of `weighted_mean`: its guarantee, in closed form.

    Its worst-case bias is U sum_l (m_l/N - w_l/W)^+, and its sensitivity U max(w) / W.

    Parameters
    ----------
    users : Contributions
    weights : array_like of float, shape (L,)
    budget : Budget
    objective : {"bound", "l1", "mse"}, optional

    Returns
    -------
    float or Fraction
        See `worst_case_error`: exact if the bound U is a Fraction.

    Raises
    ------
    TypeError, ValueError
        See `laplace`; also if `weights` are not L such numbers, or `objective` is not one of these
        names.

    Examples
    --------
    >>> users = Contributions([4, 1, 1], upper=1)
    >>> round(weighted_worst_case_error(users, [2, 1, 1], 4), 6)
    0.291667
    """
    w = _read_weights(users, weights)
    objective = read_objective(objective)
    law = read_budget(budget)
    deficits = users.counts - users.total * w / w.sum()
    bias = users.upper * np.maximum(deficits, 0 * deficits).sum() / users.total
    return _number_or_float(users, law.worst_case(bias, users.upper / w.sum(), objective))


def _read_weights(users: Contributions, weights: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return one weight per user, divided by the largest: Fractions if the bound is one."""
    check.instance("users", users, Contributions)
    array = check.reals("weights", weights)
    if array.shape != (users.n_users,):
        rule = f"have shape ({users.n_users},), one per user"
        check.refuse("weights", rule, f"weights of shape {array.shape}")
    check.refuse_entries("weights", "at least 0", array, array < 0)
    if not array.any():
        check.refuse("weights", "have a positive entry", f"weights={weights!r}")
    if users.is_exact:
        array = np.array([Fraction(weight) for weight in array.tolist()])
    relative_weights: npt.NDArray[Any] = array / array.max()
    return relative_weights


def _centred_ends(users: Contributions, total_width: Real, middle: float) -> tuple[float, float]:
    """Return the interval for centred sums: [-S/2, S/2], cut off at the largest possible sums."""
    half_width = float(check.nonnegative("total_width", total_width)) / 2
    farthest = users.max_count * (float(users.upper) - middle)
    return -min(half_width, users.max_count * middle), min(half_width, farthest)
