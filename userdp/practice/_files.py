"""Reading files with DuckDB: those that are named and nothing else, here and literally."""

import re
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from stat import S_ISREG
from typing import Any

from userdp import _checks as check
from userdp.practice._quiet import quietly

PARQUET, CSV = (".parquet",), (".csv", ".csv.gz")

CAREFUL = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",  # what does not fit the memory is refused, and not left on a disk
}

LITERALLY = {"hive_partitioning": False, "union_by_name": True}
"""Names of folders are no columns, and columns go by their names."""

DIALECT = {
    "header": True,
    "delim": ",",
    "quote": '"',
    "escape": '"',
    "skip": 0,
    "comment": "",
    "all_varchar": True,
    "ignore_errors": False,
    "null_padding": False,
}
"""Everything is read as text: ids of 20 digits, and those like 12e400, stay what they are."""


def open_files(data: object) -> Any:
    """Return an Ibis table of one Parquet or CSV file, or of several, with a guarded DuckDB."""
    paths = [_read_path(path) for path in (data if isinstance(data, list | tuple) else [data])]
    endings = {PARQUET if path.name.endswith(PARQUET) else CSV for path in paths}
    if len(endings) != 1:
        check.refuse("data", "be files of one kind", f"data={[str(path) for path in paths]}")
    try:
        import ibis
    except ImportError as error:
        raise ImportError("Files are read with Ibis: pip install 'userdp[tables]'.") from error
    connection = ibis.duckdb.connect(**CAREFUL)
    # Their names are no patterns, and not addresses either: they begin with a slash.
    literal = [re.sub(r"([*?\[])", r"[\1]", str(path)) for path in paths]
    _allow(connection, [*map(str, paths), *literal])
    read = _read_parquet if PARQUET in endings else _read_csv
    rule = f"a file that DuckDB can read, got data={', '.join(map(str, paths))!r}"
    return quietly(lambda: read(connection, literal), rule)


def _read_path(data: object) -> Path:
    if not isinstance(data, str | PathLike) or isinstance(fspath(data), bytes):
        check.refuse_kind("data", "the path of a file", data)
    path = Path(data)
    if not path.name.endswith(PARQUET + CSV):
        # No path, then, that could be quoted: perhaps the table itself, or one of its entries.
        rule = f"be a file ending in {', '.join(PARQUET + CSV)}"
        check.refuse("data", rule, f"data {check.kind_of(data)}")
    try:
        is_file = S_ISREG(path.stat().st_mode)
    except OSError:
        got = check.shown("data", str(data))
        raise FileNotFoundError(f"`data` must be a file here, got {got}.") from None
    if not is_file:
        check.refuse_value("data", "a regular file", str(data))
    return path.resolve()


def _allow(connection: Any, paths: Sequence[str]) -> None:
    """Let DuckDB read these files only, for good."""
    quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    for setting in (
        "enable_geoparquet_conversion = false",  # which would need an extension
        f"allowed_paths = [{quoted}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.raw_sql(f"SET {setting}")


def _read_parquet(connection: Any, paths: list[str]) -> Any:
    return connection.read_parquet(paths, **LITERALLY)


def _read_csv(connection: Any, paths: list[str]) -> Any:
    return connection.read_csv(paths, **LITERALLY, **DIALECT)
