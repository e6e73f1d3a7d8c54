"""Proofs are compiled once, by the first worker of pytest that needs them."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[2] / "proofs"
BUILT = PROOFS.parent / "_build" / "proofs"
MISSING = shutil.which("coqc") is None
with_coq = [
    pytest.mark.skipif(
        MISSING and not os.environ.get("USERDP_REQUIRE_PROOFS"), reason="Coq is not installed"
    ),
    # A test may wait until all proofs are compiled, by its own worker or by another.
    pytest.mark.timeout(2400),
]
"""Marks of tests that need Coq."""


def compiled(target="checked"):
    """Run `make` for a target, by default the check of all proofs, in one worker at a time.

    Return the folder of compiled files. This takes minutes the first time, and almost no time
    afterwards.
    """
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "--silent", "-C", PROOFS, target], check=True, capture_output=True)
    return BUILT
