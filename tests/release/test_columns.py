"""Reading a column: every kind gives the same users and the same values."""

import datetime
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds import (
    DAY,
    NOON,
    NULLS,
    NUMPY,
    SPAN,
    TYPED_CASES,
    ZONES,
    arrow,
    dictionary,
    pandas,
    polars,
    typed_column,
)

from userdp.release._columns import read_ids, read_values


def check_two_users(column, n_nulls):
    """Check users of rows: the first, the second, perhaps a missing one, and the first again."""
    ids = read_ids(column)
    first, second, *missing, again = ids.codes.tolist()
    assert ids.codes.dtype.kind in "iu"
    assert first == again != second
    assert missing == [-1] * n_nulls
    assert ids.some_missing is bool(missing)
    assert 0 <= min(first, second) < max(first, second) < ids.n_codes


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize(("kind", "holder"), TYPED_CASES)
def test_users_are_told_apart_and_nulls_are_not_users(kind, holder, null):
    """Some ids are near 2^63, which floats cannot represent."""
    check_two_users(typed_column(kind, holder, null), int(null))


@pytest.mark.parametrize("column", [*NUMPY, *(["a", "b", null, "a"] for null in NULLS)])
def test_users_in_arrays_of_all_types_and_with_all_nulls_are_told_apart(column):
    check_two_users(column, len(column) - 3)


def test_days_that_differ_in_milliseconds_only_are_one_user():
    """Extra milliseconds, which some writers leave, make neither another day nor another user."""
    day = 24 * 60 * 60 * 1000
    check_two_users(pa.array([0, day, 5], pa.int64()).view(pa.date64()), 0)


def test_small_whole_numbers_are_their_own_codes():
    """As long as there are at most four codes per record."""
    own = read_ids(np.array([7, 0]))
    assert (own.codes.tolist(), own.n_codes) == ([7, 0], 8)
    named = read_ids(np.array([8, 0]))
    assert (named.codes.tolist(), named.n_codes) == ([1, 0], 2)


OF_PANDAS = [
    (NOON, pd.Timestamp(NOON)),
    (ZONES[0], pd.Timestamp(ZONES[0])),
    (SPAN, pd.Timedelta(SPAN)),
]


@pytest.mark.parametrize("pair", OF_PANDAS, ids=["time", "instant", "duration"])
def test_equal_times_of_pandas_and_of_python_are_one_user(pair):
    ids = read_ids(list(pair))
    assert (ids.codes.tolist(), ids.n_codes) == ([0, 0], 1)


def test_instants_beyond_the_years_of_python_are_told_apart():
    check_two_users(pa.array([2**60, 2**60 + 1, None, 2**60], pa.timestamp("s")), 1)


def test_nulls_are_missing_values():
    assert np.isnan(read_values([1.0, *NULLS])).tolist() == [False] + [True] * len(NULLS)


def nullable(_):
    return pd.Series(pd.arrays.FloatingArray(np.array([4, nan, 4, 4]), np.arange(4) == 2))


@pytest.mark.parametrize("hold", [nullable, polars(), arrow(), list])
def test_two_kinds_of_null_in_one_column_are_both_missing(hold):
    """Nulls of the column type, and NaN."""
    column = hold([4.0, nan, None, 4.0])
    assert (read_ids(column).codes >= 0).tolist() == [True, False, False, True]
    assert np.isnan(read_values(column)).tolist() == [False, True, True, False]


WITH_NULL = [1, None, 3], [1, nan, 3]
HALVES = [1.5, None, 2], [1.5, nan, 2]
CENTS = [Decimal("1.5"), None], [1.5, nan]
VALUES = [
    ([1, 2.5, Decimal("0.25"), Fraction(1, 2), np.int8(3)], [1, 2.5, 0.25, 0.5, 3]),
    ([10**400, -(10**400), 3], [inf, -inf, 3]),
    ((1.5, nan), [1.5, nan]),
    (range(3), [0, 1, 2]),
    (np.array([1, 2], np.uint8), [1, 2]),
    (np.array([0.1, nan], np.float32), [13421773 * 2.0**-27, nan]),
    (np.array([np.longdouble(1) / 3]), [1 / 3]),
    (np.array(["1e400", "-1e400", "2"], np.longdouble), [inf, -inf, 2]),
    *((pandas(kind), *WITH_NULL) for kind in ("Int64", "Float32", "double[pyarrow]")),
    *((polars(), *WITH_NULL), (arrow(), *WITH_NULL)),
    *((pandas("category"), *HALVES), (dictionary, *HALVES)),
    *((polars(pl.Decimal(9, 2)), *CENTS), (arrow(pa.decimal128(9, 2)), *CENTS)),
]


@pytest.mark.parametrize("case", VALUES)
def test_values_are_the_nearest_floats(case):
    *hold, entries, expected = case
    values = read_values(hold[0](entries) if hold else entries)
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, expected)


