"""Make the site of the last commit once more, in another folder, and compare every byte.

What is compared with is what `make site` made here: the pages and the PDF. Exits with 1 if a file
differs or is missing, and says which.
"""

import os
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import built

AGAIN = built.ROOT / "_build" / "again"


def made(folder: Path) -> dict[str, Path]:
    """Return the files of the site that was made in a folder, by their paths within."""
    pages = [path for path in (folder / "_build" / "html").rglob("*") if path.is_file()]
    every = [folder / "_build" / "companion.pdf", *pages]
    return {path.relative_to(folder / "_build").as_posix(): path for path in every}


def where(first: bytes, second: bytes) -> str:
    """Say where two contents part: at which line and byte, and what stands there."""
    pairs = enumerate(zip_longest(first, second))
    place = next(number for number, (one, other) in pairs if one != other)
    line = first.count(b"\n", 0, place) + 1
    around = slice(max(0, place - 40), place + 40)
    return f"line {line}, byte {place}:\n  {first[around]!r}\n  {second[around]!r}"


def differences(one: dict[str, Path], other: dict[str, Path]) -> list[str]:
    """Return what differs between two sites, a text for each file."""
    found = [f"{name}: only in one of the two" for name in sorted(one.keys() ^ other.keys())]
    for name in sorted(one.keys() & other.keys()):
        contents = one[name].read_bytes(), other[name].read_bytes()
        if contents[0] != contents[1]:
            found.append(f"{name}: {where(*contents)}")
    return found


def make_again() -> None:
    """Clone the commit and make its site there, in this environment but with its own code."""
    shutil.rmtree(AGAIN, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", built.ROOT, AGAIN], check=True)
    (AGAIN / ".venv").symlink_to(built.ROOT / ".venv")
    environment = os.environ | {"PYTHONPATH": str(AGAIN)}
    command = ["make", "--directory", AGAIN, "--assume-old", ".venv/ready", "site"]
    subprocess.run(command, env=environment, check=True)


def main() -> int:
    """Compare, and return the exit status."""
    if built.changed() or not (built.ROOT / ".git").exists():
        print("What is made again is the last commit of a clone: files differ, or this is none.")
        return 1
    make_again()
    here, there = made(built.ROOT), made(AGAIN)
    found = differences(here, there)
    print(*found, f"{len(found)} of {len(here)} files differ.", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
