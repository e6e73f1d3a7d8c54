"""The examples in README.md and CONTRIBUTING.md work without changes."""

import os
import re
import shutil
import subprocess
import sys

import duckdb
import nbformat
import numpy as np
import pandas as pd
import pytest

from tools.ext import contents

ROOT = contents.ROOT
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = [code for code in re.findall(r"```python\n(.*?)```", README, re.S) if "spark" not in code]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

# Not copied with the repository, because they are generated, linked or large.
LEFT_OUT = [
    ".git",
    ".venv",
    "_build",
    "dist",
    "mutants",
    ".nox",
    ".peers",
    ".*_cache",
    ".hypothesis",
]

# Metadata that JupyterLab adds to a notebook.
EDITOR = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "version": "3.11.2", "file_extension": ".py"},
}


def block(language, containing):
    """Return the only block of CONTRIBUTING.md in this language that contains this text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    (match,) = [code for code in blocks if containing in code]
    return match


def insert(path, below, code):
    """Insert code below the only line equal to `below`."""
    text = path.read_text("utf-8")
    assert text.count(f"\n{below}\n") == 1
    path.write_text(text.replace(f"\n{below}\n", f"\n{below}\n{code}"), "utf-8")


def append(path, code):
    with path.open("a", encoding="utf-8") as file:
        file.write(code)


def chapter():
    """Return the chapter of CONTRIBUTING.md as JupyterLab would save it after an earlier run."""
    prose = nbformat.v4.new_markdown_cell(block("markdown", "# Capped sums").rstrip("\n"))
    code = nbformat.v4.new_code_cell(block("python", "geometric_collection").rstrip("\n"))
    code.metadata = {"editable": True, "slideshow": {"slide_type": ""}, "scrolled": True}
    code.execution_count = 17
    return nbformat.v4.new_notebook(cells=[prose, code], metadata=EDITOR)


@pytest.fixture
def contribution(tmp_path):
    """A copy of the repository to which the example of CONTRIBUTING.md is added, word for word."""
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
    (copy / ".venv").symlink_to(sys.prefix)
    append(copy / "userdp/beyond/mechanisms.py", "\n\n" + block("python", "def capped_mean"))
    exported = copy / "userdp/beyond/__init__.py"
    first = "from userdp.beyond.errors import centred_clipping as centred_clipping"
    insert(exported, first, block("python", "as capped_mean"))
    ruff = [sys.executable, "-m", "ruff", "check", "--quiet", "--select=I", "--fix", exported]
    subprocess.run(ruff, check=True)  # sort the imports
    above = ".. autofunction:: clipped_mean_error"
    insert(copy / "book/reference.md", above, block("rst", "capped_mean"))
    insert(copy / "tests/test_bad_input.py", "REFUSED = [", block("python", '"cap", ['))
    append(copy / "tests/beyond/test_capped_mean.py", block("python", "def test_capped_mean"))
    nbformat.write(chapter(), copy / "book/capped.ipynb")
    insert(copy / "_toc.yml", "      - file: book/less-noise", block("yaml", "book/capped"))
    append(copy / "book/claims.yml", block("yaml", "capped_mean"))
    return copy


def run(command, copy):
    """Run a command in the copy, with the present environment, which `make` must not rebuild."""
    ready = "--assume-old .venv/ready --assume-old .venv/tests"
    settings = {"PYTHONPATH": str(copy), "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache")}
    return subprocess.run(
        ["bash", "-c", re.sub("^make ", f"make {ready} ", command)],
        cwd=copy,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".venv").exists(), reason="`make test` creates .venv first")
def test_the_worked_example_passes_and_with_half_the_noise_fails_with_its_message(contribution):
    for command in block("sh", "tests/beyond/test_capped_mean.py").splitlines():
        done = run(command, contribution)
        assert done.returncode == 0, done.stdout
    module = contribution / "userdp/beyond/mechanisms.py"
    code = module.read_text("utf-8")
    assert code.count("law.draw(float(change), total.shape, check.rng(rng))") == 1
    code = code.replace("law.draw(float(change), total", "law.draw(float(change) / 2, total")
    module.write_text(code, "utf-8")
    done = run(".venv/bin/python -m pytest tests/beyond/test_capped_mean.py", contribution)
    assert done.returncode == 1
    assert "AssertionError: too little noise: a release spends 1, eps is 0.5" in done.stdout


def test_the_code_blocks_of_the_readme_run_in_order(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(6)
    users = np.repeat(np.arange(100), 1 + rng.zipf(1.8, 100) % 50)
    data = pd.DataFrame({"user": users, "value": rng.uniform(0, 65, users.size)})
    data["month"] = 1 + np.arange(users.size) % 11  # none in December
    data.to_parquet(tmp_path / "trips.parquet")
    data[data.month == 1].to_parquet(tmp_path / "week-1.parquet")
    with duckdb.connect(tmp_path / "energy.db") as database:
        database.execute("CREATE TABLE readings AS SELECT 1 AS meter, 2.5 AS kw")
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in BLOCKS:
        exec(code, names)
    result = names["result"]
    assert result.n_records == len(data)
    output = capsys.readouterr().out
    assert names["monthly"].means[-1].n_records == 0
    by_month = names["monthly"].public_sentence("km/h")
    for text in (repr(result), result.public_sentence("km/h"), result.public_json(), by_month):
        assert text in output
