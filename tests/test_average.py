"""Average error against certificate: the trade-off, dropping and capping, the page's numbers."""

import itertools
from fractions import Fraction

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

import userdp as ud

U = 65
COLLECTIONS = {
    "geometric": ud.geometric_collection(6, U),
    "extreme": ud.extreme_collection(101, 10, U),
}

SMALL = ud.Contributions([5, 3, 3, 1], upper=10)
few = settings(max_examples=40)
share = st.fractions(min_value=0, max_value=1, max_denominator=12)


def fixed(sums):
    """A prior that always draws the same datasets."""
    return lambda users, n_trials, *, rng: sums


def small_trade(eps=1, n_trials=50, **options):
    return ud.tradeoff(SMALL, eps, ud.uniform_sums, n_trials, rng=1, **options)


# --- clipped_mean_error and clipped_mean --------------------------------------------------------


@pytest.mark.parametrize("noise", ["laplace", "staircase"])
@pytest.mark.parametrize(("width", "centre"), [(7, None), (12, 8), (60, 2), (3, 0)])
def test_clipped_mean_error_is_the_integral_over_the_noise(width, centre, noise):
    """Averages projected to the intervals, noise of their sensitivity: by quadrature."""
    eps, law = 1.3, ud.LaplaceNoise(1.3) if noise == "laplace" else ud.StaircaseNoise(1.3)
    clipping = ud.centred_clipping(SMALL, width, centre)
    scale = ud.sensitivity(SMALL, clipping)
    place = getattr(law, "gamma", 0)  # where the staircase steps
    edges = [sign * (n + part) for n in range(60) for part in (0, place) for sign in (-1, 1)]
    nodes, weights = np.polynomial.legendre.leggauss(8)
    for sums in ud.uniform_sums(SMALL, 4, rng=3):
        projected = np.clip(sums / SMALL.counts, clipping.lower, clipping.upper) * SMALL.counts
        bias = (sums.sum() - projected.sum()) / SMALL.total
        ends = np.unique([*edges, -bias / scale])
        half = np.diff(ends)[:, None] / 2
        z = ends[:-1, None] + half * (1 + nodes)
        expected = np.sum(half * weights * np.abs(bias + scale * z) * np.exp(law.log_density(z)))
        exact = ud.clipped_mean_error(sums, SMALL, width, eps, centre=centre, noise=noise)
        assert exact == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise", ["laplace", "staircase"])
@pytest.mark.parametrize(("width", "centre"), [(7, None), (12, 8), (3, 0)])
def test_clipped_mean_errs_as_computed(width, centre, noise):
    sums = np.array([46.0, 3.0, 17.0, 9.5])
    copies = np.broadcast_to(sums, (40_000, 4))
    options = {"centre": centre, "noise": noise}
    release = ud.clipped_mean(copies, SMALL, width, 0.8, **options, rng=5)
    errors = np.abs(release - sums.sum() / SMALL.total)
    exact = ud.clipped_mean_error(sums, SMALL, width, 0.8, **options)
    assert abs(errors.mean() - exact) < 6 * errors.std() / 200


@few
@given(strategies.collections(max_samples=4), strategies.fractions, share, share)
def test_certificate_holds_on_every_corner(users, eps, width_share, centre_share):
    """bias + noise from the definitions, and no dataset of 0s and Us errs more."""
    width = 2 * width_share * users.upper * users.max_count
    centre = centre_share * users.upper
    clipping = ud.centred_clipping(users, width, centre)
    certificate = ud.worst_case_error(users, clipping, eps)
    bias = oracle.largest_bias(users.counts, users.upper, clipping)
    change = oracle.largest_change(users.counts, users.upper, clipping)
    assert certificate == bias + change / eps
    corners = np.array(list(itertools.product(*([0, m] for m in users.counts))))
    errors = ud.clipped_mean_error(float(users.upper) * corners, users, width, eps, centre=centre)
    assert errors.max() <= float(certificate) * (1 + 1e-9)


# --- tradeoff, best, frontier -------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["laplace", "staircase"])
@pytest.mark.parametrize("upper", [10, Fraction(10)])
def test_tradeoff_holds_what_its_members_do_on_the_draws(noise, upper):
    users = ud.Contributions([5, 3, 3, 1], upper)
    sums = ud.uniform_sums(SMALL, 30, rng=2)
    options = {"centres": [7, 0, 5.5], "total_widths": [0, 3, 200, 31.0]}
    trade = ud.tradeoff(users, 0.7, fixed(sums), 30, **options, noise=noise)
    assert trade.centres.tolist() == [0, 5.5, 7]
    assert trade.total_widths.tolist() == [0, 3, 31, 200]
    assert trade.smallest_certificate == ud.optimal_error(SMALL, 0.7, noise=noise)
    for i, centre in enumerate(trade.centres):
        for j, width in enumerate(trade.total_widths):
            clipping = ud.centred_clipping(SMALL, width, centre)
            certificate = ud.worst_case_error(SMALL, clipping, 0.7, noise=noise)
            errors = ud.clipped_mean_error(sums, SMALL, width, 0.7, centre=centre, noise=noise)
            spread = errors.std(ddof=1) / 30**0.5
            np.testing.assert_allclose(trade.certificate[i, j], certificate, 1e-12)
            np.testing.assert_allclose(trade.mean_error[i, j], errors.mean(), 1e-10)
            np.testing.assert_allclose(trade.standard_error[i, j], spread, 1e-8, 1e-12)


