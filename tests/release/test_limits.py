"""Each block size and each limit, exceeded by one at its true value.

A test that replaces a constant by a small number shows that the code around it is right, but not
that its true value is: sums of too many rows would overflow.
"""

from math import inf, nextafter

import ibis
import numpy as np
import pyarrow as pa
import pytest

from userdp import beyond, release
from userdp.release import discrete_laplace
from userdp.release._grid import Window, read_grid
from userdp.release._noise import shift_for
from userdp.release._rows import Rules
from userdp.release._sources import read_tally

GRID = read_grid(0, 1)
TOP = 2**40
ALL = Window(0, 4, -(2**62), 2**62)
"""No user is clipped; in steps of 2^4 levels, 2^23 + 1 records at the top fit 64 bits."""


def arrays(n_rows, n_others):
    """A user with many rows, followed by one with a few."""
    users = np.zeros(n_rows + n_others, np.uint8)
    users[n_rows:] = 1
    return users, np.ones(users.size), None


def relation(n_rows, n_others):
    table = ibis.duckdb.connect().sql(
        f"SELECT (i >= {n_rows})::integer AS user, 1.0::double AS value "
        f"FROM range({n_rows + n_others}) AS r(i)"
    )
    return "user", "value", table


# 2^15 rows are added up at a time, in blocks of 2^22 rows; the levels of 2^23 rows exceed 64 bits.
# DuckDB works on 2,048 rows at a time, in groups of 122,880.
BORDERS = {
    arrays: (2**15, 2**22, 2**23),
    relation: (2048, 122_880, 2**22, 2**23),
}


@pytest.mark.parametrize("n_others", [0, 2])
@pytest.mark.parametrize(
    ("table", "border"), [(table, n) for table, borders in BORDERS.items() for n in borders]
)
def test_rows_at_the_top_add_up_beyond_each_block(table, border, n_others):
    n_rows = border + 1 - n_others
    with read_tally(*table(n_rows, n_others), Rules(GRID)) as tally:
        assert sorted(tally.survey().counts.tolist()) == [n for n in (n_others, n_rows) if n]
        assert tally.clipped_total(ALL) == (border + 1) * TOP >> 4
        cap = 2**21
        averages = Window(0, 16, -(2**24), 2**24)
        weight = min(n_rows, cap) + n_others
        assert tally.weighted_total(averages, cap) == (weight * 2**24, weight)


def test_both_halves_of_a_level_add_up_to_it():
    """The lower half of a level has 20 bits; test levels next to powers of two near this."""
    for level in {2**power + more for power in (19, 20, 21, 39) for more in (-1, 0, 1)}:
        for n_rows in (1, 2, 3):
            table = [0] * n_rows, [level / TOP] * n_rows, None
            with read_tally(*table, Rules(GRID)) as tally:
                assert tally.clipped_total(ALL._replace(shift=0)) == n_rows * level


def test_steps_become_coarser_if_totals_or_scales_would_not_fit():
    law = beyond.LaplaceNoise(1)
    assert [shift_for(2**61 + more, 1, law) for more in (-1, 0)] == [0, 1]
    assert [shift_for(0, 2**56 + more, law) for more in (-1, 0)] == [0, 1]
    assert [shift_for(0, 2 * (2**56) + more, law) for more in (-2, -1, 0)] == [1, 2, 2]


COLUMNS = {"user": [1, 2], "value": [0.0, 0.0]}


def accepted(**changed):
    return release.private_mean(
        **COLUMNS, **{"lower": 0, "upper": 1, "budget": 1, "outside": "clamp"} | changed
    )


def with_cap(cap, eps=1):
    how = {"lower": 0, "upper": 1, "eps": eps, "cap": cap}
    return release.private_mean_protected_counts(**COLUMNS, **how)


# A setting that is just accepted, and the direction of the next float, which is refused.
EDGES = {
    "a small budget": (lambda x: accepted(budget=x), 2.0**-40, 0),
    "a large sigma": (lambda x: accepted(budget=beyond.GaussianNoise(x)), 2.0**40, inf),
    "a small range": (lambda x: accepted(upper=x), nextafter(1e-280, 1), 0),
    "a large range": (lambda x: accepted(upper=x), nextafter(1e270, 0), inf),
    "a range of 8 bits": (lambda x: accepted(lower=2.0**45, upper=x), 2.0**45 + 2, 0),
    "a small budget for a cap": (lambda x: with_cap(2**10, x), 2.0**-29, 0),
}


@pytest.mark.parametrize(("call", "edge", "outside"), EDGES.values(), ids=EDGES)
def test_settings_are_accepted_up_to_their_limit_and_no_further(call, edge, outside, opendp):
    call(edge)
    with pytest.raises(
        ValueError, match=r"^`(budget|eps|upper)` must .* got (budget|rho|eps|upper)="
    ):
        call(nextafter(edge, outside))


def test_a_cap_is_at_most_2_31(opendp):
    assert with_cap(2**31).cap == 2**31
    with pytest.raises(ValueError, match="`cap` must be"):
        with_cap(2**31 + 1)


def test_noise_for_a_distance_of_63_bits_is_within_its_budget():
    """`discrete_laplace` is public, so callers may pass distances that no release needs."""
    assert discrete_laplace(2**62, 1).map(2**62) <= 1


@pytest.mark.parametrize("sign", [-1, 1], ids=["negative", "positive"])
def test_rounding_keeps_weighted_sums_of_an_engine_within_their_bound(sign):
    """A user with all records at a bound, whose weighted sum in floats is three steps beyond it."""
    cap, n_records, steps = 2**31 - 1, 2**31 + 649, 2**24 - 45
    assert np.floor(float(n_records * steps) * (cap / n_records) + 0.5) == cap * steps + 3
    origin, level = (0, steps << 16) if sign > 0 else (steps << 16, 0)
    table = ibis.memtable(pa.table({"user": [1], "value": [level / TOP]}))
    with read_tally("user", "value", table, Rules(GRID)) as tally:
        size = ibis.literal(n_records, "int64")
        halves = {"high": (level >> 20) * size, "low": (level & (2**20 - 1)) * size}
        tally.users = tally.users.mutate(size=size, n_levels=size, **halves)
        result = tally.weighted_total(Window(origin, 16, -steps, steps), cap)
        assert result == (sign * cap * steps, cap)
