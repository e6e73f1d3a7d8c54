"""Vectors in a ball: user sums clipped radially, and rotationally symmetric noise.

Samples are vectors with d coordinates and Euclidean length at most R; the bound of `Contributions`
is the diameter of the ball, U = 2R. Clipping every user's sum to one ball has the smallest
worst-case bias of any estimator with its sensitivity. This bias equals that of the scalar problem
with this U: `modulus_of_mean(users).smallest_bias(sensitivity)`.

Let m_l be the users' counts, N their sum, and H(x) the sum of the x largest counts, the last in
proportion if x is not an integer. Of the noise, only the mean length w for sensitivity 1 matters:
the best threshold is the ceil(2w)-th largest U m_l, and the smallest worst-case error is (U / 2N)
H(2w).

For a privacy budget eps the noise has a density proportional to exp(-eps |z| / sensitivity), and w
= d / eps; threshold and error are those of the scalar problem at the budget eps / d. A
`GaussianNoise` in place of the budget is added to each coordinate: w = sigma sqrt(2) Gamma((d+1)/2)
/ Gamma(d/2), between sigma sqrt(d - 1) and sigma sqrt(d). `sums`, shape (..., L, d), holds each
user's sum of samples, of length at most R m_l, and is protected.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil, lgamma, pi, sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import gammainccinv, hyp2f1

from userdp import _checks as check
from userdp._checks import Floats, Real, RNGLike
from userdp.beyond.errors import optimal_error_for_noise
from userdp.beyond.noise import GaussianNoise
from userdp.model import _ROUNDING, Contributions, Epsilon, Number, _as_bound, rank, read_eps
from userdp.noise import noise_scale
from userdp.worstcase import _nth_largest_sum

__all__ = [
    "GaussianNoise",
    "ball_error",
    "ball_mean_error",
    "ball_threshold",
    "clip_to_ball",
    "mean_in_ball",
]

# A privacy budget, or the law of the noise of each coordinate.
BallBudget = Epsilon | GaussianNoise

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)


def clip_to_ball(sums: npt.ArrayLike, radius: float) -> Floats:
    """Shorten vectors to a length of at most `radius`, keeping their directions.

    Parameters
    ----------
    sums : array_like of float, shape (..., d)
        Vectors, along the last axis.
    radius : float
        The largest length of the result, in the unit of the vectors; public.

    Returns
    -------
    ndarray of float64, shape (..., d)
        Longer vectors are shortened; all others are unchanged.

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
    vectors = check.floats("sums", sums)
    limit = float(check.nonnegative("radius", radius))
    if vectors.ndim == 0:
        raise ValueError("`sums` must hold vectors along its last axis, got a single number.")
    scaled, power = _split_off_powers_of_two(vectors)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    with np.errstate(over="ignore"):  # if the radius far exceeds the vector
        too_long = length > limit / power
    shorter = scaled * np.divide(limit, length, out=np.ones_like(length), where=too_long)
    return np.where(too_long, shorter, vectors)


def ball_threshold(users: Contributions[Number], budget: BallBudget, d: int) -> Number:
    """Return the best threshold T in d dimensions: user sums are clipped to the length T/2.

    It is the ceil(2w)-th largest U m_l, where w is the mean length of the noise for sensitivity 1,
    or 0 if there are fewer users.

    Parameters
    ----------
    users : Contributions
        The public counts, and the diameter U = 2R of the ball of the samples.
    budget : Epsilon or GaussianNoise
        Privacy budget, or the law of the noise of each coordinate.
    d : int
        Number of coordinates, at least 1.

    Returns
    -------
    float or Fraction
        In the unit of the samples; a Fraction if the diameter is one.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, `budget` is neither a privacy budget nor a
        `GaussianNoise`, or `d` is not an integer from 1 to 2^53.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=2)
    >>> ball_threshold(users, 2, d=2), ball_threshold(users, GaussianNoise.zcdp(2), d=2)
    (4.0, 4.0)
    """
    check.instance("users", users, Contributions)
    return _nth_largest_sum(users, _vector_noise(budget, d).rank)


