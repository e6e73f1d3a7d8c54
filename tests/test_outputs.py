"""What stored outputs may bring into a page: text, pictures and plain tables; nothing that runs.

Outputs of the kind text/html stand in the page as they are, so they are held against a grammar of
what pandas writes, in which there is no place for anything else. And nothing is unpickled.
"""

import ast
import base64
import re
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))
SOURCES = sorted(
    path for folder in ("userdp", "tools", "benchmarks") for path in (ROOT / folder).glob("*.py")
)

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
    """What a notebook holds beside text, code and outputs of the allowed kinds."""
    found = [f"metadata {name}" for name in {*notebook.metadata} - {"kernelspec", "language_info"}]
    for cell in notebook.cells:
        if cell.cell_type not in {"code", "markdown"} or cell.get("attachments"):
            found.append(f"{cell.cell_type} cell, attachments {list(cell.get('attachments', {}))}")
        for output in cell.get("outputs", []):
            for kind, data in output.get("data", {}).items():
                if kind not in ALLOWED or not ALLOWED[kind](data):
                    found.append(f"{kind}: {str(data)[:300]}")
    return found


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_outputs_hold_nothing_that_runs(path):
    assert faults(nbformat.read(path, as_version=4)) == []


TABLE = '<table border="1" class="dataframe">\n  <tr><td>%s</td></tr></table>'
ATTACKS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//example.org/x.js></SCRIPT>",
    "<script\n>alert(1)</script>",
    "<scr<script>ipt>alert(1)",
    "<img src=x onerror=alert(1)>",
    "<img src=x onerror=alert(1) ",  # the next tag of the page closes it
    '<td onclick="alert(1)">',
    "<td class=x onclick=alert(1)>",
    '<td class="x"onclick="alert(1)">',
    '<td onclick="stop">',
    "<td style='background: url(//example.org/x)'>",
    '<td class="x" style="background: url(//example.org/x)">',
    "<a href='javascript:alert(1)'>x</a>",
    '<iframe src="https://example.org"></iframe>',
    "<object data=x></object>",
    "<embed src=x>",
    "<svg onload=alert(1)>",
    "<math><mtext></mtext></math>",
    '<meta http-equiv="refresh" content="0; url=//example.org">',
    '<base href="//example.org">',
    '<form action="//example.org"><input></form>',
    "<style scoped>@import url(//example.org);</style>",
    "<style scoped> .dataframe td { background: url(//example.org); } </style>",
    "<style scoped> .dataframe td { text-align: right; } </style",
    "<!-- <b -->",
    "&#106;",
    "<td/onclick=alert(1)>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_in_a_table_is_seen(attack):
    assert HTML.fullmatch(TABLE % "5.0")
    assert not HTML.fullmatch(TABLE % attack)
    assert not HTML.fullmatch(attack)


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "[x](https://example.org)",
        "![x](//example.org/x.png)",
        "<https://example.org>",
        "```{raw} html\n<script>alert(1)</script>\n```",
        ":::{raw} html",
        "[x]: javascript:alert(1)",
        r"\`x <script>` alert(1)",
        r"\`x <data/onclick=stop>`",
    ],
)
def test_an_attack_in_markdown_is_seen(attack):
    assert markdown_is_harmless("*See* [x](#sec-x), [y](../a.ipynb), {doc}`z`: 1 < 2\n: *Note:* x")
    assert markdown_is_harmless("{ref}`x <a-label-2>` {download}`y <data/a-b.csv>`")
    assert not markdown_is_harmless(attack)


@pytest.mark.parametrize(
    "data",
    [
        {"application/javascript": "alert(1)"},
        {"application/vnd.jupyter.widget-view+json": {"model_id": "x"}},
        {"image/svg+xml": "<svg onload='alert(1)'/>"},
        {"application/papermill.record/text/html": "<b>x</b>"},
        {"image/png": base64.b64encode(b"<script>alert(1)</script>").decode()},
        {"text/plain": "x", "text/html": "<b onclick='alert(1)'>x</b>"},
    ],
)
def test_an_attack_of_another_kind_is_seen(data):
    harmless = nbformat.v4.new_output("display_data", {"text/plain": "<script>"})
    outputs = [harmless, nbformat.v4.new_output("display_data", data)]
    cell = nbformat.v4.new_code_cell(outputs=outputs)
    assert len(faults(nbformat.v4.new_notebook(cells=[cell]))) == 1


def test_an_attack_outside_of_outputs_is_seen():
    raw = nbformat.v4.new_raw_cell("<script>alert(1)</script>")
    picture = {"x.svg": {"image/svg+xml": "PHN2Zz4="}}
    attached = nbformat.v4.new_markdown_cell("![](attachment:x.svg)", attachments=picture)
    state = {"widgets": {"application/vnd.jupyter.widget-state+json": {}}}
    notebook = nbformat.v4.new_notebook(cells=[raw, attached], metadata=state)
    assert len(faults(notebook)) == 3


# --- Nothing is unpickled -------------------------------------------------------------------------

PICKLES = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def unpickles(code):
    """The names in a piece of code that lead to objects from a pickle."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names} & PICKLES
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.module or "").split(".")[0]} & PICKLES
        elif isinstance(node, ast.Constant):  # importlib.import_module("pickle")
            found |= {node.value} & PICKLES if isinstance(node.value, str) else set()
        elif isinstance(node, ast.Attribute | ast.keyword):
            name = node.attr if isinstance(node, ast.Attribute) else node.arg
            found |= {name} & {"read_pickle", "allow_pickle"}
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_code_unpickles_nothing(path):
    assert unpickles(path.read_text()) == set()


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapters_unpickle_nothing(path):
    cells = nbformat.read(path, as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert unpickles(code) == set()


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "import os, joblib as j",
        "from pickle import loads",
        "from joblib.memory import x",
        "import_module('dill')",
        "pd.read_pickle('x')",
        "np.load('x', allow_pickle=True)",
    ],
)
def test_unpickling_is_seen(code):
    assert unpickles("import json, numpy") == set()
    assert unpickles(code)


def test_chapters_are_executed_and_not_taken_from_a_cache():
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    assert config["execute"]["execute_notebooks"] == "force"
    assert "cache" not in config["execute"]
    recipe = re.search(r"^book:.*\n(?:\t.*\n)+", (ROOT / "Makefile").read_text(), re.M)[0]
    assert recipe.index("rm -rf _build") < recipe.index("jupyter-book build")
