"""Small tables, as plain text and as HTML for notebooks."""

from collections.abc import Sequence
from html import escape

import numpy as np

Rows = Sequence[Sequence[str]]


def readable(number: float) -> str:
    """Return four digits of a number, or all before its point."""
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e12 else f"{number:.4g}"


def text_table(head: Sequence[str], rows: Rows) -> str:
    """Return columns of text, aligned on the left."""
    lines = [list(head), *map(list, rows)] if head else list(map(list, rows))
    widths = [max(map(len, column)) for column in np.transpose(lines)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def html_table(head: Sequence[str], rows: Rows) -> str:
    """Return an HTML table whose first column names the rows."""
    names = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    lines = (
        f"<tr><th scope='row'>{escape(first)}</th>"
        + "".join(f"<td>{escape(text)}</td>" for text in others)
        + "</tr>"
        for first, *others in rows
    )
    above = f"<thead><tr>{names}</tr></thead>" if head else ""
    return f"<table class='dataframe'>{above}<tbody>{''.join(lines)}</tbody></table>"
