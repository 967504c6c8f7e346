"""A headless Chromium for tests of HTML pages; they are skipped if it is not installed."""

import shutil
from contextlib import contextmanager

import pytest

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EXECUTABLES = ("chromium", "chromium-browser", "google-chrome")


def find_browser():
    return next((found for name in EXECUTABLES if (found := shutil.which(name))), None)


@pytest.fixture(scope="module", name="chromium")
def launch_chromium():
    """Start one browser with an empty profile for all tests of a module."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = find_browser()
    if executable is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def opened(browser, file, *, color_scheme="light", width=1200):
    """Open a file; yield the page and a list of errors: console messages, exceptions and external requests."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=color_scheme)
    page = context.new_page()
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: None if request.url == file.as_uri() else errors.append(request.url[:200]))
    page.goto(file.as_uri())
    try:
        yield page, errors
    finally:
        context.close()
