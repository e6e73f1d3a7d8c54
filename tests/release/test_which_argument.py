"""A refusal names the argument at fault, of users and of values alike, whatever holds them."""

import datetime as dt
import re
from math import exp

import duckdb
import ibis
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from userdp import release

RANGE = {"lower": 0, "upper": 65}
NOT_THERE = "`value` must be the name of a column of `data`"
MORE_THAN_ONE = "`value` must be the name of one column of `data` only"


def refused(kind, words, user, value, **how):
    with pytest.raises(kind, match=f"^{words}"):
        release.private_mean(user, value, budget=1, **RANGE, **how)


def stored(folder, names, ending):
    """A file with a row of ones, whose columns have these names, also the same."""
    path = folder / f"table.{ending}"
    if ending == "csv":
        path.write_text(",".join(names) + "\n" + ",".join("1" * len(names)) + "\n", "utf-8")
    else:
        columns = [pa.array([1.0 if name == "value" else 1]) for name in names]
        pq.write_table(pa.Table.from_arrays(columns, names), path)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["user", "speed"], NOT_THERE),
        (["user", "value", "value"], MORE_THAN_ONE),
        (["user", "value", "VALUE"], MORE_THAN_ONE),
    ],
    ids=["missing", "twice", "twice but for case"],
)
def test_a_column_of_values_that_a_file_lacks_or_repeats(tmp_path, ending, names, words, opendp):
    refused(ValueError, words, "user", "value", data=stored(tmp_path, names, ending))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_of_values_in_capitals_that_another_one_repeats(tmp_path, ending, opendp):
    data = stored(tmp_path, ["user", "value", "VALUE"], ending)
    refused(ValueError, MORE_THAN_ONE, "user", "VALUE", data=data)


def test_columns_of_a_frame_may_differ_by_case_only(opendp):
    frame = {"user": [1, 2], "value": [3.0, 4.0], "VALUE": [5.0, 6.0]}
    for name in ("value", "VALUE"):
        assert release.private_mean("user", name, data=frame, budget=1, **RANGE).n_users == 2
    twice = pd.DataFrame([[1, 3.0, 4.0]], columns=["user", "VALUE", "VALUE"])
    refused(ValueError, MORE_THAN_ONE, "user", "VALUE", data=twice)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_of_values_that_duckdb_calls_otherwise(tmp_path, ending, opendp):
    """Of A and a the second is a_1 there: then the third is not what it says."""
    data = stored(tmp_path, ["A", "a", "a_1", "user"], ending)
    refused(ValueError, NOT_THERE, "user", "a_1", data=data)


def test_a_column_of_values_that_a_part_of_a_dataset_lacks(tmp_path, opendp):
    """Arrow would fill it with nulls."""
    for name, columns in {"a": ["user", "value"], "b": ["user"]}.items():
        pq.write_table(pa.table({column: [1] for column in columns}), tmp_path / f"{name}.parquet")
    whole = ds.dataset([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    words = f"{NOT_THERE}, got value='value', for '.*b.parquet'"
    refused(ValueError, words, "user", "value", data=whole)
    whole_part = pa.table({"user": [1], "value": [1.0]})
    in_memory = ds.dataset([ds.dataset(whole_part), ds.dataset(whole_part.select(["user"]))])
    refused(ValueError, f"{NOT_THERE}, .* for 'a part'", "user", "value", data=in_memory)


def test_entries_of_arrays(opendp):
    refused(TypeError, "`value` must .*, got value with an entry of type str", [1, 2], ["x", 1.0])
    refused(TypeError, "`user` must hold ids, got user with an entry of type dict", [1, {}], [1, 1])
    late = dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-5)))
    refused(TypeError, "`user` must hold ids, got user with an entry of type datetime", [late], [1])


def test_the_type_that_duckdb_may_have_made_of_objects_is_told():
    relation = duckdb.sql("select 'a'::blob as who, 1.0 as what")
    table = ibis.memtable(pa.table({"who": [b"a"], "what": [1.0]}))
    for data, kind in ((relation, "BLOB"), (table, "binary")):
        with pytest.raises(TypeError, match=f"got user='who' of type {kind}[.] Pass the frame"):
            release.user_counts("who", data=data)


def test_of_several_budgets_the_type_is_told():
    with pytest.raises(ValueError, match="got eps of type list and shape"):
        release.plan([1, 2], lower=0, upper=1, eps=[1, "x"])


# Edges of what results say


def test_the_sentence_writes_the_odds_up_to_a_budget_of_ten(opendp):
    made = release.private_mean([1, 2], [3.0, 4.0], **RANGE, budget=10)
    assert exp(10) < 22_100
    assert "more than 22,100 times as likely" in made.public_sentence()
    larger = release.private_mean([1, 2], [3.0, 4.0], **RANGE, budget=10.5)
    assert "more than e^10.5 times as likely" in larger.public_sentence()


def test_a_repr_is_lines_of_names_and_texts(opendp):
    made = release.private_mean([1, 2], [3.0, 4.0], **RANGE, budget=1)
    lines = repr(made).splitlines()
    assert lines[0].startswith("private mean")
    assert all(re.match(r"\S.*  \S", line) for line in lines)


@pytest.mark.filterwarnings("ignore:.eps. is not stated")
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"outside": "clamp"}, "values beyond the bounds count as the nearer bound"),
        ({"missing": "centre"}, "missing values count as a number that was fixed before"),
    ],
    ids=["clamped", "centred"],
)
def test_the_sentence_on_protected_counts_says_how_rows_were_mended(how, words, opendp):
    made = release.private_mean_protected_counts([1, 2], [3.0, 4.0], **RANGE, eps=1, cap=2, **how)
    assert words in made.public_sentence()
    plain = release.private_mean_protected_counts([1, 2], [3.0, 4.0], **RANGE, eps=1, cap=2)
    assert words not in plain.public_sentence()


def test_the_certificate_of_protected_counts_is_for_the_smallest_likely_weight(opendp):
    """But for no weight below one record."""
    for _ in range(20):
        made = release.private_mean_protected_counts([1, 2], [3.0, 4.0], **RANGE, eps=6, cap=2)
        fewest, _ = made.weight_interval()
        assert made.worst_case_error == made.worst_case_error_at(max(fewest, 1))
