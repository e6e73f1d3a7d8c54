"""Arrays and queries: every kind of column gives the same counts, tallies and sums."""

import datetime
from collections import defaultdict
from fractions import Fraction
from math import floor

import ibis
import numpy as np
import pyarrow as pa
import pytest
from kinds import TABLES, rows_of

from userdp.practice._arrays import ROWS_AT_A_TIME
from userdp.practice._grid import Grid
from userdp.practice._ingest import read_records
from userdp.practice._records import Rules, Survey

LOWER, UPPER = -2.0, 6.0
GRID = Grid(LOWER, UPPER, bits=20, origin=2**19)
VALUES = [1.5, 2.0, 3.0, None, 9.0, -1.0, 4.0, -7.0]
OTHERS = dict.fromkeys(["Arrow", "Ibis", "Parquet"], (pa.float32(), pa.decimal128(9, 3)))
USERS = {
    "text": ["b", "a", None, "b", "c", "a", "b", "d"],
    "whole numbers": [4, 2, None, 4, 3, 2, 4, 1],
    "floats": [1e9, -5.0, np.nan, 1e9, 5.0, -5.0, 1e9, 0.0],
    "days": [d and datetime.date(2013, 1, d) for d in (4, 2, None, 4, 3, 2, 4, 1)],
}
RULES = Rules(LOWER, UPPER)
DROP_ALL = Rules(LOWER, UPPER, drop_missing=True, drop_outside=True)
FAULTS = (1, 0, 1, 2)  # one row without a user, no odd ones, one without a value, two outside


def check(records):
    """Check the numbers of the small table above, whatever holds it: a 2, b 3, c 1, d 1 rows."""
    for (missing, outside), sizes, users in [
        ((False, False), (1, 2, 3), (2, 1, 1)),
        ((True, False), (1, 2), (2, 2)),
        ((False, True), (2, 3), (1, 1)),
        ((True, True), (2,), (2,)),
    ]:
        rules = Rules(LOWER, UPPER, missing, outside)
        assert records.survey(rules) == Survey(sizes, users, *FAULTS)
    a_unit = 2**20 // 8
    # Centred at 2: -0.5 and 2 of b; 0 and -3 of a; 7 of c, at most 4; -9 of d, at least -4.
    for rules, lowest, highest, total in [
        (DROP_ALL, -(2**30), 2**30, 1.5 - 3),
        (DROP_ALL, -2 * a_unit, a_unit, 1 - 2),
        (RULES, -(2**30), 2**30, 1.5 - 3 + 4 - 4),
        (RULES, -3 * a_unit, 2**30, 1.5 - 3 + 4 - 3),
    ]:
        made = records.clipped_total(rules, GRID, lowest, highest)
        assert made == (total * a_unit, records.survey(rules))
    # Averages of b: 1.5 / 2 of 2, or of 3 with a value that is missing; a: -3 / 2; c: 4; d: -4.
    for rules, reach, cap, total, weight in [
        (DROP_ALL, 4, 9, 1.5 - 3, 4),
        (DROP_ALL, 4, 1, 0.75 - 1.5, 2),
        (DROP_ALL, 1, 2, 1.5 - 2, 4),
        (RULES, 4, 2, 1 - 3 + 4 - 4, 6),
        (RULES, 1, 9, 1.5 - 2 + 1 - 1, 7),
    ]:
        made = records.weighted_total(rules, GRID, reach * a_unit, cap)
        assert made == (total * a_unit, weight, records.survey(rules))


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("kind", TABLES)
def test_small_table(kind, users, tmp_path):
    for values in (VALUES, *(pa.array(VALUES).cast(type_) for type_ in OTHERS.get(kind, ()))):
        check(read_records("user", "value", TABLES[kind](rows_of(USERS[users], values), tmp_path)))


def moved(values, grid):
    """Where values lie on the grid, from its origin, in fractions."""
    return [
        (Fraction(v) - Fraction(grid.lower)) / Fraction(grid.width) * grid.top - grid.origin
        for v in values.tolist()
    ]


def definition(users, values, grid, lowest, highest):
    sums = defaultdict(int)
    for user, value in zip(users.tolist(), values.tolist(), strict=True):
        sums[user] += floor((value - grid.lower) * (grid.top / grid.width) + 0.5) - grid.origin
    return sum(min(max(total, lowest), highest) for total in sums.values())


def total_of(grid, lowest, highest, *source):
    rules = Rules(grid.lower, grid.upper)
    return read_records(*source).clipped_total(rules, grid, lowest, highest).total


def random_problem(rng):
    n, bits = int(rng.integers(1, 60)), int(rng.integers(8, 41))
    lower = float(rng.choice([0, -65, 1e6, -0.1]))
    upper = lower + float(rng.choice([65, 1, 1e-3, 1e5]) * rng.choice([1, rng.random() + 0.1]))
    grid = Grid(lower, upper, bits, int(rng.integers(0, 2**bits)))
    share = np.where(rng.random(n) < 0.5, rng.choice([0, 1, 0.5], n), rng.random(n))
    values = np.clip(lower + (upper - lower) * share, lower, upper)
    reach = int(rng.integers(0, 5 * 2**bits))
    return rng.integers(0, 9, n), values, grid, -reach, int(rng.integers(0, 5 * 2**bits))


