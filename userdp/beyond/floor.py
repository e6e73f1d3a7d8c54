"""Lower bounds on the largest mean absolute error of private mechanisms, with their proofs.

A certificate holds a few datasets of the heaviest users and the multipliers of a linear program.
Any multipliers prove a valid bound, in exact arithmetic: thm-certificate of the book. Neighbouring
datasets may differ in all samples of one user; the counts, the bound on samples and eps are public.
Nothing here reads protected data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, groupby, islice, pairwise, repeat
from math import ceil, exp, floor, isqrt
from typing import Any

import numpy as np

from userdp import _checks as check
from userdp._search import NotFoundError
from userdp.beyond import _programs
from userdp.model import Contributions, Epsilon, read_eps

# Above these budgets, respectively, no linear program is solved, thm-lattice is not used, and the
# bound is 0.
_LARGEST_EPS_OF_PROGRAMS, _LARGEST_EPS_OF_LATTICES, _LARGEST_EPS = 5, 12, 64

# `check` accepts no larger d eps, because the exponential series would take too long.
_LARGEST_EXPONENT = 1000

_LARGEST_FACTOR = exp(_LARGEST_EPS_OF_LATTICES + 1)


@dataclass(frozen=True)
class UserGroup:
    """Users who take part in the datasets of a certificate, in blocks of equal size.

    The users are dealt to the blocks like cards, the heaviest first. All samples of a block are
    equal, and they add up to one of the levels.

    Attributes
    ----------
    block_size : int
        Number of users per block.
    n_blocks : int
        Number of blocks.
    levels : tuple of int
        Possible sums of the samples of a block, in the certificate's unit: 0 first, then ascending.
    """

    block_size: int
    n_blocks: int
    levels: tuple[int, ...]


@dataclass(frozen=True)
class FloorCertificate:
    """A lower bound, and its proof.

    Every user-level eps-DP mechanism (neighbours may differ in all samples of one user; counts,
    bound on samples and eps are public) has a worst-case mean absolute error of at least `bound`.
    `check` proves this from the other attributes.

    Attributes
    ----------
    counts : tuple of (int, int)
        The distinct counts, the largest first, and the number of users with each.
    upper : Fraction
        The bound U on samples, in their unit.
    eps : Fraction
        The privacy budget (dimensionless).
    bound : Fraction
        The lower bound, in the unit of the samples.
    source : {"chain", "lattice", "datasets"}
        How it is proved: by thm-chain, or by thm-lattice and lem-one-user, each for the `n_users`
        heaviest users, as in `minimax_lower_bound`; or by datasets and multipliers, with
        thm-certificate.
    n_users : int
        Number of the heaviest users who take part.
    factors : tuple of (int, Fraction)
        For numbers of users d, a rational number of at least e^(d eps).
    unit : int
        Levels are multiples of U / `unit`.
    groups : tuple of UserGroup
        Each group takes the heaviest of the users who are not in the groups before it.
    datasets : tuple of tuple of tuple of int
        For each dataset and each group, the number of blocks at each level. The samples of users
        who are in no group are 0.
    weights : tuple of int
        The multiplier pi_c of the error of each dataset c.
    load_unit : int
        Loads are multiples of it.
    loads : tuple of (int, int, int, int)
        The indices of two datasets c and d; the index of a mean y among the distinct ones,
        ascending; and the multiplier lambda_cd(y) of the constraint that y is at most the factor
        times as probable at c as at d. Loads that are not listed are 0.
    """

    counts: tuple[tuple[int, int], ...]
    upper: Fraction
    eps: Fraction
    bound: Fraction
    source: str
    n_users: int
    factors: tuple[tuple[int, Fraction], ...] = ()
    unit: int = 1
    groups: tuple[UserGroup, ...] = ()
    datasets: tuple[_programs.Dataset, ...] = ()
    weights: tuple[int, ...] = ()
    load_unit: int = 1
    loads: tuple[tuple[int, int, int, int], ...] = ()

    @property
    def users(self) -> Contributions:
        """The public counts and bound to which the lower bound applies."""
        return Contributions([*self._heaviest()], self.upper)

    def check(self) -> Fraction:
        """Prove the bound again, in exact arithmetic, from the contents of the certificate.

        Counts and datasets show that the datasets are possible, and in how many users two of them
        differ; partial sums of the exponential series show that the factors are large enough. No
        solver is involved.

        Returns
        -------
        Fraction
            The bound.

        Raises
        ------
        ValueError
            If the certificate does not prove its bound.
        """
        for number in self._whole_numbers():
            _require(type(number) is int and number >= 0, "hold whole numbers of at least 0")
        counts = [count for count, _ in self.counts]
        ordered = sorted({*counts} - {0}, reverse=True)
        _require(counts == ordered, "list different positive counts, the largest first")
        fractions = (self.upper, self.eps, self.bound, *(factor for _, factor in self.factors))
        _require(
            {type(number) for number in fractions} == {Fraction},
            "be exact: bound, range, budget, factors",
        )
        _require(self.upper > 0 and self.eps > 0, "have a positive bound on samples and budget")
        for n_differing, factor in self.factors:
            _require(
                n_differing * self.eps <= _LARGEST_EXPONENT,
                f"have d eps at most {_LARGEST_EXPONENT}",
            )
            least_factor = _exp_above(n_differing * self.eps)
            _require(factor >= least_factor, "have factors of at least e^(d eps)")
        proved_bound = self._evaluate()
        _require(proved_bound == self.bound, "prove exactly its bound")
        return proved_bound

    def _evaluate(self) -> Fraction:
        """Return the bound that is proved, provided that the numbers and factors are valid."""
        bounds = {
            "chain": self._chain_bound,
            "lattice": self._lattice_bound,
            "datasets": self._datasets_bound,
        }
        _require(self.source in bounds, f"have one of the sources {', '.join(bounds)}")
        total = sum(count * n_users for count, n_users in self.counts)
        _require(total > 0, "have users")
        return bounds[self.source]() * self.upper / total

    def _datasets_bound(self) -> Fraction:
        """Return the bound of thm-certificate, in samples at U."""
        means = self._means()
        outputs = sorted({*means})
        factors = dict(self.factors)
        costs = [
            [Fraction(weight * abs(mean - output)) for output in outputs]
            for mean, weight in zip(means, self.weights, strict=True)
        ]
        for c, d, y, load in self.loads:
            _require(
                max(c, d) < len(means) and y < len(outputs),
                "have loads on its own datasets and means",
            )
            n_differing = self._n_differing(c, d)
            _require(n_differing in factors, f"have a factor for {_users(n_differing)}")
            costs[c][y] += self.load_unit * load
            costs[d][y] -= self.load_unit * load * factors[n_differing]
        _require(
            sum(self.weights) > 0 and self.unit > 0, "have a positive weight and a positive unit"
        )
        return sum(map(min, costs), Fraction(0)) / (sum(self.weights) * self.unit)

    def _n_differing(self, c: int, d: int) -> int:
        """Return in how many users two datasets differ, up to the order of a group's blocks."""
        n_users = 0
        for group, at_c, at_d in zip(self.groups, self.datasets[c], self.datasets[d], strict=True):
            n_users += group.block_size * (group.n_blocks - sum(map(min, at_c, at_d)))
        return n_users

    def _means(self) -> list[int]:
        """Return N times the datasets' means, in units; raise if a dataset is impossible."""
        heaviest = self._heaviest()
        for group in self.groups:
            counts = [*islice(heaviest, group.block_size * group.n_blocks)]
            _require(
                len(counts) == group.block_size * group.n_blocks > 0,
                "have enough users for its groups",
            )
            lightest = min(sum(counts[block :: group.n_blocks]) for block in range(group.n_blocks))
            _require(group.levels[:1] == (0,), "have levels that begin with 0")
            _require(
                all(low < high for low, high in pairwise(group.levels)), "have increasing levels"
            )
            _require(
                group.levels[-1] <= self.unit * lightest, "have levels that all blocks can reach"
            )
        n_members = sum(group.block_size * group.n_blocks for group in self.groups)
        _require(n_members == self.n_users, f"have n_users = {n_members}, as its groups do")
        for dataset in self.datasets:
            _require(len(dataset) == len(self.groups), "list each group in each dataset")
            for group, arrangement in zip(self.groups, dataset, strict=True):
                _require(
                    len(arrangement) == len(group.levels),
                    "state the number of blocks at each level",
                )
                _require(
                    sum(arrangement) == group.n_blocks, "place each block at exactly one level"
                )
        _require(len(self.datasets) == len(self.weights), "have one weight per dataset")
        levels = [*chain(*(group.levels for group in self.groups))]
        return [
            sum(n * level for n, level in zip(chain(*dataset), levels, strict=True))
            for dataset in self.datasets
        ]

    def _heaviest(self) -> Iterator[int]:
        """Iterate over the counts of the users, the largest first."""
        return chain.from_iterable(repeat(count, n_users) for count, n_users in self.counts)

    def _n_samples(self) -> int:
        """Return the number of samples of the users of a chain or a lattice."""
        counts = [*islice(self._heaviest(), self.n_users)]
        _require(len(counts) == self.n_users, "have at least as many users as take part")
        return sum(counts)

    def _chain_bound(self) -> Fraction:
        """Return the bound of thm-chain, in samples at U. Its denominator grows with the factor."""
        if not self.n_users:
            return Fraction(0)
        q = dict(self.factors).get(1, Fraction(0))
        _require(q > 0, "have a positive factor for 1 user")
        cosh, sinh = (q + 1 / q) / 2, (q - 1 / q) / 2
        return self._n_samples() / (1 + cosh + self.n_users * sinh)

    def _lattice_bound(self) -> Fraction:
        """Return the bound of thm-lattice with the budget of all users, in samples at U."""
        q = dict(self.factors).get(self.n_users, Fraction(0))
        _require(q > 1, f"have a factor above 1 for {_users(self.n_users)}")
        # Larger factors would take too long: evaluating the bound takes about sqrt(q) steps.
        _require(q < _LARGEST_FACTOR, "have a factor below e^13 for a lattice")
        return self._n_samples() * _single_user_risk(q)

    def _whole_numbers(self) -> Iterator[Any]:
        groups = [(group.block_size, group.n_blocks, *group.levels) for group in self.groups]
        datasets = chain(*self.datasets)
        scalars = (self.n_users, self.unit, self.load_unit, *(n for n, _ in self.factors))
        return chain(scalars, self.weights, *self.counts, *groups, *datasets, *self.loads)

    def to_json(self) -> str:
        """Return the certificate as text: numbers are strings of whole numbers or fractions.

        Returns
        -------
        str
            One JSON object.
        """
        fields = {
            "counts": [_row(pair) for pair in self.counts],
            "upper": str(self.upper),
            "eps": str(self.eps),
            "bound": str(self.bound),
            "source": self.source,
            "n_users": str(self.n_users),
            "factors": [_row(pair) for pair in self.factors],
            "unit": str(self.unit),
            "groups": [_row((g.block_size, g.n_blocks, *g.levels)) for g in self.groups],
            "datasets": [" | ".join(map(_row, dataset)) for dataset in self.datasets],
            "weights": _row(self.weights),
            "load_unit": str(self.load_unit),
            # The datasets c and d, then pairs of y and the load.
            "loads": [
                _row((*pair, *chain(*(row[2:] for row in rows))))
                for pair, rows in groupby(self.loads, lambda row: row[:2])
            ],
        }
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> FloorCertificate:
        """Read the output of `to_json`. Nothing is proved until `check` is called.

        Parameters
        ----------
        text : str
            One JSON object.

        Returns
        -------
        FloorCertificate

        Raises
        ------
        ValueError
            If the text is not a certificate.
        """
        try:
            fields = json.loads(text)
            loads = []
            for row in fields["loads"]:
                c, d, *rest = _read_row(row)
                loads += [(c, d, *pair) for pair in zip(rest[::2], rest[1::2], strict=True)]
            factors = [row.split() for row in fields["factors"]]
            groups = [_read_row(row) for row in fields["groups"]]
            return cls(
                counts=tuple(
                    (count, n_users) for count, n_users in map(_read_row, fields["counts"])
                ),
                upper=Fraction(fields["upper"]),
                eps=Fraction(fields["eps"]),
                bound=Fraction(fields["bound"]),
                source=str(fields["source"]),
                n_users=int(fields["n_users"]),
                factors=tuple(
                    (int(n_differing), Fraction(factor)) for n_differing, factor in factors
                ),
                unit=int(fields["unit"]),
                groups=tuple(UserGroup(size, n, tuple(levels)) for size, n, *levels in groups),
                datasets=tuple(
                    tuple(tuple(_read_row(arrangement)) for arrangement in row.split("|"))
                    for row in fields["datasets"]
                ),
                weights=tuple(_read_row(fields["weights"])),
                load_unit=int(fields["load_unit"]),
                loads=tuple(loads),
            )
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            message = f"`text` must be a certificate in the form that `to_json` returns: {error}."
            raise ValueError(message) from None


