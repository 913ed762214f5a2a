"""Hourly counts: exact sums in the right hour, under the right tags, and no content."""

from typing import Any

import pytest

from api.core.drift import HOUR_S
from api.store import drift, keys
from api.store.database import Database, Row, Tx
from api.store.drift import Observation
from tests.databases import Run
from tests.store.ledger import NOW, a_call, charge, committer_of, hash_of, open_key, rows_in

NAMES = ("agent_id", "version", "endpoint", "hour", "calls", "passes", "fails", "retries", "score_total", "risk_total")


async def _rows(tx: Tx) -> list[Row]:
    return list(await tx.all("SELECT * FROM drift_hours ORDER BY key_id, agent_id, version, endpoint, hour"))


async def rows(database: Database) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in NAMES) for row in await database.read(_rows)]


async def observe(database: Database, *observations: Observation, now: int = NOW) -> None:
    await database.write(drift.add_all, [("key_one", one) for one in observations], now)


def judged(verdict: Any, score: float, agent_id: str = "", version: str = "") -> Observation:
    return Observation(agent_id, version, "judge", verdict=verdict, score=score)


def agreed(risk: Any, agent_id: str = "") -> Observation:
    return Observation(agent_id, "", "consensus", risk=risk)


def test_verdicts_and_scores_are_summed(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(database, judged("pass", 0.9), judged("fail", 0.05), judged("fail", 0.1), judged("retry", 0.55))
        await observe(database, judged("pass", 1.0), judged("retry", 0.4))
        assert await rows(database) == [("", "", "judge", NOW, 6, 2, 2, 2, 30_000, 0)]

    run(scenario())


def test_risks_are_summed_in_halves(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(database, agreed("low"), agreed("medium"), agreed("high"))
        await observe(database, agreed("high"), agreed("low"))
        assert await rows(database) == [("", "", "consensus", NOW, 5, 0, 0, 0, 0, 5)]

    run(scenario())


def test_a_thousand_tenths_are_a_hundred(database: Database, run: Run) -> None:
    """Sums of floating point numbers would drift away from it."""

    async def scenario() -> None:
        await open_key(database)
        for _ in range(10):
            await observe(database, *[judged("fail", 0.1)] * 100)
        assert await rows(database) == [("", "", "judge", NOW, 1_000, 0, 1_000, 0, 1_000_000, 0)]

    run(scenario())


def test_tags_versions_and_endpoints_are_counted_apart(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(
            database,
            judged("pass", 0.8, "a", "1"),
            judged("pass", 0.8, "a", "2"),
            judged("pass", 0.8, "A", "1"),
            judged("pass", 0.8),
            agreed("low", "a"),
            judged("fail", 0.0, "a", "1"),
        )
        seen = [row[:3] + row[4:7] for row in await rows(database)]
        assert sorted(seen) == [
            ("", "", "judge", 1, 1, 0),
            ("A", "1", "judge", 1, 1, 0),
            ("a", "", "consensus", 1, 0, 0),
            ("a", "1", "judge", 2, 1, 1),
            ("a", "2", "judge", 1, 1, 0),
        ]

    run(scenario())


@pytest.mark.parametrize(("now", "hour"), [(NOW, NOW), (NOW + 3_599, NOW), (NOW + 3_600, NOW + 3_600), (0, 0)])
def test_an_hour_begins_on_the_hour(database: Database, run: Run, now: int, hour: int) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(database, agreed("low"), now=now)
        assert [row[3] for row in await rows(database)] == [hour]

    assert NOW % HOUR_S == 0
    run(scenario())


def test_each_charged_call_is_observed_once(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, "one")
        await open_key(database, "two")
        calls = [a_call(name, observation=judged("pass", 0.8, "a")) for name in ("one", "two")] * 4
        await charge(database, *calls)
        assert [row[4] for row in await rows(database)] == [3, 3]

    run(scenario())


def test_counts_under_load_are_exact(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        committer = committer_of(database, 1_000)
        for _ in range(5):
            for n in range(20):
                await committer.submit(a_call(observation=judged("pass", 0.7, f"agent-{n % 4}")))
        assert [(row[0], row[4]) for row in await rows(database)] == [(f"agent-{n}", 25) for n in range(4)]

    run(scenario())


def test_counts_go_with_their_key(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await observe(database, agreed("low"))
        await database.write(keys.delete, hash_of("one"))
        assert await rows_in(database, "drift_hours") == 0

    run(scenario())
