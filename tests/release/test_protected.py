"""The mean with protected counts: its budget and its guarantee."""

import dataclasses
import itertools
from fractions import Fraction
from math import exp, log, ulp

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from userdp import release
from userdp.release import _protected as protected
from userdp.release._intervals import laplace_sum_reach

EXAMPLE = protected.ProtectedCountsMean(
    **{"mean": 5.0, "eps": 1.0, "privacy_unit": "", "lower": 1.0, "upper": 10.0, "centre": 4.0},
    **{"reach": 3.0, "cap": 2, "noisy_sum": 12.0, "noisy_weight": 20, "sum_scale": 6.0},
    **{"weight_scale": 2.0, "step": 0.5, "rounding": 0.25, "outside": "clamp", "missing": "drop"},
    **{"rho": None, "sigma": None, "worst_case_error": 0.0},
)
WEIGHTS, LEVELS = [-30, -2, 3, 8, 20, 400], [0.3, 0.8, 0.99]


def test_the_steps_of_protected_counts_are_as_fine_as_bounds_and_noise_allow(opendp):
    def result(eps, cap, **options):
        options = {"lower": 1e6, "upper": 1e6 + 24, "eps": eps, "cap": cap} | options
        return release.private_mean_protected_counts(["a", "b"], [1e6, 1e6 + 20], **options)

    # These bounds allow levels of 37 bits; the scale of the noise fits in 56.
    for eps, cap, bits in ((1, 2, 24), (1, 2**31, 24), (0.25, 2**31, 22)):
        assert result(eps, cap).step == 24 / 2**bits
    fine = result(1, 2)
    level = (0.5 + 2**-10) * 24 / 2**37
    sums_and_averages = 1 + 2**-10  # each is rounded, and computed in 53 bits
    assert fine.rounding == level + sums_and_averages * fine.step + 10 * ulp(1e6 + 24)
    assert result(1, 2, reach=1e-12).reach == fine.step


SAMPLES = st.lists(st.integers(0, 24), max_size=9)


def release_of(lists, eps=1, cap=3, **options):
    """The release for lists of samples in [0, 24], one list per user."""
    users = [i for i, samples in enumerate(lists) for _ in samples]
    values = [float(x) for samples in lists for x in samples]
    options = {"lower": 0, "upper": 24, "eps": eps, "cap": cap} | options
    return release.private_mean_protected_counts(users, values, **options)


@pytest.mark.filterwarnings("ignore:.*protects little")
@pytest.mark.parametrize(("eps", "reach"), [(0.5, 5), (200, 14)])
def test_the_guarantee_is_at_most_the_bound_of_the_proposition(opendp, eps, reach):
    result = release_of([[12]], eps=eps, cap=10, reach=reach, centre=10)
    for n in (1, 1.7, 30, 200, 5000.5):
        s, b, q = 2 * 10 / eps / n, result.worst_case_bias, result.furthest
        rs = result.reach * s
        # The proposition for one delta and continuous noise, and the average over all weights.
        bounds = [
            (b + rs * exp(-b / rs) + q * s) / (1 - d) + 24 * exp(-d / s)
            for d in np.arange(100) / 100
            if (1 - d) * n >= 1
        ]
        below, above, noise = 0.0, 0.0, np.arange(-4000, 4001)
        for z, chance in zip(noise, laplace_chances(noise, s * n), strict=True):
            off = b + q * abs(z) / n
            error = off + rs * exp(-off / rs)
            if z >= 0:
                above += chance * error
            else:
                below += chance * (min(error / (1 + z / n), 24) if n + z >= 1 else 24)
        averaged = below + min(above, 24 / (1 + exp(-1 / (s * n))))
        stated = result.worst_case_error_at(n) - result.rounding
        assert stated <= min([24, *bounds])
        assert stated >= min(averaged, 24 - result.rounding) * (1 - 1e-9)
        assert stated <= 1.03 * averaged
    assert (b, q) == (pytest.approx(14 - reach, abs=1e-5), pytest.approx(14, abs=1e-5))
    assert EXAMPLE.worst_case_error_at(1) == 10 - 1  # at most the range of the values


def laplace_chances(noise, scale):
    """Return the probabilities of discrete Laplace noise."""
    q = exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(noise)