def minimax_certificate(users: Contributions, eps: Epsilon) -> FloorCertificate:
    """Return a lower bound on the largest mean absolute error of private mechanisms, and its proof.

    No user-level eps-DP mechanism (neighbours may differ in all samples of one user; counts, bound
    on samples and eps are public) has a worst-case mean absolute error below `bound`. This is the
    largest of the bounds behind `minimax_lower_bound`, in exact arithmetic, and of those that
    linear programs find for a fixed list of families of datasets, evaluated exactly:
    thm-certificate of the book. The search takes one or a few seconds. Another version of the
    solver may find a bound that differs in its last digits, which is also proved.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon
        Privacy budget (dimensionless, public). No program is solved for eps above 5; above 12 the
        bound for single users, thm-lattice, is not used; above 64 the lower bound is 0.

    Returns
    -------
    FloorCertificate
        Its `bound` is a Fraction, in the unit of the samples; its `check()` proves it.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, or `eps` is not a privacy budget.

    Examples
    --------
    >>> users = Contributions([5, 5, 2, 2, 2], upper=1)
    >>> certificate = minimax_certificate(users, eps=1)
    >>> certificate.source, round(float(certificate.check()), 2)
    ('datasets', 0.17)
    """
    trivial = _trivial_certificate(users, eps)
    best = max([trivial, *_closed_forms(trivial)], key=_bound)
    if trivial.eps > _LARGEST_EPS_OF_PROGRAMS:
        return best
    # The optimum of a program is at least the bound that its multipliers prove.
    programs = _programs.solve_all(trivial._heaviest(), users.n_users, float(trivial.eps))
    solved = sorted(programs, key=lambda program: program.optimum, reverse=True)
    for program in solved:
        if program.optimum * trivial.upper <= best.bound * users.total:
            break
        best = max(best, _from_program(trivial, program), key=_bound)
    return best


