"""Reading eps, and k = ceil(2/eps) where floats would get it wrong."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import userdp as ud


def test_every_float_two_over_k_has_rank_k():
    wrong = [k for k in range(1, 20_001) if ud.rank(2 / k) != k]
    assert wrong == []


@pytest.mark.parametrize(
    ("eps", "k"),
    [(1 - 0.9, 20), (0.1 + 0.2, 7), (2 / 49, 50 - 1), (2.0, 1), (2.0000001, 1), (1.9999999, 2)],
)
def test_rank_of_floats_by_hand(eps, k):
    assert ud.rank(eps) == k


@pytest.mark.parametrize(
    ("off", "k"), [(-1e-8, 50), (-1e-10, 49), (0, 49), (1e-10, 49), (1e-8, 49)]
)
def test_floats_snap_within_their_tolerance_only(off, k):
    assert ud.rank(2 / 49 * (1 + off)) == k


class Quantity(float):
    """A float of a type of its own, which numpy knows no precision of."""


@pytest.mark.parametrize("k", [7, 20, 49])
@pytest.mark.parametrize("kind", [Quantity, np.float64, np.float32])
def test_floats_of_other_types_snap_within_their_precision(kind, k):
    assert ud.rank(kind(2 / k)) == k
    assert ud.rank(kind(2 / k * (1 - 1e-5))) == k + 1


@given(st.integers(1, 10**6), st.integers(10**12, 10**40))
def test_exact_budgets_are_taken_at_their_word(k, n):
    assert ud.rank(Fraction(2, k)) == k
    assert ud.rank(Fraction(2, k) - Fraction(1, n * k * k)) == k + 1
    assert ud.rank(Fraction(2, k) + Fraction(1, n)) == k


@pytest.mark.parametrize(
    "eps", [0.5, "0.5", "5e-1", Decimal("0.5"), Fraction(1, 2), np.float32(0.5)]
)
def test_all_spellings_of_a_half(eps):
    users = ud.geometric_collection(6, 65)
    assert ud.read_eps(eps) == Fraction(1, 2)
    assert ud.threshold(users, eps) == 16 * 65
    assert ud.optimal_error(users, eps) == pytest.approx(585 / 56, rel=1e-15)
    assert ud.akmv_error(users.largest_sums, users, eps) == ud.akmv_error(
        users.largest_sums, users, 0.5
    )


def test_decimals_mean_what_they_say():
    assert ud.read_eps("0.1") == ud.read_eps(Decimal("0.1")) == Fraction(1, 10)
    assert ud.read_eps(0.1) != Fraction(1, 10)
    assert ud.read_eps(3) == 3
    assert ud.read_eps(np.int64(3)) == 3


def test_an_astronomic_rank_keeps_nobody():
    users = ud.geometric_collection(3, 65)
    assert ud.threshold(users, 1e-300) == 0
    assert ud.optimal_error(users, 1e-300) == 65 / 2
