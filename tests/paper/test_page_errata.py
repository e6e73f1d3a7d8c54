"""Each counterexample of the errata page, from the definitions."""

import itertools
import re
from fractions import Fraction

import numpy as np
import oracle
import pytest
from page_functions import BOOK

import userdp as ud

ONE, ZERO, HALF = Fraction(1), Fraction(0), Fraction(1, 2)


def exact(counts):
    return ud.Contributions(counts, ONE)


@pytest.mark.parametrize("page", ["index.ipynb", "errata.ipynb", "cite.md"])
def test_pages_name_the_version_of_the_paper(page):
    text = (BOOK / page).read_text("utf-8")
    assert re.search(r"version 1 .{,60}arXiv 2502\.04749v1", text)
    assert "*Bounding User Contributions for User-Level Differentially Private Mean" in text


def test_all_samples_at_the_bound_need_not_be_worst():
    clipped_to_one = ud.Clipping([ONE], [ONE])
    assert oracle.project(ONE, ONE, ONE) == ONE  # no bias if the sample is at the bound
    expected = oracle.largest_bias([1], ONE, clipped_to_one)
    assert expected == ud.worst_case_bias(exact([1]), clipped_to_one) == 1


def test_two_steps_in_the_proof_of_lemma_iii_2_have_counterexamples():
    users = exact([1, 1])
    before = ud.Clipping([Fraction(1, 4)] * 2, [ONE, ONE])
    after = ud.Clipping([Fraction(1, 4)] * 2, [Fraction(3, 4), ONE])
    for eps in (HALF, ONE, Fraction(3)):
        assert ud.sensitivity(users, before) == ud.sensitivity(users, after)
        noise = ud.sensitivity(users, after) / eps
        assert ud.printed_bias(users, before) + noise == ud.printed_bias(users, after) + noise
    # Centred intervals of the same widths have the bias 1/8, so `before` is not a minimiser.
    assert ud.printed_bias(users, before) > Fraction(1, 8)
    off_centre = ud.Clipping([HALF, ZERO], [ONE, HALF])
    assert ud.worst_case_error(users, off_centre, 1) == ud.optimal_error(users, 1)
    stepped = ud.Clipping([HALF, ZERO], [HALF, HALF])
    assert ud.worst_case_error(users, stepped, 1) > ud.optimal_error(users, 1)


def test_a_set_of_pairs_loses_equal_samples():
    samples = [(1, 40.0), (1, 40.0), (1, 10.0)]
    mean = sum(x for _, x in samples) / 3
    assert sum(x for _, x in set(samples)) / len(set(samples)) != mean


def test_akmv_is_not_an_estimator_plus_independent_noise():
    """The spread of its output depends on the data, even if T is almost constant."""
    users = ud.Contributions([10, 10], 1)
    standard_deviations = [
        np.std(ud.akmv(np.broadcast_to(sums, (20_000, 2)), users, 20, rng=1))
        for sums in (np.array([10.0, 10.0]), np.array([1.0, 1.0]))
    ]
    assert standard_deviations[0] > 2 * standard_deviations[1]


@pytest.mark.parametrize("budget", [0.35, 0.5, 0.9])
def test_rank_one_over_the_noise_budget_is_best_for_capped_sums(budget):
    sums = np.array([40.0, 31.0, 22.0, 9.0, 4.0, 1.0])
    errors = [np.maximum(sums - T, 0).sum() + T / budget for T in sums]
    assert np.argmin(errors) + 1 == np.ceil(1 / budget) == ud.rank(2 * budget)


def test_capped_sums_have_sensitivity_min_of_threshold_and_largest_sum():
    users = ud.Contributions([4, 1], 1)
    for T in (0.5, 2.0, 4.0, 7.0):
        pairs = [pair for m in (4, 1) for pair in itertools.product((0, m / 3, m), repeat=2)]
        assert max(min(high, T) - min(low, T) for low, high in pairs) == min(T, users.max_count)


def test_two_widths_are_optimal_at_a_budget_of_two():
    """The smallest tie: counts 2 and 1; above two, only the largest width is optimal."""
    users, two = exact([2, 1]), Fraction(2)
    errors = [oracle.largest_bias([2, 1], ONE, centred(S)) + S / 2 / 3 for S in (ONE, two)]
    assert errors == [ud.optimal_error(users, two)] * 2 == [Fraction(1, 3)] * 2
    for eps in (two, Fraction(21, 10)):
        phi = {S: ud.symmetric_error(users, S, eps) for S in (ONE, Fraction(3, 2), two)}
        best = [S for S in phi if phi[S] == min(phi.values())]
        assert best == ([*phi] if eps == two else [two])


def centred(S):
    """Symmetric intervals of total width at most S per user, for the counts 2 and 1."""
    widths = [min(ONE, S / 2), min(ONE, S / 2), min(ONE, S)]
    return ud.Clipping([(ONE - w) / 2 for w in widths], [(ONE + w) / 2 for w in widths])


@pytest.mark.parametrize(("total", "kept"), [(2, 1), (3, 2)])
def test_the_mean_of_the_kept_samples_is_not_a_clipped_mean(total, kept):
    """One sample moves a clipped mean by at most U/N, but the mean of n kept samples by U/n."""
    ends = [[end] * total for end in (ZERO, ONE)]
    clippings = [ud.Clipping(*pair) for pair in itertools.combinations_with_replacement(ends, 2)]
    largest = max(ud.sensitivity(exact([1] * total), clipping) for clipping in clippings)
    assert largest == Fraction(1, total) < Fraction(1, kept)


def test_the_interval_of_a_user_depends_on_the_counts_of_others():
    """The interval of a user with two samples changes with the others; equal counts share it."""
    widths = [ud.optimal_clipping(exact(counts), ONE).upper[0] for counts in ([2, 1], [2, 2], [2])]
    assert widths == [Fraction(3, 4), ONE, HALF]
    same = ud.optimal_clipping(exact([2, 2, 1]), ONE)
    assert (same.lower[0], same.upper[0]) == (same.lower[1], same.upper[1])


# The paper's list of references, in its order: first author and year.
REFERENCES = """
    Dwork 2014, Vadhan 2017, Levy 2021, Cummings 2022, Ghazi 2021, Amin 2019, Wang 2019,
    McMahan 2018, Kairouz 2021, McMahan 2017, Cummings 2022, Liu 2023, Amin 2019, Gupta 2024,
    Rameshwar 2024 (means), Rameshwar 2024 (composition), Dwork 2006, Geng 2015, Geng 2014,
    Boyd 2004, Smith 2011
"""


def test_two_references_are_listed_twice():
    works = [work.strip() for work in REFERENCES.split(",")]
    assert (len(works), len(set(works))) == (21, 19)
    numbers_of = [[n for n, other in enumerate(works, 1) if other == work] for work in works]
    assert [numbers for numbers in numbers_of if len(numbers) > 1] == [[4, 11], [6, 13]] * 2
    text = (BOOK / "known.md").read_text("utf-8")
    assert re.findall(r"^\| \[(\d+)\] and \[(\d+)\] \|", text, re.M) == [("4", "11"), ("6", "13")]
