"""Releases in two parts, users with many records and all others, each with the whole budget."""

import re
from fractions import Fraction
from itertools import pairwise
from math import exp, hypot

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import integrate, stats

import userdp as ud
from userdp import beyond, release
from userdp.release import _mean, as_measurement
from userdp.release._intervals import PartOfError, _sum_reach, noise_reach, parts_reach

UNEVEN = ud.Contributions([60, 50, *[1] * 40], 1)
LAWS = {"Laplace": 3, "zCDP": beyond.GaussianNoise.zcdp(3)}
every_law = pytest.mark.parametrize("eps", LAWS.values(), ids=LAWS)


def table_of(counts, value):
    """Return a table of users with these numbers of records, all with the same value."""
    users = np.repeat(np.arange(len(counts)), counts)
    return {"user": users, "value": np.full(users.size, value)}


def mechanism(sums, users=UNEVEN, budget=3, **options):
    return release.release_mean(sums, users, budget, **options)


def test_a_release_is_in_parts_only_if_no_setting_prevents_it(opendp):
    sums = 0.5 * UNEVEN.counts
    result = mechanism(sums)
    assert [part[:3] for part in result.parts] == [(50, 2, 110), (1, 40, 40)]
    assert len(opendp.requests) == 2
    fixed = [{"centre": 0.5}, {"total_width": result.total_width}, {"project": False}]
    others = [mechanism(sums, **options) for options in fixed]
    others += [release.release_mean(sums, UNEVEN, 3, objective=kind) for kind in ("bound", "mse")]
    others += [mechanism([0.5] * 9, ud.Contributions([1] * 9, 1))]
    for other in others:
        assert other.parts == ()
        assert "parts" not in other.public()
    assert len(opendp.requests) == 2 + len(others)
    assert result.worst_case_error < 0.98 * others[0].worst_case_error


@every_law
def test_records_sums_and_a_measurement_make_the_same_release(eps, opendp):
    """They are identical if all values are levels."""
    rng = np.random.default_rng(4)
    users = np.repeat(np.arange(42), UNEVEN.counts)
    values = rng.integers(0, 257, users.size) / 256
    sums = np.bincount(users, values)
    opendp.added = 12345678
    result = mechanism(sums, budget=eps)
    options = {"lower": 0, "upper": 1, "budget": eps}
    table = release.private_mean(users, values, **options)
    data = {"user": users, "value": values}
    measured = as_measurement("user", "value", data=data, **options)(data)
    assert len(result.parts) == 2
    refused = {"outside": "refuse", "missing": "refuse"}
    assert table.public() == result.public() == measured.public() | refused
    assert opendp.requests[:2] == opendp.requests[2:4] == opendp.requests[4:]


@pytest.mark.slow
def test_each_user_is_in_one_of_the_parts(opendp):
    """Each user's sum is added to one of the totals, completely if it is not clipped."""
    middle = 0.5 * UNEVEN.counts
    mechanism(middle)
    for user in range(UNEVEN.n_users):
        sums = middle.copy()
        sums[user] += 0.125  # few users are clipped by so little
        mechanism(sums)
        before, after = opendp.requests[:2], opendp.requests[-2:]
        moved = [b.total - a.total for a, b in zip(before, after, strict=True)]
        expected = round(0.125 * 2**40)
        assert moved == ([expected, 0] if UNEVEN.counts[user] >= 50 else [0, expected])


@pytest.mark.slow
@pytest.mark.parametrize("eps", [Fraction(1, 2), 3, LAWS["zCDP"]])
def test_neighbours_differ_in_one_total_by_what_its_noise_covers(eps, opendp):
    """In exact arithmetic; in each part some pair spends the whole budget."""
    users = ud.Contributions([100, *[1] * 900], 1)
    assert beyond.best_split(users, eps).heavy_from == 100
    rng, spent = np.random.default_rng(29), {0: Fraction(0), 1: Fraction(0)}
    for moved_user in (0, 1, 500):
        for ends in ((0, 1), *rng.uniform(size=(4, 2))):
            sums = rng.uniform(0, users.counts)
            for end in ends:
                sums[moved_user] = end * users.counts[moved_user]
                mechanism(sums, users, eps)
            one, other = opendp.requests[-4:-2], opendp.requests[-2:]
            for part, (a, b) in enumerate(zip(one, other, strict=True)):
                assert (a.moved, a.budget) == (b.moved, b.budget)
                assert type(a.total) is type(b.total) is int
                if part == (0 if moved_user else 1):
                    assert a.total == b.total
                spent[part] = max(spent[part], Fraction(abs(a.total - b.total), a.moved))
    assert spent == {0: 1, 1: 1}


