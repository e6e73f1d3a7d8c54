"""The tally of a table in an engine: one scan there, one row a user, and a few numbers leave it.

What is asked for is decided by the bounds alone, so that one scan is enough. The tally stays in the
engine, as a temporary table that goes whatever happens: a few questions are put to it. So a release
is of one state of the table, also where the table changes meanwhile.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import RLock
from typing import Any

import numpy as np

from userdp.release._columns import EXACT_BELOW
from userdp.release._grid import HALF, HALF_BITS, Grid, Window, in_steps
from userdp.release._quiet import quietly
from userdp.release._tally import Among, Rules, Survey, Tally, Weighted

TESTED = ("duckdb", "pyspark")
"""Engines of which it is tested that they answer as arrays do."""

ONE_AT_A_TIME = RLock()
"""Connections of Ibis are not made for several threads."""

FAILED = "readable by its engine, which failed"

OF_FILES = " (in a CSV file, leave missing values empty: n/a is no number)"

INT, FLOAT = "int64", "float64"

WIDE = "decimal(38, 0)"
"""Whole numbers of 38 digits, for sums of which only protected numbers say how large they are."""

LARGEST_TOTAL = 1 << 62

FUNCTIONS = {
    "duckdb": {
        *("+", "-", "*", "/", ">>", "&", "abs", "count", "count_star", "floor", "greatest"),
        *("isnan", "least", "sum", "current_database", "current_schema"),
    },
    "pyspark": {
        *("abs", "between", "cast", "coalesce", "count", "floor", "greatest", "if", "isnan"),
        *("least", "shiftright", "sum"),
    },
}
"""Functions that queries call, by the names under which an engine looks for them."""

BUILT_IN = "Class: org.apache.spark.sql.catalyst.expressions."
"""How Spark describes a function of its own."""

FAULTS = ("without_user", "odd_users", "without_value", "outside")


class TallyInEngine(Tally):
    """One row a user in a temporary table of an engine.

    Parameters
    ----------
    records : ibis.Table
        A column `user` and a column `value` of floats.
    rules : Rules
        Which rows count.
    disconnect : callable, optional
        Closes the connection, where it was made for this table.
    """

    def __init__(
        self, records: Any, rules: Rules, disconnect: Callable[[], None] | None = None
    ) -> None:
        import ibis

        self.connection = ibis.get_backend(records)
        self.disconnect = disconnect
        self.name = ibis.util.gen_name("userdp_tally")
        rule = FAILED if disconnect is None else FAILED + OF_FILES
        with ONE_AT_A_TIME:
            try:
                self.users = quietly(lambda: self._keep(tally_of(records, rules)), rule)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Drop the temporary table, whether or not it came to be."""
        with ONE_AT_A_TIME:
            kind = "VIEW" if self.connection.name == "pyspark" else "TABLE"
            with suppress(Exception):  # of an engine that died nothing is left
                self.connection.raw_sql(f"DROP {kind} IF EXISTS {self.name}")
            if self.disconnect is not None:
                self.disconnect()

    def survey(self) -> Survey:
        """Return how many users have how many rows, and how many rows have a fault."""
        faults = {name: self.users[name].sum() for name in FAULTS}
        question = self.users.group_by("size").aggregate(users=self.users.count(), **faults)
        answers = ask(question)
        rows = sorted((int(row["size"]), int(row["users"])) for row in answers if row["size"])
        sizes = tuple(size for size, _ in rows)
        users = tuple(n for _, n in rows)
        return Survey(sizes, users, *(sum(int(row[name]) for row in answers) for name in FAULTS))

    def clipped_total(self, window: Window, among: Among | None = None) -> int:
        """Add up users' sums in steps from the origin, each clipped; of all users, or of some."""
        clipped = _between(self._steps(window, among), window.lowest, window.highest)
        (answer,) = ask(self.users.aggregate(total=clipped.sum()))
        return int(answer["total"])

    def weighted_total(self, window: Window, cap: int) -> Weighted:
        """Add up all users' averages in steps from the origin, clipped, each with its weight."""
        import ibis

        size = self.users["size"]
        weight = ibis.least(size, cap).cast(INT)
        share = weight.cast(FLOAT) / ibis.greatest(size, 1).cast(FLOAT)
        moved = (self._steps(window).cast(FLOAT) * share + exact(0.5)).floor().cast(INT)
        clipped = _between(moved, weight * window.lowest, weight * window.highest)
        # How many rows there are is protected here: no sum of 64 bits is wide enough for certain.
        totals = {"total": clipped.cast(WIDE).sum(), "weight": weight.cast(WIDE).sum()}
        # Where there is no user the sums are null.
        totals = {name: total.coalesce(0) for name, total in totals.items()}
        (answer,) = ask(self.users.aggregate(**totals))
        return Weighted(_cut_off(answer["total"]), _cut_off(answer["weight"]))

    def _steps(self, window: Window, among: Among | None = None) -> Any:
        """Return each user's sum of levels, less the origin, in steps: of some users 0."""
        import ibis

        columns = self.users.high, self.users.low, self.users.n_levels
        if among is not None:
            chosen = among.has(self.users["size"])
            columns = tuple(ibis.ifelse(chosen, column, 0) for column in columns)
        return in_steps(*columns, window)

    def _keep(self, tally: Any) -> Any:
        """Have the engine make the tally, once; return its table."""
        if self.connection.name == "pyspark":
            # A checkpoint, as what Spark caches may be lost, and is then made of the table again.
            rows = self.connection.raw_sql(self.connection.compile(tally))
            rows.localCheckpoint().createTempView(self.name)
            return self.connection.table(self.name)
        return self.connection.create_table(self.name, tally, temp=True)


