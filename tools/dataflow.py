"""What a value on a page is computed from: the page's statements that lead to it, and no others.

Statements are followed backwards by the names that they read and bind, as a reader would do it. The
state of a random generator is not followed: whoever draws from it is no part of what it leads to.
"""

import ast
from functools import cache
from typing import NamedTuple

from nbformat import NotebookNode

COMPOUND = (ast.For, ast.While, ast.With, ast.If, ast.Try)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Step(NamedTuple):
    """A statement at the top level of a page's cell."""

    cell: str
    node: ast.stmt


def steps(notebook: NotebookNode) -> list[Step]:
    """Return the statements of a page, in order."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [Step(cell.id, node) for cell in code for node in ast.parse(cell.source).body]


def stored(node: ast.AST) -> set[str]:
    """Return the names that a piece of code binds, those of inner scopes left out."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    inner = isinstance(node, (*COMPREHENSIONS, ast.Lambda, ast.FunctionDef))
    return set().union(*(() if inner else map(stored, ast.iter_child_nodes(node))))


@cache
def _free(node: ast.AST) -> frozenset[str]:
    """Return the names that a piece of code takes from outside."""
    if isinstance(node, ast.Name):
        return frozenset({node.id} if isinstance(node.ctx, ast.Load) else ())
    found = frozenset().union(*map(_free, ast.iter_child_nodes(node)))
    if isinstance(node, ast.AugAssign):
        return found | stored(node)
    if isinstance(node, COMPREHENSIONS):
        return found - frozenset().union(*(stored(part.target) for part in node.generators))
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        own = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        body = node.body if isinstance(node, ast.FunctionDef) else []
        return found.difference(own, *map(stored, body)) | _free(node.args)
    return found


def bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement surely binds anew; loops are taken to run."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.For | ast.With):
        heads = [node.target] if isinstance(node, ast.For) else node.items
        return set().union(*map(stored, heads), *map(bound, node.body))
    return set() if isinstance(node, COMPOUND) else stored(node)


def _base(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def changed(node: ast.stmt) -> set[str]:
    """Return the names whose values a statement may change, by assignment or by their methods."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            found.add(_base(part))
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            function = part.value.func
            found |= {_base(function)} if isinstance(function, ast.Attribute) else set()
    if isinstance(node, COMPOUND):
        found |= stored(node)
    return found - {None}


def read(node: ast.stmt) -> set[str]:
    """Return the names that a statement needs from those before it."""
    if not isinstance(node, COMPOUND):
        return _free(node)
    found, own = set(), set()
    if isinstance(node, ast.For):
        found, own = _free(node.iter), stored(node.target)
    elif isinstance(node, ast.With):
        for item in node.items:
            found |= _free(item.context_expr)
            own |= stored(item.optional_vars) if item.optional_vars else set()
    elif isinstance(node, ast.If | ast.While):
        found = _free(node.test)
    handlers = [statement for h in getattr(node, "handlers", []) for statement in h.body]
    for block in (node.body, handlers, getattr(node, "orelse", [])):
        known = set(own)
        for statement in block:
            found |= read(statement) - known
            known |= bound(statement)
    return found


def _postponed(every: list[Step]) -> dict[str, set[str]]:
    """Return the names that each function of the page looks up when it is called."""
    found: dict[str, set[str]] = {}
    for _, node in every:
        if isinstance(node, ast.FunctionDef) or any(
            isinstance(n, ast.Lambda) for n in ast.walk(node)
        ):
            for name in bound(node):
                found[name] = found.get(name, set()) | _free(node) - {name}
    return found


def leading_to(last: int, every: list[Step]) -> list[Step]:
    """Return the steps of a page that one of them depends on, given by its place; it included."""
    postponed, taken = _postponed(every), [every[last]]
    needed: set[str] = set()
    imports = [node for _, node in every if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = set().union(*map(bound, imports))

    def need(names: set[str]) -> None:
        for name in names - needed:
            needed.add(name)
            need(postponed.get(name, set()))

    need(read(every[last].node))
    for step in reversed(every[:last]):
        binds, changes = bound(step.node), changed(step.node) - modules
        if needed & (binds | changes):
            taken.append(step)
            needed.difference_update(binds)
            need(read(step.node))
    return taken[::-1]
