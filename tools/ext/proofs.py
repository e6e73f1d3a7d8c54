"""A Sphinx extension: statements of the book beside what Coq has checked of them.

The table in proofs/README.md says which. {{ proofs }} sets each statement, copied from its page,
beside the formal one, taken from its file between two marks, with what its section assumes and the
definitions that it rests on; so none can drift. Each statement in the table carries a mark that
leads there.
"""

import re
from functools import cache
from itertools import groupby

from contents import ROOT, ledger
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

ROW = re.compile(r"^\| (`.*`) \| `(\w+\.v)`(?:: (.*?))? \| (.*) \|$", re.MULTILINE)
ENTRY = """({target})=
### {title}

{words}

:::::::{{admonition}} The book's statement, and the formal one
:class: dropdown

::::::{{grid}} 1 1 1 2
:::::{{grid-item}}
:::{{stated}} {label}
:::
:::::
:::::{{grid-item}}
{formal}
:::::
::::::
:::::::

"""
BLOCK = re.compile(r"^\(\* begin (\S+) \*\)\n(.*?)^\(\* end", re.MULTILINE | re.DOTALL)
FIXED = re.compile(r"^(?:(?:Var|Hyp).*|(?:Let|Notation) (\w+) .*:= .*)\n", re.MULTILINE)


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


@cache
def blocks(file):
    """Return, for each mark of a file, what it is around, and before it what its section fixes."""
    text = (ROOT / "proofs" / file).read_text("utf-8")
    found = {}
    for block in BLOCK.finditer(text):
        section = re.split(r"^(?:Section|End) ", text[: block.start()], flags=re.MULTILINE)[-1]
        used = re.findall(r"\w+", block[2])
        fixed = [x[0] for x in FIXED.finditer(section) if not x[1] or x[1] in used]
        found[block[1]] = ("".join(fixed), block[2])
    return found


def definitions(file, text):
    """Return the blocks of definitions, beyond definitions.v, that a text of a file rests on."""
    source = (ROOT / "proofs" / file).read_text("utf-8")
    imports = re.search(r"^From UserDP Require Import (.*)\.$", source, re.MULTILINE)[1].split()
    words, found = set(re.findall(r"\w+", text)), []
    for other in [file, *(f"{name}.v" for name in reversed(imports) if name != "definitions")]:
        for mark, block in reversed(blocks(other).items()):
            names = set(re.findall(r"^(?:Definition|Fixpoint) (\w\w+)", block[1], re.MULTILINE))
            if mark.startswith("def-") and names & words:
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
    file, names, words = checked()[label]
    files = [file, *(name for name in names if name.endswith(".v"))]
    title = f"{{prf:ref}}`{label}`" if not label.startswith("err-") else f"[](#{label})"
    where = " and ".join(f"`proofs/{each}`" for each in files)
    said = f"*{words[0].upper()}{words[1:]}.* On {{doc}}`{home(label)}`; in {where}."
    stated = "\n".join(formal(each, label, names) for each in files)
    return ENTRY.format(
        target=f"machine-{label}", title=title, words=said, label=label, formal=stated
    )


class stated(nodes.General, nodes.Element):  # noqa: N801
    """Where a statement goes that stands on another page."""


class Stated(Directive):
    """Name a statement."""

    required_arguments = 1

    def run(self):
        """Keep its place."""
        return [stated(label=self.arguments[0])]


class Copy(SphinxPostTransform):
    """Put the statements in, before their references are resolved."""

    default_priority = 5

    def run(self, **kwargs):
        """Copy each from its page."""
        for place in list(self.document.findall(stated)):
            label = place["label"]
            page = self.env.get_doctree(f"book/{home(label)}")
            found = [n[1] for n in page.findall(nodes.Element) if n.get("label") == label]
            found += [n for n in page.findall(nodes.section) if label in n["ids"]]
            words = found[0].children[isinstance(found[0], nodes.section) :]  # no title
            inside = [node.deepcopy() for node in words if not isinstance(node, nodes.container)]
            copy = nodes.container("", *inside)
            for formula in copy.findall(nodes.math_block):
                formula["number"] = formula["label"] = None
            for link in copy.findall(addnodes.pending_xref):
                link["refdoc"] = self.env.docname
            place.replace_self(copy)


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
    app.add_node(stated)
    app.add_directive("stated", Stated)
    app.add_transform(Mark)
    app.add_post_transform(Copy)
    app.connect("config-inited", tell)
