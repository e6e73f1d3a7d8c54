"""Refuse sentences by which a file could show another statement than the one that it proves.

Outside proofs a file may hold only the sentences that `Source.declare` reads and those that
listed.txt lists for it; inside a proof, only tactics. Coq's own printing is compared as well: see
the Makefile. Usage: scan.py (sources | mentions | instances) OUT [reals/]
"""

import re
import sys
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
NAME = r"[A-Za-z_][\w']*"
SKIPPED = re.compile(r'"[^"]*"|\(\*(?P<comment>.*?)\*\)', re.DOTALL)
MARK = re.compile(r"^\(\* (begin|end) (.+) \*\)$", re.MULTILINE)
BETWEEN_MARKS = re.compile(
    "(?:Theorem|Definition|Fixpoint|Inductive|Record|Variables?|Hypothesis) "
)
IMPORT = re.compile(r"From (UserDP|Coq|mathcomp)[\w.]* Require( Import)?( [\w.]+)+|Import .*")
ASSUMED = re.compile(r"(Variable|Hypothes[ie]s)s? (.*)")
STATED = re.compile(rf"(Theorem|Lemma|Let) ({NAME})(?= |:)")
DEFINED = re.compile(rf"(Definition|Fixpoint|Inductive|Record) ({NAME})(?= ).*?:=(.*)")
CASE = rf"{NAME}(?: of [\w.' &]+)?"
# A type with its constructors, and one with its constructor and fields.
PARTS = {
    "Inductive": re.compile(rf"(?:\| )?{CASE}(?: \| {CASE})*"),
    "Record": re.compile(rf"{NAME} \{{(?: {NAME} : [\w.'()%* >-]+;)* {NAME} : [\w.'()%* >-]+\}}"),
}
GROUP = re.compile(r"\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")  # of binders
SORTS = ("realFieldType", "realType", "finType", "eqType", "Type")
# Types that have members: of them, and of variables, the types of variables are made.
DATA = re.compile(
    r"\b(?:nat|int|Z|BinNums\.N|clipping_case|certificate_case|akmv_case|plan R R)\b"
    r"|\{measure set \(measurableTypeR R\) -> \\bar R\}"
)
WRITTEN = ("statements", "definitions", "parts")
# The only unmarked definition that a theorem may mention: the decision procedure it proves correct.
CHECKS = {
    f"{theorem}_sound": f"{theorem}_ok"
    for theorem in (
        "bridge.rank",
        "bridge.clipping",
        "bridge.rounded",
        "bridge.optimal",
        "bridge.floats",
        "bridge.multipliers",
        "bridge.residuals",
        "bridge.akmv",
        "bridge_certificate.certificate",
    )
}


