"""Break the code in thousands of ways, and count what the tests notice: mutation testing.

mutmut writes the mutants, thousands of functions with one change each, and the switch between them.
Its own runner starts pytest anew for each one, which takes hours here. So pytest collects the tests
once and runs them once, to see which of them call which function; then a process is forked for each
mutant, and runs those tests until one fails. That kills the mutant, as do a crash and a hang.

Counts go to book/data/mutants.csv. Survivors must stand in tests/survivors.yml with a reason: so
many of a function. Fails below 98 % killed, or if more survive than are listed. Arguments are
modules, "noise" for instance: then only these are broken, and only their counts replaced.
"""

import gc
import hashlib
import json
import os
import resource
import shutil
import signal
import sys
from collections import Counter, defaultdict
from difflib import ndiff
from itertools import accumulate, compress
from multiprocessing import Array, Pipe, get_context
from pathlib import Path

import libcst as cst
import pandas as pd
import pytest
import yaml
from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item
from built import ROOT
from hypothesis import Phase, settings
from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths
from mutmut.configuration import config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import read_functions_from_index
from mutmut.mutation.mutators import mutation_operators, operator_string
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils.file_utils import walk_mutatable_files
from tqdm import tqdm

COUNTS, SURVIVORS = ROOT / "book/data/mutants.csv", ROOT / "tests/survivors.yml"
LEAST_SHARE = 0.98
PROCESSES = os.cpu_count() or 1
SECONDS = 6, 3
"""Tests of a mutant, by the time they take on sound code: one of each kind, and others, the fast
ones first. To leave tests out can only make more mutants survive."""
CPU_SECONDS, MEMORY = 30, 8 * 2**30
"""With more than these a mutant is taken to hang."""


def passes(item):
    """Run one test, with its own filters of warnings."""
    with catch_warnings_for_item(item.config, item.ihook, "runtest", item, record=False):
        reports = runtestprotocol(item, log=False, nextitem=None)
    return not any(report.failed for report in reports)


def run_once(items, answer):
    """Send the seconds each test takes on sound code and the functions it calls, None if it fails.

    In a process of its own: polars' threads, once started, outlive no fork.
    """
    set_mutant_under_test("stats")
    for item in items:
        state()._stats.clear()
        start, good = sum(os.times()[:4]), passes(item)  # of processors: others may be busy, too
        answer.send((sum(os.times()[:4]) - start, {*state()._stats}) if good else None)


def within(entries, budget):
    """Return entries (seconds, test), the fast ones first, while they fit a budget."""
    entries = sorted(entries, key=lambda entry: entry[0])
    fit = (total <= budget for total in accumulate(seconds for seconds, _ in entries))
    return [*compress(entries, fit)]


def who_calls_what(items):
    """Run all tests once, and choose for each function those that may kill its mutants."""
    here, there = Pipe(duplex=False)
    get_context("fork").Process(target=run_once, args=(items, there)).start()
    kinds, others = defaultdict(dict), defaultdict(list)
    for item in items:
        found = here.recv()
        if not found:
            pytest.exit(f"Fails without any mutation: {item.nodeid}", 2)
        entry, kind = (found[0], item), (item.path, getattr(item, "originalname", item.name))
        for function in found[1]:
            if kinds[function].setdefault(kind, entry) is not entry:
                others[function].append(entry)
    print(f"{len(items)} tests pass, and call {len(kinds)} functions.", flush=True)
    chosen = defaultdict(list)
    for function, by_kind in kinds.items():
        entries = within(by_kind.values(), SECONDS[0]) + within(others[function], SECONDS[1])
        chosen[function] = [item for _, item in within(entries, sum(SECONDS))]
    return chosen


def be_broken(name, items, killer, number):
    """Be a forked process with one mutant: exit with 1 once a test fails, and say which."""
    code = 2
    try:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(10 * CPU_SECONDS)
        set_mutant_under_test(name)
        killer[number] = next((i for i, item in enumerate(items) if not passes(item)), -1)
        code = int(killer[number] >= 0)
    finally:
        os._exit(code)


def survivors(names, tests):
    """Run the tests of each mutant, in as many processes as there are processors."""
    killer = Array("i", [-1] * len(names), lock=False)
    running, alive = {}, set()

    def wait():
        """Wait for a process; a test that has killed is tried first on the next mutant."""
        pid, status = os.waitpid(-1, 0)
        number, name, listed, items = running.pop(pid, (0, "", [], ()))
        if name and status == 0:
            alive.add(name)
        if name and killer[number] >= 0:
            listed.remove(items[killer[number]])
            listed.insert(0, items[killer[number]])

    for number, name in enumerate(tqdm(names, unit="mutant", disable=None)):
        if len(running) >= PROCESSES:
            wait()
        listed = tests[name.partition("__mutmut_")[0]]
        items = tuple(listed)
        pid = os.fork()
        if pid == 0:
            be_broken(name, items, killer, number)
        running[pid] = number, name, listed, items
    while running:
        wait()
    return alive


