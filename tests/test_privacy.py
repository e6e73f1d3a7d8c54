"""Each mechanism spends its budget, and no more (Definition II.1), by the densities in the code.

1. The noise: if its centre moves by x times its scale, the log ratio is x for Laplace noise
   (Theorem II.1, thm-laplace) and eps ceil(x) for staircase noise (thm-staircase).
2. Mechanisms: over worst-case pairs of neighbours the largest log ratio is eps (prp-finite-audit;
   in a ball cor-ball-error; for the variance thm-variance, for several means jointly
   thm-several-means); with Gaussian noise the zCDP is rho (prp-gaussian-vector). A quantile with
   exponent eps/2 per rank spends eps below rank L and half of it from rank L on (thm-quantile);
   AKMV spends 3/4 of its budget if all sums count (prop-akmv-private).
3. Sums: one user moves the computed total by at most the interval's width (lem-grid-sum).
4. Samplers are the inverses of the densities that were audited.
5. Neighbours make the same calls, of the Generator and of all other functions.
6. The audit: its pairs are neighbours, its log ratios are right, and it detects faults.
"""

import sys
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from strategies import BUDGETS, LAWS, SUMS, USERS
from traces import calls_of

import userdp as ud
from userdp import beyond, mechanisms
from userdp._checks import LARGEST
from userdp.audit import Noisy, Pairs, Recorder, akmv_log_ratio, quantile_log_ratio
from userdp.audit import largest_log_ratio as largest_of_sums
from userdp.beyond import privacy_loss as audit
from userdp.mechanisms import grid_steps, grid_sum


# 1. The noise
@pytest.mark.parametrize("eps", [0.5, 2, 5])
def test_log_ratio_of_staircase_noise_is_right_for_each_shift(eps):
    law = beyond.StaircaseNoise(eps)
    shifts = [0, 0.01, 0.305, law.gamma, 0.77, 1, 1.2, 2.5, 3, 7.9]
    pairs = Pairs(ud.Contributions([10], 1), np.zeros((10, 1)), np.array([shifts]).T)
    z = np.sort(np.concatenate([np.linspace(-9, 9, 9001), np.arange(9) + law.gamma - 1e-6]))
    expected = [np.max(law.log_density(z) - law.log_density(z + shift)) for shift in shifts]

    def release(sums, users, rng):
        return [Noisy(Fraction(x), Fraction(1)) for x in sums[:, 0]]

    ratios = audit.mean_log_ratio(release, pairs, law)
    np.testing.assert_allclose(ratios, expected, rtol=1e-12)
    np.testing.assert_allclose(ratios, eps * np.ceil(shifts), rtol=1e-12)
    np.testing.assert_allclose(audit.mean_log_ratio(release, pairs), shifts, rtol=1e-12)


# 2. Mechanisms
def identity(budget):
    return budget


def optimal(sums, users, eps, objective, law, **options):
    return beyond.opt_worst_case(sums, users, law(eps), objective=objective, **options)


def clipped(sums, users, budget, width, centre, law=identity, **options):
    U = users.upper
    return beyond.clipped_mean(sums, users, width * U, law(budget), centre=centre * U, **options)


def weighted(sums, users, eps, cap, law=identity, **options):
    return beyond.weighted_mean(sums, users, np.minimum(users.counts, cap), law(eps), **options)


def squares_of(sums, users):
    """For every other user all samples are equal; the rest have samples at 0 and U, except one."""
    all_equal = np.arange(users.n_users) % 2
    return np.where(all_equal, sums * (sums / users.counts), users.upper * sums)


def variance(sums, users, budget, law=identity, **options):
    return beyond.opt_variance(sums, squares_of(sums, users), users, law(budget), **options)


MEANS = {
    "laplace": ud.laplace,
    "opt": ud.opt_worst_case,
    **{
        f"opt {objective} {law}": partial(optimal, objective=objective, law=LAWS[law])
        for objective, law in product(("bound", "l1", "mse"), LAWS)
    },
    "clipped off centre": partial(clipped, width=1.7, centre=0.3),
    "clipped at the edge": partial(clipped, width=0.9, centre=1),
    "clipped wide": partial(clipped, width=1e3, centre=0.5),
    "clipped staircase": partial(clipped, width=1.1, centre=0.2, law=beyond.StaircaseNoise),
    "weighted": partial(weighted, cap=2.5),
    "weighted staircase": partial(weighted, cap=1, law=beyond.StaircaseNoise),
    "variance": variance,
    "variance staircase": partial(variance, law=beyond.StaircaseNoise),
}


