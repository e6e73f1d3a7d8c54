"""Count how many mutants of `userdp`, of a seeded random sample, the tests notice.

mutmut changes one operator, number, name or argument of a function, and runs the tests that call
the function until one fails. A mutant is noticed if a test fails or hangs. The settings of mutmut
are in pyproject.toml. Run by `make mutate`, which installs mutmut; it takes an hour on one core.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from run import Row, write

SEED = 2026
SAMPLED = {"userdp": 100, "userdp.release": 100, "userdp.beyond": 0}
"""Mutants of each package, without those of packages inside it."""

MUTMUT = [str(Path(sys.executable).with_name("mutmut")), "run", "--max-children", "1"]
MUTANTS = Path(__file__).resolve().parents[2] / "mutants"
NOT_NOTICED = {0: "no test fails", 5: "no tests", 33: "no tests"}
"""Descriptions of the exit codes that mutmut stores for unnoticed mutants."""


def run(*names: str) -> None:
    """Make all mutants, find the tests that call each function, and test the named mutants."""
    subprocess.run([*MUTMUT, *names], cwd=MUTANTS.parent, check=True)


def outcomes(package: str) -> dict[str, int | None]:
    """Return the exit code of each mutant of a package by name; None if it was not tested."""
    folder = MUTANTS / package.replace(".", "/")
    files = (json.loads(path.read_text("utf-8")) for path in folder.glob("*.meta"))
    return dict(sorted(pair for outcome in files for pair in outcome["exit_code_by_key"].items()))


def counts() -> Iterator[Row]:
    """Yield a row per package (mutants, sampled, noticed, survived), and print the survivors."""
    run("userdp._progress.*")  # the smallest module; this creates the list of all mutants
    rng = np.random.default_rng(SEED)
    sample = {
        package: rng.permutation([*outcomes(package)])[:size].tolist()
        for package, size in SAMPLED.items()
    }
    run(*(name for names in sample.values() for name in names))
    for package, names in sample.items():
        codes = outcomes(package)
        if None in {codes[name] for name in names}:
            raise RuntimeError(f"mutmut stopped before it had tested the sample of {package}")
        survived = [name for name in names if codes[name] in NOT_NOTICED]
        for name in survived:
            print(f"survived, {NOT_NOTICED[codes[name]]}: {name}")
        yield package, len(codes), len(names), len(names) - len(survived), len(survived)


if __name__ == "__main__":
    header = ("package", "mutants", "sampled", "noticed", "survived")
    write("mutants.csv", header, counts(), "make mutate", SEED)
