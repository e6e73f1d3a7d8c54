"""A Sphinx extension: where the figures that chapters draw stand, and how large; whole lines.

The one picture of a page, drawn by the cell with the tag `lead`, stands before all code and all
sections, though a notebook has to compute it first. Pictures have two pixels for each that is
shown, and say their size, so that no text moves when they arrive. A mark stays on the line of the
formula that it belongs to: browsers would break there.
"""

import re
from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx.transforms import SphinxTransform

DENSITY = 2  # pixels drawn for each that is shown
LONGEST = 80  # characters of TeX: a longer formula takes most of a line on a phone


def shows(node):
    """Whether a node is the output of a cell whose picture has no number."""
    return isinstance(node, nodes.container) and "cell_output" in node["classes"]


class Figures(SphinxTransform):
    """Move the one picture, and size all."""

    default_priority = 500

    def apply(self, **kwargs):
        """Change a page's tree."""
        for cell in list(self.document.findall(nodes.container)):
            if "tag_lead" in cell["classes"]:
                self.lead(cell)
        for image in self.document.findall(nodes.image):
            path = Path(self.env.srcdir, image["uri"].lstrip("/"))
            if "jupyter_execute" in path.parts and path.suffix == ".png":
                width, height = Image.open(path).size
                image["width"], image["height"] = (f"{n // DENSITY}px" for n in (width, height))

    def lead(self, cell):
        """Put what a cell has drawn before the first cell or section of its page."""
        page = next(n for n in self.document.findall(nodes.section))
        first = next(n for n in page if isinstance(n, nodes.section) or "cell" in n["classes"])
        drawn = next(cell.findall(nodes.figure), None) or next(filter(shows, cell.findall()))
        drawn.parent.remove(drawn)
        page.insert(page.index(first), drawn)


class Marks(SphinxTransform):
    """Keep short formulas together with the marks around them."""

    default_priority = 690  # glued values and substitutions are in

    def apply(self, **kwargs):
        """Put both in one element, whose style is to be whole."""
        short = lambda n: isinstance(n, nodes.math) and len(n.astext()) <= LONGEST  # noqa: E731
        for formula in list(self.document.findall(short)):
            line, at = formula.parent, formula.parent.index(formula)
            around = ["", *line.children, ""][at : at + 3]
            before, _, after = (n if isinstance(n, nodes.Text) else nodes.Text("") for n in around)
            opening = re.search(r"[(\[]*$", before)[0]
            closing = re.match(r"[.,;:!?)\]'…]*", after)[0]
            if opening:
                line.replace(before, nodes.Text(before.removesuffix(opening)))
            if closing:
                line.replace(after, nodes.Text(after.removeprefix(closing)))
            if opening or closing:
                inside = [nodes.Text(opening), formula.deepcopy(), nodes.Text(closing)]
                line.replace(formula, nodes.inline("", "", *inside, classes=["whole"]))


def say_sizes(app, name, template, context, page):
    """Give sizes as attributes: a browser keeps the shape of the place then, however narrow."""
    size = re.compile(r'style="width: (\d+)px; height: (\d+)px;"')
    context["body"] = size.sub(r'width="\1" height="\2"', context.get("body", ""))


def setup(app):
    """Register the extension."""
    app.add_transform(Figures)
    app.add_transform(Marks)
    app.connect("html-page-context", say_sizes)
