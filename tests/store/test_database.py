"""What every driver promises (api/store/database.py), on real databases."""

import asyncio
import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from api.store import keys, postgres, signups, sqlite
from api.store.database import Database, Row, StorageUnavailable, Tx
from api.store.keys import StoredKey
from api.store.open import open_database
from api.store.sqlite import SqliteDatabase
from tests.databases import PostgresServer, Run, postgres_server

MARKER = "lion-haystack-4711"


def a_key(name: str, email: str = "dev@example.com") -> StoredKey:
    return StoredKey(f"key_{name}", email, name, "scr_0000", f"hash of {name}", 1_000)


async def names(tx: Tx) -> list[str]:
    return [row["name"] for row in await tx.all("SELECT name FROM keys ORDER BY name")]


async def count(tx: Tx) -> int:
    return len(await names(tx))


async def row(tx: Tx, sql: str) -> Row | None:
    return await tx.one(sql)


async def statement(tx: Tx, sql: str, /, **args: Any) -> int:
    return await tx.run(sql, **args)


def test_a_write_is_there_after_it_returns(database: Database, run: Run) -> None:
    async def scenario() -> None:
        assert await database.write(keys.add, a_key("one"), 3)
        assert await database.read(names) == ["one"]

    run(scenario())


def test_what_fails_leaves_nothing(database: Database, run: Run) -> None:
    async def fail(tx: Tx) -> None:
        await keys.add(tx, a_key("one"), 3)
        raise KeyError("a mistake of the function")

    async def scenario() -> None:
        with pytest.raises(KeyError):
            await database.write(fail)
        assert await database.read(count) == 0
        assert await database.write(keys.add, a_key("two"), 3), "the connection can be used again"

    run(scenario())


def test_a_read_writes_nothing(database: Database, run: Run) -> None:
    async def scenario() -> None:
        with pytest.raises(StorageUnavailable):
            await database.read(keys.add, a_key("one"), 3)
        assert await database.read(count) == 0

    run(scenario())


def test_a_read_sees_one_state(database: Database, run: Run) -> None:
    async def scenario() -> None:
        began, written = asyncio.Event(), asyncio.Event()

        async def look_twice(tx: Tx) -> tuple[int, int]:
            first = await count(tx)
            began.set()
            await written.wait()
            return first, await count(tx)

        looking = asyncio.create_task(database.read(look_twice))
        await began.wait()
        await database.write(keys.add, a_key("one"), 3)
        written.set()
        assert await looking == (0, 0)
        assert await database.read(count) == 1

    run(scenario())


def test_forty_at_once_keep_the_cap(database: Database, run: Run) -> None:
    """Count, then insert: only serialisable transactions grant exactly three."""

    async def scenario() -> None:
        added = await asyncio.gather(*[database.write(keys.add, a_key(f"k{n}"), 3) for n in range(40)])
        assert sum(added) == 3
        assert await database.read(count) == 3

    run(scenario())


def test_a_hundred_sign_ups_at_once_keep_the_limit(database: Database, run: Run) -> None:
    async def scenario() -> None:
        waits = await asyncio.gather(*[database.write(signups.take, "address", 5_000, 10) for _ in range(100)])
        assert waits.count(None) == 10
        assert {wait for wait in waits if wait is not None} == {3_600}
        assert await database.write(signups.prune, 5_000 + 3_600) == 1

    run(scenario())


def test_a_transaction_outlives_its_cancelled_caller(database: Database, run: Run) -> None:
    async def scenario() -> None:
        inside, go_on = asyncio.Event(), asyncio.Event()

        async def slow(tx: Tx) -> None:
            await keys.add(tx, a_key("one"), 3)
            inside.set()
            await go_on.wait()

        caller = asyncio.create_task(database.write(slow))
        await inside.wait()
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        go_on.set()
        # The next one would wait for ever, or fail, if the first were still open.
        assert await database.write(keys.add, a_key("two"), 3)
        while await database.read(count) < 2:
            await asyncio.sleep(0)
        assert await database.read(names) == ["one", "two"]

    run(scenario())


def test_many_cancelled_callers_leave_no_transaction_open(database: Database, run: Run) -> None:
    async def scenario() -> None:
        callers = [asyncio.create_task(database.write(keys.add, a_key(f"k{n}", f"{n}@x.com"), 3)) for n in range(30)]
        for turns, caller in enumerate(callers):
            for _ in range(turns % 7):
                await asyncio.sleep(0)
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
        await database.write(keys.delete, "hash of nobody")
        readers = [asyncio.create_task(database.read(count)) for _ in range(30)]
        await asyncio.sleep(0)
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        before = await database.read(count)
        assert await database.write(keys.add, a_key("last", "last@x.com"), 3)
        assert await database.read(count) >= before + 1

    run(scenario())


