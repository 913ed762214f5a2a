"""What the operator may do: find and revoke keys, read and correct their credits, see orders, count calls; and say
whether the server can work."""

from typing import Any

from api.core.secrets import new_id
from api.core.times import last_days, rfc3339
from api.problems import Problem
from api.service import lists
from api.service.call import Call, Reply
from api.service.keys import USAGE_DAYS, usage_rows
from api.service.services import Services
from api.store import credits, jobs, keys, orders
from api.store.credits import Entry
from api.store.database import StorageUnavailable, Tx
from api.store.keys import Filter, StoredKey
from api.store.orders import Order


async def list_keys(services: Services, call: Call, arguments: dict[str, Any]) -> Reply:
    """GET /v1/admin/keys."""
    limit, email = arguments["limit"], arguments.get("email")
    wanted = Filter(email.lower() if email else None, arguments.get("prefix"), arguments.get("id"))
    rows = await services.database.read(keys.page, wanted, limit + 1, lists.position(arguments))
    return Reply(lists.page(rows, limit, lambda row: (row[0].created_at, row[0].id), _show_key))


async def revoke_key(services: Services, call: Call, arguments: dict[str, Any]) -> Reply:
    """DELETE /v1/admin/keys/{id}."""
    key_id = await services.database.write(keys.revoke, call.path["id"])
    if key_id is None:
        raise _no_key()
    await services.database.scrub()
    return Reply({"id": key_id, "deleted": True})


async def list_credits(services: Services, call: Call, arguments: dict[str, Any]) -> Reply:
    """GET /v1/admin/keys/{id}/credits."""
    ledger = await services.database.read(_ledger, call.path["id"])
    if ledger is None:
        raise _no_key()
    balance, entries = ledger
    return Reply({"id": call.path["id"], "credits": balance, "entries": [_show_entry(entry) for entry in entries]})


async def add_credits(services: Services, call: Call, body: dict[str, Any]) -> Reply:
    """POST /v1/admin/keys/{id}/credits."""
    entry_id = new_id("cre", services.random_bytes)
    entry = Entry(
        id=entry_id,
        key_id=call.path["id"],
        created_at=int(services.clock()),
        # JSON Schema takes 5.0 for an integer too.
        calls=int(body["calls"]),
        reason="grant" if body["calls"] > 0 else "correction",
        reference=body.get("reference", entry_id),
        note=body["note"],
    )
    balance = await services.database.write(credits.add, entry)
    if balance is None:
        raise _no_key()
    return Reply({"id": call.path["id"], "credits": balance})


async def list_orders(services: Services, call: Call, arguments: dict[str, Any]) -> Reply:
    """GET /v1/admin/orders."""
    limit, place = arguments["limit"], lists.position(arguments)
    rows = await services.database.read(orders.page, arguments.get("status"), arguments.get("key_id"), limit + 1, place)
    return Reply(lists.page(rows, limit, lambda row: (row[0].created_at, row[0].id), _show_order))


async def counts(services: Services, call: Call, arguments: dict[str, Any]) -> Reply:
    """GET /v1/admin/counts."""
    days = last_days(services.clock(), USAGE_DAYS)
    total = await services.database.read(keys.count)
    used = await services.database.read(keys.total_usage, days[-1])
    return Reply({"keys": total, "usage": usage_rows(days, used)})


async def ready(services: Services, call: Call, arguments: dict[str, Any]) -> Reply:
    """GET /v1/ready: the database takes a transaction."""
    await services.database.write(_ping)
    return Reply({"status": "ready"})


async def job_ages(services: Services) -> dict[str, int]:
    """Seconds since each job last finished. Empty while the database can't be read: the other metrics are wanted
    then."""
    try:
        finished = await services.database.read(jobs.last_finished)
    except StorageUnavailable:
        return {}
    now = int(services.clock())
    return {name: max(0, now - at) for name, at in finished.items()}


async def _ping(tx: Tx) -> None:
    await tx.one("SELECT 1 AS one")


async def _ledger(tx: Tx, key_id: str) -> tuple[int, list[Entry]] | None:
    rows = await keys.page(tx, Filter(id=key_id), 1, None)
    return (rows[0][1], await credits.entries(tx, key_id)) if rows else None


def _no_key() -> Problem:
    return Problem("not_found", "No key has this id.")


def _show_key(row: tuple[StoredKey, int]) -> dict[str, Any]:
    key, balance = row
    return {
        "id": key.id,
        "email": key.email,
        "name": key.name,
        "prefix": key.prefix,
        "created_at": rfc3339(key.created_at),
        "credits": balance,
    }


def _show_entry(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "created_at": rfc3339(entry.created_at),
        "calls": entry.calls,
        "reason": entry.reason,
        "reference": entry.reference,
        "note": entry.note,
    }


def _show_order(row: tuple[Order, int]) -> dict[str, Any]:
    order, held = row
    return {
        "id": order.id,
        "key_id": order.key_id,
        "created_at": rfc3339(order.created_at),
        "pack": order.pack,
        "calls": order.calls,
        "amount": order.amount,
        "currency": order.currency,
        "status": order.status,
        "reversed": held,
        "session_id": order.session_id,
        "payment_intent": order.payment_intent,
        "note": order.note,
    }
