"""A mean whose counts are protected as well: the ratio of two noisy totals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
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
from userdp.release._intervals import laplace_sum_reach, read_level
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
"""Largest bit width of a clipped average: sums over 2^38 records then fit 64 bits. The steps may
not depend on the number of records, which is protected; larger sums are clamped to +-2^62."""

LARGEST_CAP = 2**31

CELLS_PER_SCALE, MAX_SCALES = 32, 40
"""Negative noise of the weight is bounded in cells of 1/32 of its scale, down to 40 scales."""

N_CELLS, ROUNDS = 8, 3
"""The range of a mean is divided into so many cells, and the interval found there again."""

ESTIMATED_MEAN = "the mean in which no user counts for more than `cap` records"

COUNTS_PROTECTED = (
    "user-level, for replacing one user's records by any others, in any number, "
    "and for adding or removing a user"
)


@dataclass(frozen=True, repr=False, kw_only=True)
class ProtectedCountsMean(Release):
    """A private mean whose counts are protected, and what is known of its error.

    It estimates the mean of the users' averages, each weighted by the user's number of records,
    capped at `cap`. `worst_case_error` bounds the error if the true total weight is at least the
    lower end of the 95 % `weight_interval`; `worst_case_error_at` gives the bound for any weight.
    All of it may be published.
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
    """The noisy sum of weight times (average - centre), in the unit of the values."""
    noisy_weight: int
    """The noisy sum of weights."""
    sum_scale: float
    weight_scale: float
    """The scales of the Laplace noise in `noisy_sum` and `noisy_weight`."""
    step: float
    """The step of the noisy sum, which is a whole number of steps."""
    rounding: float
    """The most by which rounding to whole steps can move the mean."""

    @property
    def worst_case_bias(self) -> float:
        """How far clipping the averages can move the mean."""
        return max(self.furthest - self.reach, 0.0)

    @property
    def furthest(self) -> float:
        """The distance from the centre to the farther bound."""
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
        error = self._error_if_weight_too_low(n) + self._error_if_weight_not_too_low(n)
        return min(error + self.rounding, width)

    def _error_if_weight_too_low(self, n: float) -> float:
        """Return a bound on the part of the mean error from draws with negative weight noise."""
        width, scale = self.upper - self.lower, self.weight_scale
        noise = scale * np.arange(1, CELLS_PER_SCALE * MAX_SCALES + 1) / CELLS_PER_SCALE
        noise = noise[noise <= n - 1]  # so that the noisy weight is at least 1
        numerator = noisy_error(
            self.worst_case_bias + self.furthest * noise / n, self.sum_scale / n
        )
        # In each cell the error is at most that at its farther end; beyond all cells, the width.
        errors = np.append(np.minimum(numerator / (1 - noise / n), width), width)
        tail = np.exp(-(np.floor(np.append(0, noise)) + 1) / scale) / (1 + exp(-1 / scale))
        return float(np.diff(errors, prepend=0.0) @ tail)

    def _error_if_weight_not_too_low(self, n: float) -> float:
        """Return a bound on the part of the mean error from draws with nonnegative weight noise.

        The noisy weight is then at least n. Dividing by n instead gives a bound, whose mean over
        the noise is a sum of geometric series in q = exp(-1 / scale).
        """
        q, one_minus_q = exp(-1 / self.weight_scale), -expm1(-1 / self.weight_scale)
        one_minus_ratio = -expm1(-1 / self.weight_scale - self.furthest / self.sum_scale)
        error_from_weight = self.furthest / n * q / one_minus_q
        error_from_sum = self.sum_scale / n * exp(-self.worst_case_bias * n / self.sum_scale)
        error = self.worst_case_bias + error_from_weight
        error += error_from_sum * one_minus_q / one_minus_ratio
        return min(error, self.upper - self.lower) / (1 + q)

    @discreet
    def weight_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that contains the sum of weights with probability at least `level`."""
        margin = self.weight_scale * log(1 / (1 - read_level(level))) + 1
        lowest = max(self.noisy_weight - margin, 0.0)
        highest = max(self.noisy_weight + margin, 0.0)
        return lowest, highest

    @discreet
    def noise_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the weighted mean of the clipped averages.

        It allows for the noise, not for the bias of clipping. The level is attained on every
        dataset with at least one user; `level` is as in `interval`.

        Notes
        -----
        Let that mean be t above the centre. In ``noisy_sum - t * noisy_weight`` the sum and t times
        the weight cancel, and the noise ``Z_1 - t * Z_2`` remains. Its absolute value is at most
        its quantile with probability at least `level`; the t for which it is are a confidence set
        (Fieller, 1954). The quantile increases with the absolute value of t, so in each cell of
        the range it is bounded by that at the farther end.
        """
        chance = read_level(level)
        low, high = -self.reach, self.reach
        for _ in range(ROUNDS if self.noisy_weight >= 1 else 0):
            edges = np.linspace(low, high, N_CELLS + 1)
            parts = [self._allowed(start, end, chance) for start, end in pairwise(edges)]
            ends = [end for part in parts for end in part]
            if not ends:
                low = high = float(np.clip(self.noisy_sum / self.noisy_weight, low, high))
                break
            low, high = min(ends), max(ends)
        low, high = self.centre + low - self.rounding, self.centre + high + self.rounding
        return max(low, self.lower), min(high, self.upper)

    def _allowed(self, start: float, end: float, level: float) -> tuple[()] | tuple[float, float]:
        """Return the ends of the part of a cell that the noise allows, or nothing."""
        margin = self._noise_at(max(-start, end), level)
        lowest = max((self.noisy_sum - margin) / self.noisy_weight, start)
        highest = min((self.noisy_sum + margin) / self.noisy_weight, end)
        return (lowest, highest) if lowest <= highest else ()

    def _noise_at(self, distance: float, level: float) -> float:
        """Return what |Z_1 - t Z_2| exceeds with probability at most 1 - level if |t| <= distance.

        Discrete Laplace noise, the difference of two exponential numbers that are rounded
        downwards, differs by less than one step from that of the numbers themselves.
        """
        continuous = laplace_sum_reach(self.sum_scale, distance * self.weight_scale, level)
        return continuous + self.step + distance

    @discreet
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that contains the weighted mean with probability at least `level`.

        The level is attained on every dataset with at least one user. The interval is wide enough
        for the largest bias by clipping, but not for the effect of the cap: if no user has more
        records than the cap, it is for the mean itself.

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
        """Return everything that may be published, as plain numbers, strings and lists."""
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

    The average of each user, less the centre, is clipped to +-reach and weighted by the user's
    number of records, capped at `cap`. The sum of these and the sum of weights are released, with
    independent noise of scales 2 reach cap / eps and 2 cap / eps; the mean is the centre plus their
    quotient, projected onto the interval between the bounds. The release is user-level eps-DP under
    replacement of all records of one user by any others, in any number, and under addition or
    removal of a user, with bounds, centre, reach and cap public. The time taken, and whether the
    call raises, are not protected.

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
        What the table holds, such as "visits in week 12" (public); used by `public_sentence` and
        `public_json`.

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
    noisy_sum = noisy_total(total, decided.sum_sensitivity_add_remove, decided.law)
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
    def sum_sensitivity_add_remove(self) -> int:
        """The most by which adding or removing one user moves the sum, in steps.

        The noise is scaled to it; for replacement see `_decide`.
        """
        return self.window.highest * self.cap


