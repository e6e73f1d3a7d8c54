"""No refusal of `userdp.release` quotes data, which the tests pass as every argument.

The tests call all exported functions and all methods of results, with all arguments of their
signatures, so that new ones are included. A single number in place of a numeric setting, or a word
in place of a name, may be quoted, because it cannot be told from a setting.
"""

import inspect
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import userdp as ud
from userdp import beyond, release

PLANTED = ["77.125", "617, 8", "617/8", "secret"]
ROWS = {"user": ["secret", "secret", "b"], "value": [77.125, 2.0, -77.125]}
FRAME = pd.DataFrame(ROWS)
BARE = [77.125, np.float64(77.125), np.float32(77.125), Fraction(617, 8), Decimal("77.125")]
UNREADABLE = pa.array([b"secret\xff", b"b", b"c"]).view(pa.string())


class Hostile:
    """Every access raises an error that quotes data."""

    def __getattr__(self, name):
        raise AttributeError("secret", name="secret", obj=ROWS)

    def fail(self, *_, **__):
        raise ValueError("secret") from KeyError(77.125)

    __array__ = __iter__ = __len__ = __getitem__ = __float__ = __eq__ = __repr__ = __bool__ = fail
    __hash__ = None


@cache
def holders():
    """Data in all kinds of containers."""
    values, users = ROWS["value"], ROWS["user"]
    columns = [values, users, [*BARE[3:], 2], [[77.125, 2.0], ["secret", 1.0]], (77.125, None)]
    columns += [[-77.125] * 3, [b"secret"], [[77.125], [2.0, 3.0]], [FRAME, FRAME], [FRAME.value]]
    numpy = [np.array(column) for column in (values, users)]
    numpy += [
        np.array(users, object),
        np.array(BARE[3:], object),
        np.ma.array(values, mask=[1, 0, 0]),
    ]
    numpy += [np.array([values, values]), np.array([("secret", 77.125)], "U6, f8")]
    frames = [FRAME, FRAME.T, pd.DataFrame([values], columns=users), pl.DataFrame(ROWS)]
    frames += [pl.LazyFrame(ROWS), pa.table(ROWS), duckdb.from_arrow(pa.table(ROWS))]
    frames += [ibis.memtable(pa.table(ROWS)), ROWS, {"secret": 77.125, "b": 2.0}]
    frames += [
        pa.table({"user": UNREADABLE, "value": values}),
        pa.table([users, values], ["secret"] * 2),
    ]
    series = [
        kind(column)
        for kind in (pd.Series, pd.Index, pl.Series, pa.array)
        for column in (values, users)
    ]
    series += [pd.Series(values, ["secret", "b", "c"]), pd.Series(users, dtype="category")]
    texts = ["user,value\nsecret,77.125\n", "secret;77.125", "secret " * 20, "77.125\n2.0"]
    texts += [b"secret,77.125", bytearray(b"secret"), *texts[:1] * 2]
    others = [set(users), frozenset(values), Hostile(), range(3), UNREADABLE, object(), print]
    others += [release.ProtectedTally(3, 2, 77125, 0, 77125), ud.Clipping([77.125], [77.125])]
    return [*columns, *numpy, *frames, *series, *texts, *others]


