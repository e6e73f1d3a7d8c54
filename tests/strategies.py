"""Problems that several tests share; random ones are small and exact, with many ties."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

import userdp as ud
from userdp import beyond

LAWS = {"laplace": beyond.LaplaceNoise, "staircase": beyond.StaircaseNoise}
BUDGETS = (0.1, 0.5, 1, 2, 5)
GEOMETRIC, EXTREME = ud.geometric_collection(6, 65), ud.extreme_collection(101, 10, 65)
PAPER = {"geometric": (GEOMETRIC, ud.uniform_sums), "extreme": (EXTREME, ud.gaussian_sums)}
USERS = ud.Contributions([5, 3, 3, 1, 1, 1], 10)
SUMS = np.array([41.0, 30.0, 2.5, 9.0, 0.0, 4.0])

MEAN_ERRORS = {
    "Laplace": ud.laplace_mean_error,
    "AKMV": ud.akmv_mean_error,
    "OPT": ud.opt_worst_case_mean_error,
}
on_the_papers_collections = pytest.mark.parametrize(("users", "sampler"), PAPER.values(), ids=PAPER)
fractions = st.fractions(min_value=Fraction(1, 20), max_value=8, max_denominator=40)
shares = st.fractions(0, 1, max_denominator=12)
counts = st.lists(st.integers(1, 4), min_size=1, max_size=6)


def several(strategy, n):
    return st.lists(strategy, min_size=n, max_size=n)


@st.composite
def budgets(draw, n_users=6):
    """Epsilon: any fraction, or one where 2/eps is (nearly) an integer, a tie of the theorem."""
    at_tie = Fraction(2, draw(st.integers(1, n_users + 1)))
    return draw(st.sampled_from([at_tie, at_tie * Fraction(999, 1000), draw(fractions)]))


def collections(max_samples=24):
    """Users; built from counts, so that Hypothesis prints these when a test fails."""
    bounded_counts = counts.filter(lambda values: sum(values) <= max_samples)
    return st.builds(ud.Contributions, bounded_counts, fractions)


@st.composite
def clippings(draw, users, per_sample):
    """Intervals in general position; some drop their sample, and some never clip it."""
    n = users.total if per_sample else users.n_users
    special = st.sampled_from([(0, 0), (0, 1), (1, 1), (Fraction(1, 2), Fraction(1, 2))])
    end_pairs = st.one_of(st.tuples(shares, shares).map(sorted), special)
    ends = draw(several(end_pairs, n))
    return ud.Clipping([users.upper * a for a, _ in ends], [users.upper * b for _, b in ends])


@st.composite
def datasets(draw, users):
    n = users.n_users
    return draw(several(st.floats(0, 1), n)) * users.largest_sums.astype(float)
