"""Budgets: one total divided among several releases, and the arithmetic of composition.

OpenDP adds and converts budgets, and rounds up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log, nextafter, sqrt
from typing import Any, Literal, NoReturn

from userdp import _checks as check
from userdp._search import NotFoundError, double, halve
from userdp.beyond._rounding import downwards, upwards
from userdp.beyond.noise import Budget, GaussianNoise
from userdp.model import Epsilon, read_eps
from userdp.release._noise import LARGEST_SCALE, load_opendp
from userdp.release._quiet import discreet

MAX_RELEASES = 10_000
"""OpenDP takes a second to add this many budgets."""

LIMITS = {"eps": (1e-30, 1000.0), "rho": (1e-30, 1000.0), "delta": (1e-100, 1 - 2**-53)}
"""Limits of totals: OpenDP draws no noise for smaller ones, and larger ones protect nothing."""

MAX_STEPS = 64
"""Largest number of steps of a budget to the next float; a few suffice with the tested OpenDP."""

Method = Literal["basic composition", "zCDP"]


@dataclass(frozen=True, kw_only=True)
class DividedBudget:
    """What each of several releases may spend. All of it is public and dimensionless."""

    n_releases: int
    eps: float
    """The budget of a release with Laplace noise."""
    rho: float | None
    """The budget of a release with Gaussian noise, in zCDP; None by basic composition."""
    method: Method
    """How the budgets add up. By zCDP, some releases may spend `eps` and the others `rho`."""
    sentence: str
    """All of this in words, with digits rounded conservatively."""

    @property
    def budget(self) -> Budget:
        """The `budget` of `private_mean`: Gaussian noise of `rho` if there is one, else `eps`."""
        return self.eps if self.rho is None else GaussianNoise.zcdp(self.rho)


@discreet
def divide_budget(
    n_releases: int,
    *,
    eps: Epsilon | None = None,
    delta: Epsilon | None = None,
    rho: Epsilon | None = None,
) -> DividedBudget:
    """Return the budget of each of several releases that together spend at most a total.

    The releases are about the same users, and about any columns, groups and weeks. All have the
    same neighbouring relation: that of `private_mean` (replacing one user's values, with the counts
    public) or that of `private_mean_protected_counts`. They may depend on earlier results, but
    their number is fixed in advance.

    A total `eps` is divided by basic composition. A total `rho` is divided in zCDP, where Laplace
    noise of eps spends eps^2/2 (Bun and Steinke, 2016). A total of `eps` and `delta` is divided by
    the method that allows the larger eps per release.

    Parameters
    ----------
    n_releases : int
        Number of releases (public), at most 10,000.
    eps : float, Fraction, Decimal or str, optional
        Total privacy budget (dimensionless, public), from 1e-30 to 1000.
    delta : float, Fraction, Decimal or str, optional
        The delta of (eps, delta)-DP (public), from 1e-100 to less than 1.
    rho : float, Fraction, Decimal or str, optional
        Instead of both, a total in zCDP (dimensionless, public), from 1e-30 to 1000.

    Returns
    -------
    DividedBudget
        Its budgets, added up by OpenDP or exactly, never exceed the total.

    Raises
    ------
    ImportError
        If OpenDP is not installed: the extra ``userdp[release]``.
    TypeError, ValueError
        If an argument is invalid, or each release would have less than eps = 2^-40.

    Examples
    --------
    >>> print(divide_budget(52, eps=1).sentence)
    Each of 52 releases may spend eps = 0.0192307; together at most eps = 1 by basic composition.
    >>> each = divide_budget(52, eps=1, delta=1e-6)
    >>> each.method, round(each.eps, 6), round(each.rho, 8)
    ('zCDP', 0.030607, 0.00046838)
    """
    n = check.integer("n_releases", n_releases, least=1, most=MAX_RELEASES)
    arguments = {"eps": eps, "delta": delta, "rho": rho}
    totals = {
        name: read_total(name, total) for name, total in arguments.items() if total is not None
    }
    if {*totals} not in ({"eps"}, {"eps", "delta"}, {"rho"}):
        _refuse_totals([*totals])
    dp = load_opendp()
    basic = share_of(dp, totals["eps"], n) if "eps" in totals else 0.0
    in_zcdp, converted = None, 0.0
    if "delta" in totals:
        totals["rho"] = Fraction(rho_within(dp, totals["eps"], totals["delta"]))
    if "rho" in totals:
        in_zcdp = share_of(dp, totals["rho"], n)
        converted = eps_within(dp, in_zcdp)
    if max(basic, converted) * LARGEST_SCALE < 1:
        least = "eps = 2^-40" if rho is None else "rho = 2^-81"
        rule = f"so small that each release has at least {least}"
        check.refuse_value("n_releases", rule, n_releases)
    if converted > basic:
        words = _in_words(n, converted, in_zcdp, totals)
        return DividedBudget(
            n_releases=n, eps=converted, rho=in_zcdp, method="zCDP", sentence=words
        )
    words = _in_words(n, basic, None, totals)
    return DividedBudget(
        n_releases=n, eps=basic, rho=None, method="basic composition", sentence=words
    )


def _refuse_totals(names: list[str]) -> NoReturn:
    """Raise for totals that do not form one budget, and name the superfluous or missing one."""
    if "rho" in names:
        check.refuse("rho", "be given alone, as a total in zCDP", " and ".join(names))
    rule = "be given, alone or with `delta`, unless `rho` is given"
    check.refuse("eps", rule, " and ".join(names) or "neither")


def _in_words(n: int, eps: float, rho: float | None, totals: dict[str, Fraction]) -> str:
    """Return in words what each release may spend, and what all spend at most."""
    subject = f"Each of {n:,} releases" if n > 1 else "One release"
    limits = {name: f"{name} = {upwards(float(total))}" for name, total in totals.items()}
    if rho is None:
        share = f"eps = {_digits_below(totals['eps'] / n)}"
        together = f"; together at most {limits['eps']}" if n > 1 else ""
        return f"{subject} may spend {share}{together} by basic composition."
    share = f"rho = {_digits_below(totals['rho'] / n)} (Gaussian noise)"
    share += f" or eps = {downwards(eps)} (Laplace noise)"
    total = f"{limits['eps']} with {limits['delta']}" if "delta" in limits else limits["rho"]
    together = "; together at most" if n > 1 else ", which is at most"
    return f"{subject} may spend {share}{together} {total} by zCDP."


def _digits_below(share: Fraction) -> str:
    """Return digits of at most a share: "0.1" for a tenth, although that float is larger."""
    digits = downwards(float(share))
    exact = Fraction(digits) <= share or Fraction(float(digits)) <= share
    return digits if exact else downwards(float_below(share))


def read_total(name: str, number: Epsilon) -> Fraction:
    """Return eps, delta or rho exactly; raise if it is outside its limits."""
    total = read_eps(number, name)
    least, most = LIMITS[name]
    if not least <= float(total) <= most:
        rule = (
            f"from {least:g} to less than 1" if name == "delta" else f"from {least:g} to {most:g}"
        )
        check.refuse_value(name, rule, number)
    return total


# OpenDP's arithmetic: no measurement is called


def compose(dp: Any, currency: str, budgets: list[float]) -> float:
    """Return the sum of budgets by OpenDP's accounting."""
    measures = {"eps": dp.max_divergence, "rho": dp.zero_concentrated_divergence}
    return float(_composition(dp, measures[currency](), budgets).map(1))


