"""The frontier: for a given sensitivity, centred clipping has the least bias and the least error.

- `smallest_bias` is the bias of centred clipping of that sensitivity, by definitions (5) and (6).
- For each noise and objective, centred clipping is at least as good as any clipping in the class B
  with the same sensitivity; `optimal_error` is the smallest error of all.
- No error falls as bias or sensitivity grows, so a point on the frontier is among the best.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import LAWS, budgets, clippings, collections

import userdp as ud
from userdp import beyond


@given(users=collections(max_samples=5), factor=st.fractions(0, Fraction(5, 4)))
def test_symmetric_clipping_attains_the_frontier_by_definition(users, factor):
    full_sensitivity = ud.sensitivity(users)
    delta = factor * full_sensitivity
    arguments = (
        users.counts.tolist(),
        users.upper,
        beyond.centred_clipping(users, users.total * delta),
    )
    assert oracle.largest_bias(*arguments) == beyond.modulus_of_mean(users).smallest_bias(delta)
    assert oracle.largest_change(*arguments) == min(delta, full_sensitivity)


ERRORS = list(product(LAWS, ("bound", "l1", "mse")))


@settings(max_examples=25)
@given(users=collections(max_samples=12), data=st.data())
def test_symmetric_clipping_is_best_for_every_noise_and_objective(users, data):
    eps, rival = data.draw(budgets()), data.draw(clippings(users, per_sample=True))
    bias, change = ud.worst_case_bias(users, rival), ud.sensitivity(users, rival)
    S = min(users.total * change, users.upper * users.max_count)
    centred = beyond.centred_clipping(users, S)
    for noise, objective in ERRORS:
        error = beyond.worst_case_error(users, centred, LAWS[noise](eps), objective)
        assert error <= LAWS[noise](eps).worst_case(bias, change, objective) * (1 + 1e-12)
        best = beyond.optimal_error(users, LAWS[noise](eps), objective)
        assert best <= error * (1 + 1e-9)


@pytest.mark.parametrize("law", LAWS.values())
@pytest.mark.parametrize("eps", [0.3, 1, 4])
def test_mean_error_does_not_fall_as_bias_or_sensitivity_grows(law, eps):
    values = np.linspace(0, 5, 41)
    errors = np.array([law(eps).mean_error(values, change) for change in values])
    assert (np.diff(errors, axis=0) >= -1e-12).all()
    assert (np.diff(errors, axis=1) >= -1e-12).all()
