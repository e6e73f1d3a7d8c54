"""Bounded searches: doubling to find an interval, and bisection within it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from userdp._checks import Floats

_MAX_HALVINGS = 2200
"""Enough, because two floats are at most 2^1025 apart, and adjacent ones at least 2^-1074."""

_MAX_DOUBLINGS = 2100
"""Enough to get from the smallest positive float beyond the largest."""


class NotFoundError(RuntimeError):
    """A search ended without a result. Its message names what was searched for."""


def double(holds: Callable[[Floats], Any], start: npt.ArrayLike, quantity: str) -> Floats:
    """Double starting points until the conditions hold at none of them.

    Parameters
    ----------
    holds : callable
        Called with points, shape (...); returns whether each condition holds at its point.
    start : array_like of float, shape (...)
        Positive starting points. All are doubled together.
    quantity : str
        What is searched for, for the error message.

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    NotFoundError
        If the conditions hold up to the largest float.

    Examples
    --------
    >>> double(lambda x: x * x <= 200, 1.0, "the root")
    array(16.)
    """
    end = np.asarray(start, dtype=np.float64)
    with np.errstate(over="ignore"):
        for _ in range(_MAX_DOUBLINGS):
            if not np.any(holds(end)):
                return end
            end = np.asarray(2 * end)
    raise NotFoundError(f"An upper end for {quantity} was not found in {_MAX_DOUBLINGS} doublings.")


def halve(
    holds: Callable[[Floats], Any], low: npt.ArrayLike, high: npt.ArrayLike, *, whole: bool = False
) -> tuple[Floats, Floats]:
    """Return the last points where conditions hold, and the next ones, where they do not.

    Parameters
    ----------
    holds : callable
        Called with points, shape (...); returns whether each condition holds at its point. It must
        hold up to some point, and not beyond.
    low, high : array_like of float, shape (...)
        Points where the conditions hold, and points where they do not. This is not checked.
    whole : bool, optional
        Whether to search among whole numbers only, instead of all floats.

    Returns
    -------
    low, high : ndarray of float64, shape (...)
        Adjacent points.

    Examples
    --------
    >>> halve(lambda x: x * x <= 2, 0.0, 2.0)
    (array(1.41421356), array(1.41421356))
    >>> halve(lambda x: x * x <= 2, 0.0, 2.0, whole=True)
    (array(1.), array(2.))
    """
    low = np.asarray(low, dtype=np.float64)
    high = np.asarray(high, dtype=np.float64)
    for _ in range(_MAX_HALVINGS):
        middle = low + (high - low) / 2
        if whole:
            middle = np.floor(middle)
        if not np.any((low < middle) & (middle < high)):
            break
        below = holds(middle)
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    return low, high
