"""Pages of code, the ways to them, and the ways back: from the reference to the ledger's claims."""

import os
import re
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import built
import contents
import pytest
import sources
from browser import BUILT, ROOT, on_the_built_pages
from sphinx.highlighting import PygmentsBridge

import userdp as ud
from userdp import audit

ROWS = contents.ledger()
EXPORTED = [("userdp", name) for name in ud.__all__]
EXPORTED += [("userdp.audit", name) for name in audit.__all__]
EXPORTED += [("userdp.vectors", name) for name in sorted({*ud.vectors.__all__} - {*ud.__all__})]


def hrefs(html, pattern=""):
    return re.findall(rf'href="({pattern}[^"]*)"', html)


@pytest.mark.parametrize("file", sources.FILES)
def test_a_page_shows_the_file_with_every_unit_in_an_element_of_its_name(file):
    text = (ROOT / file).read_text("utf-8")
    html = sources.marked(file, PygmentsBridge("html", "tango").highlight_block(text, "python"))
    shown = ElementTree.fromstring(html)
    assert "".join(shown.itertext()).rstrip("\n") == text.rstrip("\n")
    lines = text.splitlines(keepends=True)
    assert {node.get("id"): "".join(node.itertext()) for node in shown.iterfind(".//*[@id]")} == {
        name: "".join(lines[first - 1 : last])
        for name, (first, last) in sources.units(file).items()
    }


@on_the_built_pages
@pytest.mark.parametrize("file", sources.FILES)
def test_page_has_each_name_once_and_an_address_only_from_the_environment(file):
    html = (BUILT / f"{sources.page(file)}.html").read_text()
    names = Counter(re.findall(r'\bid="([^"]+)"', html))
    assert set(sources.units(file)) <= set(names)
    assert set(names.values()) == {1}
    assert f"<h1>{file}</h1>" in html
    assert os.environ.get("USERDP_REPOSITORY") or "/blob/" not in html.partition("<pre>")[0]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize("address", ["https://github.com/some-one/a.fork", ""])
def test_only_what_the_repository_has_is_linked_there(monkeypatch, known, changed, address):
    commit = "0123456789" * 4 * known
    monkeypatch.setattr(built, "commit", lambda: (commit, changed))
    monkeypatch.setenv("USERDP_REPOSITORY", address)
    highlighter = SimpleNamespace(highlight_block=lambda text, language: f"<pre>{text}</pre>\n")
    made = sources.pages(SimpleNamespace(builder=SimpleNamespace(highlighter=highlighter)))
    links = {context["title"]: context["elsewhere"] for _, context, _ in made}
    assert list(links) == sources.FILES
    if commit and address and not changed:
        assert links["userdp/model.py"] == f"{address}/blob/{commit}/userdp/model.py"
    else:
        assert not any(links.values())


@on_the_built_pages
def test_the_ledger_and_the_feet_of_chapters_lead_to_tests():
    named = [test.partition(".py::") for row in ROWS for test in row["tests"]]
    expected = Counter(f"../code/tests/{file}.html#{unit}" for file, _, unit in named)
    claims, foot = ((BUILT / "book" / f"{name}.html").read_text() for name in ("claims", "optimum"))
    assert Counter(hrefs(claims, r"\.\./code/")) == expected
    assert hrefs(foot, r"\.\./code/tests/")


def entries():
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
    short = f"{module}.{name}".removeprefix("userdp.")
    rows = [row for row in ROWS if short in row["functions"]]
    entry = entries()[f"{module}.{name}"]
    assert hrefs(entry)[0] == f"../{sources.page(file)}.html#{unit}"
    labels = [("equation-" * row["label"].startswith("eq")) + row["label"] for row in rows]
    claims = [f"{row['page']}.html#{label}" for row, label in zip(rows, labels, strict=True)]
    assert [href for href in hrefs(entry) if href in claims] == claims
    tests = {test.replace(".py::", ".html#") for row in rows for test in row["tests"]}
    assert {*hrefs(entry, r"\.\./code/tests/")} == {f"../code/tests/{test}" for test in tests}
    calls = rf"\b{short if module == 'userdp.audit' else f'ud.{short}'}\b"
    chapters = {
        f"{page}.html"
        for page in contents.pages()
        for cell in contents.page(page).cells
        if cell.cell_type == "code" and re.search(calls, cell.source)
    }
    assert {href for href in hrefs(entry) if re.fullmatch(r"[\w-]+\.html", href)} == chapters
