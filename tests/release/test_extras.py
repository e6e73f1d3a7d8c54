"""The libraries of each extra: without one, every function that needs it says what to install.

Each call runs in a process where a library cannot be imported, with data that fail if they are
read.
"""

import subprocess
import sys

import pytest

FINDER = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Finder())
"""
WITHOUT = (
    FINDER.replace("MISSING", 'root == "LIBRARY"')
    + """
from fractions import Fraction
import userdp as ud
from userdp import beyond, release

class Unread:
    def __array__(self, dtype=None, copy=None):
        print("the data were read")
        raise SystemExit

unread, other = Unread(), Unread()
bounds = {"lower": 0, "upper": 6}
users = ud.Contributions([2, 1], 6)
law = beyond.GaussianNoise(1)
"""
)

OPENDP = {
    "a private mean": "release.private_mean(unread, other, **bounds, budget=1)",
    "protected counts": "release.private_mean_protected_counts("
    "unread, other, **bounds, eps=1, cap=2)",
    "sums": "release.release_mean(unread, users, 1)",
    "vectors": "release.release_mean_in_ball(unread, users, law)",
    "a measurement": "release.as_measurement('user', 'value', data=unread, **bounds, budget=1)",
    "Laplace noise": "release.discrete_laplace(1, Fraction(1))",
    "Gaussian noise": "release.discrete_gaussian(1, law)",
    "a divided budget": "release.divide_budget(3, eps=1)",
}
FILES = {
    "counts": "release.user_counts('user', data='records.csv')",
    "a tally": "release.protected_tally('user', 'value', **bounds, data=['records.csv'])",
    "a private mean": "release.private_mean("
    "'user', 'value', **bounds, budget=1, data='records.parquet')",
}
ARROW = {
    "a file": FILES["counts"],
    "a frame of polars": "import polars as pl\n"
    "lazy = pl.LazyFrame({'user': [1]}).map_batches(lambda _: pl.DataFrame(unread))\n"
    "release.user_counts('user', data=lazy)",
    "a column of polars": "import polars as pl\n"
    "release.private_mean(unread, pl.Series([1.0]), **bounds, budget=1)",
    "a relation": "import duckdb\nrelease.user_counts('user', data=duckdb.sql('SELECT 1 AS user'))",
}
FRAME = {
    "a sweep": "sweep = ud.error_sweep({'L': ud.laplace}, users, [1], ud.uniform_sums, 2, rng=0)\n"
    "sweep.frame()"
}
CALLS = [
    ("release", "opendp", OPENDP),
    ("tables", "ibis", FILES),
    ("tables", "duckdb", FILES),
    ("tables", "pyarrow", ARROW),
    ("frame", "pandas", FRAME),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "library", "call"),
    [
        pytest.param(extra, library, call, id=f"{library}, {what}")
        for extra, library, calls in CALLS
        for what, call in calls.items()
    ],
)
def test_without_a_library_a_call_says_what_to_install(extra, library, call, tmp_path):
    for name in ("records.csv", "records.parquet"):
        (tmp_path / name).write_text("not a table, so that reading it would fail")
    code = WITHOUT.replace("LIBRARY", library) + call
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == ""
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("ImportError: ")
    assert message.endswith(f": pip install 'userdp[{extra}]'.")


@pytest.mark.parametrize("library", ["tqdm", "pandas", "pyarrow", "matplotlib", "opendp"])
def test_without_a_library_the_core_works(library):
    work = (
        "print(ud.error_sweep({'L': ud.laplace}, users, [1], ud.uniform_sums, 2, rng=0).n_trials)"
    )
    code = WITHOUT.replace("LIBRARY", library) + work
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "2"


ALONE = (
    """
from doctest import testmod
from importlib import import_module
from pkgutil import iter_modules
import numpy  # loads its libraries first
"""
    + FINDER.replace("MISSING", 'root not in {"userdp", "numpy", *sys.stdlib_module_names}')
    + """
import userdp as ud
failed = ["userdp." + one.name for one in iter_modules(ud.__path__) if not one.ispkg
          and testmod(import_module("userdp." + one.name)).failed]
print(failed)
"""
)


def test_with_numpy_alone_the_examples_of_the_core_run_except_the_linear_program():
    command = [sys.executable, "-c", ALONE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("['userdp.kkt']\n")
    assert done.stdout.count("Failed example") == 2
    assert done.stdout.count("ImportError: Solving the linear program needs scipy: ") == 1


@pytest.mark.parametrize("package", ["beyond", "release"])
def test_without_scipy_beyond_and_release_say_what_to_install(package):
    code = ALONE.partition("failed")[0] + f"import userdp.{package}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    message = "ImportError: userdp.beyond needs scipy: pip install 'userdp[beyond]'."
    assert done.stderr.strip().splitlines()[-1] == message