class Source:
    """A file: its theorems, with their hypotheses, its definitions, and what is refused."""

    def __init__(self, path, listed):
        self.file = path.relative_to(HERE).as_posix()
        self.module = self.file.removesuffix(".v").replace("/", ".")
        own = {line.partition(": ")[2] for line in listed if line.startswith(f"{self.file}: ")}
        self.shared = {line[5:] for line in listed if line.startswith("any: ")}
        self.listed = own | self.shared
        self.unused = {words for words in own if not words.endswith(" again")}
        self.refusals = []
        self.theorems, self.definitions, self.parts, self.bodies = {}, [], [], {}
        self.constructors = set()
        self.global_names, self.local_names = {}, {}  # with their lines
        self.imported = []  # of these files
        self.scope = []  # names with their kind, and how many sections are open
        self.sections, self.hypotheses = [], [[]]
        self.line, self.label, self.stated = 1, None, None
        self.in_proof, self.in_head = False, True
        text = path.read_bytes().decode("utf-8")  # with each carriage return
        for start, _, sentence in self.split(text):
            self.line = text.count("\n", 0, start) + 1
            self.at_margin = text[start - 1 : start] in ("", "\n")
            self.read(sentence)
        if self.label or self.in_proof or self.sections or self.stated:
            self.refuse("the file ends within a mark, a proof or a section")
        for words in self.unused:
            self.refuse("listed.txt lists what this file does not contain", words)

    def refuse(self, reason, sentence="", line=None):
        """Note what is refused, and why."""
        shown = f": {' '.join(sentence.split())[:100]}" if sentence else ""
        self.refusals.append(f"proofs/{self.file}:{line or self.line}: {reason}{shown}")

    def split(self, text):
        """Return the marks and sentences in their order, with their places."""
        comments = [item for item in SKIPPED.finditer(text) if item["comment"] is not None]
        code = text
        for item in comments:
            self.line = text.count("\n", 0, item.start()) + 1
            start, end = item.span()
            if "(*" in item["comment"] or item["comment"].count('"') % 2:
                self.refuse("a comment contains another one, or part of a string", item[0])
            if re.search(rf"^(?:{BETWEEN_MARKS.pattern}|From )", item["comment"], re.MULTILINE):
                self.refuse("a line of a comment reads like a sentence", item[0])
            if text[:start][-1:].strip() or text[end : end + 1].strip():
                self.refuse("no space separates a comment from code", item[0])
            code = code[:start] + re.sub(r"[^\n]", " ", item[0]) + code[end:]
        for odd in re.finditer(r"[^\n -~]", text):
            line = text.count("\n", 0, odd.start()) + 1
            self.refuse("a character is not in ASCII", ascii(odd[0]), line)
        marks = [(*item.span(), item[0]) for item in comments if MARK.fullmatch(item[0])]
        if len(marks) != len(MARK.findall(text)):
            self.refuse("a mark is within a comment or string, or not alone on its line")
        sentences = []
        for end, stop in pairwise(
            [0, *(x.end() for x in re.finditer(r"\.(?!\S)", code)), len(code)]
        ):
            if words := code[end:stop].strip():
                start = code.index(words, end)
                sentences.append((start, start + len(words), words))
        found = sorted(marks + sentences)
        for (_, end, _), (start, _, words) in pairwise(found):
            if start < end:
                self.refuse("a mark is within a sentence", words, text.count("\n", 0, start) + 1)
        return found

    def read(self, raw):
        """Read a mark or a sentence."""
        words = " ".join(raw.split())
        if mark := MARK.fullmatch(raw):
            self.read_mark(*mark.groups())
        elif self.in_proof:
            self.read_tactic(re.sub(r"^[-+*{} ]+", "", words))
        elif words == "Proof." and self.stated and not self.label:
            self.in_proof, self.stated = True, None
        elif self.stated and not self.stated.startswith("perhaps "):
            self.refuse(f"'Proof.' does not follow the statement of {self.stated}", words)
            self.stated = None
        elif not words.endswith("."):
            self.refuse("the last sentence does not end", words)
        else:
            self.stated = None
            self.declare(words[:-1], raw[:-1])

    def read_mark(self, side, label):
        """Open or close a mark."""
        if self.in_proof or self.label != (None if side == "begin" else label):
            self.refuse(f"the mark '{side} {label}' has no counterpart, or is within a proof")
        self.label = label if side == "begin" else None

    def read_tactic(self, words):
        """Read a sentence within a proof."""
        if words == "Qed.":
            self.in_proof = False
        elif not re.match("[a-z]", words) or '"' in words:
            self.refuse("within a proof only tactics and 'Qed.' may stand", words)

    def declare(self, words, raw):
        """Read a sentence outside proofs."""
        if self.label and not (BETWEEN_MARKS.match(words) and self.at_margin):
            self.refuse(
                "between marks are theorems, definitions and variables, at the margin", words
            )
        imports = IMPORT.fullmatch(words)
        if imports and not (self.in_head and raw == words and self.at_margin):
            self.refuse("an import is not at the head of the file, on one line", words)
        if imports and words.startswith("From UserDP"):
            folder, names = re.split(" Require(?: Import)? ", words.removeprefix("From UserDP"))
            self.imported += [f"{folder}.{name}".lstrip(".") for name in names.split()]
        used = re.findall(r"[\w']+", "" if words in self.listed else words)
        if {"ltac", "abstract", "transparent_abstract"} & set(used):
            self.refuse("a tactic within a term may define what is not read", words)
        # Coq ends a number, or a notation, before it: 0with, 0xa_with.
        ends = [word for word in used if re.search(r"(?<![A-Za-z]_)with$|^[\d'].*with$", word)]
        if used[:1] != ["Ltac"] and len(ends) > used.count("match"):
            self.refuse("what follows 'with' would not be read", words)
        self.in_head &= bool(imports) or words in self.listed
        if words in self.shared and words.startswith("Notation") and not self.sections:
            self.refuse("a shared abbreviation is not within a section", words)
        if words in self.listed:
            self.unused.discard(words)
        elif self.file == "linear.v" and re.match(f"Ltac {NAME}[^:]* := ", words):
            pass  # the file that defines tactics
        elif '"' in words:
            self.refuse("listed.txt does not list this notation", words)
        elif found := ASSUMED.fullmatch(words):
            self.assume(found[1] != "Variable", found[2], words)
        elif found := STATED.match(words):
            self.state(*found.groups(), words)
        elif found := DEFINED.fullmatch(words):
            self.define(*found.groups(), words)
        elif found := re.fullmatch(f"Section ({NAME})", words):
            self.sections.append(found[1])
            self.hypotheses.append([])
        elif self.sections and words == f"End {self.sections[-1]}":
            self.sections.pop()
            self.hypotheses.pop()
            self.scope = [x for x in self.scope if x[2] <= len(self.sections)]
        elif not (imports and words.startswith("From ")):
            self.refuse("listed.txt does not list this command", words)

    def assume(self, hypotheses, binders, words):
        """Read the variables or hypotheses of a section, in groups or not."""
        groups = GROUP.findall(binders) if binders.startswith("(") else [binders]
        parsed = [re.fullmatch(rf"({NAME}(?: {NAME})*) ?:(?!>) ?(.*)", group) for group in groups]
        whole = " ".join(f"({group})" for group in groups) if binders.startswith("(") else binders
        if not self.sections or whole != binders or not all(parsed):
            self.refuse("this is an axiom, or cannot be read", words)
            return
        if hypotheses and self.file.endswith("instances.v"):
            self.refuse("an instance has no hypotheses", words)
        for names, kind in (group.groups() for group in parsed):
            if not hypotheses and not self.is_data(kind):
                self.refuse("a variable must be data; assume by a Hypothesis", words)
            elif not hypotheses and self.may_be_empty(kind):
                self.refuse("a hypothesis could say that this variable has no values", words)
            for name in names.split():
                self.hypotheses[-1] += [name] * hypotheses
                self.local_names[name] = self.line
                use = "assumed" if hypotheses else kind if kind in SORTS else "data"
                self.scope.append((name, use, len(self.sections)))

    def is_data(self, kind):
        """Return whether a type is a sort, or has members for some values of its variables."""
        if kind in SORTS or "#" in kind:
            return kind in SORTS
        uses = {name: use for name, use, _ in self.scope if not re.search("_case$|^plan$", name)}
        if any(uses.get(x, "data") not in (*SORTS, "data") for x in re.findall(NAME, kind)):
            return False
        sorts, data = (
            "|".join([name for name in uses if uses[name] in use] or "#")
            for use in (SORTS, ("data",))
        )
        of_user = rf"\((?:{data}) l\)|" if kind.startswith("forall l, ") else ""
        kind = DATA.sub("#", kind.removeprefix("forall l, "))
        kind = re.sub(rf"'I_(?:{of_user}(?:{data})\b)|\bdataset R (?:{data})\b", "#", kind)
        kind = re.sub(rf"(?<![\w.'])(?:{sorts})(?![\w.'])", "#", kind)
        for _ in range(len(kind)):
            kind = re.sub(
                r"\b(?:pred|option|seq) #|\{set #\}|\(#\)|# -> (?:#|Prop\b)|# \* #", "#", kind
            )
        return kind == "#"

    def may_be_empty(self, kind):
        """Return whether hypotheses may say that a type has no members."""
        places = [i for i, (_, use, _) in enumerate(self.scope) if use == "assumed"]
        before = self.scope[: max(places, default=0)]
        sorts = {name for name, use, _ in before if use in ("finType", "eqType", "Type")}
        value = kind if " * " in kind else kind.rpartition("-> ")[2]
        value = re.sub(r"\b(?:pred|option|seq) \S+|\{set .*?\}", "", value)
        return bool((places and "'I_" in value) or sorts & {*re.findall(NAME, value)})

    def state(self, word, name, words):
        """Read a theorem, a lemma, or what is local to a section: stated, or defined by ':='."""
        self.stated = f"perhaps {name}" if word == "Let" and ":=" in words else name
        if word == "Let" and self.file.endswith("instances.v"):
            self.refuse("an instance has no local definitions", words)
        self.name(name, local=word == "Let")
        if self.label and "'" in name:
            self.refuse("the book does not find a theorem with a prime in its name", words)
        if self.label and word == "Theorem":
            self.theorems[name] = [x for section in self.hypotheses for x in section]

    def define(self, word, name, body, words):
        """Read a definition, or a type with its constructors and fields."""
        parts = []
        if word == "Record":
            constructor, _, fields = body.partition("{")
            parts = [*constructor.split(), *re.findall(rf"(?:^|;) *({NAME}) :", fields)]
            self.constructors |= {*constructor.split()}
        elif word == "Inductive":
            parts = [case.split()[0] for case in body.split("|") if case.strip()]
            self.constructors |= {*parts}
        if word in PARTS and not PARTS[word].fullmatch(body.strip()):
            self.refuse("the constructors or fields cannot be read", words)
        if word in ("Record", "Inductive") and ":>" in words:
            self.refuse("a field is a coercion", words)
        for part in [name, *parts]:
            self.name(part)
        self.bodies[name] = words
        if self.label:
            self.definitions.append(name)
            self.parts += parts

    def name(self, name, local=False):
        """Note a name that no longer stands for a variable."""
        if name in self.global_names and not local:
            self.refuse("this name is read twice, so once it is none", name)
        (self.local_names if local else self.global_names)[name] = self.line
        self.scope.append((name, "defined", len(self.sections) if local else 0))


