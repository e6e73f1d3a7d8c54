"""Before a release: what its table holds, and the error to expect for each budget and strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._progress import progress
from userdp._search import NotFoundError
from userdp.beyond._rounding import upwards
from userdp.beyond.errors import optimal_error, symmetric_error, threshold
from userdp.beyond.floor import minimax_certificate
from userdp.beyond.frontier import minimax_lower_bound
from userdp.beyond.noise import LaplaceNoise, Noise, Objective, StaircaseNoise, read_objective
from userdp.beyond.split import best_split
from userdp.model import Contributions, Epsilon, read_eps
from userdp.release._grid import Grid, read_grid
from userdp.release._quiet import discreet, unquoted
from userdp.release._rows import Rules, refuse_nobody, refuse_rows
from userdp.release._sources import Data, read_tally
from userdp.release._wording import html_table, readable, text_table

STRATEGIES: dict[str, tuple[Objective | None, Callable[[Epsilon], Noise]]] = {
    "Laplace": (None, LaplaceNoise),
    "OPT-worst-case": ("bound", LaplaceNoise),
    "l1 optimum": ("l1", LaplaceNoise),
    "l1 optimum, staircase": ("l1", StaircaseNoise),
}
"""What each strategy makes small (nothing: it does not clip), and its noise."""

RELEASED = "l1 release"
"""What `private_mean` does for "l1": the l1 optimum, projected; in two parts if that is better."""

RECOMMENDED: dict[Objective, tuple[str, str]] = {
    "bound": ("OPT-worst-case", "smallest bias plus noise"),
    "l1": (RELEASED, "smallest mean distance from the truth"),
    "mse": ("mse optimum", "smallest mean square distance from the truth"),
}
"""What to release if this error matters, with the noise that `private_mean` draws; and why."""

POWERS = -498.0, 1023.0
"""Between these powers of two lie the budgets whose noise floats hold, squared too."""


MOST_STEPS = 64
"""How often a budget is increased by a part in 10^12; mostly once is enough."""


class ProtectedTally(NamedTuple):
    """How many rows are not as they should be: computed from protected values."""

    rows: int
    users: int
    """How many have rows."""
    without_user: int
    without_value: int
    outside: int
    """Values beyond the bounds."""


class Forecast(NamedTuple):
    """What a strategy promises at a budget, for every dataset with the counts of the plan."""

    eps: float
    strategy: str
    total_width: float
    """S: each user's sum, centred, is clipped to [-S/2, S/2]. Of two parts, the larger S."""
    bound: float
    """The certificate of the paper: largest bias, plus the mean size of the noise."""
    l1: float
    """The mean absolute error on the worst dataset."""
    floor: float
    """Some dataset costs every private mechanism at least this mean absolute error."""


class Advice(NamedTuple):
    """What to release: pass `eps`, as `budget`, and `objective` to `private_mean`."""

    eps: float
    strategy: str
    objective: Objective
    why: str
    total_width: float
    """S, as in `Forecast`."""
    guarantee: float
    """No dataset with the counts of the plan has a larger error of this kind."""
    floor: float
    """No private mechanism promises less than this, for an error of the same kind.

    The bound of `userdp.beyond.minimax_certificate`, where it is larger than that in `Forecast`."""
    factor: float
    """How many times the floor the guarantee is: no mechanism promises less by a larger factor.

    Infinite for budgets of thousands, whose floor is below all floats."""


