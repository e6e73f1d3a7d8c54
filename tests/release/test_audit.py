"""Every released number has OpenDP's noise, and nothing else of a release depends on the values.

There are three audits over the rows of `configurations`. OpenDP's output is replaced by a number,
which must be released. Tables that differ in one user must give equal results for equal outputs.
Releases with OpenDP's actual noise, which has no seed, must follow its law.
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

METHODS = ["interval", "noise_interval", "weight_interval", "public", "public_json", "_repr_html_"]
ENGINES = {"DuckDB", *conf.ENGINES}
ROW_PARAMS = [
    pytest.param(
        row,
        id=" ".join(map(str, row.values())),
        marks=[pytest.mark.slow] * (row.get("input") in ENGINES),
    )
    for row in conf.ROWS
]
every_row = pytest.mark.parametrize("row", ROW_PARAMS)


class OpenDP:
    """Replaces OpenDP's noise: computes the output by a given function, and records requests."""

    def __init__(self, monkeypatch, output):
        self.output, self.requests = output, []
        for name in ("make_laplace", "make_gaussian"):
            make = partial(self.make, getattr(opendp.measurements, name))
            monkeypatch.setattr(opendp.measurements, name, make)

    def make(self, real, *space, scale):
        result = real(*space, scale=scale)

        def draw(total):
            self.requests.append((scale, total))
            return self.output(scale, total)

        draw.map = result.map
        return draw


def kinds_of(row, rng, n_dropped=1):
    """Return kinds of values of one user: those that are dropped, then three that are kept."""
    allowed = {"outside": "clamp", "missing": "centre"}
    kept = ["inside", *(what for what, rule in allowed.items() if row.get(what) == rule)]
    gone = [what for what in allowed if row.get(what) == "drop"]
    return gone * n_dropped + [kept[i] for i in rng.integers(len(kept), size=3)]


# 1. OpenDP's output is released, even an unlikely one, such as 25.5 times the scale.
OUTPUTS = [lambda *_: 7, *(lambda scale, _, x=x: round(x * scale) for x in (-1.25, 25.5))]


@pytest.mark.slow
@every_row
def test_the_output_of_opendp_is_released(row, monkeypatch, tmp_path):
    opendp = OpenDP(monkeypatch, OUTPUTS[conf.ROWS.index(row) % len(OUTPUTS)])
    rng = np.random.default_rng(conf.ROWS.index(row))
    users, values = conf.table(row, kinds_of(row, rng), rng)
    result, warned = quiet_release(row, users, values, tmp_path)
    # The whole budget is spent if there is noise; it is not stated if counts depend on values.
    dropping = row["entry"] == "mean" and "drop" in (row["missing"], row["outside"])
    warnings_shown = [words[:19] for kind, words in warned if kind is UserWarning]
    budget = "rho" if conf.is_gaussian(row) else "eps"
    assert warnings_shown == [f"`{budget}` is not stated"] * dropping
    spent = 1 / conf.noise_of(row) if any(scale for scale, _ in opendp.requests) else 0.0
    stated, other = result.eps, getattr(result, "rho", None)
    if conf.is_gaussian(row):
        stated, other = other, stated
        spent = (spent * scale_ratio(row, opendp.requests[0][0])) ** 2 / 2
    message = f"the budget is {spent!r}, but the release states {stated!r}"
    assert stated == (None if dropping else pytest.approx(spent, rel=1e-12)), message
    assert dropping or stated <= spent * (1 + 1e-15), message
    assert other is None
    outputs = [opendp.output(*request) for request in opendp.requests]
    check = check_protected if row["entry"] == "protected" else check_mean
    check(row, result, users, values, opendp.requests, outputs)
    if row["entry"] != "protected":
        check_guarantee(row, result, users, values)
    check_shown(result)
    assert result.outside == row.get("outside", "refuse")
    assert result.missing == row.get("missing", "refuse")


def scale_ratio(row, scale):
    """The scale of continuous Gaussian noise over that of the wider noise for whole numbers."""
    return (1 - 16 / scale**2) ** 0.5 if conf.is_gaussian(row) and scale else 1


