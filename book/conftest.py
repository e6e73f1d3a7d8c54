"""Check the pictures and the collections of a chapter while `pytest --nbval` executes it.

nbval compares printed output, not pictures. After a cell with pictures has run, compare them with
the stored ones, and their data with the tables that the page offers below them. After the last
cell, compare the collections of users that the chapter made with those that
`make -C proofs bridge` takes for the chapter's.
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
# Other versions render slightly differently.
SAME_LIBRARIES = all(f"{x}=={version(x)} " in LOCKED for x in ("matplotlib", "seaborn"))
RECORD = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools")!r})
import collection_recorder, recorder
del sys.path[0]
recorder.start()
collection_recorder.start()
del sys, collection_recorder, recorder
"""
TAKE = "__import__('recorder').take()"
TAKE_COLLECTIONS = "__import__('collection_recorder').take()"
COLLECTIONS = (ROOT / "proofs" / "collections.jsonl").read_text("utf-8")
RECORDING = pytest.StashKey[bool]()
# Two kernels that start at the same time may choose the same port, and one of them never responds.
KERNEL_LOCK = FileLock(Path(tempfile.gettempdir(), "userdp-kernels.lock"), timeout=240)


def pytest_collection_modifyitems(items):
    """Mark all chapters as slow, except those of the first part, on the paper."""
    paper = {*parts()["The paper"]}
    for item in items:
        if item.path.suffix == ".ipynb" and item.path.stem not in paper:
            item.add_marker("slow")


def run(kernel, code, expression):
    """Run code in the kernel, and return the value of an expression."""
    expressions = {"value": expression}
    request = kernel.kc.execute(code, silent=True, user_expressions=expressions)
    while (reply := kernel.get_message("shell", timeout=60))["parent_header"][
        "msg_id"
    ] != request:
        pass
    result = reply["content"]["user_expressions"]["value"]
    assert result["status"] == "ok", result
    return ast.literal_eval(result["data"]["text/plain"])


def pngs(outputs):
    """Return the data of the outputs that are pictures."""
    contents = [output.get("data", {}) for output in outputs]
    return [data for data in contents if "image/png" in data]


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


def other_collections(item):
    """Yield a sentence if, after the last cell, the page made other collections than stored."""
    *_, last = (cell for cell in item.parent.nb.cells if cell.cell_type == "code")
    if item.cell is not last:
        return
    recorded = json.loads(run(item.parent.kernel, "", TAKE_COLLECTIONS))
    stored = [json.loads(line) for line in COLLECTIONS.splitlines()]
    if recorded != [record for page, *record in stored if page == item.path.stem]:
        yield "not the stored collections: run `make refresh`"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Start kernels one at a time, and record figures, beginning with the first cell."""
    with KERNEL_LOCK:
        yield
    if item.path.suffix == ".ipynb" and RECORDING not in item.parent.stash:
        item.parent.stash[RECORDING] = run(item.parent.kernel, RECORD, "True")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run a cell, then check its pictures, and the collections after the last one."""
    yield
    if item.path.suffix != ".ipynb":
        return
    if sentences := [*faults(item), *other_collections(item)]:
        figure = item.cell.metadata.get("mystnb", {}).get("figure", {})
        page = ", ".join([item.path.stem, *filter(None, [figure.get("name")])])
        item.raise_cell_error(
            "\n".join(f"{page}: {sentence}" for sentence in sentences)
        )
