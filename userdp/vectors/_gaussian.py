"""Gaussian noise: weaker promises than eps-DP, of numbers and of vectors."""

from fractions import Fraction
from math import ceil, exp, hypot, inf, nextafter, pi, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import erfcx, ndtr

from userdp import _checks as check
from userdp._checks import Floats
from userdp.model import Epsilon, read_eps
from userdp.noise import Noise

_MODERATE = 1e-100, 1e100
"""Between these, the parameters of Gaussian noise and the squares of its size are normal floats."""

_ROUNDED = 1e-10
"""How much of delta, relatively, is kept back for the rounding of its computation."""


class GaussianNoise(Noise):
    """The normal law of mean 0 and standard deviation sigma: weaker promises than eps-DP.

    A statistic of user-level sensitivity Delta with Delta times this noise is rho-zCDP with
    rho = 1 / (2 sigma^2) (Bun and Steinke, 2016), and (eps, delta)-private for every eps with
    delta = `delta` of it (Balle and Wang, 2018), for replacing one user's samples with the counts
    public; it is eps-DP for no eps. The same holds of vectors, with lengths as sensitivity and this
    noise in each coordinate: see `mean_in_ball`.

    Parameters
    ----------
    sigma : float
        Standard deviation for sensitivity 1, from 1e-100 to 1e100 (public).

    Attributes
    ----------
    sigma : float
        As given.

    Raises
    ------
    TypeError, ValueError
        If `sigma` is no real number from 1e-100 to 1e100.

    Examples
    --------
    >>> law = GaussianNoise(2)
    >>> round(law.delta(eps=1), 6), round(law.mean_size, 6), law.mean_square, law.rank
    (0.00683, 1.595769, 4.0, 4)
    """

    def __init__(self, sigma: float) -> None:
        self.sigma = _read_moderate("sigma", sigma)
        self.mean_size = self.sigma * sqrt(2 / pi)
        self.mean_square = self.sigma**2
        self.rank = ceil(2 * self.mean_size)

    def __repr__(self) -> str:
        return f"GaussianNoise(sigma={self.sigma!r})"

    @classmethod
    def zcdp(cls, rho: float | Fraction) -> "GaussianNoise":
        """Return the smallest noise that is rho-zCDP: sigma = 1 / sqrt(2 rho), rounded upwards.

        Parameters
        ----------
        rho : float or Fraction
            Budget of zero-concentrated privacy, from 1e-100 to 1e100 (dimensionless, public).

        Returns
        -------
        GaussianNoise

        Raises
        ------
        TypeError, ValueError
            If `rho` is no real number from 1e-100 to 1e100.

        Examples
        --------
        >>> GaussianNoise.zcdp(0.5)
        GaussianNoise(sigma=1.0)
        """
        exact = Fraction(check.size("rho", rho, exact=True))
        least = sqrt(0.5 / _read_moderate("rho", exact))
        while 2 * exact * Fraction(least) ** 2 < 1:
            least = nextafter(least, inf)
        return cls(least)

    @classmethod
    def approximate(cls, eps: Epsilon, delta: float) -> "GaussianNoise":
        """Return the smallest noise that is (eps, delta)-private: analytic calibration.

        The smallest sigma with Phi(1/(2 sigma) - eps sigma) - e^eps Phi(-1/(2 sigma) - eps sigma)
        at most delta (Balle and Wang, 2018, Theorem 8), but for a part in 10^10 of delta, which is
        kept back so that rounding never overstates the privacy.

        Parameters
        ----------
        eps : float, Fraction, Decimal or str
            From 1e-100 to 1e100 (dimensionless, public).
        delta : float
            From 1e-100 to less than 1: with about this probability the promise of eps may fail.

        Returns
        -------
        GaussianNoise

        Raises
        ------
        TypeError, ValueError
            As `read_eps`; if `eps` or `delta` are no numbers in these ranges.

        Examples
        --------
        >>> round(GaussianNoise.approximate(eps=1, delta=1e-6).sigma, 4)
        4.2247
        """
        budget, allowed = _read_moderate("eps", read_eps(eps)), _read_moderate("delta", delta)
        if allowed >= 1:
            check.refuse_value("delta", "less than 1", delta)
        # Of u = 1/(2 sigma) - eps sigma, so that no step of the computation cancels.
        low, high = -40.0, 40.0
        while low < (middle := low + (high - low) / 2) < high:
            enough = _spent_beyond(middle, budget) <= allowed * (1 - _ROUNDED)
            low, high = (middle, high) if enough else (low, middle)
        root = hypot(low, sqrt(2 * budget))
        return cls((root - low) / (2 * budget) if low < 0 else 1 / (low + root))

    def delta(self, eps: Epsilon) -> float:
        """Return the smallest delta for which the noise is (eps, delta)-private."""
        budget = float(read_eps(eps))
        return _spent_beyond(0.5 / self.sigma - budget * self.sigma, budget)

    def log_density(self, z: npt.ArrayLike) -> Floats:
        """Return the natural logarithm of the density at z, shape (...)."""
        points = check.floats("z", z)
        with np.errstate(over="ignore"):
            size = (points / self.sigma) ** 2 / 2
        result: Floats = -size - np.log(self.sigma * sqrt(2 * pi))
        return result

    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw independent noise of a shape for a statistic of a sensitivity."""
        return rng.normal(scale=self._scale(sensitivity), size=shape)

    def tail(self, x: Floats) -> Floats:
        """Return P(Z > x) for x >= 0."""
        result: Floats = ndtr(-self._ratio(x))
        return result

    def excess(self, x: Floats) -> Floats:
        """Return E(Z - x)^+ for x >= 0."""
        ratio = self._ratio(x)
        density = np.exp(-(ratio**2) / 2) / sqrt(2 * pi)
        result: Floats = self.sigma * density * np.maximum(1 - ratio * _mills(ratio), 0)
        return result

    def _ratio(self, x: Floats) -> Floats:
        """Return x / sigma, or at least so much that nothing lies beyond."""
        return np.minimum(x, 1e3 * self.sigma) / self.sigma

    def _scale(self, sensitivity: float) -> Floats:
        with np.errstate(over="ignore"):
            scale = np.asarray(sensitivity * np.float64(self.sigma))
        if not np.all(scale <= check.LARGEST / 64):
            check.refuse_value("sigma", "small enough for finite noise", self.sigma)
        return scale


def _read_moderate(name: str, value: object) -> float:
    number = check.positive(name, value)
    if not _MODERATE[0] <= number <= _MODERATE[1]:
        check.refuse_value(name, "from {} to {}".format(*_MODERATE), value)
    return number


def _mills(x: Any) -> Any:
    """Return Phi(-x) / phi(x), the ratio of Mills."""
    return sqrt(pi / 2) * erfcx(x / sqrt(2))


def _spent_beyond(u: float, eps: float) -> float:
    """Return Phi(u) - e^eps Phi(-v), v = sqrt(u^2 + 2 eps), to 11 digits or so.

    For u = 1/(2 sigma) - eps sigma it is v = 1/(2 sigma) + eps sigma, and e^eps phi(v) = phi(u):
    nothing overflows. Written as a difference of Mills ratios where both terms are alike, and by
    the derivatives of the ratio where these are.
    """
    v = hypot(u, sqrt(2) * sqrt(eps))
    density = exp(-u * u / 2) / sqrt(2 * pi)
    middle, reach = (v - u) / 2, eps / (v - u) if u < 0 else (u + v) / 2
    if density and reach < 1e-3:
        ratio = _mills(middle)
        third = 2 + middle**2 - (3 * middle + middle**3) * ratio
        return float(density * 2 * reach * (1 - middle * ratio + reach**2 / 6 * third))
    if u < 0:
        return float(density * (_mills(-u) - _mills(v)))
    return float(ndtr(u) - density * _mills(v))
