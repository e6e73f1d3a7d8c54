"""A Sphinx extension: how to cite each page, for readers and for reference managers.

A box at the foot of a page (the template `cite.html`) has its entry, in words and as BibTeX; tags
citation_* in its head say the same to reference managers. {{ companion }} is the entry of the
whole book. Titles, author and year are those of `_config.yml`, version and commit those that are
built; addresses are given where that of the book is known.
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
    """Return how to cite the book, or a page of it, in words and as BibTeX."""
    inside = f"In {config.html_title}" if title else ""
    url = url if title else config.html_baseurl
    more = {"howpublished": f"{{{inside}}}" if title else "", "url": url}
    said = {"author": config.author, "title": title or config.html_title, "note": version()}
    lines = "".join(f"\n  {name} = {{{value}}}," for name, value in more.items() if value)
    key = f"userdp-{page}" if title else "userdp"
    words = [said["author"], said["title"], inside, config.copyright, url, said["note"]]
    bibtex = ENTRY.format(key=key, more=lines, year=config.copyright, **said)
    return " ".join(f"{part}." for part in words if part), bibtex


def tags(config, title, url):
    """Return the tags by which a reference manager recognises a page of the book."""
    known = {
        "title": title or config.html_title,
        "author": config.author,
        "publication_date": config.copyright,
        "inbook_title": title and config.html_title,
        "public_url": url,
    }
    lines = (f'<meta name="citation_{k}" content="{escape(v)}">' for k, v in known.items() if v)
    return "\n".join(lines)


def describe(app, name, template, context, page):
    """Give the templates of a page what they say about citing it."""
    if not page:  # the search, an index, a page for wrong addresses
        return
    title = "" if name == app.config.root_doc else app.env.titles[name].astext()
    url = context.get("pageurl") or ""
    words, bibtex = entry(app.config, name.rpartition("/")[2].lower(), title, url)
    show = app.builder.highlighter.highlight_block
    context["cited"] = {"words": words, "bibtex": show(bibtex, "bibtex")}
    context["metatags"] += "\n" + tags(app.config, title, url)


def companion(config):
    """Return the entry of the whole book in Markdown."""
    words, bibtex = entry(config)
    return f"{words}\n\n```bibtex\n{bibtex}\n```"


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", describe)
