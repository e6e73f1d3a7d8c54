"""A Sphinx extension: what depends on where the book goes, and on its version.

USERDP_REPOSITORY is the address of the repository (https://github.com/OWNER/NAME), USERDP_BRANCH
the branch, "main" without it: pages get buttons that lead there. A book that is built without an
address has none: they would be dead. USERDP_PDF is a PDF of the book: it goes to the root of the
site, and the first page links to it.

With USERDP_EXECUTED the outputs of the chapters are taken from that cache, which tools/execute.py
fills; with USERDP_STORED those that are stored, which the tests compare with what is computed;
without either, chapters are executed as they are read.
"""

import os
import re

import built

import userdp


def buttons(repository, branch):
    """Return what the theme is to know for the buttons."""
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


def version():
    """Return in words which version is built, and from which commit."""
    return ", ".join(filter(None, [f"Version {userdp.__version__}", built.origin()]))


def footer():
    """Return the same for the foot of every page; the commit is a link where it leads somewhere."""
    words, told, address = version(), built.stamp(), built.repository()
    if told and address:
        link = f'<a href="{address}/commit/{told[0]}">\\g<0></a>'
        words = re.sub("(?<=commit )[0-9a-f]+", link, words)
    return f"<p>{words}</p>"


def configure(app, config):
    """Set the options that the version and the environment decide, and the date of the PDF."""
    config.today = version()
    config.html_theme_options = config.html_theme_options | {"extra_footer": footer()}
    if os.environ.get("USERDP_STORED"):
        config.nb_execution_mode = "off"
    elif cache := os.environ.get("USERDP_EXECUTED"):
        config.nb_execution_mode = "cache"
        config.nb_execution_cache_path = str(built.ROOT / cache)
    if pdf := os.environ.get("USERDP_PDF"):
        config.html_extra_path = [*config.html_extra_path, pdf]
        app.tags.add("pdf")
    if repository := built.repository():
        branch = os.environ.get("USERDP_BRANCH") or "main"
        config.html_theme_options = config.html_theme_options | buttons(repository, branch)


def setup(app):
    """Register the extension with Sphinx."""
    app.connect("config-inited", configure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
