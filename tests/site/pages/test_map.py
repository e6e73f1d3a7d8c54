"""The map of the statements, on its built page, compared with the pages of the statements."""

import re

import pytest
from browser import BUILT, on_the_built_pages, set_appearance
from bs4 import BeautifulSoup

from tools.ext import proofs

pytestmark = on_the_built_pages
KINDS = {"Theorem": "Thm", "Lemma": "Lem", "Proposition": "Prop", "Corollary": "Cor"}


def parse_page(name):
    return BeautifulSoup((BUILT / "book" / name).read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def discs():
    """Return the links to statements on the map, by their addresses."""
    return {link["href"]: link for link in parse_page("proofs.html").select(".statement-map a")}


@pytest.fixture(scope="module")
def boxes(discs):
    """Return the boxes of statements and proofs on the pages that the map links to, in order."""
    files = dict.fromkeys(address.split("#")[0] for address in discs)
    return {file: parse_page(file).select("div.proof.admonition") for file in files}


def test_a_disc_has_the_number_and_the_verdict_of_its_statement(discs, boxes):
    numbers = {}
    for file, shown in boxes.items():
        for box in shown:
            if number := box.select_one(".caption-number"):
                kind, _, place = number.text.strip().partition(" ")
                numbers[f"{file}#{box['id']}"] = f"{KINDS.get(kind, kind)} {place}"
    numbers = {address: number for address, number in numbers.items() if "#def-" not in address}
    assert {address: link.select_one("text").text for address, link in discs.items()} == numbers
    for address, link in discs.items():
        verdict = proofs.shown(address.split("#")[1])
        assert link.parent["class"] == [verdict.replace(" ", "-")]
        assert bool(link.select("circle + path")) == (verdict in ("in part", "refuted"))


def test_an_arrow_leads_to_each_statement_that_a_proof_refers_to(discs, boxes):
    numbers = {address: link.select_one("text").text for address, link in discs.items()}
    named = {}
    for file, shown in boxes.items():
        stated = None
        for box in shown:
            if {*box["class"]} != {"proof", "admonition"}:
                stated = f"{file}#{box['id']}"
                continue
            if box.text.partition("(Of the theorem.)")[1]:
                stated = f"{file}#thm-lattice"
            for link in box.select("a.reference[href*='#']"):
                address = link["href"] if link["href"][0] != "#" else file + link["href"]
                if address in numbers:
                    named.setdefault(stated, {})[numbers[address]] = None
    for address, link in discs.items():
        listed = link.title.text.partition("; refers to ")[2]
        assert listed.split(", ") == [*named.get(address, [""])], address
        leaving = link.parent.select("path.leaves")
        assert len(leaving) == len(named.get(address, []))
    arrows = parse_page("proofs.html").select(".statement-map .arrows path")
    assert len(arrows) == sum(map(len, named.values()))


def test_the_counts_of_the_legend_add_up(discs):
    words = parse_page("proofs.html").select_one(".map-legend").text
    assert sum(map(int, re.findall(r"\((\d+)\)", words))) == len(discs)


@pytest.mark.parametrize("action", ["hover", "focus"])
def test_a_disc_shows_its_title_and_its_arrows(page, book, action):
    page.goto(f"{book}/book/proofs.html")
    set_appearance(page, 1400, "light")
    disc = page.locator(".statement-map a[href$='#thm-main']")
    arrows = page.locator(".statement-map path:is(.leaves, .arrives):visible")
    assert arrows.count() == 0
    if action == "hover":
        disc.locator("circle").hover()
    else:
        page.keyboard.press("Tab")  # from now on, focus is visible
        disc.focus()
    assert disc.locator(".title").is_visible()
    assert arrows.count() == disc.locator("xpath=..").locator("path:not(a path)").count() > 5
