"""Average error against certificate: the trade-off, dropping and capping."""

import itertools
import sys
from contextlib import contextmanager
from fractions import Fraction
from functools import partial

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from page_functions import functions_of
from scipy.optimize import brentq

import userdp as ud

U = 65
COLLECTIONS = {
    "geometric": ud.geometric_collection(6, U),
    "extreme": ud.extreme_collection(101, 10, U),
}
LAWS = {"geometric": ud.uniform_sums, "extreme": ud.gaussian_sums}
BUDGETS = [0.25, 0.5, 1, 1.5, 2, 3]
SMALL = ud.Contributions([5, 3, 3, 1], upper=10)
few = settings(max_examples=40)
share = st.fractions(min_value=0, max_value=1, max_denominator=12)
both_laws = pytest.mark.parametrize("noise", ["laplace", "staircase"])


def page(seed=0):
    """The functions of the page, with random numbers of their own."""
    return functions_of("average", U=U, rng=np.random.default_rng(seed))


def fixed(sums):
    """A prior that always draws the same datasets."""
    return lambda users, n_trials, *, rng: sums


def small_trade(eps=1, n_trials=50, **options):
    return ud.tradeoff(SMALL, eps, ud.uniform_sums, n_trials, **{"rng": 1} | options)


# --- clipped_mean_error and clipped_mean --------------------------------------------------------


@both_laws
@pytest.mark.parametrize(("width", "centre"), [(7, None), (12, 8), (60, 2), (3, 0)])
def test_clipped_mean_and_its_error(width, centre, noise):
    """Centred sums clipped, and noise of their sensitivity: drawn, and integrated out."""
    law = {"laplace": ud.LaplaceNoise, "staircase": ud.StaircaseNoise}[noise](1.3)
    middle = 5 if centre is None else centre
    sums = ud.uniform_sums(SMALL, 40, rng=3)
    kept = np.clip(sums - middle * SMALL.counts, -width / 2, width / 2).sum(axis=1) / SMALL.total
    moved = ud.sensitivity(SMALL, ud.centred_clipping(SMALL, width, centre))
    bias = middle + kept - sums.sum(axis=1) / SMALL.total
    exact = ud.clipped_mean_error(sums, SMALL, width, 1.3, centre=centre, noise=noise)
    np.testing.assert_allclose(exact, law.mean_error(bias, moved), rtol=1e-9)
    release = ud.clipped_mean(sums, SMALL, width, 1.3, centre=centre, noise=noise, rng=7)
    drawn = law.draw(moved, (40,), np.random.default_rng(7))
    np.testing.assert_allclose(release, middle + kept + drawn)


@few
@given(strategies.collections(max_samples=4), strategies.fractions, share, share)
def test_certificate_holds_on_every_corner(users, eps, width_share, centre_share):
    """bias + noise from the definitions, and no dataset of 0s and Us errs more."""
    width = 2 * width_share * users.upper * users.max_count
    centre = centre_share * users.upper
    clipping = ud.centred_clipping(users, width, centre)
    certificate = ud.worst_case_error(users, clipping, eps)
    bias = oracle.largest_bias(users.counts, users.upper, clipping)
    change = oracle.largest_change(users.counts, users.upper, clipping)
    assert certificate == bias + change / eps
    corners = np.array(list(itertools.product(*([0, m] for m in users.counts))))
    errors = ud.clipped_mean_error(float(users.upper) * corners, users, width, eps, centre=centre)
    assert errors.max() <= float(certificate) * (1 + 1e-9)


# --- tradeoff, best, frontier -------------------------------------------------------------------


@both_laws
@pytest.mark.parametrize("upper", [10, Fraction(10)])
def test_tradeoff_holds_what_its_members_do_on_the_draws(noise, upper):
    users = ud.Contributions([5, 3, 3, 1], upper)
    sums = ud.uniform_sums(SMALL, 30, rng=2)
    options = {"centres": [7, 0, 5.5], "total_widths": [0, 3, 200, 31.0]}
    trade = ud.tradeoff(users, 0.7, fixed(sums), 30, **options, noise=noise)
    assert trade.centres.tolist() == [0, 5.5, 7]
    assert trade.total_widths.tolist() == [0, 3, 31, 200]
    assert trade.smallest_certificate == ud.optimal_error(SMALL, 0.7, noise=noise)
    for i, centre in enumerate(trade.centres):
        for j, width in enumerate(trade.total_widths):
            clipping = ud.centred_clipping(SMALL, width, centre)
            certificate = ud.worst_case_error(SMALL, clipping, 0.7, noise=noise)
            errors = ud.clipped_mean_error(sums, SMALL, width, 0.7, centre=centre, noise=noise)
            spread = errors.std(ddof=1) / 30**0.5
            np.testing.assert_allclose(trade.certificate[i, j], certificate, 1e-12)
            np.testing.assert_allclose(trade.mean_error[i, j], errors.mean(), 1e-10)
            np.testing.assert_allclose(trade.standard_error[i, j], spread, 1e-8, 1e-12)


