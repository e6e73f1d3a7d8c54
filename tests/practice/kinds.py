"""Whatever may hold users and values: columns by themselves, and tables with two of them.

All of it is made late: threads of polars and connections of DuckDB do not outlive a fork.
"""

import datetime
import uuid
from decimal import Decimal
from functools import partial
from math import nan

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
MORE = 5 * 10**9  # beyond 32 bits

# One user, another one, and the first again, perhaps in other words.
ENTRIES = {
    "text": ["a", "b", "a"],
    "bytes": [b"a", b"b", b"a"],
    "integers": [0, 1, 0],
    "large integers": [2**63 - 1, 2**63 - 2, 2**63 - 1],
    "huge integers": [10**30, 10**30 + 1, 10**30],
    "floats": [2.0**53, 2.0**53 - 1, 2.0**53],
    "negative floats": [-(2.0**53), 0.0, -(2.0**53)],
    "zeros": [0.0, 1.0, -0.0],
    "decimals": [Decimal(1), Decimal("1.5"), Decimal("1.0")],
    "UUIDs": [uuid.UUID(int=1), uuid.UUID(int=2), uuid.UUID(int=1)],
    "days": [DAY, DAY + SPAN, DAY],
    "times": [NOON, NOON + SPAN, NOON],
    "instants": [ZONES[0], ZONES[1], NOON.replace(tzinfo=datetime.UTC)],
    "times of day": [datetime.time(1), datetime.time(2), datetime.time(1)],
    "durations": [SPAN, 2 * SPAN, datetime.timedelta(hours=24)],
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


LISTS = {"list": list, "objects": objects, "pandas objects": pandas(object)}
PLAIN = LISTS | {"pandas": pandas(), "polars": polars(), "Arrow": arrow(), "Arrow chunks": chunks}
CATEGORIES = {"pandas categories": pandas("category"), "Arrow dictionary": dictionary}
WHOLE = LISTS | {
    "pandas": pandas("Int64"),
    "pandas by Arrow": pandas(pd.ArrowDtype(pa.int64())),
    "pandas index": lambda entries: pd.Index(entries, dtype="Int64"),
    "pandas categories": lambda entries: pd.Series(entries, dtype="Int64").astype("category"),
    "polars": polars(pl.Int64),
    "Arrow": arrow(),
    "Arrow unsigned": arrow(pa.uint64()),
    "Arrow chunks": chunks,
    "Arrow decimals": arrow(pa.decimal128(25)),
    "Arrow dictionary": dictionary,
}

# What holds such entries, and whether one of them is missing.
HOLDERS = dict.fromkeys(ENTRIES, PLAIN) | {
    "text": PLAIN
    | CATEGORIES
    | {
        "pandas strings": pandas("string"),
        "pandas by Arrow": pandas(pd.ArrowDtype(pa.string())),
        "pandas categories, ordered": lambda entries: pd.Categorical(entries, ordered=True),
        "numpy strings": lambda entries: np.array(entries, np.dtypes.StringDType(na_object=None)),
        "polars categories": polars(pl.Categorical),
        "polars enumeration": lambda entries: pl.Series(entries, dtype=pl.Enum(["b", "a"])),
    },
    **{"integers": WHOLE, "large integers": WHOLE, "huge integers": LISTS, "UUIDs": LISTS},
    "floats": PLAIN | CATEGORIES | {"pandas nullable": pandas("Float64")},
    "days": PLAIN | {"Arrow in 32 bits": arrow(pa.date32()), "in 64": arrow(pa.date64())},
    "times": PLAIN | CATEGORIES | {"pandas by Arrow": pandas(pd.ArrowDtype(pa.timestamp("ns")))},
}
HELD = [(kind, holder) for kind, holders in HOLDERS.items() for holder in holders]


def held(kind, holder, null=False):
    """Return a column of two users, the first one twice, perhaps with nobody in between."""
    first, second, again = ENTRIES[kind]
    return HOLDERS[kind][holder]([first, second, *[None] * null, again])


# The same in arrays of numpy, which have types of their own, and where a null is no None.
BY_DTYPE = {
    np.int64: [[4, 5, 4], [0, 1, 0], [-1, 2, -1], [2**63 - 1, 2**63 - 2, 2**63 - 1]],
    np.uint64: [[2**64 - 1, other, 2**64 - 1] for other in (0, 2**64 - 2)],
    np.int8: [[-128, 127, -128]],
    np.int32: [[2**31 - 1, 2**31 - 2, 2**31 - 1]],
    np.float64: [[4, -5, nan, 4], [2.0**53, 2.0**53 - 1, 2.0**53], [0.0, 1.0, nan, -0.0]],
    np.longdouble: [[2.0**53, 2.0**53 - 1, nan, 2.0**53]],
    np.float32: [[2.0**24, 2.0**24 - 1, nan, 2.0**24]],
    None: [["", "b", ""], [b"", b"b", b""]],
    "M8[ns]": [["2013-01-01", "2013-01-02", "NaT", "2013-01-01"]],
    "m8[s]": [[1, 2, "NaT", 1]],
    np.dtypes.StringDType(): [["a", "b", "a"]],
    np.dtypes.StringDType(na_object=nan): [["a", "b", nan, "a"]],
}
NUMPY = [np.array(column, dtype) for dtype, columns in BY_DTYPE.items() for column in columns]
NUMPY += [pa.array([0, MORE, None, 0], kind("us")) for kind in (pa.timestamp, pa.duration)]
NULLS = [None, nan, np.float32("nan"), np.datetime64("NaT"), np.timedelta64("NaT"), pd.NA, pd.NaT]
NULLS += [Decimal("NaN"), Decimal("sNaN")]


def rows_of(users, values):
    return pa.table({"user": users, "value": values})


def parquet(rows, folder, name="records.parquet"):
    (folder / name).parent.mkdir(exist_ok=True)
    pq.write_table(rows, folder / name)
    return folder / name


def csv(rows, folder, name="records.csv"):
    rows.to_pandas(integer_object_nulls=True).to_csv(folder / name, index=False)
    return folder / name


# From a table of Arrow, and a folder of one's own.
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
ENGINES = ["Ibis", "Parquet", "CSV"]  # where queries do the work
