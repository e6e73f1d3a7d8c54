"""A Sphinx extension: pages ask for little.

All styles are one file, and all scripts another: beside them stands only what not all pages have.
The fonts of icons have those that pages show. Pictures that chapters draw keep every pixel, in a
third of the bytes.
"""

import re
import zlib
from pathlib import Path

from docutils import nodes
from fontTools import subset
from PIL import Image
from sphinx.transforms import SphinxTransform

# What the theme's templates would ask for by themselves.
THEME = {
    "css": ("_static/basic.css", "_static/styles/pydata-sphinx-theme.css"),
    "script": ("_static/scripts/bootstrap.js", "_static/scripts/pydata-sphinx-theme.js"),
}
OWN = r"[Mm]ath[Jj]ax|DOCUMENTATION_OPTIONS"
FONT = r'url\(\S+\.woff2\) format\("woff2"\),'
ICON = r'(?:\.fa-[\w-]+:before,?)+\{content:"[^"]*"\}'
# What the joined files are made of, in order.
PARTS = {"_static/all.css": (), "_static/all.js": ()}


def lighten(app, name, template, context, page):
    """Have a page ask for one file of styles, one of scripts, and nothing to run cells."""
    for kind, to in zip(THEME, PARTS, strict=True):
        said = {f: f"{f.filename} {f.attributes}" for f in context[f"{kind}_files"]}
        own = [f for f in said if re.search(OWN, said[f])]
        shared = [f for f in said if f not in own and "thebe" not in said[f].lower()]
        PARTS[to] = [(f.filename, f.attributes.get("body")) for f in shared]
        PARTS[to][:0] = [(name, None) for name in THEME[kind]]
        context[f"{kind}_files"] = [type(shared[0])(to), *own]
    context["typesets"] = any("mathjax" in f"{f.filename}" for f in context["script_files"])


def join(app, error):
    """Write what pages ask for, with the icons that they show; and leave no source maps."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    pages = {page: page.read_text("utf-8") for page in out.rglob("*.html")}
    shown = {*re.findall(r"\bfa-[\w-]+", "".join(pages.values()))}
    drawn = lambda rule: rule[0] if shown & {*re.findall(r"fa-[\w-]+", rule[0])} else ""  # noqa: E731
    for to, parts in PARTS.items():
        said = [body or (out / name).read_text("utf-8") for name, body in parts]
        whole = ("\n;\n" if to.endswith("js") else "\n").join(said).replace("../vendor", "vendor")
        whole = re.sub(rf"(?m)^/[/*]# sourceMappingURL=.*$|{FONT}", "", whole)
        whole = re.sub(ICON, drawn, whole)
        (out / to).write_text(whole, "utf-8")
        version = f"{to}?v={zlib.crc32(whole.encode()):08x}"
        pages = {page: text.replace(f'{to}"', f'{version}"') for page, text in pages.items()}
    for page, text in pages.items():
        page.write_text(text, "utf-8")
    css = (out / "_static" / "all.css").read_text("utf-8")
    codes = ",".join(re.findall(r'content:"\\(\w{4})"', css))
    for font in out.rglob("fa-*.ttf"):
        subset.main([str(font), f"--unicodes={codes}", f"--output-file={font}"])
    for pattern in ("*.map", "fa-*.woff2", "fontawesome.js"):
        for file in out.rglob(pattern):
            file.unlink()


class Pictures(SphinxTransform):
    """Have pages show pictures in a format that takes less."""

    default_priority = 510  # when their sizes are known

    def apply(self, **kwargs):
        """Write them beside those that notebooks hold."""
        for image in self.document.findall(nodes.image):
            path = Path(self.env.srcdir, image["uri"].lstrip("/"))
            if self.app.builder.format == "html" and path.match("jupyter_execute/*.png"):
                Image.open(path).save(path.with_suffix(".webp"), lossless=True)
                image["uri"] = image["uri"].removesuffix("png") + "webp"


def setup(app):
    """Register the extension."""
    app.add_transform(Pictures)
    app.connect("html-page-context", lighten, priority=950)
    app.connect("build-finished", join, priority=900)  # other extensions write theirs then, too
