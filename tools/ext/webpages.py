"""A Sphinx extension: what is built, where it goes, and what pages say of themselves.

The Makefile says in USERDP_STAMP of which commit: it asks once, before chapters write tables. The
environment has the addresses of the repository, USERDP_REPOSITORY (https://HOST/OWNER/NAME), and of
the book, BOOK_URL: pages get buttons and whole addresses if it does, and no dead ones if not.
USERDP_PDF is a PDF for the first page to offer. With USERDP_EXECUTION=off outputs are those stored,
with "cache" those of the cache that `make book` fills; else chapters are executed when read.

The search understands questions.
"""

import os
import re
from pathlib import Path

from sphinx.search.en import SearchEnglish

import userdp

from .contents import ROOT

QUESTION = "an|can|do|does|from|happens|how|i|me|my|should|we|what|when|where|which|why|you|your"


def commit():
    """Return the commit that is built; the branch, if that is not known."""
    told = re.match("[0-9a-f]{40}", os.getenv("USERDP_STAMP", ""))
    return told[0] if told else "main"


def version():
    """Return in words which version is built, and from which commit if that is known."""
    changed = ", with changes" * os.getenv("USERDP_STAMP", "").endswith(" changed")
    known = f", built from commit {commit()[:12]}{changed}" if commit() != "main" else ""
    return f"Version {userdp.__version__}{known}"


def configure(app, config):
    """Set what the version and the environment decide: foot of pages, buttons."""
    foot = config.today = version()
    options = config.html_theme_options
    if address := os.getenv("USERDP_REPOSITORY"):
        foot = re.sub(r"(?<=commit )\w+", rf'<a href="{address}/commit/\g<0>">\g<0></a>', foot)
        options |= {"repository_url": address, "repository_branch": commit()}
        if address.startswith("file:"):  # a clone, as nox tries it: buttons are as on GitHub
            options["repository_provider"] = "github"
        options |= config.repository_options
    book = f'<p class="on-paper">{config.html_title}</p>'
    options["extra_footer"] = f"<p>{foot}</p>{options['extra_footer']}{book}"
    if url := os.getenv("BOOK_URL"):
        config.html_baseurl = config.html_context["base"] = url.rstrip("/") + "/"
    config.nb_execution_mode = os.getenv("USERDP_EXECUTION", config.nb_execution_mode)
    config.nb_execution_cache_path = str(ROOT / "_build" / ".jupyter_cache")  # of the PDF, too
    if pdf := os.getenv("USERDP_PDF"):
        config.html_extra_path = [*config.html_extra_path, pdf]
        app.tags.add("pdf")


SCRIPTS = ROOT / "book" / "_scripts" / "live"
LIVE = {
    "clip-explorer": "maths numbers entries state style charts table words explorer",
    "clip-picture": "maths numbers example drawing sentences picture",
}
"""The scripts of each live element, in the order in which they build on each other."""
FAILED = "document.documentElement.classList.add('unscripted')"
BARE = re.compile(r"/\*\*(?s:.*?)\*/|^[ \t]*//.*$|^[ \t]+", re.M)
"""What a browser does not need of them: comments, and the space before a line."""


def add_script(app, name, template, context, page):
    """Load the scripts of the search, and of live elements, on their pages alone."""
    if name == "search":
        app.add_js_file("search.js")
    for element in LIVE:
        if f"<{element}" in context.get("body", ""):
            # A classic script, which also runs on pages that are opened from a disk.
            address = context["pathto"](f"live/{element}.js", resource=True)
            context["body"] += f'<script defer src="{address}" onerror="{FAILED}"></script>\n'


def bundle(element):
    """Return the scripts of a live element as one, without comments."""
    texts = [(SCRIPTS / f"{name}.js").read_text("utf-8") for name in LIVE[element].split()]
    return re.sub("\n+", "\n", BARE.sub("", "\n".join(texts))).lstrip()


def write_scripts(app):
    """Write the scripts of live elements beside the pages."""
    if app.builder.format == "html":
        folder = Path(app.outdir) / "live"
        folder.mkdir(exist_ok=True)
        for element in LIVE:
            (folder / f"{element}.js").write_text(bundle(element), encoding="utf-8")
    return []


class Search(SearchEnglish):
    """The search of Sphinx, which also leaves out the words that any question has."""

    stopwords = SearchEnglish.stopwords | {*QUESTION.split("|")}


def setup(app):
    """Register the extension."""
    app.add_search_language(Search)
    app.add_config_value("repository_options", {}, "html")
    app.connect("config-inited", configure)
    app.connect("html-page-context", add_script)
    app.connect("html-collect-pages", write_scripts)
