"""Check the typeset book: no error, no glyph missing, nothing wide in the margin, nothing left out.

The argument is the folder with companion.tex, companion.log and companion.pdf. What must be there
is counted in the chapters: every figure, and every statement under its kind, in the chapter that
its number names. Every table has its name, and nothing speaks of what is on the site only.
"""

import re
import sys
from pathlib import Path

from contents import BOOK, page, pages

WIDEST = 20
"""Points by which a line may stand out."""
KINDS = "Theorem|Lemma|Proposition|Corollary|Definition"
STATEMENT = rf"\\begin\{{sphinxadmonition\}}\{{note\}}\{{((?:{KINDS}) (\d+)[\d.]*)"


def in_chapters():
    """Return how many figures and statements the chapters have."""
    figures = statements = 0
    for cell in [cell for name in pages() for cell in page(name).cells]:
        figures += "figure" in cell.metadata.get("mystnb", {})
        statements += len(re.findall(r"^:::\{prf:(?!proof)", cell.source, re.M))
    return figures, statements


def strays(tex):
    """Yield the statements that stand in another chapter than their number says."""
    numbered, chapter = True, 0
    pattern = rf"secnumdepth\}}\{{(-?\d)|(\\chapter)\{{|{STATEMENT}"
    for depth, heading, statement, number in re.findall(pattern, tex):
        numbered = int(depth) >= 0 if depth else numbered
        chapter += bool(heading and numbered)
        if statement and int(number) != chapter:
            yield f"{statement} stands in chapter {chapter}"


def problems(tex, log):
    """Return what is wrong, a line each."""
    found = re.findall(r"^! .*", log, re.M)
    found += re.findall(r"Missing character: .*", log)
    found += re.findall(r"Reference `.*' on page .* undefined", log)
    for width, where in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)(.*)", log):
        if float(width) > WIDEST:
            found.append(f"{width} points too wide{where}")
    figures, statements = in_chapters()
    captions = len(re.findall(r"\\begin\{figure\}", tex))
    if captions < figures:
        found.append(f"{captions} figures of {figures}")
    boxes = len(re.findall(STATEMENT, tex))
    if boxes < statements:
        found.append(f"{boxes} statements of {statements}")
    found += strays(tex)
    plain = tex.replace(r"\sphinxhyphen{}", "-")
    tables = sorted(path.name for path in (BOOK / "data").glob("*.csv"))
    found += [f"{name} is not named" for name in tables if f"{{book/data/{name}}}" not in plain]
    return found


def main(folder):
    """Print the problems, and return the exit status."""
    read = lambda name: (folder / name).read_text("utf-8", errors="replace")  # noqa: E731
    if not (folder / "companion.pdf").exists():
        print("There is no PDF; see", folder / "companion.log")
        return 1
    found = problems(read("companion.tex"), read("companion.log"))
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
