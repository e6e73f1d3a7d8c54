"""Several means of the same users, with a common threshold for their influence.

- The modulus for the l1 distance is compared with all datasets of small collections.
- The release shrinks a user's intervals in all groups by a common factor. Over all datasets, its
  bias and sensitivity, summed over the groups, are half the sum of (a_l - T)^+ and
  max_l min(a_l, T). Its noise has the scale T/eps in each group.
- No estimator of all means has a smaller worst-case sum of bias and noise, by a linear program.
- Dividing the budget equally among the groups is never better; if groups differ, dividing it
  unequally can be, with different scales of noise.

test_privacy.py tests that a release spends exactly its budget.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import programs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BUDGETS, budgets, fractions

import userdp as ud
from userdp import beyond
from userdp.audit import Recorder


@st.composite
def tables(draw, largest=3):
    """Counts per user and group; some users lack samples, and some groups have only one user."""
    L, G = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, largest), min_size=G, max_size=G)
    table = np.array(draw(st.lists(row, min_size=L, max_size=L)))
    table[0] += ~table.any(axis=0)
    return table


TABLES = {
    "heavy in either": [[3, 0], [0, 2], [1, 1]],
    "heavy in both": [[2, 2], [1, 1], [1, 1]],
    "one group": [[2], [1], [1]],
    "three groups": [[1, 0, 1], [1, 1, 0], [0, 1, 1]],
    "one user": [[2, 1]],
}
on_tables = pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES)


def all_sums(counts):
    """All sums of samples 0 or 1, shape (n, L, G), and how many users differ between datasets."""
    tables_of_users = [[*product(*(range(m + 1) for m in row))] for row in counts]
    rows = np.array([*product(*(range(len(table)) for table in tables_of_users))])
    user_distances = sum(np.not_equal.outer(column, column) for column in rows.T)
    sums = [
        [table[rank] for table, rank in zip(tables_of_users, row, strict=True)]
        for row in rows.tolist()
    ]
    return np.array(sums, dtype=float), user_distances


def distances(vectors):
    return abs(vectors[:, None] - vectors).sum(axis=-1)


@on_tables
def test_modulus_is_the_largest_joint_change_of_all_means(counts):
    sums, user_distances = all_sums(counts)
    change = distances(sums.sum(axis=1) / np.sum(counts, axis=0))
    modulus = beyond.modulus_of_several_means(counts, 1)
    by_definition = [change[user_distances <= n].max() for n in range(len(counts) + 1)]
    np.testing.assert_allclose(modulus.values, by_definition, atol=1e-15)


@given(counts=tables(), upper=fractions)
def test_influence_is_how_far_one_user_can_move_the_means(counts, upper):
    totals = counts.sum(axis=0)
    expected = [
        sum(upper * int(m) / int(n) for m, n in zip(row, totals, strict=True)) for row in counts
    ]
    assert beyond.influence(counts, upper).tolist() == expected
    floats = beyond.influence(counts, float(upper))
    np.testing.assert_allclose(floats, np.array(expected, dtype=float), rtol=1e-14)
    values = beyond.modulus_of_several_means(counts, upper).values
    assert values.tolist() == [sum(sorted(expected)[::-1][:n]) for n in range(len(counts) + 1)]


@given(counts=tables(), upper=fractions, eps=budgets())
def test_threshold_and_error_are_the_best_of_all_candidates(counts, upper, eps):
    G, a = counts.shape[1], beyond.influence(counts, upper).tolist()
    candidates = [Fraction(0), *a]
    errors = [sum(max(x - T, 0) for x in a) / 2 + G * T / eps for T in candidates]
    T = beyond.influence_threshold(counts, upper, eps)
    assert beyond.error_of_several_means(counts, upper, eps) == min(errors)
    assert errors[candidates.index(T)] == min(errors)
    rank = -(-2 * G // eps)
    assert (sorted(a)[-rank] if rank <= len(a) else 0) == T
    assert beyond.influence_threshold(counts, upper, float(eps)) in candidates


def test_a_float_is_read_as_the_nearby_budget():
    """As in `rank`: 2G/eps is 49 if eps is the float 6/49."""
    counts = np.ones((49, 3), int)
    assert beyond.influence_threshold(counts, 49, 6 / 49) == pytest.approx(3)
    assert beyond.influence_threshold(counts, 49, 6 / 49 * (1 - 1e-6)) == 0


@given(counts=tables(), eps=budgets())
def test_with_one_group_results_are_those_of_the_mean(counts, eps):
    totals = counts.sum(axis=1)
    totals = totals[totals > 0]
    users = ud.Contributions(totals, Fraction(65))
    column = totals[:, None]
    T = beyond.influence_threshold(column, Fraction(65), eps)
    assert users.total * T == ud.threshold(users, eps)
    error = ud.optimal_error(users, eps)
    assert beyond.error_of_several_means(column, Fraction(65), eps) == error
    assert beyond.error_of_divided_budget(column, Fraction(65), eps) == error


@on_tables
@pytest.mark.parametrize("eps", [0.7, 2, 3.0, 5, 9])
def test_bias_and_sensitivity_are_those_of_the_theorem(counts, eps):
    sums, user_distances = all_sums(counts)
    released = beyond.opt_several_means(sums, counts, 1, eps, rng=Recorder())
    estimate = np.array([[float(noisy.value) for noisy in row] for row in released.tolist()])
    (scale,) = {float(noisy.scale) for noisy in released.ravel()}
    G, a = len(counts[0]), beyond.influence(counts, 1)
    T = beyond.influence_threshold(counts, 1, eps)
    assert scale == pytest.approx(T / eps, rel=1e-14)
    true = sums.sum(axis=1) / np.sum(counts, axis=0)
    bias = abs(estimate - true).sum(axis=-1).max()
    assert bias == pytest.approx(np.maximum(a - T, 0).sum() / 2, abs=1e-13)
    change = distances(estimate)[user_distances == 1].max()
    assert change == pytest.approx(np.minimum(a, T).max(), abs=1e-13)
    error = bias + G * scale
    assert error == pytest.approx(beyond.error_of_several_means(counts, 1, eps), rel=1e-12)


@pytest.mark.parametrize(
    "counts",
    [[[1, 0], [0, 1], [1, 1]], [[1, 1], [1, 0]], [[2, 1], [1, 1]], [[1, 1, 0], [0, 1, 1]]],
    ids=str,
)
def test_no_estimator_of_all_means_has_a_smaller_error(counts):
    """Estimators can take arbitrary vectors on the 16 to 64 datasets."""
    sums, user_distances = all_sums(counts)
    means = sums.sum(axis=1) / np.sum(counts, axis=0)
    G = means.shape[1]
    for eps in (1, 2.5, 4, 7):
        smallest = programs.least_vector_error(means, user_distances, G / eps)
        error = beyond.error_of_several_means(counts, 1, eps)
        assert error == pytest.approx(smallest, rel=1e-7, abs=1e-9)


@given(counts=tables(), upper=fractions, eps=budgets())
def test_dividing_the_budget_equally_is_never_better(counts, upper, eps):
    together = beyond.error_of_several_means(counts, upper, eps)
    divided = beyond.error_of_divided_budget(counts, upper, eps)
    assert divided >= together
    G = counts.shape[1]
    groups = [ud.Contributions(column[column > 0], upper) for column in counts.T]
    assert divided == sum(ud.optimal_error(users, eps / G) for users in groups)


def test_dividing_costs_nothing_if_the_same_users_are_heaviest_in_every_group():
    counts = [[6, 2, 4], [3, 1, 2], [3, 1, 2]]
    for eps in (Fraction(1), Fraction(5), Fraction(40)):
        together = beyond.error_of_several_means(counts, Fraction(1), eps)
        assert beyond.error_of_divided_budget(counts, Fraction(1), eps) == together
    regional = [[9, 1], [1, 9], *[[1, 1]] * 8]
    for eps, is_worse in ((2, False), (4, True)):  # the ranks are 2 and 1
        together = beyond.error_of_several_means(regional, Fraction(1), eps)
        assert (beyond.error_of_divided_budget(regional, Fraction(1), eps) > together) == is_worse


def test_dividing_unequally_can_be_better_for_groups_of_different_size():
    """The theorem assumes the same scale of noise everywhere; a large group needs less budget."""
    counts = [[1, 0]] * 100 + [[0, 1]] * 2
    large, small = ud.Contributions([1] * 100, 1), ud.Contributions([1, 1], 1)
    divided = ud.optimal_error(large, 0.4) + ud.optimal_error(small, 3.6)
    assert divided < beyond.error_of_several_means(counts, 1, 4)


@pytest.mark.parametrize("eps", BUDGETS)
def test_intervals_of_all_groups_shrink_by_a_common_factor_about_the_middle(eps):
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 6, (40, 3))
    sums = rng.random((2, 40, 3)) * counts * 10
    a, T = beyond.influence(counts, 10), beyond.influence_threshold(counts, 10, 10 * eps)
    half_widths = 5 * counts * np.minimum(1, T / np.maximum(a, 1e-9))[:, None]
    clipped = 5 * counts + np.clip(sums - 5 * counts, -half_widths, half_widths)
    released = beyond.opt_several_means(sums, counts, 10, 10 * eps, rng=Recorder())
    values = [[float(noisy.value) for noisy in row] for row in released.tolist()]
    np.testing.assert_allclose(values, clipped.sum(axis=1) / counts.sum(axis=0), rtol=1e-13)
    (scale,) = {float(noisy.scale) for noisy in released.ravel()}
    assert scale == pytest.approx(T / (10 * eps), rel=1e-12)


def test_noise_of_the_groups_is_uncorrelated_and_the_error_is_at_most_the_guarantee():
    counts, eps = [[4, 1], [1, 3], [1, 1]], 4
    sums = np.broadcast_to(np.multiply(counts, 1.0), (50_000, 3, 2))
    released = beyond.opt_several_means(sums, counts, 1, eps, rng=6)
    noise = released - released.mean(axis=0)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.02
    T = beyond.influence_threshold(counts, 1, eps)
    assert abs(noise).mean() == pytest.approx(T / eps, rel=0.02)
    error = abs(released - 1).sum(axis=1)
    guarantee = beyond.error_of_several_means(counts, 1, eps)
    assert error.mean() <= guarantee + 5 * error.std() / 50_000**0.5


def test_users_without_samples_change_nothing():
    counts, sums = [[4, 1], [1, 3]], [[2.0, 1], [0, 3]]
    extended_counts, extended_sums = [*counts, [0, 0]], [*sums, [0, 0]]
    for eps in (3, 5):
        original, extended = (
            beyond.opt_several_means(x, c, 1, eps, rng=1)
            for x, c in ((sums, counts), (extended_sums, extended_counts))
        )
        np.testing.assert_allclose(original, extended, rtol=1e-12)
    assert beyond.influence(extended_counts, 1)[2] == 0


@pytest.mark.slow
def test_means_of_a_million_users_have_less_than_twice_the_guaranteed_error():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, (10**6, 3))
    sums = rng.random(counts.shape) * counts * 65
    released = beyond.opt_several_means(sums, counts, 65, 0.01, rng=0)
    error = beyond.error_of_several_means(counts, 65, 0.01)
    assert abs(released - sums.sum(axis=0) / counts.sum(axis=0)).sum() < 2 * error < 1
    assert error < beyond.error_of_divided_budget(counts, 65, 0.01)
