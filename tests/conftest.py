"""Settings of all tests: examples that are the same in every run, no clock; and a progress bar."""

import sys
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "book",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("book")


@pytest.fixture
def told(monkeypatch):
    """What a progress bar is told: how many steps there are, and None after each."""

    @contextmanager
    def progress(steps):
        entries.append(steps)
        yield lambda: entries.append(None)

    entries = []
    for room in ("experiments", "tradeoff"):
        monkeypatch.setattr(sys.modules[f"userdp.{room}"], "progress", progress)
    return entries
