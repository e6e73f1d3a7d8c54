"""A Sphinx extension: where numbers come from, one click away.

Every code cell gets an address, PAGE.html#ID with its id in the notebook; in the text it is called
PAGE-ID. Each table has a record: what the cell that writes it says of it (`provenance`), and
what is known of where it is shown. It stands on the page of records, where {{ records["The paper"]
}} are those of a part of the book; from each download in a text a link leads there.
"""

import hashlib
import json
import re
from collections import defaultdict
from functools import cache

from contents import BOOK, page, pages, parts
from docutils import nodes
from myst_nb.ext.glue import GLUE_PREFIX

DATA = BOOK / "data"
DOWNLOAD = re.compile(r"\{download\}`[^`]*<data/([\w-]+)\.csv>`")


@cache
def records():
    """Return what is said of each table, and the pages that show, offer or read it, in their order.

    Pages say it of the tables that they write; of the others it is kept. A page has beside it the
    figure that the table feeds: its numbers are offered below it, by the first links after it.
    """
    said = {path.stem: json.loads(path.read_text("utf-8")) for path in DATA.glob("*.json")}
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
    lines = [f": *{what}* {words}" for what, words in facts.items() if words]
    title = "(record-{table})=\n**{table}.csv**".format(**record)
    return "\n".join([f"{title}, {len(content.splitlines()) - 1:,} rows", *lines, "", ""])


def tell(app, config):
    """Let pages show the records of the tables that a part writes, or is the first to show."""
    config.myst_substitutions["records"] = {
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


def setup(app):
    """Register the extension."""
    app.connect("config-inited", tell)
    app.connect("source-read", lead)
    app.connect("doctree-read", address)
