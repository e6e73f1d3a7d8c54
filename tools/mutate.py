"""Break the code in thousands of ways, and count what the tests notice: mutation testing.

mutmut does: it changes one thing in one function, and runs the tests that call it, the fast ones
first, until one fails, crashes or hangs. But it has pytest collect the tests anew for each mutant,
which takes hours here; so they are collected once, and run in processes that are forked from there.

Counts go to book/data/mutants.csv. Survivors must stand in tests/survivors.yml with a reason: so
many of a function. Fails below 98 % killed, or if more survive than are listed. Arguments are
modules, "noise" for instance: then only these are broken, and only their counts replaced.
"""

import gc
import os
import resource
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import mutmut.__main__ as mutmut
import pandas as pd
import yaml
from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item
from hypothesis import Phase, settings
from mutmut.mutation.mutators import mutation_operators, operator_string
from mutmut.workers.isolation import ForkServerRunner

ROOT = Path(__file__).resolve().parent.parent
COUNTS = ROOT / "book" / "data" / "mutants.csv"
LEAST_SHARE = 0.98
MEMORY = 8 * 2**30  # a mutant that wants more is killed


class Runner(ForkServerRunner):
    """A plugin of pytest: where it would run its tests, mutmut forks a process for each mutant."""

    def _forkserver_main(self, *pipes):
        """Have pytest collect the tests."""
        self.pipes = pipes
        os.chdir("mutants")
        tests = mutmut.config().pytest_add_cli_args_test_selection
        self.test_runner_class().execute_pytest(["--quiet", *tests], plugins=[self])

    def pytest_runtestloop(self, session):
        """Wait for mutants."""
        items = {item.nodeid: item for item in session.items}
        seconds = mutmut.state().duration_by_test

        def run_tests(mutant_name, tests):
            """Return 1 if one fails; each has its own filters of warnings."""
            for item in map(items.get, sorted(tests, key=seconds.get)):
                with catch_warnings_for_item(
                    item.config, item.ihook, "runtest", item, record=False
                ):
                    if any(x.failed for x in runtestprotocol(item, log=False, nextitem=None)):
                        return 1
            return 0

        self.test_runner_class = lambda: SimpleNamespace(warm_up=gc.freeze, run_tests=run_tests)
        super()._forkserver_main(*self.pipes)
        return True


def run(names):
    """Make and test the mutants of such names, or all; return a table of them."""
    shutil.rmtree("mutants", ignore_errors=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # Strings are changed but for those with a space: the words of a message.
    words = lambda node: [] if " " in getattr(node, "value", "") else operator_string(node)  # noqa: E731
    mutation_operators[:] = [
        (kind, words if made is operator_string else made) for kind, made in mutation_operators
    ]
    # To fail is enough: hypothesis need not look for the smallest example of it.
    phases = Phase.explicit, Phase.generate
    settings.register_profile("mutate", phases=phases, deadline=None)
    mutmut.get_mutant_runner = lambda processes: Runner(processes, mutmut.PytestRunner, {})
    mutmut._run(names, None)
    found, _ = mutmut.collect_source_file_mutation_data(mutant_names=names)
    made = [(name, mutmut.status_by_exit_code[code]) for _, name, code in found]
    mutants = pd.DataFrame(made, columns=["name", "status"])
    killed = mutants.status.isin(["killed", "timeout", "segfault", "suspicious"])
    module = mutants.name.str.extract(r"userdp\.(.*?)\.x[_ǁ]", expand=False)
    function = mutants.name.str.extract(r"\.x[_ǁ](.*)__mutmut_", expand=False)
    function = module + "." + function.str.replace("ǁ", ".")
    return mutants.assign(killed=killed, module=module, function=function)


def main(modules):
    """Run everything, and return the exit status."""
    os.chdir(ROOT)
    mutants = run([f"userdp.{module}.*" for module in modules])
    from userdp.plotting import keep_record  # not before: the tests import what is broken

    counts = mutants.groupby("module").killed.agg(mutants="size", killed="sum")
    counts["survived"] = counts.mutants - counts.killed
    if modules:
        counts = counts.combine_first(pd.read_csv(COUNTS, index_col=0))[counts.columns].astype(int)
    counts.to_csv(COUNTS, lineterminator="\n")
    keep_record(COUNTS, command="make mutate", script="tools/mutate.py")
    listed = Counter()
    for group in yaml.safe_load((ROOT / "tests" / "survivors.yml").read_text("utf-8")):
        listed.update(group["in"])
    alive = mutants[~mutants.killed]
    more = alive.name[alive.groupby("function").name.transform("size") > alive.function.map(listed)]
    print(counts, *more, sep="\n")
    if len(more):
        return "More survive of these than are listed; to see one: .venv/bin/mutmut show NAME"
    return int(counts.killed.sum() < LEAST_SHARE * counts.mutants.sum())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
