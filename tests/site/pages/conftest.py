"""A browser, its tabs, and the built book to look at."""

import pytest
from browser import BUILT, CHROMIUM, FLAGS, MINUTE, REQUIRED, served


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
    if not BUILT.exists() and not REQUIRED:
        pytest.skip("the book is not built: run `make book` first")
    with served(BUILT) as address:
        yield address
