"""Arrays and queries: every kind of column gives the same counts, tallies and sums."""

import datetime
import sys
from decimal import Decimal
from fractions import Fraction
from math import floor

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from userdp.engines import ROWS_AT_A_TIME, Grid, Tally, read_records

USERS = ["b", "a", None, "b", "c", "a", "b", "d"]
VALUES = [1.5, 2.0, 3.0, None, 9.0, -1.0, 4.0, -7.0]
LOWER, UPPER = -2.0, 6.0
GRID = Grid(LOWER, UPPER, bits=20, origin=2**19)
FRAME = pd.DataFrame({"user": USERS, "value": np.array(VALUES, dtype=float)})
TABLE = pa.table({"user": USERS, "value": VALUES})


def columns(users, values):
    return read_records(users, values, None)


def frame(data):
    return read_records("user", "value", data)


NUMBERED = [1e9, -5, np.nan, 1e9, 0.5, -5, 1e9, 0.0]
NULLABLE = pd.Series(USERS, dtype=object).replace({None: pd.NA})

KINDS = {
    "lists": lambda: columns(USERS, [np.nan if v is None else v for v in VALUES]),
    "lists with None": lambda: columns(USERS, VALUES),
    "objects": lambda: columns(np.array(USERS, object), np.array(VALUES, object)),
    "decimals": lambda: columns(USERS, [v and Decimal(v) for v in VALUES]),
    "fractions": lambda: columns(USERS, [v and Fraction(v) for v in VALUES]),
    "float32": lambda: columns(USERS, np.array(VALUES, dtype=np.float32)),
    "numbers of users": lambda: columns(NUMBERED, VALUES),
    "dates": lambda: columns(
        [d and datetime.date(2013, 1, "abcd".index(d) + 1) for d in USERS], VALUES
    ),
    "times": lambda: columns(
        np.array([d and f"2013-01-0{'abcd'.index(d) + 1}" for d in USERS], "datetime64[D]"), VALUES
    ),
    "pandas": lambda: frame(FRAME),
    "pandas columns": lambda: columns(FRAME.user, FRAME.value),
    "pandas categories": lambda: columns(FRAME.user.astype("category"), FRAME.value),
    "pandas nullable": lambda: columns(FRAME.user.astype("string"), FRAME.value.astype("Float64")),
    "pandas objects": lambda: columns(FRAME.user.astype(object), FRAME.value.astype(object)),
    "pandas NA": lambda: columns(
        NULLABLE, pd.Series([pd.NA if v is None else v for v in VALUES], dtype=object)
    ),
    "pandas whole numbers": lambda: columns(
        pd.Series([4, 2, None, 4, 3, 2, 4, 1], dtype="Int64"), VALUES
    ),
    "polars numbers": lambda: columns(pl.Series([4, 2, None, 4, 3, 2, 4, 1]), pl.Series(VALUES)),
    "arrow numbers": lambda: columns(pa.array([4, 2, None, 4, 3, 2, 4, 1]), pa.array(VALUES)),
    "ibis numbers": lambda: frame(
        ibis.memtable(pa.table({"user": NUMBERED, "value": pa.array(VALUES)}))
    ),
    "polars": lambda: frame(pl.DataFrame({"user": USERS, "value": VALUES})),
    "polars columns": lambda: columns(pl.Series(USERS), pl.Series(VALUES)),
    "arrow": lambda: frame(TABLE),
    "arrow columns": lambda: columns(TABLE["user"], TABLE["value"]),
    "arrow array": lambda: columns(pa.array(USERS), pa.array(VALUES)),
    "dict": lambda: frame({"user": USERS, "value": VALUES}),
    "ibis": lambda: frame(ibis.memtable(TABLE)),
    "ibis float32": lambda: frame(ibis.memtable(TABLE.cast(FLOAT32))),
    "ibis decimals": lambda: frame(ibis.memtable(TABLE.cast(DECIMALS))),
}
FLOAT32 = pa.schema([("user", pa.string()), ("value", pa.float32())])
DECIMALS = pa.schema([("user", pa.string()), ("value", pa.decimal128(9, 3))])


