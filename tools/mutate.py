"""Break the code in thousands of ways, and count what the tests notice: mutation testing.

mutmut writes the mutants, thousands of functions with one change each, and the switch between them,
and runs the tests once, to see which of them call which function. Its own runner starts pytest anew
for each mutant, which takes hours here. So pytest collects the tests once; then a process is forked
for each mutant, and runs tests until one fails. That kills the mutant, as do a crash and a hang.

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
from itertools import accumulate, chain, compress
from pathlib import Path

import pandas as pd
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
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.utils.file_utils import change_cwd, walk_mutatable_files
from mutmut.workers.isolation import run_in_fork_with_result
from tqdm import tqdm

COUNTS = BOOK / "data" / "mutants.csv"
LEAST_SHARE = 0.98
PROCESSES = os.cpu_count() or 1
SECONDS = 6, 3
"""Tests of a mutant, by the time they take on sound code: one of each kind, and others, the fast
ones first. To leave tests out can only make more mutants survive."""
CPU_SECONDS, MEMORY = 30, 8 * 2**30
"""With more than these a mutant is taken to hang."""


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
        (kind, words if made is operator_string else made) for kind, made in mutation_operators
    ]
    create_mutants(PROCESSES)
    mutants = {}
    for path in walk_mutatable_files():
        data, module = SourceFileMutationData(path=path), ".".join(path.with_suffix("").parts[1:])
        data.load()
        if not modules or {module, module.partition(".")[0]} & {*modules}:
            mutants |= dict.fromkeys(data.exit_code_by_key, (path, module))
    return mutants


def measure():
    """Run all tests once, and choose for each function those that may kill its mutants."""
    set_mutant_under_test("stats")
    if PytestRunner().run_stats(tests=()):
        return None
    seconds, chosen = dict(state().duration_by_test), {}
    for function, tests in state().tests_by_mangled_function_name.items():
        ordered, some = [test for test in seconds if test in tests], []
        first = {*{test.partition("[")[0]: test for test in reversed(ordered)}.values()}
        for group, budget in zip((first, tests - first), SECONDS, strict=True):
            group = sorted(group, key=seconds.get)
            total = accumulate(seconds[test] for test in group)
            some += compress(group, (spent <= budget for spent in total))
        chosen[function] = sorted(some, key=seconds.get)
    return chosen


def passes(item):
    """Run one test, with its own filters of warnings."""
    with catch_warnings_for_item(item.config, item.ihook, "runtest", item, record=False):
        reports = runtestprotocol(item, log=False, nextitem=None)
    return not any(report.failed for report in reports)


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
    running, alive = {}, set()

    def wait():
        """Wait for a process; a test that has killed is tried first on the next mutant."""
        pid, status = os.wait()
        name, listed, items = running.pop(pid)
        if status == 0:
            alive.add(name)
        elif os.WIFEXITED(status) and (number := os.WEXITSTATUS(status)) < 255:
            listed.remove(items[number - 1])
            listed.insert(0, items[number - 1])

    for name in tqdm(names, unit="mutant", disable=None):
        if len(running) >= PROCESSES:
            wait()
        listed = tests[name.partition("__mutmut_")[0]]
        items = tuple(listed)
        pid = os.fork()
        if pid == 0:
            be_broken(name, items)
        running[pid] = name, listed, items
    while running:
        wait()
    return alive


class Mutation:
    """A plugin of pytest that runs the collected tests on every mutant, instead of once."""

    def __init__(self, mutants, tests):
        self.mutants, self.tests = sorted(mutants), tests

    def pytest_runtestloop(self, session):
        """Replace pytest's own loop."""
        items = {item.nodeid: item for item in session.items}
        tests = {function: [items[name] for name in some] for function, some in self.tests.items()}
        gc.freeze()
        self.alive = survivors(self.mutants, defaultdict(list, tests))
        return True


def count(mutants, alive, modules):
    """Write how many mutants of each module there are and survive; return the share killed."""
    from userdp.plotting import keep_record  # is not broken

    every = [(module, 1, name not in alive, name in alive) for name, (_, module) in mutants.items()]
    columns = ["mutants", "killed", "survived"]
    counts = pd.DataFrame(every, columns=["module", *columns]).groupby("module").sum()
    if modules:
        kept = pd.read_csv(COUNTS, index_col="module")
        counts = counts.combine_first(kept)[columns].astype(int)
    counts.to_csv(COUNTS, lineterminator="\n")
    keep_record(COUNTS, command="make mutate", script="tools/mutate.py")
    print(counts)
    return counts.killed.sum() / counts.mutants.sum()


def unlisted(alive):
    """Return the survivors of functions that have more than are listed."""
    found, listed = defaultdict(list), Counter()
    for name in sorted(alive):
        function = name.partition("__mutmut_")[0].removeprefix("userdp.")
        found[function.replace(".x_", ".").replace(".xǁ", ".").replace("ǁ", ".")].append(name)
    for group in yaml.safe_load((ROOT / "tests" / "survivors.yml").read_text("utf-8")):
        listed.update(group["in"])
    more = (names for function, names in found.items() if len(names) > listed[function])
    return [*chain(*more)]


def main(modules):
    """Run everything, and return the exit status."""
    os.chdir(ROOT)
    # To fail is enough: hypothesis need not look for the smallest example of it.
    phases = Phase.explicit, Phase.generate
    settings.register_profile("mutate", phases=phases, deadline=None)
    mutants = make_mutants(modules)
    # Elsewhere: polars' threads, once started, outlive no fork.
    if not (tests := run_in_fork_with_result(measure)):
        return 2
    plugin = Mutation(mutants, tests)
    with change_cwd("mutants"):
        PytestRunner().execute_pytest(config().pytest_add_cli_args_test_selection, plugins=[plugin])
    share, more = count(mutants, plugin.alive, modules), unlisted(plugin.alive)
    for name in more:
        print(
            f"{name}: more survive than are listed",
            get_diff_for_mutant(name, path=mutants[name][0]),
        )
    return int(bool(more) or share < LEAST_SHARE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
