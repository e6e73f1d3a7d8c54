"""The tally of a table: one row per user, with what a release needs of that user's records.

A table is read once. Its tally has each user's number of records and the sum of their levels, and
the numbers of invalid rows. All later queries go to the tally, which is in memory
(`TallyInMemory`), in an engine (`_engines`), or in sums that the caller passes (`TallyOfSums`).
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from userdp._checks import Floats
from userdp.release._columns import Ids, Pairs
from userdp.release._grid import HALF, HALF_BITS, Grid, Window, in_steps
from userdp.release._rows import Rules, Survey

Integers = npt.NDArray[np.int64]

ROWS_AT_A_TIME = 2**15
"""Temporary arrays of this length stay in the processor's cache."""

ROWS_THAT_FIT = 2**22
"""This many levels of 40 bits have a sum of at most 2^62."""


class CountRange(NamedTuple):
    """A range of numbers of rows that count, which selects users; these numbers are public.

    The others are left out before sums become steps, in which theirs need not fit 64 bits.
    """

    fewest: int
    """Each user has at least this many rows."""
    below: int
    """Each user has fewer than this many rows."""

    def contains(self, sizes: Any) -> Any:
        """Whether numbers of rows are in the range, for an array or a column of an engine."""
        return (sizes >= self.fewest) & (sizes < self.below)


class WeightedTotals(NamedTuple):
    """Two totals over users, each of whom counts for at most `cap` rows."""

    total: int
    weight: int


class ClosedOnExit(ABC):
    """A context manager that calls `close` on exit."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Free what is held outside this process."""


class Tally(ClosedOnExit):
    """One row per user, from records: a context manager; on exit, an engine drops its table.

    (Spark frees the memory of such a table later.)
    """

    @abstractmethod
    def survey(self) -> Survey:
        """Return the number of users with each number of rows, and the numbers of invalid rows."""

    @abstractmethod
    def clipped_total(self, window: Window, among: CountRange | None = None) -> int:
        """Add up the clipped sums of all users, or of some, in steps from the origin."""

    @abstractmethod
    def weighted_total(self, window: Window, cap: int) -> WeightedTotals:
        """Add up all users' weighted clipped averages, in steps from the origin, and their weights.

        The weight of a user is the user's number of rows, capped at `cap`.
        """


class TallyOfSums:
    """Sums of values that the caller already has.

    Parameters
    ----------
    sums : ndarray of float64, shape (L,)
        Each user's sum of values; no NaN. Sums beyond what the bounds allow are moved to the
        nearest one that they do allow.
    counts : ndarray of int64, shape (L,)
        Each user's number of values.
    grid : Grid
        The levels of a value.
    """

    def __init__(self, sums: Floats, counts: Integers, grid: Grid) -> None:
        self.counts = counts
        self.grid = grid
        self.sums = np.clip(sums, counts * grid.lower, counts * grid.upper)

    def clipped_total(self, window: Window, among: CountRange | None = None) -> int:
        """Add up the clipped sums of all users, or of some, in steps from the origin."""
        centre = self.grid.lower + window.origin * self.grid.step
        step = self.grid.step * (1 << window.shift)
        chosen = slice(None) if among is None else among.contains(self.counts)
        sums = self.sums[chosen] - self.counts[chosen] * centre
        steps = np.floor(sums / step + 0.5).astype(np.int64)
        # Clip whole numbers: the ends of the window may be between two floats.
        return int(np.clip(steps, window.lowest, window.highest).sum())


