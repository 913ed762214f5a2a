"""Orders of packs: one row each, made before Stripe hears of it, and what its payment came to.

A paid order is credited in the transaction that marks it paid, and refunds and disputes are kept by the payment they
belong to, so that they count also when they come first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from api.core.stripe_events import Reversal, SessionSeen, calls_taken
from api.store import credits
from api.store.credits import Entry
from api.store.database import Row, Tx
from api.store.idempotency import Mark

Status = Literal["open", "processing", "failed", "expired", "paid", "mismatch", "orphaned"]
"""`mismatch`: paid, but not what was ordered. `orphaned`: paid when its key was gone. Neither is credited."""
STATUSES: tuple[Status, ...] = get_args(Status)
Position = tuple[int, str]
NewId = Callable[[], str]
"""Makes the id of one ledger entry."""

KEPT_S = 30 * 86_400
"""How long an order that was never paid, or a refund of nothing that we know, is kept. A session ends after a day,
the slowest payments within two weeks."""
_UNPAID = ("open", "processing", "failed", "expired")
_FOLLOWS: dict[str, tuple[str, ...]] = {
    "processing": ("open",),
    "failed": ("open", "processing"),
    "expired": ("open", "processing"),
}
"""What an unpaid session's outcome may follow on; anything else came late."""


@dataclass(frozen=True, slots=True)
class Order:
    """One pack that a key ordered: `calls` for `amount`, in hundredths of `currency`. `balance` is what the key had
    then. `key_id` is None once the key is deleted."""

    id: str
    key_id: str | None
    created_at: int
    pack: str
    calls: int
    amount: int
    currency: str
    balance: int
    status: Status = "open"
    attempt: int = 1
    session_id: str | None = None
    checkout_url: str | None = None
    payment_intent: str | None = None
    note: str = ""


_COLUMNS = ", ".join(f"o.{field.name}" for field in fields(Order))


async def add(tx: Tx, order: Order, mark: Mark | None) -> bool:
    """Stores a new order; False when its key is gone."""
    if await tx.one("SELECT id FROM keys WHERE id = :key_id", key_id=order.key_id) is None:
        return False
    await tx.run(
        """INSERT INTO orders (id, key_id, created_at, pack, calls, amount, currency, balance, status, attempt, token,
            body_hash, note)
        VALUES (:id, :key_id, :created_at, :pack, :calls, :amount, :currency, :balance, :status, :attempt, :token,
            :body_hash, :note)""",
        id=order.id,
        key_id=order.key_id,
        created_at=order.created_at,
        pack=order.pack,
        calls=order.calls,
        amount=order.amount,
        currency=order.currency,
        balance=order.balance,
        status=order.status,
        attempt=order.attempt,
        token=mark and mark.token,
        body_hash=mark and mark.body_hash,
        note=order.note,
    )
    return True


async def marked(tx: Tx, mark: Mark, since: int) -> Order | None:
    """The newest order after `since` under the same Idempotency-Key and body."""
    return await _first(
        tx,
        """o.key_id = :caller AND o.token = :token AND o.body_hash = :body_hash AND o.created_at > :since
        ORDER BY o.created_at DESC, o.id DESC""",
        caller=mark.caller,
        token=mark.token,
        body_hash=mark.body_hash,
        since=since,
    )


async def find(tx: Tx, order_id: str) -> Order | None:
    """The order with that id."""
    return await _first(tx, "o.id = :order_id", order_id=order_id)


async def next_attempt(tx: Tx, order_id: str, attempt: int) -> None:
    """After a refusal: Stripe would answer the same again under the idempotency key of `attempt`."""
    await tx.run(
        "UPDATE orders SET attempt = :attempt + 1 WHERE id = :order_id AND attempt = :attempt",
        order_id=order_id,
        attempt=attempt,
    )


