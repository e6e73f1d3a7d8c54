"""A Sphinx extension: what is built, where it goes, and what pages say of themselves.

The Makefile says in USERDP_STAMP of which commit: it asks once, before chapters write tables. The
environment has the addresses of the repository, USERDP_REPOSITORY (https://HOST/OWNER/NAME), and of
the book, BOOK_URL: pages get buttons and whole addresses if it does, and no dead ones if not.
USERDP_PDF is a PDF for the first page to offer. With USERDP_STORED outputs are those stored, with
USERDP_EXECUTED those of the cache that `make book` fills; else chapters are executed when read.

Each page is described by its own claim, for search engines and for previews of links. The root of
the site leads to the first page, and the page for wrong addresses leads back. A box at the foot of
every page, {{ paper }} and {{ companion }} say how to cite the page, the paper and the companion.
Nothing is written twice: the paper's entry is that of the bibliography; the companion's title,
author and year are those of `_config.yml`; version and commit are those that are built.
"""

import os
import re

import pybtex
from contents import BOOK
from docutils import nodes
from pybtex.database import Entry, Person, parse_file
from rerun import commit

import userdp

LEAD = re.compile(r"^(?:The (?:claim|result))(?: \(.*?\))?\. ")
LONGEST = 250  # characters, the verdict apart
TEX = {r"\\varepsilon": "ε", r"\\ell": "\N{SCRIPT SMALL L}", r"\\frac ?(\w)(\w)": r"\1/\2"}
TEX |= {r"\\(?:mathbb ?|mathit|mathrm)|[{}_]": ""}
PAPER = "rameshwar2025bounding"
TEXT = "https://creativecommons.org/licenses/by/4.0/"
CODE = "https://opensource.org/license/mit"


def version():
    """Return in words which version is built, and from which commit if that is known."""
    told = re.fullmatch(r"([0-9a-f]{12})[0-9a-f]{28} \d+( changed)?", os.getenv("USERDP_STAMP", ""))
    known = f", built from commit {told[1]}{', with changes' * bool(told[2])}" if told else ""
    return f"Version {userdp.__version__}{known}"


def configure(app, config):
    """Set what the version and the environment decide: foot of pages, buttons, date of the PDF."""
    config.today = foot = version()
    if address := os.getenv("USERDP_REPOSITORY"):
        foot = re.sub(r"(?<=commit )\w+", rf'<a href="{address}/commit/\g<0>">\g<0></a>', foot)
        config.html_theme_options |= {
            "repository_url": address,
            "repository_branch": commit(),
            "use_repository_button": True,
            "use_issues_button": True,
            "launch_buttons": {
                "notebook_interface": "jupyterlab",
                "binderhub_url": "https://mybinder.org",
                "colab_url": "https://colab.research.google.com",
            },
        }
    terms = f"""<p>Text, figures and data: <a rel="license" href="{TEXT}">CC BY 4.0</a>.
    Code: <a href="{CODE}">MIT</a>.</p>"""
    config.html_theme_options |= {"extra_footer": f"<p>{foot}</p>{terms}"}
    if url := os.getenv("BOOK_URL"):
        config.html_baseurl = url.rstrip("/") + "/"
    if os.getenv("USERDP_STORED") or os.getenv("USERDP_EXECUTED"):
        config.nb_execution_mode = "off" if os.getenv("USERDP_STORED") else "cache"
    if pdf := os.getenv("USERDP_PDF"):
        config.html_extra_path = [*config.html_extra_path, pdf]
        app.tags.add("pdf")


def text(node):
    """Return what a paragraph says, its short formulas in plain letters, without citations."""
    said = node.astext() if isinstance(node, nodes.Text) else "".join(map(text, node.children))
    for command, letters in TEX.items() if isinstance(node, nodes.math) else ():
        said = re.sub(command, letters, said)
    return re.sub(r" \[\w{2,}\]", "", said.replace("\n", " "))


