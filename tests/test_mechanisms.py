"""The mechanisms: their estimators and noise scales by definition; test_privacy.py has more."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import budgets, collections

import userdp as ud
from userdp.audit import Recorder

BUDGETS = (0.1, 0.5, 1, 2, 5)
USERS = ud.Contributions([5, 3, 3, 1, 1, 1], 10)
SUMS = np.array([41.0, 30.0, 2.5, 9.0, 0.0, 4.0])
FALSE_ALARM = 1e-9


class Noiseless(np.random.Generator):
    """A Generator whose Laplace noise is zero, and which remembers the scale asked for."""

    def __init__(self, seed=0):
        super().__init__(np.random.PCG64(seed))
        self.scales = []

    def laplace(self, loc=0.0, scale=1.0, size=None):
        self.scales.append(np.asarray(scale))
        return np.zeros(size)


@pytest.mark.parametrize("eps", BUDGETS)
def test_laplace_is_the_mean_with_noise_for_its_sensitivity(eps):
    rng = Noiseless()
    assert ud.laplace(SUMS, USERS, eps, rng=rng) == pytest.approx(SUMS.sum() / 14, rel=1e-15)
    assert rng.scales == [pytest.approx(USERS.total * ud.sensitivity(USERS) / eps, rel=1e-15)]


def test_laplace_adds_nothing_on_the_way():
    """Around 0: the smallest noise is not lost beside a centre."""
    tiny = Recorder(laplace=[1e-20])
    assert ud.laplace(0 * SUMS, USERS, 1, rng=tiny) == 1e-20 / USERS.total


@pytest.mark.parametrize("eps", BUDGETS)
def test_opt_worst_case_projects_averages_to_the_intervals_of_the_theorem(eps):
    rng, clipping = Noiseless(), ud.optimal_clipping(USERS, eps)
    averages = np.clip(SUMS / USERS.counts, clipping.lower, clipping.upper)
    expected = (USERS.counts * averages).sum() / USERS.total
    assert ud.opt_worst_case(SUMS, USERS, eps, rng=rng) == pytest.approx(expected, rel=1e-14)
    width = USERS.total * ud.sensitivity(USERS, clipping)
    assert rng.scales == [pytest.approx(width / eps, rel=1e-14)]


@pytest.mark.parametrize("eps", BUDGETS)
def test_akmv_caps_sums_at_a_quantile_drawn_with_half_of_the_budget(eps):
    rng = Noiseless(seed=7)
    k = int(np.ceil(2 / eps))
    T = ud.private_quantile(SUMS, USERS, k, eps / 2, rng=7)
    expected = np.minimum(SUMS, T).sum() / USERS.total
    assert ud.akmv(SUMS, USERS, eps, rng=rng) == pytest.approx(expected, rel=1e-15)
    assert rng.scales == [pytest.approx(2 * T / eps, rel=1e-15)]


@pytest.mark.parametrize("eps", BUDGETS)
def test_weighted_mean_weighs_averages_and_its_noise_is_for_the_largest_weight(eps):
    rng, weights = Noiseless(), [3, 0, 1, 1, 0.5, 1]
    expected = np.average(SUMS / USERS.counts, weights=weights)
    assert ud.weighted_mean(SUMS, USERS, weights, eps, rng=rng) == pytest.approx(expected)
    assert rng.scales == [pytest.approx(10 / eps, rel=1e-14)]  # of the sum, over 6.5 / 3
    noisy = ud.weighted_mean(SUMS, USERS, weights, eps, rng=Recorder(laplace=[1.0]))
    assert noisy == pytest.approx(expected + 3 / 6.5)


def second_quantile(sums, users, eps, rng):
    return ud.private_quantile(sums, users, 2, eps, rng=rng)


def weighted(sums, users, eps, rng=None):
    return ud.weighted_mean(sums, users, [3, 2, 2, 1, 1, 1], eps, rng=rng)


@pytest.mark.parametrize(
    "mechanism", [ud.laplace, ud.opt_worst_case, ud.akmv, second_quantile, weighted]
)
def test_leading_axes_are_datasets_and_seeds_decide(mechanism):
    batch = np.linspace(0.2, 1, 24).reshape(2, 2, 6) * USERS.largest_sums
    releases = mechanism(batch, USERS, 1, rng=5)
    assert releases.shape == (2, 2)
    assert len(set(releases.ravel())) == 4
    np.testing.assert_array_equal(releases, mechanism(batch, USERS, 1, rng=5))
    np.testing.assert_array_equal(
        releases, mechanism(batch, USERS, Fraction(1), rng=np.random.default_rng(5))
    )
    assert not np.array_equal(releases, mechanism(batch, USERS, 1, rng=6))
    assert mechanism(batch[0, 0], USERS, 1, rng=5).shape == ()
    assert mechanism(batch[:0], USERS, 1, rng=5).shape == (0, 2)


@pytest.mark.parametrize("mechanism", [ud.laplace, ud.opt_worst_case, ud.akmv, weighted])
def test_arguments_are_left_alone_and_randomness_without_seed_differs(mechanism):
    sums = SUMS.copy()
    assert mechanism(sums, USERS, 1) != mechanism(sums, USERS, 1)
    np.testing.assert_array_equal(sums, SUMS)


def test_a_constant_output_carries_no_noise():
    releases = ud.opt_worst_case(np.array([SUMS, 0 * SUMS]), USERS, eps=0.1, rng=0)
    np.testing.assert_array_equal(releases, [5.0, 5.0])


def test_opt_worst_case_takes_the_threshold_of_its_noise():
    eps, options = 1.98, {"noise": "staircase", "rng": 4}
    width = ud.threshold(USERS, eps, noise="staircase")
    assert width > ud.threshold(USERS, eps)
    released = ud.opt_worst_case(SUMS, USERS, eps, **options)
    assert released == ud.clipped_mean(SUMS, USERS, width, eps, **options)


# Mean errors, with the noise integrated out.

MEAN_ERRORS = [
    ud.laplace_mean_error,
    ud.opt_worst_case_mean_error,
    ud.akmv_error,
    ud.akmv_mean_error,
    lambda sums, users, eps: ud.weighted_mean_error(sums, users, [2, 1], eps),
]


@given(users=collections(), data=st.data())
def test_opt_worst_case_is_biased_by_what_its_intervals_cut_off(users, data):
    eps = data.draw(budgets(users.n_users))
    shares = data.draw(st.lists(st.floats(0, 1), min_size=users.n_users, max_size=users.n_users))
    clipping, counts = ud.optimal_clipping(users, eps), users.counts
    averages = np.array(shares) * float(users.upper)
    ends = (end.astype(float) for end in (clipping.lower, clipping.upper))
    bias = np.sum(counts * (averages - averages.clip(*ends))) / users.total
    scale = float(ud.sensitivity(users, clipping) / eps)
    expected = ud.noisy_error(bias, scale)
    assert ud.opt_worst_case_mean_error(counts * averages, users, eps) == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


def test_leading_axes_of_errors_are_datasets():
    batch = np.array([[[4.0, 1.0], [4.0, 0.0]], [[0.0, 0.0], [1.5, 0.3]]])
    users = ud.Contributions([4, 1], 1)
    for mean_error in MEAN_ERRORS:
        errors = mean_error(batch, users, 1)
        assert errors.shape == (2, 2)
        assert errors[1, 1] == pytest.approx(mean_error(batch[1, 1], users, 1), rel=1e-14)
        assert np.shape(mean_error(batch[0, 0], users, 1)) == ()


@pytest.mark.parametrize("objective", ["bound", "l1", "mse"])
@pytest.mark.parametrize("noise", ["laplace", "staircase"])
def test_opt_worst_case_mean_error_is_that_of_its_width_and_its_noise(objective, noise):
    users, sums, eps = ud.Contributions([4, 2, 1], 65), [200.0, 100.0, 3.0], 1.9
    widths = {law: ud.threshold(users, eps, objective, law) for law in ("laplace", "staircase")}
    assert len(set(widths.values())) == 2
    width = widths[noise]
    expected = ud.clipped_mean_error(sums, users, width, eps, noise=noise)
    error = ud.opt_worst_case_mean_error(sums, users, eps, objective=objective, noise=noise)
    assert error == expected


@pytest.mark.parametrize("noise", ["laplace", "staircase"])
def test_weighted_mean_error_is_that_of_its_bias(noise):
    weights, law = (
        [3, 0, 1, 1, 0.5, 1],
        {"laplace": ud.LaplaceNoise, "staircase": ud.StaircaseNoise},
    )
    bias = np.average(SUMS / USERS.counts, weights=weights) - SUMS.sum() / 14
    expected = law[noise](1.9).mean_error(bias, 10 * 3 / 6.5)
    error = ud.weighted_mean_error(SUMS, USERS, weights, 1.9, noise=noise)
    assert error == pytest.approx(expected)
    own = ud.weighted_mean_error(SUMS, USERS, USERS.counts, 1.9)
    assert own == pytest.approx(ud.laplace_mean_error(SUMS, USERS, 1.9))


@given(users=collections(), data=st.data())
def test_certificate_of_weights_is_the_worst_of_all_corners(users, data):
    """Where averages are 0 or U: convex functions of the averages are largest there."""
    weight = st.fractions(0, 5, max_denominator=7)
    weights = data.draw(
        st.lists(weight, min_size=users.n_users, max_size=users.n_users).filter(any)
    )
    eps, W = data.draw(budgets(users.n_users)), sum(weights)
    parts = [
        Fraction(int(m), users.total) - w / W for m, w in zip(users.counts, weights, strict=True)
    ]
    bias = max(abs(sum(part)) for part in itertools.product(*([0, part] for part in parts)))
    change = max(weights) / W
    expected = users.upper * (bias + change / ud.read_eps(eps))
    assert ud.weighted_worst_case_error(users, weights, eps) == expected
    error = ud.weighted_worst_case_error(users, weights, eps, "l1", "staircase")
    law = ud.StaircaseNoise(eps)
    assert error == pytest.approx(float(law.mean_error(users.upper * bias, users.upper * change)))
    floats = ud.Contributions(users.counts, float(users.upper))
    assert ud.weighted_worst_case_error(floats, weights, eps) == pytest.approx(float(expected))
