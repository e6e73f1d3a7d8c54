"""The script that runs everything on several Pythons: what it asks for, and when it is content."""

import re
import tomllib
from itertools import islice
from pathlib import Path

import matrix
import pytest

ROOT = Path(__file__).resolve().parent.parent

METADATA = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CASES = """<testsuites><testsuite>
<testcase classname="book.a.ipynb" name="Cell 0" />
<testcase classname="book.a.ipynb" name="Cell 1"><failure message="differs" /></testcase>
<testcase classname="book.b.ipynb" name="Cell 0"><skipped /></testcase>
<testcase classname="" name="tests.broken"><error message="cannot be imported" /></testcase>
<testcase classname="c" name="d"><system-out>words</system-out></testcase>
</testsuite></testsuites>"""


def interpreter(folder, name, lines):
    path = folder / name
    path.write_text("\n".join(["#!/bin/sh", *lines]))
    path.chmod(0o755)
    return str(path)


def python(folder, name, version, new_enough="true"):
    answer = f'["/real/{name}", "{version}", {new_enough}]'
    return interpreter(folder, name, [f"echo '{answer}'"])


def test_every_package_of_the_metadata_has_a_lower_bound():
    found = matrix.bounds(matrix.chosen(METADATA))
    assert {"numpy", "scipy", "matplotlib", "seaborn", "ibis-framework", "duckdb"} <= set(found)
    assert "pyspark" not in found
    assert all(re.fullmatch(r"\d+\.\d+(\.\d+)?", bound) for bound in found.values())


@pytest.mark.parametrize("requirement", ["numpy", "numpy==2.0", "numpy<3", "numpy>2.0"])
def test_a_bound_it_cannot_read_is_refused(requirement):
    with pytest.raises(ValueError, match=re.escape(repr(requirement))):
        matrix.bounds([requirement])


def test_the_oldest_is_the_bound_itself_or_the_next_with_a_wheel():
    assert list(islice(matrix.candidates("numpy", "2.0"), 4)) == [
        "numpy==2.0",
        "numpy>=2.0,==2.0.*",
        "numpy==2.1.0",
        "numpy==2.1.*",
    ]
    assert list(islice(matrix.candidates("x", "0.13.2"), 3)) == [
        "x==0.13.2",
        "x>=0.13.2,==0.13.*",
        "x==0.14.0",
    ]


def test_pins_leave_out_what_the_matrix_chooses():
    text = "# why\nnumpy==2.4; python_version < '3.12'\nmypy==2\nnumpydoc==1.1  # why\n\n-e .\n"
    assert matrix.pins(text, {"numpy"}) == ["numpydoc==1.1"]
    lines = matrix.pins(
        (ROOT / "requirements.txt").read_text(), set(matrix.bounds(matrix.chosen(METADATA)))
    )
    assert {"pytest", "nbval", "pandas"} <= {matrix.name_of(line) for line in lines}
    assert {matrix.name_of(line) for line in lines} >= matrix.BUILT_ON_NUMPY


def test_a_relaxed_pin_is_named():
    pinned = ["pandas==3.1; python_version < '3.12'", "pytest==9.2"]
    assert matrix.relaxed(pinned, {"pandas": "3.1", "pytest": "9.2"}) == []
    assert matrix.relaxed(pinned, {"pandas": "3.0", "pytest": "9.2"}) == [
        "pandas 3.0 instead of 3.1"
    ]


def test_what_failed_or_could_not_be_imported_is_failed():
    assert matrix.outcomes(CASES) == [
        ("book.a.ipynb", "passed"),
        ("book.a.ipynb", "failed"),
        ("book.b.ipynb", "skipped"),
        ("tests.broken", "failed"),
        ("c", "passed"),
    ]


def test_absent_broken_and_old_interpreters_are_lacking(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(matrix, "WANTED", ["3.91", "3.92", "3.93"])
    python(tmp_path, "python3.91", "3.91")
    interpreter(tmp_path, "python3.92", ["echo 'no such version' >&2", "exit 127"])
    found, lacking = matrix.interpreters(python(tmp_path, "mine", "3.94"))
    assert found == {"3.94": "/real/mine", "3.91": "/real/python3.91"}
    assert lacking["3.92"].endswith("python3.92 does not run: no such version")
    assert lacking["3.93"] == "python3.93 is not on PATH"

    old = python(tmp_path, "old", "3.9", new_enough="false")
    assert "older than 3.11" in matrix.interpreters(old)[1]["PYTHON"]


def test_the_interpreter_given_is_preferred_to_the_one_on_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(matrix, "WANTED", ["3.91"])
    python(tmp_path, "python3.91", "3.91")
    assert matrix.interpreters(python(tmp_path, "mine", "3.91")) == ({"3.91": "/real/mine"}, {})


def test_the_table_lines_up_and_ends_with_what_was_not_run():
    full = ["3.11", "oldest", "2.0.0", "1.15.0", "9 passed", "3 agree", "same"]
    lines = matrix.table([matrix.COLUMNS, full, ["3.12", "NOT RUN", "absent"]]).splitlines()
    assert lines[0].index("numpy") == lines[1].index("2.0.0") == lines[2].index("absent")


def test_a_run_without_tests_or_red_without_a_red_test_is_not_green(tmp_path, monkeypatch):
    passed = "<testsuites><testsuite><testcase classname='a' name='b' /></testsuite></testsuites>"
    for fine, xml, expected in [
        (True, passed, [("a", "passed")]),
        (False, passed, None),
        (True, "<testsuites />", None),
        (True, CASES, None),
        (False, CASES, matrix.outcomes(CASES)),
        (False, None, None),
    ]:
        (tmp_path / "tests.xml").unlink(missing_ok=True)
        if xml is not None:
            (tmp_path / "tests.xml").write_text(xml)
        monkeypatch.setattr(matrix, "run", lambda *_, fine=fine, **__: fine)
        assert matrix.check(tmp_path, "tests", []) == expected
