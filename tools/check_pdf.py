"""Check the typeset book: no error, no glyph missing, nothing wide in the margin.

And each statement stands in the chapter that its number names. The argument is the folder with
companion.tex and companion.log.
"""

import re
import sys
from pathlib import Path

WIDE = r"Overfull \\hbox \((?:[2-9]\d|\d{3,})\..*"  # a line that stands out by 20 points or more
FAULTS = rf"^(?:! .*|Missing character: .*|.*Reference `.*' on page .* undefined.*|{WIDE})"
STATED = r"\{((?:Theorem|Lemma|Proposition|Corollary|Definition) (\d+)\.\d+)"
PLACES = rf"secnumdepth\}}\{{(-?\d)|\\(chapter)\{{|\\begin\{{sphinxadmonition\}}\{{note\}}{STATED}"

if __name__ == "__main__":
    made = Path(sys.argv[1]) / "companion"
    tex, log = (made.with_suffix(end).read_text("utf-8", "replace") for end in (".tex", ".log"))
    problems, chapter, numbered, stated = re.findall(FAULTS, log, re.M), 0, True, 0
    for depth, heading, statement, number in re.findall(PLACES, tex):
        numbered = int(depth) >= 0 if depth else numbered
        chapter += bool(heading) and numbered
        stated += bool(statement)
        if statement and int(number) != chapter:
            problems.append(f"{statement} stands in chapter {chapter}")
    sys.exit("\n".join(problems) or None if stated else "no statement is found")
