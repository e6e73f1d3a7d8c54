"""The locks hold what the requirements ask for, with a hash of every file."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
every_lock = pytest.mark.parametrize("name", ["requirements", "requirements-extras"])


def asked(name):
    lines = [
        line.partition("#")[0].strip() for line in (ROOT / f"{name}.txt").read_text().splitlines()
    ]
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def locked(name):
    """Each entry of a lock: what it pins, and its hashes."""
    text = re.sub(r"^ *#.*\n", "", (ROOT / f"{name}.lock").read_text(), flags=re.MULTILINE)
    for entry in filter(None, text.replace("\\\n", " ").splitlines()):
        pinned, *hashes = entry.split(" --hash=")
        yield Requirement(pinned), hashes


def versions(requirements, python):
    """What is installed on a Python: the version of each package."""
    where = {"python_version": python, "python_full_version": f"{python}.0"}
    some = [r for r in requirements if not r.marker or r.marker.evaluate(where)]
    found = {r.name.lower().replace("_", "-"): str(r.specifier) for r in some}
    assert len(found) == len(some), "two versions of one package"
    return found


@every_lock
def test_every_file_has_a_hash(name):
    entries = list(locked(name))
    assert len(entries) > 100
    for requirement, hashes in entries:
        assert re.fullmatch(r"==[\w.!+]+", str(requirement.specifier)), requirement
        assert requirement.url is None
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one.strip()) for one in hashes)


@every_lock
@pytest.mark.parametrize("python", PYTHONS)
def test_lock_holds_what_is_asked_for(name, python):
    """On red: `make lock`."""
    pins = versions(asked(name), python)
    assert len(pins) >= 5
    assert pins.items() <= versions([r for r, _ in locked(name)], python).items()


@pytest.mark.parametrize("python", PYTHONS)
def test_extras_change_nothing_of_the_book(python):
    book, extras = (
        versions([r for r, _ in locked(n)], python) for n in ("requirements", "requirements-extras")
    )
    assert book.items() <= extras.items()


@every_lock
def test_lock_names_no_index(name):
    assert "://" not in (ROOT / f"{name}.lock").read_text()
