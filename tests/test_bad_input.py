"""Bad input is refused with the argument and its value; its nearest good neighbour is accepted.

Every public function is called with good arguments, by their names, and one bad one in turn. An
argument that means the same in all functions (`sums`, `users`, `eps`, `rng`, ...) is tried on each
that takes it, also on one exported tomorrow. Any other has a good value in `GOOD`, and a row of
`REFUSED` for the bad ones.
"""

import inspect
import numbers
import re
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from wording import brief

import userdp as ud
from userdp import _checks, noise

V, T = ValueError, TypeError
INF, NAN, HUGE, EDGE = float("inf"), float("nan"), 10**400, 2**53 + 1
SUMS, USERS = [11.0, 4.0], ud.Contributions([2, 1], 10)
EXACT = ud.Contributions([2, 1], Fraction(10))
LAW = ud.quantile_cells(SUMS, USERS, rank=1, eps=1)

GOOD = (
    {"sums": SUMS, "users": USERS, "eps": 1, "rng": 0, "n_trials": 10, "rank": 1, "t": [1.0]}
    | {"total_width": 2, "centre": 5, "objective": "bound", "noise": "laplace", "law": LAW}
    | {"counts": [2, 1], "upper": 10, "M": 3, "n_users": 3, "max_count": 2, "lower": 0}
    | {"clipping": ud.Clipping([1, 2], [9, 8]), "solution": None, "sensitivity": 1, "x": 1}
    | {"bias": [1.0, 0.5], "scale": [1.0, 2.0], "a": 1, "b": 1, "correlation": 0, "variance": 9}
    | {"mechanisms": {"L": ud.laplace}, "mean_errors": {"L": ud.laplace_mean_error}}
    | {"sampler": ud.uniform_sums, "prior": ud.uniform_sums}
    | {"centres": [5], "total_widths": [2, 10], "user": [1, 1, 2], "value": [5.0, 6.0, 4.0]}
    | {"data": None, "cap": 2, "reach": 1, "outside": "refuse", "missing": "refuse"}
    | {"weights": [2, 1], "project": True, "radius": 1, "below": 0}
    | {"d": 2, "sigma": 1}
    | dict.fromkeys(["threshold_share", "noise_share"], 0.5)
)
OTHERWISE = {
    "release_mean": {"total_width": None},  # else the objective decides nothing
    "Clipping": {"lower": [0, 0], "upper": [1, 1]},
    "error_sweep": {"eps": (1,)},
    "mean_error_sweep": {"eps": (1,), "mean_errors": {"AKMV": ud.akmv_mean_error}},
    "mean_in_ball": {"sums": [[6.0], [4.0]]},
    "ball_mean_error": {"sums": [[6.0], [4.0]]},
}
CLASSES = (ud.Contributions, ud.Clipping, ud.GaussianNoise, ud.LaplaceNoise, ud.StaircaseNoise)
FUNCTIONS = {
    name: function
    for module in (ud, ud.vectors)
    for name, function in vars(module).items()
    if name in module.__all__ and (inspect.isfunction(function) or function in CLASSES)
}

FUNCTIONS |= {f.__name__: f for f in (ud.kkt.solve_lp, ud.release.as_measurement)}


def call(name, **changed):
    known = GOOD | OTHERWISE.get(name, {})
    wanted = inspect.signature(FUNCTIONS[name]).parameters
    assert changed.keys() <= wanted.keys()
    unknown = sorted(wanted.keys() - known.keys())
    assert not unknown, f"GOOD needs a good value of {unknown}, which {name} takes"
    return FUNCTIONS[name](**{parameter: known[parameter] for parameter in wanted} | changed)


def taking(argument):
    return [n for n, f in FUNCTIONS.items() if argument in inspect.signature(f).parameters]


QUOTED = str | numbers.Number | np.bool_ | None


class Said(NamedTuple):
    """A value, and what its refusal says where that is not NAME=VALUE."""

    value: object
    words: str


def said(words, *values):
    return [Said(value, words) for value in values]


def shown(argument, value):
    """The value, and what a refusal shows of it; in a list the last one is bad."""
    if isinstance(value, Said):
        return value
    if isinstance(value, list) and value:
        return value, f"{argument}[{len(value) - 1}]={value[-1]!r}"
    if isinstance(value, QUOTED):
        return value, f"{argument}={value!r}"
    return value, f"{argument} of type {type(value).__name__}"


