"""A public table applied after Laplace noise: the output is as private, the guarantee valid.

- Only the table's value for the output of `userdp.laplace` is published.
- The guarantee is compared with errors computed independently from the law of the noise, at many
  more means. The step of its proof that bounds the curvature of the error is checked with second
  differences.
- No perturbed table has a smaller largest error at the means that the program uses, and no floor
  exceeds the guarantee.
"""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_functions import BOOK, glued
from scipy import stats
from strategies import collections

import userdp as ud
from userdp import beyond
from userdp.beyond.remap import _N_MEANS

EIGHT = ud.Contributions([1] * 8, upper=1.0)
BUDGETS = [0.25, 0.5, 1]
at_each_budget = pytest.mark.parametrize("eps", BUDGETS)


def cell_probabilities(means, table):
    """The probability of each cell, by scipy's law of the noise: one row per mean."""
    cells = np.concatenate([[-np.inf], table.edges, [np.inf]])
    return np.diff(stats.laplace.cdf(cells, loc=np.asarray(means)[:, None], scale=table.scale))


def errors(means, table, values=None):
    values = table.values if values is None else values
    distances = np.abs(values - np.asarray(means)[:, None])
    return np.sum(cell_probabilities(means, table) * distances, axis=1)


@at_each_budget
def test_the_table_is_applied_to_the_output_of_the_laplace_mechanism(eps):
    """So applying it is post-processing. Compare outputs with the same seed."""
    table = beyond.laplace_remap(EIGHT, eps)
    sums = np.random.default_rng(1).random((200, 8))
    noisy = ud.laplace(sums, EIGHT, eps, rng=7)
    cell = np.sum(noisy[:, None] > table.edges, axis=1)
    assert np.array_equal(table.apply(noisy), table.values[cell])


@at_each_budget
def test_no_output_is_more_likely_than_privacy_allows(eps):
    """Neighbours move the mean by 1/8; the log ratio reaches eps, and does not exceed it."""
    table = beyond.laplace_remap(EIGHT, eps)
    starts = np.linspace(0, 7 / 8, 50)
    first, second = cell_probabilities(starts, table), cell_probabilities(starts + 1 / 8, table)
    ratios = np.abs(np.log(first / second))
    assert ratios.max() == pytest.approx(eps, rel=1e-9)


@at_each_budget
def test_the_guarantee_holds_on_a_fine_grid_of_means_and_is_tight(eps):
    table = beyond.laplace_remap(EIGHT, eps)
    means = np.linspace(0, 1, 40_001)
    exact = np.concatenate([errors(part, table) for part in np.array_split(means, 40)])
    assert exact.max() <= table.error <= exact.max() + 1e-6
    some_means = np.array([0, 0.1234, 0.5, 0.77, 1])
    assert table.mean_error(some_means) == pytest.approx(errors(some_means, table), rel=1e-9)


@at_each_budget
def test_the_curvature_of_the_error_is_bounded_as_in_the_proof(eps):
    """So the values on a grid bound the error between the points. Compare second differences."""
    table = beyond.laplace_remap(EIGHT, eps)
    rng = np.random.default_rng(5)
    step = rng.uniform(1e-3, 0.05, 4000)
    middle = rng.uniform(step, 1 - step)
    left_error, middle_error, right_error = (errors(middle + k * step, table) for k in (-1, 0, 1))
    curvature = (left_error - 2 * middle_error + right_error) / step**2
    assert curvature.min() >= -(2 + 1 / table.scale) / table.scale


@at_each_budget
def test_the_computed_mean_error_agrees_with_simulation(eps):
    table = beyond.laplace_remap(EIGHT, eps)
    sums = np.tile([1.0] * 5 + [0.0] * 3, (200_000, 1))
    distances = np.abs(table.apply(ud.laplace(sums, EIGHT, eps, rng=11)) - 5 / 8)
    standard_error = distances.std() / math.sqrt(distances.size)
    assert distances.mean() == pytest.approx(float(table.mean_error(5 / 8)), abs=5 * standard_error)


