"""Keys and calls for tests of the ledger, no longer than the tests need them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from api.core.times import utc_day
from api.store import charges, credits, keys
from api.store.charges import AnsweredCall, Charge
from api.store.credits import Entry
from api.store.database import Database, Row, Tx
from api.store.drift import Observation
from api.store.group_commit import GroupCommit
from api.store.idempotency import Mark
from api.store.keys import Allowance, StoredKey
from api.store.open import open_database
from api.store.reservations import Wanted
from api.store.retention import Retained
from tests.live import NOON

NOW = int(NOON)
DAY = utc_day(NOW)
DAY_S = 86_400
FREE = 3
"""Free calls a day in these tests: few, so that a test reaches the end of them."""

PASSED = Observation("", "", "judge", verdict="pass", score=0.9)
AGREED = Observation("", "", "consensus", risk="medium")


def hash_of(name: str) -> str:
    """The hash of the key `name`'s secret."""
    return f"hash of {name}"


def a_key(name: str = "one", created_at: int = NOW, email: str | None = None) -> StoredKey:
    """A key to be stored, with the id key_NAME."""
    return StoredKey(f"key_{name}", email or f"{name}@example.com", name, f"scr_{name}", hash_of(name), created_at)


def an_entry(calls: int, reference: str = "first", name: str = "one", created_at: int = NOW) -> Entry:
    """An entry of the key `name`."""
    reason: credits.Reason = "grant" if calls > 0 else "correction"
    return Entry(f"cre_{name}_{reference}", f"key_{name}", created_at, calls, reason, reference, "a note")


def a_call(
    name: str = "one",
    request_id: str = "req_1",
    *,
    observation: Observation = PASSED,
    mark: Mark | None = None,
    retained: Retained | None = None,
    reservation: str | None = None,
) -> AnsweredCall:
    """An answered call of the key `name`."""
    return AnsweredCall(hash_of(name), request_id, observation, mark, retained, reservation)


def a_mark(token: str = "token", body: str = "body", name: str = "one") -> Mark:
    """What an Idempotency-Key of the key `name` comes down to."""
    return Mark(f"key_{name}", token, body)


def a_row(row_id: str = "ret_1", name: str = "one", created_at: int = NOW, text: str = "") -> Retained:
    """A row to be kept for a day."""
    content = f'{{"text": "{text}"}}'
    return Retained(row_id, f"key_{name}", "judge", created_at, created_at + DAY_S, content, content)


def a_reservation(reservation: str = "res_1", name: str = "one", expires_at: int = NOW + 60) -> Wanted:
    """A reservation that the key `name` asks for."""
    return Wanted(reservation, hash_of(name), expires_at)


async def open_key(database: Database, name: str = "one", *, calls: int = 0) -> None:
    """Stores the key `name`, with `calls` credits."""
    assert await database.write(keys.add, a_key(name), 3)
    if calls:
        await database.write(credits.add, an_entry(calls, "opening", name))


async def charge(database: Database, *calls: AnsweredCall, now: int = NOW, free: int = FREE) -> list[Charge]:
    """Charges the calls as one batch."""
    return await database.write(charges.record, calls, now, free)


def committer_of(database: Database, free: int) -> GroupCommit[AnsweredCall, Charge]:
    """One process's committer of calls, all of them at noon."""

    async def commit(calls: Sequence[AnsweredCall]) -> Sequence[Charge]:
        return await database.write(charges.record, calls, NOW, free)

    return GroupCommit(commit)


def grants(charged: Sequence[Charge]) -> list[str]:
    """How each was charged."""
    return [charge.grant for charge in charged]


async def left(database: Database, name: str = "one", now: int = NOW) -> Allowance:
    """What the key has left."""
    found = await database.read(keys.find, hash_of(name), utc_day(now))
    assert found is not None
    return found


async def counted(database: Database, name: str = "one", day: str = DAY) -> tuple[int, int, int, int]:
    """The key's free, credit, judge and consensus counts of the day."""
    row = await database.read(
        _one, "SELECT * FROM daily_use WHERE key_id = :key_id AND day = :day", key_id=f"key_{name}", day=day
    )
    return (row["free"], row["credit"], row["judge"], row["consensus"]) if row else (0, 0, 0, 0)


async def rows_in(database: Database, table: str) -> int:
    """How many rows the table has."""
    row = await database.read(_one, f"SELECT count(*) AS n FROM {table}")
    return int(row["n"]) if row else 0


async def tamper(database: Database, sql: str, **args: Any) -> int:
    """Runs a statement that the product never would."""
    return await database.write(_run, sql, **args)


@asynccontextmanager
async def another_node(database_url: str) -> AsyncIterator[Database]:
    """A second process's access to the same database, as far as the database can tell."""
    database = await open_database(database_url)
    try:
        yield database
    finally:
        await database.close()


async def _one(tx: Tx, sql: str, /, **args: Any) -> Row | None:
    return await tx.one(sql, **args)


async def _run(tx: Tx, sql: str, /, **args: Any) -> int:
    return await tx.run(sql, **args)
