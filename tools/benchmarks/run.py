"""Time userdp against alternatives, and write the results to the book's data.

Alternatives are first checked to compute the same result, and are timed in the same run. Times
depend on the machine, so compare the ratios. Run by `make bench`, never by a test.
"""

import csv
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy import optimize, sparse

import userdp as ud

DATA = Path(__file__).resolve().parents[2] / "book" / "data"
SEED = 20250211
U = 65
GEOMETRIC = ud.geometric_collection(6, U)
FIGURES = {
    "Figure 2": (GEOMETRIC, ud.uniform_sums),
    "Figure 3": (ud.extreme_collection(101, 10, U), ud.gaussian_sums),
}
EPS_GRID = np.round(np.geomspace(0.1, 2, 25), 4)
MECHANISMS = {"Laplace": ud.laplace, "AKMV": ud.akmv, "OPT-worst-case": ud.opt_worst_case}
MEAN_ERRORS = {
    "Laplace": ud.laplace_mean_error,
    "AKMV": ud.akmv_mean_error,
    "OPT-worst-case": ud.opt_worst_case_mean_error,
}

Row = Sequence[object]


def seconds(function: Callable[[], object], repeats: int = 1) -> float:
    """Return the shortest time of several calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def format_speedup(ratio: float) -> str:
    """Format a ratio with two digits and separated thousands."""
    digits = 10 ** max(0, int(np.log10(ratio)) - 1)
    return f"{round(ratio / digits) * digits:,} times faster"


def figures() -> Iterable[Row]:
    """Time the whole of Figures 2 and 3, at the paper's number of iterations."""
    for name, sweep, functions in (
        ("everything simulated", ud.error_sweep, MECHANISMS),
        ("noise integrated out", ud.mean_error_sweep, MEAN_ERRORS),
    ):
        total = 0.0
        for users, sampler in FIGURES.values():
            figure = partial(sweep, functions, users, EPS_GRID, sampler, 10_000, rng=SEED)
            total += seconds(figure)
        assert total <= 60, "both figures should take at most a minute"
        what = "Figures 2 and 3: 10,000 datasets, 25 budgets"
        yield what, name, f"{total:.2g} s"


def one_trial(users: ud.Contributions, eps: float, rng: np.random.Generator) -> list[float]:
    """Release one dataset's mean by each mechanism, user by user, as a plain script would."""
    counts, total, k = users.counts.tolist(), users.total, ud.rank(eps)
    samples = [rng.uniform(0, U, m) for m in counts]
    sums = [x.sum() for x in samples]
    true_mean = sum(sums) / total
    releases = [true_mean + rng.laplace(scale=U * max(counts) / total / eps)]

    largest = sorted((U * m for m in counts), reverse=True)
    T_eps = largest[k - 1] if k <= len(largest) else 0  # noqa: N806
    clipped = 0.0
    for m, x in zip(counts, samples, strict=True):
        half = min(U, T_eps / m) / 2
        clipped += m * min(max(x.mean(), U / 2 - half), U / 2 + half)
    releases.append(clipped / total + rng.laplace(scale=T_eps / total / eps))

    ends = [U * max(counts), *sorted(sums, reverse=True), 0]
    rank = min(k, len(sums))
    mass = [
        (ends[c] - ends[c + 1]) * np.exp(-eps / 4 * abs(c - rank)) for c in range(len(ends) - 1)
    ]
    c = rng.choice(len(mass), p=np.array(mass) / sum(mass))
    T = rng.uniform(ends[c + 1], ends[c])  # noqa: N806
    capped = sum(min(s, T) for s in sums)
    releases.append(capped / total + rng.laplace(scale=2 * T / total / eps))
    return [abs(release - true_mean) for release in releases]


def plain_loop() -> Iterable[Row]:
    """Compare a sweep with a loop over trials."""
    trials, rng, grid = 1000, np.random.default_rng(SEED), EPS_GRID[::4]

    def sweep(eps: Sequence[float]) -> Any:
        return ud.error_sweep(MECHANISMS, GEOMETRIC, eps, ud.uniform_sums, 10_000, rng=SEED)

    errors, swept = np.array([one_trial(GEOMETRIC, 0.5, rng) for _ in range(trials)]), sweep([0.5])
    for name, column in zip(("Laplace", "OPT-worst-case", "AKMV"), errors.T, strict=True):
        (mean,), (standard_error,) = swept[name]
        combined_error = np.hypot(standard_error, column.std() / trials**0.5)
        assert abs(column.mean() - mean) < 6 * combined_error, "both should estimate the same error"
    loop = seconds(lambda: [one_trial(GEOMETRIC, e, rng) for e in grid for _ in range(50)]) / 50
    ratio = loop / (seconds(partial(sweep, grid), repeats=3) / 10_000)
    what = "sweep against a loop over datasets and users"
    yield what, "three mechanisms", format_speedup(ratio)


