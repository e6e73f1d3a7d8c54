"""Wording of a release: as a sentence, as a table, in HTML and in JSON.

Functions take any result; `WORDINGS` has the wording of each kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import cache
from html import escape
from importlib.resources import files
from math import isfinite
from typing import Any, Literal, NamedTuple

import numpy as np

from userdp import _checks as check
from userdp.beyond._rounding import downwards, factor_of, place_of, to_unit, upwards

Outside = Literal["refuse", "clamp", "drop"]
"""What to do with values beyond the bounds."""

Missing = Literal["refuse", "centre", "drop"]
"""What to do with rows without a value."""

COUNTS_PUBLIC = "user-level, for replacing one user's values, with the counts public"
NOTHING = "nothing is learnt: the release is the same, whatever the data are"
NOT_STATED = "not stated: rows were to be dropped, so the counts depend on protected values"

REPLACED = {"clamp": "values clamped to the bounds", "centre": "missing values set to the centre"}
"""To which values an error refers, if some were replaced."""

FIXED_BEFORE = "a number fixed in advance"

IN_WORDS = {
    ("outside", "clamp"): "values beyond the bounds are replaced by the nearer bound",
    ("outside", "drop"): "values beyond the bounds were left out",
    ("missing", "centre"): f"missing values are replaced by {FIXED_BEFORE}",
    ("missing", "drop"): "rows without a value or a user were left out",
}
"""How replaced and dropped values enter a mean, in words for lay readers."""

MAX_EPS_IN_WORDS = 10
"""The largest eps for which the factor e^eps is written as a number."""

Rows = Sequence[Sequence[str]]


class Words(NamedTuple):
    """The terms that the readers of a number use."""

    unit: str
    """With a space before it, or empty."""
    users: str
    records: str


def sentence(result: Any, unit: str, users: str, records: str) -> str:
    """Return what a number is the mean of, how far off it may be, and what protects the users."""
    words = read_words(unit, users, records)
    wording = WORDINGS[result.kind]
    protected = wording.protects.format(words.records)
    return f"{wording.sentence(result, words)} {privacy(result, words, protected)}"


def read_words(unit: str, users: str, records: str) -> Words:
    """Return words for a sentence; raise if one is not text."""
    for name, word in {"unit": unit, "users": users, "records": records}.items():
        check_text(name, word)
    return Words(unit and f" {unit}", users, records)


def check_text(name: str, text: object) -> None:
    """Raise if an argument is not text."""
    if not isinstance(text, str):
        check.refuse_kind(name, "text", text)


def summary(result: Any) -> list[list[str]]:
    """Return the rows of a small table, each a name and its description."""
    data = {"data": result.of} if result.of else {}
    rows = data | WORDINGS[result.kind].summary(result)
    return [[name, text] for name, text in rows.items()]


def plain(everything: dict[str, Any]) -> dict[str, Any]:
    """Return only numbers, strings and lists, as in JSON."""
    read: dict[str, Any] = json.loads(json.dumps(everything, default=np.ndarray.tolist))
    return read


@cache
def json_schema() -> dict[str, Any]:
    """Return the JSON schema of what results publish."""
    text = files("userdp.release").joinpath("public.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


# The sentence below a number


def privacy(result: Any, words: Words, protected: str) -> str:
    """Return in words how well noise protects each user; `protected` names what may differ."""
    spent = result.eps if result.rho is None else result.rho
    if spent is None:
        return f"The privacy budget is {result.privacy_unit}."
    if spent == 0:
        return f"The number would be the same whatever the {words.records} were."
    owners, of_one_owner = f"each of the {words.users}", " of any one of them"
    if words.users == "users" and getattr(result, "n_users", None) == 1:
        owners, of_one_owner = "the one user", ""
    if result.eps is None:
        return (
            f"Noise protects {protected} of {owners} (user-level differential privacy, "
            f"rho = {upwards(spent)} in zCDP)."
        )
    times = likelihood_ratio(spent)
    return (
        f"Noise protects {owners}: had {protected}{of_one_owner} been entirely different, no "
        f"outcome would have been more than {times} times as likely (user-level differential "
        f"privacy, eps = {upwards(spent)})."
    )


def likelihood_ratio(eps: float) -> str:
    """Return how many times as likely an outcome may become under a budget, rounded up."""
    return factor_of(eps) if eps <= MAX_EPS_IN_WORDS else f"e^{upwards(eps)}"


def _mean_of(result: Any, words: Words) -> str:
    mean, low, high = in_words(result.mean, result.interval(), result.worst_case_error)
    error = at_most(result.worst_case_error)
    unit, users, records = words
    what = f"{result.n_records:,} {records} of {_spelt(result.n_users, users)}"
    if result.n_records == result.n_users:
        each = "" if result.n_users == 1 else "each of "
        what = f"one value of {each}{_spelt(result.n_users, users)}"
    rules = replacement_rules(result.outside, result.missing)
    exact = "the exact mean computed in this way" if rules else "the exact mean"
    what += table_description(result)
    return (
        f"The published mean of {what} is {mean}{unit}{rules}. On average over the noise, it is "
        f"off by at most {error}{unit}, {_whatever(result.n_records, records)}; with a probability "
        f"of 95 %, the interval from {low} to {high}{unit} contains {exact}."
    )


def _protected_mean_of(result: Any, words: Words) -> str:
    mean, low, high = in_words(result.mean, result.interval(), result.worst_case_error)
    unit, users, records = words
    weights = f"each of the {users} is weighted by their number of {records}, up to {result.cap:,},"
    if result.cap == 1:
        weights = f"all {users} have equal weight, each with the average of their own {records},"
    rules = replacement_rules(result.outside, result.missing)
    return (
        f"The published mean{table_description(result)} in which {weights} is {mean}{unit}{rules}. "
        f"With a probability of 95 %, the interval from {low} to {high}{unit} contains the exact "
        f"value of that mean, whatever the {records} are."
    )


def _mean_in_ball_of(result: Any, words: Words) -> str:
    unit, users, records = words
    return (
        f"This is the mean vector of {_spelt(result.n_records, records)} of "
        f"{_spelt(result.n_users, users)}. On average over the noise, it is off by at most "
        f"{at_most(result.worst_case_error)}{unit}, {_whatever(result.n_records, records)}."
    )


def table_description(result: Any) -> str:
    """Return what the table holds, in brackets for a sentence, or an empty text."""
    return f" ({result.of})" if result.of else ""


def numbered(n: int, words: str, one: str = "1") -> str:
    """Return a number of users or records; for one, the default word is in the singular."""
    if n == 1 and words in ("users", "records"):
        return f"{one} {words.removesuffix('s')}"
    return f"{n:,} {words}"


def _spelt(n: int, words: str) -> str:
    """Return a number of users or records, with "one" spelt out."""
    return numbered(n, words, "one")


def _whatever(n: int, records: str) -> str:
    """Return that a statement holds for all values of n records."""
    if n == 1 and records == "records":
        return "whatever the record is"
    return f"whatever the {records} are"


def _counted(n: int, word: str) -> str:
    """Return a number and a word, with an s unless the number is one."""
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _clipped_to(result: Any) -> str:
    """Return the intervals of the most and the fewest records; one if all counts are equal."""
    tightest, *others = result.clips
    interval = "[{0.lower:.4g}, {0.upper:.4g}]".format
    if not others:
        return f"{interval(tightest)} ({_counted(tightest.n_records, 'record')} per user)"
    ends = (tightest, others[-1])
    return " ... ".join(f"{interval(c)} ({_counted(c.n_records, 'record')})" for c in ends)


def replaced_values(outside: Outside, missing: Missing) -> str:
    """Return a suffix that says to which values an error refers, if some were replaced."""
    texts = [REPLACED[choice] for choice in (outside, missing) if choice in REPLACED]
    return f", with {' and '.join(texts)}" if texts else ""


def replacement_rules(outside: Outside, missing: Missing) -> str:
    """Return, for a sentence, how values that were replaced or dropped enter a mean."""
    rules = (("outside", outside), ("missing", missing))
    texts = [IN_WORDS[rule] for rule in rules if rule in IN_WORDS]
    return f" ({'; '.join(texts)})" if texts else ""


def in_words(mean: float, interval: tuple[float, float], error: float) -> list[str]:
    """Return a mean and the ends of its interval to a tenth of the error: further digits are noise.

    The ends are rounded outwards, so that statements about them hold.
    """
    if error == 0:
        return [f"{mean:.6g}", downwards(interval[0]), upwards(interval[1])]
    unit = place_of(error, 2)
    numbers = zip((mean, *interval), (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING), strict=True)
    return [f"{to_unit(number, unit, rounding):,f}" for number, rounding in numbers]


def at_most(error: float) -> str:
    """Return an error with two digits, rounded up."""
    if error == 0:
        return "0"
    return f"{to_unit(error, place_of(error, 2)):,f}"


# The table of a result


def _mean_summary(result: Any) -> dict[str, str]:
    low, high = result.interval()
    scale = "scale" if result.sigma is None else "standard deviation"
    return {
        "private mean": f"{result.mean:.6g}",
        "95 % interval": f"{downwards(low)} to {upwards(high)} "
        "(on every dataset with these counts)",
        "budget": stated_budget(result),
        "error on the worst dataset": f"{upwards(result.worst_case_error, 4)} on average over "
        f"the noise (bias plus mean absolute noise {upwards(result.worst_case_bound, 4)}, bias "
        f"{upwards(result.worst_case_bias, 4)})" + replaced_values(result.outside, result.missing),
        "noise": f"integers drawn by OpenDP, {scale} {_noise(result)}{_unbiased(result)}",
        "averages clipped to": _clipped_to(result),
        "records": f"{result.n_records} from {_counted(result.n_users, 'user')}, "
        f"values in [{result.lower:g}, {result.upper:g}]",
    }


def _noise(result: Any) -> str:
    """Return the scale of the noise, or those of two parts."""
    if not result.parts:
        return f"{result.noise_scale:.4g}"
    of_each = " and ".join(
        f"{part.noise_scale:.4g} for {_counted(part.n_users, 'user')} with at least "
        f"{_counted(part.fewest, 'record')}"
        for part in result.parts
    )
    return f"{of_each}, each part with the whole budget"


def _unbiased(result: Any) -> str:
    """Return what happens to the noise if the release is not projected."""
    if result.project:
        return ""
    if result.sigma is not None:
        return " (unbiased for the clipped mean)"
    low, high = result.clipped_range
    beyond = f"averaged below {low:.4g} and above {high:.4g}"
    return f" (unbiased for the clipped mean; {beyond}, outside the range of clipped means)"


def _protected_summary(result: Any) -> dict[str, str]:
    low, high = result.interval()
    lowest, highest = result.weight_interval()
    return {
        "private mean": f"{result.mean:.6g}",
        "95 % interval": f"{downwards(low)} to {upwards(high)} (without the effect of the cap)",
        "budget": stated_budget(result),
        "weight": f"{result.noisy_weight} (95 % interval: {downwards(lowest)} to "
        f"{upwards(highest)}), at most {result.cap} per user",
        "error on the worst dataset": f"at most {upwards(result.worst_case_error, 4)} "
        "on average over the noise (without the effect of the cap), if the weight is at least "
        "the lower end of its interval"
        f"{replaced_values(result.outside, result.missing)}",
        "noise": f"integers drawn by OpenDP, scale {result.sum_scale:.4g} for the sum and "
        f"{result.weight_scale:.4g} for the weight",
        "averages clipped to": f"[{max(result.centre - result.reach, result.lower):.4g}, "
        f"{min(result.centre + result.reach, result.upper):.4g}]",
        "values": f"in [{result.lower:g}, {result.upper:g}]",
    }


def _in_ball_summary(result: Any) -> dict[str, str]:
    length = float(np.linalg.norm(result.mean))
    return {
        "private mean": f"{_counted(result.mean.size, 'coordinate')}, of length {length:.6g}",
        "budget": stated_budget(result),
        "error on the worst dataset": f"{upwards(result.worst_case_error, 4)} on average over "
        f"the noise (a length; bias {upwards(result.worst_case_bias, 4)})",
        "noise": f"integers drawn by OpenDP, standard deviation {result.noise_scale:.4g} "
        "in each coordinate",
        "sums clipped to": f"length {result.radius:.4g}",
        "records": f"{result.n_records} from {_counted(result.n_users, 'user')}",
    }


def stated_budget(result: Any) -> str:
    """Return what was spent, and the privacy unit."""
    if result.eps is not None:
        return f"eps = {upwards(result.eps)}, {result.privacy_unit}"
    if result.rho is not None:
        return f"rho = {upwards(result.rho)} (zCDP), {result.privacy_unit}"
    return f"eps {result.privacy_unit}"


class Wording(NamedTuple):
    """The wording of releases of one kind."""

    protects: str
    """What is protected, with a placeholder for the name of records."""
    sentence: Callable[[Any, Words], str]
    summary: Callable[[Any], dict[str, str]]


WORDINGS = {
    "private mean": Wording("the values of the {}", _mean_of, _mean_summary),
    "private mean with protected counts": Wording(
        "the values and the number of the {}", _protected_mean_of, _protected_summary
    ),
    "private mean of vectors": Wording("the values of the {}", _mean_in_ball_of, _in_ball_summary),
}
"""By `kind` of a result."""


# Small tables, as plain text and as HTML for notebooks


def readable(number: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number with four digits, or with all digits before its point."""
    if 1e4 <= abs(number) < 1e12:
        return f"{to_unit(number, Decimal(1), rounding):,f}"
    if number == 0 or not isfinite(number):
        return f"{number:g}"
    return f"{float(to_unit(number, place_of(number, 4), rounding)):.4g}"


def text_table(head: Sequence[str], rows: Rows) -> str:
    """Return columns of text, aligned on the left."""
    lines = [list(row) for row in rows]
    if head:
        lines.insert(0, list(head))
    widths = [max(map(len, column)) for column in np.transpose(lines)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def html_table(head: Sequence[str], rows: Rows) -> str:
    """Return an HTML table whose first column names the rows."""
    names = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    lines = (
        f"<tr><th scope='row'>{escape(first)}</th>"
        + "".join(f"<td>{escape(text)}</td>" for text in others)
        + "</tr>"
        for first, *others in rows
    )
    above = f"<thead><tr>{names}</tr></thead>" if head else ""
    return f"<table class='dataframe'>{above}<tbody>{''.join(lines)}</tbody></table>"
