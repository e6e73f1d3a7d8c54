"""The private quantile: its density is a density, private, tight, and what the sampler draws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import userdp as ud
from userdp.model import _ROUNDING, _read_sums

BUDGETS = (0.1, 0.5, 1, 2, 5)
FALSE_ALARM = 1e-9


def log_ratio(first, second, users, rank, eps):
    """Largest absolute log ratio of the two densities, over a point of every cell of both."""
    edges = np.unique(np.concatenate([[0.0, float(users.largest_sums.max())], first, second]))
    inner = (edges[1:] + edges[:-1]) / 2
    inner = inner[(inner > edges[:-1]) & (inner < edges[1:])]
    densities = [ud.quantile_log_density(inner, s, users, rank, eps) for s in (first, second)]
    return np.max(np.abs(densities[0] - densities[1]))


def neighbours(rng, users):
    """Two datasets that differ in one user's sum: ties, edges and gaps included."""
    kind = rng.integers(3)
    share = (
        rng.random(users.n_users),
        rng.integers(0, 3, users.n_users) / 2,
        np.zeros(users.n_users),
    )
    first = share[kind] * users.largest_sums
    second = first.copy()
    user = rng.integers(users.n_users)
    second[user] = rng.choice([0.0, 1.0, rng.random()]) * users.largest_sums[user]
    return first, second


@pytest.mark.parametrize("eps", BUDGETS)
def test_neighbouring_densities_stay_within_the_budget(eps):
    rng = np.random.default_rng(2024)
    largest = 0.0
    for _ in range(600):
        users = ud.Contributions(rng.integers(1, 6, size=rng.integers(1, 7)), 10)
        rank = int(rng.integers(1, users.n_users + 2))
        largest = max(largest, log_ratio(*neighbours(rng, users), users, rank, eps))
    assert largest <= eps * (1 + 1e-9)


@pytest.mark.parametrize("eps", BUDGETS)
@pytest.mark.parametrize("budget", ["quantile", "akmv stage"])
def test_the_worst_pair_uses_the_whole_budget(eps, budget):
    """(0, d) against (V, d) at rank 1: the weight and its integral both move by e^(eps/2)."""
    users = ud.Contributions([2, 2], 1)
    stage = Fraction(eps) / 2 if budget == "akmv stage" else eps
    ratio = log_ratio(np.array([0, 1e-9]), np.array([2, 1e-9]), users, 1, stage)
    assert 0.999 * float(stage) <= ratio <= float(stage) * (1 + 1e-9)


@pytest.mark.parametrize("eps", BUDGETS)
def test_every_adversarial_pair_of_corners_stays_within_the_budget(eps):
    users = ud.Contributions([2, 2, 1], 1)
    corners = np.array(np.meshgrid(*[[0, 1e-9, m] for m in users.counts])).reshape(3, -1).T
    for first in corners:
        for second in corners:
            if np.sum(first != second) == 1:
                for rank in (1, 2, 3, 4):
                    assert log_ratio(first, second, users, rank, eps) <= eps * (1 + 1e-9)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(1, 8), st.sampled_from(BUDGETS)
)
def test_density_by_definition(quarters, rank, eps):
    users = ud.Contributions([3] * len(quarters), 1)
    sums = np.array(quarters) * 0.75
    t = np.linspace(0.01, 2.99, 53)
    weight = [math.exp(-eps / 2 * abs(sum(s >= x for s in sums) - min(rank, len(sums)))) for x in t]
    log_density = ud.quantile_log_density(t, sums, users, rank, eps)
    np.testing.assert_allclose(np.diff(log_density), np.diff(np.log(weight)), atol=1e-12)
    cells = ud.quantile_cells(sums, users, rank, eps)
    assert cells.probability.sum() == pytest.approx(1, rel=1e-12)
    assert np.sum((cells.upper - cells.lower) * np.exp(cells.log_density)) == pytest.approx(1)
    np.testing.assert_array_equal(cells.probability[cells.upper == cells.lower], 0)


def test_density_outside_and_at_the_ends_of_the_range():
    users = ud.Contributions([2, 1], 1)
    log_density = ud.quantile_log_density([-1, -1e-9, 0, 2, 2.0001], [1.5, 0.5], users, 1, 1)
    np.testing.assert_array_equal(np.isfinite(log_density), [False, False, True, True, False])
    just_above = ud.quantile_log_density(2 * (1 + 1e-12), [1.5, 0.5], users, 1, 1)
    assert just_above == -np.inf


