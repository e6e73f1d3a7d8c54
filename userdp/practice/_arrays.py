"""Records in memory: a snapshot of two columns, on which the steps run in numpy."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from userdp.practice._columns import Ids
from userdp.practice._grid import Grid
from userdp.practice._records import Records, Rules, Summed, Survey, Weighted

ROWS_AT_A_TIME = 2**15
"""Temporary arrays of this length stay in the processor's cache."""


class Arrays(Records):
    """Records in two arrays that nobody else holds; a missing value is NaN."""

    def __init__(self, ids: Ids, values: npt.NDArray[np.float64]):
        self.ids, self.values = ids, values
        self._look = cache(self._count)  # the arrays do not change: once is enough

    def survey(self, rules: Rules) -> Survey:
        """Count rows and users."""
        return self._look(rules)[0]

    def clipped_total(self, rules: Rules, grid: Grid, lowest: int, highest: int) -> Summed:
        """Add up each user's levels less the origin, clip the sums, add them up; count again."""
        survey, sums, _ = self._sums(rules, grid)
        return Summed(int(np.clip(sums, lowest, highest).astype(np.int64).sum()), survey)

    def weighted_total(self, rules: Rules, grid: Grid, reach: int, cap: int) -> Weighted:
        """Clip each user's average level, less the origin, to +-reach; add up, with weights."""
        survey, sums, counts = self._sums(rules, grid)
        weights = np.minimum(counts, cap).astype(np.float64)
        shares = weights / np.maximum(counts, 1)
        clipped = np.clip(np.floor(sums * shares + 0.5), -reach * weights, reach * weights)
        return Weighted(int(clipped.astype(np.int64).sum()), int(weights.sum()), survey)

    def _count(self, rules: Rules) -> tuple[Survey, npt.NDArray[np.int64], bool]:
        """Return the survey, the rows of each code that count, and whether all rows do."""
        without_user = without_value = outside = 0
        counts = np.zeros(self.ids.n_codes, np.int64)
        for part in self._parts():
            values, codes = self.values[part], self._codes(part)
            inside = rules.lower <= values.min() and values.max() <= rules.upper  # none is NaN
            if not inside or self.ids.some_missing:
                absent, known = np.isnan(values), codes >= 0
                beyond = (values < rules.lower) | (values > rules.upper)
                without_user += int(np.count_nonzero(~known))
                without_value += int(np.count_nonzero(absent & known))
                outside += int(np.count_nonzero(beyond & known))
                codes = codes[_kept(values, codes, rules)]
            np.add.at(counts, codes, 1)  # in three quarters of the time of np.bincount
        sizes, users = np.unique(counts[counts > 0], return_counts=True)
        found = without_user, 0, without_value, outside
        survey = Survey(tuple(sizes.tolist()), tuple(users.tolist()), *found)
        return survey, counts, not any(found)

    def _sums(
        self, rules: Rules, grid: Grid
    ) -> tuple[Survey, npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return the survey, and each code's sum of levels less the origin, and number of rows."""
        survey, counts, clean = self._look(rules)
        sums = np.zeros(self.ids.n_codes)  # of whole numbers below 2^53, which floats add exactly
        for part in self._parts():
            values, codes = self.values[part], self._codes(part)
            if not clean:
                kept = _kept(values, codes, rules)
                values, codes = values[kept], codes[kept]
            np.add.at(sums, codes, _levels(values, grid))
        sums -= grid.origin * counts
        return survey, sums, counts

    def _codes(self, part: slice) -> npt.NDArray[np.intp]:
        return self.ids.codes[part].astype(np.intp)

    def _parts(self) -> Iterator[slice]:
        starts = range(0, self.values.size, ROWS_AT_A_TIME)
        return (slice(i, i + ROWS_AT_A_TIME) for i in starts)


def _kept(
    values: npt.NDArray[np.float64], codes: npt.NDArray[np.intp], rules: Rules
) -> npt.NDArray[np.bool_]:
    """Which rows count."""
    kept: npt.NDArray[np.bool_] = codes >= 0
    if rules.drop_missing:
        kept &= ~np.isnan(values)
    if rules.drop_outside:
        kept &= ~((values < rules.lower) | (values > rules.upper))
    return kept


def _levels(values: npt.NDArray[np.float64], grid: Grid) -> npt.NDArray[np.float64]:
    """Whole levels from 0 to the top, whatever the values are; NaN stands for the origin."""
    with np.errstate(over="ignore"):  # of values beyond the bounds
        levels = values - grid.lower
        levels *= grid.levels_a_unit
    levels += 0.5
    np.floor(levels, out=levels)
    np.clip(levels, 0, grid.top, out=levels)
    absent = np.isnan(levels)
    if absent.any():
        levels[absent] = grid.origin
    return levels
