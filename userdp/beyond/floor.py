"""A floor for any collection, with its proof: an error that no private mechanism stays below.

A certificate holds a few datasets of the heaviest users and the multipliers of a linear program.
Whatever multipliers they are, they prove a bound, in exact arithmetic: thm-certificate of the
book. Neighbouring datasets differ in all samples of one user; the counts, the bound on samples and
eps are public. Nothing here reads protected data.
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

# Larger budgets have no linear program; no bound by thm-lattice; the floor 0.
_LAST_PROGRAM, _LAST_LATTICE, _LAST_FLOOR = 5, 12, 64

# A checked certificate has no larger d eps: the exponential series would take too long.
_LARGEST_POWER = 1000

_LARGEST_FACTOR = exp(_LAST_LATTICE + 1)


@dataclass(frozen=True)
class UserGroup:
    """Users who take part in the datasets of a certificate, in blocks of equally many.

    The users are dealt to the blocks like cards, the heaviest first. All samples of a block are
    one number, so that they add up to one of the levels.

    Attributes
    ----------
    block_size : int
        How many users a block has.
    n_blocks : int
        How many blocks there are.
    levels : tuple of int
        What the samples of a block may add up to, in the certificate's unit: 0 first, the smallest
        next.
    """

    block_size: int
    n_blocks: int
    levels: tuple[int, ...]


@dataclass(frozen=True)
class FloorCertificate:
    """A floor, and what proves it.

    Every user-level eps-DP mechanism (neighbours differ in all samples of one user; counts, bound
    on samples and eps are public) has a mean absolute error of at least `bound` on some dataset.
    `check` proves it from the other attributes.

    Attributes
    ----------
    counts : tuple of (int, int)
        The different counts, the largest first, and how many users have each.
    upper : Fraction
        The bound U on samples, in their unit.
    eps : Fraction
        The privacy budget (dimensionless).
    bound : Fraction
        The floor, in the unit of the samples.
    source : {"chain", "lattice", "datasets"}
        What proves it: thm-chain, or thm-lattice by lem-one-user, each for the `n_users` heaviest
        users, as in `minimax_lower_bound`; or datasets and multipliers, by thm-certificate.
    n_users : int
        How many of the heaviest users take part.
    factors : tuple of (int, Fraction)
        For numbers of users d, a rational number of at least e^(d eps).
    unit : int
        Levels are multiples of U / `unit`.
    groups : tuple of UserGroup
        Each group takes the heaviest users that those before it leave.
    datasets : tuple of tuple of tuple of int
        For each dataset and each group, how many blocks stand at each level. The samples of users
        who are in no group are 0.
    weights : tuple of int
        The multiplier pi_c of the error of each dataset c.
    load_unit : int
        Loads are multiples of it.
    loads : tuple of (int, int, int, int)
        Two datasets c and d, by their numbers; a mean y, by its number among the different ones in
        their order; and the multiplier lambda_cd(y) of the constraint that y is at most a factor
        more probable at c than at d. Loads that are not listed are 0.
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
        """The public counts and bound that the floor is about."""
        return Contributions([*self._heaviest()], self.upper)

    def check(self) -> Fraction:
        """Prove the bound again, in exact arithmetic, from what the certificate holds.

        That the users can have the datasets, and how many users tell two of them apart, is derived
        from counts and datasets; that the factors are large enough, from partial sums of the
        exponential series. No solver takes part.

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
            _demand(type(number) is int and number >= 0, "hold whole numbers, none below 0")
        sizes = [size for size, _ in self.counts]
        _demand(sizes == sorted({*sizes} - {0}, reverse=True), "have its counts in order")
        fractions = (self.upper, self.eps, self.bound, *(factor for _, factor in self.factors))
        _demand(
            {type(number) for number in fractions} == {Fraction},
            "be exact: bound, range, budget, factors",
        )
        _demand(self.upper > 0 and self.eps > 0, "have a positive bound on samples and budget")
        for n_apart, factor in self.factors:
            _demand(n_apart * self.eps <= _LARGEST_POWER, f"have d eps at most {_LARGEST_POWER}")
            least = _exp_above(n_apart * self.eps)
            _demand(factor >= least, "have factors of at least e^(d eps)")
        proved = self._proved()
        _demand(proved == self.bound, "prove its bound, neither more nor less")
        return proved

    def _proved(self) -> Fraction:
        """Evaluate the certificate, whose numbers and factors are as they must be."""
        proofs = {"chain": self._chain, "lattice": self._lattice, "datasets": self._certified}
        _demand(self.source in proofs, f"have a source among {', '.join(proofs)}")
        total = sum(size * n_users for size, n_users in self.counts)
        _demand(total > 0, "have users")
        return proofs[self.source]() * self.upper / total

    def _certified(self) -> Fraction:
        """thm-certificate, in samples at U."""
        means = self._means()
        places = sorted({*means})
        factors = dict(self.factors)
        costs = [
            [Fraction(weight * abs(mean - place)) for place in places]
            for mean, weight in zip(means, self.weights, strict=True)
        ]
        for c, d, place, load in self.loads:
            _demand(max(c, d) < len(means) and place < len(places), "load what there is")
            n_apart = self._apart(c, d)
            _demand(n_apart in factors, f"have a factor for {n_apart} users")
            costs[c][place] += self.load_unit * load
            costs[d][place] -= self.load_unit * load * factors[n_apart]
        _demand(sum(self.weights) > 0 and self.unit > 0, "have a weight and a unit")
        return sum(map(min, costs), Fraction(0)) / (sum(self.weights) * self.unit)

    def _apart(self, c: int, d: int) -> int:
        """How many users tell two datasets apart, if the blocks of a group may be renamed."""
        users = 0
        for group, here, there in zip(self.groups, self.datasets[c], self.datasets[d], strict=True):
            users += group.block_size * (group.n_blocks - sum(map(min, here, there)))
        return users

    def _means(self) -> list[int]:
        """Return the datasets' means, times N, in units; refuse datasets that nobody can have."""
        users = self._heaviest()
        for group in self.groups:
            hand = [*islice(users, group.block_size * group.n_blocks)]
            _demand(len(hand) == group.block_size * group.n_blocks > 0, "have users for its groups")
            most = min(sum(hand[block :: group.n_blocks]) for block in range(group.n_blocks))
            _demand(group.levels[:1] == (0,), "have levels from 0 on")
            _demand(all(low < high for low, high in pairwise(group.levels)), "have rising levels")
            _demand(group.levels[-1] <= self.unit * most, "have levels that all blocks can reach")
        members = sum(group.block_size * group.n_blocks for group in self.groups)
        _demand(members == self.n_users, f"say that {members} users take part")
        for dataset in self.datasets:
            _demand(len(dataset) == len(self.groups), "have each group in each dataset")
            for group, stand in zip(self.groups, dataset, strict=True):
                _demand(len(stand) == len(group.levels), "say of each level who stands there")
                _demand(sum(stand) == group.n_blocks, "have each block at one level")
        _demand(len(self.datasets) == len(self.weights), "weigh each dataset")
        levels = [*chain(*(group.levels for group in self.groups))]
        return [
            sum(n * level for n, level in zip(chain(*dataset), levels, strict=True))
            for dataset in self.datasets
        ]

    def _heaviest(self) -> Iterator[int]:
        """Go through the counts of the users, the largest first."""
        return chain.from_iterable(repeat(size, n_users) for size, n_users in self.counts)

    def _moved(self) -> int:
        """How far the users of a chain or a lattice move the mean, in samples."""
        counts = [*islice(self._heaviest(), self.n_users)]
        _demand(len(counts) == self.n_users, "have the users that take part")
        return sum(counts)

    def _chain(self) -> Fraction:
        """thm-chain, in samples at U. What it divides by grows with the factor."""
        if not self.n_users:
            return Fraction(0)
        q = dict(self.factors).get(1, Fraction(0))
        _demand(q > 0, "have a factor for 1 user")
        cosh, sinh = (q + 1 / q) / 2, (q - 1 / q) / 2
        return self._moved() / (1 + cosh + self.n_users * sinh)

    def _lattice(self) -> Fraction:
        """thm-lattice with the budget of all users, in samples at U."""
        q = dict(self.factors).get(self.n_users, Fraction(0))
        _demand(q > 1, f"have a factor for {self.n_users} users")
        # Beyond that, evaluating the bound takes ever longer: about sqrt(q) steps.
        _demand(q < _LARGEST_FACTOR, "have a factor below e^13 for a lattice")
        return self._moved() * _risk_of_one(q)

    def _whole_numbers(self) -> Iterator[Any]:
        groups = [(group.block_size, group.n_blocks, *group.levels) for group in self.groups]
        datasets = chain(*self.datasets)
        alone = (self.n_users, self.unit, self.load_unit, *(n for n, _ in self.factors))
        return chain(alone, self.weights, *self.counts, *groups, *datasets, *self.loads)

    def to_json(self) -> str:
        """Return the certificate as text: numbers are strings, of whole numbers or fractions.

        Returns
        -------
        str
            JSON, of one object.
        """
        held = {
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
            # The datasets c and d, then y and the load, y and the load, ...
            "loads": [
                _row((*pair, *chain(*(row[2:] for row in rows))))
                for pair, rows in groupby(self.loads, lambda row: row[:2])
            ],
        }
        return json.dumps(held)

    @classmethod
    def from_json(cls, text: str) -> FloorCertificate:
        """Read what `to_json` wrote. Nothing is proved before `check` is called.

        Parameters
        ----------
        text : str
            JSON, of one object.

        Returns
        -------
        FloorCertificate

        Raises
        ------
        ValueError
            If the text is no certificate.
        """
        try:
            held = json.loads(text)
            loads = []
            for row in held["loads"]:
                c, d, *rest = _read_row(row)
                loads += [(c, d, *pair) for pair in zip(rest[::2], rest[1::2], strict=True)]
            factors = [row.split() for row in held["factors"]]
            groups = [_read_row(row) for row in held["groups"]]
            return cls(
                counts=tuple((size, n_users) for size, n_users in map(_read_row, held["counts"])),
                upper=Fraction(held["upper"]),
                eps=Fraction(held["eps"]),
                bound=Fraction(held["bound"]),
                source=str(held["source"]),
                n_users=int(held["n_users"]),
                factors=tuple((int(n_apart), Fraction(factor)) for n_apart, factor in factors),
                unit=int(held["unit"]),
                groups=tuple(UserGroup(size, n, tuple(levels)) for size, n, *levels in groups),
                datasets=tuple(
                    tuple(tuple(_read_row(stand)) for stand in row.split("|"))
                    for row in held["datasets"]
                ),
                weights=tuple(_read_row(held["weights"])),
                load_unit=int(held["load_unit"]),
                loads=tuple(loads),
            )
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            words = f"`text` must be a certificate as `to_json` writes it: {error}."
            raise ValueError(words) from None


