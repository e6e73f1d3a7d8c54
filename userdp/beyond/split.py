"""The split release: heavy users and all others, each part with the whole budget.

The parts have no user in common. Neighbouring datasets may differ in all samples of one user, hence
in one part only; the counts are public, and they alone determine who is heavy.
"""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import NamedTuple

import numpy as np

from userdp import _checks as check
from userdp._checks import Floats
from userdp.beyond.errors import _removed_noise, projected_error, threshold
from userdp.beyond.noise import Budget, Noise, read_budget
from userdp.model import Contributions

# Widths to try, as shares of the largest U m_l in a part: 64 in equal steps, and a geometric
# sequence with this ratio, down to this share of the mean of the U m_l.
_EQUAL_SHARES = np.arange(1, 65) / 64
_WIDTH_RATIO = 1.005
_SMALLEST_SHARE_OF_MEAN = 1 / 200

# Widths whose noise has a larger mean absolute value, as a multiple of U, are not tried: their
# error is nearly U/2.
_WIDEST_NOISE = 1000

# Number of datasets used to rule out a width before its error is computed.
_MAX_DATASETS = 9

# A split is tried below each of the largest distinct counts: this many at most, with at most this
# many heavy users.
_MAX_SPLITS = 16
_MAX_HEAVY = 1000


class Part(NamedTuple):
    """A part of the users, and the release of its mean.

    Attributes
    ----------
    users : Contributions
        The counts of the part, and the bound. The order of the users is not preserved.
    total_width : float
        S, the total width of the intervals of a user's samples, in the unit of the samples: the
        sum of each user is clipped to S around U m_l / 2.
    share : Fraction
        The part's share of the samples, which is the weight of its mean.
    error : float
        `projected_error` of the part's own mean at this width, in the unit of the samples.
    """

    users: Contributions
    total_width: float
    share: Fraction
    error: float


class Split(NamedTuple):
    """How a release is split, and the error that it guarantees.

    Attributes
    ----------
    heavy_from : int or None
        The smallest count of a heavy user; None if splitting does not improve the guarantee.
    parts : tuple of Part
        The heavy users and the others; or all users.
    error : float
        An upper bound on the mean absolute error on every dataset, in the unit of the samples: the
        errors of the parts, weighted by their shares.
    """

    heavy_from: int | None
    parts: tuple[Part, ...]
    error: float


def best_split(users: Contributions, budget: Budget) -> Split:
    """Return the release in at most two parts that guarantees the smallest error.

    Heavy users have at least a certain number of samples. The clipped mean of each part gets noise
    for the whole budget and is projected onto [0, U]; the release is the sum of both, weighted by
    their shares of the samples. Neighbours may differ in all samples of one user, who is in one
    part, so the privacy guarantee of a law for one part holds for the release (thm-split of the
    book). On every dataset its mean absolute error is at most the sum of the parts' largest errors
    with the same weights.

    The width of all users together, and of each part, is the best of these: `threshold` for "l1";
    64 equal steps up to the largest U m_l; and a geometric sequence of widths, each 0.5 % below the
    next, from the largest U m_l down to 1/200 of their mean; but no width whose noise has
    a mean absolute value above 1,000 U. A split is tried below each of the 16 largest distinct
    counts with at most 1,000 heavy users. All of this depends only on public quantities: counts,
    bound and law.

    With this sequence, the error of a part is nearly that of its best width: no width has a smaller
    error for a budget that is 0.5 % smaller, unless the error is within 0.5 % of U/2
    (prp-projected-width of the book).

    Parameters
    ----------
    users : Contributions
    budget : Budget
        Privacy budget, or the law of the noise.

    Returns
    -------
    Split
        With a bound on the mean absolute error, in the unit of the samples; a single part if no
        split has a smaller one.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, or `budget` is not a budget.

    See Also
    --------
    projected_error : the guarantee without a split.

    Examples
    --------
    >>> users = Contributions([100] + [1] * 900, upper=1)
    >>> split = best_split(users, 1)
    >>> split.heavy_from, [part.users.n_users for part in split.parts]
    (100, [1, 900])
    >>> round(split.error, 4), round(projected_error(users, threshold(users, 1, "l1"), 1), 4)
    (0.0347, 0.0427)
    """
    check.instance("users", users, Contributions)
    law = read_budget(budget)
    counts, multiplicities = users.histogram
    n_heavy = np.cumsum(multiplicities[::-1])[::-1]
    first_heavy = [
        index
        for index in range(max(1, counts.size - _MAX_SPLITS), counts.size)
        if n_heavy[index] <= _MAX_HEAVY
    ]
    splits = [_whole(users, law), *(_split_at(index, users, law) for index in first_heavy)]
    return min(splits, key=lambda split: split.error)


