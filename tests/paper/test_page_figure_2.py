"""What Section IV-D says about Figure 2 and, for the same mechanisms, Figure 3, on other draws."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from page_functions import BOOK, functions_of
from strategies import EXTREME, GEOMETRIC, MEAN_ERRORS, on_the_papers_collections

import userdp as ud


def excess_over_laplace(users, budgets, sampler):
    """The excess of AKMV's errors over Laplace's, in standard errors, and their ratio."""
    sweep = ud.mean_error_sweep(MEAN_ERRORS, users, budgets, sampler, 1000, rng=1)
    akmv, laplace = sweep["AKMV"], sweep["Laplace"].mean
    return (akmv.mean - laplace) / akmv.standard_error, akmv.mean / laplace


@on_the_papers_collections
def test_worst_case_of_the_optimum_lies_below_the_average_of_akmv(users, sampler):
    budgets = np.geomspace(0.02, 200, 15).tolist()
    akmv = {"AKMV": ud.akmv_mean_error}
    mean, standard_error = ud.mean_error_sweep(akmv, users, budgets, sampler, 200, rng=1)["AKMV"]
    worst = [ud.optimal_error(users, eps) for eps in budgets]
    assert ((mean - worst) / standard_error > 6).all()


def test_akmv_beats_laplace_only_on_the_geometric_collection_below_one_third():
    z, ratio = excess_over_laplace(GEOMETRIC, [0.1, 0.2, 0.28, 0.34, 0.5, 1, 2], ud.uniform_sums)
    assert max(z[:3]) < -6 < 6 < min(z[3:])
    assert (np.abs(ratio - 1) < 0.2).all()
    assert (excess_over_laplace(EXTREME, [0.1, 0.3, 1, 2], ud.gaussian_sums)[0] > 6).all()


def law_on_a_log_scale(sums, users, eps):
    """Ends, probabilities and log widths of the cells of AKMV's threshold, if drawn by dt/t.

    The threshold's range begins at a quarter of the smallest bound on a sum, which is public.
    """
    largest, smallest = users.upper * users.counts.max(), users.upper * users.counts.min() / 4
    ordered = -np.sort(-np.clip(sums, smallest, largest), axis=-1)
    rows = [(*ordered.shape[:-1], 1)]
    ends = np.concatenate([np.full(*rows, largest), ordered, np.full(*rows, smallest)], axis=-1)
    widths = np.log(ends[..., :-1] / ends[..., 1:])
    distance = abs(np.arange(users.n_users + 1) - ud.rank(eps))
    weights = widths * np.exp(-float(eps) / 4 * distance)
    return ends, weights / weights.sum(axis=-1, keepdims=True), widths


@on_the_papers_collections
@pytest.mark.parametrize("eps", [0.1, 0.2])
def test_a_draw_that_prefers_small_thresholds_is_more_accurate_at_small_eps(users, sampler, eps):
    rng = np.random.default_rng(1)
    sums = sampler(users, 2000, rng=rng)
    ends, probability, _ = law_on_a_log_scale(sums, users, eps)
    level = rng.random((2000, 1))
    cell = (probability.cumsum(axis=1) < level).sum(axis=1)[:, None].clip(max=users.n_users)
    high, low = (np.take_along_axis(ends, cell + i, axis=1) for i in (0, 1))
    T = low * (high / low) ** rng.random((2000, 1))
    bias = np.maximum(sums - T, 0).sum(axis=1) / users.total
    errors = ud.noisy_error(bias, 2 * T[:, 0] / eps / users.total)
    uniform = ud.akmv_mean_error(sums, users, eps).mean()
    assert errors.mean() + 6 * errors.std() / 2000**0.5 < 0.7 * uniform


@on_the_papers_collections
def test_a_draw_that_prefers_small_thresholds_is_just_as_private(users, sampler):
    """Its log densities on neighbours differ by at most half of the budget."""
    rng, eps = np.random.default_rng(1), 0.6
    sums, bounds = sampler(users, 50, rng=rng), users.upper * users.counts
    neighbours, changed_users = sums.copy(), rng.integers(users.n_users, size=50)
    neighbours[range(50), changed_users] = bounds[changed_users] * rng.integers(2, size=50)
    largest = 0
    for pair in zip(sums, neighbours, strict=True):
        laws = [law_on_a_log_scale(data, users, eps) for data in pair]
        # At the geometric mean of the ends of each cell of both laws.
        T = np.concatenate([np.sqrt(ends[:-1] * ends[1:])[widths > 0] for ends, _, widths in laws])
        cells = [(ends[1:, None] > T).sum(axis=0) for ends, *_ in laws]
        densities = [p[cell] / w[cell] for (_, p, w), cell in zip(laws, cells, strict=True)]
        largest = max(largest, abs(np.log(densities[0] / densities[1])).max())
    assert 0.1 * eps < largest <= eps / 2 * (1 + 1e-9)


def test_the_halved_budget_is_the_smaller_part_of_akmvs_error_at_small_eps():
    page = functions_of("figure-2")
    repairs = {"AKMV": ud.akmv_mean_error, "full": page.full_budget, "exact T": page.exact_T}
    sweep = ud.mean_error_sweep(repairs, GEOMETRIC, [0.1, 0.5, 1.9], ud.uniform_sums, 500, rng=1)
    akmv, full_budget, exact_threshold = (sweep[name].mean for name in repairs)
    assert (full_budget >= akmv / 2).all()  # doubling the budget at most halves the error
    assert (full_budget < 0.6 * akmv).all()
    assert (exact_threshold[:2] < 0.8 * full_budget[:2]).all()
    assert exact_threshold[2] > full_budget[2]


@pytest.mark.parametrize(("figure", "times"), [(2, (2, 16)), (3, (10, 11))])
def test_below_two_the_optimum_has_at_most_half_of_akmvs_average_error(figure, times):
    """In the stored table, which `test_figures.py` checks; at two the advantage is small."""
    table = pd.read_csv(BOOK / "data" / f"figure-{figure}.csv")
    table = table[table.method == "noise integrated out"]
    errors = table.pivot(index=["eps", "rank"], columns="mechanism", values="error")
    ratio = errors["AKMV"] / errors["OPT-worst-case"]
    below_two = ratio.index.get_level_values("rank") > 1
    assert ratio[below_two].between(*times).all()
    assert 1 < ratio[~below_two].item() < 1.25


def test_at_a_jump_the_worst_clipping_error_changes_as_the_noise_and_the_average_little():
    """Between two jumps, the clipping does not change."""
    users = ud.Contributions(GEOMETRIC.counts, Fraction(65))
    centred = ud.uniform_sums(GEOMETRIC, 4000, rng=1) - 32.5 * GEOMETRIC.counts

    def parts(eps):
        """The threshold, and the clipping error in the worst case and on average."""
        T = ud.threshold(users, eps)
        cut = (centred - np.clip(centred, -float(T) / 2, float(T) / 2)).sum(axis=1)
        worst = ud.worst_case_bias(users, ud.optimal_clipping(users, eps))
        return T, worst, abs(cut).mean() / users.total

    jumps = []
    for k in range(1, 21):
        eps = Fraction(2, k)
        (below, bias, cut), (T, new_bias, new_cut) = parts(eps - Fraction(1, 10**6)), parts(eps)
        noise = (T - below) / (users.total * eps)
        assert bias - new_bias == noise
        assert abs(cut - new_cut) <= noise / 30
        jumps += [k] * (below < T)
        if k > 1:
            assert parts(Fraction(2, k) + Fraction(1, 10**6))[0] == T
    assert jumps == [1, 3, 7, 15]
