"""The x402 header as any client reads it."""

import base64
import json

from api.core import x402


def test_the_header_is_padded_standard_base64_of_utf_8_json() -> None:
    value = {"a": "é>>>???", "b": ["5000"]}
    header = x402.header(value)
    assert header.isascii()
    assert len(header) % 4 == 0
    assert json.loads(base64.b64decode(header, validate=True).decode()) == value


def test_an_offer_has_its_members_and_no_other() -> None:
    offer = x402.offer(
        amount="5000",
        network="eip155:8453",
        asset="0xa",
        asset_name="USD Coin",
        asset_version="2",
        pay_to="0xb",
        max_timeout_seconds=120,
    )
    assert offer == {
        "scheme": "exact",
        "network": "eip155:8453",
        "asset": "0xa",
        "amount": "5000",
        "payTo": "0xb",
        "maxTimeoutSeconds": 120,
        "extra": {"name": "USD Coin", "version": "2"},
    }
    required = x402.payment_required("why", {"url": "u"}, [offer])
    assert required == {
        "x402Version": 2,
        "error": "why",
        "resource": {"url": "u"},
        "accepts": [offer],
        "extensions": {},
    }
