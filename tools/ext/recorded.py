"""A Sphinx extension: where numbers come from, one click away.

Every code cell gets an address, PAGE.html#ID with its id in the notebook; in the text it is called
PAGE-ID. Each table has a record: what the cell that writes it says of it (`userdp.plotting`), and
what is known when the book is built. It stands beside the table's download as a JSON file, and on
the page of records, to which a link leads from each download.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from platform import python_version
from typing import Any

import backlinks
import built
from contents import BOOK, ledger, page, pages, parts
from docutils import nodes
from docutils.statemachine import StringList
from jupyter_cache import get_cache
from nbformat import NotebookNode
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

import userdp as ud
from userdp.plotting._tables import PREFIX

DATA = BOOK / "data"
RECORDS = "record"  # the page that shows the records; there each table is at home
USED = ["numpy", "scipy", "pandas", "matplotlib"]

# --- What a record says ---------------------------------------------------------------------------


def executed(path: Path, config: Any) -> NotebookNode:
    """Return a page as it was executed for this build, or as it is stored if it was not."""
    if config.execution_mode == "cache" and path.exists():
        return get_cache(config.execution_cache_path).merge_match_into_file(str(path))[1]
    return page(path.stem)


def told(notebook: NotebookNode) -> Iterator[dict[str, Any]]:
    """Yield what a page's cells say of the tables that they write."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
            if name.startswith("table "):
                yield {"cell": cell.id} | json.loads(output.data[f"{PREFIX}text/plain"])


def figure(cell: NotebookNode) -> str | None:
    """Return the name of the figure that a cell shows."""
    return cell.metadata.get("mystnb", {}).get("figure", {}).get("name")


def shown(table: str) -> tuple[list[str], list[str]]:
    """Return the figures that a table feeds, and the pages that show, offer or read it.

    A figure's numbers are offered below it, by the first links after it.
    """
    figures, places = {}, {}
    for name in pages():
        last = None
        for cell in page(name).cells:
            last = figure(cell) or last
            if f"data/{table}.csv" in cell.source:
                places[name] = True
                if cell.cell_type == "markdown" and f":file: data/{table}.csv" not in cell.source:
                    figures[last] = True
            if "{download}" in cell.source:
                last = None
    return [name for name in figures if name], list(places)


def makers(record: dict[str, Any]) -> list[str]:
    """Return the functions that made a table, each once."""
    made = record.get("made_by", [])
    return list(dict.fromkeys(chain(*made.values()) if isinstance(made, dict) else made))


