"""The trade-off between the average error under a prior and the guarantee.

- A member of the family has a centre and a total width. Its guarantee is the worst-case error:
  bias (5), summed over the samples first, plus noise for the sensitivity (6). Its mean error is the
  average of `clipped_mean_error` over datasets from the prior, the same ones for all members.
- `best(tau)` has the smallest mean error among members whose guarantee is at most 1 + tau times
  the smallest one, that of Theorem III.1 (sec-average-knob). If there is none, it raises.
- `frontier` holds the members that no other member beats in both guarantee and mean error.
- By default there are 21 centres in equal steps from 0 to U. The widths are 0, the ends of the flat
  piece (prp-free-lunch), those whose guarantee is 5 %, 10 %, ... 200 % above the smallest, and 80
  in equal ratios.
- 1,000 datasets are drawn, determined by the seed alone.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from strategies import EXTREME, GEOMETRIC, LAWS

import userdp as ud
from userdp import beyond

SMALL = ud.Contributions([5, 3, 3, 1], upper=10)
both_laws = pytest.mark.parametrize("noise", ["laplace", "staircase"])


@both_laws
@pytest.mark.parametrize("upper", [10, Fraction(10)])
def test_tradeoff_holds_guarantee_and_mean_error_of_each_member(noise, upper):
    users = ud.Contributions([5, 3, 3, 1], upper)
    sums = ud.uniform_sums(SMALL, 30, rng=2)
    options = {"centres": [7, 0, 5.5], "total_widths": [0, 3, 200, 31.0]}
    trade = beyond.error_tradeoff(users, LAWS[noise](0.7), lambda *_, rng: sums, 30, **options)
    assert trade.centres.tolist() == [0, 5.5, 7]
    assert trade.total_widths.tolist() == [0, 3, 31, 200]
    assert trade.smallest_guarantee == beyond.optimal_error(SMALL, LAWS[noise](0.7))
    for i, centre in enumerate(trade.centres):
        for j, width in enumerate(trade.total_widths):
            clipping = beyond.centred_clipping(SMALL, width, centre)
            guarantee = beyond.worst_case_error(SMALL, clipping, LAWS[noise](0.7))
            errors = beyond.clipped_mean_error(sums, SMALL, width, LAWS[noise](0.7), centre=centre)
            standard_error = errors.std(ddof=1) / 30**0.5
            np.testing.assert_allclose(trade.guarantee[i, j], guarantee, 1e-12)
            np.testing.assert_allclose(trade.mean_error[i, j], errors.mean(), 1e-10)
            np.testing.assert_allclose(trade.standard_error[i, j], standard_error, 1e-8, 1e-12)


def small_trade(eps=1, n_trials=50, **options):
    return beyond.error_tradeoff(SMALL, eps, ud.uniform_sums, n_trials, **{"rng": 1} | options)


def test_best_has_the_smallest_mean_error_within_the_guarantee():
    trade, previous = small_trade(n_trials=20), np.inf
    for tau in np.linspace(0, 4, 21):
        member = trade.best(tau)
        cell = np.ix_(trade.centres == member.centre, trade.total_widths == member.total_width)
        grids = trade.guarantee, trade.mean_error, trade.standard_error
        assert [grid[cell].item() for grid in grids] == [*member[2:]]
        allowed = trade.guarantee <= (1 + tau) * trade.smallest_guarantee * (1 + 1e-12)
        assert allowed[cell].item()
        assert member.mean_error == trade.mean_error[allowed].min() <= previous
        previous = member.mean_error  # a larger tau never raises the error
    assert previous == trade.mean_error.min()


def test_a_tau_that_no_member_satisfies_is_refused_and_the_smallest_valid_one_is_named():
    trade = small_trade(centres=[5], total_widths=[1])
    needed = trade.guarantee[0, 0] / trade.smallest_guarantee - 1
    assert needed > 0.1
    with pytest.raises(ValueError, match=f"at least {str(needed)[:8]}"):
        trade.best(needed * 0.99)
    assert trade.best(needed * 1.01).total_width == 1


def test_members_of_the_frontier_are_not_dominated_and_dominate_all_others():
    for trade in (small_trade(0.5, centres=[4, 5, 9]), small_trade(2, centres=[0, 5])):
        points = np.array([(m.guarantee, m.mean_error) for m in trade.frontier()])
        assert (np.diff(points[:, 0]) > 0).all()
        assert (np.diff(points[:, 1]) < 0).all()
        all_points = np.stack([trade.guarantee.ravel(), trade.mean_error.ravel()], axis=1)
        assert {*map(tuple, points)} <= {*map(tuple, all_points)}
        for point in all_points:
            assert (points <= point).all(axis=1).any()
    unclipped = small_trade(centres=[5], total_widths=[50, 70, 90])  # none of them clips
    assert np.ptp(unclipped.guarantee) == np.ptp(unclipped.mean_error) == 0
    assert len(unclipped.frontier()) == 1


@pytest.mark.slow
@both_laws
@pytest.mark.parametrize(
    "users",
    [SMALL, ud.Contributions([90, 40, 11, 7, 3], upper=10), GEOMETRIC, EXTREME],
    ids=["four users", "five users", "geometric", "extreme-valued"],
)
@pytest.mark.parametrize("eps", [0.3, Fraction(1, 2), Fraction(2, 3), 0.99, 1, 2, 20])
def test_the_default_grid_has_the_centres_and_widths_stated(users, eps, noise):
    """Width 0, equal ratios, the ends of the flat piece, and guarantees in steps of 5 %."""
    trade = beyond.error_tradeoff(users, LAWS[noise](eps), ud.uniform_sums, 2, rng=1)
    np.testing.assert_allclose(trade.centres, float(users.upper) * np.arange(21) / 20)
    T, largest = float(beyond.threshold(users, LAWS[noise](eps))), float(max(users.largest_sums))
    kinks = {0.0, T, max((float(x) for x in users.largest_sums if x < T), default=0.0)}
    assert kinks <= {*trade.total_widths}

    def excess(width, tau):
        error = float(beyond.symmetric_error(users, width, LAWS[noise](eps)))
        return error - (1 + tau) * trade.smallest_guarantee

    steps = [tau for tau in np.arange(1, 41) / 20 if excess(0, tau) > 0]
    steps = [brentq(excess, 0, T, args=(tau,), xtol=1e-13 * largest) for tau in steps]
    expected = [*kinks, *steps, *largest * 1000 ** (-np.arange(80) / 79)]
    distances = abs(np.subtract.outer(expected, trade.total_widths))
    for axis in (0, 1):
        assert distances.min(axis=axis).max() <= 1e-9 * largest


def test_the_seed_determines_the_1000_datasets_and_progress_is_shown(progress_calls):
    def prior(users, n_trials, *, rng):
        sizes.append(n_trials)
        return ud.uniform_sums(users, n_trials, rng=rng)

    sizes = []
    first, again, other = (
        beyond.error_tradeoff(
            SMALL, 1, prior, centres=[4, 5], total_widths=[1, 2, 3], rng=rng
        ).mean_error
        for rng in (4, 4, 5)
    )
    assert sizes == [1000] * 3
    assert progress_calls == ([6] + [None] * 6) * 3
    assert (first == again).all()
    assert not (first == other).all()
