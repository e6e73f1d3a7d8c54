"""What is built: the commit, in a clone, in an archive of it, and in a folder that is neither."""

import shutil
import subprocess
import sys
import tarfile

import built
import pytest


@pytest.fixture
def clone(clone_of):
    return clone_of(".git_archival", ".gitattributes", "tools")


def test_a_clone_knows_its_commit_and_what_was_changed(clone):
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=clone, text=True).strip()
    assert built.stamp() == (head, 86400)
    assert not built.changed()
    (clone / "new").write_text("not a file of the commit")
    assert not built.changed()
    (clone / ".gitattributes").write_text("")
    assert built.changed()


def test_the_stamp_is_taken_once(clone, monkeypatch):
    """What chapters write afterwards changes nothing."""
    said = subprocess.check_output([sys.executable, "tools/built.py"], cwd=clone, text=True)
    monkeypatch.setenv("USERDP_STAMP", said.strip())
    expected = built.stamp()
    (clone / ".gitattributes").write_text("")
    assert (built.stamp(), built.changed()) == (expected, False)
    assert expected[1] == 86400
    monkeypatch.setenv("USERDP_STAMP", f"{expected[0]} 86400 changed")
    assert built.changed()
    monkeypatch.setenv("USERDP_STAMP", "none 0 committed")
    assert built.stamp() is None


def test_an_archive_knows_the_commit_it_was_made_from(clone, tmp_path, monkeypatch):
    made = tmp_path / "made.tar"
    subprocess.run(["git", "archive", "-o", made, "HEAD"], cwd=clone, check=True)
    expected = built.stamp()
    monkeypatch.setattr(built, "ROOT", tmp_path / "unpacked")
    with tarfile.open(made) as archive:
        archive.extractall(built.ROOT, filter="data")
    assert built.stamp() == expected
    assert not built.changed()


def test_a_copy_without_its_history_knows_nothing(clone, monkeypatch):
    """Nor does it take the history of a folder around it for its own."""
    shutil.copytree(clone, clone / "copy", ignore=shutil.ignore_patterns(".git"))
    (clone / ".gitattributes").write_text("")
    monkeypatch.setattr(built, "ROOT", clone / "copy")
    assert built.stamp() is None
    assert not built.changed()
