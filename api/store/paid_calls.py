"""The first answer of a call that was paid by x402: for a key it counts in its use and its drift, and may be kept."""

from dataclasses import dataclass
from typing import Literal

from api.core.times import utc_day
from api.store import accounts, drift, idempotency, payments, retention
from api.store.database import Tx
from api.store.drift import Observation
from api.store.idempotency import Mark, Record
from api.store.retention import Retained

Answered = Literal["first", "before", "unknown_key"]


@dataclass(frozen=True, slots=True)
class PaidCall:
    """A paid call whose work is done. `secret_hash` None: it came without a key."""

    payment_id: str
    request_id: str
    observation: Observation
    secret_hash: str | None = None
    mark: Mark | None = None
    retained: Retained | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a paid call. `payment` None: its row is gone with its key."""

    answered: Answered
    payment: payments.Payment | None


async def settle(tx: Tx, call: PaidCall, transaction: str, now: int) -> Outcome:
    """Notes in one transaction that the money has moved and that the call is answered."""
    await payments.settle(tx, call.payment_id, transaction, now)
    return await record(tx, call, now)


async def record(tx: Tx, call: PaidCall, now: int) -> Outcome:
    """Notes that a settled call is answered. "before": it was already, and counts once. "unknown_key": the key is gone,
    which a settlement does not mind, but its caller gets no answer."""
    account, day = None, utc_day(now)
    if call.secret_hash is not None:
        account = (await accounts.read(tx, [call.secret_hash], day)).get(call.secret_hash)
        if account is None:
            return Outcome("unknown_key", await payments.get(tx, call.payment_id))
    kept = call.retained if account is not None and account.retains else None
    retained_id = None if kept is None else kept.id
    if not await payments.answer(tx, call.payment_id, retained_id, now):
        return Outcome("before", await payments.get(tx, call.payment_id))
    if account is not None:
        account.count(call.observation.endpoint)
        await accounts.write_use(tx, [account], day)
        await drift.add_all(tx, [(account.key_id, call.observation)], now)
    await retention.add_all(tx, [] if kept is None else [kept])
    if call.mark is not None:
        stored = Record(call.mark.body_hash, call.request_id, retained_id)
        await idempotency.add_all(tx, [(call.mark, stored)], now)
    return Outcome("first", await payments.get(tx, call.payment_id))
