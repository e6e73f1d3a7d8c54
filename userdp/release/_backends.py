"""What is specific to DuckDB, and to Spark: one class each, one instance per connection."""

import json
from abc import ABC, abstractmethod
from functools import cache
from threading import RLock
from typing import Any, ClassVar

from userdp.release._grid import HALF, HALF_BITS
from userdp.release._plans import PYTHON_SCANS, plan_query, plan_reads_objects
from userdp.release._quiet import FAILED, quietly

ONE_AT_A_TIME = RLock()
"""Lock for queries: connections of Ibis are not thread-safe."""

INT, FLOAT = "int64", "float64"

BUILT_IN = "Class: org.apache.spark.sql.catalyst.expressions."
"""How Spark describes a built-in function."""


class Backend(ABC):
    """An engine, tested to return the same numbers as arrays in memory."""

    functions: ClassVar[set[str]]
    """Functions that queries call, by the names under which the engine looks them up."""
    failed: ClassVar[str] = FAILED
    """The rule in the error message if the engine fails to read a table."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    @abstractmethod
    def keep(self, tally: Any, name: str) -> Any:
        """Compute a tally once, store it under a name, and return its table."""

    @abstractmethod
    def drop(self, name: str) -> None:
        """Drop that table, if it exists."""

    @abstractmethod
    def replaced(self) -> list[str]:
        """Return the names of those `functions` that are not the engine's own."""

    def reads_objects(self, records: Any) -> bool:
        """Whether a query may read Python objects."""
        return False

    def as_bytes(self, text: Any) -> Any:
        """Return text as bytes, which no collation of a column or a database makes equal."""
        return text.cast("binary")

    def halves(self, level: Any) -> dict[str, Any]:
        """Return the sums of the upper and the lower halves of levels; both fit 64 bits."""
        return {"high": (level >> HALF_BITS).sum(), "low": (level & (HALF - 1)).sum()}

    def bits_of(self, kind: Any) -> int:
        """Return the fewest bits that a float of this type may have had in its source."""
        return int(8 * kind.nbytes)


class DuckDB(Backend):
    """A connection of DuckDB."""

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

    def replaced(self) -> list[str]:
        differ = _functions_of(self.connection.con) ^ _own_functions()
        return sorted({name for name, *_ in differ})

    def reads_objects(self, records: Any) -> bool:
        run_query(records.limit(0))  # registers tables that are in memory
        query = self.connection.compile(records)
        ((plan_json,),) = self.connection.raw_sql(plan_query(query)).fetchall()
        plan = json.loads(plan_json)
        if plan["error"]:  # a CSV file has no such plan: use the physical one
            steps = self.connection.raw_sql(f"EXPLAIN (FORMAT json) {query}").fetchall()
            return any(scan.upper() in text for scan in PYTHON_SCANS for _, text in steps)
        return plan_reads_objects(plan)

    def as_bytes(self, text: Any) -> Any:
        import ibis

        # A cast would convert the text "\\x41" to one byte.
        @ibis.udf.scalar.builtin(name="encode", catalog="system", database="main")  # type: ignore[untyped-decorator]
        def encode(text: str) -> bytes:  # type: ignore[empty-body]
            """Return the bytes of a text, by DuckDB's function."""

        return encode(text)

    def halves(self, level: Any) -> dict[str, Any]:
        total = level.sum()  # has 128 bits, whereas Spark's sum has only 64
        return {"high": total >> HALF_BITS, "low": total & (HALF - 1)}

    def bits_of(self, kind: Any) -> int:
        # DuckDB has no 16-bit type, so its 32-bit floats may come from 16-bit ones.
        return 64 if kind.nbytes == 8 else 16


class Spark(Backend):
    """A session of Spark."""

    failed: ClassVar[str] = (
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

    def replaced(self) -> list[str]:
        return [name for name in sorted(self.functions) if not self._is_own(name)]

    def _is_own(self, name: str) -> bool:
        rows = self.connection.raw_sql(f"DESCRIBE FUNCTION `{name}`").collect()
        return any(row[0].startswith(BUILT_IN) for row in rows)


BACKENDS = {"duckdb": DuckDB, "pyspark": Spark}
"""Backends by their names in Ibis."""


def backend_of(table: Any) -> Backend:
    """Return the engine of an Ibis table; raise if it is not supported."""
    with ONE_AT_A_TIME:  # for a table in memory, the first call creates a connection
        connection = quietly(table.get_backend, "an Ibis table of one engine")
    if connection.name not in BACKENDS:
        raise TypeError(
            f"`data` must be an Ibis table of {' or '.join(BACKENDS)}, got one of "
            f"{connection.name}: fetch the two columns as an Arrow table."
        )
    return BACKENDS[connection.name](connection)


def refuse_replaced_functions(backend: Backend) -> None:
    """Raise if a function that queries call is not the engine's own in this connection.

    A macro stored in a database, or a Python function, could switch clipping off.
    """
    replaced = quietly(backend.replaced)
    if replaced:
        raise ValueError(
            f"`data` must be in an engine whose built-in functions are not replaced, got others "
            f"named {', '.join(replaced)}. Drop them, or open the database without them."
        )


def run_query(query: Any) -> list[dict[str, Any]]:
    """Run a query and return its rows."""
    with ONE_AT_A_TIME:
        rows: list[dict[str, Any]] = quietly(lambda: query.to_pyarrow().to_pylist())
    return rows


@cache
def _own_functions() -> set[tuple[str, ...]]:
    import duckdb

    with duckdb.connect() as connection:
        return _functions_of(connection)


def _functions_of(connection: Any) -> set[tuple[str, ...]]:
    """Return names and signatures, also of overloads: Python functions have other parameters."""
    names = ", ".join(f"'{name}'" for name in sorted(DuckDB.functions))
    rows = connection.execute(
        "SELECT system.main.lower(function_name) AS name, function_type, schema_name, parameters, "
        "parameter_types, return_type, varargs, description FROM system.main.duckdb_functions() "
        f"WHERE name IN ({names})"
    ).fetchall()
    return {tuple(map(str, row)) for row in rows}
