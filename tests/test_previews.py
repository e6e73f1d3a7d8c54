"""Previews of what links lead to: each kind, from the mouse and from the keyboard, in a browser."""

import gzip

import pytest
from browser import AXE, BUILT, ROOT, in_a_browser, on_the_built_pages

SCRIPT = ROOT / "book" / "_static" / "previews.js"

BOX = "document.querySelector('#preview')"
OPEN = f"{BOX}.classList.contains('open')"
SHUT = f"{BOX}.hidden"
LINK = "document.querySelector('.bd-article a.reference[href=\"%s\"]')"
PAUSE = "new Promise((done) => setTimeout(done, 500))"

# A link of each kind: the page it is on, its address there, and words of what it leads to.
KINDS = {
    "a statement": ("figure-2", "akmv.html#thm-akmv-exact", "Theorem 5.2"),
    "a statement of the page": ("figure-2", "#lem-noisy-error", "Lemma 8.1"),
    "an equation": ("felt-error", "setup.html#equation-eq-worst-case-error", "(1.4)"),
    "a figure of the page": ("figure-2", "#fig-2", "Fig. 8.1"),
    "a source": ("figure-2", "bibliography.html#id3", "Kareem Amin"),
    "a function": (
        "figure-2",
        "reference.html#userdp.optimal_error",
        "Return the smallest worst-case error",
    ),
    "code of a function": (
        "reference",
        "../code/userdp/worstcase.html#threshold",
        "users.upper * (int(_largest_counts",
    ),
    "a test": (
        "claims",
        "../code/tests/test_worstcase.html#test_threshold_by_hand",
        "def test_threshold_by_hand(",
    ),
}


def visit(page, address):
    page.open(address)
    page.resize(1400)
    page.wait_for("MathJax.startup.promise.then(() => true)")


def middle(page, element):
    scroll = "scrollIntoView({block: 'center', behavior: 'instant'})"  # codespell:ignore behavior
    page.run(f"{element}.{scroll}")
    box = page.run(
        f"(({{x, y, width, height}}) => [x, y, width, height])({element}.getClientRects()[0])"
    )
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def hover(page, link):
    page.point(1, 1)
    page.point(*middle(page, link))


def show(page, link):
    """Point at a link until its preview is open: late pictures may move it from under the mouse."""
    for _ in range(10):
        hover(page, link)
        page.run(PAUSE)
        if page.run(OPEN):
            return
    raise AssertionError("no preview")


def test_the_script_is_small():
    assert len(gzip.compress(SCRIPT.read_bytes())) < 6000


@in_a_browser
@on_the_built_pages
@pytest.mark.parametrize("kind", KINDS)
def test_pointing_shows_what_a_link_leads_to(page, book, kind):
    name, address, words = KINDS[kind]
    visit(page, f"{book}/book/{name}.html")
    show(page, LINK % address)
    assert words in page.run(f"{BOX}.innerText")
    assert "\\(" not in page.run(f"{BOX}.textContent")
    assert page.run(f"{BOX}.querySelectorAll('mjx-merror, [id], [href], [tabindex]').length") == 0
    images = page.run(f"[...{BOX}.querySelectorAll('img')].map((image) => image.naturalWidth)")
    assert all(images)
    left, right, top, bottom = page.run(
        f"(({{left, right, top, bottom}}) => [left, right, top, bottom])"
        f"({BOX}.getBoundingClientRect())"
    )
    assert left >= 0
    assert right <= 1400
    assert top >= 0
    assert bottom <= 900
    assert page.errors == []


@in_a_browser
@on_the_built_pages
def test_a_preview_stays_under_the_mouse_and_leaves_with_it(page, book):
    visit(page, f"{book}/book/figure-2.html")
    show(page, LINK % "akmv.html#thm-akmv-exact")
    page.point(*page.run(f"(({{x, y}}) => [x + 20, y + 20])({BOX}.getBoundingClientRect())"))
    page.run(PAUSE)
    assert page.run(OPEN)
    page.point(1, 1)
    page.wait_for(SHUT)


@in_a_browser
@on_the_built_pages
def test_tab_opens_and_escape_closes(page, book):
    visit(page, f"{book}/book/figure-2.html")
    page.press("Tab")
    page.run(f"{LINK % 'akmv.html#thm-akmv-exact'}.focus()")
    page.wait_for(OPEN)
    described = "document.activeElement.getAttribute('aria-describedby')"
    assert page.run(described) == "preview"
    page.run(AXE.read_text() + "; 0")
    assert page.run("axe.run().then(({violations}) => violations.map(({id}) => id))") == []
    page.press("Escape")
    assert page.run(SHUT)
    assert page.run(described) is None


@in_a_browser
@on_the_built_pages
def test_without_a_server_only_the_page_itself_is_previewed(page):
    visit(page, (BUILT / "book" / "figure-2.html").as_uri())
    show(page, LINK % "#fig-2")
    hover(page, LINK % "akmv.html#thm-akmv-exact")
    page.run(PAUSE)
    assert page.run(SHUT)
    assert page.errors == []


@in_a_browser
@on_the_built_pages
def test_other_links_have_no_preview(page, book):
    visit(page, f"{book}/book/figure-2.html")
    hover(page, "document.querySelector('.prev-next-area a')")
    page.run(PAUSE)
    assert page.run(SHUT)
