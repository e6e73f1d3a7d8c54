"""Prior work: each work is in the bibliography, marked, and cited where its idea is used."""

import re

import pytest

from tools.ext.contents import BOOK, page, pages

CITED = re.compile(r"\{cite:[tp]\}`([^`]+)`")
NAMED = re.compile(r"\{(?:prf:ref|eq)\}`([\w-]+)`")
DEPTH = re.compile(r"\{cite:t\}`(\w+)`, \*(abstract|cited)\*")
TEXT = (BOOK / "known.md").read_text("utf-8")
ROWS = [line for line in TEXT.splitlines() if line.startswith("|") and DEPTH.search(line)]
# These pages name their sources only in tables.
SOURCES_IN_TABLES = {"frontier", "lower-bound", "variance"}


def prose(name):
    return "\n".join(cell.source for cell in page(name).cells if cell.cell_type == "markdown")


def cited_keys(text):
    return {key for keys in CITED.findall(text) for key in keys.split(",")}


def pages_stating(labels):
    """Return the pages with the statements or equations of these labels."""
    pattern = "|".join(map(re.escape, labels))
    pattern = rf"^(?::label: (?:{pattern})|\$\$ \((?:{pattern})\))$"
    return {name for name in pages() if re.search(pattern, prose(name), re.M)}


def test_the_bibliography_has_exactly_the_cited_works():
    entries = re.findall(r"^@\w+\{(\w+),", (BOOK / "references.bib").read_text("utf-8"), re.M)
    assert len(entries) == len(set(entries))
    assert set(entries) == set().union(*(cited_keys(prose(name)) for name in pages()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: re.search(r"`(\w+)`, \*", row)[1])
def test_each_work_is_marked_and_cited_on_pages_that_build_on_it(row):
    works, stating = cited_keys(row), pages_stating(NAMED.findall(row))
    assert stating, "no page has a statement of this row"
    assert works == {key for key, _ in DEPTH.findall(row)}, "say how far the work could be read"
    if stating.isdisjoint(SOURCES_IN_TABLES):
        assert works <= set().union(*(cited_keys(prose(name)) for name in stating))


def test_the_page_says_for_every_work_how_far_it_could_be_read():
    assert len(ROWS) > 15
    assert cited_keys(TEXT) == {key for key, _ in DEPTH.findall(TEXT)}
