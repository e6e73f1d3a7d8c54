"""Releases with settings from the whole range that is permitted, drawn log-uniformly and seeded.

Noise that is missing or too small for some budgets, bounds, caps or numbers of users only is found
where such settings are drawn. Nothing here asks the package how much noise is right. For each draw
of public settings there are several tables, neighbours of the first. For each table the test
records what OpenDP is asked for, and answers in its place:

- the scale pays for the distance between the totals of neighbours, in exact arithmetic: of Laplace
  noise, distance / scale is at most eps; and the largest distance needs all of that noise;
- in the unit of the values, the largest distance is the sensitivity by its definition;
- the answer that belongs to a neighbour yields the neighbour's release: a release depends on the
  values through OpenDP's answers only.
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
"""Draws of settings for each kind of release. A fault in a tenth of the (logarithmic) range of one
setting would be missed with a chance below 2 %; the draws are the same in every run."""

CLOSE = 2.0**-38
"""Relative error of sums in floats: they have 53 bits, of which up to 12 are spent on offsets."""


class Answering:
    """In the place of OpenDP's noise: returns the total itself, or the answers that are set."""

    def __init__(self, monkeypatch):
        self.answers, self.asked = None, []
        for name in ("make_laplace", "make_gaussian"):
            make = partial(self.make, getattr(opendp.measurements, name))
            monkeypatch.setattr(opendp.measurements, name, make)

    def make(self, real, *space, scale):
        def draw(total):
            self.asked.append((scale, total))
            return total if self.answers is None else self.answers[len(self.asked) - 1]

        draw.map = real(*space, scale=scale).map
        return draw

    def release(self, call, answers=None):
        """Return what is released, and the scales and totals that OpenDP was asked for."""
        self.answers, self.asked = answers, []
        made = call()
        scales, totals = zip(*self.asked, strict=True)
        return made, scales, totals


@pytest.fixture
def door(monkeypatch):
    return Answering(monkeypatch)


# Settings
def spread(rng, least, most):
    """Return a number drawn log-uniformly; now and then it is one of the ends."""
    low, high = np.log([least, most])
    return min(max(float(np.exp(rng.uniform(low - 0.5, high + 0.5))), least), most)


def whole(rng, least, most):
    return round(spread(rng, least, most))


class Public(NamedTuple):
    """Settings of a release. In each group of users all have the same number of records."""

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
    """Return settings, each from its whole range."""
    width = spread(rng, 1.1e-280, 0.9e270)
    # Far from zero, floats tell fewer values of a range apart.
    lower = 0.0 if from_zero else float(rng.choice([0.0, -width / 2, -width, 1000 * width]))
    upper = lower + width
    share = rng.choice([None, 0.0, 1.0, rng.uniform()])
    centre = None if share is None else min(lower + share * (upper - lower), upper)
    budget = spread(rng, 2.0**-40, 2.0**10)
    if gaussian and not rng.integers(4):
        budget = beyond.GaussianNoise(spread(rng, 2.0**-10, 2.0**40))
    return Public(*groups_of_users(rng, users, records), lower, upper, centre, budget)


def options_of(rng, public):
    """Return the options of a mean; without a width, the objective decides."""
    largest_sum = public.width * public.sizes[-1]
    return {
        "budget": public.budget,
        "centre": public.centre,
        "total_width": spread(rng, 2.0**-30, 2) * largest_sum if rng.integers(3) else None,
        "objective": str(rng.choice(["bound", "l1", "mse"])),
        "project": bool(rng.integers(2)),
    }


# Tables: one number per user, which all of its records are
class Users(NamedTuple):
    """Of each user the group, and where between the bounds its values lie, from 0 to 1."""

    groups: np.ndarray
    shares: np.ndarray

    def values(self, public):
        values = public.lower + self.shares * public.width
        return np.clip(values, public.lower, public.upper)


def neighbours_of(rng, public):
    """Return a table, and for each group one in which its first user is at the other end."""
    groups = np.repeat(np.arange(len(public.sizes)), public.n_users)
    shares = rng.choice([0.0, 0.25, 0.5, 1.0], groups.size)
    firsts = np.cumsum([0, *public.n_users[:-1]])
    shares[firsts] = 0.0
    others = [np.where(np.arange(groups.size) == first, 1.0, shares) for first in firsts]
    return firsts, [Users(groups, share) for share in (shares, *others)]


