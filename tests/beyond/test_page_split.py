"""Releases in parts: private tables in exact arithmetic, errors by simulation."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_functions import BOOK, functions_of, glued, tables
from scipy import optimize
from strategies import LAWS

import userdp as ud
from userdp import beyond

PAGE = functions_of(
    "projection",
    Fraction=Fraction,
    product=product,
    LAWS=LAWS,
    minimize_scalar=optimize.minimize_scalar,
)
ONE_HEAVY = ud.Contributions([100] + [1] * 900, upper=1)
EXTREME = ud.extreme_collection(n_users=101, max_count=10, upper=1)


def mixture_with_mirror_image(table):
    """The even mixture of a table and its mirror image: mirrored data give mirrored outputs."""
    return [[(table[i][j] + table[2 - i][2 - j]) / 2 for j in range(3)] for i in range(3)]


def test_two_private_tables_added_are_private_with_at_most_the_sum_of_their_risks():
    """thm-split, 1 and 2; in addition, a change in both parts can exceed the budget."""
    rng, ratios = np.random.default_rng(1), []
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
        ratios.append(PAGE.used_by(PAGE.joined(tables, grid, (w, 1 - w)), n_changed=2) / q)
    assert max(ratios) > 1


def test_the_risk_of_mirrored_tables_is_at_least_that_of_the_larger_part():
    """thm-split, 3."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        q, w = Fraction(int(rng.integers(11, 60)), 10), Fraction(int(rng.integers(1, 10)), 10)
        tables = [mixture_with_mirror_image(PAGE.random_table(rng, q)) for _ in range(2)]
        used, risk, weighted = PAGE.try_two_parts(tables, (w, 1 - w), q)
        assert used <= 1
        assert max(weighted) <= risk <= sum(weighted)


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize("eps", [1, 3])
def test_exact_errors_of_a_split_release_agree_with_simulation(eps, noise):
    """A release in two parts, drawn by the module's mechanism and projected."""
    rng, law = np.random.default_rng(3), LAWS[noise](eps)
    users = ud.Contributions([30] + [1] * 90, upper=1)
    split = beyond.best_split(users, LAWS[noise](eps))
    assert split.heavy_from == 30
    n = 40_000
    for x, t in ((1, 1), (0, 0.5), (0.5, 0.02)):
        errors = np.zeros(n)
        for part, mean in zip(split.parts, (x, t), strict=True):
            sums = np.broadcast_to(mean * part.users.counts, (n, part.users.n_users))
            releases = beyond.clipped_mean(sums, part.users, part.total_width, law, rng=rng)
            errors += float(part.share) * (releases.clip(0, 1) - mean)
        clipped = float(split.parts[1].share) * (1 - split.parts[1].total_width) / 2
        stated = PAGE.error_where(split, law, x, t)
        assert abs(np.abs(errors).mean() - stated) < 0.02 * stated + clipped


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize("eps", [1, 2, 3, 6])
def test_the_exact_error_is_between_the_larger_part_and_the_guarantee(noise, eps):
    for users in (ONE_HEAVY, EXTREME):
        split = beyond.best_split(users, LAWS[noise](eps))
        if split.heavy_from is not None:
            exact = PAGE.exact_error(split, LAWS[noise](eps), n=11)
            larger = max(float(part.share) * part.error for part in split.parts)
            assert larger * (1 - 1e-9) < exact < split.error


def test_a_split_saves_with_heavy_users_but_not_on_gradual_collections():
    """The collections of the page's table, at both ends of the range of savings."""
    flights = pd.read_csv(
        Path(__file__).parents[2] / "book" / "data" / "aircraft-averages.csv"
    ).flights.to_numpy()
    zipf = [max(1, round(1000 / rank)) for rank in range(1, 201)]
    gradual = {
        "geometric": ud.geometric_collection(M=6, upper=65).counts,
        "flights": flights,
        "Zipf": zipf,
        "equal": [1] * 8,
        "two levels": [5] * 2 + [2] * 9,
    }
    for (name, counts), noise, eps in product(gradual.items(), LAWS, (0.25, 2)):
        split = beyond.best_split(ud.Contributions(counts, 65), LAWS[noise](eps))
        assert split.heavy_from is None, name
    for users, eps, noise, smallest_gain in (
        (ONE_HEAVY, 2, "laplace", 0.23),
        (ONE_HEAVY, 2, "staircase", 0.3),
        (EXTREME, 3, "laplace", 0.11),
        (EXTREME, 2, "staircase", 0.185),
    ):
        together = PAGE.unsplit(users, LAWS[noise](eps))
        assert beyond.best_split(users, LAWS[noise](eps)).error < (1 - smallest_gain) * together


