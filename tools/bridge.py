"""Ask userdp, and write its answers down for Coq: `make -C proofs bridge`.

Each case is a question, written down in whole numbers and Fractions before `userdp` sees it, with
what `userdp` answers, in Fractions or in floats. `proofs/bridge.v` says what an answer means, and
has a check for each kind that is proved: what it accepts is a theorem. Nothing is computed here
that a function of `userdp` computes. The first cases of each kind are the collections on the book's
pages; all others are drawn, the same for the same seed. Lower bounds take long to find: those that
the book stores are drawn.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import groupby
from math import lcm
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import userdp as ud
from userdp import beyond

BOOK = Path(__file__).resolve().parent.parent / "book"
DATA = BOOK / "data"
Numbers = list[Fraction]

BOOK_BUDGETS = [Fraction(eps) for eps in ("0.8", "0.1", "0.5", "1", "1.5", "2", "3")]
BOOK_UPPERS = [Fraction(upper) for upper in (65, 1, 2, 10, 20, 130, 800)]
# Relative distance from a whole number within which `rank` takes 2/eps for it, by the type of eps.
SHARES = {np.float32: Fraction(1, 2**23), np.float64: Fraction(1, 10**9), float: Fraction(1, 10**9)}


def geometric(n: int) -> list[int]:
    """Return the counts of the paper's geometric collection for M = n."""
    return [2 ** (n - i) for i in range(n + 1) for _ in range(2**i)]


def extreme(n_users: int, max_count: int) -> list[int]:
    """Return the counts of the paper's extreme-valued collection."""
    return [1] * (n_users - 1) + [max_count]


# How collections are made, and the arguments before the bound U.
MAKERS: dict[str, tuple[Callable[..., list[int]], list[str]]] = {
    "Contributions": (list, ["counts"]),
    "geometric_collection": (geometric, ["M"]),
    "extreme_collection": (extreme, ["n_users", "max_count"]),
}


@dataclass(frozen=True)
class Collection:
    """Users: how they are made, with which arguments, and the counts that this must give."""

    maker: str
    arguments: tuple[Any, ...]
    counts: list[int]

    @classmethod
    def of(cls, maker: str, *arguments: Any) -> Collection:
        """Write the counts down."""
        return cls(maker, arguments, MAKERS[maker][0](*arguments))

    def users(self, upper: Any) -> Any:
        """Have `userdp` make the users."""
        return getattr(ud, self.maker)(*self.arguments, upper)

    def first(self, n: int) -> Collection:
        """Return the first n users."""
        return self if n >= len(self.counts) else Collection.of("Contributions", self.counts[:n])


@cache
def flights() -> list[int]:
    """Return the numbers of flights of 4,037 aircraft, sorted: Coq reads each number once."""
    return sorted(pd.read_csv(DATA / "aircraft-averages.csv").flights.tolist())


