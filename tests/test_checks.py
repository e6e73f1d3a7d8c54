"""The readers of arguments: the values that each accepts, and its message for those it refuses.

ACCEPTED and REFUSED are the only specification of the readers: other tests check only which reader
a function of `userdp` calls. Every message names the argument, the rule and the value that breaks
it: a number or a short text is quoted, anything else is described by type and shape. The exception
is a ValueError if the type is right, and a TypeError otherwise.
"""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from wording import brief

import userdp as ud
from userdp import _checks as check

INF, NAN, HUGE, HALF = float("inf"), float("nan"), 10**400, Fraction(1, 2)
LARGEST, SMALLEST = check.LARGEST, check.SMALLEST_NORMAL
NOT_NUMBERS = ["1", "", True, np.True_, None, 1j, b"1", [1.0], np.ones(1), np.timedelta64(3, "s")]


READERS = {
    "boolean": check.boolean,
    "one_of": lambda name, value: check.one_of(name, value, ["l1", "mse"]),
    "instance": lambda name, value: check.instance(name, value, ud.Contributions),
    "integer": lambda name, value: check.integer(name, value, 1, 9),
    "integer without end": lambda name, value: check.integer(name, value, 0),
    "real": check.real,
    "nonnegative": check.nonnegative,
    "exact nonnegative": lambda name, value: check.nonnegative(name, value, exact=True),
    "positive": check.positive,
    "upper": lambda _, value: check.upper(value),
    "rng": lambda _, value: check.rng(value),
    "reals": check.reals,
    "floats": check.floats,
}

# Values and what a reader returns for each: equal, and of the same type.
ACCEPTED = {
    "boolean": [(True, True), (np.False_, False)],
    "one_of": [("l1", None)],
    "instance": [(ud.Contributions([1], 1), None)],
    "integer": [(1, 1), (9, 9), (np.int8(3), 3)],
    "integer without end": [(0, 0), (HUGE, HUGE)],
    "real": [
        (-2, -2.0),
        (HALF, 0.5),
        (np.float32(0.5), 0.5),
        *((x, x) for x in (LARGEST, -LARGEST)),
        *((Decimal("0.1"), 0.1), (Decimal("1e-999"), 0.0)),
    ],
    "nonnegative": [(0, 0.0), (HALF, 0.5), (3, 3.0), (np.float32(0.5), 0.5), (LARGEST, LARGEST)],
    "exact nonnegative": [
        *((0, Fraction(0)), (HALF, HALF), (np.int8(3), Fraction(3)), (0.5, 0.5)),
        (2**1024 - 2**971, Fraction(LARGEST)),
    ],
    "positive": [(5e-324, 5e-324), (HALF, 0.5), (7, 7.0)],
    "upper": [
        *((65, 65.0), (np.int64(65), 65.0), (np.float32(0.5), 0.5), (2**53, 2.0**53)),
        *((HALF, HALF), (Fraction(HUGE, 10**100), Fraction(10**300))),
        *((x, x) for x in (SMALLEST, Fraction(SMALLEST), LARGEST)),
    ],
}

ROUNDED = "1e+400 (rounded, of type int)"
NOT_REAL = "be a real number, got x=1j of type complex."
BEYOND = "within +-2^53, which floats hold exactly, got x"
MASKED = np.ma.array([1, 2], mask=[0, 1])
NOT_A_SEED = "be a numpy Generator, a seed or None, got rng"

