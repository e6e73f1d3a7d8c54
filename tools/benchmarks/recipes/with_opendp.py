"""OpenDP, base package: measurements on arrays of rows or of user sums.

``symmetric_distance`` counts the entries added or removed; replacing one is both, a distance of 2.
"""

from functools import cache

import numpy as np
import opendp.prelude as dp
from recipes.rows import at_most

dp.enable_features("contrib")


@cache
def noisy_sum(size, low, high, replaced, eps):
    """Make the sum of `size` entries clipped to [low, high], `replaced` of which may change."""
    space = (
        dp.vector_domain(dp.atom_domain(T=float, nan=False), size=size),
        dp.symmetric_distance(),
    )
    total = space >> dp.t.then_clamp((low, high)) >> dp.t.then_sum()
    return dp.binary_search_chain(
        lambda scale: total >> dp.m.then_laplace(scale), d_in=2 * replaced, d_out=eps
    )


def mean(users, values, upper, k, eps):
    """Release the mean of at most k rows per user."""
    few = values[at_most(k, users)]
    return noisy_sum(few.size, 0.0, upper, k, eps)(few) / few.size


def sum_of_few(users, values, upper, k, eps):
    """Release the sum of at most k rows per user."""
    few = values[at_most(k, users)]
    return noisy_sum(few.size, 0.0, upper, k, eps)(few)


def bounded_sum(users, values, total_width, eps):
    """Release the sum of clipped user sums; replacing one is a distance of 2."""
    sums = np.bincount(users, weights=values)
    return noisy_sum(sums.size, -total_width / 2, total_width / 2, 1, eps)(sums)
