"""A Sphinx extension: the book carries its own code, leads to it, and back.

Every file of `userdp`, of the tests and of the proofs has a page, such as code/userdp/model.html,
with an anchor for each class, function and method. So links to code work without a network, and
show the code of the very commit that was built. To these pages lead the signatures of the
reference, the role {test}`file::name`, and literals that are the name of a file. In other formats
nothing leads there.

Each entry of the reference says where the book uses the function or class: the claims and their
tests come from the ledger, book/claims.yml; the chapters are those with a cell that calls it.
"""

import inspect
import re
from importlib import import_module
from operator import attrgetter

import contents
from contents import ROOT
from docutils import nodes
from sphinx import addnodes
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxRole

PLACES = {"userdp": "**/*.py", "tests": "**/*.py", "proofs": "*.v"}
FILES = [str(p.relative_to(ROOT)) for d, kind in PLACES.items() for p in (ROOT / d).glob(kind)]
FILES.sort()

ROLES = {"eq": "eq", "fig": "numref", "sec": "ref", "err": "ref"}
"""How to refer to a label of each kind; to the others, as to a statement."""


def page(file):
    """Return the name of a file's page."""
    return "code/" + file.removesuffix(".py").removesuffix(".v")


def units(file):
    """Return a file's classes, functions and methods, each with its first and its last line."""
    if file.endswith(".v"):
        return {}
    tags = ModuleAnalyzer.for_file(str(ROOT / file), file).find_tags()
    return {name: (first, last) for name, (_, first, last) in tags.items()}


def place(module, name):
    """Return the file and the unit that define what a module exports; None for mere values."""
    found = attrgetter(name)(import_module(module))
    found = inspect.unwrap(getattr(found, "fget", None) or getattr(found, "func", found))
    file = getattr(found, "__module__", "").replace(".", "/") + ".py"
    unit = getattr(found, "__qualname__", "")
    return (file, unit) if file in FILES and unit in units(file) else None


class Test(SphinxRole):
    """Names a test of the book by its function; {test}`test_model.py::test_total`."""

    def run(self):
        """Return the function's name, and where it is."""
        file, _, unit = f"tests/{self.text}".partition("::")
        if file not in FILES or unit not in units(file):
            said = self.inliner.reporter.warning(f"no such test: {self.text}", line=self.lineno)
            return [nodes.literal(text=unit)], [said]
        return [nodes.literal(text=unit, code=(file, unit))], []


def link(app, document, docname):
    """Make links of the tests, files and signatures of a page."""
    if app.builder.format != "html":
        return

    def leading(file, unit, inner, **options):
        address = app.builder.get_relative_uri(docname, page(file)) + (unit and f"#{unit}")
        return nodes.reference("", "", inner, internal=True, refuri=address, **options)

    for literal in list(document.findall(nodes.literal)):
        file, unit = literal.get("code") or (literal.astext(), "")
        if file in FILES and not isinstance(literal.parent, nodes.reference):
            literal.replace_self(leading(file, unit, literal.deepcopy()))
    for signature in document.findall(addnodes.desc_signature):
        if code := place(signature["module"], signature["fullname"]):
            signature += leading(*code, nodes.Text("[source]"), classes=["source-link"])


def marked(file, code):
    """Return the highlighted code of a file with each unit in an element of its name."""
    head, pre, body = code.partition("<pre>")
    lines = body.split("\n")
    for name, (first, last) in units(file).items():
        lines[first - 1] = f'<span class="unit" id="{name}">' + lines[first - 1]
        lines[last] = "</span>" + lines[last]  # at the start of the line that follows
    return head + pre + "\n".join(lines)


def pages(app):
    """Yield a page for each file."""
    for file in FILES:
        text = (ROOT / file).read_text("utf-8")
        about = re.match(r'(?:"""|\(\* )((?:(?!"""|\n\n|\*\))[\s\S])*)|', text)[1] or ""
        language = "python" if file.endswith(".py") else "coq"
        code = marked(file, app.builder.highlighter.highlight_block(text, language))
        yield page(file), {"title": file, "about": about, "code": code}, "code.html"


def claim(row):
    """Return a row of the ledger, with a link to what it is about."""
    label, place = row["label"], row["where"]
    role = ROLES.get(label.split("-")[0], "prf:ref")
    said = f":ref:`{place} <{label}>`" if role == "ref" else f":{role}:`{label}`"
    if role != "ref" and not row["id"].startswith("new-"):
        said += f", in the paper {place}"
    verdict = "" if row["verdict"] == "holds" else f" *{row['verdict'].capitalize()}.*"
    return re.sub(r"\$(.+?)\$", r":math:`\1`", f"{said}: {row['says']}") + verdict


def add(app, what, name, obj, options, lines):
    """Add to the documentation of userdp.threshold, for instance, where the book uses it."""
    short = name.removeprefix("userdp.")
    call = re.compile(rf"\b{short if short.startswith('audit.') else f'ud.{short}'}\b")
    used = lambda page: any(c.cell_type == "code" and call.search(c.source) for c in page.cells)  # noqa: E731
    rows = [row for row in contents.ledger() if short in row["functions"]]
    chapters = [f":doc:`/book/{p}`" for p in contents.pages() if used(contents.page(p))]
    tests = dict.fromkeys(f":test:`{test}`" for row in rows for test in row["tests"])
    body = [f"- {claim(row)}" for row in rows]
    body += ["", "*Chapters*: " + ", ".join(chapters)] * bool(chapters)
    body += ["", "*Tests of the claims*: " + ", ".join(tests)] * bool(tests)
    if body:
        counts = {"claim": len(rows), "chapter": len(chapters), "test": len(tests)}
        title = ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n)
        box = [f"   .. admonition:: In the book: {title}", "      :class: dropdown in-the-book", ""]
        lines += ["", ".. only:: html", "", *box, *(f"      {line}" for line in body), ""]


def setup(app):
    """Register the extension."""
    app.add_role("test", Test())
    app.connect("autodoc-process-docstring", add, priority=900)  # after numpydoc
    app.connect("doctree-resolved", link)
    app.connect("html-collect-pages", pages)
