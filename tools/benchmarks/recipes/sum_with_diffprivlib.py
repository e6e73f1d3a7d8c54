"""diffprivlib: the sum of clipped user sums; its eps is for replacing a row, as here."""

import numpy as np
from diffprivlib import tools


def bounded_sum(users, values, total_width, eps):
    """Release the sum; `users` are numbered from 0, in an array as long as that of the values."""
    sums = np.bincount(users, weights=values)
    return tools.sum(sums, epsilon=eps, bounds=(-total_width / 2, total_width / 2))
