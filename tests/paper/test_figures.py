"""The paper's three figures, recomputed independently of the book."""

import re
from fractions import Fraction

import nbformat
import numpy as np
import pandas as pd
import pytest
from page_functions import BOOK, glued
from plotting import JUST_BELOW, with_jumps
from strategies import EXTREME, GEOMETRIC

import userdp as ud

DATA = BOOK / "data"
COLLECTIONS = {"geometric": GEOMETRIC, "extreme": EXTREME}
RTOL_SIX_DIGITS = 5.1e-6  # half a unit in the sixth digit, and rounding


def akmv_errors(users, budgets):
    return np.array([float(ud.akmv_error(users.largest_sums, users, eps)) for eps in budgets])


def exact_budgets(table):
    """The budgets of a table's rows, before rounding: at a jump, 2/j or just below it.

    It is 2/j if the rank is j, and slightly less if the rank is j + 1. Six digits suffice to
    recognise the budgets at jumps.
    """
    ranks = table["rank"]
    nearest = (2 / table.eps).round().astype(int)
    jumps = (2 / table.eps - nearest).abs() < 1e-4
    rows = zip(table.eps, ranks, nearest, jumps, strict=True)
    return [Fraction(2, j) - (k > j) * JUST_BELOW if jump else e for e, k, j, jump in rows]


def test_with_jumps_adds_both_sides_of_each_jump():
    for name, users in COLLECTIONS.items():
        grid = np.round(np.geomspace(0.1, 2, 25), 4)
        budgets = with_jumps(grid, users)
        assert {*grid} <= {float(eps) for eps in budgets}, name
        assert [float(eps) for eps in budgets] == sorted({float(eps) for eps in budgets})
        for k in range(1, 20):
            index = budgets.index(Fraction(2, k))
            assert [ud.rank(eps) for eps in budgets[index - 1 : index + 1]] == [k + 1, k]
            # Their floats have the same ranks.
            assert [ud.rank(float(eps)) for eps in budgets[index - 1 : index + 1]] == [k + 1, k]
    two_users = ud.Contributions([2, 1], 1)
    assert with_jumps([0.5, 3], two_users) == [0.5, 1 - JUST_BELOW, 1, 2 - JUST_BELOW, 2, 3.0]


@pytest.mark.parametrize("name", COLLECTIONS)
def test_figure_1_agrees_with_a_recomputation(name):
    data, users = pd.read_csv(DATA / "figure-1.csv"), COLLECTIONS[name]
    part = data[data.collection == name]
    assert [*part["rank"]] == [ud.rank(eps) for eps in exact_budgets(part)]
    opt = [float(ud.optimal_error(users, e)) for e in exact_budgets(part)]
    np.testing.assert_allclose(part.opt, opt, RTOL_SIX_DIGITS)
    np.testing.assert_allclose(part.akmv, akmv_errors(users, exact_budgets(part)), RTOL_SIX_DIGITS)
    assert (part.akmv >= 2 * part.opt * (1 - RTOL_SIX_DIGITS)).all()
    simulated = part.dropna()
    assert len(simulated) == 25
    assert set(simulated.trials) == {10_000}
    assert set(part.trials[part.akmv_simulated.isna()]) == {0}
    slack = RTOL_SIX_DIGITS * simulated.akmv
    distance = (simulated.akmv_simulated - simulated.akmv).abs()
    assert (distance <= 6 * simulated.standard_error + slack).all()
    assert (simulated.standard_error <= 0.01 * simulated.akmv).all()


@pytest.mark.parametrize("figure", [1, 2, 3])
def test_each_line_of_the_figures_has_both_sides_of_each_jump(figure):
    """There are two rows at ε = 2/k, with the ranks k + 1 and k, for k = 19 to 1."""
    data = pd.read_csv(DATA / f"figure-{figure}.csv")
    keys = ["collection"] if figure == 1 else ["mechanism", "method"]
    data = data if figure == 1 else data[data.method != "simulated"]
    for line, part in data.groupby(keys):
        pairs = part[part.eps.duplicated(keep=False)].groupby("eps", sort=False)["rank"].agg(list)
        expected = {f"{2 / k:.6g}": [k + 1, k] for k in range(19, 0, -1)}
        assert {f"{eps:.6g}": ranks for eps, ranks in pairs.items()} == expected, line


def test_the_teeth_of_figure_1_agree_with_a_recomputation():
    data = pd.read_csv(DATA / "figure-1-teeth.csv")
    below = akmv_errors(GEOMETRIC, 2 / data.k * (1 - 1e-8))
    assert [*data["rank"][data.offset == 0]] == [7, 6]
    assert set(data["rank"][data.offset < 0]) == {7}
    assert set(data["rank"][data.offset > 0]) == {6}
    budgets = 2 / data.k * (1 + data.offset.where((data.offset != 0) | (data["rank"] == 6), -1e-8))
    expected = akmv_errors(GEOMETRIC, budgets) / below - 1
    np.testing.assert_allclose(data.akmv_change, expected, atol=1e-7)
    assert data.akmv_change[(data.offset == 0) & (data["rank"] == 6)].item() > 0.005
    simulated = pd.read_csv(DATA / "figure-1-teeth-simulated.csv")
    assert len(simulated) == 6
    assert set(simulated.trials) == {10_000}
    assert set(simulated.seed) == set(pd.read_csv(DATA / "figure-1.csv").seed)
    errors = akmv_errors(GEOMETRIC, 2 / simulated.k * (1 + simulated.offset))
    assert (abs(simulated.akmv_simulated - errors) <= 6 * simulated.standard_error).all()


