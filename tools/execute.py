"""Execute the chapters, each in its own kernel, as many in parallel as there are cores.

The results go into the cache from which `make book` builds the pages. The cache is cleared each
time, because it would not notice changes of `userdp`. Its pictures are vector graphics.

With --store (`make refresh`), execute the named chapters, or all, and store their outputs, byte for
byte the same if nothing changed. Stored pictures are PNGs, because processors round the coordinates
of vector graphics differently, and a picture is replaced only if it looks different. Metadata that
the book does not use is removed. The picture of README.md is the last one of the landing page. The
collections that a chapter makes are stored for `make -C proofs bridge`.
"""

import ast
import base64
import io
import json
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
COLLECTIONS = BOOK.parent / "proofs" / "collections.jsonl"
RECORDER = f"""--IPKernelApp.exec_lines=
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import collection_recorder
collection_recorder.start()
del sys.path[0], sys, collection_recorder
"""
TAKE = "__import__('collection_recorder').take()"
INVISIBLE = 0.0002
"""The largest invisible difference of pictures: a root mean square, of values from 0 to 1. Rounding
on other processors changes some edges, by up to 0.00006; a letter moved by a pixel is far above."""
ATTEMPTS = 3
"""How often to try to start a kernel. Two that start at the same time may choose the same port, and
then one of them never responds."""
VECTOR = "--InlineBackend.figure_formats={'svg', 'pdf', 'png'}"
ANY_PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""The metadata of a chapter, which must not depend on the Python that ran it."""


def run(path, settings):
    """Execute a chapter in a kernel with these settings, and return it with its outputs.

    With the recorder, a last cell has the collections that the chapter makes.
    """
    chapter = nbformat.read(path, as_version=4)
    if RECORDER in settings:
        chapter.cells.append(nbformat.v4.new_code_cell(TAKE))
    return nbclient.execute(
        chapter,
        cwd=path.parent,
        timeout=600,
        coalesce_streams=True,
        record_timing=False,
        # At the default log level, each kernel warns about its connection.
        extra_arguments=["--log-level=ERROR", *settings],
    )


def execute(path, settings=()):
    """Execute a chapter as `run` does, but restart a kernel that does not respond."""
    for _ in range(ATTEMPTS - 1):
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
    """Whether two pictures have no visible difference."""
    first = pixels(output)
    second = pixels(other_output)
    return first.shape == second.shape and calculate_rms(first, second) < INVISIBLE


def tidy(chapter):
    """Remove metadata of editors and kernels."""
    chapter.metadata = nbformat.from_dict(ANY_PYTHON)
    for cell in chapter.cells:
        used = {name: cell.metadata[name] for name in ("tags", "mystnb") if name in cell.metadata}
        cell.metadata = nbformat.from_dict(used)


def store_collections(recorded):
    """Store the collections that some chapters make, by the names of the chapters."""
    lines = map(json.loads, COLLECTIONS.read_text(encoding="utf-8").splitlines())
    others = [line for line in lines if line[0] not in recorded]
    new = [[name, *record] for name, records in recorded.items() for record in records]
    everything = sorted(others + new, key=lambda line: line[0])
    text = "".join(f"{json.dumps(line)}\n" for line in everything)
    COLLECTIONS.write_text(text, encoding="utf-8")


def store(path, chapter):
    """Store the outputs of a chapter."""
    stored = nbformat.read(path, as_version=4)
    for new, old in zip(pictures(chapter), pictures(stored), strict=False):
        if look_the_same(new, old):
            new["image/png"] = old["image/png"]
    if path.stem == "index":
        *_, picture = pictures(chapter)
        (BOOK / "_static" / "landing.png").write_bytes(base64.b64decode(picture["image/png"]))
    tidy(chapter)
    path.write_text(nbformat.writes(chapter) + "\n", encoding="utf-8")


if __name__ == "__main__":
    storing = sys.argv[1:2] == ["--store"]
    names = sys.argv[2:]
    chapters = [BOOK / f"{name}.ipynb" for name in names] or [*BOOK.glob("*.ipynb")]
    # The largest first, so that a long chapter does not run last while other cores are idle.
    chapters.sort(key=lambda path: -path.stat().st_size)
    call = partial(execute, settings=[RECORDER if storing else VECTOR])
    executed = thread_map(call, chapters, max_workers=os.cpu_count(), unit="chapter", disable=None)
    cache = get_cache(CACHE)
    cache.clear_cache()
    if storing:
        takes = {path.stem: done.cells.pop() for path, done in zip(chapters, executed, strict=True)}
        outputs = {name: cell.outputs[0].data["text/plain"] for name, cell in takes.items()}
        store_collections({n: json.loads(ast.literal_eval(x)) for n, x in outputs.items()})
    for path, chapter in zip(chapters, executed, strict=True):
        cache.cache_notebook_bundle(CacheBundleIn(chapter, path))
        if storing:
            store(path, chapter)
