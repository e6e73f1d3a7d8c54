"""From a table of records to a private mean, with a certificate of its error."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log2
from os import PathLike
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from userdp._checks import RNGLike, read_real, read_rng, read_size, refuse_type, refuse_value
from userdp._tables import html_table, text_table
from userdp.budget import Epsilon
from userdp.engines import Grid, Records, read_records
from userdp.model import Contributions
from userdp.noise import NoiseName, Objective, read_noise
from userdp.planning import read_bounds
from userdp.release import LARGEST_SCALE_BITS, discrete_laplace
from userdp.worstcase import centred_clipping, threshold, worst_case_bias

Data = str | PathLike[str] | Any
"""A Parquet or CSV file, an Ibis table, or a frame: whatever has columns by name."""

Outside = Literal["refuse", "clamp", "drop"]
"""What to do with values beyond the bounds."""

Missing = Literal["refuse", "drop"]
"""What to do with rows without a user or a value."""

NoiseSource = Literal["opendp", "laplace", "staircase"]
"""OpenDP's whole-number noise, or a demonstration in floating point."""

FEWEST_BITS, MOST_BITS = 8, 40
"""Of the level of a value."""

LEVEL_ERROR = 0.5 + 2**-10
"""By how many steps a level may be off: half of one, and the roundings of 53 bits on the way."""


class Clip(NamedTuple):
    """The interval to which the mean of every user with this many records is clipped."""

    n_records: int
    n_users: int
    lower: float
    upper: float


