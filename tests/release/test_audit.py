"""Every released number has OpenDP's noise, and nothing else of a release depends on the values.

Three audits over the rows of `configurations`: OpenDP's answer is replaced by a number that must
come out; tables that differ in one user must look the same, given the same answer; and releases
with OpenDP's own noise, which has no seed, must follow its law.
"""

import json
import pickle
import warnings
from collections import namedtuple
from functools import partial
from itertools import count
from math import inf

import configurations as conf
import numpy as np
import opendp.measurements
import pytest
from scipy import stats
from traces import calls_of

import userdp as ud
from userdp import beyond
from userdp.release import release_mean_in_ball

NAMES = ["interval", "noise_interval", "weight_interval", "public", "public_json", "_repr_html_"]
ENGINES = {"DuckDB", *conf.ENGINES}
NAMED = [
    pytest.param(
        row,
        id=" ".join(map(str, row.values())),
        marks=[pytest.mark.slow] * (row.get("input") in ENGINES),
    )
    for row in conf.ROWS
]
every_row = pytest.mark.parametrize("row", NAMED)


class OpenDP:
    """In the place of OpenDP's noise, at its own door: answers what it is told, and remembers."""

    def __init__(self, monkeypatch, answer):
        self.answer, self.asked = answer, []
        for name in ("make_laplace", "make_gaussian"):
            make = partial(self.make, getattr(opendp.measurements, name))
            monkeypatch.setattr(opendp.measurements, name, make)

    def make(self, real, *space, scale):
        made = real(*space, scale=scale)

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


# 1. What OpenDP answers is what is released; that 25.5 is rare is no reason to draw again.
ANSWERS = [lambda *_: 7, *(lambda scale, _, x=x: round(x * scale) for x in (-1.25, 25.5))]


@pytest.mark.slow
@every_row
def test_what_opendp_answers_is_released(row, monkeypatch, tmp_path):
    opendp = OpenDP(monkeypatch, ANSWERS[conf.ROWS.index(row) % len(ANSWERS)])
    rng = np.random.default_rng(conf.ROWS.index(row))
    users, values = conf.table(row, kinds_of(row, rng), rng)
    made, warned = quiet_release(row, users, values, tmp_path)
    # All of the budget is spent if there is noise; none is stated where counts depend on values.
    dropping = row["entry"] == "mean" and "drop" in (row["missing"], row["outside"])
    said = [words[:19] for kind, words in warned if kind is UserWarning]
    budget = "rho" if conf.gaussian(row) else "eps"
    assert said == [f"`{budget}` is not stated"] * dropping
    spent = 1 / conf.noise_of(row) if any(scale for scale, _ in opendp.asked) else 0.0
    stated, other = made.eps, getattr(made, "rho", None)
    if conf.gaussian(row):
        stated, other = other, stated
        spent = (spent * coarse(row, opendp.asked[0][0])) ** 2 / 2
    told = f"the budget is {spent!r}, and it is stated that {stated!r} is spent"
    assert stated == (None if dropping else pytest.approx(spent, rel=1e-12)), told
    assert dropping or stated <= spent * (1 + 1e-15), told
    assert other is None
    answers = [opendp.answer(*asked) for asked in opendp.asked]
    check = check_protected if row["entry"] == "protected" else check_mean
    check(row, made, users, values, opendp.asked, answers)
    if row["entry"] != "protected":
        check_certificate(row, made, users, values)
    check_shown(made)
    assert made.outside == row.get("outside", "refuse")
    assert made.missing == row.get("missing", "refuse")


def coarse(row, scale):
    """By how much Gaussian noise is scaled up for whole numbers: more than a little if few."""
    return (1 - 16 / scale**2) ** 0.5 if conf.gaussian(row) and scale else 1


def quiet_release(*arguments):
    call = conf.release_of(*arguments)
    with warnings.catch_warnings(action="always", record=True) as caught:
        warnings.simplefilter("ignore", ResourceWarning)  # of what others left behind
        made = call()
    return made, [(w.category, str(w.message)) for w in caught]


