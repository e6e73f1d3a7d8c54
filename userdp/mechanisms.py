"""Clipped and weighted means on arrays of user sums, with errors; Section IV-D compares some.

Every mechanism here is user-level eps-DP in exact arithmetic: neighbouring datasets differ in all
samples of one user; the counts m_l, the bound U and eps are public, the sums are protected. They
are demonstrations: floating-point noise leaks through its low-order bits. Releases to the world are
for `userdp.release_mean`, which draws its noise elsewhere.

The samples enter through each user's sum only. For `opt_worst_case` that is the paper's
pre-processing, which replaces a user's samples by their average before they are clipped. Beside
each mechanism stands its mean error on given datasets, with the noise integrated out: a property of
protected data, and no private release.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Exact, Floats, RNGLike
from userdp.model import Contributions, Epsilon, Number, _read_centre, _read_sums, _scalar
from userdp.noise import Budget, LaplaceNoise, NoiseName, Objective, _read_noise, _read_objective
from userdp.worstcase import threshold


def laplace(
    sums: npt.ArrayLike, users: Contributions, eps: Epsilon, *, rng: RNGLike = None
) -> Floats:
    """Release the sample mean with Laplace noise of scale U m* / (N eps): Theorem II.1.

    Nothing is clipped. User-level eps-DP for replacing one user's samples, counts public; not safe
    for production (see the module's note on floating point).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l], protected; leading axes are separate datasets.
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget of the release of each dataset (dimensionless, public).
    rng : Generator or seed, optional
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (...)
        One release for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        If `sums` do not fit `users`, or `rng` is no source of randomness; as `read_eps`; if the
        noise scale overflows.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(laplace([3.0, 1.0], users, eps=1, rng=0).round(4))
    1.0561
    """
    return clipped_mean(sums, users, 2 * _largest(users), LaplaceNoise(eps), centre=0, rng=rng)


def laplace_mean_error(sums: npt.ArrayLike, users: Contributions, eps: Epsilon) -> Floats:
    """Return the mean absolute error of `laplace` on given datasets: U m* / (N eps) on all of them.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l], protected; leading axes are separate datasets.
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget of the release of each dataset (dimensionless, public).

    Returns
    -------
    ndarray of float64, shape (...)
        One error for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        If `sums` do not fit `users`; as `read_eps`.

    Examples
    --------
    >>> float(laplace_mean_error([3.0, 1.0], Contributions([4, 1], upper=1), eps=2))
    0.4
    """
    law = LaplaceNoise(eps)
    values = _read_sums(sums, users)
    unbiased = np.zeros(values.shape[:-1])
    return law.mean_error(unbiased, float(_largest(users)) / users.total)


def clipped_mean(
    sums: npt.ArrayLike,
    users: Contributions,
    total_width: Exact,
    eps: Budget,
    *,
    centre: Exact | None = None,
    noise: NoiseName = "laplace",
    rng: RNGLike = None,
) -> Floats:
    """Release the mean, every user's centred sum clipped to [-S/2, S/2]: one interval for all.

    With the centre c, user l counts with c m_l + clip(sigma_l - c m_l, -S/2, S/2). Projecting the
    user's average to `centred_clipping` is the same, but centred sums bound each user's influence
    by S also where U m_l is many orders of magnitude larger. The noise is scaled to the
    sensitivity of these intervals, S/N unless they are cut off by [0, U]. User-level eps-DP for
    replacing one user's samples, counts, S and c public; not safe for production (see the module's
    note on floating point, and `release_mean`).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l], protected; leading axes are separate datasets.
    users : Contributions
        The public counts and bound.
    total_width : float or Fraction
        S, the total width of the intervals of a user's samples, at least 0, in the unit of the
        samples; public, and not computed from the samples.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of its noise, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    centre : float or Fraction, optional
        c, a public guess of the mean in [0, U]; U/2 without it.
    noise : {"laplace", "staircase"}, optional
        The law of the noise at this budget; left out where `eps` is a law itself.
    rng : Generator or seed, optional
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (...)
        One release for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `laplace` and `centred_clipping`; if `noise` is no such name.

    See Also
    --------
    centred_clipping : the intervals, for `worst_case_error`: the certificate of this release.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(clipped_mean([3.0, 1.0], users, 0.5, eps=1, centre=0.7, rng=0).round(4))
    0.822
    """
    values = _read_sums(sums, users)
    generator = check.rng(rng)
    law = _read_noise(noise, eps)
    middle = float(_read_centre(users, centre))
    ends = _centred_ends(users, total_width, middle)
    total, moved = grid_sum(values - users.counts * middle, *ends)
    noisy = total + law.draw(float(moved), total.shape, generator)
    return middle + noisy / users.total


def clipped_mean_error(
    sums: npt.ArrayLike,
    users: Contributions,
    total_width: Exact,
    eps: Budget,
    *,
    centre: Exact | None = None,
    noise: NoiseName = "laplace",
    project: bool = False,
) -> Floats:
    """Return the mean absolute error of `clipped_mean` on given datasets, noise integrated out.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l], protected; leading axes are separate datasets.
    users : Contributions
        The public counts and bound.
    total_width : float or Fraction
        S, the total width of the intervals of a user's samples, at least 0, in the unit of the
        samples; public, and not computed from the samples.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of its noise, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    centre : float or Fraction, optional
        c, a public guess of the mean in [0, U]; U/2 without it.
    noise : {"laplace", "staircase"}, optional
        The law of the noise at this budget; left out where `eps` is a law itself.
    project : bool, optional
        Whether the release is moved to the nearest number in [0, U], which adds to no error.

    Returns
    -------
    ndarray of float64, shape (...)
        One error for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `clipped_mean`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(clipped_mean_error([3.0, 1.0], users, 0.5, eps=1, centre=0.7).round(6))
    0.100484
    """
    values = _read_sums(sums, users)
    law = _read_noise(noise, eps)
    middle = float(_read_centre(users, centre))
    low, high = _centred_ends(users, total_width, middle)
    centred = values - users.counts * middle
    bias = (centred - np.clip(centred, low, high)).sum(axis=-1) / users.total
    change = (high - low) / users.total
    error = law.mean_error(bias, change)
    if check.truth("project", project):
        kept = values.sum(axis=-1) / users.total - bias
        error -= law.mean_excess(np.maximum(kept, 0), change)
        error -= law.mean_excess(np.maximum(float(users.upper) - kept, 0), change)
    return error


def opt_worst_case(
    sums: npt.ArrayLike,
    users: Contributions,
    eps: Budget,
    *,
    objective: Objective = "bound",
    noise: NoiseName = "laplace",
    rng: RNGLike = None,
) -> Floats:
    """Release the mean clipped as in Theorem III.1, with noise for the sensitivity T_eps / N.

    That is `clipped_mean` at the centre U/2 and the total width `threshold`. User-level eps-DP for
    replacing one user's samples, counts public; not safe for production (see the module's note on
    floating point).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l], protected; leading axes are separate datasets.
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
    rng : Generator or seed, optional
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (...)
        One release for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `laplace`; if `objective` or `noise` is no such name.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(opt_worst_case([3.0, 1.0], users, eps=1, rng=0).round(4))
    0.764
    """
    total_width = threshold(users, eps, objective, noise)
    return clipped_mean(sums, users, total_width, eps, noise=noise, rng=rng)


def opt_worst_case_mean_error(
    sums: npt.ArrayLike,
    users: Contributions,
    eps: Budget,
    *,
    objective: Objective = "bound",
    noise: NoiseName = "laplace",
) -> Floats:
    """Return the mean absolute error of `opt_worst_case` on given datasets, noise integrated out.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l], protected; leading axes are separate datasets.
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
    ndarray of float64, shape (...)
        One error for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `opt_worst_case`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(opt_worst_case_mean_error([4.0, 1.0], users, eps=1).round(6))
    0.344626
    """
    total_width = threshold(users, eps, objective, noise)
    return clipped_mean_error(sums, users, total_width, eps, noise=noise)


def weighted_mean(
    sums: npt.ArrayLike,
    users: Contributions,
    weights: npt.ArrayLike,
    eps: Budget,
    *,
    noise: NoiseName = "laplace",
    rng: RNGLike = None,
) -> Floats:
    """Release the mean of the users' averages with public weights, and nothing clipped.

    That is sum_l w_l xbar_l / W plus noise for its sensitivity U max(w) / W, with W = sum_l w_l.
    Weights min(m_l, k) give the conditional mean of keeping k samples of each user at random, with
    no more error on any dataset; weights m_l are the Laplace mechanism. User-level eps-DP for
    replacing one user's samples, counts and weights public; not safe for production (see the
    module's note on floating point).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l], protected; leading axes are separate datasets.
    users : Contributions
        The public counts and bound.
    weights : array_like of float, shape (L,)
        Public and not computed from the samples, at least 0 and not all 0; only ratios count.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of its noise, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    noise : {"laplace", "staircase"}, optional
        The law of the noise at this budget; left out where `eps` is a law itself.
    rng : Generator or seed, optional
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (...)
        One release for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `laplace`; if `weights` are not L such numbers; if `noise` is no such name.

    Examples
    --------
    >>> users = Contributions([4, 1, 1], upper=1)
    >>> float(weighted_mean([3.0, 1.0, 0.0], users, [2, 1, 1], eps=4, rng=0).round(4))
    0.665
    """
    values = _read_sums(sums, users)
    generator = check.rng(rng)
    law = _read_noise(noise, eps)
    shares = _read_weights(users, weights).astype(np.float64)
    total, moved = grid_sum(values / users.counts * shares, 0.0, float(users.upper))
    noisy = total + law.draw(float(moved), total.shape, generator)
    return noisy / float(shares.sum())


def weighted_mean_error(
    sums: npt.ArrayLike,
    users: Contributions,
    weights: npt.ArrayLike,
    eps: Budget,
    *,
    noise: NoiseName = "laplace",
) -> Floats:
    """Return the mean absolute error of `weighted_mean` on given datasets, noise integrated out.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l], protected; leading axes are separate datasets.
    users : Contributions
        The public counts and bound.
    weights : array_like of float, shape (L,)
        Public and not computed from the samples, at least 0 and not all 0; only ratios count.
    eps : float, Fraction, Decimal, str, or a law of noise
        Privacy budget of the release (dimensionless, public); or the law of its noise, such as a
        `GaussianNoise`, whose promise then takes the place of eps-DP.
    noise : {"laplace", "staircase"}, optional
        The law of the noise at this budget; left out where `eps` is a law itself.

    Returns
    -------
    ndarray of float64, shape (...)
        One error for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `weighted_mean`.

    Examples
    --------
    >>> users = Contributions([4, 1, 1], upper=1)
    >>> float(weighted_mean_error([3.0, 1.0, 0.0], users, [2, 1, 1], eps=4).round(6))
    0.131233
    """
    values = _read_sums(sums, users)
    law = _read_noise(noise, eps)
    shares = _read_weights(users, weights).astype(np.float64)
    kept = (values / users.counts * shares).sum(axis=-1) / shares.sum()
    bias = values.sum(axis=-1) / users.total - kept
    return law.mean_error(bias, float(users.upper) / shares.sum())


def weighted_worst_case_error(
    users: Contributions[Number],
    weights: npt.ArrayLike,
    eps: Budget,
    objective: Objective = "bound",
    noise: NoiseName = "laplace",
) -> Number | float:
    """Return the worst-case error of `weighted_mean`: its certificate, in closed form.

    Its worst-case bias is U sum_l (m_l/N - w_l/W)^+, its sensitivity U max(w) / W.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    weights : array_like of float, shape (L,)
        Public and not computed from the samples, at least 0 and not all 0; only ratios count.
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
        As `worst_case_error`: exact where the bound U is a Fraction.

    Raises
    ------
    TypeError, ValueError
        As `weighted_mean`; if `objective` is no such name.

    Examples
    --------
    >>> users = Contributions([4, 1, 1], upper=1)
    >>> round(weighted_worst_case_error(users, [2, 1, 1], eps=4), 6)
    0.291667
    """
    shares = _read_weights(users, weights)
    objective = _read_objective(objective)
    law = _read_noise(noise, eps)
    missing = users.counts - users.total * shares / shares.sum()
    bias = users.upper * np.maximum(missing, 0 * missing).sum() / users.total
    return _scalar(users, law.worst_case(bias, users.upper / shares.sum(), objective))


def _read_weights(users: Contributions, weights: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return one weight a user, divided by the largest: Fractions where the bound is one."""
    check.instance("users", users, Contributions)
    array = check.reals("weights", weights)
    if array.shape != (users.n_users,):
        rule = f"have shape ({users.n_users},), one a user"
        check.refuse("weights", rule, f"weights of shape {array.shape}")
    check.refuse_entries("weights", "at least 0", array, array < 0)
    if not array.any():
        check.refuse("weights", "not all be 0", f"weights={weights!r}")
    if users.is_exact:
        array = np.array([Fraction(weight) for weight in array.tolist()])
    shares: npt.NDArray[Any] = array / array.max()
    return shares


