"""Means clipped at a private threshold: `PrivateThreshold`, of which AKMV is one setting.

- By default (an even split, capped, the uniform measure) its law, release and errors are AKMV's.
- With other settings, errors are integrals over the density of T, by definition.
- T spends its share of the budget, and the release exactly the whole budget, for any base measure.
- If all samples are U, no threshold has an error below `smallest_error` (thm-share of the book).
- No random dataset exceeds the error that the search for the worst dataset finds, up to eps = 5.
"""

import math
from fractions import Fraction
from functools import partial
from itertools import pairwise, product

import numpy as np
import oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import EXTREME, GEOMETRIC, budgets, collections, datasets, shares

import userdp as ud
from userdp.audit import Pairs, Recorder
from userdp.beyond import PrivateThreshold, privacy_loss
from userdp.beyond import thresholds as module

MEASURES = ["uniform", "logarithmic"]
RULES = {
    f"{'centred' if centred else 'capped'} {measure} {share}": PrivateThreshold(
        share, centred, measure
    )
    for centred, measure, share in product((False, True), MEASURES, (0.5, 0.1))
}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
RULES_OF_A_TENTH = {name: rule for name, rule in RULES.items() if rule.share == 0.1}


# --- The law, and errors --------------------------------------------------------------------------


@given(users=collections(), data=st.data())
def test_private_threshold_is_akmv_by_default(users, data):
    eps, sums = data.draw(budgets(users.n_users)), data.draw(datasets(users))
    rule, users = PrivateThreshold(), ud.Contributions(users.counts, float(users.upper))
    law = ud.quantile_cells(sums, users, ud.rank(eps), eps / 2)
    for of_rule, of_akmv in zip(rule.cells(sums, users, eps), law, strict=True):
        np.testing.assert_array_equal(of_rule, of_akmv)
    released = ud.akmv(sums, users, eps, rng=4)
    assert rule.release(sums, users, eps, rng=4) == pytest.approx(released, rel=1e-12)
    assert rule.error(sums, users, eps) == pytest.approx(ud.akmv_error(sums, users, eps), rel=1e-9)
    expected = ud.akmv_mean_error(sums, users, eps)
    assert rule.mean_error(sums, users, eps) == pytest.approx(expected, rel=1e-9)


def test_akmv_with_other_shares_has_the_mean_error_of_private_threshold():
    for users, share in product((GEOMETRIC, EXTREME), (0.05, 0.1, 0.9)):
        sums = ud.uniform_sums(users, 5, rng=1)
        for eps in (0.1, 2 / 7, 1, 5):
            split = {"threshold_share": share, "noise_share": 1 - share}
            expected = ud.akmv_mean_error(sums, users, eps, **split)
            error = PrivateThreshold(share).mean_error(sums, users, eps)
            np.testing.assert_allclose(error, expected, rtol=1e-9)


def by_definition(rule, sums, users, eps, error):
    """E error(|bias|, scale) over the density of T, by quadrature of each cell."""
    p, U = float(rule.share), float(users.upper)
    centred = 2 * sums - U * users.counts
    x = abs(centred) if rule.centred else sums
    lowest = U * users.counts.min() / 4 if rule.measure == "logarithmic" else 0.0
    k = min(math.ceil((2 if rule.centred else 1) / ((1 - p) * eps) - 1e-9), users.n_users)

    def error_at(t):
        if rule.centred:
            bias = (centred - centred.clip(-t, t)).sum() / 2
        else:
            bias = np.maximum(sums - t, 0).sum()
        return error(abs(bias), t / ((1 - p) * eps)) / users.total

    def density(t):
        base = 1 / t if rule.measure == "logarithmic" else 1.0
        return base * math.exp(-p * eps / 2 * abs(np.sum(x >= t) - k))

    edges = np.unique(np.clip([lowest, *x, U * users.max_count], lowest, None))
    edges = np.unique(np.concatenate([edges, np.geomspace(max(edges[0], 1e-3), edges[-1], 40)]))
    inner_points = edges[:-1] + np.diff(edges) * 1e-13
    pieces = list(zip(inner_points, edges[1:], strict=True))
    mass = sum(oracle.integral(density, pair) for pair in pieces)
    total = sum(oracle.integral(lambda t: density(t) * error_at(t), pair) for pair in pieces)
    return total / mass


