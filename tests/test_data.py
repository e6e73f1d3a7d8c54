"""The numbers offered for download are those that `userdp` computes today."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import userdp as ud

DATA = Path(__file__).resolve().parent.parent / "book" / "data"
COLLECTIONS = {
    "geometric": ud.geometric_collection(6, 65),
    "extreme": ud.extreme_collection(101, 10, 65),
}
SIX_DIGITS = 5.1e-6


MECHANISMS = {"Laplace": ud.laplace, "AKMV": ud.akmv, "OPT-worst-case": ud.opt_worst_case}
MEAN_ERRORS = {
    "Laplace": ud.laplace_mean_error,
    "AKMV": ud.akmv_mean_error,
    "OPT-worst-case": ud.opt_worst_case_mean_error,
}
SAMPLERS = {"geometric": ud.uniform_sums, "extreme": ud.gaussian_sums}


def akmv(users, eps):
    return ud.akmv_error(users.largest_sums, users, eps)


def test_landing_picture():
    data, users = pd.read_csv(DATA / "landing.csv"), COLLECTIONS["geometric"]
    np.testing.assert_allclose(data.opt, [ud.optimal_error(users, e) for e in data.eps], SIX_DIGITS)
    np.testing.assert_allclose(data.akmv, [akmv(users, e) for e in data.eps], SIX_DIGITS)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_figure_1(name):
    data, users = pd.read_csv(DATA / "figure-1.csv"), COLLECTIONS[name]
    part = data[data.collection == name]
    assert len(part) == 25
    np.testing.assert_allclose(part.opt, [ud.optimal_error(users, e) for e in part.eps], SIX_DIGITS)
    np.testing.assert_allclose(part.akmv, [akmv(users, e) for e in part.eps], SIX_DIGITS)
    slack = SIX_DIGITS * part.akmv
    assert ((part.akmv_simulated - part.akmv).abs() <= 6 * part.standard_error + slack).all()
    assert (part.standard_error <= 0.01 * part.akmv).all()
    assert (part.akmv >= 2 * part.opt * (1 - SIX_DIGITS)).all()


def test_teeth_of_figure_1():
    data, users = pd.read_csv(DATA / "figure-1-teeth.csv"), COLLECTIONS["geometric"]
    exact = data[data.akmv_change.notna()]
    for k, tooth in exact.groupby("k"):
        below = akmv(users, 2 / k * (1 - 1e-8))
        fresh = [akmv(users, 2 / k * (1 + x)) / below - 1 for x in tooth.offset]
        np.testing.assert_allclose(tooth.akmv_change, fresh, atol=1e-7)
        assert tooth.akmv_change[tooth.offset == 0].item() > 0
    simulated = data[data.akmv_simulated.notna()]
    assert len(simulated) == 6
    for row in simulated.itertuples():
        error = akmv(users, 2 / row.k * (1 + row.offset))
        assert abs(row.akmv_simulated - error) <= 6 * row.standard_error


@pytest.mark.parametrize(("figure", "name"), [(2, "geometric"), (3, "extreme")])
def test_figures_2_and_3(figure, name):
    """Points have streams of their own: a few of them are computed afresh, to the last digit."""
    data, users = pd.read_csv(DATA / f"figure-{figure}.csv"), COLLECTIONS[name]
    assert len(data) == 7 * 25
    assert len(data.seed.unique()) == 1
    rng = np.random.default_rng(data.seed.iloc[0])
    budgets = data.eps.iloc[[0, 9, 23]].tolist()
    for method, sweep, functions in [
        ("simulated", ud.error_sweep, MECHANISMS),
        ("noise integrated out", ud.mean_error_sweep, MEAN_ERRORS),
    ]:
        fresh = sweep(functions, users, budgets, SAMPLERS[name], 10_000, rng=rng)
        for mechanism, (mean, standard_error) in fresh.curves.items():
            chosen = (data.method == method) & (data.mechanism == mechanism)
            part = data[chosen & data.eps.isin(budgets)]
            assert (part.trials == 10_000).all()
            np.testing.assert_allclose(part.error, mean, SIX_DIGITS)
            np.testing.assert_allclose(part.standard_error, standard_error, SIX_DIGITS)
    worst = data[data.mechanism == "worst case"]
    fresh = [ud.optimal_error(users, eps) for eps in worst.eps]
    np.testing.assert_allclose(worst.error, fresh, SIX_DIGITS)


def close(value, standard_error, fresh, fresh_standard_error):
    """Whether stored and fresh estimates agree within six standard errors, and six digits."""
    spread = np.hypot(standard_error, fresh_standard_error)
    return (np.abs(value - fresh) <= 6 * spread + 2 * SIX_DIGITS * np.abs(fresh)).all()


def test_ratio_and_jumps_of_figure_2():
    users = COLLECTIONS["geometric"]
    ratio, jumps = (pd.read_csv(DATA / f"figure-2-{part}.csv") for part in ("ratio", "jumps"))
    some = slice(None, None, 20)
    fresh = ud.mean_error_sweep(MEAN_ERRORS, users, ratio.eps[some], ud.uniform_sums, 300, rng=1)
    mean, standard_error = (part / fresh["Laplace"].mean for part in fresh["AKMV"])
    assert close(ratio.akmv_over_laplace[some], ratio.standard_error[some], mean, standard_error)
    assert close(jumps.error[some], jumps.standard_error[some], *fresh["OPT-worst-case"])
    noise = [ud.threshold(users, eps) / eps / users.total for eps in jumps.eps]
    np.testing.assert_allclose(jumps.noise, noise, SIX_DIGITS)
    worst = [ud.optimal_error(users, eps) for eps in jumps.eps]
    np.testing.assert_allclose(jumps.worst_case, worst, SIX_DIGITS)


def test_reasons_of_figure_2():
    users = COLLECTIONS["geometric"]
    data = pd.read_csv(DATA / "figure-2-reasons.csv")
    akmv_rows = data[data.mechanism == "AKMV"]
    fresh = ud.mean_error_sweep(MEAN_ERRORS, users, akmv_rows.eps, ud.uniform_sums, 300, rng=1)
    assert close(akmv_rows.error, akmv_rows.standard_error, *fresh["AKMV"])
    table = data.pivot_table(index="eps", columns="mechanism", values="error")
    assert (table["full budget"] >= table["AKMV"] / 2).all()
    assert (table["exact T"] < table["AKMV"]).all()


def test_collections_and_laws_of_the_setup():
    data = pd.read_csv(DATA / "contributions.csv")
    for name, users in COLLECTIONS.items():
        np.testing.assert_array_equal(data.samples[data.collection == name], users.counts)
    laws = pd.read_csv(DATA / "laws.csv", index_col="x")
    np.testing.assert_allclose(laws.uniform, 1 / 65, SIX_DIGITS)
    for variance, column in [(65 / 4, "variance U/4"), ((65 / 4) ** 2, "deviation U/4")]:
        bell = np.exp(-((laws.index - 32.5) ** 2) / 2 / variance)
        mass = np.trapezoid(bell, laws.index)
        np.testing.assert_allclose(laws[column], bell / mass, rtol=2e-4, atol=1e-12)
        samples = ud.gaussian_sums(ud.Contributions([1], 65), 50_000, variance=variance, rng=1)
        share = np.mean(np.abs(samples - 32.5) < 5)
        middle = laws[column][(laws.index >= 27.5) & (laws.index <= 37.5)]
        assert share == pytest.approx(np.trapezoid(middle, middle.index), abs=0.015)


def test_robustness():
    data = pd.read_csv(DATA / "robustness.csv")
    assert len(data) == 6 * 5 * 9
    assert (data.akmv - data.opt > 6 * np.hypot(data.akmv_se, data.opt_se)).all()
    assert (data.akmv - data.worst_case > 6 * data.akmv_se).all()
    laws = {
        "uniform": ud.uniform_sums,
        "Gaussian": ud.gaussian_sums,
        "Beta(8, 2)": partial(ud.beta_sums, a=8, b=2),
        "correlation 1/2": partial(ud.correlated_sums, correlation=0.5),
        "correlation 1": partial(ud.correlated_sums, correlation=1),
    }
    collections = COLLECTIONS | {
        "equal": ud.Contributions(np.full(127, 4), 65),
        "Zipf": ud.Contributions(np.maximum(1, 64 // np.arange(1, 128)), 65),
    }
    for name, users in collections.items():
        for law, sampler in laws.items():
            part = data[(data.collection == name) & (data.law == law)].iloc[::4]
            fresh = ud.mean_error_sweep(MEAN_ERRORS, users, part.eps, sampler, 200, rng=1)
            assert close(part.akmv, part.akmv_se, *fresh["AKMV"])
            assert close(part.opt, part.opt_se, *fresh["OPT-worst-case"])
            np.testing.assert_allclose(part.laplace, fresh["Laplace"].mean, SIX_DIGITS)
            worst = [ud.optimal_error(users, eps) for eps in part.eps]
            np.testing.assert_allclose(part.worst_case, worst, SIX_DIGITS)


def test_splits_and_sizes():
    splits = pd.read_csv(DATA / "robustness-split.csv")
    for name, users in COLLECTIONS.items():
        part = splits[splits.collection == name].set_index("share")
        fresh = ud.mean_error_sweep(MEAN_ERRORS, users, [0.5], SAMPLERS[name], 300, rng=1)
        assert close(part.error[0.5], part.standard_error[0.5], *fresh["AKMV"])
        opt = part[part.index.isna()].iloc[0]
        assert close(opt.error, opt.standard_error, *fresh["OPT-worst-case"])
        assert part.error[0.1] < 0.65 * part.error[0.5]
    sizes = pd.read_csv(DATA / "robustness-sizes.csv").set_index(["kind", "size"])
    for kind, size, users in [("M", 6, "geometric"), ("m*", 10, "extreme")]:
        row = sizes.loc[kind, size]
        fresh = ud.mean_error_sweep(
            MEAN_ERRORS, COLLECTIONS[users], [0.5], SAMPLERS[users], 300, rng=1
        )
        a, o = fresh["AKMV"], fresh["OPT-worst-case"]
        ratio = a.mean / o.mean
        spread = ratio * np.hypot(a.standard_error / a.mean, o.standard_error / o.mean)
        assert close(row.akmv_over_opt, row.standard_error, ratio, spread)


def test_benchmarks_meet_their_targets():
    """Not timed here: what `make bench` last measured."""
    results = pd.read_csv(DATA / "benchmarks.csv")
    figures = results[results.What.str.startswith("Figures 2 and 3")].Result
    loops = results[results.What.str.contains("against a loop")].Result
    assert len(figures) == len(loops) == 2
    assert all(float(time.removesuffix(" s")) <= 60 for time in figures)
    assert all(float(ratio.split()[0].replace(",", "")) >= 50 for ratio in loops)
