"""What `make verify` compares: made-up pages and tables with one thing changed, and its name."""

import base64
import io
import json

import nbformat
import numpy as np
import pytest
import verify
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

TABLE = "eps,error,name\n0.1,1.5,a\n1,-2,b\n"


def picture(pixels):
    file = io.BytesIO()
    Image.fromarray(np.array(pixels, dtype=np.uint8)).save(file, "png")
    return base64.b64encode(file.getvalue()).decode()


WHITE = np.full((4, 5, 3), 255)
OUTPUTS = [
    new_output("stream", name="stdout", text="error 1.25 km/h\n1,000 trials\n"),
    new_output("execute_result", {"text/plain": "  x   y\n0 1.5  2", "text/html": "<b>1.5</b>"}),
    new_output("display_data", {"image/png": picture(WHITE), "text/plain": "<Figure>"}),
]


def notebook(outputs=OUTPUTS, source="f()"):
    cells = [new_markdown_cell("Words."), new_code_cell(source, outputs=outputs)]
    for number, cell in enumerate(cells, start=1):
        cell.id = f"cell-{number:02d}"
    return nbformat.from_dict(new_notebook(cells=cells))


def pages(new):
    found = verify.Comparison()
    verify.compare_notebooks(found, notebook(), new)
    return found


def tables(new, stored=TABLE):
    found = verify.Comparison()
    verify.compare_tables(found, "t.csv", stored, new)
    return found


def said(found):
    return [tuple(difference) for difference in found.differences]


def replaced(place, output):
    return notebook([*OUTPUTS[:place], output, *OUTPUTS[place + 1 :]])


def test_equal_pages_and_tables_are_counted():
    found = pages(notebook())
    assert str(found) == "0 tables, 6 numbers, 1 pictures: equal"
    assert str(tables(TABLE)) == "1 tables, 4 numbers, 0 pictures: equal"


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (TABLE.replace("1.5", "1.6"), ("t.csv, row 1, error", "1.5", "1.6")),
        (TABLE.replace("-2", "2"), ("t.csv, row 2, error", "-2", "2")),
        (TABLE.replace("-2", "nan"), ("t.csv, row 2, error", "-2", "nan")),
        (TABLE.replace("-2", ""), ("t.csv, row 2, error", "-2", "")),
        (TABLE.replace("1.5", "1.50"), ("t.csv, row 1, error", "1.5", "1.50")),
        (TABLE.replace("b", "c"), ("t.csv, row 2, name", "b", "c")),
        (TABLE.replace("name", "nom"), ("t.csv, columns", "eps,error,name", "eps,error,nom")),
        (TABLE + "2,3,c\n", ("t.csv, row 3", verify.MISSING, "2,3,c")),
        (TABLE.replace("1,-2,b\n", ""), ("t.csv, row 2", "1,-2,b", verify.MISSING)),
        (TABLE.replace("1,-2,b", "1,-2"), ("t.csv, row 2", "1,-2,b", "1,-2")),
        (TABLE.replace("\n", "\r\n"), ("t.csv, bytes", TABLE, TABLE.replace("\n", "\r\n"))),
        ("", ("t.csv, columns", "eps,error,name", "")),
    ],
)
def test_a_change_of_a_table_is_found(new, expected):
    assert said(tables(new))[0] == expected
    if "row" in expected[0]:
        assert len(said(tables(new))) == 1


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("error 1.26 km/h\n1,000 trials\n", ("line 1, number 1", "1.25", "1.26")),
        ("error -1.25 km/h\n1,000 trials\n", ("line 1, number 1", "1.25", "-1.25")),
        ("error   10.25 km/h\n1,000 trials\n", ("line 1, number 1", "1.25", "10.25")),
        ("error nan km/h\n1,000 trials\n", ("line 1, number 1", "1.25", "nan")),
        ("error 1.25 km/h\n1,001 trials\n", ("line 2, number 1", "1,000", "1,001")),
        ("error 1.25 mph\n1,000 trials\n", ("line 1", "error 1.25 km/h", "error 1.25 mph")),
        ("error  1.25 km/h\n1,000 trials\n", ("line 1", "error 1.25 km/h", "error  1.25 km/h")),
        ("error 1.26 mph\n1,000 trials\n", ("line 1", "error 1.25 km/h", "error 1.26 mph")),
        ("error 1.26 7 km/h\n1,000 trials\n", ("line 1", "error 1.25 km/h", "error 1.26 7 km/h")),
        ("error 1.25 km/h\n", ("line 2", "1,000 trials", "")),
        ("error 1.25 km/h\n1,000 trials", ("line 3", "", verify.MISSING)),
    ],
)
def test_a_change_of_a_printed_text_is_found(new, expected):
    found = pages(replaced(0, new_output("stream", name="stdout", text=new)))
    where, *rest = expected
    assert said(found)[0] == (f"cell-02, output 1, stdout, {where}", *rest)


