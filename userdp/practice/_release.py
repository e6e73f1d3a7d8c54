"""From a table of records to a private mean, with a certificate of its error."""

import warnings
from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp.model import Contributions, Epsilon
from userdp.noise import LaplaceNoise, Noise, Objective, _read_objective
from userdp.practice._columns import refuse_odd
from userdp.practice._grid import LEVEL_ERROR, Grid, make_grid, read_bounds, whole
from userdp.practice._ingest import Data, read_records
from userdp.practice._noise import (
    Noisy,
    Spent,
    noisy_total,
    read_budget,
    scale_of,
    share_of_scale,
)
from userdp.practice._quiet import discreet
from userdp.practice._records import Rules, Survey
from userdp.practice._result import (
    NOT_STATED,
    NOTHING,
    STATED,
    Clip,
    Missing,
    Outside,
    PrivateMean,
)
from userdp.vectors import GaussianNoise
from userdp.worstcase import centred_clipping, threshold, worst_case_bias

ANY_VALUE = Rules(0.0, 0.0)
TOLERANT: tuple[Outside, Missing] = ("clamp", "centre")
"""Where values are not looked at."""


class ProtectedTally(NamedTuple):
    """How many rows are not as they should be: computed from protected values."""

    rows: int
    without_user: int
    without_value: int
    outside: int
    """Values beyond the bounds."""


class Decided(NamedTuple):
    """What a release does, decided by what is public alone."""

    users: Contributions
    grid: Grid
    lowest: int
    highest: int
    """Each user's sum of levels, less the origin, is clipped to this interval."""
    half: int
    """S/2 in steps, which may be more than a sum can reach."""
    budget: Spent
    objective: Objective
    project: bool

    @property
    def moved(self) -> int:
        """The most that one user can move the total."""
        return self.highest - self.lowest

    @property
    def law(self) -> Noise:
        """The noise that is added, for sensitivity 1: of a law, more where steps are coarse."""
        if not isinstance(self.budget, GaussianNoise):
            return LaplaceNoise(self.budget)
        scale = scale_of(self.moved, self.budget)
        return GaussianNoise(scale / self.moved) if self.moved else self.budget


@discreet
def private_mean(
    user: str | npt.ArrayLike,
    value: str | npt.ArrayLike,
    *,
    lower: float,
    upper: float,
    eps: Epsilon | GaussianNoise,
    data: Data | None = None,
    objective: Objective = "bound",
    total_width: float | None = None,
    centre: float | None = None,
    outside: Outside = "refuse",
    missing: Missing = "refuse",
    project: bool = True,
) -> PrivateMean:
    """Release the mean of a column of records, each of which belongs to a user.

    The values of each user, centred, are added up and clipped to [-S/2, S/2]; the mean of the
    clipped sums is released with noise for that width, drawn by OpenDP without a seed. User-level
    eps-DP for replacing all values of one user, with the users' numbers of records, the bounds, S
    and the centre public; private in the ways of a `GaussianNoise`, if one is given. Not protected
    are the time taken, and whether the call is refused: that is for you to see.

    Parameters
    ----------
    user, value : str or array_like, shape (n,)
        Names of two columns of `data`; or the columns themselves, as arrays or as columns of
        pandas (with one index), polars or Arrow. The values are protected. Ids are text, bytes,
        whole numbers, decimals, UUIDs, days, times or durations, all of one type; floats must be
        whole numbers. Two of them are the same user if they are equal; times with a zone, if they
        are the same instant. Other objects are refused.
    lower, upper : float
        Public bounds of a value, in its unit; not computed from the values.
    eps : float, Fraction, Decimal, str or GaussianNoise
        Privacy budget of the release (dimensionless, public); or a law of noise, which has
        promises of its own: `GaussianNoise.zcdp` or `GaussianNoise.approximate`.
    data : path or list of paths, Ibis table or frame, optional
        A Parquet or CSV file on this machine, or a list of several (read by DuckDB), each with both
        columns, and of the same types; an Ibis table of DuckDB or Spark, which does the work and
        returns a few numbers; or anything with columns by name, which is copied. In a CSV file an
        id is the text that stands there: NA, nan, None and NULL are people, and nobody is only who
        is left empty. Of Python's objects DuckDB may make their addresses: what it has read from a
        frame and is text or bytes is refused, and the frame itself is not.
    objective : {"bound", "l1", "mse"}, optional
        Which worst-case error the threshold minimises.
    total_width : float, optional
        S; without it `threshold` for the objective.
    centre : float, optional
        A public guess of the mean; the middle of the bounds without it.
    outside : {"refuse", "clamp", "drop"}, optional
        What to do with values beyond the bounds. To clamp keeps the promise of privacy. To drop
        makes the counts, which are public, depend on protected values: no `eps` is stated.
    missing : {"refuse", "centre", "drop"}, optional
        What to do with rows without a value. "centre" keeps the promise: they contribute the
        centre, and count. To drop them, and rows without a user: no `eps` is stated.
    project : bool, optional
        Whether to move the release to the nearest number between the bounds, which costs no privacy
        and adds to no error. False if releases are to be averaged or added up: projected, each
        leans towards the middle of the bounds.

    Returns
    -------
    PrivateMean

    Warns
    -----
    UserWarning
        If rows are to be dropped.

    Raises
    ------
    FileNotFoundError, ImportError
        If a file is not there; if the extra ``userdp[release]`` or, for files, ``userdp[tables]``
        is not installed.
    TypeError, ValueError
        If rows are missing or outside, and that is to be refused; if the data change during the
        call, or an argument is not as above; if `eps` is too small for the noise to fit 64 bits.

    See Also
    --------
    plan : the errors to expect, before anything is released.
    user_counts : the public counts, for `plan`.
    private_mean_protected_counts : where the counts are to be protected as well.

    Examples
    --------
    >>> users, values = ["a", "a", "a", "a", "b"], [3.0, 4.0, 5.0, 4.0, 1.0]
    >>> result = private_mean(users, values, lower=0, upper=6, eps=1)
    >>> result.clips[0], result.total_width
    (Clip(n_records=4, n_users=1, lower=2.25, upper=3.75), 6.0)
    >>> result.worst_case_bias, round(result.noise_scale, 6), round(result.worst_case_bound, 6)
    (1.8, 1.2, 3.0)
    """
    low, high = read_bounds(lower, upper)
    rules = read_rules(low, high, outside, missing)
    budget = read_budget(eps)
    _read_objective(objective)
    project = check.truth("project", project)
    if value is None:
        check.refuse_type("value", "a column, or the name of one in `data`", value)
    records = read_records(user, value, data)
    survey = records.survey(rules)
    refuse_rows(survey, outside, missing)
    refuse_nobody(survey)
    users = Contributions(survey.counts, upper=high - low)
    how = decide(users, low, high, eps, objective, total_width, centre, project)
    total, seen = records.clipped_total(rules, how.grid, how.lowest, how.highest)
    refuse_change(survey, seen)
    if rules.drop_missing or rules.drop_outside:
        warnings.warn(f"`eps` is {NOT_STATED}.", stacklevel=3)  # of the caller of `discreet`
    return make_result(how, noisy_total(total, how.moved, budget), outside, missing)


