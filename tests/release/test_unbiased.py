"""Unprojected releases: Laplace noise beyond the range of clipped means is replaced by its mean."""

import dataclasses
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

import userdp as ud
from userdp import beyond, release
from userdp.release import as_measurement
from userdp.release._grid import Grid, read_grid
from userdp.release._mean import Choices, decide
from userdp.release._noise import average_beyond, mean_beyond
from userdp.release._tally import TallyOfSums

LOW, HIGH = -2, 3
QS = [Fraction(1, 100), Fraction(1, 3), Fraction(9, 10), Fraction(999, 1000)]


def probability(n, q):
    """Return P(Z = n) for the discrete Laplace law with exp(-1 / scale) = q."""
    return (1 - q) / (1 + q) * q ** abs(n)


def outcomes(t, q):
    """Return all outcomes for a total t, computed by the package, with their probabilities."""
    for n in (1, 2, 50, 2**62):
        assert average_beyond(LOW - n, LOW, HIGH, 1 / (1 - q)) == LOW - 1 / (1 - q)
        assert average_beyond(HIGH + n, LOW, HIGH, 1 / (1 - q)) == HIGH + 1 / (1 - q)
    law = {average_beyond(n, LOW, HIGH, 1 / (1 - q)): probability(n - t, q) for n in range(LOW, 4)}
    law[average_beyond(LOW - 1, LOW, HIGH, 1 / (1 - q))] = q ** (t - LOW + 1) / (1 + q)
    law[average_beyond(HIGH + 1, LOW, HIGH, 1 / (1 - q))] = q ** (HIGH - t + 1) / (1 + q)
    assert sum(law.values()) == 1
    assert len(law) == HIGH - LOW + 3
    return law


@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize("t", range(LOW, HIGH + 1))
def test_the_mean_of_all_outcomes_is_the_clipped_total(q, t):
    assert sum(outcome * p for outcome, p in outcomes(t, q).items()) == t


@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize("f", [Fraction(-50), Fraction(-2), Fraction(1, 3), Fraction(4), 5])
def test_averaging_raises_no_convex_loss(q, f):
    """The tails of the loss of the noise as drawn are geometric sums in closed form."""
    limit = 60  # beyond this all losses are polynomials
    losses = {
        "distance": (lambda x: abs(x - f), [(-f, 1), (f, -1)]),
        "square": (lambda x: (x - f) ** 2, [(f * f, -2 * f, 1), (f * f, -2 * f, 1)]),
        "excess": (lambda x: max(x - f, 0), [(-f, 1), (0,)]),
    }
    smaller_losses = set()
    for (name, (loss, tails)), t in product(losses.items(), range(LOW, HIGH + 1)):
        drawn = sum(loss(n) * probability(n - t, q) for n in range(-limit + 1, limit))
        drawn += polynomial_tail(tails[0], q, limit) * probability(limit - t, q)
        mirrored = [c * (-1) ** k for k, c in enumerate(tails[1])]
        drawn += polynomial_tail(mirrored, q, limit) * probability(-limit - t, q)
        averaged = sum(loss(x) * p for x, p in outcomes(t, q).items())
        assert averaged <= drawn
        if averaged < drawn:
            smaller_losses.add(name)
    assert "square" in smaller_losses
    assert ("distance" in smaller_losses) == (f < LOW - 1 or f > HIGH + 1)


def polynomial_tail(coefficients, q, begin):
    """Return the sum over k >= 0 of q^k times a polynomial of begin + k."""
    moments = [1 / (1 - q), q / (1 - q) ** 2, q * (1 + q) / (1 - q) ** 3]
    a, b, c = [*coefficients, 0, 0][:3]
    parts = [a + b * begin + c * begin**2, b + 2 * c * begin, c]
    return sum(part * moment for part, moment in zip(parts, moments, strict=True))


@pytest.mark.parametrize("q", QS)
def test_neighbours_have_at_most_the_log_ratio_of_the_noise(q):
    """Outcomes of totals that differ by n have a ratio of at most q^-n, which is attained."""
    ratios = []
    for t, other in product(range(LOW, HIGH + 1), repeat=2):
        one, two = outcomes(t, q), outcomes(other, q)
        ratios += [one[x] / two[x] * q ** abs(t - other) for x in one]
    assert max(ratios) == 1


@pytest.mark.parametrize("scale", [0.01, 0.5, 3.0, 1e3])
def test_the_mean_excess_beyond_an_end_is_that_of_the_law(scale):
    n = np.arange(1, int(60 * scale) + 60)
    weights = np.exp(-n / scale - np.logaddexp.reduce(-n / scale))
    assert mean_beyond(scale) == pytest.approx((n * weights).sum(), rel=1e-12)


def test_the_mean_excess_beyond_an_end_is_right_for_extreme_scales():
    assert mean_beyond(2.0**56) == pytest.approx(2.0**56, rel=1e-15)
    assert mean_beyond(1e-9) == mean_beyond(0.0) == 1


# The reachable totals: whole numbers, determined by public numbers


def decided(counts, centre, width, eps, bits=40):
    grid = Grid(0.0, 1.0, bits)
    users, law = ud.Contributions(counts, 1.0), beyond.LaplaceNoise(eps)
    (how,) = decide(users, Choices(grid, law, round(centre * grid.top), "bound", width, False))
    return how


