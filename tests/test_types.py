"""Types of results: those that a type checker infers, and those that functions return.

`make types` also runs mypy on this file, and fails if mypy infers another type than a test asserts.
"""

from fractions import Fraction
from typing import assert_type

import pytest

import userdp as ud
from userdp import beyond

FLOATS = ud.Contributions([4, 2, 1], upper=65)
EXACT = ud.Contributions([4, 2, 1], upper=Fraction(65))
MEAN, EXACT_MEAN = beyond.modulus_of_mean(FLOATS), beyond.modulus_of_mean(EXACT)
GROUPS = [[4, 1], [2, 1], [0, 1]]
HALF = beyond.centred_clipping(EXACT, Fraction(100))


def test_users_know_the_type_of_their_bound() -> None:
    assert_type(FLOATS, ud.Contributions[float])
    assert_type(EXACT, ud.Contributions[Fraction])
    assert_type(ud.geometric_collection(2, 65), ud.Contributions[float])
    assert_type(ud.geometric_collection(2, Fraction(65)), ud.Contributions[Fraction])
    assert_type(ud.extreme_collection(2, 9, 65), ud.Contributions[float])
    assert_type(ud.extreme_collection(2, 9, Fraction(65)), ud.Contributions[Fraction])
    assert type(assert_type(FLOATS.upper, float)) is float
    assert type(assert_type(EXACT.upper, Fraction)) is Fraction


def test_moduli_know_the_type_of_their_values() -> None:
    assert_type(MEAN, beyond.Modulus[float])
    assert_type(EXACT_MEAN, beyond.Modulus[Fraction])
    assert_type(beyond.modulus_of_variance(EXACT), beyond.Modulus[Fraction])
    assert_type(beyond.Modulus([0, Fraction(1, 3)]), beyond.Modulus[Fraction])
    assert_type(beyond.Modulus([0, 1, 2]), beyond.Modulus[Fraction])
    rounded = [
        assert_type(beyond.Modulus([0, 0.5]), beyond.Modulus[float]),
        assert_type(beyond.modulus_of_weighted_mean([1, -2], 65), beyond.Modulus[float]),
        assert_type(beyond.modulus_of_variance(FLOATS), beyond.Modulus[float]),
        assert_type(beyond.modulus_of_protected_mean(2, 5, 65.0), beyond.Modulus[float]),
        assert_type(beyond.modulus_of_several_means(GROUPS, 65), beyond.Modulus[float]),
    ]
    U = Fraction(65)
    exact = [
        assert_type(beyond.modulus_of_weighted_mean([1, -2], U), beyond.Modulus[Fraction]),
        assert_type(beyond.modulus_of_protected_mean(2, 5, U), beyond.Modulus[Fraction]),
        assert_type(beyond.modulus_of_several_means(GROUPS, U), beyond.Modulus[Fraction]),
        EXACT_MEAN,
        beyond.modulus_of_variance(EXACT),
        beyond.Modulus([0, Fraction(1, 3)]),
        beyond.Modulus([0, 1, 2]),
    ]
    for moduli, kind in ((rounded, float), (exact, Fraction)):
        for modulus in moduli:
            assert {type(value) for value in modulus.values.tolist()} == {kind}
            assert type(modulus(1)) is type(modulus.optimal_error(1)) is kind
            assert {type(value) for _, value in modulus.vertices} == {kind}


