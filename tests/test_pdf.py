"""The PDF: the names of files, what is counted in the chapters, and what is found wrong."""

import check_pdf
import pytest
import typesetting
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes

FIGURES, STATEMENTS = check_pdf.in_chapters()
NUMBERED = r"\setcounter{secnumdepth}{2}\chapter{A}"
TEX = (
    NUMBERED
    + r"\begin{figure}" * FIGURES
    + r"\begin{sphinxadmonition}{note}{Lemma 1.2 (A)}" * STATEMENTS
    + "".join(f"{{book/data/{path.name}}}" for path in (check_pdf.BOOK / "data").glob("*.csv"))
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


def test_every_table_is_named():
    hyphens = TEX.replace("figure-2.csv", r"figure\sphinxhyphen{}2.csv")
    assert check_pdf.problems(hyphens, "") == []
    missing = check_pdf.problems(hyphens.replace("{}2.csv", "{}9.csv"), "")
    assert missing == ["figure-2.csv is not named"]


@pytest.mark.parametrize(
    ("words", "after", "expected"),
    [
        ("The numbers (CSV)", " (how)", "The numbers (book/data/a.csv, how)"),
        ("The table", ", and more", "The table (book/data/a.csv), and more"),
        ("The table", "", "The table (book/data/a.csv)"),
    ],
)
def test_in_print_a_download_is_the_name_of_a_file(words, after, expected):
    document, paragraph = new_document("page"), nodes.paragraph()
    link = addnodes.download_reference("", "", nodes.literal("", words), reftarget="data/a.csv")
    paragraph += [link, nodes.Text(after)] if after else [link]
    document += paragraph
    typesetting.Downloads(document).run()
    assert paragraph.astext() == expected
    assert [literal.astext() for literal in paragraph.findall(nodes.literal)] == ["book/data/a.csv"]


def test_statements_stand_in_the_chapter_of_their_number():
    bare = r"\setcounter{secnumdepth}{-1}\chapter{B}"
    assert check_pdf.problems(bare + TEX + bare, "") == []
    found = check_pdf.problems(NUMBERED + TEX, "")
    assert set(found) == {"Lemma 1.2 stands in chapter 2"}
