"""What a 402 says, and the header as any client reads it."""

import base64
import json
from typing import Any

import jsonschema_rs
import pytest

from api import facts
from api.core.x402 import codec, offers
from api.core.x402.codec import MalformedPayment
from api.core.x402.offers import Offer
from api.service.offers import Offers, compose
from tests.examples import CONTENT, the_contract

LONGEST_HEADER = 6_000
"""What common proxies let through in one header, with room for the others."""


@pytest.fixture(scope="module")
def composed() -> Offers:
    return compose(the_contract(), facts.load(CONTENT), "https://screwtape.ai")


def test_the_header_is_padded_standard_base64_of_utf_8_json() -> None:
    value = {"a": "é>>>???", "b": ["5000"]}
    header = codec.encode(value)
    assert header.isascii()
    assert len(header) % 4 == 0
    assert json.loads(base64.b64decode(header, validate=True).decode()) == value
    assert codec.decode(header) == value


@pytest.mark.parametrize(
    "header",
    [
        "",
        "garbage",
        "e30",
        "e30=\n",
        " e30=",
        "e3-_",
        base64.b64encode(b"{").decode(),
        base64.b64encode(b"\xff").decode(),
        base64.b64encode(b'{"a": 1, "a": 2}').decode(),
        base64.b64encode(b'{"a": NaN}').decode(),
        base64.b64encode(b"[" * 20_000).decode(),
        base64.b64encode(b" " * 40_000).decode(),
        "é",
    ],
)
def test_what_is_no_header_is_said_to_be_none(header: str) -> None:
    with pytest.raises(MalformedPayment) as refused:
        codec.decode(header)
    assert header not in str(refused.value) or not header


def test_an_offer_has_its_members_and_no_other() -> None:
    wanted = offers.requirements(
        amount="5000",
        network="eip155:8453",
        asset="0xa",
        asset_name="USD Coin",
        asset_version="2",
        pay_to="0xb",
        max_timeout_seconds=120,
    )
    assert wanted == {
        "scheme": "exact",
        "network": "eip155:8453",
        "asset": "0xa",
        "amount": "5000",
        "payTo": "0xb",
        "maxTimeoutSeconds": 120,
        "extra": {"name": "USD Coin", "version": "2"},
    }
    assert Offer({"url": "u"}, wanted, {}).payment_required("why") == {
        "x402Version": 2,
        "error": "why",
        "resource": {"url": "u"},
        "accepts": [wanted],
        "extensions": {},
    }


@pytest.mark.promise("x402.extensions")
@pytest.mark.parametrize("operation_id", ["judge", "consensus"])
def test_discovery_shows_the_documented_example_and_describes_it(composed: Offers, operation_id: str) -> None:
    bazaar = composed.http[operation_id].extensions["bazaar"]
    shown = bazaar["info"]["input"]
    assert (shown["type"], shown["method"], shown["bodyType"]) == ("http", "POST", "json")
    operation = the_contract().operations[operation_id]
    assert shown["body"] == operation.example
    assert bazaar["info"]["output"]["type"] == "json"
    response = the_contract().body_schema(f"{operation_id.title()}Response")
    assert response.faults(bazaar["info"]["output"]["example"]) == []
    assert jsonschema_rs.Draft202012Validator(bazaar["schema"]).is_valid(bazaar["info"])


@pytest.mark.parametrize("operation_id", ["judge", "consensus"])
def test_a_tool_is_offered_under_its_own_url(composed: Offers, operation_id: str) -> None:
    offer = composed.tools[operation_id]
    assert offer.resource["url"] == f"mcp://tool/{operation_id}"
    assert offer.requirements == composed.http[operation_id].requirements
    bazaar = offer.extensions["bazaar"]
    assert (bazaar["info"]["input"]["type"], bazaar["info"]["input"]["toolName"]) == ("mcp", operation_id)
    assert jsonschema_rs.Draft202012Validator(bazaar["schema"]).is_valid(bazaar["info"])


@pytest.mark.promise("x402.extensions")
def test_a_client_may_name_its_payment_and_need_not(composed: Offers) -> None:
    extension = composed.http["judge"].extensions["payment-identifier"]
    assert extension["info"] == {"required": False}
    schema = jsonschema_rs.Draft202012Validator(extension["schema"])
    named: list[tuple[Any, bool]] = [("x" * 16, True), ("x" * 128, True), ("x" * 15, False), ("x" * 129, False)]
    for name, fits in [*named, ("sixteen letters!!", False), (7, False)]:
        assert schema.is_valid({"required": False, "id": name}) is fits


def test_resources_keep_to_the_limits_of_discovery_and_headers_to_those_of_proxies(composed: Offers) -> None:
    for offer in (*composed.http.values(), *composed.tools.values()):
        name, tags = offer.resource["serviceName"], offer.resource["tags"]
        assert name.isascii()
        assert len(name) <= 32
        assert len(tags) <= 5
        assert all(len(tag) <= 32 for tag in tags)
        assert len(codec.encode(offer.payment_required(offers.NO_PAYMENT))) < LONGEST_HEADER
