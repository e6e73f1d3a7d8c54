"""Attacks on releases: careless and hostile tables, and attempts to read data from messages.

Each of these once succeeded. A user must never count as several, rows must be counted and added up
in the same state of a table, and no message may reveal protected data.
"""

import dataclasses
import gzip
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import duckdb
import ibis
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from kinds import TABLES, csv, parquet, rows_of

import userdp as ud
from userdp import beyond, release
from userdp.release import _engines as engines
from userdp.release import _files, json_schema, release_mean_in_ball
from userdp.release._grid import Window, read_grid
from userdp.release._quiet import quietly
from userdp.release._rows import Rules
from userdp.release._sources import read_tally


def mean_of(user, value, *, lower=0, upper=10, budget=1, **options):
    return release.private_mean(user, value, lower=lower, upper=upper, budget=budget, **options)


def of_table(data, **options):
    return mean_of("user", "value", data=data, **options)


# Arrays that change after they were read, and files.
@pytest.mark.parametrize("what", ["users", "values"])
def test_arrays_may_change_after_they_were_read(what):
    users, values = np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0])
    frame = pd.DataFrame({"users": users, "values": values}, copy=False)
    columns = [(users, values), (frame.users, frame["values"])]
    columns += [(kind(users), kind(values)) for kind in (pl.Series, pa.array)]
    rules = Rules(read_grid(0, 10))
    tallies = [read_tally(*pair, None, rules) for pair in columns]
    changed = users if what == "users" else values
    changed.setflags(write=True)
    changed[:] = 0
    window = Window(0, 0, 0, 2**45)
    for each in tallies:
        assert each.survey().sizes == (2,)
        assert each.clipped_total(window) == pytest.approx(2**40, abs=2)


def stored(folder, users, name="t.parquet"):
    return parquet(rows_of(users, np.ones(len(users))), folder, name)


@pytest.mark.parametrize("name", ["t[ab].parquet", "*.parquet", "t?.parquet", "a'b.parquet"])
def test_a_file_name_is_not_a_pattern(tmp_path, name):
    stored(tmp_path, [1, 2, 3, 4], "ta.parquet")
    with pytest.raises(FileNotFoundError):
        release.user_counts("user", data=tmp_path / name)
    stored(tmp_path, [1, 2], name)
    assert release.user_counts("user", data=tmp_path / name).tolist() == [1, 1]


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_several_files_are_matched_by_column_names(tmp_path):
    paths = [stored(tmp_path, [1, i], f"{i}.parquet") for i in (2, 3)]
    assert release.user_counts("user", data=paths).tolist() == [2, 1, 1]
    assert release.user_counts("user", data=[str(paths[0])]).tolist() == [1, 1]
    texts = {"a.csv": "user,value\n1,5\n1,5\n", "b.csv": "value,user\n5,2\n5,3\n"}
    paths = [write(tmp_path / name, text) for name, text in texts.items()]
    assert release.user_counts("user", data=paths).tolist() == [2, 1, 1]


@pytest.mark.filterwarnings("ignore:.*protects little")
@pytest.mark.parametrize("store", [parquet, csv])
@pytest.mark.parametrize("folder", ["value=3", "user=alice"])
def test_names_of_folders_are_not_columns(tmp_path, opendp, folder, store):
    write(tmp_path / folder / "other", "")
    result = of_table(store(rows_of(["a", "b"], [1.0, 2.0]), tmp_path / folder), budget=100)
    assert (result.mean, result.n_users) == (pytest.approx(1.5), 2)


