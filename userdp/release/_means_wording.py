"""Wording of several means: as tables, and as lines to publish."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING
from typing import Any

from userdp import _checks as check
from userdp.beyond._rounding import downwards, upwards
from userdp.release._wording import (
    FIXED_BEFORE,
    Rows,
    at_most,
    in_words,
    numbered,
    privacy,
    read_words,
    readable,
    replaced_values,
    replacement_rules,
    stated_budget,
    table_description,
)

Table = tuple[list[str], Rows]
"""A head, and rows."""


def means_table(result: Any) -> Table:
    """Return a row for each mean."""
    head = [result.group or "", "private mean", "95 % interval", "error at most"]
    head += ["records", "users", "strategy"]
    rows = []
    for entry in result.means:
        counts = [f"{entry.n_records:,}", f"{entry.n_users:,}"]
        rows.append([_name(entry, result), *_numbers(entry), *counts, entry.strategy])
    return head, rows


def _numbers(entry: Any) -> list[str]:
    """Return mean, interval and error as text: dashes where there are no records."""
    if entry.mean is None:
        return ["-"] * 3
    low, high = entry.interval()
    interval = f"{downwards(low)} to {upwards(high)}"
    return [f"{entry.mean:.6g}", interval, readable(entry.worst_case_error, ROUND_CEILING)]


def below_means(result: Any) -> Rows:
    """Return the rows about all means of a table together."""
    rows = [["budget of all means", stated_budget(result)]]
    if result.of:
        rows.insert(0, ["data", result.of])
    if result.centre:
        centres = ", ".join(f"{name} {centre:.4g}" for name, centre in result.centre.items())
        rows.append(["clipped around", centres])
    rules = replaced_values(result.outside, result.missing)
    rows.append(["error", f"mean absolute error on the worst dataset{rules}"])
    for strategy, other in (("joint", "divided"), ("divided", "joint")):
        names = [
            _name(entry, result)
            for entry in result.means
            if entry.strategy == strategy and _is_better_otherwise(entry)
        ]
        if names:
            shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
            number = f"{len(names)} of {len(result.means)}"
            rows.append([f'smaller error if "{other}"', f"{number}: {shown}"])
    return rows


def _is_better_otherwise(entry: Any) -> bool:
    return entry.other_error is not None and entry.other_error < entry.worst_case_error


def _name(entry: Any, result: Any) -> str:
    """Return the name of a mean in a table: its column, its group, or both."""
    columns = {each.column for each in result.means}
    if result.group is None:
        return str(entry.column)
    return f"{entry.column}, {entry.group}" if len(columns) > 1 else str(entry.group)


def forecast_table(plan: Any) -> Table:
    """Return a row for each mean and budget of a plan."""
    head = ["eps", "column", plan.group or "", "users", "records", "joint", "divided"]
    head += ["constant", "best"]
    rows = []
    for row in plan.rows:
        errors = [
            "-" if error is None else readable(error, ROUND_CEILING)
            for error in (row.joint, row.divided, row.constant)
        ]
        counts = [f"{row.n_users:,}", f"{row.n_records:,}"]
        rows.append([upwards(row.eps, 4), row.column, row.group, *counts, *errors, row.best])
    return head, rows


def means_sentence(result: Any, unit: str | Mapping[str, str], users: str, records: str) -> str:
    """Return a line for each mean, and what protects the users in all of them together."""
    if not isinstance(unit, str | Mapping):
        check.refuse_kind("unit", "text, or a mapping of columns to text", unit)
    names = [*dict.fromkeys(entry.column for entry in result.means)]
    units = unit if isinstance(unit, Mapping) else dict.fromkeys(names, unit)
    words = read_words("", users, records)
    by_group = f" by {result.group}" if result.group else ""
    rules = replacement_rules(result.outside, result.missing)
    if not result.centre:
        rules = rules.replace(FIXED_BEFORE, "the middle of the bounds")
    lines = [f"Means of {' and '.join(names)}{by_group}{table_description(result)}{rules}:"]
    for entry in result.means:
        where = f", {result.group} {entry.group}" if result.group else ""
        lines.append(
            f"- {entry.column}{where}: {_line(entry, units.get(entry.column, ''), users, records)}"
        )
    exact = "the exact mean computed in this way" if rules else "the exact mean"
    together = "; that all of them do is less likely" if len(lines) > 2 else ""
    lines.append(
        f"Mean errors are averages over the noise, and hold whatever the {records} are. Each "
        f"interval contains {exact} with a probability of 95 %{together}."
    )
    protected = privacy(result, words, f"the values of the {records}")
    lines.append(f"{_sharing(result, users)}{protected}")
    lines.append(f"The number of {records} of each of the {users}{by_group} is not protected.")
    return "\n".join(lines)


def _sharing(result: Any, users: str) -> str:
    """Return a sentence on whether means share the budget."""
    strategies = {entry.strategy for entry in result.means if entry.mean is not None}
    if strategies & {"joint", "divided"}:
        return "All means share one budget. "
    return "" if len(result.means) == 1 else f"Each of the {users} contributes to one mean only. "


def _line(entry: Any, unit: str, users: str, records: str) -> str:
    if entry.mean is None:
        return f"no {records}"
    read_words(unit, users, records)
    mean, low, high = in_words(entry.mean, entry.interval(), entry.worst_case_error)
    counts = f"{numbered(entry.n_records, records)} of {numbered(entry.n_users, users)}"
    error = at_most(entry.worst_case_error)
    bound = ", which is one of the bounds" if entry.mean in (entry.lower, entry.upper) else ""
    return (
        f"{mean}{unit and f' {unit}'}{bound} ({counts}; mean error at most {error}; 95 % "
        f"interval: {low} to {high})"
    )
