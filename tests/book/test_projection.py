"""The page on projected releases: the laws' own densities, grids of datasets, solvers."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from page_functions import functions_of
from scipy.optimize import brentq, minimize, minimize_scalar

import userdp as ud

LAWS = {"laplace": ud.LaplaceNoise, "staircase": ud.StaircaseNoise}
PAGE = functions_of("projection", brentq=brentq, minimize=minimize, minimize_scalar=minimize_scalar)

every_law = pytest.mark.parametrize("noise", LAWS)


def distance(law, t, change, f, upper):
    """Mean of |P(t + change Z) - f|, P the projection to [0, upper], from the density alone."""
    reach, gamma = int(40 / law.eps) + 1, getattr(law, "gamma", 0.0)
    edges, kinks = np.arange(-reach, reach + 1), (np.array([0, upper, f]) - t) / change
    ends = np.unique(np.r_[edges, edges + gamma, edges - gamma, kinks])
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(ends)[:, None] / 2
    z = ends[:-1, None] + half * (1 + nodes)
    far = abs(np.clip(t + change * z, 0, upper) - f)
    return np.sum(far * np.exp(law.log_density(z)) * half * weights)


@every_law
@pytest.mark.parametrize("eps", [0.3, 1, 5])
def test_the_error_saved_by_projection(noise, eps):
    law, rng = LAWS[noise](eps), np.random.default_rng(1)
    for _ in range(20):
        f, t, change = rng.uniform(0, 2), rng.uniform(0, 2), 10 ** rng.uniform(-1, 1)
        saved = law.mean_excess(np.array([t, 2 - t]), change).sum()
        left = law.mean_error(t - f, change) - saved
        assert left == pytest.approx(distance(law, t, change, f, 2), rel=1e-8)


def test_mean_errors_of_projected_releases():
    """By simulation, around a guess; at most the worst case, and that where it occurs."""
    users, rng = ud.Contributions([9, 4, 1, 1], 10), np.random.default_rng(3)
    sums = users.counts * np.array([[9.0, 8.0, 10.0, 2.0], [10.0, 10.0, 0.0, 0.0]])
    for eps, centre in ((1, None), (ud.GaussianNoise(2), 6), (ud.StaircaseNoise(0.5), 1)):
        options = {"total_width": 30, "eps": eps, "centre": centre}
        many = np.broadcast_to(sums, (100_000, 2, 4))
        drawn = ud.clipped_mean(many, users, **options, rng=rng).clip(0, 10)
        off = abs(drawn - sums.sum(axis=1) / 15)
        found = ud.clipped_mean_error(sums, users, **options, project=True)
        np.testing.assert_allclose(off.mean(axis=0), found, rtol=0.01)
        plain = ud.clipped_mean_error(sums, users, **options)
        assert np.all(found < plain)
    one, S = ud.Contributions([1], 1), 0.589
    ends = ud.clipped_mean_error([[0.0], [0.5], [1.0]], one, S, 1, project=True)
    assert ends.max() == pytest.approx(ud.projected_error(one, S, 1))


@every_law
def test_a_projected_release_leans_towards_the_middle(noise):
    for eps, change in product((0.3, 2), (0.1, 1, 10)):
        law = LAWS[noise](eps)
        t = np.linspace(0, 1, 11)
        up, down = law.mean_excess(t, change), law.mean_excess(1 - t, change)
        expected = [distance(law, x, change, 0, 1) for x in t]
        np.testing.assert_allclose(t + up - down, expected, rtol=1e-8)
        assert np.all(np.abs(up - down) <= change * float(law.mean_size) / 2)
        beyond = (t + up - down - 0.5) * (t - 0.5)
        assert np.all((beyond > 0) | (t == 0.5))
        assert np.all((up - down) * (0.5 - t) >= 0)


@every_law
@pytest.mark.parametrize("n_users", [1, 2, 3, 4])
def test_no_dataset_is_worse_and_one_is_as_bad(noise, n_users):
    rng = np.random.default_rng(n_users)
    points = {1: 201, 2: 41, 3: 15, 4: 9}[n_users]
    grid = np.array(list(product(np.linspace(-0.5, 0.5, points), repeat=n_users)))
    for _ in range(60):
        users = ud.Contributions(rng.integers(1, 12, size=n_users), upper=1)
        S, eps = users.max_count * rng.uniform(0.02, 1), 10 ** rng.uniform(-1.5, 1)
        law, stated = LAWS[noise](eps), ud.projected_error(users, S, eps, noise)
        assert PAGE.errors_on(grid * users.counts, users, S, law).max() <= stated + 1e-12
        attained = [
            PAGE.errors_on(PAGE.worst_dataset(users, S, j), users, S, law)
            for j in range(np.sum(users.largest_sums > S) + 1)
        ]
        assert max(attained) == pytest.approx(stated, rel=1e-10)


@every_law
def test_projection_gains_and_is_bounded(noise):
    rng = np.random.default_rng(5)
    for _ in range(200):
        users = ud.Contributions(rng.integers(1, 40, size=rng.integers(1, 30)), upper=65)
        eps, most = 10 ** rng.uniform(-2, 1), 65 * users.max_count
        S, moved = most * rng.uniform(0.01, 1), most * rng.uniform(-0.005, 0.005)
        error = ud.projected_error(users, S, eps, noise)
        assert error <= ud.symmetric_error(users, S, eps, "l1", noise) * (1 + 1e-12)
        assert error >= ud.minimax_lower_bound(users, eps)
        slope = (users.n_users / 2 + float(LAWS[noise](eps).mean_size)) / users.total
        assert abs(ud.projected_error(users, S + moved, eps, noise) - error) <= (
            slope * abs(moved) * (1 + 1e-9)
        )
    assert ud.projected_error(users, 0, 1, noise) == 65 / 2
    assert ud.projected_error(users, 9 * most, 1, noise) == ud.projected_error(
        users, most, 1, noise
    )


@every_law
@pytest.mark.parametrize("eps", [0.05, 0.7, 3, 7])
def test_one_user_has_one_best_width(noise, eps):
    one, law = ud.Contributions([7], upper=2), LAWS[noise](eps)
    widths = np.linspace(0.01, 1, 100)[:-1]
    centred = np.array([PAGE.worst_dataset(one, 14, j) for j in (0, 1)])
    middle, end = np.transpose([PAGE.errors_on(centred, one, 14 * S, law) for S in widths])
    assert np.all(np.diff(middle) > 0)
    assert np.all(np.diff(end) < 0)
    best = 14 * PAGE.crossing(law)
    least = ud.projected_error(one, best, eps, noise)
    assert all(ud.projected_error(one, best * x, eps, noise) > least for x in (0.99, 1.01))
    assert np.all(np.maximum(middle, end) >= least)


@pytest.mark.parametrize("eps", [0.1, 1, 2, 6])
def test_snapping_has_the_same_error_on_every_dataset(eps):
    """prp-snap, from the density alone: pieces between the kinks, and the two atoms."""
    b = 1 / (2 + eps)
    assert (1 - 2 * b) / b == pytest.approx(eps)  # what noise of scale b covers
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for x in np.linspace(0, 1, 21):
        t = np.clip(x, b, 1 - b)
        ends = np.unique([b, t, np.clip(x, b, 1 - b), 1 - b])
        half = np.diff(ends)[:, None] / 2
        y = ends[:-1, None] + half * (1 + nodes)
        inside = np.sum(abs(y - x) * np.exp(-abs(y - t) / b) / (2 * b) * half * weights)
        below, above = np.exp(-np.array([t - b, 1 - b - t]) / b) / 2
        assert inside + below * x + above * (1 - x) == pytest.approx(b, rel=1e-12)


@pytest.mark.parametrize("q", [Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)], ids=str)
@pytest.mark.parametrize("t", range(4))
def test_averaged_beyond_the_range_a_release_is_unbiased_and_no_worse(q, t):
    """thm-unbiased, in whole numbers; the drawn noise's own moments from the series, cut late."""
    for f in (Fraction(0), Fraction(4, 3), Fraction(3)):
        mean, distance, square, drawn = PAGE.moments(t, q, 0, 3, f)
        assert mean == t
        law = {n: float((1 - q) / (1 + q) * q ** abs(n - t)) for n in range(-600, 601)}
        assert float(distance) == pytest.approx(sum(abs(n - f) * p for n, p in law.items()))
        assert float(drawn) == pytest.approx(float(sum((n - f) ** 2 * p for n, p in law.items())))
        assert square < drawn