def _whole(users: Contributions, law: Noise) -> Split:
    """Return the release of all users together, at the best width."""
    part = _best_part(users, users, law)
    return Split(None, (part,), part.error)


def _split_at(first_heavy: int, users: Contributions, law: Noise) -> Split:
    """Return the release in two parts; the counts of heavy users begin at this index."""
    counts, multiplicities = users.histogram
    upper = users.upper
    heavy = Contributions._of_histogram(counts[first_heavy:], multiplicities[first_heavy:], upper)
    others = Contributions._of_histogram(counts[:first_heavy], multiplicities[:first_heavy], upper)
    parts = (_best_part(users, heavy, law), _best_part(users, others, law))
    error = sum(float(part.share) * part.error for part in parts)
    return Split(int(counts[first_heavy]), parts, error)


def _best_part(users: Contributions, members: Contributions, law: Noise) -> Part:
    """Return a part of the users, released with the best width that is tried."""
    width = float(threshold(members, law, "l1"))
    best = projected_error(members, width, law), width
    widths = _widths(members, law)
    lower_bounds = _error_floors(members, widths, law)
    for index in np.argsort(lower_bounds).tolist():
        if lower_bounds[index] >= best[0]:
            break
        width = float(widths[index])
        best = min(best, (projected_error(members, width, law), width))
    return Part(members, best[1], Fraction(members.total, users.total), best[0])


def _widths(users: Contributions, law: Noise) -> Floats:
    """Return widths to try, besides the l1 threshold, shape (n,)."""
    smallest = _SMALLEST_SHARE_OF_MEAN * users.total / (users.n_users * users.max_count)
    geometric = _WIDTH_RATIO ** -np.arange(1.0, log(1 / smallest, _WIDTH_RATIO) + 1)
    shares = np.append(_EQUAL_SHARES, geometric)
    mean_noise = users.max_count / users.total * float(law.mean_abs)
    widths: Floats = (
        float(users.upper * users.max_count) * shares[shares * mean_noise <= _WIDEST_NOISE]
    )
    return widths


def _error_floors(users: Contributions, widths: Floats, law: Noise) -> Floats:
    """Return lower bounds on `projected_error` at given widths, shape (n,).

    `projected_error` is the largest error over datasets with 0, 1, ... of the clipped users at U.
    As the bias increases with that number, only datasets whose clipped mean is at least U/2 matter;
    the bounds are the largest errors over some of these, evenly spaced.
    """
    counts, multiplicities = users.histogram
    upper = float(users.upper)
    largest = upper * counts
    n_above = np.append(np.cumsum(multiplicities[::-1])[::-1], 0).astype(np.float64)
    sums_above = np.append(np.cumsum((largest * multiplicities)[::-1])[::-1], 0.0)
    index = np.searchsorted(largest, widths, side="right")
    n_clipped, unclipped = n_above[index], upper * users.total - sums_above[index]
    first = np.minimum(np.floor((n_clipped + unclipped / widths) / 2), n_clipped)
    steps = np.linspace(0, 1, _MAX_DATASETS)
    n_at_top = np.round(first[:, None] + (n_clipped - first)[:, None] * steps)
    width = widths[:, None]
    sum_at_top = np.interp(n_at_top, n_above[::-1], sums_above[::-1])
    bias = np.maximum(sum_at_top - n_at_top * width, 0.0) / (2 * users.total)
    others = (n_clipped[:, None] - n_at_top) * width + unclipped[:, None]
    distance = np.maximum(n_at_top * width - others, 0.0) / (2 * users.total)
    change = width / users.total
    removed_noise = _removed_noise(law, distance, upper, change)
    errors: Floats = np.max(bias + 2 * law.mean_excess(bias, change) - removed_noise, axis=1)
    return errors
