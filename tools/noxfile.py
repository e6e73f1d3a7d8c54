"""Occasional checks in clean environments: `.venv/bin/nox -f tools/noxfile.py -s NAME`.

`.venv/bin/nox -f tools/noxfile.py --list` lists the sessions. Each works in a clone of the last
commit, because chapters write tables.
"""

import json
import os
import re
import shlex
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = ["beyond", "frame", "progress", "release", "tables"]  # not Spark, other libraries
SETTINGS = {
    "as-it-is": {},
    "no-dispatch": {"NPY_DISABLE_CPU_FEATURES": "all that numpy finds"},
    # GLIBC_TUNABLES also disables fused multiply-add in the C library's exp and log.
    "prescott": {
        "OPENBLAS_CORETYPE": "Prescott",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL",
    },
    "one-thread": {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "two-threads": {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
}
"""Simulated differences between machines: numpy's instructions, OpenBLAS's kernels, threads."""
nox.options.default_venv_backend = "uv|venv"
nox.options.envdir = ROOT / ".nox"
nox.options.sessions = []


def clone(session: nox.Session) -> Path:
    """Clone the last commit, and change to the clone."""
    copy = Path(session.create_tmp()).resolve() / "copy"
    session.run("rm", "-rf", str(copy), external=True)
    session.run("git", "clone", "--quiet", str(ROOT), str(copy), external=True)
    session.chdir(copy)
    return copy


def install_lock(session: nox.Session) -> None:
    """Install the locked requirements of the book, as `make book` does."""
    session.install("setuptools>=77")  # builds packages that are distributed as source
    session.install("--no-build-isolation", "--require-hashes", "-r", "requirements/book.lock")
    session.install("--no-deps", "--no-build-isolation", "-e", ".")
    build_font_cache(session)


def build_font_cache(session: nox.Session) -> None:
    """Build matplotlib's font cache, which would otherwise print a message on a page."""
    session.run("python", "-c", "import matplotlib.pyplot", silent=True)


@nox.session(python="3.11")
@nox.parametrize("setting", list(SETTINGS), ids=list(SETTINGS))
def verify(session: nox.Session, setting: str) -> None:
    """Execute every chapter, and compare every number and picture with what is stored."""
    clone(session)
    install_lock(session)
    environment = dict(SETTINGS[setting])
    if "NPY_DISABLE_CPU_FEATURES" in environment:
        code = (
            "import json, numpy; print(json.dumps(numpy.show_config('dicts')['SIMD Extensions']))"
        )
        features = json.loads(session.run("python", "-c", code, silent=True)).get("found", [])
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(features)
        session.log(f"Without {', '.join(features)}.")
    session.run("python", "tools/execute.py", "--store", env=environment)
    compare = ["git", "diff", "--exit-code", "--stat"]
    if session.run(*compare, external=True, success_codes=[0, 1], silent=True):
        session.install("nbdime==4.0.4")
        session.run("nbdiff", "--ignore-metadata", "--ignore-id", "HEAD", success_codes=[0, 1])
        session.run("git", "--no-pager", "diff", "--", "*.csv", external=True)
        session.run(*compare, external=True)


def test_requirements() -> list[str]:
    """Return the requirements of tests and chapters that are not requirements of userdp."""
    requirements = [
        *PROJECT["dependencies"],
        *(x for name in EXTRAS for x in PROJECT["optional-dependencies"][name]),
    ]
    names = {re.match(r"[\w-]+", line)[0] for line in requirements}
    files = [ROOT / "requirements.txt", ROOT / "requirements" / "tests.txt"]
    other_lines = [
        line
        for file in files
        for line in file.read_text("utf-8").splitlines()
        if re.match(r"\w", line) and re.match(r"[\w-]+", line)[0] not in names
    ]
    # The pinned pandas may be incompatible with an old numpy.
    return ["pandas>=2.3" if line.startswith("pandas") else line for line in other_lines]


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
@nox.parametrize("libraries", ["lowest-direct", "highest"], ids=["oldest", "newest"])
def versions(session: nox.Session, libraries: str) -> None:
    """Run tests and chapters with the oldest and the newest libraries that userdp admits."""
    clone(session)
    wheels = [
        f"--only-binary={name}" for name in ("numpy", "scipy", "matplotlib", "duckdb", "pandas")
    ]
    requested = [f".[{','.join(EXTRAS)}]", *test_requirements()]
    session.run_install(
        "uv", "pip", "install", "--resolution", libraries, *wheels, *requested, external=True
    )
    build_font_cache(session)
    parallel = ["--numprocesses", "logical", "--dist", "loadfile"]
    without_pages = ["--ignore", "tests/site/pages"]  # which need a built book
    session.run("python", "-m", "pytest", *parallel, *without_pages, "tests", "userdp")
    session.run("python", "-m", "pytest", *parallel, "--nbval", "--nbval-current-env", "book")
    session.run("git", "diff", "--exit-code", "--", "book", external=True)


@nox.session(python="3.11")
def audit(session: nox.Session) -> None:
    """Look up the locked packages in PyPI's security advisories."""
    session.install("pip-audit==2.10.1")
    locks = [f"--requirement={lock}" for lock in sorted(ROOT.glob("requirements/*.lock"))]
    session.run("pip-audit", "--strict", "--require-hashes", "--disable-pip", *locks)


@nox.session(python="3.11", venv_backend="venv")
def binder(session: nox.Session) -> None:
    """Install what Binder adds to Jupyter, and execute some chapters."""
    clone(session)
    session.install("--no-compile", "jupyterlab")
    session.run("bash", ".binder/postBuild", external=True)
    session.chdir("book")
    chapters = [f"{name}.ipynb" for name in ("aircraft", "claims", "experiments")]
    session.run("jupyter", "execute", "--startup_timeout=600", *chapters)


ADDRESSES = ["USERDP_REPOSITORY", "BOOK_URL"]


@nox.session(venv_backend="venv", python="3.11")
@nox.parametrize("addresses", [False, True], ids=["without-addresses", "with-addresses"])
def downloads(session: nox.Session, addresses: bool) -> None:
    """Execute each downloaded chapter alone, with the requirements that its first cell installs."""
    copy = clone(session)
    # No server listens at the book's address, because a copy must not need it.
    settings = {"USERDP_REPOSITORY": f"file://{copy}", "BOOK_URL": "http://127.0.0.1:9/"}
    session.run(
        "make", "preview", env=settings if addresses else dict.fromkeys(ADDRESSES), external=True
    )
    copies = copy.with_name("chapters")
    session.run("rm", "-rf", str(copies), external=True)
    chapters = sorted(
        (copy / "_build" / "html" / "_sources" / "book").rename(copies).glob("*.ipynb")
    )
    heads = {
        path: "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
        for path in chapters
    }
    lines = {path: re.search("^pip install .*", head, re.M)[0] for path, head in heads.items()}
    # First the chapters that need fewer packages, while the others are not installed yet.
    fewest_first = sorted(set(lines.values()), key=lambda line: "[chapters]" not in line)
    # Older versions of pip reject the address of a folder.
    session.run("python", "-m", "pip", "install", "pip>=25")
    folder = copy.with_name("alone")
    for line in fewest_first:
        session.chdir(copy)
        session.run(*shlex.split(line))
        session.chdir(folder.parent)
        hidden = copy.rename(copy.with_name("hidden"))  # no chapter can read files of the clone
        execute_alone(session, folder, [path for path in chapters if lines[path] == line])
        hidden.rename(copy)


def execute_alone(session: nox.Session, folder: Path, chapters: list[Path]) -> None:
    """Execute each chapter in an empty folder."""
    for chapter in chapters:
        session.run("rm", "-rf", str(folder), external=True)
        folder.mkdir()
        session.chdir(folder)
        session.run("cp", str(chapter), ".", external=True)
        session.run("jupyter", "execute", "--startup_timeout=600", chapter.name)
        session.chdir(folder.parent)


@nox.session(python="3.11")
def data(session: nox.Session) -> None:
    """Validate the archive of all data with Frictionless: columns, types, sizes and checksums."""
    copy = clone(session)
    session.run("make", "preview", external=True)
    session.install("frictionless==5.21.0")
    session.run("frictionless", "validate", str(copy / "_build" / "html" / "userdp-data.zip"))


# --- The package for PyPI -------------------------------------------------------------------------

PACKAGES = ROOT / "_build" / "packages"
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
RELEASE, SHOWN, GROUPS, WEEKS, PLAN, _, SPARK, COUNTS = BLOCKS
ROWS = "SELECT id % 90 AS user, id % 65e0 AS value, 1 + id % 12 AS month FROM range(2000) AS t(id)"
SESSION = f"""
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.sql("{ROWS}").write.parquet("trips.parquet")
"""
EXAMPLES = {
    "": "".join(line for line in COUNTS.splitlines(True) if "release_mean" not in line),
    "frame": "import pandas, userdp",
    "progress": "import tqdm, userdp",
    "release": COUNTS,
    "release,tables": "import duckdb\n"
    + "".join(f"duckdb.sql('{ROWS}').write_parquet('{x}.parquet')\n" for x in ("trips", "week-1"))
    + "".join([RELEASE, SHOWN, GROUPS, WEEKS, PLAN]),
    "release,spark": SESSION + SPARK,
    "diffprivlib": "import diffprivlib, userdp",
    "pydp": "import pydp, userdp",
    "pipelinedp": "import pipeline_dp, userdp",
}
"""Code to run from the installed package with these extras, from the README where it has some."""


@nox.session
def packages(session: nox.Session) -> None:
    """Build the packages of the last commit for PyPI, and check their descriptions."""
    copy = clone(session)
    if address := os.getenv("USERDP_REPOSITORY"):  # PyPI has no files beside the README
        readme, project = copy / "README.md", copy / "pyproject.toml"
        text = re.sub(r"\]\((?!https?:)", f"]({address}/raw/HEAD/", readme.read_text("utf-8"))
        readme.write_text(text, "utf-8")
        urls = f'[project.urls]\nRepository = "{address}"\n'
        if book := os.getenv("BOOK_URL"):
            urls += f'Documentation = "{book}"\n'
        project.write_text(project.read_text("utf-8").replace("[project.urls]\n", urls), "utf-8")
    session.run("rm", "-rf", str(PACKAGES), external=True)
    session.run_install("uv", "build", "--quiet", "--out-dir", str(PACKAGES), external=True)
    session.install("twine==7.0.0")
    session.run("twine", "check", "--strict", *map(str, PACKAGES.glob("userdp-*")))


@nox.session(python=["3.11", "3.12", "3.13", "3.14"], requires=["packages"])
@nox.parametrize("extra", list(EXAMPLES), ids=[extra or "none" for extra in EXAMPLES])
def wheel(session: nox.Session, extra: str) -> None:
    """Install the wheel into an empty environment, and run the README's code in another folder."""
    (file,) = PACKAGES.glob("*.whl")
    session.install(f"userdp[{extra}] @ {file.as_uri()}")
    session.chdir(session.create_tmp())
    session.run("rm", "-rf", "trips.parquet", external=True)
    session.run("python", "-I", "-c", EXAMPLES[extra])
