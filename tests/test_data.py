"""The numbers offered for download are those that `userdp` computes today."""

from fractions import Fraction
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
    for k, tooth in data.groupby("k"):
        below = akmv(users, 2 / k * (1 - 1e-8))
        fresh = [akmv(users, 2 / k * (1 + x)) / below - 1 for x in tooth.offset]
        np.testing.assert_allclose(tooth.akmv_change, fresh, atol=1e-7)
        assert tooth.akmv_change[tooth.offset == 0].item() > 0
    simulated = pd.read_csv(DATA / "figure-1-teeth-simulated.csv")
    assert len(simulated) == 6
    assert set(simulated.trials) == {10_000}
    assert set(simulated.seed) == set(pd.read_csv(DATA / "figure-1.csv").seed)
    for row in simulated.itertuples():
        error = akmv(users, 2 / row.k * (1 + row.offset))
        assert abs(row.akmv_simulated - error) <= 6 * row.standard_error


def test_reach_of_the_problem_chapter():
    data = pd.read_csv(DATA / "reach.csv")
    total = data.samples.sum()
    np.testing.assert_allclose(data.user_high - data.user_low, 65 * data.samples / total, 1e-5)
    np.testing.assert_allclose(data.sample_high - data.sample_low, 65 / total, 1e-5)
    assert (data.user_low <= data.sample_low).all()
    assert (data.user_high >= data.sample_high).all()


def test_density_ratio_of_the_problem_chapter():
    data = pd.read_csv(DATA / "density-ratio.csv")
    np.testing.assert_allclose(np.log(data["first"] / data["second"]), data.log_ratio, atol=2e-5)
    assert data.log_ratio.abs().max() == pytest.approx(0.5)
    peaks = [data.value[data[name].idxmax()] for name in ("first", "second")]
    assert peaks[1] - peaks[0] == pytest.approx(65 * 4 / 7, abs=0.5)


def test_residuals_of_the_lemma_chapter():
    data = pd.read_csv(DATA / "residual.csv")
    for column in data.columns[1:]:
        a, b = map(float, column.strip("[]").split(","))
        np.testing.assert_allclose(data[column], data.value - data.value.clip(a, b), atol=1e-6)
        assert data[column].is_monotonic_increasing


def test_instances_of_the_lemma_chapter():
    data = pd.read_csv(DATA / "lemma.csv")
    assert len(data) == 400
    assert (data.printed >= data.true - 1e-5).all()
    assert (data.printed <= 2 * data.true + 1e-5).all()
    special = data[data.kind != "general"]
    np.testing.assert_allclose(special.printed, special.true)
    assert (data.printed > data.true + 1e-5).any()


def test_objective_of_the_optimum_chapter():
    data, users = pd.read_csv(DATA / "objective.csv"), COLLECTIONS["geometric"]
    for name in data.columns[1:]:
        eps = Fraction(name)
        fresh = [ud.symmetric_error(users, S, eps) for S in data.total_width]
        np.testing.assert_allclose(data[name], fresh, 2 * SIX_DIGITS)
        assert data[name].min() == pytest.approx(ud.optimal_error(users, eps), rel=1e-5)


def test_intervals_of_the_optimum_chapter():
    data, users = pd.read_csv(DATA / "intervals.csv"), COLLECTIONS["geometric"]
    for row in data.itertuples():
        width = min(65, ud.threshold(users, row.eps) / row.samples)
        assert row.upper - row.lower == pytest.approx(width, rel=1e-4)
        assert row.upper + row.lower == pytest.approx(65, rel=1e-5)


def test_knapsack_of_the_kkt_chapter():
    data, users = pd.read_csv(DATA / "knapsack.csv"), COLLECTIONS["geometric"]
    for eps, part in data.groupby("eps"):
        budget = Fraction(eps).limit_denominator(10)
        packed = (part.value_per_size * part.taken).sum() / users.total
        assert packed == pytest.approx(ud.optimal_error(users, budget), rel=1e-5)
        assert part.taken.sum() == pytest.approx(float(1 / budget))


def test_privacy_spent_of_the_akmv_chapter():
    data = pd.read_csv(DATA / "tight.csv")
    d, budget = data.d, 1
    for column, eta in (("half_exponent", budget / 2), ("full_exponent", budget)):
        v = 2 - d
        ratio = np.exp(eta) * (v + np.exp(-eta) * d) / (np.exp(-eta) * v + d)
        np.testing.assert_allclose(data[column], np.log(ratio), rtol=2e-5)


def test_law_of_the_threshold_of_the_akmv_chapter():
    data = pd.read_csv(DATA / "quantile.csv")
    assert data.threshold.is_monotonic_decreasing
    assert data.threshold.iloc[0] == 65 * 64
    assert data.probability_above.is_monotonic_increasing
    assert data.probability_above.iloc[-1] == 1
    width, mass = -np.diff(data.threshold), np.diff(data.probability_above)
    wide = mass > 1e-3  # of the others too few digits are left
    distance = np.abs(np.arange(width.size) - 4)[wide]
    density = np.log(mass[wide] / width[wide]) + 0.125 * distance
    np.testing.assert_allclose(density, density[0], atol=0.02)
