"""A Sphinx extension: each entry of the reference says where the book uses the function or class.

The claims and their tests come from the ledger, book/claims.yml; the chapters are those with a cell
that calls it. In print the entries stay short: there is none of it.
"""

import re
from functools import cache
from typing import Any, NamedTuple

from contents import ledger, page, pages
from sphinx.application import Sphinx

ROLES = {"eq": "eq", "fig": "numref", "sec": "ref", "err": "ref"}
"""How to refer to a label of each kind; to the others, as to a statement."""


class Uses(NamedTuple):
    """Where the book uses a function or class."""

    claims: list[dict[str, Any]]
    tests: list[str]
    chapters: list[str]


@cache
def chapters() -> dict[str, set[str]]:
    """Return the pages, each with what its cells call."""
    found = {}
    for name in pages():
        cells = (cell.source for cell in page(name).cells if cell.cell_type == "code")
        calls = re.findall(r"\b(ud|audit)\.(\w+)", "\n".join(cells))
        found[name] = {f"userdp.{'audit.' * (module == 'audit')}{what}" for module, what in calls}
    return found


def uses(name: str) -> Uses:
    """Return where the book uses what is called `name`, such as userdp.threshold."""
    claims = [row for row in ledger() if name in {f"userdp.{known}" for known in row["functions"]}]
    tests = dict.fromkeys(test for row in claims for test in row["tests"])
    return Uses(claims, list(tests), [page for page, names in chapters().items() if name in names])


def claim(row: dict[str, Any]) -> str:
    """Return a row of the ledger in reStructuredText."""
    label, where, says = (
        re.sub(r"\$(.+?)\$", r"\\ :math:`\1`\\ ", row[key]) for key in ("label", "where", "says")
    )
    role = ROLES.get(label.split("-")[0], "prf:ref")
    link = f":ref:`{where} <{label}>`" if role == "ref" else f":{role}:`{label}`"
    if role != "ref" and not row["id"].startswith("new-"):
        link += f", in the paper {where}"
    verdict = "" if row["verdict"] == "holds" else f" *{row['verdict'].capitalize()}.*"
    return f"{link}: {says}{verdict}"


def entry(found: Uses) -> list[str]:
    """Return the lines that end the documentation of what the book uses so."""
    counts = {"claim": found.claims, "chapter": found.chapters, "test": found.tests}
    title = ", ".join(
        f"{len(items)} {kind}{'s' if len(items) > 1 else ''}"
        for kind, items in counts.items()
        if items
    )
    body = [f"- {claim(row)}" for row in found.claims]
    if found.chapters:
        body += ["", "*Chapters*: " + ", ".join(f":doc:`/book/{page}`" for page in found.chapters)]
    if found.tests:
        tests = ", ".join(f":test:`{test}`" for test in found.tests)
        body += ["", f"*Tests of the claims*: {tests}"]
    if not body:
        return []
    box = [f".. admonition:: In the book: {title}", "   :class: dropdown in-the-book", ""]
    box += [f"   {line}" for line in body]
    return ["", ".. only:: html", "", *(f"   {line}" for line in box), ""]


def add(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Add to a documented object where the book uses it."""
    lines += entry(uses(name))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("autodoc-process-docstring", add, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
