"""Pure. What a receipt says of an answered call. No text of the call is in it, only hashes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from api.core.receipts.canonical import digest, text_digest
from api.core.times import rfc3339

VERSION = 1
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PaidBy:
    """The x402 payment that paid for the call: network and asset in lower case, `payer` as its authorization has it,
    `amount` in atomic units of the asset."""

    network: str
    transaction: str
    payer: str
    amount: str
    asset: str

    def as_dict(self) -> dict[str, str]:
        """Its members, in the documented order."""
        return {name: getattr(self, name) for name in self.__slots__}


def statement(
    *,
    issuer: str,
    endpoint: str,
    request: Mapping[str, Any],
    response: Mapping[str, Any],
    issued_at: float,
    payment: PaidBy | None = None,
) -> Json:
    """The receipt of one answered call, still unsigned. `request` is the parsed body, `response` the body that is
    sent, without `receipt`; `issued_at` is in epoch seconds."""
    receipt: Json = {
        "receipt_version": VERSION,
        "issuer": issuer,
        "issued_at": rfc3339(issued_at),
        "request_id": response["request_id"],
        "endpoint": endpoint,
        "engine": response["engine"],
        "result": _RESULTS[endpoint](request, response),
        "request_hash": digest(request),
        "response_hash": digest(response),
    }
    receipt |= {tag: request[tag] for tag in ("agent_id", "version") if tag in request}
    if payment is not None:
        receipt["payment"] = payment.as_dict()
    return receipt


def decimal(number: float) -> str:
    """A number of a response as a receipt has it: its shortest decimal, never with an exponent or a trailing zero,
    such as "0.91", "1" or "0"."""
    return format(Decimal(repr(number)).normalize(), "f")


def _judged(request: Mapping[str, Any], response: Mapping[str, Any]) -> Json:
    return {
        "verdict": response["verdict"],
        "score": decimal(response["score"]),
        "output_hash": text_digest(request["agent_output"]),
    }


def _agreed(request: Mapping[str, Any], response: Mapping[str, Any]) -> Json:
    return {
        "agreement_score": decimal(response["agreement_score"]),
        "false_consensus_risk": response["false_consensus_risk"],
        "output_hash": text_digest(response["consensus_answer"]),
    }


_RESULTS = {"judge": _judged, "consensus": _agreed}
