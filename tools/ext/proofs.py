"""A Sphinx extension: which statements of the book Coq has checked, and where.

The table in proofs/README.md lists what is checked. {{ proofs }} extends it to every numbered
statement of the book, in the book's order, and every erratum: statements that are not in
proofs/README.md are proved by hand. The table links to the formal statements as Coq prints them,
and to their files; the box of each checked statement links to the table.
"""

import re
from functools import cache
from itertools import groupby
from operator import itemgetter

from docutils import nodes
from sphinx import addnodes

from .contents import ROOT, page, pages

PROOFS = ROOT / "proofs"
ROW = re.compile(r"^\| (`[a-z].*?`) \| (`[\w/]+\.v`: .*) \| (checked|in part) \| (.*?) *\|$", re.M)
BLOCK = re.compile(r"^\(\* begin (.*) \*\)\n((?s:.*?))^\(\* end", re.MULTILINE)
THEOREM = re.compile(r"^Theorem (\w+)", re.MULTILINE)
BOX = re.compile(r"^:{3,}\{prf:(?!definition)\w+\} ?(.*)\n:label: (\S+)$", re.MULTILINE)
ERRATUM = re.compile(r"^\((err-[\w-]+)\)=\n### (.*)$", re.MULTILINE)
BY_HAND = ("by hand", [], "")
REFUTED = "that it is wrong"
"""The remark if what is checked is that a statement of the paper is wrong."""


@cache
def checked():
    """Return the verdict, the theorems and the remark for each label of the table."""
    verdicts = {}
    for labels, where, verdict, remark in ROW.findall((PROOFS / "README.md").read_text("utf-8")):
        files = [re.findall("`(.*?)`", part) for part in where.split("; ")]
        theorems = [(file, name) for file, *names in files for name in names]
        verdicts |= dict.fromkeys(re.findall("`(.*?)`", labels), (verdict, theorems, remark))
    return verdicts


@cache
def statements():
    """Return the labels of all numbered statements of the book and of its errata, with titles."""
    titles = {}
    for name in pages():
        text = "\n\n".join(c.source for c in page(name).cells if c.cell_type == "markdown")
        for title, label in BOX.findall(text):
            titles[label] = re.sub(r" \(\{cite:t\}.*?\)", "", title)
        titles |= dict(ERRATUM.findall(text))
    return titles


@cache
def labels_of_theorems():
    """Return the labels that each theorem between marks is about, by file and theorem."""
    return {
        (str(path.relative_to(PROOFS)), theorem): labels
        for path in sorted(PROOFS.rglob("*.v"))
        for labels, text in BLOCK.findall(path.read_text("utf-8"))
        for theorem in THEOREM.findall(text)
    }


def statement(mark):
    """Return the statement that a label in a mark is about: `thm-twice` for `thm-twice-drawn`."""
    return max((x for x in statements() if f"{mark}-".startswith(f"{x}-")), key=len, default="")


def closed_file(file):
    """Return the file that has the theorems of a file as Coq prints them, with all they assume."""
    return f"proofs/{file.rpartition('/')[0]}/closed.txt".replace("//", "/")


def shown(label):
    """Return "checked", "in part", "by hand", or "refuted" if what is checked is the negation."""
    verdict, _, remark = checked().get(label, BY_HAND)
    return "refuted" if remark == REFUTED else verdict


def entry(label):
    """Return the row of a statement, in Markdown."""
    _, theorems, remark = checked().get(label, BY_HAND)
    for theorem in theorems:
        if label not in map(statement, labels_of_theorems().get(theorem, "").split()):
            raise ValueError(f"{theorem} is not between marks that name {label}")
    title = statements()[label].replace("|", r"\|")
    name, about = f"{{prf:ref}}`{label}`", title and f": {title}"
    if label.startswith("err-"):
        name, about = f"[{title}](#{label})", ""
    by_file = [(file, [*names]) for file, names in groupby(theorems, itemgetter(0))]
    where = "; ".join(
        ", ".join(f"`{closed_file(file)}::{name}`" for _, name in names)
        + f" (`proofs/{file}::{names[0][1]}`)"
        for file, names in by_file
    )
    return f"| [{name}]{{#machine-{label}}}{about} | *{shown(label)}* | {where} | {remark} |"


def table():
    """Return the table of all statements, in Markdown."""
    columns = "Statement | Verdict | In Coq | What is proved, assumed or missing"
    head = f"| {columns} |\n|---|---|---|---|\n"
    return head + "\n".join(map(entry, statements())) + "\n"


def counts():
    """Return the number of statements with each verdict, as text."""
    verdicts = [*map(shown, statements())]
    kinds = ("checked", "refuted", "in part", "by hand")
    return ", ".join(f"{verdicts.count(kind)} *{kind}*" for kind in kinds)


def add_links(app, tree):
    """Link from the title of each checked statement to its row in the table."""
    for box in tree.findall(nodes.Admonition):
        if box.get("label") in checked():
            verdict = shown(box["label"])
            phrase = "refuted by machine" if verdict == "refuted" else "checked by machine"
            options = {"refdomain": "std", "reftype": "ref", "refexplicit": True, "refwarn": True}
            words = nodes.inline("", phrase + ", in part" * (verdict == "in part"))
            link = addnodes.pending_xref("", words, reftarget=f"machine-{box['label']}", **options)
            box[0] += [nodes.Text(" "), nodes.inline("", "", link, classes=["machine"])]


def setup(app):
    """Register the extension."""
    app.connect("doctree-read", add_links)
