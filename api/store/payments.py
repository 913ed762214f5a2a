"""x402 payments: each reserved once, before anything is asked of the facilitator, and kept until its outcome is known.

    reserved -> settling -> settled | failed | unknown        unknown -> settling -> settled | failed | unknown

A row in `reserved` or `settling` belongs to its `holder` until `held_until`; after that whoever has it is taken for
dead. Of a dead reservation nothing was sent to be settled, so it goes. A dead settlement is as good as unknown.
Settled stands for ever: a settlement that is heard of late still counts.

A failed payment can be sent again and is then reserved anew. `is_closed`: unknown, and nobody asks any more.
"""

from dataclasses import dataclass
from typing import Literal

from api.core.times import DAY_S
from api.store import idempotency
from api.store.database import Row, Tx
from api.store.idempotency import Mark, Record

State = Literal["reserved", "settling", "unknown", "settled", "failed"]
Begun = Literal["begun", "busy", "lost"]

NEVER = 2**62
"""A time that does not come; authorizations may be valid for longer than a BIGINT can say."""
SETTLED_DAYS, FAILED_DAYS = 90, 1
FIRST_PAUSE_S, LONGEST_PAUSE_S = 10, 3_600


@dataclass(frozen=True, slots=True)
class Place:
    """What can be paid with once: an authorization of a payer. Lower case."""

    network: str
    asset: str
    payer: str
    nonce: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """A payment that has come with a call.

    `payload_hash` tells it from another under the same place or identifier, `binding` is what was asked for with it (a
    keyed hash of route and body). `document` is what the facilitator gets.
    """

    id: str
    place: Place
    identifier: str | None
    payload_hash: str
    binding: str
    endpoint: str
    amount: str
    payer_shown: str
    valid_before: int
    request_id: str
    key_id: str | None
    document: str


@dataclass(frozen=True, slots=True)
class Payment:
    """A stored payment. Times are in epoch seconds; `transaction` is "" while none is known."""

    id: str
    state: State
    place: Place
    payload_hash: str
    binding: str
    endpoint: str
    amount: str
    payer_shown: str
    valid_before: int
    request_id: str
    key_id: str | None
    held_until: int
    attempts: int
    is_closed: bool
    document: str
    transaction: str
    reason: str
    is_answered: bool
    retained_id: str | None
    created_at: int
    updated_at: int


_COLUMNS = """id, state, network, asset, payer, nonce, payload_hash, binding, endpoint, amount, payer_shown,
valid_before, request_id, key_id, held_until, attempts, is_closed, document, transaction_hash, reason, is_answered,
retained_id, created_at, updated_at"""
_HERE = "network = :network AND asset = :asset AND payer = :payer AND nonce = :nonce"
_GONE = "(state = 'failed' OR (state = 'reserved' AND held_until <= :now))"
_IN_DOUBT = "state IN ('settling', 'unknown') AND held_until <= :now AND is_closed = 0"


async def find(tx: Tx, place: Place, identifier: str | None, now: int) -> list[Payment]:
    """The payments that stand in the way of one with that place or identifier: none, one, or one for each."""
    rows = await tx.all(
        f"""SELECT {_COLUMNS} FROM payments
        WHERE (({_HERE}) OR identifier = :identifier) AND NOT {_GONE}""",
        network=place.network,
        asset=place.asset,
        payer=place.payer,
        nonce=place.nonce,
        identifier=identifier,
        now=now,
    )
    return [_payment(row) for row in rows]


async def reserve(tx: Tx, arrival: Arrival, now: int, held_until: int) -> list[Payment]:
    """Reserves the payment for the call that it came with: [] when it did, else the payments in the way."""
    standing = await find(tx, arrival.place, arrival.identifier, now)
    if standing:
        return standing
    place = arrival.place
    await tx.run(
        f"DELETE FROM payments WHERE (({_HERE}) OR identifier = :identifier) AND {_GONE}",
        network=place.network,
        asset=place.asset,
        payer=place.payer,
        nonce=place.nonce,
        identifier=arrival.identifier,
        now=now,
    )
    await tx.run(
        """INSERT INTO payments (id, network, asset, payer, nonce, identifier, payload_hash, binding, endpoint, amount,
            payer_shown, valid_before, request_id, key_id, state, holder, held_until, document, created_at, updated_at)
        VALUES (:id, :network, :asset, :payer, :nonce, :identifier, :payload_hash, :binding, :endpoint, :amount,
            :payer_shown, :valid_before, :request_id, :key_id, 'reserved', :request_id, :held_until, :document, :now,
            :now)""",
        id=arrival.id,
        network=place.network,
        asset=place.asset,
        payer=place.payer,
        nonce=place.nonce,
        identifier=arrival.identifier,
        payload_hash=arrival.payload_hash,
        binding=arrival.binding,
        endpoint=arrival.endpoint,
        amount=arrival.amount,
        payer_shown=arrival.payer_shown,
        valid_before=min(arrival.valid_before, NEVER),
        request_id=arrival.request_id,
        key_id=arrival.key_id,
        held_until=held_until,
        document=arrival.document,
        now=now,
    )
    return []


