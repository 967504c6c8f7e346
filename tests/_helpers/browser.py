"""A headless Chromium for tests of pages, or a skip that says why there is none."""

import shutil
from contextlib import contextmanager

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser():
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@pytest.fixture(scope="module", name="chromium")
def one_chromium():
    """One browser for all tests of a module; playwright gives it an empty profile."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = find_browser()
    if executable is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser, file, *, color_scheme="light", width=1200):
    """Open a file; yield the page and a list of what went wrong: console errors, exceptions, outside requests."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=color_scheme)
    page = context.new_page()
    wrong = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: None if request.url == file.as_uri() else wrong.append(request.url[:200]))
    page.goto(file.as_uri())
    try:
        yield page, wrong
    finally:
        context.close()
