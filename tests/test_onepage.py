"""The cheat sheet: one page, all of it in the columns, the same file from the same cells."""

import ast
import re
from types import SimpleNamespace

import nbformat
import onepage
import pytest
from contents import page
from matplotlib.backends.backend_agg import FigureCanvasAgg

import userdp as ud

CELLS = [cell for cell in page("cheat-sheet").cells if cell.cell_type == "code"]


def sheet(folder):
    folder.mkdir()
    onepage.offer(SimpleNamespace(outdir=folder))
    return (folder / "cheat-sheet.pdf").read_bytes()


def test_the_sheet_is_one_page_of_a4_and_the_same_whenever_it_is_made(tmp_path):
    made = sheet(tmp_path / "one")
    assert len(re.findall(rb"/Type /Page\b", made)) == 1
    assert re.search(rb"/MediaBox \[ 0 0 842 595 \]", made)
    assert made == sheet(tmp_path / "two")


def test_all_that_is_written_stands_in_its_column():
    """Measured with the letters that are drawn."""
    figure = onepage.draw()
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [text.get_window_extent(renderer) for text in figure.texts if text.get_text()]
    scale = figure.dpi / 72
    middle = onepage.WIDTH / 2
    for box in boxes:
        left, low, right = box.x0 / scale, box.y0 / scale, box.x1 / scale
        assert low > onepage.MARGIN / 2
        assert right < (middle if left < middle else onepage.WIDTH - onepage.MARGIN / 2)
    assert len(boxes) > 80


@pytest.mark.parametrize("cell", CELLS, ids=[cell.id for cell in CELLS])
def test_a_call_is_not_hidden_in_what_is_printed_and_it_prints_one_line(cell):
    """The sheet leaves out what only prints. `make test` executes the page."""
    printing = [part for part in ast.parse(cell.source).body if "print(" in ast.unparse(part)]
    assert len(printing) == 1
    assert not re.search(r"\b(ud|audit)\.", ast.unparse(printing[0]))
    (output,) = cell.outputs
    assert output.text.count("\n") == 1
    assert re.search(r"^# ", cell.source, re.M), "words for what it is for"


def test_the_sheet_has_the_words_the_calls_and_what_they_print():
    said = [line for _, lines in onepage.columns() for line, _ in lines]
    for cell in CELLS:
        assert f"  > {cell.outputs[0].text.rstrip()}" in said
    used = {*re.findall(r"\bud\.(\w+)\(", "\n".join(said))}
    assert len(used) > 20
    assert used <= {*ud.__all__}


def test_a_sheet_that_has_no_room_ends_the_build(monkeypatch):
    long = nbformat.from_dict(page("cheat-sheet"))
    long.cells = [*long.cells, *CELLS, *CELLS]
    monkeypatch.setattr(onepage, "page", lambda name: long)
    with pytest.raises(ValueError, match="the cheat sheet is too long"):
        onepage.draw()
