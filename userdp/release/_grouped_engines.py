"""The tally of a table in groups in an engine: one scan there, one row per user and group."""

from __future__ import annotations

from typing import Any

from userdp.release._backends import FLOAT, INT, Backend, run_query
from userdp.release._columns import written_number
from userdp.release._engines import (
    TableOfUsers,
    TemporaryTable,
    between,
    exact,
    is_invalid_float,
    is_null_user,
    level_of,
)
from userdp.release._grid import Window, in_steps
from userdp.release._grouped import (
    UNLISTED,
    GroupRules,
    GroupSurvey,
    GroupTally,
    InfluenceClipping,
    Widths,
    surveys,
)
from userdp.release._rows import Survey

SUMS = ("high", "low", "n_levels")
"""Columns of the tally for each column of values: sums of halves of levels, and their number."""

FAULTS = ("without_user", "invalid_floats", "without_value", "outside")


class GroupsInEngine(GroupTally):
    """One row per user and group in a temporary table of an engine.

    Parameters
    ----------
    table : TemporaryTable
        The result of `pairs_of`.
    n_groups : int
        The length of the public list of groups.
    """

    def __init__(self, table: TemporaryTable, n_groups: int) -> None:
        self.table = table
        self.rows = table.rows
        self.n_groups = n_groups
        self.pairs = self.rows.filter((self.rows["size"] > 0) & (self.rows.group_index != UNLISTED))

    def close(self) -> None:
        self.table.close()

    def survey(self) -> GroupSurvey:
        faults = {name: self.rows[name].sum() for name in FAULTS}
        query = self.rows.group_by(["group_index", "size"]).aggregate(
            n_users=self.rows.count(), **faults
        )
        rows = run_query(query)
        counts = [
            (int(row["group_index"]), int(row["size"]), int(row["n_users"]))
            for row in rows
            if row["size"] and row["group_index"] != UNLISTED
        ]
        unlisted = sum(
            int(row["size"] * row["n_users"]) for row in rows if row["group_index"] == UNLISTED
        )
        totals = {name: sum(int(row[name]) for row in rows) for name in FAULTS}
        return GroupSurvey(surveys(counts, self.n_groups), Survey((), (), **totals), unlisted)

    def links(self) -> dict[tuple[int, int], int]:
        window = _per_user()
        rows = self.pairs.select(
            group_index=self.pairs.group_index,
            first=self.pairs.group_index.min().over(window),
            n_groups=self.pairs.count().over(window),
        )
        query = rows.group_by(["first", "group_index"]).aggregate(n_groups=rows.n_groups.max())
        return {
            (int(row["first"]), int(row["group_index"])): int(row["n_groups"])
            for row in run_query(query)
        }

    def influences(self, influence_per_record: dict[int, int], ranks: list[int]) -> list[int]:
        import ibis

        some = self._among(influence_per_record)
        users = some.group_by("user").aggregate(influence=_influence(some, influence_per_record))
        ranked = users.mutate(position=ibis.row_number().over(order_by=ibis.desc("influence")))
        rows = run_query(ranked.filter(ranked.position.isin([rank - 1 for rank in ranks])))
        of_rank = {int(row["position"]) + 1: int(row["influence"]) for row in rows}
        return [of_rank.get(rank, 0) for rank in ranks]

    def widths(self, clippings: list[InfluenceClipping]) -> list[Widths]:
        rows, side_names = self._with_side_widths(clippings)
        both = {
            f"both_{k}": sum(rows[name] * clipping.length_counts[x] for x, name in names.items())
            for k, (clipping, names) in enumerate(zip(clippings, side_names, strict=True))
        }
        all_names = [name for names in side_names for name in names.values()]
        sums = rows.group_by("group_index").aggregate(
            **{name: rows[name].sum() for name in all_names}
        )
        users = rows.group_by("user").aggregate(**{name: w.sum() for name, w in both.items()})
        row_of_group = {int(row["group_index"]): row for row in run_query(sums)}
        (largest,) = run_query(users.aggregate(**{name: users[name].max() for name in both}))
        all_widths = []
        for name_of_both, clipping, names in zip(both, clippings, side_names, strict=True):
            rows_of = [
                row_of_group.get(group_index, {}) for group_index in clipping.influence_per_record
            ]
            width_sums = {
                length: tuple(int(row.get(name, 0)) for row in rows_of)
                for length, name in names.items()
            }
            all_widths.append(Widths(width_sums, int(largest[name_of_both])))
        return all_widths

    def totals(
        self,
        clipping: InfluenceClipping,
        column: int,
        steps_per_level: dict[int, float],
        origin: int,
    ) -> list[int]:
        rows, (names,) = self._with_side_widths([clipping])
        below, above = (rows[names[length]] for length in clipping.side_lengths[column])
        high, low, n_levels = (rows[f"{name}_{column}"] for name in SUMS)
        levels = in_steps(high, low, n_levels, Window(origin, 0, 0, 0)).cast(FLOAT)
        contributions = (levels * _by_group(rows, steps_per_level) + exact(0.5)).floor().cast(INT)
        clipped = between(contributions, 0 - below, above)
        clipped_rows = rows.select(group_index=rows.group_index, clipped=clipped)
        sums = clipped_rows.group_by("group_index").aggregate(total=clipped_rows.clipped.sum())
        totals = {int(row["group_index"]): int(row["total"]) for row in run_query(sums)}
        return [totals.get(group_index, 0) for group_index in clipping.influence_per_record]

    def cell(self, column: int, group_index: int) -> TableOfUsers:
        some = self.pairs.filter(self.pairs.group_index == group_index)
        columns = {name: some[f"{name}_{column}"] for name in SUMS}
        return TableOfUsers(some.select(size=some["size"], **columns))

    def _among(self, group_indices: dict[int, Any]) -> Any:
        return self.pairs.filter(self.pairs.group_index.isin([*group_indices]))

    def _with_side_widths(
        self, clippings: list[InfluenceClipping]
    ) -> tuple[Any, list[dict[float, str]]]:
        """Return the rows of some groups with their widths, and the names of these by side length.

        There is one dict of names per clipping. The clippings differ only in their thresholds.
        """
        import ibis

        first = clippings[0]
        some = self._among(first.influence_per_record)
        rows = some.mutate(
            influence=_influence(some, first.influence_per_record).over(_per_user()).cast(FLOAT),
            unclipped=some["size"].cast(FLOAT) * _by_group(some, first.half_range_steps),
        )
        names = [
            {length: f"width_{k}_{i}" for i, length in enumerate(clipping.length_counts)}
            for k, clipping in enumerate(clippings)
        ]
        side_widths = {}
        for clipping, name_of in zip(clippings, names, strict=True):
            for length, name in name_of.items():
                factor = ibis.least(exact(clipping.threshold) / rows.influence, exact(length))
                side_widths[name] = (rows.unclipped * factor).floor().cast(INT)
        return rows.mutate(**side_widths), names


