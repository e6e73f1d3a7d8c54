"""Rows: which of them count, what a scan finds, and which are refused."""

from __future__ import annotations

from typing import NamedTuple, NoReturn, get_args

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp.model import Contributions
from userdp.release._grid import MAX_RECORDS, Grid
from userdp.release._wording import Missing, Outside


class Rules(NamedTuple):
    """Which rows count, and which level each has. Rows without a user never count."""

    grid: Grid
    drop_missing: bool = False
    """Rows without a value do not count; if false, they have the level of the centre."""
    drop_outside: bool = False
    """Rows with a value beyond the bounds do not count; if false, it is moved to the nearer one."""


class Survey(NamedTuple):
    """Numbers of users by their number of rows that count, and numbers of invalid rows."""

    sizes: tuple[int, ...]
    """Different numbers of rows that count, each at least 1, the smallest first."""
    users: tuple[int, ...]
    """Number of users with each of these numbers of rows."""
    without_user: int = 0
    invalid_floats: int = 0
    """Rows whose user is a float that is not a whole number, or not represented exactly."""
    without_value: int = 0
    """Rows with a user, and without a value."""
    outside: int = 0
    """Rows with a user, and with a value beyond the bounds."""

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Each user's number of rows that count, shape (L,), the largest first."""
        return np.repeat(np.array(self.sizes[::-1], np.int64), self.users[::-1])


def read_rules(grid: Grid, outside: Outside, missing: Missing) -> Rules:
    """Return which rows count; raise if a choice is invalid."""
    if not isinstance(outside, str) or outside not in get_args(Outside):
        check.refuse_value("outside", "'refuse', 'clamp' or 'drop'", outside)
    if not isinstance(missing, str) or missing not in get_args(Missing):
        check.refuse_value("missing", "'refuse', 'centre' or 'drop'", missing)
    return Rules(grid, drop_missing=missing == "drop", drop_outside=outside == "drop")


def refuse_rows(survey: Survey, outside: Outside, missing: Missing) -> None:
    """Raise if there are invalid rows. Their number is protected, so the message omits it."""
    if survey.invalid_floats:
        refuse_invalid_floats()
    if survey.without_user and missing != "drop":
        raise ValueError(
            "`user` must not be missing: some rows have no user. Find out whose rows they are, or "
            "remove them before you count (if counts are protected, pass missing='drop')."
        )
    if survey.without_value and missing == "refuse":
        raise ValueError(
            "`value` must not be missing: some rows have no value. Fill them in, or pass "
            "missing='centre', which keeps the privacy guarantee (if counts are protected, "
            "missing='drop' keeps it too)."
        )
    if survey.outside and outside == "refuse":
        raise ValueError(
            "`value` must lie between the bounds: some do not. Correct them, replace codes for "
            "missing values by empty entries, or pass outside='clamp', which keeps the privacy "
            "guarantee."
        )


def refuse_invalid_floats() -> NoReturn:
    """Raise because floats are not valid ids."""
    raise TypeError(
        "`user` must hold ids: floats must be whole numbers that their type represents exactly "
        "(below 2^53 in 64 bits, 2^24 in 32, 2^11 in 16, which DuckDB reads as 32). Pass whole "
        "numbers or text."
    )


def users_of(survey: Survey, grid: Grid) -> Contributions:
    """Return the public counts of a table, with the width of its range; raise if it has no users.

    Counts are limited so that the sum of a user's levels fits its integers. No array has one entry
    per user, because the histogram is enough.
    """
    refuse_no_users(survey)
    if survey.sizes[-1] > MAX_RECORDS:
        raise ValueError("`user` must have at most 2^42 records per user: one has more.")
    sizes = np.array(survey.sizes, np.int64)
    n_users = np.array(survey.users, np.int64)
    return Contributions._of_histogram(sizes, n_users, grid.width)


def refuse_no_users(survey: Survey) -> None:
    """Raise if no row counts."""
    if not survey.sizes:
        raise ValueError("`user` must have at least one valid row: there is none.")
