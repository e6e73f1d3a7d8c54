"""diffprivlib: it protects a row that is replaced; for users, the budget must be divided."""

from diffprivlib import tools
from recipes.rows import at_most
from recipes.sum_with_diffprivlib import bounded_sum as bounded_sum


def mean(users, values, upper, k, eps):
    """Release the mean of at most k rows per user: replacing one replaces k, at eps/k each."""
    return tools.mean(values[at_most(k, users)], epsilon=eps / k, bounds=(0, upper))


def sum_of_few(users, values, upper, k, eps):
    """Release the sum of at most k rows per user."""
    return tools.sum(values[at_most(k, users)], epsilon=eps / k, bounds=(0, upper))
