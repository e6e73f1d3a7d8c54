"""The numbers offered for download are those that `userdp` computes today."""

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
