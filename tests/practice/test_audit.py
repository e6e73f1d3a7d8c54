"""Every released number has OpenDP's noise, and nothing else of a release depends on the values.

Three audits over the rows of `configurations`: OpenDP's answer is replaced by a number that must
come out; tables that differ in one user must look the same, given the same answer; and releases
with OpenDP's own noise, which has no seed, must follow its law.
"""

import json
import logging
import pickle
import sys
import time
import warnings
from collections import defaultdict
from fractions import Fraction
from functools import cache
from math import inf
from threading import current_thread
from typing import NamedTuple

import numpy as np
import opendp.measurements
import pytest
from configurations import (
    EPS,
    FACTORS,
    ROWS,
    centre_of,
    clipped_mean,
    clipped_totals,
    name_of,
    numbers_of,
    pairwise,
    release_of,
    table,
)
from kinds import ENGINES
from scipy import stats

import userdp as ud
from userdp.practice import _protected as protected
from userdp.practice import _release as releases
from userdp.practice import _sums as sums
from userdp.practice._ingest import read_records
from userdp.practice._queries import Queries

NAMES = ["interval", "noise_interval", "weight_interval", "public", "public_json", "_repr_html_"]


class OpenDP:
    """In the place of OpenDP's noise, at its own door: answers what it is told, and remembers."""

    def __init__(self, monkeypatch, answer):
        self.answer, self.asked = answer, []
        self.real = opendp.measurements.make_laplace
        monkeypatch.setattr(opendp.measurements, "make_laplace", self.make_laplace)

    def make_laplace(self, *space, scale):
        made = self.real(*space, scale=scale)

        def draw(total):
            self.asked.append((scale, total))
            return self.answer(scale, total)

        draw.map = made.map
        return draw


def kinds_of(row, rng, dropped=1):
    """Return what kinds of values a user may have, first those that are to be dropped."""
    allowed = {"outside": "clamp", "missing": "centre"}
    kept = ["inside", *(what for what, rule in allowed.items() if row.get(what) == rule)]
    gone = [what for what in allowed if row.get(what) == "drop"]
    return gone * dropped + [kept[i] for i in rng.integers(len(kept), size=3)]


# 1. What OpenDP answers is what is released.

ANSWERS = [
    lambda scale, total: 7,
    lambda scale, total: round(-1.25 * scale),
    lambda scale, total: round(25.5 * scale),  # rare, but no reason to draw again
]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_what_opendp_answers_is_released(row, monkeypatch, tmp_path):
    opendp = OpenDP(monkeypatch, ANSWERS[ROWS.index(row) % len(ANSWERS)])
    rng = np.random.default_rng(ROWS.index(row))
    users, values = table(row, kinds_of(row, rng), rng)
    made, warned = quiet_release(row, users, values, tmp_path)
    check_budget(row, made.eps, [words for kind, words in warned if kind is UserWarning], opendp)
    answers = [opendp.answer(*asked) for asked in opendp.asked]
    check = check_protected if row["entry"] == "protected" else check_mean
    check(row, made, users, values, opendp.asked, answers)
    if row["entry"] != "sums":
        check_shown(made)


def quiet_release(*arguments):
    """Return a release, and what it warns of."""
    call = release_of(*arguments)
    with warnings.catch_warnings(action="always", record=True) as caught:
        warnings.simplefilter("ignore", ResourceWarning)  # of what others left behind
        made = call()
    return made, [(w.category, str(w.message)) for w in caught]


def check_budget(row, spent, warned, opendp):
    """All of it is spent if there is noise; none is stated where counts depend on the values."""
    dropping = row["entry"] == "mean" and "drop" in (row["missing"], row["outside"])
    assert [words.startswith("`eps` is not stated") for words in warned] == [True] * dropping
    eps = float(Fraction(EPS[row["eps"]])) if any(scale for scale, _ in opendp.asked) else 0.0
    assert spent == (None if dropping else pytest.approx(eps, rel=1e-12))
    assert dropping or spent <= eps * (1 + 1e-15)


