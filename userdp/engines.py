"""Where the records are: in arrays, or in a table of a database, on which the same steps run there.

Both engines turn every value into a whole number of steps of one grid. Whole numbers add up to the
same sum in every order and on every machine, so a result depends neither on the engine nor on how
it split the work, and one user moves the sum by no more than the noise allows for.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from userdp._checks import read_array, refuse_type, refuse_value

ROWS_AT_A_TIME = 2**15
"""Of arrays: temporary ones of this length stay in the processor's cache."""

READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".csv.gz": "read_csv"}


class Tally(NamedTuple):
    """How many rows there are, and how many of them do not hold a user and a value in range."""

    rows: int
    missing: int
    """Rows without a user or a value (null or NaN)."""
    outside: int
    """Other rows, with a value outside of the bounds."""


class Grid(NamedTuple):
    """Whole levels 0 .. 2^bits for the values from `lower` to `upper`, less an origin."""

    lower: float
    upper: float
    bits: int
    origin: int = 0

    @property
    def width(self) -> float:
        """The distance of the bounds; no value between them is computed to be further up."""
        return self.upper - self.lower

    @property
    def top(self) -> int:
        """The highest level."""
        return 1 << self.bits

    @property
    def step(self) -> float:
        """The distance between two levels, in the unit of the values."""
        return self.width / self.top

    @property
    def levels_a_unit(self) -> float:
        """How many levels there are to a unit of the values."""
        return self.top / self.width


class Records(ABC):
    """One row a record, with a user and a value."""

    @abstractmethod
    def tally(self, lower: float, upper: float) -> Tally:
        """Count the rows, and those that cannot be used as they are."""

    @abstractmethod
    def without_missing(self) -> "Records":
        """Return the rows that have a user and a value."""

    @abstractmethod
    def within(self, lower: float, upper: float) -> "Records":
        """Return the rows with a value from `lower` to `upper`."""

    @abstractmethod
    def clamped(self, lower: float, upper: float) -> "Records":
        """Return the rows with every value moved to the nearest one from `lower` to `upper`.

        They must have a user and a value, all of them.
        """

    @abstractmethod
    def user_counts(self) -> NDArray[np.int64]:
        """Return the number of rows of every user, shape (L,), in no particular order."""

    @abstractmethod
    def clipped_total(self, grid: Grid, lowest: int, highest: int) -> int:
        """Add up each user's levels, clip the sums to an interval, and add them up."""


class Arrays(Records):
    """Records in two arrays in memory; `unknown` says which users are null, None that none is."""

    def __init__(
        self, users: NDArray[Any], unknown: NDArray[np.bool_] | None, values: NDArray[Any]
    ):
        self.users, self.unknown, self.values = users, unknown, values

    def tally(self, lower: float, upper: float) -> Tally:
        """Count the rows, and those that cannot be used as they are."""
        missing = outside = 0
        for part in self._parts():
            values = self._values(part)
            in_range = lower <= values.min() and values.max() <= upper  # not where one is NaN
            if in_range and (self.unknown is None or not self.unknown[part].any()):
                continue
            absent = self._absent(part)
            inside = (values >= lower) & (values <= upper)
            missing += int(np.count_nonzero(absent))
            outside += int(np.count_nonzero(~inside & ~absent))
        return Tally(self.values.size, missing, outside)

    def without_missing(self) -> "Arrays":
        """Return the rows that have a user and a value."""
        return self._only(~self._absent(slice(None)))

    def within(self, lower: float, upper: float) -> "Arrays":
        """Return the rows with a value from `lower` to `upper`."""
        return self._only((self.values >= lower) & (self.values <= upper))

    def clamped(self, lower: float, upper: float) -> "Arrays":
        """Return the rows with every value moved to the nearest one from `lower` to `upper`."""
        return Arrays(self.users, None, np.clip(self._values(slice(None)), lower, upper))

    def user_counts(self) -> NDArray[np.int64]:
        """Return the number of rows of every user, shape (L,), in no particular order."""
        return self._counts[self._counts > 0]

    def clipped_total(self, grid: Grid, lowest: int, highest: int) -> int:
        """Add up each user's levels, clip the sums to an interval, and add them up."""
        codes, n = self._codes
        sums = np.zeros(n)  # of whole numbers below 2^53, which floats add exactly
        for part in self._parts():
            levels = self._values(part) - grid.lower
            levels *= grid.levels_a_unit
            levels += 0.5
            np.add.at(sums, codes[part], np.floor(levels, out=levels))
        sums -= grid.origin * self._counts
        return int(np.clip(sums, lowest, highest).astype(np.int64).sum())

    def _values(self, part: slice) -> NDArray[np.float64]:
        return np.asarray(self.values[part], np.float64)

    def _parts(self) -> Iterator[slice]:
        starts = range(0, self.values.size, ROWS_AT_A_TIME)
        return (slice(i, i + ROWS_AT_A_TIME) for i in starts)

    def _only(self, kept: NDArray[np.bool_]) -> "Arrays":
        unknown = None if self.unknown is None else self.unknown[kept]
        return Arrays(self.users[kept], unknown, self.values[kept])

    def _absent(self, part: slice) -> NDArray[np.bool_]:
        """Where there is no user or no value."""
        absent: NDArray[np.bool_] = np.isnan(self.values[part])
        return absent if self.unknown is None else absent | self.unknown[part]

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """How many rows each code has."""
        codes, n = self._codes
        counts = np.zeros(n, np.int64)
        np.add.at(counts, codes, 1)  # in three quarters of the time of np.bincount
        return counts

    @cached_property
    def _codes(self) -> tuple[NDArray[Any], int]:
        """Users as integers from 0, and more than the largest of these."""
        users = self.users
        if users.dtype == object:  # of any kind, and perhaps of several: strings, numbers, dates
            known: dict[Any, int] = {}
            codes = (known.setdefault(user, len(known)) for user in users.tolist())
            return np.fromiter(codes, np.int64, users.size), len(known)
        if users.dtype.kind in "iu":
            # One pass instead of two: negative if one is, and at least as large as the largest.
            reach = int(np.bitwise_or.reduce(users))
            if 0 <= reach < 4 * users.size:
                return users.astype(np.int64, copy=False), reach + 1
        names, positions = np.unique(users, return_inverse=True)
        return positions, names.size


