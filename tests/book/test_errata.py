"""Each counterexample of the errata page, from the definitions."""

import itertools
import re
from fractions import Fraction

import numpy as np
import oracle
import pytest
from page_functions import BOOK
from scipy import stats

import userdp as ud

ONE, ZERO, HALF = Fraction(1), Fraction(0), Fraction(1, 2)


def exact(counts):
    return ud.Contributions(counts, ONE)


@pytest.mark.parametrize("page", ["index.ipynb", "errata.ipynb", "cite.md"])
def test_pages_say_which_version_of_the_paper_they_are_about(page):
    text = (BOOK / page).read_text("utf-8")
    assert re.search(r"version 1 .{,60}arXiv 2502\.04749v1", text)
    assert "*Bounding User Contributions for User-Level Differentially Private Mean" in text


def test_printed_lemma():
    users, dropped = exact([2]), ud.Clipping([ONE, ZERO], [ONE, ZERO])
    assert oracle.largest_bias([2], ONE, dropped) == HALF == ud.worst_case_bias(users, dropped)
    assert ud.printed_bias(users, dropped) == 1


@pytest.mark.parametrize("ends", [(0, 0), (0, 1), (1, 1), (HALF, HALF), (Fraction(1, 3), HALF)])
def test_with_a_single_sample_the_printed_lemma_is_right(ends):
    single = ud.Clipping([Fraction(ends[0])], [Fraction(ends[1])])
    assert ud.printed_bias(exact([1]), single) == oracle.largest_bias([1], ONE, single)


def test_all_samples_at_the_bound_need_not_be_worst():
    sent_up = ud.Clipping([ONE], [ONE])
    bias_at_bound = abs(ONE - oracle.project(ONE, ONE, ONE))
    assert bias_at_bound == 0
    assert oracle.largest_bias([1], ONE, sent_up) == 1


def test_gaps_in_the_proof_of_lemma_iii_2():
    a, b = Fraction(4, 5), Fraction(9, 10)
    assert b - (a + b - 1) < a
    users = exact([1, 1])
    before = ud.Clipping([Fraction(1, 4)] * 2, [ONE, ONE])
    after = ud.Clipping([Fraction(1, 4)] * 2, [Fraction(3, 4), ONE])
    for eps in (HALF, ONE, Fraction(3)):
        assert ud.sensitivity(users, before) == ud.sensitivity(users, after)
        noise = ud.sensitivity(users, after) / eps
        assert ud.printed_bias(users, before) + noise == ud.printed_bias(users, after) + noise
    assert ud.printed_bias(users, before) > Fraction(1, 8)  # centred, as wide: no minimiser
    off_centre = ud.Clipping([HALF, ZERO], [ONE, HALF])
    assert ud.worst_case_error(users, off_centre, 1) == ud.optimal_error(users, 1)
    stepped = ud.Clipping([HALF, ZERO], [HALF, HALF])
    assert ud.worst_case_error(users, stepped, 1) > ud.optimal_error(users, 1)


def test_printed_multipliers():
    """The smallest case: one user, one sample, eps = 2; T = U, and nobody is above it."""
    users, eps = exact([1]), 2
    printed = ud.printed_solution(users, eps)
    assert printed.total_width == 1
    assert printed.lambda_width + sum(printed.lambda_users) == Fraction(1, eps)
    assert printed.lambda_width * printed.total_width == HALF
    assert set(ud.kkt_certificate(users, eps)) == {0}


@pytest.mark.parametrize(
    ("counts", "eps", "printed", "true"),
    [([2], 1, Fraction(1, 4), HALF), ([2, 1], 2, Fraction(1, 6), Fraction(1, 3))],
)
def test_equation_12_fails_twice(counts, eps, printed, true):
    T = oracle.kth_largest_sum(counts, ONE, eps)
    bias = sum(max((m - T) / (2 * m), ZERO) for m in counts)
    assert (bias + min(T, *counts) / Fraction(eps)) / sum(counts) == printed
    assert oracle.smallest_error(counts, ONE, Fraction(eps)) == true


def test_the_noise_term_alone_can_rise():
    users = exact([2, 1])
    before, after = Fraction(19, 10), Fraction(2)
    noise = [ud.threshold(users, eps) / eps for eps in (before, after)]
    assert noise[0] < noise[1]
    assert ud.optimal_error(users, before) > ud.optimal_error(users, after)


def test_a_set_of_pairs_loses_equal_samples():
    samples = [(1, 40.0), (1, 40.0), (1, 10.0)]
    mean = sum(x for _, x in samples) / 3
    assert sum(x for _, x in set(samples)) / len(set(samples)) != mean


def test_akmv_is_no_estimator_plus_independent_noise():
    """The spread of its output around its mean depends on the data, with T nearly certain."""
    users = ud.Contributions([10, 10], 1)
    spread = [
        np.std(ud.akmv(np.broadcast_to(sums, (20_000, 2)), users, 20, rng=1))
        for sums in (np.array([10.0, 10.0]), np.array([1.0, 1.0]))
    ]
    assert spread[0] > 2 * spread[1]


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


def test_akmv_has_worse_datasets():
    two = ud.Contributions([4, 1], 1)
    assert ud.akmv_error([4, 0], two, "0.1") > ud.akmv_error([4, 1], two, "0.1")
    geometric = ud.geometric_collection(6, 65)
    sums = geometric.largest_sums
    heavy_only = np.where(np.arange(127) < 6, sums, 0)
    assert ud.akmv_error(heavy_only, geometric, 1) > ud.akmv_error(sums, geometric, 1)


def test_akmv_can_be_better():
    """One user, one sample of 1/10, eps = 10: the optimum clips nothing and errs by its noise."""
    users = ud.Contributions([1], 1)
    assert ud.optimal_error(users, 10) == pytest.approx(0.1)
    assert ud.akmv_mean_error([0.1], users, 10) < 0.078 < ud.akmv_error([0.1], users, 10) < 0.082


@pytest.mark.parametrize("eps", [2, 2.5, 7])
def test_above_two_the_optimum_is_the_laplace_mechanism(eps):
    users = ud.geometric_collection(3, 65)
    sums = np.linspace(0.1, 0.9, 15) * users.largest_sums
    released = ud.opt_worst_case(sums, users, eps, rng=1)
    assert released == pytest.approx(ud.laplace(sums, users, eps, rng=1), rel=1e-12)


def test_the_two_readings_of_the_gaussian_differ():
    spreads = []
    for standard_deviation in (np.sqrt(65 / 4), 65 / 4):
        reach = 65 / 2 / standard_deviation
        spreads.append(stats.truncnorm(-reach, reach, scale=standard_deviation).std())
    assert spreads[0] == pytest.approx(4.03, abs=0.005)
    assert spreads[1] > 3 * spreads[0]
