"""A progress bar for long work, on terminals only: not in notebooks, files, pipes or tests."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal, so that its output is seen at once."""
    return stream is not None and stream.isatty()


@contextmanager
def progress(steps: int) -> Iterator[Callable[[], Any]]:
    """Provide a function to call after each step, which advances a bar if there is a terminal.

    For a single step there is no bar, because the bar would stay empty until the end.
    """
    if steps < 2 or not is_terminal(sys.stderr) or not find_spec("tqdm"):
        yield lambda: None
        return
    from tqdm import tqdm

    with tqdm(total=steps, leave=False) as bar:
        yield bar.update
