"""Break the code in thousands of ways, and count what the tests notice: mutation testing.

mutmut does: it changes one thing in one function, and runs the tests that call it until one fails,
crashes or hangs: first those that have noticed most changes of this module, then the fast ones. But
it has pytest collect the tests anew for each mutant, which takes hours here; so they are collected
once, and run in processes that are forked from there.

Counts go to book/data/mutants.csv, and survivors are printed: tests/release/test_page_trust.py asks that
98 % are killed, and that tests/survivors.yml lists as many of each module, with reasons. Arguments
are modules, "noise" for instance: then only these are broken, and only their counts replaced. A run
takes hours, and may be stopped: with --go-on the next one tests what is left, of the same code.
"""

import gc
import os
import re
import resource
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import libcst as cst
import mutmut.__main__ as mutmut
import pandas as pd
import pytest
from hypothesis import Phase, settings
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import mutation_operators, operator_arg_removal, operator_string
from mutmut.workers.isolation import ForkServerRunner

ROOT = Path(__file__).resolve().parent.parent
COUNTS = ROOT / "book" / "data" / "mutants.csv"
NOTICED = Path("noticed")  # in the folder of mutants: by module, the tests that failed
MEMORY = 8 * 2**30  # a mutant that wants more is killed
KILLED = ["killed", "timeout", "segfault", "suspicious"]
SILENT = {"strict", "copy"}  # arguments that change no result: lengths are equal, copies too
MODULE = r"userdp\.(.*?)\.x[_ǁ]"


class Runner(ForkServerRunner):
    """A plugin of pytest: where it would run its tests, mutmut forks a process for each mutant."""

    def _forkserver_main(self, *pipes):
        """Have pytest collect the tests."""
        self.pipes = pipes
        os.chdir("mutants")
        config = mutmut.config()
        tests = config.pytest_add_cli_args_test_selection
        pytest.main(["-pno:terminal", *config.pytest_add_cli_args, *tests], plugins=[self])

    def pytest_runtestloop(self, session):
        """Wait for mutants."""
        items = {item.nodeid: item for item in session.items}
        seconds = mutmut.state().duration_by_test
        NOTICED.mkdir(exist_ok=True)

        def run_tests(mutant_name, tests):
            """Return 1 if one fails."""
            module = re.match(MODULE, mutant_name)[1]
            with (NOTICED / module).open("a+", encoding="utf-8") as noticed:
                noticed.seek(0)
                before = Counter(noticed.read().splitlines())
                for test in sorted(tests, key=lambda test: (-before[test], seconds[test])):
                    item = items[test]
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                    if session.testsfailed:
                        noticed.write(f"{test}\n")
                        return 1
            return 0

        self.test_runner_class = lambda: SimpleNamespace(warm_up=gc.freeze, run_tests=run_tests)
        super()._forkserver_main(*self.pipes)
        return True


def words_apart(node):
    """Change a string, but not one with a space: the words of a message."""
    return [] if " " in getattr(node, "value", "") else operator_string(node)


def is_silent(node):
    """Whether it is an argument that changes no result."""
    return isinstance(node, cst.Arg) and node.keyword is not None and node.keyword.value in SILENT


def arguments_apart(node):
    """Change an argument of a call, or drop it, but not a silent one."""
    silent = [argument for argument in node.args if is_silent(argument)]
    calls = operator_arg_removal(node)
    return [call for call in calls if all(argument in call.args for argument in silent)]


def change_what_matters():
    """Have mutmut leave alone what no test could notice, or should."""
    for kind, before, after in (
        (cst.BaseString, operator_string, words_apart),
        (cst.Call, operator_arg_removal, arguments_apart),
    ):
        mutation_operators[mutation_operators.index((kind, before))] = kind, after
    skipped = MutationVisitor._skip_node_and_children
    MutationVisitor._skip_node_and_children = lambda visitor, node: (
        is_silent(node) or skipped(visitor, node)
    )


def left_of(names):
    """Return the names of the mutants that a run before this one has not tested."""
    found, _ = mutmut.collect_source_file_mutation_data(mutant_names=names)
    return [name for _, name, code in found if code is None]


def run(names, go_on):
    """Make and test the mutants of such names, or all; return a table of them."""
    if go_on:
        untested = left_of(names)
    else:
        shutil.rmtree("mutants", ignore_errors=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    change_what_matters()
    # The examples of the suite (tests/conftest.py). To fail is enough: hypothesis need not look for
    # the smallest one.
    settings.register_profile(
        "mutate",
        phases=[Phase.explicit, Phase.generate],
        deadline=None,
        derandomize=True,
        max_examples=50,
    )
    mutmut.get_mutant_runner = lambda processes: Runner(processes, mutmut.PytestRunner, {})
    if not go_on:
        mutmut._run(names, None)
    elif untested:  # no names would mean all
        mutmut._run(untested, None)
    left = left_of(names)
    if left:
        sys.exit(f"{len(left)} mutants are left: go on with --go-on")
    found, _ = mutmut.collect_source_file_mutation_data(mutant_names=names)
    made = [(name, mutmut.status_by_exit_code[code] in KILLED) for _, name, code in found]
    mutants = pd.DataFrame(made, columns=["name", "killed"])
    return mutants.assign(module=mutants.name.str.extract(MODULE))


def main(arguments):
    """Run everything, and write what was found."""
    os.chdir(ROOT)
    modules = [argument for argument in arguments if argument != "--go-on"]
    mutants = run([f"userdp.{module}.*" for module in modules], go_on="--go-on" in arguments)
    sys.path.append(str(ROOT / "book"))
    from provenance import keep_record

    counts = mutants.groupby("module").killed.agg(mutants="size", killed="sum")
    counts["survived"] = counts.mutants - counts.killed
    if modules:
        counts = counts.combine_first(pd.read_csv(COUNTS, index_col=0))[counts.columns].astype(int)
    counts.to_csv(COUNTS, lineterminator="\n")
    keep_record(COUNTS, command="make mutate", script="tools/mutate.py")
    survivors = mutants.name[~mutants.killed]
    print(counts, *survivors, sep="\n")
    print("`make test` compares them with tests/survivors.yml. To see one: .venv/bin/mutmut show X")


if __name__ == "__main__":
    main(sys.argv[1:])