def pairs_of(records: Any, rules: GroupRules, backend: Backend) -> Any:
    """Return the query of the tally: one row per user and group, from one scan."""
    import ibis

    columns = {}
    for i, grid in enumerate(rules.grids):
        value = records[f"value_{i}"]
        present = value.notnull() & ~value.isnan()
        inside = value.between(exact(grid.lower), exact(grid.upper))
        columns[f"level_{i}"] = ibis.ifelse(present, level_of(value, grid), None)
        columns[f"outside_{i}"] = present & ~inside
    keys = [name for name in ("user", "group") if name in records.columns]
    rows = records.select(*keys, **columns)
    sums: dict[str, Any] = {"n_rows": rows.count()}
    for i in range(len(rules.grids)):
        level = rows[f"level_{i}"]
        sums[f"n_levels_{i}"] = level.count()
        sums[f"outside_{i}"] = rows.count(where=rows[f"outside_{i}"])
        for name, half in backend.sum_in_halves(level).items():
            sums[f"{name}_{i}"] = half.coalesce(0).cast(INT)
    pairs = rows.group_by(keys).aggregate(**sums)
    group_index = ibis.literal(0).cast(INT)
    if "group" in keys:
        group_index = _group_index(pairs.group, rules.groups, backend)
    no_user = is_null_user(pairs.user)
    invalid = is_invalid_float(pairs.user, backend) & ~no_user
    names = [name for name in sums if not name.startswith(("n_rows", "outside"))]
    without_value, outside = ibis.literal(0), ibis.literal(0)
    for i in range(len(rules.grids)):
        without_value = without_value + pairs.n_rows - pairs[f"n_levels_{i}"]
        outside = outside + pairs[f"outside_{i}"]
    of_pairs = {"size": pairs.n_rows, "without_value": without_value, "outside": outside}
    return pairs.select(
        user=pairs.user,
        group_index=group_index,
        without_user=ibis.ifelse(no_user, pairs.n_rows, 0),
        invalid_floats=ibis.ifelse(invalid, pairs.n_rows, 0),
        **{name: ibis.ifelse(no_user, 0, column) for name, column in of_pairs.items()},
        **{name: pairs[name] for name in names},
    )


def _group_index(group: Any, groups: tuple[str, ...], backend: Backend) -> Any:
    """Return the index of a group in the public list."""
    import ibis

    if group.type().is_integer():
        numbers = {i: written_number(name) for i, name in enumerate(groups)}
        least, most = group.type().bounds
        branches = [
            (group == number, i)
            for i, number in numbers.items()
            if number is not None and least <= number <= most
        ]
    else:
        names = [backend.as_bytes(ibis.literal(name)) for name in groups]
        branches = [(group == name, i) for i, name in enumerate(names)]
    if not branches:
        return ibis.literal(UNLISTED).cast(INT)
    return ibis.cases(*branches, else_=UNLISTED).cast(INT)


def _per_user() -> Any:
    """Return the window of all rows of a user."""
    import ibis

    return ibis.window(group_by="user")


def _influence(rows: Any, influence_per_record: dict[int, int]) -> Any:
    return (rows["size"] * _by_group(rows, influence_per_record)).sum().cast(INT)


def _by_group(rows: Any, numbers: dict[int, Any]) -> Any:
    """Return the entry of `numbers` for each row's group, which must have one."""
    import ibis

    are_floats = any(isinstance(number, float) for number in numbers.values())
    literal = exact if are_floats else int
    branches = [
        (rows.group_index == group_index, literal(number))
        for group_index, number in numbers.items()
    ]
    return ibis.cases(*branches, else_=literal(0))
