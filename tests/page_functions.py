"""Functions that a chapter defines for itself, for tests: the page's own text, not a copy."""

import ast
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np

import userdp as ud

BOOK = Path(__file__).resolve().parent.parent / "book"


def functions_of(page, **names):
    """All functions that the page's cells define at top level; `names` are their globals."""
    cells = nbformat.read(BOOK / f"{page}.ipynb", as_version=4).cells
    trees = [ast.parse(cell.source) for cell in cells if cell.cell_type == "code"]
    defined = [n for tree in trees for n in tree.body if isinstance(n, ast.FunctionDef)]
    scope = {"np": np, "ud": ud, **names}
    exec(compile(ast.Module(defined, type_ignores=[]), f"{page}.ipynb", "exec"), scope)
    return SimpleNamespace(**{node.name: scope[node.name] for node in defined})
