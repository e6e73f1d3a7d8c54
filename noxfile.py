"""What is run now and then, in clean environments: `.venv/bin/nox --session NAME`.

`nox --list` lists the sessions. Each works in a clone of the last commit: chapters write tables.
"""

import json
import re
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = ["plot", "progress", "release", "tables"]  # not those for Spark and for other libraries
SETTINGS = {
    "as-it-is": {},
    "no-dispatch": {"NPY_DISABLE_CPU_FEATURES": "all that numpy finds"},
    # Without the second, exp and log of the C library would still know fused multiply-add.
    "prescott": {
        "OPENBLAS_CORETYPE": "Prescott",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL",
    },
    "one-thread": {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "two-threads": {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
}
"""How machines may differ: in numpy's instructions, in OpenBLAS's kernels, in threads."""

nox.options.default_venv_backend = "uv|venv"
nox.options.sessions = []


def clone(session: nox.Session) -> Path:
    """Clone the last commit, and go there."""
    copy = Path(session.create_tmp()).resolve() / "copy"
    session.run("rm", "-rf", str(copy), external=True)
    session.run("git", "clone", "--quiet", str(ROOT), str(copy), external=True)
    session.chdir(copy)
    return copy


def install_lock(session: nox.Session) -> None:
    """Install what the book is built with, as `make book` does."""
    session.install("setuptools>=77")  # what builds packages that come as source
    session.install("--no-build-isolation", "--require-hashes", "-r", "requirements.lock")
    session.install("--no-deps", "--no-build-isolation", "-e", ".")
    warm(session)


def warm(session: nox.Session) -> None:
    """Have matplotlib make its font cache, of which it tells a page otherwise."""
    session.run("python", "-c", "import matplotlib.pyplot", silent=True)


@nox.session(python="3.11")
@nox.parametrize("setting", list(SETTINGS), ids=list(SETTINGS))
def verify(session: nox.Session, setting: str) -> None:
    """Execute every chapter, and compare every number and picture with what is stored."""
    clone(session)
    install_lock(session)
    environment = dict(SETTINGS[setting])
    if "NPY_DISABLE_CPU_FEATURES" in environment:
        ask = "import json, numpy; print(json.dumps(numpy.show_config('dicts')['SIMD Extensions']))"
        found = json.loads(session.run("python", "-c", ask, silent=True)).get("found", [])
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(found)
        session.log(f"Without {', '.join(found)}.")
    session.run("python", "tools/execute.py", "--store", env=environment)
    same = ["git", "diff", "--exit-code", "--stat"]
    if session.run(*same, external=True, success_codes=[0, 1], silent=True):
        session.install("nbdime==4.0.4")
        session.run("nbdiff", "--ignore-metadata", "--ignore-id", "HEAD", success_codes=[0, 1])
        session.run("git", "--no-pager", "diff", "--", "*.csv", external=True)
        session.run(*same, external=True)


def tools() -> list[str]:
    """Return what the tests and the chapters run with, but the libraries that userdp asks for."""
    asked = [
        *PROJECT["dependencies"],
        *(x for name in EXTRAS for x in PROJECT["optional-dependencies"][name]),
    ]
    names = {re.match(r"[\w-]+", line)[0] for line in asked}
    pinned = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    kept = [
        line
        for line in pinned
        if re.match(r"\w", line) and re.match(r"[\w-]+", line)[0] not in names
    ]
    # An old numpy may not go with the pandas that is pinned.
    return ["pandas>=2.3" if line.startswith("pandas") else line for line in kept]


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
@nox.parametrize("libraries", ["lowest-direct", "highest"], ids=["oldest", "newest"])
def versions(session: nox.Session, libraries: str) -> None:
    """Run tests and chapters with the oldest and the newest libraries that userdp admits."""
    clone(session)
    wheels = [
        f"--only-binary={name}" for name in ("numpy", "scipy", "matplotlib", "duckdb", "pandas")
    ]
    wanted = [f".[{','.join(EXTRAS)}]", *tools()]
    session.run_install(
        "uv", "pip", "install", "--resolution", libraries, *wheels, *wanted, external=True
    )
    warm(session)
    parallel = ["--numprocesses", "logical", "--dist", "loadfile"]
    session.run("python", "-m", "pytest", *parallel, "tests", "userdp")
    session.run("python", "-m", "pytest", *parallel, "--nbval", "--nbval-current-env", "book")
    session.run("git", "diff", "--exit-code", "--", "book", external=True)


@nox.session(python="3.11")
def audit(session: nox.Session) -> None:
    """Look the locked packages up in the advisories of PyPI."""
    session.install("pip-audit==2.10.1")
    locks = ["-r", "requirements.lock", "-r", "requirements-extras.lock"]
    session.run("pip-audit", "--strict", "--require-hashes", "--disable-pip", *locks)
