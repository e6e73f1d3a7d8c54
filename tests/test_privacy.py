"""Privacy: exact audits, the calls made of the Generator, samplers, and sums."""

import itertools
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import userdp as ud
from userdp import audit, mechanisms, noise
from userdp.mechanisms import grid_steps, grid_sum

AKMV = sys.modules["userdp.akmv"]  # what the package calls by this name is the mechanism

BUDGETS = (0.1, 0.5, 1, 2, 5)
ROUNDING = 1e-9
REACHED = 0.999
FALSE_ALARM = 1e-9
USERS = ud.Contributions([5, 3, 3, 1, 1, 1], 10)
SUMS = np.array([41.0, 30.0, 2.5, 9.0, 0.0, 4.0])
HEAVY = ud.Contributions([10**15, 1, 1, 1], 65)


def opt(objective, noise="laplace"):
    return lambda sums, users, eps, rng: ud.opt_worst_case(
        sums, users, eps, objective=objective, noise=noise, rng=rng
    )


def clipped(width, centre, noise="laplace"):
    """The width and the centre in units of U."""
    return lambda sums, users, eps, rng: ud.clipped_mean(
        sums, users, width * users.upper, eps, centre=centre * users.upper, noise=noise, rng=rng
    )


def weighted(cap, noise="laplace"):
    """Weights min(m, cap)."""
    return lambda sums, users, eps, rng: ud.weighted_mean(
        sums, users, np.minimum(users.counts, cap), eps, noise=noise, rng=rng
    )


MEANS = {
    "laplace": (lambda sums, users, eps, rng: ud.laplace(sums, users, eps, rng=rng), None),
    "opt bound": (opt("bound"), None),
    "opt l1": (opt("l1"), None),
    "opt mse": (opt("mse"), None),
    "opt bound staircase": (opt("bound", "staircase"), ud.StaircaseNoise),
    "opt l1 staircase": (opt("l1", "staircase"), ud.StaircaseNoise),
    "opt mse staircase": (opt("mse", "staircase"), ud.StaircaseNoise),
    "clipped off centre": (clipped(1.7, 0.3), None),
    "clipped at the edge": (clipped(0.9, 1), None),
    "clipped wide": (clipped(1e3, 0.5), None),
    "clipped staircase": (clipped(1.1, 0.2, "staircase"), ud.StaircaseNoise),
    "weighted": (weighted(2.5), None),
    "weighted staircase": (weighted(1, "staircase"), ud.StaircaseNoise),
}
every_mean = pytest.mark.parametrize("name", MEANS)
every_eps = pytest.mark.parametrize("eps", BUDGETS)


def spent_on_mean(name, eps, n_pairs):
    mechanism, law = MEANS[name]
    release = lambda sums, users, rng: mechanism(sums, users, eps, rng)  # noqa: E731
    spent = lambda pairs: audit.mean_log_ratio(release, pairs, law and law(eps))  # noqa: E731
    return audit.largest_log_ratio(spent, n_pairs, rng=1)


def spent_on_quantile(rank, eps, n_pairs):
    spent = lambda pairs: audit.quantile_log_ratio(pairs, rank, eps)  # noqa: E731
    return audit.largest_log_ratio(spent, n_pairs, rng=2)


def spent_on_akmv(eps, n_pairs):
    return audit.largest_log_ratio(lambda pairs: audit.akmv_log_ratio(pairs, eps), n_pairs, rng=3)


# Exact audits, of the joint law of threshold and output in the case of AKMV.

AUDITS = {
    **{name: partial(spent_on_mean, name, n_pairs=2000) for name in MEANS},
    **{f"rank {k}": partial(spent_on_quantile, k, n_pairs=1000) for k in (1, 2, 4, 20)},
    "akmv": partial(spent_on_akmv, n_pairs=320),
}


@every_eps
@pytest.mark.parametrize("name", AUDITS)
def test_mechanisms_spend_their_budget_and_no_more(name, eps):
    assert REACHED * eps <= AUDITS[name](eps) <= eps * (1 + ROUNDING)


@every_eps
def test_quantile_spends_half_where_no_sum_lies_below_the_rank(eps):
    spent = spent_on_quantile(25, eps, 500)
    assert REACHED * eps / 2 <= spent <= eps * (1 + ROUNDING)
    beyond = max(
        np.max(audit.quantile_log_ratio(pairs, pairs.users.n_users, eps))
        for pairs in audit.hard_pairs(500, rng=2)
    )
    assert REACHED * eps / 2 <= beyond <= eps / 2 * (1 + ROUNDING)


