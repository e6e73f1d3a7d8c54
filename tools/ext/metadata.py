"""A Sphinx extension: how pages are cited, by people, by libraries and by readers' tools.

A box at the foot of every page, {{ paper }} and {{ companion }} say how to cite the page, the paper
and the companion, in words and as BibTeX. In the head, tags citation_* say the same, {{ tags }} are
those of the book. Addresses are whole where that of the book is known.

Nothing is written twice: the paper's entry is that of the bibliography; the companion's title,
author and year are those of `_config.yml`; version and commit are those that are built.
"""

import os
import re

import pybtex
from pybtex.database import Entry, Person, parse_file
from sphinx.util.i18n import format_date

from .contents import BOOK
from .webpages import description, version

PAPER = "rameshwar2025bounding"


def day(config):
    """Return the day of the commit that is built, if it is known, else the year."""
    known = os.getenv("SOURCE_DATE_EPOCH")
    return format_date("%Y-%m-%d", language="en") if known else config.copyright


def paper():
    """Return the paper's entry, without the note on which version this book reads."""
    cited = parse_file(BOOK / "references.bib").entries[PAPER]
    del cited.fields["note"]
    return cited


def companion(config, page="", title="", url=""):
    """Return the entry of the book and the software, or of a page; braces keep capitals.

    BibTeX's own styles do not know `@software`, and ask `@incollection` for a publisher.
    """
    fields = {
        "title": f"{{{title or config.html_title}}}",
        "howpublished": title and f"In {{{config.html_title}}}",
        "url": url if title else config.html_baseurl,
        "year": config.copyright,
        "note": version(),
    }
    author = [Person(f"{{{config.author}}}")]
    fields = {name: said for name, said in fields.items() if said}
    made = Entry("misc", fields, {"author": author})
    made.key = f"userdp-{page}" if title else "userdp"
    return made


def bibtex(entry):
    """Return an entry as BibTeX reads it: its address as it is, all else with escapes."""
    said = entry.to_string("bibtex").strip()
    return re.sub(r'(?<= url = ").*(?=")', lambda _: entry.fields["url"], said)


def in_words(entry):
    """Return an entry as a list of references shows it, always with its note."""
    listed = pybtex.format_from_string(bibtex(entry), "unsrt", output_backend="text")
    words = listed.strip().removeprefix("[1] ")
    note = entry.fields.get("note", "")
    return words if note in words else f"{words} {note}."


def tags(config, title="", url=""):
    """Return the tags by which libraries cite the book, or a page of it."""
    known = {
        "title": title or config.html_title,
        "author": config.author,
        "publication_date": day(config).replace("-", "/"),
        "inbook_title": title and config.html_title,
        "public_url": url,
        "pdf_url": os.getenv("USERDP_PDF") and f"{config.html_baseurl}companion.pdf",
        "reference": in_words(paper()),
    }
    return {f"citation_{name}": said for name, said in known.items() if said}


def describe(app, name, template, context, page):
    """Tell templates what a page is, and how to cite it."""
    config = app.config
    root = config.root_doc
    url = context["pageurl"]
    context["base"] = config.html_baseurl
    if name == "index":  # the root of the site leads to the first page, and says the same
        name = root
        page = app.env.get_doctree(root)
    if page:  # not the search, an index, a page for wrong addresses
        title = app.env.titles[name].astext() if name != root else ""
        cited = companion(config, name.rpartition("/")[2].lower(), title, url)
        show = app.builder.highlighter.highlight_block
        context["entries"] = [show(bibtex(entry), "bibtex") for entry in (cited, paper())]
        context["words"] = in_words(cited)
        context["tags"] = tags(config, title, url)
        context["page_title"] = title or config.html_title
        context["page_description"] = description(page)


def tell(app, config):
    """Let pages show how to cite the paper and the companion."""
    for name, entry in {"paper": paper(), "companion": companion(config)}.items():
        config.myst_substitutions[name] = f"{in_words(entry)}\n\n```bibtex\n{bibtex(entry)}\n```"
    lines = (f'<meta name="{name}" content="{said}">' for name, said in tags(config).items())
    config.myst_substitutions["tags"] = "\n".join(["```html", *lines, "```"])


def setup(app):
    """Register the extension."""
    app.connect("config-inited", tell, priority=900)  # when it is known where the book goes
    app.connect("html-page-context", describe, priority=900)
