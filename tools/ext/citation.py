"""A Sphinx extension: CITATION.cff as it leaves here, with what is known of this copy.

The repository's file has the version and the day it is from, and no address. A release
(`tools/release.py`) and the page on citing offer it with their own day and commit, and with the
addresses of the repository and the book where the environment has them.
"""

import os
import re
from datetime import UTC, datetime

from .contents import ROOT


def stamped(text, day="", commit=""):
    """Return the text of the file, with a day, a commit and addresses in place of what it says."""
    repository = os.getenv("USERDP_REPOSITORY")
    new = {
        "date-released": day,
        "commit": commit and f"'{commit}'",  # without letters and quotes, it would be a number
        "repository-code": repository,
        "url": os.getenv("BOOK_URL") or repository,
    }
    new = {name: said for name, said in new.items() if said}
    kept = [line for line in text.splitlines() if line.partition(":")[0] not in new]
    return "\n".join([*kept, *(f"{name}: {said}" for name, said in new.items()), ""])


def offer(app):
    """Write the file of what is built beside the pages; with changes it is of no commit."""
    seconds = os.getenv("SOURCE_DATE_EPOCH")
    day = f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%d}" if seconds else ""
    told = re.fullmatch(r"([0-9a-f]{40}) \d+", os.getenv("USERDP_STAMP", ""))
    commit = told[1] if told else ""
    text = stamped((ROOT / "CITATION.cff").read_text("utf-8"), day, commit)
    (app.outdir / "CITATION.cff").write_text(text, "utf-8")
    return []


def setup(app):
    """Register the extension."""
    app.connect("html-collect-pages", offer)