@every_law
def test_the_spent_budget_is_the_largest_of_the_parts(eps):
    dp.enable_features("contrib")
    data = table_of(UNEVEN.counts, 0.5)
    options = {"lower": 0, "upper": 1, "budget": eps}
    measurement = as_measurement("user", "value", data=data, **options)
    result = measurement(data)
    spent = result.eps if eps == 3 else result.rho
    assert result.parts
    assert measurement.map(1) == pytest.approx(3, rel=1e-12) == spent
    assert measurement.map(1) <= 3
    assert measurement.map(2) == pytest.approx(6 if eps == 3 else 12)
    assert measurement.map(0) == 0
    assert "user-level" in result.privacy_unit


def test_a_constant_part_spends_nothing(opendp, monkeypatch):
    """The light users have width 0, so their part is constant; the others spend the budget."""
    users = ud.Contributions([1000, 1], 1)
    split = beyond.best_split(users, 0.5)
    released, constant = split.parts
    split = split._replace(parts=(released, constant._replace(total_width=0.0)))
    monkeypatch.setattr(_mean, "best_split", lambda users, law: split)
    result = mechanism([300.0, 1.0], users, 0.5)
    heavy, light = result.parts
    assert (light.total_width, light.noise_scale) == (0, 0)
    assert light.worst_case_bias == 1 / 2002
    assert heavy.noise_scale > 0.1
    assert result.eps == pytest.approx(0.5)
    assert 0 <= result.interval()[0] <= result.interval()[1] <= 1
    assert [request.moved > 0 for request in opendp.requests] == [True, False]
    how = {"lower": 0, "upper": 1, "budget": 0.5}
    of = {"data": table_of([1000, 1], 0.5)}
    assert as_measurement("user", "value", **of, **how).map(1) == pytest.approx(0.5)


# The guarantee: exact errors by convolution, on datasets at the bounds and between


def mean_error(columns, truth, law):
    """Return E|sum of w P(t + Z) - f| by quantiles; columns are w, t and scale of two parts."""
    quantiles = (np.arange(1500) + 0.5) / 1500
    parts = [
        w * np.clip(t + s * law.ppf(quantiles), 0, 1) for w, t, s in zip(*columns, strict=True)
    ]
    return abs(np.add.outer(*parts) - truth).mean()


@pytest.mark.slow
@every_law
def test_no_dataset_of_a_grid_exceeds_the_guarantee_and_some_nearly_attain_it(eps, opendp):
    """Users at a bound or in the middle: each heavy one at each, and several numbers of others."""
    result = mechanism(0.5 * UNEVEN.counts, budget=eps)
    law = stats.laplace if eps == 3 else stats.norm
    shares = np.array([part.n_records for part in result.parts]) / 150
    scales = [part.noise_scale / share for part, share in zip(result.parts, shares, strict=True)]
    errors = []
    for first in (0, 0.5, 1):
        for second in (0, 0.5, 1):
            for light in (0, 10, 20, 30, 40):
                sums = [60 * first, 50 * second, *[1] * light, *[0] * (40 - light)]
                assert abs(mechanism(sums, budget=eps).mean - sum(sums) / 150) < 1  # no noise
                requests = opendp.requests[-2:]
                clipped = [
                    0.5
                    + request.total
                    * scale
                    / (request.moved * law_scale(eps))
                    * correction(request, eps)
                    for request, scale in zip(requests, scales, strict=True)
                ]
                truth = sum(sums) / 150
                errors.append(mean_error((shares, clipped, scales), truth, law))
    assert max(errors) <= result.worst_case_error * (1 + 1e-3)
    assert max(errors) >= 0.85 * result.worst_case_error


def law_scale(eps):
    return 1 / 3 if eps == 3 else eps.sigma


def correction(request, eps):
    """Return the ratio of continuous noise to the wider noise for whole numbers."""
    exact = request.moved * law_scale(eps)
    return exact / hypot(exact, 0 if eps == 3 else 4)