@pytest.mark.parametrize(("eps", "reach"), [(1, None), (4, None), (0.3, None), (4, 3)])
def test_no_small_table_has_an_error_above_the_guarantee_of_protected_counts(opendp, eps, reach):
    """All tables of four users with averages at three places, by exact enumeration of the noise.

    The noise of the sum has coarser steps, a hundredth of its scale.
    """
    result = release_of([[0]], eps=eps, cap=3, reach=reach)
    sums = np.arange(-3000, 3001)
    at_sum, sum_chances = sums * result.sum_scale / 100, laplace_chances(sums, 100)
    noise = np.arange(-int(30 * result.weight_scale), int(30 * result.weight_scale) + 1)
    weight_chances = laplace_chances(noise, result.weight_scale)
    for counts in ([3, 3, 3, 3], [3, 3, 2, 1], [1, 1, 1, 1], [9, 5, 5, 5]):
        weights = np.minimum(np.repeat(counts, 4), 3)  # each of these users four times
        worst = 0.0
        for places in itertools.combinations_with_replacement([0, 7, 24], 4):
            averages = np.repeat(places, 4)
            total = np.sum(weights * np.clip(averages - 12, -result.reach, result.reach))
            truth = np.average(averages, weights=weights)
            divisors = np.maximum(weights.sum() + noise, 1)[:, None]
            released = np.clip(12 + (total + at_sum) / divisors, 0, 24)
            error = weight_chances @ np.abs(released - truth) @ sum_chances
            worst = max(worst, float(error))
        stated = result.worst_case_error_at(weights.sum())
        assert worst <= stated * (1 + 1e-4)
        assert stated <= 2.2 * worst or eps < 1


@given(one=SAMPLES, other=SAMPLES, cap=st.integers(1, 6), reach=st.integers(1, 30))
def test_neighbours_spend_at_most_the_budget(one, other, cap, reach):
    """The log ratio of the densities of both totals: the sum of distances over scales."""
    grid = protected.read_grid(0, 24)
    how = protected._decide(grid, Fraction(1), cap, 9.0, float(reach))
    steps = how.window.highest
    rest, pairs = [[3, 20], [7] * 5], []
    for samples in (one, other, []):
        lists = [samples, *rest]
        users = [i for i, each in enumerate(lists) for _ in each]
        values = [float(x) for each in lists for x in each]
        rules = protected.read_rules(grid, "refuse", "refuse")
        tally = protected.read_tally(users, values, None, rules)
        pairs.append(tally.weighted_total(how.window, cap))
    for a, b in ((pairs[0], pairs[1]), (pairs[0], pairs[2])):
        spent = Fraction(abs(a.total - b.total), 2 * steps * cap)
        spent += Fraction(abs(a.weight - b.weight), 2 * cap)
        assert spent <= 1


def test_some_neighbours_spend_the_whole_budget(opendp):
    for lists in ([[24] * 9], [[0] * 9], [[]]):
        release_of(lists, cap=6, reach=5)
    top, bottom, none = (
        tuple(request.total for request in opendp.requests[i : i + 2]) for i in (0, 2, 4)
    )
    moved = [request.moved for request in opendp.requests[:2]]
    for one, other in ((top, bottom), (top, none)):
        assert sum(abs(a - b) / (2 * m) for a, b, m in zip(one, other, moved, strict=True)) == 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_interval_of_the_weight_allows_for_discrete_noise(weight, level):
    """For discrete Laplace noise, |Z| exceeds scale * log(1/q) + 1 with probability below q."""
    result = dataclasses.replace(EXAMPLE, noisy_weight=weight)
    reach = 2 * log(1 / (1 - level)) + 1
    ends = [max(weight - reach, 0), max(weight + reach, 0)]
    assert result.weight_interval(level) == pytest.approx(ends)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_interval_of_the_mean_contains_every_mean_that_the_noise_allows(weight, level):
    """Means on a grid, each with the quantile at its own distance; and hardly more of them."""
    distances = np.linspace(-3, 3, 121)
    for total in (-900, -25, -7.3, 0, 3.5, 7.3, 15.5, 31, 50, 900):
        result = dataclasses.replace(EXAMPLE, noisy_weight=weight, noisy_sum=total)
        low, high = result.noise_interval(level)
        assert 1 <= low <= high <= 10
        reaches = np.array(
            [laplace_sum_reach(6, 2 * abs(t), level) + 0.5 + abs(t) for t in distances]
        )
        allowed = distances[np.abs(total - distances * weight) <= reaches]
        assert not allowed.size or low <= 4 + allowed[0] - 0.25 + 1e-9 or low == 1
        assert not allowed.size or high >= 4 + allowed[-1] + 0.25 - 1e-9 or high == 10
        if weight >= 20 and allowed.size > 2:
            assert low >= 4 + allowed[0] - 0.25 - 0.2
            assert high <= 4 + allowed[-1] + 0.25 + 0.2
        bias = 6 - 3  # the upper bound is 6 from the centre
        wide = max(low - bias, 1), min(high + bias, 10)
        assert result.interval(level) == pytest.approx(wide)


