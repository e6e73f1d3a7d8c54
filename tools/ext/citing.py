"""A Sphinx extension: how to cite each page, for readers and for reference managers.

A box at the foot of each page (template `cite.html`) shows its citation, as text and as BibTeX;
tags citation_* in the page's head give reference managers the same data. {{ companion }} is the
citation of the whole book. Titles, author and year come from `_config.yml`, version and commit from
the build; citations contain an address if the address of the book is known.
"""

from html import escape

from .webpages import version

ENTRY = """\
@misc{{{key},
  author = {{{{{author}}}}},
  title = {{{{{title}}}}},{more}
  year = {{{year}}},
  note = {{{note}}}
}}"""


def entry(config, page="", title="", url=""):
    """Return the citation of the book, or of one of its pages, as text and as BibTeX."""
    container = f"In {config.html_title}" if title else ""
    url = url if title else config.html_baseurl
    optional = {"howpublished": f"{{{container}}}" if title else "", "url": url}
    fields = {"author": config.author, "title": title or config.html_title, "note": version()}
    lines = "".join(f"\n  {name} = {{{value}}}," for name, value in optional.items() if value)
    key = f"userdp-{page}" if title else "userdp"
    parts = [fields["author"], fields["title"], container, config.copyright, url, fields["note"]]
    bibtex = ENTRY.format(key=key, more=lines, year=config.copyright, **fields)
    return " ".join(f"{part}." for part in parts if part), bibtex


def tags(config, title, url):
    """Return the tags by which a reference manager recognises a page of the book."""
    values = {
        "title": title or config.html_title,
        "author": config.author,
        "publication_date": config.copyright,
        "inbook_title": title and config.html_title,
        "public_url": url,
    }
    lines = (f'<meta name="citation_{k}" content="{escape(v)}">' for k, v in values.items() if v)
    return "\n".join(lines)


def add_citation(app, name, template, context, page):
    """Pass the citation of a page to its templates."""
    if not page:  # the search, an index or the error page
        return
    title = "" if name == app.config.root_doc else app.env.titles[name].astext()
    url = context.get("pageurl") or ""
    text, bibtex = entry(app.config, name.rpartition("/")[2].lower(), title, url)
    highlight = app.builder.highlighter.highlight_block
    context["citation"] = {"text": text, "bibtex": highlight(bibtex, "bibtex")}
    context["metatags"] += "\n" + tags(app.config, title, url)


def companion(config):
    """Return the citation of the whole book in Markdown."""
    text, bibtex = entry(config)
    return f"{text}\n\n```bibtex\n{bibtex}\n```"


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", add_citation)