def minimax_certificate(users: Contributions, eps: Epsilon) -> FloorCertificate:
    """Return an error that every private mechanism makes on some dataset, and what proves it.

    No user-level eps-DP mechanism (neighbours differ in all samples of one user; counts, bound on
    samples and eps are public) has a worst-case mean absolute error below `bound`. That is the
    largest of the bounds behind `minimax_lower_bound`, in exact arithmetic, and of what linear
    programs find for a fixed list of families of datasets, evaluated exactly: thm-certificate of
    the book. Takes a second or some. Another version of the solver may find another bound, which
    differs in its last digits, and is proved as well.

    Parameters
    ----------
    users : Contributions
    eps : Epsilon
        Privacy budget (dimensionless, public). No program is solved for eps above 5; above 12 the
        bound for single users, thm-lattice, does not take part; above 64 the floor is 0.

    Returns
    -------
    FloorCertificate
        Its `bound` is a Fraction, in the unit of the samples; its `check()` proves it.

    Raises
    ------
    TypeError, ValueError
        If `users` is not a Contributions instance, or `eps` no privacy budget.

    Examples
    --------
    >>> users = Contributions([5, 5, 2, 2, 2], upper=1)
    >>> certificate = minimax_certificate(users, eps=1)
    >>> certificate.source, round(float(certificate.check()), 2)
    ('datasets', 0.17)
    """
    bare = _bare(users, eps)
    best = max([bare, *_closed_forms(bare)], key=_bound)
    if bare.eps > _LAST_PROGRAM:
        return best
    # What a program says is at least what its multipliers prove.
    programs = _programs.solve_all(bare._heaviest(), users.n_users, float(bare.eps))
    solved = sorted(programs, key=lambda program: program.floor, reverse=True)
    for program in solved:
        if program.floor * bare.upper <= best.bound * users.total:
            break
        best = max(best, _from_program(bare, program), key=_bound)
    return best


