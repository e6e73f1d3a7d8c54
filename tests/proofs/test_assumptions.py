"""The machine-checked proofs: no axiom and no weakened definition goes unnoticed."""

import re
import shutil
import subprocess
import sys

import pytest
from proving import PROOFS, compiled, with_coq

pytestmark = with_coq


@pytest.fixture(scope="module")
def built():
    """The folder of the unchanged, checked proofs."""
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
# Notations are refused unless they are listed; the tests list this one.
MISPRINTED = """Notation
  "a = b" := (not (@eq _ a b)) (at level 70) : nat_scope.
(* begin slip *)
Definition other {n : nat} (P : Prop) := P \\/ n = n.
Theorem slip : (4 = 5)%N.
(* end slip *)
Proof. by []. Qed.
(* begin slip *)
Theorem hidden : @other 5 True.
(* end slip *)
Proof. by left. Qed.
(* begin slip *)
Theorem reversed (R : numDomainType) (x y : R^d) : (x <= y -> (y : R) <= (x : R))%O.
(* end slip *)
Proof. by []. Qed.
"""
NO_STATEMENT = """(* begin slip *)
Theorem slip : {few : nat -> Prop | forall n, few n}.
(* end slip *)
Proof. by exists (fun _ => True). Qed.
"""
MISNAMED = """Definition private_ok (P : Prop) := True.
(* begin slip *)
Fixpoint size (T : Type) (s : seq T) : nat := 0%N.
Theorem slip : private_ok (size [:: true] = 3%N).
(* end slip *)
Proof. by []. Qed.
"""
# Text that is added to few_numbers.v, which no other file imports, and the expected messages.
SLIPS = {
    "by an axiom": (TRUE_BY_AN_AXIOM, ["+Classical_Prop.classic : "]),
    "by an axiom of the reals": (
        TRUE_BY_AN_AXIOM.replace("Coq Require Import Classical", "mathcomp.classical Require boolp")
        .replace("P \\/ ~ P", "P -> P = True")
        .replace("exact: classic", "by move=> p; exact: boolp.propositional_extensionality"),
        ["+boolp.propositional_extensionality : "],
    ),
    "by what is printed otherwise": (
        MISPRINTED,
        [
            "\n+slip\n+     : (4 = 5)%N\n",
            "\n+few_numbers.slip\n+: not (@eq nat (S (S (S (S O)))) (S (S (S (S (S O))))))\n",
            "\n+hidden\n+     : other True\n",
            "\n+few_numbers.hidden\n+: @few_numbers.other (S (S (S (S (S O))))) True\n",
            "\n+Order.DualPOrder.dual_porderType\n",
            "\nclosed.all.txt does not say what is defined and proved now.",
        ],
    ),
    "with data that others could hide in": (
        NO_STATEMENT,
        ['"few_numbers.slip" has type "{few', 'is a subtype of "Prop"'],
    ),
    "with names that mean something else": (
        MISNAMED,
        [
            "few_numbers.slip mentions few_numbers.private_ok, which is not defined between marks",
            "mathcomp.ssreflect.seq.size is a name of the library",
        ],
    ),
}


# Changes of definitions with which every theorem is still proved, and reads as before.
WEAKENED = {
    "neighbours that are equal": (
        [("Prop := forall l', ", "l' != l -> ", "", "x l' = x' l'.")],
        "forall l' : 'I_L, x l' = x' l')",
    ),
    "not between marks": (
        [
            ("(* ", "begin", "from", " def-protected-error *)"),
            ("(* ", "end", "to", " def-protected-error *)"),
        ],
        "mentions protected.weighed_mean, which is not defined between marks",
    ),
}


def copied(built, folder):
    """Copy the proofs, and their compiled files."""
    shutil.copytree(PROOFS, folder / "proofs")
    shutil.copytree(built, folder / "built")
    return folder / "proofs"


