"""Validation of arguments: the values that are accepted, and the error messages for others.

Every message names the argument, the rule and the offending value: a number or a short string is
quoted, anything else is described by its type and shape. Messages of `userdp.release`
must not quote more; in the core, `refuse_entries` also quotes an entry of an array.
"""

import math
import numbers
from collections.abc import Collection
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

# A number: a `Fraction` if the computation is exact, otherwise a float.
Real = float | Fraction

Floats = npt.NDArray[np.float64]

# What `numpy.random.default_rng` accepts; None stands for the system's entropy.
RNGLike = np.random.Generator | np.random.SeedSequence | np.random.BitGenerator | int | None

SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)
LARGEST = float(np.finfo(np.float64).max)

# These are not accepted as numbers, although True is one in Python, and a timedelta in numpy.
_NOT_NUMBERS = bool | np.bool_ | np.timedelta64

# A longer string, or one that contains a separator, may hold a table.
_LONGEST_TEXT = 100
_SEPARATORS = frozenset(",;|")

# Whole numbers, fractions and decimals with more digits are shown rounded to six.
_MAX_DIGITS = 60
_SIX_DIGITS = Context(prec=6, Emax=MAX_EMAX, Emin=MIN_EMIN)


def refuse(name: str, rule: str, got: str) -> NoReturn:
    raise ValueError(f"`{name}` must {rule}, got {got}.")


def refuse_value(name: str, rule: str, value: object) -> NoReturn:
    refuse(name, f"be {rule}", shown(name, value))


def refuse_type(name: str, rule: str, value: object) -> NoReturn:
    if not is_plain(value):
        refuse_kind(name, rule, value)
    raise TypeError(f"`{name}` must be {rule}, got {name}={digits_of(value)} {kind_of(value)}.")


def refuse_kind(name: str, rule: str, value: object) -> NoReturn:
    """Like `refuse_type`, but quote nothing, not even a number: it may be data."""
    raise TypeError(f"`{name}` must be {rule}, got {name} {kind_of(value)}.")


def shown(name: str, value: object) -> str:
    """Describe an argument for an error message; arrays and tables are not quoted."""
    return f"{name}={digits_of(value)}" if is_plain(value) else f"{name} {kind_of(value)}"


def digits_of(value: object) -> str:
    """Return the repr of a plain value; long numbers are rounded to six digits."""
    if isinstance(value, int | Fraction):
        parts = value.numerator, value.denominator
        if sum(map(int.bit_length, parts)) <= _MAX_DIGITS * math.log2(10):
            return repr(value)
        number = _SIX_DIGITS.divide(*map(Decimal, parts))
    elif isinstance(value, Decimal) and len(value.as_tuple().digits) > _MAX_DIGITS:
        number = _SIX_DIGITS.plus(value)
    else:
        return repr(value)
    return f"{number.normalize(_SIX_DIGITS):.6g} (rounded, of type {type(value).__name__})"


def load(library: str, need: str, extra: str) -> Any:
    """Import a library that an extra installs; if it is missing, say what to install."""
    try:
        return import_module(library)
    except ImportError as error:
        raise ImportError(f"{need}: pip install 'userdp[{extra}]'.") from error


def is_plain(value: object) -> bool:
    """Whether the value can be a setting: a number, a short string, True, False or None."""
    if isinstance(value, str):
        one_word = value.isprintable() and _SEPARATORS.isdisjoint(value)
        return one_word and len(value) <= _LONGEST_TEXT
    return value is None or isinstance(value, numbers.Number | np.bool_)


def kind_of(value: object) -> str:
    """Describe the type of an argument, and its shape if it has one."""
    shape = (len(value),) if isinstance(value, list | tuple) else getattr(value, "shape", None)
    # A data frame has its columns as attributes, and one may be called `shape`.
    kind = f"of type {type(value).__name__}"
    return f"{kind} and shape {shape}" if isinstance(shape, tuple) else kind


def instance(name: str, value: object, wanted: type) -> None:
    if not isinstance(value, wanted):
        # Classes of `userdp.model` are exported as `userdp.NAME`.
        refuse_kind(name, f"a {wanted.__module__.removesuffix('.model')}.{wanted.__name__}", value)


def one_of(name: str, value: object, names: Collection[str]) -> None:
    if not isinstance(value, str) or value not in names:
        refuse_value(name, f"one of {', '.join(map(repr, names))}", value)


def boolean(name: str, value: object) -> bool:
    """Return True or False as a bool; numbers are rejected."""
    if not isinstance(value, bool | np.bool_):
        refuse_type(name, "True or False", value)
    return bool(value)


def number(name: str, value: object, kind: type, rule: str) -> Any:
    """Return the value unchanged if it is a number of this kind; booleans do not count."""
    if not isinstance(value, kind) or isinstance(value, _NOT_NUMBERS):
        refuse_type(name, rule, value)
    return value