@at_each_budget
def test_no_perturbed_table_has_a_smaller_largest_error(eps):
    """The largest error over the means of the program is convex in the values of the table."""
    table = beyond.laplace_remap(EIGHT, eps)
    means = np.linspace(0, 1, _N_MEANS)
    smallest = errors(means, table).max()
    rng = np.random.default_rng(3)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(50):
            other = table.values + size * rng.standard_normal(table.values.size)
            assert errors(means, table, other).max() >= smallest - 1e-8
    for other in (np.clip(table.values, 0.2, 0.8), np.full(table.values.size, 0.5)):
        assert errors(means, table, other).max() >= smallest - 1e-8


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(collections(max_samples=8), st.floats(0.05, 3))
def test_no_floor_is_above_the_guarantee_which_scales_with_the_bound(users, eps):
    table = beyond.laplace_remap(users, eps)
    assert table.error >= beyond.minimax_lower_bound(users, eps) * (1 - 1e-9)
    assert table.error <= float(users.upper) / 2 * (1 + 1e-6)
    unit = beyond.laplace_remap(ud.Contributions(users.counts, 1.0), eps)
    assert table.error == pytest.approx(float(users.upper) * unit.error, rel=1e-6)
    pair_sums = table.values + table.values[::-1]
    assert pair_sums == pytest.approx(np.full(pair_sums.size, float(users.upper)), rel=1e-9)


@pytest.mark.slow
def test_the_error_for_equal_users_depends_only_on_their_number_times_eps():
    single = beyond.laplace_remap(ud.Contributions([3], 1.0), 2)
    for n in (2, 8, 40):
        equal = beyond.laplace_remap(ud.Contributions([5] * n, 1.0), Fraction(2, n))
        assert equal.error == pytest.approx(single.error, rel=1e-6)


def test_the_page_states_these_errors_and_they_are_near_the_floor():
    """They are also below the guarantees of clipping and projecting, by over 10 % at eps = 1/4."""
    stored = glued("lower-bound")
    floors = pd.read_csv(BOOK / "data" / "floors.csv")
    rows = floors[floors.collection == "eight-equal"].set_index("eps")
    gaps = {}
    for eps, stated in zip(BUDGETS, (0.2567, 0.1750, 0.1067), strict=True):
        error = beyond.laplace_remap(EIGHT, eps).error
        assert stated - 1e-4 < error <= stated
        released = min(rows.Laplace[eps], rows["Laplace, split"][eps])
        gaps[eps] = error / rows.certified[eps] - 1
        assert error < released
    assert 0.004 < gaps[0.25] < 0.0052 < gaps[0.5] < 0.02 < gaps[1] < 0.053
    for name, eps in {"small": 0.25, "large": 1}.items():
        stated = float(stored[f"eight-gap-{name}"].removesuffix(" %")) / 100
        assert gaps[eps] - 1e-6 <= stated < gaps[eps] + 0.0011
    assert beyond.laplace_remap(EIGHT, 0.25).error < 0.9 * rows.Laplace[0.25]


@pytest.mark.parametrize("n_eps", [0.5, 1, 2, 3, 4, 8], ids="n eps {}".format)
def test_the_limit_of_small_budgets_is_bracketed(n_eps):
    """thm-small-budgets: between floors of 48 users and the table, within the closed forms."""
    text = (BOOK / "data" / "floors" / "small-budgets.jsonl").read_text("utf-8")
    proofs = map(beyond.FloorCertificate.from_json, text.splitlines())
    (proof,) = (p for p in proofs if p.eps * p.users.n_users == n_eps)
    assert proof.users.counts.tolist() == [1] * 48
    assert proof.upper == 1
    low = n_eps * float(proof.check())
    high = n_eps * beyond.laplace_remap(ud.Contributions([1], 1.0), n_eps).error
    assert n_eps / (2 + n_eps) < low < high < min(n_eps / 2, 1)
    assert high < 1.004 * low
    if n_eps == 2:
        assert 1.947 < 1 / high < 1 / low < 1.949
