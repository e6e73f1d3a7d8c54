"""Execute every page of this copy of the repository, and compare all results with the stored ones.

Run by `make verify` in a clean environment, with the folder that holds what is stored. Every number
of every table and of every printed output is compared with its twin, and every picture pixel by
pixel: equal means equal to the last digit. All differences go to differences.csv; the first of each
page are printed. Times are not compared.
"""

import base64
import csv
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from math import inf, isnan
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import numpy as np
import provenance
import refresh
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from PIL import Image
from tqdm import tqdm

NUMBER = re.compile(r"([-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b)")
MISSING = "(missing)"
LISTED = 20  # differences of a page that are printed


class Difference(NamedTuple):
    """Something that is not equal: where, what is stored, and what came out."""

    where: str
    stored: str
    new: str

    def sizes(self) -> tuple[float, float] | None:
        """Return the absolute and the relative difference of two numbers."""
        try:
            stored, new = (float(text.replace(",", "")) for text in (self.stored, self.new))
        except ValueError:
            return None
        absolute = abs(new - stored)
        return absolute, absolute / abs(stored) if stored else inf

    def __str__(self) -> str:
        """Say it in one line."""
        sizes = self.sizes()
        by = f" (by {sizes[0]:.3g}, relatively {sizes[1]:.3g})" if sizes else ""
        stored, new = (shorten(text) for text in (self.stored, self.new))
        return f"{self.where}: stored {stored}, now {new}{by}"


