"""Search for the certificates of the book's floors anew: `make floors`.

Each file in book/data/floors is a collection of users, each line the certificate of a budget, with
samples in [0, 1]. The book and the tests check them, without a solver. Another version of the
solver may find other multipliers: commit them if they prove more.
"""

from fractions import Fraction
from pathlib import Path

import pandas as pd

import userdp as ud

DATA = Path(__file__).resolve().parent.parent / "book" / "data"
BUDGETS = [Fraction(eps) for eps in ("0.1", "0.25", "0.5", "1", "2", "3")]


def collections() -> dict[str, list[int]]:
    """Return how many samples each user has, by the name of the collection."""
    return {
        "geometric": ud.geometric_collection(M=6, upper=1).counts.tolist(),
        "extreme": ud.extreme_collection(n_users=101, max_count=10, upper=1).counts.tolist(),
        "aircraft": pd.read_csv(DATA / "aircraft-averages.csv").flights.tolist(),
        "zipf": [max(1, round(1000 / place)) for place in range(1, 201)],
        "two-levels": [5] * 2 + [2] * 9,
        "eight-equal": [1] * 8,
        "one-heavy": [100] + [1] * 900,
    }


def main() -> None:
    """Write the certificates, and say what they prove."""
    folder = DATA / "floors"
    folder.mkdir(exist_ok=True)
    for name, counts in collections().items():
        users = ud.Contributions(counts, upper=Fraction(1))
        lines = []
        for eps in BUDGETS:
            certificate = ud.minimax_certificate(users, eps)
            lines.append(certificate.to_json() + "\n")
            print(f"{name}, eps = {float(eps):g}: {float(certificate.check()):.6f}", flush=True)
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
