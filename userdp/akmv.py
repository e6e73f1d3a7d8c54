"""The method of Amin et al. (AKMV): sums capped at a private quantile, and its error.

The exponential mechanism draws the quantile. Its target is the r-th largest of the L user sums,
which all lie in the public range [0, V], V = U m*. With c(t) the number of sums of at least t, a
threshold t is drawn with density proportional to

    exp(-eta |c(t) - r|),    eta = eps / 2.

Replacing one user's samples changes c(t) by at most one at every t, and hence the weight and its
integral each by a factor within exp(+-eta): the draw is eps-DP (for r >= L, where both factors have
the same direction, even eps/2-DP). This is Algorithm 2 of Smith (2011), with the exponent chosen so
that the budget is eps; Section IV-C of the paper uses "a suitable modification" of it. `akmv`
(Section IV-A) spends half of its budget on the threshold and half on the noise. The errors are
properties of datasets, computed from protected data; they are not private releases.

The parameters `sums`, `users`, `eps` and `rng`, the privacy unit and the shape of the results are
those of `userdp.mechanisms`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, RNGLike
from userdp.mechanisms import grid_sum
from userdp.model import Contributions, Epsilon, _read_sums, rank, read_eps
from userdp.noise import noise_scale


class Cells(NamedTuple):
    """The distribution of the private quantile: uniform on each of L + 1 cells between the sums.

    Cell c, for c = 0..L, contains the thresholds that exactly c sums reach.
    """

    lower: Floats
    upper: Floats
    probability: Floats
    log_density: Floats


def quantile_cells(sums: npt.ArrayLike, users: Contributions, rank: int, eps: Epsilon) -> Cells:
    """Return the exact distribution of `private_quantile` as a piecewise constant density.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    rank : int
        Rank r of the target among the sums, 1 for the largest; ranks above L count as L.
    eps : Epsilon
        Privacy budget of this draw alone.

    Returns
    -------
    Cells
        Lower and upper ends, probabilities and log densities of the cells, each of shape
        (..., L + 1); a cell of zero width has probability zero.

    Raises
    ------
    TypeError, ValueError
        See `private_quantile`.

    Examples
    --------
    >>> cells = quantile_cells([3.0, 1.0], Contributions([4, 1], upper=1), rank=1, eps=2)
    >>> cells.lower, cells.upper
    (array([3., 1., 0.]), array([4., 3., 1.]))
    """
    return _cells_of(_read_sums(sums, users), users, rank, read_eps(eps) / 2)


def _cells_of(
    values: Floats,
    users: Contributions,
    rank: int,
    eta: Fraction,
    below: float = 0.0,
    top: float | None = None,
) -> Cells:
    """Return the cells for validated sums and an exponent of eta per rank.

    The values may be an increasing function of the sums; `top` is then its value at U m*.
    """
    rank = min(check.integer("rank", rank, least=1), users.n_users)
    outer = (float(users.upper) * users.max_count if top is None else top, 0.0)
    ends = np.insert(np.sort(values)[..., ::-1], (0, users.n_users), outer, axis=-1)
    width = ends[..., :-1] - ends[..., 1:]
    distance = np.abs(np.arange(users.n_users + 1) - rank + below)
    # Measured from the nearest cell of positive width, so that not all weights underflow to 0.
    nearest = np.min(np.where(width > 0, distance, users.n_users), axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        log_weight = -float(eta) * (distance - nearest)
    mass = width * np.exp(np.minimum(log_weight, 0))
    total = np.sum(mass, axis=-1, keepdims=True)
    return Cells(ends[..., 1:], ends[..., :-1], mass / total, log_weight - np.log(total))


def _total_reaching(cells: Cells) -> Floats:
    """Return, for each cell c = 0..L, the total of the c sums that reach its thresholds."""
    return np.insert(np.cumsum(cells.upper[..., 1:], axis=-1), 0, 0.0, axis=-1)


def _draw_from(
    cells: Cells, rng: np.random.Generator, shape: tuple[int, ...]
) -> tuple[npt.NDArray[np.intp], Floats]:
    """Draw a cell and a threshold in it for each dataset, or arrays of both for one."""
    cumulative = np.cumsum(cells.probability, axis=-1)
    # On equality, take the next cell: a uniform of exactly zero must not choose one of zero width.
    level = rng.random(shape) * cumulative[..., -1]
    if cumulative.ndim == 1:
        cell = np.searchsorted(cumulative, level, side="right")
    else:
        cell = np.sum(cumulative <= level[..., None], axis=-1)
    lower = _pick(cells.lower, cell)
    upper = _pick(cells.upper, cell)
    return cell, lower + rng.random(shape) * (upper - lower)


def _pick(values: Floats, cell: npt.NDArray[np.intp]) -> Floats:
    """Return the values of one cell for each dataset, or of several cells of a single one."""
    rows = np.broadcast_to(values, (*cell.shape, values.shape[-1]))
    return np.take_along_axis(rows, cell[..., None], axis=-1)[..., 0]


def quantile_log_density(
    t: npt.ArrayLike, sums: npt.ArrayLike, users: Contributions, rank: int, eps: Epsilon
) -> Floats:
    """Return the log density of `private_quantile` at t, so that its privacy can be tested exactly.

    Parameters
    ----------
    t : array_like of float, shape (...)
        Thresholds, in the unit of the sums; broadcast against the leading axes of `sums`.
    sums : array_like of float, shape (..., L)
    users : Contributions
    rank : int
        Rank r of the target among the sums, 1 for the largest; ranks above L count as L.
    eps : Epsilon
        Privacy budget of this draw alone.

    Returns
    -------
    ndarray of float64, shape (...)
        Natural logarithm of the density, minus infinity outside [0, U m*].

    Raises
    ------
    TypeError, ValueError
        See `private_quantile`.

    Examples
    --------
    >>> users = Contributions([1], upper=1)
    >>> quantile_log_density([0.25, 2.0], [0.5], users, rank=1, eps=2).round(4)
    array([0.3799,   -inf])
    """
    points = check.floats("t", t)
    cells = quantile_cells(sums, users, rank, eps)
    leading = cells.probability.shape[:-1]
    try:
        np.broadcast_shapes(points.shape, leading)
    except ValueError:
        got = f"t of shape {points.shape} and leading axes {leading}"
        check.refuse("t", "broadcast against the leading axes of `sums`", got)
    # The lower ends of all cells but the last are the sums: t lies in cell c if c of them reach t.
    reaching = np.sum(cells.lower[..., :-1] >= points[..., None], axis=-1)
    inside = (points >= 0) & (points <= cells.upper[..., 0])
    return np.where(inside, _pick(cells.log_density, reaching), -np.inf)[()]


def private_quantile(
    sums: npt.ArrayLike, users: Contributions, rank: int, eps: Epsilon, *, rng: RNGLike = None
) -> Floats:
    """Draw a threshold near the `rank`-th largest user sum, with user-level eps-DP.

    The exponential mechanism with exponent eps/2 per rank on the public range [0, U m*].
    Neighbouring datasets may differ in all samples of one user; counts, bound, rank and eps are
    public, the sums are protected. This floating-point draw is a demonstration: its low-order bits
    are not private, so do not publish it.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    rank : int
        Rank r of the target among the sums, 1 for the largest; ranks above L count as L.
    eps : Epsilon
        Privacy budget of this draw alone.
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (...)
        One threshold for each dataset, in the unit of the sums; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        If `sums` do not fit `users`, `rank` is not an integer of at least 1, `rng` is not a source
        of randomness, or `eps` is not a privacy budget.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(private_quantile([3.0, 1.0], users, rank=1, eps=2, rng=0).round(4))
    1.5396
    """
    cells = quantile_cells(sums, users, rank, eps)
    return _draw_from(cells, check.rng(rng), cells.probability.shape[:-1])[1]


def akmv(sums: npt.ArrayLike, users: Contributions, eps: Epsilon, *, rng: RNGLike = None) -> Floats:
    """Release the mean of sums clipped to [0, T], T a private quantile: Section IV-A.

    Half of the budget is for T, which targets the ceil(2/eps)-th largest sum with exponent eps/4
    per rank; the other half is for Laplace noise of scale 2T / (N eps). By adaptive composition, T
    and the mean together are user-level eps-DP under replacement of all samples of one user, with
    public counts; not safe for production (see the note on floating point in `userdp.mechanisms`).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    eps : Epsilon
        Privacy budget of T and of the noise together.
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(akmv([3.0, 1.0], users, eps=1, rng=0).round(4))
    -1.0327
    """
    values = _read_sums(sums, users)
    generator = check.rng(rng)
    cells = _cells_of(values, users, rank(eps), read_eps(eps) / 4)
    _, T = _draw_from(cells, generator, values.shape[:-1])  # noqa: N806
    total, change = grid_sum(values, 0.0, T)
    noise = generator.laplace(scale=noise_scale(2 * change, eps))
    return (total + noise) / users.total


def akmv_error(sums: npt.ArrayLike, users: Contributions, eps: Epsilon) -> Floats:
    """Return the exact E_AKMV of given datasets, with T integrated out: Section IV-C.

    E_AKMV = (1/N) sum_l E(sigma_l - T)^+ + 2 E[T] / (N eps). In the paper the second term has T in
    place of E[T], and the expectation is estimated by simulation; T is uniform on each cell between
    consecutive sums, so both terms are finite sums. The result is a property of the datasets, not a
    private release.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    eps : Epsilon
        Privacy budget of the whole mechanism.

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        If `sums` do not fit `users`; if `eps` is not a privacy budget; if the noise scale
        overflows.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(akmv_error([4.0, 1.0], users, eps="0.1").round(5)), float(
    ...     akmv_error([4.0, 0.0], users, eps="0.1").round(5)
    ... )
    (8.38962, 8.4)
    """
    cells = _cells_of(_read_sums(sums, users), users, rank(eps), read_eps(eps) / 4)
    mean_threshold = cells.lower + (cells.upper - cells.lower) / 2
    bias = _total_reaching(cells) - np.arange(users.n_users + 1) * mean_threshold
    error = bias + noise_scale(2 * mean_threshold, eps)
    result: Floats = np.sum(cells.probability * error, axis=-1) / users.total
    return result


class Estimate(NamedTuple):
    """A Monte-Carlo mean with its standard error (sample standard deviation over sqrt(n))."""

    mean: float
    standard_error: float


def simulate_akmv_error(
    sums: npt.ArrayLike, users: Contributions, eps: Epsilon, n_trials: int, *, rng: RNGLike = None
) -> Estimate:
    """Estimate E_AKMV on one dataset as Section IV-C of the paper does, by drawing T.

    Each trial draws the private threshold T with half of the budget and takes
    (sum_l (sigma_l - T)^+ + 2T / eps) / N; `akmv_error` is the expectation that this estimates.

    Parameters
    ----------
    sums : array_like of float, shape (L,)
    users : Contributions
    eps : Epsilon
        Privacy budget of the whole mechanism.
    n_trials : int
        Number of thresholds drawn, at least 2.
    rng : Generator or seed, optional

    Returns
    -------
    Estimate
        Mean and standard error, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `sums` is not one dataset that fits `users`, `n_trials` is not an integer of at least 2,
        or `rng` is not a source of randomness; if `eps` is not a privacy budget.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> estimate = simulate_akmv_error([4.0, 1.0], users, eps="0.1", n_trials=1000, rng=0)
    >>> round(estimate.mean, 4), round(estimate.standard_error, 4)
    (8.0799, 0.1389)
    """
    values = _read_sums(sums, users)
    if values.ndim != 1:
        check.refuse("sums", "be one dataset, of shape (L,)", f"shape {values.shape}")
    n_trials = check.integer("n_trials", n_trials, least=2)
    cells = _cells_of(values, users, rank(eps), read_eps(eps) / 4)
    cell, threshold = _draw_from(cells, check.rng(rng), (n_trials,))
    clipped_away = _total_reaching(cells)[cell] - cell * threshold
    errors = (clipped_away + noise_scale(2 * threshold, eps)) / users.total
    return Estimate(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(n_trials)))


# Cells of a probability below exp(-_NEGLIGIBLE) are left out, and so is noise that adds less than
# this part of its scale to the bias.
_NEGLIGIBLE = 40.0

_LEGENDRE = np.polynomial.legendre.leggauss(10)  # nodes and weights on [-1, 1]


def akmv_mean_error(
    sums: npt.ArrayLike,
    users: Contributions,
    eps: Epsilon,
    *,
    threshold_share: float = 0.5,
    noise_share: float = 0.5,
    below: float = 0.0,
) -> Floats:
    """Return the mean absolute error of `akmv` on given datasets, noise and T integrated out.

    This is not the E_AKMV of Section IV-C (see `akmv_error`, which adds the mean absolute value of
    the noise to the mean bias), but the error E|M(D) - f(D)| of Section IV-D, for one dataset D.
    Details that the paper leaves open are parameters: the rank that T targets, and the budgets of T
    and of the noise.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
    users : Contributions
    eps : Epsilon
        Privacy budget of T and of the noise together (dimensionless, public), if the shares below
        add up to one.
    threshold_share, noise_share : float, optional
        The budgets of T and of the noise, as parts of eps; together they exceed eps if the parts
        add up to more than one. The rank is ceil(1 / (noise_share eps)), the best one for that
        noise.
    below : float, optional
        How far the target lies below that rank: 1/2 treats the cells on both sides of the sum of
        that rank alike.

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        See `laplace_mean_error`; also if a share is not positive and finite, or `below` not finite.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(akmv_mean_error([3.0, 1.0], users, eps=1).round(6))
    0.881332
    >>> float(akmv_mean_error([3.0, 1.0], users, 1, threshold_share=0.1, noise_share=0.9).round(6))
    0.596675
    """
    budget = read_eps(eps)
    noise_part = check.positive("noise_share", noise_share)
    threshold_part = check.positive("threshold_share", threshold_share)
    # If half of the budget is for the noise, pass eps as it was given: `rank` depends on its type.
    target = rank(eps if noise_part == 0.5 else 2 * noise_part * float(budget))
    values = _read_sums(sums, users)
    eta = Fraction(threshold_part) * budget / 2
    law = _cells_of(values, users, target, eta, check.real("below", below))
    return capped_mean_error(law, users, Fraction(noise_part) * budget)


def capped_mean_error(law: Cells, users: Contributions, eps: Epsilon) -> Floats:
    """Return the mean absolute error for sums capped at a random T, and noise of scale T/(N eps).

    In cell c the c largest sums exceed T = t, so N times the bias is D(t) = P - c t, where P is
    their sum, and N times the scale is t/eps. With x(t) = eps P / t, the amount by which the noise
    increases the mean absolute error has an antiderivative:

        integral of (t/eps) exp(-eps D(t) / t) dt = (t^2/eps) exp(eps c) E_3(x(t)),

    where E_3 is the exponential integral. If a cell is so narrow that the difference of two values
    would lose digits, ten-point Gauss-Legendre quadrature replaces it.

    Parameters
    ----------
    law : Cells
        The distribution of T, as returned by `quantile_cells`, possibly with other probabilities.
    users : Contributions
    eps : Epsilon
        Privacy budget of the noise alone.

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    TypeError, ValueError
        If `law` is not a Cells instance with L + 1 cells, or `eps` is not a privacy budget.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> law = quantile_cells([3.0, 1.0], users, rank=2, eps="0.5")
    >>> float(capped_mean_error(law, users, eps="0.5").round(6))
    0.881332
    """
    check.instance("users", users, Contributions)
    check.instance("law", law, Cells)
    if any(np.shape(part)[-1:] != (users.n_users + 1,) for part in law[:3]):
        rule = f"have one cell more than there are users ({users.n_users})"
        check.refuse("law", rule, f"shapes {[np.shape(part) for part in law[:3]]}")
    budget = float(read_eps(eps))
    capped = np.broadcast_to(np.arange(users.n_users + 1.0), law.lower.shape)
    sum_capped = _total_reaching(law)
    error = np.maximum(sum_capped - capped * (law.lower + law.upper) / 2, 0.0)
    # Leave out cells where the bias far exceeds the noise, and cells that are hardly ever drawn.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exponent = budget * (sum_capped / law.upper - capped)
    matters = (law.probability > np.exp(-_NEGLIGIBLE)) & (exponent < _NEGLIGIBLE)
    cells = np.stack([part[matters] for part in (law.lower, law.upper, sum_capped, capped)])
    error[matters] += _mean_noise(cells, budget)
    result: Floats = np.sum(law.probability * error, axis=-1) / users.total
    return result


def _mean_noise(cells: Floats, eps: float) -> Floats:
    """Return the mean over each cell of s exp(-D/s), s = t/eps and D = sum_capped - capped * t.

    The rows of `cells` are the lower and upper ends, sum_capped and capped.
    """
    lower, upper, sum_capped, _ = cells
    width = upper - lower
    # In a narrow cell exp(-D/s) varies little, and t = 0 is far away.
    narrow = (width * (1 + eps * sum_capped / upper) < 4 * upper) & (2 * width < upper)
    mean: Floats = np.empty_like(width)
    mean[narrow] = _by_quadrature(cells[:, narrow], eps)
    mean[~narrow] = _by_antiderivative(cells[:, ~narrow], eps)
    return mean


def _by_quadrature(cells: Floats, eps: float) -> Floats:
    """Return the mean of s exp(-D/s) by Gauss-Legendre quadrature."""
    lower, upper, sum_capped, capped = cells
    middle = (lower + upper) / 2
    half = (upper - lower) / 2
    total: Floats = np.zeros_like(middle)
    for node, weight in np.transpose(_LEGENDRE):
        t = middle + node * half
        total += weight * t * np.exp(eps * (capped - sum_capped / t))
    return total / (2 * eps)


def _by_antiderivative(cells: Floats, eps: float) -> Floats:
    """Return the mean of s exp(-D/s) from its antiderivative at both ends.

    It is (t^2/eps) exp(eps * capped) E_3(eps * sum_capped / t), and zero at t = 0.
    """
    ends = cells[:2]
    sum_capped, capped = cells[2:]
    with np.errstate(over="ignore"):  # near zero: exp(-x) vanishes there
        x = eps * sum_capped / np.maximum(ends, 5e-324)
    at_lower, at_upper = ends**2 / eps * np.exp(eps * capped - x) * _scaled_e3(x)
    mean: Floats = (at_upper - at_lower) / (ends[1] - ends[0])
    return mean


def _scaled_e3(x: Floats) -> Floats:
    """Evaluate exp(x) E_3(x) for x >= 0, even where E_3 alone would underflow."""
    small = np.minimum(x, 2.0)
    logarithm = np.log(np.maximum(small, 5e-324))  # multiplied by 0 where x is 0
    series: Floats = small**2 / 2 * (1.5 - np.euler_gamma - logarithm)
    term = np.ones_like(small)  # (-x)^k / k!
    for k in range(26):
        if k != 2:
            series -= term / (k - 2)
        term *= -small / (k + 1)
    # The continued fraction 1/(x+3 - 1*3/(x+5 - 2*4/(x+7 - ...))).
    large = np.maximum(x, 2.0)
    tail = np.zeros_like(large)
    for level in range(50, 0, -1):
        tail = level * (level + 2) / (large + 3 + 2 * level - tail)
    return np.where(x < 2, np.exp(small) * series, 1 / (large + 3 - tail))
