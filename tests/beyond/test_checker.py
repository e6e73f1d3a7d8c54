"""The checker of certificates is sound: no multipliers prove more than a mechanism attains.

A check that forgets a factor e^(d eps) still refuses a certificate that was spoilt at random, and
accepts those of its own solver: these are the best for the true factor. So here the multipliers
are the best ones of other programs, in two ways.

- They solve a program that is wrong on purpose, as a wrong check would have it: without the factor,
  with another exponent, with constraints the wrong way round, without one of the means.
- They solve the right program of another problem: another budget, other users, other levels.

What the checker makes of each is at most the least error on these datasets, which a program written
from the definition attains.
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

SOLVER = 1e-6

# Groups of equal users, one after the other: the numbers of records, and the levels of a block.
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


def bare(name, eps):
    """A certificate of a family with all of its datasets, and without multipliers."""
    counts, groups, unit = FAMILIES[name]
    sizes = sorted({*counts}, reverse=True)
    stands = [
        [s for s in product(range(g.n_blocks + 1), repeat=len(g.levels)) if sum(s) == g.n_blocks]
        for g in groups
    ]
    datasets = tuple(product(*stands))
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


def means_of(made):
    """The sums of all datasets in units, from their levels."""
    levels = [level for group in made.groups for level in group.levels]
    return [sum(np.multiply(sum(dataset, ()), levels).tolist()) for dataset in made.datasets]


def users_apart(made, c, d):
    """How many users have to move between two datasets: blocks, by their ranks in order."""
    total = 0
    for group, here, there in zip(made.groups, made.datasets[c], made.datasets[d], strict=True):
        stay = sum(min(pair) for pair in zip(here, there, strict=True))
        total += group.block_size * (group.n_blocks - stay)
    return total


def mechanism(made):
    """The least error on all datasets of a family, over N: the primal program, by definition.

    Its solution is a private mechanism for these datasets, so no proof reaches above its error.
    """
    means, eps = means_of(made), float(made.eps)
    places = sorted({*means})
    n, k = len(means), len(places)
    rows = []
    for c, d in product(range(n), repeat=2):
        for y in range(k if c != d else 0):
            row = np.zeros(n * k + 1)
            row[c * k + y], row[d * k + y] = 1, -math.exp(eps * users_apart(made, c, d))
            rows.append(row)
    for c in range(n):
        row = np.zeros(n * k + 1)
        row[c * k : (c + 1) * k] = [abs(means[c] - place) for place in places]
        row[-1] = -1
        rows.append(row)
    sums = np.hstack([np.kron(np.eye(n), np.ones(k)), np.zeros((n, 1))])
    goal = np.append(np.zeros(n * k), 1)
    found = optimize.linprog(goal, rows, np.zeros(len(rows)), sums, np.ones(n))
    return found.fun / made.unit / sum(m * n for m, n in made.counts)


# How a check may be wrong: the factor that it takes for d users at a budget, the sign of the loads
# at the first dataset, and which means it forgets.
WRONG = {
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
MOST = 4
"""Loads are at most so many times the range: of some wrong programs the optimum is infinite."""


@cache
def solved(name, eps):
    """The right multipliers of a problem, its datasets and its number of means."""
    made = bare(name, eps)
    weights, loads, _ = multipliers(made)
    return weights, loads, len(made.datasets), len({*means_of(made)})


def multipliers(made, *, factor=None, swapped=False, means=slice(None), shift=0.0):
    """Return the best weights and loads of a program, as a wrong check would have it: its dual."""
    factor = factor or (lambda d, eps: math.exp(d * eps))
    sums = means_of(made)
    places = sorted({*sums})
    n, k = len(sums), len(places)
    pairs = [(c, d, y) for c, d in product(range(n), repeat=2) if c != d for y in range(k)]
    counted = range(k)[means]
    # Variables: n weights, the loads, and for each dataset the least of its costs, whose sum grows.
    rows = {place: np.zeros(n + len(pairs) + n) for place in product(range(n), counted)}
    for (c, y), row in rows.items():
        row[c] = -abs(sums[c] - places[y] + shift) / places[-1]
        row[n + len(pairs) + c] = 1
    for column, (c, d, y) in enumerate(pairs, start=n):
        there = factor(users_apart(made, c, d), float(made.eps))
        here, there = (there, 1) if swapped else (1, there)
        if y in counted:
            rows[c, y][column] -= here
            rows[d, y][column] += there
    goal = np.concatenate([np.zeros(n + len(pairs)), -np.ones(n)])
    weigh = np.concatenate([np.ones(n), np.zeros(len(pairs) + n)])
    limits = [(0, 1)] * n + [(0, MOST)] * len(pairs) + [(None, None)] * n
    table = [*rows.values()]
    found = optimize.linprog(goal, table, np.zeros(len(table)), [weigh], [1], limits)
    weights = tuple(max(round(w * 2**40), 0) for w in found.x[:n])
    whole = [max(round(load * 2**40), 0) for load in found.x[n : n + len(pairs)]]
    loads = tuple((*pair, load) for pair, load in zip(pairs, whole, strict=True) if load)
    return weights, loads, places[-1]


def checked(made, weights, loads, unit):
    """What the checker makes of multipliers: by its formula, and by all that it demands."""
    other = floor._proved(replace(made, weights=weights, loads=loads, load_unit=unit))
    assert other.check() == other.bound
    return float(other.bound)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_best_multipliers_of_a_wrong_check_prove_no_more_than_a_mechanism_attains(name):
    for eps in BUDGETS:
        made = bare(name, eps)
        attained = mechanism(made)
        for wrong, how in WRONG.items():
            proved = checked(made, *multipliers(made, **how))
            told = f"{proved:.6g} is proved with {wrong}, where {attained:.6g} is attained"
            assert proved <= attained + SOLVER, told
            # The right program proves all of it: what is compared is worth comparing.
            assert wrong != "nothing" or proved >= attained - SOLVER, told


@pytest.mark.parametrize("name", FAMILIES)
def test_the_best_multipliers_of_another_problem_prove_no_more_than_a_mechanism_attains(name):
    for eps in BUDGETS:
        made = bare(name, eps)
        attained = mechanism(made)
        shape = len(made.datasets), len({*means_of(made)})
        for other in product(FAMILIES, (Fraction(1, 1000), Fraction(1, 2), Fraction(5))):
            weights, loads, *its_shape = solved(*other)
            if (*its_shape,) == shape:
                for unit in (1, 3, 20):  # in loads of another scale
                    assert checked(made, weights, loads, unit) <= attained + SOLVER


@pytest.mark.parametrize("counts", [[1], [1, 1], [2, 1], [3, 2, 2, 1]], ids=str)
def test_closed_forms_with_any_factor_prove_no_more_than_releases_attain(counts):
    """A larger factor is allowed, and proves less: it is that of another budget."""
    users = ud.Contributions(counts, 1)
    for eps in (Fraction(1, 4), Fraction(1), Fraction(2)):
        S = beyond.threshold(users, beyond.StaircaseNoise(eps), "l1")
        attained = beyond.optimal_error(users, beyond.StaircaseNoise(eps), "l1")
        attained = min(attained, beyond.projected_error(users, S, beyond.StaircaseNoise(eps)), 0.5)
        zero = floor._bare(users, eps)
        for n in range(1, len(counts) + 1):
            for more in (1, 2, 5):
                chain = replace(zero, n_users=n, factors=((1, q(more, eps)),))
                assert float(floor._proved(chain).check()) <= attained + 1e-12
                if more * n * eps <= 6:
                    factors = ((n, q(more * n, eps)),)
                    lattice = replace(zero, source="lattice", n_users=n, factors=factors)
                    assert float(floor._proved(lattice).check()) <= attained + 1e-12


def test_a_factor_that_takes_too_long_to_evaluate_is_refused():
    zero = floor._bare(ud.Contributions([1], 1), 1)
    endless = replace(zero, source="lattice", n_users=1, factors=((1, Fraction(10**30)),))
    with pytest.raises(ValueError, match=r"have a factor below e\^13"):
        endless.check()


def q(d, eps):
    return floor._factor(d, eps)[1]
