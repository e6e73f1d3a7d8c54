"""The package as a whole: what it loads, what it exports, what it promises in docstrings."""

import inspect
import subprocess
import sys

import pytest

import userdp as ud

FUNCTIONS = [name for name in ud.__all__ if inspect.isfunction(getattr(ud, name))]
DRAWING = ["akmv", "clipped_mean", "laplace", "opt_worst_case", "private_quantile"]

HEAVY = {"matplotlib", "pandas", "IPython", "scipy.optimize", "scipy.stats"}


def test_importing_the_core_loads_nothing_heavy():
    code = f"import sys, userdp; print(*({HEAVY} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == ""


def test_everything_exported_exists_and_is_sorted():
    assert ud.__all__ == sorted(ud.__all__)
    assert all(hasattr(ud, name) for name in ud.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_have_the_sections_a_user_needs(name):
    documentation = inspect.getdoc(getattr(ud, name))
    for section in ("Parameters", "Returns", "Raises", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in documentation


@pytest.mark.parametrize("name", DRAWING)
def test_mechanisms_state_their_privacy(name):
    documentation = " ".join(inspect.getdoc(getattr(ud, name)).split()).lower()
    assert "user-level eps-dp" in documentation
    assert "public" in documentation
    assert (
        "replacing one user" in documentation
        or "differ in all samples of one user" in documentation
    )