def refuse_replaced_functions(connection: Any) -> None:
    """Refuse a connection in which a function that queries call is not the engine's own.

    A macro, which comes with a database, or a function of Python could switch clipping off.
    """
    find = _replaced_in_spark if connection.name == "pyspark" else _replaced_in_duckdb
    found = quietly(lambda: find(connection), FAILED)
    if found:
        raise ValueError(
            f"`data` must be in an engine with its own functions only, got others named "
            f"{', '.join(found)}. Drop them, or open the database without them."
        )


def _replaced_in_duckdb(connection: Any) -> list[str]:
    """Return names of functions that a new connection does not have, or not the same."""
    differ = _functions_of(connection.con) ^ _own_functions()
    return sorted({name for name, *_ in differ})


@cache
def _own_functions() -> set[tuple[str, ...]]:
    import duckdb

    with duckdb.connect() as connection:
        return _functions_of(connection)


def _functions_of(connection: Any) -> set[tuple[str, ...]]:
    """Return names and signatures, also of overloads: what Python adds has other parameters."""
    names = ", ".join(f"'{name}'" for name in sorted(FUNCTIONS["duckdb"]))
    rows = connection.execute(
        "SELECT system.main.lower(function_name) AS name, function_type, schema_name, parameters, "
        "parameter_types, return_type, varargs, description FROM system.main.duckdb_functions() "
        f"WHERE name IN ({names})"
    ).fetchall()
    return {tuple(map(str, row)) for row in rows}


def _replaced_in_spark(connection: Any) -> list[str]:
    """Return names that do not stand for a function of Spark's own."""
    replaced = []
    for name in sorted(FUNCTIONS["pyspark"]):
        rows = connection.raw_sql(f"DESCRIBE FUNCTION `{name}`").collect()
        if not any(row[0].startswith(BUILT_IN) for row in rows):
            replaced.append(name)
    return replaced


