"""A Sphinx extension: how to cite the paper, the companion, and each of its pages.

Nothing is written twice. The paper's entry is that of the bibliography; the companion's title,
author and year are those of `_config.yml`; version and commit are those that are built. The
directive `citation` shows an entry, and a box at the foot of every page holds the page's own.
"""

import re
from html import escape
from typing import Any

import built
import pybtex
from contents import BOOK
from docutils import nodes
from pybtex.database import Entry, Person, parse_file
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

PAPER = "rameshwar2025bounding"


def paper(config: Config) -> Entry:
    """Return the paper's entry, without the note on which version this book reads."""
    cited = parse_file(BOOK / "references.bib").entries[PAPER]
    del cited.fields["note"]
    return cited


def companion(config: Config, page: str = "", title: str = "", url: str = "") -> Entry:
    """Return the entry of the book and the software, or of a page; braces keep capitals."""
    book, kind = f"{{{config.html_title}}}", "incollection" if page else "software"
    fields = {"title": f"{{{title}}}", "booktitle": book} if page else {"title": book}
    fields |= {"url": url or (not page and config.html_baseurl)}
    fields |= {"year": config.copyright, "note": built.version()}
    made = Entry(kind, {name: value for name, value in fields.items() if value})
    made.persons["author"] = [Person(f"{{{config.author}}}")]
    made.key = f"userdp-{page}" if page else "userdp"
    return made


def bibtex(entry: Entry) -> str:
    """Return an entry as BibTeX reads it: its address as it is, all else with escapes."""
    text = entry.to_string("bibtex").strip()
    return re.sub(r'(?<= url = ").*(?=")', lambda _: entry.fields["url"], text)


def in_words(entry: Entry) -> str:
    """Return an entry as a list of references shows it, always with its note."""
    listed = pybtex.format_from_string(bibtex(entry), "unsrt", output_backend="text")
    words, note = re.sub(r"^\[1\] ", "", listed.strip()), entry.fields.get("note", "")
    return words if note in words else f"{words} {note}."


class Citation(SphinxDirective):
    """Show how to cite what is named, `paper` or `companion`: in words, and as BibTeX."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the paragraph and the block."""
        cited = {"paper": paper, "companion": companion}[self.arguments[0]](self.config)
        block = nodes.literal_block(bibtex(cited), bibtex(cited), language="bibtex")
        return [nodes.paragraph(text=in_words(cited)), block]


def add_box(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], content: nodes.Node | None
) -> None:
    """Put a folded box with entries for the page and for the paper at the foot of a page."""
    if content is None:  # the search, an index, a page for wrong addresses
        return
    what, cited = "book", companion(app.config)
    if pagename != app.config.root_doc:
        name, title = pagename.split("/")[-1].lower(), app.env.titles[pagename].astext()
        what, cited = "page", companion(app.config, name, title, context.get("pageurl") or "")
    first, second = (
        '<div class="highlight-bibtex notranslate">'
        f"{app.builder.highlighter.highlight_block(bibtex(made), 'bibtex')}</div>\n"
        for made in (cited, paper(app.config))
    )
    context["body"] += (
        f'<details class="cite-page"><summary>Cite this {what}</summary>\n'
        f"<p>{escape(in_words(cited))}</p>\n{first}"
        f"<p>For results of the paper, cite the paper:</p>\n{second}</details>\n"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_directive("citation", Citation)
    app.connect("html-page-context", add_box)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
