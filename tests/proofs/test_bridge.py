"""Answers of userdp that Coq has proved right: one that is not is refused."""

import re
import subprocess
from dataclasses import replace
from fractions import Fraction

import pytest
from proving import BUILT, compiled, with_coq

from tools import bridge

pytestmark = with_coq
CLOSED = "Closed under the global context\n"
LITTLE = Fraction(1, 10**9)
# What userdp answers in a case of each kind; all else is the question.
ANSWERS = {
    "rank": ["rank"],
    "optimal": ["rank", "threshold", "low", "high", "error"],
    "clipping": ["bias", "printed", "sensitivity", "error"],
    "multipliers": ["alpha", "total_width", "lambda_users", "mu_users", "lambda_width"],
    "residuals": ["residuals"],
    "akmv": ["rank", "error"],
    "certificate": ["bound"],
}


@pytest.fixture(scope="module", autouse=True)
def built():
    """The checks and their proofs, compiled."""
    compiled("../_build/proofs/bridge_certificate.vo")


def coq(text, folder):
    """What Coq says of a file."""
    file = folder / "cases.v"
    file.write_text(text, encoding="utf-8")
    command = ["coqc", "-q", "-noglob", "-w", "none", "-Q", BUILT, "UserDP"]
    return subprocess.run([*command, file], capture_output=True, text=True)


def spoilt(case, name):
    """The case with an answer that is off by 10^-9, or by this share of it, or a rank by one."""
    value = getattr(case, name)
    if isinstance(value, list):
        value = [value[0] + LITTLE, *value[1:]]
    elif isinstance(value, int):
        value += 1
    else:
        value += LITTLE * max(1, abs(value))
    return replace(case, **{name: value})


def test_a_seed_draws_the_same_again():
    assert bridge.cases("optimal", 30, seed=1) == bridge.cases("optimal", 30, seed=1)
    assert bridge.cases("optimal", 30, seed=1) != bridge.cases("optimal", 30, seed=2)


def test_what_is_drawn_has_ties_whole_ranks_and_few_and_many_users():
    some = bridge.cases("optimal", 100, seed=20)
    assert any((2 / case.eps).denominator == 1 for case in some)
    assert {1, 2} < {len(case.counts) for case in some}
    assert max(len(case.counts) for case in some) > 100
    assert any(case.counts.count(max(case.counts)) > 1 for case in some)
    assert {case.threshold == 0 for case in some} == {True, False}


def right_cases(kind, n):
    """Cases, the last ones drawn; of points with multipliers only those that satisfy all."""
    some = bridge.cases(kind, n, seed=20)
    return [case for case in some if kind != "residuals" or not any(case.residuals)]


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_that_is_off_is_refused(kind, tmp_path):
    """Each number of an answer by itself, and where they stand; those that are right are not."""
    right = right_cases(kind, 12)
    wrong = [spoilt(case, name) for case in right for name in ANSWERS[kind]]
    said = coq(bridge.refusals({kind: right + wrong}), tmp_path)
    assert said.returncode == 0
    refused = [int(n) for n in re.findall(r"\d+", said.stdout)]
    assert refused == list(range(len(right), len(right + wrong)))


@pytest.mark.parametrize("kind", ANSWERS)
def test_there_is_no_theorem_of_a_wrong_answer(kind, tmp_path):
    right = right_cases(kind, 0)[:7]
    said = coq(bridge.document({kind: right}), tmp_path)
    assert (said.returncode, said.stdout) == (0, CLOSED)
    wrong = [*right, spoilt(right[0], ANSWERS[kind][-1])]
    assert coq(bridge.document({kind: wrong}), tmp_path).returncode != 0


def test_nothing_true_of_no_users_is_proved(tmp_path):
    """A question that is none has no right answer, whatever is said; nor do exchanged answers."""
    best, any_one = bridge.cases("optimal", 0, seed=20)[0], bridge.cases("clipping", 0, seed=20)[0]
    none = {"counts": [], "low": [], "high": []}
    asked = {
        "rank": [replace(bridge.Rank(Fraction(1), 2), eps=Fraction(eps)) for eps in (0, -1)],
        "optimal": [
            replace(best, **none),
            replace(best, counts=[0, 0, 0]),
            replace(best, upper=-best.upper),
            replace(best, eps=Fraction(0)),
            replace(best, low=best.high, high=best.low),
            replace(best, low=best.low[::-1], high=best.high[::-1]),
            replace(best, error=best.threshold, threshold=best.error),
        ],
        "clipping": [
            replace(any_one, **none),
            replace(any_one, eps=Fraction(0)),
            replace(any_one, low=any_one.high, high=any_one.low),
            replace(any_one, bias=any_one.sensitivity, sensitivity=any_one.bias),
        ],
    }
    said = coq(bridge.refusals(asked), tmp_path)
    assert said.returncode == 0
    refused = re.findall(r"\[::([^\]]*)\]", said.stdout)
    assert [len(numbers.split(";")) for numbers in refused] == [2, 7, 4]


def test_what_proves_a_floor_is_checked(tmp_path):
    """Larger floors that follow from datasets, factors or loads that are not as they must be."""
    right = bridge.cases("certificate", 0, seed=20)[0]
    [(n_apart, factor), *factors] = right.factors
    wrong = [
        replace(right, counts=[count - 1 for count in right.counts]),
        replace(right, counts=right.counts[:-1]),
        replace(right, upper=2 * right.upper),
        replace(right, eps=right.eps * 2),
        replace(right, eps=-right.eps),
        replace(right, factors=[(n_apart, factor - 1), *factors]),
        replace(right, factors=factors),
        replace(right, sizes=[right.sizes[0] - 1, *right.sizes[1:]]),
        replace(right, blocks=right.blocks[1:]),
        replace(right, groups=[len(right.sizes), *right.groups[1:]]),
        replace(right, levels=[[9 * level for level in levels] for levels in right.levels]),
        replace(right, stands=right.stands[:-1]),
        replace(right, weights=[0 for _ in right.weights]),
        replace(right, weights=right.weights[1:]),
        replace(right, load_unit=right.load_unit + 1),
        replace(right, loads=right.loads[1:]),
    ]
    said = coq(bridge.refusals({"certificate": [right, *wrong]}), tmp_path)
    assert said.returncode == 0
    assert [int(n) for n in re.findall(r"\d+", said.stdout)] == list(range(1, len(wrong) + 1))


def test_an_answer_that_is_no_fraction_is_not_written_down(monkeypatch):
    monkeypatch.setattr(bridge.ud, "optimal_error", lambda users, eps: 1.5)
    with pytest.raises(TypeError, match="which is no Fraction"):
        bridge.cases("optimal", 0, seed=20)


def test_a_slip_in_userdp_is_noticed(monkeypatch, tmp_path):
    right = bridge.ud.rank
    monkeypatch.setattr(bridge.ud, "rank", lambda eps: right(eps) + (2 / eps).denominator % 2)
    some = bridge.cases("rank", 20, seed=20)
    refused = re.findall(r"\d+", coq(bridge.refusals({"rank": some}), tmp_path).stdout)
    wrong = [i for i, case in enumerate(some) if case.rank != right(case.eps)]
    assert [int(n) for n in refused] == wrong
    assert wrong


def test_residuals_of_wrong_points_are_asked_for():
    some = bridge.cases("residuals", 50, seed=20)
    wrong = sum(any(case.residuals) for case in some)
    assert len(some) // 4 < wrong < len(some)