BOUND = ["Contributions", "geometric_collection", "extreme_collection"]
RECORDS = ["private_mean", "private_mean_protected_counts"]
RANGES, SWEEPS = [*RECORDS, "plan"], ["error_sweep", "mean_error_sweep"]
BUDGETS = [*SWEEPS, "plan"]
BUDGET = sorted({*taking("eps")} - {*BUDGETS})
BALL = ["clip_to_ball", "mean_in_ball", "ball_mean_error"]
# The functions that take a law in place of eps.
BY_LAW = sorted({*taking("noise"), *taking("d"), *BALL[1:]} - {"optimality_factor"})
GAUSS = ud.GaussianNoise(1)
RELEASES = ["private_mean", "release_mean", "as_measurement"]
DATA = sorted({*taking("sums")} - {"release_mean", *BALL})  # the first quotes no data
SCATTER = [*SWEEPS, "tradeoff", "simulate_akmv_error"]
COUNTS, CLIPS, WIDTHS = ["Contributions"], taking("clipping"), taking("total_width")
RANKED = ["private_quantile", "quantile_cells", "quantile_log_density"]
WEIGHED = ["weighted_mean", "weighted_mean_error", "weighted_worst_case_error"]
PROTECTED_COUNTS = ["private_mean_protected_counts"]
BEYOND = ud.Clipping([Fraction(0)] * 2, [Fraction(21, 2)] * 2)
MASKED = np.ma.array([1, 2], mask=[0, 1])
DECIMALS = Decimal("NaN"), Decimal("Infinity")
# Arguments that are real or whole numbers, the functions that take them, and a value that is too
# small. Functions in which the name means something else are left out.
REAL = [
    ("total_width", WIDTHS, -1),
    ("centre", taking("centre"), -1e-9),
    ("variance", ["gaussian_sums"], -1),
    ("correlation", ["correlated_sums"], -0.1),
    ("reach", PROTECTED_COUNTS, 0),
    ("radius", ["clip_to_ball"], -1),
    ("threshold_share", ["akmv_mean_error"], 0),
    ("noise_share", ["akmv_mean_error"], -0.1),
    ("below", ["akmv_mean_error"], -INF),
    ("a", ["beta_sums"], 0),
    ("b", ["beta_sums"], 0),
    ("sensitivity", ["smallest_bias"], -1),
]
WHOLE = [
    ("M", ["geometric_collection"], -1),
    ("n_users", ["extreme_collection"], 0),
    ("max_count", ["extreme_collection"], 0),
    ("rank", RANKED, 0),
    ("n_trials", taking("n_trials"), 0),
    ("cap", PROTECTED_COUNTS, 0),
]


def three_columns(users, n, rng):
    return np.zeros((n, 3))


def one_row(users, n, rng):
    return np.zeros(2)


def below_zero(users, n, rng):
    return -np.ones((n, 2))


def the_sums(sums, users, eps, rng):
    return sums


def one_number(*arguments, rng=None):
    return 1.0


