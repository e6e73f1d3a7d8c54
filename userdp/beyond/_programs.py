"""Linear programs for lower bounds: families of datasets, and multipliers that prove good bounds.

The datasets consist of the heaviest users, in groups of blocks, as `userdp.beyond.floor` describes.
That module proves the results independently.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations_with_replacement, islice, product
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from userdp._checks import Floats
from userdp.beyond.frontier import _single_user_risk

Integers = npt.NDArray[np.int64]

# The specification of a family, group by group: users per block, times eps; number of blocks; and
# number of equal cells into which the range of a block is divided. No cells means the two lattices
# of thm-lattice.
_Rule = tuple[tuple[float, int, int], ...]
_LATTICES = 0

# A rule for given users and a budget: users per block, blocks, and cells.
Shape = tuple[tuple[int, int, int], ...]

# Families for small, medium and large budgets. The bounds that they prove are within a few per cent
# of those from long random searches. For small budgets, the families have many users at the ends of
# their range; for large ones few users, also at levels in between.
_SMALL: list[_Rule] = [
    ((0, 1, 1), (0.75, 11, 1)),
    ((0.7, 2, 1), (0.75, 11, 1)),
    ((0.3, 1, 1), (0.9, 7, 1), (1.2, 2, 1)),
    ((1.25, 1, 1), (0.75, 3, 1), (1.25, 5, 1)),
    ((0.3, 1, 1), (0.4, 1, 1), (0.5, 1, 1), (0.65, 1, 1), (0.85, 1, 1)),
    ((0.3, 1, 1), (0.5, 1, 1), (0.75, 1, 1), (1.2, 1, 1), (2, 1, 1)),
    ((0.25, 1, 1), (0.25, 2, 1), (1, 1, 1), (1.25, 1, 1), (1.25, 1, 1)),
    ((0.6, 1, 1), (0.8, 1, 1), (1, 1, 1), (1.3, 1, 1), (2.2, 2, 1)),
]
_MEDIUM: list[_Rule] = [
    ((0, 1, _LATTICES), (0, 2, 1)),
    ((0, 1, 4), (0, 7, 1)),
    ((0, 1, 6), (0, 1, 1), (0, 2, 1)),
    ((0, 2, 1), (0.75, 11, 1)),
    ((0, 1, 1), (0, 2, 1), (0.4, 4, 1)),
    ((0, 1, 1), (0, 2, 1), (0.75, 7, 1)),
    ((0.3, 1, 1), (0.5, 1, 1), (0.75, 1, 1), (1.2, 1, 1), (2, 1, 1)),
    ((0.6, 1, 1), (0.8, 1, 1), (1, 1, 1), (1.3, 1, 1), (2.2, 2, 1)),
]
_LARGE: list[_Rule] = [
    ((0, 1, _LATTICES), (0, 2, 1)),
    ((0, 1, 4), (0, 7, 1)),
    ((0, 1, 8), (0, 4, 1)),
    ((0, 1, 6), (0, 1, 1), (0, 2, 1)),
    ((0, 1, 6), (0, 1, 2), (0, 1, 1)),
    ((0, 2, 4), (0, 2, 1)),
    ((0, 1, 3), (0, 1, 3), (0, 2, 1)),
    ((0, 1, 1), (0, 2, 2), (0, 3, 1)),
    ((0, 1, 2), (0, 1, 1), (0, 1, 1), (0, 3, 1)),
]
_RULES_UP_TO = ((0.35, _SMALL), (1.4, _MEDIUM), (float("inf"), _LARGE))

# Levels are multiples of 1/PARTS of a sample, so that up to ten cells divide a range exactly.
PARTS = 2520

# A program for more datasets takes longer than a few tenths of a second.
_MAX_DATASETS = 48

# A block of k > 1 users is used only if k eps is at most this: solvers lose digits if probabilities
# may change by larger factors than e^4.
_LARGEST_EXPONENT = 4

# Maximum number of users per block, however small the budget.
_LARGEST_BLOCK = 10_000

# Weights are rounded to multiples of 2^-40, and loads to multiples of 2^-30 times the range.
_WEIGHT_BITS, _LOAD_BITS = 40, 30

# A dataset: for each group, the number of blocks at each level.
Dataset = tuple[tuple[int, ...], ...]


class Group(NamedTuple):
    """Users per block, number of blocks, and the levels."""

    block_size: int
    n_blocks: int
    levels: tuple[int, ...]


class SolvedProgram(NamedTuple):
    """The optimum of a family's program, in samples at U, and its multipliers as whole numbers."""

    optimum: float
    groups: tuple[Group, ...]
    datasets: tuple[Dataset, ...]
    weights: tuple[int, ...]
    load_unit: int
    loads: tuple[tuple[int, int, int, int], ...]


