"""A stand-in for OpenDP's noise: it adds a fixed number, and records the requests for noise."""

from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from userdp.beyond import GaussianNoise
from userdp.release import _noise as noise


class Request(NamedTuple):
    moved: int
    budget: Fraction | GaussianNoise
    total: int | list[int]


class StandIn:
    """Replaces OpenDP's noise: it always adds `added`, 0 by default, to a number or a vector."""

    def __init__(self, monkeypatch):
        self.added, self.requests = 0, []
        for name in ("discrete_laplace", "discrete_gaussian"):
            monkeypatch.setattr(noise, name, partial(self.make, getattr(noise, name)))

    def make(self, real, moved, budget, **kind):
        measurement = real(moved, budget, **kind)

        def invoke(total):
            self.requests.append(Request(moved, budget, total))
            return np.add(total, self.added).tolist()

        invoke.map = measurement.map
        return invoke


@pytest.fixture
def opendp(monkeypatch):
    """No noise, unless `opendp.added` is set; `opendp.requests` records the requests for noise."""
    return StandIn(monkeypatch)
