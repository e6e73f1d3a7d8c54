"""The example of CONTRIBUTING.md works from end to end."""

import re

import contents
import nbformat
import pytest
import test_book
import test_claims
import yaml

import userdp as ud

TEXT = (contents.ROOT / "CONTRIBUTING.md").read_text("utf-8")


def block(language, containing):
    """The only block of the text in a language that contains some words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    (found,) = [code for code in blocks if containing in code]
    return found


@pytest.fixture
def mechanism(monkeypatch):
    """The mechanism, exported for the time of a test."""
    scope = {}
    exec(block("python", "def capped_mean"), scope)
    monkeypatch.setattr(ud, "capped_mean", scope["capped_mean"], raising=False)
    return scope


def audited(eps):
    scope = {}
    exec(block("python", "def test_"), scope)
    scope["test_capped_mean_spends_its_budget"](eps)


@pytest.mark.parametrize("eps", [0.1, 2])
def test_the_mechanism_passes_its_test_and_with_half_the_noise_fails(mechanism, eps, monkeypatch):
    audited(eps)
    code = block("python", "def capped_mean")
    exec(code.replace("cap / eps", "cap / eps / 2"), mechanism)
    monkeypatch.setattr(ud, "capped_mean", mechanism["capped_mean"])
    with pytest.raises(AssertionError):
        audited(eps)


def test_the_page_runs_and_page_and_row_keep_the_rules(mechanism, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(contents, "BOOK", tmp_path)
    monkeypatch.setattr(test_claims, "ROOT", tmp_path)
    text, code = block("markdown", "# Capped"), block("python", "geometric_collection")
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell(code)]
    page = tmp_path / "capped.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), page)
    exec(code, {})
    assert re.fullmatch(r"noise of scale [\d.]+ instead of [\d.]+\n", capsys.readouterr().out)
    test_book.test_no_measured_number_is_typed(page)
    test_book.test_code_can_be_read_and_copied(page)

    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_capped.py").write_text(block("python", "def test_"))
    (row,) = yaml.safe_load(block("yaml", "new-capped"))
    test_claims.test_row_is_complete(row)
    test_claims.test_what_a_row_names_exists(row)
    for wrong in ({"label": "prp-other"}, {"functions": ["no"]}):
        with pytest.raises(AssertionError):
            test_claims.test_what_a_row_names_exists(row | wrong)


def test_files_that_the_text_names_exist():
    names = re.findall(r"`((?:book|tests|userdp)/[\w./-]+|_toc\.yml)`", TEXT)
    assert [name for name in names if not (contents.ROOT / name).exists()] == ["book/capped.ipynb"]
