"""Every table has its record, and each record is right: hashes, cells, seeds, names, versions."""

import ast
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pandas as pd
import provenance
import pytest
import yaml
from packaging.requirements import Requirement

import userdp as ud
from userdp import audit

ROOT = Path(__file__).resolve().parent.parent
BOOK, DATA = ROOT / "book", ROOT / "book" / "data"
RECORDS = {path.stem: json.loads(path.read_text()) for path in sorted(DATA.glob("*.json"))}
COMPUTED = {name: record for name, record in RECORDS.items() if "cell" in record}
MEASURED = {name: record for name, record in RECORDS.items() if "command" in record}
STALE = "out of date: run `make refresh`, and commit what it writes"

every_record = pytest.mark.parametrize("name", RECORDS)
every_computed = pytest.mark.parametrize("name", COMPUTED)


def cells(page):
    path = BOOK / f"{page}.ipynb"
    return nbformat.read(path, as_version=4).cells if path.exists() else []


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def test_every_table_has_a_record_and_every_record_a_table():
    assert set(RECORDS) == {path.stem for path in DATA.glob("*.csv")}
    assert set(COMPUTED) | set(MEASURED) == set(RECORDS)
    assert len(COMPUTED) > 40


@every_record
def test_record_is_what_would_be_written_now(name):
    """But for the versions, which are those of the environment that wrote it."""
    now, stored = provenance.record(name), RECORDS[name]
    assert now.keys() == stored.keys()
    differing = [key for key in now if now[key] != stored[key]]
    assert set(differing) <= {"python", "packages"}, f"{name}.json is {STALE}"


@every_record
def test_hash_is_that_of_the_table(name):
    content = (DATA / f"{name}.csv").read_bytes()
    assert RECORDS[name]["sha256"] == hashlib.sha256(content).hexdigest(), f"{name}.json is {STALE}"
    assert RECORDS[name]["rows"] == len(pd.read_csv(DATA / f"{name}.csv"))


@every_computed
def test_hashes_are_those_of_the_source(name):
    """A change of userdp changes numbers, until a refresh shows that it does not."""
    record = COMPUTED[name]
    assert record["userdp"] == {"version": ud.__version__, "sha256": provenance.source_hash()}, (
        f"userdp has changed since book/data/{name}.csv was made. The book is {STALE}"
    )
    code = [cell for cell in cells(record["page"]) if cell.cell_type == "code"]
    (place,) = [place for place, cell in enumerate(code) if cell.id == record["cell"]]
    assert record["cell_sha256"] == digest(code[place].source)
    assert record["code_sha256"] == digest("\n\n".join(c.source for c in code[: place + 1]))


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="sha256sum is not installed")
def test_the_hash_of_the_source_is_what_the_page_says():
    lines = [line for cell in cells("record") for line in cell.source.splitlines()]
    (command,) = [line for line in lines if line.startswith("sha256sum userdp")]
    said = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.split()[0] == provenance.source_hash()


@every_computed
def test_cell_writes_the_table(name):
    record = COMPUTED[name]
    (cell,) = [cell for cell in cells(record["page"]) if cell.id == record["cell"]]
    assert f"data/{name}.csv" in cell.source
    assert "to_csv(" in cell.source
    assert cells(record["page"])[0].source.startswith(f"# {record['title']}\n")
    assert record["kept"] == (name == "lower-bound-certificates")
    code = [cell.id for cell in cells(record["page"]) if cell.cell_type == "code"]
    assert [cell for cell in code if cell in record["cells"]] == record["cells"]
    assert record["cells"][-1] == record["cell"]


@pytest.mark.parametrize("name", MEASURED)
def test_command_and_script_exist(name):
    record = MEASURED[name]
    assert f"{name}.csv" in (ROOT / record["script"]).read_text()
    target = record["command"].removeprefix("make ")
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@every_record
def test_seeds_and_trials_are_those_of_the_table(name):
    data, record = pd.read_csv(DATA / f"{name}.csv"), RECORDS[name]
    if "seed" in data:
        assert record["seeds"] == sorted(data.seed.unique())
    if "trials" in data:
        assert record["trials"] == sorted({int(n) for n in data.trials.dropna()} - {0})
        assert record["seeds"]
    else:
        assert record["trials"] == []
    assert all(len(str(seed)) == 8 for seed in record["seeds"])


def test_a_page_draws_from_one_seed():
    for page in {record["page"] for record in COMPUTED.values()}:
        assert len({s for r in COMPUTED.values() if r["page"] == page for s in r["seeds"]}) <= 1


def test_every_figure_has_a_table_and_no_other_is_named():
    drawn = {
        name
        for path in BOOK.glob("*.ipynb")
        for cell in cells(path.stem)
        if (name := cell.metadata.get("mystnb", {}).get("figure", {}).get("name"))
    }
    assert {figure for record in RECORDS.values() for figure in record["figures"]} == drawn
    assert RECORDS["figure-2"]["figures"] == ["fig-2", "fig-2-spread"]
    assert RECORDS["lower-bound-tight"]["figures"] == []


