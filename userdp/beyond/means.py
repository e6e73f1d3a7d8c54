"""Several means of the same users, in groups, columns or weeks: one threshold for all of them.

There are G groups; user l has m_lg samples in group g, each in [0, U], and N_g is the number of all
samples in that group. With one scale of noise for all means, the smallest worst-case error, summed
over the groups, is half of H_a(2G/eps), where H_a is the sum of the largest of the users'
influences a_l = sum_g U m_lg / N_g (thm-several-means of the book). One threshold for the
influences attains it. Giving each group an equal part of the budget, and its own threshold, is
never better.

Neighbouring datasets may differ in all samples of one user, in all groups; the counts m_lg, the
bound and eps are public. The noise is Laplace: staircase noise in several coordinates is not
private at their common sensitivity, and for Gaussian noise a different distance between means
matters.
"""

from __future__ import annotations

import numbers
from fractions import Fraction
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, Real, RNGLike
from userdp.beyond.statistics import Modulus, _modulus_of_influences, modulus_of_mean
from userdp.mechanisms import grid_steps
from userdp.model import (
    _MAX_SAMPLES,
    _ROUNDING,
    Contributions,
    Epsilon,
    _refuse_total,
    rank,
    read_eps,
)
from userdp.noise import noise_scale


def influence(counts: npt.ArrayLike, upper: Real) -> npt.NDArray[Any]:
    """Return how far each user can move all means together: a_l = sum_g U m_lg / N_g.

    Parameters
    ----------
    counts : array_like of int, shape (L, G)
        Numbers of samples m_lg of each user in each group, at least 0, public; every group has
        samples.
    upper : float or Fraction
        The bound U, in the unit of the samples.

    Returns
    -------
    ndarray, shape (L,)
        Of floats, or of Fractions if `upper` is one; in the unit of the samples.

    Raises
    ------
    TypeError
        If a count is not an integer, or `upper` not a real number.
    ValueError
        If `counts` is not two-dimensional, a count is negative, a group has no samples, or all
        counts together exceed 2^53; if `upper` is not positive and finite, or G U exceeds the range
        of floats.

    Examples
    --------
    >>> influence([[3, 1], [1, 0], [0, 1]], upper=Fraction(4))
    array([Fraction(5, 1), Fraction(1, 1), Fraction(2, 1)], dtype=object)
    """
    return _influence(_read_groups(counts), _read_bound(counts, upper))


@overload
def influence_threshold(counts: npt.ArrayLike, upper: float, eps: Epsilon) -> float: ...
@overload
def influence_threshold(counts: npt.ArrayLike, upper: Fraction, eps: Epsilon) -> Fraction: ...
def influence_threshold(counts: npt.ArrayLike, upper: Real, eps: Epsilon) -> Real:
    """Return the best threshold T for the users' influences: the ceil(2G/eps)-th largest.

    Parameters
    ----------
    counts : array_like of int, shape (L, G)
        Numbers of samples of each user in each group, public.
    upper : float or Fraction
        The bound U, in the unit of the samples.
    eps : Epsilon
        Privacy budget of all means together.

    Returns
    -------
    float or Fraction
        In the unit of the samples; 0 if there are fewer users, a Fraction if `upper` is one.

    Raises
    ------
    TypeError, ValueError
        See `influence`; also if `eps` is not a privacy budget.

    Examples
    --------
    >>> influence_threshold([[3, 1], [1, 0], [0, 1]], upper=4, eps=2)
    2.0
    """
    groups, bound = _read_groups(counts), _read_bound(counts, upper)
    threshold: Real = _threshold(_influence(groups, bound), groups.shape[1], eps)
    return threshold


@overload
def modulus_of_several_means(counts: npt.ArrayLike, upper: float) -> Modulus[float]: ...
@overload
def modulus_of_several_means(counts: npt.ArrayLike, upper: Fraction) -> Modulus[Fraction]: ...
def modulus_of_several_means(counts: npt.ArrayLike, upper: Real) -> Modulus[Any]:
    """Return the modulus of several means: how far n users can move them, summed over the groups.

    It is H_a(n), the sum of the n largest influences. Because noise is added to G numbers, the
    smallest error, summed over the groups, is its `optimal_error` at eps/G, which
    `error_of_several_means` returns.

    Parameters
    ----------
    counts : array_like of int, shape (L, G)
        Numbers of samples of each user in each group, public.
    upper : float or Fraction
        The bound U, in the unit of the samples.

    Returns
    -------
    Modulus
        In the unit of the samples; exact if `upper` is a Fraction.

    Raises
    ------
    TypeError, ValueError
        See `influence`.

    Examples
    --------
    >>> modulus_of_several_means([[3, 1], [1, 0], [0, 1]], upper=4).values.tolist()
    [0.0, 5.0, 7.0, 8.0]
    """
    return _modulus_of_influences(influence(counts, upper))