def ball_error(users: Contributions[Number], budget: BallBudget, d: int) -> Number:
    """Return the guarantee of `mean_in_ball`: worst-case bias plus mean length of the noise.

    It is (U / 2N) H(2w), where H(x) is the sum of the x largest counts, the last in proportion if x
    is not an integer, and bounds the mean distance between release and mean on every dataset. No
    estimator that adds noise of this law, scaled to its own sensitivity, has a smaller worst-case
    bias plus mean length of the noise.

    Parameters
    ----------
    users : Contributions
    budget : Epsilon or GaussianNoise
    d : int

    Returns
    -------
    float or Fraction
        Worst-case bias plus mean length of the noise, in the unit of the samples; exact if the
        diameter is a Fraction and `budget` a number.

    Raises
    ------
    TypeError, ValueError
        See `ball_threshold`.

    Examples
    --------
    >>> users = Contributions([4] * 50 + [1] * 200, upper=2)
    >>> law = GaussianNoise.approximate(eps=1, delta=1e-6)
    >>> [[round(ball_error(users, noise, d), 3) for noise in (1, law)] for d in (1, 100)]
    [[0.02, 0.067], [0.875, 0.586]]
    """
    check.instance("users", users, Contributions)
    return _as_bound(users, optimal_error_for_noise(users, _vector_noise(budget, d).mean_length))


def mean_in_ball(
    sums: npt.ArrayLike, users: Contributions, budget: BallBudget, *, rng: RNGLike | None = None
) -> Floats:
    """Release the mean of vectors in a ball, with user sums clipped radially to half the threshold.

    User-level eps-DP under replacement of all samples of one user, with public counts and diameter,
    or the privacy guarantees of the given `GaussianNoise`; not safe for production (see the note on
    floating point in `userdp.mechanisms`). The worst-case error, bias plus mean length of the
    noise, is `ball_error`.

    Parameters
    ----------
    sums : array_like of float, shape (..., L, d)
        Each user's sum of samples, of length at most R m_l, protected.
    users : Contributions
        The public counts, and the diameter U = 2R of the ball of the samples.
    budget : Epsilon or GaussianNoise
        Privacy budget, or the law of the noise of each coordinate.
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (..., d)
        One release for each dataset, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `sums` does not fit `users`, a sum is longer than R m_l, `budget` is neither a privacy
        budget nor a `GaussianNoise`, or `rng` is not a source of randomness.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=2)
    >>> mean_in_ball([[2.0, 1.0], [0.0, -1.0]], users, 4, rng=0).round(4)
    array([ 1.1274, -0.7643])
    """
    vectors = _read_vectors(sums, users)
    generator = check.rng(rng)
    d = vectors.shape[-1]
    threshold = float(ball_threshold(users, budget, d))
    total = clip_to_ball(vectors, threshold / 2).sum(axis=-2)
    noise = _vector_noise(budget, d).draw(threshold, total.shape, generator)
    release: Floats = (total + noise) / users.total
    return release


def ball_mean_error(sums: npt.ArrayLike, users: Contributions, budget: BallBudget) -> Floats:
    """Return the expected distance of a release of `mean_in_ball` from the mean, on given datasets.

    It is the mean length of bias plus noise, with the noise integrated out. For Gaussian noise of
    standard deviation s in each of d coordinates and a bias of length b it is s chi_d 1F1(-1/2;
    d/2; -b^2 / (2 s^2)), where chi_d is the mean length of the standard noise; for a privacy
    budget, it is an integral over the length of the noise.

    Parameters
    ----------
    sums : array_like of float, shape (..., L, d)
    users : Contributions
    budget : Epsilon or GaussianNoise

    Returns
    -------
    ndarray of float64, shape (...)
        One expected distance per dataset, in the unit of the samples; a scalar for one dataset.

    Raises
    ------
    TypeError, ValueError
        See `mean_in_ball`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=2)
    >>> round(float(ball_mean_error([[2.0, 1.0], [0.0, -1.0]], users, 2)), 6)
    0.467621
    """
    vectors = _read_vectors(sums, users)
    d = vectors.shape[-1]
    threshold = float(ball_threshold(users, budget, d))
    removed = (vectors - clip_to_ball(vectors, threshold / 2)).sum(axis=-2)
    bias = _lengths(removed) / users.total
    if threshold == 0:
        return bias
    return _vector_noise(budget, d).mean_distance(bias, threshold, users.total)


