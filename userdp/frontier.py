"""What no method can beat, and what to choose within it: the trade-offs behind the optimum.

Bias against sensitivity over all estimators, error against privacy over all mechanisms, and the
error on average against its certificate, the worst-case error. Neighbouring datasets differ in all
samples of one user; the counts, the bound and eps are public.
"""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy.special import expit

from userdp._checks import (
    Exact,
    RNGLike,
    check_instance,
    read_floats,
    read_integer,
    read_rng,
    read_size,
    refuse_entries,
    refuse_type,
)
from userdp.budget import Epsilon, read_eps
from userdp.experiments import Sampler, progress
from userdp.model import Contributions
from userdp.noise import NoiseName, read_noise
from userdp.quantile import read_sums
from userdp.worstcase import (
    optimal_error,
    symmetric_error,
    threshold,
)

TIE = 1e-12
"""Certificates within this relative distance are the same but for rounding."""

STEPS = np.arange(1, 41) / 20
"""Values of tau for which `tradeoff` tries the width just within the certificate."""


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
    check_instance("users", users, Contributions)
    change = read_size("sensitivity", sensitivity, users.is_exact)
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
    >>> users = Contributions([4, 1], upper=65)
    >>> round(minimax_lower_bound(users, eps=1), 4), optimal_error(users, eps=1)
    (13.985, 32.5)
    """
    check_instance("users", users, Contributions)
    budget = float(read_eps(eps))
    # Beyond n = 2.56 / eps the product falls: M(n) / n does, and n / (1 + e^(n eps / 2)).
    n = min(users.n_users, ceil(min(3 / budget, 2.0**53)))
    group_budget = budget * np.arange(1.0, n + 1)
    largest = np.partition(users.counts, users.n_users - n)[users.n_users - n :]
    moved = float(users.upper) * np.cumsum(np.sort(largest)[::-1]) / users.total
    indistinct = np.maximum(expit(-group_budget), expit(-group_budget / 2) / 2)
    return float(np.max(moved * indistinct))


class Member(NamedTuple):
    """One choice of centre and total width for `clipped_mean`, and what it costs.

    All in the unit of the samples.
    """

    centre: float
    """c, around which the intervals lie."""
    total_width: float
    """S, the total width of a user's intervals."""
    certificate: float
    """The worst-case error, bias + E|noise|, which holds whatever the data are."""
    mean_error: float
    """The mean absolute error on average over the prior, an estimate."""
    standard_error: float
    """The standard error of that estimate."""


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """Average error and certificate over a grid of centres and total widths: see `tradeoff`.

    Attributes
    ----------
    centres : ndarray of float64, shape (C,)
    total_widths : ndarray of float64, shape (W,)
        The grid, in the unit of the samples.
    certificate, mean_error, standard_error : ndarray of float64, shape (C, W)
        As in `Member`.
    smallest_certificate : float
        The smallest worst-case error of all estimators with this noise, `optimal_error`.
    """

    centres: NDArray[np.float64]
    total_widths: NDArray[np.float64]
    certificate: NDArray[np.float64]
    mean_error: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    smallest_certificate: float

    def best(self, tau: float) -> Member:
        """Return the smallest average error with a certificate within (1 + tau) of the smallest.

        Parameters
        ----------
        tau : float
            How much worst-case error to give up, relatively, at least 0.

        Returns
        -------
        Member

        Raises
        ------
        TypeError, ValueError
            If `tau` is not a finite number of at least 0, or so small that no choice of the grid
            is within it; with tau = 0 the grid must hold U/2 and a minimising width.
        """
        limit = (1 + float(read_size("tau", tau))) * self.smallest_certificate
        allowed = self.certificate <= limit * (1 + TIE)
        if not allowed.any():
            raise ValueError(
                f"`tau` must be at least {self.certificate.min() / self.smallest_certificate - 1} "
                f"for this grid, got tau={tau!r}."
            )
        return self._member(int(np.argmin(np.where(allowed, self.mean_error, np.inf))))

    def frontier(self) -> list[Member]:
        """Return the members that no other beats on both axes, by growing certificate."""
        order = np.lexsort((self.mean_error.ravel(), self.certificate.ravel()))
        members, smallest = [], np.inf
        for index in order:
            if self.mean_error.flat[index] < smallest:
                smallest = float(self.mean_error.flat[index])
                members.append(self._member(int(index)))
        return members

    def _member(self, index: int) -> Member:
        row, column = np.unravel_index(index, self.certificate.shape)
        grids = self.certificate, self.mean_error, self.standard_error
        cells = (float(grid[row, column]) for grid in grids)
        return Member(float(self.centres[row]), float(self.total_widths[column]), *cells)


