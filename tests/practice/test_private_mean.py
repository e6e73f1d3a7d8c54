"""private_mean: the release, its noise, its certificate and its intervals, against definitions."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import integrate, stats

import userdp as ud
import userdp.table
from userdp.noise import read_noise

NOISE = ("laplace", "staircase")
FALSE_ALARM = 1e-7


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


def clipped_mean_of(users, values, made):
    """The mean of the values, each user's average projected to the interval of the result."""
    ends = {clip.n_records: clip for clip in made.clips}
    total = Fraction(0)
    for user in np.unique(users):
        own = [Fraction(v) for v in values[users == user].tolist()]
        clip = ends[len(own)]
        average = min(max(sum(own) / len(own), Fraction(clip.lower)), Fraction(clip.upper))
        total += average * len(own)
    return total / len(values)


def noise_of(made, seed):
    """The noise of a demonstration, drawn again: what one user can move is what it is scaled to."""
    change = made.noise_scale * made.eps
    return float(read_noise(made.noise, made.eps).draw(change, (), np.random.default_rng(seed)))


@pytest.mark.parametrize("noise", NOISE)
def test_release_is_the_clipped_mean_plus_the_noise(noise):
    rng = np.random.default_rng(81)
    for seed in range(150):
        users, values, lower, upper = random_table(rng)
        options = {
            "objective": rng.choice(["bound", "l1", "mse"]).item(),
            "centre": rng.choice([None, lower, (3 * lower + upper) / 4, upper]),
            "total_width": rng.choice([None, 0.0, (upper - lower) * 1.5]),
        }
        eps = float(rng.choice([0.05, 0.3, 1.0, 2.5]))
        made = ud.private_mean(users, values, lower, upper, eps, noise=noise, rng=seed, **options)
        exact = clipped_mean_of(users, values, made)
        error = Fraction(made.mean) - Fraction(noise_of(made, seed)) - exact
        assert abs(error) <= made.rounding + 1e-12 * (upper - lower)


def test_numbers_of_the_result_are_those_of_the_theory():
    rng = np.random.default_rng(82)
    for _ in range(150):
        users, values, lower, upper = random_table(rng)
        eps = rng.choice(["0.05", "0.3", "1", "2.5"]).item()
        objective, noise = rng.choice(["bound", "l1", "mse"]).item(), rng.choice(NOISE).item()
        made = ud.private_mean(
            users, values, lower, upper, eps, objective=objective, noise=noise, rng=0
        )
        people = collection(users, lower, upper)
        assert (made.n_records, made.n_users, made.n_dropped, made.n_clamped) == (
            len(users),
            people.n_users,
            0,
            0,
        )
        assert made.eps == float(eps)
        small = {"rel": 1e-6, "abs": 1e-6 * (upper - lower)}
        width = float(ud.threshold(people, eps, objective, noise))
        assert made.total_width == pytest.approx(width, **small)
        change = min(width, people.max_count * (upper - lower)) / people.total
        assert made.noise_scale * made.eps == pytest.approx(change, **small)
        assert made.centre == (lower + upper) / 2
        for kind, error in (("bound", made.worst_case_bound), ("l1", made.worst_case_l1)):
            theory = float(ud.symmetric_error(people, width, eps, kind, noise))
            assert error - made.rounding == pytest.approx(theory, **small)
        clipping = ud.optimal_clipping(people, eps, objective, noise)
        bias = float(ud.worst_case_bias(people, clipping))
        assert made.worst_case_bias == pytest.approx(bias, **small)
        assert sum(clip.n_users for clip in made.clips) == people.n_users
        assert [c.n_records for c in made.clips] == sorted(set(people.counts.tolist()))[::-1]
        for clip in made.clips:
            user = people.counts.tolist().index(clip.n_records)
            ends = lower + clipping.lower[user], lower + clipping.upper[user]
            assert (clip.lower, clip.upper) == pytest.approx(ends, **small)


def test_certificate_covers_an_uneven_clipping():
    """With the centre at the lower bound only values above it are lost, and noise is one-sided."""
    users, values = [1, 1, 1, 2], [1.0, 2.0, 3.0, 4.0]
    made = ud.private_mean(users, values, 0, 4, 1, centre=0, total_width=4, noise="laplace", rng=1)
    assert made.worst_case_bias == pytest.approx((10 + 2) / 4)
    assert made.noise_scale == pytest.approx(2 / 4)
    assert made.clips[0] == (3, 1, 0.0, pytest.approx(2 / 3))


