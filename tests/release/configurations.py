"""Releases with all pairs of options on small tables, and the expected result of each."""

from fractions import Fraction
from itertools import combinations, product
from math import inf, nan
from random import Random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from kinds import ENGINES, TABLES, rows_of

import userdp as ud
from userdp import beyond, release
from userdp.release import as_measurement

COLUMNS = {
    "lists": lambda users, values: (users, values),
    "numpy": lambda users, values: (np.array(users), np.array(values, float)),
    "pandas columns": lambda users, values: (pd.Series(users), pd.Series(values, dtype=float)),
    "polars columns": lambda users, values: (pl.Series(users), pl.Series(values, dtype=pl.Float64)),
}
DATA = {"pandas", "polars, lazy", "Arrow", "DuckDB", *ENGINES}
BOUNDS = {"usual": (-2.0, 6.0), "small": (0.1, 0.101)}
EPS = {"small": 0.05, "text": "0.9", "large": Fraction(3)}
BUDGETS = EPS | {"zCDP": beyond.GaussianNoise.zcdp(0.3)}

RULES = {
    "input": {*COLUMNS, *DATA},
    "missing": {"refuse", "centre", "drop"},
    "outside": {"refuse", "clamp", "drop"},
}
COMMON = {
    "eps": BUDGETS,
    "bounds": BOUNDS,
    "users": {"one", "many"},
    "centre": {"middle", "off", "lowest"},
}
CLIPPING = {"objective": {"bound", "l1", "mse"}, "width": {"best", "given", "tiny"}}
RULES_OF_MEASUREMENTS = {"missing": {"centre"}, "outside": {"clamp"}}
"""How a measurement treats rows that a release may refuse; refusals would reveal values."""

FACTORS = {
    "mean": RULES | COMMON | CLIPPING | {"project": {False, True}},
    "protected": RULES | COMMON | {"eps": EPS, "cap": {1, 3, 1000}, "reach": {"all", "given"}},
    "measurement": COMMON | CLIPPING | {"project": {False, True}} | RULES_OF_MEASUREMENTS,
    "sums": COMMON | CLIPPING | {"project": {False, True}},
}
"""Entry points (`private_mean`, `private_mean_protected_counts`, OpenDP's measurement,
`release_mean`) and the options of each."""


def pairwise(factors):
    """Find rows greedily: any two options of different factors occur together in one of them."""
    rng, rows = Random(0), []
    options = [[(name, x) for x in sorted(values)] for name, values in sorted(factors.items())]
    uncovered = {pair for one, other in combinations(options, 2) for pair in product(one, other)}
    while uncovered:
        candidates = [[rng.choice(each) for each in options] for _ in range(500)]
        best = max(candidates, key=lambda row: len(uncovered.intersection(combinations(row, 2))))
        uncovered.difference_update(combinations(best, 2))
        rows.append(dict(best))
    return rows


IN_PARTS = {"objective": "l1", "width": "best", "centre": "middle", "project": True}
"""Options with which a release itself decides whether to split off users with many records."""

INPUT_RULES = {
    "lists": {"missing": "centre", "outside": "clamp"},
    "polars, lazy": {"missing": "refuse", "outside": "clamp"},
    "DuckDB": {"missing": "drop", "outside": "refuse"},
    **{engine: {"missing": "centre", "outside": "drop"} for engine in ENGINES},
}
"""Rules for missing values and for those outside the bounds, for some kinds of data."""

SPLIT_BUDGETS = {"heavy": ("text", "large", "zCDP"), "light": ("text", "large")}
"""Budgets at which users are split, if the first user has many records ("heavy") or few."""

PARTS = [
    {"entry": "mean", "input": kind, "bounds": "usual", "eps": eps, "users": users} | IN_PARTS | how
    for kind, how in INPUT_RULES.items()
    for users, budgets in SPLIT_BUDGETS.items()
    for eps in budgets
]
PARTS += [
    {"entry": entry, "bounds": bounds, "eps": eps, "users": users} | IN_PARTS | how
    for entry, bounds, how in (
        (
            "measurement",
            "small",
            {name: option for name, (option,) in RULES_OF_MEASUREMENTS.items()},
        ),
        ("sums", "usual", {}),
    )
    for users, budgets in SPLIT_BUDGETS.items()
    for eps in budgets
]

ROWS = [{"entry": entry} | row for entry in FACTORS for row in pairwise(FACTORS[entry])] + PARTS


def numbers_of(row):
    low, high = (0.0, BOUNDS[row["bounds"]][1]) if row["entry"] == "sums" else BOUNDS[row["bounds"]]
    centre = {"middle": None, "off": low + 0.375 * (high - low), "lowest": low}[row["centre"]]
    ratios = {"given": 1.5, "narrow": 0.5, "tiny": 2.0**-36}
    ratio = ratios.get(row.get("width"))
    return low, high, centre, ratio and ratio * (high - low)