@dataclass(frozen=True, repr=False, kw_only=True)
class PrivateMean:
    """A private mean, what is known of its error, and how it was made.

    Errors and intervals are about the mean of the records used, on the worst of all datasets with
    the same counts, in the unit of the values. All of it may be published but `n_clamped`, which is
    computed from protected values.
    """

    mean: float
    """The release; it may lie outside of the bounds."""
    eps: float
    """The budget spent: user-level, for replacing one user's values, with the counts public."""
    lower: float
    upper: float
    """The public bounds of a value."""
    n_records: int
    n_users: int
    objective: Objective
    noise: NoiseSource
    centre: float
    """The means of users are clipped to intervals around this value."""
    total_width: float
    """S: a user's sum, centred, is clipped to [-S/2, S/2]."""
    clips: tuple[Clip, ...]
    """Where the mean of a user is clipped, by the number of records, the largest first."""
    noise_scale: float
    """1/eps times what one user can move the mean: the scale of Laplace noise."""
    worst_case_bias: float
    """How far clipping can move the mean."""
    worst_case_bound: float
    """The certificate of the paper: bias, plus the mean size of the noise, plus `rounding`."""
    worst_case_l1: float
    """The mean absolute error on the worst dataset, plus `rounding`."""
    rounding: float
    """The most that the use of whole numbers adds to an error."""
    n_dropped: int
    """Rows left out. The counts without them are what is public."""
    n_clamped: int
    """Values moved to the nearer bound. PROTECTED: not for publication."""

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that holds the mean of the records with at least this probability.

        On every dataset: it is wide enough for the largest bias.

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
        return self._interval(level, self.worst_case_bias)

    def noise_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the mean of the clipped users: it allows for the noise only.

        Parameters, results and errors are those of `interval`.
        """
        return self._interval(level, 0.0)

    def _interval(self, level: float, bias: float) -> tuple[float, float]:
        chance = float(read_size("level", level))
        if not 0 < chance < 1:
            refuse_value("level", "between 0 and 1", level)
        reach = self.rounding + (self._reach(bias, chance) if self.noise_scale > 0 else bias)
        return self.mean - reach, self.mean + reach

    def _reach(self, bias: float, level: float) -> float:
        """Return the size that the error at this bias exceeds with probability 1 - level."""
        from scipy.optimize import brentq  # slow to import

        law, change = read_noise(_law_of(self.noise), self.eps), self.eps * self.noise_scale

        def excess(reach: float) -> float:
            far, near = law.tail(np.array([reach + bias, abs(reach - bias)]) / change)
            return float(far + (near if reach >= bias else 1 - near) - (1 - level))

        end = bias + change
        while excess(end) > 0:
            end *= 2
        return float(brentq(excess, 0, end, xtol=1e-12 * end))

    def __repr__(self) -> str:
        """Return a table in plain text."""
        return text_table([], self._shown())

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_table([], self._shown())

    def _shown(self) -> list[list[str]]:
        low, high = self.interval()
        tightest, loosest = self.clips[0], self.clips[-1]
        rows = {
            "private mean": f"{self.mean:.6g}",
            "95 % interval": f"{low:.6g} to {high:.6g} (on every dataset)",
            "budget": f"eps = {self.eps:.6g}, user-level, counts public",
            "error on the worst dataset": f"{self.worst_case_l1:.4g} on average "
            f"(bound {self.worst_case_bound:.4g}, bias {self.worst_case_bias:.4g})",
            "noise": f"{self.noise}, scale {self.noise_scale:.4g}",
            "users clipped to": f"{tightest.lower:.4g} to {tightest.upper:.4g} "
            f"({tightest.n_records} records) ... {loosest.lower:.4g} to {loosest.upper:.4g} "
            f"({loosest.n_records})",
            "records": f"{self.n_records} of {self.n_users} users, "
            f"values in [{self.lower:g}, {self.upper:g}]",
        }
        if self.n_dropped:
            rows["dropped"] = f"{self.n_dropped} rows"
        if self.n_clamped:
            rows["clamped"] = f"{self.n_clamped} values (PROTECTED: do not publish this number)"
        if self.noise != "opendp":
            rows["WARNING"] = "floating-point noise: a demonstration, not for publication"
        return [[name, text] for name, text in rows.items()]


def private_mean(
    user: str | npt.ArrayLike,
    value: str | npt.ArrayLike,
    lower: float,
    upper: float,
    eps: Epsilon,
    *,
    data: Data | None = None,
    objective: Objective = "bound",
    total_width: float | None = None,
    centre: float | None = None,
    outside: Outside = "refuse",
    missing: Missing = "refuse",
    noise: NoiseSource = "opendp",
    rng: RNGLike | None = None,
) -> PrivateMean:
    """Release the mean of a column of records, each of which belongs to a user.

    The values of each user, centred, are added up and clipped to [-S/2, S/2]; the mean of the
    clipped sums is released with noise for that width. User-level eps-DP for replacing all values
    of one user, with the users' numbers of records, the bounds, S and the centre public. Not
    protected are the time taken, and whether the call is refused: that is for you to see.

    Parameters
    ----------
    user, value : str or array_like, shape (n,)
        Names of two columns of `data`; or the columns themselves, as arrays or as columns of
        pandas, polars or Arrow. The values are protected.
    lower, upper : float
        Public bounds of a value, in its unit; not computed from the values.
    eps : float, Fraction, Decimal or str
        Privacy budget of the release (dimensionless, public).
    data : path, Ibis table or frame, optional
        A Parquet or CSV file (read by DuckDB), a table of any engine that Ibis speaks to, which
        does the work and returns a few numbers, or anything with columns by name.
    objective : {"bound", "l1", "mse"}, optional
        Which worst-case error the threshold minimises.
    total_width : float, optional
        S; without it `threshold` for the objective.
    centre : float, optional
        A public guess of the mean; the middle of the bounds without it.
    outside : {"refuse", "clamp", "drop"}, optional
        What to do with values beyond the bounds. To clamp keeps the promise of privacy; to drop
        makes the counts, which are public, depend on protected values.
    missing : {"refuse", "drop"}, optional
        What to do with rows without a user or a value. What is dropped shows in the counts.
    noise : {"opendp", "laplace", "staircase"}, optional
        Noise in whole numbers from OpenDP, without a seed; or a demonstration in floating point,
        which is not safe to publish.
    rng : Generator or seed, optional
        For demonstrations only.

    Returns
    -------
    PrivateMean

    Raises
    ------
    ImportError
        If the extra ``userdp[release]`` or, for files, ``userdp[tables]`` is not installed.
    TypeError, ValueError
        If rows are missing or outside, with their number, and are not to be dropped or clamped; if
        an argument is not as above; if `eps` is too small for the noise to fit 64 bits.

    See Also
    --------
    plan : the errors to expect, before anything is released.
    user_counts : the public counts, for `plan`.

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
    law = read_noise(_law_of(noise), eps)
    if noise == "opendp" and rng is not None:
        refuse_value("rng", "left out with noise from OpenDP, which takes no seed", rng)
    if value is None:
        refuse_type("value", "a column, or the name of one in `data`", value)
    generator = read_rng(rng)
    records, n_dropped, n_clamped = _usable(
        read_records(user, value, data), low, high, outside, missing
    )
    users = Contributions(records.user_counts(), upper=high - low)
    grid = _grid(users, low, high, law.eps, centre)
    if total_width is None:
        total_width = float(threshold(users, eps, objective, _law_of(noise)))
    half = _whole(read_size("total_width", total_width) / 2 / grid.step)
    lowest = -min(half, users.max_count * grid.origin)
    highest = min(half, users.max_count * (grid.top - grid.origin))
    moved, unit = highest - lowest, grid.step / users.total
    total = records.clipped_total(grid, lowest, highest)
    if noise == "opendp":
        measurement = discrete_laplace(moved, law.eps)
        noisy, spent = measurement(total), float(measurement.map(moved))
    else:
        noisy, spent = total + float(law.draw(float(moved), (), generator)), float(law.eps)
    middle = grid.origin * grid.step
    clipping = centred_clipping(users, 2 * half * grid.step, middle)
    bias = float(worst_case_bias(users, clipping))
    # Noise in whole numbers is off by one step of all N records.
    rounding = LEVEL_ERROR * grid.step + (unit if noise == "opendp" else 0.0)
    bound, l1 = (float(law.worst_case(bias, moved * unit, kind)) for kind in ("bound", "l1"))
    return PrivateMean(
        mean=low + middle + noisy * unit,
        eps=spent,
        lower=low,
        upper=high,
        n_records=users.total,
        n_users=users.n_users,
        objective=objective,
        noise=noise,
        centre=low + middle,
        total_width=2 * half * grid.step,
        clips=_clips(users, grid, 2 * half * grid.step),
        noise_scale=moved * unit / float(law.eps),
        worst_case_bias=bias,
        worst_case_bound=bound + rounding,
        worst_case_l1=l1 + rounding,
        rounding=rounding,
        n_dropped=n_dropped,
        n_clamped=n_clamped,
    )