class Queries(Records):
    """Records in an Ibis table, wherever it is: all that leaves the engine are a few numbers."""

    def __init__(self, table: Any):
        self.table = table

    def tally(self, lower: float, upper: float) -> Tally:
        """Count the rows, and those that cannot be used as they are."""
        missing = self._missing()
        outside = ~missing & ~self.table.value.between(lower, upper)
        found = self.table.aggregate(
            rows=self.table.count(),
            missing=self.table.count(where=missing),
            outside=self.table.count(where=outside),
        )
        (row,) = found.to_pyarrow().to_pylist()
        return Tally(**row)

    def without_missing(self) -> "Queries":
        """Return the rows that have a user and a value."""
        return Queries(self.table.filter(~self._missing()))

    def within(self, lower: float, upper: float) -> "Queries":
        """Return the rows with a value from `lower` to `upper`."""
        return Queries(self.table.filter(self.table.value.between(lower, upper)))

    def clamped(self, lower: float, upper: float) -> "Queries":
        """Return the rows with every value moved to the nearest one from `lower` to `upper`."""
        return Queries(self.table.mutate(value=_clip(self.table.value, lower, upper)))

    def user_counts(self) -> NDArray[np.int64]:
        """Return the number of rows of every user, shape (L,), in no particular order.

        What leaves the engine is how many users have 1, 2, 3, ... rows.
        """
        users = self.table.group_by("user").aggregate(size=self.table.count())
        sizes = users.group_by("size").aggregate(users=users.count()).to_pyarrow()
        return np.repeat(sizes["size"].to_numpy(), sizes["users"].to_numpy())

    def clipped_total(self, grid: Grid, lowest: int, highest: int) -> int:
        """Add up each user's levels, clip the sums to an interval, and add them up."""
        level = ((self.table.value - grid.lower) * grid.levels_a_unit + 0.5).floor()
        centred = level.cast("int64") - grid.origin
        users = self.table.group_by("user").aggregate(total=centred.sum())
        clipped = _clip(users.total.cast("int64"), lowest, highest)
        return int(clipped.sum().name("total").to_pyarrow().as_py())

    def _missing(self) -> Any:
        user, value = self.table.user, self.table.value
        missing = user.isnull() | value.isnull() | value.isnan()
        return missing | user.isnan() if user.type().is_floating() else missing


def _clip(column: Any, lowest: float, highest: float) -> Any:
    """Return a column without nulls, clipped: in SQL that can be read, as that of `clip` cannot."""
    import ibis

    return ibis.least(ibis.greatest(column, lowest), highest)


