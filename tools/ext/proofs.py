"""A Sphinx extension: statements of the book beside what Coq has checked of them.

The table in proofs/README.md says which. {{ proofs }} sets each statement, copied from its page,
beside the formal one, taken from its file between two marks, with what its section assumes and the
definitions that it rests on; so none can drift. Each statement in the table carries a mark that
leads there.
"""

import re
from functools import cache
from itertools import groupby

from contents import ROOT, ledger, page
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

ROW = re.compile(r"^\| (`.*`) \| `(\w+\.v)`(?:: (.*?))? \| (.*) \|$", re.MULTILINE)
ENTRY = """({target})=
### {title}

{said}

:::::::{{admonition}} The book's statement, and the formal one
:class: dropdown

{checks}

::::::{{grid}}
:::::{{grid-item}}
:columns: 12 12 4 4

{words}
:::::
:::::{{grid-item}}
:columns: 12 12 8 8

{formal}
:::::
::::::
:::::::

"""
MARK = re.compile(r"\(\* begin (\S+) \*\)")
FIXED = re.compile(r"(Var|Hyp|(?:Let|Notation) (\w+) .*:=).*\.")
SHOWN = {"def-mechanism"}  # once on the page, with all that stands in definitions.v


@cache
def checked():
    """Return, for each label of the table, its file, its theorems and what is said of it."""
    rows = ROW.findall((ROOT / "proofs" / "README.md").read_text("utf-8"))
    code = lambda text: re.findall(r"`([^`]*)`", text)  # noqa: E731
    found = [
        (label, file, code(names), words)
        for labels, file, names, words in rows
        for label in code(labels)
    ]
    return {label: (file, names, words) for label, file, names, words in reversed(found)}


def home(label):
    """Return the page of a statement."""
    return next((row["page"] for row in ledger() if row["label"] == label), "errata")


def stated(label):
    """Return the title of a statement of the book, or of an erratum, and what it says."""
    text = "\n\n".join(c.source for c in page(home(label)).cells if c.cell_type == "markdown")
    box = rf"^(:{{3,}})\{{prf:[^\n]*\n:label: {label}\n\n(?P<words>.*?)^\1$"
    section = rf"^\({label}\)=\n### (?P<title>[^\n]*)\n\n(?P<words>.*?)(?=^\(|^#|\Z)"
    found = re.search(section if label.startswith("err-") else box, text, re.M | re.S).groupdict()
    title = f"[{found['title']}](#{label})" if "title" in found else f"{{prf:ref}}`{label}`"
    words = re.sub(r" \(?\[[Ii]n Coq\]\(.*?\)(\)|\.)", "", found["words"])
    return title, re.sub(r"^\$\$ \(.*\)$", "$$", words, flags=re.M)  # without numbers


@cache
def blocks(file):
    """Return, for each mark of a file, what it is around, and before it what its sections fix."""
    sections, found, mark = [[]], {}, ""
    for line in (ROOT / "proofs" / file).read_text("utf-8").splitlines(keepends=True):
        if begin := MARK.match(line):
            mark, fixed, block = begin[1], [x for section in sections for x in section], ""
        elif mark and line.startswith("(* end"):
            used = {"Var", *re.findall(r"\w+", block), *["Hyp"] * ("Theorem" in block)}
            found[mark] = ("".join(x.string for x in fixed if (x[2] or x[1]) in used), block)
            mark = ""
        elif mark:
            block += line
        if line.startswith("Section "):
            sections.append([])
        elif line.startswith("End "):
            sections.pop()
        elif says := FIXED.match(line):
            sections[-1].append(says)
    return found


def definitions(file, text):
    """Return the blocks of definitions, beyond definitions.v, that a text of a file rests on."""
    source = (ROOT / "proofs" / file).read_text("utf-8")
    imports = re.search(r"^From UserDP Require Import (.*)\.$", source, re.MULTILINE)[1].split()
    words, found = set(re.findall(r"\w+", text)), []
    for other in [file, *(f"{name}.v" for name in reversed(imports) if name != "definitions")]:
        for mark, block in reversed(blocks(other).items()):
            names = set(re.findall(r"^(?:Definition|Fixpoint) (\w\w+)", block[1], re.MULTILINE))
            if mark.startswith("def-") and mark not in SHOWN and names & words:
                words = (words | set(re.findall(r"\w+", block[1]))) - names
                found.insert(0, block)
    return found


def formal(file, label, names):
    """Return, in Markdown, what a file says of a statement, and all that this rests on."""
    wanted = [
        block
        for mark, block in blocks(file).items()
        if mark.startswith(label) or mark.replace("-", "_") in names
    ]
    if not wanted:
        raise ValueError(f"proofs/{file} has no marks around what it says of {label}")
    used = definitions(file, "".join(text for _, text in wanted))
    return "\n".join(
        f"```coq\n{fixed}" + "\n".join(text for _, text in same) + "```\n"
        for fixed, same in groupby([*used, *wanted], key=lambda block: block[0])
    )


def entry(label):
    """Return what the page says of a statement, in Markdown."""
    file, names, checks = checked()[label]
    files = [file, *(name for name in names if name.endswith(".v"))]
    title, words = stated(label)
    where = " and ".join(f"`proofs/{each}`" for each in files)
    checks = checks[0].upper() + checks[1:]
    said = f"*{re.match('[^,;:]*', checks)[0]}.* On {{doc}}`{home(label)}`; in {where}."
    proved = "\n".join(formal(each, label, names) for each in files)
    known = {"target": f"machine-{label}", "title": title, "said": said, "checks": f"*{checks}.*"}
    return ENTRY.format(words=words, formal=proved, **known)


class Mark(SphinxTransform):
    """Say at a statement that it is checked by machine."""

    default_priority = 600

    def apply(self, **kwargs):
        """Add a link to its title."""
        for box in list(self.document.findall(nodes.Admonition)):
            if box.get("label") in checked():
                to = {"refdomain": "std", "reftype": "ref", "refexplicit": True, "refwarn": True}
                words = nodes.inline("", "checked by machine")
                link = addnodes.pending_xref("", words, reftarget=f"machine-{box['label']}", **to)
                box[0] += [nodes.Text(" "), nodes.inline("", "", link, classes=["machine"])]


def tell(app, config):
    """Let the page show them all, in the order of the table."""
    config.myst_substitutions["proofs"] = "".join([entry(x) for x in reversed(checked())])


def setup(app):
    """Register the extension."""
    app.add_transform(Mark)
    app.connect("config-inited", tell)
