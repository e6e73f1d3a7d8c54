"""Every kind of entry in every holder: the same users are told apart, or the column is refused.

Wherever a person's rows may come from, that person is one user: each as a user of its own, they
would be released with noise for one row. `OUTCOMES` says of each kind in each holder what becomes
of it.
"""

import re

import duckdb
import ibis
import pandas as pd
import polars as pl
import pytest
from kinds import (
    COLUMNS,
    ENTRIES,
    FRAMES,
    HOLDERS,
    OF_OBJECTS,
    SEVERAL,
    TABLES,
    WITH_NULL,
    WRAPPED,
)

from userdp import release
from userdp.release import protected_tally

pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'future.infer_string':DeprecationWarning:ibis"),
    pytest.mark.filterwarnings("ignore:`eps` is not stated:UserWarning"),
]

BOUNDS = {"lower": 0, "upper": 2}

# Rows of each user, by outcome: users are told apart, or the holder's own library, or a file of
# text, has changed the entries before anybody could look.
COUNTS = {
    "apart": [2, 1],
    "merged": [3],  # numpy has made text of 1, pandas compares as Python does
    "as text": [1, 1, 1],  # one user becomes two: 0.0 and -0.0 are different text
    "null as text": [2, 1, 1],  # numpy has made the text "nan" of a null
}
# How refusals name the column and the type, and say what to do.
REFUSED = {
    "refused": r"^`user` must (hold ids|not be what DuckDB may have made of Python's objects)"
    r".* (user|user='user') (of|with).* d?type .*[.] Pass ",
    "not whole": r"^`user` must hold ids: some are floats .*[.] Pass whole numbers or text[.]$",
    "wrong shape": r"^`user` must be a column, of shape \(n,\), got shape \(3, 1\)",
}
# Two more outcomes: "nobody", two users and a row of nobody; and "not held", where the holder's
# own library refuses the entries.

PANDAS = ["pandas objects", "pandas", "pandas nullable", "pandas by Arrow", "pandas categories"]
ARROW = ["Arrow", "Arrow chunks", "Arrow dictionary"]
GROUPS = {
    "columns": list(COLUMNS),
    "tables": [f"table, {name}" for name in TABLES | SEVERAL],
    "frames of objects": list(OF_OBJECTS),
    "pandas columns": PANDAS,
    "polars columns": ["polars", "polars objects", "polars categories"],
    "Arrow columns": ARROW,
    "DuckDB tables": ["table, DuckDB", "table, Ibis", "table, Parquet", "table, Parquet, several"],
    "CSV tables": ["table, CSV", "table, CSV, packed", "table, CSV, several"],
}
"""Holders that often have one outcome."""

