"""OpenDP's place, taken by one who answers what he is told and remembers what he was asked."""

from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from userdp.beyond import GaussianNoise
from userdp.release import _noise as noise


class Asked(NamedTuple):
    moved: int
    budget: Fraction | GaussianNoise
    total: int | list[int]


class StandIn:
    """What makes OpenDP's noise: adds the same each time, to a number or a vector, and no noise."""

    def __init__(self, monkeypatch):
        self.added, self.asked = 0, []
        for name in ("discrete_laplace", "discrete_gaussian"):
            monkeypatch.setattr(noise, name, partial(self.make, getattr(noise, name)))

    def make(self, real, moved, budget, **kind):
        measurement = real(moved, budget, **kind)

        def invoke(total):
            self.asked.append(Asked(moved, budget, total))
            return np.add(total, self.added).tolist()

        invoke.map = measurement.map
        return invoke


@pytest.fixture
def opendp(monkeypatch):
    """No noise, unless `opendp.added` says otherwise; `opendp.asked` has the calls."""
    return StandIn(monkeypatch)