def integer(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return an integer within bounds; floats and booleans are rejected, not rounded."""
    result = int(number(name, value, numbers.Integral, "an integer"))
    if result < least:
        refuse_value(name, f"at least {least}", value)
    if most is not None and result > most:
        refuse_value(name, f"at most {most}", value)
    return result


def real(name: str, value: object) -> float:
    """Return a finite real number or Decimal as the nearest float."""
    result: Real
    if isinstance(value, Decimal):
        result = math.nan if value.is_nan() else float(value)
    else:
        given = number(name, value, numbers.Real, "a real number")
        # Convert to a float first: compared with a float32, the limits would be infinite.
        result = Fraction(given) if isinstance(given, numbers.Rational) else float(given)
    if not -LARGEST <= result <= LARGEST:
        refuse_value(name, "finite and within the range of floats", value)
    return float(result)


def nonnegative(name: str, value: object, exact: bool = False) -> Real:
    """Return a finite number of at least 0: a Fraction if rational and `exact`, else a float."""
    given = number(name, value, numbers.Real, "a real number")
    result = Fraction(given) if isinstance(given, numbers.Rational) else float(given)
    if not 0 <= result < math.inf:
        refuse_value(name, "finite and at least 0", value)
    if result > LARGEST:
        refuse_value(name, "within the range of floats", value)
    return result if exact else float(result)


def positive(name: str, value: object) -> float:
    """Return a positive and finite real number as a float."""
    result = float(nonnegative(name, value))
    if result == 0:
        refuse_value(name, "positive", value)
    return result


def upper(value: object) -> Real:
    """Return the bound U: a Fraction stays one, any other real number becomes a float."""
    given = number("upper", value, numbers.Real, "a positive real number")
    given = int(given) if isinstance(given, numbers.Integral) else given
    result = given if isinstance(given, Fraction | int) else float(given)
    if not 0 < result < math.inf:
        refuse_value("upper", "positive and finite", value)
    if not SMALLEST_NORMAL <= result <= LARGEST:
        refuse_value("upper", "within the range of normal floats", value)
    if not isinstance(result, Fraction) and float(result) != given:
        refuse_value("upper", "a number that a float holds exactly, or a Fraction", value)
    return result if isinstance(result, Fraction) else float(result)


def rng(given: RNGLike) -> np.random.Generator:
    """Return the Generator given, or a new one from a seed or from the system's entropy."""
    if isinstance(given, _NOT_NUMBERS) or not isinstance(given, RNGLike | np.integer):
        refuse_type("rng", "a numpy Generator, a seed or None", given)
    if isinstance(given, int | np.integer) and given < 0:
        refuse_value("rng", "a numpy Generator, a seed of at least 0 or None", given)
    return np.random.default_rng(given)


def array(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Call `numpy.asarray`, naming the argument in errors; masked arrays are rejected."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"`{name}` must not be a masked array: drop or fill the masked entries.")
    try:
        return np.asarray(values)
    except ValueError:
        got = shown(name, values)
    refuse(name, "be an array whose rows have equal lengths", got)


def reals(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return a new array of finite float64, or of Fractions if all entries are exact rationals."""
    given = array(name, values)
    if given.dtype == object and given.size:
        return _fractions(name, given)
    if given.size and given.dtype.kind not in "iuf":
        raise TypeError(f"`{name}` must hold real numbers, got {name} of dtype {given.dtype}.")
    if given.dtype.kind in "iu":
        too_large = (given > 2**53) | (given < -(2**53))
        refuse_entries(name, "within +-2^53, which floats hold exactly", given, too_large)
    result = given.astype(np.float64)
    refuse_entries(name, "finite", result, ~np.isfinite(result))
    return result


def _fractions(name: str, given: npt.NDArray[Any]) -> npt.NDArray[Any]:
    result = np.empty(given.shape, dtype=object)
    for index, value in np.ndenumerate(given):
        where = f"{name}[{', '.join(map(str, index))}]"
        result[index] = Fraction(number(where, value, numbers.Rational, "a Fraction or an integer"))
    refuse_entries(name, "within the range of floats", result, abs(result) > LARGEST)
    return result


def floats(name: str, values: npt.ArrayLike) -> Floats:
    """Return a new array of finite float64; Fractions are rounded."""
    return reals(name, values).astype(np.float64)


def refuse_entries(
    name: str, rule: str, entries: npt.NDArray[Any], bad: npt.NDArray[np.bool_]
) -> None:
    """Raise a ValueError that names the first entry at which `bad` holds, if there is one."""
    if np.any(bad):
        first = int(np.argmax(bad))
        where = ", ".join(map(str, np.unravel_index(first, entries.shape)))
        refuse(name, f"be {rule}", f"{name}[{where}]={digits_of(entries.item(first))}")
