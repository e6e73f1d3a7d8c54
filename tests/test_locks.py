"""The locks hold what the requirements ask for, on every Python; pip asks for the hashes."""

import re

import pytest
from contents import ROOT
from packaging.requirements import Requirement


def pinned(file, python):
    """What a file pins for a Python: the version of each package."""
    where = {"python_version": python, "python_full_version": f"{python}.0"}
    lines = re.findall(r"^[a-z][^#\\\n]*", (ROOT / file).read_text(), re.MULTILINE)
    wanted = [r for r in map(Requirement, lines) if not r.marker or r.marker.evaluate(where)]
    found = {re.sub("[_.]", "-", r.name.lower()): str(r.specifier) for r in wanted}
    assert len(found) == len(wanted), "two versions of one package"
    assert all(re.fullmatch(r"==[\w.!+]+", pin) for pin in found.values())
    return found.items()


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_locks_hold_what_is_asked_for(python):
    """On red: `make lock`. Those for the extras change nothing of the book."""
    book, extras = (pinned(f"{n}.lock", python) for n in ("requirements", "requirements-extras"))
    assert len(book) > 100
    assert pinned("requirements.txt", python) <= book <= extras
    assert pinned("requirements-extras.txt", python) <= extras