def groups_of(users):
    """Each user's numbers of samples in two groups; many users have none in the second."""
    second = users.counts * (np.arange(users.n_users) % 3) // 4
    if not second.any():
        second = users.counts // 2
    if not second.any():
        return users.counts[:, None]
    return np.stack([users.counts - second, second], axis=1)


def several_means(sums, users, eps, **options):
    """Release several means, where each user has the same average in all groups."""
    counts = groups_of(users)
    group_sums = sums[..., None] * (counts / users.counts[:, None])
    return beyond.opt_several_means(group_sums, counts, users.upper, eps, **options)


RANKS = {f"rank {k}": k for k in (1, 2, 4, 20)}
GAUSSIAN = {
    "opt bound gaussian": beyond.opt_worst_case,
    "opt mse gaussian": partial(beyond.opt_worst_case, objective="mse"),
    "clipped off centre gaussian": partial(clipped, width=1.7, centre=0.3),
    "variance gaussian": variance,
    "ball gaussian": beyond.mean_in_ball,
}

# (pairs, seed)
AUDITS = dict.fromkeys(MEANS, (2000, 1)) | dict.fromkeys(RANKS, (1000, 2)) | {"akmv": (320, 3)}
AUDITS |= dict.fromkeys(["ball", *GAUSSIAN], (400, 4)) | {"several means": (2000, 5)}
every_eps = pytest.mark.parametrize("eps", BUDGETS)
ROUNDING = 1e-9
SMALLEST_SHARE_SPENT = 0.999


@every_eps
@pytest.mark.parametrize("name", AUDITS)
def test_mechanisms_spend_their_budget_and_no_more(name, eps):
    ratio = worst_log_ratio(name, eps, *AUDITS[name])
    too_little, too_much = "too little noise for what a user moves", "more noise than necessary"
    assert ratio <= eps * (1 + ROUNDING), f"{too_little}: {ratio:.6g} is spent, the budget is {eps}"
    assert ratio >= SMALLEST_SHARE_SPENT * eps, (
        f"{too_much}: {ratio:.6g} is spent, the budget is {eps}"
    )


RELEASES = MEANS | GAUSSIAN | {"ball": beyond.mean_in_ball, "several means": several_means}


def ratio_of(name, eps):
    """Return a function from pairs to log ratios; for AKMV, of threshold and output jointly.

    For Gaussian noise it returns the spent rho instead.
    """
    budget = beyond.GaussianNoise.zcdp(eps) if name in GAUSSIAN else eps
    release = lambda sums, users, rng: RELEASES[name](sums, users, budget, rng=rng)  # noqa: E731

    def ratio(pairs):
        if name == "akmv":
            return akmv_log_ratio(pairs, eps)
        if name in RANKS:
            return quantile_log_ratio(pairs, RANKS[name], eps)
        if name in GAUSSIAN:
            return audit.gaussian_rho(release, pairs)
        if name == "ball":
            return audit.ball_log_ratio(release, pairs)
        if name == "several means":
            return audit.joint_log_ratio(release, pairs)
        law = beyond.StaircaseNoise(eps) if "staircase" in name else None
        return audit.mean_log_ratio(release, pairs, law)

    return ratio


def worst_log_ratio(name, eps, n_pairs, seed=1):
    """Return the largest log ratio over hard pairs, or over pairs with many users.

    With a small budget, few users make the variance and the means of two groups constant.
    """
    if eps < 0.2 and name in ("variance", "variance staircase", "several means"):
        pairs_of_many_users = [pairs_of_many(sums, None) for sums in SUMS_OF_OTHERS.values()]
        return max(ratio_of(name, eps)(pairs).max() for pairs in pairs_of_many_users)
    d = (1 if eps < 0.2 else 3) if "ball" in name else None
    return audit.largest_log_ratio(ratio_of(name, eps), n_pairs, rng=seed, d=d)


@every_eps
def test_quantile_of_rank_l_spends_half_of_its_budget(eps):
    ratio = lambda pairs: quantile_log_ratio(pairs, pairs.users.n_users, eps)  # noqa: E731
    largest = audit.largest_log_ratio(ratio, 500, rng=2)
    assert SMALLEST_SHARE_SPENT * eps / 2 <= largest <= eps / 2 * (1 + ROUNDING)


