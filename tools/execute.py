"""Execute the chapters, each in a kernel of its own and as many side by side as there are cores.

As a command: all of them, into the cache from which `make book` then builds the pages. It is begun
anew each time: it could not tell that `userdp` has changed.

With --store (`make refresh`): those that are named, or all, and their outputs are stored, byte for
byte the same if nothing changed. What differs from run to run or from machine to machine is left
out: times, the version of Python, and differences of pictures that nobody sees. The picture of
README.md is that of the landing page.
"""

import argparse
import base64
import io
import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import nbformat
import numpy as np
from contents import BOOK
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from PIL import Image
from tqdm import tqdm

CACHE = BOOK.parent / "_build" / ".jupyter_cache"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
BLOCK, LEVELS = 8, 4
"""Pictures look the same if no square of this many pixels differs by more, on average, of 255."""


def execute(path: Path) -> NotebookNode:
    """Execute one chapter in its own folder, and return it with its outputs."""
    client = NotebookClient(
        nbformat.read(path, as_version=4),
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # kernels warn of how they talk on this machine
        resources={"metadata": {"path": str(path.parent)}},
    )
    for _ in range(2):
        try:
            return client.execute()
        except RuntimeError as error:  # at its start another process had taken a port of the kernel
            if "before replying" not in str(error):
                raise
    return client.execute()


def executed(paths: list[Path]) -> Iterator[tuple[Path, NotebookNode]]:
    """Execute chapters and yield each as soon as it is done; a failure names its chapter."""
    # The largest first: what takes long is not left for the end, when the other cores are idle.
    order = sorted(paths, key=lambda path: path.stat().st_size, reverse=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(execute, path): path for path in order}
        try:
            bar = tqdm(as_completed(running), total=len(order), unit="chapter", disable=None)
            for future in bar:
                yield running[future], future.result()
        except CellExecutionError as error:
            pool.shutdown(cancel_futures=True)
            sys.exit(f"{running[future]} cannot be executed:\n{error}")


def look_the_same(one: bytes, other: bytes) -> bool:
    """Whether nobody sees a difference between two PNG images.

    Processors round differently in the last digit, which moves the grey of an edge here and there;
    a marker, a letter or a line that moves by a pixel changes the squares that it crosses by more.
    """
    images = [Image.open(io.BytesIO(png)).convert("RGBA") for png in (one, other)]
    if images[0].size != images[1].size:
        return False
    first, second = (np.asarray(image, dtype=float) for image in images)
    away = np.abs(first - second).max(axis=-1)
    for axis in (0, 1):
        away = np.add.reduceat(away, np.arange(0, away.shape[axis], BLOCK), axis=axis)
    return bool(away.max() <= LEVELS * BLOCK**2)


def pictures(outputs: list[NotebookNode]) -> Iterator[tuple[NotebookNode, bytes]]:
    """Yield the outputs that are pictures, and the pictures."""
    for output in outputs:
        if png := output.get("data", {}).get("image/png"):
            yield output, base64.b64decode(png)


def store(path: Path, notebook: NotebookNode) -> None:
    """Store what was executed, but for what is not reproducible."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell, before in zip(notebook.cells, nbformat.read(path, 4).cells, strict=True):
        cell.metadata.pop("execution", None)
        new, old = (pictures(c.get("outputs", [])) for c in (cell, before))
        for (output, png), (known, seen) in zip(new, old, strict=False):
            if look_the_same(png, seen):
                output.data["image/png"] = known.data["image/png"]
    if path.stem == "index":
        _, png = next(found for c in notebook.cells for found in pictures(c.get("outputs", [])))
        (BOOK / "_static" / "landing.png").write_bytes(png)
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def main() -> None:
    """Execute chapters, for the cache or to be stored."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--store", nargs="*", metavar="CHAPTER")
    names = asked.parse_args().store
    chapters = executed([BOOK / f"{name}.ipynb" for name in names or []] or [*BOOK.glob("*.ipynb")])
    if names is not None:
        for path, notebook in chapters:
            store(path, notebook)
        return
    shutil.rmtree(CACHE, ignore_errors=True)
    cache = get_cache(CACHE)
    for path, notebook in chapters:
        bundle = CacheBundleIn(notebook, str(path))
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


if __name__ == "__main__":
    main()