def draw_sums(name, users, n, rng):
    """Sums of samples drawn one by one, uniform or Gaussian."""
    shape = (n, users.total)
    if name == "geometric":
        x = rng.uniform(0, 65, shape)
    else:
        x = rng.normal(32.5, (65 / 4) ** 0.5, shape)
    assert ((x >= 0) & (x <= 65)).all()  # the bounds are eight standard deviations away
    return np.add.reduceat(x, np.cumsum(users.counts) - users.counts, axis=1)


def releases(sums, users, eps, k, rng):
    """One release per mechanism and dataset, as Section IV describes them; k is the rank."""
    total = sums.sum(axis=1)
    noise, largest = rng.laplace(size=(3, len(sums))), 65 * np.sort(users.counts)[::-1]
    # The exponential mechanism by the Gumbel-max trick: the cell with the largest log weight plus
    # Gumbel noise.
    ends = np.pad(-np.sort(-sums, axis=1), ((0, 0), (1, 1)))
    ends[:, 0] = largest[0]
    with np.errstate(divide="ignore"):
        score = np.log(-np.diff(ends)) - eps / 4 * abs(np.arange(users.n_users + 1) - k)
    cell = np.argmax(score + rng.gumbel(size=score.shape), axis=1)[:, None]
    low, high = (np.take_along_axis(ends, cell + i, axis=1) for i in (1, 0))
    T = low + rng.random(low.shape) * (high - low)
    width = largest[k - 1] if k <= users.n_users else 0
    middle = 32.5 * users.counts
    clipped = (middle + np.clip(sums - middle, -width / 2, width / 2)).sum(axis=1)
    return {
        "Laplace": total + noise[0] * largest[0] / eps,
        "AKMV": np.minimum(sums, T).sum(axis=1) + noise[1] * 2 * T[:, 0] / eps,
        "OPT-worst-case": clipped + noise[2] * width / eps,
    }


@pytest.mark.parametrize(("figure", "name"), [(2, "geometric"), (3, "extreme")])
def test_figures_2_and_3_agree_with_other_draws(figure, name):
    data, users = pd.read_csv(DATA / f"figure-{figure}.csv"), COLLECTIONS[name]
    trials = {"simulated": 10_000, "noise integrated out": 2_000}
    assert len(data) == 3 * 25 + 4 * 62
    rng, n = np.random.default_rng(2), 3000
    sums = draw_sums(name, users, n, rng)
    for (eps, k), part in data.groupby(["eps", "rank"]):
        stored = part.set_index(["mechanism", "method"])
        bound = stored.error["guarantee of OPT-worst-case", "closed form"]
        assert bound == pytest.approx(ud.optimal_error(users, eps), rel=RTOL_SIX_DIGITS)
        for mechanism, release in releases(sums, users, eps, k, rng).items():
            errors = abs(release - sums.sum(axis=1)) / users.total
            for method in trials.keys() & stored.loc[mechanism].index:
                row = stored.loc[(mechanism, method)]
                assert row.trials == trials[method]
                standard_error = np.hypot(row.standard_error, errors.std() / n**0.5)
                assert abs(row.error - errors.mean()) < 4.5 * standard_error
                if method == "simulated":
                    assert row.standard_error == pytest.approx(errors.std() / 100, rel=0.15)


SETTINGS = ["Users", "Samples", "Budgets ε", "Axes", "Trials", "Quantile", "Seed", "Curves"]


@pytest.mark.parametrize("figure", [1, 2, 3])
def test_each_figure_page_compares_its_settings_with_the_papers(figure):
    """The table has the same rows on the three pages, and its numbers come from cells."""
    page = BOOK / f"figure-{figure}.ipynb"
    cells = [cell.source for cell in nbformat.read(page, as_version=4).cells]
    (table,) = re.findall(
        r"```\{list-table\} Paper and page: what was run\n.*?\n```", "\n".join(cells), re.S
    )
    rows = [row.split("\n  - ") for row in re.split(r"\n\* - ?", table.removesuffix("\n```"))[2:]]
    assert [name for name, *_ in rows] == SETTINGS
    assert all(len(row) == 3 for row in rows)
    data = pd.read_csv(DATA / f"figure-{figure}.csv")
    stored = glued(f"figure-{figure}")
    lines = data if figure == 1 else data[data.method == "closed form"]
    lines = lines[lines.collection == "extreme"] if figure == 1 else lines
    expected = {"seed": f"{data.seed[0]}", "n-trials": f"{data.trials.max():,}"}
    expected |= {"grid": "25 budgets from 0.1 to 2", "n-lines": f"{len(lines)}"}
    for name, users in COLLECTIONS.items():
        values_of_both = {f"users-{name}": users.n_users, f"samples-{name}": users.total}
        values_of_one = {"n-users": users.n_users, "n-samples": users.total}
        if figure == 1 or (figure == 2) == (name == "geometric"):
            values = values_of_both if figure == 1 else values_of_one
            expected |= {key: f"{n}" for key, n in values.items()}
    if figure > 1:
        expected["n-datasets"] = f"{data.trials[data.method == 'noise integrated out'].max():,}"
    named = {*re.findall(r"\{glue:text\}`([^`]+)`", table)}
    assert {name: stored[name] for name in named} == expected


def test_the_visible_jump_in_figure_1_goes_down():
    """At ε = 2 AKMV's error falls by about 5 %; its other jumps at large budgets are smaller."""
    ratio = {}
    for k in range(1, 9):
        budgets = Fraction(2, k) - JUST_BELOW, Fraction(2, k)
        before, at = (ud.akmv_error(GEOMETRIC.largest_sums, GEOMETRIC, eps) for eps in budgets)
        ratio[k] = float(at / before)
    assert ratio[1] < 0.96
    assert max(abs(ratio[k] - 1) for k in ratio if k > 1) < 0.04
    assert max(ratio.values()) > 1
