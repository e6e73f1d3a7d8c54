"""Time private means of large tables, and write what was found to the book's data.

Every time is given as a multiple of another one, measured in the same run. Run by
`make bench-scale`, never by a test; it takes minutes, and a gigabyte for a temporary file.
"""

import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import duckdb
import ibis
import numpy as np
from pyspark.sql import SparkSession
from run import SEED, Row, machine, seconds, store, write
from tqdm import tqdm

import userdp as ud

COMMAND = "make bench-scale"
U = 65
REPEATS = 5
GIB = 2**30


def private_mean(data: object) -> ud.practice.PrivateMean:
    """Release a mean as everybody would."""
    return ud.private_mean("user", "value", lower=0, upper=U, eps=1, data=data)


def arrays() -> list[Row]:
    """Compare with numpy's grouped sum, which knows no privacy."""
    rng = np.random.default_rng(SEED)
    users, values = rng.integers(0, 10**5, 10**7), rng.uniform(0, U, 10**7)
    bare = lambda: np.bincount(users, weights=values)  # noqa: E731
    private = lambda: ud.private_mean(users, values, lower=0, upper=U, eps=1)  # noqa: E731
    private()  # imports what it needs
    # In turns, so that whatever else the machine does slows both.
    turns = np.array([(seconds(private), seconds(bare)) for _ in range(3 * REPEATS)])
    time_ratio = np.divide(*turns.min(axis=0))
    tracemalloc.start()
    private()
    memory_ratio = 1 + tracemalloc.get_traced_memory()[1] / (users.nbytes + values.nbytes)
    tracemalloc.stop()
    setting = "10,000,000 records of 100,000 users in numpy arrays"
    return [
        ("time, against the bare grouped sum np.bincount", setting, f"{time_ratio:.2g} times"),
        ("memory, against the two arrays alone", setting, f"{memory_ratio:.3g} times"),
    ]


def make_file(path: Path, n_records: int, n_users: int) -> None:
    """Write users, some of whom have many records, and values of 0 to 65 in steps of 1/100."""
    duckdb.sql(f"""
        COPY (
            SELECT (floor({n_users} * pow(hash(i) / 18446744073709551616, 2)))::BIGINT AS "user",
                   (hash(i + {n_records}) % {100 * U + 1}) / 100 AS "value"
            FROM range({n_records}) AS rows(i)
        ) TO '{path}'""")


def in_a_process_of_its_own(task: str, path: Path) -> tuple[float, float]:
    """Return the seconds that a task below takes, and the process's peak memory in bytes."""
    command = [sys.executable, __file__, task, str(path)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    duration, peak = answer.split()[-2:]
    return float(duration), float(peak)


TASKS: dict[str, Callable[[str], object]] = {
    "private mean": lambda path: private_mean(path),
    "bare average": lambda path: duckdb.sql(f"SELECT avg(value) FROM '{path}'").fetchall(),
    "bare grouped sum": lambda path: duckdb.sql(
        f"SELECT sum(s) FROM (SELECT sum(value) AS s FROM '{path}' GROUP BY \"user\")"
    ).fetchall(),
}


def run_task(task: str, path: str) -> None:
    """Print the shortest of three times, and the peak memory of this process."""
    shortest = seconds(lambda: TASKS[task](path), 3)
    print(shortest, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)  # Linux: KiB


def large_file() -> list[Row]:
    """Compare with bare queries on a file that is larger than the memory used."""
    n_records, n_users = 10**8, 10**6
    with TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        make_file(path, n_records, n_users)
        size = path.stat().st_size
        found = {task: in_a_process_of_its_own(task, path) for task in TASKS}
    setting = f"{n_records:,} records of {n_users:,} users, Parquet, DuckDB"
    private, peak = found["private mean"]
    assert peak <= 4 * GIB
    return [
        *(
            (f"time, against the {task}", setting, f"{private / found[task][0]:.2g} times")
            for task in ("bare average", "bare grouped sum")
        ),
        ("peak memory of the process", setting, f"{peak / GIB:.2g} GiB"),
        (
            "the same for the bare grouped sum",
            setting,
            f"{found['bare grouped sum'][1] / GIB:.2g} GiB",
        ),
        ("size of the file", setting, f"{size / GIB:.2g} GiB"),
    ]


def engines(path: Path) -> Iterator[tuple[str, object]]:
    """Yield what each engine is given as data."""
    yield "numpy", duckdb.sql(f"FROM '{path}'").fetchnumpy()
    yield "DuckDB", path
    session = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield "Spark", ibis.pyspark.connect(session).read_parquet(path)


def times(function: Callable[[], object]) -> list[float]:
    """Return several times in order, after one run that does not count."""
    function()
    return sorted(seconds(function) for _ in range(REPEATS))


def growth() -> list[tuple[str | int | float, ...]]:
    """Let records and users grow, each over three decades, and time every engine."""
    sizes = [("records", n, 10**3) for n in (10**4, 10**5, 10**6, 10**7)]
    sizes += [("users", 10**6, n) for n in (10**2, 10**3, 10**4, 10**5)]
    rng, n = np.random.default_rng(SEED), 10**6
    users, values = rng.integers(0, 10**3, n), rng.uniform(0, U, n)
    unit = median(times(lambda: np.bincount(users, weights=values)))
    rows: list[tuple[str | int | float, ...]] = []
    with TemporaryDirectory() as folder:
        for number, (grows, n_records, n_users) in enumerate(tqdm(sizes, disable=None)):
            path = Path(folder) / f"{number}.parquet"
            make_file(path, n_records, n_users)
            for engine, data in engines(path):
                found = [t / unit for t in times(lambda d=data: private_mean(d))]
                cost = (f"{x:.3g}" for x in (found[0], median(found), found[-1]))
                rows.append((grows, engine, n_records, n_users, *cost))
    return rows


def write_growth() -> None:
    """Write the table behind the figure."""
    header = ("grows", "engine", "records", "users", "fastest", "median", "slowest")
    store("scale-growth.csv", header, growth(), COMMAND)


if __name__ == "__main__":
    if sys.argv[1:]:
        run_task(*sys.argv[1:])
    else:
        write("scale-machine.csv", ("Measured on", "Value"), machine(), COMMAND)
        write("scale.csv", ("What", "Setting", "Result"), arrays() + large_file(), COMMAND)
        write_growth()
