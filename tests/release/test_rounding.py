"""Stated budgets, factors and errors are never better than the true ones, to the last digit.

They are compared with exact values: fractions, and partial sums of the exponential series, which
are lower bounds. A text is read as Python reads a float; the shortest text of a float is exact.
"""

import dataclasses
import json
import re
from fractions import Fraction

import numpy as np
import pytest

import userdp as ud
from userdp import beyond, release
from userdp.beyond._rounding import downwards, factor_of, upwards
from userdp.release import _noise, _wording, release_mean_in_ball
from userdp.release._wording import Words, at_most, readable

N = 2000
RNG = np.random.default_rng(20260725)
BUDGETS = [
    *(2.0 ** RNG.uniform(-40, 10, N)),
    *(0.1, 0.8, 0.004, 1.0, 3.0, 10.0, 1024.0, 2.0**-40, 0.3, 0.99999999, 1 - 2**-53),
]


@pytest.fixture(scope="module")
def results():
    """One result of every kind, whose budget the tests replace."""
    table = {
        "user": np.repeat(np.arange(30), 3),
        "value": np.full(90, 26.0),
        "lower": 0,
        "upper": 65,
    }
    users = ud.Contributions([3] * 30, 65)
    law = beyond.GaussianNoise.zcdp(0.5)
    return {
        "private mean": release.private_mean(**table, budget=1),
        "in parts": release.release_mean(
            [500.0] + [5.0] * 40, ud.Contributions([100] + [1] * 40, 10), 3, objective="l1"
        ),
        "several": release.private_means("user", {"value": (0, 65)}, data=table, budget=1),
        "protected counts": release.private_mean_protected_counts(**table, eps=1, cap=3),
        "Gaussian": release.private_mean(**table, budget=law),
        "in a ball": release_mean_in_ball(np.ones((30, 2)), users, law),
    }


WORDS = Words("", "users", "records")
KINDS = ["private mean", "several", "in parts", "protected counts", "Gaussian", "in a ball"]
PROTECTED = {"protected counts": "the values and the number of the records"}


def below_exp(x):
    """A fraction below e^x, within a relative 2^-100: a partial sum of the exponential series.

    The terms are positive, and each is rounded down to a multiple of 2^-400.
    """
    numerator, denominator = Fraction(x).as_integer_ratio()
    term = total = 1 << 400
    for n in range(1, 400):
        term = term * numerator // (denominator * n)
        total += term
        if not term:
            break
    return Fraction(total, 1 << 400)


def number_in(pattern, text):
    (number,) = re.findall(pattern, text)
    return number


def check_budget(text, budget):
    """Check that a text is at least the budget, and exceeds it by less than a relative 1e-5."""
    assert float(text) >= budget
    assert Fraction(text) < Fraction(budget) * (1 + Fraction(1, 10**5))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_stated_factor_and_budget_is_at_least_the_true_one(kind, results):
    result = results[kind]
    currency = "eps" if result.rho is None else "rho"
    for i, budget in enumerate(map(float, BUDGETS)):
        changed = dataclasses.replace(result, **{currency: budget})
        # The parts of the sentence and of the table on privacy; for some budgets, all of the text.
        protected = PROTECTED.get(kind, "the values of the records")
        sentence = _wording.privacy(changed, WORDS, protected)
        tables = [_wording.stated_budget(changed)]
        if i % 40 == 0:
            assert sentence in changed.public_sentence()
            tables += [repr(changed), re.sub("<[^>]*>", " ", changed._repr_html_())]
            assert json.loads(changed.public_json())[currency] == budget
        for shown in (sentence, *tables):
            check_budget(number_in(rf"{currency} = ([\d.e+-]*\d)", shown), budget)
        if currency == "eps":
            check_factor(number_in(r"more than (\S+) times as likely", sentence), budget)


def check_factor(text, budget):
    if budget > 10:
        assert text.startswith("e^")
        check_budget(text[2:], budget)
        return
    stated, true = Fraction(text.replace(",", "")), below_exp(budget)
    assert stated > true
    assert stated - true < min(Fraction(101, 10000) * true, Fraction(11, 100) * (true - 1) + 1e-2)
    if budget < 1e-3:
        assert stated - 1 < Fraction(111, 100) * (true - 1)


