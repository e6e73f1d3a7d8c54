"""From users' sums of vectors to a release meant for the world, with Gaussian noise."""

from math import floor, log2, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats
from userdp.model import Contributions, Epsilon
from userdp.practice._grid import FEWEST_BITS, MOST_BITS
from userdp.practice._noise import LARGEST_SCALE_BITS, ROUNDED, noisy_vector, scale_of
from userdp.practice._quiet import discreet, unquoted
from userdp.practice._result import NOTHING
from userdp.vectors import GaussianNoise, ball_error, ball_threshold
from userdp.vectors._ball import _read_vectors

PROMISE = "user-level, for replacing one user's samples; public: counts, ball and law of the noise"


class ReleaseInBall(NamedTuple):
    """A private mean of vectors, and what may be said about it in public."""

    mean: Floats
    """The release, shape (d,), in the unit of the samples."""
    rho: float
    """The budget spent in zCDP, by OpenDP's own account: at most 1 / (2 sigma^2)."""
    sigma: float
    """Standard deviation of each coordinate's noise for sensitivity 1, as asked for."""
    promise: str
    """What `rho` and `delta` promise, and what is public."""
    radius: float
    """Each user's sum is clipped to this length."""
    sensitivity: float
    """The most by which one user can move the mean, as a length."""
    noise_scale: float
    """Standard deviation of the noise of each coordinate of `mean`."""
    worst_case_error: float
    """Bias, mean length of the noise, and rounding to the grid, on the worst dataset."""

    @discreet
    def delta(self, eps: Epsilon) -> float:
        """Return the smallest known delta for which the release is (eps, delta)-private."""
        return GaussianNoise(self.sigma).delta(eps) if self.rho else 0.0


@discreet
def release_mean_in_ball(
    sums: npt.ArrayLike, users: Contributions, law: GaussianNoise
) -> ReleaseInBall:
    """Release the mean of one dataset of vectors with noise that is safe to publish.

    The mechanism of `mean_in_ball` with Gaussian noise: each user's sum is clipped to the length
    T/2 and rounded towards zero to a grid; OpenDP adds discrete Gaussian noise to each coordinate
    of the total. Private in the ways of the law, user-level, for replacing one user's samples, with
    counts, diameter and law public. There is no seed. Side channels, such as the time taken and
    whether the call is refused, are not protected, and every release spends its own budget.

    Parameters
    ----------
    sums : array_like of float, shape (L, d)
        Each user's sum of samples, of length at most R m_l: protected.
    users : Contributions
        The public counts, and the diameter U = 2R of the ball of the samples.
    law : GaussianNoise
        The noise of each coordinate for sensitivity 1 (public): ``GaussianNoise.zcdp(rho)`` or
        ``GaussianNoise.approximate(eps, delta)``.

    Returns
    -------
    ReleaseInBall

    Raises
    ------
    ImportError
        If OpenDP is not installed: the extra ``userdp[release]``.
    TypeError, ValueError
        If `sums` is not one dataset that fits `users`, or `law` no `GaussianNoise`; if its sigma is
        too large for noise that fits 64 bits.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=2)
    >>> made = release_mean_in_ball([[3, 1], [0, 2], [1, 0]], users, GaussianNoise.zcdp(2))
    >>> round(made.rho, 9), made.radius, round(made.noise_scale, 6), made.mean.shape
    (2.0, 2.0, 0.285714, (2,))
    >>> round(made.worst_case_error, 6), round(made.delta(eps=5), 6)
    (0.643804, 0.032282)
    """
    if not isinstance(law, GaussianNoise):
        check.refuse_kind("law", "a userdp.GaussianNoise", law)
    check.instance("users", users, Contributions)
    rule = "be one vector of real numbers a user, shape (L, d), of length at most R m_l"
    vectors = unquoted("sums", sums, rule, lambda: _read_dataset(sums, users))
    n_users, d = vectors.shape
    reach = _steps(n_users, d, law)
    radius = float(ball_threshold(users, law, d)) / 2
    step, moved = radius / reach, 2 * reach if radius else 0
    total = np.zeros(d, np.int64)
    if radius:
        total = whole_vectors(vectors / step, reach).sum(axis=0)
    noisy = noisy_vector(total, moved, law)
    unit = step / users.total
    # Each user's sum is shortened by a step and rounded by less than one in each coordinate; the
    # noise is that of the law, rounded at random (lemma on whole numbers).
    rounding = (n_users * (1 + sqrt(d)) + (ROUNDED + 1) * sqrt(d)) * unit
    return ReleaseInBall(
        mean=np.multiply(noisy.total, unit),
        rho=noisy.rho,
        sigma=law.sigma,
        promise=PROMISE if moved else NOTHING,
        radius=radius,
        sensitivity=moved * unit,
        noise_scale=scale_of(moved, law) * unit,
        worst_case_error=float(ball_error(users, law, d)) + rounding,
    )


def whole_vectors(vectors: Floats, reach: int) -> npt.NDArray[np.int64]:
    """Clip vectors, shape (L, d), to the length `reach` and round them to whole numbers.

    In whole numbers, and so exactly, none is longer. Clipped to one less, a vector is computed to
    be longer than that by a factor below 1 + (d + 8) 2^-53, so by less than one where
    reach (d + 8) <= 2^52; rounding towards zero makes no coordinate larger.
    """
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    shorter = vectors / np.maximum(length / (reach - 1), 1.0)
    whole: npt.NDArray[np.int64] = np.trunc(shorter).astype(np.int64)
    return whole


def _steps(n_users: int, d: int, law: GaussianNoise) -> int:
    """Return how many steps there are in the radius: a power of two."""
    bits = min(
        MOST_BITS,
        52 - (d + 8).bit_length(),  # for `whole_vectors`
        62 - n_users.bit_length(),  # for the sums of all users
        LARGEST_SCALE_BITS - 2 - floor(log2(law.sigma)),  # for the noise of 2 reach
    )
    if bits < FEWEST_BITS:
        rule = "be of a sigma small enough for noise that fits 64 bits"
        check.refuse("law", rule, f"sigma={law.sigma}")
    return 1 << bits


def _read_dataset(sums: npt.ArrayLike, users: Contributions) -> Floats:
    """Return the sums of one dataset."""
    vectors = _read_vectors(sums, users)
    if vectors.ndim != 2:
        raise ValueError("`sums` must be of one dataset.")
    return vectors
