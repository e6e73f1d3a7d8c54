"""The mechanisms that Section IV-D compares with AKMV, on arrays of user sums.

Every mechanism is user-level eps-DP in exact arithmetic: neighbouring datasets may differ in all
samples of one user; the counts m_l, the bound U and eps are public, the sums are protected. The
mechanisms are demonstrations: floating-point noise leaks information through its low-order bits. To
publish a mean, use `userdp.release`, whose noise is drawn by OpenDP.

Samples enter only through each user's sum, as in the paper's pre-processing, which replaces a
user's samples by their average before they are clipped. The shared parameters are

- `sums`, array_like of float, shape (..., L): each user's sum of samples, in [0, U m_l], protected;
  leading axes are separate datasets;
- `users`, the public counts and bound, and `eps`, the privacy budget of the release of each
  dataset;
- `rng`, a Generator, a seed or None: the source of randomness.

Results have the shape (...): one release or error per dataset, in the unit of the samples. Each
mechanism has a companion function that returns its mean absolute error on given datasets, with the
noise integrated out: a property of protected data, not a private release.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, RNGLike
from userdp.model import Contributions, Epsilon, _read_sums
from userdp.noise import noise_scale, noisy_error
from userdp.worstcase import sensitivity, threshold


def laplace(
    sums: npt.ArrayLike, users: Contributions, eps: Epsilon, *, rng: RNGLike = None
) -> Floats:
    """Release the sample mean with Laplace noise of scale U m* / (N eps): Theorem II.1.

    Nothing is clipped. User-level eps-DP under replacement of all samples of one user, with public
    counts; not safe for production (see the module's note on floating point).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    eps : Epsilon
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        If `sums` do not fit `users`, `eps` is not a privacy budget, or `rng` is not a source of
        randomness; if the noise scale overflows.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(laplace([3.0, 1.0], users, eps=1, rng=0).round(4))
    1.0561
    """
    values = _read_sums(sums, users)
    generator = check.rng(rng)
    total, change = grid_sum(values, 0.0, float(users.upper * users.max_count))
    noise = generator.laplace(scale=noise_scale(float(change), eps), size=total.shape)
    return (total + noise) / users.total


def laplace_mean_error(sums: npt.ArrayLike, users: Contributions, eps: Epsilon) -> Floats:
    """Return the mean absolute error of `laplace` on given datasets: U m* / (N eps) on all of them.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    eps : Epsilon

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        If `sums` do not fit `users`; if `eps` is not a privacy budget; if the noise scale
        overflows.

    Examples
    --------
    >>> float(laplace_mean_error([3.0, 1.0], Contributions([4, 1], upper=1), eps=2))
    0.4
    """
    values = _read_sums(sums, users)
    no_bias = np.zeros(values.shape[:-1])
    return noisy_error(no_bias, noise_scale(float(sensitivity(users)), eps))


def opt_worst_case(
    sums: npt.ArrayLike, users: Contributions, eps: Epsilon, *, rng: RNGLike = None
) -> Floats:
    """Release the mean clipped as in Theorem III.1, with noise scaled to T_eps / N.

    Each user's sum is clipped to the interval of width T_eps around U m_l / 2, which is the same as
    projecting the user's average onto the interval of `optimal_clipping`. User-level eps-DP under
    replacement of all samples of one user, with public counts; not safe for production (see the
    module's note on floating point).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    eps : Epsilon
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(opt_worst_case([3.0, 1.0], users, eps=1, rng=0).round(4))
    0.764
    """
    values = _read_sums(sums, users)
    generator = check.rng(rng)
    middle = float(users.upper) / 2
    half_width = float(threshold(users, eps)) / 2
    # Centred sums stay accurate even if U m_l is many orders of magnitude above T_eps.
    total, change = grid_sum(values - users.counts * middle, -half_width, half_width)
    noise = generator.laplace(scale=noise_scale(float(change), eps), size=total.shape)
    return middle + (total + noise) / users.total


def opt_worst_case_mean_error(sums: npt.ArrayLike, users: Contributions, eps: Epsilon) -> Floats:
    """Return the mean absolute error of `opt_worst_case` on given datasets, noise integrated out.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    eps : Epsilon

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace_mean_error`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(opt_worst_case_mean_error([4.0, 1.0], users, eps=1).round(6))
    0.344626
    """
    centred = _read_sums(sums, users) - users.counts * (float(users.upper) / 2)
    width = float(threshold(users, eps))
    clipped = np.clip(centred, -width / 2, width / 2)
    bias = (centred - clipped).sum(axis=-1) / users.total
    return noisy_error(bias, noise_scale(width / users.total, eps))


def grid_sum(
    values: Floats, lowest: float | Floats, highest: float | Floats
) -> tuple[Floats, Floats]:
    """Clip values to an interval and add them up; return the sum and one value's influence on it.

    Parameters
    ----------
    values : ndarray of float64, shape (..., L)
        Protected numbers, one per user.
    lowest, highest : float or ndarray of float64, shape (...)
        The interval.

    Returns
    -------
    total, change : ndarray of float64, shape (...)
        The sum of the clipped values, and the most by which one of them can change it as computed.

    Raises
    ------
    ValueError
        If sums of L values in the interval, or its width, exceed the range of floats.
    """
    steps, change, step = grid_steps(values, lowest, highest)
    return steps * step, change * step


def grid_steps(
    values: Floats, lowest: float | Floats, highest: float | Floats, bits: int = 53
) -> tuple[Floats, Floats, Floats]:
    """Clip values to an interval and add them up in whole steps of a grid.

    Floating-point sums are rounded, and their rounding depends on the order, so one value may
    change a sum by more than the width of its interval. Here values are first rounded to a grid,
    the multiples of a step. The step is a power of two, about 2^-bits of the largest sum, so floats
    represent all sums exactly. The interval is narrowed to the grid; its new width is the most by
    which one value can change the sum.

    Parameters
    ----------
    values : ndarray of float64, shape (..., L)
        Protected numbers, one per user.
    lowest, highest : float or ndarray of float64, shape (...)
        The interval.
    bits : int, optional
        Number of bits of the largest sum.

    Returns
    -------
    steps, change, step : ndarray of float64, shape (...)
        The sum and the most by which one value can change it, both in whole steps; and the step.

    Raises
    ------
    ValueError
        If sums of L values in the interval, or its width, exceed the range of floats.
    """
    _check_range(lowest, highest, values.shape[-1])
    mantissa, exponent = np.frexp(np.maximum(-np.asarray(lowest), highest))
    # Absolute values of sums are below 2^(exponent + growth); so is the width, a sum of two ends.
    _, growth = np.frexp(max(values.shape[-1], 2) * mantissa)
    # The step is at least the smallest positive float, 2^-1074.
    step = np.ldexp(1.0, np.maximum(exponent + growth - bits, -1074))
    low = np.ceil(lowest / step)
    high = np.floor(highest / step)
    clipped = np.clip(values, (low * step)[..., None], (high * step)[..., None])
    steps = np.rint(clipped / step[..., None])
    return steps.sum(axis=-1), high - low, step


def _check_range(lowest: float | Floats, highest: float | Floats, n_values: int) -> None:
    """Raise if sums of `n_values` such values, or the width, exceed the range of floats."""
    with np.errstate(over="ignore"):
        largest_sum = n_values * np.maximum(-np.asarray(lowest), highest)
        width = np.subtract(highest, lowest)
    if not np.all(np.isfinite(largest_sum) & np.isfinite(width)):
        raise ValueError(
            f"`lowest` and `highest` must be small enough that sums of {n_values} such values, and "
            f"the width, are within the range of floats, got {check.shown('lowest', lowest)} and "
            f"{check.shown('highest', highest)}."
        )
