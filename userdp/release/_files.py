"""Read files with DuckDB: only the named ones, on this machine, with names taken literally."""

import gzip
import re
import sys
import zlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

from userdp import _checks as check
from userdp._progress import is_terminal
from userdp.release._backends import DuckDB
from userdp.release._columns import as_argument
from userdp.release._engines import TallyInEngine
from userdp.release._grouped import GroupRules
from userdp.release._grouped_engines import GroupsInEngine
from userdp.release._quiet import quietly
from userdp.release._rows import Rules
from userdp.release._source import refuse_difference
from userdp.release._tables import IbisTable
from userdp.release._text import refuse_form, refuse_separator, refuse_text

COMPRESSED_CSV = ".csv.gz"
PARQUET, CSV = (".parquet",), (".csv", COMPRESSED_CSV)

CONNECTION_OPTIONS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",  # data that do not fit in memory raise, and are not spilled to disk
}

READ_OPTIONS = {"hive_partitioning": False, "union_by_name": True}
"""Names of folders are not columns, and columns are matched by name."""

DIALECT = {
    "delim": ",",
    "quote": '"',
    "escape": '"',
    "skip": 0,
    "comment": "",
    "all_varchar": True,
    "ignore_errors": False,
    "null_padding": False,
}
"""Everything is read as text, so that ids of 20 digits, or such as 12e400, stay unchanged."""

BLOCK = 1 << 20
"""Bytes of a compressed file that are read at a time."""

MAX_DIGITS = 38
"""Largest number of digits of a decimal: DuckDB converts longer decimals to floats, incorrectly."""

NEED = "Reading files needs Ibis, DuckDB and PyArrow"

INSTEAD = "(instead of a folder, a pattern or an address, pass a list of files or an Ibis table)"

DATABASES = (".db", ".duckdb")
DATABASE_RULE = "be a table: for a database, ibis.duckdb.connect(path, read_only=True).table(name)"


class FileSchema(NamedTuple):
    """The columns of a file, known before a row is read."""

    names: list[str]
    """As written in the file; in CSV, without surrounding white space."""
    types: dict[str, Any]
    """Types by name, of the columns that DuckDB does not rename."""
    digits: dict[str, int]
    """Digits of the decimal columns of Parquet, 0 for its other columns; empty for CSV."""


class Files(IbisTable):
    """Files of one kind, read by a DuckDB connection that can read nothing else."""

    def check(self) -> None:
        """Open the files; raise if DuckDB would cast, fill or select columns to unite them."""
        paths = [_checked_path(path) for path in _paths_of(self.data)]
        if len({path.name.endswith(CSV) for path in paths}) != 1:
            check.refuse(
                "data",
                "be files that are all Parquet or all CSV",
                f"data={[str(path) for path in paths]}",
            )
        _refuse_duplicates(paths)
        for path in paths:
            if path.name.endswith(COMPRESSED_CSV):
                _refuse_incomplete(path)
        self.paths = paths
        # DuckDB reads names as patterns, so escape them. Absolute paths cannot be taken for URLs.
        literal = {str(path): re.sub(r"([*?\[])", r"[\1]", str(path)) for path in paths}
        self.backend = DuckDB(_connect([*literal, *literal.values()]))
        rule = f"a file that DuckDB can read, got data={', '.join(literal)!r}"
        schemas = quietly(
            lambda: {path: self.schema_of(name) for path, name in literal.items()},
            rule,
            self.explain,
        )
        self.check_schemas(schemas)
        self.table = quietly(lambda: self.table_of([*literal.values()]), rule, self.explain)
        self.check_users()
        self.records()  # raises if values are not numbers

    def read(self, rules: Rules | GroupRules) -> TallyInEngine | GroupsInEngine:
        return self.tally(self.records(), rules, self.backend.connection.disconnect, self.explain)

    def explain(self, error_name: str) -> None:
        """Raise a clearer error than DuckDB's, whose type has this name, if the cause is known."""

    @abstractmethod
    def schema_of(self, path: str) -> FileSchema:
        """Return the columns of a file."""

    @abstractmethod
    def table_of(self, paths: list[str]) -> Any:
        """Return an Ibis table of files."""

    def check_schemas(self, schemas: Mapping[str, FileSchema]) -> None:
        """Raise if a wanted column is invalid, or has different types in different files."""
        for path, file in schemas.items():
            owner = "" if len(schemas) == 1 else repr(path)
            self.check_names(file.names, owner)
            self.check_names(file.types, owner)
        for argument, name in self.wanted:
            refuse_difference(
                name, {repr(path): file.types[name] for path, file in schemas.items()}
            )
            for path, file in schemas.items():
                if file.digits.get(name, 0) > MAX_DIGITS:
                    got = (
                        f"{as_argument(argument, name)} with {file.digits[name]} digits in {path!r}"
                    )
                    rule = f"hold decimals with at most {MAX_DIGITS} digits in a file"
                    check.refuse(argument, rule, f"{got}: write them as text or as floats")