def check_mean(row, made, users, values, asked, answers):
    """One draw a part, at the scale that the promise demands, for the total that is meant."""
    low, high, _, _ = conf.numbers_of(row)
    parts, exact = conf.parts_of(row, users, values), conf.clipped_means(row, users, values)
    middle, mean, within = conf.centre_of(row), 0.0, 0.0
    everybody = sum(people.total for _, people, _, _ in parts)
    stated = [part.noise_scale for part in made.parts] or [made.noise_scale]
    assert sum(stated) == pytest.approx(made.noise_scale, rel=1e-12)
    for part, (sound, demanded), noise, (scale, total), answer in zip(
        parts, exact, stated, asked, answers, strict=True
    ):
        share = part[1].total / everybody
        if demanded == 0:  # the best is to release the centre
            assert (noise, scale, total) == (0, 0, 0)
            mean += share * middle
            continue
        exactly = scale * coarse(row, scale)
        unit, moved = demanded / exactly, exactly / conf.noise_of(row)
        assert noise * coarse(row, scale) == pytest.approx(share * demanded, rel=1e-6)
        assert moved == pytest.approx(round(moved), rel=1e-12)
        assert middle + total * unit == pytest.approx(sound, rel=1e-14, abs=len(users) * unit)
        unit = noise / share / scale  # the same, in all digits
        noisy = middle + answer * unit
        if row["project"]:
            noisy = min(max(noisy, low), high)
        elif not conf.gaussian(row):
            within = len(users) * unit  # as ends are whole numbers of steps
            noisy = averaged(part, low, noisy, unit / -np.expm1(-1 / scale))
        mean += share * noisy
    told = f"noise of the scale that is demanded, {made.noise_scale:.6g}, makes {mean!r} of it"
    assert made.mean == pytest.approx(mean, rel=1e-13, abs=within), told


def averaged(part, lower, noisy, outside):
    """Return the mean of the noise where it led beyond all means of clipped users."""
    _, people, _, clipping = part
    ends = [lower + people.counts @ end / people.total for end in (clipping.lower, clipping.upper)]
    if noisy < ends[0]:
        return ends[0] - outside
    return ends[1] + outside if noisy > ends[1] else noisy


def check_certificate(row, made, users, values):
    """By the theory for the clipping that is stated; bounds of the release bound its errors."""
    low, high, _, _ = conf.numbers_of(row)
    parts, law, width = conf.parts_of(row, users, values), conf.BUDGETS[row["eps"]], high - low
    counts = np.concatenate([people.counts for _, people, _, _ in parts])
    assert (made.n_records, made.n_users) == (counts.sum(), counts.size)
    assert (made.lower, made.upper, made.objective) == (low, high, row["objective"])
    assert (made.centre, made.project) == (pytest.approx(conf.centre_of(row)), row["project"])
    assert (made.parts == ()) == ("parts" not in made.public()) == (len(parts) == 1)
    small = {"rel": 1e-6, "abs": 1e-6 * width}
    bias = bound = error = 0.0
    widths, clips = [], []
    for (names, people, S, clipping), part in zip(parts, made.parts or [None], strict=True):
        share = people.total / counts.sum()
        widths.append(min(S, 2 * people.max_count * width))  # no sum reaches further
        its_bias = share * ud.worst_case_bias(people, clipping)
        errors = [beyond.worst_case_error(people, clipping, law, kind) for kind in ("bound", "l1")]
        if row["project"]:
            errors = np.minimum(errors, width)
            if row["centre"] == "middle":
                errors[1] = min(errors[1], beyond.projected_error(people, S, law))
        bias, bound, error = np.add([bias, bound, error], [its_bias, *np.multiply(share, errors)])
        ends = zip(people.counts, clipping.lower + low, clipping.upper + low, strict=True)
        clips += sorted({*ends}, reverse=True)
        if part is not None:
            assert part[:3] == (people.counts.min(), len(names), people.total)
            assert part.total_width == pytest.approx(widths[-1], **small)
            assert part.worst_case_bias == pytest.approx(its_bias, **small)
    assert made.total_width == pytest.approx(max(widths), **small)
    assert made.worst_case_bias == pytest.approx(bias, **small)
    most = width if row["project"] else inf
    assert made.worst_case_bound == pytest.approx(min(bound + made.rounding, most), **small)
    assert made.worst_case_error == pytest.approx(min(error + made.rounding, most), **small)
    for clip, (size, *ends) in zip(made.clips, clips, strict=True):
        assert clip[:2] == (size, counts.tolist().count(size))
        assert clip[2:] == pytest.approx(ends, **small)


