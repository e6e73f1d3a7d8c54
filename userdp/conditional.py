"""Errors given the data, with the noise (and AKMV's threshold) integrated out exactly.

For Laplace noise Z of scale s and a bias d, E|d + Z| = |d| + s exp(-|d|/s). What a simulation of a
mechanism adds to the scatter of the data, its own randomness, is thereby averaged over: the
Rao-Blackwell idea. These are properties of datasets, computed from protected data; none of them is
a private release.
"""

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy.special import expn

from userdp._checks import Exact, check_instance
from userdp.budget import Epsilon, rank, read_eps
from userdp.mechanisms import centred_ends
from userdp.model import Contributions
from userdp.noise import NoiseName, Objective, noise_scale, noisy_error, read_noise
from userdp.quantile import Cells, quantile_cells, read_sums, sums_reaching
from userdp.worstcase import read_centre, threshold

NEGLIGIBLE = 40.0
"""Contributions below exp(-NEGLIGIBLE) of the largest term of a sum are left out."""

LEGENDRE = {points: np.polynomial.legendre.leggauss(points) for points in (6, 16)}
"""Nodes and weights on [-1, 1], by their number."""


def laplace_mean_error(
    sums: npt.ArrayLike, users: Contributions, eps: Epsilon
) -> NDArray[np.float64]:
    """Return the mean absolute error of `laplace` on given datasets: U m* / (N eps) on all of them.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l].
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget of each release (dimensionless, public).

    Returns
    -------
    ndarray of float64, shape (...)
        One error for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        If `sums` do not fit `users`; as `read_eps`.

    Examples
    --------
    >>> float(laplace_mean_error([3.0, 1.0], Contributions([4, 1], upper=1), eps=2))
    0.4
    """
    values = read_sums(sums, users)
    scale = noise_scale(float(users.upper) * users.max_count, eps) / users.total
    return noisy_error(np.zeros(values.shape[:-1]), scale)


def opt_worst_case_mean_error(
    sums: npt.ArrayLike,
    users: Contributions,
    eps: Epsilon,
    *,
    objective: Objective = "bound",
    noise: NoiseName = "laplace",
) -> NDArray[np.float64]:
    """Return the mean absolute error of `opt_worst_case` on given datasets, noise integrated out.

    Parameters
    ----------
    sums, users, eps
        As in `laplace_mean_error`.
    objective, noise : str, optional
        As in `opt_worst_case`.

    Returns
    -------
    ndarray of float64, shape (...)
        One error for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `opt_worst_case`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(opt_worst_case_mean_error([4.0, 1.0], users, eps=1).round(6))
    0.344626
    """
    total_width = threshold(users, eps, objective, noise)
    return clipped_mean_error(sums, users, total_width, eps, noise=noise)


def clipped_mean_error(
    sums: npt.ArrayLike,
    users: Contributions,
    total_width: Exact,
    eps: Epsilon,
    *,
    centre: Exact | None = None,
    noise: NoiseName = "laplace",
) -> NDArray[np.float64]:
    """Return the mean absolute error of `clipped_mean` on given datasets, noise integrated out.

    Parameters
    ----------
    sums, users, total_width, eps, centre, noise
        As in `clipped_mean`.

    Returns
    -------
    ndarray of float64, shape (...)
        One error for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `clipped_mean`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(clipped_mean_error([3.0, 1.0], users, 0.5, eps=1, centre=0.7).round(6))
    0.100484
    """
    values, law = read_sums(sums, users), read_noise(noise, eps)
    middle = float(read_centre(users, centre))
    low, high = centred_ends(users, total_width, middle)
    centred = values - users.counts * middle
    bias = (centred - np.clip(centred, low, high)).sum(axis=-1) / users.total
    return law.mean_error(bias, (high - low) / users.total)


def akmv_mean_error(sums: npt.ArrayLike, users: Contributions, eps: Epsilon) -> NDArray[np.float64]:
    """Return the mean absolute error of `akmv` on given datasets, noise and T integrated out.

    Not the E_AKMV of Section IV-C (that is `akmv_error`, which adds the mean size of the noise to
    the mean bias), but the error E|M(D) - f(D)| of Section IV-D, for one dataset D.

    Parameters
    ----------
    sums, users, eps
        As in `laplace_mean_error`.

    Returns
    -------
    ndarray of float64, shape (...)
        One error for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `laplace_mean_error`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> float(akmv_mean_error([3.0, 1.0], users, eps=1).round(6))
    0.881332
    """
    half = read_eps(eps) / 2
    return capped_mean_error(quantile_cells(sums, users, rank(eps), half), users, half)


