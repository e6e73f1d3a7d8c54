"""The machine-checked proofs: no axiom gets by, and nothing is weakened unseen."""

import re
import shutil
import subprocess

import pytest
from proving import PROOFS, compiled, with_coq

pytestmark = with_coq


@pytest.fixture(scope="module")
def built():
    """Everything as it is, checked."""
    return compiled()


TRUE_BY_AN_AXIOM = """From Coq Require Import Classical.
(* begin slip *)
Theorem slip (P : Prop) : P \\/ ~ P.
(* end slip *)
Proof. exact: classic. Qed.
"""
UNDER_HYPOTHESES = """Section Slip.
Hypothesis bad : false.
(* begin slip *)
Theorem slip : (1 = 2)%N.
(* end slip *)
Proof. by have := notF bad. Qed.
End Slip.
"""
FOUR_IS_FIVE = """(* begin slip *)
Theorem slip : (4 = 5)%N.
(* end slip *)
"""
MISPRINTED = f"""Section Slip.
Notation "a = b" := (a <> b :> nat) (only parsing).
{FOUR_IS_FIVE}Proof. by []. Qed.
End Slip.
"""
# What is added to one_line.v, and what is then said.
SLIPS = {
    "admitted": ("Lemma slip : False.\nProof.\nAdmitted.\n", "Admitted"),
    "by an axiom": (TRUE_BY_AN_AXIOM, "classic : "),
    "by an axiom, in other words": (
        TRUE_BY_AN_AXIOM.replace("Theorem", "Corollary"),
        "Corollary slip",
    ),
    "by an axiom, not at the margin": (TRUE_BY_AN_AXIOM.replace("Theorem", " Theorem"), "slip (P"),
    "by an axiom, as a lemma": (TRUE_BY_AN_AXIOM.replace("Theorem", "Lemma"), "Lemma slip"),
    "in a false context": (
        UNDER_HYPOTHESES.replace("Hypothesis bad : false", "Context (bad : false)"),
        "Context (bad : false)",
    ),
    "from a false variable": (
        UNDER_HYPOTHESES.replace("Hypothesis", "Variable"),
        "Variable bad : false",
    ),
    "under a hypothesis that never holds": (
        UNDER_HYPOTHESES,
        "instances.v lacks 'Definition slip := @one_line.slip ...'",
    ),
    "by an axiom of the reals": (
        TRUE_BY_AN_AXIOM.replace("Coq Require Import Classical", "mathcomp.classical Require boolp")
        .replace("P \\/ ~ P", "P -> P = True")
        .replace("exact: classic", "by move=> p; exact: boolp.propositional_extensionality"),
        "boolp.propositional_extensionality",
    ),
    "by a proof without an end": (
        "Unset Guard Checking.\nFixpoint loop (n : nat) : False := loop n.\n"
        + FOUR_IS_FIVE
        + "Proof. by case: (loop 0). Qed.\n",
        "Unset Guard Checking",
    ),
    "in a universe that contains itself": (
        "Unset Universe Checking.\n" + FOUR_IS_FIVE + "Proof. by []. Qed.\n",
        "Unset Universe Checking",
    ),
    "by what is printed otherwise": (
        MISPRINTED.replace("Section Slip.\n", "").replace("End Slip.\n", ""),
        'Notation "a = b"',
    ),
    "by what is written otherwise": (MISPRINTED, "+     : 4%N <> 5%N"),
    "in a comment": (
        "(* begin slip *)\n(* said only:\nTheorem slip : (4 = 5)%N. *)\n(* end slip *)\n",
        "slip was not found",
    ),
    "under a name that is taken": (
        "(* begin slip *)\nTheorem thm_main : (2 = 2)%N.\n(* end slip *)\nProof. by []. Qed.\n",
        "+one_line.thm_main",
    ),
    "not accepted": (
        "(* begin slip *)\nTheorem slip : (2 = 2)%N.\n(* end slip *)\nProof. by []. Qed.\n",
        "+slip",
    ),
}


# A part of a definition for another: every theorem is still proved, and reads as before.
WEAKENED = {
    "neighbours that are equal": (
        "Prop := forall l', «l' != l -> →»x l' = x' l'.",
        "forall l' : 'I_L, x l' = x' l')",
    ),
    "not between marks": (
        "(* «begin→from» def-protected-error *)",
        "weighed_mean\nStatements mention these",
    ),
}


def copied(built, folder):
    """Copy the proofs, and what was made of them."""
    shutil.copytree(PROOFS, folder / "proofs")
    shutil.copytree(built, folder / "built")
    return folder / "proofs"


def checked_with(slip, instance, built, folder, tier="", where="one_line.v"):
    """What `make` says with a slip in a file, and something more in the instances of its tier."""
    files = copied(built, folder)
    for name, added in ((f"{tier}{where}", slip), (f"{tier}instances.v", instance)):
        with (files / name).open("a", encoding="utf-8") as file:
            file.write(added)
    return checked(folder)


def checked(folder):
    """What `make` says of the copy."""
    return subprocess.run(
        ["make", "-C", folder / "proofs", f"OUT={folder / 'built'}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("slip", SLIPS)
def test_nothing_is_assumed_that_is_not_said(slip, built, tmp_path):
    added, words = SLIPS[slip]
    run = checked_with(added, "", built, tmp_path)
    assert run.returncode != 0
    assert words in run.stdout


@pytest.mark.parametrize("slip", WEAKENED)
def test_no_definition_is_weakened_unseen(slip, built, tmp_path):
    place, words = WEAKENED[slip]
    right, wrong = (re.sub("«(.*)→(.*)»", rf"\{side}", place) for side in (1, 2))
    file = copied(built, tmp_path) / "protected.v"
    source = file.read_text(encoding="utf-8")
    assert source.count(right) == 1
    file.write_text(source.replace(right, wrong), encoding="utf-8")
    run = checked(tmp_path)
    assert run.returncode != 0
    assert words in run.stdout


def test_the_reals_rest_on_three_assumptions_and_no_fourth(built, tmp_path):
    slip = TRUE_BY_AN_AXIOM.replace("Import Classical", "ClassicalUniqueChoice").replace(
        "(P : Prop) : P \\/ ~ P", ": ((forall P : Prop, P \\/ ~ P) -> False) -> False"
    )
    slip = slip.replace("exact: classic", "move=> h; exact: (h Classical_Prop.classic)")
    run = checked_with(slip, "", built, tmp_path, tier="reals/", where="bounds.v")
    assert run.returncode != 0
    assert "+Classical_Prop.classic : " in run.stdout
    assert "The statements rest on something else." in run.stdout


def test_a_statement_for_the_reals_is_not_spoilt_either(built, tmp_path):
    run = checked_with(UNDER_HYPOTHESES, "", built, tmp_path, tier="reals/", where="bounds.v")
    assert run.returncode != 0
    assert "reals/instances.v lacks 'Definition slip := @reals.bounds.slip ...'" in run.stdout


def test_an_instance_proves_the_hypotheses(built, tmp_path):
    """The name alone is no instance."""
    run = checked_with(UNDER_HYPOTHESES, "Definition slip := @one_line.slip .\n", built, tmp_path)
    assert run.returncode != 0
    assert re.search(r"^Arguments instances\.slip .*\bbad$", run.stdout, re.MULTILINE)
