"""A Sphinx extension: statements of the book beside what Coq has checked of them.

The table in proofs/README.md says which. {{ proofs }} sets each statement, copied from its page,
beside the formal one: as Coq prints it outside its section, with all that it assumes, below the
comment of its file. Above it stand the definitions that it rests on, taken from the files between
marks, with the variables and notations of the sections that are open there; so none can drift. Each
statement in the table carries a link that leads there.
"""

import re
from functools import cache
from itertools import groupby

from contents import ROOT, ledger, page
from docutils import nodes
from sphinx import addnodes

PROOFS = ROOT / "proofs"
ROW = re.compile(r"^\| (`.*`) \| (`\w+\.v`.*?) \| (.*) \|$", re.MULTILINE)
IMPORTS = re.compile(r"^From UserDP Require Import (.*)\.$", re.MULTILINE)
BLOCK = re.compile(r"^\(\* begin (.*) \*\)\n((?s:.*?))^\(\* end", re.MULTILINE)
SECTION = re.compile(r"^Section (\w+)\.$(?s:.*?)^End \1\.$", re.MULTILINE)
FIXED = re.compile(r"^((?:Var|(?:Let|Notation) (\w+) .*:=)(?s:.*?)\.(?: .*)?\n)", re.MULTILINE)
THEOREM = re.compile(r"^Theorem (\w+)(?s:.*?)\.$", re.MULTILINE)
PRINTED = re.compile(r"^(\w+)\n     : (.*\n(?: .*\n)*)", re.MULTILINE)
DEFINED = re.compile(r"^(?:Definition|Fixpoint) (\w\w+)", re.MULTILINE)


@cache
def checked():
    """Return, for each label of the table, where it is checked, and what is said of it."""
    rows = ROW.findall((PROOFS / "README.md").read_text("utf-8"))
    return {
        label: (where, words)
        for labels, where, words in rows
        for label in re.findall("`(.*?)`", labels)
    }


def stated(label):
    """Return the page of a statement of the book, or of an erratum, its title and what it says."""
    home = next((row["page"] for row in ledger() if row["label"] == label), "errata")
    text = "\n\n".join(c.source for c in page(home).cells if c.cell_type == "markdown")
    box = rf"^(:{{3,}})\{{prf:.*\n:label: {label}\n\n(?P<words>(?s:.*?))^\1$"
    section = rf"^\({label}\)=\n### (?P<title>.*)\n\n(?P<words>(?s:.*?))(?=^\(|^#|\Z)"
    found = re.search(section if label.startswith("err-") else box, text, re.M).groupdict()
    title = f"[{found['title']}](#{label})" if "title" in found else f"{{prf:ref}}`{label}`"
    words = re.sub(r" \(?\[[Ii]n Coq\]\(.*?\)(\)|\.)", "", found["words"])
    return home, title, re.sub(r"^\$\$ \(.*\)$", "$$", words, flags=re.M)  # without numbers


@cache
def printed():
    """Return the theorems as Coq prints them outside their sections."""
    found = PRINTED.findall((PROOFS / "closed.txt").read_text("utf-8"))
    return {name: re.sub(r" *\n {5}", "\n", said).rstrip() for name, said in found}


def closed(statement):
    """Return a theorem, found in its section, with all that it assumes."""
    name = statement[1]
    return f"Theorem {name} :\n  {printed()[name]}."


def formal(label, files):
    """Return, in Markdown, what files say of a statement, and the definitions that it rests on."""
    sources = {path.stem: path.read_text("utf-8") for path in PROOFS.glob("*.v")}
    imports = " ".join(IMPORTS.search(sources[file])[1] for file in files).split()
    source = "".join(sources[file] for file in dict.fromkeys(imports + files))
    shown, words = [], set()
    for block in reversed([*BLOCK.finditer(source)]):
        whom, text = block.groups()
        defined = DEFINED.findall(text)
        defines = whom.startswith("def-") and words.intersection(defined)
        if label in whom or defines:
            above = SECTION.sub("", source[: block.start()])
            used = re.findall(r"\w+", text)
            fixed = "".join(line for line, name in FIXED.findall(above) if not name or name in used)
            words.update(re.findall(r"\w+", fixed + text))
            shown.insert(0, (fixed if defined else "", THEOREM.sub(closed, text)))
    return "\n".join(
        f"```coq\n{fixed}" + "\n".join(text for _, text in same) + "```\n"
        for fixed, same in groupby(shown, key=lambda block: block[0])
    )


def entry(label):
    """Return what the page says of a statement, in Markdown."""
    where, checks = checked()[label]
    files = re.findall(r"`(\w+)\.v`", where)
    proved = formal(label, files)
    for theorem in re.findall(r"`(\w+)`", where) or [label.replace("-", "_")]:
        if f"Theorem {theorem} " not in proved:
            raise ValueError(f"{theorem} does not stand between marks that name {label}")
    home, title, words = stated(label)
    checks = checks[0].upper() + checks[1:]
    where = " and ".join(f"`proofs/{file}.v`" for file in files)
    return f"""(machine-{label})=
### {title}

*{re.match("[^,;:]*", checks)[0]}.* On {{doc}}`{home}`; in {where}.

:::::::{{admonition}} The book's statement, and the formal one
:class: dropdown

*{checks}.*

::::::{{grid}}
:::::{{grid-item}}
:columns: 12 12 4 4

{words}
:::::
:::::{{grid-item}}
:columns: 12 12 8 8

{proved}
:::::
::::::
:::::::

"""


def mark(app, tree):
    """Say in the title of a statement that it is checked by machine, and lead there."""
    for box in tree.findall(nodes.Admonition):
        if box.get("label") in checked():
            to = {"refdomain": "std", "reftype": "ref", "refexplicit": True, "refwarn": True}
            words = nodes.inline("", "checked by machine")
            link = addnodes.pending_xref("", words, reftarget=f"machine-{box['label']}", **to)
            box[0] += [nodes.Text(" "), nodes.inline("", "", link, classes=["machine"])]


def tell(app, config):
    """Let the page show them all, in the order of the table."""
    config.myst_substitutions["proofs"] = "".join([entry(x) for x in checked()])


def setup(app):
    """Register the extension."""
    app.connect("doctree-read", mark)
    app.connect("config-inited", tell)