def description(page):
    """Return a page's claim, or else its first paragraph, as far as it fits, and the verdict."""
    prose = [text(n) for n in page.findall(nodes.paragraph) if isinstance(n.parent, nodes.section)]
    first = LEAD.sub("", next(filter(LEAD.match, prose), [*prose, ""][0]))
    said = re.match(rf"(?:.{{,{LONGEST - 1}}}|.*?)[.?!](?= [A-Z]|$)|.*", first)[0]
    verdict = re.search(r"^Verdict: .*", "\n".join(map(text, page.findall(nodes.strong))), re.M)
    return f"{said} {verdict[0].rstrip('.')}." if verdict else said


def paper():
    """Return the paper's entry, without the note on which version this book reads."""
    cited = parse_file(BOOK / "references.bib").entries[PAPER]
    del cited.fields["note"]
    return cited


def companion(config, page="", title="", url=""):
    """Return the entry of the book and the software, or of a page; braces keep capitals."""
    fields = {
        "title": f"{{{title or config.html_title}}}",
        "booktitle": page and f"{{{config.html_title}}}",
        "url": url if page else config.html_baseurl,
        "year": config.copyright,
        "note": version(),
    }
    made = Entry("incollection" if page else "software", {n: v for n, v in fields.items() if v})
    made.persons["author"] = [Person(f"{{{config.author}}}")]
    made.key = f"userdp-{page}" if page else "userdp"
    return made


def bibtex(entry):
    """Return an entry as BibTeX reads it: its address as it is, all else with escapes."""
    said = entry.to_string("bibtex").strip()
    return re.sub(r'(?<= url = ").*(?=")', lambda _: entry.fields["url"], said)


def in_words(entry):
    """Return an entry as a list of references shows it, always with its note."""
    listed = pybtex.format_from_string(bibtex(entry), "unsrt", output_backend="text")
    words, note = re.sub(r"^\[1\] ", "", listed.strip()), entry.fields.get("note", "")
    return words if note in words else f"{words} {note}."


def describe(app, name, template, context, page):
    """Fill a page's head and foot."""
    config, render = app.config, app.builder.templates.render
    if described := app.env.get_doctree(config.root_doc) if name == "index" else page:
        context["about"] = description(described)
    # An address within the site has to be whole for those who fetch it from elsewhere.
    about = context | {"base": config.html_baseurl, "picture": "_static/landing.png"}
    if page:  # without a number, and the first page by the name of the book
        titles = app.env.titles | {config.root_doc: nodes.Text(config.html_title)}
        about["title"] = titles[name].astext()
    context["metatags"] = context.get("metatags", "") + render("about.html", about)
    if page:  # not the search, an index, a page for wrong addresses
        what, cited = "book", companion(config)
        if name != config.root_doc:
            short, title = name.split("/")[-1].lower(), app.env.titles[name].astext()
            what, cited = "page", companion(config, short, title, context.get("pageurl"))
        show = app.builder.highlighter.highlight_block
        entries = [show(bibtex(made), "bibtex") for made in (cited, paper())]
        foot = {"what": what, "words": in_words(cited), "entries": entries}
        context["body"] += render("cite.html", foot)


def tell(app, config):
    """Let pages show how to cite the paper and the companion: in words, and as BibTeX."""
    cited = {"paper": paper(), "companion": companion(config)}
    for name, made in cited.items():
        config.myst_substitutions[name] = f"{in_words(made)}\n\n```bibtex\n{bibtex(made)}\n```"


def own_pages(app):
    """Yield the page at the root, and the one for addresses that do not exist."""
    first = app.config.root_doc
    yield "index", {"title": app.config.html_title, "first": first}, "root.html"
    yield "404", {"title": "Page not found", "first": first}, "404.html"


def setup(app):
    """Register the extension."""
    app.connect("config-inited", configure)
    app.connect("config-inited", tell, priority=900)  # when it is known where the book goes
    app.connect("html-page-context", describe, priority=900)
    app.connect("html-collect-pages", own_pages)
