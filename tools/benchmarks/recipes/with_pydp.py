"""PyDP: adds noise for users of `linf_sensitivity` rows, without checking whose rows they are."""

from pydp.algorithms.laplacian import BoundedMean, BoundedSum
from recipes.rows import at_most
from recipes.sum_with_pydp import bounded_sum as bounded_sum


def mean(users, values, upper, k, eps):
    """Release the mean of at most k rows per user: noisy sum over noisy count, half of eps each."""
    algorithm = BoundedMean(
        epsilon=eps, lower_bound=0, upper_bound=upper, linf_sensitivity=k, dtype="float"
    )
    return algorithm.quick_result(values[at_most(k, users)].tolist())


def sum_of_few(users, values, upper, k, eps):
    """Release the sum of at most k rows per user."""
    algorithm = BoundedSum(
        epsilon=eps, lower_bound=0, upper_bound=upper, linf_sensitivity=k, dtype="float"
    )
    return algorithm.quick_result(values[at_most(k, users)].tolist())
