"""A Sphinx extension: what is built, where it goes, and how search engines find and show it.

The Makefile says in USERDP_STAMP of which commit: it asks once, before chapters write tables. The
environment has the addresses of the repository, USERDP_REPOSITORY (https://HOST/OWNER/NAME), and of
the book, BOOK_URL: pages get buttons and whole addresses if it does, and no dead ones if not.
USERDP_PDF is a PDF for the first page to offer. With USERDP_EXECUTION=off outputs are those stored,
with "cache" those of the cache that `make book` fills; else chapters are executed when read.

Each page is described by its own claim, for search engines and for previews of links; the root of
the site, which leads to the first page, by that of the first page. A sitemap lists the pages. The
search understands questions.
"""

import os
import re

from docutils import nodes
from sphinx.search.en import SearchEnglish

import userdp

from .rerun import commit

LEAD = re.compile(r"^The (?:claim|result)(?: \(.*?\))?\. ")
QUESTION = "an|can|do|does|from|happens|how|i|me|my|should|we|what|when|where|which|why|you|your"
LONGEST = 250  # characters, the verdict apart
# Short formulas become letters; line breaks and citations go.
PLAIN = {r"\\frac (\w)(\w)": r"\1/\2", r"_?\\varepsilon": "ε", r"_?\\ell": "\N{SCRIPT SMALL L}"}
PLAIN |= {r"\\math\w+ ?|[{}]": "", "\n": " ", r" \[\w{2,}\]": ""}
SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>\n'


def version():
    """Return in words which version is built, and from which commit if that is known."""
    told = re.fullmatch(r"([0-9a-f]{12})[0-9a-f]{28} \d+( changed)?", os.getenv("USERDP_STAMP", ""))
    known = f", built from commit {told[1]}{', with changes' * bool(told[2])}" if told else ""
    return f"Version {userdp.__version__}{known}"


def configure(app, config):
    """Set what the version and the environment decide: foot of pages, buttons, date of the PDF."""
    foot = config.today = version()
    options = config.html_theme_options
    if address := os.getenv("USERDP_REPOSITORY"):
        foot = re.sub(r"(?<=commit )\w+", rf'<a href="{address}/commit/\g<0>">\g<0></a>', foot)
        options |= {"repository_url": address, "repository_branch": commit()}
        if address.startswith("file:"):  # a clone, as nox tries it: buttons are as on GitHub
            options["repository_provider"] = "github"
        options |= config.repository_options
    options["extra_footer"] = f"<p>{foot}</p>{options['extra_footer']}"
    if url := os.getenv("BOOK_URL"):
        config.html_baseurl = url.rstrip("/") + "/"
    config.nb_execution_mode = os.getenv("USERDP_EXECUTION", config.nb_execution_mode)
    if pdf := os.getenv("USERDP_PDF"):
        config.html_extra_path = [*config.html_extra_path, pdf]
        app.tags.add("pdf")


def plain(node):
    """Return what a node says, on one line, in plain letters."""
    said = node.astext()
    for pattern, letters in PLAIN.items():
        said = re.sub(pattern, letters, said)
    return said


def description(page):
    """Return a page's claim, or else its first paragraph, as far as it fits, and the verdict."""
    prose = [plain(n) for n in page.findall(nodes.paragraph) if isinstance(n.parent, nodes.section)]
    claim = LEAD.sub("", next(filter(LEAD.match, prose), "".join(prose[:1])))
    said = re.match(rf"(?:.{{,{LONGEST - 1}}}|.*?)[.?!](?= [A-Z]|$)|.*", claim)[0]
    strong = map(plain, page.findall(nodes.strong))
    verdict = next((words for words in strong if words.startswith("Verdict: ")), "")
    return f"{said} {verdict.rstrip('.,')}." if verdict else said


def list_pages(app):
    """Write a list of all pages, and where it is, if they have an address."""
    if base := app.config.html_baseurl:
        found = (f"<url><loc>{base}{name}.html</loc></url>" for name in sorted(app.env.found_docs))
        (app.outdir / "sitemap.xml").write_text(SITEMAP.format("".join(found)), "utf-8")
        (app.outdir / "robots.txt").write_text(f"User-agent: *\nSitemap: {base}sitemap.xml\n")
    return []


def drop_scripts_of_thebe(app, name, template, context, page):
    """Leave out what would run cells on a page: Jupyter Book adds it unasked, and in part twice."""
    for kind in ("css_files", "script_files"):
        named = [(file, f"{file.filename} {file.attributes}".lower()) for file in context[kind]]
        context[kind] = [file for file, words in named if "thebe" not in words]


def drop_settings_of_thebe(app, tree, docname):
    """Leave out what it writes into a page, the name of somebody else's repository."""
    for node in list(tree.findall(nodes.raw)):
        if re.search(r"x-thebe-config|<script>kernelName", node.astext()):
            node.parent.remove(node)


class Search(SearchEnglish):
    """The search of Sphinx, which also leaves out the words that any question has."""

    stopwords = SearchEnglish.stopwords | {*QUESTION.split("|")}


def setup(app):
    """Register the extension."""
    app.add_search_language(Search)
    app.add_config_value("repository_options", {}, "html")
    app.connect("config-inited", configure)
    app.connect("html-collect-pages", list_pages)
    app.connect("html-page-context", drop_scripts_of_thebe, priority=900)
    app.connect("doctree-resolved", drop_settings_of_thebe, priority=900)
