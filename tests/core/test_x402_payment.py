"""A payment as a client sends it: what is read, what is refused, and what is said to the facilitator."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api import facts
from api.core.x402 import payment
from api.core.x402.codec import MalformedPayment
from api.core.x402.offers import Offer
from api.service.offers import compose
from tests.examples import CONTENT, the_contract

NOW = 1_800_000_000
OFFER: Offer = compose(the_contract(), facts.load(CONTENT), "https://screwtape.ai").http["judge"]
PAYER = "0x" + "aB" * 20


def sent(**changes: Any) -> dict[str, Any]:
    """A good payment; `changes` are to the authorization."""
    return {
        "x402Version": 2,
        "payload": {
            "authorization": {
                "from": PAYER,
                "to": OFFER.requirements["payTo"],
                "value": "5000",
                "validAfter": "0",
                "validBefore": str(NOW + 120),
                "nonce": "0x" + "Cd" * 32,
                **changes,
            },
            "signature": "0x" + "12" * 65,
        },
        "resource": OFFER.resource,
        "accepted": copy.deepcopy(OFFER.requirements),
        "extensions": copy.deepcopy(OFFER.extensions),
    }


def set_in(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """A change of one member; the path's parts are parted by blanks."""

    def change(document: dict[str, Any]) -> None:
        *way, last = path.split()
        for step in way:
            document = document[step]
        document[last] = value

    return change


MALFORMED: list[tuple[str, Any]] = [
    ("x402Version", 1),
    ("x402Version", "2"),
    ("x402Version", None),
    ("payload", None),
    ("payload", "0x"),
    ("payload authorization", None),
    ("payload authorization", []),
    ("payload signature", None),
    ("payload signature", ""),
    ("payload signature", "0x"),
    ("payload signature", "0x123"),
    ("payload signature", "12" * 65),
    ("payload signature", "0x" + "12" * 12_001),
    ("payload signature", "0x" + "zz" * 65),
    ("payload authorization from", "0x" + "a" * 39),
    ("payload authorization from", "0x" + "a" * 41),
    ("payload authorization from", "0x" + "g" * 40),
    ("payload authorization from", PAYER + "\n"),
    ("payload authorization to", None),
    ("payload authorization value", 5000),
    ("payload authorization value", "5,000"),
    ("payload authorization value", "-5000"),
    ("payload authorization value", "05000"),
    ("payload authorization value", "5000.0"),
    ("payload authorization value", "٥٠٠٠"),
    ("payload authorization value", "1" * 79),
    ("payload authorization validAfter", 0),
    ("payload authorization validBefore", "soon"),
    ("payload authorization nonce", "0x" + "a" * 63),
    ("payload authorization nonce", "0x" + "a" * 65),
    ("payload authorization nonce", 7),
    ("accepted", None),
    ("accepted", []),
    ("extensions", []),
    ("extensions payment-identifier", "an id"),
    ("extensions payment-identifier info", "an id"),
    ("extensions payment-identifier info", {"id": "too short"}),
    ("extensions payment-identifier info", {"id": "x" * 129}),
    ("extensions payment-identifier info", {"id": "sixteen letters!"}),
    ("extensions payment-identifier info", {"id": 1_234_567_890_123_456}),
]


@pytest.mark.promise("charging.payment_malformed")
@pytest.mark.parametrize(("path", "value"), MALFORMED, ids=lambda value: str(value)[:50])
def test_a_payment_that_is_none_is_refused_by_name(path: str, value: Any) -> None:
    document = sent()
    set_in(path, value)(document)
    with pytest.raises(MalformedPayment) as refused:
        payment.read(document)
    assert path.split()[-1] in str(refused.value) or path.startswith("extensions")


@pytest.mark.parametrize("value", [None, 1, "x", [], True])
def test_only_an_object_can_be_a_payment(value: Any) -> None:
    with pytest.raises(MalformedPayment):
        payment.read(value)


def test_a_good_payment_is_read() -> None:
    read = payment.read(sent())
    assert (read.payer, read.nonce, read.valid_before) == (PAYER, "0x" + "cd" * 32, NOW + 120)
    assert read.identifier is None
    assert read.refusal(OFFER, NOW, 10) is None


def test_a_smart_wallet_signs_at_length() -> None:
    document = sent()
    document["payload"]["signature"] = "0x" + "ab" * 3_000
    assert payment.read(document).refusal(OFFER, NOW, 10) is None


