"""A single fault per table: in the first or last row, or next to a boundary of blocks.

A value is below or above the bounds, or a value or user is missing, in each type of column and
table. A check of only one bound would pass a test whose table has faults beyond both bounds, and a
check of only one block a test whose table has faults in several blocks.
"""

from math import inf, nan, nextafter

import ibis
import numpy as np
import pytest
from kinds import COLUMNS, ENGINES, TABLES, rows_of

import userdp as ud
from userdp import beyond, release
from userdp.release._columns import Ids
from userdp.release._grid import Window, read_grid
from userdp.release._rows import Rules
from userdp.release._sources import read_tally
from userdp.release._tally import TallyInMemory

LOWER, UPPER = 0.1, 6.6
USERS, VALUES = ["a", "b", "b", "a", "c"], [1.0, 2.5, 6.0, 0.25, 4.0]

# For each fault: the argument that is refused, the bad entry, and for each rule the value that
# replaces the entry (None if the row is dropped).
FAULTS = {
    "just below": ("value", nextafter(LOWER, -inf), {"clamp": LOWER, "drop": None}),
    "just above": ("value", nextafter(UPPER, inf), {"clamp": UPPER, "drop": None}),
    "far below": ("value", -1e300, {"clamp": LOWER, "drop": None}),
    "far above": ("value", 1e300, {"clamp": UPPER, "drop": None}),
    "infinite, below": ("value", -inf, {"clamp": LOWER, "drop": None}),
    "infinite, above": ("value", inf, {"clamp": UPPER, "drop": None}),
    "no value": ("value", None, {"centre": (LOWER + UPPER) / 2, "drop": None}),
    "no user": ("user", None, {"drop": None}),
}
HOLDERS = {
    **{f"{name}, alone": column for name, column in COLUMNS.items() if "categories" not in name},
    **TABLES,
}
FIRST, LAST = 0, len(USERS) - 1
CASES = [
    (holder, fault, end)
    for holder in HOLDERS
    for fault in FAULTS
    for end in (FIRST, LAST)
    # Tables take longer, so test each fault at one end only; in engines, test fewer faults.
    if holder not in TABLES or (end == FIRST) == ("above" in fault or fault == "no user")
    if not holder.startswith((*ENGINES,)) or fault in ("just below", "just above", "no value")
]
INVALID_IDS = {"a half": 0.5, "too large": 2.0**53 + 2, "infinite": inf, "half, below": -1.5}
INVALID_ID_CASES = [
    (holder, fault, end)
    for holder in [*TABLES, "list, alone", "numpy, alone", "pandas, alone"]
    for fault in INVALID_IDS
    for end in (FIRST, LAST)
    if not holder.startswith("CSV")  # where an id is text
    if holder not in ENGINES or (end == FIRST) == fault.startswith("half")
]


def columns_of(holder, users, values, folder):
    """Return the arguments of a call, for columns by themselves or for a table of them."""
    if holder in TABLES:
        table = TABLES[holder](rows_of(users, values), folder)
        return {"user": "user", "value": "value", "data": table}
    make = HOLDERS[holder]
    return {"user": make(users), "value": make(values)}


def total_and_sizes(opendp, columns, **rules):
    how = {"lower": LOWER, "upper": UPPER, "budget": 1, "total_width": 100, "project": False}
    result = release.private_mean(**columns, **how, **rules)
    return opendp.requests[-1].total, result.n_records, result.n_users


@pytest.mark.filterwarnings("ignore:`eps` is not stated")
@pytest.mark.parametrize(("holder", "fault", "end"), CASES)
def test_a_single_fault_is_refused_or_treated_by_its_rule(holder, fault, end, opendp, tmp_path):
    argument, bad, rules = FAULTS[fault]
    users, values = [*USERS], [*VALUES]
    column = users if argument == "user" else values
    column[end] = bad
    columns = columns_of(holder, users, values, tmp_path)
    outside = argument == "value" and bad is not None
    with pytest.raises(ValueError, match=f"^`{argument}` must"):
        total_and_sizes(opendp, columns)
    assert opendp.requests == []
    for rule, instead in rules.items():
        users, values = [*USERS], [*VALUES]
        values[end] = instead
        if instead is None:
            del users[end], values[end]
        actual = total_and_sizes(opendp, columns, **{"outside" if outside else "missing": rule})
        expected = total_and_sizes(opendp, {"user": users, "value": values})
        # The total is counted from the centre. A missing value adds exactly 0 to it, whereas a
        # value equal to the centre is first rounded to a level.
        slack = 1 if rule == "centre" else 0
        assert actual[1:] == expected[1:]
        assert abs(actual[0] - expected[0]) <= slack


