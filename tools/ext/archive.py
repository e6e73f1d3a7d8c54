"""A Sphinx extension: all data of the book in one archive, described for people and programs.

`userdp-data.zip` beside the pages has every table, the certificates of floors and the releases that
pages recorded; `dictionary.csv`, each column in words with its unit, and what made the table; and
`datapackage.json`, the same for programs, as a Data Package of Frictionless. The same data make the
same archive, to the last byte. `nox --session data` reads it with Frictionless.
"""

import csv
import hashlib
import io
import json
import re
from urllib.parse import urljoin
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from contents import page
from dictionary import columns, row
from recorded import DATA, records

import userdp

NAME = "userdp-data.zip"
LICENCES = [{"name": "CC-BY-4.0", "path": "https://creativecommons.org/licenses/by/4.0/"}]
FORMATS = {
    ".csv": ("csv", "text/csv"),
    ".json": ("json", "application/json"),
    ".jsonl": ("txt", "application/jsonl"),  # a line is no row: to read as text
    ".txt": ("txt", "text/plain"),
}
OTHERS = {
    r"floors/.*": "Certificates of floors, a line each, found by `make floors`; users who have as "
    "many samples are told once. `userdp.beyond.FloorCertificate.from_json` reads a line, and its "
    "method `check` proves it again.",
    r"[\w-]+-release.*|decide-protected.*": "A release that the page recorded once, as OpenDP's "
    "noise has no seed.",
    r"at-scale-spark\.txt": "A release by Spark that the page recorded once.",
}
"""What stands beside the tables, by the names of the files."""
COLUMNS = {
    "table": "Name of the table: data/NAME.csv",
    "column": "Name of the column",
    "type": "Type of the column: integer, number or string",
    "unit": "Unit of the column; 1 for counts and ratios, U for parts of the bound of the samples",
    "says": "What the column says",
    "row": "What a row of the table is",
    "page": "Page of the book that writes the table, or is the first to show it",
    "made_by": "Cell or script that made the table",
    "seed": "What the random numbers start from; empty where there are none",
}
"""Those of dictionary.csv itself."""
README = """\
The data of "{title}", version {version}.

data/             all tables as CSV files (UTF-8, a header of one line, empty where there is no
                  value), certificates of floors, and recorded releases
dictionary.csv    what each column of each table says, its unit ("1" for counts and ratios, "U" for
                  parts of the bound of the samples), what a row is, which page shows it, and which
                  cell or script made it from which seed
datapackage.json  the same for programs: https://datapackage.org

Text, figures and data: CC BY 4.0, https://creativecommons.org/licenses/by/4.0/
"""


def maker(record):
    """Return which cell of a page, or which script, made a table."""
    cell = "cell {cell} of book/{page}.ipynb"
    return (cell if "cell" in record else "{script}").format(**record)


def dictionary():
    """Return all columns of all tables as a table, with a header."""
    rows = [[*COLUMNS]]
    for table, record in records().items():
        where = [row(table), record["page"], maker(record), record["seed"]]
        rows += [[table, c.name, c.type, c.unit, c.says, *where] for c in columns(table)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def others():
    """Return the files of data that are no tables, with what they are; kept records are none."""
    paths = sorted(path for path in DATA.rglob("*") if path.is_file() and path.suffix != ".csv")
    kept = {f"{table}.json" for table, record in records().items() if "command" in record}
    names = [name for path in paths if (name := path.relative_to(DATA).as_posix()) not in kept]
    return {name: next(s for p, s in OTHERS.items() if re.fullmatch(p, name)) for name in names}


def resource(path, content, description, **more):
    """Return what a Data Package says of a file."""
    stem, dot, end = path.removeprefix("data/").rpartition(".")
    form, media = FORMATS[dot + end]
    return {
        "name": re.sub("[^a-z0-9]+", "-", stem if end == "csv" else f"{stem}-{end}"),
        "path": path,
        "description": description,
        "format": form,
        "mediatype": media,
        "encoding": "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
        **more,
    }


def schema(fields):
    """Return what a Data Package says of columns: names, types, words, and units of its own."""
    described = [
        {"name": name, "type": kind, "description": says} | ({"unit": unit} if unit else {})
        for name, kind, unit, says in fields
    ]
    return {"profile": "tabular-data-resource", "schema": {"fields": described}}


def table_resource(table, record, content, base):
    """Return what a Data Package says of a table: its columns, where it is shown, what made it."""
    title = page(record["page"]).cells[0].source.partition("\n")[0].strip("# ")
    made = {"made_by": maker(record), "seed": record["seed"], "trials": record.get("trials")}
    made |= {"functions": record.get("made_by"), "reads": record.get("reads")}
    if base:
        made["homepage"] = urljoin(base, f"book/{record['page']}.html")
    made = {name: said for name, said in made.items() if said}
    about = f"A row is {row(table)}. On the page: {title}."
    return resource(f"data/{table}.csv", content, about, **schema(columns(table)), **made)


def files(config):
    """Return all files of the archive, by their names."""
    made = {"dictionary.csv": dictionary()}
    fields = [(n, "integer" if n == "seed" else "string", "", s) for n, s in COLUMNS.items()]
    about = "What each column of each table says, with its unit."
    resources = [resource("dictionary.csv", made["dictionary.csv"], about, **schema(fields))]
    for table, record in records().items():
        made[f"data/{table}.csv"] = content = (DATA / f"{table}.csv").read_bytes()
        resources.append(table_resource(table, record, content, config.html_baseurl))
    for name, about in others().items():
        made[f"data/{name}"] = content = (DATA / name).read_bytes()
        resources.append(resource(f"data/{name}", content, about))
    said = {
        "profile": "data-package",
        "name": "userdp-companion-data",
        "title": config.html_title,
        "version": userdp.__version__,
        "homepage": config.html_baseurl,
        "contributors": [{"title": config.author, "role": "author"}],
        "licenses": LICENCES,
        "resources": resources,
    }
    said = {name: value for name, value in said.items() if value}
    made["datapackage.json"] = (json.dumps(said, indent=1, ensure_ascii=False) + "\n").encode()
    about = README.format(title=config.html_title, version=userdp.__version__)
    return made | {"README.txt": about.encode()}


def pack(app):
    """Write the archive beside the pages."""
    with ZipFile(app.outdir / NAME, "w") as archive:
        for name, content in sorted(files(app.config).items()):
            about = ZipInfo(name)  # of 1980: the same file from the same data
            about.external_attr = 0o644 << 16
            about.create_system = 3  # whoever makes it, to these rights
            archive.writestr(about, content, ZIP_DEFLATED)
    return []


def setup(app):
    """Register the extension."""
    app.connect("html-collect-pages", pack)
