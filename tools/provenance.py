"""A record beside each table of book/data: where its numbers come from, for machines to read.

The pages' cells write the tables; `make refresh` writes the records, of each page after it executed
it. A record holds nothing that differs from run to run. What was measured instead (times, other
libraries, mutants) has a record too: it names the command, and no version of `userdp`.
"""

import ast
import csv
import hashlib
import json
import platform
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions, version
from itertools import chain, product
from pathlib import Path
from typing import Any

import dataflow
from built import ROOT
from contents import BOOK, ledger, page, pages
from nbformat import NotebookNode
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import userdp

DATA = BOOK / "data"
ALWAYS = {"numpy", "scipy"}  # what userdp computes with
DRAWING = {"matplotlib", "seaborn"}  # where there is a figure
IMPORTS = (ast.Import, ast.ImportFrom)


def sha256(content: bytes) -> str:
    """Return the digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


@cache
def source_hash() -> str:
    """Return the hash of userdp's source: that of the list of its files' hashes.

    The same as `sha256sum userdp/*.py userdp/*.mplstyle | LC_ALL=C sort -k 2 | sha256sum`.
    """
    files = [path for kind in ("*.py", "*.mplstyle") for path in (ROOT / "userdp").glob(kind)]
    lines = [f"{sha256(path.read_bytes())}  userdp/{path.name}\n" for path in sorted(files)]
    return sha256("".join(lines).encode())


def python() -> str:
    """Return the version of Python, such as "3.11"."""
    return ".".join(platform.python_version_tuple()[:2])


@cache
def pinned() -> dict[str, Requirement]:
    """Return what requirements.txt pins for this Python, by the packages' names."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    every = [Requirement(line) for line in lines if re.match(r"\w", line)]
    return {canonicalize_name(r.name): r for r in every if not r.marker or r.marker.evaluate()}


# --- Which cell writes a table, and where it is shown ---------------------------------------------


def written(step: dataflow.Step, every: list[dataflow.Step]) -> list[str]:
    """Return the tables that a statement writes, by a name or by a variable that holds it."""
    found = []
    for call in ast.walk(step.node):
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".to_csv"):
            target = call.args[0]
            if isinstance(target, ast.Name):  # what was assigned to it in this cell
                (target,) = [
                    part
                    for cell, node in every
                    if cell == step.cell and isinstance(node, ast.Assign)
                    if target.id in dataflow.bound(node)
                    for part in ast.walk(node.value)
                    if isinstance(part, ast.Constant)
                ]
            found.append(target.value.removeprefix("data/").removesuffix(".csv"))
    return found


@cache
def steps(name: str) -> list[dataflow.Step]:
    """Return the statements of a page."""
    return dataflow.steps(page(name))


@cache
def writers() -> dict[str, tuple[str, int]]:
    """Return for each table that a page writes the page and the place of the statement."""
    return {
        table: (name, place)
        for name in pages()
        for place, step in enumerate(steps(name))
        for table in written(step, steps(name))
    }


def figure(cell: NotebookNode) -> str | None:
    """Return the name of the figure that a cell shows."""
    drawn = any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))
    return cell.metadata.mystnb.figure.name if drawn else None


def shown(table: str) -> tuple[list[str], list[str]]:
    """Return the figures that a table feeds, and the pages that show, offer or read it.

    A figure's numbers are offered below it, by the first links after it, unless these belong to a
    table that stands beside them.
    """
    figures, places = [], []
    for name in pages():
        last = None
        for cell in page(name).cells:
            last = figure(cell) or last
            if f"data/{table}.csv" in cell.source:
                places.append(name)
                if cell.cell_type == "markdown" and f":file: data/{table}.csv" not in cell.source:
                    figures.append(last)
            if "{download}" in cell.source:
                last = None
    return list(dict.fromkeys(filter(None, figures))), list(dict.fromkeys(places))


# --- What its numbers depend on -------------------------------------------------------------------


def parts(some: list[dataflow.Step]) -> Iterator[ast.AST]:
    """Yield the statements, and what they consist of."""
    return chain.from_iterable(ast.walk(step.node) for step in some)


