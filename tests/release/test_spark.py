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

from userdp import release
from userdp.beyond.split import _split_at
from userdp.release import ProtectedTally, protected_tally
from userdp.release import _engines as engines
from userdp.release import _grouped_engines as grouped_engines
from userdp.release._backends import Spark
from userdp.release._grid import Grid, Window
from userdp.release._grouped import GroupRules, InfluenceClipping
from userdp.release._rows import Rules
from userdp.release._sources import read_groups, read_tally

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "tools" / "benchmarks" / "recipes" / "spark.py"
SHOWN = ROOT / "book" / "data" / "at-scale-spark.txt"
REQUIRED = bool(os.environ.get("USERDP_REQUIRE_EXTRAS"))
NEEDED = "Spark needs Java 17 here: its Hadoop uses methods that newer versions lack"


def is_java_17():
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    version = java and subprocess.run(
        [java, "-version"], capture_output=True, text=True, check=False
    )
    return bool(version) and '"17.' in version.stderr


HAS_JAVA_17 = is_java_17()

MISSING = NEEDED if find_spec("pyspark") else "no Spark: run `make extras` first"
pytestmark = [
    pytest.mark.skipif(not REQUIRED and not (find_spec("pyspark") and HAS_JAVA_17), reason=MISSING),
    pytest.mark.filterwarnings(
        # Caused by Ibis, Spark and Py4J in their use of pandas, DuckDB and sockets.
        "ignore:The copy keyword is deprecated:DeprecationWarning:pyspark",
        "ignore:The 'future.infer_string':DeprecationWarning:ibis",
        "ignore:unclosed <socket:ResourceWarning",
        "ignore:`eps` is not stated:UserWarning",
    ),
]

LOWER, UPPER, N, USERS = 0.1, 6.6, 4000, 100
ENGINES = ("arrays", "DuckDB", "Spark")
KINDS = {
    "clean": ProtectedTally(rows=N, users=USERS, without_user=0, without_value=0, outside=0),
    "dirty": ProtectedTally(
        rows=N, users=USERS, without_user=7, without_value=5 + 3, outside=4 + 2
    ),
    "dirty values": ProtectedTally(
        rows=N - 7, users=USERS, without_user=0, without_value=5 + 3, outside=4 + 2
    ),
}


def columns(dirty):
    """One row per record, with several types; if dirty, some are missing or outside the bounds."""
    import pyarrow as pa

    rng = np.random.default_rng(20250271)
    users = rng.zipf(1.7, N).clip(max=150).tolist()
    values = np.round(rng.uniform(LOWER, UPPER, N), 2).clip(LOWER, UPPER).tolist()
    if dirty:
        users[:7] = [None] * 7
        values[7:12] = [None] * 5
        values[12:15] = [nan] * 3
        values[15:21] = [UPPER + 1] * 4 + [float("inf"), -1e300]
        values[3] = UPPER + 1  # its row has no user, so it counts as missing, not as outside
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
def spark(tmp_path_factory):
    assert HAS_JAVA_17, NEEDED
    import ibis
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield ibis.pyspark.connect(session)
    session.stop()
    gc.collect()  # close its sockets now, not during another test


