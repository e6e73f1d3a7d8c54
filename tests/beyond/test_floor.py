"""Certified floors: lower bounds on the error of all private mechanisms, with their proofs.

- Any weights and loads of a few datasets prove a bound (weak duality): `check` evaluates it in
  Fractions, from counts and datasets alone, with an upper bound on e^eps (thm-certificate).
- By hand: one user with one sample, at 0 or at U, has the bound U/(1 + e^eps). The minimax risk
  of one user is U/3 if e^eps = 1 + sqrt(2).
- A floor is at least the closed-form bound (thm-minimax, from thm-chain and thm-lattice), and at
  most the guarantee of any release, or the risk of a mechanism that a program finds (prp-bracket).
- Linear programs written from the definition give the same bounds for small families, and no
  multipliers prove more.
- A spoilt certificate is refused with the reason that applies.
- Stored certificates are valid. For n equal users, n times the bound rises towards
  1/(2 sinh(eps/2)) (thm-many); within a collection, equal users give a bound too (cor-many). A new
  search finds the stored bounds.
"""

import json
import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain, permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_functions import functions_of
from scipy import optimize, sparse
from strategies import EXTREME, GEOMETRIC, LAWS, collections

import userdp as ud
from userdp import beyond
from userdp.beyond import _programs, floor
from userdp.beyond.floor import FloorCertificate, UserGroup


def two_datasets(q):
    """One user with one sample, at 0 or at U, with multipliers of the bound U / (1 + q)."""
    n, d = q.as_integer_ratio()
    return FloorCertificate(
        counts=((1, 1),),
        upper=Fraction(1),
        eps=Fraction(1),
        bound=1 / (1 + q),
        source="datasets",
        n_users=1,
        factors=((1, q),),
        groups=(UserGroup(1, 1, (0, 1)),),
        datasets=(((1, 0),), ((0, 1),)),
        weights=(n + d, n + d),
        loads=((0, 1, 0, d), (1, 0, 1, d)),
    )


def test_multipliers_found_by_hand_prove_the_bound_of_one_user():
    for q in (Fraction(3), Fraction(2719, 1000), Fraction(10)):
        certificate = two_datasets(q)
        proved = certificate._evaluate()
        assert proved == 1 / (1 + q), f"the multipliers prove 1/(1 + q) at q = {q}, not {proved}"
        assert certificate.check() == proved


def test_the_floor_of_one_user_equals_the_known_minimax_risk():
    """At e^eps = 1 + sqrt(2) it is 1/3: an exercise on the page `lower-bound`."""
    proved = beyond.minimax_certificate(
        ud.Contributions([1], 1), math.log(1 + math.sqrt(2))
    ).check()
    assert 1 / 3 - 1e-9 < proved < 1 / 3 + 1e-15


@pytest.mark.parametrize("x", ["1e-6", "0.3", "4", "64", "200"])
def test_upper_bound_on_the_exponential_is_valid_and_tight(x):
    bound = floor._exp_above(Fraction(x))
    terms = [Fraction(1)]
    for n in range(1, 900):
        terms.append(terms[-1] * Fraction(x) / n)
    lower = sum(terms)
    assert lower < bound < lower * (1 + Fraction(1, 2**70))


@pytest.mark.parametrize("eps", [65, 1e300])
def test_the_floor_is_zero_for_very_large_budgets(eps):
    assert beyond.minimax_certificate(ud.Contributions([3, 1], 1), eps).check() == 0


def test_floor_scales_with_the_range_and_ignores_the_order_of_users():
    certificate = beyond.minimax_certificate(ud.Contributions([5, 2, 2], 1), 1)
    larger = beyond.minimax_certificate(ud.Contributions([2, 5, 2], Fraction(65, 3)), "1")
    assert larger.bound == certificate.bound * Fraction(65, 3)
    assert larger.check() == larger.bound
    assert beyond.minimax_certificate(ud.Contributions([2, 2, 5], 1.0), 1) == certificate