def test_the_guarantee_is_the_sum_of_those_of_the_parts(opendp):
    for eps in LAWS.values():
        result, split = mechanism(0.5 * UNEVEN.counts, budget=eps), beyond.best_split(UNEVEN, eps)
        assert result.worst_case_error == pytest.approx(split.error + result.rounding, rel=1e-9)
        by_hand = 0
        for part, users in zip(result.parts, ([60, 50], [1] * 40), strict=True):
            of_part = ud.Contributions(users, 1)
            share = of_part.total / 150
            by_hand += share * beyond.projected_error(of_part, part.total_width, eps)
            clipping = beyond.centred_clipping(of_part, part.total_width)
            bias = share * ud.worst_case_bias(of_part, clipping)
            assert part.worst_case_bias == pytest.approx(bias)
            change = share * float(ud.sensitivity(of_part, clipping))
            assert part.noise_scale == pytest.approx(change * law_scale(eps))
        assert result.worst_case_error == pytest.approx(by_hand + result.rounding, rel=1e-9)
        assert result.worst_case_bias == sum(part.worst_case_bias for part in result.parts)
        assert result.total_width == max(part.total_width for part in result.parts)
        assert result.rounding < 1e-10


def test_projected_error_includes_coarse_steps(opendp):
    """The noise is for a width in whole steps, the theory for the stated width."""
    users, eps = ud.Contributions([2**42], 1), 2.0**-38
    for width in np.linspace(0.1, 0.9, 9) * 2**42:
        result = release.release_mean([2.0**41], users, eps, total_width=width)
        theory = beyond.projected_error(users, result.total_width, eps)
        step = result.noise_scale * eps / opendp.requests[-1].moved
        assert theory <= result.worst_case_error - result.rounding <= theory + 1.1 * step / eps
    # With the full range and slightly fewer records, the noise is for more than the range.
    users, eps = ud.Contributions([2**42 - 12_345], 1), 2.0**-24
    result = release.release_mean([0.0], users, eps, total_width=2**42)
    more = result.noise_scale - 1 / eps
    assert more > 1e-4
    theory = beyond.projected_error(users, result.total_width, eps)
    assert result.worst_case_error - result.rounding == pytest.approx(theory + more, abs=1e-9)


# Intervals