@both_laws
@pytest.mark.parametrize("counts", [[5, 3, 3, 1], [90, 40, 11, 7, 3], *COLLECTIONS.values()])
@pytest.mark.parametrize("eps", [0.3, Fraction(1, 2), Fraction(2, 3), 0.99, 1, 2, 20])
def test_default_grid(counts, eps, noise):
    """Zero, equal ratios, the ends of the flat piece, and certificates in steps of 5 %."""
    users = counts if isinstance(counts, ud.Contributions) else ud.Contributions(counts, 10)
    trade = ud.tradeoff(users, eps, ud.uniform_sums, 2, noise=noise, rng=1)
    np.testing.assert_allclose(trade.centres, float(users.upper) * np.arange(21) / 20)
    T, largest = float(ud.threshold(users, eps, noise=noise)), float(max(users.largest_sums))
    kinks = {0.0, T, max((float(x) for x in users.largest_sums if x < T), default=0.0)}
    assert kinks <= {*trade.total_widths}

    def excess(width, tau):
        error = float(ud.symmetric_error(users, width, eps, noise=noise))
        return error - (1 + tau) * trade.smallest_certificate

    steps = [tau for tau in np.arange(1, 41) / 20 if excess(0, tau) > 0]
    steps = [brentq(excess, 0, T, args=(tau,), xtol=1e-13 * largest) for tau in steps]
    expected = [*kinks, *steps, *largest * 1000 ** (-np.arange(80) / 79)]
    apart = abs(np.subtract.outer(expected, trade.total_widths))
    assert apart.min(axis=0).max() <= 1e-9 * largest
    assert apart.min(axis=1).max() <= 1e-9 * largest


def test_tradeoff_draws_1000_datasets_and_shows_its_progress(monkeypatch):
    @contextmanager
    def progress(steps):
        told.append(steps)
        yield lambda: told.append(None)

    told, drawn = [], []

    def prior(users, n_trials, *, rng):
        drawn.append(n_trials)
        return ud.uniform_sums(users, n_trials, rng=rng)

    monkeypatch.setattr(sys.modules["userdp.tradeoff"], "progress", progress)
    ud.tradeoff(SMALL, 1, prior, centres=[4, 5], total_widths=[1, 2, 3], rng=0)
    assert drawn == [1000]
    assert told == [6] + [None] * 6


def test_tradeoff_depends_on_the_seed_alone():
    first, again, other = (small_trade(1, 3, centres=[5], rng=seed) for seed in (4, 4, 5))
    assert (first.mean_error == again.mean_error).all()
    assert not (first.mean_error == other.mean_error).all()


def test_best_is_the_smallest_average_within_the_certificate():
    trade, previous = small_trade(n_trials=20), np.inf
    members = {
        (trade.centres[i], trade.total_widths[j]): tuple(
            grid[i, j] for grid in (trade.certificate, trade.mean_error, trade.standard_error)
        )
        for i, j in np.ndindex(trade.certificate.shape)
    }
    for tau in np.linspace(0, 4, 21):
        member = trade.best(tau)
        assert members[member.centre, member.total_width] == tuple(member[2:])
        limit = (1 + tau) * trade.smallest_certificate * (1 + 1e-12)
        assert member.certificate <= limit
        assert member.mean_error == min(
            mean for bound, mean, _ in members.values() if bound <= limit
        )
        assert member.mean_error <= previous  # more room, no more error
        previous = member.mean_error
    assert previous == trade.mean_error.min()


def test_members_of_the_frontier_are_beaten_by_nobody_and_beat_all_others():
    for trade in (small_trade(0.5, centres=[4, 5, 9]), small_trade(2, centres=[0, 5])):
        points = np.array([(m.certificate, m.mean_error) for m in trade.frontier()])
        assert (np.diff(points[:, 0]) > 0).all()
        assert (np.diff(points[:, 1]) < 0).all()
        everything = np.stack([trade.certificate.ravel(), trade.mean_error.ravel()], axis=1)
        assert {*map(tuple, points)} <= {*map(tuple, everything)}
        for point in everything:
            assert (points <= point).all(axis=1).any()
    same = small_trade(centres=[5], total_widths=[50, 70, 90])  # nothing is clipped by any
    assert np.ptp(same.certificate) == np.ptp(same.mean_error) == 0
    assert len(same.frontier()) == 1