def check_protected(row, made, users, values, asked, answers):
    low, high, _, _ = conf.numbers_of(row)
    assert made.centre == pytest.approx(conf.centre_of(row), abs=made.step)
    furthest = max(made.centre - low, high - made.centre)
    reach = (high - low) / 8 if row["reach"] == "given" else furthest
    assert made.reach == pytest.approx(reach, abs=made.step)
    exact = conf.clipped_totals(row, made.reach, users, values)
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
    published, (low, high) = json.loads(made.public_json()), made.interval()
    assert made.public() == published
    assert f"{made.mean:.6g}" in repr(made).splitlines()[0]
    assert f"<td>{made.mean:.6g}</td>" in made._repr_html_()
    assert [published["mean"], *published["interval_95"]] == [made.mean, low, high]
    assert low <= made.mean <= high
    if not getattr(made, "project", True):
        least, most = made.clipped_range if made.sigma is None else (-inf, inf)
        near = min(max(made.mean, least), most)
        assert (low + high) / 2 == pytest.approx(near, rel=1e-9, abs=1e-12)


# 2. On neighbouring tables nothing but that answer differs.
def neighbours(row, rng):
    """Return pairs of tables that differ in one user, with whether they are to be refused."""
    pairs, protecting = [], row["entry"] == "protected"
    for _ in range(2):
        # With protected counts these are others, too.
        other = kinds_of(row, rng, dropped=3)[2:] if protecting else kinds_of(row, rng)
        pairs.append((kinds_of(row, rng), other, False))
    if protecting and row["users"] == "many":
        pairs.append(([], kinds_of(row, rng), False))
    for what in ("missing", "outside"):
        if row.get(what) == "refuse":
            pairs.append((["inside", what, what], ["inside", "inside", what], True))
    return [([conf.table(row, kinds, rng) for kinds in pair], refused) for *pair, refused in pairs]


Seen = namedtuple("Seen", "made refused warned scales logged printed")


@pytest.fixture
def observed(monkeypatch, capfd, caplog):
    caplog.set_level("NOTSET")
    opendp = OpenDP(monkeypatch, lambda scale, total: round(0.75 * scale) + 1)

    def look(*arguments):
        caplog.clear()
        opendp.asked.clear()
        try:
            made, warned = quiet_release(*arguments)
            seen, refused = everything_of(made), False
        except (TypeError, ValueError) as error:
            seen, refused, warned = words_of(error), True, []
        scales = [scale for scale, _ in opendp.asked]
        # Where tests of Spark ran before, its bridge says when it collects garbage.
        logs = [log.getMessage() for log in caplog.records if not log.name.startswith("py4j.")]
        return Seen(seen, refused, warned, scales, logs, capfd.readouterr())

    return look


def everything_of(made):
    """Return all that a result holds, shows, publishes and pickles, by name."""
    found = {name: getattr(made, name) for name in dir(made) if not name.startswith("__")}
    calls = {name: found[name]() for name in NAMES if name in found}
    if "worst_case_error_at" in found:
        calls["worst_case_error_at"] = made.worst_case_error_at(10.0)
    held = {name: repr(thing) for name, thing in found.items() if not callable(thing)}
    return [held, calls, repr(made), repr(getattr(made, "__dict__", None)), pickle.dumps(made)]


def words_of(error):
    if error is None:
        return []
    said = [type(error), str(error), repr(error.args), getattr(error, "__notes__", [])]
    return said + words_of(error.__cause__) + words_of(error.__context__)


@every_row
def test_neighbours_look_the_same(row, observed, tmp_path):
    rng = np.random.default_rng(conf.ROWS.index(row))
    for pair, refused in neighbours(row, rng):
        one, other = (observed(row, users, values, tmp_path) for users, values in pair)
        apart = [name for name in Seen._fields if getattr(one, name) != getattr(other, name)]
        assert not apart, f"neighbours are told apart by what is {' and '.join(apart)}"
        assert one.refused == refused, f"to be {'refused' if refused else 'released'}: {pair[0]}"
        if refused:
            assert one.scales == []
        elif row["entry"] == "protected":
            assert len(one.scales) == 2
        else:
            assert len(one.scales) == len(conf.parts_of(row, *pair[0])) in (1, 2)
            assert row not in conf.PARTS or len(one.scales) == 2
        assert one.logged == []


