"""Directed rounding: stated privacy and errors are never better than the true ones.

A text stands for the float that Python reads from it: "0.1" is at least the float 0.1, although
this float is slightly more than a tenth.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import expm1, inf, isfinite, nextafter

PRECISE = Context(prec=80)


def to_unit(number: float, unit: Decimal, rounding: str = ROUND_CEILING) -> Decimal:
    """Return a number rounded to whole units: upwards, or as `rounding` says."""
    rounded = Decimal(repr(float(number))).quantize(unit, rounding, PRECISE)
    return PRECISE.add(rounded, 0)  # without a minus sign before zero


def place_of(number: float, digits: int) -> Decimal:
    """Return the unit of the last of `digits` significant digits."""
    return Decimal(1).scaleb(Decimal(repr(float(number))).adjusted() - digits + 1)


def upwards(number: float, digits: int = 6) -> str:
    """Round a number up to significant digits; as a float, the text is at least the number.

    Examples
    --------
    >>> upwards(2 / 3, 3), upwards(0.1), upwards(2**-40, 2)
    ('0.667', '0.1', '9.1e-13')
    """
    return _to_digits(number, digits, ROUND_CEILING)


def downwards(number: float, digits: int = 6) -> str:
    """Round a number down to significant digits; as a float, the text is at most the number."""
    return _to_digits(number, digits, ROUND_FLOOR)


def _to_digits(number: float, digits: int, rounding: str) -> str:
    if number == 0 or not isfinite(number):
        return f"{number:g}"
    rounded = to_unit(number, place_of(number, digits), rounding)
    return f"{float(rounded):.{digits}g}"


def factor_of(eps: float) -> str:
    """Return e^eps, rounded upwards: to three digits, or to two digits of its excess over 1.

    Examples
    --------
    >>> [factor_of(eps) for eps in (1, 0.004, 2**-40)]
    ['2.72', '1.0041', '1.00000000000091']
    """
    factor = PRECISE.next_plus(Decimal(eps).exp(PRECISE))
    # Three digits for large factors; for small ones, digits of the excess over 1, which may be
    # tiny.
    third_digit = Decimal(1).scaleb(max(factor.adjusted(), 0) - 2)
    unit = min(third_digit, Decimal(1).scaleb((factor - 1).adjusted() - 1))
    rounded = factor.quantize(unit if factor < 2 else third_digit, ROUND_CEILING, PRECISE)
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def chance_beyond(spent: Fraction, requested: Fraction) -> float:
    """Return 1 - exp(requested - spent), rounded upwards; 0 if no more than requested is spent."""
    if spent <= requested:
        return 0.0
    gap = nextafter(float(spent - requested), inf)
    return min(-expm1(-gap) * (1 + 2**-50), 1.0)