def tradeoff(
    users: Contributions,
    eps: Epsilon,
    prior: Sampler,
    n_trials: int = 1000,
    *,
    centres: npt.ArrayLike | None = None,
    total_widths: npt.ArrayLike | None = None,
    noise: NoiseName = "laplace",
    rng: RNGLike | None = None,
) -> Tradeoff:
    """Weigh the average error of `clipped_mean` under a prior against its worst-case error.

    Everything here is public: the prior is what is believed of the data before they are seen, and
    no sample is used, so choosing a member costs no privacy. Its certificate holds whatever the
    data are, its average error if they follow the prior.

    Parameters
    ----------
    users : Contributions
        The public counts and bound.
    eps : float, Fraction, Decimal or str
        Privacy budget of the release (dimensionless, public).
    prior : callable
        The prior as a sampler, for instance `uniform_sums`; called as ``prior(users, n_trials,
        rng=rng)``, it returns user sums of shape (n_trials, L).
    n_trials : int, optional
        Number of datasets drawn from the prior, at least 2; all choices are tried on the same ones.
    centres : array_like of float, shape (C,), optional
        Centres to try, in [0, U]; multiples of U/20 without it.
    total_widths : array_like of float, shape (W,), optional
        Total widths to try. Without it 0, the smallest and the largest width with the smallest
        certificate, those with a certificate (around U/2) larger by 5 %, 10 %, ... 200 %, and 80
        widths in equal ratios up to U m*.
    noise : {"laplace", "staircase"}, optional
        Its law.
    rng : Generator or seed, optional
        Source of randomness.

    Returns
    -------
    Tradeoff
        Over the grid of all centres and widths, sorted.

    Raises
    ------
    TypeError, ValueError
        If `users`, `eps`, `noise` or `rng` are as `clipped_mean` refuses them; if `prior` returns
        an array of another shape, `n_trials` is not an integer of at least 2, a centre lies
        outside [0, U] or a width is negative.

    Examples
    --------
    >>> from userdp import geometric_collection, uniform_sums
    >>> users = geometric_collection(M=4, upper=65)
    >>> choices = tradeoff(users, eps=2, prior=uniform_sums, n_trials=200, rng=0)
    >>> paper, free, bold = threshold(users, 2), choices.best(tau=0), choices.best(tau=1)
    >>> paper, free.total_width, round(bold.total_width, 1)
    (1040.0, 520.0, 173.3)
    """
    check_instance("users", users, Contributions)
    if not callable(prior):
        refuse_type("prior", "callable", prior)
    trials = read_integer("n_trials", n_trials, least=2)
    drawn = np.asarray(prior(users, trials, rng=read_rng(rng)))
    if drawn.shape != (trials, users.n_users):
        raise ValueError(
            f"`prior` must return sums of shape {(trials, users.n_users)}, got shape {drawn.shape}."
        )
    sums = read_sums(drawn, users)
    upper = float(users.upper)
    middles = _grid("centres", np.linspace(0, upper, 21) if centres is None else centres)
    refuse_entries("centres", f"at most U = {users.upper}", middles, middles > upper)
    if total_widths is None:
        total_widths = _default_widths(users, eps, noise)
    widths = _grid("total_widths", total_widths)
    law, kept = read_noise(noise, eps), np.empty_like(sums)
    certificate, mean, spread = np.empty((3, middles.size, widths.size))
    with progress(certificate.size) as tick:
        for i, centre in enumerate(middles.tolist()):
            # Read, centred and added up once for all widths: what `clipped_mean_error` returns.
            centred = sums - users.counts * centre
            total = centred.sum(axis=1)
            for j, width in enumerate(widths.tolist()):
                worst, change = _bias_and_sensitivity(users, width, centre)
                certificate[i, j] = law.worst_case(worst, change, "bound")
                np.clip(centred, -width / 2, width / 2, out=kept)
                bias = (total - kept.sum(axis=1)) / users.total
                errors = law.mean_error(bias, change)
                mean[i, j], spread[i, j] = errors.mean(), errors.std(ddof=1) / np.sqrt(trials)
                tick()
    smallest = float(optimal_error(users, eps, noise=noise))
    return Tradeoff(middles, widths, certificate, mean, spread, smallest)


def _bias_and_sensitivity(
    users: Contributions, total_width: float, centre: float
) -> tuple[float, float]:
    """`worst_case_bias` and `sensitivity` of `centred_clipping`: read once, for a whole grid."""
    upper, reach = float(users.upper), total_width / (2 * users.counts)
    low, high = np.maximum(centre - reach, 0.0), np.minimum(centre + reach, upper)
    added, taken = np.sum(users.counts * low), np.sum(users.counts * (upper - high))
    change = np.max(users.counts * (high - low))
    return float(max(added, taken) / users.total), float(change / users.total)


def _grid(name: str, values: npt.ArrayLike) -> NDArray[np.float64]:
    grid = np.unique(read_floats(name, values))
    if not grid.size:
        raise ValueError(f"`{name}` must hold at least one number, got none.")
    refuse_entries(name, "at least 0", grid, grid < 0)
    return grid


def _default_widths(users: Contributions, eps: Epsilon, noise: NoiseName) -> NDArray[np.float64]:
    """Widths in equal ratios, the ends of the flat piece, and where the certificate is in steps."""
    largest = float(users.upper) * users.max_count
    width = float(threshold(users, eps, noise=noise))
    kinks = np.unique(np.append(0.0, users.largest_sums.astype(np.float64)))
    kinks = kinks[kinks <= width]
    # Up to the threshold the certificate around U/2 falls, in straight pieces: invert it.
    falling = [float(symmetric_error(users, kink, eps, noise=noise)) for kink in kinks.tolist()]
    limits = (1 + STEPS) * float(optimal_error(users, eps, noise=noise))
    bounds = np.interp(-limits, -np.minimum.accumulate(falling), kinks)
    in_ratios = np.geomspace(largest / 1000, largest, 80)
    return np.concatenate([[0.0, width], kinks[-2:], bounds, in_ratios])
