"""The front door for data: what has the two columns becomes records, or says what is wrong."""

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from kinds import TABLES, csv, parquet, rows_of

import userdp as ud
from userdp.practice._ingest import read_records
from userdp.practice._records import Rules

# What Ibis does behind the scenes with DuckDB.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning:ibis")

ROWS = {"who": ["a", "b", "a"], "what": [1.0, 2.0, 5.0], "else": [1, 2, 3]}
every_kind = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@every_kind
@pytest.mark.parametrize("name", ["user", "value"])
def test_a_column_that_is_not_there_is_named(table, name, tmp_path):
    names = {"user": "who", "value": "what"} | {name: "gone"}
    words = rf"^`{name}` must be the name of a column of `data`, got {name}='gone'\.$"
    with pytest.raises(ValueError, match=words):
        read_records(*names.values(), table(pa.table(ROWS), tmp_path))


@every_kind
@pytest.mark.parametrize("name", ["column_names", "columns", "size", "user name", 'a"b'])
def test_a_column_may_have_any_name(table, name, tmp_path):
    """And so may others; or the users alone are read."""
    rows = pa.table({name: ["a", "b", "a"], "value": [1.0, 9.0, 2.0], "else": [1, 2, 3]})
    data = table(rows, tmp_path)
    assert read_records(name, "value", data).survey(Rules(0, 4))[:2] == ((1, 2), (1, 1))
    assert ud.user_counts(name, data=data).tolist() == [2, 1]


def broken_dataset(folder):
    data = ds.dataset(parquet(pa.table(ROWS), folder))
    (folder / "records.parquet").unlink()
    return data


BROKEN = [
    lambda _: duckdb.sql("select 1 as who, error('secret') as what"),
    lambda _: pl.LazyFrame({"who": [1], "what": [300]}).with_columns(pl.col("what").cast(pl.Int8)),
    lambda _: ibis.memtable(pa.table({"who": [1], "what": ["secret"]})).cast({"what": "int64"}),
    broken_dataset,
]


@pytest.mark.parametrize("data", BROKEN)
def test_what_cannot_be_fetched_is_refused_without_its_words(data, tmp_path):
    with pytest.raises(ValueError, match=r"^`data` must be readable by .*\(\w{9,}\)") as caught:
        read_records("who", "what", data(tmp_path)).survey(Rules(0, 4))
    assert not any(told in str(caught.value) for told in ("secret", "300"))
    assert caught.value.__context__ is None


USERS, FRAME = np.array([1.0, 2.0]), pd.DataFrame(ROWS)
REFUSED = [
    (("who", "who", ROWS), "`value` must be another column than `user`, got value='who'"),
    ((USERS, USERS), "`value` must be another column than `user`"),
    (("who", "what", None), "`user` must be a column, got text: pass `data=`, the table"),
    (("who", 3, ROWS), "`value` must be the name of a column of `data`, got value of type int"),
    ((None, "what", ROWS), "`user` must be the name of a column of .*, got user of type NoneType"),
    (("who", "what", 3.5), "`data` must be a file, a frame or an Ibis table, got a float"),
    (("who", "what", object()), "`data` must be a file, a frame or an Ibis table, got a object"),
    (("who", "what", ibis.literal(3)), "a column of `data`, got user='who'"),
    (("who", "what", FRAME[["who", "who", "what"]]), "`user` must be one column, got a DataFrame"),
    (([1, 2], [1.0]), "`user` and `value` must be of one length, got 2 and 1"),
    ((pd.Series([1, 2]), pd.Series([1, 2], [1, 0])), "must have the same index, row by row"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_what_is_no_data_is_refused_in_words(arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        read_records(*arguments)


NO_NUMBER = "`value` must be a column of numbers, got 'what' of type .*"
PLAIN, NESTED = "`user` must be a plain column, got 'who' of type", ["[1]", "'1'::json", "true"]
QUERIES = {
    "'a' as who, '1' as what": f"{NO_NUMBER}string",
    "'a' as who, true as what": f"{NO_NUMBER}boolean",
} | {f"{user} as who, 1.0 as what": PLAIN for user in (*NESTED, "interval 1 day")}


@pytest.mark.parametrize("query", QUERIES)
def test_values_of_a_table_are_numbers_and_users_are_plain(query):
    table = ibis.duckdb.connect().sql(f"select {query}")
    with pytest.raises(TypeError, match=f"^{QUERIES[query]}"):
        read_records("who", "what", table)


def test_an_engine_that_is_not_tested_is_refused():
    table = ibis.polars.connect({"t": pl.DataFrame(ROWS)}).table("t")
    with pytest.raises(TypeError, match="duckdb or pyspark, got one of polars"):
        read_records("who", "what", table)


def test_text_is_a_value_in_a_csv_file_only(tmp_path):
    """There all is text; a Parquet file knows better."""
    rows = rows_of([1, 2], ["1", "2"])
    with pytest.raises(TypeError, match="a column of numbers"):
        read_records("user", "value", parquet(rows, tmp_path))
    assert read_records("user", "value", csv(rows, tmp_path)).survey(Rules(0, 4)).outside == 0


def test_decimals_become_the_nearest_floats(opendp):
    """Also where dividing by a power of ten would not."""
    table = ibis.duckdb.connect().sql("select 'a' as who, 0.3::decimal(38, 30) as what")
    rows = table.union(table)
    made = ud.private_mean("who", "what", lower=0, upper=1, eps=9, data=rows, project=False)
    floats = ud.private_mean(["a"] * 2, np.full(2, 0.3), lower=0, upper=1, eps=9, project=False)
    assert made == floats
