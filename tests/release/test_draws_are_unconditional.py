"""Only public settings decide what happens between a total and its release.

These tests read the syntax of the code: noise is drawn in two functions without branches; each
release calls one of them once per total, unconditionally; and conditions in the functions of a
release depend on public names only.
"""

import ast
import inspect
from collections import Counter

import pytest

from userdp.release import _joint, _mean, _means, _noise, _protected, _vectors

DRAWS = {"noisy_total", "noisy_vector"}
BRANCHES = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.Compare, ast.Match, ast.comprehension),
    *(ast.For, ast.While, ast.Try, ast.With, ast.Assert, ast.Lambda, ast.Await),
)
"""Syntax that decides whether something happens, or how often."""

MODULES = (_noise, _mean, _protected, _vectors, _joint, _means)
TREES = {module: ast.parse(inspect.getsource(module)) for module in MODULES}


def functions_of(module):
    nodes = ast.walk(TREES[module])
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def calls_in(node):
    """Return the names of the called functions, with the number of calls."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return Counter(call.id for call in calls if isinstance(call, ast.Name))


@pytest.mark.parametrize("name", sorted(DRAWS))
def test_noise_is_drawn_without_a_branch(name):
    function = functions_of(_noise)[name]
    branches = [type(node).__name__ for node in ast.walk(function) if isinstance(node, BRANCHES)]
    assert branches == []
    assert calls_in(function)["measurement"] == 1
    (last,) = [node for node in function.body if isinstance(node, ast.Return)]
    assert calls_in(last)["measurement"] == 1
    assert last is function.body[-1]


# Each function that draws noise, with its number of calls.
DRAWING = {
    (_mean, "_draw"): 1,
    (_protected, "private_mean_protected_counts"): 2,
    (_vectors, "release_mean_in_ball"): 1,
    (_joint, "draw_jointly"): 1,
}


def test_every_total_gets_its_noise_once():
    n_draws = {
        (module, name): sum(calls_in(function)[draw] for draw in DRAWS)
        for module in MODULES
        for name, function in functions_of(module).items()
    }
    assert {function: n for function, n in n_draws.items() if n} == DRAWING


@pytest.mark.parametrize(("module", "name"), DRAWING, ids=[name for _, name in DRAWING])
def test_noise_is_drawn_unconditionally(module, name):
    """The draw is a statement at the top level of the function, and its result is not replaced."""
    function = functions_of(module)[name]
    drawn = []
    for statement in function.body:
        if DRAWS & calls_in(statement).keys():
            assert isinstance(statement, ast.Assign)
            assert isinstance(statement.value, ast.Call)
            assert statement.value.func.id in DRAWS
            drawn += [target.id for target in statement.targets]
    assert len(drawn) == DRAWING[module, name]
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    stored = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
    assert [stored[each] for each in drawn] == [1] * len(drawn)


def test_the_parts_of_a_mean_are_all_drawn():
    """They are drawn in a single comprehension over all parts in `draw`, without a condition."""
    function = functions_of(_mean)["draw"]
    assert sum(calls_in(each)["_draw"] for each in functions_of(_mean).values()) == 1
    (statement,) = [each for each in function.body if calls_in(each)["_draw"]]
    assert isinstance(statement.value, ast.ListComp)
    assert isinstance(statement.value.elt, ast.Call)
    (loop,) = statement.value.generators
    assert loop.ifs == []
    assert ast.unparse(loop.iter) == "zip(totals, parts, strict=True)"


PUBLIC_NAMES = {
    (_mean, "private_mean"): {"rules.drop_missing", "rules.drop_outside"},
    (_mean, "release_mean"): {"centre", "values.ndim"},
    # The users' numbers of records, which are public.
    (_mean, "_release_table"): {"_counts_only", "tally.survey", "users"},
    (_mean, "draw"): {"choices.project", "drops_rows", "outside", "missing"},
    (_mean, "_draw"): {"part.choices.project", "law.integer_law"},
    # This total already includes its noise.
    (_noise, "average_beyond"): {"total", "lowest", "highest"},
    (_protected, "private_mean_protected_counts"): set(),
    (_protected, "_result"): set(),
    (_vectors, "release_mean_in_ball"): {
        *("law", "law.sigma", "GaussianNoise", "LARGEST_SCALE", "radius", "sensitivity"),
    },
    (_joint, "draw_jointly"): set(),
    (_means, "_totals"): {"component.joint"},
    # The budget that the draws of each mean spent, according to OpenDP.
    (_means, "_draw"): {
        *("component.n_shares", "component.joint", "release.eps", "largest_cost"),
    },
    (_means, "_group_mean"): {"strategy", "guarantee", "other", "spent"},
    (_means, "private_means"): {"spent"},
}
"""Names on which conditions may depend, for each function that handles totals or their results."""


def conditions_in(function):
    """Return all conditions: those of branches and loops, and operands of `and` and `or`."""
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            yield node.test
        elif isinstance(node, ast.BoolOp | ast.Compare):
            yield node
        elif isinstance(node, ast.comprehension):
            yield from node.ifs
        elif isinstance(node, ast.Match):
            yield node.subject


def names_in(condition):
    """Return the names in a condition, with their attributes, such as `choices.project`."""
    if isinstance(condition, ast.Attribute | ast.Name):
        return {ast.unparse(condition)}
    if isinstance(condition, ast.Call):
        parts = [*condition.args, *(keyword.value for keyword in condition.keywords)]
        called = ast.unparse(condition.func)
        return set().union(*map(names_in, parts)) | ({called} - {"isinstance"})
    return set().union(*map(names_in, ast.iter_child_nodes(condition)))


@pytest.mark.parametrize(("module", "name"), PUBLIC_NAMES, ids=[name for _, name in PUBLIC_NAMES])
def test_conditions_depend_only_on_public_names_and_noisy_totals(module, name):
    function = functions_of(module)[name]
    names = set().union(*map(names_in, conditions_in(function)))
    assert names == PUBLIC_NAMES[module, name]
