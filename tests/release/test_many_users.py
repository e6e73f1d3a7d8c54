"""More users than 16 bits can count are told apart in every holder (kind of column or table)."""

import numpy as np
import pyarrow as pa
import pytest
from kinds import COLUMNS, TABLES, TYPED, rows_of

from userdp import release

N_USERS = 70_000
IDS = [*range(N_USERS), N_USERS - 1]
KINDS = {"integers": IDS, "large integers": [10**17 + i for i in IDS], "text": list(map(str, IDS))}
HOLDERS = {kind: COLUMNS | TYPED.get(kind, {}) for kind in KINDS}
HELD = [(kind, holder) for kind in KINDS for holder in HOLDERS[kind]]
HELD.remove(("text", "polars enumeration"))  # it has only two names
HELD.remove(("integers", "polars categories"))  # they can only hold text
HELD.remove(("large integers", "polars categories"))


def check_counts(counts):
    """Check that one user has two rows, and all others have one."""
    assert counts.tolist() == [2] + [1] * (N_USERS - 1)


@pytest.mark.parametrize(("kind", "holder"), HELD)
def test_many_users_are_told_apart(kind, holder):
    check_counts(release.user_counts(HOLDERS[kind][holder](KINDS[kind])))


@pytest.mark.parametrize(
    "dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float64, "U5", "S5"]
)
def test_many_users_in_arrays_are_told_apart(dtype):
    check_counts(release.user_counts(np.array(IDS, dtype)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_many_users_of_a_table_are_told_apart(table, kind, tmp_path):
    rows = rows_of(pa.array(KINDS[kind]), np.ones(len(IDS)))
    check_counts(release.user_counts("user", data=table(rows, tmp_path)))