# 3. Noise is added every time; and OpenDP's own, which takes no seed, has its law.
NOISY = [
    (entry, eps)
    for entry, factors in conf.FACTORS.items()
    for eps in ("text", "zCDP")
    if eps in factors["eps"]
]
with_every_noise = pytest.mark.parametrize(("entry", "eps"), NOISY)
ALARM = 1e-6 / (2 * 8)  # of each of two tests of each of the eight numbers that have noise


def releases_of(entry, eps, folder, n):
    """Return n releases, and what they would be without noise, with the scale that it must have.

    The noise has so many steps that it is as good as continuous. The releases come first.
    """
    row = {"users": "many", "bounds": "usual", "eps": eps, "centre": "off", "objective": "l1"}
    row |= {"width": "given", "project": False, "cap": 1000, "reach": "given"}
    row |= {"entry": entry, "input": "lists", "missing": "centre", "outside": "clamp"}
    users, values = conf.table(row, ["inside"] * 3, np.random.default_rng(1), copies=5)
    call = conf.release_of(row, users, values, folder)
    made = [call() for _ in range(n)]
    if entry == "protected":
        exact = conf.clipped_totals(row, made[0].reach, users, values)
        return made, np.array([[m.noisy_sum, m.noisy_weight] for m in made]).T, exact
    return made, np.array([[m.mean for m in made]]), conf.clipped_means(row, users, values)


def drawn_again(made, numbers, scale):
    """Return noise as it was before it was averaged beyond the range of clipped means.

    It is drawn again there: the law has no memory.
    """
    low, high = made[0].clipped_range
    again = np.random.default_rng(7).exponential(scale, numbers.size)
    for averaged, drawn in ((numbers < low, low - again), (numbers > high, high + again)):
        assert np.unique(numbers[averaged]).size <= 1
        numbers = np.where(averaged, drawn, numbers)
    return numbers


@pytest.mark.slow
@with_every_noise
def test_noise_is_added_every_time(entry, eps, monkeypatch, tmp_path):
    """Left out of one release in fifty, it would be missed with a chance of 3 in 10,000."""
    answers = count(0, 2**30)
    OpenDP(monkeypatch, lambda *_: next(answers))
    for numbers in releases_of(entry, eps, tmp_path, 400)[1]:
        np.testing.assert_allclose(np.diff(numbers), numbers[1] - numbers[0], rtol=1e-6)


@pytest.mark.slow
@with_every_noise
def test_releases_follow_the_law(entry, eps, tmp_path):
    """Of noise of three quarters of the scale, the p-value of the sizes would be about 10^-9."""
    made, found, exact = releases_of(entry, eps, tmp_path, 1000)
    for numbers, (mean, scale) in zip(found, exact, strict=True):
        if entry != "protected" and eps in conf.EPS:
            numbers = drawn_again(made, numbers, scale)
        law = "expon" if eps in conf.EPS else "halfnorm"
        assert stats.kstest(abs(numbers - mean) / scale, law).pvalue > ALARM
        assert stats.binomtest(sum(numbers > mean), 1000).pvalue > ALARM


# 4. The same beyond every size at which code may take another way, and where there is no variety.
SIZES = {
    "20,001 users": 5_000,
    "80,001 users": 20_000,
}  # more than 16 bits, and than a part of rows
VALUES = {"values all alike": True, "values of all sorts": False}
LARGE = [(entry, kind) for entry in ("mean", "protected") for kind in ("numpy", "Ibis", "Parquet")]
LARGE += [("measurement", None), ("sums", None)]
LARGE = [(*way, eps) for way in LARGE for eps in ("text", "zCDP") if (way[0], eps) in NOISY]


def with_every_size(test):
    test = pytest.mark.parametrize("copies", SIZES.values(), ids=SIZES)(test)
    return pytest.mark.parametrize("alike", VALUES.values(), ids=VALUES)(test)