def test_hard_pairs_are_neighbours_and_hard():
    seen = []
    for users, first, second in audit.hard_pairs(4000, rng=4):
        assert np.all(np.sum(first != second, axis=1) <= 1)
        for sums in (first, second):
            assert np.all((sums >= 0) & (sums <= users.largest_sums))
        ties = np.any(np.diff(np.sort(first, axis=1)) == 0, axis=1)
        seen.append((users.n_users == 1, users.max_count, ties.mean(), np.all(first == 0, axis=1)))
    single, most, ties, empty = zip(*seen, strict=True)
    assert any(single)
    assert max(most) == 10**15
    assert max(ties) > 0.3
    assert any(np.any(rows) for rows in empty)


def test_hard_pairs_of_a_seed_are_the_same_everywhere():
    found = [
        (pairs.users.total, float(f"{pairs.first.sum():.9g}"), float(f"{pairs.second.sum():.9g}"))
        for pairs in audit.hard_pairs(400, rng=3)
    ]
    assert found == [
        (7, 175.208952, 149.704798),
        (2, 2757.28268, 2947.36852),
        (8, 12.0787928, 13.8225217),
        (21, 271.189932, 312.268924),
        (18, 1090.42998, 1165.84413),
        (1000000000000005, 8.07076494e17, 1.20990959e18),
        (2000001000000000, 2.71993436e16, 3.1359343e16),
        (40, 341.425236, 440.038063),
    ]


@pytest.mark.parametrize("n", [1, 7, 100, 250])
def test_hard_pairs_are_as_many_as_asked_for(n):
    assert sum(len(pairs.first) for pairs in audit.hard_pairs(n, rng=1)) == n


def test_hard_pairs_hold_those_of_the_proofs_of_tightness():
    """Any number of sums next to nothing, beside the heaviest user, who goes from 0 to U m*."""
    for users, first, second in audit.hard_pairs(240, rng=26):
        full = users.largest_sums
        heaviest, tiny = np.argmax(full), 1e-9 * full.min()
        for r in range(users.n_users):
            assert first[r].tolist().count(tiny) == r
            assert first[r].tolist().count(0) == users.n_users - r
            assert (first[r, heaviest], second[r, heaviest]) == (0, full[heaviest])
            others = np.arange(users.n_users) != heaviest
            np.testing.assert_array_equal(first[r, others], second[r, others])


def test_largest_log_ratio_is_over_the_pairs_of_its_seed():
    def figure(pairs):
        return np.sin(pairs.second).sum(axis=1)

    found = audit.largest_log_ratio(figure, 40, rng=27)
    assert found == max(figure(pairs).max() for pairs in audit.hard_pairs(40, rng=27))
    assert found != audit.largest_log_ratio(figure, 40, rng=28)


# The audits see what they are for.


def test_an_audit_sees_half_of_a_scale_and_a_scale_from_the_data(monkeypatch):
    scale = noise._noise_scale
    for module in (noise, AKMV):
        monkeypatch.setattr(module, "_noise_scale", lambda width, eps: scale(width / 2, eps))
    assert spent_on_mean("laplace", 1, 80) == pytest.approx(2)
    assert spent_on_akmv(1, 80) == np.inf  # a scale that is not 2T/eps
    monkeypatch.undo()
    monkeypatch.setattr(
        mechanisms, "grid_sum", lambda values, low, high: grid_sum(values, low, values.max())
    )
    assert spent_on_mean("laplace", 1, 80) == np.inf


def test_an_audit_sees_staircase_noise_that_is_too_small(monkeypatch):
    def small(self, sensitivity, shape, rng):
        return draw(self, sensitivity / 1.01, shape, rng)

    draw = ud.StaircaseNoise.draw
    monkeypatch.setattr(ud.StaircaseNoise, "draw", small)
    assert spent_on_mean("opt bound staircase", 1, 80) == pytest.approx(2)


@pytest.mark.parametrize("factor", [2, 0.5])
def test_an_audit_sees_a_threshold_drawn_with_another_exponent(monkeypatch, factor):
    drawn = AKMV._cells_of
    monkeypatch.setattr(
        AKMV,
        "_cells_of",
        lambda values, users, rank, eta: drawn(values, users, rank, factor * eta),
    )
    assert spent_on_akmv(1, 80) == pytest.approx((1 + factor) / 2)  # of this half


