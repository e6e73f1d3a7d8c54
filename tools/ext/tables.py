"""A Sphinx extension: tables that cells print, set as a book sets them.

pandas writes a table as a program holds it. On a page, rows are not numbered unless the numbers
mean something, heads are words and symbols rather than names of columns, and what is not a number
begins at the left; the styles do the rest.
"""

import re
from html import escape
from itertools import pairwise

from bs4 import BeautifulSoup

TABLE = re.compile(r'<table border="1" class="dataframe">.*?</table>', re.DOTALL)
NUMBER = re.compile(r"[-+\u2212±]?[\d.,]+([/%eε\u00d7·]|\s|\[|\(|$)|[-\u2013…]?$|\.\.\.$|nan$|inf$")
COLUMN = re.compile(r"[a-z]+(_[a-z]+)+")  # a name as programs write it, and nothing else
SYMBOLS = {"eps": "ε", "tau": "τ"}
INDEX = re.compile(r"\b([^\W\d_])_(\w)\b")
SYMBOL = re.compile(rf"\b({'|'.join(SYMBOLS)})\b")


def in_words(head):
    """Return a head as readers say it."""
    words = head.replace("_", " ") if COLUMN.fullmatch(head) else head
    return SYMBOL.sub(lambda found: SYMBOLS[found[0]], words)


def is_count(cells):
    """Whether the first cells of all rows only count the rows, from any number on."""
    texts = [cell.get_text() for cell in cells if cell.get_text() != "..."]
    if not all(text.isdecimal() for text in texts):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(texts)}
    skipped = len(texts) < len(cells)
    return bool(texts) and (steps <= {1} or skipped)


def drop_row_counter(heads, rows):
    """Take the first column away if it has no head and only counts the rows."""
    first = [row.find(["th", "td"]) for row in rows]
    corners = [row.find("th") for row in heads]
    spans = any(cell.has_attr("rowspan") for cell in (*first, *corners))
    headed = any(corner.get_text() for corner in corners)
    if not spans and not headed and {cell.name for cell in first} == {"th"} and is_count(first):
        for cell in (*corners, *first):
            cell.decompose()


def mark_words(heads, rows):
    """Mark columns of words, with their heads: they begin at the left, numbers end at the right."""
    columns = list(zip(*(row.find_all("td") for row in rows), strict=True))
    for place, cells in enumerate(reversed(columns), 1):
        if not all(NUMBER.match(cell.get_text()) for cell in cells):
            above = [row.find_all("th")[-place] for row in heads if not row.find(colspan=True)]
            for cell in (*above, *cells):
                cell["class"] = "words"


def tidied(found):
    """Return a table of pandas as readers want it."""
    page = BeautifulSoup(found[0], "html.parser")
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


def finish(app, name, template, context, page):
    """Set the tables of a page."""
    context["body"] = TABLE.sub(tidied, context.get("body", ""))


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", finish)