def tally_of(records: Any, rules: Rules) -> Any:
    """Return the question whose answer is the tally: one row a user, of one scan of the records."""
    import ibis

    value = records.value
    present = value.notnull() & ~value.isnan()
    outside = present & ~value.between(exact(rules.grid.lower), exact(rules.grid.upper))
    has_level = present
    if rules.drop_outside:
        has_level = has_level & ~outside
    level = ibis.ifelse(has_level, _level(value, rules.grid), None)
    rows = records.select(user=records.user, outside=outside, level=level)
    users = rows.group_by("user").aggregate(
        n_rows=rows.count(),
        n_levels=rows.level.count(),
        n_outside=rows.count(where=rows.outside),
        **_sums_of(rows.level),
    )
    n_missing = users.n_rows - users.n_levels
    if rules.drop_outside:
        n_missing = n_missing - users.n_outside
    nobody = _is_nobody(users.user)
    odd = _is_odd(users.user) & ~nobody
    size = users.n_rows
    if rules.drop_missing:
        size = size - n_missing
    if rules.drop_outside:
        size = size - users.n_outside
    of_somebody = {
        "size": size,
        "n_levels": users.n_levels,
        "high": users.high,
        "low": users.low,
        "without_value": n_missing,
        "outside": users.n_outside,
    }
    return users.select(
        **{name: ibis.ifelse(nobody, 0, column) for name, column in of_somebody.items()},
        without_user=ibis.ifelse(nobody, users.n_rows, 0),
        odd_users=ibis.ifelse(odd, users.n_rows, 0),
    )


def _sums_of(level: Any) -> dict[str, Any]:
    """Return the sums of the upper and of the lower halves of levels, which fit 64 bits.

    DuckDB adds integers up in 128 bits: there one sum is enough, which is halved afterwards. In
    Spark a sum has the 64 bits of its terms, and so the halves are added up.
    """
    import ibis

    if ibis.get_backend(level).name == "duckdb":
        total = level.sum()
        halves = {"high": total >> HALF_BITS, "low": total & (HALF - 1)}
    else:
        halves = {"high": (level >> HALF_BITS).sum(), "low": (level & (HALF - 1)).sum()}
    return {name: half.coalesce(0).cast(INT) for name, half in halves.items()}


def exact(number: float) -> Any:
    """Return a float for a query: engines read a bare literal as a decimal, and may round it."""
    import ibis

    return ibis.literal(repr(float(number))).cast(FLOAT)


def ask(question: Any) -> list[dict[str, Any]]:
    """Return the rows that answer a question."""
    with ONE_AT_A_TIME:
        answer: list[dict[str, Any]] = quietly(lambda: question.to_pyarrow().to_pylist(), FAILED)
    return answer


def as_bytes(text: Any) -> Any:
    """Return text as its bytes, which no collation of a column or a database makes equal."""
    import ibis

    if ibis.get_backend(text).name == "pyspark":
        return text.cast("binary")

    # A cast would read the text "\\x41" as one byte.
    @ibis.udf.scalar.builtin(name="encode", catalog="system", database="main")  # type: ignore[untyped-decorator]
    def encode(text: str) -> bytes:  # type: ignore[empty-body]
        """Return the bytes of a text, as DuckDB's function does."""

    return encode(text)


def _level(value: Any, grid: Grid) -> Any:
    """Return the levels of values, by the operations of arrays in the same order."""
    inside = _between(value, exact(grid.lower), exact(grid.upper))
    place = (inside - exact(grid.lower)) * exact(grid.levels_a_unit) + exact(0.5)
    return place.floor().cast(INT)


def _is_nobody(user: Any) -> Any:
    if user.type().is_floating():
        return user.isnull() | user.isnan()
    return user.isnull()


def _is_odd(user: Any) -> Any:
    """Whether a user is a float that is not a whole number, or too large for its type.

    What is a float of 32 bits to DuckDB may have 16 in the file or the frame that it comes from.
    """
    import ibis

    if not user.type().is_floating():
        return user.isnull() & False
    bits = 8 * user.type().nbytes
    if bits == 32 and ibis.get_backend(user).name == "duckdb":
        bits = 16
    held = user.abs() < EXACT_BELOW[np.dtype(f"f{bits // 8}").type]
    small = ibis.ifelse(held, user, 0.0)  # whose floor fits 64 bits
    return ~held | (small != small.floor())


def _between(column: Any, lowest: Any, highest: Any) -> Any:
    """Return a column without nulls, clipped: in SQL that can be read, as that of `clip` cannot."""
    import ibis

    return ibis.least(ibis.greatest(column, lowest), highest)


def _cut_off(total: Any) -> int:
    """Return a total that fits 64 bits: one beyond 2^62, of 2^38 records or more, is cut off.

    That moves no two totals farther apart, so that the promise of privacy holds.
    """
    return min(max(int(total), -LARGEST_TOTAL), LARGEST_TOTAL)