def test_bounds_shift_and_scale_the_release():
    rng = np.random.default_rng(83)
    users, values = rng.integers(0, 9, 50), rng.integers(0, 65, 50) / 64
    made, moved = (
        ud.private_mean(users, a + b * values, a, a + b, 0.4, noise="laplace", rng=5)
        for a, b in ((0.0, 1.0), (-16.0, 4.0))
    )
    assert moved.mean == pytest.approx(-16 + 4 * made.mean, abs=1e-12)
    for name in ("noise_scale", "worst_case_bias", "worst_case_bound", "worst_case_l1", "rounding"):
        assert getattr(moved, name) == pytest.approx(4 * getattr(made, name))


@pytest.mark.parametrize(("centre", "ends"), [(0, (0, 2 / 3)), (4, (4 - 2 / 3, 4))])
def test_noise_covers_only_what_a_sum_can_reach(centre, ends):
    options = {"total_width": 4, "noise": "laplace", "rng": 1}
    made = ud.private_mean([1, 1, 1, 2], [1.0, 2, 3, 4], 0, 4, 1, centre=centre, **options)
    assert made.noise_scale == pytest.approx(2 / 4)
    assert (made.clips[0].lower, made.clips[0].upper) == pytest.approx(ends)
    assert made.objective == "bound"


def test_centre_is_within_the_bounds():
    for centre in (-1.001, 4.001):
        with pytest.raises(ValueError, match="`centre` must be from -1 to 4"):
            ud.private_mean([1, 2], [0.0, 1.0], -1, 4, 1, centre=centre)


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
        assert userdp.table._grid(users, 0.0, 1.0, Fraction(eps), None).bits == bits
    with pytest.raises(ValueError, match="large enough for noise that fits 64 bits"):
        userdp.table._grid(ud.Contributions([2**13], 1), 0.0, 1.0, Fraction(2.0**-35), None)


def test_rounding_is_counted_where_levels_are_few():
    users, values = np.zeros(4000), np.ones(4000)
    for noise, steps in (("opendp", 0.5 + 2**-10 + 1 / 4000), ("laplace", 0.5 + 2**-10)):
        options = {"total_width": 2000.0, "noise": noise} | (
            {"rng": 1} if noise != "opendp" else {}
        )
        made = ud.private_mean(users, values, 0, 1, 2.0**-34, **options)
        assert made.rounding == pytest.approx(steps * 2.0**-10)
        plain = made.worst_case_bias + made.noise_scale
        assert made.worst_case_bound - plain == pytest.approx(made.rounding, abs=plain * 1e-12)
        l1 = float(ud.LaplaceNoise(2.0**-34).mean_error(made.worst_case_bias, 0.5))
        assert made.worst_case_l1 > l1
        low, high = made.interval(0.5)
        assert low < made.mean < high


# Noise from OpenDP.

USERS, VALUES = [1, 1, 1, 1, 2, 3], [3.0, 4.0, 5.0, 4.0, 1.0, 6.0]


def spied(monkeypatch, noise=None):
    """Record what OpenDP is asked for; replace its noise, or leave it."""
    calls, real = [], userdp.table.discrete_laplace

    def measurement(moved, budget):
        made = real(moved, budget)

        def invoke(total):
            calls.append((moved, budget, total))
            return made(total) if noise is None else total + noise

        invoke.map = made.map
        return invoke

    monkeypatch.setattr(userdp.table, "discrete_laplace", measurement)
    return calls


@pytest.mark.parametrize("eps", ["0.01", "0.3", "1", "5"])
def test_opendp_is_asked_for_noise_that_hides_one_user(monkeypatch, eps):
    calls = spied(monkeypatch)
    low, high = [0.0] * 4 + VALUES[4:], [6.0] * 4 + VALUES[4:]
    made = [ud.private_mean(USERS, values, 0, 6, eps) for values in (low, VALUES, high)]
    moved = calls[0][0]
    assert [call[:2] for call in calls] == [(moved, Fraction(eps))] * 3
    totals = [total for _, _, total in calls]
    assert max(totals) - min(totals) <= moved
    people = ud.Contributions([4, 1, 1], 6)
    if ud.rank(eps) <= 2:
        assert max(totals) - min(totals) == moved  # no more noise than is needed
    assert all(result.eps <= float(Fraction(eps)) * (1 + 1e-15) for result in made)
    width = float(ud.threshold(people, eps))
    assert made[0].noise_scale == pytest.approx(width / 6 / float(eps), rel=1e-6)


