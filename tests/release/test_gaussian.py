"""Releases with Gaussian noise: vectors in a ball, and the lemmas on their privacy.

`test_audit.py`, `test_private_mean.py` and `test_release_privacy.py` test both kinds of noise.
"""

import re
from fractions import Fraction
from math import hypot, pi, sqrt

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.special import logsumexp

import userdp as ud
from userdp import beyond, release
from userdp.release import _noise as noise
from userdp.release import release_mean_in_ball
from userdp.release._vectors import _steps_in_radius, whole_vectors

LAW = beyond.GaussianNoise.zcdp(0.3)
VECTORS = ud.Contributions([4, 2, 1, 1], upper=2)
GOOD = [[3.0, 1.0], [0.0, 2.0], [1.0, 0.0], [-0.6, 0.8]]
REACH = beyond.ball_threshold(VECTORS, LAW, 2) / 2
KEPT = beyond.clip_to_ball(GOOD, REACH).sum(axis=0) / 8


@given(hnp.arrays(float, (7, 5), elements=st.floats(-(2.0**93), 2.0**93)), st.integers(8, 40))
@example(np.array([[2.0**60, 2.0**20]]), 40)  # its length is 2^60 in floats
def test_whole_vectors_are_never_too_long(vectors, bits):
    """In exact arithmetic, because privacy depends on this."""
    reach = 1 << bits
    whole = whole_vectors(vectors, reach)
    assert max(sum(int(x) ** 2 for x in row) for row in whole) <= reach**2
    inside = np.linalg.norm(vectors, axis=1) <= reach - 1
    np.testing.assert_array_equal(whole[inside], np.trunc(vectors[inside]))
    axes = (reach - 1) * np.eye(3)
    np.testing.assert_array_equal(whole_vectors(axes * 2.0**20, reach), axes)


@pytest.mark.parametrize("d", [1, 2, 4000])
def test_long_vectors_keep_their_direction_and_almost_all_of_their_length(d):
    rng, reach = np.random.default_rng(d), 1 << 40
    vectors = rng.normal(size=(60, d)) * 10.0 ** rng.uniform(8, 24, (60, 1))
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    off = whole_vectors(vectors, reach) - vectors * np.minimum(1, reach / length)
    assert np.linalg.norm(off, axis=1).max() <= 1 + sqrt(d) + 1e-12 * reach


@pytest.mark.parametrize("seed", range(50))
def test_one_user_moves_the_whole_numbers_by_at_most_the_sensitivity(opendp, seed):
    """In exact arithmetic, from anywhere in the ball; moving across attains almost all of it."""
    rng = np.random.default_rng(seed)
    d, law = int(rng.integers(1, 6)), beyond.GaussianNoise(10 ** rng.uniform(-1.7, 0.3))
    users = ud.Contributions([9, *rng.integers(1, 9, size=7)], upper=float(rng.uniform(0.1, 9)))
    ends = rng.normal(size=(8, d))
    ends *= (users.largest_sums / 2 / np.linalg.norm(ends, axis=1))[:, None]
    for first in (rng.uniform(size=(8, 1)) * ends, ends):
        pair = first, np.r_[-ends[:1], first[1:]]
        results = [release_mean_in_ball(sums, users, law) for sums in pair]
        (moved, budget, one), (*_, other) = opendp.requests[-2:]
        assert budget is law
        assert {type(x) for x in one + other} == {int}
        between = sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
        assert between <= moved**2
        first, second = ({**vars(each), "mean": None} for each in results)
        assert first == second
    assert between >= moved**2 * (1 - 1e-6)
    T = beyond.ball_threshold(users, law, d)
    assert (results[0].radius, moved > 0) == (T / 2, T > 0)


