"""One front door for data: whatever has columns by name becomes a tally, or is refused."""

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any
from uuid import uuid4

import numpy as np

from userdp import _checks as check
from userdp.release._columns import (
    asked_for,
    check_names,
    comes_from,
    read_ids,
    read_values,
    refuse_difference,
    refuse_kind,
    refuse_objects,
    refuse_scan,
    refuse_what_halves_confuse,
)
from userdp.release._engines import (
    FLOAT,
    ONE_AT_A_TIME,
    TESTED,
    TallyInEngine,
    as_bytes,
    ask,
    refuse_replaced_functions,
)
from userdp.release._files import is_csv, open_files
from userdp.release._quiet import quietly
from userdp.release._tally import Rules, Tally, TallyInMemory

Data = str | PathLike[str] | Any
"""A file or a list of files, an Ibis table, or a frame: whatever has columns by name."""

READABLE = "readable by its engine, which failed"

WITH_ARROW = {
    "polars": "Frames and columns of polars",
    "_duckdb": "Relations of DuckDB",
}
"""What hands its entries over through PyArrow, by the library that it comes from."""

KEPT = (
    *("tinyint", "smallint", "integer", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint"),
    *("float", "double", "decimal", "varchar", "enum", "blob", "uuid"),
    *("date", "timestamp", "timestamp with time zone"),
    *("timestamp_s", "timestamp_ms", "timestamp_ns"),
)
"""Types of DuckDB whose entries reach Arrow as they are: others may lose a zone or a digit."""

ARROW_SCANS = ("arrow_scan", "arrow_scan_dumb")
"""Functions that read Arrow data: these hold no Python objects, but bytes may be addresses."""

PYTHON_SCANS = (*ARROW_SCANS, "pandas_scan", "python_map_function")
"""All functions that DuckDB's Python package adds to read what Python holds."""


def read_tally(user: Any, value: Any, data: Any, rules: Rules) -> Tally:
    """Return the tally of two arrays, or of two columns of `data`: a context, to be left soon.

    `value` may be None where only the users are asked for. What becomes of the data later does not
    matter.
    """
    _load_arrow(user, value, data)
    if data is None:
        return _read_columns(user, value, rules)
    _check_name("user", user)
    if value is not None:
        _check_name("value", value)
    if user == value:
        check.refuse_value("value", "another column than `user`", value)
    if _is_connection(data):
        raise TypeError("`data` must be a table, got a connection: pass connection.table(name).")
    if isinstance(data, str | PathLike | list | tuple):
        return _read_files(user, value, data, rules)
    if comes_from("ibis", data):
        check_names(getattr(data, "columns", ()), user, value, fold=True)
        return _read_ibis(user, value, data, rules)
    users, values = _columns_of(data, user, value)
    return _read_columns(users, values, rules, asked_for("user", user), asked_for("value", value))


def check_value(value: Any) -> None:
    """Refuse a release without values, which only counts may be without."""
    if value is None:
        check.refuse_type("value", "a column, or the name of one in `data`", value)


def _load_arrow(*given: Any) -> None:
    """Import PyArrow where it is needed, or say what to install, before anything is read."""
    for thing in given:
        for library, what in WITH_ARROW.items():
            if comes_from(library, thing):
                check.load("pyarrow", f"{what} are read with PyArrow", "tables")


def _is_connection(data: Any) -> bool:
    """Whether it leads to tables of DuckDB or Ibis, and is none itself."""
    leads_to_tables = callable(getattr(data, "table", None)) and not hasattr(data, "columns")
    return leads_to_tables and (comes_from("ibis", data) or comes_from("_duckdb", data))


def _check_name(argument: str, name: Any) -> None:
    if not isinstance(name, str):
        check.refuse_kind(argument, "the name of a column of `data`", name)


# Two columns, in memory


def _read_columns(
    user: Any, value: Any, rules: Rules, user_called: str = "user", value_called: str = "value"
) -> TallyInMemory:
    if user is value:
        raise ValueError("`value` must be another column than `user`.")
    columns = [column for column in (user, value) if comes_from("pandas", column)]
    indexes = [column.index for column in columns if hasattr(column, "index")]
    if len(indexes) == 2 and not indexes[0].equals(indexes[1]):
        raise ValueError("`user` and `value` must have the same index, row by row.")
    ids = read_ids(user, user_called)
    if value is None:
        return TallyInMemory(ids, np.full(ids.codes.size, rules.grid.lower), rules)
    values = read_values(value, value_called)
    if ids.codes.size != values.size:
        raise ValueError(
            f"`user` and `value` must be of one length, got {ids.codes.size} and {values.size}."
        )
    return TallyInMemory(ids, values, rules)


# Two columns of a frame, fetched at once if they are not in memory


def _columns_of(data: Any, user: str, value: str | None) -> tuple[Any, Any]:
    """Return the columns of users and of values, if any, of a frame."""
    if comes_from("_duckdb", data):
        data = _fetch_relation(data, user, value)
    elif comes_from("polars", data) and hasattr(data, "collect"):
        check_names(data.collect_schema().names(), user, value)
        lazy = data.select(_names_of(user, value))
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


def _names_of(user: str, value: str | None) -> list[str]:
    return [user] if value is None else [user, value]


def _fetch_relation(relation: Any, user: str, value: str | None) -> Any:
    """Return a table of Arrow; a connection of DuckDB does not serve several threads at once."""
    names = _names_of(user, value)
    with ONE_AT_A_TIME:
        check_names(relation.columns, user, value, fold=True)
        types = dict(zip(relation.columns, relation.types, strict=True))
        for argument, name in zip(("user", "value"), names, strict=False):
            if types[name].id not in KEPT:
                got = f"{asked_for(argument, name)} of DuckDB's type {types[name]}"
                refuse_kind(argument, got)
        if types[user].id == "blob":
            refuse_objects(user, types[user])
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        narrow = quietly(lambda: relation.project(quoted), READABLE)
        if quietly(lambda: _reads_objects(_plan_of_relation(narrow)), READABLE):
            refuse_scan()
        table = quietly(narrow.to_arrow_table, READABLE)
    if types[user].id == "float":
        refuse_what_halves_confuse(table[user])
    return table


def _plan_of_relation(relation: Any) -> Any:
    """Return the plan, by way of a view, as a relation does not lead to its connection.

    Its `explain` is text that leaves out the last branches of a wide plan.
    """
    view = f"userdp_view_{uuid4().hex}"
    try:
        ((plan,),) = relation.query(view, _plan_query(f"FROM {view}")).fetchall()
    finally:
        relation.query(view, f"DROP VIEW {view}")
    return json.loads(plan)


def _plan_query(query: str) -> str:
    """Return a query for the plan of a query, as JSON, before DuckDB optimises it."""
    quoted = query.replace("'", "''")
    return f"SELECT system.main.json_serialize_plan('{quoted}')"


def _reads_objects(plan: Any) -> bool:
    """Whether a query of DuckDB may read Python objects, or what was made of them.

    DuckDB makes text or addresses of objects, so that one person may have several ids, and a cast
    or a hash hides it: what a query reads decides, not what it returns. DuckDB has no plan for
    frames of pandas and for CSV files. Of polars' objects it reads addresses, as bytes. And a
    result that is fetched already (a chunk) does not show what it was made of.
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
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            if str(part.get("type")).startswith("LOGICAL_"):
                yield part
            waiting += part.values()


def _fetch_dataset(dataset: Any, user: str, value: str | None) -> Any:
    """Return a table of Arrow, which casts what differs from file to file: that is refused."""
    from pyarrow.dataset import get_partition_keys

    check_names(dataset.schema.names, user, value)
    names = _names_of(user, value)
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


# Two columns that an engine reads


def _read_files(user: str, value: str | None, data: Any, rules: Rules) -> TallyInEngine:
    table = open_files(data, user, value)
    connection = table.get_backend()
    _check_users(user, table[user].type())
    if value is not None and is_csv(data):
        # There all is text, and DuckDB would read 1_0 as a number.
        values = table[value].replace("_", "no digit")
    else:
        values = _numbers(value, table)
    return TallyInEngine(_pair(table, user, values), rules, connection.disconnect)


def _read_ibis(user: str, value: str | None, table: Any, rules: Rules) -> TallyInEngine:
    connection = quietly(table.get_backend, "an Ibis table of one engine")
    if connection.name not in TESTED:
        raise TypeError(
            f"`data` must be an Ibis table of {' or '.join(TESTED)}, got one of "
            f"{connection.name}: fetch the two columns as an Arrow table."
        )
    kind = table[user].type()
    _check_users(user, kind)
    if kind.is_binary():
        refuse_objects(user, kind)
    records = _pair(table, user, _numbers(value, table))
    if kind.is_string():
        records = records.mutate(user=as_bytes(records.user))
    with ONE_AT_A_TIME:
        refuse_replaced_functions(connection)
        if connection.name == "duckdb" and quietly(
            lambda: _query_reads_objects(connection, records), READABLE
        ):
            refuse_scan()
    return TallyInEngine(records, rules)


def _query_reads_objects(connection: Any, records: Any) -> bool:
    """Whether the query of an Ibis table of DuckDB may read Python objects."""
    ask(records.limit(0))  # which registers tables that are in memory
    query = connection.compile(records)
    ((answer,),) = connection.raw_sql(_plan_query(query)).fetchall()
    plan = json.loads(answer)
    if plan["error"]:  # there is no such plan of a CSV file: then the physical one must do
        steps = connection.raw_sql(f"EXPLAIN (FORMAT json) {query}").fetchall()
        return any(scan.upper() in text for scan in PYTHON_SCANS for _, text in steps)
    return _reads_objects(plan)


def _pair(table: Any, user: str, values: Any) -> Any:
    """Return a table of users and values; of zeros where no values are asked for."""
    if values is None:
        return table.select(user=table[user]).mutate(value=0.0)
    return table.select(user=table[user], value=values.cast(FLOAT))


def _check_users(user: str, kind: Any) -> None:
    """Refuse users of other types than these: a time of day may have a zone that Ibis hides."""
    is_number = kind.is_integer() or kind.is_floating() or kind.is_decimal()
    is_time = kind.is_date() or kind.is_timestamp()
    is_name = kind.is_string() or kind.is_binary() or kind.is_uuid()
    if not (is_number or is_time or is_name):
        refuse_kind("user", f"{asked_for('user', user)} of type {kind}")


def _numbers(value: str | None, table: Any) -> Any:
    """Return a column that an engine casts to the nearest floats, if one is asked for."""
    if value is None:
        return None
    column = table[value]
    kind = column.type()
    if kind.is_decimal():
        return column.cast("string")
    if not kind.is_numeric() or kind.is_boolean():
        refuse_kind("value", f"{asked_for('value', value)} of type {kind}")
    return column
