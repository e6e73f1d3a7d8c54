"""Statements of the page on the variance that go beyond the functions of `userdp.beyond`."""

from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest
from oracle import modulus_at

import userdp as ud
from userdp import beyond


def squares_about_the_mean(samples):
    """Sum of squares about the mean; 0 if there are no samples."""
    return float(np.var(samples) * len(samples)) if samples else 0.0


def extension(data, total, sensitivity):
    """F of the proposition on the standard deviation, minimised over all sets of replaced users."""
    return min(
        sqrt(squares_about_the_mean([x for k in subset for x in data[k]]) / total)
        + (len(data) - len(subset)) * sensitivity
        for size in range(len(data) + 1)
        for subset in combinations(range(len(data)), size)
    )


@pytest.mark.parametrize("counts", [[1, 1], [2, 1], [1, 1, 1], [2, 1, 1], [1, 1, 1, 1]])
def test_the_extension_has_the_bias_and_sensitivity_of_the_modulus(counts):
    """For the standard deviation, over all datasets with samples 0, 1 and 2."""
    users = ud.Contributions(counts, upper=2)
    kinds = [[*product((0, 1, 2), repeat=count)] for count in counts]
    datasets, shape = [*product(*kinds)], [len(kind) for kind in kinds]
    deviation = np.array([np.std(sum(data, ())) for data in datasets])
    modulus = beyond.Modulus(np.sqrt(np.array(beyond.modulus_of_variance(users).values)))
    table = deviation.reshape(shape)
    changes = [modulus_at(table, n) for n in range(len(counts) + 1)]
    np.testing.assert_allclose(changes, np.array(modulus.values), atol=1e-12)
    for sensitivity in (0, 0.1, 0.3, 0.6, 1.2):
        estimates = np.array([extension(data, users.total, sensitivity) for data in datasets])
        assert modulus_at(estimates.reshape(shape), 1) <= sensitivity + 1e-12
        assert (deviation - estimates).min() >= -1e-12
        twice_the_bias = 2 * modulus.smallest_bias(sensitivity)
        np.testing.assert_allclose((deviation - estimates).max(), twice_the_bias, atol=1e-12)


def test_the_extension_agrees_with_its_formula_on_a_grid_of_centres():
    """At the best centre, the replaced users are those with the largest sums of squares."""
    rng = np.random.default_rng(20261126)
    for _ in range(20):
        counts = rng.integers(1, 4, size=rng.integers(1, 5))
        data, sensitivity = [rng.uniform(0, 1, m) for m in counts], rng.uniform(0, 0.3)
        centres = np.linspace(0, 1, 4001)
        Q = np.array([((x[:, None] - centres) ** 2).sum(axis=0) for x in data])
        partial_sums = np.r_[np.zeros((1, centres.size)), np.cumsum(np.sort(Q, axis=0), axis=0)]
        n = np.arange(len(data), -1, -1)[:, None]
        value = (np.sqrt(partial_sums / counts.sum()) + n * sensitivity).min()
        np.testing.assert_allclose(
            value, extension([list(x) for x in data], counts.sum(), sensitivity), atol=1e-3
        )
