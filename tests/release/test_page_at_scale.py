"""The chapter "At scale": its propositions, its numbers, and its statements on other engines."""

import numpy as np
import pandas as pd
import pytest
from page_functions import BOOK, functions_of

from userdp import release

PAGE = functions_of("at-scale", pd=pd)


def test_the_model_agrees_with_numbers_computed_by_hand():
    c = {"file": 8, "row": 10, "kept": 100, "user": 100, "record": 50, "count": 300}
    small, large = (PAGE.needs(2**27, n, c) for n in (2**10, 2**26))
    assert small["read"] == large["read"] == 2**30
    assert small["shuffled (Spark)"] == 10 * 8 * 2**10  # eight parts
    assert large["shuffled (Spark)"] == 10 * 2**27  # no more than there are records
    assert [m["kept (Spark)"] for m in (small, large)] == [100 * 2**10, 100 * 2**26]
    assert [m["DuckDB, 2 threads"] for m in (small, large)] == [100 * 2**10, 100 * 2**26]
    assert [m["DuckDB, more"] for m in (small, large)] == [50 * 2**27, 50 * 2**27]
    assert [m["calling process"] for m in (small, large)] == [300 * 2**10, 300 * 2**14]
    shown = [PAGE.readable(x) for x in (950.0, 1e3, 1.24e9, 7.3e13)]
    assert shown == ["950 B", "1 kB", "1.2 GB", "73 TB"]


def test_the_stored_output_of_spark_equals_that_for_arrays():
    """Compare it with a release of the page's trips, except for mean and interval."""
    trips = PAGE.make_trips(20_000, np.random.default_rng(20250271))
    how = {"objective": "l1", "outside": "clamp", "missing": "centre"}
    expected = release.private_mean(trips.user, trips.value, lower=0, upper=65, budget=0.3, **how)
    stored = (BOOK / "data" / "at-scale-spark.txt").read_text().splitlines()
    assert stored[2:] == repr(expected).splitlines()[2:]
    assert [line.split("  ")[0] for line in stored[:2]] == ["private mean", "95 % interval"]
    assert abs(float(stored[0].split()[-1]) - trips.value.mean()) < 20 * expected.noise_scale


LIMITS = {
    "time, against the bare grouped sum np.bincount": (2.2, "times"),
    "time, against the bare grouped sum": (1.7, "times"),
    "memory, against the two arrays alone": (2, "times"),
    "peak memory, against the bare grouped sum": (1.5, "times"),
    "peak memory": (4, "GiB"),
}


def test_measured_times_and_memory_are_within_the_stated_limits():
    measured = pd.read_csv(BOOK / "data" / "scale.csv")
    assert {*LIMITS} <= {*measured.What}
    for what, setting, result in measured.itertuples(index=False):
        limit, expected = LIMITS.get(what, (np.inf, None))
        number, unit = result.split()
        assert 0 < float(number) <= limit, f"{what}, {setting}"
        assert expected in (None, unit)


def test_means_by_group_cost_less_than_one_call_per_group_or_the_bare_query():
    """Relative to one mean, and to the sums by user: the table of the record."""
    measured = pd.read_csv(BOOK / "data" / "scale-groups.csv")
    times = measured.Result.str.split().str[0].astype(float)
    bare = measured.What.str.contains("bare")
    assert bare.sum() == 2
    for setting, limit in zip(measured.Setting[bare], times[bare], strict=True):
        (ratio,) = times[(measured.Setting == setting) & ~bare]
        assert ratio < limit < 12
    assert max(times[~bare]) < 12, "more than one call per group"


MEASURED = pd.read_csv(BOOK / "data" / "scale-costs.csv")
NUMBERS = "whole numbers"
WITHIN = 1.5  # the factor between model and measurement that the page states
IN_TABLE = {2: "DuckDB, 2 threads", 4: "DuckDB, more"}
PEAKS = MEASURED[(MEASURED.what == "memory of DuckDB") & (MEASURED.ids == NUMBERS)]


def predicted(records, users):
    return PAGE.needs(records, users, PAGE.constants_of(MEASURED))


@pytest.mark.parametrize("threads", IN_TABLE)
def test_the_model_predicts_the_measured_peaks(threads):
    """The model was fitted without the third peak of each kind."""
    peaks = PEAKS[PEAKS.threads == threads]
    assert len(peaks) == 3
    for peak in peaks.itertuples():
        prediction = predicted(peak.records, peak.users)[IN_TABLE[threads]]
        assert 1 / WITHIN < peak.number / prediction < WITHIN


def test_memory_grows_with_users_for_two_threads_and_with_records_for_more():
    """So the page recommends two threads for large files."""
    two = PEAKS[PEAKS.threads == 2].number / PEAKS[PEAKS.threads == 2].users
    four = PEAKS[PEAKS.threads == 4].number / PEAKS[PEAKS.threads == 4].records
    assert two.max() < 150
    assert four.max() < 100
    per_user = PEAKS[PEAKS.threads == 4].number / PEAKS[PEAKS.threads == 4].users
    assert per_user.max() > 3 * two.max()


def number(what, ids=NUMBERS):
    return MEASURED[(MEASURED.what == what) & (MEASURED.ids == ids)].iloc[0]


@pytest.mark.parametrize("ids", MEASURED.ids.unique())
def test_spark_shuffles_one_row_per_user_and_part(ids):
    """With two cores, Spark reads the benchmark's small file in two parts."""
    rows = number("rows shuffled by Spark", ids)
    limit = min(rows.records, 2 * rows.users)
    assert limit / WITHIN < rows.number <= limit
    assert number("kept by Spark", ids).number < 150 * rows.users


def test_memory_of_the_calling_process_does_not_grow_with_the_users():
    some, many = MEASURED[MEASURED.what == "calling process, users grow"].itertuples()
    assert many.users == 100 * some.users
    assert many.number < 2 * some.number
    few, more = MEASURED[MEASURED.what == "calling process, sizes grow"].itertuples()
    prediction = predicted(more.records, more.users)["calling process"]
    assert 1 / WITHIN < (more.number - few.number) / prediction < WITHIN
