"""A release: complete, the same whoever makes it, and only of what is committed."""

import hashlib
import json
import shutil
import subprocess
import tarfile
import zipfile

import built
import pytest
import release
import yaml

PARTS = (
    "CITATION.cff",
    ".zenodo.json",
    "requirements.lock",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    ".git_archival",
    ".gitattributes",
    "userdp",
)
FILES = {
    ".zenodo.json",
    "CITATION.cff",
    "SHA256SUMS",
    "manifest.json",
    f"{release.NAME}.pdf",
    f"{release.NAME}-html.tar.gz",
    f"{release.NAME}-source.tar.gz",
    f"userdp-{release.VERSION}-py3-none-any.whl",
}


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, *arguments], check=True)


@pytest.fixture
def clone(clone_of, monkeypatch):
    """A repository whose site is made, ready to be released."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    for name in release.ADDRESSES:
        monkeypatch.delenv(name, raising=False)
    folder = clone_of(*PARTS)
    pages = folder / "_build" / "html" / "book"
    pages.mkdir(parents=True)
    for name in "hbgdafce":
        (pages / f"{name}.html").write_text(f"page {name}")
    (folder / "_build" / "companion.pdf").write_bytes(b"%PDF")
    return folder


@pytest.fixture
def made(clone, tmp_path):
    folder = tmp_path / "dist"
    folder.mkdir()
    release.assemble(folder)
    return folder


def test_a_release_is_complete_and_says_what_it_is(made):
    assert {path.name for path in made.iterdir()} == FILES
    sums = dict(line.split("  ")[::-1] for line in (made / "SHA256SUMS").read_text().splitlines())
    assert sums.keys() == FILES - {"SHA256SUMS"}
    about = json.loads((made / "manifest.json").read_text())
    assert set(about["files"]) == FILES - {"SHA256SUMS", "manifest.json"}
    for name, file in about["files"].items():
        content = (made / name).read_bytes()
        assert file == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        assert file["sha256"] == sums[name]
    assert (about["commit"], about["commit_time"]) == built.stamp()
    assert about["version"] == release.VERSION
    with tarfile.open(made / f"{release.NAME}-html.tar.gz") as tar:
        assert tar.extractfile(f"{release.NAME}/book/a.html").read() == b"page a"
        assert tar.getnames() == sorted(tar.getnames())
    with tarfile.open(made / f"{release.NAME}-source.tar.gz") as tar:
        archival = tar.extractfile(f"{release.NAME}/.git_archival").read().decode()
        assert archival == f"{built.stamp()[0]} 86400\n"
    with zipfile.ZipFile(made / f"userdp-{release.VERSION}-py3-none-any.whl") as wheel:
        assert "userdp/worstcase.py" in wheel.namelist()
    cff = yaml.safe_load((made / "CITATION.cff").read_text())
    assert cff["version"] == release.VERSION
    assert str(cff["date-released"]) == "1970-01-02"
    assert cff["commit"] == built.stamp()[0]
    zenodo = json.loads((made / ".zenodo.json").read_text())
    assert zenodo["version"] == release.VERSION
    assert zenodo["publication_date"] == "1970-01-02"


def test_a_release_is_the_same_whenever_it_is_made(clone, made, tmp_path):
    page = clone / "_build" / "html" / "book" / "a.html"
    page.touch()
    page.chmod(0o600)
    git(clone, "config", "tar.umask", "0077")
    again = tmp_path / "again"
    again.mkdir()
    release.assemble(again)
    for name in FILES:
        assert (again / name).read_bytes() == (made / name).read_bytes(), name


def test_what_is_not_committed_is_not_released(clone):
    assert release.hindrance() is None
    (clone / "README.md").write_text("changed")
    assert "commit them" in release.hindrance()


def test_what_is_not_described_is_not_released(clone):
    (clone / "CHANGELOG.md").write_text("# Changelog\n\n## 9.9.9\n\n## " + release.VERSION)
    git(clone, "commit", "-q", "-a", "-m", "two")
    assert "CHANGELOG.md" in release.hindrance()


def test_a_version_is_one_commit(clone):
    git(clone, "tag", "-a", release.TAG, "-m", "one")
    assert release.hindrance() is None
    (clone / "README.md").write_text("changed")
    git(clone, "commit", "-q", "-a", "-m", "two")
    assert "another commit" in release.hindrance()


def test_an_archive_is_not_released(clone):
    shutil.rmtree(clone / ".git")
    assert "no clone" in release.hindrance()


def test_the_script_tags_once_and_publishes_nothing(clone, capsys):
    assert release.main() == 0
    assert release.main() == 0
    assert built.git("tag", "--list") == release.TAG
    assert built.git("remote") == ""
    assert "here only" in capsys.readouterr().out
    (clone / "README.md").write_text("changed")
    assert release.main() == 1