def user_counts(user: str | npt.ArrayLike, *, data: Data | None = None) -> NDArray[np.int64]:
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
    records = read_records(user, None, data)
    unknown = records.tally(0.0, 0.0).missing
    if unknown:
        raise ValueError(f"`user` must have no missing entries, got {unknown} of them.")
    return np.sort(records.user_counts())[::-1]


def _law_of(noise: NoiseSource) -> NoiseName:
    if not isinstance(noise, str) or noise not in get_args(NoiseSource):
        refuse_value("noise", f"one of {', '.join(map(repr, get_args(NoiseSource)))}", noise)
    return "staircase" if noise == "staircase" else "laplace"


def _usable(
    records: Records, lower: float, upper: float, outside: Outside, missing: Missing
) -> tuple[Records, int, int]:
    """Return the records to use, and how many rows are dropped and values clamped for it."""
    if not isinstance(outside, str) or outside not in get_args(Outside):
        refuse_value("outside", "'refuse', 'clamp' or 'drop'", outside)
    if not isinstance(missing, str) or missing not in get_args(Missing):
        refuse_value("missing", "'refuse' or 'drop'", missing)
    found = records.tally(lower, upper)
    if found.missing and missing == "refuse":
        raise ValueError(
            f"`user` and `value` must not be missing, got {found.missing} of {found.rows} rows "
            "without one or the other: fill them, or pass missing='drop'."
        )
    if found.outside and outside == "refuse":
        raise ValueError(
            f"`value` must lie in [{lower:g}, {upper:g}], got {found.outside} of {found.rows} rows "
            "outside: correct them, or pass outside='clamp' or outside='drop'."
        )
    dropped = found.missing + (found.outside if outside == "drop" else 0)
    if dropped == found.rows:
        raise ValueError(f"`value` must have rows to average, got {found.rows}, {dropped} dropped.")
    if found.missing:
        records = records.without_missing()
    if not found.outside:
        return records, dropped, 0
    if outside == "drop":
        return records.within(lower, upper), dropped, 0
    return records.clamped(lower, upper), dropped, found.outside


def _grid(
    users: Contributions, lower: float, upper: float, eps: Fraction, centre: float | None
) -> Grid:
    """Return levels fine enough to do no harm, and coarse enough for exact sums and noise."""
    records = users.max_count.bit_length()
    bits = min(
        MOST_BITS,
        53 - records,  # a user's sum is below 2^53
        62 - users.total.bit_length(),  # and the sum of all sums below 2^62
        LARGEST_SCALE_BITS - records + floor(log2(eps)),
    )
    if bits < FEWEST_BITS:
        refuse_value("eps", "large enough for noise that fits 64 bits", float(eps))
    share = 0.5
    if centre is not None:
        share = (read_real("centre", centre) - lower) / (upper - lower)
        if not 0 <= share <= 1:
            refuse_value("centre", f"from {lower:g} to {upper:g}", centre)
    return Grid(lower, upper, bits, origin=_whole(share * 2**bits))


def _whole(number: float) -> int:
    """Return the nearest integer."""
    return floor(number + 0.5)


def _clips(users: Contributions, grid: Grid, total_width: float) -> tuple[Clip, ...]:
    """Return one interval for each number of records, the largest first."""
    counts, n_users = np.unique(users.counts, return_counts=True)
    ends = centred_clipping(
        Contributions(counts, users.upper), total_width, grid.origin * grid.step
    )
    rows = zip(counts, n_users, grid.lower + ends.lower, grid.lower + ends.upper, strict=True)
    return tuple(Clip(int(m), int(n), float(low), float(high)) for m, n, low, high in rows)[::-1]
