"""The dashboard's test delivery, to a receiver on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import BASE_URL, opened_page
from tests.browser.test_dashboard import enter
from tests.fakes.webhook_receiver import Receiver, webhook_receiver
from tests.live import Live, live_server


@pytest.fixture
def hooked(tmp_path: Path, dist: Path) -> Iterator[tuple[Live, Receiver]]:
    """A server that may send to this machine, and who receives there."""
    with (
        webhook_receiver() as there,
        live_server(tmp_path, dist=dist, clock=None, PUBLIC_BASE_URL=BASE_URL, WEBHOOK_ALLOW_PRIVATE="1") as live,
    ):
        yield live, there


@pytest.mark.promise("site.dashboard")
def test_a_test_is_sent_and_what_came_back_is_said(browser: Browser, hooked: tuple[Live, Receiver]) -> None:
    live, there = hooked
    with opened_page(browser, live) as page:
        enter(page, live.new_key())
        page.get_by_label("Alert webhook").fill(f"{there.url}/hook")
        page.get_by_role("button", name="Save the webhook").click()
        expect(page.locator("#hook-said code")).to_be_visible()
        send, said = page.get_by_role("button", name="Send a test"), page.locator("#hook-tested")
        send.click()
        expect(said).to_contain_text("Delivered: it answered 200")
        assert len(there.received) == 1
        expect(page.locator("#hook-said code")).to_be_visible()  # the secret, which is shown this once
        for status in (500, 501):
            there.answer = status
            send.click()
            expect(said).to_contain_text(f"Not delivered: it answered {status}")
        send.click()
        expect(page.locator("#hook-error")).to_contain_text("Try again at")
        assert len(there.received) == 3
