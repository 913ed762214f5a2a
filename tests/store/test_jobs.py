"""Slots of jobs: run once, by whoever claims first, and taken over from the dead."""

import asyncio

from api.store import jobs
from api.store.database import Database
from tests.databases import Run
from tests.store.ledger import NOW, another_node, rows_in

LEASE = 300


async def claim(database: Database, owner: str, now: int = NOW, slot: int = 7, job: str = "expire") -> bool:
    return await database.write(jobs.claim, job, slot, owner, now, LEASE)


async def finish(database: Database, owner: str, now: int = NOW, slot: int = 7, job: str = "expire") -> None:
    await database.write(jobs.finish, job, slot, owner, now)


def test_of_twenty_that_claim_at_once_one_gets_the_slot(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        async with another_node(database_url) as other:
            for slot in range(3):
                claims = [claim((database, other)[n % 2], f"owner {n}", slot=slot) for n in range(20)]
                assert sum(await asyncio.gather(*claims)) == 1

    run(scenario())


def test_a_slot_is_one_jobs_and_one_times(database: Database, run: Run) -> None:
    async def scenario() -> None:
        assert await claim(database, "a")
        assert await claim(database, "a", job="prune")
        assert await claim(database, "a", slot=8)
        assert not await claim(database, "a"), "its own owner doesn't get it twice either"

    run(scenario())


def test_a_slot_whose_owner_died_is_taken_over_after_the_lease(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        assert await claim(database, "dead")
        assert not await claim(database, "b", NOW + LEASE - 1)
        async with another_node(database_url) as other:
            claims = [claim((database, other)[n % 2], f"owner {n}", NOW + LEASE) for n in range(20)]
            assert sum(await asyncio.gather(*claims)) == 1
        assert not await claim(database, "c", NOW + 2 * LEASE - 1), "the lease began anew"
        assert await claim(database, "c", NOW + 2 * LEASE)

    run(scenario())


def test_a_finished_slot_is_never_claimed_again(database: Database, run: Run) -> None:
    async def scenario() -> None:
        assert await claim(database, "a")
        await finish(database, "a", NOW + 5)
        assert not await claim(database, "b", NOW + 100 * LEASE)
        assert await database.read(jobs.last_finished) == {"expire": NOW + 5}

    run(scenario())


def test_an_owner_that_wakes_up_late_does_not_finish_for_its_successor(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await claim(database, "slow")
        await claim(database, "b", NOW + LEASE)
        await finish(database, "slow", NOW + LEASE + 1)
        assert await database.read(jobs.last_finished) == {}
        await finish(database, "b", NOW + LEASE + 2)
        assert await database.read(jobs.last_finished) == {"expire": NOW + LEASE + 2}

    run(scenario())


def test_the_last_finish_of_each_job(database: Database, run: Run) -> None:
    async def scenario() -> None:
        for job, slot, at in (("expire", 1, 10), ("expire", 2, 20), ("prune", 1, 15)):
            await claim(database, "a", slot=slot, job=job)
            await finish(database, "a", at, slot, job)
        await claim(database, "a", slot=3)
        assert await database.read(jobs.last_finished) == {"expire": 20, "prune": 15}

    run(scenario())


def test_pruning_forgets_old_runs_but_for_each_jobs_newest(database: Database, run: Run) -> None:
    async def scenario() -> None:
        for slot in range(5):
            await claim(database, "a", NOW + slot, slot)
        await claim(database, "a", NOW, 3, "rare")
        assert await database.write(jobs.prune, NOW) == 0
        assert await database.write(jobs.prune, NOW + 2) == 2
        assert await database.write(jobs.prune, NOW + 9_999) == 2
        assert await rows_in(database, "job_runs") == 2
        assert not await claim(database, "b", slot=4), "the newest still says that it was run"
        assert not await claim(database, "b", slot=3, job="rare")

    run(scenario())