def files(folder):
    """Files that are not tables, or not in UTF-8."""
    contents = {
        "headless.csv": b"secret,77.125\nsecret,2.0\n",
        "odd.csv": b"user,value\nsecret\xff,77.125\n\xfe\xff,2.0\n",
        "odd.parquet": b"PAR1secret77.125",
        "empty.csv": b"",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


PUBLIC = release.private_mean([1, 1, 2], [1.0, 2.0, 3.0], lower=0, upper=10, budget=1)
USERS, LAW = ud.Contributions([2, 1, 1], 10), beyond.GaussianNoise(1)
GOOD = {
    "user": ["a", "a", "b"],
    "value": [1.0, 2.0, 3.0],
    "sums": [4.0, 3.0, 2.0],
    "users": USERS,
    "counts": [2, 1, 1],
    "lower": 0,
    "upper": 10,
    "eps": 1,
    "cap": 2,
    "law": LAW,
    "level": 0.9,
    "weight": 2,
    "error": 2,
    "sensitivity": 3,
    "budget": Fraction(1),
    "n_releases": 3,
    "documents": [PUBLIC.public_json()],
    "values": {"value": (0, 10)},
}
TABLE = pd.DataFrame({"user": ["a", "a", "b"], "value": [1.0, 2.0, 3.0]})
NAMED = {"user": "user", "value": "value", "data": TABLE}
GOOD_FOR = {
    "as_measurement": NAMED,
    "private_means": {"user": "user", "data": TABLE},
    "plan_means": {"user": "user", "data": TABLE},
    "release_mean_in_ball": {"sums": [[4.0, 1.0], [3.0, 1.0], [2.0, 1.0]]},
    "discrete_gaussian": {"law": LAW},
    "PrivateMean.public_sentence": {"users": "patients"},
    "ProtectedCountsMean.public_sentence": {"users": "patients"},
    "ReleaseInBall.public_sentence": {"users": "patients"},
    "PrivateMeans.public_sentence": {"users": "patients"},
}
SETTINGS = {"lower", "upper", "eps", "cap", "level", "weight", "error", "sensitivity", "budget"}
SETTINGS |= {"objective", "total_width", "centre", "outside", "missing", "project", "reach"}
SETTINGS |= {"vector", "ax", "n_releases", "delta", "rho", "counts_public", "allow_duplicates"}
SETTINGS |= {"strategy", "of", "simultaneous"}
"""Arguments that are one number or one word, which may be quoted."""


def good_arguments(name, function):
    """Return good arguments of a function; new arguments with a default are left out."""
    parameters = inspect.signature(function).parameters.values()
    known = GOOD | GOOD_FOR.get(name, {})
    needed = [p.name for p in parameters if p.default is p.empty or p.name in known]
    return {each: known[each] for each in needed}


@cache
def results():
    exported = [release.__dict__[name] for name in release.__all__]
    functions = [thing for thing in exported if inspect.isfunction(thing)]
    values = [function(**good_arguments(function.__name__, function)) for function in functions]
    values += [one for result in values for one in getattr(result, "means", ())]
    return {type(result): result for result in values}


def functions():
    """Getters of all exported functions, and methods of results, that take arguments, by name."""
    getters = {}
    for name in release.__all__:
        thing = getattr(release, name)
        if inspect.isfunction(thing):
            getters[name] = lambda thing=thing: thing
        elif inspect.isclass(thing) and thing is not release.Release:  # the base of others
            methods = inspect.getmembers(thing, inspect.isfunction)
            for method, function in methods:
                own = function.__module__.startswith("userdp") and not method.startswith("_")
                if own and len(inspect.signature(function).parameters) > 1:
                    getters[f"{name}.{method}"] = partial(of_result, thing, method)
    return getters


def of_result(kind, method):
    return getattr(results()[kind], method)


def texts_of(error):
    """Return all texts of an error and its attributes, causes and contexts."""
    if error is None:
        return []
    names = [name for name in dir(error) if name not in ("__traceback__", "__dict__", "__doc__")]
    attributes = {name: getattr(error, name) for name in names if hasattr(error, name)}
    shown = [repr(thing) for thing in attributes.values() if not callable(thing)]
    return [str(error), *shown, *texts_of(error.__cause__), *texts_of(error.__context__)]


def planted_in(error):
    words = " ".join(texts_of(error))
    return [mark for mark in PLANTED if mark in words]


FUNCTIONS = functions()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_data_passed_as_any_argument_are_not_quoted(name, tmp_path):
    function = FUNCTIONS[name]()
    parameters = inspect.signature(function).parameters
    calls = [good_arguments(name, function)]
    if "data" in parameters:
        calls.append(calls[0] | {each: NAMED[each] for each in NAMED if each in parameters})
    refusals = []
    for good in calls:
        function(**good)
        for parameter in parameters:
            bare = [] if parameter in SETTINGS else BARE
            for bad in [*holders(), *files(tmp_path), *bare]:
                try:
                    function(**good | {parameter: bad})
                except Exception as error:
                    refusals.append((parameter, error))
    assert len(refusals) > 10 * len(parameters)
    assert [(parameter, str(error)) for parameter, error in refusals if planted_in(error)] == []


def test_single_words_are_not_quoted_if_they_cannot_be_names():
    """`data` is the only argument that may be a text that is not a name."""
    for bad in ("secret", "77.125", ["secret"], ["secret", "77.125"], [77.125, "secret"]):
        with pytest.raises((TypeError, ValueError), match=r"^`data` must be") as refusal:
            release.user_counts("user", data=bad)
        assert not planted_in(refusal.value)


@pytest.mark.slow
def test_data_for_opendp_are_not_quoted(tmp_path):
    """OpenDP shows messages of errors in a measurement and in its domain."""
    measurement = release.as_measurement(**NAMED, lower=0, upper=10, budget=1)
    errors = []
    for bad in [*holders(), *files(tmp_path), *BARE]:
        for take in (measurement, measurement.input_domain.member):
            try:
                take(bad)
            except Exception as error:
                errors.append(error)
    assert len(errors) > 50
    assert [str(error) for error in errors if planted_in(error)] == []


SERIES = pd.Series([77.125, 2.0])
BOUNDS = {"lower": 0, "upper": 100, "budget": 1}
SHAPED = "of type Series and shape (2,)"
MISTAKES = {
    "values beside a table": (
        {"value": [77.125, 2.0]},
        "`value` must be the name of a column of `data`, got value of type list and shape (2,).",
    ),
    "two frames": (
        {"data": [FRAME, FRAME]},
        "`data` must be the path of a file, got data of type DataFrame and shape (3, 2).",
    ),
    "the text of a file": (
        {"data": "user,value\na,77.125\n"},
        "`data` must be a file ending in .parquet, .csv, .csv.gz (instead of a folder, a pattern "
        "or an address, pass a list of files or an Ibis table), got data of type str.",
    ),
    "a series as budget": (
        {"budget": SERIES},
        f"`budget` must be a real number or the text of a decimal number, got budget {SHAPED}.",
    ),
    "a series as centre": (
        {"centre": SERIES},
        f"`centre` must be a real number, got centre {SHAPED}.",
    ),
    "a series as bound": ({"upper": SERIES}, f"`upper` must be a real number, got upper {SHAPED}."),
    "a series as rule": (
        {"missing": SERIES},
        f"`missing` must be 'refuse', 'centre' or 'drop', got missing {SHAPED}.",
    ),
    "a series as objective": (
        {"objective": SERIES},
        f"`objective` must be one of 'bound', 'l1', 'mse', got objective {SHAPED}.",
    ),
    "a budget below zero": (
        {"budget": -1.0},
        "`budget` must be positive and finite, got budget=-1.0.",
    ),
    "a bound too low": ({"upper": -3}, "`upper` must be above lower=0.0, got upper=-3."),
    "a column that is not there": (
        {"value": "speed"},
        "`value` must be the name of a column of `data`, got value='speed'.",
    ),
    "unreadable text": (
        {"user": UNREADABLE, "value": [1, 2, 3], "data": None},
        "private_mean failed with a UnicodeDecodeError, whose message is not repeated",
    ),
}


@pytest.mark.parametrize("slip", MISTAKES)
def test_a_mistake_is_refused_with_a_helpful_message(slip):
    changed, words = MISTAKES[slip]
    with pytest.raises((TypeError, ValueError)) as refusal:
        release.private_mean(**NAMED | BOUNDS | changed)
    assert str(refusal.value).startswith(words)


def test_swapped_arguments_and_sums_for_counts_are_refused_with_a_helpful_message():
    with pytest.raises(
        TypeError, match=r"`users` must be a userdp\.Contributions, got users of type"
    ):
        release.release_mean(USERS, [77.125, 2.0, 1.0], 1)
    with pytest.raises(TypeError, match=r"`user` must be the name of a column .* shape \(2,\)"):
        release.as_measurement([77.125, 2.0], "value", data=FRAME, lower=0, upper=10, budget=1)
    with pytest.raises(
        TypeError, match=r"`law` must be a userdp\.beyond\.GaussianNoise, got law of type list"
    ):
        release.release_mean_in_ball([[1.0]], USERS, [77.125])
    with pytest.raises(TypeError, match="missing a required argument: 'upper'"):
        release.private_mean([1], [2.0], lower=0, budget=1)
