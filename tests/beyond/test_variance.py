"""The variance with capped sums of squares: the cap, the bias, the sensitivity and the noise.

- `capped_variance` is the smallest capped sum over all sets of uncapped users; the tests enumerate
  these sets, in Fractions.
- At `variance_cap` its sensitivity is S/N, its bias that of thm-modulus-bias, and its error half of
  the majorant, over all datasets of small collections. By a linear program, no estimator has a
  smaller error.
- `opt_variance` is `capped_variance` plus the bias, with noise of the law for S/N.

test_privacy.py tests that a release spends exactly its budget.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import programs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BUDGETS, EXTREME, GEOMETRIC, LAWS, budgets, collections

import userdp as ud
from userdp import beyond
from userdp.audit import Recorder


def moments(datasets):
    """Users' sums and sums of squares, for each dataset."""
    return (
        [[sum(x**power for x in samples) for samples in users] for users in datasets]
        for power in (1, 2)
    )


def least_capped(users, cap):
    """The smallest over all sets of users, over N; users outside the set count as the cap each."""
    L, candidates = len(users), []
    for chosen in product([False, True], repeat=L):
        samples = [x for x, uncapped in zip(users, chosen, strict=True) if uncapped]
        samples = [x for user in samples for x in user]
        total, squares = sum(samples), sum(x * x for x in samples)
        about_mean = squares - Fraction(total) ** 2 / max(len(samples), 1)
        candidates.append(about_mean + cap * (L - sum(chosen)))
    return min(candidates) / sum(map(len, users))


LEVELS = st.sampled_from([Fraction(k, 8) for k in range(9)])


@st.composite
def samples_of_users(draw):
    """Few users with few samples: arbitrary, at the ends, all equal, or equal for each user."""
    counts = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    level = draw(LEVELS)
    kind = draw(
        st.sampled_from([LEVELS, st.sampled_from([Fraction(0), Fraction(1)]), st.just(level)])
    )
    users = [[draw(kind) for _ in range(m)] for m in counts]
    return [[x[0]] * len(x) for x in users] if draw(st.booleans()) else users


@given(users=samples_of_users(), cap=st.sampled_from(["0", "1/50", "1/3", "1/2", "1", "3", "99"]))
def test_capped_variance_is_the_smallest_over_all_sets_of_capped_users(users, cap):
    """Includes no cap, a cap of 0, a single user, equal users, and equal samples."""
    sums, squares = (np.array(rows[0], float) for rows in moments([users]))
    public = ud.Contributions([*map(len, users)], 1)
    S = Fraction(cap)
    variance = beyond.capped_variance(sums, squares, public, S)
    assert variance == pytest.approx(float(least_capped(users, S)), abs=1e-14)
    assert variance >= 0
    scaled = ud.Contributions(public.counts, 65)
    again = beyond.capped_variance(65 * sums, 65**2 * squares, scaled, 65**2 * S)
    assert again == pytest.approx(65**2 * variance, abs=1e-10)


def test_capped_variance_agrees_with_a_fine_grid_of_centres():
    rng = np.random.default_rng(8)
    for L in (2, 5, 30, 100):
        for _ in range(8):
            m = rng.choice([1, 2, 7, 300], L)
            means = rng.choice([rng.random(), rng.random(L).mean(), 0.5]) * rng.random(L)
            within = m * rng.random(L) * 0.02
            sums, squares = m * means, within + m * means**2
            squares = np.minimum(squares, sums)
            S = float(rng.choice([0.01, 0.1, 1, 10]))
            centres = np.linspace(0, 1, 8_001)[:, None]
            terms = squares - 2 * centres * sums + m * centres**2
            grid = np.minimum(terms, S).sum(axis=1).min() / m.sum()
            variance = beyond.capped_variance(sums, squares, ud.Contributions(m, 1), S)
            assert variance <= grid + 1e-13
            # Between two centres of the grid, the sum falls at most as a parabola does.
            assert variance >= grid - 1e-7 * m.sum() * L


@pytest.mark.parametrize("largest", [10**6, 10**12])
def test_the_heaviest_users_do_not_reduce_precision_for_the_others(largest):
    """The heavy user is capped; the rest is known, as two of the three light users are equal."""
    users = ud.Contributions([largest, 1, 1, 1], 1)
    sums, squares = [largest / 3, 0.75, 0.75, 1], [largest / 3, 0.75**2, 0.75**2, 1]
    variance = beyond.capped_variance(sums, squares, users, 0.5) * users.total
    assert variance == pytest.approx(0.5 + 1 / 24, rel=1e-9)


