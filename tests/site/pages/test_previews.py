"""Previews of link targets of each kind, opened with the mouse and with the keyboard."""

import pytest
from browser import AXE, BUILT, TYPESET
from playwright.sync_api import expect

# Timers fire in order, so timers of 250 ms that the mouse started before have fired.
DELAYED = "new Promise((done) => setTimeout(done, 250))"

KINDS = {
    "a statement": ("figure-2", "akmv-exact.html#thm-akmv-exact", "Theorem 12.1"),
    "a statement of the page": ("figure-2", "#lem-noisy-error", "Lemma 9.1"),
    "an equation": ("felt-error", "setup.html#equation-eq-worst-case-error", "(1.4)"),
    "a figure of the page": ("figure-2", "#fig-2", "Fig. 9.1"),
    "a source": ("figure-2", "bibliography.html#id3", "Kareem Amin"),
    "a function": ("figure-2", "reference.html#userdp.optimal_error", "Return the smallest worst"),
    "code of a function": ("reference", "worstcase.html#threshold", "def threshold("),
    "a test": (
        "frontier",
        "#test_bias_and_sensitivity_of_strategies_agree_with_their_definitions",
        "def test_bias_and_sensitivity_of_strategies_agree_with_their_definitions(",
    ),
}


@pytest.fixture(scope="module")
def page(context):
    """One tab for all tests, because loading a chapter takes longer than each test."""
    with context.new_page() as page:
        yield page


def visit(page, address):
    """Go to a page, with no preview open and no focus."""
    if page.url.partition("#")[0] != address:
        page.goto(address)
        page.wait_for_function(TYPESET)
    page.mouse.move(1, 1)
    page.evaluate("document.activeElement.blur()")
    expect(page.locator("#preview.open")).to_have_count(0)


def link(page, address):
    return page.locator(f'.bd-article a.reference[href$="{address}"]:visible').first


def open_preview(page, target=None):
    """Hover over a link, if given, and return the open preview."""
    if target:
        page.mouse.move(1, 1)
        target.hover()
    box = page.locator("#preview")
    expect(box).to_have_class("open")
    return box


@pytest.mark.parametrize("kind", KINDS)
def test_hovering_shows_the_target_of_a_link(page, book, errors, kind):
    name, address, words = KINDS[kind]
    visit(page, f"{book}/book/{name}.html")
    box = open_preview(page, link(page, address))
    assert words in box.inner_text()
    assert "\\(" not in box.text_content()
    images = box.locator("img").evaluate_all("(all) => all.map((image) => image.naturalWidth)")
    assert all(images)
    bounds = box.bounding_box()
    assert 0 <= bounds["x"] <= 1400 - bounds["width"]
    assert 0 <= bounds["y"] <= 900 - bounds["height"]
    # The theme makes scrolling elements tab stops, 300 ms after a change.
    page.evaluate(f"{DELAYED}.then(() => {DELAYED})")
    assert box.locator("mjx-merror, [id], [href], [tabindex]").count() == 0
    assert errors == []


def test_a_preview_stays_open_under_the_mouse_and_closes_without_it(page, book):
    visit(page, f"{book}/book/figure-2.html")
    open_preview(page, link(page, "akmv-exact.html#thm-akmv-exact")).hover()
    page.evaluate(DELAYED)
    open_preview(page)
    page.mouse.move(1, 1)
    expect(page.locator("#preview")).to_be_hidden()


def test_focus_opens_a_preview_and_escape_closes_it(page, book):
    visit(page, f"{book}/book/figure-2.html")
    page.keyboard.press("Tab")
    focused = link(page, "akmv-exact.html#thm-akmv-exact")
    focused.focus()
    box = open_preview(page)
    expect(focused).to_have_attribute("aria-describedby", "preview")
    page.mouse.move(100, 500)
    page.mouse.move(1, 1)
    page.evaluate(f"{DELAYED}.then(() => {DELAYED})")
    assert open_preview(page).is_visible()
    page.evaluate(AXE.read_text() + "; 0")
    faults = "axe.run('#preview').then(({violations}) => violations.map(({id}) => id))"
    assert page.evaluate(faults) == []
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    assert focused.get_attribute("aria-describedby") is None


def test_other_links_have_no_preview_and_without_a_server_only_links_within_a_page_have_one(
    page, book, errors, requests
):
    address = (BUILT / "book" / "figure-2.html").as_uri()
    visit(page, address)
    open_preview(page, link(page, "#fig-2"))
    page.mouse.move(1, 1)
    link(page, "akmv-exact.html#thm-akmv-exact").hover()
    page.evaluate(DELAYED)
    expect(page.locator("#preview")).to_be_hidden()
    visit(page, f"{book}/book/figure-2.html")
    n_requests = len(requests)
    page.locator(".prev-next-area a").first.hover()
    page.evaluate(DELAYED)
    expect(page.locator("#preview")).to_be_hidden()
    # The browser may request the icon at any time.
    assert [url for url in requests[n_requests:] if "favicon" not in url] == []
    assert errors == []
