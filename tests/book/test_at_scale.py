"""The chapter "At scale": its propositions, its numbers, and what it says of other engines."""

import numpy as np
import pandas as pd
from page_functions import BOOK, functions_of

import userdp as ud

PAGE = functions_of("at-scale", pd=pd)


def test_spark_printed_what_arrays_print():
    """Without Spark: the stored words are those of the page's trips, but for mean and interval."""
    trips = PAGE.make_trips(20_000, np.random.default_rng(20250271))
    how = {"objective": "l1", "outside": "clamp", "missing": "centre"}
    made = ud.private_mean(trips.user, trips.value, lower=0, upper=65, eps=0.3, **how)
    stored = (BOOK / "data" / "at-scale-spark.txt").read_text().splitlines()
    assert stored[2:] == repr(made).splitlines()[2:]
    assert [line.split("  ")[0] for line in stored[:2]] == ["private mean", "95 % interval"]
    assert abs(float(stored[0].split()[-1]) - trips.value.mean()) < 20 * made.noise_scale


LIMITS = {
    "time, against the bare grouped sum np.bincount": (4, "times"),
    "time, against the bare grouped sum": (1.7, "times"),
    "memory, against the two arrays alone": (2, "times"),
    "peak memory, against the bare grouped sum": (1.5, "times"),
    "peak memory": (4, "GiB"),
}


def test_what_was_measured_keeps_to_the_limits():
    measured = pd.read_csv(BOOK / "data" / "scale.csv")
    assert {*LIMITS} <= {*measured.What}
    for what, setting, result in measured.itertuples(index=False):
        most, expected = LIMITS.get(what, (np.inf, None))
        number, unit = result.split()
        assert 0 < float(number) <= most, f"{what}, {setting}"
        assert expected in (None, unit)
