"""What is being built, and where it goes: the commit, the version, the addresses.

In a clone git knows the commit; in an archive that git made, `.git_archival` does. The Makefile
asks once, before anything is executed, and hands the answer on in USERDP_STAMP: chapters write
tables.

This is a Sphinx extension, too. The environment has the addresses of the repository,
USERDP_REPOSITORY (https://HOST/OWNER/NAME, with USERDP_BRANCH or "main"), and of the book,
BOOK_URL: pages get buttons and whole addresses if it does, and no dead ones if not. USERDP_PDF is a
PDF of the book for the first page to offer. Outputs of chapters are those of the cache
USERDP_EXECUTED, which tools/execute.py fills; with USERDP_STORED those that are stored, which the
tests compare with what is computed; without either, chapters are executed as they are read.
"""

from __future__ import annotations  # an older Python gets as far as the Makefile's words for it

import os
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Stamp(NamedTuple):
    """A commit, its time in seconds since 1970, and whether files differ from it."""

    commit: str = ""  # nothing tells
    seconds: int = 0
    changed: bool = False


def git(*arguments: str) -> str | None:
    """Return what git says, or None where there is no clone."""
    try:
        asked = subprocess.run(
            ["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return None if asked.returncode else asked.stdout.strip()


def stamp() -> Stamp:
    """Return what is built."""
    told = os.environ.get("USERDP_STAMP")
    if not told and (ROOT / ".git").exists():  # and not in a folder of some other repository
        changed = git("status", "--porcelain", "--untracked-files=no")
        told = f"{git('log', '-1', '--format=%H %ct')} {'changed' if changed else 'committed'}"
    told = told or f"{(ROOT / '.git_archival').read_text().strip()} committed"
    found = re.fullmatch(r"([0-9a-f]{40}) (\d+) (changed|committed)", told)
    return Stamp(found[1], int(found[2]), found[3] == "changed") if found else Stamp()


def origin() -> str:
    """Return in words which commit is built: nothing where nothing tells."""
    commit, _, changed = stamp()
    return commit and f"built from commit {commit[:12]}{', with changes' * changed}"


def version() -> str:
    """Return in words which version is built, and from which commit."""
    import userdp

    return ", ".join(filter(None, [f"Version {userdp.__version__}", origin()]))


def repository() -> str | None:
    """Return the repository's address, if there is one."""
    address = os.environ.get("USERDP_REPOSITORY")
    if address and not re.fullmatch(r"https://[\w.-]+/[\w.-]+/[\w.-]+", address):
        raise ValueError(f"USERDP_REPOSITORY must be https://HOST/OWNER/NAME, got {address!r}.")
    return address or None


def options() -> dict[str, Any]:
    """Return what the theme is to know: the foot of every page, and the buttons."""
    address, footer = repository(), version()
    if not address:
        return {"extra_footer": f"<p>{footer}</p>"}
    link = f'<a href="{address}/commit/{stamp().commit}">\\g<0></a>'
    return {
        "extra_footer": f"<p>{re.sub('(?<=commit )[0-9a-f]+', link, footer)}</p>",
        "repository_url": address,
        "repository_branch": os.environ.get("USERDP_BRANCH") or "main",
        "use_repository_button": True,
        "use_issues_button": True,
        "launch_buttons": {
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
            "notebook_interface": "jupyterlab",
        },
    }


def configure(app: Any, config: Any) -> None:
    """Set the options that the version and the environment decide, and the date of the PDF."""
    config.today = version()
    config.html_theme_options = config.html_theme_options | options()
    if url := os.environ.get("BOOK_URL"):
        config.html_baseurl = url.rstrip("/") + "/"
    if os.environ.get("USERDP_STORED"):
        config.nb_execution_mode = "off"
    elif cache := os.environ.get("USERDP_EXECUTED"):
        config.nb_execution_mode = "cache"
        config.nb_execution_cache_path = str(ROOT / cache)
    if pdf := os.environ.get("USERDP_PDF"):
        config.html_extra_path = [*config.html_extra_path, pdf]
        app.tags.add("pdf")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("config-inited", configure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":  # for the Makefile
    commit, seconds, changed = stamp()
    print(commit or "none", seconds, "changed" if changed else "committed")
