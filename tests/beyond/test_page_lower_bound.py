"""Lower bounds on all mechanisms: paths, one user, small budgets, and factors of the optimum."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from page_functions import BOOK, functions_of, glued, tables
from scipy import optimize, sparse
from strategies import LAWS, budgets, collections

import userdp as ud
from userdp import beyond
from userdp.beyond.frontier import _risk_floors, _single_user_risk

PAGE = functions_of(
    "lower-bound",
    Fraction=Fraction,
    optimize=optimize,
    product=itertools.product,
    sinh=math.sinh,
    sparse=sparse,
)
factor = beyond.factor_of_every_statistic
NOISES = ("laplace", "staircase")
ROUNDING = 1 + 1e-12
SOLVER_TOLERANCE = 1e-6

wide_budgets = st.floats(-4, 2.5).map(lambda power: 10**power)
ties = st.sampled_from([2 / n for n in range(1, 9)] + [2 * math.log(1 + math.sqrt(2))])
all_budgets = st.one_of(wide_budgets, ties, budgets())


def one_user_bound(eps):
    """s(eps) by the recursion of thm-lattice; 0 from eps = 12 on, where it is almost 0."""
    return float(PAGE.lattice(Fraction(math.exp(eps)))[1]) if eps < 12 else 0.0


def slow_bound(counts, upper, eps):
    """Corollary thm-minimax for every choice of users, not only the heaviest."""
    best = 0.0
    for size in range(1, len(counts) + 1):
        chain = 1 / (1 + math.cosh(eps) + size * math.sinh(eps))
        largest = max(map(sum, itertools.combinations(counts, size)))
        group = one_user_bound(size * eps) if size <= 3 else 0.0
        best = max(best, upper * largest / sum(counts) * max(chain, group))
    return best


def risk_of_chain(counts, eps):
    """The least risk of private mechanisms on the datasets of the chain."""
    means = np.cumsum([0, *counts]) / sum(counts)
    return PAGE.smallest_risk(means, means, 1, eps)


def least_risk_on_cells(n, cells, eps):
    """The least risk for n equal users, if the mean is known only up to a cell of 1/(n cells)."""
    ends = np.arange(n * cells + 1) / (n * cells)
    return PAGE.smallest_risk(ends[:-1], ends[1:], cells, eps)


@settings(max_examples=30, deadline=None)
@given(collections(max_samples=12), st.floats(0.02, 3.9))
@example(ud.Contributions([1] * 2, 1.0), 0.44)  # a group is better than the chain
@example(ud.Contributions([1] * 3, 1.0), 0.0367)
@example(ud.Contributions([1] * 4, 1.0), 0.0139)  # the chain is better
@example(ud.Contributions([3] * 2, 1.0), 3.0)  # one of two users determines the bound
def test_bound_is_the_formula_over_all_groups_and_at_most_the_optimal_error_with_either_noise(
    users, eps
):
    bound = beyond.minimax_lower_bound(users, eps)
    expected = slow_bound(users.counts.tolist(), float(users.upper), eps)
    assert bound == pytest.approx(expected, rel=1e-9)
    for noise in NOISES:
        assert bound <= beyond.optimal_error(users, LAWS[noise](eps), "l1") * ROUNDING


@pytest.mark.parametrize("n", range(4, 12))
def test_larger_groups_hardly_improve_the_bound(n):
    for eps in np.geomspace(1e-3, 3, 200):
        chain = 1 / (1 + math.cosh(eps) + n * math.sinh(eps))
        assert _single_user_risk(np.array(n * eps)) < (1 + 2e-5) * chain


def test_bound_and_factor_have_their_limits_at_extreme_budgets():
    user = ud.Contributions([1], 1.0)
    assert (beyond.minimax_lower_bound(user, "1e-300"), beyond.minimax_lower_bound(user, 1500)) == (
        0.5,
        0,
    )
    assert beyond.optimality_factor("1e-300") == pytest.approx(2, rel=1e-12)
    assert beyond.optimality_factor(1500) == math.inf


@pytest.mark.parametrize("steps", range(1, 5), ids="{} steps".format)
@pytest.mark.parametrize("alpha", [Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)], ids=str)
def test_the_claim_in_the_proof_holds_on_all_extreme_paths(steps, alpha):
    """In exact arithmetic: each probability is as small or large as privacy allows, or 1/2."""

    def paths(p, remaining):
        if not remaining:
            yield [p]
            return
        low, high = max(alpha * p, 1 - (1 - p) / alpha), min(p / alpha, 1 - alpha * (1 - p))
        for after in {low, high, min(max(Fraction(1, 2), low), high)}:
            yield from ([p, *rest] for rest in paths(after, remaining - 1))

    starts = {alpha / (1 + alpha), 1 / (1 + alpha), *(Fraction(k, 10) for k in range(11))}
    least = min(
        PAGE.wrong_sides(path, [False, *between, True], alpha)
        for start in starts
        for path in paths(start, steps)
        for between in itertools.product([False, True], repeat=steps - 1)
    )
    assert least >= 2 * alpha / (1 - alpha**2)
    if steps == 1:
        assert least == 2 * alpha / (1 - alpha**2)


def nonconstant_values(n):
    values = st.lists(st.integers(0, 9), min_size=n, max_size=n)
    return values.filter(lambda drawn: len({*drawn}) > 1).map(lambda drawn: np.array(drawn, float))


@st.composite
def statistics(draw):
    """Values on the vertices of a connected graph, whose edges are neighbours."""
    n = draw(st.integers(2, 8))
    pairs = {(draw(st.integers(0, k - 1)), k) for k in range(1, n)}
    extra = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda ij: ij[0] < ij[1])
    pairs |= draw(st.sets(extra, max_size=4)) if n > 2 else set()
    return draw(nonconstant_values(n)), sorted(pairs)


@st.composite
def products(draw):
    """Values on all datasets of two or three users: neighbours differ in one user."""
    n_levels, n_users = draw(st.sampled_from([(2, 2), (2, 3), (3, 2)]))
    datasets = [*itertools.product(range(n_levels), repeat=n_users)]
    pairs = [
        (i, j)
        for (i, first), (j, second) in itertools.combinations(enumerate(datasets), 2)
        if sum(a != b for a, b in zip(first, second, strict=True)) == 1
    ]
    return draw(nonconstant_values(len(datasets))), pairs


every_statistic = given(st.one_of(statistics(), products()), st.floats(0.02, 3))


@settings(max_examples=60, deadline=None)
@every_statistic
def test_the_least_risk_for_a_statistic_is_at_least_the_bound_of_its_modulus(statistic, eps):
    """thm-chain, along paths on which the statistic goes up and down."""
    omega = PAGE.changes(*statistic)
    n = np.arange(1, omega.size)
    bounds = omega[1:] / (1 + math.cosh(eps) + n * math.sinh(eps))
    assert PAGE.least_risk(*statistic, eps) >= bounds.max() * (1 - SOLVER_TOLERANCE)


@settings(max_examples=60, deadline=None)
@every_statistic
def test_the_error_is_within_the_factor_of_every_statistic(statistic, eps):
    """thm-every-factor, also where the modulus is not concave, and for staircase noise."""
    omega, risk = PAGE.changes(*statistic), PAGE.least_risk(*statistic, eps)
    error = beyond.Modulus(omega).majorant(2 / eps) / 2
    assert error <= factor(eps) * risk * (1 + SOLVER_TOLERANCE)
    w = 1 / (2 * math.sinh(eps / 2))
    staircase_factor = (1 + math.cosh(eps)) / 2 + w * math.sinh(eps)
    staircase_error = beyond.Modulus(omega).majorant(2 * w) / 2
    assert staircase_error <= staircase_factor * risk * (1 + SOLVER_TOLERANCE)


def test_factor_of_every_statistic_increases_and_has_the_values_of_the_page():
    factors = [factor(eps) for eps in np.linspace(1e-6, 6, 2000)]
    assert np.all(np.diff(factors) > 0)
    assert factors[0] == pytest.approx(2, rel=1e-5)
    assert factor(1) < 2.45
    assert factor(2) < 4.2
    assert factor(2) == pytest.approx(factor(2 + 1e-9), rel=1e-6)
    assert float(glued("lower-bound")["every-factor-one"]) == 2.45


@pytest.mark.parametrize("eps", [2, 2.5, 3])
def test_from_two_on_a_binary_value_of_one_user_attains_the_factor(eps):
    risk = PAGE.least_risk(np.array([0.0, 1.0]), [(0, 1)], eps)
    assert risk == pytest.approx(1 / (1 + math.exp(eps)), rel=SOLVER_TOLERANCE)
    error = beyond.Modulus([0.0, 1.0]).optimal_error(eps)
    assert error / risk == pytest.approx(factor(eps), rel=SOLVER_TOLERANCE)


@pytest.mark.parametrize(("n", "eps"), [(2, 1), (4, 0.5), (8, 0.25), (8, 1), (3, 2)])
def test_mixed_mechanisms_of_a_path_have_the_privacy_and_the_error_in_the_proof(n, eps):
    """thm-small-budgets (1), for the best mechanism on a path of n equal users."""
    means = np.arange(n + 1) / n
    table, risk = PAGE.best_table(means, means, 1, eps)
    outputs, slope = n * eps * means, math.expm1(eps) / eps
    s = np.linspace(0, 1, 41)[:, None]
    mixed = np.concatenate([(1 - s) * table[j] + s * table[j + 1] for j in range(n)])
    theta = np.concatenate([(j + s[:, 0]) * eps for j in range(n)])
    ratios = np.diff(np.log(np.maximum(mixed, 1e-9)), axis=0)
    reliable = (mixed[1:] > 1e-4) & (mixed[:-1] > 1e-4)  # smaller ones are too imprecise
    assert np.abs(ratios[reliable]).max() <= slope * eps / 40 * 1.01
    errors = np.sum(mixed * np.abs(outputs - theta[:, None]), axis=1)
    assert errors.max() <= n * eps * risk + eps / 2 * math.tanh(eps / 2) + SOLVER_TOLERANCE


@pytest.mark.parametrize(
    ("n", "eps"), [(1, 1), (2, 1), (4, 0.5), (8, 0.25), (16, 0.125), (16, 0.5)]
)
def test_the_bounds_for_small_budgets_hold_at_other_budgets_too(n, eps):
    """thm-small-budgets (1) and (2): floors of 48 users from below, tables from above."""
    product, slope = n * eps, math.expm1(eps) / eps
    text = (BOOK / "data" / "floors" / "small-budgets.jsonl").read_text("utf-8")
    proofs = map(beyond.FloorCertificate.from_json, text.splitlines())
    (low,) = (product * float(p.bound) for p in proofs if p.eps * p.users.n_users == product)
    high = product * beyond.laplace_remap(ud.Contributions([1], 1.0), product).error
    risk = product * risk_of_chain([1] * n, eps)
    assert low / slope - eps / 2 * math.tanh(eps / 2) <= risk + SOLVER_TOLERANCE
    assert risk <= high
    optimum = product * ud.optimal_error(ud.Contributions([1] * n, 1.0), eps)
    assert optimum == pytest.approx(min(product / 2, 1), rel=1e-12)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.floats(0.05, 4))
def test_no_private_mechanism_on_the_chain_has_a_risk_below_the_bound(counts, eps):
    counts.sort(reverse=True)
    risk = risk_of_chain(counts, eps)
    n = len(counts)
    assert 1 / (1 + math.cosh(eps) + n * math.sinh(eps)) <= risk + SOLVER_TOLERANCE
    if n == 1:
        assert risk == pytest.approx(1 / (1 + math.exp(eps)), abs=SOLVER_TOLERANCE)


@settings(max_examples=30, deadline=None)
@given(st.integers(101, 4000))
def test_the_prior_of_the_lattice_certifies_its_bound_and_no_larger_one(hundredths):
    """eq-certificate in exact arithmetic, also outside the lattice; a larger r would fail."""
    q = Fraction(hundredths, 100)
    n, s, prior = PAGE.lattice(q)
    assert Fraction(1, n + 1) <= s <= Fraction(1, n)
    assert beyond.minimax_lower_bound(ud.Contributions([1], 1.0), math.log(q)) == pytest.approx(s)

    def smallest_sum(r):
        outputs = [Fraction(i, 37) for i in range(38)] + [mean for mean, _ in prior]
        gaps = [[(w, abs(mean - y) - r) for mean, w in prior] for y in outputs]
        return min(sum(w * min(u, q * u) for w, u in row) for row in gaps)

    assert smallest_sum(s) == 0 > smallest_sum(s + Fraction(1, 1000))


@pytest.mark.parametrize("eps", [0.3, math.log(1 + math.sqrt(2)), 2.0, 3.0])
def test_the_risk_of_one_user_is_known_to_about_one_per_cent(eps):
    bound = beyond.minimax_lower_bound(ud.Contributions([1], 1.0), eps)
    assert bound - SOLVER_TOLERANCE <= least_risk_on_cells(1, 24, eps) <= 1.012 * bound


def test_the_page_states_the_gap_of_one_user():
    """The gap is that at ε = 3, of the same linear program, rounded up."""
    user = ud.Contributions([1], 1.0)
    gap = least_risk_on_cells(1, 24, 3) / beyond.minimax_lower_bound(user, 3) - 1
    stated = float(glued("lower-bound")["lower-bound-one-known"].removesuffix(" %")) / 100
    assert gap - SOLVER_TOLERANCE <= stated < 0.0131


@settings(max_examples=40)
@given(st.lists(st.integers(0, 5), min_size=5, max_size=5).filter(any), st.floats(0.1, 4))
def test_the_bound_of_a_prior_is_at_most_the_risk_of_private_mechanisms(weights, eps):
    """lem-prior: the largest r of a random prior, compared with a linear program."""
    pi, means = np.array(weights) / sum(weights), np.linspace(0, 1, 5)
    q, gaps = math.exp(eps), np.abs(means[:, None] - means)

    def smallest_sum(r, gaps=gaps):
        u = pi[:, None] * (gaps - r)
        return np.minimum(u, q * u).sum(axis=0).min()

    r = optimize.brentq(smallest_sum, 0, 1, xtol=1e-13) if smallest_sum(0) > 0 else 0.0
    assert smallest_sum(r, np.abs(means[:, None] - np.linspace(0, 1, 241))) >= -1e-9
    assert r <= PAGE.smallest_risk(means, means, 4, eps, y=np.linspace(0, 1, 9)) + SOLVER_TOLERANCE


@pytest.mark.parametrize("eps", [0.4, 1.1, 2.5])
def test_a_group_has_at_least_the_risk_of_one_user_with_its_total_budget(eps):
    """lem-one-user for two equal users on a grid of means, where one user moves the mean by 1/2."""
    ends = np.linspace(0, 1, 9)
    assert PAGE.smallest_risk(ends, ends, 4, eps) >= PAGE.smallest_risk(ends, ends, 8, 2 * eps)


@given(collections(), all_budgets)
def test_the_error_is_within_the_factor_of_laplace_or_staircase_noise(users, eps):
    bound = beyond.minimax_lower_bound(users, eps) * ROUNDING
    for noise in NOISES:
        error = float(beyond.optimal_error(users, LAWS[noise](eps)))
        factor = beyond.optimality_factor(LAWS[noise](eps))
        assert error <= factor * bound or factor == math.inf


@given(all_budgets)
def test_factor_is_at_most_its_closed_form_and_attained_by_one_user(eps):
    user, x = ud.Contributions([1], 1.0), float(eps)
    assert beyond.optimality_factor(eps) == beyond.optimality_factor(beyond.LaplaceNoise(eps))
    for noise, w in {"laplace": 1 / x, "staircase": 1 / (2 * math.sinh(x / 2))}.items():
        factor = beyond.optimality_factor(LAWS[noise](eps))
        if x < 300:
            assert factor <= ((1 + math.cosh(x)) / 2 + w * math.sinh(x)) * ROUNDING
        if 2 * w <= 1:
            ratio = beyond.optimal_error(user, LAWS[noise](eps)) / beyond.minimax_lower_bound(
                user, eps
            )
            assert ratio == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize(("n", "eps"), [(40, 0.05), (400, 0.05), (400, 0.5)])
def test_equal_users_have_the_factor_of_the_corollary(n, eps):
    """Corollary cor-chain (2); the lower bound is that of the chain of all users."""
    users = ud.Contributions([3] * n, 1.0)
    factor = math.sinh(eps) / eps * (1 + 1 / math.tanh(eps / 2) / n)
    ratio = ud.optimal_error(users, eps) / beyond.minimax_lower_bound(users, eps)
    assert ratio == pytest.approx(factor, rel=1e-12)


def test_no_bound_increases_with_the_budget():
    """In addition, C_i / i does not increase with i."""
    risks = [PAGE.lattice(Fraction(k, 8))[1] for k in range(9, 800)]  # exactly, at q = k / 8
    assert all(after <= before for before, after in itertools.pairwise(risks))
    n = np.arange(1.0, 60)
    bounds = np.array([_risk_floors(n, eps) for eps in np.linspace(0.05, 8, 400)])
    assert np.all(bounds[1:] <= bounds[:-1] * ROUNDING)
    ratios = np.array([np.min(np.maximum(1 / i, 1 / n) / bounds, axis=1) for i in range(1, 30)])
    assert np.all(ratios[1:] <= ratios[:-1] * ROUNDING)


def test_the_factor_is_below_the_numbers_stated():
    """On an interval, the error is largest at the left end, and the bound smallest at the right."""

    def bound_on(start, end, noise):
        grid = np.linspace(start, end, 4000)
        factors = np.array([beyond.optimality_factor(LAWS[noise](eps)) for eps in grid[1:]])
        inverse_noise = grid if noise == "laplace" else np.sinh(grid / 2)
        return np.max(factors * inverse_noise[1:] / inverse_noise[:-1])

    for start, end, claimed in ((0.5, 1, 2.45), (1, 2.5, 2.61), (2.5, 3, 2.67), (3, 3.5, 2.91)):
        assert bound_on(start, end, "laplace") < claimed
    assert bound_on(1, 4.2, "staircase") < 2.42
    # Below these ranges the closed forms, which increase, are used; above them, q is at least 66.
    assert (1 + math.cosh(0.5)) / 2 + math.sinh(0.5) / 0.5 < 2.45
    assert (1 + math.cosh(1)) / 2 + math.cosh(0.5) < 2.42
    root, kappa = math.sqrt(66), 2 * math.asinh(math.sqrt(1 / 130))
    assert math.exp(4.2) > 66
    assert (3 + 2 * root) * root / 65 < 2.42
    assert root * kappa > 1.4
    assert math.tanh(1.4) > 0.88


@pytest.mark.parametrize("n", [2, 4])
def test_for_equal_users_the_lower_bounds_the_risk_and_the_errors_are_in_order(n):
    """The projected optimum is close to the least risk, the plain one almost twice it."""
    users, eps = ud.Contributions([1] * n, 1.0), 2 / n
    low = risk_of_chain([1] * n, eps)
    rough, fine = (least_risk_on_cells(n, cells, eps) for cells in (4, 8))
    optimum = beyond.optimal_error(users, beyond.StaircaseNoise(eps), "l1")
    ordered = [beyond.minimax_lower_bound(users, eps), low, fine, rough]
    assert np.all(np.diff(ordered) >= -SOLVER_TOLERANCE)
    assert fine <= optimum + SOLVER_TOLERANCE
    projected = min(beyond.projected_error(users, S, eps) for S in np.linspace(0.5, 0.7, 41))
    assert low <= projected <= 1.15 * low
    assert ud.optimal_error(users, eps) > 1.94 * low


def test_floors_of_eight_equal_users_stay_below_the_staircase_strategy():
    """The error of this strategy is 1/(2n sinh(eps/2)) for n users, so no floor can exceed it."""
    for line in (BOOK / "data" / "floors" / "eight-equal.jsonl").read_text("utf-8").splitlines():
        proof = beyond.FloorCertificate.from_json(line)
        assert 8 * proof.bound * Fraction(2 * math.sinh(proof.eps / 2)) < 1


def ratios_to_floors():
    """Ratios of releases' guarantees to certified floors, from the files of the page."""
    table = pd.read_csv(BOOK / "data" / "floors.csv")
    kinds = ["Laplace", "Laplace, split", "staircase", "staircase, split"]
    return table[kinds].div(table.certified, axis=0).assign(eps=table.eps, name=table.collection)