# (argument, functions, exception, bad values), and perhaps another exception with its values.
REFUSED = [
    *[(name, of, V, [low, NAN], T, ["1", True, 1j]) for name, of, low in REAL],
    *[(name, of, V, [low], T, [2.0, True, "9"]) for name, of, low in WHOLE],
    ("eps", BUDGET, V, [0, -1.0, NAN, INF, -INF, 5e-324, 1e-310, Fraction(1, 10**320), HUGE]),
    ("eps", BUDGET, V, [Decimal(x) for x in ("NaN", "sNaN", "Infinity", "1e-999999999")]),
    ("eps", ["rank"], V, said("positive and finite, got eps=", 0, -1, INF, NAN, *DECIMALS)),
    ("eps", BUDGET, V, ["a tenth", "", "1/2", "nan", "-0.5", "1e999999999"]),
    ("eps", BUDGET, T, [True, np.True_, None, 1j, b"0.5", np.array([0.5]), np.timedelta64(3)]),
    ("eps", BUDGET, T, said("eps of type list and shape (1,)", [0.5])),
    ("eps", sorted({*BUDGET} - {*BY_LAW, *RELEASES}), T, [GAUSS]),
    ("eps", RELEASES, T, said("StaircaseNoise", ud.StaircaseNoise(1))),
    ("eps", RELEASES, V, said("sigma", ud.GaussianNoise(1e100))),
    ("eps", SWEEPS, T, said("eps of type GaussianNoise", [GAUSS])),
    ("eps", BUDGETS, V, said("got none", [])),
    ("eps", SWEEPS, V, [*said("=0.0.", [1, 0.0]), *said("='x'", ["x"])]),
    ("eps", SWEEPS, T, [*said("=True", [1, True]), *said("ndarray", [np.array([0.5])])]),
    ("eps", ["plan"], V, said("hold budgets", [1, 0.0], ["x"])),
    ("eps", ["plan"], T, said("hold budgets", [GAUSS], [1, True], [np.array([0.5])])),
    ("eps", ["plan"], T, [{5: 1}, {5, 1}, *said("a list of budgets, got eps of type", b"ab")]),
    ("eps", SWEEPS, T, [0.5, np.array(0.5), "0.5", *said("ndarray", np.array([[0.5]]))]),
    ("eps", ["StaircaseNoise"], V, [1401]),
    ("eps", RECORDS, V, [1e-15]),
    ("eps", ["release_mean"], V, [1e-13, *said("2^-40", 2.0**-40 * (1 - 2**-53))]),
    ("upper", BOUND, V, [-1, NAN, 5e-324, EDGE, np.int64(EDGE), HUGE]),
    *[("upper", BOUND, V, said(f"positive and finite, got upper={x}", x)) for x in (0, INF)],
    ("upper", BOUND, T, [True, None, 1 + 0j, *said("upper='65' of type str", "65")]),
    ("upper", ["Contributions", "extreme_collection"], V, [1e308]),
    ("counts", COUNTS, V, [[1, 0], [1, 1, -3], [2**63], [1, 2**63], [2**70], [EDGE]]),
    ("counts", COUNTS, V, [*said("shape (", [], [[1, 2]], 3), *said("one length", [[1], [1, 2]])]),
    # 2048 times 2^53 wraps around to exactly zero in 64 bits.
    ("counts", COUNTS, V, said("a sum of about 1.84467e+19", [2**53] * 2048)),
    ("counts", COUNTS, V, said("a sum of about 9.0072e+15", [2**53, 1])),
    ("counts", COUNTS, T, [[1.0], [1.5], [True], ["3"], [1, None], [1, NAN]]),
    ("counts", COUNTS, T, said("masked", MASKED)),
    ("M", ["geometric_collection"], V, said("at most 27, got M=28", 28)),
    ("n_users", ["extreme_collection"], V, [2**28 + 1]),
    ("max_count", ["extreme_collection"], V, [2**63]),
    ("lower", ["Clipping"], V, [[0.0, 3.0], [0, -0.5], [0, NAN], *said("(1,) and (2,)", [0])]),
    ("lower", ["Clipping"], V, said("shapes (1, 2)", [[0, 0]])),
    ("lower", ["Clipping"], T, [*said("bool", [False, False]), *said("<U1", ["0", "1"])]),
    ("lower", ["Clipping"], T, [[Fraction(1), 0.5], [Fraction(1), True], *said("masked", MASKED)]),
    ("upper", ["Clipping"], V, [[1, INF], [1, EDGE], [1, 2**63 - 1]]),
    ("upper", ["Clipping"], V, said(f"upper[0]={2**64 - 1}", [2**64 - 1] * 2)),
    ("upper", ["Clipping"], T, said("complex", [1, 1j])),
    ("clipping", CLIPS, V, said("got 4 intervals", ud.Clipping([0] * 4, [1] * 4))),
    ("clipping", CLIPS, V, said("got 1 intervals", ud.Clipping([0], [1]))),
    ("clipping", CLIPS, V, said("clipping.upper[1]=11.0", ud.Clipping([0, 0], [10, 11]))),
    ("clipping", CLIPS, V, said(".upper[0]=Fraction(21, 2)", BEYOND)),
    ("clipping", CLIPS, T, said("clipping of type list and shape (2,)", [0, 1])),
    ("users", taking("users"), T, said("users of type", None, [2, 1])),
    ("x", ["sum_of_largest"], V, [-1], T, [True, 0.5]),
    ("total_width", WIDTHS, V, [*said("floats, got total_width=1000", HUGE), *said("finite", INF)]),
    ("centre", taking("centre"), V, [11, -1]),
    ("objective", taking("objective"), V, [None, 1, "L1", "rmse", *said("of type list", ["l1"])]),
    ("objective", taking("objective"), V, said("'bound', 'l1', 'mse', got objective='l2'", "l2")),
    ("noise", taking("noise"), V, ["gauss", None, 2, "", "Laplace"]),
    ("d", ["ball_error", "ball_threshold"], V, [0, 2**53 + 1], T, [2.0, True]),
    ("sigma", ["GaussianNoise"], V, [0, -1, NAN, 9e-101, 2e100], T, ["1", True, None]),
    ("solution", ["kkt_certificate"], T, [(1, 2)]),
    ("t", ["quantile_log_density"], V, [[NAN], *said("of floats", [-HUGE])]),
    ("n_trials", SCATTER, V, [1]),
    ("scale", ["noisy_error"], V, [[1, -1.0], [1, NAN]]),
    ("bias", ["noisy_error"], V, [[0, -EDGE], *said("range of floats, got bias[0]=Fr", [HUGE, 0])]),
    ("law", ["capped_mean_error"], T, said("law of type list and shape (2,)", [1, 2])),
    ("variance", ["gaussian_sums"], V, [0, *said("U^2 = 100, got variance=101", 101)]),
    ("correlation", ["correlated_sums"], V, [1.01], T, [None]),
    ("mechanisms", SWEEPS[:1], T, [*said("list", [ud.laplace]), *said("=1", {1: ud.laplace})]),
    ("mechanisms", SWEEPS[:1], T, said("be callable, got mechanisms['L']=3", {"L": 3})),
    ("mechanisms", SWEEPS[:1], V, said("(10, 2)", {"L": the_sums})),
    ("mechanisms", SWEEPS[:1], V, [*said("()", {"L": one_number}), *said("got none", {})]),
    ("mean_errors", SWEEPS[1:], V, [*said("()", {"L": one_number}), *said("got none", {})]),
    ("mean_errors", SWEEPS[1:], T, [None]),
    ("sampler", SWEEPS, T, said("must be callable, got sampler='uniform'", "uniform")),
    ("sampler", SWEEPS, V, said("(10, 3)", three_columns)),
    ("prior", ["tradeoff"], T, said("must be callable, got prior=3", 3)),
    ("prior", ["tradeoff"], V, said("(10, 3)", three_columns)),
    ("prior", ["tradeoff"], V, said("(2,)", one_row)),
    ("centres", ["tradeoff"], V, [[5, 11.0], [-1.0], *said("got none", [])]),
    ("total_widths", ["tradeoff"], V, [[-2.0], [NAN]]),
    ("lower", RANGES, V, [NAN, -HUGE], T, ["0", np.timedelta64(3)]),
    ("upper", RANGES, V, [INF, -1, 1e-280, *said("above lower=0.0, got upper=0.", 0)], T, [True]),
    ("upper", RANGES, V, said("nor too far", 1.5e308)),
    *[(name, RECORDS, V, ["clip", True]) for name in ("outside", "missing")],
    ("value", RECORDS, V, said("between the bounds", [5, 10.001, 4], [-1, 5, -INF])),
    ("value", RECORDS, V, [*said("not be missing", [NAN, 5, 4]), *said("3 and 2", [1, 2])]),
    ("value", RECORDS, V, said("shape (3, 1)", np.ones((3, 1)))),
    ("value", RECORDS, T, [None, *said("type str", np.array([1, "2", 3], object))]),
    ("value", RECORDS, T, said("complex", [1j, 2j, 3j], np.array([1j, 2j, 3j]))),
    ("user", taking("user"), V, said("not be missing", [None, "b", "b"], [NAN, 1.0, 2.0])),
    ("user", ["user_counts"], V, said("must have rows", [])),
    ("user", RECORDS, T, said("pass `data=`", "who")),
    ("cap", PROTECTED_COUNTS, V, said("at most", 2**31 + 1)),
    ("project", taking("project"), T, [1]),
    ("sums", DATA, V, [[4.0, 21.0], [4.0, NAN], [1.0, INF], [1, 2**63 - 1], [4, 10 * (1 + 2e-9)]]),
    ("sums", DATA, V, said("sums[1, 1]=-0.1", [[1.0, 2.0], [3.0, -0.1]])),
    ("sums", DATA, V, said("shape (", [1.0, 2.0, 3.0], 1.0, [[1], [2]])),
    # By 11 units in the last place above 20, where 10 are allowed: 8 float32 epsilons of 20.
    ("sums", DATA, V, said("between 0 and U m_l", np.float32([20 + 11 * 2.0**-19, 4]))),
    ("sums", DATA, V, said("within the range of floats", [HUGE, 2])),
    ("sums", DATA, T, [*said("<U1", ["1", "2"]), *said("masked", MASKED)]),
    ("sums", ["release_mean", "simulate_akmv_error"], V, said("shape (1, 2)", [SUMS])),
    ("sums", ["clip_to_ball"], V, said("a single number", 1.0)),
    ("sums", BALL[1:], V, said("at most R m_l, got sums[1]=5.1", [[0.0], [-5.1]])),
    ("sums", BALL[1:], V, said("shape (", [1.0, 2.0], [[1.0]], [[], []], [[[], []]])),
    ("sums", BALL, T, said("<U1", [["1"], ["2"]])),
    ("radius", ["clip_to_ball"], V, [INF], T, [None]),
    ("weights", WEIGHED, V, [[1, -1.0], [1, NAN], *said("weights=[0, 0]", [0, 0])]),
    ("weights", WEIGHED, V, said("weights of shape (", [1], 1, [[1, 2]])),
    ("rng", taking("rng"), T, ["seed", 1.5, True, np.random, np.random.RandomState(1), []]),
    ("rng", taking("rng"), T, said("rng of type list and shape (2,)", [1, 2]), V, [-1]),
]
CASES = [
    (error, argument, words, name, {argument: bad})
    for argument, names, *rest in REFUSED
    for error, values in zip(rest[::2], rest[1::2], strict=True)
    for bad, words in (shown(argument, value) for value in values)
    for name in names
]
PLAN, MADE = call("plan"), call("private_mean")
CHOICES, PROTECTED = call("tradeoff"), call("private_mean_protected_counts")