def test_text_and_tables_have_the_same_numbers():
    """In sentences and tables, savings are rounded down, and ratios to a floor are rounded up."""
    stored = glued("projection")
    savings = pd.read_csv(BOOK / "data" / "split-gains.csv")
    savings["percent"] = 100 * (1 - savings.split / savings.projected)
    savings = savings.set_index(["collection", "noise", "eps"]).percent
    (gains,) = [rows for rows in tables("projection") if "0.25" in rows[0]]
    gains = {(name, noise.lower()): row for name, noise, *row in gains[2:]}
    assert len(gains) == 6
    for key, row in gains.items():
        for eps, entry in zip((0.1, 0.25, 0.5, 1, 2, 3), row, strict=True):
            saved = savings[(*key, eps)]
            assert entry == ("-" if saved == 0 else f"{np.floor(saved):.0f} %")
    for noise in LAWS:
        gains_shown = [x for key, row in gains.items() if key[1] == noise for x in row if x != "-"]
        assert stored[f"split-most-{noise}"] == max(gains_shown, key=lambda x: int(x.split()[0]))
    (projected,) = [rows for rows in tables("projection") if "projected, best width" in rows[0]]
    projected = {eps: entry for eps, _, entry in projected[2:]}
    assert stored["split-mended"] == projected["4"]
    assert stored["split-mended-six"] == projected["6"]


# prp-no-width: one user with 1,000 samples, 9,000 with one, eps = 2

HEAVIER = ud.Contributions([1000] + [1] * 9000, upper=1)
ERROR_OF_TABLE = Fraction(73, 3540) + Fraction(1, 20_000)


def test_a_table_of_six_cells_is_private_and_has_the_error_stated():
    """The error at each mean of a fine grid, for both cells at common ends; all pairs of rows."""
    table = PAGE.table_of_six()
    factor, risk = PAGE.factor_and_risk(table)
    e2_from_below = Fraction(7389, 1000)
    assert float(e2_from_below) < np.exp(2)
    for first, second in product(table, repeat=2):
        assert all(p <= factor * q for p, q in zip(first, second, strict=True))
    assert factor < e2_from_below
    errors = []
    for cell, row in enumerate(table):
        for x in range(10 * cell, 10 * cell + 11):
            distances = [abs(Fraction(output, 6) - Fraction(x, 60)) for output in range(len(row))]
            errors.append(sum(p * d for p, d in zip(row, distances, strict=True)))
    assert max(errors) == risk == Fraction(73, 354)
    assert risk / 10 + Fraction(1, 20_000) == ERROR_OF_TABLE
    assert beyond.minimax_lower_bound(HEAVIER, 2) < ERROR_OF_TABLE
    assert risk > beyond.minimax_lower_bound(ud.Contributions([1], 1), 2)
    lopsided = [[Fraction(3, 4), Fraction(1, 4)]]
    assert PAGE.factor_and_risk(lopsided) == (1, Fraction(3, 4)), "the upper end of a cell counts"
    changed = [[*table[0][:-2], table[0][-2] + table[0][-1] / 2, table[0][-1] / 2], *table[1:]]
    assert PAGE.factor_and_risk(changed)[0] > e2_from_below


def test_each_of_many_widths_has_a_larger_error_on_one_of_two_datasets():
    """On the two datasets of the proof, from the density; some widths are not whole numbers."""
    law, N = beyond.StaircaseNoise(2), 10_000
    assert law.mean_abs < 0.5
    steps = np.arange(-40, 41)
    kinks = np.concatenate([steps, steps + law.gamma, steps - law.gamma])
    nodes, weights = np.polynomial.legendre.leggauss(4)
    rng = np.random.default_rng(6)
    widths = [0.01, 0.3, 1, 579, 579.3, 1000, 2500, *rng.uniform(0, 1000, 60)]
    for S in widths:
        d, change, largest = max(1000 - S, 0) / (2 * N), S / N, 0.0
        for f in (0.5, 0.5 + d):
            cuts = np.concatenate([kinks, [(f - 0.5) / change, -0.5 / change, 0.5 / change]])
            ends = np.unique(cuts.clip(-40, 40))
            half_lengths = np.diff(ends)[:, None] / 2
            z = ends[:-1, None] + half_lengths * (1 + nodes)
            errors = np.abs(np.clip(0.5 + change * z, 0, 1) - f)
            error = np.sum(errors * np.exp(law.log_density(z)) * half_lengths * weights)
            largest = max(largest, error)
        assert largest > 1.59 * ERROR_OF_TABLE
        if 1 <= S <= 1000:
            stated = beyond.projected_error(HEAVIER, S, beyond.StaircaseNoise(2))
            assert largest == pytest.approx(stated, rel=1e-9)
    assert beyond.best_split(HEAVIER, beyond.StaircaseNoise(2)).error < 1.1 * ERROR_OF_TABLE
