"""Functions with the same name in `userdp.beyond` and `userdp` agree at the paper's setting.

That setting is Laplace noise for a budget, given as a budget or as a law, and the objective
"bound". Results that are computed exactly, or in the same steps, are equal; if floats are rounded
in a different order, they agree within a few units in the last place.
"""

import inspect
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import budgets, clippings, collections, datasets, several

import userdp as ud
from userdp import beyond

GENERAL = {*ud.__all__} & {*beyond.__all__}
ERRORS = ["worst_case_error", "symmetric_error"]
COLLECTIONS = {
    "Fractions": collections(),
    "floats": collections().map(lambda users: ud.Contributions(users.counts, float(users.upper))),
}
SETTINGS = [lambda eps: eps, beyond.LaplaceNoise]
ROUNDING = 4 * np.finfo(float).eps


def results_of_both(name, *arguments, eps, **others):
    """Return the value of the paper's function, and those of the general one."""
    general = getattr(beyond, name)
    values = [general(*arguments, setting(eps), **others) for setting in SETTINGS]
    if "objective" in inspect.signature(general).parameters:
        values += [general(*arguments, eps, objective="bound", **others)]
    return getattr(ud, name)(*arguments, eps, **others), values


def test_all_general_functions_are_compared():
    compared = [*ERRORS, "threshold", "optimal_error", "optimal_clipping"]
    assert {*compared, "opt_worst_case", "opt_worst_case_mean_error"} == GENERAL
    for name in GENERAL:
        paper, general = (inspect.signature(getattr(m, name)).parameters for m in (ud, beyond))
        setting = {"eps", "budget", "objective"}
        assert [*paper].index("eps") == [*general].index("budget")
        assert [n for n in paper if n not in setting] == [n for n in general if n not in setting]
        assert general["objective"].default == "bound"


@pytest.mark.parametrize("users", COLLECTIONS.values(), ids=COLLECTIONS)
@pytest.mark.parametrize("name", ["threshold", "optimal_error"])
@given(data=st.data())
def test_thresholds_and_smallest_errors_are_equal(name, users, data):
    users, eps = data.draw(users), data.draw(budgets())
    for budget in (eps, float(eps), str(float(eps))):
        value, general = results_of_both(name, users, eps=budget)
        assert general == [value] * 3
        assert {type(beyond_value) for beyond_value in general} == {type(value)}


@pytest.mark.parametrize("users", COLLECTIONS.values(), ids=COLLECTIONS)
@given(data=st.data())
def test_optimal_intervals_are_equal(users, data):
    users, eps = data.draw(users), data.draw(budgets())
    value, general = results_of_both("optimal_clipping", users, eps=eps)
    for beyond_value in general:
        np.testing.assert_array_equal(beyond_value.lower, value.lower)
        np.testing.assert_array_equal(beyond_value.upper, value.upper)


@pytest.mark.parametrize("users", COLLECTIONS.values(), ids=COLLECTIONS)
@pytest.mark.parametrize("name", ERRORS)
@given(data=st.data())
def test_worst_case_errors_are_equal(name, users, data):
    users, eps = data.draw(users), data.draw(budgets())
    if name == "symmetric_error":
        factor = data.draw(st.fractions(0, Fraction(3, 2), max_denominator=12))
        extra_argument = factor * max(users.largest_sums)
    else:
        extra_argument = data.draw(clippings(users, data.draw(st.booleans())))
    value, general = results_of_both(name, users, extra_argument, eps=eps)
    assert {type(beyond_value) for beyond_value in general} == {type(value)}
    if users.is_exact:
        assert general == [value] * 3
    else:
        assert general == pytest.approx([value] * 3, rel=ROUNDING)


@pytest.mark.parametrize("users", COLLECTIONS.values(), ids=COLLECTIONS)
@given(data=st.data())
def test_the_mechanism_releases_the_same_numbers(users, data):
    """The releases use the same draws; the errors on a dataset agree, too."""
    users, eps = data.draw(users), data.draw(budgets())
    sums = np.array(data.draw(several(datasets(users), 3)))
    value, general = results_of_both("opt_worst_case", sums, users, eps=eps, rng=5)
    errors, general_errors = results_of_both("opt_worst_case_mean_error", sums, users, eps=eps)
    for beyond_value, beyond_errors in zip(general, general_errors, strict=True):
        np.testing.assert_array_equal(beyond_value, value)
        np.testing.assert_allclose(beyond_errors, errors, rtol=1e-14)


@pytest.mark.parametrize("make_users", [ud.geometric_collection, ud.extreme_collection])
@pytest.mark.parametrize("upper", [Fraction(65), 65.0], ids=["exact", "float"])
def test_values_on_the_papers_collections_are_equal(make_users, upper):
    size = [6] if make_users is ud.geometric_collection else [101, 10]
    users = make_users(*size, upper)
    for eps in np.linspace(0.1, 2, 20).tolist():
        for name in ("threshold", "optimal_error"):
            value, general = results_of_both(name, users, eps=eps)
            assert general == [value] * 3
