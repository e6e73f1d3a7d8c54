"""The private quantile: a user's sum of a given rank, drawn by the exponential mechanism.

The target is the r-th largest of the L user sums, all in the public range [0, V], V = U m*. With
c(t) the number of sums of at least t, a threshold t is drawn with density proportional to

    exp(-eta |c(t) - r|),    eta = eps / 2.

Replacing one user's samples moves c by at most one at every t, hence the weight and its integral
each by a factor within exp(+-eta): the draw is eps-DP, and no larger eta would do. This is
Algorithm 2 of Smith (2011) with its exponent read so that the budget is eps; Section IV-C of the
paper uses "a suitable modification" of it.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from userdp._checks import (
    RNGLike,
    check_instance,
    read_array,
    read_floats,
    read_integer,
    read_rng,
    refuse_entries,
)
from userdp.budget import Epsilon, read_eps
from userdp.model import Contributions

ROUNDING = 1e-9
"""Sums may leave [0, U m_l] by this share of U m_l, as rounding makes them; they are projected.
Sums in float32 may do so by 8 of its units in the last place."""


class Cells(NamedTuple):
    """The law of the private quantile: uniform on each of L + 1 cells between consecutive sums.

    Cell c, for c = 0..L, holds the thresholds that exactly c sums reach.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    probability: NDArray[np.float64]
    log_density: NDArray[np.float64]


class Draws(NamedTuple):
    """Thresholds drawn, and the number of sums that each of them lies below: its cell."""

    cell: NDArray[np.intp]
    threshold: NDArray[np.float64]


def read_sums(sums: npt.ArrayLike, users: Contributions) -> NDArray[np.float64]:
    """Check that user sums fit the users: shape (..., L), each in [0, U m_l] up to rounding."""
    check_instance("users", users, Contributions)
    given = read_array("sums", sums).dtype
    rounding = max(ROUNDING, 8 * np.finfo(given).eps) if given.kind == "f" else ROUNDING
    array = read_floats("sums", sums)
    if array.ndim == 0 or array.shape[-1] != users.n_users:
        raise ValueError(
            f"`sums` must have one entry a user ({users.n_users}) along its last axis, "
            f"got sums of shape {array.shape}."
        )
    largest = users.largest_sums.astype(np.float64)
    outside = (array < -rounding * largest) | (array > (1 + rounding) * largest)
    refuse_entries("sums", "between 0 and U m_l", array, outside)
    return np.clip(array, 0.0, largest)


def quantile_cells(sums: npt.ArrayLike, users: Contributions, rank: int, eps: Epsilon) -> Cells:
    """Return the exact law of `private_quantile` as a piecewise constant density.

    Parameters
    ----------
    sums, users, rank, eps
        As in `private_quantile`.

    Returns
    -------
    Cells
        Lower and upper ends, probabilities and log densities of the cells, each of shape
        (..., L + 1); a cell of zero width has probability zero.

    Raises
    ------
    TypeError, ValueError
        As `private_quantile`.

    Examples
    --------
    >>> cells = quantile_cells([3.0, 1.0], Contributions([4, 1], upper=1), rank=1, eps=2)
    >>> cells.lower, cells.upper
    (array([3., 1., 0.]), array([4., 3., 1.]))
    """
    return cells_of(read_sums(sums, users), users, rank, read_eps(eps) / 2)


