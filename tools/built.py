"""What is being built: which commit, whether the files are still its, and where it is published.

In a clone git knows; in an archive that git made, `.git_archival` does. The Makefile asks once,
before anything is executed, and hands the answer on in USERDP_STAMP: chapters write tables.
"""

from __future__ import annotations  # an older Python gets as far as the Makefile's words for it

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(*arguments: str) -> str | None:
    """Return what git says, or None where there is no clone."""
    try:
        asked = subprocess.run(
            ["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return None if asked.returncode else asked.stdout.strip()


def stamp() -> tuple[str, int] | None:
    """Return the commit's hash and its time in seconds since 1970, or None if nothing tells."""
    if handed_on := os.environ.get("USERDP_STAMP"):
        commit, seconds, _ = handed_on.split()
        return None if commit == "none" else (commit, int(seconds))
    inside = (ROOT / ".git").exists()  # and not in a folder of some other repository
    said = git("log", "-1", "--format=%H %ct") if inside else (ROOT / ".git_archival").read_text()
    found = re.fullmatch(r"([0-9a-f]{40}) (\d+)", (said or "").strip())
    return (found[1], int(found[2])) if found else None


def changed() -> bool:
    """Return whether a file of the clone differs from the commit's."""
    if handed_on := os.environ.get("USERDP_STAMP"):
        return handed_on.endswith(" changed")
    return bool((ROOT / ".git").exists() and git("status", "--porcelain", "--untracked-files=no"))


def origin() -> str:
    """Return in words which commit is built: nothing where nothing tells."""
    told = stamp()
    return f"built from commit {told[0][:12]}{', with changes' * changed()}" if told else ""


def repository() -> str | None:
    """Return the repository's address, USERDP_REPOSITORY: https://HOST/OWNER/NAME."""
    address = os.environ.get("USERDP_REPOSITORY")
    if address and not re.fullmatch(r"https://[\w.-]+/[\w.-]+/[\w.-]+", address):
        raise ValueError(f"USERDP_REPOSITORY must be https://HOST/OWNER/NAME, got {address!r}.")
    return address or None


if __name__ == "__main__":  # for the Makefile: commit, seconds since 1970, and whether as committed
    print(*(stamp() or ("none", 0)), "changed" if changed() else "committed")
