"""Pure. A payment as a client sends it: read, and compared with our own offer.

Nothing of `accepted` is trusted: it is only compared. The facilitator gets our own requirements and, of what the client
sent, the authorization and its signature.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from api.core.x402.codec import VERSION, MalformedPayment
from api.core.x402.offers import IDENTIFIER, Offer

MARGIN_S = 10
"""What must be left of an authorization's time when a payment comes, beside the time of slow work."""
MAX_MARGIN_S = 100
"""No margin may be longer, slow work included: an offer gives an authorization 120 s, some of which is under way."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_NONCE = re.compile(r"0x[0-9a-fA-F]{64}")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,77}")
_SIGNATURE = re.compile(r"0x(?:[0-9a-fA-F]{2}){1,12000}")
_IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{16,128}")
_AUTHORIZATION = {
    "from": (_ADDRESS, "an address"),
    "to": (_ADDRESS, "an address"),
    "value": (_NUMBER, "a number as a string"),
    "validAfter": (_NUMBER, "epoch seconds as a string"),
    "validBefore": (_NUMBER, "epoch seconds as a string"),
    "nonce": (_NONCE, "0x and 64 hexadecimal digits"),
}
_COMPARED = {
    "scheme": "invalid_scheme",
    "network": "invalid_network",
    "asset": "invalid_payment_requirements",
    "amount": "invalid_payment_requirements",
    "payTo": "invalid_payment_requirements",
}
"""Members of `accepted` that must be our offer's, and the reason when one is not."""
SAID = ("from", "to", "value", "validAfter", "validBefore", "nonce")


@dataclass(frozen=True, slots=True)
class Payment:
    """A well-formed payment. `payload` holds the authorization and the signature as sent and nothing else."""

    payload: Mapping[str, Any]
    accepted: Mapping[str, Any]
    identifier: str | None

    @property
    def payer(self) -> str:
        """The address that pays, as sent."""
        return str(self.payload["authorization"]["from"])

    @property
    def nonce(self) -> str:
        """What makes the authorization usable once; lower case."""
        return str(self.payload["authorization"]["nonce"]).lower()

    @property
    def valid_before(self) -> int:
        """Epoch seconds from which on the authorization moves no money."""
        return int(self.payload["authorization"]["validBefore"])

    @property
    def digest(self) -> str:
        """SHA-256 of authorization and signature; equal for payloads that differ in the case of hexadecimal digits
        only."""
        canonical = orjson.dumps(self.payload, option=orjson.OPT_SORT_KEYS).lower()
        return hashlib.sha256(canonical).hexdigest()

    def refusal(self, offer: Offer, now: float, margin_s: float) -> str | None:
        """Why it does not pay for `offer`, as an x402 reason; None when it does.

        At least `margin_s` seconds must be left before it expires, for the work and the settlement.
        """
        wanted, said = offer.requirements, self.payload["authorization"]
        for name, reason in _COMPARED.items():
            if not _same(self.accepted.get(name), wanted[name]):
                return reason
        if not _same(said["to"], wanted["payTo"]):
            return "invalid_exact_evm_payload_recipient_mismatch"
        if said["value"] != wanted["amount"]:
            return "invalid_exact_evm_payload_authorization_value"
        if int(said["validAfter"]) > now:
            return "invalid_exact_evm_payload_authorization_valid_after"
        if self.valid_before < now + margin_s:
            return "invalid_exact_evm_payload_authorization_valid_before"
        return None

    def document(self, offer: Offer) -> Mapping[str, Any]:
        """What a facilitator is sent to verify or settle it: all of it ours but the payload."""
        return {
            "x402Version": VERSION,
            "paymentPayload": {
                "x402Version": VERSION,
                "payload": self.payload,
                "accepted": offer.requirements,
                "resource": offer.resource,
                "extensions": offer.extensions,
            },
            "paymentRequirements": offer.requirements,
        }


def read(value: Any) -> Payment:
    """The payment in a decoded PAYMENT-SIGNATURE, or in the `x402/payment` of an MCP call. Raises MalformedPayment."""
    sent = _object(value, "it")
    if sent.get("x402Version") != VERSION:
        raise MalformedPayment(f"must have x402Version {VERSION}")
    payload = _object(sent.get("payload"), "payload")
    authorization = _object(payload.get("authorization"), "payload.authorization")
    for name, (pattern, wanted) in _AUTHORIZATION.items():
        _text(authorization.get(name), pattern, f"payload.authorization.{name}", wanted)
    _text(payload.get("signature"), _SIGNATURE, "payload.signature", "0x and up to 24,000 hexadecimal digits")
    return Payment(
        payload={
            "authorization": {name: authorization[name] for name in SAID},
            "signature": payload["signature"],
        },
        accepted=_object(sent.get("accepted"), "accepted"),
        identifier=_identifier(sent.get("extensions")),
    )


def _identifier(extensions: Any) -> str | None:
    """The client's payment-identifier; None when it repeats our offer without one."""
    if extensions is None:
        return None
    extension = _object(extensions, "extensions").get(IDENTIFIER)
    if extension is None:
        return None
    info = _object(_object(extension, f"extensions.{IDENTIFIER}").get("info", {}), f"extensions.{IDENTIFIER}.info")
    if info.get("id") is None:
        return None
    name = f"extensions.{IDENTIFIER}.info.id"
    return _text(info["id"], _IDENTIFIER, name, "16 to 128 of the characters A-Z, a-z, 0-9, _ and -")


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedPayment(f"is no x402 payment: {name} must be a JSON object")
    return value


def _text(value: Any, pattern: re.Pattern[str], name: str, wanted: str) -> str:
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise MalformedPayment(f"is no x402 payment: {name} must be {wanted}")
    return value


def _same(sent: Any, ours: str) -> bool:
    """Addresses are the same whatever the case of their digits."""
    if not isinstance(sent, str):
        return False
    return sent.lower() == ours.lower() if _ADDRESS.fullmatch(ours) else sent == ours
