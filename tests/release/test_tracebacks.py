"""An error of the release package keeps no data alive, not even in the frames of its traceback.

Debuggers, error trackers and notebooks show the local variables of all frames of a traceback, and
`sys.last_exc` keeps them. The caller of a release has the data anyway, but the package's frames
also hold sums, counts and totals without noise. So the only frame of the package that is left on a
traceback is that of `discreet`, without the arguments.
"""

import inspect
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pytest
from kinds import TABLES, parquet, rows_of
from test_no_data_quoted import FUNCTIONS, NAMED, TABLE, good_arguments

import userdp as ud
from userdp import beyond, release
from userdp.release import _engines, _mean, _noise, _protected, _vectors
from userdp.release._quiet import quietly

PACKAGE = str(Path(ud.__file__).parent)
LEFT = {"function", "parameters", "refusal"}
"""Local variables of that frame: a function, its signature and the error itself."""


def errors_on(error):
    """Return an error with all its causes and contexts."""
    others = [error.__cause__, error.__context__] if error else []
    return [error, *(one for other in others if other for one in errors_on(other))]


def frames_of(error):
    """Return the package's frames on the tracebacks of an error, and among their callers.

    A frame of a traceback refers to its callers, so they are included.
    """
    frames = []
    for one in errors_on(error):
        trace = one.__traceback__
        while trace is not None:
            frame = trace.tb_frame
            while frame is not None:
                if frame.f_code.co_filename.startswith(PACKAGE) and frame not in frames:
                    frames.append(frame)
                frame = frame.f_back
            trace = trace.tb_next
    return frames


def check_no_data_reachable_from(error):
    frames = frames_of(error)
    assert [frame.f_code.co_qualname for frame in frames] == ["discreet.<locals>.guarded"]
    assert {*frames[0].f_locals} == LEFT
    assert frames[0].f_locals["refusal"] is error


@contextmanager
def refused(kind=(TypeError, ValueError)):
    """Expect an error from which no data can be reached."""
    with pytest.raises(kind) as caught:
        yield
    check_no_data_reachable_from(caught.value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_frame_is_reachable_from_a_refusal_of_any_argument(name):
    function = FUNCTIONS[name]()
    good = good_arguments(name, function)
    bad = [np.array(["secret", 77.125], object), pd.DataFrame({"secret": [77.125]})]
    for parameter in {*inspect.signature(function).parameters} - {"ax"}:
        for value in bad:
            try:
                function(**good | {parameter: value})
            except Exception as error:
                check_no_data_reachable_from(error)
    with refused(TypeError):  # some functions accept all the arguments above
        function(**good, secret=77.125)


# One release of each kind, and errors that can end it after it has read the data.
SUMS, USERS = [40.0, 7.125, 3.0], ud.Contributions([4, 2, 1], 10)
PLACE = {"lower": 0, "upper": 10}
BY_ROWS = ["a", "a", "b"], [1.0, 2.0, 3.0]
RELEASES = {
    "private_mean": lambda how: release.private_mean(*BY_ROWS, **PLACE, budget=1, **how),
    "private_mean of a table": lambda how: release.private_mean(**NAMED, **PLACE, budget=1, **how),
    "protected counts": lambda how: release.private_mean_protected_counts(
        *BY_ROWS, **PLACE, eps=1, cap=2, **how
    ),
    "release_mean": lambda _: release.release_mean(SUMS, USERS, 1),
    "vectors": lambda _: release.release_mean_in_ball(
        [[1.0, 2.0], [0.5, 0.25], [0.125, 0.0]], USERS, beyond.GaussianNoise(1)
    ),
}
FAILURES = {
    "an error of the program": ZeroDivisionError("77.125"),
    "a refusal of our own": ValueError("`value` must be something else."),
    "a library that is missing": ImportError("77.125"),
    "a warning": RuntimeWarning("overflow"),
    "Ctrl-C": KeyboardInterrupt("77.125"),
    "the end of the program": SystemExit(3),
}
every_failure = pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)


