"""What every kind of source has: two columns by name, checks, and one way to a tally."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from userdp import _checks as check
from userdp.release._rows import Rules
from userdp.release._tally import Tally


class Source(ABC):
    """Two columns of data of one kind: of users and, unless None is asked for, of values."""

    fold = False
    """Whether capital letters make no other name, as to DuckDB, which takes the first of two."""

    def __init__(self, user: str, value: str | None, data: Any) -> None:
        self.wanted = {"user": user} if value is None else {"user": user, "value": value}
        self.user = user
        self.value = value
        self.data = data

    def names(self) -> Any:
        """Return the names of all columns."""
        return getattr(self.data, "columns", self.data)

    def check(self) -> None:
        """Refuse names, and types where they are known, before a row is read."""
        self.check_names(self.names())

    @abstractmethod
    def read(self, rules: Rules) -> Tally:
        """Return the tally: a context, to be left soon."""

    def check_names(self, columns: Iterable[str], owner: str = "") -> None:
        """Refuse names that no column of `owner` has, or more than one.

        The names that are there are not told: they may be users, or the first record of a file
        without a heading.
        """
        there = list(columns)
        folded = [str(each).lower() if self.fold else each for each in there]
        for argument, name in self.wanted.items():
            rule = None
            if name not in there:
                rule = "be the name of a column of `data`"
            elif folded.count(name.lower() if self.fold else name) > 1:
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
