"""Calls that are paid before their work: reserved, then finished, released or left by a crash."""

import asyncio

from api.store import credits, keys, reservations
from api.store.database import Database
from tests.databases import Run
from tests.store.ledger import (
    DAY_S,
    FREE,
    NOW,
    a_call,
    a_mark,
    a_reservation,
    another_node,
    charge,
    counted,
    grants,
    hash_of,
    left,
    open_key,
    rows_in,
)


async def reserve(database: Database, *names: str, now: int = NOW, first: int = 0) -> list[str]:
    """Reserves a call for each of the named keys, under the ids res_FIRST, res_FIRST+1 and so on."""
    wanted = [a_reservation(f"res_{first + n}", name, now + 60) for n, name in enumerate(names)]
    return list(await database.write(reservations.reserve, wanted, now, FREE))


def test_a_reservation_takes_at_once_what_a_call_would(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=1)
        assert await reserve(database, *["one"] * 6) == ["free"] * 3 + ["credit"] + ["refused"] * 2
        assert (await left(database)).free_used == 3
        assert (await left(database)).credits == 0
        assert await counted(database) == (3, 1, 0, 0), "taken, and not yet answered"
        assert await rows_in(database, "reservations") == 4
        assert grants(await charge(database, a_call())) == ["refused"]
        assert await database.read(credits.faults) == []

    run(scenario())


def test_nobody_reserves_nothing(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        assert await reserve(database, "nobody", "one") == ["unknown_key", "free"]
        assert await rows_in(database, "reservations") == 1

    run(scenario())


def test_a_finished_reservation_is_charged_once(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=1)
        await reserve(database, *["one"] * 4)
        charged = await charge(database, *[a_call(reservation=f"res_{n}") for n in (3, 0)], a_call())
        assert grants(charged) == ["credit", "free", "refused"]
        assert await counted(database) == (3, 1, 2, 0)
        assert await rows_in(database, "reservations") == 2
        assert await database.read(credits.faults) == []

    run(scenario())


def test_a_reservation_finishes_when_nothing_else_is_left(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await reserve(database, "one")
        assert grants(await charge(database, *[a_call()] * 3)) == ["free", "free", "refused"]
        assert grants(await charge(database, a_call(reservation="res_0"))) == ["free"]
        assert await counted(database) == (3, 0, 3, 0)

    run(scenario())


def test_release_gives_back_what_was_taken_once(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=1)
        await reserve(database, *["one"] * 4)
        assert [await database.write(reservations.release, "res_0") for _ in range(2)] == [True, False]
        assert await database.write(reservations.release, "res_3")
        assert await counted(database) == (2, 0, 0, 0)
        assert (await left(database)).credits == 1
        assert grants(await charge(database, *[a_call()] * 3)) == ["free", "credit", "refused"]
        assert await database.read(credits.faults) == []

    run(scenario())


def test_a_call_whose_reservation_was_released_is_charged_anew(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await reserve(database, "one")
        await database.write(reservations.release, "res_0")
        assert grants(await charge(database, a_call(reservation="res_0"))) == ["free"]
        assert await counted(database) == (1, 0, 1, 0)
        await charge(database, *[a_call()] * 2)
        assert grants(await charge(database, a_call(reservation="res_0"))) == ["refused"]

    run(scenario())


def test_what_a_crash_left_is_released_when_its_time_is_over(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=1)
        await reserve(database, *["one"] * 4)
        await reserve(database, "one", now=NOW + DAY_S, first=4)
        assert await database.write(reservations.release_expired, NOW + 59) == 0
        assert await database.write(reservations.release_expired, NOW + 60) == 4
        assert await database.write(reservations.release_expired, NOW + 60) == 0
        assert await counted(database) == (0, 0, 0, 0)
        assert (await left(database)).credits == 1
        assert await rows_in(database, "reservations") == 1, "tomorrow's stands"
        assert await database.read(credits.faults) == []

    run(scenario())


def test_a_free_call_goes_back_to_the_day_that_it_was_taken_from(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await reserve(database, "one", "one")
        tomorrow = NOW + DAY_S
        await charge(database, a_call(), now=tomorrow)
        assert await database.write(reservations.release, "res_0")
        assert grants(await charge(database, a_call(reservation="res_1"), now=tomorrow)) == ["free"]
        assert await counted(database, day="2026-11-30") == (1, 0, 0, 0)
        assert await counted(database, day="2026-12-01") == (1, 0, 2, 0), "answered tomorrow, paid today"

    run(scenario())


def test_a_replay_or_a_conflict_gives_its_reservation_back(database: Database, run: Run) -> None:
    """Two calls with one Idempotency-Key both reserve before their work; one of them is charged."""

    async def scenario() -> None:
        await open_key(database, calls=1)
        await reserve(database, *["one"] * 4)
        first = a_call(request_id="req_1", mark=a_mark(), reservation="res_0")
        same = a_call(request_id="req_2", mark=a_mark(), reservation="res_3")
        other = a_call(request_id="req_3", mark=a_mark(body="other"), reservation="res_1")
        assert grants(await charge(database, first, same)) == ["free", "replayed"]
        assert (await left(database)).credits == 1
        assert grants(await charge(database, other)) == ["conflict"]
        assert await counted(database) == (2, 0, 1, 0), "one charged and res_2 still reserved"
        assert await rows_in(database, "reservations") == 1
        assert await database.read(credits.faults) == []

    run(scenario())


def test_reservations_go_with_their_key(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await reserve(database, "one", "one")
        await database.write(keys.delete, hash_of("one"))
        assert await rows_in(database, "reservations") == 0
        assert not await database.write(reservations.release, "res_0")
        assert grants(await charge(database, a_call(reservation="res_1"))) == ["unknown_key"]

    run(scenario())


def test_reserving_finishing_and_releasing_at_once_stays_exact(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=20)
        async with another_node(database_url) as other:

            async def work(n: int) -> str:
                node = (database, other)[n % 2]
                (grant,) = await node.write(reservations.reserve, [a_reservation(f"res_{n}")], NOW, FREE)
                if grant == "refused":
                    return "refused"
                if n % 3 == 0:
                    return "released" if await node.write(reservations.release, f"res_{n}") else "lost"
                return grants(await charge(node, a_call(reservation=f"res_{n}")))[0]

            ended = await asyncio.gather(*map(work, range(45)))
        assert "lost" not in ended
        free, credit, judge, _ = await counted(database)
        assert judge == free + credit == ended.count("free") + ended.count("credit")
        assert (await left(database)).credits == 20 - credit
        assert await rows_in(database, "reservations") == 0
        assert await database.read(credits.faults) == []

    run(scenario())