class _VectorNoise(ABC):
    """Rotationally symmetric noise Z with d coordinates, for sensitivity 1.

    Attributes
    ----------
    mean_length : float or Fraction
        w, the mean length of Z.
    rank : int
        ceil(2w): the best threshold is the `rank`-th largest U m_l.
    """

    mean_length: Real
    rank: int

    @abstractmethod
    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw noise, shape (..., d), for vectors that one user can move by this sensitivity."""

    @abstractmethod
    def mean_distance(self, bias: Floats, sensitivity: float, n: int) -> Floats:
        """Return the mean length of b + (sensitivity / n) Z for vectors b of given lengths."""


class _GaussianVectorNoise(_VectorNoise):
    """Independent Gaussian noise of one law in each of d coordinates."""

    def __init__(self, law: GaussianNoise, d: int) -> None:
        self.law = law
        self.d = d
        self.mean_length = float(_gaussian_distance(np.asarray(0.0), law.sigma, d))
        self.rank = ceil(2 * self.mean_length)

    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw noise, shape (..., d), for vectors that one user can move by this sensitivity."""
        return self.law.draw(sensitivity, shape, rng)

    def mean_distance(self, bias: Floats, sensitivity: float, n: int) -> Floats:
        """Return the mean length of b + (sensitivity / n) Z for vectors b of given lengths."""
        scale = float(self.law._scale(sensitivity)) / n
        return _gaussian_distance(bias, scale, self.d)


