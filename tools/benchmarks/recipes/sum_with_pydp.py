"""PyDP: the sum of clipped user sums; eps/2, because one sum is replaced, not added."""

import numpy as np
from pydp.algorithms.laplacian import BoundedSum


def bounded_sum(users, values, total_width, eps):
    """Release the sum; `users` are numbered from 0, in an array as long as that of the values."""
    sums = np.bincount(users, weights=values)
    algorithm = BoundedSum(
        epsilon=eps / 2,
        lower_bound=-total_width / 2,
        upper_bound=total_width / 2,
        dtype="float",
    )
    return algorithm.quick_result(sums.tolist())
