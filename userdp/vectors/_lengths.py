"""The mean length of a bias and noise together, for noise that prefers no direction."""

from math import lgamma, pi, sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import gammainccinv, hyp2f1

from userdp._checks import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)


def gaussian_distance(bias: Floats, scale: float, d: int) -> Floats:
    """Return E|b + s Z| for vectors b of given lengths and standard normal Z.

    For s = 1 it is sqrt(2/pi) times the integral of (1 - (cos t)^d e^(-x (sin t)^2)) / (sin t)^2
    from 0 to pi/2, x = b^2 / 2: `scipy.special.hyp1f1` overflows for some x from d = 100 on. The
    exponential is nil from M (sin t)^2 = 40 on, M = x + d/2, and the integral of the rest a
    cotangent.
    """
    ratio, far = _in_scales(bias, scale, d)
    x = ratio**2 / 2
    end = np.arcsin(np.minimum(1, np.sqrt(40 / (x + d / 2))))
    square = np.sin(end * (1 + _NODES) / 2) ** 2
    heights = -np.expm1(d / 2 * np.log1p(-square) - x * square) / square
    integral = end[..., 0] / 2 * (heights @ _WEIGHTS) + 1 / np.tan(end[..., 0])
    distance: Floats = np.where(far, bias, scale * sqrt(2 / pi) * integral)[()]
    return distance


def gamma_distance(bias: Floats, scale: float, d: int) -> Floats:
    """Return E|b + s Z| for vectors b of given lengths and Z of density exp(-|z|), but a factor.

    Over the directions of Z, the mean length of the sum of two vectors is that of the longer times
    2F1(-1/2, (1-d)/2; d/2; t^2), t the ratio of their lengths.
    """
    ratio, far = _in_scales(bias, scale, d)
    shortest, longest = gammainccinv(d, [1 - 1e-16, 1e-18])
    begin, share = np.clip(ratio, shortest, longest), (1 + _NODES) / 2
    integral = np.zeros(np.shape(bias))
    for end in (shortest, longest):
        # The nodes crowd where both lengths are the same: a derivative is infinite there.
        length = begin + (end - begin) * share**3
        longer, shorter = np.maximum(ratio, length), np.minimum(ratio, length)
        mean = longer * _mean_over_directions((shorter / longer) ** 2, d)
        density = np.exp((d - 1) * np.log(length) - length - lgamma(d))
        integral += np.abs(end - begin)[..., 0] * ((mean * density * share**2) @ (1.5 * _WEIGHTS))
    distance: Floats = np.where(far, bias, scale * integral)[()]
    return distance


def _in_scales(bias: Floats, scale: float, d: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return b / s, an axis added, and where it is so large that the noise adds nothing."""
    with np.errstate(over="ignore"):
        ratio = np.asarray(bias / scale)
    limit = 1e8 * d
    return np.minimum(ratio, limit)[..., None], ratio > limit


def _mean_over_directions(square: Floats, d: int) -> Floats:
    """Return 2F1(-1/2, (1-d)/2; d/2; t^2) for t from 0 to 1.

    `scipy.special.hyp2f1` knows no number near 1 from d = 140 on. There the series does: its terms
    fall like exp(-2 k^2 / d).
    """
    if d <= 30:
        known: Floats = hyp2f1(-0.5, (1 - d) / 2, d / 2, square)
        return known
    term = total = np.ones_like(square)
    for k in range(20 + int(6 * sqrt(d))):
        term = term * square * ((k - 0.5) * (k + (1 - d) / 2) / ((k + d / 2) * (k + 1)))
        total = total + term
    return total
