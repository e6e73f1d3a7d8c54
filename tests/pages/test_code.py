"""Pages of code, the ways to them, and the ways back: from the reference to the ledger's claims."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from types import SimpleNamespace

import backlinks
import built
import contents
import pytest
import sources
from browser import BUILT, ROOT, on_the_built_pages
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst.roles import register_local_role
from sphinx.highlighting import PygmentsBridge

import userdp as ud
from userdp import audit

ROWS = contents.ledger()
EXPORTED = [("userdp", name) for name in ud.__all__ if name != "Epsilon"]
EXPORTED += [("userdp.audit", name) for name in audit.__all__]
COMMIT = "0123456789" * 4
ADDRESS = "https://github.com/some-one/a.fork"

every_file = pytest.mark.parametrize("file", sources.FILES)
every_row = pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])


class Text(HTMLParser):
    """What a page of HTML says, as a whole and in each element that has a name."""

    def __init__(self, html):
        super().__init__()
        self.open, self.parts = [""], {"": ""}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.open.append(dict(attrs).get("id") or self.open[0])
        self.parts.setdefault(self.open[-1], "")

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        for name in {*self.open}:
            self.parts[name] += data


# --- Pages of code --------------------------------------------------------------------------------


@every_file
def test_a_page_shows_the_file_with_every_unit_in_an_element_of_its_name(file):
    text = (ROOT / file).read_text("utf-8")
    html = PygmentsBridge("html", "tango").highlight_block(text, "python")
    shown = Text(sources.marked(file, html)).parts
    assert shown.pop("").rstrip("\n") == text.rstrip("\n")
    lines = text.splitlines(keepends=True)
    assert shown == {
        name: "".join(lines[first - 1 : last])
        for name, (first, last) in sources.units(file).items()
    }


def contexts(monkeypatch, stamp=(COMMIT, 0), changed=False, repository=ADDRESS):
    monkeypatch.setattr(built, "stamp", lambda: stamp)
    monkeypatch.setattr(built, "changed", lambda: changed)
    monkeypatch.setattr(built, "repository", lambda: repository)
    highlighter = SimpleNamespace(highlight_block=lambda text, language: f"<pre>{text}</pre>\n")
    made = sources.pages(SimpleNamespace(builder=SimpleNamespace(highlighter=highlighter)))
    return {name: context for name, context, _ in made}


def test_a_page_says_its_commit_and_leads_to_the_same_file_in_the_repository(monkeypatch):
    found = contexts(monkeypatch)
    assert list(found) == [sources.page(file) for file in sources.FILES]
    context = found["code/userdp/model"]
    assert context["title"] == "userdp/model.py"
    assert context["about"].startswith("Who contributes how much")
    assert context["commit"] == COMMIT
    assert context["elsewhere"] == f"{ADDRESS}/blob/{COMMIT}/userdp/model.py"


@pytest.mark.parametrize("lacking", [{"stamp": None}, {"changed": True}, {"repository": None}])
def test_what_the_repository_may_not_have_is_not_linked_there(monkeypatch, lacking):
    found = contexts(monkeypatch, **lacking)
    assert not any(context["elsewhere"] for context in found.values())


@on_the_built_pages
@every_file
def test_page_has_each_name_once_and_an_address_only_from_the_environment(file):
    html = (BUILT / f"{sources.page(file)}.html").read_text()
    names = Counter(re.findall(r'\bid="([^"]+)"', html))
    assert set(sources.units(file)) <= set(names)
    assert set(names.values()) == {1}
    assert f"<h1>{file}</h1>" in html
    assert bool(built.repository()) or "/blob/" not in html.partition("<pre>")[0]


# --- Ways to the code -----------------------------------------------------------------------------


def test_places_of_members_and_of_values():
    assert sources.place("userdp", "Contributions.total") == (
        "userdp/model.py",
        "Contributions.total",
    )
    file, unit = sources.place("userdp", "StaircaseNoise.mean_error")
    assert file == "userdp/noise.py"
    assert unit.endswith(".mean_error")
    assert sources.place("userdp", "Epsilon") is None
    assert sources.place("userdp", "Sweep.__init__") is None  # which no line of the file defines
    assert sources.place("userdp.audit", "np.linspace") is None


def read(text):
    register_local_role("test", sources.Test())
    return publish_doctree(text, settings_overrides={"report_level": 5})


@every_row
def test_the_tests_of_a_row_can_be_linked(row):
    for test in row["tests"]:
        (literal,) = read(f":test:`{test}`").findall(nodes.literal)
        file, unit = literal["code"]
        assert f"{file}::{unit}" == f"tests/{test}"
        assert literal.astext() == unit
        assert unit in sources.units(file)


@pytest.mark.parametrize("unknown", ["test_model.py::test_x", "test_x.py::test_y", "test_model.py"])
def test_an_unknown_test_is_refused(unknown):
    (warning,) = read(f":test:`{unknown}`").findall(nodes.system_message)
    assert f"no such test: {unknown}" in warning.astext()


def linked(text, form="html"):
    document = read(text)
    relative = lambda origin, target: f"../{target}.html"  # noqa: E731
    app = SimpleNamespace(builder=SimpleNamespace(format=form, get_relative_uri=relative))
    sources.link(app, document, "book/setup")
    return [(found["refuri"], found.astext()) for found in document.findall(nodes.reference)]


def test_names_of_tests_and_files_become_links_in_html_only():
    test = "test_claims.py::test_identifiers_are_unique"
    text = (
        f":test:`{test}`, ``tests/test_claims.py``, ``userdp/model.py``; ``tests/x.py``, ``x.py``"
    )
    assert linked(text) == [
        ("../code/tests/test_claims.html#test_identifiers_are_unique", test.partition("::")[2]),
        ("../code/tests/test_claims.html", "tests/test_claims.py"),
        ("../code/userdp/model.html", "userdp/model.py"),
    ]
    assert linked(text, form="latex") == []


def hrefs(html):
    return re.findall(r'href="([^"]+)"', html)


@on_the_built_pages
def test_the_ledger_leads_to_every_test_that_it_names():
    named = [test.partition(".py::") for row in ROWS for test in row["tests"]]
    expected = Counter(f"../code/tests/{file}.html#{unit}" for file, _, unit in named)
    found = hrefs((BUILT / "book" / "claims.html").read_text())
    assert Counter(href for href in found if href.startswith("../code/")) == expected


@on_the_built_pages
def test_the_foot_of_a_chapter_leads_to_its_files_of_tests():
    found = hrefs((BUILT / "book" / "optimum.html").read_text())
    assert "../code/tests/test_worstcase.html" in found


def test_what_leads_elsewhere_stays_as_it_is():
    document = read("`Elsewhere <https://example.org>`_")
    (reference,) = document.findall(nodes.reference)
    reference.replace(reference[0], nodes.literal(text="tests/test_claims.py"))
    sources.link(SimpleNamespace(builder=SimpleNamespace(format="html")), document, "book/setup")
    assert [*document.findall(nodes.reference)] == [reference]


# --- Ways back ------------------------------------------------------------------------------------


def entries():
    """The reference page in pieces: what it says of each function and class."""
    html = (BUILT / "book" / "reference.html").read_text().partition('class="prev-next-area"')[0]
    starts = [*re.finditer(r'<dt class="sig[^>]* id="([^"]+)"', html), None]
    return {
        one[1]: html[one.start() : following and following.start()].partition("</section>")[0]
        for one, following in pairwise(starts)
    }


@on_the_built_pages
@pytest.mark.parametrize(("module", "name"), EXPORTED)
def test_an_entry_leads_to_its_source_and_to_all_that_uses_it(module, name):
    file, unit = sources.place(module, name)
    rows = [row for row in ROWS if module == "userdp" and name in row["functions"]]
    found = hrefs(entries()[f"{module}.{name}"])
    assert found[0] == f"../{sources.page(file)}.html#{unit}"
    pages = [row["page"] + ".html#" for row in rows]
    labels = [row["label"] for row in rows]
    claims = [
        href for href in found if href.startswith(tuple(pages)) and href.endswith(tuple(labels))
    ]
    expected = [("equation-" if x.startswith("eq") else "") + x for x in labels]
    assert claims == [page + label for page, label in zip(pages, expected, strict=True)]
    tests = {
        f"../code/tests/{test.replace('.py::', '.html#')}" for row in rows for test in row["tests"]
    }
    assert {href for href in found if href.startswith("../code/tests/")} == tests
    call = re.compile(rf"\b{'ud' if module == 'userdp' else 'audit'}\.{name}\b")
    chapters = {f"{path.stem}.html" for path in contents.BOOK.glob("*.ipynb") if calls(path, call)}
    assert {href for href in found if re.fullmatch(r"[\w-]+\.html", href)} == chapters


def calls(path, pattern):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return any(pattern.search("".join(c["source"])) for c in cells if c["cell_type"] == "code")


def test_a_claim_is_told_with_its_verdict_unless_it_holds():
    row = {"id": "eq-1", "label": "thm-x", "where": "(1)", "says": "Of $a_1$.", "verdict": "holds"}
    says = r": Of \ :math:`a_1`\ ."
    assert backlinks.claim(row) == ":prf:ref:`thm-x`, in the paper (1)" + says
    assert backlinks.claim(row | {"id": "new-x"}) == ":prf:ref:`thm-x`" + says
    row |= {"label": "sec-x", "verdict": "wrong as printed"}
    assert backlinks.claim(row) == f":ref:`(1) <sec-x>`{says} *Wrong as printed.*"
