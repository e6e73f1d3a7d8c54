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
from userdp.release._grouped import GroupTally, InfluenceClipping, SideLengths
from userdp.release._mean import ErrorGuarantee
from userdp.release._noise import noisy_vector, scale_of, shift_for

BITS = 40
"""A range has 2^40 steps, or fewer for small budgets."""

INFLUENCE_BITS = 48
"""The influence of all records of a group is a whole number of about this many bits."""

RANK_FACTORS = (1, 1.5, 2, 3)
"""Multiples of the rank of thm-several-means that are tried for the threshold."""

UNIT_GRID = Grid(0.0, 1.0, BITS)
"""Levels of values relative to their range."""

MIDDLE: SideLengths = (1.0, 1.0)

Totals = list[list[int]]
"""By column, then by group."""


class JointDecision(NamedTuple):
    """Decisions for groups that are released together, from public counts alone."""

    law: LaplaceNoise
    bits: int
    """Each range has 2^bits steps."""
    users: dict[int, Contributions]
    """The counts of each group, by its index in the list."""
    clipping: InfluenceClipping
    width_sums: dict[float, dict[int, int]]
    """By side length and group: the sum of all users' widths on such a side, in steps."""
    sensitivity: int
    """The most by which one user can change all totals together, in steps."""


class NoisyMeans(NamedTuple):
    """Noisy means, by the indices of column and group, and the budget that they spend together."""

    means: dict[tuple[int, int], float]
    spent: float


def decide_joint(
    tally: GroupTally,
    users: dict[int, Contributions],
    columns: tuple[SideLengths, ...],
    law: LaplaceNoise,
) -> JointDecision:
    """Decide the threshold, and the widths, for the smallest sum of mean absolute errors.

    A user has equally many records in every column. The threshold of thm-several-means minimises
    bias plus mean absolute noise. For the mean absolute error of projected means a smaller one may
    be better, so some larger ranks are tried as well. Rounding widths down to whole steps costs
    nothing, because the noise is for the rounded widths.
    """
    n_means = len(users) * len(columns)
    largest_distance = int(max(map(max, columns)) * (1 << (BITS - 1)))
    bits = BITS - shift_for(largest_distance, n_means << BITS, law)
    influence_per_record = {
        j: max(1, round(Fraction(1 << INFLUENCE_BITS, counts.total))) for j, counts in users.items()
    }
    half_range_steps = {j: 2.0 ** (bits - 1) / counts.total for j, counts in users.items()}
    max_users = sum(counts.n_users for counts in users.values())
    theorem_rank = rank(law.privacy_cost / n_means)
    ranks = sorted({min(ceil(theorem_rank * factor), max_users + 1) for factor in RANK_FACTORS})
    clippings = [
        InfluenceClipping(influence_per_record, threshold, half_range_steps, columns)
        for threshold in tally.influences(influence_per_record, ranks)
    ]
    candidates = []
    for clipping, widths in zip(clippings, tally.widths(clippings), strict=True):
        width_sums = {
            length: dict(zip(users, sums, strict=True))
            for length, sums in widths.width_sums.items()
        }
        candidates.append(JointDecision(law, bits, users, clipping, width_sums, widths.sensitivity))
    return min(candidates, key=_relative_error)


def _relative_error(joint: JointDecision) -> float:
    """Return the sum of the guaranteed errors, each relative to its range."""
    columns = Counter(joint.clipping.side_lengths)
    return sum(
        n * sum(guarantee_of_mean(joint, UNIT_GRID, sides, j).error for j in joint.users)
        for sides, n in columns.items()
    )


def guarantee_of_mean(
    joint: JointDecision, grid: Grid, sides: SideLengths, group_index: int
) -> ErrorGuarantee:
    """Return the guarantee for a mean, from public numbers alone.

    Without clipping, the widths of a group's users add up, on each side, to the distance of the
    centre from that bound; the larger shortfall is how far clipping can move the mean (prp-centre).
    """
    unit = grid.width / (1 << joint.bits)
    half = 1 << (joint.bits - 1)
    bias = max(side * half - joint.width_sums[side][group_index] for side in sides) * unit
    # Each user's contribution is rounded to whole steps, and the noise is in whole numbers.
    step_rounding = (joint.users[group_index].n_users * (0.5 + 2**-10) + 1) * unit
    rounding = LEVEL_ERROR * grid.step + step_rounding + grid.float_error
    sensitivity = joint.sensitivity * unit
    bound = float(joint.law.worst_case(bias, sensitivity, "bound")) + rounding
    # Projection removes the noise beyond the bounds. It removes least if the mean is the middle of
    # the range, which must be the centre (prp-several-released of the book).
    removed = 0.0
    if sides == MIDDLE:
        removed = 2 * float(joint.law.mean_excess(np.array(grid.width / 2), sensitivity))
    error = float(joint.law.mean_error(bias, sensitivity)) - removed + rounding
    scale = scale_of(joint.sensitivity, joint.law) * unit
    return ErrorGuarantee(
        1.0, bias, scale, min(bound, grid.width), min(error, grid.width), rounding
    )


def joint_totals(tally: GroupTally, joint: JointDecision, grids: Sequence[Grid]) -> Totals:
    """Return the total of each mean's clipped contributions, in steps from the centre."""
    return [
        tally.totals(
            joint.clipping,
            i,
            {j: 2.0**joint.bits / grid.top / counts.total for j, counts in joint.users.items()},
            int(below * (grid.top // 2)),
        )
        for i, (grid, (below, _)) in enumerate(zip(grids, joint.clipping.side_lengths, strict=True))
    ]


def draw_jointly(joint: JointDecision, totals: Totals, grids: Sequence[Grid]) -> NoisyMeans:
    """Add noise to all totals at once; move each mean to the nearest number between its bounds."""
    noisy = noisy_vector(np.array(totals, np.int64).ravel(), joint.sensitivity, joint.law)
    steps = noisy.values.reshape(len(grids), -1).tolist()
    means = {}
    for i, (grid, (below, _)) in enumerate(zip(grids, joint.clipping.side_lengths, strict=True)):
        for j, total in zip(joint.users, steps[i], strict=True):
            centre = grid.lower + below * (grid.width / 2)
            mean = centre + total * (grid.width / (1 << joint.bits))
            means[i, j] = min(max(mean, grid.lower), grid.upper)
    return NoisyMeans(means, noisy.spent)
