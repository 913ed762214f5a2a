"""Pure. What a facilitator's replies mean. They are judged, never passed on: of a reply's text only reasons of a
known list come out of here.

Settling has three outcomes, since money may have moved whenever the reply does not say in full what became of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from api.core.x402.codec import VERSION

_TRANSACTION = re.compile(r"0x[0-9a-f]{64}")
_LONGEST_REASON = 100

UNEXPECTED_VERIFY, UNEXPECTED_SETTLE = "unexpected_verify_error", "unexpected_settle_error"
PENDING = "settlement_pending"

NOT_THE_PAYER = frozenset(
    {
        "asset_not_deployed_contract",
        "invalid_exact_evm_eip3009_not_supported",
        "invalid_exact_evm_failed_to_get_asset_info",
        "invalid_exact_evm_failed_to_get_network_config",
        "invalid_exact_evm_token_name_mismatch",
        "invalid_exact_evm_token_version_mismatch",
        "invalid_network",
        "invalid_payment_requirements",
        "invalid_scheme",
        "invalid_x402_version",
        "missing_eip712_domain",
        "network_mismatch",
        "unsupported_scheme",
        UNEXPECTED_VERIFY,
    }
)
"""Reasons that speak of our own requirements or of the facilitator: it can't take payments for us."""

PAYER = frozenset(
    {
        "insufficient_funds",
        "invalid_exact_evm_failed_to_verify_signature",
        "invalid_exact_evm_insufficient_balance",
        "invalid_exact_evm_nonce_already_used",
        "invalid_exact_evm_payload_authorization_valid_after",
        "invalid_exact_evm_payload_authorization_valid_before",
        "invalid_exact_evm_payload_authorization_value",
        "invalid_exact_evm_payload_authorization_value_mismatch",
        "invalid_exact_evm_payload_recipient_mismatch",
        "invalid_exact_evm_payload_signature",
        "invalid_exact_evm_payload_undeployed_smart_wallet",
        "invalid_exact_evm_transaction_simulation_failed",
        "invalid_exact_evm_transfer_event_mismatch",
        "invalid_payload",
        "invalid_transaction_state",
        "eip6492_factory_not_allowed",
        "smart_wallet_deployment_failed",
        "transaction_failed",
    }
)
"""Reasons that speak of the payment."""

REASONS = NOT_THE_PAYER | PAYER | {UNEXPECTED_SETTLE, PENDING}
"""The reasons that callers may see."""

_UNTOUCHED = frozenset(
    {
        "insufficient_funds",
        "invalid_exact_evm_insufficient_balance",
        "invalid_exact_evm_payload_authorization_valid_after",
        "invalid_exact_evm_payload_authorization_value",
        "invalid_exact_evm_payload_authorization_value_mismatch",
        "invalid_exact_evm_payload_recipient_mismatch",
        "invalid_exact_evm_payload_signature",
    }
)
"""Reasons which say that no money has moved even when the payment was sent to be settled before. The others don't:
that its nonce is used, that it has expired or that the transaction was turned down is what an earlier settlement
looks like."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The payment is good and can be settled."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The payment is not good, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The facilitator can't say. `why` is for the log."""

    why: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The money has moved in this transaction."""

    transaction: str


@dataclass(frozen=True, slots=True)
class Failed:
    """No money has moved, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Money may have moved. `transaction` is the one to look for, "" when none was named; `why` is for the operator."""

    why: str
    transaction: str = ""


Verification = Verified | Refused | Unavailable
Settlement = Settled | Failed | Unknown


def verification(status: int, body: bytes, payer: str) -> Verification:
    """What a reply to /verify means for a payment from `payer`."""
    reply = _object(body)
    if reply is None or not 200 <= status < 500:
        return Unavailable(f"status {status} {'without a JSON object' if reply is None else ''}".strip())
    if reply.get("isValid") is False:
        said = reply.get("invalidReason")
        if isinstance(said, str) and said in NOT_THE_PAYER:
            return Unavailable(said)
        return Refused(_reason(said, UNEXPECTED_VERIFY))
    if status != 200 or reply.get("isValid") is not True:
        return Unavailable(f"status {status} without isValid")
    if reply.get("payer") is not None and not _is(reply["payer"], payer):
        return Unavailable("valid for another payer")
    return Verified()


def settlement(
    status: int, body: bytes, network: str, payer: str, *, again: bool = False, expected: str = ""
) -> Settlement:
    """What a reply to /settle means for a payment from `payer` on `network`.

    `again`: the payment was sent to be settled before, with an outcome that stayed unknown; `expected` is the
    transaction that was named then.
    """
    reply = _object(body)
    if reply is None or not 200 <= status < 500:
        return Unknown(f"status {status} {'without a JSON object' if reply is None else ''}".strip(), expected)
    named = reply.get("transaction")
    transaction = named if isinstance(named, str) and _TRANSACTION.fullmatch(named) else ""
    if reply.get("success") is True:
        fault = _unchecked(status, reply, transaction, network, payer)
        return Settled(transaction) if fault is None else Unknown(fault, expected)
    reason = reply.get("errorReason")
    if reply.get("success") is not False or not isinstance(reason, str) or not reason:
        return Unknown(f"status {status} without an outcome", expected)
    if not _agrees(reply.get("network"), network) or not _agrees(reply.get("payer"), payer):
        return Unknown("a failure of another payment", expected)
    shown = _reason(reason, UNEXPECTED_SETTLE)
    if _is_open(reason):
        return Unknown(shown, transaction or expected)
    if again and reason not in _UNTOUCHED and not (transaction and transaction == expected):
        return Unknown(shown, expected)
    return Failed(shown)


def supports(status: int, body: bytes, scheme: str, network: str) -> bool:
    """Whether a reply to /supported lists the scheme on the network."""
    reply = _object(body)
    kinds = reply.get("kinds") if reply is not None and status == 200 else None
    wanted = {"x402Version": VERSION, "scheme": scheme, "network": network}
    return isinstance(kinds, list) and any(
        isinstance(kind, dict) and all(kind.get(name) == value for name, value in wanted.items()) for kind in kinds
    )


def receipt(payer: str, network: str, transaction: str) -> dict[str, Any]:
    """The PAYMENT-RESPONSE of a settled payment."""
    return {"success": True, "payer": payer, "transaction": transaction, "network": network}


def failure(payer: str, network: str, reason: str) -> dict[str, Any]:
    """The PAYMENT-RESPONSE of a settlement that failed."""
    return {"success": False, "errorReason": reason, "transaction": "", "network": network, "payer": payer}


def _unchecked(status: int, reply: Mapping[str, Any], transaction: str, network: str, payer: str) -> str | None:
    if status != 200:
        return f"success with status {status}"
    if reply.get("network") != network:
        return "success on another network"
    if not transaction:
        return "success without a transaction"
    return None if _is(reply.get("payer"), payer) else "success for another payer"


def _is_open(reason: str) -> bool:
    """Reasons are open strings: what is waited for or went wrong midway is not over."""
    return reason == UNEXPECTED_SETTLE or any(word in reason for word in ("pending", "timeout", "timed_out"))


def _agrees(said: Any, ours: str) -> bool:
    return said is None or said == "" or _is(said, ours)


def _is(said: Any, ours: str) -> bool:
    return isinstance(said, str) and said.lower() == ours.lower()


def _reason(reason: Any, otherwise: str) -> str:
    known = isinstance(reason, str) and len(reason) <= _LONGEST_REASON and reason in REASONS
    return str(reason) if known else otherwise


def _object(body: bytes) -> Mapping[str, Any] | None:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