def _bare(users: Contributions, eps: Epsilon) -> FloorCertificate:
    """Return the certificate of the bound 0."""
    check.instance("users", users, Contributions)
    sizes, n_users = (numbers[::-1].tolist() for numbers in users.histogram)
    return FloorCertificate(
        counts=tuple(zip(sizes, n_users, strict=True)),
        upper=Fraction(users.upper),
        eps=read_eps(eps),
        bound=Fraction(0),
        source="chain",
        n_users=0,
    )


def _of_family(users: Contributions, eps: Epsilon, shape: _programs.Shape) -> FloorCertificate:
    """Return the certificate that the program of one family makes, however long it takes."""
    bare = _bare(users, eps)
    (program,) = _programs.solve_one(bare._heaviest(), shape, float(bare.eps))
    return _from_program(bare, program)


def _bound(certificate: FloorCertificate) -> Fraction:
    return certificate.bound


def _from_program(bare: FloorCertificate, program: _programs.Solved) -> FloorCertificate:
    """Return the certificate that a program's multipliers make."""
    sizes = sorted({group.block_size for group in program.groups})
    certificate = replace(
        bare,
        source="datasets",
        n_users=sum(group.block_size * group.n_blocks for group in program.groups),
        factors=tuple(_factor(size, bare.eps) for size in sizes),
        unit=_programs.PARTS,
        groups=tuple(UserGroup(*group) for group in program.groups),
        datasets=program.datasets,
        weights=program.weights,
        load_unit=program.load_unit,
        loads=program.loads,
    )
    return _proved(certificate)


