"""Ask userdp, and write its answers down for Coq: `make -C proofs bridge`.

Each case is a question with what `userdp` answers, in Fractions. `proofs/bridge.v` says what an
answer means, and has a check for each kind that is proved: what it accepts is a theorem. Nothing is
computed here that a function of `userdp` computes. The first cases of each kind are the book's own
collections; all others are drawn, the same for the same seed. Floors take long to find: those that
the book stores are drawn.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import userdp as ud
from userdp import beyond

DATA = Path(__file__).resolve().parent.parent / "book" / "data"
Numbers = list[Fraction]


BOOK_BUDGETS = [Fraction(eps) for eps in ("0.8", "0.1", "0.5", "1", "1.5", "2", "3")]


def book_collections() -> list[ud.Contributions[Fraction]]:
    """Return the collections of the book's pages, the buses first."""
    listed = [[4, 2, 1], [4, 2, 2], [4, 2, 2, 1], [4, 1], [2, 1], [1], [5, 3, 8, 5, 2], [64]]
    upper = Fraction(65)
    flights = pd.read_csv(DATA / "aircraft-averages.csv").flights.tolist()
    return [
        *(ud.Contributions(counts, upper) for counts in listed),
        ud.geometric_collection(M=6, upper=upper),
        ud.geometric_collection(M=8, upper=Fraction(2)),
        ud.extreme_collection(n_users=101, max_count=10, upper=upper),
        ud.Contributions([4] * 20, upper),
        ud.Contributions([500] + 500 * [5], upper),
        ud.Contributions(flights, Fraction(1)),
    ]


def book_questions() -> list[tuple[ud.Contributions[Fraction], Fraction]]:
    """Return the book's collections with budgets: the buses with all, others with two or one."""
    buses, *others = book_collections()
    n = len(BOOK_BUDGETS)
    return [(buses, eps) for eps in BOOK_BUDGETS] + [
        (users, BOOK_BUDGETS[(2 * place + i) % n])
        for place, users in enumerate(others)
        for i in range(1 if users.n_users > 1000 else 2)
    ]


def first(users: ud.Contributions[Fraction], n: int) -> ud.Contributions[Fraction]:
    """Return the first n users, where all of them have too many samples, or sums."""
    return ud.Contributions(users.counts[:n], users.upper)


def some_users(rng: Random) -> ud.Contributions[Fraction]:
    """Draw a collection: one user, a few, of whom many tie, or many."""
    n_users = rng.choice([1, 2, rng.randint(3, 12), rng.randint(3, 12), 40])
    counts = [rng.choice([1, 2, rng.randint(1, 60)]) for _ in range(n_users)]
    return ud.Contributions(counts, Fraction(rng.randint(1, 999), rng.randint(1, 99)))


def some_budget(rng: Random) -> Fraction:
    """Draw a budget; often 2/eps is whole, where the best width is not the only one."""
    if rng.random() < 0.4:
        return Fraction(2, rng.randint(1, 14))
    return Fraction(rng.randint(1, 80), rng.randint(1, 40))


def exact(values: Any) -> Numbers:
    """Return numbers as Fractions; what is none already is refused."""
    for value in values:
        if not isinstance(value, Fraction):
            raise TypeError(f"userdp answered {value!r}, which is no Fraction")
    return list(values)


def whole(value: Fraction) -> int:
    """Return a whole number as an int; what is none is refused."""
    if value.denominator != 1:
        raise ValueError(f"{value} is no whole number")
    return value.numerator


@dataclass(frozen=True)
class Rank:
    """What `rank` answers."""

    eps: Fraction
    rank: int

    @classmethod
    def ask(cls, users: ud.Contributions[Fraction], eps: Fraction, rng: Random) -> Rank:
        """Ask for the rank of a budget, whoever the users are."""
        return cls(eps, ud.rank(eps))


@dataclass(frozen=True)
class Optimal:
    """What `rank`, `threshold`, `optimal_clipping` and `optimal_error` answer."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    rank: int
    threshold: Fraction
    low: Numbers
    high: Numbers
    error: Fraction

    @classmethod
    def ask(cls, users: ud.Contributions[Fraction], eps: Fraction, rng: Random) -> Optimal:
        """Ask for the best clipping, and its error."""
        best = ud.optimal_clipping(users, eps)
        [width, error] = exact([ud.threshold(users, eps), ud.optimal_error(users, eps)])
        ends = exact(best.lower), exact(best.upper)
        return cls(users.counts.tolist(), users.upper, eps, ud.rank(eps), width, *ends, error)


@dataclass(frozen=True)
class Clipping:
    """What is answered of intervals, one a user or one a sample."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    low: list[Numbers]
    high: list[Numbers]
    bias: Fraction
    printed: Fraction
    sensitivity: Fraction
    error: Fraction

    @classmethod
    def ask(cls, users: ud.Contributions[Fraction], eps: Fraction, rng: Random) -> Clipping:
        """Draw intervals, and ask for bias, sensitivity and error."""
        users = first(users, int(np.sum(np.cumsum(users.counts) <= 4000)))
        counts = users.counts.tolist()
        one_a_sample = users.total <= 100 and rng.random() < 0.7
        n = users.total if one_a_sample else users.n_users
        ends = [
            sorted(users.upper * Fraction(rng.randint(0, 12), 12) for _ in range(2))
            for _ in range(n)
        ]
        clipping = ud.Clipping([low for low, _ in ends], [high for _, high in ends])
        answers = exact(
            [
                ud.worst_case_bias(users, clipping),
                ud.printed_bias(users, clipping),
                ud.sensitivity(users, clipping),
                ud.worst_case_error(users, clipping, eps),
            ]
        )
        if one_a_sample:
            own = iter(ends)
            of_users = [[next(own) for _ in range(count)] for count in counts]
        else:
            of_users = [[end] for end in ends]  # the last one goes on
        low, high = ([[end[i] for end in user] for user in of_users] for i in (0, 1))
        return cls(counts, users.upper, eps, low, high, *answers)


