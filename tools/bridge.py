"""Write results of userdp as cases for Coq to prove: `make -C proofs bridge`.

A case is an instance, recorded in whole numbers and Fractions before `userdp` sees it, with the
results of `userdp`, in Fractions or in floats. `proofs/bridge.v` defines what the results mean, and
has a verified check for each kind of case: a case that it accepts is a theorem. This script never
computes what a function of `userdp` computes. The first cases of each kind are the collections on
the book's pages; the others are random, and determined by the seed. Lower bounds take long to
compute, so their cases are a random sample of the certificates stored with the book.
"""

from __future__ import annotations

import argparse
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

import userdp as ud
from userdp import beyond

BOOK = Path(__file__).resolve().parent.parent / "book"
DATA = BOOK / "data"
Numbers = list[Fraction]

OTHER_BUDGET = Fraction(7, 3)
BOOK_BUDGETS = [Fraction(eps) for eps in ("0.8", "0.1", "0.5", "1", "1.5", "2", "3")]
BOOK_UPPERS = [Fraction(upper) for upper in (65, 1, 2, 10, 20, 130, 800)]
# Relative tolerance within which `rank` rounds 2/eps to a whole number, by the type of eps.
TOLERANCES = {
    np.float16: Fraction(1, 2**10),
    np.float32: Fraction(1, 2**23),
    np.float64: Fraction(1, 10**9),
    float: Fraction(1, 10**9),
}


def geometric(n: int) -> list[int]:
    """Return the counts of the paper's geometric collection for M = n."""
    return [2 ** (n - i) for i in range(n + 1) for _ in range(2**i)]


def extreme(n_users: int, max_count: int) -> list[int]:
    """Return the counts of the paper's extreme-valued collection."""
    return [1] * (n_users - 1) + [max_count]


# The counts that the functions of `userdp` must give, by their arguments before the bound U.
MAKERS: dict[str, Callable[..., list[int]]] = {
    "Contributions": list,
    "geometric_collection": geometric,
    "extreme_collection": extreme,
}


@dataclass(frozen=True)
class Collection:
    """Users: the function that makes them, its arguments, and the counts that it must give."""

    maker: str
    arguments: tuple[Any, ...]
    counts: list[int]

    @classmethod
    def of(cls, maker: str, *arguments: Any) -> Collection:
        """Record the counts."""
        return cls(maker, arguments, MAKERS[maker](*arguments))

    def users(self, upper: Any) -> Any:
        """Have `userdp` make the users."""
        return getattr(ud, self.maker)(*self.arguments, upper)

    def first(self, n: int) -> Collection:
        """Return the first n users."""
        return self if n >= len(self.counts) else Collection.of("Contributions", self.counts[:n])


def in_full(histogram: list[str]) -> list[int]:
    """Return counts that are stored each once, with the number of its users."""
    rows = [[int(number) for number in row.split()] for row in histogram]
    return [count for count, n_users in rows for _ in range(n_users)]


COLLECTIONS = Path(__file__).resolve().parent.parent / "proofs" / "collections.jsonl"
"""What `tools/collection_recorder.py` recorded while the pages ran, one collection per line."""

BUSES = ["buses", "Contributions", "4 1", "2 1", "1 1"]

FIRST = 12
"""So many collections of each page are cases of every kind; the others, of one kind each."""

MAX_ODD = 12
"""Of up to so many users the sums for AKMV may be any floats: adding them takes Coq long."""

MAX_SHUFFLED = 60
"""Up to so many users of a page are given in any order."""


@cache
def page_collections() -> tuple[list[Collection], list[Collection]]:
    """Return the first collections of each page, the buses first; and the others, each once."""
    first: dict[str, Collection] = {}
    others: dict[str, Collection] = {}
    lines = [BUSES, *map(json.loads, COLLECTIONS.read_text(encoding="utf-8").splitlines())]
    for _, records in groupby(lines, lambda line: line[0]):
        for position, (_, maker, *arguments) in enumerate(records):
            given = [in_full(arguments)] if maker == "Contributions" else arguments
            chosen = first if position < FIRST else others
            chosen[f"{maker} {arguments}"] = Collection.of(maker, *given)
    return [*first.values()], [x for name, x in others.items() if name not in first]


