"""KKT certificates: the repaired multipliers pass exactly, the printed ones fail, HiGHS agrees."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import optimize
from strategies import EXTREME, budgets, collections

import userdp as ud


def assert_all_zero(certificate):
    assert certificate == (0, 0, 0, 0, 0)
    assert all(type(violation) is Fraction for violation in certificate)


@given(users=collections(), data=st.data())
def test_repaired_multipliers_prove_the_theorem_exactly(users, data):
    eps = data.draw(budgets(users.n_users))
    assert_all_zero(ud.kkt_certificate(users, eps))
    solution = ud.optimal_solution(users, eps)
    clipping = ud.optimal_clipping(users, eps)
    assert list(solution.alpha) == list(users.counts * clipping.lower)
    dual = sum(solution.lambda_users * users.largest_sums)
    assert dual == users.total * ud.optimal_error(users, eps)


@example(users=ud.Contributions([2, 2, 1], Fraction(1)), eps=Fraction(1))
@example(users=ud.Contributions([4, 2, 2, 1], Fraction(1)), eps=Fraction(1))
@given(users=collections(), eps=budgets())
def test_multipliers_are_unique_unless_the_users_at_the_threshold_have_room_to_spare(users, eps):
    """The smallest and the largest price of each user over all optimal packings, by a solver."""
    v, L, T = users.largest_sums.astype(float), users.n_users, ud.threshold(users, eps)
    value = float(users.total * ud.optimal_error(users, eps))
    optimal = {"A_ub": [np.ones(L), -v], "b_ub": [1 / float(eps), -value * (1 - 1e-12)]}

    def price(sign, user):
        found = optimize.linprog(sign * np.eye(L)[user], **optimal, bounds=(0, 0.5))
        return sign * found.fun

    spread = [price(-1, user) - price(1, user) for user in range(L)]
    above, tied = sum(users.largest_sums > T), sum(users.largest_sums == T)
    room_to_spare = T > 0 and tied > 1 and 2 / eps < above + tied
    assert (max(spread) > 1e-5) == room_to_spare


@given(users=collections(), data=st.data())
def test_the_error_grows_with_a_sum_at_the_largest_price_of_its_user(users, data):
    """One more unit of a user's largest sum; the unit is small, so that no sum is crossed."""
    eps, user = data.draw(budgets(users.n_users)), data.draw(st.integers(0, users.n_users - 1))
    T, own = ud.threshold(users, eps), users.largest_sums[user]
    more = 10**6 * users.counts + (np.arange(users.n_users) == user)
    grown = ud.Contributions(more, users.upper)
    fine = ud.Contributions(10**6 * users.counts, users.upper)
    growth = grown.total * ud.optimal_error(grown, eps) - fine.total * ud.optimal_error(fine, eps)
    room = 1 / eps - sum(users.largest_sums > T) * Fraction(1, 2)
    at_the_threshold = min(room, Fraction(1, 2))
    expected = Fraction(1, 2) if own > T else at_the_threshold if own == T > 0 else 0
    assert growth == expected * users.upper


@given(users=collections(), data=st.data())
def test_printed_multipliers_fail_slackness_iff_the_threshold_is_positive(users, data):
    eps = data.draw(budgets(users.n_users))
    found = ud.kkt_certificate(users, eps, ud.printed_solution(users, eps))
    positive = ud.threshold(users, eps) > 0
    assert positive == (eps >= Fraction(2, users.n_users))
    assert (found.complementary_slackness > 0) == positive
    assert found.primal_feasibility == found.stationarity == found.dual_feasibility == 0


@given(users=collections(), k=st.integers(1, 6), share=st.fractions(0, 1))
def test_all_minimisers_at_integer_two_over_eps(users, k, share):
    if k > users.n_users:
        return
    v = sorted([*users.largest_sums, Fraction(0)], reverse=True)
    S = v[k] + share * (v[k - 1] - v[k])
    solution = ud.optimal_solution(users, Fraction(2, k))
    moved = solution._replace(alpha=users.surplus(S) / 2, total_width=S)
    assert_all_zero(ud.kkt_certificate(users, Fraction(2, k), moved))


@given(users=collections(), data=st.data())
def test_no_other_width_is_optimal(users, data):
    eps = data.draw(budgets(users.n_users))
    v = sorted([*users.largest_sums, Fraction(0)], reverse=True)
    k, T = ud.rank(eps), ud.threshold(users, eps)
    tied = 2 / eps == k <= users.n_users
    low, high = (v[k], T) if tied else (T, T)
    anywhere = st.fractions(0, 2, max_denominator=30).map(lambda share: share * v[0])
    S = data.draw(st.one_of(st.sampled_from(v), anywhere))
    optimal = ud.symmetric_error(users, S, eps) == ud.optimal_error(users, eps)
    assert optimal == (low <= S <= high)


