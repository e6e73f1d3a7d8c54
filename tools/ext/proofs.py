"""A Sphinx extension: statements of the book beside what Coq has checked of them.

The table in proofs/README.md says which. {{ proofs }} sets each statement, copied from its page,
beside the formal one, taken from its file between two marks; so neither can drift. Each statement
in the table carries a mark that leads there.
"""

import re
from functools import cache

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
FORMAL = """```{{literalinclude}} ../proofs/{file}
:language: coq
:start-after: (* begin {mark} *)
:end-before: (* end {mark} *)
```
"""


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


def marked(file, label, names):
    """Return what a file says of a statement, between marks."""
    text = (ROOT / "proofs" / file).read_text("utf-8")
    marks = re.findall(r"^\(\* begin (\S+) \*\)", text, re.MULTILINE)
    wanted = [m for m in marks if m.startswith(label) or m.replace("-", "_") in names]
    if not wanted:
        raise ValueError(f"proofs/{file} has no marks around what it says of {label}")
    return [FORMAL.format(file=file, mark=mark) for mark in wanted]


def entry(label):
    """Return what the page says of a statement, in Markdown."""
    file, names, words = checked()[label]
    files = [file, *(name for name in names if name.endswith(".v"))]
    formal = [part for each in files for part in marked(each, label, names)]
    title = f"{{prf:ref}}`{label}`" if not label.startswith("err-") else f"[](#{label})"
    where = " and ".join(f"`proofs/{each}`" for each in files)
    said = f"*{words[0].upper()}{words[1:]}.* On {{doc}}`{home(label)}`; in {where}."
    return ENTRY.format(
        target=f"machine-{label}", title=title, words=said, label=label, formal="\n".join(formal)
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
