"""A Sphinx extension: formulas are set when the book is built, not when a page is read.

MathJax does it here, in a small engine for JavaScript (QuickJS), so that a page needs no script for
its formulas: they stand there with its text, on a slow phone as well, and in the face of the text
(STIX Two). Beside the glyphs are MathML, which is read aloud and not seen, and the formula in one
line of characters, which a search within the page finds. What one copies is TeX
(`_static/copying.js`). A formula that MathJax does not understand, or for which its fonts have no
glyph, ends the build. MathJax is called as its manual says under "Loading Components by Hand".

The styles of the glyphs are those that the book's formulas need, in one file for all pages; its
fonts, in `book/_extra`, lose the glyphs that no formula shows.
"""

import base64
import json
import re
import unicodedata
from collections import defaultdict
from functools import cache
from html import escape, unescape
from pathlib import Path
from xml.etree import ElementTree

import quickjs
from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number

from .contents import BOOK, ROOT

HOME = ROOT / "tools" / "mathjax"
PARTS = {
    "core": "core",
    "adaptors/liteDOM": "adaptors/liteDOM",
    "input/tex-base": "input/tex-base",
    "[tex]/newcommand": "input/tex/extensions/newcommand",
    "[tex]/ams": "input/tex/extensions/ams",
    "output/chtml": "output/chtml",
    "[mathjax-stix2]/chtml": "stix2/chtml",
    "a11y/assistive-mml": "a11y/assistive-mml",
}
FONTS = "mathjax/stix2"
STYLES = "_static/formulas.css"
SMALL = 4096  # bytes; a smaller font stands in the styles, and is not asked for by itself

# Until the fonts are there, glyphs stand where they will with them: those of the first one are as
# high above the line as below.
WAITING = """
@font-face {
  font-family: MJX-WAITING;
  src: local("Times New Roman"), local("Liberation Serif"), local("Tinos"), local("Nimbus Roman"),
    local("Noto Serif"), local("DejaVu Serif");
  ascent-override: 75%;
  descent-override: 75%;
  line-gap-override: 0%;
}
"""

# Without the package `noundefined`: what is not known is an error, not red letters. Glyphs that are
# not in the first fonts come with files of their own, which are read at once.
BEFORE = """
globalThis.global = globalThis;
globalThis.MathJax = {
  loader: { load: ["adaptors/liteDOM"], require: () => null, paths: { "mathjax-stix2": "stix2" } },
  startup: { typeset: false },
  tex: {
    packages: ["base", "ams", "newcommand"],
    formatError: (_, error) => { throw Error(error.message); },
  },
  output: { font: "mathjax-stix2" },
  chtml: { adaptiveCSS: true, fontURL: "../%s", linebreaks: { inline: false } },
};"""
AFTER = """
MathJax.config.startup.ready();
const { adaptor, output } = MathJax.startup;
const more = %s;
MathJax._.mathjax.mathjax.asyncLoad = (file) => (0, eval)(more[file.match(/([^/]+)[.]js$/)[1]]);
MathJax._.mathjax.mathjax.asyncIsSynchronous = true;
const ranges = output.font.constructor.dynamicFiles;
for (const name of Object.keys(more)) output.font.loadDynamicFileSync(ranges[name]);
globalThis.set = (tex, display) => adaptor.outerHTML(MathJax.tex2chtml(tex, { display }));
globalThis.styles = () => adaptor.textContent(MathJax.chtmlStylesheet());
const escaped = (unit) => "\\\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");
globalThis.json = (text) => JSON.stringify(text).replace(/[^ -~]/g, escaped);"""

# A glyph, and its font if it is not the first one.
GLYPH = re.compile(r'<mjx-c class="mjx-c[0-9A-F]+(?: STX-([^" ]+))?"[^>]*>([^<]*)</mjx-c>')
shown = defaultdict(dict)  # by font, the characters of all formulas, and where each was seen


@cache
def engine():
    """Return an engine that has loaded MathJax."""
    made = quickjs.Context()
    read = lambda part: (HOME / part).with_suffix(".js").read_text("utf-8")  # noqa: E731
    loaded = f"MathJax.loader.preLoaded(...{json.dumps([*PARTS])});"
    ranges = sorted((HOME / "stix2" / "dynamic").glob("*.js"))
    after = AFTER % json.dumps({file.stem: file.read_text("utf-8") for file in ranges})
    for code in (BEFORE % FONTS, read("startup"), loaded, *map(read, PARTS.values()), after):
        made.eval(f"{code}\n0")
    return made