@pytest.mark.parametrize(("holder", "fault", "end"), INVALID_ID_CASES)
def test_a_single_invalid_id_is_refused(holder, fault, end, opendp, tmp_path):
    users = [1.0, 2.0, 2.0, 1.0, 3.0]
    users[end] = INVALID_IDS[fault]
    with pytest.raises(TypeError, match=r"^`user` must hold ids"):
        total_and_sizes(opendp, columns_of(holder, users, VALUES, tmp_path))


# Faults next to boundaries of the blocks in which rows are read
BLOCK_FAULTS = {"below": -1.0, "above": 2.0, "missing": nan, "no user": None}
COUNTED_AS = {"below": "outside", "above": "outside", "missing": "without_value"}
COUNTED_AS["no user"] = "without_user"
GRID = read_grid(0, 1)
WIDE = Window(0, 2, -(2**62), 2**62)


@pytest.fixture(scope="module")
def rows():
    """Codes of two alternating users, and values: blocks of 2^22 and 2^15 rows, and 3 rows."""
    n = 2**22 + 2**15 + 3
    return np.tile(np.array([0, 1], np.int8), n // 2 + 1)[:n], np.full(n, 0.5)


ROWS_OF_ARRAYS = [0, 2**15 - 1, 2**15, 2**22 - 1, 2**22, 2**22 + 2**15, 2**22 + 2**15 + 2]


@pytest.mark.parametrize("row", ROWS_OF_ARRAYS)
@pytest.mark.parametrize("fault", BLOCK_FAULTS)
def test_a_single_fault_is_found_next_to_boundaries_of_blocks_of_arrays(fault, row, rows):
    codes, values = rows[0], rows[1]
    kept = codes[row], values[row]
    if fault == "no user":
        codes[row] = -1
    else:
        values[row] = BLOCK_FAULTS[fault]
    drop = row % 2 == 1
    try:
        rules = Rules(GRID, drop_missing=drop, drop_outside=drop)
        tally = TallyInMemory(Ids(codes, 2, True), values, rules)
    finally:
        codes[row], values[row] = kept
    check_one_fault(tally, fault, values.size, drop)


ROWS_OF_DUCKDB = [0, 2047, 2048, 122_879, 122_880, 122_890]


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS_OF_DUCKDB)
@pytest.mark.parametrize("fault", BLOCK_FAULTS)
def test_a_single_fault_is_found_next_to_boundaries_of_blocks_of_duckdb(fault, row):
    n = ROWS_OF_DUCKDB[-1] + 1
    user = f"if(i = {row} and {fault == 'no user'}, null, i % 2)"
    value = f"if(i = {row} and {fault != 'no user'}, {BLOCK_FAULTS[fault]}::double, 0.5)".replace(
        "nan::", "'nan'::"
    ).replace("None::", "0.5::")
    query = f"SELECT {user} AS user, {value} AS value FROM range({n}) AS r(i)"
    drop = row % 2 == 1
    rules = Rules(GRID, drop_missing=drop, drop_outside=drop)
    with read_tally("user", "value", ibis.duckdb.connect().sql(query), rules) as tally:
        check_one_fault(tally, fault, n, drop)


def check_one_fault(tally, fault, n, drop):
    survey = tally.survey()
    numbers = {name: getattr(survey, name) for name in {*COUNTED_AS.values(), "invalid_floats"}}
    assert numbers == dict.fromkeys(numbers, 0) | {COUNTED_AS[fault]: 1}
    gone = drop or fault == "no user"
    assert survey.counts.sum() == n - gone
    instead = {"below": 0, "above": 2**40, "missing": 0, "no user": 0}[fault]
    total = (n - 1) * 2**39 + (0 if gone else instead)
    assert tally.clipped_total(WIDE) == total >> 2


# Sums instead of records
PEOPLE = ud.Contributions([4, 2, 1], 10)
INVALID_SUMS = {
    "below": lambda m: -1e-6 * m,
    "above": lambda m: 10 * m * (1 + 1e-6),
    "missing": lambda _: nan,
}


@pytest.mark.parametrize("user", [0, 1, 2], ids="user {}".format)
@pytest.mark.parametrize("fault", INVALID_SUMS)
def test_one_invalid_sum_or_vector_is_refused(fault, user):
    sums = [4.0, 7.5, 3.0]
    sums[user] = INVALID_SUMS[fault](PEOPLE.counts[user])
    with pytest.raises(ValueError, match=r"^`sums` must"):
        release.release_mean(sums, PEOPLE, 1)
    vectors = np.zeros((3, 2))
    size = nan if fault == "missing" else 5 * PEOPLE.counts[user] * (1 + 1e-6)
    vectors[user, user % 2] = -size if fault == "below" else size
    with pytest.raises(ValueError, match=r"^`sums` must"):
        release.release_mean_in_ball(vectors, PEOPLE, beyond.GaussianNoise(1))
