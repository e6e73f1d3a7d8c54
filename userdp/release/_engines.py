"""The tally of a table in an engine: one scan, one row per user; only a few numbers leave it.

The query depends on the bounds alone, so one scan is enough. The tally stays in the engine, in a
temporary table that is always dropped; a few queries read it. A release therefore describes one
state of the table, even if the table changes meanwhile.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from userdp.release._backends import FLOAT, INT, ONE_AT_A_TIME, Backend, run_query
from userdp.release._columns import EXACT_BELOW
from userdp.release._grid import Grid, Window, in_steps
from userdp.release._quiet import quietly
from userdp.release._rows import Rules, Survey
from userdp.release._tally import CountRange, Tally, WeightedTotals

WIDE_INT = "decimal(38, 0)"
"""Whole numbers of 38 digits, for sums whose size depends on protected numbers."""

LARGEST_TOTAL = 1 << 62

FAULTS = ("without_user", "invalid_floats", "without_value", "outside")


class TemporaryTable:
    """A temporary table of an engine, which is dropped even if an error occurs.

    Parameters
    ----------
    make_query : callable
        Returns the query whose rows are stored.
    backend : Backend
        The engine of the table.
    disconnect : callable, optional
        Closes the connection, if it was opened for this table.
    explain : callable, optional
        Takes the name of the engine's error, and raises another error if it knows the cause.
    """

    def __init__(
        self,
        make_query: Callable[[], Any],
        backend: Backend,
        disconnect: Callable[[], None] | None = None,
        explain: Callable[[str], None] | None = None,
    ) -> None:
        import ibis

        self.backend = backend
        self.disconnect = disconnect
        self.name = ibis.util.gen_name("userdp_tally")
        with ONE_AT_A_TIME:
            try:
                self.rows = quietly(
                    lambda: backend.keep(make_query(), self.name),
                    rule=backend.unreadable_rule,
                    explain=explain,
                )
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        with ONE_AT_A_TIME:
            with suppress(Exception):  # an engine that died leaves no table
                self.backend.drop(self.name)
            if self.disconnect is not None:
                self.disconnect()


class TableOfUsers(Tally):
    """A table with one row per user in an engine, whose lifetime is managed elsewhere.

    Parameters
    ----------
    users : ibis.Table
        The result of `tally_of`, possibly without the columns of faults.
    """

    def __init__(self, users: Any) -> None:
        self.users = users

    def close(self) -> None:
        pass

    def survey(self) -> Survey:
        faults = {name: self.users[name].sum() for name in FAULTS}
        query = self.users.group_by("size").aggregate(users=self.users.count(), **faults)
        rows = run_query(query)
        counts = sorted((int(row["size"]), int(row["users"])) for row in rows if row["size"])
        sizes = tuple(size for size, _ in counts)
        users = tuple(n for _, n in counts)
        return Survey(sizes, users, *(sum(int(row[name]) for row in rows) for name in FAULTS))

    def clipped_total(self, window: Window, among: CountRange | None = None) -> int:
        clipped = between(self._steps(window, among), window.lowest, window.highest)
        (row,) = run_query(self.users.aggregate(total=clipped.sum()))
        return int(row["total"])

    def weighted_total(self, window: Window, cap: int) -> WeightedTotals:
        import ibis

        size = self.users["size"]
        weight = ibis.least(size, cap).cast(INT)
        share = weight.cast(FLOAT) / ibis.greatest(size, 1).cast(FLOAT)
        weighted = (self._steps(window).cast(FLOAT) * share + exact(0.5)).floor().cast(INT)
        clipped = between(weighted, weight * window.lowest, weight * window.highest)
        # The number of rows is protected here, so no sum of 64 bits is certain to be wide enough.
        totals = {
            "total": clipped.cast(WIDE_INT).sum(),
            "weight": weight.cast(WIDE_INT).sum(),
        }
        # Without users the sums are null.
        totals = {name: total.coalesce(0) for name, total in totals.items()}
        (row,) = run_query(self.users.aggregate(**totals))
        return WeightedTotals(_clamp(row["total"]), _clamp(row["weight"]))

    def _steps(self, window: Window, among: CountRange | None = None) -> Any:
        """Return each user's sum of levels, less the origin, in steps; 0 for users not `among`."""
        import ibis

        columns = self.users.high, self.users.low, self.users.n_levels
        if among is not None:
            chosen = among.contains(self.users["size"])
            columns = tuple(ibis.ifelse(chosen, column, 0) for column in columns)
        return in_steps(*columns, window)