def test_a_float_bound_gives_floats() -> None:
    printed = ud.printed_solution(FLOATS, 1)
    results = [
        assert_type(ud.threshold(FLOATS, 1), float),
        assert_type(ud.threshold(FLOATS, 0.1), float),
        assert_type(beyond.threshold(FLOATS, 1, "mse"), float),
        assert_type(ud.optimal_error(FLOATS, 1), float),
        assert_type(beyond.optimal_error(FLOATS, 1, "l1"), float),
        assert_type(beyond.optimal_error(FLOATS, beyond.GaussianNoise(1)), float),
        assert_type(ud.symmetric_error(FLOATS, Fraction(65), 1), float),
        assert_type(beyond.projected_error(FLOATS, 65, 1), float),
        assert_type(ud.sensitivity(FLOATS), float),
        assert_type(ud.sensitivity(FLOATS, HALF), float),
        assert_type(ud.worst_case_bias(FLOATS, HALF), float),
        assert_type(ud.printed_bias(FLOATS, HALF), float),
        assert_type(ud.worst_case_error(FLOATS, HALF, Fraction(1)), float),
        assert_type(beyond.weighted_worst_case_error(FLOATS, [2, 1, 1], 1), float),
        assert_type(beyond.modulus_of_mean(FLOATS).smallest_bias(Fraction(1)), float),
        assert_type(beyond.minimax_lower_bound(FLOATS, 1), float),
        assert_type(MEAN.optimal_error(1), float),
        assert_type(MEAN.optimal_sensitivity(beyond.GaussianNoise(1)), float),
        assert_type(MEAN.smallest_bias(Fraction(1)), float),
        assert_type(MEAN.majorant(Fraction(1)), float),
        assert_type(MEAN(1), float),
        assert_type(EXACT_MEAN.lower_bound(1), float),
        assert_type(EXACT_MEAN.optimality_factor(1), float),
        assert_type(beyond.factor_of_every_statistic(1), float),
        assert_type(beyond.variance_cap(FLOATS, 0.3), float),
        assert_type(beyond.influence_threshold(GROUPS, 65, 4), float),
        assert_type(beyond.error_of_several_means(GROUPS, 65, 4), float),
        assert_type(beyond.error_of_divided_budget(GROUPS, 65, 4), float),
        assert_type(beyond.ball_threshold(FLOATS, 1, 2), float),
        assert_type(beyond.ball_threshold(FLOATS, 0.1, 2), float),
        assert_type(beyond.ball_error(FLOATS, 1, 2), float),
        assert_type(ud.optimal_solution(FLOATS, 1).total_width, float),
        assert_type(ud.optimal_solution(FLOATS, 1).lambda_width, float),
        assert_type(printed.total_width, float),
        assert_type(printed.lambda_width, float),
        assert_type(ud.kkt.solve_lp(EXACT, 1).total_width, float),
        assert_type(beyond.GaussianNoise(1).mean_abs, float),
        assert_type(beyond.StaircaseNoise(1).mean_abs, float),
    ]
    assert {type(result) for result in results} == {float}


def test_a_fraction_bound_gives_fractions() -> None:
    printed = ud.printed_solution(EXACT, 1)
    results = [
        assert_type(ud.threshold(EXACT, 1), Fraction),
        assert_type(ud.threshold(EXACT, 0.1), Fraction),
        assert_type(beyond.threshold(EXACT, 1, "mse"), Fraction),
        assert_type(ud.optimal_error(EXACT, 1), Fraction),
        assert_type(beyond.optimal_error(EXACT, beyond.GaussianNoise(1)), Fraction),
        assert_type(ud.sensitivity(EXACT), Fraction),
        assert_type(beyond.ball_threshold(EXACT, 1, 2), Fraction),
        assert_type(beyond.ball_threshold(EXACT, 0.1, 2), Fraction),
        assert_type(beyond.ball_error(EXACT, beyond.GaussianNoise(1), 2), Fraction),
        assert_type(ud.sum_of_largest(FLOATS, 2), Fraction),
        assert_type(EXACT_MEAN.optimal_error(1), Fraction),
        assert_type(EXACT_MEAN.optimal_error(beyond.GaussianNoise(1)), Fraction),
        assert_type(EXACT_MEAN.optimal_sensitivity(0.3), Fraction),
        assert_type(EXACT_MEAN(1), Fraction),
        assert_type(beyond.variance_cap(EXACT, beyond.StaircaseNoise(1)), Fraction),
        assert_type(beyond.variance_cap(EXACT, 0.3), Fraction),
        assert_type(beyond.influence_threshold(GROUPS, Fraction(65), 4), Fraction),
        assert_type(beyond.influence_threshold(GROUPS, Fraction(65), 0.1), Fraction),
        assert_type(beyond.error_of_several_means(GROUPS, Fraction(65), 4), Fraction),
        assert_type(beyond.error_of_divided_budget(GROUPS, Fraction(65), 4), Fraction),
        assert_type(ud.optimal_solution(EXACT, 1).total_width, Fraction),
        assert_type(ud.optimal_solution(EXACT, 1).lambda_width, Fraction),
        assert_type(printed.total_width, Fraction),
        assert_type(printed.lambda_width, Fraction),
        assert_type(beyond.LaplaceNoise(1).mean_abs, Fraction),
        assert_type(beyond.LaplaceNoise(1).scale, Fraction),
    ]
    assert {type(result) for result in results} == {Fraction}