@discreet
def user_counts(user: str | npt.ArrayLike, *, data: Data | None = None) -> npt.NDArray[np.int64]:
    """Return how many records each user has: what `plan` starts from.

    Parameters
    ----------
    user, data
        As in `private_mean`.

    Returns
    -------
    ndarray of int64, shape (L,)
        Counts, the largest first, without the names of the users. Public, by assumption: whoever
        publishes them, or a release that rests on them, tells how many records each user has.

    Raises
    ------
    TypeError, ValueError
        If rows have no user; as `private_mean`.

    Examples
    --------
    >>> user_counts(["a", "b", "a", "a"])
    array([3, 1])
    """
    survey = read_records(user, None, data).survey(ANY_VALUE)
    refuse_rows(survey, *TOLERANT)
    refuse_nobody(survey)
    return survey.counts


@discreet
def protected_tally(
    user: str | npt.ArrayLike,
    value: str | npt.ArrayLike,
    *,
    lower: float,
    upper: float,
    data: Data | None = None,
) -> ProtectedTally:
    """Count the rows that `private_mean` would refuse: for you, and NOT for publication.

    It spends no budget and has no noise; the numbers are computed from protected values.

    Parameters
    ----------
    user, value, lower, upper, data
        As in `private_mean`.

    Returns
    -------
    ProtectedTally

    Raises
    ------
    TypeError, ValueError
        As `private_mean`.

    Examples
    --------
    >>> protected_tally(["a", "b", None], [1.0, 9.0, 2.0], lower=0, upper=6)
    ProtectedTally(rows=3, without_user=1, without_value=0, outside=1)
    """
    found = read_records(user, value, data).survey(Rules(*read_bounds(lower, upper)))
    if found.odd_users:
        refuse_odd()
    rows = int(found.counts.sum()) + found.without_user
    return ProtectedTally(rows, found.without_user, found.without_value, found.outside)


def read_rules(lower: float, upper: float, outside: Outside, missing: Missing) -> Rules:
    """Return which rows count, or refuse a choice."""
    if not isinstance(outside, str) or outside not in get_args(Outside):
        check.refuse_value("outside", "'refuse', 'clamp' or 'drop'", outside)
    if not isinstance(missing, str) or missing not in get_args(Missing):
        check.refuse_value("missing", "'refuse', 'centre' or 'drop'", missing)
    return Rules(lower, upper, missing == "drop", outside == "drop")


