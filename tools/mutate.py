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
import os
import resource
import shutil
import signal
import sys
from collections import Counter, defaultdict
from itertools import accumulate, compress
from multiprocessing import Pipe, get_context
from pathlib import Path

import pandas as pd
import pytest
import yaml
from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item
from contents import BOOK, ROOT
from hypothesis import Phase, settings
from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths
from mutmut.configuration import config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.mutators import mutation_operators, operator_string
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils.file_utils import walk_mutatable_files
from tqdm import tqdm

COUNTS = BOOK / "data" / "mutants.csv"
LEAST_SHARE = 0.98
PROCESSES = os.cpu_count() or 1
MODULES = {*sys.argv[1:]}
MUTANTS, ALIVE = {}, []
SECONDS = 6, 3
"""Tests of a mutant, by the time they take on sound code: one of each kind, and others, the fast
ones first. To leave tests out can only make more mutants survive."""
CPU_SECONDS, MEMORY = 30, 8 * 2**30
"""With more than these a mutant is taken to hang."""


def make_mutants():
    """Write the package and its mutants to mutants/, and note the file of each."""
    shutil.rmtree("mutants", ignore_errors=True)
    Path("mutants").mkdir()
    set_mutant_under_test("mutant_generation")
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    # Strings are changed but for those with a space: the words of a message.
    words = lambda node: [] if " " in getattr(node, "value", "") else operator_string(node)  # noqa: E731
    mutation_operators[:] = [
        (kind, words if change is operator_string else change)
        for kind, change in mutation_operators
    ]
    create_mutants(PROCESSES)
    for path in walk_mutatable_files():
        data = SourceFileMutationData(path=path)
        data.load()
        if not MODULES or {module(path), path.parent.name} & MODULES:
            MUTANTS.update(dict.fromkeys(data.exit_code_by_key, path))


def module(path):
    """Return what a file is called in the counts, "practice._sums" for instance."""
    return ".".join(path.with_suffix("").parts[1:])


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
    for function, first in kinds.items():
        entries = within(first.values(), SECONDS[0]) + within(others[function], SECONDS[1])
        chosen[function] = [item for _, item in within(entries, sum(SECONDS))]
    return chosen


def be_broken(name, items):
    """Be a forked process with one mutant: exit with the number of the test that fails, or 0."""
    code = 255  # which test it was is not known: this went wrong itself, or there are too many
    try:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(10 * CPU_SECONDS)
        set_mutant_under_test(name)
        code = min(next((i for i, item in enumerate(items, 1) if not passes(item)), 0), 255)
    finally:
        os._exit(code)


def survivors(names, tests):
    """Run the tests of each mutant, in as many processes as there are processors."""
    running, alive = {}, []

    def wait():
        """Wait for a process; a test that has killed is tried first on the next mutant."""
        pid, status = os.wait()
        name, items = running.pop(pid, (None, ()))
        if name and status == 0:
            alive.append(name)
        elif os.WIFEXITED(status) and 0 < (number := os.WEXITSTATUS(status)) < 255:
            killer = items[number - 1]
            listed = tests[name.partition("__mutmut_")[0]]
            listed.remove(killer)
            listed.insert(0, killer)

    for name in tqdm(names, unit="mutant", disable=None):
        if len(running) >= PROCESSES:
            wait()
        items = (*tests[name.partition("__mutmut_")[0]],)
        pid = os.fork()
        if pid == 0:
            be_broken(name, items)
        running[pid] = name, items
    while running:
        wait()
    return sorted(alive)


def pytest_runtestloop(session):
    """Run the collected tests on every mutant, instead of once: this file is a plugin of pytest."""
    if session.testsfailed:
        pytest.exit("The tests could not be collected.", 2)
    tests = who_calls_what(session.items)
    gc.freeze()
    ALIVE.extend(survivors(sorted(MUTANTS), tests))
    return True


def count():
    """Write how many mutants of each module there are and survive; return the share killed."""
    from userdp.plotting import keep_record  # is not broken

    every = pd.Series({name: name in ALIVE for name in MUTANTS}).groupby(
        lambda n: module(MUTANTS[n])
    )
    counts = pd.DataFrame({"mutants": every.size(), "survived": every.sum()})
    counts.insert(1, "killed", counts.mutants - counts.survived)
    if MODULES:
        counts = counts.combine_first(pd.read_csv(COUNTS, index_col="module")).astype(int)
    counts[["mutants", "killed", "survived"]].to_csv(
        COUNTS, index_label="module", lineterminator="\n"
    )
    keep_record(COUNTS, command="make mutate", script="tools/mutate.py")
    print(counts)
    return counts.killed.sum() / counts.mutants.sum()


def unlisted():
    """Return which survivors are more than their function has in the list, by function."""
    found = defaultdict(list)
    for name in ALIVE:
        function = name.partition("__mutmut_")[0].removeprefix("userdp.")
        found[function.replace(".x_", ".").replace(".xǁ", ".").replace("ǁ", ".")].append(name)
    listed = Counter()
    for group in yaml.safe_load((ROOT / "tests/survivors.yml").read_text("utf-8")):
        listed.update(group["in"])
    return {name: several for name, several in found.items() if len(several) > listed[name]}


def main():
    """Run everything, and return the exit status."""
    os.chdir(ROOT)
    make_mutants()
    os.chdir("mutants")
    # To fail is enough: hypothesis need not look for the smallest example of it.
    settings.register_profile("mutate", phases=(Phase.explicit, Phase.generate))
    options = ["--rootdir=.", "-q", "--tb=native", "--assert=plain", "--hypothesis-profile=mutate"]
    options += config().pytest_add_cli_args + config().pytest_add_cli_args_test_selection
    if status := pytest.main(options, plugins=[sys.modules[__name__]]):
        return status
    os.chdir(ROOT)
    share, more = count(), unlisted()
    for function, names in more.items():
        print(f"More survive in {function} than are listed:")
        print(*(get_diff_for_mutant(name, path=MUTANTS[name]) for name in names), sep="\n")
    return bool(more) or share < LEAST_SHARE


if __name__ == "__main__":
    sys.exit(int(main()))