SCALED = ["laplace", "laplace_mean_error", "akmv", "akmv_error", "clipped_mean"]
SQUARES = {"objective": "mse", "noise": "staircase"}
BY_NOISE = sorted({*taking("noise")} & {*taking("objective")})
THREE, OTHERS = {"t": [1, 2, 3]}, {"users": ud.Contributions([1, 1, 1], 10)}
LAWS = ud.LaplaceNoise(1), ud.StaircaseNoise(1), GAUSS

# Refusals that depend on several arguments at once, or come from other functions and methods.
ALSO_REFUSED = [
    *[(V, "eps", "finite noise", name, {"eps": 3e-308}) for name in SCALED],
    (V, "eps", "finite noise", "clipped_mean", {"eps": 3e-308, "noise": "staircase"}),
    (V, "eps", "finite noise", "clipped_mean_error", {"eps": 3e-308, "total_width": 10}),
    (V, "eps", "eps=3e-308", "simulate_akmv_error", {"eps": 3e-308}),
    (V, "eps", "finite noise", noise._noise_scale, [np.nextafter(_checks.LARGEST / 64, INF), 1]),
    *[(V, "rho", "1e-100 to 1e+100, got rho", GAUSS.zcdp, [x]) for x in (9e-101, 2e100)],
    (V, "rho", "positive", GAUSS.zcdp, [0]),
    (T, "rho", "'1'", GAUSS.zcdp, ["1"]),
    *[(V, "eps", "1e-100 to 1e+100", GAUSS.approximate, [x, 0.1]) for x in (9e-101, 2e100)],
    (V, "eps", "eps=0", GAUSS.approximate, [0, 0.1]),
    *[(V, "delta", f"delta={x}", GAUSS.approximate, [1, x]) for x in (0, 9e-101, 1, 1.5, NAN)],
    (V, "sigma", "finite noise, got sigma=1.0", GAUSS.mean_error, [0, 2.0**1018]),
    (V, "noise", "noise, got noise='stair", "threshold", {"eps": GAUSS, "noise": "staircase"}),
    (V, "eps", "for squares, got eps=1e-151", "threshold", {"eps": 1e-151, "objective": "mse"}),
    (V, "eps", "for squares", "worst_case_error", {"eps": 1e-200, **SQUARES}),
    *[(V, "eps", "eps=0.0", name, {"eps": 0.0, **SQUARES}) for name in BY_NOISE],
    (V, "upper", "upper=1e+308", "private_mean", {"lower": -1e308, "upper": 1e308}),
    (V, "upper", "upper=1", "plan", {"lower": 2, "upper": 1}),
    *[(V, "upper", "farther from", n, {"lower": 1e16, "upper": 1e16 + 2}) for n in RANGES],
    (V, "upper", "farther from", "plan", {"lower": 2.0**52, "upper": 2.0**52 + 255}),
    (V, "objective", "one of", "release_mean", {"total_width": 1, "objective": "l7"}),
    (V, "variance", "must be positive, got", "gaussian_sums", {"variance": 0}),
    (T, "users", "users of type int", "sensitivity", {"users": 3, "clipping": None}),
    (V, "counts", "shape (0,)", "plan", {"counts": []}),
    (V, "counts", "shape (2,)", "plan", {"counts": [1, 0]}),
    (V, "lower", "shapes (0,) and (0,)", "Clipping", {"lower": [], "upper": []}),
    (V, "sums", "sums[0, 0]=-1.0", "error_sweep", {"sampler": below_zero}),
    (V, "t", "(3,) and leading axes (2,)", "quantile_log_density", THREE | {"sums": [SUMS] * 2}),
    (V, "law", "users (3), got shapes [(3,), (3,), (3,)].", "capped_mean_error", OTHERS),
    (V, "user", "user='whom'", "user_counts", {"data": {"who": [1]}, "user": "whom"}),
    (V, "total_width", "of floats", EXACT.surplus, [Fraction(HUGE)]),
    (V, "total_width", "be finite and at least 0", USERS.surplus, [INF]),
    (V, "error", "error=0", PLAN.smallest_eps, [0]),
    (V, "error", "error=5", PLAN.smallest_eps, [5]),
    (V, "objective", "l3", PLAN.smallest_eps, [1, "l3"]),
    (V, "objective", "l2", PLAN.recommend, ["l2"]),
    (V, "level", "level=1", MADE.interval, [1]),
    (V, "level", "level=0", MADE.noise_interval, [0]),
    (V, "level", "level=95", MADE.interval, [95]),
    (T, "level", "'0.9'", MADE.interval, ["0.9"]),
    (V, "level", "level=1", PROTECTED.interval, [1]),
    (V, "weight", "weight=0.5", PROTECTED.worst_case_error_at, [0.5]),
    (T, "weight", "'many'", PROTECTED.worst_case_error_at, ["many"]),
    (V, "tau", "tau=-0.1", CHOICES.best, [-0.1]),
    (V, "tau", "tau=0", call("tradeoff", centres=[1], total_widths=[1]).best, [0]),
    (V, "sensitivity", "-2", LAWS[0].mean_error, [1, -2]),
    (V, "bias", "bias[1]=nan", LAWS[1].mean_error, [[0, NAN]]),
    *[(V, "z", "z[0]=inf", law.log_density, [[INF]]) for law in LAWS],
]