# The message after "`x` must "; one without a final full stop is only its beginning.
REFUSED = {
    "boolean": [
        (TypeError, 1, "be True or False, got x=1 of type int."),
        (TypeError, None, "be True or False, got x=None of type NoneType."),
        (TypeError, [True], "be True or False, got x of type list and shape (1,)."),
    ],
    "one_of": [
        (ValueError, "L1", "be one of 'l1', 'mse', got x='L1'."),
        (ValueError, None, "be one of 'l1', 'mse', got x=None."),
        (ValueError, ["l1"], "be one of 'l1', 'mse', got x of type list and shape (1,)."),
        (ValueError, "l" * 100, f"be one of 'l1', 'mse', got x='{'l' * 100}'."),
        (ValueError, "l" * 101, "be one of 'l1', 'mse', got x of type str."),
        (ValueError, "l1,mse", "be one of 'l1', 'mse', got x of type str."),
        (ValueError, "l1\n", "be one of 'l1', 'mse', got x of type str."),
    ],
    "instance": [
        (TypeError, 3, "be a userdp.Contributions, got x of type int."),
        (TypeError, (2, 1), "be a userdp.Contributions, got x of type tuple and shape (2,)."),
        (TypeError, np.ones((2, 1)), "be a userdp.Contributions, got x of type ndarray and shape "),
    ],
    "integer": [
        (ValueError, 0, "be at least 1, got x=0."),
        (ValueError, 10, "be at most 9, got x=10."),
        (TypeError, 2.0, "be an integer, got x=2.0 of type float."),
        (TypeError, HALF, "be an integer, got x=Fraction(1, 2) of type Fraction."),
        *((TypeError, value, "be an integer, got x") for value in NOT_NUMBERS),
    ],
    "integer without end": [(ValueError, -1, "be at least 0, got x=-1.")],
    "real": [
        *(
            (ValueError, value, f"be finite and within the range of floats, got x={value!r}.")
            for value in (NAN, INF, -INF, np.float32(INF), *map(Decimal, ("sNaN", "-1e400")))
        ),
        (ValueError, HUGE, f"be finite and within the range of floats, got x={ROUNDED}."),
        (ValueError, 10**5000, "be finite and within the range of floats, got x=1e+5000 (rounded"),
        (ValueError, -HUGE, f"be finite and within the range of floats, got x=-{ROUNDED}."),
        *((TypeError, value, "be a real number, got x") for value in NOT_NUMBERS),
    ],
    "nonnegative": [
        *(
            (ValueError, value, f"be finite and at least 0, got x={value!r}.")
            for value in (-1, -5e-324, -HALF, NAN, INF, np.float32(INF))
        ),
        (ValueError, HUGE, f"be within the range of floats, got x={ROUNDED}."),
        (TypeError, 1j, NOT_REAL),
        (TypeError, Decimal(1), "be a real number, got x=Decimal('1') of type Decimal."),
        *((TypeError, value, "be a real number, got x") for value in NOT_NUMBERS),
    ],
    "exact nonnegative": [(ValueError, HUGE, f"be within the range of floats, got x={ROUNDED}.")],
    "positive": [
        (ValueError, 0, "be positive, got x=0."),
        (ValueError, Fraction(1, HUGE), "be positive, got x=1e-400 (rounded, of type Fraction)."),
        (ValueError, -1, "be finite and at least 0, got x=-1."),
        (TypeError, 1j, NOT_REAL),
    ],
    "upper": [
        *(
            (ValueError, value, f"be positive and finite, got upper={value!r}.")
            for value in (0, -1, NAN, INF, Fraction(0))
        ),
        (ValueError, 5e-324, "be within the range of normal floats, got upper=5e-324."),
        *(
            (ValueError, value, "be within the range of normal floats, got upper=")
            for value in (HUGE, Fraction(HUGE), Fraction(1, HUGE))
        ),
        *(
            (ValueError, value, "be a number that a float holds exactly, or a Fraction, got upper=")
            for value in (2**53 + 1, np.int64(2**53 + 1))
        ),
        (TypeError, "65", "be a positive real number, got upper='65' of type str."),
        *((TypeError, value, "be a positive real number, got upper") for value in NOT_NUMBERS),
    ],
    "rng": [
        (ValueError, -1, "be a numpy Generator, a seed of at least 0 or None, got rng=-1."),
        (ValueError, np.int64(-1), "be a numpy Generator, a seed of at least 0 or None, got rng="),
        (TypeError, "seed", NOT_A_SEED + "='seed' of type str."),
        (TypeError, [1, 2], NOT_A_SEED + " of type list and shape (2,)."),
        *((TypeError, x, NOT_A_SEED) for x in (1.5, True, np.random, np.random.RandomState(1), [])),
    ],
    "reals": [
        (ValueError, [[1], [1, 2]], "be an array whose rows have equal lengths, got x of type "),
        (ValueError, [1, NAN], "be finite, got x[1]=nan."),
        (ValueError, [[1.0, 2.0], [-INF, 0]], "be finite, got x[1, 0]=-inf."),
        (ValueError, [1, 2**53 + 1], f"be {BEYOND}[1]=9007199254740993."),
        (ValueError, [-(2**53) - 1], f"be {BEYOND}[0]=-9007199254740993."),
        (ValueError, [2**64 - 1, 2**63], f"be {BEYOND}[0]={2**64 - 1}."),
        (ValueError, [HUGE, 0], "be within the range of floats, got x[0]=1e+400 (rounded, "),
        (ValueError, [-HUGE], "be within the range of floats, got x[0]=-1e+400 (rounded, "),
        (TypeError, [False], "hold real numbers, got x of dtype bool."),
        (TypeError, ["0"], "hold real numbers, got x of dtype <U1."),
        (TypeError, [1j], "hold real numbers, got x of dtype complex128."),
        (TypeError, MASKED, "not be a masked array: drop or fill the masked entries."),
    ],
    "floats": [(ValueError, [1, NAN], "be finite, got x[1]=nan.")],
}


