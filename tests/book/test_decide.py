"""The page for a table of yours: the release it shows, its tables, the errors it computes."""

import dataclasses
import json

import jsonschema
import nbformat
import numpy as np
import pandas as pd
import pytest
from page_functions import BOOK, functions_of

import userdp as ud

TABLE = pd.read_csv(BOOK / "data" / "decide.csv").set_index(["dataset", "choice"])
PAGE = functions_of("decide", pd=pd, rng=np.random.default_rng(1), eps=0.5, delta=1e-6)


def shown(kind):
    return (BOOK / "data" / f"decide-release{kind}").read_text("utf-8")


@pytest.fixture
def trips():
    rng = np.random.default_rng([20250301, 1])
    return PAGE.drive(PAGE.count_trips(rng), rng)


def test_the_release_shown_is_one_of_the_call_on_the_page(trips, tmp_path, monkeypatch):
    """Its noise has no seed: all is compared but the mean, and what follows from it."""
    cells = {cell.id: cell.source for cell in nbformat.read(BOOK / "decide.ipynb", 4).cells}
    monkeypatch.chdir(tmp_path)
    trips.to_parquet("trips.parquet")
    scope = {}
    exec(cells["release"], scope)
    public = json.loads(shown(".json"))
    jsonschema.validate(public, ud.release.json_schema())
    same = dataclasses.replace(scope["made"], mean=public["mean"])
    assert public == same.public()
    assert shown(".txt").splitlines() == repr(same).splitlines()
    assert shown("-sentence.txt").strip() == same.public_sentence("km/h")
    assert abs(public["mean"] - trips.speed.mean()) < 20 * same.noise_scale
    assert same.mean != scope["made"].mean, "noise without a seed"


def test_each_line_of_the_release_shown_is_explained():
    text = "".join(cell.source for cell in nbformat.read(BOOK / "decide.ipynb", 4).cells)
    names = [line.split("  ")[0] for line in shown(".txt").splitlines()]
    places = [text.index(f"**{name}**\n: ") for name in names]
    assert places == sorted(places), "in another order than it prints"


def test_the_four_choices_with_other_trips():
    stored = pd.read_csv(BOOK / "data" / "decide-four.csv")
    rng = np.random.default_rng(4)
    n_trips = PAGE.count_trips(np.random.default_rng([20250301, 1]))
    users = ud.Contributions(n_trips, 65)
    drawn = [PAGE.drive(n_trips, rng).groupby("vehicle").speed.sum() for _ in range(20)]
    sums = np.stack(drawn)
    public, guess, secret, no_clipping = stored.error
    S = ud.threshold(users, 1, "l1")
    for centre, error in ((None, public), (50, guess)):
        found = PAGE.clipped(users, sums, S, centre)[0].mean()
        assert found == pytest.approx(error, rel=0.01)
    assert PAGE.counts_protected(users, sums, 20, 1).mean() == pytest.approx(secret, rel=0.3)
    assert no_clipping == pytest.approx(65 * max(n_trips) / n_trips.sum(), rel=1e-5)
    (advice,) = ud.plan(n_trips, lower=0, upper=65, eps=1).recommend()
    assert stored.guarantee[0] == pytest.approx(advice.guarantee, rel=1e-5)
    assert stored.floor[0] == pytest.approx(advice.floor, rel=1e-5)


def test_what_the_choices_cost():
    """With other random numbers, where there are any."""
    geometric = ud.geometric_collection(6, 65)
    anywhere = PAGE.levels(lambda rng, shape: 65 * rng.uniform(size=shape))
    sums = anywhere(geometric, 200, rng=np.random.default_rng(2))
    again = PAGE.costs(geometric, sums, 32.5, anywhere, 16).set_index("choice")
    stored = TABLE.loc["geometric"]
    np.testing.assert_allclose(again.guarantee, stored.guarantee, rtol=0.1)
    np.testing.assert_allclose(again.error, stored.error, rtol=0.2)
    for part in (again, *(TABLE.loc[name] for name in TABLE.index.unique("dataset"))):
        assert part.error_ratio.min() >= 1
        best, prior = part.loc["l1 optimum"], part.loc["a prior, τ = 1"]
        projected = part.loc["l1 optimum, projected"]
        assert 1 < projected.guarantee_ratio <= best.guarantee_ratio < 1.5
        assert projected.error <= best.error
        rivals = part.guarantee.drop([projected.name, best.name, "… staircase noise"])
        assert (best.guarantee <= rivals.dropna()).all()
        assert prior.error < best.error
        assert 2 <= prior.guarantee_ratio < 3.1


def test_plan_gives_the_same_advice():
    for name, users in {
        "one heavy user": ud.Contributions([500] + 500 * [5], 65),
        "geometric": ud.geometric_collection(6, 65),
    }.items():
        (advice,) = ud.plan(users.counts, lower=0, upper=65, eps=0.5).recommend()
        row = TABLE.loc[name, advice.strategy]
        assert row.guarantee == pytest.approx(advice.guarantee, rel=1e-5)
        assert row.guarantee_ratio == pytest.approx(advice.factor, rel=1e-5)


def test_errors_with_protected_counts_are_those_of_releases():
    """Simulated; with public counts it is `tests/book/test_projection.py`."""
    rng, users = np.random.default_rng(3), ud.Contributions([9, 4, 1, 1], 10)
    sums, n = users.counts * np.array([9.0, 8.0, 10.0, 2.0]), 200_000
    mean, cap, eps = sums.sum() / users.total, 4, 1.5
    weights = np.minimum(users.counts, cap)
    y = ((sums / users.counts - 5) * weights).sum()
    noisy = [x + rng.laplace(scale=s * cap / eps, size=n) for x, s in ((y, 10), (weights.sum(), 2))]
    drawn = np.clip(5 + noisy[0] / np.maximum(noisy[1], 1), 0, 10)
    computed = PAGE.counts_protected(users, sums[None], cap, eps)[0]
    assert abs(drawn - mean).mean() == pytest.approx(computed, rel=0.01)
