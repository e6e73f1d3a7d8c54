"""Measure what a release of a large table reads, shuffles and holds, for the book's cost model.

It measures bytes instead of times, because they hardly depend on the machine. Run by
`make bench-scale`, never by a test; it takes two minutes.
"""

import resource
import tracemalloc
from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import ibis
from pyspark.sql import SparkSession
from run import Row, write

from userdp import release
from userdp.release._grid import Window, read_grid
from userdp.release._rows import Rules
from userdp.release._sources import read_tally

COMMAND = "make bench-scale"
HEADER = ("what", "ids", "records", "users", "threads", "number")
U = 65
ANY_WINDOW = Window(0, 0, -(2**30), 2**30)

IDS = {
    "whole numbers": "({user})::BIGINT",
    "texts of 32 characters": "md5(({user})::VARCHAR)",
}


def rows_of(ids: str, n_records: int, n_users: int) -> str:
    """Return a query for records in random order, with about equally many per user."""
    user = IDS[ids].format(user=f"hash(i) % {n_users}")
    value = f"(hash(i + {n_records}) % {100 * U + 1}) / 100"
    return f'SELECT {user} AS "user", {value} AS "value" FROM range({n_records}) AS rows(i)'


def query_all(table: Any) -> None:
    """Scan a table, and run both queries on its tally, as a release does."""
    with read_tally("user", "value", table, Rules(read_grid(0, U))) as tally:
        tally.survey()
        tally.clipped_total(ANY_WINDOW)


def peak() -> int:
    """Return the largest memory that this process has had so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # on Linux in KiB


def growth_with_duckdb(ids: str, n_records: int, n_users: int, threads: int) -> int:
    """Return the growth of a process's memory while DuckDB makes a tally and runs the queries."""
    connection = ibis.duckdb.connect(threads=threads, temp_directory="")
    connection.raw_sql("SET enable_progress_bar = false")
    connection.raw_sql(f"CREATE VIEW records AS {rows_of(ids, n_records, n_users)}")
    table = connection.table("records")
    before = peak()
    query_all(table)
    return peak() - before


def duckdb_memory() -> Iterator[Row]:
    """Measure increasing numbers of users with two threads, and of records with four."""
    cases = [(ids, 4 * n, n, 2) for ids in IDS for n in (2 * 10**6, 6 * 10**6)]
    cases += [("whole numbers", n, 4 * 10**6, 4) for n in (10**7, 3 * 10**7)]
    # Not used to fit the cost model, but to test its predictions.
    cases += [("whole numbers", 3 * 10**7, 5 * 10**6, 2), ("whole numbers", 2 * 10**7, 10**7, 4)]
    for case in cases:
        with get_context("spawn").Pool(1) as pool:
            yield "memory of DuckDB", *case, pool.apply(growth_with_duckdb, case)


def spark_session() -> SparkSession:
    """Return a local Spark session on two cores that logs nothing."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def shuffles(session: SparkSession) -> list[tuple[int, int]]:
    """Return the rows and bytes that each stage has written for other stages so far."""
    gateway = session.sparkContext._gateway
    store = session.sparkContext._jsc.sc().statusStore()
    everything = gateway.jvm.java.util.ArrayList()
    no_quantiles = gateway.new_array(gateway.jvm.double, 0)
    stages = store.stageList(everything, False, False, no_quantiles, everything)
    summaries = [stages.apply(i) for i in range(stages.size())]
    return [(stage.shuffleWriteRecords(), stage.shuffleWriteBytes()) for stage in summaries]


def files_and_spark() -> Iterator[Row]:
    """Write a file, make its tally with Spark, and measure what Spark shuffled and kept."""
    n_records, n_users = 4 * 10**6, 10**6
    session = spark_session()
    for ids in IDS:
        case = ids, n_records, n_users
        with TemporaryDirectory() as folder:
            path = Path(folder) / "records.parquet"
            duckdb.sql(f"COPY ({rows_of(*case)}) TO '{path}'")
            yield "file", *case, "", path.stat().st_size
            table = ibis.pyspark.connect(session).read_parquet(path)
            rules = Rules(read_grid(0, U))
            with read_tally("user", "value", table, rules):
                cached = session.sparkContext._jsc.sc().getRDDStorageInfo()
                yield "kept by Spark", *case, 2, sum(part.memSize() for part in cached)
        rows, size = max(shuffles(session))
        yield "rows shuffled by Spark", *case, 2, rows
        yield "shuffled by Spark", *case, 2, size
        session.stop()
        session = spark_session()
    session.stop()


def calling_process() -> Iterator[Row]:
    """Trace Python's allocations for increasing numbers of users, and of distinct counts."""
    connection = ibis.duckdb.connect()
    private_mean = partial(release.private_mean, "user", "value", lower=0, upper=U, budget=1)
    # User k has k records.
    triangle = "floor((sqrt(8 * i + 1) - 1) / 2)"
    cases = [("users", f"i % {n}", 2 * n) for n in (10**5, 10**7)]
    cases += [("sizes", triangle, k * (k + 1) // 2) for k in (500, 2500)]
    private_mean(data=ibis.memtable({"user": [1], "value": [1.0]}))  # import before tracing
    for quantity, user, n_records in cases:
        query = f"SELECT {user} AS user, 1.0 AS value FROM range({n_records}) rows(i)"
        connection.raw_sql(f"CREATE OR REPLACE VIEW records AS {query}")
        tracemalloc.start()
        result = private_mean(data=connection.table("records"))
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        what = f"calling process, {quantity} grow"
        yield what, "whole numbers", result.n_records, result.n_users, 2, peak_bytes


def measured() -> Iterator[Row]:
    """Measure everything."""
    yield from duckdb_memory()
    yield from files_and_spark()
    yield from calling_process()


if __name__ == "__main__":
    write("scale-costs.csv", HEADER, measured(), COMMAND)
