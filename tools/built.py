"""What is being built, and where it goes: the commit, the version, the addresses.

A Sphinx extension. The Makefile says in USERDP_STAMP of which commit: it asks once, before chapters
write tables. The environment has the addresses of the repository, USERDP_REPOSITORY
(https://HOST/OWNER/NAME), and of the book, BOOK_URL: pages get buttons and whole addresses if it
does, and no dead ones if not. USERDP_PDF is a PDF of the book for the first page to offer. With
USERDP_STORED outputs are those that are stored, with USERDP_EXECUTED those of the cache that
`make book` fills anew; without either, chapters are executed as they are read.
"""

import os
import re

import userdp


def commit():
    """Return the commit, nothing where none is known, and whether files differ from it."""
    told = re.fullmatch(r"([0-9a-f]{40}) \d+( changed)?", os.environ.get("USERDP_STAMP", ""))
    return (told[1], bool(told[2])) if told else ("", False)


def version():
    """Return in words which version is built, and from which commit if that is known."""
    digits, changed = commit()
    known = f", built from commit {digits[:12]}{', with changes' * changed}" if digits else ""
    return f"Version {userdp.__version__}{known}"


def configure(app, config):
    """Set what the version and the environment decide: foot of pages, buttons, date of the PDF."""
    config.today = foot = version()
    if address := os.environ.get("USERDP_REPOSITORY"):
        link = f'<a href="{address}/commit/{commit()[0]}">\\g<0></a>'
        foot = re.sub("(?<=commit )[0-9a-f]+", link, foot)
        hosts = {"binderhub_url": "https://mybinder.org"}
        hosts["colab_url"] = "https://colab.research.google.com"
        config.html_theme_options |= {
            "repository_url": address,
            "repository_branch": "main",
            "use_repository_button": True,
            "use_issues_button": True,
            "launch_buttons": {**hosts, "notebook_interface": "jupyterlab"},
        }
    config.html_theme_options |= {"extra_footer": f"<p>{foot}</p>"}
    if url := os.environ.get("BOOK_URL"):
        config.html_baseurl = url.rstrip("/") + "/"
    for told, mode in (("USERDP_EXECUTED", "cache"), ("USERDP_STORED", "off")):
        if os.environ.get(told):
            config.nb_execution_mode = mode
    if pdf := os.environ.get("USERDP_PDF"):
        config.html_extra_path = [*config.html_extra_path, pdf]
        app.tags.add("pdf")


def setup(app):
    """Register the extension."""
    app.connect("config-inited", configure)
