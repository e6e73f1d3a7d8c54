"""The privacy parameter eps, and the rank k = ceil(2/eps) that the paper derives from it."""

import numbers
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import ceil, inf

import numpy as np

from userdp._checks import LARGEST, SMALLEST_NORMAL, is_boolean, refuse_type, refuse_value

Epsilon = float | Fraction | Decimal | str
"""A privacy parameter: a real number, or the text of a decimal number."""

SNAP = Fraction(1, 10**9)
"""A float eps counts as 2/k when 2/eps is within this relative distance of the integer k."""


def read_eps(eps: Epsilon) -> Fraction:
    """Return the exact value of a privacy parameter.

    Parameters
    ----------
    eps : float, int, Fraction, Decimal or str
        Privacy budget of a release (dimensionless, public). A float stands for its binary value;
        a string must be a decimal number such as ``"0.1"``.

    Returns
    -------
    Fraction
        The value, unrounded.

    Raises
    ------
    TypeError
        If `eps` is a boolean or no real number.
    ValueError
        If `eps` is text that is no number, not positive, not finite, or so close to zero that a
        float can hold it only as a subnormal number.

    Examples
    --------
    >>> read_eps("0.1"), read_eps(0.5)
    (Fraction(1, 10), Fraction(1, 2))
    """
    number = _read_number(eps)
    # A comparison with a Decimal NaN would raise an error of its own.
    if (isinstance(number, Decimal) and number.is_nan()) or not 0 < number < inf:
        refuse_value("eps", "positive and finite", eps)
    # Compared before the conversion: Fraction(Decimal("1e-999999999")) would never end.
    if not SMALLEST_NORMAL <= number <= LARGEST:
        refuse_value("eps", "within the range of normal floats", eps)
    return Fraction(number)


def _read_number(eps: object) -> float | Fraction | Decimal:
    if isinstance(eps, str):
        try:
            return Decimal(eps)
        except InvalidOperation:
            refuse_value("eps", "a real number or the text of a decimal number", eps)
    if isinstance(eps, Decimal | Fraction):
        return eps
    if is_boolean(eps) or not isinstance(eps, numbers.Real):
        refuse_type("eps", "a real number or the text of a decimal number", eps)
    return int(eps) if isinstance(eps, numbers.Integral) else float(eps)


def rank(eps: Epsilon) -> int:
    """Return k = ceil(2/eps): the threshold of Theorem III.1 is the k-th largest U m_l.

    Fractions, Decimals, integers and strings are taken at their word. A float is allowed to miss
    the number it was meant to be: where 2/eps lies within a relative 1e-9 of an integer, k is that
    integer (in floating point, ``math.ceil(2 / (2 / 49))`` is 50); a numpy float32 is allowed its
    own precision. The rank is public, and noise is
    always scaled to the interval widths in use, so this reading costs no privacy.

    Parameters
    ----------
    eps : float, int, Fraction, Decimal or str
        Privacy budget of the release (dimensionless, public).

    Returns
    -------
    int
        k, at least 1; it may exceed the number of users.

    Raises
    ------
    TypeError, ValueError
        As `read_eps`.

    Examples
    --------
    >>> rank(0.3), rank(2 / 49), rank("2")
    (7, 49, 1)
    """
    quotient = 2 / read_eps(eps)
    nearest = round(quotient)
    if nearest and abs(quotient - nearest) <= _tolerance(eps) * nearest:
        return nearest
    return ceil(quotient)


def _tolerance(eps: Epsilon) -> Fraction:
    """Return how far, relatively, 2/eps may be from what was meant; a float32 knows 7 digits."""
    if isinstance(eps, numbers.Rational | Decimal | str):
        return Fraction(0)
    return (
        max(SNAP, Fraction(float(np.finfo(type(eps)).eps)))
        if isinstance(eps, np.floating)
        else SNAP
    )
