"""The page on the split release: private tables in exact arithmetic, errors by simulation."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_functions import functions_of

import userdp as ud

LAWS = {"laplace": ud.LaplaceNoise, "staircase": ud.StaircaseNoise}
PAGE = functions_of("split", Fraction=Fraction, product=product, LAWS=LAWS)
ONE_HEAVY = ud.Contributions([100] + [1] * 900, upper=1)
EXTREME = ud.extreme_collection(n_users=101, max_count=10, upper=1)


def mirrored(table):
    """The even mixture of a table and its mirror image: mirrored data have mirrored answers."""
    return [[(table[i][j] + table[2 - i][2 - j]) / 2 for j in range(3)] for i in range(3)]


def test_two_private_tables_added():
    """thm-split, 1 and 2; and that data of both parts may not change at once."""
    rng, both = np.random.default_rng(1), []
    for _ in range(200):
        q, w = Fraction(int(rng.integers(11, 60)), 10), Fraction(int(rng.integers(1, 10)), 10)
        tables = PAGE.random_table(rng, q), PAGE.random_table(rng, q)
        for table in tables:
            assert all(sum(row) == 1 for row in table)
            assert all(max(column) <= q * min(column) for column in zip(*table, strict=True))
        used, risk, weighted = PAGE.try_two_parts(tables, (w, 1 - w), q)
        assert used <= 1
        assert risk <= sum(weighted)
        grid = [Fraction(0), Fraction(1, 2), Fraction(1)]
        both.append(PAGE.used_by(PAGE.joined(tables, grid, (w, 1 - w)), n_changed=2) / q)
    assert max(both) > 1


def test_mirrored_tables_err_by_the_larger_part_at_least():
    """thm-split, 3."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        q, w = Fraction(int(rng.integers(11, 60)), 10), Fraction(int(rng.integers(1, 10)), 10)
        tables = [mirrored(PAGE.random_table(rng, q)) for _ in range(2)]
        used, risk, weighted = PAGE.try_two_parts(tables, (w, 1 - w), q)
        assert used <= 1
        assert max(weighted) <= risk <= sum(weighted)


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize("eps", [1, 3])
def test_exact_errors_by_simulation(eps, noise):
    """A release in two parts, drawn by the module's mechanism and projected."""
    rng, law = np.random.default_rng(3), LAWS[noise](eps)
    users = ud.Contributions([30] + [1] * 90, upper=1)
    split = ud.best_split(users, eps, noise)
    assert split.heavy_from == 30
    n = 40_000
    for x, t in ((1, 1), (0, 0.5), (0.5, 0.02)):
        off = np.zeros(n)
        for part, mean in zip(split.parts, (x, t), strict=True):
            sums = np.broadcast_to(mean * part.users.counts, (n, part.users.n_users))
            drawn = ud.clipped_mean(sums, part.users, part.total_width, law, rng=rng)
            off += float(part.share) * (drawn.clip(0, 1) - mean)
        clipped = float(split.parts[1].share) * (1 - split.parts[1].total_width) / 2
        stated = PAGE.error_where(split, law, x, t)
        assert abs(np.abs(off).mean() - stated) < 0.02 * stated + clipped


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize("eps", [1, 2, 3, 6])
def test_the_exact_error_is_between_the_larger_part_and_the_guarantee(noise, eps):
    for users in (ONE_HEAVY, EXTREME):
        split = ud.best_split(users, eps, noise)
        if split.heavy_from is not None:
            found = PAGE.exact_error(split, LAWS[noise](eps), n=11)
            larger = max(float(part.share) * part.error for part in split.parts)
            assert larger * (1 - 1e-9) < found < split.error


def test_where_a_split_saves():
    """The collections of the page's table, at the ends of the range of what is saved."""
    flights = pd.read_csv(
        Path(__file__).parents[2] / "book" / "data" / "aircraft-averages.csv"
    ).flights.to_numpy()
    zipf = [max(1, round(1000 / place)) for place in range(1, 201)]
    gradual = {
        "geometric": ud.geometric_collection(M=6, upper=65).counts,
        "flights": flights,
        "Zipf": zipf,
        "equal": [1] * 8,
        "two levels": [5] * 2 + [2] * 9,
    }
    for (name, counts), noise, eps in product(gradual.items(), LAWS, (0.25, 2)):
        split = ud.best_split(ud.Contributions(counts, 65), eps, noise)
        assert split.heavy_from is None, name
    for users, eps, noise, least in (
        (ONE_HEAVY, 2, "laplace", 0.23),
        (ONE_HEAVY, 2, "staircase", 0.3),
        (EXTREME, 3, "laplace", 0.11),
        (EXTREME, 2, "staircase", 0.185),
    ):
        S = ud.threshold(users, eps, "l1", noise)
        together = ud.projected_error(users, S, eps, noise)
        assert ud.best_split(users, eps, noise).error < (1 - least) * together
