"""The check of the PDF: what it counts in the chapters, and what it finds wrong."""

import check_pdf
import pytest

FIGURES, STATEMENTS = check_pdf.in_chapters()
NUMBERED = r"\setcounter{secnumdepth}{2}\chapter{A}"
TEX = (
    NUMBERED
    + r"\begin{figure}" * FIGURES
    + r"\begin{sphinxadmonition}{note}{Lemma 1.2 (A)}" * STATEMENTS
)


def test_chapters_have_figures_and_statements():
    assert FIGURES > 40
    assert STATEMENTS > 60


@pytest.mark.parametrize(
    ("log", "fragment"),
    [
        ("! Undefined control sequence.", "Undefined control"),
        ('Missing character: There is no ε ("3B5) in font x', "no ε"),
        ("LaTeX Warning: Reference `a' on page 3 undefined", "Reference"),
        (r"Overfull \hbox (20.5pt too wide) in paragraph at lines 3--4", "20.5 points"),
    ],
)
def test_a_line_of_the_log_is_a_problem(log, fragment):
    (found,) = check_pdf.problems(TEX, log)
    assert fragment in found


def test_a_little_in_the_margin_is_none():
    assert check_pdf.problems(TEX, r"Overfull \hbox (19.9pt too wide) in paragraph") == []


def test_what_is_left_out_is_noticed():
    for tex in (TEX.replace("figure", "table", 1), TEX.replace("Lemma", "Remark", 1)):
        assert len(check_pdf.problems(tex, "")) == 1


def test_statements_stand_in_the_chapter_of_their_number():
    bare = r"\setcounter{secnumdepth}{-1}\chapter{B}"
    assert check_pdf.problems(bare + TEX + bare, "") == []
    found = check_pdf.problems(NUMBERED + TEX, "")
    assert set(found) == {"Lemma 1.2 stands in chapter 2"}
