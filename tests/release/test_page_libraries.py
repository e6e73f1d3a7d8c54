"""The page on other libraries: the cost of replacing a user, models of their means, recipes."""

import builtins
import importlib
import os
import re
import symtable
from fractions import Fraction
from functools import partial
from itertools import product

import nbformat
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_functions import BOOK, functions_of

import userdp as ud
from userdp import beyond

RECIPES_OF = BOOK.parent / "tools" / "benchmarks"
few = settings(max_examples=100, deadline=None)
pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of other libraries

P = (np.arange(500) + 0.5) / 500
QUANTILES = -np.sign(P - 0.5) * np.log1p(-2 * np.abs(P - 0.5))
PAGE = functions_of("libraries", quantiles=QUANTILES)


@few
@given(st.fractions(-5, 5), st.fractions(-5, 5), st.fractions(Fraction(1, 10), 4))
def test_replacing_a_user_costs_at_most_twice_the_budget(a, b, eps):
    a, b = min(a, b), max(a, b)
    if a == b:
        return
    largest = max(abs(a), abs(b))
    costs = [abs(abs(z - a) - abs(z - b)) / (largest / eps) for z in (a - 1, a, (a + b) / 2, b + 1)]
    assert max(costs) == costs[0] == costs[-1] == eps * (b - a) / largest <= 2 * eps
    assert (costs[0] == 2 * eps) == (a == -b)
    assert (costs[0] == eps) or a * b != 0


def test_noisy_sum_and_noisy_count_cost_the_budget_for_replacing_and_for_adding():
    """The log ratio of joint densities, for k values of 0 or U; an equal count cancels."""
    k, upper, eps, count = 3, 2.0, 0.7, 9
    total, n = np.linspace(-40, 40, 201), np.arange(30)[:, None]

    def log_ratio(totals, counts):
        pairs = zip(totals, counts, strict=True)
        one, other = (-abs(total - t) / upper - abs(n - m) / 2 for t, m in pairs)
        return np.abs(one - other).max() * eps / k

    assert log_ratio((-k * upper / 2, k * upper / 2), (count, count)) == pytest.approx(eps)
    assert log_ratio((0, k * upper / 2), (count, count + k)) == pytest.approx(eps)


@few
@given(st.floats(-2, 3), st.floats(0, 1), st.floats(0.05, 3), st.sampled_from([0.5, 1.0, 4.0]))
def test_the_error_after_projection_agrees_with_quadrature(centre, share, scale, upper):
    truth = share * upper
    ends = sorted({centre, 0.0, upper, truth, centre - 45 * scale, centre + 45 * scale})

    def integrand(y):
        return abs(np.clip(y, 0, upper) - truth) * np.exp(-abs(y - centre) / scale) / (2 * scale)

    expected = oracle.integral(integrand, ends)
    computed = PAGE.projected_error(np.array(centre), truth, scale, upper)
    assert computed == pytest.approx(expected, abs=1e-7)


@few
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
    st.integers(1, 6),
    st.floats(0.1, 4),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_no_dataset_has_a_larger_error_than_few_worst(counts, k, eps, noisy_count, seed):
    """The error is largest with all dropped values at one end, and equal for mirrored data."""
    users, rng = ud.Contributions(counts, 2), np.random.default_rng(seed)
    n = int(np.minimum(counts, k).sum())
    kept, dropped = rng.choice([-1, 1, *rng.uniform(-1, 1, 4)], size=(2, 40))
    kept, dropped, all_dropped = kept * n, dropped * (users.total - n), users.total - n

    def errors(kept, dropped):
        return PAGE.few_error(users, k, eps, kept, dropped, noisy_count)

    result = errors(kept, dropped)
    assert result.max() <= PAGE.few_worst(users, k, eps, noisy_count) * (1 + 1e-3)
    np.testing.assert_allclose(result, errors(-kept, -dropped), rtol=1e-9)
    ends = [errors(kept, np.full(40, end)) for end in (-1.0 * all_dropped, 1.0 * all_dropped)]
    assert np.all(result <= np.maximum(*ends) + 1e-9)


