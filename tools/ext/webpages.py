"""A Sphinx extension: what pages say of themselves to search engines and to previews of links.

Each page is described by its own claim. The root of the site leads to the first page, and the page
for wrong addresses leads back. If the address of the book is known, there is a sitemap.
"""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PICTURE = "_static/landing.png"
LEAD = re.compile(r"^(?:The (?:claim|result))(?: \(.*?\))?\. ")
CITED = re.compile(r" \[\w{2,}\]")
LONGEST = 250  # characters, the verdict apart
TEX = {r"\\varepsilon": "ε", r"\\ell": "\N{SCRIPT SMALL L}", r"\\frac ?(\w)(\w)": r"\1/\2"}
TEX |= {r"\\(?:mathbb ?|mathit|mathrm)|[{}_]": ""}


def text(node: nodes.Node) -> str:
    """Return what a paragraph says, its short formulas in plain letters."""
    if isinstance(node, nodes.Text):
        return node.astext()
    said = "".join(map(text, node.children))
    for command, letters in TEX.items() if isinstance(node, nodes.math) else ():
        said = re.sub(command, letters, said)
    return said


def description(page: nodes.document) -> str:
    """Return a page's claim, or else its first paragraph, as far as it fits, and the verdict."""
    prose = [n for n in page.findall(nodes.paragraph) if isinstance(n.parent, nodes.section)]
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
    """Fill a page's head: tags that describe it, and no scripts that run cells on a server."""
    title = re.sub(r"<[^>]*>", "", context.get("title") or "Search")
    base = app.config.html_baseurl
    # An address within the site has to be whole for those who fetch it from elsewhere.
    picture = base + PICTURE if base else context["pathto"](PICTURE, resource=True)
    kind = "article" if page else "website"
    if pagename == "index":
        page = app.env.get_doctree(app.config.root_doc)
    about = context.get("about") or (page and description(page))
    about = about or f"{title}. {app.config.html_title}."
    said = {
        "og:title": title,
        "og:site_name": app.config.html_title,
        "og:type": kind,
        "og:image": picture,
        "og:url": context.get("pageurl"),
        "twitter:card": "summary_large_image",
        "description": about,
        "og:description": about,
    }
    tags = [
        f'<meta {"property" if name.startswith("og:") else "name"}="{name}" '
        f'content="{escape(value)}">'
        for name, value in said.items()
        if value
    ]
    if base and pagename == "404":  # it is shown at any depth
        tags.insert(0, f'<base href="{escape(base)}">')
    context["metatags"] = context.get("metatags", "") + "\n".join(tags) + "\n"
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in f"{script.filename} {script.attributes.get('body')}".lower()
    ]


def own_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page at the root, and the one for addresses that do not exist."""
    first = app.config.root_doc
    yield "index", {"title": app.config.html_title, "first": first}, "root.html"
    yield "404", {"title": "Page not found", "first": first}, "404.html"


def write_sitemap(app: Sphinx, error: Exception | None) -> None:
    """List the pages of the book for search engines, if it is known where it will stand."""
    base = app.config.html_baseurl
    if base and not error and app.builder.format == "html":
        pages = [f"{base}{app.builder.get_target_uri(name)}\n" for name in app.env.found_docs]
        Path(app.outdir, "sitemap.txt").write_text("".join(sorted(pages)), "utf-8")
        Path(app.outdir, "robots.txt").write_text(f"Sitemap: {base}sitemap.txt\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", describe, priority=900)
    app.connect("html-collect-pages", own_pages)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