def test_akmv_leaves_a_quarter_of_its_budget_unspent_from_rank_l_on():
    first, second = np.zeros((2, 3)), np.array([[1e-9, 0, 0], [4, 0, 0]])
    pairs = Pairs(ud.Contributions([4, 1, 1], 1), first, second)
    np.testing.assert_allclose(akmv_log_ratio(pairs, 0.5), [0.375, 0.25], rtol=1e-6)


MANY = ud.Contributions([40, *[3] * 20_000], 2)
SUMS_OF_OTHERS = {
    "all samples are U": MANY.largest_sums,
    "all sums are one": np.full(20_001, 6.0),
    "all sums are tiny": np.full(20_001, 6e-9),
}
"""Sums of all users but the first, who moves between the ends, or from such a sum to an end."""


def pairs_of_many(sums, d):
    lowest, highest = sums.copy(), sums.copy()
    lowest[0], highest[0] = 0, MANY.largest_sums[0]
    pairs = np.array([[lowest, sums], [highest, lowest]])
    if d is not None:  # the same in all coordinates
        pairs = (pairs - MANY.largest_sums / 2)[..., None] * np.full(d, d**-0.5)
    return Pairs(MANY, *pairs)


@pytest.mark.slow
@pytest.mark.parametrize("sums", SUMS_OF_OTHERS.values(), ids=SUMS_OF_OTHERS)
@pytest.mark.parametrize("name", AUDITS)
def test_many_users_and_long_vectors_spend_their_budget_and_no_more(name, sums):
    pairs = pairs_of_many(sums, 200 if "ball" in name else None)
    largest = ratio_of(name, 0.5)(pairs).max()
    budget = 0.25 if name == "akmv" else 0.5  # AKMV's threshold is fixed by the many others
    assert SMALLEST_SHARE_SPENT * budget <= largest <= budget * (1 + ROUNDING)


# 3. Sums
def test_influence_on_the_computed_total_never_exceeds_the_width():
    rng = np.random.default_rng(12)
    for _ in range(1500):
        n, high = int(rng.choice([1, 2, 3, 7, 100])), rng.random() * 10.0 ** rng.integers(-5, 17)
        low = rng.choice([0.0, -1.0, -rng.random(), -1e-300])
        values = (rng.random((2, n)) - 0.5) * 10.0 ** rng.integers(0, 18, n)
        values[1, 1:] = values[0, 1:]
        values[:, 0] = rng.choice([[-1e30, 1e30], [low, high], values[:, 0]])
        total, width = grid_sum(values, low, high)
        first, second, width = (Fraction(float(x)) for x in (*total, width))
        change, limit = abs(second - first), Fraction(float(high)) - Fraction(float(low))
        message = (
            f"{n} values: one moves the total by {float(change)!r}, noise is for {float(width)!r}"
        )
        assert change <= width <= limit, f"{message}, the interval is {float(limit)!r} wide"
        assert float(width) >= (high - low) * (1 - 4 * n * 2.0**-50)
        exact = sum(map(Fraction, np.clip(values[0], low, high).tolist()))
        assert abs(first - exact) <= Fraction(n**2 * max(-low, high)) / 2**50


def test_totals_do_not_depend_on_the_order():
    rng = np.random.default_rng(15)
    for scale in (1, 1e15, 1e-300):
        values = rng.random(200_001) * scale * 10.0 ** rng.integers(-6, 1, 200_001)
        totals = {float(grid_sum(rng.permutation(values), 0.0, scale)[0]) for _ in range(9)}
        assert len(totals) == 1


@pytest.mark.parametrize("n_users", [1, 2, 3, 6])
def test_grid_is_as_fine_as_exact_sums_allow(n_users):
    """With one user both ends could be 2^53 steps from 0; larger odd differences are not floats."""
    for largest in 2.0 ** np.linspace(-3, 3, 25):
        _, _, step = grid_steps(np.zeros(n_users), -largest, largest)
        assert 2.0**52 * step <= max(n_users, 2) * largest < 2.0**53 * step
    rng = np.random.default_rng(13)
    for low, high in zip(-0.5 - rng.random(300) / 2, 0.5 + rng.random(300) / 2, strict=True):
        steps, width, _ = grid_steps(np.array([[low], [high]]), low, high)
        assert int(steps[1]) - int(steps[0]) <= int(width)