@every_record
def test_pages_and_claims_exist(name):
    record = RECORDS[name]
    for page in record["pages"]:
        assert (BOOK / f"{page}.ipynb").exists() or (BOOK / f"{page}.md").exists()
    assert record["pages"]
    assert record.get("page", record["pages"][0]) in record["pages"]
    assert all((DATA / other).exists() for other in record.get("inputs", []))
    parts = yaml.safe_load((BOOK / "claims.yml").read_text())
    assert {*record["claims"]} <= {row["id"] for part in parts for row in part["rows"]}


@every_computed
def test_functions_exist(name):
    for function in COMPUTED[name]["functions"]:
        module, _, last = function.rpartition(".")
        if module == "userdp":
            assert last in ud.__all__
        elif module == "userdp.audit":
            assert last in audit.__all__
        else:
            tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
            assert last in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@every_record
def test_tests_exist_and_there_is_one(name):
    for test in RECORDS[name]["tests"]:
        file, function = test.split("::")
        tree = ast.parse((ROOT / file).read_text())
        assert function in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    assert RECORDS[name]["tests"] or name.endswith("-machine")


@every_computed
def test_versions_are_those_that_are_pinned(name):
    record = COMPUTED[name]
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if re.match(r"\w", line)]
    here = {"python_version": record["python"], "python_full_version": record["python"] + ".0"}
    pinned = {
        re.sub("[-_.]+", "-", pin.name).lower(): pin.specifier
        for pin in pins
        if not pin.marker or pin.marker.evaluate(here)
    }
    assert {"numpy", "scipy", "pandas"} <= record["packages"].keys()
    assert ("matplotlib" in record["packages"]) >= bool(record["figures"])
    for package, version in record["packages"].items():
        assert version in pinned[package], f"{name}.json is {STALE}"


def test_one_environment_made_all_tables():
    assert len({record["python"] for record in COMPUTED.values()}) == 1


def test_what_is_known_of_figure_2():
    """A record that was checked by eye."""
    record = RECORDS["figure-2"]
    assert (record["page"], record["seeds"], record["trials"]) == ("figure-2", [20250207], [10_000])
    assert record["tests"] == ["tests/test_data.py::test_figures_2_and_3"]
    assert record["cells"] == ["cell-04", "cell-07", "cell-12", "cell-14"]
    assert "fig-2" in record["claims"]
    mechanisms = ["laplace", "akmv", "opt_worst_case"]
    sweeps = [
        "error_sweep",
        "mean_error_sweep",
        *mechanisms,
        *(f"{m}_mean_error" for m in mechanisms),
    ]
    others = ["geometric_collection", "uniform_sums", "optimal_error"]
    assert record["functions"] == sorted(f"userdp.{name}" for name in sweeps + others)


def test_what_cells_use_counts_and_what_they_only_name_does_not():
    code = """import userdp as ud
from userdp import audit, rank as r, plotting
x = {"ud.plan": ud.laplace}  # ud.akmv
print(audit.Noisy, r(1), np.a, ud, plotting.errors)"""
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    found = provenance.functions(provenance.dataflow.steps(page))
    assert found == {"userdp.laplace", "userdp.audit.Noisy", "userdp.rank"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def test_a(): read_csv(DATA / 'a.csv')", {"a.csv"}),
        ("def test_a(): assert 'a.csv' in text", set()),
        ("def test_a(): [read_csv(f'a-{b}.csv') for b in ('c', 'd')]", {"a-c.csv", "a-d.csv"}),
        ("@mark('b', [1, 2])\ndef test_a(b): read_csv(f'a-{b}.csv')", {"a-1.csv", "a-2.csv"}),
        # Only what the helper is given; "x" is the name of a column.
        ("def h(b): read_csv(f'a-{b}.csv')\ndef test_a(): use(h('c'), 'x')", {"a-c.csv"}),
    ],
)
def test_which_tables_a_test_reads(code, expected):
    assert provenance.names_of_tables(ast.parse(code).body) - {".csv"} == expected


def test_a_page_tells_the_exact_from_the_random():
    """The same page computes the teeth of Figure 1 exactly and simulates some."""
    assert RECORDS["figure-1-teeth"]["seeds"] == []
    assert RECORDS["figure-1-teeth-simulated"]["seeds"] == [20250207]


def test_the_build_record_shows_every_record():
    outputs = [o for cell in cells("record") for o in cell.get("outputs", [])]
    shown = "\n".join(output.get("data", {}).get("text/markdown", "") for output in outputs)
    entries = re.findall(r"^\(record-([\w-]+)\)=$", shown, re.MULTILINE)
    assert sorted(entries) == sorted(RECORDS)
    assert all(record["sha256"][:16] in shown for record in RECORDS.values())


def test_how_long_each_chapter_took_is_stored():
    seconds = pd.read_csv(BOOK / "seconds.csv", index_col="chapter").seconds
    chapters = {path.stem for path in BOOK.glob("*.ipynb")} - {"record"}
    assert set(seconds.index) == chapters
    assert (seconds > 0).all()
