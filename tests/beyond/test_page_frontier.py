"""Any statistic, any estimator, and common strategies other than clipping."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import modulus_at
from strategies import LAWS, budgets, collections, shares

from userdp import beyond


@given(users=collections(max_samples=5), k=st.integers(1, 4), share=shares, lift=shares)
def test_bias_and_sensitivity_of_strategies_agree_with_their_definitions(users, k, share, lift):
    """Over all datasets with every sample at 0, U/3 or U."""
    U, m, N, max_count = users.upper, users.counts.tolist(), Fraction(users.total), users.max_count
    T, a, b = share * U * max_count, lift * (1 - share) * U, (lift * (1 - share) + share) * U
    n_kept = Fraction(sum(min(count, k) for count in m))
    bias = beyond.modulus_of_mean(users).smallest_bias(T / N)
    all_samples = lambda data: [x for user in data for x in user]  # noqa: E731
    mean = lambda data: sum(all_samples(data)) / N  # noqa: E731
    strategies = {
        "drop": lambda data: sum(all_samples([x[:k] for x in data])) / n_kept,
        "cap": lambda data: sum(min(sum(x), T) for x in data) / N,
        "cap and a constant": lambda data: strategies["cap"](data) + bias,
        "winsorise": lambda data: sum(min(max(x, a), b) for x in all_samples(data)) / N,
        "shrink": lambda data: U / 2 + share * (mean(data) - U / 2),
    }
    points = {
        "drop": (U * (N - n_kept) / N, U * min(max_count, k) / n_kept),
        "cap": (sum(max(U * count - T, 0) for count in m) / N, T / N),
        "cap and a constant": (bias, T / N),
        "winsorise": (max(a, U - b), (b - a) * max_count / N),
        "shrink": ((1 - share) * U / 2, share * U * max_count / N),
    }
    datasets = [*product(*[product((0, U / 3, U), repeat=count) for count in m])]
    for name, strategy in strategies.items():
        values = {data: strategy(data) for data in datasets}
        assert bias_and_sensitivity(values, mean) == points[name]
        assert points[name][0] >= beyond.modulus_of_mean(users).smallest_bias(points[name][1])
    assert points["cap"][0] == 2 * bias
    assert points["drop"][0] == 2 * beyond.modulus_of_mean(users).smallest_bias(U * k / N)


few_users = collections().filter(lambda users: users.n_users <= 4)


def bias_and_sensitivity(values, mean):
    """Worst-case bias and sensitivity of a function, given as a table of datasets and values.

    A dataset is a tuple with one entry per user; the keys are all datasets of a grid.
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
    """Functions of the corner datasets: a clipped mean plus random perturbations."""
    S = draw(shares) * users.upper * users.max_count
    size = draw(st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1)])) * users.upper
    largest_sums = users.upper * users.counts
    values = {}
    for data in product((0, 1), repeat=users.n_users):
        centred = largest_sums * (np.array(data) - middle)
        clipped = middle * largest_sums + centred.clip(-S / 2, S / 2)
        values[data] = clipped.sum() / users.total + draw(st.integers(-2, 2)) * size
    return values


def corner_mean(users):
    return lambda data: users.upper * int(users.counts @ data) / users.total


@given(users=few_users, data=st.data())
def test_no_function_of_the_corner_datasets_is_below_the_frontier(users, data):
    values = data.draw(estimators(users, middle=Fraction(1, 2)))
    bias, change = bias_and_sensitivity(values, corner_mean(users))
    assert bias >= beyond.modulus_of_mean(users).smallest_bias(change)
    eps = data.draw(budgets())
    laws = {"laplace": beyond.LaplaceNoise(eps), "staircase": beyond.StaircaseNoise(eps)}
    for noise, objective in product(laws, ("bound", "l1", "mse")):
        best = beyond.optimal_error(users, LAWS[noise](eps), objective)
        assert best <= laws[noise].worst_case(bias, change, objective) * (1 + 1e-9)


@given(users=few_users, data=st.data(), at_top=st.booleans())
def test_an_estimator_exact_at_zero_or_at_the_top_has_at_least_twice_the_smallest_bias(
    users, data, at_top
):
    values, mean = data.draw(estimators(users, middle=int(at_top))), corner_mean(users)
    end = (int(at_top),) * users.n_users
    values[end] = mean(end)
    bias, change = bias_and_sensitivity(values, mean)
    assert bias >= 2 * beyond.modulus_of_mean(users).smallest_bias(change)


@pytest.mark.parametrize("counts", [[2], [1, 1], [2, 1], [3, 1], [2, 2, 1], [1, 1, 1]])
def test_one_user_can_move_a_quantile_or_the_range_over_the_whole_interval(counts):
    """Over all datasets with samples 0, 1, 2. So a constant is optimal for eps up to 2."""
    kinds = [[*product((0, 1, 2), repeat=count)] for count in counts]
    shape = [len(kind) for kind in kinds]
    samples = [sorted(sum(data, ())) for data in product(*kinds)]
    ordered = {f"sample {r}": [x[r] for x in samples] for r in range(sum(counts))}
    for values in (ordered | {"range": [x[-1] - x[0] for x in samples]}).values():
        table = np.array(values).reshape(shape)
        omega = [Fraction(int(modulus_at(table, n))) for n in range(len(counts) + 1)]
        assert omega == [0] + [2] * len(counts)
        modulus = beyond.Modulus(omega)
        for eps in (Fraction(1, 3), Fraction(2), Fraction(7, 2)):
            assert modulus.optimal_error(eps) == 2 * min(Fraction(1, 2), 1 / eps)
