"""Every table has a record, and a record leads to what exists: cells, functions, figures, files."""

import hashlib

import pytest
import recorded
from contents import ROOT, page, pages

RECORDS = recorded.records()
KEPT = [table for table, record in RECORDS.items() if "command" in record]
WRITTEN = [table for table, record in RECORDS.items() if "cell" in record]


def test_every_table_has_a_record_and_every_figure_a_table():
    assert set(RECORDS) == {path.stem for path in recorded.DATA.glob("*.csv")}
    assert sorted(KEPT + WRITTEN) == sorted(RECORDS)
    cells = [cell for name in pages() for cell in page(name).cells]
    drawn = {cell.metadata.get("mystnb", {}).get("figure", {}).get("name") for cell in cells}
    assert {figure for record in RECORDS.values() for _, figure in record["shown"]} == drawn


@pytest.mark.parametrize("table", WRITTEN)
def test_a_seed_is_that_of_the_page(table):
    record = RECORDS[table]
    cells = page(record["page"]).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert record["seed"] is None or str(record["seed"]) in code.replace("_", "")


@pytest.mark.parametrize("table", KEPT)
def test_what_is_kept_is_what_the_script_wrote(table):
    content = (recorded.DATA / f"{table}.csv").read_bytes()
    assert RECORDS[table]["sha256"] == hashlib.sha256(content).hexdigest()
    assert f"{table}.csv" in (ROOT / RECORDS[table]["script"]).read_text("utf-8")
