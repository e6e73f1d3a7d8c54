"""The private mean: one scan makes a tally, public numbers decide, and noise is drawn last."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Real
from userdp.beyond.errors import centred_bias, centred_clipping, projected_error, threshold
from userdp.beyond.noise import Budget, Noise, Objective, read_objective
from userdp.beyond.split import best_split
from userdp.model import Contributions, _read_centre, _read_sums
from userdp.release._grid import (
    LEVEL_ERROR,
    Grid,
    Window,
    nearest,
    origin_of,
    read_grid,
    steps_of,
)
from userdp.release._noise import (
    average_beyond,
    load_opendp,
    mean_beyond,
    measurement_of,
    noisy_total,
    read_law,
    scale_of,
    shift_for,
    warn_if_large,
    whole_law,
)
from userdp.release._quiet import discreet, unquoted
from userdp.release._results import Clip, Part, PrivateMean
from userdp.release._rows import Rules, Survey, read_rules, refuse_rows, users_of
from userdp.release._sources import Data, check_value, read_tally
from userdp.release._tally import CountRange, TallyOfSums
from userdp.release._wording import COUNTS_PUBLIC, NOT_STATED, NOTHING, Missing, Outside, check_text


class Choices(NamedTuple):
    """What the caller chose: all of it is public."""

    grid: Grid
    law: Noise
    origin: int
    """The level of the centre."""
    objective: Objective
    total_width: float | None
    project: bool
    uses_best_split: bool = False
    """Whether `best_split` decides the width, and which users have a separate mean."""


class PartDecision(NamedTuple):
    """What a release does for the users of a part, or for all, decided by public numbers alone."""

    users: Contributions
    choices: Choices
    among: CountRange | None
    """The counts of these users; None if all."""
    window: Window
    half_width: int
    """S/2 in steps, as results state it. The window is the part of it that sums can reach."""

    @property
    def step(self) -> float:
        """The step of the clipped sums, in the unit of the values."""
        return self.choices.grid.step * (1 << self.window.shift)

    @property
    def total_width(self) -> float:
        """S, in the unit of the values."""
        return 2 * self.half_width * self.step

    @property
    def centre(self) -> float:
        """The value around which means are clipped."""
        grid = self.choices.grid
        return grid.lower + self.choices.origin * grid.step

    @property
    def reachable(self) -> tuple[int, int]:
        """The least and the largest total of clipped sums, over all datasets; in steps."""
        origin, shift, lowest, highest = self.window
        to_top = self.choices.grid.top - origin
        low = high = 0
        for size, n_users in zip(*map(np.ndarray.tolist, self.users.histogram), strict=True):
            low += n_users * max(lowest, steps_of(-size * origin, shift))
            high += n_users * min(highest, steps_of(size * to_top, shift))
        return low, high


Parts = tuple[PartDecision, ...]
"""A whole release: one part, or two of disjoint users, those with many records first.

