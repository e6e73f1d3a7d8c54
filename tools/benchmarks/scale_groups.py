"""Time the means of several groups against one mean of the same table.

Every time is given as a multiple of another one, measured in the same run. Run by
`make bench-scale`, never by a test; it takes a minute.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pyarrow
from pyarrow import parquet
from run import SEED, Row, seconds, write

from userdp import release

COMMAND = "make bench-scale"
U = 65
N_RECORDS = 10**7
N_GROUPS = 12
REPEATS = 5


def tasks(data: object) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return the release of one mean, and that of one mean per group."""
    one_mean = partial(
        release.private_mean, "user", "value", data=data, lower=0, upper=U, budget=1, objective="l1"
    )
    by_group = partial(
        release.private_means,
        "user",
        {"value": (0, U)},
        data=data,
        group="group",
        groups=range(N_GROUPS),
        budget=1,
    )
    return one_mean, by_group


def bare_queries(path: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return DuckDB's sums by user, and by user and group, without any check."""
    query = "SELECT sum(s) FROM (SELECT sum(value) AS s FROM '{}' GROUP BY {})"
    run = [query.format(path, keys) for keys in ('"user"', '"user", "group"')]
    by_user, by_group = (partial(lambda text: duckdb.sql(text).fetchall(), text) for text in run)
    return by_user, by_group


def time_ratio(base: Callable[[], object], by_group: Callable[[], object]) -> str:
    """Return the ratio of the shortest times of alternating calls, after one that is not timed."""
    base(), by_group()
    timings = np.array([(seconds(by_group), seconds(base)) for _ in range(REPEATS)])
    return f"{np.divide(*timings.min(axis=0)):.2g} times"


def groups() -> Iterator[Row]:
    """Compare, for tables in which every user has many or few records in each group."""
    rng = np.random.default_rng(SEED)
    private = f"time of {N_GROUPS} means by group, against one mean"
    bare = "time of the bare sums by user and group, against those by user"
    for n_users in (10**4, 10**5):
        table = {
            "user": rng.integers(0, n_users, N_RECORDS),
            "value": rng.uniform(0, U, N_RECORDS),
            "group": rng.integers(0, N_GROUPS, N_RECORDS),
        }
        setting = f"{N_RECORDS:,} records of {n_users:,} users"
        yield private, f"{setting} in numpy arrays", time_ratio(*tasks(table))
        with TemporaryDirectory() as folder:
            path = str(Path(folder) / "records.parquet")
            parquet.write_table(pyarrow.table(table), path)
            yield private, f"{setting}, Parquet, DuckDB", time_ratio(*tasks(path))
            yield bare, f"{setting}, Parquet, DuckDB", time_ratio(*bare_queries(path))


if __name__ == "__main__":
    write("scale-groups.csv", ("What", "Setting", "Result"), groups(), COMMAND)