@pytest.mark.parametrize(
    ("tau", "error"),
    [
        *((-0.1, ValueError), (np.nan, ValueError), (np.inf, ValueError)),
        *((None, TypeError), ("1", TypeError), (True, TypeError), (1j, TypeError)),
    ],
)
def test_bad_tau_is_refused(tau, error):
    with pytest.raises(error, match="`tau`"):
        small_trade(n_trials=2, centres=[5], total_widths=[10]).best(tau)


def test_tau_that_no_member_meets_is_refused_and_the_smallest_that_does_is_named():
    trade = small_trade(centres=[5], total_widths=[1])
    needed = trade.certificate[0, 0] / trade.smallest_certificate - 1
    assert needed > 0.1
    with pytest.raises(ValueError, match=f"at least {str(needed)[:8]}"):
        trade.best(needed * 0.99)
    assert trade.best(needed * 1.01).total_width == 1


# --- the propositions ---------------------------------------------------------------------------


@few
@given(strategies.collections(), strategies.fractions, share, st.data())
def test_a_threshold_beats_the_cap_on_a_dataset_and_its_mirror_image(users, eps, part, data):
    shares = data.draw(st.lists(share, min_size=users.n_users, max_size=users.n_users))
    T, largest = part * users.upper * users.max_count, float(users.upper) * users.counts
    assume(T > 0)
    cap, threshold = ud.centred_clipping(users, 2 * T, 0 * T), ud.centred_clipping(users, T)
    assert ud.worst_case_bias(users, cap) == 2 * ud.worst_case_bias(users, threshold)
    assert ud.sensitivity(users, cap) == ud.sensitivity(users, threshold) == T / users.total
    pair = np.array([[float(x) for x in shares], [float(1 - x) for x in shares]]) * largest
    capped = ud.clipped_mean_error(pair, users, 2 * T, eps, centre=0)
    clipped = ud.clipped_mean_error(pair, users, T, eps)
    assert clipped[0] == pytest.approx(clipped[1])
    assert clipped.mean() <= capped.mean() * (1 + 1e-9)
    # The cap is what its name says: min(sum, T), with noise T / (N eps).
    bias = np.maximum(pair - float(T), 0).sum(axis=1) / users.total
    expected = ud.noisy_error(bias, float(T / users.total / eps))
    np.testing.assert_allclose(capped, expected, rtol=1e-9)


@few
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(1, 4))
def test_dropping_has_twice_the_worst_bias_of_a_threshold_and_more_noise(counts, k):
    """Bias by brute force over all corners: kept and dropped samples of each user at 0 or U."""
    users = ud.Contributions(counts, Fraction(U))
    few, k = np.minimum(users.counts, k), min(k, users.max_count)
    N, N_k = users.total, int(few.sum())
    blocks = itertools.product(*([0, int(m)] for m in (*few, *(users.counts - few))))
    biases = [Fraction(sum(b), N) - Fraction(sum(b[: users.n_users]), N_k) for b in blocks]
    clipping, bias = ud.centred_clipping(users, U * k), U * max(map(abs, biases))
    assert bias == 2 * ud.worst_case_bias(users, clipping)
    assert ud.sensitivity(users, clipping) == Fraction(U * k, N)
    certificate, _ = page().drop(users, 0.7, np.zeros((1, len(counts))), np.zeros((max(counts), 1)))
    assert certificate[k - 1] == pytest.approx(float(bias) + U * k / (N_k * 0.7))
    if k < users.max_count:
        assert ud.worst_case_error(users, clipping, 0.7) < certificate[k - 1]


@few
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), strategies.fractions, st.data())
def test_a_threshold_beats_dropping_on_average_over_signs(counts, eps, data):
    """Every symmetric law of kept and dropped sums is a mixture of laws on plus and minus."""
    users, L = ud.Contributions(counts, 2), len(counts)
    k = data.draw(st.integers(1, max(counts)))
    few = np.minimum(users.counts, k)
    sizes = data.draw(st.lists(share, min_size=2 * L, max_size=2 * L))
    sizes = np.array([float(x) for x in sizes]) * np.r_[few, users.counts - few]
    blocks = np.array(list(itertools.product([-1, 1], repeat=2 * L))) * sizes
    kept, dropped = blocks[:, :L].sum(axis=1), blocks[:, L:].sum(axis=1)
    bias = (kept + dropped) / users.total - kept / few.sum()
    theirs = ud.noisy_error(bias, 2 * k / (few.sum() * float(eps))).mean()
    sums = users.counts + blocks[:, :L] + blocks[:, L:]
    ours = ud.clipped_mean_error(sums, users, 2 * k, eps).mean()
    assert ours <= theirs * (1 + 1e-9)
    if k < users.max_count:
        assert ours < theirs