ROUNDING = 1 + 1e-9


def smallest_guarantee(users, eps):
    """The smallest guarantee of several releases of the package."""
    unprojected = [
        beyond.optimal_error(users, LAWS[noise](eps), "l1") for noise in ("laplace", "staircase")
    ]
    top = float(users.upper * users.max_count)
    widths = [*np.linspace(top / 8, top, 8), float(beyond.threshold(users, eps, "l1"))]
    return float(
        min(
            *unprojected,
            *(beyond.projected_error(users, S, beyond.StaircaseNoise(eps)) for S in widths),
        )
    )


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(collections(max_samples=12), st.floats(0.03, 7))
def test_floor_lies_between_the_closed_form_and_the_guarantees_of_releases(users, eps):
    certificate = beyond.minimax_certificate(users, eps)
    proved = certificate.check()
    assert proved == certificate.bound
    assert beyond.minimax_lower_bound(users, eps) <= proved * Fraction(ROUNDING)
    assert proved <= smallest_guarantee(users, eps) * ROUNDING
    assert FloorCertificate.from_json(certificate.to_json()) == certificate


@pytest.mark.parametrize("eps", ["1e-300", 1e-4, 9, 20])
def test_a_floor_lies_between_the_bounds_at_budgets_for_which_no_program_is_solved(eps):
    users = ud.Contributions([2**40, 3], 1)
    proved = float(beyond.minimax_certificate(users, eps).check())
    if eps == 20:  # thm-lattice is not used at this budget
        assert proved == pytest.approx(1 / (1 + math.exp(20)), rel=1e-9)
    else:
        assert proved >= beyond.minimax_lower_bound(users, eps) / ROUNDING
        assert proved <= beyond.optimal_error(users, beyond.StaircaseNoise(eps), "l1")


# Families of datasets, compared with linear programs written from the definition.
PARTS = _programs.PARTS
SOLVER_TOLERANCE = 1e-6
ENDS = [Fraction(0), Fraction(1)]
HALVES = [Fraction(0), Fraction(1, 2), Fraction(1)]
MIXED = [3, 2, 2, 1, 1]
BLOCKS = [(1, 1, (0, 3 * PARTS)), (2, 2, (0, 3 * PARTS))]


def solve_family(counts, groups, eps):
    """The certificate of one family of datasets, and the optimum of its linear program."""
    sizes, n_users = np.unique(counts, return_counts=True)
    sizes, n_users = sizes[::-1].tolist(), n_users[::-1].tolist()
    pairs = tuple(zip(sizes, n_users, strict=True))
    trivial = FloorCertificate(pairs, Fraction(1), Fraction(eps), Fraction(0), "chain", 0)
    groups = [_programs.Group(size, n, tuple(levels)) for size, n, levels in groups]
    (solution,) = _programs._solve(tuple(groups), float(eps))
    return floor._from_program(trivial, solution), solution.optimum / sum(counts)


def least_risk(counts, shares, eps):
    """The least risk on all datasets in which users have these shares of their largest sums.

    From the definition: a row of probabilities per dataset, a constraint per pair of neighbours.
    """
    datasets = [*product(shares, repeat=len(counts))]
    means = np.array([sum(map(Fraction.__mul__, map(Fraction, counts), d)) for d in datasets])
    means = (means / sum(counts)).astype(float).round(12)
    outputs = np.unique(means)
    n, k = len(datasets), outputs.size
    limits = []
    for c, d in permutations(range(n), 2):
        if sum(map(Fraction.__ne__, datasets[c], datasets[d])) == 1:
            for y in range(k):
                row = np.zeros(n * k + 1)
                row[[c * k + y, d * k + y]] = 1, -math.exp(eps)
                limits.append(row)
    normalisation = np.zeros((n, n * k + 1))
    for c in range(n):
        normalisation[c, c * k : (c + 1) * k] = 1
        row = np.zeros(n * k + 1)
        row[c * k : (c + 1) * k] = abs(outputs - means[c])
        row[-1] = -1
        limits.append(row)
    goal = np.zeros(n * k + 1)
    goal[-1] = 1
    return optimize.linprog(
        goal, np.array(limits), np.zeros(len(limits)), normalisation, np.ones(n)
    ).fun


