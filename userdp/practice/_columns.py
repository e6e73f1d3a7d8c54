"""Reading a column once: users become whole numbers, values become floats, and nothing is kept.

One rule for nulls, of users and values, whatever the column is made of: null is `None`, the `NA` of
pandas, and what differs from itself (NaN, NaT). One rule for users: two ids are the same if they
are of one type and equal. Ids of several types in one column are refused; text is compared code
point by code point; floats are ids only where all of them are whole numbers that the type holds
exactly. No id passes through a float on the way.
"""

import datetime
import numbers
import uuid
from decimal import Decimal
from math import inf
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from userdp import _checks as check

KINDS: dict[type, str] = {
    **dict.fromkeys((str, np.str_), "text"),
    **dict.fromkeys((bytes, np.bytes_), "bytes"),
    **dict.fromkeys((int, *(np.dtype(c).type for c in "bhilqBHILQ")), "integer"),
    **dict.fromkeys((float, *(np.dtype(c).type for c in "efdg")), "float"),
    Decimal: "decimal",
    datetime.date: "date",
    datetime.time: "time of day",
    datetime.timedelta: "duration",
    uuid.UUID: "UUID",
}
"""Types of an id that stands alone; no two kinds are ever equal. True is nobody's id."""


WHOLE, NUMBERS, TIMES, IDS = "iu", "iuf", "mM", "iuUS"
"""Kinds of numpy's dtypes."""


class Ids(NamedTuple):
    """Users as whole numbers from 0, and -1 where there is none."""

    codes: npt.NDArray[Any]
    n_codes: int
    """More than the largest of them."""
    some_missing: bool


def read_ids(column: Any) -> Ids:
    """Return a snapshot of a column of users."""
    entries, absent = _plain("user", column)
    if entries.dtype == object:
        return _ids_of_objects(entries)
    if entries.dtype.kind == "f":
        absent = np.isnan(entries) if absent is None else absent | np.isnan(entries)
        most = min(2.0 ** (np.finfo(entries.dtype).nmant + 1), 2.0**53)
        entries = np.where(absent, 0, entries)
        if np.any((entries != np.floor(entries)) | (abs(entries) > most)):
            refuse_odd()
    elif entries.dtype.kind in TIMES:
        absent = np.isnat(entries)
    elif entries.dtype.kind not in IDS:
        raise TypeError(f"`user` must hold ids, got user of dtype {entries.dtype}.")
    codes, n_codes = _codes(entries)
    if absent is not None and absent.any():
        codes = codes.astype(np.int64)
        codes[absent] = -1
        return Ids(codes, n_codes, True)
    return Ids(codes, n_codes, False)


def read_values(column: Any) -> npt.NDArray[np.float64]:
    """Return a snapshot of a column of values, with NaN for those that are null."""
    entries, absent = _plain("value", column)
    if entries.dtype == object:
        return np.fromiter(map(_number, entries.tolist()), np.float64)
    if entries.dtype.kind not in NUMBERS:
        raise TypeError(f"`value` must hold real numbers, got value of dtype {entries.dtype}.")
    with np.errstate(over="ignore"):  # of long doubles: an infinity is outside of all bounds
        values = np.array(entries, np.float64)
    if absent is not None:
        values[absent] = np.nan
    return values


def refuse_odd() -> NoReturn:
    """Refuse users that are floats, but no ids."""
    raise TypeError(
        "`user` must hold ids: some are floats that are no whole numbers, or too large for their "
        "type to tell neighbours apart. Pass whole numbers or text."
    )


def is_null(entry: Any) -> bool:
    """Whether it is None, pandas' NA, or differs from itself, as NaN and NaT do: the one rule."""
    if entry is None or type(entry).__name__ == "NAType":
        return True
    if isinstance(entry, Decimal):  # a signalling one cannot be compared
        return entry.is_nan()
    if isinstance(entry, str | bytes | int):
        return False
    different = entry != entry
    return isinstance(different, bool | np.bool_) and bool(different)


def comes_from(library: str, thing: Any) -> bool:
    """Whether this is an object of a library, which is not imported for the question."""
    return any(kind.__module__.partition(".")[0] == library for kind in type(thing).__mro__)


