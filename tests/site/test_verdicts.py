"""Each verdict of the ledger follows from what is evaluated here, not from a label.

A statement that is `wrong as printed` is evaluated as it is printed, on an example where it
differs from the definition; of one that is `repaired`, the statement is true and a step of its
printed argument is false. A statement that `holds, imprecise` is true in one reading, and false or
empty in the one that its words have. Two readings of an `ambiguous` one disagree. So a row whose
verdict is changed in the ledger alone has no evidence for it.
"""

from fractions import Fraction

import numpy as np
import oracle
import pytest

import userdp as ud
from tools.ext.contents import ledger

ONE, HALF = Fraction(1), Fraction(1, 2)
PAIR = ud.Contributions([1, 1], ONE)
OFF_CENTRE = ud.Clipping([HALF, 0 * ONE], [ONE, HALF])


def sum_of_maxima(users, clipping):
    """(5), for users of one sample each: the mean of max{a, U - b}."""
    pairs = zip(clipping.lower, clipping.upper, strict=True)
    return sum(max(a, users.upper - b) for a, b in pairs) / users.total


def lemma():
    widest = max(OFF_CENTRE.upper - OFF_CENTRE.lower) / PAIR.total
    exact = oracle.largest_bias([1, 1], ONE, OFF_CENTRE) + widest
    return sum_of_maxima(PAIR, OFF_CENTRE) + widest, exact, ud.worst_case_error(PAIR, OFF_CENTRE, 1)


def bias():
    exact = oracle.largest_bias([1, 1], ONE, OFF_CENTRE)
    return sum_of_maxima(PAIR, OFF_CENTRE), exact, ud.worst_case_bias(PAIR, OFF_CENTRE)


def worst_dataset():
    """All samples at U, of one user whose samples are all replaced by U."""
    one, to_the_top = ud.Contributions([1], ONE), ud.Clipping([ONE], [ONE])
    at_the_top = abs(oracle.project(ONE, ONE, ONE) - ONE)
    return (
        at_the_top,
        oracle.largest_bias([1], ONE, to_the_top),
        ud.worst_case_bias(one, to_the_top),
    )


def multipliers():
    """The violation of (9) to (11), which should be none: of the printed ones, and the repaired."""
    users = ud.Contributions([4, 2, 1], ONE)
    printed = ud.kkt_certificate(users, 1, ud.printed_solution(users, 1))
    repaired = ud.kkt_certificate(users, 1, ud.optimal_solution(users, 1))
    return max(printed), 0, max(repaired)


def equation_12():
    """The bias of a user divided by its count once too often, and a minimum in the noise."""
    users, eps = ud.Contributions([2, 1], ONE), Fraction(2)
    T = oracle.kth_largest_sum([2, 1], ONE, eps)
    printed = sum(max(ONE - T / m, 0) for m in (2, 1)) / (2 * users.total)
    printed += min(min(m * ONE, T) for m in (2, 1)) / (users.total * eps)
    return printed, oracle.smallest_error([2, 1], ONE, eps), ud.optimal_error(users, eps)


WRONG = {
    "lem-III.1": lemma,
    "eq-5": bias,
    "rem-worst-dataset": worst_dataset,
    "multipliers": multipliers,
    "eq-12": equation_12,
}
"""What the paper prints, what the definition says, and what the package computes."""


@pytest.mark.parametrize("row", WRONG)
def test_what_is_printed_differs_from_the_definition_and_the_correction_does_not(row):
    printed, exact, corrected = WRONG[row]()
    assert printed != exact == corrected


def lowering():
    """The step lowers no noise if another user ties; but no interval off centre does better."""
    before = ud.Clipping([Fraction(1, 4)] * 2, [ONE, ONE])
    after = ud.Clipping([Fraction(1, 4)] * 2, [Fraction(3, 4), ONE])
    step = ud.sensitivity(PAIR, after) < ud.sensitivity(PAIR, before)
    best = ud.worst_case_error(PAIR, ud.optimal_clipping(PAIR, 1), 1)
    return step, best == oracle.smallest_error([1, 1], ONE, ONE)


