"""Releases with Gaussian noise: of numbers, and of vectors in a ball."""

import json
from fractions import Fraction
from math import hypot, log, pi, sqrt

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.special import logsumexp
from strategies import SUMS, USERS

import userdp as ud
from userdp import audit
from userdp.practice import _noise as noise
from userdp.practice import as_measurement, discrete_gaussian, release_mean_in_ball
from userdp.practice._vectors import whole_vectors

LAW = ud.GaussianNoise.zcdp(0.3)
VECTORS = ud.Contributions([4, 2, 1, 1], upper=2)
GOOD = [[3.0, 1.0], [0.0, 2.0], [1.0, 0.0], [-0.6, 0.8]]


class Answer:
    """In the place of OpenDP's vector noise: always the same, and what was asked for."""

    def __init__(self, monkeypatch, answer):
        self.asked, real = [], noise.discrete_gaussian
        monkeypatch.setattr(noise, "discrete_gaussian", self.make)
        self.answer, self.real = answer, real

    def make(self, moved, law, *, vector=False):
        assert vector
        made = self.real(moved, law, vector=True)

        def measure(total):
            self.asked.append((moved, law, total))
            return self.answer

        measure.map = made.map
        return measure


# Whole vectors


def squares(whole):
    return [sum(int(x) ** 2 for x in row) for row in whole]


@given(
    hnp.arrays(float, (7, 5), elements=st.floats(-(2.0**93), 2.0**93)),
    st.integers(8, 40),
)
def test_whole_vectors_are_never_too_long(vectors, bits):
    """In exact arithmetic: that is all that privacy rests on."""
    reach = 1 << bits
    whole = whole_vectors(vectors, reach)
    assert max(squares(whole)) <= reach**2
    inside = np.linalg.norm(vectors, axis=1) <= reach - 1
    np.testing.assert_array_equal(whole[inside], np.trunc(vectors[inside]))


def test_a_vector_whose_length_floats_round_down_is_not_too_long():
    """Of length 2^60 to all digits, with a coordinate that becomes 1 beside one of 2^40."""
    assert max(squares(whole_vectors(np.array([[2.0**60, 2.0**20]]), 2**40))) <= 2**80


@pytest.mark.parametrize("d", [1, 2, 3, 100, 4000])
def test_long_vectors_keep_direction_and_nearly_all_of_the_length(d):
    rng = np.random.default_rng(d)
    bits = min(40, 52 - (d + 8).bit_length())
    reach = 1 << bits
    vectors = rng.normal(size=(60, d)) * 10.0 ** rng.uniform(-9, 12, (60, 1)) * reach
    vectors[:9] = rng.choice([-1, 1], (9, d)) * reach * rng.uniform(0.9, 1.1, (9, 1)) / sqrt(d)
    whole, length = whole_vectors(vectors, reach), np.linalg.norm(vectors, axis=1)
    assert reach**2 * (1 - 1e-9 - (4 + sqrt(d)) / reach) < max(squares(whole)) <= reach**2
    wanted = vectors * np.minimum(1, reach / length)[:, None]
    off = np.linalg.norm(whole - wanted, axis=1)
    assert off.max() <= 1 + sqrt(d) + 1e-12 * reach


# The release of vectors


def neighbours(users, d, rng):
    """Sums that differ in the heaviest user: anywhere in its ball, and from end to end."""
    ends = rng.normal(size=(users.n_users, d))
    ends *= (users.largest_sums / 2 / np.linalg.norm(ends, axis=1))[:, None]
    first = ends * rng.uniform(size=(users.n_users, 1))
    for sums, other in ((first, ends), (ends, -ends)):
        second = sums.copy()
        second[np.argmax(users.counts)] = other[np.argmax(users.counts)]
        yield sums, second


@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0.02, 2))
def test_one_user_moves_the_whole_numbers_by_the_sensitivity_at_most(seed, d, sigma):
    """Exactly; by nearly all of it from one end of the ball to the other."""
    rng, law = np.random.default_rng(seed), ud.GaussianNoise(sigma)
    users = ud.Contributions(rng.integers(1, 9, size=8), upper=float(rng.uniform(0.1, 9)))
    with pytest.MonkeyPatch.context() as patch:
        opendp = Answer(patch, [0] * d)
        for pair in neighbours(users, d, rng):
            made = [release_mean_in_ball(sums, users, law) for sums in pair]
            (moved, asked, one), (*_, other) = opendp.asked[-2:]
            assert asked is law
            assert all(type(x) is int for x in one + other)
            between = sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
            assert between <= moved**2
        assert between >= moved**2 * (1 - 1e-6)
        assert made[0] == made[1]._replace(mean=made[0].mean)
    T = ud.vectors.ball_threshold(users, law, d)
    assert (made[0].radius, moved > 0) == (T / 2, T > 0)


