"""Typography: fonts are part of the book, formulas match them, and lines have a good length."""

import re
from itertools import pairwise

import pytest
from browser import BUILT, CHAPTERS, TYPESET, every_chapter, set_appearance
from bs4 import BeautifulSoup

STYLES = (BUILT.parents[1] / "book" / "_static" / "custom.css").read_text("utf-8")
FACE = "STIX Two Text"
SERVED = re.compile(r'font-family: "(STIX Two [^"]+)";\s+src: url\("\.\./([^"]+)"\)')
RANGES = re.compile(r'font-family: "STIX Two [^}]*?unicode-range: ([^;]+);')
KINDS = {
    "p": "article p:not(:has(code, mjx-container))",
    "italic": "article em",
    "bold": "article strong",
    "heading": "article h2",
    "caption": "figcaption .caption-text",
    "contents": "nav.bd-links a.reference",
    "head": ".proof .caption-number",
    "table": "table.dataframe tbody td",
}


def characters():
    """Yield the characters that the fonts have according to the style sheet."""
    for part in ", ".join(RANGES.findall(STYLES)).split(", "):
        first, _, last = part.removeprefix("U+").partition("-")
        yield from map(chr, range(int(first, 16), int(last or first, 16) + 1))


def test_fonts_and_their_licence_are_published():
    files = {BUILT / file for _, file in SERVED.findall(STYLES)}
    assert files | {BUILT / "fonts" / name for name in ("OFL.txt", "README.md")} == {
        *(BUILT / "fonts").iterdir()
    }
    assert "SIL Open Font License" in (BUILT / "fonts" / "OFL.txt").read_text("utf-8")
    assert sum(file.stat().st_size for file in files) < 120_000


@every_chapter
def test_the_fonts_have_every_character_of_a_page(name):
    """Except in code, which has its own font, and in formulas, which the build checks."""
    page = BeautifulSoup((BUILT / f"{name}.html").read_text("utf-8"), "html.parser").body
    for part in page.select("mjx-container, script, style, pre, code, noscript"):
        part.extract()
    assert {*page.get_text()} - {*characters(), "\n", "\t"} == set()


def fonts_of(page, selector):
    """Return the fonts with which the browser draws the text of an element."""
    line = page.context.new_cdp_session(page)
    line.send("DOM.enable")
    line.send("CSS.enable")
    root = line.send("DOM.getDocument")["root"]["nodeId"]
    node = line.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
    used = line.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    return {(font["familyName"], font["isCustomFont"]) for font in used}


@pytest.mark.parametrize("selector", KINDS.values(), ids=KINDS)
def test_text_is_drawn_with_the_font_of_the_book(page, book, selector):
    page.goto(f"{book}/book/{'figure-1' if selector.startswith('figcaption') else 'optimum'}.html")
    page.wait_for_function(TYPESET)
    fonts = fonts_of(page, selector)
    assert fonts
    assert all(name.startswith(FACE) and custom for name, custom in fonts), fonts


def test_formulas_have_the_font_and_size_of_the_text(page, book):
    page.goto(f"{book}/book/kkt.html")
    page.wait_for_function(TYPESET)
    size = "(node) => parseFloat(getComputedStyle(node).fontSize)"
    for width in (390, 1400):
        set_appearance(page, width, "light")
        formula = page.locator("article p mjx-math").first
        text = page.locator("article p:has(mjx-math)").first
        assert 1 <= formula.evaluate(size) / text.evaluate(size) <= 1.05
    assert fonts_of(page, "article p mjx-mi") == {("mjx-stx-n", True)}


# Numbers of characters in the lines of paragraphs: those at the same height form a line.
LINES = """[...document.querySelectorAll('article section > p')].flatMap((paragraph) => {
  if (paragraph.querySelector('mjx-container, code') || paragraph.closest('.proof')) return [];
  const range = document.createRange(), lines = {};
  const walk = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) for (let i = 0; i < walk.currentNode.length; i++) {
    range.setStart(walk.currentNode, i);
    range.setEnd(walk.currentNode, i + 1);
    const {bottom} = range.getBoundingClientRect();
    lines[Math.round(bottom / 8)] = (lines[Math.round(bottom / 8)] ?? 0) + 1;
  }
  return Object.values(lines).slice(0, -1);
})"""


