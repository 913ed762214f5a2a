"""Deliveries of alerts to webhooks: an outbox. One row an alert, written in the alert's own transaction, under its id.

    pending -> delivered | failed | cancelled          any of them -> pending, by the operator

A pending row that is being sent belongs to its `holder` until `held_until`; after that its process is taken for dead
and the row is sent again, with the same id. So each delivery is sent at least once, and receivers tell repeats by id.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from api.core.times import DAY_S
from api.core.webhooks import GIVE_UP_S
from api.store import settings
from api.store.database import Row, Tx

Status = Literal["pending", "delivered", "failed", "cancelled"]

KEPT_DAYS = 125
"""As long as alerts are: what became of them is shown beside them."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A stored delivery. Times are in epoch seconds; `attempts` counts all that were begun. `next_attempt_at` is None
    when there will be none, `last_status` when no answer came, `last_error` after a success."""

    id: str
    key_id: str
    status: Status
    attempts: int
    next_attempt_at: int | None
    last_attempt_at: int | None
    last_status: int | None
    last_error: str | None
    delivered_at: int | None
    created_at: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """A delivery to make now, and the webhook as it is set at this moment; `sealed_secret` is encrypted. `failures`:
    the attempts that failed since it was begun, or begun again."""

    id: str
    key_id: str
    holder: str
    body: str
    failures: int
    give_up_at: int
    url: str
    sealed_secret: str


@dataclass(frozen=True, slots=True)
class Failure:
    """How an attempt failed. `retry_at` None: it was the last."""

    error: str
    status: int | None
    retry_at: int | None


_COLUMNS = """id, key_id, status, attempts, next_attempt_at, last_attempt_at, last_status, last_error, delivered_at,
created_at"""


async def enqueue(tx: Tx, key_id: str, alert_id: str, body: str, now: int) -> bool:
    """Queues an alert for the key's webhook; False, and nothing queued, when the key has none. Queueing an alert
    again changes nothing."""
    return bool(
        await tx.run(
            """INSERT INTO deliveries (id, key_id, body, status, next_attempt_at, give_up_at, created_at)
            SELECT :alert_id, s.key_id, :body, 'pending', :now, :give_up_at, :now FROM settings s
            WHERE s.key_id = :key_id AND s.alert_webhook_url <> ''
            ON CONFLICT (id) DO NOTHING""",
            alert_id=alert_id,
            key_id=key_id,
            body=body,
            now=now,
            give_up_at=now + GIVE_UP_S,
        )
    )


async def claim(tx: Tx, holder: str, now: int, held_until: int, limit: int, per_key: int) -> list[Claimed]:
    """Takes at most `limit` deliveries that are due, the longest waiting first. Of one key at most `per_key` are being
    sent at a time, so that a slow receiver leaves room for the others."""
    rows = await tx.all(
        """UPDATE deliveries SET holder = :holder, held_until = :held_until, attempts = attempts + 1,
            last_attempt_at = :now
        WHERE id IN (
            SELECT waiting.id FROM (
                SELECT d.id, d.next_attempt_at,
                    row_number() OVER (PARTITION BY d.key_id ORDER BY d.next_attempt_at, d.id)
                    + (SELECT count(*) FROM deliveries h
                        WHERE h.key_id = d.key_id AND h.status = 'pending' AND h.held_until > :now) AS place
                FROM deliveries d
                WHERE d.status = 'pending' AND d.next_attempt_at <= :now AND d.held_until <= :now
            ) AS waiting
            WHERE waiting.place <= :per_key ORDER BY waiting.next_attempt_at, waiting.id LIMIT :limit
        )
        RETURNING id, key_id, body, failures, give_up_at""",
        holder=holder,
        now=now,
        held_until=held_until,
        per_key=per_key,
        limit=limit,
    )
    webhooks = {key_id: await settings.read(tx, key_id) for key_id in sorted({row["key_id"] for row in rows})}
    return [
        Claimed(
            id=row["id"],
            key_id=row["key_id"],
            holder=holder,
            body=row["body"],
            failures=row["failures"],
            give_up_at=row["give_up_at"],
            url=webhooks[row["key_id"]].alert_webhook_url,
            sealed_secret=webhooks[row["key_id"]].alert_webhook_secret,
        )
        for row in rows
    ]


async def succeed(tx: Tx, delivery_id: str, status: int, now: int) -> None:
    """Notes that the receiver has it, whoever sent it and whatever was decided meanwhile: that is what happened."""
    await tx.run(
        """UPDATE deliveries SET status = 'delivered', delivered_at = :now, last_status = :status, last_error = NULL,
            failures = 0, holder = '', held_until = 0
        WHERE id = :delivery_id""",
        delivery_id=delivery_id,
        status=status,
        now=now,
    )


async def fail(tx: Tx, claimed: Claimed, failure: Failure, now: int) -> None:
    """Notes a failed attempt and when the next one is. Says nothing against a later holder; what was cancelled
    meanwhile stays so."""
    await tx.run(
        """UPDATE deliveries SET status = CASE WHEN status = 'pending' THEN :status ELSE status END,
            next_attempt_at = :retry_at, failures = :failures, last_status = :last_status, last_error = :error,
            holder = '', held_until = 0
        WHERE id = :delivery_id AND holder = :holder""",
        delivery_id=claimed.id,
        holder=claimed.holder,
        status="failed" if failure.retry_at is None else "pending",
        retry_at=now if failure.retry_at is None else failure.retry_at,
        failures=claimed.failures + 1,
        last_status=failure.status,
        error=failure.error,
    )


async def turn_off(tx: Tx, claimed: Claimed, failure: Failure, now: int) -> bool:
    """Fails the delivery and removes the webhook that it went to, unless that was saved anew meanwhile; whether it
    removed it. What is pending is cancelled then."""
    await fail(tx, claimed, failure, now)
    found = await settings.read(tx, claimed.key_id)
    if found.alert_webhook_secret != claimed.sealed_secret:
        return False
    await settings.save(tx, claimed.key_id, replace(found, alert_webhook_url="", alert_webhook_secret=""))
    await cancel(tx, claimed.key_id)
    return True


async def cancel(tx: Tx, key_id: str) -> int:
    """Cancels all that is pending for the key, whose webhook is removed; how many."""
    return await tx.run(
        "UPDATE deliveries SET status = 'cancelled' WHERE key_id = :key_id AND status = 'pending'", key_id=key_id
    )


async def redeliver(tx: Tx, delivery_id: str, now: int) -> Delivery | Literal["no_webhook"] | None:
    """Begins a delivery anew, due now, with 24 hours of retries ahead. None: there is no such delivery."""
    row = await tx.one("SELECT key_id FROM deliveries WHERE id = :delivery_id", delivery_id=delivery_id)
    if row is None:
        return None
    if not (await settings.read(tx, row["key_id"])).alert_webhook_url:
        return "no_webhook"
    begun = await tx.one(
        f"""UPDATE deliveries SET status = 'pending', next_attempt_at = :now, give_up_at = :give_up_at, failures = 0
        WHERE id = :delivery_id RETURNING {_COLUMNS}""",
        delivery_id=delivery_id,
        now=now,
        give_up_at=now + GIVE_UP_S,
    )
    return None if begun is None else _delivery(begun)


async def of_alerts(tx: Tx, alert_ids: Sequence[str]) -> dict[str, Delivery]:
    """The deliveries of those alerts, by the alert's id. An alert raised while no webhook was set has none."""
    if not alert_ids:
        return {}
    names = {f"id{index}": alert_id for index, alert_id in enumerate(alert_ids)}
    listed = ", ".join(f":{name}" for name in names)
    rows = await tx.all(f"SELECT {_COLUMNS} FROM deliveries WHERE id IN ({listed})", **names)
    return {row["id"]: _delivery(row) for row in rows}


