"""SQLite through aiosqlite: one file in WAL mode, one writing and one reading connection a process.

- Transactions begin IMMEDIATE: a deferred one that turns into a write fails at once when another writer is there,
  in spite of the busy timeout.
- A cancelled statement keeps running in its thread and a cancelled transaction would stay open, so transactions run in
  tasks of their own.
- A transaction waits at most QUEUE_S for this process's others and BUSY_MS for those of other processes.
- synchronous=FULL: an answer leaves after its commit, and the commit must outlive the machine.
- secure_delete: a deleted key leaves nothing in the file; `scrub` clears the write-ahead log as well.
"""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Concatenate

import aiosqlite

from api.store.database import P, Row, StorageUnavailable, T
from api.store.unbroken import Unbroken

BUSY_MS = 5_000
QUEUE_S = 5
_WAL_PAUSE_S = 0.02
_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_MS}",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA cache_size=-16000",
    "PRAGMA temp_store=MEMORY",
)
_OUTAGES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_NOTADB,
    }
)
"""Result codes that speak of the file and its surroundings. The others speak of our SQL and must not look like a fault
that waiting mends."""
_PRIMARY_CODE = 0xFF


class SqliteTx:
    """A transaction on an aiosqlite connection."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def run(self, sql: str, **args: Any) -> int:
        # The cursor of a statement without rows is done; closing it would be a second trip to the thread.
        cursor = await self._connection.execute(sql, args)
        # -1 for what changes no rows by its nature, such as CREATE TABLE.
        return max(0, cursor.rowcount)

    async def one(self, sql: str, **args: Any) -> Row | None:
        rows = await self.all(sql, **args)
        return rows[0] if rows else None

    async def all(self, sql: str, **args: Any) -> list[Row]:
        return [dict(row) for row in await self._connection.execute_fetchall(sql, args)]

    async def insert(
        self, into: str, columns: Mapping[str, str], rows: Sequence[Row], then: str = "", **same: str | int
    ) -> None:
        # A third of the time that a JSON table takes, in one trip to the thread all the same.
        names = [*columns, *same]
        sql = f"INSERT INTO {into} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) {then}"
        values = tuple(same.values())
        await self._connection.executemany(sql, [(*(row[name] for name in columns), *values) for row in rows])

    def table(self, **columns: str) -> str:
        picked = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in columns)
        return f"(SELECT {picked} FROM json_each(:rows))"


class SqliteDatabase:
    """A Database on one SQLite file. Make it with `open`."""

    def __init__(self, path: Path, writer: aiosqlite.Connection, reader: aiosqlite.Connection) -> None:
        self._path, self._file = path.absolute(), _identity(path)
        self._writer, self._reader = writer, reader
        self._write_lock, self._read_lock = asyncio.Lock(), asyncio.Lock()
        self._unbroken = Unbroken()

    @classmethod
    async def open(cls, path: Path) -> "SqliteDatabase":
        """Opens the file, made when missing. Raises StorageUnavailable when it can't be opened or written."""
        connections: list[aiosqlite.Connection] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Made by us, for its owner only: it holds emails and kept calls. Its log files take over these rights.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            # Fails here if at all: a connection of aiosqlite that can't open its file leaves a thread behind.
            path.open("ab").close()
            for _ in range(2):
                connections.append(await _connect(path))
            await connections[1].execute_fetchall("PRAGMA query_only=ON")
        except BaseException as error:
            for connection in connections:
                await connection.close()
            if isinstance(error, OSError | sqlite3.Error):
                raise StorageUnavailable(f"cannot open {path}: {error}") from error
            raise
        return cls(path, *connections)

    async def write(self, fn: Callable[Concatenate[Any, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        async def work() -> T:
            async with _held(self._write_lock):
                self._require_file()
                return await _transact(self._writer, "BEGIN IMMEDIATE", fn, *args, **kwargs)

        return await self._unbroken.run(work)

    async def write_alone(
        self, fn: Callable[Concatenate[Any, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self.write(fn, *args, **kwargs)

    async def read(self, fn: Callable[Concatenate[Any, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        async def work() -> T:
            async with _held(self._read_lock):
                return await _transact(self._reader, "BEGIN", fn, *args, **kwargs)

        return await self._unbroken.run(work)

    async def scrub(self) -> None:
        async def work() -> None:
            # A reader of this process would hold the log; one of another process is waited for, BUSY_MS long.
            async with _held(self._write_lock), _held(self._read_lock):
                with _outages_translated():
                    rows = list(await self._writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)"))
            if rows[0][0]:
                raise StorageUnavailable("the write-ahead log is in use by another process")

        await self._unbroken.run(work)

    def _require_file(self) -> None:
        """Raises StorageUnavailable when the file is not where it was opened. SQLite would go on writing to a deleted
        file as if nothing had happened, and all of it would be gone with the process."""
        if _identity(self._path) != self._file:
            raise StorageUnavailable(f"{self._path} was deleted or replaced while it was open")

    async def close(self) -> None:
        await self._unbroken.close()
        await self._reader.close()
        await self._writer.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """What a file is apart from its name; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


async def _connect(path: Path) -> aiosqlite.Connection:
    connection = await aiosqlite.connect(path, isolation_level=None, cached_statements=256)
    connection.row_factory = sqlite3.Row
    try:
        for pragma in _PRAGMAS:
            await connection.execute_fetchall(pragma)
        await _switch_to_wal(connection)
    except BaseException:
        await connection.close()
        raise
    return connection


async def _switch_to_wal(connection: aiosqlite.Connection) -> None:
    """Tries for as long as a busy database is waited for elsewhere: of processes that open a new file at once, SQLite
    refuses all but one at this step, without regard to the busy timeout."""
    clock = asyncio.get_running_loop().time
    give_up = clock() + BUSY_MS / 1_000
    while True:
        try:
            await connection.execute_fetchall("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or clock() > give_up:
                raise
        await asyncio.sleep(_WAL_PAUSE_S)


@asynccontextmanager
async def _held(lock: asyncio.Lock) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(QUEUE_S):
            await lock.acquire()
    except TimeoutError:
        raise StorageUnavailable(f"the transactions before this one did not end within {QUEUE_S} s") from None
    try:
        yield
    finally:
        lock.release()


async def _transact(
    connection: aiosqlite.Connection,
    begin: str,
    fn: Callable[Concatenate[Any, P], Awaitable[T]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    with _outages_translated():
        if connection.in_transaction:
            # An earlier one could not even be rolled back, say for want of disk.
            await connection.execute_fetchall("ROLLBACK")
        try:
            await connection.execute_fetchall(begin)
            result = await fn(SqliteTx(connection), *args, **kwargs)
            await connection.execute_fetchall("COMMIT")
        except BaseException:
            # SQLite has rolled back already after some errors, and then says that there is nothing to roll back.
            with suppress(sqlite3.Error):
                await connection.execute_fetchall("ROLLBACK")
            raise
        return result


@contextmanager
def _outages_translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        # Some errors of the module itself carry no code.
        if getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE in _OUTAGES:
            raise StorageUnavailable(str(error)) from error
        raise