# Near twins of what is refused.
EXTREMES = {"akmv": [3e-305], "akmv_error": [3e-305], "simulate_akmv_error": [3e-150]}
EXTREMES |= {"akmv_mean_error": [1e-300, 1e300], "minimax_lower_bound": [1e300]}
EXTREMES |= {"opt_worst_case": [1e-307], "StaircaseNoise": [1400]}
ACCEPTED = [
    ("upper", BOUND, [2**53, np.float32(0.5), np.int64(65), Fraction(10**40, 3), 8e300]),
    ("counts", ["Contributions", "plan"], [(1, 2), np.int8([1, 2]), np.uint64([1, 2])]),
    ("counts", ["Contributions"], [np.array([np.int64(1), 2], object), [2**53], [2**53 - 1, 1]]),
    ("max_count", ["extreme_collection"], [1, 10**15]),
    ("x", ["sum_of_largest"], [0]),
    ("lower", ["Clipping"], [[1, 1], np.float32([0.1, 0])]),
    ("upper", ["Clipping"], [[0, 0], [2**53, 1]]),
    ("clipping", CLIPS, [ud.Clipping([0, 0], [10, 10]), ud.Clipping([0] * 3, [10] * 3)]),
    ("clipping", CLIPS, [ud.Clipping([Fraction(0)] * 2, [Fraction(10)] * 2)]),
    ("sums", [*DATA, "release_mean"], [[20.0, 10.0], [20, 10], [20 * (1 + 5e-10), -5e-10]]),
    ("sums", [*DATA, "release_mean"], [np.float32([20, 10]), [Fraction(1, 3), 4], [0.0, 0.0]]),
    ("sums", DATA, [np.float32([20.000002, 10]), np.float32([20 + 10 * 2.0**-19, 10])]),
    ("eps", BY_LAW, [GAUSS, ud.GaussianNoise(1e-100), ud.GaussianNoise(1e100)]),
    ("d", ["ball_error", "ball_threshold"], [1, 2**53]),
    ("sums", BALL[1:], [[[10, 0], [3, 4]], [[10 * (1 + 5e-10)], [0]]]),
    ("eps", BALL[1:], ["0.5", Fraction(1, 3)]),
    ("radius", ["clip_to_ball"], [0, Fraction(1, 3)]),
    ("weights", WEIGHED, [[1, 0], [5e-324, 1e308], [Fraction(1, 3), 2]]),
    ("rng", taking("rng"), [None, np.int64(3), np.random.SeedSequence(1), np.random.PCG64(1)]),
    ("total_width", WIDTHS, [0, 10**9, Fraction(1, 3)]),
    ("centre", taking("centre"), [0, 10, Fraction(1, 3), None]),
    ("n_trials", SCATTER, [2]),
    ("n_trials", ["uniform_sums", "gaussian_sums", "beta_sums", "correlated_sums"], [1]),
    ("variance", ["gaussian_sums"], [100, None]),
    ("bias", ["noisy_error"], [[-(2**53), -107], [Fraction(2**1024 - 2**971), 0]]),
    ("law", ["capped_mean_error"], [LAW._replace(log_density=None)]),
    ("eps", ["rank"], [_checks.LARGEST, _checks.SMALLEST_NORMAL, Decimal("1e300"), " 0.5 "]),
    ("eps", RELEASES, [GAUSS, ud.GaussianNoise(1e-100), ud.GaussianNoise(2.0**20)]),
    *[("eps", [name], values) for name, values in EXTREMES.items()],
    ("eps", ["release_mean"], [2.0**-40, "1e9", Fraction(1, 3)]),
    ("eps", SWEEPS, [[1, "0.5", Fraction(1, 3)], np.array([0.5]), {0.5: 1}.keys()]),
    ("centres", ["tradeoff"], [[10], 5, None]),
    ("total_widths", ["tradeoff"], [0, [0, 1e9], None]),
    ("value", RECORDS, [[0, 10, 10.0], np.uint8([5, 6, 4]), [5, Decimal("6.5"), Fraction(1, 3)]]),
    ("user", taking("user"), [["a", "1", "1"], [b"a", b"1", b"1"]]),
    ("project", taking("project"), [np.False_]),
    ("cap", PROTECTED_COUNTS, [2**31]),
    ("reach", PROTECTED_COUNTS, [1e9]),
]


