"""One front door for data: whatever has columns by name becomes records, or is refused."""

from os import PathLike
from typing import Any

import numpy as np

from userdp import _checks as check
from userdp.practice._arrays import Arrays
from userdp.practice._columns import comes_from, read_ids, read_values
from userdp.practice._files import is_csv, open_files
from userdp.practice._frames import columns_of
from userdp.practice._names import called, check_names, refuse_kind, refuse_objects
from userdp.practice._queries import FLOAT, TESTED, Queries
from userdp.practice._records import Records

Data = str | PathLike[str] | Any
"""A file or a list of files, an Ibis table, or a frame: whatever has columns by name."""


def read_records(user: Any, value: Any, data: Any = None) -> Records:
    """Return records from two arrays, or from two columns of `data`.

    `value` may be None where only the users are asked for. Arrays and frames are copied at once:
    what becomes of them later does not matter.
    """
    if data is None:
        return _read_columns(user, value)
    _check_name("user", user)
    if value is not None:
        _check_name("value", value)
    if user == value:
        check.refuse_value("value", "another column than `user`", value)
    if isinstance(data, str | PathLike | list | tuple):
        return _read_files(user, value, data)
    if comes_from("ibis", data):
        check_names(getattr(data, "columns", ()), user, value, fold=True)
        return _read_ibis(user, value, data)
    users, values = columns_of(data, user, value)
    return _read_columns(users, values, called("user", user), called("value", value))


def _check_name(argument: str, name: Any) -> None:
    if not isinstance(name, str):
        check.refuse_kind(argument, "the name of a column of `data`", name)


def _read_columns(
    user: Any, value: Any, user_called: str = "user", value_called: str = "value"
) -> Arrays:
    if user is value:
        raise ValueError("`value` must be another column than `user`.")
    columns = [column for column in (user, value) if comes_from("pandas", column)]
    indexes = [column.index for column in columns if hasattr(column, "index")]
    if len(indexes) == 2 and not indexes[0].equals(indexes[1]):
        raise ValueError("`user` and `value` must have the same index, row by row.")
    ids = read_ids(user, user_called)
    if value is None:
        return Arrays(ids, np.zeros(ids.codes.size))
    values = read_values(value, value_called)
    if ids.codes.size != values.size:
        raise ValueError(
            f"`user` and `value` must be of one length, got {ids.codes.size} and {values.size}."
        )
    return Arrays(ids, values)


def _read_files(user: str, value: str | None, data: Any) -> Queries:
    table = open_files(data, user, value)
    _check_users(user, table[user].type())
    if value is None:
        return _without_values(table[user])
    if is_csv(data):  # there all is text, and DuckDB would read 1_0 as a number
        column = table[value].replace("_", "no digit")
    else:
        column = _numbers(value, table[value])
    return Queries(table.select(user=table[user], value=column.cast(FLOAT)))


def _read_ibis(user: str, value: str | None, table: Any) -> Queries:
    engines = {backend.name for backend in table._find_backends()[0]}
    if not engines <= set(TESTED):
        raise TypeError(
            f"`data` must be an Ibis table of {' or '.join(TESTED)}, got one of "
            f"{', '.join(sorted(engines))}: fetch the two columns as an Arrow table."
        )
    kind = table[user].type()
    _check_users(user, kind)
    if kind.is_binary():
        refuse_objects(user, kind)
    if value is None:
        return _without_values(table[user])
    column = _numbers(value, table[value])
    return Queries(table.select(user=table[user], value=column.cast(FLOAT)))


def _without_values(users: Any) -> Queries:
    return Queries(users.name("user").as_table().mutate(value=0.0))


def _check_users(user: str, kind: Any) -> None:
    """Refuse users of other types than these: a time of day may have a zone that Ibis hides."""
    is_number = kind.is_integer() or kind.is_floating() or kind.is_decimal()
    is_time = kind.is_date() or kind.is_timestamp()
    is_name = kind.is_string() or kind.is_binary() or kind.is_uuid()
    if not (is_number or is_time or is_name):
        refuse_kind("user", f"{called('user', user)} of type {kind}")


def _numbers(value: str, column: Any) -> Any:
    """Return a column that an engine casts to the nearest floats."""
    kind = column.type()
    if kind.is_decimal():
        return column.cast("string")
    if not kind.is_numeric() or kind.is_boolean():
        refuse_kind("value", f"{called('value', value)} of type {kind}")
    return column