In a release of two parts (thm-split), each part is clipped, gets noise for the whole budget, and is
projected separately; the means are then added, weighted by the shares of records. Which part a user
is in depends on the counts alone, and these are public. Neighbouring tables differ in one user's
values, so in the total of one part only, and that part alone keeps every privacy guarantee of its
law. If the parts spend a and b, the release therefore spends the larger of the two. If k users are
replaced, j of them in one part, it spends at most j a + (k - j) b <= k max(a, b) in eps and, with
squares of the numbers of users, at most k^2 max(a, b) in zCDP.
"""


@discreet
def private_mean(
    user: str | npt.ArrayLike,
    value: str | npt.ArrayLike,
    *,
    lower: Real | Decimal,
    upper: Real | Decimal,
    budget: Budget,
    data: Data | None = None,
    objective: Objective = "l1",
    total_width: float | None = None,
    centre: float | None = None,
    outside: Outside = "refuse",
    missing: Missing = "refuse",
    project: bool = True,
    of: str = "",
) -> PrivateMean:
    """Release the mean of a column of records, each of which belongs to a user.

    Each user's centred values are added up and clipped to [-S/2, S/2]; the mean of the clipped sums
    is released with noise for that width, drawn by OpenDP without a seed. The release is user-level
    eps-DP under replacement of all values of one user, with the users' numbers of records, the
    bounds, S and the centre public; if the budget is a `GaussianNoise`, it has the guarantees of
    that law. The time taken, and whether the call raises, are not protected: keep them to yourself.

    Parameters
    ----------
    user, value : str or array_like, shape (n,)
        Names of two columns of `data`; or the columns themselves, as arrays or as columns of
        pandas (with the same index), polars or Arrow. The values are protected. Ids are text,
        bytes, whole numbers, decimals, UUIDs, dates, times or durations, all of one type; floats
        must be whole numbers. Equal ids are the same user; times with a time zone are equal if they
        are the same instant. Other objects raise an error.
    lower, upper : float, Fraction or Decimal
        Public bounds of a value, in its unit; not computed from the values. Bounds are rounded to
        the nearest floats, as values are.
    budget : float, Fraction, Decimal, str or GaussianNoise
        eps, the privacy budget of the release (dimensionless, public), at least 2^-40; or a law of
        noise with its own privacy guarantees, of sigma at most 2^40: `GaussianNoise.zcdp` or
        `GaussianNoise.approximate`, of `userdp.beyond`.
    data : path or list of paths, Ibis table or frame, optional
        A Parquet or CSV file on this machine, or a list of several (read by DuckDB), each with both
        columns, of the same types; an Ibis table of DuckDB or Spark, which is read there, once,
        into a temporary table of one row per user that is dropped after the call; or anything with
        columns by name. In a CSV file ids are read as text: NA, nan, None and NULL are users, and
        only an empty field is a missing user. DuckDB may turn one Python object into several ids.
        Therefore a query of DuckDB is refused if it reads a frame of pandas, or objects or bytes of
        polars, and so is a relation that reads a CSV file. Pass the frame or the file itself.
    objective : {"l1", "bound", "mse"}, optional
        Which worst-case error the release minimises: the mean absolute error, which the result
        states; the paper's bias plus mean absolute noise; or the mean square error. For "l1", if
        the release is projected and `total_width` and `centre` are omitted, the width is found by a
        search, and the mean of users with many records is released separately if, by the counts,
        this guarantees a smaller error: see `userdp.beyond.best_split`.
    total_width : float, optional
        S, in the unit of the values; by default `userdp.beyond.threshold` for the objective, or
        that of `best_split`.
    centre : float, optional
        A public guess of the mean; by default the middle of the bounds.
    outside : {"refuse", "clamp", "drop"}, optional
        What to do with values beyond the bounds. "clamp" keeps the privacy guarantee. "drop" makes
        the counts, which are public, depend on protected values, so no `eps` is stated.
    missing : {"refuse", "centre", "drop"}, optional
        What to do with rows without a value. "centre" keeps the privacy guarantee: they contribute
        the centre, and count. "drop" drops them and rows without a user, so no `eps` is stated.
    project : bool, optional
        Whether to move the release to the nearest number between the bounds, which costs no privacy
        and increases no error. Pass False if releases are to be averaged or added up, because
        projected ones are biased towards the middle of the bounds. An unprojected release is
        unbiased for the mean of the clipped sums. If Laplace noise takes it outside the range of
        that mean (`PrivateMean.clipped_range`), the conditional mean is released, which increases
        no error either.
    of : str, optional
        What the table holds, such as "visits in week 12" (public); used by `public_sentence` and
        `public_json`.

    Returns
    -------
    PrivateMean

    Warns
    -----
    UserWarning
        If rows are to be dropped; if the budget is an eps above 10, which protects little.

    Raises
    ------
    FileNotFoundError, ImportError
        If a file does not exist; if the extra ``userdp[release]`` or, for files and data of polars
        or DuckDB, ``userdp[tables]`` is not installed.
    TypeError, ValueError
        If a user or a value is missing, or a value is beyond the bounds, unless `missing` or
        `outside` allows it; if an engine fails, in which case nothing is released or spent; if an
        argument is invalid.

    See Also
    --------
    plan : the errors to expect, before anything is released.
    user_counts : the public counts, for `plan`.
    private_mean_protected_counts : if the counts are to be protected as well.

    Examples
    --------
    >>> users, values = ["a", "a", "a", "a", "b"], [3.0, 4.0, 5.0, 4.0, 1.0]
    >>> result = private_mean(users, values, lower=0, upper=6, budget=1)
    >>> result.clips[0], result.total_width
    (Clip(n_records=4, n_users=1, lower=1.828125, upper=4.171875), 9.375)
    >>> result.worst_case_bias, round(result.noise_scale, 6), round(result.worst_case_error, 6)
    (1.4625, 1.875, 1.937306)
    """
    choices = read_choices(read_grid(lower, upper), budget, objective, total_width, centre, project)
    warn_if_large("budget", choices.law)
    rules = read_rules(choices.grid, outside, missing)
    check_text("of", of)
    check_value(value)
    load_opendp()
    with read_tally(user, value, data, rules) as tally:
        survey = tally.survey()
        refuse_rows(survey, outside, missing)
        parts = decide(users_of(survey, choices.grid), choices)
        totals = [tally.clipped_total(part.window, part.among) for part in parts]
    if rules.drop_missing or rules.drop_outside:
        warnings.warn(
            f"`{choices.law.currency}` is {NOT_STATED}.", stacklevel=3
        )  # the caller, outside the wrapper of `discreet`
    return draw(totals, parts, outside, missing, of)


@discreet
def release_mean(
    sums: npt.ArrayLike,
    users: Contributions,
    budget: Budget,
    *,
    total_width: Real | None = None,
    centre: Real | None = None,
    objective: Objective = "l1",
    project: bool = True,
) -> PrivateMean:
    """Release the mean of samples, given each user's sum.

    This is what `private_mean` does after its tally, with the same result: the centred sums are
    rounded to whole steps and clipped to [-S/2, S/2], and OpenDP adds whole-number noise for that
    width. The release is user-level eps-DP under replacement of all samples of one user, with
    counts, bound, S and c public; if the budget is a `GaussianNoise`, it has the guarantees of that
    law. There is no seed. Side channels, such as the time taken, are not protected, and every
    release spends its own budget.

    Parameters
    ----------
    sums : array_like of float, shape (L,)
        Each user's sum of samples, in [0, U m_l] (protected), in the order of ``users.counts``:
        take both from one object, as below. (`user_counts` returns another order.)
    users : Contributions
        The public counts and bound.
    budget : float, Fraction, Decimal, str or GaussianNoise
        eps, the privacy budget of the release (dimensionless, public), at least 2^-40; or a law of
        noise, `GaussianNoise` of `userdp.beyond`, of sigma at most 2^40.
    total_width : float or Fraction, optional
        S, in the unit of the samples; by default the objective decides, as in `private_mean`.
    centre : float or Fraction, optional
        c, a public guess of the mean in [0, U]; by default U/2.
    objective : {"l1", "bound", "mse"}, optional
        Which worst-case error the release minimises, as in `private_mean`.
    project : bool, optional
        Whether to move the release to the nearest number in [0, U], which costs no privacy and
        increases no error. Pass False if releases are to be averaged or added up: they are then
        unbiased for the mean of the clipped sums, as in `private_mean`.

    Returns
    -------
    PrivateMean
        For samples from 0 to U.

    Warns
    -----
    UserWarning
        If the budget is an eps above 10, which protects little.

    Raises
    ------
    ImportError
        If OpenDP is not installed: the extra ``userdp[release]``.
    TypeError, ValueError
        If `sums` is not one dataset that fits `users`; if `budget` is below 2^-40; if another
        argument is invalid.

    Examples
    --------
    >>> samples = [[32.5] * 4, [30.0, 35.0], [32.5]]  # one list per user
    >>> users = Contributions([len(own) for own in samples], upper=65)
    >>> result = release_mean([sum(own) for own in samples], users, budget=1)
    >>> result.eps, round(result.noise_scale, 4), round(result.worst_case_bound, 4)
    (1.0, 16.2296, 27.8571)
    """
    check.instance("users", users, Contributions)
    load_opendp()
    rule = "be one real number per user, between 0 and U m_l"
    values = unquoted("sums", sums, rule, lambda: _read_sums(sums, users))
    if values.ndim != 1:
        raise ValueError(f"`sums` must be one dataset, of shape (L,), got shape {values.shape}.")
    grid = read_grid(0.0, float(users.upper))
    middle = None if centre is None else float(_read_centre(users, centre))
    choices = read_choices(grid, budget, objective, total_width, middle, project)
    warn_if_large("budget", choices.law)
    # The bound may be a Fraction: the release computes in floats, as for any table.
    parts = decide(Contributions(users.counts, grid.width), choices)
    tally = TallyOfSums(values, users.counts, grid)
    totals = [tally.clipped_total(part.window, part.among) for part in parts]
    return draw(totals, parts, "refuse", "refuse")


@discreet
def as_measurement(
    user: str,
    value: str,
    *,
    data: Data,
    lower: Real | Decimal,
    upper: Real | Decimal,
    budget: Budget,
    objective: Objective = "l1",
    total_width: float | None = None,
    centre: float | None = None,
    project: bool = True,
) -> Any:
    """Return `private_mean` of a table as an OpenDP Measurement, to compose with others.

    Call the measurement, or a composition of several, with the table itself: records are counted
    and added up in one place, so the order of users cannot be confused. Its input domain is the set
    of tables in which equally many users have each number of records as in `data`: these numbers
    are public. Its input metric is the number of users whose values differ (`change_one_distance`),
    its output measure is `max_divergence`, and its output is a `PrivateMean`. At distance 1 it is
    user-level eps-DP under replacement of all values of one user, in all columns. With Gaussian
    noise the measure is `zero_concentrated_divergence`.

    Parameters
    ----------
    user, value : str
        Names of two columns of the table, as in `private_mean`.
    data : path or list of paths, Ibis table or frame
        The table, as in `private_mean`. Only its users are used here: their numbers of records
        determine noise and thresholds.
    lower, upper : float, Fraction or Decimal
        Public bounds of a value, in its unit; not computed from the values.
    budget : float, Fraction, Decimal, str or GaussianNoise
        eps, the privacy budget of a release (dimensionless, public), at least 2^-40; or a law of
        noise, `GaussianNoise` of `userdp.beyond`, of sigma at most 2^40.
    objective : {"l1", "bound", "mse"}, optional
        Which worst-case error the release minimises, as in `private_mean`.
    total_width : float, optional
        S, in the unit of the values; by default the objective decides, as in `private_mean`.
    centre : float, optional
        A public guess of the mean; by default the middle of the bounds.
    project : bool, optional
        Whether to move releases to the nearest number between the bounds; if not, they are unbiased
        for the mean of the clipped sums, as in `private_mean`.

    Returns
    -------
    opendp.Measurement

    Warns
    -----
    UserWarning
        If the budget is an eps above 10, as `private_mean`.

    Raises
    ------
    FileNotFoundError, ImportError
        As `private_mean`.
    TypeError, ValueError
        If an argument is invalid, or rows have no user. The measurement itself raises if it is
        given a table whose users have other numbers of records.

    Notes
    -----
    This enables OpenDP's "honest-but-curious" feature for the whole process, because the
    measurement consists of functions that are not OpenDP's own. An error or a warning inside a
    measurement would reveal something about values. Values beyond the bounds therefore always count
    as the nearer bound, and missing ones as the centre, without a warning.

    Examples
    --------
    >>> trips = {"bus": ["a", "a", "a", "a", "b"], "speed": [3.0, 4.0, 5.0, 4.0, 1.0]}
    >>> of = {"data": trips, "lower": 0, "upper": 6}
    >>> measurement = as_measurement("bus", "speed", **of, budget=1)
    >>> measurement.map(1), measurement(trips).n_records
    (1.0, 5)
    """
    choices = read_choices(read_grid(lower, upper), budget, objective, total_width, centre, project)
    warn_if_large("budget", choices.law)
    check_value(value)
    if data is None:
        check.refuse_type("data", "the table with the columns `user` and `value`", data)
    dp = load_opendp()
    survey = _users_in(data, user, value, choices.grid)
    refuse_rows(survey, "clamp", "centre")
    parts = decide(users_of(survey, choices.grid), choices)
    dp.enable_features("honest-but-curious")
    sensitivities = [part.window.sensitivity for part in parts]
    measurements = [measurement_of(sensitivity, choices.law) for sensitivity in sensitivities]
    measures = {"eps": dp.max_divergence, "rho": dp.zero_concentrated_divergence}
    users_by_count = dict(zip(survey.sizes, survey.users, strict=True))
    return dp.m.make_user_measurement(
        # Measurements compose if their domains have the same name, also for several columns.
        dp.user_domain(
            f"tables with users in {user!r}, by their numbers of records: {users_by_count}",
            lambda table: _has_users(table, user, value, choices.grid, survey),
        ),
        dp.change_one_distance(),
        measures[choices.law.currency](),
        partial(_release_table, user=user, value=value, users=survey, parts=parts),
        lambda d_in: max(
            measurement.map(sensitivity * d_in)
            for measurement, sensitivity in zip(measurements, sensitivities, strict=True)
        ),
    )


def _users_in(data: Data, user: str, value: str, grid: Grid) -> Survey:
    """Return the number of users of a table with each count, and nothing about their values."""
    with read_tally(user, value, data, Rules(grid)) as tally:
        return _counts_only(tally.survey())


def _counts_only(survey: Survey) -> Survey:
    """Return a survey without the numbers that depend on values."""
    return survey._replace(without_value=0, outside=0)


def _has_users(data: Data, user: str, value: str, grid: Grid, users: Survey) -> bool:
    """Whether a table has these users; False on an error, which OpenDP would quote with data."""
    try:
        return _users_in(data, user, value, grid) == users
    except Exception:
        return False


@discreet
def _release_table(data: Data, user: str, value: str, users: Survey, parts: Parts) -> PrivateMean:
    """Release the mean of a table that OpenDP passes on."""
    with read_tally(user, value, data, Rules(parts[0].choices.grid)) as tally:
        if _counts_only(tally.survey()) != users:
            raise ValueError(
                "`data` must have, for each number of records, as many users as the table for "
                "which the measurement was created."
            )
        totals = [tally.clipped_total(part.window, part.among) for part in parts]
    return draw(totals, parts, "clamp", "centre")


# Decisions, from public numbers alone


def read_choices(
    grid: Grid,
    budget: Budget,
    objective: Objective,
    total_width: Real | None,
    centre: float | None,
    project: bool,
) -> Choices:
    """Return the choices of the caller; raise if they are invalid, before any record is read."""
    law = read_law(budget)
    read_objective(objective)
    if total_width is not None:
        total_width = float(check.nonnegative("total_width", total_width))
    to_bounds = check.boolean("project", project)
    # With a width or a centre from the caller there is one part: each part has its own width.
    uses_best_split = objective == "l1" and to_bounds and total_width is None and centre is None
    return Choices(
        grid, law, origin_of(grid, centre), objective, total_width, to_bounds, uses_best_split
    )


def decide(users: Contributions, choices: Choices) -> Parts:
    """Decide whether there are one or two parts, where sums are clipped, and in which steps."""
    total_width = choices.total_width
    if choices.uses_best_split:
        split = best_split(users, choices.law)
        if split.heavy_from is not None:
            ranges = (
                CountRange(split.heavy_from, users.max_count + 1),
                CountRange(0, split.heavy_from),
            )
            return tuple(
                _decide(part.users, choices, part.total_width, among)
                for part, among in zip(split.parts, ranges, strict=True)
            )
        total_width = split.parts[0].total_width
    if total_width is None:
        total_width = float(threshold(users, choices.law, choices.objective))
    return (_decide(users, choices, total_width),)


def _decide(
    users: Contributions, choices: Choices, total_width: float, among: CountRange | None = None
) -> PartDecision:
    """Decide where the sums of some users are clipped, and in which steps."""
    grid = choices.grid
    largest_sum = users.max_count * grid.top
    shift = shift_for(users.total * grid.top, largest_sum, choices.law)
    # No sum is farther from the origin than these.
    lowest = steps_of(users.max_count * choices.origin, shift)
    highest = steps_of(users.max_count * (grid.top - choices.origin), shift)
    step = grid.step * (1 << shift)
    half_width = nearest(min(total_width / 2 / step, steps_of(largest_sum, shift)))
    window = Window(choices.origin, shift, -min(half_width, lowest), min(half_width, highest))
    return PartDecision(users, choices, among, window, half_width)


# One draw per part, one result


class ErrorGuarantee(NamedTuple):
    """What is guaranteed for the mean of a part, in the unit of the values."""

    share: float
    """The share of the records, which is the weight of the part's mean."""
    bias: float
    noise_scale: float
    bound: float
    """Bias, mean absolute value of the noise, and rounding, added up."""
    error: float
    """The guarantee: the mean absolute error is at most this, on every dataset."""
    rounding: float


