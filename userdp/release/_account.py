"""Accounts: what published releases spend together, computed from their public JSON.

The package keeps no state: the publisher keeps the documents, and passes all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

from userdp import _checks as check
from userdp.beyond._rounding import upwards
from userdp.model import Epsilon
from userdp.release._budgets import (
    LIMITS,
    Method,
    compose,
    float_below,
    profile_of,
    read_total,
    rho_of,
    share_of,
)
from userdp.release._documents import Document, common_privacy_unit, read_documents, refuse_equal
from userdp.release._noise import load_opendp
from userdp.release._quiet import discreet
from userdp.release._wording import likelihood_ratio


@dataclass(frozen=True, kw_only=True)
class Account:
    """What several releases about the same users spend together. All of it is public."""

    n_releases: int
    eps: float | None
    """The smaller of `basic_eps` and `zcdp_eps`; None if neither is known."""
    delta: float | None
    """The delta of (eps, delta)-DP; 0 for pure eps-DP, None if `eps` is None."""
    rho: float
    """The guarantee in zCDP: the sum of rho (Gaussian noise) and eps^2/2 (Laplace noise)."""
    method: Method
    """The method with the smaller `eps`; zCDP if there is no `eps`."""
    basic_eps: float | None
    """The sum of eps, where releases with Gaussian noise have equal shares of the requested delta.

    None if there are such releases, and no delta was requested."""
    zcdp_eps: float | None
    """The eps of `rho` at the requested delta, None without it; infinite if rho exceeds 1000."""
    privacy_unit: str
    """The neighbouring relation, and what is public."""
    sentence: str
    """All of this in words, with digits rounded up."""


@discreet
def account(
    documents: Iterable[Document],
    *,
    delta: Epsilon | None = None,
    counts_public: bool = False,
    allow_duplicates: bool = False,
) -> Account:
    """Return what several releases about the same users spend together, from their public JSON.

    Two guarantees are computed, and `method` names the one with the smaller eps. By basic
    composition, eps and delta add up. In zCDP, rho adds up, where Laplace noise of eps spends
    eps^2/2, and the sum is converted (Bun and Steinke, 2016). OpenDP computes both. They are
    user-level, for the neighbouring relation of the documents. The documents do not identify the
    users: make sure that all releases are about the same ones.

    Parameters
    ----------
    documents : list of str, path or dict
        Outputs of `public_json` or `public` (public), at most 10,000: JSON text, which begins with
        a brace, paths of files, or dicts.
    delta : float, Fraction, Decimal or str, optional
        The delta of (eps, delta)-DP (public), from 1e-100 to less than 1. Without it, the
        guarantee in zCDP is `rho` only.
    counts_public : bool, optional
        Whether releases with public and with protected counts may be combined. The account then
        states only what all of them protect: the values, with the counts public. By default a
        mixture is refused.
    allow_duplicates : bool, optional
        Whether equal documents are counted as separate releases. (Two releases can be equal, for
        instance if both end up at `lower`.) By default duplicates are refused, because publishing
        one document twice spends its budget once.

    Returns
    -------
    Account

    Raises
    ------
    FileNotFoundError, ImportError
        If a file does not exist; if OpenDP is not installed: the extra ``userdp[release]``.
    TypeError, ValueError
        If an argument is invalid; if a document does not follow `json_schema`, states no budget or
        one above 1000; if counts are public in some and protected in others; if two are equal.

    Examples
    --------
    >>> from userdp.release import private_mean
    >>> how = {"lower": 0, "upper": 6, "budget": 2}
    >>> weeks = [private_mean([1, 1, 2], [3.0, 4.0, last], **how) for last in (1.0, 5.0)]
    >>> both = account([week.public_json() for week in weeks], allow_duplicates=True)
    >>> both.eps, both.rho, both.method
    (4.0, 4.0, 'basic composition')
    """
    requested_delta = None if delta is None else float_below(read_total("delta", delta))
    check.boolean("counts_public", counts_public)
    check.boolean("allow_duplicates", allow_duplicates)
    published = read_documents(documents)
    if not allow_duplicates:
        refuse_equal(published)
    privacy_unit = common_privacy_unit(published, counts_public)
    dp = load_opendp()
    pure = [document["eps"] for document in published if document["rho"] is None]
    gaussian = [document["rho"] for document in published if document["eps"] is None]
    rho = compose(dp, "rho", [*gaussian, *(rho_of(dp, eps) for eps in pure)])
    basic = _basic(dp, pure, gaussian, requested_delta)
    zcdp_eps = None if requested_delta is None else eps_of(dp, rho, requested_delta)
    zcdp = Guarantee(zcdp_eps, requested_delta, "zCDP")
    best, other = basic, zcdp
    if basic.eps is None or (zcdp.eps is not None and zcdp.eps < basic.eps):
        best, other = zcdp, basic
    words = (
        f"{_phrase(best, rho)}, or {_phrase(other, rho)}"
        if _phrase(other, rho)
        else _phrase(best, rho)
    )
    subject = f"These {len(published):,} releases together spend"
    subject = "This release spends" if len(published) == 1 else subject
    return Account(
        n_releases=len(published),
        **best._asdict(),
        rho=rho,
        basic_eps=basic.eps,
        zcdp_eps=zcdp.eps,
        privacy_unit=privacy_unit,
        sentence=f"{subject} at most {words}: {privacy_unit}.{_in_words(best, len(published))}",
    )


class Guarantee(NamedTuple):
    """(eps, delta)-DP by a method; `eps` is None if it would need a delta."""

    eps: float | None
    delta: float | None
    method: Method


def _basic(dp: Any, pure: list[float], gaussian: list[float], delta: float | None) -> Guarantee:
    """Add eps and delta; each release with Gaussian noise gets an equal share of delta."""
    if not gaussian:
        return Guarantee(compose(dp, "eps", pure), 0.0, "basic composition")
    if delta is None:
        return Guarantee(None, None, "basic composition")
    delta_each = share_of(dp, Fraction(delta), len(gaussian))
    eps_of_rho = {rho: eps_of(dp, rho, delta_each) for rho in {*gaussian}}
    total = compose(dp, "eps", [*pure, *(eps_of_rho[rho] for rho in gaussian)])
    return Guarantee(total, delta, "basic composition")


def eps_of(dp: Any, rho: float, delta: float) -> float:
    """Return the eps for which rho-zCDP implies (eps, delta)-DP; infinite if rho is too large."""
    return inf if rho > LIMITS["rho"][1] else float(profile_of(dp, rho).epsilon(delta))


def _in_words(guarantee: Guarantee, n_releases: int) -> str:
    """Return what pure differential privacy means for all outcomes together, as a sentence."""
    if not guarantee.eps or guarantee.delta:
        return ""
    outcome = "outcome" if n_releases == 1 else f"outcome of all {n_releases:,} together"
    return (
        f" Had one user's protected data been entirely different, no {outcome} would have been "
        f"more than {likelihood_ratio(guarantee.eps)} times as likely."
    )


def _phrase(guarantee: Guarantee, rho: float) -> str:
    """Return a guarantee in words; without an eps, the rho of zCDP, or an empty text."""
    in_zcdp = f"rho = {upwards(rho)}"
    if guarantee.eps is None or guarantee.eps == inf:
        return f"{in_zcdp} by zCDP" if guarantee.method == "zCDP" else ""
    delta = f" with delta = {upwards(guarantee.delta)}" if guarantee.delta else ""
    by = f"zCDP ({in_zcdp})" if guarantee.method == "zCDP" else guarantee.method
    return f"eps = {upwards(guarantee.eps)}{delta} by {by}"
