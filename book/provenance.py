"""Tables of numbers, each written together with what made it.

What is said here goes into the notebook, as an output that no page shows; when the book is built,
the record of the table is made from it.
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
"""What is smaller than this share of its reference is written as 0.

Rounding puts some 1e-16 of a number into its difference to an equal one, or into the spread of
equal ones, a hundred times that after long sums; how much depends on the processor. What the book
measures is larger than 1e-9 of its reference.
"""

PREFIX = "application/papermill.record/"
"""Outputs of such kinds are stored with a notebook, and left out of its page."""


def _public_name(maker: Maker) -> str:
    """Return the name by which a reader would import a function; one of a page has only its own."""
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
    thing = getattr(sys.modules[module], owner, None)
    places = accumulate(
        module.split("."), "{}.{}".format
    )  # a, a.b and a.b.c of "a.b.c"
    exporting = [
        place for place in places if getattr(sys.modules[place], owner, None) is thing
    ]
    return f"{exporting[0]}.{name}"


def _names(makers: Makers) -> list[str]:
    """Return the names of one function, or of several."""
    several = makers if isinstance(makers, Sequence) else [makers]
    if not several:
        raise ValueError("`made_by` must name at least one function, got none")
    return [_public_name(maker) for maker in several]


def _curves(frame: pd.DataFrame, made_by: Makers | Mapping[str, Makers]) -> Any:
    """Return the names of what made a table, or of what made each of its curves."""
    if not isinstance(made_by, Mapping):
        return _names(made_by)
    texts = frame.select_dtypes(exclude="number")
    known = {
        *frame.columns,
        *(str(value) for name in texts for value in texts[name].unique()),
    }
    if not made_by or not {*made_by} <= known:
        unknown = sorted({*made_by} - known)
        raise ValueError(
            f"`made_by` must name columns, or curves in a column, got {unknown}"
        )
    return {curve: _names(makers) for curve, makers in made_by.items()}


def _positive(name: str, value: int | Sequence[int] | None) -> list[int]:
    """Return one number, several or none as a list of whole positive numbers."""
    if value is None:
        return []
    several = value if isinstance(value, Sequence) else [value]
    if not all(isinstance(n, int | np.integer) and n > 0 for n in several):
        raise ValueError(
            f"`{name}` must be positive whole numbers, got {name}={value!r}"
        )
    return sorted(int(n) for n in several)


def _check_column(frame: pd.DataFrame, name: str, said: list[int]) -> None:
    """Refuse a seed or trials that are not those in the table's own column."""
    if name in frame:
        held = sorted({int(n) for n in frame[name].dropna()} - {0})
        if held != said:
            raise ValueError(
                f"`{name}` must be what the column holds, {held}, got {said}"
            )


def _without_noise(
    frame: pd.DataFrame, noise: Mapping[str, str | npt.ArrayLike]
) -> pd.DataFrame:
    """Return the table with 0 for what is rounding noise, and for -0.0."""
    spreads = [name for name in frame if re.search(r"standard_error$|_se$", str(name))]
    missing = sorted({*spreads} - {*noise})
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
        size = np.abs(
            np.asarray(frame[reference] if isinstance(reference, str) else reference)
        )
        values = frame[name].to_numpy()
        clean[name] = np.where(np.abs(values) < NOISE * size, 0.0, values)
    for name in clean.select_dtypes("floating"):
        clean[name] += 0.0
    return clean


def _tell(table: str, said: dict[str, Any]) -> None:
    """Store what was said with the notebook that runs, if one does."""
    interactive = sys.modules.get("IPython")
    if interactive and interactive.get_ipython():
        text = json.dumps(said, indent=1, ensure_ascii=False)
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
    """Write a table to data/NAME.csv, with six digits, and say what made it.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    name : str
        Its name: small letters, digits and hyphens.
    made_by : callable, sequence of callables, or mapping
        The functions that computed the numbers: of `userdp`, or of the page itself. A mapping tells
        them apart by curve, a column or what a column of text says.
    seed : int, optional
        What the page's random numbers start from; without it there are none.
    trials : int or sequence of int, optional
        Of how many random datasets or releases a number is the mean.
    noise : mapping, optional
        For columns that may hold rounding noise, what it is relative to: another column, or
        numbers. Each column that ends in `standard_error` or `_se` must be there.
    reads : sequence of str, optional
        What else the numbers come from: other tables, or data of others.
    index : str, optional
        What to call the index's column; without it the index is not written.

    Raises
    ------
    TypeError
        If `made_by` holds what is no function or class, or has no name.
    ValueError
        If an argument does not fit the table, or there are trials without a seed.

    Notes
    -----
    What is smaller than 1e-12 of what it is relative to is written as 0 (see `NOISE`), so that the
    table is the same on every processor. Everything else is kept, however small.
    """
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise ValueError(
            f"`name` must be small letters, digits and hyphens, got name={name!r}"
        )
    seeds = _positive("seed", seed)
    counts = _positive("trials", trials)
    if counts and not seeds:
        raise ValueError(
            f"`seed` must be given with trials, got trials={trials!r} alone"
        )
    for column, said in (("seed", seeds), ("trials", counts)):
        _check_column(frame, column, said)
    made = _curves(frame, made_by)
    clean = _without_noise(frame, noise or {})
    path = Path("data", f"{name}.csv")
    path.parent.mkdir(exist_ok=True)  # a chapter that was downloaded stands alone
    half = path.with_suffix(
        f".{os.getpid()}"
    )  # whoever reads meanwhile sees all of it, or the old
    clean.to_csv(half, index=bool(index), index_label=index, float_format="%.6g")
    half.replace(path)
    _tell(
        name,
        {
            "table": name,
            "seed": seed,
            "trials": counts,
            "made_by": made,
            "reads": [*reads],
        },
    )


def keep_record(
    table: Path, *, command: str, script: str, seed: int | None = None
) -> None:
    """Write beside a table what measured or found it, because it cannot be made again.

    Parameters
    ----------
    table : Path
        The CSV file.
    command : str
        What a reader would run.
    script : str
        The file that it runs, from the root of the repository.
    seed : int, optional
        What the random numbers start from.
    """
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    said = {"command": command, "script": script, "seed": seed, "sha256": digest}
    table.with_suffix(".json").write_text(
        json.dumps(said, indent=1) + "\n", encoding="utf-8"
    )