@dataclass(frozen=True)
class Multipliers:
    """What `optimal_solution` answers, and `kkt_certificate` of it."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    alpha: Numbers
    total_width: Fraction
    lambda_users: Numbers
    mu_users: Numbers
    lambda_width: Fraction
    residuals: Numbers

    @classmethod
    def of(cls, users: ud.Contributions[Fraction], eps: Fraction, point: ud.Solution) -> Any:
        """Ask how far a point is from satisfying each condition."""
        [total_width, lambda_width] = exact([point.total_width, point.lambda_width])
        return cls(
            users.counts.tolist(),
            users.upper,
            eps,
            exact(point.alpha),
            total_width,
            exact(point.lambda_users),
            exact(point.mu_users),
            lambda_width,
            exact(ud.kkt_certificate(users, eps, point)),
        )

    @classmethod
    def ask(cls, users: ud.Contributions[Fraction], eps: Fraction, rng: Random) -> Any:
        """Ask for a minimiser with multipliers."""
        return cls.of(users, eps, ud.optimal_solution(users, eps))


class Residuals(Multipliers):
    """What `kkt_certificate` answers of points with multipliers, right ones and wrong ones."""

    @classmethod
    def ask(cls, users: ud.Contributions[Fraction], eps: Fraction, rng: Random) -> Any:
        """Take the printed multipliers, or the repaired ones, and often change one number."""
        make = rng.choice([ud.optimal_solution, ud.printed_solution])
        point = make(users, eps)
        part = rng.choice([None, *point._fields])
        if part is not None:
            change = Fraction(rng.choice([-1, 1]), 10 ** rng.randint(1, 9))
            value = getattr(point, part)
            if isinstance(value, Fraction):
                value = value + change
            else:
                value = value.copy()
                value[rng.randrange(users.n_users)] += change
            point = point._replace(**{part: value})
        return cls.of(users, eps, point)


@dataclass(frozen=True)
class Akmv:
    """What `akmv_error` answers, in floats, and `rank`."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    sums: Numbers
    rank: int
    error: Fraction

    @classmethod
    def ask(cls, users: ud.Contributions[Fraction], eps: Fraction, rng: Random) -> Akmv:
        """Draw sums, some of them extreme and many tied, that are doubles as the bound is.

        Of many users a dozen are taken: the weights of the cells have as many digits.
        """
        counts = first(users, 12).counts.tolist()
        upper = Fraction(max(1, round(8 * users.upper)), 8)
        sums = [
            upper * rng.choice([0, count, Fraction(count * rng.randint(0, 8), 8)])
            for count in counts
        ]
        floats = [float(value) for value in sums]
        answer = ud.akmv_error(floats, ud.Contributions(counts, float(upper)), eps)
        return cls(counts, upper, eps, sums, ud.rank(eps), Fraction(float(answer)))


