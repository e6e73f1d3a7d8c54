"""The worst-case error of clipped means, and the clipping that minimises it (Section III).

- Sensitivity is (6): the largest total width of a user's intervals, over N. Bias is the larger of
  the two sides of (5), each summed over all samples. (5) as printed takes the larger side of each
  sample (`printed_bias`): never less, and equal only if the same side is larger in every sample.
- The worst-case error is bias plus sensitivity over eps: Lemma III.1 with the corrected bias.
- Its minimum is attained by the intervals of Theorem III.1, centred, of total width T: the k-th
  largest U m_l, k = ceil(2/eps), or 0 if k exceeds the number of users. (12) as printed divides by
  m_l, and can be smaller.
- The optimum is compared with its definition, with a linear program, and with rivals in the class
  B; a characterisation of all minimisers is tested.
- With a Fraction for U all results are exact; with floats they are the same, rounded once.

Tests of values computed by hand come first, then definitions (`oracle.py`), then properties.
"""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import budgets, clippings, collections

import userdp as ud
from userdp import beyond
from userdp.beyond.errors import centred_bias

HALF = Fraction(1, 2)


def exact(counts, upper=1):
    return ud.Contributions(counts, Fraction(upper))


@pytest.mark.parametrize(
    ("eps", "expected"),
    [("2", 4), (3, 4), (1, 2), (HALF, 1), (Fraction(2, 5), 1), (Fraction(39, 100), 0), (0.1, 0)],
)
def test_threshold_has_the_values_computed_by_hand(eps, expected):
    assert ud.threshold(exact([1, 4, 2, 1, 1], 65), eps) == 65 * expected


def test_sum_of_largest_refuses_a_rank_that_is_not_exact():
    with pytest.raises(TypeError, match=r"^`x` must be a Fraction or an integer, got x=0\.5"):
        ud.sum_of_largest(exact([2, 1]), 0.5)


def test_intervals_of_the_theorem_are_those_computed_by_hand():
    clipping = ud.optimal_clipping(exact([4, 2, 1], 64), 1)
    assert list(clipping.lower) == [16, 0, 0]
    assert list(clipping.upper) == [48, 64, 64]
    constant = ud.optimal_clipping(exact([4, 2, 1], 64), Fraction(1, 2))
    assert list(constant.lower) == list(constant.upper) == [32, 32, 32]


@pytest.mark.parametrize(
    ("users", "eps", "expected"),
    [
        (ud.geometric_collection(6, Fraction(65)), HALF, Fraction(585, 56)),
        (ud.extreme_collection(101, 10, Fraction(65)), HALF, Fraction(169, 44)),
        (exact([2]), 1, HALF),  # (12) as printed gives 1/4
        (exact([2, 1]), 2, Fraction(1, 3)),  # (12) as printed gives 1/6
        (exact([3, 2, 1], 6), Fraction(2, 3), Fraction(3)),
    ],
    ids=["geometric", "extreme-valued", "one user", "two users", "three users"],
)
def test_optimal_error_has_the_values_computed_by_hand(users, eps, expected):
    assert ud.optimal_error(users, eps) == expected
    assert ud.worst_case_error(users, ud.optimal_clipping(users, eps), eps) == expected


@pytest.mark.parametrize("per_sample", [False, True])
@given(data=st.data())
def test_bias_and_sensitivity_agree_with_their_definitions(per_sample, data):
    users = data.draw(collections(max_samples=5))
    clipping = data.draw(clippings(users, per_sample))
    args = (users.counts.tolist(), users.upper, clipping)
    assert ud.worst_case_bias(users, clipping) == oracle.largest_bias(*args)
    assert ud.sensitivity(users, clipping) == oracle.largest_change(*args)