@every_rule
@pytest.mark.parametrize("seed", range(4))
def test_errors_are_integrals_over_the_density_of_the_threshold(rule, seed):
    rng = np.random.default_rng(seed)
    users = ud.Contributions(rng.integers(1, 9, size=(1, 3, 5, 6)[seed]), 3)
    sums = rng.choice([0, 0.5, 1, *rng.random(3)], users.n_users) * users.largest_sums
    eps = (0.2, 0.7, 2, 6)[seed]
    paper_error = by_definition(rule, sums, users, eps, lambda d, s: d + s)
    mean = by_definition(rule, sums, users, eps, lambda d, s: d + s * math.exp(-d / s))
    assert rule.error(sums, users, eps) == pytest.approx(paper_error, rel=1e-7)
    assert rule.mean_error(sums, users, eps) == pytest.approx(mean, rel=1e-7)


@pytest.mark.parametrize("rule", RULES_OF_A_TENTH.values(), ids=RULES_OF_A_TENTH)
def test_computed_mean_error_agrees_with_simulation(rule):
    sums = ud.uniform_sums(GEOMETRIC, 1, rng=2)
    releases = rule.release(np.repeat(sums, 40_000, axis=0), GEOMETRIC, 1, rng=3)
    errors = abs(releases - sums.sum() / GEOMETRIC.total)
    difference = errors.mean() - rule.mean_error(sums[0], GEOMETRIC, 1)
    assert abs(difference) < 5 * errors.std() / 200


@every_rule
def test_draws_follow_the_density(rule):
    """The probability of a threshold of at most t, from draws and by quadrature of the density."""
    users, sums = ud.Contributions([5, 2, 2, 1], 2), np.array([7.0, 3.5, 0.1, 1.1])
    T = rule.draw(np.tile(sums, (20_000, 1)), users, 1.5, rng=1)
    lowest = 0.5 if rule.measure == "logarithmic" else 0.0
    assert lowest <= T.min()
    assert T.max() <= 10
    cuts = np.unique(np.clip([lowest, *sums, *abs(2 * sums - 2 * users.counts), 10], lowest, None))

    def density(t):
        return np.exp(rule.log_density([t], sums, users, 1.5)[0])

    mass = 0.0
    for low, high in pairwise(cuts):
        mass += oracle.integral(density, [low * (1 + 1e-13), high])
        frequency = np.mean(high >= T)
        assert abs(frequency - mass) < 5 * math.sqrt(mass * (1 - mass) / 20_000) + 1e-9
    assert mass == pytest.approx(1, rel=1e-9)
    assert rule.log_density([lowest - 1e-9, 10.001], sums, users, 1.5).tolist() == [-np.inf] * 2


# --- Privacy --------------------------------------------------------------------------------------


@every_rule
@pytest.mark.parametrize("eps", [0.1, 2])
def test_no_release_spends_more_than_its_budget(rule, eps):
    """T and the release jointly, on pairs of neighbours that are hard on mechanisms."""
    spent = privacy_loss.largest_log_ratio(
        partial(privacy_loss.threshold_log_ratio, rule, eps=eps), 80, rng=3
    )
    assert spent <= eps * (1 + 1e-9), f"{spent:.6g} is spent, the budget is {eps}"
    assert spent >= 0.7 * eps


def tight_pair(rule, gap):
    """As in the proof of thm-quantile: one sum is just above the lower end of the range of T.

    The heaviest user moves from 0 to U m*. If sums are centred, this user moves from a distance
    close to the other user's to the opposite end, so that the statistic moves by almost T.
    """
    users = ud.Contributions([100, 2, 2, 2], 1)
    near = 0.5 * (1 + gap) if rule.measure == "logarithmic" else gap
    x = np.array([[0.0, near, 0, 0], [100, near, 0, 0]])
    if not rule.centred:
        return Pairs(users, x[:1], x[1:])
    x[0, 0] = 0.5 if rule.measure == "logarithmic" else near / 2
    sums = (users.largest_sums + x * [[-1, 1, 1, 1], [1, 1, 1, 1]]) / 2
    return Pairs(users, sums[:1], sums[1:])


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_whole_budget_is_spent(rule):
    """At rank 1, if one other sum is almost 0."""
    eps = 10
    assert rule.rank(eps) == 1
    ratio = privacy_loss.threshold_log_ratio(rule, tight_pair(rule, 1e-6), eps)[0]
    assert 0.99999 * eps < ratio <= eps * (1 + 1e-9)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_threshold_alone_spends_at_most_its_share(rule):
    """Densities of T on neighbours, at the ends of all common cells and in between."""
    eps, largest = 3, 0
    for users, first, second in privacy_loss.hard_pairs(200, rng=8):
        for pair in zip(first, second, strict=True):
            x = np.concatenate([rule._distances(sums, users) for sums in pair])
            ends = np.unique([*x, float(users.upper) * users.max_count])
            t = np.concatenate([ends, ends[1:] - np.diff(ends) / 2])
            t = t[t > rule._lowest(users)]
            log_first, log_second = (rule.log_density(t, sums, users, eps) for sums in pair)
            largest = max(largest, abs(log_first - log_second).max())
    share = float(rule.share) * eps
    assert 0.5 * share <= largest <= share * (1 + 1e-9)