@pytest.mark.parametrize(("k", "noisy_count"), [(1, False), (2, True), (5, True)])
def test_the_error_of_few_rows_agrees_with_simulation(k, noisy_count):
    users, rng, n = ud.Contributions([5, 2, 1], 1), np.random.default_rng(3), 100_000
    few = np.minimum(users.counts, k)
    kept, eps = 0.3 * few.sum(), 3
    dropped = (users.counts - few) @ rng.choice([-0.5, 0.5], size=3)
    noise, more = rng.laplace(size=(2, n))
    count = np.maximum(1, few.sum() + 2 * k / eps * more) if noisy_count else few.sum()
    release = np.clip(0.5 + (kept + k / eps * noise) / count, 0, 1)
    expected = PAGE.few_error(users, k, eps, np.array([kept]), np.array([dropped]), noisy_count)
    assert np.abs(release - 0.5 - (kept + dropped) / 8).mean() == pytest.approx(expected, abs=5e-3)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.data())
def test_no_averages_have_a_larger_error_than_weighed_worst(counts, data):
    """All averages but one are 0 or U, as in the proof; some nearly attain the bound."""
    users, weights = ud.Contributions(counts, 2), np.minimum(counts, data.draw(st.integers(1, 6)))
    eps, L = data.draw(st.floats(0.1, 2)), len(counts)
    corners = np.array([*product([-1, 1], repeat=L)])
    centred = [
        np.where(np.eye(L)[i], x, corners) for i in range(L) for x in np.linspace(-1, 1, 401)
    ]
    case = users, None, np.concatenate(centred) * counts, None
    worst = PAGE.weighed_worst(users, weights, eps)
    largest = PAGE.errors_of_weights(case, weights, eps).max()
    assert largest == pytest.approx(worst, rel=3e-3)  # as well as the grid can tell


def test_computed_errors_of_releases_agree_with_simulation():
    """In two parts and, if no user dominates, in one part, by the page's other formula."""
    rng, n = np.random.default_rng(12), 100_000
    users = ud.Contributions([30, 30, *[1] * 30], 10)
    sums = users.counts * rng.choice([-5.0, -2.0, 5.0], (4, 32))
    computed = PAGE.errors_of_release((users, None, sums, None), 2)
    split = beyond.best_split(users, 2)
    assert split.heavy_from == 30
    released = np.full((4, n), 0.0)
    for part, members in zip(split.parts, (slice(2), slice(2, 32)), strict=True):
        half, total = part.total_width / 2, part.users.total
        kept = 5 + np.clip(sums[:, members], -half, half).sum(axis=1, keepdims=True) / total
        drawn = kept + rng.laplace(scale=half / total, size=(4, n))
        released += float(part.share) * np.clip(drawn, 0, 10)
    errors = abs(released - 5 - sums.sum(axis=1, keepdims=True) / users.total).mean(axis=1)
    np.testing.assert_allclose(computed, errors, rtol=0.02)
    assert computed.max() < split.error
    equal_users = ud.Contributions([3] * 8, 10)
    sums = equal_users.counts * rng.uniform(-5, 5, (4, 8))
    computed = PAGE.errors_of_release((equal_users, None, sums, None), 0.5)
    (whole,) = beyond.best_split(equal_users, 0.5).parts
    width = whole.total_width
    exact = beyond.clipped_mean_error(sums + 15, equal_users, width, 0.5, project=True)
    np.testing.assert_allclose(computed, exact)


RECIPES = {name: name for name in ("opendp", "diffprivlib", "pydp")} | {"pipelinedp": "pipeline_dp"}
COUNTS = np.array([5, 2, 1] + [1] * 200)
ROWS = np.repeat(np.arange(203), COUNTS)
VALUES = np.array([3.0, 3, 3, 3, -1, -2, -2, 0.5] + [0.0] * 200)  # user sums 11, -4, 1/2, 0, ...


@pytest.fixture(params=RECIPES)
def recipes(request, monkeypatch):
    return recipe(request.param, monkeypatch)


def recipe(name, monkeypatch):
    """Import a recipe, or skip the test if its library is not installed."""
    if not os.environ.get("USERDP_REQUIRE_EXTRAS"):
        pytest.importorskip(RECIPES[name], reason=f"no {name}: run `make extras` first")
    monkeypatch.syspath_prepend(RECIPES_OF)
    return importlib.import_module(f"recipes.with_{name}")


def check(release, exact, scale, eps, slack=0.0):
    """Check a release without noise, and that the mean absolute value of noise is `scale`."""
    assert release(1e7) == pytest.approx(exact, abs=1e-3)
    noise = [abs(release(eps) - exact) for _ in range(1000)]
    assert np.mean(noise) == pytest.approx(scale, rel=6 / 1000**0.5 + slack)


