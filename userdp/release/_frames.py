"""Sources that are read into memory: arrays, and frames of pandas, polars and Arrow."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from userdp.release._columns import as_argument, comes_from, read_ids, read_places, read_values
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
        places = np.zeros(ids.codes.size, np.int16)
        if self.group is not None:
            places = read_places(table[self.group], rules.groups, as_argument("group", self.group))
        if len({column.size for column in (ids.codes, places, *values)}) > 1:
            raise ValueError("`data` must have columns of equal lengths.")
        return GroupsInMemory(ids, places, values, rules)


class LazyFrame(Frame):
    """A query of polars."""

    def names(self) -> Any:
        return self.data.collect_schema().names()

    def fetch(self) -> Any:
        return quietly(self.data.select(self.wanted_names).collect)


class ArrowTable(Frame):
    """A table of Arrow, or a batch of records."""

    def names(self) -> Any:
        return self.data.column_names


class Dataset(Frame):
    """A dataset of Arrow; types that differ between files, which Arrow would cast, are refused."""

    def names(self) -> Any:
        return self.data.schema.names

    def check(self) -> None:
        from pyarrow.dataset import get_partition_keys

        super().check()
        fragments = quietly(
            lambda: [(part, part.physical_schema) for part in self.data.get_fragments()]
        )
        for part, schema in fragments:
            owner = repr(getattr(part, "path", "a part"))
            by_folder = get_partition_keys(part.partition_expression)
            self.check_names([*schema.names, *by_folder], owner)
            for name in {*self.wanted_names} - set(by_folder):
                whole = self.data.schema.field(name).type
                refuse_difference(name, {"the dataset": whole, owner: schema.field(name).type})

    def fetch(self) -> Any:
        return quietly(lambda: self.data.to_table(columns=self.wanted_names))


def _refuse_indexes(columns: Sequence[Any]) -> None:
    """Raise if columns of pandas have different indexes."""
    of_pandas = [column for column in columns if comes_from("pandas", column)]
    indexes = [column.index for column in of_pandas if hasattr(column, "index")]
    if any(not index.equals(indexes[0]) for index in indexes[1:]):
        raise ValueError("`user` and `value` must have the same index, row by row.")
