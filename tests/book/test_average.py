"""Average error against certificate: the trade-off, weighing, dropping and capping."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import strategies
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from page_functions import functions_of

import userdp as ud

U = 65
COLLECTIONS = {
    "geometric": ud.geometric_collection(6, U),
    "extreme": ud.extreme_collection(101, 10, U),
}
LAWS = {"geometric": ud.uniform_sums, "extreme": ud.gaussian_sums}
BUDGETS = [0.25, 0.5, 1, 1.5, 2, 3]
few = settings(max_examples=40)
share = st.fractions(min_value=0, max_value=1, max_denominator=12)


def page(seed=0):
    """The functions of the page, with random numbers of their own."""
    return functions_of("average", U=U, rng=np.random.default_rng(seed))


def fixed(sums):
    """A prior that always draws the same datasets."""
    return lambda users, n_trials, *, rng: sums


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
@given(st.lists(st.lists(share, min_size=1, max_size=4), min_size=1, max_size=3), st.integers(1, 4))
def test_weighing_beats_dropping_over_all_lots(shares, k):
    """On this dataset, for every value of the noise at which an inequality could turn."""
    users, m = ud.Contributions([*map(len, shares)], Fraction(1)), [*map(len, shares)]
    k = min(k, max(m))
    w = [min(n, k) for n in m]
    f, N, N_k = Fraction(sum(map(sum, shares)), sum(m)), sum(m), sum(w)
    lots = itertools.product(*map(itertools.combinations, shares, w))
    kept = [Fraction(sum(map(sum, lot)), N_k) for lot in lots]
    g = sum(a * Fraction(sum(x), len(x)) for a, x in zip(w, shares, strict=True)) / N_k
    assert g == sum(kept) / len(kept)
    for scale in (1, Fraction(N_k, N)):  # the mean of the kept samples, and their sum over N
        for z in [0, *(f - scale * d for d in kept)]:
            dropped = [abs(scale * d - f + z) for d in kept]
            assert abs(scale * g - f + z) <= sum(dropped) / len(kept)
            assert (scale * g - f + z) ** 2 <= sum(d**2 for d in dropped) / len(kept)
    float_sums = np.array([float(sum(x)) for x in shares])
    error = ud.weighted_mean_error(float_sums, users, w, 0.7)
    assert error == pytest.approx(ud.noisy_error(float(g - f), k / (N_k * 0.7)))


@few
@given(strategies.collections(), st.integers(1, 4), st.fractions(Fraction(1, 4), 1))
def test_weights_have_the_certificate_of_a_cap_the_best_of_all_that_are_right_at_zero(
    users, k, part
):
    """Also for caps on weights that are no whole numbers; dropping by brute force over corners."""
    k = min(k, users.max_count)
    few, N = [min(int(m), k) for m in users.counts], users.total
    blocks = itertools.product(*([0, n] for n in (*few, *(users.counts - few).tolist())))
    L, N_k = users.n_users, sum(few)
    dropping = max(abs(Fraction(sum(b), N) - Fraction(sum(b[:L]), N_k)) for b in blocks)
    for cap in (k, k * part):
        weights = [min(Fraction(int(m)), Fraction(cap)) for m in users.counts]
        T = users.upper * cap * N / sum(weights)
        bias = ud.weighted_worst_case_error(users, weights, 1) - T / N
        assert bias == sum(users.surplus(T)) / N == 2 * ud.smallest_bias(users, T / N)
        threshold = ud.centred_clipping(users, T)
        assert bias == 2 * ud.worst_case_bias(users, threshold)
        assert ud.sensitivity(users, threshold) == T / N
        if cap == k < users.max_count:
            assert bias < users.upper * dropping
    assert dropping == Fraction(N - N_k, N)


def test_projected_dropping_can_beat_projected_weights():
    """One user of 40 samples at 0, five of two, one at 0.6 and one at 1; k = 1, ε = 1."""
    error = functions_of("libraries").projected_error
    lots = np.array([*itertools.product([0.6, 1.0], repeat=5)]).sum(axis=1) / 6
    f, scale = 8 / 50, 1 / 6
    dropped, weighed = error(lots, f, scale, 1).mean(), error(lots.mean(), f, scale, 1)
    assert dropped < weighed * (1 - 5e-4)
    assert ud.noisy_error(lots - f, scale).mean() > ud.noisy_error(lots.mean() - f, scale)


@few
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), strategies.fractions, st.data())
def test_a_threshold_beats_weights_on_average_over_signs(counts, eps, data):
    """Every law of independent symmetric users is a mixture of laws on plus and minus."""
    users, L = ud.Contributions(counts, 2), len(counts)
    k = data.draw(st.integers(1, max(counts)))
    sizes = data.draw(st.lists(share, min_size=L, max_size=L))
    signs = np.array([*itertools.product([-1, 1], repeat=L)])
    sums = (1 + signs * [float(x) for x in sizes]) * counts
    weights = np.minimum(counts, k)
    T = 2 * Fraction(k * users.total, int(weights.sum()))
    theirs = ud.weighted_mean_error(sums, users, weights, eps)
    ours = ud.clipped_mean_error(sums, users, T, eps)
    assert ours.mean() <= theirs.mean() * (1 + 1e-9)
    # User by user: what is removed of one sum, with all others in the middle.
    removed = np.maximum(np.abs(sums - counts) - float(T) / 2, 0)
    part = 1 - weights * users.total / (users.counts * weights.sum())
    assert np.all(removed <= np.abs(part * (sums - counts)) + 1e-9)


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
    """Weights win on the geometric collection, lose on the other below two; S wins on both."""
    users, here = COLLECTIONS[name], page(1)
    sums = LAWS[name](users, 300, rng=1)
    k, S = (2, U) if name == "geometric" else (1, 0.2 * U)
    for eps in BUDGETS:
        opt = ud.opt_worst_case_mean_error(sums, users, eps)
        certificate, weighed = here.weigh(users, eps, sums)
        sign = -1 if name == "extreme" and eps < 2 else 1
        assert sign * z_score(opt - weighed[k - 1]) > 6
        assert certificate[k - 1] > 1.5 * ud.optimal_error(users, eps)
        small = ud.clipped_mean_error(sums, users, S, eps)
        assert z_score(opt - small) > 6
        assert small.mean() < 0.3 * opt.mean()
        assert ud.symmetric_error(users, S, eps) > 1.5 * ud.optimal_error(users, eps)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_weights_are_not_matched_under_a_random_level(name):
    """At eps = 1, k = 1: no centre and threshold within its certificate has so small an average."""
    users, here = COLLECTIONS[name], page(3)
    sums = here.random_level(users, 300, rng=np.random.default_rng(3))
    certificate, errors = here.weigh(users, 1, sums)
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
    certificate, weighed = page().weigh(users, 1, sums)
    capped = ud.clipped_mean_error(sums, users, 2 * T * U, 1, centre=0)
    others = [weighed[k - 1], capped, ud.clipped_mean_error(sums, users, S * U, 1), weighed[-1]]
    assert 1.7 * ud.opt_worst_case_mean_error(sums, users, 1) < min(others)
    assert weighed[-1] == pytest.approx(ud.laplace_mean_error(sums, users, 1))
    assert weighed[k - 1] <= certificate[k - 1]


@pytest.mark.parametrize(("name", "least", "most"), [("geometric", 0, 0.4), ("extreme", 0.9, 1)])
def test_half_of_the_certificate_buys_much_on_one_collection_and_little_on_the_other(
    name, least, most
):
    users = COLLECTIONS[name]
    trade = ud.tradeoff(users, 1, LAWS[name], 200, centres=[U / 2], rng=6)
    errors = ud.opt_worst_case_mean_error(LAWS[name](users, 200, rng=7), users, 1)
    assert least < trade.best(0.5).mean_error / errors.mean() < most
