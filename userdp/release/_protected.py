"""A mean whose counts are protected as well: the ratio of two noisy totals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import exp, expm1, log
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Real
from userdp.beyond.noise import LaplaceNoise
from userdp.model import Epsilon, read_eps
from userdp.noise import noisy_error
from userdp.release._grid import LEVEL_ERROR, Grid, Window, nearest, origin_of, read_grid
from userdp.release._intervals import read_level
from userdp.release._noise import (
    LARGEST_SCALE,
    Noisy,
    load_opendp,
    noisy_total,
    shift_for,
    warn_if_large,
)
from userdp.release._quiet import discreet
from userdp.release._results import Release
from userdp.release._rows import read_rules, refuse_rows
from userdp.release._sources import Data, check_value, read_tally
from userdp.release._wording import Missing, Outside, check_text

AVERAGE_BITS = 24
"""Bits of a clipped average: with these, sums over 2^38 records fit 64 bits. The number of records
is protected, so no shift may depend on it; sums over more records are cut off."""

LARGEST_CAP = 2**31

CELLS, FARTHEST = 32, 40
"""Noise below zero is divided into this many cells per scale, up to this many scales."""

ESTIMATED_MEAN = "the mean in which no user counts for more than `cap` records"

COUNTS_PROTECTED = (
    "user-level, for replacing one user's records by any others, in any number, "
    "and for adding or removing a user"
)


@dataclass(frozen=True, repr=False, kw_only=True)
class ProtectedCountsMean(Release):
    """A private mean whose counts are protected, and what is known of its error.

    It estimates the mean of the users' averages, each weighted by its number of records, at most
    `cap`. Its guarantee, `worst_case_error`, is for the smallest total weight of `weight_interval`;
    `worst_case_error_at` computes it for others. All of it may be published.
    """

    kind: ClassVar[str] = "private mean with protected counts"

    mean: float
    lower: float
    upper: float
    """The public bounds of a value."""
    outside: Outside
    missing: Missing
    """How values beyond the bounds, and rows without a value, were treated."""
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
    """The step of the noisy sum, which is a whole number of steps."""
    rounding: float
    """The most that the use of whole numbers moves the mean."""

    @property
    def worst_case_bias(self) -> float:
        """How far clipping the averages can move the mean."""
        return max(self.furthest - self.reach, 0.0)

    @property
    def furthest(self) -> float:
        """How far the centre is from the farther bound."""
        return max(self.centre - self.lower, self.upper - self.centre)

    @discreet
    def worst_case_error_at(self, weight: float) -> float:
        """Return a bound on the mean absolute error on every dataset of this total weight.

        Parameters
        ----------
        weight : float
            The sum of the users' weights, at least 1. It is protected, so pass a guess, or the
            lower end of `weight_interval`. The bound, prp-protected-average of the book, decreases
            with the weight.

        Returns
        -------
        float
            In the unit of the values.

        Raises
        ------
        TypeError, ValueError
            If `weight` is not a finite number of at least 1.
        """
        n = float(check.nonnegative("weight", weight))
        if n < 1:
            check.refuse_value("weight", "at least 1", weight)
        width = self.upper - self.lower
        error = self._error_below_zero(n) + self._error_from_zero_on(n)
        return min(error + self.rounding, width)

    def _error_below_zero(self, n: float) -> float:
        """Return a bound on the error for negative noise of the weight, times its probability."""
        width, scale = self.upper - self.lower, self.weight_scale
        noise = scale * np.arange(1, CELLS * FARTHEST + 1) / CELLS
        noise = noise[noise <= n - 1]  # so that the noisy weight is at least 1
        numerator = noisy_error(
            self.worst_case_bias + self.furthest * noise / n, self.sum_scale / n
        )
        # In each cell the error is at most that at its farther end; beyond all cells, the width.
        errors = np.append(np.minimum(numerator / (1 - noise / n), width), width)
        farther = np.exp(-(np.floor(np.append(0, noise)) + 1) / scale) / (1 + exp(-1 / scale))
        return float(np.diff(errors, prepend=0.0) @ farther)

    def _error_from_zero_on(self, n: float) -> float:
        """Return a bound on the error for all other noise of the weight, times its probability.

        The noisy weight is too large, which makes the error no larger; so sums of geometric series
        in q = exp(-1 / scale) are a bound.
        """
        q, beyond_q = exp(-1 / self.weight_scale), -expm1(-1 / self.weight_scale)
        decay = -expm1(-1 / self.weight_scale - self.furthest / self.sum_scale)
        of_weight = self.furthest / n * q / beyond_q
        of_sum = self.sum_scale / n * exp(-self.worst_case_bias * n / self.sum_scale)
        error = self.worst_case_bias + of_weight + of_sum * beyond_q / decay
        return min(error, self.upper - self.lower) / (1 + q)

    @discreet
    def weight_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that holds the sum of weights, with the probability of `interval`."""
        reach = self.weight_scale * log(1 / (1 - read_level(level))) + 1
        fewest = max(self.noisy_weight - reach, 0.0)
        most = max(self.noisy_weight + reach, 0.0)
        return fewest, most

    @discreet
    def noise_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the weighted mean of the clipped averages: for the noise only.

        It holds on every dataset with a user; `level` and the ends are as in `interval`.
        """
        chance = (1 + read_level(level)) / 2  # each of the totals may miss with half of 1 - level
        weights = [max(weight, 1.0) for weight in self.weight_interval(chance)]
        reach = self.sum_scale * log(1 / (1 - chance)) + self.step
        sums = [self.noisy_sum - reach, self.noisy_sum + reach]
        quotients = [total / weight for total in sums for weight in weights]
        ends = np.clip([min(quotients), max(quotients)], -self.reach, self.reach)
        low = self.centre + float(ends[0]) - self.rounding
        high = self.centre + float(ends[1]) + self.rounding
        return max(low, self.lower), min(high, self.upper)

    @discreet
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that holds the weighted mean with at least this probability.

        This holds on every dataset with a user. The interval is wide enough for the largest bias by
        clipping, but not for the effect of the cap: if no user has more records than the cap, it is
        for the mean itself.

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
            If `level` is not a number between 0 and 1.
        """
        low, high = self.noise_interval(level)
        bias = self.worst_case_bias
        return max(low - bias, self.lower), min(high + bias, self.upper)

    def public(self) -> dict[str, Any]:
        """Return everything that may be published, as plain numbers, texts and lists."""
        return super().public() | {
            "of": f"{self.of}: {ESTIMATED_MEAN}" if self.of else ESTIMATED_MEAN
        }


