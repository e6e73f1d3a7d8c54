"""private_mean: the release, its noise, its certificate and its intervals, against definitions."""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import stats

import userdp as ud
from userdp.practice import as_measurement
from userdp.practice._grid import make_grid, read_bounds

USERS, VALUES = [1, 1, 1, 1, 2, 3], [3.0, 4.0, 5.0, 4.0, 1.0, 6.0]


def made_of(values=VALUES, eps=1, **options):
    return ud.private_mean(USERS, values, lower=0, upper=6, eps=eps, **options)


def random_table(rng):
    """Users, values, bounds; the bounds are such that floats hold all of it exactly."""
    n = int(rng.integers(1, 80))
    lower = float(rng.choice([0, -8, 3]))
    upper = lower + float(rng.choice([1, 16, 65]))
    users = rng.integers(0, rng.integers(1, 12), n) ** 2
    values = lower + (upper - lower) * rng.integers(0, 257, n) / 256
    return users, values, lower, upper


def collection(users, lower, upper):
    return ud.Contributions(np.unique(users, return_counts=True)[1], upper - lower)


def test_numbers_of_the_result_are_those_of_the_theory(opendp):
    rng = np.random.default_rng(82)
    for _ in range(150):
        users, values, lower, upper = random_table(rng)
        eps = rng.choice(["0.05", "0.3", "1", "2.5"]).item()
        objective = rng.choice(["bound", "l1", "mse"]).item()
        made = ud.private_mean(
            users, values, lower=lower, upper=upper, eps=eps, objective=objective, project=False
        )
        people = collection(users, lower, upper)
        assert (made.n_records, made.n_users) == (len(users), people.n_users)
        assert (made.lower, made.upper, made.objective) == (lower, upper, objective)
        small = {"rel": 1e-6, "abs": 1e-6 * (upper - lower)}
        width = float(ud.threshold(people, eps, objective))
        assert made.eps == pytest.approx(float(eps) if width else 0, rel=1e-12)
        assert made.eps <= float(eps) * (1 + 1e-15)
        assert made.total_width == pytest.approx(width, **small)
        change = min(width, people.max_count * (upper - lower)) / people.total
        assert made.noise_scale * float(eps) == pytest.approx(change, **small)
        assert made.centre == (lower + upper) / 2
        for kind, error in (("bound", made.worst_case_bound), ("l1", made.worst_case_l1)):
            theory = float(ud.symmetric_error(people, width, eps, kind))
            assert error - made.rounding == pytest.approx(theory, **small)
        clipping = ud.optimal_clipping(people, eps, objective)
        bias = float(ud.worst_case_bias(people, clipping))
        assert made.worst_case_bias == pytest.approx(bias, **small)
        assert sum(clip.n_users for clip in made.clips) == people.n_users
        assert [c.n_records for c in made.clips] == sorted(set(people.counts.tolist()))[::-1]
        for clip in made.clips:
            user = people.counts.tolist().index(clip.n_records)
            ends = lower + clipping.lower[user], lower + clipping.upper[user]
            assert (clip.lower, clip.upper) == pytest.approx(ends, **small)


@pytest.mark.parametrize(("centre", "ends"), [(0, (0, 2 / 3)), (4, (4 - 2 / 3, 4))])
def test_noise_and_certificate_of_an_uneven_clipping(opendp, centre, ends):
    """With the centre at a bound only values on one side are lost, and sums reach half as far."""
    made = ud.private_mean(
        [1, 1, 1, 2], [1.0, 2, 3, 4], lower=0, upper=4, eps=1, centre=centre, total_width=4
    )
    assert made.worst_case_bias == pytest.approx((10 + 2) / 4)
    assert made.noise_scale == pytest.approx(2 / 4)
    assert made.clips[0] == (3, 1, pytest.approx(ends[0]), pytest.approx(ends[1]))
    assert made.objective == "bound"