@pytest.mark.parametrize("added", [[7, -3], [10**13, -(2**62)]])
def test_the_output_of_opendp_for_a_vector_is_released(opendp, added):
    opendp.added = added
    result = release_mean_in_ball(GOOD, VECTORS, LAW)
    ((moved, _, total),) = opendp.requests
    unit, guarantee = result.sensitivity / moved, beyond.ball_error(VECTORS, LAW, 2)
    assert (result.radius, result.sensitivity) == (REACH, REACH / 4)
    assert result.noise_scale == pytest.approx(LAW.sigma * REACH / 4, rel=1e-9)
    np.testing.assert_array_equal(result.mean, np.add(total, added) * unit)
    assert np.array(total) * unit == pytest.approx(KEPT, abs=6 * unit)
    steps = 4 * (1 + sqrt(2)) + (LAW.rounding + 1) * sqrt(2)
    assert result.worst_case_error - guarantee == pytest.approx(steps * unit, 1e-3, 0)
    assert (result.rho, result.sigma, result.delta(1)) == (
        pytest.approx(0.3),
        LAW.sigma,
        LAW.delta(1),
    )
    assert result.rho <= 1 / (2 * Fraction(LAW.sigma) ** 2)
    assert "replacing one user's samples; public: counts" in result.privacy_unit


def test_a_mean_of_vectors_is_shown_as_a_table(opendp):
    users = ud.Contributions([2] * 40, 12)
    result = release_mean_in_ball(np.full((40, 2), 3.0), users, beyond.GaussianNoise.zcdp(0.5))
    shown = dict(re.split("  +", line, maxsplit=1) for line in repr(result).splitlines())
    assert shown == {
        "private mean": f"2 coordinates, of length {np.hypot(1.5, 1.5):.6g}",
        "budget": f"rho = 0.5 (zCDP), {result.privacy_unit}",
        "error on the worst dataset": f"{result.worst_case_error:.4g} on average over the noise "
        "(a length; bias 0)",
        "noise": f"integers drawn by OpenDP, standard deviation {result.noise_scale:.4g} "
        "in each coordinate",
        "sums clipped to": "length 12",
        "records": "80 from 40 users",
    }


def test_with_a_very_small_budget_the_centre_is_released_and_nothing_is_spent():
    result = release_mean_in_ball(GOOD, VECTORS, beyond.GaussianNoise(9))
    assert (result.rho, result.delta(0.1), result.sensitivity, result.noise_scale) == (0, 0, 0, 0)
    assert (result.mean.tolist(), result.worst_case_error) == ([0, 0], 1)
    assert "nothing is learnt" in result.privacy_unit


def test_other_laws_and_too_much_noise_are_refused():
    for law in (1, "zcdp", beyond.LaplaceNoise(1), None):
        with pytest.raises(TypeError, match=r"a userdp\.beyond\.GaussianNoise, got law of type"):
            release_mean_in_ball(GOOD, VECTORS, law)
    with pytest.raises(TypeError, match=r"`users` must be a userdp.Contributions"):
        release_mean_in_ball(GOOD, [4, 2, 1, 1], LAW)
    many = ud.Contributions([2**50] * 4, upper=2)
    release_mean_in_ball(GOOD, many, beyond.GaussianNoise(2.0**40))
    with pytest.raises(ValueError, match=r"sigma of at most 2\^40 .* got sigma="):
        release_mean_in_ball(GOOD, many, beyond.GaussianNoise(2.0**40 * 1.001))


def test_vectors_are_read_once(opendp):
    """An array that changes at the second reading is released as it was at the first."""

    class Changing:
        contents = iter([np.array(GOOD)])

        def __array__(self, dtype=None, copy=None):
            return next(self.contents, np.full((4, 2), np.nan))

    result = release_mean_in_ball(Changing(), VECTORS, LAW)
    assert result.mean == pytest.approx(KEPT)


@pytest.mark.parametrize(
    ("n_users", "d", "sigma", "bits"),
    [
        (4, 2, 1e-9, 40),
        (2**21 - 1, 1, 1, 40),  # sums of all users below 2^61
        (2**21, 1, 1, 39),
        (1, 2**13 - 9, 1, 39),  # reach (d + 8) below 2^52
        (1, 2**13 - 8, 1, 38),
        (1, 1, 2.0**15 * 0.999, 40),  # noise of scale 2 reach sigma below 2^56
        (1, 1, 2.0**15, 39),
    ],
)
def test_there_are_as_many_steps_as_64_bits_allow(n_users, d, sigma, bits):
    assert _steps_in_radius(n_users, d, beyond.GaussianNoise(sigma)) == 2**bits


