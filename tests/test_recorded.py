"""What is stored: every table has a record of what exists; pictures stay if they look alike."""

import hashlib
import io

import numpy as np
import pytest
import recorded
from contents import BOOK, ROOT, page, pages
from execute import look_the_same
from PIL import Image

RECORDS = recorded.records()
KEPT = [table for table, record in RECORDS.items() if "command" in record]
WRITTEN = [table for table, record in RECORDS.items() if "cell" in record]


def test_every_table_has_a_record_and_every_figure_a_table():
    assert set(RECORDS) == {path.stem for path in recorded.DATA.glob("*.csv")}
    assert sorted(KEPT + WRITTEN) == sorted(RECORDS)
    cells = [cell for name in pages() for cell in page(name).cells]
    drawn = {cell.metadata.get("mystnb", {}).get("figure", {}).get("name") for cell in cells}
    assert {figure for table in RECORDS for _, figure in recorded.shown(table)} == drawn


def test_no_page_writes_a_table_in_another_way():
    writing = {p.stem for p in BOOK.glob("*.ipynb") if ".to_csv(" in p.read_text("utf-8")}
    assert writing == set()


@pytest.mark.parametrize("table", WRITTEN)
def test_a_record_names_the_cell_and_the_pages_seed(table):
    record = RECORDS[table]
    cells = page(record["page"]).cells
    (source,) = [cell.source for cell in cells if cell.id == record["cell"]]
    assert f'"{table}"' in source
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert record["seed"] is None or str(record["seed"]) in code.replace("_", "")


@pytest.mark.parametrize("table", KEPT)
def test_what_is_kept_is_what_the_script_wrote(table):
    content = (recorded.DATA / f"{table}.csv").read_bytes()
    assert RECORDS[table]["sha256"] == hashlib.sha256(content).hexdigest()
    assert f"{table}.csv" in (ROOT / RECORDS[table]["script"]).read_text("utf-8")


# Stored pictures stay while nobody sees a difference, and go when somebody would.
def png(levels):
    file = io.BytesIO()
    Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def test_rounding_is_not_seen_and_a_line_that_moves_by_a_pixel_is():
    curve = np.full((60, 100, 3), 255.0)  # a line of two pixels across white
    for x in range(100):
        curve[20 + x // 5 : 22 + x // 5, x] = [0, 90, 180]
    one, part = curve.copy(), curve.copy()
    one[30, 50] -= 100
    part[:, 40:48] = np.roll(curve[:, 40:48], 1, axis=0)
    noise = np.random.default_rng(1).integers(-3, 4, curve.shape)
    for same in (curve + noise, one):
        assert look_the_same(png(curve), png(same))
    for other in (part, np.roll(curve, 1, axis=1), curve[:-1], curve - 10):
        assert not look_the_same(png(curve), png(other))
