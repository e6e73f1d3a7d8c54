"""Read a column: users become whole numbers, and values become floats; ids are not kept.

One rule defines nulls, of users and values, in every type of column: null is `None`, the `NA` of
pandas, NaN or NaT. One rule identifies users: two ids are the same if they are of one type and
equal. Ids of several types in one column are refused, and so are ids of a class that may define its
own equality. Text is compared code point by code point; times with a time zone are instants, which
may be equal in different zones; floats are ids only if all of them are whole numbers below
`EXACT_BELOW`. No id is converted to a float on the way.
"""

import datetime
import math
import numbers
import re
import sys
import uuid
from collections.abc import Hashable, Mapping
from decimal import Decimal
from math import inf
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp.release._rows import refuse_invalid_floats

HOLD = {
    "user": "ids",
    "value": "real numbers",
    "group": "text or whole numbers",
}
"""What a column must hold, by the name of its argument."""

ADVICE = {"user": " Pass whole numbers or text.", "group": " Write days and other names as text."}

KINDS: dict[type, str] = {
    **dict.fromkeys((str, np.str_), "text"),
    **dict.fromkeys((bytes, np.bytes_), "bytes"),
    **dict.fromkeys((int, *(np.dtype(c).type for c in "bhilqBHILQ")), "integer"),
    **dict.fromkeys((float, *(np.dtype(c).type for c in "efdg")), "float"),
    Decimal: "decimal",
    datetime.date: "date",
    datetime.datetime: "time",
    datetime.time: "time of day",
    datetime.timedelta: "duration",
    uuid.UUID: "UUID",
}
"""The kind of an id, by its type; different kinds are never equal. Booleans are not valid ids."""

EXACT_BELOW: dict[type, float] = {
    float: 2.0**53,
    **{np.dtype(c).type: min(2.0 ** (np.finfo(c).nmant + 1), 2.0**53) for c in "efdg"},
}
"""Floats of a type are valid ids below this size: they and both neighbours are represented exactly.

The limit itself is not valid, because the next whole number is rounded to it. Long doubles usually
were doubles before, so they have the limit of doubles.
"""

WITHOUT_ARROW = ("Object", "Int128", "UInt128")
"""Polars types whose entries do not reach Arrow: of an Object, Arrow gets the memory address."""

WHOLE, NUMBERS, TIMES, IDS = "iu", "iuf", "mM", "iuUS"
"""Kinds of NumPy dtypes."""


class Ids(NamedTuple):
    """Users as whole numbers from 0, and -1 for rows without a user."""

    codes: npt.NDArray[Any]
    n_codes: int
    """Greater than the largest code."""
    some_missing: bool

    def of_rows(self, rows: slice) -> npt.NDArray[np.intp]:
        """Return the codes of some rows."""
        return self.codes[rows].astype(np.intp, copy=False)


class Pairs(NamedTuple):
    """Users and groups as whole numbers, the groups in order; -1 for rows without one of them.

    Codes are computed for some rows at a time, in the processor's cache.
    """

    ids: Ids
    group_indices: npt.NDArray[np.int16]
    """The index of each row's group in the list, or -1."""
    n_codes: int
    some_missing: bool

    def of_rows(self, rows: slice) -> npt.NDArray[np.intp]:
        """Return the codes of some rows."""
        users = self.ids.of_rows(rows)
        codes = self.group_indices[rows].astype(np.intp)
        codes *= self.ids.n_codes
        codes += users
        if self.some_missing:
            codes[(users < 0) | (self.group_indices[rows] < 0)] = -1
        return codes


