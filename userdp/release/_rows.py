"""Rows that are not as they should be: what to do with them, and how many there are."""

from __future__ import annotations

from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp.model import Contributions
from userdp.release._columns import refuse_odd
from userdp.release._grid import MOST_RECORDS, Grid, read_grid
from userdp.release._quiet import discreet
from userdp.release._sources import Data, read_tally
from userdp.release._tally import Missing, Outside, Rules, Survey

ANY_VALUE = Rules(Grid(0.0, 1.0, bits=1))
"""Rules where only users are read."""


class ProtectedTally(NamedTuple):
    """How many rows are not as they should be: computed from protected values."""

    rows: int
    users: int
    """How many have rows."""
    without_user: int
    without_value: int
    outside: int
    """Values beyond the bounds."""


@discreet
def user_counts(user: str | npt.ArrayLike, *, data: Data | None = None) -> npt.NDArray[np.int64]:
    """Return how many records each user has: what `plan` starts from.

    Parameters
    ----------
    user : str or array_like, shape (n,)
        The user of each record: the name of a column of `data`, or the column itself. Ids are read
        as in `private_mean`.
    data : path or list of paths, Ibis table or frame, optional
        Where the column is, as in `private_mean`.

    Returns
    -------
    ndarray of int64, shape (L,)
        Counts, the largest first, without the names of the users: not in the order of any sums.
        Public, by assumption: whoever publishes them, or a release that rests on them, tells how
        many records each user has.

    Raises
    ------
    FileNotFoundError, ImportError, TypeError, ValueError
        As `private_mean`, but for OpenDP, which is not needed; if rows have no user.

    Examples
    --------
    >>> user_counts(["a", "b", "a", "a"])
    array([3, 1])
    """
    with read_tally(user, None, data, ANY_VALUE) as tally:
        survey = tally.survey()
    refuse_rows(survey, "clamp", "centre")
    refuse_nobody(survey)
    return survey.counts


@discreet
def protected_tally(
    user: str | npt.ArrayLike,
    value: str | npt.ArrayLike,
    *,
    lower: float,
    upper: float,
    data: Data | None = None,
) -> ProtectedTally:
    """Count the rows that `private_mean` would refuse: for you, and NOT for publication.

    It spends no budget and has no noise; the numbers are computed from protected values.

    Parameters
    ----------
    user, value : str or array_like, shape (n,)
        Names of two columns of `data`, or the columns themselves, as in `private_mean`.
    lower, upper : float
        Public bounds of a value, in its unit.
    data : path or list of paths, Ibis table or frame, optional
        Where the columns are, as in `private_mean`.

    Returns
    -------
    ProtectedTally

    Raises
    ------
    FileNotFoundError, ImportError, TypeError, ValueError
        As `private_mean`, but for OpenDP, which is not needed, and for rows that are not as they
        should be.

    Examples
    --------
    >>> protected_tally(["a", "b", None], [1.0, 9.0, 2.0], lower=0, upper=6)
    ProtectedTally(rows=3, users=2, without_user=1, without_value=0, outside=1)
    """
    rules = Rules(read_grid(lower, upper))
    with read_tally(user, value, data, rules) as tally:
        found = tally.survey()
    if found.odd_users:
        refuse_odd()
    rows = sum(m * n for m, n in zip(found.sizes, found.users, strict=True)) + found.without_user
    faults = found.without_user, found.without_value, found.outside
    return ProtectedTally(rows, sum(found.users), *faults)


def read_rules(grid: Grid, outside: Outside, missing: Missing) -> Rules:
    """Return which rows count, or refuse a choice."""
    if not isinstance(outside, str) or outside not in get_args(Outside):
        check.refuse_value("outside", "'refuse', 'clamp' or 'drop'", outside)
    if not isinstance(missing, str) or missing not in get_args(Missing):
        check.refuse_value("missing", "'refuse', 'centre' or 'drop'", missing)
    return Rules(grid, drop_missing=missing == "drop", drop_outside=outside == "drop")


def users_of(survey: Survey, grid: Grid) -> Contributions:
    """Return the public counts of a table, with the width of its values; refuse a table of nobody.

    Counts are limited so that the sum of a user's levels fits its integers. No array has an entry a
    user: the histogram says as much.
    """
    refuse_nobody(survey)
    if survey.sizes[-1] > MOST_RECORDS:
        raise ValueError("`user` must have at most 2^42 records each: one has more.")
    sizes = np.array(survey.sizes, np.int64)
    n_users = np.array(survey.users, np.int64)
    return Contributions._of_histogram(sizes, n_users, grid.width)


def refuse_rows(survey: Survey, outside: Outside, missing: Missing) -> None:
    """Refuse rows that are not as they should be. Their number is protected: it is not told."""
    if survey.odd_users:
        refuse_odd()
    if survey.without_user and missing != "drop":
        raise ValueError(
            "`user` must not be missing: some rows have none. Find out whose they are, or leave "
            "them out before you count (where counts are protected, missing='drop' does)."
        )
    if survey.without_value and missing == "refuse":
        raise ValueError(
            "`value` must not be missing: some rows have none. Fill them, or pass "
            "missing='centre', which keeps the promise of privacy (where counts are protected, "
            "missing='drop' does, too)."
        )
    if survey.outside and outside == "refuse":
        raise ValueError(
            "`value` must lie between the bounds: some do not. Correct them, or pass "
            "outside='clamp', which keeps the promise of privacy."
        )


def refuse_nobody(survey: Survey) -> None:
    """Refuse a table in which no row counts."""
    if not survey.sizes:
        raise ValueError("`user` must have rows that count: there are none.")