def ask(call):
    """Return the text that a call in the engine makes."""
    return json.loads(engine().eval(f"json({call})"))


RELATIONS = {*"=≠<>≤≥≈∈→↦⇒"}
BETWEEN = {"mfrac": "/", "msub": "_", "msup": "^"}


def line(node):
    """Return MathML as one line of characters."""
    if node.tag == "mo" and node.text in RELATIONS:
        return f" {node.text} "
    inner = [line(child) for child in node]
    return (node.text or "") * (not inner) + BETWEEN.get(node.tag, "").join(inner)


def searchable(made):
    """Return the element of a formula that a search within the page finds."""
    markup = re.search(r"<math.*</math>", made, re.DOTALL)[0]
    text = line(ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", markup)))
    seen = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return f'<span class="searchable" aria-hidden="true">{escape(" ".join(seen.split()))}</span>'


@cache
def typeset(tex, display):
    """Return a formula as HTML."""
    try:
        made = ask(f"set({json.dumps(tex)}, {json.dumps(display)})")
    except quickjs.JSException as error:
        raise ExtensionError(f"MathJax does not understand {tex!r}: {error}") from error
    if "<mjx-utext" in made:
        raise ExtensionError(f"the fonts of formulas lack a character of {tex!r}")
    for font, text in GLYPH.findall(made):
        seen = [c for c in unescape(text) if unicodedata.category(c) != "Cf"]
        shown[font or "N"] |= dict.fromkeys(seen, tex)
    made = re.sub(r' data-[a-z-]+="[^"]*"', "", made)  # the TeX of each part
    return made.replace("</mjx-container>", f"{searchable(made)}</mjx-container>")


@cache
def paper_numbers():
    """Return the paper's number of each equation that the page on notation lists, by label."""
    text = (BOOK / "notation.md").read_text("utf-8")
    return dict(re.findall(r"^\| \{eq\}`([\w-]+)` \| (.+?) \|$", text, re.M))


def start(writer, node, tag):
    """Begin the element of a formula, which keeps its TeX."""
    kept = {"class": "math notranslate nohighlight", "data-tex": " ".join(node.astext().split())}
    return writer.starttag(node, tag, "", **kept)


def inline(writer, node):
    """Write a formula within a line."""
    writer.body += [start(writer, node, "span"), typeset(node.astext(), False), "</span>"]
    raise nodes.SkipNode


def display(writer, node):
    """Write a formula of its own, and its number before it."""
    tex = node.astext()
    if r"\\" in tex:
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    writer.body.append(start(writer, node, "div"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        if number := paper_numbers().get(node["label"]):
            writer.body.append(f' <span class="paper-number">paper {number}</span>')
        writer.body.append("</span>")
    writer.body += [typeset(tex, True), "</div>\n"]
    raise nodes.SkipNode


def write_all(app, env):
    """Have all pages written, also if few have changed: styles and fonts are for all formulas."""
    return sorted(env.all_docs)


def finish(app, error):
    """Leave the styles and the fonts that the formulas of all pages need."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    styles = re.sub(r"@font-face[^}]*}\s*", "", ask("styles()")) + WAITING
    styles = re.sub("(: MJX-STX-ZERO, [^;]+);", r"\1, MJX-WAITING;", styles)
    shown["ZERO"][" "] = "a space"  # the first font of each glyph gives lines no height
    for font in sorted((out / FONTS).glob("*.woff")):
        name = font.stem.rpartition("-")[2].upper()
        if name in shown:
            known = TTFont(font).getBestCmap()
            for missing in [c for c in shown[name] if ord(c) not in known]:
                raise ExtensionError(f"{font.name} lacks {missing!r} of {shown[name][missing]!r}")
            text = f"--text={''.join(sorted(shown[name]))}"
            subset.main([str(font), text, "--flavor=woff", f"--output-file={font}"])
            address = f"../{FONTS}/{font.name}"
            if small := font.stat().st_size < SMALL:
                whole = base64.b64encode(font.read_bytes()).decode()
                address = f"data:font/woff;base64,{whole}"
            source = f'src: url("{address}") format("woff")'
            styles += f"\n@font-face {{ font-family: MJX-STX-{name}; {source}; }}\n"
        if name not in shown or small:
            font.unlink()
    (out / STYLES).write_text(styles, "utf-8")


def setup(app):
    """Register the extension."""
    app.add_html_math_renderer("formulas", (inline, None), (display, None))
    app.add_css_file(STYLES.partition("/")[2])
    app.connect("env-updated", write_all)
    app.connect("build-finished", finish)
