"""Records in an Ibis table, wherever it is: the steps run there, and a few numbers leave it."""

from threading import RLock
from typing import Any

from userdp.practice._grid import Grid
from userdp.practice._quiet import quietly
from userdp.practice._records import Records, Rules, Summed, Survey, Weighted

TESTED = ("duckdb", "pyspark")
"""Engines of which it is tested that they answer as arrays do."""

ONE_AT_A_TIME = RLock()
"""Connections of Ibis are not made for several threads."""

INT, FLOAT = "int64", "float64"

FAULTS = ("without_user", "odd_users", "without_value", "outside")


class Queries(Records):
    """Records in an Ibis table of users and values. Each question is one query.

    Tables may change between two queries; each answer says of which rows it was made.
    """

    def __init__(self, table: Any):
        self.table = table

    def survey(self, rules: Rules) -> Survey:
        """Count rows and users."""
        rows = self._marked(rules)
        users = rows.group_by("user").aggregate(**_counted(rows))
        return _survey(_answers(users, {}))

    def clipped_total(self, rules: Rules, grid: Grid, lowest: int, highest: int) -> Summed:
        """Add up each user's levels less the origin, clip the sums, add them up; count again."""
        users = self._users(rules, grid)
        clipped = _between(users.total, lowest, highest).cast(INT)
        answers = _answers(users, {"total": clipped.sum()})
        return Summed(sum(int(row["total"]) for row in answers), _survey(answers))

    def weighted_total(self, rules: Rules, grid: Grid, reach: int, cap: int) -> Weighted:
        """Clip each user's average level, less the origin, to +-reach; add up, with weights."""
        import ibis

        users = self._users(rules, grid)
        weight = ibis.least(users["size"], cap).cast(FLOAT)
        share = weight / ibis.greatest(users["size"], 1).cast(FLOAT)
        moved = (users.total.cast(FLOAT) * share + exact(0.5)).floor()
        clipped = _between(moved, -reach * weight, reach * weight).cast(INT)
        answers = _answers(users, {"total": clipped.sum(), "weight": weight.cast(INT).sum()})
        total, weights = (sum(int(row[name]) for row in answers) for name in ("total", "weight"))
        return Weighted(total, weights, _survey(answers))

    def _users(self, rules: Rules, grid: Grid) -> Any:
        """Return one row a user, with counts, and the sum of levels less the origin."""
        import ibis

        rows = self._marked(rules)
        inside = _between(rows.value, exact(grid.lower), exact(grid.upper))
        place = (inside - exact(grid.lower)) * exact(grid.levels_a_unit) + exact(0.5)
        level = _between(place.floor().cast(INT), 0, grid.top) - grid.origin
        level = ibis.ifelse(rows.no_value, 0, level)
        total = level.sum(where=rows.kept).coalesce(0).cast(INT)
        return rows.group_by("user").aggregate(**_counted(rows), total=total)

    def _marked(self, rules: Rules) -> Any:
        """Return the rows, with what is wrong with each, and whether it counts."""
        import ibis

        user, value = self.table.user, self.table.value
        no_user, odd = user.isnull(), user.isnull() & False
        if user.type().is_floating():
            no_user = no_user | user.isnan()
            most = 2.0**24 if user.type().is_float32() else 2.0**53
            held = user.abs() <= most
            small = ibis.ifelse(held, user, 0.0)  # whose floor fits 64 bits
            odd = ~no_user & (~held | (small != small.floor()))
        no_value = value.isnull() | value.isnan()
        outside = ~no_value & ~value.between(exact(rules.lower), exact(rules.upper))
        kept = ~no_user
        if rules.drop_missing:
            kept = kept & ~no_value
        if rules.drop_outside:
            kept = kept & ~outside
        marks = {"no_user": no_user, "odd": odd, "no_value": no_value, "outside": outside}
        return self.table.mutate(**marks, kept=kept)


def exact(number: float) -> Any:
    """Return a float for a query: engines read a bare literal as a decimal, and may round it."""
    import ibis

    return ibis.literal(repr(float(number))).cast(FLOAT)


def ask(question: Any) -> list[dict[str, Any]]:
    """Return the rows that answer a question."""
    with ONE_AT_A_TIME:
        answer: list[dict[str, Any]] = quietly(
            lambda: question.to_pyarrow().to_pylist(),
            "readable by its engine, which failed (in a CSV file, leave missing values empty)",
        )
    return answer


def _counted(rows: Any) -> dict[str, Any]:
    """Count what is wrong, by users, and the rows that count."""
    return {
        "size": rows.count(where=rows.kept),
        "without_user": rows.count(where=rows.no_user),
        "odd_users": rows.count(where=rows.odd),
        "without_value": rows.count(where=~rows.no_user & rows.no_value),
        "outside": rows.count(where=~rows.no_user & rows.outside),
    }


def _answers(users: Any, sums: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask for one row for each number of rows that a user has."""
    faults = {name: users[name].sum() for name in FAULTS}
    return ask(users.group_by("size").aggregate(users=users.count(), **faults, **sums))


def _survey(answers: list[dict[str, Any]]) -> Survey:
    rows = sorted((int(row["size"]), int(row["users"])) for row in answers if row["size"])
    sizes, users = tuple(size for size, _ in rows), tuple(n for _, n in rows)
    return Survey(sizes, users, *(sum(int(row[name]) for row in answers) for name in FAULTS))


def _between(column: Any, lowest: Any, highest: Any) -> Any:
    """Return a column without nulls, clipped: in SQL that can be read, as that of `clip` cannot."""
    import ibis

    return ibis.least(ibis.greatest(column, lowest), highest)
