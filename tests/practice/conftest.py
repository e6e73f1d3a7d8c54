"""OpenDP's place, taken by one who answers what he is told and remembers what he was asked."""

from fractions import Fraction
from typing import NamedTuple

import pytest

from userdp.practice import _noise as noise


class Asked(NamedTuple):
    moved: int
    budget: Fraction
    total: int


class StandIn:
    """What `discrete_laplace` returns: adds the same number each time, and no noise."""

    def __init__(self):
        self.added, self.asked, self.real = 0, [], noise.discrete_laplace

    def __call__(self, moved, budget):
        measurement = self.real(moved, budget)

        def invoke(total):
            self.asked.append(Asked(moved, budget, total))
            return total + self.added

        invoke.map = measurement.map
        return invoke


@pytest.fixture
def opendp(monkeypatch):
    """No noise, unless `opendp.added` says otherwise; `opendp.asked` has the calls."""
    stand_in = StandIn()
    monkeypatch.setattr(noise, "discrete_laplace", stand_in)
    return stand_in
