"""Check the LaTeX log and source of the PDF for errors, missing glyphs and too wide lines.

Undefined references are errors, too. Also check that each statement is in the chapter that its
number names. The argument is the folder with companion.tex and companion.log.
"""

import re
import sys
from pathlib import Path

WIDE = r"Overfull \\hbox \((?:[2-9]\d|\d{3,})\..*"  # a line that is too wide by 20 points or more
FAULTS = rf"^(?:! .*|Missing character: .*|.*Reference `.*' on page .* undefined.*|{WIDE})"
STATEMENT = r"\{((?:Theorem|Lemma|Proposition|Corollary|Definition) (\d+)\.\d+)"
# A change of the numbering depth, the start of a chapter, or a numbered statement.
MARKS = (
    rf"secnumdepth\}}\{{(-?\d)|\\(chapter)\{{|\\begin\{{sphinxadmonition\}}\{{note\}}{STATEMENT}"
)


def misplaced_statements(tex):
    """Return a line for each statement whose number names another chapter, or if there is none."""
    problems = []
    chapter = 0
    is_numbered = True  # the initial state; each part sets the depth
    n_statements = 0
    for depth, heading, statement, number in re.findall(MARKS, tex):
        if depth:
            is_numbered = int(depth) >= 0
        elif heading and is_numbered:
            chapter += 1
        elif statement:
            n_statements += 1
            if int(number) != chapter:
                problems.append(f"{statement} is in chapter {chapter}")
    if not n_statements:
        problems.append("no statement found")
    return problems


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    tex = (folder / "companion.tex").read_text("utf-8", "replace")
    log = (folder / "companion.log").read_text("utf-8", "replace")
    problems = re.findall(FAULTS, log, re.M) + misplaced_statements(tex)
    if problems:
        sys.exit("\n".join(problems))
