"""The charge of answered calls: a batch of calls in one transaction, granted in the order in which they arrived."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from api.store.database import Row, Tx

Grant = Literal["free", "refused", "unknown_key"]


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call whose work is done and whose answer waits for its charge. `endpoint` is judge or consensus."""

    secret_hash: str
    endpoint: Literal["judge", "consensus"]


@dataclass(frozen=True, slots=True)
class Charge:
    """What became of a call. `free_used` counts the key's free calls of the day, this one included."""

    grant: Grant
    free_used: int


@dataclass(slots=True)
class _Account:
    """A key's counts while its batch is allotted."""

    key_id: str
    free_used: int
    free: int = 0
    judge: int = 0
    consensus: int = 0


async def record(tx: Tx, calls: Sequence[AnsweredCall], day: str, free_limit: int) -> list[Charge]:
    """Charges `calls` on `day`; one Charge a call, in order. The keys are read again here: a deleted one gets no
    answer."""
    accounts = {row["secret_hash"]: _account(row) for row in await _read_accounts(tx, calls, day)}
    charges = [_allot(accounts.get(call.secret_hash), call, free_limit) for call in calls]
    await _write_use(tx, [account for account in accounts.values() if account.judge or account.consensus], day)
    return charges


def _account(row: Row) -> _Account:
    return _Account(row["id"], row["free_used"])


def _allot(account: _Account | None, call: AnsweredCall, free_limit: int) -> Charge:
    if account is None:
        return Charge("unknown_key", 0)
    if account.free_used >= free_limit:
        return Charge("refused", account.free_used)
    account.free_used += 1
    account.free += 1
    if call.endpoint == "judge":
        account.judge += 1
    else:
        account.consensus += 1
    return Charge("free", account.free_used)


async def _read_accounts(tx: Tx, calls: Sequence[AnsweredCall], day: str) -> Sequence[Row]:
    hashes = dict.fromkeys(call.secret_hash for call in calls)
    return await tx.all(
        f"""SELECT k.secret_hash, k.id, coalesce(u.free, 0) AS free_used
        FROM {tx.table(hash="TEXT")} r
        JOIN keys k ON k.secret_hash = r.hash
        LEFT JOIN daily_use u ON u.key_id = k.id AND u.day = :day""",
        rows=json.dumps([{"hash": secret_hash} for secret_hash in hashes]),
        day=day,
    )


async def _write_use(tx: Tx, accounts: Sequence[_Account], day: str) -> None:
    if not accounts:
        return
    columns = tx.table(key_id="TEXT", free="BIGINT", judge="BIGINT", consensus="BIGINT")
    await tx.run(
        f"""INSERT INTO daily_use (key_id, day, free, judge, consensus)
        SELECT key_id, :day, free, judge, consensus FROM {columns} r WHERE true
        ON CONFLICT (key_id, day) DO UPDATE SET
            free = daily_use.free + excluded.free,
            judge = daily_use.judge + excluded.judge,
            consensus = daily_use.consensus + excluded.consensus""",
        rows=json.dumps(
            [{"key_id": a.key_id, "free": a.free, "judge": a.judge, "consensus": a.consensus} for a in accounts]
        ),
        day=day,
    )
