"""What keys have left: free calls of a day, then credits. Read and written for many keys at once."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

import orjson

from api.store.database import Tx

Grant = Literal["free", "credit", "replayed", "conflict", "refused", "unknown_key"]
"""How a call was charged, or why it was not."""

Endpoint = Literal["judge", "consensus"]


@dataclass(slots=True)
class Account:
    """A key's counts while a batch is allotted. The last four are what the batch adds; `credits` may be negative."""

    key_id: str
    free_used: int
    credits: int
    retains: bool
    free: int = 0
    credit: int = 0
    judge: int = 0
    consensus: int = 0

    def take(self, free_limit: int) -> Grant:
        """Takes a free call of the day, else a credit: "free", "credit" or "refused"."""
        if self.free_used < free_limit:
            self.free_used += 1
            self.free += 1
            return "free"
        if self.credits > 0:
            self.credits -= 1
            self.credit += 1
            return "credit"
        return "refused"

    def count(self, endpoint: Endpoint) -> None:
        """Counts an answered call."""
        if endpoint == "judge":
            self.judge += 1
        else:
            self.consensus += 1


async def read(tx: Tx, hashes: Collection[str], day: str) -> dict[str, Account]:
    """The accounts of the keys with these hashes, by hash; keys that are gone are not in it."""
    rows = await tx.all(
        f"""SELECT k.secret_hash, k.id, k.credits, coalesce(u.free, 0) AS free_used,
            coalesce(s.retention_days, 1) AS retention_days
        FROM {tx.table(hash="TEXT")} r
        JOIN keys k ON k.secret_hash = r.hash
        LEFT JOIN daily_use u ON u.key_id = k.id AND u.day = :day
        LEFT JOIN settings s ON s.key_id = k.id""",
        rows=orjson.dumps([{"hash": secret_hash} for secret_hash in dict.fromkeys(hashes)]).decode(),
        day=day,
    )
    return {
        row["secret_hash"]: Account(row["id"], row["free_used"], row["credits"], row["retention_days"] > 0)
        for row in rows
    }


async def write_use(tx: Tx, accounts: Iterable[Account], day: str) -> None:
    """Adds what a batch took and counted to the day, and takes the credits off the balances."""
    counts = ("free", "credit", "judge", "consensus")
    used = [account for account in accounts if any(getattr(account, name) for name in counts)]
    if not used:
        return
    rows = [{name: getattr(account, name) for name in ("key_id", *counts)} for account in used]
    added = ", ".join(f"{name} = daily_use.{name} + excluded.{name}" for name in counts)
    then = f"ON CONFLICT (key_id, day) DO UPDATE SET {added}"
    await tx.insert("daily_use", {"key_id": "TEXT", **dict.fromkeys(counts, "BIGINT")}, rows, then, day=day)
    if any(account.credit for account in used):
        await tx.run(
            f"""UPDATE keys SET credits = keys.credits - r.credit
            FROM {tx.table(key_id="TEXT", credit="BIGINT")} r WHERE keys.id = r.key_id AND r.credit > 0""",
            rows=orjson.dumps(rows).decode(),
        )
