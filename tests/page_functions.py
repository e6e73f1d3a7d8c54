"""Give tests access to a chapter: its functions, and the values and tables stored in it."""

import ast
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
from bs4 import BeautifulSoup

import userdp as ud
from userdp import beyond, release

BOOK = Path(__file__).resolve().parent.parent / "book"


def functions_of(page, **names):
    """Return all functions that the page's cells define at top level; `names` adds globals."""
    cells = nbformat.read(BOOK / f"{page}.ipynb", as_version=4).cells
    trees = [ast.parse(cell.source) for cell in cells if cell.cell_type == "code"]
    defined = [n for tree in trees for n in tree.body if isinstance(n, ast.FunctionDef)]
    scope = {"np": np, "ud": ud, "beyond": beyond, "release": release, **names}
    exec(compile(ast.Module(defined, type_ignores=[]), f"{page}.ipynb", "exec"), scope)
    return SimpleNamespace(**{node.name: scope[node.name] for node in defined})


def glued(page):
    """Return the stored values that the page's cells pass to its sentences and captions."""
    kind, values = "application/papermill.record/text/plain", {}
    for cell in nbformat.read(BOOK / f"{page}.ipynb", as_version=4).cells:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name", "table ")
            if not name.startswith("table "):  # those record how a CSV file was made
                values[name] = ast.literal_eval(output.data[kind])
    return values


def tables(page):
    """Return the stored tables of a page as lists of rows; repeat entries that span rows."""
    page_tables = []
    for cell in nbformat.read(BOOK / f"{page}.ipynb", as_version=4).cells:
        for output in cell.get("outputs", []):
            html = BeautifulSoup(output.get("data", {}).get("text/html", ""), "html.parser")
            rows = [
                [e.get_text(strip=True) for e in row.find_all(["th", "td"])]
                for row in html.find_all("tr")
            ]
            for above, row in pairwise(rows):
                row[:0] = above[: len(above) - len(row)]
            page_tables += [rows] if rows else []
    return page_tables
