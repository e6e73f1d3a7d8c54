"""Results of userdp that Coq proves correct: a wrong one is refused."""

import json
import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from random import Random

import numpy as np
import pytest
from proving import BUILT, PROOFS, compiled, with_coq

import userdp as ud
from tools import bridge, collection_recorder
from tools.ext.contents import pages
from userdp import beyond, model, worstcase

pytestmark = with_coq
akmv = import_module("userdp.akmv")  # `userdp.akmv` is a function
CLOSED = "Closed under the global context\n"
LITTLE = Fraction(1, 10**9)
# The results of userdp in a case of each kind; the other fields are the problem.
RESULTS = {
    "rank": ["rank"],
    "optimal": ["rank", "threshold", "low", "high", "error"],
    "floats": ["rank", "threshold", "low", "high", "error"],
    "clipping": ["bias", "printed", "sensitivity", "error"],
    "rounded": ["bias", "printed", "sensitivity", "error"],
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
    """Run Coq on a file."""
    file = folder / "cases.v"
    file.write_text(text, encoding="utf-8")
    command = ["coqc", "-q", "-noglob", "-w", "none", "-Q", BUILT, "UserDP"]
    return subprocess.run([*command, file], capture_output=True, text=True)


def spoilt(case, name):
    """Change a result of a case by 1e-9, absolutely or relatively, or a rank by one."""
    value = getattr(case, name)
    if isinstance(value, list):
        value = [value[0] + LITTLE, *value[1:]]
    elif isinstance(value, int):
        value += 1
    else:
        value += LITTLE * max(1, abs(value))
    return replace(case, **{name: value})


def test_a_seed_fixes_the_cases():
    assert bridge.cases("optimal", 30, seed=1) == bridge.cases("optimal", 30, seed=1)
    assert bridge.cases("optimal", 30, seed=1) != bridge.cases("optimal", 30, seed=2)


def test_cases_have_ties_whole_ranks_and_few_and_many_users():
    cases = bridge.cases("optimal", 100, seed=20)
    assert any((2 / case.eps).denominator == 1 for case in cases)
    assert {1, 2} < {len(case.counts) for case in cases}
    assert max(len(case.counts) for case in cases) == 9001
    assert any(case.counts.count(max(case.counts)) > 1 for case in cases)
    assert {case.threshold == 0 for case in cases} == {True, False}


def test_instances_in_floats_have_all_types_and_some_are_close_to_whole_ranks():
    instances = bridge.instances("floats", 1000, Random(20))
    forms = {(type(q.given_upper), type(q.given_eps)) for q in instances}
    uppers = {float, np.float64, np.float32, np.float16, int, np.int64, Fraction}
    assert uppers == {upper for upper, _ in forms}
    floats = {float, np.float64, np.float32, np.float16}
    assert floats | {Fraction, int, np.int64, str} <= {eps for _, eps in forms}
    distances = [(q, abs(2 / q.eps / round(2 / q.eps) - 1)) for q in instances if 2 / q.eps > 1]
    assert any(0 < distance <= q.tolerance for q, distance in distances)
    assert any(q.tolerance < distance < 1e-5 for q, distance in distances if q.tolerance)


@cache
def right_cases(kind):
    """Return some cases of the book and some drawn ones; of points, those without residuals."""
    cases = bridge.cases(kind, 12, seed=20)
    cases = cases if kind == "certificate" else cases[:8] + cases[-12:]
    return [case for case in cases if kind != "residuals" or not any(case.residuals)]


@pytest.mark.parametrize("kind", RESULTS)
def test_a_wrong_result_is_refused(kind, tmp_path):
    """Each number of a result is changed separately; exactly the changed cases are refused."""
    right = right_cases(kind)
    wrong = [spoilt(case, name) for case in right for name in RESULTS[kind]]
    done = coq(bridge.refusals({kind: right + wrong}), tmp_path)
    assert done.returncode == 0
    refused = [int(n) for n in re.findall(r"\d+", done.stdout)]
    assert refused == list(range(len(right), len(right + wrong)))


@pytest.mark.parametrize("kind", RESULTS)
def test_there_is_no_theorem_for_a_wrong_result(kind, tmp_path):
    right = right_cases(kind)[:6]
    done = coq(bridge.document({kind: right}), tmp_path)
    assert (done.returncode, done.stdout) == (0, CLOSED)
    wrong = [*right, spoilt(right[0], RESULTS[kind][-1])]
    assert coq(bridge.document({kind: wrong}), tmp_path).returncode != 0


def test_invalid_problems_and_exchanged_results_are_refused(tmp_path):
    """An invalid problem has no correct result; exchanged results are wrong."""
    best, clipping = bridge.cases("optimal", 0, seed=20)[0], bridge.cases("clipping", 0, seed=20)[0]
    none = {"counts": [], "low": [], "high": []}
    cases = {
        "rank": [bridge.Rank(Fraction(eps), Fraction(0), 2) for eps in (0, -1)],
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
            replace(clipping, **none),
            replace(clipping, eps=Fraction(0)),
            replace(clipping, low=clipping.high, high=clipping.low),
            replace(clipping, bias=clipping.sensitivity, sensitivity=clipping.bias),
        ],
    }
    done = coq(bridge.refusals(cases), tmp_path)
    assert done.returncode == 0
    refused = re.findall(r"\[::([^\]]*)\]", done.stdout)
    assert [len(numbers.split(";")) for numbers in refused] == [2, 7, 4]