@dataclass
class Comparison:
    """What was compared on a page, and what differs."""

    tables: int = 0
    numbers: int = 0
    pictures: int = 0
    differences: list[Difference] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Say it in one line."""
        compared = f"{self.tables} tables, {self.numbers:,} numbers, {self.pictures} pictures"
        found = len(self.differences)
        return f"{compared}: {f'{found:,} DIFFERENCES' if found else 'equal'}"

    def differ(self, where: str, stored: object, new: object) -> None:
        """Note a difference."""
        self.differences.append(Difference(where, str(stored), str(new)))

    def compare(self, where: str, stored: object, new: object) -> bool:
        """Note a difference, if it is one; return whether it is none."""
        if stored != new:
            self.differ(where, stored, new)
        return stored == new


def shorten(text: str) -> str:
    """Return a text that fits into a line of a report."""
    return repr(text) if len(text) <= 60 else repr(text[:57] + "...")


# --- Texts and pictures ---------------------------------------------------------------------------


def compare_lines(found: Comparison, where: str, stored: str, new: str) -> None:
    """Compare two lines: number by number if all between the numbers is the same."""
    before, after = NUMBER.split(stored), NUMBER.split(new)  # words and numbers in turn
    words = [[" ".join(part.split()) for part in parts[::2]] for parts in (before, after)]
    if words[0] == words[1] and before[1::2] != after[1::2]:
        for place, (a, b) in enumerate(zip(before[1::2], after[1::2], strict=True), start=1):
            found.compare(f"{where}, number {place}", a, b)
    else:
        found.compare(where, stored, new)


def compare_texts(found: Comparison, where: str, stored: str, new: str) -> None:
    """Compare two texts line by line."""
    found.numbers += len(NUMBER.findall(stored))
    lines = zip_longest(stored.split("\n"), new.split("\n"), fillvalue=MISSING)
    for number, (a, b) in enumerate(lines, start=1):
        if a != b:
            compare_lines(found, f"{where}, line {number}", a, b)


def compare_pictures(found: Comparison, where: str, stored: str, new: str) -> None:
    """Compare two pictures, byte by byte and then pixel by pixel."""
    found.pictures += 1
    if stored == new:
        return
    images = [Image.open(io.BytesIO(base64.b64decode(text))) for text in (stored, new)]
    if not found.compare(f"{where}, size", *(image.size for image in images)):
        return
    a, b = (np.asarray(image.convert("RGBA"), dtype=int) for image in images)
    away = np.abs(a - b).max(axis=-1)
    found.differ(
        where,
        "a picture",
        f"{np.mean(away > 0):.3%} of its pixels differ, by at most {away.max()} of 255"
        if away.any()
        else "the same pixels in other bytes",
    )


# --- Pages ----------------------------------------------------------------------------------------


def pieces(output: NotebookNode) -> dict[str, Any]:
    """Return all that an output shows, each by its kind; of pictures the text that encodes them."""
    if output.output_type == "stream":
        return {output.name: output.text}
    if output.output_type == "error":
        return {"error": "\n".join([output.ename, output.evalue])}
    return dict(output.data) | {"metadata": output.metadata}


def compare_outputs(found: Comparison, where: str, stored: NotebookNode, new: NotebookNode) -> None:
    """Compare two outputs of a cell."""
    found.compare(f"{where}, kind", stored.output_type, new.output_type)
    before, after = pieces(stored), pieces(new)
    for kind in sorted(before.keys() | after.keys()):
        a, b = before.get(kind), after.get(kind)
        place = f"{where}, {kind}"
        if a is None or b is None:
            found.differ(place, *(MISSING if x is None else "there" for x in (a, b)))
        elif kind.startswith("image/") and kind != "image/svg+xml":
            compare_pictures(found, place, a, b)
        elif isinstance(a, str) and isinstance(b, str):
            compare_texts(found, place, a, b)
        else:
            compare_texts(found, place, *(json.dumps(x, indent=1, sort_keys=True) for x in (a, b)))


def compare_notebooks(found: Comparison, stored: NotebookNode, new: NotebookNode) -> None:
    """Compare the cells of a page and all their outputs."""
    for a, b in zip_longest(stored.cells, new.cells):
        where = (a or b).id
        if a is None or b is None:
            found.differ(where, *(MISSING if cell is None else "there" for cell in (a, b)))
            continue
        found.compare(f"{where}, source", a.source, b.source)
        outputs = zip_longest(a.get("outputs", []), b.get("outputs", []))
        for number, (x, y) in enumerate(outputs, start=1):
            place = f"{where}, output {number}"
            if x is None or y is None:
                found.differ(place, *(MISSING if o is None else pieces(o) for o in (x, y)))
            else:
                compare_outputs(found, place, x, y)


# --- Tables and their records ---------------------------------------------------------------------


def compare_tables(found: Comparison, name: str, stored: str, new: str) -> None:
    """Compare two tables, as the text of their CSV files, field by field."""
    found.tables += 1
    (columns, *before), (fresh, *after) = (
        list(csv.reader(io.StringIO(text))) or [[]] for text in (stored, new)
    )
    found.compare(f"{name}, columns", ",".join(columns), ",".join(fresh))
    known = len(found.differences)
    for number, (a, b) in enumerate(zip_longest(before, after), start=1):
        where = f"{name}, row {number}"
        if a is None or b is None or len(a) != len(b):
            found.differ(where, *(MISSING if row is None else ",".join(row) for row in (a, b)))
            continue
        for column, x, y in zip_longest(columns, a, b, fillvalue="?"):
            found.compare(f"{where}, {column}", x, y)
        found.numbers += sum(bool(NUMBER.fullmatch(text)) for text in a)
    if stored != new and len(found.differences) == known:
        found.compare(f"{name}, bytes", stored, new)


def compare_records(found: Comparison, name: str, stored: Any, new: Any) -> None:
    """Compare what is recorded with what would be recorded now; versions if Python is the same."""
    other = stored.get("python") != new.get("python")
    skipped = {"python", "packages"} if other and "python" in new else set()
    for key in sorted((stored.keys() | new.keys()) - skipped):
        found.compare(f"{name}, {key}", stored.get(key, MISSING), new.get(key, MISSING))


# --- All of it ------------------------------------------------------------------------------------


def compare_page(stored: Path, page: Path) -> Comparison:
    """Execute a page and compare it with the stored one."""
    found = Comparison()
    try:
        new = refresh.execute(page)
    except CellExecutionError as error:
        found.differ("a cell", "runs", f"{error.ename}: {error.evalue}")
        return found
    compare_notebooks(found, nbformat.read(stored / "book" / page.name, as_version=4), new)
    return found


def compare_data(stored: Path, table: str, found: Comparison) -> None:
    """Compare a table that the pages have just written with the stored one, and its record."""
    path, record = provenance.DATA / f"{table}.csv", stored / "book" / "data" / f"{table}.json"
    new = provenance.record(table)
    if path.stat().st_mtime == 0 and new.get("kept", True):
        found.kept.append(path.name)
    elif path.stat().st_mtime == 0:
        found.differ(path.name, f"written by {new['cell']}", "not written")
    else:
        texts = (file.read_bytes().decode() for file in (record.with_suffix(".csv"), path))
        compare_tables(found, path.name, *texts)
    compare_records(found, record.name, json.loads(record.read_text(encoding="utf-8")), new)


def compare_files(stored: Path, found: Comparison) -> list[str]:
    """Note which pages, tables and records are here or there only; return the tables of both."""
    both = {}
    for pattern in ("*.ipynb", "data/*.csv", "data/*.json"):
        roots = (stored, provenance.ROOT)
        there, here = ({path.stem for path in (r / "book").glob(pattern)} for r in roots)
        for name in sorted(there ^ here):
            where = pattern.replace("*", name)
            found.differ(where, *("there" if name in names else MISSING for names in (there, here)))
        both[pattern] = there & here
    return sorted(both["data/*.csv"] & both["data/*.json"])


def everything(stored: Path) -> dict[str, Comparison]:
    """Execute and compare all; return what was found on each page, and in what none writes."""
    tables = sorted(provenance.DATA.glob("*.csv"))
    for table in tables:
        os.utime(table, (0, 0))  # whatever a page writes becomes newer
    pages = [p for p in sorted(refresh.BOOK.glob("*.ipynb")) if (stored / "book" / p.name).exists()]
    bar = tqdm(pages, unit="page", disable=None)
    found = {page.stem: compare_page(stored, page) for page in bar}
    found |= {"measured": Comparison(), "files": Comparison()}
    for table in compare_files(stored, found["files"]):
        compare_data(stored, table, found.get(provenance.written_by(table), found["measured"]))
    return found


def report(found: dict[str, Comparison]) -> Iterator[str]:
    """Yield the lines of the report."""
    width = max(map(len, found))
    for name, comparison in found.items():
        yield f"{name:{width}}  {comparison}"
        yield from (f"  {difference}" for difference in comparison.differences[:LISTED])
        if len(comparison.differences) > LISTED:
            yield f"  ... and {len(comparison.differences) - LISTED:,} more in differences.csv"
    every = [difference for c in found.values() for difference in c.differences]
    if kept := [name for comparison in found.values() for name in comparison.kept]:
        yield f"Measured or found once, and not made again: {', '.join(kept)}"
    numbers = [(d.sizes()[1], d) for d in every if d.sizes()]
    if numbers:
        size = lambda pair: inf if isnan(pair[0]) else pair[0]  # noqa: E731
        yield f"The largest relative difference of a number: {max(numbers, key=size)[1]}"
    counts = [(c.tables, c.numbers, c.pictures) for c in found.values()]
    total = Comparison(*map(sum, zip(*counts, strict=True)), every)
    yield f"All together: {total}"


def store(found: dict[str, Comparison], path: Path) -> None:
    """Write all differences to a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["page", "where", "stored", "new", "absolute", "relative"])
        for name, comparison in found.items():
            for difference in comparison.differences:
                rows.writerow([name, *difference, *(difference.sizes() or ("", ""))])


def main(stored: Path) -> int:
    """Compare everything; return the exit status."""
    records = [json.loads(path.read_text("utf-8")) for path in provenance.DATA.glob("*.json")]
    recorded = {record["python"] for record in records if "python" in record}
    if recorded != {provenance.python()}:
        print(
            f"This is Python {provenance.python()}; the records are of {', '.join(recorded)}: the "
            "versions of Python and of packages are not compared."
        )
    found = everything(stored)
    store(found, provenance.ROOT / "differences.csv")
    print("\n".join(report(found)))
    return int(any(comparison.differences for comparison in found.values()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