def read_ids(column: Any, label: str = "user") -> Ids:
    """Return the users of a column, which error messages call `label`."""
    entries, absent = _plain("user", label, column)
    if entries.dtype == object:
        return _ids_of_objects(entries, label)
    if entries.dtype.kind == "f":
        absent = np.isnan(entries) if absent is None else absent | np.isnan(entries)
        entries = np.where(absent, entries.dtype.type(0), entries)
        too_large = abs(entries) >= EXACT_BELOW[entries.dtype.type]
        if np.any(too_large | (entries != np.floor(entries))):
            refuse_invalid_floats()
    elif entries.dtype.kind in TIMES:
        absent = np.isnat(entries)
    elif entries.dtype.kind not in IDS:
        refuse_kind("user", f"{label} of dtype {entries.dtype}")
    codes, n_codes = _codes(entries)
    if absent is not None and absent.any():
        codes = codes.astype(np.int64)
        codes[absent] = -1
        return Ids(codes, n_codes, True)
    return Ids(codes, n_codes, False)


def read_values(column: Any, label: str = "value") -> npt.NDArray[np.float64]:
    """Return the values of a column, with NaN for those that are null."""
    entries, absent = _plain("value", label, column)
    if entries.dtype == object:
        floats = (_number(entry, label) for entry in entries.tolist())
        return np.fromiter(floats, np.float64)
    if entries.dtype.kind not in NUMBERS:
        refuse_kind("value", f"{label} of dtype {entries.dtype}")
    with np.errstate(over="ignore"):  # long doubles may become infinite, outside all bounds
        values = entries.astype(np.float64, copy=False)
    if absent is not None and absent.any():
        return np.where(absent, np.nan, values)
    return values


def read_group_indices(
    column: Any, groups: tuple[str, ...], label: str = "group"
) -> npt.NDArray[np.int16]:
    """Return the index of each entry in a list of groups, and -1 if it is not in the list.

    Groups are text or whole numbers, which are compared as text.
    """
    entries, absent = _plain("group", label, column)
    index_of: dict[str | None, int] = {name: index for index, name in enumerate(groups)}
    if entries.dtype == object:
        names = (_group_name(entry, label) for entry in entries.tolist())
        return np.fromiter((index_of.get(name, -1) for name in names), np.int16)
    if entries.dtype.kind not in "iuU":
        refuse_kind("group", f"{label} of dtype {entries.dtype}")
    group_indices = _group_indices(entries, index_of)
    if absent is not None:
        group_indices[absent] = -1
    return group_indices


def _group_indices(entries: npt.NDArray[Any], index_of: Mapping[Any, int]) -> npt.NDArray[np.int16]:
    """Return the index of each name, or of each number written as text."""
    if entries.dtype.kind in WHOLE:
        codes, n_codes = _codes(entries)
        if codes is entries:  # small numbers from 0: an array holds the index of each
            index_of_number = np.full(n_codes, -1, np.int16)
            for name, index in index_of.items():
                number = written_number(name)
                if number is not None and 0 <= number < n_codes:
                    index_of_number[number] = index
            return index_of_number.take(entries)
    names, codes = np.unique(entries, return_inverse=True)
    return np.array([index_of.get(str(name), -1) for name in names.tolist()], np.int16)[codes]


def written_number(name: str) -> int | None:
    """Return the whole number that a name spells, in at most 20 digits, or None."""
    return int(name) if re.fullmatch("0|-?[1-9][0-9]{0,19}", name) else None


def _group_name(entry: Any, label: str) -> str | None:
    """Return the name of a group, or None for a null."""
    kind = KINDS.get(type(entry))
    if kind in ("text", "integer"):
        return str(entry)
    if not is_null(entry):
        refuse_kind("group", f"{label} with an entry of type {type(entry).__name__}")
    return None


def refuse_ids_beyond_float16(users: Any) -> None:
    """Raise if 32-bit floats of DuckDB, in an Arrow column, would not be valid ids in 16 bits.

    DuckDB has no 16-bit float type: those of a Parquet file or a pandas frame become FLOAT.
    """
    largest = np.abs(users.drop_null().to_numpy(zero_copy_only=False))
    if np.any(largest >= EXACT_BELOW[np.float16]):
        refuse_invalid_floats()


