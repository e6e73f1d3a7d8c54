"""The built book in a browser: every page, on a wide screen and on a phone, light and dark."""

import itertools
import os
import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from queue import Queue
from urllib.parse import unquote, urlsplit

import citing
import pytest
import yaml
from browser import AXE, BUILT, ROOT, Page, in_a_browser, on_the_built_pages
from pybtex.database import parse_string

import userdp

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
TITLE = yaml.safe_load((ROOT / "_config.yml").read_text())["title"]
CHAPTERS = [TOC["root"], *(c["file"] for part in TOC["parts"] for c in part["chapters"])]
# Pages of code are all made alike: here are two, which between them have words in every colour.
CODE = ["code/userdp/worstcase", "code/tests/test_publishing"]
OTHERS = ["404", "genindex", "prf-prf", "search", *CODE]
WIDTHS = [1400, 390]
THEMES = ["light", "dark"]

# Rules whose verdict depends on colours or on the width; the others need to be asked only once.
BY_LOOK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]

pytestmark = [in_a_browser, on_the_built_pages]
every_chapter = pytest.mark.parametrize("name", CHAPTERS)
every_page = pytest.mark.parametrize("name", [*CHAPTERS, *OTHERS])

TYPESET = "!window.MathJax || MathJax.startup.promise.then(() => true)"
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# A theme's change fades in, unless the reader prefers no motion.
STILL = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
VIOLATIONS = """axe.run(document, {resultTypes: ['violations'], %s}).then(({violations}) =>
  violations.flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html.slice(0, 300)}`)))"""
SEEN = "((node) => node.checkVisibility())"
UNFOLD = """{
  for (const node of document.querySelectorAll('details')) node.open = true;
  for (const button of document.querySelectorAll('.toggle-hidden button')) button.click();
}"""
# Formulas, and words of code beyond the first of each colour: most of a page's elements, and
# nothing new to axe, which takes its time over each of them.
LIGHTEN = """{
  const seen = new Set();
  for (const node of document.querySelectorAll('mjx-container > *, pre span')) {
    if (!node.closest('pre') || seen.has(node.className)) node.remove();
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
# What a page may be at fault with whatever its width: pairs of a complaint and where it applies.
FAULTS = """(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const raw = all('.bd-article .math').filter((node) => !node.querySelector('mjx-container'));
  const named = (image) => image.alt.length > 20 && !/^_images|[.](png|svg)$/.test(image.alt);
  const active = 'script, iframe, object, embed, form, link, meta, base, [href^="javascript:" i]';
  const runs = (node) => node.matches(active)
    || node.getAttributeNames().some((name) => name.startsWith('on'));
  const levels = all('main :is(h1, h2, h3, h4, h5, h6)')
    .filter((node) => node.checkVisibility()).map((node) => Number(node.tagName[1]));
  const jumps = levels.filter((level, place) => level > (levels[place - 1] ?? 0) + 1);
  return [
    ...all('mjx-merror, mjx-mtext[style*="color: red"]')  // in red: an unknown command
      .map((node) => `TeX error: ${node.closest('.bd-article > *, p').textContent}`),
    ...raw.map((node) => `formula not typeset: ${node.textContent}`),
    ...all('.bd-article img').filter((image) => !named(image)).map((image) => `alt: ${image.src}`),
    ...all('.bd-article img').filter((image) => image.complete && !image.naturalWidth)
      .map((image) => `does not load: ${image.src}`),
    ...all('.cell_output *').filter(runs).map((node) => `runs: ${node.outerHTML.slice(0, 200)}`),
    ...jumps.map((level) => `heading skips a level: h${level}`),
    ...(levels.filter((level) => level === 1).length === 1 ? [] : ['not one h1']),
  ];
})()"""


def look(page, width, theme):
    page.resize(width)
    chosen = f"{{mode: '{theme}', theme: '{theme}'}}"
    page.run(f"Object.assign(document.documentElement.dataset, {chosen})")
    page.run(PAINTED)


def faults(page, book, name):
    """Visit a page once, look at it in every way, and say all that is wrong with it."""
    page.open(f"{book}/{name}.html")
    page.send("Emulation.setEmulatedMedia", **STILL)
    page.wait_for(TYPESET)
    page.run(UNFOLD)
    found = page.run(FAULTS)
    for width in WIDTHS:
        look(page, width, THEMES[0])
        if page.run("document.documentElement.scrollWidth") > width:
            found.append(f"scrolls sideways at {width} pixels")
        found += [f"{width}: {fault}" for fault in page.run(HIDDEN)]
    page.run(LIGHTEN)
    page.run(AXE.read_text() + "; 0")
    rules = ""
    for width, theme in itertools.product(WIDTHS, THEMES):
        look(page, width, theme)
        found += [f"{width}, {theme}: {fault}" for fault in page.run(VIOLATIONS % rules)]
        rules = f"runOnly: {BY_LOOK}"
    abroad = [url for url in page.requests if not url.startswith((book, "data:"))]
    return found + page.errors + abroad


@pytest.fixture(scope="module")
def visits(book, tmp_path_factory):
    """Two browsers visit the pages side by side; what they find comes by and by."""
    browsers = [Page(tmp_path_factory.mktemp("profile")) for _ in range(2)]
    free = Queue()
    for browser in browsers:
        free.put(browser)

    def visit(name):
        browser = free.get()
        try:
            return faults(browser, book, name)
        finally:
            free.put(browser)

    with ThreadPoolExecutor(len(browsers)) as pool:
        yield {name: pool.submit(visit, name) for name in [*CHAPTERS, *OTHERS]}
        pool.shutdown(cancel_futures=True)
    for browser in browsers:
        browser.close()


@every_page
def test_page_has_no_fault(visits, name):
    assert visits[name].result() == []


# --- Links ----------------------------------------------------------------------------------------


class Links(HTMLParser):
    """The names that a page gives, and where it leads."""

    def __init__(self, path):
        super().__init__()
        self.names, self.targets, self.live = set(), [], False
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names |= {attrs["id"]} if "id" in attrs else set()
        self.names |= {attrs["name"]} if tag == "a" and "name" in attrs else set()
        self.live |= tag == "clip-explorer"
        leads = attrs.get("src") or (attrs.get("href") if tag in {"a", "link"} else None)
        if leads:
            self.targets.append(leads)


def resolves(target, path, pages):
    """Whether a link of a page leads to something in the book; what leads outside is not asked."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True
    goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not goal.is_file():
        return False
    if not parts.fragment or goal not in pages:
        return True
    state = "=" in parts.fragment and pages[goal].live  # a state of the Explorer
    return state or unquote(parts.fragment) in pages[goal].names