def test_close_waits_for_transactions_and_ends_the_rest(database_url: str, run: Run) -> None:
    async def scenario() -> None:
        database = await open_database(database_url)
        pending = [asyncio.create_task(database.write(keys.add, a_key(f"k{n}"), 30)) for n in range(20)]
        await asyncio.sleep(0)
        await database.close()
        assert all(await asyncio.gather(*pending))
        with pytest.raises(StorageUnavailable):
            await database.read(count)
        again = await open_database(database_url)
        assert await again.read(count) == 20
        await again.close()

    run(scenario())


def test_a_table_of_rows(database: Database, run: Run) -> None:
    rows = [
        {"word": "plain", "number": 1},
        {"word": 'it\'s "quoted" \\ ü 漢 😀 :name $1', "number": 2**40},
        {"word": None, "number": -(2**62)},
        {"word": "", "number": None},
    ]

    async def read_back(tx: Tx, rows: Any) -> list[dict[str, Any]]:
        table = tx.table(word="TEXT", number="BIGINT")
        sql = f"SELECT word, number FROM {table} r ORDER BY number NULLS LAST"
        return [dict(row) for row in await tx.all(sql, rows=json.dumps(rows))]

    async def scenario() -> None:
        assert await database.read(read_back, rows) == [rows[2], rows[0], rows[1], rows[3]]
        assert await database.read(read_back, []) == []

    run(scenario())


def test_rows_are_inserted_each_or_added_to_what_is_there(database: Database, run: Run) -> None:
    rows = [
        {"word": 'it\'s "quoted" \\ ü 漢 😀 :name $1', "number": 2**40, "unused": 1},
        {"word": "", "number": -(2**62), "unused": 2},
    ]
    columns = {"word": "TEXT", "number": "BIGINT"}

    async def scenario_in(tx: Tx) -> Any:
        await tx.run("CREATE TABLE sums (word TEXT, day TEXT, number BIGINT, PRIMARY KEY (word, day))")
        then = "ON CONFLICT (word, day) DO UPDATE SET number = sums.number + excluded.number"
        await tx.insert("sums", columns, rows, then, day="today")
        await tx.insert("sums", columns, [rows[0]], then, day="today")
        await tx.insert("sums", columns, [rows[0]], day="tomorrow")
        await tx.insert("sums", columns, [], then, day="today")
        return await tx.all("SELECT word, day, number FROM sums ORDER BY day, word")

    assert run(database.write(scenario_in)) == [
        {"word": "", "day": "today", "number": -(2**62)},
        {"word": rows[0]["word"], "day": "today", "number": 2**41},
        {"word": rows[0]["word"], "day": "tomorrow", "number": 2**40},
    ]


def test_values_of_every_kind(database: Database, run: Run) -> None:
    async def scenario_in(tx: Tx) -> None:
        await tx.run("CREATE TABLE kinds (id TEXT, n BIGINT, x DOUBLE PRECISION, t TEXT)")
        for name, n in (("a", 1), ("b", 2**53 + 1), ("c", True)):
            assert await tx.run("INSERT INTO kinds VALUES (:name, :n, :x, :t)", name=name, n=n, x=0.5, t=None) == 1
        sums = await tx.one("SELECT sum(n) AS n, avg(x) AS x, count(t) AS texts, sum(n) AS again FROM kinds")
        assert sums == {"n": 2**53 + 3, "x": 0.5, "texts": 0, "again": 2**53 + 3}
        assert (type(sums["n"]), type(sums["x"])) == (int, float)
        assert await tx.all("SELECT id FROM kinds WHERE t IS NULL AND n = :now - :then", now=9, then=8) == [
            {"id": "a"},
            {"id": "c"},
        ]
        assert await tx.one("SELECT id FROM kinds WHERE id = :same OR :same = id", same="b") == {"id": "b"}
        assert await tx.all("SELECT id FROM kinds WHERE :nothing IS NULL AND id = 'a'", nothing=None) == [{"id": "a"}]
        assert await tx.run("UPDATE kinds SET x = :n", n=3) == 3
        assert await tx.run("DELETE FROM kinds WHERE id = :id", id="nobody") == 0

    run(database.write(scenario_in))


