"""Put together in dist/ what a release consists of, and tag the commit; nothing is published.

The pages and the PDF are those that `make site` made of this commit. Every file is the same to the
last byte whoever makes it with the Python and the addresses that the tag's message names, and the
same TeX and git. Whoever publishes them pushes the tag, uploads the files, and lets an archive mint
a DOI if one is wanted; the tag can be taken back with `git tag -d`. With --check: only say whether
this commit can be released.
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
from datetime import UTC, datetime
from pathlib import Path

import built

import userdp

VERSION = userdp.__version__
NAME, TAG = f"userdp-companion-{VERSION}", f"v{VERSION}"
ADDRESSES = ["USERDP_REPOSITORY", "USERDP_BRANCH", "BOOK_URL"]  # of which the pages make links


def hindrance() -> str | None:
    """Return why this commit cannot be released, or None."""
    newest = re.search(r"^## (.+)", (built.ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    tagged = built.git("rev-parse", "--verify", "--quiet", f"{TAG}^{{commit}}")
    if not (built.ROOT / ".git").exists():
        return "This is no clone: there is nothing to tag."
    if built.stamp().changed:
        return "Files differ from the commit: commit them first."
    if not newest or newest[1] != VERSION:
        return f"CHANGELOG.md must begin with what is new in {VERSION}, the version of userdp."
    if tagged and tagged != built.git("rev-parse", "HEAD"):
        return f"{TAG} is another commit: userdp needs a new version."
    return None


def assemble(folder: Path) -> None:
    """Write all files of the release to an empty folder."""
    commit, seconds, _ = built.stamp()
    made, source = built.ROOT / "_build", folder / f"{NAME}-source.tar.gz"

    def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        mode = 0o755 if entry.isdir() else 0o644
        return entry.replace(mtime=seconds, mode=mode, uid=0, gid=0, uname="", gname="")

    pages = io.BytesIO()
    with tarfile.open(fileobj=pages, mode="w") as tar:
        tar.add(made / "html", NAME, filter=anonymous)  # in alphabetical order
    git = ["git", "-C", built.ROOT, "-c", "tar.umask=0022", "archive", f"--prefix={NAME}/", commit]
    files = subprocess.run(git, stdout=subprocess.PIPE, check=True).stdout
    for file, archive in (source, files), (folder / f"{NAME}-html.tar.gz", pages.getvalue()):
        file.write_bytes(gzip.compress(archive, mtime=0))

    shutil.copy(made / "companion.pdf", folder / f"{NAME}.pdf")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    subprocess.run([*pip, *options, source], check=True)

    day = datetime.fromtimestamp(seconds, UTC).date().isoformat()
    cff = (built.ROOT / "CITATION.cff").read_text("utf-8")
    # In quotes: a version such as 1.0, and a commit without letters, would be numbers.
    cff += f"version: '{VERSION}'\ndate-released: {day}\ncommit: '{commit}'\n"
    (folder / "CITATION.cff").write_text(cff, "utf-8")
    zenodo = json.loads((built.ROOT / ".zenodo.json").read_text("utf-8"))
    zenodo |= {"version": VERSION, "publication_date": day}
    text = json.dumps(zenodo, indent=2, ensure_ascii=False)
    (folder / ".zenodo.json").write_text(text + "\n", "utf-8")

    sums = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(folder.iterdir())
    ]
    (folder / "SHA256SUMS").write_text("".join(sums), "utf-8")


def main(arguments: list[str]) -> str | None:
    """Make the release; return what hinders it."""
    if (reason := hindrance()) or arguments == ["--check"]:
        return reason
    folder = built.ROOT / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    assemble(folder)
    if not built.git("tag", "--list", TAG):
        about = [f"{name}: {os.environ.get(name) or 'none'}" for name in ADDRESSES]
        message = "\n".join([NAME, "", f"Python: {platform.python_version()}", *about])
        subprocess.run(["git", "-C", built.ROOT, "tag", "-a", TAG, "-m", message], check=True)
    print(f"dist/ holds {NAME}; its commit is tagged {TAG}, here only. To publish it:")
    print(f"  git push origin {TAG}, and add the files of dist/ to a release there.")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
