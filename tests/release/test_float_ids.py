"""Whole floats as ids: valid below the power of two beyond which their type skips whole numbers.

That power itself is refused, as the next whole number would be rounded to it, and two people would
be one user. The limit depends on the type, not on the holder (the kind of column or table); but if
the holder converts 16-bit floats to 32 bits, all its 32-bit floats have the limit of 16 bits.
"""

from functools import partial

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from kinds import chunks, objects

from userdp import release
from userdp.release._columns import EXACT_BELOW

# Ibis causes this with a pandas frame.
pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string':DeprecationWarning:ibis")

HALF, SINGLE, DOUBLE, LONG = np.float16, np.float32, np.float64, np.longdouble
ARROW = {HALF: pa.float16(), SINGLE: pa.float32(), DOUBLE: pa.float64()}
POLARS = {HALF: getattr(pl, "Float16", None), SINGLE: pl.Float32, DOUBLE: pl.Float64}
EDGE = {HALF: 2**11, SINGLE: 2**24, DOUBLE: 2**53, LONG: 2**53, float: 2**53}


def scalars(kind, ids):
    return [kind(each) for each in ids]


def arrow(kind, ids):
    return pa.array(np.array(ids, kind), ARROW[kind])


def table(kind, ids):
    return pa.table({"user": arrow(kind, ids), "value": np.ones(len(ids))})


def frame(kind, ids):
    return pd.DataFrame({"user": np.array(ids, kind), "value": np.ones(len(ids))})


def polars(kind, ids):
    return pl.Series("user", ids, dtype=POLARS[kind])


def polars_frame(kind, ids):
    return pl.DataFrame({"user": polars(kind, ids), "value": np.ones(len(ids))})


def over(frame):  # DuckDB finds the variable by its name
    return duckdb.sql("SELECT * FROM frame")


def alone(column):
    return lambda kind, ids, _: (column(kind, ids), None)


def inside(rows, make=table):
    return lambda kind, ids, folder: ("user", rows(make(kind, ids), folder))


def parquet(rows, folder):
    """Use a new name each time, because DuckDB caches what it has read from a file."""
    path = folder / f"{len([*folder.iterdir()])}.parquet"
    pq.write_table(rows, path)
    return path


def in_a_database(rows, folder):
    connection = ibis.duckdb.connect()
    path = str(parquet(rows, folder))
    connection.con.execute("CREATE TABLE kept AS SELECT * FROM read_parquet(?)", [path])
    return connection.table("kept")


ALL = {*EDGE}
NUMPY, STORED = {HALF, SINGLE, DOUBLE, LONG}, {HALF, SINGLE, DOUBLE}
POLARS_FLOATS = STORED if hasattr(pl, "Float16") else {SINGLE, DOUBLE}  # polars from version 2 on
SCANNED = {SINGLE, DOUBLE}  # DuckDB cannot scan 16-bit floats of Arrow

