"""A Sphinx extension: the page cheat-sheet on one sheet of paper, as a PDF beside the pages.

What stands in its cells, each with what it prints, is set in two columns by matplotlib, which the
book has anyway: no TeX is needed, and every build has the sheet. The same cells make the same file.
"""

import ast
from itertools import accumulate

from contents import page
from matplotlib import rc_context
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure
from webpages import version

WIDTH, HEIGHT, MARGIN = 842, 595, 36  # points: A4, lying
GAP = 18  # between the columns
SPACING = 1.25  # from line to line, in sizes of the letters
LETTER = 0.602  # width of a letter of DejaVu Sans Mono, in sizes
TITLES, BEFORE_WORDS = 2.7, 0.4  # room, in lines
SMALLEST = 6.5  # points: what can still be read
CODE, OUTPUT, WORDS = "0.1", "#0b5394", "0.4"


def calls(source):
    """Return the lines of a cell, without those that only print: what they say stands below."""
    printing = [part for part in ast.parse(source).body if ast.unparse(part).startswith("print(")]
    left_out = {n for part in printing for n in range(part.lineno, part.end_lineno + 1)}
    numbered = enumerate(source.splitlines(), start=1)
    return [line for number, line in numbered if line and number not in left_out]


def columns():
    """Return the columns of the sheet: the title of each, and its lines with their colours."""
    found = []
    for cell in page("cheat-sheet").cells:
        heads = [line[3:] for line in cell.source.splitlines() if line.startswith("## ")]
        if cell.cell_type == "markdown":
            found += [(head, []) for head in heads]
            continue
        lines = found[-1][1]
        lines += [(line, WORDS if line.startswith("#") else CODE) for line in calls(cell.source)]
        said = "".join(output.get("text", "") for output in cell.outputs)
        lines += [(f"  > {line}", OUTPUT) for line in said.splitlines()]
    return found


def size(sheet):
    """Return the size of the letters with which all of it has room, in points."""
    widest = max(len(line) for _, lines in sheet for line, _ in lines)
    longest = max(places(lines)[-1] for _, lines in sheet) + 1 + TITLES
    across = (WIDTH - 2 * MARGIN - GAP * (len(sheet) - 1)) / len(sheet) / widest / LETTER
    down = (HEIGHT - 2 * MARGIN) / longest / SPACING
    if min(across, down) < SMALLEST:
        raise ValueError(f"the cheat sheet is too long: lines of {across:.2g}, {down:.2g} points")
    return min(across, down)


def places(lines):
    """Return where the lines of a column stand, counted in lines; words begin a little below."""
    apart = [BEFORE_WORDS * (color == WORDS) for _, color in lines]
    return [n + below for n, below in enumerate(accumulate(apart))]


def draw():
    """Return the sheet as a figure."""
    sheet = columns()
    letters = size(sheet)
    figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72))

    def write(x, line, words, **look):
        y = HEIGHT - MARGIN - line * SPACING * letters
        figure.text(x / WIDTH, y / HEIGHT, words, va="top", parse_math=False, **look)

    write(MARGIN, 0, f"userdp: the cheat sheet. {version()}.", fontsize=letters + 1, color=WORDS)
    for number, (title, lines) in enumerate(sheet):
        x = MARGIN + number * (WIDTH - 2 * MARGIN + GAP) / len(sheet)
        write(x, 1.5, title, fontsize=letters + 2, weight="bold")
        for place, (line, color) in zip(places(lines), lines, strict=True):
            write(x, place + TITLES, line, fontsize=letters, family="monospace", color=color)
    return figure


def offer(app):
    """Write the sheet beside the pages."""
    about = {"Title": "userdp: the cheat sheet", "CreationDate": None}
    # Whatever figures of the book look like; letters as letters, which can be found and copied.
    with rc_context({"font.family": "DejaVu Sans", "pdf.fonttype": 42}):
        FigureCanvasPdf(draw()).print_pdf(app.outdir / "cheat-sheet.pdf", metadata=about)
    return []


def setup(app):
    """Register the extension."""
    app.connect("html-collect-pages", offer)
