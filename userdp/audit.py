"""Audits: the largest log ratio of the mechanisms' own densities on neighbouring datasets.

Nothing is sampled, and no mechanism is implemented a second time. A stand-in for numpy's Generator
gives the real mechanisms a symbol in place of noise, so a release is returned as its statistic plus
a multiple of the noise, both exact; uniform numbers are scripted, so a random threshold takes any
desired value. For these releases, and for the density of the private quantile, the largest log
ratio over all outputs is known in closed form. `userdp` does not import this module: use ``from
userdp import audit``. `userdp.beyond.privacy_loss` audits other noise, and vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, Real, RNGLike
from userdp.akmv import akmv, private_quantile, quantile_cells, quantile_log_density
from userdp.model import Contributions, Epsilon, rank, read_eps

__all__ = [
    "Call",
    "Noisy",
    "Pairs",
    "Recorder",
    "akmv_log_ratio",
    "hard_pairs",
    "largest_log_ratio",
    "mean_log_ratio",
    "quantile_log_ratio",
]

_TINY = 1e-12
"""A relative distance just above 0, and the smallest probability of an audited cell.

Floating-point uniforms hardly ever hit cells of a smaller probability.
"""
_ROUNDING = 1e-9
"""Relative tolerance between a threshold and the scripted one."""


@dataclass(frozen=True, slots=True)
class Noisy:
    """A number plus a multiple of noise, ``value + scale * Z``, in exact arithmetic.

    It can be shifted and scaled by known numbers, but nothing else: code that clips, compares or
    rounds the noise raises a TypeError instead of passing an audit.

    Examples
    --------
    >>> (3 + Noisy(Fraction(0), Fraction(2))) / 4
    Noisy(value=Fraction(3, 4), scale=Fraction(1, 2))
    """

    value: Fraction
    scale: Fraction

    def __add__(self, other: Real) -> Noisy:
        return Noisy(self.value + Fraction(other), self.scale)

    def __mul__(self, other: Real) -> Noisy:
        factor = Fraction(other)
        return Noisy(self.value * factor, self.scale * factor)

    def __truediv__(self, other: Real) -> Noisy:
        divisor = Fraction(other)
        return Noisy(self.value / divisor, self.scale / divisor)

    __radd__, __rmul__ = __add__, __mul__


_SYMBOLS = np.frompyfunc(lambda scale: Noisy(Fraction(0), Fraction(scale)), 1, 1)


class Call(NamedTuple):
    """One call of a Generator: the method, its numerical arguments, and the requested shape."""

    name: str
    numbers: tuple[float, ...]
    size: tuple[int, ...]


class Recorder(np.random.Generator):
    """A stand-in for numpy's Generator that records every call and draws nothing.

    Methods with a script return its values in turn. Without one, `laplace`, `normal` and `gamma`
    return noise of the given scale as a `Noisy`. `choice`, which draws the sign of staircase noise,
    returns a `Noisy` of scale 1; `exponential` and `random` return the numbers that make this noise
    exactly one unit. `standard_normal`, which draws a direction, returns the first coordinate axis.
    Any other method raises an error, because audits do not cover it.

    Parameters
    ----------
    **script : list of array_like
        For each method, what its calls return, in order; broadcast to the requested shape.

    Attributes
    ----------
    calls : list of Call
        The calls so far.

    Examples
    --------
    >>> from userdp import Contributions, laplace
    >>> rng = Recorder()
    >>> laplace([3.0, 1.0], Contributions([4, 1], upper=1), eps=2, rng=rng)
    Noisy(value=Fraction(4, 5), scale=Fraction(2, 5))
    >>> rng.calls
    [Call(name='laplace', numbers=(0.0, 2.0), size=())]
    """

    def __init__(self, **script: list[npt.ArrayLike]) -> None:
        super().__init__(np.random.PCG64(0))
        self.calls: list[Call] = []
        self._script = {name: iter(values) for name, values in script.items()}
        self._units = iter([1.0, 0.0] * 100)

    def __getattribute__(self, name: str) -> Any:
        public = not name.startswith("_") and hasattr(np.random.Generator, name)
        if public and name not in vars(Recorder):
            raise AssertionError(f"`{name}` of the Generator is not among the audited draws.")
        return super().__getattribute__(name)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return symbolic noise of the given scale."""
        shape = np.shape(scale) if size is None else size
        return self._record_call("laplace", (loc, scale), shape, _SYMBOLS, scale)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return symbolic noise of the given standard deviation."""
        shape = np.shape(scale) if size is None else size
        return self._record_call("normal", (loc, scale), shape, _SYMBOLS, scale)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = ()) -> Any:
        """Return a symbolic length of the given scale."""
        return np.asarray(self._record_call("gamma", (shape, scale), size, _SYMBOLS, scale))

    def standard_normal(self, size: Any = ()) -> Any:  # type: ignore[override]
        """Return the first coordinate axis as the direction."""
        first = np.identity(size[-1])[0]
        return self._record_call("standard_normal", (), size, np.positive, first)

    def choice(self, a: Any, size: Any = ()) -> Any:  # type: ignore[override]
        """Return the sign of staircase noise as a symbol of scale 1."""
        return self._record_call("choice", (*a,), size, _SYMBOLS, 1)

    def exponential(self, scale: Any = 1.0, size: Any = ()) -> Any:
        """Return one: one whole unit of staircase noise."""
        return self._record_call("exponential", (scale,), size, np.positive, 1.0)

    def random(self, size: Any = ()) -> Any:  # type: ignore[override]
        """Return one and zero in turn, so that nothing is added to the whole unit."""
        return self._record_call("random", (), size, np.positive, next(self._units))

    def _record_call(self, name: str, numbers: Any, size: Any, make: Any, default: Any) -> Any:
        flat = [float(x) for number in numbers for x in np.ravel(number)]
        self.calls.append(Call(name, tuple(flat), tuple(size)))
        if name in self._script:
            return np.broadcast_to(next(self._script[name]), size)
        return make(np.broadcast_to(default, size))


class Pairs(NamedTuple):
    """Pairs of neighbouring datasets of the same users, one pair per row, of sums or of vectors."""

    users: Contributions
    first: Floats
    second: Floats


Release = Callable[[Floats, Contributions, Recorder], Any]
"""A mechanism as a function of sums, users and a Generator, with all other arguments fixed."""


def mean_log_ratio(release: Release, pairs: Pairs) -> Floats:
    """Return the largest log ratio of a release's two densities, for each pair of neighbours.

    The statistic and the scale of the Laplace noise are those that the mechanism actually uses. The
    largest log ratio is the distance between the statistics divided by the scale. It is infinite if
    the scales of neighbours differ, or if the mechanism draws anything but Laplace noise.

    Parameters
    ----------
    release : callable
        A mechanism with additive noise, called as ``release(sums, users, rng)``.
    pairs : Pairs
        Neighbouring datasets.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from userdp import laplace
    >>> pairs = Pairs(Contributions([4, 1], upper=1), np.array([[0.0, 1]]), np.array([[4.0, 1]]))
    >>> mean_log_ratio(lambda sums, users, rng: laplace(sums, users, 0.5, rng=rng), pairs)
    array([0.5])
    """
    return _shifts(release, pairs, {"laplace"})


def _shifts(release: Release, pairs: Pairs, methods: set[str]) -> Floats:
    """Return distances between releases in units of their scale; infinite for other methods."""
    rng = Recorder()
    first, second = (release(sums, pairs.users, rng) for sums in (pairs.first, pairs.second))
    if {call.name for call in rng.calls} not in (methods, set()):
        return np.full(len(pairs.first), np.inf)
    return np.array([_shift(a, b) for a, b in zip(first, second, strict=True)])


_VALUES = np.vectorize(lambda noisy: float(noisy.value), otypes=[float])
_SCALES = np.vectorize(lambda noisy: float(noisy.scale), otypes=[float])


def _shift(first: Noisy, second: Noisy) -> float:
    """Return the distance between two noisy numbers in units of their common scale."""
    if first == second:
        return 0.0
    if first.scale != second.scale or first.scale == 0:
        return np.inf
    return float(abs((first.value - second.value) / first.scale))


def quantile_log_ratio(pairs: Pairs, rank: int, eps: Epsilon) -> Floats:
    """Return the largest log ratio of the private quantile's densities, for each pair.

    Both densities are constant from just above one sum up to and including the next. So they take
    each of their values at a sum of either dataset or at U m*.

    Parameters
    ----------
    pairs : Pairs
        Neighbouring datasets.
    rank : int
        Rank r of the target among the sums, 1 for the largest; ranks above L count as L.
    eps : Epsilon
        Privacy budget of the quantile.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> users = Contributions([2, 2], upper=1)
    >>> pairs = Pairs(users, np.array([[0.0, 1e-9]]), np.array([[2.0, 1e-9]]))
    >>> quantile_log_ratio(pairs, rank=1, eps=1).round(6)
    array([1.])
    """
    t = _ends(pairs).T
    first = quantile_log_density(t, pairs.first, pairs.users, rank, eps)
    second = quantile_log_density(t, pairs.second, pairs.users, rank, eps)
    result: Floats = np.max(np.abs(first - second), axis=0)
    return result


def _ends(pairs: Pairs) -> Floats:
    """Return all positive sums of both datasets, and U m*: the upper ends of the common cells."""
    highest = float(pairs.users.upper) * pairs.users.max_count
    top = np.full((len(pairs.first), 1), highest)
    ends = np.concatenate([pairs.first, pairs.second, top], axis=1)
    return np.where(ends > 0, ends, highest)


def akmv_log_ratio(pairs: Pairs, eps: Epsilon) -> Floats:
    """Return the largest log ratio of the joint densities of (T, output) of `userdp.akmv`.

    It is the log ratio of the two densities of T, plus the distance between the statistics divided
    by the scale of the noise, evaluated at the ends of all common cells, just above them, and
    between them. The statistic and the scale are those that `akmv` actually uses when the uniforms
    make it draw that T. If it draws another value, T does not have the claimed distribution, and
    the result is infinite.

    Parameters
    ----------
    pairs : Pairs
        Neighbouring datasets.
    eps : Epsilon
        Privacy budget of the whole mechanism.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> users = Contributions([2, 2, 2], upper=1)
    >>> pairs = Pairs(users, np.array([[0.0, 1e-6, 0]]), np.array([[2.0, 1e-6, 0]]))
    >>> akmv_log_ratio(pairs, eps=2).round(4)
    array([2.])
    """
    ends = np.unique(np.sort(_ends(pairs)), axis=1)  # many users may have the same sum
    lower = np.concatenate([np.zeros((len(ends), 1)), ends[:, :-1]], axis=1)
    just_above = np.where(lower > 0, np.minimum(lower * (1 + _TINY), ends), ends)
    targets = np.concatenate([ends, (ends + lower) / 2, just_above], axis=1).T
    first = _run_akmv(targets, pairs.first, pairs.users, eps)
    second = _run_akmv(targets, pairs.second, pairs.users, eps)
    threshold_part = np.abs(first.log_density - second.log_density)
    release_part = np.abs(first.value - second.value) / first.scale
    ratio = np.where(first.drawn & second.drawn, threshold_part + release_part, np.inf)
    result: Floats = np.max(np.where(first.likely & second.likely, ratio, 0.0), axis=0)
    return result


class _AkmvRun(NamedTuple):
    """Behaviour of `akmv` at given thresholds; arrays of the same shape.

    Attributes
    ----------
    likely : ndarray of bool
        Whether uniforms can hit the threshold's cell.
    drawn : ndarray of bool
        Whether `akmv` drew this threshold.
    log_density : ndarray of float64
        Log density of the threshold.
    value, scale : ndarray of float64
        The statistic released with it, and the scale of its noise.
    """

    likely: npt.NDArray[np.bool_]
    drawn: npt.NDArray[np.bool_]
    log_density: Floats
    value: Floats
    scale: Floats


def _run_akmv(targets: Floats, sums: Floats, users: Contributions, eps: Epsilon) -> _AkmvRun:
    """Make `akmv` draw the target thresholds, as far as possible."""
    k = rank(eps)
    half_budget = read_eps(eps) / 2
    cells = quantile_cells(sums, users, k, half_budget)
    cumulative = np.cumsum(cells.probability, axis=1)
    cell = np.sum(cells.lower[:, :-1] >= targets[..., None], axis=-1)
    likely = _of_cell(cells.probability, cell) > _TINY
    cell = np.where(likely, cell, np.argmax(cells.probability, axis=1))
    lower = _of_cell(cells.lower, cell)
    upper = _of_cell(cells.upper, cell)
    level = _of_cell(cumulative, cell) - _of_cell(cells.probability, cell) / 2
    position = np.where(likely, (targets - lower) / (upper - lower), 0.5)
    batch = np.broadcast_to(sums, (*targets.shape, users.n_users))
    drawn = private_quantile(batch, users, k, half_budget, rng=Recorder(random=[level, position]))
    releases: Any = akmv(batch, users, eps, rng=Recorder(random=[level, position]))
    scale: Floats = _SCALES(releases)
    cap = scale * (users.total * float(half_budget))
    is_target = np.abs(drawn - targets) <= _ROUNDING * targets
    is_cap_used = np.abs(cap - drawn) <= _ROUNDING * drawn
    return _AkmvRun(
        likely=likely,
        drawn=is_target & is_cap_used,
        log_density=quantile_log_density(targets, sums, users, k, half_budget),
        value=_VALUES(releases),
        scale=scale,
    )


def _of_cell(values: Floats, cell: npt.NDArray[np.intp]) -> Floats:
    """Return values[row, cell] for an array of cells, shape (points, rows)."""
    return np.take_along_axis(values, cell.T, axis=1).T


_COLLECTIONS: list[tuple[Any, float]] = [
    ((9, 1), 1),
    ((6, 2), 65),
    ((6, 3), 0.1),
    ((9, 6), 1),
    ([3] * 6, 3),
    ([10**15, 1, 1, 1, 1, 1], 65),
    ([10**15, 10**15 - 1, 10**9, 1], 1),
    ([4] * 5 + [1] * 20, 1),
]
"""Counts of users, and their bound. A tuple (n, L) stands for L random counts below n."""


def hard_pairs(n_pairs: int, rng: RNGLike = None) -> Iterator[Pairs]:
    """Yield `n_pairs` pairs of neighbouring datasets that are hard cases for a mechanism.

    The collections have random counts, equal counts, many users, and a user with 10^15 samples
    among users with one. The sums include ties, zeros, full sums U m_l, gaps and cells of zero
    width. The replaced user's sum changes to 0, to U m_l, to another user's sum, or to a random
    value. The pairs that use the whole budget are included: the heaviest user's sum changes from 0
    to U m*, and any number of other sums are tiny.

    Parameters
    ----------
    n_pairs : int
        Number of pairs.
    rng : Generator or seed, optional

    Yields
    ------
    Pairs

    Examples
    --------
    >>> sum(len(pairs.first) for pairs in hard_pairs(100, rng=0))
    100
    """
    generator = check.rng(rng)
    sizes = np.diff(np.linspace(0, n_pairs, len(_COLLECTIONS) + 1).astype(int)).tolist()
    collections = [
        Contributions(generator.integers(1, *m) if isinstance(m, tuple) else m, upper)
        for m, upper in _COLLECTIONS
    ]
    for users, size in zip(collections, sizes, strict=True):
        yield _hard_pairs(users, size, generator)


def _hard_pairs(users: Contributions, n: int, rng: np.random.Generator) -> Pairs:
    full = users.largest_sums
    shape = (n, users.n_users)
    kinds = [
        rng.random(shape) * full,
        rng.integers(0, 3, shape) / 2 * full,
        rng.choice([0, _TINY, 0.5, 1], shape) * full.min(),
        np.broadcast_to(rng.random((n, 1)) * full.min(), shape),
        np.broadcast_to(rng.integers(0, 2, (n, 1)) * full, shape),
    ]
    first = np.choose(rng.integers(len(kinds), size=(n, 1)), kinds)
    rows = np.arange(n)
    user = rng.integers(users.n_users, size=n)
    other_sum = np.minimum(first[rows, (user + 1) % users.n_users], full[user])
    new_sums = [np.zeros(n), full[user], rng.random(n) * full[user], other_sum]
    second = first.copy()
    second[rows, user] = np.choose(rng.integers(len(new_sums), size=n), new_sums)
    # The pairs from the proofs of tightness: r sums are tiny, and the heaviest user's sum changes
    # from 0 to U m*.
    for r in range(min(n, users.n_users)):
        others = np.arange(users.n_users - 1) < r
        first[r] = np.insert(np.where(others, 1e-9 * full.min(), 0.0), np.argmax(full), 0.0)
        second[r] = np.where(np.arange(users.n_users) == np.argmax(full), full, first[r])
    return Pairs(users, first, second)


def largest_log_ratio(
    log_ratio: Callable[[Pairs], Floats], n_pairs: int, rng: RNGLike = None
) -> float:
    """Return the largest of the log ratios that a function finds on `hard_pairs`.

    Parameters
    ----------
    log_ratio : callable
        Function of `Pairs`, such as one of the audits above with its other arguments fixed.
    n_pairs : int
        Number of pairs.
    rng : Generator or seed, optional

    Returns
    -------
    float

    Examples
    --------
    >>> audit = lambda pairs: quantile_log_ratio(pairs, rank=1, eps=2)
    >>> round(largest_log_ratio(audit, 400, rng=0), 4)
    2.0
    """
    return max(float(np.max(log_ratio(pairs))) for pairs in hard_pairs(n_pairs, rng))