def _proved(certificate: FloorCertificate) -> FloorCertificate:
    """Return the certificate with the bound that it proves."""
    return replace(certificate, bound=certificate._proved())


def _closed_forms(bare: FloorCertificate) -> Iterator[FloorCertificate]:
    """Prove what `minimax_lower_bound` knows: the best chain, and up to three users as one."""
    if bare.eps > _LAST_FLOOR:
        return
    sizes, n_users = np.array(bare.counts, dtype=np.float64).T
    n, q = np.cumsum(n_users), exp(bare.eps)
    # Between users of one count the bound is monotone.
    chains = np.cumsum(sizes * n_users) / ((1 + q) ** 2 + n * (q**2 - 1))
    longest = int(n[np.argmax(chains)])
    yield _proved(replace(bare, n_users=longest, factors=(_factor(1, bare.eps),)))
    for together in range(1, min(int(n[-1]), 3) + 1):
        if together * bare.eps <= _LAST_LATTICE:
            factors = (_factor(together, bare.eps),)
            yield _proved(replace(bare, source="lattice", n_users=together, factors=factors))


def _factor(n_apart: int, eps: Fraction) -> tuple[int, Fraction]:
    """How many users, and a number of at least e^(d eps) for them, with 60 bits after the point."""
    return n_apart, Fraction(ceil(_exp_above(n_apart * eps) * 2**60), 2**60)


def _demand(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"The certificate must {rule}.")


def _row(numbers: Any) -> str:
    return " ".join(map(str, numbers))


def _read_row(row: str) -> list[int]:
    return [int(number) for number in row.split()]


def _exp_above(x: Fraction) -> Fraction:
    """Return a fraction of at least e^x: a partial sum of the series, and a bound on the rest."""
    term, total = Fraction(1), Fraction(1)
    # From n = 2x on, each term is at most half the one before, so the last one bounds the rest.
    for n in range(1, ceil(2 * x) + 81):
        term *= x / n
        total += term
        if n >= 2 * x and term <= total / 2**80:
            break
    return total + term


def _risk_of_one(q: Fraction) -> Fraction:
    """Return s_n of thm-lattice, the unavoidable error of one user, in parts of the range."""
    twice = 2 * q / (q - 1)
    u = [Fraction(1), twice, twice**2 - 1]
    # Where `frontier` looks for the same n: up to 2 sqrt(q) + 2.
    for n in range(2, 2 * isqrt(ceil(q)) + 6):
        u.append(twice * u[-1] - u[-2])
        s = (u[n + 1] - u[n] + 1) / (2 * (u[n + 1] + n))
        if s * (n + 1) >= 1:
            # Rounded down: the exact number has thousands of digits at large budgets.
            return Fraction(floor(s * 2**100), 2**100)
    raise NotFoundError(f"The lattice for the factor {float(q):g} was not found up to n = {n}.")
