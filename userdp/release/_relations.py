"""A DuckDB relation, whose columns are fetched through Arrow."""

import json
from typing import Any
from uuid import uuid4

from userdp.release._backends import ONE_AT_A_TIME
from userdp.release._columns import (
    as_argument,
    refuse_ids_beyond_float16,
    refuse_kind,
)
from userdp.release._frames import Frame
from userdp.release._plans import plan_query, plan_reads_objects, refuse_objects, refuse_scan
from userdp.release._quiet import quietly

LOSSLESS_TYPES = (
    *("tinyint", "smallint", "integer", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint"),
    *("float", "double", "decimal", "varchar", "enum", "blob", "uuid"),
    *("date", "timestamp", "timestamp with time zone"),
    *("timestamp_s", "timestamp_ms", "timestamp_ns"),
)
"""DuckDB types whose entries reach Arrow unchanged: others may lose a time zone or a digit."""


class Relation(Frame):
    """A DuckDB query, whose connection is not thread-safe."""

    ignore_case = True

    def check(self) -> None:
        with ONE_AT_A_TIME:
            super().check()
            for argument, name in self.wanted:
                dtype = self._type_of(name)
                if dtype.id not in LOSSLESS_TYPES:
                    refuse_kind(argument, f"{as_argument(argument, name)} of DuckDB's type {dtype}")
            dtype = self._type_of(self.user)
            if dtype.id == "blob":
                refuse_objects(self.user, dtype)

    def fetch(self) -> Any:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in self.wanted_names)
        with ONE_AT_A_TIME:
            requested = quietly(lambda: self.data.project(quoted))
            if quietly(lambda: plan_reads_objects(_plan_of(requested))):
                refuse_scan()
            table = quietly(requested.to_arrow_table)
            if self._type_of(self.user).id == "float":
                refuse_ids_beyond_float16(table[self.user])
        return table

    def _type_of(self, name: str) -> Any:
        return self.data.types[self.data.columns.index(name)]


def _plan_of(relation: Any) -> Any:
    """Return the plan of a relation through a view, because its connection is not accessible.

    Its `explain` is text that omits the last branches of a wide plan.
    """
    view = f"userdp_view_{uuid4().hex}"
    try:
        ((plan,),) = relation.query(view, plan_query(f"FROM {view}")).fetchall()
    finally:
        relation.query(view, f"DROP VIEW {view}")
    return json.loads(plan)
