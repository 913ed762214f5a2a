"""Group commit: batches in the order of arrival, answers after the commit, and one's fault is nobody else's."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from api.store import charges, group_commit, keys
from api.store.charges import AnsweredCall, Charge
from api.store.database import Database, StorageUnavailable, Tx
from api.store.drift import Observation
from api.store.group_commit import GroupCommit, QueueFull
from api.store.keys import StoredKey
from api.store.open import open_database
from tests.databases import Run

NOW = 1_796_040_000
DAY = "2026-11-30"
FREE = 100


class Recorder:
    """A commit that notes its batches. It waits at the gate, refuses batches with a word of `bad`, and is down while
    `down`."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.batches: list[list[str]] = []
        self.bad: set[str] = set()
        self.down = False

    async def __call__(self, items: Sequence[str]) -> Sequence[str]:
        self.batches.append(list(items))
        await self.gate.wait()
        if self.down:
            raise StorageUnavailable("down")
        if self.bad & set(items):
            raise ValueError(f"bad: {items}")
        return [item.upper() for item in items]


def submit_all(committer: "GroupCommit[str, str]", words: Sequence[str]) -> "list[asyncio.Task[str]]":
    return [asyncio.create_task(committer.submit(word)) for word in words]


async def turns(count: int = 5) -> None:
    """Lets everything that is ready run."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_what_arrives_during_a_commit_is_the_next_batch(run: Run) -> None:
    async def scenario() -> None:
        recorder = Recorder()
        committer = GroupCommit(recorder)
        first = submit_all(committer, ["a"])
        await turns()
        rest = submit_all(committer, ["b", "c", "d"])
        await turns()
        assert recorder.batches == [["a"]], "one batch at a time"
        assert not first[0].done(), "no answer before its commit"
        recorder.gate.set()
        assert await asyncio.gather(*first, *rest) == ["A", "B", "C", "D"]
        assert recorder.batches == [["a"], ["b", "c", "d"]]

    run(scenario())


def test_a_batch_is_bounded_and_in_order(run: Run) -> None:
    async def scenario() -> None:
        recorder = Recorder()
        recorder.gate.set()
        committer = GroupCommit(recorder)
        words = [f"w{n}" for n in range(2 * group_commit.MAX_BATCH + 1)]
        assert await asyncio.gather(*submit_all(committer, words)) == [word.upper() for word in words]
        assert [word for batch in recorder.batches for word in batch] == words
        assert max(map(len, recorder.batches)) == group_commit.MAX_BATCH

    run(scenario())


def test_one_bad_item_fails_alone(run: Run) -> None:
    async def scenario() -> None:
        recorder = Recorder()
        recorder.gate.set()
        recorder.bad = {"w70"}
        committer = GroupCommit(recorder)
        words = [f"w{n}" for n in range(100)]
        outcomes = await asyncio.gather(*submit_all(committer, words), return_exceptions=True)
        assert isinstance(outcomes.pop(70), ValueError)
        words.remove("w70")
        assert outcomes == [word.upper() for word in words]
        assert len(recorder.batches) < 20, "halves find it in few commits"
        recorded = [word for batch in recorder.batches if "w70" not in batch for word in batch]
        assert recorded == words, "still in order, each once"

    run(scenario())


def test_an_outage_is_told_to_all_and_over_with_it(run: Run) -> None:
    async def scenario() -> None:
        recorder = Recorder()
        recorder.gate.set()
        recorder.down = True
        committer = GroupCommit(recorder)
        outcomes = await asyncio.gather(*submit_all(committer, ["a", "b"]), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [StorageUnavailable, StorageUnavailable]
        assert recorder.batches == [["a", "b"]], "an outage is not tried again item by item"
        recorder.down = False
        assert await committer.submit("c") == "C"

    run(scenario())


def test_a_commit_with_too_few_outcomes_fails_its_items(run: Run) -> None:
    async def forgetful(items: Sequence[str]) -> Sequence[str]:
        return list(items)[1:]

    async def scenario() -> None:
        committer = GroupCommit(forgetful)
        outcomes = await asyncio.gather(*submit_all(committer, ["a", "b"]), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [RuntimeError, RuntimeError]

    run(scenario())


def test_who_is_cancelled_before_the_batch_is_not_recorded(run: Run) -> None:
    async def scenario() -> None:
        recorder = Recorder()
        committer = GroupCommit(recorder)
        first = submit_all(committer, ["a"])
        await turns()
        rest = submit_all(committer, ["b", "c", "d"])
        await turns()
        rest[1].cancel()
        recorder.gate.set()
        outcomes = await asyncio.gather(*first, *rest, return_exceptions=True)
        assert [outcome for outcome in outcomes if isinstance(outcome, str)] == ["A", "B", "D"]
        assert recorder.batches == [["a"], ["b", "d"]]

    run(scenario())


def test_who_is_cancelled_during_the_commit_takes_nobody_along(run: Run) -> None:
    async def scenario() -> None:
        recorder = Recorder()
        committer = GroupCommit(recorder)
        pending = submit_all(committer, ["a", "b"])
        await turns()
        pending[0].cancel()
        await turns()
        recorder.gate.set()
        assert await pending[1] == "B"
        assert recorder.batches == [["a", "b"]]

    run(scenario())


def test_too_many_waiting_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "MAX_WAITING", 3)

    async def scenario() -> None:
        recorder = Recorder()
        committer = GroupCommit(recorder)
        first = submit_all(committer, ["a"])
        await turns()
        waiting = submit_all(committer, ["b", "c", "d"])
        await turns()
        with pytest.raises(QueueFull):
            await committer.submit("e")
        recorder.gate.set()
        assert await asyncio.gather(*first, *waiting) == ["A", "B", "C", "D"]
        assert await committer.submit("f") == "F"

    run(scenario())


def test_drain_waits_for_what_was_submitted(run: Run) -> None:
    async def scenario() -> None:
        recorder = Recorder()
        committer = GroupCommit(recorder)
        await committer.drain()
        pending = submit_all(committer, ["a"])
        await turns()
        pending += submit_all(committer, ["b"])
        await turns()
        draining = asyncio.create_task(committer.drain())
        await turns()
        assert not draining.done()
        recorder.gate.set()
        await draining
        assert recorder.batches == [["a"], ["b"]]
        assert await asyncio.gather(*pending) == ["A", "B"]

    run(scenario())


def test_the_end_of_the_committer_leaves_nobody_waiting(run: Run) -> None:
    async def scenario() -> None:
        recorder = Recorder()
        committer = GroupCommit(recorder)
        pending = submit_all(committer, ["a", "b"])
        await turns()
        (worker,) = asyncio.all_tasks() - {*pending} - {asyncio.current_task()}
        worker.cancel()
        outcomes = await asyncio.gather(*pending, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [asyncio.CancelledError, asyncio.CancelledError]

    run(scenario())


# Charges, on real databases


def a_key(name: str) -> StoredKey:
    return StoredKey(f"key_{name}", f"{name}@example.com", name, "scr_0000", f"hash of {name}", NOW)


def a_call(name: str, number: int) -> AnsweredCall:
    endpoint = "judge" if number % 2 else "consensus"
    seen = (
        Observation("agent", "1", "judge", verdict="pass", score=0.5)
        if endpoint == "judge"
        else Observation("agent", "1", "consensus", risk="medium")
    )
    return AnsweredCall(f"hash of {name}", f"req_{name}_{number}", seen)


def committer_on(database: Database) -> "GroupCommit[AnsweredCall, Charge]":
    async def commit(calls: Sequence[AnsweredCall]) -> Sequence[Charge]:
        return await database.write(charges.record, calls, NOW, FREE)

    return GroupCommit(commit)


async def used(tx: Tx) -> dict[str, tuple[int, int, int]]:
    """Free, judge and consensus calls of the day, by key."""
    rows = await tx.all("SELECT * FROM daily_use WHERE day = :day", day=DAY)
    return {row["key_id"]: (row["free"], row["judge"], row["consensus"]) for row in rows}


def test_two_hundred_at_once_are_charged_exactly(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await database.write(keys.add, a_key("one"), 3)
        committer = committer_on(database)
        granted = await asyncio.gather(*[committer.submit(a_call("one", n)) for n in range(200)])
        grants = [charge.grant for charge in granted]
        assert grants == ["free"] * FREE + ["refused"] * FREE, "granted in the order of arrival"
        assert [charge.free_used for charge in granted[:FREE]] == list(range(1, FREE + 1))
        assert await database.read(used) == {"key_one": (100, 50, 50)}

    run(scenario())


def test_two_processes_charge_exactly(database: Database, database_url: str, run: Run) -> None:
    """Two committers with connections of their own, as two processes or nodes have them."""

    async def scenario() -> None:
        other = await open_database(database_url)
        for name in ("one", "two"):
            await database.write(keys.add, a_key(name), 3)
        committers = [committer_on(database), committer_on(other)]
        submitted = [committers[n % 2].submit(a_call(name, n)) for n in range(200) for name in ("one", "two", "nobody")]
        grants = Counter(charge.grant for charge in await asyncio.gather(*submitted))
        assert grants == {"free": 200, "refused": 200, "unknown_key": 200}
        counts = await database.read(used)
        assert {key: (free, judge + consensus) for key, (free, judge, consensus) in counts.items()} == {
            "key_one": (100, 100),
            "key_two": (100, 100),
        }
        await other.close()

    run(scenario())