def check(records):
    """Check the numbers of the small table above, whatever holds it."""
    assert records.tally(LOWER, UPPER) == Tally(rows=8, missing=2, outside=2)
    assert records.within(LOWER, UPPER).tally(LOWER, UPPER) == Tally(rows=5, missing=1, outside=0)
    kept = records.without_missing()
    assert kept.tally(LOWER, UPPER) == Tally(rows=6, missing=0, outside=2)
    assert sorted(kept.user_counts()) == [1, 1, 2, 2]
    inside = kept.within(LOWER, UPPER)
    assert inside.tally(LOWER, UPPER) == Tally(rows=4, missing=0, outside=0)
    assert sorted(inside.user_counts()) == [2, 2]
    a_unit = 2**20 // 8
    # Centred at 2: -0.5 and 2 of b; 0 and -3 of a; 7 of c, at most 4; -9 of d, at least -4.
    assert inside.clipped_total(GRID, -(2**30), 2**30) == (1.5 - 3) * a_unit
    assert inside.clipped_total(GRID, -2 * a_unit, a_unit) == (1 - 2) * a_unit
    clamped = kept.clamped(LOWER, UPPER)
    assert clamped.tally(LOWER, UPPER) == Tally(rows=6, missing=0, outside=0)
    assert clamped.clipped_total(GRID, -(2**30), 2**30) == (1.5 - 3 + 4 - 4) * a_unit
    assert clamped.clipped_total(GRID, -3 * a_unit, 2**30) == (1.5 - 3 + 4 - 3) * a_unit


@pytest.mark.parametrize("kind", KINDS)
def test_small_table(kind):
    check(KINDS[kind]())


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
@pytest.mark.parametrize("as_text", [True, False])
def test_files(tmp_path, ending, as_text):
    path = tmp_path / f"records.{ending}"
    if ending == "parquet":
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, index=False)
    check(read_records("user", "value", str(path) if as_text else path))


def test_users_are_not_confused():
    """1 and "1" differ; -1 does not count from the end; 0 of unsigned integers is a user."""
    values = np.ones(4)
    for users, expected in [
        ([1, "1", None, 1], [1, 2]),
        (np.array([-1, 2, 2, 0]), [1, 1, 2]),
        (np.array([0, 2, 2, 0], dtype=np.uint64), [2, 2]),
        (np.array([2**64 - 1, 0, 2**64 - 1, 3], dtype=np.uint64), [1, 1, 2]),
        (np.array([-128, 127, -128, -128], dtype=np.int8), [1, 3]),
        (np.array([True, False, True, True]), [1, 3]),
        (np.array(["", "x", "x", "y"]), [1, 1, 2]),
    ]:
        records = read_records(
            np.array(users, object) if expected == [1, 2] else users, values, None
        )
        assert sorted(records.without_missing().user_counts()) == expected


def definition(users, values, grid, lowest, highest):
    """The clipped total in Python's whole numbers."""
    sums = {}
    for user, value in zip(users.tolist(), values.tolist(), strict=True):
        level = floor((value - grid.lower) * (grid.top / grid.width) + 0.5) - grid.origin
        sums[user] = sums.get(user, 0) + level
    return sum(min(max(total, lowest), highest) for total in sums.values())


def random_problem(rng):
    n, lower = int(rng.integers(1, 60)), float(rng.choice([0, -65, 1e6, -0.1]))
    width = float(rng.choice([65, 1, 1e-3, 1e5]) * rng.choice([1, rng.random() + 0.1]))
    bits = int(rng.integers(8, 41))
    upper = lower + width
    grid = Grid(lower, upper, bits, int(rng.integers(0, 2**bits)))
    share = np.where(rng.random(n) < 0.5, rng.choice([0, 1, 0.5], n), rng.random(n))
    values = np.clip(lower + width * share, lower, upper)
    reach = int(rng.integers(0, 5 * 2**bits))
    return rng.integers(0, 9, n), values, grid, -reach, int(rng.integers(0, 5 * 2**bits))


def test_totals_are_those_of_whole_numbers():
    rng = np.random.default_rng(71)
    for i in range(400):
        users, values, grid, lowest, highest = random_problem(rng)
        expected = definition(users, values, grid, lowest, highest)
        order = rng.permutation(users.size)
        for x, y in ((users, values), (users[order], values[order])):
            assert read_records(x, y, None).clipped_total(grid, lowest, highest) == expected
        if i < 40:
            table = ibis.memtable(pa.table({"user": users, "value": values}))
            total = read_records("user", "value", table).clipped_total(grid, lowest, highest)
            assert total == expected


