"""A browser, its tabs, and the served book."""

import pytest
from browser import BUILT, CHROMIUM, FLAGS, MINUTE, REQUIRED, serve


@pytest.fixture(scope="module")
def browser():
    """Chromium, for one file of tests: its event loop in this thread could disturb other tests."""
    if not CHROMIUM and not REQUIRED:
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=MINUTE)
    ignored = ["--hide-scrollbars"]  # scroll bars take a part of the width, as for readers
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, ignore_default_args=ignored, timeout=MINUTE
        ) as browser,
    ):
        yield browser


@pytest.fixture(scope="module")
def context(browser):
    """A wide window without animations."""
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
    """Errors of the page, as they occur."""
    messages = []
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on(
        "console",
        lambda entry: entry.type == "error" and messages.append(f"{entry.text} {entry.location}"),
    )
    return messages


@pytest.fixture
def requests(page):
    """Addresses that the page requests, as they occur."""
    addresses = []
    page.on("request", lambda request: addresses.append(request.url))
    return addresses


@pytest.fixture(scope="module")
def book():
    if not BUILT.exists() and not REQUIRED:
        pytest.skip("the book is not built: run `make book` first")
    with serve(BUILT) as address:
        yield address