@given(data=st.data())
def test_printed_bias_is_exact_iff_one_side_is_larger_everywhere(data):
    users = data.draw(collections(max_samples=8))
    clipping = data.draw(clippings(users, per_sample=True))
    excess = clipping.lower - (users.upper - clipping.upper)
    one_sign = all(excess >= 0) or all(excess <= 0)
    true, printed = ud.worst_case_bias(users, clipping), ud.printed_bias(users, clipping)
    assert printed == sum(np.maximum(clipping.lower, users.upper - clipping.upper)) / users.total
    assert (printed == true) if one_sign else (printed > true)
    assert printed <= 2 * true


@given(users=collections(), width=st.fractions(0, 30), share=st.fractions(0, 1))
def test_bias_from_the_histogram_equals_bias_from_all_users(users, width, share):
    centre = share * users.upper
    clipping = beyond.centred_clipping(users, width, centre)
    assert centred_bias(users, width, centre) == ud.worst_case_bias(users, clipping)


def test_sensitivity_without_clipping_is_that_of_the_mean():
    users = exact([3, 1, 2], 65)
    unclipped = ud.Clipping([Fraction(0)] * 3, [users.upper] * 3)
    assert ud.sensitivity(users) == ud.sensitivity(users, unclipped) == Fraction(65, 2)


@given(users=collections(), data=st.data())
def test_the_optimum_agrees_with_definition_formula_and_linear_program(users, data):
    eps = data.draw(budgets(users.n_users))
    args = (users.counts.tolist(), users.upper, eps)
    clipping = ud.optimal_clipping(users, eps)
    assert ud.threshold(users, eps) == oracle.kth_largest_sum(*args)
    assert ud.optimal_error(users, eps) == oracle.smallest_error(*args)
    assert ud.worst_case_error(users, clipping, eps) == oracle.smallest_error(*args)
    by_solver = oracle.smallest_error_by_linear_program(args[0], float(args[1]), float(args[2]))
    assert by_solver == pytest.approx(float(ud.optimal_error(users, eps)), rel=1e-9)


@pytest.mark.parametrize("per_sample", [False, True])
@given(users=collections(max_samples=12), data=st.data())
def test_no_clipping_has_a_smaller_worst_case_error(per_sample, users, data):
    eps = data.draw(budgets(users.n_users))
    rival = data.draw(clippings(users, per_sample))
    assert ud.worst_case_error(users, rival, eps) >= ud.optimal_error(users, eps)


@given(users=collections(max_samples=12), data=st.data())
def test_centring_the_intervals_never_raises_the_worst_case_error(users, data):
    eps, rival = data.draw(budgets()), data.draw(clippings(users, per_sample=True))
    half_width = (rival.upper - rival.lower) / 2
    centred = ud.Clipping(users.upper / 2 - half_width, users.upper / 2 + half_width)
    assert ud.worst_case_error(users, centred, eps) <= ud.worst_case_error(users, rival, eps)


@st.composite
def clippings_near_the_best(draw, users, eps, broken):
    """Intervals of uneven widths, shifted; at most the condition named by `broken` fails."""
    signed, share = (st.fractions(low, 1, max_denominator=6) for low in (-1, 0))
    smallest, v = ud.optimal_error(users, eps), sorted({0, *users.largest_sums})
    candidates = [S for S in v if ud.symmetric_error(users, S, eps) == smallest]
    if broken == "width":
        candidates = v
    S = candidates[0] + draw(share) * (candidates[-1] - candidates[0])
    widths = []
    for m in users.counts.tolist():
        mean = min(S / m, users.upper) * (draw(share) if broken == "user" else 1)
        uneven = draw(st.lists(signed, min_size=m, max_size=m))
        slack = min(mean, users.upper - mean) / 2
        widths += [mean + slack * (x - sum(uneven) / m) for x in uneven]
    gaps = [users.upper - width for width in widths]
    shifts = draw(st.lists(signed, min_size=len(gaps), max_size=len(gaps)))
    tilt = sum(x * y for x, y in zip(shifts, gaps, strict=True)) / (sum(gaps) or 1)
    tilt *= broken != "balance"
    lower = [(2 + x - tilt) / 4 * y for x, y in zip(shifts, gaps, strict=True)]
    return ud.Clipping(lower, [a + w for a, w in zip(lower, widths, strict=True)])


