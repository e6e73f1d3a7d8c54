"""Write tables of numbers, each with a record of its origin.

The record is stored in the notebook, as an output that pages do not show; the build of the book
turns it into an entry of the page `record`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Maker = Callable[..., Any]
Makers = Maker | Sequence[Maker]

NOISE = 1e-12
"""Numbers smaller than this share of their reference are written as 0.

Rounding makes the difference or the spread of equal numbers about 1e-16 of their size, a hundred
times that after long sums; the amount depends on the processor. Everything that the book measures
is larger than 1e-9 of its reference.
"""

PREFIX = "application/papermill.record/"
"""Outputs whose MIME types begin so are stored in a notebook, but not shown on its page."""


def _public_name(maker: Maker) -> str:
    """Return the name by which to import a function; if a page defines it, its bare name."""
    while isinstance(maker, partial):
        maker = maker.func
    module = getattr(maker, "__module__", None)
    name = getattr(maker, "__qualname__", "<unknown>")
    if not callable(maker) or not module or "<" in name:
        raise TypeError(
            f"`made_by` must hold functions or classes that have a name, got {maker!r}"
        )
    if module == "__main__":
        return name
    # The outermost package that exports it, or its module.
    owner = name.partition(".")[0]
    exported = getattr(sys.modules[module], owner, None)
    modules = accumulate(
        module.split("."), "{}.{}".format
    )  # a, a.b and a.b.c of "a.b.c"
    exporting = [
        path for path in modules if getattr(sys.modules[path], owner, None) is exported
    ]
    return f"{exporting[0]}.{name}"


def _names(makers: Makers) -> list[str]:
    """Return the names of one function, or of several."""
    maker_list = makers if isinstance(makers, Sequence) else [makers]
    if not maker_list:
        raise ValueError("`made_by` must name at least one function, got none")
    return [_public_name(maker) for maker in maker_list]


def _curves(frame: pd.DataFrame, made_by: Makers | Mapping[str, Makers]) -> Any:
    """Return the names of the functions that made a table, or each of its curves."""
    if not isinstance(made_by, Mapping):
        return _names(made_by)
    texts = frame.select_dtypes(exclude="number")
    names = {
        *frame.columns,
        *(str(value) for name in texts for value in texts[name].unique()),
    }
    if not made_by or not {*made_by} <= names:
        unknown = sorted({*made_by} - names)
        raise ValueError(
            f"`made_by` must name columns, or curves in a column, got {unknown}"
        )
    return {curve: _names(makers) for curve, makers in made_by.items()}


def _positive(name: str, value: int | Sequence[int] | None) -> list[int]:
    """Return one positive whole number, several or none as a list."""
    if value is None:
        return []
    values = value if isinstance(value, Sequence) else [value]
    if not all(isinstance(n, int | np.integer) and n > 0 for n in values):
        raise ValueError(
            f"`{name}` must be positive whole numbers, got {name}={value!r}"
        )
    return sorted(int(n) for n in values)


def _check_column(frame: pd.DataFrame, name: str, passed: list[int]) -> None:
    """Raise if the seed or trials differ from those in the table's own column."""
    if name in frame:
        stored = sorted({int(n) for n in frame[name].dropna()} - {0})
        if stored != passed:
            raise ValueError(
                f"`{name}` must be what the column holds, {stored}, got {passed}"
            )


def _without_noise(
    frame: pd.DataFrame, noise: Mapping[str, str | npt.ArrayLike]
) -> pd.DataFrame:
    """Return the table with 0 in place of rounding noise and of -0.0."""
    error_columns = [
        name for name in frame if re.search(r"standard_error$|_se$", str(name))
    ]
    missing = sorted({*error_columns} - {*noise})
    if missing:
        raise ValueError(f"`noise` must say what {missing} are relative to")
    references = {
        reference for reference in noise.values() if isinstance(reference, str)
    }
    unknown = sorted({*noise, *references} - {*frame})
    if unknown:
        raise ValueError(f"`noise` must name columns, got {unknown}")
    clean = frame.copy()
    for name, reference in noise.items():
        scale = np.abs(
            np.asarray(frame[reference] if isinstance(reference, str) else reference)
        )
        values = frame[name].to_numpy()
        clean[name] = np.where(np.abs(values) < NOISE * scale, 0.0, values)
    for name in clean.select_dtypes("floating"):
        clean[name] += 0.0
    return clean


