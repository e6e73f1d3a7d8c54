"""A Sphinx extension: where numbers come from, one click away.

Every code cell gets an address, PAGE.html#ID with its id in the notebook; in the text it is called
PAGE-ID. Each table has a record: what the cell that writes it says of it (`userdp.plotting`), and
what is known of where it is shown. It stands on the page of records, where {{ records["The theory"]
}} are those of a part of the book; from each download a link leads there.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

from contents import BOOK, page, pages, parts
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

import userdp as ud
from userdp.plotting._tables import PREFIX

DATA = BOOK / "data"
RECORDS = "record"  # the page that shows the records; there each table is at home


@cache
def records():
    """Return what pages say of the tables that they write, and what is kept of the others."""
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in DATA.glob("*.json")}
    for name in pages():
        for cell in page(name).cells:
            for output in cell.get("outputs", []):
                about = output.get("metadata", {}).get("scrapbook", {})
                if about.get("name", "").startswith("table "):
                    said = json.loads(output.data[f"{PREFIX}text/plain"])
                    found[said["table"]] = said | {"page": name, "cell": cell.id}
    return dict(sorted(found.items()))


def shown(table):
    """Yield the pages that show, offer or read a table, each with the figure that it feeds.

    A figure's numbers are offered below it, by the first links after it.
    """
    for name in pages():
        figure = None
        for cell in page(name).cells:
            figure = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", figure)
            if f"data/{table}.csv" in cell.source:
                as_table = cell.cell_type == "code" or f":file: data/{table}.csv" in cell.source
                yield name, None if as_table else figure
            if "{download}" in cell.source:
                figure = None


def linked(name):
    """Return the name of a function or a class, linked if the reference has it."""
    public = name.startswith(("userdp.audit.", "userdp.vectors."))
    public |= name.removeprefix("userdp.") in ud.__all__
    role = "class" if name.rpartition(".")[2][0].isupper() else "func"
    return f"{{py:{role}}}`~{name}`" if public else f"`{name}`"


def entry(table):
    """Return a record in Markdown."""
    record, content = records()[table], (DATA / f"{table}.csv").read_bytes()
    listed = lambda words: ", ".join(dict.fromkeys(words))  # noqa: E731
    figures = listed(f"{{numref}}`{figure}`" for _, figure in shown(table) if figure)
    places = listed(f"{{doc}}`{name}`" for name, _ in shown(table))
    made = "`{command}` (`{script}`), once, and kept"
    if "cell" in record:
        made = "{{ref}}`{cell} <{page}-{cell}>` of {{doc}}`{page}`"
    curves = record.get("made_by", [])
    curves = curves if isinstance(curves, dict) else {"": curves}
    makers = [f"{of}: " * bool(of) + listed(map(linked, names)) for of, names in curves.items()]
    digest = hashlib.sha256(content).hexdigest()
    facts = {
        "Shown as": f"{figures or 'a table'} in {places}",
        "Made by": made.format(**record),
        "Functions:": "; ".join(makers),
        "Random numbers:": f"seed {record['seed']}" if record["seed"] else "none",
        "Trials:": listed(f"{n:,}" for n in record.get("trials", [])),
        "Reads": listed(f"`{name}`" for name in record.get("reads", [])),
        "Data:": f"{{download}}`CSV <data/{table}.csv>`, SHA-256 `{digest[:16]}…`",
    }
    lines = [f": *{what}* {words}" for what, words in facts.items() if words]
    title = f"**{table}.csv**, {len(content.splitlines()) - 1:,} rows"
    return "\n".join([f"(record-{table})=", title, *lines, "", ""])


class Provenance(SphinxTransform):
    """Add the addresses of cells, and the links to records."""

    default_priority = 700  # the page is whole, its references are not resolved yet

    def apply(self, **kwargs):
        """Change the page at hand."""
        here = Path(self.env.docname).name
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") == "cell_code":
                name = page(here).cells[cell["cell_index"]].id
                address = nodes.target("", "", ids=[name], names=[f"{here}-{name}"])
                cell.parent.insert(cell.parent.index(cell), address)
                self.document.note_explicit_target(address)
        for link in list(self.document.findall(addnodes.download_reference)):
            table = Path(link["reftarget"])
            if table.suffix == ".csv" and here != RECORDS:
                to = {"reftype": "ref", "refdomain": "std", "reftarget": f"record-{table.stem}"}
                words = nodes.inline("", "how it was made")
                record = addnodes.pending_xref("", words, refexplicit=True, refwarn=True, **to)
                place = link.parent.index(link) + 1
                link.parent.insert(place, [nodes.Text(" ("), record, nodes.Text(")")])


def tell(app, config):
    """Let pages show the records of a part, in the order of its pages."""
    known = {table: record.get("page") for table, record in records().items()}
    home = {table: name or next(shown(table))[0] for table, name in known.items()}
    config.myst_substitutions["records"] = {
        part: "".join(entry(table) for name in names for table in home if home[table] == name)
        for part, names in parts().items()
    }


def setup(app):
    """Register the extension."""
    app.add_transform(Provenance)
    app.connect("config-inited", tell)
