"""A Sphinx extension: the sidebar folds the parts of the book that one is not in."""

from bs4 import BeautifulSoup


def fold(sidebar):
    """Put each part of the sidebar under its caption, and open the one that is read, or the first.

    The theme gives one heading and one list a part, all of them open.
    """
    tree = BeautifulSoup(str(sidebar), "html.parser")
    captions = tree.select("p.caption")
    here = tree.select_one("li.current")
    for caption in captions:
        part = caption.find_next_sibling("ul")
        folded = tree.new_tag("details", attrs={"class": "part"})
        read = here in part.select("li") if here else caption is captions[0]
        if read:
            folded["open"] = ""
        caption.insert_before(folded)
        summary = tree.new_tag("summary")
        summary.append(caption.extract())
        folded.append(summary)
        folded.append(part.extract())
    return tree


def wrap(app, name, template, context, page):
    """Fold what the theme writes for the sidebar."""
    write = context.get("generate_toctree_html")
    if not write:
        return

    def folded(**options):
        written = write(**options)
        return fold(written) if options.get("kind") == "sidebar" else written

    context["generate_toctree_html"] = folded


def setup(app):
    """Register the extension, after the theme that it builds on."""
    app.connect("html-page-context", wrap, priority=900)
