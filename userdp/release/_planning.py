"""Before a release: what a table holds, and worst-case errors for each budget and strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Real
from userdp._progress import progress
from userdp._search import NotFoundError
from userdp.beyond._rounding import upwards
from userdp.beyond.errors import optimal_error, symmetric_error, threshold
from userdp.beyond.floor import minimax_certificate
from userdp.beyond.frontier import minimax_lower_bound
from userdp.beyond.noise import (
    LARGEST_STAIRCASE,
    LaplaceNoise,
    Noise,
    Objective,
    StaircaseNoise,
    read_objective,
)
from userdp.beyond.split import best_split
from userdp.model import Contributions, Epsilon, read_eps
from userdp.release._grid import Grid, read_grid
from userdp.release._protected import LARGEST_CAP, error_at_weight
from userdp.release._quiet import discreet, unquoted
from userdp.release._rows import Rules, refuse_no_users, refuse_rows
from userdp.release._sources import Data, read_tally
from userdp.release._wording import html_table, readable, text_table

STRATEGIES: dict[str, tuple[Objective | None, Callable[[Epsilon], Noise]]] = {
    "Laplace": (None, LaplaceNoise),
    "OPT-worst-case": ("bound", LaplaceNoise),
    "l1 optimum": ("l1", LaplaceNoise),
    "l1 optimum, staircase": ("l1", StaircaseNoise),
}
"""The error that each strategy minimises (None: it does not clip), and its noise."""

L1_RELEASE = "l1 release"
"""What `private_mean` does for "l1": the l1 optimum, projected; in two parts if that is better."""

RECOMMENDED: dict[Objective, tuple[str, str]] = {
    "bound": ("OPT-worst-case", "smallest bias plus noise"),
    "l1": (L1_RELEASE, "smallest mean absolute error"),
    "mse": ("mse optimum", "smallest mean square error"),
}
"""For each objective, the best strategy with the Laplace noise of `private_mean`, and why."""

LOG2_EPS_RANGE = -498.0, 1023.0
"""Base-2 logarithms of a range of budgets whose noise, and its square, are finite floats."""

MAX_INCREASES = 64
"""Largest number of increases of a budget by a part in 10^12, where one is usually enough."""

MAX_HALVINGS = 64
"""Largest number of halvings of a budget until its guarantee is too large."""

BISECTIONS = 9
"""This many bring a budget and one half as large within 0.14 % of each other."""


class ProtectedTally(NamedTuple):
    """Exact numbers of rows, users and invalid rows, from protected values: not for publication."""

    rows: int
    users: int
    """Users with rows."""
    without_user: int
    without_value: int
    outside: int
    """Values beyond the bounds."""


class Forecast(NamedTuple):
    """What a strategy guarantees at a budget, for every dataset with the counts of the plan."""

    eps: float
    strategy: str
    total_width: float
    """S: each user's centred sum is clipped to [-S/2, S/2]. For two parts, the larger S."""
    bound: float
    """The guarantee of the paper: the largest bias plus the mean absolute value of the noise."""
    l1: float
    """The mean absolute error on the worst dataset; for two parts, an upper bound on it."""
    floor: float
    """Lower bound: each private mechanism has at least this mean absolute error on some dataset."""


class CappedForecast(NamedTuple):
    """What a release with protected counts guarantees for a cap, if the counts are as guessed."""

    eps: float
    cap: int
    """The largest weight of a user."""
    weight: float
    """The assumed sum of the users' weights."""
    error: float
    """Upper bound, on every dataset of this weight, on the mean absolute error with respect to the
    capped mean, in which each user counts for at most `cap` records."""
    moved: float
    """How far the capped mean can be from the mean of all records, if the counts are as guessed."""


class Advice(NamedTuple):
    """What to release: pass `eps`, as `budget`, and `objective` to `private_mean`."""

    eps: float
    strategy: str
    objective: Objective
    why: str
    total_width: float
    """S, as in `Forecast`."""
    guarantee: float
    """Upper bound on the error `objective`, for every dataset with the counts of the plan."""
    floor: float
    """The lower bound: no private mechanism has a smaller guarantee for the same error.

    The larger of the bound of `userdp.beyond.minimax_certificate` and that in `Forecast`; for
    "mse", its square."""
    factor: float
    """The guarantee divided by the floor: no guarantee is smaller by more than this factor.

    Infinite for budgets in the thousands, whose floor underflows to 0."""