@pytest.mark.parametrize("t", [0, 0.3, 1])
def test_laplace_noise_averaged_beyond_the_range(t):
    """By draws: no lean, and the mean square falls."""
    rng, b = np.random.default_rng(4), 0.8
    drawn = t + rng.laplace(0, b, 1_000_000)
    averaged = np.where(drawn < 0, -b, np.where(drawn > 1, 1 + b, drawn))
    assert averaged.mean() == pytest.approx(t, abs=5e-3)
    assert np.square(averaged - t).mean() < 0.8 * np.square(drawn - t).mean()
    assert abs(averaged - 0.6).mean() == pytest.approx(abs(drawn - 0.6).mean(), abs=5e-3)


def test_what_the_factor_is_made_of():
    """Each step is one down, and the page's sentences on the steps hold."""
    cases = {
        "equal": ud.Contributions([1] * 8, upper=1.0),
        "geometric": ud.geometric_collection(M=6, upper=1.0),
        "one heavy": ud.Contributions([100] + [1] * 900, upper=1.0),
    }
    steps = {name: PAGE.steps_to_the_floor(users, 1) for name, users in cases.items()}
    for found in steps.values():
        assert list(found.values()) == sorted(found.values(), reverse=True)
    equal = PAGE.steps_to_the_floor(cases["equal"], 0.25)
    found = [equal[name] for name in ("bias + noise", "l1 threshold", "best width", "floor")]
    assert np.round(found, 3).tolist() == [0.5, 0.341, 0.268, 0.247]
    geometric = steps["geometric"]
    assert geometric["l1 threshold"] - geometric["best width"] < 5e-4
    assert steps["one heavy"]["split"] < 0.85 * steps["one heavy"]["best width"]


def test_shrinking_gains_a_little():
    """Against all datasets of a grid; and without shrinking it is projection."""
    for n, eps in ((1, 1), (3, 0.7)):
        users, S = ud.Contributions([1] * n, upper=1.0), 0.6
        assert PAGE.shrunk_error(n, eps, S, 1, 0) == pytest.approx(
            ud.projected_error(users, S, eps), rel=1e-3
        )
        rng = np.random.default_rng(2)
        grid = np.array(list(product(np.linspace(0, 1, 11), repeat=n)))
        clipped = np.clip(grid, 0.5 - S / 2, 0.5 + S / 2).mean(axis=1)
        noise = rng.laplace(0, S / n / eps, 20_000)
        released = np.clip(0.5 + 0.8 * (clipped[:, None] + noise - 0.5), 0.05, 0.95)
        worst = abs(released - grid.mean(axis=1)[:, None]).mean(axis=1).max()
        assert PAGE.shrunk_error(n, eps, S, 0.8, 0.05) == pytest.approx(worst, rel=0.03)
    projected, shrunk = PAGE.best_shrunk(8, 1)
    assert 0.92 < shrunk / projected < 0.96
