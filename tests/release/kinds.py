"""All holders of users and values: single columns, and tables with two columns.

`HOLDERS` lists the kinds of columns and tables, and `ENTRIES` the kinds of entries. The objects are
made only when a test needs them: threads of polars and connections of DuckDB do not survive a fork.
"""

import datetime
import ipaddress
import uuid
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import nan
from pathlib import Path

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

DAY, SPAN = datetime.date(2013, 1, 1), datetime.timedelta(days=1)
NOON = datetime.datetime(2013, 1, 1, 12)
ZONES = [NOON.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=h))) for h in (0, 1)]
BEYOND_32_BITS = 5 * 10**9


class Autumn(datetime.tzinfo):
    """A zone whose clocks are put back: one hour occurs twice, with equal times in Python."""

    def utcoffset(self, time):
        return datetime.timedelta(hours=1 if time.fold else 2)

    def dst(self, time):
        return self.utcoffset(time) - datetime.timedelta(hours=1)


NIGHT = datetime.datetime(2013, 10, 27, 2, 30, tzinfo=Autumn())
NIGHT_IN_UTC = datetime.datetime(2013, 10, 27, 1, 30, tzinfo=datetime.UTC)


class Person:
    """Equal to persons with the same number, and without a repr of its own."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return self.number


class OwnEquality:
    """Equal only to itself, so that no two rows have equal objects."""

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __hash__(self):
        return id(self)


class Word(OwnEquality, str):
    """Text with its own equality."""


class Number(OwnEquality, int):
    """A whole number with its own equality."""


class Moment(OwnEquality, datetime.datetime):
    """A time with its own equality."""


def one_two_one(make, one=1, two=2):
    """Return three new entries, of which the first and the last belong to the same user."""
    return [make(one), make(two), make(one)]


# One user, another one, and the first again, perhaps spelt differently.
ENTRIES = {
    "text": ["a", "b", "a"],
    "bytes": [b"a", b"b", b"a"],
    "integers": [0, 1, 0],
    "large integers": [2**63 - 1, 2**63 - 2, 2**63 - 1],
    "unsigned integers": [2**64 - 1, 2**64 - 2, 2**64 - 1],
    "huge integers": [10**30, 10**30 + 1, 10**30],
    "booleans": [True, False, True],
    "floats": [2.0**53 - 1, 2.0**53 - 2, 2.0**53 - 1],
    "negative floats": [1 - 2.0**53, 0.0, 1 - 2.0**53],
    "zeros": [0.0, 1.0, -0.0],
    "halves": [0.5, 1.5, 0.5],
    "decimals": [Decimal(1), Decimal("1.5"), Decimal("1.0")],
    "fractions": one_two_one(Fraction),
    "complex numbers": one_two_one(complex),
    "UUIDs": one_two_one(lambda i: uuid.UUID(int=i)),
    "addresses": one_two_one(ipaddress.IPv4Address),
    "paths": one_two_one(Path, "a", "b"),
    "days": [DAY, DAY + SPAN, DAY],
    "times": [NOON, NOON + SPAN, NOON],
    "instants": [ZONES[0], ZONES[0] + SPAN, NOON.replace(tzinfo=datetime.UTC)],
    "zones": [ZONES[0], ZONES[1], ZONES[0].astimezone(ZONES[1].tzinfo)],
    "an hour twice": [NIGHT.replace(fold=1), NIGHT, NIGHT_IN_UTC],
    "times of day": one_two_one(datetime.time),
    "times of day in a zone": one_two_one(lambda i: datetime.time(i, tzinfo=datetime.UTC)),
    "durations": [SPAN, 2 * SPAN, datetime.timedelta(hours=24)],
    "times of pandas": one_two_one(lambda i: pd.Timestamp(i, unit="D")),
    "durations of pandas": one_two_one(lambda i: pd.Timedelta(i, unit="D")),
    "periods of pandas": one_two_one(pd.Period, "2013", "2014"),
    "times of numpy": one_two_one(lambda i: np.datetime64(i, "D")),
    "sets": [frozenset([8, 0]), frozenset([1]), frozenset([0, 8])],
    "tuples": one_two_one(lambda i: (i,)),
    "persons": one_two_one(Person),
    "own text": one_two_one(Word, "a", "b"),
    "own integers": one_two_one(Number),
    "own times": one_two_one(lambda i: Moment(2013, 1, i)),
    "integers and text": [1, "1", 1],
}

# Two users, and a missing one in between.
WITH_NULL = {
    "None in text": ["a", "b", None, "a"],
    "NaN in text": ["a", "b", nan, "a"],
    "NA in text": ["a", "b", pd.NA, "a"],
    "NaT in text": ["a", "b", pd.NaT, "a"],
    "NaT of numpy in text": ["a", "b", np.datetime64("NaT", "s"), "a"],
    "decimal NaN in text": ["a", "b", Decimal("NaN"), "a"],
    "None in integers": [4, 5, None, 4],
    "NaN in floats": [4.0, 5.0, nan, 4.0],
    "None in UUIDs": [*ENTRIES["UUIDs"][:2], None, uuid.UUID(int=1)],
    "None in days": [DAY, DAY + SPAN, None, DAY],
    "NaT in times": [NOON, NOON + SPAN, pd.NaT, NOON],
    "None in instants": [*ENTRIES["zones"][:2], None, ZONES[0]],
    "NaN in decimals": [Decimal(1), Decimal(2), Decimal("NaN"), Decimal("1.0")],
}


def objects(entries):
    return np.fromiter(entries, object)


def pandas(kind=None):
    return partial(pd.Series, dtype=kind)


def arrow(kind=None):
    return partial(pa.array, type=kind)


def polars(kind=None):
    return partial(pl.Series, "", dtype=kind)


def dictionary(entries):
    return pa.array(entries).dictionary_encode()


def chunks(entries):
    return pa.chunked_array([pa.array(entries)[:1], pa.array(entries)[1:]])


# Columns that are passed directly.
COLUMNS = {
    "list": list,
    "objects": objects,
    "numpy": np.array,
    "pandas objects": pandas(object),
    "pandas": pandas(),
    "pandas nullable": lambda entries: pd.Series(entries).convert_dtypes(),
    "pandas by Arrow": lambda entries: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(entries))),
    "pandas categories": pandas("category"),
    "polars": polars(),
    "polars objects": polars(pl.Object),
    "polars categories": polars(pl.Categorical),
    "Arrow": arrow(),
    "Arrow chunks": chunks,
    "Arrow dictionary": dictionary,
}

# Columns with types for one kind of entry only.
TYPED = {
    "text": {
        "pandas strings": pandas("string"),
        "pandas categories, ordered": lambda entries: pd.Categorical(entries, ordered=True),
        "numpy strings": lambda entries: np.array(entries, np.dtypes.StringDType(na_object=None)),
        "polars enumeration": lambda entries: pl.Series(entries, dtype=pl.Enum(["b", "a"])),
        "Arrow views": arrow(pa.string_view()),
    },
    "large integers": {
        "pandas nullable": pandas("Int64"),
        "pandas by Arrow": pandas(pd.ArrowDtype(pa.int64())),
        "pandas index": lambda entries: pd.Index(entries, dtype="Int64"),
        "pandas categories": lambda entries: pd.Series(entries, dtype="Int64").astype("category"),
        "polars": polars(pl.Int64),
        "Arrow unsigned": arrow(pa.uint64()),
        "Arrow decimals": arrow(pa.decimal128(25)),
    },
    "huge integers": {"polars": polars(pl.Int128), "Arrow": arrow(pa.decimal256(50))},
    "floats": {"pandas nullable": pandas("Float64")},
    "UUIDs": {
        "Arrow dictionary": lambda entries: pa.DictionaryArray.from_arrays(
            pa.array([None if entry is None else entry.int - 1 for entry in entries]),
            pa.array(entries[:2]),
        )
    },
    "days": {"Arrow in 32 bits": arrow(pa.date32()), "Arrow in 64 bits": arrow(pa.date64())},
    "times": {"pandas by Arrow": pandas(pd.ArrowDtype(pa.timestamp("ns")))},
}
TYPED_CASES = [(kind, holder) for kind, holders in TYPED.items() for holder in holders]


def typed_column(kind, holder, null=False):
    """Return a column of two users, the first one twice, with a null in between if `null`."""
    first, second, again = ENTRIES[kind]
    return TYPED[kind][holder]([first, second, *[None] * null, again])


# The same in numpy arrays, which have their own types, and nulls other than None.
BY_DTYPE = {
    np.int64: [[4, 5, 4], [0, 1, 0], [-1, 2, -1], [2**63 - 1, 2**63 - 2, 2**63 - 1]],
    np.uint64: [[2**64 - 1, other, 2**64 - 1] for other in (0, 2**64 - 2)],
    np.int8: [[-128, 127, -128]],
    np.int32: [[2**31 - 1, 2**31 - 2, 2**31 - 1]],
    np.float64: [[4, -5, nan, 4], [2.0**53 - 1, 2.0**53 - 2, 2.0**53 - 1], [0.0, 1.0, nan, -0.0]],
    np.longdouble: [[2.0**53 - 1, 2.0**53 - 2, nan, 2.0**53 - 1]],
    np.float32: [[2.0**24 - 1, 2.0**24 - 2, nan, 2.0**24 - 1]],
    None: [["", "b", ""], [b"", b"b", b""]],
    "M8[ns]": [["2013-01-01", "2013-01-02", "NaT", "2013-01-01"]],
    "m8[s]": [[1, 2, "NaT", 1]],
    np.dtypes.StringDType(): [["a", "b", "a"]],
    np.dtypes.StringDType(na_object=nan): [["a", "b", nan, "a"]],
}
NUMPY = [np.array(column, dtype) for dtype, columns in BY_DTYPE.items() for column in columns]
NUMPY += [
    pa.array([0, BEYOND_32_BITS, None, 0], kind("us")) for kind in (pa.timestamp, pa.duration)
]
NULLS = [None, nan, np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), pd.NA, pd.NaT]
NULLS += [np.datetime64("NaT", "s"), np.timedelta64("NaT", "s")]


def rows_of(users, values):
    return pa.table({"user": users, "value": values})


def parquet(rows, folder, name="records.parquet"):
    (folder / name).parent.mkdir(exist_ok=True)
    pq.write_table(rows, folder / name)
    return folder / name


def csv(rows, folder, name="records.csv"):
    rows.to_pandas(integer_object_nulls=True).to_csv(folder / name, index=False)
    return folder / name


# Each converts an Arrow table to another kind of table, perhaps a file in a given folder.
TABLES = {
    "mapping": lambda rows, _: rows.to_pydict(),
    "pandas": lambda rows, _: rows.to_pandas(integer_object_nulls=True),
    "polars": lambda rows, _: pl.from_arrow(rows),
    "polars, lazy": lambda rows, _: pl.from_arrow(rows).lazy(),
    "Arrow": lambda rows, _: rows,
    "Arrow, a batch": lambda rows, _: rows.combine_chunks().to_batches()[0],
    "Arrow, a dataset": lambda rows, folder: ds.dataset(parquet(rows, folder)),
    "DuckDB": lambda rows, _: duckdb.arrow(rows),
    "Ibis": lambda rows, _: ibis.memtable(rows),
    "Parquet": parquet,
    "CSV": csv,
    "CSV, packed": lambda rows, folder: str(csv(rows, folder, "records.csv.gz")),
}
ENGINES = ["Ibis", "Parquet", "CSV"]  # these are read by queries


def frame_of(user, entries):
    """The two columns of a frame; the values are numbers."""
    return {"user": user, "value": np.ones(len(entries))}


def in_two(store):
    """Return a function that stores a table in two files."""

    def hold(rows, folder):
        ending = store.__name__
        return [
            store(rows[:1], folder, f"first.{ending}"),
            store(rows[1:], folder, f"second.{ending}"),
        ]

    return hold


def polars_objects(entries):
    return pl.DataFrame(frame_of(pl.Series(entries, dtype=pl.Object), entries))


def pandas_objects(entries):
    return pd.DataFrame(frame_of(objects(entries), entries))


# Tables of entries that need not have a type in Arrow.
OF_OBJECTS = {
    "polars objects, lazy": lambda entries: polars_objects(entries).lazy(),
    "Ibis on pandas objects": lambda entries: ibis.memtable(pandas_objects(entries)),
}


# Frames that DuckDB reads in place, with Python objects if the library supports them.
FRAMES = {
    "pandas": pandas_objects,
    "polars": polars_objects,
    "Arrow": lambda entries: rows_of(pa.array(entries), np.ones(len(entries))),
}

HASHED = 'SELECT CASE WHEN "user" IS NOT NULL THEN hash("user") END AS "user", value FROM frame'


def register(connection, frame, statement=None):
    """Register a frame with a connection of Ibis, and run a statement; return the connection."""
    connection.con.register("frame", frame)
    if statement is not None:
        connection.raw_sql(statement)
    return connection


def by_relation(query, statement=None):
    return lambda connection, frame: register(connection, frame, statement).con.sql(query)


def by_ibis(query, statement=None):
    return lambda connection, frame: register(connection, frame, statement).sql(query)


def found_by_name(connection, found):
    """Have DuckDB find a frame by the name of a Python variable."""
    return connection.con.cursor().sql(HASHED.replace("FROM frame", "FROM found"))


VIEW = "CREATE OR REPLACE TEMP VIEW seen AS " + HASHED
CTE = f"WITH RECURSIVE one AS MATERIALIZED ({HASHED}), two AS (FROM one WHERE value > 0) FROM two"
UNION = 'SELECT 7::UBIGINT AS "user", 1.0 AS value FROM range(0) UNION ALL ' * 20 + HASHED
TABLE_MACRO = f"CREATE OR REPLACE MACRO seen() AS TABLE {HASHED}"

# Ways to have DuckDB read a frame, by a connection of Ibis.
WRAPPED = {
    "relation on a registered frame": by_relation("FROM frame"),
    "relation over a view of a frame": by_relation("FROM seen", VIEW),
    "SQL expression over a frame": found_by_name,
    "SQL expression over a registered frame": by_relation(HASHED),
    "relation over a common table expression": by_relation(CTE),
    "relation over the last of many tables": by_relation(UNION),
    "relation over a table macro": by_relation("FROM seen()", TABLE_MACRO),
    "relation over a query as text": by_relation(f"FROM query('{HASHED}')"),
    "relation of a result": lambda connection, frame: register(connection, frame).con.sql(
        HASHED + " WHERE value > ?", params=[0]
    ),
    "Ibis on a registered frame": lambda connection, frame: register(connection, frame).table(
        "frame"
    ),
    "Ibis over a view of a frame": lambda connection, frame: register(
        connection, frame, VIEW
    ).table("seen"),
    "Ibis over an SQL expression": by_ibis(HASHED),
    "Ibis over a common table expression": by_ibis(CTE),
    "Ibis over the last of many tables": by_ibis(UNION),
    "Ibis over a join": by_ibis(
        f'SELECT a."user", b.value FROM ({HASHED}) a POSITIONAL JOIN frame b'
    ),
}
SEVERAL = {"Parquet, several": in_two(parquet), "CSV, several": in_two(csv)}


def alone(column):
    return lambda entries, _: (column(entries), np.ones(len(entries)), None)


def by_arrow(table):
    def hold(entries, folder):
        rows = rows_of(pa.array(entries), np.ones(len(entries)))
        return "user", "value", table(rows, folder)

    return hold


def of_objects(table):
    return lambda entries, _: ("user", "value", table(entries))


# Functions of entries and a temporary folder, which return users, values and data for a call.
HOLDERS = (
    {name: alone(column) for name, column in COLUMNS.items()}
    | {f"table, {name}": by_arrow(table) for name, table in (TABLES | SEVERAL).items()}
    | {name: of_objects(table) for name, table in OF_OBJECTS.items()}
)
