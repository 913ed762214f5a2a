"""SQLite through aiosqlite: one file in WAL mode, one writing and one reading connection a process.

- Transactions begin IMMEDIATE: a deferred one that turns into a write fails at once when another writer is there,
  in spite of the busy timeout.
- A cancelled statement keeps running in its thread and a cancelled transaction would stay open, so transactions are
  shielded.
- synchronous=FULL: an answer leaves after its commit, and the commit must outlive the machine.
- secure_delete: a deleted key leaves nothing in the file; `scrub` clears the write-ahead log as well.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Concatenate

import aiosqlite

from api.store.database import P, Row, StorageUnavailable, T

BUSY_MS = 5_000
_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_MS}",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA cache_size=-16000",
    "PRAGMA temp_store=MEMORY",
)


class SqliteTx:
    """A transaction on an aiosqlite connection."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def run(self, sql: str, **args: Any) -> int:
        cursor = await self._connection.execute(sql, args)
        changed = cursor.rowcount
        await cursor.close()
        return changed

    async def one(self, sql: str, **args: Any) -> Row | None:
        rows = await self.all(sql, **args)
        return rows[0] if rows else None

    async def all(self, sql: str, **args: Any) -> list[Row]:
        return [dict(row) for row in await self._connection.execute_fetchall(sql, args)]

    def table(self, **columns: str) -> str:
        picked = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in columns)
        return f"(SELECT {picked} FROM json_each(:rows))"


class SqliteDatabase:
    """A Database on one SQLite file. Make it with `open`."""

    def __init__(self, writer: aiosqlite.Connection, reader: aiosqlite.Connection) -> None:
        self._writer, self._reader = writer, reader
        self._write_lock, self._read_lock = asyncio.Lock(), asyncio.Lock()
        self._running: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(cls, path: Path) -> "SqliteDatabase":
        """Opens the file, made when missing. Raises StorageUnavailable when it can't be opened or written."""
        connections: list[aiosqlite.Connection] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            for _ in range(2):
                connections.append(await _connect(path))
        except (OSError, sqlite3.Error) as error:
            for connection in connections:
                await connection.close()
            raise StorageUnavailable(f"cannot open {path}: {error}") from error
        return cls(*connections)

    async def write(self, fn: Callable[Concatenate[Any, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._shielded(self._write_lock, _transact(self._writer, "BEGIN IMMEDIATE", fn, *args, **kwargs))

    async def read(self, fn: Callable[Concatenate[Any, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._shielded(self._read_lock, _transact(self._reader, "BEGIN", fn, *args, **kwargs))

    async def scrub(self) -> None:
        checkpoint = self._writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
        await self._shielded(self._write_lock, _translated(checkpoint))

    async def close(self) -> None:
        async with self._write_lock, self._read_lock:
            await self._reader.close()
            await self._writer.close()

    async def _shielded(self, lock: asyncio.Lock, work: Awaitable[T]) -> T:
        """Runs `work` under `lock` in a task of its own, which a cancelled caller leaves behind to end by itself."""

        async def locked() -> T:
            async with lock:
                return await work

        task = asyncio.create_task(locked())
        self._running.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Marks the exception as seen: the caller has it, unless it was cancelled and no longer wants it.
            task.exception()


async def _transact(
    connection: aiosqlite.Connection,
    begin: str,
    fn: Callable[Concatenate[Any, P], Awaitable[T]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    async with _transaction(connection, begin) as tx:
        return await fn(tx, *args, **kwargs)


async def _connect(path: Path) -> aiosqlite.Connection:
    connection = await aiosqlite.connect(path, isolation_level=None, cached_statements=256)
    connection.row_factory = sqlite3.Row
    try:
        for pragma in _PRAGMAS:
            await connection.execute_fetchall(pragma)
    except BaseException:
        await connection.close()
        raise
    return connection


@asynccontextmanager
async def _transaction(connection: aiosqlite.Connection, begin: str) -> AsyncIterator[SqliteTx]:
    await _translated(connection.execute_fetchall(begin))
    try:
        yield SqliteTx(connection)
        await connection.execute_fetchall("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            await connection.execute_fetchall("ROLLBACK")
        if isinstance(error, sqlite3.OperationalError):
            raise StorageUnavailable(str(error)) from error
        raise


async def _translated(work: Awaitable[T]) -> T:
    try:
        return await work
    except sqlite3.OperationalError as error:
        raise StorageUnavailable(str(error)) from error
