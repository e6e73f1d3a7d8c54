"""What a release says of itself: all of it may be published."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cache
from html import escape
from importlib.resources import files
from math import exp, hypot, isfinite, sqrt
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import exprel, ndtri

from userdp import _checks as check
from userdp._checks import Floats
from userdp._rounding import (
    chance_beyond,
    downwards,
    factor_of,
    place_of,
    to_unit,
    upwards,
)
from userdp._search import double, halve
from userdp.model import Epsilon, read_eps
from userdp.noise import GaussianNoise, LaplaceNoise, Noise, Objective
from userdp.release._quiet import discreet

COUNTS_PUBLIC = "user-level, for replacing one user's values, with the counts public"
NOTHING = "nothing is learnt: the release is the same, whatever the data are"
NOT_STATED = "not stated: rows were to be dropped, so that the counts depend on protected values"

Outside = Literal["refuse", "clamp", "drop"]
"""What to do with values beyond the bounds."""

Missing = Literal["refuse", "centre", "drop"]
"""What to do with rows without a value."""

MENDED = {"clamp": ", of the values clamped", "centre": ", missing ones at the centre"}
"""Suffix that names the table an error is of, where rows were mended."""

IN_WORDS = {
    ("outside", "clamp"): "values beyond the bounds count as the nearer bound",
    ("outside", "drop"): "values beyond the bounds were left out",
    ("missing", "centre"): "missing values count as a number that was fixed before",
    ("missing", "drop"): "rows without a value or a user were left out",
}
"""The same for lay readers."""

MOST_IN_WORDS = 10
"""Up to this budget, the factor e^eps is written as a number."""

Rows = Sequence[Sequence[str]]


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


class Words(NamedTuple):
    """What the readers of a number call things."""

    unit: str
    """With a space before it, or empty."""
    users: str
    records: str


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
    protects: ClassVar[str]
    """What of a user is protected, in words, with a place for what records are called."""

    mean: Any
    eps: float | None
    rho: float | None
    sigma: float | None
    promise: str
    worst_case_error: float

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

        Parameters
        ----------
        level : float, optional
            The probability, between 0 and 1.

        Returns
        -------
        tuple of two floats, or of two ndarrays of float64
            Its ends, in the unit of the values. Of vectors, a box that holds all coordinates.

        Raises
        ------
        TypeError, ValueError
            If `level` is no number between 0 and 1.
        """
        raise NotImplementedError

    def public(self) -> dict[str, Any]:
        """Return all that may be published, as plain numbers, texts and lists."""
        everything = {"kind": self.kind} | asdict(self) | {"interval_95": self.interval()}
        plain: dict[str, Any] = json.loads(json.dumps(everything, default=np.ndarray.tolist))
        return plain

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
        for name, word in {"unit": unit, "users": users, "records": records}.items():
            if not isinstance(word, str):
                check.refuse_kind(name, "text", word)
        words = Words(unit and f" {unit}", users, records)
        return f"{self._of_the_number(words)} {self._of_the_privacy(words)}"

    def _of_the_number(self, words: Words) -> str:
        raise NotImplementedError

    def _of_the_privacy(self, words: Words) -> str:
        """Say what protects each user, and how well, in words."""
        spent = self.eps if self.rho is None else self.rho
        if spent is None:
            return f"A budget of privacy is {self.promise}."
        if spent == 0:
            return f"The number would be the same whatever the {words.records} were."
        noise = f"Noise protects {self.protects.format(words.records)} of each of the {words.users}"
        if self.eps is None:
            return f"{noise} (user-level differential privacy, rho = {upwards(spent)} in zCDP)."
        times = factor_of(spent) if spent <= MOST_IN_WORDS else f"e^{upwards(spent)}"
        return (
            f"{noise}: with any others no outcome would be more than {times} times as likely "
            f"(user-level differential privacy, eps = {upwards(spent)})."
        )

    def __repr__(self) -> str:
        """Return a table in plain text."""
        return text_table([], self._shown())

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_table([], self._shown())

    def _shown(self) -> list[list[str]]:
        return [[name, text] for name, text in self._summary().items()]

    def _summary(self) -> dict[str, str]:
        raise NotImplementedError

    def _spent(self) -> str:
        """Say what was spent, and what that promises."""
        if self.eps is not None:
            return f"eps = {upwards(self.eps)}, {self.promise}"
        if self.rho is not None:
            return f"rho = {upwards(self.rho)} (zCDP), {self.promise}"
        return f"eps {self.promise}"


