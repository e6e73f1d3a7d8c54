"""Links of the built book, to pages, tables, records and folded cells; and its search."""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import BUILT, every_chapter, on_the_built_pages
from bs4 import BeautifulSoup
from playwright.sync_api import expect

pytestmark = on_the_built_pages


class Links:
    """The anchors of a page, and the targets of its links."""

    def __init__(self, path):
        page = BeautifulSoup(path.read_text(), "html.parser")
        self.names = {tag.get("id", tag.get("name")) for tag in page.select("[id], a[name]")}
        leading = page.select("a[href], link[href], [src]")
        self.targets = [tag.get("src", tag.get("href")) for tag in leading]
        self.live = page.select_one("clip-explorer, clip-picture")


def resolves(target, path, pages):
    """Whether a link of a page resolves within the book; external links are not requested."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True
    goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not goal.is_file():
        return False
    if not parts.fragment or goal not in pages:
        return True
    state = "=" in parts.fragment and pages[goal].live  # a state of a live picture
    return state or unquote(parts.fragment) in pages[goal].names


def test_every_link_and_cross_reference_resolves():
    paths = [*BUILT.glob("*.html"), *BUILT.glob("book/*.html"), *BUILT.glob("code/**/*.html")]
    pages = {path: Links(path) for path in paths}
    broken = [
        f"{path.relative_to(BUILT)}: {target}"
        for path, page in pages.items()
        for target in page.targets
        if not resolves(target, path, pages)
    ]
    assert broken == []


@every_chapter
def test_every_table_links_to_the_record_of_how_it_was_made(name):
    """Beside each link to a table is one to its record; the page `record` has the anchors."""
    links = Links(BUILT / f"{name}.html")
    tables = [Path(link).stem for link in links.targets if link.endswith(".csv")]
    records = [link.partition("#record-")[2] for link in links.targets if "#record-" in link]
    if name == "book/record":
        assert all(f"record-{table}" in links.names for table in tables)
        assert tables
    else:
        assert records == tables


OF_EACH_PROOF = {"proof", "proof-content"}
"""Names that sphinx-proof gives each proof; no link uses them."""


@every_chapter
def test_anchors_are_unique_on_a_page(name):
    page = BeautifulSoup((BUILT / f"{name}.html").read_text("utf-8"), "html.parser")
    names = Counter(tag["id"] for tag in page.select("[id]"))
    assert {name for name, times in names.items() if times > 1} <= OF_EACH_PROOF


def test_a_link_to_a_folded_cell_opens_it(page, book):
    """From another page and on the same page; no other cell is opened."""
    unfolded = page.locator(".cell details[open]")
    page.goto(f"{book}/book/figure-2.html#cell-14")
    expect(unfolded).to_have_count(1)
    expect(page.locator("#cell-14 + .cell pre").first).to_be_visible()
    page.evaluate("location.hash = '#cell-08'")
    expect(unfolded).to_have_count(2)


EXPECTED_PAGES = {
    "differential privacy": "index",
    "install": "index",
    "how to install": "index",
    "missing values": "decide",
    "Figure 2": "figure-2",
    "Lemma III.1": "lemma",
    "Theorem III.1": "optimum",
    "which epsilon": "decide",
    "user-level sensitivity": "setup",
    "How do I cite this book?": "cite",
    "How do I release the mean of my table?": "decide",
    "Is it safe for production?": "trust",
    "Which epsilon should I choose?": "decide",
    "errors in the paper": "errata",
    "What is the licence?": "cite",
    "confidence interval": "decide",
    "report a bug": "CONTRIBUTING",
    "runtime benchmark": "record",
    "download data": "record",
    "python version": "index",
    "pandas": "decide",
    "csv": "decide",
    "threshold": "optimum",
    "notation m_l": "notation",
    "colab": "index",
    "median": "frontier",
    "budget": "decide",
}
"""If no page has all words of a question, those with most of the words come first."""


@pytest.mark.parametrize("words", EXPECTED_PAGES)
def test_search_lists_the_expected_page_first(page, book, words):
    page.goto(f"{book}/search.html?q={words.replace(' ', '+')}")
    expect(page.locator(".search-summary, #search-summary")).to_contain_text("found")
    first = page.locator("#search-results li a").first.get_attribute("href")
    name = EXPECTED_PAGES[words]
    assert re.split("[?#]", first)[0] == f"{name if name.isupper() else f'book/{name}'}.html"


@pytest.mark.parametrize("words", ["Theorem III.1", "figure 2", "clipping"])
def test_search_lists_a_page_once_and_shows_no_tex(page, book, words):
    page.goto(f"{book}/search.html?q={words.replace(' ', '+')}")
    expect(page.locator("#search-summary, .search-summary")).to_contain_text("found")
    links = page.locator("#search-results li > a").evaluate_all("(all) => all.map((a) => a.href)")
    pages = [link.partition("?")[0].partition("#index-")[0] for link in links]
    assert pages
    assert len(pages) == len(set(pages))
    expect(page.locator("#search-results p.context").first).to_be_visible()
    assert "\\(" not in page.locator("#search-results").inner_text()
