"""The built book in a browser: every page, on a wide screen and on a phone, light and dark."""

import gzip
import io
import re
from functools import cache
from urllib.parse import urlsplit

import pytest
from browser import AXE, BUILT, CHAPTERS, PAGES, TYPESET, UNFOLD, every_page, look
from bs4 import BeautifulSoup
from PIL import Image

# Every page in both widths and both themes; wide and dark, narrow and light on every second one.
LOOKS = [[(1400, "light"), (390, "dark")], [(1400, "dark"), (390, "light")]]

# Rules whose verdict depends on colours or on the width; the others need to be asked only once.
BY_LOOK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]

VIOLATIONS = """axe.run(document, {resultTypes: ['violations'], %s}).then(({violations}) =>
  violations.flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html.slice(0, 300)}`)))"""
# Colours that fade are at their ends, and the theme has seen to tab stops: 300 ms after a change.
SETTLED = """Promise.all([
  ...document.getAnimations().map(({finished}) => finished.catch(() => {})),
  new Promise((done) => setTimeout(done, 400)),
])"""
# The drawing of formulas, and words of code beyond the first of each colour: most of a page's
# elements, and nothing new to axe, which takes its time over each of them. What a screen reader is
# told of a formula stays, as its text: to axe, the head of a column without text is a fault.
LIGHTEN = """{
  const seen = new Set();
  for (const node of document.querySelectorAll('mjx-container > *, pre span')) {
    if (node.matches('mjx-assistive-mml')) node.replaceChildren(node.textContent);
    else if (!node.closest('pre') || seen.has(node.className)) node.remove();
    seen.add(node.className);
  }
}"""
HIDDEN = """[...document.querySelectorAll('.bd-article *')].filter((node) =>
    node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 1 && node.checkVisibility())
  .flatMap((node) => {
    const {overflowX} = getComputedStyle(node);
    const reached = node.tabIndex >= 0 || node.querySelector('a[href], button');
    const wide = !node.matches('span.math') || node.firstChild.offsetWidth > node.clientWidth + 1;
    const closed = overflowX === 'hidden' && node.matches('.admonition, .sd-card, span.math');
    const fault = closed && wide ? 'is cut off'
      : overflowX === 'auto' && !reached ? 'scrolls, but not from the keyboard' : '';
    return fault ? [`${fault}: ${node.outerHTML.slice(0, 200)}`] : [];
  })"""
STRANDED = r"""[...document.querySelectorAll('.bd-article span.math')].filter((formula) => {
  const mark = document.createRange(), after = formula.nextSibling;
  if (!/^[.,;:!?)]/.test(after?.data)) return false;
  mark.setStart(after, 0);
  mark.setEnd(after, 1);
  const {left, width} = mark.getBoundingClientRect();
  return width && left < formula.getBoundingClientRect().right - 2;
}).map((formula) => `a mark stands on the next line: ${formula.textContent}`)"""
# What neither axe nor the browser complains of.
FAULTS = """(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const raw = all('.bd-article .math').filter((node) => !node.querySelector('mjx-container'));
  const shown = all('main h1').filter((node) => node.checkVisibility());
  return [
    ...all('mjx-merror, mjx-mtext[style*="color: red"]')  // in red: an unknown command
      .map((node) => `TeX error: ${node.closest('.bd-article > *, p').textContent}`),
    ...all('i[class*="fa-"]').filter((i) => getComputedStyle(i, '::before').content === 'none')
      .map((i) => `icon not drawn: ${i.className}`),
    ...raw.map((node) => `formula not typeset: ${node.textContent}`),
    ...(shown.length === 1 ? [] : ['not one h1']),
  ];
})()"""

SHIFT = """document.fonts.ready.then(() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({value}) => (sum += value)))
    .observe({type: 'layout-shift', buffered: true});
  setTimeout(() => done(sum), 200);
}))"""
HEAVIEST, MOST, FURTHEST = 700 * 1024, 42, 0.02  # bytes as sent, requests, share of the window


def parsed(name):
    return BeautifulSoup((BUILT / f"{name}.html").read_text("utf-8"), "html.parser")


@cache
def sent(path):
    return len(gzip.compress((BUILT / path).read_bytes(), 6))