@pytest.mark.parametrize("answer", [[7, -3], [10**13, -(2**62)]])
def test_what_opendp_answers_for_a_vector_is_released(monkeypatch, answer):
    opendp = Answer(monkeypatch, answer)
    made = release_mean_in_ball(GOOD, VECTORS, LAW)
    ((moved, _, total),) = opendp.asked
    unit = made.sensitivity / moved
    T = ud.vectors.ball_threshold(VECTORS, LAW, 2)
    assert made.radius == T / 2
    assert made.sensitivity == T / 8
    assert made.noise_scale == pytest.approx(LAW.sigma * T / 8, rel=1e-9)
    np.testing.assert_array_equal(made.mean, np.array(answer) * unit)
    exact = ud.vectors.clip_to_ball(GOOD, T / 2).sum(axis=0) / 8
    assert np.array(total) * unit == pytest.approx(exact, abs=6 * unit)
    guarantee = ud.vectors.ball_error(VECTORS, LAW, 2)
    assert guarantee <= made.worst_case_error <= guarantee + 20 * unit
    assert (made.rho, made.sigma) == (pytest.approx(0.3), LAW.sigma)
    assert made.rho <= 1 / (2 * Fraction(LAW.sigma) ** 2)
    assert made.delta(1) == LAW.delta(1)
    assert "replacing one user's samples; public: counts" in made.promise


def test_budgets_too_small_for_any_clipping_release_the_centre_and_spend_nothing():
    made = release_mean_in_ball(GOOD, VECTORS, ud.GaussianNoise(9))
    assert (made.rho, made.delta(0.1), made.sensitivity, made.noise_scale) == (0, 0, 0, 0)
    assert not made.mean.any()
    assert made.worst_case_error == 1
    assert "nothing is learnt" in made.promise


def test_vectors_follow_the_law():
    """With OpenDP's own noise, which has no seed: a false alarm in a million runs."""
    exact = (
        ud.vectors.clip_to_ball(GOOD, ud.vectors.ball_threshold(VECTORS, LAW, 2) / 2).sum(axis=0)
        / 8
    )
    made = [release_mean_in_ball(GOOD, VECTORS, LAW) for _ in range(1000)]
    z = np.array([m.mean - exact for m in made]) / made[0].noise_scale
    chances = [stats.kstest(column, stats.norm.cdf).pvalue for column in z.T]
    chances.append(stats.pearsonr(*z.T).pvalue)
    assert min(chances) > 1e-6 / 3
    assert stats.kstest(1.3 * z.ravel(), stats.norm.cdf).pvalue < 1e-6  # it would be seen


@pytest.mark.parametrize(
    "sums",
    [
        [[3.0, 1.0], [0.0, 2.0], [1.0, np.nan], [0.0, 0.0]],
        [[3.0, 1.0], [0.0, np.inf], [1.0, 0.0], [0.0, 0.0]],
        [[77.125, 1.0], [0.0, 2.0], [1.0, 0.0], [0.0, 0.0]],
        [["secret", "1"]] * 4,
        [[1.0, None]] * 4,
        [[0.5, 0.5]] * 3,
        [1.0] * 4,
        np.zeros((3, 4, 2)),
        np.zeros((4, 0)),
        np.ma.masked_array(np.zeros((4, 2)), mask=True),
    ],
)
def test_bad_vectors_are_refused_and_not_quoted(sums):
    with pytest.raises((TypeError, ValueError), match="`sums` must be one vector") as refusal:
        release_mean_in_ball(sums, VECTORS, LAW)
    for told in ("77.125", "secret", "nan", "inf", "[1"):
        assert told not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_what_is_no_law_and_too_much_noise_are_refused():
    for law in (1, 0.5, "zcdp", ud.LaplaceNoise(1), None):
        with pytest.raises(TypeError, match=r"`law` must be a userdp.GaussianNoise"):
            release_mean_in_ball(GOOD, VECTORS, law)
    with pytest.raises(TypeError, match=r"`users` must be a userdp.Contributions"):
        release_mean_in_ball(GOOD, [4, 2, 1, 1], LAW)
    many = ud.Contributions([2**50] * 4, upper=2)
    release_mean_in_ball(GOOD, many, ud.GaussianNoise(2.0**47 * 0.99))
    with pytest.raises(ValueError, match="`law` must be of a sigma small enough"):
        release_mean_in_ball(GOOD, many, ud.GaussianNoise(2.0**47))