def test_a_large_cap_gives_the_variance_and_a_cap_of_zero_gives_zero():
    rng = np.random.default_rng(9)
    samples = rng.random(20)
    users = ud.Contributions([7, 1, 12], 2)
    parts = np.split(2 * samples, [7, 8])
    sums, squares = [x.sum() for x in parts], [(x**2).sum() for x in parts]
    for cap in (48, 1e300, 1e308):
        variance = beyond.capped_variance(sums, squares, users, cap)
        assert variance == pytest.approx((2 * samples).var(), rel=1e-13)
    for cap in (0, 5e-324, 1e-300):
        assert beyond.capped_variance(sums, squares, users, cap) <= cap
    alike = ud.Contributions([3], 0.7)
    assert beyond.capped_variance([0.3], [0.03], alike, 1) == pytest.approx(0, abs=1e-17)
    assert beyond.capped_variance([2.1], [1.47], alike, 1) == pytest.approx(0, abs=1e-16)


# The estimator
def all_datasets(counts, levels):
    tables = [[*combinations_with_replacement(levels, m)] for m in counts]
    rows = np.array([*product(*(range(len(table)) for table in tables))])
    distances = sum(np.not_equal.outer(column, column) for column in rows.T)
    return [[t[i] for t, i in zip(tables, row, strict=True)] for row in rows.tolist()], distances


@pytest.mark.parametrize("counts", [(1, 1, 1, 1), (2, 1, 1), (3, 2), (2, 1, 1, 1), (4,)], ids=str)
def test_bias_and_sensitivity_are_those_of_the_theorem(counts):
    users = ud.Contributions(counts, 1)
    modulus = beyond.modulus_of_variance(users)
    datasets, distances = all_datasets(counts, (0.0, 0.5, 1.0))
    sums, squares = (np.array(rows) for rows in moments(datasets))
    f = squares.sum(axis=1) / users.total - (sums.sum(axis=1) / users.total) ** 2
    for eps in (0.4, 0.5, 0.8, 1, 1.5, 2, 5):
        S = beyond.variance_cap(users, eps)
        bias = modulus.smallest_bias(S / users.total)
        estimate = beyond.capped_variance(sums, squares, users, S) + bias
        assert abs(estimate - f).max() == pytest.approx(bias, abs=1e-14)
        changes = abs(np.subtract.outer(estimate, estimate))[distances == 1]
        assert changes.max() == pytest.approx(S / users.total, abs=1e-14)
        error = bias + S / users.total / eps
        assert error == pytest.approx(modulus.optimal_error(eps), rel=1e-14)