def check_mean(row, made, users, values, asked, answers):
    """One draw, at the scale that the promise demands, for the total that is meant."""
    ((scale, total),), (answer,) = asked, answers
    exact, demanded = clipped_mean(row, users, values)
    if demanded == 0:  # the best is to release the centre
        assert (made.noise_scale, scale, total) == (0, 0, 0)
        return
    middle, unit = centre_of(row), demanded / scale
    assert made.noise_scale == pytest.approx(demanded, rel=1e-6)
    moved = Fraction(scale) * Fraction(EPS[row["eps"]])
    assert moved == pytest.approx(round(moved), rel=1e-12)
    assert middle + total * unit == pytest.approx(exact, rel=1e-14, abs=len(users) * unit)
    unit = made.noise_scale / scale  # the same, in all digits
    low, high = (-inf, inf) if not row.get("project") else numbers_of(row)[:2]
    assert made.mean == pytest.approx(min(max(middle + answer * unit, low), high), rel=1e-13)


def check_protected(row, made, users, values, asked, answers):
    """Two draws, one for the sum and one for the weight."""
    low, high, _, _ = numbers_of(row)
    assert made.centre == pytest.approx(centre_of(row), abs=made.step)
    furthest = max(made.centre - low, high - made.centre)
    reach = (high - low) / 8 if row["reach"] == "given" else furthest
    assert made.reach == pytest.approx(reach, abs=made.step)
    exact = clipped_totals(row, made.reach, users, values)
    step = made.sum_scale / asked[0][0]
    checks = zip(asked, exact, (step, 1), (len(users) * step, 0), strict=True)
    for (scale, total), (sound, demanded), unit, error in checks:
        assert scale * unit == pytest.approx(demanded, rel=1e-12)
        assert total * unit == pytest.approx(sound, abs=error)
    assert [made.sum_scale, made.weight_scale] == pytest.approx([exact[0][1], exact[1][1]])
    assert [made.noisy_sum, made.noisy_weight] == [answers[0] * made.step, answers[1]]
    mean = made.centre + made.noisy_sum / max(made.noisy_weight, 1)
    assert made.mean == min(max(mean, low), high)


def check_shown(made):
    """The mean is what is shown, published and put into an interval."""
    published, (low, high) = json.loads(made.public_json()), made.interval()
    assert made.public() == published
    assert published["mean"] == made.mean
    assert f"{made.mean:.6g}" in repr(made).splitlines()[0]
    assert f"<td>{made.mean:.6g}</td>" in made._repr_html_()
    assert published["interval_95"] == [low, high]
    assert low <= made.mean <= high
    if not getattr(made, "project", True):
        assert (low + high) / 2 == pytest.approx(made.mean, rel=1e-9)


# 2. On neighbouring tables nothing but that answer differs.


def neighbours(row, rng):
    """Return pairs of tables that differ in one user, with whether they are to be refused."""
    pairs, protecting = [], row["entry"] == "protected"
    for _ in range(2):
        kinds = kinds_of(row, rng)
        other = kinds[:-3] + kinds_of(row, rng, dropped=0)
        if protecting:  # other counts, too
            other = kinds_of(row, rng, dropped=3)[2:]
        pairs.append((kinds, other, False))
    if protecting and row["users"] == "many":
        pairs.append(([], kinds_of(row, rng), False))
    for what in ("missing", "outside"):
        if row.get(what) == "refuse":
            pairs.append((["inside", what, what], ["inside", "inside", what], True))
    return [([table(row, kinds, rng) for kinds in pair], refused) for *pair, refused in pairs]


class Refusal(NamedTuple):
    """What a refusal says, and the errors that hang on it."""

    words: tuple


class Seen(NamedTuple):
    """All that can be seen of a call."""

    made: object
    warned: list
    scales: list
    logged: list
    slept: list
    printed: tuple
    left_behind: dict


@pytest.fixture
def observed(monkeypatch, capfd):
    """Return a function that makes a release, and returns all that can be seen of it."""
    logged, slept, here, sleep = [], [], current_thread(), time.sleep
    ours = lambda: current_thread() is here  # noqa: E731  # what other threads do is their matter
    monkeypatch.setattr(logging.Logger, "isEnabledFor", lambda self, level: ours())
    monkeypatch.setattr(logging.Logger, "handle", lambda _, record: logged.append(record))
    monkeypatch.setattr(time, "sleep", lambda s: slept.append(s) if ours() else sleep(s))
    opendp = OpenDP(monkeypatch, lambda scale, total: round(0.75 * scale) + 1)

    def look(*arguments):
        for entries in (logged, slept, opendp.asked):
            entries.clear()
        try:
            made, warned = quiet_release(*arguments)
            seen = everything_of(made)
        except (TypeError, ValueError) as error:
            seen, warned = Refusal(words_of(error)), []
        scales = [scale for scale, _ in opendp.asked]
        words = [record.getMessage() for record in logged]
        return Seen(seen, warned, scales, words, [*slept], capfd.readouterr(), left_behind())

    return look


