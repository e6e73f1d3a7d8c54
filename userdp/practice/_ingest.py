"""One front door for data: whatever has columns by name becomes records, or is refused."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from userdp import _checks as check
from userdp.practice._arrays import Arrays
from userdp.practice._columns import comes_from, read_ids, read_values
from userdp.practice._files import open_files
from userdp.practice._queries import FLOAT, TESTED, Queries
from userdp.practice._quiet import quietly
from userdp.practice._records import Records

Data = str | PathLike[str] | Any
"""A file or a list of files, an Ibis table, or a frame: whatever has columns by name."""

READABLE = "readable by its engine, which failed"


def read_records(user: Any, value: Any, data: Any = None) -> Records:
    """Return records from two arrays, or from two columns of `data`.

    `value` may be None where only the users are asked for. Arrays and frames are copied at once:
    what becomes of them later does not matter.
    """
    if data is None:
        return _read_columns(user, value)
    for name, column in {"user": user, "value": value}.items():
        if not isinstance(column, str) and (name, column) != ("value", None):
            check.refuse_kind(name, "the name of a column of `data`", column)
    if user == value:
        check.refuse_value("value", "another column than `user`", value)
    if isinstance(data, str | PathLike | list | tuple):
        table = open_files(data)
        _check_names(table.columns, user, value)
        return _read_table(user, value, table, is_file=True)
    if comes_from("ibis", data):
        _check_names(getattr(data, "columns", ()), user, value)
        return _read_table(user, value, data, is_file=False)
    return _read_columns(*_columns_of(data, user, value))


def _check_names(columns: Any, user: str, value: str | None) -> None:
    """Refuse names that no column has; those that are there may be users or a first record."""
    for name, column in {"user": user, "value": value}.items():
        if column is not None and column not in columns:
            check.refuse_value(name, "the name of a column of `data`", column)


def _columns_of(data: Any, user: str, value: str | None) -> tuple[Any, Any]:
    """Return two columns of a frame, fetched at once where it is not in memory."""
    names = [user] if value is None else [user, value]
    if comes_from("_duckdb", data):
        _check_names(data.columns, user, value)
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        relation = data.project(quoted)
        data = quietly(relation.to_arrow_table, READABLE)
    elif comes_from("polars", data) and hasattr(data, "collect"):
        _check_names(data.collect_schema().names(), user, value)
        lazy = data.select(names)
        data = quietly(lazy.collect, READABLE)
    elif comes_from("pyarrow", data) and hasattr(data, "to_table"):
        _check_names(data.schema.names, user, value)
        dataset = data
        data = quietly(lambda: dataset.to_table(columns=names), READABLE)
    elif comes_from("pyarrow", data) and hasattr(data, "column_names"):
        _check_names(data.column_names, user, value)
    elif isinstance(data, Mapping) or hasattr(data, "columns"):
        _check_names(getattr(data, "columns", data), user, value)
    else:
        kind = type(data).__name__
        raise TypeError(f"`data` must be a file, a frame or an Ibis table, got a {kind}.")
    return data[user], None if value is None else data[value]


def _read_columns(user: Any, value: Any) -> Arrays:
    if user is value:
        raise ValueError("`value` must be another column than `user`.")
    columns = [column for column in (user, value) if comes_from("pandas", column)]
    indexes = [column.index for column in columns if hasattr(column, "index")]
    if len(indexes) == 2 and not indexes[0].equals(indexes[1]):
        raise ValueError("`user` and `value` must have the same index, row by row.")
    ids = read_ids(user)
    if value is None:
        return Arrays(ids, np.zeros(ids.codes.size))
    values = read_values(value)
    if ids.codes.size != values.size:
        raise ValueError(
            f"`user` and `value` must be of one length, got {ids.codes.size} and {values.size}."
        )
    return Arrays(ids, values)


def _read_table(user: str, value: str | None, data: Any, *, is_file: bool) -> Queries:
    """Return the records of an Ibis table; in a CSV file, values are text that is to be read."""
    engines = {backend.name for backend in data._find_backends()[0]}
    if not engines <= set(TESTED):
        raise TypeError(
            f"`data` must be an Ibis table of {' or '.join(TESTED)}, got one of "
            f"{', '.join(sorted(engines))}: fetch the two columns as an Arrow table."
        )
    kind = data[user].type()
    if kind.is_nested() or kind.is_json() or kind.is_interval() or kind.is_boolean():
        raise TypeError(f"`user` must be a plain column, got {user!r} of type {kind}.")
    table = data.select(user=data[user])
    if value is None:
        return Queries(table.mutate(value=0.0))
    kind, column = data[value].type(), data[value]
    as_text = is_file and all(each.is_string() for each in data.schema().values())
    if kind.is_decimal():
        column = column.cast("string")  # digits, which become the nearest float
    elif (not kind.is_numeric() or kind.is_boolean()) and not as_text:
        raise TypeError(f"`value` must be a column of numbers, got {value!r} of type {kind}.")
    return Queries(data.select(user=data[user], value=column.cast(FLOAT)))