# The float types that a holder supports, and how to put ids into it.
HOLDERS = {
    "list": (ALL, alone(scalars)),
    "tuple": (ALL, alone(lambda kind, ids: tuple(scalars(kind, ids)))),
    "numpy": (ALL, alone(lambda kind, ids: np.array(ids, kind))),
    "objects": (ALL, alone(lambda kind, ids: objects(scalars(kind, ids)))),
    "pandas": (ALL, alone(lambda kind, ids: pd.Series(ids, dtype=kind))),
    "pandas objects": (ALL, alone(lambda kind, ids: pd.Series(objects(scalars(kind, ids))))),
    "pandas nullable": (
        {SINGLE, DOUBLE},
        alone(lambda kind, ids: pd.Series(ids, dtype=np.dtype(kind).name.capitalize())),
    ),
    "pandas by Arrow": (
        STORED,
        alone(lambda kind, ids: pd.Series(pd.arrays.ArrowExtensionArray(arrow(kind, ids)))),
    ),
    "pandas categories": (
        {SINGLE, DOUBLE},
        alone(lambda kind, ids: pd.Series(np.array(ids, kind)).astype("category")),
    ),
    "pandas nullable categories": (
        {SINGLE, DOUBLE},
        alone(
            lambda kind, ids: pd.Series(ids, dtype=np.dtype(kind).name.capitalize()).astype(
                "category"
            )
        ),
    ),
    "pandas sparse": (
        {SINGLE, DOUBLE},
        alone(lambda kind, ids: pd.Series(pd.arrays.SparseArray(np.array(ids, kind)))),
    ),
    "polars": (POLARS_FLOATS, alone(polars)),
    "polars objects": (
        ALL,
        alone(lambda kind, ids: pl.Series(scalars(kind, ids), dtype=pl.Object)),
    ),
    "Arrow": (STORED, alone(arrow)),
    "Arrow chunks": (STORED, alone(lambda kind, ids: chunks(arrow(kind, ids)))),
    "Arrow dictionary": (
        {SINGLE, DOUBLE},
        alone(lambda kind, ids: arrow(kind, ids).dictionary_encode()),
    ),
    "table, mapping": (
        ALL,
        lambda kind, ids, _: ("user", {"user": scalars(kind, ids), "value": [1.0] * len(ids)}),
    ),
    "table, pandas": (STORED, inside(lambda rows, _: rows, frame)),
    "table, polars": (POLARS_FLOATS, inside(lambda rows, _: rows, polars_frame)),
    "table, polars lazy": (POLARS_FLOATS, inside(lambda rows, _: rows.lazy(), polars_frame)),
    "table, Arrow": (STORED, inside(lambda rows, _: rows)),
    "table, Arrow dataset": (STORED, inside(lambda rows, _: ds.dataset(rows))),
    "table, Arrow dataset of files": (STORED, inside(lambda *of: ds.dataset(parquet(*of)))),
    "table, Parquet": (STORED, inside(parquet)),
    "table, Parquet in polars": (POLARS_FLOATS, inside(lambda *of: pl.scan_parquet(parquet(*of)))),
    "relation on Arrow": (SCANNED, inside(lambda rows, _: duckdb.arrow(rows))),
    "relation on polars": (SCANNED, inside(lambda rows, _: over(rows), polars_frame)),
    "relation on Parquet": (STORED, inside(lambda *of: duckdb.read_parquet(str(parquet(*of))))),
    "Ibis on Arrow": (SCANNED, inside(lambda rows, _: ibis.memtable(rows))),
    "Ibis on pandas": (SCANNED, inside(lambda rows, _: ibis.memtable(rows), frame)),
    "Ibis on Parquet": (
        STORED,
        inside(lambda *of: ibis.duckdb.connect().read_parquet(parquet(*of))),
    ),
    "Ibis on a table": (STORED, inside(in_a_database)),
}
DUCKDB = "relation", "Ibis", "table, Parquet"
IN_POLARS = "table, Parquet in polars"


def edge_of(kind, holder):
    """DuckDB reads 16-bit floats as 32-bit floats, and cannot tell them from others."""
    by_duckdb = holder.startswith(DUCKDB) and holder != IN_POLARS
    return EDGE[HALF] if by_duckdb and kind is SINGLE else EDGE[kind]


CASES = [
    pytest.param(kind, holder, id=f"{kind.__name__} in {holder}")
    for holder, (kinds, _) in HOLDERS.items()
    for kind in sorted(kinds, key=[*EDGE].index)
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "holder"), CASES)
def test_the_last_float_below_the_edge_is_an_id_and_the_edge_is_not(kind, holder, tmp_path):
    _, hold = HOLDERS[holder]
    count = partial(count_in, hold, kind, tmp_path)
    edge = edge_of(kind, holder)
    assert count([edge - 1, edge - 2, edge - 1]) == [2, 1]
    assert count([1 - edge, 2 - edge, 1 - edge, edge - 1]) == [2, 1, 1]
    for odd in (edge, edge + 2, -edge, -edge - 2, 2 * edge, 0.5, float("inf")):
        with pytest.raises(TypeError, match="`user` must hold ids: floats must be whole numbers"):
            count([odd, 1, 2])


def count_in(hold, kind, folder, ids):
    user, data = hold(kind, ids, folder)
    return release.user_counts(user, data=data).tolist()


@pytest.mark.parametrize("kind", EDGE)
def test_the_edge_is_the_first_float_to_which_the_next_whole_number_is_rounded(kind):
    """For all types except long doubles, which have the edge of doubles."""
    assert EXACT_BELOW[kind] == EDGE[kind]
    if kind is not LONG:
        assert kind(EDGE[kind] + 1) == kind(EDGE[kind])
    assert kind(EDGE[kind] - 1) + kind(1) == kind(EDGE[kind]) != kind(EDGE[kind] - 1)
