"""Bad input is refused with the argument and its value; its nearest good neighbour is accepted."""

from decimal import Decimal
from fractions import Fraction

import ibis
import numpy as np
import pyarrow as pa
import pytest

import userdp as ud
from userdp import _checks

USERS = ud.Contributions([2, 1], 10)
SUMS = [11.0, 4.0]
CLIPPING = ud.Clipping([1, 2], [9, 8])
EXACT = ud.Contributions([2, 1], Fraction(10))
HUGE = 10**400
LAW = ud.quantile_cells(SUMS, USERS, rank=1, eps=1)


def sweep(
    mechanisms={"L": ud.laplace},  # noqa: B006
    users=USERS,
    eps=(1,),
    sampler=ud.uniform_sums,
    n_trials=10,
    **options,
):
    return ud.error_sweep(mechanisms, users, eps, sampler, n_trials, **options)


def mean_sweep(
    mean_errors={"L": ud.laplace_mean_error},  # noqa: B006
    users=USERS,
    eps=(1,),
    sampler=ud.uniform_sums,
    n_trials=10,
    **options,
):
    return ud.mean_error_sweep(mean_errors, users, eps, sampler, n_trials, **options)


def choices(users=USERS, prior=ud.uniform_sums, n_trials=5, **options):
    options = {"centres": [5], "total_widths": [2, 10], "rng": 0} | options
    return ud.tradeoff(users, 1, prior, n_trials, **options)


def private(user=(1, 1, 2), value=(5.0, 6.0, 4.0), lower=0, upper=10, eps=1, **options):
    return ud.private_mean(user, value, lower=lower, upper=upper, eps=eps, **options)


def planned(counts, upper, eps, lower=0):
    return ud.plan(counts, lower=lower, upper=upper, eps=eps)


TABLE = {"who": ["a", "b"], "what": [1.0, 2.0], "text": ["x", "y"]}


def protected(user=(1, 1, 2), value=(5.0, 6.0, 4.0), eps=1, cap=2, **options):
    return ud.private_mean_protected_counts(
        user, value, lower=0, upper=10, eps=eps, cap=cap, **options
    )


def from_table(user="who", value="what", data=TABLE, **options):
    return ud.private_mean(user, value, lower=0, upper=10, eps=1, data=data, **options)


PLAN, MADE = planned([2, 1], 10, 1), private()
IBIS = ibis.memtable(pa.table(TABLE | {"flag": [True, False]}))

# Argument of every function that takes eps, and of every mechanism.
TAKES_EPS = {
    "rank": lambda eps: ud.rank(eps),
    "threshold": lambda eps: ud.threshold(USERS, eps),
    "optimal_clipping": lambda eps: ud.optimal_clipping(USERS, eps),
    "optimal_error": lambda eps: ud.optimal_error(USERS, eps),
    "worst_case_error": lambda eps: ud.worst_case_error(USERS, CLIPPING, eps),
    "laplace": lambda eps: ud.laplace(SUMS, USERS, eps, rng=0),
    "opt_worst_case": lambda eps: ud.opt_worst_case(SUMS, USERS, eps, rng=0),
    "akmv": lambda eps: ud.akmv(SUMS, USERS, eps, rng=0),
    "akmv_error": lambda eps: ud.akmv_error(SUMS, USERS, eps),
    "private_quantile": lambda eps: ud.private_quantile(SUMS, USERS, 1, eps, rng=0),
    "quantile_log_density": lambda eps: ud.quantile_log_density(1.0, SUMS, USERS, 1, eps),
    "symmetric_error": lambda eps: ud.symmetric_error(USERS, 1, eps),
    "optimal_solution": lambda eps: ud.optimal_solution(USERS, eps),
    "printed_solution": lambda eps: ud.printed_solution(USERS, eps),
    "solve_lp": lambda eps: ud.solve_lp(USERS, eps),
    "kkt_certificate": lambda eps: ud.kkt_certificate(USERS, eps),
    "simulate_akmv_error": lambda eps: ud.simulate_akmv_error(SUMS, USERS, eps, 10, rng=0),
    "laplace_mean_error": lambda eps: ud.laplace_mean_error(SUMS, USERS, eps),
    "opt_worst_case_mean_error": lambda eps: ud.opt_worst_case_mean_error(SUMS, USERS, eps),
    "akmv_mean_error": lambda eps: ud.akmv_mean_error(SUMS, USERS, eps),
    "capped_mean_error": lambda eps: ud.capped_mean_error(LAW, USERS, eps),
    "error_sweep": lambda eps: sweep(eps=[eps]),
    "mean_error_sweep": lambda eps: mean_sweep(eps=[1, eps]),
    "threshold l1": lambda eps: ud.threshold(USERS, eps, objective="l1"),
    "optimal_error staircase": lambda eps: ud.optimal_error(USERS, eps, noise="staircase"),
    "worst_case_error mse": lambda eps: ud.worst_case_error(USERS, CLIPPING, eps, "mse"),
    "clipped_mean": lambda eps: ud.clipped_mean(SUMS, USERS, 2, eps, rng=0),
    "clipped_mean_error": lambda eps: ud.clipped_mean_error(SUMS, USERS, 2, eps),
    "LaplaceNoise": lambda eps: ud.LaplaceNoise(eps),
    "StaircaseNoise": lambda eps: ud.StaircaseNoise(eps),
    "minimax_lower_bound": lambda eps: ud.minimax_lower_bound(USERS, eps),
    "tradeoff": lambda eps: ud.tradeoff(USERS, eps, ud.uniform_sums, 2, rng=0),
    "release_mean": lambda eps: ud.release_mean(SUMS, USERS, eps),
    "private_mean": lambda eps: private(eps=eps),
    "private_mean_protected_counts": lambda eps: protected(eps=eps),
    "plan": lambda eps: planned([2, 1], 10, [1, eps] if not isinstance(eps, list) else [eps]),
}
BAD_EPS = [
    (0, ValueError),
    (-1.0, ValueError),
    (float("nan"), ValueError),
    (float("inf"), ValueError),
    (-float("inf"), ValueError),
    (5e-324, ValueError),
    (1e-310, ValueError),
    (Fraction(1, 10**320), ValueError),
    (10**400, ValueError),
    (Decimal("NaN"), ValueError),
    (Decimal("sNaN"), ValueError),
    (Decimal("Infinity"), ValueError),
    (Decimal("1e-999999999"), ValueError),
    ("a tenth", ValueError),
    ("", ValueError),
    ("1/2", ValueError),
    ("nan", ValueError),
    ("-0.5", ValueError),
    ("1e999999999", ValueError),
    (True, TypeError),
    (np.True_, TypeError),
    (None, TypeError),
    (1j, TypeError),
    (b"0.5", TypeError),
    ([0.5], TypeError),
    (np.array([0.5]), TypeError),
]