def thresholds():
    for eps in (1e-9, 1400):
        call("threshold", eps=eps, objective="l1", noise="staircase")
    for eps, objective in ((1e-100, "mse"), (1e300, "l1"), (1e-150, "mse")):
        call("threshold", eps=eps, objective=objective)
    call("threshold", eps=ud.GaussianNoise(1e100), objective="mse")


def promises_of_gaussian_noise():
    for rho in (1e-100, 1, Fraction(1, 3), 1e100):
        GAUSS.zcdp(rho)
    for eps in ("1e-100", 1e100):
        GAUSS.approximate(eps, 1e-100)
    for sigma, eps in product((1e-100, 1e100), (3e-308, 1e308)):
        ud.GaussianNoise(sigma).delta(eps)


ALSO_ACCEPTED = {
    "the largest float as bound": lambda: ud.Contributions([1], _checks.LARGEST),
    "the smallest float as bound": lambda: ud.Contributions([1], _checks.SMALLEST_NORMAL),
    "a largest sum near the largest float": lambda: ud.Contributions([1, 1], 8e307),
    "the largest whole number that is a float": lambda: EXACT.surplus(2**1024 - 2**971),
    "wide staircase noise": lambda: call("clipped_mean", eps=1e-306, noise="staircase"),
    "staircase noise for nothing": lambda: call(
        "clipped_mean", total_width=0, centre=0, noise="staircase"
    ),
    "an exact width and a float as centre": lambda: call(
        "centred_clipping", users=EXACT, total_width=Fraction(1, 3), centre=0.1
    ),
    "extreme budgets of thresholds": thresholds,
    "steep stairs": lambda: ud.StaircaseNoise(1400).mean_error([0, 1e300]),
    "a sensitivity near the largest": lambda: GAUSS.mean_error(
        [0, 1e308], 2.0**1018 * (1 - 2**-53)
    ),
    "promises of Gaussian noise": promises_of_gaussian_noise,
    "the widest noise": lambda: noise._noise_scale(_checks.LARGEST / 64, 1),
    "a release with a small budget": lambda: call("private_mean", eps="1e-9", centre=0),
    "a release in a wide range": lambda: call("private_mean", lower=-4e269, upper=4e269),
    "rows that are dropped": lambda: call(
        *PROTECTED_COUNTS, value=[NAN, 5, -4], missing="drop", outside="drop"
    ),
    "no rows": lambda: call(*PROTECTED_COUNTS, user=[], value=[]),
    "the weight of one row": lambda: PROTECTED.worst_case_error_at(1),
    "a plan for a narrow range": lambda: call("plan", counts=[1], upper=1e-279, eps="0.1"),
    "a plan for a range of eight bits": lambda: call(
        "plan", counts=[1], lower=2.0**52, upper=2.0**52 + 256
    ),
    "an error just below half the range": lambda: PLAN.smallest_eps(5 - 1e-9),
    "a level just below 1": lambda: MADE.interval(1 - 1e-9),
    "a release of 10^15 samples": lambda: ud.release_mean(
        [3], ud.Contributions([10**15], 65), 1, total_width=Fraction(1, 3)
    ),
}