def test_a_floor_is_refused_if_a_part_of_its_proof_is_changed(tmp_path):
    """The collection, the budget, or the datasets, factors, weights or loads of the certificate."""
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
        replace(right, positions=right.positions[:-1]),
        replace(right, weights=[0 for _ in right.weights]),
        replace(right, weights=right.weights[1:]),
        replace(right, load_unit=right.load_unit + 1),
        replace(right, loads=right.loads[1:]),
    ]
    done = coq(bridge.refusals({"certificate": [right, *wrong]}), tmp_path)
    assert done.returncode == 0
    assert [int(n) for n in re.findall(r"\d+", done.stdout)] == list(range(1, len(wrong) + 1))


def test_a_result_that_is_not_a_fraction_is_not_written(monkeypatch):
    monkeypatch.setattr(bridge.ud, "optimal_error", lambda users, eps: 1.5)
    with pytest.raises(TypeError, match="which is not a Fraction"):
        bridge.cases("optimal", 0, seed=20)


def is_float(number):
    return isinstance(number, float | np.floating)


def rank_of_floats(eps, right=ud.rank):
    return right(eps) + is_float(eps)


def half_of_floats(users, eps, right=ud.optimal_error):
    return right(users, eps) / (2 if is_float(users.upper) else 1)


def narrow_in_floats(users, eps, right=ud.optimal_clipping):
    best = right(users, eps)
    if not is_float(users.upper):
        return best
    quarter = (best.upper - best.lower) / 4
    return ud.Clipping(best.lower + quarter, best.upper - quarter)


def doubled_unless_fraction(eps, name="eps", right=model.read_eps):
    return right(eps, name) * (1 if isinstance(eps, Fraction) else 2)


def triple_for_many(sums, users, eps, right=ud.akmv_error):
    return right(sums, users, eps) * (3 if users.n_users > 12 else 1)


def one_sample_lost(counts, right=model._read_counts):
    read = right(counts).copy()
    read[np.argmax(read)] -= read.max() > 1
    return read


def one_level_less(M, upper, right=ud.geometric_collection):
    return right(M - 1, upper)


def wrong_on_one_page(users, eps, right=ud.optimal_error):
    return right(users, eps) * (2 if sorted(users.counts) == [1, 2, 3] else 1)


