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
"""The position of a group that is not in the public list."""

COUNTS_ONLY = Grid(0.0, 1.0, bits=1)
"""Levels of values that are all at the lower bound, if only counts are needed."""


class GroupRules(NamedTuple):
    """The levels of each column of values, and the public list of groups, as text."""

    grids: tuple[Grid, ...]
    groups: tuple[str, ...]


class GroupSurvey(NamedTuple):
    """What a scan finds: one survey per group, without the rows that have a fault."""

    groups: tuple[Survey, ...]
    faults: Survey
    """Faults of all rows. Its sizes are empty."""
    unlisted: int
    """Rows of a group that is not in the list."""


class LinkedGroups(NamedTuple):
    """Groups that are connected by users who have records in several of them."""

    places: tuple[int, ...]
    most_per_user: int
    """The largest number of these groups in which one user has records."""


Ends = tuple[float, float]
"""How far the values of a column may be below and above the centre, in halves of the range.

Both are 1 if the centre is the middle; their sum is 2."""


class Widths(NamedTuple):
    """Integer widths of the intervals to which the contributions of users are clipped."""

    totals: dict[float, tuple[int, ...]]
    """By end of a column: for each group, the sum of all users' widths on that side, in steps."""
    sensitivity: int
    """The largest sum of one user's widths on both sides, over all columns and these groups."""


class Reach(NamedTuple):
    """By how much one user may move the means of some groups: it depends on counts alone."""

    rates: dict[int, int]
    """By place: the influence of one record on all means together, an integer in a public unit."""
    threshold: int
    """A user whose records have more influence than this is scaled down to it."""
    record: dict[int, float]
    """By place: how far half of the range of one record moves the mean, in steps of the mean."""
    columns: tuple[Ends, ...]
    """The ends of each column."""

    @property
    def ends(self) -> Counter[float]:
        """How many ends of columns are equally far from their centres."""
        return Counter(end for column in self.columns for end in column)


class GroupTally(ClosedOnExit):
    """One row per user and group: a context manager; on exit, an engine drops its table."""

    @abstractmethod
    def survey(self) -> GroupSurvey:
        """Return the number of users with each count in each group, and the number of faults."""

    @abstractmethod
    def links(self) -> dict[tuple[int, int], int]:
        """Return pairs (a, b) of groups that share a user, one a for all groups b of that user.

        With each pair comes the largest number of groups in which one such user has records.
        """

    @abstractmethod
    def influences(self, rates: dict[int, int], ranks: list[int]) -> list[int]:
        """Return the influence of each rank among users in the groups of `rates`, or 0 if fewer."""

    @abstractmethod
    def widths(self, reaches: list[Reach]) -> list[Widths]:
        """Return the sums of widths, in the order of the groups of each reach.

        The reaches differ only in their thresholds.
        """

    @abstractmethod
    def totals(self, reach: Reach, column: int, steps: dict[int, float], origin: int) -> list[int]:
        """Return each group's sum of clipped contributions, in the order of the groups of `reach`.

        Parameters
        ----------
        reach : Reach
            The widths.
        column : int
            The place of the column of values.
        steps : dict
            By group: steps of the mean per level of one value.
        origin : int
            The level of the centre.
        """

    @abstractmethod
    def part(self, column: int, place: int) -> Tally:
        """Return the tally of one column in one group, which needs no closing."""


