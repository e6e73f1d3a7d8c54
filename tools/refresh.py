"""Re-execute the chapters and store their outputs, byte for byte the same if nothing changed.

What differs from run to run or from machine to machine is left out: execution times, the version
of Python, random cell ids. The picture in README.md is taken from the landing page.
"""

import base64
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from tqdm import tqdm

BOOK = Path(__file__).resolve().parent.parent / "book"
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


def refresh(path: Path) -> None:
    """Execute one chapter in its own folder and write it back."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    normalise(notebook)
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def pictures(path: Path) -> list[bytes]:
    """Return the PNG images among a chapter's stored outputs."""
    outputs = [out for cell in nbformat.read(path, 4).cells for out in cell.get("outputs", [])]
    return [
        base64.b64decode(output.data["image/png"])
        for output in outputs
        if "image/png" in output.get("data", {})
    ]


if __name__ == "__main__":
    for chapter in tqdm(sorted(BOOK.glob("*.ipynb")), unit="chapter", disable=None):
        refresh(chapter)
    LANDING_PICTURE.write_bytes(pictures(LANDING_PAGE)[0])
