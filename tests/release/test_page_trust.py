"""The attack that the page "Trust" shows."""

import math

import numpy as np
import pytest
from page_functions import functions_of

import userdp as ud
from userdp import audit

PEOPLE = ud.Contributions([1] * 5, 1)
SUMS = {"all at 0": np.zeros(5), "one at 1": np.eye(5)[0]}
PAGE = functions_of("trust", audit=audit, log=np.vectorize(math.log), people=PEOPLE)


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize(("mechanism", "share"), [(ud.laplace, 0.7), (ud.opt_worst_case, 0.3)])
def test_most_outputs_of_the_demonstrations_are_impossible_on_the_neighbour(mechanism, share, name):
    outputs = mechanism(np.broadcast_to(SUMS[name], (20_000, 5)), PEOPLE, 1, rng=20)
    (other,) = [sums for n, sums in SUMS.items() if n != name]
    assert PAGE.possible(outputs, mechanism, SUMS[name]).mean() > 0.999
    assert 1 - PAGE.possible(outputs, mechanism, other).mean() > share
