"""A bar for long work, where a terminal shows one."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(steps: int) -> Iterator[Callable[[], Any]]:
    """Provide a function to call after each step, which moves a bar where a terminal shows one."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda: None
        return
    with tqdm(total=steps, leave=False) as bar:
        yield bar.update
