"""The schema migrates itself forward, once, whoever comes first, and refuses what it does not know."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from api.store import schema
from api.store.database import Database, NewerSchema, Tx
from api.store.open import open_database
from tests.databases import ROOT, Run

ALL = [number for number, _ in schema.steps()]
NEWEST = ALL[-1]

_OPEN_AND_CLOSE = """
import asyncio, sys
from api.store.open import open_database

async def main():
    await (await open_database(sys.argv[1])).close()

sys.stdin.readline()
asyncio.run(main())
"""


async def versions(tx: Tx) -> list[int]:
    return [row["version"] for row in await tx.all("SELECT version FROM schema_version ORDER BY version")]


async def add_version(tx: Tx, version: int) -> int:
    return await tx.run("INSERT INTO schema_version (version) VALUES (:version)", version=version)


def test_the_steps_are_numbered_without_a_gap() -> None:
    assert list(range(1, NEWEST + 1)) == ALL
    assert all(statements for _, statements in schema.steps())


@pytest.mark.promise("store.migrations")
def test_migrating_again_changes_nothing(database: Database, run: Run) -> None:
    async def scenario() -> None:
        before = await database.read(versions)
        assert before == ALL
        assert await schema.migrate(database) == NEWEST
        assert await database.read(versions) == before

    run(scenario())


@pytest.mark.promise("store.migrations")
def test_nodes_that_start_at_once_migrate_once(database_url: str, run: Run) -> None:
    async def scenario() -> None:
        opened = await asyncio.gather(*[open_database(database_url) for _ in range(5)])
        for database in opened:
            assert await database.read(versions) == ALL
            await database.close()

    run(scenario())


def test_processes_that_start_at_once_migrate_once(database_url: str, run: Run) -> None:
    processes: list[subprocess.Popen[str]] = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN_AND_CLOSE, database_url],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    faults = [process.communicate(timeout=60)[1] for process in processes]
    assert faults == [""] * len(processes)

    async def scenario() -> None:
        database = await open_database(database_url)
        assert await database.read(versions) == ALL
        await database.close()

    run(scenario())


@pytest.mark.promise("store.newer_schema")
def test_a_newer_database_is_refused(database_url: str, run: Run) -> None:
    async def scenario() -> None:
        database = await open_database(database_url)
        await database.write(add_version, NEWEST + 1)
        await database.close()
        with pytest.raises(NewerSchema, match=f"schema {NEWEST + 1}"):
            await open_database(database_url)

    run(scenario())


def test_a_step_that_fails_leaves_the_version_before(
    database_url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later version of this program with a faulty step: all its statements are undone, and the old one still runs."""
    steps = schema.steps()
    broken = (*steps, (NEWEST + 1, ("CREATE TABLE half_done (id TEXT)", "INSERT INTO half_done VALUES (no_such)")))

    async def tables(tx: Tx) -> Any:
        return await tx.all("SELECT 1 AS found FROM half_done")

    async def scenario() -> None:
        database = await open_database(database_url)
        with monkeypatch.context() as later:
            later.setattr(schema, "steps", lambda: broken)
            with pytest.raises(Exception, match="no_such"):
                await schema.migrate(database)
        with pytest.raises(Exception, match="half_done"):
            await database.read(tables)
        assert await schema.migrate(database) == NEWEST
        await database.close()

    run(scenario())


def test_a_url_of_another_kind_is_refused(run: Run) -> None:
    with pytest.raises(ValueError, match="sqlite:///"):
        run(open_database("mysql://root@localhost/db"))