@dataclass(frozen=True)
class Instance:
    """Users, a bound and a budget: the exact numbers, and the arguments passed to `userdp`."""

    collection: Collection
    upper: Fraction
    eps: Fraction
    given_upper: Any
    given_eps: Any

    @classmethod
    def of(cls, collection: Collection, upper: Any, eps: Any) -> Instance:
        """Record the exact values of a bound and a budget."""
        return cls(collection, exact_value(upper), exact_value(eps), upper, eps)

    @property
    def counts(self) -> list[int]:
        """The recorded counts."""
        return self.collection.counts

    @property
    def tolerance(self) -> Fraction:
        """The relative tolerance within which 2/eps counts as a whole number."""
        return TOLERANCES.get(type(self.given_eps), Fraction(0))

    def users(self) -> Any:
        """Have `userdp` make the users, and compute for another budget and for this one first."""
        users = self.collection.users(self.given_upper)
        for eps in (OTHER_BUDGET, self.given_eps):
            for compute in (ud.threshold, ud.optimal_clipping, ud.optimal_error):
                compute(users, eps)
        return users

    def first(self, n: int) -> Instance:
        """Return the instance with the first n users only."""
        return replace(self, collection=self.collection.first(n))


def exact_value(given: Any) -> Fraction:
    """Return the exact value of a number, or of the text of a decimal number."""
    return Fraction(given.item() if isinstance(given, np.generic) else given)


def in_random_type(counts: list[int], rng: Random) -> Collection:
    """Return the collection of these counts, in any accepted type that can represent them."""
    types = ["i4", "i8", "u4", "u8", ">i4", object]
    types += ["i2", "u2"] * (max(counts) < 2**15) + ["i1", "u1"] * (max(counts) < 2**7)
    form = rng.choice([list, tuple, *types])
    argument = form(counts) if form in (list, tuple) else np.array(counts, dtype=form)
    if isinstance(argument, np.ndarray) and rng.random() < 0.3:
        argument = np.repeat(argument, 2)[::2]  # every other number of a larger array
    return Collection("Contributions", (argument,), counts)


def random_collection(rng: Random) -> Collection:
    """Draw a collection: one user, a few (often with ties), or many; in any accepted type."""
    n_users = rng.choice([1, 2, rng.randint(3, 12), rng.randint(3, 12), 40])
    return in_random_type([rng.choice([1, 2, rng.randint(1, 60)]) for _ in range(n_users)], rng)


def in_random_order(collection: Collection, rng: Random) -> Collection:
    """Return the users of a page, which are recorded largest first, in another order and type.

    If there are many, equal counts mostly stay side by side: Coq reads each run of them once.
    """
    counts = collection.counts
    if collection.maker != "Contributions":
        return collection
    if len(counts) <= MAX_SHUFFLED:
        return in_random_type(rng.sample(counts, len(counts)), rng)
    cut = rng.randrange(len(counts))
    return in_random_type(rng.choice([counts, counts[::-1], counts[cut:] + counts[:cut]]), rng)


def random_budget(rng: Random) -> Fraction:
    """Draw a budget; 2/eps is often whole, in which case the best width is not unique."""
    if rng.random() < 0.4:
        return Fraction(2, rng.choice([rng.randint(1, 14), rng.randint(15, 60)]))
    return Fraction(rng.randint(1, 80), rng.randint(1, 40))


def random_form(eps: Fraction, rng: Random) -> Any:
    """Return a budget as a Fraction, or in another exact type that can represent it."""
    forms: list[Any] = [eps, eps]
    if eps.denominator == 1:
        forms += 3 * [int(eps), np.int64(eps)]
    decimal = Decimal(eps.numerator) / Decimal(eps.denominator)
    if Fraction(decimal) == eps:
        forms += [decimal, str(decimal)]
    return rng.choice(forms)


def book_instances(kind: str, in_floats: bool, rng: Random) -> list[Instance]:
    """Return the book's collections, each with one budget and bound; the buses with all of them."""
    (buses, *others), in_turn = page_collections()
    others += in_turn[[*KINDS].index(kind) :: len(KINDS) - 1]
    settings = [*zip(BOOK_BUDGETS, BOOK_UPPERS, strict=True)]
    shift = 3 if in_floats else 0
    chosen = [(buses, eps, upper) for eps, upper in settings] + [
        (in_random_order(users, rng), *settings[(i + shift) % len(settings)])
        for i, users in enumerate(others)
    ]
    forms: list[tuple[type, type]] = [(Fraction, Fraction)]
    if in_floats:
        forms = [(float, float), (Fraction, float), (float, Fraction)]
    instances = []
    for users, eps, upper in chosen:
        upper_form, eps_form = rng.choice(forms)
        instances.append(Instance.of(users, upper_form(upper), eps_form(eps)))
    return instances