class _PureVectorNoise(_VectorNoise):
    """Noise of density proportional to exp(-eps |z|).

    Its length has the gamma distribution with shape d and scale 1/eps.
    """

    def __init__(self, eps: Epsilon, d: int) -> None:
        self.eps = eps
        self.d = d
        exact = read_eps(eps)
        self.mean_length = d / exact
        # Keep a float a float, because `rank` allows for its rounding.
        budget = eps if isinstance(eps, float) else exact
        self.rank = rank(budget / d)

    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw noise, shape (..., d), for vectors that one user can move by this sensitivity."""
        direction = rng.standard_normal(shape)
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        length = rng.gamma(self.d, noise_scale(sensitivity, self.eps), shape[:-1])
        noise: Floats = direction * length[..., None]
        return noise

    def mean_distance(self, bias: Floats, sensitivity: float, n: int) -> Floats:
        """Return the mean length of b + (sensitivity / n) Z for vectors b of given lengths."""
        scale = float(noise_scale(sensitivity, self.eps)) / n
        return _gamma_distance(bias, scale, self.d)


def _vector_noise(budget: BallBudget, d: int) -> _VectorNoise:
    """Return the noise in d dimensions for a budget, or for the law of each coordinate."""
    dimensions = check.integer("d", d, least=1, most=2**53)
    if isinstance(budget, GaussianNoise):
        return _GaussianVectorNoise(budget, dimensions)
    read_eps(budget, "budget")
    return _PureVectorNoise(budget, dimensions)


def _split_off_powers_of_two(vectors: Floats) -> tuple[Floats, Floats]:
    """Return each vector divided by a power of two, and these powers, shape (..., 1).

    The largest absolute coordinate of a quotient is in [1, 2) unless the vector is 0, so the sum of
    squares neither overflows nor underflows.
    """
    _, exponent = np.frexp(abs(vectors).max(axis=-1, keepdims=True, initial=0.0))
    power: Floats = np.ldexp(1.0, exponent - 1)
    return vectors / power, power


def _lengths(vectors: Floats) -> Floats:
    """Return the lengths of vectors, infinite where they exceed all floats."""
    scaled, power = _split_off_powers_of_two(vectors)
    with np.errstate(over="ignore"):
        lengths: Floats = np.linalg.norm(scaled, axis=-1) * power[..., 0]
    return lengths


def _read_vectors(sums: npt.ArrayLike, users: Contributions) -> Floats:
    check.instance("users", users, Contributions)
    vectors = check.floats("sums", sums)
    if vectors.ndim < 2 or vectors.shape[-2] != users.n_users or not vectors.shape[-1]:
        raise ValueError(
            f"`sums` must have shape (..., {users.n_users}, d), one vector per user, "
            f"got sums of shape {vectors.shape}."
        )
    largest = users.largest_sums.astype(np.float64) / 2
    length = _lengths(vectors)
    too_long = length > largest * (1 + _ROUNDING)
    check.refuse_entries("sums", "of length at most R m_l", length, too_long)
    return vectors


def _gaussian_distance(bias: Floats, scale: float, d: int) -> Floats:
    """Return E|b + s Z| for vectors b of given lengths and standard normal Z.

    For s = 1 it is sqrt(2/pi) times the integral of (1 - (cos t)^d e^(-x (sin t)^2)) / (sin t)^2
    from 0 to pi/2, where x = b^2 / 2. (`scipy.special.hyp1f1` of SciPy 1.17 is infinite for some x
    if d >= 100.) With M = x + d/2, the power times the exponential is negligible where M (sin t)^2
    exceeds 40; there the integral of 1 / (sin t)^2 is a cotangent.
    """
    ratio, is_far = _in_units_of_scale(bias, scale, d)
    x = ratio**2 / 2
    end = np.arcsin(np.minimum(1, np.sqrt(40 / (x + d / 2))))
    square = np.sin(end * (1 + _NODES) / 2) ** 2
    heights = -np.expm1(d / 2 * np.log1p(-square) - x * square) / square
    integral = end[..., 0] / 2 * (heights @ _WEIGHTS) + 1 / np.tan(end[..., 0])
    distance: Floats = np.where(is_far, bias, scale * sqrt(2 / pi) * integral)[()]
    return distance


def _gamma_distance(bias: Floats, scale: float, d: int) -> Floats:
    """Return E|b + s Z| for vectors b of given lengths and Z of density proportional to exp(-|z|).

    Averaged over the directions of Z, the length of the sum of two vectors is the longer length
    times 2F1(-1/2, (1-d)/2; d/2; t^2), where t is the ratio of the shorter to the longer.
    """
    ratio, is_far = _in_units_of_scale(bias, scale, d)
    shortest, longest = gammainccinv(d, [1 - 1e-16, 1e-18])
    begin = np.clip(ratio, shortest, longest)
    position = (1 + _NODES) / 2
    integral = np.zeros(np.shape(bias))
    for end in (shortest, longest):
        # The nodes cluster at `begin`, because a derivative of the integrand, of an order that
        # depends on d, is discontinuous where both lengths are equal.
        length = begin + (end - begin) * position**3
        longer = np.maximum(ratio, length)
        shorter = np.minimum(ratio, length)
        mean = longer * _mean_over_directions((shorter / longer) ** 2, d)
        density = np.exp((d - 1) * np.log(length) - length - lgamma(d))
        heights = mean * density * position**2
        integral += np.abs(end - begin)[..., 0] * (heights @ (1.5 * _WEIGHTS))
    distance: Floats = np.where(is_far, bias, scale * integral)[()]
    return distance


def _in_units_of_scale(bias: Floats, scale: float, d: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return b / s, at most 1e8 d, with one more axis; and whether b / s exceeds this limit.

    Beyond it, the noise adds nothing.
    """
    with np.errstate(over="ignore"):
        ratio = np.asarray(bias / scale)
    limit = 1e8 * d
    return np.minimum(ratio, limit)[..., None], ratio > limit


def _mean_over_directions(square: Floats, d: int) -> Floats:
    """Return 2F1(-1/2, (1-d)/2; d/2; t^2) for t from 0 to 1.

    Near 1, `scipy.special.hyp2f1` (SciPy 1.17) is nan for even d >= 136. The series, whose terms
    fall like exp(-2 k^2 / d), replaces it well below that; for the smallest d it needs more terms.
    """
    if d <= 30:
        mean: Floats = hyp2f1(-0.5, (1 - d) / 2, d / 2, square)
        return mean
    term = total = np.ones_like(square)
    for k in range(20 + int(6 * sqrt(d))):
        term = term * square * ((k - 0.5) * (k + (1 - d) / 2) / ((k + d / 2) * (k + 1)))
        total = total + term
    return total
