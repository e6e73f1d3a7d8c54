"""Run in the environment of one library: call its recipes on datasets, and write their releases.

peers.py calls this script with the names of the library and its package, and three files: datasets
(npz), tasks and answers (JSON). A task names a function of ``recipes.with_NAME``, a dataset, a
centre to subtract from its values, the function's other arguments, and the number of trials.
"""

import importlib
import json
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np


def run(recipes, task, users, values):
    """Call a function on each dataset in turn; return releases and the shortest time."""
    function, trials = getattr(recipes, task["function"]), task["trials"]
    datasets, releases, seconds = np.arange(trials) % len(values), [], []
    if "groups" in function.__code__.co_varnames[:1]:  # all datasets in one call
        groups, names = np.repeat(np.arange(trials), users.size), np.tile(users, trials)
        calls = [(groups, names, values[datasets].ravel())]
    else:
        calls = [(users, values[i]) for i in datasets]
    for call in calls:
        start = time.perf_counter()
        output = function(*call, *task["arguments"])
        seconds.append(time.perf_counter() - start)
        releases += output if isinstance(output, list) else [output]
    assert len(releases) == trials, "a library should release something for every dataset"
    return [float(x) for x in releases], min(seconds) * len(calls) / trials


if __name__ == "__main__":
    name, package, data, tasks, answers = sys.argv[1:]
    recipes = importlib.import_module(f"recipes.with_{name}")
    results = {"version": version(package), "python": platform.python_version()}
    results["numpy"], results["answers"] = np.__version__, []
    with np.load(data) as arrays:
        for task in json.loads(Path(tasks).read_text()):
            users, values = (arrays[f"{task['dataset']}_{part}"] for part in ("users", "values"))
            releases, seconds = run(recipes, task, users, values - task["centre"])
            results["answers"].append({"releases": releases, "seconds": seconds})
            print(name, task["function"], task["dataset"], task["arguments"], flush=True)
    Path(answers).write_text(json.dumps(results))
