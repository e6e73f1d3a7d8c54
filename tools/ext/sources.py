"""A Sphinx extension: pages with the code, and links between them and the book.

Every file of `userdp`, of the tests and of the proofs has a page, such as code/userdp/model.html,
with an anchor for each class, function, method and theorem. Links to code therefore work offline
and show the commit that was built. They come from the signatures in the reference, the role
{test}`file::name`, and literals that name a file or a theorem in it (`proofs/closed.txt::theorem`
shows the name of the theorem, `proofs/lemma.v::theorem` that of the file). Formats other
than HTML have no such links and show the full text instead. In `proofs/closed.txt` and
`proofs/defined.txt`, each of our definitions that is mentioned links to what Coq prints of it.

Each entry of the reference lists where the book uses the function or class: claims from the ledger
(book/claims.yml), with links to it, and the chapters with a cell that calls it. The reference
begins with {{ numbered }}, a table of the paper's numbered statements, from the ledger.
"""

import ast
import re
from functools import cache
from pkgutil import resolve_name

from docutils import nodes
from sphinx import addnodes
from sphinx.pycode import ModuleAnalyzer

from . import contents
from .contents import ROOT

CODE = ["userdp/**/*.py", "tests/**/*.py", "proofs/**/*.v"]
CODE += ["proofs/**/closed.txt", "proofs/**/defined.txt"]
# The formats in which Coq prints theorems and definitions.
STATED = r"^(\w+)\n(?: .*\n)+"
DEFINED = r"^(?:Record |Inductive )?([\w.]+) (?s:.*?)\n(?=\n|\Z)"
# Names that a statement binds: "forall x y : nat,", "fun x =>", "let T := ", "(u v : R)",
# "\sum_l", "\sum_(l < L)" and "r <- s".
BINDERS = re.compile(
    r"\b(?:forall|exists2?|fun|let)\s+((?:[\w']+\s+)*[\w']+)\s*(?=:|,|=>)|\(((?:[\w']+\s+)+)(?=:)"
    r"|\\[a-z]+(?:\[mu\])?_\(?([\w']+)|([\w']+) (?=<-)"
)
# A name in highlighted text, unless it is a scope: "(n - k)%N".
MENTION = re.compile(r'(?<!%</span>)(<span class="n">)([\w.]+)')
# The ids of the paper's numbered statements in the ledger.
NUMBERED = re.compile(r"(eq|def|thm|lem|fig)-([IV]+\.)?\d+")
FILES = sorted(str(path.relative_to(ROOT)) for kind in CODE for path in ROOT.glob(kind))


def page(file):
    """Return the name of a file's page."""
    return "code/" + file.rpartition(".")[0]


def units(file):
    """Return a file's classes, functions, methods or theorems, with their first and last lines."""
    if file.endswith(".py"):
        tags = ModuleAnalyzer.for_file(str(ROOT / file), file).find_tags()
        return {name: lines for name, (_, *lines) in tags.items()}
    text = (ROOT / file).read_text("utf-8")
    printed = DEFINED if file.endswith("defined.txt") else STATED
    pattern = r"^Theorem (\w+)(?s:.*?)(?=^\(\* end|^Proof)" if file.endswith(".v") else printed
    line = lambda place: text.count("\n", 0, place)  # noqa: E731
    matches = re.finditer(pattern, text, re.MULTILINE)
    return {unit[1]: (line(unit.start()) + 1, line(unit.end())) for unit in matches}


def definition(module, name):
    """Return the file and the unit that define an exported name; None if it is a plain value."""
    exported = resolve_name(f"{module}:{name}")
    # The function of a property, cached or not.
    exported = getattr(exported, "fget", None) or getattr(exported, "func", exported)
    file = getattr(exported, "__module__", "").replace(".", "/") + ".py"
    unit = getattr(exported, "__qualname__", "")
    return (file, unit) if file in FILES and unit in units(file) else None


def add_links(app, document, docname):
    """Link the tests, files and signatures on a page to their code."""
    if app.builder.format != "html":
        return

    def link_to(file, unit, inner, **options):
        address = app.builder.get_relative_uri(docname, page(file)) + (unit and f"#{unit}")
        return nodes.reference("", "", inner, internal=True, refuri=address, **options)

    for literal in list(document.findall(nodes.literal)):
        file, separator, unit = literal.astext().partition(".py::")
        if separator:
            file = f"tests/{file}.py"
        elif re.search(r"\.(txt|v)::", file):
            file, separator, unit = file.partition("::")
        if separator or (file in FILES and not isinstance(literal.parent, nodes.reference)):
            text = file if file.endswith(".v") else unit or file
            literal.replace_self(link_to(file, unit, nodes.literal(text=text)))
    for signature in document.findall(addnodes.desc_signature):
        if code := definition(signature["module"], signature["fullname"]):
            signature += link_to(*code, nodes.Text("[source]"), classes=["source-link"])


def with_anchors(file, code):
    """Return the highlighted code of a file, each unit in an element whose id is its name."""
    head, pre, body = code.partition("<pre>")
    lines = body.split("\n")
    # In reverse order, because a unit may end on the line where the next one begins.
    for name, (first, last) in sorted(units(file).items(), key=lambda unit: -unit[1][0]):
        lines[first - 1] = f'<span class="unit" id="{name}">' + lines[first - 1]
        lines[last] = "</span>" + lines[last]  # at the start of the line that follows
    return head + pre + "\n".join(lines)