def test_levels_are_the_nearest_and_stay_on_the_grid():
    rng = np.random.default_rng(72)
    for _ in range(300):
        _, values, grid, _, _ = random_problem(rng)
        for value in values[:3].tolist():
            level = read_records([0], [value], None).clipped_total(grid, -(2**60), 2**60)
            level += grid.origin
            assert 0 <= level <= grid.top
            place = (Fraction(value) - Fraction(grid.lower)) / Fraction(grid.width) * grid.top
            # Half a step, but for the rounding of floats: of values near the large end of 2^53.
            slack = Fraction(grid.top, 2**51) + Fraction(
                abs(grid.lower)
            ) / 2**52 * grid.top / Fraction(grid.width)
            assert abs(place - level) <= Fraction(1, 2) + slack


def test_one_user_moves_the_total_by_the_width_of_the_interval_at_most():
    rng = np.random.default_rng(73)
    for _ in range(300):
        users, values, grid, lowest, highest = random_problem(rng)
        totals = []
        of_one = users == users[0]
        for replacement in (
            grid.lower,
            grid.upper,
            rng.uniform(grid.lower, grid.upper, of_one.sum()),
        ):
            changed = values.copy()
            changed[of_one] = replacement
            totals.append(read_records(users, changed, None).clipped_total(grid, lowest, highest))
        assert max(totals) - min(totals) <= highest - lowest


def test_long_columns_are_worked_on_in_parts():
    n = 2 * ROWS_AT_A_TIME + 5
    rng = np.random.default_rng(74)
    users, values = rng.integers(0, 50, n), rng.random(n)
    values[[1, ROWS_AT_A_TIME, n - 1]] = np.nan, 2.0, -1.0
    records = read_records(users, values, None)
    assert records.tally(0, 1) == Tally(n, 1, 2)
    kept = records.without_missing().within(0, 1)
    expected = [
        np.sum(users[np.isfinite(values) & (values >= 0) & (values <= 1)] == u) for u in range(50)
    ]
    assert sorted(kept.user_counts()) == sorted(expected)
    grid = Grid(0.0, 1.0, 30)
    kept_rows = (values >= 0) & (values <= 1)
    assert kept.clipped_total(grid, 0, 2**45) == definition(
        users[kept_rows], values[kept_rows], grid, 0, 2**45
    )


def test_rows_at_the_bounds_are_inside_also_beside_others():
    n = ROWS_AT_A_TIME
    values = np.r_[np.full(n, 0.5), 0.0, 1.0, np.nextafter(0, -1), np.nextafter(1, 2), np.nan]
    records = read_records(np.zeros(n + 5, int), values, None)
    assert records.tally(0, 1) == Tally(n + 5, 1, 2)
    assert records.within(0, 1).user_counts().tolist() == [n + 2]
    assert read_records([0, 0], [0.0, 1.0], None).tally(0, 1) == Tally(2, 0, 0)


def test_values_of_single_precision_are_worked_on_in_double():
    values = np.random.default_rng(76).random(1000).astype(np.float32)
    grid = Grid(0.0, 1.3, 40)
    single, double = (
        read_records(np.zeros(1000, int), x, None).clipped_total(grid, 0, 2**52)
        for x in (values, values.astype(float))
    )
    assert single == double


def test_totals_beyond_the_whole_numbers_of_floats_are_exact():
    n, grid = 20_001, Grid(0.0, 1.0, 40)
    values = np.full(n, 1 - 2.0**-40)
    total = read_records(np.arange(n), values, None).clipped_total(grid, 0, 2**52)
    assert total == n * (2**40 - 1) > 2**53
    assert total % 2 == 1


def test_files_need_ibis(monkeypatch):
    monkeypatch.setitem(sys.modules, "ibis", None)
    with pytest.raises(ImportError, match=r"read with Ibis: pip install 'userdp\[tables\]'"):
        read_records("user", "value", "records.parquet")


def test_only_a_few_numbers_leave_a_database(monkeypatch):
    n = 5000
    rng = np.random.default_rng(75)
    users = rng.zipf(1.4, n) % 700
    table = ibis.memtable(pa.table({"user": users, "value": rng.random(n)}))
    fetched = []
    real = ibis.expr.types.Expr.to_pyarrow

    def spy(self, *args, **kwargs):
        result = real(self, *args, **kwargs)
        fetched.append(getattr(result, "num_rows", 1))
        return result

    monkeypatch.setattr(ibis.expr.types.Expr, "to_pyarrow", spy)
    records = read_records("user", "value", table)
    records.tally(0, 1)
    counts = records.user_counts()
    records.clipped_total(Grid(0.0, 1.0, 20), 0, 2**20)
    assert fetched == [1, np.unique(counts).size, 1]
    assert fetched[1] <= np.sqrt(2 * n)
    assert np.array_equal(np.sort(counts), np.sort(np.unique(users, return_counts=True)[1]))
