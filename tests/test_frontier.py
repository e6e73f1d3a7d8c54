"""No estimator does better than symmetric clipping: every one on small grids, and a solver."""

from fractions import Fraction
from itertools import product

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from strategies import budgets, clippings, collections

import userdp as ud

shares = st.fractions(0, 1, max_denominator=12)
few_users = collections().filter(lambda users: users.n_users <= 4)


def largest_sensitivity(users):
    return users.upper * users.max_count / users.total


def in_the_plane(values, mean):
    """Worst-case bias and sensitivity of a function, given as a table over whole datasets.

    A dataset is a tuple with one entry a user; all datasets of a grid are keys of the table.
    """
    bias = max(abs(mean(data) - value) for data, value in values.items())
    change = 0
    for user in range(len(next(iter(values)))):
        others = {}
        for data, value in values.items():
            others.setdefault(data[:user] + data[user + 1 :], []).append(value)
        change = max(change, *(max(v) - min(v) for v in others.values()))
    return bias, change


@st.composite
def estimators(draw, users, middle):
    """Any function of the corner datasets: a clipped mean, and something of any size on top."""
    S = draw(shares) * users.upper * users.max_count
    size = draw(st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1)])) * users.upper
    values = {}
    for data in product((0, 1), repeat=users.n_users):
        sums = [users.upper * int(m) * x for m, x in zip(users.counts, data, strict=True)]
        centres = [middle * users.upper * int(m) for m in users.counts]
        kept = [c + min(max(s - c, -S / 2), S / 2) for s, c in zip(sums, centres, strict=True)]
        values[data] = sum(kept) / users.total + draw(st.integers(-2, 2)) * size
    return values


def corner_mean(users):
    def mean(data):
        pairs = zip(users.counts.tolist(), data, strict=True)
        return users.upper * sum(m * x for m, x in pairs) / users.total

    return mean


@given(users=few_users, data=st.data())
def test_no_function_of_the_corner_datasets_passes_the_frontier(users, data):
    values = data.draw(estimators(users, middle=Fraction(1, 2)))
    bias, change = in_the_plane(values, corner_mean(users))
    assert bias >= ud.smallest_bias(users, change)


@given(users=few_users, data=st.data(), at_top=st.booleans())
def test_being_right_at_zero_or_at_the_top_costs_twice(users, data, at_top):
    values, mean = data.draw(estimators(users, middle=int(at_top))), corner_mean(users)
    end = (int(at_top),) * users.n_users
    values[end] = mean(end)
    bias, change = in_the_plane(values, mean)
    assert bias >= 2 * ud.smallest_bias(users, change)


@given(users=collections(max_samples=5), share=st.fractions(0, Fraction(5, 4)))
def test_symmetric_clipping_attains_the_frontier_by_definition(users, share):
    delta = share * largest_sensitivity(users)
    arguments = users.counts.tolist(), users.upper, ud.centred_clipping(users, users.total * delta)
    assert oracle.largest_bias(*arguments) == ud.smallest_bias(users, delta)
    assert oracle.largest_change(*arguments) == min(delta, largest_sensitivity(users))


@given(users=collections(), data=st.data())
def test_frontier_is_convex_between_the_constant_and_the_mean(users, data):
    first, second, weight = (data.draw(shares) for _ in range(3))
    beta = lambda x: ud.smallest_bias(users, x * largest_sensitivity(users))  # noqa: E731
    between = weight * first + (1 - weight) * second
    assert beta(between) <= weight * beta(first) + (1 - weight) * beta(second)
    assert (beta(0), beta(1)) == (users.upper / 2, 0)
    assert beta(between) > 0 or between == 1
    equal = len(set(users.counts.tolist())) == 1
    assert equal == (beta(Fraction(1, 2)) == users.upper / 4)  # on the chord


@pytest.mark.parametrize("counts", [[1], [2, 1], [3, 2, 1], [4, 1, 1], [1, 1, 1, 1]])
def test_linear_program_over_all_estimators(counts):
    users = ud.Contributions(counts, 1)
    grids = [np.unique([0.0, m / 3, m]) for m in counts]
    sums = np.array(list(product(*grids)))
    f, n = sums.sum(axis=1) / users.total, len(sums)
    pairs = [(i, j) for i in range(n) for j in range(n) if (sums[i] != sums[j]).sum() == 1]
    matrix = np.zeros((len(pairs) + 2 * n, n + 1))
    for row, (i, j) in enumerate(pairs):
        matrix[row, i], matrix[row, j] = 1, -1
    matrix[len(pairs) : -n, :n], matrix[-n:, :n] = np.eye(n), -np.eye(n)
    matrix[len(pairs) :, n] = -1
    for delta in np.linspace(0, 1.2 * users.max_count / users.total, 7):
        limits = np.concatenate([np.full(len(pairs), delta), f, -f])
        solution = linprog(np.eye(n + 1)[n], matrix, limits, bounds=(None, None))
        assert solution.success
        assert solution.fun == pytest.approx(ud.smallest_bias(users, delta), abs=1e-8)