def _plain(name: str, column: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """Return an array of its own, and where it is null if it cannot say so itself."""
    if comes_from("polars", column):
        return _plain_arrow(name, _arrow_of_polars(name, column))
    if comes_from("pyarrow", column):
        return _plain_arrow(name, column)
    if comes_from("pandas", column):
        return _plain_pandas(name, column)
    if isinstance(column, list | tuple | range):
        # Else numpy would make text of numbers, and numbers of booleans.
        return np.fromiter(column, object), None
    array = check.array(name, column)
    if isinstance(column, str):
        raise TypeError(f"`{name}` must be a column, got text: pass `data=`, the table it is in.")
    if array.ndim != 1:
        raise ValueError(f"`{name}` must be a column, of shape (n,), got shape {array.shape}.")
    if array.dtype.kind == "V":
        raise TypeError(f"`{name}` must be a plain column, got {name} of dtype {array.dtype}.")
    if array.dtype.kind == "T":  # numpy's own strings, which may have a null of any kind
        return array.astype(object), None
    return np.array(array), None


def _plain_pandas(name: str, column: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    if getattr(column, "ndim", 0) != 1:
        raise ValueError(f"`{name}` must be one column, got a {type(column).__name__}.")
    if hasattr(column.dtype, "categories"):
        names = np.fromiter([*column.dtype.categories, None], object)
        return names[getattr(column, "cat", column).codes], None  # -1 where there is none
    kind = column.dtype
    if hasattr(kind, "pyarrow_dtype"):
        import pyarrow

        return _plain_arrow(name, pyarrow.array(column))
    if hasattr(kind, "numpy_dtype") and kind.kind in NUMBERS:  # may have nulls beside its numbers
        absent = np.array(column.isna())
        return column.to_numpy(kind.numpy_dtype, na_value=0), absent
    return np.array(column.to_numpy()), None


def _arrow_of_polars(name: str, column: Any) -> Any:
    if not hasattr(column, "dtype"):
        raise TypeError(f"`{name}` must be a column of data, got a {type(column).__name__}.")
    return column.to_arrow()


def _plain_arrow(name: str, column: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    import pyarrow as pa

    if not isinstance(column, pa.Array | pa.ChunkedArray):
        raise TypeError(f"`{name}` must be a column of data, got a {type(column).__name__}.")
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    absent = np.array(column.is_null())
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        if name == "value":
            raise TypeError(f"`value` must hold real numbers, got value of type {kind}.")
        column = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.array(column.fill_null(0)), absent
    if pa.types.is_nested(kind):
        raise TypeError(f"`{name}` must be a plain column, got {name} of type {kind}.")
    return np.fromiter(column.to_pylist(), object), None


def _codes(entries: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    """Return whole numbers from 0 that are equal where entries are, and more than the largest."""
    if entries.dtype.kind in WHOLE and entries.size:
        # One pass instead of two: negative if one is, and at least as large as the largest.
        reach = int(np.bitwise_or.reduce(entries))
        if 0 <= reach < 4 * entries.size:
            return entries.astype(np.min_scalar_type(reach)), reach + 1
    names, positions = np.unique(entries, return_inverse=True)
    return positions, names.size


def _ids_of_objects(entries: npt.NDArray[Any]) -> Ids:
    known: dict[Any, int] = {}
    kinds, missing, codes = set(), False, np.empty(entries.size, np.int64)
    for i, entry in enumerate(entries):
        if type(entry) is not str and is_null(entry):
            codes[i], missing = -1, True
            continue
        kinds.add(kind := _kind(entry))
        if kind == "float":
            if entry != entry // 1 or abs(entry) > 2.0**53:
                refuse_odd()
            entry = int(entry)
        codes[i] = known.setdefault(entry, len(known))
    if len(kinds) > 1:
        raise TypeError(f"`user` must hold ids of one type, got {' and '.join(sorted(kinds))}.")
    return Ids(codes, len(known), missing)


def _kind(entry: Any) -> str:
    if isinstance(entry, datetime.datetime):  # also the Timestamp of pandas
        return "time" if entry.tzinfo is None else "time with a zone"
    kind = KINDS.get(type(entry))
    if kind is None:
        raise TypeError(f"`user` must hold ids, got an entry of type {type(entry).__name__}.")
    return kind


def _number(entry: Any) -> float:
    """Return a float, NaN for null; a refusal does not quote what is protected."""
    if is_null(entry):
        return np.nan
    if isinstance(entry, bool | np.bool_ | np.timedelta64) or not isinstance(
        entry, numbers.Real | Decimal
    ):
        raise TypeError(
            f"`value` must hold real numbers, got an entry of type {type(entry).__name__}."
        )
    try:
        return float(entry)
    except OverflowError:
        return inf if entry > 0 else -inf  # type: ignore[operator]
