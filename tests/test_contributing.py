"""The example of CONTRIBUTING.md works from end to end, and what it names exists."""

import re
from pathlib import Path

import nbformat
import pytest
import test_book
import test_claims
import yaml

import userdp as ud

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)


def block(language, containing):
    """The only block of the text in a language that contains some words."""
    (found,) = [code for name, code in BLOCKS if name == language and containing in code]
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
    assert mechanism["capped_mean"]([3.0, 1.0], ud.Contributions([4, 1], 1), eps, cap=2, rng=0)
    audited(eps)
    code = block("python", "def capped_mean")
    exec(code.replace("cap / eps", "cap / eps / 2"), mechanism)
    monkeypatch.setattr(ud, "capped_mean", mechanism["capped_mean"])
    with pytest.raises(AssertionError):
        audited(eps)


@pytest.fixture
def page(tmp_path):
    """The chapter, its cells executed here, in a folder of its own."""
    text, code = block("markdown", "# Capped"), block("python", "geometric_collection")
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell(code)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "book" / "capped.ipynb")
    return tmp_path / "book" / "capped.ipynb"


@pytest.fixture(autouse=True)
def folders(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "tests").mkdir()


def test_the_page_runs_and_keeps_the_rules(page, capsys):
    (cell,) = test_book.code_cells(page)
    exec(cell.source, {})
    assert re.fullmatch(r"noise of scale [\d.]+ instead of [\d.]+\n", capsys.readouterr().out)
    test_book.test_no_measured_number_is_typed(page)
    test_book.test_code_can_be_read_and_copied(page)


def test_the_row_passes_the_checks_of_the_ledger(mechanism, page, tmp_path, monkeypatch):
    (row,) = yaml.safe_load(block("yaml", "new-capped"))
    (tmp_path / "tests" / "test_capped.py").write_text(block("python", "def test_"))
    monkeypatch.setattr(test_claims, "ROOT", tmp_path)
    monkeypatch.setattr(test_claims, "BOOK", tmp_path / "book")
    test_claims.test_row_is_complete(row)
    test_claims.test_what_a_row_names_exists(row)
    with pytest.raises(AssertionError):
        test_claims.test_row_is_complete(row | {"verdict": "repaired"})
    for wrong in ({"label": "prp-other"}, {"functions": ["no"]}):
        with pytest.raises(AssertionError):
            test_claims.test_what_a_row_names_exists(row | wrong)


def test_files_and_commands_that_the_text_names_exist():
    names = re.findall(r"`((?:book|tests|userdp)/[\w./-]+|_toc\.yml)`", TEXT)
    assert len(names) > 6
    assert [name for name in names if not (ROOT / name).exists()] == ["book/capped.ipynb"]
    targets = set(re.findall(r"\bmake ([a-z]+)", TEXT))
    assert targets <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
