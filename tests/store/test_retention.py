"""Kept content: pages without doubles or gaps, a day of life, and removal that leaves nothing."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from api.store import keys, retention
from api.store.database import Database, Tx
from api.store.open import open_database
from api.store.retention import Position, Retained
from tests.databases import Run
from tests.store.ledger import DAY_S, NOW, a_row, another_node, hash_of, open_key, rows_in
from tests.stored import files_with, tables_with

MARKER = "orchid-lighthouse-2093"


async def keep(database: Database, *rows: Retained) -> None:
    await database.write(retention.add_all, rows)


async def page(database: Database, limit: int = 100, after: Position | None = None, now: int = NOW) -> list[Retained]:
    return await database.read(retention.page, "key_one", now, limit, after)


def ids(rows: Sequence[Retained]) -> list[str]:
    return [row.id for row in rows]


def end(rows: Sequence[Retained]) -> Position:
    return rows[-1].created_at, rows[-1].id


def test_rows_come_back_as_they_were_newest_first(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        text = "it's “quoted”, ü 漢 😀 :name $1 {}"
        rows = [a_row("ret_1", created_at=NOW - 2), a_row("ret_3", created_at=NOW - 1, text=text), a_row("ret_2")]
        await keep(database, *rows)
        assert await page(database) == [rows[2], rows[1], rows[0]]
        assert await database.read(retention.find, "key_one", "ret_3", NOW) == rows[1]

    run(scenario())


def test_pages_of_every_size_show_each_row_once(database: Database, run: Run) -> None:
    """Many rows of one second among them: there the id decides."""

    async def scenario() -> None:
        await open_key(database)
        rows = [a_row(f"ret_{n * 7 % 23:02}", created_at=NOW - n // 9) for n in range(23)]
        await keep(database, *rows)
        for limit in (1, 2, 5, 9, 22, 23, 24):
            seen: list[str] = []
            last: Position | None = None
            while found := await page(database, limit, last):
                assert len(found) <= limit
                assert len(seen) < len(rows), "rows come again"
                seen += ids(found)
                last = end(found)
            assert seen == ids(sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)), limit

    run(scenario())


def test_rows_added_and_removed_between_pages_shift_nothing(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await keep(database, *[a_row(f"ret_{n}", created_at=NOW + n) for n in range(9)])
        first = await page(database, 4)
        await keep(database, *[a_row(f"ret_new_{n}", created_at=NOW + 9 + n) for n in range(5)])
        for gone in ("ret_5", "ret_4", "ret_8"):
            assert await database.write(retention.delete, "key_one", gone, NOW)
        second = await page(database, 4, end(first))
        third = await page(database, 4, end(second))
        assert ids(first + second + third) == [f"ret_{n}" for n in (8, 7, 6, 5, 3, 2, 1, 0)]

    run(scenario())


@pytest.mark.promise("retention.expiry")
def test_a_row_is_gone_after_its_day_before_any_job_ran(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await keep(database, a_row("ret_1"), a_row("ret_2", created_at=NOW + 1))
        last, over = NOW + DAY_S - 1, NOW + DAY_S
        assert ids(await page(database, now=last)) == ["ret_2", "ret_1"]
        assert ids(await page(database, now=over)) == ["ret_2"]
        assert await database.read(retention.find, "key_one", "ret_1", last) is not None
        assert await database.read(retention.find, "key_one", "ret_1", over) is None
        assert not await database.write(retention.delete, "key_one", "ret_1", over)
        assert await rows_in(database, "retained") == 2, "only the job removes it"

    run(scenario())


def test_the_job_removes_what_has_expired_and_nothing_else(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await keep(database, *[a_row(f"ret_{n}", created_at=NOW + n) for n in range(5)])
        assert await database.write(retention.expire, NOW + DAY_S - 1) == 0
        assert await database.write(retention.expire, NOW + DAY_S + 1) == 2
        assert ids(await page(database)) == ["ret_4", "ret_3", "ret_2"]
        assert await database.write(retention.expire, NOW + 10 * DAY_S) == 3
        assert await rows_in(database, "retained") == 0

    run(scenario())


def test_a_clock_set_back_removes_nothing_early(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await keep(database, a_row("ret_1"))
        assert await database.write(retention.expire, NOW - 3_600) == 0
        assert ids(await page(database, now=NOW - 3_600)) == ["ret_1"]

    run(scenario())


def test_nobody_reaches_another_keys_row(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, "one")
        await open_key(database, "two")
        await keep(database, a_row("ret_1"), a_row("ret_2", "two"))
        assert ids(await page(database)) == ["ret_1"]
        assert await database.read(retention.find, "key_one", "ret_2", NOW) is None
        assert not await database.write(retention.delete, "key_one", "ret_2", NOW)
        assert await database.write(retention.delete, "key_two", "ret_2", NOW)
        assert not await database.write(retention.delete, "key_two", "ret_2", NOW)
        assert ids(await page(database)) == ["ret_1"]

    run(scenario())


def test_rows_go_with_their_key_and_outlive_a_restart_without_it(
    database: Database, database_url: str, run: Run
) -> None:
    async def scenario() -> None:
        await open_key(database, "one")
        await open_key(database, "two")
        await keep(database, a_row("ret_1", text=MARKER), a_row("ret_2", "two"))
        assert await tables_with(database, MARKER) == ["retained"]
        await database.write(keys.delete, hash_of("one"))
        await database.scrub()
        assert await tables_with(database, MARKER) == []
        await database.close()
        async with another_node(database_url) as reopened:
            assert await rows_in(reopened, "retained") == 1

    run(scenario())


async def remove(tx: Tx) -> None:
    assert await retention.delete(tx, "key_one", "ret_1", NOW)


async def expire(tx: Tx) -> None:
    assert await retention.expire(tx, NOW + DAY_S) == 1


async def delete_key(tx: Tx) -> None:
    assert await keys.delete(tx, hash_of("one")) == "key_one"


@pytest.mark.parametrize("size", [1, 200_000], ids=["small", "over many pages"])
@pytest.mark.parametrize("ending", [remove, expire, delete_key])
def test_sqlite_keeps_nothing_of_a_removed_row_in_its_files(
    tmp_path: Path, run: Run, ending: Callable[[Tx], Awaitable[None]], size: int
) -> None:
    async def scenario() -> None:
        database = await open_database(f"sqlite:///{tmp_path}/screwtape.db")
        await open_key(database)
        await keep(database, a_row("ret_1", text=MARKER * size), a_row("ret_2", created_at=NOW + 1, text="stays"))
        assert files_with(tmp_path, MARKER) != []
        await database.write(ending)
        await database.scrub()
        assert files_with(tmp_path, MARKER) == []
        await database.close()
        assert files_with(tmp_path, MARKER) == []

    run(scenario())
