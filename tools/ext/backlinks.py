"""A Sphinx extension: each entry of the reference says where the book uses the function or class.

The claims and their tests come from the ledger, book/claims.yml; the chapters are those with a cell
that calls it. In print the entries stay short: there is none of it.
"""

import re
from typing import Any

from contents import ledger, page, pages
from sphinx.application import Sphinx

ROLES = {"eq": "eq", "fig": "numref", "sec": "ref", "err": "ref"}
"""How to refer to a label of each kind; to the others, as to a statement."""


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


def add(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Add to the documentation of userdp.threshold, for instance, where the book uses it."""
    short = name.removeprefix("userdp.")
    rows = [row for row in ledger() if short in row["functions"]]
    tests = dict.fromkeys(f":test:`{test}`" for row in rows for test in row["tests"])
    call = re.compile(rf"\b{short if short.startswith('audit.') else f'ud.{short}'}\b")
    cells = [(p, c.source) for p in pages() for c in page(p).cells if c.cell_type == "code"]
    places = dict.fromkeys(f":doc:`/book/{p}`" for p, code in cells if call.search(code))
    body = [f"- {claim(row)}" for row in rows]
    body += ["", "*Chapters*: " + ", ".join(places)] if places else []
    body += ["", "*Tests of the claims*: " + ", ".join(tests)] if tests else []
    if body:
        counts = {"claim": len(rows), "chapter": len(places), "test": len(tests)}
        title = ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n)
        box = [f".. admonition:: In the book: {title}", "   :class: dropdown in-the-book", ""]
        box += [f"   {line}" for line in body]
        lines += ["", ".. only:: html", "", *(f"   {line}" for line in box), ""]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("autodoc-process-docstring", add, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
