"""Record the collections that a chapter makes, in the chapter's own kernel, while its cells run.

`start` makes `userdp` record every collection that code of the book makes, without changing it;
`take` returns the records, as JSON, for `proofs/collections.jsonl`.
"""

import json
import sys
from functools import wraps

import numpy as np

import userdp as ud

RECORDS = []
ARGUMENTS = {"geometric_collection": ("M",), "extreme_collection": ("n_users", "max_count")}
"""The arguments before the bound, of the functions that make the collections of the paper."""


def start():
    """Record each collection from now on, once, in the order of first use."""
    make = ud.Contributions.__init__

    @wraps(make)
    def make_and_record(users, *args, **kwargs):
        make(users, *args, **kwargs)
        caller = sys._getframe(1)
        record = ["Contributions", *rows(users.counts)]
        if caller.f_code.co_name in ARGUMENTS:
            names = ARGUMENTS[caller.f_code.co_name]
            record = [caller.f_code.co_name, *(int(caller.f_locals[name]) for name in names)]
            caller = caller.f_back
        package = caller.f_globals["__name__"].partition(".")[0]
        if package != "userdp" and record not in RECORDS:
            RECORDS.append(record)

    ud.Contributions.__init__ = make_and_record


def rows(counts):
    """Return each count with the number of its users, the largest first."""
    sizes, n_users = np.unique(counts, return_counts=True)
    return [f"{m} {n}" for m, n in zip(sizes[::-1], n_users[::-1], strict=True)]


def take():
    """Return the collections recorded since the last call, as JSON."""
    records = json.dumps(RECORDS)
    RECORDS.clear()
    return records