def refuse_second_names(sources):
    """Refuse a definition of a name that another file defines, or states, between marks."""
    for source in sources:
        for other in sources:
            near = source is other or source.module in other.imported
            local = {name for name in other.local_names if near or len(name) > 1}
            known = {*source.theorems, *source.definitions, *source.parts}
            names = local if other is source else other.global_names.keys() | local
            for name in sorted(known & names):
                if f"{name} again" not in source.listed | other.listed:
                    line = other.global_names.get(name) or other.local_names[name]
                    other.refuse(f"{source.file} defines this name between marks", name, line)


SAME_LOOK = str.maketrans({"0": "O", "1": "l", "I": "l"})


def refuse_similar_names(sources):
    """Refuse two names between marks that differ only in 0 and O, or in 1, l and I."""
    names = [(x, n) for x in sources for n in (*x.theorems, *x.definitions, *x.parts)]
    seen = {}
    for source, name in names:
        other = seen.setdefault(name.translate(SAME_LOOK), name)
        if other != name:
            source.refuse(f"this name looks like {other}", name, source.global_names[name])


def refuse_files(sources):
    """Refuse files whose names Coq prints alike, and imports that are not read or of instances."""
    stems = [source.module.rpartition(".")[2] for source in sources]
    for source, stem in zip(sources, stems, strict=True):
        if source.file not in (f"{stem}.v", f"reals/{stem}.v"):
            source.refuse("files stand in proofs/ or reals/, in no other folder")
        if not re.fullmatch("[a-z][a-z0-9_]*", stem):
            source.refuse("the name of a file has small letters, digits and underscores")
        if stem != "instances" and stems.count(stem) > 1:
            source.refuse("another file has this name, and Coq prints their names alike")
        if stem != "instances" and stem.endswith("instances"):
            source.refuse("only instances.v may have such a name")
        if stem == "instances" and (source.theorems or source.definitions):
            source.refuse("nothing stands between marks in instances.v")
        for name in source.imported:
            if name.endswith("instances"):
                source.refuse("instances are not imported", name)
            elif name not in [other.module for other in sources]:
                source.refuse("this file is imported, but not read", name)


