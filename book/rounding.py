"""Bounds as text: rounded so that the digits shown are still a bound."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context

FLOATS = 1e-12
"""The share of a bound that is taken for the rounding error of its computation."""


def at_most(bound: float, digits: int = 3) -> str:
    """Return an upper bound with this many significant digits, rounded up."""
    return _rounded(bound - FLOATS * abs(bound), digits, ROUND_CEILING)


def at_least(bound: float, digits: int = 3) -> str:
    """Return a lower bound with this many significant digits, rounded down."""
    return _rounded(bound + FLOATS * abs(bound), digits, ROUND_FLOOR)


def _rounded(bound: float, digits: int, rounding: str) -> str:
    number = Context(digits, rounding).create_decimal(repr(float(bound)))
    return f"{number.normalize():f}"
