"""A Sphinx extension: the origin of each table, and all data in one archive.

Every code cell gets an address, PAGE.html#ID, where ID is its id in the notebook; the label PAGE-ID
refers to it. Each table has a record on the page `record`, where {{ records["The paper"] }} holds
the records of a part of the book. A record lists the table's columns, as described in
`book/data/datapackage.json`, and the functions and seed that made it, as the cell that wrote it
recorded them (`provenance`). Each download in a text links to its record. The archive
userdp-data.zip beside the pages contains the data folder, which is a Frictionless Data Package.
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
DOWNLOAD = re.compile(r"\[[^\]]+\]\(data/([\w-]+)\.csv\)")


@cache
def resources():
    """Return the Data Package's description of each file, by its path in the data folder."""
    package = json.loads(PACKAGE.read_text("utf-8"))
    return {resource["path"]: resource for resource in package["resources"]}


@cache
def records():
    """Return the record of each table, with the pages that show, offer or read it, in order.

    The outputs of a page contain the records of the tables that it writes; other records are JSON
    files beside their tables. A page is paired with the figure that shows the table: the first
    downloads after a figure offer its tables.
    """
    paths = [path for path in DATA.glob("*.json") if path.with_suffix(".csv").exists()]
    written = {path.stem: json.loads(path.read_text("utf-8")) for path in paths}
    pages_of = defaultdict(list)
    for name in pages():
        figure = None
        for cell in page(name).cells:
            for output in cell.get("outputs", []):
                record_name = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
                if record_name.startswith("table "):
                    record = json.loads(output.data[f"{GLUE_PREFIX}text/plain"])
                    written[record["table"]] = record | {"page": name, "cell": cell.id}
            figure = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", figure)
            for offered, table in re.findall(r"(\]\()?data/([\w-]+)\.csv", cell.source):
                pages_of[table].append((name, figure if offered else None))
            if DOWNLOAD.search(cell.source):
                figure = None
    return {
        table: {"table": table, "page": places[0][0], "shown": places} | written[table]
        for table, places in pages_of.items()
    }


def comma_separated(words):
    """Return distinct words, separated by commas."""
    return ", ".join(dict.fromkeys(words))


def linked_functions(names):
    """Return functions and classes, separated by commas; those of userdp link to the reference."""
    return comma_separated(
        f"{{py:obj}}`~{x}`" if x.startswith("userdp.") else f"`{x}`" for x in names
    )


def fields(table):
    """Return the Data Package's description of each column of a table."""
    return resources()[f"{table}.csv"]["schema"]["fields"]


def entry(record):
    """Return a record in Markdown."""
    content = (DATA / f"{record['table']}.csv").read_bytes()
    figures = comma_separated(f"{{numref}}`{figure}`" for _, figure in record["shown"] if figure)
    places = comma_separated(f"{{doc}}`{name}`" for name, _ in record["shown"])
    origin = "`{command}` (`{script}`), once, and kept"
    if "cell" in record:
        origin = "{{ref}}`{cell} <{page}-{cell}>` of {{doc}}`{page}`"
    curves = record.get("made_by", [])
    curves = curves if isinstance(curves, dict) else {"": curves}
    makers = [
        f"{curve}: " * bool(curve) + linked_functions(names) for curve, names in curves.items()
    ]
    digest = hashlib.sha256(content).hexdigest()[:16]
    facts = {
        "Shown as": f"{figures or 'a table'} in {places}",
        "Made by": origin.format(**record),
        "Functions:": "; ".join(makers),
        "Random numbers:": f"seed {record['seed']}" if record["seed"] else "none",
        "Trials:": comma_separated(f"{n:,}" for n in record.get("trials", [])),
        "Reads": comma_separated(f"`{name}`" for name in record.get("reads", [])),
        "Data:": f"[CSV](data/{record['table']}.csv), SHA-256 `{digest}…`",
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
    """Return the records of each part: of the tables that it writes, or is the first to show."""
    return {
        part: "".join(entry(record) for record in records().values() if record["page"] in names)
        for part, names in parts().items()
    }


def link_to_records(app, name, source):
    """Add a link to its record after each download of a table."""
    source[0] = DOWNLOAD.sub(r"\g<0> ({ref}`how these data were made <record-\1>`)", source[0])


def add_cell_addresses(app, document):
    """Give each code cell its address."""
    here = app.env.docname.removeprefix("book/")
    for cell in list(document.findall(nodes.container)):
        if cell.get("nb_element") == "cell_code":
            name = page(here).cells[cell["cell_index"]].id
            cell.parent.insert(cell.parent.index(cell), nodes.target("", "", ids=[name]))
            app.env.get_domain("std").anonlabels[f"{here}-{name}"] = (app.env.docname, name)


def pack(app):
    """Write the archive beside the pages; it depends only on the data."""
    with ZipFile(app.outdir / ARCHIVE, "w") as archive:
        for path in sorted(path for path in DATA.rglob("*") if path.is_file()):
            member = ZipInfo(path.relative_to(DATA).as_posix())  # with a fixed date, 1980
            member.external_attr = 0o644 << 16
            archive.writestr(member, path.read_bytes(), ZIP_DEFLATED)
    return []


def setup(app):
    """Register the extension."""
    app.connect("source-read", link_to_records)
    app.connect("doctree-read", add_cell_addresses)
    app.connect("html-collect-pages", pack)
