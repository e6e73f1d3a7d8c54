"""The tally of a table in groups: one row per user and group, with one sum per column of values.

A table is read once. The numbers of records per user and group are public. A release needs only a
few queries of the tally, which is in memory or in an engine (`_grouped_engines`).
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp._checks import Floats
from userdp.release._columns import Ids, Pairs
from userdp.release._grid import Grid, Window, in_steps
from userdp.release._rows import Rules, Survey
from userdp.release._tally import ClosedOnExit, Integers, Tally, TallyInMemory, distinct

UNLISTED = -1
"""The index of a group that is not in the public list."""

PLACEHOLDER_GRID = Grid(0.0, 1.0, bits=1)
"""The grid if only counts are needed; all values are then taken as its lower bound."""


class GroupRules(NamedTuple):
    """The levels of each column of values, and the public list of groups, as text."""

    grids: tuple[Grid, ...]
    groups: tuple[str, ...]


class GroupSurvey(NamedTuple):
    """What a scan finds: a survey per group, of rows with a user and a listed group, and faults."""

    groups: tuple[Survey, ...]
    faults: Survey
    """Numbers of invalid rows of the whole table. Its sizes are empty."""
    unlisted: int
    """The number of rows without a group, or whose group is not in the list."""


class LinkedGroups(NamedTuple):
    """Groups that are connected by users who have records in several of them."""

    group_indices: tuple[int, ...]
    max_groups_per_user: int
    """The largest number of these groups in which one user has records."""


SideLengths = tuple[float, float]
"""The distances from the centre to the lower and to the upper bound, in halves of the range.

Both are 1 if the centre is the middle; their sum is 2."""


class Widths(NamedTuple):
    """Integer widths of the intervals to which the contributions of users are clipped."""

    width_sums: dict[float, tuple[int, ...]]
    """By side length: for each group, the sum of all users' widths on such a side, in steps."""
    sensitivity: int
    """The l1 sensitivity, in steps: the largest, over users, of the sum of the user's widths on
    both sides in all columns and these groups."""


class InfluenceClipping(NamedTuple):
    """How contributions to the means of some groups are clipped, from public counts alone."""

    influence_per_record: dict[int, int]
    """By group: the influence of one record on all means together, an integer in a public unit."""
    threshold: int
    """A user whose records have more influence than this is scaled down to it."""
    half_range_steps: dict[int, float]
    """By group: how far the mean moves if one value moves by half of its range, in steps."""
    side_lengths: tuple[SideLengths, ...]
    """Those of each column."""

    @property
    def length_counts(self) -> Counter[float]:
        """For each side length, the number of such sides over all columns."""
        return Counter(length for lengths in self.side_lengths for length in lengths)


class GroupTally(ClosedOnExit):
    """One row per user and group: a context manager; on exit, an engine drops its table."""

    @abstractmethod
    def survey(self) -> GroupSurvey:
        """Return the number of users with each count in each group, and the number of faults."""

    @abstractmethod
    def links(self) -> dict[tuple[int, int], int]:
        """Return pairs (a, b) of groups: one group a of each user, with each group b of that user.

        So (a, a) is included. The value of a pair is the largest number of groups of such a user.
        """

    @abstractmethod
    def influences(self, influence_per_record: dict[int, int], ranks: list[int]) -> list[int]:
        """Return the n-th largest influence of a user for each rank n, 0 if there are fewer users.

        Only the groups of `influence_per_record` count.
        """

    @abstractmethod
    def widths(self, clippings: list[InfluenceClipping]) -> list[Widths]:
        """Return the widths for each clipping, in the order of its groups.

        The clippings differ only in their thresholds.
        """

    @abstractmethod
    def totals(
        self,
        clipping: InfluenceClipping,
        column: int,
        steps_per_level: dict[int, float],
        origin: int,
    ) -> list[int]:
        """Return each group's sum of clipped contributions, in the order of `clipping`.

        Parameters
        ----------
        clipping : InfluenceClipping
            The threshold and the influences that determine the widths.
        column : int
            The index of the column of values.
        steps_per_level : dict
            By group: the steps of the mean per level of one value.
        origin : int
            The level of the centre.
        """

    @abstractmethod
    def cell(self, column: int, group_index: int) -> Tally:
        """Return the tally of one column in one group, which needs no closing."""


