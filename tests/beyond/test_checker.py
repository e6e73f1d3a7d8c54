"""The checker of certificates is sound: no multipliers prove a floor above an attained error.

A check that forgets a factor e^(d eps) would still refuse a randomly spoilt certificate, and accept
those of the package's solver, which are optimal for the true factor. So these tests use multipliers
that are optimal for other programs, of two kinds.

- A program with a deliberate mistake, to which a wrong check would correspond: no factor, another
  exponent, reversed constraints, or a missing mean.
- The right program of another problem: another budget, other users, other levels.

The bound that the checker proves from them is at most the least error on these datasets, which a
linear program written from the definition computes.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import optimize

import userdp as ud
from userdp import beyond
from userdp.beyond import floor
from userdp.beyond.floor import FloorCertificate, UserGroup

SOLVER_TOLERANCE = 1e-6

# Counts of samples, groups of equal users with the levels of their blocks, and the unit of sums.
FAMILIES = {
    "one user at two levels": ([1], [UserGroup(1, 1, (0, 1))], 1),
    "one user at five levels": ([1], [UserGroup(1, 1, (0, 1, 2, 3, 4))], 4),
    "two users": ([1, 1], [UserGroup(1, 2, (0, 1))], 1),
    "two users at three levels": ([1, 1], [UserGroup(1, 2, (0, 1, 2))], 2),
    "two users together": ([1, 1], [UserGroup(2, 1, (0, 1, 2))], 1),
    "a heavy user and a light one": ([3, 1], [UserGroup(1, 1, (0, 3)), UserGroup(1, 1, (0, 1))], 1),
    "two of three users": ([2, 2, 1], [UserGroup(1, 2, (0, 2))], 1),
}
BUDGETS = [Fraction(1, 4), Fraction(1), Fraction(2)]


def certificate_without_loads(name, eps):
    """A certificate of a family with all of its datasets, equal weights and no loads."""
    counts, groups, unit = FAMILIES[name]
    sizes = sorted({*counts}, reverse=True)
    positions = [
        [s for s in product(range(g.n_blocks + 1), repeat=len(g.levels)) if sum(s) == g.n_blocks]
        for g in groups
    ]
    datasets = tuple(product(*positions))
    n_users = sum(g.block_size * g.n_blocks for g in groups)
    return FloorCertificate(
        counts=tuple((size, counts.count(size)) for size in sizes),
        upper=Fraction(1),
        eps=eps,
        bound=Fraction(0),
        source="datasets",
        n_users=n_users,
        factors=tuple(floor._factor(d, eps) for d in range(n_users + 1)),
        unit=unit,
        groups=tuple(groups),
        datasets=datasets,
        weights=(1,) * len(datasets),
    )


def sums_of_datasets(certificate):
    """The sums of all datasets in units, from their levels."""
    levels = [level for group in certificate.groups for level in group.levels]
    return [sum(np.multiply(sum(dataset, ()), levels).tolist()) for dataset in certificate.datasets]


def n_differing_users(certificate, c, d):
    """The number of users who differ, if as few blocks as possible change their levels."""
    total = 0
    for group, first, second in zip(
        certificate.groups, certificate.datasets[c], certificate.datasets[d], strict=True
    ):
        unchanged = sum(min(pair) for pair in zip(first, second, strict=True))
        total += group.block_size * (group.n_blocks - unchanged)
    return total


def attained_error(certificate):
    """The smallest worst-case error on the datasets of a family, over N, by the primal program.

    The solution is a private mechanism for these datasets, so no valid proof gives a larger bound.
    """
    sums, eps = sums_of_datasets(certificate), float(certificate.eps)
    outputs = sorted({*sums})
    n, k = len(sums), len(outputs)
    rows = []
    for c, d in product(range(n), repeat=2):
        for y in range(k if c != d else 0):
            row = np.zeros(n * k + 1)
            row[c * k + y], row[d * k + y] = (
                1,
                -math.exp(eps * n_differing_users(certificate, c, d)),
            )
            rows.append(row)
    for c in range(n):
        row = np.zeros(n * k + 1)
        row[c * k : (c + 1) * k] = [abs(sums[c] - output) for output in outputs]
        row[-1] = -1
        rows.append(row)
    normalisation = np.hstack([np.kron(np.eye(n), np.ones(k)), np.zeros((n, 1))])
    goal = np.append(np.zeros(n * k), 1)
    solution = optimize.linprog(goal, rows, np.zeros(len(rows)), normalisation, np.ones(n))
    return solution.fun / certificate.unit / sum(m * n for m, n in certificate.counts)


# Possible mistakes of a check: in the factor for d users at a budget, in the dataset to which it
# applies, in the means.
MISTAKES = {
    "nothing": {},
    "no factor": {"factor": lambda d, eps: 1},
    "one user for several": {"factor": lambda d, eps: math.exp(min(d, 1) * eps)},
    "one user too few": {"factor": lambda d, eps: math.exp((d - 1) * eps)},
    "half of the budget": {"factor": lambda d, eps: math.exp(d * eps / 2)},
    "the factor upside down": {"factor": lambda d, eps: math.exp(-d * eps)},
    "1 + d eps": {"factor": lambda d, eps: 1 + d * eps},
    "the other dataset": {"swapped": True},
    "a load that costs nothing": {"factor": lambda d, eps: 0},
    "a load that is added on both sides": {"factor": lambda d, eps: -math.exp(d * eps)},
    "the first mean forgotten": {"means": slice(1, None)},
    "the last mean forgotten": {"means": slice(None, -1)},
    "means half a level off": {"shift": 0.5},
}
LARGEST_LOAD = 4
"""Upper bound on loads, as some wrong programs are unbounded."""


@cache
def optimal_multipliers(name, eps):
    """Optimal weights and loads of a problem, and its numbers of datasets and of means."""
    certificate = certificate_without_loads(name, eps)
    weights, loads, _ = multipliers(certificate)
    return weights, loads, len(certificate.datasets), len({*sums_of_datasets(certificate)})


def multipliers(certificate, *, factor=None, swapped=False, means=slice(None), shift=0.0):
    """Return an optimum of the dual program, perhaps with a mistake: weights, loads, load unit."""
    factor = factor or (lambda d, eps: math.exp(d * eps))
    sums = sums_of_datasets(certificate)
    outputs = sorted({*sums})
    n, k = len(sums), len(outputs)
    pairs = [(c, d, y) for c, d in product(range(n), repeat=2) if c != d for y in range(k)]
    counted = range(k)[means]
    # Variables: n weights, the loads, and each dataset's smallest cost; maximise the sum of these.
    rows = {cell: np.zeros(n + len(pairs) + n) for cell in product(range(n), counted)}
    for (c, y), row in rows.items():
        row[c] = -abs(sums[c] - outputs[y] + shift) / outputs[-1]
        row[n + len(pairs) + c] = 1
    for column, (c, d, y) in enumerate(pairs, start=n):
        factor_d = factor(n_differing_users(certificate, c, d), float(certificate.eps))
        factor_c, factor_d = (factor_d, 1) if swapped else (1, factor_d)
        if y in counted:
            rows[c, y][column] -= factor_c
            rows[d, y][column] += factor_d
    goal = np.concatenate([np.zeros(n + len(pairs)), -np.ones(n)])
    sum_of_weights = np.concatenate([np.ones(n), np.zeros(len(pairs) + n)])
    limits = [(0, 1)] * n + [(0, LARGEST_LOAD)] * len(pairs) + [(None, None)] * n
    table = [*rows.values()]
    solution = optimize.linprog(goal, table, np.zeros(len(table)), [sum_of_weights], [1], limits)
    weights = tuple(max(round(w * 2**40), 0) for w in solution.x[:n])
    rounded = [max(round(load * 2**40), 0) for load in solution.x[n : n + len(pairs)]]
    loads = tuple((*pair, load) for pair, load in zip(pairs, rounded, strict=True) if load)
    return weights, loads, outputs[-1]


def proved_bound(certificate, weights, loads, unit):
    """The bound that the checker proves from multipliers, by its formula and by the full check."""
    changed = floor._with_bound(replace(certificate, weights=weights, loads=loads, load_unit=unit))
    assert changed.check() == changed.bound
    return float(changed.bound)


@pytest.mark.parametrize("name", FAMILIES)
def test_multipliers_of_a_wrong_program_prove_no_more_than_the_attained_error(name):
    for eps in BUDGETS:
        certificate = certificate_without_loads(name, eps)
        attained = attained_error(certificate)
        for mistake, options in MISTAKES.items():
            proved = proved_bound(certificate, *multipliers(certificate, **options))
            message = f"{proved:.6g} is proved with {mistake}, but {attained:.6g} is attained"
            assert proved <= attained + SOLVER_TOLERANCE, message
            # The right program attains the bound, so the comparison is sharp.
            assert mistake != "nothing" or proved >= attained - SOLVER_TOLERANCE, message


@pytest.mark.parametrize("name", FAMILIES)
def test_multipliers_of_another_problem_prove_no_more_than_the_attained_error(name):
    for eps in BUDGETS:
        certificate = certificate_without_loads(name, eps)
        attained = attained_error(certificate)
        shape = len(certificate.datasets), len({*sums_of_datasets(certificate)})
        for other in product(FAMILIES, (Fraction(1, 1000), Fraction(1, 2), Fraction(5))):
            weights, loads, *other_shape = optimal_multipliers(*other)
            if (*other_shape,) == shape:
                for unit in (1, 3, 20):  # loads in other units
                    assert (
                        proved_bound(certificate, weights, loads, unit)
                        <= attained + SOLVER_TOLERANCE
                    )


@pytest.mark.parametrize("counts", [[1], [1, 1], [2, 1], [3, 2, 2, 1]], ids=str)
def test_closed_forms_with_valid_factors_prove_at_most_the_guarantee_of_releases(counts):
    """Factors of larger budgets are valid too, and prove less."""
    users = ud.Contributions(counts, 1)
    for eps in (Fraction(1, 4), Fraction(1), Fraction(2)):
        S = beyond.threshold(users, beyond.StaircaseNoise(eps), "l1")
        attained = beyond.optimal_error(users, beyond.StaircaseNoise(eps), "l1")
        attained = min(attained, beyond.projected_error(users, S, beyond.StaircaseNoise(eps)), 0.5)
        trivial = floor._trivial_certificate(users, eps)
        for n in range(1, len(counts) + 1):
            for multiple in (1, 2, 5):
                chain = replace(trivial, n_users=n, factors=((1, q(multiple, eps)),))
                assert float(floor._with_bound(chain).check()) <= attained + 1e-12
                if multiple * n * eps <= 6:
                    factors = ((n, q(multiple * n, eps)),)
                    lattice = replace(trivial, source="lattice", n_users=n, factors=factors)
                    assert float(floor._with_bound(lattice).check()) <= attained + 1e-12


def test_a_factor_that_takes_too_long_to_evaluate_is_refused():
    trivial = floor._trivial_certificate(ud.Contributions([1], 1), 1)
    too_long = replace(trivial, source="lattice", n_users=1, factors=((1, Fraction(10**30)),))
    with pytest.raises(ValueError, match=r"have a factor below e\^13"):
        too_long.check()


def q(d, eps):
    return floor._factor(d, eps)[1]