def equal_standard_error() -> Iterable[Row]:
    """Compare integrated with simulated noise, by the time to reach a given standard error."""

    def cost(sweep: Callable[..., Any], name: str, *task: object) -> float:
        run = partial(sweep, *task, 10_000, rng=SEED)
        return seconds(run, repeats=3) * float(run()[name].standard_error[0]) ** 2

    for figure, (users, sampler) in FIGURES.items():
        for name in ("AKMV", "OPT-worst-case"):
            for eps in (0.1, 0.5, 1.5):
                task = users, [eps], sampler
                slow = cost(ud.error_sweep, name, {name: MECHANISMS[name]}, *task)
                fast = cost(ud.mean_error_sweep, name, {name: MEAN_ERRORS[name]}, *task)
                gain = format_speedup(slow / fast) if fast else "without limit"
                what = "noise integrated out against simulated"
                yield what, f"{figure}, {name}, ε = {eps}", gain


def linear_program(users: ud.Contributions, eps: float) -> float:
    """Solve the paper's program (8)-(11) by HiGHS: sum of biases + S/eps, over N."""
    n = users.n_users
    cost = np.append(np.ones(n), 1 / eps)
    constraints = sparse.hstack([-2 * sparse.eye_array(n), -np.ones((n, 1))], format="csr")
    solution = optimize.linprog(cost, constraints, -users.largest_sums, bounds=(0, None))
    assert solution.success
    return float(solution.fun) / users.total


def closed_form() -> Iterable[Row]:
    """Compare the closed form of the optimum with a solver for linear programs."""
    rng, eps = np.random.default_rng(SEED), 0.01
    for exponent in (3, 4, 5):
        users = ud.Contributions(rng.zipf(1.5, 10**exponent).clip(max=1000), U)
        solve, optimum = partial(linear_program, users, eps), ud.optimal_error(users, eps)
        assert abs(solve() / optimum - 1) < 1e-6, "both should find the same optimum"
        fast = seconds(lambda u=users: (ud.threshold(u, eps), ud.optimal_error(u, eps)), repeats=5)
        yield (
            "closed form against HiGHS",
            f"L = {10**exponent:,}",
            format_speedup(seconds(solve) / fast),
        )


def import_times() -> dict[str, int]:
    """Return the cumulative times of the modules that `import userdp` loads, in a new process."""
    command = [sys.executable, "-X", "importtime", "-c", "import userdp"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    lines = re.findall(r"import time: +\d+ \| +(\d+) \| +(\S+)", output)
    return {module: int(time) for time, module in reversed(lines)}


def imports() -> Iterable[Row]:
    """Measure `import userdp`, which of other libraries loads numpy alone."""
    runs = [import_times() for _ in range(25)]
    total, numpy = (min(run[module] for run in runs) for module in ("userdp", "numpy"))
    yield "all of it, against numpy alone", f"{total / numpy:.2g} times"
    yield "share of numpy", f"{100 * numpy / total:.0f} %"
    rest = total - numpy
    yield "share of userdp itself and the standard library", f"{100 * rest / total:.0f} %"


def write_machine(name: str, command: str) -> None:
    """Write the relevant properties of this machine as a table."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    rows = [
        ("processor", (models or [platform.processor() or platform.machine()])[0]),
        ("cores", os.cpu_count()),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", platform.python_version()),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
    ]
    write(name, ("Measured on", "Value"), rows, command)


def write(name: str, header: Row, rows: Iterable[Row], command: str, seed: int = SEED) -> None:
    """Print rows as they come, write them as a table for the book, and record the script."""
    lines = [header]
    for row in rows:
        print(*row, sep=" | ")
        lines.append(row)
    with (DATA / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    sys.path.append(str(DATA.parent))  # beside the chapters
    from provenance import keep_record

    script = f"tools/benchmarks/{Path(sys.argv[0]).name}"
    keep_record(DATA / name, command=command, script=script, seed=seed)


if __name__ == "__main__":
    write_machine("benchmarks-machine.csv", "make bench")
    measured = (
        row
        for benchmark in (figures, plain_loop, equal_standard_error, closed_form)
        for row in benchmark()
    )
    write("benchmarks.csv", ("What", "Setting", "Result"), measured, "make bench")
    write("benchmarks-import.csv", ("Of import userdp", "Result"), imports(), "make bench")