def test_whole_numbers_of_opendp_become_the_release(monkeypatch):
    spied(monkeypatch, noise=0)
    silent = ud.private_mean(USERS, VALUES, 0, 6, 1).mean
    demonstration = ud.private_mean(USERS, VALUES, 0, 6, 1, noise="laplace", rng=3)
    assert silent == pytest.approx(demonstration.mean - noise_of(demonstration, 3), abs=1e-9)
    spied(monkeypatch, noise=-(10**6))
    shifted = ud.private_mean(USERS, VALUES, 0, 6, 1)
    assert shifted.mean == pytest.approx(silent - 10**6 * 6 * 2.0**-40 / 6, abs=1e-12)


def test_noise_of_opendp_has_the_scale_that_is_promised():
    made = [ud.private_mean(USERS, VALUES, 0, 6, 1) for _ in range(1500)]
    centre = float(clipped_mean_of(np.array(USERS), np.array(VALUES), made[0]))
    noise = (np.array([result.mean for result in made]) - centre) / made[0].noise_scale
    assert stats.kstest(noise, stats.laplace.cdf).pvalue > FALSE_ALARM
    assert np.unique(noise).size > 1400
    # How likely a tenth more or less noise would be missed is tested with seeds in test_privacy.


def test_opendp_takes_no_seed():
    with pytest.raises(ValueError, match=r"rng.*no seed"):
        ud.private_mean(USERS, VALUES, 0, 6, 1, rng=1)
    a, b = (ud.private_mean(USERS, VALUES, 0, 6, 1).mean for _ in range(2))
    assert a != b


def test_scale_fits_64_bits_for_every_budget_and_count():
    for eps in (2.0**-35, 1e-6, 0.1, 10.0, 1e9):
        for n in (1, 100, 2000):
            users, values = np.r_[np.zeros(n), np.ones(1)], np.r_[np.full(n, 1.0), 0.0]
            made = ud.private_mean(users, values, 0, 1, eps, total_width=n)
            step = made.rounding / (0.5 + 2**-10 + 1 / (n + 1))
            assert made.noise_scale * (n + 1) / step <= 2.0**56 * (1 + 1e-9)
            assert step <= max(2.0**-40, 2.0**-55 * 4 * n / eps) * (1 + 1e-9)


# Intervals.


def chance_of_covering(made, reach):
    """P(abs(bias + Z) <= reach), by quadrature of the density."""
    change, law = made.noise_scale * made.eps, read_noise(made.noise, made.eps)
    low, high = ((sign * reach - made.worst_case_bias) / change for sign in (-1, 1))
    steps = np.arange(-40, 41)
    jumps = np.sort(
        np.r_[steps, steps + getattr(law, "gamma", 0.5), -steps - getattr(law, "gamma", 0.5)]
    )
    ends = np.r_[low, jumps[(jumps > low) & (jumps < high)], high]
    return sum(
        integrate.quad(lambda z: np.exp(law.log_density(z)), a, b)[0] for a, b in pairwise(ends)
    )


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("level", [0.3, 0.95, 0.999])
@pytest.mark.parametrize("eps", [0.3, 2.5])
def test_intervals_hold_the_mean_with_their_level(noise, level, eps):
    made = ud.private_mean(USERS, VALUES, 0, 6, eps, objective="l1", noise=noise, rng=1)
    assert made.worst_case_bias > 0.01
    low, high = made.interval(level)
    assert (low + high) / 2 == pytest.approx(made.mean)
    assert chance_of_covering(made, (high - low) / 2 - made.rounding) == pytest.approx(
        level, abs=1e-6
    )
    low, high = made.noise_interval(level)
    reach = (high - low) / 2 - made.rounding
    unbiased = SimpleNamespace(
        noise_scale=made.noise_scale, eps=made.eps, noise=noise, worst_case_bias=0.0
    )
    assert chance_of_covering(unbiased, reach) == pytest.approx(level, abs=1e-6)


