"""What the Tab key reaches, and that one sees where it is."""

import pytest
from browser import AXE, TYPESET, look

# Where the focus is, if it is in the header: the button's name, and whether it can be seen.
FOCUSED = """() => {
  const node = document.activeElement;
  if (!node.closest(".bd-header-article")) return null;
  const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(node);
  const outlined = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  return [node.getAttribute("aria-label") ?? node.textContent.trim(), outlined || boxShadow !== "none"];
}"""
ENTER = """() => {
  const header = document.querySelector(".bd-header-article");
  header.tabIndex = -1;
  header.focus();
}"""


@pytest.mark.parametrize("width", [1400, 390], ids=["wide", "narrow"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_button_of_the_header_shows_that_it_has_the_focus(page, book, theme, width):
    page.goto(f"{book}/book/setup.html")
    look(page, width, theme)
    page.evaluate(ENTER)
    page.keyboard.press("Tab")
    shown = {}
    while focused := page.evaluate(FOCUSED):
        name, seen = focused
        shown[name] = seen
        page.keyboard.press("Tab")
    assert {"Toggle primary sidebar", "Download this page"} <= {*shown}
    assert [name for name, seen in shown.items() if not seen] == []


# Formulas that Tab reaches, and those that need it: each by its place in the page.
STOPS = """[...document.querySelectorAll("div.math, span.math")].flatMap((formula, place) =>
  [formula, ...formula.querySelectorAll("[tabindex]:not(a)")].some((node) => node.tabIndex === 0)
    ? [place] : [])"""
SCROLL = """[...document.querySelectorAll("div.math, span.math")].flatMap((formula, place) =>
  getComputedStyle(formula).overflowX === "auto" && formula.scrollWidth > formula.clientWidth
    ? [place] : [])"""
UNREAD = """[...document.querySelectorAll("mjx-container")]
  .filter((formula) => !formula.querySelector("mjx-assistive-mml math")).length"""
NAMELESS = """[...document.querySelectorAll("div.math[tabindex]")]
  .filter((formula) => !(formula.role && formula.ariaLabel)).length"""
AXES = "axe.run('div.math').then(({violations}) => violations.map(({id}) => id))"


def test_formulas_are_no_tab_stops_unless_they_scroll(page, book):
    page.goto(f"{book}/book/setup.html")
    page.wait_for_function(TYPESET)
    assert page.evaluate(STOPS) == page.evaluate(SCROLL) == []
    look(page, 390, "light")
    page.wait_for_function(f"{STOPS}.length > 0")
    assert page.evaluate(STOPS) == page.evaluate(SCROLL)
    assert page.evaluate(NAMELESS) == 0
    page.evaluate(AXE.read_text() + "; 0")
    assert page.evaluate(AXES) == []
    look(page, 1400, "light")
    page.wait_for_function(f"{STOPS}.length === 0")
    assert page.evaluate(UNREAD) == 0