@dataclass(frozen=True, repr=False)
class Plan:
    """Worst-case errors, known before a release; nothing here depends on a protected value.

    Attributes
    ----------
    users : Contributions
        The public counts, and the width of the range as `users.upper`.
    rows : tuple of Forecast
        One for each budget and strategy, in the unit of the values; `pandas.DataFrame(plan.rows)`
        converts them to a frame. There is no staircase noise for an eps above 1400.
    capped : tuple of CappedForecast
        One for each budget and cap, if caps were given.
    """

    users: Contributions
    rows: tuple[Forecast, ...]
    capped: tuple[CappedForecast, ...] = ()

    @discreet
    def smallest_eps(self, error: float, objective: Objective = "l1") -> float:
        """Return the smallest budget for which the recommended release guarantees an error.

        For "l1" it is found to within 1 %, from the guarantee of `userdp.beyond.best_split`; for
        the others to within a part in 10^10.

        Parameters
        ----------
        error : float
            The largest error allowed on any dataset, in the unit of the values (squared for "mse").
        objective : {"bound", "l1", "mse"}, optional
            Which error.

        Returns
        -------
        float

        Raises
        ------
        TypeError, ValueError
            If `error` is not positive and finite, or so large that no release is needed.
        """
        from scipy.optimize import brentq  # slow to import

        target = check.positive("error", error)
        trivial = (float(self.users.upper) / 2) ** (2 if objective == "mse" else 1)
        if target >= trivial:
            rule = (
                f"less than {trivial:g}, the error of the middle of the range, which needs no data"
            )
            check.refuse_value("error", rule, error)

        def excess(power: float) -> float:
            eps = float(2.0**power)
            width = threshold(self.users, eps, objective)
            return float(symmetric_error(self.users, width, eps, objective)) - target

        power, search = brentq(
            excess, *LOG2_EPS_RANGE, xtol=1e-13, maxiter=1000, full_output=True, disp=False
        )
        eps: float = 2.0 ** float(power)
        for _ in range(MAX_INCREASES):
            if search.converged and _guarantee(self.users, eps, objective) <= target:
                return _smallest_eps_for_l1(self.users, eps, target) if objective == "l1" else eps
            eps *= 1 + 1e-12
        raise NotFoundError(
            f"The smallest eps for error={target!r} was not found within {MAX_INCREASES} steps of "
            f"1e-12: the last was eps={eps!r}."
        )

    @discreet
    def recommend(
        self, objective: Objective = "l1", *, error: float | None = None
    ) -> tuple[Advice, ...]:
        """Return what to release at each budget, or at the smallest one that guarantees an error.

        For "bound" and "mse", the recommended clipping has the smallest worst-case error of all
        unprojected estimators with Laplace noise; on typical datasets another may be better. For
        "l1", the default of `private_mean`, the release is projected, its width is found by a
        search, and the mean of users with many records is released separately if that guarantees a
        smaller error; see `userdp.beyond.best_split` for details.

        The floor of each budget is the larger of a closed form and a certified bound, whose proof
        `minimax_certificate` returns. This takes about a second, and at most a few seconds. A
        terminal shows a progress bar if there are several budgets. For hundreds of them, use the
        floors in `rows`, which are slightly lower but available at once.

        Parameters
        ----------
        objective : {"bound", "l1", "mse"}, optional
            Which error matters: see `userdp.beyond.worst_case_error`.
        error : float, optional
            The largest error allowed on any dataset; then the only advice is for
            `smallest_eps(error, objective)`.

        Returns
        -------
        tuple of Advice
            Fields are strings and floats; `_asdict` converts one to a dictionary.

        Raises
        ------
        TypeError, ValueError
            If `objective` is not one of these names, or for the reasons given in `smallest_eps`.

        Examples
        --------
        >>> prospects = plan([40] * 5 + [10] * 50 + [2] * 500, lower=0, upper=65, eps=[0.1, 1])
        >>> [(advice.strategy, round(advice.factor, 2)) for advice in prospects.recommend()]
        [('l1 release', 1.1), ('l1 release', 1.36)]
        """
        strategy, why = RECOMMENDED[read_objective(objective)]
        planned = dict.fromkeys(row.eps for row in self.rows)
        budgets = [*planned] if error is None else [self.smallest_eps(error, objective)]
        recommended = []
        with progress(len(budgets)) as tick:
            for eps in budgets:
                width = float(threshold(self.users, eps, objective))
                guarantee = _guarantee(self.users, eps, objective)
                reason = why
                if objective == "l1":
                    width, reason = _width_and_reason(self.users, eps, why)
                floor = _largest_floor(self.users, eps)
                if objective == "mse":  # a mean square is at least the square of the mean
                    floor *= floor
                factor = guarantee / floor if floor else inf
                advice = Advice(eps, strategy, objective, reason, width, guarantee, floor, factor)
                recommended.append(advice)
                tick()
        return tuple(recommended)

    def __repr__(self) -> str:
        """Return a table in plain text, and a second one of caps, if any were given."""
        return "\n\n".join(text_table(*table) for table in self._tables())

    def _repr_html_(self) -> str:
        """Return these tables for a notebook."""
        return "".join(html_table(*table) for table in self._tables())

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        head = ["eps", "strategy", "total width", "bound", "worst-case l1", "lower bound"]
        tables = [(head, [_row_cells(row) for row in self.rows])]
        if self.capped:
            head = ["eps", "cap", "weight", "mean error", "cap moves the mean by up to"]
            tables.append((head, [_capped_row_cells(row) for row in self.capped]))
        return tables


