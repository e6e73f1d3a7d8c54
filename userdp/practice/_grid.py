"""The public side of a release: the bounds of a value, and the grid of whole levels over them."""

from fractions import Fraction
from math import floor, inf, log2, ulp
from typing import NamedTuple

import numpy.typing as npt

from userdp import _checks as check
from userdp.model import Contributions
from userdp.practice._noise import LARGEST_SCALE_BITS
from userdp.practice._quiet import unquoted

SMALLEST_WIDTH = 1e-280
"""Of a range: its parts of 2^-40 are still to be normal floats."""

FEWEST_BITS, MOST_BITS = 8, 40
"""Of the level of a value."""

LEVEL_ERROR = 0.5 + 2**-10
"""By how many steps a level may be off: half of one, and the roundings of 53 bits on the way."""


class Grid(NamedTuple):
    """Whole levels 0 .. 2^bits for the values from `lower` to `upper`, less an origin."""

    lower: float
    upper: float
    bits: int
    origin: int = 0

    @property
    def width(self) -> float:
        """The distance of the bounds; no value between them is computed to be further up."""
        return self.upper - self.lower

    @property
    def top(self) -> int:
        """The highest level."""
        return 1 << self.bits

    @property
    def step(self) -> float:
        """The distance between two levels, in the unit of the values."""
        return self.width / self.top

    @property
    def levels_a_unit(self) -> float:
        """How many levels there are to a unit of the values."""
        return self.top / self.width

    @property
    def middle(self) -> float:
        """The distance of the origin from the lower bound, in the unit of the values."""
        return self.origin * self.step

    @property
    def float_error(self) -> float:
        """The most by which a number between the bounds, added up of three floats, is off."""
        return 2 * ulp(max(abs(self.lower), abs(self.upper)))


def read_bounds(lower: object, upper: object) -> tuple[float, float]:
    """Return the bounds of a value as floats, the lower one first, or refuse them."""
    low, high = check.real("lower", lower), check.real("upper", upper)
    if not low < high:
        check.refuse_value("upper", f"above lower={low}", upper)
    if not SMALLEST_WIDTH < high - low < inf:
        check.refuse_value(
            "upper", f"neither too near lower={low} nor too far from it for floats", upper
        )
    if _bits_of_floats(low, high) < FEWEST_BITS:
        check.refuse_value(
            "upper", f"farther from lower={low}, for floats to tell values apart", upper
        )
    return low, high


def read_users(counts: npt.ArrayLike, width: float) -> Contributions:
    """Return the users of values in a range; a refusal quotes no count, which may be a sum."""
    rule = "be one whole number a user, each at least 1, of at most 2^53 records"
    unquoted("counts", counts, rule, lambda: Contributions(counts, 1))
    return Contributions(counts, width)


def make_grid(
    users: Contributions, lower: float, upper: float, eps: Fraction, centre: float | None
) -> Grid:
    """Return levels fine enough to do no harm, and coarse enough for exact sums and noise."""
    records = users.max_count.bit_length()
    bits = min(
        53 - records,  # a user's sum is below 2^53
        62 - users.total.bit_length(),  # and the sum of all sums below 2^62
        LARGEST_SCALE_BITS - records + floor(log2(eps)),
    )
    return grid_of_bits(lower, upper, bits, eps, centre)


def grid_of_bits(
    lower: float, upper: float, bits: int, eps: Fraction, centre: float | None
) -> Grid:
    """Return a grid of at most these bits, with its origin at the level next to the centre."""
    if bits < FEWEST_BITS:
        rule = "large enough for noise that fits 64 bits (or 1 / sigma)"
        check.refuse_value("eps", rule, float(eps))
    bits = min(bits, MOST_BITS, _bits_of_floats(lower, upper))
    share = 0.5
    if centre is not None:
        share = (check.real("centre", centre) - lower) / (upper - lower)
        if not 0 <= share <= 1:
            check.refuse_value("centre", f"from {lower:g} to {upper:g}", centre)
    return Grid(lower, upper, bits, origin=whole(share * 2**bits))


def whole(number: float) -> int:
    """Return the nearest integer."""
    return floor(number + 0.5)


def _bits_of_floats(lower: float, upper: float) -> int:
    """So many bits may a level have that floats near the bounds tell the levels apart."""
    return floor(log2((upper - lower) / ulp(max(abs(lower), abs(upper)))))
