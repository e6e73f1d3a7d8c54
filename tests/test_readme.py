"""The code in the README runs as it stands."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

README = (Path(__file__).resolve().parent.parent / "README.md").read_text("utf-8")
BLOCKS = [code for code in re.findall(r"```python\n(.*?)```", README, re.S) if "spark" not in code]


@pytest.mark.parametrize("code", BLOCKS)
def test_block_runs(code, tmp_path, monkeypatch, capsys):
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
