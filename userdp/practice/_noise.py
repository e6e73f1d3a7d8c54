"""Noise for the world: whole numbers, drawn by OpenDP, at one place for every release.

The demonstrations of `userdp.mechanisms` add floating-point noise to floating-point sums; which
numbers can come out then depends on the data, in the last digits. Here the statistic is a whole
number, and so is the noise (the discrete Laplace law, sampled exactly from the operating system's
entropy, which takes no seed). What is computed from the result afterwards is post-processing.
"""

from fractions import Fraction
from math import inf, nextafter
from typing import Any, NamedTuple

LARGEST_SCALE_BITS = 56
"""Noise of a larger scale, in steps, might leave the 64 bits that OpenDP adds it in: with this one
only with probability exp(-2^6)."""


class Noisy(NamedTuple):
    """A whole number with noise, and what it cost."""

    total: int
    eps: float
    """By OpenDP's own account, at most the budget."""


def noisy_total(total: int, moved: int, budget: Fraction) -> Noisy:
    """Return a total with OpenDP's noise: the only place where its answer enters a release.

    `moved` is the most that one user can move the total; the budget is for that.
    """
    measurement = discrete_laplace(moved, budget)
    return Noisy(measurement(total), float(measurement.map(moved)))


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
    scale = float(moved / budget)
    while True:
        space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
        noise: Any = dp.m.make_laplace(*space, scale=scale)
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