def outcome(reader, value):
    """What a reader returns or raises for a value, in words."""
    try:
        result = READERS[reader]("x", value)
    except (TypeError, ValueError) as refusal:
        return f"{type(refusal).__name__}: {refusal}"
    return f"{result!r} of type {type(result).__name__}"


@pytest.mark.parametrize("reader", ACCEPTED)
def test_a_reader_accepts_good_values(reader):
    for value, expected in ACCEPTED[reader]:
        actual, message = outcome(reader, value), f"{expected!r} of type {type(expected).__name__}"
        assert actual == message, (
            f"`{reader}` should turn {brief(value)} into {message}; got {actual}"
        )


@pytest.mark.parametrize("reader", REFUSED)
def test_a_reader_refuses_bad_values_with_these_messages(reader):
    name = reader if reader in ("upper", "rng") else "x"
    for error, value, words in REFUSED[reader]:
        actual, expected = outcome(reader, value), f"{error.__name__}: `{name}` must {words}"
        exact = words.endswith(".")
        matches = actual == expected if exact else actual.startswith(expected)
        assert matches, f"`{reader}` should refuse {brief(value)} with {expected!r}; got {actual!r}"


def test_arrays_of_reals_are_copies_and_exact_only_if_every_entry_is():
    numbers = np.array([1.5, 2.0])
    for read in (check.reals, check.floats):
        array = read("x", numbers)
        assert (array.dtype, array.tolist()) == (np.float64, [1.5, 2.0])
        assert not np.shares_memory(array, numbers)
    ends = [2**53, -(2**53)]
    assert check.reals("x", ends).tolist() == [2.0**53, -(2.0**53)]
    exact = check.reals("x", [[HALF], [2**1024 - 2**971]])
    assert exact.tolist() == [[HALF], [Fraction(LARGEST)]]
    assert {type(entry) for entry in exact.flat} == {Fraction}
    rounded = check.floats("x", [Fraction(1, 3), 2])
    assert (rounded.dtype, rounded.tolist()) == (np.float64, [1 / 3, 2.0])
    assert check.reals("x", np.array([], object)).dtype == np.float64


def test_the_index_of_an_entry_that_is_not_a_fraction_is_named():
    for entries, index, got in (([HALF, 0.5], "[1]", "=0.5"), ([[HALF, True]], "[0, 1]", "=True")):
        words = f"`x{index}` must be a Fraction or an integer, got x{index}{got} of type "
        with pytest.raises(TypeError, match="^" + re.escape(words)):
            check.reals("x", entries)


def test_a_seed_gives_its_generator_and_none_gives_fresh_entropy():
    numbers = {check.rng(seed).random() for seed in (3, np.int64(3), np.random.SeedSequence(3))}
    assert numbers == {np.random.default_rng(3).random()}
    generator = np.random.default_rng(1)
    assert check.rng(generator) is generator
    bits = np.random.PCG64(1)
    assert check.rng(bits).bit_generator is bits
    assert check.rng(None).random() != check.rng(None).random()


def test_the_first_of_several_bad_entries_is_named():
    entries = np.array([[1.0, -2.0], [-3.0, 4.0]])
    assert check.refuse_entries("x", "at least 0", entries, entries < -5) is None
    with pytest.raises(ValueError, match=re.escape("`x` must be at least 0, got x[0, 1]=-2.0.")):
        check.refuse_entries("x", "at least 0", entries, entries < 0)


def test_refuse_kind_quotes_no_value_since_it_may_be_data():
    with pytest.raises(TypeError, match=r"^`x` must be text, got x of type float\.$"):
        check.refuse_kind("x", "text", 77.125)


def test_the_message_for_a_missing_library_says_what_to_install():
    assert check.load("math", "Sums need it", "plot").pi > 3
    with pytest.raises(ImportError, match=r"^Sums need it: pip install 'userdp\[plot\]'\.$"):
        check.load("no_such_library", "Sums need it", "plot")
