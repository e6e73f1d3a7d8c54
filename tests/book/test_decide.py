"""The page that decides: what its table says, and the errors that it computes for itself."""

import numpy as np
import pandas as pd
import pytest
from page_functions import BOOK, functions_of

import userdp as ud

TABLE = pd.read_csv(BOOK / "data" / "decide.csv").set_index(["dataset", "choice"])
PAGE = functions_of("decide", pd=pd, rng=np.random.default_rng(1), eps=0.5, delta=1e-6)


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
