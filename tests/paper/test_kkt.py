"""KKT certificates: they prove the optimum of the linear program (8) by conditions (9)-(11).

- The repaired multipliers satisfy primal and dual feasibility, stationarity (9)-(10) and
  complementary slackness (11) with violations of exactly 0; the dual value is N times the optimum.
- The printed ones fail only slackness (11), and only if T is positive, that is, if eps >= 2/L.
- If 2/eps is a whole number k, all widths between the (k+1)-th and the k-th largest U m_l are
  optimal; no other width ever is.
- Each part of each condition is measured separately: exactly in Fractions, in floats to rounding.
- HiGHS, a general solver of linear programs, finds the same value.
"""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from strategies import EXTREME, budgets, collections

import userdp as ud


def assert_all_zero(certificate):
    violated = {name: str(size) for name, size in certificate._asdict().items() if size != 0}
    assert not violated, f"violated conditions, and by how much: {violated}"
    assert {type(violation) for violation in certificate} == {Fraction}


@given(users=collections(), data=st.data())
def test_repaired_multipliers_prove_the_theorem_exactly(users, data):
    eps = data.draw(budgets(users.n_users))
    assert_all_zero(ud.kkt_certificate(users, eps))
    solution, clipping = ud.optimal_solution(users, eps), ud.optimal_clipping(users, eps)
    assert list(solution.alpha) == list(users.counts * clipping.lower)
    dual = sum(solution.lambda_users * users.largest_sums)
    assert dual == users.total * ud.optimal_error(users, eps)


@given(users=collections(), data=st.data())
def test_printed_multipliers_fail_slackness_iff_the_threshold_is_positive(users, data):
    eps = data.draw(budgets(users.n_users))
    certificate = ud.kkt_certificate(users, eps, ud.printed_solution(users, eps))
    positive = ud.threshold(users, eps) > 0
    assert positive == (eps >= Fraction(2, users.n_users))
    assert (certificate.complementary_slackness > 0) == positive
    assert (
        certificate.primal_feasibility
        == certificate.stationarity
        == certificate.dual_feasibility
        == 0
    )


@given(users=collections(), k=st.integers(1, 6), share=st.fractions(0, 1))
def test_all_widths_between_two_successive_sums_are_optimal_at_integer_two_over_eps(
    users, k, share
):
    if k > users.n_users:
        return
    v = sorted([*users.largest_sums, Fraction(0)], reverse=True)
    S = v[k] + share * (v[k - 1] - v[k])
    solution = ud.optimal_solution(users, Fraction(2, k))
    other_solution = solution._replace(alpha=users.surplus(S) / 2, total_width=S)
    assert_all_zero(ud.kkt_certificate(users, Fraction(2, k), other_solution))


@given(users=collections(), data=st.data())
def test_symmetric_error_is_the_error_of_symmetric_intervals(users, data):
    eps = data.draw(budgets())
    S = data.draw(st.fractions(0, 1)) * max(users.largest_sums)
    width = np.minimum(users.upper, S / users.counts)
    clipping = ud.Clipping((users.upper - width) / 2, (users.upper + width) / 2)
    assert ud.symmetric_error(users, S, eps) == ud.worst_case_error(users, clipping, eps)


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
    ("condition", "violation", "change"),
    [
        ("primal_feasibility", 2, {"alpha": [11, 3, 0]}),
        # Constraints that hold strictly are not violated.
        ("primal_feasibility", 0, {"alpha": [20, 10, 5], "total_width": 3}),
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
def test_each_part_of_a_condition_is_measured(condition, violation, change):
    """The change is the only violation of its condition, or the largest."""
    users, eps = ud.Contributions([4, 2, 1], Fraction(8)), Fraction(1)
    valid = ud.kkt.Solution(
        alpha=np.array([12, 4, 0]) * Fraction(1),
        total_width=Fraction(8),
        lambda_users=np.array([Fraction(1, 2), Fraction(1, 2), Fraction(0)]),
        mu_users=np.array([0, 0, 1]) * Fraction(1),
        lambda_width=Fraction(0),
    )
    assert_all_zero(ud.kkt_certificate(users, eps, valid))
    exact_change = {
        name: np.array(value) * Fraction(1) if isinstance(value, list) else Fraction(value)
        for name, value in change.items()
    }
    residual = getattr(ud.kkt_certificate(users, eps, valid._replace(**exact_change)), condition)
    assert (residual, type(residual)) == (violation, Fraction)


def test_a_solver_that_fails_is_reported_with_its_reason(monkeypatch):
    failed = SimpleNamespace(success=False, message="iteration limit")
    monkeypatch.setattr(optimize, "linprog", lambda *args, **kwargs: failed)
    with pytest.raises(RuntimeError, match="not solved: iteration limit"):
        ud.kkt.solve_lp(ud.Contributions([1], 1), 1)


@given(users=collections(), eps=st.floats(0.05, 5), k=st.integers(1, 101))
def test_with_floats_the_conditions_hold_up_to_rounding(users, eps, k):
    rounded = ud.Contributions(users.counts, float(users.upper))
    conditions = ud.kkt_certificate(rounded, eps)
    assert {type(violation) for violation in conditions} == {float}
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