def components(n_groups: int, links: dict[tuple[int, int], int]) -> list[LinkedGroups]:
    """Return the groups that are connected by users, each group once.

    No user is in two components, so each component has the whole budget.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components  # slow to import

    edges = np.array([*links], np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(links)), (edges[0], edges[1])), shape=(n_groups, n_groups))
    _, labels = connected_components(graph, directed=False)
    max_groups_per_user = np.zeros(n_groups, np.int64)
    np.maximum.at(max_groups_per_user, labels[edges[0]], [*links.values()])
    return [
        LinkedGroups(
            tuple(np.flatnonzero(labels == label).tolist()), int(max_groups_per_user[label])
        )
        for label in range(labels.max() + 1)
    ]


def surveys(rows: Iterable[tuple[int, int, int]], n_groups: int) -> tuple[Survey, ...]:
    """Return the survey of each group, from rows (group, size, number of users with that size)."""
    by_group: list[list[tuple[int, int]]] = [[] for _ in range(n_groups)]
    for group_index, size, n_users in sorted(rows):
        by_group[group_index].append((size, n_users))
    of_groups = []
    for histogram in by_group:
        sizes, users = zip(*histogram, strict=True) if histogram else ((), ())
        of_groups.append(Survey(sizes, users))
    return tuple(of_groups)


class GroupsInMemory(GroupTally):
    """One row per user and group, in arrays sorted by group.

    Parameters
    ----------
    ids : Ids
        The user of each record.
    group_indices : ndarray of int16, shape (n,)
        The index of each record's group in the list, or `UNLISTED`.
    values : sequence of ndarray of float64, shape (n,)
        The columns of values, NaN where one is missing; empty if only counts are needed.
    rules : GroupRules
    """

    def __init__(
        self,
        ids: Ids,
        group_indices: npt.NDArray[np.int16],
        values: list[Floats],
        rules: GroupRules,
    ) -> None:
        self.rules = rules
        self.without_user = int(np.count_nonzero(ids.codes < 0)) if ids.some_missing else 0
        self.unlisted = int(np.count_nonzero(group_indices == UNLISTED))
        some_missing = ids.some_missing or self.unlisted > 0
        pairs: Ids | Pairs = Pairs(
            ids, group_indices, ids.n_codes * len(rules.groups), some_missing
        )
        pair_codes = None
        if pairs.n_codes > 4 * group_indices.size:  # a row per code would take too much memory
            pair_codes, codes = np.unique(pairs.of_rows(slice(None)), return_inverse=True)
            pairs = Ids(codes, pair_codes.size, some_missing)
        grids = rules.grids or (PLACEHOLDER_GRID,)
        columns = values or [np.zeros(group_indices.size)]
        tallies = [
            TallyInMemory(pairs, column, Rules(grid))
            for column, grid in zip(columns, grids, strict=True)
        ]
        self._keep(tallies, pair_codes, ids.n_codes)

    def _keep(self, tallies: list[TallyInMemory], pair_codes: Any, n_user_codes: int) -> None:
        """Keep the rows that have records of a listed group."""
        counted = tallies[0].sizes > 0
        pairs = np.arange(counted.size) if pair_codes is None else pair_codes
        rows = np.flatnonzero(counted & (pairs >= 0))
        self.tallies = [_select_rows(tally, rows) for tally in tallies]
        self.sizes = self.tallies[0].sizes
        self.group_indices, self.users = np.divmod(pairs[rows], n_user_codes)
        self.n_user_codes = n_user_codes

    def close(self) -> None:
        pass  # everything is in this process

    def survey(self) -> GroupSurvey:
        base = int(self.sizes.max(initial=0)) + 1
        cells, n_users = distinct(self.group_indices * base + self.sizes)
        group_indices, sizes = np.divmod(cells, base)
        rows = zip(group_indices.tolist(), sizes.tolist(), n_users.tolist(), strict=True)
        faults = Survey(
            (),
            (),
            without_user=self.without_user,
            without_value=sum(tally.without_value for tally in self.tallies),
            outside=sum(tally.outside for tally in self.tallies),
        )
        return GroupSurvey(surveys(rows, len(self.rules.groups)), faults, self.unlisted)

    def links(self) -> dict[tuple[int, int], int]:
        groups_per_user = np.bincount(self.users, minlength=self.n_user_codes)
        group_of_user = np.zeros(self.n_user_codes, np.int64)  # any one of the user's groups
        group_of_user[self.users] = self.group_indices
        n_groups = len(self.rules.groups)
        max_groups = np.zeros(n_groups**2, np.int64)
        np.maximum.at(
            max_groups,
            group_of_user[self.users] * n_groups + self.group_indices,
            groups_per_user[self.users],
        )
        return {
            divmod(int(pair), n_groups): int(max_groups[pair])
            for pair in np.flatnonzero(max_groups)
        }

    def influences(self, influence_per_record: dict[int, int], ranks: list[int]) -> list[int]:
        influences = self._sum_by_user(self.sizes * self._by_group(influence_per_record))
        ordered = np.sort(influences[influences > 0])
        return [int(ordered[-rank]) if rank <= ordered.size else 0 for rank in ranks]

    def widths(self, clippings: list[InfluenceClipping]) -> list[Widths]:
        return [self._widths(clipping) for clipping in clippings]

    def totals(
        self,
        clipping: InfluenceClipping,
        column: int,
        steps_per_level: dict[int, float],
        origin: int,
    ) -> list[int]:
        side_widths = self._side_widths(clipping)
        tally = self.tallies[column]
        levels = in_steps(tally.high, tally.low, tally.n_levels, Window(origin, 0, 0, 0))
        contributions = np.floor(levels * self._by_group(steps_per_level) + 0.5).astype(np.int64)
        below, above = clipping.side_lengths[column]
        return self._sum_by_group(
            np.clip(contributions, -side_widths[below], side_widths[above]), clipping
        )

    def cell(self, column: int, group_index: int) -> TallyInMemory:
        return _select_rows(self.tallies[column], np.flatnonzero(self.group_indices == group_index))

    def _widths(self, clipping: InfluenceClipping) -> Widths:
        side_widths = self._side_widths(clipping)
        both_sides = np.zeros_like(self.sizes)
        for length, n in clipping.length_counts.items():
            both_sides += n * side_widths[length]
        sensitivity = int(self._sum_by_user(both_sides).max(initial=0))
        width_sums = {
            length: tuple(self._sum_by_group(widths, clipping))
            for length, widths in side_widths.items()
        }
        return Widths(width_sums, sensitivity)

    def _side_widths(self, clipping: InfluenceClipping) -> dict[float, Integers]:
        """Return each row's width on a side, by side length; 0 for groups not in `clipping`.

        A user's sum is clipped on each side to the same distance, or to the largest possible one if
        that is smaller.
        """
        influences = self._sum_by_user(self.sizes * self._by_group(clipping.influence_per_record))
        factors = clipping.threshold / np.maximum(influences, 1)
        unclipped = self.sizes * self._by_group(clipping.half_range_steps)
        return {
            length: np.floor(unclipped * np.minimum(factors, length)[self.users]).astype(np.int64)
            for length in clipping.length_counts
        }

    def _by_group(self, numbers: dict[int, Any]) -> npt.NDArray[Any]:
        """Return the entry of `numbers` for each row's group; 0 for groups without one."""
        dtype = np.asarray([*numbers.values()]).dtype
        by_group = np.zeros(len(self.rules.groups), dtype)
        by_group[[*numbers]] = [*numbers.values()]
        return by_group[self.group_indices]

    def _sum_by_user(self, numbers: Integers) -> Integers:
        """Return the sum of each user's rows."""
        sums = np.zeros(self.n_user_codes, np.int64)
        np.add.at(sums, self.users, numbers)
        return sums

    def _sum_by_group(self, numbers: Integers, clipping: InfluenceClipping) -> list[int]:
        """Return the sum of each group's rows, in the order of `clipping`."""
        sums = np.zeros(len(self.rules.groups), np.int64)
        np.add.at(sums, self.group_indices, numbers)
        return [int(sums[group_index]) for group_index in clipping.influence_per_record]


def _select_rows(tally: TallyInMemory, rows: Integers) -> TallyInMemory:
    """Return the tally of some rows only, with the faults of all."""
    selected = copy.copy(tally)
    for name in ("n_levels", "high", "low", "blanks", "sizes"):
        setattr(selected, name, getattr(tally, name)[rows])
    return selected
