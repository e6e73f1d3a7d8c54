"""A Sphinx extension: formulas are typeset when the book is built, not when a page is read.

MathJax runs here, in a small JavaScript engine (QuickJS), so pages need no script for their
formulas, which appear together with the text, on slow phones too, and in a matching font (STIX
Two). Besides the glyphs, a formula has invisible MathML for screen readers and its text on one
line, which a search within the page finds. Copying gives TeX (`_static/copying.js`). The build
fails if MathJax does not understand a formula or its fonts lack a glyph. MathJax is called as its
manual describes under "Loading Components by Hand".

One style sheet for all pages has the styles that the book's formulas need; the fonts in
`book/_extra` are reduced to the glyphs that occur.
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

MATHJAX = ROOT / "tools" / "mathjax"
COMPONENTS = {
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
INLINE_LIMIT = 4096  # bytes; smaller fonts are inlined in the style sheet

# Until the fonts have loaded, this font gives glyphs the same vertical position: like the first
# font in each glyph's list (see `write_styles_and_fonts`), it extends as far above the line as
# below.
FALLBACK = """
@font-face {
  font-family: MJX-FALLBACK;
  src: local("Times New Roman"), local("Liberation Serif"), local("Tinos"), local("Nimbus Roman"),
    local("Noto Serif"), local("DejaVu Serif");
  ascent-override: 75%;
  descent-override: 75%;
  line-gap-override: 0%;
}
"""

# The package `noundefined` is left out, so that an unknown command raises an error instead of
# appearing in red. Glyphs outside the basic fonts are in extra files, all loaded at the start.
CONFIGURATION = """
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
START = """
MathJax.config.startup.ready();
const { adaptor, output } = MathJax.startup;
const extraFiles = %s;
const load = (file) => (0, eval)(extraFiles[file.match(/([^/]+)[.]js$/)[1]]);
MathJax._.mathjax.mathjax.asyncLoad = load;
MathJax._.mathjax.mathjax.asyncIsSynchronous = true;
const ranges = output.font.constructor.dynamicFiles;
for (const name of Object.keys(extraFiles)) output.font.loadDynamicFileSync(ranges[name]);
globalThis.typeset = (tex, display) => adaptor.outerHTML(MathJax.tex2chtml(tex, { display }));
globalThis.styles = () => adaptor.textContent(MathJax.chtmlStylesheet());
const escaped = (unit) => "\\\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");
globalThis.json = (text) => JSON.stringify(text).replace(/[^ -~]/g, escaped);"""

# A glyph, and its font unless that is the default one, N.
GLYPH = re.compile(r'<mjx-c class="mjx-c[0-9A-F]+(?: STX-([^" ]+))?"[^>]*>([^<]*)</mjx-c>')
used_characters = defaultdict(dict)  # by font; each character maps to a formula that has it


@cache
def engine():
    """Return a JavaScript engine that has loaded MathJax."""
    context = quickjs.Context()
    read = lambda component: (MATHJAX / component).with_suffix(".js").read_text("utf-8")  # noqa: E731
    preload = f"MathJax.loader.preLoaded(...{json.dumps([*COMPONENTS])});"
    extra_files = sorted((MATHJAX / "stix2" / "dynamic").glob("*.js"))
    start = START % json.dumps({file.stem: file.read_text("utf-8") for file in extra_files})
    components = map(read, COMPONENTS.values())
    for code in (CONFIGURATION % FONTS, read("startup"), preload, *components, start):
        context.eval(f"{code}\n0")
    return context


def evaluate(call):
    """Return the text that a JavaScript call in the engine returns."""
    return json.loads(engine().eval(f"json({call})"))


RELATIONS = {*"=≠<>≤≥≈∈→↦⇒"}
SEPARATORS = {"mfrac": "/", "msub": "_", "msup": "^"}


def linear_text(node):
    """Return MathML as one line of text."""
    if node.tag == "mo" and node.text in RELATIONS:
        return f" {node.text} "
    inner = [linear_text(child) for child in node]
    return (node.text or "") * (not inner) + SEPARATORS.get(node.tag, "").join(inner)


