"""The examples of the README and of CONTRIBUTING.md work as they stand."""

import re
from contextlib import nullcontext

import contents
import numpy as np
import pandas as pd
import pytest
import test_book
import test_claims
import yaml

import userdp as ud

README = (contents.ROOT / "README.md").read_text("utf-8")
BLOCKS = [code for code in re.findall(r"```python\n(.*?)```", README, re.S) if "spark" not in code]
TEXT = (contents.ROOT / "CONTRIBUTING.md").read_text("utf-8")


def block(language, containing):
    """The only block of the text in a language that contains some words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    (found,) = [code for code in blocks if containing in code]
    return found


def defined(code):
    """What code defines."""
    scope = {}
    exec(code, scope)
    return scope


@pytest.mark.parametrize("eps", [0.1, 2])
@pytest.mark.parametrize(("noise", "sound"), [("cap / eps", True), ("cap / eps / 2", False)])
def test_the_mechanism_passes_its_test_and_with_half_the_noise_fails(
    eps, noise, sound, monkeypatch
):
    made = defined(block("python", "def capped_mean").replace("cap / eps", noise))
    monkeypatch.setattr(ud, "capped_mean", made["capped_mean"], raising=False)
    audited = defined(block("python", "def test_"))["test_capped_mean_spends_its_budget"]
    with nullcontext() if sound else pytest.raises(AssertionError):
        audited(eps)


def test_the_page_runs_and_page_and_row_keep_the_rules(tmp_path, capsys):
    defined(block("python", "geometric_collection"))
    assert re.fullmatch(r"noise of scale [\d.]+ instead of [\d.]+\n", capsys.readouterr().out)
    page = tmp_path / "capped.md"
    page.write_text(text := block("markdown", "# Capped"))
    test_book.test_no_measured_number_is_typed(page)
    (row,) = yaml.safe_load(block("yaml", "new-capped"))
    test_claims.test_row_is_complete(row)
    assert f":label: {row['label']}\n" in text
    assert f"def {row['tests'][0].partition('::')[2]}(" in block("python", "def test_")


@pytest.mark.parametrize("code", BLOCKS)
def test_block_of_the_readme_runs(code, tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(6)
    users = np.repeat(np.arange(100), 1 + rng.zipf(1.8, 100) % 50)
    data = pd.DataFrame({"user": users, "value": rng.uniform(0, 65, users.size)})
    data.to_parquet(tmp_path / "trips.parquet")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(code, names)
    if "private_mean" in code:
        assert names["made"].n_records == len(data)
        assert repr(names["made"]) in capsys.readouterr().out
