"""Time private means of large tables, and write the results to the book's data.

Every time is given as a multiple of another one, measured in the same run. Run by
`make bench-scale`, never by a test; it takes minutes, and a gigabyte for a temporary file.
"""

import re
import resource
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import duckdb
import ibis
import numpy as np
from pyspark.sql import SparkSession
from run import SEED, Row, seconds, write, write_machine
from tqdm import tqdm

from userdp import release

COMMAND = "make bench-scale"
U = 65
REPEATS = 5
GIB = 2**30
MAX_ADDRESS_SPACE = 8 * GIB
"""Limit of the address space of a process with DuckDB; Java asks for more than it uses."""

private_mean = partial(release.private_mean, "user", "value", lower=0, upper=U, budget=1)


def arrays() -> Iterator[Row]:
    """Compare with numpy's grouped sum, which is not private."""
    rng = np.random.default_rng(SEED)
    users, values = rng.integers(0, 10**5, 10**7), rng.uniform(0, U, 10**7)
    grouped_sum = partial(np.bincount, users, weights=values)
    private = partial(release.private_mean, users, values, lower=0, upper=U, budget=1)
    private()  # import its modules before timing
    # Alternate, so that other load on the machine slows both.
    timings = np.array([(seconds(private), seconds(grouped_sum)) for _ in range(3 * REPEATS)])
    time_ratio = np.divide(*timings.min(axis=0))
    tracemalloc.start()
    private()
    memory_ratio = 1 + tracemalloc.get_traced_memory()[1] / (users.nbytes + values.nbytes)
    tracemalloc.stop()
    setting = "10,000,000 records of 100,000 users in numpy arrays"
    yield "time, against the bare grouped sum np.bincount", setting, f"{time_ratio:.2g} times"
    yield "memory, against the two arrays alone", setting, f"{memory_ratio:.3g} times"


def make_file(path: Path, n_records: int, n_users: int) -> None:
    """Write users, some of whom have many records, and values of 0 to 65 in steps of 1/100."""
    duckdb.sql(f"""
        COPY (
            SELECT (floor({n_users} * pow(hash(i) / 18446744073709551616, 2)))::BIGINT AS "user",
                   (hash(i + {n_records}) % {100 * U + 1}) / 100 AS "value"
            FROM range({n_records}) AS rows(i)
        ) TO '{path}'""")


GROUPED = "SELECT sum(s) FROM (SELECT sum(value) AS s FROM {table} GROUP BY {user})"
AVERAGE = "SELECT avg(value) FROM {table}"

Task = Callable[[], object]


def tasks_of_duckdb(path: str) -> dict[str, Task]:
    """Return the tasks to time on a file with DuckDB."""

    def run(query: str) -> object:
        return duckdb.sql(query.format(table=f"'{path}'", user='"user"')).fetchall()

    return {
        "private mean": lambda: private_mean(data=path),
        "bare grouped sum": lambda: run(GROUPED),
        "bare average": lambda: run(AVERAGE),
    }


def tasks_of_spark(path: str) -> dict[str, Task]:
    """Return the tasks to time on a file with Spark."""
    session = spark_session()
    session.read.parquet(path).createOrReplaceTempView("records")
    table = ibis.pyspark.connect(session).table("records")
    return {
        "private mean": lambda: private_mean(data=table),
        "bare grouped sum": lambda: session.sql(
            GROUPED.format(table="records", user="user")
        ).collect(),
    }


TASKS = {"DuckDB": tasks_of_duckdb, "Spark": tasks_of_spark}
TASK_NAMES = {
    "DuckDB": ("private mean", "bare grouped sum", "bare average"),
    "Spark": ("private mean", "bare grouped sum"),
}