def _decide(
    grid: Grid, budget: Fraction, cap: int, centre: float | None, reach: float | None
) -> _Decision:
    """Decide where averages are clipped, and in which steps.

    Each total gets half of the budget. If the weight of a user changes from n to n', both at most
    `cap`, the sum moves by at most `highest` (n + n'), and the sum of weights by |n - n'|. So the
    log ratio of the joint probabilities of the two noisy totals is at most
    eps / (2 cap) * ((n + n') + |n - n'|) = eps / cap * max(n, n') <= eps.
    """
    law = LaplaceNoise(budget / 2)
    per_record = LaplaceNoise(budget / 2 / cap)
    if per_record.scale > LARGEST_SCALE:
        rule = f"at least 2^-39 times cap={cap}, for noise that fits 64 bits"
        check.refuse_value("eps", rule, float(budget))
    origin = origin_of(grid, centre)
    largest_distance = max(origin, grid.top - origin)
    shift = max(grid.bits - AVERAGE_BITS, shift_for(0, largest_distance, per_record))
    step = grid.step * (1 << shift)
    radius_in_steps = -(-largest_distance >> shift)
    if reach is not None:
        radius = check.positive("reach", reach) / step
        radius_in_steps = max(nearest(min(radius, radius_in_steps)), 1)
    window = Window(origin, shift, -radius_in_steps, radius_in_steps)
    return _Decision(grid, law, cap, window)


def error_at_weight(grid: Grid, eps: Epsilon, cap: int, weight: float) -> float:
    """Return a bound on the error, at a total weight, of a release that clips no average.

    It depends on public numbers and on the weight, and not on the noise.
    """
    decided = _decide(grid, read_eps(eps), cap, None, None)
    nothing = Noisy(0, 0.0)
    return _result(decided, nothing, nothing, "refuse", "refuse").worst_case_error_at(weight)


def _result(
    decided: _Decision,
    noisy_sum: Noisy,
    noisy_weight: Noisy,
    outside: Outside,
    missing: Missing,
    of: str = "",
) -> ProtectedCountsMean:
    """Return what is known from two noisy totals: post-processing, with public numbers only."""
    grid = decided.grid
    centre = grid.lower + decided.window.origin * grid.step
    mean = centre + noisy_sum.value * decided.step / max(noisy_weight.value, 1)
    reach = decided.window.highest * decided.step
    weight_scale = decided.cap * float(decided.law.scale)
    result = ProtectedCountsMean(
        mean=min(max(mean, grid.lower), grid.upper),
        eps=2 * max(noisy_sum.spent, noisy_weight.spent),
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
        noisy_sum=noisy_sum.value * decided.step,
        noisy_weight=noisy_weight.value,
        sum_scale=reach * weight_scale,
        weight_scale=weight_scale,
        step=decided.step,
        # Rounding of each value's level, of each user's sum, and of its weighted average.
        rounding=LEVEL_ERROR * grid.step + (1 + 2**-10) * decided.step + grid.float_error,
    )
    lowest, _ = result.weight_interval()
    return replace(result, worst_case_error=result.worst_case_error_at(max(lowest, 1.0)))
