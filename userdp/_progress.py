"""A bar for long work, where a terminal shows one: not in a notebook, a file, a pipe or a test."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sees at once what is written to a stream."""
    return stream is not None and stream.isatty()


@contextmanager
def progress(steps: int) -> Iterator[Callable[[], Any]]:
    """Provide a function to call after each step, which moves a bar where a terminal shows one.

    One step has no bar: it would be empty until all is over.
    """
    if steps < 2 or not is_terminal(sys.stderr) or not find_spec("tqdm"):
        yield lambda: None
        return
    from tqdm import tqdm

    with tqdm(total=steps, leave=False) as bar:
        yield bar.update