@dataclass(frozen=True)
class Certificate:
    """What `minimax_certificate` answered of a collection: a floor, and what proves it."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    bound: Fraction
    blocks: list[int]
    groups: list[int]
    sizes: list[int]
    unit: int
    levels: list[list[int]]
    stands: list[list[int]]
    weights: list[int]
    factors: list[tuple[int, int]]
    load_unit: int
    loads: list[tuple[int, int, list[tuple[int, int]]]]

    @classmethod
    def of(cls, floor: beyond.FloorCertificate) -> Certificate:
        """Deal the users to the blocks, and give each block of a dataset its level."""
        blocks: list[int] = []
        groups: list[int] = []
        for g, group in enumerate(floor.groups):
            first_block = len(groups)
            dealt = range(group.block_size * group.n_blocks)
            blocks += [first_block + user % group.n_blocks for user in dealt]
            groups += [g] * group.n_blocks
        means = floor._means()
        places = sorted({*means})
        loads = [
            (c, d, [(places[place], load) for _, _, place, load in rows])
            for (c, d), rows in groupby(floor.loads, lambda row: row[:2])
        ]
        # A dataset says how many blocks stand at each level; here each block has its own.
        stands = [
            [level for stand in dataset for level, n in enumerate(stand) for _ in range(n)]
            for dataset in floor.datasets
        ]
        upper, eps, bound = exact([floor.upper, floor.eps, floor.bound])
        return cls(
            counts=floor.users.counts.tolist(),
            upper=upper,
            eps=eps,
            bound=bound,
            blocks=blocks,
            groups=groups,
            sizes=[group.block_size for group in floor.groups],
            unit=floor.unit,
            levels=[list(group.levels) for group in floor.groups],
            stands=stands,
            weights=list(floor.weights),
            factors=[(n_apart, whole(factor * 2**60)) for n_apart, factor in floor.factors],
            load_unit=floor.load_unit,
            loads=loads,
        )


Case = Rank | Optimal | Clipping | Multipliers | Akmv | Certificate
# Each kind, as bridge.v calls it; a case is made by the constructor with the name of the class.
KINDS: dict[str, type[Case]] = {
    "rank": Rank,
    "optimal": Optimal,
    "clipping": Clipping,
    "multipliers": Multipliers,
    "residuals": Residuals,
    "akmv": Akmv,
    "certificate": Certificate,
}
CONSTRUCTORS = {Residuals: "Multipliers"}
RECORDS = {"residuals": "multipliers"}


def cases(kind: str, n: int, seed: int) -> list[Case]:
    """Return cases of a kind: the book's own, and n that the seed draws."""
    rng = Random(f"{kind} {seed}")
    if kind == "certificate":
        return book_floors(n // 10, rng)
    ask: Callable[..., Case] = KINDS[kind].ask
    drawn = [(some_users(rng), some_budget(rng)) for _ in range(n)]
    return [ask(users, eps, rng) for users, eps in book_questions() + drawn]


def book_floors(n: int, rng: Random) -> list[Case]:
    """Return the floors of eight equal users, and n drawn ones of the book's other collections."""
    stored = {
        path.stem: [
            beyond.FloorCertificate.from_json(line) for line in path.read_text().splitlines()
        ]
        for path in sorted((DATA / "floors").glob("*.jsonl"))
    }
    small = stored.pop("eight-equal")
    others = [floor for floors in stored.values() for floor in floors if floor.datasets]
    drawn = rng.sample(others, min(n, len(others)))
    return [Certificate.of(floor) for floor in small + drawn]


def in_coq(value: Any) -> str:
    """Write a number, or a list, as Coq reads it."""
    if isinstance(value, Fraction):
        return f"({value.numerator} # {value.denominator})"
    if isinstance(value, int):
        return f"{value}%num"
    if isinstance(value, tuple):
        return "(" + ", ".join(in_coq(entry) for entry in value) + ")"
    return "[:: " + "; ".join(in_coq(entry) for entry in value) + "]"


def definition(kind: str, answered: Sequence[Case]) -> str:
    """Write the cases of a kind as a list."""
    lines = [
        " ".join([CONSTRUCTORS.get(type(case), type(case).__name__), *map(in_coq, astuple(case))])
        for case in answered
    ]
    listed = ";\n  ".join(lines)
    return f"""
Definition {kind}_cases : seq {RECORDS.get(kind, kind)}_case := [::
  {listed}].
"""


def theorem(kind: str, n: int) -> str:
    """Write the theorem that n answers are right, with its proof: the check."""
    return f"""
Theorem {kind}_answers (R : realFieldType) :
  size {kind}_cases = {n}%nat /\\ List.Forall ({kind}_says R) {kind}_cases.
Proof.
split; first by [].
apply: (none_refused (ok := {kind}_ok)); first exact: {kind}_sound.
vm_cast_no_check (erefl true).
Qed.
"""


HEAD = """(* Written by tools/bridge.py: cases that userdp answered. *)
From Coq Require Import QArith String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From UserDP Require Import bridge bridge_certificate.
Set Implicit Arguments.
Local Open Scope Q_scope.
"""


def document(answered: dict[str, Sequence[Case]]) -> str:
    """Write a file for Coq: the cases of each kind, theorems on them, and what these rest on."""
    parts = [definition(kind, some) + theorem(kind, len(some)) for kind, some in answered.items()]
    names = ", ".join(f"@{kind}_answers" for kind in answered)
    asked = f"\nDefinition all_answers := (tt, {names}).\nPrint Assumptions all_answers.\n"
    return HEAD + "".join(parts) + asked


def refusals(answered: dict[str, Sequence[Case]]) -> str:
    """Write a file for Coq that lists which cases of each kind are refused, counted from 0."""
    asked = 'Eval vm_compute in ("{0}", refused {0}_ok {0}_cases)%string.\n'
    parts = [definition(kind, some) + asked.format(kind) for kind, some in answered.items()]
    return HEAD + "".join(parts)


def main() -> None:
    """Write the book's cases of each kind, and as many drawn ones as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", type=int, default=100, help="how many of each kind are drawn")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--refusals", action="store_true", help="ask which cases are refused")
    asked = parser.parse_args()
    answered = {kind: cases(kind, asked.cases, asked.seed) for kind in KINDS}
    print((refusals if asked.refusals else document)(answered), end="")


if __name__ == "__main__":
    main()
