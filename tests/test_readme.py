"""The code in the README runs as it stands."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import userdp as ud

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = [code for code in re.findall(r"```python\n(.*?)```", README, re.S) if "spark" not in code]


@pytest.fixture
def trips(tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    users = np.repeat(np.arange(100), 1 + rng.zipf(1.8, 100) % 50)
    data = pd.DataFrame({"user": users, "value": rng.uniform(0, 65, users.size)})
    data.to_parquet(tmp_path / "trips.parquet")
    monkeypatch.chdir(tmp_path)
    return data


@pytest.mark.parametrize("code", BLOCKS)
def test_block_runs(code, trips, capsys):
    names = {}
    exec(code, names)
    if "private_mean" in code:
        assert code.count("\n") <= 7
        assert names["made"].n_records == len(trips)
        assert repr(names["made"]) in capsys.readouterr().out


def test_the_file_and_the_frame_agree(trips):
    options = {"lower": 0, "upper": 65, "eps": 0.3}
    made = [
        ud.private_mean("user", "value", data=data, **options) for data in ("trips.parquet", trips)
    ]
    assert repr(made[0]).splitlines()[2:] == repr(made[1]).splitlines()[2:]


def test_the_cell_for_colab_finds_what_it_installs():
    """Also userdp, for which requirements.txt says `-e .`: the folder that pip runs in."""
    place = Path()
    (cell,) = re.findall(r"```\n!git clone [^\n]* companion\n(.*?)```", README, re.S)
    for line in cell.splitlines():
        command, *_, argument = line.split()
        if command == "%cd":
            place /= argument
        else:
            assert place == Path("companion")
            assert (ROOT / argument).exists()
    assert place == Path("companion/book")