@discreet
def user_counts(user: str | npt.ArrayLike, *, data: Data | None = None) -> npt.NDArray[np.int64]:
    """Return the number of records of each user, the input of `plan`.

    Parameters
    ----------
    user : str or array_like, shape (n,)
        The user of each record: the name of a column of `data`, or the column itself. Ids are read
        as in `private_mean`.
    data : path or list of paths, Ibis table or frame, optional
        Where the column is, as in `private_mean`.

    Returns
    -------
    ndarray of int64, shape (L,)
        Counts, the largest first, without the ids of the users, so that they cannot be matched with
        sums. They are public by assumption: publishing them, or a release that relies on them,
        reveals how many records each user has.

    Raises
    ------
    FileNotFoundError, ImportError, TypeError, ValueError
        For the reasons given in `private_mean`, except that OpenDP is not needed; and if rows have
        no user.

    Examples
    --------
    >>> user_counts(["a", "b", "a", "a"])
    array([3, 1])
    """
    any_value = Rules(Grid(0.0, 1.0, bits=1))  # only users are read
    with read_tally(user, None, data, any_value) as tally:
        survey = tally.survey()
    refuse_rows(survey, "clamp", "centre")
    refuse_no_users(survey)
    return survey.counts


@discreet
def plan(
    counts: npt.ArrayLike,
    *,
    lower: Real | Decimal,
    upper: Real | Decimal,
    eps: Epsilon | Iterable[Epsilon],
    cap: int | Iterable[int] | None = None,
    weight: float | None = None,
) -> Plan:
    """Return the worst-case errors of a private mean, for each budget and strategy.

    It uses public information only: the numbers of records of the users, and the range of a value.
    Privacy is user-level, under replacement of all values of one user. With a cap, it also covers
    `private_mean_protected_counts`, where the counts are protected: then do not pass those of the
    table itself, but a guess, or the public counts of a similar, older table.

    Parameters
    ----------
    counts : array_like of int, shape (L,)
        Numbers of records m_l of the users (public).
    lower, upper : float, Fraction or Decimal
        Public bounds of a value, in its unit.
    eps : float, Fraction, Decimal or str, or several
        Privacy budgets (dimensionless, public).
    cap : int, or several, optional
        The largest weight of a user, with protected counts: see `Plan.capped`.
    weight : float, optional
        A guess of the sum of the users' weights, for every cap; by default the sum of the counts,
        each limited to the cap.

    Returns
    -------
    Plan
        Its rows compare strategies; `Plan.recommend` returns the one to use.

    Raises
    ------
    TypeError, ValueError
        If `lower` is not below `upper`, if `weight` is below 1 or given without a cap, or for the
        reasons given in `Contributions`, `read_eps` and `private_mean_protected_counts`.

    See Also
    --------
    private_mean : the release itself.

    Examples
    --------
    >>> prospects = plan([40] * 5 + [10] * 50 + [2] * 500, lower=0, upper=65, eps=[0.1, 1])
    >>> prospects.rows[1].strategy, round(prospects.rows[1].bound, 3)
    ('OPT-worst-case', 6.691)
    >>> round(prospects.smallest_eps(error=5), 4)
    0.0908
    >>> capped = plan([40] * 5 + [2] * 500, lower=0, upper=65, eps=1, cap=[2, 10]).capped
    >>> [(row.cap, row.weight, round(row.error, 2), round(row.moved, 2)) for row in capped]
    [(2, 1010.0, 0.19, 10.19), (10, 1050.0, 0.94, 7.74)]
    """
    grid = read_grid(lower, upper)
    width = grid.width
    rule = "be one whole number per user, each at least 1, with a sum of at most 2^53"
    users = unquoted("counts", counts, rule, lambda: Contributions(counts, width))
    budgets = _budgets(eps)
    if not budgets:
        raise ValueError("`eps` must hold at least one budget, got none.")
    caps = _caps(cap)
    if weight is not None and not caps:
        check.refuse_value("weight", "given together with `cap`", weight)
    rows = (row for budget in budgets for row in _forecasts(users, budget))
    capped = (
        _capped_forecast(users, grid, budget, each, weight) for budget in budgets for each in caps
    )
    return Plan(users, tuple(rows), tuple(capped))


