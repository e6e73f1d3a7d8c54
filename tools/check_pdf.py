"""Check the typeset book: no error, no glyph missing, nothing wide in the margin, nothing left out.

The argument is the folder with companion.tex, companion.log and companion.pdf. What must be there
is counted in the chapters: figures, and statements, each in the chapter that its number names.
"""

import re
import sys
from pathlib import Path

from contents import page, pages

WIDEST = 20  # points by which a line may stand out
KINDS = "Theorem|Lemma|Proposition|Corollary|Definition"
STATEMENT = rf"\\begin\{{sphinxadmonition\}}\{{note\}}\{{(?:{KINDS}) (\d+)"
FAULTS = r"^(?:! .*|Missing character: .*|.*Reference `.*' on page .* undefined.*)"

if __name__ == "__main__":
    made = Path(sys.argv[1]) / "companion.pdf"
    tex, log = (made.with_suffix(end).read_text("utf-8", "replace") for end in (".tex", ".log"))
    problems = re.findall(FAULTS, log, re.M) + [f"no {made}"] * (not made.exists())
    for width, where in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)(.*)", log):
        problems += [f"{width} points too wide{where}"] * (float(width) > WIDEST)
    cells = [cell for name in pages() for cell in page(name).cells]
    figures = sum("figure" in cell.metadata.get("mystnb", {}) for cell in cells)
    statements = sum(len(re.findall(r"^:::\{prf:(?!proof)", c.source, re.M)) for c in cells)
    chapter, numbered, found = 0, True, [tex.count(r"\begin{figure}"), 0]
    for part in re.finditer(rf"secnumdepth\}}\{{(-?\d)|(\\chapter)\{{|{STATEMENT}", tex):
        depth, heading, number = part.groups()
        numbered = depth[0] != "-" if depth else numbered
        chapter += bool(heading and numbered)
        found[1] += int(number or -1) == chapter
    if min(found[0] - figures, found[1] - statements) < 0:
        problems.append(f"{found} figures and statements of {[figures, statements]}")
    sys.exit("\n".join(problems) or None)
