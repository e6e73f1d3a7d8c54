"""A Sphinx extension: the picture by which others preview a link to a page, and its words.

It is the first picture of the page, fitted into the shape that previews have; of a page without
one, that of the first page. Its words are its alternative text. Programs that show previews know
PNG.
"""

from pathlib import Path

from docutils import nodes
from PIL import Image, ImageOps

SIZE = 1200, 630  # pixels: what previews show, without cutting anything off
EDGE = 30  # pixels around the picture


def fitted(picture):
    """Return a picture in the middle of a white card, as large as it can be."""
    room = tuple(side - 2 * EDGE for side in SIZE)
    shown = ImageOps.contain(picture.convert("RGB"), room, Image.Resampling.LANCZOS)
    card = Image.new("RGB", SIZE, "white")
    card.paste(shown, tuple((side - own) // 2 for side, own in zip(SIZE, shown.size, strict=True)))
    return card


def first_picture(app, name):
    """Return the first picture that a page has drawn, or None."""
    drawn = app.env.get_doctree(name).findall(nodes.image)
    return next((image for image in drawn if "jupyter_execute" in image["uri"]), None)


def offer(app, name, template, context, page):
    """Draw the card of a page, and tell templates where it is and what it shows."""
    image = first_picture(app, name) if page else None
    if image is None:
        name = app.config.root_doc
        image = first_picture(app, name)
    card = f"_cards/{name.rpartition('/')[2]}.png"
    to = Path(app.outdir, card)
    if not to.exists():
        to.parent.mkdir(exist_ok=True)
        with Image.open(Path(app.srcdir, image["uri"])) as picture:
            fitted(picture).save(to, optimize=True)
    context["card"] = {"path": card, "size": SIZE, "words": image["alt"]}


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", offer)
