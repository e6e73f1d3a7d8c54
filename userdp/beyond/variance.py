"""The variance of all samples: each user's sum of squares capped about one common centre.

The statistic is f = (1/N) sum (x - mean)^2 over all N samples. About a centre c, user l's samples
have the sum of squares Q_l(c) = squares_l - 2 c sums_l + m_l c^2, so f is the minimum over c of
(1/N) sum_l Q_l(c). With each term capped at S, it is min_c (1/N) sum_l min(Q_l(c), S), which one
user moves by at most S/N. Once half of its largest bias is added, no estimator of this sensitivity
has a smaller worst-case bias (thm-variance of the book).

As in `userdp.mechanisms`, neighbouring datasets may differ in all samples of one user; the counts,
the bound U and the budget are public; sums and squares, shape (..., L), are protected; results have
the shape (...). The unit is the square of the unit of the samples. Floating-point noise is for
demonstrations only.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, Real, RNGLike
from userdp.beyond.noise import Budget, read_budget
from userdp.beyond.statistics import _square_of_bound, modulus_of_variance
from userdp.mechanisms import grid_sum
from userdp.model import _ROUNDING, Contributions, Number, _as_bound, _read_sums
from userdp.worstcase import sum_of_largest


def variance_cap(users: Contributions[Number], budget: Budget) -> Number:
    """Return the best cap S on each user's sum of squares: N times the best sensitivity.

    S = N (omega(k) - omega(k - 1)), where omega is the modulus of the variance, k = ceil(2w), and w
    is the mean absolute value of the noise at sensitivity 1; for a privacy budget k = ceil(2/eps),
    as in `rank`. It is 0 if k exceeds the number of users, or if the k - 1 heaviest users hold at
    least floor(N/2) samples.

    Parameters
    ----------
    users : Contributions
    budget : Budget

    Returns
    -------
    float or Fraction
        In the square of the unit of the samples; a Fraction if the bound U is one.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, or U^2 N is beyond the range of floats; if
        `budget` is not a budget.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=Fraction(7))
    >>> variance_cap(users, 2), variance_cap(users, 1)
    (Fraction(84, 1), Fraction(0, 1))
    """
    square: Any = _square_of_bound(users)
    k = read_budget(budget).rank
    half = users.total // 2
    before, after = (min(int(sum_of_largest(users, n)), half) for n in (k - 1, k))
    relative_cap = Fraction((after - before) * (users.total - after - before), users.total)
    return _as_bound(users, Fraction(square) * relative_cap)


def capped_variance(
    sums: npt.ArrayLike, squares: npt.ArrayLike, users: Contributions, cap: Real
) -> Floats:
    """Return the variance with each user's sum of squares about a common centre capped at S.

    It is the minimum of (1/N) sum_l min(Q_l(c), S) over all centres c, found in O(L log L): between
    the ends of the intervals {c: Q_l(c) <= S} of all users, the sum is quadratic. It is not
    private.

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l].
    squares : array_like of float, shape (..., L)
        Each user's sum of squared samples, from sums^2 / m_l to U sums.
    users : Contributions
    cap : float or Fraction
        S, finite and at least 0, in the square of the unit of the samples.

    Returns
    -------
    ndarray of float64, shape (...)
        Never negative. The rounding error is of the order of 1e-16 U^2 from `squares`, which
        determine the spread of nearly equal samples poorly, and of 1e-16 S L^2 / N from the sum.

    Raises
    ------
    TypeError, ValueError
        If `sums` or `squares` do not fit `users`, `cap` is not a finite number of at least 0, or
        U^2 N is beyond the range of floats.

    Examples
    --------
    Three users with the samples (0, 0, 4, 4), (1, 3) and (0), whose variance is 150/49:

    >>> users = Contributions([4, 2, 1], upper=4)
    >>> [float(capped_variance([8, 4, 0], [32, 10, 0], users, S).round(6)) for S in (100, 3)]
    [3.061224, 0.857143]
    """
    square = float(_square_of_bound(users))
    total, _ = _capped_total(sums, squares, users, float(check.nonnegative("cap", cap)) / square)
    return total * (square / users.total)


def opt_variance(
    sums: npt.ArrayLike,
    squares: npt.ArrayLike,
    users: Contributions,
    budget: Budget,
    *,
    rng: RNGLike = None,
) -> Floats:
    """Release the variance with the smallest worst-case error of any estimator: thm-variance.

    That is `capped_variance` at the cap S of `variance_cap`, plus a constant beta, plus noise
    scaled to S/N. Capping lowers the variance by up to 2 beta, so the worst-case bias is
    beta. The worst-case error, beta plus mean absolute value of the noise, is `optimal_error` of
    `modulus_of_variance`. If no user is capped, the release is too high by beta on average.
    User-level eps-DP under replacement of all samples of one user, with public counts; not safe for
    production (see the note on floating point in `userdp.mechanisms`).

    Parameters
    ----------
    sums : array_like of float, shape (..., L)
        Each user's sum of samples, in [0, U m_l], protected; leading axes are separate datasets.
    squares : array_like of float, shape (..., L)
        Each user's sum of squared samples, from sums^2 / m_l to U sums, protected.
    users : Contributions
    budget : Budget
    rng : Generator or seed, optional

    Returns
    -------
    ndarray of float64, shape (...)
        In the square of the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `sums` or `squares` do not fit `users`, or U^2 N is beyond the range of floats; if
        `budget` is not a budget, or `rng` is not a source of randomness; if the noise scale
        overflows.

    Notes
    -----
    The noise is scaled to more than S/N, relatively by about 1e-15 L (L + U sqrt(m* / S)), because
    the search for the centre is rounded.

    Examples
    --------
    >>> users = Contributions([4, 2, 1], upper=4)
    >>> float(opt_variance([8, 4, 0], [32, 10, 0], users, budget=2, rng=0).round(4))
    3.6884
    """
    square = float(_square_of_bound(users))
    generator = check.rng(rng)
    law = read_budget(budget)
    cap = variance_cap(users, law)
    beta = float(modulus_of_variance(users).smallest_bias(cap / users.total))
    relative_cap = float(cap) / square
    total, influence = _capped_total(sums, squares, users, relative_cap)
    change = float(influence) * (1 + _slack(users, relative_cap))
    noisy = total + law.draw(change, total.shape, generator)
    return beta + noisy * (square / users.total)


def _capped_total(
    sums: npt.ArrayLike, squares: npt.ArrayLike, users: Contributions, cap: float
) -> tuple[Floats, Floats]:
    """Return min_c sum_l min(Q_l(c), S), and how far one user can move it at a fixed centre.

    Both are in units of U^2, as is the cap.
    """
    means, within = _read_moments(sums, squares, users)
    counts = users.counts.astype(np.float64)
    # No user's sum of squares about a centre in [0, U] is larger.
    largest = min(cap, float(users.max_count))
    centre = _best_centre(counts, means, within, largest)
    total, influence = grid_sum(within + counts * (means - centre) ** 2, 0.0, largest)
    return total, influence


def _slack(users: Contributions, cap: float) -> float:
    """Return how much rounding may increase one user's influence, as a fraction of the cap.

    For a fixed centre, the influence that `grid_sum` returns is exact. But rounding (of the sums to
    the grid, of each term at a centre, and of the heights in the sweep) may select another centre.
    """
    return 2.0**-50 * users.n_users * (users.n_users + sqrt(users.max_count / cap)) if cap else 0.0


def _best_centre(counts: Floats, means: Floats, within: Floats, cap: float) -> Floats:
    """Return the c that minimises sum_l min(m_l (c - mean_l)^2 + within_l, S), shape (..., 1).

    This is a sweep over the ends of the intervals in which users are below the cap. At both ends of
    a user's own interval the user's term is S, so the sum is continuous; its slope falls by 2 m_l
    r_l for an interval of half-width r_l, and m_l is added to the quadratic coefficient, or
    subtracted from it. In this sweep, no numbers are subtracted that are much larger than the sum
    itself.
    """
    inside = np.where(within < cap, counts, 0.0)
    half_widths = np.sqrt(np.maximum(cap - within, 0.0) / counts)
    ends = np.concatenate([means - half_widths, means + half_widths], axis=-1)
    slope_changes = np.tile(-2 * inside * half_widths, 2)
    quadratic_changes = np.concatenate([inside, -inside], axis=-1)
    order = np.argsort(ends, axis=-1)
    ends, slope_changes, quadratic_changes = (
        np.take_along_axis(x, order, axis=-1) for x in (ends, slope_changes, quadratic_changes)
    )
    gaps = np.diff(ends, axis=-1, append=ends[..., -1:])
    quadratic = np.cumsum(quadratic_changes, axis=-1)  # a sum of whole numbers, hence exact
    slope = np.cumsum(slope_changes + _preceding(2 * quadratic * gaps), axis=-1)
    height = np.cumsum(_preceding((slope + quadratic * gaps) * gaps), axis=-1)
    # The lowest point of each piece.
    step = np.divide(-slope, 2 * quadratic, out=np.zeros_like(slope), where=quadratic > 0)
    step = np.clip(step, 0.0, gaps)
    lowest = np.argmin(height + (slope + quadratic * step) * step, axis=-1, keepdims=True)
    centre: Floats = np.clip(np.take_along_axis(ends + step, lowest, axis=-1), -0.5, 0.5)
    return centre


def _preceding(steps: Floats) -> Floats:
    """Return the step that leads to each point: zero for the first."""
    return np.concatenate([np.zeros_like(steps[..., :1]), steps[..., :-1]], axis=-1)


def _read_moments(
    sums: npt.ArrayLike, squares: npt.ArrayLike, users: Contributions
) -> tuple[Floats, Floats]:
    """Return users' means minus 1/2, and sums of squares about the means, in units of U."""
    values = _read_sums(sums, users)
    upper = float(users.upper)
    given = check.array("squares", squares).dtype
    rounding = max(_ROUNDING, 8 * np.finfo(given).eps) if given.kind == "f" else _ROUNDING
    array = check.floats("squares", squares)
    if array.shape != values.shape:
        rule = f"have the shape of `sums`, {values.shape}"
        check.refuse("squares", rule, f"squares of shape {array.shape}")
    scaled_sums = values / upper
    scaled_squares = array / upper / upper
    least = scaled_sums * (scaled_sums / users.counts)
    slack = rounding * users.counts
    outside = (scaled_squares < least - slack) | (scaled_squares > scaled_sums + slack)
    check.refuse_entries("squares", "between sums^2 / m_l and U times sums", array, outside)
    within: Floats = np.clip(scaled_squares, least, np.maximum(least, scaled_sums)) - least
    return scaled_sums / users.counts - 0.5, within