def as_called(function, arguments):
    """A call in words, for a report: `laplace(eps=-1.0)`."""
    if isinstance(arguments, dict):
        given = [f"{name}={brief(value)}" for name, value in arguments.items()]
    else:
        given = [brief(value) for value in arguments]
    name = function if isinstance(function, str) else function.__name__
    return f"{name}({', '.join(given)})"


REFUSALS = [*CASES, *ALSO_REFUSED]


@pytest.mark.parametrize(
    ("error", "argument", "words", "function", "arguments"),
    REFUSALS,
    ids=[as_called(function, arguments) for *_, function, arguments in REFUSALS],
)
def test_bad_call_is_refused(error, argument, words, function, arguments):
    with pytest.raises(error, match=rf"`{argument}[^`]*`( and `upper`)? must") as refusal:
        function(*arguments) if callable(function) else call(function, **arguments)
    assert type(refusal.value) is error
    assert not re.search("must (be )?None", str(refusal.value))  # a rule stands there
    assert words in str(refusal.value)


GOOD_CALLS = [(name, {}) for name in FUNCTIONS] + [
    (name, {argument: value})
    for argument, names, values in ACCEPTED
    for value in values
    for name in names
]


@pytest.mark.parametrize(
    ("name", "changed"), GOOD_CALLS, ids=[as_called(*attempt) for attempt in GOOD_CALLS]
)
def test_good_call_and_near_twin_of_a_bad_one_are_accepted(name, changed):
    call(name, **changed)