def test_what_hangs_on_a_key_goes_with_it(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await database.write(keys.add, a_key("one"), 3)
        use = "INSERT INTO daily_use (key_id, day) VALUES (:key_id, :day)"
        await database.write(statement, use, key_id="key_one", day="2026-11-30")
        assert await database.write(keys.delete, "hash of one") == "key_one"
        assert await database.write(statement, "DELETE FROM daily_use") == 0

    run(scenario())


def test_a_mistake_in_our_sql_does_not_look_like_an_outage(database: Database, run: Run) -> None:
    async def scenario() -> None:
        with pytest.raises((sqlite3.OperationalError, asyncpg.UndefinedTableError)):
            await database.write(statement, "DELETE FROM no_such_table")
        with pytest.raises((sqlite3.IntegrityError, asyncpg.NotNullViolationError)):
            await database.write(statement, "INSERT INTO signups (address) VALUES ('x')")
        assert await database.write(keys.add, a_key("one"), 3)

    run(scenario())


# SQLite


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "screwtape.db"


@pytest.fixture
def on_sqlite(sqlite_path: Path, run: Run) -> Any:
    opened = run(open_database(f"sqlite:///{sqlite_path}"))
    yield opened
    run(opened.close())


def test_sqlite_locked_by_another_process(
    on_sqlite: SqliteDatabase, sqlite_path: Path, run: Run, tmp_path: Path
) -> None:
    async def scenario() -> None:
        await on_sqlite.write(statement, "PRAGMA busy_timeout=50")
        other = sqlite3.connect(sqlite_path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        try:
            with pytest.raises(StorageUnavailable, match="locked"):
                await on_sqlite.write(keys.add, a_key("one"), 3)
            assert await on_sqlite.read(count) == 0, "readers go on"
        finally:
            other.close()
        assert await on_sqlite.write(keys.add, a_key("one"), 3)

    run(scenario())


def test_sqlite_opens_a_new_file_that_another_process_is_opening(
    sqlite_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """SQLite refuses the change to WAL at once when another process makes it too. A busy timeout of 0 has the same
    effect with a lock that stays as long as the test wants."""
    monkeypatch.setattr(sqlite, "_PRAGMAS", ("PRAGMA busy_timeout=0",))
    caplog.set_level(logging.DEBUG, "aiosqlite")

    async def scenario() -> None:
        sqlite_path.parent.mkdir()
        other = sqlite3.connect(sqlite_path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        opening = asyncio.create_task(open_database(f"sqlite:///{sqlite_path}"))
        while caplog.text.count("database is locked") < 2:
            await asyncio.sleep(0)
        other.close()
        database = await opening
        assert await database.write(keys.add, a_key("one"), 3)
        await database.close()

    run(scenario())


def test_sqlite_transactions_do_not_queue_for_ever(
    on_sqlite: SqliteDatabase, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "QUEUE_S", 0.05)

    async def scenario() -> None:
        inside, go_on = asyncio.Event(), asyncio.Event()

        async def slow(tx: Tx) -> bool:
            inside.set()
            await go_on.wait()
            return await keys.add(tx, a_key("one"), 3)

        first = asyncio.create_task(on_sqlite.write(slow))
        await inside.wait()
        with pytest.raises(StorageUnavailable):
            await on_sqlite.write(keys.add, a_key("two"), 3)
        go_on.set()
        assert await first
        assert await on_sqlite.read(names) == ["one"]

    run(scenario())


def test_sqlite_full(on_sqlite: SqliteDatabase, run: Run) -> None:
    async def scenario() -> None:
        await on_sqlite.write(statement, "PRAGMA max_page_count=1")
        fill = "INSERT INTO signups SELECT value || key, 1, 1 FROM json_each(:many)"
        many = json.dumps(["x" * 100] * 5_000)
        with pytest.raises(StorageUnavailable, match="full"):
            await on_sqlite.write(statement, fill, many=many)
        assert await on_sqlite.read(count) == 0
        await on_sqlite.write(statement, "PRAGMA max_page_count=1000000")
        assert await on_sqlite.write(keys.add, a_key("one"), 3)

    run(scenario())


def test_sqlite_read_only(on_sqlite: SqliteDatabase, run: Run) -> None:
    async def scenario() -> None:
        await on_sqlite.write(statement, "PRAGMA query_only=ON")
        with pytest.raises(StorageUnavailable, match="readonly"):
            await on_sqlite.write(keys.add, a_key("one"), 3)
        assert await on_sqlite.read(count) == 0

    run(scenario())


def test_sqlite_no_database(tmp_path: Path, run: Run) -> None:
    garbage = tmp_path / "garbage.db"
    garbage.write_bytes(b"this is no database" * 100)
    (tmp_path / "a file").touch()
    for path in (garbage, tmp_path, tmp_path / "a file" / "screwtape.db"):
        with pytest.raises(StorageUnavailable, match="cannot open"):
            run(open_database(f"sqlite:///{path}"))


def files_with(path: Path, marker: str) -> list[str]:
    return [file.name for file in path.parent.iterdir() if marker.encode() in file.read_bytes()]


def test_sqlite_scrub_leaves_nothing(on_sqlite: SqliteDatabase, sqlite_path: Path, run: Run) -> None:
    async def scenario() -> None:
        for n in range(200):
            key = a_key(f"{MARKER}-{n}", f"{MARKER}-{n}@example.com")
            await on_sqlite.write(keys.add, key, 3)
        assert files_with(sqlite_path, MARKER), "the marker can be found before"
        for n in range(200):
            await on_sqlite.write(keys.delete, f"hash of {MARKER}-{n}")
        await on_sqlite.scrub()
        assert files_with(sqlite_path, MARKER) == []

    run(scenario())


def test_sqlite_scrub_says_when_it_could_not(on_sqlite: SqliteDatabase, sqlite_path: Path, run: Run) -> None:
    async def scenario() -> None:
        await on_sqlite.write(statement, "PRAGMA busy_timeout=50")
        await on_sqlite.write(keys.add, a_key(MARKER), 3)
        reader = sqlite3.connect(sqlite_path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM keys").fetchall()
        await on_sqlite.write(keys.delete, f"hash of {MARKER}")
        with pytest.raises(StorageUnavailable, match="in use"):
            await on_sqlite.scrub()
        reader.close()
        await on_sqlite.scrub()
        assert files_with(sqlite_path, MARKER) == []

    run(scenario())


# PostgreSQL


@pytest.fixture
def on_postgres(postgres_url: str, run: Run) -> Any:
    opened = run(open_database(postgres_url))
    yield opened
    run(opened.close())


def test_postgres_conflicts_are_run_again(on_postgres: Database, run: Run) -> None:
    async def scenario() -> None:
        await on_postgres.write(signups.take, "address", 1, 100)
        both, attempts = asyncio.Barrier(2), [0, 0]

        async def add_one(tx: Tx, who: int) -> None:
            attempts[who] += 1
            found = await row(tx, "SELECT count FROM signups WHERE address = 'address'")
            assert found is not None
            if attempts[who] == 1:
                # Both have read before either writes: without a conflict one of the two would be lost.
                await both.wait()
            await tx.run("UPDATE signups SET count = :n WHERE address = 'address'", n=found["count"] + 1)

        await asyncio.gather(on_postgres.write(add_one, 0), on_postgres.write(add_one, 1))
        assert sorted(attempts) == [1, 2]
        assert await on_postgres.read(row, "SELECT count FROM signups") == {"count": 3}

    run(scenario())


def test_postgres_deadlocks_are_run_again(on_postgres: Database, run: Run) -> None:
    async def scenario() -> None:
        for address in ("a", "b"):
            await on_postgres.write(signups.take, address, 1, 100)
        both, attempts = asyncio.Barrier(2), [0, 0]
        touch = "UPDATE signups SET count = count + 1 WHERE address = :address"

        async def cross(tx: Tx, who: int) -> None:
            attempts[who] += 1
            await tx.run(touch, address="ab"[who])
            if attempts[who] == 1:
                await both.wait()
            await tx.run(touch, address="ba"[who])

        await asyncio.gather(on_postgres.write(cross, 0), on_postgres.write(cross, 1))
        assert await on_postgres.read(row, "SELECT sum(count) AS n FROM signups WHERE count = 3") == {"n": 6}
        assert max(attempts) > 1

    run(scenario())


def test_postgres_rivals_take_turns_after_a_conflict(
    on_postgres: Database, postgres_url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "TURNS_S", 1_000)
    order: list[str] = []

    async def scenario() -> None:
        other = await open_database(postgres_url)
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def conflict_once(tx: Tx, name: str) -> None:
            order.append(f"{name} begins")
            if order.count(f"{name} begins") == 1:
                raise asyncpg.SerializationError("made up")
            if name == "first":
                begun.set()
                await go_on.wait()
            order.append(f"{name} ends")

        async def let_it_end(tx: Tx) -> None:
            order.append("a process without conflicts does not wait")
            go_on.set()

        first = asyncio.create_task(on_postgres.write(conflict_once, "first"))
        await begun.wait()
        second = asyncio.create_task(other.write(conflict_once, "second"))
        third = await open_database(postgres_url)
        waits = """SELECT 1 AS waits FROM pg_locks JOIN pg_database d ON d.oid = database
            WHERE NOT granted AND datname = current_database()"""
        while not await third.read(row, waits):
            pass
        await third.write(let_it_end)
        await asyncio.gather(first, second)
        await other.close()
        await third.close()

    run(scenario())
    assert order == [
        "first begins",
        "first begins",
        "second begins",
        "a process without conflicts does not wait",
        "first ends",
        "second begins",
        "second ends",
    ]


def test_postgres_conflicts_without_end(on_postgres: Database, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "RETRY_S", 0)

    async def conflict(tx: Tx) -> None:
        raise asyncpg.SerializationError("as ever")

    with pytest.raises(StorageUnavailable, match="conflicts"):
        run(on_postgres.write(conflict))


def test_postgres_statements_end_in_time(on_postgres: Database, run: Run) -> None:
    async def sleep(tx: Tx) -> None:
        await tx.run("SET LOCAL statement_timeout = 50")
        await tx.run("SELECT pg_sleep(60)")

    async def scenario() -> None:
        assert await on_postgres.read(row, "SHOW statement_timeout") == {"statement_timeout": "5s"}
        with pytest.raises(StorageUnavailable, match="timeout"):
            await on_postgres.write(sleep)
        assert await on_postgres.read(row, "SHOW statement_timeout") == {"statement_timeout": "5s"}

    run(scenario())


def test_postgres_connections_are_bounded(on_postgres: Database, run: Run) -> None:
    async def mine(tx: Tx) -> int:
        found = await row(tx, "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()")
        assert found is not None
        return int(found["n"])

    async def scenario() -> None:
        seen = await asyncio.gather(*[on_postgres.read(mine) for _ in range(100)])
        assert 1 < max(seen) <= postgres.POOL

    run(scenario())


def test_postgres_waits_for_a_connection_in_bounds(
    on_postgres: Database, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "ACQUIRE_S", 0.05)

    async def scenario() -> None:
        go_on = asyncio.Event()

        async def hold(tx: Tx) -> None:
            await go_on.wait()

        holders = [asyncio.create_task(on_postgres.read(hold)) for _ in range(postgres.POOL + 1)]
        done, _ = await asyncio.wait(holders, return_when=asyncio.FIRST_COMPLETED)
        assert [type(holder.exception()) for holder in done] == [StorageUnavailable]
        go_on.set()
        await asyncio.wait(holders)
        assert await on_postgres.read(count) == 0

    run(scenario())


def test_postgres_read_only(on_postgres: Database, postgres_url: str, run: Run) -> None:
    async def scenario() -> None:
        name = postgres_url.split("/")[3].partition("?")[0]
        await on_postgres.write(statement, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        with pytest.raises(StorageUnavailable, match="read-only"):
            await open_database(postgres_url)
        await on_postgres.write(statement, f"ALTER DATABASE {name} RESET default_transaction_read_only")
        again = await open_database(postgres_url)
        assert await again.write(keys.add, a_key("one"), 3)
        await again.close()

    run(scenario())


def test_postgres_not_there(run: Run, tmp_path: Path, postgres_url: str) -> None:
    for url in (
        f"postgresql://nobody@/nothing?host={tmp_path}",
        "postgresql://nobody@127.0.0.1:1/nothing",
        postgres_url.replace("/test_", "/no_such_database_"),
    ):
        with pytest.raises(StorageUnavailable):
            run(open_database(url))


def test_postgres_stopped_and_started(run: Run) -> None:
    async def scenario(server: PostgresServer) -> None:
        database = await open_database(server.dsn)
        assert await database.write(keys.add, a_key("one"), 9)
        for crash in (False, True):
            inside, stopped = asyncio.Event(), asyncio.Event()

            async def caught(tx: Tx, inside: asyncio.Event = inside, stopped: asyncio.Event = stopped) -> None:
                await keys.add(tx, a_key("never"), 9)
                inside.set()
                await stopped.wait()
                await keys.add(tx, a_key("nor this"), 9)

            in_flight = asyncio.create_task(database.write(caught))
            await inside.wait()
            await asyncio.to_thread(server.stop, crash=crash)
            stopped.set()
            with pytest.raises(StorageUnavailable):
                await in_flight
            tried = [database.write(keys.add, a_key("down"), 9) for _ in range(20)]
            results = await asyncio.gather(*tried, database.read(count), return_exceptions=True)
            assert {type(result) for result in results} == {StorageUnavailable}
            await asyncio.to_thread(server.start)
            assert await database.read(names) == ["one"], "a stopped server took nothing and lost nothing"
            assert await database.write(keys.add, a_key("two"), 9)
            assert await database.write(keys.delete, "hash of two") == "key_two"
        await asyncio.to_thread(server.stop)
        await asyncio.wait_for(database.close(), 30)

    with postgres_server() as server:
        run(scenario(server))
