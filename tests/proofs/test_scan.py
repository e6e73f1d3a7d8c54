"""The scanner of the proofs refuses text that could misrepresent the proved statement."""

import re
import shutil
import subprocess
import sys

import pytest
from proving import PROOFS

FALSE_THEOREM = """(* begin slip *)
Theorem slip : (4 = 5)%N.
(* end slip *)
Proof. by []. Qed.
"""
IN_SECTION = """Section Slip.
{}
(* begin slip *)
Theorem slip : (4 = 5)%N.
(* end slip *)
Proof. by []. Qed.
End Slip.
"""
UNLISTED = "listed.txt does not list this command: "
NOTATION = "listed.txt does not list this notation: "
NOT_DATA = "a variable must be data; assume by a Hypothesis: "
NO_VALUES = "a hypothesis could say that this variable has no values: "
NO_INSTANCE = "instances.v lacks 'Definition slip := @UserDP.one_line.slip ...'"
UNREAD = "this is an axiom, or cannot be read: "
UNMARKED = "between marks are theorems, definitions and variables, at the margin: "
IN_PROOF = "within a proof only tactics and 'Qed.' may stand: "
MISPLACED_MARK = " has no counterpart, or is within a proof"
IN_COMMENT = "a line of a comment reads like a sentence: "