class TallyInEngine(TableOfUsers):
    """One row per user in a temporary table of an engine.

    Parameters
    ----------
    table : TemporaryTable
        The result of `tally_of`.
    """

    def __init__(self, table: TemporaryTable) -> None:
        super().__init__(table.rows)
        self.table = table

    def close(self) -> None:
        self.table.close()


def tally_of(records: Any, rules: Rules, backend: Backend) -> Any:
    """Return the query of the tally: one row per user, from one scan of the records."""
    import ibis

    value = records.value
    present = value.notnull() & ~value.isnan()
    outside = present & ~value.between(exact(rules.grid.lower), exact(rules.grid.upper))
    has_level = present
    if rules.drop_outside:
        has_level = has_level & ~outside
    level = ibis.ifelse(has_level, level_of(value, rules.grid), None)
    rows = records.select(user=records.user, outside=outside, level=level)
    halves = backend.sum_in_halves(rows.level)
    users = rows.group_by("user").aggregate(
        n_rows=rows.count(),
        n_levels=rows.level.count(),
        n_outside=rows.count(where=rows.outside),
        **{name: half.coalesce(0).cast(INT) for name, half in halves.items()},
    )
    n_missing = users.n_rows - users.n_levels
    if rules.drop_outside:
        n_missing = n_missing - users.n_outside
    no_user = is_null_user(users.user)
    invalid = is_invalid_float(users.user, backend) & ~no_user
    size = users.n_rows
    if rules.drop_missing:
        size = size - n_missing
    if rules.drop_outside:
        size = size - users.n_outside
    of_users = {
        "size": size,
        "n_levels": users.n_levels,
        "high": users.high,
        "low": users.low,
        "without_value": n_missing,
        "outside": users.n_outside,
    }
    return users.select(
        **{name: ibis.ifelse(no_user, 0, column) for name, column in of_users.items()},
        without_user=ibis.ifelse(no_user, users.n_rows, 0),
        invalid_floats=ibis.ifelse(invalid, users.n_rows, 0),
    )


def exact(number: float) -> Any:
    """Return a float for a query: engines read a bare literal as a decimal, and may round it."""
    import ibis

    return ibis.literal(repr(float(number))).cast(FLOAT)


def level_of(value: Any, grid: Grid) -> Any:
    """Return the levels of values, by the same operations as for arrays, in the same order."""
    inside = between(value, exact(grid.lower), exact(grid.upper))
    position = (inside - exact(grid.lower)) * exact(grid.levels_per_unit) + exact(0.5)
    return position.floor().cast(INT)


def is_null_user(user: Any) -> Any:
    if user.type().is_floating():
        return user.isnull() | user.isnan()
    return user.isnull()


def is_invalid_float(user: Any, backend: Backend) -> Any:
    """Whether a user is a float that is not a whole number, or too large for its type."""
    import ibis

    dtype = user.type()
    if not dtype.is_floating():
        return user.isnull() & False
    in_range = user.abs() < EXACT_BELOW[np.dtype(f"f{backend.fewest_source_bits(dtype) // 8}").type]
    small = ibis.ifelse(in_range, user, 0.0)  # whose floor fits 64 bits
    return ~in_range | (small != small.floor())


def between(column: Any, lowest: Any, highest: Any) -> Any:
    """Return a column without nulls, clipped, in SQL that is more readable than that of `clip`."""
    import ibis

    return ibis.least(ibis.greatest(column, lowest), highest)


def _clamp(total: Any) -> int:
    """Return a total clamped to +-2^62, which takes 2^38 records or more to exceed.

    Clamping moves no two totals farther apart, so the privacy guarantee holds.
    """
    return min(max(int(total), -LARGEST_TOTAL), LARGEST_TOTAL)
