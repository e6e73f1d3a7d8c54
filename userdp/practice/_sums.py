"""From users' sums of samples to a release meant for the world."""

from math import floor, log2
from typing import NamedTuple

import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Exact
from userdp.mechanisms import _centred_ends, grid_steps
from userdp.model import Contributions, Epsilon, _read_centre, _read_sums
from userdp.noise import Objective, _read_objective
from userdp.practice._noise import (
    LARGEST_SCALE_BITS,
    ROUNDED,
    noisy_total,
    read_budget,
    scale_of,
    share_of_scale,
)
from userdp.practice._quiet import discreet, unquoted
from userdp.vectors import GaussianNoise
from userdp.worstcase import centred_clipping, threshold, worst_case_error


class Release(NamedTuple):
    """A private mean, and what may be said about it in public."""

    mean: float
    """The release, in the unit of the samples."""
    eps: float | None
    """The budget spent, by OpenDP's own account: at most the one asked for; None for Gaussian
    noise."""
    noise_scale: float
    """Scale of the noise of `mean`, or its standard deviation, in the unit of the samples."""
    worst_case_error: float
    """The certificate: bias, mean size of the noise and rounding to the grid, on the worst dataset.

    If the release is projected, an upper bound, and at most U."""
    rho: float | None = None
    """The budget spent, by the same account, in zCDP: of Gaussian noise."""


@discreet
def release_mean(
    sums: npt.ArrayLike,
    users: Contributions,
    eps: Epsilon | GaussianNoise,
    *,
    total_width: Exact | None = None,
    centre: Exact | None = None,
    objective: Objective = "bound",
    project: bool = True,
) -> Release:
    """Release the clipped mean of one dataset with noise that is safe to publish.

    The mechanism of `clipped_mean`, user-level eps-DP for replacing one user's samples, with
    counts, bound, S and c public: the centred sums are clipped to [-S/2, S/2], on a grid; OpenDP
    adds discrete Laplace noise for the width of that interval; or Gaussian noise, if a
    `GaussianNoise` is given, and the release is private in the ways of that. There is no seed. Side
    channels, such as the time taken, are not protected, and every release spends its own budget.

    Parameters
    ----------
    sums : array_like of float, shape (L,)
        Each user's sum of samples, in [0, U m_l]: protected.
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal, str or GaussianNoise
        Privacy budget of the release (dimensionless, public), at least 2^-40; or a law of noise, of
        sigma at most 2^40.
    total_width : float or Fraction, optional
        S; without it `threshold` for the objective.
    centre : float or Fraction, optional
        c, a public guess of the mean in [0, U]; U/2 without it.
    objective : {"bound", "l1", "mse"}, optional
        Which worst-case error the threshold minimises.
    project : bool, optional
        Whether to move the release to the nearest number in [0, U], which costs no privacy and adds
        to no error. False if releases are to be averaged or added up: projected, each leans towards
        the middle.

    Returns
    -------
    Release

    Raises
    ------
    ImportError
        If OpenDP is not installed: the extra ``userdp[release]``.
    TypeError, ValueError
        If `sums` is not one dataset that fits `users`; if `eps` is below 2^-40; as `clipped_mean`
        and `threshold`.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=65)
    >>> release = release_mean([130.0, 65.0, 32.5], users, eps=1)
    >>> release.eps, round(release.noise_scale, 4), round(release.worst_case_error, 4)
    (1.0, 18.5714, 27.8571)
    """
    _read_objective(objective)
    check.instance("users", users, Contributions)
    rule = "be one real number a user, between 0 and U m_l"
    values = unquoted("sums", sums, rule, lambda: _read_sums(sums, users))
    budget = read_budget(eps)
    project = check.truth("project", project)
    if values.ndim != 1:
        raise ValueError(f"`sums` must be one dataset, of shape (L,), got shape {values.shape}.")
    share = share_of_scale(budget)
    if share < 2.0**-40:
        check.refuse_value("eps", "at least 2^-40 (or sigma at most 2^40) for a release", eps)
    if total_width is None:
        total_width = threshold(users, eps, objective)
    middle = float(_read_centre(users, centre))
    bits = min(53, LARGEST_SCALE_BITS - 1 + floor(log2(share)))
    low, high = _centred_ends(users, total_width, middle)
    steps, moved, step = grid_steps(values - users.counts * middle, low, high, bits)
    noisy = noisy_total(int(steps), int(moved), budget)
    unit, gaussian = float(step) / users.total, isinstance(budget, GaussianNoise)
    # The grid moves each user's clipped sum by at most one step, within the interval.
    rounding = users.n_users * min(float(step), high - low) / users.total
    rounding += gaussian * ROUNDED * unit  # of noise
    clipping, upper = centred_clipping(users, total_width, centre), float(users.upper)
    mean, error = middle + noisy.total * unit, worst_case_error(users, clipping, eps) + rounding
    return Release(
        mean=min(max(mean, 0.0), upper) if project else mean,
        eps=None if gaussian else noisy.spent,
        noise_scale=scale_of(int(moved), budget) * unit,
        worst_case_error=float(min(error, upper) if project else error),
        rho=noisy.spent if gaussian else None,
    )
