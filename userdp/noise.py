"""Additive noise: the Laplace and the staircase law, both eps-DP, and the errors they cause.

A law is stated for a statistic of sensitivity 1, the largest change that replacing all samples of
one user can cause; for sensitivity Delta the noise is Delta times as large. The noise does not
depend on the data. Drawn in floating point, it is for demonstrations only: its low-order bits
betray more than the laws allow. Whatever is a `Noise` may stand where a budget does:
`userdp.GaussianNoise`, whose promises are weaker, is one.
"""

from abc import ABC, abstractmethod
from fractions import Fraction
from math import ceil, exp, expm1
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Exact, Floats
from userdp.model import Epsilon, rank, read_eps

# What is to be small in the worst case: bias + E|noise|, the mean absolute error, or the mean
# square error.
Objective = Literal["bound", "l1", "mse"]

# Below this budget the mean square of the noise may exceed the largest float.
_SMALLEST_FOR_SQUARES = 1e-150

NoiseName = Literal["laplace", "staircase"]


class Noise(ABC):
    """A symmetric law Z of additive noise for sensitivity 1.

    Attributes
    ----------
    mean_size, mean_square : float or Fraction
        E|Z| and E Z^2.
    rank : int
        k = ceil(2 E|Z|): the best threshold for the objective "bound" is the k-th largest U m_l.
    """

    mean_size: Exact
    mean_square: Exact
    rank: int

    @abstractmethod
    def log_density(self, z: npt.ArrayLike) -> Floats:
        """Return the natural logarithm of the density at z, shape (...)."""

    @abstractmethod
    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw independent noise of a shape for a statistic of a sensitivity."""

    @abstractmethod
    def _scale(self, sensitivity: float) -> Floats:
        """Return the scale of noise for a sensitivity, if neither it nor draws can overflow."""

    @abstractmethod
    def tail(self, x: Floats) -> Floats:
        """Return P(Z > x) for x >= 0."""

    @abstractmethod
    def excess(self, x: Floats) -> Floats:
        """Return E(Z - x)^+ for x >= 0."""

    def mean_error(self, bias: npt.ArrayLike, sensitivity: float = 1.0) -> Floats:
        """Return E|d + Delta Z| for biases d, shape (...), and a sensitivity Delta >= 0."""
        distance = abs(check.floats("bias", bias))
        change = float(check.size("sensitivity", sensitivity))
        self._scale(change)  # refuses what might overflow
        return distance + 2 * self.mean_excess(distance, change)

    def mean_excess(self, x: Floats, sensitivity: float | Floats) -> Floats:
        """Return E(Delta Z - x)^+ for x >= 0 and sensitivities Delta >= 0, broadcast together."""
        # Where there is no noise, or none that reaches so far, all of it lies below.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.fmin(abs(x / sensitivity), check.LARGEST)
            return sensitivity * self.excess(ratio)

    def worst_case(self, bias: Any, sensitivity: Any, objective: Objective) -> Any:
        """Return the worst-case error of an estimator with this bias and sensitivity.

        Exact for Fractions and Laplace noise, but for "l1".
        """
        if objective == "bound":
            return bias + sensitivity * self.mean_size
        if objective == "mse":
            return bias**2 + sensitivity**2 * self._square()
        return float(self.mean_error(float(bias), float(sensitivity)))

    def best_ratio(self, n: Floats, objective: Objective) -> Floats:
        """Return the ratio x of bias to sensitivity at which the error is smallest.

        For a bias that falls by n/2 for each unit of sensitivity, shape (...). With h(x) = E|x + Z|
        the mean absolute error Delta h(bias/Delta) has slope h(x) - (x + n/2) h'(x), which falls
        in x; the mean square error has slope 2 Delta (E Z^2 - x n/2).
        """
        if objective == "mse":
            return 2 * float(self._square()) / n

        def falls_later(x: Floats) -> npt.NDArray[np.bool_]:
            tail = self.tail(x)
            return 2 * self.excess(x) + 2 * x * tail > n * (0.5 - tail)

        low, high = np.zeros(n.shape), np.full(n.shape, float(self.mean_size))
        while np.any(falls_later(high)):
            high *= 2
        # Bisected until no float is left between: a dozen operations a step are soon done.
        while np.any((low < (middle := low + (high - low) / 2)) & (middle < high)):
            before = falls_later(middle)
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return high

    def _square(self) -> Exact:
        """Return E Z^2, if it is within the range of floats."""
        return self.mean_square


# What may be given as `eps` beside the name of a law: a privacy budget, or the law itself.
Budget = Epsilon | Noise


class _PureNoise(Noise):
    """A law that is eps-DP, of a budget `eps`."""

    eps: Fraction

    def _scale(self, sensitivity: float) -> Floats:
        return _noise_scale(sensitivity, float(self.eps))

    def _square(self) -> Exact:
        if self.eps < _SMALLEST_FOR_SQUARES:
            rule = f"at least {_SMALLEST_FOR_SQUARES} for squares"
            check.refuse_value("eps", rule, float(self.eps))
        return self.mean_square


class LaplaceNoise(_PureNoise):
    """The Laplace law of scale 1/eps, with density (eps/2) exp(-eps abs(z)): Theorem II.1.

    A statistic of user-level sensitivity Delta with Delta times this noise is user-level eps-DP,
    for replacing one user's samples with the counts public.

    Parameters
    ----------
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Attributes
    ----------
    eps : Fraction
        The same.

    Raises
    ------
    TypeError, ValueError
        As `read_eps`.

    Examples
    --------
    >>> law = LaplaceNoise(2)
    >>> law.mean_size, law.mean_square, law.rank
    (Fraction(1, 2), Fraction(1, 2), 1)
    """

    def __init__(self, eps: Epsilon) -> None:
        self.eps, self.rank = read_eps(eps), rank(eps)
        self.mean_size = 1 / self.eps
        self.mean_square = 2 / self.eps**2

    def log_density(self, z: npt.ArrayLike) -> Floats:
        """Return the natural logarithm of the density at z, shape (...)."""
        eps, points = float(self.eps), check.floats("z", z)
        return float(np.log(eps / 2)) - eps * abs(points)

    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw independent noise of a shape for a statistic of a sensitivity."""
        return rng.laplace(scale=self._scale(sensitivity), size=shape)

    def tail(self, x: Floats) -> Floats:
        """Return P(Z > x) for x >= 0."""
        return np.exp(-float(self.eps) * x) / 2

    def excess(self, x: Floats) -> Floats:
        """Return E(Z - x)^+ for x >= 0."""
        return self.tail(x) / float(self.eps)


