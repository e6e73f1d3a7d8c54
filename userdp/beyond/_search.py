"""Bisection: where a condition stops holding, to the last float."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from userdp._checks import Floats


def halve(
    holds: Callable[[Floats], Any], low: npt.ArrayLike, high: npt.ArrayLike, *, whole: bool = False
) -> tuple[Floats, Floats]:
    """Return the last places where conditions hold, and the next ones, where they do not.

    Parameters
    ----------
    holds : callable
        Called with places, shape (...); returns whether each condition holds at its place. It must
        hold up to some place, and not beyond.
    low, high : array_like of float, shape (...)
        Places where the conditions hold, and places where they do not. This is taken for granted.
    whole : bool, optional
        Whether only whole numbers are places. Otherwise all floats are.

    Returns
    -------
    low, high : ndarray of float64, shape (...)
        Neighbours among the places.

    Examples
    --------
    >>> halve(lambda x: x * x <= 2, 0.0, 2.0)
    (array(1.41421356), array(1.41421356))
    >>> halve(lambda x: x * x <= 2, 0.0, 2.0, whole=True)
    (array(1.), array(2.))
    """
    low = np.asarray(low, dtype=np.float64)
    high = np.asarray(high, dtype=np.float64)
    while True:
        middle = low + (high - low) / 2
        if whole:
            middle = np.floor(middle)
        if not np.any((low < middle) & (middle < high)):
            return low, high
        below = holds(middle)
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
