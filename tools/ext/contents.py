"""The book as stored: its pages in order, and the rows of the ledger."""

import ast
from functools import cache
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"


@cache
def parts():
    """Return the page names of each part; the landing page belongs to the first part."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    toc["parts"][0]["chapters"].insert(0, {"file": toc["root"]})
    names = lambda chapters: [Path(c["file"]).name for c in chapters if "/" in c["file"]]  # noqa: E731
    return {part["caption"]: names(part["chapters"]) for part in toc["parts"]}


def pages():
    """Return the names of all pages, in the order of the book."""
    return [name for part in parts().values() for name in part]


@cache
def page(name):
    """Return a page as a notebook; a Markdown page becomes a single cell."""
    if (path := BOOK / f"{name}.ipynb").exists():
        return nbformat.read(path, as_version=4)
    prose = nbformat.v4.new_markdown_cell(path.with_suffix(".md").read_text("utf-8"))
    return nbformat.v4.new_notebook(cells=[prose])


@cache
def code(name):
    """Return the code of a page's cells, as a syntax tree."""
    cells = [cell.source for cell in page(name).cells if cell.cell_type == "code"]
    return ast.parse("\n".join(cells))


def imported(tree):
    """Return the full names of what code imports, by the names under which it uses them."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            package = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names |= {a.asname or a.name: f"{package}{a.name}" for a in node.names}
    return names


@cache
def ledger():
    """Return the rows of the ledger."""
    claims = yaml.safe_load((BOOK / "claims.yml").read_text("utf-8"))
    return [row for part in claims for row in part["rows"]]
