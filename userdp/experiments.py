"""Sweeps over budgets: Monte-Carlo estimates of errors, with their standard errors."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, RNGLike
from userdp._progress import progress
from userdp.model import Contributions, Epsilon, read_eps
from userdp.samplers import Sampler, _drawn

if TYPE_CHECKING:
    import pandas as pd

# User sums in one block of trials: it stays in the processor's cache, and so does its copy.
_BLOCK = 2**17

# Called as ``mechanism(sums, users, eps, rng=rng)`` with sums of shape (n_trials, L); releases one
# mean for each dataset, as `laplace`, `opt_worst_case` and `akmv` do.
Mechanism = Callable[..., npt.ArrayLike]

# Called as ``mean_error(sums, users, eps)``; returns one mean absolute error for each dataset, as
# `akmv_mean_error` does.
MeanError = Callable[..., npt.ArrayLike]


class Curve(NamedTuple):
    """Mean absolute errors against budgets, with their standard errors; arrays of shape (n,)."""

    mean: Floats
    standard_error: Floats


@dataclass(frozen=True, eq=False)
class Sweep:
    """Errors of several mechanisms over a grid of budgets, from common data.

    Attributes
    ----------
    eps : ndarray of float64, shape (n,)
        The budgets, in the order given.
    curves : dict of Curve
        For each mechanism its means and standard errors; ``sweep["AKMV"]`` is short for
        ``sweep.curves["AKMV"]``.
    errors : ndarray of float64, shape (mechanisms, n, n_trials)
        The errors themselves, in the unit of the samples: of what the means are the means. A trial
        is the same dataset for all mechanisms and budgets.
    """

    eps: Floats
    curves: dict[str, Curve]
    errors: Floats

    @property
    def n_trials(self) -> int:
        """The number of datasets behind each mean."""
        return len(self.errors[0, 0])

    def __getitem__(self, mechanism: str) -> Curve:
        """Return the curve of one mechanism."""
        return self.curves[mechanism]

    def frame(self) -> "pd.DataFrame":
        """Return the errors as a tidy table, one row a trial, as seaborn wants them.

        Returns
        -------
        pandas.DataFrame
            With the columns `mechanism`, `eps`, `trial` (from 0) and `error` (in the unit of the
            samples). It needs pandas, which the rest of a sweep does not.
        """
        import pandas as pd

        named = {"mechanism": [*self.curves], "eps": self.eps, "trial": range(self.n_trials)}
        rows = pd.MultiIndex.from_product(named.values(), names=named)
        return rows.to_frame(index=False).assign(error=self.errors.ravel())

    def records(self) -> list[dict[str, Any]]:
        """Return one record a mechanism and budget, as a table or a CSV file wants them."""
        trials = self.n_trials
        return [
            {"mechanism": name, "eps": e, "error": mean, "standard_error": se, "trials": trials}
            for name, curve in self.curves.items()
            for e, mean, se in np.transpose([self.eps, *curve]).tolist()
        ]


def error_sweep(
    mechanisms: Mapping[str, Mechanism],
    users: Contributions,
    eps: Iterable[Epsilon],
    sampler: Sampler,
    n_trials: int,
    *,
    rng: RNGLike = None,
) -> Sweep:
    """Estimate E|M(D) - f(D)| for random datasets D as Section IV-D of the paper does.

    Every mechanism sees the same datasets at every budget. Each pair of a mechanism and a budget
    has a stream of random numbers of its own, named after the two: its results are the same bits
    whatever else is swept, in whatever order. A progress bar appears on a terminal, if tqdm is
    installed (an optional extra: the numbers do not need it).

    Parameters
    ----------
    mechanisms : mapping of str to callable
        Mechanisms by name, called as ``mechanism(sums, users, eps, rng=rng)`` with `sums` of shape
        (trials, L); each returns one release a dataset.
    users : Contributions
        The public counts and bound.
    eps : iterable of float, Fraction, Decimal or str
        Privacy budgets of the releases (dimensionless, public).
    sampler : callable
        Called as ``sampler(users, trials, rng=rng)``; returns protected user sums, shape
        (trials, L). It is called once for each block of trials.
    n_trials : int
        Number of datasets, at least 2.
    rng : Generator or seed, optional
        Source of randomness; a Generator moves on by the same step however large the sweep is.

    Returns
    -------
    Sweep
        Mean and standard error for each mechanism and budget, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If there is no mechanism or no budget; if a mechanism or the sampler cannot be called or
        returns an array of another shape; if `n_trials` is not an integer of at least 2; `users`,
        `rng` and budgets as in `laplace`.

    See Also
    --------
    mean_error_sweep : the same with the noise integrated out.

    Examples
    --------
    >>> from userdp import geometric_collection, laplace, opt_worst_case, uniform_sums
    >>> users = geometric_collection(M=2, upper=65)
    >>> mechanisms = {"Laplace": laplace, "OPT-worst-case": opt_worst_case}
    >>> sweep = error_sweep(mechanisms, users, [0.5, 2], uniform_sums, n_trials=1000, rng=0)
    >>> sweep["Laplace"].mean.round(1), sweep["OPT-worst-case"].mean.round(1)
    (array([43.4, 11.1]), array([11.2, 11.5]))
    """
    return _sweep("mechanisms", mechanisms, users, eps, sampler, n_trials, rng)


def mean_error_sweep(
    mean_errors: Mapping[str, MeanError],
    users: Contributions,
    eps: Iterable[Epsilon],
    sampler: Sampler,
    n_trials: int,
    *,
    rng: RNGLike = None,
) -> Sweep:
    """Estimate E|M(D) - f(D)| with the mechanisms' own randomness integrated out exactly.

    Only the data are drawn; for each dataset the mean error is a formula. The estimate has the same
    expectation as that of `error_sweep`, and a standard error that is never larger.

    Parameters
    ----------
    mean_errors : mapping of str to callable
        Mean absolute errors by the name of the mechanism, called as ``mean_error(sums, users,
        eps)`` with `sums` of shape (trials, L); for instance `akmv_mean_error`.
    users, eps, sampler, n_trials, rng
        As in `error_sweep`; the same seed draws the same datasets.

    Returns
    -------
    Sweep
        Mean and standard error for each mechanism and budget, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        As `error_sweep`.

    Examples
    --------
    >>> from userdp import geometric_collection, opt_worst_case_mean_error, uniform_sums
    >>> users = geometric_collection(M=2, upper=65)
    >>> mean_errors = {"OPT-worst-case": opt_worst_case_mean_error}
    >>> sweep = mean_error_sweep(mean_errors, users, [0.5, 2], uniform_sums, n_trials=1000, rng=0)
    >>> sweep["OPT-worst-case"].mean.round(1)
    array([10.9, 10.8])
    """
    return _sweep("mean_errors", mean_errors, users, eps, sampler, n_trials, rng)


def _sweep(
    argument: str,
    functions: Mapping[str, Callable[..., npt.ArrayLike]],
    users: Contributions,
    eps: Iterable[Epsilon],
    sampler: Sampler,
    n_trials: int,
    rng: RNGLike,
) -> Sweep:
    """Sweep over functions that release means, or else return mean errors."""
    _check_functions(argument, functions)
    check.instance("users", users, Contributions)
    budgets = _read_budgets(eps)
    trials = check.integer("n_trials", n_trials, least=2)
    release = argument == "mechanisms"
    entropy = check.rng(rng).integers(2**32, size=4).tolist()
    length = max(1, _BLOCK // users.n_users)
    starts = range(0, trials, length)
    values = np.empty((len(functions), len(budgets), trials))
    with progress(len(starts) * len(functions) * len(budgets)) as tick:
        for block, start in enumerate(starts):
            size = min(length, trials - start)
            sums = _drawn("sampler", sampler, users, size, _stream(entropy, block))
            true = sums.sum(axis=1) / users.total
            for (i, name), (j, budget) in product(enumerate(functions), enumerate(budgets)):
                stream = _stream(entropy, block, f"{name} {read_eps(budget)}")
                given = {"rng": stream} if release else {}
                result = np.asarray(functions[name](sums, users, budget, **given))
                if result.shape != (size,):
                    rule = f"return one number for each of {size} datasets"
                    check.refuse(f"{argument}[{name!r}]", rule, f"shape {result.shape}")
                values[i, j, start : start + size] = abs(result - true) if release else result
                tick()
    # Shifted by one of the values, so that equal ones have no spread from rounding.
    shift = values - values[..., :1]
    means = values[..., 0] + shift.mean(axis=-1)
    standard_errors = shift.std(axis=-1, ddof=1) / np.sqrt(trials)
    curves = {name: Curve(means[i], standard_errors[i]) for i, name in enumerate(functions)}
    return Sweep(np.array([float(read_eps(e)) for e in budgets]), curves, values)


def _stream(entropy: list[int], block: int, name: str = "") -> np.random.Generator:
    """Return the stream of a block's data (no name), or of a mechanism and budget in the block."""
    seeds = np.random.SeedSequence(entropy, spawn_key=(block, *name.encode()))
    return np.random.default_rng(seeds)


def _read_budgets(eps: Iterable[Epsilon]) -> list[Epsilon]:
    if isinstance(eps, str | bytes) or not np.iterable(eps):
        check.refuse_type("eps", "a sequence of budgets", eps)
    budgets = list(eps)
    for budget in budgets:
        read_eps(budget)
    if not budgets:
        check.refuse("eps", "hold at least one budget", "none")
    return budgets


def _check_functions(argument: str, functions: Mapping[str, Any]) -> None:
    if not isinstance(functions, Mapping):
        check.refuse_type(argument, "a mapping from names to functions", functions)
    if not functions:
        check.refuse(argument, "hold at least one function", "none")
    for name, function in functions.items():
        if not isinstance(name, str):
            check.refuse_type(argument, "named by strings", name)
        if not callable(function):
            check.refuse_type(f"{argument}[{name!r}]", "callable", function)
