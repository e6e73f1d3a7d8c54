"""A single fault per table: on either side, at either end, in every block and every holder.

A check of only one side would pass a test whose table has faults on both sides, and a check of only
one block a test whose table has faults in several blocks.
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
ODD = {"a half": 0.5, "too large": 2.0**53 + 2, "infinite": inf, "half, below": -1.5}
ODD_CASES = [
    (holder, odd, end)
    for holder in [*TABLES, "list, alone", "numpy, alone", "pandas, alone"]
    for odd in ODD
    for end in (FIRST, LAST)
    if not holder.startswith("CSV")  # where an id is text
    if holder not in ENGINES or (end == FIRST) == odd.startswith("half")
]


def columns_of(holder, users, values, folder):
    """Return the arguments of a call, for columns by themselves or for a table of them."""
    if holder in TABLES:
        table = TABLES[holder](rows_of(users, values), folder)
        return {"user": "user", "value": "value", "data": table}
    make = HOLDERS[holder]
    return {"user": make(users), "value": make(values)}


def total_of(opendp, columns, **rules):
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
        total_of(opendp, columns)
    assert opendp.requests == []
    for rule, instead in rules.items():
        users, values = [*USERS], [*VALUES]
        values[end] = instead
        if instead is None:
            del users[end], values[end]
        actual = total_of(opendp, columns, **{"outside" if outside else "missing": rule})
        expected = total_of(opendp, {"user": users, "value": values})
        # A row without a value counts as exactly 0, a value at the centre is rounded to a level.
        slack = 1 if rule == "centre" else 0
        assert actual[1:] == expected[1:]
        assert abs(actual[0] - expected[0]) <= slack


@pytest.mark.parametrize(("holder", "odd", "end"), ODD_CASES)
def test_a_single_odd_user_is_refused(holder, odd, end, opendp, tmp_path):
    users = [1.0, 2.0, 2.0, 1.0, 3.0]
    users[end] = ODD[odd]
    with pytest.raises(TypeError, match=r"^`user` must hold ids"):
        total_of(opendp, columns_of(holder, users, VALUES, tmp_path))


# Blocks, at their true sizes
KINDS = {"below": -1.0, "above": 2.0, "missing": nan, "no user": None}
COUNTED_AS = {"below": "outside", "above": "outside", "missing": "without_value"}
COUNTED_AS["no user"] = "without_user"
GRID = read_grid(0, 1)
WIDE = Window(0, 2, -(2**62), 2**62)


@pytest.fixture(scope="module")
def rows():
    """Codes of two alternating users, and values, for one block and a part of another."""
    n = 2**22 + 2**15 + 3
    return np.tile(np.array([0, 1], np.int8), n // 2 + 1)[:n], np.full(n, 0.5)


IN_MEMORY = [0, 2**15 - 1, 2**15, 2**22 - 1, 2**22, 2**22 + 2**15, 2**22 + 2**15 + 2]


@pytest.mark.parametrize("place", IN_MEMORY)
@pytest.mark.parametrize("kind", KINDS)
def test_a_single_fault_is_found_in_every_block_of_arrays(kind, place, rows):
    codes, values = rows[0], rows[1]
    kept = codes[place], values[place]
    if kind == "no user":
        codes[place] = -1
    else:
        values[place] = KINDS[kind]
    drop = place % 2 == 1
    try:
        rules = Rules(GRID, drop_missing=drop, drop_outside=drop)
        tally = TallyInMemory(Ids(codes, 2, True), values, rules)
    finally:
        codes[place], values[place] = kept
    check_one_fault(tally, kind, values.size, drop)


IN_DUCKDB = [0, 2047, 2048, 122_879, 122_880, 122_890]


@pytest.mark.slow
@pytest.mark.parametrize("place", IN_DUCKDB)
@pytest.mark.parametrize("kind", KINDS)
def test_a_single_fault_is_found_in_every_block_of_duckdb(kind, place):
    n = IN_DUCKDB[-1] + 1
    user = f"if(i = {place} and {kind == 'no user'}, null, i % 2)"
    value = f"if(i = {place} and {kind != 'no user'}, {KINDS[kind]}::double, 0.5)".replace(
        "nan::", "'nan'::"
    ).replace("None::", "0.5::")
    query = f"SELECT {user} AS user, {value} AS value FROM range({n}) AS r(i)"
    drop = place % 2 == 1
    rules = Rules(GRID, drop_missing=drop, drop_outside=drop)
    with read_tally("user", "value", ibis.duckdb.connect().sql(query), rules) as tally:
        check_one_fault(tally, kind, n, drop)


def check_one_fault(tally, kind, n, drop):
    survey = tally.survey()
    numbers = {name: getattr(survey, name) for name in {*COUNTED_AS.values(), "invalid_floats"}}
    assert numbers == dict.fromkeys(numbers, 0) | {COUNTED_AS[kind]: 1}
    gone = drop or kind == "no user"
    assert survey.counts.sum() == n - gone
    instead = {"below": 0, "above": 2**40, "missing": 0, "no user": 0}[kind]
    total = (n - 1) * 2**39 + (0 if gone else instead)
    assert tally.clipped_total(WIDE) == total >> 2


# Sums instead of records
PEOPLE = ud.Contributions([4, 2, 1], 10)
SUMS = {
    "below": lambda m: -1e-6 * m,
    "above": lambda m: 10 * m * (1 + 1e-6),
    "missing": lambda _: nan,
}


@pytest.mark.parametrize("place", [0, 1, 2], ids="user {}".format)
@pytest.mark.parametrize("kind", SUMS)
def test_one_odd_sum_or_vector_is_refused(kind, place):
    sums = [4.0, 7.5, 3.0]
    sums[place] = SUMS[kind](PEOPLE.counts[place])
    with pytest.raises(ValueError, match=r"^`sums` must"):
        release.release_mean(sums, PEOPLE, 1)
    vectors = np.zeros((3, 2))
    size = nan if kind == "missing" else 5 * PEOPLE.counts[place] * (1 + 1e-6)
    vectors[place, place % 2] = -size if kind == "below" else size
    with pytest.raises(ValueError, match=r"^`sums` must"):
        release.release_mean_in_ball(vectors, PEOPLE, beyond.GaussianNoise(1))
