"""Figures of the book, and the tables of their numbers. The only part that imports matplotlib."""

from userdp.plotting._drawing import (
    LOOKS,
    draw_error,
    draw_plan,
    label_budgets,
    label_errors,
    label_lines,
    label_ranks,
    label_ratios,
    plain_log_axis,
    seaborn_looks,
    use_book_style,
)
from userdp.plotting._tables import keep_record, write_table

__all__ = [
    "LOOKS",
    "draw_error",
    "draw_plan",
    "keep_record",
    "label_budgets",
    "label_errors",
    "label_lines",
    "label_ranks",
    "label_ratios",
    "plain_log_axis",
    "seaborn_looks",
    "use_book_style",
    "write_table",
]
