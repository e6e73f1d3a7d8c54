"""Every table has a record, and a record leads to what exists: cells, functions, tests, files."""

import ast
import hashlib
import importlib
import json
from types import SimpleNamespace

import nbformat
import pytest
import recorded
from contents import BOOK, page
from jupyter_cache import get_cache

ROOT, DATA = BOOK.parent, BOOK / "data"
RECORDS = recorded.records(SimpleNamespace(execution_mode="off"))
KEPT = {table: record for table, record in RECORDS.items() if "command" in record}
WRITTEN = {table: record for table, record in RECORDS.items() if "cell" in record}

every_written = pytest.mark.parametrize("table", WRITTEN)


def cell(record):
    (found,) = [c for c in page(record["page"]).cells if c.id == record["cell"]]
    return found


def test_every_table_has_a_record():
    assert set(RECORDS) == {path.stem for path in DATA.glob("*.csv")}
    assert {**KEPT, **WRITTEN} == RECORDS
    assert all(record["pages"] for record in RECORDS.values())


def test_every_figure_has_a_table():
    drawn = {recorded.figure(c) for p in BOOK.glob("*.ipynb") for c in page(p.stem).cells} - {None}
    assert {name for record in RECORDS.values() for name in record["figures"]} == drawn


def test_no_page_writes_a_table_in_another_way():
    writing = {p.stem for p in BOOK.glob("*.ipynb") if ".to_csv(" in p.read_text("utf-8")}
    assert writing == {"lower-bound"}  # the certificates, once


@every_written
def test_a_record_names_the_cell_and_what_it_called(table):
    record = WRITTEN[table]
    assert f'"{table}"' in cell(record).source
    code = "\n".join(c.source for c in page(record["page"]).cells if c.cell_type == "code")
    for name in recorded.makers(record):
        module, _, last = name.rpartition(".")
        if module:
            assert hasattr(importlib.import_module(module), last)
        assert f"def {last}(" in code or f".{last}" in code or f"import {last}" in code


@every_written
def test_a_page_has_one_seed(table):
    record = WRITTEN[table]
    code = "\n".join(c.source for c in page(record["page"]).cells if c.cell_type == "code")
    assert record["seed"] is None or str(record["seed"]) in code.replace("_", "")


def test_the_record_of_figure_2():
    record = RECORDS["figure-2"]
    assert (record["page"], record["seed"], record["trials"]) == ("figure-2", 20250207, [10_000])
    assert record["figures"] == ["fig-2", "fig-2-spread"]
    assert record["made_by"]["AKMV"] == ["userdp.akmv", "userdp.akmv_mean_error"]
    assert record["made_by"]["worst case"] == ["userdp.optimal_error"]
    assert "test_data.py::test_figures_2_and_3" in record["tests"]
    assert "fig-2" in record["claims"]
    assert {"python", "numpy", "scipy", "userdp"} <= record["versions"].keys()
    assert "{py:func}`~userdp.akmv`" in recorded.entry("figure-2", record)


def test_the_tests_of_the_claims_exist():
    for file, name in {tuple(t.split("::")) for r in RECORDS.values() for t in r["tests"]}:
        tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
        assert name in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}


@pytest.mark.parametrize("table", KEPT)
def test_what_is_kept_is_what_the_script_wrote(table):
    stored = json.loads((DATA / f"{table}.json").read_text())
    assert stored["sha256"] == hashlib.sha256((DATA / f"{table}.csv").read_bytes()).hexdigest()
    assert f"{table}.csv" in (ROOT / stored["script"]).read_text("utf-8")


def test_outputs_are_those_of_the_cache_if_pages_were_executed_into_one(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("f()")])
    path, cache = tmp_path / "page.ipynb", get_cache(tmp_path / "cache")
    nbformat.write(notebook, path)
    said = {f"{recorded.PREFIX}text/plain": '{"table": "t"}'}
    told = {"scrapbook": {"name": "table t"}}
    output = nbformat.v4.new_output("display_data", said, metadata=told)
    notebook.cells[0].outputs, notebook.cells[0].execution_count = [output], 1
    nbformat.write(notebook, tmp_path / "executed.ipynb")
    cache.cache_notebook_file(tmp_path / "executed.ipynb", uri=str(path))
    config = SimpleNamespace(execution_mode="cache", execution_cache_path=str(tmp_path / "cache"))
    (found,) = recorded.told(recorded.executed(path, config))
    assert found["table"] == "t"


def test_the_parts_of_the_page_hold_every_record():
    text = (BOOK / "record.md").read_text("utf-8")
    captions = [line.split(" ", 1)[1] for line in text.splitlines() if "{records}" in line]
    inside = {name for caption in captions for name in recorded.part(caption)}
    assert {r.get("page", r["pages"][0]) for r in RECORDS.values()} <= inside
