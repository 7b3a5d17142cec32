"""Pages in Chromium without a window and without any network."""

import shutil

import pytest

BROWSER = shutil.which("chromium")
FLAGS = [
    "--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]  # fmt: skip
WAIT = 240_000  # [ms] a busy machine without a graphics card draws slowly
OWN = ("file:", "data:", "blob:", "about:")


def in_browser(test):
    """Mark a test that needs Chromium; it is slow, since .ci/run installs the browser after the quick set."""
    return pytest.mark.slow(pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")(test))


@pytest.fixture(scope="module")
def browser():
    """Chromium, for the tests of a module."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser):
    """A function that opens a page of a file; the test fails where a page writes an error or asks for an address."""
    errors = []

    def opened(file, *, width=800, height=400):
        page = browser.new_page(viewport=dict(width=width, height=height))
        page.set_default_timeout(WAIT)
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(OWN) else errors.append(request.url))
        page.goto(file.as_uri())
        return page

    yield opened
    for context in browser.contexts:
        context.close()
    assert errors == []
