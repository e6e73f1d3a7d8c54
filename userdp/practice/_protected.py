"""A mean whose counts are protected as well: the ratio of two noisy totals."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log, log2
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp.model import Epsilon, read_eps
from userdp.noise import noisy_error
from userdp.practice._grid import LEVEL_ERROR, Grid, grid_of_bits, read_bounds, whole
from userdp.practice._ingest import Data, read_records
from userdp.practice._noise import LARGEST_SCALE_BITS, Noisy, noisy_total
from userdp.practice._quiet import discreet
from userdp.practice._release import read_rules, refuse_rows
from userdp.practice._result import Missing, Outside, Shown, read_level

MOST_BITS = 24
"""Of a level: the levels of half a thousand million rows of one user have an exact sum."""

LARGEST_CAP = 2**31

OF = "the mean in which nobody counts for more than `cap` records"

STATED = (
    "user-level, for replacing one user's records by any others, in any number, "
    "and for adding or removing a user"
)


@dataclass(frozen=True, repr=False, kw_only=True)
class ProtectedCountsMean(Shown):
    """A private mean whose counts are protected, and what is known of its error.

    It estimates the mean of the users' averages, each weighed by its number of records, at most
    `cap`. All of it may be published.
    """

    kind: ClassVar[str] = "private mean with protected counts"

    mean: float
    """The release, between the bounds."""
    eps: float
    """The budget spent."""
    promise: str
    """What `eps` promises."""
    lower: float
    upper: float
    """The public bounds of a value."""
    outside: Outside
    missing: Missing
    """What was to be done with values beyond the bounds, and with rows without a value."""
    centre: float
    reach: float
    """The average of every user is clipped to `centre` +- `reach`."""
    cap: int
    """The largest weight of a user."""
    noisy_sum: float
    """The sum of weighted averages less the centre, with noise, in the unit of the values."""
    noisy_weight: int
    """The sum of weights, with noise."""
    sum_scale: float
    weight_scale: float
    """The scales of the Laplace noise of the two."""
    step: float
    """Of the noisy sum: it is a whole number of these."""
    rounding: float
    """The most that the use of whole numbers moves the mean."""

    @property
    def worst_case_bias(self) -> float:
        """How far clipping the averages can move the mean."""
        return max(self.furthest - self.reach, 0.0)

    @property
    def furthest(self) -> float:
        """How far the centre is from the further bound."""
        return max(self.centre - self.lower, self.upper - self.centre)

    @discreet
    def worst_case_l1(self, weight: float) -> float:
        """Return a bound on the mean absolute error on every dataset of this total weight.

        Parameters
        ----------
        weight : float
            The sum of the users' weights, at least 1: protected, so put a guess, or the lower end
            of `weight_interval`. The bound falls with the weight.

        Returns
        -------
        float
            In the unit of the values.

        Raises
        ------
        TypeError, ValueError
            If `weight` is not a finite number of at least 1.
        """
        n = float(check.size("weight", weight))
        if n < 1:
            check.refuse_value("weight", "at least 1", weight)
        s, width = self.weight_scale / n, self.upper - self.lower
        share = np.arange(100) / 100
        share = share[(1 - share) * n >= 1]
        error = float(noisy_error(self.worst_case_bias, self.sum_scale / n)) + self.furthest * s
        # Twice the chance of noise so far below zero, as noise in whole numbers has jumps.
        bounds = error / (1 - share) + width * np.exp(-share / s)
        return min(float(bounds.min()) + self.rounding, width)

    @discreet
    def weight_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that holds the sum of weights with at least this probability.

        Parameters
        ----------
        level : float, optional
            The probability, between 0 and 1.

        Returns
        -------
        tuple of two floats

        Raises
        ------
        TypeError, ValueError
            If `level` is no number between 0 and 1.
        """
        reach = self.weight_scale * log(1 / (1 - read_level(level))) + 1
        return max(self.noisy_weight - reach, 0.0), max(self.noisy_weight + reach, 0.0)

    @discreet
    def noise_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the weighted mean of the clipped averages: for the noise only.

        On every dataset with a user. Parameters, results and errors are those of `interval`.
        """
        chance = (1 + read_level(level)) / 2  # each of the two noises may miss with half the rest
        fewest, most = (max(n, 1.0) for n in self.weight_interval(chance))
        reach = self.sum_scale * log(1 / (1 - chance)) + self.step
        low, high = self.noisy_sum - reach, self.noisy_sum + reach
        low, high = low / (most if low > 0 else fewest), high / (fewest if high > 0 else most)
        low, high = (min(max(end, -self.reach), self.reach) for end in (low, high))
        ends = self.centre + low - self.rounding, self.centre + high + self.rounding
        return max(ends[0], self.lower), min(ends[1], self.upper)

    @discreet
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that holds the weighted mean with at least this probability.

        On every dataset with a user: it is wide enough for the largest bias by clipping, but not
        for what the cap does: where nobody has more records than that, it is for the mean itself.

        Parameters
        ----------
        level : float, optional
            The probability, between 0 and 1.

        Returns
        -------
        tuple of two floats
            Its ends, in the unit of the values.

        Raises
        ------
        TypeError, ValueError
            If `level` is no number between 0 and 1.
        """
        low, high = self.noise_interval(level)
        bias = self.worst_case_bias
        return max(low - bias, self.lower), min(high + bias, self.upper)

    def public(self) -> dict[str, Any]:
        """Return all that may be published, as plain numbers, texts and lists."""
        return super().public() | {"of": OF, "interval_95": list(self.interval())}

    def _shown(self) -> list[list[str]]:
        low, high = self.interval()
        fewest, most = self.weight_interval()
        rows = {
            "private mean": f"{self.mean:.6g}",
            "95 % interval": f"{low:.6g} to {high:.6g} (but for the cap)",
            "budget": f"eps = {self.eps:.6g}, {self.promise}",
            "weight": f"{self.noisy_weight} (95 %: {fewest:.6g} to {most:.6g}), "
            f"of a user at most {self.cap}",
            "error on the worst dataset": f"at most {self.worst_case_l1(max(fewest, 1.0)):.4g} "
            "on average over the noise (but for the cap), at the smallest of these weights"
            f"{self._mended}",
            "noise": f"whole numbers by OpenDP, scales {self.sum_scale:.4g} of the sum, "
            f"{self.weight_scale:.4g} of the weight",
            "users clipped to": f"{max(self.centre - self.reach, self.lower):.4g} to "
            f"{min(self.centre + self.reach, self.upper):.4g}",
            "values": f"in [{self.lower:g}, {self.upper:g}]",
        }
        return [[name, text] for name, text in rows.items()]


