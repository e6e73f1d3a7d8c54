"""Reading a column: of every kind the same users are told apart, and the same values read."""

import datetime
import uuid
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from userdp.practice._columns import read_ids, read_values

DAY = datetime.date(2013, 1, 1)
NOON = datetime.datetime(2013, 1, 1, 12)
MORE = 5 * 10**9  # beyond 32 bits
STRINGS = np.dtypes.StringDType
LARGE = [2**63 - 1, 2**63 - 2, None, 2**63 - 1]
SPAN = datetime.timedelta(days=1)
ZONES = [
    datetime.datetime(2013, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=h)))
    for h in (0, 1, 0)
]


def made(column):
    """Return a column; those of polars are made late, as its threads do not outlive a fork."""
    return column() if callable(column) else column


def days(*moved):
    """Days from one on, or none."""
    return [None if i is None else DAY + i * SPAN for i in moved]


def times(*moved):
    return [None if i is None else NOON + i * SPAN for i in moved]


# Columns of two users: the first, the second, perhaps nobody, and the first again.
APART = {
    "list of text": ["a", "b", "a"],
    "list of text, one missing": ["a", "b", None, "a"],
    "list of integers": [4, 10**30, nan, 4],
    "list of floats": [4.0, -5.0, nan, 4.0],
    "list of floats beside a null": [2.0**53, -(2.0**53), None, 2.0**53],
    "list of bytes": [b"a", b"b", None, b"a"],
    "list of truths": [True, False, None, True],
    "list of decimals": [Decimal(1), Decimal("1.5"), Decimal("sNaN"), Decimal("1.0")],
    "list of UUIDs": [uuid.UUID(int=1), uuid.UUID(int=2), None, uuid.UUID(int=1)],
    "list of days": days(0, 1, None, 0),
    "list of times": times(0, 1, None, 0),
    "list of times of day": [datetime.time(1), datetime.time(2), None, datetime.time(1)],
    "list of durations": [SPAN, 2 * SPAN, None, SPAN],
    "list of instants": [ZONES[0], ZONES[1], None, ZONES[2]],
    "numpy integers": np.array([4, 5, 4]),
    "numpy zero and one": np.array([0, 1, 0]),
    "numpy negative integers": np.array([4, -5, 4], np.int8),
    "numpy large integers": np.array([2**63 - 1, 2**63 - 2, 2**63 - 1]),
    "numpy unsigned integers": np.array([2**64 - 1, 2**64 - 2, 2**64 - 1], np.uint64),
    "numpy integers of 31 bits": np.array([2**31 - 1, 2**31 - 2, 2**31 - 1], np.int32),
    "numpy floats": np.array([4.0, -5.0, nan, 4.0]),
    "numpy large floats": np.array([2.0**53, 2.0**53 - 1, 2.0**53]),
    "numpy long doubles": np.array([2.0**53, 2.0**53 - 1, nan, 2.0**53], np.longdouble),
    "numpy single floats": np.array([2.0**24, 2.0**24 - 1, nan, 2.0**24], np.float32),
    "numpy zeros": np.array([0.0, 1.0, nan, -0.0]),
    "numpy text": np.array(["a", "b", "a"]),
    "numpy bytes": np.array([b"a", b"b", b"a"]),
    "numpy truths": np.array([True, False, True]),
    "numpy times": np.array(["2013-01-01", "2013-01-02", "NaT", "2013-01-01"], "M8[ns]"),
    "numpy durations": np.array([1, 2, "NaT", 1], "m8[s]"),
    "numpy objects": np.array(["a", "b", nan, "a"], object),
    "numpy strings": np.array(["a", "b", "a"], STRINGS()),
    "numpy strings, one missing": np.array(["a", "b", nan, "a"], STRINGS(na_object=nan)),
    "pandas text": pd.Series(["a", "b", None, "a"]),
    "pandas strings": pd.Series(["a", "b", None, "a"], dtype="string"),
    "pandas categories": pd.Series(["a", "b", None, "a"], dtype="category"),
    "pandas categories of numbers": pd.Series([7, 3, None, 7], dtype="category"),
    "pandas categories of large numbers": pd.Series(LARGE, dtype="Int64").astype("category"),
    "pandas categories of times": pd.Series(times(0, 1, None, 0), dtype="category"),
    "pandas categories, an index": pd.CategoricalIndex(["b", "a", None, "b"]),
    "pandas categories, ordered": pd.Categorical(["b", "a", None, "b"], ordered=True),
    "pandas integers": pd.Series([0, 1, None, 0], dtype="Int64"),
    "pandas large integers": pd.Series(LARGE, dtype="Int64"),
    "pandas floats": pd.Series([1.0, 2.0, None, 1.0], dtype="Float64"),
    "pandas truths": pd.Series([True, False, None, True], dtype="boolean"),
    "pandas times": pd.Series(times(0, 1, None, 0)),
    "pandas instants": pd.Series(times(0, 1, None, 0)).dt.tz_localize("Asia/Tokyo"),
    "pandas instants in seconds": pd.Series(pd.to_datetime([0, 1, None, 0], unit="s", utc=True)),
    "pandas durations": pd.Series([SPAN, 2 * SPAN, None, SPAN]),
    "pandas over Arrow, integers": pd.Series([0, 1, None, 0], dtype="int64[pyarrow]"),
    "pandas over Arrow, text": pd.Series(["a", "b", None, "a"], dtype="string[pyarrow]"),
    "pandas over Arrow, times": pd.Series(
        times(0, 1, None, 0), dtype=pd.ArrowDtype(pa.timestamp("ns"))
    ),
    "pandas index": pd.Index(["a", "b", "a"]),
    "polars integers": lambda: pl.Series([0, 1, None, 0]),
    "polars floats": lambda: pl.Series([1.0, 2.0, nan, 1.0]),
    "polars text": lambda: pl.Series(["a", "b", None, "a"]),
    "polars categories": lambda: pl.Series(["a", "b", None, "a"], dtype=pl.Categorical),
    "polars enumeration": lambda: pl.Series(["a", "b", None, "a"], dtype=pl.Enum(["b", "a"])),
    "polars truths": lambda: pl.Series([True, False, None, True]),
    "polars days": lambda: pl.Series(days(0, 1, None, 0)),
    "polars times": lambda: pl.Series(times(0, 1, None, 0)),
    "polars durations": lambda: pl.Series([SPAN, 2 * SPAN, None, SPAN]),
    "Arrow integers": pa.array([0, 1, None, 0]),
    "Arrow unsigned": pa.array([2**64 - 1, 2**64 - 2, None, 2**64 - 1], pa.uint64()),
    "Arrow floats": pa.array([0.0, 1.0, None, 0.0]),
    "Arrow chunks": pa.chunked_array([["a"], ["b", None], ["a"]]),
    "Arrow dictionary": pa.chunked_array([["a", "b"], [None, "a"]]).dictionary_encode(),
    "Arrow dictionary of numbers": pa.array([7, 3, None, 7]).dictionary_encode(),
    "Arrow truths": pa.array([True, False, True]),
    "Arrow chunks of truths": pa.chunked_array([[True], [False, True]]),
    "Arrow truths, one missing": pa.array([True, False, None, True]),
    "Arrow days": pa.array(days(0, 1, None, 0), pa.date32()),
    "Arrow days in 64 bits": pa.array(days(0, 1, None, 0), pa.date64()),
    "Arrow times of day": pa.array([1, 2, None, 1], pa.time32("s")),
    "Arrow times": pa.array([0, MORE, None, 0], pa.timestamp("us")),
    "Arrow durations": pa.array([0, MORE, None, 0], pa.duration("us")),
    "Arrow decimals": pa.array([Decimal(1), Decimal(2), None, Decimal(1)]),
    "Arrow bytes": pa.array([b"a", b"b", None, b"a"]),
}  # fmt: skip