@dataclass(frozen=True, repr=False)
class Plan:
    """Errors to expect before anything is released; nothing here depends on a protected value.

    Attributes
    ----------
    users : Contributions
        The public counts, with the width of the range as their bound.
    rows : tuple of Forecast
        One for each budget and strategy, in the unit of the values; `pandas.DataFrame(plan.rows)`
        makes a frame of them.
    """

    users: Contributions
    rows: tuple[Forecast, ...]

    @discreet
    def smallest_eps(self, error: float, objective: Objective = "l1") -> float:
        """Return the smallest budget whose best clipping, with Laplace noise, certifies an error.

        A release for "l1" is projected, and may be in two parts: it promises no more than this.

        Parameters
        ----------
        error : float
            The error to keep to on every dataset, in the unit of the values (squared for "mse").
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
            rule = f"less than {trivial:g}, the error of publishing the middle, which needs no data"
            check.refuse_value("error", rule, error)

        def excess(power: float) -> float:
            eps = float(2.0**power)
            width = threshold(self.users, eps, objective)
            return float(symmetric_error(self.users, width, eps, objective)) - target

        power, search = brentq(
            excess, *POWERS, xtol=1e-13, maxiter=1000, full_output=True, disp=False
        )
        eps: float = 2.0 ** float(power)
        for _ in range(MOST_STEPS):
            if search.converged and float(optimal_error(self.users, eps, objective)) <= target:
                return eps
            eps *= 1 + 1e-12
        raise NotFoundError(
            f"The smallest eps for error={target!r} was not found within {MOST_STEPS} steps of "
            f"1e-12: the last was eps={eps!r}."
        )

    @discreet
    def recommend(
        self, objective: Objective = "l1", *, error: float | None = None
    ) -> tuple[Advice, ...]:
        """Return what to release at each budget, or at the smallest one that certifies an error.

        Of all clippings, and of all estimators with Laplace noise that are not projected, the
        recommended one has the smallest worst case; nothing is said of the average. For "l1" the
        release is projected, and users of many records are released apart from the others where
        that promises less; `userdp.beyond.best_split` has the details.

        The floor of each budget is certified, which takes about a second, and at most some
        seconds: `minimax_certificate` returns the proof. A terminal shows a bar if there are
        several budgets. For hundreds of them, look at the floors in `rows`: they are a little
        lower, and there at once.

        Parameters
        ----------
        objective : {"bound", "l1", "mse"}, optional
            Which error matters: see `userdp.beyond.worst_case_error`.
        error : float, optional
            The error to keep to on every dataset: then one advice, for `smallest_eps` of it.

        Returns
        -------
        tuple of Advice
            Of texts and floats; `_asdict` makes a dictionary of one.

        Raises
        ------
        TypeError, ValueError
            If `objective` is no such name; as `smallest_eps`.

        Examples
        --------
        >>> prospects = plan([40] * 5 + [10] * 50 + [2] * 500, lower=0, upper=65, eps=[0.1, 1])
        >>> [(made.strategy, round(made.factor, 2)) for made in prospects.recommend()]
        [('l1 release', 1.1), ('l1 release', 1.36)]
        """
        strategy, why = RECOMMENDED[read_objective(objective)]
        planned = dict.fromkeys(row.eps for row in self.rows)
        budgets = [*planned] if error is None else [self.smallest_eps(error, objective)]
        made = []
        with progress(len(budgets)) as tick:
            for eps in budgets:
                width = float(threshold(self.users, eps, objective))
                guarantee = float(optimal_error(self.users, eps, objective))
                reason = why
                if objective == "l1":
                    width, guarantee, reason = _released(self.users, eps, why)
                floor = _certified_floor(self.users, eps)
                if objective == "mse":  # no mean square is below the square of the mean
                    floor *= floor
                factor = guarantee / floor if floor else inf
                advice = Advice(eps, strategy, objective, reason, width, guarantee, floor, factor)
                made.append(advice)
                tick()
        return tuple(made)

    def __repr__(self) -> str:
        """Return a table in plain text."""
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_table(*self._shown())

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        head = ["eps", "strategy", "total width", "bound", "worst-case l1", "no mechanism below"]
        return head, [_in_digits(row) for row in self.rows]


@discreet
def user_counts(user: str | npt.ArrayLike, *, data: Data | None = None) -> npt.NDArray[np.int64]:
    """Return how many records each user has: what `plan` starts from.

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
        Counts, the largest first, without the names of the users: not in the order of any sums.
        Public, by assumption: whoever publishes them, or a release that rests on them, tells how
        many records each user has.

    Raises
    ------
    FileNotFoundError, ImportError, TypeError, ValueError
        As `private_mean`, but for OpenDP, which is not needed; if rows have no user.

    Examples
    --------
    >>> user_counts(["a", "b", "a", "a"])
    array([3, 1])
    """
    any_value = Rules(Grid(0.0, 1.0, bits=1))  # only users are read
    with read_tally(user, None, data, any_value) as tally:
        survey = tally.survey()
    refuse_rows(survey, "clamp", "centre")
    refuse_nobody(survey)
    return survey.counts


@discreet
def plan(
    counts: npt.ArrayLike,
    *,
    lower: float,
    upper: float,
    eps: Epsilon | Iterable[Epsilon],
) -> Plan:
    """Say what a private mean will cost in error, for each budget and strategy.

    From public information only: the numbers of records of the users, and the range of a value.
    Privacy is user-level, for replacing all values of one user.

    Parameters
    ----------
    counts : array_like of int, shape (L,)
        Numbers of records m_l of the users: public.
    lower, upper : float
        Public bounds of a value, in its unit.
    eps : float, Fraction, Decimal or str, or several
        Privacy budgets (dimensionless, public).

    Returns
    -------
    Plan
        Its rows compare strategies; `Plan.recommend` says which one to take.

    Raises
    ------
    TypeError, ValueError
        If `lower` is not below `upper`; as `Contributions` and `read_eps`.

    See Also
    --------
    private_mean : makes the release.

    Examples
    --------
    >>> prospects = plan([40] * 5 + [10] * 50 + [2] * 500, lower=0, upper=65, eps=[0.1, 1])
    >>> prospects.rows[1].strategy, round(prospects.rows[1].bound, 3)
    ('OPT-worst-case', 6.691)
    >>> round(prospects.smallest_eps(error=5), 4)
    0.0908
    """
    width = read_grid(lower, upper).width
    rule = "be one whole number a user, each at least 1, of at most 2^53 records"
    users = unquoted("counts", counts, rule, lambda: Contributions(counts, width))
    budgets = _budgets(eps)
    if not budgets:
        raise ValueError("`eps` must hold at least one budget, got none.")
    rows = (row for budget in budgets for row in _forecasts(users, budget))
    return Plan(users, tuple(rows))


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
    user, value : str or array_like, shape (n,)
        Names of two columns of `data`, or the columns themselves, as in `private_mean`.
    lower, upper : float
        Public bounds of a value, in its unit.
    data : path or list of paths, Ibis table or frame, optional
        Where the columns are, as in `private_mean`.

    Returns
    -------
    ProtectedTally

    Raises
    ------
    FileNotFoundError, ImportError, TypeError, ValueError
        As `private_mean`, but for OpenDP, which is not needed, and for rows that are not as they
        should be.

    Examples
    --------
    >>> protected_tally(["a", "b", None], [1.0, 9.0, 2.0], lower=0, upper=6)
    ProtectedTally(rows=3, users=2, without_user=1, without_value=0, outside=1)
    """
    rules = Rules(read_grid(lower, upper))
    with read_tally(user, value, data, rules) as tally:
        found = tally.survey()
    refuse_rows(found, "clamp", "drop")  # floats that are no ids
    rows = sum(m * n for m, n in zip(found.sizes, found.users, strict=True)) + found.without_user
    faults = found.without_user, found.without_value, found.outside
    return ProtectedTally(rows, sum(found.users), *faults)


