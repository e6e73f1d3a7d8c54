"""Every kind of entry in every holder: the same users are told apart, or the column is refused.

Wherever a person's rows may come from, that person is one user: each as a user of its own, they
would be released with noise for one row. `CELLS` says of each kind in each holder what becomes of
it, and a holder without its column there fails.
"""

from itertools import zip_longest

import pandas as pd
import polars as pl
import pytest
from kinds import ENTRIES, HOLDERS, WITH_NULL

import userdp as ud
from userdp.release import protected_tally

pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'future.infer_string':DeprecationWarning:ibis"),
    pytest.mark.filterwarnings("ignore:`eps` is not stated:UserWarning"),
]

BOUNDS = {"lower": 0, "upper": 2, "eps": 1}

# Rows of each user, where they are told apart; or where the holder's own library, or a file of
# text, has made something else of the entries before anybody could look.
COUNTS = {
    "=": [2, 1],
    "m": [3],  # of two users one: numpy has made text of 1, pandas compares as Python does
    "t": [1, 1, 1],  # of one user two: 0.0 and -0.0 are different text
    "p": [2, 1, 1],  # of nobody a person: numpy has made the text "nan"
}
# How refusals name the column and the type, and say what to do.
REFUSED = {
    "x": r"^`user` must (hold ids|not be what DuckDB may have made of Python's objects)"
    r".* (user|user='user') (of|with).* d?type .*[.] Pass ",
    "f": r"^`user` must hold ids: some are floats .*[.] Pass whole numbers or text[.]$",
    "s": r"^`user` must be a column, of shape \(n,\), got shape \(3, 1\)",
}
# Besides: 0 two users, and a row of nobody; a point: the holder's own library does not hold it.

# In the order of HOLDERS:
#   list, objects, numpy;
#   pandas: objects, its own, nullable, by Arrow, categories;
#   polars: its own, objects, categories;
#   Arrow: its own, chunks, dictionary;
#   tables: mapping, pandas, polars (lazy, too), Arrow (a batch and a dataset, too), DuckDB,
#   Ibis, Parquet, CSV (packed, too); of several files: Parquet, CSV;
#   tables of objects: polars, lazy, DuckDB on polars and on pandas, Ibis on pandas.
CELLS = {
    "text": "=== ===== === === ============ == =xx=",
    "bytes": "=== ===== ==. === =======xx=== == =xxx",
    "integers": "=== ===== ==. === ============ == =x==",
    "large integers": "=== ===== ==. === ============ == =x==",
    "unsigned integers": "=== ===.= ==. ... ............ .. =x=.",
    "huge integers": "=== ===.= ==. ... ............ .. =x=.",
    "booleans": "xxx xxxxx xx. xxx xxxxxxxxxx== x= xxxx",
    "floats": "=== ===== ==. === ============ == =x==",
    "negative floats": "=== ===== ==. === ============ == =x==",
    "zeros": "=== ===== ==. === ==========tt =t =x==",
    "halves": "fff fffff ff. fff ffffffffff== f= fxff",
    "decimals": "=== ===== ==. === ============ == =x==",
    "fractions": "xxx xxx.x =x. ... ............ .. xxxx",
    "complex numbers": "xxx xxx.x xx. ... ............ .. xxxx",
    "UUIDs": "=== ===== ==. ==. ========.=== == =x=.",
    "addresses": "xxx xxx.x xx. ... ............ .. xxxx",
    "paths": "xxx xxx.x xx. ... ............ .. xxxx",
    "days": "=== ===== ==. === ============ == =x==",
    "times": "=== ===== ==. === ============ == =x==",
    "instants": "=== ===== ==. === ============ == =x==",
    "zones": "=== ===== ==. === ============ == =x==",
    "an hour twice": "=== ===.m .=. ... ............ .. =x=.",
    "times of day": "=== ===== ==. === =======xxx== x= =xxx",
    "times of day in a zone": "xxx xxx=x =x. === =======xxx== x= xxxx",
    "durations": "=== ===== ==. === =======xx=== == =xxx",
    "times of pandas": "=== ===== ==. === ============ == =x==",
    "durations of pandas": "=== ===== ==. === =======xx=== == =xxx",
    "periods of pandas": "xxx xxx.x xx. ... ............ .. xx..",
    "times of numpy": "xx= x==.= .x. ... ............ .. xx==",
    "sets": "xxx xxx.x xx. ... ............ .. xxxx",
    "tuples": "xxs xxxxx xx. xx. xxxxxxxxxx== x= xxxx",
    "persons": "xxx xxx.x xx. ... ............ .. xxxx",
    "own text": "xx= x==== =x= === ============ == xxx=",
    "own integers": "xx= x==== =x. === ============ == xx==",
    "own times": "xxx x==== =x. === ============ == xx==",
    "integers and text": "xxm xxx.x .x. ... ............ .. xxxx",
    "None in text": "000 00000 000 000 000000000000 00 0xx0",
    "NaN in text": "00p 000.0 .0. ... ............ .. 0xx0",
    "NA in text": "000 000.0 .0. ... ............ .. 0xx0",
    "NaT in text": "000 000.0 .0. ... ............ .. 0xx0",
    "NaT of numpy in text": "000 000.0 .0. ... ............ .. 0xxx",
    "decimal NaN in text": "000 000.0 .0. ... ............ .. 0xx0",
    "None in integers": "000 00000 00. 000 000000000000 00 0x00",
    "NaN in floats": "000 00000 00. 000 000000000000 00 0x00",
    "None in UUIDs": "000 00000 00. 00. 00000000.000 00 0x0.",
    "None in days": "000 00000 00. 000 000000000000 00 0x00",
    "NaT in times": "000 000.0 .0. ... ............ .. 0x00",
    "None in instants": "000 00000 00. 000 000000000000 00 0x00",
    "NaN in decimals": "000 000.0 .0. ... ............ .. 0x00",
}

