"""What was answered under an Idempotency-Key: whose, for which body, and the request id that it keeps. Never content.

`caller` is a key's id, or a keyed hash of a payer or client address. `token` and `body_hash` are keyed hashes too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from api.store.database import Row, Tx

LIFETIME_S = 86_400


@dataclass(frozen=True, slots=True)
class Mark:
    """What a call brings: who it is, its key's hash, and the hash of operation and body."""

    caller: str
    token: str
    body_hash: str


@dataclass(frozen=True, slots=True)
class Record:
    """What was answered under a mark before."""

    body_hash: str
    request_id: str
    retained_id: str | None


async def find(tx: Tx, mark: Mark, now: int) -> Record | None:
    """The live record of the mark's caller and token, whatever its body."""
    row = await tx.one(
        """SELECT body_hash, request_id, retained_id FROM idempotency
        WHERE caller = :caller AND token = :token AND expires_at > :now""",
        caller=mark.caller,
        token=mark.token,
        now=now,
    )
    return None if row is None else _record(row)


async def find_all(tx: Tx, marks: Sequence[Mark], now: int) -> dict[tuple[str, str], Record]:
    """The live records of many marks, by caller and token."""
    if not marks:
        return {}
    rows = await tx.all(
        f"""SELECT i.caller, i.token, i.body_hash, i.request_id, i.retained_id
        FROM {tx.table(caller="TEXT", token="TEXT")} r
        JOIN idempotency i ON i.caller = r.caller AND i.token = r.token AND i.expires_at > :now""",
        rows=orjson.dumps([{"caller": mark.caller, "token": mark.token} for mark in marks]).decode(),
        now=now,
    )
    return {(row["caller"], row["token"]): _record(row) for row in rows}


async def add_all(tx: Tx, records: Sequence[tuple[Mark, Record]], now: int) -> None:
    """Stores records, over expired ones of the same caller and token."""
    if not records:
        return
    columns = tx.table(caller="TEXT", token="TEXT", body_hash="TEXT", request_id="TEXT", retained_id="TEXT")
    rows = [
        {
            "caller": mark.caller,
            "token": mark.token,
            "body_hash": record.body_hash,
            "request_id": record.request_id,
            "retained_id": record.retained_id,
        }
        for mark, record in records
    ]
    await tx.run(
        f"""INSERT INTO idempotency (caller, token, body_hash, request_id, retained_id, expires_at)
        SELECT caller, token, body_hash, request_id, retained_id, :expires_at FROM {columns} r WHERE true
        ON CONFLICT (caller, token) DO UPDATE SET body_hash = excluded.body_hash, request_id = excluded.request_id,
            retained_id = excluded.retained_id, expires_at = excluded.expires_at""",
        rows=orjson.dumps(rows).decode(),
        expires_at=now + LIFETIME_S,
    )


async def forget(tx: Tx, caller: str) -> None:
    """Removes all records of a caller."""
    await tx.run("DELETE FROM idempotency WHERE caller = :caller", caller=caller)


async def prune(tx: Tx, now: int) -> int:
    """Removes expired records; how many."""
    return await tx.run("DELETE FROM idempotency WHERE expires_at <= :now", now=now)


def _record(row: Row) -> Record:
    return Record(row["body_hash"], row["request_id"], row["retained_id"])
