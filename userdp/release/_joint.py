"""Several means released together: one threshold for each user's influence, one scale of noise.

Each mean is measured in steps of at least 2^-40 of its range. A user whose influence on all means
together exceeds the threshold is scaled down to it, in all groups by the same factor
(thm-several-means of the book); the total of each mean then has an interval per user, whose ends
are whole numbers of steps. The largest sum of one user's widths, found exactly, is the l1
sensitivity of the vector of totals, and OpenDP adds discrete Laplace noise of one scale to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from userdp.beyond.noise import LaplaceNoise
from userdp.model import Contributions, rank
from userdp.release._grid import LEVEL_ERROR, Grid
from userdp.release._grouped import Ends, GroupTally, Reach
from userdp.release._mean import Known
from userdp.release._noise import noisy_vector, scale_of, shift_for

BITS = 40
"""A range has 2^40 steps, or fewer for small budgets."""

RATE_BITS = 48
"""The influence of all records of a group is a whole number of about this many bits."""

RANK_FACTORS = (1, 1.5, 2, 3)
"""Multiples of the rank of thm-several-means that are tried for the threshold."""

UNIT_GRID = Grid(0.0, 1.0, BITS)
"""Levels of values relative to their range."""

MIDDLE: Ends = (1.0, 1.0)

Totals = list[list[int]]
"""By column, then by group."""


class Joint(NamedTuple):
    """Decisions for groups that are released together, from public counts alone."""

    law: LaplaceNoise
    bits: int
    """Each range has 2^bits steps."""
    users: dict[int, Contributions]
    """The counts of each group, by its position in the list."""
    reach: Reach
    widths: dict[float, dict[int, int]]
    """By end of a column, and by group: the sum of all users' widths on that side, in steps."""
    sensitivity: int
    """The most by which one user can change all totals together, in steps."""


class NoisyMeans(NamedTuple):
    """Means with noise, by positions of column and group, and the budget they spend together."""

    means: dict[tuple[int, int], float]
    spent: float


def decide_joint(
    tally: GroupTally,
    users: dict[int, Contributions],
    columns: tuple[Ends, ...],
    law: LaplaceNoise,
) -> Joint:
    """Decide the threshold, and the widths, for the smallest sum of mean absolute errors.

    A user has equally many records in every column. The threshold
    of thm-several-means minimises bias plus mean noise. For the mean absolute error of projected
    means a smaller one may be better, so some larger ranks are tried as well. Rounding widths down
    to whole steps costs nothing, because the noise is for the rounded widths.
    """
    n_means = len(users) * len(columns)
    farthest = int(max(map(max, columns)) * (1 << (BITS - 1)))
    bits = BITS - shift_for(farthest, n_means << BITS, law)
    rates = {
        j: max(1, round(Fraction(1 << RATE_BITS, counts.total))) for j, counts in users.items()
    }
    record = {j: 2.0 ** (bits - 1) / counts.total for j, counts in users.items()}
    most_users = sum(counts.n_users for counts in users.values())
    theorem_rank = rank(law.privacy_cost / n_means)
    ranks = sorted({min(ceil(theorem_rank * factor), most_users + 1) for factor in RANK_FACTORS})
    reaches = [Reach(rates, cutoff, record, columns) for cutoff in tally.influences(rates, ranks)]
    candidates = []
    for reach, widths in zip(reaches, tally.widths(reaches), strict=True):
        totals = {end: dict(zip(users, sums, strict=True)) for end, sums in widths.totals.items()}
        candidates.append(Joint(law, bits, users, reach, totals, widths.sensitivity))
    return min(candidates, key=_relative_error)


def _relative_error(joint: Joint) -> float:
    """Return the sum of the guaranteed errors, each relative to its range."""
    columns = Counter(joint.reach.columns)
    return sum(
        n * sum(known_of_mean(joint, UNIT_GRID, ends, j).error for j in joint.users)
        for ends, n in columns.items()
    )


def known_of_mean(joint: Joint, grid: Grid, ends: Ends, place: int) -> Known:
    """Return what is known about a mean before there is noise, from public numbers alone.

    Without clipping, the widths of a group's users add up, on each side, to the distance of the
    centre from that bound; the larger shortfall is how far clipping can move the mean (prp-centre).
    """
    unit = grid.width / (1 << joint.bits)
    half = 1 << (joint.bits - 1)
    bias = max(end * half - joint.widths[end][place] for end in ends) * unit
    # Each user's contribution is rounded to whole steps, and the noise is in whole numbers.
    of_steps = (joint.users[place].n_users * (0.5 + 2**-10) + 1) * unit
    rounding = LEVEL_ERROR * grid.step + of_steps + grid.float_error
    sensitivity = joint.sensitivity * unit
    bound = float(joint.law.worst_case(bias, sensitivity, "bound")) + rounding
    # Projection removes the noise beyond the bounds. It removes least if the mean is the middle of
    # the range, which must be the centre (prp-several-released of the book).
    removed = 0.0
    if ends == MIDDLE:
        removed = 2 * float(joint.law.mean_excess(np.array(grid.width / 2), sensitivity))
    error = float(joint.law.mean_error(bias, sensitivity)) - removed + rounding
    scale = scale_of(joint.sensitivity, joint.law) * unit
    return Known(1.0, bias, scale, min(bound, grid.width), min(error, grid.width), rounding)


def joint_totals(tally: GroupTally, joint: Joint, grids: Sequence[Grid]) -> Totals:
    """Return the total of each mean's clipped contributions, in steps from the centre."""
    return [
        tally.totals(
            joint.reach,
            i,
            {j: 2.0**joint.bits / grid.top / counts.total for j, counts in joint.users.items()},
            int(below * (grid.top // 2)),
        )
        for i, (grid, (below, _)) in enumerate(zip(grids, joint.reach.columns, strict=True))
    ]


def draw_jointly(joint: Joint, totals: Totals, grids: Sequence[Grid]) -> NoisyMeans:
    """Add noise to all totals at once; move each mean to the nearest number between its bounds."""
    noisy = noisy_vector(np.array(totals, np.int64).ravel(), joint.sensitivity, joint.law)
    steps = noisy.total.reshape(len(grids), -1).tolist()
    means = {}
    for i, (grid, (below, _)) in enumerate(zip(grids, joint.reach.columns, strict=True)):
        for j, total in zip(joint.users, steps[i], strict=True):
            centre = grid.lower + below * (grid.width / 2)
            mean = centre + total * (grid.width / (1 << joint.bits))
            means[i, j] = min(max(mean, grid.lower), grid.upper)
    return NoisyMeans(means, noisy.spent)
