"""Additive noise: its laws, their privacy guarantees and budgets, and the errors they cause.

The Laplace and the staircase law are eps-DP; the Gaussian law is rho-zCDP and (eps, delta)-DP. A
law is stated for a statistic of sensitivity 1, the largest change that replacing all samples of one
user can cause; for sensitivity Delta the noise is Delta times as large. The noise does not depend
on the data. Drawn in floating point, it is for demonstrations only: its low-order bits reveal more
than the laws allow. A parameter called `budget` takes a law, or a privacy budget, which means
Laplace noise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import ceil, exp, expm1, hypot, inf, nextafter, pi, sqrt
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from userdp import _checks as check
from userdp._checks import Floats, Real
from userdp._search import NotFoundError, double, halve
from userdp.beyond._rounding import chance_beyond
from userdp.model import Epsilon, rank, read_eps
from userdp.noise import noise_scale

special = check.load("scipy.special", "userdp.beyond needs scipy", "beyond")

# The objective to minimise in the worst case: bias + E|noise|, the mean absolute error, or the
# mean square error.
Objective = Literal["bound", "l1", "mse"]

# Below this budget the mean square of the noise may exceed the largest float.
_SMALLEST_FOR_SQUARES = 1e-150

# In this range, the parameters of Gaussian noise and their squares are normal floats.
_PARAMETER_RANGE = (1e-100, 1e100)

# The largest budget of staircase noise: beyond it the first step is too narrow for floats.
LARGEST_STAIRCASE = 1400

# The fraction of delta that is reserved for rounding errors in its computation.
_RESERVED_SHARE = 1e-10

# Maximum number of times that sigma is increased to the next float.
_MAX_INCREASES = 64


class Noise(ABC):
    """A symmetric law Z of additive noise for sensitivity 1.

    Attributes
    ----------
    mean_abs, mean_square : float or Fraction
        E|Z| and E Z^2.
    rank : int
        k = ceil(2 E|Z|): the best threshold for the objective "bound" is the k-th largest U m_l.
    scale : float or Fraction
        1/eps for a law that is eps-DP, the standard deviation for a Gaussian law.
    currency : {"eps", "rho"}
        The unit of the law's privacy cost: eps of eps-DP, or rho of zero-concentrated DP (zCDP).
    privacy_cost : Fraction
        The privacy cost of a statistic with this noise, in that currency.
    integer_law : {"laplace", "gaussian"} or None
        The law on whole numbers from which OpenDP draws instead; None if there is none.
    rounding : int
        Noise in whole numbers that replaces noise of standard deviation s, in steps, must be wider:
        its standard deviation is hypot(s, rounding).
    """

    mean_abs: Real
    mean_square: Real
    rank: int
    scale: Real
    currency: ClassVar[Literal["eps", "rho"]]
    privacy_cost: Fraction
    integer_law: ClassVar[Literal["laplace", "gaussian"] | None] = None
    rounding: ClassVar[int] = 0

    @abstractmethod
    def delta(self, eps: Epsilon) -> float:
        """Return a delta for which a statistic with this noise is (eps, delta)-DP."""

    @abstractmethod
    def log_density(self, z: npt.ArrayLike) -> Floats:
        """Return the natural logarithm of the density at z, shape (...)."""

    @abstractmethod
    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw independent noise of a shape for a statistic of the given sensitivity."""

    @abstractmethod
    def _scale(self, sensitivity: float) -> Floats:
        """Return the scale of noise for a sensitivity; raise if it or a draw could overflow."""

    @abstractmethod
    def tail(self, x: Floats) -> Floats:
        """Return P(Z > x) for x >= 0."""

    @abstractmethod
    def excess(self, x: Floats) -> Floats:
        """Return E(Z - x)^+ for x >= 0."""

    def mean_error(self, bias: npt.ArrayLike, sensitivity: float = 1.0) -> Floats:
        """Return E|d + Delta Z| for biases d, shape (...), and a sensitivity Delta >= 0."""
        distance = abs(check.floats("bias", bias))
        change = float(check.nonnegative("sensitivity", sensitivity))
        self._scale(change)  # raises if noise might overflow
        return distance + 2 * self.mean_excess(distance, change)

    def mean_excess(self, x: Floats, sensitivity: float | Floats) -> Floats:
        """Return E(Delta Z - x)^+ for x >= 0 and sensitivities Delta >= 0, broadcast together."""
        # If there is no noise, or x far exceeds it, the ratio is huge and the excess 0.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.fmin(abs(x / sensitivity), check.LARGEST)
            return sensitivity * self.excess(ratio)

    def worst_case(self, bias: Any, sensitivity: Any, objective: Objective) -> Any:
        """Return the worst-case error of an estimator with this bias and sensitivity.

        Exact for Fractions and Laplace noise, except for "l1".
        """
        if objective == "bound":
            return bias + sensitivity * self.mean_abs
        if objective == "mse":
            return bias**2 + sensitivity**2 * self._square()
        return float(self.mean_error(float(bias), float(sensitivity)))

    def best_ratio(self, n: Floats, objective: Objective) -> Floats:
        """Return the ratio x of bias to sensitivity at which the error is smallest.

        The bias falls by n/2 per unit of sensitivity; n has shape (...). With h(x) = E|x + Z|, the
        mean absolute error Delta h(bias/Delta) has slope h(x) - (x + n/2) h'(x), which decreases in
        x; the mean square error has slope 2 Delta (E Z^2 - x n/2).
        """
        if objective == "mse":
            return 2 * float(self._square()) / n

        def has_positive_slope(x: Floats) -> npt.NDArray[np.bool_]:
            tail = self.tail(x)
            return 2 * self.excess(x) + 2 * x * tail > n * (0.5 - tail)

        start = np.full(n.shape, float(self.mean_abs))
        upper_end = double(has_positive_slope, start, "the best ratio of bias to sensitivity")
        _, ratio = halve(has_positive_slope, np.zeros(n.shape), upper_end)
        return ratio

    def _square(self) -> Real:
        """Return E Z^2, if it is within the range of floats."""
        return self.mean_square