def is_null(entry: Any) -> bool:
    """Whether an entry is None, the NA or NaT of pandas, or a NaN or NaT of another type.

    Entries are not compared, because their class may define its own equality.
    """
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(entry, Decimal):
        return Decimal.is_nan(entry)
    if isinstance(entry, float | np.floating):
        return math.isnan(entry)
    return isinstance(entry, np.datetime64 | np.timedelta64) and bool(np.isnat(entry))


def comes_from(library: str, item: Any) -> bool:
    """Whether the class of an object comes from a library, which is not imported for this."""
    return any(base.__module__.partition(".")[0] == library for base in type(item).__mro__)


Plain = tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]
"""An array, and a mask of nulls if the array cannot represent them."""


def _plain(name: str, label: str, column: Any) -> Plain:
    if comes_from("polars", column):
        return _plain_polars(name, label, column)
    if comes_from("pyarrow", column):
        return _plain_arrow(name, label, column)
    if comes_from("pandas", column):
        return _plain_pandas(name, label, column)
    if isinstance(column, list | tuple | range):
        # Otherwise NumPy would convert numbers to text, and booleans to numbers.
        return np.fromiter(column, object), None
    array = check.array(name, column)
    if isinstance(column, str):
        raise TypeError(
            f"`{name}` must be a column, got text: pass `data=`, the table that contains it."
        )
    if array.ndim != 1:
        raise ValueError(f"`{name}` must be a column, of shape (n,), got shape {array.shape}.")
    if array.dtype.kind == "T":  # NumPy's own strings, whose null may be any object
        return array.astype(object), None
    return np.asarray(array), None


def _plain_pandas(name: str, label: str, column: Any) -> Plain:
    if getattr(column, "ndim", 0) != 1:
        raise ValueError(f"`{name}` must be one column, got a {type(column).__name__}.")
    if hasattr(column.dtype, "categories"):
        names = _names_of_categories(name, label, column.dtype.categories)
        return names[getattr(column, "cat", column).codes], None  # -1, of a null, selects the last
    dtype = column.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        import pyarrow

        return _plain_arrow(name, label, pyarrow.array(column))
    if hasattr(dtype, "numpy_dtype") and dtype.kind in NUMBERS:  # nullable numbers
        absent = np.array(column.isna())
        return column.to_numpy(dtype.numpy_dtype, na_value=0), absent
    return np.asarray(column.to_numpy()), None


def _names_of_categories(name: str, label: str, categories: Any) -> npt.NDArray[Any]:
    """Return categories, then a null: pandas would convert narrow floats to Python floats."""
    if getattr(categories.dtype, "kind", None) != "f":
        return np.fromiter([*categories, None], object)
    floats, _ = _plain_pandas(name, label, categories)
    return np.append(floats, floats.dtype.type(np.nan))


def _plain_polars(name: str, label: str, column: Any) -> Plain:
    if not hasattr(column, "dtype"):
        raise TypeError(f"`{name}` must be a column of data, got a {type(column).__name__}.")
    if str(column.dtype) in WITHOUT_ARROW:
        return np.fromiter(column.to_list(), object), None
    return _plain_arrow(name, label, column.to_arrow())


def _plain_arrow(name: str, label: str, column: Any) -> Plain:
    import pyarrow as pa

    if not isinstance(column, pa.Array | pa.ChunkedArray):
        raise TypeError(f"`{name}` must be a column of data, got a {type(column).__name__}.")
    dtype = column.type
    if pa.types.is_dictionary(dtype):
        dtype = dtype.value_type
        column = column.cast(dtype)
    absent = np.array(column.is_null())
    if pa.types.is_temporal(dtype) and name != "user":
        refuse_kind(name, f"{label} of type {dtype}")
    if _is_count_of_time(dtype):
        column = column.cast(pa.int32() if dtype.bit_width == 32 else pa.int64())
        dtype = column.type
    if pa.types.is_integer(dtype) or pa.types.is_floating(dtype):
        return np.asarray(column.fill_null(0)), absent
    is_other = isinstance(dtype, pa.BaseExtensionType) and dtype.extension_name != "arrow.uuid"
    if is_other or pa.types.is_nested(dtype):
        refuse_kind(name, f"{label} of type {dtype}")
    return np.fromiter(column.to_pylist(), object), None


