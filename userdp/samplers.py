"""Random datasets, drawn as user sums: the samples of Section IV-B, and others for comparison.

Every mechanism of the paper depends on a dataset only through its user sums, so a sampler returns
those: it is called as ``sampler(users, n_trials, rng=rng)`` and returns an array of shape
(n_trials, L), one dataset per row. Use `functools.partial` to set the parameters of a distribution.
The samples are drawn one by one and added up in blocks, so memory does not grow with the counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, RNGLike
from userdp._search import NotFoundError
from userdp.model import Contributions, _read_sums

# Draws samples in [0, U], shape (n_trials, users, samples of one user).
_Draw = Callable[[tuple[int, int, int]], Floats]

# Maximum number of samples in memory at a time, if one per user and dataset are not more.
_BLOCK = 2**20

# A normal sample is outside [0, U] with a probability of at most 0.62, so this many redraws hardly
# ever fail.
_MAX_REDRAWS = 400


# A distribution of datasets, called as ``sampler(users, n_trials, rng=rng)``; returns user sums,
# shape (n_trials, L).
Sampler = Callable[..., npt.ArrayLike]


def uniform_sums(users: Contributions, n_trials: int, *, rng: RNGLike = None) -> Floats:
    """Draw user sums of samples that are i.i.d. uniform on [0, U]: Section IV-B, distribution 1.

    Parameters
    ----------
    users : Contributions
    n_trials : int
        Number of datasets, at least 1.
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (n_trials, L)
        Sums of the samples of each user, in the unit of the samples: protected data.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, `n_trials` is not an integer of at least 1, or
        `rng` is not a source of randomness.

    Examples
    --------
    >>> uniform_sums(Contributions([4, 1], upper=65), n_trials=2, rng=0).round(1)
    array([[115.9,  41.4],
           [183. ,  17.5]])
    """
    upper, generator = _read(users, rng)
    return _add_up(users, n_trials, lambda shape: generator.uniform(0.0, upper, shape))


def gaussian_sums(
    users: Contributions, n_trials: int, *, variance: float | None = None, rng: RNGLike = None
) -> Floats:
    """Draw user sums of i.i.d. Gaussian samples, kept if they lie in [0, U]: IV-B, distribution 2.

    The paper calls these samples "projected" and draws them "by rejection sampling", as is done
    here: the distribution is a Gaussian centred at U/2 and truncated to [0, U]. The paper writes it
    N(U/2, U/4); in its own notation U/4 is the variance (before truncation).

    Parameters
    ----------
    users : Contributions
    n_trials : int
        Number of datasets, at least 1.
    variance : float, optional
        Variance before truncation, at most U^2, in the squared unit of the samples. By default the
        number U/4; ``(U / 4)**2`` makes U/4 the standard deviation instead.
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (n_trials, L)
        Sums of the samples of each user, in the unit of the samples: protected data.

    Raises
    ------
    TypeError, ValueError
        See `uniform_sums`; also if `variance` is not a real number above 0 and at most U^2.

    Examples
    --------
    >>> gaussian_sums(Contributions([4, 1], upper=65), n_trials=2, rng=0).round(1)
    array([[132.3,  33. ],
           [131.1,  32. ]])
    """
    upper, generator = _read(users, rng)
    untruncated_variance = upper / 4 if variance is None else check.positive("variance", variance)
    deviation = np.sqrt(untruncated_variance)
    if deviation > upper:  # hardly any draw would be kept
        check.refuse_value("variance", f"at most U^2 = {upper**2:g}", variance)

    def draw(shape: tuple[int, int, int]) -> Floats:
        samples = generator.normal(upper / 2, deviation, shape)
        outside = (samples < 0) | (samples > upper)
        for _ in range(_MAX_REDRAWS):
            if not outside.any():
                return samples
            samples[outside] = generator.normal(upper / 2, deviation, np.count_nonzero(outside))
            outside = (samples < 0) | (samples > upper)
        raise NotFoundError(
            f"Normal samples between 0 and {upper:g} were not found in {_MAX_REDRAWS} draws."
        )

    return _add_up(users, n_trials, draw)


def beta_sums(
    users: Contributions, n_trials: int, *, a: float, b: float, rng: RNGLike = None
) -> Floats:
    """Draw user sums of samples that are U times i.i.d. Beta(a, b) variables.

    Beyond the paper: skewed if a and b differ; almost all samples are near 0 or U if both are
    small.

    Parameters
    ----------
    users : Contributions
    n_trials : int
        Number of datasets, at least 1.
    a, b : float
        Positive shape parameters; the mean is U a / (a + b).
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (n_trials, L)
        Sums of the samples of each user, in the unit of the samples: protected data.

    Raises
    ------
    TypeError, ValueError
        See `uniform_sums`; also if `a` or `b` is not a positive and finite real number.

    Examples
    --------
    >>> beta_sums(Contributions([4, 1], upper=65), n_trials=2, a=8, b=2, rng=0).round(1)
    array([[216. ,  48.9],
           [213.8,  39.8]])
    """
    upper, generator = _read(users, rng)
    shape_a = check.positive("a", a)
    shape_b = check.positive("b", b)
    return _add_up(users, n_trials, lambda shape: upper * generator.beta(shape_a, shape_b, shape))


def correlated_sums(
    users: Contributions, n_trials: int, *, correlation: float, rng: RNGLike = None
) -> Floats:
    """Draw user sums of uniform samples, correlated within users and independent between users.

    The paper's experiments do not draw such samples, but the speeds of one vehicle, its motivation,
    are correlated. Each user has a level, uniform on [0, U]. A sample equals the level with
    probability sqrt(correlation), and is a new uniform number otherwise, so any two samples of a
    user have the given correlation and each sample by itself is uniform.

    Parameters
    ----------
    users : Contributions
    n_trials : int
        Number of datasets, at least 1.
    correlation : float
        From 0 (the distribution of `uniform_sums`) to 1 (all samples of a user are equal).
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (n_trials, L)
        Sums of the samples of each user, in the unit of the samples: protected data.

    Raises
    ------
    TypeError, ValueError
        See `uniform_sums`; also if `correlation` is not a real number from 0 to 1.

    Examples
    --------
    >>> correlated_sums(Contributions([4, 1], upper=65), n_trials=2, correlation=1, rng=0).round(1)
    array([[165.6,  17.5],
           [ 10.7,   1.1]])
    """
    upper, generator = _read(users, rng)
    copy_probability = np.sqrt(float(check.nonnegative("correlation", correlation)))
    if copy_probability > 1:
        check.refuse_value("correlation", "at most 1", correlation)
    trials = check.integer("n_trials", n_trials, least=1)
    levels = generator.uniform(0.0, upper, (trials, users.n_users))
    n_copies = generator.binomial(users.counts, copy_probability, levels.shape)
    n_new = users.counts - n_copies
    new_sums = _add_up(users, n_trials, lambda shape: generator.uniform(0.0, upper, shape), n_new)
    return new_sums + n_copies * levels


def _read(users: Contributions, rng: RNGLike) -> tuple[float, np.random.Generator]:
    """Return the bound U of the users, and a source of randomness."""
    check.instance("users", users, Contributions)
    return float(users.upper), check.rng(rng)


def _draw_sums(
    argument: str, sampler: Sampler, users: Contributions, n_trials: int, rng: np.random.Generator
) -> Floats:
    """Draw from a sampler; raise if it is not callable, or if its sums do not fit the users."""
    if not callable(sampler):
        check.refuse_type(argument, "callable", sampler)
    sums = np.asarray(sampler(users, n_trials, rng=rng))
    if sums.shape != (n_trials, users.n_users):
        rule = f"return sums of shape {(n_trials, users.n_users)}"
        check.refuse(argument, rule, f"shape {sums.shape}")
    return _read_sums(sums, users)


def _add_up(
    users: Contributions, n_trials: int, draw: _Draw, n_kept: npt.NDArray[np.int64] | None = None
) -> Floats:
    """Draw all samples, one distinct count at a time, and add them up for each user.

    If `n_kept` is given, shape (n_trials, L), only that many samples of each user are added.
    """
    trials = check.integer("n_trials", n_trials, least=1)
    sums = np.zeros((trials, users.n_users))
    for count in np.unique(users.counts):
        members = np.flatnonzero(users.counts == count)
        step = max(1, _BLOCK // (trials * members.size))
        for start in range(0, count, step):
            index = np.arange(start, min(start + step, int(count)))
            samples = draw((trials, members.size, index.size))
            if n_kept is not None:
                samples = np.where(index < n_kept[:, members, None], samples, 0.0)
            sums[:, members] += samples.sum(axis=-1)
    return sums
