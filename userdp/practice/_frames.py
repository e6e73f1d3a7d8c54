"""Two columns of a frame: whatever has columns by name, fetched at once if it is not in memory."""

from collections.abc import Mapping
from typing import Any

from userdp.practice._columns import comes_from
from userdp.practice._names import (
    called,
    check_names,
    refuse_difference,
    refuse_kind,
    refuse_objects,
)
from userdp.practice._queries import ONE_AT_A_TIME
from userdp.practice._quiet import quietly

READABLE = "readable by its engine, which failed"

KEPT = (
    *("tinyint", "smallint", "integer", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint"),
    *("float", "double", "decimal", "varchar", "enum", "blob", "uuid"),
    *("date", "timestamp", "timestamp with time zone"),
    *("timestamp_s", "timestamp_ms", "timestamp_ns"),
)
"""Types of DuckDB whose entries reach Arrow as they are: others may lose a zone or a digit."""


def columns_of(data: Any, user: str, value: str | None) -> tuple[Any, Any]:
    """Return the columns of users and of values, if any, of a frame."""
    if comes_from("_duckdb", data):
        data = _fetch_relation(data, user, value)
    elif comes_from("polars", data) and hasattr(data, "collect"):
        check_names(data.collect_schema().names(), user, value)
        lazy = data.select(_listed(user, value))
        data = quietly(lazy.collect, READABLE)
    elif comes_from("pyarrow", data) and hasattr(data, "get_fragments"):
        data = _fetch_dataset(data, user, value)
    elif comes_from("pyarrow", data) and hasattr(data, "column_names"):
        check_names(data.column_names, user, value)
    elif isinstance(data, Mapping) or hasattr(data, "columns"):
        check_names(getattr(data, "columns", data), user, value)
    else:
        kind = type(data).__name__
        raise TypeError(
            f"`data` must be a file, a frame or an Ibis table, got a {kind}. Fetch it as one."
        )
    return data[user], None if value is None else data[value]


def _listed(user: str, value: str | None) -> list[str]:
    return [user] if value is None else [user, value]


def _fetch_relation(relation: Any, user: str, value: str | None) -> Any:
    """Return a table of Arrow; a connection of DuckDB does not serve several threads at once."""
    names = _listed(user, value)
    with ONE_AT_A_TIME:
        check_names(relation.columns, user, value, fold=True)
        types = dict(zip(relation.columns, relation.types, strict=True))
        for argument, name in zip(("user", "value"), names, strict=False):
            if types[name].id not in KEPT:
                refuse_kind(argument, f"{called(argument, name)} of DuckDB's type {types[name]}")
        kind = types[user].id
        if kind == "blob" or (kind == "varchar" and _reads_pandas(relation)):
            refuse_objects(user, types[user])
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        narrow = relation.project(quoted)
        return quietly(narrow.to_arrow_table, READABLE)


def _reads_pandas(relation: Any) -> bool:
    plan = quietly(relation.explain, READABLE)
    return "PANDAS_SCAN" in plan


def _fetch_dataset(dataset: Any, user: str, value: str | None) -> Any:
    """Return a table of Arrow, which casts what differs from file to file: that is refused."""
    from pyarrow.dataset import get_partition_keys

    check_names(dataset.schema.names, user, value)
    names = _listed(user, value)
    fragments = quietly(
        lambda: [(part, part.physical_schema) for part in dataset.get_fragments()], READABLE
    )
    for part, schema in fragments:
        owner = repr(getattr(part, "path", "a part"))
        by_folder = get_partition_keys(part.partition_expression)
        check_names([*schema.names, *by_folder], user, value, owner=owner)
        for name in set(names) - set(by_folder):
            kinds = {"the dataset": dataset.schema.field(name).type, owner: schema.field(name).type}
            refuse_difference(name, kinds)
    return quietly(lambda: dataset.to_table(columns=names), READABLE)
