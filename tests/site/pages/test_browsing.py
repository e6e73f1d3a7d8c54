"""What a browser does apart from showing a page: it stores settings, and returns to a place."""

import pytest
from browser import TYPESET, on_the_built_pages

pytestmark = on_the_built_pages

REFUSED = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("refused", "SecurityError"); },
  configurable: true,
})"""


def test_the_theme_can_be_changed_where_storage_is_refused(page, book, errors):
    page.add_init_script(REFUSED)
    page.goto(f"{book}/book/setup.html")
    before = page.evaluate("document.documentElement.dataset.mode")
    page.locator(".theme-switch-button:visible").first.click()
    assert page.evaluate("document.documentElement.dataset.mode") != before
    assert errors == []


@pytest.mark.parametrize("name", ["claims", "reference"])
def test_a_long_page_keeps_its_place_when_it_is_reloaded(page, book, name):
    page.goto(f"{book}/book/{name}.html")
    page.wait_for_function(TYPESET)
    page.mouse.wheel(0, 15_000)
    page.wait_for_function("scrollY > 14_000")
    middle = "document.elementFromPoint(innerWidth / 2, innerHeight / 2).textContent.slice(0, 80)"
    before = page.evaluate(f"[scrollY, {middle}]")
    page.reload()
    page.wait_for_function(TYPESET)
    page.wait_for_function("scrollY > 14_000")
    assert page.evaluate(f"[scrollY, {middle}]") == before
