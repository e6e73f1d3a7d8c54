"""Settings of all tests: readable ids, the same random examples in every run, no deadlines."""

from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from wording import are_words, brief

# The explain phase takes minutes, and often names lines that are unrelated to the failure.
settings.register_profile(
    "book",
    phases=[phase for phase in Phase if phase is not Phase.explain],
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("short", settings.get_profile("book"), max_examples=10)
settings.load_profile("book")

SLOW = [Path(__file__).parent / folder for folder in ("proofs", "site/pages")]
"""Tests that need Coq, or a built book and a browser."""


def pytest_collection_modifyitems(items):
    """Mark as slow: these folders, tests of Spark, and tests of chapters beyond the paper."""
    for item in items:
        is_of_a_chapter = (
            item.path.name.startswith("test_page_") and item.path.parent.name != "paper"
        )
        on_spark = "spark" in item.nodeid.lower()
        if is_of_a_chapter or on_spark or any(map(item.path.is_relative_to, SLOW)):
            item.add_marker("slow")


def pytest_make_parametrize_id(config, val, argname):
    """Make readable ids: text and names as they are, numbers and anything else as ARGUMENT=VALUE.

    A test with lambdas needs explicit `ids`; pytest would call them `attempt137`.
    """
    if isinstance(val, str) and are_words(val):
        return None
    name = getattr(val, "__name__", None)
    if name == "<lambda>":
        raise pytest.UsageError(f"`{argname}` is a lambda: give the parametrised test its `ids`.")
    return name or f"{argname}={brief(val)}"


@pytest.fixture
def progress_calls(monkeypatch):
    """The calls of progress bars: the number of steps, then None after each step."""

    @contextmanager
    def progress(steps):
        entries.append(steps)
        yield lambda: entries.append(None)

    entries = []
    for module in ("experiments", "beyond.tradeoff", "release._planning"):
        monkeypatch.setattr(import_module(f"userdp.{module}"), "progress", progress)
    return entries