def components(n_groups: int, links: dict[tuple[int, int], int]) -> list[LinkedGroups]:
    """Return the groups that are connected by users, each group once.

    No user is in two components, so each component has the whole budget.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components  # slow to import

    pairs = np.array([*links], np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(links)), (pairs[0], pairs[1])), shape=(n_groups, n_groups))
    _, labels = connected_components(graph, directed=False)
    most_per_user = np.zeros(n_groups, np.int64)
    np.maximum.at(most_per_user, labels[pairs[0]], [*links.values()])
    return [
        LinkedGroups(tuple(np.flatnonzero(labels == label).tolist()), int(most_per_user[label]))
        for label in range(labels.max() + 1)
    ]


def surveys(rows: Iterable[tuple[int, int, int]], n_groups: int) -> tuple[Survey, ...]:
    """Return the survey of each group, from rows (group, size, number of users with that size)."""
    by_group: list[list[tuple[int, int]]] = [[] for _ in range(n_groups)]
    for place, size, users in sorted(rows):
        by_group[place].append((size, users))
    of_groups = []
    for counts in by_group:
        sizes, n_users = zip(*counts, strict=True) if counts else ((), ())
        of_groups.append(Survey(sizes, n_users))
    return tuple(of_groups)


class GroupsInMemory(GroupTally):
    """One row per user and group, in arrays sorted by group.

    Parameters
    ----------
    ids : Ids
        The user of each record.
    places : ndarray of int16, shape (n,)
        The position of each record's group in the list.
    values : sequence of ndarray of float64, shape (n,)
        The columns of values, NaN where one is missing; empty if only counts are needed.
    rules : GroupRules
    """

    def __init__(
        self, ids: Ids, places: npt.NDArray[np.int16], values: list[Floats], rules: GroupRules
    ) -> None:
        self.rules = rules
        self.without_user = int(np.count_nonzero(ids.codes < 0)) if ids.some_missing else 0
        self.unlisted = int(np.count_nonzero(places == UNLISTED))
        some_missing = ids.some_missing or self.unlisted > 0
        pairs: Ids | Pairs = Pairs(ids, places, ids.n_codes * len(rules.groups), some_missing)
        names = None
        if pairs.n_codes > 4 * places.size:  # a row per code would take too much memory
            names, codes = np.unique(pairs.of_rows(slice(None)), return_inverse=True)
            pairs = Ids(codes, names.size, some_missing)
        grids = rules.grids or (COUNTS_ONLY,)
        columns = values or [np.zeros(places.size)]
        tallies = [
            TallyInMemory(pairs, column, Rules(grid))
            for column, grid in zip(columns, grids, strict=True)
        ]
        self._keep(tallies, names, ids.n_codes)

    def _keep(self, tallies: list[TallyInMemory], names: Any, n_users: int) -> None:
        """Keep the rows that have records of a listed group."""
        counted = tallies[0].sizes > 0
        pairs = np.arange(counted.size) if names is None else names
        rows = np.flatnonzero(counted & (pairs >= 0))
        self.tallies = [_chosen(tally, rows) for tally in tallies]
        self.sizes = self.tallies[0].sizes
        self.places, self.users = np.divmod(pairs[rows], n_users)
        self.n_users = n_users

    def close(self) -> None:
        pass  # everything is in this process

    def survey(self) -> GroupSurvey:
        base = int(self.sizes.max(initial=0)) + 1
        cells, users = distinct(self.places * base + self.sizes)
        places, sizes = np.divmod(cells, base)
        rows = zip(places.tolist(), sizes.tolist(), users.tolist(), strict=True)
        faults = Survey(
            (),
            (),
            without_user=self.without_user,
            without_value=sum(tally.without_value for tally in self.tallies),
            outside=sum(tally.outside for tally in self.tallies),
        )
        return GroupSurvey(surveys(rows, len(self.rules.groups)), faults, self.unlisted)

    def links(self) -> dict[tuple[int, int], int]:
        n_rows = np.bincount(self.users, minlength=self.n_users)
        group_of_user = np.zeros(self.n_users, np.int64)  # one of them
        group_of_user[self.users] = self.places
        n_groups = len(self.rules.groups)
        most = np.zeros(n_groups**2, np.int64)
        np.maximum.at(most, group_of_user[self.users] * n_groups + self.places, n_rows[self.users])
        return {divmod(int(pair), n_groups): int(most[pair]) for pair in np.flatnonzero(most)}

    def influences(self, rates: dict[int, int], ranks: list[int]) -> list[int]:
        influences = self._sum_by_user(self.sizes * self._by_place(rates))
        ordered = np.sort(influences[influences > 0])
        return [int(ordered[-rank]) if rank <= ordered.size else 0 for rank in ranks]

    def widths(self, reaches: list[Reach]) -> list[Widths]:
        return [self._widths(reach) for reach in reaches]

    def totals(self, reach: Reach, column: int, steps: dict[int, float], origin: int) -> list[int]:
        halves = self._halves(reach)
        tally = self.tallies[column]
        levels = in_steps(tally.high, tally.low, tally.n_levels, Window(origin, 0, 0, 0))
        contributions = np.floor(levels * self._by_place(steps) + 0.5).astype(np.int64)
        below, above = reach.columns[column]
        return self._sum_by_place(np.clip(contributions, -halves[below], halves[above]), reach)

    def part(self, column: int, place: int) -> TallyInMemory:
        return _chosen(self.tallies[column], np.flatnonzero(self.places == place))

    def _widths(self, reach: Reach) -> Widths:
        halves = self._halves(reach)
        both_sides = np.zeros_like(self.sizes)
        for end, n in reach.ends.items():
            both_sides += n * halves[end]
        sensitivity = int(self._sum_by_user(both_sides).max(initial=0))
        totals = {end: tuple(self._sum_by_place(half, reach)) for end, half in halves.items()}
        return Widths(totals, sensitivity)

    def _halves(self, reach: Reach) -> dict[float, Integers]:
        """Return each row's width on a side, by its end; 0 in other groups than those of `reach`.

        A user's sum is clipped on each side to the same distance, or to the farthest value.
        """
        influences = self._sum_by_user(self.sizes * self._by_place(reach.rates))
        factors = reach.threshold / np.maximum(influences, 1)
        unclipped = self.sizes * self._by_place(reach.record)
        return {
            end: np.floor(unclipped * np.minimum(factors, end)[self.users]).astype(np.int64)
            for end in reach.ends
        }

    def _by_place(self, numbers: dict[int, Any]) -> npt.NDArray[Any]:
        """Return the entry of `numbers` for each row's group; 0 for groups without one."""
        kind = np.asarray([*numbers.values()]).dtype
        by_place = np.zeros(len(self.rules.groups), kind)
        by_place[[*numbers]] = [*numbers.values()]
        return by_place[self.places]

    def _sum_by_user(self, numbers: Integers) -> Integers:
        """Return the sum of each user's rows."""
        sums = np.zeros(self.n_users, np.int64)
        np.add.at(sums, self.users, numbers)
        return sums

    def _sum_by_place(self, numbers: Integers, reach: Reach) -> list[int]:
        """Return the sum of each group's rows, in the order of the groups of `reach`."""
        sums = np.zeros(len(self.rules.groups), np.int64)
        np.add.at(sums, self.places, numbers)
        return [int(sums[place]) for place in reach.rates]


def _chosen(tally: TallyInMemory, rows: Integers) -> TallyInMemory:
    """Return the tally of some rows only, with the faults of all."""
    part = copy.copy(tally)
    for name in ("n_levels", "high", "low", "blanks", "sizes"):
        setattr(part, name, getattr(tally, name)[rows])
    return part
