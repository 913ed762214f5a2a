"""API keys: rows by hash, never by secret."""

from dataclasses import dataclass

from api.store import idempotency, orders, payments
from api.store.database import Row, Tx

Position = tuple[int, str]
"""Where a page ends: the created_at and id of its last row."""


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key as stored. `created_at` is in epoch seconds; `email` is lower case."""

    id: str
    email: str
    name: str
    prefix: str
    secret_hash: str
    created_at: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a key may still use: `free_used` free calls of the day are gone, `credits` are left (negative after a
    refund)."""

    key: StoredKey
    free_used: int
    credits: int
    retains: bool


@dataclass(frozen=True, slots=True)
class DayOfUse:
    """A key's answered calls on one UTC day, YYYY-MM-DD."""

    day: str
    judge: int
    consensus: int


_COLUMNS = "k.id, k.email, k.name, k.prefix, k.secret_hash, k.created_at"


def _key(row: Row) -> StoredKey:
    return StoredKey(row["id"], row["email"], row["name"], row["prefix"], row["secret_hash"], row["created_at"])


async def add(tx: Tx, key: StoredKey, cap: int) -> bool:
    """Stores `key` unless its email already has `cap` keys; says whether it did."""
    held = await tx.one("SELECT count(*) AS n FROM keys WHERE email = :email", email=key.email)
    if held is not None and held["n"] >= cap:
        return False
    await tx.run(
        """INSERT INTO keys (id, email, name, prefix, secret_hash, created_at)
        VALUES (:id, :email, :name, :prefix, :secret_hash, :created_at)""",
        id=key.id,
        email=key.email,
        name=key.name,
        prefix=key.prefix,
        secret_hash=key.secret_hash,
        created_at=key.created_at,
    )
    return True


async def find(tx: Tx, secret_hash: str, day: str) -> Allowance | None:
    """The key with that hash and what it used on `day`, or None."""
    row = await tx.one(
        f"""SELECT {_COLUMNS}, k.credits, coalesce(u.free, 0) AS free_used,
            coalesce(s.retention_days, 1) AS retention_days
        FROM keys k
        LEFT JOIN daily_use u ON u.key_id = k.id AND u.day = :day
        LEFT JOIN settings s ON s.key_id = k.id
        WHERE k.secret_hash = :secret_hash""",
        secret_hash=secret_hash,
        day=day,
    )
    if row is None:
        return None
    return Allowance(_key(row), row["free_used"], row["credits"], row["retention_days"] > 0)


async def usage(tx: Tx, key_id: str, since: str) -> list[DayOfUse]:
    """The key's days with calls from `since` on, newest first."""
    rows = await tx.all(
        """SELECT day, judge, consensus FROM daily_use
        WHERE key_id = :key_id AND day >= :since ORDER BY day DESC""",
        key_id=key_id,
        since=since,
    )
    return [DayOfUse(row["day"], row["judge"], row["consensus"]) for row in rows]


async def rotate(tx: Tx, old_hash: str, new_hash: str, prefix: str) -> StoredKey | None:
    """Gives the key with `old_hash` a new secret; None when there is none, so that of two rotations one wins."""
    row = await tx.one(
        """UPDATE keys SET secret_hash = :new_hash, prefix = :prefix WHERE secret_hash = :old_hash
        RETURNING id, email, name, prefix, secret_hash, created_at""",
        old_hash=old_hash,
        new_hash=new_hash,
        prefix=prefix,
    )
    return None if row is None else _key(row)


async def delete(tx: Tx, secret_hash: str) -> str | None:
    """Deletes the key with that hash and all that hangs on it; its id, or None when there is none."""
    row = await tx.one("DELETE FROM keys WHERE secret_hash = :secret_hash RETURNING id", secret_hash=secret_hash)
    return None if row is None else await _forget(tx, row["id"])


async def revoke(tx: Tx, key_id: str) -> str | None:
    """Deletes the key with that id, as `delete` does."""
    row = await tx.one("DELETE FROM keys WHERE id = :key_id RETURNING id", key_id=key_id)
    return None if row is None else await _forget(tx, row["id"])


async def _forget(tx: Tx, key_id: str) -> str:
    await idempotency.forget(tx, key_id)
    await orders.forget(tx, key_id)
    await payments.forget_key(tx, key_id)
    return key_id


@dataclass(frozen=True, slots=True)
class Filter:
    """Which keys an operator looks for; None matches all."""

    email: str | None = None
    prefix: str | None = None
    id: str | None = None


async def page(tx: Tx, wanted: Filter, limit: int, after: Position | None) -> list[tuple[StoredKey, int]]:
    """Keys and their credits, newest first, at most `limit`, from `after` on."""
    created_at, key_id = after or (2**62, "")
    conditions = {"email": wanted.email, "prefix": wanted.prefix, "id": wanted.id}
    chosen = {name: value for name, value in conditions.items() if value is not None}
    extra = "".join(f" AND k.{name} = :{name}" for name in chosen)
    rows = await tx.all(
        f"""SELECT {_COLUMNS}, k.credits FROM keys k
        WHERE (k.created_at < :created_at OR (k.created_at = :created_at AND k.id < :key_id)){extra}
        ORDER BY k.created_at DESC, k.id DESC LIMIT :limit""",
        created_at=created_at,
        key_id=key_id,
        limit=limit,
        **chosen,
    )
    return [(_key(row), row["credits"]) for row in rows]


async def count(tx: Tx) -> int:
    """How many keys there are."""
    row = await tx.one("SELECT count(*) AS n FROM keys")
    return int(row["n"]) if row else 0


async def total_usage(tx: Tx, since: str) -> list[DayOfUse]:
    """The answered calls of all keys by day from `since` on, newest first."""
    rows = await tx.all(
        """SELECT day, sum(judge) AS judge, sum(consensus) AS consensus FROM daily_use
        WHERE day >= :since GROUP BY day ORDER BY day DESC""",
        since=since,
    )
    return [DayOfUse(row["day"], int(row["judge"]), int(row["consensus"])) for row in rows]
