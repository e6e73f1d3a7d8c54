"""Results: the numbers of a release, and its intervals; all of it may be published."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from userdp.beyond._rounding import chance_beyond
from userdp.beyond.noise import GaussianNoise, LaplaceNoise, Objective
from userdp.model import Epsilon, read_eps
from userdp.release._intervals import PartOfError, noise_reach, parts_reach, read_level
from userdp.release._quiet import discreet
from userdp.release._wording import (
    Missing,
    Outside,
    html_table,
    plain,
    sentence,
    summary,
    text_table,
)


class Clip(NamedTuple):
    """The interval to which the mean of every user with this many records is clipped."""

    n_records: int
    n_users: int
    lower: float
    upper: float


class Part(NamedTuple):
    """One of two parts of a release, and what it adds to bias and noise of the whole mean."""

    fewest: int
    """Each of its users has at least this many records, and fewer than those of the part before."""
    n_users: int
    n_records: int
    total_width: float
    """S of these users."""
    noise_scale: float
    """In the unit of the values, as it enters the mean of all records; so is `worst_case_bias`."""
    worst_case_bias: float


@dataclass(frozen=True, repr=False, kw_only=True)
class Release:
    """Base class of all releases: a private mean, its privacy guarantee, and a bound on its error.

    Errors are on the worst dataset with the same counts, in the unit of the values. All of it may
    be published, if a budget is stated.

    Attributes
    ----------
    mean : float or ndarray of float64, shape (d,)
        The release.
    eps : float or None
        The budget spent, by OpenDP's accounting (its last digits may be below the requested one);
        None if none can be stated, and for Gaussian noise.
    rho : float or None
        The budget spent by Gaussian noise, in zCDP; for (eps, delta)-DP see `delta`.
    sigma : float or None
        Standard deviation of Gaussian noise for sensitivity 1, as requested.
    privacy_unit : str
        The neighbouring relation of `eps` or `rho`, and what is public; or why there is no budget.
    worst_case_error : float
        The guarantee: on every dataset, the mean error, with bias, noise and rounding, is at most
        this.
    of : str
        What the table holds, as the publisher describes it; empty if that is not stated.
    """

    kind: ClassVar[str]

    mean: Any
    eps: float | None
    rho: float | None
    sigma: float | None
    privacy_unit: str
    worst_case_error: Any
    of: str = ""

    @discreet
    def delta(self, eps: Epsilon) -> float:
        """Return a delta for which the release is (eps, delta)-DP.

        For Gaussian noise it is the smallest known; for Laplace noise it is 0 if `eps` is at least
        `self.eps`. It is 1, which guarantees nothing, if none can be stated.

        Parameters
        ----------
        eps : float, Fraction, Decimal or str
            The eps of (eps, delta)-DP.

        Returns
        -------
        float

        Raises
        ------
        TypeError, ValueError
            If `eps` is not a positive and finite number.
        """
        target = read_eps(eps)
        if self.eps is not None:
            return chance_beyond(Fraction(self.eps), target)
        if self.rho is None or self.sigma is None:
            return 1.0
        if self.rho == 0:
            return 0.0
        return GaussianNoise(self.sigma).delta(target)

    @discreet
    def interval(self, level: float = 0.95) -> Any:
        """Return an interval that contains the records' mean with probability at least `level`.

        The level is attained on every dataset with these counts: the interval is wide enough for
        the largest bias.
        """
        raise NotImplementedError

    def public(self) -> dict[str, Any]:
        """Return everything that may be published, as plain numbers, strings and lists."""
        everything = {"kind": self.kind} | asdict(self) | {"interval_95": self.interval()}
        if not self.of:
            del everything["of"]
        return plain(everything)

    def public_json(self) -> str:
        """Return everything that may be published, as JSON with the schema of `json_schema`."""
        return json.dumps(self.public(), allow_nan=False)

    @discreet
    def public_sentence(
        self, unit: str = "", *, users: str = "users", records: str = "records"
    ) -> str:
        """Return text to print below the number, for readers who know nothing about privacy.

        Parameters
        ----------
        unit : str, optional
            The unit of the values, such as "km/h".
        users, records : str, optional
            What your readers call them, such as "patients" and "visits".

        Returns
        -------
        str
            It states what the number is the mean of, how far off it may be, and what protects the
            users.

        Raises
        ------
        TypeError
            If an argument is not text.
        """
        return sentence(self, unit, users, records)

    def __repr__(self) -> str:
        """Return a table in plain text."""
        return text_table([], summary(self))

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_table([], summary(self))


@dataclass(frozen=True, repr=False, kw_only=True)
class PrivateMean(Release):
    """A private mean, what is known about its error, and how it was computed.

    Errors and intervals are about the mean of the records used, on the worst dataset with the same
    counts, in the unit of the values. As `outside` and `missing` state, a value beyond the bounds
    may be moved to the nearer one, and a missing one replaced by the centre; how far this moves the
    mean is not included. All of it may be published if `eps` is stated.
    """

    kind: ClassVar[str] = "private mean"

    mean: float
    lower: float
    upper: float
    """The public bounds of a value."""
    outside: Outside
    missing: Missing
    """How values beyond the bounds, and rows without a value, were treated."""
    project: bool
    """Whether the release was moved to the nearest number between the bounds.

    If not, it is unbiased for the mean of the clipped sums. If Laplace noise takes it outside the
    `clipped_range`, the release is replaced by its conditional mean on that side, which is outside
    by `noise_scale` plus about half a step of the whole numbers."""
    n_records: int
    n_users: int
    objective: Objective
    centre: float
    """The means of users are clipped to intervals around this value."""
    total_width: float
    """S: each user's centred sum is clipped to [-S/2, S/2]. With several parts, the largest S."""
    clips: tuple[Clip, ...]
    """To what the mean of a user is clipped, by the number of records, the largest first."""
    noise_scale: float
    """The scale of the Laplace noise, which is the mean's sensitivity divided by the budget; or the
    standard deviation of Gaussian noise. For a release in parts, the sum over the parts."""
    worst_case_bias: float
    """How far clipping can move the mean.

    If the release is projected, its expectation moves further, by at most half of `noise_scale`."""
    worst_case_bound: float
    """The guarantee of the paper: bias, plus the mean absolute value of the noise, plus `rounding`;
    at least `worst_case_error`, which is for the mean absolute error.

    If the release is projected, an upper bound, and at most the distance between the bounds."""
    rounding: float
    """The most that rounding to whole steps can add to an error."""
    parts: tuple[Part, ...] = ()
    """Two, if the mean of users with many records was released separately: each part has the whole
    budget and is projected by itself, and the means, weighted by the shares of records, are added
    up. Otherwise none."""

    @discreet
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that contains the records' mean with probability at least `level`.

        The level is attained on every dataset with these counts: the interval is wide enough for
        the largest bias. If the release is projected, so is the interval, because the mean is
        between the bounds. An unprojected release with Laplace noise that is outside the
        `clipped_range` has the interval of its nearer end.

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
        return self._interval(level, biased=True)

    @discreet
    def noise_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the mean of the clipped sums: it allows for the noise only.

        `level` and the ends are as in `interval`.
        """
        return self._interval(level, biased=False)

    def public(self) -> dict[str, Any]:
        """Return everything that may be published, as plain numbers, strings and lists."""
        everything = super().public() | {"clips": [clip._asdict() for clip in self.clips]}
        del everything["parts"]
        if self.parts:
            everything["parts"] = [part._asdict() for part in self.parts]
        return everything

    @property
    def clipped_range(self) -> tuple[float, float]:
        """The least and the largest mean of the clipped sums, over all datasets."""
        lowest = sum(clip.n_users * clip.n_records * clip.lower for clip in self.clips)
        highest = sum(clip.n_users * clip.n_records * clip.upper for clip in self.clips)
        return lowest / self.n_records, highest / self.n_records

    def _interval(self, level: float, *, biased: bool) -> tuple[float, float]:
        """Return an interval for the mean or, if not `biased`, for the mean of the clipped sums.

        Let t be the mean of the clipped sums, f at most B away from it (B = 0 if not `biased`),
        Y = t + Z and P(|B + Z| > r) = 1 - level, so that |Y - f| <= r with at least this level:
        Y +- r contains f, and so does the part of it between the bounds. If noise beyond the
        clipped range [a, b] was averaged, Y is not known, but the nearest point y of [a, b] is.
        Either Y = y; or, say, Y > b = y, and then y - r < Y - r <= f <= t + B <= b + B, so
        y +- max(r, B) contains f. Ends in whole steps differ from a and b by at most `rounding`,
        which therefore counts twice.

        For a release in parts, see `parts_reach`.
        """
        chance = read_level(level)
        bias = self.worst_case_bias if biased else 0.0
        law = LaplaceNoise(1) if self.sigma is None else GaussianNoise(1)
        if self.parts:
            first, second = self._errors_of_parts(biased=biased)
            reach = parts_reach(law, first, second, chance)
        else:
            reach = noise_reach(law, self.noise_scale, bias, chance)
        if self.project:
            reach += self.rounding
            return max(self.mean - reach, self.lower), min(self.mean + reach, self.upper)
        if self.sigma is not None:
            reach += self.rounding
            return self.mean - reach, self.mean + reach
        lowest, highest = self.clipped_range
        nearest = min(max(self.mean, lowest), highest)
        if nearest != self.mean:
            reach = max(reach, bias)
        reach += 2 * self.rounding
        return nearest - reach, nearest + reach

    def _errors_of_parts(self, *, biased: bool) -> list[PartOfError]:
        """Return what each part contributes to the error, with its bias or without."""
        width = self.upper - self.lower
        return [
            PartOfError(
                scale=part.noise_scale,
                bias=part.worst_case_bias if biased else 0.0,
                largest=part.n_records / self.n_records * width,
            )
            for part in self.parts
        ]