def test_a_sum_reaches_itself():
    """c(t) counts sums of at least t: at t equal to a sum the density is that just below it."""
    users = ud.Contributions([2, 1], 1)
    at, below, above = ud.quantile_log_density(
        [1.5, 1.5 - 1e-9, 1.5 + 1e-9], [1.5, 0.5], users, 2, 1
    )
    assert at == below != above


@pytest.mark.parametrize(("rank", "eps"), [(1, 1), (3, 0.5), (9, 4)])
def test_draws_follow_the_density_and_a_tenth_more_budget_would_be_noticed(rank, eps):
    users = ud.Contributions([5, 4, 3, 2, 1], 2)
    sums = np.array([9.0, 1.0, 1.0, 3.5, 0.0])
    draws = ud.private_quantile(np.broadcast_to(sums, (400_000, 5)), users, rank, eps, rng=11)

    def cdf(t, budget):
        cells = ud.quantile_cells(sums, users, rank, budget)
        inside = np.clip(t[:, None], cells.lower, cells.upper) - cells.lower
        return inside @ np.exp(cells.log_density)

    assert stats.kstest(draws, lambda t: cdf(t, eps)).pvalue > FALSE_ALARM
    assert stats.kstest(draws, lambda t: cdf(t, 1.1 * eps)).pvalue < FALSE_ALARM


def test_rank_counts_from_the_largest_and_stops_at_the_number_of_users():
    users = ud.Contributions([10] * 5, 1)
    sums = np.array([9.0, 7.0, 5.0, 3.0, 1.0])
    for rank, (low, high) in enumerate([(7, 9), (5, 7), (3, 5), (1, 3), (0, 1)], start=1):
        assert low <= ud.private_quantile(sums, users, rank, eps=1000, rng=rank) <= high
    cells = [ud.quantile_cells(sums, users, rank, 1) for rank in (5, 6, 10**400)]
    for other in cells[1:]:
        np.testing.assert_array_equal(cells[0].probability, other.probability)


@pytest.mark.parametrize("eps", [1e-300, 1e-12, 1e12, 1.7e308])
def test_extreme_budgets_and_empty_cells_give_a_finite_law(eps):
    users = ud.Contributions([4, 4, 4], 1)
    for sums in ([0, 0, 0], [4, 4, 4], [4, 0, 0], [2, 2, 2]):
        for rank in (1, 2, 3):
            cells = ud.quantile_cells(sums, users, rank, eps)
            assert cells.probability.sum() == pytest.approx(1)
            assert 0 <= ud.private_quantile(sums, users, rank, eps, rng=1) <= 4


class Fixed(np.random.Generator):
    """A Generator that returns given uniforms."""

    def __init__(self, *uniforms):
        super().__init__(np.random.PCG64(0))
        self.uniforms = list(uniforms)

    def random(self, size=None):
        return np.full(size, self.uniforms.pop(0))


@pytest.mark.parametrize(
    ("level", "place", "expected"), [(0, 0, 0), (0, 0.5, 2), (1 - 2**-53, 1, 4)]
)
def test_uniforms_at_their_ends_never_choose_an_empty_cell(level, place, expected):
    users = ud.Contributions([4, 4], 1)
    draw = ud.private_quantile([4, 4], users, 1, 1, rng=Fixed(level, place))
    assert draw == expected
    assert 0 <= ud.private_quantile([0, 0], users, 1, 1, rng=Fixed(level, place)) <= 4


def test_sums_off_by_rounding_are_projected_and_others_refused():
    users = ud.Contributions([2, 1], 10)
    largest = users.largest_sums
    np.testing.assert_array_equal(_read_sums((1 + _ROUNDING) * largest, users), largest)
    np.testing.assert_array_equal(_read_sums(-_ROUNDING * largest, users), [0, 0])
    for end, beyond in (((1 + _ROUNDING) * largest, np.inf), (-_ROUNDING * largest, -np.inf)):
        with pytest.raises(ValueError, match=r"`sums` must be .* got sums\[0\]="):
            _read_sums(np.nextafter(end, beyond), users)