@pytest.mark.parametrize("attempt", ALSO_ACCEPTED.values(), ids=ALSO_ACCEPTED)
def test_what_is_extreme_and_no_fault_is_accepted(attempt):
    attempt()


DRAWN = """
import test_bad_input as t

for name in t.taking("rng"):
    print(name, *(repr(t.call(name, rng=None)).replace("\\n", "") for _ in range(2)), sep="|")
"""


def test_without_a_seed_no_two_calls_are_alike():
    """Neither in one process nor in two, whatever stands for the entropy of the system."""
    python = [sys.executable, "-W", "ignore", "-c", DRAWN]
    lines = []
    for _ in range(2):
        made = subprocess.check_output(python, text=True, cwd=Path(__file__).parent)
        lines.append(dict(line.split("|", 1) for line in made.splitlines()))
    assert set(lines[0]) == {*taking("rng")}
    for name in lines[0]:
        drawn = [result for process in lines for result in process[name].split("|")]
        assert len(set(drawn)) == 4, name


def test_arrays_are_private_copies():
    counts, lower = np.array([2, 1]), np.array([0.0, 1.0])
    users, clipping = ud.Contributions(counts, 10), ud.Clipping(lower, [5, 5])
    counts[0], lower[0] = 7, 3.0
    assert (users.counts[0], clipping.lower[0]) == (2, 0)
    for array in (users.counts, clipping.lower, clipping.upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        users.upper = 1


def test_a_size_is_a_fraction_only_where_that_is_asked_for():
    sizes = [_checks.size("size", Fraction(1, 2), *exact) for exact in ([], [False], [True])]
    assert [type(size) for size in sizes] == [float, float, Fraction]