@cache
def json_schema() -> dict[str, Any]:
    """Return the JSON schema of what results publish."""
    text = files("userdp.release").joinpath("public.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@dataclass(frozen=True, repr=False, kw_only=True)
class PrivateMean(Release):
    """A private mean, what is known of its error, and how it was made.

    Errors and intervals are about the mean of the records used, on the worst of all datasets with
    the same counts, in the unit of the values: as `outside` and `missing` say, with a value beyond
    the bounds moved to the nearer one, and the centre in place of a missing one. How far that moves
    the mean, nothing here counts. All of it may be published if `eps` is stated.
    """

    kind: ClassVar[str] = "private mean"
    protects: ClassVar[str] = "the values of the {}"

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

    def _of_the_number(self, words: Words) -> str:
        mean, low, high = in_words(self.mean, self.interval(), self.worst_case_error)
        error = at_most(self.worst_case_error)
        unit, users, records = words
        what = f"{self.n_records:,} {records} of {self.n_users:,} {users}"
        if self.n_records == self.n_users:
            what = f"one value each of {self.n_users:,} {users}"
        rules = of_which(self.outside, self.missing)
        itself = "mean so counted" if rules else "mean itself"
        return (
            f"The mean of {what} is {mean}{unit}{rules}: on average over the noise it is off by "
            f"at most {error}{unit}, whatever the {records} are, and with a probability of 95 % "
            f"the {itself} is from {low} to {high}{unit}."
        )

    def _summary(self) -> dict[str, str]:
        low, high = self.interval()
        tightest = self.clips[0]
        loosest = self.clips[-1]
        scale = "scale" if self.sigma is None else "standard deviation"
        return {
            "private mean": f"{self.mean:.6g}",
            "95 % interval": f"{downwards(low)} to {upwards(high)} "
            "(on every dataset with these counts)",
            "budget": self._spent(),
            "error on the worst dataset": f"{upwards(self.worst_case_error, 4)} on average over "
            f"the noise (bias plus mean noise {upwards(self.worst_case_bound, 4)}, bias "
            f"{upwards(self.worst_case_bias, 4)})" + mended(self.outside, self.missing),
            "noise": f"whole numbers by OpenDP, {scale} {self._noise()}{self._unbiased()}",
            "users clipped to": f"{tightest.lower:.4g} to {tightest.upper:.4g} "
            f"({tightest.n_records} records) ... {loosest.lower:.4g} to {loosest.upper:.4g} "
            f"({loosest.n_records})",
            "records": f"{self.n_records} of {self.n_users} users, "
            f"values in [{self.lower:g}, {self.upper:g}]",
        }

    def _noise(self) -> str:
        """Say the scale of the noise, or those of two parts."""
        if not self.parts:
            return f"{self.noise_scale:.4g}"
        of_each = " and ".join(
            f"{part.noise_scale:.4g} from {part.n_users} users of at least {part.fewest} records"
            for part in self.parts
        )
        return f"{of_each}, each released for the whole budget"

    def _unbiased(self) -> str:
        """Say what becomes of the noise if the release is not projected."""
        if self.project:
            return ""
        if self.sigma is not None:
            return " (unbiased for the clipped mean)"
        low, high = self.clipped_range
        beyond = f"averaged below {low:.4g} and above {high:.4g}"
        return f" (unbiased for the clipped mean; {beyond}, where no clipped mean is)"


def mended(outside: Outside, missing: Missing) -> str:
    """Say of which table an error is, where rows were mended."""
    return MENDED.get(outside, "") + MENDED.get(missing, "")


def of_which(outside: Outside, missing: Missing) -> str:
    """Say in a sentence of which table a mean is, where rows were mended or dropped."""
    rules = (("outside", outside), ("missing", missing))
    texts = [IN_WORDS[rule] for rule in rules if rule in IN_WORDS]
    return f" ({'; '.join(texts)})" if texts else ""


def in_words(mean: float, interval: tuple[float, float], error: float) -> list[str]:
    """Return a mean and the ends of its interval to a tenth of the error: the rest is noise.

    The ends are moved outwards, so that what is said of them holds.
    """
    if error == 0:
        return [f"{mean:.6g}", downwards(interval[0]), upwards(interval[1])]
    unit = place_of(error, 2)
    numbers = zip((mean, *interval), (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING), strict=True)
    return [f"{to_unit(number, unit, rounding):,f}" for number, rounding in numbers]


def at_most(error: float) -> str:
    """Return an error to two digits, upwards."""
    if error == 0:
        return "0"
    return f"{to_unit(error, place_of(error, 2)):,f}"


def read_level(level: object) -> float:
    """Return a probability between 0 and 1, or refuse it."""
    chance = float(check.size("level", level))
    if not 0 < chance < 1:
        check.refuse_value("level", "between 0 and 1", level)
    return chance


def noise_reach(law: Noise, scale: float, bias: float, level: float) -> float:
    """Return the size that bias plus noise, scale times a law, exceeds with chance 1 - level."""
    if scale == 0:
        return bias

    def is_exceeded(reach: Floats) -> bool:
        far, near = law.tail(np.array([reach + bias, abs(reach - bias)]) / scale)
        beyond = near if reach >= bias else 1 - near
        return bool(far + beyond > 1 - level)

    return _last_exceeded(is_exceeded, bias + scale)


def _last_exceeded(is_exceeded: Callable[[Floats], bool], start: float) -> float:
    """Return the smallest float that is not exceeded too often: the end of an interval."""
    end = double(is_exceeded, start, "the end of an interval")
    return float(halve(is_exceeded, 0.0, end)[1])


class OfPart(NamedTuple):
    """What a part of a release may do to the whole mean, in the unit of the values."""

    scale: float
    """Of its noise."""
    bias: float
    most: float
    """It is never farther off: both its release and its mean are between the bounds."""


def parts_reach(law: Noise, one: OfPart, other: OfPart, level: float) -> float:
    """Return a size that the error of a release in two parts exceeds with chance 1 - level at most.

    Each part's release is its clipped mean t plus noise Z, projected to the bounds. These hold the
    part's true mean f, which is at most a bias B away from t: so the release is at most |Z| away
    from t, and at most |t + Z - f| <= B + |Z| from f; and never more than the bounds are from each
    other. All of it counts with the part's share. So the whole is off by at most

    - the biases and |Z_1| + |Z_2| (as noise of one part may be cut off while that of the other is
      not, it is not enough to look at Z_1 + Z_2); or
    - the distance of the bounds for one part, and |t + Z - f| for the other.

    The smallest of these three is taken: they are known before there is noise.
    """
    both = one.bias + other.bias + _sum_reach(law, one.scale, other.scale, level)
    last = one.most + noise_reach(law, other.scale, other.bias, level)
    first = other.most + noise_reach(law, one.scale, one.bias, level)
    return min(both, last, first)


def _sum_reach(law: Noise, one: float, other: float, level: float) -> float:
    """Return a size that |Z_1| + |Z_2| exceeds with chance 1 - level at most; scales are given.

    Laplace noise: |Z| is exponential. For the means a >= b the sum exceeds x with the chance
    exp(-x/a) (a - b exp(-x d)) / (a - b), d = 1/b - 1/a. Gaussian noise: the sum is the larger of
    |Z_1 + Z_2| and |Z_1 - Z_2|. Each is at most x with a chance p, and both are with p^2 at least
    (Sidak, 1967).
    """
    if isinstance(law, GaussianNoise):
        return hypot(one, other) * -float(ndtri((1 - sqrt(level)) / 2))
    b, a = sorted([one, other])
    if b == 0:
        return noise_reach(law, a, 0.0, level)

    def is_exceeded(x: Floats) -> bool:  # with a as the unit
        return bool(exp(-x) * (1 + x * float(exprel(-x * (a - b) / b))) > 1 - level)

    return a * _last_exceeded(is_exceeded, 1.0)


# Small tables, as plain text and as HTML for notebooks


def readable(number: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return four digits of a number, or all before its point."""
    if 1e4 <= abs(number) < 1e12:
        return f"{to_unit(number, Decimal(1), rounding):,f}"
    if number == 0 or not isfinite(number):
        return f"{number:g}"
    return f"{float(to_unit(number, place_of(number, 4), rounding)):.4g}"


def text_table(head: Sequence[str], rows: Rows) -> str:
    """Return columns of text, aligned on the left."""
    lines = [list(row) for row in rows]
    if head:
        lines.insert(0, list(head))
    widths = [max(map(len, column)) for column in np.transpose(lines)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def html_table(head: Sequence[str], rows: Rows) -> str:
    """Return an HTML table whose first column names the rows."""
    names = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    lines = (
        f"<tr><th scope='row'>{escape(first)}</th>"
        + "".join(f"<td>{escape(text)}</td>" for text in others)
        + "</tr>"
        for first, *others in rows
    )
    above = f"<thead><tr>{names}</tr></thead>" if head else ""
    return f"<table class='dataframe'>{above}<tbody>{''.join(lines)}</tbody></table>"
