"""Put together in dist/ what a release consists of, and tag the commit; nothing is published.

The pages and the PDF are those that `make site` made of this commit. Every file is the same to the
last byte whoever makes it with the same Python, the same TeX and the addresses that the manifest
names. Whoever publishes them pushes the tag, uploads the files, and lets an archive mint a DOI if
one is wanted; the tag can be taken back with `git tag -d`.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE

import built

import userdp

VERSION = userdp.__version__
NAME = f"userdp-companion-{VERSION}"
TAG = f"v{VERSION}"
ADDRESSES = ["USERDP_REPOSITORY", "USERDP_BRANCH", "BOOK_URL"]  # of which the pages make links


def sha256(content: bytes) -> str:
    """Return the digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def hindrance() -> str | None:
    """Return why this commit cannot be released, or None."""
    newest = re.search(r"^## (.+)", (built.ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    tagged = built.git("rev-parse", "--verify", "--quiet", f"{TAG}^{{commit}}")
    if not (built.ROOT / ".git").exists():
        return "This is no clone: there is nothing to tag."
    if built.changed():
        return "Files differ from the commit: commit them first."
    if not newest or newest[1] != VERSION:
        return f"CHANGELOG.md must begin with what is new in {VERSION}, the version of userdp."
    if tagged and tagged != built.git("rev-parse", "HEAD"):
        return f"{TAG} is another commit: userdp needs a new version."
    return None


def pack(folder: Path, seconds: int) -> bytes:
    """Return a folder as .tar, with one date and owner for all files, in alphabetical order."""

    def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = seconds, 0, 0, "", ""
        entry.mode = 0o755 if entry.isdir() else 0o644
        return entry

    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path in sorted(folder.rglob("*")):
            name = f"{NAME}/{path.relative_to(folder)}"
            tar.add(path, name, recursive=False, filter=anonymous)
    return archive.getvalue()


def source(commit: str) -> bytes:
    """Return the files of a commit as .tar, whatever the settings of git here."""
    options = ["-c", "tar.umask=0022", "archive", f"--prefix={NAME}/", commit]
    return subprocess.run(["git", "-C", built.ROOT, *options], stdout=PIPE, check=True).stdout


def citations(commit: str, seconds: int) -> dict[str, str]:
    """Return the files for citing, with the version, the date and the commit of the release."""
    day = datetime.fromtimestamp(seconds, UTC).date().isoformat()
    cff = (built.ROOT / "CITATION.cff").read_text("utf-8")
    zenodo = json.loads((built.ROOT / ".zenodo.json").read_text("utf-8"))
    zenodo |= {"version": VERSION, "publication_date": day}
    return {
        # In quotes: a version such as 1.0, and a commit without letters, would be numbers.
        "CITATION.cff": f"{cff}version: '{VERSION}'\ndate-released: {day}\ncommit: '{commit}'\n",
        ".zenodo.json": json.dumps(zenodo, indent=2, ensure_ascii=False) + "\n",
    }


def wheel(archive: bytes, folder: Path) -> None:
    """Build the wheel of userdp from the archive of the source."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(place, filter="data")
        subprocess.run([*pip, "wheel", *options, Path(place) / NAME], check=True)


def manifest(folder: Path, commit: str, seconds: int) -> str:
    """Return a description of the release, and of each file in the folder."""
    files = {
        path.name: {"bytes": path.stat().st_size, "sha256": sha256(path.read_bytes())}
        for path in sorted(folder.iterdir())
    }
    lock = sha256((built.ROOT / "requirements.lock").read_bytes())
    about = {"name": NAME, "version": VERSION, "commit": commit, "commit_time": seconds}
    about |= {"python": ".".join(platform.python_version_tuple()[:2]), "requirements.lock": lock}
    about |= {name: os.environ.get(name) for name in ADDRESSES}
    return json.dumps(about | {"files": files}, indent=2) + "\n"


def assemble(folder: Path) -> None:
    """Write all files of the release to an empty folder."""
    commit, seconds = built.stamp()
    made = built.ROOT / "_build"
    archives = {"html": pack(made / "html", seconds), "source": source(commit)}
    for name, archive in archives.items():
        (folder / f"{NAME}-{name}.tar.gz").write_bytes(gzip.compress(archive, mtime=0))
    shutil.copy(made / "companion.pdf", folder / f"{NAME}.pdf")
    wheel(archives["source"], folder)
    for name, text in citations(commit, seconds).items():
        (folder / name).write_text(text, "utf-8")
    (folder / "manifest.json").write_text(manifest(folder, commit, seconds), "utf-8")
    sums = [f"{sha256(path.read_bytes())}  {path.name}" for path in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("\n".join(sums) + "\n", "utf-8")


def main() -> int:
    """Make the release and return the exit status."""
    if reason := hindrance():
        print(reason)
        return 1
    folder = built.ROOT / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    assemble(folder)
    if not built.git("tag", "--list", TAG):
        subprocess.run(["git", "-C", built.ROOT, "tag", "-a", TAG, "-m", NAME], check=True)
    print(f"dist/ holds {NAME}; its commit is tagged {TAG}, here only. To publish it:")
    print(f"  git push origin {TAG}, and add the files of dist/ to a release there.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
