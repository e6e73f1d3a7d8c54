"""A Sphinx extension: what the columns of all tables mean, on a page of its own.

`book/columns.yml` has it in words. {{ columns["The paper"] }} are the tables that a part of the
book writes, or is the first to show, each with its columns; its record, on the page of records,
says what made it. A column without words ends the build, and so do words for what is no column.
"""

import re
from functools import cache
from typing import NamedTuple

import pandas as pd
import yaml
from contents import BOOK, parts
from recorded import DATA, records

UNIT = re.compile(r"(?P<says>.*?)(?: \[(?P<unit>[^][]*)\])?")
TYPES = {"i": "integer", "f": "number"}
"""What columns are, in the words of Frictionless's Table Schema; all others are text."""


class Column(NamedTuple):
    """A column of a table: its name, its type, its unit if it has numbers, and what it says."""

    name: str
    type: str
    unit: str
    says: str


@cache
def words():
    """Return what columns say wherever they stand, and what is said of each table."""
    said = yaml.safe_load((BOOK / "columns.yml").read_text("utf-8"))
    tables = {name: about for names, about in said["tables"].items() for name in names.split()}
    return said["everywhere"], tables


@cache
def row(table):
    """Return what a row of a table is."""
    return words()[1][table]["row"]


@cache
def columns(table):
    """Return the columns of a table."""
    everywhere, tables = words()
    own = tables[table]["columns"]
    held = pd.read_csv(DATA / f"{table}.csv")
    if strangers := {*own} - {*held}:
        raise ValueError(f"columns.yml has words for no column of {table}: {sorted(strangers)}")
    found = []
    for name in held:
        if name not in own and name not in everywhere:
            raise ValueError(f"columns.yml has no words for the column {name!r} of {table}")
        text = UNIT.fullmatch(own[name] if name in own else everywhere[name])
        kind = TYPES.get(held[name].dtype.kind, "string")
        if (text["unit"] is None) != (kind == "string"):
            raise ValueError(
                f"columns.yml: numbers have a unit, and they only: {name!r} of {table}"
            )
        found.append(Column(name, kind, text["unit"] or "", text["says"]))
    return found


def entry(table):
    """Return the columns of a table in Markdown."""
    lines = [f"| `{c.name}` | {c.unit} | {c.says} |" for c in columns(table)]
    file = f"{{download}}`{table}.csv <data/{table}.csv>`"
    made = f"{{ref}}`how it was made <record-{table}>`"
    head = f"(columns-{table})=\n{file} ({made}). A row is {row(table)}.\n"
    lines = ["| Column | Unit | What it says |", "|---|---|---|", *lines, "", ""]
    return "\n".join([head, *lines])


def tell(app, config):
    """Let a page show the columns of the tables of a part of the book."""
    config.myst_substitutions["columns"] = {
        part: "".join(entry(table) for table, about in records().items() if about["page"] in names)
        for part, names in parts().items()
    }


def setup(app):
    """Register the extension."""
    app.connect("config-inited", tell)