@discreet
def protected_tally(
    user: str | npt.ArrayLike,
    value: str | npt.ArrayLike,
    *,
    lower: Real | Decimal,
    upper: Real | Decimal,
    data: Data | None = None,
) -> ProtectedTally:
    """Count the rows that `private_mean` would refuse: for you, and NOT for publication.

    The numbers are computed from protected values and have no privacy guarantee: no noise is added.

    Parameters
    ----------
    user, value : str or array_like, shape (n,)
        Names of two columns of `data`, or the columns themselves, as in `private_mean`.
    lower, upper : float, Fraction or Decimal
        Public bounds of a value, in its unit.
    data : path or list of paths, Ibis table or frame, optional
        Where the columns are, as in `private_mean`.

    Returns
    -------
    ProtectedTally

    Raises
    ------
    FileNotFoundError, ImportError, TypeError, ValueError
        For the reasons given in `private_mean`, except that OpenDP is not needed and invalid rows
        do not raise.

    Examples
    --------
    >>> protected_tally(["a", "b", None], [1.0, 9.0, 2.0], lower=0, upper=6)
    ProtectedTally(rows=3, users=2, without_user=1, without_value=0, outside=1)
    """
    rules = Rules(read_grid(lower, upper))
    with read_tally(user, value, data, rules) as tally:
        survey = tally.survey()
    refuse_rows(survey, "clamp", "drop")  # raises only if floats are not valid ids
    rows = sum(m * n for m, n in zip(survey.sizes, survey.users, strict=True))
    faults = survey.without_user, survey.without_value, survey.outside
    return ProtectedTally(rows + survey.without_user, sum(survey.users), *faults)


def _row_cells(row: Forecast) -> list[str]:
    """Return the cells of a row: budgets and guarantees rounded upwards, the floor downwards."""
    guarantees = [readable(error, ROUND_CEILING) for error in (row.bound, row.l1)]
    floor = readable(row.floor, ROUND_FLOOR)
    return [upwards(row.eps, 4), row.strategy, readable(row.total_width), *guarantees, floor]


def _capped_row_cells(row: CappedForecast) -> list[str]:
    """Return the cells of a row of the second table: errors rounded upwards."""
    errors = [readable(error, ROUND_CEILING) for error in (row.error, row.moved)]
    return [upwards(row.eps, 4), str(row.cap), readable(row.weight), *errors]


def _largest_floor(users: Contributions, eps: float) -> float:
    """Return the larger of the certified floor and the closed-form one.

    They may be the same bound, which the certificate rounds down; and for budgets too large for a
    certificate, there is only the closed form.
    """
    certified = float(minimax_certificate(users, eps).bound)
    return max(certified, minimax_lower_bound(users, eps))


def _guarantee(users: Contributions, eps: Epsilon, objective: Objective) -> float:
    """Return what the recommended release guarantees."""
    if objective == "l1":
        return best_split(users, eps).error
    return float(optimal_error(users, eps, objective))