@every_failure
@pytest.mark.parametrize("name", RELEASES)
def test_no_total_is_reachable_from_an_error_at_the_draw(name, failure, monkeypatch):
    """Noise is drawn last, when totals are local variables of several frames."""

    def fail(*_):
        try:
            raise KeyError("77.125")
        except KeyError as cause:
            raise failure from cause

    for module in (_mean, _protected):
        monkeypatch.setattr(module, "noisy_total", fail)
    monkeypatch.setattr(_vectors, "noisy_vector", fail)
    expected = type(failure) if not isinstance(failure, ZeroDivisionError) else ValueError
    with refused(expected):
        RELEASES[name]({})


@every_failure
def test_no_total_is_reachable_from_an_error_in_a_measurement(failure, monkeypatch):
    """OpenDP calls the function and keeps its error message; OpenDP's own frames do not matter."""
    errors, real = [], _mean._release_table

    def fail(*_):
        raise failure

    def watched(*data, **settings):
        try:
            return real(*data, **settings)
        except BaseException as error:
            errors.append(error)
            raise ValueError from None

    monkeypatch.setattr(_mean, "noisy_total", fail)
    monkeypatch.setattr(_mean, "_release_table", watched)
    measurement = release.as_measurement(**NAMED, **PLACE, budget=1)
    with pytest.raises(Exception):  # noqa: B017, PT011 (OpenDP has its own)
        measurement(TABLE)
    check_no_data_reachable_from(*errors)


@pytest.mark.parametrize("rule", ["missing", "outside"])
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_no_total_is_reachable_from_the_warning_of_dropped_rows(table, rule, tmp_path):
    """It is an error under `python -W error`, and is issued when the totals are known."""
    data = table(rows_of(["a", "a", "b"], [1.0, 2.0, 3.0]), tmp_path)
    with warnings.catch_warnings(action="error"), refused(UserWarning):
        release.private_mean("user", "value", data=data, **PLACE, budget=1, **{rule: "drop"})


# Rows that are refused, or on which an engine fails: error messages may quote data.
ODD = {
    "values outside": rows_of(["a", "b"], [1.0, 77.125]),
    "values missing": rows_of(["a", "b"], [1.0, None]),
    "users missing": rows_of(["a", None], [1.0, 7.125]),
    "users that are odd": rows_of([1.0, 77.125], [1.0, 2.0]),
    "values in words": rows_of(["a", "b"], ["1", "secret"]),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("table", ["pandas", "polars", "Arrow", "Ibis", "Parquet", "CSV"])
def test_no_row_is_reachable_from_its_refusal(table, kind, tmp_path):
    data = TABLES[table](ODD[kind], tmp_path)
    if (table, kind) == ("CSV", "users that are odd"):
        pytest.skip("an id in a CSV file is text")
    with refused():
        release.private_mean("user", "value", data=data, **PLACE, budget=1)
    with refused():
        release.private_mean_protected_counts("user", "value", data=data, **PLACE, eps=1, cap=1)


def test_no_row_is_reachable_if_an_engine_fails_or_is_stopped(monkeypatch, tmp_path):
    query = "select 'a' as user, error('secret')::double as value"
    failing = ibis.duckdb.connect().sql(query)
    with refused(ValueError):
        release.private_mean("user", "value", data=failing, **PLACE, budget=1)
    path = parquet(rows_of(*BY_ROWS), tmp_path)

    def stop(call, **how):
        def interrupted():
            raise RuntimeError("Query interrupted")

        return quietly(interrupted, **how)

    monkeypatch.setattr(_engines, "quietly", stop)
    with refused(KeyboardInterrupt):
        release.private_mean("user", "value", data=path, **PLACE, budget=1)


@pytest.mark.parametrize("library", ["opendp.prelude", "ibis", "pyarrow"])
def test_no_row_is_reachable_if_a_library_is_missing(library, monkeypatch, tmp_path):
    path = parquet(rows_of(*BY_ROWS), tmp_path)
    data = {"opendp.prelude": TABLE, "ibis": path, "pyarrow": pl.DataFrame(TABLE)}[library]
    monkeypatch.setitem(sys.modules, library, None)
    with refused(ImportError):
        release.private_mean("user", "value", data=data, **PLACE, budget=1)


def test_no_total_is_reachable_if_noise_cannot_be_made(monkeypatch):
    """A refusal within a refusal, as the entry points call each other."""

    def fail(*_, **__):
        raise ZeroDivisionError("77.125")

    monkeypatch.setattr(_noise, "_with_smallest_scale", fail)
    with refused(ValueError):
        release.private_mean(*BY_ROWS, **PLACE, budget=1)