# The outcome in most holders, and the exceptions: of groups first, then of single holders, which
# override those of groups. Categories of polars hold nothing but text.
OUTCOMES = {
    "text": ("apart", {"polars categories": "apart"}),
    "bytes": (
        "apart",
        {"table, DuckDB": "refused", "table, Ibis": "refused", "Ibis on pandas objects": "refused"},
    ),
    "integers": ("apart", {}),
    "large integers": ("apart", {}),
    "unsigned integers": (
        "not held",
        {
            "columns": "apart",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars objects, lazy": "apart",
        },
    ),
    "huge integers": (
        "not held",
        {
            "columns": "apart",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars objects, lazy": "apart",
        },
    ),
    "booleans": ("refused", {"CSV tables": "apart"}),
    "floats": ("apart", {}),
    "negative floats": ("apart", {}),
    "zeros": ("apart", {"CSV tables": "as text"}),
    "halves": ("not whole", {"CSV tables": "apart"}),
    "decimals": ("apart", {}),
    "fractions": (
        "not held",
        {
            "columns": "refused",
            "frames of objects": "refused",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars": "apart",
        },
    ),
    "complex numbers": (
        "not held",
        {
            "columns": "refused",
            "frames of objects": "refused",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
        },
    ),
    "UUIDs": (
        "apart",
        {
            "Arrow dictionary": "not held",
            "table, Ibis": "not held",
            "Ibis on pandas objects": "not held",
        },
    ),
    "addresses": (
        "not held",
        {
            "columns": "refused",
            "frames of objects": "refused",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
        },
    ),
    "paths": (
        "not held",
        {
            "columns": "refused",
            "frames of objects": "refused",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
        },
    ),
    "days": ("apart", {}),
    "times": ("apart", {}),
    "instants": ("apart", {}),
    "zones": ("apart", {}),
    "an hour twice": (
        "not held",
        {
            "pandas columns": "apart",
            "list": "apart",
            "objects": "apart",
            "numpy": "apart",
            "pandas by Arrow": "not held",
            "pandas categories": "merged",
            "polars objects": "apart",
            "polars objects, lazy": "apart",
        },
    ),
    "times of day": ("apart", {"DuckDB tables": "refused", "Ibis on pandas objects": "refused"}),
    "times of day in a zone": (
        "apart",
        {
            "columns": "refused",
            "frames of objects": "refused",
            "Arrow columns": "apart",
            "DuckDB tables": "refused",
            "pandas by Arrow": "apart",
            "polars": "apart",
        },
    ),
    "durations": (
        "apart",
        {"table, DuckDB": "refused", "table, Ibis": "refused", "Ibis on pandas objects": "refused"},
    ),
    "times of pandas": ("apart", {}),
    "durations of pandas": (
        "apart",
        {"table, DuckDB": "refused", "table, Ibis": "refused", "Ibis on pandas objects": "refused"},
    ),
    "periods of pandas": (
        "not held",
        {
            "columns": "refused",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars objects, lazy": "refused",
        },
    ),
    "times of numpy": (
        "not held",
        {
            "pandas columns": "apart",
            "list": "refused",
            "objects": "refused",
            "numpy": "apart",
            "pandas objects": "refused",
            "pandas by Arrow": "not held",
            "polars objects": "refused",
            "polars objects, lazy": "refused",
            "Ibis on pandas objects": "apart",
        },
    ),
    "sets": (
        "not held",
        {
            "columns": "refused",
            "frames of objects": "refused",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
        },
    ),
    "tuples": (
        "refused",
        {"CSV tables": "apart", "numpy": "wrong shape", "Arrow dictionary": "not held"},
    ),
    "persons": (
        "not held",
        {
            "columns": "refused",
            "frames of objects": "refused",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
        },
    ),
    "own text": (
        "apart",
        {
            "list": "refused",
            "objects": "refused",
            "pandas objects": "refused",
            "polars objects": "refused",
            "polars categories": "apart",
            "polars objects, lazy": "refused",
        },
    ),
    "own integers": (
        "apart",
        {
            "list": "refused",
            "objects": "refused",
            "pandas objects": "refused",
            "polars objects": "refused",
            "polars objects, lazy": "refused",
        },
    ),
    "own times": (
        "apart",
        {
            "list": "refused",
            "objects": "refused",
            "numpy": "refused",
            "pandas objects": "refused",
            "polars objects": "refused",
            "polars objects, lazy": "refused",
        },
    ),
    "integers and text": (
        "not held",
        {
            "frames of objects": "refused",
            "pandas columns": "refused",
            "list": "refused",
            "objects": "refused",
            "numpy": "merged",
            "pandas by Arrow": "not held",
            "polars objects": "refused",
        },
    ),
    "None in text": ("nobody", {"polars categories": "nobody"}),
    "NaN in text": (
        "not held",
        {
            "frames of objects": "nobody",
            "pandas columns": "nobody",
            "list": "nobody",
            "objects": "nobody",
            "numpy": "null as text",
            "pandas by Arrow": "not held",
            "polars objects": "nobody",
        },
    ),
    "NA in text": (
        "not held",
        {
            "columns": "nobody",
            "frames of objects": "nobody",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars": "not held",
        },
    ),
    "NaT in text": (
        "not held",
        {
            "columns": "nobody",
            "frames of objects": "nobody",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars": "not held",
        },
    ),
    "NaT of numpy in text": (
        "not held",
        {
            "columns": "nobody",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars": "not held",
            "polars objects, lazy": "nobody",
            "Ibis on pandas objects": "refused",
        },
    ),
    "decimal NaN in text": (
        "not held",
        {
            "columns": "nobody",
            "frames of objects": "nobody",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars": "not held",
        },
    ),
    "None in integers": ("nobody", {}),
    "NaN in floats": ("nobody", {}),
    "None in UUIDs": (
        "nobody",
        {
            "Arrow dictionary": "not held",
            "table, Ibis": "not held",
            "Ibis on pandas objects": "not held",
        },
    ),
    "None in days": ("nobody", {}),
    "NaT in times": (
        "not held",
        {
            "columns": "nobody",
            "frames of objects": "nobody",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars": "not held",
        },
    ),
    "None in instants": ("nobody", {}),
    "NaN in decimals": (
        "not held",
        {
            "columns": "nobody",
            "frames of objects": "nobody",
            "Arrow columns": "not held",
            "pandas by Arrow": "not held",
            "polars": "not held",
        },
    ),
}


def outcomes_of(kind):
    """Return the outcome of one kind of entry in every holder."""
    most, exceptions = OUTCOMES[kind]
    outcomes = dict.fromkeys(HOLDERS, most) | {"polars categories": "not held"}
    for name, outcome in exceptions.items():
        for holder in GROUPS.get(name, [name]):
            if holder != "polars categories" or name == holder:
                outcomes[holder] = outcome
    return outcomes


MADE_OTHERWISE = {"huge integers", "complex numbers", "own text"}
"""Before version 3, frames of pandas make something else of them, or refuse them with a warning."""

AN_OLD_PANDAS = int(pd.__version__.split(".")[0]) < 3


def for_new_pandas(kind, holder):
    """Skip what an old pandas makes otherwise, before it is read here."""
    is_made = kind in MADE_OTHERWISE and "pandas" in (holder or "")
    return pytest.mark.skipif(AN_OLD_PANDAS and is_made, reason="pandas is older than 3")


