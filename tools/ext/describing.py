"""A Sphinx extension: what a page is about, for search engines and for previews of its links.

The first page is described as the book, any other page by its first words, which in most chapters
state its claim.
"""

import re
from html import escape
from textwrap import shorten

from bs4 import BeautifulSoup

SHORTEST, LONGEST = 60, 300
CLAIM = re.compile(r"^The (?:claim|result)(?: \((?:[^()]|\([^()]*\))*\))?\. *")
DESCRIPTION = re.compile(r'(?<=<meta content=")[^"]*(?=" name="description")')


def first_words(html):
    """Return the claim that a page begins with, or else its first paragraphs, as plain text."""
    page = BeautifulSoup(html, "html.parser")
    for formula in page.select("[data-tex]"):
        text = formula.select_one(".searchable")
        formula.string = text.get_text() if text else formula["data-tex"]
    text = ""
    for paragraph in page.select("p:not(.minutes, .admonition-title)"):
        text = CLAIM.sub("", f"{text} {' '.join(paragraph.get_text().split())}".lstrip())
        if len(text) >= SHORTEST:
            break
    return shorten(text, LONGEST, placeholder=" …")


def tags(title, description, base, url):
    """Return the tags from which a preview of a link is made."""
    values = {
        "type": "article",
        "title": title,
        "description": description,
        "url": url,
        "image": base and f"{base}_static/landing.png",
    }
    lines = (f'<meta property="og:{k}" content="{escape(v)}">' for k, v in values.items() if v)
    return "\n".join(lines)


def describe(app, name, template, context, page):
    """Describe a page of the book in its head."""
    general = DESCRIPTION.search(context.get("metatags", ""))
    if not (page and general):  # the search, an index, or a page that is not a chapter
        return
    description, title = general[0], app.config.html_title
    if name != app.config.root_doc:
        description = first_words(context["body"])
        title = f"{app.env.titles[name].astext()} | {title}"
    context["metatags"] = DESCRIPTION.sub(lambda _: escape(description), context["metatags"])
    url, base = context.get("pageurl") or "", app.config.html_baseurl
    context["metatags"] += "\n" + tags(title, description, base, url)


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", describe)