def capped_mean_error(law: Cells, users: Contributions, eps: Epsilon) -> NDArray[np.float64]:
    """Return the mean absolute error of sums capped at a random T, with noise of scale T/(N eps).

    In cell c the c largest sums exceed T = t, so that N times the bias is D(t) = P - c t, with P
    their sum, and N times the scale is t/eps. With x(t) = eps P / t, the mean size of what the
    noise adds to the bias has an antiderivative:

        integral of (t/eps) exp(-eps D(t) / t) dt = (t^2/eps) exp(eps c) E_3(x(t)),

    E_3 being the exponential integral. Where a cell is so narrow that the difference of two values
    would lose digits, or where it is dear, points of Gauss and Legendre take its place.

    Parameters
    ----------
    law : Cells
        The law of T, as `quantile_cells` returns it; its probabilities may be others.
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget of the noise alone (dimensionless, public).

    Returns
    -------
    ndarray of float64, shape (...)
        One error for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        If `law` is no Cells with L + 1 cells; as `read_eps`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> law = quantile_cells([3.0, 1.0], users, rank=2, eps="0.5")
    >>> float(capped_mean_error(law, users, eps="0.5").round(6))
    0.881332
    """
    check_instance("users", users, Contributions)
    check_instance("law", law, Cells)
    if any(np.shape(part)[-1:] != (users.n_users + 1,) for part in law[:3]):
        raise ValueError(
            f"`law` must have one cell more than there are users ({users.n_users}), "
            f"got shapes {[np.shape(part) for part in law[:3]]}."
        )
    budget = float(read_eps(eps))
    capped = np.broadcast_to(np.arange(users.n_users + 1.0), law.lower.shape)
    sum_capped = sums_reaching(law)
    bias = np.maximum(sum_capped - capped * (law.lower + law.upper) / 2, 0.0)
    # The noise counts for little in cells where it is small beside the bias, or hardly ever drawn.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exponent = budget * (sum_capped / law.upper - capped)
    matters = (law.probability > np.exp(-NEGLIGIBLE)) & (exponent < NEGLIGIBLE)
    noise = np.zeros_like(bias)
    noise[matters] = _mean_noise(
        law.lower[matters], law.upper[matters], sum_capped[matters], capped[matters], budget
    )
    result: NDArray[np.float64] = np.sum(law.probability * (bias + noise), axis=-1) / users.total
    return result


def _mean_noise(
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    sum_capped: NDArray[np.float64],
    capped: NDArray[np.float64],
    eps: float,
) -> NDArray[np.float64]:
    """Mean of s exp(-D/s), with s = t/eps and D = sum_capped - capped * t, over t in each cell."""
    width = upper - lower
    # How much exp(-D/s) varies across the cell, and how far the cell is from t = 0.
    varies = width * (1 + eps * sum_capped / upper) / upper
    narrow = (varies < 1) & (4 * width < upper)
    medium = (varies < 4) & (2 * width < upper) & ~narrow
    mean = np.empty_like(width)
    for points, part in ((6, narrow), (16, medium), (0, ~(narrow | medium))):
        cells = lower[part], upper[part], sum_capped[part], capped[part], eps
        mean[part] = _by_quadrature(points, *cells) if points else _by_antiderivative(*cells)
    return mean


def _by_quadrature(
    points: int,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    sum_capped: NDArray[np.float64],
    capped: NDArray[np.float64],
    eps: float,
) -> NDArray[np.float64]:
    """Return the mean of s exp(-D/s) by Gauss and Legendre."""
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    mean = np.zeros_like(middle)
    for node, weight in zip(*LEGENDRE[points], strict=True):
        t = middle + node * half
        mean += weight * t * np.exp(eps * (capped - sum_capped / t))
    return mean / (2 * eps)


def _by_antiderivative(
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    sum_capped: NDArray[np.float64],
    capped: NDArray[np.float64],
    eps: float,
) -> NDArray[np.float64]:
    """Return the mean of s exp(-D/s) from its antiderivative at both ends."""
    ends = [_antiderivative(end, sum_capped, capped, eps) for end in (upper, lower)]
    return (ends[0] - ends[1]) / (upper - lower)


def _antiderivative(
    t: NDArray[np.float64], sum_capped: NDArray[np.float64], capped: NDArray[np.float64], eps: float
) -> NDArray[np.float64]:
    """Evaluate (t^2/eps) exp(eps * capped) E_3(eps * sum_capped / t); zero at t = 0."""
    positive = np.where(t > 0, t, 1.0)
    with np.errstate(over="ignore"):  # near zero: exp(-x) vanishes there
        x = eps * sum_capped / positive
    value = positive**2 / eps * np.exp(eps * capped - x) * _scaled_e3(x)
    result: NDArray[np.float64] = np.where(t > 0, value, 0.0)
    return result


def _scaled_e3(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evaluate exp(x) E_3(x) for x >= 0, also where E_3 by itself would underflow."""
    far = x > 100
    value = np.empty_like(x)
    value[~far] = np.exp(x[~far]) * expn(3, x[~far])
    # The continued fraction 1/(x+3 - 1*3/(x+5 - 2*4/(x+7 - ...))); six levels are plenty here.
    rest = np.zeros(np.count_nonzero(far))
    for level in range(6, 0, -1):
        rest = level * (level + 2) / (x[far] + 3 + 2 * level - rest)
    value[far] = 1 / (x[far] + 3 - rest)
    return value