SOUND_SCALE, SOUND_SUM = module.noise_scale, module.grid_sum


def half_of_the_scale(monkeypatch):
    monkeypatch.setattr(module, "noise_scale", lambda width, eps: SOUND_SCALE(width / 2, eps))


def twice_the_share(monkeypatch):
    cells = module._cells_of
    monkeypatch.setattr(
        module, "_cells_of", lambda x, users, k, eta, **top: cells(x, users, k, 2 * eta, **top)
    )


def clipped_wider_than_the_noise(monkeypatch):
    def wider(values, low, high):
        return SOUND_SUM(values, 2 * low, 2 * high)[0], SOUND_SUM(values, low, high)[1]

    monkeypatch.setattr(module, "grid_sum", wider)


@pytest.mark.parametrize(
    "fault", [half_of_the_scale, twice_the_share, clipped_wider_than_the_noise]
)
def test_the_audit_detects_faults(monkeypatch, fault):
    rule = PrivateThreshold(0.5, measure="logarithmic")
    users = ud.Contributions([4, 4, 1, 1], 1)
    pairs = Pairs(users, np.array([[0, 0.26, 0.5, 0.3]]), np.array([[4, 0.26, 0.5, 0.3]]))
    assert privacy_loss.threshold_log_ratio(rule, pairs, 4) <= 4
    fault(monkeypatch)
    assert privacy_loss.threshold_log_ratio(rule, pairs, 4) > 4 * 1.01


@every_rule
def test_a_release_draws_two_uniforms_and_laplace_noise_of_its_scale(rule):
    users, sums = ud.Contributions([4, 2, 1], 65), np.array([133.0, 99, 18])
    rng = Recorder(random=[0.4, 0.5])
    release = rule.release(sums, users, 2, rng=rng)
    assert [call.name for call in rng.calls] == ["random", "random", "laplace"]
    T = rule.draw(sums, users, 2, rng=Recorder(random=[0.4, 0.5]))
    assert float(release.scale) == pytest.approx(T / 7 / (2 * (1 - rule.share)))
    middle = users.largest_sums / 2
    clipped = np.clip(sums, middle - T / 2, middle + T / 2) if rule.centred else np.minimum(sums, T)
    assert float(release.value) == pytest.approx(clipped.sum() / 7)


# --- The share of the budget: thm-share -----------------------------------------------------------


@given(users=collections(), share=shares, p=shares, data=st.data())
def test_if_all_samples_are_u_no_threshold_has_a_smaller_error(users, share, p, data):
    """Each threshold has at least `smallest_error`, one attains it, and it is at least E_OPT."""
    assume(0 < p < 1)
    eps = data.draw(budgets(users.n_users))
    t, best = share * users.upper * users.max_count, ud.optimal_error(users, eps)
    capped, centred = PrivateThreshold(p), PrivateThreshold(p, centred=True)
    half = Fraction(1, 2)
    for rule, factor, budget in ((capped, 1, 2 * (1 - p) * eps), (centred, half, (1 - p) * eps)):

        def error(t, factor=factor):
            return (factor * users.surplus(t).sum() + t / ((1 - p) * eps)) / users.total

        smallest = rule.smallest_error(users, eps)
        assert error(t) >= smallest
        assert error(ud.threshold(users, budget)) == smallest
        assert rule.error(users.largest_sums, users, eps) >= float(smallest) * (1 - 1e-9)
    assert centred.smallest_error(users, eps) >= best
    assert centred.smallest_error(users, eps) <= best / (1 - p)
    assert capped.smallest_error(users, eps) >= min(2, 1 / (1 - p)) * best
    assert centred.smallest_error(users, eps) <= capped.smallest_error(users, eps)


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2), Fraction(3, 4)])
def test_the_bounds_of_the_share_are_attained(p):
    """They are attained by 2/eps equal users."""
    users, eps = ud.Contributions([3] * 6, Fraction(1)), Fraction(1, 3)
    best = ud.optimal_error(users, eps)
    assert PrivateThreshold(p).smallest_error(users, eps) == min(2, 1 / (1 - p)) * best
    assert PrivateThreshold(p, centred=True).smallest_error(users, eps) == best


