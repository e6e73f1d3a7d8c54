"""How much of its budget AKMV leaves unspent, and how well its draw separates ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of, glued
from strategies import GEOMETRIC, collections

import userdp as ud
from userdp import audit

PAGE = functions_of("akmv")


def test_if_the_rank_is_the_number_of_users_akmv_spends_three_quarters_of_its_budget():
    spent = audit.largest_log_ratio(lambda pairs: audit.akmv_log_ratio(pairs, 0.08), 400, rng=2)
    assert spent == pytest.approx(0.75 * 0.08, rel=1e-6)


@given(collections(), st.floats(0.01, 30))
def test_the_density_above_all_sums_relative_to_the_largest_agrees_with_the_cells(users, eps):
    """From the density at the middle of each cell, if all sums differ by more than rounding."""
    sums = users.largest_sums.astype(float) * np.linspace(0.3, 0.9, users.n_users)
    edges = np.unique([0, *sums, float(max(users.largest_sums))])
    middles = (edges[1:] + edges[:-1]) / 2
    logs = ud.quantile_log_density(middles, sums, users, rank=ud.rank(eps), eps=eps / 2)
    if len(edges) == users.n_users + 2 and np.diff(edges).min() > 1e-9 * edges[-1]:
        assert PAGE.top_over_best(users, eps) == pytest.approx(np.exp(logs[-1] - max(logs)))


@given(collections(), st.one_of(st.floats(1e-3, 2), st.integers(1, 300).map(lambda k: 2 / k)))
def test_up_to_two_the_density_above_all_sums_is_at_least_1_over_e_of_the_largest(users, eps):
    factor = PAGE.top_over_best(users, eps)
    assert np.exp(-1) < factor
    assert factor <= np.exp(-1 / 2) * (1 + 1e-12) or ud.rank(eps) > users.n_users


def test_from_two_on_the_density_above_all_sums_falls_exponentially_relative_to_the_largest():
    """So 1/e is not a bound for all budgets; just below 2, the ratio is close to this bound."""
    budgets, stored = [2, 4, 8, 20], glued("akmv")
    factors = [PAGE.top_over_best(GEOMETRIC, eps) for eps in budgets]
    assert factors == pytest.approx(np.exp(-np.array(budgets) / 4))
    assert [float(stored[f"ranks-{eps}"]) for eps in budgets[1:]] == pytest.approx(
        factors[1:], rel=0.04
    )
    ends = [float(stored[f"ranks-{end}"]) for end in ("least", "most")]
    assert ends == pytest.approx(np.exp([-1, -0.5]), rel=0.02)
    assert PAGE.top_over_best(GEOMETRIC, 2 - 1e-9 * 10) < 0.368
