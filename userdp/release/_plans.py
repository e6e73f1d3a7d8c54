"""What a query of DuckDB reads: Python objects are refused, however they are wrapped.

DuckDB converts objects to text or addresses, so one person may have several ids, and a cast or a
hash hides this. What a query reads is therefore checked, not what it returns.
"""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from userdp.release._columns import as_argument

ARROW_SCANS = ("arrow_scan", "arrow_scan_dumb")
"""Functions that read Arrow data, which hold no Python objects; but bytes may be addresses."""

PYTHON_SCANS = (*ARROW_SCANS, "pandas_scan", "python_map_function")
"""All functions that DuckDB's Python package adds to read data in Python."""


def plan_query(query: str) -> str:
    """Return a query that yields the plan of another as JSON, before DuckDB optimises it."""
    quoted = query.replace("'", "''")
    return f"SELECT system.main.json_serialize_plan('{quoted}')"


def plan_reads_objects(plan: Any) -> bool:
    """Whether a query with this plan may read Python objects, or data derived from them.

    DuckDB has no plan for frames of pandas and for CSV files. It reads polars' objects as bytes,
    which are addresses. A result that is fetched already (a chunk) does not show its origin.
    """
    if plan["error"]:
        return True
    for step in _steps_of(plan["plans"]):
        if step["type"] == "LOGICAL_CHUNK_GET":
            return True
        name = step.get("name")
        if name in ARROW_SCANS:
            columns = {column["index"] for column in step["column_indexes"]}
            types = enumerate(step["returned_types"])
            if any("BLOB" in json.dumps(kind) for i, kind in types if i in columns):
                return True
        elif name in PYTHON_SCANS:
            return True
    return False


def _steps_of(plan: Any) -> Iterator[Any]:
    """Walk through the operators of a plan, which are nested in its lists."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            if str(node.get("type")).startswith("LOGICAL_"):
                yield node
            waiting += node.values()


def refuse_objects(name: str, kind: object) -> NoReturn:
    """Raise because users are bytes in DuckDB, which may be addresses of objects.

    DuckDB reads objects of polars as bytes; in a table they look like any other bytes.
    """
    raise TypeError(
        f"`user` must not be bytes in an engine, got {as_argument('user', name)} of type {kind}: "
        "they may be memory addresses that DuckDB took from objects of polars, and one person can "
        "have several addresses. Pass the frame or file itself, or ids as text or whole numbers."
    )


def refuse_scan() -> NoReturn:
    """Raise because a query of DuckDB may read Python objects."""
    raise TypeError(
        "`data` must not be a query in which DuckDB reads a frame that may hold Python objects, "
        "because DuckDB may give one person several ids: a frame of pandas, one of polars with "
        "bytes or objects, a result that was already fetched, or (in a relation) a CSV file. Pass "
        "the frame or the file itself, or an Ibis table of its Arrow table."
    )
