"""The split release (thm-split): heavy users and all others, each part with the full budget.

1. The parts divide the users: those with at least a certain count are heavy, all others light.
2. The guarantee is the sum of the parts' projected errors (thm-projected), weighted by their shares
   of the samples, each at the best width of a list. `best_split` takes the best split below one of
   the 16 largest counts with at most 1,000 heavy users, or does not split if that saves nothing.
   The list of widths loses little (prp-projected-width).
3. No dataset has a larger error, by the exact law of the sum of two independent projected errors.
4. Neighbours differ in one part, which spends exactly eps, by densities (Definition II.1).
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from strategies import LAWS

import userdp as ud
from tools.ext.contents import page
from userdp import audit, beyond
from userdp.beyond import split as search

ONE_HEAVY = ud.Contributions([100] + [1] * 900, upper=1)
TEN_HEAVY = ud.Contributions([100] * 10 + [1] * 1000, upper=1)
EXTREME = ud.extreme_collection(n_users=101, max_count=10, upper=65)
GEOMETRIC = ud.geometric_collection(M=6, upper=65)


def unsplit_error(users, budget):
    return beyond.projected_error(users, beyond.threshold(users, budget, "l1"), budget)


def best_of_listed_widths(users, eps):
    """The smallest error over the widths listed in the docstring of `best_split`, and its width."""
    top, mean = float(users.upper * users.max_count), float(users.upper * users.total)
    steps = [top * share / 64 for share in range(1, 65)]
    width = top
    while width > mean / users.n_users / 200:
        steps.append(width := width / 1.005)
    widths = [S for S in steps if S / users.total / eps <= 1000 * users.upper]
    widths.append(float(beyond.threshold(users, eps, "l1")))
    return min((beyond.projected_error(users, width, eps), width) for width in widths)


# 1. The parts
def test_users_of_one_count_stay_together():
    split = beyond.best_split(TEN_HEAVY, 0.1)
    assert split.heavy_from == 100
    assert [part.users.n_users for part in split.parts] == [10, 1000]


@pytest.mark.parametrize("users", [ONE_HEAVY, TEN_HEAVY, EXTREME], ids=["one", "ten", "extreme"])
@pytest.mark.parametrize("eps", [0.25, 1, 3])
def test_each_user_is_in_one_part(users, eps):
    split = beyond.best_split(users, eps)
    members = np.concatenate([part.users.counts for part in split.parts])
    np.testing.assert_array_equal(np.sort(members), np.sort(users.counts))
    assert sum(part.share for part in split.parts) == 1
    shares = [Fraction(part.users.total, users.total) for part in split.parts]
    assert [part.share for part in split.parts] == shares
    assert {part.users.upper for part in split.parts} == {users.upper}
    if split.heavy_from is not None:
        heavy, others = split.parts
        assert heavy.users.counts.min() == split.heavy_from
        assert others.users.counts.max() < split.heavy_from


# 2. The guarantee
@pytest.mark.slow
@pytest.mark.parametrize("noise", ["laplace", "staircase"])
@pytest.mark.parametrize("eps", [0.1, 1, 3])
def test_the_guarantee_is_the_weighted_sum_of_the_parts(noise, eps):
    for users in (ONE_HEAVY, TEN_HEAVY, EXTREME, GEOMETRIC):
        split = beyond.best_split(users, LAWS[noise](eps))
        errors = [
            beyond.projected_error(part.users, part.total_width, LAWS[noise](eps))
            for part in split.parts
        ]
        assert [part.error for part in split.parts] == errors
        shares = [float(part.share) for part in split.parts]
        assert split.error == pytest.approx(np.dot(shares, errors), rel=1e-12)
        assert split.error <= unsplit_error(users, LAWS[noise](eps))


@pytest.mark.parametrize("eps", [0.1, 0.5, 1, 2, 3])
def test_users_are_not_split_if_that_saves_nothing(eps):
    for users in (GEOMETRIC, ud.Contributions([3] * 7, 1)):
        split = beyond.best_split(users, eps)
        assert split.heavy_from is None
        error, width = best_of_listed_widths(users, eps)
        ((users_of_part, S, share, stated),) = split.parts
        assert (users_of_part, share, stated) == (users, 1, split.error)
        assert (stated, S) == (pytest.approx(error, rel=1e-12), pytest.approx(width, rel=1e-9))
        assert split.error <= unsplit_error(users, eps)


@pytest.mark.slow
def test_the_best_of_all_splits_is_found():
    """Try each split of small collections, with the widths listed in the docstring."""
    rng = np.random.default_rng(5)
    for _ in range(4):
        counts = rng.integers(1, 1 + int(rng.choice([3, 40])), rng.integers(1, 8))
        users = ud.Contributions(np.append(counts, rng.integers(1, 200)), upper=1.0)
        eps = float(rng.choice([0.2, 1, 3]))
        errors = [best_of_listed_widths(users, eps)[0]]
        for size in np.unique(users.counts)[1:]:
            heavy = ud.Contributions(users.counts[users.counts >= size], 1.0)
            light = ud.Contributions(users.counts[users.counts < size], 1.0)
            parts = [(part.total, best_of_listed_widths(part, eps)[0]) for part in (heavy, light)]
            errors.append(sum(n * error for n, error in parts) / users.total)
        assert beyond.best_split(users, eps).error == pytest.approx(min(errors), rel=1e-12)


def test_the_search_for_a_width_lowers_the_error_as_stated():
    """Errors at the l1 threshold and at the best listed width, in units of U."""
    expected = {
        ((4, 2, 1), 0.25): (0.434, 0.390),
        ((4, 2, 1), 1): (0.273, 0.258),
        ((1,) * 8, 0.1): (0.429, 0.366),
        ((1,) * 20, 0.05): (0.406, 0.344),
        ((5,) * 2 + (2,) * 9, 0.1): (0.395, 0.341),
    }
    for (counts, eps), errors in expected.items():
        users = ud.Contributions(counts, 65)
        computed = unsplit_error(users, eps) / 65, beyond.best_split(users, eps).error / 65
        assert computed == pytest.approx(errors, abs=5.1e-4)


LAWS_BY_SCALE = {
    "laplace": lambda scale: beyond.LaplaceNoise(1 / scale),
    "Gauss": beyond.GaussianNoise,
}


@pytest.mark.parametrize("law", LAWS_BY_SCALE.values(), ids=LAWS_BY_SCALE)
def test_a_geometric_list_of_widths_loses_little(law):
    """prp-projected-width: its two monotonicities, and the consequence for 0.5 % narrower noise."""
    rng = np.random.default_rng(11)
    for _ in range(15):
        users = ud.Contributions(rng.integers(1, 20, rng.integers(1, 9)), 1.0)
        scale, top = float(rng.choice([0.3, 1, 4, 12])), float(users.max_count)
        S = np.sort(rng.uniform(0.02, 1, 12)) * top
        # The same noise for each width, then wider noise for one width.
        errors = [beyond.projected_error(users, s, law(scale / s)) for s in S]
        wider = [beyond.projected_error(users, S[5], law(x)) for x in np.linspace(0.1, 9, 12)]
        assert np.all(np.diff(errors) <= 1e-12)
        assert np.all(np.diff(wider) >= -1e-12)
        widths = np.linspace(0.01, 1, 300) * top
        best = min(beyond.projected_error(users, s, law(scale)) for s in widths)
        assert beyond.best_split(users, law(scale / 1.005)).error <= best / 0.995


def test_widths_with_noise_beyond_the_range_of_floats_are_skipped():
    """Errors would be differences of huge numbers there, and be computed as 0."""
    for budget in (1e-12, 1e-300, beyond.StaircaseNoise(1e-150), beyond.GaussianNoise(1e100)):
        for counts in ([1], [4, 2, 1], [1] * 1000):
            error = beyond.best_split(ud.Contributions(counts, 1.0), budget).error
            assert error == pytest.approx(0.5, abs=1e-6)


def test_a_split_saves_the_percentages_stated():
    """In per cent; 0 means that users are not split."""
    savings = {
        (name, eps, noise): 1
        - beyond.best_split(users, LAWS[noise](eps)).error / unsplit_error(users, LAWS[noise](eps))
        for name, users in {"one": ONE_HEAVY, "ten": TEN_HEAVY, "extreme": EXTREME}.items()
        for eps in (0.5, 1, 2, 3)
        for noise in ("laplace", "staircase")
    }
    assert [round(100 * savings["one", eps, "laplace"]) for eps in (0.5, 1, 2, 3)] == [
        10,
        19,
        23,
        23,
    ]
    assert [round(100 * savings["one", eps, "staircase"]) for eps in (1, 2, 3)] == [21, 31, 27]
    assert [round(100 * savings["extreme", eps, "laplace"]) for eps in (2, 3)] == [10, 11]
    assert savings["extreme", 0.5, "laplace"] == 0
    # With many heavy users, a split helps if the budget is small.
    assert savings["ten", 0.5, "laplace"] > 0.1
    assert savings["ten", 3, "laplace"] == 0


def test_a_split_with_gaussian_noise_saves_too():
    law = beyond.GaussianNoise.zcdp(0.5)
    split = beyond.best_split(ONE_HEAVY, law)
    assert split.heavy_from == 100
    assert split.error < unsplit_error(ONE_HEAVY, law)


@pytest.mark.slow
def test_splits_are_tried_below_the_16_largest_counts_with_at_most_1000_heavy_users():
    crowd = ud.Contributions([100] * 1001 + [1] * 100_000, upper=1)
    assert beyond.best_split(crowd, 0.01).heavy_from is None
    assert (
        beyond.best_split(ud.Contributions([100] * 1000 + [1] * 100_000, 1), 0.01).heavy_from == 100
    )
    sixteen_counts = ud.Contributions([*range(1000, 1016), *[1] * 50_000], upper=1)
    assert beyond.best_split(sixteen_counts, 0.2).heavy_from == 1000
    seventeen_counts = ud.Contributions([*range(1000, 1017), *[1] * 50_000], upper=1)
    assert beyond.best_split(seventeen_counts, 0.2).heavy_from != 1000


# 3. No dataset has a larger error
def atoms(part, at_top, eps, steps=600):
    """The law of the error of a part's released mean, on a fine lattice.

    The `at_top` heaviest users of the part have all samples at U, the others at 0.
    """
    m = np.sort(part.users.counts)[::-1].astype(float)
    sums = np.where(np.arange(m.size) < at_top, m, 0.0)
    half_widths = np.minimum(part.total_width, m) / 2
    clipped = (np.clip(sums - m / 2, -half_widths, half_widths) + m / 2).sum() / m.sum()
    scale = part.total_width / m.sum() / eps
    ends = np.linspace(0, 1, steps + 1)
    below = np.where(
        ends < clipped,
        np.exp((ends - clipped) / scale) / 2,
        1 - np.exp((clipped - ends) / scale) / 2,
    )
    middles = np.r_[0, (ends[:-1] + ends[1:]) / 2, 1]
    weights = np.r_[below[0], np.diff(below), 1 - below[-1]]
    return middles - sums.sum() / m.sum(), weights


@pytest.mark.parametrize("eps", [1, 2, 3])
def test_no_dataset_has_an_error_above_the_guarantee(eps):
    """By convolution of both parts' errors, for datasets with the heaviest users of a part at U."""
    users = ud.Contributions([20, 1, 1, 1, 1, 1], upper=1)
    split = beyond.best_split(users, eps)
    assert split.heavy_from == 20
    heavy, others = split.parts
    worst = 0.0
    for n_at_top in product(range(2), range(6)):
        x, p = atoms(heavy, n_at_top[0], eps)
        y, q = atoms(others, n_at_top[1], eps)
        errors = abs(float(heavy.share) * x[:, None] + float(others.share) * y)
        worst = max(worst, float(p @ errors @ q))
    assert 0.8 * split.error < worst <= split.error * (1 + 1e-3)


