"""PyDP: adds noise for a user of `linf_sensitivity` rows, but does not look who they are."""

import numpy as np
from pydp.algorithms.laplacian import BoundedMean, BoundedSum
from recipes.rows import at_most


def mean(users, values, upper, k, eps):
    """Release the mean of at most k rows a user: noisy sum over noisy count, half of eps each."""
    algorithm = BoundedMean(
        epsilon=eps, lower_bound=0, upper_bound=upper, linf_sensitivity=k, dtype="float"
    )
    return algorithm.quick_result(values[at_most(k, users)].tolist())


def sum_of_few(users, values, upper, k, eps):
    """Release the sum of at most k rows a user."""
    algorithm = BoundedSum(
        epsilon=eps, lower_bound=0, upper_bound=upper, linf_sensitivity=k, dtype="float"
    )
    return algorithm.quick_result(values[at_most(k, users)].tolist())


def bounded_sum(users, values, total_width, eps):
    """Release the sum of clipped user sums; eps/2: one is replaced, not added."""
    sums = np.bincount(users, weights=values)
    algorithm = BoundedSum(
        epsilon=eps / 2,
        lower_bound=-total_width / 2,
        upper_bound=total_width / 2,
        dtype="float",
    )
    return algorithm.quick_result(sums.tolist())
