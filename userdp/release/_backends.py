"""What is specific to DuckDB, and to Spark: one class each; an instance wraps one connection."""

import json
from abc import ABC, abstractmethod
from functools import cache
from threading import RLock
from typing import Any, ClassVar

from userdp.release._grid import HALF, HALF_BITS
from userdp.release._plans import PYTHON_SCANS, plan_query, plan_reads_objects
from userdp.release._quiet import FAILED, quietly

ONE_AT_A_TIME = RLock()
"""Lock for queries: Ibis connections are not thread-safe."""

INT, FLOAT = "int64", "float64"

BUILT_IN_PREFIX = "Class: org.apache.spark.sql.catalyst.expressions."
"""Beginning of the line with the class of a built-in function in Spark's DESCRIBE FUNCTION."""


class Backend(ABC):
    """Base class of engines; tests check that each gives the same numbers as arrays in memory."""

    functions: ClassVar[set[str]]
    """Names of the functions that our queries use, as the engine looks them up."""
    unreadable_rule: ClassVar[str] = FAILED
    """The rule in the error message if the engine cannot read a table."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    @abstractmethod
    def keep(self, tally: Any, name: str) -> Any:
        """Compute a tally once, store it under a name, and return its table."""

    @abstractmethod
    def drop(self, name: str) -> None:
        """Drop the table that `keep` stored under a name, if it exists."""

    @abstractmethod
    def overridden_functions(self) -> list[str]:
        """Return the names of those `functions` that this connection overrides."""

    def reads_objects(self, records: Any) -> bool:
        """Whether a query may read Python objects."""
        return False

    def as_bytes(self, text: Any) -> Any:
        """Return text as bytes, so that no collation merges different texts."""
        return text.cast("binary")

    def sum_in_halves(self, level: Any) -> dict[str, Any]:
        """Return 64-bit integers with high * 2^HALF_BITS + low equal to the sum of the levels."""
        return {"high": (level >> HALF_BITS).sum(), "low": (level & (HALF - 1)).sum()}

    def fewest_source_bits(self, dtype: Any) -> int:
        """Return the fewest bits that a float of this type may have had in its source."""
        return int(8 * dtype.nbytes)


class DuckDB(Backend):
    """A DuckDB connection."""

    functions: ClassVar[set[str]] = {
        *("+", "-", "*", "/", ">>", "&", "abs", "count", "count_star", "floor", "greatest"),
        *(
            "isnan",
            "least",
            "max",
            "min",
            "row_number",
            "sum",
            "current_database",
            "current_schema",
        ),
    }

    def keep(self, tally: Any, name: str) -> Any:
        return self.connection.create_table(name, tally, temp=True)

    def drop(self, name: str) -> None:
        self.connection.raw_sql(f"DROP TABLE IF EXISTS {name}")

    def overridden_functions(self) -> list[str]:
        differences = _functions_of(self.connection.con) ^ _built_in_functions()
        return sorted({name for name, *_ in differences})

    def reads_objects(self, records: Any) -> bool:
        run_query(records.limit(0))  # registers tables that are in memory
        query = self.connection.compile(records)
        ((plan_json,),) = self.connection.raw_sql(plan_query(query)).fetchall()
        plan = json.loads(plan_json)
        if plan["error"]:  # as for a CSV file or a pandas frame: use the physical plan
            plans = self.connection.raw_sql(f"EXPLAIN (FORMAT json) {query}").fetchall()
            return any(scan.upper() in text for scan in PYTHON_SCANS for _, text in plans)
        return plan_reads_objects(plan)

    def as_bytes(self, text: Any) -> Any:
        import ibis

        # A cast would convert the four characters \x41 to one byte.
        @ibis.udf.scalar.builtin(name="encode", catalog="system", database="main")  # type: ignore[untyped-decorator]
        def encode(text: str) -> bytes:  # type: ignore[empty-body]
            """Return the UTF-8 bytes of a string."""

        return encode(text)

    def sum_in_halves(self, level: Any) -> dict[str, Any]:
        total = level.sum()  # has 128 bits, whereas Spark's sum has only 64
        return {"high": total >> HALF_BITS, "low": total & (HALF - 1)}

    def fewest_source_bits(self, dtype: Any) -> int:
        # DuckDB has no 16-bit float type, so its 32-bit floats may come from 16-bit ones.
        return 64 if dtype.nbytes == 8 else 16


class Spark(Backend):
    """A Spark session."""

    unreadable_rule: ClassVar[str] = (
        f"{FAILED} (its log gives the reason; often a column has different types in the files of "
        "a folder: read them one by one, cast the column, and combine them)"
    )

    functions: ClassVar[set[str]] = {
        *("abs", "between", "cast", "coalesce", "count", "floor", "greatest", "if", "isnan"),
        *("least", "max", "min", "row_number", "shiftright", "sum"),
    }

    def keep(self, tally: Any, name: str) -> Any:
        # A checkpoint, because Spark may lose a cached table and recompute it from the source.
        rows = self.connection.raw_sql(self.connection.compile(tally))
        rows.localCheckpoint().createTempView(name)
        return self.connection.table(name)

    def drop(self, name: str) -> None:
        self.connection.raw_sql(f"DROP VIEW IF EXISTS {name}")

    def overridden_functions(self) -> list[str]:
        return [name for name in sorted(self.functions) if not self._is_built_in(name)]

    def _is_built_in(self, name: str) -> bool:
        rows = self.connection.raw_sql(f"DESCRIBE FUNCTION `{name}`").collect()
        return any(row[0].startswith(BUILT_IN_PREFIX) for row in rows)


BACKENDS = {"duckdb": DuckDB, "pyspark": Spark}
"""Backends by their names in Ibis."""


def backend_of(table: Any) -> Backend:
    """Return the engine of an Ibis table; raise if it is not supported."""
    with ONE_AT_A_TIME:  # for a table in memory, the first call creates a connection
        connection = quietly(table.get_backend, "an Ibis table of one engine")
    if connection.name not in BACKENDS:
        raise TypeError(
            f"`data` must be an Ibis table of {' or '.join(BACKENDS)}, got one of "
            f"{connection.name}: fetch the columns as an Arrow table."
        )
    return BACKENDS[connection.name](connection)


def refuse_overridden_functions(backend: Backend) -> None:
    """Raise if this connection overrides a function that our queries use.

    A macro stored in a database, or a Python function, could switch clipping off.
    """
    overridden = quietly(backend.overridden_functions)
    if overridden:
        raise ValueError(
            f"`data` must be in an engine whose built-in functions are not overridden, got "
            f"functions or macros named {', '.join(overridden)}. Drop them, or use a connection in "
            "which they are not defined."
        )


def run_query(query: Any) -> list[dict[str, Any]]:
    """Run a query and return its rows."""
    with ONE_AT_A_TIME:
        rows: list[dict[str, Any]] = quietly(lambda: query.to_pyarrow().to_pylist())
    return rows


@cache
def _built_in_functions() -> set[tuple[str, ...]]:
    import duckdb

    with duckdb.connect() as connection:
        return _functions_of(connection)


def _functions_of(connection: Any) -> set[tuple[str, ...]]:
    """Return a row for each overload of a function; a macro or Python function changes the rows."""
    names = ", ".join(f"'{name}'" for name in sorted(DuckDB.functions))
    rows = connection.execute(
        "SELECT system.main.lower(function_name) AS name, function_type, schema_name, parameters, "
        "parameter_types, return_type, varargs, description FROM system.main.duckdb_functions() "
        f"WHERE name IN ({names})"
    ).fetchall()
    return {tuple(map(str, row)) for row in rows}