def draw(
    totals: Sequence[int], parts: Parts, outside: Outside, missing: Missing, of: str = ""
) -> PrivateMean:
    """Add noise to clipped totals: last, so that an earlier failure has spent nothing."""
    choices = parts[0].choices
    grid = choices.grid
    guarantees = _guarantees_of_parts(parts)
    fields = _public_fields(parts, guarantees, outside, missing)
    drawn = [_draw(total, part) for total, part in zip(totals, parts, strict=True)]
    mean = sum(part.share * released for part, (released, _) in zip(guarantees, drawn, strict=True))
    if choices.project:  # again, as the weights are rounded
        mean = min(max(mean, grid.lower), grid.upper)
    drops_rows = "drop" in (outside, missing)
    spent = {} if drops_rows else {choices.law.currency: max(cost for _, cost in drawn)}
    return PrivateMean(mean=mean, eps=spent.get("eps"), rho=spent.get("rho"), of=of, **fields)


def _draw(total: int, part: PartDecision) -> tuple[float, float]:
    """Return the mean of a part with noise, and what it spent."""
    grid = part.choices.grid
    law = part.choices.law
    sensitivity = part.window.sensitivity
    lowest, highest = part.reachable
    # Only float rounding, of sums that the caller passes, may exceed these, by a few steps.
    noisy = noisy_total(min(max(total, lowest), highest), sensitivity, law)
    steps: Real = noisy.value
    if not part.choices.project and law.integer_law == "laplace":
        beyond = mean_beyond(scale_of(sensitivity, law))
        steps = average_beyond(noisy.value, lowest, highest, beyond)
    mean = part.centre + float(steps) * (part.step / part.users.total)
    if part.choices.project:
        mean = min(max(mean, grid.lower), grid.upper)
    return mean, noisy.spent


