"""A Sphinx extension: where numbers come from, one click away, and all data in one archive.

Every code cell gets an address, PAGE.html#ID with its id in the notebook; in the text it is called
PAGE-ID. Each table has a record on the page `record`, where {{ records["The paper"] }} are those of
a part of the book. It lists the columns of the table, as `book/data/datapackage.json` describes
them, and what made it, as the cell says that writes it (`provenance`); from each download in a
text a link leads there. The archive userdp-data.zip beside the pages holds the folder of data,
which is a Data Package of Frictionless.
"""

import hashlib
import json
import re
from collections import defaultdict
from functools import cache
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from docutils import nodes
from myst_nb.ext.glue import GLUE_PREFIX

from .contents import BOOK, page, pages, parts

DATA = BOOK / "data"
PACKAGE = DATA / "datapackage.json"
ARCHIVE = "userdp-data.zip"
DOWNLOAD = re.compile(r"\{download\}`[^`]*<data/([\w-]+)\.csv>`")


@cache
def resources():
    """Return what the Data Package says of each file, by its path in the folder of data."""
    package = json.loads(PACKAGE.read_text("utf-8"))
    return {resource["path"]: resource for resource in package["resources"]}


@cache
def records():
    """Return what is said of each table, and the pages that show, offer or read it, in their order.

    Pages say it of the tables that they write; of the others it is kept. A page has beside it the
    figure that the table feeds: its numbers are offered below it, by the first links after it.
    """
    kept = [path for path in DATA.glob("*.json") if path.with_suffix(".csv").exists()]
    said = {path.stem: json.loads(path.read_text("utf-8")) for path in kept}
    shown = defaultdict(list)
    for name in pages():
        figure = None
        for cell in page(name).cells:
            for output in cell.get("outputs", []):
                about = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
                if about.startswith("table "):
                    record = json.loads(output.data[f"{GLUE_PREFIX}text/plain"])
                    said[record["table"]] = record | {"page": name, "cell": cell.id}
            figure = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", figure)
            for offered, table in re.findall(r"(<?)data/([\w-]+)\.csv", cell.source):
                shown[table].append((name, figure if offered else None))
            if "{download}" in cell.source:
                figure = None
    return {
        table: {"table": table, "page": places[0][0], "shown": places} | said[table]
        for table, places in shown.items()
    }


def listed(words):
    """Return words in a row, each once."""
    return ", ".join(dict.fromkeys(words))


def linked(names):
    """Return functions and classes in a row; those of userdp lead to the reference."""
    return listed(f"{{py:obj}}`~{x}`" if x.startswith("userdp.") else f"`{x}`" for x in names)


def fields(table):
    """Return what the Data Package says of each column of a table."""
    return resources()[f"{table}.csv"]["schema"]["fields"]


def entry(record):
    """Return a record in Markdown."""
    content = (DATA / f"{record['table']}.csv").read_bytes()
    figures = listed(f"{{numref}}`{figure}`" for _, figure in record["shown"] if figure)
    places = listed(f"{{doc}}`{name}`" for name, _ in record["shown"])
    made = "`{command}` (`{script}`), once, and kept"
    if "cell" in record:
        made = "{{ref}}`{cell} <{page}-{cell}>` of {{doc}}`{page}`"
    curves = record.get("made_by", [])
    curves = curves if isinstance(curves, dict) else {"": curves}
    makers = [f"{curve}: " * bool(curve) + linked(names) for curve, names in curves.items()]
    digest = hashlib.sha256(content).hexdigest()[:16]
    facts = {
        "Shown as": f"{figures or 'a table'} in {places}",
        "Made by": made.format(**record),
        "Functions:": "; ".join(makers),
        "Random numbers:": f"seed {record['seed']}" if record["seed"] else "none",
        "Trials:": listed(f"{n:,}" for n in record.get("trials", [])),
        "Reads": listed(f"`{name}`" for name in record.get("reads", [])),
        "Data:": f"{{download}}`CSV <data/{record['table']}.csv>`, SHA-256 `{digest}…`",
    }
    columns = ["| Column | Unit | Description |", "|---|---|---|"]
    for field in fields(record["table"]):
        line = f"`{field['name']}`", field.get("unit", ""), field["description"]
        columns.append(f"| {' | '.join(line)} |")
    about = resources()[f"{record['table']}.csv"]["description"]
    lines = [f": {about}", *(f": *{what}* {words}" for what, words in facts.items() if words)]
    title = "(record-{table})=\n**{table}.csv**".format(**record)
    title += f", {len(content.splitlines()) - 1:,} rows"
    return "\n".join([title, *lines, "", *columns, "", ""])


def by_part():
    """Return the records of the tables that each part writes, or is the first to show."""
    return {
        part: "".join(entry(record) for record in records().values() if record["page"] in names)
        for part, names in parts().items()
    }


def lead(app, name, source):
    """Lead from each download of a table to its record."""
    source[0] = DOWNLOAD.sub(r"\g<0> ({ref}`how it was made <record-\1>`)", source[0])


def address(app, document):
    """Give each code cell its address."""
    here = app.env.docname.removeprefix("book/")
    for cell in list(document.findall(nodes.container)):
        if cell.get("nb_element") == "cell_code":
            name = page(here).cells[cell["cell_index"]].id
            cell.parent.insert(cell.parent.index(cell), nodes.target("", "", ids=[name]))
            app.env.get_domain("std").anonlabels[f"{here}-{name}"] = (app.env.docname, name)


def pack(app):
    """Write the archive beside the pages; the same data make the same archive."""
    with ZipFile(app.outdir / ARCHIVE, "w") as archive:
        for path in sorted(path for path in DATA.rglob("*") if path.is_file()):
            entry = ZipInfo(path.relative_to(DATA).as_posix())  # dated 1980
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), ZIP_DEFLATED)
    return []


def setup(app):
    """Register the extension."""
    app.connect("source-read", lead)
    app.connect("doctree-read", address)
    app.connect("html-collect-pages", pack)