async def release(tx: Tx, payment_id: str, holder: str) -> bool:
    """Gives up a reservation of which nothing was sent to be settled; whether it still stood."""
    return bool(
        await tx.run(
            "DELETE FROM payments WHERE id = :payment_id AND holder = :holder AND state = 'reserved'",
            payment_id=payment_id,
            holder=holder,
        )
    )


async def begin_settling(tx: Tx, payment_id: str, holder: str, mark: Mark | None, now: int, held_until: int) -> Begun:
    """Notes, before it is done, that the payment is sent to be settled. Not for a key that was deleted meanwhile.

    "busy": another payment for the same call, as its Idempotency-Key says, is being settled or was just now. "lost":
    the reservation is no longer this holder's.
    """
    if mark is not None and (await _is_being_paid(tx, payment_id, mark) or await idempotency.find(tx, mark, now)):
        return "busy"
    begun = await tx.run(
        """UPDATE payments SET state = 'settling', attempts = attempts + 1, held_until = :held_until,
            next_attempt_at = :held_until, mark_caller = :caller, mark_token = :token, mark_body = :body, updated_at
            = :now
        WHERE id = :payment_id AND holder = :holder AND state = 'reserved' AND is_orphan = 0""",
        payment_id=payment_id,
        holder=holder,
        held_until=held_until,
        caller=mark and mark.caller,
        token=mark and mark.token,
        body=mark and mark.body_hash,
        now=now,
    )
    return "begun" if begun else "lost"


async def claim(tx: Tx, payment_id: str, holder: str, now: int, held_until: int) -> Payment | None:
    """Takes a payment whose outcome is in doubt, to settle it again; None when another has it or it is in no doubt."""
    row = await tx.one(
        f"""UPDATE payments SET state = 'settling', holder = :holder, attempts = attempts + 1, held_until = :held_until,
            next_attempt_at = :held_until, updated_at = :now
        WHERE id = :payment_id AND {_IN_DOUBT} RETURNING {_COLUMNS}""",
        payment_id=payment_id,
        holder=holder,
        held_until=held_until,
        now=now,
    )
    return None if row is None else _payment(row)


async def due(tx: Tx, now: int, limit: int) -> list[str]:
    """The ids of payments in doubt that are to be settled again now, the longest waiting first."""
    rows = await tx.all(
        f"""SELECT id FROM payments WHERE {_IN_DOUBT} AND next_attempt_at <= :now
        ORDER BY next_attempt_at, id LIMIT :limit""",
        now=now,
        limit=limit,
    )
    return [row["id"] for row in rows]


async def settle(tx: Tx, payment_id: str, transaction: str, now: int) -> Payment | None:
    """Notes that the money has moved. The call's Idempotency-Key counts as used from here on.

    None when the row is gone: the payment of a deleted key is forgotten as soon as its outcome is known.
    """
    row = await tx.one(
        f"""UPDATE payments SET state = 'settled', transaction_hash = :transaction, reason = '', document = '',
            held_until = 0, updated_at = :now
        WHERE id = :payment_id AND state <> 'settled' RETURNING {_COLUMNS}, is_orphan, mark_caller, mark_token,
        mark_body""",
        payment_id=payment_id,
        transaction=transaction,
        now=now,
    )
    if row is None:
        return await get(tx, payment_id)
    if row["is_orphan"]:
        await tx.run("DELETE FROM payments WHERE id = :payment_id", payment_id=payment_id)
        return None
    if row["mark_token"] is not None:
        mark = Mark(row["mark_caller"], row["mark_token"], row["mark_body"])
        await idempotency.add_all(tx, [(mark, Record(mark.body_hash, row["request_id"], None))], now)
    return _payment(row)


async def fail(tx: Tx, payment_id: str, holder: str, reason: str, now: int) -> None:
    """Notes that no money has moved. Says nothing against a later holder or a settlement."""
    await tx.run(
        """UPDATE payments SET state = 'failed', identifier = NULL, reason = :reason, document = '', held_until = 0,
            updated_at = :now
        WHERE id = :payment_id AND holder = :holder AND state = 'settling'""",
        payment_id=payment_id,
        holder=holder,
        reason=reason,
        now=now,
    )
    await tx.run(
        "DELETE FROM payments WHERE id = :payment_id AND state = 'failed' AND is_orphan = 1", payment_id=payment_id
    )


