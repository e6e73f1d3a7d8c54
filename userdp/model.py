"""Public inputs (users, intervals, collections and budgets), and validation of protected sums.

The counts of the users, the intervals to which their samples are clipped (Section II), the centres,
the privacy parameter eps and the rank k = ceil(2/eps) that the paper derives from it are public.
The sums of the users are protected.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, overload

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, Real

# Above this total, floats no longer represent every integer.
_MAX_SAMPLES = 2**53

# Maximum number of users in a generated collection, whose counts take 2 GiB.
_MAX_GENERATED_USERS = 2**28

# The type of the bound of users, and of each result that is as exact as the bound: float or
# Fraction. For `Contributions` without brackets it may be either. Before Python 3.13, such defaults
# need typing_extensions, which type checkers install, and which nothing else here needs.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Number = TypeVar("Number", bound=Real, covariant=True, default=Real)
else:
    from typing import TypeVar

    Number = TypeVar("Number", bound=Real, covariant=True)

# A privacy parameter: a real number, or a decimal number as a string.
Epsilon = float | Fraction | Decimal | str

# A float eps counts as 2/k when 2/eps is within this relative distance of the integer k.
_SNAP = Fraction(1, 10**9)

# Rounding may have moved sums out of [0, U m_l] by this fraction of U m_l; such sums are projected.
# For float32 the tolerance is 8 units in the last place.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Contributions(Generic[Number]):
    """The public part of a dataset: the number of samples of each user, and their range.

    User l contributes ``counts[l]`` samples, each in [0, `upper`] (Section II-B of the paper, which
    writes (0, U]; every maximum over datasets is then a supremum). The counts and the bound are
    public; the samples are protected.

    Parameters
    ----------
    counts : array_like of int, shape (L,)
        Numbers of samples m_l, each at least 1, at most 2^53 in total.
    upper : float or Fraction
        The bound U, in the unit of the samples. With a Fraction, every worst-case function computes
        and returns exact Fractions; with an integer or a float, it returns floats.

    Attributes
    ----------
    counts : ndarray of int64, shape (L,)
        A read-only copy.
    upper : float or Fraction
        The bound U.

    Raises
    ------
    TypeError
        If `counts` are not integers, or `upper` is not a real number.
    ValueError
        If `counts` is empty or not one-dimensional, or holds a number below 1 or too many samples;
        if `upper` is not positive and finite, or U m_l exceeds the range of floats.

    Notes
    -----
    For a type checker, instances are `Contributions[float]` or `Contributions[Fraction]`, and
    results that are always as exact as the bound have the same type. Where the noise or an
    objective may turn a Fraction into a float, the type is either; floats always give floats.

    Examples
    --------
    >>> users = Contributions([4, 1, 1], upper=65)
    >>> users
    Contributions(n_users=3, total=6, max_count=4, upper=65.0)
    """

    upper: Number

    @overload
    def __init__(self: Contributions[float], counts: npt.ArrayLike, upper: float) -> None: ...
    @overload
    def __init__(self: Contributions[Fraction], counts: npt.ArrayLike, upper: Fraction) -> None: ...
    def __init__(self, counts: npt.ArrayLike, upper: Real) -> None:
        object.__setattr__(self, "counts", _read_counts(counts))
        self._set_upper(upper)

    @classmethod
    def _of_histogram(
        cls, counts: npt.NDArray[np.int64], multiplicities: npt.NDArray[np.int64], upper: Real
    ) -> Self:
        """Return the users of a `histogram`, without an array that has one entry per user.

        The counts are distinct and ascending; counts and multiplicities are at least 1.
        """
        users = object.__new__(cls)
        # Python's integers do not overflow.
        total = sum(m * n for m, n in zip(counts.tolist(), multiplicities.tolist(), strict=True))
        if total > _MAX_SAMPLES:
            _refuse_total(total)
        attributes = {
            "histogram": (counts, multiplicities),
            "n_users": int(multiplicities.sum()),
            "total": total,
            "max_count": int(counts[-1]),
        }
        for name, value in attributes.items():
            object.__setattr__(users, name, value)
        users._set_upper(upper)
        return users

    def _set_upper(self, upper: Real) -> None:
        object.__setattr__(self, "upper", check.upper(upper))
        if self.upper > check.LARGEST / self.total:
            rule = f"small enough that {self.total} samples sum to a float"
            check.refuse_value("upper", rule, upper)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Numbers of samples m_l, in the order given, shape (L,)."""
        # Called only for users given by a histogram. The largest counts come first.
        distinct, multiplicities = self.histogram
        counts = np.repeat(distinct[::-1], multiplicities[::-1])
        counts.setflags(write=False)
        return counts

    def __repr__(self) -> str:
        counts = f"n_users={self.n_users}, total={self.total}, max_count={self.max_count}"
        return f"Contributions({counts}, upper={self.upper})"

    @cached_property
    def n_users(self) -> int:
        """The number of users L."""
        return self.counts.size

    @cached_property
    def total(self) -> int:
        """The number of samples, N = sum of m_l."""
        return int(self.counts.sum())

    @cached_property
    def max_count(self) -> int:
        """The largest number of samples of one user, m*."""
        return int(self.counts.max())

    @cached_property
    def histogram(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The distinct counts, the smallest first, and the number of users with each."""
        return np.unique(self.counts, return_counts=True)

    @property
    def largest_sums(self) -> npt.NDArray[Any]:
        """The largest sum U m_l that each user's samples can have, shape (L,)."""
        return np.asarray(self.upper) * self.counts

    def surplus(self, total_width: Real) -> npt.NDArray[Any]:
        """Return by how much each user's largest sum exceeds a total width S: (U m_l - S)^+.

        Parameters
        ----------
        total_width : float or Fraction
            S, finite and at least 0, in the unit of the samples.

        Returns
        -------
        ndarray, shape (L,)
            Floats, or Fractions if both U and S are exact.

        Raises
        ------
        TypeError, ValueError
            If `total_width` is not a finite number of at least 0.
        """
        width = np.asarray(check.nonnegative("total_width", total_width, self.is_exact))
        surplus: npt.NDArray[Any] = np.maximum(self.largest_sums - width, 0 * width)
        return surplus

    @property
    def is_exact(self) -> bool:
        """Whether the bound is a Fraction, and results are therefore exact."""
        return isinstance(self.upper, Fraction)


def _as_bound(users: Contributions[Number], value: Real) -> Number:
    """Return a number as a Fraction if the bound is one, and as a float otherwise."""
    kind: Any = Fraction if users.is_exact else float
    result: Number = kind(value)
    return result


def _number_or_float(users: Contributions[Number], value: Any) -> Number | float:
    """Return a Fraction in the type of the bound, and any other number as a float."""
    return _as_bound(users, value) if isinstance(value, Fraction) else float(value)


def _read_counts(counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
    raw = check.array("counts", counts)
    if raw.ndim != 1 or not raw.size:
        check.refuse("counts", "be one-dimensional and not empty", f"counts of shape {raw.shape}")
    if raw.dtype.kind not in "iu":
        # Integers beyond 64 bits have become objects or floats: check the input itself.
        raw = np.asarray(counts, dtype=object)
        for index, count in enumerate(raw):
            check.number(f"counts[{index}]", count, numbers.Integral, "an integer")
    check.refuse_entries("counts", "at least 1", raw, raw < 1)
    check.refuse_entries("counts", f"at most 2^53 = {_MAX_SAMPLES}", raw, raw > _MAX_SAMPLES)
    exact = raw.astype(np.int64)
    # The float sum is tried first, because the integer sum of such large counts might overflow.
    if exact.sum(dtype=np.float64) > 2 * _MAX_SAMPLES or int(exact.sum()) > _MAX_SAMPLES:
        _refuse_total(exact.sum(dtype=np.float64))
    exact.setflags(write=False)
    return exact


def _refuse_total(total: float) -> NoReturn:
    rule = f"sum to at most 2^53 = {_MAX_SAMPLES} samples"
    check.refuse("counts", rule, f"a sum of about {total:.6g}")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Clipping:
    """Intervals to which samples are clipped: an estimator of the class B of Section III-A.

    A sample x is replaced by its projection min(max(x, lower), upper). There is one interval per
    user (L of them, each for all of the user's samples) or one per sample (N of them: all samples
    of the first user, then all of the second, and so on). An interval of zero width drops the
    sample. Intervals are public and must not depend on the samples.

    Parameters
    ----------
    lower, upper : array_like of float or Fraction, shape (L,) or (N,)
        Ends a and b of the intervals, 0 <= a <= b <= U, in the unit of the samples. Functions that
        also take the users check b <= U.

    Attributes
    ----------
    lower, upper : ndarray of float64 or of Fraction objects
        Read-only copies.

    Raises
    ------
    TypeError
        If an end is not a real number.
    ValueError
        If the shapes differ or are not one-dimensional, an end is negative or not finite, or an
        interval is reversed.

    Examples
    --------
    >>> Clipping(lower=[0, 20], upper=[65, 45])
    Clipping(n_intervals=2, lower=0.0 to 20.0, upper=45.0 to 65.0)
    """

    lower: npt.NDArray[Any]
    upper: npt.NDArray[Any]

    def __init__(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> None:
        a = check.reals("lower", lower)
        b = check.reals("upper", upper)
        if a.ndim != 1 or a.shape != b.shape or not a.size:
            raise ValueError(
                "`lower` and `upper` must be one-dimensional, not empty and equally long, "
                f"got shapes {a.shape} and {b.shape}."
            )
        check.refuse_entries("lower", "at least 0", a, a < 0)
        check.refuse_entries("lower", "at most `upper`", a, a > b)
        for name, ends in (("lower", a), ("upper", b)):
            ends.setflags(write=False)
            object.__setattr__(self, name, ends)

    def __repr__(self) -> str:
        lower = f"{min(self.lower)} to {max(self.lower)}"
        upper = f"{min(self.upper)} to {max(self.upper)}"
        return f"Clipping(n_intervals={self.lower.size}, lower={lower}, upper={upper})"


@overload
def geometric_collection(M: int, upper: float) -> Contributions[float]: ...  # noqa: N803
@overload
def geometric_collection(M: int, upper: Fraction) -> Contributions[Fraction]: ...  # noqa: N803
def geometric_collection(M: int, upper: Real) -> Contributions:  # noqa: N803 (the paper's letter)
    """Return the paper's geometric collection: for i = 0..M, 2^i users with 2^(M-i) samples each.

    Parameters
    ----------
    M : int
        The paper's parameter, at least 0: there are 2^(M+1) - 1 users, m* = 2^M, and
        N = (M+1) 2^M (Section IV-B).
    upper : float or Fraction
        The bound U, in the unit of the samples.

    Returns
    -------
    Contributions
        The users, largest contributor first.

    Raises
    ------
    TypeError, ValueError
        If `M` is not an integer from 0 to 27 (2^28 users); `upper` as in `Contributions`.

    Examples
    --------
    >>> geometric_collection(M=2, upper=65).counts
    array([4, 2, 2, 1, 1, 1, 1])
    """
    most = _MAX_GENERATED_USERS.bit_length() - 2
    level = np.arange(check.integer("M", M, least=0, most=most) + 1)
    return Contributions(np.repeat(2 ** level[::-1], 2**level), upper)


@overload
def extreme_collection(n_users: int, max_count: int, upper: float) -> Contributions[float]: ...
@overload
def extreme_collection(
    n_users: int, max_count: int, upper: Fraction
) -> Contributions[Fraction]: ...
def extreme_collection(n_users: int, max_count: int, upper: Real) -> Contributions:
    """Return the paper's extreme-valued collection: the last user has m* samples, all others one.

    Parameters
    ----------
    n_users : int
        The number of users L, at least 1.
    max_count : int
        The number of samples m* of the one heavy user, at least 1 (Section IV-B).
    upper : float or Fraction
        The bound U, in the unit of the samples.

    Returns
    -------
    Contributions
        The users, the heavy one last.

    Raises
    ------
    TypeError, ValueError
        If `n_users` is not an integer from 1 to 2^28 or `max_count` from 1 to 2^53; `upper` as in
        `Contributions`.

    Examples
    --------
    >>> extreme_collection(n_users=4, max_count=10, upper=65).counts
    array([ 1,  1,  1, 10])
    """
    n_users = check.integer("n_users", n_users, least=1, most=_MAX_GENERATED_USERS)
    counts = np.ones(n_users, dtype=np.int64)
    counts[-1] = check.integer("max_count", max_count, least=1, most=_MAX_SAMPLES)
    return Contributions(counts, upper)


def read_eps(eps: Epsilon, name: str = "eps") -> Fraction:
    """Return the exact value of a privacy parameter.

    Parameters
    ----------
    eps : float, int, Fraction, Decimal or str
        Privacy budget of a release (dimensionless, public). A float stands for its binary value;
        a string must be a decimal number such as ``"0.1"``.
    name : str, optional
        Name of the argument in error messages.

    Returns
    -------
    Fraction
        The exact value.

    Raises
    ------
    TypeError
        If `eps` is a boolean or not a real number.
    ValueError
        If `eps` is a string that is not a number, not positive, not finite, or so close to zero
        that its float is subnormal.

    Examples
    --------
    >>> read_eps("0.1"), read_eps(0.5)
    (Fraction(1, 10), Fraction(1, 2))
    """
    rule = "a real number or the text of a decimal number"
    try:
        number = Decimal(eps) if isinstance(eps, str) else eps
    except InvalidOperation:
        check.refuse_value(name, rule, eps)
    if not isinstance(number, Decimal | Fraction):
        check.number(name, number, numbers.Real, rule)
        number = int(number) if isinstance(number, numbers.Integral) else float(number)
    # A comparison with a Decimal NaN would itself raise an error.
    if (isinstance(number, Decimal) and number.is_nan()) or not 0 < number < inf:
        check.refuse_value(name, "positive and finite", eps)
    # Compared before the conversion: Fraction(Decimal("1e-999999999")) would never finish.
    if not check.SMALLEST_NORMAL <= number <= check.LARGEST:
        check.refuse_value(name, "within the range of normal floats", eps)
    return Fraction(number)


def rank(eps: Epsilon) -> int:
    """Return k = ceil(2/eps): the threshold of Theorem III.1 is the k-th largest U m_l.

    Fractions, Decimals, integers and strings are used exactly. A float may differ slightly from the
    intended number: if 2/eps lies within a relative 1e-9 of an integer, k is that integer (in
    floating point, ``math.ceil(2 / (2 / 49))`` is 50); for a numpy float32, the tolerance is its
    own precision. The rank is public, and noise is always scaled to the interval widths in use, so
    this tolerance costs no privacy.

    Parameters
    ----------
    eps : float, int, Fraction, Decimal or str
        Privacy budget of the release (dimensionless, public).

    Returns
    -------
    int
        k, at least 1; it may exceed the number of users.

    Raises
    ------
    TypeError, ValueError
        If `eps` is not a privacy budget.

    Examples
    --------
    >>> rank(0.3), rank(2 / 49), rank("2")
    (7, 49, 1)
    """
    quotient = 2 / read_eps(eps)
    nearest = round(quotient)
    return nearest if abs(quotient - nearest) <= _tolerance(eps) * nearest else ceil(quotient)


def _tolerance(eps: Epsilon) -> Fraction:
    """Return the relative distance within which 2/eps counts as a whole number."""
    if isinstance(eps, np.floating):
        return max(_SNAP, Fraction(float(np.finfo(type(eps)).eps)))
    return Fraction(0) if isinstance(eps, numbers.Rational | Decimal | str) else _SNAP


def _read_sums(sums: npt.ArrayLike, users: Contributions) -> Floats:
    """Check that user sums fit the users: shape (..., L), each in [0, U m_l] up to rounding."""
    check.instance("users", users, Contributions)
    given = check.array("sums", sums).dtype
    rounding = max(_ROUNDING, 8 * np.finfo(given).eps) if given.kind == "f" else _ROUNDING
    array = check.floats("sums", sums)
    if array.ndim == 0 or array.shape[-1] != users.n_users:
        rule = f"have one entry per user ({users.n_users}) along its last axis"
        check.refuse("sums", rule, f"sums of shape {array.shape}")
    largest = users.largest_sums.astype(np.float64)
    outside = (array < -rounding * largest) | (array > (1 + rounding) * largest)
    check.refuse_entries("sums", "between 0 and U m_l", array, outside)
    return np.clip(array, 0.0, largest)


def _read_centre(users: Contributions, centre: Real | None) -> Real:
    """Return a centre within [0, U]; U/2 if none is given."""
    if centre is None:
        return users.upper / 2
    value = check.nonnegative("centre", centre, users.is_exact)
    if value > users.upper:
        check.refuse_value("centre", f"at most U = {users.upper}", centre)
    return value
