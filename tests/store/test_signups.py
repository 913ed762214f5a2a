"""Sign-ups of an address: a number of them within an hour, counted in the database."""

import asyncio

from api.store import signups
from api.store.database import Database
from tests.databases import Run
from tests.store.ledger import NOW, another_node, rows_in


async def take(database: Database, now: int = NOW, address: str = "address", limit: int = 2) -> int | None:
    return await database.write(signups.take, address, now, limit)


def test_a_window_opens_with_the_first_sign_up_and_lasts_an_hour(database: Database, run: Run) -> None:
    async def scenario() -> None:
        assert [await take(database, NOW + n) for n in (0, 10, 20)] == [None, None, 3_580]
        assert await take(database, NOW + 3_599) == 1
        assert [await take(database, NOW + 3_600 + n) for n in (0, 1, 2)] == [None, None, 3_598]

    run(scenario())


def test_refused_tries_do_not_prolong_the_wait(database: Database, run: Run) -> None:
    async def scenario() -> None:
        for n in range(2):
            assert await take(database, NOW + n) is None
        waits = [await take(database, NOW + n) for n in range(100, 3_600, 500)]
        assert waits == [3_600 - n for n in range(100, 3_600, 500)]
        assert await take(database, NOW + 3_600) is None

    run(scenario())


def test_addresses_are_counted_apart(database: Database, run: Run) -> None:
    async def scenario() -> None:
        assert [await take(database, address=address, limit=1) for address in ("a", "b", "a")] == [None, None, 3_600]

    run(scenario())


def test_a_limit_that_was_lowered_holds_for_the_window_that_runs(database: Database, run: Run) -> None:
    async def scenario() -> None:
        for _ in range(3):
            assert await take(database, limit=5) is None
        assert await take(database, limit=2) == 3_600
        assert await take(database, limit=5) is None

    run(scenario())


def test_a_clock_set_back_lets_nobody_in_and_asks_for_no_endless_wait(database: Database, run: Run) -> None:
    async def scenario() -> None:
        assert await take(database, limit=1) is None
        assert await take(database, NOW - 60, limit=1) == 3_660

    run(scenario())


def test_two_nodes_at_once_keep_the_limit(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        async with another_node(database_url) as other:
            taking = [take((database, other)[n % 2], limit=10) for n in range(60)]
            waits = await asyncio.gather(*taking)
        assert waits.count(None) == 10
        assert {wait for wait in waits if wait is not None} == {3_600}

    run(scenario())


def test_pruning_forgets_windows_that_are_over(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await take(database, NOW, "old")
        await take(database, NOW + 1, "new")
        assert await database.write(signups.prune, NOW + 3_599) == 0
        assert await database.write(signups.prune, NOW + 3_600) == 1
        assert await rows_in(database, "signups") == 1

    run(scenario())


def test_the_count_survives_a_restart(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        assert await take(database, limit=1) is None
        await database.close()
        async with another_node(database_url) as reopened:
            assert await take(reopened, NOW + 60, limit=1) == 3_540

    run(scenario())
