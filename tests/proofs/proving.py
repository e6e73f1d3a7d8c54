"""Proofs compiled once, whichever worker of pytest asks first."""

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
    # Whoever asks first waits until all proofs are compiled.
    pytest.mark.timeout(2400),
]
"""Marks of tests that need Coq."""


def compiled(target="checked"):
    """Have `make` check the proofs, while other workers wait; return where they are compiled.

    Nothing to do if it has been done, two minutes if not.
    """
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "--silent", "-C", PROOFS, target], check=True, capture_output=True)
    return BUILT