@pytest.mark.parametrize("column", APART.values(), ids=APART)
def test_users_are_told_apart_and_nulls_are_nobody(column):
    column = made(column)
    ids = read_ids(column)
    first, second, *nobody, again = ids.codes.tolist()
    assert ids.codes.dtype.kind in "iu"
    assert first == again != second
    assert nobody == [-1] * (len(column) - 3)
    assert ids.some_missing is bool(nobody)
    assert 0 <= min(first, second) < max(first, second) < ids.n_codes


# Both kinds of null in one column: what it says is null, and what is no number.
BOTH = {
    "pandas": pd.Series(pd.arrays.FloatingArray(np.array([4, nan, 4, 4]), np.arange(4) == 2)),
    "polars": lambda: pl.Series([4.0, nan, None, 4.0]),
    "Arrow": pa.array([4.0, nan, None, 4.0]),
    "list": [4.0, nan, None, 4.0],
}


@pytest.mark.parametrize("column", BOTH.values(), ids=BOTH)
def test_two_kinds_of_null_in_one_column(column):
    column = made(column)
    codes = read_ids(column).codes
    assert (codes >= 0).tolist() == [True, False, False, True]
    assert np.isnan(read_values(column)).tolist() == [False, True, True, False]


VALUES = {
    "list": ([1, 2.5, None, Decimal("0.25"), Fraction(1, 2)], [1, 2.5, nan, 0.25, 0.5]),
    "list of huge numbers": ([10**400, -(10**400), 3], [inf, -inf, 3]),
    "tuple": ((1.5, nan), [1.5, nan]),
    "range": (range(3), [0, 1, 2]),
    "numpy": (np.array([1, 2], np.uint8), [1, 2]),
    "numpy long doubles": (np.array(["1e400", "-1e400", "2"], np.longdouble), [inf, -inf, 2]),
    "pandas": (pd.Series([1, None, 3], dtype="Int64"), [1, nan, 3]),
    "pandas floats": (pd.Series([1, None, 3], dtype="Float32"), [1, nan, 3]),
    "pandas over Arrow": (pd.Series([1, None, 3], dtype="double[pyarrow]"), [1, nan, 3]),
    "pandas categories": (pd.Series([1.5, None, 2], dtype="category"), [1.5, nan, 2]),
    "polars": (lambda: pl.Series([1, None, 3]), [1, nan, 3]),
    "polars decimals": (lambda: pl.Series([Decimal("1.5"), None]), [1.5, nan]),
    "Arrow": (pa.array([1, None, 3]), [1, nan, 3]),
    "Arrow dictionary": (pa.array([1.5, None, 2]).dictionary_encode(), [1.5, nan, 2]),
    "Arrow decimals": (pa.array([Decimal("1.5"), None]), [1.5, nan]),
}