def refuse_without_instance(sources):
    """Refuse a theorem under hypotheses if its instance is not the theorem applied to arguments."""
    for source in sources:
        folder = "reals/" if source.file.startswith("reals/") else ""
        bodies = next(x.bodies for x in sources if x.file == f"{folder}instances.v")
        for name in [name for name, assumed in source.theorems.items() if assumed]:
            start = f"Definition {name} := @UserDP.{source.module}.{name} "
            given = " ".join(given_to(bodies.get(name, "")))
            given = given.replace("%:R", "")  # a colon else says what type to show instead
            if not bodies.get(name, "").startswith(start) or re.search(r"[^\w'.@% ]", given):
                source.refuse(f"{folder}instances.v lacks '{start}...' with its arguments")


def given_to(instance):
    """Return the arguments to which an instance applies its theorem; those in parentheses as _."""
    for _ in range(instance.count("(")):
        instance = re.sub(r"\([^()]*\)", " _ ", instance)
    return instance.split()[4:]  # after: Definition name := @theorem


def sources(out, tier):
    """Check all files, and write the theorems, definitions and fields between marks of a tier."""
    listed = (HERE / "listed.txt").read_text("utf-8").splitlines()
    files = [Source(path, listed) for path in sorted(HERE.rglob("*.v"))]
    refuse_files(files)
    refuse_second_names([file for file in files if not file.file.endswith("instances.v")])
    refuse_similar_names(files)
    refuse_without_instance(files)
    if refusals := [line for file in files for line in file.refusals]:
        sys.exit("\n".join(refusals))
    files = [file for file in files if file.file.startswith("reals/") == bool(tier)]
    statements = [(f"{x.module}.{name}", *x.theorems[name]) for x in files for name in x.theorems]
    lines = {
        "statements": [" ".join(words) for words in statements],
        "definitions": [f"{file.module}.{name}" for file in files for name in file.definitions],
        "parts": [f"{file.module}.{name}" for file in files for name in file.parts],
    }
    for name in WRITTEN:
        (out / tier / name).write_text("".join(f"{line}\n" for line in lines[name]), "utf-8")