@discreet
def private_mean_protected_counts(
    user: str | npt.ArrayLike,
    value: str | npt.ArrayLike,
    *,
    lower: Real | Decimal,
    upper: Real | Decimal,
    eps: Epsilon,
    cap: int,
    data: Data | None = None,
    centre: float | None = None,
    reach: float | None = None,
    outside: Outside = "refuse",
    missing: Missing = "refuse",
    of: str = "",
) -> ProtectedCountsMean:
    """Release the mean of a column of records, with the users' numbers of records protected too.

    The average of each user, less the centre, is clipped to +-reach and weighted by its number of
    records, at most `cap`. The sum of these and the sum of weights are released, with independent
    noise of scales 2 reach cap / eps and 2 cap / eps, and so is their quotient, projected to the
    bounds. The release is user-level eps-DP for replacing all records of one user by any others, in
    any number, and for adding or removing a user, with bounds, centre, reach and cap public. The
    time taken, and whether the call raises, are not protected.

    Parameters
    ----------
    user, value : str or array_like, shape (n,)
        Names of two columns of `data`, or the columns themselves, as in `private_mean`. Both the
        values and the numbers of records are protected.
    lower, upper : float, Fraction or Decimal
        Public bounds of a value, in its unit; not computed from the values.
    eps : float, Fraction, Decimal or str
        Privacy budget of the release (dimensionless, public), at least 2^-39 times `cap`.
    cap : int
        The largest weight of a user, public.
    data : path or list of paths, Ibis table or frame, optional
        Where the columns are, as in `private_mean`.
    centre : float, optional
        A public guess of the mean; by default the middle of the bounds.
    reach : float, optional
        A public guess of how far averages are from the centre; by default no average is clipped.
    outside : {"refuse", "clamp", "drop"}, optional
        What to do with values beyond the bounds. All options keep the privacy guarantee.
    missing : {"refuse", "centre", "drop"}, optional
        What to do with rows without a value; "drop" also leaves out rows without a user. All
        options keep the privacy guarantee.
    of : str, optional
        What the table holds, for the sentence and the JSON: "visits in week 12" (public).

    Returns
    -------
    ProtectedCountsMean

    Warns
    -----
    UserWarning
        If `eps` is above 10, which protects little.

    Raises
    ------
    FileNotFoundError, ImportError, TypeError, ValueError
        As `private_mean`; if `cap` is not an integer from 1 to 2^31, or `reach` is not positive.

    See Also
    --------
    plan : with `cap`, the error to expect for several caps, before anything is spent.

    Examples
    --------
    >>> users, values = ["a", "a", "b", "c"], [3.0, 5.0, 2.0, 4.0]
    >>> result = private_mean_protected_counts(users, values, lower=0, upper=6, eps=1, cap=2)
    >>> result.eps, round(result.sum_scale, 6), round(result.weight_scale, 6), result.centre
    (1.0, 12.0, 4.0, 3.0)
    """
    grid = read_grid(lower, upper)
    rules = read_rules(grid, outside, missing)
    budget = read_eps(eps)
    warn_if_large("eps", LaplaceNoise(budget))
    max_weight = check.integer("cap", cap, 1, LARGEST_CAP)
    check_text("of", of)
    check_value(value)
    decided = _decide(grid, budget, max_weight, centre, reach)
    load_opendp()
    with read_tally(user, value, data, rules) as tally:
        refuse_rows(tally.survey(), outside, missing)
        total, weight = tally.weighted_total(decided.window, max_weight)
    noisy_sum = noisy_total(total, decided.sum_sensitivity, decided.law)
    noisy_weight = noisy_total(weight, max_weight, decided.law)
    return _result(decided, noisy_sum, noisy_weight, outside, missing, of)


