"""A Sphinx extension: the positions and sizes of figures, and punctuation beside formulas.

The lead picture of a page, drawn by the cell with the tag `lead`, is moved above all code and
sections, although a notebook must compute it first. The figure of a cell with the tag `live`
replaces the interactive picture in print and without scripts. The title of folded code names the
figure that it draws. Images have explicit sizes, so that no text moves when they load. `make book`
draws vector graphics; images stored in chapters have two pixels per displayed pixel, and pages show
them as lossless WebP, a third of the size. Punctuation stays on the line of its formula; browsers
would break the line between them.
"""

import re
from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

DENSITY = 2  # stored pixels per displayed pixel
POINTS = 0.72  # of a vector graphic, per displayed pixel
SVG_SIZE = r'<svg [^>]*width="([\d.]+)pt" height="([\d.]+)pt"'
SIZE = r'style="width: (\d+)px; height: (\d+)px;"'
LIVE = "<clip-picture"
# Punctuation before and after a formula, and the longest TeX that fits on a line of a phone.
BEFORE, AFTER, LONGEST = r"[(\[]*$", r"[.,;:!?)\]\u2019…]*", 80


class Figures(SphinxTransform):
    """Move the lead picture, and set the size of all figures."""

    default_priority = 500

    def apply(self, **kwargs):
        """Change a page's tree."""
        for cell in list(self.document.findall(nodes.container)):
            figure = next(cell.findall(nodes.figure), None)
            if figure and cell.get("nb_element") == "cell_code":
                cell["draws"] = figure["ids"][0]
            if "tag_live" in cell["classes"]:
                self.wrap_in_live_element(figure or cell[-1])
            if "tag_lead" in cell["classes"]:
                self.move_to_front(cell)
        for image in self.document.findall(nodes.image):
            path = Path(self.env.srcdir, image["uri"].lstrip("/"))
            if path.match("jupyter_execute/*.svg"):
                size = re.search(SVG_SIZE, path.read_text("utf-8")[:2000], re.DOTALL).groups()
                image["width"], image["height"] = (f"{float(n) / POINTS:.0f}" for n in size)
            if path.match("jupyter_execute/*.png"):
                picture = Image.open(path)
                image["width"], image["height"] = (f"{n // DENSITY}px" for n in picture.size)
                if self.app.builder.format == "html":
                    picture.save(path.with_suffix(".webp"), lossless=True)
                    image["uri"] = image["uri"].removesuffix("png") + "webp"

    def wrap_in_live_element(self, figure):
        """Put a figure into the live element, which replaces it in a browser."""
        layer = self.env.docname.rpartition("/")[2]
        live = nodes.container(classes=["live-picture"])
        figure.parent.replace(figure, live)  # `replace_self` would move its names to `live`
        start_tag, end_tag = (
            nodes.raw("", tag, format="html")
            for tag in (f'{LIVE} layer="{layer}">', "</clip-picture>")
        )
        live += [start_tag, figure, end_tag]

    def move_to_front(self, cell):
        """Move the figure of a cell before the first cell or section of its page."""
        page = next(n for n in self.document.findall(nodes.section))
        first = next(n for n in page if isinstance(n, nodes.section) or "cell" in n["classes"])
        live = (n for n in cell.findall(nodes.container) if "live-picture" in n["classes"])
        figure = next(live, None) or next(cell.findall(nodes.figure), cell[-1])
        figure.parent.remove(figure)
        page.insert(page.index(first), figure)


class Folds(SphinxPostTransform):
    """Title the folded code of a figure "Code of Figure 1", before myst-nb folds it."""

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
    """Keep a formula on one line with the punctuation beside it."""

    default_priority = 199
    formats = ("html",)

    def run(self, **kwargs):
        """Change a page's tree."""
        for formula in list(self.document.findall(nodes.math)):
            line = formula.parent
            position = line.index(formula)
            sides = line[:position][-1:], line[position + 1 :][:1]
            before, after = (s[0] if s and isinstance(s[0], nodes.Text) else "" for s in sides)
            opening, closing = re.search(BEFORE, before)[0], re.match(AFTER, after)[0]
            if (opening or closing) and len(formula.astext()) <= LONGEST:
                if opening:
                    line[position - 1] = nodes.Text(before.removesuffix(opening))
                if closing:
                    line[position + 1] = nodes.Text(after.removeprefix(closing))
                line[position] = nodes.inline("", opening, formula, nodes.Text(closing))
                line[position]["classes"] = ["whole"]


def set_image_attributes(app, name, template, context, page):
    """Set image sizes as attributes, which reserve the space; lazy-load all but the first image."""
    body = re.sub(SIZE, r'width="\1" height="\2"', context.get("body", ""))
    first, image, others = body.partition("<img ")
    lazy = '<img loading="lazy" '
    image = lazy if LIVE in first and image else image
    context["body"] = first + image + others.replace("<img ", lazy)


def setup(app):
    """Register the extension."""
    app.add_transform(Figures)
    app.add_post_transform(Folds)
    app.add_post_transform(Lines)
    app.connect("html-page-context", set_image_attributes)