def _smallest_eps_for_l1(users: Contributions, high: float, error: float) -> float:
    """Return the smallest budget, at most `high`, for which a release guarantees an error.

    Two functions that do not increase with the budget enclose the error of the release: the least
    error of all widths, and that of the geometric sequence of widths in `best_split`. The second is
    at most the first at a budget 0.5 % smaller, unless it is within 0.5 % of U/2
    (prp-projected-width of the book). So if the error is too large at a budget, it is too large at
    all budgets that are 0.5 % smaller, and bisection may discard these, although the error of the
    release itself may increase slightly with the budget, because the l1 threshold moves, too.
    """
    for _ in range(MAX_HALVINGS):
        low = high / 2
        if _guarantee(users, low, "l1") > error:
            break
        high = low
    else:
        raise NotFoundError(
            f"The smallest eps for error={error!r} was not found within {MAX_HALVINGS} halvings: "
            f"the last was eps={high!r}."
        )
    for _ in range(BISECTIONS):
        middle = low * (high / low) ** 0.5
        if _guarantee(users, middle, "l1") > error:
            low = middle
        else:
            high = middle
    return high


def _width_and_reason(users: Contributions, eps: Epsilon, why: str) -> tuple[float, str]:
    """Return the largest S of a release for "l1", and the reason for the advice."""
    split = best_split(users, eps)
    if split.heavy_from is not None:
        why += f"; a separate mean for users with at least {split.heavy_from} records"
    return max(part.total_width for part in split.parts), why


def _budgets(eps: Epsilon | Iterable[Epsilon]) -> list[Epsilon]:
    """Return one budget, or an ordered collection of several, as a list."""
    if isinstance(eps, bytes | bytearray | Mapping | Set):
        check.refuse_type("eps", "a budget, or a list of budgets", eps)
    if not isinstance(eps, Iterable) or isinstance(eps, str):
        return [eps]
    budgets = list(np.atleast_1d(eps)) if isinstance(eps, np.ndarray) else list(eps)
    rule = "hold budgets, each valid by itself"
    unquoted("eps", eps, rule, lambda: [read_eps(budget) for budget in budgets])
    return budgets


def _caps(cap: int | Iterable[int] | None) -> list[int]:
    """Return one cap, or an ordered collection of several, as a list."""
    if cap is None:
        return []
    if isinstance(cap, str | bytes | bytearray | Mapping | Set):
        check.refuse_type("cap", "an integer, or a list of integers", cap)
    if not isinstance(cap, Iterable):
        return [check.integer("cap", cap, 1, LARGEST_CAP)]
    several = list(cap)
    if not several:
        raise ValueError("`cap` must hold at least one cap, got none.")
    rule = "hold integers from 1 to 2^31"
    return unquoted(
        "cap", cap, rule, lambda: [check.integer("cap", each, 1, LARGEST_CAP) for each in several]
    )


def _capped_forecast(
    users: Contributions, grid: Grid, eps: Epsilon, cap: int, weight: float | None
) -> CappedForecast:
    """Return the guarantee of a release with protected counts, and how far its mean may be off."""
    sizes, n_users = users.histogram
    weights = np.minimum(sizes, cap)
    total = int(np.sum(weights * n_users))
    # Both means average the users' averages, with different weights. They differ most if the users
    # with more weight than before are at one bound, and the others are at the other.
    gains = np.maximum(weights / total - sizes / users.total, 0) * n_users
    assumed = float(total if weight is None else weight)
    error = error_at_weight(grid, eps, cap, assumed)
    moved = float(grid.width * np.sum(gains))
    return CappedForecast(float(read_eps(eps)), cap, assumed, error, moved)


def _forecasts(users: Contributions, eps: Epsilon) -> Iterator[Forecast]:
    """Return what each strategy guarantees at one budget."""
    budget = float(read_eps(eps))
    floor = minimax_lower_bound(users, eps)
    for strategy, (objective, noise) in STRATEGIES.items():
        if noise is StaircaseNoise and budget > LARGEST_STAIRCASE:
            continue
        law = noise(eps)
        if objective is None:
            width = float(users.upper) * users.max_count
        else:
            width = float(threshold(users, law, objective))
        bound = float(symmetric_error(users, width, law, "bound"))
        l1 = float(symmetric_error(users, width, law, "l1"))
        yield Forecast(budget, strategy, width, bound, l1, floor)
    split = best_split(users, eps)
    widest = max(part.total_width for part in split.parts)
    bound = sum(
        float(part.share) * float(symmetric_error(part.users, part.total_width, eps))
        for part in split.parts
    )
    yield Forecast(budget, L1_RELEASE, widest, bound, split.error, floor)