def solve_all(heaviest: Iterator[int], n_users: int, eps: float) -> Iterator[SolvedProgram]:
    """Solve the programs of a fixed list of families of users, given heaviest first."""
    rules = next(rules for largest_eps, rules in _RULES_UP_TO if eps <= largest_eps)
    shapes = {_fit_rule(rule, n_users, eps) for rule in rules}
    n_members = max(sum(size * n_blocks for size, n_blocks, _ in shape) for shape in shapes)
    counts = [*islice(heaviest, n_members)]
    for shape in sorted(shapes):
        groups = _deal_users(shape, counts, eps)
        n_datasets = prod(
            comb(group.n_blocks + len(group.levels) - 1, group.n_blocks) for group in groups
        )
        largest = max(group.block_size for group in groups)
        if n_datasets <= _MAX_DATASETS and (largest == 1 or largest * eps <= _LARGEST_EXPONENT):
            yield from _solve(groups, eps)


def solve_one(heaviest: Iterator[int], shape: Shape, eps: float) -> Iterator[SolvedProgram]:
    """Solve the program of one family of users, given heaviest first."""
    counts = [*islice(heaviest, sum(size * n_blocks for size, n_blocks, _ in shape))]
    return _solve(_deal_users(shape, counts, eps), eps)


def _fit_rule(rule: _Rule, n_users: int, eps: float) -> Shape:
    """Return users per block, blocks and cells, for at most `n_users` users in total."""
    shape = []
    remaining = n_users
    for exponent, most_blocks, cells in rule:
        if remaining:
            n_blocks = min(most_blocks, remaining)
            size = min(max(1, round(exponent / eps)), remaining // n_blocks, _LARGEST_BLOCK)
            shape.append((size, n_blocks, cells))
            remaining -= size * n_blocks
    return tuple(shape)


def _deal_users(shape: Shape, counts: Sequence[int], eps: float) -> tuple[Group, ...]:
    """Deal users to the groups of a family, with levels that the lightest block can reach."""
    groups = []
    first = 0
    for size, n_blocks, cells in shape:
        members = counts[first : first + size * n_blocks]
        first += size * n_blocks
        top = min(sum(members[block::n_blocks]) for block in range(n_blocks)) * PARTS
        if cells == _LATTICES:
            step = float(_single_user_risk(np.array([size * eps]))[0])
            lattice = [round(n * step * top) for n in range(int(1 / step) + 1)]
            levels = sorted({*lattice, *(top - level for level in lattice)})
        else:
            levels = [top * n // cells for n in range(cells + 1)]
        groups.append(Group(size, n_blocks, tuple(levels)))
    return tuple(groups)


def _arrangements(group: Group) -> list[tuple[int, ...]]:
    """Return all arrangements of the blocks of a group at its levels."""
    numbers = range(len(group.levels))
    choices = combinations_with_replacement(numbers, group.n_blocks)
    return [tuple(choice.count(number) for number in numbers) for choice in choices]


def _moves(groups: Sequence[Group], datasets: Sequence[Dataset]) -> list[tuple[int, int, int]]:
    """Return pairs of datasets that differ in one block's level, and the number of its users."""
    index = {dataset: c for c, dataset in enumerate(datasets)}
    moves = []
    for c, dataset in enumerate(datasets):
        for g, (group, arrangement) in enumerate(zip(groups, dataset, strict=True)):
            for start, end in product(range(len(arrangement)), repeat=2):
                if start != end and arrangement[start]:
                    changed = list(arrangement)
                    changed[start] -= 1
                    changed[end] += 1
                    target = (*dataset[:g], tuple(changed), *dataset[g + 1 :])
                    moves.append((c, index[target], group.block_size))
    return moves


class _Family(NamedTuple):
    """All datasets of some groups, and their mirror images under x -> U - x for every sample.

    The outputs are the distinct means.
    """

    groups: tuple[Group, ...]
    datasets: list[Dataset]
    means: list[int]
    outputs: list[int]
    moves: list[tuple[int, int, int]]
    mirror: Integers
    mirror_move: Integers


def _family(groups: tuple[Group, ...]) -> _Family:
    datasets = [*product(*map(_arrangements, groups))]
    levels = [level for group in groups for level in group.levels]
    means = [
        sum(n * level for n, level in zip(chain(*dataset), levels, strict=True))
        for dataset in datasets
    ]
    index = {dataset: c for c, dataset in enumerate(datasets)}
    mirror = [index[tuple(arrangement[::-1] for arrangement in dataset)] for dataset in datasets]
    moves = _moves(groups, datasets)
    order = {(c, d): move for move, (c, d, _) in enumerate(moves)}
    mirror_move = [order[mirror[c], mirror[d]] for c, d, _ in moves]
    outputs = sorted({*means})
    return _Family(groups, datasets, means, outputs, moves, np.array(mirror), np.array(mirror_move))


def _solve(groups: tuple[Group, ...], eps: float) -> Iterator[SolvedProgram]:
    """Solve the program of a family, or yield nothing if the solver fails.

    The program minimises the largest mean distance between output and mean. Its variables are the
    probabilities p_c(y) of the outputs y on the datasets c, which change by factors of at most
    e^(k eps) if the data of a block of k users change. Because of the symmetry, mirror images can
    have equal probabilities, and one of two mirrored constraints is enough, which halves the
    program.
    """
    from scipy import optimize, sparse  # slow to import: loaded on first use

    family = _family(groups)
    n, n_outputs, width = len(family.datasets), len(family.outputs), family.outputs[-1]
    column = np.arange(n * n_outputs).reshape(n, n_outputs)
    column = np.minimum(column, column[family.mirror][:, ::-1])
    column = np.unique(column, return_inverse=True)[1].reshape(n, n_outputs)
    risk = column.max() + 1
    chosen = np.flatnonzero(np.arange(n) <= family.mirror)
    chosen_moves = np.flatnonzero(np.arange(len(family.moves)) <= family.mirror_move)

    def block(n_rows: int, *parts: tuple[npt.ArrayLike, ...]) -> Any:
        """Return a sparse block from values, rows and columns."""
        entries = [np.broadcast_arrays(*part) for part in parts]
        values, rows, columns = (
            np.concatenate([entry[axis].ravel() for entry in entries]) for axis in range(3)
        )
        return sparse.csr_array((values, (rows, columns)), shape=(n_rows, risk + 1))

    # p_c(y) - e^(k eps) p_d(y) <= 0
    start, end, size = np.array(family.moves)[chosen_moves].T
    row = np.arange(start.size * n_outputs).reshape(-1, n_outputs)
    factors = np.exp(size * eps)[:, None]
    privacy = block(row.size, (1.0, row, column[start]), (-factors, row, column[end]))
    # sum_y p_c(y) |f_c - y| - R <= 0, and sum_y p_c(y) = 1
    row = np.arange(chosen.size)[:, None]
    distances = [[abs(family.means[c] - y) / width for y in family.outputs] for c in chosen]
    risks = block(chosen.size, (distances, row, column[chosen]), (-1.0, row, risk))
    sums = block(chosen.size, (1.0, row, column[chosen]))
    result = optimize.linprog(
        c=np.append(np.zeros(risk), 1.0),
        A_ub=sparse.vstack([privacy, risks]),
        b_ub=np.zeros(privacy.shape[0] + chosen.size),
        A_eq=sums,
        b_eq=np.ones(chosen.size),
        method="highs-ipm",
        options={"maxiter": 100_000},
    )
    if result.x is None:
        return
    multipliers = np.maximum(-result.ineqlin.marginals, 0)
    loads = np.zeros((len(family.moves), n_outputs))
    loads[chosen_moves] = multipliers[: privacy.shape[0]].reshape(-1, n_outputs)
    weights = np.zeros(n)
    weights[chosen] = multipliers[privacy.shape[0] :]
    yield _round_multipliers(family, result.fun * width / PARTS, weights, loads)


def _round_multipliers(
    family: _Family, optimum: float, weights: Floats, loads: Floats
) -> SolvedProgram:
    """Average multipliers over mirror images, and round them to whole numbers."""
    loads = (loads + loads[family.mirror_move][:, ::-1]) / 2
    weights = (weights + weights[family.mirror]) / 2
    rounded = np.rint(loads * 2.0**_LOAD_BITS).astype(np.int64)
    return SolvedProgram(
        optimum=optimum,
        groups=family.groups,
        datasets=tuple(family.datasets),
        weights=tuple(np.rint(weights * 2.0**_WEIGHT_BITS).astype(np.int64).tolist()),
        load_unit=family.outputs[-1] << (_WEIGHT_BITS - _LOAD_BITS),
        loads=tuple(
            (*family.moves[move][:2], int(y), int(rounded[move, y]))
            for move, y in zip(*np.nonzero(rounded), strict=True)
        ),
    )