def test_opendp_accounts_for_at_least_what_its_noise_spends(monkeypatch):
    """In exact fractions: the sensitivity over the scale, and half the square of that."""
    scales = []

    def watched(make):
        def watching(*space, scale):
            scales.append(scale)
            return make(*space, scale=scale)

        return watching

    measurements = _noise.load_opendp().m
    for name in ("make_laplace", "make_gaussian"):
        monkeypatch.setattr(measurements, name, watched(getattr(measurements, name)))
    rng = np.random.default_rng(6)
    for budget in 2.0 ** rng.uniform(-40, 10, 200):
        moved = int(2.0 ** rng.uniform(0, 15))
        noise = _noise.discrete_laplace(moved, Fraction(budget))
        assert moved / Fraction(scales[-1]) <= Fraction(noise.map(moved)) <= Fraction(budget)
        law = beyond.GaussianNoise.zcdp(budget)
        noise = _noise.discrete_gaussian(moved, law)
        assert (moved / Fraction(scales[-1])) ** 2 / 2 <= Fraction(noise.map(moved))
        assert Fraction(noise.map(moved)) <= law.privacy_cost <= Fraction(budget)


def test_every_delta_is_at_least_the_true_one(results):
    """For Laplace noise it is 1 - e^(eps - budget), computed with the series for e^gap."""
    result = results["private mean"]
    rng = np.random.default_rng(7)
    for budget in map(float, BUDGETS):
        eps = budget * rng.choice([1, 1 - 2.0**-52, rng.random(), 1 - 1e-9])
        gap = Fraction(budget) - Fraction(eps)
        changed = dataclasses.replace(result, eps=budget)
        law = beyond.LaplaceNoise(budget)
        for delta in (changed.delta(eps), law.delta(eps)):
            assert 0 <= delta <= 1
            if gap > 60:  # the series would be long, and e^-60 is negligible
                assert delta == 1
            else:
                least = 1 - 1 / below_exp(gap)
                assert Fraction(delta) >= least
                assert Fraction(delta) <= least * (1 + Fraction(1, 2**40)) + Fraction(1, 2**1000)
    assert changed.delta(Fraction(budget)) == 0


SIZES = np.concatenate([10.0 ** RNG.uniform(-12, 12, 500), [0.1, 1.6, 999.9999999, 1000.0, 0.25]])


def test_errors_are_rounded_up_and_ends_of_intervals_outwards():
    for error in map(float, SIZES):
        for text, digits in ((at_most(error), 2), (upwards(error, 4), 4), (upwards(error), 6)):
            stated = float(text.replace(",", ""))
            assert error <= stated <= error * (1 + 10.0 ** (1 - digits)) * (1 + 1e-15)
        assert float(downwards(error, 4)) <= error
        assert float(downwards(-error, 4)) <= -error <= float(upwards(-error, 4))


def test_a_plan_rounds_budgets_and_guarantees_upwards_and_its_floor_downwards():
    counts = [40] * 5 + [10] * 50 + [2] * 500
    prospects = release.plan(counts, lower=0, upper=65, eps=[0.0123456, 0.3, 1.00001])
    ((_, shown),) = prospects._tables()
    wide = release.plan(counts, lower=0, upper=65e6, eps=[0.0123456, 0.3, 1.00001])
    for result, lines in ((prospects, shown), (wide, wide._tables()[0][1])):
        for row, (eps, _, _, bound, l1, floor) in zip(result.rows, lines, strict=True):
            numbers = [float(text.replace(",", "")) for text in (eps, bound, l1, floor)]
            assert numbers[0] >= row.eps
            assert numbers[1] >= row.bound
            assert numbers[2] >= row.l1
            assert numbers[3] <= row.floor
    assert readable(0) == "0"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "several"])
def test_a_result_rounds_its_error_up_and_its_interval_outwards(kind, results):
    result = results[kind]
    words = repr(result)
    stated = float(
        number_in(r"worst dataset +(?:at most )?([\d.e+-]+) on average", words.replace("\n", " "))
    )
    assert stated >= result.worst_case_error
    if "95 % interval" in words:
        low, high = number_in(r"95 % interval +(\S+) to (\S+)", words)
        assert float(low) <= result.interval()[0] <= result.interval()[1] <= float(high)


def test_several_means_round_their_errors_up_and_their_intervals_outwards(results):
    result = results["several"]
    (mean,), ((low, high),) = result.means, result.interval()
    texts = [re.split(" {2,}", repr(result).splitlines()[1])[2:4]]
    pattern = r"mean error at most (\S+); 95 % interval: (\S+) to (\S+)\)"
    stated, *ends = number_in(pattern, result.public_sentence())
    texts.append([" to ".join(ends), stated])
    for interval, error in texts:
        lowest, highest = map(float, interval.split(" to "))
        assert lowest <= low <= high <= highest
        assert float(error) >= mean.worst_case_error


def test_factors_of_small_budgets_are_not_one():
    assert factor_of(0.004) == "1.0041"
    assert factor_of(2.0**-40) == "1.00000000000091"
    assert (factor_of(0.5), factor_of(1), factor_of(10)) == ("1.65", "2.72", "22,100")