async def open_session(tx: Tx, order_id: str, session_id: str, checkout_url: str) -> bool:
    """Notes where the order can be paid; False when its key is gone meanwhile."""
    return bool(
        await tx.run(
            """UPDATE orders SET checkout_url = :checkout_url, session_id = :session_id
            WHERE id = :order_id AND key_id IS NOT NULL
                AND (session_id IS NULL OR session_id = :session_id OR status = 'open')""",
            order_id=order_id,
            session_id=session_id,
            checkout_url=checkout_url,
        )
    )


async def see_session(tx: Tx, seen: SessionSeen, now: int, new_id: NewId) -> Status | None:
    """Takes in how far a session has come, and credits the order the first time it is paid as ordered. Returns the
    order's status, None for an order that we don't know."""
    order = await find(tx, seen.order_id)
    if order is None or await _is_anothers(tx, seen):
        return None
    if seen.outcome != "paid":
        if order.status in _FOLLOWS[seen.outcome] and order.session_id in (None, seen.session_id):
            await _update(tx, order, status=seen.outcome)
            return seen.outcome
        return order.status
    if order.status not in _UNPAID:
        return order.status
    if (seen.amount, seen.currency) != (order.amount, order.currency):
        note = f"Paid {seen.amount} {seen.currency}, ordered {order.amount} {order.currency}."
        return await _paid(tx, order, seen, "mismatch", note)
    if not await _credit(tx, order, seen, now, new_id):
        return await _paid(tx, order, seen, "orphaned", "Paid after its key was deleted.")
    return await _paid(tx, order, seen, "paid", "")


async def see_reversal(tx: Tx, seen: Reversal, now: int, new_id: NewId) -> None:
    """Takes in a refund or a dispute: takes calls back, or gives them back when a dispute was won."""
    known = await _reversals(tx, seen.payment_intent)
    before = next((one for one in known if one.id == seen.id), None)
    if before is not None and not seen.supersedes(before):
        return
    await tx.run(
        """INSERT INTO reversals (id, kind, payment_intent, amount, currency, is_final, seen_at)
        VALUES (:id, :kind, :payment_intent, :amount, :currency, :is_final, :now)
        ON CONFLICT (id) DO UPDATE SET amount = excluded.amount, is_final = excluded.is_final,
            seen_at = excluded.seen_at""",
        id=seen.id,
        kind=seen.kind,
        payment_intent=seen.payment_intent,
        amount=seen.amount,
        currency=seen.currency,
        is_final=int(seen.is_final),
        now=now,
    )
    order = await _first(tx, "o.payment_intent = :payment_intent", payment_intent=seen.payment_intent)
    if order is not None and order.status == "paid":
        others = [one for one in known if one.id != seen.id]
        was = _held(order, [*others, before] if before else others)
        await _take(tx, order, seen, was, _held(order, [*others, seen]), now, new_id)


async def page(
    tx: Tx, status: str | None, key_id: str | None, limit: int, after: Position | None
) -> list[tuple[Order, int]]:
    """Orders and how much of each payment is refunded or disputed, newest first, at most `limit`, from `after` on."""
    created_at, order_id = after or (2**62, "")
    wanted = {name: value for name, value in {"status": status, "key_id": key_id}.items() if value is not None}
    extra = "".join(f" AND o.{name} = :{name}" for name in wanted)
    rows = await tx.all(
        f"""SELECT {_COLUMNS}, coalesce((SELECT sum(r.amount) FROM reversals r
            WHERE r.payment_intent = o.payment_intent), 0) AS held
        FROM orders o
        WHERE (o.created_at < :created_at OR (o.created_at = :created_at AND o.id < :order_id)){extra}
        ORDER BY o.created_at DESC, o.id DESC LIMIT :limit""",
        created_at=created_at,
        order_id=order_id,
        limit=limit,
        **wanted,
    )
    return [(_order(row), int(row["held"])) for row in rows]


