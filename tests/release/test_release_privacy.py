"""The release of sums: what OpenDP is handed, and what is said of it."""

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
def test_release_hands_whole_numbers_to_opendp_and_neighbours_differ_by_the_width(opendp, eps):
    reached = 0.0
    for users, first, second in audit.hard_pairs(160, rng=17):
        for pair in zip(first, second, strict=True):
            for sums in pair:
                release.release_mean(sums, users, eps, objective="bound")
            one, other = opendp.asked[-2:]
            seen = (one.total, one.moved, other.total, other.moved)
            assert {type(x) for x in seen} == {int}
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
        made = release.release_mean(sums, USERS, eps, **options, project=False)
        width = beyond.threshold(USERS, eps, objective) if given is None else given
        exact = beyond.clipped_mean(sums, USERS, width, eps, centre=centre, rng=audit.Recorder())
        clipping = beyond.centred_clipping(USERS, made.total_width, centre)
        certificate = beyond.worst_case_error(USERS, clipping, eps)
        share = 1 / LAW.sigma if eps is LAW else eps
        step = made.noise_scale * share / max(opendp.asked[-1].moved, 1)
        assert made.noise_scale == pytest.approx(float(exact.scale), rel=1e-3)
        assert abs(made.mean - float(exact.value)) <= made.rounding
        counted = made.worst_case_bound - certificate
        assert counted == pytest.approx(made.rounding, abs=6 * step + 1e-9 * certificate)
        assert 0 <= made.rounding <= 6 * step + 1e-9 * certificate


@pytest.mark.filterwarnings("ignore:.*protects little")
@pytest.mark.parametrize("law", [1e9, beyond.GaussianNoise(1e-9)])
def test_certificates_of_sums_and_of_their_records_are_the_same_to_the_last_digit(opendp, law):
    """So are the releases where all values are levels; and without bias both errors are one."""
    records, counts, sums = ([1, 2, 2], [0.0, 5.0, 2.5]), [1, 2], [0.0, 7.5]
    users = ud.Contributions(counts, 10)
    for eps in (law, 0.7):
        table = release.private_mean(*records, lower=0, upper=10, budget=eps)
        made = release.release_mean(sums, users, eps)
        data = dict(zip(("user", "value"), records, strict=True))
        told = as_measurement("user", "value", data=data, lower=0, upper=10, budget=eps)(data)
        refused = {"outside": "refuse", "missing": "refuse"}
        assert table.public() == made.public() == told.public() | refused
    noise = beyond.optimal_error(users, law)
    table = release.private_mean(*records, lower=0, upper=10, budget=law)
    assert table.worst_case_bound - noise == pytest.approx(table.rounding, rel=0.01)
    unprojected = release.private_mean(*records, lower=0, upper=10, budget=law, project=False)
    assert unprojected.worst_case_error == unprojected.worst_case_bound >= table.worst_case_error


def test_sums_are_clipped_as_whole_numbers(opendp):
    """The ends of windows lie between two floats: clipped as floats, a sum would pass them."""
    users = ud.Contributions([2**15 + 1], 1)
    for centre in np.random.default_rng(19).uniform(size=100):
        for sums in ([0.0], [2**15 + 1.0]):
            release.release_mean(sums, users, budget=2, centre=centre, total_width=10.0**5)
        (moved, _, low), (*_, high) = opendp.asked[-2:]
        assert max(abs(low), abs(high)) > 2**53
        assert high - low <= moved


def test_a_certificate_that_fails_has_spent_nothing(opendp, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("userdp.release._mean.centred_bias", fail)
    with pytest.raises(ValueError, match="failed with a ZeroDivisionError"):
        release.release_mean(SUMS, USERS, 1)
    assert opendp.asked == []


def test_release_stays_between_the_bounds_unless_told():
    """At this budget the noise leaves them 99 times in a hundred."""
    one = ud.Contributions([1], 5)
    for options in ({}, {"project": True}, {"project": False}):
        made = [release.release_mean([3.0], one, 0.01, total_width=5, **options) for _ in range(64)]
        projected = options.get("project", True)
        assert all(0 <= mechanism.mean <= 5 for mechanism in made) == projected
        assert {mechanism.mean in {0, 5} for mechanism in made} >= {projected}
        theory = beyond.projected_error(one, 5, 0.01) if projected else 500
        assert made[0].worst_case_error == pytest.approx(theory)
        assert theory == 500 or 2.4 < theory < 2.5


def test_opendp_accounts_for_no_more_than_the_budget_and_hardly_less():
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
def test_release_says_what_it_spent_and_enables_what_it_needs_of_opendp(eps):
    dp.disable_features("contrib")
    made = release.release_mean(SUMS, USERS, eps, total_width=10)
    assert Fraction(eps) * (1 - Fraction(1, 10**12)) <= Fraction(made.eps) <= Fraction(eps)
    assert made.eps == 1 or eps != 1


def frame_of_a_sweep(_):
    ud.error_sweep({"Laplace": ud.laplace}, USERS, [1], ud.uniform_sums, 2, rng=0).frame()


def relation():
    return duckdb.sql("SELECT 1 AS user")


# Here in this process, where mutants are; tests/release/test_extras.py has all calls.
EXTRAS = {
    "OpenDP": ("release", "opendp", lambda _: release.release_mean(SUMS, USERS, 1)),
    "Ibis": ("tables", "ibis", lambda path: release.user_counts("user", data=path)),
    "polars": ("tables", "pyarrow", lambda _: release.user_counts(polars.Series([1, 2]))),
    "DuckDB": ("tables", "pyarrow", lambda _: release.user_counts("user", data=relation())),
    "pandas": ("frame", "pandas", frame_of_a_sweep),
}


@pytest.mark.parametrize(("extra", "library", "call"), EXTRAS.values(), ids=EXTRAS)
def test_a_library_that_goes_missing_is_told(extra, library, call, monkeypatch, tmp_path):
    for name in (library, f"{library}.prelude"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "records.csv").write_text("user,value\n1,2\n")
    with pytest.raises(ImportError, match=rf"pip install 'userdp\[{extra}\]'"):
        call(tmp_path / "records.csv")
    assert ud.opt_worst_case(SUMS, USERS, 1, rng=0).shape == ()