async def doubt(tx: Tx, payment_id: str, holder: str, why: str, transaction: str, now: int) -> Payment | None:
    """Notes that nobody knows whether money has moved, and gives the payment as it stands then, which may be settled:
    another has heard of it. Once the authorization has expired, nobody asks again."""
    held = await tx.one(
        """SELECT attempts, valid_before FROM payments
        WHERE id = :payment_id AND holder = :holder AND state = 'settling'""",
        payment_id=payment_id,
        holder=holder,
    )
    if held is None:
        return await get(tx, payment_id)
    row = await tx.one(
        f"""UPDATE payments SET state = 'unknown', reason = :why, transaction_hash = :transaction, held_until = 0,
            is_closed = :is_closed, next_attempt_at = :next_attempt_at, updated_at = :now
        WHERE id = :payment_id RETURNING {_COLUMNS}""",
        payment_id=payment_id,
        why=why,
        transaction=transaction,
        is_closed=int(held["valid_before"] <= now),
        next_attempt_at=now + pause_s(held["attempts"]),
        now=now,
    )
    return None if row is None else _payment(row)


def pause_s(attempts: int) -> int:
    """How long a payment rests after that many attempts to settle it: 10 s, 20 s, 40 s ... an hour at most."""
    return int(min(FIRST_PAUSE_S * 2 ** min(attempts - 1, 20), LONGEST_PAUSE_S))


async def answer(tx: Tx, payment_id: str, retained_id: str | None, now: int) -> bool:
    """Notes that the paid call is answered; whether this is its first answer, the one that counts."""
    return bool(
        await tx.run(
            """UPDATE payments SET is_answered = 1, retained_id = :retained_id, updated_at = :now
            WHERE id = :payment_id AND state = 'settled' AND is_answered = 0""",
            payment_id=payment_id,
            retained_id=retained_id,
            now=now,
        )
    )


async def get(tx: Tx, payment_id: str) -> Payment | None:
    """The payment with that id."""
    row = await tx.one(f"SELECT {_COLUMNS} FROM payments WHERE id = :payment_id", payment_id=payment_id)
    return None if row is None else _payment(row)


async def page(tx: Tx, state: State | None, now: int, limit: int, after: tuple[int, str] | None) -> list[Payment]:
    """Payments, newest first, at most `limit`, from `after` on. Those in "unknown" include the ones whose
    settlement was never heard of again."""
    created_at, payment_id = after or (NEVER, "")
    chosen = {
        None: "true",
        "unknown": "(state = 'unknown' OR (state = 'settling' AND held_until <= :now))",
    }.get(state, "state = :state")
    arguments = {"now": now} if state == "unknown" else {"state": state} if state is not None else {}
    rows = await tx.all(
        f"""SELECT {_COLUMNS} FROM payments
        WHERE (created_at < :created_at OR (created_at = :created_at AND id < :payment_id)) AND {chosen}
        ORDER BY created_at DESC, id DESC LIMIT :limit""",
        created_at=created_at,
        payment_id=payment_id,
        limit=limit,
        **arguments,
    )
    return [_payment(row) for row in rows]


async def forget_key(tx: Tx, key_id: str) -> None:
    """Removes what a deleted key has paid. What is in flight loses the key at once and its row when it is final."""
    await tx.run(
        "DELETE FROM payments WHERE key_id = :key_id AND (state IN ('settled', 'failed') OR is_closed = 1)",
        key_id=key_id,
    )
    await tx.run(
        """UPDATE payments SET key_id = NULL, is_orphan = 1, mark_caller = NULL, mark_token = NULL, mark_body = NULL
        WHERE key_id = :key_id""",
        key_id=key_id,
    )


async def prune(tx: Tx, now: int) -> int:
    """Forgets dead reservations and what is long over; how many. Unknown ones stay for the operator, but for those of
    deleted keys."""
    return await tx.run(
        """DELETE FROM payments WHERE (state = 'reserved' AND held_until <= :now)
            OR (state = 'settled' AND updated_at <= :settled_before)
            OR (state = 'failed' AND updated_at <= :failed_before)
            OR (is_closed = 1 AND is_orphan = 1)""",
        now=now,
        settled_before=now - SETTLED_DAYS * DAY_S,
        failed_before=now - FAILED_DAYS * DAY_S,
    )


async def _is_being_paid(tx: Tx, payment_id: str, mark: Mark) -> bool:
    row = await tx.one(
        """SELECT id FROM payments WHERE mark_caller = :caller AND mark_token = :token AND id <> :payment_id
        AND state IN ('settling', 'unknown') AND is_closed = 0 LIMIT 1""",
        caller=mark.caller,
        token=mark.token,
        payment_id=payment_id,
    )
    return row is not None


def _payment(row: Row) -> Payment:
    return Payment(
        id=row["id"],
        state=row["state"],
        place=Place(row["network"], row["asset"], row["payer"], row["nonce"]),
        payload_hash=row["payload_hash"],
        binding=row["binding"],
        endpoint=row["endpoint"],
        amount=row["amount"],
        payer_shown=row["payer_shown"],
        valid_before=row["valid_before"],
        request_id=row["request_id"],
        key_id=row["key_id"],
        held_until=row["held_until"],
        attempts=row["attempts"],
        is_closed=bool(row["is_closed"]),
        document=row["document"],
        transaction=row["transaction_hash"],
        reason=row["reason"],
        is_answered=bool(row["is_answered"]),
        retained_id=row["retained_id"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
