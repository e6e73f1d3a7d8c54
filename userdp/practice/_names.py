"""Columns by their names: each is there once, and refusals say how they were asked for."""

from collections.abc import Iterable, Mapping
from typing import NoReturn

from userdp import _checks as check

HOLD = {"user": "ids", "value": "real numbers"}
"""What a column holds, by the name of its argument."""

ADVICE = {"user": " Pass whole numbers or text.", "value": ""}


def called(argument: str, name: str | None) -> str:
    """Return how a column was asked for: "user='driver'"."""
    return f"{argument}={name!r}"


def refuse_kind(argument: str, got: str, wanted: str | None = None) -> NoReturn:
    """Refuse a column for the type of what it holds: no entry is quoted."""
    rule = wanted or HOLD[argument]
    raise TypeError(f"`{argument}` must hold {rule}, got {got}.{ADVICE[argument]}")


def check_names(
    columns: Iterable[str],
    user: str,
    value: str | None,
    *,
    owner: str = "",
    fold: bool = False,
) -> None:
    """Refuse names that no column of `owner` has, or more than one.

    The names that are there are not told: they may be users, or the first record of a file without
    a heading. With `fold`, capital letters make no other name: to DuckDB they do not, which takes
    the first of two such columns.
    """
    there = list(columns)
    folded = [str(each).lower() if fold else each for each in there]
    for argument, name in {"user": user, "value": value}.items():
        if name is None:
            continue
        rule = None
        if name not in there:
            rule = "be the name of a column of `data`"
        elif folded.count(name.lower() if fold else name) > 1:
            rule = "be the name of one column of `data` only"
        if rule is not None:
            where = f", for {owner}" if owner else ""
            check.refuse(argument, rule, f"{check.shown(argument, name)}{where}")


def refuse_difference(name: str, kinds: Mapping[str, object]) -> None:
    """Refuse a column whose type is not the same for all owners: casts make two users one."""
    (first, kind), *others = kinds.items()
    for owner, other in others:
        if other != kind:
            raise TypeError(
                f"`data` must have one type in a column, got {name!r} of type {kind} in {first} "
                f"and of type {other} in {owner}. Write them alike first."
            )


def refuse_objects(name: str, kind: object) -> NoReturn:
    """Refuse users that may be addresses: where Python keeps an object, several for one person.

    DuckDB reads objects of polars as bytes, and some of pandas as text. The plan of a query tells
    that it reads a frame of pandas, but not whether the column is one of objects.
    """
    raise TypeError(
        f"`user` must not be what DuckDB may have made of Python's objects, which can be their "
        f"addresses, got {called('user', name)} of type {kind}. Pass the frame itself."
    )