class Mutation:
    """A pytest plugin that runs the collected tests on every mutant, instead of once."""

    def __init__(self, mutants):
        self.mutants, self.alive = sorted(mutants), None
        # To fail is enough: hypothesis need not look for the smallest example of it.
        settings.register_profile("mutate", phases=(Phase.explicit, Phase.generate))

    def pytest_collection(self):
        """Replace the settings that the tests have."""
        settings.load_profile("mutate")

    def pytest_runtestloop(self, session):
        """Replace pytest's own loop."""
        if session.testsfailed:
            pytest.exit("The tests could not be collected.", 2)
        tests = who_calls_what(session.items)
        gc.freeze()
        self.alive = survivors(self.mutants, tests)
        return True


def describe(name, path):
    """Return the function of a mutant, and the lines that it changes as they were and become."""
    original, mutant = (
        cst.Module(body=[function]).code.splitlines()
        for function in read_functions_from_index(name, path)
    )
    changed = list(ndiff(original, mutant))
    was, becomes = (
        " ".join(line[2:].strip() for line in changed if line.startswith(sign)) for sign in "-+"
    )
    function = name.partition("__mutmut_")[0].removeprefix("userdp.")
    function = function.replace(".x_", ".").replace(".xǁ", ".").replace("ǁ", ".")
    return {"in": function, "was": was, "becomes": becomes}


def make_mutants(modules):
    """Write the package and its mutants to mutants/; return their files and modules by name."""
    shutil.rmtree("mutants", ignore_errors=True)
    Path("mutants").mkdir()
    set_mutant_under_test("mutant_generation")
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    # Strings are changed but for those with a space: the words of a message.
    words = lambda node: [] if " " in getattr(node, "value", "") else operator_string(node)  # noqa: E731
    mutation_operators[:] = [
        (kind, words if operator is operator_string else operator)
        for kind, operator in mutation_operators
    ]
    create_mutants(PROCESSES)
    mutants = {}
    for path in sorted(walk_mutatable_files()):
        data, module = SourceFileMutationData(path=path), ".".join(path.with_suffix("").parts[1:])
        data.load()
        if not modules or {module, module.partition(".")[0]} & {*modules}:
            mutants |= dict.fromkeys(data.exit_code_by_key, (path, module))
    return mutants


def count(mutants, alive, modules):
    """Write how many mutants of each module there are and survive; return the share killed."""
    every = [(module, 1, name not in alive, name in alive) for name, (_, module) in mutants.items()]
    names = ["module", "mutants", "killed", "survived"]
    counts = pd.DataFrame(every, columns=names).groupby("module").sum()
    if modules and COUNTS.exists():
        counts = counts.combine_first(pd.read_csv(COUNTS, index_col="module"))[names[1:]].astype(
            int
        )
    counts.to_csv(COUNTS, lineterminator="\n")
    # Without keep_record: what is loaded here is the broken copy.
    digest = hashlib.sha256(COUNTS.read_bytes()).hexdigest()
    said = {"command": "make mutate", "script": "tools/mutate.py", "seed": None, "sha256": digest}
    COUNTS.with_suffix(".json").write_text(json.dumps(said, indent=1) + "\n", "utf-8")
    print(counts)
    return counts.killed.sum() / counts.mutants.sum()


def report(mutants, alive, modules):
    """Print the counts and the survivors that are not listed; return the exit status."""
    share = count(mutants, alive, modules)
    listed = Counter()
    for group in yaml.safe_load(SURVIVORS.read_text("utf-8")):
        listed.update(group["in"])
    found = [describe(name, mutants[name][0]) for name in sorted(alive)]
    lives = Counter(mutant["in"] for mutant in found)
    broken = tuple({f"{module}." for _, module in mutants.values()})
    known = Counter({name: n for name, n in listed.items() if name.startswith(broken)})
    unlisted = [mutant for mutant in found if mutant["in"] in lives - known]
    told = {"More survive than are listed": unlisted, "Fewer do": dict(known - lives)}
    print(yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=200))
    return int(bool(unlisted) or share < LEAST_SHARE)


def main(modules):
    """Run everything, and return the exit status."""
    os.chdir(ROOT)
    mutants = make_mutants(modules)
    plugin = Mutation(mutants)
    os.chdir("mutants")
    options = ["--rootdir=.", "-q", "--tb=native", "--assert=plain", *config().pytest_add_cli_args]
    pytest.main(options + config().pytest_add_cli_args_test_selection, plugins=[plugin])
    os.chdir(ROOT)
    return 2 if plugin.alive is None else report(mutants, plugin.alive, modules)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
