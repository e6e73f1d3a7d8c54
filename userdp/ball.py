"""Vectors in a ball: user sums clipped radially, and noise that depends on length alone.

Samples are vectors of d coordinates and of Euclidean length at most R; the bound of the users is
the diameter, U = 2R. Clipping every user's sum to one ball has the least worst-case bias that its
sensitivity permits, as a scalar problem with this U: `smallest_bias` says how little. With noise of
density proportional to exp(-eps |z| / sensitivity), of mean length d sensitivity / eps, the best
threshold and the smallest worst-case error are those of the scalar problem at the budget eps/d:
`threshold(users, eps/d)` and `optimal_error(users, eps/d)`.
"""

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, RNGLike
from userdp.model import _ROUNDING, Contributions, Epsilon, read_eps
from userdp.noise import _noise_scale
from userdp.worstcase import threshold


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
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    clipped: Floats = vectors * np.minimum(1.0, most / np.maximum(length, 1e-300))
    return clipped


def mean_in_ball(
    sums: npt.ArrayLike, users: Contributions, eps: Epsilon, *, rng: RNGLike | None = None
) -> Floats:
    """Release the mean of vectors in a ball, user sums clipped radially to half of the threshold.

    User-level eps-DP for replacing one user's samples, counts and diameter public; not safe for
    production (see the note on floating point in `userdp.mechanisms`). The worst-case error, bias
    plus mean length of the noise, is ``optimal_error(users, eps / d)``.

    Parameters
    ----------
    sums : array_like of float, shape (..., L, d)
        Each user's sum of samples, of length at most R m_l.
    users : Contributions
        The public counts, and the diameter U = 2R of the ball of the samples.
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).
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
    check.instance("users", users, Contributions)
    vectors, generator = check.floats("sums", sums), check.rng(rng)
    if vectors.ndim < 2 or vectors.shape[-2] != users.n_users or not vectors.shape[-1]:
        raise ValueError(
            f"`sums` must have shape (..., {users.n_users}, d), a vector for each user, "
            f"got sums of shape {vectors.shape}."
        )
    reach = users.largest_sums.astype(np.float64) / 2
    length = np.linalg.norm(vectors, axis=-1)
    too_long = length > reach * (1 + _ROUNDING)
    check.refuse_entries("sums", "of length at most R m_l", length, too_long)
    d, exact = vectors.shape[-1], read_eps(eps)
    width = float(threshold(users, (eps if isinstance(eps, float) else exact) / d))
    total = clip_to_ball(vectors, width / 2).sum(axis=-2)
    direction = generator.normal(size=total.shape)
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    reached = generator.gamma(d, _noise_scale(width, eps), total.shape[:-1])
    release: Floats = (total + direction * reached[..., None]) / users.total
    return release
