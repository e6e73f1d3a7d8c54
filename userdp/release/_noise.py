"""Noise for the world: whole numbers that fit, drawn by OpenDP at one place for every release.

The demonstrations of `userdp.mechanisms` add floating-point noise to floating-point sums; which
numbers can come out then depends on the data, in the last digits. Here the statistic is a whole
number, or several, and so is the noise (the discrete Laplace or Gaussian law, sampled exactly from
the operating system's entropy, which takes no seed). What is computed from the result afterwards is
post-processing.

Everything fits 64 bits. OpenDP adds noise in integers from -2^63 to 2^63 - 1. A total is at most
2^62 in size, and the scale of the noise at most 2^56 steps, so that the sum leaves these integers
only where the noise exceeds 2^62, 64 scales: with probability exp(-64) at most. `shift_for` chooses
steps as coarse as that needs, from public numbers alone, and all releases call it. Where the noise
does leave these integers, OpenDP cuts it off, which is post-processing: privacy does not rest on
what has no room.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import ceil, expm1, hypot, inf, nextafter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Exact
from userdp._search import NotFoundError
from userdp.beyond._rounding import upwards
from userdp.beyond.noise import Budget, GaussianNoise, LaplaceNoise, Noise, read_budget
from userdp.release._quiet import NOTHING_SPENT, discreet

TOTAL_BITS = 61
"""Largest bit width of a sum of clipped sums: rounding each of them makes it one more at most."""

SCALE_BITS = 56
"""Largest bit width of the scale of the noise, in steps."""

MOST_STEPS = 64
"""How often a scale is moved to the next float; two are enough with the OpenDP that was tested."""

LARGEST_SCALE = 2**40
"""Largest scale of noise for sensitivity 1: one step still fits `SCALE_BITS`, with room to clip."""


LARGE_BUDGET = 10
"""Largest eps without a warning."""


class Noisy(NamedTuple):
    """A whole number with noise, and what it cost."""

    total: int
    spent: float
    """By OpenDP's own account, in the currency of the law: at most what the law spends."""


class NoisyVector(NamedTuple):
    """Whole numbers with noise, and what they cost together."""

    total: npt.NDArray[np.int64]
    spent: float


def read_law(budget: Budget) -> Noise:
    """Return a law of noise that OpenDP draws: Laplace noise for a budget, or the given law."""
    law = read_budget(budget)
    if law.integer_law is None:
        rule = "a privacy budget, or a law that OpenDP can draw (userdp.beyond.GaussianNoise)"
        check.refuse_kind("budget", rule, budget)
    if law.scale > LARGEST_SCALE:
        if law.currency == "rho":
            given = f"rho={float(law.spends):.6g} (sigma={float(law.scale)!r})"
            check.refuse("budget", "have a rho of at least 2^-81 (sigma at most 2^40)", given)
        check.refuse("budget", "be at least 2^-40 for a release", f"budget={float(law.spends)!r}")
    return law


def warn_if_large(argument: str, law: Noise) -> None:
    """Warn the caller of a public function of an eps that protects little."""
    if law.currency == "eps" and law.spends > LARGE_BUDGET:
        said = upwards(float(law.spends))
        warnings.warn(
            f"`{argument}` of eps = {said} protects little: where the data of one user are "
            f"replaced, an outcome may become e^{said} times as likely (e^{LARGE_BUDGET} is more "
            "than 22,000).",
            stacklevel=4,  # of the caller of `discreet`
        )


def shift_for(largest_total: int, largest_moved: int, law: Noise) -> int:
    """Return the smallest shift with which sums and noise fit 64 bits, in steps of 2^shift levels.

    Parameters
    ----------
    largest_total : int
        The largest size of a sum of all users' sums of levels.
    largest_moved : int
        The most, in levels, by which one user can move that sum.
    law : Noise
        The noise for sensitivity 1.
    """
    too_long = largest_total.bit_length() - TOTAL_BITS
    # In coarser steps the ends of an interval are rounded: it may be one step wider.
    widest = (1 << SCALE_BITS) / Fraction(law.scale) - 1
    too_wide = int(ceil(largest_moved / widest) - 1).bit_length()
    return max(0, too_long, too_wide)


def scale_of(moved: int, law: Noise) -> float:
    """Return the scale of whole-number noise, in steps, but for a rounding upwards."""
    if not moved:
        return 0.0
    if not law.rounding:
        return float(moved * Fraction(law.scale))
    return hypot(moved * float(law.scale), law.rounding)


def whole_law(moved: int, law: Noise) -> Noise:
    """Return the law of whole-number noise, for sensitivity 1."""
    if not moved or not law.rounding:
        return law
    return GaussianNoise(scale_of(moved, law) / moved)


def noisy_total(total: int, moved: int, law: Noise) -> Noisy:
    """Return a total with OpenDP's noise: with the next, where its answers enter releases.

    `moved` is the most that one user can move the total; the law is for that.
    """
    measurement = measurement_of(moved, law)
    return Noisy(measurement(total), float(measurement.map(moved)))


def noisy_vector(total: npt.NDArray[np.int64], moved: int, law: Noise) -> NoisyVector:
    """Return a vector of totals with OpenDP's noise.

    `moved` is the most by which one user moves it: in Euclidean length for Gaussian noise, and for
    Laplace noise in the sum over the coordinates.
    """
    measurement = measurement_of(moved, law, vector=True)
    return NoisyVector(np.array(measurement(total.tolist())), float(measurement.map(moved)))