def falling():
    """The noise rises from eps = 1 to 2, from none; the error does not."""
    users = ud.Contributions([1], ONE)
    noise = [ud.threshold(users, eps) / eps for eps in (Fraction(1), Fraction(2))]
    errors = [oracle.smallest_error([1], ONE, eps) for eps in (Fraction(1), Fraction(2))]
    return noise[1] <= noise[0], errors[1] <= errors[0]


def precise():
    """The printed lemma is no precise characterisation, and the repaired one is."""
    printed, exact, repaired = lemma()
    return printed == exact, repaired == exact


REPAIRED = {"proof-III.2": lowering, "monotone-optimum": falling, "characterisation": precise}
"""Whether the printed step holds, and whether the statement does."""


@pytest.mark.parametrize("row", REPAIRED)
def test_of_what_is_repaired_a_step_fails_and_the_statement_holds(row):
    assert REPAIRED[row]() == (False, True)


def test_on_a_half_open_range_no_neighbours_attain_the_sensitivity():
    """A maximum over samples from (0, U], of which none is next to 0."""
    users = ud.Contributions([2, 1], ONE)
    for least in (HALF, Fraction(1, 10**6), Fraction(1, 10**30)):
        moved = (users.max_count * (ONE - least)) / users.total
        assert moved < ud.sensitivity(users)
    assert ud.sensitivity(users) - moved < Fraction(1, 10**29)


def two_ranks():
    """Ceil of 1 over, and of 2 over, the budget of the noise."""
    return ud.rank(2 * HALF), ud.rank(HALF)


def two_gaussians():
    """The standard deviation, with U = 65, if U/4 is the variance, and if it is that itself."""
    return np.sqrt(65 / 4), 65 / 4


def two_exponents():
    """Half of the quantile's budget, or all of it, for each rank."""
    return HALF / 2, HALF


def two_collections():
    """The optimal error at eps = 1 on the geometric and on the extreme-valued collection."""
    users = ud.geometric_collection(6, 65), ud.extreme_collection(101, 10, 65)
    return tuple(ud.optimal_error(some, 1) for some in users)


AMBIGUOUS = {
    "fig-1-collection": two_collections,
    "akmv-rank": two_ranks,
    "projected-gaussian": two_gaussians,
    "akmv-quantile": two_exponents,
}


@pytest.mark.parametrize("row", AMBIGUOUS)
def test_two_readings_of_what_is_ambiguous_differ(row):
    one, other = AMBIGUOUS[row]()
    assert one != other


# Whose words say more than what holds: the tests that the ledger names show both.
MORE_IS_SAID = {
    *("uniformly-better", "monotone-akmv", "akmv-like-laplace", "halved-budget"),
    *("other-distributions", "worst-case-dataset", "rem-resembles", "class-b-covers"),
    *("additive-noise", "dataset", "counts-public", "l1-error", "eq-8", "kkt-necessity"),
    *("akmv-error", "eq-15", "maxima", "own-count", "much-smaller", "clipping-error", "references"),
}
REPRODUCED = {"fig-1", "fig-2", "fig-3", "optimum-below-average"}
VERDICTS = {
    **dict.fromkeys(WRONG, "wrong as printed"),
    **dict.fromkeys(REPAIRED, "repaired"),
    **dict.fromkeys(MORE_IS_SAID, "holds, imprecise"),
    **dict.fromkeys(AMBIGUOUS, "ambiguous"),
    **dict.fromkeys(REPRODUCED, "reproduced"),
    **dict.fromkeys({"akmv-heuristic", "usual-assumptions"}, "not examined"),
    "other-statistics": "answered",
}


def test_every_verdict_is_the_one_that_its_evidence_has():
    found = {row["id"]: row["verdict"] for row in ledger()}
    assert found == dict.fromkeys(found, "holds") | VERDICTS
