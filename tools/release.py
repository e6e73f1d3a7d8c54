"""Put together in dist/ what a release consists of, and tag the commit; nothing is published.

The pages and the PDF are those that `make site` made of this commit. Every file is the same to the
last byte whoever makes it with the Python and the addresses that the tag's message names, and the
same TeX, tar and git. Whoever publishes them pushes the tag, uploads the files, and lets an archive
mint a DOI if one is wanted; the tag can be taken back with `git tag -d`. With --check: only say
whether this commit can be released.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import userdp

VERSION, PYTHON = userdp.__version__, platform.python_version()
NAME, TAG, DIST = f"userdp-companion-{VERSION}", f"v{VERSION}", Path("dist")
ADDRESSES = ["USERDP_REPOSITORY", "BOOK_URL"]  # of which the pages make links
TAR = "tar --sort=name --mode=go=rX,u+rw,a-s --owner=0 --group=0 --numeric-owner --directory=_build"


def run(*command):
    """Return what a command says."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def hindrance():
    """Return why this commit cannot be released, or None."""
    newest = re.search(r"^## (.+)", Path("CHANGELOG.md").read_text("utf-8"), re.M)
    if not Path(".git").exists():
        return "This is no clone: there is nothing to tag."
    if run("git", "status", "--porcelain", "--untracked-files=no"):
        return "Files differ from the commit: commit them first."
    if not newest or newest[1] != VERSION:
        return f"CHANGELOG.md must begin with what is new in {VERSION}, the version of userdp."
    here = run("git", "tag", "--points-at", "HEAD").split()
    if run("git", "tag", "--list", TAG) and TAG not in here:
        return f"{TAG} is another commit: userdp needs a new version."
    return None


def main():
    """Write all files of the release to dist/, and tag it."""
    if (reason := hindrance()) or sys.argv[1:] == ["--check"]:
        sys.exit(reason)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    commit, seconds = run("git", "log", "-1", "--format=%H %ct").split()
    pages, source = (DIST / f"{NAME}-{part}.tar" for part in ("html", "source"))
    inside = [f"--mtime=@{seconds}", f"--transform=s,^html,{NAME},", f"--file={pages.resolve()}"]
    run(*TAR.split(), *inside, "--create", "html")
    archive = ["-c", "tar.umask=0022", "archive", f"--prefix={NAME}/", f"--output={source}"]
    run("git", *archive, commit)
    run("gzip", "--no-name", pages, source)
    shutil.copy("_build/companion.pdf", DIST / f"{NAME}.pdf")
    wheel = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", f"--wheel-dir={DIST}"]
    run(sys.executable, "-m", "pip", *wheel, f"{source}.gz")
    day = datetime.fromtimestamp(int(seconds), UTC).date().isoformat()
    # In quotes: a version such as 1.0, and a commit without letters, would be numbers.
    stamped = f"version: '{VERSION}'\ndate-released: {day}\ncommit: '{commit}'\n"
    (DIST / "CITATION.cff").write_text(Path("CITATION.cff").read_text("utf-8") + stamped, "utf-8")
    stamped = f'{{\n  "version": "{VERSION}",\n  "publication_date": "{day}",'
    zenodo = Path(".zenodo.json").read_text("utf-8").replace("{", stamped, 1)
    (DIST / ".zenodo.json").write_text(zenodo, "utf-8")
    sums = subprocess.check_output(["sha256sum", *sorted(os.listdir(DIST))], cwd=DIST)
    (DIST / "SHA256SUMS").write_bytes(sums)
    if not run("git", "tag", "--list", TAG):
        about = "\n".join(f"{name}: {os.environ.get(name) or 'none'}" for name in ADDRESSES)
        run("git", "tag", "--annotate", TAG, "--message", f"{NAME}\n\nPython: {PYTHON}\n{about}")
    print(f"dist/ holds {NAME}; its commit is tagged {TAG}, here only. To publish it:")
    print(f"  git push origin {TAG}, and add the files of dist/ to a release there.")


if __name__ == "__main__":
    main()
