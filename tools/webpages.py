"""What the book's pages say of themselves to search engines, to previews, and to whom is lost.

A Sphinx extension. Each page is described by its own claim. The root of the site leads to the first
page, and the page for wrong addresses leads back. No host is named unless the environment names it:
BOOK_URL, the address at which the book will stand.
"""

import os
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

PICTURE = "_static/landing.png"
LEAD = re.compile(r"^(?:The (?:claim|result))(?: \(.*?\))?\. ")
CITED = re.compile(r" \[\w{2,}\]")
LONGEST = 250  # characters, the verdict apart


def plain(formula: str) -> str:
    """Return a short formula without its TeX."""
    formula = formula.replace(r"\varepsilon", "ε").replace(r"\ell", "\N{SCRIPT SMALL L}")
    formula = re.sub(r"\\frac ?(\w)(\w)", r"\1/\2", formula)
    return re.sub(r"\\(?:mathbb ?|mathit|mathrm)|[{}_]", "", formula)


def text(paragraph: nodes.Node) -> str:
    """Return what a paragraph says, its formulas in plain letters."""
    if isinstance(paragraph, nodes.math):
        return plain(paragraph.astext())
    if isinstance(paragraph, nodes.Text):
        return paragraph.astext()
    return "".join(map(text, paragraph.children))


def description(page: nodes.document) -> str:
    """Return a page's claim, or else its first paragraph, as far as it fits, and the verdict."""
    every = page.findall(nodes.paragraph)
    prose = [node for node in every if isinstance(node.parent, nodes.section)]
    paragraphs = [CITED.sub("", " ".join(text(node).split())) for node in prose]
    claims = [words for words in paragraphs if LEAD.match(words)]
    first = LEAD.sub("", (claims + paragraphs + [""])[0])
    said, *rest = re.split(r"(?<=[.?!]) (?=[A-Z])", first)
    for sentence in rest:
        if len(said) + len(sentence) >= LONGEST:
            break
        said += " " + sentence
    bold = [text(strong) for node in prose for strong in node.findall(nodes.strong)]
    verdicts = [words.rstrip(".") + "." for words in bold if words.startswith("Verdict: ")]
    return " ".join([said, *verdicts]).replace("..", ".")


def describe(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], page: nodes.document | None
) -> None:
    """Add to a page's head what search engines and previews of links show."""
    title = re.sub(r"<[^>]*>", "", context.get("title") or "Search")
    base = app.config.html_baseurl
    # An address within the site has to be whole for those who fetch it from elsewhere.
    picture = base + PICTURE if base else context["pathto"](PICTURE, resource=True)
    said = {
        "og:title": title,
        "og:site_name": app.config.html_title,
        "og:type": "article" if page else "website",
        "og:image": picture,
        "og:url": context.get("pageurl"),
        "twitter:card": "summary_large_image",
    }
    if pagename == "index":
        page = app.env.get_doctree(app.config.root_doc)
    about = context.get("about") or (page and description(page))
    about = about or f"{title}. {app.config.html_title}."
    said |= {"description": about, "og:description": about}
    tags = [
        f'<meta {"property" if name.startswith("og:") else "name"}="{name}" '
        f'content="{escape(value)}">'
        for name, value in said.items()
        if value
    ]
    if base and pagename == "404":  # it is shown at any depth
        tags.insert(0, f'<base href="{escape(base)}">')
    context["metatags"] = context.get("metatags", "") + "\n".join(tags) + "\n"


def drop_live_code(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], page: nodes.document | None
) -> None:
    """Leave out the scripts with which cells could be run on a server: no page does that."""
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in str(script.filename) and "THEBE" not in str(script.attributes.get("body"))
    ]


def own_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page at the root, and the one for addresses that do not exist."""
    first = app.config.root_doc
    if first != "index":
        yield "index", {"title": app.config.html_title, "first": first}, "root.html"
    yield "404", {"title": "Page not found", "first": first}, "404.html"


def take_address(app: Sphinx, config: Config) -> None:
    """Take the book's address from the environment."""
    address = os.environ.get("BOOK_URL", "")
    config.html_baseurl = address and address.rstrip("/") + "/"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("config-inited", take_address)
    app.connect("html-page-context", describe, priority=900)
    app.connect("html-page-context", drop_live_code, priority=900)
    app.connect("html-collect-pages", own_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
