"""Arrays and queries: all kinds of columns give the same counts, tallies and sums."""

import datetime
import json
import re
import tracemalloc
from collections import defaultdict
from fractions import Fraction
from functools import partial
from itertools import product
from math import floor

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pytest
from kinds import TABLES, rows_of

import userdp as ud
from userdp import release
from userdp.release import _engines as engines
from userdp.release import _tally
from userdp.release._backends import DuckDB
from userdp.release._grid import HALF, Grid, Window, in_steps
from userdp.release._grouped import GroupRules, InfluenceClipping
from userdp.release._rows import Rules, Survey, users_of
from userdp.release._sources import read_groups, read_tally
from userdp.release._tally import CountRange

LOWER, UPPER = -2.0, 6.0
GRID = Grid(LOWER, UPPER, bits=20)
MIDDLE = 2**19
VALUES = [1.5, 2.0, 3.0, None, 9.0, -1.0, 4.0, -7.0]
OTHERS = dict.fromkeys(["Arrow", "Ibis", "Parquet"], (pa.float32(), pa.decimal128(9, 3)))
USERS = {
    "text": ["b", "a", None, "b", "c", "a", "b", "d"],
    "whole numbers": [4, 2, None, 4, 3, 2, 4, 1],
    "floats": [1e9, -5.0, np.nan, 1e9, 5.0, -5.0, 1e9, 0.0],
    "days": [d and datetime.date(2013, 1, d) for d in (4, 2, None, 4, 3, 2, 4, 1)],
}
RULES = Rules(GRID)
DROP_ALL = Rules(GRID, drop_missing=True, drop_outside=True)
FAULTS = (1, 0, 1, 2)  # rows: one without a user, none odd, one without a value, two outside


def check(tally_of):
    """Check the numbers of the small table above: a has 2 rows, b 3, c 1, d 1."""
    for (missing, outside), sizes, users in [
        ((False, False), (1, 2, 3), (2, 1, 1)),
        ((True, False), (1, 2), (2, 2)),
        ((False, True), (2, 3), (1, 1)),
        ((True, True), (2,), (2,)),
    ]:
        with tally_of(Rules(GRID, missing, outside)) as tally:
            assert tally.survey() == Survey(sizes, users, *FAULTS)
    a_unit = 2**20 // 8
    # Centred at 2: -0.5 and 2 of b; 0 and -3 of a; 7 of c, at most 4; -9 of d, at least -4.
    for rules, lowest, highest, total in [
        (DROP_ALL, -(2**30), 2**30, 1.5 - 3),
        (DROP_ALL, -2 * a_unit, a_unit, 1 - 2),
        (RULES, -(2**30), 2**30, 1.5 - 3 + 4 - 4),
        (RULES, -3 * a_unit, 2**30, 1.5 - 3 + 4 - 3),
    ]:
        with tally_of(rules) as tally:
            for shift in (0, 3, 15):
                window = Window(MIDDLE, shift, lowest >> shift, highest >> shift)
                assert tally.clipped_total(window) == total * a_unit / 2**shift
    # Only users with some numbers of rows: a and b; c and d; none.
    for rules, fewest, below, total in [
        (DROP_ALL, 2, 9, 1.5 - 3),
        (DROP_ALL, 0, 2, 0),
        (RULES, 2, 4, 1.5 - 3),
        (RULES, 3, 4, 1.5),
        (RULES, 2, 3, -3),
        (RULES, 0, 2, 4 - 4),
        (RULES, 4, 9, 0),
    ]:
        with tally_of(rules) as tally:
            window = Window(MIDDLE, 0, -(2**30), 2**30)
            assert tally.clipped_total(window, CountRange(fewest, below)) == total * a_unit
            if total == 1.5:
                window = Window(MIDDLE, 0, -(2**30), a_unit)
                assert tally.clipped_total(window, CountRange(fewest, below)) == a_unit
    # Averages: b has 1.5 / 2 of two, or three with a missing value; a: -3 / 2; c: 4; d: -4.
    for rules, reach, cap, total, weight in [
        (DROP_ALL, 4, 9, 1.5 - 3, 4),
        (DROP_ALL, 4, 1, 0.75 - 1.5, 2),
        (DROP_ALL, 1, 2, 1.5 - 2, 4),
        (RULES, 4, 2, 1 - 3 + 4 - 4, 6),
        (RULES, 1, 9, 1.5 - 2 + 1 - 1, 7),
    ]:
        with tally_of(rules) as tally:
            window = Window(MIDDLE, 0, -reach * a_unit, reach * a_unit)
            assert tally.weighted_total(window, cap) == (total * a_unit, weight)


