"""Lower bounds on the error of every private mechanism for the mean, and how near the optimum is.

Neighbouring datasets may differ in all samples of one user; the counts, U and eps are public.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np

from userdp import _checks as check
from userdp._checks import Floats
from userdp._search import halve
from userdp.beyond.noise import Budget, PureNoise, read_budget
from userdp.model import Contributions, Epsilon, read_eps


def minimax_lower_bound(users: Contributions, eps: Epsilon) -> float:
    """Return a lower bound on the minimax risk of user-level eps-DP mechanisms.

    It is (U/N) max_n H(n) b_n, where H(n) is the sum of the n largest counts. Here b_n is the
    larger of 1 / (1 + cosh(eps) + n sinh(eps)), from a chain of datasets in which one user after
    another moves from one end of the range to the other, and s(n eps), from n users who act as one:
    thm-chain and thm-lattice of the book. `optimality_factor` bounds the ratio of E_OPT to the
    minimax risk. `minimax_certificate` usually proves a better bound for a given collection, in
    one or a few seconds.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon

    Returns
    -------
    float
        A mean absolute error, in the unit of the samples.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, or `eps` is not a privacy budget.

    Examples
    --------
    >>> from userdp import optimal_error
    >>> users = Contributions([4, 1], upper=65)
    >>> round(minimax_lower_bound(users, eps=1), 4), optimal_error(users, eps=1)
    (16.4156, 32.5)
    """
    check.instance("users", users, Contributions)
    counts, multiplicities = users.histogram
    ends = np.append(0.0, np.cumsum(multiplicities[::-1]))
    sums = np.append(0, np.cumsum((counts * multiplicities)[::-1]))
    # While users with the same count are added to the chain, H(n) b_n is monotone.
    n = np.unique(np.append(ends[1:], np.arange(1, min(users.n_users, 3) + 1)))
    shares = np.interp(n, ends, sums) / users.total
    floors = _risk_floors(n, float(read_eps(eps)))
    return float(users.upper) * float(np.max(shares * floors))


def optimality_factor(budget: Budget) -> float:
    """Return an upper bound on the ratio of `optimal_error` to the minimax risk.

    For every collection, the worst-case error of the optimum is at most this multiple of the
    minimax risk, the smallest worst-case mean absolute error of all user-level eps-DP mechanisms:
    thm-factor of the book. The factor is at most (1 + cosh(eps)) / 2 + sinh(eps) E|Z|, where E|Z|
    is the mean absolute value of the noise at sensitivity 1.

    Parameters
    ----------
    budget : Epsilon, LaplaceNoise or StaircaseNoise
        Privacy budget eps, or the law of the optimum's noise, which is eps-DP.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If `budget` is not a budget; if a law is not eps-DP.

    Examples
    --------
    >>> from userdp.beyond import StaircaseNoise
    >>> round(optimality_factor(1), 3), round(optimality_factor(StaircaseNoise(1)), 3)
    (2.447, 2.377)
    """
    law = read_budget(budget)
    if not isinstance(law, PureNoise):
        check.refuse_kind("budget", "a privacy budget or a law that is eps-DP", budget)
    x = 2 * Fraction(law.mean_abs)
    lower = floor(x)
    n = np.array([max(lower, 1), lower + 1], dtype=np.float64)
    # If no lower bound H(n) b_n exceeds 1, then H(n) is at most 1 / b_n. This bounds H at the two
    # integers around x.
    with np.errstate(divide="ignore"):  # beyond eps = 1400 the floors are 0 in floats
        largest = 1 / _risk_floors(n, float(law.eps))
    left = float(np.min(np.maximum(1, lower / n) * largest)) if lower else 0.0
    right = float(np.min(np.maximum(1, (lower + 1) / n) * largest))
    fraction = float(x - lower)
    return ((1 - fraction) * left + fraction * right) / 2


def _risk_floors(n: Floats, eps: float) -> Floats:
    """Return b_n: a lower bound on the error, in units of how far n users can move the mean."""
    with np.errstate(over="ignore"):
        floors: Floats = 1 / (1 + np.cosh(eps) + n * np.sinh(eps))
    # For four or more users, the maximum with s(n eps) is larger by less than one part in 50,000.
    is_few = n <= 3
    floors[is_few] = np.maximum(floors[is_few], _single_user_risk(n[is_few] * eps))
    return floors


def _single_user_risk(eps: Floats) -> Floats:
    """Return s(eps) of thm-lattice: a lower bound on the error for a single user, with U = 1."""
    x = np.clip(eps, 1e-9, 1400)  # where every term is finite
    kappa = 2 * np.arcsinh(np.exp(-x / 2) / np.sqrt(-2 * np.expm1(-x)))

    def lattice(n: Floats) -> Floats:
        numerator = np.cosh((n + 1.5) * kappa) / np.cosh(kappa / 2) + 1
        denominator = np.sinh((n + 2) * kappa) / np.sinh(kappa) + n
        return np.asarray(numerator / (2 * denominator))

    # The smallest n of at least 2 with s_n (n + 1) >= 1.
    upper_end = np.ceil(2 * np.exp(x / 2)) + 1
    _, n = halve(lambda n: lattice(n) * (n + 1) < 1, np.ones(x.shape), upper_end, whole=True)
    return np.where(eps > 1400, 0.0, lattice(n))