def _trivial_certificate(users: Contributions, eps: Epsilon) -> FloorCertificate:
    """Return the certificate of the bound 0."""
    check.instance("users", users, Contributions)
    counts, multiplicities = (numbers[::-1].tolist() for numbers in users.histogram)
    return FloorCertificate(
        counts=tuple(zip(counts, multiplicities, strict=True)),
        upper=Fraction(users.upper),
        eps=read_eps(eps),
        bound=Fraction(0),
        source="chain",
        n_users=0,
    )


def _certificate_of_family(
    users: Contributions, eps: Epsilon, shape: _programs.Shape
) -> FloorCertificate:
    """Return the certificate from the program of one family, however long it takes."""
    trivial = _trivial_certificate(users, eps)
    (program,) = _programs.solve_one(trivial._heaviest(), shape, float(trivial.eps))
    return _from_program(trivial, program)


def _bound(certificate: FloorCertificate) -> Fraction:
    return certificate.bound


def _from_program(trivial: FloorCertificate, program: _programs.SolvedProgram) -> FloorCertificate:
    """Return the certificate from a program's multipliers."""
    sizes = sorted({group.block_size for group in program.groups})
    certificate = replace(
        trivial,
        source="datasets",
        n_users=sum(group.block_size * group.n_blocks for group in program.groups),
        factors=tuple(_factor(size, trivial.eps) for size in sizes),
        unit=_programs.PARTS,
        groups=tuple(UserGroup(*group) for group in program.groups),
        datasets=program.datasets,
        weights=program.weights,
        load_unit=program.load_unit,
        loads=program.loads,
    )
    return _with_bound(certificate)


