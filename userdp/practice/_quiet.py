"""Refusals that tell nothing: an engine's own words may quote the records that it stumbled over."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def quietly(call: Callable[[], T], rule: str) -> T:
    """Return the result of a call into an engine; its errors become one that quotes no data."""
    try:
        return call()
    except Exception as error:
        failed = type(error).__name__
    # Outside of the handler: the engine's error is not even attached.
    raise ValueError(
        f"`data` must be {rule}. The engine's words ({failed}) are not repeated here, because "
        "they may quote records."
    )
