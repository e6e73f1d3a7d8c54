"""Vectors in a ball: user sums clipped radially, and noise that prefers no direction.

Samples are vectors of d coordinates and of Euclidean length at most R; the bound of the users is
the diameter, U = 2R. Clipping every user's sum to one ball has the least worst-case bias that its
sensitivity permits, as a scalar problem with this U: `smallest_bias` says how little. The noise
enters with its mean length w for sensitivity 1 alone: the best threshold is the ceil(2w)-th largest
U m_l, and the smallest worst-case error (U / 2N) H(2w).

Of a privacy budget eps the noise has a density proportional to exp(-eps |z| / sensitivity), and
w = d / eps; these are the threshold and the error of the scalar problem at the budget eps / d. A
`GaussianNoise` in place of the budget is added to each coordinate: w = sigma sqrt(2)
Gamma((d+1)/2) / Gamma(d/2), between sigma sqrt(d - 1) and sigma sqrt(d).
"""

from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Exact, Floats, RNGLike
from userdp.model import _ROUNDING, Contributions, Epsilon, rank, read_eps
from userdp.noise import _noise_scale
from userdp.vectors._gaussian import GaussianNoise
from userdp.vectors._lengths import gamma_distance, gaussian_distance
from userdp.worstcase import _largest_counts, sum_of_largest

BallBudget = Epsilon | GaussianNoise
"""A privacy budget, or the law of the noise of each coordinate."""


def clip_to_ball(sums: npt.ArrayLike, radius: float) -> Floats:
    """Shorten vectors to a length of at most `radius`, each in its own direction.

    Parameters
    ----------
    sums : array_like of float, shape (..., d)
        Vectors, along the last axis.
    radius : float
        The largest length that is left, in the unit of the vectors; public.

    Returns
    -------
    ndarray of float64, shape (..., d)
        Vectors that are longer, shortened; all others as they are.

    Raises
    ------
    TypeError, ValueError
        If `sums` does not hold real and finite numbers along at least one axis, or `radius` is not
        real, finite and at least 0.

    Examples
    --------
    >>> clip_to_ball([[3, 4], [0, -1]], radius=2.5)
    array([[ 1.5,  2. ],
           [ 0. , -1. ]])
    """
    vectors, most = check.floats("sums", sums), float(check.size("radius", radius))
    if vectors.ndim == 0:
        raise ValueError("`sums` must hold vectors along its last axis, got a single number.")
    scaled, unit = _in_own_units(vectors)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    with np.errstate(over="ignore"):  # of a radius beyond all lengths
        too_long = length > most / unit
    shorter = scaled * np.divide(most, length, out=np.ones_like(length), where=too_long)
    return np.where(too_long, shorter, vectors)


def ball_threshold(users: Contributions, eps: BallBudget, d: int) -> Exact:
    """Return the best threshold T in d dimensions: user sums are clipped to the length T/2.

    The ceil(2w)-th largest U m_l, w being the mean length of the noise for sensitivity 1, or 0 if
    there are fewer users.

    Parameters
    ----------
    users : Contributions
        The public counts, and the diameter U = 2R of the ball of the samples.
    eps : float, Fraction, Decimal, str or GaussianNoise
        Privacy budget (dimensionless, public); or the law of the noise of each coordinate.
    d : int
        Number of coordinates, at least 1.

    Returns
    -------
    float or Fraction
        In the unit of the samples; a Fraction if the diameter is one.

    Raises
    ------
    TypeError, ValueError
        If `users` is no Contributions or `d` no integer from 1 to 2^53; as `read_eps`.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=2)
    >>> ball_threshold(users, 2, d=2), ball_threshold(users, GaussianNoise.zcdp(2), d=2)
    (4.0, 4.0)
    """
    check.instance("users", users, Contributions)
    k = _length(eps, d).rank
    reached = k <= users.n_users
    return users.upper * (int(_largest_counts(users, k).min()) if reached else 0)


def ball_error(users: Contributions, eps: BallBudget, d: int) -> Exact:
    """Return the guarantee of `mean_in_ball`, the smallest of any estimator with this noise.

    It is (U / 2N) H(2w), with H(x) the fractional sum of the x largest counts, and bounds the mean
    distance between release and mean on every dataset.

    Parameters
    ----------
    users, eps, d
        As in `ball_threshold`.

    Returns
    -------
    float or Fraction
        Worst-case bias plus mean length of the noise, in the unit of the samples; exact if the
        diameter is a Fraction and `eps` a budget.

    Raises
    ------
    TypeError, ValueError
        As `ball_threshold`.

    Examples
    --------
    >>> users = Contributions([4] * 50 + [1] * 200, upper=2)
    >>> law = GaussianNoise.approximate(eps=1, delta=1e-6)
    >>> [[round(ball_error(users, noise, d), 3) for noise in (1, law)] for d in (1, 100)]
    [[0.02, 0.067], [0.875, 0.586]]
    """
    check.instance("users", users, Contributions)
    largest = sum_of_largest(users, 2 * Fraction(_length(eps, d).mean))
    error = Fraction(users.upper) / (2 * users.total) * largest
    return error if users.is_exact else float(error)


