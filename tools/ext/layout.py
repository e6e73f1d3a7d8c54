"""A Sphinx extension: where the figures that chapters draw stand, and how large; whole lines.

The one picture of a page, drawn by the cell with the tag `lead`, stands before all code and all
sections, though a notebook has to compute it first. What a cell with the tag `live` draws is what
print and readers without scripts see of a picture that moves. Folded code that draws a figure says
which. Pictures say their size, so that no text moves when they arrive. `make book` draws vector
graphics; those stored in chapters have two pixels for each that is shown, and pages show them in a
format that keeps every pixel in a third of the bytes. A mark stays on the line of the formula that
it belongs to: browsers would break there.
"""

import re
from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

DENSITY = 2  # pixels drawn for each that is shown
POINTS = 0.72  # of a vector graphic, for each pixel that is shown
DRAWN = r'<svg [^>]*width="([\d.]+)pt" height="([\d.]+)pt"'
SIZE = r'style="width: (\d+)px; height: (\d+)px;"'
LIVE = "<clip-picture"
# Marks beside a formula; one of more letters takes most of a line on a phone.
BEFORE, AFTER, LONGEST = r"[(\[]*$", r"[.,;:!?)\]\u2019…]*", 80


class Figures(SphinxTransform):
    """Move the one picture, and size all."""

    default_priority = 500

    def apply(self, **kwargs):
        """Change a page's tree."""
        for cell in list(self.document.findall(nodes.container)):
            drawn = next(cell.findall(nodes.figure), None)
            if drawn and cell.get("nb_element") == "cell_code":
                cell["draws"] = drawn["ids"][0]
            if "tag_live" in cell["classes"]:
                self.wrap(drawn or cell[-1])
            if "tag_lead" in cell["classes"]:
                self.lead(cell)
        for image in self.document.findall(nodes.image):
            path = Path(self.env.srcdir, image["uri"].lstrip("/"))
            if path.match("jupyter_execute/*.svg"):
                size = re.search(DRAWN, path.read_text("utf-8")[:2000], re.DOTALL).groups()
                image["width"], image["height"] = (f"{float(n) / POINTS:.0f}" for n in size)
            if path.match("jupyter_execute/*.png"):
                drawn = Image.open(path)
                image["width"], image["height"] = (f"{n // DENSITY}px" for n in drawn.size)
                if self.app.builder.format == "html":
                    drawn.save(path.with_suffix(".webp"), lossless=True)
                    image["uri"] = image["uri"].removesuffix("png") + "webp"

    def wrap(self, drawn):
        """Put the picture of a page into the live element, which takes its place in a browser."""
        layer = self.env.docname.rpartition("/")[2]
        live = nodes.container(classes=["live-picture"])
        drawn.parent.replace(drawn, live)  # without its names
        opened, closed = (
            nodes.raw("", tag, format="html")
            for tag in (f'{LIVE} layer="{layer}">', "</clip-picture>")
        )
        live += [opened, drawn, closed]

    def lead(self, cell):
        """Put what a cell has drawn before the first cell or section of its page."""
        page = next(n for n in self.document.findall(nodes.section))
        first = next(n for n in page if isinstance(n, nodes.section) or "cell" in n["classes"])
        live = (n for n in cell.findall(nodes.container) if "live-picture" in n["classes"])
        drawn = next(live, None) or next(cell.findall(nodes.figure), cell[-1])
        drawn.parent.remove(drawn)
        page.insert(page.index(first), drawn)


class Folds(SphinxPostTransform):
    """Name the folded code of a figure after it, before myst-nb folds it."""

    default_priority = 198
    formats = ("html",)

    def run(self, **kwargs):
        """Change a page's tree."""
        numbers = self.env.toc_fignumbers.get(self.env.docname, {}).get("figure", {})
        for cell in self.document.findall(nodes.container):
            if cell.get("draws") in numbers:
                name = "Figure " + ".".join(map(str, numbers[cell["draws"]]))
                cell["prompt_show"] = cell["prompt_hide"] = f"Code of {name}"


class Lines(SphinxPostTransform):
    """Keep a formula on one line with the marks beside it."""

    default_priority = 199
    formats = ("html",)

    def run(self, **kwargs):
        """Change a page's tree."""
        for formula in list(self.document.findall(nodes.math)):
            line = formula.parent
            place = line.index(formula)
            sides = line[:place][-1:], line[place + 1 :][:1]
            before, after = (s[0] if s and isinstance(s[0], nodes.Text) else "" for s in sides)
            opened, closed = re.search(BEFORE, before)[0], re.match(AFTER, after)[0]
            if (opened or closed) and len(formula.astext()) <= LONGEST:
                if opened:
                    line[place - 1] = nodes.Text(before.removesuffix(opened))
                if closed:
                    line[place + 1] = nodes.Text(after.removeprefix(closed))
                line[place] = nodes.inline("", opened, formula, nodes.Text(closed))
                line[place]["classes"] = ["whole"]


def finish(app, name, template, context, page):
    """Give sizes as attributes, for a browser to keep the shape; load late what is below."""
    body = re.sub(SIZE, r'width="\1" height="\2"', context.get("body", ""))
    first, image, others = body.partition("<img ")
    late = '<img loading="lazy" '
    image = late if LIVE in first and image else image
    context["body"] = first + image + others.replace("<img ", late)


def setup(app):
    """Register the extension."""
    app.add_transform(Figures)
    app.add_post_transform(Folds)
    app.add_post_transform(Lines)
    app.connect("html-page-context", finish)