def test_grid_works_up_to_the_largest_floats():
    total, width = grid_sum(np.array([LARGEST / 2, LARGEST / 2]), -LARGEST / 2, LARGEST / 2)
    assert LARGEST * (1 - 2.0**-50) < total == width <= LARGEST


@pytest.mark.parametrize(
    ("n_users", "lowest", "highest"),
    [(3, 0.0, LARGEST / 2), (3, -LARGEST / 2, 0.0), (1, -LARGEST, LARGEST / 2)],
    ids=["sums above", "sums below", "the width"],
)
def test_grid_refuses_sums_and_widths_beyond_the_range_of_floats(n_users, lowest, highest):
    with pytest.raises(ValueError, match="`lowest` and `highest` must be small enough") as refusal:
        grid_sum(np.zeros(n_users), lowest, highest)
    assert f"lowest={lowest!r} and highest={highest!r}" in str(refusal.value)


# 4. Samplers
def distribution(law, z):
    tail = law.tail(np.abs(z))
    return np.where(z < 0, tail, 1 - tail)


@every_eps
def test_laplace_sampler_is_the_inverse_of_its_density(eps):
    """Numpy computes a Laplace variable from the uniform number that `random` would return."""
    law = beyond.LaplaceNoise(eps)
    draws = law.draw(3.0, (10_000,), np.random.default_rng(9)) / 3.0
    uniforms = np.random.default_rng(9).random(10_000)
    np.testing.assert_allclose(distribution(law, draws), uniforms, rtol=0, atol=1e-12)
    release = ud.laplace(np.broadcast_to(SUMS, (10_000, 6)), USERS, eps, rng=9)
    noise = (release * USERS.total - SUMS.sum()) / 50
    np.testing.assert_allclose(distribution(law, noise), uniforms, rtol=0, atol=1e-12)


@every_eps
def test_staircase_sampler_is_the_inverse_of_its_density(eps):
    """An exponential gives whole units; then a part of a unit and a position in it are drawn."""
    law = beyond.StaircaseNoise(eps)
    units, chosen, position = np.meshgrid(
        np.arange(5.0), [0, law.gamma * (1 - 1e-12), law.gamma, 1], np.linspace(0, 1, 9)[:-1]
    )
    is_outer = chosen < law.gamma
    for sign in (-1.0, 1.0):
        rng = Recorder(
            exponential=[units + 0.5],
            random=[chosen, position],
            choice=[np.full(units.shape, sign)],
        )
        z = law.draw(2.0, units.shape, rng) / 2.0
        assert rng.calls[0].numbers == (1 / eps,)
        assert rng.calls[-1].numbers == (-1.0, 1.0)
        share = np.where(is_outer, 1 - law.gamma + law.gamma * position, (1 - law.gamma) * position)
        size = -np.expm1(-eps * units) + np.exp(-eps * units) * -np.expm1(-eps) * share
        np.testing.assert_allclose(distribution(law, z), (1 + sign * size) / 2, atol=1e-12)


AKMV = sys.modules["userdp.akmv"]  # the module; `userdp.akmv` itself is the mechanism


def distribution_of_threshold(cells, t):
    lengths = np.clip(t[..., None], cells.lower, cells.upper) - cells.lower
    return np.sum(lengths * np.exp(cells.log_density), axis=-1)


@every_eps
def test_quantile_sampler_is_the_inverse_of_its_density(eps):
    levels, positions = np.meshgrid(np.linspace(0, 1 - 2**-53, 101), np.linspace(0, 1, 11))
    shape, rank = levels.shape, ud.rank(eps)
    for pairs in audit.hard_pairs(40, rng=7):
        for sums in np.concatenate([pairs.first, pairs.second[:1]]):
            cells = ud.quantile_cells(sums, pairs.users, rank, eps)
            copies = ud.quantile_cells(np.tile(sums, (*shape, 1)), pairs.users, rank, eps)
            (cell, T), again = (
                AKMV._draw_from(law, Recorder(random=[levels, positions]), shape)
                for law in (cells, copies)
            )
            np.testing.assert_array_equal((cell, T), again)
            below = distribution_of_threshold(cells, cells.lower[cell])
            probability = cells.probability[cell]
            assert np.all(probability > 0)
            np.testing.assert_allclose(
                distribution_of_threshold(cells, T),
                below + positions * probability,
                rtol=0,
                atol=1e-12,
            )
            # A level chooses the cell: from the top, each covers its probability.
            above = np.cumsum(cells.probability)[cell]
            assert np.all(levels <= above + 1e-12)
            assert np.all(levels >= above - probability - 1e-12)