@pytest.mark.slow
@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("kind", TABLES)
def test_all_kinds_of_tables_have_the_counts_and_totals_of_the_small_table(kind, users, tmp_path):
    for values in (VALUES, *(pa.array(VALUES).cast(type_) for type_ in OTHERS.get(kind, ()))):
        table = TABLES[kind](rows_of(USERS[users], values), tmp_path)
        check(partial(read_tally, "user", "value", table))


def positions(values, grid, origin):
    """Positions of values on the grid, relative to `origin`, as fractions."""
    return [
        (Fraction(v) - Fraction(grid.lower)) / Fraction(grid.width) * grid.top - origin
        for v in values.tolist()
    ]


def total_by_definition(users, values, grid, window):
    """Levels minus the origin, added up by user, rounded to steps, clipped, and added up."""
    sums = defaultdict(int)
    for user, value in zip(users.tolist(), values.tolist(), strict=True):
        level = floor((value - grid.lower) * (grid.top / grid.width) + 0.5)
        sums[user] += level - window.origin
    steps = [floor(Fraction(total, 2**window.shift) + Fraction(1, 2)) for total in sums.values()]
    return sum(min(max(total, window.lowest), window.highest) for total in steps)


def total_of(grid, window, user, value, data=None):
    with read_tally(user, value, data, Rules(grid)) as tally:
        return tally.clipped_total(window)


def random_problem(rng):
    n, bits = int(rng.integers(1, 60)), int(rng.integers(8, 41))
    lower = float(rng.choice([0, -65, 1e6, -0.1]))
    upper = lower + float(rng.choice([65, 1, 1e-3, 1e5]) * rng.choice([1, rng.random() + 0.1]))
    share = np.where(rng.random(n) < 0.5, rng.choice([0, 1, 0.5], n), rng.random(n))
    values = np.clip(lower + (upper - lower) * share, lower, upper)
    shift = int(rng.integers(0, bits + 3)) if rng.random() < 0.7 else 0
    ends = rng.integers(0, (5 * 2**bits >> shift) + 1, 2).tolist()
    window = Window(int(rng.integers(0, 2**bits)), shift, -ends[0], ends[1])
    return rng.integers(0, 9, n), values, Grid(lower, upper, bits), window


@pytest.mark.slow
def test_totals_equal_the_definition_in_exact_arithmetic():
    rng = np.random.default_rng(71)
    for i in range(400):
        users, values, *problem = random_problem(rng)
        expected = total_by_definition(users, values, *problem)
        order = rng.permutation(users.size)
        for x, y in ((users, values), (users[order], values[order])):
            assert total_of(*problem, x, y) == expected
        if i < 40:
            table = ibis.memtable(rows_of(users, values))
            assert total_of(*problem, "user", "value", table) == expected
    n, grid = 20_001, Grid(0.0, 1.0, 40)  # n is odd, and the total exceeds 2^53
    window = Window(0, 0, 0, 2**52)
    total = total_of(grid, window, np.arange(n), np.full(n, 1 - 2.0**-40))
    assert total == n * (2**40 - 1) > 2**53