def checked_with(slip, instance, built, folder, tier="", where="one_line.v"):
    """Run `make` with a fault added to a file, and text added to the instances of its tier."""
    files = copied(built, folder)
    file = files / tier / where
    # Imports must be at the top.
    imported = slip[: slip.index("(* begin")] if slip.startswith("From") else ""
    file.write_text(imported + file.read_text("utf-8") + slip.removeprefix(imported), "utf-8")
    if slip.startswith("Notation"):
        sentence = " ".join(slip.partition(".\n")[0].split())
        with (files / "listed.txt").open("a", encoding="utf-8") as listed:
            listed.write(f"{tier}{where}: {sentence}\n")
    with (files / tier / "instances.v").open("a", encoding="utf-8") as instances:
        instances.write(instance)
    return checked(folder)


def checked(folder):
    """Run `make` on the copy."""
    return subprocess.run(
        ["make", "-C", folder / "proofs", f"OUT={folder / 'built'}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("slip", SLIPS)
def test_no_unstated_assumption_goes_unnoticed(slip, built, tmp_path):
    added, messages = SLIPS[slip]
    run = checked_with(added, "", built, tmp_path, where="few_numbers.v")
    assert run.returncode != 0
    assert [words for words in messages if words not in run.stdout] == []


@pytest.mark.parametrize("slip", WEAKENED)
def test_no_weakened_definition_goes_unnoticed(slip, built, tmp_path):
    changes, words = WEAKENED[slip]
    file = copied(built, tmp_path) / "protected.v"
    source = file.read_text(encoding="utf-8")
    for before, right, wrong, after in changes:
        assert source.count(before + right + after) == 1
        source = source.replace(before + right + after, before + wrong + after)
    file.write_text(source, encoding="utf-8")
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


FRACTION = """From Coq Require Import Compat.AdmitAxiom.
From mathcomp Require Import all_ssreflect all_algebra.
(* begin slip *)
Theorem Ratio0 : (4 = 5)%N.
(* end slip *)
Proof. by case: proof_admitted. Qed.
"""


def test_a_theorem_of_the_library_does_not_stand_for_one_of_a_file_with_its_name(built, tmp_path):
    """MathComp has a file fraction.v, too, and a lemma Ratio0 in it."""
    files = copied(built, tmp_path)
    (files / "fraction.v").write_text(FRACTION, "utf-8")
    run = checked(tmp_path)
    assert run.returncode != 0
    assert "The statements rest on something else." in run.stdout
    assert "+AdmitAxiom.proof_admitted : False" in run.stdout


def test_a_deleted_file_is_noticed_when_its_compiled_file_remains(built, tmp_path):
    files = copied(built, tmp_path)
    assert checked(tmp_path).returncode == 0
    (files / "few_numbers.v").unlink()
    run = checked(tmp_path)
    assert run.returncode != 0
    assert "few_numbers" in run.stdout


def test_an_instance_proves_the_hypotheses(built, tmp_path):
    """The name alone is not an instance."""
    run = checked_with(
        UNDER_HYPOTHESES, "Definition slip := @UserDP.one_line.slip .\n", built, tmp_path
    )
    assert run.returncode != 0
    assert "instances.slip leaves ['bad'] open, not []" in run.stdout


def test_a_definition_with_the_end_mark_of_the_output_does_not_hide_later_names(built, tmp_path):
    """A name at the beginning of a line is read, too."""
    copied(built, tmp_path)
    mentioned = tmp_path / "built" / "mentioned.txt"
    text, end, names = mentioned.read_text("utf-8").rpartition("tt\n     : unit\n")
    slip = f"chain_factor.slip = {end}chain_factor.good = \nlevels.unmarked\n     : nat\n"
    mentioned.write_text(text + slip + end + names, "utf-8")
    command = [sys.executable, PROOFS / "scan.py", "mentions", tmp_path / "built"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert "mentions levels.unmarked, which is not defined" in run.stderr


def test_a_name_that_is_not_read_is_found_in_what_coq_lists(built, tmp_path):
    """With a scanner that lets a definition pass after `with`."""
    scanner = copied(built, tmp_path) / "scan.py"
    text = scanner.read_text("utf-8")
    condition = 'if used[:1] != ["Ltac"] and len(ends) > used.count("match"):'
    assert text.count(condition) == 1
    scanner.write_text(text.replace(condition, "if False:"), "utf-8")
    with (scanner.parent / "few_numbers.v").open("a", encoding="utf-8") as file:
        file.write("Fixpoint ten (k : nat) : nat := 0xa_with unread (k : nat) : bool := true.\n")
    assert "Coq and scan.py differ in unread, of few_numbers.v" in checked(tmp_path).stdout


@pytest.mark.parametrize(
    ("tier", "right", "wrong", "message"),
    [
        ("", "Definition different_counts", "Definition other", "differ in different_counts"),
        ("", "Definition different_counts", "Definition other", "differ in other, of few_n"),
        ("", "Variant plan", "Variant plan Module inner", "differ in inner, of table.v"),
        ("", "Constructor UserDP.table.Plan", "Constant UserDP.table.Plan", "differ in Plan, of"),
        ("", "Module few_numbers", "Module others", "has not listed the names of few_numbers.v"),
        ("reals/", "Module sums", "Module others", "has not listed the names of sums.v"),
    ],
)
def test_names_in_coq_must_be_those_read(tier, right, wrong, message, built, tmp_path):
    copied(built, tmp_path)
    mentioned = tmp_path / "built" / tier / "mentioned.txt"
    before, end, text = mentioned.read_text("utf-8").rpartition("tt\n     : unit\n")
    pattern = right.replace(" ", r"\s")
    changed, n = re.subn(rf"(?<!\S){pattern}(?!\S)", wrong, text)
    assert n == 1
    mentioned.write_text(before + end + changed, "utf-8")
    command = [sys.executable, PROOFS / "scan.py", "mentions", tmp_path / "built", tier]
    run = subprocess.run(command, capture_output=True, text=True)
    assert message in run.stderr


@pytest.mark.parametrize("name", ["UserDP.Permutation.levels", "reals.sums.is_sum"])
def test_no_name_that_is_printed_in_full_goes_unread(name, built, tmp_path):
    """Two files have such a name, so it may not be the one between marks."""
    copied(built, tmp_path)
    mentioned = tmp_path / "built" / "mentioned.txt"
    mentioned.write_text(f"within.slip\n     : {name}\n" + mentioned.read_text("utf-8"), "utf-8")
    command = [sys.executable, PROOFS / "scan.py", "mentions", tmp_path / "built"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert f"{name} is printed with its folder" in run.stderr


@pytest.mark.parametrize(
    ("tier", "library", "name"),
    [("", "ssreflect.seq", "count"), ("reals/", "analysis.lebesgue_integral", "integral")],
)
def test_a_listed_name_is_listed_for_one_file(tier, library, name, built, tmp_path):
    """Names of the first tier must not be those of the libraries for the reals, either."""
    copied(built, tmp_path)
    definitions = tmp_path / "built" / "definitions"
    definitions.write_text(definitions.read_text("utf-8") + f"few_numbers.{name}\n", "utf-8")
    command = [sys.executable, PROOFS / "scan.py", "mentions", tmp_path / "built", tier]
    run = subprocess.run(command, capture_output=True, text=True)
    assert f"mathcomp.{library}.{name} is a name of the library" in run.stderr


@pytest.mark.parametrize(("right", "wrong"), [("R 3 m", "R 0 m"), ("R 3 m", "R 3 (fun=> 0%N)")])
def test_an_instance_has_users(right, wrong, built, tmp_path):
    files = copied(built, tmp_path)
    text = (files / "instances.v").read_text("utf-8")
    changed = text.replace(f"thm_main {right}", f"thm_main {wrong}")
    assert changed != text
    (files / "instances.v").write_text(changed, "utf-8")
    command = [sys.executable, files / "scan.py", "instances", tmp_path / "built"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.stderr.startswith("instances.thm_main gives ")


def test_output_of_about_is_parsed_or_refused(built, tmp_path):
    """A pattern without a match would find no hypothesis, so this must fail."""
    copied(built, tmp_path)
    applied = tmp_path / "built" / "applied"
    command = [sys.executable, PROOFS / "scan.py", "instances", tmp_path / "built"]
    assert subprocess.run(command).returncode == 0
    text = applied.read_text("utf-8")
    for right, wrong in (("Expands to", "It is"), ("Arguments", "Its arguments")):
        applied.write_text(text.replace(right, wrong), "utf-8")
        assert subprocess.run(command, capture_output=True).returncode != 0
