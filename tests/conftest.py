"""Settings of all tests: ids in words, examples that are the same in every run, no clock."""

from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from wording import are_words, brief

# Not explained: it takes minutes, and names lines that the failure has nothing to do with.
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

SLOW = [Path(__file__).parent / place for place in ("proofs", "site/pages")]
"""What needs Coq, or a built book and a browser."""


def pytest_collection_modifyitems(items):
    """Leave to `make test-all` those folders, Spark, and the chapters beyond the paper."""
    for item in items:
        of_a_chapter = item.path.name.startswith("test_page_") and item.path.parent.name != "paper"
        on_spark = "spark" in item.nodeid.lower()
        if of_a_chapter or on_spark or any(map(item.path.is_relative_to, SLOW)):
            item.add_marker("slow")


def pytest_make_parametrize_id(config, val, argname):
    """Ids are words: text and names as they are, numbers and anything else as ARGUMENT=VALUE.

    A value that has no words needs `ids`; a report would speak of `attempt137`.
    """
    if isinstance(val, str) and are_words(val):
        return None
    name = getattr(val, "__name__", None)
    if name == "<lambda>":
        raise pytest.UsageError(f"`{argname}` is a lambda: give the parametrised test its `ids`.")
    return name or f"{argname}={brief(val)}"


@pytest.fixture
def told(monkeypatch):
    """What a progress bar is told: how many steps there are, and None after each."""

    @contextmanager
    def progress(steps):
        entries.append(steps)
        yield lambda: entries.append(None)

    entries = []
    for module in ("experiments", "beyond.tradeoff", "release._planning"):
        monkeypatch.setattr(import_module(f"userdp.{module}"), "progress", progress)
    return entries
