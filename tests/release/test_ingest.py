"""Reading data: a source with the two columns is read into a tally, or refused with the reason."""

import gzip

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from kinds import TABLES, csv, parquet, rows_of

from userdp import release
from userdp.release._files import _show_bar
from userdp.release._grid import read_grid
from userdp.release._rows import Rules
from userdp.release._sources import read_tally

ABOUT = {"lower": 0, "upper": 20, "budget": 1}
RULES = Rules(read_grid(0, 4))


def survey_of(user, value, data=None):
    with read_tally(user, value, data, RULES) as tally:
        return tally.survey()


ROWS = {"who": ["a", "b", "a"], "what": [1.0, 2.0, 5.0], "else": [1, 2, 3]}
every_kind = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@every_kind
@pytest.mark.parametrize("name", ["user", "value"])
def test_a_missing_column_is_named(table, name, tmp_path):
    names = {"user": "who", "value": "what"} | {name: "gone"}
    words = rf"^`{name}` must be the name of a column of `data`, got {name}='gone'\.$"
    with pytest.raises(ValueError, match=words):
        survey_of(*names.values(), table(pa.table(ROWS), tmp_path))


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("name", ["column_names", "columns", "size", "user name", 'a"b'])
def test_a_column_may_have_any_name(table, name, tmp_path):
    """So may other columns; and users can be read without values."""
    rows = pa.table({name: ["a", "b", "a"], "value": [1.0, 9.0, 2.0], "else": [1, 2, 3]})
    data = table(rows, tmp_path)
    assert survey_of(name, "value", data)[:2] == ((1, 2), (1, 1))
    assert release.user_counts(name, data=data).tolist() == [2, 1]


def broken_dataset(folder):
    data = ds.dataset(parquet(pa.table(ROWS), folder))
    (folder / "records.parquet").unlink()
    return data


def damaged_dataset(folder):
    """The schema of this file can still be read, but not its entries."""
    path = parquet(pa.table(ROWS), folder)
    data = bytearray(path.read_bytes())
    data[4:40] = bytes(36)
    path.write_bytes(data)
    return ds.dataset(path)