def test_a_change_of_a_shown_table_is_found_in_both_its_forms():
    data = {"text/plain": "  x   y\n0 1.5  3", "text/html": "<b>1.7</b>"}
    found = pages(replaced(1, new_output("execute_result", data)))
    assert said(found) == [
        ("cell-02, output 2, text/html, line 1, number 1", "1.5", "1.7"),
        ("cell-02, output 2, text/plain, line 2, number 3", "2", "3"),
    ]
    del data["text/html"]
    missing = pages(replaced(1, new_output("execute_result", data)))
    assert said(missing)[0] == ("cell-02, output 2, text/html", "there", verify.MISSING)


def test_a_change_of_a_picture_is_measured():
    other = WHITE.copy()
    other[0, 0, 1] = 205
    show = lambda image: new_output("display_data", {"image/png": image, "text/plain": "<Figure>"})  # noqa: E731
    ((where, _, new),) = said(pages(replaced(2, show(picture(other)))))
    assert where == "cell-02, output 3, image/png"
    assert new == "5.000% of its pixels differ, by at most 50 of 255"
    ((where, *sizes),) = said(pages(replaced(2, show(picture(WHITE[:3])))))
    assert (where, sizes) == ("cell-02, output 3, image/png, size", ["(5, 4)", "(5, 3)"])
    opaque = np.dstack([WHITE, WHITE[:, :, :1]])
    ((_, _, new),) = said(pages(replaced(2, show(picture(opaque)))))
    assert new == "the same pixels in other bytes"


def test_missing_outputs_and_cells_and_other_sources_are_found():
    assert said(pages(notebook(OUTPUTS[:2])))[0][0::2] == ("cell-02, output 3", verify.MISSING)
    assert said(pages(notebook([*OUTPUTS, OUTPUTS[0]])))[0][:2] == (
        "cell-02, output 4",
        verify.MISSING,
    )
    assert said(pages(notebook(source="g()"))) == [("cell-02, source", "f()", "g()")]
    shorter = notebook()
    del shorter.cells[1]
    assert said(pages(shorter)) == [("cell-02", "there", verify.MISSING)]
    kind = said(pages(replaced(0, new_output("error", ename="E", evalue="x"))))
    assert kind[0] == ("cell-02, output 1, kind", "stream", "error")
    told = new_output("execute_result", OUTPUTS[1].data, metadata={"scrapbook": {"name": "x"}})
    assert said(pages(replaced(1, told)))[0][0].startswith("cell-02, output 2, metadata")


