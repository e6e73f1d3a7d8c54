"""Sweeps over budgets: Monte-Carlo estimates of errors, with their standard errors."""

from __future__ import annotations

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
from userdp.samplers import Sampler, _draw_sums

if TYPE_CHECKING:
    import pandas as pd

# Maximum number of user sums in one block of trials: these and a copy fit in the processor's cache.
_BLOCK = 2**17

# Called as ``mechanism(sums, users, eps, rng=rng)`` with sums of shape (n_trials, L); releases one
# mean per dataset, as `laplace`, `opt_worst_case` and `akmv` do.
Mechanism = Callable[..., npt.ArrayLike]

# Called as ``mean_error(sums, users, eps)``; returns one mean absolute error per dataset, as
# `akmv_mean_error` does.
MeanError = Callable[..., npt.ArrayLike]


class Curve(NamedTuple):
    """Mean absolute errors against budgets, with their standard errors; arrays of shape (n,)."""

    mean: Floats
    standard_error: Floats


@dataclass(frozen=True, eq=False)
class Sweep:
    """Errors of several mechanisms over a grid of budgets, on the same datasets.

    Attributes
    ----------
    eps : ndarray of float64, shape (n,)
        The budgets, in the order given.
    curves : dict of Curve
        The means and standard errors of each mechanism; ``sweep["AKMV"]`` is short for
        ``sweep.curves["AKMV"]``.
    errors : ndarray of float64, shape (mechanisms, n, n_trials)
        The errors of single trials, in the unit of the samples; the curves hold their means. A
        trial uses the same dataset for all mechanisms and budgets.
    """

    eps: Floats
    curves: dict[str, Curve]
    errors: Floats

    @property
    def n_trials(self) -> int:
        """The number of datasets over which each mean is taken."""
        return len(self.errors[0, 0])

    def __getitem__(self, mechanism: str) -> Curve:
        """Return the curve of one mechanism."""
        return self.curves[mechanism]

    def frame(self) -> pd.DataFrame:
        """Return a tidy table, one row per mechanism, budget and trial, as seaborn expects it.

        Returns
        -------
        pandas.DataFrame
            With the columns `mechanism`, `eps`, `trial` (from 0) and `error` (in the unit of the
            samples). Only this method of a sweep needs pandas.

        Raises
        ------
        ImportError
            If pandas is not installed (the extra ``userdp[frame]``).
        """
        pandas = check.load("pandas", "A frame needs pandas", "frame")
        columns = {"mechanism": [*self.curves], "eps": self.eps, "trial": range(self.n_trials)}
        rows = pandas.MultiIndex.from_product(columns.values(), names=columns)
        frame: pd.DataFrame = rows.to_frame(index=False).assign(error=self.errors.ravel())
        return frame

    def records(self) -> list[dict[str, Any]]:
        """Return one record per mechanism and budget, for a table or a CSV file."""
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
    has its own stream of random numbers, seeded with their names, so its results are bit-identical
    whatever else the sweep contains, and in any order. A terminal shows a progress bar if tqdm is
    installed (an optional extra).

    Parameters
    ----------
    mechanisms : mapping of str to callable
        Mechanisms by name, called as ``mechanism(sums, users, eps, rng=rng)`` with `sums` of shape
        (trials, L); each returns one release per dataset.
    users : Contributions
    eps : iterable of float, Fraction, Decimal or str
        Privacy budgets of the releases (dimensionless, public).
    sampler : callable
        Called as ``sampler(users, trials, rng=rng)``; returns protected user sums, shape
        (trials, L). It is called once for each block of trials.
    n_trials : int
        Number of datasets, at least 2.
    rng : Generator or seed, optional
        Source of randomness; a Generator advances by the same amount however large the sweep is.

    Returns
    -------
    Sweep
        Mean and standard error for each mechanism and budget, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If there is no mechanism or no budget; if a mechanism or the sampler is not callable or
        returns an array of another shape; if `n_trials` is not an integer of at least 2; for
        `users`, `rng` and budgets, see `laplace`.

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
    _check_functions("mechanisms", mechanisms)

    def errors(name: str, data: _Datasets, budget: Epsilon, stream: np.random.Generator) -> Floats:
        releases = np.asarray(mechanisms[name](data.sums, users, budget, rng=stream))
        _check_one_per_dataset(f"mechanisms[{name!r}]", releases, data)
        distances: Floats = abs(releases - data.means)
        return distances

    return _sweep([*mechanisms], errors, users, eps, sampler, n_trials, rng)


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

    Only the data are drawn; the mean error on each dataset is given by a formula. The estimate has
    the same expectation as that of `error_sweep`, and a standard error that is never larger.

    Parameters
    ----------
    mean_errors : mapping of str to callable
        Mean absolute errors by the name of the mechanism, called as ``mean_error(sums, users,
        eps)`` with `sums` of shape (trials, L); for instance `akmv_mean_error`.
    users : Contributions
    eps : iterable of float, Fraction, Decimal or str
        Privacy budgets of the releases (dimensionless, public).
    sampler : callable
        Called as ``sampler(users, trials, rng=rng)``; returns protected user sums, shape
        (trials, L). It is called once for each block of trials.
    n_trials : int
        Number of datasets, at least 2.
    rng : Generator or seed, optional
        Source of randomness; with the same seed, `error_sweep` draws the same datasets.

    Returns
    -------
    Sweep
        Mean and standard error for each mechanism and budget, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        See `error_sweep`.

    Examples
    --------
    >>> from userdp import geometric_collection, opt_worst_case_mean_error, uniform_sums
    >>> users = geometric_collection(M=2, upper=65)
    >>> mean_errors = {"OPT-worst-case": opt_worst_case_mean_error}
    >>> sweep = mean_error_sweep(mean_errors, users, [0.5, 2], uniform_sums, n_trials=1000, rng=0)
    >>> sweep["OPT-worst-case"].mean.round(1)
    array([10.9, 10.8])
    """
    _check_functions("mean_errors", mean_errors)

    def errors(name: str, data: _Datasets, budget: Epsilon, stream: np.random.Generator) -> Floats:
        values = np.asarray(mean_errors[name](data.sums, users, budget))
        _check_one_per_dataset(f"mean_errors[{name!r}]", values, data)
        return values

    return _sweep([*mean_errors], errors, users, eps, sampler, n_trials, rng)


class _Datasets(NamedTuple):
    """Datasets of one block of trials: user sums, shape (n, L), and the means of the samples."""

    sums: Floats
    means: Floats


# Called as ``errors(name, block, eps, stream)``; returns one error per dataset of the block.
_Errors = Callable[[str, _Datasets, Epsilon, np.random.Generator], Floats]


def _sweep(
    names: list[str],
    errors: _Errors,
    users: Contributions,
    eps: Iterable[Epsilon],
    sampler: Sampler,
    n_trials: int,
    rng: RNGLike,
) -> Sweep:
    """Collect the errors of each name at each budget, block by block."""
    check.instance("users", users, Contributions)
    budgets = _read_budgets(eps)
    trials = check.integer("n_trials", n_trials, least=2)
    entropy = check.rng(rng).integers(2**32, size=4).tolist()
    length = max(1, _BLOCK // users.n_users)
    starts = range(0, trials, length)
    values = np.empty((len(names), len(budgets), trials))
    with progress(len(starts) * len(names) * len(budgets)) as tick:
        for block, start in enumerate(starts):
            size = min(length, trials - start)
            sums = _draw_sums("sampler", sampler, users, size, _stream(entropy, block))
            data = _Datasets(sums, sums.sum(axis=1) / users.total)
            for (i, name), (j, budget) in product(enumerate(names), enumerate(budgets)):
                stream = _stream(entropy, block, f"{name} {read_eps(budget)}")
                values[i, j, start : start + size] = errors(name, data, budget, stream)
                tick()
    # Subtract the first trial's error, so that equal errors get a standard error of 0.
    shift = values - values[..., :1]
    means = values[..., 0] + shift.mean(axis=-1)
    standard_errors = shift.std(axis=-1, ddof=1) / np.sqrt(trials)
    curves = {name: Curve(means[i], standard_errors[i]) for i, name in enumerate(names)}
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


def _check_one_per_dataset(name: str, result: npt.NDArray[Any], data: _Datasets) -> None:
    if result.shape != data.means.shape:
        rule = f"return one number per dataset, {len(data.means)} in all"
        check.refuse(name, rule, f"shape {result.shape}")


def _check_functions(argument: str, functions: Mapping[str, Any]) -> None:
    if not isinstance(functions, Mapping):
        check.refuse_type(argument, "a mapping from names to functions", functions)
    if not functions:
        check.refuse(argument, "hold at least one function", "none")
    for name, function in functions.items():
        if not isinstance(name, str):
            check.refuse_type(argument, "a mapping whose keys are text", name)
        if not callable(function):
            check.refuse_type(f"{argument}[{name!r}]", "callable", function)
