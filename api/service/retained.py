"""The operations on kept calls: list and remove."""

from itertools import accumulate
from typing import Any

import orjson

from api.core.times import rfc3339
from api.problems import Problem
from api.service import lists
from api.service.admission import Caller, caller_headers
from api.service.call import Call, Reply
from api.service.services import Services
from api.store import retention
from api.store.retention import Retained

PAGE_CHARACTERS = 2_000_000
"""A page ends before it has more text than this, unless a single row has: rows can be large, and memory is bounded."""


async def list_rows(services: Services, call: Call, caller: Caller, arguments: dict[str, Any]) -> Reply:
    """GET /v1/retention."""
    limit, now = arguments["limit"], int(services.clock())
    place = lists.position(arguments)
    sizes = await services.database.read(retention.sizes, caller.key_id, now, limit, place)
    fitting = sum(total <= PAGE_CHARACTERS for total in accumulate(sizes))
    count = max(1, fitting)
    rows = await services.database.read(retention.page, caller.key_id, now, count + 1, place)
    body = lists.page(rows, count, lambda row: (row.created_at, row.id), _show)
    return Reply(body, headers=caller_headers(services, caller))


async def delete_row(services: Services, call: Call, caller: Caller, arguments: dict[str, Any]) -> Reply:
    """DELETE /v1/retention/{id}."""
    row_id, now = call.path["id"], int(services.clock())
    if not await services.database.write(retention.delete, caller.key_id, row_id, now):
        raise Problem("not_found", "This key keeps no row with that id. It may have expired.")
    await services.database.scrub()
    return Reply({"id": row_id, "deleted": True}, headers=caller_headers(services, caller))


def _show(row: Retained) -> dict[str, Any]:
    return {
        "id": row.id,
        "endpoint": row.endpoint,
        "created_at": rfc3339(row.created_at),
        "expires_at": rfc3339(row.expires_at),
        "request": orjson.loads(row.request),
        "response": orjson.loads(row.response),
    }
