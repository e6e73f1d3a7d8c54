"""A Sphinx extension: where numbers come from, one click away.

Every code cell gets an address, PAGE.html#ID with its id in the notebook; in the text it is called
PAGE-ID. Each table has a record: what the cell that writes it says of it (`userdp.plotting`), and
what is known of where it is shown. It stands on the page of records, where {{ records["The theory"]
}} are those of a part of the book; from each download a link leads there.
"""

import hashlib
import json
import re
from functools import cache
from itertools import chain
from pathlib import Path

import sources
from contents import BOOK, ledger, page, pages, parts
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


def home(table):
    """Return the page that a table belongs to."""
    return records()[table].get("page") or next(shown(table))[0]


def functions(made):
    """Return in words what made a table, or each of its curves; linked if the reference has it."""
    if isinstance(made, dict):
        return "; ".join(f"{curve}: {functions(names)}" for curve, names in made.items())
    public = {f"userdp.{name}" for name in ud.__all__}
    public |= {name for name in made if name.startswith(("userdp.audit.", "userdp.vectors."))}
    roles = {n: "class" if n.rpartition(".")[2][0].isupper() else "func" for n in public}
    return ", ".join(f"{{py:{roles[n]}}}`~{n}`" if n in roles else f"`{n}`" for n in made)


def entry(table):
    """Return a record in Markdown."""
    record, content = records()[table], (DATA / f"{table}.csv").read_bytes()
    places = ", ".join(dict.fromkeys(f"{{doc}}`{name}`" for name, _ in shown(table)))
    figures = dict.fromkeys(figure for _, figure in shown(table) if figure)
    drawn = ", ".join(f"{{numref}}`{name}`" for name in figures) or "a table"
    made_by = record.get("made_by", [])
    makers = {*chain(*made_by.values())} if isinstance(made_by, dict) else {*made_by}
    rows = [
        row
        for row in ledger()
        if row["page"] == home(table)
        and (row["label"] in figures or makers & {f"userdp.{name}" for name in row["functions"]})
    ]
    made = "`{command}` (`{script}`), once, and kept"
    if "cell" in record:
        made = "{{ref}}`{cell} <{page}-{cell}>` of {{doc}}`{page}`"
    claims = ", ".join(dict.fromkeys(map(sources.reference, rows)))
    tests = dict.fromkeys(f"{{test}}`{test}`" for row in rows for test in row["tests"])
    digest = hashlib.sha256(content).hexdigest()
    facts = {
        "Shown as": f"{drawn} in {places}",
        "Made by": made.format(**record),
        "Functions:": functions(made_by),
        "Random numbers:": f"seed {record['seed']}" if record["seed"] else "none",
        "Trials:": ", ".join(f"{n:,}" for n in record.get("trials", [])),
        "Reads": ", ".join(f"`{name}`" for name in record.get("reads", [])),
        "Claims:": re.sub(r":([\w:]+):(?=`)", r"{\1}", claims),
        "Tests of the claims:": ", ".join(tests),
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
                to = {"refdomain": "std", "reftype": "ref", "refexplicit": True, "refwarn": True}
                words = nodes.inline("", "how it was made")
                record = addnodes.pending_xref("", words, reftarget=f"record-{table.stem}", **to)
                place = link.parent.index(link) + 1
                link.parent.insert(place, [nodes.Text(" ("), record, nodes.Text(")")])


def tell(app, config):
    """Let pages show the records of a part, in the order of its pages."""
    config.myst_substitutions["records"] = {
        part: "".join(entry(table) for name in names for table in records() if home(table) == name)
        for part, names in parts().items()
    }


def setup(app):
    """Register the extension."""
    app.add_transform(Provenance)
    app.connect("config-inited", tell)