def refuse_rows(survey: Survey, outside: Outside, missing: Missing) -> None:
    """Refuse rows that are not as they should be. Their number is protected: it is not told."""
    if survey.odd_users:
        refuse_odd()
    if survey.without_user and missing != "drop":
        raise ValueError(
            "`user` must not be missing: some rows have none. Find out whose they are, or leave "
            "them out before you count."
        )
    if survey.without_value and missing == "refuse":
        raise ValueError(
            "`value` must not be missing: some rows have none. Fill them, or pass "
            "missing='centre', which keeps the promise of privacy (where counts are protected, "
            "missing='drop' does, too)."
        )
    if survey.outside and outside == "refuse":
        raise ValueError(
            "`value` must lie between the bounds: some do not. Correct them, or pass "
            "outside='clamp', which keeps the promise of privacy."
        )


def refuse_nobody(survey: Survey) -> None:
    """Refuse a table in which no row counts."""
    if not survey.sizes:
        raise ValueError("`user` must have rows that count: there are none.")


def refuse_change(before: Survey, after: Survey) -> None:
    """Refuse a table that was another one when its values were added up."""
    if before != after:
        raise ValueError(
            "`data` must stay as it is during the call: the rows that were added up are not those "
            "that were counted. Nothing is released. Pass a copy of the table."
        )


def decide(
    users: Contributions,
    lower: float,
    upper: float,
    eps: Epsilon | GaussianNoise,
    objective: Objective,
    total_width: float | None,
    centre: float | None,
    project: bool,
) -> Decided:
    """Decide all that depends on public numbers only."""
    budget = read_budget(eps)
    grid = make_grid(users, lower, upper, share_of_scale(budget), centre)
    if total_width is None:
        total_width = float(threshold(users, eps, objective))
    width = float(check.size("total_width", total_width))
    half = whole(min(width / 2 / grid.step, users.max_count * grid.top))  # no sum reaches further
    lowest = -min(half, users.max_count * grid.origin)
    highest = min(half, users.max_count * (grid.top - grid.origin))
    return Decided(users, grid, lowest, highest, half, budget, objective, project)


def make_result(how: Decided, noisy: Noisy, outside: Outside, missing: Missing) -> PrivateMean:
    """Say what is known of a noisy total: post-processing, with public numbers only."""
    dropping = "drop" in (outside, missing)
    users, grid = how.users, how.grid
    unit, total_width = grid.step / users.total, 2 * how.half * grid.step
    clipping = centred_clipping(users, total_width, grid.middle)
    bias = float(worst_case_bias(users, clipping))
    # Noise in whole numbers is off by one step of all N records.
    rounding = LEVEL_ERROR * grid.step + unit + grid.float_error
    bound = float(how.law.worst_case(bias, how.moved * unit, "bound")) + rounding
    l1 = float(how.law.mean_error(bias, how.moved * unit)) + rounding
    mean = grid.lower + grid.middle + noisy.total * unit
    if how.project:
        mean = min(max(mean, grid.lower), grid.upper)
        bound, l1 = min(bound, grid.width), min(l1, grid.width)
    promise = NOT_STATED if dropping else STATED if how.moved else NOTHING
    gaussian = isinstance(how.budget, GaussianNoise)
    return PrivateMean(
        mean=mean,
        eps=None if dropping or gaussian else noisy.spent,
        rho=noisy.spent if gaussian and not dropping else None,
        sigma=how.budget.sigma if isinstance(how.budget, GaussianNoise) else None,
        promise=promise,
        lower=grid.lower,
        upper=grid.upper,
        outside=outside,
        missing=missing,
        project=how.project,
        n_records=users.total,
        n_users=users.n_users,
        objective=how.objective,
        centre=grid.lower + grid.middle,
        total_width=total_width,
        clips=_clips(users, grid, total_width),
        noise_scale=scale_of(how.moved, how.budget) * unit,
        worst_case_bias=bias,
        worst_case_bound=bound,
        worst_case_l1=l1,
        rounding=rounding,
    )


def _clips(users: Contributions, grid: Grid, total_width: float) -> tuple[Clip, ...]:
    """Return one interval for each number of records, the largest first."""
    counts, n_users = np.unique(users.counts, return_counts=True)
    ends = centred_clipping(Contributions(counts, users.upper), total_width, grid.middle)
    rows = np.stack([counts, n_users, grid.lower + ends.lower, grid.lower + ends.upper], axis=1)
    return tuple(Clip(int(m), int(n), low, high) for m, n, low, high in rows.tolist())[::-1]