def test_interval_of_laplace_noise_in_closed_form():
    """P(abs(b + Z) > h) = exp(-h/s) cosh(b/s) for h >= b."""
    made = ud.private_mean(USERS, VALUES, 0, 6, 1, noise="laplace", rng=1)
    s, b = made.noise_scale, made.worst_case_bias
    reach = s * np.log(np.cosh(b / s) / 0.001) + made.rounding
    assert made.interval(0.999) == pytest.approx((made.mean - reach, made.mean + reach))


@pytest.mark.parametrize("extreme", [0.0, 6.0])
def test_worst_data_are_covered_as_often_as_promised(extreme):
    n = 1000
    values = [extreme] * 4 + [extreme, extreme]
    covered = 0
    for seed in range(n):
        made = ud.private_mean(USERS, values, 0, 6, 1, noise="laplace", rng=seed)
        low, high = made.interval(0.8)
        covered += low <= extreme <= high
    assert abs(covered - 0.8 * n) < 5.4 * np.sqrt(0.8 * 0.2 * n)


def test_no_noise_and_the_middle_where_the_budget_is_too_small_to_learn_anything():
    made = ud.private_mean([1, 2], [0.0, 1.0], 0, 1, eps=0.5)
    assert (made.mean, made.noise_scale, made.total_width) == (0.5, 0.0, 0.0)
    assert made.worst_case_bound == 0.5 + made.rounding
    assert made.interval() == (pytest.approx(0.0, abs=1e-9), pytest.approx(1.0, abs=1e-9))
    assert made.noise_interval() == (pytest.approx(0.5), pytest.approx(0.5))


# Rows that cannot be used.

ROWS = {"user": ["a", "b", None, "a", "b"], "value": [1.0, np.nan, 2.0, 7.0, 3.0]}


def test_rows_are_refused_with_their_number():
    with pytest.raises(ValueError, match=r"`user` and `value`.* 2 of 5 rows"):
        ud.private_mean("user", "value", 0, 6, 1, data=ROWS)
    with pytest.raises(ValueError, match=r"`value` must lie in \[0, 6\], got 1 of 5 rows"):
        ud.private_mean("user", "value", 0, 6, 1, data=ROWS, missing="drop")
    with pytest.raises(ValueError, match="`value` must have rows to average, got 2, 2 dropped"):
        ud.private_mean(["a", "b"], [1, 2], 5, 6, 1, outside="drop")
    with pytest.raises(ValueError, match="`value` must have rows to average, got 0, 0 dropped"):
        ud.private_mean([], [], 5, 6, 1)
    with pytest.raises(ValueError, match="`user` must have no missing entries, got 1"):
        ud.user_counts("user", data=ROWS)


@pytest.mark.parametrize(
    ("outside", "kept", "dropped", "clamped"),
    [("drop", [1.0, 3.0], 3, 0), ("clamp", [1.0, 6.0, 3.0], 2, 1)],
)
def test_rows_are_dropped_or_clamped_and_counted(outside, kept, dropped, clamped):
    options = {"data": ROWS, "missing": "drop", "outside": outside, "noise": "laplace", "rng": 4}
    made = ud.private_mean("user", "value", 0, 6, 3, **options)
    users = ["a", "b"] if dropped == 3 else ["a", "a", "b"]
    plain = ud.private_mean(users, kept, 0, 6, 3, noise="laplace", rng=4)
    assert made.mean == plain.mean
    assert (made.n_dropped, made.n_clamped) == (dropped, clamped)
    assert (f"{dropped} rows" in repr(made)) == (dropped > 0)
    assert ("PROTECTED" in repr(made)) == (clamped > 0)
    assert "PROTECTED" not in repr(plain)


def test_infinite_values_are_outside():
    with pytest.raises(ValueError, match="2 of 3 rows"):
        ud.private_mean([1, 1, 2], [np.inf, 1.0, -np.inf], 0, 6, 1)
    made, plain = (
        ud.private_mean([1, 1, 2], values, 0, 6, 3, outside="clamp", noise="laplace", rng=4)
        for values in ([np.inf, 1.0, -np.inf], [6.0, 1.0, 0.0])
    )
    assert (made.mean, made.n_clamped, plain.n_clamped) == (plain.mean, 2, 0)


# What is shown.