def functions(some: list[dataflow.Step]) -> set[str]:
    """Return what of userdp these statements use, as a reader would import it."""
    modules, found = {}, set()
    for part in parts(some):
        if isinstance(part, ast.Import):
            modules |= {a.asname or a.name: a.name for a in part.names}
        elif isinstance(part, ast.ImportFrom):
            modules |= {a.asname or a.name: f"{part.module}.{a.name}" for a in part.names}
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            found.add(f"{modules.get(part.value.id)}.{part.attr}")
        elif isinstance(part, ast.Name):
            found.add(modules.get(part.id, ""))
    return {name for name in found if re.match(r"userdp\.(?!plotting\b)", name)} - {"userdp.audit"}


@cache
def distributions() -> Mapping[str, list[str]]:
    """Return which installed packages provide what can be imported."""
    return packages_distributions()


def packages(some: list[dataflow.Step], drawn: bool) -> set[str]:
    """Return the pinned packages that these statements use: imported, or named in a string."""
    found = ALWAYS | (DRAWING if drawn else set())
    for part in parts(some):
        if isinstance(part, ast.Import):
            found |= {alias.name for alias in part.names}
        elif isinstance(part, ast.ImportFrom):
            found.add(part.module)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
    names = {dist for name in found for dist in distributions().get(name.partition(".")[0], [])}
    return {canonicalize_name(name) for name in names} & set(pinned())


def seeds(some: list[dataflow.Step]) -> set[int]:
    """Return the seeds in these statements: what is named so, and what is given as `rng`."""
    found = set()
    for part in parts(some):
        if isinstance(part, ast.Assign):
            target, value = part.targets[0], part.value
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            values = value.elts if isinstance(value, ast.Tuple) else [value]
            pairs = zip(map(ast.unparse, targets), values, strict=False)
            found |= {v.value for name, v in pairs if name in ("seed", "SEED")}
        if isinstance(part, ast.keyword) and part.arg == "rng":
            found |= {part.value.value} if isinstance(part.value, ast.Constant) else set()
    return found


# --- Who checks it --------------------------------------------------------------------------------


def reached(test: ast.FunctionDef, every: dict[str, ast.FunctionDef]) -> list[ast.FunctionDef]:
    """Return a test and the functions of its file that it names, fixtures too, directly or not."""
    found = [test]
    for function in found:
        used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        found += [every[name] for name in every if name in used and every[name] not in found]
    return found


def constants(part: ast.AST) -> set[str]:
    """Return the constants in a piece of code, as text."""
    return {str(node.value) for node in ast.walk(part) if isinstance(node, ast.Constant)}


def values(name: str, function: ast.FunctionDef, within: list[ast.FunctionDef]) -> set[str]:
    """Return what a name in a function may stand for, if that is written down.

    A parameter stands for what `parametrize` or the functions `within` give to the function; any
    other name for what it runs through.
    """
    given: list[ast.AST] = []
    if name in {argument.arg for argument in function.args.args}:
        for call in [part for each in within for part in ast.walk(each)]:
            if isinstance(call, ast.Call) and ast.unparse(call.func) == function.name:
                given.append(call)
            if call in function.decorator_list and isinstance(call, ast.Call):
                given += call.args[1:]
    for part in ast.walk(function):
        if isinstance(part, ast.For | ast.comprehension) and name in dataflow.stored(part.target):
            given.append(part.iter)
    return set().union(*map(constants, given))


def names_of_tables(functions: list[ast.FunctionDef]) -> set[str]:
    """Return the CSV files that functions read; braces in a name stand for all they may hold."""
    found = set()
    for function in functions:
        calls = [part for part in ast.walk(function) if isinstance(part, ast.Call)]
        reading = [call for call in calls if ast.unparse(call.func).endswith("read_csv")]
        for part in [part for call in reading for part in ast.walk(call)]:
            pieces = part.values if isinstance(part, ast.JoinedStr) else [part]
            choices = [
                values(ast.unparse(piece.value), function, functions)
                if isinstance(piece, ast.FormattedValue)
                else constants(piece)
                for piece in pieces
            ]
            found |= {"".join(chosen) for chosen in product(*choices)}
    return {name for name in found if name.endswith(".csv")}


@cache
def tests() -> dict[str, set[str]]:
    """Return for each test the names of the tables that it reads."""
    found = {}
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        every = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        found |= {
            f"{path.name}::{name}": names_of_tables(reached(node, every))
            for name, node in every.items()
            if name.startswith("test_")
        }
    return found


