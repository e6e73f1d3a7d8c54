"""Every loop of the package ends: its form guarantees it, or it is listed here with the reason."""

import ast
import re
from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter
from pathlib import Path

import numpy as np
import pytest

import userdp as ud
from userdp import beyond, release
from userdp._search import NotFoundError, double, halve
from userdp.beyond import floor
from userdp.beyond.noise import LaplaceNoise
from userdp.release import _noise, _planning
from userdp.release._intervals import noise_reach

PACKAGE = Path(ud.__file__).parent
TREES = {
    str(path.relative_to(PACKAGE)): ast.parse(path.read_text("utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
}

WHY_IT_ENDS = {
    "beyond/statistics.py": {"_corners": "each step drops one of finitely many corners"},
    "release/_files.py": {
        "_refuse_incomplete": "each step reads another block of a file, up to its end"
    },
    "release/_text.py": {"_is_utf8": "each step reads another block of a file, up to its end"},
    "release/_plans.py": {"_steps_of": "each step takes one of finitely many parts"},
}
"""Functions with a `while`, and why it ends."""

# Search functions of other libraries, and the argument that limits the number of their steps.
LIMITED_BY = {
    **dict.fromkeys(["brentq", "brenth", "bisect", "ridder", "toms748", "newton"], "maxiter"),
    **dict.fromkeys(["root_scalar", "minimize_scalar", "minimize", "fsolve"], "options"),
    "linprog": "options",
}
ENDLESS = {"count", "cycle"}
"""Names in itertools; `repeat` and `iter` are endless or not, depending on their arguments."""


def functions_of(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def name_of(call):
    return getattr(call.func, "id", getattr(call.func, "attr", None))


def calls_of(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_every_while_loop_is_listed_with_the_reason_why_it_ends():
    functions = {
        path: {f.name for f in functions_of(tree) if any(map(is_while, ast.walk(f)))}
        for path, tree in TREES.items()
    }
    n_whiles = sum(is_while(node) for tree in TREES.values() for node in ast.walk(tree))
    assert {path: names for path, names in functions.items() if names} == {
        path: {*names} for path, names in WHY_IT_ENDS.items()
    }
    assert n_whiles == sum(map(len, WHY_IT_ENDS.values()))


def is_while(node):
    return isinstance(node, ast.While)


def test_no_loop_is_over_an_endless_iterator():
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "itertools":
                assert not ENDLESS & {alias.name for alias in node.names}, path
            assert not (isinstance(node, ast.Import) and node.names[0].name == "itertools"), path
        for call in calls_of(tree):
            if name_of(call) == "repeat" and not isinstance(call.func, ast.Attribute):
                assert len(call.args) == 2, f"{path}:{call.lineno}"
            if name_of(call) == "iter":
                assert len(call.args) == 1, f"{path}:{call.lineno}"


def test_every_search_by_a_library_has_a_limit():
    searches = [
        (path, call)
        for path, tree in TREES.items()
        for call in calls_of(tree)
        if name_of(call) in LIMITED_BY
    ]
    assert len(searches) >= 3
    for path, call in searches:
        limit = LIMITED_BY[name_of(call)]
        assert limit in {keyword.arg for keyword in call.keywords}, f"{path}:{call.lineno}"


def test_no_function_calls_itself():
    """A function may call a method of the same name of another object."""
    for path, tree in TREES.items():
        for function in functions_of(tree):
            called = {
                call.func.id for call in calls_of(function) if isinstance(call.func, ast.Name)
            }
            assert function.name not in called, f"{path}:{function.lineno}"


# A search that cannot succeed fails, and says what it did not find


def half_scale(sensitivity, law, real=_noise.scale_of):
    return real(sensitivity, law) / 2


RECORDS = {"user": ["a", "a", "b"], "value": [1.0, 2.0, 5.0]}
BOUNDS = {"lower": 0, "upper": 6}
SUMS = [3.0, 5.0], ud.Contributions([2, 1], 6)
GAUSS = beyond.GaussianNoise.zcdp(8)
RELEASES = {
    "private_mean": (lambda: release.private_mean(**RECORDS, **BOUNDS, budget=2.5), "eps=2.5"),
    "private_mean, Gaussian": (
        lambda: release.private_mean(**RECORDS, **BOUNDS, budget=GAUSS),
        "rho=8.0",
    ),
    "release_mean": (lambda: release.release_mean(*SUMS, 2.5), "eps=2.5"),
    "protected counts": (
        lambda: release.private_mean_protected_counts(**RECORDS, **BOUNDS, eps=2.5, cap=2),
        "eps=1.25",
    ),
    "in a ball": (
        lambda: release.release_mean_in_ball([[1.0, 0], [0, 1.0]], SUMS[1], GAUSS),
        "rho=8.0",
    ),
    "Laplace noise": (lambda: release.discrete_laplace(3, Fraction(5, 2)), "eps=2.5"),
    "Gaussian noise": (lambda: release.discrete_gaussian(3_000_000, GAUSS), "rho=8.0"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("mechanism", RELEASES)
def test_a_noise_scale_that_is_too_small_is_refused_and_named(mechanism, monkeypatch):
    make, budget = RELEASES[mechanism]
    monkeypatch.setattr(_noise, "scale_of", half_scale)
    words = (
        rf"OpenDP's noise scale for {budget} was not found within 64 steps of a float: "
        rf"scale [\d.e+]+ costs {budget[:3]}=[\d.]+\. Nothing was released"
    )
    with pytest.raises(NotFoundError, match=words) as failed:
        make()
    assert failed.value.__context__ is None


@pytest.mark.timeout(60)
def test_a_noise_of_infinite_cost_is_refused(monkeypatch):
    monkeypatch.setattr(_noise, "scale_of", lambda *_: 0.0)
    with pytest.raises(NotFoundError, match=r"costs eps=inf"):
        release.private_mean(**RECORDS, **BOUNDS, budget=1)


def test_two_steps_of_a_scale_are_enough_with_this_opendp(monkeypatch):
    """For 400 random sensitivities and budgets; the limit of 64 steps leaves a wide margin."""
    rng = np.random.default_rng(5)
    monkeypatch.setattr(_noise, "MAX_STEPS", 3)
    for _ in range(200):
        sensitivity = int(2.0 ** rng.uniform(0, 50))
        _noise.discrete_laplace(sensitivity, Fraction(2.0 ** rng.uniform(-6, 10)))
        _noise.discrete_gaussian(
            sensitivity, beyond.GaussianNoise.zcdp(2.0 ** rng.uniform(-12, 10))
        )


class Stuck(np.random.Generator):
    """A generator whose normal samples all lie outside the bounds."""

    def normal(self, loc=0.0, scale=1.0, size=None):
        return np.full(size, 1e9)


class ConstantTail(LaplaceNoise):
    """A law whose tail does not decrease."""

    def tail(self, x):
        return np.full(np.shape(x), 0.5)


def stuck_plan(monkeypatch):
    monkeypatch.setattr(_planning, "_guarantee", lambda *_: inf)
    release.plan([2, 1], **BOUNDS, eps=1).smallest_eps(1)


def stuck_rho(monkeypatch):
    monkeypatch.setattr("userdp.beyond.noise.sqrt", lambda x: x**0.5 / 2)
    beyond.GaussianNoise.zcdp(0.25)


def stuck_lattice(monkeypatch):
    monkeypatch.setattr(floor, "isqrt", lambda _: 0)
    floor._single_user_risk(Fraction(1000))


STUCK = {
    "An upper end for the end of an interval": lambda _: noise_reach(ConstantTail(1), 1, 0, 0.95),
    "An upper end for the best ratio": lambda _: ConstantTail(1).best_ratio(np.ones(1), "l1"),
    "Normal samples between 0 and 6": lambda _: ud.gaussian_sums(
        SUMS[1], 1, rng=Stuck(np.random.PCG64(0))
    ),
    "The smallest eps for error=1.0": stuck_plan,
    "The smallest sigma for rho=0.25": stuck_rho,
    "The lattice for the factor 1000": stuck_lattice,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("quantity", STUCK)
def test_a_search_that_cannot_succeed_names_its_quantity(quantity, monkeypatch):
    with pytest.raises(NotFoundError, match=f"^{re.escape(quantity)}.* not found"):
        STUCK[quantity](monkeypatch)


def test_a_bisection_returns_floats_even_if_it_need_not_search():
    ends = halve(lambda x: x <= 1, 1, 2, whole=True)
    assert [(end.dtype, end) for end in ends] == [(np.float64, 1), (np.float64, 2)]


@pytest.mark.timeout(60)
def test_bisections_end_with_adjacent_floats_on_both_sides_of_the_threshold():
    """Even with the most halvings: from the largest float down to the smallest."""
    largest = np.finfo(float).max
    for threshold in (0.0, 5e-324, 1e-300, 1.0, 1e300):
        low, high = halve(lambda x, threshold=threshold: x <= threshold, 0.0, largest)
        assert (low, high) == (threshold, nextafter(threshold, inf))
    assert double(lambda x: x < largest, 5e-324, "the end") == inf


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"eps": Fraction(10**15)}, "d eps at most 1000"),
        ({"factors": ((1, Fraction(10**15)),)}, "a factor below"),
    ],
    ids=["budget", "factor"],
)
def test_a_certificate_whose_check_would_not_end_is_refused(changed, rule):
    certificate = beyond.minimax_certificate(ud.Contributions([1], 1), 8)
    assert certificate.source == "lattice"
    with pytest.raises(ValueError, match=rule):
        replace(certificate, **changed).check()
