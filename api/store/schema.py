"""The schema's versions: numbered SQL files, applied forward, once, in one transaction.

The SQL of the files is portable: TEXT ids and days, BIGINT counts and epoch seconds, no types that only one
database has.
"""

from functools import cache
from pathlib import Path

from api.store.database import Database, NewerSchema, Tx

MIGRATIONS = Path(__file__).parent / "migrations"


@cache
def steps() -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Each migration's number and statements, ascending."""
    found = []
    for path in sorted(MIGRATIONS.glob("*.sql")):
        statements = tuple(part.strip() for part in path.read_text(encoding="utf-8").split(";\n") if part.strip())
        found.append((int(path.name.split("_")[0]), statements))
    return tuple(found)


async def migrate(database: Database) -> int:
    """Brings the schema to the newest version and returns it. Raises NewerSchema when the database is ahead of this
    program."""
    return await database.write_alone(_migrate)


async def _migrate(tx: Tx) -> int:
    await tx.run("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")
    row = await tx.one("SELECT max(version) AS version FROM schema_version")
    current = (row and row["version"]) or 0
    newest = steps()[-1][0]
    if current > newest:
        raise NewerSchema(f"the database has schema {current}, this program knows {newest}: run the newer program")
    for number, statements in steps():
        if number > current:
            for statement in statements:
                await tx.run(statement)
            await tx.run("INSERT INTO schema_version (version) VALUES (:number)", number=number)
    return newest