def test_bits_of_a_level_are_as_many_as_exact_sums_and_noise_allow():
    for counts, eps, bits in [
        ([1], 1, 40),
        ([2**15 - 1], 1, 38),  # a user's sum is below 2^53
        ([2**15], 1, 37),
        ([2**10] * 2**14, 1, 37),  # the sum of all sums is below 2^62
        ([2**13], 2.0**-20, 22),  # the scale of noise is at most 2^56
        ([2**13], 2.0**-34, 8),
    ]:
        users = ud.Contributions(counts, 1)
        assert make_grid(users, 0.0, 1.0, Fraction(eps), None).bits == bits
    with pytest.raises(ValueError, match="large enough for noise that fits 64 bits"):
        make_grid(ud.Contributions([2**13], 1), 0.0, 1.0, Fraction(2.0**-35), None)


def test_bits_of_a_level_are_as_few_as_floats_near_the_bounds_can_tell_apart():
    users = ud.Contributions([1], 2)
    for lower, bits in [(2.0**20, 33), (2.0**40, 13), (2.0**45, 8)]:
        assert make_grid(users, lower, lower + 2, Fraction(1), None).bits == bits
    with pytest.raises(ValueError, match="farther from lower"):
        read_bounds(2.0**46, 2.0**46 + 2)


def test_rounding_is_counted_where_levels_are_few(opendp):
    users, values = np.zeros(4000), np.ones(4000)
    eps = 2.0**-34
    made = ud.private_mean(
        users, values, lower=0, upper=1, eps=eps, total_width=2000.0, project=False
    )
    assert made.rounding == pytest.approx((0.5 + 2**-10 + 1 / 4000) * 2.0**-10)
    plain = made.worst_case_bias + made.noise_scale
    assert made.worst_case_bound - plain == pytest.approx(made.rounding, abs=plain * 1e-12)
    l1 = float(ud.LaplaceNoise(eps).mean_error(made.worst_case_bias, 0.5))
    assert made.worst_case_l1 > l1
    low, high = made.interval(0.5)
    assert low < made.mean < high


# Projection.


def test_projection_adds_to_no_error(opendp):
    rng = np.random.default_rng(84)
    moved = 0
    for _ in range(200):
        users, values, lower, upper = random_table(rng)
        opendp.added = int(rng.integers(-(2**44), 2**44))
        bounds = {"lower": lower, "upper": upper, "eps": 0.7}
        plain, kept = (ud.private_mean(users, values, **bounds, project=p) for p in (False, True))
        truth = values.mean()
        assert kept.mean == min(max(plain.mean, lower), upper)
        assert abs(kept.mean - truth) <= abs(plain.mean - truth) + 1e-12
        moved += kept.mean != plain.mean
        for name in ("worst_case_bound", "worst_case_l1"):
            assert getattr(kept, name) == min(getattr(plain, name), upper - lower)
        for level in (0.5, 0.99):
            low, high = plain.interval(level)
            projected = kept.interval(level)
            assert lower <= projected[0] <= kept.mean <= projected[1] <= upper
            if low <= truth <= high:
                assert projected[0] <= truth <= projected[1]
    assert moved > 20


def test_projection_is_the_default():
    assert made_of().project is True
    means = [made_of(eps=0.01, total_width=24).mean for _ in range(20)]
    assert all(0 <= mean <= 6 for mean in means)


# Noise from OpenDP.


def test_a_float_eps_is_read_as_the_rank_reads_it(opendp):
    """2 / (2/49) is above 49 in floating point: the threshold is still that of rank 49."""
    users = np.repeat(np.arange(60), np.arange(1, 61))
    made = ud.private_mean(users, users * 0.0, lower=0, upper=1, eps=2 / 49)
    assert made.total_width == pytest.approx(12)


# Intervals.


