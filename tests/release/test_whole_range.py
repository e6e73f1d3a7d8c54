"""Releases with settings from the whole permitted range, drawn log-uniformly with a seed.

The tests find noise that is missing or too small only for some budgets, bounds, caps or numbers
of users. No test relies on the package to know how much noise is right. For each draw of public
settings there are several tables, neighbours of the first. For each table a fake OpenDP records the
requests for noise, and returns outputs:

- the scale is large enough for the distance between the totals of neighbours, in exact arithmetic:
  for Laplace noise, distance / scale is at most eps; the largest distance needs all of that noise;
- in the unit of the values, the largest distance is the sensitivity by definition;
- with the output for a neighbour, the release is that of the neighbour: it depends on the values
  only through OpenDP's outputs.
"""

from fractions import Fraction
from functools import partial
from math import ceil, hypot, pi, sqrt, ulp
from typing import NamedTuple

import ibis
import numpy as np
import opendp.measurements
import pandas as pd
import pyarrow as pa
import pytest

import userdp as ud
from userdp import beyond, release
from userdp.release import _mean, _protected, _tables, as_measurement, release_mean_in_ball
from userdp.release._sources import read_tally

pytestmark = pytest.mark.filterwarnings("ignore:.*protects little")

N_DRAWS = 40
"""Number of draws of settings for each kind of release. A fault in a tenth of the (logarithmic)
range of one setting is missed with probability below 2 %; draws are the same in every run."""

CLOSE = 2.0**-38
"""Relative error of sums in floats: they have 53 bits, of which up to 12 are spent on offsets."""


class FakeOpenDP:
    """In the place of OpenDP's noise: returns the total itself, or the outputs that are set."""

    def __init__(self, monkeypatch):
        self.outputs, self.requests = None, []
        for name in ("make_laplace", "make_gaussian"):
            make = partial(self.make, getattr(opendp.measurements, name))
            monkeypatch.setattr(opendp.measurements, name, make)

    def make(self, real, *space, scale):
        def draw(total):
            self.requests.append((scale, total))
            return total if self.outputs is None else self.outputs[len(self.requests) - 1]

        draw.map = real(*space, scale=scale).map
        return draw

    def release(self, call, outputs=None):
        """Return the release, and the scales and totals that were requested of OpenDP."""
        self.outputs, self.requests = outputs, []
        result = call()
        scales, totals = zip(*self.requests, strict=True)
        return result, scales, totals


@pytest.fixture
def fake_opendp(monkeypatch):
    return FakeOpenDP(monkeypatch)


# Settings
def spread(rng, smallest, largest):
    """Return a number drawn log-uniformly, sometimes one of the ends."""
    low, high = np.log([smallest, largest])
    return min(max(float(np.exp(rng.uniform(low - 0.5, high + 0.5))), smallest), largest)


def whole(rng, smallest, largest):
    return round(spread(rng, smallest, largest))


class Public(NamedTuple):
    """Settings of a release. All users of a group have the same number of records."""

    sizes: list[int]
    n_users: list[int]
    lower: float
    upper: float
    centre: float | None
    budget: float | beyond.GaussianNoise

    @property
    def width(self):
        return self.upper - self.lower

    @property
    def total(self):
        return sum(m * n for m, n in zip(self.sizes, self.n_users, strict=True))

    @property
    def counts(self):
        return np.repeat(self.sizes, self.n_users)

    @property
    def float_error(self):
        return 40 * ulp(max(abs(self.lower), abs(self.upper)))