EVERY_CELL = [
    pytest.param(
        kind, holder, outcome, id=f"{kind} in {holder}", marks=for_new_pandas(kind, holder)
    )
    for kind in OUTCOMES
    for holder, outcome in outcomes_of(kind).items()
]


def test_every_kind_has_its_row_and_every_exception_its_holder():
    assert OUTCOMES.keys() == (ENTRIES | WITH_NULL).keys()
    named = {name for _, exceptions in OUTCOMES.values() for name in exceptions}
    assert named <= GROUPS.keys() | HOLDERS.keys()
    assert {holder for group in GROUPS.values() for holder in group} <= HOLDERS.keys()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "holder", "outcome"), EVERY_CELL)
def test_users_are_told_apart_or_refused(kind, holder, outcome, tmp_path, opendp):
    entries, hold = (ENTRIES | WITH_NULL)[kind], HOLDERS[holder]
    if outcome == "not held":
        with pytest.raises((Exception, pl.exceptions.PanicException)):
            hold(entries, tmp_path)
        return
    user, value, data = hold(entries, tmp_path)
    if outcome == "nobody":
        check_nobody(user, value, data)
    elif outcome in REFUSED:
        check_refused(REFUSED[outcome], user, value, data)
    else:
        check_counts(COUNTS[outcome], user, value, data)


SCAN = "`data` must not have DuckDB read a frame that may hold Python objects"
OBJECTS = r"`user` must not be what DuckDB may have made of Python's objects"


EVERY_KIND = "SQL expression over a registered frame", "Ibis over an SQL expression"
FEW = "text", "integers", "days", "sets", "persons", "own text", "integers and text", "None in text"


def kinds_for(wrap):
    """Return all kinds of entries for some ways of reading a frame, and a few for the others."""
    return OUTCOMES if wrap in EVERY_KIND else FEW


@pytest.fixture(scope="module")
def shop():
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


def outcome_of(shop, frame, wrap):
    """Return the counts of users that DuckDB reads from a frame, or the words of the refusal."""
    try:
        data = wrap(shop, frame)
    except duckdb.NotImplementedException:
        return "not held"
    try:
        return counts_of("user", "value", data)
    except (TypeError, ValueError) as refusal:
        return str(refusal)


@pytest.mark.slow
@pytest.mark.parametrize("wrap", WRAPPED)
@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_of_objects_are_refused_however_duckdb_reads_them(frame, wrap, shop):
    """What a query returns may be whole numbers: hashes of addresses, say."""
    for kind in kinds_for(wrap):
        made = FRAMES[frame]((ENTRIES | WITH_NULL)[kind])
        found = outcome_of(shop, made, WRAPPED[wrap])
        assert found == "not held" or re.match(f"{SCAN}|{OBJECTS}|`user` must hold ids", found), (
            kind
        )


@pytest.mark.slow
@pytest.mark.parametrize("wrap", WRAPPED)
def test_users_in_arrow_data_are_told_apart_or_refused_however_duckdb_reads_them(wrap, shop):
    for kind in kinds_for(wrap):
        if outcomes_of(kind)["Arrow"] == "not held":
            continue
        made = FRAMES["Arrow"]((ENTRIES | WITH_NULL)[kind])
        found = outcome_of(shop, made, WRAPPED[wrap])
        if kind in ("text", "integers", "days") and "result" not in wrap:
            assert found == [2, 1], kind
        elif kind == "NaN in floats" and found == [2, 1, 1]:
            assert "SQL expression" in wrap, "only a hash of NaN is not null"
        elif kind in WITH_NULL or found != [2, 1]:
            expected = f"{SCAN}|{OBJECTS}|`user` must (hold ids|not be missing)"
            assert re.match(expected, str(found)), kind


def counts_of(user, value, data):
    return release.user_counts(user, data=data).tolist()


def mean_of(user, value, data, **options):
    return release.private_mean(user, value, data=data, budget=1, **BOUNDS, **options)


def weight_of(user, value, data, **options):
    """Return how many users there are: none counts for more than one record."""
    made = release.private_mean_protected_counts(
        user, value, data=data, eps=1, cap=1, **BOUNDS, **options
    )
    return made.noisy_weight


def check_counts(expected, *call):
    assert counts_of(*call) == expected
    assert mean_of(*call).n_users == len(expected)
    assert weight_of(*call) == len(expected)


def check_nobody(*call):
    for ask in (counts_of, mean_of, weight_of):
        with pytest.raises(ValueError, match="`user` must not be missing"):
            ask(*call)
    user, value, data = call
    assert protected_tally(user, value, data=data, lower=0, upper=2) == (4, 2, 1, 0, 0)
    assert mean_of(*call, missing="drop").n_users == 2
    assert weight_of(*call, missing="drop") == 2


def check_refused(words, *call):
    for ask in (counts_of, mean_of, weight_of):
        with pytest.raises((TypeError, ValueError), match=words) as refusal:
            ask(*call)
        assert refusal.value.__context__ is None