# --- The record -----------------------------------------------------------------------------------


def command(table: str) -> tuple[str, str]:
    """Return the command that measures a table, and the script that it runs."""
    every = [*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "tools").glob("*.py")]
    (script,) = [
        path for path in every if re.search(rf'["/]{table}\.csv"', path.read_text("utf-8"))
    ]
    name = script.relative_to(ROOT).as_posix()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (target,) = re.findall(rf"^([\w-]+):.*\n(?:\t.*\n)*?\t.* {re.escape(name)}\b", makefile, re.M)
    return f"make {target}", name


def script_steps(path: Path) -> list[dataflow.Step]:
    """Return the statements of a script and of those beside it that it imports."""
    text = path.read_text(encoding="utf-8")
    found = [dataflow.Step(path.name, node) for node in ast.parse(text).body]
    for name in re.findall(r"^from (\w+) import", text, re.M):
        if (path.parent / f"{name}.py").exists():
            found += script_steps(path.parent / f"{name}.py")
    return found


def made(table: str) -> dict[str, Any]:
    """Return what made a table: a page's cells, and what its numbers depend on; or a command.

    Of the cells, all of which lead to the table, `cell` is the last, which writes it.
    """
    if table not in writers():
        said, script = command(table)
        found = seeds(script_steps(ROOT / script))
        return {"command": said, "script": script, "seeds": sorted(found)}
    name, place = writers()[table]
    every = steps(name)
    step, leading = every[place], dataflow.leading_to(place, every)
    code = [cell for cell in page(name).cells if cell.cell_type == "code"]
    here = [cell.id for cell in code].index(step.cell)
    text = "\n".join(ast.unparse(s.node) for s in leading)
    inputs = re.findall(r"read_csv\('data/([\w-]+\.csv)'", text)
    return {
        "page": name,
        "title": re.match(r"# (.+)", page(name).cells[0].source)[1],
        "cell": step.cell,
        "cells": list(dict.fromkeys(s.cell for s in leading if not isinstance(s.node, IMPORTS))),
        "cell_sha256": sha256(code[here].source.encode()),
        "code_sha256": sha256("\n\n".join(c.source for c in code[: here + 1]).encode()),
        "kept": isinstance(step.node, ast.If),  # written only where it is not there yet
        "inputs": sorted({*inputs} - {f"{table}.csv"}),
        "functions": sorted(functions(leading)),
        "seeds": sorted(seeds(leading)),
        "userdp": {"version": userdp.__version__, "sha256": source_hash()},
        "python": python(),
        "packages": {n: version(n) for n in sorted(packages(leading, bool(shown(table)[0])))},
    }


def column(rows: list[dict[str, str]], name: str) -> list[int]:
    """Return the positive whole numbers of a column, each once."""
    return sorted({int(float(row[name])) for row in rows if row.get(name)} - {0})


def record(table: str) -> dict[str, Any]:
    """Return a table's record."""
    content = (DATA / f"{table}.csv").read_bytes()
    rows = list(csv.DictReader(content.decode().splitlines()))
    figures, places = shown(table)
    checked_by = {test for test, names in tests().items() if f"{table}.csv" in names}
    here = [row for row in ledger() if row["page"] in places]
    about = [row for row in here if row["label"] in figures or checked_by & {*row["tests"]}]
    return made(table) | {
        "file": f"{table}.csv",
        "sha256": sha256(content),
        "rows": len(rows),
        "trials": column(rows, "trials"),
        "figures": figures,
        "pages": places,
        "claims": [row["id"] for row in about],
        "tests": sorted(f"tests/{test}" for test in checked_by),
    }


def tables() -> list[str]:
    """Return the names of all tables."""
    return sorted(path.stem for path in DATA.glob("*.csv"))


def written_by(table: str) -> str | None:
    """Return the page that writes a table, if one does."""
    return writers().get(table, (None,))[0]


def write(table: str) -> None:
    """Write a table's record beside it."""
    text = json.dumps(record(table), indent=1, sort_keys=True, ensure_ascii=False)
    (DATA / f"{table}.json").write_text(text + "\n", encoding="utf-8")
