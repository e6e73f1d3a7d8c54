"""Elements that the Tab key reaches, and visible focus."""

import pytest
from browser import AXE, TYPESET, set_appearance

# The focused button, if it is in the header: its name, and whether the focus is visible.
FOCUSED = """() => {
  const node = document.activeElement;
  if (!node.closest(".bd-header-article")) return null;
  const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(node);
  const outlined = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  const name = node.getAttribute("aria-label") ?? node.textContent.trim();
  return [name, outlined || boxShadow !== "none"];
}"""
ENTER = """() => {
  const header = document.querySelector(".bd-header-article");
  header.tabIndex = -1;
  header.focus();
}"""


@pytest.mark.parametrize("width", [1400, 390], ids=["wide", "narrow"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_focus_is_visible_on_every_button_of_the_header(page, book, theme, width):
    page.goto(f"{book}/book/setup.html")
    set_appearance(page, width, theme)
    page.evaluate(ENTER)
    page.keyboard.press("Tab")
    is_visible = {}
    while focused := page.evaluate(FOCUSED):
        name, visible = focused
        is_visible[name] = visible
        page.keyboard.press("Tab")
    assert {"Toggle primary sidebar", "Download this page"} <= {*is_visible}
    assert [name for name, visible in is_visible.items() if not visible] == []


# Formulas that Tab reaches, and those that must be reached: by their position in the page.
PLACES = """[...document.querySelectorAll("div.math, span.math")].flatMap((formula, place) =>
  [formula, ...formula.querySelectorAll(":not(a)")].some((node) => %s) ? [place] : [])"""
STOPS = PLACES % "node.tabIndex === 0"
SCROLL = PLACES % (
    "getComputedStyle(node).overflowX === 'auto' && node.scrollWidth > node.clientWidth"
)
UNREAD = """[...document.querySelectorAll("mjx-container")]
  .filter((formula) => !formula.querySelector("mjx-assistive-mml math")).length"""
NAMELESS = """[...document.querySelectorAll(".math [tabindex='0']")]
  .filter((formula) => !(formula.role && formula.ariaLabel)).length"""


@pytest.mark.parametrize("name", ["setup", "optimum"])
def test_only_formulas_that_scroll_are_tab_stops(page, book, name):
    """On a wide screen none scrolls; on a phone some do on the page optimum, but none on setup."""
    page.goto(f"{book}/book/{name}.html")
    page.wait_for_function(TYPESET)
    assert page.evaluate(STOPS) == page.evaluate(SCROLL) == []
    set_appearance(page, 390, "light")
    page.wait_for_function(f"{STOPS}.length === {SCROLL}.length")
    assert page.evaluate(STOPS) == page.evaluate(SCROLL)
    assert bool(page.evaluate(SCROLL)) == (name == "optimum")
    assert page.evaluate(NAMELESS) == 0
    set_appearance(page, 1400, "light")
    page.wait_for_function(f"{STOPS}.length === 0")
    assert page.evaluate(UNREAD) == 0


def test_a_formula_that_scrolls_has_no_fault_for_axe(page, book):
    page.goto(f"{book}/book/optimum.html")
    page.wait_for_function(TYPESET)
    set_appearance(page, 390, "light")
    page.wait_for_function(f"{STOPS}.length > 0")
    page.evaluate(AXE.read_text() + "; 0")
    faults = "axe.run('.math').then(({violations}) => violations.map(({id}) => id))"
    assert page.evaluate(faults) == []


@pytest.mark.parametrize("panel", ["primary", "secondary"])
def test_focus_returns_to_the_button_of_a_closed_panel(page, book, panel):
    page.goto(f"{book}/book/setup.html")
    set_appearance(page, 390, "light")
    button = page.locator(f"button.{panel}-toggle")
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#pst-{panel}-sidebar-modal[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector(f"#pst-{panel}-sidebar-modal:not([open])", state="attached")
    assert button.evaluate("(node) => node === document.activeElement")
