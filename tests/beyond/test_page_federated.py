"""The page on federated averaging: its rules, their guarantees and budgets, and their order."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of

import userdp as ud
from tools.ext.contents import page
from userdp import beyond

PAGE = functions_of("federated", rounds=20)
LAW = beyond.GaussianNoise(1.5)


def on_the_sphere(rng, L, d, R):
    z = rng.normal(size=(L, d))
    return R * z / np.linalg.norm(z, axis=1, keepdims=True)


@given(st.integers(0, 10**6))
def test_one_client_moves_each_rule_by_at_most_its_sensitivity(seed):
    """The client of the largest weight w attains it, or, if that is less, 2 R w / sum(weights)."""
    rng = np.random.default_rng(seed)
    L, d, R, k = 12, int(rng.integers(1, 4)), rng.uniform(0.5, 9), int(rng.integers(1, 6))
    m = rng.integers(1, 9, size=L)
    for name, rule in PAGE.make_rules(m, R, LAW, d, [k]).items():
        weights, bound = rule
        sensitivity = 2 * bound / weights.sum()
        first, second = (on_the_sphere(rng, L, d, R * rng.uniform(0.1, 3)) for _ in range(2))
        for client in range(L):
            neighbour = np.where(np.arange(L)[:, None] == client, second, first)
            change = PAGE.average(neighbour, R, *rule) - PAGE.average(first, R, *rule)
            assert np.linalg.norm(change) <= sensitivity * (1 + 1e-9), name
        ends = on_the_sphere(rng, L, d, R)
        neighbour = np.where(np.arange(L)[:, None] == weights.argmax(), -ends, ends)
        change = PAGE.average(neighbour, R, *rule) - PAGE.average(ends, R, *rule)
        assert np.linalg.norm(change) == pytest.approx(
            min(sensitivity, 2 * R * weights.max() / weights.sum())
        )


@given(st.integers(0, 10**6))
def test_the_rule_with_the_papers_threshold_is_the_mean_in_the_ball(seed):
    """Compared with a release that draws the same noise."""
    rng = np.random.default_rng(seed)
    m, R, d = rng.integers(1, 9, size=9), rng.uniform(0.5, 9), 3
    updates = rng.normal(size=(9, d)) * R
    users = ud.Contributions(m, upper=2 * R)
    rule = PAGE.make_rules(m, R, LAW, d, [])["paper's threshold"]
    assert 2 * rule[1] == beyond.ball_threshold(users, LAW, d)
    noise = LAW.draw(2 * rule[1] / m.sum(), (d,), np.random.default_rng(1))
    sums = m[:, None] * beyond.clip_to_ball(updates, R)
    release = beyond.mean_in_ball(sums, users, LAW, rng=np.random.default_rng(1))
    np.testing.assert_allclose(PAGE.average(updates, R, *rule) + noise, release, atol=1e-9)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 6))
def test_bias_of_weights_is_largest_at_corners_and_twice_that_of_a_threshold(m, k):
    """In one dimension, exactly; in three, the bias on a random dataset is at most that."""
    k, N, R = min(k, max(m)), sum(m), Fraction(7, 2)
    w = [min(n, k) for n in m]
    T = 2 * R * k * Fraction(N, sum(w))
    differences = [Fraction(n, N) - Fraction(a, sum(w)) for n, a in zip(m, w, strict=True)]
    worst = max(abs(np.dot(differences, u)) for u in product([-R, R], repeat=len(m)))
    assert worst == R * sum(map(abs, differences))
    users = ud.Contributions(m, upper=2 * R)
    assert worst == 2 * beyond.modulus_of_mean(users).smallest_bias(T / N)
    assert 2 * R * max(w) / sum(w) == T / N <= 2 * R * Fraction(max(m), N)
    rules = PAGE.make_rules(np.array(m), float(R), LAW, 3, [k])
    assert rules[f"threshold, {k}"][1] == pytest.approx(float(T) / 2)
    rng = np.random.default_rng(k)
    u = on_the_sphere(rng, len(m), 3, float(R)) * rng.uniform(size=(len(m), 1))
    bias = np.array(m) @ u / N - PAGE.average(u, float(R), np.array(w), float(R) * k)
    assert np.linalg.norm(bias) <= float(worst) + 1e-12


def guarantees(m, R, w):
    """The optimal threshold, and the smallest guarantees of thresholds and of weights min(m, k).

    The noise has mean length w.
    """
    users, N = ud.Contributions(m, upper=2 * R), sum(m)
    thresholds = [2 * R * n for n in {0, *m}]
    errors = [w * S / N + beyond.modulus_of_mean(users).smallest_bias(S / N) for S in thresholds]
    T = max(S for S, error in zip(thresholds, errors, strict=True) if error <= min(errors))
    weighted = []
    for k in range(1, max(m) + 1):
        T_k = 2 * R * k * Fraction(N, sum(min(n, k) for n in m))
        weighted.append(w * T_k / N + 2 * beyond.modulus_of_mean(users).smallest_bias(T_k / N))
    return T, min(errors), min(weighted)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=9), st.fractions(0, 6))
def test_the_best_weights_cost_at_most_twice_the_best_threshold_if_it_is_large_enough(m, w):
    """Large enough is at least 2 R N / L, the average of the largest sums."""
    R = Fraction(1, 2)
    T, threshold, weights = guarantees(m, R, w)
    assert threshold <= weights
    assert weights <= 2 * threshold or 2 * R * Fraction(sum(m), len(m)) > T


def test_if_the_best_threshold_is_zero_weights_can_cost_more_than_ten_times_as_much():
    T, threshold, weights = guarantees([3, 2, 1], Fraction(1, 2), Fraction(50))
    assert T == 0
    assert weights > 10 * threshold


def test_budgets_of_rounds_add_up_even_if_the_second_depends_on_the_first():
    """On a grid; noise and shift of the second round depend on the first output."""
    y = np.linspace(-14, 14, 1401)
    first, second, sigma = 0.4, 0.25, 1 + 0.5 * np.tanh(y)[:, None]

    def log_density(x, shift):
        distance = (y[:, None] - x) ** 2 + ((y - shift) / sigma) ** 2
        return -distance / 2 - np.log(2 * np.pi * sigma)

    for reach, tight in ((1, True), (np.cos(y)[:, None], False)):
        shift = np.sqrt(2 * second) * sigma * reach  # never more than second-zCDP allows
        p, q = log_density(0, 0), log_density(np.sqrt(2 * first), shift)
        for a in (1.3, 2, 4):
            mass = np.exp(a * p + (1 - a) * q).sum() * (y[1] - y[0]) ** 2
            spent = np.log(mass) / (a - 1) / a
            assert spent <= first + second + 1e-6
            assert not tight or spent == pytest.approx(first + second, rel=1e-4)


@pytest.fixture(scope="module")
def rerun_page():
    """The variables of the page, run with other splits and other noise."""
    scope = {}
    for cell in page("federated").cells:
        if cell.id == "sweep":  # leave out the whole comparison
            break
        if cell.cell_type == "code":
            exec(cell.source.replace("20250240, 10,", "5, 4,"), scope)
    assert scope["seed"] == 5
    return scope


def test_clients_take_five_gradient_steps_on_their_own_flights(rerun_page):
    x, y, m, first = (rerun_page[name] for name in ("x", "y", "m", "first"))
    busiest, theta = m.argmax(), np.linspace(-9, 9, x.shape[1])
    for client in (3, busiest):
        flights = slice(first[client], first[client] + m[client])
        target = y[flights] + 7 * (client == busiest)
        xy, yy = rerun_page["labels"](7)
        parameters = theta.copy()
        for _ in range(5):
            parameters -= 0.2 * x[flights].T @ (x[flights] @ parameters - target) / m[client]
        moves, reaches = rerun_page["moves"][client], rerun_page["reaches"][client]
        update = moves @ theta + reaches @ xy[client]
        np.testing.assert_allclose(update, parameters - theta)
        error = rerun_page["off"](theta, np.arange(len(m)) == client, xy, yy)
        assert error == pytest.approx(np.mean((x[flights] @ theta - target) ** 2) ** 0.5)


def test_every_round_has_noise_for_its_sensitivity_and_all_rounds_spend_the_budget(
    rerun_page, monkeypatch
):
    calls, draw = [], beyond.GaussianNoise.draw

    def recorded_draw(self, sensitivity, shape, rng):
        calls.append((self.sigma, sensitivity))
        return draw(self, sensitivity, shape, rng)

    monkeypatch.setattr(beyond.GaussianNoise, "draw", recorded_draw)
    rerun_page["compare"](5, 0.3, 0, (50,))
    law, expected = beyond.GaussianNoise.zcdp(0.3 / 20), []
    for test in rerun_page["held_out"]:
        rules = rerun_page["make_rules"](
            rerun_page["m"][~test], 5, law, rerun_page["d"], (50,)
        ).values()
        for weights, reach in rules:
            expected += [(law.sigma, 2 * reach / weights.sum())] * 20
    assert calls == expected


def test_the_order_of_the_rules_holds_on_other_splits(rerun_page):
    """The excess error of each rule, in the settings for which the page states an order."""

    def excess(*setting):
        return pd.DataFrame(rerun_page["compare"](*setting, (100,))).groupby(4)[6].mean()

    ours, small_budget, large_budget = "paper's threshold", excess(10, 0.001, 0), excess(5, 1, 0)
    assert small_budget["plain average"] < small_budget[ours] < 0.25 * small_budget["no clipping"]
    assert (
        max(large_budget[ours], large_budget["no clipping"]) < 0.8 * large_budget["plain average"]
    )
    for shift in (-20, 20):
        shifted = excess(10, 0.01, shift)
        assert shifted[ours] < shifted["threshold, 100"] < shifted["weights, 100"]
        assert shifted["weights, 100"] < shifted["plain average"]
        assert shifted["plain average"] > shifted[ours] + 0.5
