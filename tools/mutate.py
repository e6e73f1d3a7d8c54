"""Break the code in thousands of ways, and count what the tests notice: mutation testing.

mutmut writes the mutants, thousands of functions with one change each, and the switch between them.
Its own runner starts pytest anew for each one, which takes hours here. So pytest collects the tests
once and runs them once, to see which of them call which function; then a process is forked for each
mutant, and runs those tests until one fails. That kills the mutant, as do a crash and a hang.

Counts go to book/data/mutants.csv. Survivors must stand in tests/survivors.yml with a reason, by
the function and by what differs: mutmut's numbers shift with every edit. Fails below 95 % killed,
or if a survivor is not listed. Arguments are modules, "noise" for instance: then only these are
broken, and only their counts replaced.
"""

import csv
import gc
import hashlib
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections import defaultdict
from difflib import ndiff
from multiprocessing import Array, Pipe, get_context
from pathlib import Path

import libcst as cst
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

COUNTS, SURVIVORS = ROOT / "book/data/mutants.csv", ROOT / "tests/survivors.yml"
LEAST_SHARE = 0.95
PROCESSES = os.cpu_count() or 1
SECONDS = 1, 3, 5
"""Tests of a mutant, by the time they take on sound code: one of each kind, the fast ones first; if
it survives those, the fast ones of all others; and at last the slow kinds. To leave tests out can
only make more mutants survive."""
CPU_SECONDS, MEMORY = 30, 8 * 2**30
"""With more than these a mutant is taken to hang."""


def mutate_string(node):
    """Change a string as mutmut does, but for those with a space: the words of a message."""
    return [] if " " in getattr(node, "value", "") else operator_string(node)


def passes(item):
    """Run one test, with its own filters of warnings."""
    with catch_warnings_for_item(item.config, item.ihook, "runtest", item, record=False):
        reports = runtestprotocol(item, log=False, nextitem=None)
    return not any(report.failed for report in reports)


def timed(items):
    """Run all tests once: the seconds each took and the functions it called, None if it fails."""
    set_mutant_under_test("stats")
    for item in items:
        state()._stats.clear()
        start = time.perf_counter()
        good = passes(item)
        yield (time.perf_counter() - start, {*state()._stats}) if good else None


def in_another_process(function, *arguments):
    """Return a list of what is yielded there: polars' threads, once started, outlive no fork."""
    here, there = Pipe(duplex=False)
    process = get_context("fork").Process(target=lambda: there.send([*function(*arguments)]))
    process.start()
    there.close()
    answer = here.recv()
    process.join()
    return answer


def within(entries, budget):
    """Take tests from a list of (seconds, test), the fast ones first, while they fit a budget."""
    chosen = []
    for seconds, item in sorted(entries, key=lambda entry: entry[0]):
        budget -= seconds
        if budget < 0:
            break
        chosen.append(item)
    return chosen


