"""Privacy losses of the book's additions: staircase and Gaussian noise, and vectors in a ball.

These audits work like those of `userdp.audit`, with the same stand-in for numpy's Generator.
Gaussian noise has no largest log ratio; its Renyi divergences are known in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp import audit
from userdp._checks import Floats, RNGLike
from userdp.audit import Call, Pairs, Recorder, Release
from userdp.beyond.noise import StaircaseNoise
from userdp.beyond.thresholds import PrivateThreshold
from userdp.model import Contributions, Epsilon

__all__ = [
    "ball_log_ratio",
    "gaussian_rho",
    "hard_pairs",
    "joint_log_ratio",
    "largest_log_ratio",
    "mean_log_ratio",
    "threshold_log_ratio",
]

_DISTANCES = np.vectorize(lambda first, second: float(first.value - second.value), otypes=[float])
_RATIOS = np.vectorize(
    lambda first, second: float(abs(first.value - second.value) / first.scale), otypes=[float]
)


def ball_log_ratio(release: Release, pairs: Pairs) -> Floats:
    """Return the largest log ratio of the two densities of a vector with eps-DP noise, per pair.

    Noise with a random direction and a gamma-distributed length of shape d has a density
    proportional to exp(-length / scale), so the largest log ratio is the distance between the
    statistics divided by the scale. Both are those that the mechanism actually uses; if it draws
    other noise, or its scales differ between neighbours, the result is infinite.

    Parameters
    ----------
    release : callable
        A mechanism such as `userdp.beyond.mean_in_ball` with a budget, called as
        ``release(sums, users, rng)``.
    pairs : Pairs
        Neighbouring datasets of vectors, shape (n, L, d).

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from userdp import Contributions
    >>> from userdp.beyond import mean_in_ball
    >>> first = np.array([[[4.0, 0], [0, 1]]])
    >>> pairs = Pairs(Contributions([4, 1], upper=2), first, first * [[-1], [1]])
    >>> ball_log_ratio(lambda sums, users, rng: mean_in_ball(sums, users, 2, rng=rng), pairs)
    array([2.])
    """
    n, _, d = pairs.first.shape
    shift, calls = _shifts(release, pairs, np.identity(d)[0])
    draws = [(call.name, call.numbers[:1], call.size) for call in calls]
    expected = [("standard_normal", (), (n, d)), ("gamma", (d,), (n,))]
    return shift if draws == expected * 2 else np.full(n, np.inf)


def gaussian_rho(release: Release, pairs: Pairs) -> Floats:
    """Return the zCDP parameter rho of a release with Gaussian noise, for each pair of neighbours.

    The release consists of numbers or of vectors. If the statistics are c standard deviations
    apart, the Renyi divergence of every order a is a c^2 / 2, so rho is c^2 / 2; for a given eps,
    delta is ``GaussianNoise(1 / c).delta(eps)``. As in `ball_log_ratio`, the result is infinite for
    other noise, and also for noise that is not independent in each coordinate, or has several
    standard deviations.

    Parameters
    ----------
    release : callable
        A mechanism with Gaussian noise, called as ``release(sums, users, rng)``.
    pairs : Pairs
        Neighbouring datasets.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from userdp import Contributions
    >>> from userdp.beyond import GaussianNoise, opt_worst_case
    >>> law = GaussianNoise.zcdp(2)
    >>> pairs = Pairs(Contributions([4, 1], upper=1), np.array([[0.0, 1]]), np.array([[4.0, 1]]))
    >>> gaussian_rho(lambda sums, users, rng: opt_worst_case(sums, users, law, rng=rng), pairs)
    array([2.])
    """
    n = len(pairs.first)
    shape = pairs.first.shape[2:]
    shift, calls = _shifts(release, pairs, np.ones(shape))
    draws = [(call.name, call.size) for call in calls]
    expected = [("normal", (n, *shape))]
    return shift**2 / 2 if draws == expected * 2 else np.full(n, np.inf)


def joint_log_ratio(release: Release, pairs: Pairs) -> Floats:
    """Return the largest log ratio of the joint densities of several numbers, for each pair.

    With independent Laplace noise on each number, the largest log ratio of the joint densities is
    the sum, over the numbers, of the distance between the statistics divided by the scale. Both are
    those that the mechanism actually uses; if it draws other noise, or one draw for several
    numbers, or if a scale differs between neighbours, the result is infinite.

    Parameters
    ----------
    release : callable
        A mechanism such as `userdp.beyond.opt_several_means` with its other arguments fixed, called
        as ``release(sums, users, rng)``; it returns an array of shape (n, G).
    pairs : Pairs
        Neighbouring datasets.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from userdp import Contributions
    >>> from userdp.beyond import opt_several_means
    >>> counts = [[4, 1], [1, 1]]
    >>> def release(sums, users, rng):
    ...     return opt_several_means(sums, counts, users.upper, 4, rng=rng)
    >>> first = np.array([[[4.0, 1], [0, 1]]])
    >>> joint_log_ratio(release, Pairs(Contributions([5, 2], upper=1), first, first * [[0], [1]]))
    array([4.])
    """
    rng = Recorder()
    first, second = (release(sums, pairs.users, rng) for sums in pairs[1:])
    draws = [(call.name, call.size) for call in rng.calls]
    shifts = np.vectorize(audit._shift, otypes=[float])(first, second)
    ratios: Floats = shifts.sum(axis=-1)
    return ratios if draws == [("laplace", first.shape)] * 2 else np.full(len(first), np.inf)


def mean_log_ratio(release: Release, pairs: Pairs, law: StaircaseNoise | None = None) -> Floats:
    """Return the largest log ratio of a release's two densities, for each pair of neighbours.

    Like `userdp.audit.mean_log_ratio`, and also for staircase noise, whose ratio is evaluated with
    `log_density` between all points at which one of the two densities jumps.

    Parameters
    ----------
    release : callable
        A mechanism with additive noise, called as ``release(sums, users, rng)``.
    pairs : Pairs
        Neighbouring datasets.
    law : StaircaseNoise, optional
        The law of the noise for sensitivity 1; by default the noise is Laplace.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from userdp import Contributions
    >>> from userdp.beyond import StaircaseNoise, opt_worst_case
    >>> law = StaircaseNoise(2)
    >>> pairs = Pairs(Contributions([4, 1], upper=1), np.array([[0.0, 1]]), np.array([[4.0, 1]]))
    >>> def release(sums, users, rng):
    ...     return opt_worst_case(sums, users, law, rng=rng)
    >>> mean_log_ratio(release, pairs, law)
    array([2.])
    """
    if law is None:
        return audit.mean_log_ratio(release, pairs)
    shift = audit._shifts(release, pairs, {"exponential", "random", "choice"})
    return _staircase_log_ratio(law, shift)


def threshold_log_ratio(rule: PrivateThreshold, pairs: Pairs, eps: Epsilon) -> Floats:
    """Return the largest log ratio of the joint densities of T and a release, for each pair.

    Like `userdp.audit.akmv_log_ratio`, for any `PrivateThreshold`: evaluated at the ends of all
    common cells, just above them, and between them; infinite if the uniforms do not make the
    release draw that T.

    Parameters
    ----------
    rule : PrivateThreshold
    pairs : Pairs
        Neighbouring datasets.
    eps : Epsilon
        Privacy budget of T and of the noise together.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from userdp import Contributions
    >>> from userdp.beyond import PrivateThreshold
    >>> rule = PrivateThreshold(share=0.1, measure="logarithmic")
    >>> users = Contributions([2, 2, 2], upper=1)
    >>> pairs = Pairs(users, np.array([[0.0, 0, 0]]), np.array([[2.0, 0, 0]]))
    >>> threshold_log_ratio(rule, pairs, eps=2).round(4)
    array([1.8])
    """
    check.instance("rule", rule, PrivateThreshold)
    datasets = zip(pairs.first, pairs.second, strict=True)
    return np.array([_threshold_log_ratio(rule, pair, pairs.users, eps) for pair in datasets])


def _threshold_log_ratio(
    rule: PrivateThreshold, pair: tuple[Floats, Floats], users: Contributions, eps: Epsilon
) -> float:
    lowest = rule._lowest(users)
    highest = float(users.upper) * users.max_count
    ends = np.concatenate([*(rule._distances(sums, users) for sums in pair), [highest]])
    ends = np.unique(ends[ends > lowest])
    lower = np.concatenate([[lowest], ends[:-1]])
    targets = np.concatenate([ends, (ends + lower) / 2, np.minimum(lower * (1 + 1e-12), ends)])
    targets = targets[targets > lowest]
    first, second = (_run_rule(rule, targets, sums, users, eps) for sums in pair)
    ratio = np.abs(first.log_density - second.log_density) + _RATIOS(first.release, second.release)
    ratio = np.where(first.drawn & second.drawn, ratio, np.inf)
    return float(np.max(np.where(first.likely & second.likely, ratio, 0.0)))


class _RuleRun(NamedTuple):
    """Behaviour of a rule at given thresholds, shape (n,).

    Attributes
    ----------
    likely, drawn : ndarray of bool
        Whether uniforms can hit the threshold's cell, and whether the rule drew this threshold.
    log_density : ndarray of float64
        Log density of the threshold.
    release : ndarray of Noisy
        What is released with it.
    """

    likely: npt.NDArray[np.bool_]
    drawn: npt.NDArray[np.bool_]
    log_density: Floats
    release: npt.NDArray[Any]


def _run_rule(
    rule: PrivateThreshold, targets: Floats, sums: Floats, users: Contributions, eps: Epsilon
) -> _RuleRun:
    """Make the rule draw the target thresholds, as far as possible."""
    cells = rule.cells(sums, users, eps)
    position = targets
    if rule.measure == "logarithmic":
        position = np.log(targets / rule._lowest(users))
    cell = np.sum(np.sort(rule._distances(sums, users)) >= targets[:, None], axis=1)
    likely = cells.probability[cell] > audit._TINY
    cell = np.where(likely, cell, np.argmax(cells.probability))
    level = np.cumsum(cells.probability)[cell] - cells.probability[cell] / 2
    width = cells.upper[cell] - cells.lower[cell]
    relative = np.where(likely, np.clip((position - cells.lower[cell]) / width, 0, 1), 0.5)
    batch = np.broadcast_to(sums, (targets.size, users.n_users))
    drawn = rule.draw(batch, users, eps, rng=Recorder(random=[level, relative]))
    releases: Any = rule.release(batch, users, eps, rng=Recorder(random=[level, relative]))
    cap = audit._SCALES(releases) * (users.total * float(rule._noise_budget(eps)))
    is_target = np.abs(drawn - targets) <= audit._ROUNDING * targets
    is_cap_used = np.abs(cap - drawn) <= audit._ROUNDING * drawn
    density = rule.log_density(targets, sums, users, eps)
    return _RuleRun(likely, is_target & is_cap_used, density, releases)


def _staircase_log_ratio(law: StaircaseNoise, shift: Floats) -> Floats:
    """Return the largest log ratio of staircase densities with centres `shift` scales apart."""
    distance = np.minimum(shift, 8.0)[:, None]
    jumps = np.arange(12) + law.gamma
    jumps = np.broadcast_to(np.concatenate([-jumps, jumps]), (shift.size, 24))
    edges = np.sort(np.concatenate([jumps, jumps - distance], axis=1))
    middles = (edges[:, 1:] + edges[:, :-1]) / 2
    log_ratio = np.abs(law.log_density(middles) - law.log_density(middles + distance))
    # Rounding makes very narrow pieces; their middle may lie on the wrong side of a jump.
    largest = np.max(np.where(np.diff(edges) > audit._ROUNDING, log_ratio, 0.0), axis=1)
    return np.where(np.isinf(shift), np.inf, largest)


def _shifts(release: Release, pairs: Pairs, pattern: Floats) -> tuple[Floats, list[Call]]:
    """Return distances between noisy vectors in units of their scale, and all calls made for them.

    Infinite unless the scales of the coordinates are the same multiple of the pattern for both.
    """
    rng = Recorder()
    shape = (2, len(pairs.first), pattern.size)
    outputs = np.reshape([release(sums, pairs.users, rng) for sums in pairs[1:]], shape)
    distance = np.linalg.norm(_DISTANCES(*outputs), axis=1)
    scales = audit._SCALES(outputs)
    scale, _ = scales[..., 0]
    fits_pattern = np.all(scales == scale[:, None] * pattern, axis=(0, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(distance > 0, distance / scale, 0.0)
    return np.where(fits_pattern, shift, np.inf), rng.calls


def hard_pairs(n_pairs: int, rng: RNGLike = None, *, d: int | None = None) -> Iterator[Pairs]:
    """Yield pairs of neighbouring datasets, of numbers or of vectors, that are hard cases.

    These are the pairs of `userdp.audit.hard_pairs`. For vectors, the sums minus U m_l / 2 are
    lengths along an axis in the ball of diameter U; there is one axis for all users or one per
    user, and the replaced vector may change its direction.

    Parameters
    ----------
    n_pairs : int
        Number of pairs.
    rng : Generator or seed, optional
        Source of randomness.
    d : int, optional
        Number of coordinates, for vectors.

    Yields
    ------
    Pairs

    Examples
    --------
    >>> {pairs.first.shape[-1] for pairs in hard_pairs(100, rng=0, d=3)}
    {3}
    """
    generator = check.rng(rng)
    for pairs in audit.hard_pairs(n_pairs, generator):
        yield pairs if d is None else _in_ball(pairs, d, generator)


def _in_ball(pairs: Pairs, d: int, rng: np.random.Generator) -> Pairs:
    axis, new_axis = rng.standard_normal((2, *pairs.first.shape, d))
    axis[::2] = axis[::2, :1]
    changes_axis = (pairs.first != pairs.second) & rng.choice([True, False], (len(axis), 1))
    axes = np.stack([axis, np.where(changes_axis[..., None], new_axis, axis)])
    lengths = np.stack(pairs[1:]) - pairs.users.largest_sums / 2
    vectors = lengths[..., None] * (axes / np.linalg.norm(axes, axis=-1, keepdims=True))
    return Pairs(pairs.users, *vectors)


def largest_log_ratio(
    log_ratio: Callable[[Pairs], Floats],
    n_pairs: int,
    rng: RNGLike = None,
    *,
    d: int | None = None,
) -> float:
    """Return the largest of the log ratios, or of the rhos, that a function finds on `hard_pairs`.

    Parameters
    ----------
    log_ratio : callable
        Function of `Pairs`, such as `ball_log_ratio` with its other arguments fixed.
    n_pairs : int
        Number of pairs.
    rng : Generator or seed, optional
        Source of randomness.
    d : int, optional
        Number of coordinates, for vectors.

    Returns
    -------
    float

    Examples
    --------
    >>> from userdp.beyond import mean_in_ball
    >>> def log_ratio(pairs):
    ...     return ball_log_ratio(lambda s, users, rng: mean_in_ball(s, users, 2, rng=rng), pairs)
    >>> round(largest_log_ratio(log_ratio, 100, rng=0, d=2), 4)
    2.0
    """
    return max(float(np.max(log_ratio(pairs))) for pairs in hard_pairs(n_pairs, rng, d=d))