DRAWN: list[list[Any]] = []
# The collections for which an expression on a page stands that is not a literal; none if the page
# draws them, as is done here.
NAMED: dict[str, Callable[[], list[list[Any]]]] = {
    "aircraft: by_aircraft['size'].to_numpy()": lambda: [[flights()]],
    "at-scale: counts": lambda: [[[10**6] + [10**4] * 1000]],
    "average: aircraft.flights.to_numpy()": lambda: [[flights()]],
    "average: np.ones(users.total, dtype=int)": lambda: [[[1] * 448], [[1] * 110]],
    "centre: counts": lambda: [[geometric(6)]],
    "centre: rng.integers(1, 6, size=rng.integers(1, 6))": lambda: DRAWN,
    "centre: rng.integers(1, 7, size=rng.integers(1, 6))": lambda: DRAWN,
    "decide: n_readings": lambda: DRAWN,
    "decide: n_trips": lambda: DRAWN,
    "errata: counts": lambda: [[[2]], [[2, 1]]],
    "experiments: 101, most": lambda: [[101, 10], [101, 100]],
    "experiments: nine_counts": lambda: [[[16, 12, 10, 8, 6, 4, 3, 2, 1]]],
    "federated: m": lambda: DRAWN,
    "federated: m[own]": lambda: DRAWN,
    "felt-error: counts": lambda: [[[7]], [[6, 2, 1]], [[5, 5, 1]], [[4] * 8]],
    "figure-3: 101, m": lambda: [[101, m] for m in (1, 2, 5, 10, 100)],
    "frontier: users.counts": lambda: [[geometric(6)]],
    "index: counts": lambda: [[[40] * 5 + [10] * 50 + [2] * 500]],
    "kkt: counts[rng.integers(3)]": lambda: DRAWN,
    "lemma: counts": lambda: DRAWN,
    "libraries: np.bincount(aircraft)": lambda: [[flights()]],
    "libraries: np.ones(collection.total, dtype=int)": lambda: [[[1] * 448], [[1] * 110]],
    "libraries: rng.integers(1, 20, size=6)": lambda: DRAWN,
    "lower-bound: [1] * n": lambda: [[[1] * n] for n in (1, 2, 3, 4, 6, 8)],
    "optimum: counts": lambda: [[[2]], [[2, 1]]],
    "optimum: rng.integers(1, 5, size=rng.integers(1, 5))": lambda: DRAWN,
    "picture: [len(samples) for samples in SPEEDS]": lambda: [[[4, 2, 1]]],
    "projection: [m] * n + [1] * free": lambda: [
        [[1]],
        [[1] * 4],
        [[1] * 8],
        [[100] + [1] * 900],
        [[10] + [1] * 100],
    ],
    "projection: pd.read_csv('data/aircraft-averages.csv').flights.to_numpy()": lambda: [
        [flights()]
    ],
    "projection: proof.users.counts": lambda: DRAWN,  # those of the floors
    "projection: rng.integers(1, 9, size=3)": lambda: DRAWN,
    "robustness: [*m]": lambda: [
        [[1] * 127],
        [[64] * 127],
        [[*range(1, 128)]],
        [[8] * 64 + [1] * 63],
    ],
    "robustness: m": lambda: [[[4] * 127], [[max(1, 64 // n) for n in range(1, 128)]]],
    "setup: [len(samples) for samples in speeds]": lambda: [[[4, 2, 1]]],
    "variance: counts": lambda: [[[2, 1]], [[1, 1, 1]], [[2, 2, 1]], [[3, 1, 1]]],
    "vectors: counts": lambda: [[[*range(5, 25)] + [1] * 300]],
    "vectors: counts_of": lambda: [[geometric(6)], [extreme(101, 10)]],
    "vectors: rng.integers(1, 9, size=n)": lambda: DRAWN,
}


def calls(folder: Path) -> Iterator[tuple[str, str, list[ast.expr]]]:
    """Find where pages make collections: the page, the maker, and its arguments before U."""
    for path in sorted([*folder.glob("*.ipynb"), *folder.glob("*.py")]):
        sources = [path.read_text(encoding="utf-8")]
        if path.suffix == ".ipynb":
            cells = json.loads(sources[0])["cells"]
            sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        for source in sources:
            if not any(maker in source for maker in MAKERS):
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    maker = node.func.attr
                    if maker in MAKERS:
                        named = {word.arg: word.value for word in node.keywords}
                        given = dict(enumerate(node.args))
                        names = enumerate(MAKERS[maker][1])
                        arguments = [
                            named[name] if name in named else given[i] for i, name in names
                        ]
                        yield path.stem, maker, arguments


@cache
def page_collections(folder: Path = BOOK) -> list[Collection]:
    """Return the collections on the book's pages, each once, the buses first."""
    found = [Collection.of("Contributions", [4, 2, 1])]
    for page, maker, arguments in calls(folder):
        for literal in literals(page, arguments):
            collection = Collection.of(maker, *literal)
            if collection not in found:
                found.append(collection)
    return found


def literals(page: str, arguments: list[ast.expr]) -> list[list[Any]]:
    """Return the values of arguments that are literals, or those that are named above."""
    builtins = {"__builtins__": {"max": max, "range": range, "round": round}}
    try:  # of the book's own pages
        return [[eval(ast.unparse(argument), builtins) for argument in arguments]]
    except NameError:
        name = key(page, arguments)
    if name not in NAMED:
        raise ValueError(f"NAMED in tools/bridge.py must say which users these are: {name!r}.")
    return NAMED[name]()


def key(page: str, arguments: list[ast.expr]) -> str:
    """Return what arguments on a page are called in `NAMED`."""
    return f"{page}: {', '.join(map(ast.unparse, arguments))}"


@dataclass(frozen=True)
class Question:
    """Users, a bound and a budget: the exact numbers, and what `userdp` is given for them."""

    collection: Collection
    upper: Fraction
    eps: Fraction
    given_upper: Any
    given_eps: Any

    @classmethod
    def of(cls, collection: Collection, upper: Any, eps: Any) -> Question:
        """Write down the exact values of a bound and a budget."""
        return cls(collection, exact_value(upper), exact_value(eps), upper, eps)

    @property
    def counts(self) -> list[int]:
        """The counts, as they were written down."""
        return self.collection.counts

    @property
    def share(self) -> Fraction:
        """How close to a whole number 2/eps counts as it."""
        return SHARES.get(type(self.given_eps), Fraction(0))

    def users(self) -> Any:
        """Have `userdp` make the users."""
        return self.collection.users(self.given_upper)

    def first(self, n: int) -> Question:
        """Ask about the first n users only."""
        return replace(self, collection=self.collection.first(n))


def exact_value(given: Any) -> Fraction:
    """Return the exact value of a number, or of the text of a decimal number."""
    return Fraction(float(given) if isinstance(given, np.floating) else given)


def some_collection(rng: Random) -> Collection:
    """Draw a collection: one user, a few, of whom many tie, or many; in any form."""
    n_users = rng.choice([1, 2, rng.randint(3, 12), rng.randint(3, 12), 40])
    counts = [rng.choice([1, 2, rng.randint(1, 60)]) for _ in range(n_users)]
    given = rng.choice([list, tuple, np.uint8, np.int32, np.int64, np.uint64, object])
    made = given(counts) if given in (list, tuple) else np.array(counts, dtype=given)
    return Collection("Contributions", (made,), counts)


def some_budget(rng: Random) -> Fraction:
    """Draw a budget; often 2/eps is whole, where the best width is not the only one."""
    if rng.random() < 0.4:
        return Fraction(2, rng.choice([rng.randint(1, 14), rng.randint(15, 60)]))
    return Fraction(rng.randint(1, 80), rng.randint(1, 40))


def in_a_form(eps: Fraction, rng: Random) -> Any:
    """Return a budget as a Fraction, or in another exact form, if it has one."""
    forms: list[Any] = [eps, eps]
    if eps.denominator == 1:
        forms += 3 * [int(eps)]
    decimal = Decimal(eps.numerator) / Decimal(eps.denominator)
    if Fraction(decimal) == eps:
        forms += [decimal, str(decimal)]
    return rng.choice(forms)


def book_questions(in_floats: bool) -> list[Question]:
    """Return the book's collections with a budget each; the buses with all, as with all bounds."""
    buses, *others = page_collections()
    asked = [*zip(BOOK_BUDGETS, BOOK_UPPERS, strict=True)]
    turn = 3 if in_floats else 0
    some = [(buses, eps, upper) for eps, upper in asked] + [
        (users, *asked[(place + turn) % len(asked)]) for place, users in enumerate(others)
    ]
    if in_floats:
        return [Question.of(users, float(upper), float(eps)) for users, eps, upper in some]
    return [Question.of(users, upper, eps) for users, eps, upper in some]


def some_question(rng: Random, in_floats: bool) -> Question:
    """Draw a question, in exact numbers or with a float at least."""
    users, eps = some_collection(rng), some_budget(rng)
    upper = Fraction(rng.randint(1, 999), rng.randint(1, 99))
    if not in_floats:
        return Question.of(users, upper, in_a_form(eps, rng))
    # What is meant by a float, and what it is, are two numbers; others are only close to it.
    near = eps * (1 + rng.choice([0, 0, 0, 1, -1]) * Fraction(1, 10 ** rng.randint(5, 13)))
    kind: Callable[[Any], Any] = rng.choice([float, float, np.float64, np.float32])
    uppers = [float(upper), float(upper), np.float32(float(upper)), int(upper) + 1]
    return rng.choice(
        [
            Question.of(users, rng.choice(uppers), kind(float(near))),
            Question.of(users, rng.choice(uppers), in_a_form(eps, rng)),
            Question.of(users, upper, kind(float(near))),
        ]
    )


def exact(values: Any) -> Numbers:
    """Return numbers as Fractions; what is none already is refused."""
    for value in values:
        if not isinstance(value, Fraction):
            raise TypeError(f"userdp answered {value!r}, which is not a Fraction")
    return list(values)


def whole(value: Fraction) -> int:
    """Return a whole number as an int, and refuse any other."""
    if value.denominator != 1:
        raise ValueError(f"{value} is not a whole number")
    return value.numerator


@dataclass(frozen=True)
class Rank:
    """A result of `rank`."""

    eps: Fraction
    share: Fraction
    rank: int

    @classmethod
    def ask(cls, asked: Question, rng: Random) -> Rank:
        """Ask for the rank of a budget, which does not depend on the users."""
        return cls(asked.eps, asked.share, ud.rank(asked.given_eps))


@dataclass(frozen=True)
class Optimal:
    """Results of `rank`, `threshold`, `optimal_clipping` and `optimal_error`."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    rank: int
    threshold: Fraction
    low: Numbers
    high: Numbers
    error: Fraction

    @classmethod
    def ask(cls, asked: Question, rng: Random) -> Optimal:
        """Ask for the best clipping, and its error."""
        users, eps = asked.users(), asked.given_eps
        best = ud.optimal_clipping(users, eps)
        [width, error] = exact([ud.threshold(users, eps), ud.optimal_error(users, eps)])
        ends = exact(best.lower), exact(best.upper)
        return cls(asked.counts, asked.upper, asked.eps, ud.rank(eps), width, *ends, error)


@dataclass(frozen=True)
class Floats:
    """Results of the same functions if the bound, or the budget, is a float."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    share: Fraction
    rank: int
    threshold: Fraction
    low: Numbers
    high: Numbers
    error: Fraction

    @classmethod
    def ask(cls, asked: Question, rng: Random) -> Floats:
        """Ask for the best clipping, and its error."""
        users, eps = asked.users(), asked.given_eps
        best = ud.optimal_clipping(users, eps)
        [width, error] = map(Fraction, [ud.threshold(users, eps), ud.optimal_error(users, eps)])
        ends = [*map(Fraction, best.lower)], [*map(Fraction, best.upper)]
        question = asked.counts, asked.upper, asked.eps, asked.share
        return cls(*question, ud.rank(eps), width, *ends, error)


@dataclass(frozen=True)
class Clipping:
    """Bias, sensitivity and error of intervals, one per user or one per sample."""

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
    def ask(cls, asked: Question, rng: Random) -> Clipping:
        """Draw intervals, and ask for bias, sensitivity and error."""
        asked = asked.first(600)
        return cls.of(asked, some_intervals(asked, rng, Fraction, 100))

    @classmethod
    def of(cls, asked: Question, ends: list[list[Fraction]]) -> Clipping:
        """Ask about intervals in Fractions."""
        exact_users = asked.collection.users(asked.upper)
        answers = exact(clipping_answers(exact_users, asked.eps, *zip(*ends, strict=True)))
        if len(ends) == len(asked.counts):
            of_users = [[end] for end in ends]  # the last one goes on
        else:
            own = iter(ends)
            of_users = [[next(own) for _ in range(count)] for count in asked.counts]
        low, high = ([[end[i] for end in user] for user in of_users] for i in (0, 1))
        return cls(asked.counts, asked.upper, asked.eps, low, high, *answers)


def some_intervals(
    asked: Question, rng: Random, form: Callable[[Fraction], Any], most: int
) -> list[list[Fraction]]:
    """Draw intervals, one per user or one per sample, and round their ends to a type of number.

    If there were more of them than `most`, users with equal counts have the same: Coq then reads
    them once.
    """
    total = sum(asked.counts)
    n = total if total <= most and rng.random() < 0.7 else len(asked.counts)
    ends = [[asked.upper * Fraction(rng.randint(0, 12), 12) for _ in range(2)] for _ in range(n)]
    intervals = [sorted(Fraction(form(end)) for end in pair) for pair in ends]
    if n <= most:
        return intervals
    return [intervals[asked.counts.index(count)] for count in asked.counts]


def clipping_answers(users: Any, eps: Any, low: Sequence[Any], high: Sequence[Any]) -> list[Any]:
    """Ask for bias, sensitivity and error of intervals."""
    clipping = ud.Clipping(low, high)
    return [
        ud.worst_case_bias(users, clipping),
        ud.printed_bias(users, clipping),
        ud.sensitivity(users, clipping),
        ud.worst_case_error(users, clipping, eps),
    ]


@dataclass(frozen=True)
class Rounded:
    """What is answered of the same intervals in Fractions and in floats."""

    exact: Clipping
    bias: Fraction
    printed: Fraction
    sensitivity: Fraction
    error: Fraction

    @classmethod
    def ask(cls, asked: Question, rng: Random) -> Rounded:
        """Draw intervals that floats hold, and ask twice."""
        asked = Question.of(asked.collection.first(130), float(asked.upper), asked.given_eps)
        intervals = some_intervals(asked, rng, float, 20)
        ends = [[float(end) for end in pair] for pair in intervals]
        answers = clipping_answers(asked.users(), asked.given_eps, *zip(*ends, strict=True))
        return cls(Clipping.of(asked, intervals), *map(Fraction, answers))


@dataclass(frozen=True)
class Multipliers:
    """Results of `optimal_solution`, and of `kkt_certificate` for it."""

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
    def of(cls, asked: Question, users: Any, point: ud.Solution) -> Any:
        """Ask how far a point is from satisfying each condition."""
        [total_width, lambda_width] = exact([point.total_width, point.lambda_width])
        return cls(
            asked.counts,
            asked.upper,
            asked.eps,
            exact(point.alpha),
            total_width,
            exact(point.lambda_users),
            exact(point.mu_users),
            lambda_width,
            exact(ud.kkt_certificate(users, asked.given_eps, point)),
        )

    @classmethod
    def ask(cls, asked: Question, rng: Random) -> Any:
        """Ask for a minimiser with multipliers."""
        users = asked.users()
        return cls.of(asked, users, ud.optimal_solution(users, asked.given_eps))


class Residuals(Multipliers):
    """Results of `kkt_certificate` for points with multipliers, right ones and wrong ones."""

    @classmethod
    def ask(cls, asked: Question, rng: Random) -> Any:
        """Take the printed multipliers, or the repaired ones, and often change one number."""
        asked = asked.first(600)
        users = asked.users()
        make = rng.choice([ud.optimal_solution, ud.printed_solution])
        point = make(users, asked.given_eps)
        part = rng.choice([None, *point._fields])
        if part is not None:
            change = Fraction(rng.choice([-1, 1]), 10 ** rng.randint(1, 9))
            value = getattr(point, part)
            if isinstance(value, Fraction):
                value = value + change
            else:
                value = value.copy()
                value[rng.randrange(len(value))] += change
            point = point._replace(**{part: value})
        return cls.of(asked, users, point)


@dataclass(frozen=True)
class Akmv:
    """Results of `akmv_error`, in floats, and of `rank`."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    share: Fraction
    sums: Numbers
    rank: int
    error: Fraction

    @classmethod
    def ask(cls, asked: Question, rng: Random) -> Akmv:
        """Draw sums, some of them extreme and many tied, that are floats as the bound is.

        A cell far from the rank has a weight that is too small to be enclosed: of many users few
        are taken if the budget is large.
        """
        collection = asked.collection.first(min(max(12, int(100 / asked.eps)), 130))
        upper = Fraction(max(1, round(8 * asked.upper)), 8)
        sums = [
            upper * rng.choice([0, count, Fraction(count * rng.randint(0, 8), 8)])
            for count in collection.counts
        ]
        users = collection.users(float(upper))
        answer = ud.akmv_error([float(value) for value in sums], users, asked.given_eps)
        answers = ud.rank(asked.given_eps), Fraction(float(answer))
        return cls(collection.counts, upper, asked.eps, asked.share, sums, *answers)


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
    def of(cls, line: str) -> Certificate:
        """Deal the users to the blocks, and give each block of a dataset its level."""
        raw, floor = json.loads(line), beyond.FloorCertificate.from_json(line)
        histogram = [[int(number) for number in entry.split()] for entry in raw["counts"]]
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
        [bound] = exact([floor.bound])
        return cls(
            counts=[count for count, n_users in histogram for _ in range(n_users)],
            upper=Fraction(raw["upper"]),
            eps=Fraction(raw["eps"]),
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


Case = Rank | Optimal | Floats | Clipping | Rounded | Multipliers | Akmv | Certificate
# Each kind, as bridge.v calls it; a case is made by the constructor with the name of the class.
KINDS: dict[str, type[Case]] = {
    "rank": Rank,
    "optimal": Optimal,
    "floats": Floats,
    "clipping": Clipping,
    "rounded": Rounded,
    "multipliers": Multipliers,
    "residuals": Residuals,
    "akmv": Akmv,
    "certificate": Certificate,
}
CONSTRUCTORS = {Residuals: "Multipliers"}
RECORDS = {"residuals": "multipliers"}
# Kinds that are asked about in floats; about ranks, every other question is.
IN_FLOATS = {"floats": [True], "rounded": [True], "rank": [False, True], "akmv": [True]}


def cases(kind: str, n: int, seed: int) -> list[Case]:
    """Return cases of a kind: the book's own, and n that the seed draws."""
    rng = Random(f"{kind} {seed}")
    if kind == "certificate":
        return book_floors(n // 10, rng)
    ask: Callable[..., Case] = KINDS[kind].ask
    return [ask(question, rng) for question in questions(kind, n, rng)]


def questions(kind: str, n: int, rng: Random) -> list[Question]:
    """Return what is asked: about the book's collections, and n drawn ones."""
    in_floats = IN_FLOATS.get(kind, [False])
    asked = [in_floats[i % len(in_floats)] for i in range(n)]
    drawn = [some_question(rng, floats) for floats in asked]
    return [q for floats in in_floats for q in book_questions(floats)] + drawn


def book_floors(n: int, rng: Random) -> list[Case]:
    """Return the floors of eight equal users, and n drawn ones of the book's other collections."""
    stored = {
        path.stem: path.read_text(encoding="utf-8").splitlines()
        for path in sorted((DATA / "floors").glob("*.jsonl"))
    }
    small = stored.pop("eight-equal")
    others = [line for lines in stored.values() for line in lines if json.loads(line)["datasets"]]
    drawn = rng.sample(others, min(n, len(others)))
    return [Certificate.of(line) for line in small + drawn]


def in_coq(value: Any) -> str:
    """Write a number, a list or a case as Coq reads it."""
    if isinstance(value, Fraction):
        return f"({value.numerator} # {value.denominator})"
    if isinstance(value, int):
        return f"{value}%num"
    if isinstance(value, tuple):
        return "(" + ", ".join(in_coq(entry) for entry in value) + ")"
    if isinstance(value, list):
        return list_in_coq(value)
    name = CONSTRUCTORS.get(type(value), type(value).__name__)
    return f"({' '.join([name, *(in_coq(getattr(value, f.name)) for f in fields(value))])})"


def list_in_coq(values: list[Any]) -> str:
    """Write a list, of equal entries in a row only one, and with one denominator if it is small.

    Coq adds fractions with equal denominators the fastest.
    """
    common = lcm(*(number.denominator for number in numbers_in(values)))
    write = partial(with_denominator, common) if common < 2**80 else in_coq
    runs = [(write(value), len([*equal])) for value, equal in groupby(values)]
    if all(n < 4 for _, n in runs):
        return "[:: " + "; ".join(entry for entry, n in runs for _ in range(n)) + "]"
    return "(flatten [:: " + "; ".join(f"nseq {n} {entry}" for entry, n in runs) + "])"


def numbers_in(value: Any) -> Iterator[Fraction]:
    """Return the Fractions in a list, and in lists in it."""
    if isinstance(value, Fraction):
        yield value
    elif isinstance(value, list):
        for entry in value:
            yield from numbers_in(entry)


def with_denominator(common: int, value: Any) -> str:
    """Write a Fraction, or a list of them, with a common denominator."""
    if isinstance(value, Fraction):
        return f"({whole(value * common)} # {common})"
    if isinstance(value, list) and common > 1:
        return "[:: " + "; ".join(with_denominator(common, entry) for entry in value) + "]"
    return in_coq(value)


def definition(kind: str, answered: Sequence[Case]) -> str:
    """Write the cases of a kind as a list."""
    listed = ";\n  ".join(map(in_coq, answered))
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
