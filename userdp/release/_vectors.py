"""The private mean of vectors, from users' sums, with Gaussian noise that is safe to publish."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import gammainccinv

from userdp import _checks as check
from userdp._checks import Floats
from userdp.beyond.noise import GaussianNoise
from userdp.beyond.vectors import _read_vectors, ball_error, ball_threshold
from userdp.model import Contributions
from userdp.release._grid import read_grid
from userdp.release._intervals import read_level
from userdp.release._noise import LARGEST_SCALE, load_opendp, noisy_vector, scale_of, shift_for
from userdp.release._quiet import discreet, unquoted
from userdp.release._results import Release
from userdp.release._wording import NOTHING

RADIUS_BITS = 40
"""Bits of the radius, in steps."""

COUNTS_AND_BALL_PUBLIC = (
    "user-level, for replacing one user's samples; public: counts, ball and law of the noise"
)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class ReleaseInBall(Release):
    """A private mean of vectors, and what is known about its error.

    Errors are lengths. `rho` is the budget spent in zCDP, by OpenDP's accounting: at most
    1 / (2 sigma^2). All of it may be published.
    """

    kind: ClassVar[str] = "private mean of vectors"

    mean: Floats
    """The release, shape (d,), in the unit of the samples."""
    n_records: int
    n_users: int
    radius: float
    """Each user's sum is clipped to this length."""
    sensitivity: float
    """The most by which one user can move the mean, as a length."""
    noise_scale: float
    """Standard deviation of the noise of each coordinate of `mean`."""
    worst_case_bias: float
    """How far clipping can move the mean, as a length."""
    rounding: float
    """The most that rounding to whole steps can add to an error."""

    @discreet
    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return a box that contains the mean of the samples with probability at least `level`.

        The level is attained on every dataset with these counts: the box is wide enough for the
        largest bias.

        Parameters
        ----------
        level : float, optional
            The probability, between 0 and 1.

        Returns
        -------
        tuple of two ndarrays of float64, each of shape (d,)
            Its lowest and its highest corner, in the unit of the samples.

        Raises
        ------
        TypeError, ValueError
            If `level` is not a number between 0 and 1.
        """
        # The square of the length of standard noise is twice a gamma variable.
        length = sqrt(2 * gammainccinv(self.mean.size / 2, 1 - read_level(level)))
        margin = self.worst_case_bias + self.noise_scale * length + self.rounding
        return self.mean - margin, self.mean + margin


@discreet
def release_mean_in_ball(
    sums: npt.ArrayLike, users: Contributions, law: GaussianNoise
) -> ReleaseInBall:
    """Release the mean of one dataset of vectors with noise that is safe to publish.

    The mechanism of `userdp.beyond.mean_in_ball` with Gaussian noise: each user's sum is clipped to
    the length T/2 and rounded towards zero to a grid; OpenDP adds discrete Gaussian noise to each
    coordinate of the total. The release has the privacy guarantees of the law, user-level, under
    replacement of all samples of one user, with counts, diameter and law public. There is no seed.
    Side channels, such as the time taken and whether the call raises, are not protected, and every
    release spends its own budget.

    Parameters
    ----------
    sums : array_like of float, shape (L, d)
        Each user's sum of samples, of length at most R m_l: protected.
    users : Contributions
        The public counts, and the diameter U = 2R of the ball of the samples.
    law : GaussianNoise
        The noise of each coordinate for sensitivity 1 (public): ``GaussianNoise.zcdp(rho)`` or
        ``GaussianNoise.approximate(eps, delta)``, of `userdp.beyond`.

    Returns
    -------
    ReleaseInBall

    Raises
    ------
    ImportError
        If OpenDP is not installed: the extra ``userdp[release]``.
    TypeError, ValueError
        If `sums` is not one dataset that fits `users`, or `law` is not a `GaussianNoise`; if its
        sigma is above 2^40.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=2)
    >>> result = release_mean_in_ball([[3, 1], [0, 2], [1, 0]], users, GaussianNoise.zcdp(2))
    >>> round(result.rho, 9), result.radius, round(result.noise_scale, 6), result.mean.shape
    (2.0, 2.0, 0.285714, (2,))
    >>> round(result.worst_case_error, 6), round(result.delta(eps=5), 6)
    (0.643804, 0.032282)
    """
    if not isinstance(law, GaussianNoise):
        check.refuse_kind("law", "a userdp.beyond.GaussianNoise", law)
    if law.sigma > LARGEST_SCALE:
        check.refuse("law", "have a sigma of at most 2^40 for a release", f"sigma={law.sigma}")
    check.instance("users", users, Contributions)
    read_grid(0.0, float(users.upper))  # raises if floats are too coarse for the bounds
    load_opendp()
    rule = "be one vector of real numbers per user, shape (L, d), of length at most R m_l"
    vectors = unquoted("sums", sums, rule, lambda: _read_dataset(sums, users))
    n_users, d = vectors.shape
    radius_in_steps = _steps_in_radius(n_users, d, law)
    radius = float(ball_threshold(users, law, d)) / 2
    step = radius / radius_in_steps
    sensitivity = 2 * radius_in_steps if radius else 0
    total = np.zeros(d, np.int64)
    if radius:
        total = whole_vectors(vectors / step, radius_in_steps).sum(axis=0)
    noisy = noisy_vector(total, sensitivity, law)
    unit = step / users.total
    # Each user's sum is shortened by a step and rounded by less than one in each coordinate; the
    # noise is that of the law, rounded at random (prp-whole-vectors of the book).
    rounding = (n_users * (1 + sqrt(d)) + (law.rounding + 1) * sqrt(d)) * unit
    clipped = np.minimum(users.largest_sums.astype(np.float64) / 2, radius)
    return ReleaseInBall(
        mean=np.multiply(noisy.values, unit),
        eps=None,
        rho=noisy.spent,
        sigma=law.sigma,
        privacy_unit=COUNTS_AND_BALL_PUBLIC if sensitivity else NOTHING,
        worst_case_error=float(ball_error(users, law, d)) + rounding,
        n_records=users.total,
        n_users=n_users,
        radius=radius,
        sensitivity=sensitivity * unit,
        noise_scale=scale_of(sensitivity, law) * unit,
        worst_case_bias=float((users.largest_sums / 2 - clipped).sum()) / users.total,
        rounding=rounding,
    )


def whole_vectors(vectors: Floats, max_length: int) -> npt.NDArray[np.int64]:
    """Clip vectors, shape (L, d), to a length and round them to whole numbers.

    In whole numbers, and so exactly, none is longer than `max_length`. Vectors are clipped
    to a length of one less; in floats they may exceed this by a factor below 1 + (d + 8) 2^-53, so
    by less than one if max_length (d + 8) <= 2^52, and rounding towards zero makes no coordinate
    larger.
    """
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    shorter = vectors / np.maximum(length / (max_length - 1), 1.0)
    whole: npt.NDArray[np.int64] = np.trunc(shorter).astype(np.int64)
    return whole


def _steps_in_radius(n_users: int, d: int, law: GaussianNoise) -> int:
    """Return the number of steps in the radius: a power of two.

    It has at most 40 bits, and few enough that `whole_vectors` is exact, and sums and noise fit.
    """
    bits = min(RADIUS_BITS, 52 - (d + 8).bit_length())
    max_steps = 1 << bits
    return max_steps >> shift_for(n_users * max_steps, 2 * max_steps, law)


def _read_dataset(sums: npt.ArrayLike, users: Contributions) -> Floats:
    """Return the sums of one dataset."""
    vectors = _read_vectors(sums, users)
    if vectors.ndim != 2:
        raise ValueError("`sums` must be one dataset, of shape (L, d).")
    return vectors
