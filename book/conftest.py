"""Check the pictures of a chapter while `pytest --nbval` executes it.

nbval compares what cells print, and no pictures. Here, after a cell with pictures has run, they are
compared with the stored ones, and what they draw with the tables that the page offers below them.
"""

import ast
import json
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest
from filelock import FileLock

from tools import pictures
from tools.ext.contents import parts

ROOT = Path(__file__).resolve().parent.parent
LOCKED = (ROOT / "requirements" / "book.lock").read_text("utf-8")
# Other versions draw a line or a letter somewhere else.
SAME_LIBRARIES = all(f"{x}=={version(x)} " in LOCKED for x in ("matplotlib", "seaborn"))
RECORD = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools")!r})
import drawn
del sys.path[0]
drawn.record()
del sys, drawn
"""
TAKE = "__import__('drawn').taken()"
RECORDING = pytest.StashKey[bool]()
# Two kernels that start at the same time may choose the same port, and one of them never responds.
KERNELS = FileLock(Path(tempfile.gettempdir(), "userdp-kernels.lock"), timeout=240)


def pytest_collection_modifyitems(items):
    """Leave chapters to `make test-all`, but for those of the first part, on the paper."""
    paper = {*parts()["The paper"]}
    for item in items:
        if item.path.suffix == ".ipynb" and item.path.stem not in paper:
            item.add_marker("slow")


def run(kernel, code, expression):
    """Run code that no cell has, and return what an expression then is."""
    expressions = {"value": expression}
    asked = kernel.kc.execute(code, silent=True, user_expressions=expressions)
    while (reply := kernel.get_message("shell", timeout=60))["parent_header"][
        "msg_id"
    ] != asked:
        pass
    found = reply["content"]["user_expressions"]["value"]
    assert found["status"] == "ok", found
    return ast.literal_eval(found["data"]["text/plain"])


def pngs(outputs):
    kept = [output.get("data", {}) for output in outputs]
    return [data for data in kept if "image/png" in data]


def faults(item):
    """Yield what is wrong with the pictures of a cell that has run."""
    cells, cell = item.parent.nb.cells, item.cell
    stored, fresh = pngs(cell.outputs), pngs(item.test_outputs)
    if not stored and not fresh:
        return
    figures = json.loads(run(item.parent.kernel, "", TAKE))
    if not len(figures) == len(stored) == len(fresh):
        yield f"{len(stored)} stored, {len(fresh)} shown, {len(figures)} recorded"
        return
    number = next(i for i, other in enumerate(cells) if other is cell)
    tables = [pictures.Table.stored(name) for name in pictures.offered(cells, number)]
    for figure in figures:
        yield from pictures.faults(figure, tables)
    if SAME_LIBRARIES and pictures.differing(stored, fresh):
        yield "the picture does not look as it is stored"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Start kernels one after the other, and record what is drawn from the first cell on."""
    with KERNELS:
        yield
    if item.path.suffix == ".ipynb" and RECORDING not in item.parent.stash:
        item.parent.stash[RECORDING] = run(item.parent.kernel, RECORD, "True")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run a cell, and then look at its pictures."""
    yield
    if item.path.suffix == ".ipynb" and (found := list(faults(item))):
        figure = item.cell.metadata.get("mystnb", {}).get("figure", {})
        page = ", ".join([item.path.stem, *filter(None, [figure.get("name")])])
        item.raise_cell_error("\n".join(f"{page}: {sentence}" for sentence in found))
