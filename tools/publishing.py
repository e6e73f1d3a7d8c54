"""A Sphinx extension: buttons that lead to the repository, where its address is known.

USERDP_REPOSITORY is the address (https://github.com/OWNER/NAME), USERDP_BRANCH the branch, "main"
without it. A book that is built without an address has no such buttons: they would be dead.
"""

import os
import re


def buttons(repository, branch):
    """Return what the theme is to know for the buttons."""
    if not re.fullmatch(r"https://[\w.-]+/[\w.-]+/[\w.-]+", repository):
        raise ValueError(f"USERDP_REPOSITORY must be https://HOST/OWNER/NAME, got {repository!r}.")
    return {
        "repository_url": repository,
        "repository_branch": branch,
        "use_repository_button": True,
        "use_issues_button": True,
        "launch_buttons": {
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
            "notebook_interface": "jupyterlab",
        },
    }


def configure(app, config):
    """Add the buttons if there is an address."""
    repository = os.environ.get("USERDP_REPOSITORY")
    if repository:
        branch = os.environ.get("USERDP_BRANCH") or "main"
        config.html_theme_options = config.html_theme_options | buttons(repository, branch)


def setup(app):
    """Register the extension with Sphinx."""
    app.connect("config-inited", configure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
