"""The page on the split release: exact errors against draws; what it says of collections."""

import numpy as np
import pandas as pd
import pytest
from page_functions import BOOK, functions_of

import userdp as ud

PAGE = functions_of("split")
TABLE = pd.read_csv(BOOK / "data" / "split.csv")


@pytest.mark.parametrize("tops", [(0, 0), (1, 0), (1, 3), (0, 5)])
@pytest.mark.parametrize("eps", [0.7, 3])
def test_the_exact_error_of_the_page_is_that_of_draws(tops, eps):
    users = ud.Contributions([20, 1, 1, 1, 1, 1], upper=1.0)
    split = ud.best_split(users, 2)
    assert split.heavy_from == 20
    rng = np.random.default_rng(11)
    released, mean = 0.0, 0.0
    for part, n_top in zip(split.parts, tops, strict=True):
        sums = np.where(np.arange(part.users.n_users) < n_top, part.users.counts, 0.0)
        many = np.broadcast_to(sums, (200_000, sums.size))
        drawn = ud.clipped_mean(many, part.users, part.total_width, eps, rng=rng).clip(0, 1)
        released = released + float(part.share) * drawn
        mean += sums.sum() / users.total
    found = PAGE.exact_error(split, tops, eps)
    assert found == pytest.approx(np.abs(released - mean).mean(), rel=0.01)


def test_what_the_page_says_of_its_collections():
    saved = TABLE.pivot_table(index="eps", columns=["collection", "noise"], values="saved")
    assert (TABLE.split <= TABLE.at_once * (1 + 1e-12)).all()
    assert (TABLE.floor <= TABLE.split).all()
    one = saved["one heavy", "laplace"]
    assert one[0.1] == 0, "nothing is gained at small budgets"
    assert np.all(np.diff(one[one.index <= 2]) >= 0), "the gain grows with the budget"
    ten = saved["ten heavy", "laplace"]
    assert ten[0.1] > 0.15
    assert ten[2] == 0, "ten heavy users gain where budgets are small"
    for collection in ("geometric", "eight equal"):
        assert (TABLE.saved[TABLE.collection == collection] == 0).all()
    heavy = TABLE.heavy_users[TABLE.saved > 0].groupby(TABLE.collection).agg(set)
    assert heavy.to_dict() == {"one heavy": {1}, "extreme": {1}, "ten heavy": {10}}
