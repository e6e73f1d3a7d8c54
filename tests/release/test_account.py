"""Divided budgets never exceed their total; the budgets of published releases are added up."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import count
from math import inf, nextafter

import numpy as np
import opendp.prelude as dp
import pytest

import userdp as ud
from userdp import release
from userdp.beyond import GaussianNoise
from userdp.release import _budgets
from userdp.release._wording import COUNTS_PUBLIC

dp.enable_features("contrib")

TOTALS = ["0.1", 1, Fraction(1, 3), 7.3, 1000]
NUMBERS = [1, 2, 3, 7, 52, 156, 1000]
TABLE = {"who": [*range(1000), 0], "kmh": [30.0] * 1001}
WEEK = {"lower": 0, "upper": 65, "data": TABLE}
unique = count()


def exact(total):
    return Fraction(str(total)) if isinstance(total, str) else Fraction(total)


def published(**changed):
    """What a release publishes, with some entries changed; no two outputs are equal."""
    result = release.private_mean("who", "kmh", **WEEK, budget=1).public()
    return result | {"mean": next(unique)} | changed


def gaussian(rho, **changed):
    return published(eps=None, rho=rho, sigma=1.0, **changed)


def protected(eps, **changed):
    result = release.private_mean_protected_counts("who", "kmh", **WEEK, eps=1, cap=2).public()
    return result | {"eps": eps, "noisy_sum": float(next(unique))} | changed


def proved_delta(rho, eps):
    """A delta for which rho-zCDP implies (eps, delta)-DP, in 50 digits, minimised over alpha > 1.

    exp((alpha - 1)(alpha rho - eps)) / (alpha - 1) (1 - 1/alpha)^alpha: Canonne, Kamath and
    Steinke (2020), Proposition 7.
    """
    low, high = 1e-9, 1e9  # of x = alpha - 1
    for _ in range(4):
        x = np.geomspace(low, high, 10_000)
        slope = x * ((x + 1) * float(rho) - float(eps)) - np.log(x) + (x + 1) * np.log(x / (x + 1))
        best = np.argmin(slope)
        low, high = x[max(best - 1, 0)], x[min(best + 1, x.size - 1)]
    with localcontext(prec=50):
        rho, eps = (Decimal(n.numerator) / n.denominator for n in map(Fraction, (rho, eps)))
        a = Decimal(float(x[best])) + 1
        log = (a - 1) * (a * rho - eps) - (a - 1).ln() + a * (1 - 1 / a).ln()
        return log.exp()


# A total is divided


@pytest.mark.parametrize("n", NUMBERS)
@pytest.mark.parametrize("total", TOTALS)
def test_budgets_by_basic_composition_never_exceed_the_total(total, n):
    share = release.divide_budget(n, eps=total)
    assert (share.method, share.rho, share.budget) == ("basic composition", None, share.eps)
    assert Fraction(share.eps) * n <= exact(total) < Fraction(share.eps) * n * Fraction(1 + 1e-11)
    noise = release.discrete_laplace(1000, Fraction(share.eps))
    assert Fraction(dp.c.make_composition([noise] * n).map(1000)) <= exact(total)


@pytest.mark.parametrize("n", NUMBERS)
@pytest.mark.parametrize("total", TOTALS)
def test_budgets_in_zcdp_never_exceed_the_total_for_any_mix_of_noise(total, n):
    share = release.divide_budget(n, rho=total)
    assert share.method == "zCDP"
    assert share.budget.privacy_cost <= Fraction(share.rho)
    for spent in (Fraction(share.rho), Fraction(share.eps) ** 2 / 2):
        assert spent * n <= exact(total) < spent * n * Fraction(1 + 1e-11)
    laplace = dp.c.make_pureDP_to_zCDP(release.discrete_laplace(1000, Fraction(share.eps)))
    normal = release.discrete_gaussian(1000, share.budget)
    for n_laplace in {0, n // 2, n}:
        mix = dp.c.make_composition([laplace] * n_laplace + [normal] * (n - n_laplace))
        assert Fraction(mix.map(1000)) <= exact(total)


@pytest.mark.parametrize("delta", ["1e-12", 1e-6, 0.01])
@pytest.mark.parametrize(("eps", "n"), [(0.1, 300), (1, 60), (Fraction(1, 3), 156), (8, 400)])
def test_budgets_for_eps_and_delta_never_exceed_the_total(eps, delta, n):
    share = release.divide_budget(n, eps=eps, delta=delta)
    assert share.method == "zCDP"
    total_rho = Fraction(share.rho) * n
    assert proved_delta(total_rho, exact(eps)) <= Decimal(float(delta))
    normal = release.discrete_gaussian(1000, share.budget)
    composition = dp.c.make_zCDP_to_approxDP(dp.c.make_composition([normal] * n)).map(1000)
    assert composition.delta(float(eps)) <= float(delta)
    # A relative increase by 1e-3 is too much.
    assert proved_delta(total_rho * Fraction(1001, 1000), exact(eps)) > Decimal(float(delta))


def test_eps_and_delta_are_divided_by_the_method_that_allows_more():
    for n in (1, 2, 5, 10, 20, 40, 80, 320):
        basic = release.divide_budget(n, eps=1)
        both = release.divide_budget(n, eps=1, delta=1e-6)
        total = _budgets.rho_within(dp, Fraction(1), Fraction(1e-6))
        in_zcdp = release.divide_budget(n, rho=total)
        larger = max(basic, in_zcdp, key=lambda each: each.eps)
        assert (both.eps, both.rho, both.method) == (larger.eps, larger.rho, larger.method)
    assert basic.eps < in_zcdp.eps
    assert release.divide_budget(1, eps=1, delta=1e-6).method == "basic composition"


def test_a_total_that_divides_evenly_is_divided_evenly():
    assert release.divide_budget(4, eps=1).eps == 0.25
    assert release.divide_budget(1, rho="0.5").rho == 0.5
    assert release.divide_budget(1, rho=0.5).eps == 1


def test_float_below_returns_the_largest_float_below_a_number():
    """The float 0.1 is above 1/10, and 0.3 is below 3/10."""
    assert [_budgets.float_below(Fraction(n, 10)) for n in (1, 3, 5)] == [
        nextafter(0.1, 0),
        0.3,
        0.5,
    ]
    assert Fraction(0.3) < Fraction(3, 10)


def test_stated_shares_are_rounded_to_the_safe_side():
    assert release.divide_budget(3, eps=1).sentence == (
        "Each of 3 releases may spend eps = 0.333333; together at most eps = 1 by basic "
        "composition."
    )
    assert release.divide_budget(1, rho=Fraction(2, 3)).sentence == (
        "One release may spend rho = 0.666666 (Gaussian noise) or eps = 1.1547 (Laplace noise), "
        "which is at most rho = 0.666667 by zCDP."
    )
    assert " eps = 0.1; " in release.divide_budget(10, eps=1).sentence
    assert " rho = 0.1 " in release.divide_budget(10, rho=1).sentence
    assert (
        " eps = 0.0999999 by "
        in release.divide_budget(1, eps=Fraction(1, 10) - Fraction(1, 10**18)).sentence
    )
    both = release.divide_budget(156, eps=1, delta=1e-6).sentence
    assert both.endswith("together at most eps = 1 with delta = 1e-06 by zCDP.")


TOTALS_REFUSED = {
    "nothing": ({}, "`eps` must be given, .* unless `rho` is given, got neither"),
    "both": ({"eps": 1, "rho": 1}, "`rho` must be given alone.* eps and rho"),
    "delta alone": ({"delta": 1e-6}, "got delta"),
    "rho with delta": ({"rho": 1, "delta": 1e-6}, "`rho` must be given alone.* delta and rho"),
    "a small share of rho": ({"rho": 2.0**-80}, "`n_releases` .* at least rho = 2\\^-81, got"),
    "eps too small": ({"eps": "9.9e-31"}, "`eps` must be from 1e-30 to 1000"),
    "eps 0": ({"eps": 0}, "`eps` must be positive"),
    "eps too large": ({"eps": 1001}, "`eps` must be from 1e-30 to 1000, got eps=1001"),
    "rho too small": ({"rho": "1e-31"}, "`rho` must be from 1e-30 to 1000, got rho='1e-31'"),
    "delta 1": ({"eps": 1, "delta": 1}, "`delta` must be from 1e-100 to less than 1, got delta=1"),
    "delta tiny": ({"eps": 1, "delta": 1e-101}, "`delta` must be from 1e-100"),
    "no release": ({"eps": 1, "n_releases": 0}, "`n_releases` must be at least 1"),
    "too many": ({"eps": 1, "n_releases": 10_001}, "`n_releases` must be at most 10000"),
    "too small a share": ({"eps": 2.0**-38, "n_releases": 5}, "`n_releases` .* eps = 2\\^-40"),
}


@pytest.mark.parametrize(("given", "words"), TOTALS_REFUSED.values(), ids=TOTALS_REFUSED)
def test_bad_totals_are_refused_with_the_name_of_the_argument(given, words):
    with pytest.raises(ValueError, match=words):
        release.divide_budget(**{"n_releases": 3} | given)


def test_a_release_accepts_the_smallest_share():
    share = release.divide_budget(4, eps=2.0**-38)
    assert share.eps == 2.0**-40
    smallest = release.divide_budget(1, rho=2.0**-81)
    for budget in (share.budget, smallest.budget):
        release.private_mean("who", "kmh", **WEEK, budget=budget)


# Budgets of published releases are added up


@pytest.mark.parametrize("total", [{"eps": 1}, {"rho": 0.1}, {"eps": 2, "delta": 1e-6}], ids=str)
def test_releases_of_divided_budgets_spend_at_most_the_total(total, tmp_path):
    n = 30
    share = release.divide_budget(n, **total)
    results = [release.private_mean("who", "kmh", **WEEK, budget=share.budget) for _ in range(n)]
    for week, one in enumerate(results):
        (tmp_path / f"{week}.json").write_text(one.public_json())
    files = sorted(tmp_path.iterdir())
    account = release.account(files, delta=total.get("delta"), allow_duplicates=True)
    assert account.n_releases == n
    for name, most in total.items():
        assert 0.999 * most < getattr(account, name) <= most
    texts = [f"\n{one.public_json()}" for one in results]
    for documents in (texts, [one.public() for one in results], map(str, files)):
        other = release.account(documents, delta=total.get("delta"), allow_duplicates=True)
        assert other == account


def test_an_account_adds_exactly_and_rounds_up():
    spent = [0.1, 0.2, 0.7, 0, 1e-9] * 20
    account = release.account([published(eps=eps) for eps in spent])
    for number, exactly in (
        (account.eps, sum(map(Fraction, spent))),
        (account.rho, sum(Fraction(eps) ** 2 / 2 for eps in spent)),
    ):
        assert exactly <= Fraction(number) < exactly * Fraction(1 + 1e-12)
    assert (account.delta, account.basic_eps, account.zcdp_eps) == (0, account.eps, None)
    assert account.method == "basic composition"


@pytest.mark.parametrize(("n", "method"), [(3, "basic composition"), (200, "zCDP")])
def test_the_method_is_that_with_the_smaller_eps(n, method):
    account = release.account([published(eps=0.1) for _ in range(n)], delta=1e-6)
    assert account.method == method
    assert account.eps == min(account.basic_eps, account.zcdp_eps)
    assert account.delta == (1e-6 if method == "zCDP" else 0)
    assert proved_delta(account.rho, account.zcdp_eps * 1.000001) <= Decimal("1e-6")
    assert proved_delta(account.rho, account.zcdp_eps * 0.999) > Decimal("1e-6")


def test_gaussian_noise_has_an_eps_only_with_a_delta():
    rhos = [0.01, 0.02, 0.02]
    documents = [gaussian(rho) for rho in rhos] + [published(eps=0.5)]
    without = release.account(documents)
    assert (without.eps, without.delta, without.method) == (None, None, "zCDP")
    assert without.sentence.startswith(
        "These 4 releases together spend at most rho = 0.175001 by zCDP:"
    )
    account = release.account(documents, delta=1e-6)
    assert account.rho == without.rho
    assert 0.175 <= account.rho < 0.175 * (1 + 1e-12)
    # Basic composition: each of the three with a third of delta.
    gaussian_eps = account.basic_eps - 0.5
    parts = [release.account([gaussian(rho)], delta=1e-6 / 3).eps for rho in rhos]
    assert gaussian_eps == pytest.approx(sum(parts), rel=1e-9)
    assert account.eps == account.zcdp_eps < account.basic_eps


def test_vectors_and_means_have_the_same_neighbouring_relation():
    law = GaussianNoise.zcdp(0.5)
    vectors = release.release_mean_in_ball(np.ones((60, 2)), ud.Contributions([1] * 60, 65), law)
    account = release.account([vectors.public_json(), gaussian(0.25)])
    assert 0.75 * (1 - 1e-9) < account.rho <= 0.75
    assert account.privacy_unit == COUNTS_PUBLIC


def test_a_constant_release_spends_nothing():
    constant = release.private_mean("who", "kmh", **WEEK, budget=1, total_width=0)
    assert release.account([constant.public_json()], delta=0.1).eps == 0


def test_a_very_large_sum_of_rho_has_no_finite_eps_by_zcdp():
    account = release.account([gaussian(900), gaussian(901)], delta=1e-6)
    assert account.zcdp_eps == inf
    assert account.eps == account.basic_eps < 3000
    assert account.sentence.endswith(f"or rho = 1801 by zCDP: {COUNTS_PUBLIC}.")


def test_an_account_is_stated_in_a_sentence():
    single = release.account([published(eps=1)])
    assert single.sentence == (
        "This release spends at most eps = 1 by basic composition, or rho = 0.5 by zCDP: "
        "user-level, for replacing one user's values, with the counts public. Had one user's "
        "protected data been entirely different, no outcome would have been more than 2.72 times "
        "as likely."
    )
    two = release.account([published(eps=1), published(eps=0.5)]).sentence
    assert two.endswith(
        " no outcome of all 2 together would have been more than 4.49 times as likely."
    )
    many = release.account([protected(0.1) for _ in range(200)], delta=1e-6)
    assert many.sentence == (
        "These 200 releases together spend at most eps = 7.76622 with delta = 1e-06 by zCDP "
        "(rho = 1.00001), or eps = 20.0001 by basic composition: user-level, for replacing one "
        "user's records by any others, in any number, and for adding or removing a user."
    )


# Refused accounts


def test_budgets_with_protected_and_public_counts_add_up_only_for_the_values():
    documents = [published(eps=0.25), protected(0.5)]
    with pytest.raises(ValueError, match=r"one neighbouring relation: .* counts_public=True"):
        release.account(documents)
    account = release.account(documents, counts_public=True)
    assert (account.eps, account.privacy_unit) == (0.75, COUNTS_PUBLIC)
    assert release.account(documents[1:], counts_public=True).privacy_unit == COUNTS_PUBLIC
    assert "adding or removing a user" in release.account(documents[1:]).privacy_unit


def test_equal_documents_are_refused_unless_they_are_separate_releases():
    first, other = published(eps=0.25), published(eps=0.25)
    copy = json.dumps(dict(reversed(first.items())))
    with pytest.raises(ValueError, match=r"budget once .* got documents\[0\] and documents\[2\]"):
        release.account([first, other, copy])
    assert release.account([first, other, copy], allow_duplicates=True).eps == 0.75
    assert release.account([first, other]).eps == 0.5


@pytest.mark.filterwarnings("ignore:`eps` is not stated")
def test_a_release_without_a_budget_is_refused():
    dropped = release.private_mean("who", "kmh", **WEEK, budget=1, missing="drop")
    with pytest.raises(ValueError, match=r"documents\[1\], which states no budget"):
        release.account([published(), dropped.public_json()])


DOCUMENTS_REFUSED = {
    "an unknown kind": ({"kind": "private median"}, "of an unknown kind"),
    "another entry": ({"epsilon": 1}, "whose entries are not those of its kind"),
    "two budgets": ({"rho": 0.5}, "whose budget is not one number"),
    "a negative budget": ({"eps": -0.5}, "whose budget is not one number"),
    "a budget in words": ({"eps": "0.5"}, "whose budget is not one number"),
    "a truth": ({"eps": True}, "whose budget is not one number"),
    "no number": ({"eps": float("nan")}, "whose budget is not one number"),
    "a budget beyond use": ({"eps": 1001}, "whose budget is not one number from 0 to 1000"),
    "another relation": (
        {"privacy_unit": "record-level, for replacing one record"},
        "whose neighbouring relation .* is unknown",
    ),
    "another kind's relation": (
        {"privacy_unit": protected(1)["privacy_unit"]},
        "whose neighbouring",
    ),
}


@pytest.mark.parametrize(("changed", "words"), DOCUMENTS_REFUSED.values(), ids=DOCUMENTS_REFUSED)
def test_a_refused_document_is_named_by_its_index(changed, words):
    with pytest.raises(ValueError, match=rf"`documents` must .* got documents\[1\], {words}"):
        release.account([published(), published() | changed])


def test_a_document_without_an_entry_is_refused():
    incomplete = published()
    del incomplete["upper"]
    with pytest.raises(ValueError, match="whose entries are not those of its kind"):
        release.account([incomplete])


NOT_DOCUMENTS = {
    "one text": (lambda: json.dumps(published()), TypeError, "a list of outputs"),
    "one dict": (published, TypeError, "a list of outputs"),
    "a number": (lambda: 3, TypeError, "a list of outputs"),
    "numbers": (lambda: [3], TypeError, r"strings, paths or dicts, got documents\[0\] of type int"),
    "none": (lambda: [], ValueError, "1 to 10,000 documents, got none"),
    "too many": (lambda: [published()] * 10_001, ValueError, "1 to 10,000 documents, got more"),
    "no JSON": (lambda: ["{secret"], ValueError, "not a JSON object"),
    "a list in JSON": (lambda: [{"a": {1}}], ValueError, "not a JSON object"),
    "no file": (lambda: ["missing.json"], FileNotFoundError, r"machine, got documents\[0\]"),
    "a folder": (lambda: ["."], ValueError, "not a JSON object"),
}


@pytest.mark.parametrize(("given", "kind", "words"), NOT_DOCUMENTS.values(), ids=NOT_DOCUMENTS)
def test_other_values_than_a_list_of_documents_are_refused(given, kind, words):
    with pytest.raises(kind, match=words):
        release.account(given())


def test_bad_settings_are_refused_with_the_name_of_the_argument():
    for name in ("counts_public", "allow_duplicates"):
        with pytest.raises(TypeError, match=f"`{name}` must be True or False"):
            release.account([published()], **{name: 1})
    with pytest.raises(ValueError, match="`delta` must be from 1e-100 to less than 1"):
        release.account([published()], delta=2)
