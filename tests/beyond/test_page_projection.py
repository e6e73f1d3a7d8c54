"""The page on projected releases, by densities of the laws, grids of datasets and solvers."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from page_functions import functions_of
from scipy.optimize import brentq, minimize, minimize_scalar
from strategies import LAWS

import userdp as ud
from userdp import beyond
from userdp.beyond import errors

SOLVERS = {"brentq": brentq, "minimize": minimize, "minimize_scalar": minimize_scalar}
PAGE = functions_of("projection", **SOLVERS)
FLOORS = Path(__file__).resolve().parents[2] / "book" / "data" / "floors"

every_law = pytest.mark.parametrize("noise", LAWS)


def mean_distance(law, t, change, f, upper):
    """Mean of |P(t + change Z) - f|, P the projection to [0, upper], from the density."""
    n_steps, gamma = int(40 / law.eps) + 1, getattr(law, "gamma", 0.0)
    edges, kinks = np.arange(-n_steps, n_steps + 1), (np.array([0, upper, f]) - t) / change
    ends = np.unique(np.r_[edges, edges + gamma, edges - gamma, kinks])
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half_lengths = np.diff(ends)[:, None] / 2
    z = ends[:-1, None] + half_lengths * (1 + nodes)
    errors = abs(np.clip(t + change * z, 0, upper) - f)
    return np.sum(errors * np.exp(law.log_density(z)) * half_lengths * weights)


@every_law
@pytest.mark.parametrize("eps", [0.3, 1, 5])
def test_the_error_saved_by_projection_agrees_with_its_formula(noise, eps):
    law, rng = LAWS[noise](eps), np.random.default_rng(1)
    for _ in range(20):
        f, t, change = rng.uniform(0, 2), rng.uniform(0, 2), 10 ** rng.uniform(-1, 1)
        gain = law.mean_excess(np.array([t, 2 - t]), change).sum()
        projected = law.mean_error(t - f, change) - gain
        assert projected == pytest.approx(mean_distance(law, t, change, f, 2), rel=1e-8)


def test_computed_errors_of_projected_releases_agree_with_simulation():
    """Also around a guessed centre. The worst case of one user is attained at an end."""
    users, rng = ud.Contributions([9, 4, 1, 1], 10), np.random.default_rng(3)
    sums = users.counts * np.array([[9.0, 8.0, 10.0, 2.0], [10.0, 10.0, 0.0, 0.0]])
    for law, centre in ((1, None), (beyond.GaussianNoise(2), 6), (beyond.StaircaseNoise(0.5), 1)):
        options = {"total_width": 30, "budget": law, "centre": centre}
        copies = np.broadcast_to(sums, (100_000, 2, 4))
        releases = beyond.clipped_mean(copies, users, **options, rng=rng).clip(0, 10)
        errors = abs(releases - sums.sum(axis=1) / 15)
        stated = beyond.clipped_mean_error(sums, users, **options, project=True)
        np.testing.assert_allclose(errors.mean(axis=0), stated, rtol=0.01)
        plain = beyond.clipped_mean_error(sums, users, **options)
        assert np.all(stated < plain)
    user, S = ud.Contributions([1], 1), 0.589
    ends = beyond.clipped_mean_error([[0.0], [0.5], [1.0]], user, S, 1, project=True)
    assert ends.max() == pytest.approx(beyond.projected_error(user, S, 1))


@every_law
def test_a_projected_release_is_biased_towards_the_middle(noise):
    for eps, change in product((0.3, 2), (0.1, 1, 10)):
        law = LAWS[noise](eps)
        t = np.linspace(0, 1, 11)
        up, down = law.mean_excess(t, change), law.mean_excess(1 - t, change)
        expected = [mean_distance(law, x, change, 0, 1) for x in t]
        np.testing.assert_allclose(t + up - down, expected, rtol=1e-8)
        assert np.all(np.abs(up - down) <= change * float(law.mean_abs) / 2)
        same_side = (t + up - down - 0.5) * (t - 0.5)
        assert np.all((same_side > 0) | (t == 0.5))
        assert np.all((up - down) * (0.5 - t) >= 0)


@every_law
@pytest.mark.parametrize("n_users", [1, 2, 3, 4])
def test_no_dataset_of_a_grid_exceeds_the_projected_error_which_is_attained(noise, n_users):
    rng = np.random.default_rng(n_users)
    points = {1: 201, 2: 41, 3: 15, 4: 9}[n_users]
    grid = np.array(list(product(np.linspace(-0.5, 0.5, points), repeat=n_users)))
    for _ in range(60):
        users = ud.Contributions(rng.integers(1, 12, size=n_users), upper=1)
        S, eps = users.max_count * rng.uniform(0.02, 1), 10 ** rng.uniform(-1.5, 1)
        law, stated = LAWS[noise](eps), beyond.projected_error(users, S, LAWS[noise](eps))
        assert PAGE.errors_on(grid * users.counts, users, S, law).max() <= stated + 1e-12
        attained = [
            PAGE.errors_on(PAGE.worst_dataset(users, S, j), users, S, law)
            for j in range(np.sum(users.largest_sums > S) + 1)
        ]
        assert max(attained) == pytest.approx(stated, rel=1e-10)


def test_the_worst_number_of_users_at_the_top_is_found_in_blocks(monkeypatch):
    """thm-projected, 2, term by term; small blocks imitate millions of users."""
    monkeypatch.setattr(errors, "_BATCH", 3)
    rng, law, positions = np.random.default_rng(12), beyond.LaplaceNoise(1), []
    for _ in range(200):
        m = np.sort(rng.integers(1, 9, rng.integers(1, 40)))[::-1]
        S, scale = rng.uniform(0.1, 1) * m[0], 10 ** rng.uniform(-1, 2)
        n, N, scaled_law = int(np.sum(m > S)), m.sum(), beyond.LaplaceNoise(1 / scale)
        candidates = []
        for j in range(n + 1):
            d = np.sum(m[:j] - S) / (2 * N)
            tau = max(j * S - (n - j) * S - m[n:].sum(), 0) / (2 * N)
            x = np.array([d, 0.5 - tau, 0.5 + tau]) / (S / N * scale)
            candidates.append(d + S / N * scale * (law.excess(x) @ [2, -1, -1]))
        positions.append(np.argmax(candidates) / max(n, 1))
        stated = beyond.projected_error(ud.Contributions(m, 1.0), S, scaled_law)
        assert stated == pytest.approx(max(candidates), rel=1e-9)
    assert min(positions) < 0.6 < max(positions)


def test_the_worst_case_is_larger_if_samples_are_clipped_one_by_one():
    """One user, two samples: one at U, the other at the lower end of its interval."""
    users, samples, S, eps = ud.Contributions([2], 1.0), np.array([1, 1 / 16]), 7 / 4, 10
    clipped_sum = np.clip(samples, 1 / 16, 15 / 16).sum()
    assert np.clip(samples.sum(), 1 / 8, 15 / 8) == samples.sum()  # the sum is not clipped
    y = np.linspace(-2, 3, 500_001)
    scale = S / 2 / eps
    density = np.exp(-abs(y - clipped_sum / 2) / scale) / (2 * scale)
    error = np.trapezoid(abs(np.clip(y, 0, 1) - samples.mean()) * density, y)
    assert error > 1.05 * beyond.projected_error(users, S, eps)
    # With a single sample the two ways to clip are the same.
    user = ud.Contributions([1], 1.0)
    for x, width in product((0.5, 0.7, 0.9, 1), (0.2, 0.5, 0.8, 1)):
        clipped = np.clip(x, (1 - width) / 2, (1 + width) / 2)
        density = np.exp(-abs(y - clipped) * eps / width) * eps / (2 * width)
        error = np.trapezoid(abs(np.clip(y, 0, 1) - x) * density, y)
        assert error <= beyond.projected_error(user, width, eps) * (1 + 1e-6)


@every_law
def test_projection_never_raises_the_error_which_is_continuous_in_the_width(noise):
    rng = np.random.default_rng(5)
    for _ in range(200):
        users = ud.Contributions(rng.integers(1, 40, size=rng.integers(1, 30)), upper=65)
        eps, largest = 10 ** rng.uniform(-2, 1), 65 * users.max_count
        S, step = largest * rng.uniform(0.01, 1), largest * rng.uniform(-0.005, 0.005)
        error = beyond.projected_error(users, S, LAWS[noise](eps))
        assert error <= beyond.symmetric_error(users, S, LAWS[noise](eps), "l1") * (1 + 1e-12)
        assert error >= beyond.minimax_lower_bound(users, eps)
        slope = (users.n_users / 2 + float(LAWS[noise](eps).mean_abs)) / users.total
        assert abs(beyond.projected_error(users, S + step, LAWS[noise](eps)) - error) <= (
            slope * abs(step) * (1 + 1e-9)
        )
    assert beyond.projected_error(users, 0, LAWS[noise](1)) == 65 / 2
    assert beyond.projected_error(users, 9 * largest, LAWS[noise](1)) == beyond.projected_error(
        users, largest, LAWS[noise](1)
    )


@every_law
@pytest.mark.parametrize("eps", [0.05, 0.7, 3, 7])
def test_one_user_has_one_best_width(noise, eps):
    user, law = ud.Contributions([7], upper=2), LAWS[noise](eps)
    widths = np.linspace(0.01, 1, 100)[:-1]
    centred = np.array([PAGE.worst_dataset(user, 14, j) for j in (0, 1)])
    middle, end = np.transpose([PAGE.errors_on(centred, user, 14 * S, law) for S in widths])
    assert np.all(np.diff(middle) > 0)
    assert np.all(np.diff(end) < 0)
    best = 14 * PAGE.crossing(law)
    smallest = beyond.projected_error(user, best, LAWS[noise](eps))
    for factor in (0.99, 1.01):
        assert beyond.projected_error(user, best * factor, LAWS[noise](eps)) > smallest
    assert np.all(np.maximum(middle, end) >= smallest)


@pytest.mark.parametrize("eps", [0.1, 1, 2, 6])
def test_snapping_has_the_same_error_at_all_values_of_a_grid(eps):
    """prp-snap, from the density: pieces between the kinks, and the two atoms."""
    b = 1 / (2 + eps)
    assert (1 - 2 * b) / b == pytest.approx(eps)  # the sensitivity over the scale is the budget
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for x in np.linspace(0, 1, 21):
        t = np.clip(x, b, 1 - b)
        ends = np.unique([b, t, np.clip(x, b, 1 - b), 1 - b])
        half_lengths = np.diff(ends)[:, None] / 2
        y = ends[:-1, None] + half_lengths * (1 + nodes)
        inside = np.sum(abs(y - x) * np.exp(-abs(y - t) / b) / (2 * b) * half_lengths * weights)
        below, above = np.exp(-np.array([t - b, 1 - b - t]) / b) / 2
        assert inside + below * x + above * (1 - x) == pytest.approx(b, rel=1e-12)


@pytest.mark.parametrize("q", [Fraction(1, 20), Fraction(1, 2), Fraction(7, 9), Fraction(99, 100)])
@pytest.mark.parametrize(("p", "r"), [(0, 0), (0, 1), (-3, 4), (10, 22)])
def test_replacing_discrete_noise_beyond_the_range_by_its_mean_is_unbiased_and_never_worse(p, r, q):
    """thm-unbiased, 2, in exact arithmetic; the output is also private."""
    levels = [Fraction(k, 3) for k in range(-45, 46)]
    least, factor = PAGE.try_unbiased(p, r + 1, q, levels)
    assert least >= 0
    assert factor == 1 / q
    # The mass and the mean beyond the range, from the law of the noise itself.
    law = PAGE.masses(r, p, r, q)
    lowest = min(law)
    weight = [float((1 - q) / (1 + q) * q**k) for k in range(r - p + 1, 3000)]
    positions = r - np.arange(r - p + 1, 3000)
    assert sum(weight) == pytest.approx(float(law[lowest]), rel=1e-9)
    assert positions @ weight == pytest.approx(float(law[lowest] * lowest), rel=1e-9)


@pytest.mark.parametrize("b", [0.1, 1, 7])
def test_replacing_laplace_noise_beyond_the_range_by_its_mean_is_unbiased_and_never_worse(b):
    """thm-unbiased, 1, by quadrature of the density, for convex errors around any number."""
    p, r = -1.0, 2.0
    nodes, weights = np.polynomial.legendre.leggauss(40)
    bound = 45 * b
    convex = [abs, np.square, np.exp, lambda x: np.maximum(x - 0.3, 0), lambda x: abs(x) ** 3]
    for t, c in product((-1.0, 0.2, 2.0), (-3.0, 0.2, 1.7)):
        kinks = [t - bound, t + bound, t, c, c + 0.3, p, r]
        ends = np.unique(np.concatenate([kinks, np.linspace(t - bound, t + bound, 61)]))
        half_lengths = np.diff(ends)[:, None] / 2
        y = (ends[:-1, None] + half_lengths * (1 + nodes)).ravel()
        mass = (half_lengths * weights).ravel() * np.exp(-abs(y - t) / b) / (2 * b)
        g = np.select([y < p, y > r], [p - b, r + b], y)
        assert mass @ g == pytest.approx(t, abs=1e-10 * max(1, b))
        for phi in convex:
            if phi is np.exp and b >= 1:
                continue  # its mean is not finite
            assert mass @ phi(g - c) <= mass @ phi(y - c) + 1e-9
        # Only the conditional mean is unbiased, as a slightly different value shows.
        shorter = np.select([y < p, y > r], [p - 0.9 * b, r + b], y)
        assert abs(mass @ shorter - t) > 1e-3 * b * np.exp(-(t - p) / b)


def test_gaussian_excess_depends_on_the_clipped_mean():
    """The mean excess of releases beyond the range does; with Laplace noise, it does not."""
    law, change = beyond.GaussianNoise(1), 1.0

    def conditional_excess(t):
        return float(law.mean_excess(np.array(t), change) / law.tail(np.array(t)))

    assert conditional_excess(0.0) > 1.2 * conditional_excess(1.0) > 1.4 * conditional_excess(2.0)
    laplace = beyond.LaplaceNoise(1)
    t = np.array([0.0, 1, 2])
    np.testing.assert_allclose(laplace.mean_excess(t, 1.0) / laplace.tail(t), 1)


def test_no_step_towards_the_floor_raises_the_error():
    """On the paper's collections, the choice of the error measure saves most."""
    for stem, eps in product(
        ("eight-equal", "geometric", "extreme"), (Fraction(1, 4), Fraction(1))
    ):
        lines = (FLOORS / f"{stem}.jsonl").read_text(encoding="utf-8").splitlines()
        proofs = {proof.eps: proof for proof in map(beyond.FloorCertificate.from_json, lines)}
        users = ud.Contributions(proofs[eps].users.counts, upper=1)
        steps, floor = PAGE.steps_of(users, eps), float(proofs[eps].check())
        values = [*steps.values(), floor]
        assert np.all(np.diff(values) <= 1e-12), stem
        excess = steps["bias + noise"] - floor
        by_measure = (steps["bias + noise"] - steps["distance"]) / excess
        by_threshold = (steps["distance"] - steps["threshold"]) / excess
        by_projecting = (steps["threshold"] - steps["at its best"]) / excess
        if stem == "eight-equal":
            assert by_measure == pytest.approx(0, abs=1e-12)
            if eps < 1:
                assert by_threshold > 0.6 > 0.35 > by_projecting > 0.25
        else:
            assert by_measure > 0.4
            assert by_measure > by_threshold
            assert by_projecting < 0.02


