"""Prepaid calls. Entries are only ever added while the key lives; the balance beside the key follows from them.

balance = sum of the key's entries - sum of its daily_use.credit. `faults` checks that for every key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from api.store.database import Row, Tx

Reason = Literal["grant", "correction", "pack", "refund", "dispute"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One change of a balance. `calls` is negative when it takes calls back. `reference` says what it was for and is
    unique for a key, so that the same thing is never credited twice; `note` is for people."""

    id: str
    key_id: str
    created_at: int
    calls: int
    reason: Reason
    reference: str
    note: str


async def add(tx: Tx, entry: Entry) -> int | None:
    """Adds the entry and returns the new balance, which may be negative; None when the key is gone.

    An entry whose reference stands already changes nothing.
    """
    key = await tx.one("SELECT credits FROM keys WHERE id = :key_id", key_id=entry.key_id)
    if key is None:
        return None
    added = await tx.run(
        """INSERT INTO credit_entries (id, key_id, created_at, calls, reason, reference, note)
        VALUES (:id, :key_id, :created_at, :calls, :reason, :reference, :note) ON CONFLICT DO NOTHING""",
        id=entry.id,
        key_id=entry.key_id,
        created_at=entry.created_at,
        calls=entry.calls,
        reason=entry.reason,
        reference=entry.reference,
        note=entry.note,
    )
    if not added:
        return int(key["credits"])
    row = await tx.one(
        "UPDATE keys SET credits = credits + :calls WHERE id = :key_id RETURNING credits",
        calls=entry.calls,
        key_id=entry.key_id,
    )
    return None if row is None else int(row["credits"])


async def entries(tx: Tx, key_id: str) -> list[Entry]:
    """The key's entries, oldest first."""
    rows = await tx.all("SELECT * FROM credit_entries WHERE key_id = :key_id ORDER BY created_at, id", key_id=key_id)
    return [Entry(**row) for row in rows]


async def faults(tx: Tx) -> Sequence[Row]:
    """Keys whose balance does not follow from their entries and uses: id, credits, expected. None when all is well."""
    return await tx.all(
        """SELECT * FROM (
            SELECT k.id, k.credits,
                coalesce((SELECT sum(e.calls) FROM credit_entries e WHERE e.key_id = k.id), 0)
                - coalesce((SELECT sum(u.credit) FROM daily_use u WHERE u.key_id = k.id), 0) AS expected
            FROM keys k
        ) balances WHERE credits <> expected"""
    )
