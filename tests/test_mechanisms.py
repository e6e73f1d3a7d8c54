"""The mechanisms: the value that each releases before noise, and the scale of its noise.

- `laplace`: the mean (1), with noise for the sensitivity U m*/N of (14).
- `opt_worst_case`: averages projected to the intervals of Theorem III.1, noise for (6).
- `akmv`: sums capped at a threshold T drawn with half of the budget, noise of scale 2T/eps over N
  (Section IV-A; (13) and (15)).
- `weighted_mean`: weighted averages, noise for the largest weight; its guarantee is the largest
  error at a corner.
- `opt_variance` and `opt_several_means` have their own tests, in beyond/.
- Leading axes are datasets, seeds fix the output, and arguments are not modified.

A `Recorder` in place of the Generator returns each release as value and scale. test_privacy.py
tests that each mechanism spends exactly its budget.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BUDGETS, LAWS, MEAN_ERRORS, SUMS, USERS, budgets, collections

import userdp as ud
from userdp import beyond
from userdp.audit import Recorder


@pytest.mark.parametrize("eps", BUDGETS)
def test_laplace_is_the_mean_with_noise_for_its_sensitivity(eps):
    release = ud.laplace(SUMS, USERS, eps, rng=Recorder())
    assert float(release.value) == pytest.approx(SUMS.sum() / 14, rel=1e-15)
    assert float(release.scale) == pytest.approx(ud.sensitivity(USERS) / eps, rel=1e-15)


def test_laplace_does_not_round_small_noise_away():
    """A sum of 0 stays 0, so that even tiny noise is not lost in rounding."""
    tiny = Recorder(laplace=[1e-20])
    assert ud.laplace(0 * SUMS, USERS, 1, rng=tiny) == 1e-20 / USERS.total


@pytest.mark.parametrize("eps", BUDGETS)
def test_opt_worst_case_projects_averages_to_the_intervals_of_the_theorem(eps):
    clipping = ud.optimal_clipping(USERS, eps)
    averages = np.clip(SUMS / USERS.counts, clipping.lower, clipping.upper)
    release = ud.opt_worst_case(SUMS, USERS, eps, rng=Recorder())
    assert float(release.value) == pytest.approx(USERS.counts @ averages / 14, rel=1e-14)
    scale = ud.sensitivity(USERS, clipping) / eps
    assert float(release.scale) == pytest.approx(scale, rel=1e-14)


@pytest.mark.parametrize("eps", BUDGETS)
def test_akmv_caps_sums_at_a_quantile_drawn_with_half_of_the_budget(eps):
    draws = {"random": [0.6, 0.3]}
    k = int(np.ceil(2 / eps))
    T = ud.private_quantile(SUMS, USERS, k, eps / 2, rng=Recorder(**draws))
    release = ud.akmv(SUMS, USERS, eps, rng=Recorder(**draws))
    assert float(release.value) == pytest.approx(np.minimum(SUMS, T).sum() / 14, rel=1e-15)
    assert float(release.scale) == pytest.approx(2 * T / eps / 14, rel=1e-15)


@pytest.mark.parametrize("eps", BUDGETS)
def test_weighted_mean_has_noise_for_its_largest_weight(eps):
    weights, sensitivity = [3, 0, 1, 1, 0.5, 1], 10 * 3 / 6.5
    release = beyond.weighted_mean(SUMS, USERS, weights, eps, rng=Recorder())
    expected = np.average(SUMS / USERS.counts, weights=weights)
    assert float(release.value) == pytest.approx(expected, rel=1e-14)
    assert float(release.scale) == pytest.approx(sensitivity / eps, rel=1e-14)
    for noise, law in (("laplace", beyond.LaplaceNoise), ("staircase", beyond.StaircaseNoise)):
        error = beyond.weighted_mean_error(SUMS, USERS, weights, LAWS[noise](eps))
        assert error == pytest.approx(law(eps).mean_error(expected - SUMS.sum() / 14, sensitivity))
    by_counts = beyond.weighted_mean_error(SUMS, USERS, USERS.counts, eps)
    assert by_counts == pytest.approx(ud.laplace_mean_error(SUMS, USERS, eps))


def private_quantile(sums, users, eps, rng):
    return ud.private_quantile(sums, users, 2, eps, rng=rng)


def weighted_mean(sums, users, eps, rng):
    return beyond.weighted_mean(sums, users, users.counts, eps, rng=rng)


def variance(sums, users, eps, rng):
    squares = users.upper * np.asarray(sums, dtype=float)
    return beyond.opt_variance(sums, squares, users, 2 * eps, rng=rng)


def one_of_several_means(sums, users, eps, rng):
    counts = np.stack([users.counts, users.counts], axis=1)
    group_sums = np.stack([sums, sums], axis=-1)
    return beyond.opt_several_means(group_sums, counts, users.upper, 4 * eps, rng=rng)[..., 1]


@pytest.mark.parametrize(
    "mechanism",
    [
        ud.laplace,
        ud.opt_worst_case,
        ud.akmv,
        private_quantile,
        weighted_mean,
        variance,
        one_of_several_means,
    ],
)
def test_leading_axes_are_datasets_and_seeds_fix_the_output(mechanism):
    batch = np.linspace(0.2, 1, 24).reshape(2, 2, 6) * USERS.largest_sums
    before = batch.copy()
    releases = mechanism(batch, USERS, 1, rng=5)
    assert releases.shape == (2, 2)
    assert len(set(releases.ravel())) == 4
    for eps, rng in ((1, 5), (Fraction(1), np.random.default_rng(5))):
        np.testing.assert_array_equal(releases, mechanism(batch, USERS, eps, rng=rng))
    for rng in (6, None):
        assert not np.array_equal(releases, mechanism(batch, USERS, 1, rng=rng))
    single = batch.astype(np.float32)
    outputs = [mechanism(sums, USERS, 1, rng=5) for sums in (single, single.astype(float))]
    np.testing.assert_array_equal(*outputs)
    assert mechanism(batch[0, 0], USERS, 1, rng=5).shape == ()
    assert mechanism(batch[:0], USERS, 1, rng=5).shape == (0, 2)
    np.testing.assert_array_equal(batch, before)


def test_a_constant_output_carries_no_noise():
    releases = ud.opt_worst_case(np.array([SUMS, 0 * SUMS]), USERS, eps=0.1, rng=0)
    np.testing.assert_array_equal(releases, [5.0, 5.0])


def weighted_error(sums, users, eps):
    return beyond.weighted_mean_error(sums, users, [2, 1], eps)


@pytest.mark.parametrize("mean_error", [*MEAN_ERRORS.values(), ud.akmv_error, weighted_error])
def test_leading_axes_of_errors_are_datasets(mean_error):
    batch = np.array([[[4.0, 1.0], [4.0, 0.0]], [[0.0, 0.0], [1.5, 0.3]]])
    users = ud.Contributions([4, 1], 1)
    errors = mean_error(batch, users, 1)
    assert errors.shape == (2, 2)
    assert errors[1, 1] == pytest.approx(mean_error(batch[1, 1], users, 1), rel=1e-14)
    assert np.shape(mean_error(batch[0, 0], users, 1)) == ()


@pytest.mark.parametrize("objective", ["bound", "l1", "mse"])
@pytest.mark.parametrize("noise", ["laplace", "staircase"])
def test_opt_worst_case_has_the_width_of_its_noise_and_its_objective(objective, noise):
    users, sums, eps = ud.Contributions([4, 2, 1], 65), [200.0, 100.0, 3.0], 1.9
    widths = {
        law: beyond.threshold(users, LAWS[law](eps), objective) for law in ("laplace", "staircase")
    }
    assert len(set(widths.values())) == 2
    law = LAWS[noise](eps)
    expected = beyond.clipped_mean_error(sums, users, widths[noise], law)
    assert beyond.opt_worst_case_mean_error(sums, users, law, objective=objective) == expected
    released = beyond.clipped_mean(sums, users, widths[noise], law, rng=4)
    assert beyond.opt_worst_case(sums, users, law, objective=objective, rng=4) == released


@given(users=collections(), data=st.data())
def test_the_guarantee_of_weights_is_the_largest_error_at_a_corner(users, data):
    """At corners all averages are 0 or U; a convex function of averages is largest there."""
    L, N, eps = users.n_users, users.total, data.draw(budgets(users.n_users))
    weight = st.fractions(0, 5, max_denominator=7)
    weights = data.draw(st.lists(weight, min_size=L, max_size=L).filter(any))
    W = sum(weights)
    differences = [Fraction(int(m), N) - w / W for m, w in zip(users.counts, weights, strict=True)]
    bias = users.upper * max(abs(sum(p)) for p in itertools.product(*([0, p] for p in differences)))
    change = users.upper * max(weights) / W
    expected = bias + change / ud.model.read_eps(eps)
    assert beyond.weighted_worst_case_error(users, weights, eps) == expected
    error = beyond.weighted_worst_case_error(users, weights, beyond.StaircaseNoise(eps), "l1")
    assert error == pytest.approx(float(beyond.StaircaseNoise(eps).mean_error(bias, change)))
    floats = ud.Contributions(users.counts, float(users.upper))
    assert beyond.weighted_worst_case_error(floats, weights, eps) == pytest.approx(float(expected))
