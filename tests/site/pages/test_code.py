"""Pages of code, links to them, and links from the reference to claims and chapters."""

import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from browser import BUILT, ROOT, on_the_built_pages
from docutils.nodes import make_id

import userdp as ud
from tools.ext import contents, sources
from userdp import audit

pytestmark = on_the_built_pages

ROWS = contents.ledger()
EXPORTED = [("userdp", name) for name in ud.__all__]
EXPORTED += [("userdp.audit", name) for name in audit.__all__]


def hrefs(html, pattern=""):
    return re.findall(rf'href="({pattern}[^"]*)"', html)


@pytest.mark.parametrize("file", sources.FILES)
def test_a_page_shows_its_file_with_an_anchor_for_every_unit(file):
    lines = (ROOT / file).read_text("utf-8").splitlines(keepends=True)
    html = (BUILT / f"{sources.page(file)}.html").read_text()
    assert f"<h1>{file}</h1>" in html
    names = re.findall(r'\bid="([^"]+)"', html)
    assert len(names) == len(set(names))
    (code,) = re.findall(r'(?s)<div class="highlight">.*?</pre></div>', html)
    tree = ElementTree.fromstring(code)
    assert "".join(tree.itertext()).strip("\n") == "".join(lines).strip("\n")
    assert {node.get("id"): "".join(node.itertext()) for node in tree.iterfind(".//*[@id]")} == {
        name: "".join(lines[first - 1 : last])
        for name, (first, last) in sources.units(file).items()
    }


@pytest.mark.parametrize("folder", ["", "reals/"])
def test_our_definitions_in_a_printed_statement_lead_to_what_coq_prints_of_them(folder):
    html = (BUILT / f"code/proofs/{folder}closed.html").read_text()
    targets = {
        path: re.findall(r'\bid="([^"]+)"', (BUILT / "code/proofs" / folder / path).read_text())
        for path in {"defined.html", f"{'../' * bool(folder)}defined.html"}
    }
    links = re.findall(r'<a href="([./]*defined\.html)#([\w.]+)">([\w.]+)</a>', html)
    assert len(links) > 100
    for path, target, name in links:
        assert target == name
        assert target in targets[path]
    statement = html.partition('id="thm_main"')[2].partition('class="unit"')[0]
    linked = re.findall(r'defined\.html#(\w+)"', statement)
    assert folder or {"is_ceil", "is_clipping", "is_worst_case_error", "sym_lo"} <= {*linked}
    binds_total = html.partition('id="safe_events"')[2].partition('class="unit"')[0]
    assert "#total" not in binds_total
    defined = (BUILT / f"code/proofs/{folder}defined.html").read_text()
    binds_s = defined.partition('id="added"')[2].partition('class="unit"')[0]
    assert "#adding" in binds_s or folder
    assert "defined.html#s" not in binds_s


def test_ledger_footers_of_chapters_and_file_names_link_to_tests():
    named = [test.partition(".py::") for row in ROWS for test in row["tests"]]
    expected = Counter(f"../code/tests/{file}.html#{unit}" for file, _, unit in named)
    names = ("book/claims", "book/optimum", "CONTRIBUTING")
    claims, foot, guide = ((BUILT / f"{name}.html").read_text() for name in names)
    assert Counter(hrefs(claims, r"\.\./code/")) == expected
    assert hrefs(foot, r"\.\./code/tests/")
    assert "code/tests/test_structure.html" in hrefs(guide)  # the text has the file's name


def entries():
    html = (BUILT / "book" / "reference.html").read_text().partition('class="prev-next-area"')[0]
    starts = [*re.finditer(r'<dt class="sig[^>]* id="([^"]+)"', html), None]
    return {
        start[1]: html[start.start() : following and following.start()].partition("</section>")[0]
        for start, following in pairwise(starts)
    }


@pytest.mark.parametrize(("module", "name"), EXPORTED)
def test_a_reference_entry_links_to_its_source_claims_and_chapters(module, name):
    file, unit = sources.definition(module, name)
    rows = [row for row in ROWS if module == "userdp" and name in row["functions"]]
    entry = entries()[f"{module}.{name}"]
    assert hrefs(entry)[0] == f"../{sources.page(file)}.html#{unit}"
    claims = [f"claims.html#{make_id('claim-' + row['id'])}" for row in rows]
    assert hrefs(entry, r"claims\.html#") == claims
    imported = rf"import {module} as (ud)\b|from {module.rpartition('.')[0]} import .*\b(audit)\b"
    code = {
        page: "\n".join(c.source for c in contents.page(page).cells if c.cell_type == "code")
        for page in contents.pages()
    }
    chapters = {
        f"{page}.html"
        for page, text in code.items()
        if (match := re.search(imported, text))
        and re.search(rf"\b{match[1] or match[2]}\.{name}\b", text)
    }
    assert {href for href in hrefs(entry) if re.fullmatch(r"[\w-]+\.html", href)} == chapters
