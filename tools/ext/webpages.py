"""A Sphinx extension: what pages say of themselves to search engines and to previews of links.

Each page is described by its own claim. The root of the site leads to the first page, and the page
for wrong addresses leads back.
"""

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LEAD = re.compile(r"^(?:The (?:claim|result))(?: \(.*?\))?\. ")
LONGEST = 250  # characters, the verdict apart
TEX = {r"\\varepsilon": "ε", r"\\ell": "\N{SCRIPT SMALL L}", r"\\frac ?(\w)(\w)": r"\1/\2"}
TEX |= {r"\\(?:mathbb ?|mathit|mathrm)|[{}_]": ""}


def text(node: nodes.Node) -> str:
    """Return what a paragraph says, its short formulas in plain letters, without citations."""
    said = node.astext() if isinstance(node, nodes.Text) else "".join(map(text, node.children))
    for command, letters in TEX.items() if isinstance(node, nodes.math) else ():
        said = re.sub(command, letters, said)
    return re.sub(r" \[\w{2,}\]", "", said.replace("\n", " "))


def description(page: nodes.document) -> str:
    """Return a page's claim, or else its first paragraph, as far as it fits, and the verdict."""
    prose = [text(n) for n in page.findall(nodes.paragraph) if isinstance(n.parent, nodes.section)]
    first = LEAD.sub("", next(filter(LEAD.match, prose), [*prose, ""][0]))
    said, *rest = re.split(r"(?<=[.?!]) (?=[A-Z])", first)
    for sentence in rest:
        if len(said) + len(sentence) >= LONGEST:
            break
        said += " " + sentence
    verdict = re.search(r"^Verdict: .*", "\n".join(map(text, page.findall(nodes.strong))), re.M)
    return f"{said} {verdict[0].rstrip('.')}." if verdict else said


def describe(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], page: nodes.document | None
) -> None:
    """Fill a page's head: tags that describe it, and no scripts that run cells on a server."""
    if pagename == "index":
        page = app.env.get_doctree(app.config.root_doc)
    if page:
        context["about"] = description(page)
    # An address within the site has to be whole for those who fetch it from elsewhere.
    known = context | {"base": app.config.html_baseurl, "picture": "_static/landing.png"}
    tags = app.builder.templates.render("about.html", known)
    context["metatags"] = context.get("metatags", "") + tags
    scripts, thebe = context["script_files"], re.compile("thebe", re.I)
    context["script_files"] = [
        js for js in scripts if not thebe.search(f"{js.filename} {js.attributes.get('body')}")
    ]


def own_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page at the root, and the one for addresses that do not exist."""
    first = app.config.root_doc
    yield "index", {"title": app.config.html_title, "first": first}, "root.html"
    yield "404", {"title": "Page not found", "first": first}, "404.html"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", describe, priority=900)
    app.connect("html-collect-pages", own_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
