"""Linear programs over all estimators, or all private mechanisms; they use no theorem."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix


def solve(cost, rows, limits, bounds, equal=None, targets=None):
    """Minimise `cost`; each row of a constraint is a dict from variables to coefficients."""
    matrices = [None if x is None else matrix(x, len(cost)) for x in (rows, equal)]
    result = linprog(cost, matrices[0], limits, matrices[1], targets, bounds=bounds, method="highs")
    assert result.success, result.message
    return result.fun


def matrix(rows, n):
    entries = [(i, j, x) for i, row in enumerate(rows) for j, x in row.items()]
    i, j, x = zip(*entries, strict=True)
    return coo_matrix((x, (i, j)), shape=(len(rows), n)).tocsr()


def neighbours(distances):
    return zip(*(indices.tolist() for indices in np.nonzero(distances == 1)), strict=True)


def least_error(values, distances, weight):
    """The least sup |f - g| + weight * sensitivity of g, over all functions g of datasets."""
    return _estimator(values, distances, weight, None)


def least_bias(values, distances, sensitivity):
    """The least sup |f - g| over all functions g with at most this sensitivity."""
    return _estimator(values, distances, 0.0, sensitivity)


def _estimator(values, distances, weight, max_sensitivity):
    n = len(values)
    bias, change = n, n + 1
    rows = [{i: sign, bias: -1.0} for i in range(n) for sign in (1.0, -1.0)]
    limits = [sign * value for value in values for sign in (1.0, -1.0)]
    rows += [{i: 1.0, j: -1.0, change: -1.0} for i, j in neighbours(distances)]
    limits += [0.0] * (len(rows) - len(limits))
    cost = np.zeros(n + 2)
    cost[[bias, change]] = 1, weight
    return solve(cost, rows, limits, [(None, None)] * n + [(0, None), (0, max_sensitivity)])


def least_vector_error(values, distances, weight):
    """As `least_error` for vectors f(D), of shape (n, G), with the l1 norm as distance."""
    n, g = values.shape
    column = lambda i, k: i * g + k  # noqa: E731
    bias, change, n_variables = n * g, n * g + 1, n * g + 2
    rows, limits, sums = [], [], []
    for i in range(n):  # slack variables bound each |g_k - f_k|
        slack = range(n_variables, n_variables + g)
        n_variables += g
        for k, s in enumerate(slack):
            for sign in (1.0, -1.0):
                rows.append({column(i, k): sign, s: -1.0})
                limits.append(sign * values[i, k])
        sums.append(dict.fromkeys(slack, 1.0) | {bias: -1.0})
    for i, j in neighbours(distances):
        if i < j:
            slack = range(n_variables, n_variables + g)
            n_variables += g
            for k, s in enumerate(slack):
                for sign in (1.0, -1.0):
                    rows.append({column(i, k): sign, column(j, k): -sign, s: -1.0})
                    limits.append(0.0)
            sums.append(dict.fromkeys(slack, 1.0) | {change: -1.0})
    cost = np.zeros(n_variables)
    cost[[bias, change]] = 1, weight
    free = [(None, None)] * (n * g) + [(0, None)] * (n_variables - n * g)
    return solve(cost, rows + sums, limits + [0.0] * len(sums), free)


def least_risk(values, steps, eps):
    """The least worst-case E|A(D) - f(D)| of all eps-DP mechanisms for the neighbours in `steps`.

    It suffices to consider values of f as outputs. Between two of them all errors are linear, so an
    output there can be rounded to either of them at random without raising any mean error.
    """
    outputs = np.unique(values)
    n, k = len(values), len(outputs)
    risk = n * k
    columns = np.arange(n * k).reshape(n, k)
    gaps = abs(np.subtract.outer(values, outputs))
    rows = [
        dict(zip(columns[i].tolist(), gaps[i].tolist(), strict=True)) | {risk: -1.0}
        for i in range(n)
    ]
    rows += [
        {int(columns[i, y]): 1.0, int(columns[j, y]): -np.exp(eps)}
        for i, j in neighbours(steps)
        for y in range(k)
    ]
    total = [dict.fromkeys(columns[i].tolist(), 1.0) for i in range(n)]
    cost = np.zeros(n * k + 1)
    cost[risk] = 1
    return solve(cost, rows, np.zeros(len(rows)), (0, None), total, np.ones(n))
