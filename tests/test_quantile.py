"""The private quantile: its density by definition, and the ends of everything."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import userdp as ud
from userdp import audit
from userdp.model import _ROUNDING, _read_sums

BUDGETS = (0.1, 0.5, 1, 2, 5)
FALSE_ALARM = 1e-9


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
    width = cells.upper - cells.lower
    np.testing.assert_allclose(cells.probability, width * np.exp(cells.log_density), rtol=1e-12)
    np.testing.assert_array_equal(cells.probability[width == 0], 0)
    wide = np.flatnonzero(width)
    at_tops = ud.quantile_log_density(cells.upper[wide], sums, users, rank, eps)
    np.testing.assert_array_equal(cells.log_density[wide], at_tops)


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


@pytest.mark.parametrize(
    ("level", "place", "expected"), [(0, 0, 0), (0, 0.5, 2), (1 - 2**-53, 1, 4)]
)
def test_uniforms_at_their_ends_never_choose_an_empty_cell(level, place, expected):
    users = ud.Contributions([4, 4], 1)
    draws = [
        ud.private_quantile(sums, users, 1, 1, rng=audit.Recorder(random=[level, place]))
        for sums in ([4, 4], [[4, 4]], [0, 0])
    ]
    assert draws[0] == draws[1] == expected
    assert 0 <= draws[2] <= 4


def test_sums_off_by_rounding_are_projected_and_others_refused():
    users = ud.Contributions([2, 1], 10)
    largest = users.largest_sums
    np.testing.assert_array_equal(_read_sums((1 + _ROUNDING) * largest, users), largest)
    np.testing.assert_array_equal(_read_sums(-_ROUNDING * largest, users), [0, 0])
    for end, beyond in (((1 + _ROUNDING) * largest, np.inf), (-_ROUNDING * largest, -np.inf)):
        with pytest.raises(ValueError, match=r"`sums` must be .* got sums\[0\]="):
            _read_sums(np.nextafter(end, beyond), users)