def test_totals_are_those_of_whole_numbers():
    rng = np.random.default_rng(71)
    for i in range(400):
        users, values, *ask = random_problem(rng)
        expected = definition(users, values, *ask)
        order = rng.permutation(users.size)
        for x, y in ((users, values), (users[order], values[order])):
            assert total_of(*ask, x, y) == expected
        if i < 40:
            table = ibis.memtable(rows_of(users, values))
            assert total_of(*ask, "user", "value", table) == expected
    n, grid = 20_001, Grid(0.0, 1.0, 40)  # beyond the whole numbers of floats, and odd
    total = total_of(grid, 0, 2**52, np.arange(n), np.full(n, 1 - 2.0**-40))
    assert total == n * (2**40 - 1) > 2**53


def test_levels_are_the_nearest_and_stay_on_the_grid():
    rng = np.random.default_rng(72)
    for _ in range(300):
        _, values, grid, _, _ = random_problem(rng)
        # Half a step, but for the rounding of floats: of values near the large end of 2^53.
        far = 2 + abs(Fraction(grid.lower) / Fraction(grid.width))
        near = Fraction(1, 2) + grid.top * far / 2**52
        for value, place in zip(values[:3], moved(values[:3], grid), strict=False):
            level = total_of(grid, -(2**60), 2**60, [0], [value])
            assert 0 <= level + grid.origin <= grid.top
            assert abs(place - level) <= near


def test_one_user_moves_the_total_by_the_width_of_the_interval_at_most():
    rng = np.random.default_rng(73)
    for _ in range(300):
        users, values, grid, lowest, highest = random_problem(rng)
        totals, of_one = [], users == users[0]
        wild = [np.nan, 99.0, -1e300, np.inf]  # missing, or outside of the bounds
        inside = rng.uniform(grid.lower, grid.upper, of_one.sum())
        for other in (grid.lower, grid.upper, inside, rng.choice(wild, of_one.sum())):
            changed = values.copy()
            changed[of_one] = other
            totals.append(total_of(grid, lowest, highest, users, changed))
        assert max(totals) - min(totals) <= highest - lowest


def test_long_columns_are_worked_on_in_parts():
    n, rng = 2 * ROWS_AT_A_TIME + 5, np.random.default_rng(74)
    users, values = rng.integers(0, 50, n).astype(float), rng.random(n)
    values[[1, ROWS_AT_A_TIME, n - 1]] = np.nan, 2.0, -1.0
    values[2:6] = 0.0, 1.0, np.nextafter(0, -1), np.nextafter(1, 2)  # the bounds are inside
    users[[0, n - 2]] = np.nan
    records, dropping = read_records(users, values), Rules(0, 1, True, True)
    kept = (values >= 0) & (values <= 1) & (users == users)
    made, grid = records.survey(dropping), Grid(0.0, 1.0, 30)
    assert made[2:] == (2, 0, 1, 4)
    assert sorted(made.counts) == sorted(np.bincount(users[kept].astype(int)))
    assert type(made.sizes[0]) is int  # as those of queries
    total, _ = records.clipped_total(dropping, grid, 0, 2**45)
    assert total == definition(users[kept], values[kept], grid, 0, 2**45)
    assert read_records([0, 0], [0.0, 1.0]).survey(Rules(0, 1)) == Survey((2,), (1,), 0, 0, 0, 0)


def test_only_a_few_numbers_leave_a_database(monkeypatch):
    rng, fetched, real = np.random.default_rng(75), [], ibis.expr.types.Expr.to_pyarrow
    table = ibis.memtable(rows_of(rng.zipf(1.4, 5000) % 700, rng.random(5000)))

    def spy(self, *args, **kwargs):
        result = real(self, *args, **kwargs)
        fetched.append(getattr(result, "num_rows", 1))
        return result

    monkeypatch.setattr(ibis.expr.types.Expr, "to_pyarrow", spy)
    records = read_records("user", "value", table)
    sizes = records.survey(Rules(0, 1)).sizes
    records.clipped_total(Rules(0, 1), Grid(0.0, 1.0, 20), 0, 2**20)
    assert fetched == [len(sizes)] * 2
    assert fetched[0] <= np.sqrt(2 * 5000)


def test_weighted_totals_are_near_the_definition_and_one_user_moves_them_by_the_weight():
    rng = np.random.default_rng(77)
    for i in range(150):
        users, values, grid, _, _ = random_problem(rng)
        reach, cap = int(rng.integers(1, grid.top + 1)), int(rng.integers(1, 9))
        ask = Rules(grid.lower, grid.upper), grid, reach, cap
        made = read_records(users, values).weighted_total(*ask)
        if i < 20:
            table = ibis.memtable(rows_of(users, values))
            assert read_records("user", "value", table).weighted_total(*ask) == made
        others = users != users[0]
        n = min(int((~others).sum()), cap)
        rest = read_records(users[others], values[others]).weighted_total(*ask)
        assert made.weight - rest.weight == n
        assert abs(made.total - rest.total) <= reach * n
        exact = Fraction(0)
        for user in set(users.tolist()):
            own = moved(values[users == user], grid)
            exact += min(len(own), cap) * min(max(sum(own) / len(own), -reach), reach)
        assert abs(made.total - exact) <= made.weight * 1.51 + grid.top * 2.0**-20
