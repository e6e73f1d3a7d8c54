"""A Sphinx extension: formulas are set when the book is built, not when a page is read.

MathJax does it here, in a small engine for JavaScript (QuickJS), so that a page needs no script for
its formulas: they stand there with its text, on a slow phone as well. Beside the glyphs is MathML
that is read aloud and not seen. A formula that MathJax does not understand ends the build. MathJax
is called as its manual says under "Loading Components by Hand".

The styles of the glyphs are those that the book's formulas need, in one file for all pages; its
fonts, in `book/_extra`, lose the glyphs that no formula shows.
"""

import base64
import json
import re
from functools import cache
from pathlib import Path

import quickjs
from docutils import nodes
from fontTools import subset
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number

from .contents import ROOT

HOME = ROOT / "tools" / "mathjax"
PARTS = ["core", "adaptors/liteDOM", "input/tex", "output/chtml", "output/chtml/fonts/tex"]
PARTS += ["a11y/assistive-mml"]
FONTS = "mathjax/output/chtml/fonts/woff-v2"
STYLES = "_static/formulas.css"
SMALL = 4096  # bytes; a smaller font stands in the styles, and is not asked for by itself
# What MathJax would measure in a browser: its letters are as high as those of the text around them.
SIZE = 'mjx-container[jax="CHTML"] { font-size: 127%; }'

# Without the package `noundefined`: what is not known is an error, not red letters.
BEFORE = """
globalThis.global = globalThis;
globalThis.MathJax = {
  loader: { load: ["adaptors/liteDOM"], require: () => null },
  startup: { typeset: false },
  tex: {
    packages: ["base", "ams", "newcommand"],
    formatError: (_, error) => { throw Error(error.message); },
  },
  chtml: { adaptiveCSS: true, fontURL: "../%s" },
};"""
AFTER = """
MathJax.config.startup.ready();
const { adaptor } = MathJax.startup;
globalThis.set = (tex, display) => adaptor.outerHTML(MathJax.tex2chtml(tex, { display }));
globalThis.styles = () => adaptor.textContent(MathJax.chtmlStylesheet());"""


@cache
def engine():
    """Return an engine that has loaded MathJax."""
    made = quickjs.Context()
    read = lambda part: (HOME / part).with_suffix(".js").read_text("utf-8")  # noqa: E731
    loaded = f"MathJax.loader.preLoad(...{json.dumps(PARTS)});"
    for code in (BEFORE % FONTS, read("startup"), loaded, *map(read, PARTS), AFTER):
        made.eval(f"{code}\n0")
    return made


def ask(call):
    """Return the text that a call in the engine makes."""
    return json.loads(engine().eval(f"JSON.stringify([{call}]).slice(0)"))[0]


@cache
def typeset(tex, display):
    """Return a formula as HTML."""
    try:
        return ask(f"set({json.dumps(tex)}, {json.dumps(display)})")
    except quickjs.JSException as error:
        raise ExtensionError(f"MathJax does not understand {tex!r}: {error}") from error


def inline(writer, node):
    """Write a formula within a line."""
    start = writer.starttag(node, "span", "", CLASS="math notranslate nohighlight")
    writer.body += [start, typeset(node.astext(), False), "</span>"]
    raise nodes.SkipNode


def display(writer, node):
    """Write a formula of its own, and its number before it."""
    tex = node.astext()
    if r"\\" in tex:
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body += [typeset(tex, True), "</div>\n"]
    raise nodes.SkipNode


def finish(app, error):
    """Leave the styles and the fonts that the formulas of all pages need."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    styles = f"{ask('styles()')}\n{SIZE}\n"
    shown = re.findall(r'content: "(.*?)"', styles)
    code = lambda found: chr(int(found[1], 16))  # noqa: E731
    glyphs = "".join(re.sub(r"\\([0-9A-F]+) ?", code, glyph) for glyph in shown)
    options = [f"--text={glyphs}", "--flavor=woff", "--drop-tables+=FFTM"]
    for font in sorted((out / FONTS).glob("*.woff")):
        subset.main([str(font), *options, f"--output-file={font}"])
        if font.stat().st_size < SMALL:
            whole = base64.b64encode(font.read_bytes()).decode()
            styles = styles.replace(f"../{FONTS}/{font.name}", f"data:font/woff;base64,{whole}")
            font.unlink()
    (out / STYLES).write_text(styles, "utf-8")


def setup(app):
    """Register the extension."""
    app.add_html_math_renderer("formulas", (inline, None), (display, None))
    app.add_css_file(STYLES.partition("/")[2])
    app.connect("build-finished", finish)