def test_with_the_even_split_the_smallest_error_is_twice_the_optimum():
    """As thm-twice states for AKMV."""
    for eps in (Fraction(1, 4), Fraction(1), Fraction(3)):
        users = ud.Contributions(GEOMETRIC.counts, Fraction(65))
        best = ud.optimal_error(users, eps)
        assert PrivateThreshold(Fraction(1, 2)).smallest_error(users, eps) == 2 * best


# --- The worst dataset ----------------------------------------------------------------------------


def bad_datasets(rule, users, n, rng):
    """Random datasets with many sums at 0 or at their maximum, and many ties."""
    largest_sums = users.largest_sums
    kind = rng.random((n, users.n_users))
    x = rng.random(kind.shape) * largest_sums
    tie = np.minimum(rng.random((n, 1)) * largest_sums.max(), largest_sums)
    x = np.select([kind < 0.3, kind < 0.5, kind < 0.75], [largest_sums, 0 * largest_sums, tie], x)
    return (largest_sums + x) / 2 if rule.centred else x


@every_rule
def test_no_random_dataset_is_worse_than_the_one_found(rule):
    rng = np.random.default_rng(6)
    for eps in (0.1, 0.5, 1, 2, 5):
        users = ud.Contributions(rng.integers(1, 9, rng.integers(1, 6)), 1)
        largest = rule.largest_error_found(users, eps)
        others = rule.error(bad_datasets(rule, users, 2000, rng), users, eps)
        assert others.max() <= largest * (1 + 1e-9)
        assert largest >= rule.error(users.largest_sums, users, eps)
        assert largest >= rule.smallest_error(users, eps)


@every_rule
@pytest.mark.parametrize("eps", [0.3, 1, 4])
def test_between_two_other_sums_the_error_is_largest_at_an_end(rule, eps):
    """As one user's distance moves between two others, no inner point exceeds both ends."""
    users, rng = ud.Contributions([6, 3, 3, 2], 1), np.random.default_rng(7)
    for _ in range(20):
        x = rng.random(4) * users.largest_sums
        others = np.sort(np.unique([rule._lowest(users), *x[1:], 6.0]))
        for low, high in pairwise(others):
            distances = np.tile(x, (31, 1))
            distances[:, 0] = np.linspace(low, high, 31)
            sums = (users.largest_sums + distances) / 2 if rule.centred else distances
            errors = rule.error(sums, users, eps)
            assert errors.max() <= max(errors[0], errors[-1]) * (1 + 1e-12)


# --- Bad arguments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"share": 0}, ValueError, "`share` must be strictly between 0 and 1, got share=0"),
        ({"share": 1.0}, ValueError, "`share` must be strictly between 0"),
        ({"share": -0.1}, ValueError, "`share` must be finite and at least 0"),
        ({"share": "0.1"}, TypeError, "`share` must be a real number"),
        ({"centred": 1}, TypeError, "`centred` must be True or False"),
        ({"measure": "log"}, ValueError, "`measure` must be one of 'uniform', 'logarithmic'"),
    ],
    ids=["zero", "one", "below zero", "a text", "a number", "another measure"],
)
def test_invalid_rules_are_refused(arguments, error, words):
    with pytest.raises(error) as refusal:
        PrivateThreshold(**arguments)
    assert str(refusal.value).startswith(words)


METHODS = ["cells", "draw", "release", "error", "mean_error"]


@pytest.mark.parametrize("name", [*METHODS, "log_density", "smallest_error", "largest_error_found"])
def test_methods_check_their_arguments_like_functions(name):
    rule, users = PrivateThreshold(0.1), ud.Contributions([2, 1], 1)
    good = {"sums": [1.0, 0.5], "users": users, "eps": 1}
    if name == "log_density":
        good["t"] = [1.0]
    if "error_found" in name or name == "smallest_error":
        del good["sums"]
    getattr(rule, name)(**good)
    bad = {"eps": 0, "users": [2, 1], "sums": [3.0, 0.5], "t": [np.nan]}
    for argument in good:
        with pytest.raises((TypeError, ValueError), match=f"^`{argument}") as refusal:
            getattr(rule, name)(**good | {argument: bad[argument]})
        assert refusal.type is (TypeError if argument == "users" else ValueError)
    if name in ("draw", "release"):
        with pytest.raises(TypeError, match=r"^`rng`"):
            getattr(rule, name)(**good, rng="seed")
    with pytest.raises(ValueError, match="`sums` must be one dataset"):
        rule.log_density([1.0], [[1.0, 0.5]], users, 1)