class _Decision(NamedTuple):
    """What a release does, decided by public numbers alone."""

    grid: Grid
    law: LaplaceNoise
    """The noise of each of the two totals."""
    cap: int
    window: Window
    """Where averages are clipped, in steps."""

    @property
    def step(self) -> float:
        """The step of clipped averages, in the unit of the values."""
        return self.grid.step * (1 << self.window.shift)

    @property
    def sum_sensitivity(self) -> int:
        """The largest absolute value of a weighted average, in steps; the noise is scaled to it."""
        return self.window.highest * self.cap


def _decide(
    grid: Grid, budget: Fraction, cap: int, centre: float | None, reach: float | None
) -> _Decision:
    """Decide where averages are clipped, and in which steps.

    Each total gets half of the budget. If the weight of a user changes from n to n', both at most
    `cap`, the weighted average y moves by at most `highest` (n + n'). So the log ratio of the two
    totals is at most eps / (2 cap) times (n + n') + |n - n'| = 2 max(n, n'): at most eps.
    """
    law = LaplaceNoise(budget / 2)
    per_record = LaplaceNoise(budget / 2 / cap)
    if per_record.scale > LARGEST_SCALE:
        rule = f"at least 2^-39 times cap={cap}, for noise that fits 64 bits"
        check.refuse_value("eps", rule, float(budget))
    origin = origin_of(grid, centre)
    furthest = max(origin, grid.top - origin)
    shift = max(grid.bits - AVERAGE_BITS, shift_for(0, furthest, per_record))
    step = grid.step * (1 << shift)
    steps = -(-furthest >> shift)
    if reach is not None:
        steps = max(nearest(min(check.positive("reach", reach) / step, steps)), 1)
    return _Decision(grid, law, cap, Window(origin, shift, -steps, steps))


def error_at_weight(grid: Grid, eps: Epsilon, cap: int, weight: float) -> float:
    """Return the guarantee of a release that clips no average, at a total weight, before the draw.

    It depends on public numbers and on the weight, and not on the noise.
    """
    decided = _decide(grid, read_eps(eps), cap, None, None)
    nothing = Noisy(0, 0.0)
    return _result(decided, nothing, nothing, "refuse", "refuse").worst_case_error_at(weight)


def _result(
    decided: _Decision,
    total: Noisy,
    weight: Noisy,
    outside: Outside,
    missing: Missing,
    of: str = "",
) -> ProtectedCountsMean:
    """Return what is known from two noisy totals: post-processing, with public numbers only."""
    grid = decided.grid
    centre = grid.lower + decided.window.origin * grid.step
    mean = centre + total.total * decided.step / max(weight.total, 1)
    reach = decided.window.highest * decided.step
    noise = decided.cap * float(decided.law.scale)
    result = ProtectedCountsMean(
        mean=min(max(mean, grid.lower), grid.upper),
        eps=2 * max(total.spent, weight.spent),
        rho=None,
        sigma=None,
        privacy_unit=COUNTS_PROTECTED,
        worst_case_error=grid.width,
        of=of,
        lower=grid.lower,
        upper=grid.upper,
        outside=outside,
        missing=missing,
        centre=centre,
        reach=reach,
        cap=decided.cap,
        noisy_sum=total.total * decided.step,
        noisy_weight=weight.total,
        sum_scale=reach * noise,
        weight_scale=noise,
        step=decided.step,
        # Rounding of each value's level, of each user's sum, and of its weighted average.
        rounding=LEVEL_ERROR * grid.step + (1 + 2**-10) * decided.step + grid.float_error,
    )
    fewest, _ = result.weight_interval()
    return replace(result, worst_case_error=result.worst_case_error_at(max(fewest, 1.0)))