def quiet_release(*arguments):
    call = conf.release_call(*arguments)
    with warnings.catch_warnings(action="always", record=True) as caught:
        warnings.simplefilter("ignore", ResourceWarning)  # caused by other tests
        result = call()
    return result, [(w.category, str(w.message)) for w in caught]


def check_mean(row, result, users, values, requests, outputs):
    """Check that each part has one draw, with the required scale and the right total."""
    low, high, _, _ = conf.numbers_of(row)
    parts, exact = conf.parts_of(row, users, values), conf.clipped_means(row, users, values)
    centre, mean, tolerance = conf.centre_of(row), 0.0, 0.0
    n_records = sum(people.total for _, people, _, _ in parts)
    stated = [part.noise_scale for part in result.parts] or [result.noise_scale]
    assert sum(stated) == pytest.approx(result.noise_scale, rel=1e-12)
    for part, (exact_mean, required), noise, (scale, total), output in zip(
        parts, exact, stated, requests, outputs, strict=True
    ):
        share = part[1].total / n_records
        if required == 0:  # the centre is released
            assert (noise, scale, total) == (0, 0, 0)
            mean += share * centre
            continue
        continuous = scale * scale_ratio(row, scale)
        unit, moved = required / continuous, continuous / conf.noise_of(row)
        assert noise * scale_ratio(row, scale) == pytest.approx(share * required, rel=1e-6)
        assert moved == pytest.approx(round(moved), rel=1e-12)
        assert centre + total * unit == pytest.approx(exact_mean, rel=1e-14, abs=len(users) * unit)
        unit = noise / share / scale  # with all digits
        noisy = centre + output * unit
        if row["project"]:
            noisy = min(max(noisy, low), high)
        elif not conf.is_gaussian(row):
            tolerance = len(users) * unit  # as ends are whole numbers of steps
            noisy = averaged(part, low, noisy, unit / -np.expm1(-1 / scale))
        mean += share * noisy
    message = f"noise of the required scale, {result.noise_scale:.6g}, should give {mean!r}"
    assert result.mean == pytest.approx(mean, rel=1e-13, abs=tolerance), message


def averaged(part, lower, noisy, excess):
    """Return the noisy mean; beyond the range of clipped means, its end plus the mean excess."""
    _, people, _, clipping = part
    ends = [lower + people.counts @ end / people.total for end in (clipping.lower, clipping.upper)]
    if noisy < ends[0]:
        return ends[0] - excess
    return ends[1] + excess if noisy > ends[1] else noisy


def check_guarantee(row, result, users, values):
    """Check the guarantee by the theory for the stated clipping, limited by the bounds."""
    low, high, _, _ = conf.numbers_of(row)
    parts, law, width = conf.parts_of(row, users, values), conf.BUDGETS[row["eps"]], high - low
    counts = np.concatenate([people.counts for _, people, _, _ in parts])
    assert (result.n_records, result.n_users) == (counts.sum(), counts.size)
    assert (result.lower, result.upper, result.objective) == (low, high, row["objective"])
    assert (result.centre, result.project) == (pytest.approx(conf.centre_of(row)), row["project"])
    assert (result.parts == ()) == ("parts" not in result.public()) == (len(parts) == 1)
    tolerance = {"rel": 1e-6, "abs": 1e-6 * width}
    bias = bound = error = 0.0
    widths, clips = [], []
    for (names, people, S, clipping), part in zip(parts, result.parts or [None], strict=True):
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
            assert part.total_width == pytest.approx(widths[-1], **tolerance)
            assert part.worst_case_bias == pytest.approx(its_bias, **tolerance)
    assert result.total_width == pytest.approx(max(widths), **tolerance)
    assert result.worst_case_bias == pytest.approx(bias, **tolerance)
    limit = width if row["project"] else inf
    assert result.worst_case_bound == pytest.approx(
        min(bound + result.rounding, limit), **tolerance
    )
    assert result.worst_case_error == pytest.approx(
        min(error + result.rounding, limit), **tolerance
    )
    for clip, (size, *ends) in zip(result.clips, clips, strict=True):
        assert clip[:2] == (size, counts.tolist().count(size))
        assert clip[2:] == pytest.approx(ends, **tolerance)