@pytest.mark.parametrize(("column", "expected"), VALUES.values(), ids=VALUES)
def test_values_are_the_nearest_floats(column, expected):
    values = read_values(made(column))
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, expected)


REFUSED = {
    "a frame of pandas": (pd.DataFrame({"a": [1]}), "one column, got a DataFrame"),
    "a time of pandas": (pd.Timestamp(0), "one column, got a Timestamp"),
    "a frame of polars": (lambda: pl.DataFrame({"a": [1]}), "a column of data, got a DataFrame"),
    "an expression": (pl.col("a"), "a column of data, got a Expr"),
    "a table of Arrow": (pa.table({"a": [1]}), "a column of data, got a Table"),
    "a nested column": (pa.array([[1]]), "a plain column, got {name} of type list"),
    "a structured array": (np.zeros(2, "i4,f8"), "a plain column, got {name} of dtype"),
    "a matrix": (np.zeros((2, 2)), r"a column, of shape \(n,\), got shape \(2, 2\)"),
}


@pytest.mark.parametrize("name", ["user", "value"])
@pytest.mark.parametrize(("column", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_column_is_refused_by_name(name, column, words):
    read = {"user": read_ids, "value": read_values}[name]
    with pytest.raises(
        (TypeError, ValueError), match=f"^`{name}` must be {words.format(name=name)}"
    ):
        read(made(column))


@pytest.mark.parametrize(("name", "read"), [("user", read_ids), ("value", read_values)])
def test_no_mask_is_overlooked(name, read):
    with pytest.raises(TypeError, match=f"^`{name}` must not be a masked array"):
        read(np.ma.array([1, 2], mask=[True, False]))


LISTS = pa.list_(pa.int64())
NO_IDS = {
    "of pandas over Arrow": (pd.Series([[1]], dtype=pd.ArrowDtype(LISTS)), "user of"),
    "complex": (np.array([1j]), "user of dtype complex128"),
    "a list of lists": ([[1]], "an entry of type list"),
    "times of two kinds": ([NOON, ZONES[0]], "got time and time with a zone"),
    "days and times": ([DAY, NOON], "got date and time"),
    "halves": ([0.5], "no whole numbers"),
    "infinities": ([inf], "no whole numbers"),
    "halves in numpy": (np.array([0.5, nan]), "no whole numbers"),
    "large floats": (np.array([2.0**53 + 2]), "too large"),
    "large long doubles": (np.array([2.0**53 + 2], np.longdouble), "too large"),
    "large floats in a list": ([2.0**53 + 2], "too large"),
}  # fmt: skip


@pytest.mark.parametrize(("column", "words"), NO_IDS.values(), ids=NO_IDS)
def test_what_is_no_id_is_refused(column, words):
    with pytest.raises(TypeError, match=f"^`user` must .*{words}"):
        read_ids(column)


NO_VALUES = {
    "truths": ([True], "an entry of type bool"),
    "text": (["1"], "an entry of type str"),
    "durations": ([np.timedelta64(1)], "an entry of type timedelta64"),
    "numpy text": (np.array(["1"]), "value of dtype <U1"),
    "numpy truths": (np.array([True]), "value of dtype bool"),
    "times in Arrow": (pa.array(times(0)), r"value of type timestamp\[us\]"),
    "times in pandas": (pd.Series(times(0)), "value of dtype datetime64"),
    "truths in Arrow": (pa.array([True]), "value of dtype bool"),
}


@pytest.mark.parametrize(("column", "words"), NO_VALUES.values(), ids=NO_VALUES)
def test_what_is_no_value_is_refused(column, words):
    with pytest.raises(TypeError, match=f"^`value` must hold real numbers, got {words}"):
        read_values(column)
