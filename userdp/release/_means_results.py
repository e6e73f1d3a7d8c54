"""Results of several means: each with a guarantee of its own, and one budget for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from userdp.beyond.noise import LaplaceNoise
from userdp.release._intervals import noise_reach, read_level
from userdp.release._means_wording import (
    below_means,
    forecast_table,
    means_sentence,
    means_table,
)
from userdp.release._quiet import discreet
from userdp.release._results import Release
from userdp.release._wording import Missing, Outside, html_table, plain, text_table


@dataclass(frozen=True, kw_only=True)
class GroupMean:
    """One of several private means. Errors are in the unit of its values, on the worst dataset."""

    column: str
    group: str
    """Empty if there are no groups."""
    mean: float | None
    """None if there are no records."""
    lower: float
    upper: float
    """The public bounds of a value."""
    n_users: int
    n_records: int
    strategy: str
    """"joint" or "divided", as in `private_means`; "disjoint" if no user takes part in another
    mean, so that the mean has the whole budget; "empty" if there are no records."""
    eps: float
    """The budget spent on the draw of this mean; on that of all means together, if it is joint."""
    worst_case_error: float | None
    """The guarantee: the mean absolute error is at most this, on every dataset with these counts.
    None if there are no records."""
    other_error: float | None
    """The guarantee of the other strategy, divided or joint; None if there is none."""
    worst_case_bias: float
    """How far clipping can move the mean."""
    noise_scale: float
    """The scale of the Laplace noise."""
    rounding: float
    """The most that rounding to whole steps can add to an error."""

    @discreet
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that contains these records' mean with probability at least `level`.

        The level is attained on every dataset with these counts: the interval is wide enough for
        the largest bias.

        Parameters
        ----------
        level : float, optional
            The probability, between 0 and 1.

        Returns
        -------
        tuple of two floats
            Its ends, in the unit of the values; the bounds themselves, if there are no records.

        Raises
        ------
        TypeError, ValueError
            If `level` is not a number between 0 and 1.
        """
        chance = read_level(level)
        if self.mean is None:
            return self.lower, self.upper
        reach = noise_reach(LaplaceNoise(1), self.noise_scale, self.worst_case_bias, chance)
        reach += self.rounding
        return max(self.mean - reach, self.lower), min(self.mean + reach, self.upper)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class PrivateMeans(Release):
    """Several private means of the same users, and what they spend together.

    `means` has one entry per column and group, columns first, groups in the order of the public
    list; ``pandas.DataFrame(result.means)`` makes a table of them. `mean` and `worst_case_error`
    are arrays in the same order, shape (n_means,), with NaN for groups without records. All of it
    may be published.
    """

    kind: ClassVar[str] = "private means"

    means: tuple[GroupMean, ...]
    group: str | None
    """The name of the column of groups."""
    centre: dict[str, float]
    """The given centres, by column. Other columns have the middle of their bounds."""
    outside: Outside
    missing: Missing
    """How values beyond the bounds, and rows without a value, were treated."""

    @classmethod
    def of_means(cls, means: tuple[GroupMean, ...], **stated: Any) -> Self:
        """Return the result with these means."""
        return cls(
            means=means,
            mean=np.array([each.mean for each in means], np.float64),
            worst_case_error=np.array([each.worst_case_error for each in means], np.float64),
            rho=None,
            sigma=None,
            **stated,
        )

    @discreet
    def interval(
        self, level: float = 0.95, *, simultaneous: bool = False
    ) -> list[tuple[float, float]]:
        """Return an interval for each mean, in the order of `means`.

        Parameters
        ----------
        level : float, optional
            The probability, between 0 and 1: of each interval by itself, or of all together.
        simultaneous : bool, optional
            Whether `level` is for all intervals together. The probabilities that one misses its
            mean, for each mean with records, then add up to 1 - level.

        Returns
        -------
        list of tuple of two floats

        Raises
        ------
        TypeError, ValueError
            If `level` is not a number between 0 and 1.
        """
        chance = read_level(level)
        if simultaneous:
            chance = 1 - (1 - chance) / max(sum(mean.n_records > 0 for mean in self.means), 1)
        return [mean.interval(chance) for mean in self.means]

    def public(self) -> dict[str, Any]:
        """Return everything that may be published, as plain numbers, strings and lists."""
        ends = zip(self.means, self.interval(), self.interval(simultaneous=True), strict=True)
        means = [
            asdict(mean) | {"interval_95": by_itself, "simultaneous_interval_95": with_others}
            for mean, by_itself, with_others in ends
        ]
        names = ("eps", "rho", "sigma", "privacy_unit", "of", "group", "outside", "missing")
        stated = {name: getattr(self, name) for name in names}
        if self.centre:
            stated["centre"] = self.centre
        return plain({"kind": self.kind} | stated | {"means": means})

    @discreet
    def public_sentence(
        self,
        unit: str | Mapping[str, str] = "",
        *,
        users: str = "users",
        records: str = "records",
    ) -> str:
        """Return text to print beside the means, for readers who know nothing about privacy.

        Parameters
        ----------
        unit : str or mapping of str to str, optional
            The unit of the values, such as "km/h"; with several columns, by their names.
        users, records : str, optional
            What your readers call them, such as "patients" and "visits".

        Returns
        -------
        str
            A line for each mean, and the budget of all together.

        Raises
        ------
        TypeError
            If an argument is not text.
        """
        return means_sentence(self, unit, users, records)

    def __repr__(self) -> str:
        """Return a table in plain text."""
        return f"{text_table(*means_table(self))}\n{text_table([], below_means(self))}"

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_table(*means_table(self)) + html_table([], below_means(self))


class MeansForecast(NamedTuple):
    """The guarantees of each strategy for a mean: its mean absolute error is at most this.

    They hold on every dataset with these counts, and are None for a group without records.
    """

    eps: float
    """The budget of all means together."""
    column: str
    group: str
    n_users: int
    n_records: int
    joint: float | None
    divided: float | None
    """The same number as `joint`, if no user takes part in another mean."""
    constant: float
    """The error of the middle of the bounds, published without looking at any value."""
    best: str
    """The strategy with the smaller error, relative to the ranges, summed over its component;
    "disjoint" if no user of the group takes part in another mean, "empty" without records."""


@dataclass(frozen=True, repr=False, kw_only=True)
class MeansPlan:
    """Errors to expect of `private_means`; nothing here depends on a protected value."""

    rows: tuple[MeansForecast, ...]
    """One for each budget, column and group; `pandas.DataFrame(plan.rows)` makes a frame."""
    group: str | None
    """The name of the column of groups."""

    def __repr__(self) -> str:
        """Return a table in plain text."""
        return text_table(*forecast_table(self))

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_table(*forecast_table(self))
