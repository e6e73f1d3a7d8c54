"""Reading arguments: what is accepted, and what a refusal says.

Every message names the argument, the rule it breaks and the value that broke it.
"""

import math
import numbers
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

Exact = float | Fraction
"""A number that is a `Fraction` where the computation is exact, and a float elsewhere."""

Floats = NDArray[np.float64]
"""An array of floats."""

RNGLike = np.random.Generator | np.random.SeedSequence | np.random.BitGenerator | int
"""What `numpy.random.default_rng` turns into a Generator."""

SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)
LARGEST = float(np.finfo(np.float64).max)


def refuse_value(name: str, rule: str, value: object) -> NoReturn:
    raise ValueError(f"`{name}` must be {rule}, got {name}={value!r}.")


def refuse_type(name: str, rule: str, value: object) -> NoReturn:
    raise TypeError(
        f"`{name}` must be {rule}, got {name}={value!r} of type {type(value).__name__}."
    )


def check_instance(name: str, value: object, wanted: type) -> None:
    if not isinstance(value, wanted):
        refuse_type(name, f"a userdp.{wanted.__name__}", value)


def is_boolean(value: object) -> bool:
    """Whether it is no number, though Python says so of True, and numpy of a timedelta64."""
    return isinstance(value, bool | np.bool_ | np.timedelta64)


def read_integer(name: str, value: object, least: int, most: int | None = None) -> int:
    """An integer within bounds; floats and booleans are refused, not rounded."""
    if is_boolean(value) or not isinstance(value, numbers.Integral):
        refuse_type(name, "an integer", value)
    number = int(value)
    if number < least:
        refuse_value(name, f"at least {least}", value)
    if most is not None and number > most:
        refuse_value(name, f"at most {most}", value)
    return number


def read_real(name: str, value: object) -> float:
    """A finite real number, as a float."""
    if is_boolean(value) or not isinstance(value, numbers.Real):
        refuse_type(name, "a real number", value)
    if not -LARGEST <= value <= LARGEST:  # type: ignore[operator]
        refuse_value(name, "finite and within the range of floats", value)
    return float(value)


def read_size(name: str, value: object, exact: bool = False) -> Exact:
    """A finite number of at least 0: a Fraction if it is rational and `exact`, else a float."""
    if is_boolean(value) or not isinstance(value, numbers.Real):
        refuse_type(name, "a real number", value)
    size = Fraction(value) if isinstance(value, numbers.Rational) else float(value)
    if not 0 <= size < math.inf:
        refuse_value(name, "finite and at least 0", value)
    if size > LARGEST:
        refuse_value(name, "within the range of floats", value)
    return size if exact else float(size)


def read_positive(name: str, value: object) -> float:
    """A positive and finite real number, as a float."""
    number = float(read_size(name, value))
    if number == 0:
        refuse_value(name, "positive", value)
    return number


def read_upper(value: object) -> Exact:
    """The bound U: a Fraction stays one, any other real number becomes a float."""
    if is_boolean(value) or not isinstance(value, numbers.Real):
        refuse_type("upper", "a positive real number", value)
    number = int(value) if isinstance(value, numbers.Integral) else value
    exact = number if isinstance(number, Fraction | int) else float(number)
    if not 0 < exact < math.inf:
        refuse_value("upper", "positive and finite", value)
    if not SMALLEST_NORMAL <= exact <= LARGEST:
        refuse_value("upper", "within the range of normal floats", value)
    if not isinstance(exact, Fraction) and float(exact) != number:
        refuse_value("upper", "a number that a float holds exactly, or a Fraction", value)
    return exact if isinstance(exact, Fraction) else float(exact)


def read_rng(rng: RNGLike | None) -> np.random.Generator:
    """A Generator: the one given, or a new one from a seed, or from the system's entropy."""
    accepted = (
        np.random.Generator,
        np.random.SeedSequence,
        np.random.BitGenerator,
        int,
        np.integer,
    )
    if is_boolean(rng) or not (rng is None or isinstance(rng, accepted)):
        refuse_type("rng", "a numpy Generator, a seed or None", rng)
    if isinstance(rng, int | np.integer) and rng < 0:
        refuse_value("rng", "a numpy Generator, a seed of at least 0 or None", rng)
    return np.random.default_rng(rng)


def read_array(name: str, values: npt.ArrayLike) -> NDArray[Any]:
    """`numpy.asarray`, with an error that names the argument, and with no mask overlooked."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"`{name}` must not be a masked array: drop or fill the masked entries.")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"`{name}` must be an array: {error}") from error


def read_reals(name: str, values: npt.ArrayLike) -> NDArray[Any]:
    """A fresh array of finite float64, or of Fractions where every entry is rational and exact."""
    raw = read_array(name, values)
    if raw.dtype == object and raw.size:
        return _read_fractions(name, raw)
    if raw.size and raw.dtype.kind not in "iuf":
        raise TypeError(f"`{name}` must hold real numbers, got {name} of dtype {raw.dtype}.")
    array = raw.astype(np.float64)
    if raw.dtype.kind in "iu":
        bad = (raw > 2**53) | (raw < -(2**53))
        refuse_entries(name, "within +-2^53, which floats hold exactly", raw, bad)
    refuse_entries(name, "finite", array, ~np.isfinite(array))
    return array


def _read_fractions(name: str, raw: NDArray[Any]) -> NDArray[Any]:
    array = np.empty(raw.shape, dtype=object)
    for index, value in np.ndenumerate(raw):
        if is_boolean(value) or not isinstance(value, numbers.Rational):
            refuse_type(f"{name}[{', '.join(map(str, index))}]", "a Fraction or an integer", value)
        array[index] = Fraction(value)
    refuse_entries(name, "within the range of floats", array, abs(array) > LARGEST)
    return array


def read_floats(name: str, values: npt.ArrayLike) -> Floats:
    """A fresh array of finite float64: Fractions are rounded."""
    return read_reals(name, values).astype(np.float64)


def refuse_entries(name: str, rule: str, array: NDArray[Any], bad: NDArray[np.bool_]) -> None:
    """Raise ValueError naming the first entry of `array` at which `bad` holds, if there is one."""
    if np.any(bad):
        index = np.unravel_index(int(np.argmax(bad)), array.shape)
        where = ", ".join(str(int(i)) for i in index)
        value = array[index]
        shown = value.item() if isinstance(value, np.generic) else value
        raise ValueError(f"`{name}` must be {rule}, got {name}[{where}]={shown!r}.")