@pytest.mark.parametrize("counts", [(1, 1, 1, 1), (2, 1, 1), (2, 2), (2, 1, 1, 1)], ids=str)
def test_no_estimator_has_a_smaller_error(counts):
    datasets, distances = all_datasets(counts, (0.0, 1.0))
    f = np.array([np.var(np.concatenate(users)) for users in datasets])
    modulus = beyond.modulus_of_variance(ud.Contributions(counts, 1))
    for eps in (0.5, 0.8, 1.3, 2, 3):
        smallest = programs.least_error(f, distances, 1 / eps)
        assert modulus.optimal_error(eps) == pytest.approx(smallest, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(
    ("users", "optimal", "laplace", "constant"),
    [
        (GEOMETRIC, [522, 461, 356], [2069, 1035, 517], 528),
        (EXTREME, [276, None, 190], [1397], 528),
    ],
    ids=["geometric", "extreme"],
)
def test_errors_on_the_papers_collections_have_the_values_stated(users, optimal, laplace, constant):
    """Optimal errors, those of Laplace noise without a cap, and that of a constant, in (km/h)^2."""
    modulus = beyond.modulus_of_variance(users)
    for eps, error in zip((0.25, 0.5, 1), optimal, strict=True):
        assert error is None or round(modulus.optimal_error(eps)) == error
    for eps, error in zip((0.25, 0.5, 1), laplace, strict=False):
        assert round(modulus(1) / eps) == error
    assert round(modulus.smallest_bias(0)) == constant


def test_bias_and_sensitivity_bounds_hold_for_random_samples():
    rng = np.random.default_rng(10)
    for i in range(400):
        m = rng.integers(1, 7, rng.integers(1, 9))
        users, eps = ud.Contributions(m, 1), rng.choice([0.4, 0.7, 1, 1.5, 2, 4])
        S = beyond.variance_cap(users, eps)
        bias = beyond.modulus_of_variance(users).smallest_bias(S / users.total)
        samples = [rng.choice([0, 1, 0.5, rng.random()], n) if i % 2 else rng.random(n) for n in m]
        neighbour = [*samples]
        user = int(rng.integers(m.size))
        neighbour[user] = rng.choice([0, 1], m[user]) if i % 3 else np.full(m[user], rng.random())
        sums, squares = (np.array(rows) for rows in moments([samples, neighbour]))
        first, second = beyond.capped_variance(sums, squares, users, S)
        assert abs(first - second) <= S / users.total + 1e-14
        assert -1e-14 <= np.var(np.concatenate(samples)) - first <= 2 * bias + 1e-14


@given(users=collections(), eps=budgets())
def test_cap_is_n_times_the_optimal_sensitivity(users, eps):
    modulus = beyond.modulus_of_variance(users)
    for budget in (eps, float(eps), beyond.GaussianNoise(float(eps)), beyond.StaircaseNoise(eps)):
        S = beyond.variance_cap(users, budget)
        assert users.total * modulus.optimal_sensitivity(budget) == S
        floats = ud.Contributions(users.counts, float(users.upper))
        assert beyond.variance_cap(floats, budget) == pytest.approx(float(S), rel=1e-14)
    bias = modulus.smallest_bias(beyond.variance_cap(users, eps) / users.total)
    law = beyond.LaplaceNoise(eps)
    error = bias + beyond.variance_cap(users, eps) / users.total * law.mean_abs
    assert error == modulus.optimal_error(eps)


# The release
USERS = ud.Contributions([5, 3, 3, 1, 1, 1], 10)
SUMS = np.array([41.0, 30.0, 2.5, 9.0, 0.0, 4.0])
SQUARES = np.array([400.0, 300.0, 20.0, 81.0, 0.0, 16.0])


@pytest.mark.parametrize("eps", BUDGETS)
def test_a_release_is_capped_variance_plus_bias_with_noise_for_the_cap(eps):
    S = beyond.variance_cap(USERS, eps)
    bias = beyond.modulus_of_variance(USERS).smallest_bias(S / 14)
    expected = beyond.capped_variance(SUMS, SQUARES, USERS, S) + bias
    release = beyond.opt_variance(SUMS, SQUARES, USERS, eps, rng=Recorder())
    assert float(release.value) == pytest.approx(expected, rel=1e-14)
    assert float(release.scale) == pytest.approx(S / 14 / eps, rel=1e-12)


@pytest.mark.parametrize("law", LAWS.values())
def test_the_noise_of_a_release_has_the_mean_absolute_value_of_the_given_law(law):
    noise = law(1.5)
    S = beyond.variance_cap(USERS, noise)
    copies = np.broadcast_to(SUMS, (40_000, 6)), np.broadcast_to(SQUARES, (40_000, 6))
    bias = beyond.modulus_of_variance(USERS).smallest_bias(S / 14)
    expected = beyond.capped_variance(SUMS, SQUARES, USERS, S) + bias
    errors = abs(beyond.opt_variance(*copies, USERS, noise, rng=3) - expected)
    assert abs(errors.mean() - S / 14 * float(noise.mean_abs)) < 5 * errors.std() / 200


def test_datasets_in_a_batch_give_the_same_results_as_alone_and_are_not_changed():
    rng = np.random.default_rng(4)
    means = rng.random((5, 2, 6)) * 10
    sums, squares = means * USERS.counts, means * means * USERS.counts
    before = sums.copy(), squares.copy()
    batch = beyond.capped_variance(sums, squares, USERS, 40)
    assert batch.shape == (5, 2)
    single = beyond.capped_variance(sums[3, 1], squares[3, 1], USERS, 40)
    assert single.shape == ()
    assert batch[3, 1] == single
    np.testing.assert_array_equal(before, (sums, squares))


def test_rounded_moments_are_accepted():
    """In float32, where squares may be slightly below the minimum, that of equal samples."""
    means = np.random.default_rng(5).random(6).astype(np.float32) * 10
    sums = (means * USERS.counts).astype(np.float32)
    squares = (means * means * USERS.counts).astype(np.float32)
    variance = beyond.capped_variance(sums, squares, USERS, 1000)
    assert variance == pytest.approx(np.repeat(means, USERS.counts).var(), rel=1e-5)


@pytest.mark.slow
def test_the_capped_variance_of_a_million_users_agrees_with_a_grid_of_centres():
    rng = np.random.default_rng(2)
    m = rng.integers(1, 100, 10**6)
    users, means = ud.Contributions(m, 1), rng.beta(8, 12, 10**6)
    sums, squares = m * means, m * (means**2 + 0.05 * means * (1 - means))
    variance = squares.sum() / users.total - (sums.sum() / users.total) ** 2
    assert beyond.capped_variance(sums, squares, users, 1e9) == pytest.approx(variance, rel=1e-9)
    capped = beyond.capped_variance(sums, squares, users, 3.0)
    centres = np.linspace(0.35, 0.45, 41)
    grid = [np.minimum(squares - 2 * c * sums + m * c * c, 3.0).sum() for c in centres]
    assert min(grid) / users.total * (1 - 1e-4) < capped <= min(grid) / users.total * (1 + 1e-9)
    modulus = beyond.modulus_of_variance(users)
    release = beyond.opt_variance(sums, squares, users, 1e-4, rng=0)
    assert abs(release - variance) < 2 * modulus.optimal_error(1e-4)
