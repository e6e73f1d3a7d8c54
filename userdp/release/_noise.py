"""Noise for publication: whole numbers of 64 bits, drawn by OpenDP in one place for every release.

The demonstrations of `userdp.mechanisms` add floating-point noise to floating-point sums; which
outputs are possible then depends on the data, in the last digits. Here the statistic is a whole
number, or several, and so is the noise (discrete Laplace or Gaussian, sampled exactly from the
operating system's entropy, which takes no seed). Everything computed from the result afterwards is
post-processing.

Everything fits 64 bits. OpenDP adds noise in integers from -2^63 to 2^63 - 1. A total is at most
2^62 in size, and the scale of the noise is at most 2^56 steps, so the sum leaves these integers
only if the noise exceeds 2^62, which is 64 scales: with probability at most exp(-64). `shift_for`
chooses steps that are coarse enough for this, from public numbers alone, and all releases call it.
If the noise does leave these integers, OpenDP cuts it off, which is post-processing: privacy does
not depend on the noise fitting.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import ceil, expm1, hypot, inf, nextafter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Real
from userdp._search import NotFoundError
from userdp.beyond._rounding import upwards
from userdp.beyond.noise import Budget, GaussianNoise, LaplaceNoise, Noise, read_budget
from userdp.release._quiet import NOTHING_SPENT, discreet

TOTAL_BITS = 61
"""Largest bit width of a sum of clipped sums; rounding each of them adds at most one bit."""

SCALE_BITS = 56
"""Largest bit width of the scale of the noise, in steps."""

MAX_STEPS = 64
"""Largest number of steps of a scale to the next float; two suffice with the tested OpenDP."""

LARGEST_SCALE = 2**40
"""Largest scale of noise for sensitivity 1: one step fits `SCALE_BITS`, with bits to spare."""

LARGE_BUDGET = 10
"""Largest eps without a warning."""


class Noisy(NamedTuple):
    """A whole number with noise, and the budget that it spent."""

    value: int
    spent: float
    """By OpenDP's accounting, in the currency of the law: at most what the law spends."""


class NoisyVector(NamedTuple):
    """Whole numbers with noise, and the budget that they spent together."""

    values: npt.NDArray[np.int64]
    spent: float


def read_law(budget: Budget) -> Noise:
    """Return a law of noise that OpenDP can draw: Laplace for a budget, or the given law."""
    law = read_budget(budget)
    if law.integer_law is None:
        rule = "a privacy budget, or a law that OpenDP can draw (userdp.beyond.GaussianNoise)"
        check.refuse_kind("budget", rule, budget)
    if law.scale > LARGEST_SCALE:
        if law.currency == "rho":
            given = f"rho={float(law.privacy_cost):.6g} (sigma={float(law.scale)!r})"
            check.refuse("budget", "have a rho of at least 2^-81 (sigma at most 2^40)", given)
        check.refuse(
            "budget", "be at least 2^-40 for a release", f"budget={float(law.privacy_cost)!r}"
        )
    return law


def warn_if_large(argument: str, law: Noise) -> None:
    """Warn the caller of a public function if its eps protects little."""
    if law.currency == "eps" and law.privacy_cost > LARGE_BUDGET:
        digits = upwards(float(law.privacy_cost))
        warnings.warn(
            f"`{argument}` of eps = {digits} protects little: if the data of one user are "
            f"replaced, an outcome may become e^{digits} times as likely (e^{LARGE_BUDGET} is more "
            "than 22,000).",
            stacklevel=4,  # the caller, outside the wrapper of `discreet`
        )


def shift_for(largest_total: int, largest_sensitivity: int, law: Noise) -> int:
    """Return the smallest shift such that sums and noise, in steps of 2^shift levels, fit 64 bits.

    Parameters
    ----------
    largest_total : int
        The largest absolute value of the total of all users' sums of levels.
    largest_sensitivity : int
        The most, in levels, by which one user can move that total.
    law : Noise
        The noise for sensitivity 1.
    """
    shift_for_total = largest_total.bit_length() - TOTAL_BITS
    # In coarser steps the ends of an interval are rounded, so it may be one step wider.
    widest = (1 << SCALE_BITS) / Fraction(law.scale) - 1
    shift_for_scale = int(ceil(largest_sensitivity / widest) - 1).bit_length()
    return max(0, shift_for_total, shift_for_scale)


def scale_of(sensitivity: int, law: Noise) -> float:
    """Return the scale of whole-number noise, in steps, before OpenDP rounds it up."""
    if not sensitivity:
        return 0.0
    if not law.rounding:
        return float(sensitivity * Fraction(law.scale))
    return hypot(sensitivity * float(law.scale), law.rounding)


def whole_law(sensitivity: int, law: Noise) -> Noise:
    """Return the law of whole-number noise, for sensitivity 1."""
    if not sensitivity or not law.rounding:
        return law
    return GaussianNoise(scale_of(sensitivity, law) / sensitivity)


