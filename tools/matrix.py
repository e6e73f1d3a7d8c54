"""Run the tests and the chapters on every Python found, with the oldest and the newest libraries.

Each environment, under .matrix/, has a clone of the last commit of its own: chapters write their
data, and must write what is committed. Exits with 1 if anything failed; an absent interpreter is
no failure, but the table says that nothing was run on it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import built
from built import ROOT

HOME = ROOT / ".matrix"
WANTED = ["3.11", "3.12", "3.13"]
SETS = ["oldest", "newest"]
OPTIONAL = ["plot", "progress", "release", "tables"]  # not the heavy ones, for engines and peers
UNUSED = {"ruff", "mypy"}  # they read the source, which no library changes
BUILT_ON_NUMPY = {"pandas"}  # the pins that an old numpy may not go with
LONGEST = 3600  # seconds that one command may take
COLUMNS = ["Python", "libraries", "numpy", "scipy", "tests", "chapters", "data"]
PROBE = """import json, sys, venv, ensurepip
print(json.dumps([sys.executable, "%d.%d" % sys.version_info[:2], sys.version_info >= (3, 11)]))"""
INSTALLED = """import importlib.metadata as m, json
names = ((d.metadata["Name"].lower().replace("_", "-"), d.version) for d in m.distributions())
print(json.dumps(dict(names)))"""


def say(text: str = "") -> None:
    """Show what is being done, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def report(text: str) -> None:
    """Print a line for good."""
    say()
    print(text, flush=True)


def name_of(requirement: str) -> str:
    """Return the name of the package that a requirement asks for, in lower case."""
    return re.match(r"[\w.-]*", requirement)[0].lower()


def chosen(project: dict) -> list[str]:
    """Return what the metadata asks for, with the optional packages that the book uses."""
    optional = project.get("optional-dependencies", {})
    return [*project["dependencies"], *(line for name in OPTIONAL for line in optional[name])]


def bounds(requirements: list[str]) -> dict[str, str]:
    """Return the lower bound of each package; it may have an upper one as well."""
    found = {}
    for requirement in requirements:
        bound = re.fullmatch(r"[\w.-]+(?:\[\w+\])?>=(\d+(?:\.\d+)+)(?:,<[\d.]+)?", requirement)
        if not bound:
            raise ValueError(f"expected name>=version in pyproject.toml, got {requirement!r}")
        found[name_of(requirement)] = bound[1]
    return found


def candidates(name: str, bound: str) -> Iterator[str]:
    """Yield what may be the oldest version admitted: the bound itself, then later ones.

    A Python newer than the bound has no wheel of it: then the newest patch of the same minor
    version is tried, then the first and the newest patch of the next.
    """
    major, minor, *_ = map(int, bound.split("."))
    yield f"{name}=={bound}"
    yield f"{name}>={bound},=={major}.{minor}.*"
    for later in range(minor + 1, minor + 10):
        yield f"{name}=={major}.{later}.0"
        yield f"{name}=={major}.{later}.*"


def pins(text: str, replaced: set[str]) -> list[str]:
    """Return the lines of requirements.txt that pin a package which the matrix does not choose."""
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith("-")]
    return [line for line in kept if name_of(line) not in replaced | UNUSED]


def relaxed(pinned: list[str], installed: dict[str, str]) -> list[str]:
    """Say which packages were installed at another version than requirements.txt pins."""
    wanted = {name_of(line): line.partition("==")[2].partition(";")[0].strip() for line in pinned}
    return [
        f"{name} {installed.get(name)} instead of {version}"
        for name, version in wanted.items()
        if installed.get(name) != version
    ]


def probe(command: str) -> tuple[str, str] | str:
    """Return an interpreter's path and version, or why it cannot be used."""
    path = shutil.which(command)
    if not path:
        return f"{command} is not on PATH"
    asked = subprocess.run([path, "-c", PROBE], capture_output=True, text=True, check=False)
    if asked.returncode:  # a version manager's stub, or Debian's Python without its venv module
        said = asked.stderr.strip().splitlines() or ["it says nothing"]
        return f"{path} does not run: {said[-1 if said[0].startswith('Traceback') else 0]}"
    path, version, new_enough = json.loads(asked.stdout)
    return (path, version) if new_enough else f"{path} is Python {version}, older than 3.11"