def test_a_fraction_bound_gives_either_type_if_another_argument_may_be_rounded() -> None:
    wide = ud.Clipping([0.0, 0, 0], [65.0, 65, 65])
    results = {
        "objective": [
            assert_type(beyond.optimal_error(EXACT, 1, "mse"), Fraction | float),
            assert_type(beyond.optimal_error(EXACT, 1, "l1"), Fraction | float),
        ],
        "noise": [
            assert_type(ud.symmetric_error(EXACT, 65, 1), Fraction | float),
            assert_type(
                beyond.symmetric_error(EXACT, 65, beyond.StaircaseNoise(1)), Fraction | float
            ),
        ],
        "law": [
            assert_type(ud.worst_case_error(EXACT, HALF, 1), Fraction | float),
            assert_type(
                beyond.worst_case_error(EXACT, HALF, beyond.GaussianNoise(1)), Fraction | float
            ),
        ],
        "clipping": [
            assert_type(ud.sensitivity(EXACT, HALF), Fraction | float),
            assert_type(ud.sensitivity(EXACT, wide), Fraction | float),
        ],
        "clipping and bias": [
            assert_type(ud.worst_case_bias(EXACT, HALF), Fraction | float),
            assert_type(ud.worst_case_bias(EXACT, wide), Fraction | float),
        ],
        "clipping and printed bias": [
            assert_type(ud.printed_bias(EXACT, HALF), Fraction | float),
            assert_type(ud.printed_bias(EXACT, wide), Fraction | float),
        ],
        "law and weights": [
            assert_type(beyond.weighted_worst_case_error(EXACT, [2, 1, 1], 1), Fraction | float),
            assert_type(
                beyond.weighted_worst_case_error(EXACT, [2, 1, 1], 1, "l1"), Fraction | float
            ),
        ],
        "given sensitivity": [
            assert_type(beyond.modulus_of_mean(EXACT).smallest_bias(1), Fraction | float),
            assert_type(beyond.modulus_of_mean(EXACT).smallest_bias(1.5), Fraction | float),
        ],
        "sensitivity given to a modulus": [
            assert_type(EXACT_MEAN.smallest_bias(1), Fraction | float),
            assert_type(EXACT_MEAN.smallest_bias(1.5), Fraction | float),
        ],
        "place on a modulus": [
            assert_type(EXACT_MEAN.majorant(Fraction(1, 3)), Fraction | float),
            assert_type(EXACT_MEAN.majorant(1.5), Fraction | float),
        ],
    }
    for what, (exact, rounded) in results.items():
        assert type(exact) is Fraction, what
        assert type(rounded) is float, what


@pytest.mark.parametrize("upper", [65, Fraction(65)], ids=["float", "fraction"])
def test_a_bound_of_either_type_gives_either_type(upper: float | Fraction) -> None:
    users: ud.Contributions = ud.Contributions([4, 2, 1], upper)
    width = ud.threshold(users, 1)
    assert_type(users.upper, float | Fraction)
    assert_type(width, float | Fraction)
    assert type(width) is type(users.upper)