async def forget(tx: Tx, key_id: str) -> None:
    """Removes a deleted key's orders. One that may still be paid, or was paid and not credited, stays without the
    key, for the operator."""
    await tx.run(
        """DELETE FROM reversals WHERE payment_intent IN
            (SELECT payment_intent FROM orders WHERE key_id = :key_id AND status = 'paid')""",
        key_id=key_id,
    )
    await tx.run("DELETE FROM orders WHERE key_id = :key_id AND status IN ('paid', 'failed', 'expired')", key_id=key_id)
    await tx.run(
        "UPDATE orders SET key_id = NULL, token = NULL, body_hash = NULL, balance = 0 WHERE key_id = :key_id",
        key_id=key_id,
    )


async def prune(tx: Tx, now: int) -> int:
    """Removes old orders that were never paid, and old refunds and disputes of no order; how many."""
    removed = await tx.run(
        """DELETE FROM orders WHERE created_at <= :before
            AND status IN ('open', 'processing', 'failed', 'expired')""",
        before=now - KEPT_S,
    )
    return removed + await tx.run(
        """DELETE FROM reversals WHERE seen_at <= :before AND NOT EXISTS
            (SELECT 1 FROM orders o WHERE o.payment_intent = reversals.payment_intent)""",
        before=now - KEPT_S,
    )


async def _is_anothers(tx: Tx, seen: SessionSeen) -> bool:
    """Whether the session belongs to another order already."""
    row = await tx.one("SELECT id FROM orders WHERE session_id = :session_id", session_id=seen.session_id)
    return row is not None and row["id"] != seen.order_id


async def _credit(tx: Tx, order: Order, seen: SessionSeen, now: int, new_id: NewId) -> bool:
    """Adds the pack, less what was refunded or disputed already; False when the key is gone."""
    if order.key_id is None:
        return False
    note = f"The {order.pack} pack, order {order.id}"
    entry = Entry(new_id(), order.key_id, now, order.calls, "pack", seen.session_id, note)
    if await credits.add(tx, entry) is None:
        return False
    counted: list[Reversal] = []
    for reversal in await _reversals(tx, seen.payment_intent):
        was = _held(order, counted)
        counted.append(reversal)
        await _take(tx, order, reversal, was, _held(order, counted), now, new_id)
    return True


async def _take(tx: Tx, order: Order, reversal: Reversal, was: int, is_now: int, now: int, new_id: NewId) -> None:
    """Moves the key's balance from `was` calls taken back to `is_now`."""
    if order.key_id is None or was == is_now:
        return
    note = f"{reversal.amount} {reversal.currency} of order {order.id}"
    entry = Entry(new_id(), order.key_id, now, was - is_now, reversal.kind, reversal.reference, note)
    await credits.add(tx, entry)


def _held(order: Order, reversals: Sequence[Reversal]) -> int:
    """The order's calls that these take back together. Money of another currency can't be weighed: the operator sees
    it in the list of orders."""
    amounts = [reversal.amount for reversal in reversals if reversal.currency == order.currency]
    return calls_taken(order.calls, order.amount, sum(amounts))


async def _paid(tx: Tx, order: Order, seen: SessionSeen, status: Status, note: str) -> Status:
    await _update(tx, order, status=status, note=note, session_id=seen.session_id, payment_intent=seen.payment_intent)
    return status


async def _update(tx: Tx, order: Order, **values: Any) -> None:
    columns = ", ".join(f"{name} = :{name}" for name in values)
    await tx.run(f"UPDATE orders SET {columns} WHERE id = :order_id", order_id=order.id, **values)


async def _reversals(tx: Tx, payment_intent: str) -> list[Reversal]:
    rows = await tx.all(
        """SELECT id, kind, payment_intent, amount, currency, is_final FROM reversals
        WHERE payment_intent = :payment_intent ORDER BY seen_at, id""",
        payment_intent=payment_intent,
    )
    return [Reversal(**{**row, "is_final": bool(row["is_final"])}) for row in rows]


async def _first(tx: Tx, condition: str, **args: Any) -> Order | None:
    row = await tx.one(f"SELECT {_COLUMNS} FROM orders o WHERE {condition} LIMIT 1", **args)
    return None if row is None else _order(row)


def _order(row: Row) -> Order:
    return Order(**{field.name: row[field.name] for field in fields(Order)})
