"""Rows of keys: the cap of an email, what a key has left, one winner of two rotations, and pages for operators."""

import asyncio
from dataclasses import replace

from api.store import keys
from api.store.database import Database
from api.store.keys import DayOfUse, Filter, Position, StoredKey
from tests.databases import Run
from tests.store.ledger import (
    AGREED,
    DAY_S,
    NOW,
    a_call,
    a_key,
    a_mark,
    a_row,
    another_node,
    charge,
    hash_of,
    left,
    open_key,
    rows_in,
)
from tests.stored import tables_with

EVERYTHING = Filter()


def in_order(rows: list[tuple[StoredKey, int]]) -> list[str]:
    return [key.name for key, _ in rows]


def test_an_email_has_at_most_as_many_keys_as_the_cap(database: Database, run: Run) -> None:
    async def scenario() -> None:
        added = [await database.write(keys.add, a_key(f"k{n}", email="dev@example.com"), 2) for n in range(3)]
        assert added == [True, True, False]
        assert await database.write(keys.add, a_key("other"), 2)
        await database.write(keys.delete, hash_of("k0"))
        assert await database.write(keys.add, a_key("k3", email="dev@example.com"), 2)
        assert await database.read(keys.count) == 3

    run(scenario())


def test_a_key_is_found_by_the_hash_of_its_secret_alone(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=7)
        found = await left(database)
        assert (found.key, found.free_used, found.credits, found.retains) == (a_key(), 0, 7, True)
        for other in ("hash of two", "HASH OF ONE", "key_one", "", "%"):
            assert await database.read(keys.find, other, "2026-11-30") is None

    run(scenario())


def test_use_is_listed_newest_day_first_from_the_asked_day_on(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, "one")
        await open_key(database, "two")
        for days in range(4):
            await charge(database, *[a_call()] * (days + 1), now=NOW + days * DAY_S, free=9)
        await charge(database, a_call("two", observation=AGREED), now=NOW + 3 * DAY_S)
        assert await database.read(keys.usage, "key_one", "2026-12-01") == [
            DayOfUse("2026-12-03", 4, 0),
            DayOfUse("2026-12-02", 3, 0),
            DayOfUse("2026-12-01", 2, 0),
        ]
        assert await database.read(keys.total_usage, "2026-12-02") == [
            DayOfUse("2026-12-03", 4, 1),
            DayOfUse("2026-12-02", 3, 0),
        ]
        assert await database.read(keys.usage, "key_nobody", "2000-01-01") == []

    run(scenario())


def test_rotation_keeps_everything_but_the_secret(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=5)
        await charge(database, a_call())
        rotated = await database.write(keys.rotate, hash_of("one"), hash_of("newer"), "scr_newer")
        assert rotated == replace(a_key(), secret_hash=hash_of("newer"), prefix="scr_newer")
        assert await database.read(keys.find, hash_of("one"), "2026-11-30") is None
        found = await left(database, "newer")
        assert (found.key.id, found.free_used, found.credits) == ("key_one", 1, 5)

    run(scenario())


def test_of_two_rotations_at_once_one_wins(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        async with another_node(database_url) as other:
            rotating = [
                (database, other)[n % 2].write(keys.rotate, hash_of("one"), hash_of(f"r{n}"), "scr_") for n in range(10)
            ]
            rotated = [key.secret_hash for key in await asyncio.gather(*rotating) if key is not None]
        assert len(rotated) == 1
        assert await database.read(keys.find, rotated[0], "2026-11-30") is not None

    run(scenario())


def test_a_key_is_deleted_once_with_all_that_hangs_on_it(database: Database, run: Run) -> None:
    async def scenario() -> None:
        for name in ("one", "two", "three"):
            await open_key(database, name, calls=2)
            await charge(database, a_call(name, mark=a_mark(name=name), retained=a_row(f"ret_{name}", name)))
        assert await database.write(keys.delete, hash_of("one")) == "key_one"
        assert await database.write(keys.delete, hash_of("one")) is None
        assert await database.write(keys.revoke, "key_two") == "key_two"
        assert await database.write(keys.revoke, "key_two") is None
        for name in ("one", "two"):
            assert await tables_with(database, f"key_{name}") == []
            assert await tables_with(database, f"{name}@example.com") == []
        for table in ("keys", "daily_use", "drift_hours", "retained", "idempotency", "credit_entries"):
            assert await rows_in(database, table) == 1, table

    run(scenario())


def test_deleting_and_using_at_once_leaves_no_row(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        async with another_node(database_url) as other:
            calls = [charge((database, other)[n % 2], a_call(mark=a_mark(f"t{n}"))) for n in range(20)]
            _, deleted = await asyncio.gather(asyncio.gather(*calls), other.write(keys.delete, hash_of("one")))
        assert deleted == "key_one"
        assert await tables_with(database, "key_one") == []

    run(scenario())


async def pages(database: Database, wanted: Filter, limit: int) -> list[list[str]]:
    shown: list[list[str]] = []
    last: Position | None = None
    while rows := await database.read(keys.page, wanted, limit, last):
        shown.append(in_order(rows))
        assert len(shown) < 20, "rows come again"
        last = (rows[-1][0].created_at, rows[-1][0].id)
    return shown


def test_pages_show_each_key_once_newest_first(database: Database, run: Run) -> None:
    async def scenario() -> None:
        for n in (3, 1, 4, 0, 2):
            await database.write(keys.add, a_key(f"k{n}", created_at=NOW + n // 2), 3)
        expected = ["k4", "k3", "k2", "k1", "k0"]
        for limit in (1, 2, 3, 5, 6):
            shown = await pages(database, EVERYTHING, limit)
            assert [name for page in shown for name in page] == expected, limit
            assert all(len(page) == limit for page in shown[:-1])

    run(scenario())


def test_keys_are_found_by_email_prefix_and_id(database: Database, run: Run) -> None:
    async def scenario() -> None:
        for n in range(3):
            await database.write(keys.add, a_key(f"k{n}", created_at=NOW + n, email="dev@example.com"), 3)
        await open_key(database, "other", calls=9)
        assert await pages(database, Filter(email="dev@example.com"), 2) == [["k2", "k1"], ["k0"]]
        assert await pages(database, Filter(prefix="scr_k1"), 9) == [["k1"]]
        assert await pages(database, Filter(id="key_other"), 9) == [["other"]]
        assert await pages(database, Filter(email="dev@example.com", id="key_k0"), 9) == [["k0"]]
        for nobody in (Filter(email="dev"), Filter(prefix="scr_"), Filter(id="key_k0", prefix="scr_k1"), Filter(id="")):
            assert await pages(database, nobody, 9) == []
        assert await database.read(keys.page, Filter(id="key_other"), 1, None) == [(a_key("other"), 9)]

    run(scenario())
