"""What a batch of answered calls charges: exactly, in order of arrival, whole or not at all."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from sqlite3 import IntegrityError

import asyncpg
import pytest

from api.store import accounts, charges, credits, drift, keys, retention, settings
from api.store.charges import AnsweredCall, Charge
from api.store.database import Database, Tx
from api.store.settings import Settings
from tests.databases import Run
from tests.store.ledger import (
    AGREED,
    DAY,
    DAY_S,
    FREE,
    NOW,
    a_call,
    a_key,
    a_mark,
    a_row,
    an_entry,
    another_node,
    charge,
    committer_of,
    counted,
    grants,
    hash_of,
    left,
    open_key,
    rows_in,
)

MIDNIGHT = NOW + DAY_S // 2


@pytest.mark.promise("charging.free_then_credits")
def test_free_calls_go_first_then_credits_then_nothing(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=2)
        charged = await charge(database, *[a_call(request_id=f"req_{n}") for n in range(7)])
        assert grants(charged) == ["free"] * 3 + ["credit"] * 2 + ["refused"] * 2
        assert [one.free_used for one in charged] == [1, 2, 3, 3, 3, 3, 3]
        assert [one.credits for one in charged] == [2, 2, 2, 1, 0, 0, 0]
        assert [one.request_id for one in charged] == ["req_0", "req_1", "req_2", "req_3", "req_4", "", ""]
        assert await counted(database) == (3, 2, 5, 0)
        assert grants(await charge(database, a_call())) == ["refused"]
        assert await database.read(credits.faults) == []

    run(scenario())


def test_calls_one_by_one_are_charged_as_in_a_batch(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=2)
        charged = [(await charge(database, a_call()))[0] for _ in range(7)]
        assert grants(charged) == ["free"] * 3 + ["credit"] * 2 + ["refused"] * 2
        assert await counted(database) == (3, 2, 5, 0)
        assert await database.read(credits.faults) == []

    run(scenario())


@pytest.mark.promise("facts.credits_after_free")
def test_credits_outlive_the_day_and_free_calls_come_back_first(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=1)
        later = NOW + 400 * DAY_S
        charged = await charge(database, *[a_call()] * 5, now=later)
        assert grants(charged) == ["free"] * 3 + ["credit", "refused"]
        assert grants(await charge(database, a_call(), now=later + DAY_S)) == ["free"]

    run(scenario())


def test_a_call_counts_on_the_day_of_its_commit_and_on_no_other(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        assert grants(await charge(database, *[a_call()] * 4, now=MIDNIGHT - 1)) == ["free"] * 3 + ["refused"]
        assert grants(await charge(database, *[a_call()] * 4, now=MIDNIGHT)) == ["free"] * 3 + ["refused"]
        assert await counted(database, day="2026-11-30") == (3, 0, 3, 0)
        assert await counted(database, day="2026-12-01") == (3, 0, 3, 0)

    run(scenario())


def test_a_batch_grants_in_the_order_of_arrival(database: Database, run: Run) -> None:
    """Two keys in turns: each one's first calls get its free calls, whoever comes between."""

    async def scenario() -> None:
        await open_key(database, "one", calls=1)
        await open_key(database, "two")
        names = ["one", "two", "two", "one", "one", "two", "one", "two", "one"]
        charged = await charge(database, *[a_call(name) for name in names])
        assert grants(charged) == ["free"] * 6 + ["credit"] + ["refused"] * 2
        assert (await counted(database, "one"), await counted(database, "two")) == ((3, 1, 4, 0), (3, 0, 3, 0))

    run(scenario())


