"""What stored outputs may bring into a page: text, pictures and plain tables; nothing that runs.

Outputs of the kind text/html stand in the page as they are, so they are held against a grammar of
what pandas writes, in which there is no place for anything else.
"""

import base64
import re

import nbformat
import pytest
from contents import BOOK

VALUE = r"""(?:"[\w .:;%-]*"|'[\w .:;%-]*')"""
TAG = rf"""</?(?:div|table|thead|tbody|tr|th|td|br)
    (?:\s(?:class|border|rowspan|colspan|scope|valign|halign|style)={VALUE})*\s*>"""
RULE = r"\s*\.dataframe[\w .:-]+\{\s*(?:vertical|text)-align:\s\w+;\s*\}"
STYLE = rf"<style\ scoped>(?:{RULE})+\s*</style>"
HTML = re.compile(rf"(?:[^<>&]|&(?:amp|lt|gt|quot|\#39|nbsp);|{TAG}|{STYLE})*", re.VERBOSE)


def markdown_is_harmless(text):
    """Whether it holds no HTML, no directives, and no links but within the book.

    {ref}`words <a-label>` and {download}`words <data/a.csv>` are not HTML; and if they were, tags
    with a hyphen in their name, and `data`, do nothing.
    """
    html, directive = r"<(?!(?:\w+-[\w-]+|data/[\w.-]+)>`)[a-z!/?]", r"^\s*[`~:]{3}"
    definition = r"^\s*\[[^\]]*\]:"
    link, address = r"\]\((?![\w.#-][\w./#-]*\))", r"\w:\s*//|javascript:"
    unsafe = "|".join([html, directive, definition, link, address])
    return not re.search(unsafe, text, re.IGNORECASE | re.MULTILINE)


ALLOWED = {
    "text/plain": lambda data: True,  # is escaped
    "application/papermill.record/text/plain": lambda data: True,  # is escaped
    "text/markdown": markdown_is_harmless,
    "text/html": HTML.fullmatch,
    "image/png": lambda data: base64.b64decode(data).startswith(b"\x89PNG\r\n\x1a\n"),
}


def faults(notebook):
    found = [f"metadata {name}" for name in {*notebook.metadata} - {"kernelspec", "language_info"}]
    for cell in notebook.cells:
        if cell.cell_type not in {"code", "markdown"} or cell.get("attachments"):
            found.append(f"{cell.cell_type} cell, attachments {list(cell.get('attachments', {}))}")
        for output in cell.get("outputs", []):
            for kind, data in output.get("data", {}).items():
                if kind not in ALLOWED or not ALLOWED[kind](data):
                    found.append(f"{kind}: {str(data)[:300]}")
    return found


@pytest.mark.parametrize("path", sorted(BOOK.glob("*.ipynb")), ids=lambda path: path.stem)
def test_outputs_hold_nothing_that_runs(path):
    assert faults(nbformat.read(path, as_version=4)) == []


def test_what_runs_is_found():
    assert not HTML.fullmatch("<table><tr><td>5.0</td></tr></table><script>alert(1)</script>")
    assert not HTML.fullmatch('<table><tr><td onclick="alert(1)">5.0</td></tr></table>')
    assert not markdown_is_harmless("[x](javascript:alert(1))")
