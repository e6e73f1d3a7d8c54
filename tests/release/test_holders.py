"""Every kind of entry in every holder: users are identified alike, or the column is refused.

A holder is a kind of column or table, such as a list or a Parquet file. A person must be one user
in all of them: if each row were a separate user, the noise would cover only one row. `OUTCOMES`
lists the expected outcome for each kind of entry and holder.
"""

import re
from functools import partial

import duckdb
import ibis
import pandas as pd
import polars as pl
import pytest
from kinds import ENTRIES, FRAMES, HOLDERS, WITH_NULL, WRAPPED

from userdp import release
from userdp.release import protected_tally

pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'future.infer_string':DeprecationWarning:ibis"),
    pytest.mark.filterwarnings("ignore:`eps` is not stated:UserWarning"),
]

BOUNDS = {"lower": 0, "upper": 2}

# Numbers of rows per user, by outcome: the users are told apart; or the holder's library, or a
# text file, has changed the entries before the package could read them.
COUNTS = {
    "apart": [2, 1],
    # numpy has converted 1 to text; in pandas categories an hour that occurs twice has equal times
    "merged": [3],
    "as text": [1, 1, 1],  # one user becomes two: 0.0 and -0.0 are different text
    "null as text": [2, 1, 1],  # numpy has converted a null to the text "nan"
}
# Patterns of the error messages.
REFUSED = {
    "refused": r"^`user` must (hold ids|not be bytes in an engine)"
    r".* (user|user='user') (of|with).* d?type .*[.] Pass ",
    "not whole": r"^`user` must hold ids: floats must be whole .*[.] Pass whole numbers or text",
    "wrong shape": r"^`user` must be a column, of shape \(n,\), got shape \(3, 1\)",
}
# Two more outcomes: "missing" (two users and a missing one), and "not held" (the holder's library
# refuses the entries).
EVERY_OUTCOME = {*COUNTS, *REFUSED, "missing", "not held"}

# Holders that often share an outcome. The first group keeps any Python object as it is.
KEEP_OBJECTS = ["list", "objects", "pandas objects", "polars objects", "polars objects, lazy"]
GROUPS = {
    # polars categories hold text only
    "all": [holder for holder in HOLDERS if holder != "polars categories"],
    "keep objects": KEEP_OBJECTS,
    "Python": [*KEEP_OBJECTS, "numpy", "pandas", "pandas nullable", "pandas categories"],
    "DuckDB": ["table, DuckDB", "table, Ibis", "Ibis on pandas objects"],
    "Parquet": ["table, Parquet", "table, Parquet, several"],
    "CSV": ["table, CSV", "table, CSV, packed", "table, CSV, several"],
}

