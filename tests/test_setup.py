"""What the chapters on the problem and on AKMV state beyond the paper, checked on its own."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from strategies import budgets, collections

import userdp as ud


@given(st.floats(-3, 3), st.floats(0.1, 5), st.floats(0.1, 3))
def test_laplace_log_ratio_is_at_most_eps_and_attained(first, distance, eps):
    scale = distance / eps
    y = np.concatenate([[first - 1, first + distance + 1], first + np.linspace(-9, 9, 101)])
    laws = stats.laplace(first, scale), stats.laplace(first + distance, scale)
    ratio = laws[0].logpdf(y) - laws[1].logpdf(y)
    assert np.max(np.abs(ratio)) == pytest.approx(eps)
    assert np.max(np.abs(ratio)) <= eps * (1 + 1e-9)


@given(st.floats(0, 5), st.floats(0.05, 5))
def test_l1_error_formula_by_quadrature(bias, scale):
    law = stats.laplace(bias, scale)
    pieces = sorted({0.0, bias})
    ends = [-np.inf, *pieces, np.inf]
    expected = sum(
        integrate.quad(lambda y: abs(y) * law.pdf(y), low, high)[0]
        for low, high in itertools.pairwise(ends)
    )
    assert bias + scale * np.exp(-bias / scale) == pytest.approx(expected, rel=1e-6)


@given(st.floats(0, 100), st.floats(0.01, 100))
def test_error_measure_overstates_by_at_most_rho(bias, scale):
    r = optimize.brentq(lambda x: np.exp(x) - x - 2, 0.5, 2)
    rho = (r + 2) / (r + 1)
    error = bias + scale * np.exp(-bias / scale)
    assert error <= bias + scale <= rho * error * (1 + 1e-12)
    assert r * scale + scale == pytest.approx(rho * (r * scale + scale * np.exp(-r)))


@given(users=collections(), eps=budgets())
def test_only_users_above_the_threshold_are_clipped(users, eps):
    clipping, T = ud.optimal_clipping(users, eps), ud.threshold(users, eps)
    clipped = (clipping.lower > 0) | (clipping.upper < users.upper)
    np.testing.assert_array_equal(clipped, users.largest_sums > T)


@pytest.mark.parametrize("eps", [0.1, 0.5, 1, 2, 5])
def test_joint_density_of_akmv_stays_within_the_budget(eps):
    """At each t: log ratio of the law of T, plus |difference of means| over the noise scale."""
    rng, largest = np.random.default_rng(3), 0.0
    for _ in range(300):
        users = ud.Contributions(rng.integers(1, 6, size=rng.integers(1, 7)), 1)
        first = rng.choice([0, 1e-6, rng.random(), 1], users.n_users) * users.largest_sums
        second, user = first.copy(), rng.integers(users.n_users)
        second[user] = rng.choice([0, 1, rng.random()]) * users.largest_sums[user]
        edges = np.unique(np.concatenate([[0, users.max_count], first, second]))
        t = (edges[1:] + edges[:-1]) / 2
        one, other = (
            ud.quantile_log_density(t, sums, users, ud.rank(eps), eps / 2)
            for sums in (first, second)
        )
        capped = [np.minimum(sums, t[:, None]).sum(axis=1) for sums in (first, second)]
        spent = np.abs(one - other) + np.abs(capped[0] - capped[1]) * eps / (2 * t)
        largest = max(largest, spent.max())
    assert 0.5 * eps <= largest <= eps * (1 + 1e-9)


@pytest.mark.parametrize("eps", [0.1, 0.5, 1, 2, 4])
def test_laplace_noise_is_nearly_the_best_for_small_eps(eps):
    """The staircase with the best step: its mean size from its density, and that it is private."""
    step, n = 1 / (1 + np.exp(eps / 2)), np.arange(2000)
    height = np.exp(-n * eps)
    # Two stairs for each n: [n, n + step) of this height, [n + step, n + 1) of e^-eps times it.
    mass = height * step, height * np.exp(-eps) * (1 - step)
    middle = n + step / 2, n + (1 + step) / 2
    mean = sum(np.sum(m * t) for m, t in zip(mass, middle, strict=True)) / sum(map(np.sum, mass))
    assert mean == pytest.approx(1 / (2 * np.sinh(eps / 2)))
    assert 1 - eps**2 / 24 <= mean * eps <= 1
    # One further along the axis the height is e^-eps times as large, and never less nearer by.
    assert height[1] / height[0] == pytest.approx(np.exp(-eps))
