"""Buying packs: the checkout, and Stripe's webhook, which alone credits them."""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from api.clients.ports import CheckoutUnavailable, Session, SessionWanted
from api.core import stripe_events
from api.core.secrets import new_id
from api.core.stripe_events import ORDER_KIND, TOLERANCE_S, Reversal, SessionSeen, UnreadableEvent
from api.problems import Problem
from api.service import idempotency
from api.service.admission import Caller, caller_headers, unknown_key
from api.service.call import Call, Reply
from api.service.services import Services
from api.store import idempotency as records
from api.store import orders
from api.store.database import Tx
from api.store.idempotency import Mark, Record
from api.store.orders import Order

OFF_RETRY_S, DOWN_RETRY_S = 3_600, 5


async def checkout(services: Services, call: Call, caller: Caller, body: dict[str, Any]) -> Reply:
    """POST /v1/billing/checkout. The order stands before Stripe hears of it, so that whatever happens afterwards a
    payment finds its order; when Stripe fails, the same Idempotency-Key goes on with it."""
    if services.checkout is None:
        raise _off()
    now, mark = int(services.clock()), idempotency.mark(services, call, caller.key_id, body)
    begun = await services.database.write(_begin, _new_order(services, caller, body["pack"], now), mark, now)
    if begun is None:
        raise unknown_key("The key was deleted meanwhile.")
    if begun.before is not None:
        return _reply(services, caller, begun.order, begun.before)
    order = begun.order
    try:
        session = await services.checkout.open_session(_wanted(services, order))
    except CheckoutUnavailable as error:
        if error.is_answer:
            await services.database.write(orders.next_attempt, order.id, order.attempt)
        raise Problem(
            "billing_unavailable",
            "Stripe gave no checkout session, and nothing was taken. Try again, with the same Idempotency-Key if any.",
            headers={"Retry-After": str(DOWN_RETRY_S)},
        ) from error
    done = await services.database.write(_finish, order, session, mark, call.request_id, now)
    if done is None:
        raise unknown_key("The key was deleted meanwhile.")
    return _reply(services, caller, done.order, done.before)


async def webhook(services: Services, call: Call, body: bytes) -> Reply:
    """POST /v1/billing/webhook. A 200 means that the event is taken in, for good."""
    if services.checkout is None:
        raise _off()
    signature, now = call.signature or "", int(services.clock())
    signed_at = stripe_events.signed_at(signature)
    if signed_at is None or not services.checkout.signed(body, signature):
        raise _refused("The Stripe-Signature header was not made for this body with this webhook's secret.")
    if abs(now - signed_at) > TOLERANCE_S:
        raise _refused(f"The signature's time is more than {TOLERANCE_S} seconds from now.")
    match _read(body):
        case SessionSeen() as seen:
            await services.database.write(orders.see_session, seen, now, lambda: new_id("cre", services.random_bytes))
        case Reversal() as seen:
            await services.database.write(orders.see_reversal, seen, now, lambda: new_id("cre", services.random_bytes))
    return Reply({"received": True})


def _read(body: bytes) -> SessionSeen | Reversal | None:
    """What the event says. Raises webhook_refused for one of live mode, and for what is no event."""
    try:
        event = json.loads(body)
        if not isinstance(event, dict) or event.get("livemode") is not False:
            raise _refused("Only events of Stripe's test mode are taken.")
        return stripe_events.meaning(event)
    except UnreadableEvent as error:
        raise _refused(f"The event can't be read: {error}.") from None
    except (ValueError, RecursionError):
        raise _refused("The body is not JSON.") from None


@dataclass(frozen=True, slots=True)
class _Step:
    """An order on its way; `before` when it was answered already under the same Idempotency-Key."""

    order: Order
    before: Record | None = None


async def _begin(tx: Tx, new: Order, mark: Mark | None, now: int) -> _Step | None:
    """The order to go on with: the one that the mark began, else `new`. None when the key is gone. Raises
    idempotency_conflict."""
    if mark is not None:
        before = await records.find(tx, mark, now)
        if before is not None:
            idempotency.require_same(before, mark)
        # A recorded answer has its order, however long ago that was begun.
        order = await orders.marked(tx, mark, 0 if before else now - records.LIFETIME_S)
        if order is not None:
            return _Step(order, before)
    return _Step(new) if await orders.add(tx, new, mark) else None


async def _finish(tx: Tx, order: Order, session: Session, mark: Mark | None, request_id: str, now: int) -> _Step | None:
    """The order with its session, recorded under the mark. None when the key is gone. Raises idempotency_conflict when
    another request was answered under the mark meanwhile."""
    before = await records.find(tx, mark, now) if mark is not None else None
    if before is not None and mark is not None:
        idempotency.require_same(before, mark)
    elif not await orders.open_session(tx, order.id, session.id, session.url):
        return None
    elif mark is not None:
        await records.add_all(tx, [(mark, Record(mark.body_hash, request_id, None))], now)
    found = await orders.find(tx, order.id)
    return None if found is None else _Step(found, before)


def _new_order(services: Services, caller: Caller, name: str, now: int) -> Order:
    pack = next(pack for pack in services.facts.packs if pack.id == name)
    return Order(
        id=new_id(ORDER_KIND, services.random_bytes),
        key_id=caller.key_id,
        created_at=now,
        pack=pack.id,
        calls=pack.calls,
        amount=pack.price_cents,
        currency=pack.currency,
        balance=caller.allowance.credits,
    )


def _wanted(services: Services, order: Order) -> SessionWanted:
    """What Stripe is asked for, made of the order alone: under the same idempotency key it must be the same. The
    success page compares the balance with `before`, since coming back from Stripe proves nothing."""
    success = f"{services.base_url}/billing/success?{urlencode({'pack': order.pack, 'before': order.balance})}"
    return SessionWanted(
        order_id=order.id,
        idempotency_key=f"{order.id}-{order.attempt}",
        product=f"{services.facts.name} {order.pack} pack: {order.calls:,} calls",
        amount=order.amount,
        currency=order.currency,
        success_url=success,
        cancel_url=f"{services.base_url}/billing/cancel",
    )


def _reply(services: Services, caller: Caller, order: Order, before: Record | None) -> Reply:
    headers = caller_headers(services, caller)
    if before is not None:
        headers |= {**idempotency.REPLAYED, "X-Request-Id": before.request_id}
    return Reply({"checkout_url": order.checkout_url, "session_id": order.session_id}, headers=headers)


def _off() -> Problem:
    retry = {"Retry-After": str(OFF_RETRY_S)}
    return Problem("billing_unavailable", "This server sells no packs. Nothing was taken.", headers=retry)


def _refused(detail: str) -> Problem:
    return Problem("webhook_refused", detail)