@pytest.mark.parametrize(
    ("condition", "size", "change"),
    [
        ("primal_feasibility", 2, {"alpha": [11, 3, 0]}),
        ("primal_feasibility", 0, {"alpha": [20, 10, 5], "total_width": 3}),  # room to spare
        ("dual_feasibility", 0, {"lambda_users": [20, 10, 5], "lambda_width": 1}),
        ("primal_feasibility", 1, {"alpha": [12, 4, -1], "total_width": 20}),
        ("primal_feasibility", 3, {"total_width": -3, "alpha": [40, 40, 40]}),
        ("dual_feasibility", 3, {"lambda_users": [-3, 0, 0]}),
        ("dual_feasibility", 2, {"mu_users": [0, -2, 0]}),
        ("dual_feasibility", 1, {"lambda_width": -1}),
        ("stationarity", Fraction(1, 4), {"lambda_width": Fraction(1, 4)}),
        ("stationarity", 1, {"mu_users": [0, 2, 2]}),
        ("complementary_slackness", 4, {"lambda_width": Fraction(1, 2)}),
        ("complementary_slackness", 1, {"alpha": [13, 4, 0]}),
        ("complementary_slackness", 2, {"mu_users": [Fraction(1, 6), 0, 1]}),
        ("duality_gap", 1, {"alpha": [13, 4, 0]}),
    ],
)
def test_each_part_of_a_condition_is_measured(condition, size, change):
    """The change is the only violation of its condition, or the largest."""
    users, eps = ud.Contributions([4, 2, 1], Fraction(8)), Fraction(1)
    good = ud.kkt.Solution(
        alpha=np.array([12, 4, 0]) * Fraction(1),
        total_width=Fraction(8),
        lambda_users=np.array([Fraction(1, 2), Fraction(1, 2), Fraction(0)]),
        mu_users=np.array([0, 0, 1]) * Fraction(1),
        lambda_width=Fraction(0),
    )
    assert_all_zero(ud.kkt_certificate(users, eps, good))
    exact = {
        name: np.array(value) * Fraction(1) if isinstance(value, list) else Fraction(value)
        for name, value in change.items()
    }
    found = getattr(ud.kkt_certificate(users, eps, good._replace(**exact)), condition)
    assert (found, type(found)) == (size, Fraction)


def test_a_solver_that_fails_is_reported_with_its_reason(monkeypatch):
    failed = SimpleNamespace(success=False, message="it was tired")
    monkeypatch.setattr(optimize, "linprog", lambda *args, **kwargs: failed)
    with pytest.raises(RuntimeError, match="not solved: it was tired"):
        ud.kkt.solve_lp(ud.Contributions([1], 1), 1)


@given(users=collections(), eps=st.floats(0.05, 5), k=st.integers(1, 101))
def test_floats_are_certified_to_rounding(users, eps, k):
    rounded = ud.Contributions(users.counts, float(users.upper))
    conditions = ud.kkt_certificate(rounded, eps)
    assert all(type(violation) is float for violation in conditions)
    assert max(conditions) <= 1e-12 * max(1, float(max(rounded.largest_sums)) / eps)
    assert max(ud.kkt_certificate(EXTREME, 2 / k)) <= 1e-10


@given(users=collections(), data=st.data())
def test_the_solver_finds_the_same_value_and_a_certified_point(users, data):
    eps = data.draw(budgets(users.n_users))
    rounded = ud.Contributions(users.counts, float(users.upper))
    solution = ud.kkt.solve_lp(rounded, eps)
    value = (solution.alpha.sum() + solution.total_width / float(eps)) / users.total
    assert value == pytest.approx(float(ud.optimal_error(users, eps)), rel=1e-9)
    assert max(ud.kkt_certificate(rounded, eps, solution)) <= 1e-7


@given(users=collections(), data=st.data())
def test_symmetric_error_is_the_error_of_symmetric_intervals(users, data):
    eps = data.draw(budgets())
    S = data.draw(st.fractions(0, 1)) * max(users.largest_sums)
    width = np.minimum(users.upper, S / users.counts)
    clipping = ud.Clipping((users.upper - width) / 2, (users.upper + width) / 2)
    assert ud.symmetric_error(users, S, eps) == ud.worst_case_error(users, clipping, eps)
