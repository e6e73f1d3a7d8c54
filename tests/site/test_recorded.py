"""Every table has a valid record, and its columns are described."""

import csv
import hashlib
import json
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
import yaml

import userdp
from tools.ext import recorded
from tools.ext.contents import ROOT, page, pages

RECORDS = recorded.records()
MADE_BY_SCRIPTS = [table for table, record in RECORDS.items() if "command" in record]
MADE_BY_CELLS = [table for table, record in RECORDS.items() if "cell" in record]


def test_every_table_has_a_record_and_every_figure_a_table():
    assert set(RECORDS) == {path.stem for path in recorded.DATA.glob("*.csv")}
    assert sorted(MADE_BY_SCRIPTS + MADE_BY_CELLS) == sorted(RECORDS)
    cells = [cell for name in pages() for cell in page(name).cells]
    figures = {cell.metadata.get("mystnb", {}).get("figure", {}).get("name") for cell in cells}
    assert {figure for record in RECORDS.values() for _, figure in record["shown"]} == figures


@pytest.mark.parametrize("table", MADE_BY_CELLS)
def test_a_recorded_seed_is_that_of_the_page(table):
    record = RECORDS[table]
    cells = page(record["page"]).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert record["seed"] is None or str(record["seed"]) in code.replace("_", "")


@pytest.mark.parametrize("table", MADE_BY_SCRIPTS)
def test_a_stored_table_is_the_one_that_the_script_wrote(table):
    content = (recorded.DATA / f"{table}.csv").read_bytes()
    assert RECORDS[table]["sha256"] == hashlib.sha256(content).hexdigest()
    assert f"{table}.csv" in (ROOT / RECORDS[table]["script"]).read_text("utf-8")


# --- The Data Package -----------------------------------------------------------------------------

FILES = sorted(
    path.relative_to(recorded.DATA).as_posix()
    for path in recorded.DATA.rglob("*")
    if path.is_file() and path != recorded.PACKAGE
)
TABLES = [file for file in FILES if file.endswith(".csv")]
TYPES = {"integer": int, "number": float, "string": str}


def test_the_data_package_describes_each_file_of_data_once():
    package = json.loads(recorded.PACKAGE.read_text("utf-8"))
    assert sorted(resource["path"] for resource in package["resources"]) == FILES
    names = [resource["name"] for resource in package["resources"]]
    assert len(names) == len({*names})
    assert all(len(resource["description"]) > 10 for resource in package["resources"])


def test_the_data_package_has_the_title_version_author_and_licence_of_the_book():
    package = json.loads(recorded.PACKAGE.read_text("utf-8"))
    book = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    assert (package["title"], package["version"]) == (book["title"], userdp.__version__)
    assert [who["title"] for who in package["contributors"]] == [book["author"]]
    assert [licence["name"] for licence in package["licenses"]] == ["CC-BY-4.0"]


def mismatch_with_description(file, fields):
    """Return how the columns of a table and their descriptions disagree, or None."""
    with (recorded.DATA / file).open(encoding="utf-8", newline="") as table:
        header, *rows = csv.reader(table)
    if header != (described := [field["name"] for field in fields]):
        return f"{file} has the columns {header}, datapackage.json describes {described}"
    for field, values in zip(fields, zip(*rows, strict=True), strict=True):
        where = f"column {field['name']!r} of {file}"
        if len(field["description"]) <= 5:
            return f"{where} has no description"
        if ("unit" in field) == (field["type"] == "string"):
            return f"{where}: only numbers have a unit"
        kinds = [
            kind for kind, read in TYPES.items() if all(can_read(read, v) for v in values if v)
        ]
        if field["type"] != kinds[0]:
            return f"{where} is of type {kinds[0]}, not {field['type']}"
    return None


def can_read(read, value):
    try:
        read(value)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("file", TABLES)
def test_every_column_is_described_with_its_type_and_unit(file):
    assert mismatch_with_description(file, recorded.fields(file.removesuffix(".csv"))) is None


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": "epsilon"}, "has the columns"),
        ({"description": ""}, "has no description"),
        ({"type": "integer"}, "is of type number, not integer"),
        ({"type": "string", "unit": None}, "is of type number, not string"),
        ({"unit": None}, "only numbers have a unit"),
    ],
    ids=["name", "description", "integer", "text", "unit"],
)
def test_a_wrong_description_is_found(change, fault):
    first, *others = recorded.fields("figure-2")
    (eps,) = (field for field in [first, *others] if field["name"] == "eps")
    changed = {name: value for name, value in (eps | change).items() if value is not None}
    fields = [changed if field is eps else field for field in [first, *others]]
    assert fault in mismatch_with_description("figure-2.csv", fields)


def test_the_archive_holds_the_data_folder_and_is_reproducible(tmp_path):
    archives = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        recorded.pack(SimpleNamespace(outdir=folder))
        archives.append(folder / recorded.ARCHIVE)
    first, second = archives
    assert first.read_bytes() == second.read_bytes()
    with ZipFile(first) as archive:
        assert sorted(archive.namelist()) == sorted([*FILES, recorded.PACKAGE.name])
        content = archive.read("figure-1.csv")
    assert content == (recorded.DATA / "figure-1.csv").read_bytes()