def random_instance(rng: Random, in_floats: bool) -> Instance:
    """Draw an instance, in exact numbers or with at least one float."""
    users, eps = random_collection(rng), random_budget(rng)
    upper = Fraction(rng.randint(1, 999), rng.randint(1, 99))
    if not in_floats:
        return Instance.of(users, upper, random_form(eps, rng))
    # The budget, or a number close to it; a float of it differs slightly from it.
    near = eps * (1 + rng.choice([0, 0, 0, 1, -1]) * Fraction(1, 10 ** rng.randint(5, 13)))
    float_type: Callable[[Any], Any] = rng.choice(
        [float, float, np.float64, np.float32, np.float16]
    )
    floats = [form(float(upper)) for form in (float, np.float64, np.float32, np.float16)]
    uppers = [*floats, int(upper) + 1, np.int64(int(upper) + 1)]
    return rng.choice(
        [
            Instance.of(users, rng.choice(uppers), float_type(float(near))),
            Instance.of(users, rng.choice(uppers), random_form(eps, rng)),
            Instance.of(users, upper, float_type(float(near))),
        ]
    )


def exact(values: Any) -> Numbers:
    """Return a list of Fractions; raise if a value is not one."""
    for value in values:
        if not isinstance(value, Fraction):
            raise TypeError(f"userdp returned {value!r}, which is not a Fraction")
    return list(values)


def whole(value: Fraction) -> int:
    """Return a whole number as an int; raise if it is not whole."""
    if value.denominator != 1:
        raise ValueError(f"{value} is not a whole number")
    return value.numerator


@dataclass(frozen=True)
class Rank:
    """A result of `rank`."""

    eps: Fraction
    tolerance: Fraction
    rank: int

    @classmethod
    def compute(cls, instance: Instance, rng: Random) -> Rank:
        """Compute the rank of a budget, which does not depend on the users."""
        return cls(instance.eps, instance.tolerance, ud.rank(instance.given_eps))


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
    def compute(cls, instance: Instance, rng: Random) -> Optimal:
        """Compute the best clipping and its error."""
        users, eps = instance.users(), instance.given_eps
        best = ud.optimal_clipping(users, eps)
        [width, error] = exact([ud.threshold(users, eps), ud.optimal_error(users, eps)])
        ends = exact(best.lower), exact(best.upper)
        return cls(instance.counts, instance.upper, instance.eps, ud.rank(eps), width, *ends, error)


