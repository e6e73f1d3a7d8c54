"""Settings of all tests: examples that are the same in every run, no clock; and what some share."""

import shutil
import subprocess

import pytest
from built import ROOT
from hypothesis import HealthCheck, settings

settings.register_profile(
    "book",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("book")


@pytest.fixture
def clone_of(tmp_path, monkeypatch):
    """Make a repository of some files, one commit of the second 86400, that `built` looks at."""

    def make(*names):
        folder = tmp_path / "clone"
        folder.mkdir()
        for name in names:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name)
        who = {"NAME": "x", "EMAIL": "x@example.org", "DATE": "@86400 +0000"}
        for part, value in who.items():
            monkeypatch.setenv(f"GIT_AUTHOR_{part}", value)
            monkeypatch.setenv(f"GIT_COMMITTER_{part}", value)
        monkeypatch.setattr("built.ROOT", folder)
        monkeypatch.delenv("USERDP_STAMP", raising=False)
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
            subprocess.run(["git", "-C", folder, *command], check=True)
        return folder

    return make