def check_protected(row, result, users, values, requests, outputs):
    low, high, _, _ = conf.numbers_of(row)
    assert result.centre == pytest.approx(conf.centre_of(row), abs=result.step)
    furthest = max(result.centre - low, high - result.centre)
    reach = (high - low) / 8 if row["reach"] == "given" else furthest
    assert result.reach == pytest.approx(reach, abs=result.step)
    exact = conf.clipped_totals(row, result.reach, users, values)
    step = result.sum_scale / requests[0][0]
    checks = zip(requests, exact, (step, 1), (len(users) * step, 0), strict=True)
    for (scale, total), (exact_total, required), unit, error in checks:
        assert scale * unit == pytest.approx(required, rel=1e-12)
        assert total * unit == pytest.approx(exact_total, abs=error)
    assert [result.sum_scale, result.weight_scale] == pytest.approx([exact[0][1], exact[1][1]])
    assert [result.noisy_sum, result.noisy_weight] == [outputs[0] * result.step, outputs[1]]
    mean = result.centre + result.noisy_sum / max(result.noisy_weight, 1)
    assert result.mean == min(max(mean, low), high)


def check_shown(result):
    published, (low, high) = json.loads(result.public_json()), result.interval()
    assert result.public() == published
    assert f"{result.mean:.6g}" in repr(result).splitlines()[0]
    assert f"<td>{result.mean:.6g}</td>" in result._repr_html_()
    assert [published["mean"], *published["interval_95"]] == [result.mean, low, high]
    assert low <= result.mean <= high
    if not getattr(result, "project", True):
        lowest, limit = result.clipped_range if result.sigma is None else (-inf, inf)
        near = min(max(result.mean, lowest), limit)
        assert (low + high) / 2 == pytest.approx(near, rel=1e-9, abs=1e-12)


# 2. On neighbouring tables only that output differs.
def neighbours(row, rng):
    """Return pairs of tables that differ in one user, and whether they must be refused."""
    pairs, protecting = [], row["entry"] == "protected"
    for _ in range(2):
        # With protected counts, these are neighbours as well.
        other = kinds_of(row, rng, n_dropped=3)[2:] if protecting else kinds_of(row, rng)
        pairs.append((kinds_of(row, rng), other, False))
    if protecting and row["users"] == "many":
        pairs.append(([], kinds_of(row, rng), False))
    for what in ("missing", "outside"):
        if row.get(what) == "refuse":
            pairs.append((["inside", what, what], ["inside", "inside", what], True))
    return [([conf.table(row, kinds, rng) for kinds in pair], refused) for *pair, refused in pairs]


Observed = namedtuple("Observed", "result is_refused warnings scales logs output")


@pytest.fixture
def observed(monkeypatch, capfd, caplog):
    caplog.set_level("NOTSET")
    opendp = OpenDP(monkeypatch, lambda scale, total: round(0.75 * scale) + 1)

    def observe(*arguments):
        caplog.clear()
        opendp.requests.clear()
        try:
            result, warned = quiet_release(*arguments)
            contents, refused = everything_of(result), False
        except (TypeError, ValueError) as error:
            contents, refused, warned = words_of(error), True, []
        scales = [scale for scale, _ in opendp.requests]
        # After tests of Spark, py4j logs its garbage collection.
        logs = [log.getMessage() for log in caplog.records if not log.name.startswith("py4j.")]
        return Observed(contents, refused, warned, scales, logs, capfd.readouterr())

    return observe


def everything_of(result):
    """Return everything that a result holds, shows, publishes and pickles, by name."""
    attributes = {name: getattr(result, name) for name in dir(result) if not name.startswith("__")}
    calls = {name: attributes[name]() for name in METHODS if name in attributes}
    if "worst_case_error_at" in attributes:
        calls["worst_case_error_at"] = result.worst_case_error_at(10.0)
    reprs = {name: repr(thing) for name, thing in attributes.items() if not callable(thing)}
    return [
        reprs,
        calls,
        repr(result),
        repr(getattr(result, "__dict__", None)),
        pickle.dumps(result),
    ]


def words_of(error):
    if error is None:
        return []
    texts = [type(error), str(error), repr(error.args), getattr(error, "__notes__", [])]
    return texts + words_of(error.__cause__) + words_of(error.__context__)


