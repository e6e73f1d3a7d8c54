"""The release of sums: what OpenDP is handed, and what is said of it."""

import sys
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from strategies import BUDGETS, SUMS, USERS

import userdp as ud
from userdp import audit
from userdp.practice import discrete_gaussian, discrete_laplace

LAW = ud.GaussianNoise.zcdp(0.3)


@pytest.mark.parametrize("eps", [*BUDGETS, LAW])
def test_release_hands_whole_numbers_to_opendp_and_neighbours_differ_by_the_width(opendp, eps):
    reached = 0.0
    for users, first, second in audit.hard_pairs(160, rng=17):
        for pair in zip(first, second, strict=True):
            for sums in pair:
                ud.release_mean(sums, users, eps)
            one, other = opendp.asked[-2:]
            assert all(type(x) is int for x in (one.total, one.moved, other.total, other.moved))
            budget = eps if eps is LAW else Fraction(eps)
            assert (one.moved, one.budget) == (other.moved, budget)
            assert abs(one.total - other.total) <= one.moved
            reached = max(reached, abs(one.total - other.total) / max(one.moved, 1))
    assert reached == 1


@pytest.mark.parametrize("centre", [None, 2.0])
@pytest.mark.parametrize("objective", ["bound", "mse"])
def test_certificate_of_a_release_counts_its_rounding(opendp, centre, objective):
    sums = 0.98765 * SUMS
    for eps, given in ((2.0**-40, 9.0), (2.0**-20, 9.0), (0.5, None), (5, None), (LAW, None)):
        options = {"objective": objective, "centre": centre, "total_width": given}
        made = ud.release_mean(sums, USERS, eps, **options, project=False)
        width = ud.threshold(USERS, eps, objective) if given is None else given
        exact = ud.clipped_mean(sums, USERS, width, eps, centre=centre, rng=audit.Recorder())
        certificate = ud.worst_case_error(USERS, ud.centred_clipping(USERS, width, centre), eps)
        rounding = made.worst_case_error - certificate
        share = 1 / LAW.sigma if eps is LAW else eps
        step = made.noise_scale * share / max(opendp.asked[-1].moved, 1)
        assert made.noise_scale == pytest.approx(float(exact.scale), rel=1e-3)
        assert abs(made.mean - float(exact.value)) <= rounding + 1e-14
        assert 0 <= rounding <= 6 * step + 1e-9 * certificate
        for n_users in (1, 2) if share < 0.1 else ():
            users = ud.Contributions([1] * n_users, 1)
            ud.release_mean(np.zeros(n_users), users, eps, total_width=0.9)
            assert 2.0**54 < opendp.asked[-1].moved / eps < 2.0**56


@pytest.mark.parametrize(("law", "rounded"), [(1e9, 0), (ud.GaussianNoise(1e-9), 4)])
def test_certificate_adds_a_step_for_each_user_and_the_rounding_of_noise(opendp, law, rounded):
    width = 2 * USERS.upper * USERS.max_count  # nobody is clipped, and there is hardly any noise
    made = ud.release_mean(SUMS, USERS, law, total_width=width, project=False)
    noise = ud.worst_case_error(USERS, ud.centred_clipping(USERS, width), law)
    step = USERS.upper * USERS.max_count / opendp.asked[-1].moved / USERS.total
    steps = (made.worst_case_error - noise) / step
    assert steps == pytest.approx(USERS.n_users + rounded, rel=0.01)
    table = ud.private_mean([1, 2, 2], [0, 9.0, 3], lower=0, upper=10, eps=law)
    noise = ud.optimal_error(ud.Contributions([1, 2], 10), law)
    assert table.worst_case_bound - noise == pytest.approx(table.rounding, rel=0.01)
    assert table.worst_case_l1 == table.worst_case_bound  # without bias they are the same


def test_release_stays_between_the_bounds_unless_told():
    """At this budget the noise leaves them 99 times in a hundred."""
    one = ud.Contributions([1], 5)
    for options in ({}, {"project": True}, {"project": False}):
        made = [ud.release_mean([3.0], one, 0.01, total_width=5, **options) for _ in range(64)]
        projected = options.get("project", True)
        assert all(0 <= release.mean <= 5 for release in made) == projected
        assert {release.mean in {0, 5} for release in made} >= {projected}
        assert made[0].worst_case_error == (5 if projected else pytest.approx(500))


def test_opendp_accounts_for_no_more_than_the_budget_and_hardly_less():
    rng = np.random.default_rng(18)
    for _ in range(1000):
        moved = int(2.0 ** rng.uniform(0, 54))
        budget = Fraction(float(10.0 ** rng.uniform(-12, 3)))
        spent = Fraction(discrete_laplace(moved, budget).map(moved))
        assert budget * (1 - Fraction(1, 10**12)) <= spent <= budget
        law = ud.GaussianNoise(10.0 ** rng.uniform(-2, 2))
        for vector in (False, True):
            spent = discrete_gaussian(moved // 16 or 1, law, vector=vector).map(moved // 16 or 1)
            assert Fraction(spent) <= 1 / (2 * Fraction(law.sigma) ** 2)


@pytest.mark.parametrize("eps", [0.1, Fraction(1, 3), "0.7", 1, 2.0**-40])
def test_release_says_what_it_spent_and_enables_what_it_needs_of_opendp(eps):
    dp.disable_features("contrib")
    made = ud.release_mean(SUMS, USERS, eps, total_width=10)
    assert Fraction(eps) * (1 - Fraction(1, 10**12)) <= Fraction(made.eps) <= Fraction(eps)
    assert made.eps == 1 or eps != 1


EXTRAS = [
    ("release", "opendp", lambda _: ud.release_mean(SUMS, USERS, 1)),
    ("tables", "ibis", lambda path: ud.user_counts("user", data=path)),
]


@pytest.mark.parametrize(("extra", "library", "call"), EXTRAS, ids=["OpenDP", "Ibis"])
def test_without_a_library_a_call_says_what_to_install(extra, library, call, monkeypatch, tmp_path):
    for name in (library, f"{library}.prelude"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "records.csv").write_text("user,value\n1,2\n")
    with pytest.raises(ImportError, match=rf"pip install 'userdp\[{extra}\]'"):
        call(tmp_path / "records.csv")
    assert ud.opt_worst_case(SUMS, USERS, 1, rng=0).shape == ()
