"""Monte-Carlo estimates, with their standard errors."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from userdp._checks import RNGLike, read_integer, read_rng
from userdp.budget import Epsilon, rank, read_eps
from userdp.model import Contributions
from userdp.quantile import private_quantile, read_sums


class Estimate(NamedTuple):
    """A Monte-Carlo mean with its standard error (sample standard deviation over root n)."""

    mean: float
    standard_error: float


def simulate_akmv_error(
    sums: npt.ArrayLike,
    users: Contributions,
    eps: Epsilon,
    n_trials: int,
    *,
    rng: RNGLike | None = None,
) -> Estimate:
    """Estimate E_AKMV on one dataset as Section IV-C of the paper does, by drawing T.

    Each trial draws the private threshold T with half of the budget and takes
    (sum_l (sigma_l - T)^+ + 2T / eps) / N; `akmv_error` is the expectation that this estimates.

    Parameters
    ----------
    sums : array_like of float, shape (L,)
        Each user's sum of samples sigma_l, in [0, U m_l].
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget of the whole mechanism (dimensionless, public).
    n_trials : int
        Number of thresholds drawn, at least 2.
    rng : Generator or seed, optional
        Source of randomness.

    Returns
    -------
    Estimate
        Mean and standard error, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `sums` is not one dataset that fits `users`, `n_trials` is not an integer of at least 2,
        or `rng` is no source of randomness; as `read_eps`.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> estimate = simulate_akmv_error([4.0, 1.0], users, eps="0.1", n_trials=1000, rng=0)
    >>> round(estimate.mean, 4), round(estimate.standard_error, 4)
    (8.0799, 0.1389)
    """
    values, budget = read_sums(sums, users), read_eps(eps)
    if values.ndim != 1:
        raise ValueError(f"`sums` must be one dataset, of shape (L,), got shape {values.shape}.")
    n_trials = read_integer("n_trials", n_trials, least=2)
    trials = np.broadcast_to(values, (n_trials, users.n_users))
    T = private_quantile(trials, users, rank(eps), budget / 2, rng=read_rng(rng))  # noqa: N806
    clipped_away = np.maximum(values - T[:, None], 0).sum(axis=-1)
    errors = (clipped_away + float(2 / budget) * T) / users.total
    return Estimate(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(n_trials)))