def test_the_table_agrees_with_the_stored_floors_and_with_recomputed_guarantees():
    table = pd.read_csv(BOOK / "data" / "floors.csv").set_index(["collection", "eps"])
    for name in table.index.unique("collection"):
        path = BOOK / "data" / "floors" / f"{name}.jsonl"
        proofs = map(beyond.FloorCertificate.from_json, path.read_text("utf-8").splitlines())
        bounds = {float(proof.eps): float(proof.bound) for proof in proofs}
        assert bounds == pytest.approx(dict(table.certified[name]), rel=1e-5)
    for name, noise in itertools.product(["extreme", "one-heavy", "two-levels"], NOISES):
        column = noise.replace("lap", "Lap")
        text = (BOOK / "data" / "floors" / f"{name}.jsonl").read_text("utf-8")
        users = beyond.FloorCertificate.from_json(text.splitlines()[0]).users
        for eps, row in table.loc[name].iterrows():
            S = beyond.threshold(users, LAWS[noise](eps), "l1")
            projected = beyond.projected_error(users, S, LAWS[noise](eps))
            split = beyond.best_split(users, LAWS[noise](eps)).error
            assert row[column] == pytest.approx(projected, rel=1e-5)
            assert row[f"{column}, split"] == pytest.approx(split, rel=1e-5)
            assert split <= projected * ROUNDING