def _is_count_of_time(dtype: Any) -> bool:
    """Whether each time is one whole number: not intervals, nor days that are counted in ms."""
    import pyarrow as pa

    if pa.types.is_interval(dtype) or pa.types.is_date64(dtype):
        return False
    return bool(pa.types.is_temporal(dtype))


def _codes(entries: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    """Return whole numbers from 0 that are equal where entries are, and a number above them all."""
    if entries.dtype.kind in WHOLE and entries.size:
        # One pass instead of two: negative if an entry is, otherwise at least the largest entry.
        bound = int(np.bitwise_or.reduce(entries))
        if 0 <= bound < 4 * entries.size:
            return entries, bound + 1
    names, positions = np.unique(entries, return_inverse=True)
    return positions, names.size


def _ids_of_objects(entries: npt.NDArray[Any], label: str) -> Ids:
    known: dict[Hashable, int] = {}
    kinds = set()
    missing = False
    codes = np.empty(entries.size, np.int64)
    for i, entry in enumerate(entries):
        if type(entry) is not str and is_null(entry):
            codes[i] = -1
            missing = True
            continue
        kind = _kind(entry, label)
        kinds.add(kind)
        if kind == "float":
            entry = _whole(entry)
        elif kind == "time with a zone":
            entry = _instant(entry, label)
        codes[i] = known.setdefault(entry, len(known))
    if len(kinds) > 1:
        types = " and ".join(sorted(kinds))
        refuse_kind("user", f"{label} with entries of type {types}", "ids of one type")
    return Ids(codes, len(known), missing)


def _kind(entry: Any, label: str) -> str:
    """Return the kind of an id by its exact type: a subclass may define its own equality."""
    kind = KINDS.get(type(entry)) or _kind_of_pandas(entry)
    if kind is None:
        refuse_kind("user", f"{label} with an entry of type {type(entry).__name__}")
    if kind == "time" and entry.utcoffset() is not None:
        return "time with a zone"
    if kind == "time of day" and entry.tzinfo is not None:
        refuse_kind("user", f"{label} with an entry of type time with a zone but without a date")
    return kind


def _kind_of_pandas(entry: Any) -> str | None:
    """Return the kind of types of pandas that may equal a time or a duration of Python."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    if type(entry) is pandas.Timestamp:
        return "time"
    if type(entry) is pandas.Timedelta:
        return "duration"
    return None


def _whole(entry: Any) -> int:
    if abs(entry) >= EXACT_BELOW[type(entry)] or entry != entry // 1:
        refuse_invalid_floats()
    return int(entry)


def _instant(entry: datetime.datetime, label: str) -> datetime.datetime:
    """Return an instant in UTC: where clocks are put back, two local times may be equal."""
    try:
        instant = entry.astimezone(datetime.UTC)
    except OverflowError:
        instant = None
    if instant is None:
        refuse_kind(
            "user", f"{label} with an entry of type datetime whose year in UTC is out of range"
        )
    return instant


def _number(entry: Any, label: str) -> float:
    """Return a float, NaN for null; the error message does not quote the protected entry."""
    if is_null(entry):
        return np.nan
    if isinstance(entry, bool | np.bool_ | np.timedelta64) or not isinstance(
        entry, numbers.Real | Decimal
    ):
        refuse_kind("value", f"{label} with an entry of type {type(entry).__name__}")
    try:
        return float(entry)
    except OverflowError:
        return inf if entry > 0 else -inf  # type: ignore[operator]


def as_argument(argument: str, name: str | None) -> str:
    """Return the argument that names a column: "user='driver'"."""
    return f"{argument}={name!r}"


def refuse_kind(argument: str, got: str, wanted: str | None = None) -> NoReturn:
    """Raise because a column holds entries of a wrong type; no entry is quoted."""
    rule = wanted or HOLD[argument]
    raise TypeError(f"`{argument}` must hold {rule}, got {got}.{ADVICE.get(argument, '')}")