# name of the argument, what must stand in the message, exception, call
REFUSED = [
    ("upper", "must be positive and finite", ValueError, lambda: ud.Contributions([1], 0)),
    ("upper", "upper=-1", ValueError, lambda: ud.Contributions([1], -1)),
    (
        "upper",
        "positive and finite, got upper=inf",
        ValueError,
        lambda: ud.Contributions([1], np.inf),
    ),
    ("upper", "upper=nan", ValueError, lambda: ud.Contributions([1], float("nan"))),
    ("upper", "upper=5e-324", ValueError, lambda: ud.Contributions([1], 5e-324)),
    ("upper", "upper=1e+308", ValueError, lambda: ud.Contributions([2, 1], 1e308)),
    ("upper", "upper=9007199254740993", ValueError, lambda: ud.Contributions([1], 2**53 + 1)),
    (
        "upper",
        "upper=np.int64(9007199254740993)",
        ValueError,
        lambda: ud.Contributions([1], np.int64(2**53 + 1)),
    ),
    ("upper", "upper=1000", ValueError, lambda: ud.Contributions([1], 10**400)),
    ("upper", "upper=True", TypeError, lambda: ud.Contributions([1], True)),
    ("upper", "upper='65' of type str", TypeError, lambda: ud.Contributions([1], "65")),
    ("upper", "upper=None", TypeError, lambda: ud.Contributions([1], None)),
    ("upper", "upper=(1+0j)", TypeError, lambda: ud.Contributions([1], 1 + 0j)),
    ("counts", "shape (0,)", ValueError, lambda: ud.Contributions([], 1)),
    ("counts", "shape (1, 2)", ValueError, lambda: ud.Contributions([[1, 2]], 1)),
    ("counts", "shape ()", ValueError, lambda: ud.Contributions(3, 1)),
    ("counts", "inhomogeneous", ValueError, lambda: ud.Contributions([[1], [1, 2]], 1)),
    ("counts", "counts[1]=0", ValueError, lambda: ud.Contributions([1, 0], 1)),
    ("counts", "counts[2]=-3", ValueError, lambda: ud.Contributions([1, 1, -3], 1)),
    ("counts", f"counts[0]={2**63}", ValueError, lambda: ud.Contributions([2**63], 1)),
    ("counts", f"counts[1]={2**63}", ValueError, lambda: ud.Contributions([1, 2**63], 1)),
    ("counts", f"counts[0]={2**70}", ValueError, lambda: ud.Contributions([2**70], 1)),
    ("counts", f"counts[0]={2**53 + 1}", ValueError, lambda: ud.Contributions([2**53 + 1], 1)),
    ("counts", "a sum of about", ValueError, lambda: ud.Contributions([2**53, 1], 1)),
    # 2048 times 2^53 wraps around to exactly zero in 64 bits.
    ("counts", "sum of about 1.84467e+19", ValueError, lambda: ud.Contributions([2**53] * 2048, 1)),
    ("counts", "masked", TypeError, lambda: ud.Contributions(np.ma.array([1, 2], mask=[0, 1]), 1)),
    ("counts[0]", "counts[0]=1.0", TypeError, lambda: ud.Contributions([1.0, 2.0], 1)),
    ("counts[0]", "counts[0]=1.5", TypeError, lambda: ud.Contributions([1.5], 1)),
    ("counts[0]", "counts[0]=True", TypeError, lambda: ud.Contributions([True], 1)),
    ("counts[0]", "counts[0]='3'", TypeError, lambda: ud.Contributions(["3"], 1)),
    ("counts[1]", "counts[1]=None", TypeError, lambda: ud.Contributions([1, None], 1)),
    ("counts[1]", "counts[1]=nan", TypeError, lambda: ud.Contributions([1, float("nan")], 1)),
    ("M", "M=-1", ValueError, lambda: ud.geometric_collection(-1, 1)),
    ("M", "at most 27, got M=28", ValueError, lambda: ud.geometric_collection(28, 1)),
    ("M", "M=2.0", TypeError, lambda: ud.geometric_collection(2.0, 1)),
    ("M", "M=True", TypeError, lambda: ud.geometric_collection(True, 1)),
    ("upper", "upper=0", ValueError, lambda: ud.geometric_collection(2, 0)),
    ("n_users", "n_users=0", ValueError, lambda: ud.extreme_collection(0, 10, 1)),
    ("n_users", "n_users=1.5", TypeError, lambda: ud.extreme_collection(1.5, 10, 1)),
    ("max_count", "max_count=0", ValueError, lambda: ud.extreme_collection(5, 0, 1)),
    ("max_count", f"max_count={2**63}", ValueError, lambda: ud.extreme_collection(5, 2**63, 1)),
    ("max_count", "max_count='9'", TypeError, lambda: ud.extreme_collection(5, "9", 1)),
    ("lower", "lower[1]=3.0", ValueError, lambda: ud.Clipping([0, 3], [1, 2])),
    ("lower", "lower[0]=-0.5", ValueError, lambda: ud.Clipping([-0.5], [1])),
    ("lower", "lower[0]=nan", ValueError, lambda: ud.Clipping([float("nan")], [1])),
    ("upper", "upper[1]=inf", ValueError, lambda: ud.Clipping([0, 0], [1, float("inf")])),
    ("lower", "shapes (1,) and (2,)", ValueError, lambda: ud.Clipping([0], [1, 1])),
    ("lower", "shapes (0,) and (0,)", ValueError, lambda: ud.Clipping([], [])),
    ("lower", "shapes (1, 1)", ValueError, lambda: ud.Clipping([[0]], [[1]])),
    ("lower", "bool", TypeError, lambda: ud.Clipping([False], [1])),
    ("lower", "<U1", TypeError, lambda: ud.Clipping(["0"], [1])),
    ("upper", "complex", TypeError, lambda: ud.Clipping([0], [1j])),
    ("lower[0]", "0.5", TypeError, lambda: ud.Clipping([0.5, Fraction(1)], [1, 1])),
    ("upper", f"upper[0]={2**53 + 1}", ValueError, lambda: ud.Clipping([0], [2**53 + 1])),
    ("upper", f"upper[0]={2**63 - 1}", ValueError, lambda: ud.Clipping([0], [2**63 - 1])),
    ("upper", f"upper[0]={2**64 - 1}", ValueError, lambda: ud.Clipping([0], [2**64 - 1])),
    ("n_users", f"n_users={2**28 + 1}", ValueError, lambda: ud.extreme_collection(2**28 + 1, 2, 1)),
    (
        "t",
        "shape (3,) and leading axes (2,)",
        ValueError,
        lambda: ud.quantile_log_density([1, 2, 3], [SUMS] * 2, USERS, 1, 1),
    ),
    (
        "t",
        "shape (3,) and leading axes (4, 2)",
        ValueError,
        lambda: ud.quantile_log_density([1, 2, 3], [[SUMS] * 2] * 4, USERS, 1, 1),
    ),
    (
        "clipping.upper",
        "clipping.upper[1]=11.0",
        ValueError,
        lambda: ud.sensitivity(USERS, ud.Clipping([0, 0], [10, 11])),
    ),
    (
        "clipping.upper",
        "clipping.upper[0]=Fraction(21, 2)",
        ValueError,
        lambda: ud.worst_case_bias(USERS, ud.Clipping([Fraction(0)] * 2, [Fraction(21, 2)] * 2)),
    ),
    (
        "clipping",
        "got 4 intervals",
        ValueError,
        lambda: ud.worst_case_bias(USERS, ud.Clipping([0] * 4, [1] * 4)),
    ),
    (
        "clipping",
        "got 1 intervals",
        ValueError,
        lambda: ud.printed_bias(USERS, ud.Clipping([0], [1])),
    ),
    ("clipping", "clipping=[0, 1]", TypeError, lambda: ud.worst_case_error(USERS, [0, 1], 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.threshold([2, 1], 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.optimal_error([2, 1], 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.optimal_clipping([2, 1], 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.sensitivity([2, 1])),
    ("users", "users=[2, 1]", TypeError, lambda: ud.worst_case_bias([2, 1], CLIPPING)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.printed_bias([2, 1], CLIPPING)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.sum_of_largest([2, 1], 1)),
    ("users", "users=None", TypeError, lambda: ud.laplace(SUMS, None, 1)),
    ("x", "x=-1", ValueError, lambda: ud.sum_of_largest(USERS, -1)),
    ("x", "x=True", TypeError, lambda: ud.sum_of_largest(USERS, True)),
    ("x", "x=0.5", TypeError, lambda: ud.sum_of_largest(USERS, 0.5)),
    ("total_width", "total_width=-1", ValueError, lambda: ud.symmetric_error(USERS, -1, 1)),
    ("total_width", "total_width=nan", ValueError, lambda: USERS.surplus(float("nan"))),
    (
        "total_width",
        "be finite and at least 0, got total_width=inf",
        ValueError,
        lambda: USERS.surplus(float("inf")),
    ),
    ("total_width", "total_width=True", TypeError, lambda: USERS.surplus(True)),
    ("total_width", "total_width='1'", TypeError, lambda: ud.symmetric_error(USERS, "1", 1)),
    ("solution", "solution=(1, 2)", TypeError, lambda: ud.kkt_certificate(USERS, 1, (1, 2))),
    ("users", "users=[2, 1]", TypeError, lambda: ud.solve_lp([2, 1], 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.kkt_certificate([2, 1], 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.optimal_solution([2, 1], 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.symmetric_error([2, 1], 1, 1)),
    ("rank", "rank=0", ValueError, lambda: ud.private_quantile(SUMS, USERS, 0, 1)),
    ("rank", "rank=1.0", TypeError, lambda: ud.private_quantile(SUMS, USERS, 1.0, 1)),
    ("t", "t[0]=nan", ValueError, lambda: ud.quantile_log_density([np.nan], SUMS, USERS, 1, 1)),
    ("n_trials", "n_trials=1", ValueError, lambda: ud.simulate_akmv_error(SUMS, USERS, 1, 1)),
    ("n_trials", "n_trials=10.0", TypeError, lambda: ud.simulate_akmv_error(SUMS, USERS, 1, 10.0)),
    ("sums", "shape (1, 2)", ValueError, lambda: ud.simulate_akmv_error([SUMS], USERS, 1, 10)),
    ("eps", "finite noise", ValueError, lambda: ud.laplace(SUMS, USERS, 3e-308)),
    ("eps", "finite noise", ValueError, lambda: ud.akmv(SUMS, USERS, 3e-308, rng=1)),
    ("eps", "finite noise", ValueError, lambda: ud.akmv_error(SUMS, USERS, 3e-308)),
    ("eps", "eps=3e-308", ValueError, lambda: ud.simulate_akmv_error(SUMS, USERS, 3e-308, 10)),
    ("scale", "scale[1]=-1.0", ValueError, lambda: ud.noisy_error([0, 0], [1, -1])),
    ("bias", "must be finite, got bias[0]=nan", ValueError, lambda: ud.noisy_error([np.nan], 1)),
    ("bias", "<U1", TypeError, lambda: ud.noisy_error(["1"], 1)),
    ("scale", "<U1", TypeError, lambda: ud.noisy_error([1], ["1"])),
    ("law", "law=[1, 2]", TypeError, lambda: ud.capped_mean_error([1, 2], USERS, 1)),
    (
        "law",
        "there are users (3), got shapes [(3,), (3,), (3,)].",
        ValueError,
        lambda: ud.capped_mean_error(LAW, ud.Contributions([1, 1, 1], 10), 1),
    ),
    ("users", "users=None", TypeError, lambda: ud.capped_mean_error(LAW, None, 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.uniform_sums([2, 1], 3)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.gaussian_sums([2, 1], 3)),
    ("users", "users=None", TypeError, lambda: ud.beta_sums(None, 3, a=1, b=1)),
    ("users", "users=None", TypeError, lambda: ud.correlated_sums(None, 3, correlation=0)),
    ("n_trials", "n_trials=0", ValueError, lambda: ud.uniform_sums(USERS, 0)),
    ("n_trials", "n_trials=2.0", TypeError, lambda: ud.correlated_sums(USERS, 2.0, correlation=0)),
    (
        "variance",
        "must be positive, got variance=0",
        ValueError,
        lambda: ud.gaussian_sums(USERS, 2, variance=0),
    ),
    ("variance", "variance=-1", ValueError, lambda: ud.gaussian_sums(USERS, 2, variance=-1)),
    ("variance", "variance=nan", ValueError, lambda: ud.gaussian_sums(USERS, 2, variance=np.nan)),
    (
        "variance",
        "U^2 = 100, got variance=101",
        ValueError,
        lambda: ud.gaussian_sums(USERS, 2, variance=101),
    ),
    ("variance", "variance='9'", TypeError, lambda: ud.gaussian_sums(USERS, 2, variance="9")),
    ("a", "a=0", ValueError, lambda: ud.beta_sums(USERS, 2, a=0, b=1)),
    ("b", "b=inf", ValueError, lambda: ud.beta_sums(USERS, 2, a=1, b=np.inf)),
    ("a", "a=True", TypeError, lambda: ud.beta_sums(USERS, 2, a=True, b=1)),
    (
        "correlation",
        "correlation=1.01",
        ValueError,
        lambda: ud.correlated_sums(USERS, 2, correlation=1.01),
    ),
    (
        "correlation",
        "correlation=-0.1",
        ValueError,
        lambda: ud.correlated_sums(USERS, 2, correlation=-0.1),
    ),
    (
        "correlation",
        "correlation=None",
        TypeError,
        lambda: ud.correlated_sums(USERS, 2, correlation=None),
    ),
    ("mechanisms", "mechanisms=[", TypeError, lambda: sweep([ud.laplace])),
    ("mechanisms", "got none", ValueError, lambda: sweep({})),
    ("mechanisms", "mechanisms=1", TypeError, lambda: sweep({1: ud.laplace})),
    ("mechanisms['L']", "be callable, got mechanisms['L']=3", TypeError, lambda: sweep({"L": 3})),
    ("mechanisms['L']", "(10, 2)", ValueError, lambda: sweep({"L": lambda s, u, e, rng: s})),
    ("mechanisms['L']", "()", ValueError, lambda: sweep({"L": lambda s, u, e, rng: 1.0})),
    ("mean_errors", "mean_errors=None", TypeError, lambda: mean_sweep(None)),
    ("mean_errors", "got none", ValueError, lambda: mean_sweep({})),
    ("mean_errors['L']", "()", ValueError, lambda: mean_sweep({"L": lambda s, u, e: 1.0})),
    ("users", "users=[2, 1]", TypeError, lambda: sweep(users=[2, 1])),
    ("users", "users=None", TypeError, lambda: mean_sweep(users=None)),
    ("eps", "eps=0.5", TypeError, lambda: sweep(eps=0.5)),
    ("eps", "eps=array(0.5)", TypeError, lambda: sweep(eps=np.array(0.5))),
    ("eps", "eps=array([0.5])", TypeError, lambda: sweep(eps=np.array([[0.5]]))),
    ("eps", "eps='0.5'", TypeError, lambda: sweep(eps="0.5")),
    ("eps", "got none", ValueError, lambda: sweep(eps=[])),
    (
        "sampler",
        "must be callable, got sampler='uniform'",
        TypeError,
        lambda: sweep(sampler="uniform"),
    ),
    (
        "sampler",
        "(10, 3)",
        ValueError,
        lambda: sweep(sampler=lambda users, n, rng: np.zeros((n, 3))),
    ),
    (
        "sums",
        "sums[0, 0]=-1.0",
        ValueError,
        lambda: sweep(sampler=lambda users, n, rng: -np.ones((n, 2))),
    ),
    ("n_trials", "n_trials=1", ValueError, lambda: sweep(n_trials=1)),
    ("n_trials", "n_trials=10.0", TypeError, lambda: mean_sweep(n_trials=10.0)),
    ("workers", "workers=0", ValueError, lambda: sweep(workers=0)),
    ("workers", "workers=1.5", TypeError, lambda: mean_sweep(workers=1.5)),
    ("eps", "eps=1401", ValueError, lambda: ud.StaircaseNoise(1401)),
    ("eps", "finite noise", ValueError, lambda: ud.clipped_mean(SUMS, USERS, 2, 3e-308)),
    ("eps", "finite noise", ValueError, lambda: ud.laplace_mean_error(SUMS, USERS, 3e-308)),
    ("eps", "finite noise", ValueError, lambda: ud.clipped_mean_error(SUMS, USERS, 10, 3e-308)),
    (
        "eps",
        "finite noise",
        ValueError,
        lambda: ud.clipped_mean(SUMS, USERS, 2, 3e-308, noise="staircase"),
    ),
    ("eps", "for squares", ValueError, lambda: ud.threshold(USERS, 1e-200, "mse")),
    (
        "eps",
        "for squares",
        ValueError,
        lambda: ud.worst_case_error(USERS, CLIPPING, 1e-200, "mse", "staircase"),
    ),
    (
        "objective",
        "'bound', 'l1', 'mse', got objective='l2'",
        ValueError,
        lambda: ud.threshold(USERS, 1, "l2"),
    ),
    ("objective", "objective=None", ValueError, lambda: ud.optimal_error(USERS, 1, None)),
    ("objective", "objective=['l1']", ValueError, lambda: ud.optimal_clipping(USERS, 1, ["l1"])),
    ("objective", "objective=1", ValueError, lambda: ud.worst_case_error(USERS, CLIPPING, 1, 1)),
    ("objective", "'L1'", ValueError, lambda: ud.opt_worst_case(SUMS, USERS, 1, objective="L1")),
    (
        "objective",
        "objective='rmse'",
        ValueError,
        lambda: ud.opt_worst_case_mean_error(SUMS, USERS, 1, objective="rmse"),
    ),
    ("noise", "noise='gauss'", ValueError, lambda: ud.threshold(USERS, 1, noise="gauss")),
    ("noise", "noise=None", ValueError, lambda: ud.symmetric_error(USERS, 1, 1, noise=None)),
    ("noise", "noise=2", ValueError, lambda: ud.clipped_mean(SUMS, USERS, 2, 1, noise=2)),
    ("noise", "noise=''", ValueError, lambda: ud.clipped_mean_error(SUMS, USERS, 2, 1, noise="")),
    ("noise", "noise='Laplace'", ValueError, lambda: choices(noise="Laplace")),
    ("centre", "centre=11", ValueError, lambda: ud.centred_clipping(USERS, 2, 11)),
    ("lower", "lower=nan", ValueError, lambda: private(lower=np.nan)),
    ("lower", "lower='0'", TypeError, lambda: private(lower="0")),
    ("lower", "lower=-1000", ValueError, lambda: private(lower=-(10**400))),
    ("upper", "upper=inf", ValueError, lambda: private(upper=np.inf)),
    ("upper", "above lower=0.0, got upper=0.", ValueError, lambda: private(lower=0, upper=0)),
    ("upper", "upper=-1", ValueError, lambda: private(upper=-1)),
    ("upper", "upper=inf", ValueError, lambda: private(upper=np.inf)),
    ("upper", "upper=True", TypeError, lambda: private(upper=True)),
    ("upper", "upper=1e-280", ValueError, lambda: private(upper=1e-280)),
    ("upper", "upper=1e+308", ValueError, lambda: private(lower=-1e308, upper=1e308)),
    ("upper", "3 samples", ValueError, lambda: private(upper=1.5e308)),
    ("eps", "eps=1e-15", ValueError, lambda: private(eps=1e-15)),
    ("centre", "centre=11", ValueError, lambda: private(centre=11)),
    ("centre", "centre=-1e-09", ValueError, lambda: private(centre=-1e-9)),
    ("centre", "'5'", TypeError, lambda: private(centre="5")),
    ("total_width", "-1", ValueError, lambda: private(total_width=-1)),
    ("objective", "l2", ValueError, lambda: private(objective="l2")),
    ("objective", "['l1']", ValueError, lambda: private(objective=["l1"])),
    ("outside", "'clip'", ValueError, lambda: private(outside="clip")),
    ("outside", "True", ValueError, lambda: private(outside=True)),
    ("missing", "'clamp'", ValueError, lambda: private(missing="clamp")),
    ("value", "between the bounds", ValueError, lambda: private(value=[5, 10.001, 4])),
    ("value", "between the bounds", ValueError, lambda: private(value=[-1, 5, -np.inf])),
    ("value", "not be missing", ValueError, lambda: private(value=[np.nan, 5, 4])),
    ("user", "not be missing", ValueError, lambda: private(user=[None, "b", "b"])),
    ("user", "not be missing", ValueError, lambda: private(user=[np.nan, 1.0, 2.0])),
    ("user", "of one type", TypeError, lambda: private(user=["a", "1", 1])),
    ("cap", "cap=0", ValueError, lambda: protected(cap=0)),
    ("cap", "cap=2.0", TypeError, lambda: protected(cap=2.0)),
    ("cap", "at most", ValueError, lambda: protected(cap=2**31 + 1)),
    ("reach", "reach=0", ValueError, lambda: protected(reach=0)),
    ("reach", "'1'", TypeError, lambda: protected(reach="1")),
    ("centre", "centre=11", ValueError, lambda: protected(centre=11)),
    ("value", "value=None", TypeError, lambda: protected(value=None)),
    ("value", "not be missing", ValueError, lambda: protected(value=[np.nan, 5, 4])),
    ("value", "between the bounds", ValueError, lambda: protected(value=[11, 5, 4])),
    ("eps", "eps=1e-15", ValueError, lambda: protected(eps=1e-15)),
    ("weight", "weight=0.5", ValueError, lambda: protected().worst_case_l1(0.5)),
    ("level", "level=1", ValueError, lambda: protected().interval(1)),
    ("value", "type str", TypeError, lambda: private(value=["1", "2", "3"])),
    ("value", "type bool", TypeError, lambda: private(value=[True, False, True])),
    ("value", "type complex", TypeError, lambda: private(value=[1j, 2j, 3j])),
    ("value", "type str", TypeError, lambda: private(value=np.array([1, "2", 3], object))),
    ("value", "type bool", TypeError, lambda: private(value=[None, 2, True])),
    ("value", "complex", TypeError, lambda: private(value=np.array([1j, 2j, 3j]))),
    ("value", "bool", TypeError, lambda: private(value=np.array([True, False, True]))),
    ("value", "3 and 2", ValueError, lambda: private(value=[1, 2])),
    ("value", "shape (3, 1)", ValueError, lambda: private(value=np.ones((3, 1)))),
    ("user", "shape ()", ValueError, lambda: private(user="who")),
    ("user", "masked", TypeError, lambda: private(user=np.ma.array([1, 2, 3], mask=[0, 1, 0]))),
    ("value", "masked", TypeError, lambda: private(value=np.ma.array([1.0, 2, 3], mask=True))),
    ("user", "user='whom'", ValueError, lambda: from_table("whom")),
    ("value", "value='which'", ValueError, lambda: from_table(value="which")),
    ("user", "user=0", TypeError, lambda: from_table(0)),
    ("value", "value=None", TypeError, lambda: from_table(value=None)),
    ("value", "type str", TypeError, lambda: from_table(value="text")),
    ("data", "records.xls", ValueError, lambda: from_table(data="records.xls")),
    ("value", "string", TypeError, lambda: from_table(value="text", data=IBIS)),
    ("value", "boolean", TypeError, lambda: from_table(value="flag", data=IBIS)),
    ("user", "user='whom'", ValueError, lambda: from_table("whom", data=IBIS)),
    ("user", "user='whom'", ValueError, lambda: ud.user_counts("whom", data=TABLE)),
    ("user", "not be missing", ValueError, lambda: ud.user_counts(["a", None])),
    ("counts", "shape (0,)", ValueError, lambda: planned([], 1, 1)),
    ("counts", "counts[1]=0", ValueError, lambda: planned([1, 0], 1, 1)),
    ("upper", "upper=1", ValueError, lambda: planned([1], 1, 1, lower=2)),
    ("eps", "none", ValueError, lambda: planned([1], 1, [])),
    ("error", "error=0", ValueError, lambda: PLAN.smallest_eps(0)),
    ("error", "error=5", ValueError, lambda: PLAN.smallest_eps(5)),
    ("error", "'1'", TypeError, lambda: PLAN.smallest_eps("1")),
    ("objective", "l3", ValueError, lambda: PLAN.smallest_eps(1, "l3")),
    ("level", "level=1", ValueError, lambda: MADE.interval(1)),
    ("level", "level=0", ValueError, lambda: MADE.noise_interval(0)),
    ("level", "level=95", ValueError, lambda: MADE.interval(95)),
    ("level", "'0.9'", TypeError, lambda: MADE.interval("0.9")),
    ("sums", "shape (1, 2)", ValueError, lambda: ud.release_mean([SUMS], USERS, 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.release_mean(SUMS, [2, 1], 1)),
    ("eps", "eps=1e-13", ValueError, lambda: ud.release_mean(SUMS, USERS, 1e-13)),
    ("eps", "2^-40", ValueError, lambda: ud.release_mean(SUMS, USERS, 2.0**-40 * (1 - 2**-53))),
    ("objective", "l2", ValueError, lambda: ud.release_mean(SUMS, USERS, 1, objective="l2")),
    ("total_width", "nan", ValueError, lambda: ud.release_mean(SUMS, USERS, 1, total_width=np.nan)),
    ("total_width", "'2'", TypeError, lambda: ud.release_mean(SUMS, USERS, 1, total_width="2")),
    ("centre", "centre=11", ValueError, lambda: ud.release_mean(SUMS, USERS, 1, centre=11)),
    ("centre", "True", TypeError, lambda: ud.release_mean(SUMS, USERS, 1, centre=True)),
    ("project", "project=1", TypeError, lambda: ud.release_mean(SUMS, USERS, 1, project=1)),
    ("centre", "centre=-1", ValueError, lambda: ud.clipped_mean(SUMS, USERS, 2, 1, centre=-1)),
    ("centre", "nan", ValueError, lambda: ud.clipped_mean(SUMS, USERS, 2, 1, centre=np.nan)),
    ("centre", "'5'", TypeError, lambda: ud.clipped_mean_error(SUMS, USERS, 2, 1, centre="5")),
    ("total_width", "total_width=-1", ValueError, lambda: ud.clipped_mean(SUMS, USERS, -1, 1)),
    ("total_width", "inf", ValueError, lambda: ud.centred_clipping(USERS, np.inf)),
    ("total_width", "None", TypeError, lambda: ud.clipped_mean_error(SUMS, USERS, None, 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.centred_clipping([2, 1], 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.smallest_bias([2, 1], 1)),
    ("users", "users=[2, 1]", TypeError, lambda: ud.minimax_lower_bound([2, 1], 1)),
    ("sensitivity", "sensitivity=-1", ValueError, lambda: ud.smallest_bias(USERS, -1)),
    ("sensitivity", "nan", ValueError, lambda: ud.smallest_bias(USERS, np.nan)),
    ("sensitivity", "'1'", TypeError, lambda: ud.smallest_bias(USERS, "1")),
    ("sensitivity", "-2", ValueError, lambda: ud.LaplaceNoise(1).mean_error(1, -2)),
    ("bias", "bias[1]=nan", ValueError, lambda: ud.StaircaseNoise(1).mean_error([0, np.nan])),
    ("z", "z[0]=inf", ValueError, lambda: ud.StaircaseNoise(1).log_density([np.inf])),
    ("z", "<U1", TypeError, lambda: ud.LaplaceNoise(1).log_density(["1"])),
    ("users", "users=None", TypeError, lambda: choices(None)),
    ("n_trials", "n_trials=1", ValueError, lambda: choices(n_trials=1)),
    ("n_trials", "n_trials=2.0", TypeError, lambda: choices(n_trials=2.0)),
    ("prior", "must be callable, got prior=3", TypeError, lambda: choices(prior=3)),
    ("prior", "(5, 3)", ValueError, lambda: choices(prior=lambda u, n, rng: np.zeros((n, 3)))),
    ("prior", "(2,)", ValueError, lambda: choices(prior=lambda u, n, rng: np.zeros(2))),
    (
        "sums",
        "sums[0, 0]=-1.0",
        ValueError,
        lambda: choices(prior=lambda u, n, rng: -np.ones((n, 2))),
    ),
    ("centres", "centres[1]=11.0", ValueError, lambda: choices(centres=[5, 11])),
    ("centres", "centres[0]=-1.0", ValueError, lambda: choices(centres=[5, -1])),
    ("centres", "got none", ValueError, lambda: choices(centres=[])),
    ("total_widths", "total_widths[0]=-2.0", ValueError, lambda: choices(total_widths=[1, -2])),
    ("total_widths", "total_widths[0]=nan", ValueError, lambda: choices(total_widths=[np.nan])),
    ("tau", "tau=-0.1", ValueError, lambda: choices().best(-0.1)),
    ("tau", "tau=0", ValueError, lambda: choices(centres=[1], total_widths=[1]).best(0)),
    ("tau", "tau='1'", TypeError, lambda: choices().best("1")),
    ("lower", "masked", TypeError, lambda: ud.Clipping(np.ma.array([0, 1], mask=[0, 1]), [1, 2])),
    ("lower[0]", "lower[0]=True", TypeError, lambda: ud.Clipping([True, Fraction(1)], [1, 1])),
    ("bias", f"bias[0]=-{2**53 + 1}", ValueError, lambda: ud.noisy_error([-(2**53) - 1], 1)),
    ("a", "range of floats, got a=1000", ValueError, lambda: ud.beta_sums(USERS, 2, a=HUGE, b=1)),
    ("total_width", "of floats", ValueError, lambda: ud.clipped_mean(SUMS, USERS, HUGE, 1)),
    ("total_width", "of floats", ValueError, lambda: EXACT.surplus(Fraction(HUGE))),
    (
        "total_width",
        "of floats",
        ValueError,
        lambda: ud.release_mean(SUMS, USERS, 1, total_width=HUGE),
    ),
    ("bias", "range of floats, got bias[0]=Fr", ValueError, lambda: ud.noisy_error([HUGE], 1)),
    ("t", "of floats", ValueError, lambda: ud.quantile_log_density([-HUGE], SUMS, USERS, 1, 1)),
]

TAKES_SUMS = {
    "laplace": lambda sums: ud.laplace(sums, USERS, 1, rng=0),
    "opt_worst_case": lambda sums: ud.opt_worst_case(sums, USERS, 1, rng=0),
    "akmv": lambda sums: ud.akmv(sums, USERS, 1, rng=0),
    "akmv_error": lambda sums: ud.akmv_error(sums, USERS, 1),
    "private_quantile": lambda sums: ud.private_quantile(sums, USERS, 1, 1, rng=0),
    "laplace_mean_error": lambda sums: ud.laplace_mean_error(sums, USERS, 1),
    "opt_worst_case_mean_error": lambda sums: ud.opt_worst_case_mean_error(sums, USERS, 1),
    "akmv_mean_error": lambda sums: ud.akmv_mean_error(sums, USERS, 1),
    "clipped_mean": lambda sums: ud.clipped_mean(sums, USERS, 2, 1, rng=0),
    "clipped_mean_error": lambda sums: ud.clipped_mean_error(sums, USERS, 2, 1),
}
BAD_SUMS = [
    ([1.0, 2.0, 3.0], ValueError, "shape (3,)"),
    ([[1.0], [1.0, 2.0]], ValueError, "inhomogeneous"),
    ([[1.0], [2.0]], ValueError, "shape (2, 1)"),
    (1.0, ValueError, "shape ()"),
    ([21.0, 4.0], ValueError, "sums[0]=21.0"),
    ([[1.0, 2.0], [3.0, -0.1]], ValueError, "sums[1, 1]=-0.1"),
    ([float("nan"), 4.0], ValueError, "sums[0]=nan"),
    ([1.0, float("inf")], ValueError, "sums[1]=inf"),
    ([2**63 - 1, 1], ValueError, f"sums[0]={2**63 - 1}"),
    (np.ma.array([1.0, 2.0], mask=[False, True]), TypeError, "masked"),
    ([20.0 * (1 + 2e-9), 4.0], ValueError, "sums[0]=20.00000004"),
    (["1", "2"], TypeError, "<U1"),
    ([True, False], TypeError, "bool"),
    ([1j, 2.0], TypeError, "complex"),
    ([None, 2.0], TypeError, "None"),
    ([HUGE, 2], ValueError, "within the range of floats"),
    # 11 of its units in the last place above 20; 10 are 8 of those that are counted from 1 on.
    (np.array([20 + 11 * 2.0**-19, 4], dtype=np.float32), ValueError, "between 0 and U m_l"),
]

TAKES_RNG = {
    "laplace": lambda rng: ud.laplace(SUMS, USERS, 1, rng=rng),
    "opt_worst_case": lambda rng: ud.opt_worst_case(SUMS, USERS, 1, rng=rng),
    "akmv": lambda rng: ud.akmv(SUMS, USERS, 1, rng=rng),
    "private_quantile": lambda rng: ud.private_quantile(SUMS, USERS, 1, 1, rng=rng),
    "simulate_akmv_error": lambda rng: ud.simulate_akmv_error(SUMS, USERS, 1, 10, rng=rng),
    "uniform_sums": lambda rng: ud.uniform_sums(USERS, 2, rng=rng),
    "gaussian_sums": lambda rng: ud.gaussian_sums(USERS, 2, rng=rng),
    "beta_sums": lambda rng: ud.beta_sums(USERS, 2, a=1, b=1, rng=rng),
    "correlated_sums": lambda rng: ud.correlated_sums(USERS, 2, correlation=0, rng=rng),
    "error_sweep": lambda rng: sweep(rng=rng),
    "mean_error_sweep": lambda rng: mean_sweep(rng=rng),
    "clipped_mean": lambda rng: ud.clipped_mean(SUMS, USERS, 2, 1, rng=rng),
    "tradeoff": lambda rng: choices(rng=rng),
}
BAD_RNG = [
    ("seed", TypeError),
    (1.5, TypeError),
    (True, TypeError),
    (-1, ValueError),
    (np.random.RandomState, TypeError),
    (np.random.RandomState(1), TypeError),
    ([1, 2], TypeError),
    ([], TypeError),
    (np.random, TypeError),
]

ACCEPTED = [
    lambda: ud.Contributions([1], np.finfo(float).max),
    lambda: ud.Contributions([1], np.finfo(float).smallest_normal),
    lambda: ud.Contributions([1], 2**53),
    lambda: ud.Contributions([1], np.float32(0.5)),
    lambda: ud.Contributions([1], np.int64(65)),
    lambda: ud.Contributions([1], Fraction(10**40, 3)),
    lambda: ud.Contributions((1, 2), 1),
    lambda: ud.Contributions(np.array([1, 2], dtype=np.int8), 1),
    lambda: ud.Contributions(np.array([1, 2], dtype=np.uint64), 1),
    lambda: ud.Contributions(np.array([1, 2], dtype=object), 1),
    lambda: ud.Contributions([2**53], 1),
    lambda: ud.Contributions([2**53 - 1, 1], 1),
    lambda: ud.Contributions([1, 1], 8e307),
    lambda: ud.geometric_collection(0, 1),
    lambda: ud.extreme_collection(1, 1, 1),
    lambda: ud.extreme_collection(2, 10**15, 1),
    lambda: ud.Clipping([0], [0]),
    lambda: ud.Clipping([np.float32(0.1)], [1]),
    lambda: ud.Clipping([2**53], [2**53]),
    lambda: ud.sensitivity(USERS, ud.Clipping([0, 0], [10, 10])),
    lambda: ud.sensitivity(USERS, ud.Clipping([0, 0, 0], [10, 10, 10])),
    lambda: ud.sensitivity(USERS, ud.Clipping([Fraction(0)] * 2, [Fraction(10)] * 2)),
    lambda: ud.laplace([20.0, 10.0], USERS, 1),
    lambda: ud.laplace([20 * (1 + 5e-10), -5e-10], USERS, 1),
    lambda: ud.laplace(np.array([20.000002, 10], dtype=np.float32), USERS, 1),
    lambda: ud.akmv_error(SUMS, USERS, 3e-305),
    lambda: ud.akmv(SUMS, USERS, 3e-305),
    lambda: ud.simulate_akmv_error(SUMS, USERS, 3e-150, 10),
    lambda: ud.Contributions(np.array([np.int64(1), 2], dtype=object), 1),
    lambda: ud.laplace(np.array([20 + 10 * 2.0**-19, 10], dtype=np.float32), USERS, 1),
    lambda: ud.laplace(SUMS, USERS, 1, rng=np.int64(3)),
    lambda: ud.noisy_error([-(2**53), -107], 1),
    lambda: ud.noisy_error([Fraction(2**1024 - 2**971)], 1),
    lambda: EXACT.surplus(2**1024 - 2**971),
    lambda: ud.rank(np.finfo(float).max),
    lambda: ud.capped_mean_error(LAW._replace(log_density=None), USERS, 1),
    lambda: ud.simulate_akmv_error(SUMS, USERS, 1, 2),
    lambda: ud.laplace(np.array([20, 10], dtype=np.float32), USERS, 1),
    lambda: ud.laplace([Fraction(1, 3), 4], USERS, 1),
    lambda: ud.laplace([20, 10], USERS, 1),
    lambda: ud.laplace(SUMS, USERS, 1, rng=np.random.SeedSequence(1)),
    lambda: ud.laplace(SUMS, USERS, 1, rng=np.random.PCG64(1)),
    lambda: ud.private_quantile(SUMS, USERS, 10**30, 1),
    lambda: ud.symmetric_error(USERS, 0, 1),
    lambda: ud.symmetric_error(USERS, 10**9, 1),
    lambda: ud.rank(np.finfo(float).smallest_normal),
    lambda: ud.rank(" 0.5 "),
    lambda: ud.rank("1e-300"),
    lambda: ud.rank(Decimal("1e300")),
    lambda: ud.opt_worst_case(SUMS, USERS, 1e-307),
    lambda: ud.akmv_mean_error(SUMS, USERS, 1e-300),
    lambda: ud.akmv_mean_error(SUMS, USERS, 1e300),
    lambda: ud.akmv_mean_error([0.0, 0.0], USERS, 1),
    lambda: ud.gaussian_sums(USERS, 1, variance=100),
    lambda: ud.correlated_sums(USERS, 1, correlation=1),
    lambda: ud.beta_sums(USERS, 1, a=1e-3, b=np.float32(2)),
    lambda: sweep(eps=(e for e in (1, "0.5", Fraction(1, 3)))),
    lambda: sweep(eps=np.array([0.5]), n_trials=2, workers=3),
    lambda: ud.StaircaseNoise(1400),
    lambda: ud.StaircaseNoise(1400).mean_error([0, 1e300]),
    lambda: ud.LaplaceNoise("1e-300").mean_error(1e300, 1e-300),
    lambda: ud.threshold(USERS, 1400, "l1", "staircase"),
    lambda: ud.threshold(USERS, 1e-9, "l1", "staircase"),
    lambda: ud.threshold(USERS, 1e-100, "mse"),
    lambda: ud.threshold(USERS, 1e300, "l1"),
    lambda: ud.threshold(ud.Contributions([2, 1], Fraction(10)), 1, "l1"),
    lambda: ud.centred_clipping(USERS, 0, 0),
    lambda: ud.centred_clipping(USERS, 10**9, 10),
    lambda: ud.centred_clipping(ud.Contributions([2, 1], Fraction(10)), Fraction(1, 3), 0.1),
    lambda: ud.clipped_mean(SUMS, USERS, 2, 1e-306, noise="staircase"),
    lambda: ud.clipped_mean(SUMS, USERS, 0, 1, centre=0, noise="staircase"),
    lambda: ud.minimax_lower_bound(USERS, 1e300),
    lambda: ud.smallest_bias(USERS, 10**9),
    lambda: choices(centres=[10], total_widths=0, n_trials=2),
    lambda: choices(centres=5, total_widths=[0, 1e9]).best(1e9),
    lambda: private(upper=6),
    lambda: private(lower=4, upper=np.float64(6)),
    lambda: private(value=[0, 10, 10.0]),
    lambda: private(value=np.array([5, 6, 4], dtype=np.uint8)),
    lambda: private(value=[5, Decimal("6.5"), Fraction(1, 3)]),
    lambda: private(user=["a", "1", "1"]),
    lambda: private(user=[True, False, True]),
    lambda: private(value=[np.nan, 5, 4], missing="centre"),
    lambda: private(value=[-1, 5, 11], outside="clamp"),
    lambda: private(project=np.False_),
    lambda: protected(cap=2**31),
    lambda: protected(reach=1e9, centre=0),
    lambda: protected(value=[np.nan, 5, -4], missing="drop", outside="drop"),
    lambda: protected(user=[], value=[]),
    lambda: protected().worst_case_l1(1),
    lambda: private(eps="1e-9", centre=0),
    lambda: private(eps=1e9, centre=10, total_width=0),
    lambda: private(lower=-1e300, upper=1e300),
    lambda: from_table(data=IBIS),
    lambda: planned([1], 1e-279, "0.1"),
    lambda: PLAN.smallest_eps(5 - 1e-9),
    lambda: MADE.interval(1 - 1e-9),
    lambda: ud.release_mean(SUMS, USERS, 2.0**-40),
    lambda: ud.release_mean(SUMS, USERS, "1e9", objective="l1"),
    lambda: ud.release_mean([20 * (1 + 5e-10), -5e-10], USERS, Fraction(1, 3), centre=10),
    lambda: ud.release_mean(np.array([20, 10], dtype=np.float32), USERS, 1, total_width=0),
    lambda: ud.release_mean([3], ud.Contributions([10**15], 65), 1, total_width=Fraction(1, 3)),
]


@pytest.mark.parametrize("function", TAKES_EPS)
@pytest.mark.parametrize(("eps", "exception"), BAD_EPS, ids=[repr(eps) for eps, _ in BAD_EPS])
def test_bad_eps_is_refused_everywhere(function, eps, exception):
    with pytest.raises(exception) as refusal:
        TAKES_EPS[function](eps)
    assert type(refusal.value) is exception
    assert "`eps` must" in str(refusal.value)
    assert "must be None" not in str(refusal.value)
    assert f"eps={eps!r}" in str(refusal.value)


@pytest.mark.parametrize("eps", [0, -1, np.inf, float("nan"), Decimal("NaN"), Decimal("Infinity")])
def test_eps_that_is_no_positive_number_is_not_called_too_small_or_large(eps):
    with pytest.raises(ValueError, match="`eps` must be positive and finite, got"):
        ud.read_eps(eps)


@pytest.mark.parametrize(
    ("name", "fragment", "exception", "call"),
    REFUSED,
    ids=[f"{i}-{name}" for i, (name, *_) in enumerate(REFUSED)],
)
def test_bad_argument_is_refused(name, fragment, exception, call):
    with pytest.raises(exception) as refusal:
        call()
    assert type(refusal.value) is exception
    assert f"`{name}`" in str(refusal.value)
    assert "must be None" not in str(refusal.value)  # but a rule
    assert fragment in str(refusal.value)


@pytest.mark.parametrize("function", TAKES_SUMS)
@pytest.mark.parametrize(("sums", "exception", "fragment"), BAD_SUMS)
def test_bad_sums_are_refused_everywhere(function, sums, exception, fragment):
    with pytest.raises(exception) as refusal:
        TAKES_SUMS[function](sums)
    assert "`sums" in str(refusal.value)
    assert "must be None" not in str(refusal.value)
    assert fragment in str(refusal.value)


@pytest.mark.parametrize("function", TAKES_RNG)
@pytest.mark.parametrize(("rng", "exception"), BAD_RNG)
def test_bad_rng_is_refused_everywhere(function, rng, exception):
    with pytest.raises(exception) as refusal:
        TAKES_RNG[function](rng)
    assert "`rng` must be a numpy Generator, a seed" in str(refusal.value)
    assert f"rng={rng!r}" in str(refusal.value)


@pytest.mark.parametrize("call", ACCEPTED)
def test_near_twin_is_accepted(call):
    call()


def test_the_table_is_large_enough():
    refused = (
        len(TAKES_EPS) * len(BAD_EPS)
        + len(REFUSED)
        + len(TAKES_SUMS) * len(BAD_SUMS)
        + len(TAKES_RNG) * len(BAD_RNG)
    )
    assert refused >= 150
    assert len(ACCEPTED) >= 25


def test_sums_that_rounding_took_out_of_range_are_projected():
    """At eps = 1e9 nothing is clipped and the noise is nil: what is left is the sums' reading."""
    sums = [20 * (1 + 9e-10), -9e-10]
    assert ud.laplace(sums, USERS, 1e18, rng=0) == pytest.approx(20 / 3, rel=1e-15)


def test_arrays_are_private_copies():
    counts, lower = np.array([2, 1]), np.array([0.0, 1.0])
    users, clipping = ud.Contributions(counts, 10), ud.Clipping(lower, [5, 5])
    counts[0], lower[0] = 7, 3.0
    assert users.counts[0] == 2
    assert clipping.lower[0] == 0
    for array in (users.counts, clipping.lower, clipping.upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        users.upper = 1


def test_a_bound_on_an_integer_is_accepted_itself():
    assert _checks.read_integer("n", 3, least=3, most=3) == 3
    with pytest.raises(ValueError, match="`n` must be at most 3, got n=4"):
        _checks.read_integer("n", 4, least=3, most=3)


@pytest.mark.parametrize(
    ("value", "exact", "kind"),
    [
        (Fraction(1, 2), True, Fraction),
        (2, True, Fraction),
        (0.5, True, float),
        (Fraction(1, 2), False, float),
        (np.int64(2), False, float),
    ],
)
def test_sizes_are_fractions_only_where_they_are_exact_and_may_be(value, exact, kind):
    size = _checks.read_size("size", value, exact)
    assert type(size) is kind
    assert size == value
    if not exact:
        assert type(_checks.read_size("size", value)) is kind
