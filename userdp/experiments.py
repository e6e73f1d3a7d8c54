"""Monte-Carlo estimates, with their standard errors."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from userdp._checks import RNGLike, read_integer, read_rng
from userdp.budget import Epsilon, rank, read_eps
from userdp.mechanisms import noise_scale
from userdp.model import Contributions
from userdp.quantile import cells_of, draw_from, read_sums, sums_reaching


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
    values = read_sums(sums, users)
    if values.ndim != 1:
        raise ValueError(f"`sums` must be one dataset, of shape (L,), got shape {values.shape}.")
    n_trials = read_integer("n_trials", n_trials, least=2)
    cells = cells_of(values, users, rank(eps), read_eps(eps) / 4)
    draws = draw_from(cells, read_rng(rng), (n_trials,))
    clipped_away = sums_reaching(cells)[draws.cell] - draws.cell * draws.threshold
    errors = (clipped_away + noise_scale(2 * draws.threshold, eps)) / users.total
    return Estimate(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(n_trials)))