def test_vectors_are_read_once():
    """An array that answers otherwise the second time is released as it was first."""

    class Changing:
        def __init__(self):
            self.reads = 0

        def __array__(self, dtype=None, copy=None):
            self.reads += 1
            return np.array(GOOD) if self.reads == 1 else np.full((4, 2), np.nan)

    made = Changing()
    assert np.isfinite(release_mean_in_ball(made, VECTORS, LAW).mean).all()
    assert made.reads == 1


# Whole numbers rounded at random: the lemma on (eps, delta)


@pytest.mark.parametrize("s", [0.4, 1, 3])
@pytest.mark.parametrize("moved", [1, 2, 7])
def test_divergences_of_discrete_noise(s, moved):
    """Of every order at most that of continuous noise; it is what OpenDP accounts for."""
    k = np.arange(-60, 61)
    p, q = -((k - [[0], [moved]]) ** 2) / (2 * s * s) - np.log(
        np.sum(np.exp(-(k**2) / (2 * s * s)))
    )
    for a in (1.1, 2, 5.5):
        spent = logsumexp(a * p + (1 - a) * q) / (a - 1) / a
        assert spent <= moved**2 / (2 * s * s) * (1 + 1e-12)
        assert spent >= 0.5 * moved**2 / (2 * s * s)
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    assert dp.m.make_gaussian(*space, scale=s).map(moved) == pytest.approx(moved**2 / (2 * s * s))


@pytest.mark.parametrize("r", [0.5, 1, 2, 4])
def test_discrete_noise_is_continuous_noise_rounded_at_random(r):
    """Its chances and those of the discrete law differ by the factor of Poisson's formula."""
    s, x = 3.0, 0.0
    k, grid = np.arange(-70, 71), np.linspace(-60, 60, 240_001)
    weights = np.exp(-((k[:, None] - grid[None, ::8]) ** 2) / (2 * r * r))
    weights /= weights.sum(axis=0)
    continuous = np.exp(-((grid[::8] - x) ** 2) / (2 * s * s)) / (s * sqrt(2 * pi))
    found = weights @ continuous * (grid[8] - grid[0])
    discrete = np.exp(-((k - x) ** 2) / (2 * (s * s + r * r)))
    ratio = (found / (discrete / discrete.sum()))[abs(k) < 30]
    eta = 2.02 * np.exp(-2 * (pi * r) ** 2)
    most = (1 + eta) / (1 - eta) * (1 + 1e-9)
    assert np.all((1 / most <= ratio) & (ratio <= most))
    assert r > 0.5 or ratio.max() > 1 + 1e-4  # coarser rounding would show
    assert 2.02 * np.exp(-2 * (pi * noise.ROUNDED) ** 2) < 1e-136


def spent(scale, moved, eps):
    """The delta of the discrete Gaussian law, summed over whole numbers."""
    k = np.arange(-12 * int(scale) - 2 * moved, 12 * int(scale) + 2 * moved)
    p, q = (np.exp(-((k - c) ** 2) / (2 * scale**2)) for c in (0, moved))
    return np.maximum(p - np.exp(eps) * q, 0).sum() / p.sum()


@pytest.mark.parametrize(("eps", "delta"), [(1, 1e-6), (0.3, 1e-4), (4, 1e-3)])
@pytest.mark.parametrize("moved", [1, 3, 40, 2000])
def test_approximate_privacy_of_whole_numbers(eps, delta, moved):
    law = ud.GaussianNoise.approximate(eps, delta)
    scale = noise.scale_of(moved, law)
    assert scale == hypot(moved * law.sigma, 4)
    assert spent(scale, moved, eps) <= delta
    assert moved < 2000 or spent(scale, moved, eps) > 0.999 * delta
    assert discrete_gaussian(moved, law).map(moved) == pytest.approx((moved / scale) ** 2 / 2)


@given(st.integers(1, 2**50), st.floats(0.01, 100))
def test_opendp_accounts_for_no_more_than_the_law(moved, sigma):
    law = ud.GaussianNoise(sigma)
    for vector in (False, True):
        cost = discrete_gaussian(moved, law, vector=vector).map(moved)
        assert Fraction(cost) <= 1 / (2 * Fraction(sigma) ** 2)
        assert cost == pytest.approx((moved / hypot(moved * sigma, 4)) ** 2 / 2)