@pytest.mark.parametrize("centre", [0.0, 2.0**-29, 0.375, 0.5, 1.0])
@pytest.mark.parametrize("width", [0.3, 2.0, 5.0, 99.0])
@pytest.mark.parametrize("eps", [1, 2.0**-25])
def test_datasets_at_the_bounds_reach_the_ends_of_the_range_of_totals(centre, width, eps, opendp):
    counts = [7, 3, 3, 2, 1, 1, 1]
    how = decided(counts, centre, width, eps)
    assert how.window.shift == (12 if eps < 1 else 0)  # with 12, half a step is 2^-29 of the width
    users = np.repeat(np.arange(7), counts)
    options = {"lower": 0, "upper": 1, "budget": eps, "total_width": width, "centre": centre}
    for end in (0.0, 1.0):
        result = release.private_mean(users, np.full(18, end), project=False, **options)
        kept = release.private_mean(users, np.full(18, end), **options)
        assert opendp.requests[-1].total == opendp.requests[-2].total == how.reachable[int(end)]
        assert result.mean == pytest.approx(result.clipped_range[int(end)], abs=result.rounding)
        assert kept.clipped_range == result.clipped_range
    low, high = how.reachable
    for added, off in ((high - low, 0), (high - low + 1, 1), (2**62, 1)):
        opendp.added = added  # on the dataset at the lower bound
        result = release.private_mean(users, np.zeros(18), project=False, **options)
        outside = mean_beyond(how.window.sensitivity / eps) * off
        share = how.step / 18
        assert result.mean == pytest.approx(centre + (high + outside) * share, rel=1e-12, abs=1e-12)


def test_sums_rounded_in_floats_are_clipped_to_the_reachable_totals(opendp):
    """Rounding puts some of them beyond the ends, before they are passed to OpenDP."""
    users, n_beyond = ud.Contributions([2**15 + 1, *[2**15 - 1] * 5], 1), 0
    for centre in np.random.default_rng(3).uniform(size=50):
        how = decided(users.counts, centre, 10.0**5, 2)
        for end in (0.0, 1.0):
            tally = TallyOfSums(users.counts * end, users.counts, read_grid(0.0, 1.0))
            total = tally.clipped_total(how.window)
            n_beyond += not how.reachable[0] <= total <= how.reachable[1]
            release.release_mean(users.counts * end, users, 2, centre=centre, total_width=10.0**5)
            assert how.reachable[0] <= opendp.requests[-1].total <= how.reachable[1]
    assert n_beyond > 0


# Releases: texts, intervals, and OpenDP's actual noise

FIVES = {"user": list("aaabbc"), "value": [5.0] * 6}


def test_gaussian_noise_is_not_averaged(opendp):
    opendp.added = 2**50
    options = {"lower": 0, "upper": 10, "budget": beyond.GaussianNoise(1), "project": False}
    result = as_measurement("user", "value", data=FIVES, **options)(FIVES)
    assert result.mean == 5 + 2**50 * 10 / 2**40 / 6
    assert result.noise_interval()[1] > result.mean > result.clipped_range[1]
    assert "(unbiased for the clipped mean)" in repr(result)


def test_the_result_says_that_noise_was_averaged(opendp):
    options = {"lower": 0, "upper": 10, "budget": 1, "objective": "bound"}
    options |= {"user": "user", "value": "value", "data": FIVES}
    result = as_measurement(project=False, **options)(FIVES)
    assert result.clipped_range == pytest.approx((5 / 6, 55 / 6))
    words = (
        "integers drawn by OpenDP, scale 3.333 (unbiased for the clipped mean; "
        "averaged below 0.8333 and above 9.167, outside the range of clipped means)"
    )
    assert words in repr(result)
    kept = as_measurement(**options)(FIVES)
    assert repr(kept).splitlines()[4].endswith("scale 3.333")
    assert result.public().keys() == kept.public().keys()


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.05, 0.4, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("where", [0, 0.5, 1])
def test_intervals_of_unprojected_releases_cover_the_mean_at_their_level(level, where, opendp):
    """Over all outcomes, on the datasets that are farthest from their clipped means."""
    options = {"lower": 0, "upper": 1, "budget": 0.7, "total_width": 2.0, "project": False}
    result = release.private_mean([0] * 6 + [1, 1, 2], [0.5] * 9, **options)
    low, high = result.clipped_range
    bias, scale = result.worst_case_bias, result.noise_scale
    t = low + where * (high - low)
    drawn = stats.laplace(t, scale).ppf((np.arange(600) + 0.5) / 600)
    n_covered = {-1: 0, 0: 0, 1: 0}
    for noisy in drawn:
        mean = low - scale if noisy < low else high + scale if noisy > high else float(noisy)
        released = dataclasses.replace(result, mean=mean)
        for sign in (-1, 1):
            below, above = released.interval(level)
            n_covered[sign] += below <= t + sign * bias <= above
        below, above = released.noise_interval(level)
        n_covered[0] += below <= t <= above
    assert bias > 0.1
    assert min(n_covered.values()) >= 600 * level - 1
    assert n_covered[0] <= 600 * level + 1 or where != 0.5 or level > 0.5


@pytest.mark.slow
def test_opendps_noise_is_unbiased_and_bounded():
    """On the dataset at the upper bound, where projected noise would have a large bias."""
    options = {"lower": 0, "upper": 1, "budget": 0.5, "total_width": 1.0, "project": False}
    table = {"user": [0], "value": [1.0]}
    measurement = as_measurement("user", "value", data=table, **options)
    result = np.array([measurement(table).mean for _ in range(2000)])
    above, below = result == result.max(), result == result.min()
    assert (result.max(), result.min()) == (pytest.approx(3), pytest.approx(-2))
    assert stats.binomtest(above.sum(), 2000, 0.5).pvalue > 1e-7
    assert stats.binomtest(below.sum(), 2000, np.exp(-0.5) / 2).pvalue > 1e-7
    assert result.mean() == pytest.approx(1, abs=6 * result.std() / 2000**0.5)