def in_memory(public, users, monkeypatch):
    """Return arrays of one row per user; its tally then gets the number of records of its group."""

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

    The query of the tally is the real one. Its result is changed before it is stored: from the
    number of rows follows the number of records.
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


# What is demanded of every mean
def pays_for(budget, distance, scale):
    """Whether noise of a scale hides a distance of totals, by the definition of its law."""
    if not distance:
        return True
    if isinstance(budget, beyond.GaussianNoise):  # exp((x/s)^2 / 2) at most, in zCDP
        return Fraction(distance) * Fraction(budget.sigma) <= Fraction(scale)
    return Fraction(distance) <= Fraction(budget) * Fraction(scale)


def least_scale(budget, distance):
    if isinstance(budget, beyond.GaussianNoise):
        return hypot(distance * budget.sigma, budget.rounding if distance else 0)
    return distance / budget


def clipped(number, reach):
    return min(max(number, -reach), reach)


def sensitivity_of(public, size, centre, total_width):
    """Return how far one user of so many records moves the total of clipped sums: exactly."""
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


def check_spent(public, made, scales):
    """All of a budget is spent if there is noise; by a Gaussian law a little less."""
    if isinstance(public.budget, beyond.GaussianNoise):
        assert made.eps is None
        assert (made.rho > 0) == any(scales)
        assert made.rho <= public.budget.spends
    else:
        assert made.rho is None
        assert made.eps <= public.budget
        assert made.eps == pytest.approx(public.budget if any(scales) else 0, rel=1e-9)


def check_mean(door, public, options, calls):
    """Audit a release of one table and of its neighbours, one for each group of users."""
    (made, scales, totals), *others = [door.release(call) for call in calls]
    assert made.parts or len(scales) == 1
    check_spent(public, made, scales)
    if options["total_width"] is None and options["objective"] == "bound":
        assert made.total_width == pytest.approx(threshold_of(public), rel=1e-9)
    fewest = [part.fewest for part in made.parts] or [0]
    moves = [[] for _ in scales]
    for size, (other, its_scales, its_totals) in zip(public.sizes, others, strict=True):
        assert its_scales == scales
        moved = [abs(x - y) for x, y in zip(totals, its_totals, strict=True)]
        part = next(place for place, least in enumerate(fewest) if size >= least)
        assert not any(moved[:part] + moved[part + 1 :]), "a user moves the total of others"
        assert pays_for(public.budget, moved[part], scales[part])
        moves[part].append((moved[part], other.mean - made.mean, size))
    widths = [part.total_width for part in made.parts] or [made.total_width]
    for moved, scale, width in zip(moves, scales, widths, strict=True):
        largest, furthest, _ = max(moved)
        assert scale <= least_scale(public.budget, largest * (1 + CLOSE) + 2 * bool(scale))
        # In the unit of the values: rounded to levels, to steps, and to floats.
        step = furthest / largest if largest else made.rounding
        for _, found, size in moved:
            exact = float(sensitivity_of(public, size, made.centre, width)) / public.total
            levels = 2.0**-39 * public.width * size / public.total
            assert found == pytest.approx(exact, abs=4 * step + levels + public.float_error)
        if largest > 2**20 and not made.parts and furthest > 1e6 * public.float_error:
            assert made.noise_scale == pytest.approx(scale * step, rel=1e-4)
    instead, *_ = door.release(calls[0], answers=its_totals)
    assert instead == other


@every_holder
def test_means_of_tables(holder, n_draws, users, door, monkeypatch):
    rng = np.random.default_rng(20)
    for _ in range(n_draws):
        public = public_of(rng, users=users)
        options, (_, tables) = options_of(rng, public), neighbours_of(rng, public)

        def mechanism(table, public=public, options=options):
            columns = holder(public, table, monkeypatch)
            return release.private_mean(
                **columns, lower=public.lower, upper=public.upper, **options
            )

        check_mean(door, public, options, [partial(mechanism, table) for table in tables])


def test_means_of_sums(door):
    rng = np.random.default_rng(21)
    for _ in range(N_DRAWS):
        public = public_of(rng, records=2**52, from_zero=True)
        options, (_, tables) = options_of(rng, public), neighbours_of(rng, public)
        people = ud.Contributions(public.counts, public.upper)
        sums = [public.counts * table.values(public) for table in tables]
        calls = [partial(release.release_mean, some, people, **options) for some in sums]
        check_mean(door, public, options, calls)