@dataclass(frozen=True)
class Floats:
    """Results of the same functions if the bound, or the budget, is a float."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    tolerance: Fraction
    rank: int
    threshold: Fraction
    low: Numbers
    high: Numbers
    error: Fraction

    @classmethod
    def compute(cls, instance: Instance, rng: Random) -> Floats:
        """Compute the best clipping and its error."""
        users, eps = instance.users(), instance.given_eps
        best = ud.optimal_clipping(users, eps)
        [width, error] = map(Fraction, [ud.threshold(users, eps), ud.optimal_error(users, eps)])
        ends = [*map(Fraction, best.lower)], [*map(Fraction, best.upper)]
        recorded = instance.counts, instance.upper, instance.eps, instance.tolerance
        return cls(*recorded, ud.rank(eps), width, *ends, error)


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
    def compute(cls, instance: Instance, rng: Random) -> Clipping:
        """Draw intervals, and compute their bias, sensitivity and error."""
        instance = instance.first(600)
        ends = random_intervals(instance, rng, Fraction, 100)
        return cls.of(instance, instance.given_eps, ends, rng.choice([list, tuple, np.array]))

    @classmethod
    def of(
        cls, instance: Instance, given_eps: Any, ends: list[list[Fraction]], form: Any = tuple
    ) -> Clipping:
        """Compute the results for intervals in Fractions, and a budget of an exact type."""
        exact_users = instance.collection.users(instance.upper)
        low_and_high = map(form, zip(*ends, strict=True))
        results = exact(clipping_results(exact_users, given_eps, *low_and_high))
        if len(ends) == len(instance.counts):
            of_users = [[end] for end in ends]  # applies to all samples of the user
        else:
            remaining = iter(ends)
            of_users = [[next(remaining) for _ in range(count)] for count in instance.counts]
        low, high = ([[end[i] for end in user] for user in of_users] for i in (0, 1))
        return cls(instance.counts, instance.upper, instance.eps, low, high, *results)


def random_intervals(
    instance: Instance, rng: Random, form: Callable[[Fraction], Any], most: int
) -> list[list[Fraction]]:
    """Draw intervals, one per user or one per sample, and round their ends to a type of number.

    With more than `most` users, those with equal counts have equal intervals, which Coq reads once.
    """
    total = sum(instance.counts)
    n = total if total <= most and rng.random() < 0.7 else len(instance.counts)
    ends = [[instance.upper * Fraction(rng.randint(0, 12), 12) for _ in range(2)] for _ in range(n)]
    intervals = [sorted(Fraction(form(end)) for end in pair) for pair in ends]
    if n <= most:
        return intervals
    return [intervals[instance.counts.index(count)] for count in instance.counts]


def clipping_results(users: Any, eps: Any, low: Sequence[Any], high: Sequence[Any]) -> list[Any]:
    """Compute bias, sensitivity and error of intervals, after those of the best ones."""
    best = ud.optimal_clipping(users, OTHER_BUDGET)
    ud.printed_bias(users, best)
    ud.worst_case_error(users, best, OTHER_BUDGET)
    clipping = ud.Clipping(low, high)
    return [
        ud.worst_case_bias(users, clipping),
        ud.printed_bias(users, clipping),
        ud.sensitivity(users, clipping),
        ud.worst_case_error(users, clipping, eps),
    ]


@dataclass(frozen=True)
class Rounded:
    """Results for the same intervals, in Fractions and in floats."""

    exact: Clipping
    bias: Fraction
    printed: Fraction
    sensitivity: Fraction
    error: Fraction

    @classmethod
    def compute(cls, instance: Instance, rng: Random) -> Rounded:
        """Draw intervals that floats represent exactly, and compute twice."""
        instance = Instance.of(
            instance.collection.first(130), float(instance.upper), instance.given_eps
        )
        intervals = random_intervals(instance, rng, float, 20)
        ends = [[float(end) for end in pair] for pair in intervals]
        low_and_high = map(rng.choice([list, tuple, np.array]), zip(*ends, strict=True))
        results = clipping_results(instance.users(), instance.given_eps, *low_and_high)
        exactly = Clipping.of(instance, instance.eps, intervals)
        return cls(exactly, *map(Fraction, results))


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
    def of(cls, instance: Instance, users: Any, point: ud.Solution) -> Any:
        """Compute how far a point is from satisfying each condition."""
        [total_width, lambda_width] = exact([point.total_width, point.lambda_width])
        return cls(
            instance.counts,
            instance.upper,
            instance.eps,
            exact(point.alpha),
            total_width,
            exact(point.lambda_users),
            exact(point.mu_users),
            lambda_width,
            exact(ud.kkt_certificate(users, instance.given_eps, point)),
        )

    @classmethod
    def compute(cls, instance: Instance, rng: Random) -> Any:
        """Compute a minimiser with multipliers."""
        users = instance.users()
        return cls.of(instance, users, ud.optimal_solution(users, instance.given_eps))


class Residuals(Multipliers):
    """Results of `kkt_certificate` for points with valid or invalid multipliers."""

    @classmethod
    def compute(cls, instance: Instance, rng: Random) -> Any:
        """Take the paper's multipliers or the corrected ones, and usually perturb one number."""
        instance = instance.first(600)
        users = instance.users()
        solve = rng.choice([ud.optimal_solution, ud.printed_solution])
        point = solve(users, instance.given_eps)
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
        return cls.of(instance, users, point)


def random_sum(count: int, upper: Fraction, any_floats: bool, rng: Random) -> Fraction:
    """Draw the sum of a user with `count` samples, which a float represents exactly.

    It is 0, the largest possible sum or, mostly, an eighth of it or more; or else any float.
    """
    if any_floats and rng.random() >= 0.8:
        return Fraction(float(upper) * count * rng.randint(0, 999) / 1000)
    return upper * rng.choice([0, count, Fraction(count * rng.randint(0, 8), 8)])


