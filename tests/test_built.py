"""What is built: the commit, in a clone, in an archive of it, and in a folder that is neither."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import built
import pytest

ROOT = Path(__file__).resolve().parent.parent
WHO = ["-c", "user.name=x", "-c", "user.email=x@example.org"]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A repository with one commit of the second 86400, which `built` takes for its own."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in (".git_archival", ".gitattributes"):
        shutil.copy(ROOT / name, folder)
    monkeypatch.setattr(built, "ROOT", folder)
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, "@86400 +0000")
    for command in (["init", "-q"], ["add", "."], [*WHO, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def test_a_clone_knows_its_commit_and_what_was_changed(clone):
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=clone, text=True).strip()
    assert built.stamp() == (head, 86400)
    assert not built.changed()
    (clone / "new").write_text("not a file of the commit")
    assert not built.changed()
    (clone / ".gitattributes").write_text("")
    assert built.changed()


def test_an_archive_knows_the_commit_it_was_made_from(clone, tmp_path, monkeypatch):
    made = tmp_path / "made.tar"
    subprocess.run(["git", "archive", "-o", made, "HEAD"], cwd=clone, check=True)
    expected = built.stamp()
    monkeypatch.setattr(built, "ROOT", tmp_path / "unpacked")
    with tarfile.open(made) as archive:
        archive.extractall(built.ROOT, filter="data")
    assert built.stamp() == expected
    assert not built.changed()


def test_a_copy_without_its_history_knows_nothing(clone):
    shutil.rmtree(clone / ".git")
    assert built.stamp() is None
    assert not built.changed()
