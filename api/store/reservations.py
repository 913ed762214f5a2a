"""Calls that are paid before their work, because the work costs money: reserved, then finished or released.

A reservation takes a free call or a credit at once. `charges.record` finishes it; `release` gives back what it
took, and `release_expired` does so for those whose process died.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from api.core.times import utc_day
from api.store import accounts, idempotency
from api.store.accounts import Grant
from api.store.database import Row, Tx
from api.store.idempotency import Mark


@dataclass(frozen=True, slots=True)
class Wanted:
    """A reservation to be made. `expires_at` is when its work is surely over, one way or the other."""

    id: str
    secret_hash: str
    expires_at: int
    mark: Mark | None = None


async def reserve(tx: Tx, wanted: Sequence[Wanted], now: int, free_limit: int) -> list[Grant]:
    """Reserves one call each, in order: "free" or "credit" for those made, else "refused" or "unknown_key", or
    "conflict" where one with the same id stands already or the mark was answered before."""
    day = utc_day(now)
    taken = set(await standing(tx, [one.id for one in wanted]))
    known = await idempotency.find_all(tx, [one.mark for one in wanted if one.mark], now)
    taken |= {one.id for one in wanted if one.mark and (one.mark.caller, one.mark.token) in known}
    found = await accounts.read(tx, [one.secret_hash for one in wanted], day)
    grants: list[Grant] = []
    rows = []
    for one in wanted:
        account = found.get(one.secret_hash)
        if account is None:
            grant: Grant = "unknown_key"
        else:
            grant = "conflict" if one.id in taken else account.take(free_limit)
        grants.append(grant)
        if account is not None and grant in ("free", "credit"):
            taken.add(one.id)
            row = {
                "id": one.id,
                "key_id": account.key_id,
                "is_free": int(grant == "free"),
                "expires_at": one.expires_at,
            }
            rows.append(row)
    await accounts.write_use(tx, found.values(), day)
    if rows:
        columns = tx.table(id="TEXT", key_id="TEXT", is_free="BIGINT", expires_at="BIGINT")
        await tx.run(
            f"""INSERT INTO reservations (id, key_id, day, is_free, expires_at)
            SELECT id, key_id, :day, is_free, expires_at FROM {columns} r WHERE true""",
            rows=orjson.dumps(rows).decode(),
            day=day,
        )
    return grants


async def standing(tx: Tx, ids: Sequence[str]) -> dict[str, Grant]:
    """What each of the reservations with these ids that still stand has taken."""
    if not ids:
        return {}
    rows = await tx.all(
        f"SELECT id, is_free FROM reservations WHERE id IN (SELECT id FROM {tx.table(id='TEXT')} r)", rows=_json(ids)
    )
    return {row["id"]: "free" if row["is_free"] else "credit" for row in rows}


async def finish_all(tx: Tx, ids: Sequence[str]) -> None:
    """Ends the reservations with these ids; what they took is spent."""
    if ids:
        await tx.run(f"DELETE FROM reservations WHERE id IN (SELECT id FROM {tx.table(id='TEXT')} r)", rows=_json(ids))


async def release(tx: Tx, reservation: str) -> bool:
    """Gives back what the reservation took; whether it still stood."""
    row = await tx.one(
        "DELETE FROM reservations WHERE id = :reservation RETURNING key_id, day, is_free", reservation=reservation
    )
    if row is not None:
        await _give_back(tx, row)
    return row is not None


async def release_expired(tx: Tx, now: int) -> int:
    """Releases the reservations whose time is over; how many."""
    rows = await tx.all("DELETE FROM reservations WHERE expires_at <= :now RETURNING key_id, day, is_free", now=now)
    for row in rows:
        await _give_back(tx, row)
    return len(rows)


async def _give_back(tx: Tx, row: Row) -> None:
    column = "free" if row["is_free"] else "credit"
    await tx.run(
        f"UPDATE daily_use SET {column} = {column} - 1 WHERE key_id = :key_id AND day = :day",
        key_id=row["key_id"],
        day=row["day"],
    )
    if not row["is_free"]:
        await tx.run("UPDATE keys SET credits = credits + 1 WHERE id = :key_id", key_id=row["key_id"])


def _json(ids: Sequence[str]) -> str:
    return orjson.dumps([{"id": one} for one in ids]).decode()