# A privacy budget, for which the noise is Laplace, or another law of noise.
Budget = Epsilon | Noise


class PureNoise(Noise):
    """A law that is eps-DP for a budget `eps`."""

    currency = "eps"
    scale: Fraction

    def __init__(self, eps: Epsilon) -> None:
        self.eps = read_eps(eps)
        self.scale = 1 / self.eps
        self.privacy_cost = self.eps

    def delta(self, eps: Epsilon) -> float:
        """Return a delta for which a statistic with this noise is (eps, delta)-DP.

        It is 0 if `eps` is at least the budget of the noise, and otherwise 1 - exp(eps - budget),
        which is valid for every release that is eps-DP at that budget.

        Parameters
        ----------
        eps : float, Fraction, Decimal or str
            The eps of the guarantee (dimensionless, public).

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        TypeError, ValueError
            If `eps` is not a privacy budget.
        """
        return chance_beyond(self.eps, read_eps(eps))

    def _scale(self, sensitivity: float) -> Floats:
        return noise_scale(sensitivity, float(self.eps))

    def _square(self) -> Real:
        if self.eps < _SMALLEST_FOR_SQUARES:
            rule = f"at least {_SMALLEST_FOR_SQUARES} for mean square errors"
            check.refuse_value("eps", rule, float(self.eps))
        return self.mean_square