def release_call(row, users, values, folder):
    """Return a function that makes the release of a row, by its entry point."""
    low, high, centre, width = numbers_of(row)
    options = {"eps" if row["entry"] == "protected" else "budget": BUDGETS[row["eps"]]}
    options["centre"] = centre
    if row["entry"] != "protected":
        options |= {"objective": row["objective"], "total_width": width}
    if row["entry"] == "sums":
        counts, sums = counts_and_sums(users, values)
        people, options["project"] = ud.Contributions(counts, high), row["project"]
        return lambda: release.release_mean(sums, people, **options)
    options |= {"lower": low, "upper": high}
    if row["entry"] == "measurement":
        options |= {"data": {"user": users, "value": values}, "project": row["project"]}
        return lambda: as_measurement("user", "value", **options)(options["data"])
    options |= {"missing": row["missing"], "outside": row["outside"]}
    columns, kind = ("user", "value"), row["input"]
    if kind in COLUMNS:
        columns = COLUMNS[kind](users, values)
    else:
        value_type = pa.string() if isinstance(values[0], str) else pa.float64()
        options["data"] = TABLES[kind](rows_of(users, pa.array(values, value_type)), folder)
    if row["entry"] == "protected":
        options["reach"] = (high - low) / 8 if row["reach"] == "given" else None
        return lambda: release.private_mean_protected_counts(*columns, cap=row["cap"], **options)
    return lambda: release.private_mean(*columns, project=row["project"], **options)


def counts_and_sums(users, values):
    names, codes = np.unique(users, return_inverse=True)
    return np.bincount(codes), np.bincount(codes, values, len(names)).tolist()


OTHERS = {
    "heavy": ["a"] * 20 + [*"bcdefghijklm"] + ["n", "n"],
    "light": ["z"] * 60 + [*"bcdefghijklm"] + ["n", "n"],
}
"""The other users, in releases in two parts."""


def table(row, kinds, rng, copies=1):
    """Return users and values: those of the first user are of these kinds, others are fixed.

    `copies` is the number of copies of each other user.
    """
    low, high, _, _ = numbers_of(row)
    special = {
        "inside": [low, high, np.nextafter(low, high), 0.5 * (low + high), max(low, -0.0)],
        "outside": [1e300, inf, -inf, 2 * high - low, low - (high - low) / 3, -1e300, 17.0625],
        "missing": [None, nan],
    }
    values = [special[kind][rng.integers(len(special[kind]))] for kind in kinds]
    users = ["a"] * len(kinds)
    if row["users"] in OTHERS:
        others = OTHERS[row["users"]]
        users += others
        values += [low + (high - low) * share for share in np.linspace(0.1, 0.9, len(others))]
    if row["users"] == "many":
        users += [f"{user}{copy}" for copy in range(copies) for user in "bbbbbccde"]
        values += [low + (high - low) * share for share in np.linspace(0.1, 0.9, 9)] * copies
    return users, values


def large_table(row, copies, alike):
    """Return users, as whole numbers, and values within the bounds, all equal if `alike`."""
    low, high, _, _ = numbers_of(row)
    names, values = table(row | {"users": "many"}, ["inside"] * 3, np.random.default_rng(1), copies)
    _, users = np.unique(names, return_inverse=True)
    near_the_top = low + 0.875 * (high - low)
    return users, np.full(users.size, near_the_top) if alike else np.array(values, float)


def kept_rows(row, users, values):
    low, high, _, _ = numbers_of(row)
    frame = pd.DataFrame({"user": users, "value": np.array(values, float)})
    if row.get("outside") == "drop":
        frame = frame[frame.value.between(low, high) | frame.value.isna()]
    return frame.dropna() if row.get("missing") == "drop" else frame


def centre_of(row):
    low, high, centre, _ = numbers_of(row)
    return (low + high) / 2 if centre is None else centre


def parts_of(row, users, values):
    """Return for each part of a release its users' names, counts and bound, S, and intervals."""
    low, high, _, width = numbers_of(row)
    counts = kept_rows(row, users, values).groupby("user").size()
    people, budget = ud.Contributions(counts, high - low), BUDGETS[row["eps"]]
    widths = {1: beyond.threshold(people, budget, row["objective"]) if width is None else width}
    if IN_PARTS.items() <= row.items():
        split = beyond.best_split(people, budget)
        widths = {int(part.users.counts.min()): part.total_width for part in split.parts}
    parts, above = [], inf
    for fewest, S in widths.items():
        selected = counts[(fewest <= counts) & (counts < above)]
        above, part = fewest, ud.Contributions(selected, high - low)
        clipping = beyond.centred_clipping(part, S, centre_of(row) - low)
        parts.append((selected.index, part, float(S), clipping))
    return parts


def clipped_means(row, users, values):
    """Return for each part the mean of the clipped users without noise, and the noise's scale."""
    low, high, _, _ = numbers_of(row)
    frame, centre, means = kept_rows(row, users, values), centre_of(row), []
    by_user = (frame.value.clip(low, high) - centre).fillna(0).groupby(frame.user).sum()
    for names, people, width, clipping in parts_of(row, users, values):
        mean = centre + by_user[names].clip(-width / 2, width / 2).sum() / people.total
        means.append((mean, float(ud.sensitivity(people, clipping)) * noise_of(row)))
    return means


def is_gaussian(row):
    return row["eps"] not in EPS


def noise_of(row):
    """Return the scale of the noise for sensitivity 1."""
    budget = BUDGETS[row["eps"]]
    return budget.sigma if is_gaussian(row) else 1 / float(Fraction(budget))


def clipped_totals(row, reach, users, values):
    """Return sum and weight with protected counts, without noise, each with its noise's scale."""
    low, high, _, _ = numbers_of(row)
    frame, cap, eps = kept_rows(row, users, values), row["cap"], float(Fraction(EPS[row["eps"]]))
    by_user = (frame.value.clip(low, high) - centre_of(row)).fillna(0).groupby(frame.user)
    weights = by_user.size().clip(upper=cap)
    total = (by_user.mean().clip(-reach, reach) * weights).sum()
    return (total, 2 * cap * reach / eps), (weights.sum(), 2 * cap / eps)