async def page(
    tx: Tx, status: Status | None, key_id: str | None, limit: int, after: tuple[int, str] | None
) -> list[Delivery]:
    """Deliveries, newest first, at most `limit`, from `after` on."""
    created_at, delivery_id = after or (2**62, "")
    chosen = {name: value for name, value in (("status", status), ("key_id", key_id)) if value is not None}
    extra = "".join(f" AND {name} = :{name}" for name in chosen)
    rows = await tx.all(
        f"""SELECT {_COLUMNS} FROM deliveries
        WHERE (created_at < :created_at OR (created_at = :created_at AND id < :delivery_id)){extra}
        ORDER BY created_at DESC, id DESC LIMIT :limit""",
        created_at=created_at,
        delivery_id=delivery_id,
        limit=limit,
        **chosen,
    )
    return [_delivery(row) for row in rows]


async def prune(tx: Tx, now: int) -> int:
    """Forgets deliveries that are over and as old as no alert is shown; how many."""
    return await tx.run(
        "DELETE FROM deliveries WHERE created_at < :before AND status <> 'pending'", before=now - KEPT_DAYS * DAY_S
    )


def _delivery(row: Row) -> Delivery:
    return Delivery(
        id=row["id"],
        key_id=row["key_id"],
        status=row["status"],
        attempts=row["attempts"],
        next_attempt_at=row["next_attempt_at"] if row["status"] == "pending" else None,
        last_attempt_at=row["last_attempt_at"],
        last_status=row["last_status"],
        last_error=row["last_error"],
        delivered_at=row["delivered_at"],
        created_at=row["created_at"],
    )
