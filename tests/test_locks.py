"""The locks hold what the requirements ask for, on every Python."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent


def versions(file, python):
    """What a file pins for a Python: the version of each package."""
    lines = re.findall(r"^[a-z][^#\\\n]*", (ROOT / file).read_text(), re.MULTILINE)
    where = {"python_version": python, "python_full_version": f"{python}.0"}
    wanted = [r for r in map(Requirement, lines) if not r.marker or r.marker.evaluate(where)]
    found = {r.name.lower().replace("_", "-").replace(".", "-"): str(r.specifier) for r in wanted}
    assert len(found) == len(wanted), "two versions of one package"
    assert all(re.fullmatch(r"==[\w.!+]+", pin) for pin in found.values())
    return found.items()


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_locks_hold_what_is_asked_for(python):
    """On red: `make lock`. Those for the extras change nothing of the book."""
    asked, more = (versions(f"{n}.txt", python) for n in ("requirements", "requirements-extras"))
    book, extras = (versions(f"{n}.lock", python) for n in ("requirements", "requirements-extras"))
    assert len(book) > 100
    assert asked <= book <= extras
    assert more <= extras


@pytest.mark.parametrize("name", ["requirements", "requirements-extras"])
def test_every_file_has_a_hash(name):
    text = re.sub(r"^ *#.*\n", "", (ROOT / f"{name}.lock").read_text(), flags=re.MULTILINE)
    entries = text.replace("\\\n", "").splitlines()
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}$", entry) for entry in entries if entry)
    assert "://" not in text
