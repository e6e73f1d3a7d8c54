"""The release as a measurement of OpenDP, which their composition accounts for."""

from typing import Any

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp.model import Epsilon
from userdp.noise import Objective, _read_objective
from userdp.practice._grid import read_bounds, read_users
from userdp.practice._noise import load_opendp, measurement_of, noisy_total
from userdp.practice._quiet import discreet
from userdp.practice._release import Decided, decide, make_result
from userdp.practice._result import PrivateMean
from userdp.vectors import GaussianNoise


@discreet
def as_measurement(
    counts: npt.ArrayLike,
    *,
    lower: float,
    upper: float,
    eps: Epsilon | GaussianNoise,
    objective: Objective = "bound",
    total_width: float | None = None,
    centre: float | None = None,
    project: bool = True,
) -> Any:
    """Return `private_mean` as an OpenDP Measurement, to compose with others.

    Its input are the users' sums of values: vectors of L floats, none of them NaN, in the order of
    `counts`, which are public. Its input metric is the number of users whose sum is another one
    (`change_one_distance`), its output measure `max_divergence`, its output a `PrivateMean`: at
    distance 1 it is `eps`-DP, user-level, for replacing one user's values. With Gaussian noise the
    measure is `zero_concentrated_divergence`.

    Parameters
    ----------
    counts : array_like of int, shape (L,)
        Numbers of records m_l of the users: public.
    lower, upper, eps, objective, total_width, centre, project
        As in `private_mean`.

    Returns
    -------
    opendp.Measurement

    Raises
    ------
    ImportError
        If OpenDP is not installed: the extra ``userdp[release]``.
    TypeError, ValueError
        As `private_mean` and `Contributions`.

    Notes
    -----
    Switches on "honest-but-curious" of OpenDP, for the whole process: the measurement is made of
    functions that are not OpenDP's own. Sums are rounded to the grid, user by user; a sum beyond
    what the bounds allow is moved to the nearest that they do.

    Examples
    --------
    >>> measurement = as_measurement([4, 1], lower=0, upper=6, eps=1)
    >>> measurement.map(1), measurement([16.0, 1.0]).n_records
    (1.0, 5)
    """
    low, high = read_bounds(lower, upper)
    _read_objective(objective)
    users = read_users(counts, high - low)
    to_bounds = check.truth("project", project)
    how = decide(users, low, high, eps, objective, total_width, centre, to_bounds)
    dp = load_opendp()
    dp.enable_features("honest-but-curious")
    account = measurement_of(how.moved, how.budget)
    gaussian = isinstance(how.budget, GaussianNoise)
    return dp.m.make_user_measurement(
        dp.vector_domain(dp.atom_domain(T=float, nan=False), size=users.n_users),
        dp.change_one_distance(),
        dp.zero_concentrated_divergence() if gaussian else dp.max_divergence(),
        lambda sums: _release(sums, how),
        lambda d_in: account.map(how.moved * d_in),
    )


@discreet
def _release(sums: list[float], how: Decided) -> PrivateMean:
    """Clip each user's sum, in whole steps less the origin, and add noise to their total."""
    grid, counts = how.grid, how.users.counts
    values = np.asarray(sums, np.float64)
    if values.shape != counts.shape:
        raise ValueError("`sums` must be one number a user.")  # their words are shown by OpenDP
    values = np.clip(values, counts * grid.lower, counts * grid.upper)
    steps = np.rint((values - counts * (grid.lower + grid.middle)) / grid.step)
    steps = np.clip(np.nan_to_num(steps), how.lowest, how.highest)
    total = int(steps.astype(np.int64).sum())
    return make_result(how, noisy_total(total, how.moved, how.budget), "clamp", "refuse")