@discreet
def private_mean_protected_counts(
    user: str | npt.ArrayLike,
    value: str | npt.ArrayLike,
    *,
    lower: float,
    upper: float,
    eps: Epsilon,
    cap: int,
    data: Data | None = None,
    centre: float | None = None,
    reach: float | None = None,
    outside: Outside = "refuse",
    missing: Missing = "refuse",
) -> ProtectedCountsMean:
    """Release the mean of a column of records, with the users' numbers of records protected too.

    The average of each user, less the centre, is clipped to +-reach and weighed by its number of
    records, at most `cap`; released are the sum of these and the sum of weights, with independent
    noise of scales 2 reach cap / eps and 2 cap / eps, and their quotient, moved to the bounds.
    User-level eps-DP for replacing all records of one user by any others, in any number, and for
    adding or removing a user, with bounds, centre, reach and cap public. Not protected are the time
    taken, and whether the call is refused.

    Parameters
    ----------
    user, value, lower, upper, eps, data
        As in `private_mean`; the numbers of records are protected as the values are.
    cap : int
        The largest weight of a user, public.
    centre : float, optional
        A public guess of the mean; the middle of the bounds without it.
    reach : float, optional
        A public guess of how far averages are from the centre; without it no average is clipped.
    outside : {"refuse", "clamp", "drop"}, optional
        What to do with values beyond the bounds. All keep the promise of privacy.
    missing : {"refuse", "centre", "drop"}, optional
        What to do with rows without a value; "drop" also leaves out rows without a user. All keep
        the promise of privacy.

    Returns
    -------
    ProtectedCountsMean

    Raises
    ------
    FileNotFoundError, ImportError, TypeError, ValueError
        As `private_mean`; if `cap` is no integer from 1 to 2^31, or `reach` not positive.

    Examples
    --------
    >>> users, values = ["a", "a", "b", "c"], [3.0, 5.0, 2.0, 4.0]
    >>> made = private_mean_protected_counts(users, values, lower=0, upper=6, eps=1, cap=2)
    >>> made.eps, round(made.sum_scale, 6), round(made.weight_scale, 6), made.centre
    (1.0, 12.0, 4.0, 3.0)
    """
    low, high = read_bounds(lower, upper)
    budget, rules = read_eps(eps), read_rules(low, high, outside, missing)
    most = check.integer("cap", cap, 1, LARGEST_CAP)
    if value is None:
        check.refuse_type("value", "a column, or the name of one in `data`", value)
    grid, steps = _public(low, high, budget, most, centre, reach)
    found = read_records(user, value, data).weighted_total(rules, grid, steps, most)
    refuse_rows(found.survey, outside, missing)
    # Each is asked for half of the budget: of the two a user moves one fully only if the other not.
    noisy_sum = noisy_total(found.total, steps * most, budget / 2)
    noisy_weight = noisy_total(found.weight, most, budget / 2)
    return _result(grid, steps, most, budget, noisy_sum, noisy_weight, outside, missing)