def interpreters(given: str | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return the path of each version found, and for those lacking the reason."""
    found, lacking = {}, {}
    if given:
        answer = probe(given)
        if isinstance(answer, str):
            lacking["PYTHON"] = answer
        else:
            found[answer[1]] = answer[0]
    for version in WANTED:
        if version not in found:
            answer = probe(f"python{version}")
            if isinstance(answer, str):
                lacking[version] = answer
            else:
                found[version] = answer[0]
    return found, lacking


def run(log: Path, command: list[str | Path], **options: object) -> bool:
    """Run a command, add what it says to the log, and tell whether it succeeded."""
    with log.open("a") as file:
        print("$", *command, file=file, flush=True)
        try:
            return not subprocess.run(
                command, stdout=file, stderr=subprocess.STDOUT, timeout=LONGEST, **options
            ).returncode
        except subprocess.TimeoutExpired:  # a library's thread may hang at exit
            print("stopped after", LONGEST, "seconds", file=file)
            return False


def ask(command: list[str | Path]) -> str:
    """Return what a command prints; it must succeed."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def oldest(python: Path, log: Path, libraries: list[str]) -> list[str]:
    """Return for each package the oldest version admitted that has a wheel for this Python."""
    asking = [python, "-m", "pip", "install", "--dry-run", "--no-deps", "--only-binary", ":all:"]
    found = []
    for requirement, bound in zip(libraries, bounds(libraries).values(), strict=True):
        name = requirement.partition(">=")[0]  # with its extras
        works = (spec for spec in candidates(name, bound) if run(log, [*asking, spec]))
        found.append(next(works, f"{name}>={bound}"))
    return found


def install(
    folder: Path, interpreter: str, which: str, commit: str
) -> tuple[list[str], dict[str, str]] | None:
    """Clone the commit, make its environment, and return its pins and what it holds."""
    log, copy, python = folder / "install.log", folder / "copy", folder / "env" / "bin" / "python"
    if not run(log, ["git", "clone", "--quiet", ROOT, copy]):
        return None
    if not run(log, ["git", "-C", copy, "checkout", "--quiet", "--detach", commit]):
        return None
    if not run(log, [interpreter, "-m", "venv", folder / "env"]):
        return None
    libraries = chosen(tomllib.loads((copy / "pyproject.toml").read_text())["project"])
    lowest = bounds(libraries)
    if which == "oldest":
        libraries = oldest(python, log, libraries)
    pinned = pins((copy / "requirements.txt").read_text(), set(lowest))
    wheels = ["--only-binary", ",".join(lowest)]
    pip = [python, "-m", "pip", "install", *wheels, *libraries, "-e", copy]
    if not run(log, [*pip, *pinned]):
        freed = [name_of(line) if name_of(line) in BUILT_ON_NUMPY else line for line in pinned]
        if not run(log, [*pip, *freed]):
            return None
    run(log, [python, "-c", "import matplotlib.pyplot"])  # builds its font cache, and says so
    return pinned, json.loads(ask([python, "-c", INSTALLED]))


def outcomes(xml: str) -> list[tuple[str, str]]:
    """Return the place and the outcome (passed, failed or skipped) of each test in a report."""
    words = {"failure": "failed", "error": "failed", "skipped": "skipped"}
    return [
        (
            case.get("classname") or case.get("name"),
            next((words[child.tag] for child in case if child.tag in words), "passed"),
        )
        for case in ET.fromstring(xml).iter("testcase")
    ]


def check(folder: Path, what: str, arguments: list[str]) -> list[tuple[str, str]] | None:
    """Run pytest in the clone and return the outcomes, or None if it could not finish."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name
        not in {
            "PYTHONPATH",
            "PYTHONHOME",
            "PYTEST_ADDOPTS",
            "USERDP_REQUIRE_PAGES",
            "USERDP_REQUIRE_EXTRAS",
        }
    }
    environment["PATH"] = f"{folder / 'env' / 'bin'}{os.pathsep}{environment['PATH']}"
    xml = folder / f"{what}.xml"
    command = [folder / "env" / "bin" / "python", "-m", "pytest", f"--junitxml={xml}", *arguments]
    fine = run(folder / f"{what}.log", command, cwd=folder / "copy", env=environment)
    found = outcomes(xml.read_text()) if xml.exists() else []
    # No tests, or red without a red test, is a broken run: it must not count as green.
    return found if found and fine == all(word != "failed" for _, word in found) else None


def row(version: str, interpreter: str, which: str, commit: str) -> tuple[list[str], bool]:
    """Test one environment; return its line of the table, and whether all is well."""
    folder = HOME / f"python{version}-{which}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    say(f"Python {version}, {which} libraries: installing")
    made = install(folder, interpreter, which, commit)
    if made is None:
        report(f"Python {version}, {which}: not installed; see {folder / 'install.log'}")
        return [version, which, "not installed"], False
    pinned, installed = made
    for change in relaxed(pinned, installed):
        report(f"Python {version}, {which}: relaxed a pin: {change}")
    lowest = bounds(chosen(tomllib.loads((folder / "copy/pyproject.toml").read_text())["project"]))
    versions = ", ".join(f"{name} {installed.get(name)}" for name in lowest)
    report(f"Python {version}, {which}: {versions}")

    say(f"Python {version}, {which} libraries: testing")
    tests = check(folder, "tests", ["tests", "userdp"])
    say(f"Python {version}, {which} libraries: executing the chapters")
    cells = check(folder, "chapters", ["--nbval", "--nbval-current-env", "book"])
    words = [word for _, word in tests or []]
    counts = ", ".join(f"{words.count(word)} {word}" for word in ("passed", "failed", "skipped"))
    chapters = {place for place, _ in cells or []}
    differ = sorted({place for place, word in cells or [] if word != "passed"})
    agree = f"{len(chapters) - len(differ)} agree, {len(differ)} differ"
    git = ["git", "-C", folder / "copy", "status", "--porcelain", "--", "book"]
    changed = ask(git).splitlines()
    for line in [*differ, *changed]:
        report(f"Python {version}, {which}: differs: {line.strip()}")

    line = [version, which, installed["numpy"], installed["scipy"]]
    line += [counts if tests else "broken", agree if cells else "broken"]
    line += [f"{len(changed)} changed" if changed else "same"]
    fine = bool(tests and cells) and "failed" not in words and not differ and not changed
    if not fine:
        report(f"Python {version}, {which}: failed; see the logs in {folder}")
    return line, fine


def table(rows: list[list[str]]) -> str:
    """Set rows in columns; the last cell of a short row runs on over the rest."""
    widths = [
        max(len(line[k]) for line in rows if len(line) == len(COLUMNS)) for k in range(len(COLUMNS))
    ]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip()
        for line in rows
    )


def main() -> int:
    """Run the whole matrix and return the exit status."""
    # Named once: a commit made while this runs must not split the table between two.
    commit = (ROOT / ".git").exists() and built.git("rev-parse", "HEAD")
    if not commit:
        report("This is no clone: there is no commit to test.")
        return 1
    found, lacking = interpreters(os.environ.get("PYTHON"))
    left_out = ", without what is not committed" if built.git("status", "--porcelain") else ""
    report(f"Testing commit {commit[:7]}{left_out}.")
    for version, reason in lacking.items():
        report(f"LACKING {version}: {reason}")
    rows, fine = [COLUMNS], bool(found)
    for version, interpreter in found.items():
        for which in SETS:
            line, passed = row(version, interpreter, which, commit)
            rows.append(line)
            fine = fine and passed
    rows += [[version, "NOT RUN", reason] for version, reason in lacking.items()]
    report(table(rows))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