@pytest.mark.parametrize(("n", "free"), [(2, 0), (2, 1), (3, 0)])
def test_the_stated_error_of_shrunk_releases_is_nearly_attained_on_a_grid_of_datasets(n, free):
    """From the density; no dataset of the grid exceeds it."""
    rng, law = np.random.default_rng(9), beyond.LaplaceNoise(1)
    users = ud.Contributions([4] * n + [1] * free, upper=1)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    # The density has a kink where the noise is 0.
    ends = np.concatenate([-np.geomspace(40, 0.01, 60), [0], np.geomspace(0.01, 40, 60)])
    half_lengths = np.diff(ends)[:, None] / 2
    z, mass = (
        (ends[:-1, None] + half_lengths * (1 + nodes)).ravel(),
        (half_lengths * weights).ravel(),
    )
    mass = mass * np.exp(law.log_density(z))
    for _ in range(4):
        S, shrink, a = rng.uniform(1.2, 3.9), rng.uniform(0.5, 1), rng.uniform(0, 0.2)
        stated = PAGE.shrunk_error(n, 4, free, S, shrink, a, law, points=201)
        worst = 0.0
        for y in product(np.linspace(-0.5, 0.5, 13), repeat=n + free):
            sums = np.array(y) * users.counts
            half_widths = np.minimum(users.counts, S) / 2
            t = 0.5 + np.clip(sums, -half_widths, half_widths).sum() / users.total
            f = 0.5 + sums.sum() / users.total
            released = 0.5 + shrink * (t + S / users.total * z - 0.5)
            worst = max(worst, float(mass @ abs(released.clip(a, 1 - a) - f)))
        assert 0.97 * stated < worst < stated * (1 + 1e-3)


def test_shrinking_saves_a_few_per_cent_for_equal_users_and_less_with_one_heavy_user():
    for n, m, free, least, most in ((8, 1, 0, 0.04, 0.08), (1, 100, 900, -1e-9, 0.01)):
        law = beyond.LaplaceNoise(1)
        users = ud.Contributions([m] * n + [1] * free, upper=1)
        gain = 1 - PAGE.best_shrunk(n, m, free, law).fun / PAGE.best_projected(users, law)[1]
        assert least < gain < most
