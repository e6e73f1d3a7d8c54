"""What is asked of a table of records, wherever it is: two questions, and the same rules for both.

Every engine turns every value into a whole number of steps of one grid. Whole numbers add up to the
same sum in every order and on every machine, so a result depends neither on the engine nor on how
it split the work, and one user moves the sum by no more than the noise allows for.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from userdp.practice._grid import Grid


class Rules(NamedTuple):
    """Which rows count. Rows without a user never do."""

    lower: float
    upper: float
    drop_missing: bool = False
    """Rows without a value do not count; if false, they contribute the centre."""
    drop_outside: bool = False
    """Rows with a value beyond the bounds do not count; if false, it is moved to the nearer one."""


class Survey(NamedTuple):
    """How many users have how many rows that count, and how many rows are not as they should be."""

    sizes: tuple[int, ...]
    """Different numbers of rows that count, each at least 1, the smallest first."""
    users: tuple[int, ...]
    """How many users have so many."""
    without_user: int
    odd_users: int
    """Rows whose user is a float that is no whole number, or is not held exactly."""
    without_value: int
    """Rows with a user, and without a value."""
    outside: int
    """Rows with a user, and with a value beyond the bounds."""

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The number of rows of every user, shape (L,), the largest first."""
        return np.repeat(np.array(self.sizes[::-1], np.int64), self.users[::-1])


class Summed(NamedTuple):
    """The clipped sums of all users, added up, and the survey of the rows they were made of."""

    total: int
    survey: Survey


class Weighted(NamedTuple):
    """Two totals over users of at most `cap` rows each, and the survey of the rows."""

    total: int
    weight: int
    survey: Survey


class Records(ABC):
    """One row a record, with a user and a value."""

    @abstractmethod
    def survey(self, rules: Rules) -> Survey:
        """Count rows and users."""

    @abstractmethod
    def clipped_total(self, rules: Rules, grid: Grid, lowest: int, highest: int) -> Summed:
        """Add up each user's levels less the origin, clip the sums, add them up; count again."""

    @abstractmethod
    def weighted_total(self, rules: Rules, grid: Grid, reach: int, cap: int) -> Weighted:
        """Clip each user's average level, less the origin, to +-reach; add up, with weights.

        The weight of a user is its number of rows, at most `cap`.
        """