BREAKS = {
    "rank": ("floats", rank_of_floats, "rank", [ud, worstcase, akmv]),
    "error": ("floats", half_of_floats, "optimal_error", [ud]),
    "intervals": ("floats", narrow_in_floats, "optimal_clipping", [ud]),
    "budgets": ("floats", doubled_unless_fraction, "read_eps", [model, worstcase, akmv]),
    "AKMV": ("akmv", triple_for_many, "akmv_error", [ud]),
    "counts": ("optimal", one_sample_lost, "_read_counts", [model]),
    "geometric": ("optimal", one_level_less, "geometric_collection", [ud]),
    "one page": ("optimal", wrong_on_one_page, "optimal_error", [ud]),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_in_userdp_is_refused(name, monkeypatch, tmp_path):
    """Exactly the changed results are refused; the problems are written unchanged."""
    kind, broken, function, modules = BREAKS[name]
    problems = [q for q in bridge.instances(kind, 20, Random(20)) if len(q.counts) <= 40]
    right = [bridge.KINDS[kind].compute(q, Random(20)) for q in problems]
    for module in modules:
        monkeypatch.setattr(module, function, broken)
    changed = [bridge.KINDS[kind].compute(q, Random(20)) for q in problems]
    wrong = [i for i, case in enumerate(changed) if case != right[i]]
    assert wrong
    fields = ["counts", "upper", "eps"]
    for field in fields:
        assert [getattr(case, field) for case in changed] == [
            getattr(case, field) for case in right
        ]
    done = coq(bridge.refusals({kind: changed}), tmp_path)
    assert [int(n) for n in re.findall(r"\d+", done.stdout)] == wrong


SHADOW = """From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Definition nseq (T : Type) (n : nat) (x : T) := seq.nseq (minn n 1) x.
Definition size (T : Type) (s : seq T) := 0%N.
Module List.
Definition Forall (T : Type) (P : T -> Prop) (s : seq T) := True.
End List.
Lemma none_refused (T : Type) (ok : T -> bool) (says : T -> Prop) (cases : seq T) :
  (forall c, ok c -> says c) -> all ok cases || true -> List.Forall says cases.
Proof. by []. Qed.
"""


def test_names_of_the_library_in_a_file_of_the_proofs_do_not_change_the_cases(tmp_path):
    """Such a file may define, for example, another `List.Forall`, which is always true."""
    (tmp_path / "shadow.v").write_text(SHADOW, encoding="utf-8")
    compile_shadow = ["coqc", "-q", "-w", "none", "-R", tmp_path, "UserDP", tmp_path / "shadow.v"]
    subprocess.run(compile_shadow, check=True)
    users = bridge.Collection.of("Contributions", [5] * 8)
    case = bridge.Optimal.compute(bridge.Instance.of(users, Fraction(1), Fraction(1)), Random(0))
    last_import = "Require Import bridge bridge_certificate."
    for cases, is_proved in (([case], True), ([spoilt(case, "error")], False)):
        text = bridge.document({"optimal": cases})
        assert last_import in text
        assert "nseq 8" in text
        shadowed = text.replace(last_import, f"{last_import} Require Import UserDP.shadow.")
        file = tmp_path / "cases.v"
        file.write_text(shadowed, encoding="utf-8")
        folders = ["-R", tmp_path, "UserDP", "-Q", BUILT, "UserDP"]
        command = ["coqc", "-q", "-noglob", "-w", "none", *folders, file]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.stdout == CLOSED) == is_proved, done.stderr


def test_the_collections_that_a_page_makes_are_recorded(monkeypatch):
    """Each once, with the function that makes it, unless `userdp` makes it for itself."""
    monkeypatch.setattr(ud.Contributions, "__init__", ud.Contributions.__init__)  # undone later
    collection_recorder.start()
    users = ud.Contributions([1, 7, 7], upper=65)
    ud.Contributions([7, 1, 7], upper=1)
    ud.geometric_collection(M=2, upper=1)
    ud.extreme_collection(4, 10, upper=Fraction(1))
    beyond.best_split(users, 1)
    assert json.loads(collection_recorder.take()) == [
        ["Contributions", "7 2", "1 1"],
        ["geometric_collection", 2],
        ["extreme_collection", 4, 10],
    ]
    assert collection_recorder.take() == "[]"


def test_every_recorded_collection_is_a_case():
    """The first ones of each page are cases of every kind, the others of one kind each.

    Users may be in another order.
    """
    lines = [json.loads(line) for line in bridge.COLLECTIONS.read_text("utf-8").splitlines()]
    assert {page for page, *_ in lines} <= set(pages())
    asked = {
        kind: [sorted(case.counts) for case in bridge.book_instances(kind, False, Random(20))]
        for kind in [*bridge.KINDS][:-1]
    }
    for _, maker, *arguments in lines:
        rows = [bridge.in_full(arguments)] if maker == "Contributions" else arguments
        counts = sorted(bridge.MAKERS[maker](*rows))
        assert any(counts in cases for cases in asked.values())
    for counts in ([4, 2, 1], [64] * 8 + [1] * 119, bridge.geometric(6), bridge.extreme(101, 10)):
        assert all(sorted(counts) in cases for cases in asked.values())


def test_results_of_every_kind_are_asked_for():
    """A kind is what Coq has a sound check of."""
    text = "".join(path.read_text("utf-8") for path in sorted(PROOFS.glob("bridge*.v")))
    sound = re.findall(r"^Theorem (\w+)_sound\b", text, re.MULTILINE)
    assert sorted(bridge.KINDS) == sorted(RESULTS) == sorted(sound)


def test_residuals_of_wrong_points_are_among_the_cases():
    cases = bridge.cases("residuals", 50, seed=20)
    wrong = sum(any(case.residuals) for case in cases)
    assert len(cases) // 4 < wrong < len(cases)