MADE_OTHERWISE = {"huge integers", "complex numbers", "own text"}
"""Before version 3, frames of pandas make something else of them, or refuse them with a warning."""

AN_OLD_PANDAS = int(pd.__version__.split(".")[0]) < 3


def for_new_pandas(kind, holder):
    """Skip what an old pandas makes otherwise, before it is read here."""
    is_made = kind in MADE_OTHERWISE and "pandas" in (holder or "")
    return pytest.mark.skipif(AN_OLD_PANDAS and is_made, reason="pandas is older than 3")


EVERY_CELL = [
    pytest.param(kind, holder, mark, id=f"{kind} in {holder}", marks=for_new_pandas(kind, holder))
    for kind, marks in CELLS.items()
    for holder, mark in zip_longest(HOLDERS, marks.replace(" ", ""))
]


def test_every_kind_has_its_row():
    assert CELLS.keys() == (ENTRIES | WITH_NULL).keys()


@pytest.mark.parametrize(("kind", "holder", "mark"), EVERY_CELL)
def test_users_are_told_apart_or_refused(kind, holder, mark, tmp_path, opendp):
    assert holder is not None, f"CELLS has a column too many in its row of {kind}"
    assert mark is not None, f"CELLS does not say what becomes of {kind} in {holder}"
    entries, hold = (ENTRIES | WITH_NULL)[kind], HOLDERS[holder]
    if mark == ".":
        with pytest.raises((Exception, pl.exceptions.PanicException)):
            hold(entries, tmp_path)
        return
    user, value, data = hold(entries, tmp_path)
    if mark == "0":
        check_nobody(user, value, data)
    elif mark in REFUSED:
        check_refused(REFUSED[mark], user, value, data)
    else:
        check_counts(COUNTS[mark], user, value, data)


def counts_of(user, value, data):
    return ud.user_counts(user, data=data).tolist()


def mean_of(user, value, data, **options):
    return ud.private_mean(user, value, data=data, **BOUNDS, **options)


def weight_of(user, value, data, **options):
    """Return how many users there are: none counts for more than one record."""
    made = ud.private_mean_protected_counts(user, value, data=data, cap=1, **BOUNDS, **options)
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
