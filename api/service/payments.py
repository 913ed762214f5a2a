"""What becomes of x402 payments when nobody waits for them: settled again until it is known, and shown to the
operator."""

import asyncio
from typing import Any

from api.core.secrets import new_id
from api.core.times import rfc3339
from api.core.x402.replies import Failed, Settled, Unknown
from api.service import lists
from api.service.call import Call, Reply
from api.service.facilitation import Facilitation
from api.service.services import Services
from api.store import payments
from api.store.payments import Payment

AT_ONCE = 20
SETTLE_SLACK_S = 10
"""What a settlement may take beyond the facilitator's time, before its process counts as dead."""
LATEST_TIME = 253_402_300_799
"""9999-12-31T23:59:59Z. Authorizations may be valid for longer than a time can be written."""


def settling_until(facilitation: Facilitation, now: int) -> int:
    """When a settlement that begins now is surely over."""
    return now + round(facilitation.timeout_s) + SETTLE_SLACK_S


async def settle_again(
    services: Services, facilitation: Facilitation, payment_id: str, holder: str
) -> Payment | Failed | None:
    """Settles a payment whose outcome is in doubt once more. Gives the payment as it stands then, or why it failed;
    None when another is at it or the row is gone."""
    now = int(services.clock())
    claimed = await services.database.write(payments.claim, payment_id, holder, now, settling_until(facilitation, now))
    if claimed is None:
        return None
    outcome = await facilitation.settle(claimed.document, claimed.payer_shown, again=True, expected=claimed.transaction)
    now = int(services.clock())
    match outcome:
        case Settled(transaction):
            return await services.database.write(payments.settle, payment_id, transaction, now)
        case Failed(reason):
            await services.database.write(payments.fail, payment_id, holder, reason, now)
            return outcome
        case Unknown(why, transaction):
            return await services.database.write(payments.doubt, payment_id, holder, why, transaction, now)


async def reconcile(services: Services, now: int) -> str:
    """Job: settles payments in doubt again, each after a pause that doubles."""
    facilitation = services.facilitation
    if facilitation is None:
        return ""
    waiting = await services.database.read(payments.due, now, AT_ONCE)
    holders = [new_id("job", services.random_bytes) for _ in waiting]
    found = await asyncio.gather(
        *(settle_again(services, facilitation, one, holder) for one, holder in zip(waiting, holders, strict=True))
    )
    settled = sum(isinstance(one, Payment) and one.state == "settled" for one in found)
    failed = sum(isinstance(one, Failed) for one in found)
    return f"{len(found)} asked about, {settled} settled, {failed} failed" if found else ""


async def list_payments(services: Services, call: Call, arguments: dict[str, Any]) -> Reply:
    """GET /v1/admin/payments."""
    limit, now = arguments["limit"], int(services.clock())
    rows = await services.database.read(
        payments.page, arguments.get("state"), now, limit + 1, lists.position(arguments)
    )
    return Reply(lists.page(rows, limit, lambda row: (row.created_at, row.id), lambda row: _show(row, now)))


def _show(row: Payment, now: int) -> dict[str, Any]:
    in_doubt = row.state == "settling" and row.held_until <= now
    return {
        "id": row.id,
        "state": "unknown" if in_doubt else row.state,
        "is_closed": row.is_closed,
        "endpoint": row.endpoint,
        "request_id": row.request_id,
        "key_id": row.key_id,
        "payer": row.payer_shown,
        "network": row.place.network,
        "asset": row.place.asset,
        "amount": row.amount,
        "nonce": row.place.nonce,
        "transaction": row.transaction,
        "reason": row.reason,
        "attempts": row.attempts,
        "created_at": rfc3339(row.created_at),
        "updated_at": rfc3339(row.updated_at),
        "valid_before": rfc3339(min(row.valid_before, LATEST_TIME)),
    }
