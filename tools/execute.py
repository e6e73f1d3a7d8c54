"""Execute the chapters, each in a kernel of its own and as many side by side as there are cores.

They go into the cache from which `make book` then builds the pages. It is begun anew each time: it
could not tell that `userdp` has changed. Its pictures are vector graphics.

With --store (`make refresh`) the chapters named, or all, are executed and their outputs stored,
byte for byte the same if nothing changed: pictures are stored as pixels, because processors round
the coordinates of vector graphics differently, and one that looks the same as before stays.
What editors note in a file is removed, except what the book uses. The picture of README.md is the
last one of the landing page.
"""

import base64
import io
import os
import sys
from functools import partial
from pathlib import Path

import nbclient
import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from matplotlib.image import imread
from matplotlib.testing.compare import calculate_rms
from tqdm.contrib.concurrent import thread_map

BOOK = Path(__file__).resolve().parent.parent / "book"
CACHE = BOOK.parent / "_build" / ".jupyter_cache"
UNSEEN = 0.0002
"""A root mean square of differences, of values from 0 to 1. Processors round the last digit
differently, which moves the grey of an edge here and there, by 0.00006; a letter moved by a pixel
makes far more."""
STARTS = 3
"""How often a kernel is started. Two that start at the same time may choose the same port, and then
one of them never responds."""
VECTOR = "--InlineBackend.figure_formats={'svg', 'pdf', 'png'}"
ANY_PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""What a chapter says of its kernel: which version ran it is no property of the chapter."""


def run(path, settings):
    """Return a chapter with the outputs that it has now, in a kernel with these settings."""
    return nbclient.execute(
        nbformat.read(path, as_version=4),
        cwd=path.parent,
        timeout=600,
        coalesce_streams=True,
        record_timing=False,
        # Without a log level each kernel warns of its connection.
        extra_arguments=["--log-level=ERROR", *settings],
    )


def execute(path, settings=()):
    """Return the same, and start the kernel again if it does not respond."""
    for _ in range(STARTS - 1):
        try:
            return run(path, settings)
        except RuntimeError as error:
            if "respond" not in str(error):
                raise
    return run(path, settings)


def pictures(chapter):
    """Return the outputs that are pictures."""
    outputs = (output.get("data", {}) for c in chapter.cells for output in c.get("outputs", []))
    return [data for data in outputs if "image/png" in data]


def pixels(output):
    """Return the picture of an output, as an array."""
    return imread(io.BytesIO(base64.b64decode(output["image/png"])))


def look_the_same(output, other_output):
    """Whether nobody sees a difference between two pictures."""
    one = pixels(output)
    other = pixels(other_output)
    return one.shape == other.shape and calculate_rms(one, other) < UNSEEN


def tidy(chapter):
    """Take out what editors and kernels note of themselves."""
    chapter.metadata = nbformat.from_dict(ANY_PYTHON)
    for cell in chapter.cells:
        used = {name: cell.metadata[name] for name in ("tags", "mystnb") if name in cell.metadata}
        cell.metadata = nbformat.from_dict(used)


def store(path, chapter):
    """Store the outputs of a chapter."""
    known = nbformat.read(path, as_version=4)
    for made, seen in zip(pictures(chapter), pictures(known), strict=False):
        if look_the_same(made, seen):
            made["image/png"] = seen["image/png"]
    if path.stem == "index":
        *_, picture = pictures(chapter)
        (BOOK / "_static" / "landing.png").write_bytes(base64.b64decode(picture["image/png"]))
    tidy(chapter)
    path.write_text(nbformat.writes(chapter) + "\n", encoding="utf-8")


if __name__ == "__main__":
    storing = sys.argv[1:2] == ["--store"]
    names = sys.argv[2:]
    chapters = [BOOK / f"{name}.ipynb" for name in names] or [*BOOK.glob("*.ipynb")]
    # The largest first: what takes long is not left for the end, when the other cores are idle.
    chapters.sort(key=lambda path: -path.stat().st_size)
    call = partial(execute, settings=[] if storing else [VECTOR])
    made = thread_map(call, chapters, max_workers=os.cpu_count(), unit="chapter", disable=None)
    cache = get_cache(CACHE)
    cache.clear_cache()
    for path, chapter in zip(chapters, made, strict=True):
        cache.cache_notebook_bundle(CacheBundleIn(chapter, path))
        if storing:
            store(path, chapter)