def test_every_link_and_cross_reference_resolves():
    pages = {
        path: Links(path)
        for pattern in ("*.html", "book/*.html", "code/*/*.html")
        for path in sorted(BUILT.glob(pattern))
    }
    assert len(pages) > len(CHAPTERS)
    broken = [
        f"{path.relative_to(BUILT)}: {target}"
        for path, page in pages.items()
        for target in page.targets
        if not resolves(target, path, pages)
    ]
    assert broken == []


@every_chapter
def test_every_table_tells_how_it_was_made(name):
    """Beside each link to a table one to its record; at home on the page of records."""
    links = Links(BUILT / f"{name}.html")
    tables = [Path(link).stem for link in links.targets if link.endswith(".csv")]
    records = [link.partition("#record-")[2] for link in links.targets if "#record-" in link]
    if name == "book/record":
        assert all(f"record-{table}" in links.names for table in tables)
        assert len(tables) > 50
    else:
        assert records == tables


def test_a_link_to_a_folded_cell_opens_it(page, book):
    """From another page, and on the page itself; no other cell is opened."""
    unfolded = "[...document.querySelectorAll('.cell details[open]')].length"
    page.open(f"{book}/book/figure-2.html#cell-14")
    page.wait_for(f"{unfolded} === 1")
    assert page.run("document.querySelector('#cell-14 + .cell pre').checkVisibility()")
    page.run("location.hash = '#cell-05'")
    page.wait_for(f"{unfolded} === 2")


@pytest.mark.parametrize(
    ("words", "expected"), [("sensitivity", "setup.html"), ("Lemma III.1", "lemma.html")]
)
def test_search_finds(page, book, words, expected):
    page.open(f"{book}/search.html?q={words.replace(' ', '+')}")
    found = "[...document.querySelectorAll('#search-results li a')].map((link) => link.href)"
    page.wait_for("/finished/.test(document.querySelector('#search-results').textContent)")
    pages = [urlsplit(url).path for url in page.run(found)]
    assert f"/book/{expected}" in pages


# --- What pages say of themselves -----------------------------------------------------------------


def meta(name):
    text = (BUILT / f"{name}.html").read_text()
    return dict(re.findall(r'<meta (?:name|property)="([^"]+)"\s+content="([^"]*)"', text))


