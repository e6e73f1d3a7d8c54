"""The chapter "At scale": its propositions, its numbers, and what it says of other engines."""

from fractions import Fraction

import numpy as np
import pandas as pd
from page_functions import BOOK, functions_of

import userdp as ud
from userdp.practice._grid import Grid
from userdp.practice._ingest import read_records
from userdp.practice._records import Rules

PAGE = functions_of("at-scale", pd=pd)


def test_totals_are_near_those_without_levels():
    """In steps of the grid, and in fractions: each record is rounded by hardly more than a half."""
    rng, furthest = np.random.default_rng(1), 0
    for _ in range(300):
        n, bits = int(rng.integers(1, 60)), int(rng.integers(8, 41))
        low = float(rng.choice([0, -0.1, 20.3, -1e4]))
        high = low + float(rng.choice([65, 1, 1e-3]) * rng.choice([1, rng.random() + 0.1]))
        users, shares = rng.integers(0, 5, n), rng.choice([0, 1, *rng.random(8)], n)
        values = np.clip(low + (high - low) * shares, low, high)
        grid = Grid(low, high, bits, origin=2**bits // int(rng.integers(1, 5)))
        ends = -int(rng.integers(0, 3 * 2**bits)), int(rng.integers(0, 3 * 2**bits))
        total, _ = read_records(users, values).clipped_total(Rules(low, high), grid, *ends)
        step = Fraction(grid.width) / grid.top
        sums = dict.fromkeys(users.tolist(), Fraction(0))
        for user, value in zip(users.tolist(), values.tolist(), strict=True):
            sums[user] += (Fraction(value) - Fraction(low)) / step - grid.origin
        apart = abs(total - sum(min(max(s, ends[0]), ends[1]) for s in sums.values()))
        assert apart <= n * (Fraction(1, 2) + Fraction(1, 2**10))
        furthest = max(furthest, apart / n)
    assert furthest > 0.4


def test_spark_printed_what_arrays_print():
    """Without Spark: the stored words are those of the page's trips, but for mean and interval."""
    trips = PAGE.make_trips(20_000, np.random.default_rng(20250271))
    made = ud.private_mean(trips.user, trips.value, lower=0, upper=65, eps=0.3)
    stored = (BOOK / "data" / "at-scale-spark.txt").read_text().splitlines()
    assert stored[2:] == repr(made).splitlines()[2:]
    assert [line.split("  ")[0] for line in stored[:2]] == ["private mean", "95 % interval"]
    assert abs(float(stored[0].split()[-1]) - trips.value.mean()) < 20 * made.noise_scale


def test_what_was_measured_keeps_to_the_limits():
    measured = pd.read_csv(BOOK / "data" / "scale.csv").set_index("What").Result
    for what, most in (
        ("time, against the bare grouped sum np.bincount", "3 times"),
        ("memory, against the two arrays alone", "2 times"),
        ("peak memory of the process", "4 GiB"),
    ):
        (number, unit), (limit, expected) = measured[what].split(), most.split()
        assert unit == expected
        assert 0 < float(number) <= float(limit)
