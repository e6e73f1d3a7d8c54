"""The paper's quantities, computed slowly from their definitions without userdp's formulas."""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy import integrate, optimize


def per_sample(counts, clipping):
    """One (a, b) per sample, grouped by user, from intervals per user or per sample."""
    ends = list(zip(clipping.lower, clipping.upper, strict=True))
    if len(ends) == len(counts):
        return [[end] * m for end, m in zip(ends, counts, strict=True)]
    rest = iter(ends)
    return [[next(rest) for _ in range(m)] for m in counts]


def project(x, a, b):
    return min(max(x, a), b)


def largest_bias(counts, upper, clipping):
    """Sup of |f - f_clipped| over a grid of datasets with all corners and interval ends."""
    ends = list(itertools.chain(*per_sample(counts, clipping)))
    choices = [sorted({0, a, b, (a + b) / 2, upper}) for a, b in ends]
    return max(
        abs(sum(x - project(x, a, b) for x, (a, b) in zip(dataset, ends, strict=True)))
        for dataset in itertools.product(*choices)
    ) / Fraction(sum(counts))


def largest_change(counts, upper, clipping):
    """Largest change of the clipped mean when one user's samples move between two corners."""
    changes = []
    for ends in per_sample(counts, clipping):
        sums = [
            sum(project(x, a, b) for x, (a, b) in zip(samples, ends, strict=True))
            for samples in itertools.product((0, upper), repeat=len(ends))
        ]
        changes.append(max(sums) - min(sums))
    return max(changes) / Fraction(sum(counts))


def kth_largest_sum(counts, upper, eps):
    k = next(k for k in itertools.count(1) if k * eps >= 2)
    return sorted((upper * m for m in counts), reverse=True)[k - 1] if k <= len(counts) else 0


def objective(counts, upper, eps, total_width):
    """phi(S): the worst-case error of symmetric intervals of width S, at most the largest sum."""
    bias = sum(max(upper * m - total_width, 0) for m in counts) / Fraction(2)
    return (bias + total_width / eps) / sum(counts)


def smallest_error(counts, upper, eps):
    return min(objective(counts, upper, eps, S) for S in [0, *(upper * m for m in counts)])


def smallest_error_by_linear_program(counts, upper, eps):
    n = len(counts)
    cost = np.append(np.ones(n), 1 / eps)
    constraints = np.hstack([-2 * np.eye(n), -np.ones((n, 1))])
    solution = optimize.linprog(cost, constraints, -upper * np.asarray(counts), bounds=(0, None))
    assert solution.success
    return solution.fun / sum(counts)


def integral(function, breakpoints):
    """Integrate from the first to the last breakpoint, one piece at a time."""
    options = {"epsabs": 1e-14, "epsrel": 1e-12, "limit": 300}
    pieces = itertools.pairwise(breakpoints)
    return sum(integrate.quad(function, *ends, **options)[0] for ends in pieces)


def akmv_by_quadrature(error, sums, counts, upper, eps):
    """E error(T): the density of T on [0, U m*], exp(-eps/4 |c(t) - k|), is flat between sums."""
    k = min(math.ceil(2 / eps), len(counts))
    edges = sorted({0.0, *map(float, sums), float(upper * max(counts))})
    mass = total = 0.0
    for a, b in itertools.pairwise(edges):
        weight = math.exp(-float(eps) / 4 * abs(sum(s >= b for s in sums) - k))
        mass += weight * (b - a)
        total += weight * integral(error, [a, b])
    return total / mass


def modulus_at(values, n):
    """How far n users can move a statistic, given on all datasets, with one axis per user."""
    changes = [0]
    for users in itertools.combinations(range(values.ndim), min(n, values.ndim)):
        changes.append(np.max(values.max(axis=users) - values.min(axis=users)))
    return max(changes)