@every_row
def test_neighbours_cannot_be_told_apart_without_the_output(row, observed, tmp_path):
    rng = np.random.default_rng(conf.ROWS.index(row))
    for pair, refused in neighbours(row, rng):
        one, other = (observed(row, users, values, tmp_path) for users, values in pair)
        apart = [name for name in Observed._fields if getattr(one, name) != getattr(other, name)]
        assert not apart, f"neighbours differ in {' and '.join(apart)}"
        assert one.is_refused == refused, f"to be {'refused' if refused else 'released'}: {pair[0]}"
        if refused:
            assert one.scales == []
        elif row["entry"] == "protected":
            assert len(one.scales) == 2
        else:
            assert len(one.scales) == len(conf.parts_of(row, *pair[0])) in (1, 2)
            assert row not in conf.PARTS or len(one.scales) == 2
        assert one.logs == []


# 3. Noise is added every time, and OpenDP's actual noise, which has no seed, follows its law.
NOISY = [
    (entry, eps)
    for entry, factors in conf.FACTORS.items()
    for eps in ("text", "zCDP")
    if eps in factors["eps"]
]
with_every_noise = pytest.mark.parametrize(("entry", "eps"), NOISY)
SIGNIFICANCE = 1e-6 / (2 * 8)  # for each of two tests of each of the eight noisy numbers


def releases_of(entry, eps, folder, n):
    """Return n releases, their noisy numbers, and the numbers without noise, with required scales.

    The noise has so many steps that it is practically continuous.
    """
    row = {"users": "many", "bounds": "usual", "eps": eps, "centre": "off", "objective": "l1"}
    row |= {"width": "given", "project": False, "cap": 1000, "reach": "given"}
    row |= {"entry": entry, "input": "lists", "missing": "centre", "outside": "clamp"}
    users, values = conf.table(row, ["inside"] * 3, np.random.default_rng(1), copies=5)
    call = conf.release_call(row, users, values, folder)
    results = [call() for _ in range(n)]
    if entry == "protected":
        exact = conf.clipped_totals(row, results[0].reach, users, values)
        return results, np.array([[m.noisy_sum, m.noisy_weight] for m in results]).T, exact
    return results, np.array([[m.mean for m in results]]), conf.clipped_means(row, users, values)


def drawn_again(results, numbers, scale):
    """Return noisy numbers as they were before averaging beyond the range of clipped means.

    There they are drawn again, which has the right law because the noise is memoryless.
    """
    low, high = results[0].clipped_range
    again = np.random.default_rng(7).exponential(scale, numbers.size)
    for averaged, drawn in ((numbers < low, low - again), (numbers > high, high + again)):
        assert np.unique(numbers[averaged]).size <= 1
        numbers = np.where(averaged, drawn, numbers)
    return numbers


@pytest.mark.slow
@with_every_noise
def test_noise_is_added_every_time(entry, eps, monkeypatch, tmp_path):
    """A fault in one release in fifty would be missed with probability 3e-4."""
    outputs = count(0, 2**30)
    OpenDP(monkeypatch, lambda *_: next(outputs))
    for numbers in releases_of(entry, eps, tmp_path, 400)[1]:
        np.testing.assert_allclose(np.diff(numbers), numbers[1] - numbers[0], rtol=1e-6)


@pytest.mark.slow
@with_every_noise
def test_noisy_numbers_follow_the_law_of_their_noise(entry, eps, tmp_path):
    """With three quarters of the scale, the p-value of the absolute values would be about 1e-9."""
    results, noisy, exact = releases_of(entry, eps, tmp_path, 1000)
    for numbers, (mean, scale) in zip(noisy, exact, strict=True):
        if entry != "protected" and eps in conf.EPS:
            numbers = drawn_again(results, numbers, scale)
        law = "expon" if eps in conf.EPS else "halfnorm"
        assert stats.kstest(abs(numbers - mean) / scale, law).pvalue > SIGNIFICANCE
        assert stats.binomtest(sum(numbers > mean), 1000).pvalue > SIGNIFICANCE


