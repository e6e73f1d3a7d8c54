"""The built book in a browser: every page, on a wide screen and on a phone, light and dark."""

import base64
import gzip
import io
import re
from functools import cache
from urllib.parse import urlsplit

import pytest
from browser import (
    AXE,
    BUILT,
    CHAPTERS,
    PAGES,
    TYPESET,
    UNFOLD,
    every_chapter,
    every_page,
    set_appearance,
)
from bs4 import BeautifulSoup
from matplotlib.colors import to_hex
from PIL import Image
from plotting import LOOKS as MECHANISMS

from tools.ext.contents import BOOK

# Every page is tested in both widths and both themes; the combination alternates between pages.
LOOKS = [[(1400, "light"), (390, "dark")], [(1400, "dark"), (390, "light")]]

# Rules of axe that depend on colours or on the width; the others are checked only once.
BY_LOOK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]

VIOLATIONS = """axe.run(document, {resultTypes: ['violations'], %s}).then(({violations}) =>
  violations.flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html.slice(0, 300)}`)))"""
# Transitions have ended, and the theme has set tab stops, which it does 300 ms after a change.
SETTLED = """Promise.all([
  ...document.getAnimations().map(({finished}) => finished.catch(() => {})),
  new Promise((done) => setTimeout(done, 400)),
])"""
# Remove glyphs of formulas, and words of code beyond the first of each colour. They are most of the
# elements of a page, and slow axe down without adding information. Keep the text of formulas for
# screen readers, because axe reports column heads without text.
LIGHTEN = """{
  const seen = new Set();
  for (const node of document.querySelectorAll('mjx-container > *, pre span')) {
    if (node.matches('mjx-assistive-mml')) node.replaceChildren(node.textContent);
    else if (!node.closest('pre') || seen.has(node.className)) node.remove();
    seen.add(node.className);
  }
}"""
# Elements that are cut off, or that scroll but cannot be reached with the keyboard. Text for screen
# readers and for searches is hidden on purpose.
HIDDEN = """[...document.querySelectorAll('.bd-article *, footer *')].filter((node) =>
    node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 1 && node.checkVisibility() &&
    !node.closest('mjx-assistive-mml, .searchable, .visually-hidden'))
  .flatMap((node) => {
    const {overflowX} = getComputedStyle(node);
    const reached = node.tabIndex >= 0 || node.querySelector('a[href], button');
    const wide = !node.matches('span.math') || node.firstChild.offsetWidth > node.clientWidth + 1;
    const closed = ['hidden', 'clip'].includes(overflowX);
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
}).map((formula) => `punctuation is on the next line: ${formula.textContent}`)"""
HIGH = """[...document.querySelectorAll('.toggle-hidden > .admonition-title')].filter((title) =>
    title.checkVisibility() && title.parentElement.offsetHeight > title.offsetHeight + 2)
  .map((title) => `a closed box is taller than its title: ${title.textContent}`)"""
# Faults that neither axe nor the browser reports.
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
MAX_BYTES, MAX_REQUESTS, MAX_SHIFT = (
    700 * 1024,
    42,
    0.02,
)  # bytes as sent, requests, share of the window


def parse_page(name):
    return BeautifulSoup((BUILT / f"{name}.html").read_text("utf-8"), "html.parser")


@cache
def compressed_size(path):
    return len(gzip.compress((BUILT / path).read_bytes(), 6))


def serve_as_if_published(route):
    """Serve a page that names its published address as if it were published here."""
    response = route.fetch()
    body = re.sub('<base href="[^"]*">', '<base href="/">', response.text())
    route.fulfill(body=body, response=response)


@every_page
def test_page_has_no_fault(page, book, errors, requests, name):
    """Visit a page once, check it in several windows and themes, and report all faults."""
    if name == "404":
        page.route("**/404.html", serve_as_if_published)
    problems = []
    for width in (390, 1400):
        n_requests = len(requests)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{book}/{name}.html")
        page.wait_for_function(TYPESET)
        requested = [
            urlsplit(url).path.lstrip("/") for url in requests[n_requests:] if url.startswith(book)
        ]
        if (weight := sum(map(compressed_size, requested))) > MAX_BYTES or len(
            requested
        ) > MAX_REQUESTS:
            problems.append(
                f"{weight} bytes in {len(requested)} requests at {width} pixels: {requested}"
            )
        if page.evaluate(SHIFT) > MAX_SHIFT:  # perhaps the fonts loaded late; now they are cached
            page.goto(f"{book}/{name}.html")
            page.wait_for_function(TYPESET)
            if (shift := page.evaluate(SHIFT)) > MAX_SHIFT:
                problems.append(f"moves by {shift} at {width} pixels")
    problems += page.evaluate(HIGH)
    page.evaluate(UNFOLD)
    problems += page.evaluate(FAULTS)
    looks = LOOKS[PAGES.index(name) % 2]
    for width, theme in looks:
        set_appearance(page, width, theme)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            problems.append(f"scrolls sideways at {width} pixels")
        faults = page.evaluate(HIDDEN) + page.evaluate(STRANDED)
        problems += [f"{width}: {fault}" for fault in faults]
    page.evaluate(LIGHTEN)
    page.evaluate(AXE.read_text() + "; 0")
    rules = ""
    for width, theme in looks:
        set_appearance(page, width, theme)
        page.evaluate(f"{SETTLED}.then(() => 0)")
        problems += [f"{width}, {theme}: {fault}" for fault in page.evaluate(VIOLATIONS % rules)]
        rules = f"runOnly: {BY_LOOK}"
    external = [url for url in requests if not url.startswith((book, "data:"))]
    assert problems + errors + external == []


