"""Content that a key asked to keep: for 24 hours, then gone, also for readers before the job has removed it."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from api.store.database import Row, Tx


@dataclass(frozen=True, slots=True)
class Retained:
    """One kept call. `request` and `response` are JSON texts."""

    id: str
    key_id: str
    endpoint: str
    created_at: int
    expires_at: int
    request: str
    response: str


Position = tuple[int, str]
"""Where a page ends: the created_at and id of its last row."""


async def add_all(tx: Tx, rows: Sequence[Retained]) -> None:
    """Keeps rows."""
    if not rows:
        return
    columns = tx.table(
        id="TEXT",
        key_id="TEXT",
        endpoint="TEXT",
        created_at="BIGINT",
        expires_at="BIGINT",
        request="TEXT",
        response="TEXT",
    )
    await tx.run(
        f"""INSERT INTO retained (id, key_id, endpoint, created_at, expires_at, request, response)
        SELECT id, key_id, endpoint, created_at, expires_at, request, response FROM {columns} r WHERE true""",
        rows=orjson.dumps(
            [
                {
                    "id": row.id,
                    "key_id": row.key_id,
                    "endpoint": row.endpoint,
                    "created_at": row.created_at,
                    "expires_at": row.expires_at,
                    "request": row.request,
                    "response": row.response,
                }
                for row in rows
            ]
        ).decode(),
    )


async def page(tx: Tx, key_id: str, now: int, limit: int, after: Position | None) -> list[Retained]:
    """The key's live rows, newest first, at most `limit`, from `after` on."""
    return [_retained(row) for row in await _page(tx, "*", key_id, now, limit, after)]


async def sizes(tx: Tx, key_id: str, now: int, limit: int, after: Position | None) -> list[int]:
    """The characters of each row of such a page, so that a page can be cut before it is read."""
    rows = await _page(tx, "length(request) + length(response) AS size", key_id, now, limit, after)
    return [int(row["size"]) for row in rows]


async def _page(tx: Tx, columns: str, key_id: str, now: int, limit: int, after: Position | None) -> Sequence[Row]:
    created_at, row_id = after or (2**62, "")
    return await tx.all(
        f"""SELECT {columns} FROM retained WHERE key_id = :key_id AND expires_at > :now
        AND (created_at < :created_at OR (created_at = :created_at AND id < :row_id))
        ORDER BY created_at DESC, id DESC LIMIT :limit""",
        key_id=key_id,
        now=now,
        created_at=created_at,
        row_id=row_id,
        limit=limit,
    )


async def find(tx: Tx, key_id: str, row_id: str, now: int) -> Retained | None:
    """The key's live row with that id."""
    row = await tx.one(
        "SELECT * FROM retained WHERE id = :row_id AND key_id = :key_id AND expires_at > :now",
        row_id=row_id,
        key_id=key_id,
        now=now,
    )
    return None if row is None else _retained(row)


async def delete(tx: Tx, key_id: str, row_id: str, now: int) -> bool:
    """Removes the key's live row with that id; whether there was one."""
    return bool(
        await tx.run(
            "DELETE FROM retained WHERE id = :row_id AND key_id = :key_id AND expires_at > :now",
            row_id=row_id,
            key_id=key_id,
            now=now,
        )
    )


async def expire(tx: Tx, now: int) -> int:
    """Removes the rows whose time is over; how many."""
    return await tx.run("DELETE FROM retained WHERE expires_at <= :now", now=now)


def _retained(row: Row) -> Retained:
    return Retained(
        row["id"],
        row["key_id"],
        row["endpoint"],
        row["created_at"],
        row["expires_at"],
        row["request"],
        row["response"],
    )
