"""Search for the certificates of the book's lower bounds ("floors"): `make floors`.

Each file in book/data/floors belongs to a collection of users, with samples in [0, 1]; each line is
the certificate for one budget. The file many-users.jsonl has increasing numbers of users with one
sample each, at two budgets; its last certificates come from larger programs than those that
`minimax_certificate` solves, and take some minutes. The file small-budgets.jsonl has chains of 48
users with one sample each, at small budgets. The book and the tests check the certificates without
a solver. A different version of the solver may find other multipliers; commit them if the bounds
are better.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import pandas as pd

import userdp as ud
from userdp import beyond
from userdp.beyond.floor import _certificate_of_family

DATA = Path(__file__).resolve().parent.parent / "book" / "data"
# By budget and number of users: the number of cells of the range of two users, without its ends.
CELLS_BETWEEN_ENDS = {1: {8: 4, 16: 2, 32: 2}, 2: {8: 4, 16: 4}}
# The number of users of a chain, and the values of this number times eps.
CHAIN, PRODUCTS = 48, [Fraction(product) for product in ("0.5", "1", "2", "3", "4", "8")]
BUDGETS = [Fraction(eps) for eps in ("0.1", "0.25", "0.5", "1", "2", "3")]


def collections() -> dict[str, list[int]]:
    """Return the number of samples of each user, by the name of the collection."""
    return {
        "geometric": ud.geometric_collection(M=6, upper=1).counts.tolist(),
        "extreme": ud.extreme_collection(n_users=101, max_count=10, upper=1).counts.tolist(),
        "aircraft": pd.read_csv(DATA / "aircraft-averages.csv").flights.tolist(),
        "zipf": [max(1, round(1000 / rank)) for rank in range(1, 201)],
        "two-levels": [5] * 2 + [2] * 9,
        "eight-equal": [1] * 8,
        "one-heavy": [100] + [1] * 900,
    }


def many_users() -> Iterator[beyond.FloorCertificate]:
    """Yield certificates for increasing numbers of users with one sample each."""
    for eps, cells in CELLS_BETWEEN_ENDS.items():
        for n_users in (1, 2, 4, *cells):
            users = ud.Contributions([1] * n_users, upper=Fraction(1))
            if n_users in cells:
                shape = (1, n_users - 2, 1), (1, 2, cells[n_users])
                yield _certificate_of_family(users, eps, shape)
            else:
                yield beyond.minimax_certificate(users, eps)


def small_budgets() -> Iterator[beyond.FloorCertificate]:
    """Yield certificates for a chain of many users, by the number of users times eps."""
    users = ud.Contributions([1] * CHAIN, upper=Fraction(1))
    for product in PRODUCTS:
        yield _certificate_of_family(users, product / CHAIN, ((1, CHAIN, 1),))


def write(path: Path, certificates: Iterable[beyond.FloorCertificate]) -> None:
    """Write certificates, one per line, and print the bounds that they prove."""
    lines = []
    for certificate in certificates:
        lines.append(certificate.to_json() + "\n")
        users = f"{path.stem}, {certificate.users.n_users} users"
        bound = float(certificate.check())
        print(f"{users}, eps = {float(certificate.eps):g}: {bound:.6f}", flush=True)
    path.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Write all certificates."""
    folder = DATA / "floors"
    folder.mkdir(exist_ok=True)
    for name, counts in collections().items():
        users = ud.Contributions(counts, upper=Fraction(1))
        certificates = (beyond.minimax_certificate(users, eps) for eps in BUDGETS)
        write(folder / f"{name}.jsonl", certificates)
    write(folder / "many-users.jsonl", many_users())
    write(folder / "small-budgets.jsonl", small_budgets())


if __name__ == "__main__":
    main()