@pytest.mark.parametrize("level", [0.05, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("other", [1.0, 0.999999, 0.5, 0.01, 1e-9, 0.0])
def test_the_sum_of_two_noises_exceeds_its_reach_with_probability_one_minus_level(level, other):
    reach = _sum_reach(beyond.LaplaceNoise(1), 2.0, 2 * other, level)
    assert reach == _sum_reach(beyond.LaplaceNoise(1), 2 * other, 2.0, level)

    def integrand(x):
        rest = 1.0 if x >= reach else np.exp(-(reach - x) / (2 * other)) if other else 0.0
        return rest * np.exp(-x / 2) / 2

    ends = [0, max(reach - 80 * other, 0), reach]
    below = sum(integrate.quad(integrand, *pair)[0] for pair in pairwise(ends))
    assert below + exp(-reach / 2) == pytest.approx(1 - level, abs=1e-8)
    gauss = _sum_reach(beyond.GaussianNoise(1), 2.0, 2 * other, level)

    def density(x):
        rest = stats.norm.cdf((gauss - x) / (2 * other)) * 2 - 1 if other else 1.0
        return rest * stats.norm.pdf(x, scale=2) * 2

    covered = integrate.quad(density, 0, gauss, points=[max(gauss - 8 * other, 0)])[0]
    assert covered >= level - 1e-9
    if other == 1:
        assert covered == pytest.approx(level, abs=1e-9)


def test_the_reach_of_an_interval_is_the_smallest_of_three_bounds():
    law, level = beyond.LaplaceNoise(1), 0.9
    small, wide = (
        PartOfError(scale=0.01, bias=0.02, largest=0.03),
        PartOfError(0.1, 0.3, largest=0.97),
    )
    both = 0.32 + _sum_reach(law, 0.01, 0.1, level)
    one = 0.03 + noise_reach(law, 0.1, 0.3, level)
    assert one < both
    assert parts_reach(law, small, wide, level) == parts_reach(law, wide, small, level) == one
    near = PartOfError(0.1, 0.3, largest=9.0)
    assert parts_reach(law, small._replace(largest=9.0), near, level) == both


@every_law
@pytest.mark.parametrize("level", [0.3, 0.95])
@pytest.mark.parametrize("counts", [[60, 50, *[1] * 40], [100, *[1] * 900], [30, *[2] * 20]])
def test_intervals_of_releases_in_parts_cover_the_mean_at_their_level(counts, level, eps, opendp):
    """If the biases of both parts add up, cancel, or are absent."""
    users = ud.Contributions(counts, 1)
    result = mechanism(0.5 * users.counts, users, eps)
    law = stats.laplace if eps == 3 else stats.norm
    quantiles = (np.arange(800) + 0.5) / 800
    shares = np.array([part.n_records for part in result.parts]) / users.total
    assert len(shares) == 2
    low, high = result.interval(level)
    assert low + high == pytest.approx(1)  # without noise the release is 1/2
    inner = result.noise_interval(level)
    known = [
        PartOfError(p.noise_scale, p.worst_case_bias, p.n_records / users.total)
        for p in result.parts
    ]
    unit_law = beyond.LaplaceNoise(1) if eps == 3 else beyond.GaussianNoise(1)
    reach = parts_reach(unit_law, *known, level) + result.rounding
    assert high - low == pytest.approx(min(2 * reach, 1), rel=1e-9)
    reach = parts_reach(unit_law, *(one._replace(bias=0) for one in known), level) + result.rounding
    assert inner[1] - inner[0] == pytest.approx(min(2 * reach, 1), rel=1e-9)
    for heavy in (0, 0.5, 1):
        for light in (0, 0.5, 1):
            drawn, truth, clipped = [], 0, 0
            for part, share, x in zip(result.parts, shares, (heavy, light), strict=True):
                t = share * x - part.worst_case_bias * np.sign(x - 0.5)
                noisy = t + part.noise_scale * law.ppf(quantiles)
                drawn.append(np.clip(noisy, 0, share))
                truth, clipped = truth + share * x, clipped + t
            off = np.add.outer(*drawn)
            assert (abs(off - truth) <= (high - low) / 2 + 1e-9).mean() >= level - 0.003
            assert (abs(off - clipped) <= (inner[1] - inner[0]) / 2 + 1e-9).mean() >= level - 0.003


def test_the_error_of_a_part_is_at_most_its_share(opendp):
    """For a user with a tenth of the records, this bound is smaller than that from the noise."""
    users = ud.Contributions([100, *[1] * 900], 1)
    low, high = mechanism(0.5 * users.counts, users, 1).interval()
    light = noise_reach(beyond.LaplaceNoise(1), 1e-3, 0.0, 0.95)
    assert (high - low) / 2 == pytest.approx(0.1 + light, abs=2e-5)


def test_intervals_scale_with_the_unit_of_the_values(opendp):
    """They scale with the distance of the bounds, and move with them."""
    counts = [100, *[1] * 900]
    users = np.repeat(np.arange(901), counts)
    options = {"budget": 1}
    low, high = release.private_mean(
        users, np.full(1000, 0.5), lower=0, upper=1, **options
    ).interval()
    moved = release.private_mean(users, np.full(1000, 3.5), lower=2, upper=5, **options)
    assert len(moved.parts) == 2
    assert moved.interval() == pytest.approx((2 + 3 * low, 2 + 3 * high))


def test_the_interval_of_a_release_in_parts_is_between_the_bounds(opendp):
    opendp.added = 2**60
    result = mechanism(0.5 * UNEVEN.counts)
    assert result.mean == 1
    low, high = result.interval()
    assert 0 < low < high == 1


# Texts


def test_a_release_in_parts_is_shown_as_one(opendp):
    result = mechanism(0.5 * UNEVEN.counts)
    heavy, light = result.parts
    (noise,) = (line for line in repr(result).splitlines() if line.startswith("noise"))
    assert re.split("  +", noise)[1] == (
        f"integers drawn by OpenDP, scale {heavy.noise_scale:.4g} for 2 users with at least 50 "
        f"records and {light.noise_scale:.4g} for 40 users with at least 1 record, "
        "each part with the whole budget"
    )
    assert [clip[:2] for clip in result.clips] == [(60, 1), (50, 1), (1, 40)]
    published = result.public()
    assert published["parts"] == [part._asdict() for part in result.parts]
    assert list(published)[-1] == "parts"
    text = result.public_sentence("km/h")
    assert text.startswith("The published mean of 150 records of 42 users is 0.5")
    assert "no outcome would have been more than 20.1 times as likely" in text
