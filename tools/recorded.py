"""Where numbers come from, one click away: a Sphinx extension.

Every code cell gets an address, PAGE.html#ID with its id in the notebook; in the text it is called
PAGE-ID. Each table has a record: what the cell that writes it says of it (`userdp.tables`), and
what is known when the book is built. It stands beside the table's download as a JSON file, and on
the page of records, to which a link leads from each download.
"""

import csv
import hashlib
import json
from collections.abc import Iterator
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from platform import python_version
from typing import Any

import built
import yaml
from contents import BOOK, ledger, page, pages
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
from userdp.tables import PREFIX

DATA = BOOK / "data"
RECORDS = "record"  # the page that shows the records; there each table is at home
ROLES = {"eq": "eq", "fig": "numref", "sec": "ref", "err": "ref"}  # the others are statements
USED = ["numpy", "scipy", "pandas", "matplotlib"]

# --- What a record says ---------------------------------------------------------------------------


def executed(path: Path, config: Any) -> NotebookNode:
    """Return a page as it was executed for this build, or as it is stored if it was not."""
    if config.execution_mode == "cache":
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


def makers(record: dict[str, Any]) -> list[str]:
    """Return the functions that made a table, each once."""
    made = record.get("made_by", [])
    return list(dict.fromkeys(chain(*made.values()) if isinstance(made, dict) else made))


def versions(record: dict[str, Any]) -> dict[str, str]:
    """Return which versions computed a table: those of this environment."""
    read = [name for name in record["reads"] if not name.endswith(".csv")]
    found = {"python": python_version(), "userdp": ud.__version__}
    return found | {name: version(name) for name in [*USED, *read]}


