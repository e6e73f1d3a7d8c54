"""The list of claims, book/claims.yml, is complete, and everything that it names exists."""

import ast
import re
from pkgutil import resolve_name

import pytest
import yaml

from tools.ext import proofs, sources
from tools.ext.contents import BOOK, ROOT, ledger, page, pages

ROWS = ledger()
NUMBERED = [
    *(f"eq-{number}" for number in range(1, 16)),
    *("def-II.1", "def-II.2", "thm-II.1", "lem-III.1", "lem-III.2", "thm-III.1"),
    *("fig-1", "fig-2", "fig-3"),
]
VERDICTS = ["holds", "holds, imprecise", "repaired", "wrong as printed", "reproduced"]
VERDICTS += ["ambiguous", "answered", "not examined"]
HOW_KNOWN = ["proved in Coq", "proved by hand", "certificate", "measured", "read"]
KEYS = {"id", "where", "says", "verdict", "page", "label", "functions", "tests"}

every_row = pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])


def labels(name):
    cells = page(name).cells
    text = "\n".join(cell.source for cell in cells)
    figures = {cell.metadata.get("mystnb", {}).get("figure", {}).get("name") for cell in cells}
    pattern = r"^(?::label: (\S+)|\(([\w-]+)\)=|\$\$ \(([\w-]+)\))$"
    return figures.union(*re.findall(pattern, text, re.MULTILINE))


def test_every_numbered_statement_has_a_row_and_no_two_rows_are_the_same():
    """In addition, no result of the book has a place (`where`) in the paper."""
    for entries in ([row["id"] for row in ROWS], [row["says"] for row in ROWS]):
        assert len(entries) == len(set(entries))
    assert set(NUMBERED) <= {row["id"] for row in ROWS}
    *paper, beyond = yaml.safe_load((BOOK / "claims.yml").read_text("utf-8"))
    paper_places = {row["where"] for part in paper for row in part["rows"]}
    assert not paper_places & {row["where"] for row in beyond["rows"]}


@every_row
def test_row_is_complete(row):
    assert KEYS <= set(row) <= KEYS | {"why", "known"}
    assert row["verdict"] in VERDICTS
    assert ("known" in row) == (row["verdict"] != "not examined")
    assert row.get("known", "read") in HOW_KNOWN
    assert row["tests"]
    assert ("why" in row) == (row["verdict"] != "holds")
    assert min(len(row["says"]), len(row.get("why", row["says"]))) > 20


@every_row
def test_a_row_is_proved_in_coq_iff_its_statement_or_its_erratum_is(row):
    """A statement of which Coq has checked only a part counts as proved by hand."""
    errata = re.findall(r"\(#(err-[\w-]+)\)", row.get("why", ""))
    labels_of_row = row["label"], *errata
    coq_statuses = [proofs.checked().get(label, proofs.BY_HAND)[0] for label in labels_of_row]
    assert ("checked" in coq_statuses) == (row.get("known") == "proved in Coq")


@every_row
def test_theorems_are_known_by_a_proof(row):
    stated = re.match(r"(thm|lem|prop|prp|cor)-", row["label"])
    assert not stated or row["known"].startswith("proved")


@every_row
def test_everything_named_in_a_row_exists(row):
    assert row["label"] in labels(row["page"])
    for name in row["functions"]:
        resolve_name(f"userdp.{name}")
    for test in row["tests"]:
        file, function = test.split("::")
        tree = ast.parse((ROOT / "tests" / file).read_text())
        assert function in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}


def test_the_reference_has_a_line_for_each_numbered_statement():
    """Each line has a function, a page and a test."""
    assert "\n{{ numbered }}\n" in (BOOK / "reference.md").read_text("utf-8")
    _, _, *lines = sources.numbered().splitlines()
    entry = r"\| {ref}`[^`]+ <claim-(.+)>` \| [^|]+( \| ({[\w:]+}`[^`|]+`(, )?)+){3} \|"
    assert sorted(re.fullmatch(entry, line)[1] for line in lines) == sorted(NUMBERED)


def test_every_theorem_of_the_book_has_a_row():
    all_labels = set().union(*(labels(name) for name in pages())) - {None}
    stated = {label for label in all_labels if re.match(r"(thm|lem|prop|prp|cor|def)-", label)}
    assert len(stated) > 15
    assert stated - {row["label"] for row in ROWS} == {
        "lem-printed"
    }  # quoted as an erroneous lemma
