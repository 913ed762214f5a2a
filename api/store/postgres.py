"""PostgreSQL through asyncpg: a bounded pool of connections, shared by the requests of one process.

- Writes are SERIALIZABLE. What the server refuses as a conflict (serialisation failure, deadlock) left nothing behind
  and is run again, after a pause that grows and is random, so that two rivals do not meet again in step.
- Where conflicts come, rivals take turns for a while: a process that met one takes a lock before each transaction, for
  else those of several busy nodes undo each other's work more often than they do their own.
- Reads are REPEATABLE READ READ ONLY: one state, and no part in anybody's conflict.
- Transactions run in tasks of their own: a cancelled caller must not leave one open.
- Time is bounded everywhere: waiting for a connection, a statement, a transaction left idle, all retries together.
- The pool finds closed connections by itself and opens new ones, so a restarted server needs no restart of ours.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from random import SystemRandom
from typing import Any, Concatenate, Literal, TypeAlias

import asyncpg
import orjson
from asyncpg.pool import PoolConnectionProxy

from api.store.database import P, Row, StorageUnavailable, T
from api.store.named_parameters import numbered
from api.store.unbroken import Unbroken

POOL = 8
"""Connections of one process at most. PostgreSQL lets in 100 by default, so twelve processes fit."""
CONNECT_S = 5
ACQUIRE_S = 5
STATEMENT_S = 5
COMMAND_S = 8
"""What the client waits for a statement. Longer than the server's own limit, for a server that no longer answers."""
RETRY_S = 10
FIRST_PAUSE_S = 0.002
LONGEST_PAUSE_S = 0.25
TURNS_S = 0.5
"""How long a process takes turns after a conflict."""
MIGRATION_S = 60
_ALONE = 7_266_397_235
"""The advisory lock of `write_alone`: any number, the same in every process."""

_SESSION = {
    "application_name": "screwtape",
    "statement_timeout": f"{STATEMENT_S}s",
    "idle_in_transaction_session_timeout": f"{COMMAND_S}s",
    # An answer leaves after its commit, and the commit must outlive the machine, whatever the server's own setting.
    "synchronous_commit": "on",
    # A sequential scan marks the whole table as read, and every other writer of it as a rival (PostgreSQL manual,
    # 13.2.3). On small tables the planner would choose one.
    "enable_seqscan": "off",
    "jit": "off",
}

_CONFLICTS = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    # Another node changed the schema; asyncpg has forgotten its old plans when this comes.
    asyncpg.InvalidCachedStatementError,
)
_OUTAGES = (
    OSError,  # no connection, no such socket; TimeoutError is one too
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,  # too many connections, disk full
    asyncpg.OperatorInterventionError,  # shutting down, starting up, statement time-out
    asyncpg.PostgresSystemError,  # input and output errors of the server
    asyncpg.LockNotAvailableError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,  # a standby, or default_transaction_read_only
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,  # no such database
    asyncpg.InterfaceError,  # "connection is closed", "pool is closing"
)

Mode: TypeAlias = Literal["read", "write", "write in turn"]
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"

_dice = SystemRandom()