def noisy_total(total: int, sensitivity: int, law: Noise) -> Noisy:
    """Return a total with OpenDP's noise, which enters releases only here and in `noisy_vector`.

    `sensitivity` is the most by which one user can move the total; the noise is scaled to it.
    """
    measurement = measurement_of(sensitivity, law)
    return Noisy(measurement(total), float(measurement.map(sensitivity)))


def noisy_vector(total: npt.NDArray[np.int64], sensitivity: int, law: Noise) -> NoisyVector:
    """Return a vector of totals with OpenDP's noise.

    `sensitivity` is the most by which one user can move it: in the Euclidean norm for Gaussian
    noise, and in the l1 norm for Laplace noise.
    """
    measurement = measurement_of(sensitivity, law, vector=True)
    return NoisyVector(np.array(measurement(total.tolist())), float(measurement.map(sensitivity)))


def average_beyond(total: int, lowest: int, highest: int, beyond: Real) -> Real:
    """Replace a noisy total outside an interval by its conditional mean, so it stays unbiased.

    For discrete Laplace noise on a total in the interval, whose ends are public. Below the interval
    the noisy total is ``lowest - 1 - G``, with G geometric, for any total, because the distribution
    is memoryless. Its mean there is therefore ``lowest - beyond``, and above the interval it is
    ``highest + beyond``. This is post-processing, and it increases no expected convex loss (by
    Jensen's inequality, given the side).

    Parameters
    ----------
    total : int
        A total with noise.
    lowest, highest : int
        The ends: on every dataset, the total without noise is between them.
    beyond : float or Fraction
        The mean distance from the nearer end of a total that is outside: `mean_beyond`.

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
    """Return 1 / (1 - q), the mean of discrete Laplace noise of a scale, given that it is positive.

    P(n) is proportional to q^abs(n), with q = exp(-1 / scale); without noise q is 0.
    """
    return -1 / expm1(-1 / scale) if scale else 1.0


def measurement_of(sensitivity: int, law: Noise, *, vector: bool = False) -> Any:
    """Return OpenDP's measurement that adds noise to a whole number, or to several."""
    if law.integer_law == "gaussian":
        return discrete_gaussian(sensitivity, law, vector=vector)
    return discrete_laplace(sensitivity, law.privacy_cost, vector=vector)


@discreet
def discrete_laplace(sensitivity: int, budget: Fraction, *, vector: bool = False) -> Any:
    """Return OpenDP's discrete Laplace measurement, with the smallest scale within a budget.

    Parameters
    ----------
    sensitivity : int
        The most by which one user can change the whole number to be released; for a vector of whole
        numbers, in the l1 norm.
    budget : Fraction
        Privacy budget (dimensionless, public).
    vector : bool, optional
        Whether a vector is to be released, with independent noise in each coordinate.

    Returns
    -------
    opendp.Measurement
        From a whole number to one with noise; ``map(sensitivity)`` is at most `budget`.

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
    scale = scale_of(sensitivity, LaplaceNoise(budget))
    return _with_smallest_scale(
        dp.m.make_laplace, (domain, distance), scale, sensitivity, {"eps": budget}
    )


@discreet
def discrete_gaussian(sensitivity: int, law: Noise, *, vector: bool = False) -> Any:
    """Return OpenDP's discrete Gaussian measurement, with the noise of a law for whole numbers.

    Parameters
    ----------
    sensitivity : int
        The most by which one user can change the whole number to be released; for a vector of whole
        numbers, in the Euclidean norm.
    law : GaussianNoise
        The noise for sensitivity 1 (public); its privacy guarantees are kept.
    vector : bool, optional
        Whether a vector is to be released, with independent noise in each coordinate.

    Returns
    -------
    opendp.Measurement
        From whole numbers to whole numbers with noise; ``map(sensitivity)``, in zCDP, is at most
        1 / (2 sigma^2).

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
    scale = scale_of(sensitivity, law)
    budget: dict[str, Fraction] = {law.currency: law.privacy_cost}
    return _with_smallest_scale(dp.m.make_gaussian, (domain, distance), scale, sensitivity, budget)


def _with_smallest_scale(
    make: Any, space: tuple[Any, Any], scale: float, sensitivity: int, budget: dict[str, Fraction]
) -> Any:
    """Return the noise with the smallest scale, from the given one up, that is within a budget."""
    ((currency, limit),) = budget.items()
    for _ in range(MAX_STEPS):
        noise = make(*space, scale=scale)
        cost = noise.map(sensitivity)
        # The map rounds up, so a rounded scale may cost slightly more than the budget.
        if cost < inf and Fraction(cost) <= limit:
            return noise
        scale, last = nextafter(scale, inf), scale
    raise NotFoundError(
        f"OpenDP's noise scale for {currency}={float(limit)!r} was not found within {MAX_STEPS} "
        f"steps of a float: scale {last!r} costs {currency}={cost!r}. {NOTHING_SPENT}"
    )


def load_opendp() -> Any:
    """Import OpenDP, and enable the features that releases need.

    Each release does so before it reads anything protected, because it would fail without OpenDP.
    """
    dp = check.load("opendp.prelude", "Releases need OpenDP", "release")
    dp.enable_features("contrib")
    return dp
