"""The release of sums: the totals passed to OpenDP, and the guarantee of the release."""

import sys
from fractions import Fraction

import duckdb
import numpy as np
import opendp.prelude as dp
import polars
import pytest
from strategies import BUDGETS, SUMS, USERS

import userdp as ud
from userdp import audit, beyond, release
from userdp.release import as_measurement, discrete_gaussian, discrete_laplace

LAW = beyond.GaussianNoise.zcdp(0.3)


@pytest.mark.parametrize("eps", [*BUDGETS, LAW])
def test_opendp_gets_whole_numbers_and_those_of_neighbours_differ_by_at_most_the_width(opendp, eps):
    reached = 0.0
    for users, first, second in audit.hard_pairs(160, rng=17):
        for pair in zip(first, second, strict=True):
            for sums in pair:
                release.release_mean(sums, users, eps, objective="bound")
            one, other = opendp.requests[-2:]
            seen = (one.total, one.moved, other.total, other.moved)
            assert {type(x) for x in seen} == {int}
            budget = eps if eps is LAW else Fraction(eps)
            assert (one.moved, one.budget) == (other.moved, budget)
            assert abs(one.total - other.total) <= one.moved
            reached = max(reached, abs(one.total - other.total) / max(one.moved, 1))
    assert reached == 1


@pytest.mark.parametrize("centre", [None, 2.0])
@pytest.mark.parametrize("objective", ["bound", "mse"])
def test_the_guarantee_of_a_release_includes_rounding(opendp, centre, objective):
    sums = 0.98765 * SUMS
    for eps, given in ((2.0**-40, 9.0), (2.0**-20, 9.0), (0.5, None), (5, None), (LAW, None)):
        options = {"objective": objective, "centre": centre, "total_width": given}
        result = release.release_mean(sums, USERS, eps, **options, project=False)
        width = beyond.threshold(USERS, eps, objective) if given is None else given
        exact = beyond.clipped_mean(sums, USERS, width, eps, centre=centre, rng=audit.Recorder())
        clipping = beyond.centred_clipping(USERS, result.total_width, centre)
        guarantee = beyond.worst_case_error(USERS, clipping, eps)
        inverse_scale = 1 / LAW.sigma if eps is LAW else eps
        step = result.noise_scale * inverse_scale / max(opendp.requests[-1].moved, 1)
        assert result.noise_scale == pytest.approx(float(exact.scale), rel=1e-3)
        assert abs(result.mean - float(exact.value)) <= result.rounding
        added = result.worst_case_bound - guarantee
        assert added == pytest.approx(result.rounding, abs=6 * step + 1e-9 * guarantee)
        assert 0 <= result.rounding <= 6 * step + 1e-9 * guarantee


@pytest.mark.filterwarnings("ignore:.*protects little")
@pytest.mark.parametrize("law", [1e9, beyond.GaussianNoise(1e-9)])
def test_releases_of_sums_and_of_their_records_have_identical_guarantees(opendp, law):
    """The releases are identical, too, if all values are levels; without bias both errors agree."""
    records, counts, sums = ([1, 2, 2], [0.0, 5.0, 2.5]), [1, 2], [0.0, 7.5]
    users = ud.Contributions(counts, 10)
    for eps in (law, 0.7):
        table = release.private_mean(*records, lower=0, upper=10, budget=eps)
        result = release.release_mean(sums, users, eps)
        data = dict(zip(("user", "value"), records, strict=True))
        measured = as_measurement("user", "value", data=data, lower=0, upper=10, budget=eps)(data)
        refused = {"outside": "refuse", "missing": "refuse"}
        assert table.public() == result.public() == measured.public() | refused
    noise = beyond.optimal_error(users, law)
    table = release.private_mean(*records, lower=0, upper=10, budget=law)
    assert table.worst_case_bound - noise == pytest.approx(table.rounding, rel=0.01)
    unprojected = release.private_mean(*records, lower=0, upper=10, budget=law, project=False)
    assert unprojected.worst_case_error == unprojected.worst_case_bound >= table.worst_case_error