def _store_record(table: str, record: dict[str, Any]) -> None:
    """Store a table's record in the running notebook, if there is one."""
    interactive = sys.modules.get("IPython")
    if interactive and interactive.get_ipython():
        text = json.dumps(record, indent=1, ensure_ascii=False)
        about = {"scrapbook": {"name": f"table {table}", "mime_prefix": PREFIX}}
        interactive.display.display(
            {f"{PREFIX}text/plain": text}, metadata=about, raw=True
        )


def write_table(
    frame: pd.DataFrame,
    name: str,
    *,
    made_by: Makers | Mapping[str, Makers],
    seed: int | None = None,
    trials: int | Sequence[int] | None = None,
    noise: Mapping[str, str | npt.ArrayLike] | None = None,
    reads: Sequence[str] = (),
    index: str | None = None,
) -> None:
    """Write a table to data/NAME.csv, with six digits, and record its origin.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    name : str
        Its name: lower-case letters, digits and hyphens.
    made_by : callable, sequence of callables, or mapping
        The functions that computed the numbers: of `userdp`, or of the page itself. A mapping
        gives the functions of each curve: of a column, or of the rows with a certain text.
    seed : int, optional
        The seed of the page's random numbers; omit it if there are none.
    trials : int or sequence of int, optional
        The number of random datasets or releases over which numbers are averaged.
    noise : mapping, optional
        The reference for each column that may hold rounding noise: another column, or numbers.
        It must have each column whose name ends in `standard_error` or `_se`.
    reads : sequence of str, optional
        Other sources of the numbers: tables, or external data.
    index : str, optional
        The name of the index's column; without it, the index is not written.

    Raises
    ------
    TypeError
        If an entry of `made_by` is not a function or class with a name.
    ValueError
        If an argument is inconsistent with the table, or `trials` is given without a seed.

    Notes
    -----
    Numbers smaller than 1e-12 of their reference are written as 0 (see `NOISE`), so that the table
    is the same on every processor. All other numbers are kept, however small.
    """
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise ValueError(
            f"`name` must be lower-case letters, digits and hyphens, got name={name!r}"
        )
    seeds = _positive("seed", seed)
    counts = _positive("trials", trials)
    if counts and not seeds:
        raise ValueError(
            f"`seed` must be given with trials, got trials={trials!r} alone"
        )
    for column, passed in (("seed", seeds), ("trials", counts)):
        _check_column(frame, column, passed)
    makers = _curves(frame, made_by)
    clean = _without_noise(frame, noise or {})
    path = Path("data", f"{name}.csv")
    path.parent.mkdir(exist_ok=True)  # a downloaded chapter has no data folder
    # Replace the file at once, so that another process never reads an incomplete one.
    temporary = path.with_suffix(f".{os.getpid()}")
    clean.to_csv(temporary, index=bool(index), index_label=index, float_format="%.6g")
    temporary.replace(path)
    _store_record(
        name,
        {
            "table": name,
            "seed": seed,
            "trials": counts,
            "made_by": makers,
            "reads": [*reads],
        },
    )


def keep_record(
    table: Path, *, command: str, script: str, seed: int | None = None
) -> None:
    """Write the record of a table that cannot be reproduced exactly to a file beside it.

    Parameters
    ----------
    table : Path
        The CSV file.
    command : str
        The command that makes the table.
    script : str
        The script that it runs, relative to the root of the repository.
    seed : int, optional
        The seed of its random numbers.
    """
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    record = {"command": command, "script": script, "seed": seed, "sha256": digest}
    table.with_suffix(".json").write_text(
        json.dumps(record, indent=1) + "\n", encoding="utf-8"
    )
