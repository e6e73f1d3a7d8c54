"""A Sphinx extension: pages ask for little.

All styles are one file, and all scripts another: beside them stands only what not all pages have.
The fonts of icons have those that pages show.
"""

import re
import zlib
from pathlib import Path

from fontTools import subset

# What the theme's templates would ask for by themselves.
THEME = {
    "css_files": ("_static/basic.css", "_static/styles/pydata-sphinx-theme.css"),
    "script_files": ("_static/scripts/bootstrap.js", "_static/scripts/pydata-sphinx-theme.js"),
}
OWN = "DOCUMENTATION_OPTIONS"
UNUSED = r'(?m)^/[/*]# sourceMappingURL=.*$|url\(\S+\.woff2\) format\("woff2"\),'
ICON = r'(?:\.fa-[\w-]+:before,?)+\{content:"[^"]*"\}'
# What the joined files are made of, in order.
PARTS = {"_static/all.css": [], "_static/all.js": []}


def lighten(app, name, template, context, page):
    """Have a page ask for one file of styles, and one of scripts."""
    for (kind, theme), to in zip(THEME.items(), PARTS, strict=True):
        new = type(context[kind][0])
        own = [file for file in context[kind] if re.search(OWN, str(file))]
        shared = [file for file in context[kind] if file not in own]
        PARTS[to] = [*map(new, theme), *shared]
        context[kind] = [new(to), *own]


def join(app, error):
    """Write what pages ask for, with the icons that they show and nothing to run cells."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    pages = {page: page.read_text("utf-8") for page in out.rglob("*.html")}
    shown = {*re.findall(r"\bfa-[\w-]+", "".join(pages.values()))}
    drawn = lambda rule: rule[0] if shown & {*re.findall(r"fa-[\w-]+", rule[0])} else ""  # noqa: E731
    for to, files in PARTS.items():
        needed = [file for file in files if "thebe" not in str(file).lower()]
        said = [f.attributes.get("body") or (out / f.filename).read_text("utf-8") for f in needed]
        whole = ("\n;\n" if to.endswith("js") else "\n").join(said).replace("../vendor", "vendor")
        whole = re.sub(ICON, drawn, re.sub(UNUSED, "", whole))
        (out / to).write_text(whole, "utf-8")
        version = f"{to}?v={zlib.crc32(whole.encode()):08x}"
        pages = {page: text.replace(f'{to}"', f'{version}"') for page, text in pages.items()}
    for page, text in pages.items():
        page.write_text(text, "utf-8")
    styles = out / "_static" / "all.css"  # some icons stand in it as they are, others by number
    codes = ",".join(re.findall(r'content:"\\(\w{4})"', styles.read_text("utf-8")))
    asked = [f"--unicodes={codes}", f"--text-file={styles}"]
    for font in out.rglob("fa-*.ttf"):
        subset.main([str(font), *asked, f"--output-file={font}"])
    for file in out.rglob("*"):
        if re.search(r"\.map$|fontawesome\.js$|\.woff2$", file.name):
            file.unlink()


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", lighten, priority=950)
    app.connect("build-finished", join, priority=900)  # other extensions write theirs then, too