class LaplaceNoise(PureNoise):
    """The Laplace law of scale 1/eps, with density (eps/2) exp(-eps abs(z)): Theorem II.1.

    Adding Delta times this noise to a statistic of user-level sensitivity Delta is user-level
    eps-DP under replacement of all samples of one user, with public counts.

    Parameters
    ----------
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Attributes
    ----------
    eps, privacy_cost : Fraction
        The privacy budget.
    scale : Fraction
        1/eps.

    Raises
    ------
    TypeError, ValueError
        If `eps` is not a privacy budget.

    Examples
    --------
    >>> law = LaplaceNoise(2)
    >>> law.mean_abs, law.mean_square, law.rank
    (Fraction(1, 2), Fraction(1, 2), 1)
    >>> law.privacy_cost, law.currency, law.delta(2), round(law.delta(1), 6)
    (Fraction(2, 1), 'eps', 0.0, 0.632121)
    """

    integer_law = "laplace"
    mean_abs: Fraction
    mean_square: Fraction

    def __init__(self, eps: Epsilon) -> None:
        super().__init__(eps)
        self.rank = rank(eps)
        self.mean_abs = 1 / self.eps
        self.mean_square = 2 / self.eps**2

    def log_density(self, z: npt.ArrayLike) -> Floats:
        """Return the natural logarithm of the density at z, shape (...)."""
        eps = float(self.eps)
        points = check.floats("z", z)
        return float(np.log(eps / 2)) - eps * abs(points)

    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw independent noise of a shape for a statistic of the given sensitivity."""
        return rng.laplace(scale=self._scale(sensitivity), size=shape)

    def tail(self, x: Floats) -> Floats:
        """Return P(Z > x) for x >= 0."""
        return np.exp(-float(self.eps) * x) / 2

    def excess(self, x: Floats) -> Floats:
        """Return E(Z - x)^+ for x >= 0."""
        return self.tail(x) / float(self.eps)


class StaircaseNoise(PureNoise):
    """The staircase law: of all eps-DP noise independent of the data, the one with smallest E|Z|.

    With gamma = 1 / (1 + exp(eps/2)) its density is sinh(eps/2) on [0, gamma), exp(-eps) times that
    on [gamma, 1 + gamma), and so on, down by a factor exp(-eps) per step; it is symmetric about
    zero (Geng, Kairouz, Oh and Viswanath, 2015). E|Z| = 1 / (2 sinh(eps/2)) < 1/eps. Privacy is as
    for `LaplaceNoise`, but OpenDP has no replacement for this noise: it is for demonstrations only.

    Parameters
    ----------
    eps : float, Fraction, Decimal or str
        Privacy budget (dimensionless, public).

    Attributes
    ----------
    eps, privacy_cost : Fraction
        The privacy budget.
    scale : Fraction
        1/eps: apart from the steps, the density falls by a factor e over this length.
    gamma : float
        Where the first step ends.

    Raises
    ------
    TypeError, ValueError
        If `eps` is not a privacy budget, or above 1400, where the first step is too narrow for
        floats.

    Examples
    --------
    >>> law = StaircaseNoise(2)
    >>> round(law.mean_abs, 6), round(law.gamma, 6), law.rank
    (0.425459, 0.268941, 1)
    """

    mean_abs: float
    mean_square: float

    def __init__(self, eps: Epsilon) -> None:
        super().__init__(eps)
        if self.eps > LARGEST_STAIRCASE:
            rule = f"at most {LARGEST_STAIRCASE} for staircase noise"
            check.refuse_value("eps", rule, eps)
        root = exp(-float(self.eps) / 2)
        gamma = root / (1 + root)
        self.gamma = gamma
        self.mean_abs = root / -expm1(-float(self.eps))
        # The density on the first step and on the second.
        self._high = 1 / (2 * self.mean_abs)
        self._low = self._high * exp(-float(self.eps))
        self.rank = ceil(2 * self.mean_abs)
        # |Z| is a geometric number of whole units plus, independently, a fraction of one.
        mean_units = root * self.mean_abs
        self.mean_square = (
            mean_units * (1 + 2 * mean_units + 2 * gamma) + gamma * (1 + 2 * gamma) / 3
        )

    def log_density(self, z: npt.ArrayLike) -> Floats:
        """Return the natural logarithm of the density at z, shape (...)."""
        distance = np.abs(check.floats("z", z))
        steps = np.floor(distance) + (distance - np.floor(distance) >= self.gamma)
        result: Floats = -np.log(2 * self.mean_abs) - float(self.eps) * steps
        return result

    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw independent noise of a shape for a statistic of the given sensitivity."""
        self._scale(sensitivity)  # raises if noise might overflow
        units = np.floor(rng.exponential(1 / float(self.eps), shape))
        is_second_step = rng.random(shape) < self.gamma
        position = rng.random(shape)
        fraction = np.where(
            is_second_step, self.gamma + (1 - self.gamma) * position, self.gamma * position
        )
        sign = rng.choice([-1.0, 1.0], shape)
        result: Floats = sign * sensitivity * (units + fraction)
        return result

    def tail(self, x: Floats) -> Floats:
        """Return P(Z > x) for x >= 0, linear on every step."""
        factor, first, second = self._steps(x)
        return factor * (0.5 - self._high * first - self._low * second)

    def excess(self, x: Floats) -> Floats:
        """Return E(Z - x)^+ for x >= 0, quadratic on every step."""
        factor, first, second = self._steps(x)
        on_first = (float(self.mean_abs) - first + self._high * first**2) / 2
        on_second = (0.5 - self._high * self.gamma - self._low * second / 2) * second
        return factor * (on_first - on_second)

    def _steps(self, x: Floats) -> tuple[Floats, ...]:
        """Return exp(-eps n) for the n units in x, and the parts of the rest on its two steps."""
        units = np.floor(x)
        factor = np.exp(-float(self.eps) * units)
        first = np.minimum(x - units, self.gamma)
        second = np.maximum(x - units - self.gamma, 0.0)
        return factor, first, second


