"""Clipping around a public or a bought centre: the page's propositions."""

from fractions import Fraction
from functools import partial

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of
from scipy import stats
from strategies import budgets, collections

import userdp as ud

PAIR = {
    "geometric": ud.geometric_collection(6, 65),
    "extreme": ud.extreme_collection(101, 10, 65),
}
MOTORWAY = partial(ud.beta_sums, a=8, b=2)
PAGE = functions_of("centre", Fraction=Fraction)

shares = st.fractions(min_value=0, max_value=1, max_denominator=12)


def certificate(counts, upper, S, c, eps):
    """Part 1 of the proposition, term by term."""
    below = sum(max(m * c - S / 2, 0) for m in counts)
    above = sum(max(m * (upper - c) - S / 2, 0) for m in counts)
    moved = min(S / 2, c * max(counts)) + min(S / 2, (upper - c) * max(counts))
    return max(below, above) / sum(counts), moved / sum(counts), eps


@given(users=collections(max_samples=6), width=shares, place=shares)
def test_bias_and_sensitivity_around_a_centre_from_the_definitions(users, width, place):
    counts, U = users.counts.tolist(), users.upper
    S, c = width * U * max(counts), place * U
    clipping = ud.centred_clipping(users, S, c)
    bias, change, _ = certificate(counts, U, S, c, None)
    assert bias == ud.worst_case_bias(users, clipping)
    assert bias == oracle.largest_bias(counts, U, clipping)
    assert change == ud.sensitivity(users, clipping)
    assert change == oracle.largest_change(counts, U, clipping)


@given(users=collections(), width=shares, place=shares, eps=budgets())
def test_the_middle_is_best_up_to_the_threshold_and_moving_costs_at_most_the_distance(
    users, width, place, eps
):
    U = users.upper
    S, c = width * U * users.max_count, place * U
    around, middle = ud.centred_clipping(users, S, c), ud.centred_clipping(users, S)
    assert ud.worst_case_bias(users, around) >= ud.worst_case_bias(users, middle)
    assert ud.sensitivity(users, around) <= ud.sensitivity(users, middle)
    error, least = (ud.worst_case_error(users, x, eps) for x in (around, middle))
    kappa = Fraction(int(users.counts[users.largest_sums > S / 2].sum()), users.total)
    assert error <= least + kappa * abs(c - U / 2)
    if ud.threshold(users, eps) >= S:
        assert error >= least


def test_beyond_the_threshold_another_centre_can_have_the_smaller_certificate():
    users, eps = ud.Contributions([1], Fraction(1)), Fraction(1, 10)
    S = Fraction(1, 2)
    assert ud.threshold(users, eps) < S
    errors = [
        ud.worst_case_error(users, ud.centred_clipping(users, S, c), eps)
        for c in (Fraction(0), Fraction(1, 2))
    ]
    assert errors == [Fraction(13, 4), Fraction(21, 4)]


def test_the_bound_on_the_cost_is_attained():
    users, eps = ud.Contributions([3, 1], Fraction(8)), Fraction(1, 2)  # T = 0
    for c in range(9):
        around = ud.centred_clipping(users, ud.threshold(users, eps), Fraction(c))
        cost = ud.worst_case_error(users, around, eps) - ud.optimal_error(users, eps)
        assert cost == abs(c - 4)


@pytest.mark.parametrize("seed", range(20))
def test_the_bias_on_a_dataset_and_none_of_it_near_the_centre(seed):
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 9, size=6), 10)
    c, S = rng.uniform(0, 10), rng.uniform(0, 10 * users.max_count)
    sums = rng.uniform(0, 1, 6) * users.largest_sums
    excess = np.maximum(np.abs(sums - c * users.counts) - S / 2, 0).sum() / users.total
    no_noise = ud.clipped_mean_error(sums, users, S, 1e12, centre=c)
    assert no_noise <= excess + 1e-9
    reach = S / 2 / users.counts
    averages = np.clip(c + rng.uniform(-1, 1, 6) * reach, 0, 10)
    scale = ud.sensitivity(users, ud.centred_clipping(users, S, c)) / 0.7
    error = ud.clipped_mean_error(averages * users.counts, users, S, 0.7, centre=c)
    assert error == pytest.approx(scale)


class Recorder:
    """Takes the place of a generator: no noise, but its scale is written down."""

    def laplace(self, scale, size):
        self.scale = scale
        return np.zeros(size)


@given(users=collections())
def test_one_vote_a_user_moves_the_centre_by_at_most_the_bound_over_the_users(users):
    recorder, floats = Recorder(), ud.Contributions(users.counts, float(users.upper))
    sums = np.zeros((users.n_users, users.n_users))
    np.fill_diagonal(sums, floats.largest_sums)  # dataset l: only user l is not at zero
    moved = PAGE.private_centre(sums, floats, 0.5, recorder)
    np.testing.assert_allclose(moved, floats.upper / floats.n_users)
    assert recorder.scale == pytest.approx(moved[0] / 0.5)
    everybody = PAGE.private_centre(floats.largest_sums, floats, 0.5, recorder)
    assert everybody == pytest.approx(floats.upper)


