"""Execute the chapters, each in a kernel of its own and as many side by side as there are cores.

They go into the cache from which `make book` then builds the pages. It is begun anew each time: it
could not tell that `userdp` has changed.

With --store (`make refresh`) those that are named, or all, are executed, and their outputs stored,
byte for byte the same if nothing changed: pictures stay if nobody sees how they differ from machine
to machine. The picture of README.md is that of the landing page.
"""

import base64
import io
import logging
import shutil
import sys
from multiprocessing import Pool
from pathlib import Path

import nbformat
from contents import BOOK
from jupyter_cache import get_cache
from jupyter_cache.executors.base import ExecutorRunResult
from jupyter_cache.executors.basic import (
    ExecutionWorkerLocalMProc,
    JupyterExecutorLocalMproc,
    ProcessData,
)
from jupyter_cache.executors.utils import single_nb_execution
from PIL import Image, ImageChops
from tqdm import tqdm

CACHE = BOOK.parent / "_build" / ".jupyter_cache"
BLOCK, LEVELS = 8, 4
"""Pictures look the same if no square of this many pixels differs by more, on average, of 255."""


class Executor(JupyterExecutorLocalMproc):
    """What executes chapters, each in its own folder."""

    class _EXECUTION_WORKER(ExecutionWorkerLocalMProc):  # noqa: N801
        @staticmethod
        def execute(chapter, data):
            """Execute one; kernels would warn of how they talk on this machine."""
            quiet = {"coalesce_streams": True, "extra_arguments": ["--log-level=ERROR"]}
            folder = Path(chapter.uri).parent
            return single_nb_execution(chapter.nb, str(folder), data.timeout, False, **quiet)

    def run_and_cache(self, **_):
        """Execute them one by one, in the order given, with a bar on a terminal."""
        records = sorted(self.get_records(clear_tracebacks=True), key=lambda record: record.pk)
        asked = [ProcessData(record.pk, record.uri, self.cache, 600, False) for record in records]
        with Pool() as pool:
            done = pool.imap_unordered(self._EXECUTION_WORKER(), asked)
            results = list(tqdm(done, total=len(asked), unit="chapter", disable=None))
        return ExecutorRunResult(*([pk for kind, pk in results if kind == i] for i in range(3)))


def execute(paths):
    """Execute chapters, and return the cache that they are in."""
    shutil.rmtree(CACHE, ignore_errors=True)
    cache = get_cache(CACHE)
    # The largest first: what takes long is not left for the end, when the other cores are idle.
    for path in sorted(paths, key=lambda path: -path.stat().st_size):
        cache.add_nb_to_project(str(path))
    for _ in range(3):  # at its start another process may take a port of the kernel
        done = Executor(cache, logging.getLogger()).run_and_cache()
        if not done.errored:
            break
    if done.excepted or done.errored:
        sys.exit("Not every chapter can be executed.")
    return cache


def look_the_same(one, other):
    """Whether nobody sees a difference between two PNG images.

    Processors round differently in the last digit, which moves the grey of an edge here and there;
    a marker, a letter or a line that moves by a pixel changes the squares that it crosses by more.
    """
    first, second = (Image.open(io.BytesIO(png)).convert("RGBA") for png in (one, other))
    away = [band.reduce(BLOCK) for band in ImageChops.difference(first, second).split()]
    return first.size == second.size and max(band.getextrema()[1] for band in away) <= LEVELS


def pictures(notebook):
    """Yield the outputs that are pictures, and the pictures."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if png := output.get("data", {}).get("image/png"):
                yield output.data, base64.b64decode(png)


def store(path, cache):
    """Store what was executed."""
    before = nbformat.read(path, as_version=4)
    _, notebook = cache.merge_match_into_file(str(path), nb_meta=())
    for (data, png), (known, seen) in zip(pictures(notebook), pictures(before), strict=False):
        if look_the_same(png, seen):
            data["image/png"] = known["image/png"]
    if path.stem == "index":
        _, png = next(pictures(notebook))
        (BOOK / "_static" / "landing.png").write_bytes(png)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


if __name__ == "__main__":
    storing, names = sys.argv[1:2] == ["--store"], sys.argv[2:]
    chapters = [BOOK / f"{name}.ipynb" for name in names] or sorted(BOOK.glob("*.ipynb"))
    cache = execute(chapters)
    for path in chapters if storing else []:
        store(path, cache)