def searchable(html):
    """Return an element with the text of a formula, for a search within the page."""
    markup = re.search(r"<math.*</math>", html, re.DOTALL)[0]
    text = linear_text(ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", markup)))
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return f'<span class="searchable" aria-hidden="true">{escape(" ".join(visible.split()))}</span>'


@cache
def typeset(tex, display):
    """Return a formula as HTML."""
    try:
        html = evaluate(f"typeset({json.dumps(tex)}, {json.dumps(display)})")
    except quickjs.JSException as error:
        raise ExtensionError(f"MathJax does not understand {tex!r}: {error}") from error
    if "<mjx-utext" in html:
        raise ExtensionError(f"the fonts of formulas lack a character of {tex!r}")
    for font, text in GLYPH.findall(html):
        visible = [c for c in unescape(text) if unicodedata.category(c) != "Cf"]
        used_characters[font or "N"] |= dict.fromkeys(visible, tex)
    html = re.sub(r' data-[a-z-]+="[^"]*"', "", html)  # without the TeX of each part
    return html.replace("</mjx-container>", f"{searchable(html)}</mjx-container>")


@cache
def paper_numbers():
    """Return the paper's number of each equation that the page on notation lists, by label."""
    text = (BOOK / "notation.md").read_text("utf-8")
    return dict(re.findall(r"^\| \{eq\}`([\w-]+)` \| (.+?) \|$", text, re.M))


def opening_tag(writer, node, tag):
    """Return the opening tag of a formula, with its TeX as an attribute."""
    tex = " ".join(node.astext().split())
    attributes = {"class": "math notranslate nohighlight", "data-tex": tex}
    return writer.starttag(node, tag, "", **attributes)


def write_inline(writer, node):
    """Write an inline formula."""
    writer.body += [opening_tag(writer, node, "span"), typeset(node.astext(), False), "</span>"]
    raise nodes.SkipNode


def write_display(writer, node):
    """Write a displayed formula, preceded by its number."""
    tex = node.astext()
    if r"\\" in tex:
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    writer.body.append(opening_tag(writer, node, "div"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        if number := paper_numbers().get(node["label"]):
            writer.body.append(f' <span class="paper-number">paper {number}</span>')
        writer.body.append("</span>")
    writer.body += [typeset(tex, True), "</div>\n"]
    raise nodes.SkipNode


def write_all(app, env):
    """Write all pages, even if few have changed: styles and fonts depend on all formulas."""
    return sorted(env.all_docs)


def write_styles_and_fonts(app, error):
    """Write the styles and fonts that the formulas of all pages need."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    styles = re.sub(r"@font-face[^}]*}\s*", "", evaluate("styles()")) + FALLBACK
    styles = re.sub("(: MJX-STX-ZERO, [^;]+);", r"\1, MJX-FALLBACK;", styles)
    # Each glyph lists this font first; it does not make lines higher.
    used_characters["ZERO"][" "] = "a space"
    for font in sorted((out / FONTS).glob("*.woff")):
        name = font.stem.rpartition("-")[2].upper()
        if name in used_characters:
            available = TTFont(font).getBestCmap()
            for missing in [c for c in used_characters[name] if ord(c) not in available]:
                formula = used_characters[name][missing]
                raise ExtensionError(f"{font.name} lacks {missing!r} of {formula!r}")
            text = f"--text={''.join(sorted(used_characters[name]))}"
            subset.main([str(font), text, "--flavor=woff", f"--output-file={font}"])
            address = f"../{FONTS}/{font.name}"
            if is_inline := font.stat().st_size < INLINE_LIMIT:
                encoded = base64.b64encode(font.read_bytes()).decode()
                address = f"data:font/woff;base64,{encoded}"
            source = f'src: url("{address}") format("woff")'
            styles += f"\n@font-face {{ font-family: MJX-STX-{name}; {source}; }}\n"
        if name not in used_characters or is_inline:
            font.unlink()
    (out / STYLES).write_text(styles, "utf-8")


def setup(app):
    """Register the extension."""
    app.add_html_math_renderer("formulas", (write_inline, None), (write_display, None))
    app.add_css_file(STYLES.partition("/")[2])
    app.connect("env-updated", write_all)
    app.connect("build-finished", write_styles_and_fonts)