@pytest.mark.parametrize("n", [1, 2**20 + 1, 2**22, 2**42 - 1, 2**42], ids="{} records".format)
@pytest.mark.parametrize("origin", [0, 1, 2**20 - 1, 2**39 + 12_345, 2**40], ids="from {}".format)
def test_steps_of_a_sum_are_exact_in_64_bits(n, origin):
    """For records that are all at one level; shifts up to 20 bits use another formula."""
    levels = np.array([0, 1, 2**20 - 1, 2**20, 2**39, 2**40 - 1, 2**40])
    halves = (levels >> 20) * n, (levels % HALF) * n
    for shift in range(68):
        computed = in_steps(*halves, np.full(7, n), Window(origin, shift, 0, 0)).tolist()
        for level, steps in zip(levels.tolist(), computed, strict=True):
            exact = Fraction(n * (level - origin), 2**shift)
            if abs(exact) < 2**62:
                assert steps == floor(exact + Fraction(1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numpy", "DuckDB"])
def test_sums_of_one_user_beyond_64_bits_are_exact(kind, monkeypatch, tmp_path):
    """For 2^23 + 1 records at the top level, added up in parts of 2^10."""
    monkeypatch.setattr(_tally, "ROWS_THAT_FIT", 2**10)
    n, grid = 2**23 + 1, Grid(0.0, 1.0, 40)
    users, values, data = np.zeros(n, int), np.ones(n), None
    if kind == "DuckDB":
        data = TABLES["Parquet"](rows_of(users, values), tmp_path)
        users, values = "user", "value"
    assert total_of(grid, Window(0, 2, 0, 2**62), users, values, data) == n * 2**38 > 2**60
    assert total_of(grid, Window(2**40 - 1, 0, 0, 2**62), users, values, data) == n


def test_values_are_rounded_to_the_nearest_level_of_the_grid():
    rng = np.random.default_rng(72)
    for _ in range(300):
        _, values, grid, window = random_problem(rng)
        # Half a step, plus the rounding error of floats, larger for bounds far from 0.
        far = 2 + abs(Fraction(grid.lower) / Fraction(grid.width))
        tolerance = Fraction(1, 2) + grid.top * far / 2**52
        wide = Window(window.origin, 0, -(2**60), 2**60)
        for value, place in zip(
            values[:3], positions(values[:3], grid, window.origin), strict=False
        ):
            level = total_of(grid, wide, [0], [value])
            assert 0 <= level + window.origin <= grid.top
            assert abs(place - level) <= tolerance


def test_one_user_moves_the_total_by_at_most_the_width_of_the_interval():
    rng = np.random.default_rng(73)
    for _ in range(300):
        users, values, grid, window = random_problem(rng)
        totals, of_one = [], users == users[0]
        wild = [np.nan, 99.0, -1e300, np.inf]  # missing, or outside the bounds
        inside = rng.uniform(grid.lower, grid.upper, of_one.sum())
        for other in (grid.lower, grid.upper, inside, rng.choice(wild, of_one.sum())):
            changed = values.copy()
            changed[of_one] = other
            totals.append(total_of(grid, window, users, changed))
        assert max(totals) - min(totals) <= window.sensitivity


def test_long_columns_that_are_read_in_blocks_have_the_right_tally(monkeypatch):
    monkeypatch.setattr(_tally, "ROWS_THAT_FIT", 3 * _tally.ROWS_AT_A_TIME // 2)
    n, rng = 2 * _tally.ROWS_AT_A_TIME + 5, np.random.default_rng(74)
    users, values = rng.integers(0, 50, n).astype(float), rng.random(n)
    values[[1, _tally.ROWS_AT_A_TIME, n - 1]] = np.nan, 2.0, -1.0
    values[2:6] = 0.0, 1.0, np.nextafter(0, -1), np.nextafter(1, 2)  # the bounds are inside
    users[[0, n - 2]] = np.nan
    grid = Grid(0.0, 1.0, 30)
    tally = read_tally(users, values, None, Rules(grid, True, True))
    kept = (values >= 0) & (values <= 1) & (users == users)
    survey, window = tally.survey(), Window(0, 0, 0, 2**45)
    assert survey[2:] == (2, 0, 1, 4)
    assert sorted(survey.counts) == sorted(np.bincount(users[kept].astype(int)))
    assert type(survey.sizes[0]) is int  # as in tallies from queries
    assert tally.clipped_total(window) == total_by_definition(
        users[kept], values[kept], grid, window
    )
    assert read_tally([0, 0], [0.0, 1.0], None, Rules(grid)).survey() == Survey((2,), (1,))


def test_only_a_few_numbers_leave_a_database(monkeypatch):
    rng, fetched, real = np.random.default_rng(75), [], ibis.expr.types.Expr.to_pyarrow
    table = ibis.memtable(rows_of(rng.zipf(1.4, 5000) % 700, rng.random(5000)))

    def spy(self, *args, **kwargs):
        result = real(self, *args, **kwargs)
        fetched.append(getattr(result, "num_rows", 1))
        return result

    monkeypatch.setattr(ibis.expr.types.Expr, "to_pyarrow", spy)
    with read_tally("user", "value", table, Rules(GRID)) as tally:
        sizes = tally.survey().sizes
        tally.clipped_total(Window(MIDDLE, 0, 0, 2**20))
    # The first query returns the functions that have been replaced: none.
    assert fetched == [0, len(sizes), 1]
    assert len(sizes) <= np.sqrt(2 * 5000)


def test_the_calling_process_allocates_no_array_of_all_users(opendp):
    """Each count would take 8 bytes."""
    shop = ibis.duckdb.connect()
    peak = {}
    for n in (10, 10**6):
        shop.raw_sql(
            f"CREATE OR REPLACE VIEW t AS SELECT i % {n} AS user, 1.0 AS value "
            f"FROM range({n} + 5) r(i)"
        )
        tracemalloc.start()
        result = release.private_mean(
            "user", "value", data=shop.table("t"), lower=0, upper=2, budget=1
        )
        peak[n] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (result.n_users, result.n_records) == (n, n + 5)
    assert peak[10**6] < peak[10] + 10**6


def test_a_user_of_more_records_than_the_sums_of_levels_hold_is_refused():
    assert users_of(Survey((2**42,), (2**11,)), GRID).total == 2**53
    with pytest.raises(ValueError, match=r"at most 2\^42 records"):
        users_of(Survey((1, 2**42 + 1), (1, 1)), GRID)
    with pytest.raises(ValueError, match=r"2\^53"):
        users_of(Survey((1, 2**42), (1, 2**11)), GRID)
    assert ud.Contributions([2**53 - 1, 1], 1).total == 2**53
    with pytest.raises(ValueError, match=r"2\^53"):
        ud.Contributions([2**53 - 1, 1, 1], 1)


@pytest.mark.slow
def test_weighted_totals_are_close_to_the_definition_and_one_user_moves_them_by_the_weight():
    rng = np.random.default_rng(77)
    for i in range(150):
        users, values, grid, window = random_problem(rng)
        steps = int(rng.integers(1, (grid.top >> window.shift) + 2))
        window, cap = window._replace(lowest=-steps, highest=steps), int(rng.integers(1, 9))

        def weighted(user, value, data=None, grid=grid, window=window, cap=cap):
            with read_tally(user, value, data, Rules(grid)) as tally:
                return tally.weighted_total(window, cap)

        result = weighted(users, values)
        if i < 20:
            assert weighted("user", "value", ibis.memtable(rows_of(users, values))) == result
        others = users != users[0]
        n = min(int((~others).sum()), cap)
        rest = weighted(users[others], values[others])
        assert result.weight - rest.weight == n
        assert abs(result.total - rest.total) <= steps * n
        exact, step = Fraction(0), 2**window.shift
        for user in set(users.tolist()):
            own = positions(values[users == user], grid, window.origin)
            exact += min(len(own), cap) * min(max(sum(own) / len(own) / step, -steps), steps)
        assert abs(result.total - exact) <= result.weight * 1.51 + grid.top * 2.0**-20


def test_weighted_totals_are_exact_if_floats_are_not():
    """Nine users, each with 2^12 rows and a sum of 2^52 - 1: floats of this size are even."""
    sum_of_levels, n_rows = 2**52 - 1, 2**12
    tally = object.__new__(_tally.TallyInMemory)
    tally.n_levels = np.full(9, n_rows)
    tally.sizes = tally.n_levels
    tally.high = np.full(9, sum_of_levels >> 20)
    tally.low = np.full(9, sum_of_levels & (2**20 - 1))
    window = Window(0, 0, 0, 2**40)
    assert tally.weighted_total(window, n_rows) == (9 * sum_of_levels, 9 * n_rows)


@pytest.mark.parametrize("sign", [-1, 1], ids=["negative", "positive"])
def test_totals_over_a_protected_number_of_rows_saturate_in_64_bits(sign):
    """128 users with 2^31 records at a bound have the total 2^62; larger totals are cut off."""
    grid = Grid(0.0, 1.0, 40)
    origin, level = (0, 2**40) if sign > 0 else (2**40, 0)
    window = Window(origin, 16, -(2**24), 2**24)
    for n in (2**7 - 1, 2**7, 2**7 + 1, 2**10):
        table = ibis.memtable(rows_of(np.arange(n), np.full(n, level / 2**40)))
        with read_tally("user", "value", table, Rules(grid)) as tally:
            size = ibis.literal(2**31, "int64")
            halves = {"high": (level >> 20) * size, "low": (level % HALF) * size}
            tally.users = tally.users.mutate(size=size, n_levels=size, **halves)
            result = tally.weighted_total(window, 2**31)
            assert result == (sign * min(n * 2**55, 2**62), n * 2**31)
            assert tally.weighted_total(window, 2**20) == (sign * n * 2**44, n * 2**20)
    for total in (2**62 - 1, 2**62, 2**62 + 1, 2**100):
        assert engines._clamp(sign * total) == sign * min(total, 2**62)


# Functions that replace the engine's built-in functions.


class RecordingConnection:
    """A connection of DuckDB that records the queries sent to it."""

    def __init__(self, connection, sent):
        self.connection = connection
        self.sent = sent

    def execute(self, query, *args, **kwargs):
        self.sent.append(query)
        self.connection.execute(query, *args, **kwargs)
        return self

    def sql(self, query, *args, **kwargs):
        self.sent.append(query)
        return self.connection.sql(query, *args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.connection, name)


CALLED = {"s": "'a'", "d": "1::DOUBLE", "f": "1::FLOAT", "c": "1::DECIMAL(9, 2)", "i": "3"}


def table_of_types(connection):
    """Return a table of one row with columns of several types."""
    columns = ", ".join(f"{value} AS {name}" for name, value in CALLED.items())
    connection.raw_sql(f"CREATE OR REPLACE TEMP TABLE of_types AS SELECT {columns}")
    return connection.table("of_types")


def all_queries(table):
    """Run all queries of releases on a table, for users and values of every type."""
    window, results = Window(MIDDLE, 2, -5, 5), []
    for user, value, rules in product("sdfi", "dfci", (RULES, DROP_ALL)):
        if user != value:
            with read_tally(user, value, table, rules) as tally:
                results.append(tally.survey())
                results.append(tally.clipped_total(window))
                results.append(tally.clipped_total(window, CountRange(1, 5)))
                results.append(tally.weighted_total(window, 2))
    groups = GroupRules((RULES.grid, RULES.grid), ("a", "3"))
    for place, group in enumerate("si"):
        with read_groups("d", ["f", "c"], group, table, groups) as tally:
            clipping = InfluenceClipping(
                {0: 2, 1: 3}, 4, {0: 1.0, 1: 2.0}, ((1.0, 1.0), (0.5, 1.5))
            )
            results += [
                tally.survey(),
                tally.links(),
                tally.influences(clipping.influence_per_record, [1, 2, 9]),
            ]
            results += [
                tally.widths([clipping, clipping._replace(threshold=1)]),
                tally.totals(clipping, 1, {0: 1.0, 1: 0.5}, MIDDLE),
            ]
            results.append(tally.cell(1, place).clipped_total(window, CountRange(1, 5)))
    return results


def functions_in(parsed):
    """Return the names of functions that DuckDB looks up in the session's search path."""
    if isinstance(parsed, list):
        return set().union(*map(functions_in, parsed))
    if not isinstance(parsed, dict):
        return set()
    names = functions_in([*parsed.values()])
    if parsed.get("class") in ("FUNCTION", "WINDOW") and parsed["schema"].lower() != "main":
        names.add(parsed["function_name"])
    return names


def called_by_duckdb():
    """Return the functions in all queries, as parsed by DuckDB."""
    connection, sent, functions = ibis.duckdb.connect(), [], set()
    table = table_of_types(connection)
    connection.con = RecordingConnection(connection.con, sent)
    all_queries(table)
    for query in set(sent):
        if "SELECT" in query:
            select = query[query.index("SELECT") :]
            parse = "SELECT json_serialize_sql(?::VARCHAR)"
            ((parsed,),) = duckdb.execute(parse, [select]).fetchall()
            assert not json.loads(parsed)["error"], query
            functions |= functions_in(json.loads(parsed))
    return functions


def test_the_functions_that_queries_call_are_known():
    assert called_by_duckdb() == DuckDB.functions


PLACES = {
    "temporary": "CREATE TEMP MACRO {}",
    "in the database": "CREATE MACRO {}",
    "in another schema": "CREATE SCHEMA more; CREATE MACRO more.{}",
    "in the search path": "CREATE SCHEMA more; CREATE MACRO more.{}; SET search_path = 'more'",
    "in an attached database": "ATTACH ':memory:' AS other; CREATE MACRO other.{}",
    "in the current database": "ATTACH ':memory:' AS other; CREATE MACRO other.{}; USE other",
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_macros_with_the_names_of_functions_that_queries_call_are_refused(place):
    """A macro least(a, b) that returns a would disable clipping."""
    for name in sorted(DuckDB.functions):
        connection = ibis.duckdb.connect()
        table = table_of_types(connection)
        connection.con.execute(PLACES[place].format(f'"{name.upper()}"(a, b := 1) AS a'))
        words = "^`data` must be .* functions are not overridden, got functions or macros named "
        with pytest.raises(ValueError, match=f"{words}{re.escape(name)}[.]"):
            all_queries(table)


OVERLOADS = {
    "least": (["BIGINT", "BIGINT"], "BIGINT"),
    "greatest": (["DOUBLE", "DOUBLE"], "DOUBLE"),
    ">>": (["BIGINT", "TINYINT"], "BIGINT"),
}


@pytest.mark.parametrize("name", OVERLOADS)
def test_python_functions_with_the_names_of_called_functions_are_refused(name):
    connection = ibis.duckdb.connect()
    table = table_of_types(connection)
    types, result = OVERLOADS[name]
    connection.con.create_function(name, lambda a, b: a, types, result)
    with pytest.raises(ValueError, match=f"got functions or macros named {name}[.]"):
        all_queries(table)


@pytest.mark.slow
def test_other_macros_are_allowed():
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE MACRO clean(a) AS trim(a)")
    assert all_queries(table_of_types(connection))


# Collations.


@pytest.mark.parametrize("place", ["column", "default"])
@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NFC", "de"])
def test_no_collation_merges_users(collation, place):
    """With Ibis, where DuckDB groups rows, and with a relation, which is fetched."""
    connection = ibis.duckdb.connect()
    kind = f"VARCHAR COLLATE {collation}" if place == "column" else "VARCHAR"
    if place == "default":
        connection.raw_sql(f"SET default_collation = '{collation}'")
    connection.raw_sql(f'CREATE TABLE t ("user" {kind}, value DOUBLE)')
    users = ["a", "A", "\u00e9", "e\u0301", "e", "\\x41", "a "]
    connection.con.executemany("INSERT INTO t VALUES (?, 1)", [[user] for user in users])
    for data in (connection.table("t"), connection.con.table("t")):
        assert release.user_counts("user", data=data).tolist() == [1] * len(users)


# Settings of a session.

ROWS = """CREATE TABLE t AS FROM (VALUES
    ('a', 1.25::DOUBLE, 3, TIMESTAMPTZ '2013-10-27 00:30:00+00', 1.5::DECIMAL(9, 2)),
    ('A', 2.25, 4, '2013-10-27 01:30:00+00', 2.55), ('e', 'nan', 5, '2013-03-31 00:30:00+00', 0.01),
    ('a', NULL, 3, '2013-10-27 02:30:00+02', 5.99), (NULL, 5.5, NULL, NULL, 3.33),
    ('b', 7.5, 6, '2013-03-31 01:30:00+00', NULL)) t(s, d, i, t, c)"""


def small_results(table):
    """Return the results of all queries on the small table, or the messages of refusals."""
    window, results = Window(MIDDLE, 2, -(2**18), 2**18), []
    for user, value in (("s", "d"), ("i", "c"), ("t", "d"), ("i", "s")):
        try:
            with read_tally(user, value, table, RULES) as tally:
                results.append(
                    (tally.survey(), tally.clipped_total(window), tally.weighted_total(window, 2))
                )
        except (TypeError, ValueError) as refusal:
            results.append(str(refusal)[:40])
    return results


# Other values of these settings, with which all results must be the same, or refused.
CHANGED = {
    "Calendar": "japanese",
    "TimeZone": "America/New_York",
    "arrow_large_buffer_size": "true",
    "arrow_lossless_conversion": "true",
    "arrow_output_list_view": "true",
    "arrow_output_version": "1.4",
    "binary_as_string": "true",
    "default_collation": "nocase",
    "default_null_order": "nulls_first",
    "default_order": "desc",
    "disable_timestamptz_casts": "true",
    "disabled_optimizers": "statistics_propagation,expression_rewriter,filter_pushdown",
    "enable_caching_operators": "false",
    "enable_fsst_vectors": "true",
    "errors_as_json": "true",
    "explain_output": "all",
    "ieee_floating_point_ops": "false",
    "integer_division": "true",
    "lambda_syntax": "DISABLE_SINGLE_ARROW",
    "null_order": "nulls_first",
    "old_implicit_casting": "true",
    "order_by_non_integer_literal": "true",
    "ordered_aggregate_threshold": "1",
    "perfect_ht_threshold": "0",
    "preserve_identifier_case": "false",
    "preserve_insertion_order": "false",
    "produce_arrow_string_view": "true",
    "python_enable_replacements": "false",
    "python_scan_all_frames": "true",
    "scalar_subquery_error_on_multiple_rows": "false",
    "schema": "elsewhere",
    "search_path": "elsewhere",
    "threads": "1",
    "worker_threads": "1",
}

# Settings of files, memory, networks, logs, storage and plans of joins, which are irrelevant here.
OTHER_SETTINGS = """
    __delta_only_variant_encoding_enabled access_mode allocator_background_threads
    allocator_bulk_deallocation_flush_threshold allocator_flush_threshold
    allow_community_extensions allow_extensions_metadata_mismatch
    allow_parser_override_extension allow_persistent_secrets allow_unredacted_secrets
    allow_unsigned_extensions allowed_configs allowed_directories allowed_paths
    asof_loop_join_threshold auto_checkpoint_skip_wal_threshold
    autoinstall_extension_repository autoinstall_known_extensions autoload_known_extensions
    block_allocator_memory catalog_error_max_schemas checkpoint_threshold
    current_transaction_invalidation_policy custom_extension_repository
    custom_profiling_settings custom_user_agent debug_asof_iejoin debug_checkpoint_abort
    debug_checkpoint_scan_sleep_ms debug_checkpoint_sleep_ms
    debug_eviction_queue_sleep_micro_seconds debug_force_external debug_force_no_cross_product
    debug_physical_table_scan_execution_strategy debug_skip_checkpoint_on_commit
    debug_verify_blocks debug_verify_vector debug_window_mode default_block_size
    default_secret_storage deprecated_using_key_syntax disable_database_invalidation
    disable_parquet_prefetching disabled_compression_methods disabled_filesystems
    disabled_log_types duckdb_api dynamic_or_filter_threshold enable_external_access
    enable_external_file_cache enable_geoparquet_conversion enable_http_logging
    enable_http_metadata_cache enable_logging enable_macro_dependencies enable_object_cache
    enable_optimistic_write enable_profiling enable_progress_bar enable_progress_bar_print
    enable_view_dependencies enabled_log_types experimental_metadata_reuse
    extension_directories extension_directory external_threads file_search_path
    force_bitpacking_mode force_column_metadata_reuse force_compression force_mbedtls_unsafe
    force_variant_shredding geometry_minimum_shredding_size home_directory http_logging_output
    http_proxy http_proxy_password http_proxy_username ignore_unknown_crs
    immediate_transaction_mode index_scan_max_count index_scan_percentage
    late_materialization_max_rows lock_configuration log_query_path logging_level logging_mode
    logging_storage max_expression_depth max_memory max_temp_directory_size max_vacuum_tasks
    memory_limit merge_join_threshold nested_loop_join_threshold pandas_analyze_sample
    parquet_metadata_cache partitioned_write_flush_threshold partitioned_write_max_open_files
    password pin_threads pivot_filter_threshold pivot_limit prefer_range_joins
    prefetch_all_parquet_files profile_output profiling_coverage profiling_mode
    profiling_output progress_bar_time scheduler_process_partial secret_directory
    storage_block_prefetch storage_compatibility_version streaming_buffer_size temp_directory
    temp_file_encryption user username vacuum_rebuild_indexes validate_external_file_cache
    variant_minimum_shredding_size wal_autocheckpoint wal_autocheckpoint_entries
    warnings_as_errors write_buffer_row_group_count write_buffer_row_group_memory_limit
    zstd_min_string_length
"""


def test_every_setting_of_duckdb_is_listed():
    """For a new setting, check whether it changes ids, sums, comparisons, rounding or times."""
    names = {name for (name,) in duckdb.sql("SELECT name FROM duckdb_settings()").fetchall()}
    assert names <= CHANGED.keys() | set(OTHER_SETTINGS.split())


@pytest.fixture(scope="module")
def usual_results():
    connection = ibis.duckdb.connect()
    connection.raw_sql(ROWS)
    return small_results(connection.table("t"))


@pytest.mark.slow
@pytest.mark.parametrize("setting", CHANGED)
def test_settings_of_a_session_change_no_result(setting, usual_results):
    """With some settings, queries are refused instead."""
    assert [isinstance(result, str) for result in usual_results] == [False, False, False, True]
    connection = ibis.duckdb.connect()
    connection.raw_sql(f"CREATE SCHEMA elsewhere; {ROWS}")
    table, relation = connection.table("t"), connection.con.table("t")
    connection.raw_sql(f"SET {setting} = '{CHANGED[setting]}'")
    for data in (table, relation):
        for result, usual in zip(small_results(data), usual_results, strict=True):
            assert result == usual or str(result).startswith("`data` must be readable")
