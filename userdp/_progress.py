"""A bar for long work, where a terminal shows one."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any


@contextmanager
def progress(steps: int) -> Iterator[Callable[[], Any]]:
    """Provide a function to call after each step, which moves a bar where a terminal shows one."""
    if sys.stderr is None or not sys.stderr.isatty() or not find_spec("tqdm"):
        yield lambda: None
        return
    from tqdm import tqdm

    with tqdm(total=steps, leave=False) as bar:
        yield bar.update