@pytest.mark.parametrize("eps", [0.2, 1, 2.5])
@pytest.mark.parametrize(
    ("counts", "groups", "shares"),
    [
        ([1], [(1, 1, (0, PARTS))], ENDS),
        ([1], [(1, 1, (0, PARTS // 2, PARTS))], HALVES),
        ([2, 2, 1], [(1, 2, (0, 2 * PARTS)), (1, 1, (0, PARTS))], ENDS),
        ([3, 2, 1], [(1, 1, (0, m * PARTS)) for m in (3, 2, 1)], ENDS),
        ([1, 1, 1], [(1, 3, (0, PARTS // 2, PARTS))], HALVES),
        ([2, 1], [(1, 1, (0, PARTS, 2 * PARTS)), (1, 1, (0, PARTS // 2, PARTS))], HALVES),
    ],
    ids=["one user", "with a middle", "two of three alike", "all different", "middles", "both"],
)
def test_a_family_proves_the_least_risk_on_all_datasets(counts, groups, shares, eps):
    certificate, optimum = solve_family(counts, groups, eps)
    risk = least_risk(counts, shares, eps)
    assert float(certificate.check()) == pytest.approx(risk, abs=SOLVER_TOLERANCE)
    assert optimum == pytest.approx(risk, abs=SOLVER_TOLERANCE)


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_random_multipliers_prove_no_more_than_the_least_risk(seed):
    """With blocks of two users, and loads on datasets that differ in up to five users."""
    rng, risk = np.random.default_rng(seed), least_risk(MIXED, ENDS, 0.5)
    best, _ = solve_family(MIXED, BLOCKS, 0.5)
    n, n_means = len(best.datasets), len({*best._means()})
    factors = tuple(floor._factor(users, best.eps) for users in range(1, 6))
    loads = [(*pair, int(y), int(rng.integers(2**27))) for *pair, y in rng.integers(n, size=(3, 3))]
    loads = [(int(c), int(d), y % n_means, load) for c, d, y, load in loads if c != d]
    perturbed = [(*row[:3], int(row[3] * rng.uniform(0.9, 1.1))) for row in best.loads]
    changed = floor._with_bound(replace(best, factors=factors, loads=(*perturbed, *loads)))
    assert changed.check() <= best.bound * Fraction(ROUNDING)
    assert best.check() <= risk + SOLVER_TOLERANCE


def arrangements(group, blocks_per_level):
    """All assignments of users to levels; the users of a block are at the same level."""
    blocks = chain(*([level] * n for level, n in enumerate(blocks_per_level)))
    return {tuple(np.repeat(levels, group.block_size)) for levels in permutations(blocks)}


def test_distance_of_datasets_is_that_of_their_nearest_arrangements():
    groups = [(1, 1, (0, 3 * PARTS)), (2, 2, (0, PARTS, 3 * PARTS))]
    certificate, _ = solve_family(MIXED, groups, 1)
    numbers = range(len(certificate.datasets))
    for c, d in product(numbers, repeat=2):
        nearest = 0
        rows = certificate.groups, certificate.datasets[c], certificate.datasets[d]
        for group, first, second in zip(*rows, strict=True):
            pairs = product(arrangements(group, first), arrangements(group, second))
            nearest += min(np.count_nonzero(np.not_equal(*pair)) for pair in pairs)
        assert certificate._n_differing(c, d) == nearest


PAGE = functions_of("lower-bound", Fraction=Fraction, optimize=optimize, sparse=sparse)


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.5, 1, 2])
@pytest.mark.parametrize(("n", "cells"), [(1, 24), (2, 9), (3, 5)])
def test_floor_is_at_most_and_close_to_the_risk_of_a_mechanism_from_a_program(n, cells, eps):
    """prp-bracket: a mechanism for equal users, defined on cells of means."""
    ends = np.arange(n * cells + 1) / (n * cells)
    risk = PAGE.smallest_risk(ends[:-1], ends[1:], cells, eps)
    proved = float(beyond.minimax_certificate(ud.Contributions([1] * n, 1), eps).check())
    assert 0.9 * risk < proved <= risk + SOLVER_TOLERANCE


@pytest.mark.parametrize("eps", [0.5, 1, 2])
@pytest.mark.parametrize("counts", [[2, 2, 1], [2, 1, 1], [3, 2]], ids=str)
def test_equal_users_within_a_collection_bound_the_risk_on_all_datasets(counts, eps):
    """cor-many, by linear programs; at shares m_(n) / m_i the n heaviest users have equal sums."""
    shares = [Fraction(k, 6) for k in (0, 2, 3, 4, 6)] if counts == [3, 2] else HALVES
    risk = least_risk(counts, shares, eps)
    for n in range(1, len(counts) + 1):
        tau = n * least_risk([1] * n, ENDS, eps)
        assert risk >= counts[n - 1] / sum(counts) * tau - SOLVER_TOLERANCE


# Refused certificates.
def with_first_load(certificate, load):
    first, *others = certificate.loads
    return replace(certificate, loads=((*first[:3], load), *others))


def with_last_group(certificate, **changed):
    *others, last = certificate.groups
    return replace(certificate, groups=(*others, replace(last, **changed)))


def with_first_dataset(certificate, *dataset):
    return replace(certificate, datasets=(dataset, *certificate.datasets[1:]))


TOP = 3 * PARTS
FAULTS = {
    "a negative load": ("of at least 0", lambda c: with_first_load(c, -1)),
    "a load in floats": ("whole numbers", lambda c: with_first_load(c, 1.0)),
    "a unit in floats": ("whole numbers", lambda c: replace(c, unit=float(c.unit))),
    "a level in floats": ("whole numbers", lambda c: with_last_group(c, levels=(0, float(TOP)))),
    "a count in floats": ("whole numbers", lambda c: replace(c, counts=((3.0, 1), *c.counts[1:]))),
    "a dataset in floats": (
        "whole numbers",
        lambda c: with_first_dataset(c, *(tuple(map(float, row)) for row in c.datasets[0])),
    ),
    "a load between others": ("loads on its own", lambda c: replace(c, loads=((0, 6, 0, 1),))),
    "a load far off": ("a factor for 3 users", lambda c: replace(c, loads=((0, 4, 0, 1),))),
    "a load on no mean": ("loads on its own", lambda c: replace(c, loads=((0, 1, 4, 1),))),
    "a negative weight": ("of at least 0", lambda c: replace(c, weights=(-1, *c.weights[1:]))),
    "a weight too few": ("one weight per", lambda c: replace(c, weights=c.weights[1:])),
    "no weight": ("have a positive weight", lambda c: replace(c, weights=(0,) * 6)),
    "a factor too small": (
        "e\\^\\(d eps\\)",
        lambda c: replace(c, factors=tuple((n, q - Fraction(1, 2**59)) for n, q in c.factors)),
    ),
    "a factor in floats": ("exact", lambda c: replace(c, factors=((1, 1.7), (2, 2.8)))),
    "a larger budget": ("e\\^\\(d eps\\)", lambda c: replace(c, eps=c.eps + Fraction(1, 2**50))),
    "a level too high": ("blocks can reach", lambda c: with_last_group(c, levels=(0, TOP + 1))),
    "the last of three levels too high": (
        "blocks can reach",
        lambda c: with_last_group(c, levels=(0, 1, TOP + 1)),
    ),
    "decreasing levels": ("increasing", lambda c: with_last_group(c, levels=(0, -1 + 1))),
    "a first level above 0": ("begin with 0", lambda c: with_last_group(c, levels=(1, TOP))),
    "lighter users": ("can reach", lambda c: replace(c, counts=((3, 1), (2, 1), (1, 3)))),
    "unordered users": ("largest first", lambda c: replace(c, counts=((1, 2), (2, 2), (3, 1)))),
    "a user in two groups": (
        "users for its",
        lambda c: replace(c, groups=(*c.groups, c.groups[0])),
    ),
    "too few users": ("users for its groups", lambda c: with_last_group(c, n_blocks=3)),
    "a block too few": ("each block", lambda c: with_first_dataset(c, (1, 0), (1, 0))),
    "a block at two levels": ("each block", lambda c: with_first_dataset(c, (1, 1), (2, 0))),
    "a missing level": ("each level", lambda c: with_first_dataset(c, (1,), (2, 0))),
    "a missing group": ("each group", lambda c: with_first_dataset(c, (1, 0))),
    "a wrong bound": (
        "exactly its bound",
        lambda c: replace(c, bound=c.bound + Fraction(1, 10**9)),
    ),
    "a bound in floats": ("exact: bound", lambda c: replace(c, bound=float(c.bound))),
    "a larger range": ("exactly its bound", lambda c: replace(c, upper=c.upper * 2)),
    "no range": ("positive", lambda c: replace(c, upper=Fraction(0))),
    "no budget": ("positive", lambda c: replace(c, eps=Fraction(0))),
    "no users": ("have users", lambda c: replace(c, counts=())),
    "another number": ("have n_users = 5", lambda c: replace(c, n_users=4)),
    "another source": ("one of the sources", lambda c: replace(c, source="faith")),
}


@pytest.mark.parametrize(("words", "spoil"), FAULTS.values(), ids=FAULTS)
def test_a_spoilt_certificate_is_refused(words, spoil):
    certificate, _ = solve_family(MIXED, BLOCKS, 0.5)
    assert certificate.check() == certificate.bound > 0
    faulty = spoil(certificate)
    if "bound" not in words:
        # Adjust the bound, which would otherwise be the reason.
        with suppress(IndexError, ValueError):
            faulty = replace(faulty, bound=faulty._evaluate())
    with pytest.raises(ValueError, match=f"The certificate must .*{words}"):
        faulty.check()


DECREASING_COUNTS = [
    [1] * 9,
    [100, 1, 1],
    [9] + [1] * 30,
    [30] * 4 + [7] * 20 + [1] * 100,
    [*range(30, 0, -1)],
    [2**k for k in range(12, -1, -1)],
]


@pytest.mark.parametrize("eps", [0.02, 0.1, 0.5, 1, 3])
def test_the_best_chain_is_found_and_proves_the_bound_of_its_theorem(eps):
    """thm-chain: the change by n users over 1 + cosh eps + n sinh eps; thm-lattice for n <= 3."""
    for counts in DECREASING_COUNTS:
        best, *lattices = floor._closed_forms(
            floor._trivial_certificate(ud.Contributions(counts, 8), eps)
        )
        n = np.arange(len(counts)) + 1
        chains = np.cumsum(counts) / (1 + math.cosh(eps) + n * math.sinh(eps))
        assert float(best.bound) == pytest.approx(8 * chains.max() / sum(counts), rel=1e-12)
        assert [lattice.n_users for lattice in lattices] == [1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("eps", "sources"), [(12, ["chain", "lattice"]), (13, ["chain"]), (64, ["chain"]), (65, [])]
)
def test_closed_forms_are_left_out_if_they_are_almost_zero(eps, sources):
    trivial = floor._trivial_certificate(ud.Contributions([2, 1, 1], 1), eps)
    assert [certificate.source for certificate in floor._closed_forms(trivial)] == sources


@pytest.mark.parametrize("source", ["chain", "lattice"])
def test_closed_forms_are_refused_if_they_are_not_valid(source):
    users = ud.Contributions([2, 1, 1], 1)
    closed_forms = floor._closed_forms(beyond.minimax_certificate(users, 70))
    assert [*closed_forms] == []
    invalid = replace(beyond.minimax_certificate(users, 70), eps=Fraction(1))
    certificate = next(c for c in floor._closed_forms(invalid) if c.source == source)
    assert certificate.check() == certificate.bound > 0
    factors = tuple(floor._factor(users, invalid.eps) for users in (1, 4))
    with pytest.raises(ValueError, match="users as take part"):
        replace(certificate, n_users=4, factors=factors).check()
    with pytest.raises(ValueError, match=r"have a .*factor .*for"):
        replace(certificate, factors=()).check()
    (users, q), *_ = certificate.factors
    with pytest.raises(ValueError, match="factors of at least"):
        replace(certificate, factors=((users, q - Fraction(1, 2**59)),)).check()


@pytest.mark.parametrize("text", ["", "[]", "{}", "3", '{"counts": ["1 x"]}'])
def test_a_text_that_is_not_a_certificate_is_refused(text):
    with pytest.raises(ValueError, match="`text` must be a certificate"):
        FloorCertificate.from_json(text)


def test_a_certificate_read_from_its_json_is_equal():
    certificate, _ = solve_family(MIXED, BLOCKS, 0.5)
    assert FloorCertificate.from_json(certificate.to_json()) == certificate


def test_a_certificate_as_json_has_numbers_only_in_strings():
    document = json.loads(solve_family(MIXED, BLOCKS, 0.5)[0].to_json())
    values = chain(*(value if isinstance(value, list) else [value] for value in document.values()))
    assert {type(value) for value in values} == {str}


# The certificates of the book.
FLOORS = Path(__file__).resolve().parents[2] / "book" / "data" / "floors"
BUDGETS = [Fraction(x) for x in ("0.1", "0.25", "0.5", "1", "2", "3")]
STORED = {
    "geometric": GEOMETRIC.counts,
    "extreme": EXTREME.counts,
    "aircraft": pd.read_csv(FLOORS.parent / "aircraft-averages.csv").flights,
    "zipf": [max(1, round(1000 / rank)) for rank in range(1, 201)],
    "two-levels": [5] * 2 + [2] * 9,
    "eight-equal": [1] * 8,
    "one-heavy": [100] + [1] * 900,
}


def stored_certificates(name):
    lines = (FLOORS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [FloorCertificate.from_json(line) for line in lines]


def test_certificates_are_stored_for_these_collections_only_and_are_small():
    files = [*FLOORS.iterdir()]
    names = [*STORED, "many-users", "small-budgets"]
    assert {path.name for path in files} == {f"{name}.jsonl" for name in names}
    assert sum(path.stat().st_size for path in files) < 1_300_000
    assert max(len(line) for path in files for line in path.read_text("utf-8").split()) < 100_000


@pytest.mark.slow
@pytest.mark.parametrize("name", STORED)
def test_stored_certificates_are_valid_for_the_collections_of_the_book(name):
    certificates = stored_certificates(name)
    assert [certificate.eps for certificate in certificates] == BUDGETS
    for certificate in certificates:
        users, eps = certificate.users, certificate.eps
        assert sorted(users.counts) == sorted(STORED[name])
        assert users.upper == 1
        proved = certificate.check()
        assert beyond.minimax_lower_bound(users, eps) <= proved * Fraction(ROUNDING)
        assert proved <= beyond.optimal_error(users, beyond.StaircaseNoise(eps), "l1")
        for noise in ("laplace", "staircase"):
            S = beyond.threshold(users, LAWS[noise](eps), "l1")
            assert proved <= beyond.projected_error(users, S, LAWS[noise](eps))
            assert proved <= beyond.best_split(users, LAWS[noise](eps)).error


@pytest.mark.parametrize(("eps", "largest_n"), [(1, 32), (2, 16)])
def test_n_times_the_floor_of_n_equal_users_rises_towards_the_limit(eps, largest_n):
    """thm-many: below the limit, above the chain, and finally within 5 % of the limit."""
    limit, chain_bounds = 1 / (2 * math.sinh(eps / 2)), []
    certificates = {c.users.n_users: c for c in stored_certificates("many-users") if c.eps == eps}
    for n, certificate in certificates.items():
        assert certificate.users.counts.tolist() == [1] * n
        assert certificate.upper == 1
        chain_bounds.append(n / (1 + math.cosh(eps) + n * math.sinh(eps)))
    scaled_floors = np.array([n * float(c.check()) for n, c in certificates.items()])
    assert max(certificates) == largest_n
    assert np.all(np.diff(scaled_floors) > 0)
    assert np.all(scaled_floors > chain_bounds)
    assert 0.95 * limit < scaled_floors[-1] < limit


@settings(max_examples=20, deadline=None)
@given(collections(max_samples=40), st.sampled_from([1, 2]))
def test_no_release_has_a_guarantee_below_the_bound_from_equal_users_in_its_collection(users, eps):
    certificates = {c.users.n_users: c for c in stored_certificates("many-users") if c.eps == eps}
    sizes = sorted(users.counts.tolist(), reverse=True)
    guarantee = smallest_guarantee(users, eps)
    for n in range(1, len(sizes) + 1):
        nearest = max(k for k in certificates if k <= n)  # tau does not decrease with n
        tau = nearest * float(certificates[nearest].bound)
        assert float(users.upper) * sizes[n - 1] / users.total * tau <= guarantee * ROUNDING


@pytest.mark.parametrize(("name", "index"), [("geometric", 3), ("two-levels", 1)])
def test_a_new_search_finds_the_stored_bound(name, index):
    """The bounds agree up to the precision of solvers."""
    certificate = stored_certificates(name)[index]
    again = beyond.minimax_certificate(certificate.users, certificate.eps)
    assert float(again.bound) == pytest.approx(float(certificate.bound), rel=1e-5)


@pytest.mark.slow
def test_a_new_search_finds_the_stored_bound_of_a_larger_program():
    """For eight users, as in tools/floors.py; the bounds agree up to the precision of solvers."""
    (certificate,) = (
        c for c in stored_certificates("many-users") if (c.eps, c.users.n_users) == (2, 8)
    )
    again = floor._certificate_of_family(certificate.users, 2, ((1, 6, 1), (1, 2, 4)))
    assert float(again.check()) == pytest.approx(float(certificate.bound), rel=1e-5)
    assert again.bound > beyond.minimax_certificate(certificate.users, 2).bound


# Bounds in units of U, from random searches over many families for each budget.
SEARCHED = {
    "geometric": (0.185318, 0.130435, 0.093606, 0.064371, 0.035200, 0.020415),
    "extreme": (0.094350, 0.052387, 0.041647, 0.030931, 0.018643, 0.011494),
    "aircraft": (0.009300, 0.004189, 0.002130, 0.001177, 0.000569, 0.000290),
    "zipf": (0.185912, 0.136279, 0.102300, 0.072898, 0.040918, 0.023671),
    "two-levels": (0.330199, 0.229391, 0.161204, 0.102917, 0.051952, 0.030139),
    "eight-equal": (0.359645, 0.255428, 0.171702, 0.101376, 0.046545, 0.023878),
    "one-heavy": (0.049066, 0.044972, 0.039755, 0.031676, 0.020048, 0.012524),
}


@pytest.mark.parametrize("name", SEARCHED)
def test_the_fixed_list_of_families_is_nearly_as_good_as_long_searches(name):
    """Within three per cent."""
    for certificate, searched in zip(stored_certificates(name), SEARCHED[name], strict=True):
        assert float(certificate.bound) > 0.97 * searched