# The figure of every single pair, not only the largest of many.

TAME = ud.Contributions([3, 2, 2], 1)


def tame_pairs(n, seed):
    """Cells wide enough that all of them count, some of no width, and any user replaced."""
    rng = np.random.default_rng(seed)
    first = rng.choice([0, 0.5, 1, 0.3], (n, 3)) * rng.choice([1, rng.random()], (n, 1))
    second = first.copy()
    second[np.arange(n), rng.integers(3, size=n)] = rng.random(n)
    return audit.Pairs(TAME, first * TAME.largest_sums, second * TAME.largest_sums)


@pytest.mark.parametrize("upper", [1, 0.1])
@pytest.mark.parametrize("eps", [0.3, 0.5, 2, 3])
def test_figures_of_quantile_and_akmv_are_right_for_each_pair(eps, upper):
    """Log densities of T are constant on a cell; the noise's share is largest at one of its ends"""
    users, pairs = ud.Contributions(TAME.counts, upper), tame_pairs(60, 25)
    pairs = audit.Pairs(users, upper * pairs.first, upper * pairs.second)

    def cells(rank, budget, sums):
        edges = sorted({0.0, *sums[0].tolist(), *sums[1].tolist(), upper * 3.0})
        for a, b in itertools.pairwise(edges):
            middle = (a + b) / 2
            one, other = (ud.quantile_log_density(middle, x, users, rank, budget) for x in sums)
            yield a, b, abs(one - other)

    of_rank, of_akmv = {1: [], 2: [], 3: []}, []
    for sums in zip(pairs.first, pairs.second, strict=True):
        for rank, expected in of_rank.items():
            expected.append(max(ratio for _, _, ratio in cells(rank, eps, sums)))
        ratios = []
        for a, b, ratio in cells(ud.rank(eps), eps / 2, sums):
            for T in ((a or b) * (1 + 1e-12), b):
                moved = abs(np.minimum(sums[0], T).sum() - np.minimum(sums[1], T).sum())
                ratios.append(ratio + moved / (2 * T / eps))
        of_akmv.append(max(ratios))
    for rank, expected in of_rank.items():
        found = audit.quantile_log_ratio(pairs, rank, eps)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(audit.akmv_log_ratio(pairs, eps), of_akmv, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("eps", [0.5, 2, 5])
def test_figure_of_staircase_noise_is_right_for_each_shift(eps):
    law = ud.StaircaseNoise(eps)
    shifts = [0, 0.01, 0.305, law.gamma, 0.77, 1, 1.2, 2.5, 3, 7.9]
    pairs = audit.Pairs(ud.Contributions([10], 1), np.zeros((10, 1)), np.array([shifts]).T)
    z = np.sort(np.concatenate([np.linspace(-9, 9, 9001), np.arange(9) + law.gamma - 1e-6]))
    expected = [np.max(law.log_density(z) - law.log_density(z + shift)) for shift in shifts]

    def release(sums, users, rng):
        return [audit.Noisy(Fraction(x), Fraction(1)) for x in sums[:, 0]]

    found = audit.mean_log_ratio(release, pairs, law)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found, eps * np.ceil(shifts), rtol=1e-12)
    np.testing.assert_allclose(audit.mean_log_ratio(release, pairs), shifts, rtol=1e-12)


@pytest.mark.parametrize("noise", [None, ud.StaircaseNoise(1)])
def test_noise_of_two_scales_or_of_none_gives_neighbours_away(noise):
    scales = [(1, 1), (1, 2), (0, 0), (0, 1), (2, 2)]
    pairs = audit.Pairs(ud.Contributions([1], 1), np.zeros((5, 1)), np.ones((5, 1)))

    def release(sums, users, rng):
        return [
            audit.Noisy(Fraction(x), Fraction(pair[int(x)]))
            for x, pair in zip(sums[:, 0], scales, strict=True)
        ]

    spent = audit.mean_log_ratio(release, pairs, noise)
    assert spent.dtype == np.float64
    assert spent.tolist() == [1, np.inf, np.inf, np.inf, 0.5 if noise is None else 1]