class PostgresTx:
    """A transaction on an asyncpg connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def run(self, sql: str, **args: Any) -> int:
        text, values = numbered(sql, args)
        status: str = await self._connection.execute(text, *values)
        # The command tag: "INSERT 0 3", "UPDATE 2", "CREATE TABLE".
        changed = status.rpartition(" ")[2]
        return int(changed) if changed.isdecimal() else 0

    async def one(self, sql: str, **args: Any) -> Row | None:
        rows = await self.all(sql, **args)
        return rows[0] if rows else None

    async def all(self, sql: str, **args: Any) -> Sequence[Row]:
        text, values = numbered(sql, args)
        return [dict(record) for record in await self._connection.fetch(text, *values)]

    async def insert(
        self, into: str, columns: Mapping[str, str], rows: Sequence[Row], then: str = "", **same: str | int
    ) -> None:
        names, values = ", ".join([*columns, *same]), ", ".join([*columns, *(f":{name}" for name in same)])
        await self.run(
            f"INSERT INTO {into} ({names}) SELECT {values} FROM {self.table(**columns)} r WHERE true {then}",
            rows=orjson.dumps([{name: row[name] for name in columns} for row in rows]).decode(),
            **same,
        )

    def table(self, **columns: str) -> str:
        typed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        return f"(SELECT {', '.join(columns)} FROM json_to_recordset(CAST(:rows AS json)) AS given ({typed}))"


class PostgresDatabase:
    """A Database on a PostgreSQL server. Make it with `open`."""

    def __init__(self, url: str, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        self._url, self._pool = url, pool
        self._unbroken = Unbroken()
        self._turns_until = 0.0

    @classmethod
    async def open(cls, url: str) -> "PostgresDatabase":
        """Connects once, to see that it can. Raises StorageUnavailable when it can't."""
        async with _outages_translated():
            pool = await asyncpg.create_pool(
                url,
                # A pool that keeps a minimum logs a warning for every try while the server is down.
                min_size=0,
                max_size=POOL,
                timeout=CONNECT_S,
                command_timeout=COMMAND_S,
                server_settings=_SESSION,
                init=_prepare,
                # Nothing is set on a connection that its next user could see, so the query that resets all is saved.
                reset=_nothing,
            )
            try:
                async with pool.acquire():
                    return cls(url, pool)
            except BaseException:
                pool.terminate()
                raise

    async def write(self, fn: Callable[Concatenate[Any, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        clock = asyncio.get_running_loop().time

        async def attempt() -> T:
            try:
                async with self._pool.acquire(timeout=ACQUIRE_S) as connection:
                    return await _transact(connection, self._write_mode(clock()), fn, *args, **kwargs)
            except _CONFLICTS:
                self._turns_until = clock() + TURNS_S
                raise

        return await self._unbroken.run(lambda: _until_no_conflict(attempt))

    def _write_mode(self, now: float) -> Mode:
        return "write in turn" if now < self._turns_until else "write"

    async def write_alone(
        self, fn: Callable[Concatenate[Any, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self._unbroken.run(lambda: self._alone(fn, *args, **kwargs))

    async def read(self, fn: Callable[Concatenate[Any, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        async def attempt() -> T:
            async with self._pool.acquire(timeout=ACQUIRE_S) as connection:
                return await _transact(connection, "read", fn, *args, **kwargs)

        return await self._unbroken.run(lambda: _until_no_conflict(attempt))

    async def scrub(self) -> None:
        """Nothing to do: the server's own vacuum and log recycling remove deleted rows, and no client reaches those."""

    async def close(self) -> None:
        await self._unbroken.close()
        try:
            await asyncio.wait_for(self._pool.close(), COMMAND_S)
        except (*_OUTAGES, TimeoutError):
            # The server went away first, or never says goodbye.
            self._pool.terminate()

    async def _alone(self, fn: Callable[Concatenate[Any, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """On a connection of its own: the lock belongs to a session, and must be held before the transaction begins,
        which would else go on with what it saw before it waited."""
        session = {**_SESSION, "statement_timeout": f"{MIGRATION_S}s"}
        async with _outages_translated():
            connection = await asyncpg.connect(
                self._url, timeout=CONNECT_S, command_timeout=MIGRATION_S, server_settings=session
            )
            try:
                await _prepare(connection)
                await connection.execute("SELECT pg_advisory_lock($1)", _ALONE)
                return await _until_no_conflict(lambda: _transact(connection, "write", fn, *args, **kwargs))
            finally:
                # Ends the lock too.
                await connection.close(timeout=CONNECT_S)


async def _transact(
    connection: Connection,
    mode: Mode,
    fn: Callable[Concatenate[Any, P], Awaitable[T]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    async with connection.transaction(
        isolation="repeatable_read" if mode == "read" else "serializable", readonly=mode == "read"
    ):
        if mode == "write in turn":
            # Of all statements this one may come first: it waits before the transaction's view of the data is taken,
            # which pg_advisory_xact_lock would do after. The mode shuts out itself, and neither readers nor writers.
            await connection.execute("LOCK TABLE schema_version IN SHARE UPDATE EXCLUSIVE MODE")
        return await fn(PostgresTx(connection), *args, **kwargs)


async def _until_no_conflict(attempt: Callable[[], Awaitable[T]]) -> T:
    """Runs `attempt` again as long as it ends in a conflict. Raises StorageUnavailable for an outage, and when the
    conflicts do not end within RETRY_S."""
    clock = asyncio.get_running_loop().time
    give_up, pause = clock() + RETRY_S, FIRST_PAUSE_S
    while True:
        try:
            async with _outages_translated():
                return await attempt()
        except _CONFLICTS as error:
            if clock() > give_up:
                raise StorageUnavailable(f"conflicts for more than {RETRY_S} s") from error
        await asyncio.sleep(_dice.uniform(0, pause))
        pause = min(2 * pause, LONGEST_PAUSE_S)


@asynccontextmanager
async def _outages_translated() -> AsyncIterator[None]:
    try:
        yield
    except ValueError:
        # Some InterfaceErrors are about a value or a setting: no waiting mends those.
        raise
    except _OUTAGES as error:
        raise StorageUnavailable(f"{type(error).__name__}: {error}") from error


async def _prepare(connection: Connection) -> None:
    """sum() and avg() of a BIGINT are NUMERIC here; callers get a number as from SQLite."""
    await connection.set_type_codec("numeric", schema="pg_catalog", encoder=str, decoder=_number, format="text")


def _number(text: str) -> int | float:
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() and "." not in text else float(value)


async def _nothing(connection: Connection) -> None:
    pass
