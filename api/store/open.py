"""Which driver a database URL means."""

from pathlib import Path

from api.store.database import Database
from api.store.postgres import PostgresDatabase
from api.store.schema import migrate
from api.store.sqlite import SqliteDatabase

SQLITE, POSTGRES = "sqlite:///", "postgresql://"


async def open_database(url: str) -> Database:
    """Opens `sqlite:///PATH` (relative to the working directory; an absolute path has four slashes) or
    `postgresql://...`, and migrates it.

    Raises StorageUnavailable or NewerSchema with everything closed again, and ValueError for any other URL.
    """
    database = await _driver(url)
    try:
        await migrate(database)
    except BaseException:
        # A connection's thread would keep the process from ending.
        await database.close()
        raise
    return database


async def _driver(url: str) -> Database:
    if url.startswith(SQLITE):
        return await SqliteDatabase.open(Path(url.removeprefix(SQLITE)))
    if url.startswith(POSTGRES):
        return await PostgresDatabase.open(url)
    raise ValueError(f"a database URL begins with {SQLITE} or {POSTGRES}")
