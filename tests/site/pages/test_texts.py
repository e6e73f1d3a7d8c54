"""What the built pages say of themselves, how long they take to read, and how they are printed."""

import os
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
    UNFOLD,
    every_chapter,
    every_page,
    look,
    on_the_built_pages,
)
from bs4 import BeautifulSoup
from PIL import Image
from playwright.sync_api import expect
from pybtex.database import parse_string

import userdp
from tools.ext import cards, metadata
from tools.ext.contents import ledger
from tools.ext.proofs import checked

TITLE = yaml.safe_load((ROOT / "_config.yml").read_text())["title"]
BOTTOM = "(node) => node.getBoundingClientRect().bottom"

pytestmark = on_the_built_pages


def meta(name):
    text = (BUILT / f"{name}.html").read_text()
    return dict(re.findall(r'<meta (?:name|property)="([^"]+)"\s+content="([^"]*)"', text))


def test_no_two_chapters_describe_themselves_alike():
    said = {name: meta(name)["description"] for name in CHAPTERS}
    assert len(set(said.values())) == len(CHAPTERS)
    assert "worst case" in said["book/index"]
    assert said["book/lemma"].endswith("Verdict: wrong as printed, and repaired.")


@every_page
def test_pages_say_what_they_are_about_and_of_which_version_with_a_picture_and_an_icon(name):
    said, here = meta(name), BUILT / f"{name}.html"
    assert said["og:description"] == said["description"]
    if name in CHAPTERS:
        assert 40 < len(said["description"]) < 500
        assert not re.search(r"[\\$]|\[\w{2,}\]", said["description"]), "TeX, or a citation"
    assert said["og:title"]
    text = here.read_text()
    (icon,) = re.findall(r'<link rel="icon" href="([^"]+)"', text)
    for file in [said["og:image"], icon]:
        path = file.removeprefix(os.environ.get("BOOK_URL", "").rstrip("/") + "/")
        assert (here.parent / path).exists() or (BUILT / path).exists()
    assert f"<p>Version {userdp.__version__}" in text.partition('class="extra_footer"')[2]


def drawn(name):
    """The alternative texts of what a page has drawn, in their order."""
    page = BeautifulSoup((BUILT / f"{name}.html").read_text("utf-8"), "html.parser")
    return [
        image["alt"] for image in page.select('.bd-article img[src*="_images/"]:not([src$=".svg"])')
    ]


@every_page
def test_a_link_to_a_page_is_previewed_by_its_first_picture_in_words_too(name):
    """Of a page that has none, by that of the first page."""
    said = meta(name)
    path = said["og:image"].removeprefix(os.environ.get("BOOK_URL", "").rstrip("/") + "/")
    card = BUILT / re.sub(r"^(\.\./)*", "", path)
    own = drawn(name)
    assert card.stem == (name.rpartition("/")[2] if own else "index")
    assert unescape(said["og:image:alt"]) == (own or drawn("book/index"))[0]
    assert said["twitter:image:alt"] == said["og:image:alt"]
    assert said["twitter:card"] == "summary_large_image"
    with Image.open(card) as picture:
        assert (picture.format, picture.size) == ("PNG", cards.SIZE)
        assert [said[f"og:image:{side}"] for side in ("width", "height")] == [*map(str, cards.SIZE)]
        assert picture.getextrema() != ((255, 255),) * 3, "nothing is drawn"


@every_chapter
def test_pages_say_how_to_cite_them(name):
    text = (BUILT / f"{name}.html").read_text()
    (box,) = re.findall(r'<details class="cite-page">(.*?)</details>', text, re.DOTALL)
    blocks = re.findall(r"<pre>(.*?)</pre>", box, re.DOTALL)
    cited, paper = (parse_string(unescape(re.sub("<.*?>", "", b)), "bibtex") for b in blocks)
    assert list(paper.entries) == [metadata.PAPER]
    ((key, entry),) = cited.entries.items()
    assert entry.fields["note"].startswith(f"Version {userdp.__version__}")
    title = TITLE if key == "userdp" else meta(name)["og:title"]
    assert unescape(title) == entry.fields["title"].strip("{}")
    assert (key == "userdp") == (name == TOC["root"])


def test_the_root_leads_to_the_first_page_whose_first_screen_says_what_it_is_about(
    page, book, errors
):
    assert (BUILT / "index.html").read_text().startswith("<!DOCTYPE html>")
    assert meta("index")["description"] == meta(TOC["root"])["description"]
    page.goto(f"{book}/")
    page.wait_for_url(f"{book}/{TOC['root']}.html")
    expect(page.locator(".doors .sd-card")).to_have_count(3)
    assert page.locator(".doors").first.evaluate(BOTTOM) < 700
    assert page.locator("clip-explorer .live").evaluate(BOTTOM) < 1350
    assert errors == []