# 4. Privacy
@pytest.mark.parametrize("eps", [0.5, 2])
def test_neighbours_spend_the_budget_in_one_part_and_nothing_in_the_other(eps):
    """The parts are independent, so the log ratios of their densities add up."""
    split = beyond.best_split(ONE_HEAVY, 2)
    heavy = np.sort(ONE_HEAVY.counts)[::-1] >= split.heavy_from
    rng = np.random.default_rng(7)
    first = rng.uniform(0, np.sort(ONE_HEAVY.counts)[::-1], (300, ONE_HEAVY.n_users))
    first[:2, :] = 0.0
    second = first.copy()
    user = rng.integers(0, 3, 300)  # the heavy one, or one of two others
    user[:2] = 0, 1
    second[np.arange(300), user] = np.where(user == 0, 100.0, 1.0)
    spent = np.zeros((300, 2))
    for index, (part, members) in enumerate(zip(split.parts, (heavy, ~heavy), strict=True)):

        def release(sums, users, rng, width=part.total_width):
            return beyond.clipped_mean(sums, users, width, eps, rng=rng)

        pairs = audit.Pairs(part.users, first[:, members], second[:, members])
        spent[:, index] = audit.mean_log_ratio(release, pairs)
    assert np.all(np.count_nonzero(spent, axis=1) <= 1), "a neighbour moves both parts"
    assert spent.sum(axis=1).max() < eps * 1.000001, "too little noise"
    assert spent.max(axis=0) == pytest.approx([eps, eps], rel=1e-6), "too much noise"


def test_the_page_states_the_settings_of_the_search_for_a_width():
    texts = [cell.source for cell in page("projection").cells]
    (words,) = [text for text in texts if "(sec-projection-width)=" in text]
    words = words[words.index("(sec-projection-width)=") :]
    assert f"{search._EQUAL_SHARES.size} equally spaced widths" in words
    assert f"$q={search._WIDTH_RATIO}$" in words
    assert f"${search._WIDEST_NOISE}\\,U$" in words
    assert rf"\frac1{{{round(1 / search._SMALLEST_SHARE_OF_MEAN)}}}" in words
