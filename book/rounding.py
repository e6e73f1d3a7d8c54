"""Rounding of bounds: the digits shown are still a bound."""

from typing import Any

import numpy as np

TOLERANCE = 1e-9
"""The rounding error of a computed bound, in units of the last digit shown."""


def round_up(bounds: Any, places: int = 2) -> Any:
    """Return upper bounds, an array or a number, with this many decimals."""
    return np.ceil(bounds * 10.0**places - TOLERANCE) / 10.0**places


def round_down(bounds: Any, places: int = 2) -> Any:
    """Return lower bounds, an array or a number, with this many decimals."""
    return np.floor(bounds * 10.0**places + TOLERANCE) / 10.0**places
