"""Run in the environment of one library: call its recipes on datasets, write what they release.

Called by peers.py with the name of the library and three files: datasets (npz), tasks and answers
(JSON). A task names a function of ``recipes.with_NAME``, a dataset, what to subtract from its
values, the function's other arguments, and how often to call it.
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
    """Call one function once on each dataset, in turn; return releases and seconds for one."""
    function = getattr(recipes, task["function"])
    datasets = np.arange(task["trials"]) % len(values)
    start = time.perf_counter()
    if "groups" in function.__code__.co_varnames[:1]:
        groups = np.repeat(np.arange(task["trials"]), users.size)
        names = np.tile(users, task["trials"])
        releases = function(groups, names, values[datasets].ravel(), *task["arguments"])
    else:
        releases = [function(users, values[i], *task["arguments"]) for i in datasets]
    return [float(x) for x in releases], (time.perf_counter() - start) / task["trials"]


if __name__ == "__main__":
    name, package, data, tasks, answers = sys.argv[1:]
    recipes = importlib.import_module(f"recipes.with_{name}")
    found = {"version": version(package), "python": platform.python_version()}
    found["numpy"], found["answers"] = np.__version__, []
    with np.load(data) as arrays:
        for task in json.loads(Path(tasks).read_text()):
            users, values = (arrays[f"{task['dataset']}_{part}"] for part in ("users", "values"))
            releases, seconds = run(recipes, task, users, values - task["centre"])
            found["answers"].append({"releases": releases, "seconds": seconds})
            print(name, task["function"], task["dataset"], task["arguments"], flush=True)
    Path(answers).write_text(json.dumps(found))