def test_judge_and_consensus_share_the_free_calls_and_are_counted_apart(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        calls = [a_call(observation=AGREED), a_call(), a_call(observation=AGREED), a_call()]
        assert grants(await charge(database, *calls)) == ["free"] * 3 + ["refused"]
        assert await counted(database) == (3, 0, 1, 2)

    run(scenario())


def test_a_balance_below_zero_stops_paid_calls_and_no_others(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=2)
        assert grants(await charge(database, *[a_call()] * 4)) == ["free"] * 3 + ["credit"]
        assert await database.write(credits.add, an_entry(-5, "refund")) == -4
        assert grants(await charge(database, a_call())) == ["refused"]
        assert grants(await charge(database, *[a_call()] * 4, now=MIDNIGHT)) == ["free"] * 3 + ["refused"]
        assert await database.write(credits.add, an_entry(4, "back to nothing")) == 0
        assert grants(await charge(database, a_call())) == ["refused"]
        assert await database.write(credits.add, an_entry(1, "one more")) == 1
        assert grants(await charge(database, a_call(), a_call())) == ["credit", "refused"]
        assert (await left(database)).credits == 0
        assert await database.read(credits.faults) == []

    run(scenario())


def test_a_call_that_is_not_granted_leaves_nothing(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await charge(database, *[a_call()] * FREE)
        before = await rows_in(database, "drift_hours")
        charged = await charge(
            database,
            a_call(mark=a_mark(), retained=a_row()),
            a_call("nobody", mark=a_mark(name="nobody"), retained=a_row("ret_2", "nobody")),
        )
        assert charged == [Charge("refused", FREE, 0), Charge("unknown_key")]
        assert [await rows_in(database, table) for table in ("idempotency", "retained", "daily_use")] == [0, 0, 1]
        assert await rows_in(database, "drift_hours") == before
        assert await counted(database) == (FREE, 0, FREE, 0)

    run(scenario())


def test_a_deleted_or_rotated_key_gets_no_answer_and_takes_nobody_with_it(database: Database, run: Run) -> None:
    async def scenario() -> None:
        for name in ("one", "gone", "rotated"):
            await open_key(database, name)
        await database.write(keys.delete, hash_of("gone"))
        await database.write(keys.rotate, hash_of("rotated"), hash_of("newer"), "scr_newer")
        charged = await charge(database, *[a_call(name) for name in ("gone", "one", "rotated", "newer")])
        assert grants(charged) == ["unknown_key", "free", "unknown_key", "free"]

    run(scenario())


def test_a_call_is_recorded_whole(database: Database, run: Run) -> None:
    """Charge, drift count, kept row and idempotency record are one transaction: there together or not at all."""

    async def scenario() -> None:
        await open_key(database)
        (done,) = await charge(database, a_call(mark=a_mark(), retained=a_row()))
        assert done == Charge("free", 1, 0, "req_1", "ret_1")
        tables = ("daily_use", "drift_hours", "retained", "idempotency")
        assert [await rows_in(database, table) for table in tables] == [1, 1, 1, 1]

        same_row = a_call(request_id="req_2", mark=a_mark("second"), retained=a_row())
        with pytest.raises((IntegrityError, asyncpg.UniqueViolationError)):
            await charge(database, a_call(mark=a_mark("third"), observation=AGREED), same_row)
        assert [await rows_in(database, table) for table in tables] == [1, 1, 1, 1]
        assert await counted(database) == (1, 0, 1, 0)

    run(scenario())


def test_one_call_that_cannot_be_recorded_does_not_spoil_its_batch(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await charge(database, a_call(retained=a_row()))
        committer = committer_of(database, 100)
        calls = [a_call(request_id=f"req_{n}", retained=a_row() if n == 11 else None) for n in range(40)]
        results = await asyncio.gather(*map(committer.submit, calls), return_exceptions=True)
        failed = [n for n, result in enumerate(results) if isinstance(result, Exception)]
        assert failed == [11]
        assert await counted(database) == (40, 0, 40, 0)

    run(scenario())


def test_a_row_is_not_kept_once_the_key_has_turned_retention_off(database: Database, run: Run) -> None:
    """The setting is read again in the charge's own transaction: a call on its way can't slip past it."""

    async def scenario() -> None:
        await open_key(database)
        await database.write(settings.save, "key_one", Settings(retention_days=0))
        (off,) = await charge(database, a_call(retained=a_row(), mark=a_mark()))
        assert (off.grant, off.retained_id) == ("free", None)
        assert await rows_in(database, "retained") == 0
        assert await rows_in(database, "drift_hours") == 1
        await database.write(settings.save, "key_one", Settings(retention_days=1))
        (on,) = await charge(database, a_call(retained=a_row()))
        assert on.retained_id == "ret_1"
        assert [row.id for row in await database.read(retention.page, "key_one", NOW, 9, None)] == ["ret_1"]

    run(scenario())


def counts(outcomes: Sequence[Charge]) -> Counter[str]:
    return Counter(grants(outcomes))


@pytest.mark.promise("charging.credits_exact")
def test_300_calls_at_once_with_7_credits_get_107_answers(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=7)
        committer = committer_of(database, 100)
        outcomes = await asyncio.gather(*[committer.submit(a_call(request_id=f"req_{n}")) for n in range(300)])
        assert counts(outcomes) == {"free": 100, "credit": 7, "refused": 193}
        assert grants(outcomes) == ["free"] * 100 + ["credit"] * 7 + ["refused"] * 193, "in order of arrival"
        assert (await left(database)).credits == 0
        assert await counted(database) == (100, 7, 107, 0)
        assert await database.read(credits.faults) == []

    run(scenario())


@pytest.mark.promise("charging.credits_exact")
def test_two_nodes_at_once_share_one_exact_count(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=7)
        async with another_node(database_url) as other:
            nodes = [committer_of(node, 100) for node in (database, other)]
            # Ten at a time on each node, so that their transactions meet again and again.
            outcomes: list[Charge] = []
            for start in range(0, 150, 10):
                calls = [node.submit(a_call(request_id=f"req_{start}")) for node in nodes for _ in range(10)]
                outcomes += await asyncio.gather(*calls)
        assert counts(outcomes) == {"free": 100, "credit": 7, "refused": 193}
        assert await counted(database) == (100, 7, 107, 0)
        assert (await left(database)).credits == 0
        assert await database.read(credits.faults) == []

    run(scenario())


def test_grants_and_calls_at_once_lose_no_credit(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        committer = committer_of(database, 0)
        granted = [database.write(credits.add, an_entry(1, f"grant {n}")) for n in range(20)]
        calls = [committer.submit(a_call()) for _ in range(40)]
        outcomes, _ = await asyncio.gather(asyncio.gather(*calls), asyncio.gather(*granted))
        spent = counts(outcomes)["credit"]
        assert (await left(database)).credits == 20 - spent
        assert await database.read(credits.faults) == []

    run(scenario())


def test_a_key_deleted_while_calls_run_keeps_no_row(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=5)
        committer = committer_of(database, 100)

        async def call(n: int) -> Charge:
            for _ in range(n):
                await asyncio.sleep(0)
            return await committer.submit(a_call(mark=a_mark(f"token {n}"), retained=a_row(f"ret_{n}")))

        calls = [asyncio.create_task(call(n)) for n in range(100)]
        while not any(task.done() for task in calls):
            await asyncio.sleep(0)
        assert await database.write(keys.delete, hash_of("one")) == "key_one"
        late = await asyncio.gather(*[committer.submit(a_call(mark=a_mark(f"late {n}"))) for n in range(10)])
        assert counts(late) == {"unknown_key": 10}
        await asyncio.gather(*calls)
        for table in ("keys", "daily_use", "drift_hours", "retained", "idempotency", "credit_entries"):
            assert await rows_in(database, table) == 0, table

    run(scenario())


def test_a_random_history_agrees_with_a_plain_count(database: Database, run: Run) -> None:
    """Batches of three keys' calls, grants and corrections over days, against a model of a few lines."""

    async def scenario() -> None:
        dice = random.Random(4_711)
        names = ("one", "two", "three")
        for name in names:
            await open_key(database, name)
        used: Counter[tuple[str, int]] = Counter()
        balance = dict.fromkeys(names, 0)
        seen: dict[tuple[str, str], tuple[str, str]] = {}
        for step in range(60):
            now = NOW + step // 20 * DAY_S
            name = dice.choice(names)
            if dice.random() < 0.4:
                change = dice.randint(-2, 6)
                balance[name] += change
                await database.write(credits.add, an_entry(change, f"step {step}", name))
            batch, expected = [], []
            for n in range(dice.randint(1, 9)):
                name, request_id = dice.choice(names), f"req_{step}_{n}"
                token, body = str(dice.randint(0, 40)), dice.choice("ab")
                marked = now == NOW and dice.random() < 0.3
                batch.append(a_call(name, request_id, mark=a_mark(token, body, name) if marked else None))
                if marked and (name, token) in seen:
                    expected.append("replayed" if seen[name, token][0] == body else "conflict")
                    continue
                if used[name, now] < FREE:
                    used[name, now] += 1
                    expected.append("free")
                elif balance[name] > 0:
                    balance[name] -= 1
                    expected.append("credit")
                else:
                    expected.append("refused")
                    continue
                if marked:
                    seen[name, token] = (body, request_id)
            charged = await charge(database, *batch, now=now)
            assert grants(charged) == expected, step
            for call, one in zip(batch, charged, strict=True):
                if one.grant == "replayed" and call.mark is not None:
                    assert one.request_id == seen[call.mark.caller.removeprefix("key_"), call.mark.token][1]
        assert {name: (await left(database, name)).credits for name in names} == balance
        assert await database.read(credits.faults) == []

    run(scenario())


def test_an_empty_batch_is_no_fault(database: Database, run: Run) -> None:
    assert run(charge(database)) == []
    assert run(database.write(drift.add_all, [], NOW)) is None


def test_hundreds_of_keys_in_one_batch(database: Database, run: Run) -> None:
    async def scenario() -> None:
        for n in range(200):
            await database.write(keys.add, a_key(f"k{n}"), 3)
        charged = await charge(database, *[a_call(f"k{n % 200}", f"req_{n}") for n in range(500)], free=2)
        assert counts(charged) == {"free": 400, "refused": 100}
        assert grants(charged[:400]) == ["free"] * 400

    run(scenario())


def test_record_asks_for_no_more_than_the_transaction_gives(database: Database, run: Run) -> None:
    """A batch may be run again by the database after a conflict: the second run must not know of the first."""

    async def scenario() -> None:
        await open_key(database, calls=1)
        calls = [a_call(request_id="req_a", mark=a_mark(), retained=a_row()), a_call(request_id="req_b")]
        first = await database.read(accounts.read, [hash_of("one")], DAY)
        assert first[hash_of("one")].free_used == 0
        for _ in range(2):
            with pytest.raises(KeyError):
                await database.write(_record_and_fail, calls)
        assert grants(await charge(database, *calls)) == ["free", "free"]
        assert await counted(database) == (2, 0, 2, 0)

    run(scenario())


async def _record_and_fail(tx: Tx, calls: Sequence[AnsweredCall]) -> None:
    await charges.record(tx, calls, NOW, FREE)
    raise KeyError("a failure after all that is written")