def test_an_audit_sees_a_threshold_that_is_not_uniform_within_its_cell(monkeypatch):
    """At both ends of every cell all is well, and the mechanisms agree with each other."""

    def draw_low(cells, rng, shape):
        cell, T = AKMV._Draws(*drawn(cells, rng, shape))
        lower, upper = (np.take_along_axis(x, cell[..., None], -1)[..., 0] for x in cells[:2])
        return AKMV._Draws(cell, lower + (T - lower) ** 2 / (upper - lower))

    drawn = AKMV._draw_from
    monkeypatch.setattr(AKMV, "_draw_from", draw_low)
    pairs = audit.Pairs(TAME, np.array([[0.5, 1, 0.25]]), np.array([[2.5, 1, 0.25]]))
    assert audit.akmv_log_ratio(pairs, 1) == np.inf


def test_an_audit_sees_a_threshold_that_one_of_two_neighbours_clips(monkeypatch):
    """`T` above the data's largest sum: for the one; for the other that sum is U m*."""

    def draw_clipped(cells, rng, shape):
        draws = drawn(cells, rng, shape)
        return draws._replace(threshold=np.minimum(draws.threshold, cells.lower[..., 0]))

    drawn = AKMV._draw_from
    monkeypatch.setattr(AKMV, "_draw_from", draw_clipped)
    for row in ([1.0, 1, 0.25], [3.0, 1, 0.25]), ([3.0, 1, 0.25], [1.0, 1, 0.25]):
        pairs = audit.Pairs(TAME, *(np.array([sums]) for sums in row))
        assert audit.akmv_log_ratio(pairs, 1) == np.inf


def test_recorder_answers_without_any_numbers():
    rng = audit.Recorder()
    one = audit.Noisy(Fraction(0), Fraction(1))
    assert rng.laplace() == one
    assert rng.laplace(scale=[1.0, 1.0]).tolist() == [one, one]
    assert rng.laplace(0.0, 1.0, (2,)).tolist() == [one, one]
    assert rng.exponential() == 1
    assert rng.calls == [
        ("laplace", (0.0, 1.0), ()),
        ("laplace", (0.0, 1.0, 1.0), (2,)),
        ("laplace", (0.0, 1.0), (2,)),
        ("exponential", (1.0,), ()),
    ]


def test_noise_that_is_used_in_any_other_way_is_refused():
    with pytest.raises(TypeError):
        np.clip(audit.Recorder().laplace(0, 1, (3,)), 0, 1)
    with pytest.raises(AssertionError, match="normal"):
        audit.Recorder().normal()
    with pytest.raises(AssertionError, match="bit_generator"):
        audit.Recorder().bit_generator  # noqa: B018


# Grey box: what is asked of the Generator.


@pytest.mark.parametrize("eps", [0.1, 2])
@every_mean
def test_neighbours_make_the_same_calls_with_the_same_numbers(name, eps):
    mechanism, law = MEANS[name]
    wanted = ["laplace"] if law is None else ["exponential", "random", "random", "choice"]
    for users, first, second in audit.hard_pairs(80, rng=5):
        for pair in zip(first, second, strict=True):
            recorders = audit.Recorder(), audit.Recorder()
            for sums, rng in zip(pair, recorders, strict=True):
                mechanism(sums, users, eps, rng)
            one, other = (rng.calls for rng in recorders)
            assert one == other
            assert [call.name for call in one] == wanted
            assert all(call.size == () for call in one)


@every_mean
def test_audits_of_many_datasets_at_once_are_audits_of_each(name):
    """Nothing in a release or in a law depends on the other datasets of a batch."""
    mechanism, _ = MEANS[name]
    for users, first, _ in audit.hard_pairs(80, rng=19):
        batch = mechanism(first, users, 1, audit.Recorder())
        cells = ud.quantile_cells(first, users, 2, 1)
        for row, sums in enumerate(first):
            assert mechanism(sums, users, 1, audit.Recorder()) == batch[row]
            for one, many in zip(ud.quantile_cells(sums, users, 2, 1), cells, strict=True):
                np.testing.assert_array_equal(one, many[row])


@every_eps
def test_akmv_makes_the_same_calls(eps):
    """Its scale, which the audit compares with the threshold, is the only number in them."""
    for users, first, _ in audit.hard_pairs(80, rng=6):
        for sums in first:
            rng = audit.Recorder(random=[0.5, 0.5])
            ud.akmv(sums, users, eps, rng=rng)
            assert [call.name for call in rng.calls] == ["random", "random", "laplace"]
            assert all(call.size == () for call in rng.calls)


