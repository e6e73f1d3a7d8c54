"""What no method can beat: bias against sensitivity, and error against privacy.

Over all estimators, and over all mechanisms. Neighbouring datasets differ in all samples of one
user; the counts, the bound and eps are public.
"""

from math import ceil

import numpy as np
from scipy.special import expit

from userdp import _checks as check
from userdp._checks import Exact
from userdp.model import Contributions, Epsilon, read_eps
from userdp.worstcase import _largest_counts


def smallest_bias(users: Contributions, sensitivity: Exact) -> Exact:
    """Return the smallest worst-case bias of any estimator with a given user-level sensitivity.

    beta(Delta) = sum_l (U m_l / N - Delta)^+ / 2: no estimator of the mean, clipped or not, does
    better, and `centred_clipping` of total width N Delta attains it. Convex and piecewise linear.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    sensitivity : float or Fraction
        Delta, finite and at least 0, in the unit of the samples.

    Returns
    -------
    float or Fraction
        In the unit of the samples; exact where bound and sensitivity are Fractions.

    Raises
    ------
    TypeError, ValueError
        If `users` is no Contributions, or `sensitivity` not a finite number of at least 0.

    Examples
    --------
    >>> smallest_bias(Contributions([4, 1], upper=65), sensitivity=26)
    13.0
    """
    check.instance("users", users, Contributions)
    change = check.size("sensitivity", sensitivity, users.is_exact)
    bias: Exact = np.sum(users.surplus(change * users.total)) / (2 * users.total)
    return bias if users.is_exact else float(bias)


def minimax_lower_bound(users: Contributions, eps: Epsilon) -> float:
    """Return an error that every user-level eps-DP mechanism makes on some dataset, on average.

    (U/N) max_n M(n) max{1 / (1 + e^(n eps)), 1 / (2 (1 + e^(n eps / 2)))}, with M(n) the sum of the
    n largest counts: a mechanism of any kind can tell apart datasets that differ in n users only
    as well as a budget of n eps allows. For eps <= 3.5 E_OPT is at most 3.874 times this bound,
    and at most 3 times the smallest possible error itself.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Returns
    -------
    float
        A mean absolute error, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `users` is no Contributions; as `read_eps`.

    Examples
    --------
    >>> from userdp import optimal_error
    >>> users = Contributions([4, 1], upper=65)
    >>> round(minimax_lower_bound(users, eps=1), 4), optimal_error(users, eps=1)
    (13.985, 32.5)
    """
    check.instance("users", users, Contributions)
    budget = float(read_eps(eps))
    # Beyond n = 2.56 / eps the product falls: M(n) / n does, and n / (1 + e^(n eps / 2)).
    n = min(users.n_users, ceil(min(3 / budget, 2.0**53)))
    group_budget = budget * np.arange(1.0, n + 1)
    largest = np.sort(_largest_counts(users, n))[::-1]
    moved = float(users.upper) * np.cumsum(largest) / users.total
    indistinct = np.maximum(expit(-group_budget), expit(-group_budget / 2) / 2)
    return float(np.max(moved * indistinct))