def about(table: str, record: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a table beside what was said of it."""
    content = (DATA / f"{table}.csv").read_bytes()
    figures, places = shown(table)
    names = {name.removeprefix("userdp.") for name in makers(record)}
    claims = [
        row
        for row in ledger()
        if row["page"] == record.get("page", places[0])
        and (row["label"] in figures or names & {*row["functions"]})
    ]
    tests = dict.fromkeys(test for row in claims for test in row["tests"])
    commit, _ = built.stamp() or (None, None)
    return {
        "file": f"{table}.csv",
        "sha256": hashlib.sha256(content).hexdigest(),
        "rows": len(list(csv.reader(content.decode().splitlines()))) - 1,
        "figures": figures,
        "pages": places,
        "claims": [row["id"] for row in claims],
        "tests": list(tests),
        "commit": commit,
        "changed": built.changed(),
    }


def records(config: Any) -> dict[str, dict[str, Any]]:
    """Return the records of all tables: of those that pages write, and of those that are kept."""
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in DATA.glob("*.json")}
    for name in pages():
        path = BOOK / f"{name}.ipynb"
        for said in told(executed(path, config)) if path.exists() else ():
            known = {"executed": config.execution_mode != "off", "versions": versions(said)}
            found[said.pop("table")] = {"page": name, **said, **known}
    return {table: found[table] | about(table, found[table]) for table in sorted(found)}


# --- The page of records --------------------------------------------------------------------------


def function(name: str) -> str:
    """Return the name of a function or class, linked to the reference if it is there."""
    last = name.rpartition(".")[2]
    public = (name, last in ud.__all__) == (f"userdp.{last}", True)
    public |= name.startswith("userdp.audit.")
    role = "py:class" if last[0].isupper() else "py:func"
    return f"{{{role}}}`~{name}`" if public else f"`{name}`"


def functions(record: dict[str, Any]) -> str:
    """Return in words what made a table, or each of its curves."""
    made = record["made_by"]
    if isinstance(made, list):
        return ", ".join(map(function, made))
    return "; ".join(f"{curve}: {', '.join(map(function, names))}" for curve, names in made.items())


def claim(row: dict[str, Any]) -> str:
    """Return a link to what a row of the ledger is about."""
    role, label = ROLES.get(row["label"].split("-")[0], "prf:ref"), row["label"]
    return f"{{ref}}`{row['where']} <{label}>`" if role == "ref" else f"{{{role}}}`{label}`"


def entry(table: str, record: dict[str, Any]) -> str:
    """Return a record in Markdown."""
    figures = [f"{{numref}}`{name}`" for name in record["figures"]] or ["a table"]
    places = [f"{{doc}}`{name}`" for name in record["pages"]]
    lines = [
        f"(record-{table})=",
        f"**{record['file']}**, {record['rows']:,} rows",
        f": *Shown as* {', '.join(figures)} in {', '.join(places)}",
    ]
    if "cell" in record:
        cell = f"{{ref}}`{record['cell']} <{record['page']}-{record['cell']}>`"
        lines += [f": *Made by* {cell} of {{doc}}`{record['page']}`"]
        lines += [f": *Functions:* {functions(record)}"]
    else:
        lines += [f": *Made by* `{record['command']}` (`{record['script']}`), once, and kept"]
    seed, trials = record["seed"], ", ".join(f"{n:,}" for n in record.get("trials", []))
    lines += [f": *Random numbers:* {f'seed {seed}' if seed else 'none'}"]
    lines += [f": *Trials:* {trials}"] * bool(trials)
    if reads := ", ".join(f"`{name}`" for name in record.get("reads", [])):
        lines += [f": *Reads* {reads}"]
    if claims := [claim(row) for row in ledger() if row["id"] in record["claims"]]:
        lines += [f": *Claims:* {', '.join(dict.fromkeys(claims))}"]
    if tests := ", ".join(f"{{test}}`{test}`" for test in record["tests"]):
        lines += [f": *Tests of the claims:* {tests}"]
    csv_file, digest = f"{{download}}`CSV <data/{table}.csv>`", record["sha256"][:16]
    return "\n".join([*lines, f": *Data:* {csv_file}, SHA-256 `{digest}…`", "", ""])


def part(caption: str) -> list[str]:
    """Return the pages of a part of the book."""
    toc = yaml.safe_load((built.ROOT / "_toc.yml").read_text("utf-8"))
    (found,) = [p["chapters"] for p in toc["parts"] if p["caption"] == caption]
    first = [toc["root"]] if found is toc["parts"][0]["chapters"] else []
    return [Path(name).name for name in [*first, *(chapter["file"] for chapter in found)]]


class Records(SphinxDirective):
    """The records of the tables of a part of the book, `{records} The theory`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return them, in the order of the pages."""
        self.env.note_reread()
        every = self.env.userdp_records
        home = {table: record.get("page", record["pages"][0]) for table, record in every.items()}
        inside = [t for name in part(self.arguments[0]) for t in every if home[t] == name]
        return markdown(self, "\n".join(entry(table, every[table]) for table in inside))


class Versions(SphinxDirective):
    """What the tables were made with, `{versions}`."""

    def run(self) -> list[nodes.Node]:
        """Return the commit and the versions of all packages."""
        self.env.note_reread()
        every = [r["versions"] for r in self.env.userdp_records.values() if "versions" in r]
        found = {name: number for versions in every for name, number in versions.items()}
        lines = [f"- {name} {found[name]}" for name in sorted(found)]
        return markdown(self, "\n".join([f"- {built.origin() or 'no commit is known'}", *lines]))


def markdown(directive: SphinxDirective, text: str) -> list[nodes.Node]:
    """Return what a text in Markdown says, where a directive stands."""
    box = nodes.container()
    lines = StringList(text.splitlines(), directive.get_source_info()[0])
    directive.state.nested_parse(lines, directive.content_offset, box)
    return box.children


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
                to = f"record-{table.stem}"
                record = addnodes.pending_xref(
                    "", refdomain="std", reftype="ref", reftarget=to, refexplicit=True, refwarn=True
                )
                record += nodes.inline("", "how it was made")
                place = link.parent.index(link) + 1
                for node in (nodes.Text(")"), record, nodes.Text(" (")):
                    link.parent.insert(place, node)


def collect(app: Sphinx) -> None:
    """Make the records, before pages are read."""
    app.env.userdp_records = records(app.env.mystnb_config)


def link_files(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """On the page of records, link each record beside its table."""
    if Path(docname).name == RECORDS and app.builder.format == "html":
        for link in list(doctree.findall(addnodes.download_reference)):
            target = Path("_downloads", link["filename"]).with_suffix(".json")
            address = relative_uri(app.builder.get_target_uri(docname), target.as_posix())
            record = nodes.reference("", "record", refuri=address, internal=True)
            place = link.parent.index(link) + 1
            link.parent.insert(place, [nodes.Text(", "), record])


def write_files(app: Sphinx, error: Exception | None) -> None:
    """Write each record beside its table."""
    for source, (_, place) in app.env.dlfiles.items() if not error else ():
        record = app.env.userdp_records.get(Path(source).stem)
        target = Path(app.outdir, "_downloads", place).with_suffix(".json")
        if record and target.parent.is_dir():
            text = json.dumps(record, indent=1, ensure_ascii=False)
            target.write_text(text + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_transform(Provenance)
    app.add_directive("records", Records)
    app.add_directive("versions", Versions)
    app.connect("builder-inited", collect, priority=900)  # when the notebooks' settings are known
    app.connect("doctree-resolved", link_files)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
