"""An Ibis table: its columns stay in the engine."""

from collections.abc import Callable
from functools import partial
from typing import Any

from userdp.release._backends import (
    FLOAT,
    ONE_AT_A_TIME,
    Backend,
    backend_of,
    refuse_overridden_functions,
)
from userdp.release._columns import as_argument, refuse_kind
from userdp.release._engines import TallyInEngine, TemporaryTable, tally_of
from userdp.release._grouped import GroupRules
from userdp.release._grouped_engines import GroupsInEngine, pairs_of
from userdp.release._plans import refuse_objects, refuse_scan
from userdp.release._quiet import quietly
from userdp.release._rows import Rules
from userdp.release._source import Source


class IbisTable(Source):
    """A table of DuckDB or Spark."""

    ignore_case = True
    table: Any
    """The table itself, or that of the files."""
    backend: Backend

    def names(self) -> Any:
        return getattr(self.data, "columns", ())

    def check(self) -> None:
        super().check()
        self.table = self.data
        self.backend = backend_of(self.table)
        self.check_users()
        dtype = self.table[self.user].type()
        if dtype.is_binary():
            refuse_objects(self.user, dtype)
        self.records()  # raises if values are not numbers

    def read(self, rules: Rules | GroupRules) -> TallyInEngine | GroupsInEngine:
        records = self.records()
        if records.user.type().is_string():
            records = records.mutate(user=self.backend.as_bytes(records.user))
        with ONE_AT_A_TIME:
            refuse_overridden_functions(self.backend)
            if quietly(lambda: self.backend.reads_objects(records)):
                refuse_scan()
        return self.tally(records, rules)

    def tally(
        self,
        records: Any,
        rules: Rules | GroupRules,
        disconnect: Callable[[], None] | None = None,
        explain: Callable[[str], None] | None = None,
    ) -> TallyInEngine | GroupsInEngine:
        """Return the tally of records."""

        def keep(query_of: Callable[..., Any]) -> TemporaryTable:
            make_query = partial(query_of, records, rules, self.backend)
            return TemporaryTable(make_query, self.backend, disconnect, explain)

        if isinstance(rules, GroupRules):
            return GroupsInEngine(keep(pairs_of), len(rules.groups))
        return TallyInEngine(keep(tally_of))

    def check_users(self) -> None:
        """Raise if users are of another type: a time of day may have a zone that Ibis hides."""
        dtype = self.table[self.user].type()
        is_number = dtype.is_integer() or dtype.is_floating() or dtype.is_decimal()
        is_time = dtype.is_date() or dtype.is_timestamp()
        is_name = dtype.is_string() or dtype.is_binary() or dtype.is_uuid()
        if not (is_number or is_time or is_name):
            refuse_kind("user", f"{as_argument('user', self.user)} of type {dtype}")

    def records(self) -> Any:
        """Return a table of users and values, which are zeros if no values are needed."""
        columns = {"user": self.table[self.user]}
        numbers = [self.numbers(name).cast(FLOAT) for name in self.values]
        if self.in_groups:
            if self.group is not None:
                columns["group"] = self.groups(self.group)
            columns |= {f"value_{i}": column for i, column in enumerate(numbers)}
            return self.table.select(**columns)
        if not numbers:
            return self.table.select(**columns).mutate(value=0.0)
        return self.table.select(**columns, value=numbers[0])

    def groups(self, group: str) -> Any:
        """Return a column of groups, text as bytes."""
        column = self.table[group]
        dtype = column.type()
        if not (dtype.is_string() or dtype.is_integer()):
            refuse_kind("group", f"{as_argument('group', group)} of type {dtype}")
        return column if dtype.is_integer() else self.backend.as_bytes(column)

    def numbers(self, value: str) -> Any:
        """Return a column whose entries an engine casts to the nearest floats."""
        column = self.table[value]
        dtype = column.type()
        if dtype.is_decimal():
            return column.cast("string")
        if not dtype.is_numeric() or dtype.is_boolean():
            refuse_kind("value", f"{as_argument('value', value)} of type {dtype}")
        return column