class TallyInMemory(Tally):
    """One row per code of a user, or of a user and a group, in arrays.

    Parameters
    ----------
    ids : Ids or Pairs
        The user of each record, or the user and the group.
    values : ndarray of float64, shape (n,)
        The value of each record, NaN where there is none.
    rules : Rules
        Which rows count.
    """

    def __init__(self, ids: Ids | Pairs, values: Floats, rules: Rules) -> None:
        self.rules = rules
        self.some_missing = ids.some_missing
        # Per code: number of levels, sums of both halves, and rows that count without a value.
        self.n_levels = np.zeros(ids.n_codes, np.int64)
        self.high = np.zeros(ids.n_codes, np.int64)
        self.low = np.zeros(ids.n_codes, np.int64)
        self.blanks = np.zeros(ids.n_codes, np.int64)
        self.without_user = 0
        self.without_value = 0
        self.outside = 0
        for begin in range(0, values.size, ROWS_THAT_FIT):
            self._add(ids, values, begin, min(begin + ROWS_THAT_FIT, values.size))
        self.sizes = self.n_levels + self.blanks

    def close(self) -> None:
        pass  # everything is in this process

    def survey(self) -> Survey:
        survey = _survey_of(self.sizes)
        return survey._replace(
            without_user=self.without_user,
            without_value=self.without_value,
            outside=self.outside,
        )

    def clipped_total(self, window: Window, among: CountRange | None = None) -> int:
        chosen = slice(None) if among is None else among.contains(self.sizes)
        return int(np.clip(self._steps(window, chosen), window.lowest, window.highest).sum())

    def weighted_total(self, window: Window, cap: int) -> WeightedTotals:
        weights = np.minimum(self.sizes, cap)
        shares = weights / np.maximum(self.sizes, 1)
        weighted = np.floor(self._steps(window) * shares + 0.5).astype(np.int64)
        clipped = np.clip(weighted, window.lowest * weights, window.highest * weights)
        return WeightedTotals(int(clipped.sum()), int(weights.sum()))

    def _steps(self, window: Window, chosen: Any = slice(None)) -> Integers:
        """Return each user's sum of levels, less the origin, in steps; for all or the chosen."""
        sums = self.high[chosen], self.low[chosen]
        steps: Integers = in_steps(*sums, self.n_levels[chosen], window)
        return steps

    def _add(self, ids: Ids | Pairs, values: Floats, begin: int, end: int) -> None:
        """Add records, few enough that 64-bit integers hold the sums of their levels."""
        sums = np.zeros(self.high.size, np.int64)
        for first in range(begin, end, ROWS_AT_A_TIME):
            rows = slice(first, min(first + ROWS_AT_A_TIME, end))
            some_codes = ids.of_rows(rows)
            some_values = values[rows]
            if not self._are_clean(some_codes, some_values):
                some_codes, some_values = self._count_invalid(some_codes, some_values)
            # Count and add up at once, while the codes are in the processor's cache.
            np.add.at(self.n_levels, some_codes, 1)
            np.add.at(sums, some_codes, _levels(some_values, self.rules.grid))
        self.high += sums >> HALF_BITS
        self.low += sums & (HALF - 1)

    def _are_clean(self, codes: npt.NDArray[np.intp], values: Floats) -> bool:
        """Whether all records have a user, and a value between the bounds (so none is NaN)."""
        grid = self.rules.grid
        inside = grid.lower <= values.min() and values.max() <= grid.upper
        return bool(inside and (not self.some_missing or codes.min() >= 0))

    def _count_invalid(
        self, codes: npt.NDArray[np.intp], values: Floats
    ) -> tuple[npt.NDArray[np.intp], Floats]:
        """Count invalid records; return the records that have a level."""
        has_user = codes >= 0
        self.without_user += int(np.count_nonzero(~has_user))
        codes = codes[has_user]
        values = values[has_user]

        absent = np.isnan(values)
        self.without_value += int(np.count_nonzero(absent))
        if not self.rules.drop_missing:
            np.add.at(self.blanks, codes[absent], 1)
        codes = codes[~absent]
        values = values[~absent]

        grid = self.rules.grid
        beyond = (values < grid.lower) | (values > grid.upper)
        self.outside += int(np.count_nonzero(beyond))
        if self.rules.drop_outside:
            codes = codes[~beyond]
            values = values[~beyond]
        return codes, np.clip(values, grid.lower, grid.upper)


def _levels(values: Floats, grid: Grid) -> Integers:
    """Return the levels of values between the bounds, by four operations in a fixed order."""
    levels = values - grid.lower
    levels *= grid.levels_per_unit
    levels += 0.5
    return levels.astype(np.int64)  # rounds down, as none is negative


def _survey_of(counts: Integers) -> Survey:
    sizes, users = distinct(counts[counts > 0])
    return Survey(tuple(sizes.tolist()), tuple(users.tolist()))


def distinct(numbers: Integers) -> tuple[Integers, Integers]:
    """Return distinct whole numbers from 0 in ascending order, and how often each occurs."""
    if numbers.max(initial=0) >= 4 * numbers.size:  # too large for an array of all up to this one
        return np.unique(numbers, return_counts=True)
    counts = np.bincount(numbers)
    present = np.flatnonzero(counts)
    return present, counts[present]
