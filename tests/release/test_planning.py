"""`plan`: the errors that it guarantees, the budgets that it finds, and its tables."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import LAWS, counts

import userdp as ud
from userdp import beyond, release
from userdp._search import NotFoundError
from userdp.release import _planning
from userdp.release._planning import L1_RELEASE, STRATEGIES
from userdp.release._wording import readable

COUNTS = [40] * 5 + [10] * 50 + [2] * 500
PEOPLE, EPS = ud.Contributions(COUNTS, 50), ["0.01", 0.1, 1, 3]
PLAN = release.plan(COUNTS, lower=15, upper=65, eps=EPS)


def test_rows_of_a_plan_are_worst_case_errors():
    pairs = [(eps, name) for eps in EPS for name in [*STRATEGIES, L1_RELEASE]]
    rows = release.plan(COUNTS, lower=15, upper=65, eps=EPS).rows
    for row, (eps, name) in zip(rows, pairs, strict=True):
        assert (row.eps, row.strategy) == (float(eps), name)
        assert (
            row.floor == beyond.minimax_lower_bound(PEOPLE, eps) < row.l1 <= row.bound * (1 + 1e-9)
        )
        if name == L1_RELEASE:
            continue  # tested below
        noise = "staircase" if "staircase" in name else "laplace"
        clipping = {
            "Laplace": ud.Clipping(0 * PEOPLE.counts, 50 + 0 * PEOPLE.counts),
            "OPT-worst-case": ud.optimal_clipping(PEOPLE, eps),
        }.get(name, beyond.optimal_clipping(PEOPLE, LAWS[noise](eps), "l1"))
        for kind, error in (("bound", row.bound), ("l1", row.l1)):
            assert error == pytest.approx(
                beyond.worst_case_error(PEOPLE, clipping, LAWS[noise](eps), kind)
            )


def squared_for_mse(error, objective):
    return error**2 if objective == "mse" else error


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(counts, st.sampled_from(["bound", "l1", "mse"]), st.floats(0.001, 0.49))
def test_the_recommendation_has_the_guarantee_of_the_release(counts, objective, share):
    """No row of the plan has a smaller guarantee, and the floor is at most the guarantee."""
    prospects = release.plan(counts, lower=1, upper=3, eps=2)
    users, error = prospects.users, squared_for_mse(2 * share, objective)
    (cheapest,) = prospects.recommend(objective, error=error)
    assert cheapest.eps == prospects.smallest_eps(error, objective)
    optimum = beyond.optimal_error(users, cheapest.eps, objective)
    if objective == "l1":
        assert cheapest.guarantee <= error
        assert beyond.best_split(users, cheapest.eps * 0.99).error > error
    else:
        assert cheapest.guarantee == optimum <= error == pytest.approx(optimum)
        assert beyond.optimal_error(users, cheapest.eps * (1 - 1e-6), objective) > error
    for advice in (*prospects.recommend(objective), cheapest):
        clipping = beyond.optimal_clipping(users, advice.eps, advice.objective)
        result = beyond.worst_case_error(users, clipping, advice.eps, objective)
        if objective == "l1":
            assert advice.guarantee <= result
        else:
            assert result == pytest.approx(advice.guarantee)
            assert advice.total_width == beyond.threshold(users, advice.eps, objective)
        rows = [row for row in prospects.rows if row.eps == advice.eps and "stair" not in row[1]]
        for row in rows if objective != "mse" else []:
            assert advice.guarantee <= getattr(row, objective) * (1 + 1e-9)
        closed_form = beyond.minimax_lower_bound(users, advice.eps)
        assert advice.floor >= squared_for_mse(closed_form, objective)
        assert {row.floor for row in rows} <= {closed_form}
        assert advice.floor * advice.factor == pytest.approx(advice.guarantee)
        assert advice.factor >= 1


def test_smallest_eps_is_that_of_the_release_and_not_of_the_optimum():
    """A heavy user is split off; at eps = 1 this guarantees what the optimum does at 2."""
    prospects = release.plan([20_000] + [10] * 200, lower=0, upper=20, eps=1)
    guarantee = prospects.rows[-1].l1
    assert 0.99 < prospects.smallest_eps(guarantee * (1 + 1e-9)) <= 1.002
    assert beyond.optimal_error(prospects.users, 1.99, "l1") > guarantee


@pytest.mark.slow
def test_budgets_smaller_by_at_least_one_per_cent_exceed_the_error():
    """For twenty collections, on a grid of smaller budgets."""
    rng, smaller = np.random.default_rng(55), [0.1, 0.5, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99]
    for _ in range(20):
        sizes = rng.choice([1, 2, 5, 40, 300], rng.integers(1, 4), replace=False)
        counts = np.repeat(sizes, rng.integers(1, 30, sizes.size))
        prospects = release.plan(counts, lower=0, upper=1, eps=1)
        error = float(rng.choice([0.03, 0.1, 0.25, 0.4]))
        eps = prospects.smallest_eps(error)
        assert beyond.best_split(prospects.users, eps).error <= error
        for share in smaller:
            assert beyond.best_split(prospects.users, share * eps).error > error


def test_a_budget_that_is_not_found_is_refused(monkeypatch):
    """The search would fail if the release claimed an error of 0 at every budget."""
    claimed = beyond.best_split(PEOPLE, 1)._replace(error=0.0)
    monkeypatch.setattr(_planning, "best_split", lambda users, eps: claimed)
    with pytest.raises(NotFoundError, match="was not found within 64 halvings: the last was eps="):
        PLAN.smallest_eps(1)


UNEVEN = [60, *[1] * 40]
"""One user has most of the records."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("users", "eps"), [(UNEVEN, 0.3), (UNEVEN, 1.5), (UNEVEN, 6), ([2] * 9, 1)]
)
def test_plan_and_recommendation_for_l1_agree_with_the_release(users, eps, opendp):
    people = ud.Contributions(users, 50)
    prospects = release.plan(users, lower=15, upper=65, eps=eps)
    (row,) = (row for row in prospects.rows if row.strategy == L1_RELEASE)
    (advice,) = prospects.recommend()
    result = release.release_mean(0.7 * people.largest_sums, people, eps)
    close = {"rel": 1e-9, "abs": 2 * result.rounding}
    assert row.l1 == advice.guarantee == pytest.approx(result.worst_case_error, **close)
    assert row.l1 == beyond.best_split(people, eps).error
    assert result.worst_case_bound == pytest.approx(min(row.bound, 50), **close)
    assert row.total_width == advice.total_width == pytest.approx(result.total_width, abs=1e-9)
    assert advice.strategy == L1_RELEASE
    reason = "smallest mean absolute error"
    if result.parts:
        reason += f"; a separate mean for users with at least {result.parts[0].fewest} records"
    assert advice.why == reason
    assert bool(result.parts) == (users is UNEVEN and eps > 1)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["bound", "l1", "mse"])