class CsvFiles(Files):
    """CSV files, whose columns are all read as text."""

    def explain(self, error_name: str) -> None:
        if error_name == "ConversionException" and self.values:
            refuse_text(self.values, self.paths)
        for path in self.paths:
            refuse_form(path)

    def check_schemas(self, schemas: Mapping[str, FileSchema]) -> None:
        for path, file in schemas.items():
            if not {*self.wanted_names} <= {*file.names}:
                refuse_separator(Path(path), file.names)
        super().check_schemas(schemas)

    def schema_of(self, path: str) -> FileSchema:
        # Read the header as a row, because DuckDB renames repeated columns.
        rows = self.table_of([path], header=False).limit(1).to_pyarrow().to_pylist()
        names = [(name or "").strip() for row in rows for name in row.values()]
        return _schema(names, self.table_of([path]).schema(), {})

    def table_of(self, paths: list[str], header: bool = True) -> Any:
        read = self.backend.connection.read_csv
        return read(paths, **READ_OPTIONS, **DIALECT, header=header)

    def numbers(self, value: str) -> Any:
        # DuckDB would read 1_0 as a number.
        return self.table[value].replace("_", "no digit")


class ParquetFiles(Files):
    """Parquet files. All paths except CSV come here; `Files.check` refuses those of other kinds."""

    def schema_of(self, path: str) -> FileSchema:
        rows = self.backend.connection.con.execute(
            "SELECT name, precision, num_children FROM parquet_schema(?)", [path]
        ).fetchall()
        columns = _top_level(rows)
        names = [name for name, _, _ in columns]
        digits = {name: precision or 0 for name, precision, _ in columns}
        return _schema(names, self.table_of([path]).schema(), digits)

    def table_of(self, paths: list[str]) -> Any:
        return self.backend.connection.read_parquet(paths, **READ_OPTIONS)


def is_csv(data: Any) -> bool:
    """Whether the first of one or several files is a CSV file, by its name."""
    first, *_ = [*_paths_of(data), None]
    is_path = isinstance(first, str | PathLike) and isinstance(fspath(first), str)
    return is_path and Path(first).name.endswith(CSV)


def _paths_of(data: Any) -> list[Any]:
    return list(data) if isinstance(data, list | tuple) else [data]


def _checked_path(data: object) -> Path:
    if not isinstance(data, str | PathLike) or isinstance(fspath(data), bytes):
        check.refuse_kind("data", "the path of a file", data)
    path = Path(data)
    if path.name.endswith(DATABASES):
        check.refuse("data", DATABASE_RULE, f"data {check.kind_of(data)}")
    if not path.name.endswith(PARQUET + CSV):
        # Do not quote it: it may be the table itself, or one of its entries, instead of a path.
        rule = f"be a file ending in {', '.join(PARQUET + CSV)} {INSTEAD}"
        check.refuse("data", rule, f"data {check.kind_of(data)}")
    mode = _mode(path)
    if mode is None:
        got = check.shown("data", str(data))
        raise FileNotFoundError(f"`data` must be a file on this machine {INSTEAD}, got {got}.")
    if not S_ISREG(mode):
        check.refuse_value("data", f"a regular file {INSTEAD}", str(data))
    return path.parent.resolve() / path.name  # a link keeps its name, which has the ending


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # ValueError: an invalid path, such as one with a NUL
        return None


def _refuse_duplicates(paths: Sequence[Path]) -> None:
    """Raise if a file is given twice, under any names: its rows would count twice."""
    known: dict[tuple[int, int], Path] = {}
    for path in paths:
        status = path.stat()
        if known.setdefault((status.st_dev, status.st_ino), path) is not path:
            check.refuse("data", "name each file once", f"{str(path)!r} twice")


def _refuse_incomplete(path: Path) -> None:
    """Raise if a compressed file is truncated or corrupt: DuckDB ignores the checksum."""
    with suppress(EOFError, OSError, zlib.error), gzip.open(path) as file:
        while file.read(BLOCK):
            pass
        return
    check.refuse("data", "be a complete gzip file with a correct checksum", f"{str(path)!r}")


def _schema(names: list[str], columns: Mapping[str, Any], digits: dict[str, int]) -> FileSchema:
    pairs = zip(names, columns.items(), strict=False)
    types = {name: dtype for name, (duckdb_name, dtype) in pairs if name == duckdb_name}
    return FileSchema(names, types, digits)


def _top_level(rows: list[tuple[str, int | None, int | None]]) -> list[Any]:
    """Return the top-level columns among the rows of a schema, a tree whose root comes first."""
    columns, n_below = [], 0
    for row in rows[1:]:
        if n_below == 0:
            columns.append(row)
        else:
            n_below -= 1
        n_below += row[2] or 0
    return columns


def _connect(paths: Sequence[str]) -> Any:
    """Return a connection to DuckDB that can never read any other files."""
    ibis, _, _ = [check.load(library, NEED, "tables") for library in ("ibis", "duckdb", "pyarrow")]
    connection = ibis.duckdb.connect(**CONNECTION_OPTIONS)
    _show_bar(connection, is_terminal(sys.stdout))
    quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    for setting in (
        "enable_geoparquet_conversion = false",  # which would need an extension
        f"allowed_paths = [{quoted}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.raw_sql(f"SET {setting}")
    return connection


def _show_bar(connection: Any, wanted: bool) -> None:
    """Switch DuckDB's progress bar on the standard output on or off.

    By default, DuckDB draws a bar even in a pipe, if Python was started without a script. In a
    notebook without ipywidgets, it draws none and the setting cannot be changed.
    """
    ((shown,),) = connection.raw_sql("SELECT current_setting('enable_progress_bar')").fetchall()
    if shown != wanted:
        connection.raw_sql(f"SET enable_progress_bar = {str(wanted).lower()}")