BROKEN = {
    "a query that fails": lambda _: duckdb.sql("select 1 as who, error('secret') as what"),
    "a cast that overflows": lambda _: pl.LazyFrame({"who": [1], "what": [300]}).with_columns(
        pl.col("what").cast(pl.Int8)
    ),
    "text cast to numbers": lambda _: ibis.memtable(
        pa.table({"who": [1], "what": ["secret"]})
    ).cast({"what": "int64"}),
    "a file that is gone": broken_dataset,
    "a file that is damaged": damaged_dataset,
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_data_that_cannot_be_fetched_are_refused_without_the_error_message(data, tmp_path):
    with pytest.raises(
        ValueError, match=r"^`data` must be readable by .*\(\w+(Error|Exception)\)"
    ) as caught:
        survey_of("who", "what", data(tmp_path))
    assert not any(datum in str(caught.value) for datum in ("secret", "300"))
    assert caught.value.__context__ is None


USERS, FRAME = np.array([1.0, 2.0]), pd.DataFrame(ROWS)
SCANNER = ds.dataset(pa.table(ROWS)).scanner()
REFUSED = [
    (("who", "who", ROWS), "`value` must be a different column from `user`, got value='who'"),
    ((USERS, USERS), "`value` must be a different column from `user`"),
    (("who", "what", None), "`user` must be a column, got text: pass `data=`, the table that"),
    (("who", 3, ROWS), "`value` must be the name of a column of .*, got value of type int[.]"),
    (
        (None, "what", ROWS),
        "`user` must be the name of a column of `data`, got user of type NoneType",
    ),
    (("who", "what", 3.5), "`data` must be a file, a frame or an Ibis table, got a float"),
    (("who", "what", object()), "`data` must be a file, a frame or an Ibis table, got a object"),
    (("who", "what", ibis.literal(3)), "a column of `data`, got user='who'"),
    (
        ("who", "what", FRAME[["who", "who", "what"]]),
        "exactly one column of `data`, got user='who'",
    ),
    (
        ("who", FRAME["what"], FRAME),
        "`value` must be the name of a column of `data`, got value of type Series",
    ),
    (
        (FRAME["who"], "what", FRAME),
        "`user` must be the name of a column of `data`, got user of type Series",
    ),
    (
        ("who", [1.0], FRAME),
        "`value` must be the name of a column of `data`, got value of type list",
    ),
    (
        ("who", "what", {"who": np.array([True]), "what": np.ones(1)}),
        "`user` must hold ids, got user='who' of dtype bool",
    ),
    (
        ("who", "what", {"who": np.ones(1), "what": np.array([True])}),
        "`value` must hold real numbers, got value='what' of dtype bool",
    ),
    (("who", "what", [FRAME]), "`data` must be the path of a file, got data of type DataFrame"),
    (("who", "what", SCANNER), "`data` must be a file, a frame or an Ibis table, got a Scanner[.]"),
    (([1, 2], [1.0]), "`user` and `value` must have equal lengths, got 2 and 1"),
    ((pd.Series([1, 2]), pd.Series([1, 2], [1, 0])), "must have the same index, row by row"),
]


def repeated():
    """Return a table in which two columns have one name."""
    return pa.Table.from_arrays([pa.array([x]) for x in (1, 2, 3.0)], ["who", "who", "what"])


ONCE = "`user` must be the name of exactly one column of `data`, got user='who'"
TWICE = {
    "Arrow": repeated,
    "a batch": lambda: repeated().to_batches()[0],
    "a dataset": lambda: ds.dataset(repeated()),
    "pandas": lambda: repeated().to_pandas(),
    "DuckDB": lambda: duckdb.sql("select 1 as who, 2 as who, 3.0 as what"),
    "DuckDB but for case": lambda: duckdb.sql("select 1 as WHO, 2 as who, 3.0 as what"),
    "Ibis but for case": lambda: ibis.memtable(pa.table({"WHO": [1], "who": [2], "what": [3.0]})),
}


@pytest.mark.parametrize("make", TWICE.values(), ids=TWICE)
def test_a_repeated_name_is_refused(make):
    """The first of the two columns is not used instead; DuckDB ignores case."""
    data = make()
    with pytest.raises(ValueError, match=f"^{ONCE}"):
        survey_of("who", "what", data)
    with pytest.raises(ValueError, match=f"^{ONCE}"):
        survey_of("who", None, data)


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_other_data_are_refused_with_a_reason(arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        survey_of(*arguments)


NOT_NUMBERS = "`value` must hold real numbers, got value='what' of type "
NOT_IDS = "`user` must hold ids, got user='who' of type"
NESTED = ["[1]", "'1'::json", "true", "interval 1 day", "time '12:00'", "timetz '12:00:00+01'"]
NESTED += ["1::uhugeint", "1::bignum", "'1'::bit", "1::union(a int, b text)"]
QUERIES = {
    "'a' as who, '1' as what": f"{NOT_NUMBERS}string",
    "'a' as who, true as what": f"{NOT_NUMBERS}boolean",
} | {f"{user} as who, 1.0 as what": NOT_IDS for user in NESTED}


@pytest.mark.parametrize("query", QUERIES)
def test_columns_of_a_table_that_are_not_numbers_or_not_ids_are_refused(query):
    table = ibis.duckdb.connect().sql(f"select {query}")
    with pytest.raises(TypeError, match=f"^{QUERIES[query]}"):
        survey_of("who", "what", table)


# Types that Arrow lacks: it would drop the zone, wrap the number, or return bytes.
OF_DUCKDB = {
    "a time of day": "time '12:00'",
    "a time of day in a zone": "timetz '12:00:00+01'",
    "a whole number of 128 bits": "1::uhugeint",
    "a whole number of any size": "1::bignum",
    "bits": "'1'::bit",
    "a boolean": "true",
    "a duration": "interval 1 day",
    "a list": "[1]",
    "a structure": "{'a': 1}",
}


@pytest.mark.parametrize("literal", OF_DUCKDB.values(), ids=OF_DUCKDB)
def test_types_of_duckdb_that_arrow_lacks_are_refused(literal):
    for name, query in (("user", "{} as who, 1.0 as what"), ("value", "1 as who, {} as what")):
        words = f"^`{name}` must hold .*, got {name}='wh..?.?' of DuckDB's type [A-Z]"
        with pytest.raises(TypeError, match=words):
            survey_of("who", "what", duckdb.sql(f"select {query.format(literal)}"))


def test_large_whole_numbers_of_duckdb_are_told_apart():
    rows = duckdb.sql("select (2::hugeint ** 120)::hugeint + i % 2 as who from range(3) r(i)")
    assert release.user_counts("who", data=rows).tolist() == [2, 1]


LINKS = {"t.parquet": parquet, "t.csv": csv, "t.csv.gz": csv}


@pytest.mark.parametrize(("name", "store"), LINKS.items(), ids=LINKS)
def test_the_name_of_a_link_determines_the_kind_of_file(name, store, tmp_path):
    """Tools that store versions of files under hashes provide links with readable names."""
    stored = store(pa.table(ROWS), tmp_path, name)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / name
    link.symlink_to(stored.rename(tmp_path / "2f7a"))
    assert release.user_counts("who", data=link).tolist() == [2, 1]
    assert survey_of("who", "what", link).outside == 1


def test_files_of_a_dataset_that_lack_the_column_are_refused(tmp_path):
    """The column is not filled with nulls; but one from the names of folders is accepted."""
    parquet(pa.table(ROWS), tmp_path / "who=x", "a.parquet")
    parquet(pa.table(ROWS).drop(["who"]), tmp_path / "who=y", "b.parquet")
    paths = [tmp_path / "who=x" / "a.parquet", tmp_path / "who=y" / "b.parquet"]
    with pytest.raises(ValueError, match=r"got user='who', for '.*b.parquet'[.]$"):
        release.user_counts("who", data=ds.dataset(paths))
    (tmp_path / "who=x" / "a.parquet").unlink()
    assert release.user_counts("who", data=ds.dataset(tmp_path, partitioning="hive")).tolist() == [
        3
    ]


def in_duckdb(path=":memory:"):
    return ibis.duckdb.connect(path).sql("SELECT 'a' AS who, 1.5::DOUBLE AS what")


def in_polars():
    return ibis.polars.connect({"t": pl.DataFrame({"who": ["a"], "what": [1.5]})}).table("t")


def test_an_unsupported_engine_is_refused():
    with pytest.raises(TypeError, match="duckdb or pyspark, got one of polars"):
        survey_of("who", "what", in_polars())


NOT_ONE_ENGINE = {
    "two databases": lambda folder: in_duckdb(folder / "t.duckdb").union(in_duckdb()),
    "two engines": lambda _: in_duckdb().union(in_polars()),
    "no engine": lambda _: ibis.table({"who": "string", "what": "float64"}, name="t"),
}


@pytest.mark.parametrize("make", NOT_ONE_ENGINE.values(), ids=NOT_ONE_ENGINE)
def test_a_table_of_several_engines_or_of_none_is_refused(make, tmp_path):
    with pytest.raises(ValueError, match=r"^`data` must be an Ibis table of one engine[.]"):
        survey_of("who", "what", make(tmp_path))


def test_a_table_in_memory_is_read_by_the_default_engine_if_it_is_supported(monkeypatch):
    table = ibis.memtable(pa.table(ROWS))
    assert survey_of("who", "what", table).counts.tolist() == [2, 1]
    monkeypatch.setattr(ibis.options, "default_backend", ibis.polars.connect())
    with pytest.raises(TypeError, match="duckdb or pyspark, got one of polars"):
        survey_of("who", "what", table)


@pytest.mark.parametrize("connect", [duckdb.connect, ibis.duckdb.connect], ids=["DuckDB", "Ibis"])
def test_a_table_of_a_database_opened_read_only_is_read(connect, tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as database:
        database.execute("CREATE TABLE t AS SELECT i % 3 AS who, i AS what FROM range(9) AS r(i)")
    connection = connect(path, read_only=True)
    with pytest.raises(TypeError, match=r"be a table, got a connection: pass connection\.table\("):
        release.user_counts("who", data=connection)
    table = connection.table("t")
    assert release.user_counts("who", data=table).tolist() == [3, 3, 3]
    assert (
        release.private_mean("who", "what", lower=0, upper=9, budget=1, data=table).n_records == 9
    )


OF_TEXT = {
    "decimal commas": (
        'who,what\na,"12,5"\n',
        "`value` must hold real numbers, got value='what' with entries that are not numbers in "
        "PATH. Write numbers with a decimal point (12.5, not 12,5), ",
    ),
    "semicolons": (
        "who;what\na;12,5\n",
        "`data` must be separated by commas, got semicolons in the heading of PATH. Write ",
    ),
    "tabs": (
        "who\twhat\na\t12.5\n",
        "`data` must be separated by commas, got tabs in the heading of PATH. Write ",
    ),
    "Latin-1": (
        "who,what\nJos\xe9,1\n".encode("latin-1"),
        "`data` must be text in UTF-8, got another encoding in PATH, perhaps Latin-1 or UTF-16. ",
    ),
    "a comma too many": (
        "who,what\na,1\n\nb,12,5\n",
        "`data` must have the same number of fields in each row, got 2 in the heading of PATH "
        "and another number in some row. Put fields that contain commas in double quotes, ",
    ),
    "a quote that is not closed": (
        'who,what\na,1\nb,"2\n',
        "`data` must be a file that DuckDB can read, got data=PATH. Nothing was released",
    ),
}


@pytest.mark.parametrize("name", OF_TEXT)
def test_the_fault_of_a_text_file_is_named(name, tmp_path):
    """The message is about the format, and quotes no row; it is the same for compressed files."""
    content, words = OF_TEXT[name]
    content = content if isinstance(content, bytes) else content.encode()
    for path, written in {"t.csv": content, "t.csv.gz": gzip.compress(content)}.items():
        (tmp_path / path).write_bytes(written)
        with pytest.raises(ValueError, match="must") as refusal:
            release.private_mean("who", "what", data=tmp_path / path, **ABOUT)
        assert str(refusal.value).startswith(words.replace("PATH", repr(str(tmp_path / path))))


def test_an_engine_that_fails_leaves_no_tally_behind():
    nothing_spent = "Nothing was released"
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE t AS SELECT 'a' AS who, 1.0 AS what")
    table = connection.table("t")
    with pytest.raises(ValueError, match=f"its engine, which failed[.] {nothing_spent}"):
        survey_of("who", "what", table.mutate(what=table["who"].cast("float64")))
    with read_tally("who", "what", table, RULES) as tally:
        (kept,) = [name for name in connection.list_tables() if name != "t"]
        assert "_userdp_tally_" in kept
        connection.raw_sql(f"DROP TABLE {kept}")
        with pytest.raises(ValueError, match=f"its engine, which failed[.] {nothing_spent}"):
            tally.survey()
    assert connection.list_tables() == ["t"]


def test_the_connection_to_a_file_is_closed_after_use(tmp_path):
    with read_tally("who", "what", parquet(pa.table(ROWS), tmp_path), RULES) as tally:
        engine = tally.table.backend.connection
        assert engine.raw_sql("SELECT 1").fetchall() == [(1,)]
    with pytest.raises(duckdb.ConnectionException, match="closed"):
        engine.raw_sql("SELECT 1")


def test_duckdb_shows_a_bar_if_requested():
    connection = ibis.duckdb.connect()
    for wanted in (True, False, False, True):
        _show_bar(connection, wanted)
        setting = connection.raw_sql("SELECT current_setting('enable_progress_bar')")
        assert setting.fetchall() == [(wanted,)]


def test_text_is_a_value_only_in_a_csv_file(tmp_path):
    """In a CSV file everything is text, whereas a Parquet file has types."""
    rows = rows_of(["a", "b"], ["1", "2"])
    with pytest.raises(TypeError, match="must hold real numbers"):
        survey_of("user", "value", parquet(rows, tmp_path))
    assert survey_of("user", "value", csv(rows, tmp_path)).outside == 0


def test_decimals_become_the_nearest_floats(opendp):
    """Also if dividing by a power of ten would give another float."""
    table = ibis.duckdb.connect().sql("select 'a' as who, 0.3::decimal(38, 30) as what")
    rows = table.union(table)
    result = release.private_mean(
        "who", "what", lower=0, upper=1, budget=9, data=rows, project=False
    )
    floats = release.private_mean(
        ["a"] * 2, np.full(2, 0.3), lower=0, upper=1, budget=9, project=False
    )
    assert result == floats
