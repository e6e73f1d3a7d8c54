"""A Sphinx extension: a chapter that leaves the book takes along what it needs.

What the download button gives is not the notebook of the repository, but that with prose in plain
Markdown (`plain`), with the outputs that it has in the book. Its first cell names the page, the
version and the commit, and the one line that installs all it needs. A chapter that reads files of
the book gets a second cell: it looks for them beside the notebook, then in the clone that `userdp`
is from, then on the site; where they are nowhere, it says what makes them.

The site has those files beside the notebook, as the repository has. `rerun` makes the chapters for
Colab of the same copies. `nox --session travel` tries every chapter, alone in an empty folder.
"""

import os
import re
import shutil
from pathlib import Path

import nbformat
from contents import BOOK, ROOT, page
from plain import Writer
from recorded import records
from rerun import commit
from webpages import version

HEAD = """\
*{title}* is a page of *{book}*. {version}.{link}

To run it, install once what it needs, into an environment with Python 3.11 or newer{where}:

```sh
pip install {what}
```
"""
FETCH = """\
# Files of the book that this page reads: beside it, else from the clone of `userdp`, else from the
# book's site.
from pathlib import Path
from shutil import copy
from urllib.request import urlretrieve

import userdp

site = "{site}"
clone = Path(userdp.__file__).resolve().parents[1]
makers = {makers}
for name, maker in makers.items():
    file = Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    for kept in (clone / "book" / name, clone / name):
        if kept.exists() and not file.exists():
            copy(kept, file)
    if not file.exists():
        try:
            urlretrieve(site + name, file)
        except (OSError, ValueError) as error:
            raise FileNotFoundError(f"No {{name}} here: {{maker}} makes it.") from error
"""
READ = re.compile(r'"(\.\./proofs/README\.md|claims\.yml|data/[\w-]+\.csv|data/floors)"')
ELSEWHERE = {"claims.yml": "the repository", "proofs/README.md": "the repository"}


def asked(name):
    """Return the files of the book that a chapter reads, each with what makes it."""
    source = "\n".join(c.source for c in page(name).cells if c.cell_type == "code")
    found = []
    for file in dict.fromkeys(READ.findall(source)):
        here = sorted((BOOK / file).glob("*")) if (BOOK / file).is_dir() else [BOOK / file]
        found += [path.resolve() for path in here]
    # The repository's files outside of the book stand beside the copy as well.
    return {
        str(path.relative_to(BOOK if path.is_relative_to(BOOK) else ROOT)): maker(path, name)
        for path in found
    }


def maker(path, reader):
    """Say what makes a file."""
    if path.parent.name == "floors":
        return "`make floors`"
    record = records().get(path.stem, {})
    if "cell" in record:
        title = page(record["page"]).cells[0].source.partition("\n")[0].strip("# ")
        return f"the page {title} ({record['page']}.ipynb)"
    if "command" in record:
        return f"`{record['command']}`"
    return ELSEWHERE[str(path.relative_to(BOOK if path.is_relative_to(BOOK) else ROOT))]


def line():
    """Return what pip installs all from, and where to call it."""
    if address := os.getenv("USERDP_REPOSITORY"):
        return f'"userdp[book] @ git+{address}@{commit()}"', ""
    return '".[book]"', ", from a clone of the book's repository"


def opening(app, name, title):
    """Return the first cells of a copy."""
    base = app.config.html_baseurl
    what, where = line()
    link = f" [It stands on the web]({base}book/{name}.html)." if base else ""
    said = {"title": title, "book": app.config.html_title, "version": version(), "link": link}
    first = HEAD.format(what=what, where=where, **said)
    made = [nbformat.v4.new_markdown_cell(first, id="about-this-copy")]
    if makers := asked(name):
        site = f"{base}_sources/book/" if base else ""
        shown = "{\n" + "".join(f"    {file!r}: {who!r},\n" for file, who in makers.items()) + "}"
        code = FETCH.format(site=site, makers=shown.replace("'", '"'))
        made.append(nbformat.v4.new_code_cell(code.rstrip(), id="files-of-the-book"))
    return made


def copied(app, name, tree):
    """Return the copy of a chapter that leaves the book."""
    env = app.env
    base = app.config.html_baseurl
    address = f"{base}book/{name}.html" if base else ""
    said = Writer(address, env.toc_fignumbers.get(f"book/{name}", {})).cells(tree)
    chapter = nbformat.from_dict(page(name))
    cells = []
    for number, old in enumerate(chapter.cells):
        cell = nbformat.from_dict(old)
        prose = said.get(number, "")
        if cell.cell_type == "code":
            cell.source = cell.source.replace('"../', '"')
            drop(cell)
            cells.append(cell)
            cell = nbformat.v4.new_markdown_cell(id=f"below-{cell.id}")  # a figure's caption
        if prose:
            cell.source = prose
            cell.metadata = {}
            cells.append(cell)
    chapter.cells = [*opening(app, name, env.titles[f"book/{name}"].astext()), *cells]
    return chapter


def drop(cell):
    """Take out of a cell what only the book reads: records of tables, and words that it glues."""
    cell.outputs = [o for o in cell.outputs if "scrapbook" not in o.get("metadata", {})]
    cell.metadata = {name: cell.metadata[name] for name in ("tags",) if name in cell.metadata}


def keep(app, tree, docname):
    """Make the copy of a chapter when all of its page is resolved."""
    name = docname.removeprefix("book/")
    if app.builder.format == "html" and (BOOK / f"{name}.ipynb").exists():
        app.travelling[name] = copied(app, name, tree)


def leave(app):
    """Put the copies where the buttons lead, with the files that they read."""
    folder = Path(app.outdir) / "_sources" / "book"
    for name, chapter in app.travelling.items():
        nbformat.write(chapter, folder / f"{name}.ipynb")
        for file in asked(name):
            to = folder / file
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(BOOK / file if (BOOK / file).exists() else ROOT / file, to)
    return []


def begin(app):
    """Begin without copies."""
    app.travelling = {}


def setup(app):
    """Register the extension; `rerun` leaves its copies after this."""
    app.connect("builder-inited", begin)
    app.connect("doctree-resolved", keep, priority=900)
    app.connect("html-collect-pages", leave, priority=400)
