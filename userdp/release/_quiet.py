"""Error messages that reveal no data: those of other libraries are not repeated.

A message of this package begins with the name of an argument and what it must be, and then shows
settings, types and shapes only (`_checks`). The message of a library or an engine may quote the
records on which it failed, so it is neither repeated nor attached.
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

OWN_MESSAGE = re.compile(r"`\w+`( and `\w+`)? must ")
"""How a message of this package begins."""

NOTHING_SPENT = "Nothing was released, and no budget was spent."
"""Part of messages of failures before the noise is drawn: the draw comes last."""

SEEDS = ("rng", "seed", "random_state")
"""Names by which other libraries take a seed; no function here has such a parameter."""

NO_SEED = (
    "not be given: a release has no seed, because anyone who knows it can subtract the noise. "
    "OpenDP draws from the operating system's entropy."
)

FAILED = "readable by its engine, which failed"
"""The rule in the message if an engine or a library fails on data."""

KINDS = (TypeError, ValueError, FileNotFoundError)
"""Exception types whose own message may be shown."""


def discreet(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose errors quote no data: every entry point of `userdp.release` is one.

    Nor does an error keep data alive. The frames of its traceback hold local variables, among them
    totals without noise, so only the frame of `guarded` is left, which deletes its arguments.
    """
    parameters = signature(function)

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            parameters.bind(*args, **kwargs)
        except TypeError as error:
            refusal: BaseException = TypeError(_message_of_bad_call(str(error), kwargs))
        else:
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                refusal = _without_data(error, function.__qualname__)
        # Raise outside the handlers, so that neither the error nor its context is attached.
        del args, kwargs
        raise refusal

    return guarded


def _message_of_bad_call(words: str, arguments: Mapping[str, object]) -> str:
    """Return Python's message, which names the missing or unknown argument, or one on seeds."""
    for name in SEEDS:
        if name in arguments:
            return f"`{name}` must {NO_SEED}"
    return words


def _without_data(error: BaseException, name: str) -> BaseException:
    """Return what the caller of a function may see of an error: a message, and no frames."""
    if isinstance(error, Warning) or not isinstance(error, Exception):
        # A warning is about settings; the other kinds stop the program, as Ctrl-C does.
        error.__cause__ = error.__context__ = None
        return error.with_traceback(None)
    kind = type(error)
    words = str(error)
    if isinstance(error, ImportError):  # names the library and the extra
        return ImportError(words)
    if kind is NotFoundError or (kind in KINDS and OWN_MESSAGE.match(words)):
        return kind(words)
    return _plain(kind)(
        f"{name} failed with a {kind.__name__}, whose message is not repeated "
        "here, because it may quote records."
    )


def quietly(
    call: Callable[[], T], rule: str = FAILED, explain: Callable[[str], None] | None = None
) -> T:
    """Return the result of a call into an engine; replace its errors by one that quotes no data.

    `explain` takes the name of the error's type, and raises an error of its own if it knows a cause
    that the user can remove.
    """
    try:
        return call()
    except KeyboardInterrupt:
        stopped = True
        failed = ""
    except Exception as error:
        stopped = str(error) == "Query interrupted"  # DuckDB's message after Ctrl-C
        failed = type(error).__name__
    # Raise outside the handler, so that the engine's error is not even attached.
    if stopped:
        raise KeyboardInterrupt(NOTHING_SPENT)
    if explain is not None:
        explain(failed)
    raise ValueError(
        f"`data` must be {rule}. {NOTHING_SPENT} The engine's message ({failed}) is not repeated "
        "here, because it may quote records."
    )


def unquoted(name: str, given: object, rule: str, read: Callable[[], T]) -> T:
    """Return what is read from an array; if that fails, the message quotes no entry."""
    try:
        return read()
    except Exception as error:
        kind = type(error)
    raise _plain(kind)(
        f"`{name}` must {rule}, got {name} {check.kind_of(given)}. The message omits "
        "which entry is wrong, because it may be protected."
    )


def _plain(kind: type[Exception]) -> type[Exception]:
    """Return the type that replaces an error of any kind."""
    return TypeError if issubclass(kind, TypeError) else ValueError
