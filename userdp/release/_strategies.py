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
    PLACEHOLDER_GRID,
    GroupRules,
    GroupTally,
    LinkedGroups,
    SideLengths,
    components,
)
from userdp.release._joint import JointDecision, decide_joint, guarantee_of_mean
from userdp.release._mean import Choices, ErrorGuarantee, Parts, decide, guarantee_of
from userdp.release._rows import Survey, users_of

Strategy = Literal["best", "joint", "divided"]

Cell = tuple[int, int]
"""A mean: the index of its column, and that of its group."""

GuaranteesByMean = dict[Cell, dict[str, ErrorGuarantee]]
"""The guarantee for each mean, by strategy."""


class MeansRequest(NamedTuple):
    """The requested means: all of it is public."""

    columns: tuple[str, ...]
    grids: tuple[Grid, ...]
    group: str | None
    groups: tuple[str, ...]
    origins: tuple[int | None, ...]
    """The level of each column's centre; None for the middle, around which widths are searched."""

    @property
    def side_lengths(self) -> tuple[SideLengths, ...]:
        """The distances from each column's centre to its bounds, in halves of its range."""
        halves = [grid.top // 2 for grid in self.grids]
        lengths = []
        for half, origin in zip(halves, self.origins, strict=True):
            below = 1.0 if origin is None else origin / half
            lengths.append((below, 2 - below))
        return tuple(lengths)

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

    n_shares: int
    """The number of shares of a divided budget: the largest number of means that one user is in.

    0 for a group without records, for which nothing is drawn."""
    users: dict[int, Contributions]
    """The public counts of each group that has records. (The bound of the values is not used.)"""
    joint: JointDecision | None
    """If the means are released together; otherwise None, and each is released separately."""
    parts: dict[Cell, Parts]
    """The parts of each mean if it is released separately, as `private_mean` does."""
    guarantees: GuaranteesByMean


def decide_means(
    dp: Any,
    tally: GroupTally,
    groups: tuple[Survey, ...],
    request: MeansRequest,
    law: LaplaceNoise,
    strategy: Strategy,
) -> list[Component]:
    """Decide for each component of groups whether its means are released together, and how."""
    return [
        _decide(dp, tally, groups, linked, request, law, strategy)
        for linked in components(len(groups), tally.links())
    ]


def _decide(
    dp: Any,
    tally: GroupTally,
    groups: tuple[Survey, ...],
    linked: LinkedGroups,
    request: MeansRequest,
    law: LaplaceNoise,
    strategy: Strategy,
) -> Component:
    n_columns = len(request.grids)
    cells = [(i, j) for i in range(n_columns) for j in linked.group_indices]
    n_shares = linked.max_groups_per_user * n_columns
    if not n_shares:
        return Component(0, {}, None, {}, {cell: {} for cell in cells})
    users = {j: users_of(groups[j], PLACEHOLDER_GRID) for j in linked.group_indices}
    law_each = (
        law if n_shares == 1 else LaplaceNoise(Fraction(share_of(dp, law.privacy_cost, n_shares)))
    )
    parts_of = {(i, j): _decide_separately(groups[j], request, i, law_each) for i, j in cells}
    guarantees = {cell: {"divided": guarantee_of(parts)} for cell, parts in parts_of.items()}
    if n_shares == 1:
        return Component(1, users, None, parts_of, guarantees)
    joint = decide_joint(tally, users, request.side_lengths, law)
    for i, j in cells:
        sides = request.side_lengths[i]
        guarantees[i, j]["joint"] = guarantee_of_mean(joint, request.grids[i], sides, j)
    use_joint = strategy == "joint"
    if strategy == "best":
        use_joint = _relative_error(guarantees, request, "joint") <= _relative_error(
            guarantees, request, "divided"
        )
    return Component(n_shares, users, joint if use_joint else None, parts_of, guarantees)


def _decide_separately(
    counts: Survey, request: MeansRequest, column: int, law: LaplaceNoise
) -> Parts:
    """Decide as `private_mean` does, with a given centre or without one, for users in one part."""
    grid, origin = request.grids[column], request.origins[column]
    users = users_of(counts, grid)
    width = None
    if origin is None:
        origin, width = grid.top // 2, _whole(users, law).parts[0].total_width
    return decide(users, Choices(grid, law, origin, "l1", width, project=True))


def _relative_error(guarantees: GuaranteesByMean, request: MeansRequest, strategy: str) -> float:
    """Return the sum of the guaranteed errors, each relative to its range."""
    return sum(
        by_strategy[strategy].error / request.grids[i].width
        for (i, _), by_strategy in guarantees.items()
    )