def at_home(route):
    """Serve the page that names where it will be published as if that were here."""
    answer = route.fetch()
    body = re.sub('<base href="[^"]*">', '<base href="/">', answer.text())
    route.fulfill(body=body, response=answer)


@every_page
def test_page_has_no_fault(page, book, errors, requests, name):
    """Visit a page once, look at it in every way, and say all that is wrong with it."""
    if name == "404":
        page.route("**/404.html", at_home)
    found = []
    for width in (390, 1400):
        known = len(requests)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{book}/{name}.html")
        page.wait_for_function(TYPESET)
        if (shift := page.evaluate(SHIFT)) > FURTHEST:
            found.append(f"moves by {shift} at {width} pixels")
        asked = [urlsplit(url).path.lstrip("/") for url in requests[known:] if url.startswith(book)]
        if (weight := sum(map(sent, asked))) > HEAVIEST or len(asked) > MOST:
            found.append(f"{weight} bytes in {len(asked)} requests at {width} pixels: {asked}")
    page.evaluate(UNFOLD)
    page.add_style_tag(content="* { content-visibility: visible !important }")  # also below
    found += page.evaluate(FAULTS)
    looks = LOOKS[PAGES.index(name) % 2]
    for width, theme in looks:
        look(page, width, theme)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"scrolls sideways at {width} pixels")
        faults = page.evaluate(HIDDEN) + page.evaluate(STRANDED)
        found += [f"{width}: {fault}" for fault in faults]
    page.evaluate(LIGHTEN)
    page.evaluate(AXE.read_text() + "; 0")
    rules = ""
    for width, theme in looks:
        look(page, width, theme)
        page.evaluate(f"{SETTLED}.then(() => 0)")
        found += [f"{width}, {theme}: {fault}" for fault in page.evaluate(VIOLATIONS % rules)]
        rules = f"runOnly: {BY_LOOK}"
    abroad = [url for url in requests if not url.startswith((book, "data:"))]
    assert found + errors + abroad == []


# How far each box's colours, of its edge and behind its title, are from a grey.
TINTS = """[...document.querySelectorAll(".proof > .admonition-title")].map((title) => {
  const box = title.parentElement;
  const colours = [getComputedStyle(box).borderLeftColor, getComputedStyle(title).backgroundColor];
  const tint = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map(Number);
    return Math.max(red, green, blue) - Math.min(red, green, blue);
  };
  return [title.textContent, Math.max(...colours.map(tint))];
})"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_statement_that_is_wrong_as_printed_is_grey_and_all_others_have_a_colour(
    page, book, theme
):
    page.goto(f"{book}/book/lemma.html")
    look(page, 1400, theme)
    grey = {title: tint < 30 for title, tint in page.evaluate(TINTS)}
    wrong = {title: "(wrong)" in title for title in grey}
    assert grey == wrong
    assert {*wrong.values()} == {True, False}


def test_every_statement_that_is_called_wrong_is_marked_as_one():
    """So that it is grey: on the page of its chapter, the class; in the browser, see above."""
    boxes = [box for name in CHAPTERS for box in parsed(name).select(".proof.admonition")]
    wrong = [box for box in boxes if "(wrong)" in box.select_one(".admonition-title, p").text]
    assert wrong
    assert [box["id"] for box in wrong if "printed" not in box["class"]] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_link_under_the_mouse_can_be_read(page, book, theme):
    page.goto(f"{book}/book/index.html")
    look(page, 1400, theme)
    page.evaluate(AXE.read_text() + "; 0")
    for link in ("nav.bd-links a.reference", ".bd-article p a.reference"):
        page.locator(link).first.hover()
        assert page.evaluate(VIOLATIONS % f"runOnly: {BY_LOOK}") == []


@pytest.mark.parametrize(("theme", "least", "most"), [("light", 250, 255), ("dark", 0, 40)])
def test_a_figure_has_the_ground_of_its_page(page, book, theme, least, most):
    page.goto(f"{book}/book/kkt.html")
    look(page, 1400, theme)
    seen = Image.open(io.BytesIO(page.locator("figure img").first.screenshot())).convert("L")
    assert least <= seen.getpixel((3, 3)) <= most
