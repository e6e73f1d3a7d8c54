"""Intervals: the size that bias plus noise exceeds with a given probability at most."""

from collections.abc import Callable
from math import exp, hypot, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import exprel, ndtri

from userdp import _checks as check
from userdp._checks import Floats
from userdp._search import double, halve
from userdp.beyond.noise import GaussianNoise, Noise


def read_level(level: object) -> float:
    """Return a probability between 0 and 1, or refuse it."""
    chance = float(check.size("level", level))
    if not 0 < chance < 1:
        check.refuse_value("level", "between 0 and 1", level)
    return chance


def noise_reach(law: Noise, scale: float, bias: float, level: float) -> float:
    """Return the size that bias plus noise, scale times a law, exceeds with chance 1 - level."""
    if scale == 0:
        return bias

    def is_exceeded(reach: Floats) -> bool:
        far, near = law.tail(np.array([reach + bias, abs(reach - bias)]) / scale)
        beyond = near if reach >= bias else 1 - near
        return bool(far + beyond > 1 - level)

    return _last_exceeded(is_exceeded, bias + scale)


def _last_exceeded(is_exceeded: Callable[[Floats], bool], start: float) -> float:
    """Return the smallest float that is not exceeded too often: the end of an interval."""
    end = double(is_exceeded, start, "the end of an interval")
    return float(halve(is_exceeded, 0.0, end)[1])


class OfPart(NamedTuple):
    """What a part of a release may do to the whole mean, in the unit of the values."""

    scale: float
    """Of its noise."""
    bias: float
    most: float
    """It is never farther off: both its release and its mean are between the bounds."""


def parts_reach(law: Noise, one: OfPart, other: OfPart, level: float) -> float:
    """Return a size that the error of a release in two parts exceeds with chance 1 - level at most.

    Each part's release is its clipped mean t plus noise Z, projected to the bounds. These hold the
    part's true mean f, which is at most a bias B away from t: so the release is at most |Z| away
    from t, and at most |t + Z - f| <= B + |Z| from f; and never more than the bounds are from each
    other. All of it counts with the part's share. So the whole is off by at most

    - the biases and |Z_1| + |Z_2| (as noise of one part may be cut off while that of the other is
      not, it is not enough to look at Z_1 + Z_2); or
    - the distance of the bounds for one part, and |t + Z - f| for the other.

    The smallest of these three is taken: they are known before there is noise.
    """
    both = one.bias + other.bias + _sum_reach(law, one.scale, other.scale, level)
    last = one.most + noise_reach(law, other.scale, other.bias, level)
    first = other.most + noise_reach(law, one.scale, one.bias, level)
    return min(both, last, first)


def _sum_reach(law: Noise, one: float, other: float, level: float) -> float:
    """Return a size that |Z_1| + |Z_2| exceeds with chance 1 - level at most; scales are given.

    Laplace noise: |Z| is exponential. For the means a >= b the sum exceeds x with the chance
    exp(-x/a) (a - b exp(-x d)) / (a - b), d = 1/b - 1/a. Gaussian noise: the sum is the larger of
    |Z_1 + Z_2| and |Z_1 - Z_2|. Each is at most x with a chance p, and both are with p^2 at least
    (Sidak, 1967).
    """
    if isinstance(law, GaussianNoise):
        return hypot(one, other) * -float(ndtri((1 - sqrt(level)) / 2))
    b, a = sorted([one, other])
    if b == 0:
        return noise_reach(law, a, 0.0, level)

    def is_exceeded(x: Floats) -> bool:  # with a as the unit
        return bool(exp(-x) * (1 + x * float(exprel(-x * (a - b) / b))) > 1 - level)

    return a * _last_exceeded(is_exceeded, 1.0)