def test_pages_describe_themselves():
    said = {name: meta(name)["description"] for name in CHAPTERS}
    assert len(set(said.values())) == len(CHAPTERS)
    for words in said.values():
        assert 40 < len(words) < 500
        assert not re.search(r"[\\$]|\[\w{2,}\]", words), "plain words, without TeX or citations"
    assert "worst case" in said["book/index"]
    assert said["book/lemma"].endswith("Verdict: wrong as printed, repaired.")


@every_page
def test_pages_have_a_picture_and_an_icon_to_share(name):
    said, text = meta(name), (BUILT / f"{name}.html").read_text()
    assert said["og:description"] == said["description"]
    assert said["og:title"]
    (icon,) = re.findall(r'<link rel="icon" href="([^"]+)"', text)
    for file in [said["og:image"], icon]:
        address = os.environ.get("BOOK_URL", "").rstrip("/") + "/"
        here = BUILT / f"{name}.html"
        assert (here.parent / file.removeprefix(address)).exists() or (
            BUILT / file.removeprefix(address)
        ).exists()


@every_chapter
def test_pages_say_how_to_cite_them(name):
    text = (BUILT / f"{name}.html").read_text()
    (box,) = re.findall(r'<details class="cite-page">(.*?)</details>', text, re.DOTALL)
    blocks = re.findall(r"<pre>(.*?)</pre>", box, re.DOTALL)
    cited, paper = (parse_string(unescape(re.sub("<.*?>", "", b)), "bibtex") for b in blocks)
    assert list(paper.entries) == [citing.PAPER]
    ((key, entry),) = cited.entries.items()
    assert entry.fields["note"].startswith(f"Version {userdp.__version__}")
    title = entry.fields.get("booktitle") and re.sub(r"^\d+\. ", "", meta(name)["og:title"])
    assert unescape(title or TITLE) == entry.fields["title"].strip("{}")
    assert (key == "userdp") == (name == TOC["root"])


@every_page
def test_the_foot_says_which_version_it_is(name):
    text = (BUILT / f"{name}.html").read_text()
    (foot,) = re.findall(r'<div class="extra_footer">\s*(.*?)\s*</div>', text, re.DOTALL)
    assert foot.startswith(f"<p>Version {userdp.__version__}")


def test_the_entry_of_a_page_can_be_copied(page, book):
    """From the keyboard: with the button in sight, and all of the entry, without markup."""
    page.open(f"{book}/book/optimum.html")
    page.send("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    page.send("Emulation.setEmulatedMedia", **STILL)
    page.run(UNFOLD)
    page.wait_for("document.querySelectorAll('.cite-page .copybtn').length === 2")
    page.run("document.querySelector('.cite-page summary').focus()")
    page.press("Tab")
    page.wait_for("getComputedStyle(document.querySelector('.copybtn:focus')).opacity === '1'")
    page.press("Enter")
    page.wait_for("document.querySelectorAll('.copybtn.success').length === 1")
    copied = page.run("navigator.clipboard.readText()")
    assert list(parse_string(copied, "bibtex").entries) == ["userdp-optimum"]


def test_the_root_leads_to_the_first_page(page, book):
    text = (BUILT / "index.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert meta("index")["description"] == meta(TOC["root"])["description"]
    page.open(f"{book}/")
    page.wait_for(f"location.pathname === '/{TOC['root']}.html'")
    assert page.errors == []


def test_the_first_screen_says_what_it_is_about(page, book):
    page.open(f"{book}/{TOC['root']}.html")
    page.resize(1400)
    doors = page.run("[...document.querySelectorAll('.doors .sd-card')].map((d) => d.innerText)")
    assert [words.split()[0] for words in doors] == ["Read", "Rerun", "Cite"]
    place = "document.querySelector('%s').getBoundingClientRect().%s"
    assert page.run(place % (".doors", "bottom")) < 600
    assert page.run(place % ("figure img", "bottom")) < 950


def test_print_shows_the_page_alone_in_black_on_white(page, book):
    page.open(f"{book}/book/optimum.html")
    look(page, 1400, "dark")
    page.send("Emulation.setEmulatedMedia", media="print")
    page.run(PAINTED)
    hidden = ".bd-sidebar, .bd-header-article, .copybtn, #preview"
    assert not page.run(f"[...document.querySelectorAll('{hidden}')].some({SEEN})")
    colour = "getComputedStyle(document.querySelector('.bd-article p')).color"
    assert sum(map(int, re.findall(r"\d+", page.run(colour))[:3])) < 200
    page.send("Emulation.setEmulatedMedia", media="screen")
    page.run(PAINTED)
    assert page.run("document.documentElement.dataset.theme") == "dark"