def test_recipe_is_the_optimal_mechanism(recipes):
    """It is the clipped sum, with noise for replacing a user: T/eps, not half of it."""
    T, exact = 6.0, 3 - 3 + 0.5
    check(partial(recipes.bounded_sum, ROWS, VALUES, T), exact, T / 0.5, 0.5)
    users, sums = ud.Contributions(COUNTS, 8), np.bincount(ROWS, weights=VALUES + 4)
    same = beyond.clipped_mean(sums, users, T, 1e9, rng=1)
    assert 4 + exact / 208 == pytest.approx(same, abs=1e-4)


def copied():
    """Return the text of each recipe as the page shows it, by the name of its library."""
    (cell,) = [c for c in nbformat.read(BOOK / "libraries.ipynb", 4).cells if c.id == "cell-12"]
    pattern = r"```\{literalinclude\} (\S+with_(\w+)\.py)\n((?:^:.*\n)*)```"
    texts = {}
    for path, name, options in re.findall(pattern, cell.source, re.MULTILINE):
        text = (BOOK / path).read_text("utf-8")
        settings = dict(re.findall(r"^:([\w-]+): (.*)$", options, re.MULTILINE))
        assert settings.keys() <= {"language", "end-before"}
        texts[name] = text.partition(settings.get("end-before", "\0"))[0]
    return texts


COPIED = copied()


def unknown_names(text):
    """Return the names that functions of a text use, but that it neither defines nor imports."""
    module = symtable.symtable(text, "copied", "exec")
    bound = [s for s in module.get_symbols() if s.is_assigned() or s.is_imported()]
    pending, used = [module], set()
    while pending:
        table = pending.pop()
        pending += table.get_children()
        used |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and s.is_global()}
    return used - {s.get_name() for s in bound} - {*dir(builtins)}


def test_the_page_shows_four_recipes_that_import_what_they_use():
    assert [*COPIED] == ["pipelinedp", "diffprivlib", "pydp", "tumult"]
    assert [name for name, text in COPIED.items() if unknown_names(text)] == []


@pytest.mark.parametrize("name", ["diffprivlib", "pydp", "pipelinedp"])
def test_a_recipe_runs_as_copied(name):
    if not os.environ.get("USERDP_REQUIRE_EXTRAS"):
        pytest.importorskip(RECIPES[name], reason=f"no {name}: run `make extras` first")
    scope = {}
    exec(COPIED[name], scope)
    check(partial(scope["bounded_sum"], ROWS, VALUES, 6.0), 0.5, 6.0 / 0.5, 0.5)


def test_the_recipe_of_tumult_runs_as_copied():
    """Run it once for the sum and twice for the noise, because planning a query takes seconds."""
    pytest.importorskip("tmlt.analytics", reason="Tumult Analytics needs an older numpy")
    scope = {}
    exec(COPIED["tumult"], scope)
    assert scope["bounded_sum"](ROWS, VALUES, 6.0, 1e7) == pytest.approx(0.5, abs=1e-3)
    noise = [abs(scope["bounded_sum"](ROWS, VALUES, 6.0, 0.5) - 0.5) for _ in range(2)]
    assert 0 < sum(noise) < 24 * 20


def test_means_of_the_libraries_keep_k_rows_and_protect_replacing(recipes):
    """The noise for k rows in [0, U] is k U / eps for the sum; divide by the count for the mean."""
    table = np.repeat(np.arange(40), 5), np.full(200, 4.0), 8.0, 2
    check(partial(recipes.sum_of_few, *table), 320, 2 * 8, 1)
    check(partial(recipes.mean, *table), 4, 2 * 8 / 80, 1, slack=0.05)


def test_capped_sum_clips_at_the_cap(monkeypatch):
    capped_sum = recipe("pipelinedp", monkeypatch).capped_sum
    check(partial(capped_sum, ROWS, np.abs(VALUES), 6.0), 6 + 4 + 0.5, 6, 1)


def test_rows_are_kept_at_random(monkeypatch):
    monkeypatch.syspath_prepend(RECIPES_OF)
    at_most = importlib.import_module("recipes.rows").at_most
    users = np.array([1, 0, 1, 1, 0, 2])
    kept = np.array([at_most(2, users) for _ in range(600)])
    assert np.all([np.bincount(users[row]) == [2, 2, 1] for row in kept])
    assert kept[:, [0, 2, 3]].mean(axis=0) == pytest.approx(2 / 3, abs=0.1)