def short(name):
    """Return a name as Coq prints it, without the folder of its file."""
    return ".".join(name.split(".")[-2:])


def mentions(out, tier):
    """Print what Coq has printed in full, if it mentions only what is defined between marks."""
    lines = [x for t in {"", tier} for name in WRITTEN for x in read(out, t, name).splitlines()]
    known = {short(line.split()[0]) for line in lines}
    ours = "|".join(path.stem for path in HERE.rglob("*.v"))
    text, _, located = read(out, tier, "mentioned.txt").rpartition("tt\n     : unit\n")
    blocks = re.findall(r"^(?:Record |Inductive )?(\S+)(.*\n(?:[ \n].*\n|\n)*)", text, re.MULTILINE)
    constant = re.compile(rf"(?<![\w.'])(?:{ours})\.[\w']+")
    wrong = [
        f"{name} mentions {other}, which is not defined between marks"
        for name, words in blocks
        for other in sorted({*constant.findall(name + words)} - known)
        if CHECKS.get(name) != other
    ]
    far = rf"(?<![\w'])(?:UserDP\.[\w.']+|(?:\w+\.)+(?:{ours})\.[\w']+)"
    wrong += [f"{name} is printed with its folder" for name in sorted({*re.findall(far, text)})]
    wrong += names_of_the_library(out, tier, located)
    wrong += unread_names(tier, located)
    if wrong or not blocks or not located:
        sys.exit("\n".join(wrong) or "Coq has not printed all that it was asked for")
    print(re.sub("^ +| +$", "", text, flags=re.MULTILINE), end="")


def names_of_the_library(out, tier, located):
    """Return what is wrong with names between marks that `Locate` finds in the library, too."""
    listed = (HERE / "listed.txt").read_text("utf-8").splitlines()
    own, defined = (
        [x.rpartition(".") for t in {"", tier} for w in words for x in read(out, t, w).splitlines()]
        for words in (WRITTEN[1:], ["definitions"])
    )
    unlisted = {x for m, _, x in own if f"{m.replace('.', '/')}.v: {x} again" not in listed}
    defined = {x for *_, x in defined}
    wrong = []
    found = re.findall(r"^(\w+) (?!UserDP\.)(\S+)$(\n +\(shorter)?", located, re.MULTILINE)
    for kind, name, far in found:
        last = name.rpartition(".")[2]
        if last in unlisted and (last in defined or not (far or kind == "Module")):
            wrong.append(f"{name} is a name of the library, which may not be defined between marks")
    return wrong