def averaged_beyond(total: int, lowest: int, highest: int, beyond: Exact) -> Exact:
    """Replace a noisy total outside an interval by its conditional mean: it stays unbiased.

    For discrete Laplace noise on a total in the interval, whose ends are public. Below the interval
    the noisy total is ``lowest - 1 - G``, with G geometric, whatever the total is: the law has no
    memory. So its mean there is ``lowest - beyond``; above, ``highest + beyond``. That is
    post-processing, and no error with a convex loss grows (Jensen, given which side it is).

    Parameters
    ----------
    total : int
        A total with noise.
    lowest, highest : int
        The ends: no total without noise is outside, on any dataset.
    beyond : float or Fraction
        How far a total that is outside is from the nearer end, on average: `mean_beyond`.

    Returns
    -------
    int, float or Fraction
        The total itself, or one of two numbers.
    """
    if total < lowest:
        return lowest - beyond
    if total > highest:
        return highest + beyond
    return total


def mean_beyond(scale: float) -> float:
    """Return 1 / (1 - q), the mean of discrete Laplace noise of a scale where it is at least 1.

    The law has P(n) proportional to q^abs(n), with q = exp(-1 / scale); without noise q is 0.
    """
    return -1 / expm1(-1 / scale) if scale else 1.0


def measurement_of(moved: int, law: Noise, *, vector: bool = False) -> Any:
    """Return OpenDP's noise for a whole number, or several, that one user can move by so much."""
    if law.integer_law == "gaussian":
        return discrete_gaussian(moved, law, vector=vector)
    return discrete_laplace(moved, law.spends, vector=vector)


@discreet
def discrete_laplace(moved: int, budget: Fraction, *, vector: bool = False) -> Any:
    """Return OpenDP's discrete Laplace measurement, with the smallest scale that keeps a budget.

    Parameters
    ----------
    moved : int
        The most by which one user can change the whole number that is to be released; of a vector
        of whole numbers, the sum of these changes.
    budget : Fraction
        Privacy budget (dimensionless, public).
    vector : bool, optional
        Whether a vector is to be released, with independent noise in each coordinate.

    Returns
    -------
    opendp.Measurement
        From a whole number to one with noise; ``map(moved)`` is at most `budget`.

    Raises
    ------
    ImportError
        If OpenDP is not installed: the extra ``userdp[release]``.

    Examples
    --------
    >>> noise = discrete_laplace(3, Fraction(1, 2))
    >>> noise.map(3)
    0.5
    """
    dp = load_opendp()
    domain = dp.atom_domain(T="i64")
    distance = dp.absolute_distance(T="i64")
    if vector:
        domain = dp.vector_domain(domain)
        distance = dp.l1_distance(T="i64")
    scale = scale_of(moved, LaplaceNoise(budget))
    return _least(dp.m.make_laplace, (domain, distance), scale, moved, {"eps": budget})


@discreet
def discrete_gaussian(moved: int, law: Noise, *, vector: bool = False) -> Any:
    """Return OpenDP's discrete Gaussian measurement, with the noise of a law for whole numbers.

    Parameters
    ----------
    moved : int
        The most by which one user can change the whole number that is to be released; of a vector
        of whole numbers, the Euclidean length of that change.
    law : GaussianNoise
        The noise for sensitivity 1 (public); its promises are kept.
    vector : bool, optional
        Whether a vector is to be released, with independent noise in each coordinate.

    Returns
    -------
    opendp.Measurement
        From whole numbers to some with noise; ``map(moved)``, in zCDP, is at most 1 / (2 sigma^2).

    Raises
    ------
    ImportError
        If OpenDP is not installed: the extra ``userdp[release]``.

    Examples
    --------
    >>> noise = discrete_gaussian(3_000_000, GaussianNoise.zcdp(0.5))
    >>> round(noise.map(3_000_000), 9), type(noise(7))
    (0.5, <class 'int'>)
    """
    dp = load_opendp()
    domain = dp.atom_domain(T="i64")
    distance = dp.absolute_distance(T="i64")
    if vector:
        domain = dp.vector_domain(domain)
        distance = dp.l2_distance(T="i64")
    scale = scale_of(moved, law)
    budget: dict[str, Fraction] = {law.currency: law.spends}
    return _least(dp.m.make_gaussian, (domain, distance), scale, moved, budget)


def _least(
    make: Any, space: tuple[Any, Any], scale: float, moved: int, budget: dict[str, Fraction]
) -> Any:
    """Return the noise of the smallest scale from the given one on that keeps a budget."""
    ((currency, most),) = budget.items()
    for _ in range(MOST_STEPS):
        noise = make(*space, scale=scale)
        cost = noise.map(moved)
        # The map rounds upwards, so that a rounded scale may cost a little more than was asked.
        if cost < inf and Fraction(cost) <= most:
            return noise
        scale, last = nextafter(scale, inf), scale
    raise NotFoundError(
        f"OpenDP's noise scale for {currency}={float(most)!r} was not found within {MOST_STEPS} "
        f"steps of a float: scale {last!r} costs {currency}={cost!r}. {NOTHING_SPENT}"
    )


def load_opendp() -> Any:
    """Import OpenDP, and switch on what releases need of it.

    Each release does so before it reads anything protected: without OpenDP it could not end well.
    """
    dp = check.load("opendp.prelude", "Releases need OpenDP", "release")
    dp.enable_features("contrib")
    return dp
