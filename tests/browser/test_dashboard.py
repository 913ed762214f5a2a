"""The dashboard: one key's usage, settings and end, with the key in the page's memory only."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import opened_page
from tests.examples import example
from tests.fakes.stripe import FakeStripe, event, fake_stripe
from tests.live import Live, live_server
from tests.web.billing import COMPLETED, post_event


def enter(page: Page, key: str) -> None:
    page.goto("/dashboard")
    page.get_by_label("Your API key").fill(key)
    page.get_by_role("button", name="Open the dashboard").click()


@pytest.mark.promise("site.dashboard")
def test_usage_and_credits_are_what_the_api_says(page: Page, server: Live) -> None:
    key = server.new_key(name="My agents")
    for _ in range(3):
        server.request("POST", "/v1/judge", example("judge"), key=key)
    server.request("POST", "/v1/consensus", example("consensus"), key=key)
    enter(page, key)
    expect(page.get_by_role("heading", name="My agents")).to_be_focused()
    expect(page.locator("#free")).to_have_text("96")
    expect(page.locator("#free-of")).to_contain_text("of 100, 4 used")
    expect(page.locator("#credits")).to_have_text("0")
    expect(page.get_by_role("img", name="4 of 100 free calls used today")).to_be_visible()
    calls = page.locator("#calls")
    expect(calls.get_by_role("img")).to_have_attribute("aria-label", re.compile("4 in 30 days, most on 30 Nov: 4"))
    calls.get_by_text("As a table").click()
    expect(calls.get_by_role("row").last).to_have_text(re.compile("2026-11-303.?1"))
    server.request("POST", "/v1/judge", example("judge"), key=key)
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator("#free")).to_have_text("95")


@pytest.mark.promise("site.dashboard")
@pytest.mark.parametrize(("key", "says"), [("", "Enter your key"), ("scr_\u00e9", "not a key"), ("scr_no", "")])
def test_a_key_that_is_none_is_said_at_its_field(page: Page, key: str, says: str) -> None:
    enter(page, key)
    field = page.get_by_label("Your API key")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    expect(page.locator("#key-error")).to_contain_text(says or re.compile(r"\w"))
    expect(page.locator("#account")).to_be_hidden()


@pytest.mark.promise("site.dashboard")
def test_the_key_is_in_memory_only_and_can_be_forgotten(page: Page, server: Live) -> None:
    enter(page, server.new_key())
    expect(page.get_by_role("heading", name="Local dev")).to_be_visible()
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
    assert "scr_" not in stored
    page.get_by_role("button", name="Forget the key").click()
    expect(page.locator("#account")).to_be_hidden()
    assert page.get_by_label("Your API key").input_value() == ""


@pytest.mark.promise("site.dashboard")
def test_a_key_that_is_deleted_meanwhile_ends_the_visit(page: Page, server: Live) -> None:
    key = server.new_key()
    enter(page, key)
    expect(page.get_by_role("heading", name="Local dev")).to_be_visible()
    server.request("DELETE", "/v1/keys/me", key=key)
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator("#account")).to_be_hidden()
    expect(page.get_by_label("Your API key")).to_have_attribute("aria-invalid", "true")


@pytest.mark.promise("site.dashboard")
def test_a_webhook_is_set_with_its_secret_once_and_removed(page: Page, server: Live) -> None:
    key = server.new_key()
    enter(page, key)
    field = page.get_by_label("Alert webhook")
    field.fill("http://hooks.example.com/x")
    page.get_by_role("button", name="Save the webhook").click()
    expect(page.locator("#hook-error")).to_contain_text("https")
    expect(field).to_be_focused()
    field.fill("https://hooks.example.com/x")
    page.get_by_role("button", name="Save the webhook").click()
    expect(page.locator("#hook-said code")).to_have_text(re.compile("^whsec_"))
    assert server.request("GET", "/v1/account/settings", key=key).json["alert_webhook_url"] == field.input_value()
    page.get_by_role("button", name="Refresh").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.locator("#hook-said")).to_contain_text("Removed")
    assert server.request("GET", "/v1/account/settings", key=key).json["alert_webhook_url"] == ""
    expect(page.get_by_role("button", name="Remove it")).to_be_hidden()


@pytest.mark.promise("site.dashboard")
def test_keeping_is_switched_off_and_on(page: Page, server: Live) -> None:
    key = server.new_key()
    enter(page, key)
    switch = page.get_by_role("switch", name="Keep calls that ask for it")
    expect(switch).to_be_checked()
    switch.click()
    expect(page.locator("#keep-said")).to_contain_text("Nothing is kept")
    assert server.request("GET", "/v1/account/settings", key=key).json["retention_days"] == 0
    page.context.set_offline(True)
    switch.click()
    expect(page.locator("#keep-said")).to_contain_text("offline")
    expect(switch).not_to_be_checked()


@pytest.mark.promise("site.dashboard")
def test_the_keyboard_alone_rotates_and_deletes(page: Page, server: Live) -> None:
    key = server.new_key()
    page.goto("/dashboard")
    page.get_by_label("Your API key").focus()
    page.keyboard.type(key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Local dev")).to_be_focused()
    page.get_by_label("Type rotate").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#rotate-error")).to_contain_text("Type rotate")
    assert server.request("GET", "/v1/keys/me", key=key).status == 200
    page.keyboard.type("rotate")
    page.keyboard.press("Enter")
    new = page.locator("#rotate-said code")
    expect(new).to_have_text(re.compile(r"^scr_\w{42}$"))
    secret = new.inner_text()
    assert server.request("GET", "/v1/keys/me", key=key).status == 401
    assert server.request("GET", "/v1/keys/me", key=secret).status == 200
    page.get_by_label("Type delete").focus()
    page.keyboard.type("delete")
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_contain_text("is deleted")
    expect(page.locator("#account")).to_be_hidden()
    assert server.request("GET", "/v1/keys/me", key=secret).status == 401
    assert secret not in page.evaluate("document.documentElement.outerHTML")


@pytest.fixture
def shop(tmp_path: Path, dist: Path) -> Iterator[tuple[Live, FakeStripe]]:
    with (
        fake_stripe() as stripe,
        live_server(tmp_path, dist=dist, clock=None, PUBLIC_BASE_URL="http://127.0.0.1", **stripe.settings) as live,
    ):
        yield live, stripe


@pytest.mark.promise("site.dashboard")
@pytest.mark.promise("site.billing_pages")
def test_a_pack_is_bought_and_its_credit_is_seen(browser: Browser, shop: tuple[Live, FakeStripe]) -> None:
    live, stripe = shop
    key = live.new_key()
    with opened_page(browser, live) as page:
        page.route("https://checkout.stripe.com/**", lambda route: route.fulfill(body="Stripe's page"))
        enter(page, key)
        page.get_by_label("Pack", exact=True).select_option("builder")
        page.get_by_role("button", name="Pay at Stripe").click()
        page.wait_for_url("https://checkout.stripe.com/c/pay/cs_test_1")
        asked = stripe.requests[0].params
        assert asked["line_items[0][price_data][unit_amount]"] == "10000"
        cancel, success = (asked[name].partition("127.0.0.1")[2] for name in ("cancel_url", "success_url"))
        page.goto(cancel)
        expect(page.locator("main")).to_contain_text("nothing was taken")
        page.goto(success)
        page.get_by_label("Your API key").fill(key)
        page.get_by_role("button", name="Watch the balance").click()
        expect(page.locator("#balance-state")).to_contain_text("Pending")
        pay(live, stripe)
        expect(page.locator("#balance-state")).to_contain_text("Credited", timeout=10_000)
        enter(page, key)
        expect(page.locator("#credits")).to_have_text("50,000")


def pay(live: Live, stripe: FakeStripe) -> None:
    assert post_event(live, event(COMPLETED, stripe.session("cs_test_1"))).status == 200


@pytest.mark.promise("site.dashboard")
def test_a_server_that_sells_no_packs_says_so_at_the_form(page: Page, server: Live) -> None:
    enter(page, server.new_key())
    page.get_by_role("button", name="Pay at Stripe").click()
    expect(page.locator("#buy-error")).to_contain_text(re.compile(r"\w"))


@pytest.mark.promise("site.dashboard")
def test_a_server_that_is_gone_is_said_and_the_key_stays_typed(page: Page, server: Live) -> None:
    key = server.new_key()
    page.goto("/dashboard")
    page.get_by_label("Your API key").fill(key)
    page.context.set_offline(True)
    page.get_by_role("button", name="Open the dashboard").click()
    expect(page.locator("#refusal")).to_contain_text("can't be reached")
    page.context.set_offline(False)
    page.get_by_role("button", name="Open the dashboard").click()
    expect(page.get_by_role("heading", name="Local dev")).to_be_visible()
