"""Base class of sources: columns by name, checks, and a method that returns the tally."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from userdp import _checks as check
from userdp.release._grouped import GroupRules, GroupTally
from userdp.release._rows import Rules
from userdp.release._tally import Tally


class Source(ABC):
    """Columns of data of one kind: of users, of values (none, one or several), and of groups."""

    ignore_case = False
    """Whether names are compared without case, as DuckDB does, which takes the first match."""

    def __init__(
        self, user: str, value: str | Sequence[str] | None, data: Any, group: str | None = None
    ) -> None:
        self.user = user
        self.group = group
        self.data = data
        several = value is not None and not isinstance(value, str)
        self.in_groups = several or group is not None
        self.values = [value] if isinstance(value, str) else [*(value or ())]
        self.wanted = [("user", user)]
        """The names of the columns, each with the argument that names it."""
        self.wanted += [("value", name) for name in self.values]
        if group is not None:
            self.wanted.append(("group", group))

    @property
    def wanted_names(self) -> list[str]:
        """The names of the columns."""
        return [name for _, name in self.wanted]

    def names(self) -> Any:
        """Return the names of all columns."""
        return getattr(self.data, "columns", self.data)

    def check(self) -> None:
        """Raise if a name, or a type that is known before a row is read, is invalid."""
        self.check_names(self.names())

    @abstractmethod
    def read(self, rules: Rules | GroupRules) -> Tally | GroupTally:
        """Return the tally, a context manager to be closed soon."""

    def check_names(self, columns: Iterable[str], owner: str = "") -> None:
        """Raise unless each wanted name is that of exactly one column of `owner`.

        The message does not list existing names: they may be users, or the first record of a file
        without a heading.
        """
        existing = list(columns)
        folded = [str(each).lower() if self.ignore_case else each for each in existing]
        for argument, name in self.wanted:
            rule = None
            if name not in existing:
                rule = "be the name of a column of `data`"
            elif folded.count(name.lower() if self.ignore_case else name) > 1:
                rule = "be the name of exactly one column of `data`"
            if rule is not None:
                where = f", for {owner}" if owner else ""
                check.refuse(argument, rule, f"{check.shown(argument, name)}{where}")


def refuse_difference(name: str, kinds: Mapping[str, object]) -> None:
    """Raise if a column has different types in different owners: a cast may merge two users."""
    (first, kind), *others = kinds.items()
    for owner, other in others:
        if other != kind:
            raise TypeError(
                f"`data` must have one type per column, got {name!r} of type {kind} in {first} "
                f"and of type {other} in {owner}. Convert them to one type first."
            )