# Text that is added to one_line.v, and the reason why it is refused, or the whole message after the
# line number. The first of them once passed all checks.
SLIPS = {
    "a notation over two lines": (
        'Notation\n  "a = b" := (not (@eq _ a b)) (at level 70) : nat_scope.\n',
        NOTATION + 'Notation "a = b"',
    ),
    "a notation that begins with $": ('Notation "$ x <= y" := (x > y).\n', NOTATION),
    "a sentence after a comment": (
        '(* harmless *) Notation "a = b" := (a <> b) (only parsing).\n',
        NOTATION,
    ),
    "a hypothesis in parentheses": (IN_SECTION.format("Hypothesis (bad : false)."), NO_INSTANCE),
    "an indented hypothesis": (IN_SECTION.format("  Hypothesis bad : false."), NO_INSTANCE),
    "a hypothesis over two lines": (IN_SECTION.format("Hypothesis\n  bad : false."), NO_INSTANCE),
    "a second hypothesis": (IN_SECTION.format("Hypothesis bad worse : false."), NO_INSTANCE),
    "a variable that is assumed": (IN_SECTION.format("Variable bad : false."), NOT_DATA),
    "a variable in parentheses": (
        IN_SECTION.format("Variables (n : nat) (bad : false)."),
        NOT_DATA,
    ),
    "a variable over two lines": (IN_SECTION.format("Variable bad\n  : 4 = 5."), NOT_DATA),
    "a definition with the name of a record": (
        "Definition rank_case := True.\n",
        "bridge.v defines this name between marks: rank_case",
    ),
    "a definition with the name of a field": (
        "Definition claimed_rank (P : Prop) := True.\n",
        "bridge.v defines this name between marks: claimed_rank",
    ),
    "a letter that is not in ASCII": (
        "Definition \N{CYRILLIC CAPITAL LETTER IE}_OPT := 0.\n",
        "a character is not in ASCII: '\\u0415'",
    ),
    "numbers that are read otherwise": ("Number Notation nat f g : nat_scope.\n", UNLISTED),
    "an own definition in a later file": (
        "(* begin slip *)\nDefinition E_OPT := 0.\n(* end slip *)\n",
        "definitions.v defines this name between marks: E_OPT",
    ),
    # Other kinds of sentences.
    "no proof": ("Lemma slip : False.\nProof.\nAdmitted.\n", IN_PROOF + "Admitted."),
    "an abandoned proof": ("Lemma slip : False.\nProof.\nAbort.\n", IN_PROOF),
    "an axiom": ("Axiom slip : False.\n", UNLISTED),
    "a parameter": ("Parameters slip worse : False.\n", UNLISTED),
    "a conjecture": ("Conjecture slip : False.\n", UNLISTED),
    "a hypothesis outside sections": ("Hypothesis slip : False.\n", UNREAD),
    "a variable outside sections": ("Variable slip : nat.\n", UNREAD),
    "a context": (IN_SECTION.format("Context (bad : false)."), UNLISTED),
    "a statement by another word": (FALSE_THEOREM.replace("Theorem", "Corollary"), UNMARKED),
    "a lemma between marks": (FALSE_THEOREM.replace("Theorem", "Lemma"), UNMARKED),
    "a theorem that is not at the margin": (FALSE_THEOREM.replace("Theorem", " Theorem"), UNMARKED),
    "a second theorem on a line": (
        FALSE_THEOREM.replace("5)%N.", "4)%N. Theorem worse : (4 = 5)%N."),
        "'Proof.' does not follow the statement of slip: Theorem worse",
    ),
    "a notation between marks": (
        FALSE_THEOREM.replace("Theorem", "Notation four := 5%N.\nTheorem"),
        UNMARKED,
    ),
    "no check of recursion": ("Unset Guard Checking.\n", UNLISTED),
    "no check of positivity": ("#[bypass_check(positivity)]\nInductive t := T of t.\n", UNLISTED),
    "no check of universes": ("Unset Universe Checking.\n", UNLISTED),
    "universe polymorphism": ("Set Universe Polymorphism.\n", UNLISTED),
    "another way of printing": ("Global Unset Printing Depth.\n", UNLISTED),
    "a local notation": ('Local Notation "a = b" := (a <> b).\n', NOTATION),
    "a notation with an attribute": ('#[export] Notation "a = b" := (a <> b).\n', NOTATION),
    "a reserved notation": ('Reserved Notation "a === b" (at level 70).\n', NOTATION),
    "an infix": ('Infix "=" := (fun a b => a <> b) : nat_scope.\n', NOTATION),
    "an abbreviation": ("Notation E_OPT := (fun _ _ _ => 0).\n", UNLISTED),
    "a listed notation, changed": ("Notation N := (N R m + 1).\n", UNLISTED),
    "a notation of an inductive type": (
        'Inductive slip : Prop := Slip where "4 = 5" := slip.\n',
        NOTATION,
    ),
    "a tactic notation": ('Tactic Notation "by" := idtac.\n', NOTATION),
    "a string notation": ("String Notation t f g : nat_scope.\n", UNLISTED),
    "a coercion": ("Coercion of_slip (n : nat) : bool := true.\n", UNLISTED),
    "a field that is a coercion": (
        "Record slip := Slip { slipped :> nat -> Prop }.\n",
        "a field is a coercion: ",
    ),
    "a variable that is a coercion": (IN_SECTION.format("Variable f :> nat -> Prop."), UNREAD),
    "a canonical structure": ("Canonical slip := rat_realFieldType.\n", UNLISTED),
    "a structure": ("Structure slip := Slip { slipped : nat }.\n", UNLISTED),
    "an instance of a class": ("#[local] Instance slip : Reflexive lt := fun _ => I.\n", UNLISTED),
    "a class": ("Class slip := Slip : False.\n", UNLISTED),
    "an existing instance": ("Existing Instance slip.\n", UNLISTED),
    "a local name for a definition": (
        IN_SECTION.format("Let E_OPT : nat := 0%N."),
        "definitions.v defines this name between marks: E_OPT",
    ),
    "a local name of one letter for a definition": (
        IN_SECTION.format("Let N : nat := 0%N."),
        "definitions.v defines this name between marks: N",
    ),
    "a hypothesis with the name of a definition": (
        IN_SECTION.format("Variable E_OPT : nat."),
        "definitions.v defines this name between marks: E_OPT",
    ),
    "a variable of a local type": (
        IN_SECTION.format("Let R : Prop := False.\nVariable bad : R."),
        NOT_DATA,
    ),
    "a variable of a defined type": (
        "Definition T := False.\n" + IN_SECTION.format("Variable bad : T."),
        NOT_DATA,
    ),
    "a variable of an empty type": (IN_SECTION.format("Variable bad : 'I_0."), NOT_DATA),
    "a variable of every type": (IN_SECTION.format("Variable bad : forall T : Type, T."), NOT_DATA),
    "a variable about another": (
        IN_SECTION.format("Variables (n : nat) (P : nat -> Prop) (bad : P n)."),
        NOT_DATA,
    ),
    "a variable that could be no user": (
        IN_SECTION.format(
            "Variable n : nat.\nHypothesis h : n = 0%N.\nVariable bad : nat -> 'I_n."
        ),
        NO_VALUES + "Variable bad",
    ),
    "a variable of a set that could be empty": (
        IN_SECTION.format("Variable T : finType.\nHypothesis h : #|T| = 0%N.\nVariable bad : T."),
        NO_VALUES + "Variable bad",
    ),
    "a pair with a member of a set that could be empty": (
        IN_SECTION.format(
            "Variable T : finType.\nHypothesis h : #|T| = 0%N.\nVariable bad : T * (nat -> nat)."
        ),
        NO_VALUES + "Variable bad",
    ),
    "a variable of a type that a function of another numbers": (
        IN_SECTION.format("Variables (k : nat -> nat) (l : nat) (bad : 'I_(k l) -> nat)."),
        NOT_DATA,
    ),
    "a name that looks like another": (
        "(* begin slip *)\nDefinition x0 := 0.\nDefinition xO := 1.\n(* end slip *)\n",
        "this name looks like x0: xO",
    ),
    "a shared abbreviation outside a section": (
        "Definition m (l : 'I_1) : nat := 0%N.\nNotation c := (nth_count m).\n",
        "a shared abbreviation is not within a section: Notation c",
    ),
    "a type with a long name, which takes no time to read": (
        f"Inductive slip : Prop := A of {'a' * 60}!.\n",
        "the constructors or fields cannot be read: Inductive slip",
    ),
    "an implicit variable": (IN_SECTION.format("Variable [bad : false]."), UNREAD),
    "a scope with another name": ("Delimit Scope ring_scope with N.\n", UNLISTED),
    "a scope for a type": ("Bind Scope ring_scope with nat.\n", UNLISTED),
    "another scope": ("Local Open Scope int_scope.\n", UNLISTED),
    "a declared scope": ("Declare Scope slip_scope.\n", UNLISTED),
    "a section within a section": (
        "Section Slip.\nHypothesis bad : false.\n"
        + IN_SECTION.replace("Slip", "Inner").format("")
        + "End Slip.\n",
        NO_INSTANCE,
    ),
    "a section that stays open": ("Section Slip.\n", "the file ends within a mark, a proof or a"),
    "a section that another name ends": ("Section Slip.\nEnd Slop.\n", UNLISTED + "End Slop"),
    "a module": ("Module Slip.\nEnd Slip.\n", UNLISTED),
    "a fixpoint with the name of a definition": (
        "Fixpoint nth_count (n : nat) : nat := n.\n",
        "definitions.v defines this name between marks: nth_count",
    ),
    "a theorem under a name that is taken": (
        FALSE_THEOREM.replace("slip :", "thm_main :"),
        "optimum.v defines this name between marks: thm_main",
    ),
    "a theorem that the book would take for another": (
        FALSE_THEOREM.replace("slip :", "thm_one_line' :"),
        "the book does not find a theorem with a prime in its name: Theorem thm_one_line'",
    ),
    "a tactic in another file": ("Ltac linear := idtac.\n", UNLISTED),
    "a tactic that is defined again": ("Ltac linear ::= idtac.\n", UNLISTED),
    "an opaque definition": ("Opaque E_OPT.\n", UNLISTED),
    "an import within the file": (
        "From Coq Require Import Classical.\n",
        "an import is not at the head of the file, on one line: ",
    ),
    "an import of a module": (
        "Import ListNotations.\n",
        "an import is not at the head of the file, on one line: ",
    ),
    "a required file": ("Require Import slip.\n", UNLISTED),
    "a loaded file": ("Load slip.\n", UNLISTED),
    "a plug-in": ("Declare ML Module slip.\n", UNLISTED),
    "a hidden argument": ("Arguments E_OPT {R L m U eps}.\n", UNLISTED),
    "implicit arguments otherwise": ("Set Maximal Implicit Insertion.\n", UNLISTED),
    "a hint": ("Hint Resolve slip : core.\n", UNLISTED),
    "a program": ("Program Definition slip : False := _.\n", UNLISTED),
    "a second statement of a theorem": (
        "(* begin slip *)\nTheorem slip (n : nat) : n = n\nwith worse (n : nat) : n = n.\n"
        "(* end slip *)\nProof.\nexact: erefl.\nexact: erefl.\nQed.\n",
        "what follows 'with' would not be read: Theorem slip",
    ),
    "a second function": (
        "Fixpoint slip (n : nat) : nat := n with E_OPT (n : nat) : nat := n.\n",
        "what follows 'with' would not be read: Fixpoint slip",
    ),
    "a second type, after a number": (
        "Inductive slip : nat -> Prop := Slip : slip 0with worse : Prop := Worse.\n",
        "what follows 'with' would not be read: Inductive slip",
    ),
    "a second type, after a hexadecimal number": (
        "Inductive slip : nat -> Prop := Slip : slip 0xa_with Z : Prop := .\n",
        "what follows 'with' would not be read: Inductive slip",
    ),
    "a record without the name of its constructor": (
        "Record slip := { within (k : nat) : bool := true }.\n",
        "the constructors or fields cannot be read: Record slip",
    ),
    "a field with a value": (
        "Record slip := Slip { slipped : nat := 0 }.\n",
        "the constructors or fields cannot be read: Record slip",
    ),
    "a bar within a type": (
        "Inductive slip : Prop := Slip : [seq 0 | hidden <- nil] = nil -> slip.\n",
        "the constructors or fields cannot be read: Inductive slip",
    ),
    "a second type, after a notation": (
        "Inductive slip : Type -> Type := Slip : slip 'I_0with worse : Prop := Worse.\n",
        "what follows 'with' would not be read: Inductive slip",
    ),
    "a variable of a field that is read as a field": (
        "(* begin slip *)\nRecord slip := Slip { slipped : nat; worse : let bad : nat := 0 in nat;"
        " worst : forall P; bad : nat, P }.\n(* end slip *)\nDefinition bad := 0.\n",
        "this name is read twice, so once it is none: bad",
    ),
    "an import of a file that is not there": (
        lambda text: text.replace(
            "From UserDP Require Import ", "From UserDP Require Import evil ", 1
        ),
        "this file is imported, but not read: evil",
    ),
    "a carriage return": ("\r\n", "a character is not in ASCII: '\\r'"),
    "a derived statement": ("Derive slip SuchThat (4 = 5) As worse.\n", UNLISTED),
    "a goal": ("Goal False.\n", UNLISTED),
    "an attribute": ("#[global] Definition slip := 0.\n", UNLISTED),
    "a command after Time": ("Time Definition slip := 0.\n", UNLISTED),
    "a definition by tactics": (
        "Definition slip : nat.\nProof. exact: 0. Defined.\n",
        UNLISTED + "Definition slip : nat",
    ),
    "a definition by tactics, with a local name": (
        "Definition slip : let n := 0 in nat.\nProof. exact: 0. Qed.\n",
        UNLISTED + "Proof",
    ),
    "a theorem without 'Proof.'": (
        "Theorem slip : True.\nby [].\nQed.\n",
        "'Proof.' does not follow the statement of slip: by [].",
    ),
    "a command within a proof": (
        'Lemma slip : True.\nProof.\nNotation "a = b" := (a <> b).\nby []. Qed.\n',
        IN_PROOF,
    ),
    "a command after a bullet": (
        "Lemma slip : True.\nProof.\n- { Arguments E_OPT {R}. }\nQed.\n",
        IN_PROOF + "Arguments",
    ),
    "a command after a selector": (
        "Lemma slip : True.\nProof.\n1:{ Set Printing All. }\nQed.\n",
        IN_PROOF + "1:{",
    ),
    "an end of a proof that shows it": ("Lemma slip : True.\nProof. by []. Defined.\n", IN_PROOF),
    "a mark in a string": (
        'Notation "\n(* begin slip *)\n" := 0.\n',
        "a mark is within a comment or string, or not alone on its line",
    ),
    "a mark in a comment": (
        "(* as in\n(* begin slip *)\nthe other file *)\n",
        "a comment contains another one, or part of a string: ",
    ),
    "a mark beside a sentence": (
        FALSE_THEOREM.replace("slip *)\nTheorem", "slip *) Theorem"),
        "a mark is within a comment or string, or not alone on its line",
    ),
    "a mark in a statement": (
        "Theorem slip :\n(* begin slip *)\n  True.\n(* end slip *)\nProof. by []. Qed.\n",
        "a mark is within a sentence: ",
    ),
    "a mark in a proof": (
        "Lemma slip : True.\nProof.\n(* begin slip *)\nby [].\n(* end slip *)\nQed.\n",
        "the mark 'begin slip'" + MISPLACED_MARK,
    ),
    "a mark that stays open": ("(* begin slip *)\n", "the file ends within a mark, a proof or"),
    "a mark that another one ends": (
        FALSE_THEOREM.replace("end slip", "end slop"),
        "the mark 'end slop'" + MISPLACED_MARK,
    ),
    "a theorem in a comment": (
        "(* begin slip *)\n(* shown only:\nTheorem slip : (4 = 5)%N. *)\n(* end slip *)\n",
        IN_COMMENT,
    ),
    "a comment that a string prolongs": (
        '(* " *)\nAxiom slip : False.\n(* " *)\n',
        "a comment contains another one, or part of a string: ",
    ),
    "a command for the shell in a comment": (
        "(* It needs:\nFrom UserDP Require Import ;false||instances.\n*)\n",
        IN_COMMENT,
    ),
    "a definition by a tactic within a term": (
        "Definition slip : nat := ltac:(transparent_abstract (exact 0) using hidden).\n",
        "a tactic within a term may define what is not read: Definition slip",
    ),
    "a comment beside a dot": (
        "Definition slip := 0.(* *)\n",
        "no space separates a comment from code: (* *)",
    ),
    "a comment without an end": (FALSE_THEOREM + "(* open\n", "the last sentence does not end"),
    "a sentence without an end": ("Definition slip := 0", "the last sentence does not end"),
    "a tab": ("Definition\tslip := 0.\n", "a character is not in ASCII: '\\t'"),
}
# A file that is written, or added to, and what is refused of it.
FILES = {
    "two files of one name": ("reals/one_line", "", "another file has this name, and Coq prints"),
    "a file in another folder": ("sub/slip", "", "files stand in proofs/ or reals/, in no other"),
    "a file with a large letter": ("List", "", "the name of a file has small letters, digits"),
    "a letter of a file's name that is not in ASCII": (
        "pr\N{CYRILLIC SMALL LETTER O}tected",
        "",
        "the name of a file has small letters, digits",
    ),
    "a file like instances": ("no_instances", "", "only instances.v may have such a name"),
    "marks in instances": (
        "instances",
        FALSE_THEOREM,
        "nothing stands between marks in instances.v",
    ),
    "a local definition in instances": (
        "instances",
        "Section Slip.\nLet m (l : 'I_3) : nat := 0%N.\nEnd Slip.\n",
        "an instance has no local definitions: Let m",
    ),
    "an import of instances": (
        "slip",
        "From UserDP Require Import reals.instances.\n",
        "instances are not imported: reals.instances",
    ),
}
# Text that is also added to instances.v: instances that do not apply the theorem to arguments.
NO_INSTANCES = {
    "a proof of something else": "Definition slip := I.\n",
    "another theorem": "Definition slip := @UserDP.one_line.thm_one_line R.\n",
    "a function": "Definition slip := fun bad => @UserDP.one_line.slip bad.\n",
    "an equation": "Definition slip := @UserDP.one_line.slip = @UserDP.one_line.slip.\n",
    "an arrow": "Definition slip := @UserDP.one_line.slip -> True.\n",
    "another type": "Definition slip := @UserDP.one_line.slip : (false -> (4 = 5)%N).\n",
    "a local definition": "Definition slip := @UserDP.one_line.slip let y := 0 in True.\n",
    "a lemma": "Lemma slip : True. Proof. by []. Qed.\n",
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Copy the files that the scanner reads."""
    folder = tmp_path_factory.mktemp("scanned")
    for file in ("scan.py", "listed.txt", "*.v", "reals/*.v"):
        for path in PROOFS.glob(file):
            (folder / path.relative_to(PROOFS)).parent.mkdir(exist_ok=True)
            shutil.copy(path, folder / path.relative_to(PROOFS))
    (folder / "out" / "reals").mkdir(parents=True)
    return folder


def refused(folder, **added):
    """Return the exit code and messages of the scanner if text is added to files, new or not."""
    files = {folder / f"{name}.v": slip for name, slip in added.items()}
    original_texts = {p: p.read_text("utf-8") if p.exists() else "" for p in files}
    try:
        for path, slip in files.items():
            text = slip(original_texts[path]) if callable(slip) else original_texts[path] + slip
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8", newline="")
        command = [sys.executable, folder / "scan.py", "sources", folder / "out"]
        run = subprocess.run(command, capture_output=True, text=True)
    finally:
        for path, text in original_texts.items():
            path.write_text(text, "utf-8") if text else path.unlink()
    return run.returncode, run.stderr


def test_the_proofs_are_not_refused(copied):
    assert refused(copied) == (0, "")


@pytest.mark.parametrize("slip", SLIPS)
def test_a_sentence_that_could_mislead_is_refused(slip, copied):
    """The message names file, line and reason."""
    added, reason = SLIPS[slip]
    failed, words = refused(copied, one_line=added)
    assert failed
    reason = re.escape(reason).replace(re.escape("..."), ".*")
    assert re.search(rf"^proofs/one_line\.v:\d+: {reason}", words, re.MULTILINE)


@pytest.mark.parametrize("slip", FILES)
def test_a_file_that_could_mislead_is_refused(slip, copied):
    file, added, reason = FILES[slip]
    failed, words = refused(copied, **{file: added})
    assert failed
    assert re.search(rf"^proofs/{file}\.v:\d+: {re.escape(reason)}", words, re.MULTILINE)


def test_a_name_of_a_file_that_the_shell_would_run_is_refused(tmp_path):
    shutil.copy(PROOFS / "Makefile", tmp_path)
    (tmp_path / "reals").mkdir()
    (tmp_path / "zz;echo odd;zz.v").write_text("", encoding="utf-8")
    done = subprocess.run(["make", "packages"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode
    assert done.stderr.strip().endswith("*** a file has an odd name.  Stop.")


def test_there_are_no_files_that_make_or_python_would_read_first():
    known = r"(reals/)?([a-z][a-z0-9_]*\.v|[a-z.]+\.txt|\..*)|README\.md|Makefile|scan\.py|reals"
    known += r"|collections\.jsonl"
    files = [path.relative_to(PROOFS).as_posix() for path in PROOFS.rglob("*")]
    assert [file for file in files if not re.fullmatch(known, file)] == []


@pytest.mark.parametrize("slip", NO_INSTANCES)
def test_an_instance_that_does_not_apply_the_theorem_is_refused(slip, copied):
    in_section = IN_SECTION.format("Hypothesis bad : false.")
    failed, words = refused(copied, one_line=in_section, instances=NO_INSTANCES[slip])
    assert failed
    assert "one_line.v:" in words
    assert (
        "instances.v lacks 'Definition slip := @UserDP.one_line.slip ...' with its arguments"
        in words
    )


def test_an_instance_must_not_be_in_a_section_with_hypotheses(copied):
    """A hypothesis with the name of an argument of the theorem would look like that argument."""
    in_section = IN_SECTION.format("Hypothesis n : false.").replace("Theorem slip : (4 = 5)%N.", "")
    failed, words = refused(copied, instances=in_section)
    assert failed
    assert re.search(r"instances\.v:\d+: an instance has no hypotheses: Hypothesis n", words)


def test_a_local_name_does_not_hide_a_definition_of_its_file(copied):
    slip = IN_SECTION.format("Let akmv_case : Prop := False.\nVariable bad : akmv_case.")
    failed, words = refused(copied, bridge=slip)
    assert failed
    assert "bridge.v defines this name between marks: akmv_case" in words


def test_a_sentence_is_listed_for_one_file_and_must_occur_in_it(copied):
    failed, words = refused(copied, one_line="Arguments akmv {R L} m U exp J.\n")
    assert failed
    assert UNLISTED in words
    listed = copied / "listed.txt"
    text = listed.read_text("utf-8")
    listed.write_text(text + "one_line.v: Opaque E_OPT\n", "utf-8")
    failed, words = refused(copied)
    listed.write_text(text, "utf-8")
    assert failed
    assert "listed.txt lists what this file does not contain: Opaque E_OPT" in words


@pytest.mark.parametrize("file", ["reals/bounds", "bridge", "definitions"])
def test_files_of_both_folders_are_scanned(file, copied):
    failed, words = refused(copied, **{file: "Axiom slip : False.\n"})
    assert failed
    assert f"proofs/{file}.v:" in words
    assert UNLISTED + "Axiom slip : False" in words
