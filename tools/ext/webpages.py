"""A Sphinx extension: version, addresses, scripts and search, set from the environment.

USERDP_STAMP has the commit; the Makefile determines it once, before chapters write tables. The
addresses of the repository, USERDP_REPOSITORY (https://HOST/OWNER/NAME), and of the book, BOOK_URL,
are optional: with them, pages get buttons and absolute links. USERDP_PDF is a PDF that the first
page offers. USERDP_EXECUTION is "off" for the stored outputs, "cache" for those in the cache that
`make book` fills; by default, chapters are executed when they are read.

The search ignores words that are common in questions.
"""

import os
import re
from pathlib import Path

from sphinx.search.en import SearchEnglish

import userdp

from .contents import ROOT

QUESTIONS = "an|can|do|does|from|happens|how|i|me|my|should|we|what|when|where|which|why|you|your"


def commit():
    """Return the commit that is built; if it is unknown, the branch."""
    stamp = re.match("[0-9a-f]{40}", os.getenv("USERDP_STAMP", ""))
    return stamp[0] if stamp else "main"


def version():
    """Return the version that is built, with its commit if that is known, as text."""
    changed = ", with changes" * os.getenv("USERDP_STAMP", "").endswith(" changed")
    build = f", built from commit {commit()[:12]}{changed}" if commit() != "main" else ""
    return f"Version {userdp.__version__}{build}"


def configure(app, config):
    """Set what depends on the version and the environment: footers, buttons, addresses."""
    foot = config.today = version()
    options = config.html_theme_options
    if address := os.getenv("USERDP_REPOSITORY"):
        foot = re.sub(r"(?<=commit )\w+", rf'<a href="{address}/commit/\g<0>">\g<0></a>', foot)
        options |= {"repository_url": address, "repository_branch": commit()}
        if address.startswith("file:"):  # a clone, in a nox session: use GitHub's buttons
            options["repository_provider"] = "github"
        options |= config.repository_options
    printed_title = f'<p class="on-paper">{config.html_title}</p>'
    options["extra_footer"] = f"<p>{foot}</p>{options['extra_footer']}{printed_title}"
    if url := os.getenv("BOOK_URL"):
        config.html_baseurl = config.html_context["base"] = url.rstrip("/") + "/"
    config.nb_execution_mode = os.getenv("USERDP_EXECUTION", config.nb_execution_mode)
    config.nb_execution_cache_path = str(ROOT / "_build" / ".jupyter_cache")  # shared with the PDF
    if pdf := os.getenv("USERDP_PDF"):
        config.html_extra_path = [*config.html_extra_path, pdf]
        app.tags.add("pdf")


SCRIPTS = ROOT / "book" / "_scripts" / "live"
LIVE = {
    "clip-explorer": "maths numbers entries state style charts table words explorer",
    "clip-picture": "maths numbers example drawing sentences picture",
}
"""The scripts of each live element, in the order in which they build on each other."""
ON_ERROR = "document.documentElement.classList.add('unscripted')"
STRIPPED = re.compile(r"/\*\*(?s:.*?)\*/|^[ \t]*//.*$|^[ \t]+", re.M)
"""Comments and indentation, which a browser does not need."""


def add_script(app, name, template, context, page):
    """Load the scripts of the search and of live elements only on the pages that need them."""
    if name == "search":
        app.add_js_file("search.js")
    for element in LIVE:
        if f"<{element}" in context.get("body", ""):
            # A classic script, which also runs on pages that are opened from a disk.
            address = context["pathto"](f"live/{element}.js", resource=True)
            context["body"] += f'<script defer src="{address}" onerror="{ON_ERROR}"></script>\n'


def bundle(element):
    """Return the scripts of a live element as one script, without comments."""
    texts = [(SCRIPTS / f"{name}.js").read_text("utf-8") for name in LIVE[element].split()]
    return re.sub("\n+", "\n", STRIPPED.sub("", "\n".join(texts))).lstrip()


def write_scripts(app):
    """Write the scripts of live elements beside the pages."""
    if app.builder.format == "html":
        folder = Path(app.outdir) / "live"
        folder.mkdir(exist_ok=True)
        for element in LIVE:
            (folder / f"{element}.js").write_text(bundle(element), encoding="utf-8")
    return []


class Search(SearchEnglish):
    """Sphinx's search, with question words as additional stop words."""

    stopwords = SearchEnglish.stopwords | {*QUESTIONS.split("|")}


def setup(app):
    """Register the extension."""
    app.add_search_language(Search)
    app.add_config_value("repository_options", {}, "html")
    app.connect("config-inited", configure)
    app.connect("html-page-context", add_script)
    app.connect("html-collect-pages", write_scripts)