@cache
def printed_definitions(folder):
    """Return the address, from a folder of proofs, of what Coq printed of each of our definitions.

    Statements about the reals use the definitions of both folders. There, a name that two of our
    files define may denote either, and `integral` is the library's.
    """
    last = [name.rpartition(".")[2] for name in units("proofs/defined.txt")]
    unclear = {name for name in last if last.count(name) > 1} | {"integral"}
    return {
        name: f"{'../' * (place != folder)}defined.html#{name}"
        for place in dict.fromkeys(["proofs", folder])
        for name in units(f"{place}/defined.txt")
        if place == folder or name not in unclear
    }


@cache
def mentions(folder):
    """Return the names of ours that each theorem and definition mentions, as Coq prints it in full.

    There each has its file before it, unlike a name that is bound.
    """
    text = (ROOT / folder / "closed.all.txt").read_text("utf-8")
    start = r"^(?:(?:Record|Inductive|Variant) (?:\w+\.)?([\w']+)|\w+\.([\w']+)(?=\n:| =))"
    starts = [*re.finditer(start, text, re.MULTILINE)]
    ends = [start.start() for start in starts[1:]] + [len(text)]
    named = {}
    for start, end in zip(starts, ends, strict=True):
        found = re.findall(r"(?<![\w.'])[a-z][a-z0-9_]*\.([\w']+)", text[start.end() : end])
        named.setdefault(start[1] or start[2], set()).update(found)
    return named


def with_links(file, code):
    """Return what Coq printed, highlighted, with a link at each mention of our definitions.

    A name that a statement binds, for example by `forall`, has another meaning there.
    """
    folder = file.rpartition("/")[0]
    addresses = printed_definitions(folder)
    head, pre, body = code.partition("<pre>")
    lines, plain = body.split("\n"), (ROOT / file).read_text("utf-8").splitlines()
    for unit, (first, last) in units(file).items():
        own = slice(first - 1, last)
        binders = BINDERS.findall("\n".join(plain[own]))
        bound = {unit, *" ".join(map("".join, binders)).split()}
        mentioned = mentions(folder)[unit.rpartition(".")[2]]
        others = {name for name in addresses if name.rpartition(".")[2] in mentioned} - bound

        def link(token, others=others):
            before, name = token.groups()
            link = f'<a href="{addresses.get(name)}">{name}</a>'
            return before + (link if name in others else name)

        lines[own] = [MENTION.sub(link, line) for line in lines[own]]
    return head + pre + "\n".join(lines)


def code_pages(app):
    """Yield a page for each file."""
    for file in FILES:
        text = (ROOT / file).read_text("utf-8")
        about = re.match(r'(?:"""|\(\* )((?:(?!"""|\n\n|\*\))[\s\S])*)|', text)[1] or ""
        language = "python" if file.endswith(".py") else "coq"
        code = app.builder.highlighter.highlight_block(text, language)
        if file.endswith(".txt"):
            code = with_links(file, code)
        code = with_anchors(file, code)
        yield page(file), {"title": file, "about": about, "code": code}, "code.html"


def claim(row):
    """Return the claim of a row of the ledger, with a link to it."""
    verdict = f":ref:`{row['verdict'].capitalize()} <claim-{row['id']}>`"
    return re.sub(r"\$(.+?)\$", r":math:`\1`", f"{row['where']}: {row['says']} {verdict}.")


def numbered():
    """Return the table of the paper's numbered statements, with their functions and tests."""
    lines = ["| Paper | Statement | Functions | Page | Test |", "|---|---|---|---|---|"]
    for row in contents.ledger():
        if NUMBERED.fullmatch(row["id"]):
            functions = ", ".join(f"{{py:obj}}`~userdp.{name}`" for name in row["functions"])
            where = f"{{ref}}`{row['where']} <claim-{row['id']}>`"
            entries = where, row["says"], functions, f"{{doc}}`{row['page']}`"
            lines.append(f"| {' | '.join(entries)} | {{test}}`{row['tests'][0]}` |")
    return "\n".join(lines)


@cache
def names_used(page):
    """Return the full names that a chapter's cells use from the modules that they import."""
    tree = contents.code(page)
    imported = contents.imported(tree)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)]
    parts = [ast.unparse(node).partition(".") for node in nodes]
    return {imported[name] + dot + rest for name, dot, rest in parts if name in imported}


def add_uses(app, what, name, obj, options, lines):
    """Add the claims and chapters that use a function or class to its entry in the reference."""
    short = name.removeprefix("userdp.")
    claims = [f"- {claim(row)}" for row in contents.ledger() if short in row["functions"]]
    chapters = [f":doc:`/book/{page}`" for page in contents.pages() if name in names_used(page)]
    body = claims + ["", "*Chapters*: " + ", ".join(chapters)] * bool(chapters)
    if body:
        title = f"In the book (claims: {len(claims)}, chapters: {len(chapters)})"
        box = [f"   .. admonition:: {title}", "      :class: dropdown in-the-book", ""]
        lines += ["", ".. only:: html", "", *box, *(f"      {line}" for line in body), ""]


def setup(app):
    """Register the extension."""
    app.add_generic_role("test", nodes.literal)
    app.connect("autodoc-process-docstring", add_uses, priority=900)  # after numpydoc
    app.connect("doctree-resolved", add_links)
    app.connect("html-collect-pages", code_pages)