# Numbers


def test_numbers_with_gaussian_noise_say_what_they_promise():
    law = ud.GaussianNoise.approximate(1, 1e-6)
    options = {"lower": 0, "upper": 6, "eps": law, "total_width": 6}
    made = ud.private_mean(["a", "a", "b"], [1.0, 2.0, 3.0], **options)
    assert (made.eps, made.sigma) == (None, law.sigma)
    assert made.rho == pytest.approx(1 / (2 * law.sigma**2))
    assert made.delta(1) == law.delta(1) == pytest.approx(1e-6)
    assert f"rho = {made.rho:.6g} (zCDP), user-level" in repr(made)
    assert "standard deviation" in repr(made)
    assert json.loads(made.public_json())["rho"] == made.rho
    pure = ud.private_mean(["a", "a", "b"], [1.0, 2.0, 3.0], **options | {"eps": 3})
    assert (pure.rho, pure.sigma, pure.delta(3), pure.delta(9)) == (None, None, 0, 0)
    assert pure.delta(2) == pytest.approx(1 - np.exp(-1))  # no eps-DP mechanism spends more
    with pytest.warns(UserWarning, match="not stated"):
        made = ud.private_mean(["a", "b"], [1.0, 2.0], **options, outside="drop")
    assert (made.eps, made.rho, made.delta(9)) == (None, None, 1)
    made = ud.private_mean(["a"], [1.0], **options | {"total_width": None})
    assert (made.rho, made.delta(0.1), made.noise_scale) == (0, 0, 0)


def test_intervals_hold_for_gaussian_noise():
    law = ud.GaussianNoise.zcdp(2)
    options = {"lower": 0, "upper": 6, "total_width": 6, "project": False}
    made = ud.private_mean(list("aaab"), [6.0] * 4, eps=law, **options)
    low, high = made.noise_interval(0.95)
    reach = stats.norm.ppf(0.975) * made.noise_scale + made.rounding
    assert (high - low) / 2 == pytest.approx(reach)
    low, high = made.interval(0.95)
    assert (high - low) / 2 > reach + 0.8 * made.worst_case_bias


def test_sums_with_gaussian_noise(opendp_of_numbers):
    for users, first, second in audit.hard_pairs(80, rng=17):
        for pair in zip(first, second, strict=True):
            made = [ud.release_mean(sums, users, LAW) for sums in pair]
            (moved, _, one), (*_, other) = opendp_of_numbers[-2:]
            assert abs(one - other) <= moved
            assert made[0] == made[1]._replace(mean=made[0].mean)
    made = ud.release_mean(SUMS, USERS, LAW, project=False)
    T = ud.threshold(USERS, LAW)
    assert made.noise_scale == pytest.approx(LAW.sigma * T / USERS.total)
    exact = ud.clipped_mean(SUMS, USERS, T, 1, rng=audit.Recorder())
    assert made.mean == pytest.approx(float(exact.value))
    assert made.worst_case_error == pytest.approx(ud.optimal_error(USERS, LAW))
    assert (made.eps, made.rho) == (None, pytest.approx(0.3))
    with pytest.raises(ValueError, match=r"`eps` must be at least 2\^-40"):
        ud.release_mean(SUMS, USERS, ud.GaussianNoise(2.0**41))


@pytest.fixture
def opendp_of_numbers(monkeypatch):
    """No noise; what was asked for."""
    asked, real = [], noise.discrete_gaussian

    def make(moved, law):
        def measure(total):
            asked.append((moved, law, total))
            return total

        measure.map = real(moved, law).map
        return measure

    monkeypatch.setattr(noise, "discrete_gaussian", make)
    return asked


def test_measurements_with_gaussian_noise_compose():
    options = {"lower": 0, "upper": 6, "eps": LAW, "total_width": 6}
    one, other = (as_measurement([4, 1], **options) for _ in range(2))
    assert one.output_measure == dp.zero_concentrated_divergence()
    both = dp.c.make_composition([one, other])
    assert both.map(1) == pytest.approx(0.6)
    assert [made.rho for made in both([16.0, 1.0])] == [pytest.approx(0.3)] * 2
    at = dp.c.make_zCDP_to_approxDP(both).map(1).epsilon(1e-6)
    assert 0.6 < at < 0.6 + 2 * sqrt(0.6 * log(1e6))
