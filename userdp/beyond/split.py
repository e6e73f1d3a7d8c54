"""The split release: heavy users and all others, each part with the whole budget.

Users are disjoint. Neighbouring datasets differ in all samples of one user, so in one part only;
counts are public, and they alone say who is heavy.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from userdp import _checks as check
from userdp.beyond.errors import projected_error, threshold
from userdp.beyond.noise import Budget, Noise, read_budget
from userdp.model import Contributions

# Widths of the heavy part that are tried: these shares of its largest sum, and the l1 threshold.
_SHARES = np.arange(1, 65) / 64

# A split is tried below each of the largest different counts: of so many, of at most so many users.
_MOST_SPLITS = 16
_MOST_HEAVY = 1000


class Part(NamedTuple):
    """A part of the users, and the release of its mean.

    Attributes
    ----------
    users : Contributions
        The counts of the part, and the bound. The order of the users is not kept.
    total_width : float
        S, the total width of the intervals of a user's samples, in the unit of the samples: the
        sum of each user is clipped to S around U m_l / 2.
    share : Fraction
        The share of the samples that the part holds: its mean counts with this weight.
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
        The smallest count of a heavy user; None if nothing is split, as that promises no less.
    parts : tuple of Part
        The heavy users and the others; or all users.
    error : float
        A bound on the mean absolute error on each dataset, in the unit of the samples: the errors
        of the parts, weighted by their shares.
    """

    heavy_from: int | None
    parts: tuple[Part, ...]
    error: float


def best_split(users: Contributions, budget: Budget) -> Split:
    """Return the release in at most two parts that guarantees the smallest error.

    Heavy users have at least a certain number of samples. The clipped mean of each part gets noise
    for the whole budget and is projected to [0, U]; the release is the sum of both, weighted by
    their shares of the samples. Neighbours differ in all samples of one user, who is in one part:
    what a law promises for one part, it promises for the release (thm-split of the book). Its mean
    absolute error is on each dataset at most the sum of the parts' largest errors, weighted alike.

    The width of all users together, and of the users who are not heavy, is `threshold` for "l1".
    That of the heavy ones is the best of 64 equal steps up to their largest sum, and of this
    threshold. A split is tried below each of the 16 largest different counts, of at most 1,000
    heavy users. All of it depends on what is public alone: counts, bound and law.

    Parameters
    ----------
    users : Contributions
    budget : Budget
        Privacy budget, or the law of the noise.

    Returns
    -------
    Split
        With a bound on the mean absolute error, in the unit of the samples; of one part where no
        split has a smaller one.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, or `budget` no budget.

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
    (0.0348, 0.0427)
    """
    check.instance("users", users, Contributions)
    law = read_budget(budget)
    sizes, n_users = users.histogram
    n_heavy = np.cumsum(n_users[::-1])[::-1]
    first_heavy = [
        place
        for place in range(max(1, sizes.size - _MOST_SPLITS), sizes.size)
        if n_heavy[place] <= _MOST_HEAVY
    ]
    splits = [_whole(users, law), *(_split_at(place, users, law) for place in first_heavy)]
    return min(splits, key=lambda split: split.error)


def _whole(users: Contributions, law: Noise) -> Split:
    """Return the release of all users together."""
    width = float(threshold(users, law, "l1"))
    error = projected_error(users, width, law)
    return Split(None, (Part(users, width, Fraction(1), error),), error)


def _split_at(first_heavy: int, users: Contributions, law: Noise) -> Split:
    """Return the release in two parts, where heavy users have this or a later size."""
    sizes, n_users = users.histogram
    upper = users.upper
    heavy = Contributions._of_histogram(sizes[first_heavy:], n_users[first_heavy:], upper)
    others = Contributions._of_histogram(sizes[:first_heavy], n_users[:first_heavy], upper)
    steps = (_SHARES * float(upper * heavy.max_count)).tolist()
    parts = (
        _part_of(users, heavy, law, [float(threshold(heavy, law, "l1")), *steps]),
        _part_of(users, others, law, [float(threshold(others, law, "l1"))]),
    )
    error = sum(float(part.share) * part.error for part in parts)
    return Split(int(sizes[first_heavy]), parts, error)


def _part_of(users: Contributions, members: Contributions, law: Noise, widths: list[float]) -> Part:
    """Return a part of the users, released with the best of some widths."""
    error, width = min((projected_error(members, width, law), width) for width in widths)
    return Part(members, width, Fraction(members.total, users.total), error)