def guarantee_of(parts: Parts) -> ErrorGuarantee:
    """Return the guarantee of a release, from public numbers alone."""
    return _whole(_guarantees_of_parts(parts))


def _guarantees_of_parts(parts: Parts) -> list[ErrorGuarantee]:
    n_records = sum(part.users.total for part in parts)
    return [_guarantee_of_part(part, part.users.total / n_records) for part in parts]


def _whole(guarantees: list[ErrorGuarantee]) -> ErrorGuarantee:
    """Return the guarantee for the whole: those of the parts add up, weighted by their shares."""
    shares, *others = zip(*guarantees, strict=True)
    return ErrorGuarantee(1.0, *(sum(map(mul, shares, numbers)) for numbers in others))


def _guarantee_of_part(part: PartDecision, share: float) -> ErrorGuarantee:
    """Return the guarantee for the mean of a part, from public numbers alone."""
    users, choices, _, window, _ = part
    grid = choices.grid
    unit = part.step / users.total
    bias = float(centred_bias(users, part.total_width, choices.origin * grid.step))
    law = whole_law(window.sensitivity, choices.law)
    rounding = _rounding(part)
    bound = float(law.worst_case(bias, window.sensitivity * unit, "bound")) + rounding
    error = float(law.mean_error(bias, window.sensitivity * unit)) + rounding
    if choices.project:
        bound = min(bound, grid.width)
        error = min(error, grid.width)
        if choices.origin == grid.top // 2:
            error = min(error, _projected_error(part, law) + rounding)
    scale = scale_of(window.sensitivity, choices.law) * unit
    return ErrorGuarantee(share, bias, scale, bound, error, rounding)