# 4. The same above sizes at which code may branch, and with all values equal.
SIZES = {
    "20,001 users": 5_000,
    "80,001 users": 20_000,
}  # more rows than are added up at a time, and more users than 16 bits can count
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
def test_large_tables_have_the_same_clipping_and_noise_as_small_ones(
    entry, kind, eps, copies, alike, monkeypatch, tmp_path
):
    """The same checks as for the small tables above; most users are clipped."""
    opendp = OpenDP(monkeypatch, OUTPUTS[1])
    row = {"entry": entry, "input": kind, "eps": eps, "bounds": "usual", "centre": "off"}
    row |= {"objective": "bound", "width": "narrow", "project": False}
    row |= {"cap": 3, "reach": "given", "missing": "refuse", "outside": "refuse"}
    users, values = conf.large_table(row, copies, alike)
    result, _ = quiet_release(row, users, values, tmp_path)
    outputs = [opendp.output(*request) for request in opendp.requests]
    check = check_protected if entry == "protected" else check_mean
    check(row, result, users, values, opendp.requests, outputs)
    if entry != "protected":
        check_guarantee(row, result, users, values)


@pytest.mark.parametrize("alike", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("d", [65, 200], ids="{} coordinates".format)
@pytest.mark.parametrize("n_users", [5, 20_001], ids="{} users".format)
def test_long_vectors_of_many_users_have_the_same_clipping_and_noise_as_short_ones(
    n_users, d, alike, monkeypatch
):
    law, rng = beyond.GaussianNoise(0.1), np.random.default_rng(d)
    noise = np.arange(1, d + 1) * 10**6
    opendp = OpenDP(monkeypatch, lambda _, total: (total + noise).tolist())
    users = ud.Contributions([9, *[2] * (n_users - 1)], upper=2.0)
    directions = np.ones((n_users, d)) if alike else rng.normal(size=(n_users, d))
    sums = directions * (users.counts / np.linalg.norm(directions, axis=1))[:, None]
    result = release_mean_in_ball(sums, users, law)
    ((scale, total),) = opendp.requests
    assert result.radius == 2  # the largest user is clipped
    assert result.sensitivity == 4 / users.total
    assert result.noise_scale == pytest.approx(law.sigma * result.sensitivity, rel=1e-9)
    kept = sums * np.minimum(1, 2 / users.counts)[:, None]
    step = result.noise_scale / scale
    error = np.multiply(total, step) - kept.sum(axis=0) / users.total
    assert np.linalg.norm(error) <= n_users * (1 + d**0.5) * step
    np.testing.assert_allclose(result.mean, (total + noise) * step, rtol=1e-12)


# 5. Running times are not guaranteed to be equal, but the same functions are called for all users.
CLIPPED = {"no one": [0.5, 0.5], "one at the top": [1, 0.5], "one below": [0, 0.5], "all": [1, 1]}


@pytest.mark.parametrize("entry", [*conf.FACTORS, "vectors"])
def test_the_functions_called_do_not_depend_on_who_is_clipped(entry, monkeypatch, tmp_path):
    OpenDP(monkeypatch, lambda _, total: np.zeros_like(total).tolist())
    row = {"entry": entry, "input": "numpy", "eps": "text", "bounds": "usual", "centre": "middle"}
    row |= {"objective": "bound", "width": "narrow", "project": True}
    row |= {"cap": 3, "reach": "given", "missing": "refuse", "outside": "refuse"}
    low, high, _, _ = conf.numbers_of(row)
    users, vectors = np.repeat(np.arange(40), 5), ud.Contributions([9, *[2] * 39], upper=2.0)
    calls = {}
    for who, ends in CLIPPED.items():
        shares = np.repeat(ends, [5, 195])
        if entry == "vectors":
            sums = (2 * shares[::5] - 1)[:, None] * [[1.0, 0.0]] * vectors.counts[:, None]
            release = partial(release_mean_in_ball, sums, vectors, beyond.GaussianNoise(1))
        else:
            release = conf.release_call(row, users, low + shares * (high - low), tmp_path)
        calls[who] = calls_of(release)
    assert len(calls["no one"]) > 60
    assert calls == dict.fromkeys(CLIPPED, calls["no one"])
