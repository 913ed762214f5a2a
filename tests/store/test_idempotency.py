"""Marks of calls: charged once, remembered for a day, and forgotten with the key."""

import asyncio
from collections import Counter

from api.store import idempotency, keys
from api.store.charges import Charge
from api.store.database import Database
from api.store.idempotency import LIFETIME_S, Record
from tests.databases import Run
from tests.store.ledger import (
    AGREED,
    FREE,
    NOW,
    a_call,
    a_mark,
    a_row,
    another_node,
    charge,
    committer_of,
    counted,
    grants,
    hash_of,
    open_key,
    rows_in,
)


def test_the_same_mark_is_charged_once_and_keeps_its_request_id_and_row(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        (first,) = await charge(database, a_call(request_id="req_1", mark=a_mark(), retained=a_row("ret_1")))
        (again,) = await charge(database, a_call(request_id="req_2", mark=a_mark(), retained=a_row("ret_2")))
        assert first == Charge("free", 1, 0, "req_1", "ret_1")
        assert again == Charge("replayed", 1, 0, "req_1", "ret_1")
        assert await counted(database) == (1, 0, 1, 0)
        assert [await rows_in(database, table) for table in ("retained", "drift_hours")] == [1, 1]

    run(scenario())


def test_within_a_batch_the_first_is_charged_and_the_others_are_replays(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        calls = [a_call(request_id=f"req_{n}", mark=a_mark(), retained=a_row(f"ret_{n}")) for n in range(4)]
        charged = await charge(database, *calls)
        assert grants(charged) == ["free", "replayed", "replayed", "replayed"]
        assert {(one.request_id, one.retained_id) for one in charged} == {("req_0", "ret_0")}
        assert await counted(database) == (1, 0, 1, 0)

    run(scenario())


def test_another_body_is_a_conflict_and_changes_nothing(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        charged = await charge(database, a_call(mark=a_mark()), a_call(request_id="req_2", mark=a_mark(body="other")))
        assert grants(charged) == ["free", "conflict"]
        (later,) = await charge(database, a_call(request_id="req_3", mark=a_mark(body="other"), observation=AGREED))
        assert later.grant == "conflict"
        assert await counted(database) == (1, 0, 1, 0)
        assert await database.read(idempotency.find, a_mark(body="other"), NOW) == Record("body", "req_1", None)

    run(scenario())


def test_marks_of_two_callers_are_two_marks(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, "one")
        await open_key(database, "two")
        calls = [a_call(name, f"req_{name}", mark=a_mark(name=name)) for name in ("one", "two")]
        assert [one.request_id for one in await charge(database, *calls)] == ["req_one", "req_two"]
        assert [one.request_id for one in await charge(database, *calls)] == ["req_one", "req_two"]
        assert await counted(database, "two") == (1, 0, 1, 0)

    run(scenario())


def test_a_replay_is_answered_when_nothing_is_left(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await charge(database, a_call(mark=a_mark()), *[a_call()] * 3)
        assert grants(await charge(database, a_call(mark=a_mark()), a_call(mark=a_mark("new")))) == [
            "replayed",
            "refused",
        ]
        assert await rows_in(database, "idempotency") == 1, "a refusal is not remembered"

    run(scenario())


def test_a_mark_lives_for_a_day(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await charge(database, a_call(request_id="req_1", mark=a_mark()))
        last, over = NOW + LIFETIME_S - 1, NOW + LIFETIME_S
        assert LIFETIME_S == 86_400
        assert grants(await charge(database, a_call(mark=a_mark()), now=last)) == ["replayed"]
        assert await database.write(idempotency.prune, last) == 0
        (anew,) = await charge(database, a_call(request_id="req_2", mark=a_mark(body="other")), now=over)
        assert (anew.grant, anew.request_id) == ("free", "req_2")
        (again,) = await charge(database, a_call(mark=a_mark(body="other")), now=over + 1)
        assert (again.grant, again.request_id) == ("replayed", "req_2")
        assert await database.write(idempotency.prune, over) == 0, "the new one took the old one's place"
        assert await database.write(idempotency.prune, over + LIFETIME_S) == 1
        assert await rows_in(database, "idempotency") == 0

    run(scenario())


def test_fifty_at_once_on_two_nodes_are_one_charge_and_49_replays(
    database: Database, database_url: str, run: Run
) -> None:
    async def scenario() -> None:
        await open_key(database)
        async with another_node(database_url) as other:
            nodes = [committer_of(node, FREE) for node in (database, other)]
            calls = [nodes[n % 2].submit(a_call(request_id=f"req_{n}", mark=a_mark())) for n in range(50)]
            charged = await asyncio.gather(*calls)
        assert Counter(grants(charged)) == {"free": 1, "replayed": 49}
        assert len({one.request_id for one in charged}) == 1
        assert await counted(database) == (1, 0, 1, 0)

    run(scenario())


def test_fifty_single_transactions_at_once_are_one_charge(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        async with another_node(database_url) as other:
            nodes = (database, other)
            calls = [charge(nodes[n % 2], a_call(request_id=f"req_{n}", mark=a_mark())) for n in range(50)]
            charged = [one for batch in await asyncio.gather(*calls) for one in batch]
        assert Counter(grants(charged)) == {"free": 1, "replayed": 49}
        assert len({one.request_id for one in charged}) == 1

    run(scenario())


def test_marks_outlive_a_rotation_and_go_with_the_key(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, "one")
        await open_key(database, "two")
        await charge(database, a_call(mark=a_mark()), a_call("two", mark=a_mark(name="two")))
        await database.write(keys.rotate, hash_of("one"), hash_of("newer"), "scr_newer")
        assert grants(await charge(database, a_call("newer", mark=a_mark()))) == ["replayed"]
        await database.write(keys.revoke, "key_one")
        assert await database.read(idempotency.find, a_mark(), NOW) is None
        assert await database.read(idempotency.find, a_mark(name="two"), NOW) is not None

    run(scenario())


def test_marks_survive_a_restart(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await charge(database, a_call(request_id="req_1", mark=a_mark()))
        await database.close()
        async with another_node(database_url) as reopened:
            (again,) = await charge(reopened, a_call(request_id="req_2", mark=a_mark()))
            assert (again.grant, again.request_id) == ("replayed", "req_1")

    run(scenario())


def test_tokens_with_any_characters_stay_apart(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        tokens = ["a", "A", "a ", " a", "a'", 'a"', "a\\", "%", "_", ":now", "$1", "{}", "null", ""]
        calls = [a_call(request_id=f"req {token}", mark=a_mark(token)) for token in tokens]
        assert grants(await charge(database, *calls, free=99)) == ["free"] * len(tokens)
        assert [one.request_id for one in await charge(database, *calls)] == [f"req {token}" for token in tokens]

    run(scenario())