def _projected_error(part: PartDecision, law: Noise) -> float:
    """Bound the mean error, without rounding, of a projected release with the centre in the middle.

    The bound of the theory is for noise of the smaller of S and U m*. In coarse steps the noise is
    for a rounded width. The mean distance of P(t + s Z) from a number changes by at most E abs(Z)
    per unit of the scale s.
    """
    users = part.users
    widest = float(users.upper) * users.max_count
    change = min(part.total_width, widest) - part.window.sensitivity * part.step
    correction = abs(change) / users.total * float(law.mean_abs)
    return projected_error(users, part.total_width, law) + correction


def _public_fields(
    parts: Parts, guarantees: list[ErrorGuarantee], outside: Outside, missing: Missing
) -> dict[str, Any]:
    """Return all fields of a result that do not depend on the noise."""
    choices = parts[0].choices
    grid = choices.grid
    whole = _whole(guarantees)
    return {
        "sigma": float(choices.law.scale) if choices.law.currency == "rho" else None,
        "privacy_unit": _privacy_unit(
            "drop" in (outside, missing), max(p.window.sensitivity for p in parts)
        ),
        "worst_case_error": whole.error,
        "lower": grid.lower,
        "upper": grid.upper,
        "outside": outside,
        "missing": missing,
        "project": choices.project,
        "n_records": sum(part.users.total for part in parts),
        "n_users": sum(part.users.n_users for part in parts),
        "objective": choices.objective,
        "centre": parts[0].centre,
        "total_width": max(part.total_width for part in parts),
        "clips": tuple(clip for part in parts for clip in _clips(part)),
        "noise_scale": whole.noise_scale,
        "worst_case_bias": whole.bias,
        "worst_case_bound": whole.bound,
        "rounding": whole.rounding,
        "parts": tuple(map(_description, parts, guarantees)) if len(parts) > 1 else (),
    }