def test_measurements(door, monkeypatch):
    rng = np.random.default_rng(22)
    for _ in range(N_DRAWS):
        public = public_of(rng, users=10**4)
        options, (_, tables) = options_of(rng, public), neighbours_of(rng, public)
        frames = [pd.DataFrame(in_memory(public, table, monkeypatch)) for table in tables]
        options |= {"lower": public.lower, "upper": public.upper}
        measurement = as_measurement("user", "value", data=frames[0], **options)
        assert measurement.map(1) <= getattr(public.budget, "spends", public.budget)
        check_mean(door, public, options, [partial(measurement, frame) for frame in frames])


# Counts that are protected as well: then neighbours may also differ in them.
@every_holder
def test_means_with_protected_counts(holder, n_draws, users, door, monkeypatch):
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
        # The last user who moves is also left out, or has the records of another group.
        gone = Users(*(np.delete(column, firsts[-1]) for column in base))
        groups = np.where(np.arange(base.groups.size) == firsts[-1], 0, base.groups)
        others = [*tables, gone, Users(groups, tables[-1].shares)]
        made, scales, totals = door.release(partial(mechanism, base))
        assert len(scales) == 2
        assert made.sum_scale == pytest.approx(2 * cap * made.reach / eps, rel=1e-9)
        assert made.weight_scale == pytest.approx(2 * cap / eps, rel=1e-9)
        assert [made.noisy_sum, made.noisy_weight] == [totals[0] * made.step, totals[1]]
        furthest = max(made.centre - public.lower, public.upper - made.centre)
        expected = furthest if reach is None else min(reach, furthest)
        assert made.reach == pytest.approx(expected, abs=2 * made.step)
        for number, table in enumerate(others):
            other, its_scales, its_totals = door.release(partial(mechanism, table))
            assert its_scales == scales
            moved = [abs(x - y) for x, y in zip(totals, its_totals, strict=True)]
            pairs = zip(moved, scales, strict=True)
            price = sum(Fraction(distance) / Fraction(scale) for distance, scale in pairs)
            assert price <= Fraction(eps)
            reached = max(reached, price / Fraction(eps))
            if number < len(tables):
                weight = min(public.sizes[number], cap)
                exact = float(sensitivity_of(public, 1, made.centre, 2 * made.reach)) * weight
                found = other.noisy_sum - made.noisy_sum
                assert found == pytest.approx(exact, abs=3 * weight * made.step, rel=1e-12)
        instead, *_ = door.release(partial(mechanism, base), answers=its_totals)
        assert instead == other
    assert reached > 1 - 1e-6


def test_means_of_vectors(door):
    rng = np.random.default_rng(24)
    for _ in range(N_DRAWS):
        public = public_of(rng, users=2000, records=2**40, from_zero=True)
        law = beyond.GaussianNoise(spread(rng, 2.0**-10, 2.0**40))
        d = whole(rng, 1, 100)
        people = ud.Contributions(public.counts, public.upper)
        ways = rng.normal(size=(people.n_users, d))
        ways *= (1 - 1e-12) / np.linalg.norm(ways, axis=1, keepdims=True)
        base = ways * (public.counts * public.upper / 2)[:, None]
        made, (scale,), (total,) = door.release(partial(release_mean_in_ball, base, people, law))
        assert made.rho <= law.spends
        longest = 0
        for size, first in zip(public.sizes, np.cumsum([0, *public.n_users[:-1]]), strict=True):
            sums = base.copy()
            sums[first] *= -1
            call = partial(release_mean_in_ball, sums, people, law)
            other, (its_scale,), (its_total,) = door.release(call)
            assert its_scale == scale
            square = sum((x - y) ** 2 for x, y in zip(total, its_total, strict=True))
            assert square * Fraction(law.sigma) ** 2 <= Fraction(scale) ** 2
            longest = max(longest, sqrt(square))
            exact = 2 * min(size * public.upper / 2, made.radius) / public.total
            found = hypot(*(other.mean - made.mean))
            slack = (4 + 4 * sqrt(d)) * (found / sqrt(square) if square else 0.0)
            assert found == pytest.approx(exact, abs=slack, rel=1e-9)
        assert scale <= hypot((longest + 4 + 4 * sqrt(d)) * law.sigma, 4) * (1 + 1e-9)
        call = partial(release_mean_in_ball, base, people, law)
        instead, *_ = door.release(call, answers=[its_total])
        assert instead.public() == other.public()
