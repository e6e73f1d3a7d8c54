"""Bounded statistics: the modulus of continuity, and the smallest errors that follow from it.

The user-level modulus of continuity omega(n) of a statistic f is the largest f(D) - f(D') over
datasets D, D' in which the data of at most n users differ. Neighbouring datasets may differ in all
samples of one user, unless a function says otherwise. The modulus depends only on public
quantities. It determines the smallest bias at a given sensitivity (thm-modulus-bias of the book),
the smallest bias plus noise of any estimator (thm-modulus-error), and a lower bound on the error of
every private mechanism (thm-chain). For the mean, the results agree with `optimal_error`, and with
`threshold` divided by N.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, inf
from typing import Any, Generic, overload

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, Real
from userdp.beyond.noise import Budget, read_budget
from userdp.model import (
    _MAX_GENERATED_USERS,
    _MAX_SAMPLES,
    Contributions,
    Epsilon,
    Number,
    read_eps,
)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Modulus(Generic[Number]):
    """The user-level modulus of continuity of a statistic, and the errors that follow from it.

    Parameters
    ----------
    values : sequence of float, Fraction or int, shape (n_max + 1,)
        omega(0) = 0, omega(1), ..., omega(n_max), in the unit of the statistic; they do not
        decrease. Beyond n_max the modulus is constant, because no more users can be replaced. If
        all values are Fractions or integers, results are exact.

    Attributes
    ----------
    values : ndarray of float64 or of Fraction objects, shape (n_max + 1,)
        A read-only copy.

    Raises
    ------
    TypeError
        If a value is not a real number.
    ValueError
        If `values` is empty or not one-dimensional, does not begin with 0, or decreases; if a value
        is not finite.

    See Also
    --------
    modulus_of_mean : the modulus of the mean; similarly named functions are for other statistics.

    Notes
    -----
    In general, the modulus of an increasing function of f does not follow from that of f. The
    standard deviation is an exception, because the variance is 0 in one of the two extreme
    datasets: ``Modulus(np.sqrt(modulus.values.astype(float)))``.

    If the values are rounded, there may be corners where the exact values are collinear; the
    functions that return a modulus locate its corners exactly.

    Examples
    --------
    One user can move the maximum of all samples from 0 to 65. For eps up to 2 no estimator is
    better in the worst case than the constant 32.5:

    >>> maximum = Modulus([0.0, 65.0])
    >>> maximum.optimal_error(1), maximum.optimal_sensitivity(1), maximum.smallest_bias(0)
    (32.5, 0.0, 32.5)
    """

    values: npt.NDArray[Any]

    @overload
    def __init__(self: Modulus[Fraction], values: Sequence[Fraction | int]) -> None: ...
    @overload
    def __init__(self: Modulus[float], values: npt.ArrayLike) -> None: ...
    def __init__(self, values: Sequence[Real] | npt.ArrayLike) -> None:
        sequence: Any = values
        given = check.array("values", sequence)
        # Integers become Fractions, not floats.
        array = check.reals("values", given.astype(object) if given.dtype.kind in "iu" else given)
        if array.ndim != 1 or not array.size:
            got = f"values of shape {array.shape}"
            check.refuse("values", "be one-dimensional and not empty", got)
        if array[0] != 0:
            check.refuse("values", "begin with omega(0) = 0", f"values[0]={array.item(0)!r}")
        decreases = np.append(False, array[1:] < array[:-1])
        check.refuse_entries("values", "at least the previous value", array, decreases)
        self._set_values(array)

    @classmethod
    def _concave(cls, values: npt.NDArray[Any], corners: npt.ArrayLike) -> Modulus[Any]:
        """Return a concave modulus with corners at these indices."""
        modulus = object.__new__(cls)
        modulus._set_values(values)
        object.__setattr__(modulus, "_corners", np.asarray(corners, dtype=np.int64))
        return modulus

    def _set_values(self, values: npt.NDArray[Any]) -> None:
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return f"Modulus(n_max={self.values.size - 1}, largest={self.values[-1]})"

    def __call__(self, n: int) -> Number:
        """Return omega(n), for any number of users n >= 0."""
        n_users = check.integer("n", n, least=0)
        return self._number(self.values[min(n_users, self.values.size - 1)])

    @property
    def is_exact(self) -> bool:
        """Whether the values are Fractions, and results are therefore exact."""
        return self.values.dtype == object

    @cached_property
    def vertices(self) -> list[tuple[int, Number]]:
        """The corners (n, omega(n)) of the least concave majorant, beginning with (0, 0).

        The majorant is linear between its corners, and constant beyond the last one.
        """
        return [(int(n), self._number(self.values[n])) for n in self._corners]

    def majorant(self, x: Real) -> Number | float:
        """Return the least concave function above omega, at a real number of users.

        Parameters
        ----------
        x : float or Fraction
            Finite and at least 0.

        Returns
        -------
        float or Fraction
            Exact if the modulus is, and `x` is rational.

        Raises
        ------
        TypeError, ValueError
            If `x` is not a finite number of at least 0.

        Examples
        --------
        If two users are needed for the second step, the majorant at 2 is half-way between its
        values at 1 and 3:

        >>> Modulus([0, 1, 1, 2]).majorant(2)
        Fraction(3, 2)
        """
        point = check.nonnegative("x", x, self.is_exact)
        return self._number_or_float(self._height(point))

    def smallest_bias(self, sensitivity: Real) -> Number | float:
        """Return the smallest worst-case bias of any estimator with at most this sensitivity.

        It is 1/2 max_n (omega(n) - n Delta): thm-modulus-bias of the book.

        Parameters
        ----------
        sensitivity : float or Fraction
            Delta, finite and at least 0, in the unit of the statistic.

        Returns
        -------
        float or Fraction
            In the unit of the statistic; exact if the modulus is, and `sensitivity` is rational.

        Raises
        ------
        TypeError, ValueError
            If `sensitivity` is not a finite number of at least 0.

        Examples
        --------
        >>> modulus = Modulus([0, 4, 6])
        >>> modulus.smallest_bias(0), modulus.smallest_bias(2)
        (Fraction(3, 1), Fraction(1, 1))
        """
        change = check.nonnegative("sensitivity", sensitivity, self.is_exact)
        # Because omega lies below its majorant, no other n is better than the best corner.
        excess = self.values[self._corners] - change * self._corners_as_values
        return self._number_or_float(np.max(excess) / 2)

    def optimal_error(self, budget: Budget) -> Number:
        """Return the smallest worst-case error, bias plus E|noise|, of any estimator.

        It is half the majorant at 2w, where w is the mean absolute value of the noise at
        sensitivity 1, so that 2w = 2/eps for a privacy budget: thm-modulus-error of the book.

        Parameters
        ----------
        budget : Budget

        Returns
        -------
        float or Fraction
            In the unit of the statistic; a Fraction if the modulus is exact.

        Raises
        ------
        TypeError, ValueError
            If `budget` is not a budget.

        Examples
        --------
        >>> Modulus([0, 4, 6]).optimal_error(2), Modulus([0, 4, 6]).optimal_error("0.8")
        (Fraction(2, 1), Fraction(3, 1))
        """
        law = read_budget(budget)
        return self._number(self._height(2 * Fraction(law.mean_abs)) / 2)

    def optimal_sensitivity(self, budget: Budget) -> Number:
        """Return the sensitivity of an estimator that attains `optimal_error`.

        It is the slope of the majorant to the left of 2w (thm-modulus-error); if omega is concave,
        it is omega(k) - omega(k - 1) with k = ceil(2w), as in `rank`. For the mean it is the
        threshold divided by N.

        Parameters
        ----------
        budget : Budget

        Returns
        -------
        float or Fraction
            In the unit of the statistic; a Fraction if the modulus is exact.

        Raises
        ------
        TypeError, ValueError
            If `budget` is not a budget.

        Examples
        --------
        >>> Modulus([0, 4, 6]).optimal_sensitivity(1), Modulus([0, 4, 6]).optimal_sensitivity(0.9)
        (Fraction(2, 1), Fraction(0, 1))
        """
        _, _, slope = self._piece(read_budget(budget).rank)
        return self._number(slope)

    def lower_bound(self, eps: Epsilon) -> float:
        """Return a lower bound on the minimax risk of user-level eps-DP mechanisms.

        It is max_n omega(n) / (1 + cosh(eps) + n sinh(eps)): thm-chain of the book. For the mean
        `minimax_lower_bound` may be larger.

        Parameters
        ----------
        eps : Epsilon

        Returns
        -------
        float
            A mean absolute error, in the unit of the statistic.

        Raises
        ------
        TypeError, ValueError
            If `eps` is not a privacy budget.

        Examples
        --------
        >>> round(Modulus([0, 4, 6]).lower_bound(eps=1), 4)
        1.2261
        """
        # Between corners the majorant is linear, so its quotient is monotone there.
        values = self.values[self._corners].astype(np.float64)
        return float(np.max(values / _risk_divisor(self._corners, float(read_eps(eps)))))

    def optimality_factor(self, eps: Epsilon) -> float:
        """Return an upper bound on the ratio of `optimal_error` to the minimax risk.

        It is the quotient of `optimal_error` and `lower_bound`: the minimax risk, the smallest
        worst-case mean absolute error of all user-level eps-DP mechanisms, lies between the two.
        `factor_of_every_statistic` bounds this quotient for all moduli.

        Parameters
        ----------
        eps : Epsilon

        Returns
        -------
        float
            At least 1; infinite where the lower bound is 0 in floats.

        Raises
        ------
        TypeError, ValueError
            If `eps` is not a privacy budget.

        Examples
        --------
        >>> round(Modulus([0, 4, 6]).optimality_factor(eps=1), 3)
        2.447
        """
        budget = read_eps(eps)
        error = float(self.optimal_error(budget))
        bound = self.lower_bound(budget)
        if error == 0:
            return 1.0  # the statistic is constant
        return error / bound if bound else inf

    @cached_property
    def _corners(self) -> npt.NDArray[np.int64]:
        """The numbers of users at the corners of the majorant."""
        # Beyond this number of users the modulus is constant.
        last = int(np.argmax(self.values == self.values[-1]))
        values = self.values[: last + 1]
        # There can only be a corner where the steps decrease.
        steps = np.diff(values)
        candidates = np.flatnonzero(steps[1:] < steps[:-1]) + 1
        # Lists, because access to single numpy numbers is slow.
        heights = values.tolist()
        corners = [0]
        for n in [*candidates.tolist(), *[last] * (last > 0)]:
            while len(corners) > 1 and _slope(heights, corners[-1], n) >= _slope(
                heights, corners[-2], corners[-1]
            ):
                corners.pop()
            corners.append(n)
        return np.array(corners)

    @cached_property
    def _corners_as_values(self) -> npt.NDArray[Any]:
        """The numbers of users at the corners, as Fractions or floats like the values."""
        return self._corners.astype(self.values.dtype)

    def _piece(self, x: Real) -> tuple[int, Any, Any]:
        """Return n, omega(n) and the slope of the piece of the majorant to the left of x.

        The piece begins at n. At x = 0 it is the first one. Beyond the last corner the slope is 0.
        """
        corners = self._corners
        # Compare with whole numbers: `x` as a float may lie on the other side of a corner.
        end = max(bisect_left(range(corners.size), x, key=lambda corner: int(corners[corner])), 1)
        left = int(corners[end - 1])
        value = self.values[left]
        if end == corners.size:
            return left, value, 0 * value
        right = int(corners[end])
        return left, value, (self.values[right] - value) / (right - left)

    def _height(self, x: Real) -> Any:
        left, value, slope = self._piece(x)
        distance = x - left
        return value + slope * (distance if self.is_exact else float(distance))

    def _number(self, value: Any) -> Number:
        """Return a number as a Fraction if the modulus is exact, and as a float otherwise."""
        result: Number = Fraction(value) if self.is_exact else float(value)  # type: ignore[assignment]
        return result

    def _number_or_float(self, value: Any) -> Number | float:
        """Return a number as a Fraction if it and the modulus are, and as a float otherwise."""
        return self._number(value) if isinstance(value, Fraction) else float(value)


def modulus_of_mean(users: Contributions[Number]) -> Modulus[Number]:
    """Return the modulus of the mean of all samples: omega(n) = U H(n) / N.

    H(n) is the sum of the n largest counts. With U = 1 it is also the modulus of the fraction of
    samples in a set, and so of their distribution function at a point.

    Parameters
    ----------
    users : Contributions

    Returns
    -------
    Modulus
        In the unit of the samples; exact if the bound U is a Fraction.

    Raises
    ------
    TypeError
        If `users` is not a Contributions instance.

    Examples
    --------
    >>> modulus = modulus_of_mean(Contributions([4, 2, 1], upper=Fraction(7)))
    >>> [int(value) for value in modulus.values], modulus.optimal_error("0.8")
    ([0, 4, 6, 7], Fraction(13, 4))
    """
    check.instance("users", users, Contributions)
    largest = _sums_of_largest(users)
    values = users.upper * _shares(largest, users)
    ends = np.append(0, np.cumsum(users.histogram[1][::-1]))
    return Modulus._concave(values, ends)


@overload
def modulus_of_weighted_mean(weights: npt.ArrayLike, upper: float) -> Modulus[float]: ...
@overload
def modulus_of_weighted_mean(weights: npt.ArrayLike, upper: Fraction) -> Modulus[Fraction]: ...
def modulus_of_weighted_mean(weights: npt.ArrayLike, upper: Real) -> Modulus[Any]:
    """Return the modulus of a sum of the users' means with public weights of any sign.

    For f = sum_l a_l (mean of user l), it is U times the sum of the n largest abs(a_l). Examples
    are means that weight all users equally, differences of the means of two groups, and slopes of a
    trend.

    Parameters
    ----------
    weights : array_like of float or Fraction, shape (L,)
        The a_l, public.
    upper : float or Fraction
        The bound U, in the unit of the samples.

    Returns
    -------
    Modulus
        In the unit of the samples; exact if `upper` is a Fraction.

    Raises
    ------
    TypeError
        If a weight or `upper` is not a real number.
    ValueError
        If `weights` is not one-dimensional or is empty; if a number is not finite, or `upper` is
        not positive; if the largest omega(n) exceeds the range of floats.

    Examples
    --------
    The mean of two users, minus that of two others:

    >>> modulus = modulus_of_weighted_mean([0.5, 0.5, -0.75, -0.25], upper=65)
    >>> modulus.values.tolist(), modulus.optimal_error(1)
    ([0.0, 48.75, 81.25, 113.75, 130.0], 40.625)
    """
    array = check.reals("weights", weights)
    if array.ndim != 1 or not array.size:
        got = f"weights of shape {array.shape}"
        check.refuse("weights", "be one-dimensional and not empty", got)
    bound: Any = check.upper(upper)
    if isinstance(bound, Fraction):
        array = np.array([Fraction(weight) for weight in array.tolist()])
    else:
        array = array.astype(np.float64)
    with np.errstate(over="ignore"):
        influences = bound * abs(array)
        largest = influences.sum()
    if largest > check.LARGEST:
        check.refuse_value(
            "upper", "small enough that all omega(n) are within the range of floats", upper
        )
    return _modulus_of_influences(influences)


def modulus_of_variance(users: Contributions[Number]) -> Modulus[Number]:
    """Return the modulus of the variance of all samples, (1/N) sum (x - mean)^2.

    omega(n) = U^2 k (N - k) / N^2 with k = min(H(n), floor(N/2)), where H(n) is the sum of the n
    largest counts: thm-variance of the book. The n heaviest users move k of their samples from 0 to
    U while all others are 0. The modulus is concave. Its square root is the modulus of the standard
    deviation.

    Parameters
    ----------
    users : Contributions

    Returns
    -------
    Modulus
        In the square of the unit of the samples; exact if the bound U is a Fraction.

    Raises
    ------
    TypeError
        If `users` is not a Contributions instance.
    ValueError
        If U^2 N is beyond the range of floats.

    Examples
    --------
    Two of four users hold half of the samples, so a third one does not add to the variance:

    >>> modulus_of_variance(Contributions([1, 1, 1, 1], upper=8)).values.tolist()
    [0.0, 12.0, 16.0, 16.0, 16.0]
    """
    square = _square_of_bound(users)
    half = users.total // 2
    n_changed = np.minimum(_sums_of_largest(users), half)
    values = square * _shares(n_changed, users) * _shares(users.total - n_changed, users)
    return Modulus._concave(values, np.arange(np.argmax(n_changed) + 1))


@overload
def modulus_of_protected_mean(max_count: int, least_total: int, upper: float) -> Modulus[float]: ...
@overload
def modulus_of_protected_mean(
    max_count: int, least_total: int, upper: Fraction
) -> Modulus[Fraction]: ...
def modulus_of_protected_mean(max_count: int, least_total: int, upper: Real) -> Modulus[Any]:
    """Return the modulus of the mean if the users and their counts are protected.

    Neighbouring datasets differ by one user who is added or removed. Only two facts are public: a
    user has at most m samples, and there are at least n0 in total. For n m <= n0 the modulus is
    omega(n) = U n m / (n0 + n m), so for eps >= 4m/n0 with a whole 2/eps the smallest worst-case
    error is U m / (eps n0 + 2m): prp-protected-modulus of the book. For larger n some users are
    replaced by others, which takes two steps each.

    Parameters
    ----------
    max_count : int
        The largest number m of samples of one user, at least 1.
    least_total : int
        The smallest total number n0 of samples, at least 1 and at most 2^26 m.
    upper : float or Fraction
        The bound U, in the unit of the samples.

    Returns
    -------
    Modulus
        In the unit of the samples; exact if `upper` is a Fraction.

    Raises
    ------
    TypeError, ValueError
        If `max_count` or `least_total` is not an integer in its range, or `upper` is not positive
        and finite.

    Examples
    --------
    >>> modulus = modulus_of_protected_mean(max_count=4, least_total=100, upper=Fraction(65))
    >>> modulus.optimal_error(1), Fraction(65 * 4, 100 + 2 * 4)
    (Fraction(65, 27), Fraction(65, 27))
    """
    m = check.integer("max_count", max_count, least=1, most=_MAX_SAMPLES)
    n0 = check.integer("least_total", least_total, least=1, most=_MAX_SAMPLES)
    if n0 > _MAX_GENERATED_USERS // 4 * m:
        check.refuse_value("least_total", f"at most 2^26 times `max_count`={m}", least_total)
    bound = check.upper(upper)
    # With this many steps, all samples can be replaced by others.
    n = np.arange(2 * -(-n0 // m) + 1)
    if isinstance(bound, Fraction):
        n = n.astype(object)
    share_if_added = _share_of_whole(n * m, np.asarray(n0), bound)
    # As many users are removed as added, or one fewer.
    n_removed = n // 2
    n_others = np.maximum(n0 - n_removed * m, 0)
    share_if_replaced = _share_of_whole((n - n_removed) * m, n_others, bound)
    return Modulus(bound * np.maximum(share_if_added, share_if_replaced))


def factor_of_every_statistic(eps: Epsilon) -> float:
    """Return an upper bound on the `optimality_factor` of every statistic.

    For every bounded statistic, the smallest worst-case error of bias plus Laplace noise is at most
    this multiple of the smallest worst-case mean absolute error of all user-level eps-DP
    mechanisms: (1 + cosh(eps)) / 2 + sinh(eps) / eps up to eps = 2, and (1 + exp(eps)) / eps for
    larger eps, which is attained by a yes-or-no question to one person: thm-every-factor of the
    book.

    Parameters
    ----------
    eps : Epsilon

    Returns
    -------
    float
        Below 2.45 for eps up to 1, and below 4.2 up to 2.

    Raises
    ------
    TypeError, ValueError
        If `eps` is not a privacy budget.

    Examples
    --------
    >>> round(factor_of_every_statistic(1), 3), round(factor_of_every_statistic(0.1), 3)
    (2.447, 2.004)
    """
    budget = float(read_eps(eps))
    with np.errstate(over="ignore"):
        if budget >= 2:
            return float((1 + np.exp(budget)) / budget)
        return float((1 + np.cosh(budget)) / 2 + np.sinh(budget) / budget)


def _risk_divisor(n: npt.NDArray[Any], eps: float) -> Floats:
    """Return 1 + cosh(eps) + n sinh(eps), infinite if it overflows."""
    a = exp(-eps)
    with np.errstate(divide="ignore", over="ignore"):
        divisor: Floats = (1 + a - n * expm1(-eps)) * ((1 + a) / 2) / np.float64(a)
    return divisor


def _modulus_of_influences(influences: npt.NDArray[Any]) -> Modulus[Any]:
    """Return the modulus of a statistic that each user can move by at most their influence."""
    largest = np.sort(influences)[::-1]
    values = np.append(0 * largest[:1], np.cumsum(largest))
    # A step beyond the last user is 0.
    ends = np.flatnonzero(largest > np.append(largest[1:], 0)) + 1
    return Modulus._concave(values, np.append(0, ends))


def _sums_of_largest(users: Contributions) -> npt.NDArray[np.int64]:
    """Return H(0), H(1), ..., H(L)."""
    sums: npt.NDArray[np.int64] = np.append(0, np.cumsum(np.sort(users.counts)[::-1]))
    return sums


def _shares(samples: npt.NDArray[np.int64], users: Contributions) -> npt.NDArray[Any]:
    """Return numbers of samples over N, as exact as the bound of the users."""
    shares: npt.NDArray[Any] = samples.astype(object if users.is_exact else np.float64)
    return shares / (Fraction(users.total) if users.is_exact else users.total)


def _share_of_whole(
    part: npt.NDArray[Any], rest: npt.NDArray[Any], bound: Real
) -> npt.NDArray[Any]:
    """Return part / (part + rest), as exact as a bound; 0 where the part is 0."""
    whole = np.maximum(part + rest, 1)
    share: npt.NDArray[Any] = part / (whole * Fraction(1) if isinstance(bound, Fraction) else whole)
    return share


def _square_of_bound(users: Contributions[Number]) -> Number:
    """Return U^2, if it and the largest sum of squares U^2 N are normal floats."""
    check.instance("users", users, Contributions)
    upper: Any = users.upper
    square = upper * upper
    if not check.SMALLEST_NORMAL <= square <= check.LARGEST / users.total:
        rule = "have a bound for which U^2 and U^2 N are within the range of normal floats"
        check.refuse("users", rule, f"upper={users.upper!r}")
    result: Number = square
    return result


def _slope(heights: list[Any], left: int, right: int) -> Any:
    return (heights[right] - heights[left]) / (right - left)