# Samplers against densities.


def law_of(cells, t):
    """The distribution function, from the densities of the cells, at t."""
    inside = np.clip(t[..., None], cells.lower, cells.upper) - cells.lower
    return np.sum(inside * np.exp(cells.log_density), axis=-1)


@every_eps
def test_quantile_sampler_is_the_inverse_of_its_density(eps):
    levels, places = np.meshgrid(np.linspace(0, 1 - 2**-53, 101), np.linspace(0, 1, 11))
    for pairs in audit.hard_pairs(40, rng=7):
        for sums in np.concatenate([pairs.first, pairs.second[:1]]):
            cells = ud.quantile_cells(sums, pairs.users, ud.rank(eps), eps)
            batch = np.broadcast_to(cells.probability, (*levels.shape, len(cells.lower)))
            draws = AKMV._draw_from(cells, audit.Recorder(random=[levels, places]), levels.shape)
            many = ud.quantile_cells(
                np.broadcast_to(sums, (*levels.shape, sums.size)), pairs.users, ud.rank(eps), eps
            )
            again = AKMV._draw_from(many, audit.Recorder(random=[levels, places]), levels.shape)
            np.testing.assert_array_equal(draws, again)
            below = law_of(cells, cells.lower[draws.cell])
            chance = np.take_along_axis(batch, draws.cell[..., None], axis=-1)[..., 0]
            assert np.all(chance > 0)
            np.testing.assert_allclose(
                law_of(cells, draws.threshold), below + places * chance, rtol=0, atol=1e-12
            )
            # A cell is chosen by the levels that its probability covers, counted from the top.
            above = np.cumsum(cells.probability)[draws.cell]
            assert np.all(levels <= above + 1e-12)
            assert np.all(levels >= above - chance - 1e-12)


def distribution(law, z):
    tail = law.tail(np.abs(z))
    return np.where(z < 0, tail, 1 - tail)


@every_eps
@pytest.mark.parametrize("name", [ud.LaplaceNoise, ud.StaircaseNoise])
def test_tails_are_integrals_of_the_densities(name, eps):
    law = name(eps)
    jumps = np.arange(12) + getattr(law, "gamma", 0.5)
    ends = np.sort(np.concatenate([[0.0], jumps, np.linspace(0, 11, 45)]))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(ends) / 2
    inside = (ends[:-1] + half)[:, None] + half[:, None] * nodes
    mass = np.exp(law.log_density(inside)) @ weights * half
    np.testing.assert_allclose(-np.diff(law.tail(ends)), mass, rtol=0, atol=1e-12)


@every_eps
def test_laplace_sampler_is_the_inverse_of_its_density(eps):
    """Numpy makes a Laplace variable of the uniform number that `random` would return."""
    law = ud.LaplaceNoise(eps)
    draws = law.draw(3.0, (10_000,), np.random.default_rng(9)) / 3.0
    uniforms = np.random.default_rng(9).random(10_000)
    np.testing.assert_allclose(distribution(law, draws), uniforms, rtol=0, atol=1e-12)
    release = ud.laplace(np.broadcast_to(SUMS, (10_000, 6)), USERS, eps, rng=9)
    noise = (release * USERS.total - SUMS.sum()) / 50
    np.testing.assert_allclose(distribution(law, noise), uniforms, rtol=0, atol=1e-12)


@every_eps
def test_staircase_sampler_is_the_inverse_of_its_density(eps):
    """Whole units by an exponential; then which part of a unit, and where in it."""
    law = ud.StaircaseNoise(eps)
    whole, chosen, place = np.meshgrid(
        np.arange(5.0), [0, law.gamma * (1 - 1e-12), law.gamma, 1], np.linspace(0, 1, 9)[:-1]
    )
    beyond = chosen < law.gamma
    for sign in (-1.0, 1.0):
        rng = audit.Recorder(
            exponential=[whole + 0.5], random=[chosen, place], choice=[np.full(whole.shape, sign)]
        )
        z = law.draw(2.0, whole.shape, rng) / 2.0
        assert rng.calls[0].numbers == (1 / eps,)
        assert rng.calls[-1].numbers == (-1.0, 1.0)
        part = np.where(beyond, 1 - law.gamma + law.gamma * place, (1 - law.gamma) * place)
        size = -np.expm1(-eps * whole) + np.exp(-eps * whole) * -np.expm1(-eps) * part
        np.testing.assert_allclose(distribution(law, z), (1 + sign * size) / 2, atol=1e-12)