def mean_in_ball(
    sums: npt.ArrayLike, users: Contributions, eps: BallBudget, *, rng: RNGLike | None = None
) -> Floats:
    """Release the mean of vectors in a ball, user sums clipped radially to half of the threshold.

    User-level eps-DP for replacing one user's samples, counts and diameter public, or private in
    the ways of the `GaussianNoise` given; not safe for production (see the note on floating point
    in `userdp.mechanisms`). The worst-case error, bias plus mean length of the noise, is
    `ball_error`.

    Parameters
    ----------
    sums : array_like of float, shape (..., L, d)
        Each user's sum of samples, of length at most R m_l.
    users : Contributions
        The public counts, and the diameter U = 2R of the ball of the samples.
    eps : float, Fraction, Decimal, str or GaussianNoise
        Privacy budget (dimensionless, public); or the law of the noise of each coordinate.
    rng : Generator or seed, optional
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (..., d)
        One release for each dataset, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `sums` does not fit `users` or a sum is longer than R m_l; as `read_eps`; if `rng` is no
        source of randomness.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=2)
    >>> mean_in_ball([[2.0, 1.0], [0.0, -1.0]], users, eps=4, rng=0).round(4)
    array([ 1.1274, -0.7643])
    """
    vectors, generator = _read_vectors(sums, users), check.rng(rng)
    d = vectors.shape[-1]
    width = float(ball_threshold(users, eps, d))
    total = clip_to_ball(vectors, width / 2).sum(axis=-2)
    if isinstance(eps, GaussianNoise):
        noise = eps.draw(width, total.shape, generator)
    else:
        way = generator.standard_normal(total.shape)
        way /= np.linalg.norm(way, axis=-1, keepdims=True)
        noise = way * generator.gamma(d, _noise_scale(width, eps), total.shape[:-1])[..., None]
    release: Floats = (total + noise) / users.total
    return release


def ball_mean_error(sums: npt.ArrayLike, users: Contributions, eps: BallBudget) -> Floats:
    """Return the mean error of `mean_in_ball` on given datasets, noise integrated out.

    The mean length of bias plus noise. With Gaussian noise of standard deviation s in each of d
    coordinates and a bias of length b it is s chi_d 1F1(-1/2; d/2; -b^2 / (2 s^2)), chi_d the mean
    length of the standard noise; of a privacy budget, an integral over the length of the noise.

    Parameters
    ----------
    sums, users, eps
        As in `mean_in_ball`.

    Returns
    -------
    ndarray of float64, shape (...)
        One mean distance for each dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        As `mean_in_ball`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=2)
    >>> round(float(ball_mean_error([[2.0, 1.0], [0.0, -1.0]], users, eps=2)), 6)
    0.467621
    """
    vectors = _read_vectors(sums, users)
    d = vectors.shape[-1]
    width = float(ball_threshold(users, eps, d))
    lost = (vectors - clip_to_ball(vectors, width / 2)).sum(axis=-2)
    bias = _lengths(lost) / users.total
    if width == 0:
        return bias
    if isinstance(eps, GaussianNoise):
        return gaussian_distance(bias, float(eps._scale(width)) / users.total, d)
    return gamma_distance(bias, float(_noise_scale(width, eps)) / users.total, d)


class _Length(NamedTuple):
    """The mean length w of noise for sensitivity 1, and ceil(2w)."""

    mean: Exact
    rank: int


def _length(eps: BallBudget, d: int) -> _Length:
    d = check.integer("d", d, least=1, most=2**53)
    if isinstance(eps, GaussianNoise):
        mean = float(gaussian_distance(np.asarray(0.0), eps.sigma, d))
        return _Length(mean, ceil(2 * mean))
    exact = read_eps(eps)
    return _Length(d / exact, rank((eps if isinstance(eps, float) else exact) / d))


def _in_own_units(vectors: Floats) -> tuple[Floats, Floats]:
    """Return each vector in a unit of its own, a power of two, and these units, shape (..., 1).

    The largest coordinate is between 1 and 2: squares neither overflow nor vanish.
    """
    _, exponent = np.frexp(abs(vectors).max(axis=-1, keepdims=True, initial=0.0))
    unit: Floats = np.ldexp(1.0, exponent - 1)
    return vectors / unit, unit


def _lengths(vectors: Floats) -> Floats:
    """Return the lengths of vectors, infinite where they are beyond all floats."""
    scaled, unit = _in_own_units(vectors)
    with np.errstate(over="ignore"):
        lengths: Floats = np.linalg.norm(scaled, axis=-1) * unit[..., 0]
    return lengths


def _read_vectors(sums: npt.ArrayLike, users: Contributions) -> Floats:
    check.instance("users", users, Contributions)
    vectors = check.floats("sums", sums)
    if vectors.ndim < 2 or vectors.shape[-2] != users.n_users or not vectors.shape[-1]:
        raise ValueError(
            f"`sums` must have shape (..., {users.n_users}, d), a vector for each user, "
            f"got sums of shape {vectors.shape}."
        )
    reach = users.largest_sums.astype(np.float64) / 2
    length = _lengths(vectors)
    too_long = length > reach * (1 + _ROUNDING)
    check.refuse_entries("sums", "of length at most R m_l", length, too_long)
    return vectors