# For each kind, the groups and holders with each outcome. Later entries override earlier ones, and
# holders that are not named cannot hold this kind.
ALL_APART = {"apart": "all"}
IN_OBJECTS = "Python; Ibis on pandas objects"
NOT_AN_ID = {"refused": f"{IN_OBJECTS}; polars"}
NULL_IN_OBJECTS = {"missing": IN_OBJECTS}
NOT_AS_UUIDS = {"not held": "Arrow dictionary; table, Ibis; Ibis on pandas objects"}
OUTCOMES = {
    "text": {"apart": "all; polars categories"},
    "bytes": ALL_APART | {"refused": "DuckDB"},
    "integers": ALL_APART,
    "large integers": ALL_APART,
    "unsigned integers": {"apart": "Python; polars"},
    "huge integers": {"apart": "Python; polars"},
    "booleans": {"refused": "all", "apart": "CSV"},
    "floats": ALL_APART,
    "negative floats": ALL_APART,
    "zeros": ALL_APART | {"as text": "CSV"},
    "halves": {"not whole": "all", "apart": "CSV"},
    "decimals": ALL_APART,
    "fractions": NOT_AN_ID | {"apart": "polars"},
    "complex numbers": NOT_AN_ID,
    "UUIDs": ALL_APART | NOT_AS_UUIDS,
    "addresses": NOT_AN_ID,
    "paths": NOT_AN_ID,
    "days": ALL_APART,
    "times": ALL_APART,
    "instants": ALL_APART,
    "zones": ALL_APART,
    "an hour twice": {"apart": "Python", "merged": "pandas categories"},
    "times of day": ALL_APART | {"refused": "DuckDB; Parquet"},
    "times of day in a zone": ALL_APART | {"refused": "Python; DuckDB; Parquet"},
    "durations": ALL_APART | {"refused": "DuckDB"},
    "times of pandas": ALL_APART,
    "durations of pandas": ALL_APART | {"refused": "DuckDB"},
    "periods of pandas": {"refused": "Python; polars"},
    "times of numpy": {"apart": IN_OBJECTS, "refused": "keep objects"},
    "sets": NOT_AN_ID,
    "tuples": {
        "refused": "all",
        "apart": "CSV",
        "wrong shape": "numpy",
        "not held": "Arrow dictionary",
    },
    "persons": NOT_AN_ID,
    "own text": {"apart": "all; polars categories", "refused": "keep objects"},
    "own integers": ALL_APART | {"refused": "keep objects"},
    "own times": ALL_APART | {"refused": "keep objects; numpy"},
    "integers and text": {"refused": IN_OBJECTS, "merged": "numpy"},
    "None in text": {"missing": "all; polars categories"},
    "NaN in text": NULL_IN_OBJECTS | {"null as text": "numpy"},
    "NA in text": NULL_IN_OBJECTS,
    "NaT in text": NULL_IN_OBJECTS,
    "NaT of numpy in text": {"missing": "Python", "refused": "Ibis on pandas objects"},
    "decimal NaN in text": NULL_IN_OBJECTS,
    "None in integers": {"missing": "all"},
    "NaN in floats": {"missing": "all"},
    "None in UUIDs": {"missing": "all"} | NOT_AS_UUIDS,
    "None in days": {"missing": "all"},
    "NaT in times": NULL_IN_OBJECTS,
    "None in instants": {"missing": "all"},
    "NaN in decimals": NULL_IN_OBJECTS,
}


def expected_outcomes(kind):
    """Return the expected outcome of one kind of entry in every holder."""
    outcomes = dict.fromkeys(HOLDERS, "not held")
    for outcome, names in OUTCOMES[kind].items():
        for name in names.split("; "):
            outcomes |= dict.fromkeys(GROUPS.get(name, [name]), outcome)
    return outcomes


CHANGED_BY_OLD_PANDAS = {"huge integers", "complex numbers", "own text"}
"""Before version 3, pandas converts them to something else, or refuses them with a warning."""

PANDAS_IS_OLD = int(pd.__version__.split(".")[0]) < 3


def for_new_pandas(kind, holder):
    """Skip kinds that an old pandas changes before the package reads them."""
    is_changed = kind in CHANGED_BY_OLD_PANDAS and "pandas" in (holder or "")
    return pytest.mark.skipif(PANDAS_IS_OLD and is_changed, reason="pandas is older than 3")


EVERY_CELL = [
    pytest.param(
        kind, holder, outcome, id=f"{kind} in {holder}", marks=for_new_pandas(kind, holder)
    )
    for kind in OUTCOMES
    for holder, outcome in expected_outcomes(kind).items()
]


def test_every_kind_has_a_row_and_every_name_is_a_holder():
    assert OUTCOMES.keys() == (ENTRIES | WITH_NULL).keys()
    assert all(expected_outcomes(kind).keys() == HOLDERS.keys() for kind in OUTCOMES)
    assert {outcome for row in OUTCOMES.values() for outcome in row} == EVERY_OUTCOME


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "holder", "outcome"), EVERY_CELL)
def test_users_are_told_apart_or_refused(kind, holder, outcome, tmp_path, opendp):
    entries, hold = (ENTRIES | WITH_NULL)[kind], HOLDERS[holder]
    if outcome == "not held":
        with pytest.raises((Exception, pl.exceptions.PanicException)):
            hold(entries, tmp_path)
        return
    user, value, data = hold(entries, tmp_path)
    if outcome == "missing":
        check_missing(user, value, data)
    elif outcome in REFUSED:
        check_refused(REFUSED[outcome], user, value, data)
    else:
        check_counts(COUNTS[outcome], user, value, data)


