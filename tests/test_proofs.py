"""The machine-checked proofs: a statement that is spoilt loses its proof, and no axiom gets by."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[1] / "proofs"
BUILT = PROOFS.parent / "_build" / "proofs"
MISSING = shutil.which("coqc") is None
pytestmark = pytest.mark.skipif(
    MISSING and not os.environ.get("USERDP_REQUIRE_PROOFS"), reason="Coq is not installed"
)

# What is spoilt, the file, and where: a part for another, which must have no proof.
SPOILT = {
    "the lemma as printed": ("lemma", "b) «(Num.max A B / N R m)→(printed_bias U a b)»,"),
    "rank k + 1": ("optimum", "let T := v m U «k→k.+1» in\n  (exists2"),
    "the multipliers as printed": (
        "kkt",
        "T «(repaired_lambda T) (fun l => 1 - 2 * repaired_lambda→"
        "(printed_lambda T) (fun l => 1 - 2 * printed_lambda» T l)\n"
        "       (repaired_lambdaS T).\n(* end",
    ),
    "half of what capped sums cost": ("frontier", "- Delta) «0→0 / 2»)]"),
    "factor 3 for AKMV": ("akmv", "«2→3» * E_OPT m U eps <= akmv_error"),
    "K with a third": ("within", "cosh q) / «2→3» + sinh q / eps)).\n(* end"),
    "one number of the certificate": ("lattice", "- u q n + «1→2») / (2 *"),
    "all blocks agree": (
        "certificate",
        "\\sum_v «minn→maxn» (standing group (stands c) g v)",
    ),
    "half of the factor of a limit": (
        "certificate",
        "(forall c d, «q ^+ apart c d→q ^+ apart c d / 2» <=",
    ),
    "one digit of the factor": ("factor", "then 2610 else if j <? 1200 then «2670→2660» else"),
    "a digit of F": ("staircase", "(1 / sinh h) F -> F < «242→241» / 100."),
    "the smaller of two bounds": ("envelope", "is_lattice_risk (q ^+ n) c & b = Num.«max→min» ("),
    "a lattice with one point more": ("lattice_falls", "(2 <= n)%N, 1 / «n.+1→n.+2»%:R <= s q n"),
    "twice the gain of the staircase": ("no_constant", "E_OPT m U eps = «2→4» * sinh h / eps * r"),
    "n users for one less": ("minimax", "one_user_risk_at_least (q ^+ «n→n.-1») b"),
    "43 bits in a double": ("levels", "(b + «13→10» <= p)%N"),
    "totals of 64 bits": ("levels", "`|sum| <= 2 ^+ («61→63» + s) ->"),
    "eta for 2 eta": ("privacy", "q ^+ «2→1» * density s t <="),
    "half of eps' at every rank": ("release", "& («L→0» <= k)%N ->"),
    "sums above what users can have": ("privacy", "«in_range U→in_range (U / 2)» x, in_range U x'"),
    "half of the error of the release": (
        "release_error",
        "(«2→4» * eps'') (exp (- (eps' / 2))) k in",
    ),
    "half of the budget, for measures": ("reals/measures", "(mu x A <= (expR «eps→(eps / 2)»)%:E"),
    "the chain, for twice as many": ("reals/bounds", "cosh q + n%:R * «sinh q→cosh q»))).\n(* end"),
    "3 eta is tight": ("privacy", "forall z, q ^+ «2→3» < z ->"),
    "half of the noise of Theorem II.1": ("shipped", "laplace exp (D / «eps→(2 * eps)») (g x) in"),
    "half of the geometric noise": (
        "shipped",
        "w%:R / «eps→(2 * eps)» <= s -> 0 < eps -> is_integral",
    ),
    "w for 2 w": ("shipped", "in let E := U / (2 * N R m) * M m («2 * w→w») in"),
    "half of the mean's sensitivity": ("shipped", "(@mean R L m) (v m U 1 / «N R m→(2 * N R m)»)."),
    "further by projection": ("shipped", "<= `|y - f| /\\ `|project y - f| <= «U→U / 2»."),
    "half of what averages cost": (
        "averages",
        "is_worst_case_bias U averaged (Num.max A B / «N→(2 * N)») /\\",
    ),
    "half of the staircase's size": (
        "staircase_law",
        "J (fun y => `|y - centre| * p y) = scale * (1 / («2→4» * sinh h))",
    ),
    "a first edge anywhere": ("staircase_law", "1 < h -> «0 <= c <= 1→0 <= c» -> counts_edges"),
    "noise of twice the least size": (
        "staircase_best",
        "hides_shifts H E (h ^+ 2) -> «1→2» / (2 * sinh h) <= E",
    ),
    "a scale that is larger than needed": (
        "smallest_scale",
        "-> sensitivity_at_most U g (eps * «s→(s / 2)»))",
    ),
    "rho with a smaller part": ("felt", "(r + 2) / (r + «1→2») * E1]."),
    "noise that makes losses small": ("losses", "«`|d| <= `|d'|→`|d'| <= `|d|» -> 0 <= b -> b <="),
    "chances that sum to 2": ("geometric", "is_sum_of (geometric r c) «1→2»."),
    "a mean twice as far": ("unbiased", "if y < p then p - «b→2 * b» else"),
    "half of the noise, for events": ("reals/laplace", "g D -> private («D→(D / 2)» / eps)"),
    "half of the grid's sums in a double": (
        "grid_sum",
        "(maxn L «2→1»)%:R * Num.max (- a) b < 2 ^+ 53 * spacing.",
    ),
    "half of what dropping costs": (
        "strategies",
        "(dropping k kept) (U * (N - N_k R m k) / «N→(2 * N)»)",
    ),
    "weights without a cap": ("protected", ": nat := «minn (size (x l)) cap→size (x l)»."),
    "half of what a centre costs": (
        "centre",
        "<= guarantee (U / 2) + «kappa→kappa / 2» * `|c - U / 2| /\\ kappa <= 1.",
    ),
    "half of the optimum in a range": (
        "range",
        "let E := (hi - lo) / («2→4» * N) * M m (2 / eps) in",
    ),
    "half of what two parts guarantee": (
        "parts",
        "<= weight_in * r + weight_beside «* r'→* r' / 2»)\n  /\\ (is_mirrored",
    ),
    "another chance in the table of six cells": ("six_cells", "[:: 88; «49→48»; 8; 5; 8; 7; 12]"),
    "an interval of twice the width": ("averages", "U * n%:R / 2 + clip (- «(T / 2)→T») (T / 2)"),
    "bias for sensitivity": (
        "bridge",
        "is_sensitivity U (clipped_mean a b) $(said_«sensitivity→bias» c)",
    ),
    "no look at the rank": (
        "bridge",
        "total counts), «is_rank eps (N.to_nat (said_rank c))→less 0 eps»,",
    ),
    "no look at upper ends": (
        "bridge",
        "\n                     «&& Qeq_bool (at_user (said_high c) l) (min (end_ l) U)→»)",
    ),
    "no look at mu": ("bridge", "«Qle_bool 0 (mu l)→true» & [&& Qeq_bool (lambda l)"),
    "no look at factors": ("bridge_certificate", "[&& rows_ok, «factors_ok→true» & Qeq_bool"),
    "exp (- eps / 2) for AKMV": ("bridge", "(v m U 1) eps (exp (- (eps / «4→2»))) k in"),
}


@pytest.fixture(scope="module")
def built():
    """Everything as it is, checked: nothing to do if it is, two minutes if not."""
    subprocess.run(["make", "--silent", "-C", PROOFS], check=True, capture_output=True)
    return BUILT


@pytest.mark.parametrize("slip", SPOILT)
def test_a_spoilt_statement_has_no_proof(slip, built, tmp_path):
    name, place = SPOILT[slip]
    right, wrong = (re.sub("«(.*)→(.*)»", rf"\{side}", place, flags=re.S) for side in (1, 2))
    source = (PROOFS / f"{name}.v").read_text(encoding="utf-8")
    assert source.count(right) == 1
    first = source[: source.index(right)].count("\n") + 1  # the line that is spoilt
    file = tmp_path / f"{name.replace('/', '_')}.v"
    file.write_text(source.replace(right, wrong), encoding="utf-8")
    command = ["coqc", "-q", "-noglob", "-w", "none", "-Q", built, "UserDP"]
    run = subprocess.run(
        [*command, "-o", file.with_suffix(".vo"), file], capture_output=True, text=True
    )
    assert run.returncode != 0
    lines = [line for line in run.stderr.splitlines() if line.startswith(f'File "{file}", line ')]
    assert "Error:" in run.stderr
    assert int(lines[-1].split("line ")[1].split(",")[0]) > first


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
    "a sum that gives r >= 1 the sum 1, too": (
        "forall r n, «0 < r < 1→0 < r» -> H (geometric r n)",
        "+0 < r -> H (geometric r n)",
    ),
    "not between marks": (
        "(* «begin→from» def-safe-release *)",
        "has_geometric\nStatements mention these",
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
    file = copied(built, tmp_path) / "shipped.v"
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