def _largest(users: Contributions) -> Exact:
    """Return the largest sum of a user, U m*. Around 0 the total width 2 U m* clips nobody."""
    check.instance("users", users, Contributions)
    return users.upper * users.max_count


def _centred_ends(users: Contributions, total_width: Exact, middle: float) -> tuple[float, float]:
    """Return the interval for centred sums: [-S/2, S/2], cut off where no sum reaches."""
    half_width = float(check.size("total_width", total_width)) / 2
    farthest = users.max_count * (float(users.upper) - middle)
    return -min(half_width, users.max_count * middle), min(half_width, farthest)


def grid_sum(
    values: Floats, lowest: float | Floats, highest: float | Floats
) -> tuple[Floats, Floats]:
    """Clip values to an interval and add them up; return the sum and what one value can move.

    Parameters
    ----------
    values : ndarray of float64, shape (..., L)
        Protected numbers, one a user.
    lowest, highest : float or ndarray of float64, shape (...)
        The interval.

    Returns
    -------
    total, moved : ndarray of float64, shape (...)
        The sum of the clipped values, and the most by which one of them can change it as computed.

    Raises
    ------
    ValueError
        If the sums of L values in the interval, or its width, are beyond floats.
    """
    steps, moved, step = grid_steps(values, lowest, highest)
    return steps * step, moved * step