def test_sums_are_clipped_in_whole_numbers(opendp):
    """Ends of windows lie between two floats: a sum clipped as a float could exceed them."""
    users = ud.Contributions([2**15 + 1], 1)
    for centre in np.random.default_rng(19).uniform(size=100):
        for sums in ([0.0], [2**15 + 1.0]):
            release.release_mean(sums, users, budget=2, centre=centre, total_width=10.0**5)
        (moved, _, low), (*_, high) = opendp.requests[-2:]
        assert max(abs(low), abs(high)) > 2**53
        assert high - low <= moved


def test_no_noise_is_drawn_if_computing_the_guarantee_fails(opendp, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("userdp.release._mean.centred_bias", fail)
    with pytest.raises(ValueError, match="failed with a ZeroDivisionError"):
        release.release_mean(SUMS, USERS, 1)
    assert opendp.requests == []


def test_a_release_is_projected_by_default():
    """At this budget the noise exceeds the bounds in 99 % of all cases."""
    one = ud.Contributions([1], 5)
    for options in ({}, {"project": True}, {"project": False}):
        results = [
            release.release_mean([3.0], one, 0.01, total_width=5, **options) for _ in range(64)
        ]
        projected = options.get("project", True)
        assert all(0 <= each.mean <= 5 for each in results) == projected
        assert {each.mean in {0, 5} for each in results} >= {projected}
        theory = beyond.projected_error(one, 5, 0.01) if projected else 500
        assert results[0].worst_case_error == pytest.approx(theory)
        assert theory == 500 or 2.4 < theory < 2.5


def test_opendp_accounts_for_at_most_the_budget_and_almost_all_of_it():
    rng = np.random.default_rng(18)
    for _ in range(1000):
        moved = int(2.0 ** rng.uniform(0, 54))
        budget = Fraction(float(10.0 ** rng.uniform(-12, 3)))
        spent = Fraction(discrete_laplace(moved, budget).map(moved))
        assert budget * (1 - Fraction(1, 10**12)) <= spent <= budget
        law = beyond.GaussianNoise(10.0 ** rng.uniform(-2, 2))
        for vector in (False, True):
            spent = discrete_gaussian(moved // 16 or 1, law, vector=vector).map(moved // 16 or 1)
            assert Fraction(spent) <= 1 / (2 * Fraction(law.sigma) ** 2)


@pytest.mark.parametrize("eps", [0.1, Fraction(1, 3), "0.7", 1, 2.0**-40])
def test_a_release_states_what_it_spent_and_enables_the_features_of_opendp(eps):
    dp.disable_features("contrib")
    result = release.release_mean(SUMS, USERS, eps, total_width=10)
    assert Fraction(eps) * (1 - Fraction(1, 10**12)) <= Fraction(result.eps) <= Fraction(eps)
    assert result.eps == 1 or eps != 1


def frame_of_a_sweep(_):
    ud.error_sweep({"Laplace": ud.laplace}, USERS, [1], ud.uniform_sums, 2, rng=0).frame()


def relation():
    return duckdb.sql("SELECT 1 AS user")


# In this process, so that mutation tests reach the code; test_extras.py tests all calls.
EXTRAS = {
    "OpenDP": ("release", "opendp", lambda _: release.release_mean(SUMS, USERS, 1)),
    "Ibis": ("tables", "ibis", lambda path: release.user_counts("user", data=path)),
    "polars": ("tables", "pyarrow", lambda _: release.user_counts(polars.Series([1, 2]))),
    "DuckDB": ("tables", "pyarrow", lambda _: release.user_counts("user", data=relation())),
    "pandas": ("frame", "pandas", frame_of_a_sweep),
}


@pytest.mark.parametrize(("extra", "library", "call"), EXTRAS.values(), ids=EXTRAS)
def test_the_message_for_a_missing_library_names_the_extra(
    extra, library, call, monkeypatch, tmp_path
):
    for name in (library, f"{library}.prelude"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "records.csv").write_text("user,value\n1,2\n")
    with pytest.raises(ImportError, match=rf"pip install 'userdp\[{extra}\]'"):
        call(tmp_path / "records.csv")
    assert ud.opt_worst_case(SUMS, USERS, 1, rng=0).shape == ()