LAWS = {"laplace": ud.LaplaceNoise, "staircase": ud.StaircaseNoise}
ERRORS = list(product(LAWS, ("bound", "l1", "mse")))


@settings(max_examples=25)
@given(users=collections(max_samples=12), data=st.data())
def test_symmetric_clipping_is_best_in_every_error(users, data):
    eps, rival = data.draw(budgets()), data.draw(clippings(users, per_sample=True))
    bias, change = ud.worst_case_bias(users, rival), ud.sensitivity(users, rival)
    S = min(users.total * change, users.upper * users.max_count)
    ours = ud.centred_clipping(users, S)
    for noise, objective in ERRORS:
        error = ud.worst_case_error(users, ours, eps, objective, noise)
        assert error <= LAWS[noise](eps).worst_case(bias, change, objective) * (1 + 1e-12)
        best = ud.optimal_error(users, eps, objective, noise)
        assert best <= error * (1 + 1e-9)


@pytest.mark.parametrize("counts", [[3], [4, 1], [5, 3, 3, 1], [6, 5, 4, 3, 2, 1]])
@pytest.mark.parametrize(("noise", "objective"), ERRORS)
def test_smallest_error_is_the_smallest_on_the_frontier(noise, objective, counts):
    """Scanned finely: below no point of the frontier, and at one of them."""
    users = ud.Contributions(counts, 1)
    deltas = np.linspace(0, users.max_count / users.total, 401)
    points = [(ud.smallest_bias(users, delta), delta) for delta in deltas]
    for eps in (0.2, 0.7, 1.5, 3):
        law, best = LAWS[noise](eps), ud.optimal_error(users, eps, objective, noise)
        smallest = min(law.worst_case(*point, objective) for point in points)
        assert best <= smallest * (1 + 1e-12)
        assert best == pytest.approx(smallest, rel=2e-3)


@pytest.mark.parametrize(("noise", "objective"), ERRORS)
def test_optimal_clipping_attains_the_smallest_error_of_its_law(noise, objective):
    users, eps = ud.Contributions([4, 2, 1], 65), 1.8  # the two laws differ in their rank
    clipping = ud.optimal_clipping(users, eps, objective, noise)
    error = ud.worst_case_error(users, clipping, eps, objective, noise)
    assert error == pytest.approx(ud.optimal_error(users, eps, objective, noise), rel=1e-12)


@pytest.mark.parametrize("law", LAWS.values())
@pytest.mark.parametrize("eps", [0.3, 1, 4])
def test_mean_error_grows_with_bias_and_with_sensitivity(law, eps):
    sizes = np.linspace(0, 5, 41)
    errors = np.array([law(eps).mean_error(sizes, change) for change in sizes])
    assert (np.diff(errors, axis=0) >= -1e-12).all()
    assert (np.diff(errors, axis=1) >= -1e-12).all()


@given(users=collections(), data=st.data())
def test_the_line_of_slope_one_over_eps_touches_at_the_threshold(users, data):
    eps = data.draw(budgets(users.n_users))
    touch, height = ud.threshold(users, eps) / users.total, ud.optimal_error(users, eps)
    assert ud.smallest_bias(users, touch) + touch / eps == height
    delta = data.draw(shares) * largest_sensitivity(users)
    assert ud.smallest_bias(users, delta) + delta / eps >= height


@given(users=collections(max_samples=5), k=st.integers(1, 4), data=st.data())
def test_strategies_by_definition(users, k, data):
    """Whole datasets, with every sample at 0, U/3 or U."""
    U, m, N = users.upper, users.counts.tolist(), users.total
    share, lift = data.draw(shares), data.draw(shares)
    T, a, b = share * U * max(m), lift * (1 - share) * U, (lift * (1 - share) + share) * U
    kept = sum(min(count, k) for count in m)
    samples = [list(product((0, U / 3, U), repeat=count)) for count in m]
    everything = lambda data: [x for user in data for x in user]  # noqa: E731
    mean = lambda data: sum(everything(data)) / Fraction(N)  # noqa: E731
    capped_bias = sum(max(U * count - T, 0) for count in m) / N
    strategies = [
        (
            lambda data: sum(everything([x[:k] for x in data])) / Fraction(kept),
            (U * (N - kept) / N, U * min(max(m), k) / Fraction(kept)),
        ),
        (lambda data: sum(min(sum(x), T) for x in data) / Fraction(N), (capped_bias, T / N)),
        (
            lambda data: sum(min(max(x, a), b) for x in everything(data)) / Fraction(N),
            (max(a, U - b), (b - a) * max(m) / N),
        ),
        (
            lambda data: U / 2 + share * (mean(data) - U / 2),
            ((1 - share) * U / 2, share * U * max(m) / N),
        ),
    ]
    for strategy, point in strategies:
        values = {whole: strategy(whole) for whole in product(*samples)}
        assert in_the_plane(values, mean) == point
        assert point[0] >= ud.smallest_bias(users, point[1])
    assert capped_bias == 2 * ud.smallest_bias(users, T / N)
    dropped_bias = strategies[0][1][0]
    assert dropped_bias == 2 * ud.smallest_bias(users, U * k / N)
