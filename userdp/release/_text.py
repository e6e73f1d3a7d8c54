"""Why DuckDB cannot read a CSV file: the causes that a user can remove.

A file is inspected only if DuckDB failed, or did not find a column. The message names the file and
what is wrong with its form; it quotes no row and no name of a column that was not requested.
"""

import codecs
import csv
import gzip
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from userdp import _checks as check
from userdp.release._columns import HOLD, as_argument
from userdp.release._quiet import NOTHING_SPENT

BLOCK = 1 << 20
"""Bytes that are decoded at a time."""

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}

INSTEAD = "or read it yourself and pass the table, with the ids as text"

AS_NUMBERS = (
    "Write numbers with a decimal point (12.5, not 12,5), without units or thousands "
    f"separators, and leave missing values empty, {INSTEAD}"
)


def refuse_text(values: Iterable[str], paths: Iterable[Path]) -> None:
    """Raise because entries of a column of values are not numbers."""
    columns = " or ".join(as_argument("value", name) for name in values)
    where = ", ".join(repr(str(path)) for path in paths)
    raise ValueError(
        f"`value` must hold {HOLD['value']}, got {columns} with entries that are "
        f"not numbers in {where}. {AS_NUMBERS}. {NOTHING_SPENT}"
    )


def refuse_form(path: Path) -> None:
    """Raise if a file is not in UTF-8, is not separated by commas, or has ragged rows."""
    if not _is_utf8(path):
        got = f"another encoding in {str(path)!r}, perhaps Latin-1 or UTF-16"
        check.refuse("data", "be text in UTF-8", f"{got}. Convert the file, {INSTEAD}")
    n_fields, is_ragged = 0, False
    with suppress(csv.Error, OSError), _open(path) as file:
        rows = csv.reader(TextIOWrapper(file, "utf-8", newline=""))
        heading = next(rows, [])
        refuse_separator(path, heading)
        n_fields = len(heading)
        is_ragged = any(row and len(row) != n_fields for row in rows)
    if is_ragged:
        got = f"{n_fields} in the heading of {str(path)!r} and another number in some row"
        advice = "Put fields that contain commas in double quotes, and write 12.5 instead of 12,5"
        check.refuse(
            "data", "have the same number of fields in each row", f"{got}. {advice}, {INSTEAD}"
        )


def refuse_separator(path: Path, heading: Sequence[str]) -> None:
    """Raise if the heading of a file is one name that contains another separator."""
    if len(heading) != 1:
        return
    for separator, words in SEPARATORS.items():
        if separator in heading[0]:
            got = f"{words} in the heading of {str(path)!r}"
            advice = "Write commas between fields and points in numbers"
            check.refuse("data", "be separated by commas", f"{got}. {advice}, {INSTEAD}")


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with suppress(UnicodeDecodeError), _open(path) as file:
        while block := file.read(BLOCK):
            decoder.decode(block)
        decoder.decode(b"", final=True)
        return True
    return False


def _open(path: Path) -> Any:
    return gzip.open(path) if path.name.endswith(".gz") else path.open("rb")
