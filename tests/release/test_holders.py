"""Every kind of entry in every holder: the same users are told apart, or the column is refused.

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

# Numbers of rows per user, by outcome: users are told apart, or the holder's library, or a text
# file, has changed the entries before the package could read them.
COUNTS = {
    "apart": [2, 1],
    "merged": [3],  # numpy has converted 1 to text, and pandas compares as Python does
    "as text": [1, 1, 1],  # one user becomes two: 0.0 and -0.0 are different text
    "null as text": [2, 1, 1],  # numpy has converted a null to the text "nan"
}
# Messages of refusals, which name the column and the type, and say what to do.
REFUSED = {
    "refused": r"^`user` must (hold ids|not be bytes in an engine)"
    r".* (user|user='user') (of|with).* d?type .*[.] Pass ",
    "not whole": r"^`user` must hold ids: floats must be whole .*[.] Pass whole numbers or text",
    "wrong shape": r"^`user` must be a column, of shape \(n,\), got shape \(3, 1\)",
}
# Two more outcomes: two users and a missing one ("missing"), or the holder's library refuses them.
EVERY_OUTCOME = {*COUNTS, *REFUSED, "missing", "not held"}

# Holders that often share an outcome. Those in Python's memory may hold any object.
AS_THEY_ARE = ["list", "objects", "pandas objects", "polars objects", "polars objects, lazy"]
GROUPS = {
    "all": [holder for holder in HOLDERS if holder != "polars categories"],  # text only
    "as they are": AS_THEY_ARE,
    "Python": [*AS_THEY_ARE, "numpy", "pandas", "pandas nullable", "pandas categories"],
    "DuckDB": ["table, DuckDB", "table, Ibis", "Ibis on pandas objects"],
    "Parquet": ["table, Parquet", "table, Parquet, several"],
    "CSV": ["table, CSV", "table, CSV, packed", "table, CSV, several"],
}

# For each kind, the groups and holders with each outcome. Later entries override earlier ones, and
# holders that are not named cannot hold this kind.
ALL_APART = {"apart": "all"}
IN_OBJECTS = "Python; Ibis on pandas objects"
NO_ID = {"refused": f"{IN_OBJECTS}; polars"}
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
    "fractions": NO_ID | {"apart": "polars"},
    "complex numbers": NO_ID,
    "UUIDs": ALL_APART | NOT_AS_UUIDS,
    "addresses": NO_ID,
    "paths": NO_ID,
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
    "times of numpy": {"apart": IN_OBJECTS, "refused": "as they are"},
    "sets": NO_ID,
    "tuples": {
        "refused": "all",
        "apart": "CSV",
        "wrong shape": "numpy",
        "not held": "Arrow dictionary",
    },
    "persons": NO_ID,
    "own text": {"apart": "all; polars categories", "refused": "as they are"},
    "own integers": ALL_APART | {"refused": "as they are"},
    "own times": ALL_APART | {"refused": "as they are; numpy"},
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


def outcomes_of(kind):
    """Return the outcome of one kind of entry in every holder."""
    outcomes = dict.fromkeys(HOLDERS, "not held")
    for outcome, names in OUTCOMES[kind].items():
        for name in names.split("; "):
            outcomes |= dict.fromkeys(GROUPS.get(name, [name]), outcome)
    return outcomes


CHANGED_BY_OLD_PANDAS = {"huge integers", "complex numbers", "own text"}
"""Before version 3, pandas converts them to something else, or refuses them with a warning."""

AN_OLD_PANDAS = int(pd.__version__.split(".")[0]) < 3


def for_new_pandas(kind, holder):
    """Skip kinds that an old pandas changes before the package reads them."""
    is_changed = kind in CHANGED_BY_OLD_PANDAS and "pandas" in (holder or "")
    return pytest.mark.skipif(AN_OLD_PANDAS and is_changed, reason="pandas is older than 3")


EVERY_CELL = [
    pytest.param(
        kind, holder, outcome, id=f"{kind} in {holder}", marks=for_new_pandas(kind, holder)
    )
    for kind in OUTCOMES
    for holder, outcome in outcomes_of(kind).items()
]


def test_every_kind_has_a_row_and_every_name_is_a_holder():
    assert OUTCOMES.keys() == (ENTRIES | WITH_NULL).keys()
    assert all(outcomes_of(kind).keys() == HOLDERS.keys() for kind in OUTCOMES)
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


SCAN = "`data` must not be a query in which DuckDB reads a frame that may hold Python objects"
OBJECTS = r"`user` must not be bytes in an engine"


EVERY_KIND = "SQL expression over a registered frame", "Ibis over an SQL expression"
FEW = "text", "integers", "days", "sets", "persons", "own text", "integers and text", "None in text"


def kinds_for(wrap):
    """Return all kinds of entries for some ways to read a frame, and a few for the others."""
    return OUTCOMES if wrap in EVERY_KIND else FEW


@pytest.fixture(scope="module")
def connection():
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


def outcome_of(connection, frame, wrap):
    """Return the users' counts that DuckDB reads from a frame, or the message of the refusal."""
    try:
        data = wrap(connection, frame)
    except duckdb.NotImplementedException:
        return "not held"
    try:
        return counts_of("user", "value", data)
    except (TypeError, ValueError) as refusal:
        return str(refusal)


@pytest.mark.slow
@pytest.mark.parametrize("wrap", WRAPPED)
@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_of_objects_are_refused_however_duckdb_reads_them(frame, wrap, connection):
    """A query could return whole numbers even for objects, such as hashes of memory addresses."""
    for kind in kinds_for(wrap):
        entries = FRAMES[frame]((ENTRIES | WITH_NULL)[kind])
        outcome = outcome_of(connection, entries, WRAPPED[wrap])
        assert outcome == "not held" or re.match(
            f"{SCAN}|{OBJECTS}|`user` must hold ids", outcome
        ), kind


@pytest.mark.slow
@pytest.mark.parametrize("wrap", WRAPPED)
def test_users_in_arrow_data_are_told_apart_or_refused_however_duckdb_reads_them(wrap, connection):
    for kind in kinds_for(wrap):
        if outcomes_of(kind)["Arrow"] == "not held":
            continue
        entries = FRAMES["Arrow"]((ENTRIES | WITH_NULL)[kind])
        outcome = outcome_of(connection, entries, WRAPPED[wrap])
        if kind in ("text", "integers", "days") and "result" not in wrap:
            assert outcome == [2, 1], kind
        elif kind == "NaN in floats" and outcome == [2, 1, 1]:
            assert "SQL expression" in wrap, "only a hash of NaN is not null"
        elif kind in WITH_NULL or outcome != [2, 1]:
            expected = f"{SCAN}|{OBJECTS}|`user` must (hold ids|not be missing)"
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


def check_counts(expected, *call):
    assert counts_of(*call) == expected
    assert mean_of(*call).n_users == len(expected)
    assert weight_of(*call) == len(expected)


def check_missing(*call):
    for call_with in (counts_of, mean_of, partial(mean_of, missing="centre"), weight_of):
        with pytest.raises(ValueError, match="`user` must not be missing"):
            call_with(*call)
    user, value, data = call
    assert protected_tally(user, value, data=data, lower=0, upper=2) == (4, 2, 1, 0, 0)
    result = mean_of(*call, missing="drop")
    assert (result.n_users, result.n_records, result.eps) == (2, 3, None)
    assert weight_of(*call, missing="drop") == 2


def check_refused(words, *call):
    for call_with in (counts_of, mean_of, weight_of):
        with pytest.raises((TypeError, ValueError), match=words) as refusal:
            call_with(*call)
        assert refusal.value.__context__ is None