# 5. Calls
@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.1, 2])
@pytest.mark.parametrize("name", MEANS)
def test_neighbours_make_the_same_calls_with_the_same_numbers(name, eps):
    """In addition, each dataset of a batch gets the same release as on its own."""
    expected = ["exponential", "random", "random", "choice"] if "staircase" in name else ["laplace"]
    for users, first, second in audit.hard_pairs(80, rng=5):
        batch = MEANS[name](first, users, eps, rng=Recorder())
        for release, *pair in zip(batch, first, second, strict=True):
            recorders = Recorder(), Recorder()
            runs = zip(pair, recorders, strict=True)
            outputs = [MEANS[name](sums, users, eps, rng=rng) for sums, rng in runs]
            first_calls, second_calls = (rng.calls for rng in recorders)
            assert first_calls == second_calls
            assert [(call.name, call.size) for call in first_calls] == [
                (call, ()) for call in expected
            ]
            assert outputs[0] == release


THRESHOLD = beyond.PrivateThreshold(0.1, centred=True, measure="logarithmic").release


@pytest.mark.parametrize("name", [*MEANS, "several means", "akmv", "threshold", "ball"])
def test_the_functions_called_do_not_depend_on_who_is_clipped(name):
    """Equal running times are not guaranteed, but the same functions are called for all users."""
    users = ud.Contributions([9, *[2] * 39], 1)
    budget = beyond.GaussianNoise(1) if name == "ball" else 0.5
    mechanism = (RELEASES | {"akmv": ud.akmv, "threshold": THRESHOLD})[name]
    calls = []
    for ends in ([0.5, 0.5], [1, 0.5], [0, 0.5], [1, 1]):
        sums = users.largest_sums * np.repeat(ends, [1, 39])
        if name == "ball":
            sums = sums[:, None] - users.largest_sums[:, None] / 2
        calls.append(calls_of(partial(mechanism, sums, users, budget, rng=0)))
    assert len(calls[0]) > 20
    assert calls == [calls[0]] * 4


# 6. The audit
@pytest.mark.parametrize("law", ["laplace", "normal"])
def test_recorder_has_default_draws_and_refuses_other_uses(law):
    rng, standard = Recorder(), Noisy(Fraction(0), Fraction(1))
    draw = getattr(rng, law)
    assert (draw(), rng.exponential()) == (standard, 1)
    assert draw(scale=[1.0, 1.0]).tolist() == draw(0.0, 1.0, (2,)).tolist() == [standard] * 2
    numbers = [(law, (0.0, 1.0), ()), ("exponential", (1.0,), ())]
    assert rng.calls == [*numbers, *[(law, (0.0, 1.0, *more), (2,)) for more in ([1.0], [])]]
    assert (rng.gamma(3).item(), rng.standard_normal((3,)).tolist()) == (standard, [1, 0, 0])
    with pytest.raises(TypeError):
        np.clip(rng.laplace(0, 1, (3,)), 0, 1)
    for name in ("standard_gamma", "bit_generator"):
        with pytest.raises(AssertionError, match=name):
            getattr(rng, name)


def test_hard_pairs_are_neighbours_and_hard():
    properties = []
    for users, first, second in audit.hard_pairs(4000, rng=4):
        assert np.all(np.sum(first != second, axis=1) <= 1)
        assert np.all(np.minimum(first, second) >= 0)
        assert np.all(np.maximum(first, second) <= users.largest_sums)
        ties = np.any(np.diff(np.sort(first, axis=1)) == 0, axis=1)
        properties.append(
            (users.n_users == 1, users.max_count, ties.mean(), np.any(~first.any(axis=1)))
        )
    single, largest, ties, empty = zip(*properties, strict=True)
    assert any(single)
    assert max(largest) == 10**15
    assert max(ties) > 0.3
    assert any(empty)