@pytest.mark.parametrize("level", [0.3, 0.95, 0.999])
@pytest.mark.parametrize("eps", [0.3, 2.5])
def test_intervals_hold_the_mean_with_their_level(opendp, level, eps):
    made = made_of(eps=eps, objective="l1", project=False)
    assert made.worst_case_bias > 0.01
    for (low, high), bias in (
        (made.interval(level), made.worst_case_bias),
        (made.noise_interval(level), 0.0),
    ):
        assert (low + high) / 2 == pytest.approx(made.mean)
        reach = (high - low) / 2 - made.rounding
        law = stats.laplace(bias, made.noise_scale)
        assert law.cdf(reach) - law.cdf(-reach) == pytest.approx(level, abs=1e-9)


def test_no_noise_and_the_middle_where_the_budget_is_too_small_to_learn_anything():
    made = ud.private_mean([1, 2], [0.0, 1.0], lower=0, upper=1, eps=0.5)
    assert (made.mean, made.noise_scale, made.total_width) == (0.5, 0.0, 0.0)
    assert made.worst_case_bound == 0.5 + made.rounding
    assert made.eps == 0
    assert "nothing is learnt" in repr(made)
    assert "nothing is learnt" in made.public()["promise"]
    assert made.interval() == (0.0, 1.0)
    assert made.noise_interval() == (pytest.approx(0.5), pytest.approx(0.5))


# What is shown.


def test_result_is_shown_as_a_table(opendp):
    made = ud.private_mean(
        ["a", "a", "b", "b"], [1.0, 7, 3, 4], lower=0, upper=6, eps=3, outside="clamp"
    )
    low, high = made.interval()
    assert repr(made).splitlines() == [
        f"private mean                {made.mean:.6g}",
        f"95 % interval               {low:.6g} to {high:.6g} (on every dataset with these counts)",
        "budget                      eps = 3, user-level, for replacing one user's values, with "
        "the counts public",
        "error on the worst dataset  1 on average (bound 1, bias 0)",
        "noise                       whole numbers by OpenDP, scale 1",
        "users clipped to            0 to 6 (2 records) ... 0 to 6 (2)",
        "records                     4 of 2 users, values in [0, 6]",
    ]
    rows = [line.split("  ", 1) for line in repr(made).splitlines()]
    shown = [f"<th scope='row'>{name}</th>" for name, _ in rows]
    html = made._repr_html_()
    assert [row.split("<td>")[0].removeprefix("<tr>") for row in html.split("</tr>")[:-1]] == [
        f"<table class='dataframe'><tbody><tr>{shown[0]}",
        *shown[1:],
    ]
    assert "replacing one user&#x27;s values" in html
    with pytest.raises(AttributeError):
        made.mean = 3.0


def test_intervals_scale_with_the_values(opendp):
    wide, narrow = (
        ud.private_mean(USERS, np.array(VALUES) * unit, lower=0, upper=6 * unit, eps=1)
        for unit in (1.0, 2.0**-60)
    )
    (a, b), (low, high) = wide.interval(), narrow.interval()
    assert (high - low) * 2.0**60 == pytest.approx(b - a, rel=1e-10)


# As a measurement of OpenDP.


def test_measurement_moves_by_what_its_noise_covers(opendp):
    measurement = as_measurement([4, 1, 1], lower=0, upper=6, eps=1, centre=2, total_width=9)
    ends = [-1e300, -5.0, 0.0, 3.0, 24.0, 1e300, float("inf")]
    totals = []
    for sum_ in ends:
        measurement([sum_, 1.0, 6.0])
        totals.append(opendp.asked[-1].total)
    assert max(totals) - min(totals) == opendp.asked[-1].moved


def test_measurements_compose_and_opendp_accounts_for_them():
    bounds = {"lower": 0, "upper": 6}
    one, other = (as_measurement([4, 1, 1], **bounds, eps=eps) for eps in (1, 2))
    both = dp.c.make_composition([one, other])
    assert [both.map(d) for d in (0, 1, 2)] == [0, 3, 6]
    made = both([16.0, 1.0, 6.0])
    assert [result.eps for result in made] == [1, 2]
    assert one.map(1) == made[0].eps
    assert one.input_metric == dp.change_one_distance()
    assert one.output_measure == dp.max_divergence()
    with pytest.raises(dp.OpenDPException, match="one number a user"):
        one([1.0])
