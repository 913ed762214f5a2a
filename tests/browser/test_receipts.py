"""Verifying receipts in the browser: with WebCrypto and the keys that the server lists."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from api.core.receipts.canonical import canonical
from api.core.receipts.keys import unb64url
from tests.browser.conftest import BASE_URL
from tests.core.test_receipts_signing import RECEIPT, REFUSED
from tests.examples import example
from tests.live import Live, live_server
from tests.receipts import OTHER_PEM, SIGNING_PEM, issuer, public_of, verified

VERDICT, FIELDS = "#receipt-verdict", "#receipt-fields"


@pytest.fixture
def server(tmp_path: Path, dist: Path) -> Iterator[Live]:
    """A server that signs, and that once signed with another key."""
    retired = public_of(OTHER_PEM)
    with live_server(
        tmp_path,
        dist=dist,
        PUBLIC_BASE_URL=BASE_URL,
        RECEIPT_SIGNING_KEY=SIGNING_PEM,
        RECEIPT_RETIRED_KEYS=retired,
    ) as live:
        live.new_key()
        yield live


def answer(server: Live, operation: str = "judge", **more: Any) -> Any:
    body = {**example(operation), **more}
    return server.request("POST", f"/v1/{operation}", body, key=server.keys[0]).json


def verify(page: Page, value: Any) -> None:
    if not page.url.endswith("/receipts"):
        page.goto("/receipts")
    page.get_by_role("textbox", name="Receipt").fill(value if isinstance(value, str) else json.dumps(value))
    page.get_by_role("button", name="Verify").click()


@pytest.mark.promise("site.receipts_guide")
@pytest.mark.promise("receipts.offline")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
def test_a_genuine_receipt_is_valid(page: Page, server: Live, operation: str) -> None:
    whole = answer(server, operation, explain=True, version="é \U0001f600", agent_id="agent-1")
    verify(page, whole["receipt"])
    expect(page.locator(VERDICT)).to_contain_text("✓ Valid Checked in this browser")
    expect(page.locator(FIELDS)).to_contain_text(whole["request_id"])
    expect(page.locator(FIELDS).get_by_text("é \U0001f600")).to_be_visible()
    verify(page, {"no": "receipt"})
    expect(page.locator(VERDICT)).to_contain_text("✕ Not valid It is no receipt")
    expect(page.locator(FIELDS)).to_be_hidden()
    verify(page, whole)
    expect(page.locator(VERDICT)).to_contain_text("✓ Valid")


@pytest.mark.promise("site.receipts_guide")
def test_a_changed_receipt_is_not(page: Page, server: Live) -> None:
    whole = answer(server)
    receipt = whole["receipt"]
    verify(page, {**receipt, "result": {**receipt["result"], "verdict": "fail"}})
    expect(page.locator(VERDICT)).to_contain_text("✕ Not valid The signature does not fit")
    expect(page.locator(VERDICT)).to_contain_text("(wrong_signature)")
    expect(page.locator(FIELDS)).to_be_hidden()
    verify(page, {**whole, "score": 0.1})
    expect(page.locator(VERDICT)).to_contain_text("(wrong_response_hash)")


@pytest.mark.promise("site.receipts_guide")
def test_a_receipt_by_a_retired_key_is_valid_and_by_another_is_not(page: Page, server: Live) -> None:
    request, response = example("judge"), {**answer(server)}
    response.pop("receipt")
    old = issuer(OTHER_PEM, url=BASE_URL).with_receipt("judge", request, response, 0, None)
    verify(page, old)
    expect(page.locator(VERDICT)).to_contain_text("✓ Valid")
    expect(page.locator(FIELDS)).to_contain_text("1970-01-01T00:00:00Z")
    verify(page, RECEIPT)
    expect(page.locator(VERDICT)).to_contain_text("(wrong_issuer)")


def test_each_fault_has_the_servers_reason(page: Page, server: Live) -> None:
    """The page and the server agree on what the other tests forge, but for what only one of them can see."""
    page.goto("/receipts")
    module = page.locator("#receipts").get_attribute("data-module")
    forged = [receipt for _, receipt in REFUSED if isinstance(receipt, dict) and receipt.get("more") != 2**70]
    for receipt in forged:
        theirs = verified(server, receipt).json["reason"]
        script = "async ([module, text, issuer]) => (await import(module)).refusal(JSON.parse(text), null, issuer)"
        found = page.evaluate(script, [module, json.dumps(receipt), BASE_URL])
        twice = '"alg":"none","alg"' in str(_header(receipt))
        assert found == ("unknown_key" if twice else theirs), receipt


def _header(receipt: Any) -> bytes:
    try:
        return unb64url(receipt["signatures"][0]["protected"])
    except (KeyError, IndexError, TypeError, ValueError):
        return b""


def test_the_page_writes_the_same_canonical_form(page: Page, server: Live) -> None:
    page.goto("/receipts")
    module = page.locator("#receipts").get_attribute("data-module")
    value = {"n": [0, -0.0, 1.0, 0.91, 1e21, 1e-7, 5e-324, 2**63 - 1], "\U0001f600": '\x00\x7f\u2028\\"', "\ufb33": {}}
    script = "async ([module, text]) => (await import(module)).canonical(JSON.parse(text))"
    assert page.evaluate(script, [module, json.dumps(value)]).encode() == canonical(value)


def test_what_is_no_json_is_said_at_the_field(page: Page, server: Live) -> None:
    verify(page, "receipt: none")
    expect(page.locator("#receipt-error")).to_have_text("This is not JSON.")
    expect(page.get_by_role("textbox", name="Receipt")).to_be_focused()
    expect(page.get_by_role("textbox", name="Receipt")).to_have_attribute("aria-invalid", "true")
    verify(page, answer(server))
    expect(page.locator("#receipt-error")).to_have_text("")


@pytest.mark.promise("site.receipts_guide")
def test_a_browser_without_ed25519_offers_the_server(page: Page, server: Live) -> None:
    page.add_init_script(
        "SubtleCrypto.prototype.generateKey = async () => { throw new DOMException('', 'NotSupportedError'); };"
    )
    verify(page, answer(server))
    expect(page.locator(VERDICT)).to_contain_text("can't verify Ed25519 signatures, so nothing was checked")
    expect(page.locator(VERDICT)).not_to_contain_text("Valid")
    page.get_by_role("button", name="Ask the server").click()
    expect(page.locator(VERDICT)).to_contain_text("✓ Valid So says the server")
    expect(page.get_by_role("button", name="Ask the server")).to_be_hidden()


def test_a_server_that_is_gone_is_said(page: Page, server: Live) -> None:
    page.goto("/receipts")
    page.route("**/.well-known/jwks.json", lambda route: route.abort())
    verify(page, answer(server))
    expect(page.locator("#receipt-error")).to_contain_text("can't be reached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900, 1440])
def test_the_result_is_not_wider_than_the_screen(
    browser: Browser, server: Live, tmp_path: Path, width: int, scheme: Any
) -> None:
    size = {"width": width, "height": 900}
    context = browser.new_context(base_url=f"http://127.0.0.1:{server.port}", viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    verify(page, answer(server, agent_id="a" * 64))
    expect(page.locator(VERDICT)).to_contain_text("✓ Valid")
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    context.close()
