"""A Sphinx extension: tables that cells print, formatted for readers.

On a page, rows of a pandas table are not numbered unless the numbers mean something, column heads
are words and symbols instead of identifiers, and columns of text are aligned left. The style sheet
does the rest.
"""

import re
from html import escape
from itertools import pairwise

from bs4 import BeautifulSoup

TABLE = re.compile(r'<table border="1" class="dataframe">.*?</table>', re.DOTALL)
NUMBER = re.compile(r"[-+\u2212±]?[\d.,]+([/%eε\u00d7·]|\s|\[|\(|$)|[-\u2013…]?$|\.\.\.$|nan$|inf$")
COLUMN = re.compile(r"[a-z]+(_[a-z]+)+")  # an identifier with underscores
SYMBOLS = {"eps": "ε", "tau": "τ"}
INDEX = re.compile(r"\b([^\W\d_])_(\w)\b")
SYMBOL = re.compile(rf"\b({'|'.join(SYMBOLS)})\b")


def in_words(head):
    """Return a column head with words and symbols for identifiers."""
    words = head.replace("_", " ") if COLUMN.fullmatch(head) else head
    return SYMBOL.sub(lambda match: SYMBOLS[match[0]], words)


def only_number_rows(cells):
    """Whether the first cells of all rows only number the rows, starting anywhere."""
    texts = [cell.get_text() for cell in cells if cell.get_text() != "..."]
    if not all(text.isdecimal() for text in texts):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(texts)}
    skipped = len(texts) < len(cells)
    return bool(texts) and (steps <= {1} or skipped)


def drop_row_counter(heads, rows):
    """Remove the first column if it has no head and only numbers the rows."""
    first = [row.find(["th", "td"]) for row in rows]
    corners = [row.find("th") for row in heads]
    has_spans = any(cell.has_attr("rowspan") for cell in (*first, *corners))
    has_heads = any(corner.get_text() for corner in corners)
    if (
        not has_spans
        and not has_heads
        and {cell.name for cell in first} == {"th"}
        and only_number_rows(first)
    ):
        for cell in (*corners, *first):
            cell.decompose()


def mark_words(heads, rows):
    """Mark columns of words and their heads, which are aligned left; numbers are aligned right."""
    columns = list(zip(*(row.find_all("td") for row in rows), strict=True))
    for position, cells in enumerate(reversed(columns), 1):
        if not all(NUMBER.match(cell.get_text()) for cell in cells):
            heads_above = [
                row.find_all("th")[-position] for row in heads if not row.find(colspan=True)
            ]
            for cell in (*heads_above, *cells):
                cell["class"] = "words"


def tidy_table(match):
    """Return a pandas table formatted for readers."""
    page = BeautifulSoup(match[0], "html.parser")
    heads, rows = page.thead.find_all("tr"), page.tbody.find_all("tr")
    del page.table["border"]
    for row in heads:
        del row["style"]
    for head in page.find_all("th"):
        if not head.find(True):
            words = INDEX.sub(r"\1<sub>\2</sub>", in_words(escape(head.get_text())))
            head.clear()
            head.append(BeautifulSoup(words, "html.parser"))
    drop_row_counter(heads, rows)
    mark_words(heads, rows)
    return str(page)


def tidy_tables(app, name, template, context, page):
    """Format the tables of a page."""
    context["body"] = TABLE.sub(tidy_table, context.get("body", ""))


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", tidy_tables)