def groups_of_users(rng, most_users, most_records):
    while True:
        sizes = sorted({whole(rng, 1, most_records) for _ in range(rng.integers(1, 4))})
        n_users = [whole(rng, 1, max(most_users // len(sizes), 1)) for _ in sizes]
        if sum(map(int.__mul__, sizes, n_users)) <= 2**53:
            return sizes, n_users


def public_of(rng, *, users=10**5, records=2**42, from_zero=False, gaussian=True):
    """Return settings, each drawn from its whole range."""
    width = spread(rng, 1.1e-280, 0.9e270)
    # Far from zero, floats distinguish fewer values in a range.
    lower = 0.0 if from_zero else float(rng.choice([0.0, -width / 2, -width, 1000 * width]))
    upper = lower + width
    share = rng.choice([None, 0.0, 1.0, rng.uniform()])
    centre = None if share is None else min(lower + share * (upper - lower), upper)
    budget = spread(rng, 2.0**-40, 2.0**10)
    if gaussian and not rng.integers(4):
        budget = beyond.GaussianNoise(spread(rng, 2.0**-10, 2.0**40))
    return Public(*groups_of_users(rng, users, records), lower, upper, centre, budget)


def options_of(rng, public):
    """Return the options of a mean; without a width, the objective determines it."""
    largest_sum = public.width * public.sizes[-1]
    return {
        "budget": public.budget,
        "centre": public.centre,
        "total_width": spread(rng, 2.0**-30, 2) * largest_sum if rng.integers(3) else None,
        "objective": str(rng.choice(["bound", "l1", "mse"])),
        "project": bool(rng.integers(2)),
    }


# Tables with one value per user, which all of the user's records have
class Users(NamedTuple):
    """For each user the group, and the position of the values between the bounds, from 0 to 1."""

    groups: np.ndarray
    shares: np.ndarray

    def values(self, public):
        values = public.lower + self.shares * public.width
        return np.clip(values, public.lower, public.upper)


def neighbours_of(rng, public):
    """Return a table, and for each group one in which its first user has moved to the other end."""
    groups = np.repeat(np.arange(len(public.sizes)), public.n_users)
    shares = rng.choice([0.0, 0.25, 0.5, 1.0], groups.size)
    firsts = np.cumsum([0, *public.n_users[:-1]])
    shares[firsts] = 0.0
    others = [np.where(np.arange(groups.size) == first, 1.0, shares) for first in firsts]
    return firsts, [Users(groups, share) for share in (shares, *others)]


def in_memory(public, users, monkeypatch):
    """Return arrays with one row per user, whose tally is given the group's number of records."""

    def read(*arguments):
        tally = read_tally(*arguments)
        sizes = np.zeros(tally.sizes.size, np.int64)
        sizes[: users.groups.size] = np.array(public.sizes)[users.groups]
        for name in ("n_levels", "high", "low", "sizes"):
            setattr(tally, name, getattr(tally, name) * sizes)
        return tally

    for module in (_mean, _protected):
        monkeypatch.setattr(module, "read_tally", read)
    return {"user": np.arange(users.groups.size), "value": users.values(public)}


def in_duckdb(public, users, monkeypatch):
    """Return a table with one row per user of the first group, two of the second, and so on.

    The tally uses the actual query. Its result is changed before it is stored: the number of rows
    is replaced by the group's number of records.
    """

    def stretched(*question):
        tally = TALLY_OF(*question)
        n_rows = tally["size"]
        sizes = enumerate(public.sizes, start=1)
        size = ibis.cases(*((n_rows == n, ibis.literal(m, "int64")) for n, m in sizes), else_=0)
        level = (tally.high * 2**20 + tally.low) // ibis.greatest(n_rows, 1)
        halves = {"high": (level >> 20) * size, "low": (level & (2**20 - 1)) * size}
        return tally.mutate(size=size, n_levels=size, **halves)

    monkeypatch.setattr(_tables, "tally_of", stretched)
    rows = users.groups + 1
    numbers = np.repeat(np.arange(rows.size), rows)
    table = {"user": numbers, "value": np.repeat(users.values(public), rows)}
    return {"user": "user", "value": "value", "data": ibis.memtable(pa.table(table))}


TALLY_OF = _tables.tally_of
every_holder = pytest.mark.parametrize(
    ("holder", "n_draws", "users"),
    [
        pytest.param(in_memory, N_DRAWS, 10**5, id="arrays"),
        pytest.param(in_duckdb, 5, 500, id="DuckDB", marks=pytest.mark.slow),
    ],
)


# Requirements on every mean
def covers(budget, distance, scale):
    """Whether noise of a scale covers a distance of totals, by the definition of its law."""
    if not distance:
        return True
    if isinstance(budget, beyond.GaussianNoise):  # (x / s)^2 / 2 <= 1 / (2 sigma^2)
        return Fraction(distance) * Fraction(budget.sigma) <= Fraction(scale)
    return Fraction(distance) <= Fraction(budget) * Fraction(scale)


def least_scale(budget, distance):
    if isinstance(budget, beyond.GaussianNoise):
        return hypot(distance * budget.sigma, budget.rounding if distance else 0)
    return distance / budget


def clipped(number, reach):
    return min(max(number, -reach), reach)


def sensitivity_of(public, size, centre, total_width):
    """Return exactly how far one user with `size` records can move the total of clipped sums."""
    ends = (Fraction(end) - Fraction(centre) for end in (public.lower, public.upper))
    low, high = (clipped(size * end, Fraction(total_width) / 2) for end in ends)
    return high - low


def threshold_of(public):
    """Return S of Theorem III.1: the largest sum of rank ceil(2/eps), or 0."""
    budget = public.budget
    is_gaussian = isinstance(budget, beyond.GaussianNoise)
    rank = ceil(2 * budget.sigma * sqrt(2 / pi) if is_gaussian else 2 / Fraction(budget))
    above = np.cumsum(public.n_users[::-1])
    group = int(np.searchsorted(above, rank))
    return public.width * public.sizes[::-1][group] if group < len(above) else 0.0


def check_spent(public, result, scales):
    """Check that the whole budget is spent if there is noise, slightly less with a Gaussian law."""
    if isinstance(public.budget, beyond.GaussianNoise):
        assert result.eps is None
        assert (result.rho > 0) == any(scales)
        assert result.rho <= public.budget.privacy_cost
    else:
        assert result.rho is None
        assert result.eps <= public.budget
        assert result.eps == pytest.approx(public.budget if any(scales) else 0, rel=1e-9)


def check_mean(fake_opendp, public, options, calls):
    """Audit a release of one table and of its neighbours, one for each group of users."""
    (result, scales, totals), *others = [fake_opendp.release(call) for call in calls]
    assert result.parts or len(scales) == 1
    check_spent(public, result, scales)
    if options["total_width"] is None and options["objective"] == "bound":
        assert result.total_width == pytest.approx(threshold_of(public), rel=1e-9)
    fewest = [part.fewest for part in result.parts] or [0]
    moves = [[] for _ in scales]
    for size, (other, its_scales, its_totals) in zip(public.sizes, others, strict=True):
        assert its_scales == scales
        moved = [abs(x - y) for x, y in zip(totals, its_totals, strict=True)]
        part = next(place for place, smallest in enumerate(fewest) if size >= smallest)
        assert not any(moved[:part] + moved[part + 1 :]), "a user moves the total of others"
        assert covers(public.budget, moved[part], scales[part])
        moves[part].append((moved[part], other.mean - result.mean, size))
    widths = [part.total_width for part in result.parts] or [result.total_width]
    for moved, scale, width in zip(moves, scales, widths, strict=True):
        largest, furthest, _ = max(moved)
        assert scale <= least_scale(public.budget, largest * (1 + CLOSE) + 2 * bool(scale))
        # In the unit of the values, rounded to levels, steps and floats.
        step = furthest / largest if largest else result.rounding
        for _, change, size in moved:
            exact = float(sensitivity_of(public, size, result.centre, width)) / public.total
            levels = 2.0**-39 * public.width * size / public.total
            assert change == pytest.approx(exact, abs=4 * step + levels + public.float_error)
        if largest > 2**20 and not result.parts and furthest > 1e6 * public.float_error:
            assert result.noise_scale == pytest.approx(scale * step, rel=1e-4)
    replayed, *_ = fake_opendp.release(calls[0], outputs=its_totals)
    assert replayed == other


@every_holder
def test_means_of_tables_have_just_enough_noise(holder, n_draws, users, fake_opendp, monkeypatch):
    rng = np.random.default_rng(20)
    for _ in range(n_draws):
        public = public_of(rng, users=users)
        options, (_, tables) = options_of(rng, public), neighbours_of(rng, public)

        def mechanism(table, public=public, options=options):
            columns = holder(public, table, monkeypatch)
            return release.private_mean(
                **columns, lower=public.lower, upper=public.upper, **options
            )

        check_mean(fake_opendp, public, options, [partial(mechanism, table) for table in tables])


def test_means_of_sums_have_just_enough_noise(fake_opendp):
    rng = np.random.default_rng(21)
    for _ in range(N_DRAWS):
        public = public_of(rng, records=2**52, from_zero=True)
        options, (_, tables) = options_of(rng, public), neighbours_of(rng, public)
        people = ud.Contributions(public.counts, public.upper)
        sums = [public.counts * table.values(public) for table in tables]
        calls = [partial(release.release_mean, some, people, **options) for some in sums]
        check_mean(fake_opendp, public, options, calls)


def test_measurements_have_just_enough_noise(fake_opendp, monkeypatch):
    rng = np.random.default_rng(22)
    for _ in range(N_DRAWS):
        public = public_of(rng, users=10**4)
        options, (_, tables) = options_of(rng, public), neighbours_of(rng, public)
        frames = [pd.DataFrame(in_memory(public, table, monkeypatch)) for table in tables]
        options |= {"lower": public.lower, "upper": public.upper}
        measurement = as_measurement("user", "value", data=frames[0], **options)
        assert measurement.map(1) <= getattr(public.budget, "privacy_cost", public.budget)
        check_mean(fake_opendp, public, options, [partial(measurement, frame) for frame in frames])


# With protected counts, neighbours may also differ in their counts.
@every_holder
def test_means_with_protected_counts_have_just_enough_noise(
    holder, n_draws, users, fake_opendp, monkeypatch
):
    rng, reached = np.random.default_rng(23), 0
    for _ in range(n_draws):
        public = public_of(rng, users=users, records=2**20, gaussian=False)
        cap = whole(rng, 1, 2**31)
        eps = spread(rng, 2.0**-39 * cap, 2.0**10)
        reach = spread(rng, 2.0**-20, 2) * public.width if rng.integers(2) else None

        def mechanism(table, public=public, how=(eps, cap, reach)):
            columns = holder(public, table, monkeypatch)
            names = {"lower": public.lower, "upper": public.upper, "centre": public.centre}
            names |= dict(zip(("eps", "cap", "reach"), how, strict=True))
            return release.private_mean_protected_counts(**columns, **names)

        firsts, (base, *tables) = neighbours_of(rng, public)
        # The last user who moves can also be left out, or get another group's number of records.
        gone = Users(*(np.delete(column, firsts[-1]) for column in base))
        groups = np.where(np.arange(base.groups.size) == firsts[-1], 0, base.groups)
        others = [*tables, gone, Users(groups, tables[-1].shares)]
        result, scales, totals = fake_opendp.release(partial(mechanism, base))
        assert len(scales) == 2
        assert result.sum_scale == pytest.approx(2 * cap * result.reach / eps, rel=1e-9)
        assert result.weight_scale == pytest.approx(2 * cap / eps, rel=1e-9)
        assert [result.noisy_sum, result.noisy_weight] == [totals[0] * result.step, totals[1]]
        furthest = max(result.centre - public.lower, public.upper - result.centre)
        expected = furthest if reach is None else min(reach, furthest)
        assert result.reach == pytest.approx(expected, abs=2 * result.step)
        for number, table in enumerate(others):
            other, its_scales, its_totals = fake_opendp.release(partial(mechanism, table))
            assert its_scales == scales
            moved = [abs(x - y) for x, y in zip(totals, its_totals, strict=True)]
            pairs = zip(moved, scales, strict=True)
            log_ratio = sum(Fraction(distance) / Fraction(scale) for distance, scale in pairs)
            assert log_ratio <= Fraction(eps)
            reached = max(reached, log_ratio / Fraction(eps))
            if number < len(tables):
                weight = min(public.sizes[number], cap)
                exact = float(sensitivity_of(public, 1, result.centre, 2 * result.reach)) * weight
                change = other.noisy_sum - result.noisy_sum
                assert change == pytest.approx(exact, abs=3 * weight * result.step, rel=1e-12)
        replayed, *_ = fake_opendp.release(partial(mechanism, base), outputs=its_totals)
        assert replayed == other
    assert reached > 1 - 1e-6


def test_means_of_vectors_have_just_enough_noise(fake_opendp):
    rng = np.random.default_rng(24)
    for _ in range(N_DRAWS):
        public = public_of(rng, users=2000, records=2**40, from_zero=True)
        law = beyond.GaussianNoise(spread(rng, 2.0**-10, 2.0**40))
        d = whole(rng, 1, 100)
        people = ud.Contributions(public.counts, public.upper)
        directions = rng.normal(size=(people.n_users, d))
        directions *= (1 - 1e-12) / np.linalg.norm(directions, axis=1, keepdims=True)
        base = directions * (public.counts * public.upper / 2)[:, None]
        result, (scale,), (total,) = fake_opendp.release(
            partial(release_mean_in_ball, base, people, law)
        )
        assert result.rho <= law.privacy_cost
        longest = 0
        for size, first in zip(public.sizes, np.cumsum([0, *public.n_users[:-1]]), strict=True):
            sums = base.copy()
            sums[first] *= -1
            call = partial(release_mean_in_ball, sums, people, law)
            other, (its_scale,), (its_total,) = fake_opendp.release(call)
            assert its_scale == scale
            square = sum((x - y) ** 2 for x, y in zip(total, its_total, strict=True))
            assert square * Fraction(law.sigma) ** 2 <= Fraction(scale) ** 2
            longest = max(longest, sqrt(square))
            exact = 2 * min(size * public.upper / 2, result.radius) / public.total
            change = hypot(*(other.mean - result.mean))
            slack = (4 + 4 * sqrt(d)) * (change / sqrt(square) if square else 0.0)
            assert change == pytest.approx(exact, abs=slack, rel=1e-9)
        assert scale <= hypot((longest + 4 + 4 * sqrt(d)) * law.sigma, 4) * (1 + 1e-9)
        call = partial(release_mean_in_ball, base, people, law)
        replayed, *_ = fake_opendp.release(call, outputs=[its_total])
        assert replayed.public() == other.public()