def test_the_floor_of_a_recommendation_is_certified(objective):
    """Two users with five samples, nine with two: the closed-form bound is much lower."""
    prospects = release.plan([5] * 2 + [2] * 9, lower=0, upper=3, eps=1)
    (advice,) = prospects.recommend(objective)
    certificate = beyond.minimax_certificate(prospects.users, 1)
    assert advice.floor == squared_for_mse(float(certificate.check()), objective)
    assert advice.floor > squared_for_mse(1.4 * prospects.rows[0].floor, objective)


def test_without_a_certificate_the_floor_is_the_closed_form():
    (advice,) = release.plan([3, 1], lower=0, upper=1, eps=70).recommend()
    assert advice.floor == beyond.minimax_lower_bound(ud.Contributions([3, 1], 1), 70) > 0


@pytest.mark.slow
def test_progress_has_one_step_per_budget(progress_calls):
    release.plan([2, 1], lower=0, upper=1, eps=[6, 7, 8]).recommend()
    assert progress_calls == [3, None, None, None]


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["bound", "l1", "mse"])
def test_a_recommendation_can_be_written_as_json(objective):
    """It consists of names of rows, arguments of `private_mean` and plain values: it is JSON."""
    advised = [advice._asdict() for advice in PLAN.recommend(objective)]
    assert json.loads(json.dumps(advised)) == advised
    assert [(a["eps"], a["objective"]) for a in advised] == [(float(eps), objective) for eps in EPS]
    assert objective == "mse" or {a["strategy"] for a in advised} <= {*STRATEGIES, L1_RELEASE}
    (advice,) = release.plan([1], lower=0, upper=1, eps=1).recommend(error=1e-5)
    assert (advice.floor, advice.factor) == (0, np.inf)


def test_errors_of_at_least_half_the_range_need_no_budget():
    for error, objective in ((25, "l1"), (25, "bound"), (625, "mse")):
        with pytest.raises(ValueError, match=f"`error` must be less than {error}, the error of"):
            PLAN.smallest_eps(error, objective)
        assert PLAN.smallest_eps(error * (1 - 1e-6), objective) < 0.02
    many = release.plan(np.ones(10**6, int), lower=0, upper=1, eps=1)
    assert many.smallest_eps(0.4999, "bound") == pytest.approx(1 / (0.4999 * 10**6), rel=1e-8)
    assert 1e300 < release.plan([4, 2, 1], lower=0, upper=65, eps=1).smallest_eps(1e-300) < 1e303


