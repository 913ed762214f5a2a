"""A browser, and the product's own server with a built site for it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from site_build.build import build
from site_build.tree import Sources
from tests.examples import CONTENT, ROOT
from tests.live import Live, live_server

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
BASE_URL = "http://127.0.0.1"


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site, built once."""
    out = tmp_path_factory.mktemp("site") / "dist"
    build(Sources.read(CONTENT, ROOT / "templates"), out, BASE_URL, "", None)
    return out


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One chromium for all tests."""
    path = shutil.which("chromium")
    assert path is not None, "chromium is missing; `make test-browser` installs it"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield running
        running.close()


@pytest.fixture
def server(tmp_path: Path, dist: Path) -> Iterator[Live]:
    """A server with the site. Its origin is its own, as a visitor's would be."""
    with live_server(tmp_path, dist=dist, PUBLIC_BASE_URL=BASE_URL, SIGNUPS_PER_HOUR="3") as live:
        yield live


@contextmanager
def opened_page(browser: Browser, server: Live, **options: Any) -> Iterator[Page]:
    """A fresh page on the server, which fails the test when the page logs an error that the test did not expect."""
    context = browser.new_context(base_url=f"http://127.0.0.1:{server.port}", **options)
    opened, errors = context.new_page(), []
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    # Chromium logs every refused or failed fetch as an error; that is what some tests are about.
    assert not [error for error in errors if not error.startswith("Failed to load resource")]


@pytest.fixture
def page(browser: Browser, server: Live) -> Iterator[Page]:
    """A fresh page on the server."""
    with opened_page(browser, server) as opened:
        yield opened
