"""Refusals that tell nothing: whose words they are decides whether they are repeated.

A message of this house begins with the name of an argument and what it must be, and then shows
settings, types and shapes only (`_checks`). The words of others, of a library or an engine, may
quote the records that they stumbled over: they are not repeated, and not attached either.
"""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from userdp import _checks as check
from userdp._search import NotFoundError

P = ParamSpec("P")
T = TypeVar("T")

OURS = re.compile(r"`\w+`( and `\w+`)? must ")
"""How a message of this house begins."""

NOTHING_SPENT = "Nothing was released, and no budget is spent."
"""What is said where the way to the noise is broken off: the draw comes last."""

SEEDS = ("rng", "seed", "random_state")
"""Names by which other libraries take a seed; no function here has such a parameter."""

NO_SEED = (
    "not be given: a release has no seed, because whoever knows it can subtract the noise. OpenDP "
    "draws from the operating system's entropy."
)

FAILED = "readable by its engine, which failed"
"""What is said of an engine or a library that stumbles over data."""

KINDS = (TypeError, ValueError, FileNotFoundError)
"""What it comes with."""


def discreet(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose errors quote no data: every entry of `userdp.release` is one.

    Nor does an error keep data alive. The frames of its traceback hold local variables, among them
    totals without noise; so no frame is left but that of `guarded`, which deletes its arguments.
    """
    parameters = signature(function)

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            parameters.bind(*args, **kwargs)
        except TypeError as error:
            refusal: BaseException = TypeError(_no_call(str(error), kwargs))
        else:
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                refusal = _without_data(error, function.__qualname__)
        # Outside of the handlers: the error itself, and what hangs on it, is not attached.
        del args, kwargs
        raise refusal

    return guarded


def _no_call(words: str, given: Mapping[str, object]) -> str:
    """Return Python's words, which name the argument that is missing or unknown; or on seeds."""
    for name in SEEDS:
        if name in given:
            return f"`{name}` must {NO_SEED}"
    return words


def _without_data(error: BaseException, name: str) -> BaseException:
    """Return what the caller of a function may see of an error: words, and no frames."""
    if isinstance(error, Warning) or not isinstance(error, Exception):
        # A warning is about settings; the others stop the program, as Ctrl-C does.
        error.__cause__ = error.__context__ = None
        return error.with_traceback(None)
    kind = type(error)
    words = str(error)
    if isinstance(error, ImportError):  # names the library and the extra
        return ImportError(words)
    if kind is NotFoundError or (kind in KINDS and OURS.match(words)):
        return kind(words)
    return _plain(kind)(
        f"{name} failed with a {kind.__name__}, whose words are not repeated "
        "here, because they may quote records."
    )


def quietly(
    call: Callable[[], T], rule: str = FAILED, explain: Callable[[str], None] | None = None
) -> T:
    """Return the result of a call into an engine; its errors become one that quotes no data.

    `explain` takes the name of the error's type, and raises an error of its own if it knows a cause
    that the user can remove.
    """
    try:
        return call()
    except KeyboardInterrupt:
        stopped = True
        failed = ""
    except Exception as error:
        stopped = str(error) == "Query interrupted"  # so DuckDB says that it was stopped
        failed = type(error).__name__
    # Outside of the handler: the engine's error is not even attached.
    if stopped:
        raise KeyboardInterrupt(NOTHING_SPENT)
    if explain is not None:
        explain(failed)
    raise ValueError(
        f"`data` must be {rule}. {NOTHING_SPENT} The engine's words ({failed}) are not repeated "
        "here, because they may quote records."
    )


def unquoted(name: str, given: object, rule: str, read: Callable[[], T]) -> T:
    """Return what is read of an array; of one that is refused no entry is quoted."""
    try:
        return read()
    except Exception as error:
        kind = type(error)
    raise _plain(kind)(
        f"`{name}` must {rule}, got {name} {check.kind_of(given)}. Which entry is wrong is not "
        "told: it may be protected."
    )


def _plain(kind: type[Exception]) -> type[Exception]:
    """Return what stands for an error of any kind."""
    return TypeError if issubclass(kind, TypeError) else ValueError