def _public(
    lower: float,
    upper: float,
    budget: Fraction,
    cap: int,
    centre: float | None,
    reach: float | None,
) -> tuple[Grid, int]:
    """Return the grid, and how many steps of it an average may be from the centre."""
    bits = min(MOST_BITS, LARGEST_SCALE_BITS - 2 - cap.bit_length() + floor(log2(budget)))
    grid = grid_of_bits(lower, upper, bits, budget, centre)
    furthest = max(grid.origin, grid.top - grid.origin)
    if reach is None:
        return grid, furthest
    return grid, min(
        max(whole(min(check.positive("reach", reach) / grid.step, furthest)), 1), furthest
    )


def _result(
    grid: Grid,
    steps: int,
    cap: int,
    budget: Fraction,
    total: Noisy,
    weight: Noisy,
    outside: Outside,
    missing: Missing,
) -> ProtectedCountsMean:
    """Say what is known of two noisy totals: post-processing, with public numbers only."""
    centre, noise = grid.lower + grid.middle, 2 * cap / float(budget)
    mean = centre + total.total * grid.step / max(weight.total, 1)
    return ProtectedCountsMean(
        mean=min(max(mean, grid.lower), grid.upper),
        # Of a user whose weight goes from n to n', the log ratio is (|y - y'| / steps + |n - n'|)
        # times the larger of the two rates, and |y - y'| <= steps (n + n').
        eps=2 * max(total.spent, weight.spent),
        promise=STATED,
        lower=grid.lower,
        upper=grid.upper,
        outside=outside,
        missing=missing,
        centre=centre,
        reach=steps * grid.step,
        cap=cap,
        noisy_sum=total.total * grid.step,
        noisy_weight=weight.total,
        sum_scale=steps * grid.step * noise,
        weight_scale=noise,
        step=grid.step,
        # Of each value's level, and of each user's weighted average.
        rounding=(LEVEL_ERROR + 0.5 + 2**-10) * grid.step + grid.float_error,
    )
