"""The kind of source of the data: chosen once, checked, and read."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from userdp import _checks as check
from userdp.release._columns import comes_from
from userdp.release._files import CsvFiles, ParquetFiles, is_csv
from userdp.release._frames import Arrays, ArrowTable, Dataset, Frame, LazyFrame
from userdp.release._grouped import GroupRules, GroupTally
from userdp.release._relations import Relation
from userdp.release._rows import Rules
from userdp.release._source import Source
from userdp.release._tables import IbisTable
from userdp.release._tally import Tally

Data = str | PathLike[str] | Any
"""A file or a list of files, an Ibis table, or a frame: anything with columns by name."""

WITH_ARROW = {
    "polars": "Frames and columns of polars",
    "_duckdb": "Relations of DuckDB",
}
"""Data that are read through PyArrow, by the library from which they come."""


def read_groups(
    user: str, values: Sequence[str], group: str | None, data: Any, rules: GroupRules
) -> GroupTally:
    """Return the tally of columns of `data` by group, as a context manager; close it soon."""
    if data is None:
        check.refuse_type("data", "the table with the columns", data)
    _load_arrow(data)
    names = {"user": [user], "value": values, "group": [] if group is None else [group]}
    source = _class_with_columns(data, names)(user, values, data, group)
    source.check()
    tally = source.read(rules)
    assert isinstance(tally, GroupTally)
    return tally


def read_tally(user: Any, value: Any, data: Any, rules: Rules) -> Tally:
    """Return the tally of two arrays or columns, as a context manager; close it soon.

    `value` may be None if only the users are needed. Later changes of the data have no effect.
    """
    source = source_of(user, value, data)
    source.check()
    tally = source.read(rules)
    assert isinstance(tally, Tally)
    return tally


def source_of(user: Any, value: Any, data: Any) -> Arrays | Source:
    """Return the source that these arguments name."""
    _load_arrow(user, value, data)
    if data is None:
        return Arrays(user, value)
    return _class_with_columns(data, {"user": [user], "value": [] if value is None else [value]})(
        user, value, data
    )


def _class_with_columns(data: Any, names: Mapping[str, Sequence[Any]]) -> type[Source]:
    """Return the class of data with these names of columns; raise if two are the same."""
    known: list[str] = []
    for argument, columns in names.items():
        for name in columns:
            _check_name(argument, name)
            if name in known:
                rule = "a different column from `user`" if name == known[0] else "named once"
                check.refuse_value(argument, rule, name)
            known.append(name)
    if _is_connection(data):
        raise TypeError("`data` must be a table, got a connection: pass connection.table(name).")
    return _kind_of(data)


def _kind_of(data: Any) -> type[Source]:
    """Return the class of data; it is chosen only here."""
    if isinstance(data, str | PathLike | list | tuple):
        return CsvFiles if is_csv(data) else ParquetFiles
    if comes_from("ibis", data):
        return IbisTable
    if comes_from("_duckdb", data):
        return Relation
    if comes_from("polars", data) and hasattr(data, "collect"):
        return LazyFrame
    if comes_from("pyarrow", data) and hasattr(data, "get_fragments"):
        return Dataset
    if comes_from("pyarrow", data) and hasattr(data, "column_names"):
        return ArrowTable
    if comes_from("pyspark", data):
        raise TypeError(
            "`data` must be an Ibis table of Spark, got a DataFrame: make a temporary view of it, "
            "and pass ibis.pyspark.connect(spark).table(name)."
        )
    if isinstance(data, Mapping) or hasattr(data, "columns"):
        return Frame
    got = type(data).__name__
    raise TypeError(
        f"`data` must be a file, a frame or an Ibis table, got a {got}. Convert it to one."
    )


def check_value(value: Any) -> None:
    """Raise if there are no values; only functions of counts work without them."""
    if value is None:
        check.refuse_type("value", "a column, or the name of one in `data`", value)


def _load_arrow(*given: Any) -> None:
    """Import PyArrow if needed, or raise with what to install, before anything is read."""
    for item in given:
        for library, what in WITH_ARROW.items():
            if comes_from(library, item):
                check.load("pyarrow", f"{what} need PyArrow", "tables")


def _is_connection(data: Any) -> bool:
    """Whether this is a connection to tables of DuckDB or Ibis, and not a table."""
    leads_to_tables = callable(getattr(data, "table", None)) and not hasattr(data, "columns")
    return leads_to_tables and (comes_from("ibis", data) or comes_from("_duckdb", data))


def _check_name(argument: str, name: Any) -> None:
    if not isinstance(name, str):
        check.refuse_kind(argument, "the name of a column of `data`", name)
