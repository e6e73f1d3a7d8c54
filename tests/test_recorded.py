"""Every table has a record, and a record leads to what exists: cells, functions, figures, files."""

import hashlib
import importlib
import json
from types import SimpleNamespace

import pytest
import recorded
from contents import BOOK, page

DATA = BOOK / "data"
RECORDS = recorded.records(SimpleNamespace(execution_mode="off"))
KEPT = [table for table, record in RECORDS.items() if "command" in record]
WRITTEN = [table for table, record in RECORDS.items() if "cell" in record]


def test_every_table_has_a_record_and_every_figure_a_table():
    assert set(RECORDS) == {path.stem for path in DATA.glob("*.csv")}
    assert sorted(KEPT + WRITTEN) == sorted(RECORDS)
    assert all(record["pages"] for record in RECORDS.values())
    drawn = {recorded.figure(c) for p in BOOK.glob("*.ipynb") for c in page(p.stem).cells} - {None}
    assert {name for record in RECORDS.values() for name in record["figures"]} == drawn


def test_no_page_writes_a_table_in_another_way():
    writing = {p.stem for p in BOOK.glob("*.ipynb") if ".to_csv(" in p.read_text("utf-8")}
    assert writing == set()


@pytest.mark.parametrize("table", WRITTEN)
def test_a_record_names_the_cell_what_it_called_and_the_pages_seed(table):
    record = RECORDS[table]
    cells = page(record["page"]).cells
    (cell,) = [cell for cell in cells if cell.id == record["cell"]]
    assert f'"{table}"' in cell.source
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert record["seed"] is None or str(record["seed"]) in code.replace("_", "")
    for name in recorded.makers(record):
        module, _, last = name.rpartition(".")
        assert not module or hasattr(importlib.import_module(module), last)
        assert f"def {last}(" in code or f".{last}" in code or f"import {last}" in code


def test_the_record_of_figure_2():
    record = RECORDS["figure-2"]
    assert (record["page"], record["seed"], record["trials"]) == ("figure-2", 20250207, [10_000])
    assert record["figures"] == ["fig-2", "fig-2-spread"]
    assert record["made_by"]["worst case"] == ["userdp.optimal_error"]
    assert "test_data.py::test_figures_2_and_3" in record["tests"]
    assert {"python", "numpy", "scipy", "userdp"} <= record["versions"].keys()
    entry = recorded.entry("figure-2", record)
    for words in ("{py:func}`~userdp.akmv`", "{numref}`fig-2`", "seed 20250207", "10,000"):
        assert words in entry


@pytest.mark.parametrize("table", KEPT)
def test_what_is_kept_is_what_the_script_wrote(table):
    stored = json.loads((DATA / f"{table}.json").read_text())
    assert stored["sha256"] == hashlib.sha256((DATA / f"{table}.csv").read_bytes()).hexdigest()
    assert f"{table}.csv" in (BOOK.parent / stored["script"]).read_text("utf-8")
