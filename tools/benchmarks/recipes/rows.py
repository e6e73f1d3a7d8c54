"""Preparation of rows for libraries without user-level privacy."""

import numpy as np


def at_most(k, users):
    """Choose k rows of each user at random, or all if there are at most k."""
    order = np.lexsort((np.random.default_rng().random(users.size), users))
    starts = np.searchsorted(users[order], users[order])
    chosen = np.empty(users.size, dtype=bool)
    chosen[order] = np.arange(users.size) - starts < k
    return chosen
