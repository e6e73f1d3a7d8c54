"""Results: the numbers of a release, and its intervals; all of it may be published."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from userdp.beyond._rounding import chance_beyond
from userdp.beyond.noise import GaussianNoise, LaplaceNoise, Objective
from userdp.model import Epsilon, read_eps
from userdp.release._intervals import OfPart, noise_reach, parts_reach, read_level
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
    """Users of a release in two parts, and what theirs adds to bias and noise of the whole mean."""

    fewest: int
    """Each of them has at least so many records, and fewer than those of the part before."""
    n_users: int
    n_records: int
    total_width: float
    """S of these users."""
    noise_scale: float
    """In the unit of the values, as it enters the mean of all records; `worst_case_bias` too."""
    worst_case_bias: float


@dataclass(frozen=True, repr=False, kw_only=True)
class Release:
    """What all releases have: a private mean, its promise, and a certificate of its error.

    Errors are on the worst of all datasets with the same counts, in the unit of the values. All of
    it may be published, if a budget is stated.

    Attributes
    ----------
    mean : float or ndarray of float64, shape (d,)
        The release.
    eps : float or None
        The budget spent, by OpenDP's account (its last digits may be below what was asked for);
        None where none can be stated, and for Gaussian noise.
    rho : float or None
        The same of Gaussian noise, in zCDP; for its (eps, delta) see `delta`.
    sigma : float or None
        Standard deviation of Gaussian noise for sensitivity 1, as asked for.
    promise : str
        What `eps` or `rho` promises, or why there is none.
    worst_case_error : float
        The certificate: on no dataset is the mean error larger, with bias, noise and rounding.
    """

    kind: ClassVar[str]

    mean: Any
    eps: float | None
    rho: float | None
    sigma: float | None
    promise: str
    worst_case_error: Any

    @discreet
    def delta(self, eps: Epsilon) -> float:
        """Return a delta for which the release is (eps, delta)-private.

        With Gaussian noise the smallest known; of Laplace noise 0, if no less than `self.eps` is
        asked for. 1, which promises nothing, if none can be stated.

        Parameters
        ----------
        eps : float, Fraction, Decimal or str
            The other number of the promise.

        Returns
        -------
        float

        Raises
        ------
        TypeError, ValueError
            If `eps` is no positive and finite number.
        """
        asked = read_eps(eps)
        if self.eps is not None:
            return chance_beyond(Fraction(self.eps), asked)
        if self.rho is None or self.sigma is None:
            return 1.0
        if self.rho == 0:
            return 0.0
        return GaussianNoise(self.sigma).delta(asked)

    @discreet
    def interval(self, level: float = 0.95) -> Any:
        """Return an interval that holds the mean of the records with at least this probability.

        On every dataset with these counts: it is wide enough for the largest bias.
        """
        raise NotImplementedError

    def public(self) -> dict[str, Any]:
        """Return all that may be published, as plain numbers, texts and lists."""
        return plain({"kind": self.kind} | asdict(self) | {"interval_95": self.interval()})

    def public_json(self) -> str:
        """Return the same as JSON, by the schema of `json_schema`."""
        return json.dumps(self.public(), allow_nan=False)

    @discreet
    def public_sentence(
        self, unit: str = "", *, users: str = "users", records: str = "records"
    ) -> str:
        """Return what to print under the number, for readers who know nothing of privacy.

        Parameters
        ----------
        unit : str, optional
            The unit of the values, such as "km/h".
        users, records : str, optional
            What your readers call them, such as "patients" and "visits".

        Returns
        -------
        str
            What the number is the mean of and how far off it may be, and what protects the users.

        Raises
        ------
        TypeError
            If one of these is no text.
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
    """A private mean, what is known of its error, and how it was made.

    Errors and intervals are about the mean of the records used, on the worst of all datasets with
    the same counts, in the unit of the values: as `outside` and `missing` say, with a value beyond
    the bounds moved to the nearer one, and the centre in place of a missing one. How far that moves
    the mean, nothing here counts. All of it may be published if `eps` is stated.
    """

    kind: ClassVar[str] = "private mean"

    mean: float
    lower: float
    upper: float
    """The public bounds of a value."""
    outside: Outside
    missing: Missing
    """What was to be done with values beyond the bounds, and with rows without a value."""
    project: bool
    """Whether the release was moved to the nearest number between the bounds.

    If not, it is unbiased for the mean of the clipped sums. Laplace noise that leads beyond the
    `clipped_range` is replaced by its mean there: then the release is beyond by `noise_scale`, and
    about half a step of the whole numbers more."""
    n_records: int
    n_users: int
    objective: Objective
    centre: float
    """The means of users are clipped to intervals around this value."""
    total_width: float
    """S: a user's sum, centred, is clipped to [-S/2, S/2]. Of a release in parts, the largest S."""
    clips: tuple[Clip, ...]
    """Where the mean of a user is clipped, by the number of records, the largest first."""
    noise_scale: float
    """The scale of the Laplace noise, what one user can move the mean over the budget; or the
    standard deviation of Gaussian noise. Of a release in parts, the sum of theirs."""
    worst_case_bias: float
    """How far clipping can move the mean.

    If the release is projected, its expectation moves on, by at most half of `noise_scale`."""
    worst_case_bound: float
    """The certificate of the paper: bias, plus the mean size of the noise, plus `rounding`; at
    least `worst_case_error`, which is the mean absolute error.

    If the release is projected, an upper bound, and at most the distance of the bounds."""
    rounding: float
    """The most that the use of whole numbers adds to an error."""
    parts: tuple[Part, ...] = ()
    """Two, if users of many records were released apart from the others, each part with the whole
    budget and projected to the bounds by itself, and the means were added; otherwise none."""

    @discreet
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that holds the mean of the records with at least this probability.

        On every dataset with these counts: it is wide enough for the largest bias. If the release
        is projected, so is the interval, which cannot lose the mean by it. Without projection, one
        with Laplace noise that is beyond the `clipped_range` has the interval of its nearer end.

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
        return self._interval(level, biased=True)

    @discreet
    def noise_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the mean of the clipped users: it allows for the noise only.

        It has the probability and the ends of `interval`.
        """
        return self._interval(level, biased=False)

    def public(self) -> dict[str, Any]:
        """Return all that may be published, as plain numbers, texts and lists."""
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
        """Return an interval for what is off the mean of clipped sums by the bias, or by nothing.

        Let t be that mean, f at most B away from it, Y = t + Z and P(|B + Z| > r) the rest
        of the level, so that |Y - f| <= r at the level: Y +- r holds f, and so does the part of it
        between the bounds. Where noise beyond the clipped range [a, b] was averaged, Y is not
        known, but its nearest point y in [a, b] is. Either Y = y; or, say, Y > b = y, and then
        y - r < Y - r <= f <= t + B <= b + B: so y +- max(r, B) holds f. Ends in whole steps differ
        from a and b by `rounding` at most, which therefore counts twice.

        Of a release in parts, see `parts_reach`.
        """
        chance = read_level(level)
        bias = self.worst_case_bias if biased else 0.0
        law = LaplaceNoise(1) if self.sigma is None else GaussianNoise(1)
        if self.parts:
            first, last = self._of_parts(biased=biased)
            reach = parts_reach(law, first, last, chance)
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

    def _of_parts(self, *, biased: bool) -> list[OfPart]:
        """Return what each part may do to the mean, with its bias or without."""
        width = self.upper - self.lower
        return [
            OfPart(
                scale=part.noise_scale,
                bias=part.worst_case_bias if biased else 0.0,
                most=part.n_records / self.n_records * width,
            )
            for part in self.parts
        ]
