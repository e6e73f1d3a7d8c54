"""Re-execute the chapters and store their outputs: byte for byte the same if nothing changed.

What differs from run to run or from machine to machine is left out: execution times, the version
of Python, and differences of pictures that nobody sees. The picture in README.md is taken from the
landing page. Refreshes the chapters that are named, or all.
"""

import base64
import io
import sys
from pathlib import Path

import nbformat
import numpy as np
from contents import BOOK
from execute import executed
from nbformat import NotebookNode
from PIL import Image

LANDING_PAGE = BOOK / "index.ipynb"
LANDING_PICTURE = BOOK / "_static" / "landing.png"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
BLOCK, LEVELS = 8, 4
"""Pictures look the same if no square of this many pixels differs by more, on average, of 255."""


def look_the_same(one: str, other: str) -> bool:
    """Whether nobody sees a difference between two PNG images, given as base64.

    Processors round differently in the last digit, which moves the grey of an edge here and there;
    a marker, a letter or a line that moves by a pixel changes the squares that it crosses by more.
    """
    images = [
        Image.open(io.BytesIO(base64.b64decode(text))).convert("RGBA") for text in (one, other)
    ]
    if images[0].size != images[1].size:
        return False
    first, second = (np.asarray(image, dtype=float) for image in images)
    away = np.abs(first - second).max(axis=-1)
    rows, columns = (np.arange(0, length, BLOCK) for length in away.shape)
    squares = np.add.reduceat(np.add.reduceat(away, rows, axis=0), columns, axis=1)
    return bool(squares.max() <= LEVELS * BLOCK**2)


def normalise(notebook: NotebookNode, stored: NotebookNode) -> None:
    """Drop from an executed notebook whatever is not reproducible."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell, before in zip(notebook.cells, stored.cells, strict=True):
        cell.metadata.pop("execution", None)
        for output, known in zip(cell.get("outputs", []), before.get("outputs", []), strict=False):
            new, old = (o.get("data", {}).get("image/png") for o in (output, known))
            if new and old and look_the_same(new, old):
                output.data["image/png"] = old


def first_picture(path: Path) -> bytes:
    """Return the first PNG image among a chapter's stored outputs."""
    outputs = [out for cell in nbformat.read(path, 4).cells for out in cell.get("outputs", [])]
    pictures = (out.data["image/png"] for out in outputs if "image/png" in out.get("data", {}))
    return base64.b64decode(next(pictures))


def main(names: list[str]) -> None:
    """Refresh some chapters, or all."""
    chapters = [BOOK / f"{name}.ipynb" for name in names] or list(BOOK.glob("*.ipynb"))
    for path, notebook in executed(chapters):
        normalise(notebook, nbformat.read(path, as_version=4))
        nbformat.validate(notebook)
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    LANDING_PICTURE.write_bytes(first_picture(LANDING_PAGE))


if __name__ == "__main__":
    main(sys.argv[1:])