# Sums in floating point.


def exact_total(values):
    return sum(map(Fraction, values.tolist()), Fraction(0))


def test_influence_on_the_computed_total_never_exceeds_the_width():
    rng = np.random.default_rng(12)
    for _ in range(1500):
        n = int(rng.choice([1, 2, 3, 7, 100]))
        low, high = (
            rng.choice([0.0, -1.0, -rng.random(), -1e-300]),
            rng.random() * 10.0 ** rng.integers(-5, 17),
        )
        values = (rng.random((2, n)) - 0.5) * 10.0 ** rng.integers(0, 18, n)
        values[1, 1:] = values[0, 1:]
        values[:, 0] = rng.choice([[-1e30, 1e30], [low, high], values[:, 0]])
        total, width = grid_sum(values, low, high)
        assert abs(Fraction(float(total[1])) - Fraction(float(total[0]))) <= Fraction(float(width))
        assert Fraction(float(width)) <= Fraction(float(high)) - Fraction(float(low))
        assert float(width) >= (high - low) * (1 - 4 * n * 2.0**-50)
        kept = exact_total(np.clip(values[0], low, high))
        assert abs(Fraction(float(total[0])) - kept) <= Fraction(n**2 * max(-low, high)) / 2**50


def test_width_of_one_users_interval_is_not_rounded():
    """Both ends may be 2^53 steps away, and an odd difference of more is no float."""
    rng = np.random.default_rng(13)
    for low, high in zip(-0.5 - rng.random(300) / 2, 0.5 + rng.random(300) / 2, strict=True):
        steps, width, _ = grid_steps(np.array([[low], [high]]), low, high)
        assert int(steps[1]) - int(steps[0]) <= int(width)


def test_totals_do_not_depend_on_the_order():
    rng = np.random.default_rng(15)
    for scale in (1, 1e15, 1e-300):
        values = rng.random(10_001) * scale * 10.0 ** rng.integers(-6, 1, 10_001)
        totals = {float(grid_sum(rng.permutation(values), 0.0, scale)[0]) for _ in range(20)}
        assert len(totals) == 1


def test_counts_from_one_to_1e15_side_by_side():
    """A heavy user's rounding errors, of whole km/h here, do not leak into the others' part."""
    for last, change in ((0.0, 65), (64.0, 1)):
        sums = np.array([[3.25e16 + 4, 65.0, 0.0, 65.0], [3.25e16 + 4, 65.0, 0.0, last]])
        one, other = ud.opt_worst_case(sums, HEAVY, 0.5, rng=audit.Recorder())
        assert one.scale * HEAVY.total * Fraction(1, 2) == 65
        assert (one.value - other.value) * HEAVY.total == change
        kept = 4 + Fraction(65, 2)
        assert one.value * HEAVY.total == Fraction(65, 2) * HEAVY.total + kept


def test_ten_million_samples():
    rng = np.random.default_rng(16)
    values = rng.random(10_000_000)
    steps, width, step = grid_steps(values, 0.0, 0.9)
    assert int(np.rint(np.minimum(values, width * step) / step).astype(np.int64).sum()) == steps
    assert grid_steps(values[::-1], 0.0, 0.9)[0] == steps
    for value in (0.0, 1.0):
        values[4_321_987] = value
        change = int(grid_steps(values, 0.0, 0.9)[0]) - int(steps)
        assert abs(change) <= int(width)
        steps += change


@pytest.mark.parametrize("name", ["laplace", "opt bound", "clipped off centre"])
def test_sums_in_float32_are_taken_at_their_value(name):
    single = (np.linspace(0, 1, 6) * USERS.largest_sums).astype(np.float32)
    one, other = (
        MEANS[name][0](sums, USERS, 1, audit.Recorder())
        for sums in (single, single.astype(np.float64))
    )
    assert one == other


@pytest.mark.parametrize("n_users", [1, 2, 3, 6])
def test_grid_is_as_fine_as_exact_sums_allow(n_users):
    for largest in 2.0 ** np.linspace(-3, 3, 25):
        _, _, step = grid_steps(np.zeros(n_users), -largest, largest)
        assert 2.0**52 * step <= max(n_users, 2) * largest < 2.0**53 * step
