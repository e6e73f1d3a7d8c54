"""Re-execute the chapters and store their outputs, byte for byte the same if nothing changed.

What differs from run to run or from machine to machine is left out: execution times, the version
of Python, random cell ids. How long a chapter took is stored too, in a file of its own, when
anything else of it is new. The picture in README.md is taken from the landing page.

Refreshes the chapters that are named, or all.
"""

import base64
import csv
import sys
import time
from pathlib import Path

import nbformat
from contents import BOOK
from nbclient import NotebookClient
from nbformat import NotebookNode
from tqdm import tqdm

SECONDS = BOOK / "seconds.csv"
LANDING_PAGE = BOOK / "index.ipynb"
LANDING_PICTURE = BOOK / "_static" / "landing.png"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def normalise(notebook: NotebookNode) -> None:
    """Drop from an executed notebook whatever is not reproducible."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02d}"
        cell.metadata.pop("execution", None)


def execute(path: Path) -> NotebookNode:
    """Execute one chapter in its own folder, as the file is; return what is to be stored."""
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
    client.execute()
    normalise(notebook)
    nbformat.validate(notebook)
    return notebook


def refresh(path: Path) -> tuple[float, bool]:
    """Execute one chapter and write it back; return the seconds, and whether anything is new."""
    before, start = path.read_text(encoding="utf-8"), time.perf_counter()
    after = nbformat.writes(execute(path)) + "\n"
    path.write_text(after, encoding="utf-8")
    return time.perf_counter() - start, after != before


def first_picture(path: Path) -> bytes:
    """Return the first PNG image among a chapter's stored outputs."""
    outputs = [out for cell in nbformat.read(path, 4).cells for out in cell.get("outputs", [])]
    pictures = (out.data["image/png"] for out in outputs if "image/png" in out.get("data", {}))
    return base64.b64decode(next(pictures))


def store_seconds(took: dict[str, tuple[float, bool]]) -> None:
    """Store how long the chapters took of which anything is new; the others keep their times."""
    with SECONDS.open(encoding="utf-8", newline="") as file:
        known = {row["chapter"]: row["seconds"] for row in csv.DictReader(file)}
    known |= {n: f"{s:.1f}" for n, (s, new) in took.items() if new or n not in known}
    rows = [(name, known[name]) for name in sorted(known) if (BOOK / f"{name}.ipynb").exists()]
    with SECONDS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("chapter", "seconds"), *rows])


def main(names: list[str]) -> None:
    """Refresh some chapters, or all."""
    chapters = [BOOK / f"{name}.ipynb" for name in names] or sorted(BOOK.glob("*.ipynb"))
    took = {path.stem: refresh(path) for path in tqdm(chapters, unit="chapter", disable=None)}
    store_seconds(took)
    LANDING_PICTURE.write_bytes(first_picture(LANDING_PAGE))


if __name__ == "__main__":
    main(sys.argv[1:])