@pytest.fixture(scope="module")
def sources(request, spark, tmp_path_factory):
    import pyarrow.parquet as pq

    kind = request.param
    rows = columns(kind != "clean")[N - KINDS[kind].rows :]
    path = tmp_path_factory.mktemp("spark") / "records.parquet"
    pq.write_table(rows, path, row_group_size=N // 4)
    return KINDS[kind], dict(zip(ENGINES, (rows, path, spark.read_parquet(path)), strict=True))


def common_result(sources, compute):
    """The result on which all engines agree; for a refusal its message."""
    results = []
    for engine in ENGINES:
        try:
            results.append(compute(sources[1][engine]))
        except ValueError as error:
            results.append(str(error))
    assert results[0] == results[1] == results[2]
    return results[0]


PAIRS = [("integer", "double"), ("text", "single"), ("float", "whole"), ("text", "cents")]
CLAMP, CENTRE, DROP = {"outside": "clamp"}, {"missing": "centre"}, {"missing": "drop"}
ROUGH = {"upper": UPPER + 0.5}  # allows values rounded to whole numbers or to float32
RNG = np.random.default_rng(20250272)
DIGITS = [{"lower": LOWER + RNG.random(), "upper": UPPER - RNG.random()} for _ in range(4)]
RELEASES = [
    *(("clean", *pair, ROUGH) for pair in PAIRS),
    *(("dirty values", *pair, ROUGH | rule) for pair in PAIRS for rule in ({}, CENTRE | CLAMP)),
    *((kind, "text", "double", DROP | {"outside": "drop"}) for kind in ("clean", "dirty")),
    *(("dirty", "text", "double", bounds | DROP | CLAMP) for bounds in DIGITS),  # of 17 digits
]


@pytest.mark.parametrize(("sources", "user", "value", "options"), RELEASES, indirect=["sources"])
def test_every_engine_makes_the_same_release_bit_for_bit(sources, opendp, user, value, options):
    rows, _, *dirt = sources[0]
    options = {"lower": LOWER, "upper": UPPER, "budget": 0.7} | options
    result = common_result(
        sources, lambda data: release.private_mean(user, value, data=data, **options)
    )
    if any(dirt) and "missing" not in options:
        assert "`value` must not be missing" in result
        return
    dropped = {"centre": 0, "drop": dirt[0] + dirt[1]}.get(options.get("missing"), 0)
    dropped += dirt[2] * (options.get("outside") == "drop")
    assert result.n_records == rows - dropped
    assert len(opendp.requests) == 3
    assert len(set(opendp.requests)) == 1


@pytest.mark.parametrize("sources", ["dirty"], indirect=True)
@pytest.mark.parametrize("eps", [0.7, 1e-9])
def test_every_engine_makes_the_same_release_in_two_parts(sources, opendp, eps, monkeypatch):
    """Always split below the third largest count, even if that is not better."""
    monkeypatch.setattr(
        "userdp.release._mean.best_split",
        lambda users, law: _split_at(users.histogram[0].size - 3, users, law),
    )
    options = {"lower": LOWER, "upper": UPPER, "budget": eps, "objective": "l1"} | DROP | CLAMP
    result = common_result(
        sources, lambda data: release.private_mean("text", "double", data=data, **options)
    )
    heavy, light = result.parts
    assert heavy.fewest > 9
    assert light.n_users > 90
    assert len(opendp.requests) == 6
    assert len(set(opendp.requests[::2])) == len(set(opendp.requests[1::2])) == 1
    whole = release.private_mean(
        "text", "double", data=sources[1][ENGINES[0]], centre=3.0, **options
    )
    assert (result.n_records, result.n_users) == (whole.n_records, whole.n_users)


@pytest.mark.parametrize("sources", ["clean"], indirect=True)
@pytest.mark.parametrize("strategy", ["joint", "divided"])
def test_every_engine_makes_the_same_means_of_groups(sources, opendp, strategy):
    values = {"double": (LOWER, UPPER), "cents": (LOWER, UPPER)}
    names = [-1, *range(9)]  # no value is rounded to -1
    result = common_result(
        sources,
        lambda data: release.private_means(
            "text", values, data=data, group="whole", groups=names, strategy=strategy, budget=3
        ).public(),
    )
    assert {one["strategy"] for one in result["means"]} == {strategy, "empty"}
    n_draws = 1 if strategy == "joint" else sum(one["n_records"] > 0 for one in result["means"])
    assert opendp.requests[:n_draws] * 3 == opendp.requests


every_source = pytest.mark.parametrize("sources", ["clean", "dirty"], indirect=True)
BOUNDS = {"lower": LOWER, "upper": UPPER}


@every_source
def test_other_results_are_the_same_on_every_engine(sources, opendp):
    columns, options = ("text", "double"), {"eps": 1, "cap": 7, "reach": 2.0, **BOUNDS, **CLAMP}
    tally = common_result(sources, lambda data: protected_tally(*columns, data=data, **BOUNDS))
    assert tally == sources[0]
    common_result(
        sources,
        lambda data: release.private_mean_protected_counts(*columns, data=data, **options, **DROP),
    )
    for user in ("integer", "text"):
        counts = common_result(
            sources, lambda data, user=user: release.user_counts(user, data=data).tolist()
        )
        assert "`user` must not be missing" in counts if tally.without_user else sum(counts) == N


@pytest.mark.parametrize(("kind", "edge"), [("float32", 2**24), ("float64", 2**53)])
def test_floats_are_ids_below_the_edge_of_their_type(kind, edge, spark, tmp_path):
    """Spark cannot read 16-bit floats, so its 32-bit floats keep their own limit."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def counts_of(*ids):
        path = tmp_path / f"{len([*tmp_path.iterdir()])}.parquet"
        pq.write_table(pa.table({"user": np.array(ids, kind), "value": [1.0] * len(ids)}), path)
        return release.user_counts("user", data=spark.read_parquet(path)).tolist()

    assert counts_of(edge - 1, edge - 2, edge - 1, 1 - edge) == [2, 1, 1]
    for odd in (edge, edge + 2, -edge):
        with pytest.raises(TypeError, match="`user` must hold ids: floats must be whole numbers"):
            counts_of(odd, 1, 2)


def release_with_dropping(data):
    options = BOUNDS | CLAMP | DROP
    return release.private_mean("text", "double", budget=0.7, data=data, **options)


@every_source
@pytest.mark.parametrize("engine", ENGINES[1:])
def test_only_a_few_numbers_leave_the_engine(sources, engine, monkeypatch):
    from ibis.expr.types import Expr

    shapes, fetch = [], Expr.to_pyarrow

    def spy(expression, *arguments, **options):
        fetched = fetch(expression, *arguments, **options)
        shapes.append(
            (len(fetched), len(fetched.columns)) if hasattr(fetched, "columns") else (1, 1)
        )
        return fetched

    monkeypatch.setattr(Expr, "to_pyarrow", spy)
    for name in ("execute", "to_pyarrow_batches"):
        monkeypatch.setattr(Expr, name, lambda *_, **__: pytest.fail("data leave the engine"))
    result = release_with_dropping(sources[1][engine])
    (sizes, numbers), total = shapes
    assert (numbers, total) == (6, (1, 1))
    few = (sqrt(8 * result.n_records + 1) - 1) / 2
    assert sizes <= len(result.clips) + 1 <= few + 1


@every_source
def test_spark_reads_a_table_once_and_shuffles_only_partial_sums(sources, spark, monkeypatch):
    """There is no window and no sort, and rows are added up before they are shuffled."""
    from ibis.expr.types import Expr

    plans, fetch, keep = [], Expr.to_pyarrow, Spark.keep

    def record_plan(query):
        plan = spark.raw_sql(spark.compile(query))._jdf.queryExecution()
        plans.append(plan.executedPlan().toString())
        return query

    monkeypatch.setattr(Spark, "keep", lambda self, q, name: keep(self, record_plan(q), name))
    monkeypatch.setattr(Expr, "to_pyarrow", lambda query, **kind: fetch(record_plan(query), **kind))
    release_with_dropping(sources[1]["Spark"])
    for plan in plans:
        assert not re.search(r"Window|Sort|Python|Limit", plan)
        for below in re.findall(r"SinglePartition.*\n(.*)", plan):
            assert re.search(r"HashAggregate\(keys=\[\], functions=\[partial_", below)
    assert [plan.count("FileScan") for plan in plans] == [1, 0, 0]
    assert [plan.count("SinglePartition") for plan in plans] == [0, 0, 1]


@pytest.mark.parametrize("sources", ["clean"], indirect=True)
def test_no_table_is_left_in_spark(sources, spark):
    before = spark.list_tables()
    release_with_dropping(sources[1]["Spark"])
    with pytest.raises(ValueError, match="`value` must lie between the bounds"):
        release.private_mean("text", "double", lower=0, upper=1, budget=1, data=sources[1]["Spark"])
    assert spark.list_tables() == before


def test_sums_of_one_user_beyond_64_bits_are_exact_in_spark(spark):
    """For 2^23 + 1 records at the top level, Spark's own sum would overflow."""
    n, grid = 2**23 + 1, Grid(0.0, 1.0, 40)
    table = spark.sql(f"SELECT 'a' AS user, CAST(1 AS DOUBLE) AS value FROM range({n})")
    with read_tally("user", "value", table, Rules(grid)) as tally:
        assert tally.clipped_total(Window(0, 2, 0, 2**62)) == n * 2**38


def test_the_script_on_the_page_prints_what_the_page_shows(tmp_path):
    """Only the first two lines depend on the noise, which has no seed."""
    trips = functions_of("at-scale", pd=pd).make_trips(20_000, np.random.default_rng(20250271))
    trips.to_parquet(tmp_path / "trips.parquet")
    command = [sys.executable, str(RECIPE), "trips.parquet"]
    small = "--conf spark.sql.shuffle.partitions=2 --conf spark.ui.enabled=false pyspark-shell"
    settings = {"cwd": tmp_path, "env": {**os.environ, "PYSPARK_SUBMIT_ARGS": small}}
    printed = subprocess.check_output(command, **settings, text=True, timeout=300).splitlines()
    shown = SHOWN.read_text().splitlines()
    assert printed[2:] == shown[2:]
    assert [line[:28] for line in printed[:2]] == [line[:28] for line in shown[:2]]


def new_session(spark):
    import ibis

    connection = ibis.pyspark.connect(spark._session.newSession())
    connection.raw_sql(
        "CREATE TEMPORARY VIEW small AS SELECT * FROM VALUES ('a', 1D, 3), ('b', 2D, 4), "
        "('A', 5D, 5), ('a', NULL, 6), (NULL, 3D, NULL) AS small(text, double, whole)"
    )
    return connection


@pytest.fixture
def session(spark):
    """A session with its own functions and settings, and a small table."""
    return new_session(spark)


@pytest.fixture(scope="module")
def usual_results(spark):
    """The results of all queries in a session with Spark's own settings and functions."""
    return all_queries(new_session(spark))


def all_queries(connection):
    """Run all queries of releases, for users that are text, floats and whole numbers."""
    window, results = Window(2**19, 2, -5, 5), []
    for user, value in (("text", "double"), ("double", "whole"), ("whole", "double")):
        with read_tally(user, value, connection.table("small"), Rules(Grid(0.0, 6.0, 20))) as tally:
            results.append(tally.survey())
            results.append(tally.clipped_total(window))
            results.append(tally.weighted_total(window, 2))
    rules = GroupRules((Grid(0.0, 6.0, 20),), ("3",))
    clipping = InfluenceClipping({0: 2}, 4, {0: 1.0}, ((0.5, 1.5),))
    with read_groups("text", ["double"], "whole", connection.table("small"), rules) as tally:
        results += [
            tally.survey(),
            tally.links(),
            tally.influences(clipping.influence_per_record, [1]),
        ]
        results += [tally.widths([clipping]), tally.totals(clipping, 0, {0: 0.5}, 2**19)]
        results.append(tally.cell(0, 0).clipped_total(window))
    return results


def register(connection, name):
    from pyspark.sql.types import DoubleType

    connection._session.udf.register(name, lambda *_: 1.0, DoubleType())


def built_in_functions(connection):
    """Return the names of Spark's built-in functions that are words."""
    rows = connection.raw_sql("SHOW SYSTEM FUNCTIONS").collect()
    return {name for (name,) in rows if name.isidentifier()}


def test_functions_that_replace_built_in_functions_of_spark_are_refused(session):
    """Spark uses the function registered last with a name, even the name of a built-in function."""
    import ibis

    assert all_queries(session)
    for name in sorted(Spark.functions):
        connection = ibis.pyspark.connect(session._session.newSession())
        connection.raw_sql(
            "CREATE TEMPORARY VIEW small AS SELECT 'a' AS text, 1D AS double, 3 AS whole"
        )
        register(connection, name.upper())
        with pytest.raises(ValueError, match=f"got functions or macros named {name}[.]"):
            all_queries(connection)


def called_in(sent):
    """Return the words before brackets in queries, which include all called functions."""
    return {name.lower() for name in re.findall(r"\b(\w+)\(", " ".join(sent))}


def test_all_functions_of_spark_that_queries_call_are_known(session, monkeypatch):
    """Whether by name, or by an operator that Spark converts to a call, such as BETWEEN."""
    sent, real = [], type(session).raw_sql

    def record_query(connection, query, **kwargs):
        sent.append(str(query))
        return real(connection, query, **kwargs)

    def record_and_run(query, run=engines.run_query):
        sent.append(session.compile(query))
        return run(query)

    monkeypatch.setattr(type(session), "raw_sql", record_query)
    monkeypatch.setattr(engines, "run_query", record_and_run)
    monkeypatch.setattr(grouped_engines, "run_query", record_and_run)
    before = all_queries(session)
    built_in = built_in_functions(session)
    called = called_in(sent) & built_in - {"decimal"}  # which is a type there
    assert called | {"between"} == Spark.functions
    for name in built_in - Spark.functions:
        register(session, name)
    assert all_queries(session) == before


SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.legacy.allowHashOnMapType": "true",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.legacy.statisticalAggregate": "true",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "true",
    "spark.sql.legacy.integerGroupingId": "true",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConstantFolding",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_of_a_session_change_no_result(session, usual_results, setting):
    session.raw_sql(f"SET {setting} = {SETTINGS[setting]}")
    assert all_queries(session) == usual_results


def test_a_collation_of_spark_merges_no_users(session):
    """Ibis has no type for columns with a collation, or users are compared by their bytes."""
    session.raw_sql(
        "CREATE TEMPORARY VIEW collated AS "
        "SELECT text COLLATE UTF8_LCASE AS text, double FROM small WHERE text IS NOT NULL"
    )
    assert release.user_counts("text", data=session.table("collated")).tolist() == [2, 1, 1]
