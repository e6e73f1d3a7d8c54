"""The trade-off between the average error of a clipped mean and its guarantee.

The guarantee is the worst-case error, an upper bound on the mean absolute error for every dataset.
Counts, bound and eps are public.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, RNGLike
from userdp._progress import progress
from userdp.beyond import errors
from userdp.beyond.noise import Budget, read_budget
from userdp.model import Contributions
from userdp.samplers import Sampler, _draw_sums
from userdp.worstcase import sensitivity


class Member(NamedTuple):
    """One choice of centre and total width for `clipped_mean`, and its errors.

    All numbers are in the unit of the samples.

    Attributes
    ----------
    centre : float
        c, the centre of the intervals.
    total_width : float
        S, the total width of a user's intervals.
    guarantee : float
        The worst-case error, bias + E|noise|, which holds for every dataset.
    mean_error, standard_error : float
        An estimate of the mean absolute error, averaged over the prior, and its standard error.
    """

    centre: float
    total_width: float
    guarantee: float
    mean_error: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """Average error and guarantee over a grid of centres and total widths: see `error_tradeoff`.

    Attributes
    ----------
    centres : ndarray of float64, shape (C,)
    total_widths : ndarray of float64, shape (W,)
        The grid, in the unit of the samples.
    guarantee : ndarray of float64, shape (C, W)
        The worst-case error, bias + E|noise|, of each centre and width.
    mean_error, standard_error : ndarray of float64, shape (C, W)
        An estimate of the mean absolute error, averaged over the prior, and its standard error.
    smallest_guarantee : float
        The smallest worst-case error of all estimators with this noise, `optimal_error`.
    """

    centres: Floats
    total_widths: Floats
    guarantee: Floats
    mean_error: Floats
    standard_error: Floats
    smallest_guarantee: float

    def best(self, tau: float) -> Member:
        """Return the member with the smallest average error within a limit on the guarantee.

        The limit is (1 + tau) `smallest_guarantee`.

        Parameters
        ----------
        tau : float
            The accepted relative increase of the worst-case error, at least 0.

        Returns
        -------
        Member

        Raises
        ------
        TypeError, ValueError
            If `tau` is not a finite number of at least 0, or so small that no choice of the grid
            qualifies; with tau = 0 the grid must contain U/2 and a minimising width.
        """
        limit = (1 + float(check.nonnegative("tau", tau))) * self.smallest_guarantee
        allowed = self.guarantee <= limit * (1 + 1e-12)  # up to rounding
        if not allowed.any():
            least = self.guarantee.min() / self.smallest_guarantee - 1
            check.refuse_value("tau", f"at least {least} for this grid", tau)
        return self._member(int(np.argmin(np.where(allowed, self.mean_error, np.inf))))

    def frontier(self) -> list[Member]:
        """Return the members that no other beats in both errors, by increasing guarantee."""
        order = np.lexsort((self.mean_error.ravel(), self.guarantee.ravel()))
        error = self.mean_error.ravel()[order]
        is_smallest = error < np.append(np.inf, np.minimum.accumulate(error)[:-1])
        return [self._member(int(index)) for index in order[is_smallest]]

    def _member(self, index: int) -> Member:
        row, column = np.unravel_index(index, self.guarantee.shape)
        return Member(
            centre=float(self.centres[row]),
            total_width=float(self.total_widths[column]),
            guarantee=float(self.guarantee[row, column]),
            mean_error=float(self.mean_error[row, column]),
            standard_error=float(self.standard_error[row, column]),
        )


def error_tradeoff(
    users: Contributions,
    budget: Budget,
    prior: Sampler,
    n_trials: int = 1000,
    *,
    centres: npt.ArrayLike | None = None,
    total_widths: npt.ArrayLike | None = None,
    rng: RNGLike = None,
) -> Tradeoff:
    """Compare the average error of `clipped_mean` under a prior with its worst-case error.

    Everything here is public: the prior describes what is believed about the data before they are
    seen, and no sample is used, so choosing a member costs no privacy. Its guarantee holds for
    every dataset, its average error only if the data follow the prior.

    Parameters
    ----------
    users : Contributions
    budget : Budget
        Privacy budget of the release, or the law of its noise.
    prior : callable
        The prior as a sampler, for instance `uniform_sums`; called as ``prior(users, n_trials,
        rng=rng)``, it returns user sums of shape (n_trials, L).
    n_trials : int, optional
        Number of datasets drawn from the prior, at least 2; all choices are tried on the same
        datasets.
    centres : array_like of float, shape (C,), optional
        Centres to try, in [0, U]; by default multiples of U/20.
    total_widths : array_like of float, shape (W,), optional
        Total widths to try. By default 0, the smallest and the largest width with the smallest
        guarantee, those with a guarantee (around U/2) larger by 5 %, 10 %, ..., 200 %, and 80
        geometrically spaced widths up to U m*.
    rng : Generator or seed, optional

    Returns
    -------
    Tradeoff
        Over the grid of all centres and widths, sorted.

    Raises
    ------
    TypeError, ValueError
        For `users`, `budget` and `rng`, as for `laplace`; if `prior` returns an array of another
        shape, `n_trials` is not an integer of at least 2, a centre lies outside [0, U] or a width
        is negative.

    Examples
    --------
    >>> from userdp import geometric_collection, threshold, uniform_sums
    >>> users = geometric_collection(M=4, upper=65)
    >>> choices = error_tradeoff(users, 2, prior=uniform_sums, n_trials=200, rng=0)
    >>> paper, free, bold = threshold(users, 2), choices.best(tau=0), choices.best(tau=1)
    >>> paper, free.total_width, round(bold.total_width, 1)
    (1040.0, 520.0, 173.3)
    """
    check.instance("users", users, Contributions)
    trials = check.integer("n_trials", n_trials, least=2)
    sums = _draw_sums("prior", prior, users, trials, check.rng(rng))
    upper = float(users.upper)
    grid_centres = _grid("centres", np.linspace(0, upper, 21) if centres is None else centres)
    check.refuse_entries(
        "centres", f"at most U = {users.upper}", grid_centres, grid_centres > upper
    )
    smallest = float(errors.optimal_error(users, budget))
    candidates = _default_widths(users, budget, smallest) if total_widths is None else total_widths
    widths = _grid("total_widths", candidates)
    law = read_budget(budget)
    float_users = Contributions(users.counts, upper)  # in floats, even if the bound is a Fraction
    shape = (grid_centres.size, widths.size)
    guarantee = np.empty(shape)
    mean = np.empty(shape)
    standard_error = np.empty(shape)
    with progress(guarantee.size) as tick:
        for i, centre in enumerate(grid_centres.tolist()):
            # Centre and add up once for all widths; the errors are those of `clipped_mean_error`.
            centred = sums - users.counts * centre
            total = centred.sum(axis=1)
            for j, width in enumerate(widths.tolist()):
                clipping = errors.centred_clipping(float_users, width, centre)
                change = float(sensitivity(float_users, clipping))
                guarantee[i, j] = errors.worst_case_error(float_users, clipping, budget)
                clipped = np.clip(centred, -width / 2, width / 2).sum(axis=1)
                mean_errors = law.mean_error((total - clipped) / users.total, change)
                mean[i, j] = mean_errors.mean()
                standard_error[i, j] = mean_errors.std(ddof=1) / np.sqrt(trials)
                tick()
    return Tradeoff(grid_centres, widths, guarantee, mean, standard_error, smallest)


def _grid(name: str, values: npt.ArrayLike) -> Floats:
    grid = np.unique(check.floats(name, values))
    if not grid.size:
        check.refuse(name, "hold at least one number", "none")
    check.refuse_entries(name, "at least 0", grid, grid < 0)
    return grid


def _default_widths(users: Contributions, budget: Budget, smallest: float) -> Floats:
    """Return the default widths: see `error_tradeoff`."""
    width = float(errors.threshold(users, budget))
    sums = np.unique(np.append(0.0, users.largest_sums.astype(np.float64)))
    kinks = sums[sums <= width]
    # Up to the threshold, the guarantee around U/2 decreases and is piecewise linear: invert it.
    guarantees = [float(errors.symmetric_error(users, kink, budget)) for kink in kinks]
    limits = smallest * (1 + np.arange(1, 41) / 20)
    at_limits = np.interp(-limits, -np.minimum.accumulate(guarantees), kinks)
    geometric = np.geomspace(sums[-1] / 1000, sums[-1], 80)
    return np.concatenate([[0.0, width], kinks[-2:], at_limits, geometric])
