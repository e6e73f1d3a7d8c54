"""Descriptions, citations and reading times of the built pages, and their print version."""

import re
from html import unescape

import pytest
import yaml
from browser import (
    BUILT,
    CHAPTERS,
    ROOT,
    TOC,
    TYPESET,
    every_chapter,
    every_page,
    on_the_built_pages,
    set_appearance,
)
from bs4 import BeautifulSoup
from docutils.nodes import make_id
from playwright.sync_api import expect
from pybtex.database import parse_string

import userdp
from tools.ext.contents import ledger
from tools.ext.minutes import CORE_PATH, PATH, minutes

TITLE = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["title"]
BOTTOM = "(node) => node.getBoundingClientRect().bottom"

pytestmark = on_the_built_pages


@every_page
def test_pages_have_a_description_a_version_and_an_icon(name):
    path = BUILT / f"{name}.html"
    text = path.read_text()
    described = re.findall('<meta content="([^"]{40,})" name="description"', text)
    assert len(described) == (name in CHAPTERS)
    assert re.findall('<meta property="og:description" content="(.*)">', text) == described
    (icon,) = re.findall(r'<link rel="icon" href="([^"]+)"', text)
    assert (path.parent / icon).exists() or (BUILT / icon).exists()
    assert f"<p>Version {userdp.__version__}" in text.partition('class="extra_footer"')[2]


def test_each_page_has_its_own_description():
    tag = re.compile('<meta property="og:description" content="(.*)">')
    descriptions = {tag.search((BUILT / f"{name}.html").read_text("utf-8"))[1] for name in CHAPTERS}
    assert len(descriptions) == len(CHAPTERS)


@every_chapter
def test_pages_say_how_to_cite_them(name):
    """In a box and in tags for reference managers: the book, or a page as a part of the book."""
    text = (BUILT / f"{name}.html").read_text("utf-8")
    (box,) = BeautifulSoup(text, "html.parser").select("details.cite-page")
    ((key, entry),) = parse_string(box.pre.text, "bibtex").entries.items()
    assert entry.fields["note"].startswith(f"Version {userdp.__version__}")
    is_book = name == TOC["root"]
    assert (key == "userdp") == is_book
    assert (entry.fields.get("howpublished", "") == f"{{In {TITLE}}}") == (not is_book)
    tags = dict(re.findall(r'<meta name="citation_(\w+)" content="(.*?)">', text))
    assert unescape(tags["title"]) == entry.fields["title"].strip("{}")
    assert unescape(tags.get("inbook_title", TITLE)) == TITLE
    assert tags["publication_date"] == entry.fields["year"]
    assert unescape(tags["title"]) in box.p.text


def test_the_root_redirects_to_the_first_page_and_its_first_screen_is_complete(page, book, errors):
    assert (BUILT / "index.html").read_text().startswith("<!DOCTYPE html>")
    page.goto(f"{book}/")
    page.wait_for_url(f"{book}/{TOC['root']}.html")
    expect(page.locator(".entry-points .sd-card")).to_have_count(3)
    assert page.locator(".start").evaluate(BOTTOM) < 400
    assert page.locator("clip-picture svg").evaluate(BOTTOM) < 900
    assert errors == []


def test_print_shows_only_the_text_in_black_on_white(page, book):
    page.goto(f"{book}/book/optimum.html")
    set_appearance(page, 1400, "dark")
    theme = "document.documentElement.dataset.theme"
    page.emulate_media(media="print")
    page.wait_for_function(f"{theme} === 'light'")
    beside = page.locator(".bd-sidebar, .bd-header-article, .copybtn, #preview")
    expect(beside.filter(visible=True)).to_have_count(0)
    (title,) = page.locator("h1").filter(visible=True).all_inner_texts()
    assert title.startswith("3. Theorem III.1")
    colour = page.locator(".bd-article p").first.evaluate("(node) => getComputedStyle(node).color")
    assert sum(map(int, re.findall(r"\d+", colour)[:3])) < 200
    foot = page.locator(".extra_footer").inner_text()
    assert f"Version {userdp.__version__}" in foot
    assert TITLE in foot
    expect(page.locator(".toggle-button").filter(visible=True)).to_have_count(0)
    page.emulate_media(media="screen")
    page.wait_for_function(f"{theme} === 'dark'")