def spark_session() -> SparkSession:
    """Return a local Spark session that logs nothing."""
    session = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def run_task(engine: str, task: str, path: str) -> tuple[float, float]:
    """Return the shortest of several times, and the peak memory of this process and of Spark's."""
    if engine == "DuckDB":
        resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, MAX_ADDRESS_SPACE))
    shortest = seconds(TASKS[engine](path)[task], REPEATS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # on Linux in KiB
    if engine == "Spark":
        java = spark_session().sparkContext._gateway.proc.pid
        (line,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{java}/status").read_text())
        peak = int(line) * 1024
    return shortest, peak


def run_alternately(engine: str, path: str) -> dict[str, tuple[float, float]]:
    """Run each task in its own processes, alternating; return shortest times and smallest peaks.

    The tasks alternate so that other load on the machine slows all of them.
    """
    results: dict[str, list[tuple[float, float]]] = {}
    for task in 2 * TASK_NAMES[engine]:
        with get_context("spawn").Pool(1) as pool:
            results.setdefault(task, []).append(pool.apply(run_task, (engine, task, path)))
    return {task: tuple(map(min, zip(*runs, strict=True))) for task, runs in results.items()}


def large_files() -> Iterator[Row]:
    """Compare with bare queries on files, some of which are larger than the memory used."""
    for engine, n_records, n_users in (
        ("DuckDB", 2 * 10**7, 5 * 10**5),
        ("DuckDB", 10**8, 10**6),
        ("Spark", 2 * 10**7, 5 * 10**5),
    ):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "records.parquet"
            make_file(path, n_records, n_users)
            size = path.stat().st_size
            results = run_alternately(engine, str(path))
        setting = f"{n_records:,} records of {n_users:,} users, Parquet, {engine}"
        time, peak = results.pop("private mean")
        for task, (bare, _) in results.items():
            yield f"time, against the {task}", setting, f"{time / bare:.2g} times"
        bare_peak = results["bare grouped sum"][1]
        yield (
            "peak memory, against the bare grouped sum",
            setting,
            f"{peak / bare_peak:.2g} times",
        )
        yield "peak memory", setting, f"{peak / GIB:.2g} GiB"
        yield "size of the file", setting, f"{size / GIB:.2g} GiB"
    limit = f"{MAX_ADDRESS_SPACE / GIB:.0f} GiB"
    yield "limit of the address space, which was kept", "all of these in DuckDB", limit


def engines(path: Path) -> Iterator[tuple[str, object]]:
    """Yield the data argument for each engine."""
    yield "numpy", duckdb.sql(f"FROM '{path}'").fetchnumpy()
    yield "DuckDB", path
    yield "Spark", ibis.pyspark.connect(spark_session()).read_parquet(path)


def times(function: Callable[[], object]) -> list[float]:
    """Return several times in ascending order, after one run that is not counted."""
    function()
    return sorted(seconds(function) for _ in range(REPEATS))


def growth() -> Iterator[Row]:
    """Time every engine for increasing numbers of records and users, over three decades each."""
    sizes = [("records", n, 10**3) for n in (10**4, 10**5, 10**6, 10**7)]
    sizes += [("users", 10**6, n) for n in (10**2, 10**3, 10**4, 10**5)]
    rng, n = np.random.default_rng(SEED), 10**6
    users, values = rng.integers(0, 10**3, n), rng.uniform(0, U, n)
    unit = median(times(lambda: np.bincount(users, weights=values)))
    with TemporaryDirectory() as folder:
        for number, (quantity, n_records, n_users) in enumerate(tqdm(sizes, disable=None)):
            path = Path(folder) / f"{number}.parquet"
            make_file(path, n_records, n_users)
            for engine, data in engines(path):
                ratios = [t / unit for t in times(partial(private_mean, data=data))]
                cost = (f"{x:.3g}" for x in (ratios[0], median(ratios), ratios[-1]))
                yield quantity, engine, n_records, n_users, *cost


if __name__ == "__main__":
    write_machine("scale-machine.csv", COMMAND)
    write("scale.csv", ("What", "Setting", "Result"), chain(arrays(), large_files()), COMMAND)
    header = ("grows", "engine", "records", "users", "fastest", "median", "slowest")
    write("scale-growth.csv", header, growth(), COMMAND)
