"""Deliveries of alerts: made by a job, tried out from the settings, shown and begun anew by the operator.

A delivery is claimed in one transaction, sent outside of any, and its outcome noted in another: a crash in between
loses nothing, and sends again with the same id.
"""

import asyncio
import logging
from collections import Counter
from math import ceil
from typing import Any

from api.clients.ports import Posted
from api.core import webhooks
from api.core.sealing import NotSealed, unseal
from api.core.secrets import new_id
from api.core.times import rfc3339
from api.problems import Fault, Problem
from api.service import lists
from api.service.call import Call, Reply
from api.service.invalid import invalid_request
from api.service.services import Services
from api.store import deliveries
from api.store.deliveries import Claimed, Delivery, Failure
from api.store.settings import Settings

log = logging.getLogger(__name__)

AT_ONCE, PER_KEY = 50, 4
HELD_S = 60
"""When a delivery that was claimed and not finished counts as left by a dead process; one takes 15 s at most."""
ROUND_S = 120
"""How long one run of the job goes on taking new deliveries."""
SEAL_PURPOSE = "webhook-secret"
TEST_TYPE = "drift.alert.test"
TESTS_A_MINUTE, TESTS_AT_ONCE = 2, 3
"""Test deliveries of one key, and of all keys to one host: nobody is flooded from here."""


async def deliver(services: Services, now: int) -> str:
    """Job: sends what is due, and goes on while more is. A receiver that hangs takes one of 50 places, or 4 with all
    deliveries of its key."""
    holder = new_id("job", services.random_bytes)
    outcomes: Counter[str] = Counter()
    sending: set[asyncio.Task[str]] = set()
    try:
        while True:
            sending |= await _take(services, holder, now, AT_ONCE - len(sending))
            if not sending:
                break
            done, sending = await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
            outcomes.update(task.result() for task in done)
    finally:
        for task in sending:
            task.cancel()
        if sending:
            await asyncio.wait(sending)
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))


async def _take(services: Services, holder: str, began: int, limit: int) -> set["asyncio.Task[str]"]:
    now = int(services.clock())
    if limit <= 0 or now - began > ROUND_S:
        return set()
    claimed = await services.database.write(deliveries.claim, holder, now, now + HELD_S, limit, PER_KEY)
    return {asyncio.create_task(_send(services, one)) for one in claimed}


async def _send(services: Services, claimed: Claimed) -> str:
    """One attempt; its outcome as metrics and logs name it."""
    posted = await _post(services, claimed.url, claimed.id, claimed.body, claimed.sealed_secret)
    outcome, error = await _note(services, claimed, posted)
    services.count_delivery(outcome)
    log.info("an alert was sent", extra={"status": outcome, "reason": f"{claimed.id} {error or ''}"})
    return outcome


async def _note(services: Services, claimed: Claimed, posted: Posted) -> tuple[str, str | None]:
    now = int(services.clock())
    verdict = _verdict(posted)
    if verdict.error is None:
        await services.database.write(deliveries.succeed, claimed.id, posted.status or 0, now)
        return "delivered", None
    if verdict.meaning == "turn_off":
        failure = Failure(verdict.error, posted.status, None)
        await services.database.write(deliveries.turn_off, claimed, failure, now)
        return "turned_off", verdict.error
    chance = int.from_bytes(services.random_bytes(2)) / 2**16
    wanted = webhooks.retry_after(posted.retry_after, now) if verdict.waits else 0
    retry_at = webhooks.next_attempt(claimed.failures + 1, now, claimed.give_up_at, chance, wanted)
    await services.database.write(deliveries.fail, claimed, Failure(verdict.error, posted.status, retry_at), now)
    return "given_up" if retry_at is None else "retried", verdict.error


def _verdict(posted: Posted) -> webhooks.Verdict:
    if posted.status is None:
        return webhooks.Verdict("retry", posted.failure or "no_answer")
    return webhooks.verdict(posted.status)


async def _post(services: Services, url: str, delivery_id: str, text: str, sealed_secret: str) -> Posted:
    try:
        secret = unseal(services.secret_key, SEAL_PURPOSE, sealed_secret)
    except NotSealed:
        return Posted(None, "secret", "", 0)
    body = text.encode()
    return await services.webhooks.post(url, webhooks.headers(delivery_id, body, secret, int(services.clock())), body)


def limit_tests(services: Services, key_id: str, host: str) -> None:
    """Takes one test delivery from what the key, and what all keys to that host, may send. Raises rate_limited."""
    waits = [services.test_rate.take(f"{kind}:{name}") for kind, name in (("key", key_id), ("host", host))]
    if any(waits):
        raise Problem(
            "rate_limited",
            f"A key, and all keys to one host, may send {TESTS_A_MINUTE} test deliveries a minute.",
            headers={"Retry-After": str(ceil(max(wait or 0 for wait in waits)))},
        )


async def send_test(services: Services, key_id: str, saved: Settings) -> dict[str, Any]:
    """Sends one test delivery and says what came back. It is sent once, and stored nowhere."""
    test_id, now = new_id("test", services.random_bytes), services.clock()
    alert = {"id": test_id, "type": TEST_TYPE, "key_id": key_id, "created_at": rfc3339(now)}
    posted = await _post(
        services, saved.alert_webhook_url, test_id, webhooks.canonical(alert), saved.alert_webhook_secret
    )
    verdict = _verdict(posted)
    return {
        "id": test_id,
        "delivered": verdict.error is None,
        "status": posted.status,
        "error": verdict.error,
        "ms": posted.ms,
    }


def state(delivery: Delivery | None) -> dict[str, Any] | None:
    """How an alert's delivery is shown beside it; None when it was raised while no webhook was set."""
    if delivery is None:
        return None
    return {
        "status": delivery.status,
        "attempts": delivery.attempts,
        "last_attempt_at": _time(delivery.last_attempt_at),
        "next_attempt_at": _time(delivery.next_attempt_at),
        "last_status": delivery.last_status,
        "last_error": delivery.last_error,
        "delivered_at": _time(delivery.delivered_at),
    }


async def list_deliveries(services: Services, call: Call, arguments: dict[str, Any]) -> Reply:
    """GET /v1/admin/deliveries."""
    limit = arguments["limit"]
    rows = await services.database.read(
        deliveries.page, arguments.get("status"), arguments.get("key_id"), limit + 1, lists.position(arguments)
    )
    return Reply(lists.page(rows, limit, lambda row: (row.created_at, row.id), _show))


async def redeliver(services: Services, call: Call, arguments: dict[str, Any]) -> Reply:
    """POST /v1/admin/deliveries/{id}/redeliver."""
    begun = await services.database.write(deliveries.redeliver, call.path["id"], int(services.clock()))
    if begun is None:
        raise Problem("not_found", "No delivery has this id.")
    if begun == "no_webhook":
        raise invalid_request([Fault("id", "is of a key that has no webhook")])
    return Reply(_show(begun))


def _show(row: Delivery) -> dict[str, Any]:
    return {"id": row.id, "key_id": row.key_id, "created_at": rfc3339(row.created_at), **(state(row) or {})}


def _time(seconds: int | None) -> str | None:
    return None if seconds is None else rfc3339(seconds)