ALIKE = ["123456789012345678901 123456789012345678902", "12e400 13e400", "9e999 8e999", "1 1.0"]
ALIKE += ["01 1", "nan inf", "'a' a", "#a b"]
TEXTS = {"user,value\n{},1\n{},2\n".format(*ids.split()): [1, 1] for ids in ALIKE} | {
    'user,value\n"a\\",1\n"a",2\n"b, c",3\n"b, c",4\n': [2, 1, 1],
    "1,2\n1,2\n1,3\n": [2],
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_csv_file_is_parsed_by_commas_and_double_quotes_only(tmp_path, text):
    """Ids are text, regardless of what detection of types and dialects would suggest."""
    user, _, _ = text.partition(",")
    data = write(tmp_path / "t.csv", text)
    assert release.user_counts(user, data=data).tolist() == TEXTS[text]


BROKEN = {
    "late.csv": b"user,value\n" + b"b,1\n" * 50_000 + b"c,secret\n",
    "early.csv": b"user,value\na,1\nb,secret\n",
    "ragged.csv": b"user,value\na,1\nb,1,secret\n",
    "short.csv": b"user,value\na,1\nsecret\n",
    "quote.csv": b'user,value\na,1\nb,"secret\n',
    "escaped.csv": b'user,value\na,1\n"secret\\"",1\n',
    "header.csv": b"user,value\n",
    "other.csv": b"user;value;secret\nsecret;1\n",
    "latin.csv": b"user,value\na,1\nsecret\xe9,2\n",
    "comma.csv": b'user,value\na,1\nsecret,"12,5"\n',
    "empty.parquet": b"",
    "short.parquet": b"PAR1 secret",
    "hollow.parquet": b"PAR1" + bytes(100) + b"PAR1",
}


@pytest.mark.parametrize("name", BROKEN)
def test_errors_of_a_file_quote_no_rows(tmp_path, name):
    """Malformed files are refused without quoting rows; a header alone is a table without rows."""
    words = r"^`(data|value)` must (be|have|hold) "
    if name == "header.csv":
        words = "at least one valid row: there is none"
    with pytest.raises(ValueError, match=words) as refusal:
        of_table(write(tmp_path / name, BROKEN[name]))
    assert refusal.value.__context__ is refusal.value.__cause__ is None
    assert "secret" not in repr(refusal.value)
    if "parquet" in name:
        assert f"that DuckDB can read, got data='{tmp_path / name}'" in str(refusal.value)


WHOLE = gzip.compress(b"user,value\n" + b"a,1\n" * 1000, mtime=0)
PACKED = {
    "a wrong checksum": WHOLE[:-8] + bytes([WHOLE[-8] ^ 1]) + WHOLE[-7:],
    "a wrong length": WHOLE[:-1] + b"\1",
    "no length": WHOLE[:-4],
    "no checksum": WHOLE[:-8],
    "half of it": WHOLE[: len(WHOLE) // 2],
    "something behind it": WHOLE + b"secret",
    "a second part that is cut": WHOLE + WHOLE[:-8],
    "text": b"user,value\na,1\n",
}


@pytest.mark.parametrize("name", PACKED)
def test_an_incomplete_compressed_file_is_refused(tmp_path, name):
    """DuckDB reads some of them without an error, and without the lost rows."""
    path = write(tmp_path / "t.csv.gz", PACKED[name])
    whole = write(tmp_path / "whole.csv.gz", WHOLE)
    words = f"`data` must be a complete gzip file with a correct checksum, .*{re.escape(path.name)}"
    for data in (path, [whole, path]):
        with pytest.raises(ValueError, match=words):
            of_table(data)
    assert of_table(write(path, WHOLE + gzip.compress(b"b,1\n"))).n_records == 1001


FORBIDDEN_QUERIES = [
    "SELECT * FROM '{other}'",
    "SELECT * FROM read_parquet('https://example.org/t.parquet')",
]
FORBIDDEN_QUERIES += ["COPY (SELECT 1) TO 'out.csv'", "INSTALL httpfs", "SET threads = 1"]


def test_nothing_is_written_and_nothing_else_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = stored(tmp_path, list(range(1000)) * 3)
    other = stored(tmp_path, [1], "other.parquet")
    of_table("t.parquet")
    assert sorted(os.listdir(tmp_path)) == ["other.parquet", "t.parquet"]
    with read_tally("user", "value", path, Rules(read_grid(0, 10))) as tally:
        for query in FORBIDDEN_QUERIES:
            with pytest.raises(duckdb.Error):
                tally.table.backend.connection.raw_sql(query.format(other=other))


INSTEAD = (
    r"[(]instead of a folder, a pattern or an address, pass a list of files or an Ibis table[)]"
)
ENDING = f"a file ending in .parquet, .csv, .csv.gz {INSTEAD}"
NO_FILES = {
    "a number": (3, TypeError, "a file, a frame or an Ibis table, got a int[.]"),
    "a list of a number": ([3], TypeError, "the path of a file, got data of type int[.]"),
    "bytes": ([b"t.csv"], TypeError, "the path of a file, got data of type bytes[.]"),
    "no file": (
        "no.csv",
        FileNotFoundError,
        f".* on this machine {INSTEAD}, got data='no.csv'",
    ),
    "a NUL": (
        "t\0.csv",
        FileNotFoundError,
        f".* on this machine {INSTEAD}, got data of type str",
    ),
    "a bucket": (
        "s3://b/t.csv",
        FileNotFoundError,
        f".* on this machine {INSTEAD}, got data='s3:",
    ),
    "an address": (
        "https://a.org/t.parquet",
        FileNotFoundError,
        f".* on this machine {INSTEAD}",
    ),
    "a pattern": ("*.parquet", FileNotFoundError, f".* on this machine {INSTEAD}"),
    "every file of a folder": ("folder.csv/*", ValueError, f"{ENDING}, got data of type str[.]"),
    "another ending": ("t.txt", ValueError, f"{ENDING}, got data of type str[.]"),
    "a folder of parts": ("parts", ValueError, f"{ENDING}, got data of type str[.]"),
    "a folder named as a file": ("folder.csv", ValueError, f"a regular file {INSTEAD}, got data="),
    "a database": (
        "t.duckdb",
        ValueError,
        r"a table: for a database, ibis.duckdb.connect\(path, read_only=True\).table\(name\), "
        r"got data of type str[.]",
    ),
    "a pipe": ("pipe.csv", ValueError, f"a regular file {INSTEAD}, got data='pipe.csv'"),
    "an empty list": ([], ValueError, "files that are all Parquet"),
    "two kinds": (["t.parquet", "t.csv"], ValueError, r".* or all CSV, got data=\['.*csv'\]"),
}


@pytest.mark.parametrize(("data", "kind", "words"), NO_FILES.values(), ids=NO_FILES)
def test_paths_other_than_those_of_local_files_are_refused(
    tmp_path, monkeypatch, data, kind, words
):
    """Folders and pipes are refused as well; a pipe would block."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("folder.csv")
    os.mkfifo("pipe.csv")
    write(tmp_path / "parts" / "part-00000.parquet", "as Spark writes them")
    for store in (parquet, csv):
        store(rows_of([1], [1]), tmp_path, f"t.{store.__name__}")
    with pytest.raises(kind, match=f"^`data` must be {words}") as refusal:
        release.user_counts("user", data=data)
    assert refusal.value.__context__ is None


def by_link(path):
    (path.parent / "link.csv").symlink_to(path)
    return path.parent / "link.csv"


def by_hard_link(path):
    (path.parent / "hard.csv").hardlink_to(path)
    return path.parent / "hard.csv"


AGAIN = {
    "the same path": lambda path: path,
    "a longer path": lambda path: path.parent / "sub" / ".." / path.name,
    "a relative path": lambda path: os.path.relpath(path),
    "a link": by_link,
    "a hard link": by_hard_link,
}


@pytest.mark.parametrize("again", AGAIN.values(), ids=AGAIN)
def test_a_file_named_twice_is_refused(tmp_path, again):
    path = write(tmp_path / "t.csv", "user,value\na,1\n")
    (tmp_path / "sub").mkdir()
    with pytest.raises(ValueError, match=r"^`data` must name each file once, got '.*csv' twice"):
        release.user_counts("user", data=[path, again(path)])


# Columns of two files that DuckDB would cast to one type, which could merge users.
CASTS = {
    "integers and text": ([1, 2], ["1", "2"], "int64", "string"),
    "integers and floats": ([2**53 + 1], [2.0**53], "int64", "float64"),
    "integers and booleans": ([1], [True], "int64", "boolean"),
    "short and long integers": (pa.array([1], pa.int32()), [1], "int32", "int64"),
    "days and times": (
        pa.array([1], pa.date32()),
        pa.array([1], pa.timestamp("us")),
        "date",
        r"timestamp\(6\)",
    ),
    "times with and without a zone": (
        pa.array([1], pa.timestamp("us")),
        pa.array([1], pa.timestamp("us", "UTC")),
        r"timestamp\(6\)",
        r"timestamp\('UTC', 6\)",
    ),
    "decimals": (
        pa.array([1], pa.decimal128(9, 2)),
        pa.array([1], pa.decimal128(9, 3)),
        r"decimal\(9, 2\)",
        r"decimal\(9, 3\)",
    ),
}


@pytest.mark.parametrize(("first", "second", "kind", "other"), CASTS.values(), ids=CASTS)
def test_files_of_different_types_are_refused(tmp_path, first, second, kind, other):
    """This includes values, and files of an Arrow dataset, which casts them as well."""
    one, two = stored(tmp_path, first, "one.parquet"), stored(tmp_path, second, "two.parquet")
    words = (
        f"^`data` must have one type per column, got 'user' of type {kind} in '.*one.parquet' "
        f"and of type {other} in '.*two.parquet'"
    )
    with pytest.raises(TypeError, match=words):
        release.user_counts("user", data=[one, two])
    with pytest.raises(TypeError, match=r"'user' of type .* in the dataset and of type .*'.*two"):
        release.user_counts("user", data=ds.dataset([one, two]))
    with pytest.raises(TypeError, match="one type per column, got 'user' of type"):
        mean_of("value", "user", data=[one, two])


LACKING = {
    "another column": ("name,{other}", "a column of `data`"),
    "another case": ("{swapped},{other}", "a column of `data`"),
    "twice": ("{name},{name},{other}", "exactly one column of `data`"),
    "twice but for case": ("{name},{swapped},{other}", "exactly one column of `data`"),
}


def headed(path, header):
    """Store a row of ones below a header, which may have repeated names."""
    names = header.split(",")
    if path.suffix == ".csv":
        return write(path, "\n".join([header, ",".join("1" * len(names))]))
    columns = [pa.array([1.0 if name.lower() == "value" else 1]) for name in names]
    pq.write_table(pa.Table.from_arrays(columns, names), path)
    return path


@pytest.mark.parametrize("name", ["user", "USER", "value", "VALUE"])
@pytest.mark.parametrize(("header", "which"), LACKING.values(), ids=LACKING)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_that_lacks_a_column_or_repeats_it_is_refused(tmp_path, ending, header, which, name):
    """DuckDB would fill a missing column with nulls, and use the first of repeated ones."""
    columns = {"user": "user", "value": "value", name.lower(): name}
    (other,) = {*columns.values()} - {name}
    header = header.format(name=name, swapped=name.swapcase(), other=other)
    whole = headed(tmp_path / f"whole.{ending}", f"{name},{other}")
    broken = headed(tmp_path / f"broken.{ending}", header)
    words = f"^`{name.lower()}` must be the name of {which}, got "
    for data, where in ((broken, ""), ([whole, broken], f", for '.*broken.{ending}'")):
        with pytest.raises(ValueError, match=f"{words}{name.lower()}='{name}'{where}[.]$"):
            mean_of(**columns, data=data)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_that_duckdb_renames_is_not_mistaken_for_another(tmp_path, ending):
    """DuckDB renames the second of A and a to a_1, although the third column has this name."""
    path = headed(tmp_path / f"t.{ending}", "A,a,a_1,user,value")
    for name in ("user", "value"):
        columns = {"user": "user", "value": "value", name: "a_1"}
        with pytest.raises(ValueError, match=f"^`{name}` must be the name of a column of `data`"):
            mean_of(**columns, data=path)
    spaced = write(tmp_path / "spaced.csv", "\ufeffuser, value,,\na,1,,\na,2,,\n")
    assert of_table(spaced).n_records == 2


@pytest.mark.parametrize("digits", [39, 76], ids=["one more", "the most"])
@pytest.mark.parametrize("several", [False, True], ids=["one file", "several"])
def test_decimals_of_more_digits_than_duckdb_has_are_refused(tmp_path, digits, several):
    """DuckDB converts them to floats, incorrectly even for 1.5."""
    long, short = (
        pa.array([Decimal("1.5")], kind)
        for kind in (pa.decimal256(digits, 20), pa.decimal128(38, 20))
    )
    rule = "must hold decimals with at most 38 digits in a file, got"
    for rows, name in ((rows_of(long, [1.0]), "user"), (rows_of(["a"], long), "value")):
        data = parquet(rows, tmp_path)
        if several:
            data = [data, parquet(rows, tmp_path, "more.parquet")]
        words = f"^`{name}` {rule} {name}='{name}' with {digits} digits in '"
        with pytest.raises(ValueError, match=words):
            of_table(data)
        if name == "user":
            with pytest.raises(ValueError, match=words):
                release.user_counts("user", data=data)
    assert of_table(parquet(rows_of(short, short), tmp_path)).n_users == 1


def test_the_name_of_a_nested_field_is_not_a_column(tmp_path):
    """The schema of a Parquet file also contains nested fields."""
    nested = pa.array(
        [{"user": Decimal(1), "value": 2}],
        pa.struct({"user": pa.decimal256(50), "value": pa.int32()}),
    )
    rows = pa.table({"first": nested, "user": ["a"], "value": [1.0], "last": nested})
    assert of_table(parquet(rows, tmp_path)).n_users == 1
    rows = pa.table({"first": nested, "value": [1.0]})
    with pytest.raises(
        ValueError, match=r"^`user` must be the name of a column of `data`, got user='user'[.]$"
    ):
        of_table(parquet(rows, tmp_path))


NO_NUMBERS = {
    "an underscore": "1_0",
    "thousands": "1_000.5",
    "base sixteen": "0x10",
    "a comma": "1,5",
    "a space": "1 0",
    "a word": "one",
    "half a power": "1e",
    "nothing": "",
}


@pytest.mark.parametrize("text", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_values_in_a_csv_file_that_are_not_numbers_are_refused(tmp_path, text):
    words = "`value` must hold real numbers" if text else "`value` must not be missing"
    with pytest.raises(ValueError, match=words):
        of_table(write(tmp_path / "t.csv", f'user,value\na,"{text}"\n'))


def test_words_such_as_null_are_users_in_a_csv_file(tmp_path):
    """In a CSV file everything is text, and only empty entries are missing."""
    names = ["NA", "nan", "NaN", "None", "NULL", "null", "N/A", "<NA>"]
    text = "user,value\n" + "".join(f"{name},1\n" for name in names)
    assert release.user_counts("user", data=write(tmp_path / "t.csv", text)).tolist() == [1] * 8
    with pytest.raises(ValueError, match="`user` must not be missing"):
        release.user_counts("user", data=write(tmp_path / "t.csv", f"{text},1\n"))


# Ids are never converted to floats, and no two are merged.
@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("kind", TABLES)
def test_ids_near_2_to_the_63_are_told_apart(tmp_path, kind, null):
    ids = pa.array([*range(2**63 - 1000, 2**63), *[None] * null], pa.int64())
    data = TABLES[kind](rows_of(ids, np.ones(len(ids))), tmp_path)
    with read_tally("user", "value", data, Rules(read_grid(0, 1))) as tally:
        survey = tally.survey()
    assert (survey.sizes, survey.users, survey.without_user) == ((1,), (1000,), int(null))


APART = ["a|a\0|a\0\0", "\u00e9|e\u0301|e", "a|A|a ", "1|\uff11|01"]


@pytest.mark.parametrize("users", APART)
@pytest.mark.parametrize("kind", TABLES)
def test_text_is_compared_by_code_points(tmp_path, kind, users):
    data = TABLES[kind](rows_of(users.split("|"), [1.0, 2.0, 3.0]), tmp_path)
    assert release.user_counts("user", data=data).tolist() == [1, 1, 1]


# All queries see the same state of the table.


VIEWS = {
    "noisy": "SELECT user, 10 * random() AS value FROM t",
    "sampled": "SELECT * FROM t USING SAMPLE 50% (bernoulli)",
}


@pytest.fixture
def shop():
    connection = ibis.duckdb.connect()
    connection.raw_sql(
        "CREATE TABLE t AS SELECT i % 50 AS user, 5.0::DOUBLE AS value FROM range(1000) r(i)"
    )
    for name, query in VIEWS.items():
        connection.raw_sql(f"CREATE VIEW {name} AS {query}")
    return connection


CHANGES = [
    "INSERT INTO t VALUES (3, 5.0)",
    "DELETE FROM t WHERE user = 3",
    "UPDATE t SET user = 99 WHERE user = 3 AND rowid = 3",
    *(f"UPDATE t SET {what} WHERE rowid = 7" for what in ("value = 11", "value = NULL")),
    "UPDATE t SET user = NULL WHERE rowid = 7",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_table_that_changes_during_a_release_is_released_as_first_read(
    shop, monkeypatch, opendp, change
):
    """The change is in counts, or in numbers of missing values or of values outside the bounds."""
    before = of_table(shop.table("t"))
    real, queries = engines.run_query, []

    def change_and_run(query):
        shop.raw_sql(change)
        queries.append(query)
        return real(query)

    monkeypatch.setattr(engines, "run_query", change_and_run)
    assert of_table(shop.table("t")) == before
    assert len(queries) == 2
    assert len(set(opendp.requests)) == 1


def test_tables_that_differ_at_each_reading_are_read_once(shop, opendp):
    """So counts and sums are of the same rows, with the same values."""
    result = of_table(shop.table("noisy"), budget=5)
    (request,) = opendp.requests
    assert 0 <= result.mean <= 10
    assert abs(request.total) <= 50 * request.moved
    for sampled in (shop.table("sampled"), shop.con.sql("SELECT * FROM sampled")):
        result = of_table(sampled, budget=5)
        assert 300 < result.n_records < 700
        assert result.mean == pytest.approx(5)


# After failures, nothing is spent, and no table is left behind.
SPENT_NOTHING = "Nothing was released, and no budget was spent[.]"
MANY = "SELECT i::VARCHAR AS user, 1.0 AS value FROM range(4000000) r(i)"


def tables_of(connection):
    rows = connection.raw_sql("SELECT table_name FROM duckdb_tables()").fetchall()
    return [name for (name,) in rows if name != "t"]


def test_no_table_is_left_behind(shop, opendp):
    of_table(shop.table("t"))
    release.user_counts("user", data=shop.table("t"))
    with pytest.raises(ValueError, match="`value` must lie between the bounds"):
        of_table(shop.table("t"), upper=1)
    assert tables_of(shop) == []


def test_an_engine_that_fails_during_a_release_releases_nothing(shop, opendp):
    shop.raw_sql("CREATE VIEW odd AS SELECT user, error('secret 77.125')::DOUBLE AS value FROM t")
    with pytest.raises(ValueError, match=f"`data` must be readable.*{SPENT_NOTHING}") as refusal:
        of_table(shop.table("odd"))
    assert "77.125" not in str(refusal.value)
    assert (opendp.requests, tables_of(shop)) == ([], [])


@pytest.mark.parametrize("spills", [False, True], ids=["memory", "disk"])
def test_a_full_memory_or_disk_releases_nothing(tmp_path, opendp, spills):
    """Writing is not allowed, or impossible because the folder would be below a file."""
    file = tmp_path / "file"
    file.touch()
    below = str(file / "folder") if spills else ""
    connection = ibis.duckdb.connect(memory_limit="40MB", threads=1, temp_directory=below)
    connection.raw_sql(f"CREATE VIEW many AS {MANY}")
    with pytest.raises(ValueError, match=f"`data` must be readable.*{SPENT_NOTHING}"):
        of_table(connection.table("many"))
    assert (opendp.requests, tables_of(connection)) == ([], [])
    assert [*tmp_path.iterdir()] == [file]


def test_a_file_whose_users_do_not_fit_the_memory_is_refused(tmp_path, monkeypatch, opendp):
    """DuckDB must not write them to a disk, where others could find them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(_files.CONNECTION_OPTIONS, "memory_limit", "40MB")
    monkeypatch.setitem(_files.CONNECTION_OPTIONS, "threads", 1)
    duckdb.sql(f"COPY ({MANY}) TO 'many.parquet'")
    with pytest.raises(ValueError, match=f"`data` must be readable.*{SPENT_NOTHING}"):
        of_table("many.parquet")
    assert (opendp.requests, os.listdir(tmp_path)) == ([], ["many.parquet"])


@pytest.mark.slow
def test_the_callers_own_connection_may_write_to_a_disk(tmp_path):
    folder = tmp_path / "spilled"
    connection = ibis.duckdb.connect(memory_limit="150MB", threads=1, temp_directory=str(folder))
    connection.raw_sql(f"CREATE VIEW many AS {MANY}")
    assert of_table(connection.table("many")).n_users == 4_000_000
    assert folder.exists(), "all of it fitted the memory"
    connection.disconnect()
    assert not folder.exists() or os.listdir(folder) == []


@pytest.mark.parametrize("failing", [0, 1], ids=["counts", "total"])
def test_an_engine_that_fails_between_two_queries_releases_nothing(
    shop, monkeypatch, opendp, failing
):
    real, queries = engines.run_query, []

    def fail_or_run(query):
        if len(queries) == failing:
            shop.disconnect()
        queries.append(query)
        return real(query)

    monkeypatch.setattr(engines, "run_query", fail_or_run)
    with pytest.raises(ValueError, match=SPENT_NOTHING):
        of_table(shop.table("t"))
    assert opendp.requests == []


STOPPED = """
import os, signal, threading, ibis, opendp.prelude
from userdp import release
from userdp.release import _mean
_mean.draw = lambda *_: print("released")
shop = ibis.duckdb.connect(threads=1)
shop.raw_sql("CREATE VIEW slow AS SELECT i % 50 AS user, 5.0 AS value FROM range(20000000000) r(i)")
threading.Timer(1.5, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    release.private_mean("user", "value", data=shop.table("slow"), lower=0, upper=10, budget=1)
except KeyboardInterrupt as stop:
    print(stop, shop.raw_sql("SELECT count(*) FROM duckdb_tables()").fetchall())
"""


@pytest.mark.slow
def test_a_call_that_is_stopped_releases_nothing():
    """Stopped as by Ctrl-C, during the scan."""
    output = subprocess.check_output([sys.executable, "-c", STOPPED], text=True, timeout=120)
    assert output.strip() == "Nothing was released, and no budget was spent. [(0,)]"


@pytest.mark.parametrize(
    "stop",
    [KeyboardInterrupt("row 0.7"), RuntimeError("Query interrupted")],
    ids=["Python", "DuckDB"],
)
def test_a_stopped_call_says_that_nothing_was_released(stop):
    """The message is the same whether Python or DuckDB notices Ctrl-C first."""

    def scan():
        raise stop

    with pytest.raises(KeyboardInterrupt, match=f"^{SPENT_NOTHING}$"):
        quietly(scan, "a table")


# Bounds with 17 digits, bounds near which floats are coarse, and threads.


def test_literals_reach_duckdb_exactly():
    """DuckDB reads a bare 0.1234... as a decimal, which may become the next float."""
    numbers = np.random.default_rng(32).uniform(-100, 100, 400) * 10.0 ** np.arange(-20, 20, 0.1)
    columns = {f"x{i}": engines.exact(x) for i, x in enumerate(numbers)}
    (row,) = ibis.memtable(pa.table({"a": [1]})).select(**columns).to_pyarrow().to_pylist()
    assert list(row.values()) == numbers.tolist()


@pytest.mark.slow
def test_adversarial_bounds_give_the_same_bits_on_numpy_and_duckdb(opendp):
    rng = np.random.default_rng(33)
    for _ in range(20):
        lower = rng.uniform(-1, 1) * 10.0 ** rng.integers(-6, 7)
        upper = lower + rng.uniform(0.1, 1) * 10.0 ** rng.integers(-3, 7)
        values = np.r_[lower, upper, rng.uniform(lower, upper, 200)].clip(lower, upper)
        values[5:9] = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf), -np.inf, 1e300
        table = pa.table({"user": rng.integers(0, 20, 202), "value": values})
        bounds = {"lower": lower, "upper": upper, "budget": 2, "outside": "clamp"}
        a, b = (
            release.private_mean("user", "value", data=data, **bounds)
            for data in (table, ibis.memtable(table))
        )
        assert a == b
        assert len(set(opendp.requests[-2:])) == 1


@pytest.mark.filterwarnings("ignore:.*protects little")
@pytest.mark.parametrize("lower", [1e9, -(2.0**40), 1e6])
def test_the_mean_is_within_its_rounding_even_if_floats_are_coarse(lower, opendp):
    bounds = {"lower": lower, "upper": lower + 2}
    values = np.random.default_rng(34).uniform(lower, lower + 2, 500).clip(*bounds.values())
    result = mean_of(np.arange(500), values, **bounds, budget=100)
    exact = sum(map(Fraction, values.tolist())) / 500
    assert abs(Fraction(result.mean) - exact) <= result.rounding < 0.01


@pytest.mark.slow
def test_threads_share_a_connection_and_a_memtable(shop, monkeypatch):
    """Also if no table in memory was read before: Ibis then has no connection for it yet."""
    monkeypatch.setattr(ibis.options, "default_backend", None)
    table = ibis.memtable(pa.table({"user": np.arange(200) % 20, "value": np.ones(200)}))
    stored = shop.table("t")
    with ThreadPoolExecutor(8) as pool:
        counts = pool.map(lambda i: of_table((table, stored)[i % 2]).n_users, range(16), timeout=60)
        assert [*counts] == [20, 50] * 8


def test_threads_share_a_relation_of_duckdb():
    rows = duckdb.sql("SELECT i % 50 AS user, 5.0::DOUBLE AS value FROM range(1000) r(i)")
    with ThreadPoolExecutor(8) as pool:
        counts = pool.map(lambda _: of_table(rows).n_users, range(32), timeout=60)
        assert [*counts] == [50] * 32


# Nothing protected is printed or serialised.
def test_refusals_quote_no_sums():
    users, law = ud.Contributions([2, 1], 10), beyond.GaussianNoise(1)
    odd = [77.125, "secret", np.nan, np.inf, None]
    numbers = [*([x, 1.0] for x in odd), [1.0], np.array([[1.0, 2.0]] * 3)]
    vectors = [*([[x, 1.0], [0.5, 0.5]] for x in odd), [[0.5, 0.5]] * 3, [1.0, 1.0]]
    vectors += [np.zeros((3, 2, 2)), np.ma.masked_array(np.zeros((2, 2)), mask=True)]
    calls = [(release.release_mean, sums, 1) for sums in numbers]
    calls += [(release_mean_in_ball, sums, law) for sums in vectors]
    for mechanism, sums, budget in calls:
        with pytest.raises((ValueError, TypeError), match="`sums` must be one") as refusal:
            mechanism(sums, users, budget)
        for datum in ("77.125", "secret", "nan", "inf", "[1"):
            assert datum not in str(refusal.value)
        assert refusal.value.__context__ is None


def test_published_results_fit_the_schema():
    users, values = ["a", "a", "b"], [1.0, 2.0, 3.0]
    protected = release.private_mean_protected_counts(
        users, values, lower=0, upper=10, eps=1, cap=2
    )
    budgets = (1, 1e-6, beyond.GaussianNoise(2), beyond.GaussianNoise(1e-3))
    results = [protected, *(mean_of(users, values, budget=budget) for budget in budgets)]
    people, law = ud.Contributions([2, 1], upper=2), beyond.GaussianNoise(2)
    results += [release_mean_in_ball([[1, 1], [0, 1]], people, law)]
    uneven, sums = ud.Contributions([60, *[1] * 40], 1), [0.0] * 41
    results += [
        in_parts := release.release_mean(sums, uneven, eps, objective="l1") for eps in (3, law)
    ]
    assert len(in_parts.parts) == 2
    for rule in ("missing", "outside"):  # Dropping depends on values, also if no row is dropped.
        with pytest.warns(UserWarning, match="`eps` is not stated"):
            results.append(result := mean_of(users, values, **{rule: "drop"}))
        assert result.eps is result.public()["eps"] is None
        assert "not stated" in result.privacy_unit
        assert "eps not stated" in repr(result)
    jsonschema.Draft202012Validator.check_schema(json_schema())
    for result in results:
        published = json.loads(result.public_json())
        assert published == result.public()
        jsonschema.validate(published, json_schema())
        fields = {field.name for field in dataclasses.fields(result)}
        more = {"kind", "interval_95"} | ({"of"} if hasattr(result, "cap") else set())
        fields -= {name for name in ("parts", "of") if not getattr(result, name, ())}
        assert set(published) == fields | more
        assert "protected" not in " ".join(fields)
    for broken in (published | {"n_clamped": 3}, {k: published[k] for k in list(published)[1:]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, json_schema())