@few
@given(strategies.collections(), st.integers(1, 6), share, st.data())
def test_the_smaller_threshold_wins_where_the_larger_causes_no_bias(users, k, part, data):
    assume(k <= users.n_users)
    v, eps = [*sorted(users.largest_sums, reverse=True), Fraction(0)], Fraction(2, k)
    S, T = v[k] + part * (v[k - 1] - v[k]), v[k - 1]
    assume(0 < S < T)
    assert ud.threshold(users, eps) == T
    assert ud.symmetric_error(users, S, eps) == ud.optimal_error(users, eps)
    reach = st.fractions(-1, 1, max_denominator=4)
    shares = data.draw(st.lists(reach, min_size=users.n_users, max_size=users.n_users))
    largest = float(users.upper) * users.counts
    sums = largest / 2 + np.array([float(x) for x in shares]) * np.minimum(largest, float(T)) / 2
    small, large = (ud.clipped_mean_error(sums, users, width, eps) for width in (S, T))
    assert large == pytest.approx(float(T / users.total / eps))
    assert small < large
    if k == 1:  # at eps = 2 every dataset is of this kind: take the worst
        corners = np.array(list(itertools.product(*([0, x] for x in largest))))
        assert ud.clipped_mean_error(corners, users, S, eps).max() < float(large)


def test_with_bias_the_smaller_threshold_can_lose():
    users = ud.Contributions([8, 2, 1], 1)
    small, large = (ud.clipped_mean_error([8, 2, 1], users, S, 1) for S in (1, 2))
    phi = [ud.symmetric_error(users, S, 1) for S in (1, 2)]
    assert phi == pytest.approx([ud.optimal_error(users, 1)] * 2)
    assert small > 1.1 * large


@few
@given(strategies.collections(), st.integers(1, 5))
def test_the_mean_error_jumps_up_where_the_certificate_is_flat(users, k):
    assume(k < users.n_users)
    v = sorted(map(float, users.largest_sums), reverse=True)
    eps, middle = Fraction(2, k), float(users.upper) / 2 * users.counts
    below = eps - Fraction(1, 10**9)
    before, after = (ud.opt_worst_case_mean_error(middle, users, e) for e in (below, eps))
    assert before == pytest.approx(k * v[k] / 2 / users.total, rel=1e-6)
    assert after == pytest.approx(k * v[k - 1] / 2 / users.total, rel=1e-6)
    certificates = [float(ud.optimal_error(users, e)) for e in (below, eps)]
    assert certificates[0] == pytest.approx(certificates[1], rel=1e-6)


@pytest.mark.parametrize(("name", "S"), [("geometric", 32 * U), ("extreme", U)])
def test_tau_zero_finds_the_free_lunch(name, S):
    users = COLLECTIONS[name]
    free = ud.tradeoff(users, 2, LAWS[name], 100, centres=[U / 2], rng=1).best(0)
    assert free.total_width == S
    assert free.certificate == pytest.approx(ud.optimal_error(users, 2))
    assert free.mean_error == pytest.approx(S / 2 / users.total, rel=0.01)


# --- the measured statements, on other draws than the page's --------------------------------------