def test_hard_vectors_are_neighbours_in_the_ball():
    for users, first, second in audit.hard_pairs(400, rng=4, d=3):
        assert np.all(np.any(first != second, axis=-1).sum(axis=1) <= 1)
        first_lengths, second_lengths = (
            np.linalg.norm(vectors, axis=-1) for vectors in (first, second)
        )
        assert np.all(
            np.maximum(first_lengths, second_lengths) <= users.largest_sums / 2 * (1 + 1e-12)
        )
        outer = first_lengths * second_lengths
        turned = abs(abs((first * second).sum(axis=-1)) - outer) > 1e-9 * outer.max()
        assert 0.1 < np.any(turned, axis=1).mean() < 0.6


def test_the_audit_makes_n_hard_pairs_and_checks_them_all():
    figure = lambda pairs: np.sin(pairs.second).sum(axis=1)  # noqa: E731
    for n in (1, 7, 250):
        assert sum(len(pairs.first) for pairs in audit.hard_pairs(n)) == n
    largest = audit.largest_log_ratio(figure, 250, rng=27)
    assert largest == max(figure(pairs).max() for pairs in audit.hard_pairs(250, rng=27))
    assert largest == largest_of_sums(figure, 250, rng=27)
    shares = [
        (2 * pairs.first + pairs.second).sum() / pairs.users.largest_sums.sum()
        for pairs in audit.hard_pairs(400, rng=3)
    ]
    assert sum(shares) == pytest.approx(401.084920053, rel=1e-9)  # the same on every machine


BALL = beyond.vectors
INF, GAMMA = np.inf, Recorder.gamma


@pytest.mark.parametrize(("noise", "last"), [(None, 0.5), (beyond.StaircaseNoise(1), 1)])
def test_noise_with_two_scales_or_none_distinguishes_neighbours(noise, last):
    scales = [(1, 1), (1, 2), (0, 0), (0, 1), (2, 2)]
    pairs = Pairs(ud.Contributions([1], 1), np.zeros((5, 1)), np.ones((5, 1)))

    def release(sums, users, rng):
        rows = zip(sums[:, 0].astype(int), scales, strict=True)
        return [Noisy(Fraction(int(x)), Fraction(pair[x])) for x, pair in rows]

    spent = audit.mean_log_ratio(release, pairs, noise)
    assert spent.dtype == np.float64
    assert spent.tolist() == [1, INF, INF, INF, last]


OTHER_NOISE = {
    "normal": lambda rng, scale, n: rng.normal(0, scale, n),
    "a sign": lambda rng, scale, n: scale * rng.choice([-1, 1], n),
    "uniform": lambda rng, scale, n: scale * rng.random(n),
    "Laplace and uniform": lambda rng, scale, n: rng.laplace(0, scale, n) + 0 * rng.random(n),
}


@pytest.mark.parametrize("law", [None, beyond.StaircaseNoise(1)], ids=["Laplace", "staircase"])
@pytest.mark.parametrize("name", OTHER_NOISE)
def test_noise_of_another_law_with_the_right_scale_is_not_private(name, law):
    pairs = Pairs(ud.Contributions([4, 1], 1), np.array([[0.0, 1]]), np.array([[4.0, 1]]))

    def release(sums, users, rng):
        return np.sum(sums, axis=-1) + OTHER_NOISE[name](rng, users.max_count, (len(sums),))

    assert audit.mean_log_ratio(release, pairs, law) == np.inf


