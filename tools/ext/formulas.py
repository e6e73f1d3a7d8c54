"""A Sphinx extension: formulas are set when the book is built, not when a page is read.

MathJax does it here, in a small engine for JavaScript (QuickJS), so that a page needs no script for
its formulas: they stand there with its text, on a slow phone as well. Beside the glyphs is MathML
that is read aloud and not seen. A formula that MathJax does not understand ends the build.

The styles of the glyphs are those that the book's formulas need, in one file for all pages; its
fonts, in `book/_extra`, lose the glyphs that no formula shows.
"""

import base64
import html
import json
import re
from functools import cache
from pathlib import Path

import quickjs
from fontTools import subset
from sphinx.errors import ExtensionError
from sphinx.ext import mathjax

from .contents import ROOT

HOME = ROOT / "tools" / "mathjax"
PARTS = [
    "loader",
    "core",
    "adaptors/liteDOM",
    "input/tex",
    "output/chtml",
    "output/chtml/fonts/tex",
]
PARTS += ["a11y/assistive-mml"]
FONTS = "mathjax/output/chtml/fonts/woff-v2"
STYLES = "_static/formulas.css"
SMALL = 4096  # bytes; a smaller font stands in the styles, and is not asked for by itself
FORMULA = re.compile(r'(<(span|div) class="math [^>]*>[^\\]*?)\\([(\[])([^<]*)\\[)\]](?=</\2>)')
# What MathJax would measure in a browser: its letters are as high as those of the text around them.
SIZE = 'mjx-container[jax="CHTML"] { font-size: 127%; }'

BEFORE = """
globalThis.global = globalThis;
globalThis.MathJax = { loader: { load: [], paths: { mathjax: "" } }, startup: {} };
"""
AFTER = """{
  const parts = MathJax._;
  const adaptor = parts.adaptors.liteAdaptor.liteAdaptor();
  const handler = parts.handlers.html_ts.RegisterHTMLHandler(adaptor);
  parts.a11y["assistive-mml"].AssistiveMmlHandler(handler);
  // Without `noundefined`: what is not known is an error, not red letters.
  const packages = ["base", "ams", "newcommand"];
  const formatError = (_, error) => { throw Error(error.message); };
  const InputJax = new parts.input.tex_ts.TeX({ packages, formatError });
  const font = new parts.output.chtml.fonts.tex_ts.TeXFont({ fontURL: "../%s" });
  const OutputJax = new parts.output.chtml_ts.CHTML({ adaptiveCSS: true, font });
  const page = parts.mathjax.mathjax.document("", { InputJax, OutputJax });
  globalThis.set = (tex, display) => adaptor.outerHTML(page.convert(tex, { display }));
  globalThis.styles = () => adaptor.textContent(OutputJax.styleSheet(page));
}"""


@cache
def engine():
    """Return an engine that has loaded MathJax."""
    made = quickjs.Context()
    made.eval(BEFORE)
    for part in PARTS:
        made.eval(f"{(HOME / part).with_suffix('.js').read_text('utf-8')}\n0")
    made.eval(AFTER % FONTS)
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


def replaced(found):
    """Return an element with its formula set."""
    before, _, kind, tex = found.groups()
    return before + typeset(html.unescape(tex), kind == "[")


def finish(app, error):
    """Set the formulas of all pages, and leave the styles and the fonts that they need."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for page in sorted(out.rglob("*.html")):
        page.write_text(FORMULA.sub(replaced, page.read_text("utf-8")), "utf-8")
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
    """Register the extension; pages are written with TeX, which is set when all are there."""
    inline = (mathjax.html_visit_math, None)
    app.add_html_math_renderer("formulas", inline, (mathjax.html_visit_displaymath, None))
    app.add_css_file(STYLES.partition("/")[2])
    app.connect("build-finished", finish)
