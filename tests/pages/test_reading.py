"""A book that reads in an afternoon: minutes a page, and the claim with its picture first."""

import re
from statistics import median

import pytest
from browser import BUILT, TOC, TYPESET, on_the_built_pages
from bs4 import BeautifulSoup

pytestmark = on_the_built_pages

FOLDED = "details, .dropdown, .toggle-hidden"
LOOKED_UP = {"The ledger", "Reference"}  # parts that nobody reads from end to end
PARTS = {part["caption"]: [c["file"] for c in part["chapters"]] for part in TOC["parts"]}
READ = [name for part in PARTS if part not in LOOKED_UP for name in PARTS[part]]
NUMBERED = [c["file"] for part in TOC["parts"] if part.get("numbered") for c in part["chapters"]]
ERRATA = "book/errata"
PATH = ["setup", "lemma", "optimum", "kkt", "akmv", "experiments", *map("figure-{}".format, "123")]


def minutes(name):
    """At 220 words a minute, 4 formulas, 20 lines of code, 3 pictures; not what is folded."""
    page = BeautifulSoup((BUILT / f"{name}.html").read_text(), "html.parser").article
    for folded in page.select(FOLDED):
        folded.extract()
    code = sum(len(c.text.strip().splitlines()) for c in page.select("div.highlight pre"))
    formulas, pictures = len(page.select("div.math")), len(page.select("img"))
    for part in page.select("div.highlight, div.output, div.math, script, .prev-next-footer"):
        part.extract()
    return len(page.get_text(" ").split()) / 220 + formulas / 4 + code / 20 + pictures / 3


def test_the_book_reads_in_an_afternoon():
    """And its front door says how long each way takes."""
    times = {name.removeprefix("book/"): minutes(name) for name in [TOC["root"], *READ, ERRATA]}
    assert max(times.values()) <= 15, max(times, key=times.get)
    assert median(times.values()) <= 10
    assert sum(times.values()) <= 4 * 60
    ways = [times["errata"], times["one-line"] + times["decide"], sum(map(times.get, PATH))]
    front = BeautifulSoup((BUILT / f"{TOC['root']}.html").read_text(), "html.parser")
    said = [float(re.search(r"(\d+)\sminutes", card.text)[1]) for card in front.select(".sd-card")]
    assert said == pytest.approx(ways, rel=0.1)
    assert said[-1] <= 75


# The bottom of the first picture, and whether code stands above it.
FIRST = """() => {
  const figure = document.querySelector('.bd-article figure');
  const code = document.querySelector('.bd-article .cell_input, .bd-article details.hide');
  const after = figure.compareDocumentPosition(code) & Node.DOCUMENT_POSITION_FOLLOWING;
  return [figure.getBoundingClientRect().bottom, Boolean(after)];
}"""


@pytest.mark.parametrize("name", NUMBERED)
def test_the_claim_and_its_picture_come_first(page, book, name):
    page.goto(f"{book}/{name}.html")
    page.wait_for_function(TYPESET)
    assert page.locator(".bd-article strong").first.evaluate("(n) => n.offsetTop") < 450
    bottom, before_code = page.evaluate(FIRST)
    assert before_code
    assert bottom <= 1350