def test_default_grid_holds_both_ends_of_the_flat_piece():
    for k in (1, 3, 4):
        trade = small_trade(Fraction(2, k), 2)
        v = [*sorted(SMALL.largest_sums, reverse=True), 0]
        assert {0, v[k], v[k - 1], 50} <= set(trade.total_widths)
        assert trade.centres.size == 21
        assert 5 in trade.centres
        assert trade.certificate.min() == pytest.approx(trade.smallest_certificate)


@pytest.mark.parametrize("noise", ["laplace", "staircase"])
def test_default_grid_reaches_the_edge_of_the_certificate(noise):
    """Where all users are clipped, or one: tau in steps of 5 % is used up, if there is room."""
    for users, eps in itertools.product([SMALL, *COLLECTIONS.values()], [0.3, 1, 2]):
        middle = float(users.upper) / 2
        trade = ud.tradeoff(users, eps, ud.uniform_sums, 2, centres=[middle], noise=noise, rng=1)
        largest = ud.symmetric_error(users, 0, eps, noise=noise)
        for tau in np.arange(1, 41) / 20:
            limit = (1 + tau) * trade.smallest_certificate
            within = trade.certificate[trade.certificate <= limit * (1 + 1e-12)]
            below = trade.total_widths < ud.threshold(users, eps, noise=noise)
            if limit < largest:
                assert within.max() == pytest.approx(limit)
                assert np.abs(trade.certificate[0, below] / limit - 1).min() < 1e-12


def test_best_is_the_smallest_average_within_the_certificate():
    trade, previous = small_trade(n_trials=20), np.inf
    grid = list(itertools.product(range(21), range(trade.total_widths.size)))
    for tau in np.linspace(0, 4, 21):
        member = trade.best(tau)
        limit = (1 + tau) * trade.smallest_certificate * (1 + 1e-12)
        assert member.certificate <= limit
        allowed = [trade.mean_error[at] for at in grid if trade.certificate[at] <= limit]
        assert member.mean_error == min(allowed)
        assert member.mean_error <= previous  # more room, no more error
        previous = member.mean_error
        i = trade.centres.tolist().index(member.centre)
        j = trade.total_widths.tolist().index(member.total_width)
        stored = (grid[i, j] for grid in (trade.certificate, trade.mean_error))
        assert tuple(stored) == (member.certificate, member.mean_error)
        assert trade.standard_error[i, j] == member.standard_error
    assert previous == trade.mean_error.min()


def test_members_of_the_frontier_are_beaten_by_nobody_and_beat_all_others():
    for trade in (small_trade(0.5, centres=[4, 5, 9]), small_trade(2, centres=[0, 5])):
        members = trade.frontier()
        points = np.array([(m.certificate, m.mean_error) for m in members])
        assert (np.diff(points[:, 0]) > 0).all()
        assert (np.diff(points[:, 1]) < 0).all()
        everything = np.stack([trade.certificate.ravel(), trade.mean_error.ravel()], axis=1)
        for point in points:
            no_worse = (everything <= point).all(axis=1)
            assert not (no_worse & (everything < point).any(axis=1)).any()
        for point in everything:
            assert (points <= point).all(axis=1).any()
        assert members[0].certificate == trade.certificate.min()
        assert members[-1].mean_error == trade.mean_error.min()


@pytest.mark.parametrize(
    ("tau", "error"),
    [
        *((-0.1, ValueError), (np.nan, ValueError), (np.inf, ValueError)),
        *((None, TypeError), ("1", TypeError), (True, TypeError), (1j, TypeError)),
    ],
)
def test_bad_tau_is_refused(tau, error):
    with pytest.raises(error, match="`tau`"):
        small_trade(n_trials=2, centres=[5], total_widths=[10]).best(tau)


def test_tau_that_no_member_meets_is_refused_and_the_smallest_that_does_is_named():
    trade = small_trade(centres=[5], total_widths=[1])
    needed = trade.certificate[0, 0] / trade.smallest_certificate - 1
    assert needed > 0.1
    with pytest.raises(ValueError, match=f"at least {str(needed)[:8]}"):
        trade.best(needed * 0.99)
    assert trade.best(needed * 1.01).total_width == 1