def z_score(differences):
    return differences.mean() / (differences.std(ddof=1) / differences.size**0.5)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_optimum_has_not_the_smallest_average_error(name):
    """Dropping wins on the geometric collection, loses on the other below two; S wins on both."""
    users, here = COLLECTIONS[name], page(1)
    sums, kept = here.draw(users, LAWS[name], 300)
    k, S = (2, U) if name == "geometric" else (1, 0.2 * U)
    for eps in BUDGETS:
        opt = ud.opt_worst_case_mean_error(sums, users, eps)
        dropped = here.drop(users, eps, sums, kept)[1][k - 1]
        sign = -1 if name == "extreme" and eps < 2 else 1
        assert sign * z_score(opt - dropped) > 6
        small = ud.clipped_mean_error(sums, users, S, eps)
        assert z_score(opt - small) > 6
        assert small.mean() < 0.3 * opt.mean()
        assert ud.symmetric_error(users, S, eps) > 1.5 * ud.optimal_error(users, eps)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_drop_and_every_cap_is_matched_by_a_threshold(name):
    """The thresholds of the propositions, paired, and never behind by 3 errors."""
    users, here = COLLECTIONS[name], page(2)
    sums, kept = here.draw(users, LAWS[name], 300)
    for eps in BUDGETS:
        certificate, errors = here.drop(users, eps, sums, kept)
        for k in {1, 2, 3, 5, 9, 20, 40, users.max_count - 1} & set(range(users.max_count)):
            assert z_score(errors[k - 1] - ud.clipped_mean_error(sums, users, U * k, eps)) > 3
            assert ud.symmetric_error(users, U * k, eps) < certificate[k - 1]
        for T in U * users.max_count * np.array([0.01, 0.1, 0.3, 0.6]):
            certificate, capped = here.clip(users, eps, sums, [2 * T], 0)
            gain = capped[0] - ud.clipped_mean_error(sums, users, T, eps)
            assert gain.mean() >= -3 * gain.std(ddof=1) / 300**0.5 - 1e-9
            assert ud.symmetric_error(users, T, eps) < certificate


@pytest.mark.parametrize("name", COLLECTIONS)
def test_dropping_is_not_matched_under_a_random_level_or_a_skewed_law(name):
    """At eps = 1, k = 1: no centre and threshold within its certificate errs as little."""
    users, here = COLLECTIONS[name], page(3)
    law = here.random_level if name == "geometric" else partial(ud.beta_sums, a=8, b=2)
    sums, kept = here.draw(users, law, 300)
    certificate, errors = here.drop(users, 1, sums, kept)
    trade = ud.tradeoff(users, 1, fixed(sums), 300, centres=np.linspace(0, U, 11))
    ours = trade.best(certificate[0] / trade.smallest_certificate - 1)
    gap = ours.mean_error - errors[0].mean()
    assert gap > 0.1 * errors[0].mean()
    assert gap > 3 * np.hypot(ours.standard_error, errors[0].std() / 300**0.5)


def test_a_prior_that_claims_to_know_the_mean_chooses_the_constant():
    users, random_level = COLLECTIONS["geometric"], page().random_level
    sure = ud.tradeoff(users, 0.02, ud.uniform_sums, 200, rng=1).frontier()[-1]
    unsure = ud.tradeoff(users, 0.02, random_level, 200, rng=1).frontier()[-1]
    assert sure.total_width == 0 < unsure.total_width
    assert sure.mean_error < 1 < unsure.mean_error
    sums = random_level(users, 200, rng=np.random.default_rng(2))
    regret = ud.clipped_mean_error(sums, users, 0, 0.02, centre=sure.centre)
    assert regret.mean() > 6 * sure.mean_error


@pytest.mark.parametrize(
    ("name", "k", "T", "S"), [("geometric", 2, 17.5, 1.6), ("extreme", 1, 2.2, 0.18)]
)
def test_heavy_users_at_the_top_hurt_the_settings_tuned_to_the_average(name, k, T, S):
    users = COLLECTIONS[name]
    heavy = users.counts > users.total / users.n_users
    sums = np.where(heavy, U * users.counts, 0.0)[None]
    kept = U * np.minimum.outer(users.counts[heavy], 1 + np.arange(users.max_count)).sum(axis=0)
    certificate, dropped = page().drop(users, 1, sums, kept[:, None])
    capped = ud.clipped_mean_error(sums, users, 2 * T * U, 1, centre=0)
    others = [dropped[k - 1], capped, ud.clipped_mean_error(sums, users, S * U, 1), dropped[-1]]
    assert 1.7 * ud.opt_worst_case_mean_error(sums, users, 1) < min(others)
    assert dropped[-1] == pytest.approx(ud.laplace_mean_error(sums, users, 1))
    assert dropped[k - 1] <= certificate[k - 1]


@pytest.mark.parametrize(("name", "least", "most"), [("geometric", 0, 0.4), ("extreme", 0.9, 1)])
def test_half_of_the_certificate_buys_much_on_one_collection_and_little_on_the_other(
    name, least, most
):
    users = COLLECTIONS[name]
    trade = ud.tradeoff(users, 1, LAWS[name], 200, centres=[U / 2], rng=6)
    errors = ud.opt_worst_case_mean_error(LAWS[name](users, 200, rng=7), users, 1)
    assert least < trade.best(0.5).mean_error / errors.mean() < most