@pytest.mark.parametrize("upper", [1, 0.1])
@pytest.mark.parametrize("eps", [0.3, 0.5, 2, 3])
def test_log_ratios_of_quantile_and_akmv_are_right_for_each_pair(eps, upper):
    """On all cells, some of width 0, evaluated at the upper ends and just above the lower ends."""
    users, rng, ranks = ud.Contributions([3, 2, 2], upper), np.random.default_rng(25), (1, 2, 3)
    first = rng.choice([0, 0.5, 1, 0.3], (60, 3)) * rng.choice([1, rng.random()], (60, 1))
    second = first.copy()
    second[np.arange(60), rng.integers(3, size=60)] = rng.random(60)
    pairs = Pairs(users, first * users.largest_sums, second * users.largest_sums)
    expected_of_ranks, expected_of_akmv = [], []
    for pair in zip(pairs.first, pairs.second, strict=True):
        ends = np.unique([*pair, users.largest_sums, [0, 0, 0]])
        T = np.r_[ends[1:], ends[1:-1] * (1 + 1e-12)]
        log_densities = lambda *law: [ud.quantile_log_density(T, x, users, *law) for x in pair]  # noqa: B023, E731
        expected_of_ranks.append(
            [abs(np.subtract(*log_densities(rank, eps))).max() for rank in ranks]
        )
        change = np.subtract(*(np.minimum(sums, T[:, None]).sum(axis=1) for sums in pair))
        ratio = np.subtract(*log_densities(ud.rank(eps), eps / 2))
        expected_of_akmv.append(np.max(abs(ratio) + abs(change) / (2 * T / eps)))
    ratios = np.transpose([quantile_log_ratio(pairs, rank, eps) for rank in ranks])
    np.testing.assert_allclose(ratios, expected_of_ranks, rtol=1e-12)
    np.testing.assert_allclose(akmv_log_ratio(pairs, eps), expected_of_akmv, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("budget", "figure"),
    [(2, audit.ball_log_ratio), (beyond.GaussianNoise(0.4), audit.gaussian_rho)],
)
def test_log_ratios_in_balls_are_right_for_each_pair(budget, figure):
    """Compared with the clipped sums themselves."""
    release = lambda sums, users, rng: beyond.mean_in_ball(sums, users, budget, rng=rng)  # noqa: E731
    for pairs in audit.hard_pairs(60, rng=8, d=2):
        T = float(beyond.ball_threshold(pairs.users, budget, 2))
        first, second = (beyond.clip_to_ball(x, T / 2).sum(axis=1) for x in pairs[1:])
        scale = max(T, 1e-300) * (1 / 2 if budget == 2 else 0.4)
        c = np.linalg.norm(first - second, axis=1) / scale
        expected = c if budget == 2 else c**2 / 2
        np.testing.assert_allclose(figure(release, pairs), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("figure", "budget", "pattern", "expected"),
    [
        (audit.ball_log_ratio, 2, [1, 0, 0], 5 / 16),
        (audit.gaussian_rho, beyond.GaussianNoise(1), [1, 1, 1], 25 / 512),
    ],
)
def test_vector_noise_of_wrong_scales_is_not_private(figure, budget, pattern, expected):
    scales = np.multiply.outer([[2, 2, 2, 0, 0]] * 2, pattern)
    scales[1, 1] *= 2
    scales[:, 2, 2] += 1
    second = np.multiply.outer([1, 1, 1, 1, 0], [[0, 0.375, 0.5]])

    def release(vectors, users, rng):
        beyond.mean_in_ball(vectors, users, budget, rng=rng)  # for its calls
        noisy = np.frompyfunc(lambda x, scale: Noisy(Fraction(x), Fraction(int(scale))), 2, 1)
        return noisy(vectors[:, 0], scales[int(vectors.any())])

    figures = figure(release, Pairs(ud.Contributions([1], 2), 0 * second, second))
    assert figures.tolist() == [expected, INF, INF, INF, 0]


VARIANCE, MEANS_OF_GROUPS = beyond.variance, beyond.means
DRAW, CELLS_OF = beyond.GaussianNoise.draw, AKMV._cells_of


def half_of_the_scale(width, eps, scale=ud.noise_scale):
    return scale(width / 2, eps)


def stairs_too_narrow(law, sensitivity, *rest, draw=beyond.StaircaseNoise.draw):
    return draw(law, sensitivity / 1.01, *rest)


def draw_once(law, sensitivity, shape, rng):
    """The same noise in each coordinate."""
    return DRAW(law, sensitivity, (*shape[:-1], 1), rng) + np.zeros(shape)


def centre_of_all(counts, means, within, cap):
    """The mean of all samples, which is the best centre only if no user is capped."""
    return np.average(means, axis=-1, weights=counts + 0 * means)[..., None]


def no_clipping(largest_sums, n_groups, eps):
    """A threshold at which no user is clipped."""
    return largest_sums.max()


def for_both_ball_laws(pure, gaussian):
    return {"ball": pure, "ball gaussian": gaussian}