def test_eps_may_be_one_budget_or_several():
    for eps in (1, "1", np.float64(1), [1], (1,), np.array([1.0]), np.array(1.0), iter(["1"])):
        result = release.plan([3, 1], lower=0, upper=1, eps=eps)
        assert [row.eps for row in result.rows] == [1.0] * (len(STRATEGIES) + 1)


def test_a_budget_too_large_for_staircase_noise_has_the_other_rows():
    both = release.plan([3, 1], lower=0, upper=1, eps=[1400, 1401]).rows
    assert [row.strategy for row in both if row.eps == 1400] == [*STRATEGIES, L1_RELEASE]
    others = [*STRATEGIES][:-1]
    assert [row.strategy for row in both if row.eps == 1401] == [*others, L1_RELEASE]


def test_plan_is_shown_as_a_table():
    shown = release.plan([4, 1], lower=0, upper=65, eps=1)
    assert repr(shown).splitlines() == [
        "eps  strategy               total width  bound  worst-case l1  lower bound",
        "1    Laplace                260          52     52             16.41",
        "1    OPT-worst-case         65           32.5   22.41          16.41",
        "1    l1 optimum             65           32.5   22.41          16.41",
        "1    l1 optimum, staircase  65           31.98  22.3           16.41",
        "1    l1 release             101.6        36.16  20.99          16.41",
    ]
    start = "<tr><th scope='row'>1</th><td>Laplace</td><td>260</td><td>52</td>"
    assert f"</th></tr></thead><tbody>{start}" in shown._repr_html_()
    assert "</th><th scope='col'>" in shown._repr_html_()
    assert "435,200" in repr(release.plan([544], lower=0, upper=800, eps=1))
    assert [readable(x) for x in (9999, 1e4, 1e12)] == ["9999", "10,000", "1e+12"]


def test_caps_have_the_guarantee_of_a_release_with_protected_counts():
    """At each weight; and `moved` is the largest change of the mean by the cap, on any table."""
    counts, caps = [9, 4, 4, 1, 1], [1, 3, 9]
    how = {"lower": -1, "upper": 3}
    result = release.plan(counts, **how, eps=["0.5", 8], cap=np.array(caps))
    assert [(row.eps, row.cap) for row in result.capped] == [(e, k) for e in (0.5, 8) for k in caps]
    m, users = np.array(counts), np.repeat(np.arange(5), counts)
    for row in result.capped:
        protected = release.private_mean_protected_counts(
            users, np.zeros(19), **how, eps=row.eps, cap=row.cap
        )
        w = np.minimum(m, row.cap)
        assert row.weight == w.sum()
        assert row.error == protected.worst_case_error_at(row.weight)
        ends = [np.array(end) for end in np.ndindex(*[2] * 5)]
        means = [(np.average(end, weights=w), np.average(end, weights=m)) for end in ends]
        assert row.moved == pytest.approx(4 * max(a - b for a, b in means), abs=1e-12)
        (guessed,) = release.plan(counts, **how, eps=row.eps, cap=row.cap, weight=50).capped
        assert guessed.error == protected.worst_case_error_at(50)
        assert (guessed.weight, guessed.moved) == (50, row.moved)
    assert result.rows == release.plan(counts, **how, eps=["0.5", 8]).rows


def test_caps_are_shown_in_a_table_of_their_own():
    shown = release.plan([4, 1, 1], lower=0, upper=65, eps=[1, 9], cap=[1, 4])
    assert repr(shown).split("\n\n")[1].splitlines() == [
        "eps  cap  weight  mean error  cap moves the mean by up to",
        "1    1    3       39.02       21.67",
        "1    4    6       63.62       0",
        "9    1    3       2.661       21.67",
        "9    4    6       8.128       0",
    ]
    assert repr(shown).startswith("eps  strategy ")
    assert shown._repr_html_().count("<table") == 2


def test_invalid_counts_are_refused_and_not_quoted():
    rule = r"one whole number per user, each at least 1, with a sum of at most 2\^53, got counts of"
    with pytest.raises(ValueError, match=f"^`counts` must be {rule}") as refusal:
        release.plan([7, -31], lower=0, upper=1, eps=1)
    assert "31" not in str(refusal.value)