def about(table: str, record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with what is known of a table beside what was said of it."""
    content, (figures, places) = (DATA / f"{table}.csv").read_bytes(), shown(table)
    names = {name.removeprefix("userdp.") for name in makers(record)}
    claims = [
        row
        for row in ledger()
        if row["page"] == record.get("page", places[0])
        and (row["label"] in figures or names & {*row["functions"]})
    ]
    commit, _, changed = built.stamp()
    return record | {
        "file": f"{table}.csv",
        "sha256": hashlib.sha256(content).hexdigest(),
        "rows": content.count(b"\n") - 1,
        "figures": figures,
        "pages": places,
        "claims": [row["id"] for row in claims],
        "tests": list(dict.fromkeys(test for row in claims for test in row["tests"])),
        "commit": commit or None,
        "changed": changed,
    }


def records(config: Any) -> dict[str, dict[str, Any]]:
    """Return the records of all tables: of those that pages write, and of those that are kept."""
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in DATA.glob("*.json")}
    environment = {"python": python_version(), "userdp": ud.__version__}
    for name in pages():
        for said in told(executed(BOOK / f"{name}.ipynb", config)):
            used = [*USED, *(source for source in said["reads"] if not source.endswith(".csv"))]
            versions = environment | {package: version(package) for package in used}
            known = {"executed": config.execution_mode != "off", "versions": versions}
            found[said.pop("table")] = {"page": name, **said, **known}
    return {table: about(table, found[table]) for table in sorted(found)}


# --- The page of records --------------------------------------------------------------------------


def function(name: str) -> str:
    """Return the name of a function or class, linked to the reference if it is there."""
    last = name.rpartition(".")[2]
    public = name in {f"userdp.{known}" for known in ud.__all__} or name.startswith("userdp.audit.")
    role = "py:class" if last[0].isupper() else "py:func"
    return f"{{{role}}}`~{name}`" if public else f"`{name}`"


def functions(made: Any) -> str:
    """Return in words what made a table, or each of its curves."""
    if isinstance(made, list):
        return ", ".join(map(function, made))
    return "; ".join(f"{curve}: {functions(names)}" for curve, names in made.items())


def entry(table: str, record: dict[str, Any]) -> str:
    """Return a record in Markdown."""
    figures = [f"{{numref}}`{name}`" for name in record["figures"]] or ["a table"]
    places = [f"{{doc}}`{name}`" for name in record["pages"]]
    made = "`{command}` (`{script}`), once, and kept"
    if "cell" in record:
        made = "{{ref}}`{cell} <{page}-{cell}>` of {{doc}}`{page}`"
    claims = [backlinks.link(row) for row in ledger() if row["id"] in record["claims"]]
    facts = {
        "Shown as": f"{', '.join(figures)} in {', '.join(places)}",
        "Made by": made.format(**record),
        "Functions:": functions(record.get("made_by", [])),
        "Random numbers:": f"seed {record['seed']}" if record["seed"] else "none",
        "Trials:": ", ".join(f"{n:,}" for n in record.get("trials", [])),
        "Reads": ", ".join(f"`{name}`" for name in record.get("reads", [])),
        "Claims:": re.sub(r":([\w:]+):(?=`)", r"{\1}", ", ".join(dict.fromkeys(claims))),
        "Tests of the claims:": ", ".join(f"{{test}}`{test}`" for test in record["tests"]),
        "Data:": f"{{download}}`CSV <data/{table}.csv>`, SHA-256 `{record['sha256'][:16]}…`",
    }
    lines = [f": *{what}* {words}" for what, words in facts.items() if words]
    title = f"**{record['file']}**, {record['rows']:,} rows"
    return "\n".join([f"(record-{table})=", title, *lines, "", ""])


class Records(SphinxDirective):
    """The records of the tables of a part of the book, `{records} The theory`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return what is told in Markdown, where the directive stands."""
        self.env.note_reread()
        box, lines = nodes.container(), StringList(self.told(), self.get_source_info()[0])
        self.state.nested_parse(lines, self.content_offset, box)
        return box.children

    def told(self) -> list[str]:
        """Return the records, in the order of the pages."""
        every = self.env.userdp_records
        home = {table: record.get("page", record["pages"][0]) for table, record in every.items()}
        inside = [t for name in parts()[self.arguments[0]] for t in every if home[t] == name]
        return "\n".join(entry(table, every[table]) for table in inside).splitlines()


class Versions(Records):
    """What the tables were made with, `{versions}`: the commit, the versions of all packages."""

    required_arguments = 0

    def told(self) -> list[str]:
        """Return them as a list."""
        every = [record.get("versions", {}) for record in self.env.userdp_records.values()]
        found = {name: number for versions in every for name, number in versions.items()}
        lines = [f"- {name} {found[name]}" for name in sorted(found)]
        return [f"- {built.origin() or 'no commit is known'}", *lines]


# --- Addresses, links and files -------------------------------------------------------------------


class Provenance(SphinxTransform):
    """Add the addresses of cells, and the links to records."""

    default_priority = 700  # the page is whole, its references are not resolved yet

    def apply(self, **kwargs: Any) -> None:
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
                to = {"reftype": "ref", "reftarget": f"record-{table.stem}", "refexplicit": True}
                record = addnodes.pending_xref("", refdomain="std", refwarn=True, **to)
                record += nodes.inline("", "how it was made")
                place = link.parent.index(link) + 1
                link.parent.insert(place, [nodes.Text(" ("), record, nodes.Text(")")])


def collect(app: Sphinx) -> None:
    """Make the records, before pages are read."""
    app.env.userdp_records = records(app.env.mystnb_config)


def write_files(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """On the page of records, write each record beside its table, and link it."""
    if Path(docname).name != RECORDS or app.builder.format != "html":
        return
    for link in list(doctree.findall(addnodes.download_reference)):
        record = app.env.userdp_records[Path(link["reftarget"]).stem]
        target = Path("_downloads", link["filename"]).with_suffix(".json")
        file = Path(app.outdir, target)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
        address = relative_uri(app.builder.get_target_uri(docname), target.as_posix())
        to_file = nodes.reference("", "record", refuri=address, internal=True)
        link.parent.insert(link.parent.index(link) + 1, [nodes.Text(", "), to_file])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_transform(Provenance)
    app.add_directive("records", Records)
    app.add_directive("versions", Versions)
    app.connect("builder-inited", collect, priority=900)  # when the notebooks' settings are known
    app.connect("doctree-resolved", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