def _description(part: PartDecision, guarantee: ErrorGuarantee) -> Part:
    """Return the description of a part in a result."""
    return Part(
        fewest=int(part.users.histogram[0][0]),
        n_users=part.users.n_users,
        n_records=part.users.total,
        total_width=part.total_width,
        noise_scale=guarantee.share * guarantee.noise_scale,
        worst_case_bias=guarantee.share * guarantee.bias,
    )


def _rounding(part: PartDecision) -> float:
    """Return the most by which rounding can move the mean, in the unit of the values."""
    grid = part.choices.grid
    level_rounding = LEVEL_ERROR * grid.step
    # Where steps are coarser than levels, each user's sum is rounded once more.
    sum_rounding = part.users.n_users * part.step / 2 if part.window.shift else 0.0
    noise_rounding = part.step
    return level_rounding + (sum_rounding + noise_rounding) / part.users.total + grid.float_error


def _privacy_unit(drops_rows: bool, sensitivity: int) -> str:
    if drops_rows:
        return NOT_STATED
    if not sensitivity:
        return NOTHING
    return COUNTS_PUBLIC


def _clips(part: PartDecision) -> tuple[Clip, ...]:
    """Return one interval for each number of records, the largest first."""
    grid = part.choices.grid
    sizes, n_users = part.users.histogram
    one_of_each = Contributions(sizes, part.users.upper)
    ends = centred_clipping(one_of_each, part.total_width, part.choices.origin * grid.step)
    rows = np.stack([sizes, n_users, grid.lower + ends.lower, grid.lower + ends.upper], axis=1)
    return tuple(Clip(int(m), int(n), low, high) for m, n, low, high in rows.tolist())[::-1]
