"""Every column of every table has words; the archive of all data says what it holds."""

import csv
import hashlib
import io
import json
from types import SimpleNamespace
from zipfile import ZipFile

import archive
import dictionary
import pytest
from recorded import DATA, records

TABLES = sorted(path.stem for path in DATA.glob("*.csv"))
CONFIG = SimpleNamespace(html_title="A title", author="Somebody", html_baseurl="")
READ = {"integer": int, "number": float, "string": str}


@pytest.fixture
def columns_yml(monkeypatch):
    """Change what columns.yml says."""
    everywhere, tables = dictionary.words()
    tables = {name: {**about, "columns": dict(about["columns"])} for name, about in tables.items()}
    monkeypatch.setattr(dictionary, "words", lambda: (everywhere, tables))
    dictionary.columns.cache_clear()
    yield tables
    dictionary.columns.cache_clear()


@pytest.mark.parametrize("table", TABLES)
def test_every_column_has_words_and_numbers_have_a_unit(table):
    with (DATA / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    columns = dictionary.columns(table)
    assert [column.name for column in columns] == header
    for column, values in zip(columns, zip(*rows, strict=True), strict=True):
        assert len(column.says) > 5
        for value in filter(None, values):
            READ[column.type](value)  # raises ValueError if it is something else
        assert bool(column.unit) == (column.type != "string")
    assert len(dictionary.row(table)) > 5


def test_words_name_tables_and_columns_that_exist():
    everywhere, tables = dictionary.words()
    assert sorted(tables) == TABLES
    named = {column.name for table in TABLES for column in dictionary.columns(table)}
    assert {*everywhere} <= named


def test_a_column_without_words_and_words_without_a_column_end_the_build(columns_yml):
    said = columns_yml["figure-1"]["columns"]
    text = said.pop("akmv")
    with pytest.raises(ValueError, match="no words for the column 'akmv' of figure-1"):
        dictionary.columns("figure-1")
    said |= {"akmv": text, "akvm": text}
    with pytest.raises(ValueError, match=r"no column of figure-1: \['akvm'\]"):
        dictionary.columns("figure-1")
    del said["akvm"]
    said["akmv"] = "The same, and no unit"
    with pytest.raises(ValueError, match="a unit, and they only: 'akmv' of figure-1"):
        dictionary.columns("figure-1")


def packed(folder):
    folder.mkdir()
    archive.pack(SimpleNamespace(outdir=folder, config=CONFIG))
    return folder / archive.NAME


def test_the_archive_is_the_same_whenever_it_is_made(tmp_path):
    assert packed(tmp_path / "one").read_bytes() == packed(tmp_path / "two").read_bytes()


def test_the_archive_describes_each_of_its_files(tmp_path):
    with ZipFile(packed(tmp_path / "made")) as made:
        files = {name: made.read(name) for name in made.namelist()}
    package = json.loads(files.pop("datapackage.json"))
    assert b"A title" in files.pop("README.txt")
    described = {resource["path"]: resource for resource in package["resources"]}
    assert {*described} == {*files}
    assert len({resource["name"] for resource in described.values()}) == len(described)
    for path, resource in described.items():
        assert resource["bytes"] == len(files[path])
        assert resource["hash"] == f"sha256:{hashlib.sha256(files[path]).hexdigest()}"
    for table, record in records().items():
        resource = described[f"data/{table}.csv"]
        assert files[resource["path"]] == (DATA / f"{table}.csv").read_bytes()
        header = files[resource["path"]].decode().splitlines()[0]
        assert next(csv.reader([header])) == [x["name"] for x in resource["schema"]["fields"]]
        assert resource.get("seed") == record["seed"]
    rows = list(csv.DictReader(io.StringIO(files["dictionary.csv"].decode())))
    assert {*rows[0]} == {*archive.COLUMNS}
    told = {table: [row["column"] for row in rows if row["table"] == table] for table in TABLES}
    assert told == {table: [c.name for c in dictionary.columns(table)] for table in TABLES}


def test_the_archive_has_all_data_but_the_records_of_what_is_kept(tmp_path):
    with ZipFile(packed(tmp_path / "made")) as made:
        held = {name.removeprefix("data/") for name in made.namelist() if name.startswith("data/")}
    kept = {f"{table}.json" for table, record in records().items() if "command" in record}
    there = {path.relative_to(DATA).as_posix() for path in DATA.rglob("*") if path.is_file()}
    assert held == there - kept
    assert kept < there
