"""Laplace noise for a budget, and the error that it adds to a bias (Theorem II.1).

Noise for a statistic of user-level sensitivity Delta has the scale Delta / eps; both numbers are
public. `userdp.beyond` has other laws of noise.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats
from userdp.model import Epsilon, read_eps


def noise_scale(sensitivity: npt.ArrayLike, eps: Epsilon) -> Floats:
    """Return the scale of the Laplace noise of Theorem II.1: sensitivity / eps.

    Parameters
    ----------
    sensitivity : array_like of float, shape (...)
        How far one user can move the statistic, at least 0.
    eps : Epsilon

    Returns
    -------
    ndarray of float64, shape (...)
        In the unit of the statistic.

    Raises
    ------
    TypeError, ValueError
        If `sensitivity` does not hold finite numbers of at least 0, or `eps` is so small that noise
        of this scale is not finite; see also `read_eps`.

    Examples
    --------
    >>> float(noise_scale(2.0, eps="0.5"))
    4.0
    """
    change = check.floats("sensitivity", sensitivity)
    check.refuse_entries("sensitivity", "at least 0", change, change < 0)
    with np.errstate(over="ignore"):
        scale = np.asarray(change / np.float64(read_eps(eps)))
    # A draw is less than 64 times its scale, because uniforms as small as 2^-64 are never drawn.
    if not np.all(scale <= check.LARGEST / 64):
        raise ValueError(f"`eps` must be large enough for finite noise, got eps={eps!s}.")
    return scale


def noisy_error(bias: npt.ArrayLike, scale: npt.ArrayLike) -> Floats:
    """Return the mean of abs(d + Z) for Laplace noise Z of scale s: abs(d) + s exp(-abs(d)/s).

    Parameters
    ----------
    bias, scale : array_like of float
        The bias d and the scale s >= 0 of the noise, in the same unit; broadcast together.

    Returns
    -------
    ndarray of float64
        Mean absolute errors, in the same unit; abs(d) where the scale is zero.

    Raises
    ------
    TypeError, ValueError
        If an entry is not a finite real number, or a scale is negative.

    Examples
    --------
    >>> noisy_error([0.0, 1.0, -1.0], scale=[1.0, 1.0, 0.0]).round(6)
    array([1.      , 1.367879, 1.      ])
    """
    distance = abs(check.floats("bias", bias))
    scales = check.floats("scale", scale)
    check.refuse_entries("scale", "at least 0", scales, scales < 0)
    # The ratio overflows if there is no noise, or if the bias far exceeds it: nothing is added.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.fmin(distance / scales, check.LARGEST)
    return distance + scales * np.exp(-ratio)
