"""A version's first 20 calls at an endpoint: exactly those, in whatever batches and processes they come."""

import asyncio
from typing import Any

import pytest

from api.core.drift import DAY_S, Firsts
from api.store import charges, drift, drift_reads, keys, schema
from api.store.database import Database, Tx
from api.store.drift import CompleteFirsts
from api.store.group_commit import GroupCommit
from tests.databases import Run
from tests.store.ledger import NOW, a_call, a_key, another_node, hash_of, open_key, rows_in, tamper
from tests.store.test_drift import agreed, judged

FREE = 10_000


async def firsts(database: Database, agent_id: str = "a") -> list[Firsts]:
    found = await database.read(drift_reads.firsts, "key_one", agent_id)
    return sorted(found, key=lambda one: (one.version, one.endpoint))


async def observe(
    database: Database, *verdicts: str, now: int = NOW, version: str = "1", complete: CompleteFirsts | None = None
) -> None:
    seen = [("key_one", judged(verdict, 0.5, "a", version)) for verdict in verdicts]
    await database.write(drift.add_all, seen, now, complete)


def test_the_20th_call_is_the_last_that_counts(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(database, *["pass", "fail", "retry"] * 4, now=NOW)
        await observe(database, *["fail"] * 7, now=NOW + 60)
        assert await firsts(database) == [Firsts("1", "judge", NOW, NOW + 60, 19, 4 + 7)]
        # The pass is the 20th; the fails of the same batch come after it.
        await observe(database, "pass", *["fail"] * 30, now=NOW + 90)
        await observe(database, "fail", now=NOW + 120)
        assert await firsts(database) == [Firsts("1", "judge", NOW, NOW + 90, 20, 11)]

    run(scenario())


def test_one_batch_can_hold_more_than_all(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(database, *["fail"] * 3, *["pass"] * 17, *["fail"] * 80)
        assert await firsts(database) == [Firsts("1", "judge", NOW, NOW, 20, 3)]

    run(scenario())


def test_versions_and_endpoints_have_their_own(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(database, "fail", version="")
        await observe(database, "pass", "fail", version="2", now=NOW + 1)
        risks = [("key_one", agreed(risk, "a")) for risk in ("low", "medium", "high")]
        await database.write(drift.add_all, risks, NOW + 2)
        assert await firsts(database) == [
            Firsts("", "consensus", NOW + 2, NOW + 2, 3, 3),
            Firsts("", "judge", NOW, NOW, 1, 1),
            Firsts("2", "judge", NOW + 1, NOW + 1, 2, 1),
        ]

    run(scenario())


def test_a_clock_that_steps_back_moves_no_first_call(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(database, "pass", now=NOW)
        await observe(database, "pass", now=NOW - 3_600)
        assert await firsts(database) == [Firsts("1", "judge", NOW, NOW, 2, 0)]

    run(scenario())


def test_the_memory_changes_nothing_that_is_written(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        complete = CompleteFirsts()
        for _ in range(25):
            await observe(database, "fail", complete=complete)
        assert complete.has(("key_one", "a", "1", "judge"), NOW)
        assert not complete.has(("key_one", "a", "1", "consensus"), NOW)
        assert await firsts(database) == [Firsts("1", "judge", NOW, NOW, 20, 20)]
        assert not complete.has(("key_one", "a", "1", "judge"), NOW + DAY_S), "it is emptied every day"

    run(scenario())


def test_nothing_is_remembered_of_a_transaction_that_failed(database: Database, run: Run) -> None:
    """A process that took its own unwritten calls for the first ones would never write them."""

    async def scenario() -> None:
        await open_key(database)
        complete = CompleteFirsts()

        async def fails(tx: Tx) -> None:
            await drift.add_all(tx, [("key_one", judged("fail", 0.1, "a", "1"))] * 20, NOW, complete)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await database.write(fails)
        await observe(database, *["pass"] * 20, complete=complete)
        assert await firsts(database) == [Firsts("1", "judge", NOW, NOW, 20, 0)]

    run(scenario())


def test_nodes_that_record_at_once_take_20_together(database: Database, database_url: str, run: Run) -> None:
    """Three nodes, each with a memory of its own: all calls are counted, and 20 of them are the first."""

    def committer(node: Database) -> GroupCommit[Any, Any]:
        complete = CompleteFirsts()

        async def commit(calls: Any) -> Any:
            return await node.write(charges.record, calls, NOW, FREE, complete)

        return GroupCommit(commit)

    async def scenario() -> None:
        await open_key(database)
        async with another_node(database_url) as second, another_node(database_url) as third:
            nodes = [committer(node) for node in (database, second, third)]
            call = a_call(observation=judged("fail", 0.1, "a", "1"))
            for _ in range(4):
                await asyncio.gather(*[node.submit(call) for node in nodes for _ in range(4)])
        assert await firsts(database) == [Firsts("1", "judge", NOW, NOW, 20, 20)]
        row = await database.read(_total)
        assert row == (48, 48, 48)

    run(scenario())


async def _total(tx: Tx) -> tuple[int, int, int]:
    hours = await tx.one("SELECT sum(calls) AS n FROM drift_hours")
    days = await tx.one("SELECT sum(calls) AS n FROM drift_days")
    used = await tx.one("SELECT sum(judge) AS n FROM daily_use")
    assert hours is not None
    assert days is not None
    assert used is not None
    return hours["n"], days["n"], used["n"]


def test_everything_goes_with_the_key(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(database, "pass")
        await database.write(keys.delete, hash_of("one"))
        for table in ("drift_hours", "drift_days", "drift_firsts"):
            assert await rows_in(database, table) == 0

    run(scenario())


@pytest.mark.promise("drift.kept")
def test_pruning_forgets_old_days_and_versions_not_called_since(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        old = NOW - 130 * DAY_S
        await observe(database, "pass", version="gone", now=old)
        await observe(database, "pass", version="still used", now=old)
        await observe(database, "pass", version="still used", now=NOW - 121 * DAY_S)
        await observe(database, "pass", version="new", now=NOW)
        assert await database.write(drift.prune, NOW - 125 * DAY_S) == 5
        assert [(one.version, one.first_at) for one in await firsts(database)] == [("new", NOW), ("still used", old)]
        for table in ("drift_hours", "drift_days"):
            assert await rows_in(database, table) == 2
        assert await database.write(drift.prune, NOW - 125 * DAY_S) == 0

    run(scenario())


async def _counts_as_before_5(tx: Tx) -> None:
    """The table of hours as it was, and none of those that migration 5 added for the counts."""
    for table in ("drift_firsts", "drift_days", "drift_hours"):
        await tx.run(f"DROP TABLE {table}")
    await _repeat(tx, 2)


async def _repeat(tx: Tx, migration: int) -> None:
    """What a migration does with the counts."""
    for statement in dict(schema.steps())[migration]:
        if "drift_" in statement:
            await tx.run(statement)


def test_what_was_counted_before_the_migration_is_carried_over(database: Database, run: Run) -> None:
    """Days are the sums of their hours. First calls are known where there were 20 or fewer."""

    async def scenario() -> None:
        await database.write(keys.add, a_key(), 3)
        await database.write(_counts_as_before_5)
        insert = """INSERT INTO drift_hours
            (key_id, agent_id, version, endpoint, hour, calls, passes, fails, retries, score_total, risk_total)
            VALUES ('key_one', 'a', :version, :endpoint, :hour, :calls, 0, :fails, 0, 5, :risk)"""
        for version, endpoint, hour, calls, fails, risk in (
            ("few", "judge", NOW, 8, 3, 0),
            ("few", "judge", NOW + 3_600, 12, 1, 0),
            ("many", "judge", NOW, 21, 9, 0),
            ("many", "consensus", NOW, 2, 0, 3),
        ):
            await tamper(
                database, insert, version=version, endpoint=endpoint, hour=hour, calls=calls, fails=fails, risk=risk
            )
        await database.write(_repeat, 5)
        assert await firsts(database) == [
            Firsts("few", "judge", NOW, NOW + 3_600, 20, 4),
            Firsts("many", "consensus", NOW, NOW, 2, 3),
            Firsts("many", "judge", NOW, NOW, 20, None),
        ]
        assert await rows_in(database, "drift_hours") == 4
        assert await rows_in(database, "drift_days") == 3
        await observe(database, "fail", version="many")
        assert (await firsts(database))[2].total is None

    run(scenario())