class StaircaseNoise(_PureNoise):
    """The staircase law: of all eps-DP noise that ignores the data, the one with smallest E|Z|.

    With gamma = 1 / (1 + exp(eps/2)) its density is sinh(eps/2) on [0, gamma), exp(-eps) times that
    on [gamma, 1 + gamma), and so on down by a factor exp(-eps) a step; symmetric about zero (Geng,
    Kairouz, Oh and Viswanath, 2015). E|Z| = 1 / (2 sinh(eps/2)) < 1/eps. Privacy as in
    `LaplaceNoise`.

    Parameters
    ----------
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Attributes
    ----------
    eps : Fraction
        The same.
    gamma : float
        Where the first step ends.

    Raises
    ------
    TypeError, ValueError
        As `read_eps`; if `eps` exceeds 1400, where the first step is too narrow for floats.

    Examples
    --------
    >>> law = StaircaseNoise(2)
    >>> round(law.mean_size, 6), round(law.gamma, 6), law.rank
    (0.425459, 0.268941, 1)
    """

    def __init__(self, eps: Epsilon) -> None:
        self.eps = read_eps(eps)
        if self.eps > 1400:
            check.refuse_value("eps", "at most 1400 for staircase noise", eps)
        root = exp(-float(self.eps) / 2)
        self.gamma = gamma = root / (1 + root)
        self.mean_size = root / -expm1(-float(self.eps))
        # The density on the first step and on the second.
        self._high = 1 / (2 * self.mean_size)
        self._low = self._high * exp(-float(self.eps))
        self.rank = ceil(2 * self.mean_size)
        # |Z| is a geometric number of whole units and, independently, a part of one.
        whole = root * self.mean_size
        self.mean_square = whole * (1 + 2 * whole + 2 * gamma) + gamma * (1 + 2 * gamma) / 3

    def log_density(self, z: npt.ArrayLike) -> Floats:
        """Return the natural logarithm of the density at z, shape (...)."""
        size = np.abs(check.floats("z", z))
        steps = np.floor(size) + (size - np.floor(size) >= self.gamma)
        result: Floats = -np.log(2 * self.mean_size) - float(self.eps) * steps
        return result

    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw independent noise of a shape for a statistic of a sensitivity."""
        self._scale(sensitivity)  # refuses what might overflow
        whole = np.floor(rng.exponential(1 / float(self.eps), shape))
        beyond, place = rng.random(shape) < self.gamma, rng.random(shape)
        part = np.where(beyond, self.gamma + (1 - self.gamma) * place, self.gamma * place)
        result: Floats = rng.choice([-1.0, 1.0], shape) * sensitivity * (whole + part)
        return result

    def tail(self, x: Floats) -> Floats:
        """Return P(Z > x) for x >= 0, linear on every step."""
        whole, first, second = self._steps(x)
        return whole * (0.5 - self._high * first - self._low * second)

    def excess(self, x: Floats) -> Floats:
        """Return E(Z - x)^+ for x >= 0, quadratic on every step."""
        whole, first, second = self._steps(x)
        on_first = (float(self.mean_size) - first + self._high * first**2) / 2
        on_second = (0.5 - self._high * self.gamma - self._low * second / 2) * second
        return whole * (on_first - on_second)

    def _steps(self, x: Floats) -> tuple[Floats, ...]:
        """exp(-eps) to the whole units in x, and how far the rest reaches into the two steps."""
        whole = np.floor(x)
        first = np.minimum(x - whole, self.gamma)
        return np.exp(-float(self.eps) * whole), first, np.maximum(x - whole - self.gamma, 0.0)


_LAWS = {"laplace": LaplaceNoise, "staircase": StaircaseNoise}


def _read_noise(noise: NoiseName, eps: Budget) -> Noise:
    """Return the law of a name at a budget, or the law that is given in place of the budget."""
    check.one_of("noise", noise, _LAWS)
    if isinstance(eps, Noise):
        if noise != "laplace":  # the default: of a law, no name is needed
            check.refuse_value("noise", "left out where `eps` is a law of noise", noise)
        return eps
    return _LAWS[noise](eps)


def _read_objective(objective: Objective) -> Objective:
    """Return the name of an objective, or refuse it."""
    check.one_of("objective", objective, get_args(Objective))
    return objective


def noisy_error(bias: npt.ArrayLike, scale: npt.ArrayLike) -> Floats:
    """Return the mean of abs(d + Z) for Laplace noise Z of scale s: abs(d) + s exp(-abs(d)/s).

    Parameters
    ----------
    bias, scale : array_like of float
        The bias d and the scale s of the noise, not negative, in one unit; broadcast together.

    Returns
    -------
    ndarray of float64
        Mean absolute errors, in the same unit; abs(d) where the scale is zero.

    Raises
    ------
    TypeError, ValueError
        If an entry is no real number or not finite, or a scale is negative.

    Examples
    --------
    >>> noisy_error([0.0, 1.0, -1.0], scale=[1.0, 1.0, 0.0]).round(6)
    array([1.      , 1.367879, 1.      ])
    """
    distance, scales = abs(check.floats("bias", bias)), check.floats("scale", scale)
    check.refuse_entries("scale", "at least 0", scales, scales < 0)
    return distance + 2 * LaplaceNoise(1).mean_excess(distance, scales)


def _noise_scale(width: float | Floats, eps: Epsilon) -> Floats:
    """Return width / eps, the Laplace scale for a sum that one user moves by at most `width`."""
    with np.errstate(over="ignore"):
        scale = np.asarray(width / np.float64(read_eps(eps)))
    # A draw may exceed its scale, though by less than a factor of 64: 2^-64 is never drawn.
    if not np.all(scale <= check.LARGEST / 64):
        raise ValueError(f"`eps` must be large enough for finite noise, got eps={eps!s}.")
    return scale