def rho_of(dp: Any, eps: float) -> float:
    """Return the rho of a release that is eps-DP."""
    return float(dp.c.make_pureDP_to_zCDP(_composition(dp, dp.max_divergence(), [eps])).map(1))


def profile_of(dp: Any, rho: float) -> Any:
    """Return OpenDP's privacy profile of rho-zCDP, with methods `epsilon` and `delta`."""
    measure = dp.zero_concentrated_divergence()
    return dp.c.make_zCDP_to_approxDP(_composition(dp, measure, [rho])).map(1)


def _composition(dp: Any, measure: Any, budgets: list[float]) -> Any:
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    return dp.c.make_adaptive_composition(*space, measure, d_in=1, d_mids=budgets)


def float_below(number: Fraction) -> float:
    """Return the largest float that is at most a positive number."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else nextafter(nearest, 0)


def share_of(dp: Any, total: Fraction, n: int) -> float:
    """Return a float whose n-fold sum is at most a total, by OpenDP's accounting and exactly.

    OpenDP rounds each of n sums up, by at most a part in 2^52, so the last attempt succeeds.
    """
    for lost in (0, 1, 2, 4):
        each = float_below(total / n * (1 - Fraction(lost * n, 2**54)))
        if Fraction(compose(dp, "eps", [each] * n)) <= total:
            return each
    raise NotFoundError(f"No share of {float(total)!r} for {n} releases was found.")


def eps_within(dp: Any, rho: float) -> float:
    """Return the largest eps that spends at most rho, according to OpenDP."""
    eps = nextafter(sqrt(2 * rho), 2 * sqrt(2 * rho))
    for _ in range(MAX_STEPS):
        if rho_of(dp, eps) <= rho:
            return eps
        eps = nextafter(eps, 0)
    raise NotFoundError(f"No eps that spends rho={rho!r} was found in {MAX_STEPS} steps.")


def rho_within(dp: Any, eps: Fraction, delta: Fraction) -> float:
    """Return the largest rho for which rho-zCDP implies (eps, delta)-DP, according to OpenDP."""
    target_eps, target_delta = float_below(eps), float_below(delta)

    def is_private(rho: Any) -> bool:
        return bool(profile_of(dp, float(rho)).delta(target_eps) <= target_delta)

    # eps = rho + 2 sqrt(rho log(1/delta)) is enough (Bun and Steinke, 2016); solve for rho.
    root = sqrt(-log(target_delta))
    least = (target_eps / (sqrt(target_eps + root**2) + root)) ** 2 / 2
    most = double(is_private, least, "the budget rho")
    return float(halve(is_private, least, most)[0])
