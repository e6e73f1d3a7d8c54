"""Statements on pages about what Coq has checked, compared with the table in proofs/README.md."""

import re

import pytest

from tools.ext import proofs
from tools.ext.contents import ROOT, page, pages

# Sentences that explain what the mark "checked by machine" means, and claim nothing.
EXPLAINS = {
    "setup": "*Checked by machine* means that",
    "errata": "Entries that [Coq](proofs.md) has checked say so",
    "claims": "[Proved in Coq]{.known}: the whole statement",
    "trust": "In the table, *proved* means checked by Coq",
}
LABEL = re.compile(r"\{prf:ref\}`([\w-]+)`|\(#machine-([\w-]+)\)")
IN_PART = re.compile(r"\bCoq has checked .* in part\b")
BY_HAND = re.compile(r"\bnot (?:proved|checked)\b.*\bCoq\b", re.IGNORECASE)


def prose(name):
    text = "\n\n".join(c.source for c in page(name).cells if c.cell_type == "markdown")
    text = text.split("**Verdict: checked**")[0] if name == "proofs" else text
    text = re.sub(r"^(#.*|```\{index\}.*?```|:label:.*)$", "", text, flags=re.M)
    return re.sub(r"```\{index\}.*?```", "", text, flags=re.S)


def claims_of_coq():
    """Each sentence of a page that mentions Coq, with the labels in it."""
    for name in pages():
        for sentence in re.split(r"(?<=[.!?*])\s+(?=[A-Z*({\[])", prose(name)):
            if "Coq" in sentence:
                labels = {a or b for a, b in LABEL.findall(sentence)}
                yield name, sentence, labels


CLAIMS = [pytest.param(*claim, id=f"{claim[0]} {i}") for i, claim in enumerate(claims_of_coq(), 1)]


@pytest.mark.parametrize(("name", "sentence", "labels"), CLAIMS)
def test_statements_said_to_be_checked_in_coq_are(name, sentence, labels):
    """A partly checked statement must be described as such, neither as checked nor as by hand."""
    if name in EXPLAINS and EXPLAINS[name] in sentence:
        return
    checked = proofs.checked()
    if BY_HAND.search(sentence):
        assert labels, "a sentence says that something is not in Coq, without a label"
        assert not labels & set(checked)
    elif name != "proofs" or labels:
        assert labels, "a sentence says that something is in Coq, without a label"
        verdict = "in part" if IN_PART.search(sentence) else "checked"
        assert {checked.get(label, proofs.BY_HAND)[0] for label in labels} == {verdict}


def test_the_page_on_lower_bounds_says_of_each_statement_how_it_was_checked():
    by_verdict = {"checked": set(), "in part": set(), "by hand": set()}
    for name, sentence, labels in claims_of_coq():
        if name == "lower-bound":
            in_part = "in part" if IN_PART.search(sentence) else "checked"
            by_verdict["by hand" if BY_HAND.search(sentence) else in_part] |= labels
    text = "\n\n".join(c.source for c in page("lower-bound").cells if c.cell_type == "markdown")
    stated = {label for _, label in proofs.BOX.findall(text)}
    for verdict, labels in by_verdict.items():
        known = {x for x in stated if proofs.checked().get(x, proofs.BY_HAND)[0] == verdict}
        assert labels == known, verdict


def test_a_mark_is_about_the_statement_with_the_longest_label():
    assert proofs.statement("thm-twice-drawn") == "thm-twice"
    assert proofs.statement("thm-staircase-best") == "thm-staircase-best"
    assert proofs.statement("thm-staircases") == ""


def test_the_page_on_proofs_names_statements_behind_releases_that_are_proved_by_hand():
    by_hand = [labels for _, sentence, labels in claims_of_coq() if BY_HAND.search(sentence)]
    rests_on = {"prp-projected-width"}
    assert any(rests_on <= labels for labels in by_hand)


def test_the_readme_refers_to_the_page_on_proofs():
    text = (ROOT / "README.md").read_text("utf-8")
    sentences = [s for s in re.split(r"(?<=\.)\s+(?=[A-Z])", text) if re.search(r"\bCoq\b", s)]
    assert sentences
    assert all("Checked by machine" in " ".join(s.split()) for s in sentences), sentences