FAULTS = {
    "half of the scale": (
        mechanisms,
        "noise_scale",
        half_of_the_scale,
        {"laplace": 2, "opt": 2},
    ),
    "half of the scale of a law": (
        beyond.noise,
        "noise_scale",
        half_of_the_scale,
        {"opt l1 laplace": 2, "clipped off centre": 2, "weighted": 2},
    ),
    # Not 2T/eps.
    "half of AKMV's scale": (AKMV, "noise_scale", half_of_the_scale, {"akmv": INF}),
    "clipped at the largest sum": (
        mechanisms,
        "grid_sum",
        lambda x, low, _: grid_sum(x, low, x.max()),
        {"laplace": INF},
    ),
    # Threshold and noise each spend half.
    "a threshold of twice the budget": (
        AKMV,
        "_cells_of",
        lambda *args: CELLS_OF(*args[:3], 2 * args[3]),
        {"akmv": 1.5},
    ),
    "a threshold of half the budget": (
        AKMV,
        "_cells_of",
        lambda *args: CELLS_OF(*args[:3], args[3] / 2),
        {"akmv": 0.75},
    ),
    "stairs that are too narrow": (
        beyond.StaircaseNoise,
        "draw",
        stairs_too_narrow,
        {"opt bound staircase": 2},
    ),
    "half of the cap, which is not a fault": (
        VARIANCE,
        "variance_cap",
        lambda users, law, cap=beyond.variance_cap: cap(users, law) / 2,
        {"variance": 1},
    ),
    "sums of squares about the mean of all": (
        VARIANCE,
        "_best_centre",
        centre_of_all,
        {"variance": 3.002},
    ),
    "no user is clipped, which is not a fault": (
        MEANS_OF_GROUPS,
        "_threshold",
        no_clipping,
        {"several means": 1},
    ),
    "half of the scale for groups": (
        MEANS_OF_GROUPS,
        "noise_scale",
        half_of_the_scale,
        {"several means": 2},
    ),
    "half of the scale in a ball": (
        BALL,
        "noise_scale",
        half_of_the_scale,
        for_both_ball_laws(2, 1),
    ),
    "a smaller threshold, which is not a fault": (
        BALL,
        "ball_threshold",
        lambda users, *_: users.upper * users.counts.min(),
        for_both_ball_laws(1, 1),
    ),
    "coordinates clipped for lengths": (
        BALL,
        "clip_to_ball",
        lambda sums, r: np.clip(sums, -r, r),
        for_both_ball_laws(3**0.5, 3),
    ),
    "nothing clipped": (BALL, "clip_to_ball", lambda sums, r: sums, for_both_ball_laws(INF, INF)),
    "half of the width in a draw": (
        beyond.GaussianNoise,
        "draw",
        lambda law, w, *rest: DRAW(law, w / 2, *rest),
        for_both_ball_laws(1, 4),
    ),
    "one draw for all coordinates": (
        beyond.GaussianNoise,
        "draw",
        draw_once,
        for_both_ball_laws(1, INF),
    ),
    "lengths of one dimension more": (
        Recorder,
        "gamma",
        lambda rng, d, *rest: GAMMA(rng, d + 1, *rest),
        for_both_ball_laws(INF, 1),
    ),
    "a direction that is not a unit vector": (
        Recorder,
        "standard_normal",
        lambda _, size: np.ones(size),
        for_both_ball_laws(INF, 1),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_audits_detect_faults(monkeypatch, fault):
    """FAULTS gives, for each fault, how many times its budget a mechanism then spends."""
    *target, replacement, expected = FAULTS[fault]
    monkeypatch.setattr(*target, replacement)
    assert {kind: worst_log_ratio(kind, 1, 200) for kind in expected} == pytest.approx(expected)


def draw_low(cells, cell, T):
    """A draw that is wrong within cells and right at their ends, for all mechanisms."""
    lower, upper = (AKMV._pick(ends, cell) for ends in cells[:2])
    return lower + (T - lower) ** 2 / (upper - lower)


def draw_clipped(cells, cell, T):
    """A draw that is wrong above the largest sum, so for one dataset: the other has a sum U m*."""
    return np.minimum(T, cells.lower[..., 0])


@pytest.mark.parametrize(
    ("fault", "first", "second"),
    [(draw_low, 0.5, 2.5), (draw_clipped, 1.0, 3.0), (draw_clipped, 3.0, 1.0)],
)
def test_the_akmv_audit_detects_a_moved_threshold(monkeypatch, fault, first, second):
    def faulty_draw(cells, rng, shape):
        cell, T = correct_draw(cells, rng, shape)
        return cell, fault(cells, cell, T)

    correct_draw = AKMV._draw_from
    monkeypatch.setattr(AKMV, "_draw_from", faulty_draw)
    users = ud.Contributions([3, 2, 2], 1)
    pairs = Pairs(users, *(np.array([[first_sum, 1, 0.25]]) for first_sum in (first, second)))
    assert akmv_log_ratio(pairs, 1) == INF