@overload
def error_of_several_means(counts: npt.ArrayLike, upper: float, eps: Epsilon) -> float: ...
@overload
def error_of_several_means(counts: npt.ArrayLike, upper: Fraction, eps: Epsilon) -> Fraction: ...
def error_of_several_means(counts: npt.ArrayLike, upper: Real, eps: Epsilon) -> Real:
    """Return the guarantee of `opt_several_means`, the smallest error summed over the groups.

    For every estimator of all means with Laplace noise of one scale, the worst case of bias plus
    mean absolute value of the noise, summed over the groups, is at least 1/2 H_a(2G/eps):
    thm-several-means.

    Parameters
    ----------
    counts : array_like of int, shape (L, G)
        Numbers of samples of each user in each group, public.
    upper : float or Fraction
        The bound U, in the unit of the samples.
    eps : Epsilon
        Privacy budget of all means together.

    Returns
    -------
    float or Fraction
        In the unit of the samples; a Fraction if `upper` is one.

    Raises
    ------
    TypeError, ValueError
        See `influence_threshold`.

    Examples
    --------
    >>> error_of_several_means([[3, 1], [1, 0], [0, 1]], upper=4, eps=2)
    3.5
    """
    groups, bound = _read_groups(counts), _read_bound(counts, upper)
    modulus = _modulus_of_influences(_influence(groups, bound))
    error: Real = modulus.optimal_error(read_eps(eps) / groups.shape[1])
    return error


@overload
def error_of_divided_budget(counts: npt.ArrayLike, upper: float, eps: Epsilon) -> float: ...
@overload
def error_of_divided_budget(counts: npt.ArrayLike, upper: Fraction, eps: Epsilon) -> Fraction: ...
def error_of_divided_budget(counts: npt.ArrayLike, upper: Real, eps: Epsilon) -> Real:
    """Return the smallest error, summed over the groups, if each mean gets an equal part of eps.

    Each group has its own threshold and the budget eps/G, so the sum is 1/2 sum_g H_g(2G/eps). It
    is never less than `error_of_several_means`, and equal if the same users have the largest shares
    in every group, or if eps is so small that 2G/eps is at least the number of users.

    Parameters
    ----------
    counts : array_like of int, shape (L, G)
        Numbers of samples of each user in each group, public.
    upper : float or Fraction
        The bound U, in the unit of the samples.
    eps : Epsilon
        Privacy budget of all means together.

    Returns
    -------
    float or Fraction
        In the unit of the samples; a Fraction if `upper` is one.

    Raises
    ------
    TypeError, ValueError
        See `influence_threshold`.

    Examples
    --------
    >>> error_of_divided_budget([[3, 1], [1, 0], [0, 1]], upper=4, eps=2)
    4.0
    """
    groups, bound = _read_groups(counts), _read_bound(counts, upper)
    share = read_eps(eps) / groups.shape[1]
    # Users without samples in a group do not contribute to its mean.
    collections = [Contributions(group[group > 0], bound) for group in groups.T]
    error: Real = sum(modulus_of_mean(users).optimal_error(share) for users in collections)
    return error