def everything_of(made):
    """Return all that a result holds, shows, publishes and pickles, by name."""
    found = {name: getattr(made, name) for name in dir(made) if not name.startswith("__")}
    calls = {name: found[name]() for name in NAMES if name in found}
    if hasattr(made, "worst_case_l1") and callable(made.worst_case_l1):
        calls["worst_case_l1"] = made.worst_case_l1(10.0)
    held = {name: repr(thing) for name, thing in found.items() if not callable(thing)}
    return [held, calls, repr(made), repr(getattr(made, "__dict__", None)), pickle.dumps(made)]


def words_of(error):
    if error is None:
        return ()
    said = type(error), str(error), repr(error.args), getattr(error, "__notes__", [])
    return said, words_of(error.__cause__), words_of(error.__context__)


def left_behind():
    """Return what the modules of the wing hold beside functions and classes."""
    return {
        f"{module}.{name}": repr(thing)
        for module in sorted(sys.modules)
        if module.startswith("userdp.practice.")
        for name, thing in vars(sys.modules[module]).items()
        if not name.startswith("__") and not callable(thing)
    }


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_neighbours_look_the_same(row, observed, tmp_path):
    rng = np.random.default_rng(ROWS.index(row))
    for pair, refused in neighbours(row, rng):
        one, other = (observed(row, users, values, tmp_path) for users, values in pair)
        assert one == other
        assert isinstance(one.made, Refusal) == refused
        assert len(one.scales) == (0 if refused else 2 if row["entry"] == "protected" else 1)
        assert (one.logged, one.slept) == ([], [])


@pytest.mark.parametrize("kind", ["lists", "CSV"])
def test_text_that_is_no_number_is_not_quoted(kind, observed, tmp_path):
    row = next(row for row in ROWS if row["entry"] == "mean" and row["input"] == kind)
    users = ["a", "a", "b", "c"]
    values = [[0.1, secret, 0.1, 0.1005] for secret in ("secret", "none of this", "7 km")]
    if kind == "CSV":
        values = [[*map(str, column)] for column in values]
    one, *others = (observed(row, users, column, tmp_path) for column in values)
    assert isinstance(one.made, Refusal)
    assert all(other == one for other in others)


# 3. Releases follow OpenDP's law, with OpenDP's own noise, which takes no seed.

FALSE_ALARM = 1e-6
"""The chance that sound code fails this file: all tests below share it (a union bound)."""

NEAR = 2.0**-12
"""Of a release so near to the mean without noise, in scales, it is suspected that it has none."""

MOST_GROUPS = 30
ALARM = FALSE_ALARM / (3 * 4 * MOST_GROUPS)
"""Of each of three tests on each group of releases of four entry points."""

ENOUGH = 1200
"""Releases of a group: with fewer the power is too small."""

REPEATS = {"mean": 110, "protected": 34, "measurement": 100, "sums": 120}
LAW = {
    entry: FACTORS[entry]
    | ({"cap": {30_000, 100_000}} if entry == "protected" else {"width": {"best", "given"}})
    for entry in FACTORS
}
"""Noise of many steps, which is as good as continuous: the steps are below `NEAR` scales."""


class Sample(NamedTuple):
    """Releases less the mean without noise, in scales that the noise must have."""

    sizes: np.ndarray
    positive: np.ndarray


def samples_of(row, users, values, folder, n, rng):
    """Make n releases, and return one sample for each number that has noise.

    Where a release was moved to a bound, its size is drawn from the law, given that it is larger.
    """
    call = release_of(row, users, values, folder)
    with warnings.catch_warnings(action="ignore"):
        made = [call() for _ in range(n)]
    low, high = (-inf, inf) if not row.get("project") else numbers_of(row)[:2]
    if row["entry"] == "protected":
        exact = clipped_totals(row, made[0].reach, users, values)
        found = np.array([[m.noisy_sum, m.noisy_weight] for m in made]).T
    else:
        exact, found = [clipped_mean(row, users, values)], np.array([[m.mean for m in made]])
    samples = []
    for numbers, (mean, scale) in zip(found, exact, strict=True):
        moved = (numbers == low) | (numbers == high)
        sizes = abs(numbers - mean) / scale + moved * rng.exponential(size=n)
        samples.append(Sample(sizes, (numbers > mean) | (numbers == high)))
    return samples


