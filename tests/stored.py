"""Everything that a database holds, for tests of what must not be in it."""

from pathlib import Path

from api.store.database import Database, Tx
from api.store.sqlite import SqliteDatabase

_TABLES = {
    True: "SELECT name FROM sqlite_master WHERE type = 'table'",
    False: "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
}


async def tables(database: Database) -> dict[str, str]:
    """Every row of every table as text, by table."""
    return await database.read(_tables, _TABLES[isinstance(database, SqliteDatabase)])


async def tables_with(database: Database, text: str) -> list[str]:
    """The tables of which a row holds `text`."""
    return [name for name, rows in (await tables(database)).items() if text in rows]


def files_with(folder: Path, text: str) -> list[str]:
    """The files right in `folder` that hold `text`: on SQLite the database and its write-ahead log."""
    return sorted(path.name for path in folder.iterdir() if path.is_file() and text.encode() in path.read_bytes())


async def _tables(tx: Tx, listing: str) -> dict[str, str]:
    names = [row["name"] for row in await tx.all(listing)]
    return {name: "\n".join(str(dict(row)) for row in await tx.all(f"SELECT * FROM {name}")) for name in names}