def _with_bound(certificate: FloorCertificate) -> FloorCertificate:
    """Return the certificate with the bound that it proves."""
    return replace(certificate, bound=certificate._evaluate())


def _closed_forms(trivial: FloorCertificate) -> Iterator[FloorCertificate]:
    """Prove the bounds of `minimax_lower_bound`: the best chain, and up to three users as one."""
    if trivial.eps > _LARGEST_EPS:
        return
    counts, multiplicities = np.array(trivial.counts, dtype=np.float64).T
    n, q = np.cumsum(multiplicities), exp(trivial.eps)
    # While users with the same count are added to a chain, its bound is monotone.
    chain_bounds = np.cumsum(counts * multiplicities) / ((1 + q) ** 2 + n * (q**2 - 1))
    best_length = int(n[np.argmax(chain_bounds)])
    yield _with_bound(replace(trivial, n_users=best_length, factors=(_factor(1, trivial.eps),)))
    for n_joint in range(1, min(int(n[-1]), 3) + 1):
        if n_joint * trivial.eps <= _LARGEST_EPS_OF_LATTICES:
            factors = (_factor(n_joint, trivial.eps),)
            yield _with_bound(replace(trivial, source="lattice", n_users=n_joint, factors=factors))


def _factor(n_differing: int, eps: Fraction) -> tuple[int, Fraction]:
    """Return a number of users d, and a multiple of 2^-60 that is at least e^(d eps)."""
    return n_differing, Fraction(ceil(_exp_above(n_differing * eps) * 2**60), 2**60)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"The certificate must {rule}.")


