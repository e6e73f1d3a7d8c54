"""Private thresholds: generalisations of AKMV by budget split, base measure and centre.

`userdp.akmv` spends half of the budget on its threshold T, draws it near a sum from a density that
is uniform on [0, U m*] before the exponential tilt, and caps sums from above. Privacy forces none
of these choices. `PrivateThreshold` makes them arguments:

- the share p of the budget for T; the noise has the rest, (1 - p) eps;
- the base measure of the exponential mechanism: dt, or dt/t above U min(m)/4, which is uniform in
  log t. It is public, so T is as private as before;
- what is thresholded: the sums themselves, capped at T from above, or the centred sums sigma_l - U
  m_l / 2, clipped to [-T/2, T/2]. T is then a quantile of their distances from the middle,
  x_l = 2 |sigma_l - U m_l / 2|, which lie in [0, U m_l] like the sums.

The rank is the best one for the noise: ceil(1 / ((1 - p) eps)) for capped sums, each of which loses
its whole surplus over T, and ceil(2 / ((1 - p) eps)) for centred ones, which lose half of it.

`sums`, `users`, `eps` and `rng`, the privacy unit and the shape of the results are those of
`userdp.mechanisms`. Errors are properties of datasets; they are not private releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, RNGLike
from userdp._search import NotFoundError
from userdp.akmv import _NEGLIGIBLE, Cells, _cells_of, _draw_from
from userdp.mechanisms import grid_sum
from userdp.model import Contributions, Epsilon, Number, _read_sums, read_eps
from userdp.model import rank as rank_of
from userdp.noise import noise_scale
from userdp.worstcase import optimal_error

Measure = Literal["uniform", "logarithmic"]

# The logarithmic measure begins at this fraction of the smallest U m_l, because the range must not
# reach 0.
_LOWEST_SHARE = 0.25

# A piece is halved until the ratio of its ends, and the change of the noise's exponent across it,
# are at most this.
_MAX_VARIATION = 2.0

# Maximum number of halvings of a piece. With the uniform measure, a piece that begins at 0 varies
# much however short it is, so its first part remains, with 2^-24 of its mass and of its thresholds.
_MAX_HALVINGS = 24

_LEGENDRE = np.polynomial.legendre.leggauss(6)  # nodes and weights on [-1, 1]

# Maximum number of passes over all users in the search for a dataset with a large error; two or
# three are enough in practice.
_MAX_PASSES = 20


class _Pieces(NamedTuple):
    """Ranges of T in which the bias is linear: N times its absolute value is |loss - slope t|.

    Attributes
    ----------
    row : ndarray of int, shape (n,)
        Index of the dataset.
    lower, upper : ndarray of float64, shape (n,)
        Ends on the axis of the base measure: t, or log(t / lowest).
    mass : ndarray of float64, shape (n,)
        Probability of the piece.
    loss, slope : ndarray of float64, shape (n,)
    """

    row: npt.NDArray[np.intp]
    lower: Floats
    upper: Floats
    mass: Floats
    loss: Floats
    slope: Floats

    def take(self, mask: npt.NDArray[np.bool_]) -> _Pieces:
        return _Pieces._make(part[mask] for part in self)

    def split(self, mask: npt.NDArray[np.bool_], points: Floats) -> _Pieces:
        """Cut the chosen pieces in two, at one point each."""
        cut = self.take(mask)
        share_below = (points - cut.lower) / (cut.upper - cut.lower)
        parts = [
            cut._replace(upper=points, mass=cut.mass * share_below),
            cut._replace(lower=points, mass=cut.mass * (1 - share_below)),
        ]
        return _Pieces._make(map(np.concatenate, zip(self.take(~mask), *parts, strict=True)))


@dataclass(frozen=True)
class PrivateThreshold:
    """A rule for releasing a mean of sums that are clipped at a private threshold T.

    With the default arguments it is AKMV as in the paper: `userdp.akmv`.

    Parameters
    ----------
    share : float or Fraction, optional
        p, the share of the budget for T, between 0 and 1.
    centred : bool, optional
        Whether sums are clipped around U m_l / 2, or capped from above.
    measure : {"uniform", "logarithmic"}, optional
        The base measure of the exponential mechanism: dt on [0, U m*], or dt/t on
        [U min(m)/4, U m*].

    Raises
    ------
    TypeError, ValueError
        If `share` is not a number between 0 and 1, `centred` is not True or False, or `measure` is
        not one of these names.

    Examples
    --------
    >>> users = Contributions([4, 1], upper=1)
    >>> rule = PrivateThreshold(share=0.1, centred=True, measure="logarithmic")
    >>> float(rule.mean_error([3.0, 1.0], users, eps=1).round(6))
    0.349027
    """

    share: float | Fraction = 0.5
    centred: bool = False
    measure: Measure = "uniform"

    def __post_init__(self) -> None:
        share = check.nonnegative("share", self.share, exact=True)
        if not 0 < share < 1:
            check.refuse_value("share", "strictly between 0 and 1", self.share)
        check.boolean("centred", self.centred)
        check.one_of("measure", self.measure, get_args(Measure))

    def rank(self, eps: Epsilon) -> int:
        """Return the rank that T targets: the best one for the noise.

        Parameters
        ----------
        eps : Epsilon
            Privacy budget of T and of the noise together.

        Returns
        -------
        int
            At least 1; if it exceeds the number of users, it counts as that number.

        Raises
        ------
        TypeError, ValueError
            If `eps` is not a privacy budget.

        Examples
        --------
        >>> PrivateThreshold().rank(1), PrivateThreshold(share=0.1, centred=True).rank(1)
        (2, 3)
        """
        return rank_of(self._equivalent_budget(eps))

    def cells(self, sums: npt.ArrayLike, users: Contributions, eps: Epsilon) -> Cells:
        """Return the exact distribution of T, on the axis of the base measure.

        Parameters
        ----------
        sums : array_like of float, shape (..., L)
        users : Contributions
        eps : Epsilon
            Privacy budget of T and of the noise together.

        Returns
        -------
        Cells
            See `quantile_cells`. With the logarithmic measure, the ends and the density are those
            of log(4 T / (U min(m))), which is uniform within each cell.

        Raises
        ------
        TypeError, ValueError
            If `sums` do not fit `users`; if `eps` is not a privacy budget.

        Examples
        --------
        >>> rule = PrivateThreshold(measure="logarithmic")
        >>> rule.cells([3.0, 1.0], Contributions([4, 1], upper=1), 2).lower.round(3)
        array([2.485, 1.386, 0.   ])
        """
        return self._law(_read_sums(sums, users), users, eps)

    def log_density(
        self, t: npt.ArrayLike, sums: npt.ArrayLike, users: Contributions, eps: Epsilon
    ) -> Floats:
        """Return the log density of T at t on one dataset, so that its privacy can be tested.

        Parameters
        ----------
        t : array_like of float, shape (n,)
            Thresholds, in the unit of the sums.
        sums : array_like of float, shape (L,)
        users : Contributions
        eps : Epsilon
            Privacy budget of T and of the noise together.

        Returns
        -------
        ndarray of float64, shape (n,)
            Natural logarithm of the density, minus infinity outside the public range.

        Raises
        ------
        TypeError, ValueError
            See `cells`; also if `sums` is not one dataset.

        Examples
        --------
        >>> rule = PrivateThreshold(measure="logarithmic")
        >>> rule.log_density([0.2, 0.5], [0.5], Contributions([1], upper=1), eps=4).round(4)
        array([  -inf, 0.7464])
        """
        values = _read_sums(sums, users)
        if values.ndim != 1:
            check.refuse("sums", "be one dataset, of shape (L,)", f"shape {values.shape}")
        points = check.floats("t", t)
        law = self._law(values, users, eps)
        lowest = self._lowest(users)
        highest = float(users.upper) * users.max_count
        inside = (points >= lowest) & (points <= highest)
        within = np.clip(points, lowest, highest)
        # Compare with the sums themselves: their logarithms are rounded.
        reaching = np.sum(np.sort(self._distances(values, users))[::-1] >= within[..., None], -1)
        density = law.log_density[reaching]
        if self.measure == "logarithmic":
            density = density - np.log(within)
        return np.where(inside, density, -np.inf)[()]

    def draw(
        self, sums: npt.ArrayLike, users: Contributions, eps: Epsilon, *, rng: RNGLike = None
    ) -> Floats:
        """Draw T with its share of the budget: user-level (p eps)-DP.

        Neighbouring datasets may differ in all samples of one user; counts, bound, rank, measure
        and eps are public, the sums are protected. This is a demonstration in floating point, not
        safe for production.

        Parameters
        ----------
        sums : array_like of float, shape (..., L)
        users : Contributions
        eps : Epsilon
            Privacy budget of T and of the noise together.
        rng : Generator or seed, optional

        Returns
        -------
        ndarray of float64, shape (...)
            One threshold per dataset, in the unit of the sums.

        Raises
        ------
        TypeError, ValueError
            See `cells`; also if `rng` is not a source of randomness.

        Examples
        --------
        >>> users = Contributions([4, 1], upper=1)
        >>> rule = PrivateThreshold(measure="logarithmic")
        >>> float(rule.draw([3.0, 1.0], users, eps=4, rng=0).round(4))
        1.345
        """
        values = _read_sums(sums, users)
        return self._draw(values, users, eps, check.rng(rng))

    def release(
        self, sums: npt.ArrayLike, users: Contributions, eps: Epsilon, *, rng: RNGLike = None
    ) -> Floats:
        """Release the mean of the sums clipped at T, with noise of scale T / ((1 - p) N eps).

        T and the release together are user-level eps-DP under replacement of all samples of one
        user, with public counts; not safe for production (see the note on floating point in
        `userdp.mechanisms`).

        Parameters
        ----------
        sums : array_like of float, shape (..., L)
        users : Contributions
        eps : Epsilon
            Privacy budget of T and of the noise together.
        rng : Generator or seed, optional

        Returns
        -------
        ndarray of float64, shape (...)

        Raises
        ------
        TypeError, ValueError
            See `laplace`.

        Examples
        --------
        >>> users = Contributions([4, 1], upper=1)
        >>> rule = PrivateThreshold(share=0.1, centred=True)
        >>> float(rule.release([3.0, 1.0], users, eps=1, rng=0).round(4))
        0.0211
        """
        values = _read_sums(sums, users)
        generator = check.rng(rng)
        T = self._draw(values, users, eps, generator)  # noqa: N806 (the paper's letter)
        middle = float(users.upper) / 2 if self.centred else 0.0
        low, high = (-T / 2, T / 2) if self.centred else (np.zeros_like(T), T)
        total, change = grid_sum(values - users.counts * middle, low, high)
        noise = generator.laplace(scale=noise_scale(change, self._noise_budget(eps)))
        return middle + (total + noise) / users.total

    def error(self, sums: npt.ArrayLike, users: Contributions, eps: Epsilon) -> Floats:
        """Return the exact mean absolute bias plus the mean absolute noise on given datasets.

        This is the paper's measure of error, as in `userdp.akmv_error`, with T integrated out.

        Parameters
        ----------
        sums : array_like of float, shape (..., L)
        users : Contributions
        eps : Epsilon
            Privacy budget of T and of the noise together.

        Returns
        -------
        ndarray of float64, shape (...)

        Raises
        ------
        TypeError, ValueError
            See `cells`.

        Examples
        --------
        >>> users = Contributions([4, 1], upper=1)
        >>> rule = PrivateThreshold(share=0.1, centred=True)
        >>> float(rule.error([4.0, 1.0], users, eps=1).round(6))
        0.655099
        """
        return self._mean(sums, users, eps, absolute=False)

    def mean_error(self, sums: npt.ArrayLike, users: Contributions, eps: Epsilon) -> Floats:
        """Return the mean absolute error of `release` on datasets, T and noise integrated out.

        Noise of scale s adds s exp(-b/s) to a bias of absolute value b. The mean of this over T is
        computed by Gauss-Legendre quadrature, on pieces so short that about nine digits are
        correct.

        Parameters
        ----------
        sums : array_like of float, shape (..., L)
        users : Contributions
        eps : Epsilon
            Privacy budget of T and of the noise together.

        Returns
        -------
        ndarray of float64, shape (...)

        Raises
        ------
        TypeError, ValueError
            See `cells`.

        Examples
        --------
        >>> users = Contributions([4, 1], upper=1)
        >>> rule = PrivateThreshold()
        >>> float(rule.mean_error([3.0, 1.0], users, eps=1).round(6))
        0.881332
        """
        return self._mean(sums, users, eps, absolute=True)

    def smallest_error(self, users: Contributions[Number], eps: Epsilon) -> Number:
        """Return the smallest `error` of any distribution of T if all samples are at the bound U.

        It is 2 E_OPT(2 (1 - p) eps) for capped sums and E_OPT((1 - p) eps) for centred ones: a
        lower bound on the worst-case error, however T is drawn.

        Parameters
        ----------
        users : Contributions
        eps : Epsilon
            Privacy budget of T and of the noise together.

        Returns
        -------
        float or Fraction
            Exact where the bound U is a Fraction.

        Raises
        ------
        TypeError, ValueError
            If `users` is not a Contributions instance; if `eps` is not a privacy budget.

        Examples
        --------
        >>> users = Contributions([4, 2, 1], upper=Fraction(65))
        >>> PrivateThreshold(share=Fraction(1, 5)).smallest_error(users, 1)
        Fraction(585, 14)
        >>> PrivateThreshold(share=Fraction(1, 5), centred=True).smallest_error(users, 1)
        Fraction(845, 28)
        """
        bound: Any = optimal_error(users, self._equivalent_budget(eps))
        return bound if self.centred else 2 * bound  # type: ignore[no-any-return]

    def largest_error_found(self, users: Contributions, eps: Epsilon) -> float:
        """Return the largest `error` found in a search: a lower bound on the worst-case error.

        The search covers datasets in which users with the same count are of two kinds: some have
        all samples at U, and the others have a sum (or, for centred sums, a distance x_l) of 0, or
        as large as that of a lighter user at U. Starting from the worst of some simple datasets,
        the search sets the users of one count after another to their worst choice, until no change
        increases the error. (Between two other sums, one user's sum is worst at one of the ends,
        hence these candidates.)

        Parameters
        ----------
        users : Contributions
        eps : Epsilon
            Privacy budget of T and of the noise together.

        Returns
        -------
        float

        Raises
        ------
        TypeError, ValueError
            See `smallest_error`.

        Examples
        --------
        >>> users = Contributions([2, 1], upper=1)
        >>> rule = PrivateThreshold()
        >>> round(float(rule.error([2.0, 1.0], users, eps=8)), 5)
        0.34133
        >>> round(rule.largest_error_found(users, eps=8), 5)
        0.41667
        """
        check.instance("users", users, Contributions)
        full = users.largest_sums.astype(np.float64)
        lowest = full / 2 if self.centred else np.zeros_like(full)

        def errors(distances: Floats) -> Floats:
            return self.error(lowest + distances * (0.5 if self.centred else 1.0), users, eps)

        levels = np.unique(full)[:, None]
        starts = np.concatenate([np.minimum(full, levels), np.where(full >= levels, levels, 0.0)])
        errors_found = errors(starts)
        worst, largest = starts[errors_found.argmax()], float(errors_found.max())
        for _ in range(_MAX_PASSES):
            previous = largest
            for top in np.unique(full):
                candidates = _candidates(worst, full, float(top))
                errors_found = errors(candidates)
                if errors_found.max() > largest:
                    worst, largest = candidates[errors_found.argmax()], float(errors_found.max())
            if largest <= previous * (1 + 1e-12):
                return largest
        raise NotFoundError(f"The error still grew after {_MAX_PASSES} passes over all users.")

    def _noise_budget(self, eps: Epsilon) -> Fraction:
        return (1 - Fraction(self.share)) * read_eps(eps)

    def _equivalent_budget(self, eps: Epsilon) -> Epsilon:
        """Return the budget at which OPT-worst-case has this rank.

        If eps does not change, it is returned as it was given; a float share gives a float, which
        counts as 2/k if it is close to that.
        """
        factor = (1 if self.centred else 2) * (1 - Fraction(self.share))
        if factor == 1:
            return eps
        changed = factor * read_eps(eps)
        return changed if isinstance(self.share, Fraction) else float(changed)

    def _lowest(self, users: Contributions) -> float:
        """Return the lower end of the range of T."""
        least = _LOWEST_SHARE * float(users.upper) * int(users.counts.min())
        return least if self.measure == "logarithmic" else 0.0

    def _distances(self, values: Floats, users: Contributions) -> Floats:
        """Return the numbers of which T is a quantile: one per user, in [0, U m_l]."""
        return np.abs(self._deviations(values, users)) if self.centred else values

    def _deviations(self, values: Floats, users: Contributions) -> Floats:
        return 2 * values - users.counts * float(users.upper)

    def _law(self, values: Floats, users: Contributions, eps: Epsilon) -> Cells:
        distances = self._distances(values, users)
        eta = Fraction(self.share) * read_eps(eps) / 2
        if self.measure == "uniform":
            return _cells_of(distances, users, self.rank(eps), eta)
        lowest = self._lowest(users)
        top = log(float(users.upper) * users.max_count / lowest)
        logs = np.clip(np.log(np.maximum(distances, lowest) / lowest), 0.0, top)
        return _cells_of(logs, users, self.rank(eps), eta, top=top)

    def _draw(
        self, values: Floats, users: Contributions, eps: Epsilon, rng: np.random.Generator
    ) -> Floats:
        _, position = _draw_from(self._law(values, users, eps), rng, values.shape[:-1])
        return self._thresholds(position, users)

    def _thresholds(self, position: Floats, users: Contributions) -> Floats:
        """Return the thresholds at points on the axis of the base measure."""
        if self.measure == "uniform":
            return position
        highest = float(users.upper) * users.max_count
        return np.minimum(self._lowest(users) * np.exp(position), highest)

    def _pieces(self, values: Floats, users: Contributions, eps: Epsilon) -> _Pieces:
        """Return the cells of all datasets, cut where the bias changes sign."""
        law = self._law(values, users, eps)
        if self.centred:
            deviations = self._deviations(values, users)
            order = np.argsort(-np.abs(deviations), axis=-1)
            terms = np.take_along_axis(deviations, order, axis=-1) / 2
            slopes = np.sign(terms) / 2
        else:
            terms = np.sort(values, axis=-1)[..., ::-1]
            slopes = np.ones_like(terms)
        loss, slope = (
            np.insert(np.cumsum(part, axis=-1), 0, 0.0, axis=-1) for part in (terms, slopes)
        )
        shape = law.probability.shape
        row = np.broadcast_to(np.arange(loss[..., 0].size).reshape(*shape[:-1], 1), shape)
        pieces = _Pieces(row, law.lower, law.upper, law.probability, loss, slope)
        pieces = _Pieces._make(np.ravel(part) for part in pieces).take(law.probability.ravel() > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = pieces.loss / pieces.slope
        ends = [self._thresholds(end, users) for end in (pieces.lower, pieces.upper)]
        inside = (root > ends[0]) & (root < ends[1])
        position = root[inside]
        if self.measure == "logarithmic":
            position = np.log(position / self._lowest(users))
        cut = pieces.take(inside)
        return pieces.split(inside, np.clip(position, cut.lower, cut.upper))

    def _mean(
        self, sums: npt.ArrayLike, users: Contributions, eps: Epsilon, *, absolute: bool
    ) -> Floats:
        """Return the mean of |bias| + |noise|; if `absolute`, that of |bias + noise|."""
        values = _read_sums(sums, users)
        pieces = self._pieces(values, users, eps)
        means = self._mean_thresholds(pieces, users)
        budget = float(self._noise_budget(eps))
        shape = values.shape[:-1]
        bias = pieces.mass * np.abs(pieces.loss - pieces.slope * means)
        total = np.bincount(pieces.row, bias, values[..., 0].size)
        if absolute:
            pieces = self._short_pieces(pieces, users, budget)
            noise = pieces.mass * self._added_noise(pieces, users, budget)
        else:
            noise = pieces.mass * means / budget
        total += np.bincount(pieces.row, noise, values[..., 0].size)
        return (total / users.total).reshape(shape)[()]

    def _mean_thresholds(self, pieces: _Pieces, users: Contributions) -> Floats:
        """Return the mean of T in each piece."""
        if self.measure == "uniform":
            return pieces.lower + (pieces.upper - pieces.lower) / 2
        width = pieces.upper - pieces.lower
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = np.where(width > 0, np.expm1(width) / width, 1.0)
        return self._thresholds(pieces.lower, users) * growth

    def _short_pieces(self, pieces: _Pieces, users: Contributions, budget: float) -> _Pieces:
        """Halve pieces where the added noise varies much; drop those where it is negligible."""
        for _ in range(_MAX_HALVINGS):
            low, high = (self._thresholds(end, users) for end in (pieces.lower, pieces.upper))
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                ends = [budget * np.abs(pieces.loss / t - pieces.slope) for t in (low, high)]
                varies = np.abs(ends[1] - ends[0]) > _MAX_VARIATION
            varies |= high > _MAX_VARIATION * low
            matters = (np.fmin(*ends) < _NEGLIGIBLE) & (pieces.upper > pieces.lower)
            pieces, varies = pieces.take(matters), varies[matters]
            if not varies.any():
                break
            cut = pieces.take(varies)
            pieces = pieces.split(varies, cut.lower + (cut.upper - cut.lower) / 2)
        return pieces

    def _added_noise(self, pieces: _Pieces, users: Contributions, budget: float) -> Floats:
        """Return N times the mean of s exp(-|bias|/s) in each piece."""
        middle = pieces.lower + (pieces.upper - pieces.lower) / 2
        half = (pieces.upper - pieces.lower) / 2
        total: Floats = np.zeros_like(middle)
        for node, weight in np.transpose(_LEGENDRE):
            t = self._thresholds(middle + node * half, users)
            total += weight * t * np.exp(-budget * np.abs(pieces.loss / t - pieces.slope))
        return total / (2 * budget)


def _candidates(distances: Floats, full: Floats, top: float) -> Floats:
    """Return datasets that differ from a given one in the users whose full sum is `top`.

    From none to all of these users are full; the others have 0, or a lighter user's full sum.
    """
    users = np.flatnonzero(full == top)
    levels = np.concatenate([[0.0], np.unique(full[full < top])])
    is_full = np.tril(np.ones((users.size + 1, users.size), dtype=bool), -1)
    chosen = np.where(is_full, top, levels[:, None, None]).reshape(-1, users.size)
    candidates = np.tile(distances, (len(chosen), 1))
    candidates[:, users] = chosen
    return candidates