def opt_several_means(
    sums: npt.ArrayLike,
    counts: npt.ArrayLike,
    upper: Real,
    eps: Epsilon,
    *,
    rng: RNGLike = None,
) -> Floats:
    """Release the means of several groups, with one threshold T for each user's influence.

    User l's sum in group g is clipped to the interval of width U m_lg min(1, T / a_l) about its
    middle U m_lg / 2: the factor is the same in all groups. So one user moves the means by at most
    min(a_l, T), summed over the groups, and each mean gets Laplace noise of scale T/eps. User-level
    eps-DP for all means together, under replacement of all samples of one user, in all groups, with
    public counts; not safe for production (see the note on floating point in `userdp.mechanisms`).

    Parameters
    ----------
    sums : array_like of float, shape (..., L, G)
        Each user's sum of samples in each group, in [0, U m_lg], protected; leading axes are
        separate datasets.
    counts : array_like of int, shape (L, G)
        Numbers of samples of each user in each group, public.
    upper : float or Fraction
        The bound U, in the unit of the samples.
    eps : Epsilon
        Privacy budget of all means together.
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (..., G)
        One mean per group, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        See `influence_threshold`; also if `sums` does not fit `counts` and `upper`, or `rng` is not
        a source of randomness; if the noise scale overflows.

    Examples
    --------
    >>> counts = [[3, 1], [1, 0], [0, 1]]
    >>> opt_several_means([[12, 4], [0, 0], [0, 1]], counts, upper=4, eps=20, rng=0).round(4)
    array([3.08  , 2.3458])
    """
    groups, bound = _read_groups(counts), _read_bound(counts, upper)
    middles = (groups * (float(bound) / 2)).astype(np.float64)
    values = _read_group_sums(sums, 2 * middles)
    generator = check.rng(rng)
    influences = _influence(groups, bound)
    threshold = float(_threshold(influences, groups.shape[1], eps))
    a = influences.astype(np.float64)
    factors = np.divide(threshold, a, out=np.ones_like(a), where=a > threshold)
    half_widths = middles * factors[:, None]
    # Each group has its own grid, on which sums are exact.
    ends = half_widths.max(axis=0)
    _, _, step = grid_steps(np.zeros((groups.shape[1], len(groups))), -ends, ends)
    limits = np.floor(half_widths / step)
    steps = np.rint(np.clip((values - middles) / step, -limits, limits)).sum(axis=-2)
    totals = groups.sum(axis=0)
    change = (2 * limits * step / totals).sum(axis=-1).max()
    noise = generator.laplace(scale=noise_scale(change, eps), size=steps.shape)
    release: Floats = float(bound) / 2 + (steps * step / totals + noise)
    return release


def _read_groups(counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
    raw = check.array("counts", counts)
    if raw.ndim != 2 or not raw.size:
        rule = "have one row per user and one column per group"
        check.refuse("counts", rule, f"counts of shape {raw.shape}")
    if raw.dtype.kind not in "iu":
        raw = np.asarray(counts, dtype=object)
        for (user, group), count in np.ndenumerate(raw):
            check.number(f"counts[{user}, {group}]", count, numbers.Integral, "an integer")
    check.refuse_entries("counts", "at least 0", raw, raw < 0)
    check.refuse_entries("counts", f"at most 2^53 = {_MAX_SAMPLES}", raw, raw > _MAX_SAMPLES)
    groups = raw.astype(np.int64)
    rough_total = groups.sum(dtype=np.float64)
    if rough_total > 2 * _MAX_SAMPLES or int(groups.sum()) > _MAX_SAMPLES:
        _refuse_total(rough_total)
    empty = ~groups.any(axis=0)
    if empty.any():
        got = f"no samples in counts[:, {int(np.argmax(empty))}]"
        check.refuse("counts", "have samples in every group", got)
    return groups


def _read_bound(counts: npt.ArrayLike, upper: Real) -> Real:
    """Return the bound U, if the largest sums of samples and of influences are finite floats."""
    bound = check.upper(upper)
    if bound > check.LARGEST / max(int(np.sum(counts)), 2):
        check.refuse_value("upper", "small enough that all samples sum to a float", upper)
    return bound


def _influence(groups: npt.NDArray[np.int64], bound: Any) -> npt.NDArray[Any]:
    totals = groups.sum(axis=0)
    if not isinstance(bound, Fraction):
        return np.asarray(bound * (groups / totals).sum(axis=-1))
    shares = groups.astype(object) * np.array([Fraction(1, int(n)) for n in totals])
    return np.asarray(bound * shares.sum(axis=-1))


def _threshold(influences: npt.NDArray[Any], n_groups: int, eps: Epsilon) -> Any:
    """Return the ceil(2G/eps)-th largest influence, or 0 if there are fewer users."""
    exact = read_eps(eps)
    # Keep a float a float, because `rank` allows for its rounding.
    k = rank((eps if isinstance(eps, float) else exact) / n_groups)
    kind = Fraction if influences.dtype == object else float
    return kind(np.sort(influences)[-k]) if k <= influences.size else kind(0)


def _read_group_sums(sums: npt.ArrayLike, largest: Floats) -> Floats:
    """Check that sums of users in groups are in [0, U m_lg] up to rounding: shape (..., L, G)."""
    given = check.array("sums", sums).dtype
    rounding = max(_ROUNDING, 8 * np.finfo(given).eps) if given.kind == "f" else _ROUNDING
    array = check.floats("sums", sums)
    if array.ndim < 2 or array.shape[-2:] != largest.shape:
        rule = f"have shape (..., {largest.shape[0]}, {largest.shape[1]}), like the counts"
        check.refuse("sums", rule, f"sums of shape {array.shape}")
    outside = (array < -rounding * largest) | (array > (1 + rounding) * largest)
    check.refuse_entries("sums", "between 0 and U m_lg", array, outside)
    return np.clip(array, 0.0, largest)
