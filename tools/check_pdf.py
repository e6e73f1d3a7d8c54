"""Check the typeset book: no error, no glyph missing, nothing wide in the margin, nothing left out.

The argument is the folder with companion.tex, companion.log and companion.pdf. What must be there
is counted in the chapters: every figure, every statement in the chapter that its number names, and
the name of every table.
"""

import re
import sys
from pathlib import Path

from contents import BOOK, page, pages

WIDEST = 20  # points by which a line may stand out
KINDS = "Theorem|Lemma|Proposition|Corollary|Definition"
STATEMENT = rf"\\begin\{{sphinxadmonition\}}\{{note\}}\{{((?:{KINDS}) (\d+)[\d.]*)"
FAULTS = r"^(?:! .*|Missing character: .*|.*Reference `.*' on page .* undefined.*)"


def problems(tex, log):
    """Yield what is wrong, a line each."""
    yield from re.findall(FAULTS, log, re.M)
    for width, where in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)(.*)", log):
        if float(width) > WIDEST:
            yield f"{width} points too wide{where}"
    cells = [cell for name in pages() for cell in page(name).cells]
    figures = sum("figure" in cell.metadata.get("mystnb", {}) for cell in cells)
    statements = sum(len(re.findall(r"^:::\{prf:(?!proof)", c.source, re.M)) for c in cells)
    if (found := tex.count(r"\begin{figure}")) < figures:
        yield f"{found} figures of {figures}"
    if (found := len(re.findall(STATEMENT, tex))) < statements:
        yield f"{found} statements of {statements}"
    numbered, chapter = True, 0
    for part in re.finditer(rf"secnumdepth\}}\{{(-?\d)|(\\chapter)\{{|{STATEMENT}", tex):
        depth, heading, statement, number = part.groups()
        numbered = int(depth) >= 0 if depth else numbered
        chapter += bool(heading and numbered)
        if statement and int(number) != chapter:
            yield f"{statement} stands in chapter {chapter}"
    plain = tex.replace(r"\sphinxhyphen{}", "-")
    tables = sorted(path.name for path in (BOOK / "data").glob("*.csv"))
    yield from (f"{name} is not named" for name in tables if f"{{book/data/{name}}}" not in plain)


if __name__ == "__main__":
    made = Path(sys.argv[1]) / "companion.pdf"
    if not made.exists():
        sys.exit(f"There is no PDF; see {made.with_suffix('.log')}")
    texts = (made.with_suffix(end).read_text("utf-8", errors="replace") for end in (".tex", ".log"))
    sys.exit("\n".join(problems(*texts)) or None)
