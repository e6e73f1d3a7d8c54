"""The map of the statements: its discs, its arrows, and the counts below it."""

import re
from graphlib import TopologicalSorter

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from tools.ext import proofs, statement_map
from tools.ext.contents import page, pages

OF_A_THEOREM_BEFORE = {"lem-prior": "thm-lattice"}
"""The second proof below this lemma is that of the theorem for which it is needed."""


def references_by_line():
    """Yield each statement with a statement that its proof names, read line by line."""
    for name in pages():
        stated, proof, proved = None, False, set()
        for cell in page(name).cells:
            for line in cell.source.splitlines() if cell.cell_type == "markdown" else ():
                if line.startswith(":label:"):
                    stated = line.split()[1]
                elif re.match(r":+\{prf:proof\}", line):
                    proof = OF_A_THEOREM_BEFORE.get(stated) if stated in proved else stated
                    proof = proof or stated
                    proved.add(stated)
                elif re.fullmatch(":::+", line):
                    proof = None
                elif proof:
                    yield from (
                        (proof, part.split("`")[0]) for part in line.split("{prf:ref}`")[1:]
                    )


def test_the_discs_are_the_numbered_statements_of_the_table_in_their_order():
    discs, *_ = statement_map.layout()
    assert [*discs] == [label for label in proofs.statements() if not label.startswith("err-")]
    assert len({*discs.values()}) == len(discs)


def test_the_arrows_are_the_references_in_proofs():
    arrows = {(a, b) for a, named in statement_map.references().items() for b in named}
    assert arrows == {*references_by_line()}
    assert ("thm-main", "lem-reduction") in arrows


PAGE = """
:::{prf:theorem} First
:label: thm-a
It needs {prf:ref}`lem-b`.
:::
:::{prf:lemma}
:label: lem-b
:::
:::{prf:proof}
By {prf:ref}`thm-c`, and by {prf:ref}`thm-c` again.
:::
::::{admonition} The proof
:::{prf:proof}
(*Of the theorem.*) By {prf:ref}`lem-b` and {prf:ref}`def-d`.
:::
::::
:::{prf:corollary}
:label: thm-c
:::
"""


def test_a_proof_is_of_the_statement_before_it_or_of_the_theorem_that_it_names(monkeypatch):
    toy = new_notebook(cells=[new_markdown_cell(PAGE)])
    monkeypatch.setattr(statement_map, "pages", lambda: ["toy"])
    monkeypatch.setattr(statement_map, "page", lambda name: toy)
    monkeypatch.setattr(statement_map, "chapters", statement_map.chapters.__wrapped__)
    references = statement_map.references.__wrapped__()
    assert references == {"thm-a": ["lem-b"], "lem-b": ["thm-c"], "thm-c": []}


def test_no_proof_refers_to_its_own_statement_directly_or_through_others():
    TopologicalSorter(statement_map.references()).prepare()  # raises if there is a cycle


TOY = {"a": ["b"], "b": ["c"], "c": [], "d": ["c"], "e": ["f"], "f": [], "g": []}
CHECKED, IN_PART, BY_HAND = "abf", "g", "cde"


@pytest.fixture
def toy(monkeypatch):
    known = dict.fromkeys(CHECKED, "checked") | dict.fromkeys(IN_PART, "in part")
    monkeypatch.setattr(statement_map, "references", lambda: TOY)
    monkeypatch.setattr(statement_map, "shown", lambda label: known.get(label, "by hand"))


def test_dependencies_of_a_statement_include_those_of_its_dependencies(toy):
    assert {x: "".join(sorted(statement_map.dependencies(x))) for x in TOY} == {
        **{"a": "bc", "b": "c", "c": "", "d": "c"},
        **{"e": "f", "f": "", "g": ""},
    }


def test_statements_are_counted_by_the_verdicts_on_their_dependencies(toy):
    assert statement_map.counts() == (
        "Of the proofs that the pages give for the 3 *checked* statements, 2 refer, directly or "
        "through others, to a statement proved *by hand*, and none refers to a statement checked "
        "*in part*. Of the 3 proofs *by hand*, one refers only to *checked* statements, and one "
        "refers to no other statement."
    )


@pytest.mark.parametrize("end", [(4, 0), (4, 36), (4, 360), (90, 0), (90, 36), (90, 360)])
def test_an_arrow_begins_and_ends_at_its_discs(end):
    """Up or down, to the next row or far away, in the same column or in another one."""
    for start in ((4, 36), (4, 180), (200, 360)):
        if start != end:
            path, head = re.fullmatch(r"(.*)m(.*)", statement_map.curve(start, end, 2)).groups()
            numbers = [float(x) for x in re.findall(r"-?[\d.]+", path)]
            assert tuple(numbers[:2]) == start
            assert numbers[-2] == end[0]
            assert abs(numbers[-1] - end[1]) == statement_map.END
            down = head == "-3 -4l3 4l3 -4"
            assert down == (numbers[-1] < end[1]) == (start[1] <= end[1])