class GaussianNoise(Noise):
    """The normal law of mean 0 and standard deviation sigma: weaker guarantees than eps-DP.

    Adding Delta times this noise to a statistic of user-level sensitivity Delta is rho-zCDP with
    rho = 1 / (2 sigma^2) (Bun and Steinke, 2016), and (eps, delta)-DP for every eps, with delta
    from the method `delta` (Balle and Wang, 2018), under replacement of all samples of one user,
    with public counts; it is not eps-DP for any eps. The same holds for vectors, with lengths as
    sensitivity and this noise in each coordinate: see `mean_in_ball`.

    Parameters
    ----------
    sigma : float
        Standard deviation for sensitivity 1, from 1e-100 to 1e100 (public).

    Attributes
    ----------
    sigma, scale : float
        As given.
    privacy_cost : Fraction
        rho = 1 / (2 sigma^2), exactly.

    Raises
    ------
    TypeError, ValueError
        If `sigma` is not a real number from 1e-100 to 1e100.

    Examples
    --------
    >>> law = GaussianNoise(2)
    >>> round(law.delta(eps=1), 6), round(law.mean_abs, 6), law.mean_square, law.rank
    (0.00683, 1.595769, 4.0, 4)
    >>> law.privacy_cost, law.currency
    (Fraction(1, 8), 'rho')
    """

    currency = "rho"
    integer_law = "gaussian"
    mean_abs: float
    mean_square: float
    scale: float
    # Discrete Gaussian noise of standard deviation hypot(s, 4) is (eps, delta)-DP if continuous
    # noise of standard deviation s is, in steps, randomly rounded to whole numbers: the lemma on
    # whole numbers. For zCDP, the 4 is not needed.
    rounding = 4

    def __init__(self, sigma: float) -> None:
        self.sigma = _read_parameter("sigma", sigma)
        self.scale = self.sigma
        self.privacy_cost = 1 / (2 * Fraction(self.sigma) ** 2)
        self.mean_abs = self.sigma * sqrt(2 / pi)
        self.mean_square = self.sigma**2
        self.rank = ceil(2 * self.mean_abs)

    def __repr__(self) -> str:
        return f"GaussianNoise(sigma={self.sigma!r})"

    @classmethod
    def zcdp(cls, rho: float | Fraction) -> GaussianNoise:
        """Return the smallest noise that is rho-zCDP: sigma = 1 / sqrt(2 rho), rounded upwards.

        Parameters
        ----------
        rho : float or Fraction
            Budget of zero-concentrated DP, from 1e-100 to 1e100 (dimensionless, public).

        Returns
        -------
        GaussianNoise

        Raises
        ------
        TypeError, ValueError
            If `rho` is not a real number from 1e-100 to 1e100.

        Examples
        --------
        >>> GaussianNoise.zcdp(0.5)
        GaussianNoise(sigma=1.0)
        """
        sigma = sqrt(0.5 / _read_parameter("rho", rho))
        exact = Fraction(check.nonnegative("rho", rho, exact=True))
        # `sigma` is the result of three roundings, each of half a unit in the last place.
        for _ in range(_MAX_INCREASES):
            if 2 * exact * Fraction(sigma) ** 2 >= 1:
                return cls(sigma)
            sigma = nextafter(sigma, inf)
        raise NotFoundError(
            f"The smallest sigma for rho={float(exact)!r} was not found in {_MAX_INCREASES} "
            f"steps of a float up to sigma={sigma!r}."
        )

    @classmethod
    def approximate(cls, eps: Epsilon, delta: float) -> GaussianNoise:
        """Return the smallest noise that is (eps, delta)-DP: analytic calibration.

        It has the smallest sigma for which Phi(1/(2 sigma) - eps sigma) -
        e^eps Phi(-1/(2 sigma) - eps sigma) is at most delta (Balle and Wang, 2018, Theorem 8),
        except that one part in 10^10 of delta is reserved so that rounding never overstates the
        privacy.

        Parameters
        ----------
        eps : float, Fraction, Decimal or str
            From 1e-100 to 1e100 (dimensionless, public).
        delta : float
            From 1e-100 to less than 1: the guarantee of eps may fail with about this probability.

        Returns
        -------
        GaussianNoise

        Raises
        ------
        TypeError, ValueError
            If `eps` is not a privacy budget; if `eps` or `delta` is outside its range.

        Examples
        --------
        >>> round(GaussianNoise.approximate(eps=1, delta=1e-6).sigma, 4)
        4.2247
        """
        budget = _read_parameter("eps", read_eps(eps))
        requested_delta = _read_parameter("delta", delta)
        if requested_delta >= 1:
            check.refuse_value("delta", "less than 1", delta)
        limit = requested_delta * (1 - _RESERVED_SHARE)
        # Search for u = 1/(2 sigma) - eps sigma, so that no step of the computation cancels.
        last, _ = halve(lambda u: _gaussian_delta(float(u), budget) <= limit, -40.0, 40.0)
        u = float(last)
        root = hypot(u, sqrt(2 * budget))
        # Of two forms of the same number, use the one without a subtraction.
        sigma = (root - u) / (2 * budget) if u < 0 else 1 / (u + root)
        return cls(sigma)

    def delta(self, eps: Epsilon) -> float:
        """Return the smallest delta for which a statistic with this noise is (eps, delta)-DP.

        Parameters
        ----------
        eps : float, Fraction, Decimal or str
            The eps of the guarantee (dimensionless, public).

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        TypeError, ValueError
            If `eps` is not a privacy budget.
        """
        budget = read_eps(eps)
        sigma = Fraction(self.sigma)
        # Exact, because both terms may be large; where a float would overflow, delta is 0.
        u = max(1 / (2 * sigma) - budget * sigma, Fraction(-(10**150)))
        delta = _gaussian_delta(float(u), float(budget))
        # Half of the reserved share covers the rounding here.
        return min(delta * (1 + _RESERVED_SHARE / 2), 1.0)

    def log_density(self, z: npt.ArrayLike) -> Floats:
        """Return the natural logarithm of the density at z, shape (...)."""
        points = check.floats("z", z)
        with np.errstate(over="ignore"):
            exponent = (points / self.sigma) ** 2 / 2
        result: Floats = -exponent - np.log(self.sigma * sqrt(2 * pi))
        return result

    def draw(self, sensitivity: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw independent noise of a shape for a statistic of the given sensitivity."""
        return rng.normal(scale=self._scale(sensitivity), size=shape)

    def tail(self, x: Floats) -> Floats:
        """Return P(Z > x) for x >= 0."""
        result: Floats = special.ndtr(-self._ratio(x))
        return result

    def excess(self, x: Floats) -> Floats:
        """Return E(Z - x)^+ for x >= 0."""
        ratio = self._ratio(x)
        density = np.exp(-(ratio**2) / 2) / sqrt(2 * pi)
        result: Floats = self.sigma * density * np.maximum(1 - ratio * _mills(ratio), 0)
        return result

    def _ratio(self, x: Floats) -> Floats:
        """Return x / sigma, but at most 1000: the density beyond is 0 in floats."""
        return np.minimum(x, 1e3 * self.sigma) / self.sigma

    def _scale(self, sensitivity: float) -> Floats:
        with np.errstate(over="ignore"):
            scale = np.asarray(sensitivity * np.float64(self.sigma))
        if not np.all(scale <= check.LARGEST / 64):
            check.refuse_value("sigma", "small enough for finite noise", self.sigma)
        return scale


def read_budget(budget: Budget) -> Noise:
    """Return the law of the noise: Laplace noise for a privacy budget, or the law that is given.

    Parameters
    ----------
    budget : Budget

    Returns
    -------
    Noise

    Raises
    ------
    TypeError, ValueError
        If `budget` is not a budget.

    Examples
    --------
    >>> read_budget("0.5").scale, read_budget(GaussianNoise(3)).scale
    (Fraction(2, 1), 3.0)
    """
    if isinstance(budget, Noise):
        return budget
    read_eps(budget, "budget")
    return LaplaceNoise(budget)


def read_objective(objective: Objective) -> Objective:
    """Return the name of an objective, or raise ValueError."""
    check.one_of("objective", objective, get_args(Objective))
    return objective


def _read_parameter(name: str, value: object) -> float:
    number = check.positive(name, value)
    if not _PARAMETER_RANGE[0] <= number <= _PARAMETER_RANGE[1]:
        check.refuse_value(name, "from {} to {}".format(*_PARAMETER_RANGE), value)
    return number


def _mills(x: Any) -> Any:
    """Return Phi(-x) / phi(x), Mills' ratio."""
    return sqrt(pi / 2) * special.erfcx(x / sqrt(2))


def _gaussian_delta(u: float, eps: float) -> float:
    """Return Phi(u) - e^eps Phi(-v), v = sqrt(u^2 + 2 eps), to about 11 digits.

    For u = 1/(2 sigma) - eps sigma, we have v = 1/(2 sigma) + eps sigma and e^eps phi(v) = phi(u),
    so nothing overflows. If both terms are nearly equal, the result is computed as a difference of
    Mills ratios, and if these are nearly equal too, from the derivatives of the ratio.
    """
    v = hypot(u, sqrt(2) * sqrt(eps))
    density = exp(-u * u / 2) / sqrt(2 * pi)
    middle = (v - u) / 2
    half_width = eps / (v - u) if u < 0 else (u + v) / 2  # the same, without cancelling
    if density and half_width < 1e-3:
        ratio = _mills(middle)
        third_derivative = 2 + middle**2 - (3 * middle + middle**3) * ratio
        return float(
            density * 2 * half_width * (1 - middle * ratio + half_width**2 / 6 * third_derivative)
        )
    if u < 0:
        return float(density * (_mills(-u) - _mills(v)))
    return float(special.ndtr(u) - density * _mills(v))
