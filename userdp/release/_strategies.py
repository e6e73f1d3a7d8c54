"""How several means share a budget: decided for each component of groups, from public counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, NamedTuple

from userdp.beyond.noise import LaplaceNoise
from userdp.beyond.split import _whole
from userdp.model import Contributions
from userdp.release._budgets import share_of
from userdp.release._grid import Grid
from userdp.release._grouped import (
    COUNTS_ONLY,
    Ends,
    GroupRules,
    GroupTally,
    LinkedGroups,
    components,
)
from userdp.release._joint import Joint, decide_joint, known_of_mean
from userdp.release._mean import Choices, Known, Parts, decide, known_of
from userdp.release._rows import Survey, users_of

Strategy = Literal["best", "joint", "divided"]

Place = tuple[int, int]
"""A mean: the position of its column, and that of its group."""

KnownByMean = dict[Place, dict[str, Known]]
"""What is known about each mean before there is noise, by strategy."""


class Table(NamedTuple):
    """The requested means: all of it is public."""

    columns: tuple[str, ...]
    grids: tuple[Grid, ...]
    group: str | None
    groups: tuple[str, ...]
    origins: tuple[int | None, ...]
    """The level of each column's centre; None for the middle, around which widths are searched."""

    @property
    def ends(self) -> tuple[Ends, ...]:
        """How far the values of each column may be from its centre, in halves of its range."""
        halves = [grid.top // 2 for grid in self.grids]
        ends = []
        for half, origin in zip(halves, self.origins, strict=True):
            below = 1.0 if origin is None else origin / half
            ends.append((below, 2 - below))
        return tuple(ends)

    @property
    def centres(self) -> dict[str, float]:
        """The given centres by column, as they are used: each is a level."""
        columns = zip(self.columns, self.grids, self.origins, strict=True)
        return {name: grid.lower + n * grid.step for name, grid, n in columns if n is not None}

    @property
    def rules(self) -> GroupRules:
        return GroupRules(self.grids, self.groups)


class Component(NamedTuple):
    """Decisions for groups that share users."""

    shares: int
    """By how many the budget is divided, if it is: the most means in which one user takes part.

    0 for a group without records, for which nothing is drawn."""
    users: dict[int, Contributions]
    """The public counts of each group that has records. (The bound of the values is not used.)"""
    joint: Joint | None
    """If the means are released together; otherwise None, and each is released separately."""
    alone: dict[Place, Parts]
    """The parts of each mean if it is released separately, as `private_mean` does."""
    known: KnownByMean


def decide_means(
    dp: Any,
    tally: GroupTally,
    groups: tuple[Survey, ...],
    table: Table,
    law: LaplaceNoise,
    strategy: Strategy,
) -> list[Component]:
    """Decide for each component of groups whether its means are released together, and how."""
    return [
        _decide(dp, tally, groups, linked, table, law, strategy)
        for linked in components(len(groups), tally.links())
    ]


def _decide(
    dp: Any,
    tally: GroupTally,
    groups: tuple[Survey, ...],
    linked: LinkedGroups,
    table: Table,
    law: LaplaceNoise,
    strategy: Strategy,
) -> Component:
    n_columns = len(table.grids)
    places = [(i, j) for i in range(n_columns) for j in linked.places]
    shares = linked.most_per_user * n_columns
    if not shares:
        return Component(0, {}, None, {}, {place: {} for place in places})
    users = {j: users_of(groups[j], COUNTS_ONLY) for j in linked.places}
    law_each = (
        law if shares == 1 else LaplaceNoise(Fraction(share_of(dp, law.privacy_cost, shares)))
    )
    alone = {(i, j): _decide_alone(groups[j], table, i, law_each) for i, j in places}
    known = {place: {"divided": known_of(parts)} for place, parts in alone.items()}
    if shares == 1:
        return Component(1, users, None, alone, known)
    joint = decide_joint(tally, users, table.ends, law)
    for i, j in places:
        known[i, j]["joint"] = known_of_mean(joint, table.grids[i], table.ends[i], j)
    use_joint = strategy == "joint"
    if strategy == "best":
        use_joint = _relative_error(known, table, "joint") <= _relative_error(
            known, table, "divided"
        )
    return Component(shares, users, joint if use_joint else None, alone, known)


def _decide_alone(counts: Survey, table: Table, column: int, law: LaplaceNoise) -> Parts:
    """Decide as `private_mean` does, with a given centre or without one, for users in one part."""
    grid, origin = table.grids[column], table.origins[column]
    users = users_of(counts, grid)
    width = None
    if origin is None:
        origin, width = grid.top // 2, _whole(users, law).parts[0].total_width
    return decide(users, Choices(grid, law, origin, "l1", width, project=True))


def _relative_error(known: KnownByMean, table: Table, strategy: str) -> float:
    """Return the sum of the guaranteed errors, each relative to its range."""
    return sum(of[strategy].error / table.grids[i].width for (i, _), of in known.items())