def test_extensions_may_be_left_out_and_an_identifier_is_read() -> None:
    document = sent()
    del document["extensions"]
    assert payment.read(document).identifier is None
    document["extensions"] = {"payment-identifier": {"info": {"required": False, "id": "pay_0123456789ab"}}}
    assert payment.read(document).identifier == "pay_0123456789ab"


REFUSALS: list[tuple[str, Any, str | None]] = [
    ("accepted scheme", "upto", "invalid_scheme"),
    ("accepted network", "eip155:84532", "invalid_network"),
    ("accepted network", None, "invalid_network"),
    ("accepted asset", "0x" + "1" * 40, "invalid_payment_requirements"),
    ("accepted asset", OFFER.requirements["asset"].lower(), None),
    ("accepted amount", "1", "invalid_payment_requirements"),
    ("accepted amount", 5000, "invalid_payment_requirements"),
    ("accepted payTo", PAYER, "invalid_payment_requirements"),
    ("accepted maxTimeoutSeconds", 9_999, None),
    ("accepted extra", {"name": "Mine"}, None),
    ("resource", {"url": "https://elsewhere.example"}, None),
    ("payload authorization to", PAYER, "invalid_exact_evm_payload_recipient_mismatch"),
    ("payload authorization to", OFFER.requirements["payTo"].lower(), None),
    ("payload authorization value", "4999", "invalid_exact_evm_payload_authorization_value"),
    ("payload authorization value", "5001", "invalid_exact_evm_payload_authorization_value"),
    ("payload authorization value", "0", "invalid_exact_evm_payload_authorization_value"),
    ("payload authorization validAfter", str(NOW), None),
    ("payload authorization validAfter", str(NOW + 1), "invalid_exact_evm_payload_authorization_valid_after"),
    ("payload authorization validBefore", str(NOW + 10), None),
    ("payload authorization validBefore", str(NOW + 9), "invalid_exact_evm_payload_authorization_valid_before"),
    ("payload authorization validBefore", "0", "invalid_exact_evm_payload_authorization_valid_before"),
    ("payload authorization validBefore", str(2**256 - 1), None),
]


@pytest.mark.parametrize(("path", "value", "reason"), REFUSALS, ids=lambda value: str(value)[:50])
def test_a_payment_is_compared_with_our_own_offer(path: str, value: Any, reason: str | None) -> None:
    document = sent()
    set_in(path, value)(document)
    assert payment.read(document).refusal(OFFER, NOW, 10) == reason


def test_the_facilitator_gets_our_requirements_and_nothing_of_the_client_but_what_it_signed() -> None:
    document = sent(more="x")
    document["payload"]["more"] = document["more"] = "x"
    document["accepted"]["maxTimeoutSeconds"] = 1
    document["resource"] = {"url": "https://elsewhere.example"}
    document["extensions"]["bazaar"] = {"info": "forged"}
    said = payment.read(document).document(OFFER)
    assert said["x402Version"] == said["paymentPayload"]["x402Version"] == 2
    assert said["paymentRequirements"] == said["paymentPayload"]["accepted"] == OFFER.requirements
    assert said["paymentPayload"]["resource"] == OFFER.resource
    assert said["paymentPayload"]["extensions"] == OFFER.extensions
    del document["payload"]["more"], document["payload"]["authorization"]["more"]
    assert said["paymentPayload"]["payload"] == document["payload"]


def test_the_digest_tells_payloads_apart_but_not_the_case_of_their_digits() -> None:
    first = payment.read(sent()).digest
    assert payment.read(sent(**{"from": PAYER.lower(), "nonce": "0x" + "cd" * 32})).digest == first
    assert payment.read(sent(nonce="0x" + "ce" * 32)).digest != first
    assert payment.read(sent(validBefore=str(NOW + 121))).digest != first
    other = sent()
    other["payload"]["signature"] = "0x" + "13" * 65
    assert payment.read(other).digest != first


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=10,
)


@given(
    st.sampled_from(["x402Version", "payload", "accepted", "extensions", "payload authorization", "payload signature"]),
    ANY_JSON,
)
def test_whatever_is_sent_is_read_or_refused(path: str, value: Any) -> None:
    document = sent()
    set_in(path, value)(document)
    try:
        read = payment.read(document)
    except MalformedPayment:
        return
    read.refusal(OFFER, NOW, 10)