def _in_digits(row: Forecast) -> list[str]:
    """Return the cells of a table: budgets and guarantees rounded upwards, the floor downwards."""
    guarantees = [readable(error, ROUND_CEILING) for error in (row.bound, row.l1)]
    floor = readable(row.floor, ROUND_FLOOR)
    return [upwards(row.eps, 4), row.strategy, readable(row.total_width), *guarantees, floor]


def _certified_floor(users: Contributions, eps: float) -> float:
    """Return the larger of the certified floor and the closed one.

    They may be the same bound, of which the certificate's is rounded down; and beyond the budgets
    that have a certificate, the closed bound is all that there is.
    """
    certified = float(minimax_certificate(users, eps).bound)
    return max(certified, minimax_lower_bound(users, eps))


def _released(users: Contributions, eps: Epsilon, why: str) -> tuple[float, float, str]:
    """Return the widest S of a release for "l1", what it guarantees, and why it is as it is."""
    split = best_split(users, eps)
    if split.heavy_from is not None:
        why += f"; users of at least {split.heavy_from} records apart from the others"
    return max(part.total_width for part in split.parts), split.error, why


def _budgets(eps: Epsilon | Iterable[Epsilon]) -> list[Epsilon]:
    """Return one budget, or several in an order of their own, as a list."""
    if isinstance(eps, bytes | bytearray | Mapping | Set):
        check.refuse_type("eps", "a budget, or a list of budgets", eps)
    if not isinstance(eps, Iterable) or isinstance(eps, str):
        return [eps]
    budgets = list(np.atleast_1d(eps)) if isinstance(eps, np.ndarray) else list(eps)
    rule = "hold budgets, each as it could stand alone"
    unquoted("eps", eps, rule, lambda: [read_eps(budget) for budget in budgets])
    return budgets


def _forecasts(users: Contributions, eps: Epsilon) -> Iterator[Forecast]:
    """Return what each strategy promises at one budget."""
    budget = float(read_eps(eps))
    floor = minimax_lower_bound(users, eps)
    for strategy, (objective, noise) in STRATEGIES.items():
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
    yield Forecast(budget, RELEASED, widest, bound, split.error, floor)