def _users(n: int) -> str:
    return "1 user" if n == 1 else f"{n} users"


def _row(numbers: Any) -> str:
    return " ".join(map(str, numbers))


def _read_row(row: str) -> list[int]:
    return [int(number) for number in row.split()]


def _exp_above(x: Fraction) -> Fraction:
    """Return a fraction of at least e^x: a partial sum of the series plus a bound on the rest."""
    term, total = Fraction(1), Fraction(1)
    # From n = 2x on, each term is at most half the one before, so the last one bounds the rest.
    for n in range(1, ceil(2 * x) + 81):
        term *= x / n
        total += term
        if n >= 2 * x and term <= total / 2**80:
            break
    return total + term


def _single_user_risk(q: Fraction) -> Fraction:
    """Return s_n of thm-lattice, a lower bound for one user, as a fraction of the range."""
    twice = 2 * q / (q - 1)
    u = [Fraction(1), twice, twice**2 - 1]
    # `frontier` searches the same range for this n: up to 2 sqrt(q) + 2.
    for n in range(2, 2 * isqrt(ceil(q)) + 6):
        u.append(twice * u[-1] - u[-2])
        s = (u[n + 1] - u[n] + 1) / (2 * (u[n + 1] + n))
        if s * (n + 1) >= 1:
            # Rounded down: the exact number has thousands of digits at large budgets.
            return Fraction(floor(s * 2**100), 2**100)
    raise NotFoundError(f"The lattice for the factor {float(q):g} was not found up to n = {n}.")
