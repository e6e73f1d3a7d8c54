"""The two collections of Section IV-B, and what a collection knows of itself."""

from fractions import Fraction

import numpy as np
import pytest

import userdp as ud


@pytest.mark.parametrize("M", range(9))
def test_geometric_collection_has_the_papers_numbers(M):
    users = ud.geometric_collection(M, 65)
    values, how_many = np.unique(users.counts, return_counts=True)
    assert dict(zip(values, how_many, strict=True)) == {2 ** (M - i): 2**i for i in range(M + 1)}
    assert (users.n_users, users.total) == (2 ** (M + 1) - 1, (M + 1) * 2**M)
    assert users.max_count == 2**M


@pytest.mark.parametrize(("n_users", "max_count"), [(101, 10), (1, 7), (2, 1)])
def test_extreme_collection_has_the_papers_numbers(n_users, max_count):
    users = ud.extreme_collection(n_users, max_count, 65)
    assert sorted(users.counts) == [1] * (n_users - 1) + [max_count]
    assert users.total == n_users - 1 + max_count


@pytest.mark.parametrize(("upper", "exact"), [(65, False), (65.0, False), (Fraction(65), True)])
def test_a_fraction_makes_results_exact(upper, exact):
    users = ud.Contributions([2, 1], upper)
    clipping = ud.optimal_clipping(users, 1.5)
    wanted = Fraction if exact else float
    assert users.is_exact is exact
    for result in (
        users.upper,
        ud.threshold(users, 1.5),
        ud.threshold(users, 0.1),
        ud.sensitivity(users),
        ud.sensitivity(users, clipping),
        ud.worst_case_bias(users, clipping),
        ud.printed_bias(users, clipping),
        ud.worst_case_error(users, clipping, 1.5),
        ud.optimal_error(users, 1.5),
        ud.smallest_bias(users, Fraction(1)),
        ud.symmetric_error(users, Fraction(1), 1.5),
    ):
        assert type(result) is wanted
    assert users.largest_sums.tolist() == [130, 65]


def test_results_are_floats_for_a_float_bound_whatever_the_intervals():
    users = ud.Contributions([2, 1], 10.0)
    for lower, upper in ((1, 2), (8, 9)):
        clipping = ud.Clipping([Fraction(lower)] * 2, [Fraction(upper)] * 2)
        for measure in (ud.sensitivity, ud.worst_case_bias, ud.printed_bias):
            assert type(measure(users, clipping)) is float


def test_ten_million_users_fit_and_are_added_without_overflow():
    counts = np.full(10**7, 900_000_000)
    assert ud.Contributions(counts, 65).total == 9 * 10**15


def test_a_clipping_prints_a_summary():
    many = ud.Clipping(np.linspace(0, 1, 1000), np.linspace(2, 3, 1000))
    assert repr(many) == "Clipping(n_intervals=1000, lower=0.0 to 1.0, upper=2.0 to 3.0)"
    assert repr(ud.Clipping([0, Fraction(1, 3)], [1, 1])).endswith("lower=0 to 1/3, upper=1 to 1)")