def unread_names(tier, located):
    """Return what differs between the names that Coq lists for each file, and those read here."""
    listed = (HERE / "listed.txt").read_text("utf-8").splitlines()
    constructors = {*re.findall(r"^Constructor UserDP\.(\S+)", located, re.MULTILINE)}
    wrong = []
    for path in sorted((HERE / tier).glob("*.v")):
        if path.stem == "instances":
            continue
        source = Source(path, listed)
        names = names_in_coq(path.stem, located)
        differ = names ^ (source.global_names.keys() - source.constructors)
        between_marks = source.constructors & {*source.parts}
        differ |= {x for x in between_marks if f"{source.module}.{x}" not in constructors}
        wrong += [f"Coq and scan.py differ in {x}, of {source.file}" for x in sorted(differ)]
    return wrong


def names_in_coq(stem, located):
    """Return the names that Coq lists for a file, but for constructors and induction principles."""
    found = re.search(rf"^Module\s{stem}\s:= Struct\s([^:]*?)\s*End$", located, re.MULTILINE)
    if found is None:
        sys.exit(f"Coq has not listed the names of {stem}.v")
    words = found[1].split()
    names = dict(zip(words[1::2], words[::2], strict=True))  # with their kinds
    types = [name for name, kind in names.items() if kind in ("Inductive", "Record", "Variant")]
    sorts = ("ind", "rec", "rect", "sind")
    return names.keys() - {f"{name}_{sort}" for name in types for sort in sorts}


def printed(text, constant):
    """Return what `About` has printed of a constant."""
    blocks = re.findall(r"((?:.*\n)*?)Expands to: Constant UserDP\.(\S+)\n", text)
    block = next((block for block, name in blocks if name == constant), None)
    if block is None:
        sys.exit(f"Coq has not printed what {constant} is")
    return block


def arguments(text, constant):
    """Return the names of the arguments of a constant, of which `About` has printed all."""
    block = printed(text, constant)
    found = re.search(r"^Arguments \S+((?:.|\n)*?)\n\S", block, re.MULTILINE)
    return re.findall(r"[\w']+", re.sub(r"%\w+", "", found[1])) if found else []


def instances(out, tier):
    """Refuse an instance of no users, or with an argument after its theorem's last hypothesis."""
    text = read(out, tier, "applied")
    bodies = Source(HERE / tier / "instances.v", []).bodies
    wrong = []
    for theorem, *assumed in map(str.split, read(out, tier, "statements").splitlines()):
        if assumed:
            last = theorem.rpartition(".")[2]
            instance = f"{tier.replace('/', '.')}instances.{last}"
            names, left = arguments(text, theorem), arguments(text, instance)
            if not set(names) & set(assumed):
                wrong.append(f"Coq shows no hypothesis of {theorem} among its arguments")
            rest = names[max((i for i, x in enumerate(names, 1) if x in assumed), default=0) :]
            left = left or ["_"] * len(rest)  # About prints nothing about arguments without names
            field = ["R"] if tier and "R" not in assumed else []  # the section's, for the reals
            if left not in (rest, field + rest):
                wrong.append(
                    f"{instance} leaves {left} open, not {rest}: prove the hypotheses there"
                )
            users = re.findall(r"\bordinal (\w+)", printed(text, theorem))
            # Users of type 'I_L.+1 are three for L = 2.
            more = re.findall(r"\bordinal \(S (\w+)\)", printed(text, theorem))
            required = dict.fromkeys(more, "2") | dict.fromkeys(users, "3") | {"m": "m"}
            for argument, given in zip(names, given_to(bodies.get(last, "")), strict=False):
                if required.get(argument, given) != given:
                    value = required[argument]
                    wrong.append(f"{instance} gives {given} for {argument}, not {value}")
    if wrong:
        sys.exit("\n".join(wrong))


def read(out, tier, name):
    """Return the text of a file that `make` has written."""
    return (out / tier / name).read_text("utf-8")


if __name__ == "__main__":
    task = {"sources": sources, "mentions": mentions, "instances": instances}[sys.argv[1]]
    task(Path(sys.argv[2]), "".join(sys.argv[3:]))