def chances(samples):
    """Return the chances of sizes, signs and so many zeros under the Laplace law."""
    sizes, positive = (np.concatenate(column) for column in zip(*samples, strict=True))
    n = sizes.size
    below = stats.gamma(n).cdf(sizes.sum())
    return [
        2 * min(below, 1 - below),
        stats.binomtest(int(positive.sum()), n).pvalue,
        stats.binom(n, NEAR).sf(int(np.count_nonzero(sizes < NEAR)) - 1),
    ]


def power(n, alarm):
    """Return how likely an alarm is if noise is off by 1.3, either way, or missing once in 50."""
    sizes, near = stats.gamma(n), stats.binom(n, NEAR).isf(alarm)
    found = sizes.sf(sizes.isf(alarm / 2) / 1.3), sizes.cdf(sizes.ppf(alarm / 2) * 1.3)
    return [*found, stats.binom(n, 1 / 50).sf(near)]


def grouped(entry, folder):
    """Return samples by entry, and by each option where there are enough of them."""
    groups, rng = defaultdict(list), np.random.default_rng(1)
    for row in pairwise(LAW[entry]):
        row = {"entry": entry} | row
        if row["users"] == "one" and "project" in row:
            row["project"] = False  # between the bounds there is little of the noise
        users, values = table(row, kinds_of(row, rng), rng, copies=30)
        if entry != "protected" and clipped_mean(row, users, values)[1] == 0:
            continue
        first, *others = samples_of(row, users, values, folder, REPEATS[entry], rng)
        for name, option in row.items():
            groups[name, option in ENGINES if name == "input" else option].append(first)
        for other in others:
            groups["entry", "weight"].append(other)
    return {key: group for key, group in groups.items() if len(group) * REPEATS[entry] >= ENOUGH}


def remember(monkeypatch):
    """Do once what gives the same each time, public or not: it is the noise that varies."""
    known = {}

    def read_once(*source):
        key = tuple(map(id, source))
        if key not in known:
            known[key] = read_records(*source), source  # held, so that no other has these ids
        return known[key][0]

    for module in (releases, protected):
        monkeypatch.setattr(module, "read_records", read_once)
    for name in ("survey", "clipped_total", "weighted_total"):
        monkeypatch.setattr(Queries, name, cache(getattr(Queries, name)))

    @cache
    def best(counts, upper, *options):
        return ud.threshold(ud.Contributions(counts, upper), *options)

    for module in (releases, sums):
        monkeypatch.setattr(
            module,
            "threshold",
            lambda users, *options: best((*users.counts,), users.upper, *options),
        )


@pytest.mark.parametrize("entry", LAW)
def test_releases_follow_the_law(entry, monkeypatch, tmp_path):
    remember(monkeypatch)
    groups = grouped(entry, tmp_path)
    assert ("entry", entry) in groups
    assert len(groups) <= MOST_GROUPS
    found = {key: chances(group) for key, group in groups.items()}
    assert {key: p for key, p in found.items() if min(p) < ALARM} == {}


def test_power_of_this_audit():
    """Numbers off the law are found with probability 0.99 and more: computed."""
    assert min(power(ENOUGH, ALARM)) > 0.99


PLANTED = {"sound": (1, 0), "too small": (1 / 1.3, 0), "none in one of fifty": (1, 1 / 50)}


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_faults_are_found(planted, monkeypatch, tmp_path):
    """Noise of a seed, so that this test has one outcome."""
    remember(monkeypatch)
    factor, share = PLANTED[planted]
    rng = np.random.default_rng(5)
    OpenDP(
        monkeypatch,
        lambda scale, total: (
            total + round((rng.random() >= share) * rng.laplace(0, factor * scale))
        ),
    )
    found = chances(grouped("sums", tmp_path)["entry", "sums"])
    assert (min(found) < ALARM) == (planted != "sound")
