"""A refusal names the argument at fault, `user` or `value`, for every kind of data."""

import datetime as dt

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
MORE_THAN_ONE = "`value` must be the name of exactly one column of `data`"


def refused(kind, words, user, value, **how):
    with pytest.raises(kind, match=f"^{words}"):
        release.private_mean(user, value, budget=1, **RANGE, **how)


def test_columns_of_a_frame_may_differ_only_by_case(opendp):
    frame = {"user": [1, 2], "value": [3.0, 4.0], "VALUE": [5.0, 6.0]}
    for name in ("value", "VALUE"):
        assert release.private_mean("user", name, data=frame, budget=1, **RANGE).n_users == 2
    twice = pd.DataFrame([[1, 3.0, 4.0]], columns=["user", "VALUE", "VALUE"])
    refused(ValueError, MORE_THAN_ONE, "user", "VALUE", data=twice)


def test_a_dataset_with_a_part_that_lacks_the_values_is_refused(tmp_path, opendp):
    """Arrow would fill the missing part with nulls."""
    for name, columns in {"a": ["user", "value"], "b": ["user"]}.items():
        pq.write_table(pa.table({column: [1] for column in columns}), tmp_path / f"{name}.parquet")
    whole = ds.dataset([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    words = f"{NOT_THERE}, got value='value', for '.*b.parquet'"
    refused(ValueError, words, "user", "value", data=whole)
    whole_part = pa.table({"user": [1], "value": [1.0]})
    in_memory = ds.dataset([ds.dataset(whole_part), ds.dataset(whole_part.select(["user"]))])
    refused(ValueError, f"{NOT_THERE}, .* for 'a part'", "user", "value", data=in_memory)


def test_the_type_of_a_bad_entry_of_a_list_is_named(opendp):
    refused(TypeError, "`value` must .*, got value with an entry of type str", [1, 2], ["x", 1.0])
    refused(TypeError, "`user` must hold ids, got user with an entry of type dict", [1, {}], [1, 1])
    late = dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-5)))
    refused(TypeError, "`user` must hold ids, got user with an entry of type datetime", [late], [1])


def test_the_type_that_duckdb_may_have_made_from_objects_is_named():
    relation = duckdb.sql("select 'a'::blob as who, 1.0 as what")
    table = ibis.memtable(pa.table({"who": [b"a"], "what": [1.0]}))
    for data, kind in ((relation, "BLOB"), (table, "binary")):
        with pytest.raises(
            TypeError, match=f"got user='who' of type {kind}: they may be memory addresses"
        ):
            release.user_counts("who", data=data)


def test_the_type_of_a_list_of_budgets_is_named():
    with pytest.raises(ValueError, match="got eps of type list and shape"):
        release.plan([1, 2], lower=0, upper=1, eps=[1, "x"])
