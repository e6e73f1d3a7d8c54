"""Time userdp against what it replaces, and write what was found to the book's data.

Everything that is compared is measured in one run, and checked to compute the same thing first.
Times depend on the machine; the ratios are what to look at. Run by `make bench`, never by a test.
"""

import csv
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import scipy
from scipy import optimize, sparse

import userdp as ud
from userdp.plotting import keep_record

DATA = Path(__file__).resolve().parent.parent / "book" / "data"
SEED = 20250211
U = 65
GEOMETRIC = ud.geometric_collection(6, U)
EXTREME = ud.extreme_collection(101, 10, U)
FIGURES = {"Figure 2": (GEOMETRIC, ud.uniform_sums), "Figure 3": (EXTREME, ud.gaussian_sums)}
EPS_GRID = np.round(np.geomspace(0.1, 2, 25), 4)
MECHANISMS = {"Laplace": ud.laplace, "AKMV": ud.akmv, "OPT-worst-case": ud.opt_worst_case}
MEAN_ERRORS = {
    "Laplace": ud.laplace_mean_error,
    "AKMV": ud.akmv_mean_error,
    "OPT-worst-case": ud.opt_worst_case_mean_error,
}

Row = tuple[str, ...]


def seconds(function: Callable[[], object], repeats: int = 1) -> float:
    """Return the shortest of several times."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def figures() -> list[Row]:
    """Time the whole of Figures 2 and 3, at the paper's number of iterations."""
    totals = {}
    for name, sweep, functions in [
        ("everything simulated", ud.error_sweep, MECHANISMS),
        ("noise integrated out", ud.mean_error_sweep, MEAN_ERRORS),
    ]:
        totals[name] = sum(
            seconds(
                lambda u=users, s=sampler, f=functions, sweep=sweep: sweep(
                    f, u, EPS_GRID, s, 10_000, rng=SEED
                )
            )
            for users, sampler in FIGURES.values()
        )
        assert totals[name] <= 60, "both figures should take at most a minute"
    return [
        ("Figures 2 and 3: 10,000 datasets, 25 budgets", name, f"{total:.2g} s")
        for name, total in totals.items()
    ]


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


def plain_loop() -> list[Row]:
    """Compare a sweep with a loop over trials."""
    eps, trials = 0.5, 1000
    rng = np.random.default_rng(SEED)
    errors = np.array([one_trial(GEOMETRIC, eps, rng) for _ in range(trials)])
    sweep = ud.error_sweep(MECHANISMS, GEOMETRIC, [eps], ud.uniform_sums, 10_000, rng=SEED)
    for name, column in zip(("Laplace", "OPT-worst-case", "AKMV"), errors.T, strict=True):
        (mean,), (standard_error,) = sweep[name]
        spread = np.hypot(standard_error, column.std() / trials**0.5)
        assert abs(column.mean() - mean) < 6 * spread, "both should estimate the same error"

    grid = EPS_GRID[::4]
    loop = seconds(lambda: [one_trial(GEOMETRIC, e, rng) for e in grid for _ in range(50)]) / 50
    swept = seconds(
        lambda: ud.error_sweep(MECHANISMS, GEOMETRIC, grid, ud.uniform_sums, 10_000, rng=SEED),
        repeats=3,
    )
    ratio = _two_digits(loop / (swept / 10_000))
    what = "sweep against a loop over datasets and users"
    return [(what, "three mechanisms", f"{ratio} times faster")]


def equal_standard_error() -> list[Row]:
    """Compare integrated with simulated noise, by the time to reach a given standard error."""
    rows = []
    for figure, (users, sampler) in FIGURES.items():
        for name in ("AKMV", "OPT-worst-case"):
            for eps in (0.1, 0.5, 1.5):
                cost = []
                for sweep, functions in (
                    (ud.error_sweep, MECHANISMS),
                    (ud.mean_error_sweep, MEAN_ERRORS),
                ):
                    task = {name: functions[name]}
                    run = lambda t=task, e=eps, s=sweep, u=users, d=sampler: s(  # noqa: E731
                        t, u, [e], d, 10_000, rng=SEED
                    )
                    cost.append(seconds(run, repeats=3) * run()[name].standard_error[0] ** 2)
                gain = (
                    f"{_two_digits(cost[0] / cost[1])} times faster" if cost[1] else "without limit"
                )
                rows.append(
                    (
                        "noise integrated out against simulated",
                        f"{figure}, {name}, ε = {eps}",
                        gain,
                    )
                )
    return rows


def _two_digits(ratio: float) -> str:
    """Write a ratio to two digits, with thousands apart."""
    digits = 10 ** max(0, int(np.log10(ratio)) - 1)
    return f"{round(ratio / digits) * digits:,}"


def linear_program(users: ud.Contributions, eps: float) -> float:
    """Solve the paper's program (8)-(11) by HiGHS: sum of biases + S/eps, over N."""
    n = users.n_users
    cost = np.append(np.ones(n), 1 / eps)
    constraints = sparse.hstack([-2 * sparse.eye_array(n), -np.ones((n, 1))], format="csr")
    solution = optimize.linprog(cost, constraints, -users.largest_sums, bounds=(0, None))
    assert solution.success
    return float(solution.fun) / users.total


def closed_form() -> list[Row]:
    """Compare the closed form of the optimum with a solver for linear programs."""
    rows, rng, eps = [], np.random.default_rng(SEED), 0.01
    for exponent in (3, 4, 5):
        users = ud.Contributions(rng.zipf(1.5, 10**exponent).clip(max=1000), U)
        optimum = ud.optimal_error(users, eps)
        solved = []
        slow = seconds(lambda u=users, out=solved: out.append(linear_program(u, eps)))
        assert abs(solved[0] / optimum - 1) < 1e-6, "both should find the same optimum"
        fast = seconds(lambda u=users: (ud.threshold(u, eps), ud.optimal_error(u, eps)), repeats=5)
        rows.append(
            (
                "closed form against HiGHS",
                f"L = {10**exponent:,}",
                f"{_two_digits(slow / fast)} times faster",
            )
        )
    return rows


def machine() -> list[Row]:
    """Describe where this was measured, as far as it matters."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    return [
        ("processor", model),
        ("cores", str(os.cpu_count())),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", platform.python_version()),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
    ]


def write(name: str, header: Row, rows: list[Row], command: str = "make bench") -> None:
    """Print rows, and write them as a table for the book."""
    for row in rows:
        print(" | ".join(row))
    store(name, header, rows, command)


def store(name: str, header: Row, rows: Iterable[Sequence[object]], command: str) -> None:
    """Write a table for the book, and beside it what measured it: the script that runs."""
    with (DATA / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    script = f"benchmarks/{Path(sys.argv[0]).name}"
    keep_record(DATA / name, command=command, script=script, seed=SEED)


if __name__ == "__main__":
    write("benchmarks-machine.csv", ("Measured on", "Value"), machine())
    measured = [
        row for part in (figures, plain_loop, equal_standard_error, closed_form) for row in part()
    ]
    write("benchmarks.csv", ("What", "Setting", "Result"), measured)
