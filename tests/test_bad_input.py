"""Which values of each argument every public function refuses, and which it only just accepts.

Most arguments are checked by a reader. test_checks.py specifies the readers, and test_model.py
those of budgets and sums. Here, a row of REFUSED says which reader checks an argument of which
functions: it lists a few values that only this reader refuses with these messages. Rows also list
the values that a function refuses by rules of its own. Every function is called with valid
arguments, GOOD, one of which is replaced by a bad value. Arguments with the same meaning everywhere
(`sums`, `users`, `eps`, `budget`, `rng`, ...) are tested on each function that has them, including
functions exported later.
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
from userdp import _checks, beyond, release
from userdp.akmv import Cells

V, T = ValueError, TypeError  # for values of the right type, and of a wrong type
INF, NAN, HUGE, EDGE = float("inf"), float("nan"), 10**400, 2**53 + 1
SUMS, USERS = [11.0, 4.0], ud.Contributions([2, 1], 10)
EXACT = ud.Contributions([2, 1], Fraction(10))
# A distribution of thresholds by hand, with one cell between neighbouring sums.
LAW = Cells(np.array([11.0, 4, 0]), np.array([20.0, 11, 4]), np.array([0.5, 0.3, 0.2]), np.zeros(3))

GOOD = (
    {"sums": SUMS, "users": USERS, "eps": 1, "budget": 1, "rng": 0, "n_trials": 10}
    | {"total_width": 2, "centre": 5, "objective": "bound", "law": LAW, "rank": 1, "t": [1.0]}
    | {"counts": [2, 1], "upper": 10, "M": 3, "n_users": 3, "max_count": 2, "lower": 0}
    | {"clipping": ud.Clipping([1, 2], [9, 8]), "solution": None, "sensitivity": 1, "x": 1}
    | {"bias": [1.0, 0.5], "scale": [1.0, 2.0], "a": 1, "b": 1, "correlation": 0, "variance": 9}
    | {"mechanisms": {"L": ud.laplace}, "mean_errors": {"L": ud.laplace_mean_error}}
    | {"sampler": ud.uniform_sums, "prior": ud.uniform_sums}
    | {"centres": [5], "total_widths": [2, 10], "user": [1, 1, 2], "value": [5.0, 6.0, 4.0]}
    | {"data": None, "cap": 2, "weight": 4, "reach": 1, "outside": "refuse", "missing": "refuse"}
    | {"weights": [2, 1], "project": True, "radius": 1, "below": 0}
    | {"squares": [61.0, 16.0], "d": 2, "sigma": 1, "least_total": 3, "values": [0, 1, 2]}
    | dict.fromkeys(["threshold_share", "noise_share", "share"], 0.5)
    | {"centred": True, "measure": "uniform", "of": "trips"}
)
WITH_GROUPS = ["influence", "influence_threshold", "modulus_of_several_means", "opt_several_means"]
WITH_GROUPS += ["error_of_several_means", "error_of_divided_budget"]
GOOD_FOR = {
    "release_mean": {"total_width": None},  # with a width, the objective has no effect
    "as_measurement": {
        "user": "user",
        "value": "value",
        "data": {"user": [1, 1, 2], "value": [5.0, 6.0, 4.0]},
    },
    "Clipping": {"lower": [0, 0], "upper": [1, 1]},
    "error_sweep": {"eps": (1,)},
    "mean_error_sweep": {"eps": (1,), "mean_errors": {"AKMV": ud.akmv_mean_error}},
    **{name: {"counts": [[2], [1]]} for name in WITH_GROUPS},
    "opt_several_means": {"counts": [[2], [1]], "sums": [[11.0], [4.0]]},
    "opt_variance": {"budget": 2},  # with a smaller budget, the output is constant
    "mean_in_ball": {"sums": [[6.0], [4.0]]},
    "ball_mean_error": {"sums": [[6.0], [4.0]]},
}
CLASSES = (
    ud.Contributions,
    ud.Clipping,
    beyond.GaussianNoise,
    beyond.LaplaceNoise,
    beyond.Modulus,
    beyond.PrivateThreshold,
    beyond.StaircaseNoise,
)
RELEASE_FUNCTIONS = [
    "plan",
    "user_counts",
    "private_mean",
    "release_mean",
    "private_mean_protected_counts",
]
FUNCTIONS = {
    f"beyond.{name}" if module is beyond and name in ud.__all__ else name: function
    for module, names in {
        ud: ud.__all__,
        beyond: beyond.__all__,
        release: [*RELEASE_FUNCTIONS, "as_measurement"],
    }.items()
    for name, function in ((name, getattr(module, name)) for name in names)
    if inspect.isfunction(function) or function in CLASSES
}
"""By name; a function of `beyond` with the same name as one of `userdp` is called `beyond.NAME`."""


def call(name, **changed):
    good = GOOD | GOOD_FOR.get(name, {})
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert changed.keys() <= parameters.keys()
    missing = sorted(parameters.keys() - good.keys())
    assert not missing, f"GOOD needs a good value of {missing}, which {name} takes"
    return FUNCTIONS[name](**{parameter: good[parameter] for parameter in parameters} | changed)


def functions_with(argument):
    return [n for n, f in FUNCTIONS.items() if argument in inspect.signature(f).parameters]


QUOTED = str | numbers.Number | np.bool_ | None


class WithMessage(NamedTuple):
    """A bad value, and a part of the expected message, if that is not NAME=VALUE."""

    value: object
    words: str


def msg(words, *values):
    return [WithMessage(value, words) for value in values]


def format_number(value):
    """A number as messages show it: as Python writes it, or six digits of a long one."""
    return repr(value).replace(repr(HUGE), "1e+400 (rounded, of type int)")


def shown(argument, value):
    """The value, and how a message shows it; in a list the last entry is the bad one."""
    if isinstance(value, WithMessage):
        return value
    if isinstance(value, list) and value:
        return value, f"{argument}[{len(value) - 1}]={format_number(value[-1])}"
    if isinstance(value, QUOTED):
        return value, f"{argument}={format_number(value)}"
    return value, f"{argument} of type {type(value).__name__}"


WITH_BOUND = ["Contributions", "geometric_collection", "extreme_collection"]
MODULI = ["modulus_of_weighted_mean", "modulus_of_protected_mean"]  # they take `upper`, not `users`
RECORDS = ["private_mean", "private_mean_protected_counts"]
WITH_COLUMNS = sorted({*functions_with("user")} - {"as_measurement"})  # which takes names only
RANGES, SWEEPS = [*RECORDS, "plan", "as_measurement"], ["error_sweep", "mean_error_sweep"]
BUDGET = sorted({*functions_with("eps")} - {*SWEEPS, "plan"})
BALL = ["clip_to_ball", "mean_in_ball", "ball_mean_error"]
# The functions that take any law in place of a budget.
BY_LAW = sorted({*functions_with("budget")} - {"optimality_factor"})
GAUSS = beyond.GaussianNoise(1)
BY_RELEASED_LAW = ["private_mean", "release_mean", "as_measurement"]
BY_LAW_WITHOUT_RELEASE = sorted({*BY_LAW} - {*BY_RELEASED_LAW})
WITH_OTHER_RULES = {"release_mean", "opt_several_means", *BALL}  # release_mean quotes no data
DATA = sorted({*functions_with("sums")} - WITH_OTHER_RULES)
VARIANCE = ["capped_variance", "opt_variance"]
WITH_SUMS_ONLY = [*sorted({*DATA} - {*VARIANCE}), "release_mean"]  # functions of sums alone
WITH_SPREAD = [*SWEEPS, "error_tradeoff", "simulate_akmv_error"]
COUNTS, CLIPS, WIDTHS = ["Contributions"], functions_with("clipping"), functions_with("total_width")
WITH_WEIGHTS = ["weighted_mean", "weighted_mean_error", "weighted_worst_case_error"]
PROTECTED_COUNTS = ["private_mean_protected_counts"]
WITH_RANK = ["private_quantile", "quantile_cells", "quantile_log_density"]
BEYOND = ud.Clipping([Fraction(0)] * 2, [Fraction(21, 2)] * 2)
NAMES = "user", "value"
MASKED = np.ma.array([1, 2], mask=[0, 1])


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


# Values that identify a reader: it refuses them with a ValueError (V) or a TypeError (T).
REAL = V, [NAN, INF], T, ["1", True]
SIZE = V, [-1, NAN], T, ["1", True]
POSITIVE = V, [0, NAN], T, ["1", True]
COUNT = V, [0], T, [2.0, True]
EPS = V, [0, HUGE, "a tenth"], T, [True, None, *msg("of type list and shape (1,)", [0.5])]
UPPER = V, [0, EDGE], T, [True, *msg("upper='65' of type str", "65")]
REALS = V, [[1, NAN]], T, [*msg("<U1", ["1", "2"]), *msg("masked", MASKED)]
SEED = V, [-1], T, ["seed", True]
TRUTH = T, [1]
CALLABLE = T, msg("must be callable, got", "uniform", 3)

# (argument, functions, exception, bad values), and perhaps another exception with its values.
REFUSED = [
    # Arguments that mean the same everywhere.
    ("users", functions_with("users"), T, msg("users of type", None, [2, 1])),
    ("rng", functions_with("rng"), *SEED),
    ("eps", BUDGET, *EPS),
    ("eps", BUDGET, T, [GAUSS]),
    ("budget", functions_with("budget"), *EPS),
    ("budget", ["optimality_factor"], T, [GAUSS]),
    ("objective", functions_with("objective"), V, [None, *msg("'bound', 'l1', 'mse', got", "l2")]),
    ("total_width", WIDTHS, *SIZE),
    ("centre", functions_with("centre"), *SIZE),
    ("centre", functions_with("centre"), V, [11, -1e-9]),
    ("of", RECORDS, T, msg("must be text", 3, None)),
    ("clipping", CLIPS, V, msg("got 4 intervals", ud.Clipping([0] * 4, [1] * 4))),
    ("clipping", CLIPS, V, msg("got 1 intervals", ud.Clipping([0], [1]))),
    ("clipping", CLIPS, V, msg("clipping.upper[1]=11.0", ud.Clipping([0, 0], [10, 11]))),
    ("clipping", CLIPS, V, msg(".upper[0]=Fraction(21, 2)", BEYOND)),
    ("clipping", CLIPS, T, msg("clipping of type list and shape (2,)", [0, 1])),
    ("sums", DATA, V, [[4.0, 21.0], [4.0, NAN], *msg("shape (", [1.0, 2.0, 3.0])]),
    ("sums", DATA, T, msg("<U1", ["1", "2"])),
    # The paper's collections and intervals.
    ("upper", [*WITH_BOUND, *MODULI, *WITH_GROUPS], *UPPER),
    ("upper", ["Contributions", "extreme_collection"], V, [1e308]),
    ("counts", COUNTS, V, [[1, 0], [1, 1, -3], [2**63], [1, 2**63], [2**70], [EDGE]]),
    ("counts", COUNTS, V, [*msg("shape (", [], [[1, 2]], 3), *msg("equal", [[1], [1, 2]])]),
    # 2048 times 2^53 wraps around to exactly zero in 64 bits.
    ("counts", COUNTS, V, msg("a sum of about 1.84467e+19", [2**53] * 2048)),
    ("counts", COUNTS, V, msg("a sum of about 9.0072e+15", [2**53, 1])),
    ("counts", COUNTS, T, [[1.0], [1.5], [True], ["3"], [1, None], [1, NAN]]),
    ("counts", COUNTS, T, msg("masked", MASKED)),
    ("M", ["geometric_collection"], *COUNT[2:], V, [-1, *msg("at most 27, got M=28", 28)]),
    ("n_users", ["extreme_collection"], *COUNT, V, [2**28 + 1]),
    ("max_count", ["extreme_collection", MODULI[1]], *COUNT, V, [EDGE, 2**63]),
    ("lower", ["Clipping"], *REALS),
    ("lower", ["Clipping"], V, [[0.0, 3.0], [0, -0.5], *msg("(1,) and (2,)", [0])]),
    ("lower", ["Clipping"], V, msg("shapes (1, 2)", [[0, 0]])),
    ("upper", ["Clipping"], *REALS),
    # Worst cases, certificates, laws.
    ("x", ["sum_of_largest"], V, [-1], T, [True, 0.5]),
    ("sensitivity", ["noise_scale"], *REALS, V, [[1, -1.0]]),
    ("solution", ["kkt_certificate"], T, [(1, 2)]),
    ("eps", ["StaircaseNoise"], V, [1401]),
    ("sigma", ["GaussianNoise"], *POSITIVE, V, [9e-101, 2e100]),
    ("scale", ["noisy_error"], *REALS, V, [[1, -1.0]]),
    ("bias", ["noisy_error"], *REALS, V, msg("range of floats, got bias[0]=1e+400 (", [HUGE, 0])),
    ("weights", WITH_WEIGHTS, *REALS, V, [[1, -1.0], *msg("weights=[0, 0]", [0, 0])]),
    ("weights", WITH_WEIGHTS, V, msg("weights of shape (", [1], 1, [[1, 2]])),
    ("project", functions_with("project"), *TRUTH),
    # Moduli of continuity.
    ("values", ["Modulus"], *REALS, V, [[0.0, 2.0, 1.0], [1.0]]),
    ("values", ["Modulus"], V, msg("shape (", [], 0, [[0, 1]])),
    ("values", ["Modulus"], V, msg("values[0]=Fraction(1, 2)", [Fraction(1, 2)])),
    ("weights", MODULI[:1], *REALS, V, msg("weights of shape (", [], 1, [[1, 2]])),
    ("upper", MODULI[:1], V, msg("floats, got upper=1.5e+308", 1.5e308)),
    ("least_total", MODULI[1:], *COUNT, V, [EDGE, *msg("2^26 times `max_count`=2", 2**28)]),
    # Variances and several means.
    ("squares", VARIANCE, *REALS, V, [[61, 15.9], [61, 40.1], *msg("shape (1,)", [61.0])]),
    ("cap", VARIANCE[:1], *SIZE),
    ("counts", WITH_GROUPS, V, msg("got counts[1, 0]=-1", [[2], [-1]])),
    ("counts", WITH_GROUPS, V, msg("no samples in counts[:, 1]", [[2, 0], [1, 0]])),
    ("counts", WITH_GROUPS, V, msg("shape (", [], [2, 1], 3, [[[1]]], [[], []])),
    ("counts", WITH_GROUPS, V, msg("counts[0, 0]=9007199254740993", [[EDGE], [1]])),
    ("counts", WITH_GROUPS, V, msg("a sum of about 9.0072e+15", [[2**53], [1]])),
    ("counts", WITH_GROUPS, V, msg("a sum of about 1.84467e+19", [[2**53]] * 2048)),
    ("counts", WITH_GROUPS, T, msg("counts[0, 0]=1.5", [[1.5], [1]]), T, msg("masked", MASKED)),
    ("upper", WITH_GROUPS, V, [1e308]),
    ("sums", ["opt_several_means"], V, msg("sums[0, 0]=21.0", [[21.0], [4]])),
    ("sums", ["opt_several_means"], V, msg("got sums[1, 0]=-1.0", [[11.0], [-1]])),
    ("sums", ["opt_several_means"], V, msg("of shape (", [11.0, 4.0], [[11.0, 4.0]])),
    ("sums", ["opt_several_means"], T, msg("<U1", [["1"], ["0"]])),
    # AKMV, and private thresholds.
    ("share", ["PrivateThreshold"], *SIZE, V, [0, 1, 1.5]),
    ("centred", ["PrivateThreshold"], *TRUTH),
    ("measure", ["PrivateThreshold"], V, [None, *msg("'uniform', 'logarithmic', got", "log")]),
    ("rank", WITH_RANK, *COUNT),
    ("t", ["quantile_log_density"], V, [[NAN], *msg("of floats", [-HUGE])]),
    ("law", ["capped_mean_error"], T, msg("law of type list and shape (2,)", [1, 2])),
    *[(share, ["akmv_mean_error"], *POSITIVE) for share in ("threshold_share", "noise_share")],
    ("below", ["akmv_mean_error"], *REAL),
    ("sums", ["release_mean", "simulate_akmv_error"], V, msg("shape (1, 2)", [SUMS])),
    # Random datasets, sweeps, the trade-off.
    ("n_trials", functions_with("n_trials"), *COUNT),
    ("n_trials", WITH_SPREAD, V, [1]),
    ("variance", ["gaussian_sums"], *POSITIVE, V, msg("U^2 = 100, got variance=101", 101)),
    ("correlation", ["correlated_sums"], *SIZE, V, [1.01], T, [None]),
    *[(shape, ["beta_sums"], *POSITIVE) for shape in ("a", "b")],
    ("eps", SWEEPS, T, [0.5, np.array(0.5), "0.5", *msg("ndarray", np.array([[0.5]]))]),
    ("eps", SWEEPS, T, [*msg("=True", [1, True]), *msg("eps of type GaussianNoise", [GAUSS])]),
    ("eps", SWEEPS, V, [*msg("=0.0.", [1, 0.0]), *msg("='x'", ["x"]), *msg("got none", [])]),
    ("mechanisms", SWEEPS[:1], T, [*msg("list", [ud.laplace]), *msg("=1", {1: ud.laplace})]),
    ("mechanisms", SWEEPS[:1], T, msg("be callable, got mechanisms['L']=3", {"L": 3})),
    ("mechanisms", SWEEPS[:1], V, msg("(10, 2)", {"L": the_sums})),
    ("mechanisms", SWEEPS[:1], V, [*msg("()", {"L": one_number}), *msg("got none", {})]),
    ("mean_errors", SWEEPS[1:], V, [*msg("()", {"L": one_number}), *msg("got none", {})]),
    ("mean_errors", SWEEPS[1:], T, [None]),
    ("sampler", SWEEPS, *CALLABLE, V, msg("(10, 3)", three_columns)),
    (
        "prior",
        ["error_tradeoff"],
        T,
        msg("callable, got prior=3", 3),
        V,
        msg("(10, 3)", three_columns),
    ),
    ("prior", ["error_tradeoff"], V, msg("(2,)", one_row)),
    ("centres", ["error_tradeoff"], *REALS, V, [[5, 11.0], [-1.0], *msg("got none", [])]),
    ("total_widths", ["error_tradeoff"], *REALS, V, [[-2.0]]),
    # Vectors.
    ("d", ["ball_error", "ball_threshold"], *COUNT, V, [EDGE]),
    ("radius", ["clip_to_ball"], *SIZE, V, [INF]),
    ("sums", ["clip_to_ball"], V, msg("a single number", 1.0)),
    ("sums", BALL[1:], V, msg("at most R m_l, got sums[1]=5.1", [[0.0], [-5.1]])),
    ("sums", BALL[1:], V, msg("shape (", [1.0, 2.0], [[1.0]], [[], []], [[[], []]])),
    ("sums", BALL, T, msg("<U1", [["1"], ["2"]])),
    # Releases.
    ("budget", BY_RELEASED_LAW, T, msg("StaircaseNoise", beyond.StaircaseNoise(1))),
    ("budget", BY_RELEASED_LAW, V, msg("sigma", beyond.GaussianNoise(1e100))),
    ("budget", RECORDS[:1], V, [1e-15]),
    ("eps", RECORDS[1:], V, [1e-15]),
    ("budget", ["release_mean"], V, [1e-13, *msg("2^-40", 2.0**-40 * (1 - 2**-53))]),
    ("eps", ["plan"], V, [*msg("hold budgets", [1, 0.0], ["x"]), *msg("got none", [])]),
    ("eps", ["plan"], T, msg("hold budgets", [GAUSS], [1, True], [np.array([0.5])])),
    ("eps", ["plan"], T, [{5: 1}, {5, 1}, *msg("a list of budgets, got eps of type", b"ab")]),
    ("counts", ["plan"], V, msg("shape (0,)", [])),
    ("data", ["as_measurement"], T, [None, *msg("got a int", 3)]),
    *[(name, ["as_measurement"], T, msg("the name of a column", [1, 1, 2])) for name in NAMES],
    *[(name, ["as_measurement"], V, ["speed"]) for name in NAMES],
    ("lower", RANGES, *REAL, V, [-HUGE], T, [np.timedelta64(3, "s")]),
    ("upper", RANGES, *REAL, V, [-1, 1e-280, *msg("above lower=0.0, got upper=0.", 0)]),
    ("upper", RANGES, V, msg("nor too far", 1.5e308)),
    *[(name, RECORDS, V, ["clip", True]) for name in ("outside", "missing")],
    ("value", RECORDS, V, msg("between the bounds", [5, 10.001, 4], [-1, 5, -INF])),
    ("value", RECORDS, V, [*msg("not be missing", [NAN, 5, 4]), *msg("3 and 2", [1, 2])]),
    ("value", RECORDS, V, msg("shape (3, 1)", np.ones((3, 1)))),
    ("value", RECORDS, T, [None, *msg("type str", np.array([1, "2", 3], object))]),
    ("value", RECORDS, T, msg("complex", [1j, 2j, 3j], np.array([1j, 2j, 3j]))),
    ("user", WITH_COLUMNS, V, msg("not be missing", [None, "b", "b"], [NAN, 1.0, 2.0])),
    ("user", ["user_counts"], V, msg("at least one valid row", [])),
    ("user", RECORDS, T, msg("pass `data=`", "who")),
    ("cap", PROTECTED_COUNTS, *COUNT, V, msg("at most", 2**31 + 1)),
    ("cap", ["plan"], V, [0, *msg("hold integers", [1, 0]), *msg("got none", [])]),
    ("cap", ["plan"], T, [1.5, "2", {2}, *msg("hold integers", [1, 2.0])]),
    ("weight", ["plan"], V, [0.5, NAN]),
    ("reach", PROTECTED_COUNTS, *POSITIVE),
]
CASES = [
    (error, argument, words, name, {argument: bad})
    for argument, names, *rest in REFUSED
    for error, values in zip(rest[::2], rest[1::2], strict=True)
    for bad, words in (shown(argument, value) for value in values)
    for name in names
]


def result_of(name, method, **changed):
    """Return a function that calls `name`, and then this method of its result."""

    def run(*arguments):
        return getattr(call(name, **changed), method)(*arguments)

    run.__qualname__ = f"{name}(...).{method}"
    return run


WITH_NOISE_SCALE = ["laplace", "laplace_mean_error", "akmv", "akmv_error"]
TINY = {"budget": 3e-308}
SQUARES = {"budget": beyond.StaircaseNoise(1e-200), "objective": "mse"}
BY_OBJECTIVE = sorted({*functions_with("budget")} & {*functions_with("objective")})
THIRD = Fraction(10**400, 3)
THREE, OTHERS = {"t": [1, 2, 3]}, {"users": ud.Contributions([1, 1, 1], 10)}
PAIRS = beyond.Modulus([0, 1, 1, 2])
WITH_SQUARE_OF_BOUND = ["modulus_of_variance", "variance_cap", *VARIANCE]
BIG = [(x, ud.Contributions([1], x)) for x in (1e-155, 1e155, Fraction(2**520))]
LAWS = beyond.LaplaceNoise(1), beyond.StaircaseNoise(1), GAUSS

# Refusals that depend on several arguments, or come from other functions and methods.
ALSO_REFUSED = [
    (V, "user", "not be missing", "as_measurement", {"data": {"user": [None], "value": [1.0]}}),
    *[(V, "eps", "finite noise", name, {"eps": 3e-308}) for name in WITH_NOISE_SCALE],
    (V, "eps", "finite noise", "clipped_mean", TINY),
    (V, "eps", "finite noise", "clipped_mean", {"budget": beyond.StaircaseNoise(3e-308)}),
    (V, "eps", "finite noise", "clipped_mean_error", {"total_width": 10} | TINY),
    (V, "eps", "eps=3e-308", "simulate_akmv_error", {"eps": 3e-308}),
    (V, "eps", "finite noise", ud.noise_scale, [np.nextafter(_checks.LARGEST / 64, INF), 1]),
    *[(V, "rho", "1e-100 to 1e+100, got rho", GAUSS.zcdp, [x]) for x in (9e-101, 2e100)],
    (V, "rho", "positive, got rho=0.", GAUSS.zcdp, [0]),
    (V, "budget", "got budget=3.33333e+399 (rounded, ", "private_mean", {"budget": THIRD}),
    (V, "upper", "got upper=1e+999 (rounded, of ", "private_mean", {"upper": 10**999}),
    (V, "lower", "got lower=Decimal('NaN').", "plan", {"lower": Decimal("NaN")}),
    (V, "budget", "a rho of at least 2^-81", "private_mean", {"budget": GAUSS.zcdp(1e-30)}),
    (V, "budget", "got rho=1e-30 (sigma=7", "private_mean", {"budget": GAUSS.zcdp(1e-30)}),
    (T, "rho", "'1'", GAUSS.zcdp, ["1"]),
    *[(V, "eps", "1e-100 to 1e+100", GAUSS.approximate, [x, 0.1]) for x in (9e-101, 2e100)],
    (V, "eps", "eps=0", GAUSS.approximate, [0, 0.1]),
    *[(V, "delta", f"delta={x}", GAUSS.approximate, [1, x]) for x in (0, 9e-101, 1, 1.5, NAN)],
    (V, "sigma", "finite noise, got sigma=1.0", GAUSS.mean_error, [0, 2.0**1018]),
    (V, "eps", "got eps=1e-151", "beyond.threshold", {"budget": 1e-151, "objective": "mse"}),
    (
        V,
        "eps",
        "for mean square",
        "beyond.threshold",
        {"budget": 1e-151, "objective": "mse"},
    ),
    (V, "eps", "for mean square", "beyond.worst_case_error", SQUARES),
    *[(V, "budget", "budget=0.0", n, {"budget": 0.0, "objective": "mse"}) for n in BY_OBJECTIVE],
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
    (V, "error", "error=0", result_of("plan", "smallest_eps"), [0]),
    (V, "error", "error=5", result_of("plan", "smallest_eps"), [5]),
    *[
        (V, "users", f"upper={x!r}", name, {"users": users})
        for x, users in BIG
        for name in WITH_SQUARE_OF_BOUND
    ],
    *[
        (V, "users", "U^2 N", n, {"users": ud.Contributions([2**53], 1e150)})
        for n in WITH_SQUARE_OF_BOUND
    ],
    *[(V, "x", f"x={x}", PAIRS.majorant, [x]) for x in (-1, INF)],
    (T, "x", "'1'", PAIRS.majorant, ["1"]),
    *[(V, "sensitivity", f"sensitivity={x}", PAIRS.smallest_bias, [x]) for x in (-1, NAN)],
    *[(T, "sensitivity", repr(x), PAIRS.smallest_bias, [x]) for x in ("1", True)],
    (V, "n", "n=-1", PAIRS.__call__, [-1]),
    (T, "n", "n=0.5", PAIRS.__call__, [0.5]),
    *[(V, "budget", "budget=0", f, [0]) for f in (PAIRS.optimal_error, PAIRS.optimal_sensitivity)],
    *[(V, "eps", "eps=0", f, [0]) for f in (PAIRS.lower_bound, PAIRS.optimality_factor)],
    (V, "objective", "l3", result_of("plan", "smallest_eps"), [1, "l3"]),
    (V, "objective", "l2", result_of("plan", "recommend"), ["l2"]),
    (V, "level", "level=1", result_of("private_mean", "interval"), [1]),
    (V, "level", "level=0", result_of("private_mean", "noise_interval"), [0]),
    (V, "level", "level=95", result_of("private_mean", "interval"), [95]),
    (T, "level", "'0.9'", result_of("private_mean", "interval"), ["0.9"]),
    (V, "level", "level=1", result_of(*PROTECTED_COUNTS, "interval"), [1]),
    (V, "weight", "weight=0.5", result_of(*PROTECTED_COUNTS, "worst_case_error_at"), [0.5]),
    (T, "weight", "'many'", result_of(*PROTECTED_COUNTS, "worst_case_error_at"), ["many"]),
    (V, "tau", "tau=-0.1", result_of("error_tradeoff", "best"), [-0.1]),
    (V, "tau", "tau=0", result_of("error_tradeoff", "best", centres=[1], total_widths=[1]), [0]),
    (V, "sensitivity", "-2", LAWS[0].mean_error, [1, -2]),
    (V, "bias", "bias[1]=nan", LAWS[1].mean_error, [[0, NAN]]),
    *[(V, "z", "z[0]=inf", law.log_density, [[INF]]) for law in LAWS],
]

# Valid values that are close to refused ones.
EXTREMES = {"akmv": [3e-305], "akmv_error": [3e-305], "simulate_akmv_error": [3e-150]}
EXTREMES |= {"akmv_mean_error": [1e-300, 1e300], "minimax_lower_bound": [1e300]}
EXTREMES |= {"opt_worst_case": [1e-307], "StaircaseNoise": [1400], "LaplaceNoise": [3e-308]}
ACCEPTED = [
    ("upper", WITH_BOUND, [2**53, Fraction(10**40, 3), 8e300]),
    ("counts", ["Contributions", "plan"], [(1, 2), np.int8([1, 2]), np.uint64([1, 2])]),
    ("counts", ["Contributions"], [np.array([np.int64(1), 2], object), [2**53], [2**53 - 1, 1]]),
    ("max_count", ["extreme_collection"], [1, 10**15]),
    ("x", ["sum_of_largest"], [0]),
    ("lower", ["Clipping"], [[1, 1], np.float32([0.1, 0])]),
    ("upper", ["Clipping"], [[0, 0], [2**53, 1]]),
    ("clipping", CLIPS, [ud.Clipping([0, 0], [10, 10]), ud.Clipping([0] * 3, [10] * 3)]),
    ("clipping", CLIPS, [ud.Clipping([Fraction(0)] * 2, [Fraction(10)] * 2)]),
    (
        "sums",
        [*sorted({*DATA} - {*VARIANCE}), "release_mean"],
        [[20 * (1 + 5e-10), -5e-10], [Fraction(1, 3), 4]],
    ),
    ("budget", BY_LAW_WITHOUT_RELEASE, [beyond.GaussianNoise(1e100)]),
    ("budget", BY_LAW, [GAUSS, beyond.GaussianNoise(1e-100)]),
    ("budget", ["beyond.opt_worst_case"], [1e-307]),
    ("sensitivity", ["noise_scale"], [0, Fraction(1, 3), [[0.5], [2]]]),
    ("d", ["ball_error", "ball_threshold"], [1, 2**53]),
    ("sums", BALL[1:], [[[10, 0], [3, 4]], [[10 * (1 + 5e-10)], [0]]]),
    ("budget", BALL[1:], ["0.5", Fraction(1, 3)]),
    ("radius", ["clip_to_ball"], [0, Fraction(1, 3)]),
    ("weights", WITH_WEIGHTS, [[1, 0], [5e-324, 1e308], [Fraction(1, 3), 2]]),
    ("total_width", WIDTHS, [0, 10**9, Fraction(1, 3)]),
    ("centre", functions_with("centre"), [0, 10, Fraction(1, 3), None]),
    ("n_trials", WITH_SPREAD, [2]),
    ("n_trials", ["uniform_sums", "gaussian_sums", "beta_sums", "correlated_sums"], [1]),
    ("variance", ["gaussian_sums"], [100, None]),
    ("bias", ["noisy_error"], [[-(2**53), -107], [Fraction(2**1024 - 2**971), 0]]),
    ("law", ["capped_mean_error"], [LAW._replace(log_density=None)]),
    ("budget", BY_RELEASED_LAW, [beyond.GaussianNoise(2.0**20)]),
    *[("eps", [name], values) for name, values in EXTREMES.items()],
    ("budget", ["release_mean"], [2.0**-40, "1e9", Fraction(1, 3)]),
    ("eps", SWEEPS, [[1, "0.5", Fraction(1, 3)], np.array([0.5]), {0.5: 1}.keys()]),
    ("centres", ["error_tradeoff"], [[10], 5, None]),
    ("total_widths", ["error_tradeoff"], [0, [0, 1e9], None]),
    ("value", RECORDS, [[0, 10, 10.0], np.uint8([5, 6, 4]), [5, Decimal("6.5"), Fraction(1, 3)]]),
    ("user", WITH_COLUMNS, [["a", "1", "1"], [b"a", b"1", b"1"]]),
    ("project", functions_with("project"), [np.False_]),
    ("cap", PROTECTED_COUNTS, [2**31]),
    ("reach", PROTECTED_COUNTS, [1e9]),
    (
        "upper",
        MODULI + sorted({*WITH_GROUPS} - {"opt_several_means"}),
        [2**53, Fraction(7, 3), 2e307],
    ),
    ("upper", ["opt_several_means"], [2**53, Fraction(10**40, 3), 2e305]),
    ("counts", WITH_GROUPS[:3] + WITH_GROUPS[4:], [[[1]], np.int8([[1, 2]]), [[0], [2**53]]]),
    ("squares", VARIANCE, [[61, 16 - 5e-9], [61, 40 + 5e-9], [Fraction(121, 2), 16]]),
    ("sums", VARIANCE, [[11, 4.0], [11 + 1e-9, 4], [Fraction(11), 4]]),
    ("cap", VARIANCE[:1], [0, 5e-324, 1e308, Fraction(1, 3)]),
    ("values", ["Modulus"], [[0], np.int8([0, 0]), [0, Fraction(1, 3)], [0, 1e308], [0, 2**70]]),
    ("weights", MODULI[:1], [[0], [-1e300, 5e-324], [Fraction(1, 3), 2]]),
    ("users", ["modulus_of_variance"], [ud.Contributions([1], x) for x in (2e-154, 1e154)]),
    ("least_total", MODULI[1:], [1, 2**20]),
]


def thresholds():
    for eps in (1e-9, 1400):
        call("beyond.threshold", budget=beyond.StaircaseNoise(eps), objective="l1")
    for eps, objective in ((1e-100, "mse"), (1e300, "l1"), (1e-150, "mse")):
        call("beyond.threshold", budget=eps, objective=objective)
    call("beyond.threshold", budget=beyond.GaussianNoise(1e100), objective="mse")


def privacy_of_gaussian_noise():
    for rho in (1e-100, 1, Fraction(1, 3), 1e100):
        GAUSS.zcdp(rho)
    for eps in ("1e-100", 1e100):
        GAUSS.approximate(eps, 1e-100)
    for sigma, eps in product((1e-100, 1e100), (3e-308, 1e308)):
        beyond.GaussianNoise(sigma).delta(eps)


ALSO_ACCEPTED = {
    "the largest float as bound": lambda: ud.Contributions([1], _checks.LARGEST),
    "the smallest float as bound": lambda: ud.Contributions([1], _checks.SMALLEST_NORMAL),
    "a largest sum near the largest float": lambda: ud.Contributions([1, 1], 8e307),
    "the largest whole number that is a float": lambda: EXACT.surplus(2**1024 - 2**971),
    "wide staircase noise": lambda: call("clipped_mean", budget=beyond.StaircaseNoise(1e-306)),
    "staircase noise for nothing": lambda: call(
        "clipped_mean", total_width=0, centre=0, budget=beyond.StaircaseNoise(1)
    ),
    "an exact width and a float as centre": lambda: call(
        "centred_clipping", users=EXACT, total_width=Fraction(1, 3), centre=0.1
    ),
    "extreme budgets of thresholds": thresholds,
    "steep stairs": lambda: beyond.StaircaseNoise(1400).mean_error([0, 1e300]),
    "a sensitivity near the largest": lambda: GAUSS.mean_error(
        [0, 1e308], 2.0**1018 * (1 - 2**-53)
    ),
    "the privacy of Gaussian noise": privacy_of_gaussian_noise,
    "the widest noise": lambda: ud.noise_scale(_checks.LARGEST / 64, 1),
    "a release with a small budget": lambda: call("private_mean", budget="1e-9", centre=0),
    "a release in a wide range": lambda: call("private_mean", lower=-4e269, upper=4e269),
    "rows that are dropped": lambda: call(
        *PROTECTED_COUNTS, value=[NAN, 5, -4], missing="drop", outside="drop"
    ),
    "no rows": lambda: call(*PROTECTED_COUNTS, user=[], value=[]),
    "the weight of one row": lambda: result_of(*PROTECTED_COUNTS, "worst_case_error_at")(1),
    "bounds that are decimals": lambda: call("plan", lower=Decimal("-0.1"), upper=Decimal("1e1")),
    "a plan for large budgets": lambda: call("plan", eps=[1, 1401, 1e300]),
    "a plan for a narrow range": lambda: call("plan", counts=[1], upper=1e-279, eps="0.1"),
    "a plan for a range of eight bits": lambda: call(
        "plan", counts=[1], lower=2.0**52, upper=2.0**52 + 256
    ),
    "an error just below half the range": lambda: result_of("plan", "smallest_eps")(5 - 1e-9),
    "a level just below 1": lambda: result_of("private_mean", "interval")(1 - 1e-9),
    "a release of 10^15 samples": lambda: release.release_mean(
        [3], ud.Contributions([10**15], 65), 1, total_width=Fraction(1, 3)
    ),
}


def as_called(function, arguments):
    """A call as text, for a failure message: `laplace(eps=-1.0)`."""
    if isinstance(arguments, dict):
        texts = [f"{name}={brief(value)}" for name, value in arguments.items()]
    else:
        texts = [brief(value) for value in arguments]
    name = function if isinstance(function, str) else function.__qualname__
    return f"{name}({', '.join(texts)})"


def by_function(cases, index):
    """Group cases by the name of their function, method or helper, which is at this index."""
    cases_of = {}
    for case in cases:
        function = case[index]
        name = function if isinstance(function, str) else function.__qualname__
        cases_of.setdefault(name, []).append(case)
    return cases_of


REFUSALS = by_function([*CASES, *ALSO_REFUSED], index=3)
GOOD_CALLS = [(name, {}) for name in FUNCTIONS] + [
    (name, {argument: value})
    for argument, names, values in ACCEPTED
    for value in values
    for name in names
]


def fault_of_refusal(error, argument, words, function, arguments):
    """Describe what is wrong with a refusal; None if nothing is."""
    attempt = as_called(function, arguments)
    expected = f"a {error.__name__} about `{argument}` that says {words!r}"
    try:
        function(*arguments) if callable(function) else call(function, **arguments)
    except Exception as refusal:  # of any type: the next lines compare it
        actual = f"{type(refusal).__name__}: {refusal}"
        # The rule follows "must"; a message may name a second argument as well.
        rule = rf"(`user` and )?`{argument}[^`]*`( and `upper`)? must (?!(be )?None)"
        if type(refusal) is error and re.match(rule, str(refusal)) and words in str(refusal):
            return None
        return f"{attempt} should raise {expected}; it raises {actual}"
    return f"{attempt} should raise {expected}; it is accepted"


@pytest.mark.filterwarnings("ignore:.*protects little")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_good_calls_are_accepted_even_those_close_to_bad_ones(name):
    for _, changed in by_function(GOOD_CALLS, index=0)[name]:
        try:
            call(name, **changed)
        except Exception as error:
            sentence = f"{as_called(name, changed)} should be accepted; it raises {error!r}"
            raise AssertionError(sentence) from error


@pytest.mark.parametrize("name", REFUSALS)
def test_bad_calls_are_refused_with_argument_and_value(name):
    faults = [fault for case in REFUSALS[name] if (fault := fault_of_refusal(*case))]
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


def test_every_argument_has_a_row_of_refused_values():
    for name, function in FUNCTIONS.items():
        tried = {argument for *_, arguments in REFUSALS.get(name, []) for argument in arguments}
        untried = {*inspect.signature(function).parameters} - tried - {"data"}
        assert not untried, f"REFUSED needs a row for {sorted(untried)}, which {name} takes"


@pytest.mark.parametrize("attempt", ALSO_ACCEPTED.values(), ids=ALSO_ACCEPTED)
def test_extreme_but_valid_calls_are_accepted(attempt):
    attempt()


DRAW_TWICE = """
import test_bad_input as t

for name in t.functions_with("rng"):
    print(name, *(repr(t.call(name, rng=None)).replace("\\n", "") for _ in range(2)), sep="|")
"""


def test_without_a_seed_no_two_calls_are_alike():
    """Whether made by one process or by two, so that each process draws fresh entropy."""
    python = [sys.executable, "-W", "ignore", "-c", DRAW_TWICE]
    lines = []
    for _ in range(2):
        output = subprocess.check_output(python, text=True, cwd=Path(__file__).parent)
        lines.append(dict(line.split("|", 1) for line in output.splitlines()))
    assert set(lines[0]) == {*functions_with("rng")}
    for name in lines[0]:
        results = [result for process in lines for result in process[name].split("|")]
        assert len(set(results)) == 4, name


def test_arrays_are_copied_and_read_only():
    counts, lower = np.array([2, 1]), np.array([0.0, 1.0])
    users, clipping = ud.Contributions(counts, 10), ud.Clipping(lower, [5, 5])
    counts[0], lower[0] = 7, 3.0
    assert (users.counts[0], clipping.lower[0]) == (2, 0)
    for array in (users.counts, clipping.lower, clipping.upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        users.upper = 1