@every_chapter
def test_nothing_is_cut_off_on_a_small_screen_or_with_large_text(page, book, name):
    """At 320 pixels (1280 pixels at a zoom of 400 %), and with text of twice the size."""
    page.goto(f"{book}/{name}.html")
    page.wait_for_function(TYPESET)
    page.evaluate(UNFOLD)
    for width, size in ((320, "100%"), (1280, "200%"), (390, "200%")):
        page.add_style_tag(content=f"html {{ font-size: {size} !important }}")
        set_appearance(page, width, "light")
        page.evaluate(SETTLED)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(HIDDEN) == []


@every_chapter
def test_pictures_that_cells_draw_are_vector_graphics(name):
    """In the build of `make book`; `make preview` makes bitmaps."""
    sources = [
        image["src"] for image in parse_page(name).select(".bd-article img[src*='_images/']")
    ]
    assert [source for source in sources if not source.endswith(".svg")] == []


# How far the colours of each box's edge and title background are from grey.
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
def test_statements_that_are_wrong_as_printed_are_grey_and_all_others_coloured(page, book, theme):
    page.goto(f"{book}/book/lemma.html")
    set_appearance(page, 1400, theme)
    grey = {title: tint < 30 for title, tint in page.evaluate(TINTS)}
    wrong = {title: "(wrong)" in title for title in grey}
    assert grey == wrong
    assert {*wrong.values()} == {True, False}


def test_every_statement_titled_wrong_has_the_class_printed():
    """This class makes a statement grey, which the test above checks in the browser."""
    boxes = [box for name in CHAPTERS for box in parse_page(name).select(".proof.admonition")]
    wrong = [box for box in boxes if "(wrong)" in box.select_one(".admonition-title, p").text]
    assert wrong
    assert [box["id"] for box in wrong if "printed" not in box["class"]] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_hovered_link_has_enough_contrast(page, book, theme):
    page.goto(f"{book}/book/index.html")
    set_appearance(page, 1400, theme)
    page.evaluate(AXE.read_text() + "; 0")
    for link in ("nav.bd-links a.reference", ".bd-article p a.reference"):
        page.locator(link).first.hover()
        assert page.evaluate(VIOLATIONS % f"runOnly: {BY_LOOK}") == []


@pytest.mark.parametrize("name", ["kkt", "index"])  # index draws one without a caption
@pytest.mark.parametrize(("theme", "least", "most"), [("light", 250, 255), ("dark", 0, 40)])
def test_a_figure_has_the_background_of_its_page(page, book, theme, least, most, name):
    page.goto(f"{book}/book/{name}.html")
    set_appearance(page, 1400, theme)
    image = page.locator(":is(figure, div.cell_output) img:visible").first
    image.scroll_into_view_if_needed()
    image.evaluate("(image) => image.decode()")  # images load when they are scrolled into view
    screenshot = Image.open(io.BytesIO(image.screenshot())).convert("L")
    assert least <= screenshot.getpixel((3, 3)) <= most


def test_without_scripts_code_is_on_a_light_background(browser, book):
    """Also if the system is dark: the theme is then light."""
    with browser.new_page(java_script_enabled=False, color_scheme="dark") as plain:
        plain.goto(f"{book}/book/decide.html")
        code = plain.locator("div.cell_input div.highlight:visible").first
        code.scroll_into_view_if_needed()
        screenshot = Image.open(io.BytesIO(code.screenshot())).convert("L")
        assert screenshot.getpixel((3, 3)) > 230


@pytest.mark.parametrize(("theme", "least"), [("light", 2.3), ("dark", 4.5)])
def test_every_colour_of_a_mechanism_has_enough_contrast_to_its_background(page, theme, least):
    """Contrast to the colour that replaces white, by the Web Content Accessibility Guidelines."""
    colours = ["white", *(to_hex(mechanism["color"]) for mechanism in MECHANISMS.values())]
    stripes = Image.new("RGB", (20 * len(colours), 20))
    for i, colour in enumerate(colours):
        stripes.paste(colour, (20 * i, 0, 20 * i + 20, 20))
    file = io.BytesIO()
    stripes.save(file, "PNG")
    source = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    style = (BOOK / "_static" / "custom.css").read_text()
    figure = f"<div class=bd-content><figure><img src={source}></figure></div>"
    page.set_content(f"<html data-theme={theme}><style>{style}</style>{figure}")
    screenshot = Image.open(io.BytesIO(page.locator("img").screenshot())).convert("RGB")
    ground, *luminances = (
        luminance(screenshot.getpixel((20 * i + 10, 10))) for i in range(len(colours))
    )
    for name, light in zip(MECHANISMS, luminances, strict=True):
        darker, lighter = sorted([ground, light])
        assert (lighter + 0.05) / (darker + 0.05) >= least, name


def luminance(colour):
    """Relative luminance of an sRGB colour, from 0 to 1."""
    parts = [part / 255 for part in colour]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(weight * x for weight, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