def grid_steps(
    values: Floats, lowest: float | Floats, highest: float | Floats, bits: int = 53
) -> tuple[Floats, Floats, Floats]:
    """Clip values to an interval and add them up, in whole steps of a grid.

    Floating-point sums are rounded, differently in different orders, so that one value may move a
    sum by more than the width of its interval. Here values are first rounded to a grid, the
    multiples of a power of two. That is about 2^-bits of the largest sum, so that floats hold all
    sums exactly. The interval is narrowed to the grid; its new width is what one value can move.

    Parameters
    ----------
    values : ndarray of float64, shape (..., L)
        Protected numbers, one a user.
    lowest, highest : float or ndarray of float64, shape (...)
        The interval.
    bits : int, optional
        How many bits the largest sum has.

    Returns
    -------
    steps, moved, step : ndarray of float64, shape (...)
        The sum and what one value can move, both whole numbers of steps; and the step.

    Raises
    ------
    ValueError
        If the sums of L values in the interval, or its width, are beyond floats.
    """
    _need_sums(lowest, highest, values.shape[-1])
    mantissa, exponent = np.frexp(np.maximum(-np.asarray(lowest), highest))
    # Sums are below 2^(exponent + growth) in size, and so is a width, the sum of two ends.
    _, growth = np.frexp(max(values.shape[-1], 2) * mantissa)
    # No finer than the smallest float, 2^-1074.
    step = np.ldexp(1.0, np.maximum(exponent + growth - bits, -1074))
    low = np.ceil(lowest / step)
    high = np.floor(highest / step)
    clipped = np.clip(values, (low * step)[..., None], (high * step)[..., None])
    steps = np.rint(clipped / step[..., None])
    return steps.sum(axis=-1), high - low, step


def _need_sums(lowest: float | Floats, highest: float | Floats, n_values: int) -> None:
    """Refuse an interval of which the sums of so many values, or the width, are beyond floats."""
    with np.errstate(over="ignore"):
        largest_sum = n_values * np.maximum(-np.asarray(lowest), highest)
        width = np.subtract(highest, lowest)
    if not np.all(np.isfinite(largest_sum) & np.isfinite(width)):
        raise ValueError(
            f"`lowest` and `highest` must be so small that sums of {n_values} such values, and the "
            f"width, are floats, got {check.shown('lowest', lowest)} and "
            f"{check.shown('highest', highest)}."
        )
