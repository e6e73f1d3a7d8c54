"""Settings of all tests: examples that are the same in every run, no clock; and what some share."""

import re
import shutil
import subprocess

import pytest
from browser import BUILT, ROOT, Page, served
from hypothesis import HealthCheck, settings

settings.register_profile(
    "book", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("book")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A browser."""
    tab = Page(tmp_path_factory.mktemp("profile"))
    yield tab
    tab.close()


@pytest.fixture(scope="module")
def book():
    """The address of the built book, also for the page that names where it will be published."""

    def here(name, text):
        return re.sub('<base href="[^"]*">', '<base href="/">', text)

    with served(BUILT, here) as address:
        yield address


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