@pytest.mark.parametrize("broken", ["nothing", "width", "user", "balance"])
@given(users=collections(max_samples=10), data=st.data())
def test_the_three_conditions_characterise_all_minimisers_in_the_class_b(broken, users, data):
    eps = data.draw(budgets(users.n_users))
    clipping = data.draw(clippings_near_the_best(users, eps, broken))
    lower, upper = clipping.lower, clipping.upper
    owner = np.repeat(np.arange(users.n_users), users.counts)
    W = [sum((upper - lower)[owner == user]) for user in range(users.n_users)]
    smallest, S = ud.optimal_error(users, eps), max(W)
    is_minimiser = (
        ud.symmetric_error(users, S, eps) == smallest
        and [min(S, v) for v in users.largest_sums] == W
        and sum(lower) == sum(users.upper - upper)
    )
    assert is_minimiser or broken != "nothing"
    assert (ud.worst_case_error(users, clipping, eps) == smallest) == is_minimiser
    printed = ud.printed_bias(users, clipping) + ud.sensitivity(users, clipping) / Fraction(eps)
    assert (printed == smallest) == (is_minimiser and all(lower + upper == users.upper))


@given(users=collections(), eps=budgets(), step=st.fractions(Fraction(1, 50), 2))
def test_more_budget_never_raises_the_error_and_lowers_it_above_two_over_l(users, eps, step):
    """In addition, halving a budget at most doubles the error."""
    before, after = ud.optimal_error(users, eps), ud.optimal_error(users, eps + step)
    assert after <= before
    for objective in ("bound", "l1"):
        whole, half = (beyond.optimal_error(users, x, objective) for x in (eps, eps / 2))
        assert half <= 2 * whole * (1 + 1e-9)
    if eps + step <= Fraction(2, users.n_users):
        assert before == after == users.upper / 2
    elif eps >= Fraction(2, users.n_users):
        assert after < before
    if eps >= 2:
        assert before == users.upper * users.max_count / (users.total * eps)


@given(users=collections(), eps=budgets(), step=st.fractions(Fraction(1, 50), 2))
def test_the_threshold_never_falls_with_eps_and_the_smallest_width_is_that_of_the_lightest_user(
    users, eps, step
):
    assert ud.threshold(users, eps) <= ud.threshold(users, eps + step)
    least = min(ud.threshold(users, eps), *users.largest_sums)
    lightest = users.upper * min(users.counts)
    assert least == (lightest if eps >= Fraction(2, users.n_users) else 0)


@given(users=collections(), data=st.data())
def test_one_interval_per_user_equals_that_interval_for_each_sample(users, data):
    by_user = data.draw(clippings(users, per_sample=False))
    ends = (np.repeat(end, users.counts) for end in (by_user.lower, by_user.upper))
    by_sample = ud.Clipping(*ends)
    for measure in (ud.sensitivity, ud.worst_case_bias, ud.printed_bias):
        assert measure(users, by_user) == measure(users, by_sample)


@given(users=collections(), eps=st.floats(0.05, 4))
def test_floats_agree_with_fractions_and_are_rounded_once(users, eps):
    rounded = ud.Contributions(users.counts, float(users.upper))
    clipping = ud.optimal_clipping(rounded, eps)
    assert isinstance(ud.threshold(rounded, eps), float)
    exact_users = ud.Contributions(users.counts, Fraction(rounded.upper))
    assert ud.optimal_error(rounded, eps) == float(ud.optimal_error(exact_users, eps))
    expected = pytest.approx(float(ud.optimal_error(users, eps)), rel=1e-12)
    assert ud.optimal_error(rounded, eps) == expected
    assert ud.worst_case_error(rounded, clipping, eps) == expected
