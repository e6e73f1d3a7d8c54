"""Settings of all tests: examples that are the same in every run, no clock; and what some share."""

import shutil
import subprocess

import pytest
from browser import BUILT, CHROMIUM, FLAGS, MINUTE, REQUIRED, ROOT, served
from hypothesis import HealthCheck, settings

settings.register_profile(
    "book",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("book")


@pytest.fixture(scope="module")
def browser():
    """Chromium, for one file: while it runs, this thread has an event loop that others may mind."""
    if not CHROMIUM and not REQUIRED:
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=MINUTE)
    shown = ["--hide-scrollbars"]  # left out: they take their share of the width, as for readers
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, ignore_default_args=shown, timeout=MINUTE
        ) as browser,
    ):
        yield browser


@pytest.fixture(scope="module")
def context(browser):
    """A wide window, in which nothing fades or glides."""
    with browser.new_context(
        viewport={"width": 1400, "height": 900}, reduced_motion="reduce"
    ) as context:
        context.set_default_timeout(MINUTE)
        yield context


@pytest.fixture
def page(context):
    """A new tab."""
    with context.new_page() as page:
        yield page


@pytest.fixture
def errors(page):
    """What goes wrong in the page, by and by."""
    found = []
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on(
        "console",
        lambda said: said.type == "error" and found.append(f"{said.text} {said.location}"),
    )
    return found


@pytest.fixture
def requests(page):
    """What the page asks for, by and by."""
    found = []
    page.on("request", lambda request: found.append(request.url))
    return found


@pytest.fixture(scope="module")
def book():
    """The address of the built book."""
    if not BUILT.exists() and not REQUIRED:
        pytest.skip("the book is not built: run `make book` first")
    with served(BUILT) as address:
        yield address


@pytest.fixture
def clone_of(tmp_path, monkeypatch):
    """Make a repository of some files, one commit of the second 86400, that `built` looks at."""

    def make(*names):
        folder = tmp_path / "clone"
        folder.mkdir()
        for name in names:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name)
        who = {"NAME": "x", "EMAIL": "x@example.org", "DATE": "@86400 +0000"}
        for part, value in who.items():
            monkeypatch.setenv(f"GIT_AUTHOR_{part}", value)
            monkeypatch.setenv(f"GIT_COMMITTER_{part}", value)
        monkeypatch.setattr("built.ROOT", folder)
        monkeypatch.delenv("USERDP_STAMP", raising=False)
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
            subprocess.run(["git", "-C", folder, *command], check=True)
        return folder

    return make