NOT_COLUMNS = [
    (lambda: pd.DataFrame({"a": [1]}), "be one column, got a DataFrame"),
    (lambda: pd.Timestamp(0), "be one column, got a Timestamp"),
    (lambda: pl.DataFrame({"a": [1]}), "be a column of data, got a DataFrame"),
    (lambda: pl.col("a"), "be a column of data, got a Expr"),
    (lambda: pa.table({"a": [1]}), "be a column of data, got a Table"),
    (lambda: pa.array([[1]]), "hold .*, got {name} of type list"),
    (lambda: pl.Series([[1]]), "hold .*, got {name} of type large_list"),
    (lambda: np.zeros(2, "i4,f8"), "hold .*, got {name} of dtype"),
    (lambda: np.zeros((2, 2)), r"be a column, of shape \(n,\), got shape \(2, 2\)"),
    (lambda: np.ma.array([1, 2], mask=[True, False]), "not be a masked array"),
    (lambda: np.array([1j]), "hold .*, got {name} of dtype complex128"),
]


def names_of(cases):
    """Return ids without backslashes, which pytest doubles if a process collects twice."""
    return [words.replace("\\", "") for *_, words in cases]


@pytest.mark.parametrize(("name", "read"), [("user", read_ids), ("value", read_values)])
@pytest.mark.parametrize(("column", "words"), NOT_COLUMNS, ids=names_of(NOT_COLUMNS))
def test_objects_that_are_not_columns_are_refused_with_the_name_of_the_argument(
    name, read, column, words
):
    words = f"^`{name}` must {words.format(name=name)}"
    with pytest.raises((TypeError, ValueError), match=words):
        read(column())


def of_extension(kind, entries):
    return pa.ExtensionArray.from_storage(kind, pa.array(entries, kind.storage_type))


EAST = datetime.timezone(datetime.timedelta(hours=1))
NOT_IDS = [
    (pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))), "user of"),
    (pa.array([{"a": 1}]), "user of type struct"),
    (of_extension(pa.json_(), ["1", " 1"]), "user of type extension<arrow.json>"),
    (of_extension(pa.bool8(), [1, 2]), "user of type extension<arrow.bool8>"),
    (
        of_extension(pa.opaque(pa.int64(), "id", "us"), [1, 2]),
        "user of type extension<arrow.opaque",
    ),
    ([datetime.datetime(1, 1, 1, tzinfo=EAST)], "type datetime whose year in UTC is out of range"),
    ([[1]], "an entry of type list"),
    ([{1}], "an entry of type set"),
    ([object()], "an entry of type object"),
    ([np.datetime64("2013-01-01")], "an entry of type datetime64"),
    (pd.Series(pd.period_range("2013", periods=3)), "an entry of type Period"),
    ([0.5], "ids: floats must be whole"),
    ([inf], "ids: floats must be whole"),
    (np.array([0.5, nan]), "ids: floats must be whole"),
    ([2.0**53 + 2], "their type represents exactly"),
    (np.array([2.0**53 + 2], np.longdouble), "their type represents exactly"),
    (np.array([2.0**24 + 2], np.float32), "their type represents exactly"),
    (pa.array([pa.MonthDayNano([1, 2, 3])]), "an entry of type MonthDayNano"),
    ([1, "1"], "of one type, got user with entries of type integer and text"),
    (np.array([True]), "user of dtype bool"),
    (pa.array([True]), "an entry of type bool"),
    ([1, 1.0], "entries of type float and integer"),
    ([Decimal(1), 1], "entries of type decimal and integer"),
    (["a", b"a"], "entries of type bytes and text"),
    ([DAY, NOON], "entries of type date and time[.]"),
    ([NOON, ZONES[0]], "entries of type time and time with a zone"),
    ([datetime.time(1), datetime.timedelta(1)], "entries of type duration and time of day"),
]


NOT_VALUES = [
    ([True], "value with an entry of type bool"),
    (["secret"], "value with an entry of type str"),
    ([b"1"], "value with an entry of type bytes"),
    ([np.timedelta64(1, "s")], "value with an entry of type timedelta64"),
    (np.array(["secret"]), "value of dtype <U6"),
    (np.array([True]), "value of dtype bool"),
    (np.array([1], "m8[s]"), "value of dtype timedelta64"),
    (pa.array([pa.MonthDayNano([1, 2, 3])]), "value of type month_day_nano_interval"),
    (pa.array([NOON]), r"value of type timestamp\[us\]"),
    (pd.Series([NOON]), "value of dtype datetime64"),
    (pa.array([True]), "value with an entry of type bool"),
]


BAD = [(read_ids, column, f"`user` must .*{words}") for column, words in NOT_IDS]
NUMBER = "`value` must hold real numbers, got"
BAD += [(read_values, column, rf"{NUMBER} {words}\S*[.]$") for column, words in NOT_VALUES]


@pytest.mark.parametrize(("read", "column", "words"), BAD, ids=names_of(BAD))
def test_entries_that_are_not_ids_or_not_values_are_refused(read, column, words):
    """The message quotes no value, because values are protected."""
    with pytest.raises(TypeError, match=f"^{words}"):
        read(column)