class Mutation:
    """A pytest plugin that runs the collected tests on every mutant, instead of once."""

    def __init__(self, mutants):
        self.mutants = mutants
        self.alive = set(mutants)
        self.done = False

    def pytest_collection(self):
        """To fail is enough: hypothesis need not look for the smallest example of it."""
        settings.register_profile("mutate", phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutate")

    def pytest_runtestloop(self, session):
        """Replace pytest's own loop."""
        if session.testsfailed:
            pytest.exit("The tests could not be collected.", 2)
        rounds = self.who_calls_what(session.items)
        gc.freeze()
        chosen = {id(item): item for tests in rounds for items in tests.values() for item in items}
        self.control = self.run_on_sound_code(list(chosen.values()))
        start = time.monotonic()
        for tests in rounds:
            self.run(sorted(self.alive), tests)
        if self.control:
            self.wait({})
        print(f"{len(self.mutants)} mutants in {(time.monotonic() - start) / 60:.1f} minutes")
        self.done = True
        return True

    def who_calls_what(self, items):
        """Run all tests once, and choose for each function those of every round."""
        kinds, others = defaultdict(dict), defaultdict(list)
        for item, found in zip(items, in_another_process(timed, items), strict=True):
            if not found:
                pytest.exit(f"Fails without any mutation: {item.nodeid}", 2)
            seconds, functions = found
            entry = seconds, item
            kind = item.path, getattr(item, "originalname", item.name)
            for function in functions:
                if kinds[function].setdefault(kind, entry) is not entry:
                    others[function].append(entry)
        print(f"{len(items)} tests pass, and call {len(kinds)} functions.", flush=True)
        few, rest, slow = {}, {}, {}
        for function, by_kind in kinds.items():
            first = sorted(by_kind.values(), key=lambda entry: entry[0])
            few[function] = within(first, SECONDS[0])
            rest[function] = within(others[function], SECONDS[1])
            slow[function] = within(first[len(few[function]) :], SECONDS[2])
        return few, rest, slow

    def run_on_sound_code(self, items):
        """Run all tests once more, forked as for a mutant: else they might kill for no reason."""
        pid = os.fork()
        if pid == 0:
            code = 2
            try:
                set_mutant_under_test("")
                failing = [item.nodeid for item in items if not passes(item)]
                print(*failing, sep="\n", flush=True)
                code = int(bool(failing))
            finally:
                os._exit(code)
        return pid

    def run(self, names, tests):
        """Run the tests of a round on each mutant, in as many processes as there are processors."""
        self.killer = Array("i", [-1] * len(names), lock=False)
        running, shown = {}, time.monotonic()
        for number, name in enumerate(names):
            if len(running) >= PROCESSES:
                self.wait(running)
            listed = tests.get(name.partition("__mutmut_")[0], [])
            chosen = tuple(listed)
            pid = os.fork()
            if pid == 0:
                self.child(number, name, chosen)
            running[pid] = number, name, chosen, listed
            if time.monotonic() > shown + 20:
                shown = time.monotonic()
                survived = len(self.alive.intersection(names[:number])) - len(running)
                print(f"{number} of {len(names)}; about {survived} survive so far", flush=True)
        while running:
            self.wait(running)

    def child(self, number, name, items):
        """Be the forked process: exit with 1 once a test fails."""
        code = 2
        try:
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            signal.alarm(10 * CPU_SECONDS)
            set_mutant_under_test(name)
            failing = (i for i, item in enumerate(items) if not passes(item))
            self.killer[number] = next(failing, -1)
            code = int(self.killer[number] >= 0)
        finally:
            os._exit(code)

    def wait(self, running):
        """Wait for a process; a test that has killed is tried first on the next mutant."""
        pid, status = os.waitpid(-1, 0)
        if pid == self.control:
            self.control = None
            if status != 0:
                pytest.exit("Tests that passed fail in a process of their own.", 2)
        if pid in running:
            number, name, chosen, listed = running.pop(pid)
            if status != 0:
                self.alive.discard(name)
            if self.killer[number] >= 0:
                killer = chosen[self.killer[number]]
                listed.remove(killer)
                listed.insert(0, killer)


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


def module(path):
    """Return the module of a file, such as "noise" or "practice.noise"."""
    return ".".join(Path(path).with_suffix("").parts[1:])


def make_mutants(modules):
    """Write the package and its mutants to mutants/; return the file of each mutant by its name."""
    shutil.rmtree("mutants", ignore_errors=True)
    Path("mutants").mkdir()
    set_mutant_under_test("mutant_generation")
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    mutation_operators[:] = [
        (kind, mutate_string if operator is operator_string else operator)
        for kind, operator in mutation_operators
    ]
    create_mutants(PROCESSES)
    mutants = {}
    for path in sorted(walk_mutatable_files()):
        data = SourceFileMutationData(path=path)
        data.load()
        mutants |= dict.fromkeys(data.exit_code_by_key, path)
    wanted = [(name, path, module(path)) for name, path in mutants.items()]
    return {n: p for n, p, m in wanted if not modules or {m, m.partition(".")[0]} & {*modules}}


def count(mutants, alive, modules):
    """Write how many mutants of each module there are and survive; return the totals."""
    counts = {}
    if modules and COUNTS.exists():
        with COUNTS.open(encoding="utf-8", newline="") as file:
            counts = {m: [int(n), int(s)] for m, n, _, s in list(csv.reader(file))[1:]}
    counts |= {module(path): [0, 0] for path in mutants.values()}
    for name, path in mutants.items():
        counts[module(path)][0] += 1
        counts[module(path)][1] += name in alive
    with COUNTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["module", "mutants", "killed", "survived"])
        writer.writerows([m, n, n - s, s] for m, (n, s) in sorted(counts.items()))
    # Without userdp.tables: what is loaded here is the broken copy.
    digest = hashlib.sha256(COUNTS.read_bytes()).hexdigest()
    said = {"command": "make mutate", "script": "tools/mutate.py", "seed": None, "sha256": digest}
    COUNTS.with_suffix(".json").write_text(json.dumps(said, indent=1) + "\n", "utf-8")
    totals = [sum(column) for column in zip(*counts.values(), strict=True)]
    for name, (n, survived) in (*sorted(counts.items()), ("all", totals)):
        print(f"{name:20} {n:5} mutants, {1 - survived / n:7.2%} killed, {survived:3} survived")
    return totals


def report(mutants, alive, modules):
    """Print the counts and the survivors that are not listed; return the exit status."""
    total, survived = count(mutants, alive, modules)
    listed = [m for group in yaml.safe_load(SURVIVORS.read_text("utf-8")) for m in group["mutants"]]
    found = [describe(name, mutants[name]) for name in sorted(alive)]
    unlisted = [mutant for mutant in found if mutant not in listed]
    if unlisted:
        print(f"Survivors that {SURVIVORS.name} does not list:")
        print(yaml.safe_dump(unlisted, sort_keys=False, allow_unicode=True, width=200))
    broken = tuple({f"{module(path)}." for path in mutants.values()})
    gone = [m for m in listed if m not in found and m["in"].startswith(broken)]
    if gone:
        print("Listed, but killed or no longer made:")
        print(yaml.safe_dump(gone, sort_keys=False, allow_unicode=True, width=200))
    return int(bool(unlisted) or total - survived < LEAST_SHARE * total)


def main(modules):
    """Run everything, and return the exit status."""
    os.chdir(ROOT)
    mutants = make_mutants(modules)
    plugin = Mutation(mutants)
    os.chdir("mutants")
    options = ["--rootdir=.", "-q", "--tb=native", "--assert=plain", *config().pytest_add_cli_args]
    pytest.main(options + config().pytest_add_cli_args_test_selection, plugins=[plugin])
    os.chdir(ROOT)
    return report(mutants, plugin.alive, modules) if plugin.done else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
