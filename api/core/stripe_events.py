"""Pure. What an event of Stripe means for an order of ours.

Events come twice, late and out of order, so each is read as a state that was reached and never as a step: a session
that is paid, a charge of which so much is refunded, a dispute that holds so much. Field names are those of Stripe's
API: Checkout Session, Charge and Dispute objects.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["paid", "processing", "failed", "expired"]
Kind = Literal["refund", "dispute"]

TOLERANCE_S = 300
"""How far a signature's time may be from ours, either way. Stripe signs each delivery anew."""
MAX_ID = 255
ORDER_KIND = "ord"
"""What the ids of orders begin with."""

_TEST_KEYS = ("sk_test_", "rk_test_")
_LIVE_KEYS = ("sk_live_", "rk_live_")
_PAID_BY = ("checkout.session.completed", "checkout.session.async_payment_succeeded")
_UNPAID: Mapping[str, Outcome] = {
    "checkout.session.completed": "processing",
    "checkout.session.async_payment_succeeded": "processing",
    "checkout.session.async_payment_failed": "failed",
    "checkout.session.expired": "expired",
}
"""What a session that is not paid has come to, by the event."""
_DISPUTE_EVENTS = "charge.dispute."
_HOLDS_NOTHING = ("won", "prevented", "warning_needs_response", "warning_under_review", "warning_closed")
"""Dispute statuses in which the bank has not taken the money, or has given it back. An inquiry (warning) takes none."""
_CLOSED = ("won", "lost", "prevented", "warning_closed")


class UnreadableEvent(ValueError):
    """An event of a kind that matters, without what it must have."""


@dataclass(frozen=True, slots=True)
class SessionSeen:
    """How far the checkout session of an order has come.

    Of a paid one also what was paid: `amount`, in hundredths of `currency` (ISO 4217, lower case), by `payment_intent`.
    """

    order_id: str
    session_id: str
    outcome: Outcome
    payment_intent: str = ""
    amount: int = 0
    currency: str = ""


@dataclass(frozen=True, slots=True)
class Reversal:
    """How much of a payment a refund or a dispute holds back: `amount`, in hundredths of `currency`.

    `id` is the charge's for its refunds, which Stripe adds up, else the dispute's. `is_final`: a closed dispute.
    """

    id: str
    kind: Kind
    payment_intent: str
    amount: int
    currency: str
    is_final: bool

    @property
    def reference(self) -> str:
        """Names this state in the ledger: no state is reached twice."""
        return f"{self.id}:{'closed' if self.is_final else self.amount}"

    def supersedes(self, known: "Reversal") -> bool:
        """Whether this is the later of two states of the same refund or dispute, whichever came first: amounts grow
        until a dispute is closed, and a closed one stays as it is."""
        return not known.is_final and (self.is_final or self.amount > known.amount)


def is_test_key(key: str) -> bool:
    """Whether `key` is a secret or restricted key of Stripe's test mode."""
    return key.startswith(_TEST_KEYS)


def is_live_key(key: str) -> bool:
    """Whether `key` would move real money."""
    return key.startswith(_LIVE_KEYS)


def signed_at(signature: str) -> int | None:
    """The epoch second of a Stripe-Signature header, None when it has none. Of several the first, which is the one
    that the signature covers."""
    times = [part.removeprefix("t=") for part in signature.split(",") if part.startswith("t=")]
    return int(times[0]) if times and times[0].isascii() and times[0].isdecimal() and len(times[0]) < 16 else None


def meaning(event: Any) -> SessionSeen | Reversal | None:
    """What the event says, None for one that is about nothing of ours. Raises UnreadableEvent."""
    kind = _text(event, "type")
    if kind in _UNPAID:
        return _session(kind, _object(event))
    if kind == "charge.refunded":
        return _refund(_object(event))
    if kind.startswith(_DISPUTE_EVENTS):
        return _dispute(_object(event))
    return None


def calls_taken(calls: int, amount: int, reversed_amount: int) -> int:
    """How many of an order's calls go when `reversed_amount` of its `amount` is refunded or disputed: in proportion,
    rounded down, all of them when nothing is left of the payment."""
    return calls * min(amount, max(0, reversed_amount)) // amount


def _session(kind: str, session: Mapping[str, Any]) -> SessionSeen | None:
    order_id = session.get("client_reference_id")
    if not isinstance(order_id, str) or not order_id.startswith(f"{ORDER_KIND}_") or session.get("mode") != "payment":
        # Another program's, on the same account.
        return None
    order_id, session_id = _text(session, "client_reference_id"), _text(session, "id")
    if kind not in _PAID_BY or session.get("payment_status") != "paid":
        return SessionSeen(order_id, session_id, _UNPAID[kind])
    return SessionSeen(
        order_id,
        session_id,
        "paid",
        payment_intent=_text(session, "payment_intent"),
        amount=_amount(session, "amount_total"),
        currency=_text(session, "currency").lower(),
    )


def _refund(charge: Mapping[str, Any]) -> Reversal | None:
    if charge.get("payment_intent") is None:
        return None
    return Reversal(
        id=_text(charge, "id"),
        kind="refund",
        payment_intent=_text(charge, "payment_intent"),
        amount=_amount(charge, "amount_refunded"),
        currency=_text(charge, "currency").lower(),
        is_final=False,
    )


def _dispute(dispute: Mapping[str, Any]) -> Reversal | None:
    if dispute.get("payment_intent") is None:
        return None
    status = _text(dispute, "status")
    return Reversal(
        id=_text(dispute, "id"),
        kind="dispute",
        payment_intent=_text(dispute, "payment_intent"),
        amount=0 if status in _HOLDS_NOTHING else _amount(dispute, "amount"),
        currency=_text(dispute, "currency").lower(),
        is_final=status in _CLOSED,
    )


def _object(event: Mapping[str, Any]) -> Mapping[str, Any]:
    data = event.get("data")
    found = data.get("object") if isinstance(data, Mapping) else None
    if not isinstance(found, Mapping):
        raise UnreadableEvent("data.object is not an object")
    return found


def _text(source: Any, name: str) -> str:
    """An id or a word: printable ASCII, so that every database takes it."""
    value = source.get(name) if isinstance(source, Mapping) else None
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ID or not value.isascii() or not value.isprintable():
        raise UnreadableEvent(f"{name} is not a word")
    return value


def _amount(source: Mapping[str, Any], name: str) -> int:
    value = source.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise UnreadableEvent(f"{name} is not an amount")
    return value
