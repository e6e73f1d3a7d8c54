"""Sources that are read into memory: arrays, and frames of pandas, polars and Arrow."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from userdp.release._columns import (
    as_argument,
    comes_from,
    read_group_indices,
    read_ids,
    read_values,
)
from userdp.release._grouped import GroupRules, GroupsInMemory
from userdp.release._quiet import quietly
from userdp.release._rows import Rules
from userdp.release._source import Source, refuse_difference
from userdp.release._tally import TallyInMemory

LABELS = {"user": "user", "value": "value"}
"""What error messages call columns without names, by argument."""


class Arrays:
    """Two columns in memory; the second is None if only users are needed."""

    def __init__(self, user: Any, value: Any, label_of: Mapping[str, str] = LABELS) -> None:
        self.user = user
        self.value = value
        self.label_of = label_of

    def check(self) -> None:
        if self.user is self.value:
            raise ValueError("`value` must be a different column from `user`.")
        _refuse_indexes([self.user, self.value])

    def read(self, rules: Rules) -> TallyInMemory:
        ids = read_ids(self.user, self.label_of["user"])
        if self.value is None:
            return TallyInMemory(ids, np.full(ids.codes.size, rules.grid.lower), rules)
        values = read_values(self.value, self.label_of["value"])
        if ids.codes.size != values.size:
            raise ValueError(
                f"`user` and `value` must have equal lengths, "
                f"got {ids.codes.size} and {values.size}."
            )
        return TallyInMemory(ids, values, rules)


class Frame(Source):
    """Data with columns by name: a mapping, or a frame."""

    def fetch(self) -> Any:
        """Return the columns in memory, by name."""
        return self.data

    def read(self, rules: Rules | GroupRules) -> TallyInMemory | GroupsInMemory:
        table = self.fetch()
        if isinstance(rules, GroupRules):
            return self.groups_of(table, rules)
        values = table[self.values[0]] if self.values else None
        label_of = {argument: as_argument(argument, name) for argument, name in self.wanted}
        arrays = Arrays(table[self.user], values, label_of)
        arrays.check()
        return arrays.read(rules)

    def groups_of(self, table: Any, rules: GroupRules) -> GroupsInMemory:
        """Return the tally of columns in memory."""
        columns = [table[name] for name in self.wanted_names]
        _refuse_indexes(columns)
        ids = read_ids(table[self.user], as_argument("user", self.user))
        values = [read_values(table[name], as_argument("value", name)) for name in self.values]
        group_indices = np.zeros(ids.codes.size, np.int16)
        if self.group is not None:
            group_indices = read_group_indices(
                table[self.group], rules.groups, as_argument("group", self.group)
            )
        if len({column.size for column in (ids.codes, group_indices, *values)}) > 1:
            raise ValueError("`data` must have columns of equal lengths.")
        return GroupsInMemory(ids, group_indices, values, rules)


class LazyFrame(Frame):
    """A polars query."""

    def names(self) -> Any:
        return self.data.collect_schema().names()

    def fetch(self) -> Any:
        return quietly(self.data.select(self.wanted_names).collect)


class ArrowTable(Frame):
    """An Arrow table, or a record batch."""

    def names(self) -> Any:
        return self.data.column_names


class Dataset(Frame):
    """An Arrow dataset; types that differ between files, which Arrow would cast, are refused."""

    def names(self) -> Any:
        return self.data.schema.names

    def check(self) -> None:
        from pyarrow.dataset import get_partition_keys

        super().check()
        fragments = quietly(
            lambda: [(each, each.physical_schema) for each in self.data.get_fragments()]
        )
        for fragment, schema in fragments:
            owner = repr(getattr(fragment, "path", "a part"))
            folder_keys = get_partition_keys(fragment.partition_expression)
            self.check_names([*schema.names, *folder_keys], owner)
            for name in {*self.wanted_names} - set(folder_keys):
                common = self.data.schema.field(name).type
                refuse_difference(name, {"the dataset": common, owner: schema.field(name).type})

    def fetch(self) -> Any:
        return quietly(lambda: self.data.to_table(columns=self.wanted_names))


def _refuse_indexes(columns: Sequence[Any]) -> None:
    """Raise if pandas columns have different indexes."""
    pandas_columns = [column for column in columns if comes_from("pandas", column)]
    indexes = [column.index for column in pandas_columns if hasattr(column, "index")]
    if any(not index.equals(indexes[0]) for index in indexes[1:]):
        raise ValueError("`user` and `value` must have the same index, row by row.")
