"""The ledger of prepaid calls: entries once, balances that follow from them, and the check that they do."""

import asyncio
from dataclasses import replace

import pytest

from api.store import credits, keys
from api.store.database import Database
from tests.databases import Run
from tests.store.ledger import (
    NOW,
    a_call,
    an_entry,
    another_node,
    charge,
    grants,
    hash_of,
    left,
    open_key,
    rows_in,
    tamper,
)


def test_entries_add_up_to_the_balance(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        balances = [await database.write(credits.add, an_entry(calls, f"r{calls}")) for calls in (10, -3, 5, -20)]
        assert balances == [10, 7, 12, -8]
        entries = await database.read(credits.entries, "key_one")
        assert sorted(entry.calls for entry in entries) == [-20, -3, 5, 10]
        assert (await left(database)).credits == -8
        assert await database.read(credits.faults) == []

    run(scenario())


def test_entries_come_oldest_first_and_as_they_were_given(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        given = [replace(an_entry(n, f"r{n}", created_at=NOW - n), note=f"Grüße № {n} 'x' :now $1") for n in (1, 2, 3)]
        for entry in given:
            await database.write(credits.add, entry)
        assert await database.read(credits.entries, "key_one") == given[::-1]
        assert await database.read(credits.entries, "key_two") == []

    run(scenario())


def test_a_reference_counts_once_for_a_key(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, "one")
        await open_key(database, "two")
        assert await database.write(credits.add, an_entry(10, "order 1")) == 10
        again = replace(an_entry(99, "order 1"), id="cre_other")
        assert await database.write(credits.add, again) == 10
        assert await database.write(credits.add, an_entry(10, "order 1", "two")) == 10
        assert [entry.calls for entry in await database.read(credits.entries, "key_one")] == [10]
        assert await database.read(credits.faults) == []

    run(scenario())


def test_twenty_times_the_same_reference_at_once_count_once(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        async with another_node(database_url) as other:
            entries = [replace(an_entry(10, "order 1"), id=f"cre_{n}") for n in range(20)]
            adding = [(database, other)[n % 2].write(credits.add, entry) for n, entry in enumerate(entries)]
            assert await asyncio.gather(*adding) == [10] * 20
        assert (await left(database)).credits == 10
        assert await rows_in(database, "credit_entries") == 1

    run(scenario())


def test_forty_grants_at_once_all_count(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        async with another_node(database_url) as other:
            adding = [(database, other)[n % 2].write(credits.add, an_entry(n, f"r{n}")) for n in range(1, 41)]
            assert max(balance or 0 for balance in await asyncio.gather(*adding)) == 820
        assert (await left(database)).credits == 820
        assert await database.read(credits.faults) == []

    run(scenario())


def test_nobody_has_no_balance(database: Database, run: Run) -> None:
    async def scenario() -> None:
        assert await database.write(credits.add, an_entry(10)) is None
        assert await rows_in(database, "credit_entries") == 0

    run(scenario())


def test_the_ledger_goes_with_its_key(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=5)
        await open_key(database, "two", calls=6)
        await database.write(keys.delete, hash_of("one"))
        assert await rows_in(database, "credit_entries") == 1
        assert (await left(database, "two")).credits == 6

    run(scenario())


TAMPERED = {
    "a balance too high": ("UPDATE keys SET credits = credits + 1 WHERE id = 'key_one'", 9, 8),
    "a balance too low": ("UPDATE keys SET credits = -1 WHERE id = 'key_one'", -1, 8),
    "an entry removed": ("DELETE FROM credit_entries WHERE key_id = 'key_one'", 8, -2),
    "an entry changed": ("UPDATE credit_entries SET calls = 11 WHERE key_id = 'key_one'", 8, 9),
    "a use forgotten": ("UPDATE daily_use SET credit = 0 WHERE key_id = 'key_one'", 8, 10),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_the_check_finds(database: Database, run: Run, name: str) -> None:
    sql, balance, expected = TAMPERED[name]

    async def scenario() -> None:
        await open_key(database, "one", calls=10)
        await open_key(database, "two", calls=10)
        assert grants(await charge(database, *[a_call(name) for name in ("one", "two")] * 2, free=0)) == ["credit"] * 4
        assert await database.read(credits.faults) == []
        assert await tamper(database, sql) == 1
        faults = [dict(row) for row in await database.read(credits.faults)]
        assert faults == [{"id": "key_one", "credits": balance, "expected": expected}]

    run(scenario())


def test_the_ledger_survives_a_restart(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=5)
        await charge(database, *[a_call()] * 2, free=0)
        await database.close()
        async with another_node(database_url) as reopened:
            assert (await left(reopened)).credits == 3
            assert await reopened.write(credits.add, an_entry(9, "opening")) == 3, "the reference still stands"
            assert grants(await charge(reopened, *[a_call()] * 4, free=0)) == ["credit"] * 3 + ["refused"]
            assert await reopened.read(credits.faults) == []

    run(scenario())


def test_large_balances_stay_exact(database: Database, run: Run) -> None:
    """Beyond 32 bits, where PostgreSQL's INTEGER would end, and beyond what a double holds exactly."""

    async def scenario() -> None:
        await open_key(database)
        for n in range(100):
            await database.write(credits.add, an_entry(2**53 // 50 + 1, f"r{n}"))
        total = 100 * (2**53 // 50 + 1)
        assert grants(await charge(database, a_call(), free=0)) == ["credit"]
        assert (await left(database)).credits == total - 1
        assert await database.read(credits.faults) == []

    run(scenario())
