"""Post-processing of the Laplace mechanism: a public table (a remapping) of the values to publish.

The noisy mean may lie outside [0, U]. If it does, or lies near an end, this is more likely due to
the noise than to the data. A table that depends only on public quantities replaces each noisy mean
by a better estimate. Neighbouring datasets may differ in all samples of one user; counts, bound,
eps and the table are public. The noisy mean is computed in floating point: for demonstrations only,
not safe for production.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats
from userdp._search import NotFoundError
from userdp.model import Contributions, Epsilon
from userdp.noise import noise_scale
from userdp.worstcase import sensitivity

# Number of cells of the noisy mean (even), and of true means at which the program bounds the error.
_N_CELLS, _N_MEANS = 96, 97

# The guarantee is computed on a grid with this many steps per cell, or slightly more.
_STEPS_PER_CELL = 50


@dataclass(frozen=True, eq=False)
class RemappingTable:
    """A remapping of the output of the Laplace mechanism, and the error that it guarantees.

    Attributes
    ----------
    edges : ndarray of float64, shape (K - 1,)
        Boundaries between the cells of the noisy mean, from 0 to U, in the unit of the samples. The
        first and the last cell are unbounded.
    values : ndarray of float64, shape (K,)
        The value to publish for each cell, in the unit of the samples.
    scale : float
        Scale of the Laplace noise on the mean, U m* / (N eps).
    error : float
        An upper bound on the mean absolute error on every dataset, in the unit of the samples.
    """

    edges: Floats
    values: Floats
    scale: float
    error: float

    def apply(self, noisy: npt.ArrayLike) -> Floats:
        """Return the values to publish for outputs of `laplace`, for these users and this eps.

        The table is public and is applied to the output only, so the result is as private as the
        output.

        Parameters
        ----------
        noisy : array_like of float
            Noisy means, in the unit of the samples.

        Returns
        -------
        ndarray of float64
        """
        return np.asarray(self.values[np.searchsorted(self.edges, check.floats("noisy", noisy))])

    def mean_error(self, true_means: npt.ArrayLike) -> Floats:
        """Return the mean absolute error for true means, with the noise integrated out.

        Parameters
        ----------
        true_means : array_like of float
            True means, in the unit of the samples.

        Returns
        -------
        ndarray of float64
        """
        means = check.floats("true_means", true_means)[..., None]
        probabilities = _cell_probabilities(means, self.edges, self.scale)
        return np.asarray(np.sum(probabilities * np.abs(self.values - means), axis=-1))


def laplace_remap(users: Contributions, eps: Epsilon) -> RemappingTable:
    """Return an optimal remapping table for the output of the Laplace mechanism.

    The noisy mean, from `userdp.laplace`, falls into one of 96 cells, and the table has a value to
    publish for each. A linear program minimises the largest mean absolute error over a grid of true
    means. The table is computed from the public counts, U and eps, so publishing its value costs no
    privacy (prp-projection of the book). For L users with equal counts and small eps, no private
    mechanism is much better: thm-small-budgets. Nothing is clipped, so for unequal counts, or
    N eps / m* above a few tens, a clipped release is better.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon

    Returns
    -------
    RemappingTable
        Its `error` holds for all true means: it is the maximum on a fine grid, plus a bound on the
        increase between two points of the grid.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, or `eps` is not a privacy budget; if the noise
        scale overflows.
    NotFoundError
        If the solver of the linear program fails.

    Examples
    --------
    >>> from userdp import laplace
    >>> users = Contributions([1] * 8, upper=1)
    >>> table = laplace_remap(users, eps=0.25)
    >>> round(table.error, 3), round(table.scale, 3)
    (0.257, 0.5)
    >>> noisy = laplace([0.5] * 8, users, eps=0.25, rng=3)
    >>> bool(table.apply(noisy) == table.values[np.searchsorted(table.edges, noisy)])
    True
    """
    check.instance("users", users, Contributions)
    upper = float(users.upper)
    scale = float(noise_scale(float(sensitivity(users)), eps))
    edges = np.linspace(0, 1, _N_CELLS - 1)
    values = _best_values(edges, scale / upper)
    error = _largest_error(edges, values, scale / upper)
    return RemappingTable(edges * upper, values * upper, scale, error * upper)


def _largest_error(edges: Floats, values: Floats, scale: float) -> float:
    """Return an upper bound on the error at all true means, for U = 1 and symmetric values."""
    n_steps = _STEPS_PER_CELL * _N_CELLS
    on_grid = RemappingTable(edges, values, scale, 0.0).mean_error(
        np.arange(n_steps // 2 + 1) / n_steps
    )
    # The error is a sum over cells of the cell's probability times a distance, which is convex. The
    # absolute slopes of the probabilities add up to at most 1 / scale. Only the probability of the
    # cell that contains the true mean can be concave, with a second derivative of at least
    # -1 / scale^2. So the second derivative of the error is at least -curvature, and the error
    # exceeds its chord between two points by at most curvature / 8 times their squared distance.
    inner = values[1:-1]
    largest_distance = np.max(np.maximum(np.abs(inner - edges[:-1]), np.abs(inner - edges[1:])))
    curvature = (2 + largest_distance / scale) / scale
    return float(np.max(on_grid) + curvature / (8 * n_steps**2))


def _cell_probabilities(means: Floats, edges: Floats, scale: float) -> Floats:
    """Return the probability that the noisy mean falls into each cell, shape (..., K)."""
    offsets = (edges - means) / scale
    tail = np.exp(-np.abs(offsets)) / 2
    below = np.where(offsets < 0, tail, 1 - tail)
    return np.diff(below, axis=-1, prepend=0, append=1)


def _best_values(edges: Floats, scale: float) -> Floats:
    """Return the values of the cells that minimise the largest error at a grid of means, for U = 1.

    The variables of the program are, for each cell, the probabilities of publishing each of the
    grid's means. Publishing the expectation instead is no worse, because distances are convex. And
    distances are linear between grid points, so values off the grid are no better. Mirrored cells
    have mirrored values, which halves the program.
    """
    from scipy import optimize, sparse  # slow to import: loaded on first use

    candidates = np.linspace(0, 1, _N_MEANS)
    half = _N_CELLS // 2
    true_means = candidates[: _N_MEANS // 2 + 1]
    probabilities = _cell_probabilities(true_means[:, None], edges, scale)
    distances = np.abs(candidates - true_means[:, None])
    # Cost of a cell and a value, and of their mirror images: shape (true means, cells, values).
    cost = probabilities[:, :half, None] * distances[:, None, :]
    cost += probabilities[:, half:][:, ::-1, None] * distances[:, None, ::-1]
    n_variables = half * _N_MEANS
    limits = np.column_stack(
        [cost.reshape(true_means.size, n_variables), -np.ones(true_means.size)]
    )
    sums = sparse.kron(sparse.eye_array(half), np.ones((1, _N_MEANS)))
    result = optimize.linprog(
        c=np.append(np.zeros(n_variables), 1.0),
        A_ub=sparse.csr_array(limits),
        b_ub=np.zeros(true_means.size),
        A_eq=sparse.hstack([sums, sparse.csr_array((half, 1))]).tocsr(),
        b_eq=np.ones(half),
        method="highs",
        options={"maxiter": 100_000},
    )
    if result.x is None:
        raise NotFoundError(f"The table for noise of scale {scale:g} U was not found.")
    value_probabilities = result.x[:-1].reshape(half, _N_MEANS)
    lower_values = value_probabilities @ candidates / value_probabilities.sum(axis=1)
    return np.append(lower_values, 1 - lower_values[::-1])