# Discrete Gaussian noise as rounded continuous noise: the lemma on (eps, delta)-DP


@pytest.mark.parametrize("s", [0.4, 1, 3])
@pytest.mark.parametrize("moved", [1, 2, 7])
def test_divergences_of_discrete_noise_are_at_most_those_of_continuous_noise(s, moved):
    """For three orders; OpenDP accounts for the Renyi divergences of continuous noise."""
    k = np.arange(-60, 61)
    p, q = -((k - [[0], [moved]]) ** 2) / (2 * s * s) - logsumexp(-(k**2) / (2 * s * s))
    for a in (1.1, 2, 5.5):
        spent = logsumexp(a * p + (1 - a) * q) / (a - 1) / a
        assert spent <= moved**2 / (2 * s * s) * (1 + 1e-12)
        assert spent >= 0.5 * moved**2 / (2 * s * s)
    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    assert dp.m.make_gaussian(*space, scale=s).map(moved) == pytest.approx(moved**2 / (2 * s * s))


@pytest.mark.parametrize("r", [0.5, 1, 2, 4])
def test_discrete_noise_is_continuous_noise_rounded_at_random(r):
    """Its probabilities differ from the discrete law by at most the factor of Poisson's formula."""
    s, k, grid = 3.0, np.arange(-70, 71), np.linspace(-60, 60, 30_001)
    weights = np.exp(-((k[:, None] - grid) ** 2) / (2 * r * r))
    rounded = weights / weights.sum(axis=0) @ stats.norm.pdf(grid, scale=s) * 0.004
    discrete = np.exp(-(k**2) / (2 * (s * s + r * r)))
    ratio = (rounded / (discrete / discrete.sum()))[abs(k) < 30]
    eta = 2.02 * np.exp(-2 * (pi * r) ** 2)
    limit = (1 + eta) / (1 - eta) * (1 + 1e-9)
    assert np.all((1 / limit <= ratio) & (ratio <= limit))
    assert r > 0.5 or ratio.max() > 1 + 1e-4  # coarser rounding would show
    assert 2.02 * np.exp(-2 * (pi * LAW.rounding) ** 2) < 1e-136


@pytest.mark.parametrize(("eps", "delta"), [(1, 1e-6), (0.3, 1e-4), (4, 1e-3)])
@pytest.mark.parametrize("moved", [1, 3, 40, 2000])
def test_discrete_noise_has_at_most_the_delta_of_its_law(eps, delta, moved):
    """The delta of the discrete law, summed over whole numbers."""
    law = beyond.GaussianNoise.approximate(eps, delta)
    scale = noise.scale_of(moved, law)
    assert scale == hypot(moved * law.sigma, 4)
    k = np.arange(-12 * int(scale) - 2 * moved, 12 * int(scale) + 2 * moved)
    p, q = (np.exp(-((k - c) ** 2) / (2 * scale**2)) for c in (0, moved))
    spent = np.maximum(p - np.exp(eps) * q, 0).sum() / p.sum()
    assert spent <= delta
    assert moved < 2000 or spent > 0.999 * delta


def test_releases_with_gaussian_noise_state_their_privacy():
    law = beyond.GaussianNoise.approximate(1, 1e-6)
    records, options = (["a", "a", "b"], [1.0, 2.0, 3.0]), {"lower": 0, "upper": 6, "budget": law}
    result = release.private_mean(*records, **options, total_width=6)
    assert (result.sigma, result.delta(1)) == (law.sigma, law.delta(1))
    assert f"rho = {result.rho:.6g} (zCDP), user-level" in repr(result)
    assert "standard deviation" in repr(result)
    pure = release.private_mean(*records, **options | {"budget": 3})
    assert (pure.sigma, pure.delta(3), pure.delta(9)) == (None, 0, 0)
    assert pure.delta(2) == pytest.approx(1 - np.exp(-1))  # no eps-DP mechanism spends more
    with pytest.warns(UserWarning, match="not stated"):
        assert release.private_mean(*records, **options, outside="drop").delta(9) == 1
    result = release.private_mean(["a"], [1.0], **options, objective="bound")  # nothing is learnt
    assert (result.rho, result.delta(0.1), result.noise_scale) == (0, 0, 0)