SCAN_REFUSED = (
    "`data` must not be a query in which DuckDB reads a frame that may hold Python objects"
)
BYTES_REFUSED = r"`user` must not be bytes in an engine"


WAYS_WITH_ALL_KINDS = "SQL expression over a registered frame", "Ibis over an SQL expression"
FEW_KINDS = (
    "text",
    "integers",
    "days",
    "sets",
    "persons",
    "own text",
    "integers and text",
    "None in text",
)


def kinds_for(way):
    """Return all kinds of entries for some ways to read a frame, and a few for the others."""
    return OUTCOMES if way in WAYS_WITH_ALL_KINDS else FEW_KINDS


@pytest.fixture(scope="module")
def connection():
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


def actual_outcome(connection, data, register):
    """Return the users' counts that DuckDB reads, the message of the refusal, or "not held"."""
    try:
        query = register(connection, data)
    except duckdb.NotImplementedException:
        return "not held"
    try:
        return counts_of("user", "value", query)
    except (TypeError, ValueError) as refusal:
        return str(refusal)


@pytest.mark.slow
@pytest.mark.parametrize("way", WRAPPED)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_objects_are_refused_however_duckdb_reads_them(library, way, connection):
    """A query could return whole numbers even for objects, such as hashes of memory addresses."""
    for kind in kinds_for(way):
        data = FRAMES[library]((ENTRIES | WITH_NULL)[kind])
        outcome = actual_outcome(connection, data, WRAPPED[way])
        assert outcome == "not held" or re.match(
            f"{SCAN_REFUSED}|{BYTES_REFUSED}|`user` must hold ids", outcome
        ), kind


@pytest.mark.slow
@pytest.mark.parametrize("way", WRAPPED)
def test_users_in_arrow_data_are_told_apart_or_refused_however_duckdb_reads_them(way, connection):
    for kind in kinds_for(way):
        if expected_outcomes(kind)["Arrow"] == "not held":
            continue
        data = FRAMES["Arrow"]((ENTRIES | WITH_NULL)[kind])
        outcome = actual_outcome(connection, data, WRAPPED[way])
        if kind in ("text", "integers", "days") and "result" not in way:
            assert outcome == [2, 1], kind
        elif kind == "NaN in floats" and outcome == [2, 1, 1]:
            message = "NaN became a user outside the SQL expressions, which hash it"
            assert "SQL expression" in way, message
        elif kind in WITH_NULL or outcome != [2, 1]:
            expected = f"{SCAN_REFUSED}|{BYTES_REFUSED}|`user` must (hold ids|not be missing)"
            assert re.match(expected, str(outcome)), kind


def counts_of(user, value, data):
    return release.user_counts(user, data=data).tolist()


def mean_of(user, value, data, **options):
    return release.private_mean(user, value, data=data, budget=1, **BOUNDS, **options)


def weight_of(user, value, data, **options):
    """Return the number of users: with this cap, each counts as one record."""
    result = release.private_mean_protected_counts(
        user, value, data=data, eps=1, cap=1, **BOUNDS, **options
    )
    return result.noisy_weight


def check_counts(expected, *args):
    assert counts_of(*args) == expected
    assert mean_of(*args).n_users == len(expected)
    assert weight_of(*args) == len(expected)


def check_missing(*args):
    for function in (counts_of, mean_of, partial(mean_of, missing="centre"), weight_of):
        with pytest.raises(ValueError, match="`user` must not be missing"):
            function(*args)
    user, value, data = args
    assert protected_tally(user, value, data=data, lower=0, upper=2) == (4, 2, 1, 0, 0)
    result = mean_of(*args, missing="drop")
    assert (result.n_users, result.n_records, result.eps) == (2, 3, None)
    assert weight_of(*args, missing="drop") == 2


def check_refused(pattern, *args):
    for function in (counts_of, mean_of, weight_of):
        with pytest.raises((TypeError, ValueError), match=pattern) as refusal:
            function(*args)
        assert refusal.value.__context__ is None
