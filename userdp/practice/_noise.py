"""Noise for the world: whole numbers, drawn by OpenDP, at one place for every release.

The demonstrations of `userdp.mechanisms` add floating-point noise to floating-point sums; which
numbers can come out then depends on the data, in the last digits. Here the statistic is a whole
number, or several, and so is the noise (the discrete Laplace or Gaussian law, sampled exactly from
the operating system's entropy, which takes no seed). What is computed from the result afterwards is
post-processing.
"""

from fractions import Fraction
from math import hypot, inf, nextafter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp.model import Epsilon, read_eps
from userdp.practice._quiet import discreet
from userdp.vectors import GaussianNoise

LARGEST_SCALE_BITS = 56
"""Noise of a larger scale, in steps, might leave the 64 bits that OpenDP adds it in: with this one
only with probability exp(-2^6)."""


ROUNDED = 4
"""Gaussian noise of scale s, in steps, is taken to be hypot(s, 4): it is then (eps, delta)-private
like continuous noise of scale s, rounded to whole numbers at random (lemma on whole numbers)."""

Spent = Fraction | GaussianNoise
"""What is spent: a budget eps, or the promises of Gaussian noise."""


class Noisy(NamedTuple):
    """A whole number with noise, and what it cost."""

    total: int
    spent: float
    """By OpenDP's own account, at most the budget: eps, or rho of Gaussian noise."""


class NoisyVector(NamedTuple):
    """Whole numbers with noise, and what they cost together."""

    total: npt.NDArray[np.int64]
    rho: float


def noisy_total(total: int, moved: int, budget: Spent) -> Noisy:
    """Return a total with OpenDP's noise: with the next, where its answers enter releases.

    `moved` is the most that one user can move the total; the budget is for that.
    """
    measurement = measurement_of(moved, budget)
    return Noisy(measurement(total), float(measurement.map(moved)))


def measurement_of(moved: int, budget: Spent) -> Any:
    """Return OpenDP's noise for a whole number that one user can move by so much."""
    if isinstance(budget, GaussianNoise):
        return discrete_gaussian(moved, budget)
    return discrete_laplace(moved, budget)


def noisy_vector(total: npt.NDArray[np.int64], moved: int, law: GaussianNoise) -> NoisyVector:
    """Return a vector of totals with OpenDP's noise; one user moves it by the length `moved`."""
    measurement = discrete_gaussian(moved, law, vector=True)
    return NoisyVector(np.array(measurement(total.tolist())), float(measurement.map(moved)))


def read_budget(eps: Epsilon | GaussianNoise) -> Spent:
    """Return a budget, or the law in its place."""
    return eps if isinstance(eps, GaussianNoise) else read_eps(eps)


def share_of_scale(budget: Spent) -> Fraction:
    """Return what one user can move, in scales of the noise: eps, or 1 / sigma."""
    return 1 / Fraction(budget.sigma) if isinstance(budget, GaussianNoise) else budget


def scale_of(moved: int, budget: Spent) -> float:
    """Return the scale of the noise, in steps, but for a rounding upwards."""
    if isinstance(budget, GaussianNoise):
        return hypot(moved * budget.sigma, ROUNDED) if moved else 0.0
    return float(moved / budget)


@discreet
def discrete_laplace(moved: int, budget: Fraction) -> Any:
    """Return OpenDP's discrete Laplace measurement, with the smallest scale that keeps a budget.

    Parameters
    ----------
    moved : int
        The most by which one user can change the whole number that is to be released.
    budget : Fraction
        Privacy budget (dimensionless, public).

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
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    return _least(dp.m.make_laplace, space, scale_of(moved, budget), moved, budget)


@discreet
def discrete_gaussian(moved: int, law: GaussianNoise, *, vector: bool = False) -> Any:
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
    domain, distance = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    if vector:
        domain, distance = dp.vector_domain(domain), dp.l2_distance(T="i64")
    budget = 1 / (2 * Fraction(law.sigma) ** 2)
    return _least(dp.m.make_gaussian, (domain, distance), scale_of(moved, law), moved, budget)


def _least(make: Any, space: tuple[Any, Any], scale: float, moved: int, budget: Fraction) -> Any:
    """Return the noise of the smallest scale from the given one on that keeps a budget."""
    while True:
        noise = make(*space, scale=scale)
        # The map rounds upwards, so that a rounded scale may cost a little more than was asked.
        if Fraction(noise.map(moved)) <= budget:
            return noise
        scale = nextafter(scale, inf)


def load_opendp() -> Any:
    """Import OpenDP, and switch on what releases need of it."""
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise ImportError("Releases need OpenDP: pip install 'userdp[release]'.") from error
    dp.enable_features("contrib")
    return dp
