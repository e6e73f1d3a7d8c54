"""Levels: whole numbers that represent values, determined by the bounds alone.

Every engine converts each value to a whole number of steps between the bounds. Whole numbers add up
to the same sum in every order and on every machine, so a release depends neither on the engine nor
on how it splits the work.
"""

from math import floor, log2, ulp
from typing import Any, NamedTuple

from userdp import _checks as check

SMALLEST_WIDTH = 1e-280
"""Smallest width of a range: 2^-40 of it is still a normal float."""

LARGEST_WIDTH = 1e270
"""Largest width of a range: sums of 2^53 values, and noise of any scale, are finite floats."""

MIN_LEVEL_BITS = 8
MAX_LEVEL_BITS = 40
"""Fewest and most bits of a level."""

LEVEL_ERROR = 0.5 + 2**-10
"""Largest distance of a value from its level, in steps: a half, plus floating-point rounding."""

HALF_BITS = 20
"""Levels are added up in two halves, of 20 bits each."""

HALF = 1 << HALF_BITS

MAX_RECORDS = 1 << 42
"""Largest number of records of one user: this many halves have a sum of at most 2^62."""


class Grid(NamedTuple):
    """Levels 0 .. 2^bits for the values from `lower` to `upper`."""

    lower: float
    upper: float
    bits: int

    @property
    def width(self) -> float:
        """The distance between the bounds. In floats, no value minus `lower` exceeds it."""
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
    def levels_per_unit(self) -> float:
        """The number of levels per unit of the values."""
        return self.top / self.width

    @property
    def float_error(self) -> float:
        """Largest error, in the unit of the values, of a mean computed in floats.

        It allows for ten roundings of numbers no larger than the bounds.
        """
        return 10 * ulp(max(abs(self.lower), abs(self.upper)))


class Window(NamedTuple):
    """Where a user's sum, or its average, is clipped: in steps of 2^shift levels from an origin."""

    origin: int
    """The level of the centre: a record without a value has this level."""
    shift: int
    lowest: int
    highest: int

    @property
    def sensitivity(self) -> int:
        """The width, in steps: the most by which one user can move a total of clipped sums."""
        return self.highest - self.lowest


def read_grid(lower: object, upper: object) -> Grid:
    """Return the levels between two bounds; raise if the bounds are invalid."""
    low = check.real("lower", lower)
    high = check.real("upper", upper)
    if not low < high:
        check.refuse_value("upper", f"above lower={low}", upper)
    if not SMALLEST_WIDTH < high - low < LARGEST_WIDTH:
        check.refuse_value(
            "upper", f"neither too near to lower={low} nor too far from it for floats", upper
        )
    bits = _bits_of_floats(low, high)
    if bits < MIN_LEVEL_BITS:
        check.refuse_value(
            "upper", f"farther from lower={low}, so that floats can distinguish values", upper
        )
    return Grid(low, high, min(bits, MAX_LEVEL_BITS))


def origin_of(grid: Grid, centre: object) -> int:
    """Return the level nearest to a centre; the middle level if there is none."""
    if centre is None:
        return grid.top // 2
    value = check.real("centre", centre)
    if not grid.lower <= value <= grid.upper:
        check.refuse_value("centre", f"from {grid.lower:g} to {grid.upper:g}", centre)
    return nearest((value - grid.lower) / grid.width * grid.top)


def nearest(number: float) -> int:
    """Return the nearest integer."""
    return floor(number + 0.5)


def steps_of(levels: int, shift: int) -> int:
    """Return a number of levels in steps of 2^shift, rounded to the nearest."""
    half_a_step = (1 << shift) // 2
    return (levels + half_a_step) >> shift


def in_steps(high: Any, low: Any, n_levels: Any, window: Window) -> Any:
    """Return sums of levels, less the origin, in steps of 2^shift levels, rounded to the nearest.

    For arrays of 64-bit integers and for columns of an engine. Nothing overflows for users with at
    most `MAX_RECORDS` records, if the result itself fits 64 bits.

    Parameters
    ----------
    high, low : array or column of integers
        The sums of the upper and of the lower halves of a user's levels.
    n_levels : array or column of integers
        The number of levels in each sum.
    window : Window
        Its origin and shift are used; nothing is clipped here.
    """
    origin_high, origin_low = divmod(window.origin, HALF)
    high = high - n_levels * origin_high
    low = low - n_levels * origin_low
    # Carry, so that the lower half is from 0 to 2^20 - 1 again.
    high = high + (low >> HALF_BITS)
    low = low & (HALF - 1)
    if window.shift > HALF_BITS:
        # The lower half does not affect this rounding.
        half_a_step = 1 << (window.shift - HALF_BITS - 1)
        return (high + half_a_step) >> (window.shift - HALF_BITS)
    half_a_step = (1 << window.shift) // 2
    return high * (1 << (HALF_BITS - window.shift)) + ((low + half_a_step) >> window.shift)


def _bits_of_floats(lower: float, upper: float) -> int:
    """Return the largest bit width at which floats near the bounds distinguish the levels."""
    return floor(log2((upper - lower) / ulp(max(abs(lower), abs(upper)))))