def test_the_entry_of_a_page_can_be_copied(page, book):
    """From the keyboard: with the button in sight, and all of the entry, without markup."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{book}/book/optimum.html")
    page.evaluate(UNFOLD)
    expect(page.locator(".cite-page .copybtn")).to_have_count(2)
    page.locator(".cite-page summary").press("Tab")
    expect(page.locator(".copybtn:focus")).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(page.locator(".copybtn.success")).to_have_count(1)
    copied = page.evaluate("navigator.clipboard.readText()")
    assert list(parse_string(copied, "bibtex").entries) == ["userdp-optimum"]


def test_print_shows_the_page_alone_in_black_on_white(page, book):
    page.goto(f"{book}/book/optimum.html")
    look(page, 1400, "dark")
    theme = "document.documentElement.dataset.theme"
    page.emulate_media(media="print")
    page.wait_for_function(f"{theme} === 'light'")
    beside = page.locator(".bd-sidebar, .bd-header-article, .copybtn, #preview")
    expect(beside.filter(visible=True)).to_have_count(0)
    colour = page.locator(".bd-article p").first.evaluate("(node) => getComputedStyle(node).color")
    assert sum(map(int, re.findall(r"\d+", colour)[:3])) < 200
    page.emulate_media(media="screen")
    page.wait_for_function(f"{theme} === 'dark'")


def test_rows_are_chosen_by_verdict_source_and_formal_proof_from_a_disk_too(page, book, errors):
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
    page.get_by_label("In Coq").select_option("yes")
    own = [row for row in ledger() if row["id"].startswith("new-")]
    proved = [row for row in own if row["label"] in checked()]
    expect(rows.filter(visible=True)).to_have_count(len(proved))
    page.evaluate(f"location.hash = 'claim-{wrong[0]}'")
    expect(rows.filter(visible=True)).to_have_count(len(ledger()))
    assert errors == []


# A book that reads in an afternoon: minutes a page, and the claim with its picture first.
NUMBERED = [c["file"] for part in TOC["parts"] if part.get("numbered") for c in part["chapters"]]
PAPER = [c["file"] for c in TOC["parts"][0]["chapters"]]
PATH = ["setup", "lemma", "optimum", "kkt", "akmv", "experiments"]
PATH += ["figure-1", "figure-2", "figure-3", "robustness"]


def minutes(name):
    """At 220 words a minute, 4 formulas, 20 lines of code, 3 pictures; not what is folded."""
    page = BeautifulSoup((BUILT / f"{name}.html").read_text(), "html.parser").article
    for folded in page.select("details, .dropdown, .toggle-hidden"):
        folded.extract()
    code = sum(len(c.text.strip().splitlines()) for c in page.select("div.highlight pre"))
    formulas, pictures = len(page.select("div.math")), len(page.select("img"))
    # A formula within a line is read as one word; its letters are elements of their own.
    for formula in page.select("span.math"):
        formula.string = "x"
    for part in page.select("div.highlight, div.output, div.math, script, .prev-next-footer"):
        part.extract()
    return len(page.get_text(" ").split()) / 220 + formulas / 4 + code / 20 + pictures / 3


@pytest.mark.parametrize(("name", "part"), [("book/kkt", "The paper"), ("book/cite", "Reference")])
def test_the_sidebar_is_open_where_one_is_and_nowhere_else(name, part):
    tree = BeautifulSoup((BUILT / f"{name}.html").read_text(), "html.parser")
    parts = tree.select(".bd-links details.part")
    assert len(parts) == len(TOC["parts"])
    opened = [each for each in parts if each.has_attr("open")]
    assert [each.summary.get_text(strip=True) for each in opened] == [part]
    assert opened[0].select_one("li.current")


def test_the_front_door_says_how_long_each_way_takes():
    """Two hours for the paper's path, all proofs included; less for each of the others."""
    path = sum(minutes(f"book/{name}") for name in PATH)
    front = BeautifulSoup((BUILT / f"{TOC['root']}.html").read_text(), "html.parser")
    understand, use, read_before = (card.text for card in front.select(".sd-card"))
    assert "two hours" in understand
    assert path == pytest.approx(120, rel=0.25)
    assert "twenty minutes" in use
    assert minutes("book/decide") == pytest.approx(20, abs=3)
    assert "ten minutes" in read_before
    assert minutes("book/errata") == pytest.approx(10, abs=3)
    assert [f"book/{name}" for name in PATH] == [name for name in PAPER if name != "book/explorer"]


OTHERWISE = {"book/explorer", "book/decide"}
"""A live picture; and a call and what it prints, for those who came for it."""


@pytest.mark.parametrize("name", [name for name in NUMBERED if name not in OTHERWISE])
def test_the_claim_and_its_picture_come_first(page, book, name):
    page.goto(f"{book}/{name}.html")
    page.wait_for_function(TYPESET)
    assert page.locator(".bd-article strong").first.evaluate("(n) => n.offsetTop") < 450
    first = page.locator(".bd-article :is(figure, .cell_input, details.hide)").first
    assert first.evaluate("(node) => node.tagName") == "FIGURE"
    assert first.evaluate(BOTTOM) <= 1350


def test_who_has_a_table_sees_a_call_and_what_it_prints_first(page, book):
    page.goto(f"{book}/book/decide.html")
    page.wait_for_function(TYPESET)
    call, printed = page.locator(".bd-article div.highlight:visible").all()[:2]
    expect(call).to_contain_text("ud.private_mean(")
    expect(printed).to_contain_text("private mean")
    assert printed.evaluate(BOTTOM) <= 950