@pytest.mark.parametrize("scales", [(1.0, 1.0), (3.0, 1.0), (1.0, 0.01), (2.0, 0.0)])
@pytest.mark.parametrize("level", LEVELS)
def test_the_quantile_of_a_sum_of_laplace_noise(scales, level):
    """The chance that |Z_1 + Z_2| exceeds it, by integrating over Z_2."""
    first, second = scales
    x = laplace_sum_reach(first, second, level)
    assert laplace_sum_reach(second, first, level) == x

    def exceeds(z):
        near, far = abs(x - z) / first, (x + z) / first
        above = exp(-near) / 2 if z <= x else 1 - exp(-near) / 2
        below = exp(-far) / 2 if z >= -x else 1 - exp(-abs(far)) / 2
        return above + below

    chance = exceeds(0.0)
    if second:
        ends = 60 * second
        chance, _ = quad(
            lambda z: exceeds(z) * exp(-abs(z) / second) / (2 * second),
            *(-ends, ends),
            points=sorted({0.0, *(end for end in (-x, x) if abs(end) < ends)}),
            limit=200,
        )
    assert chance == pytest.approx(1 - level, rel=1e-6)


def laplace_below(numbers, scale):
    """Return the probabilities that discrete Laplace noise is at most these integers."""
    q = exp(-1 / scale)
    tail = q ** (np.abs(numbers + 0.5) + 0.5) / (1 + q)
    return np.where(numbers >= 0, 1 - tail, tail)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("distance", [-3, -0.7, 0, 1.2, 2.9])
def test_the_noise_allows_the_mean_with_the_probability_of_its_interval(distance, level):
    """Exactly, by summation over the noise of the weight; and with a probability hardly larger."""
    fine = dataclasses.replace(EXAMPLE, weight_scale=60.0, sum_scale=180.0, step=0.25)
    weights = np.arange(-3000, 3001)
    margin = fine._noise_at(abs(distance), level)
    highest = np.floor((distance * weights + margin) / fine.step)
    lowest = np.ceil((distance * weights - margin) / fine.step)
    chances = laplace_below(highest, 720.0) - laplace_below(lowest - 1, 720.0)
    chance = float(laplace_chances(weights, 60.0) @ chances)
    assert level <= chance <= level + 0.02


@pytest.mark.parametrize(
    ("eps", "cap"), [(1, 1), (2.0**-8, 2**31), (2.0**-39, 1), (0.3, 2**31 - 1), (1e-9, 3)]
)
@pytest.mark.parametrize("centre", [1, 9.3, 24])
def test_the_noise_of_both_totals_fits_in_64_bits(opendp, eps, cap, centre):
    release_of([[3.0]], eps=eps, cap=cap, centre=centre)
    for moved, budget, total in opendp.requests:
        assert moved / budget <= 2**56
        assert abs(total) < 2**62
    with pytest.raises(ValueError, match=r"`eps` must be at least 2\^-39 times cap="):
        release_of([[3.0]], eps=cap * 2.0**-39.001, cap=cap)


def test_an_empty_table_is_released_in_an_engine_as_in_arrays(opendp):
    """A failure would reveal that there are no users."""
    rows = {"user": [], "value": []}
    kinds = {"user": pa.string(), "value": pa.float64()}
    table = pa.table({name: pa.array(rows[name], kind) for name, kind in kinds.items()})
    options = {"lower": 0, "upper": 1, "eps": 1, "cap": 2}
    results = [
        release.private_mean_protected_counts("user", "value", data=data, **options)
        for data in (table, ibis.memtable(table))
    ]
    assert results[0].public() == results[1].public()
    assert [request.total for request in opendp.requests] == [0] * 4


def test_the_guarantee_of_protected_counts_is_for_the_smallest_likely_weight(opendp):
    """The weight is at least one record."""
    for _ in range(20):
        result = release_of([[3], [4]], eps=6, cap=2)
        fewest, _ = result.weight_interval()
        assert result.worst_case_error == result.worst_case_error_at(max(fewest, 1))


def test_a_mean_with_protected_counts_is_shown_as_a_table(opendp):
    result = release_of([[12] * 3] * 40, eps=2, cap=3, reach=5, missing="centre", outside="clamp")
    shown = dict(line.split("  ", 1) for line in repr(result).splitlines())
    assert {name: text.strip() for name, text in shown.items()} == {
        "private mean": "12",
        "95 % interval": "4.62165 to 19.3784 (without the effect of the cap)",
        "budget": f"eps = 2, {protected.COUNTS_PROTECTED}",
        "weight": "120 (95 % interval: 110.012 to 129.988), at most 3 per user",
        "error on the worst dataset": "at most 7.433 on average over the noise (without the effect "
        "of the cap), if the weight is at least the lower end of its interval, with values clamped "
        "to the bounds and missing values set to the centre",
        "noise": "integers drawn by OpenDP, scale 15 for the sum and 3 for the weight",
        "averages clipped to": "[7, 17]",
        "values": "in [0, 24]",
    }
