"""Formulas hardly delay a page, even on a processor four times slower and a slow connection.

Seconds depend on the machine, so the tests measure a ratio within one run: a page, compared with
the same page without its formulas.
"""

import re

import pytest
from browser import BUILT, MINUTE, on_the_built_pages

pytestmark = on_the_built_pages

SLOW = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 90_000}
PAINTED = """new Promise((done) => new PerformanceObserver((list) =>
  setTimeout(() => done(list.getEntries().at(-1).startTime), 1000))
  .observe({type: 'largest-contentful-paint', buffered: true}))"""
FORMULA = re.compile(r"<mjx-container.*?</mjx-container>", re.S)
RATIO = 2  # the two times are nearly equal, but a busy machine may disturb one of them


def largest_paint(context, address, formulas=True):
    """Time the largest contentful paint, in ms: the best of three runs with an empty cache."""
    times = []
    for _ in range(3):
        with context.browser.new_context(viewport={"width": 390, "height": 844}) as phone:
            page = phone.new_page()
            connection = phone.new_cdp_session(page)
            connection.send("Network.enable")
            connection.send("Network.emulateNetworkConditions", SLOW)
            connection.send("Emulation.setCPUThrottlingRate", {"rate": 4})
            if not formulas:
                plain = lambda route: route.fulfill(body=FORMULA.sub("x", route.fetch().text()))  # noqa: E731
                page.route("**/book/*.html", plain)
            page.goto(address, wait_until="load", timeout=MINUTE)
            times.append(page.evaluate(PAINTED))
    return min(times)


@pytest.mark.parametrize("name", ["kkt", "reference"])
def test_formulas_do_not_double_the_time_to_paint_a_page_on_a_slow_phone(context, book, name):
    address = f"{book}/book/{name}.html"
    without_formulas = largest_paint(context, address, formulas=False)
    assert largest_paint(context, address) < RATIO * without_formulas


def test_formulas_are_in_the_page_before_any_script_runs():
    for path in sorted((BUILT / "book").glob("*.html")):
        text = path.read_text("utf-8")
        assert text.count('class="math notranslate') == text.count("<mjx-container"), path.name
        assert "MathJax.js" not in text


def test_exactly_the_fonts_of_formulas_are_published():
    """They are the fonts that glyphs on any page use, in a file or within the style sheet."""
    styles = (BUILT / "_static" / "formulas.css").read_text("utf-8")
    faces = dict(re.findall(r'MJX-STX-(\w+); src: url\("([^"]+)"\)', styles))
    used = {"N", "ZERO"}
    for path in (BUILT / "book").glob("*.html"):
        used |= {*re.findall(r'<mjx-c class="mjx-c\w+ STX-(\w+)"', path.read_text("utf-8"))}
    assert used == {*faces}
    files = {address for address in faces.values() if not address.startswith("data:")}
    assert files
    assert {(BUILT / "_static" / file).resolve() for file in files} == {
        *(BUILT / "mathjax" / "stix2").iterdir()
    }


def test_pages_load_neither_the_script_of_icons_nor_one_that_runs_cells():
    """The first has 1.5 MB, and the icon font has all icons of the pages."""
    assert (BUILT / "_static" / "scripts" / "fontawesome.js").stat().st_size < 200
    assert "thebe" not in (BUILT / "book" / "kkt.html").read_text("utf-8").lower()
