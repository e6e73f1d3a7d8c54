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
def test_docstrings_have_the_sections_a_user_needs_and_state_the_privacy(name):
    documentation = inspect.getdoc(getattr(ud, name))
    for section in ("Parameters", "Returns", "Raises", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in documentation
    words = " ".join(documentation.split()).lower()
    if name in DRAWING:
        assert "user-level eps-dp" in words
        assert "public" in words
        assert "replacing one user" in words or "differ in all samples of one user" in words