@dataclass(frozen=True)
class Akmv:
    """Results of `akmv_error`, in floats, and of `rank`."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    tolerance: Fraction
    sums: Numbers
    rank: int
    error: Fraction

    @classmethod
    def compute(cls, instance: Instance, rng: Random) -> Akmv:
        """Draw sums that floats represent exactly, some of them extreme and many tied.

        The weight of a cell far from the rank is too small for Coq's interval arithmetic, so the
        number of users is limited if the budget is large.
        """
        collection = instance.collection.first(min(max(12, int(100 / instance.eps)), 130))
        upper = Fraction(max(1, round(8 * instance.upper)), 8)
        any_floats = len(collection.counts) <= MAX_ODD
        sums = [random_sum(count, upper, any_floats, rng) for count in collection.counts]
        users = collection.users(float(upper))
        form = rng.choice([list, tuple, np.array])
        error = ud.akmv_error(form([*map(float, sums)]), users, instance.given_eps)
        results = ud.rank(instance.given_eps), Fraction(float(error))
        return cls(collection.counts, upper, instance.eps, instance.tolerance, sums, *results)


@dataclass(frozen=True)
class Certificate:
    """A lower bound of `minimax_certificate`, with its proof."""

    counts: list[int]
    upper: Fraction
    eps: Fraction
    bound: Fraction
    blocks: list[int]
    groups: list[int]
    sizes: list[int]
    unit: int
    levels: list[list[int]]
    positions: list[list[int]]
    weights: list[int]
    factors: list[tuple[int, int]]
    load_unit: int
    loads: list[tuple[int, int, list[tuple[int, int]]]]

    @classmethod
    def of(cls, line: str) -> Certificate:
        """Assign the users to blocks, and each block of a dataset to its level."""
        raw, floor = json.loads(line), beyond.FloorCertificate.from_json(line)
        blocks: list[int] = []
        groups: list[int] = []
        for g, group in enumerate(floor.groups):
            first_block = len(groups)
            members = range(group.block_size * group.n_blocks)
            blocks += [first_block + user % group.n_blocks for user in members]
            groups += [g] * group.n_blocks
        means = floor._means()
        places = sorted({*means})
        loads = [
            (c, d, [(places[place], load) for _, _, place, load in rows])
            for (c, d), rows in groupby(floor.loads, lambda row: row[:2])
        ]
        # A dataset holds the number of blocks at each level; a case lists the level of each block.
        positions = [
            [level for numbers in dataset for level, n in enumerate(numbers) for _ in range(n)]
            for dataset in floor.datasets
        ]
        [bound] = exact([floor.bound])
        return cls(
            counts=in_full(raw["counts"]),
            upper=Fraction(raw["upper"]),
            eps=Fraction(raw["eps"]),
            bound=bound,
            blocks=blocks,
            groups=groups,
            sizes=[group.block_size for group in floor.groups],
            unit=floor.unit,
            levels=[list(group.levels) for group in floor.groups],
            positions=positions,
            weights=list(floor.weights),
            factors=[(n_apart, whole(factor * 2**60)) for n_apart, factor in floor.factors],
            load_unit=floor.load_unit,
            loads=loads,
        )


Case = Rank | Optimal | Floats | Clipping | Rounded | Multipliers | Akmv | Certificate
# The kinds by their names in bridge.v, where each class has a constructor of the same name.
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
# Kinds with instances in floats; for ranks, every other one.
IN_FLOATS = {"floats": [True], "rounded": [True], "rank": [False, True], "akmv": [True]}


def cases(kind: str, n: int, seed: int) -> list[Case]:
    """Return cases of a kind: the book's, and n random ones, determined by the seed."""
    rng = Random(f"{kind} {seed}")
    if kind == "certificate":
        return book_floors(n // 10, rng)
    compute: Callable[..., Case] = KINDS[kind].compute
    return [compute(instance, rng) for instance in instances(kind, n, rng)]


def instances(kind: str, n: int, rng: Random) -> list[Instance]:
    """Return the instances of a kind: the book's collections, and n random ones."""
    in_floats = IN_FLOATS.get(kind, [False])
    types = [in_floats[i % len(in_floats)] for i in range(n)]
    drawn = [random_instance(rng, floats) for floats in types]
    return [x for floats in in_floats for x in book_instances(kind, floats, rng)] + drawn


def book_floors(n: int, rng: Random) -> list[Case]:
    """Return the lower bounds for eight equal users, and n random ones for other collections."""
    stored = {
        path.stem: path.read_text(encoding="utf-8").splitlines()
        for path in sorted((DATA / "floors").glob("*.jsonl"))
    }
    small = stored.pop("eight-equal")
    others = [line for lines in stored.values() for line in lines if json.loads(line)["datasets"]]
    drawn = rng.sample(others, min(n, len(others)))
    return [Certificate.of(line) for line in small + drawn]


def in_coq(value: Any) -> str:
    """Write a number, a list or a case in Coq's syntax."""
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
    """Write a list: runs of equal entries once, and with a common denominator if it is small.

    Coq adds fractions fastest if their denominators are equal.
    """
    common = lcm(*(number.denominator for number in numbers_in(values)))
    write = partial(with_denominator, common) if common < 2**80 else in_coq
    runs = [(write(value), len([*equal])) for value, equal in groupby(values)]
    if all(n < 4 for _, n in runs):
        return "[:: " + "; ".join(entry for entry, n in runs for _ in range(n)) + "]"
    return "(flatten [:: " + "; ".join(f"nseq {n} {entry}" for entry, n in runs) + "])"


def numbers_in(value: Any) -> Iterator[Fraction]:
    """Yield the Fractions in a nested list."""
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


def file_of(kind: str) -> str:
    """Return the file that has the claim, the check and the records of a kind."""
    return f"UserDP.bridge{'_certificate' * (kind == 'certificate')}"


def definition(kind: str, listed: Sequence[Case]) -> str:
    """Write the cases of a kind as a list."""
    lines = ";\n  ".join(map(in_coq, listed))
    return f"""
Definition {kind}_cases : seq {file_of(kind)}.{RECORDS.get(kind, kind)}_case := [::
  {lines}].
"""


def theorem(kind: str, n: int) -> str:
    """Write the theorem that n results are correct; its proof runs the check."""
    file = file_of(kind)
    return f"""
Theorem {kind}_answers (R : mathcomp.algebra.ssrnum.Num.RealField.type) :
  size {kind}_cases = {n}%nat /\\ Forall ({file}.{kind}_claim R) {kind}_cases.
Proof.
split; first by [].
apply: (UserDP.bridge.none_refused (ok := {file}.{kind}_ok)); first exact: {file}.{kind}_sound.
vm_cast_no_check (erefl true).
Qed.
"""


HEAD = """(* Written by tools/bridge.py: results of userdp. *)
From Coq Require Import QArith String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From UserDP Require Import bridge bridge_certificate.
Set Implicit Arguments.
Local Open Scope Q_scope.
(* With their full names: a file of the proofs may define others with the same last name. *)
Local Notation Forall := Coq.Lists.List.Forall.
Local Notation flatten := mathcomp.ssreflect.seq.flatten.
Local Notation nseq := mathcomp.ssreflect.seq.nseq.
Local Notation seq := mathcomp.ssreflect.seq.seq.
Local Notation size := mathcomp.ssreflect.seq.size.
"""


def document(of_kinds: dict[str, Sequence[Case]]) -> str:
    """Write a file for Coq: the cases of each kind, the theorems, and their assumptions."""
    parts = [
        definition(kind, listed) + theorem(kind, len(listed)) for kind, listed in of_kinds.items()
    ]
    names = ", ".join(f"@{kind}_answers" for kind in of_kinds)
    assumptions = f"\nDefinition all_answers := (tt, {names}).\nPrint Assumptions all_answers.\n"
    return HEAD + "".join(parts) + assumptions


def refusals(of_kinds: dict[str, Sequence[Case]]) -> str:
    """Write a file for Coq that prints the positions of refused cases of each kind, from 0."""
    command = 'Eval vm_compute in ("{0}", UserDP.bridge.refused {1}.{0}_ok {0}_cases)%string.\n'
    parts = [
        definition(kind, listed) + command.format(kind, file_of(kind))
        for kind, listed in of_kinds.items()
    ]
    return HEAD + "".join(parts)


def main() -> None:
    """Write the book's cases of each kind, and the requested number of random ones."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--cases", type=int, default=100, help="number of random cases of each kind"
    )
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--refusals", action="store_true", help="have Coq print the refused cases")
    options = parser.parse_args()
    of_kinds = {kind: cases(kind, options.cases, options.seed) for kind in KINDS}
    print((refusals if options.refusals else document)(of_kinds), end="")


if __name__ == "__main__":
    main()