@pytest.mark.parametrize("seed", range(30))
def test_the_pair_of_centre_and_release_spends_at_most_eps(seed):
    """The joint density of the noisy vote and the release, on a grid."""
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 6, size=4), 8)
    eps, share = rng.uniform(0.2, 2), rng.uniform(0.1, 0.9)
    S = rng.uniform(0.05, 1) * 8 * users.max_count
    first = rng.uniform(0, 1, 4) * users.largest_sums
    who = int(np.argmax(users.counts)) if seed % 2 else int(rng.integers(4))
    first[who] *= 1 - seed % 2
    second = first.copy()
    second[who] = users.largest_sums[who] if seed % 2 else rng.uniform(0, users.largest_sums[who])
    g, y = np.linspace(-20, 28, 97), np.linspace(-60, 68, 257)

    def laplace(x, middle, scale):  # scipy's logpdf is -inf where the density underflows
        return -np.abs(x - middle) / scale - np.log(2 * scale)

    def log_density(sums):
        vote = laplace(g, np.mean(sums / users.counts), 2 / (share * eps))
        c = np.clip(g, 0, 8)[:, None]
        kept = np.clip(sums - users.counts * c, -S / 2, S / 2).sum(axis=1, keepdims=True)
        moved = [
            ud.sensitivity(users, ud.centred_clipping(users, S, float(x))) for x in np.clip(g, 0, 8)
        ]
        scale = np.array(moved)[:, None] / ((1 - share) * eps)
        return vote[:, None] + laplace(y, c + kept / users.total, scale)

    ratio = np.abs(log_density(first) - log_density(second)).max()
    assert ratio <= eps * (1 + 1e-9)
    assert seed % 2 == 0 or ratio >= eps * (1 - 1e-9)


def test_the_page_spends_its_budget_as_it_says():
    users, rest = PAIR["extreme"], 0.75
    sums = MOTORWAY(users, 1, rng=3)[0]
    c, release = PAGE.two_stage(sums, users, 1, 0.25, np.random.default_rng(8))
    rng = np.random.default_rng(8)
    vote = np.mean(sums / users.counts) + rng.laplace(scale=65 / 101 / 0.25)
    assert c == pytest.approx(np.clip(vote, 0, 65))
    kept = np.clip(sums - users.counts * c, -32.5, 32.5).sum()  # the threshold is U here
    moved = min(32.5, 10 * c) + min(32.5, 10 * (65 - c))
    noise = rng.laplace(scale=moved / rest)
    assert release == pytest.approx(c + (kept + noise) / users.total)


@pytest.mark.parametrize("name", PAIR)
def test_two_stage_errors_are_those_of_the_mechanism(name):
    users, eps = PAIR[name], 0.7
    sums = MOTORWAY(users, 1, rng=4)[0]
    rng = np.random.default_rng(5)
    runs = [PAGE.two_stage(sums, users, eps, 0.2, rng)[1] for _ in range(2000)]
    simulated = np.abs(np.array(runs) - sums.sum() / users.total)
    exact = PAGE.two_stage_error(np.tile(sums, (20_000, 1)), users, eps, 0.2, rng)
    spread = np.hypot(simulated.std() / len(runs) ** 0.5, exact.std() / len(exact) ** 0.5)
    assert abs(simulated.mean() - exact.mean()) < 5 * spread


def test_errors_around_many_centres_are_those_around_each():
    users = PAIR["geometric"]
    sums, centres = MOTORWAY(users, 6, rng=6), np.array([0, 1, 20, 32.5, 64.9, 65])
    S = ud.threshold(users, 0.5)
    together = PAGE.error_around(sums, users, S, centres, 0.5)
    for x, c, error in zip(sums, centres, together, strict=True):
        assert error == pytest.approx(ud.clipped_mean_error(x, users, S, 0.5, centre=c))


@pytest.mark.parametrize("seed", range(20))
def test_certificate_of_the_two_stages(seed):
    """Any dataset, with the centre integrated out on a fine grid of quantiles."""
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 9, size=7), 10)
    eps, share = rng.uniform(0.1, 3), rng.uniform(0.1, 0.9)
    rest, S = (1 - share) * eps, ud.threshold(users, (1 - share) * eps)
    sums = rng.integers(0, 2, 7) * users.largest_sums
    u = (np.arange(400) + 0.5) / 400
    scale = 10 / 7 / (share * eps)
    c = np.clip(np.mean(sums / users.counts) + stats.laplace.ppf(u, scale=scale), 0, 10)
    errors = PAGE.error_around(np.tile(sums, (400, 1)), users, S, c, rest)
    given_c = [ud.worst_case_error(users, ud.centred_clipping(users, S, float(x)), rest) for x in c]
    assert (errors <= np.array(given_c) + 1e-9).all()
    kappa = users.counts[users.largest_sums > S / 2].sum() / users.total
    bound = ud.optimal_error(users, rest) + kappa * np.mean(np.abs(c - 5))
    assert errors.mean() <= np.mean(given_c) + 1e-9 <= bound + 2e-9


def datasets(data):
    """The page's datasets: the first that its generator makes."""
    rng = np.random.default_rng(int(data.seed.iloc[0]))
    trials = int(data.trials.iloc[0])
    return {name: MOTORWAY(users, trials, rng=rng) for name, users in PAIR.items()}


def test_a_centre_that_is_a_fraction_stays_exact():
    users = ud.Contributions([3], Fraction(1))
    clipping = ud.centred_clipping(users, Fraction(1, 7), Fraction(1, 3))
    assert clipping.lower[0] == Fraction(1, 3) - Fraction(1, 42)
    assert clipping.upper[0] == Fraction(1, 3) + Fraction(1, 42)