def cells_of(values: NDArray[np.float64], users: Contributions, rank: int, eta: Fraction) -> Cells:
    """Return the cells for sums that were read already, and the exponent eta per rank."""
    rank = min(read_integer("rank", rank, least=1), users.n_users)
    ends = np.empty((*values.shape[:-1], users.n_users + 2))
    ends[..., 0] = float(users.upper) * users.max_count
    ends[..., 1:-1] = np.sort(values)[..., ::-1]
    ends[..., -1] = 0.0
    width = ends[..., :-1] - ends[..., 1:]
    distance = np.abs(np.arange(users.n_users + 1) - rank)
    # Measured from the nearest cell that has any width, so that the weights cannot all vanish.
    nearest = np.min(np.where(width > 0, distance, users.n_users), axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        log_weight = -float(eta) * (distance - nearest)
    mass = width * np.exp(np.minimum(log_weight, 0))
    total = np.sum(mass, axis=-1, keepdims=True)
    return Cells(ends[..., 1:], ends[..., :-1], mass / total, log_weight - np.log(total))


def sums_reaching(cells: Cells) -> NDArray[np.float64]:
    """Return, for each cell c = 0..L, the total of the c sums that reach its thresholds."""
    totals = np.zeros_like(cells.upper)
    np.cumsum(cells.upper[..., 1:], axis=-1, out=totals[..., 1:])
    return totals


def draw_from(cells: Cells, rng: np.random.Generator, shape: tuple[int, ...]) -> Draws:
    """Draw cells, and thresholds in them: one for each dataset, or `shape` for a single one."""
    cumulative = np.cumsum(cells.probability, axis=-1)
    # At most, not below: a uniform of exactly zero must not choose a cell of zero width.
    level = rng.random(shape) * cumulative[..., -1]
    if cumulative.ndim == 1:
        cell = np.searchsorted(cumulative, level, side="right")
        lower, upper = cells.lower[cell], cells.upper[cell]
    else:
        cell = np.sum(cumulative <= level[..., None], axis=-1)
        lower = np.take_along_axis(cells.lower, cell[..., None], axis=-1)[..., 0]
        upper = np.take_along_axis(cells.upper, cell[..., None], axis=-1)[..., 0]
    return Draws(cell, lower + rng.random(shape) * (upper - lower))


def quantile_log_density(
    t: npt.ArrayLike, sums: npt.ArrayLike, users: Contributions, rank: int, eps: Epsilon
) -> NDArray[np.float64]:
    """Return the log density of `private_quantile` at t, so that its privacy can be tested exactly.

    Parameters
    ----------
    t : array_like of float, shape (...)
        Thresholds, in the unit of the sums; broadcast against the leading axes of `sums`.
    sums, users, rank, eps
        As in `private_quantile`.

    Returns
    -------
    ndarray of float64, shape (...)
        Natural logarithm of the density, minus infinity outside [0, U m*].

    Raises
    ------
    TypeError, ValueError
        As `private_quantile`.

    Examples
    --------
    >>> users = Contributions([1], upper=1)
    >>> quantile_log_density([0.25, 2.0], [0.5], users, rank=1, eps=2).round(4)
    array([0.3799,   -inf])
    """
    points = read_floats("t", t)
    cells = quantile_cells(sums, users, rank, eps)
    try:
        np.broadcast_shapes(points.shape, cells.probability.shape[:-1])
    except ValueError as error:
        raise ValueError(
            f"`t` must broadcast against the leading axes of `sums`, got t of shape {points.shape} "
            f"and leading axes {cells.probability.shape[:-1]}."
        ) from error
    # The lower ends of all cells but the last are the sums: t lies in cell c if c of them reach t.
    reaching = np.sum(cells.lower[..., :-1] >= points[..., None], axis=-1)
    log_density = np.take_along_axis(
        np.broadcast_to(cells.log_density, (*reaching.shape, users.n_users + 1)),
        reaching[..., None],
        axis=-1,
    )[..., 0]
    inside = (points >= 0) & (points <= cells.upper[..., 0])
    result: NDArray[np.float64] = np.where(inside, log_density, -np.inf)[()]
    return result


def private_quantile(
    sums: npt.ArrayLike,
    users: Contributions,
    rank: int,
    eps: Epsilon,
    *,
    rng: RNGLike | None = None,
) -> NDArray[np.float64]:
    """Draw a threshold near the `rank`-th largest user sum, with user-level eps-DP.

    The exponential mechanism with exponent eps/2 per rank on the public range [0, U m*].
    Neighbouring datasets differ in all samples of one user; counts, bound, rank and eps are
    public, the sums are protected. A demonstration in floating point: for releases to the world
    its low-order bits promise nothing.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l].
    users : Contributions
        The public counts and bound.
    rank : int
        Rank r of the target among the sums, 1 for the largest; above L it means L.
    eps : float, Fraction, Decimal or str
        Privacy budget of this draw alone (dimensionless, public).
    rng : Generator or seed, optional
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (...)
        One threshold for each dataset, in the unit of the sums; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        If `sums` do not fit `users`, `rank` is not an integer of at least 1, `rng` is no source of
        randomness; as `read_eps`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(private_quantile([3.0, 1.0], users, rank=1, eps=2, rng=0).round(4))
    1.5396
    """
    generator = read_rng(rng)
    cells = quantile_cells(sums, users, rank, eps)
    return draw_from(cells, generator, cells.probability.shape[:-1]).threshold