@pytest.mark.parametrize("width", [1000, 1400, 1900])
def test_a_line_has_about_seventy_characters(page, book, width):
    page.goto(f"{book}/book/figure-2.html")
    page.wait_for_function(TYPESET)
    set_appearance(page, width, "light")
    full_lines = [length for length in page.evaluate(LINES) if length > 40]
    assert len(full_lines) > 20
    assert 62 <= sum(full_lines) / len(full_lines) <= 76
    assert max(full_lines) <= 85


SHAPE = """[...document.querySelectorAll('article section > p')].map((node) => node.offsetHeight)"""


def test_the_height_of_paragraphs_changes_by_at_most_two_percent_when_fonts_load(page, book):
    """So the text below hardly moves, although words may move to another line."""
    page.goto(f"{book}/book/setup.html")
    page.wait_for_function(TYPESET)
    after = page.evaluate(SHAPE)
    page.route("**/fonts/*", lambda route: route.abort())
    page.reload()
    page.wait_for_function(TYPESET)
    assert ("DejaVu Serif", False) in fonts_of(page, KINDS["p"]), "this test assumes this fallback"
    before = page.evaluate(SHAPE)
    assert sum(before) == pytest.approx(sum(after), rel=0.02)


MARKS = """[...document.querySelectorAll('.admonition-title')].flatMap((title) =>
  ['::before', '::after'].map((side) => getComputedStyle(title, side).content)
    .filter((content) => !['none', 'normal', '""'].includes(content)))"""


@pytest.mark.parametrize("name", ["kkt", "akmv", "setup"])
def test_titles_of_boxes_have_no_icons(page, book, name):
    page.goto(f"{book}/book/{name}.html")
    assert page.locator(".admonition-title").count() > 3
    assert page.evaluate(MARKS) == []


def test_no_title_of_a_statement_ends_in_two_parentheses():
    titles = [
        title.get_text(" ", strip=True)
        for name in CHAPTERS
        for title in BeautifulSoup(
            (BUILT / f"{name}.html").read_text("utf-8"), "html.parser"
        ).select(".proof > .admonition-title")
    ]
    assert len(titles) > 80
    assert [title for title in titles if "))" in title or re.search(r"\d \(.*\(", title)] == []


@every_chapter
def test_tables_have_no_row_numbers_and_no_variable_names_as_heads(name):
    page = BeautifulSoup((BUILT / f"{name}.html").read_text("utf-8"), "html.parser")
    for table in page.select("table.dataframe"):
        heads = [head.get_text() for head in table.select("thead th")]
        assert [head for head in heads if re.fullmatch("eps|tau|[a-z]+(_[a-z]+)+", head)] == []
        first = [row.find(["th", "td"]) for row in table.select("tbody tr")]
        if not heads[0] and all(cell.name == "th" and cell.text.isdecimal() for cell in first):
            steps = {int(b.text) - int(a.text) for a, b in pairwise(first)}
            assert steps - {1} or len(first) == 1, heads


# For the last column of each table: the right ends of its numbers, and their widths.
ENDS = """[...document.querySelectorAll('table.dataframe')].map((table) =>
  [...table.querySelectorAll('tbody tr > :last-child')].map((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const {right, width} = range.getBoundingClientRect();
    return [Math.round(right), Math.round(width)];
  }))"""


def test_numbers_of_a_column_are_aligned_at_the_right(page, book):
    page.goto(f"{book}/book/akmv.html")
    page.wait_for_function(TYPESET)
    columns = [[*zip(*cells, strict=True)] for cells in page.evaluate(ENDS)]
    assert any(len({*widths}) > 1 for _, widths in columns)
    assert all(len({*ends}) == 1 for ends, _ in columns)


# A note as written by `{margin}`, before the first paragraph of a section.
NOTE = """{
  const note = document.createElement("aside");
  const section = document.querySelectorAll("article section section")[1];
  note.className = "margin sidebar";
  note.innerHTML = '<p class="sidebar-title"></p><p>A note beside the text.</p>';
  section.insertBefore(note, section.querySelector("p"));
}"""
BESIDE = """(note) => {
  const text = note.parentElement.querySelector(":scope > p").getBoundingClientRect();
  const {left, top} = note.getBoundingClientRect();
  return left > text.right && Math.abs(top - text.top) < 20;
}"""


def test_a_side_note_is_beside_the_text_or_on_small_screens_within_it(page, book):
    page.goto(f"{book}/book/kkt.html")
    page.evaluate(NOTE)
    is_beside = {}
    for width in (390, 1400):
        set_appearance(page, width, "light")
        is_beside[width] = page.locator("aside.margin").evaluate(BESIDE)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert is_beside == {390: False, 1400: True}
