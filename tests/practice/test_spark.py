"""The same release, bit for bit, from arrays, from DuckDB and from Spark."""

import gc
import os
import re
import shutil
import subprocess
import sys
from decimal import Decimal
from importlib.util import find_spec
from math import ceil, nan, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_functions import functions_of

import userdp as ud
from userdp.practice import ProtectedTally, protected_tally

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "benchmarks" / "recipes" / "spark.py"
SHOWN = ROOT / "book" / "data" / "at-scale-spark.txt"
REQUIRED = bool(os.environ.get("USERDP_REQUIRE_EXTRAS"))
NEEDED = "Spark needs Java 17 here: its Hadoop asks newer ones for what they no longer have"


def is_java_17():
    """Whether the Java that Spark would start is of that version."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    said = java and subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    return bool(said) and '"17.' in said.stderr


JAVA = is_java_17()

pytestmark = [
    pytest.mark.skipif(
        not REQUIRED and not find_spec("pyspark"), reason="no Spark: run `make extras` first"
    ),
    pytest.mark.skipif(not REQUIRED and not JAVA, reason=NEEDED),
    # What Ibis, Spark and Py4J do behind the scenes with pandas, DuckDB and their sockets.
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning:ibis"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated:DeprecationWarning:pyspark"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string':DeprecationWarning:ibis"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:`eps` is not stated:UserWarning"),
]

LOWER, UPPER, N = 0.1, 6.6, 4000
ENGINES = ("arrays", "DuckDB", "Spark")
DIRT = ProtectedTally(rows=N, without_user=7, without_value=5 + 3, outside=4 + 2)


def columns(dirty):
    """One row a record: users and values of several types; missing and outside ones, if dirty."""
    import pyarrow as pa

    rng = np.random.default_rng(20250271)
    users = rng.zipf(1.7, N).clip(max=150).tolist()
    values = np.round(rng.uniform(LOWER, UPPER, N), 2).clip(LOWER, UPPER).tolist()
    if dirty:
        users[:7] = [None] * 7
        values[7:12] = [None] * 5
        values[12:15] = [nan] * 3
        values[15:21] = [UPPER + 1] * 4 + [float("inf"), -1e300]
        values[3] = UPPER + 1  # in a row without a user: missing, not outside
    near = [None if v is None or v != v else min(max(v, -5), 9) for v in values]
    whole = [None if v is None else ceil(v) for v in near]
    cents = [None if v is None else Decimal(round(100 * v)).scaleb(-2) for v in near]
    return pa.table(
        {
            "integer": pa.array(users, pa.int32()),
            "text": pa.array([None if u is None else f"ü{u}" for u in users]),
            "float": pa.array([nan if u is None else 3.0 * u for u in users]),
            "double": pa.array(values, pa.float64()),
            "single": pa.array(values, pa.float32()),
            "whole": pa.array(whole, pa.int64()),
            "cents": pa.array(cents, pa.decimal128(12, 2)),
        }
    )


@pytest.fixture(scope="module")
def spark():
    """An Ibis connection to Spark in this process, with two threads."""
    assert JAVA, NEEDED
    import ibis
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield ibis.pyspark.connect(session)
    session.stop()
    gc.collect()  # its sockets are closed here, not in the midst of another test


@pytest.fixture(scope="module", params=["clean", "dirty"])
def sources(request, spark, tmp_path_factory):
    """The same rows for every engine: in memory, and in a file."""
    import pyarrow.parquet as pq

    rows = columns(request.param == "dirty")
    path = tmp_path_factory.mktemp("spark") / "records.parquet"
    pq.write_table(rows, path, row_group_size=N // 4)
    return request.param, dict(zip(ENGINES, (rows, path, spark.read_parquet(path)), strict=True))


def outcome(user, value, data, upper=UPPER, **options):
    """The release, or the words of the refusal."""
    try:
        return ud.private_mean(user, value, lower=LOWER, upper=upper, eps=0.7, data=data, **options)
    except ValueError as error:
        return str(error)


def dropping(user, value, data):
    return outcome(user, value, data, outside="clamp", missing="drop")


def without_missing_users(data):
    """The rows that have one, wherever they are."""
    import ibis
    import pyarrow as pa

    if isinstance(data, Path):
        data = ibis.duckdb.connect().read_parquet(data)
    if isinstance(data, pa.Table):
        keep = data["integer"].is_valid()
        return data.filter(keep)
    return data.filter(data.integer.notnull())


@pytest.mark.parametrize(
    ("user", "value"),
    [("integer", "double"), ("text", "single"), ("float", "whole"), ("text", "cents")],
)
def test_every_engine_makes_the_same_release_bit_for_bit(sources, opendp, user, value):
    kind, data = sources
    upper = UPPER + 0.5  # room for values rounded to whole numbers, or to float32
    choices = [{}]
    if kind == "dirty":
        data = {engine: without_missing_users(rows) for engine, rows in data.items()}
        choices += [{"missing": "centre", "outside": "clamp"}]
    made = [[outcome(user, value, data[e], upper, **c) for c in choices] for e in ENGINES]
    arrays, duckdb, spark = made
    assert arrays == duckdb
    assert arrays == spark
    if kind == "clean":
        assert arrays[0].n_records == N
    else:
        refusal, clamped = arrays
        assert "`value` must not be missing" in refusal
        assert clamped.n_records == N - 7
    assert len(opendp.asked) == 3
    assert len(set(opendp.asked)) == 1


def test_rows_are_dropped_alike(sources, opendp):
    kind, data = sources
    choice = {"missing": "drop", "outside": "drop"}
    arrays, duckdb, spark = (outcome("text", "double", data[e], **choice) for e in ENGINES)
    assert arrays == duckdb == spark
    assert arrays.n_records == N - (sum(DIRT[1:]) if kind == "dirty" else 0)


def test_bounds_of_17_digits_reach_spark_exactly(sources, opendp):
    _, data = sources
    rng = np.random.default_rng(20250272)
    for _ in range(4):
        bounds = {"lower": LOWER + rng.random(), "upper": UPPER - rng.random(), "eps": 2}
        rules = {"missing": "drop", "outside": "clamp"}
        made = [ud.private_mean("text", "double", data=data[e], **bounds, **rules) for e in ENGINES]
        assert made[0] == made[1] == made[2]
        assert len(set(opendp.asked[-3:])) == 1


def test_tallies_are_the_same(sources):
    kind, data = sources
    found = {
        protected_tally("text", "double", lower=LOWER, upper=UPPER, data=data[e]) for e in ENGINES
    }
    assert found == {DIRT if kind == "dirty" else ProtectedTally(N, 0, 0, 0)}


def test_protected_counts_agree(sources, opendp):
    _, data = sources
    rules = {"missing": "drop", "outside": "clamp", "cap": 7, "reach": 2.0}
    made = [
        ud.private_mean_protected_counts(
            "text", "double", lower=LOWER, upper=UPPER, eps=1, data=data[e], **rules
        )
        for e in ENGINES
    ]
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("user", ["integer", "text"])
def test_counts_agree(sources, user):
    kind, data = sources
    if kind == "dirty":
        for engine in ENGINES:
            with pytest.raises(ValueError, match="`user` must not be missing"):
                ud.user_counts(user, data=data[engine])
        return
    arrays, duckdb, spark = (ud.user_counts(user, data=data[e]) for e in ENGINES)
    assert arrays.sum() == N
    assert arrays.tolist() == duckdb.tolist() == spark.tolist()


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_a_few_numbers_leave_the_engine(sources, engine, monkeypatch):
    from ibis.expr.types import Expr

    shapes, fetch = [], Expr.to_pyarrow

    def spy(expression, *arguments, **options):
        answer = fetch(expression, *arguments, **options)
        shapes.append((len(answer), len(answer.columns)) if hasattr(answer, "columns") else (1, 1))
        return answer

    monkeypatch.setattr(Expr, "to_pyarrow", spy)
    for name in ("execute", "to_pyarrow_batches"):
        monkeypatch.setattr(Expr, name, lambda *_, **__: pytest.fail("another way out"))
    result = dropping("text", "double", sources[1][engine])
    (sizes, first), (again, second) = shapes
    assert (first, second) == (6, 7)
    few = (sqrt(8 * result.n_records + 1) - 1) / 2
    assert sizes == again <= len(result.clips) + 1 <= few + 1


def test_spark_gathers_partial_sums_only_on_one_partition(sources, spark, monkeypatch):
    """No window, no sort, and what meets on one partition has been added up before."""
    from ibis.expr.types import Expr

    plans, fetch = [], Expr.to_pyarrow

    def spy(expression, **options):
        plan = spark.raw_sql(spark.compile(expression))._jdf.queryExecution()
        plans.append(plan.executedPlan().toString())
        return fetch(expression, **options)

    monkeypatch.setattr(Expr, "to_pyarrow", spy)
    dropping("text", "double", sources[1]["Spark"])
    assert len(plans) == 2
    for plan in plans:
        assert not re.search(r"Window|Sort|Python|Limit", plan)
        for below in re.findall(r"SinglePartition.*\n(.*)", plan):
            assert re.search(r"HashAggregate\(keys=\[\], functions=\[partial_", below)
    assert [plan.count("SinglePartition") for plan in plans] == [0, 0]
    assert [plan.count("FileScan") for plan in plans] == [1, 1]


def test_the_script_on_the_page_prints_what_the_page_shows(tmp_path):
    """Only the first two lines rest on the noise, which takes no seed."""
    trips = functions_of("at-scale", pd=pd).make_trips(20_000, np.random.default_rng(20250271))
    trips.to_parquet(tmp_path / "trips.parquet")
    command = [sys.executable, str(RECIPE), "trips.parquet"]
    small = "--conf spark.sql.shuffle.partitions=2 --conf spark.ui.enabled=false pyspark-shell"
    settings = {**os.environ, "PYSPARK_SUBMIT_ARGS": small}
    ran = subprocess.run(
        command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    printed, shown = ran.stdout.splitlines(), SHOWN.read_text().splitlines()
    assert printed[2:] == shown[2:]
    assert [line[:28] for line in printed[:2]] == [line[:28] for line in shown[:2]]