def test_rows_of_the_ledger_can_be_filtered_and_opened_without_a_server(page, book, errors):
    page.goto(f"{BUILT.as_uri()}/book/claims.html")
    rows, count = page.locator(".cell_output dl"), page.locator(".ledger-filter output")
    expect(rows).to_have_count(len(ledger()))
    wrong = [row["id"] for row in ledger() if row["verdict"] == "wrong as printed"]
    page.get_by_label("Verdict").select_option("wrong as printed")
    expect(rows.filter(visible=True)).to_have_count(len(wrong))
    expect(count).to_have_text(f"{len(wrong)} of {len(ledger())} rows")
    page.get_by_label("Claimed by").select_option("this book")
    expect(rows.filter(visible=True)).to_have_count(0)
    page.get_by_label("Verdict").select_option("all")
    page.get_by_label("Known by").select_option("proved in Coq")
    rows_of_book = [row for row in ledger() if row["id"].startswith("new-")]
    proved = [row for row in rows_of_book if row["known"] == "proved in Coq"]
    expect(rows.filter(visible=True)).to_have_count(len(proved))
    expect(rows.locator("details")).to_have_count(len(ledger()))
    expect(rows.locator("details[open]")).to_have_count(0)
    page.evaluate(f"location.hash = '{make_id('claim-' + wrong[0])}'")
    expect(rows.filter(visible=True)).to_have_count(len(ledger()))
    expect(rows.locator("details[open]")).to_have_count(1)
    expect(rows.locator("details[open]")).to_contain_text("upper bound")
    assert errors == []


# Reading times of pages, and the claim with its picture first.
NUMBERED = [c["file"] for part in TOC["parts"] if part.get("numbered") for c in part["chapters"]]


def reading_time(name, proofs=True):
    page = BeautifulSoup((BUILT / f"book/{name}.html").read_text(), "html.parser")
    return minutes(str(page.article), proofs)


def test_the_first_page_states_how_long_each_path_takes():
    """The argument up to Figure 1, without proofs; the path through the paper; two others."""
    first_page = BeautifulSoup((BUILT / f"{TOC['root']}.html").read_text(), "html.parser")
    understand, use, read_before = (card.text for card in first_page.select(".sd-card"))
    assert "forty-five minutes" in understand
    assert sum(reading_time(name, proofs=False) for name in CORE_PATH) == pytest.approx(
        45, rel=0.05
    )
    assert "two and a quarter hours" in understand
    assert sum(reading_time(name) for name in PATH) == pytest.approx(135, rel=0.1)
    assert "twenty minutes" in use
    assert reading_time("decide") == pytest.approx(20, abs=3)
    assert "ten minutes" in read_before
    assert reading_time("errata") == pytest.approx(10, abs=3)


def test_a_page_states_its_reading_time(page, book):
    page.goto(f"{book}/book/kkt.html")
    complete, without = (f"{reading_time('kkt', proofs):.0f}" for proofs in (True, False))
    words = f"About {complete} minutes; {without} without proofs, exercises and sections marked *."
    expect(page.locator("p.minutes")).to_have_text(words)


OTHER_OPENINGS = {"book/explorer", "book/decide"}
"""Pages that begin with a live picture, or with a call and its output."""


@pytest.mark.parametrize("name", [name for name in NUMBERED if name not in OTHER_OPENINGS])
def test_the_claim_and_its_picture_come_first(page, book, name):
    page.goto(f"{book}/{name}.html")
    page.wait_for_function(TYPESET)
    assert page.locator(".bd-article strong").first.evaluate("(n) => n.offsetTop") < 450
    first = page.locator(".bd-article :is(clip-picture, figure, .cell_input, details.hide)").first
    assert first.evaluate("(node) => node.tagName") in ("FIGURE", "CLIP-PICTURE")
    assert first.evaluate(BOTTOM) <= 1350


def test_the_page_for_tables_begins_with_a_call_and_its_output(page, book):
    page.goto(f"{book}/book/decide.html")
    page.wait_for_function(TYPESET)
    call, printed = page.locator(".bd-article div.highlight:visible").all()[:2]
    expect(call).to_contain_text("release.private_mean(")
    expect(printed).to_contain_text("private mean")
    assert printed.evaluate(BOTTOM) <= 950