def read_records(user: Any, value: Any, data: Any) -> Records:
    """Return records from two arrays, or from two columns of `data`.

    `value` may be None where only the users are asked for.
    """
    if isinstance(data, str | PathLike):
        data = open_file(Path(data))
    if data is None:
        return _read_arrays(user, value)
    for name, column in {"user": user, "value": value}.items():
        if not isinstance(column, str) and (name, column) != ("value", None):
            refuse_type(name, "the name of a column of `data`", column)
        # Arrow tables keep their names apart, other kinds of table are asked themselves.
        if column is not None and column not in getattr(data, "column_names", data):
            refuse_value(name, "the name of a column of `data`", column)
    if type(data).__module__.partition(".")[0] == "ibis":
        return _read_table(user, value, data)
    return _read_arrays(data[user], None if value is None else data[value])


def open_file(path: Path) -> Any:
    """Return an Ibis table that reads a file with DuckDB, as far as a query asks for it."""
    reader = next((r for ending, r in READERS.items() if path.name.endswith(ending)), None)
    if reader is None:
        refuse_value("data", f"a file ending in {', '.join(READERS)}", str(path))
    try:
        import ibis
    except ImportError as error:
        raise ImportError("Files are read with Ibis: pip install 'userdp[tables]'.") from error
    return getattr(ibis.duckdb.connect(), reader)(str(path))


def _read_table(user: str, value: str | None, data: Any) -> Queries:
    if value is None:
        return Queries(data.select(user=data[user]).mutate(value=0.0))
    kind = data[value].type()
    if not kind.is_numeric() or kind.is_boolean():
        raise TypeError(f"`value` must be a column of numbers, got {value!r} of type {kind}.")
    return Queries(data.select(user=data[user], value=data[value].cast("float64")))


def _read_arrays(user: Any, value: Any) -> Arrays:
    if isinstance(user, list | tuple) and any(isinstance(entry, str) for entry in user):
        user = np.array(user, object)  # numpy's strings would make "nan" of a NaN
    users = _read_column("user", user)
    unknown = _nulls(user, users)
    if value is None:
        return Arrays(users, unknown, np.zeros(users.size))
    values = _read_column("value", value)
    if users.size != values.size:
        raise ValueError(
            f"`user` and `value` must be of one length, got {users.size} and {values.size}."
        )
    if values.dtype == object:
        values = _read_numbers(values, _nulls(value, values))
    elif values.dtype.kind not in ("i", "u", "f"):
        raise TypeError(f"`value` must hold real numbers, got value of dtype {values.dtype}.")
    return Arrays(users, unknown, values)


def _read_column(name: str, column: Any) -> NDArray[Any]:
    array = read_array(name, column)
    if array.dtype.kind == "V":
        raise TypeError(f"`{name}` must be a plain column, got {name} of dtype {array.dtype}.")
    if array.dtype.kind == "T":  # numpy's own strings, which may have a null of any kind
        array = array.astype(object)
    if array.ndim != 1:
        raise ValueError(f"`{name}` must be a column, of shape (n,), got shape {array.shape}.")
    return array


def _nulls(column: Any, array: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Where a column is null (None: nowhere); pandas has nulls of its own, which it knows too."""
    if array.dtype.kind in "fcmM":  # which have NaN or NaT
        differ: NDArray[np.bool_] = array != array
        return differ
    if array.dtype != object:
        return None
    nulls = np.fromiter(map(_is_null, array), dtype=bool, count=array.size)
    return nulls | np.array(column.isna()) if hasattr(column, "isna") else nulls


def _is_null(entry: Any) -> bool:
    """Whether it is None, pandas' NA, or differs from itself, as NaN and NaT do: the one rule."""
    if entry is None or type(entry).__name__ == "NAType":
        return True
    if isinstance(entry, Decimal):  # a signalling one cannot be compared
        return entry.is_nan()
    different = entry != entry
    return isinstance(different, bool | np.bool_) and bool(different)


def _read_numbers(values: NDArray[Any], absent: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Floats from objects, with NaN for those that are null."""
    floats = np.full(values.size, np.nan)
    for i in np.flatnonzero(~np.asarray(absent)):
        if isinstance(values[i], bool) or not isinstance(values[i], numbers.Real | Decimal):
            refuse_type(f"value[{i}]", "a real number", values[i])
        floats[i] = float(values[i])
    return floats