def test_ratios_of_guarantees_to_floors_are_below_the_numbers_stated():
    """Split: below 1.28 up to eps = 1, with staircase noise below 1.57. Unsplit: about 1.7."""
    ratios = ratios_to_floors()
    assert ratios[ratios.columns[:4]].min().min() >= 1
    assert ratios[ratios.eps <= 1]["Laplace, split"].max() < 1.28
    assert ratios["staircase, split"].max() < 1.57
    one_heavy = ratios[ratios.name == "one-heavy"]
    assert one_heavy.staircase.max() > 1.69
    assert one_heavy["staircase, split"].max() < 1.25


def test_the_text_and_the_table_have_the_same_ratios_rounded_up():
    ratios, stored = ratios_to_floors().set_index(["name", "eps"]), glued("lower-bound")
    (table,) = [rows for rows in tables("lower-bound") if "0.10" in rows[0]]
    entries = {(name, kind): [*map(float, row)] for name, kind, *row in table[2:]}
    assert len(entries) == 4 * len(ratios.index.unique("name"))
    for (name, kind), row in entries.items():
        for eps, entry in zip((0.1, 0.25, 0.5, 1, 2, 3), row, strict=True):
            true = ratios[kind][name, eps]
            assert true - 1e-9 <= entry <= true + 0.01
    largest = {
        noise: np.max([row for (_, kind), row in entries.items() if kind == noise], axis=0)
        for noise in ("Laplace, split", "staircase, split")
    }
    assert float(stored["near-laplace-small"]) == max(largest["Laplace, split"][:4])
    assert float(stored["near-laplace-all"]) == max(largest["Laplace, split"])
    assert float(stored["near-staircase-all"]) == max(largest["staircase, split"])


def test_with_one_heavy_user_projection_is_not_within_three_halves_of_the_best():
    """prp-one-heavy with a coarser table and other thresholds."""
    users, eps = ud.Contributions([1000] + [1] * 9000, 1.0), 2
    table, risk = PAGE.best_table(*np.array([np.arange(12), np.arange(1, 13)]) / 12, 12, eps)
    assert (table.max(axis=0) <= math.exp(eps) * table.min(axis=0) + SOLVER_TOLERANCE).all()
    split_error = risk / 10 + 0.9 / 9000 / (2 * math.sinh(1))
    widths = [
        beyond.threshold(users, beyond.StaircaseNoise(eps), "l1"),
        *np.geomspace(1, 1000, 300),
    ]
    projected = [beyond.projected_error(users, S, beyond.StaircaseNoise(eps)) for S in widths]
    assert projected[0] > 1.5 * split_error
    assert min(projected) > 1.5 * split_error
    assert beyond.minimax_lower_bound(users, eps) < split_error
    assert beyond.best_split(users, beyond.StaircaseNoise(eps)).error < 1.2 * split_error
