"""What is DuckDB's own, and what is Spark's: one class each, one instance a connection."""

import json
from abc import ABC, abstractmethod
from functools import cache
from threading import RLock
from typing import Any, ClassVar

from userdp.release._grid import HALF, HALF_BITS
from userdp.release._plans import PYTHON_SCANS, plan_query, plan_reads_objects
from userdp.release._quiet import FAILED, quietly

ONE_AT_A_TIME = RLock()
"""Connections of Ibis are not made for several threads."""

INT, FLOAT = "int64", "float64"

BUILT_IN = "Class: org.apache.spark.sql.catalyst.expressions."
"""How Spark describes a function of its own."""


class Backend(ABC):
    """An engine, of which it is tested that it answers as arrays do."""

    functions: ClassVar[set[str]]
    """Those that queries call, by the names under which the engine looks for them."""
    failed: ClassVar[str] = FAILED
    """What is said of a table that the engine fails to read."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    @abstractmethod
    def keep(self, tally: Any, name: str) -> Any:
        """Have a tally made, once, under a name; return its table."""

    @abstractmethod
    def drop(self, name: str) -> None:
        """Let go of that table, if there is one."""

    @abstractmethod
    def replaced(self) -> list[str]:
        """Return the names of those functions that are not the engine's own."""

    def reads_objects(self, records: Any) -> bool:
        """Whether a query may read Python objects."""
        return False

    def as_bytes(self, text: Any) -> Any:
        """Return text as its bytes, which no collation of a column or a database makes equal."""
        return text.cast("binary")

    def halves(self, level: Any) -> dict[str, Any]:
        """Return the sums of the upper and of the lower halves of levels, which fit 64 bits."""
        return {"high": (level >> HALF_BITS).sum(), "low": (level & (HALF - 1)).sum()}

    def bits_of(self, kind: Any) -> int:
        """Return how many bits a float had where it came from, at least."""
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
        ask(records.limit(0))  # which registers tables that are in memory
        query = self.connection.compile(records)
        ((answer,),) = self.connection.raw_sql(plan_query(query)).fetchall()
        plan = json.loads(answer)
        if plan["error"]:  # there is no such plan of a CSV file: then the physical one must do
            steps = self.connection.raw_sql(f"EXPLAIN (FORMAT json) {query}").fetchall()
            return any(scan.upper() in text for scan in PYTHON_SCANS for _, text in steps)
        return plan_reads_objects(plan)

    def as_bytes(self, text: Any) -> Any:
        import ibis

        # A cast would read the text "\\x41" as one byte.
        @ibis.udf.scalar.builtin(name="encode", catalog="system", database="main")  # type: ignore[untyped-decorator]
        def encode(text: str) -> bytes:  # type: ignore[empty-body]
            """Return the bytes of a text, as DuckDB's function does."""

        return encode(text)

    def halves(self, level: Any) -> dict[str, Any]:
        total = level.sum()  # has 128 bits, where that of Spark has the 64 of its terms
        return {"high": total >> HALF_BITS, "low": total & (HALF - 1)}

    def bits_of(self, kind: Any) -> int:
        # It has no type for the 16 bits of a file or a frame.
        return 64 if kind.nbytes == 8 else 16


class Spark(Backend):
    """A session of Spark."""

    failed: ClassVar[str] = (
        f"{FAILED} (its log has the reason; often the files of a folder differ in the type of a "
        "column: read them one by one, cast, and unite them)"
    )

    functions: ClassVar[set[str]] = {
        *("abs", "between", "cast", "coalesce", "count", "floor", "greatest", "if", "isnan"),
        *("least", "max", "min", "row_number", "shiftright", "sum"),
    }

    def keep(self, tally: Any, name: str) -> Any:
        # A checkpoint, as what Spark caches may be lost, and is then made of the table again.
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
"""By their names in Ibis."""


def backend_of(table: Any) -> Backend:
    """Return the engine of an Ibis table, or refuse it."""
    connection = quietly(table.get_backend, "an Ibis table of one engine")
    if connection.name not in BACKENDS:
        raise TypeError(
            f"`data` must be an Ibis table of {' or '.join(BACKENDS)}, got one of "
            f"{connection.name}: fetch the two columns as an Arrow table."
        )
    return BACKENDS[connection.name](connection)


def refuse_replaced_functions(backend: Backend) -> None:
    """Refuse a connection in which a function that queries call is not the engine's own.

    A macro, which comes with a database, or a function of Python could switch clipping off.
    """
    found = quietly(backend.replaced)
    if found:
        raise ValueError(
            f"`data` must be in an engine with its own functions only, got others named "
            f"{', '.join(found)}. Drop them, or open the database without them."
        )


def ask(question: Any) -> list[dict[str, Any]]:
    """Return the rows that answer a question."""
    with ONE_AT_A_TIME:
        answer: list[dict[str, Any]] = quietly(lambda: question.to_pyarrow().to_pylist())
    return answer


@cache
def _own_functions() -> set[tuple[str, ...]]:
    import duckdb

    with duckdb.connect() as connection:
        return _functions_of(connection)


def _functions_of(connection: Any) -> set[tuple[str, ...]]:
    """Return names and signatures, also of overloads: what Python adds has other parameters."""
    names = ", ".join(f"'{name}'" for name in sorted(DuckDB.functions))
    rows = connection.execute(
        "SELECT system.main.lower(function_name) AS name, function_type, schema_name, parameters, "
        "parameter_types, return_type, varargs, description FROM system.main.duckdb_functions() "
        f"WHERE name IN ({names})"
    ).fetchall()
    return {tuple(map(str, row)) for row in rows}