@pytest.mark.slow
@with_every_size
@pytest.mark.parametrize(("entry", "kind", "eps"), LARGE)
def test_large_tables_are_clipped_and_noised_like_small_ones(
    entry, kind, eps, copies, alike, monkeypatch, tmp_path
):
    """The numbers are checked as those of the small tables above; most users are clipped."""
    opendp = OpenDP(monkeypatch, ANSWERS[1])
    row = {"entry": entry, "input": kind, "eps": eps, "bounds": "usual", "centre": "off"}
    row |= {"objective": "bound", "width": "narrow", "project": False}
    row |= {"cap": 3, "reach": "given", "missing": "refuse", "outside": "refuse"}
    users, values = conf.large_table(row, copies, alike)
    made, _ = quiet_release(row, users, values, tmp_path)
    answers = [opendp.answer(*asked) for asked in opendp.asked]
    check = check_protected if entry == "protected" else check_mean
    check(row, made, users, values, opendp.asked, answers)
    if entry != "protected":
        check_certificate(row, made, users, values)


@pytest.mark.parametrize("alike", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("d", [65, 200], ids="{} coordinates".format)
@pytest.mark.parametrize("n_users", [5, 20_001], ids="{} users".format)
def test_long_vectors_of_many_users_are_clipped_and_noised_like_short_ones(
    n_users, d, alike, monkeypatch
):
    law, rng = beyond.GaussianNoise(0.1), np.random.default_rng(d)
    noise = np.arange(1, d + 1) * 10**6
    opendp = OpenDP(monkeypatch, lambda _, total: (total + noise).tolist())
    users = ud.Contributions([9, *[2] * (n_users - 1)], upper=2.0)
    ways = np.ones((n_users, d)) if alike else rng.normal(size=(n_users, d))
    sums = ways * (users.counts / np.linalg.norm(ways, axis=1))[:, None]
    made = release_mean_in_ball(sums, users, law)
    ((scale, total),) = opendp.asked
    assert made.radius == 2  # the largest user is clipped
    assert made.sensitivity == 4 / users.total
    assert made.noise_scale == pytest.approx(law.sigma * made.sensitivity, rel=1e-9)
    kept = sums * np.minimum(1, 2 / users.counts)[:, None]
    step = made.noise_scale / scale
    off = np.multiply(total, step) - kept.sum(axis=0) / users.total
    assert np.linalg.norm(off) <= n_users * (1 + d**0.5) * step
    np.testing.assert_allclose(made.mean, (total + noise) * step, rtol=1e-12)


# 5. Time is not promised; but nothing is called for one user that is not called for another.
CLIPPED = {"nobody": [0.5, 0.5], "one at the top": [1, 0.5], "one below": [0, 0.5], "all": [1, 1]}


@pytest.mark.parametrize("entry", [*conf.FACTORS, "vectors"])
def test_the_functions_called_do_not_depend_on_who_is_clipped(entry, monkeypatch, tmp_path):
    OpenDP(monkeypatch, lambda _, total: np.zeros_like(total).tolist())
    row = {"entry": entry, "input": "numpy", "eps": "text", "bounds": "usual", "centre": "middle"}
    row |= {"objective": "bound", "width": "narrow", "project": True}
    row |= {"cap": 3, "reach": "given", "missing": "refuse", "outside": "refuse"}
    low, high, _, _ = conf.numbers_of(row)
    users, vectors = np.repeat(np.arange(40), 5), ud.Contributions([9, *[2] * 39], upper=2.0)
    seen = {}
    for who, ends in CLIPPED.items():
        shares = np.repeat(ends, [5, 195])
        if entry == "vectors":
            sums = (2 * shares[::5] - 1)[:, None] * [[1.0, 0.0]] * vectors.counts[:, None]
            release = partial(release_mean_in_ball, sums, vectors, beyond.GaussianNoise(1))
        else:
            release = conf.release_of(row, users, low + shares * (high - low), tmp_path)
        seen[who] = calls_of(release)
    assert len(seen["nobody"]) > 60
    assert seen == dict.fromkeys(CLIPPED, seen["nobody"])
