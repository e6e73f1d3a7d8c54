"""The paper's three figures, computed once more in another way than the book's."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from strategies import EXTREME, GEOMETRIC

import userdp as ud

DATA = Path(__file__).resolve().parents[2] / "book" / "data"
COLLECTIONS = {"geometric": GEOMETRIC, "extreme": EXTREME}
SIX_DIGITS = 5.1e-6


def akmv(users, budgets):
    return np.array([ud.akmv_error(users.largest_sums, users, eps) for eps in budgets])


@pytest.mark.parametrize("name", COLLECTIONS)
def test_figure_1(name):
    data, users = pd.read_csv(DATA / "figure-1.csv"), COLLECTIONS[name]
    part = data[data.collection == name]
    assert len(part) == 25
    np.testing.assert_allclose(part.opt, [ud.optimal_error(users, e) for e in part.eps], SIX_DIGITS)
    np.testing.assert_allclose(part.akmv, akmv(users, part.eps), SIX_DIGITS)
    slack = SIX_DIGITS * part.akmv
    assert ((part.akmv_simulated - part.akmv).abs() <= 6 * part.standard_error + slack).all()
    assert (part.standard_error <= 0.01 * part.akmv).all()
    assert (part.akmv >= 2 * part.opt * (1 - SIX_DIGITS)).all()


def test_teeth_of_figure_1():
    data = pd.read_csv(DATA / "figure-1-teeth.csv")
    below = akmv(GEOMETRIC, 2 / data.k * (1 - 1e-8))
    fresh = akmv(GEOMETRIC, 2 / data.k * (1 + data.offset)) / below - 1
    np.testing.assert_allclose(data.akmv_change, fresh, atol=1e-7)
    assert (data.akmv_change[data.offset == 0] > 0).all()
    made = pd.read_csv(DATA / "figure-1-teeth-simulated.csv")
    assert len(made) == 6
    assert set(made.trials) == {10_000}
    assert set(made.seed) == set(pd.read_csv(DATA / "figure-1.csv").seed)
    errors = akmv(GEOMETRIC, 2 / made.k * (1 + made.offset))
    assert (abs(made.akmv_simulated - errors) <= 6 * made.standard_error).all()


def samples(name, users, n, rng):
    """Sums of samples drawn one by one: uniform, or Gaussian and drawn again outside of [0, 65]."""
    shape = (n, users.total)
    if name == "geometric":
        x = rng.uniform(0, 65, shape)
    else:
        x = rng.normal(32.5, (65 / 4) ** 0.5, shape)
    assert ((x >= 0) & (x <= 65)).all()  # eight deviations away: none is drawn again
    return np.add.reduceat(x, np.cumsum(users.counts) - users.counts, axis=1)


def released(sums, users, eps, rng):
    """One release of each mechanism a dataset, as Section IV describes them."""
    k, total = int(np.ceil(2 / eps - 1e-9)), sums.sum(axis=1)
    noise, largest = rng.laplace(size=(3, len(sums))), 65 * np.sort(users.counts)[::-1]
    # The exponential mechanism as a race: the cell with the largest log weight plus Gumbel noise.
    ends = np.pad(-np.sort(-sums, axis=1), ((0, 0), (1, 1)))
    ends[:, 0] = largest[0]
    with np.errstate(divide="ignore"):
        score = np.log(-np.diff(ends)) - eps / 4 * abs(np.arange(users.n_users + 1) - k)
    cell = np.argmax(score + rng.gumbel(size=score.shape), axis=1)[:, None]
    low, high = (np.take_along_axis(ends, cell + i, axis=1) for i in (1, 0))
    T = low + rng.random(low.shape) * (high - low)
    width = largest[k - 1] if k <= users.n_users else 0
    middle = 32.5 * users.counts
    kept = (middle + np.clip(sums - middle, -width / 2, width / 2)).sum(axis=1)
    return {
        "Laplace": total + noise[0] * largest[0] / eps,
        "AKMV": np.minimum(sums, T).sum(axis=1) + noise[1] * 2 * T[:, 0] / eps,
        "OPT-worst-case": kept + noise[2] * width / eps,
    }


@pytest.mark.parametrize(("figure", "name"), [(2, "geometric"), (3, "extreme")])
def test_figures_2_and_3(figure, name):
    data, users = pd.read_csv(DATA / f"figure-{figure}.csv"), COLLECTIONS[name]
    assert len(data) == 7 * 25
    rng, n = np.random.default_rng(1), 4000
    sums = samples(name, users, n, rng)
    for eps, part in data.groupby("eps"):
        stored = part.set_index(["mechanism", "method"])
        bound = stored.error["guarantee of OPT-worst-case", "closed form"]
        assert bound == pytest.approx(ud.optimal_error(users, eps), rel=SIX_DIGITS)
        for mechanism, release in released(sums, users, eps, rng).items():
            errors = abs(release - sums.sum(axis=1)) / users.total
            for method in ("simulated", "noise integrated out"):
                row = stored.loc[(mechanism, method)]
                assert row.trials == 10_000
                spread = np.hypot(row.standard_error, errors.std() / n**0.5)
                assert abs(row.error - errors.mean()) < 4.5 * spread
                if method == "simulated":
                    assert row.standard_error == pytest.approx(errors.std() / 100, rel=0.15)
