"""Moduli of continuity: their definition, and bounds on all estimators and mechanisms.

- The modulus is the largest change of a statistic if n users are replaced or, if counts are
  protected, added or removed. It is compared with all datasets of small collections, exactly, for
  mean, weighted mean, share, variance, median and maximum.
- For any statistic on any graph of datasets, `smallest_bias` and `optimal_error` are minima over
  all estimators, by linear programs without these formulas; for the mean they equal those of
  `userdp`, exactly.
- No private mechanism has an error below `lower_bound`, by linear programs on paths and graphs;
  `optimal_error` is within the stated factors of it.
- The majorant is the largest chord, and exact if the values are.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import cosh, exp, sinh

import numpy as np
import programs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path
from strategies import budgets, collections, fractions, several

import userdp as ud
from userdp import beyond

HALF = Fraction(1, 2)
COLLECTIONS = [(1,), (2, 1), (1, 1, 1), (3, 1, 1), (2, 2, 1), (2, 1, 1, 1), (1, 1, 1, 1, 1)]
for_each_collection = pytest.mark.parametrize("counts", COLLECTIONS, ids=str)


# By definition
def datasets_of(counts, levels):
    """All datasets with samples at these levels, and by how many users each two differ."""
    tables = [[*combinations_with_replacement(levels, m)] for m in counts]
    rows = np.array([*product(*(range(len(table)) for table in tables))])
    datasets = [[table[i] for table, i in zip(tables, row, strict=True)] for row in rows.tolist()]
    return datasets, sum(np.not_equal.outer(column, column) for column in rows.T)


def modulus_by_definition(values, distances, n_max):
    """The largest change by at most n users, computed in multiples of a common unit."""
    unit = np.lcm.reduce([Fraction(value).denominator for value in values])
    multiples = np.array([int(value * unit) for value in values])
    change = abs(multiples[:, None] - multiples)
    return [Fraction(int(change[distances <= n].max()), int(unit)) for n in range(n_max + 1)]


def variance(samples):
    return sum(x * x for x in samples) / Fraction(len(samples)) - mean(samples) ** 2


def mean(samples):
    return sum(samples) / Fraction(len(samples))


def median(samples):
    middle = sorted(samples)[(len(samples) - 1) // 2 : len(samples) // 2 + 1]
    return mean(middle)


def weighted(weights):
    return lambda users: sum(a * mean(x) for a, x in zip(weights, users, strict=True))


def of_all_samples(statistic):
    return lambda users: statistic([x for samples in users for x in samples])


WEIGHTS = [Fraction(2, 3), Fraction(-1), Fraction(1, 4), Fraction(0), Fraction(-1, 5)]
U = 2
"""The levels of samples are 0, 1 and U."""

STATISTICS = {
    "mean": (of_all_samples(mean), beyond.modulus_of_mean),
    "share": (
        of_all_samples(lambda samples: mean([int(x >= 1) for x in samples])),
        lambda users: beyond.modulus_of_mean(ud.Contributions(users.counts, Fraction(1))),
    ),
    "variance": (of_all_samples(variance), beyond.modulus_of_variance),
    "maximum": (of_all_samples(max), lambda _: beyond.Modulus([0, U])),
}


@for_each_collection
@pytest.mark.parametrize("name", STATISTICS)
def test_modulus_is_the_largest_change_of_all_datasets(name, counts):
    statistic, modulus_of = STATISTICS[name]
    datasets, distances = datasets_of(counts, (0, 1, U))
    expected = modulus_by_definition([*map(statistic, datasets)], distances, len(counts))
    modulus = modulus_of(ud.Contributions(counts, Fraction(U)))
    assert [modulus(n) for n in range(len(counts) + 1)] == expected


@for_each_collection
def test_modulus_of_a_weighted_mean_is_the_largest_change_of_all_datasets(counts):
    weights = WEIGHTS[: len(counts)]
    datasets, distances = datasets_of(counts, (0, 1, U))
    expected = modulus_by_definition([*map(weighted(weights), datasets)], distances, len(counts))
    modulus = beyond.modulus_of_weighted_mean(weights, Fraction(U))
    assert modulus.values.tolist() == expected
    assert beyond.modulus_of_weighted_mean(weights, 2.0).values.tolist() == pytest.approx(
        [float(value) for value in expected]
    )


@for_each_collection
def test_modulus_of_the_standard_deviation_is_the_root_of_that_of_the_variance(counts):
    datasets, distances = datasets_of(counts, (0, 1, U))
    values = np.sqrt([float(of_all_samples(variance)(users)) for users in datasets])
    change = abs(values[:, None] - values)
    expected = [change[distances <= n].max() for n in range(len(counts) + 1)]
    root = np.sqrt(beyond.modulus_of_variance(ud.Contributions(counts, U)).values)
    np.testing.assert_allclose(beyond.Modulus(root).values, expected, atol=1e-15)


def test_with_an_even_number_of_samples_two_users_move_the_median_over_the_whole_range():
    """With one sample per user, the median is half-way between the two samples in the middle."""
    datasets, distances = datasets_of((1, 1, 1, 1), (0, 1, U))
    values = [*map(of_all_samples(median), datasets)]
    assert modulus_by_definition(values, distances, 4) == [0, U / 2, U, U, U]


def test_variance_of_random_samples_moves_by_at_most_the_modulus():
    rng = np.random.default_rng(6)
    for _ in range(300):
        counts = rng.integers(1, 6, rng.integers(1, 8))
        modulus = beyond.modulus_of_variance(ud.Contributions(counts, 1))
        users = np.repeat(np.arange(counts.size), counts)
        n = int(rng.integers(counts.size + 1))
        is_replaced = np.isin(users, rng.permutation(counts.size)[:n])
        first = rng.choice([0, 1, rng.random()], users.size)
        second = np.where(is_replaced, rng.choice([0, 1, rng.random()], users.size), first)
        assert abs(first.var() - second.var()) <= modulus(n) + 1e-12


# Protected counts
def protected_datasets(max_count, least_total, most_total):
    """Datasets as numbers of users of each kind, with samples 0 or 1: their means and distances."""
    kinds = [(m, ones) for m in range(1, max_count + 1) for ones in range(m + 1)]
    rows = []

    def extend(row, total):
        if len(row) == len(kinds):
            if total >= least_total:
                rows.append(tuple(row))
            return
        size = kinds[len(row)][0]
        for n in range((most_total - total) // size + 1):
            extend([*row, n], total + n * size)

    extend([], 0)
    rows = np.array(rows)
    totals, ones = (rows @ np.array(kinds)).T
    steps = abs(rows[:, None] - rows).sum(axis=-1) == 1
    distances = shortest_path(csr_matrix(steps), unweighted=True).astype(int)
    return [Fraction(int(a), int(b)) for a, b in zip(ones, totals, strict=True)], distances


PROTECTED = [(1, 1, 4), (1, 3, 9), (1, 4, 12), (2, 1, 6), (2, 3, 7), (2, 4, 8), (3, 2, 6)]


@pytest.mark.parametrize(("max_count", "least_total", "most_total"), PROTECTED)
def test_modulus_of_protected_counts_is_the_largest_change_over_paths(
    max_count, least_total, most_total
):
    """Longer paths change no more: 2 ceil(n0/m) steps can replace all users."""
    means, distances = protected_datasets(max_count, least_total, most_total)
    modulus = beyond.modulus_of_protected_mean(max_count, least_total, Fraction(1))
    n_max = modulus.values.size - 1
    assert modulus.values.tolist() == modulus_by_definition(means, distances, n_max)
    assert modulus(n_max) == 1 > modulus(n_max - 1)


@given(m=st.integers(1, 9), n0=st.integers(1, 60), upper=fractions, n=st.integers(1, 40))
def test_modulus_and_error_of_protected_counts_agree_with_their_closed_forms(m, n0, upper, n):
    modulus = beyond.modulus_of_protected_mean(m, n0, upper)
    if n * m <= n0:
        assert modulus(n) == upper * n * m / (n0 + n * m)
    if 2 * n * m <= n0:
        eps = Fraction(2, n)
        assert eps >= Fraction(4 * m, n0)
        assert modulus.optimal_error(eps) == upper * m / (eps * n0 + 2 * m)


@pytest.mark.parametrize(("max_count", "least_total", "most_total"), [(1, 3, 9), (2, 3, 7)])
def test_no_estimator_of_protected_counts_has_a_smaller_error(max_count, least_total, most_total):
    means, distances = protected_datasets(max_count, least_total, most_total)
    modulus = beyond.modulus_of_protected_mean(max_count, least_total, Fraction(1))
    values = np.array([*map(float, means)])
    for eps in (0.3, 0.7, 4 * max_count / least_total, 3, 5):
        smallest = programs.least_error(values, distances, 1 / eps)
        assert modulus.optimal_error(eps) == pytest.approx(smallest, rel=1e-7, abs=1e-9)


# Over all estimators
def random_graphs():
    """Statistics on product spaces, where neighbours differ in one user, and on other graphs."""
    rng = np.random.default_rng(7)
    for sizes in [(3, 3), (2, 2, 2), (4, 2, 2), (5, 3), (2, 2, 2, 2)]:
        rows = np.array([*product(*map(range, sizes))])
        distances = (rows[:, None] != rows).sum(axis=-1)
        yield f"product of {len(sizes)}", distances, rng.random(len(rows))
        yield f"steps on {len(sizes)}", distances, rng.integers(0, 3, len(rows)).astype(float)
    for n in (6, 10, 14):
        steps = np.triu(rng.random((n, n)) < 1.5 / n, 1) | np.eye(n, k=1, dtype=bool)
        distances = shortest_path(csr_matrix(steps | steps.T), unweighted=True).astype(int)
        yield f"graph of {n}", distances, rng.normal(size=n)
    for table in [(1, 2, 6), (2, 3, 6)]:
        means, distances = protected_datasets(*table)
        yield f"protected {table}", distances, np.array([*map(float, means)])
        yield f"any of protected {table}", distances, rng.random(len(means))


GRAPHS = {f"{name}, {i}": graph for i, (name, *graph) in enumerate(random_graphs())}
SMALL = {name: graph for name, graph in GRAPHS.items() if len(graph[1]) <= 30}
on_graphs = pytest.mark.parametrize(("distances", "values"), GRAPHS.values(), ids=GRAPHS)
on_small_graphs = pytest.mark.parametrize(("distances", "values"), SMALL.values(), ids=SMALL)


def modulus_on(values, distances):
    change = abs(np.subtract.outer(values, values))
    return beyond.Modulus([change[distances <= n].max() for n in range(int(distances.max()) + 1)])


@on_graphs
def test_no_estimator_has_a_smaller_bias_or_error_than_the_modulus_gives(distances, values):
    modulus = modulus_on(values, distances)
    for weight in (0.2, 0.5, 0.8, 1.0, 1.7, 4.0):
        law = beyond.LaplaceNoise(Fraction(1 / weight))
        smallest = programs.least_error(values, distances, weight)
        assert modulus.optimal_error(law) == pytest.approx(smallest, rel=1e-7, abs=1e-9)
        change = modulus.optimal_sensitivity(law)
        error = modulus.smallest_bias(change) + weight * change
        assert error == pytest.approx(smallest, rel=1e-7, abs=1e-9)
    for change in (0, 0.05, 0.3, modulus(1)):
        smallest = programs.least_bias(values, distances, change)
        assert modulus.smallest_bias(change) == pytest.approx(smallest, rel=1e-7, abs=1e-9)


@on_small_graphs
def test_the_lower_envelope_attains_the_bias(distances, values):
    """min over D' of f(D') + Delta d(D, D'), exactly."""
    exact = np.array([Fraction(value) for value in values.tolist()])
    change = abs(exact[:, None] - exact)
    modulus = beyond.Modulus(
        [change[distances <= n].max() for n in range(int(distances.max()) + 1)]
    )
    for delta in (Fraction(0), Fraction(1, 20), Fraction(1, 3), modulus(1) / 2, modulus(1)):
        bias = modulus.smallest_bias(delta)
        estimate = (exact + delta * distances.astype(object)).min(axis=1) + bias
        assert max(abs(estimate - exact)) == bias
        assert abs(estimate[:, None] - estimate)[distances == 1].max() <= delta


# The mean
def test_modulus_of_the_mean_gives_the_results_of_userdp_exactly():
    rng = np.random.default_rng(11)
    for _ in range(400):
        upper = Fraction(*rng.integers(1, 40, 2).tolist())
        users = ud.Contributions(rng.integers(1, 6, rng.integers(1, 9)), upper)
        modulus = beyond.modulus_of_mean(users)
        eps = Fraction(*rng.integers(1, 40, 2).tolist())
        if rng.random() < 0.5:  # a corner of the majorant
            eps = Fraction(2, int(rng.integers(1, 10)))
        laws = beyond.GaussianNoise(float(eps)), beyond.StaircaseNoise(eps)
        for budget in (eps, float(eps), *laws):
            assert modulus.optimal_error(budget) == beyond.optimal_error(users, budget)
            width = beyond.threshold(users, budget)
            assert modulus.optimal_sensitivity(budget) == width / users.total
        assert modulus.optimal_error(eps) == ud.optimal_error(users, eps)
        N = users.total
        delta = Fraction(int(rng.integers(0, 11)), 8) * ud.sensitivity(users)
        bias = sum(users.surplus(delta * N)) / (2 * N)
        assert modulus.smallest_bias(delta) == bias
        rounded = modulus.smallest_bias(float(delta))
        assert rounded == pytest.approx(float(bias), abs=1e-12)


@given(users=collections(), eps=budgets())
def test_the_lower_bound_of_the_modulus_is_the_chain_and_at_most_minimax_lower_bound(users, eps):
    modulus = beyond.modulus_of_mean(users)
    e, n = float(eps), np.arange(users.n_users + 1)
    chain = max(modulus.values.astype(float) / (1 + cosh(e) + n * sinh(e)))
    assert modulus.lower_bound(eps) == pytest.approx(chain, rel=1e-12)
    assert beyond.minimax_lower_bound(users, eps) >= chain * (1 - 1e-12)


def test_both_lower_bounds_on_the_mean_agree_for_many_users():
    users = ud.Contributions(np.ones(400, int), 65)
    for eps in (0.02, 0.1, 0.5):
        bound = beyond.modulus_of_mean(users).lower_bound(eps)
        assert bound == pytest.approx(beyond.minimax_lower_bound(users, eps), rel=1e-12)


# Over all private mechanisms
def paths():
    rng = np.random.default_rng(3)
    for i in range(40):
        n = int(rng.integers(1, 7))
        inner = [rng.random(n - 1), rng.integers(-3, 5, n - 1), np.sort(rng.random(n - 1))][i % 3]
        yield np.array([0.0, *inner, 1.0])
    for n in (1, 2, 4, 8):
        yield np.linspace(0, 1, n + 1)
        yield np.arange(n + 1) % 2.0  # up and down
        yield np.repeat([0.0, 1.0], [1, n])


@pytest.mark.slow
def test_no_private_mechanism_has_an_error_below_the_bound_on_paths():
    for values in paths():
        distances = abs(np.subtract.outer(*[np.arange(values.size)] * 2))
        modulus = modulus_on(values, distances)
        for eps in (0.1, 0.5, 1.0, 2.5):
            bound, smallest = (
                modulus.lower_bound(eps),
                programs.least_risk(values, distances == 1, eps),
            )
            message = f"the least error on {values.tolist()} at eps={eps} is {smallest}"
            assert bound <= smallest * (1 + 1e-7), message
            assert smallest <= modulus.optimal_error(eps) * (1 + 1e-7), message


@pytest.mark.slow
@on_small_graphs
def test_no_private_mechanism_has_an_error_below_the_bound_on_graphs(distances, values):
    modulus = modulus_on(values, distances)
    for eps in (0.2, 1.0, 2.0):
        smallest = programs.least_risk(values, distances == 1, eps)
        assert modulus.lower_bound(eps) <= smallest * (1 + 1e-7)
        assert smallest <= modulus.optimal_error(eps) * (1 + 1e-7)


def test_the_bound_is_attained_by_one_user_with_two_values():
    modulus = beyond.Modulus([0, 1])
    for eps in (0.1, 1.0, 4.0):
        bound = modulus.lower_bound(eps)
        assert bound == pytest.approx(1 / (1 + exp(eps)))
        values, steps = np.array([0.0, 1.0]), np.array([[False, True], [True, False]])
        assert programs.least_risk(values, steps, eps) == pytest.approx(bound)


# Factors
@on_graphs
def test_no_factor_exceeds_that_of_every_statistic(distances, values):
    modulus = modulus_on(values, distances)
    for eps in np.geomspace(0.05, 6, 40).tolist():
        factor = modulus.optimality_factor(eps)
        assert factor == modulus.optimal_error(eps) / modulus.lower_bound(eps)
        assert 1 - 1e-12 <= factor <= beyond.factor_of_every_statistic(eps) * (1 + 1e-12)


def test_factor_of_every_statistic_is_that_of_a_line_above_the_modulus():
    """The bounds for all n give a line above the majorant; the factor is half of it at 2/eps."""
    for eps in np.linspace(0.05, 2, 40).tolist():
        line = 1 + cosh(eps) + 2 / eps * sinh(eps)
        assert beyond.factor_of_every_statistic(eps) == pytest.approx(line / 2, rel=1e-12)
    for eps in (2.0, 3.0, 7.5):
        one_user = beyond.Modulus([0, 1]).optimality_factor(eps)
        assert beyond.factor_of_every_statistic(eps) == pytest.approx(one_user, rel=1e-12)
    grid = np.concatenate([np.geomspace(1e-9, 0.05, 300), np.linspace(0.05, 8, 2000)])
    factors = np.array([beyond.factor_of_every_statistic(eps) for eps in grid.tolist()])
    assert (np.diff(factors) >= -1e-12).all()
    assert factors[grid <= 1].max() < 2.45
    assert factors[grid <= 2].max() < 4.2
    assert beyond.factor_of_every_statistic(1e-300) == pytest.approx(2)
    assert beyond.factor_of_every_statistic(1e300) == np.inf


def test_a_constant_statistic_has_error_zero_and_factors_have_limits_at_extreme_budgets():
    constant = beyond.Modulus([0.0, 0.0])
    assert constant.optimal_error(1) == constant.lower_bound(1) == constant.smallest_bias(0) == 0
    assert constant.optimality_factor(1) == 1
    assert beyond.Modulus([0, 1]).optimality_factor(1e-9) == pytest.approx(1)
    assert beyond.Modulus([0, 1]).optimality_factor(2000) == np.inf


# The majorant
def chord(values, x):
    """The highest point at x of all chords, and of the last value."""
    last = len(values) - 1
    chords = [
        values[i] if i == j else values[i] + (values[j] - values[i]) * (x - i) / (j - i)
        for i in range(last + 1)
        for j in range(i, last + 1)
        if i <= x <= j
    ]
    return max(chords, default=values[-1])


@given(data=st.data())
def test_the_majorant_is_the_highest_chord(data):
    n = data.draw(st.integers(0, 7))
    increments = st.fractions(0, 1, max_denominator=5) | st.just(Fraction(0))
    increases = [Fraction(0), *data.draw(several(increments, n))]
    values = np.cumsum(increases).tolist()
    modulus, floats = beyond.Modulus(values), beyond.Modulus([float(value) for value in values])
    for x in [*map(Fraction, range(n + 2)), data.draw(st.fractions(0, n + 1))]:
        assert modulus.majorant(x) == chord(values, x)
        assert floats.majorant(x) == pytest.approx(float(chord(values, x)), abs=1e-12)
        assert floats.majorant(float(x)) == floats.majorant(x)
        for eps in [2 / x] if x else []:
            assert modulus.optimal_error(eps) == chord(values, x) / 2
            end = int(np.ceil(float(x)))
            slope = chord(values, Fraction(end)) - chord(values, Fraction(end - 1))
            assert modulus.optimal_sensitivity(eps) == slope
    corners = modulus.vertices
    assert corners[0] == (0, 0)
    assert corners[-1] == (values.index(max(values)), max(values))
    slopes = [(b - a) / (m - k) for (k, a), (m, b) in pairwise(corners)]
    assert all(slope > following for slope, following in pairwise([*slopes, 0]))


CONSTRUCTED = {
    "mean": lambda users: beyond.modulus_of_mean(users),
    "variance": lambda users: beyond.modulus_of_variance(users),
    "weighted": lambda users: beyond.modulus_of_weighted_mean(
        [Fraction(int(m) - 2, 3) for m in users.counts], users.upper
    ),
    "several": lambda users: beyond.modulus_of_several_means(
        np.stack([users.counts, users.counts[::-1]], axis=1), users.upper
    ),
}


@pytest.mark.parametrize("name", CONSTRUCTED)
@given(users=collections())
def test_corners_given_by_formulas_are_those_of_the_search(name, users):
    modulus = CONSTRUCTED[name](users)
    assert modulus.vertices == beyond.Modulus(modulus.values).vertices
    assert modulus.values[0] == 0
    floats = CONSTRUCTED[name](ud.Contributions(users.counts, float(users.upper)))
    assert [n for n, _ in floats.vertices] == [n for n, _ in modulus.vertices]
    np.testing.assert_allclose(floats.values, modulus.values.astype(float), rtol=1e-14)


def test_integers_and_fractions_are_exact_and_floats_are_floats():
    for values in ([0, 4, 6], [0, Fraction(4), 6], np.array([0, 4, 6], np.int8)):
        modulus = beyond.Modulus(values)
        assert modulus.is_exact
        assert modulus.optimal_error("0.8") == 3
        assert type(modulus.majorant(HALF)) is Fraction
        assert type(modulus.majorant(0.5)) is float
    assert not beyond.Modulus([0, 4, 6.0]).is_exact
    assert repr(beyond.Modulus([0, 4, 6.0])) == "Modulus(n_max=2, largest=6.0)"
    values = np.array([0.0, 1.0])
    modulus = beyond.Modulus(values)
    values[1] = 7
    assert modulus(1) == 1
    with pytest.raises(ValueError, match="read-only"):
        modulus.values[1] = 2


def test_no_three_corners_lie_on_one_line():
    modulus = beyond.Modulus([0, 2, 2, 4, 4, 6, 6])
    assert modulus.vertices == [(0, 0), (1, 2), (5, 6)]


def test_a_budget_just_beyond_a_corner_uses_the_next_piece():
    """Just beyond a corner, 2/eps lies on the next piece, although it rounds to the corner."""
    modulus, just_beyond = beyond.Modulus([0, 4, 6]), 1 + Fraction(1, 10**30)
    assert modulus.majorant(just_beyond) == 4 + 2 * (just_beyond - 1)
    assert modulus.optimal_sensitivity(2 / just_beyond) == 2


@pytest.mark.slow
def test_corners_of_a_million_users_give_the_same_error_as_the_search():
    rng = np.random.default_rng(2)
    users = ud.Contributions(rng.integers(1, 100, 10**6), 65)
    for modulus in (beyond.modulus_of_mean(users), beyond.modulus_of_variance(users)):
        search = beyond.Modulus(modulus.values)
        root = beyond.Modulus(np.sqrt(modulus.values))
        for eps in (1e-5, 1e-3, 1):
            assert search.optimal_error(eps) == pytest.approx(modulus.optimal_error(eps), rel=1e-12)
            assert root.optimal_error(eps) > 0
    expected = float(ud.optimal_error(users, 1e-4))
    assert beyond.modulus_of_mean(users).optimal_error(1e-4) == pytest.approx(expected, rel=1e-13)
