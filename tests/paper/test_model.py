"""Public quantities, and how budgets and sums are read (Section II).

- The collections are the paper's (Section IV-B): the geometric one has 2^i users of 2^(M-i)
  samples, the extreme one a single user with m* samples, and users with one sample each.
- N is the sum of the counts m_l, m* the largest; all results are Fractions if U is one.
- A float eps is read as its binary value, a text as the decimal number that it spells. Its rank is
  k = ceil(2/eps) (Theorem III.1); a float that is 2/k up to rounding has exactly rank k.
- Sums lie in [0, U m_l], up to rounding; a sum outside is refused, and its index is named.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import GEOMETRIC, collections

import userdp as ud
from userdp import beyond
from userdp._checks import LARGEST, SMALLEST_NORMAL
from userdp.model import _ROUNDING, _read_sums, read_eps


@pytest.mark.parametrize("M", range(9))
def test_geometric_collection_has_the_papers_numbers(M):
    users = ud.geometric_collection(M, 65)
    values, frequencies = np.unique(users.counts, return_counts=True)
    assert dict(zip(values, frequencies, strict=True)) == {2 ** (M - i): 2**i for i in range(M + 1)}
    assert (users.n_users, users.total) == (2 ** (M + 1) - 1, (M + 1) * 2**M)
    assert users.max_count == 2**M


@pytest.mark.parametrize(("n_users", "max_count"), [(101, 10), (1, 7), (2, 1)])
def test_extreme_collection_has_the_papers_numbers(n_users, max_count):
    users = ud.extreme_collection(n_users, max_count, 65)
    assert sorted(users.counts) == [1] * (n_users - 1) + [max_count]
    assert users.total == n_users - 1 + max_count


@pytest.mark.parametrize(("upper", "exact"), [(65, False), (65.0, False), (Fraction(65), True)])
def test_a_fraction_makes_results_exact(upper, exact):
    users, expected = ud.Contributions([2, 1], upper), Fraction if exact else float
    best, one = ud.optimal_clipping(users, 1.5), Fraction(1)
    low, high = (ud.Clipping([one * a] * 2, [one * b] * 2) for a, b in ((1, 2), (63, 64)))
    measures = ud.sensitivity, ud.worst_case_bias, ud.printed_bias
    results = [measure(users, clipping) for measure in measures for clipping in (best, low, high)]
    results += [users.upper, ud.threshold(users, 1.5), ud.threshold(users, 0.1)]
    results += [ud.sensitivity(users), ud.worst_case_error(users, best, 1.5)]
    results += [ud.optimal_error(users, 1.5), beyond.modulus_of_mean(users).smallest_bias(one)]
    results += [ud.symmetric_error(users, one, 1.5)]
    results += [beyond.threshold(users, 1.5, objective) for objective in ("l1", "mse")]
    assert {type(result) for result in results} == {expected}
    assert users.is_exact is exact
    point = beyond.centred_clipping(users, 0, one / 3)
    assert [*point.lower, *point.upper] == [expected(one / 3)] * 4
    assert users.largest_sums.tolist() == [130, 65]


@given(users=collections())
def test_users_from_a_histogram_equal_users_from_counts(users):
    copy = ud.Contributions._of_histogram(*users.histogram, users.upper)
    assert repr(copy) == repr(users)
    budgets = [Fraction(1, 3), 1, 2]
    assert [ud.threshold(copy, e) for e in budgets] == [ud.threshold(users, e) for e in budgets]
    assert "counts" not in vars(copy), "the array of all counts was built without need"
    assert copy.counts.tolist() == sorted(users.counts, reverse=True)
    with pytest.raises(ValueError, match="read-only"):
        copy.counts[0] = 1


def test_a_histogram_of_too_many_samples_is_refused_like_counts():
    sizes, n_users = np.array([1, 2**40]), np.array([1, 2**13])
    words = []
    for make in (ud.Contributions._of_histogram, lambda m, n, u: ud.Contributions(m.repeat(n), u)):
        with pytest.raises(ValueError, match=r"`counts` must sum to at most 2\^53") as refusal:
            make(sizes, n_users, 1)
        words.append(str(refusal.value))
        fits = make(sizes[1:], n_users[1:], 1)
        assert (fits.total, fits.n_users) == (2**53, 2**13)
        with pytest.raises(ValueError, match="`upper` must be small enough"):
            make(sizes[1:], n_users[1:], 1e300)
    assert words[0] == words[1]


def test_reprs_of_users_and_clippings_are_short():
    many = ud.Clipping(np.linspace(0, 1, 1000), np.linspace(2, 3, 1000))
    assert repr(many) == "Clipping(n_intervals=1000, lower=0.0 to 1.0, upper=2.0 to 3.0)"
    two = ud.Clipping([0, Fraction(1, 3)], [Fraction(1), 1])
    assert repr(two) == "Clipping(n_intervals=2, lower=0 to 1/3, upper=1 to 1)"
    users = ud.Contributions([4, 1, 1], 65)
    assert repr(users) == "Contributions(n_users=3, total=6, max_count=4, upper=65.0)"


# Reading eps, and k = ceil(2/eps), which float arithmetic would sometimes get wrong.
def test_every_float_two_over_k_has_rank_k():
    wrong = [k for k in range(1, 20_001) if ud.rank(2 / k) != k]
    assert wrong == []


@pytest.mark.parametrize(
    ("eps", "k"),
    [
        *((1 - 0.9, 20), (0.1 + 0.2, 7), (2.0, 1), (2.0000001, 1), (1.9999999, 2)),
        *((2 / 49 * (1 + off), 49) for off in (-1e-10, 0, 1e-10, 1e-8)),  # within the tolerance
        (2 / 49 * (1 - 1e-8), 50),
    ],
)
def test_rank_of_floats_by_hand(eps, k):
    assert ud.rank(eps) == k


class Quantity(float):
    """A subclass of float whose precision numpy does not know."""


@pytest.mark.parametrize("k", [7, 20, 49])
@pytest.mark.parametrize("kind", [Quantity, np.float64, np.float32])
def test_floats_of_other_types_have_rank_k_within_their_precision(kind, k):
    assert ud.rank(kind(2 / k)) == k
    assert ud.rank(kind(2 / k * (1 - 1e-5))) == k + 1


@given(st.integers(1, 10**6), st.integers(10**12, 10**40))
def test_exact_budgets_are_not_rounded(k, n):
    assert ud.rank(Fraction(2, k)) == k
    assert ud.rank(Fraction(2, k) - Fraction(1, n * k * k)) == k + 1
    assert ud.rank(Fraction(2, k) + Fraction(1, n)) == k


@pytest.mark.parametrize(
    "eps", [0.5, "0.5", "5e-1", Decimal("0.5"), Fraction(1, 2), np.float32(0.5)]
)
def test_all_spellings_of_a_half_are_read_as_a_half(eps):
    assert read_eps(eps) == Fraction(1, 2)
    assert ud.rank(eps) == 4


def test_decimals_are_read_exactly_and_a_rank_beyond_all_users_gives_threshold_zero():
    assert ud.Contributions(np.full(10**7, 900_000_000), 65).total == 9 * 10**15
    assert read_eps("0.1") == read_eps(Decimal("0.1")) == Fraction(1, 10) != read_eps(0.1)
    assert read_eps(3) == read_eps(np.int64(3)) == 3
    assert ud.threshold(GEOMETRIC, 1e-300) == 0
    assert ud.optimal_error(GEOMETRIC, 1e-300) == 65 / 2


# The readers of budgets and of sums, which most functions call.
HUGE, NAN, INF = 10**400, float("nan"), float("inf")
NOT_BUDGETS = {
    "be a real number or the text of a decimal number, got eps": [
        *("a tenth", "", "1/2", True, np.True_, None, 1j, b"0.5", [0.5], np.array([0.5])),
        np.timedelta64(3, "s"),
    ],
    "be positive and finite, got eps=": [
        *(0, -1.0, NAN, INF, -INF, np.float32(INF), "nan", "-0.5", Fraction(-1, 3)),
        *(Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")),
    ],
    "be within the range of normal floats, got eps=": [
        *(5e-324, 1e-310, Fraction(1, 10**320), HUGE, "1e999999999", Decimal("1e-999999999")),
    ],
}


def refusal_of(reader, *arguments):
    try:
        return f"nothing, and returns {reader(*arguments)!r}"
    except (TypeError, ValueError) as refusal:
        return f"{type(refusal).__name__}: {refusal}"


@pytest.mark.parametrize("rule", NOT_BUDGETS)
def test_values_that_are_not_budgets_are_refused(rule):
    for eps in NOT_BUDGETS[rule]:
        error = TypeError if "real" in rule and not isinstance(eps, str) else ValueError
        got = f"={eps!r}" if isinstance(eps, str) else ""
        words = f"{error.__name__}: `eps` must {rule.removesuffix('=')}{got}"
        refusal = refusal_of(read_eps, eps)
        assert refusal.startswith(words), (
            f"read_eps({eps!r}) should raise {words!r}; got {refusal!r}"
        )


@pytest.mark.parametrize("eps", [LARGEST, SMALLEST_NORMAL, Decimal("1e300"), " 0.5 "])
def test_extreme_budgets_and_a_padded_text_are_read(eps):
    assert read_eps(eps) == Fraction(eps)


def test_sums_off_by_rounding_are_projected_and_others_refused():
    users = ud.Contributions([2, 1], 10)
    largest = users.largest_sums
    np.testing.assert_array_equal(_read_sums((1 + _ROUNDING) * largest, users), largest)
    np.testing.assert_array_equal(_read_sums(-_ROUNDING * largest, users), [0, 0])
    for end, outside in (((1 + _ROUNDING) * largest, np.inf), (-_ROUNDING * largest, -np.inf)):
        with pytest.raises(ValueError, match=r"`sums` must be .* got sums\[0\]="):
            _read_sums(np.nextafter(end, outside), users)


BAD_SUMS = {
    "of too many": [[4.0, 21.0], "be between 0 and U m_l, got sums[1]=21.0."],
    "below 0": [[[1.0, 2.0], [3.0, -0.1]], "be between 0 and U m_l, got sums[1, 1]=-0.1."],
    "not a number": [[4.0, NAN], "be finite, got sums[1]=nan."],
    "infinite": [[INF, 1.0], "be finite, got sums[0]=inf."],
    "more than floats hold": [
        [HUGE, 2],
        "be within the range of floats, got sums[0]=1e+400 (rounded",
    ],
    "not exact in floats": [
        [1, 2**63 - 1],
        "be within +-2^53, which floats hold exactly, got sums[1]",
    ],
    "of more users": [
        [1.0, 2.0, 3.0],
        "have one entry per user (2) along its last axis, got sums of",
    ],
    "of no user": [1.0, "have one entry per user (2) along its last axis, got sums of shape ()."],
    "of one user each": [[[1], [2]], "have one entry per user (2) along its last axis, got"],
}


@pytest.mark.parametrize("sums", BAD_SUMS)
def test_sums_that_no_dataset_has_are_refused(sums):
    value, words = BAD_SUMS[sums]
    refusal = refusal_of(_read_sums, value, ud.Contributions([2, 2], 10))
    expected = f"ValueError: `sums` must {words}"
    assert refusal.startswith(expected), f"sums {sums} should raise {expected!r}; got {refusal!r}"


def test_sums_become_floats_and_single_precision_may_be_off_by_its_rounding():
    users = ud.Contributions([2, 1], 10)
    for sums in ([20, 10], [Fraction(20), 10], np.float32([20, 10]), np.float32([20.000002, 10])):
        array = _read_sums(sums, users)
        assert (array.dtype, array.tolist()) == (np.float64, [20, 10])
    # 8 float32 epsilons of 20 are 10 units in the last place above it.
    assert _read_sums(np.float32([20 + 10 * 2.0**-19, 10]), users).tolist() == [20, 10]
    with pytest.raises(ValueError, match="between 0 and U m_l"):
        _read_sums(np.float32([20 + 11 * 2.0**-19, 10]), users)
    for not_numbers in (["1", "2"], np.ma.array([1, 2], mask=[0, 1])):
        with pytest.raises(TypeError, match=r"^`sums` must "):
            _read_sums(not_numbers, users)