def test_result_can_be_read():
    made = ud.private_mean(USERS, VALUES, 0, 6, 1)
    text, html = repr(made), made._repr_html_()
    assert f"{made.mean:.6g}" in text
    assert "eps = 1, user-level" in text
    assert "WARNING" not in text
    assert "3 users" in text
    assert html.count("<tr>") == text.count("\n") + 1
    assert "demonstration" in repr(ud.private_mean(USERS, VALUES, 0, 6, 1, noise="laplace", rng=1))
    with pytest.raises(AttributeError):
        made.mean = 3.0


def test_result_is_shown_as_a_table():
    made = ud.private_mean(
        ["a", "a", "b", "b", None],
        [1.0, 7, 3, 4, 5],
        0,
        6,
        3,
        outside="clamp",
        missing="drop",
        noise="laplace",
        rng=4,
    )
    low, high = made.interval()
    assert repr(made).splitlines() == [
        f"private mean                {made.mean:.6g}",
        f"95 % interval               {low:.6g} to {high:.6g} (on every dataset)",
        "budget                      eps = 3, user-level, counts public",
        "error on the worst dataset  1 on average (bound 1, bias 0)",
        "noise                       laplace, scale 1",
        "users clipped to            0 to 6 (2 records) ... 0 to 6 (2)",
        "records                     4 of 2 users, values in [0, 6]",
        "dropped                     1 rows",
        "clamped                     1 values (PROTECTED: do not publish this number)",
        "WARNING                     floating-point noise: a demonstration, not for publication",
    ]
    rows = [line.split("  ", 1) for line in repr(made).splitlines()]
    assert made._repr_html_() == (
        "<table class='dataframe'><tbody>"
        + "".join(
            f"<tr><th scope='row'>{name}</th><td>{text.strip()}</td></tr>" for name, text in rows
        )
        + "</tbody></table>"
    )


def test_intervals_scale_with_the_values():
    wide, narrow = (
        ud.private_mean(USERS, np.array(VALUES) * unit, 0, 6 * unit, 1, noise="laplace", rng=1)
        for unit in (1.0, 2.0**-60)
    )
    (a, b), (low, high) = wide.interval(), narrow.interval()
    assert (high - low) * 2.0**60 == pytest.approx(b - a, rel=1e-10)


def test_counts_are_sorted_and_nameless():
    assert ud.user_counts(USERS).tolist() == [4, 1, 1]
    frame = pd.DataFrame({"u": ["x", "y", "y"]})
    for data in (frame, ibis.memtable(pa.Table.from_pandas(frame))):
        assert ud.user_counts("u", data=data).tolist() == [2, 1]


# --- Missing users are nobody ---------------------------------------------------------------------

NAN = float("nan")
MISSING_USERS = {
    "objects": np.array(["a", *[NAN] * 100], object),
    "pandas strings, as numpy": pd.Series(["a", *[NAN] * 100]).to_numpy(),
    "a list": ["a", *[NAN] * 100],
    "pd.NA": np.array(["a", *[pd.NA] * 100], object),
    "NaT": np.array(["a", *[pd.NaT] * 100], object),
    "None": np.array(["a", *[None] * 100], object),
    "decimals": np.array([Decimal(1), *[Decimal("nan")] * 100], object),
    "signalling decimals": np.array([Decimal(1), *[Decimal("snan")] * 100], object),
    "complex": np.array([1 + 0j, *[complex(NAN, 0)] * 100]),
    "durations": np.array([1, *["NaT"] * 100], "m8[s]"),
    "numpy's strings": np.array(["a", *[NAN] * 100], np.dtypes.StringDType(na_object=NAN)),
}


@pytest.mark.parametrize("users", MISSING_USERS.values(), ids=MISSING_USERS)
def test_missing_users_are_not_users(users):
    """Each as a user of its own, one person's rows would count a hundred times."""
    with pytest.raises(ValueError, match="100 of 101 rows"):
        ud.private_mean(users, np.ones(101), 0, 1, 1)
    with pytest.raises(ValueError, match="100 of them"):
        ud.user_counts(users)
    made = ud.private_mean(users, np.ones(101), 0, 1, 1, missing="drop")
    assert (made.n_users, made.n_records, made.n_dropped) == (1, 1, 100)


def test_records_with_fields_are_refused_as_users():
    users = np.array([(1.0, NAN)] * 3, [("a", float), ("b", float)])
    with pytest.raises(TypeError, match="`user` must be a plain column"):
        ud.user_counts(users)
