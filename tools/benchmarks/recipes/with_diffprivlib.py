"""diffprivlib: its unit is a row that is replaced; who counts users must divide the budget."""

from diffprivlib import tools
from recipes.rows import at_most
from recipes.sum_with_diffprivlib import bounded_sum as bounded_sum


def mean(users, values, upper, k, eps):
    """Release the mean of at most k rows a user: replacing one replaces k rows, eps/k for each."""
    return tools.mean(values[at_most(k, users)], epsilon=eps / k, bounds=(0, upper))


def sum_of_few(users, values, upper, k, eps):
    """Release the sum of at most k rows a user."""
    return tools.sum(values[at_most(k, users)], epsilon=eps / k, bounds=(0, upper))
