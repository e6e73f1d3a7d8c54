"""Clipping a user's average instead of the samples: bias and sensitivity by definition."""

import itertools
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from oracle import project
from strategies import clippings, collections

import userdp as ud


@given(users=collections(max_samples=8), data=st.data())
def test_averaging_keeps_worst_case_bias_and_sensitivity(users, data):
    """Over all datasets of averages at three levels, and all neighbours among them."""
    clipping = data.draw(clippings(users, per_sample=False))
    users = ud.Contributions(users.counts[:4], users.upper)
    clipping = ud.Clipping(clipping.lower[:4], clipping.upper[:4])
    ends = list(zip(users.counts.tolist(), clipping.lower, clipping.upper, strict=True))
    levels = (Fraction(0), users.upper / 3, users.upper)
    sums = {
        averages: sum(m * project(x, a, b) for x, (m, a, b) in zip(averages, ends, strict=True))
        for averages in itertools.product(levels, repeat=len(ends))
    }
    bias = max(abs(sum(users.counts * x) - total) for x, total in sums.items())
    change = max(
        abs(sums[x] - sums[(*x[:i], level, *x[i + 1 :])])
        for x in sums
        for i in range(len(ends))
        for level in levels
    )
    assert bias == users.total * ud.worst_case_bias(users, clipping)
    assert change == users.total * ud.sensitivity(users, clipping)
