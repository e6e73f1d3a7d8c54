"""Count which of a seeded random sample of mutants of `userdp` the tests notice.

mutmut changes one operator, number, name or argument of one function, and runs the tests that call
it until one fails. Noticed is a mutant with which a test fails or hangs. mutmut is installed, and
has its settings in pyproject.toml. Run by `make mutate`, never by a test: an hour on one core.
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
"""By what mutmut keeps of a mutant."""


def run(*names: str) -> None:
    """Make all mutants, find the tests that call each function, and test the named mutants."""
    subprocess.run([*MUTMUT, *names], cwd=MUTANTS.parent, check=True)


def outcomes(package: str) -> dict[str, int | None]:
    """Return the mutants of a package by name, each with what became of it, None if untested."""
    folder = MUTANTS / package.replace(".", "/")
    found = (json.loads(path.read_text("utf-8")) for path in folder.glob("*.meta"))
    return dict(sorted(pair for each in found for pair in each["exit_code_by_key"].items()))


def counts() -> Iterator[Row]:
    """Yield a row per package: mutants in all, sampled, noticed, survived; list the survivors."""
    run("userdp._progress.*")  # the smallest module: the names of all are known afterwards
    rng = np.random.default_rng(SEED)
    sample = {
        package: rng.permutation([*outcomes(package)])[:size].tolist()
        for package, size in SAMPLED.items()
    }
    run(*(name for names in sample.values() for name in names))
    for package, names in sample.items():
        every = outcomes(package)
        if None in {every[name] for name in names}:
            raise RuntimeError(f"mutmut stopped before it had tested the sample of {package}")
        survived = [name for name in names if every[name] in NOT_NOTICED]
        for name in survived:
            print(f"survived, {NOT_NOTICED[every[name]]}: {name}")
        yield package, len(every), len(names), len(names) - len(survived), len(survived)


if __name__ == "__main__":
    header = ("package", "mutants", "sampled", "noticed", "survived")
    write("mutants.csv", header, counts(), "make mutate", SEED)
