"""What Section IV-D says of Figure 2 (and, of the same mechanisms, Figure 3), on other draws."""

import numpy as np
import pytest

import userdp as ud

GEOMETRIC = ud.geometric_collection(6, 65)
PAPER = {
    "geometric": (GEOMETRIC, ud.uniform_sums),
    "extreme": (ud.extreme_collection(101, 10, 65), ud.gaussian_sums),
}
MEAN_ERRORS = {
    "Laplace": ud.laplace_mean_error,
    "AKMV": ud.akmv_mean_error,
    "OPT": ud.opt_worst_case_mean_error,
}


def lead(sweep, name):
    """How many standard errors AKMV's errors lie above another mechanism's exact ones."""
    return (sweep["AKMV"].mean - sweep[name].mean) / sweep["AKMV"].standard_error


@pytest.mark.parametrize(("users", "sampler"), PAPER.values(), ids=PAPER)
def test_worst_case_of_the_optimum_lies_below_the_average_of_akmv(users, sampler):
    budgets = np.geomspace(0.02, 200, 15).tolist()
    akmv = {"AKMV": ud.akmv_mean_error}
    mean, standard_error = ud.mean_error_sweep(akmv, users, budgets, sampler, 200, rng=1)["AKMV"]
    worst = [ud.optimal_error(users, eps) for eps in budgets]
    assert ((mean - worst) / standard_error > 6).all()


def test_akmv_is_better_than_laplace_below_and_worse_above_one_third():
    budgets = [0.1, 0.2, 0.28, 0.34, 0.5, 1, 2]
    sweep = ud.mean_error_sweep(MEAN_ERRORS, GEOMETRIC, budgets, ud.uniform_sums, 1000, rng=1)
    z = lead(sweep, "Laplace")
    assert (z[:3] < -6).all()
    assert (z[3:] > 6).all()
    assert (np.abs(sweep["AKMV"].mean / sweep["Laplace"].mean - 1) < 0.2).all()


def test_akmv_is_worse_than_laplace_everywhere_on_the_extreme_collection():
    users, sampler = PAPER["extreme"]
    sweep = ud.mean_error_sweep(MEAN_ERRORS, users, [0.1, 0.3, 1, 2], sampler, 500, rng=1)
    assert (lead(sweep, "Laplace") > 6).all()


def test_the_halved_budget_is_the_smaller_part_of_akmvs_error_at_small_eps():
    def full_budget(sums, users, eps):
        law = ud.quantile_cells(sums, users, ud.rank(eps), eps / 2)
        return ud.capped_mean_error(law, users, eps)

    def exact_quantile(sums, users, eps):
        T = np.sort(sums, axis=-1)[..., -ud.rank(eps)]
        bias = np.maximum(sums - T[..., None], 0).sum(axis=-1) / users.total
        return ud.noisy_error(bias, 2 * T / eps / users.total)

    repairs = {"AKMV": ud.akmv_mean_error, "full": full_budget, "exact": exact_quantile}
    sweep = ud.mean_error_sweep(repairs, GEOMETRIC, [0.1, 0.5, 1.9], ud.uniform_sums, 500, rng=1)
    akmv, full, exact = (sweep[name].mean for name in repairs)
    assert (full >= akmv / 2).all()  # doubling the budget can at most halve the error
    assert (full < 0.6 * akmv).all()
    assert (exact[:2] < 0.8 * full[:2]).all()
    assert exact[2] > full[2]


@pytest.mark.parametrize("k", [1, 3, 7, 15])
def test_the_average_error_doubles_where_the_threshold_does(k):
    budgets = [2 / k * (1 - 1e-6), 2 / k]
    sweep = ud.mean_error_sweep(MEAN_ERRORS, GEOMETRIC, budgets, ud.uniform_sums, 200, rng=1)
    T = [ud.threshold(GEOMETRIC, eps) for eps in budgets]
    assert T[1] == 2 * T[0]
    before, at = sweep["OPT"].mean
    assert at / before == pytest.approx(2, rel=0.01)
    worst = [ud.optimal_error(GEOMETRIC, eps) for eps in budgets]
    assert worst[1] == pytest.approx(worst[0], rel=1e-5)
