"""A Sphinx extension: each entry of the reference says where the book uses the function or class.

The claims and their tests come from the ledger, book/claims.yml; the chapters are those with a cell
that calls it. In print the entries stay short: there is none of it.
"""

import re
from functools import cache
from typing import Any

from contents import ledger, page, pages
from sphinx.application import Sphinx

ROLES = {"eq": "eq", "fig": "numref", "sec": "ref", "err": "ref"}
"""How to refer to a label of each kind; to the others, as to a statement."""


@cache
def chapters() -> dict[str, set[str]]:
    """Return the pages, each with what its cells call."""
    found = {}
    for name in pages():
        cells = (cell.source for cell in page(name).cells if cell.cell_type == "code")
        calls = re.findall(r"\b(ud|audit)\.(\w+)", "\n".join(cells))
        found[name] = {f"userdp.{'audit.' * (module == 'audit')}{what}" for module, what in calls}
    return found


def link(row: dict[str, Any]) -> str:
    """Return a link to what a row of the ledger is about, in reStructuredText."""
    role, label = ROLES.get(row["label"].split("-")[0], "prf:ref"), row["label"]
    return f":ref:`{row['where']} <{label}>`" if role == "ref" else f":{role}:`{label}`"


def claim(row: dict[str, Any]) -> str:
    """Return a row of the ledger."""
    place = link(row)
    if not place.startswith(":ref:") and not row["id"].startswith("new-"):
        place += f", in the paper {row['where']}"
    verdict = "" if row["verdict"] == "holds" else f" *{row['verdict'].capitalize()}.*"
    return re.sub(r"\$(.+?)\$", r"\\ :math:`\1`\\ ", f"{place}: {row['says']}") + verdict


def entry(name: str) -> list[str]:
    """Return the lines that end the documentation of userdp.threshold, for instance."""
    rows = [row for row in ledger() if name in {f"userdp.{known}" for known in row["functions"]}]
    tests = dict.fromkeys(f":test:`{test}`" for row in rows for test in row["tests"])
    places = [f":doc:`/book/{page}`" for page, names in chapters().items() if name in names]
    counts = {"claim": len(rows), "chapter": len(places), "test": len(tests)}
    title = ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n)
    body = [f"- {claim(row)}" for row in rows]
    body += ["", "*Chapters*: " + ", ".join(places)] if places else []
    body += ["", "*Tests of the claims*: " + ", ".join(tests)] if tests else []
    box = [f".. admonition:: In the book: {title}", "   :class: dropdown in-the-book", ""]
    box += [f"   {line}" for line in body]
    return ["", ".. only:: html", "", *(f"   {line}" for line in box), ""] if body else []


def add(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Add to a documented object where the book uses it."""
    lines += entry(name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("autodoc-process-docstring", add, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
