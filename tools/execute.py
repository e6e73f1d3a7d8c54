"""Execute the chapters, each in a kernel of its own and as many side by side as there are cores.

As a command: all of them, into the cache from which `make book` then builds the pages. The cache is
begun anew each time: it could not tell that `userdp` has changed.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import nbformat
from contents import BOOK
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from tqdm import tqdm

CACHE = BOOK.parent / "_build" / ".jupyter_cache"


def execute(path: Path) -> NotebookNode:
    """Execute one chapter in its own folder, and return it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # kernels warn of how they talk on this machine
        resources={"metadata": {"path": str(path.parent)}},
    )
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


def main() -> None:
    """Fill the cache."""
    shutil.rmtree(CACHE, ignore_errors=True)
    cache = get_cache(CACHE)
    for path, notebook in executed(sorted(BOOK.glob("*.ipynb"))):
        bundle = CacheBundleIn(notebook, str(path))
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


if __name__ == "__main__":
    main()
