"""The mean with protected counts: its budget and its certificate."""

import dataclasses
import itertools
from fractions import Fraction
from math import exp, log, ulp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import userdp as ud
from userdp.practice import _protected as protected

MADE = protected.ProtectedCountsMean(
    **{"mean": 5.0, "eps": 1.0, "promise": "", "lower": 1.0, "upper": 10.0, "centre": 4.0},
    **{"reach": 3.0, "cap": 2, "noisy_sum": 12.0, "noisy_weight": 20, "sum_scale": 6.0},
    **{"weight_scale": 2.0, "step": 0.5, "rounding": 0.25, "outside": "clamp", "missing": "drop"},
)
WEIGHTS, LEVELS = [-30, -2, 3, 8, 20, 400], [0.3, 0.8, 0.99]


@pytest.mark.parametrize(("weight", "level"), [*itertools.product(WEIGHTS, LEVELS)])
def test_intervals_of_the_weight_and_of_a_quotient_over_all_corners(weight, level):
    """Of whole Laplace noise, |Z| exceeds scale * log(1/q) + 1 with a chance of less than q."""
    made = dataclasses.replace(MADE, noisy_weight=weight)
    reach = 2 * log(1 / (1 - level)) + 1
    ends = [max(weight - reach, 0), max(weight + reach, 0)]
    assert made.weight_interval(level) == pytest.approx(ends)
    chance = (1 + level) / 2
    reach = 6 * log(1 / (1 - chance)) + 0.5
    for total in (-900, -25, -7.3, 0, 3.5, 7.3, 15.5, 31, 50, 900):
        made = dataclasses.replace(made, noisy_sum=total)
        sums, weights = (total - reach, total + reach), made.weight_interval(chance)
        corners = [s / max(n, 1) for s, n in itertools.product(sums, weights)]
        low, high = (4 + max(-3, min(end, 3)) for end in (min(corners), max(corners)))
        expected = max(low - 0.25, 1), min(high + 0.25, 10)
        assert made.noise_interval(level) == pytest.approx(expected)
        bias = 6 - 3  # the upper bound is 6 from the centre
        wide = max(expected[0] - bias, 1), min(expected[1] + bias, 10)
        assert made.interval(level) == pytest.approx(wide)


def test_grid_of_protected_counts(opendp):
    def made(eps, cap, **options):
        options = {"lower": 1e6, "upper": 1e6 + 24, "eps": eps, "cap": cap} | options
        return ud.private_mean_protected_counts(["a", "b"], [1e6, 1e6 + 20], **options)

    for eps, cap, bits in ((1, 2, 24), (1, 2**30, 23), (1, 2**31, 22), (0.25, 2**31, 20)):
        assert made(eps, cap).step == 24 / 2**bits
    fine = made(1, 2)
    level = average = 0.5 + 2**-10  # each is rounded, and computed in 53 bits
    assert fine.rounding == (level + average) * fine.step + 2 * ulp(1e6 + 24)
    assert made(1, 2, reach=1e-12).reach == fine.step


SAMPLES = st.lists(st.integers(0, 24), max_size=9)


def made_of(lists, eps=1, cap=3, **options):
    """The release for lists of samples of users 0, 1, 2, ..., in [0, 24]."""
    users = [i for i, own in enumerate(lists) for _ in own]
    values = [float(x) for own in lists for x in own]
    options = {"lower": 0, "upper": 24, "eps": eps, "cap": cap} | options
    return ud.private_mean_protected_counts(users, values, **options)


@given(one=SAMPLES, other=SAMPLES, cap=st.integers(1, 6), reach=st.integers(1, 30))
def test_neighbours_spend_at_most_the_budget(one, other, cap, reach):
    """The largest log ratio of the densities of the pair: distances over scales, added up."""
    grid, steps = protected._public(0.0, 24.0, Fraction(1), cap, 9.0, float(reach))
    rest, pairs = [[3, 20], [7] * 5], []
    for own in (one, other, []):
        lists = [own, *rest]
        users = [i for i, each in enumerate(lists) for _ in each]
        values = [float(x) for each in lists for x in each]
        records = protected.read_records(users, values)
        rules = protected.read_rules(0.0, 24.0, "refuse", "refuse")
        pairs.append(records.weighted_total(rules, grid, steps, cap))
    for a, b in ((pairs[0], pairs[1]), (pairs[0], pairs[2])):
        spent = Fraction(abs(a.total - b.total), 2 * steps * cap)
        spent += Fraction(abs(a.weight - b.weight), 2 * cap)
        assert spent <= 1


def test_all_of_the_budget_can_be_spent(opendp):
    for lists in ([[24] * 9], [[0] * 9], [[]]):
        made_of(lists, cap=6, reach=5)
    top, bottom, none = (tuple(ask.total for ask in opendp.asked[i : i + 2]) for i in (0, 2, 4))
    moved = [ask.moved for ask in opendp.asked[:2]]
    for one, other in ((top, bottom), (top, none)):
        assert sum(abs(a - b) / (2 * m) for a, b, m in zip(one, other, moved, strict=True)) == 1


@pytest.mark.parametrize(("eps", "reach"), [(0.5, 5), (200, 14)])
def test_certificate_is_the_bound_of_the_proposition(opendp, eps, reach):
    made = made_of([[12]], eps=eps, cap=10, reach=reach, centre=10)
    for n in (1, 1.7, 30, 200, 5000.5):
        s, b, q = 2 * 10 / eps / n, made.worst_case_bias, made.furthest
        rs = made.reach * s
        bounds = [
            (b + rs * exp(-b / rs) + q * s) / (1 - d) + 24 * exp(-d / s)
            for d in np.arange(100) / 100
            if (1 - d) * n >= 1
        ]
        assert made.worst_case_l1(n) == pytest.approx(min([24, min(bounds) + made.rounding]))
    assert (b, q) == (pytest.approx(14 - reach, abs=1e-5), pytest.approx(14, abs=1e-5))
    assert MADE.worst_case_l1(1) == 10 - 1  # never more than the values' range


def test_it_is_shown_as_a_table(opendp):
    made = made_of([[12] * 3] * 40, eps=2, cap=3, reach=5, missing="centre")
    shown = dict(line.split("  ", 1) for line in repr(made).splitlines())
    assert {name: text.strip() for name, text in shown.items()} == {
        "private mean": "12",
        "95 % interval": "4.48734 to 19.5127 (but for the cap)",
        "budget": f"eps = 2, {protected.STATED}",
        "weight": "120 (95 %: 110.013 to 129.987), of a user at most 3",
        "error on the worst dataset": "at most 8.621 on average over the noise (but for the cap), "
        "at the smallest of these weights, missing ones at the centre",
        "noise": "whole numbers by OpenDP, scales 15 of the sum, 3 of the weight",
        "users clipped to": "7 to 17",
        "values": "in [0, 24]",
    }
