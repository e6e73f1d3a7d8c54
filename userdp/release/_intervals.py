"""Intervals: the distance that bias plus noise exceeds with at most a given probability."""

from collections.abc import Callable
from math import exp, hypot, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import exprel, ndtri

from userdp import _checks as check
from userdp._checks import Floats
from userdp._search import double, halve
from userdp.beyond.noise import GaussianNoise, LaplaceNoise, Noise


def read_level(level: object) -> float:
    """Return a probability; raise unless it is between 0 and 1."""
    chance = float(check.nonnegative("level", level))
    if not 0 < chance < 1:
        check.refuse_value("level", "between 0 and 1", level)
    return chance


def noise_reach(law: Noise, scale: float, bias: float, level: float) -> float:
    """Return the distance that bias plus `scale` times noise exceeds with probability 1 - level."""
    if scale == 0:
        return bias

    def is_exceeded(reach: Floats) -> bool:
        far, near = law.tail(np.array([reach + bias, abs(reach - bias)]) / scale)
        beyond = near if reach >= bias else 1 - near
        return bool(far + beyond > 1 - level)

    return _smallest_not_exceeded(is_exceeded, bias + scale)


def _smallest_not_exceeded(is_exceeded: Callable[[Floats], bool], start: float) -> float:
    """Return the smallest float that is not exceeded too often: the end of an interval."""
    end = double(is_exceeded, start, "the end of an interval")
    return float(halve(is_exceeded, 0.0, end)[1])


class PartOfError(NamedTuple):
    """What a part of a release contributes to the error of the mean, in the unit of the values."""

    scale: float
    """The scale of its noise."""
    bias: float
    largest: float
    """The largest possible error, because its release and its mean are between the bounds."""


def parts_reach(law: Noise, first: PartOfError, second: PartOfError, level: float) -> float:
    """Return what the error of a two-part release exceeds with probability at most 1 - level.

    Each part's release is its clipped mean t plus noise Z, projected onto the interval between the
    bounds. This interval contains the part's true mean f, which differs from t by at most a bias B.
    The release therefore differs from t by at most |Z|, and from f by at most
    |t + Z - f| <= B + |Z|, but never by more than the distance between the bounds. All of this is
    weighted by the part's share. So the error of the whole is at most

    - the biases plus |Z_1| + |Z_2| (Z_1 + Z_2 is not enough, because the noise of one part may be
      cut off while that of the other is not); or
    - the distance between the bounds for one part, plus |t + Z - f| for the other.

    The smallest of these three is returned: they are known before there is noise.
    """
    in_both = first.bias + second.bias + _sum_reach(law, first.scale, second.scale, level)
    in_second = first.largest + noise_reach(law, second.scale, second.bias, level)
    in_first = second.largest + noise_reach(law, first.scale, first.bias, level)
    return min(in_both, in_second, in_first)


def laplace_sum_reach(first: float, second: float, level: float) -> float:
    """Return what |Z_1 + Z_2|, Laplace noise of two scales, exceeds with probability 1 - level.

    With a as the unit of the scales a >= b, it exceeds x with probability
    (exp(-x) - b^2 exp(-x / b)) / (1 - b^2).
    """
    b, a = sorted([first, second])
    if b == 0:
        return noise_reach(LaplaceNoise(1), a, 0.0, level)
    ratio = b / a

    def is_exceeded(x: Floats) -> bool:  # without the difference of nearly equal numbers
        more = x * ratio / (1 + ratio) * float(exprel(-x * (1 - ratio) / ratio))
        return bool(exp(-x) * (1 + more) > 1 - level)

    return a * _smallest_not_exceeded(is_exceeded, 1.0)


def _sum_reach(law: Noise, first: float, second: float, level: float) -> float:
    """Return what |Z_1| + |Z_2|, of given scales, exceeds with probability at most 1 - level.

    For Laplace noise |Z| is exponential: with means a >= b the sum exceeds x with probability
    exp(-x/a) (a - b exp(-x d)) / (a - b), where d = 1/b - 1/a. For Gaussian noise the sum is the
    larger of |Z_1 + Z_2| and |Z_1 - Z_2|: if each is at most x with probability p, both are with
    probability at least p^2 (Sidak, 1967).
    """
    if isinstance(law, GaussianNoise):
        return hypot(first, second) * -float(ndtri((1 - sqrt(level)) / 2))
    b, a = sorted([first, second])
    if b == 0:
        return noise_reach(law, a, 0.0, level)

    def is_exceeded(x: Floats) -> bool:  # with a as the unit
        return bool(exp(-x) * (1 + x * float(exprel(-x * (a - b) / b))) > 1 - level)

    return a * _smallest_not_exceeded(is_exceeded, 1.0)