def test_records_differ_by_anything_but_the_versions_of_another_python():
    stored = {"python": "3.11", "packages": {"numpy": "1"}, "sha256": "a", "seeds": [1]}

    def differences(**new):
        found = verify.Comparison()
        verify.compare_records(found, "t.json", stored, stored | new)
        return [difference.where for difference in found.differences]

    assert differences() == []
    assert differences(python="3.12", packages={"numpy": "2"}) == []
    assert differences(python="3.12", sha256="b") == ["t.json, sha256"]
    assert differences(packages={"numpy": "2"}) == ["t.json, packages"]
    assert differences(sha256="b", seeds=[2]) == ["t.json, seeds", "t.json, sha256"]
    assert differences(kept=True) == ["t.json, kept"]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository of one page that writes one table, and a copy of it to be executed."""
    page = notebook([], 'with open("data/t.csv", "w") as file:\n    file.write(TEXT)')
    record = {"cell": "cell-02", "kept": False}
    for root in ("stored", "copy"):
        (tmp_path / root / "book" / "data").mkdir(parents=True)
        nbformat.write(page, tmp_path / root / "book" / "page.ipynb")
        (tmp_path / root / "book" / "data" / "t.csv").write_text(TABLE)
        (tmp_path / root / "book" / "data" / "t.json").write_text(json.dumps(record))
    copy = tmp_path / "copy"
    written = {"text": TABLE}

    def execute(path):
        if written["text"]:
            (path.parent / "data" / "t.csv").write_text(written["text"])
        return nbformat.read(path, as_version=4)

    monkeypatch.setattr(verify.provenance, "ROOT", copy)
    monkeypatch.setattr(verify.provenance, "DATA", copy / "book" / "data")
    monkeypatch.setattr(verify.provenance, "record", lambda table: record)
    monkeypatch.setattr(verify.provenance, "written_by", lambda table: "page")
    monkeypatch.setattr(verify.refresh, "BOOK", copy / "book")
    monkeypatch.setattr(verify.refresh, "execute", execute)
    return tmp_path / "stored", written


def differing(stored):
    return {n: said(found) for n, found in verify.everything(stored).items() if found.differences}


def test_what_a_page_writes_again_is_equal(repository, capsys):
    stored, _ = repository
    assert verify.main(stored) == 0
    assert capsys.readouterr().out.endswith("1 tables, 4 numbers, 0 pictures: equal\n")


def test_what_a_page_writes_anew_is_told_and_stored(repository, capsys):
    stored, written = repository
    written["text"] = TABLE.replace("1.5", "1.8")
    assert verify.main(stored) == 1
    told = "t.csv, row 1, error: stored '1.5', now '1.8' (by 0.3, relatively 0.2)"
    assert told in capsys.readouterr().out
    listed = (stored.parent / "copy" / "differences.csv").read_text().splitlines()
    assert listed[1].startswith('page,"t.csv, row 1, error",1.5,1.8,0.3')


def test_a_cell_that_fails_is_told(repository, monkeypatch):
    def fail(path):
        raise verify.CellExecutionError("the traceback", "ValueError", "no budget")

    stored, _ = repository
    monkeypatch.setattr(verify.refresh, "execute", fail)
    assert ("a cell", "runs", "ValueError: no budget") in differing(stored)["page"]


def test_a_record_that_does_not_fit_is_found(repository):
    stored, _ = repository
    (stored / "book" / "data" / "t.json").write_text('{"cell": "cell-03", "kept": false}')
    assert differing(stored) == {"page": [("t.json, cell", "cell-03", "cell-02")]}


def test_a_table_that_no_page_writes_is_found(repository):
    stored, written = repository
    written["text"] = ""
    assert differing(stored) == {"page": [("t.csv", "written by cell-02", "not written")]}


def test_a_table_that_is_measured_is_not_counted(repository, capsys, monkeypatch):
    stored, written = repository
    written["text"] = ""
    monkeypatch.setattr(verify.provenance, "record", lambda table: {"command": "make bench"})
    (stored / "book" / "data" / "t.json").write_text('{"command": "make bench"}')
    assert verify.main(stored) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-2:] == [
        "Measured or found once, and not made again: t.csv",
        "All together: 0 tables, 0 numbers, 0 pictures: equal",
    ]


@pytest.mark.parametrize("name", ["page.ipynb", "data/t.csv", "data/t.json"])
def test_missing_files_are_found(repository, name):
    stored, _ = repository
    (stored.parent / "copy" / "book" / "data" / "more.csv").write_text(TABLE)
    assert differing(stored)["files"] == [("data/more.csv", verify.MISSING, "there")]
    other = stored / "book" / name
    other.rename(other.with_stem("other"))
    named = {where for where, *_ in differing(stored)["files"]}
    assert {name, name.replace("page.", "other.").replace("t.", "other.")} <= named


def test_long_lists_are_cut_and_say_so():
    found = verify.Comparison()
    for number in range(50):
        found.differ(f"row {number}", "1", str(2 + number))
    lines = list(verify.report({"page": found}))
    assert len(lines) == 1 + verify.LISTED + 3
    assert lines[-3] == "  ... and 30 more in differences.csv"
    assert "row 49" in lines[-2]
    assert lines[-1].endswith("50 DIFFERENCES")
