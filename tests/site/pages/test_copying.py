"""Formulas are text: they are copied as TeX, and found by a search within the page."""

import pytest
from browser import TYPESET, on_the_built_pages

pytestmark = on_the_built_pages

# What the page's own handler puts on the clipboard; empty if it leaves copying to the browser.
COPIED_BY_PAGE = """(node) => new Promise((done) => {
  getSelection().selectAllChildren(node);
  const read = ({clipboardData}) => done(clipboardData.getData("text/plain"));
  document.addEventListener("copy", read, {once: true});
  document.execCommand("copy");
})"""


@pytest.fixture
def formula_page(page, book):
    page.goto(f"{book}/book/setup.html")
    page.wait_for_function(TYPESET)
    return page


def test_a_paragraph_is_copied_with_the_tex_of_its_formulas(formula_page):
    paragraph = formula_page.locator("article p", has_text="In general there are")
    text = paragraph.evaluate(COPIED_BY_PAGE)
    assert r"In general there are $L$ users. User $\ell$ holds $m_\ell$ samples" in text
    formula_page.keyboard.press("Escape")
    formula = paragraph.locator(".math").nth(2)
    assert formula.evaluate(COPIED_BY_PAGE) == r"$m_\ell$"


def test_a_displayed_formula_is_copied_on_a_line_of_its_own(formula_page):
    section = formula_page.locator("section:has(> div.math)").first
    tex = section.locator("> div.math").first.get_attribute("data-tex")
    assert f"\n$${tex}$$\n" in section.evaluate(COPIED_BY_PAGE)


def test_text_without_formulas_is_copied_by_the_browser(formula_page):
    plain = formula_page.locator("article p:not(:has(.math))").first
    assert plain.evaluate(COPIED_BY_PAGE) == ""


@pytest.mark.parametrize("words", ["L = 3", "N = 7"])
def test_a_search_within_the_page_finds_a_formula(formula_page, words):
    assert formula_page.evaluate("(words) => window.find(words)", words)
    selection_is_in_formula = (
        "getSelection().anchorNode.parentElement.closest('.searchable') !== null"
    )
    assert formula_page.evaluate(selection_is_in_formula)


def test_the_copy_button_leaves_out_prompts_and_outputs(page, book):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{book}/book/reference.html")
    example = page.locator("div.highlight", has_text=">>> ").first
    shown = example.locator("pre").text_content().splitlines()
    example.hover()
    example.locator("button.copybtn").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    code = [line[4:] for line in shown if line.startswith((">>> ", "... "))]
    assert copied.strip().splitlines() == code
    assert len(code) < len(shown)  # the example has outputs, which are left out
